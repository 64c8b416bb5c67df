//! What something odd met while reading a text means by itself.

use super::finding::{Family, Finding};
use crate::Severity;
use crate::normal::{self, Disguise, Disguises, Mark};

/// The finding a mark is; most disguises mean nothing until what they hide is known.
pub(super) fn finding(mark: Mark, block: &str) -> Option<Finding> {
    let (family, severity, rule, reason) = match mark.disguise {
        Disguise::ZeroWidth if is_among_letters(block, &mark) => (
            Family::Hidden,
            Severity::High,
            "hidden.zero-width",
            "characters without width stand among the letters",
        ),
        Disguise::ZeroWidth => (
            Family::Hidden,
            Severity::Low,
            "hidden.zero-width-apart",
            "a character without width stands beside a sign or a space",
        ),
        Disguise::Bidi => (
            Family::Hidden,
            Severity::High,
            "hidden.bidi",
            "the direction of the text is turned, so that it reads otherwise than it is",
        ),
        Disguise::Tags => (
            Family::Hidden,
            Severity::Critical,
            "hidden.tags",
            "tag characters carry text that no screen shows",
        ),
        Disguise::Selectors => (
            Family::Hidden,
            Severity::Critical,
            "hidden.selectors",
            "variation selectors carry text that no screen shows",
        ),
        Disguise::Combining => (
            Family::Disguised,
            Severity::Low,
            "disguised.combining",
            "accents are heaped on letters",
        ),
        Disguise::Lookalike => (
            Family::Disguised,
            Severity::Low,
            "disguised.lookalike",
            "a word mixes letters of different scripts that look alike",
        ),
        Disguise::Terminal => (
            Family::Terminal,
            Severity::Medium,
            "terminal.sequence",
            "a terminal would move, erase, hide or send something instead of showing this",
        ),
        Disguise::TerminalTitle => (
            Family::Terminal,
            Severity::Low,
            "terminal.title",
            "a terminal would take this for its title or for a link",
        ),
        Disguise::FormFeed => (
            Family::Hidden,
            Severity::Info,
            "hidden.form-feed",
            "a form feed stands in the text",
        ),
        Disguise::Control => control(block.get(mark.span.clone()).unwrap_or_default()),
        Disguise::Styled
        | Disguise::Leet
        | Disguise::Spaced
        | Disguise::Entity
        | Disguise::Markup
        | Disguise::Escape
        | Disguise::Percent
        | Disguise::Base64
        | Disguise::Hex
        | Disguise::Cipher
        | Disguise::Colour
        | Disguise::Split => return None,
    };
    Some(Finding {
        family,
        severity,
        rule: rule.into(),
        reason: reason.into(),
        span: mark.span,
        disguises: Disguises::default().with(mark.disguise),
    })
}

/// Whether characters without width part letters of a word, or are so many in a row that they may carry something. Those who
/// set type put one beside a dash or a space to say where a line may end, and editors leave one there.
fn is_among_letters(block: &str, mark: &Mark) -> bool {
    let start = block.floor_char_boundary(mark.span.start.saturating_sub(BESIDE));
    let end = block.floor_char_boundary(mark.span.end.saturating_add(BESIDE).min(block.len()));
    let around = block.get(start..end).unwrap_or_default();
    let (mut before, mut run) = (' ', 0);
    for c in around.chars() {
        if normal::is_unseen(c) {
            run += 1;
            if run >= CARRIES {
                return true;
            }
            continue;
        }
        if run > 0 && before.is_alphanumeric() && c.is_alphanumeric() {
            return true;
        }
        (before, run) = (c, 0);
    }
    false
}

/// A character to either side, of any length.
const BESIDE: usize = 4;
/// A letter takes seven or eight of them; half a letter is none.
const CARRIES: usize = 4;

fn control(characters: &str) -> (Family, Severity, &'static str, &'static str) {
    if characters.contains(['\0', '\u{b}']) {
        (
            Family::Hidden,
            Severity::High,
            "hidden.control",
            "control characters stand in the text that no text needs",
        )
    } else {
        (
            Family::Hidden,
            Severity::Low,
            "hidden.other-control",
            "control characters stand in the text",
        )
    }
}
