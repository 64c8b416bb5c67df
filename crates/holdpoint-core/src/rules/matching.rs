//! Whether a rule holds for a command or a call.

use super::{Case, Rule, Texts};
use crate::effects::{Effect, Subject};
use crate::facts::{FactUsed, Gathered, Purpose};

/// How a rule holds.
pub(crate) struct Holds<'e> {
    /// The effect it is about.
    pub(crate) effect: Option<&'e Effect>,
    /// The facts that rests on.
    pub(crate) facts: Vec<FactUsed>,
}

/// Whether a rule holds. Facts are asked for where everything else a case says does: rules of packs only object, so what is
/// not known is as they say.
pub(crate) fn holds<'e>(
    rule: &Rule,
    subject: &Subject<'e>,
    facts: &Gathered<'_>,
) -> Option<Holds<'e>> {
    let mut cases = rule.when.iter().filter(|case| is_about(case, subject));
    cases.find_map(|case| {
        let effect = case_holds(case, subject)?;
        let facts = match &case.facts {
            Some(conditions) => facts.hold(conditions, Purpose::Tighten, subject.command)?,
            None => Vec::new(),
        };
        Some(Holds { effect, facts })
    })
}

/// Whether a case is about the program of a subject, or about any.
pub(super) fn is_about(case: &Case, subject: &Subject<'_>) -> bool {
    any(&case.program, |name| {
        subject.program.is_some_and(|program| wild(name, program))
    })
}

/// Whether all that a case says holds, its programs and facts aside.
pub(super) fn case_holds<'e>(case: &Case, subject: &Subject<'e>) -> Option<Option<&'e Effect>> {
    if case.effect != 0 && case.effect & subject.mask == 0 {
        return None;
    }
    if case.opaque != 0 && case.opaque & subject.opaque == 0 {
        return None;
    }
    if case.target != 0 && case.target & subject.targets == 0 {
        return None;
    }
    let words_hold = command_holds(case, subject)
        && any(&case.tool, |pattern| wild(pattern, subject.tool))
        && any(&case.assigns, |pattern| {
            subject.assigns.iter().any(|name| wild(pattern, name))
        })
        && any(&case.within, |pattern| {
            subject.within.iter().any(|name| wild(pattern, name))
        })
        && !some(&case.not_within, |pattern| {
            subject.within.iter().any(|name| wild(pattern, name))
        })
        // Only a command has a program that is none of these.
        && (case.not_program.is_empty()
            || subject.program.is_some_and(|name| {
                !some(&case.not_program, |pattern| wild(pattern, name))
            }))
        && any(&case.sql, |kind| subject.sql.contains(&kind));
    if !words_hold {
        return None;
    }
    let about_effects = case.effect != 0
        || case.target != 0
        || !case.path.is_empty()
        || !case.host.is_empty()
        || case.recursive.is_some()
        || case.forced.is_some();
    if !about_effects {
        return Some(None);
    }
    // Most cases with paths have many, none of which is near a place of this subject.
    if !case.path.is_empty() && !subject.is_near_some(&case.path_marks) {
        return None;
    }
    // Of its paths, those a place of this subject may be at.
    let paths = || {
        let marked = case.path.iter().zip(case.path_marks.iter());
        marked.filter_map(|(path, mark)| subject.is_near(*mark).then_some(path.as_ref()))
    };
    subject
        .effects
        .iter()
        .find(|effect| {
            let is_there = || paths().any(|path| effect.is_at(path));
            effect_holds(case, effect) && (case.path.is_empty() || is_there())
        })
        .map(Some)
}

fn command_holds(case: &Case, subject: &Subject<'_>) -> bool {
    let asks = !case.subcommand.is_empty()
        || !case.not_subcommand.is_empty()
        || !case.flags.is_empty()
        || !case.without.is_empty()
        || !case.operands.is_empty()
        || !case.not_operands.is_empty()
        || case.least_operands.is_some()
        || case.most_operands.is_some()
        || !case.words.is_empty();
    if !asks {
        return true;
    }
    let Some(reading) = &subject.reading else {
        return false;
    };
    let skip = if case.subcommand.is_empty() {
        Some(0)
    } else {
        case.subcommand
            .iter()
            .find_map(|subcommand| reading.begins_so(subcommand))
    };
    let Some(skip) = skip else {
        return false;
    };
    if some(&case.not_subcommand, |excluded| {
        reading.begins_so(excluded).is_some()
    }) {
        return false;
    }
    let operands = reading.operands_after(skip);
    case.flags.iter().all(|flag| reading.has(flag))
        && !case.without.iter().any(|flag| reading.has_exactly(flag))
        && case
            .least_operands
            .is_none_or(|least| operands.len() >= least)
        && case.most_operands.is_none_or(|most| operands.len() <= most)
        // What a text offers is taken apart once, not once for each word.
        && case.operands.iter().all(|spec| {
            any_of(spec, |pattern| {
                let mut operands = operands.clone();
                operands.any(|operand| wild(pattern, &operand.text))
            })
        })
        && !case.not_operands.iter().any(|spec| {
            any_of(spec, |pattern| {
                let mut operands = operands.clone();
                operands.any(|operand| wild(pattern, &operand.text))
            })
        })
        && case.words.iter().all(|spec| {
            any_of(spec, |pattern| {
                let mut words = subject.words.iter();
                words.any(|word| wild(pattern, &word.text))
            })
        })
}

