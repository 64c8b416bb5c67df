//! What is known of names that a program finds: `$(ls -d .cl*)`, `$(find . -name 'settings*.json')`.
//!
//! Which files those are is not in the text, but what they are called may be. Nothing is promised of
//! what stands before that, so whoever treats unknown places with care still does; what is known
//! is for rules about hidden files, which a pattern can name without saying so.

use std::rc::Rc;

use super::environment::{Origin, Partial};
use super::input::Input;
use super::texts::{Argument, UNKNOWN};
use crate::rules::gate_reach;

/// Programs that print the names they are given as patterns.
const LISTING: [&str; 8] = [
    "ls", "gls", "echo", "printf", "compgen", "dir", "stat", "realpath",
];

/// Programs that find names by a pattern.
const FINDING: [&str; 5] = ["find", "gfind", "bfs", "fd", "fdfind"];

/// Programs that pass on some of what they read.
const PASSING: [&str; 8] = ["head", "tail", "sort", "uniq", "grep", "cat", "tac", "tee"];

/// What is known of the names a command prints, if anything is.
pub(super) fn names(program: &str, words: &[Argument], input: &Input) -> Option<Input> {
    if PASSING.contains(&program)
        && let Input::Partly(partial) = input
        && is_listing(&partial.pattern)
    {
        return Some(Input::Partly(Rc::clone(partial)));
    }
    if LISTING.contains(&program) {
        let mut hidden = words.iter().filter_map(|word| {
            let text = word.unquoted();
            let text = text.strip_prefix("./").unwrap_or(text);
            let wild = text.contains(['*', '?', '[']);
            let names = wild && (text.starts_with('.') || text.contains("/."));
            (names && (word.text.glob || program == "compgen")).then(|| text.to_owned())
        });
        return hidden.next().map(|text| partly(&text));
    }
    if FINDING.contains(&program) {
        let named = words.windows(2).find_map(|pair| match pair {
            [test, name] if matches!(test.unquoted(), "-name" | "-iname") => name.known(),
            _ => None,
        });
        let name = named.filter(|name| has_stem(name))?;
        return Some(partly(&format!("{UNKNOWN}/.{UNKNOWN}/{name}")));
    }
    None
}

/// A pattern for what `find` finds by this filter in hidden directories below a place, where the filter
/// says more of a name than its ending.
pub(super) fn found_hidden(root: &str, filter: Option<&str>) -> Option<String> {
    let filter = filter?;
    let root = root.trim_end_matches('/');
    // `-path './.c*/*'` says where.
    if filter.contains("/.") {
        return (gate_reach::of(filter) != 0).then(|| filter.to_owned());
    }
    let name = filter.rsplit('/').find(|part| !part.is_empty())?;
    let pattern = format!("{root}/.{UNKNOWN}/{name}");
    let reaches = has_stem(name) && gate_reach::of(&pattern) & gate_reach::GATE_REACH != 0;
    reaches.then_some(pattern)
}

/// Whether a pattern says more of a name than its ending: `*.json` does not.
fn has_stem(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    stem.contains(char::is_alphanumeric)
}

fn partly(pattern: &str) -> Input {
    let known: String = pattern
        .chars()
        .map(|sign| {
            if matches!(sign, '*' | '?') {
                UNKNOWN
            } else {
                sign
            }
        })
        .collect();
    let pattern = match known.starts_with(UNKNOWN) {
        true => known,
        false => format!("{UNKNOWN}{known}"),
    };
    Input::Partly(Rc::new(Partial {
        origin: Origin::Elsewhere,
        written: pattern.replace(UNKNOWN, "…"),
        pattern,
        splits: false,
    }))
}

fn is_listing(pattern: &str) -> bool {
    pattern.starts_with(UNKNOWN) && pattern.contains('.')
}
