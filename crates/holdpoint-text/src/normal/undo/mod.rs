//! Undoing what encodes or rearranges whole passages. Each way fills one draft with the passages it
//! could make sense of.

mod accents;
pub(super) mod cipher;
mod codes;
mod escapes;
mod gathered;
mod joined;
mod leet;
mod markup;
mod morse;
mod names;
mod numbers;
mod passage;
mod percent;
mod spaced;
pub(super) mod swapped;
mod turned;
mod wide;

use super::Disguise;
use super::pieces::Draft;
use super::survey::Survey;

/// Everything in a text that can be undone, by its disguise; all of it takes at most `room` bytes.
pub(super) fn all<'t>(
    text: &'t str,
    survey: &Survey,
    mut room: usize,
) -> Vec<(Disguise, Draft<'t>)> {
    let mut drafts = Vec::new();
    let (turned, accents) = if text.is_ascii() {
        (Vec::new(), Vec::new())
    } else {
        (turned::suspects(text), accents::suspects(text))
    };
    let ways: [(Disguise, &[usize], Way); 20] = [
        (Disguise::Base64, &survey.codes, codes::base64),
        (Disguise::Hex, &survey.codes, codes::hexadecimal),
        (Disguise::Hex, &survey.numbers, numbers::numbers),
        (Disguise::Escape, &survey.escapes, escapes::escapes),
        (Disguise::Percent, &survey.percents, percent::percent),
        (Disguise::Spaced, &survey.spaced, spaced::spaced),
        (Disguise::Leet, &survey.leet, leet::leet),
        (Disguise::Cipher, &survey.ciphers, cipher::shifted),
        (Disguise::Cipher, &survey.ciphers, cipher::reversed),
        (Disguise::Cipher, &survey.swapped, swapped::swapped),
        (Disguise::Cipher, &turned, turned::turned),
        (Disguise::Combining, &accents, accents::without_accents),
        (Disguise::Cipher, &survey.morse, morse::morse),
        (Disguise::Markup, &survey.markup, markup::hidden),
        (Disguise::Markup, &survey.markup, markup::without_tags),
        (Disguise::Split, &survey.codes, names::names),
        (Disguise::Split, &survey.joints, joined::joined),
        (Disguise::Split, &survey.quotes, gathered::strings),
        (Disguise::Split, &survey.bars, gathered::cells),
        (Disguise::Split, &survey.lines, gathered::lines),
    ];
    for (disguise, places, way) in ways {
        if places.is_empty() {
            continue;
        }
        let mut draft = Draft::new(text, room);
        way(text, places, &mut draft);
        draft.end_segment();
        if !draft.is_empty() {
            room = room.saturating_sub(draft.len());
            drafts.push((disguise, draft));
        }
    }
    drafts
}

/// Undoes one disguise around the given places.
type Way = for<'t> fn(&'t str, &[usize], &mut Draft<'t>);
