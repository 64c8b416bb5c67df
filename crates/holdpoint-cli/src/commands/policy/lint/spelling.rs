//! What can be seen of entries as they are spelled.

use holdpoint_core::document::closest;
use holdpoint_core::policy::{Layer, without_last_star};
use holdpoint_core::{Glob, Profile, command_argument, program_names, standing_name, tool_names};

use super::written::{Entry, EntryKind, List, WrittenPolicy};
use super::{Finding, Level};

/// The most programs that are named for a pattern that covers more of them.
const MAX_NAMED: usize = 4;

/// Looks at every entry of a file.
pub(super) fn look(file: &WrittenPolicy, layer: &Layer, findings: &mut Vec<Finding>) {
    let as_text = layer.profile == Some(Profile::Jaato);
    for (at, entry) in file.entries.iter().enumerate() {
        match &entry.kind {
            EntryKind::Tool | EntryKind::ToolOfArguments => findings.extend(tool(entry)),
            EntryKind::Pattern => {
                findings.extend(head(entry));
                findings.extend(covers_more(entry, as_text));
                findings.extend(misses_bare(entry, file, as_text));
            }
            EntryKind::Value { .. } => {}
        }
        let before = file.entries.get(..at).unwrap_or_default();
        findings.extend(repeated(entry, before));
        if entry.list == List::Allow {
            findings.extend(in_both_lists(entry, file));
        }
        if entry.list == List::Deny {
            findings.extend(shadowed(entry, file));
        }
    }
}

/// A tool's name: one nobody has, or one that is no name.
fn tool(entry: &Entry) -> Option<Finding> {
    let name = entry.text.trim_start_matches('=');
    // Keys of `tools` are globs.
    if entry.list == List::Tools && name.contains(['*', '?', '[']) {
        return None;
    }
    if let Some((head, rest)) = name.split_once('(') {
        let inner = rest.strip_suffix(')').unwrap_or(rest);
        // Claude Code writes `Bash(git push:*)`.
        let inner = inner.replace(":*", " *");
        let message = "never matches: a tool's name stands here, and this is a pattern".to_owned();
        let pattern = match command_argument(head) {
            Some(_) => inner,
            None => format!("{head}(*{inner}*"),
        };
        let instead = format!("\"patterns\": [\"{pattern}\"] in `{}`", entry.list.as_str());
        return Some(
            Finding::about(entry, Level::Warning, "pattern-as-tool", message).instead(instead),
        );
    }
    if name.contains(['*', '?', '[']) {
        let message = "never matches: names in `tools` have no wildcards".to_owned();
        let instead = format!("\"patterns\": [\"{name}(*\"] in `{}`", entry.list.as_str());
        return Some(
            Finding::about(entry, Level::Warning, "pattern-as-tool", message).instead(instead),
        );
    }
    unknown(entry, name)
}

/// A tool's name in front of a pattern for the text form of calls.
fn head(entry: &Entry) -> Option<Finding> {
    let (name, _) = entry.text.split_once('(')?;
    let name = name.trim_start_matches('=');
    let is_name = !name.is_empty()
        && name
            .chars()
            .all(|sign| sign.is_alphanumeric() || "_-.".contains(sign));
    is_name.then(|| unknown(entry, name)).flatten()
}

fn unknown(entry: &Entry, name: &str) -> Option<Finding> {
    let known: Vec<&str> = tool_names().collect();
    let same = |one: &&str| match entry.list {
        // Keys of `tools` do not mind the case.
        List::Tools => one.eq_ignore_ascii_case(name),
        List::Deny | List::Ask | List::Allow => *one == name,
    };
    if known.iter().any(same) || name.starts_with("mcp__") || name.is_empty() {
        return None;
    }
    let message = "is a tool no agent known here has".to_owned();
    Some(match closest(name, &known) {
        Some(near) => Finding::about(entry, Level::Warning, "unknown-tool", message)
            .instead(format!("\"{near}\", if that is what is meant")),
        None => Finding::about(
            entry,
            Level::Note,
            "unknown-tool",
            format!("{message}: right if it is one of your own"),
        ),
    })
}

/// `ls*` reads as if it covered `lsof`, and under jaato it does.
fn covers_more(entry: &Entry, as_text: bool) -> Option<Finding> {
    let (first, rest) = match entry.text.split_once(' ') {
        Some((first, rest)) => (first, Some(rest)),
        None => (entry.text.as_str(), None),
    };
    let program = first.strip_suffix('*')?;
    if program.is_empty() || program.contains(['*', '?', '[', '/', '(', '=']) {
        return None;
    }
    // Of a name nobody knows it is not known what was meant: `my-*` may be.
    if !program_names().any(|name| name == program) {
        return None;
    }
    let version = |rest: &str| {
        rest.chars()
            .all(|sign| sign.is_ascii_digit() || sign == '.')
    };
    let others: Vec<&str> = program_names()
        .filter(|name| {
            name.strip_prefix(program)
                .is_some_and(|rest| !version(rest))
        })
        .take(MAX_NAMED)
        .collect();
    let named = match others.is_empty() {
        true => String::new(),
        false => format!(" ({})", others.join(", ")),
    };
    let message = match as_text {
        true => format!("covers every program whose name begins with `{program}`{named}"),
        false => format!(
            "reads like every program whose name begins with `{program}`{named}, and allows `{program}` alone"
        ),
    };
    let instead = match (rest, as_text) {
        (Some(rest), _) => format!("\"{program} {rest}\""),
        (None, true) => format!("\"{program}\", \"{program} *\""),
        (None, false) => format!("\"{program} *\", which covers `{program}` alone, too"),
    };
    Some(Finding::about(entry, Level::Warning, "covers-more", message).instead(instead))
}

