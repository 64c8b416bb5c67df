//! Words that are broken over strings or lines.

use std::ops::Range;

use super::super::Disguise;
use super::super::pieces::{Draft, Made};

/// Joins what was broken, in the lines around the joints.
pub(super) fn joined<'t>(text: &'t str, places: &[usize], draft: &mut Draft<'t>) {
    let breaks: Vec<Range<usize>> = places
        .iter()
        .filter_map(|place| string_break(text, *place).or_else(|| line_break(text, *place)))
        .collect();
    let mut next = breaks.iter().peekable();
    while let Some(first) = next.next() {
        if draft.is_full() {
            return;
        }
        let start = line_start(text, first.start);
        draft.copy(start..first.start);
        let mut last = first;
        draft.add(last.clone(), "", Made::Undone(Disguise::Split));
        // Joints in the same line, or in the one that a joint leads to, belong to one passage.
        while let Some(another) = next.peek().copied()
            && another.start >= last.end
            && !text
                .get(last.end..another.start)
                .is_none_or(|between| between.contains('\n') || between.len() > MAX_LENGTH)
        {
            draft.copy(last.end..another.start);
            draft.add(another.clone(), "", Made::Undone(Disguise::Split));
            last = another;
            next.next();
        }
        draft.copy(last.end..line_end(text, last.end));
        draft.end_segment();
    }
}

fn line_start(text: &str, at: usize) -> usize {
    let earliest = text.floor_char_boundary(at.saturating_sub(MAX_LENGTH));
    let before = text.get(earliest..at).unwrap_or_default();
    before
        .rfind('\n')
        .map_or(earliest, |newline| earliest + newline + 1)
}

fn line_end(text: &str, at: usize) -> usize {
    let latest = text.floor_char_boundary(text.len().min(at + MAX_LENGTH));
    let after = text.get(at..latest).unwrap_or_default();
    after.find('\n').map_or(latest, |newline| at + newline)
}

/// From the quote at `at` to after the next one, where the string between goes on with a letter.
fn string_break(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let quote = *bytes.get(at).filter(|byte| matches!(byte, b'"' | b'\''))?;
    let rest = bytes.get(at + 1..)?;
    let between = rest
        .iter()
        .take(WIDEST_GAP)
        .take_while(|byte| {
            matches!(
                byte,
                b' ' | b'\t' | b'\n' | b'\r' | b'+' | b'.' | b'&' | b'\\'
            )
        })
        .count();
    let signs = rest.get(..between)?;
    let operators = signs
        .iter()
        .filter(|byte| matches!(byte, b'+' | b'.' | b'&'))
        .count();
    let next = at + 1 + between;
    // Two quotes with nothing between are an empty string or the end of a longer quote.
    let apart = between > 0 && operators <= 2;
    let goes_on = bytes.get(next + 1).is_some_and(u8::is_ascii_alphabetic);
    (bytes.get(next) == Some(&quote) && apart && goes_on).then_some(at..next + 1)
}

/// From a hyphen or backslash at the end of a line to where the word goes on in the next.
fn line_break(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let (start, newline) = match bytes.get(at)? {
        b'\n' => (at.checked_sub(1)?, at),
        b'\\' => {
            let rest = bytes.get(at..)?;
            (
                at,
                at + rest.iter().take(3).position(|byte| *byte == b'\n')?,
            )
        }
        _ => return None,
    };
    let rest = bytes.get(newline + 1..)?;
    let prefix = rest
        .iter()
        .take(WIDEST_GAP)
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'#' | b'/' | b'*' | b'>' | b';' | b'%'))
        .count();
    rest.get(prefix)
        .is_some_and(u8::is_ascii_lowercase)
        .then_some(start..newline + 1 + prefix)
}

const WIDEST_GAP: usize = 24;
const MAX_LENGTH: usize = 1024;
