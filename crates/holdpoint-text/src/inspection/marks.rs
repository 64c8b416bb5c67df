//! What something odd met while reading a text means by itself.

use super::finding::{Family, Finding};
use crate::Severity;
use crate::normal::{Disguise, Disguises, Mark};

/// The finding a mark is; most disguises mean nothing until what they hide is known.
pub(super) fn finding(mark: Mark, block: &str) -> Option<Finding> {
    let (family, severity, rule, reason) = match mark.disguise {
        Disguise::ZeroWidth => (
            Family::Hidden,
            Severity::High,
            "hidden.zero-width",
            "characters without width stand among the letters",
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