/// As text, `cargo test *` misses `cargo test` (J-13).
fn misses_bare(entry: &Entry, file: &WrittenPolicy, as_text: bool) -> Option<Finding> {
    let bare = without_last_star(&entry.text).filter(|_| as_text)?;
    let also = |other: &Entry| {
        other.list == entry.list
            && other.kind == EntryKind::Pattern
            && Glob::new(&other.text).matches(bare)
    };
    if file.entries.iter().any(also) {
        return None;
    }
    let message = format!("does not cover `{bare}` alone: under profile jaato patterns are text");
    Some(
        Finding::about(entry, Level::Warning, "misses-bare", message)
            .instead(format!("\"{bare}\" as well")),
    )
}

fn repeated(entry: &Entry, before: &[Entry]) -> Option<Finding> {
    let same = |other: &&Entry| {
        other.list == entry.list && other.kind == entry.kind && other.text == entry.text
    };
    let first = before.iter().find(same)?;
    let message = format!(
        "stands in `{}` already, on line {}",
        entry.list.as_str(),
        first.place.0
    );
    Some(Finding::about(entry, Level::Note, "twice", message).instead("it once"))
}

/// A tool or pattern that is allowed and denied: the denial counts (J-08).
fn in_both_lists(entry: &Entry, file: &WrittenPolicy) -> Option<Finding> {
    let deny = file
        .entries
        .iter()
        .find(|other| other.list == List::Deny && same_meaning(entry, other))?;
    let message = format!(
        "is in `deny` as well, on line {}: the denial counts",
        deny.place.0
    );
    Some(
        Finding::about(entry, Level::Warning, "in-both-lists", message)
            .instead("it in one of them"),
    )
}

fn same_meaning(entry: &Entry, other: &Entry) -> bool {
    if entry.kind != other.kind {
        return false;
    }
    let stands_for = |name: &str| {
        standing_name(name).map_or_else(|| name.to_owned(), |(_, name)| name.to_owned())
    };
    match entry.kind {
        EntryKind::Tool => stands_for(&entry.text) == stands_for(&other.text),
        EntryKind::Pattern | EntryKind::Value { .. } => entry.text == other.text,
        EntryKind::ToolOfArguments => false,
    }
}

/// A denial that never speaks, because a wider one does.
fn shadowed(entry: &Entry, file: &WrittenPolicy) -> Option<Finding> {
    let wider = file.entries.iter().find(|other| {
        other.list == List::Deny && other.place != entry.place && is_wider(other, entry)
    })?;
    let message = format!(
        "never speaks: `{}` on line {} denies all of it",
        wider.text, wider.place.0
    );
    Some(Finding::about(entry, Level::Note, "deny-shadowed", message).instead("one of the two"))
}

fn is_wider(other: &Entry, entry: &Entry) -> bool {
    match (&other.kind, &entry.kind) {
        (EntryKind::Pattern, EntryKind::Pattern) => {
            entry.text != other.text && contains(&other.text, &entry.text)
        }
        // A shell that is denied runs no command.
        (EntryKind::Tool, EntryKind::Pattern) => {
            other.text == "Bash" && !entry.text.contains('(') && entry.text != "*"
        }
        (EntryKind::Tool, EntryKind::Value { tool, .. }) => tool == &other.text,
        (
            EntryKind::Tool
            | EntryKind::Value { .. }
            | EntryKind::ToolOfArguments
            | EntryKind::Pattern,
            _,
        ) => false,
    }
}

/// Whether a pattern matches all that another does: the other's wildcards, filled with nothing, with one sign
/// nobody writes and with two of them, can only be matched by a star.
fn contains(wider: &str, narrower: &str) -> bool {
    let (wide, narrow) = (Glob::new(wider), Glob::new(narrower));
    ["", "\u{e000}", "\u{e000}\u{e000}"]
        .iter()
        .all(|filling| wide.matches(&narrow.example(filling)))
        && !narrower.contains(['?', '['])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_contains_what_its_stars_stand_for() {
        assert!(contains("rm *", "rm -rf *"));
        assert!(contains("*", "rm -rf *"));
        assert!(contains("git push*", "git push --force"));
        assert!(!contains("rm -rf *", "rm *"));
        assert!(!contains("rm ?", "rm *"));
        assert!(!contains("git push", "git push *"));
    }
}
