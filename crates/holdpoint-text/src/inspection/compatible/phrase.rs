//! Phrases as rows of words, and what must stand behind them.

use std::ops::Range;

use crate::Severity;
use crate::inspection::{Family, Finding};
use crate::normal::View;
use crate::words::Word;

/// A phrase somebody's detector knows.
pub(super) struct Phrase {
    pub(super) rule: &'static str,
    pub(super) family: Family,
    pub(super) severity: Severity,
    pub(super) reason: &'static str,
    pub(super) form: Form,
}

/// What a phrase looks like.
pub(super) enum Form {
    /// One of these texts, whatever the case.
    Texts(&'static [&'static str]),
    /// These words in this order.
    Words(&'static [Step], Behind),
}

/// A place in a row of words.
pub(super) enum Step {
    /// One of these words.
    One(&'static [&'static str]),
    /// Up to three of these words, or none.
    Some(&'static [&'static str]),
}

/// What stands behind a row of words.
#[derive(Clone, Copy)]
pub(super) enum Behind {
    /// Anything or nothing.
    Anything,
    /// A colon.
    Colon,
    /// None of these words.
    Not(&'static [&'static str]),
    /// What somebody is to be: not what has become of a user ("you are now connected").
    Role,
}

/// Adds every place of a view where one of the phrases stands.
pub(super) fn find(
    phrases: &[Phrase],
    view: &View<'_>,
    words: &[Word],
    findings: &mut Vec<Finding>,
) {
    let text = view.text.as_ref();
    for phrase in phrases {
        let mut tell = |part: Range<usize>| {
            findings.push(Finding {
                family: phrase.family,
                severity: phrase.severity,
                rule: phrase.rule.into(),
                reason: phrase.reason.into(),
                span: view.original(part.clone()),
                disguises: view.disguises_of(part),
            });
        };
        match &phrase.form {
            Form::Texts(wanted) => {
                for wanted in *wanted {
                    texts(text, wanted, &mut tell);
                }
            }
            Form::Words(steps, behind) => {
                let mut at = 0;
                while let Some(rest) = words.get(at..).filter(|rest| !rest.is_empty()) {
                    match row(text, rest, steps, *behind) {
                        Some((count, part)) => {
                            tell(part);
                            at += count.max(1);
                        }
                        None => at += 1,
                    }
                }
            }
        }
    }
}

fn texts(text: &str, wanted: &str, tell: &mut impl FnMut(Range<usize>)) {
    let mut at = 0;
    while let Some(rest) = text.as_bytes().get(at..) {
        let here = rest
            .windows(wanted.len())
            .position(|window| window.eq_ignore_ascii_case(wanted.as_bytes()));
        let Some(lead) = here else { break };
        at += lead + wanted.len();
        tell(at - wanted.len()..at);
    }
}

/// Whether a row of words stands at the beginning of `words`: how many they are, and where.
fn row(
    text: &str,
    words: &[Word],
    steps: &[Step],
    behind: Behind,
) -> Option<(usize, Range<usize>)> {
    let mut at = 0;
    for step in steps {
        let is = |place: usize, wanted: &[&str]| {
            words
                .get(place)
                .is_some_and(|word| wanted.iter().any(|one| is_word(text, word, one)))
        };
        match step {
            Step::One(wanted) => {
                if !is(at, wanted) {
                    return None;
                }
                at += 1;
            }
            Step::Some(wanted) => {
                let most = at + 3;
                while at < most && is(at, wanted) {
                    at += 1;
                }
            }
        }
    }
    let (first, last) = (words.first()?, words.get(at.checked_sub(1)?)?);
    let part = first.start as usize..last.end as usize;
    let rest = text.get(part.end..)?;
    let next = words.get(at);
    let fits = match behind {
        Behind::Anything => true,
        Behind::Colon => rest
            .trim_start_matches([' ', '\t'])
            .starts_with([':', '：']),
        Behind::Not(wanted) => {
            !next.is_some_and(|next| wanted.iter().any(|one| is_word(text, next, one)))
        }
        Behind::Role => is_role(text, words.get(at..).unwrap_or_default()),
    };
    let end = match behind {
        Behind::Colon => part.end + rest.find([':', '：']).map_or(0, |place| place + 1),
        Behind::Anything | Behind::Not(_) | Behind::Role => part.end,
    };
    let end = if text.is_char_boundary(end) {
        end
    } else {
        part.end
    };
    fits.then_some((at, part.start..end))
}

/// Whether the words behind "you are now" say who somebody is to be. "You are now connected",
/// "able to log in", "in the main menu" say what has become of a user (O-07, R-13).
fn is_role(text: &str, next: &[Word]) -> bool {
    let Some(first) = next.first() else {
        return false;
    };
    let word = text
        .get(first.start as usize..first.end as usize)
        .unwrap_or_default()
        .to_lowercase();
    if matches!(word.as_str(), "in" | "entering" | "operating" | "running") {
        let mode = next.iter().take(5);
        return mode.into_iter().any(|word| is_word(text, word, "mode"));
    }
    let became = word.ends_with("ed") || word.ends_with("ing");
    !became && !STATES.contains(&word.as_str())
}

/// What a person or a program can be after some step.
const STATES: &[&str] = &[
    "able", "at", "back", "done", "eligible", "free", "good", "here", "inside", "live", "more",
    "no", "not", "off", "offline", "on", "online", "one", "out", "part", "ready", "safe", "set",
    "still", "sure", "up", "welcome", "with", "within",
];

fn is_word(text: &str, word: &Word, wanted: &str) -> bool {
    text.get(word.start as usize..word.end as usize)
        .is_some_and(|here| here.eq_ignore_ascii_case(wanted))
}
