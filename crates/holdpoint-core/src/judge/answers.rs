//! The answer for each part of a call that nothing refuses.

use std::cmp::Ordering;

use super::Judgement;
use super::coverage::Cover;
use super::findings::{Answerable, Objection, PartFinding, Speaker};
use crate::policy::{Authority, Standing};
use crate::verdict::{Autonomy, DefaultPolicy, Method, Verdict};

/// The answer for one part.
pub(super) struct Answer {
    pub(super) verdict: Verdict,
    pub(super) method: Method,
    pub(super) rule: Option<String>,
    pub(super) reason: String,
    /// The layer whose default it is.
    pub(super) default_of: Option<usize>,
    /// Whether the managed layer gave it.
    pub(super) managed: bool,
}

impl Answer {
    pub(super) fn by(found: &PartFinding, managed: bool) -> Self {
        Self {
            verdict: found.finding.verdict,
            method: found.finding.method,
            rule: Some(found.finding.rule.clone()),
            reason: found.finding.reason.clone(),
            default_of: None,
            managed,
        }
    }

    /// The order in which answers win: by verdict; of those that let a part run the least
    /// explicit, so that a call is "allowed by a rule" only if every part is; of those that do
    /// not, the one that says most.
    pub(super) fn rank(&self) -> (Verdict, u8) {
        let explicitness = match self.method {
            Method::NoObjection => 2,
            Method::Default | Method::Autonomy => 1,
            Method::Whitelist
            | Method::Blacklist
            | Method::SessionWhitelist
            | Method::SessionBlacklist
            | Method::AllowAll
            | Method::TurnSuspension
            | Method::IdleSuspension
            | Method::UserApproved
            | Method::UserDenied
            | Method::UserComment
            | Method::Timeout
            | Method::NoChannel
            | Method::PreValidation
            | Method::Sanitization
            | Method::Guard
            | Method::FileGuard
            | Method::SelfProtection
            | Method::ToolPolicy
            | Method::Injection
            | Method::Stopped
            | Method::Error => 0,
        };
        let telling = if self.verdict.runs() {
            explicitness
        } else {
            2 - explicitness
        };
        (self.verdict, telling)
    }
}

