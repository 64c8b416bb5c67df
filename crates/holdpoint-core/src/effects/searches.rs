//! Searches that print what they look at: a pattern that lets everything through shows a whole file.

use super::addresses::nowhere;
use super::places::{HOME, Places, ROOT, SECRET, WORKSPACE_ROOT};
use super::reading::Reading;
use super::{Effect, EffectKind};
use crate::shell::Whereabouts;

/// A search whose pattern has no run of so many plain letters finds nearly anything.
const TELLING: usize = 3;

/// With so many lines around each finding, most of a short file is printed.
const WIDE_CONTEXT: u32 = 5;

/// Words in the names of settings that are secrets.
const SECRET_WORDS: &[&str] = &[
    "secret",
    "token",
    "pass",
    "pwd",
    "passphrase",
    "key",
    "credential",
    "private",
    "auth",
];

/// What a search shows of the files it reads, besides reading them.
pub(super) fn shown(reading: &Reading<'_>, found: &[Effect], places: &Places<'_>) -> Vec<Effect> {
    let searches = reading.program().is_some_and(|program| program.searches);
    let git = reading.begins_so("grep").is_some();
    if searches && let Some(trees) = trees_shown(reading) {
        let whole = found
            .iter()
            .filter(|effect| effect.kind == EffectKind::Read && effect.classes & trees != 0);
        let mut whole: Vec<Effect> = whole
            .map(|effect| Effect {
                kind: EffectKind::Show,
                // Whatever is kept there is among it.
                classes: effect.classes | SECRET,
                ..effect.clone()
            })
            .collect();
        // Without a place it searches where it is.
        let patterns = usize::from(reading.values_of(&["-e", "--regexp"]).next().is_none());
        if reading.own_operands().len() <= patterns {
            let here = places.of_word(".", &Whereabouts::default()).into_iter();
            whole.extend(
                here.filter(|place| place.classes & trees != 0)
                    .map(|place| Effect {
                        classes: place.classes | SECRET,
                        place,
                        ..nowhere(EffectKind::Show)
                    }),
            );
        }
        if !whole.is_empty() {
            return whole;
        }
    }
    if !(searches || git) || !prints_much(reading) {
        return Vec::new();
    }
    let read = found
        .iter()
        .filter(|effect| effect.kind == EffectKind::Read && effect.place.path.is_some());
    let mut shown: Vec<Effect> = read
        .map(|effect| Effect {
            kind: EffectKind::Show,
            ..effect.clone()
        })
        .collect();
    shown.extend(told_to_look_at(reading, places));
    shown
}

/// The kinds of trees a search shows with the secrets in them: of the workspace where it finds every line, of a home
/// also where it looks for secrets. Hidden files are among what is searched, and no kind of file is chosen.
fn trees_shown(reading: &Reading<'_>) -> Option<u64> {
    let unrestricted = reading.flags().filter(|flag| flag.name == "-u").count();
    let hidden = match reading
        .program()
        .is_some_and(|program| program.roles.default.is_some())
    {
        true => unrestricted > 1 || reading.has_exactly("--hidden | -. | --unrestricted"),
        false => reading.is_recursive(),
    };
    let chosen = "--include | -g | --glob | --iglob | -t | --type | -G | --file-search-regex";
    if !hidden || reading.has_exactly(ONLY_NAMES) || reading.has_exactly(chosen) {
        return None;
    }
    let given = reading.values_of(&["-e", "--regexp"]).next();
    let pattern = match given {
        Some((pattern, _)) => pattern,
        None => reading.operands().next()?.text.as_str(),
    };
    let finds_anything = pattern.chars().all(|sign| ".*^$+?()".contains(sign));
    let looks_for_secrets = || {
        let lower = pattern.to_ascii_lowercase();
        SECRET_WORDS.iter().any(|word| lower.contains(word))
    };
    match finds_anything {
        true => Some(WORKSPACE_ROOT | HOME | ROOT),
        false => looks_for_secrets().then_some(HOME | ROOT),
    }
}

/// `grep -r . --include=.env`: the secrets a search looks at, if it is told to look at nothing else.
fn told_to_look_at(reading: &Reading<'_>, places: &Places<'_>) -> Vec<Effect> {
    let mut shown = Vec::new();
    for (value, word) in reading.values_of(&["--include", "-g", "--glob", "--iglob"]) {
        if value.starts_with('!') {
            continue;
        }
        let named = places.of_word(value, &Whereabouts::default());
        if named.iter().all(|place| place.classes & SECRET == 0) {
            return Vec::new();
        }
        shown.extend(named.into_iter().map(|place| Effect {
            text: word.text.clone(),
            classes: place.classes & SECRET,
            place,
            span: word.span.clone(),
            ..nowhere(EffectKind::Show)
        }));
    }
    shown
}

