//! Texts of any characters that rules look for: tokens of chat templates, tags, headings.

use super::rules::{self, Rule};
use super::signs;

/// Calls `found` with the rule and the span of each token in a text, those with one sign after those with
/// another.
pub(super) fn find(text: &str, mut found: impl FnMut(&'static Rule, (usize, usize))) {
    let mut places = [const { Vec::new() }; SIGNS.len()];
    for at in signs::places(text, SIGNS) {
        let bytes = text.as_bytes().get(at..).unwrap_or_default();
        let mut next = bytes.iter().skip(1).take(6).filter(|it| **it != b' ');
        let (Some(sign), Some(first), Some(second)) = (bytes.first(), next.next(), next.next())
        else {
            continue;
        };
        let tokens = rules::tokens(
            *sign,
            first.to_ascii_lowercase(),
            second.to_ascii_lowercase(),
        );
        if !tokens.is_empty() {
            let same = SIGNS.iter().zip(&mut places).find(|(it, _)| *it == sign);
            if let Some((_, places)) = same {
                places.push((at, tokens));
            }
        }
    }
    for (at, tokens) in places.into_iter().flatten() {
        let rest = text.get(at..).unwrap_or_default();
        for token in tokens {
            let wanted = token.text.text();
            if let (Some(rule), Some(length)) = (token.rule(), length_of(rest, wanted))
                && !is_index(text, at, wanted)
            {
                found(rule, (at, at + length));
            }
        }
    }
}

/// The signs tokens begin with.
const SIGNS: [u8; 3] = *b"<[#";

/// Whether brackets in lower case stand right after something, as an index or a list of a program does.
fn is_index(text: &str, at: usize, token: &str) -> bool {
    let here = text.get(at..).unwrap_or_default();
    let before = text.get(..at).and_then(|it| it.chars().next_back());
    token.starts_with('[')
        && !here.starts_with(token)
        && before.is_some_and(|c| c.is_alphanumeric() || "([{.,:=)]".contains(c))
}

/// How much of the start of a text is the token: either case or single blanks do not matter.
fn length_of(text: &str, token: &str) -> Option<usize> {
    let mut rest = text.char_indices().peekable();
    let (mut end, mut blanks, mut same_case) = (0, 0, true);
    for wanted in token.chars() {
        if end > 0
            && let Some((_, ' ' | '\t')) = rest.peek()
        {
            rest.next();
            blanks += 1;
        }
        let (at, c) = rest.next()?;
        if c != wanted {
            same_case = false;
            if !c.to_lowercase().eq(wanted.to_lowercase()) {
                return None;
            }
        }
        end = at + c.len_utf8();
    }
    // Blanks in another case make code of it, such as `out << sys >> end`.
    (blanks == 0 || same_case).then_some(end)
}
