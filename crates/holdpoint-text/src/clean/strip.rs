//! What nobody sees and what terminals act on, taken out of a text; everything else stays.
//!
//! Tabs and line breaks stay, and so does what ordinary writing needs: joiners in scripts that
//! shape their letters, marks of direction beside letters written from the right, what makes emoji.
//! [`normal::unseen`] tells them apart.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::inspection::Family;
use crate::is_invisible;
use crate::normal::{self, Disguise, Mark};

/// How often a text is gone over at most until nothing more is found in it.
const PASSES: usize = 6;

/// The text without characters nobody sees and without sequences terminals act on.
pub fn strip(text: &str) -> Cow<'_, str> {
    strip_counted(text).0
}

/// The same, with how many of which kind there were.
pub(super) fn strip_counted(text: &str) -> (Cow<'_, str>, BTreeMap<Family, usize>) {
    let mut removed = BTreeMap::new();
    let mut now = Cow::Borrowed(text);
    // What is taken out may have been all that a neighbour was needed for.
    for _ in 0..PASSES {
        let places = places(&now);
        if places.is_empty() {
            return (now, removed);
        }
        let mut next = String::with_capacity(now.len());
        let mut at = 0;
        for (place, family) in places {
            next.push_str(now.get(at..place.start).unwrap_or_default());
            at = at.max(place.end);
            *removed.entry(family).or_default() += 1;
        }
        next.push_str(now.get(at..).unwrap_or_default());
        now = Cow::Owned(next);
    }
    let kept = |c: &char| !is_invisible(*c) && (!c.is_control() || matches!(c, '\t' | '\n' | '\r'));
    (Cow::Owned(now.chars().filter(kept).collect()), removed)
}

/// What is to be taken out of a text, in its order.
pub(super) fn places(text: &str) -> Vec<(Range<usize>, Family)> {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r');
    if text.bytes().all(is_plain) {
        return Vec::new();
    }
    let mut places: Vec<(Range<usize>, Family)> =
        normal::unseen(text).into_iter().map(place).collect();
    places.extend(doubled(text).map(|place| (place, Family::Hidden)));
    places.sort_by_key(|(place, _)| place.start);
    places
}

fn place(mark: Mark) -> (Range<usize>, Family) {
    let of_terminal = matches!(
        mark.disguise,
        Disguise::Terminal | Disguise::TerminalTitle | Disguise::Colour
    );
    let family = if of_terminal {
        Family::Terminal
    } else {
        Family::Hidden
    };
    (mark.span, family)
}

/// Bold and underlined letters of manual pages are written twice, with a backspace between: the first
/// of the two goes with the backspace.
fn doubled(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.match_indices('\u{8}').filter_map(|(at, _)| {
        let first = text.get(..at)?.chars().next_back()?;
        let second = text.get(at + 1..)?.chars().next()?;
        match first == second || first == '_' {
            true => Some(at - first.len_utf8()..at + 1),
            // A letter with a line below it.
            false if second == '_' => Some(at..at + 2),
            false => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_terminals_act_on_is_taken_out() {
        assert_eq!(strip("\x1b[1;31mred\x1b[0m"), "red");
        assert_eq!(
            strip("a\x1b]0;title\x07b\x1b]8;;http://x/\x1b\\c\x1b]8;;\x1b\\"),
            "abc"
        );
        assert_eq!(strip("a\x1b(Bb\x1bcd"), "abd");
        assert_eq!(strip("a\u{9b}2Jb\u{9d}x\u{9c}c"), "abc");
        assert_eq!(strip("a\x1bPq\x1b\\b\x1b_z\x1b\\"), "ab");
    }

    #[test]
    fn a_sequence_without_an_end_takes_nothing_with_it() {
        assert_eq!(strip("a\x1b[12"), "a[12");
        assert_eq!(strip("a\x1b]0;all of this"), "a]0;all of this");
        assert_eq!(strip("a\x1b"), "a");
        assert_eq!(strip("a\x1b\u{e9}"), "a\u{e9}");
    }

    #[test]
    fn control_characters_go_and_white_space_stays() {
        assert_eq!(strip("a\0b\x0bc\x7fe\r\n\tf"), "abce\r\n\tf");
        assert_eq!(
            strip("N\x08NA\x08AM\x08M _\x08x y\x08_ a\x08b"),
            "NAM x y ab"
        );
    }

    #[test]
    fn what_nobody_sees_goes() {
        assert_eq!(
            strip("ig\u{200b}no\u{200d}re\u{2060}d \u{202e}x"),
            "ignored x"
        );
        assert_eq!(
            strip("a\u{e0069}\u{e0067}b\u{fe01}\u{e0100}c\u{feff}"),
            "abc"
        );
    }

    #[test]
    fn what_writing_needs_stays() {
        for text in [
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "👩\u{200d}👩\u{200d}👧",
            "❤\u{fe0f}\u{200d}🔥",
            "1\u{fe0f}\u{20e3}",
            "עברית\u{200f}!",
            "\u{feff}text",
            "葛\u{e0100}",
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "plain text\n\twith Ünïcödé — and “quotes”",
        ] {
            assert!(
                matches!(strip(text), Cow::Borrowed(same) if same == text),
                "{text}"
            );
        }
    }
}