/// Whether a search looks for the names of secrets, or for anything.
pub(super) fn finds_secrets(reading: &Reading<'_>) -> bool {
    reading.program().is_some_and(|program| program.searches)
        && !reading.has_exactly(ONLY_NAMES)
        && reading.operands().next().is_some_and(|word| {
            let lower = word.text.to_ascii_lowercase();
            SECRET_WORDS.iter().any(|secret| lower.contains(secret))
        })
}

/// Flags with which only names, numbers or nothing at all is printed.
const ONLY_NAMES: &str = "-q | --quiet | --silent | -l | --files-with-matches | -L | --files-without-match | -c | --count | --count-matches | --files";

fn prints_much(reading: &Reading<'_>) -> bool {
    if reading.has_exactly(ONLY_NAMES) {
        return false;
    }
    if reading.has_exactly("-v | --invert-match | -z | --null-data | --passthru | --passthrough") {
        return true;
    }
    let wide = |value: &str| value.parse().is_ok_and(|lines: u32| lines >= WIDE_CONTEXT);
    let around = [
        "-A",
        "-B",
        "-C",
        "--after-context",
        "--before-context",
        "--context",
        "--after",
        "--before",
    ];
    let fixed = reading.has_exactly("-F | --fixed-strings");
    let mut patterns = 0;
    for flag in reading.flags() {
        let Some((value, word)) = flag.value else {
            continue;
        };
        match flag.name {
            "-e" | "--regexp" | "--match" => {
                patterns += 1;
                if word.dynamic || is_broad(value, fixed) {
                    return true;
                }
            }
            // What stands in a file of patterns nobody has read.
            "-f" | "--file" => return true,
            name if around.contains(&name) && wide(value) => return true,
            _ => {}
        }
    }
    let skip = usize::from(reading.begins_so("grep").is_some());
    let first = reading.operands_after(skip).next();
    patterns == 0 && first.is_some_and(|word| word.dynamic || is_broad(&word.text, fixed))
}

/// Whether a pattern finds nearly any line, or the values of secrets.
pub(super) fn is_broad(pattern: &str, fixed: bool) -> bool {
    // `(…)?`: what stands inside need not be there.
    let optional = [")*", ")?", "){0", "){,", "\\)*", "\\)?"];
    if !fixed && optional.iter().any(|sign| pattern.contains(sign)) {
        return true;
    }
    let ends = |letter: char| letter == '\n' || (letter == '|' && !fixed);
    pattern.split(ends).any(|alternative| {
        let literal = longest_literal(alternative, fixed);
        let lower = literal.to_ascii_lowercase();
        let few = literal.len() < TELLING && (literal != alternative || is_common(&lower));
        few || SECRET_WORDS.iter().any(|word| lower.contains(word))
    })
}

/// Letters that hardly a line is without.
fn is_common(text: &str) -> bool {
    text.bytes()
        .all(|letter| b"abcdefghiklmnoprstuwy_-0123456789".contains(&letter))
}

/// The longest run of letters, digits and `_` that every finding has.
fn longest_literal(pattern: &str, fixed: bool) -> String {
    let mut longest = String::new();
    let mut run = String::new();
    let mut letters = pattern.chars().peekable();
    let mut inside = false;
    while let Some(letter) = letters.next() {
        match letter {
            '[' if !fixed => inside = true,
            ']' if inside => inside = false,
            _ if inside => {}
            // `\w`, `\.`, `\b`: a letter that is none.
            '\\' if !fixed => {
                letters.next();
            }
            letter if letter.is_alphanumeric() || letter == '_' || letter == '-' => {
                run.push(letter);
                // `x*` may be no `x` at all.
                if !fixed && letters.peek().is_some_and(|next| "*?{".contains(*next)) {
                    run.pop();
                } else {
                    continue;
                }
            }
            _ => {}
        }
        if run.len() > longest.len() {
            longest = std::mem::take(&mut run);
        }
        run.clear();
    }
    if run.len() > longest.len() {
        run
    } else {
        longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_finds_anything_is_broad() {
        for pattern in [
            "",
            ".",
            ".*",
            "=",
            "^",
            "[A-Z]",
            "^[A-Z_]*=",
            "x*",
            "a|.",
            "(abcdef)?",
            "\\w",
            "ab",
            "API_KEY",
            "secret",
            "foo\\|.",
            "e",
            "A",
        ] {
            assert!(is_broad(pattern, false), "{pattern}");
        }
        for pattern in [
            "added",
            "x",
            "^PORT=",
            "DATABASE_URL",
            "NODE_ENV\\s*=",
            "foo|bar",
        ] {
            assert!(!is_broad(pattern, false), "{pattern}");
        }
        assert!(!is_broad("a.b.c|foo", true));
    }
}
