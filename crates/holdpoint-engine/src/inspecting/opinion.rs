//! A second opinion on a text nobody is sure of: whether somebody is asked, what they are shown of it, and what comes of their
//! word.
//!
//! Asked is the user's model server, by the daemon, over its socket: whoever inspects starts no runtime and speaks to no network.
//! The text may speak to that model as well. So its word makes things stricter; it makes one thing less strict, where the policy
//! says so, and nothing that a rule withholds or that is blocked.

use std::borrow::Cow;
use std::ops::Range;
use std::time::{Duration, Instant};

use holdpoint_broker::wire::{self, Opinion, Places, ServerAnswer};
use holdpoint_core::policy::SecondOpinion;
use holdpoint_core::text::inspection::{Family, Finding};
use holdpoint_core::text::redaction::{Certainty, Redacted, Redactor};
use holdpoint_core::text::{Action, Origin};
use holdpoint_core::{Policy, digest_of};
use serde_json::{Value, json};

use crate::excerpt::MAX_SECRET;
use crate::locations::Locations;

/// The most bytes anybody is shown: what a small model reads in its time. The daemon cuts what is longer.
const MAX_SHOWN: usize = 16 << 10;

/// A text in which something was found.
#[derive(Clone, Copy, Debug)]
pub struct Inspectee<'a> {
    /// Where it comes from.
    pub origin: Origin,
    /// What would happen to it.
    pub action: Action,
    /// The policy in force.
    pub policy: &'a Policy,
}

/// Somebody was asked, or should have been.
#[derive(Clone, Debug, PartialEq)]
pub struct Consultation {
    /// What they said, and who they are.
    pub answer: ServerAnswer,
    /// The digest of what they were shown.
    pub shown: String,
    /// How long that took.
    pub took: Duration,
    /// What comes of it.
    pub effect: Effect,
}

impl Consultation {
    /// Who was asked, what they were shown, what they said, how long it took and what came of it.
    pub fn to_json(&self) -> Value {
        let (said, why) = match &self.answer.opinion {
            Opinion::Attack => ("attack", None),
            Opinion::Harmless => ("harmless", None),
            Opinion::None(why) => ("none", Some(why)),
        };
        json!({
            "said": said,
            "why": why,
            "server": self.answer.server,
            "shown": self.shown,
            "ms": u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX),
            "effect": self.effect.as_str(),
        })
    }
}

/// What a second opinion changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: the first opinion stands.
    None,
    /// What would have been annotated is quarantined.
    Raised,
    /// What would have been quarantined is annotated.
    Lowered,
}

impl Effect {
    /// The word for it in the record.
    pub fn as_str(self) -> &'static str {
        match self {
            Effect::None => "none",
            Effect::Raised => "raised",
            Effect::Lowered => "lowered",
        }
    }

    /// What happens to a text.
    pub fn on(self, action: Action) -> Action {
        match (self, action) {
            (Effect::Raised, Action::Annotate) => Action::Quarantine,
            (Effect::Lowered, Action::Quarantine) => Action::Annotate,
            (Effect::None | Effect::Raised | Effect::Lowered, same) => same,
        }
    }
}

/// Asks for a second opinion, if the policy names somebody and there is something to ask: a text that would be annotated because
/// it may give orders, or, where their word may lower that, one that only the classifier would have withheld. `found` is what
/// was found in which text, `text_of` one of these texts.
pub fn consult<'t, K: Copy + PartialEq>(
    locations: &Locations,
    inspectee: &Inspectee<'_>,
    found: &[(K, &Finding)],
    text_of: impl Fn(K) -> Cow<'t, str>,
) -> Option<Consultation> {
    let server = inspectee.policy.second_opinion()?;
    let (text, span) = doubtful(inspectee, server, found)?;
    let text = text_of(text);
    let reach = span.start.saturating_sub(server.reach())..span.end.saturating_add(server.reach());
    if inspectee.action == Action::Quarantine && reach.len() > MAX_SHOWN {
        // Nobody can say of what they were not shown that it is harmless.
        return None;
    }
    let home = locations.home.as_ref().and_then(|home| home.to_str());
    let redactor = inspectee.policy.redaction().redactor(home, None);
    let shown = shown(&redactor, &text, reach);
    let started = Instant::now();
    let deadline = Duration::from_millis(server.deadline());
    let answer = match &locations.state {
        Some(state) => wire::opinion(&Places::under(state), shown.as_str(), deadline),
        None => ServerAnswer::nobodys("there is no place for the daemon"),
    };
    let effect = match (&answer.opinion, inspectee.action) {
        (Opinion::Attack, Action::Annotate) => Effect::Raised,
        (Opinion::Harmless, Action::Quarantine) if server.may_lower => Effect::Lowered,
        (Opinion::Attack | Opinion::Harmless | Opinion::None(_), _) => Effect::None,
    };
    Some(Consultation {
        answer,
        shown: digest_of(shown.as_str().as_bytes()),
        took: started.elapsed(),
        effect,
    })
}