/// Whether an effect is what a case asks for, the paths aside.
fn effect_holds(case: &Case, effect: &Effect) -> bool {
    let bit = effect.kind.bit();
    (case.effect == 0 || case.effect & bit != 0)
        && (case.target == 0 || case.target & effect.classes != 0)
        && case
            .recursive
            .is_none_or(|wanted| effect.recursive == wanted)
        && case.forced.is_none_or(|wanted| effect.forced == wanted)
        && !some(&case.not_path, |pattern| effect.is_at(pattern))
        && any(&case.host, |pattern| {
            effect.host().is_some_and(|host| wild(pattern, host))
        })
        && !some(&case.not_host, |pattern| {
            effect.host().is_some_and(|host| wild(pattern, host))
        })
}

/// Whether a list is empty or one of it fits.
fn any(list: &Texts, fits: impl Fn(&str) -> bool) -> bool {
    list.is_empty() || some(list, fits)
}

fn some(list: &Texts, fits: impl Fn(&str) -> bool) -> bool {
    list.iter().any(|text| fits(text))
}

fn any_of(spec: &str, fits: impl Fn(&str) -> bool) -> bool {
    alternatives(spec).any(fits)
}

/// What a text like `a | b` offers. Letter by letter: a search has to be prepared, and costs more
/// than so short a text has letters.
pub(crate) fn alternatives(spec: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(spec);
    std::iter::from_fn(move || {
        let text = rest?;
        let bytes = text.as_bytes();
        let blank = |at: Option<usize>| at.and_then(|at| bytes.get(at)) == Some(&b' ');
        let mut signs = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'|');
        let sign = signs.find(|(at, _)| blank(at.checked_sub(1)) && blank(Some(at + 1)));
        let one = match sign {
            Some((at, _)) => {
                rest = text.get(at + 2..);
                text.get(..at - 1)?
            }
            None => {
                rest = None;
                text
            }
        };
        Some(one.trim())
    })
}

/// Whether a text matches a pattern with `*` and `?`, compared without case.
#[inline]
pub(crate) fn wild(pattern: &str, text: &str) -> bool {
    wild_bytes(pattern.as_bytes(), text.as_bytes())
}

/// The same, of bytes. Nearly all comparisons fail at the first letter, so that is looked at where
/// it is asked.
#[inline(always)]
pub(crate) fn wild_bytes(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern.first(), text.first()) {
        (Some(wanted), Some(byte))
            if !matches!(wanted, b'*' | b'?') && !wanted.eq_ignore_ascii_case(byte) =>
        {
            false
        }
        (_, _) => wild_from_start(pattern, text),
    }
}

fn wild_from_start(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while let Some(byte) = text.get(t) {
        match pattern.get(p) {
            Some(b'*') => match after_star(pattern.get(p + 1), text, t) {
                Some(from) => {
                    back = Some((p, from));
                    p += 1;
                    t = from;
                }
                None => return false,
            },
            Some(b'?') => {
                p += 1;
                t += 1;
            }
            Some(wanted) if wanted.eq_ignore_ascii_case(byte) => {
                p += 1;
                t += 1;
            }
            // A star at the end takes all there is.
            None if back.is_some_and(|(star, _)| star + 1 == p) => return true,
            Some(_) | None => {
                let next = back.and_then(|(star, from)| {
                    let from = after_star(pattern.get(star + 1), text, from + 1)?;
                    Some((star, from))
                });
                let Some((star, from)) = next else {
                    return false;
                };
                back = next;
                p = star + 1;
                t = from;
            }
        }
    }
    pattern
        .get(p..)
        .unwrap_or_default()
        .iter()
        .all(|byte| *byte == b'*')
}

/// The first place from `from` on where what stands behind a star may begin.
fn after_star(next: Option<&u8>, text: &[u8], from: usize) -> Option<usize> {
    let Some(letter) = next.filter(|byte| !b"*?".contains(byte)) else {
        return Some(from);
    };
    let (lower, upper) = (letter.to_ascii_lowercase(), letter.to_ascii_uppercase());
    let rest = text.get(from..).unwrap_or_default();
    let place = rest
        .iter()
        .position(|byte| *byte == lower || *byte == upper)?;
    Some(from + place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What a pattern means, letter by letter.
    fn plainly(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern, text) {
            ([], []) => true,
            ([b'*', rest @ ..], _) => {
                plainly(rest, text) || matches!(text, [_, below @ ..] if plainly(pattern, below))
            }
            ([b'?', rest @ ..], [_, below @ ..]) => plainly(rest, below),
            ([wanted, rest @ ..], [byte, below @ ..]) => {
                wanted.eq_ignore_ascii_case(byte) && plainly(rest, below)
            }
            (_, _) => false,
        }
    }

    proptest! {
        #[test]
        fn a_pattern_matches_what_it_means(pattern in "[abA*?]{0,7}", text in "[abAB]{0,9}") {
            let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
            prop_assert_eq!(wild_bytes(pattern, text), plainly(pattern, text));
        }
    }
}
