//! The passage a place belongs to: its line, or the part of a long line around it.

use std::ops::Range;

/// The line around a place, or at most [`REACH`] bytes of it to either side.
pub(super) fn around(text: &str, at: usize) -> Range<usize> {
    let earliest = text.floor_char_boundary(at.saturating_sub(REACH));
    let latest = text.floor_char_boundary(text.len().min(at.saturating_add(REACH)));
    let before = text.get(earliest..at).unwrap_or_default();
    let after = text.get(at..latest).unwrap_or_default();
    let start = before
        .rfind('\n')
        .map_or(earliest, |newline| earliest + newline + 1);
    let end = after.find('\n').map_or(latest, |newline| at + newline);
    start..end
}

/// The passages around places, each once.
pub(super) fn all<'a>(
    text: &'a str,
    places: &'a [usize],
) -> impl Iterator<Item = Range<usize>> + 'a {
    let mut done = 0;
    places.iter().filter_map(move |place| {
        let place = text.floor_char_boundary(*place);
        if place < done {
            return None;
        }
        let passage = around(text, place);
        let passage = passage.start.max(done)..passage.end;
        done = passage.end.max(place + 1);
        (!passage.is_empty()).then_some(passage)
    })
}

const REACH: usize = 1024;
