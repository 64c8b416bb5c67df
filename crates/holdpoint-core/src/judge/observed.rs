//! What becomes of an answer where the policy only observes: it is there for the record, and nobody is held to it. What
//! protects Holdpoint itself stands all the same, or an agent could end the observing; and so does the refusal of a line too
//! long to be read to its end, where that could stand.

use super::Judgement;
use super::answers::Answer;
use super::coverage::Cover;
use super::findings::{Objection, PartFinding};
use crate::decision::Decision;
use crate::verdict::{Method, Verdict};

/// What stands before the reason of a decision nobody is held to.
const NOT_ENFORCED: &str = "Observed, not enforced: ";

impl Judgement<'_> {
    /// The answer of self-protection to a call that is answered like this, if it objects to it.
    pub(super) fn protecting(
        &self,
        answer: &Answer,
        refusals: &[PartFinding],
        objections: &[Objection],
        covers: &[Vec<Cover>],
    ) -> Option<Answer> {
        let own = |found: &PartFinding| found.finding.method == Method::SelfProtection;
        let unread = |found: &PartFinding| found.finding.method == Method::Error;
        let refusal = refusals.iter().find(|found| own(found));
        let refusal = refusal.or_else(|| refusals.iter().find(|found| unread(found)));
        if let Some(refusal) = refusal {
            return Some(Answer::by(refusal, false));
        }
        // A question that is suspended, or that somebody has answered, is none.
        let asks = objections.iter().filter(|one| {
            let of_part = covers.get(one.found.part.unwrap_or_default());
            own(&one.found)
                && one.found.finding.verdict >= Verdict::Ask
                && answer.verdict >= Verdict::Ask
                && of_part.is_none_or(|covers| !self.is_answered(one, covers))
        });
        let strictest = asks.max_by_key(|one| one.found.finding.verdict)?;
        Some(Answer::by(&strictest.found, false))
    }
}

impl Decision {
    /// The same decision where nobody is held to it.
    pub(crate) fn not_enforced(self) -> Self {
        let silent = self.method == Method::NoObjection;
        Self {
            observed: Some(self.verdict),
            observed_method: Some(self.method),
            verdict: Verdict::Allow,
            method: Method::NoObjection,
            reason: match silent {
                true => self.reason,
                false => format!("{NOT_ENFORCED}{}", self.reason),
            },
            // A check stops what does not pass it.
            checks: Vec::new(),
            // Nobody is told anything, and nothing runs in another form.
            tell: Vec::new(),
            rewrite: None,
            ..self
        }
    }

    /// The decision as it would have been, had the policy not only observed.
    pub fn as_if_enforced(&self) -> Self {
        let reason = self.reason.strip_prefix(NOT_ENFORCED);
        Self {
            verdict: self.observed.unwrap_or(self.verdict),
            method: self.observed_method.unwrap_or(self.method),
            reason: reason.unwrap_or(&self.reason).to_owned(),
            observed: None,
            observed_method: None,
            ..self.clone()
        }
    }
}
