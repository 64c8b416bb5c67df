//! Whether commands that were really run are shown by those a reader lists.

use holdpoint_core::shell::{Command, Text, UNKNOWN};

/// How a command that was run is shown by the list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Shown {
    /// Word by word.
    Exactly,
    /// Around words that are said to be dynamic.
    Around,
    /// Behind a mark.
    Hidden,
}

/// A home directory is the user's: nobody knows it here. It may stand in a value, too: bash takes
/// `x=~` for an assignment's even among the words of a command.
fn is_open(word: &Text) -> bool {
    let in_value = word.text.split_once('=').is_some_and(|(name, value)| {
        let letter = |c: char| c == '_' || c.is_ascii_alphanumeric();
        name.chars().all(letter) && (value.starts_with('~') || value.contains(":~"))
    });
    word.dynamic || word.text.starts_with('~') || in_value
}

/// Whether a dynamic word can be this one: what is known of it must be there.
fn may_be(word: &Text, ran: &str) -> bool {
    let Some(pattern) = &word.pattern else {
        return true;
    };
    // A home directory is the user's here, too.
    let home = pattern
        .strip_prefix('~')
        .map(|rest| format!("{UNKNOWN}{rest}"));
    let mut pieces = home.as_ref().unwrap_or(pattern).split(UNKNOWN);
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = ran.strip_prefix(first) else {
        return false;
    };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else {
        return rest.is_empty();
    };
    for piece in pieces {
        match rest.split_once(piece) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Whether words can be what was run: a dynamic one is any number of words, unless quotes keep it
/// one.
fn covers(words: &[Text], argv: &[String]) -> bool {
    let Some((first, rest)) = words.split_first() else {
        return argv.is_empty();
    };
    if !is_open(first) {
        // There are no files here, so a glob stays what it is.
        return argv.first() == Some(&first.text) && covers(rest, &argv[1..]);
    }
    let source = &first.text;
    let one = source.len() > 1
        && source.starts_with('"')
        && source.ends_with('"')
        && source.matches('"').count() == 2
        && !source.contains(['@', '!']);
    if one {
        return argv.first().is_some_and(|ran| may_be(first, ran)) && covers(rest, &argv[1..]);
    }
    (0..=argv.len()).any(|taken| covers(rest, &argv[taken..]))
}

/// How the list shows a command that was run; `hides` tells what stands in front of anything.
pub(crate) fn shown(
    listed: &[Command],
    argv: &[String],
    hides: fn(&Command) -> bool,
) -> Option<Shown> {
    let mut best = None;
    for command in listed {
        if command.words.is_empty() || !covers(&command.words, argv) {
            continue;
        }
        if !command.words.iter().any(is_open) {
            return Some(Shown::Exactly);
        }
        best = Some(Shown::Around);
    }
    if best.is_none() && listed.iter().any(hides) {
        best = Some(Shown::Hidden);
    }
    best
}