impl Judgement<'_> {
    /// The answer for one part, nothing having refused it.
    pub(super) fn answer(
        &self,
        part: Option<usize>,
        objections: &[Objection],
        covers: &[Cover],
    ) -> Answer {
        let about_this: Vec<&Objection> = objections
            .iter()
            .filter(|objection| {
                objection.found.part.is_none() || part.is_none() || objection.found.part == part
            })
            .collect();
        let unanswered: Vec<&&Objection> = about_this
            .iter()
            .filter(|objection| !self.is_answered(objection, covers))
            .collect();
        let spoken = unanswered
            .iter()
            .any(|objection| objection.replaces_default);
        let base = match covers.first() {
            Some(cover) if cover.by_plan => Some(self.planned_answer(cover)),
            Some(cover) => Some(Answer::by(&cover.found, false)),
            None if spoken => None,
            None => Some(self.standing_answer(self.policy.standing(), false)),
        };
        let objection = unanswered
            .iter()
            .map(|objection| {
                let managed = objection
                    .speaker
                    .is_some_and(|speaker| speaker.authority == Authority::Managed);
                let mut answer = Answer::by(&objection.found, managed);
                if let Some(rule) = self.too_broad(objection, covers) {
                    answer.reason.push_str(&format!(
                        ". `{rule}` allows it, but only a rule that says so answers a question of high risk"
                    ));
                }
                answer
            })
            // The first of the strictest; of equals, the managed layer's word binds.
            .reduce(
                |mut strictest, one| match one.verdict.cmp(&strictest.verdict) {
                    Ordering::Greater => one,
                    Ordering::Equal => {
                        strictest.managed |= one.managed;
                        strictest
                    }
                    Ordering::Less => strictest,
                },
            );
        let answer = match (objection, base) {
            (Some(objection), Some(base)) if base.verdict > objection.verdict => base,
            (Some(objection), _) => objection,
            (None, base) => {
                base.unwrap_or_else(|| self.standing_answer(self.policy.standing(), false))
            }
        };
        self.no_looser_than_managed(answer, &about_this, covers)
    }

    pub(super) fn is_answered(&self, objection: &Objection, covers: &[Cover]) -> bool {
        let certain = self.wants_certain_people(objection);
        let mut answering = covers
            .iter()
            .filter(|cover| objection.is_answered_by(cover, certain));
        match objection.answerable {
            Answerable::InSoManyWords => {
                answering.any(|cover| self.says(&cover.spelled, &objection.found.finding.rule))
            }
            Answerable::Usually | Answerable::Never | Answerable::InItsKnowledge => {
                answering.next().is_some()
            }
        }
    }

    /// The rule that would answer an objection if it said what the objection is about.
    fn too_broad<'c>(&self, objection: &Objection, covers: &'c [Cover]) -> Option<&'c str> {
        let certain = self.wants_certain_people(objection);
        let mut answering = covers.iter().filter(|cover| {
            objection.answerable == Answerable::InSoManyWords
                && objection.is_answered_by(cover, certain)
        });
        answering
            .next()
            .map(|cover| cover.found.finding.rule.as_str())
    }

    /// What is left of a call whose questions are suspended: each part that a rule wants contained or tells of, and code that
    /// nobody can know and that some layer would have contained, whatever another made of it.
    pub(super) fn below_the_question(
        &self,
        objections: &[Objection],
        covers: &[Vec<Cover>],
    ) -> impl Iterator<Item = Answer> {
        let unknown = self.policy.wants_unknown_contained() && self.can_contain();
        objections.iter().filter_map(move |one| {
            let verdict = match one.found.finding.verdict {
                Verdict::Contain => Verdict::Contain,
                Verdict::Ask if one.is_unknown_code && unknown => Verdict::Contain,
                Verdict::Notify => Verdict::Notify,
                Verdict::Allow | Verdict::Ask | Verdict::Review | Verdict::Deny => return None,
            };
            let of_part = covers.get(one.found.part.unwrap_or_default());
            let answered = of_part.is_some_and(|covers| self.is_answered(one, covers));
            (!answered).then(|| Answer {
                verdict,
                ..Answer::by(&one.found, false)
            })
        })
    }

    /// Whether what the session remembers is held against the call, so that suspended prompts do
    /// not release it.
    pub(super) fn is_doubted(&self, objections: &[Objection], covers: &[Vec<Cover>]) -> bool {
        objections.iter().any(|one| {
            let of_part = covers.get(one.found.part.unwrap_or_default());
            one.answerable == Answerable::InItsKnowledge
                && of_part.is_none_or(|covers| !self.is_answered(one, covers))
        })
    }

    /// Whether certain people, or several, must say yes to what a rule objects to.
    pub(super) fn wants_certain_people(&self, objection: &Objection) -> bool {
        let finding = &objection.found.finding;
        let tool = self.view.call.tool();
        finding.verdict >= Verdict::Contain
            && self.policy.wants_certain_people(tool, Some(&finding.rule))
    }

    /// Holds an answer to what the managed layer says where none of its own rules speaks.
    pub(super) fn no_looser_than_managed(
        &self,
        mut answer: Answer,
        objections: &[&Objection],
        covers: &[Cover],
    ) -> Answer {
        let managed = |speaker: Option<Speaker>| {
            speaker.is_some_and(|speaker| speaker.authority == Authority::Managed)
        };
        let spoken_above = covers.iter().any(|cover| managed(cover.speaker))
            || objections
                .iter()
                .any(|objection| objection.replaces_default && managed(objection.speaker));
        let Some(floor) = self.policy.floor().filter(|_| !spoken_above) else {
            return answer;
        };
        let floor = self.standing_answer(floor, true);
        if floor.rank() > answer.rank() {
            return floor;
        }
        answer.managed |= floor.verdict == answer.verdict;
        answer
    }

    /// What is said where no rule speaks.
    pub(super) fn standing_answer(&self, standing: &Standing, managed: bool) -> Answer {
        let default = match self.session.state.default {
            Some(default) if !managed => Some(default),
            Some(_) | None => standing.default,
        };
        let verdict = default.map_or(Verdict::Allow, DefaultPolicy::verdict);
        let by_autonomy = |verdict, level: Autonomy, reason: String| Answer {
            verdict,
            method: Method::Autonomy,
            rule: Some(format!("autonomy={}", level.as_str())),
            reason,
            default_of: None,
            managed,
        };
        if standing.supervised && verdict < Verdict::Ask {
            return by_autonomy(
                Verdict::Ask,
                Autonomy::Supervised,
                "Autonomy is supervised: no rule allows this call".into(),
            );
        }
        match standing.autonomy {
            Some(level) if default.is_none() => {
                return by_autonomy(
                    Verdict::Allow,
                    level,
                    format!(
                        "Autonomy is {}: nothing objects to this call",
                        level.as_str()
                    ),
                );
            }
            Some(_) | None => {}
        }
        let session = self.session.state.default.is_some() && !managed;
        let (method, reason) = match default {
            Some(DefaultPolicy::Defer) => (Method::NoObjection, "No rule objects to this call"),
            Some(DefaultPolicy::Allow | DefaultPolicy::Notify) | None => {
                (Method::Default, "Allowed by default policy")
            }
            Some(DefaultPolicy::Ask | DefaultPolicy::Review) => (
                Method::Default,
                "No matching rule, requires channel approval",
            ),
            Some(DefaultPolicy::Deny) => (Method::Default, "Denied by default policy"),
        };
        Answer {
            verdict,
            method,
            rule: session.then(|| "session default".into()),
            reason: reason.into(),
            default_of: standing
                .layer
                .filter(|_| method == Method::Default && !session),
            managed,
        }
    }
}
