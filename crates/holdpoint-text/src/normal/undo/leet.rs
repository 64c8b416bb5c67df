//! Digits and signs in place of letters: `1gn0r3`.

use std::ops::Range;

use super::super::pieces::{Draft, Made};
use super::super::{Disguise, lexicon};
use super::passage;

/// Puts letters in the place of digits, in lines that become known words by it.
pub(super) fn leet<'t>(text: &'t str, places: &[usize], draft: &mut Draft<'t>) {
    for line in passage::all(text, places) {
        if draft.is_full() {
            return;
        }
        let read = words(text, line.clone())
            .filter_map(|word| Some((reading(text.get(word.clone())?)?, word)));
        let read: Vec<(String, Range<usize>)> = read.collect();
        let known = read.iter().filter(|(read, word)| {
            let word = text.get((*word).clone()).unwrap_or_default();
            read.len() > 2
                && word.bytes().any(|byte| byte.is_ascii_alphabetic())
                && lexicon::is_known(read)
        });
        let known = known.count();
        if known < MIN_COUNT && !is_full(text, line.clone()) {
            continue;
        }
        let mut copied = line.start;
        for (read, word) in read {
            draft.copy(copied..word.start);
            for (at, c) in (word.start..).zip(read.chars()) {
                draft.add_char(at..at + 1, c, Made::Undone(Disguise::Leet));
            }
            copied = word.end;
        }
        draft.copy(copied..line.end);
        if known > MIN_COUNT {
            draft.end_telling_segment();
        } else {
            draft.end_segment();
        }
    }
}

/// Whether most words of a line have digits among their letters: in some language they may be words.
fn is_full(text: &str, line: Range<usize>) -> bool {
    let (mut mixed, mut all) = (0, 0);
    for word in words(text, line).filter(|word| word.len() > 2) {
        let word = text.as_bytes().get(word).unwrap_or_default();
        let letters = word
            .iter()
            .filter(|byte| byte.is_ascii_alphabetic())
            .count();
        all += 1;
        mixed += usize::from(letters < word.len() && letters * 3 >= word.len());
    }
    mixed >= MIN_MIXED && mixed * 2 >= all
}

/// The words of a line, with the signs that stand for letters.
fn words(text: &str, line: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = line.start;
    std::iter::from_fn(move || {
        while at < line.end && !bytes.get(at).is_some_and(|byte| is_part(*byte)) {
            at += 1;
        }
        let start = at;
        while at < line.end && bytes.get(at).is_some_and(|byte| is_part(*byte)) {
            at += 1;
        }
        // Signs at the end are punctuation more often than letters.
        let word = bytes.get(start..at)?;
        let tail = word.iter().rev().take_while(|byte| **byte == b'!').count();
        (at > start).then_some(start..at - tail)
    })
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'@' | b'$' | b'!' | b'|')
}

/// What a word with digits in it reads as; nothing if it is an ordinary word or a number.
fn reading(word: &str) -> Option<String> {
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    if letters == word.len() || word.len() > MAX_LENGTH {
        return None;
    }
    let plain: Option<String> = word.chars().map(letter).collect();
    let plain = plain?;
    if lexicon::is_known(&plain) {
        return Some(plain);
    }
    // `1` and `|` are an i or an l: each of them in turn, then all of them.
    let ambiguous: Vec<usize> = word
        .char_indices()
        .filter(|(_, c)| matches!(c, '1' | '|' | '!'))
        .map(|(at, _)| at)
        .collect();
    let with = |chosen: &dyn Fn(usize) -> bool| -> String {
        plain
            .char_indices()
            .map(|(at, c)| if chosen(at) { 'l' } else { c })
            .collect()
    };
    let all = with(&|at| ambiguous.contains(&at));
    let each = ambiguous.iter().map(|only| with(&|at| at == *only));
    let found = std::iter::once(all)
        .chain(each)
        .find(|word| lexicon::is_known(word));
    // A number with a letter in it is a number.
    found.or_else(|| (word.len() - letters <= 3 * letters).then_some(plain))
}

fn letter(c: char) -> Option<char> {
    Some(match c {
        'a'..='z' | 'A'..='Z' => c.to_ascii_lowercase(),
        '0' => 'o',
        '1' | '!' | '|' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '9' => 'g',
        '7' => 't',
        '8' => 'b',
        _ => return None,
    })
}

/// Fewer words prove nothing.
const MIN_COUNT: usize = 2;
/// Fewer of them are names.
const MIN_MIXED: usize = 4;
const MAX_LENGTH: usize = 24;
