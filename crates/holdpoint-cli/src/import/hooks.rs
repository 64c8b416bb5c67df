//! Safety hooks of Claude Code, as their document describes them: a script or a file with the lists
//! `DENY_PATTERNS`, `ASK_PATTERNS`, `BLOCKED_FILES` and `CONFIRM_FILES`, in shell or Python.
//!
//! The profile `hooks` is the document; what is read here is what somebody has added.

use super::Imported;

const LISTS: &[(&str, &str)] = &[
    ("DENY_PATTERNS", "deny"),
    ("ASK_PATTERNS", "ask"),
    ("BLOCKED_FILES", "deny"),
    ("CONFIRM_FILES", "ask"),
];

pub(super) fn read(name: &str, text: &str, into: &mut Imported) -> Result<(), String> {
    let mut found = false;
    let mut list: Option<(&str, &str)> = None;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with('#') {
            continue;
        }
        if list.is_none() {
            let start = LISTS.iter().find(|(key, _)| {
                line.strip_prefix(key).is_some_and(|rest| {
                    let rest = rest.trim_start();
                    rest.starts_with("=(")
                        || rest.starts_with('=') && rest.ends_with('[')
                        || rest.starts_with("= [")
                        || rest.starts_with("=[")
                })
            });
            list = start.copied();
            found |= list.is_some();
        }
        let Some((key, word)) = list else {
            continue;
        };
        for pattern in quoted(line) {
            match key.ends_with("_FILES") {
                true => file(word, &pattern, into),
                false => command(word, &pattern, into),
            }
        }
        if line.ends_with([')', ']']) {
            list = None;
        }
    }
    match found {
        true => Ok(()),
        false => {
            let names: Vec<&str> = LISTS.iter().map(|(key, _)| *key).collect();
            Err(format!("{name} has none of the lists {}", names.join(", ")))
        }
    }
}

/// The texts in quotes on a line.
fn quoted(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find(['"', '\'']) {
        let (_, behind) = rest.split_at(start);
        let mut letters = behind.chars();
        let Some(quote) = letters.next() else { break };
        let inner = letters.as_str();
        let Some(end) = inner.find(quote) else { break };
        found.push(inner.get(..end).unwrap_or_default().to_owned());
        rest = inner.get(end + 1..).unwrap_or_default();
    }
    found
}

/// A file's pattern is any part of a path (the document: `pattern IN file_path`).
fn file(word: &str, pattern: &str, into: &mut Imported) {
    let pattern = match pattern {
        ending if ending.starts_with('.') && !ending.contains('/') => {
            // `.pem` is an ending, `.env` a name: both.
            for kind in ["write", "delete"] {
                into.push(&["files", kind, word], format!("*{ending}"));
            }
            format!("{ending}*")
        }
        name => name.to_owned(),
    };
    for kind in ["write", "delete"] {
        into.push(&["files", kind, word], pattern.clone());
    }
}

/// A pattern for `grep -E`, as far as it is words with gaps between them.
fn command(word: &str, pattern: &str, into: &mut Imported) {
    match glob_of(pattern) {
        Some(glob) => into.push(&[word, "patterns"], glob),
        None => {
            into.push(&["ask", "patterns"], "*");
            into.tighter(pattern, "the expression cannot be said as a pattern: every command is asked about until you write it");
        }
    }
}

fn glob_of(pattern: &str) -> Option<String> {
    let plain = pattern
        .replace("\\s+", " ")
        .replace("\\s*", " ")
        .replace("[[:space:]]+", " ")
        .replace("\\b", "")
        .replace(".*", "*")
        .replace("\\.", "\u{1}")
        .replace("\\*", "\u{2}");
    let plain = plain.trim_start_matches('^').trim_end_matches('$');
    if plain.contains([
        '\\', '[', ']', '(', ')', '|', '?', '+', '.', '{', '}', '^', '$',
    ]) || plain.trim().is_empty()
    {
        return None;
    }
    let glob = plain.replace('\u{1}', ".").replace('\u{2}', "[*]");
    // It may stand anywhere in the line, and more words may follow.
    let glob = glob.trim().trim_end_matches('*').trim_end().to_owned();
    Some(format!("{glob} *"))
}
