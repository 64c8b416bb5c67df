//! Letters set apart: `i g n o r e`, `i-g-n-o-r-e`, `"i","g","n"`.

use std::ops::Range;

use super::super::pieces::{Draft, Made};
use super::super::{Disguise, lexicon};
use super::passage;

/// Puts letters that stand apart together again, in the lines they stand in.
pub(super) fn spaced<'t>(text: &'t str, places: &[usize], draft: &mut Draft<'t>) {
    for line in passage::all(text, places) {
        if draft.is_full() {
            return;
        }
        let mut copied = line.start;
        let mut words = 0;
        let mut at = line.start;
        while let Some(run) = next_run(text, at..line.end) {
            at = run.end;
            if let Some(joined) = run.joined(text) {
                draft.copy(copied..run.start());
                words += joined.iter().filter(|word| word.len() > 2).count();
                run.add(joined, draft);
                copied = run.end;
            }
        }
        if words == 0 {
            draft.drop_segment();
        } else {
            draft.copy(copied..line.end);
            if words > 1 {
                draft.end_telling_segment();
            } else {
                draft.end_segment();
            }
        }
    }
}

/// Letters that stand apart, with where each stands.
struct Run {
    letters: Vec<(u8, usize)>,
    end: usize,
}

impl Run {
    fn start(&self) -> usize {
        self.letters.first().map_or(0, |(_, at)| *at)
    }

    /// The words the letters are, as ranges of letters; nothing if they are none.
    fn joined(&self, text: &str) -> Option<Vec<Range<usize>>> {
        let gaps: Vec<&str> = self
            .letters
            .windows(2)
            .filter_map(|pair| match pair {
                [(_, one), (_, other)] => text.get(one + 1..*other),
                _ => None,
            })
            .collect();
        let usual = usual(&gaps)?;
        let mut words = Vec::new();
        let mut start = 0;
        for (index, gap) in gaps.iter().enumerate() {
            if *gap != usual {
                words.push(start..index + 1);
                start = index + 1;
            }
        }
        words.push(start..self.letters.len());
        if words.iter().any(|word| word.len() > lexicon::MAX_LENGTH) {
            // Gaps part sentences at most: the words are to be found without them.
            let parted: Option<Vec<_>> = words.into_iter().map(|word| self.parted(word)).collect();
            return parted.map(|words| words.concat());
        }
        if words.len() == 1 {
            return self.parted(0..self.letters.len());
        }
        let spelled = |word: &Range<usize>| -> String {
            let letters = self.letters.get(word.clone()).unwrap_or_default();
            letters
                .iter()
                .map(|(byte, _)| char::from(byte.to_ascii_lowercase()))
                .collect()
        };
        let known = words
            .iter()
            .map(spelled)
            .filter(|word| word.len() > 2 && lexicon::is_known(word))
            .count();
        let long = words.iter().filter(|word| word.len() > 2).count();
        let speakable = words
            .iter()
            .filter(|word| word.len() > 2)
            .all(|word| spelled(word).contains(['a', 'e', 'i', 'o', 'u', 'y']));
        (known * 2 >= long.max(1) || (long > 2 && long * 2 >= words.len() && speakable))
            .then_some(words)
    }

    /// The words of letters with the same gap between all of them.
    fn parted(&self, within: Range<usize>) -> Option<Vec<Range<usize>>> {
        let mut start = within.start;
        if within.len() < MIN_COUNT {
            return Some(vec![within]);
        }
        let letters: String = self
            .letters
            .get(within.clone())?
            .iter()
            .take(lexicon::MAX_LETTERS)
            .map(|(byte, _)| char::from(byte.to_ascii_lowercase()))
            .collect();
        let words = lexicon::parted(&letters)?
            .into_iter()
            .map(|end| within.start + end)
            .map(|end| std::mem::replace(&mut start, end)..end)
            .collect();
        Some(words)
    }

    fn add(&self, words: Vec<Range<usize>>, draft: &mut Draft<'_>) {
        let made = Made::Undone(Disguise::Spaced);
        for word in words {
            for (byte, at) in self.letters.get(word).unwrap_or_default() {
                draft.add_char(*at..at + 1, char::from(*byte), made);
            }
            draft.add(self.end..self.end, " ", Made::Folded);
        }
    }
}

/// What stands between most letters; nothing if there is no such thing.
fn usual<'t>(gaps: &[&'t str]) -> Option<&'t str> {
    // What half of them are is the one in the middle of all, or the one before it.
    let mut sorted = gaps.to_vec();
    sorted.sort_unstable();
    let half = sorted.len() / 2;
    let middle = [Some(half), half.checked_sub(1)];
    let mut middle = middle.into_iter().flatten().filter_map(|at| sorted.get(at));
    middle
        .find(|gap| gaps.iter().filter(|other| other == gap).count() * 2 >= gaps.len())
        .copied()
}

/// The next letters that stand apart.
fn next_run(text: &str, within: Range<usize>) -> Option<Run> {
    let bytes = text.as_bytes();
    let is_word = |at: usize| {
        bytes
            .get(at)
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte >= 128)
    };
    let mut letters: Vec<(u8, usize)> = Vec::new();
    let mut at = within.start;
    while at < within.end {
        let byte = bytes.get(at).copied()?;
        let alone = byte.is_ascii_alphabetic()
            && !is_word(at + 1)
            && !at.checked_sub(1).is_some_and(is_word);
        let near = letters
            .last()
            .is_none_or(|(_, last)| at - last <= WIDEST_GAP);
        if alone && near {
            letters.push((byte, at));
        } else if is_word(at) || !near {
            if letters.len() >= MIN_COUNT {
                break;
            }
            letters.clear();
            if alone {
                letters.push((byte, at));
            }
        }
        at += 1;
    }
    let end = letters.last().map(|(_, last)| last + 1)?;
    (letters.len() >= MIN_COUNT).then_some(Run { letters, end })
}

/// Fewer letters are a list.
const MIN_COUNT: usize = 5;
/// Letters further apart do not belong together.
const WIDEST_GAP: usize = 6;
