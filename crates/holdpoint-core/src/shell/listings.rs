//! What is known of names that a program finds: `$(ls -d .cl*)`, `$(find . -name 'settings*.json')`.
//!
//! Which files those are is not in the text, but what they are called may be. Nothing is promised of
//! what stands before that, so whoever treats unknown places with care still does; what is known
//! is for rules about hidden files, which a pattern can name without saying so.

use std::rc::Rc;

use super::commands::{Command, Reached};
use super::environment::{Origin, Partial};
use super::input::Input;
use super::texts::{Argument, UNKNOWN};
use crate::rules::{FINDERS, LISTERS, PASSERS, gate_reach};

/// What is known of the names a command prints, if anything is.
pub(super) fn names(program: &str, words: &[Argument], input: &Input) -> Option<Input> {
    if PASSERS.contains(program)
        && let Input::Partly(partial) = input
        && is_listing(&partial.pattern)
    {
        return Some(Input::Partly(Rc::clone(partial)));
    }
    if LISTERS.contains(program) {
        let mut hidden = words.iter().filter_map(|word| {
            let text = word.unquoted();
            let text = text.strip_prefix("./").unwrap_or(text);
            let wild = text.contains(['*', '?', '[']);
            let names = wild && (text.starts_with('.') || text.contains("/."));
            (names && (word.text.glob || program == "compgen")).then(|| text.to_owned())
        });
        return hidden.next().map(|text| partly(&text));
    }
    if FINDERS.contains(program) {
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

/// Patterns for the files that commands of a pipeline find together, if those lie in directories that are
/// named (`grep -rl old src`), or are such that hidden files are passed over (`rg -l old`). None if
/// something in between can print another name.
pub(super) fn found_inside(commands: &[Command]) -> Option<Vec<String>> {
    let (first, rest) = commands.split_first()?;
    let passes = |command: &Command| {
        let Some(name) = command.program().filter(|name| PASSERS.contains(name)) else {
            return false;
        };
        // A file that is named besides is printed, too.
        let words = command.words.get(1..).unwrap_or_default();
        let operands = words.iter().filter(|word| !word.text.starts_with('-'));
        let own = usize::from(name == "grep");
        operands.count() <= own && words.iter().all(|word| !word.dynamic)
    };
    if !rest.iter().all(passes) || first.words.iter().any(|word| word.dynamic) {
        return None;
    }
    let words: Vec<&str> = first.words.iter().map(|word| word.text.as_str()).collect();
    let roots = match words.as_slice() {
        // What is committed may be hidden, so that places have to be named.
        ["git", "grep", rest @ ..] => named_directories(rest).filter(|named| !named.is_empty())?,
        ["git", "ls-files", rest @ ..] => {
            let named = rest.iter().filter(|word| !word.starts_with('-'));
            let named: Vec<String> = named.map(|word| (*word).to_owned()).collect();
            Some(named).filter(|named| !named.is_empty())?
        }
        ["rg" | "ripgrep" | "fd" | "fdfind" | "ag", rest @ ..] if passes_hidden_over(rest) => {
            named_directories(rest)?
        }
        ["find" | "gfind" | "bfs", rest @ ..] => {
            let roots = rest
                .iter()
                .take_while(|word| !word.starts_with(['-', '(', '!']));
            let filter = rest.windows(2).find_map(|pair| match pair {
                ["-name" | "-iname", name] => Some(*name),
                _ => None,
            });
            let mut found = Vec::new();
            for root in roots {
                let here = matches!(root.trim_end_matches('/'), "" | ".");
                if here && (filter.is_none() || found_hidden(root, filter).is_some()) {
                    return None;
                }
                found.push((*root).to_owned());
            }
            if found.is_empty() {
                return None;
            }
            found
        }
        ["grep" | "egrep" | "ggrep", rest @ ..] => {
            let named = named_directories(rest)?;
            let included = rest.iter().any(|word| word.starts_with("--include"));
            if !included && (named.is_empty() || named.iter().any(|root| root == ".")) {
                return None;
            }
            named
        }
        _ => return None,
    };
    let by_git = words.first() == Some(&"git");
    let inside = |root: &String| {
        let parts = || root.split('/').filter(|part| !part.is_empty());
        let wild = root.contains(['*', '?', '[']);
        let leads_out = root.starts_with(['/', '~', '$', ':']);
        let hides = parts().any(|part| part == ".." || is_hidden(part));
        let everything = by_git && root.trim_end_matches('/') == ".";
        !leads_out && !hides && !everything && (!wild || (by_git && is_source(root)))
    };
    if !roots.iter().all(inside) {
        return None;
    }
    let below = |root: &String| match root.trim_end_matches('/') {
        "" | "." => format!("./{UNKNOWN}"),
        root if root.contains(['*', '?', '[']) => format!("./{UNKNOWN}"),
        root => format!("{root}/{UNKNOWN}"),
    };
    Some(match roots.is_empty() {
        true => vec![format!("./{UNKNOWN}")],
        false => roots.iter().map(below).collect(),
    })
}

/// Columns of `ps` so that a process's number is the second.
const NUMBER_SECOND: [&str; 5] = ["aux", "auxw", "auxww", "-aux", "-ef"];

/// The name by which `ps aux | grep NAME | grep -v grep | awk '{print $2}'` finds processes. None if anything in it is more than
/// that: an expression finds others, too. All of them are `reached` in the same way.
pub(super) fn processes_named(commands: &[Command], reached: Reached) -> Option<&str> {
    let plain = |command: &Command| {
        let literal = command.words.iter().all(|word| !word.dynamic);
        literal && command.redirects.is_empty() && command.reached == reached
    };
    if !commands.iter().all(plain) {
        return None;
    }
    let mut name = None;
    let mut numbers = false;
    for (at, command) in commands.iter().enumerate() {
        let words: Vec<&str> = command
            .words
            .iter()
            .map(|word| word.text.as_str())
            .collect();
        match words.as_slice() {
            ["ps", columns] if at == 0 && NUMBER_SECOND.contains(columns) => {}
            ["grep", "-v", _] if at > 0 && !numbers => {}
            ["grep", word] | ["grep", "-F", word]
                if at > 0 && !numbers && name.is_none() && is_plain_name(word) =>
            {
                name = command.words.last().map(|word| word.text.as_str());
            }
            ["awk", "{print $2}" | "{ print $2 }"] if at > 0 && !numbers => numbers = true,
            ["head", "-1" | "-n1"] | ["head", "-n", "1"] if numbers => {}
            _ => return None,
        }
    }
    name.filter(|_| numbers)
}

/// A name as scripts have it: no expression but for its dots, nor so short that it is a part of many.
fn is_plain_name(name: &str) -> bool {
    let of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | ' ');
    name.len() > 4
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(of_name)
}

/// Patterns for what `find` finds by name and a pipeline hands on, as `find -exec` would be given it. None if
/// something in between can print another name, or a test is turned around.
pub(super) fn found_by_name(commands: &[Command]) -> Option<Vec<String>> {
    let (first, rest) = commands.split_first()?;
    let passes = |command: &Command| {
        let narrows = command.program() == Some("grep");
        let plain = command.words.iter().all(|word| !word.dynamic);
        // `grep -v node_modules` leaves some out; any other operand may be a file it prints.
        let mut words = command.words.iter().skip(1);
        let operands = words.clone().filter(|word| !word.text.starts_with('-'));
        let few = operands.count() <= usize::from(narrows);
        let prints_more = words.any(|word| word.text.starts_with("-f"));
        let passing = command.program().is_some_and(|name| PASSERS.contains(name));
        passing && plain && few && !prints_more
    };
    if !rest.iter().all(passes) || first.words.iter().any(|word| word.dynamic) {
        return None;
    }
    let words: Vec<&str> = first.words.iter().map(|word| word.text.as_str()).collect();
    let ["find" | "gfind" | "bfs", words @ ..] = words.as_slice() else {
        return None;
    };
    let turned = |word: &&str| {
        matches!(
            *word,
            "!" | "-not" | "-o" | "-or" | "," | "-printf" | "-prune"
        )
    };
    if words.iter().any(turned) {
        return None;
    }
    let name = words.windows(2).find_map(|pair| match pair {
        ["-name" | "-iname", name] => Some(*name),
        _ => None,
    })?;
    // `.env*`: a hidden file is named by how it begins.
    let stem = name
        .strip_suffix('*')
        .filter(|stem| stem.len() > 2 && is_hidden(stem));
    let name = stem.unwrap_or(name);
    // Which files of a kind those are is the point where they are deleted.
    if name.contains(['*', '?', '[']) {
        return None;
    }
    let begins = |word: &&&str| !word.starts_with(['-', '(']);
    let roots: Vec<&str> = words.iter().take_while(begins).copied().collect();
    let roots = if roots.is_empty() { vec!["."] } else { roots };
    let below = |root: &&str| {
        let hidden = found_hidden(root, Some(name));
        let found = format!("{}/{name}", root.trim_end_matches('/'));
        std::iter::once(found).chain(hidden)
    };
    Some(roots.iter().flat_map(below).collect())
}

/// Whether a pattern is for names with an ending that no file with settings has.
fn is_source(pattern: &str) -> bool {
    let ending = pattern.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| {
        ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && !["json", "jsonc", "toml", "yaml", "yml"].contains(&ending)
    })
}

fn is_hidden(part: &str) -> bool {
    part.len() > 1 && part.starts_with('.')
}

/// Whether a search leaves hidden files out, as it does unless it is told otherwise.
fn passes_hidden_over(words: &[&str]) -> bool {
    let shows = |word: &&str| {
        let short = word.starts_with('-') && !word.starts_with("--");
        word.starts_with("--hid")
            || word.starts_with("--unr")
            || word.starts_with("--no-ig")
            || (short && word.contains(['u', 'H', '.']))
    };
    !words.iter().any(shows)
}

/// The places a search is told to look in: what follows the first operand, which is what it looks for.
/// None if a flag may take one of them for its value.
fn named_directories(words: &[&str]) -> Option<Vec<String>> {
    let takes = |word: &&str| {
        matches!(
            *word,
            "-e" | "-f" | "--regexp" | "--file" | "-E" | "--exclude"
        )
    };
    if words.iter().any(takes) {
        return None;
    }
    let operands = words
        .iter()
        .filter(|word| !word.starts_with('-') || **word == "-");
    Some(operands.skip(1).map(|word| (*word).to_owned()).collect())
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