/// What is to be asked about, in which text and where; none if all is sure.
fn doubtful<K: Copy + PartialEq>(
    inspectee: &Inspectee<'_>,
    server: &SecondOpinion,
    found: &[(K, &Finding)],
) -> Option<(K, Range<usize>)> {
    let terms = inspectee.policy.inspection_terms();
    let action_of = |finding: &Finding| terms.action(inspectee.origin, finding.severity);
    match inspectee.action {
        Action::Annotate => {
            let orders = found.iter().filter(|(_, finding)| {
                action_of(finding) >= Action::Annotate && may_give_orders(finding.family)
            });
            let (text, worst) = orders.max_by_key(|(_, finding)| finding.severity)?;
            Some((*text, worst.span.clone()))
        }
        Action::Quarantine if server.may_lower => {
            let withheld = found
                .iter()
                .filter(|(_, finding)| action_of(finding) >= Action::Quarantine);
            let mut all: Option<(K, Range<usize>)> = None;
            for (text, finding) in withheld {
                // A rule knows what it has found; only the classifier weighs.
                if finding.family != Family::Statistical {
                    return None;
                }
                let span = &finding.span;
                all = match all {
                    None => Some((*text, span.clone())),
                    Some((same, seen)) if same == *text => {
                        Some((same, seen.start.min(span.start)..seen.end.max(span.end)))
                    }
                    // One question is about one text.
                    Some(_) => return None,
                };
            }
            all
        }
        Action::Pass | Action::Quarantine | Action::Block => None,
    }
}

/// Whether what was found may be orders, about which a model knows more than a table of characters.
fn may_give_orders(family: Family) -> bool {
    !matches!(family, Family::Secret | Family::Terminal | Family::Hidden)
}

/// A part of a text without its secrets, also those that only what stands around it gives away.
fn shown(redactor: &Redactor, text: &str, part: Range<usize>) -> Redacted {
    let start = text.floor_char_boundary(part.start.min(text.len()));
    let end = part.end.min(text.len()).min(start + MAX_SHOWN);
    let end = text.floor_char_boundary(end).max(start);
    let from = text.floor_char_boundary(start.saturating_sub(MAX_SECRET));
    let to = text.floor_char_boundary(end.saturating_add(MAX_SECRET).min(text.len()));
    let around = text.get(from..to).unwrap_or_default();
    let mut kept = String::new();
    let mut at = start;
    for secret in redactor.find(around) {
        let span = secret.span.start + from..secret.span.end + from;
        // What only looks random is no secret, here as elsewhere.
        if secret.certainty == Certainty::Guess || span.end <= at || span.start >= end {
            continue;
        }
        kept.push_str(text.get(at..span.start.max(at)).unwrap_or_default());
        kept.push_str(&format!("[{}]", secret.marker.name()));
        at = span.end;
    }
    kept.push_str(text.get(at.min(end)..end).unwrap_or_default());
    redactor.text(&kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_and_no_half_of_one_is_shown() {
        let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let text =
            format!("Read this. The token is {token} and the password: hunter2-is-mine. Go on.");
        let redactor = Redactor::new();
        for start in 0..text.len() {
            for length in [1, 20, text.len()] {
                let seen = shown(&redactor, &text, start..start + length);
                assert!(!seen.as_str().contains("D4e5F6"), "{start}: {seen:?}");
            }
        }
        let whole = shown(&redactor, &text, 0..text.len());
        assert!(whole.as_str().starts_with("Read this. The token is ["));
        assert!(whole.as_str().ends_with("Go on."), "{whole:?}");
    }

    #[test]
    fn parts_of_any_text_are_whole_characters_and_bounded() {
        let redactor = Redactor::new();
        let text = "für jeden\u{1f600}".repeat(9000);
        for range in [0..3, 1..2, 5..usize::MAX, 90_000_000..90_000_001] {
            assert!(shown(&redactor, &text, range).as_str().len() <= MAX_SHOWN);
        }
        assert_eq!(shown(&redactor, "", 0..10).as_str(), "");
    }

    #[test]
    fn nothing_unblocks_and_nothing_lets_through() {
        for effect in [Effect::None, Effect::Raised, Effect::Lowered] {
            assert_eq!(effect.on(Action::Block), Action::Block);
            assert_eq!(effect.on(Action::Pass), Action::Pass);
            assert!(effect.on(Action::Quarantine) >= Action::Annotate);
            assert!(effect.on(Action::Annotate) >= Action::Annotate);
        }
    }
}
