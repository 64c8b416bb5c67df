//! What was met while reading, neighbours of a kind put together.

use std::ops::Range;

use super::{Disguise, Mark};

/// Collects marks.
#[derive(Debug)]
pub(super) struct Marks {
    list: Vec<Mark>,
    grain: Grain,
    kinds: [Kind; KINDS],
}

/// The marks of one kind so far.
#[derive(Clone, Copy, Debug, Default)]
struct Kind {
    count: usize,
    /// Where the last of them is in the list.
    last: usize,
}

/// How fine the collected marks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grain {
    /// Neighbours are one mark, and what is too little to mean anything is none.
    Merged,
    /// Every character is a mark of its own.
    Single,
}

impl Marks {
    /// Marks as a reading has them.
    pub(super) fn merged() -> Self {
        Self {
            list: Vec::new(),
            grain: Grain::Merged,
            kinds: [Kind::default(); KINDS],
        }
    }

    /// Marks character by character.
    pub(super) fn single() -> Self {
        Self {
            list: Vec::new(),
            grain: Grain::Single,
            kinds: [Kind::default(); KINDS],
        }
    }

    /// Notes something that was met `count` times in `span`.
    pub(super) fn add(&mut self, disguise: Disguise, span: Range<usize>, count: usize) {
        if self.grain == Grain::Merged
            && let Some(kind) = self.kinds.get_mut(disguise as usize)
        {
            let last = self.list.get_mut(kind.last);
            if let Some(mark) = last.filter(|_| kind.count > 0)
                && span.start >= mark.span.start
                && (span.start <= mark.span.end.saturating_add(reach(disguise))
                    || kind.count >= MAX_MARKS)
            {
                mark.span.end = mark.span.end.max(span.end);
                mark.count += count;
                return;
            }
            if kind.count >= MAX_MARKS {
                return;
            }
            kind.count += 1;
            kind.last = self.list.len();
        }
        self.list.push(Mark {
            disguise,
            span,
            count,
        });
    }

    /// The marks, in the order of the text.
    pub(super) fn finish(mut self) -> Vec<Mark> {
        if self.grain == Grain::Merged {
            self.list.retain(|mark| mark.count >= least(mark.disguise));
        }
        self.list.sort_by_key(|mark| mark.span.start);
        self.list
    }
}

/// How many kinds there are.
const KINDS: usize = Disguise::Split as usize + 1;
/// How many marks of a kind are told one by one; the last stands for all that follow.
const MAX_MARKS: usize = 64;

/// How far apart two marks of a kind may be to be one.
fn reach(disguise: Disguise) -> usize {
    if disguise == Disguise::Styled { 12 } else { 32 }
}

/// How often something must be met to mean anything.
fn least(disguise: Disguise) -> usize {
    MIN_COUNTS
        .iter()
        .find(|(kind, _)| *kind == disguise)
        .map_or(1, |(_, least)| *least)
}

const MIN_COUNTS: &[(Disguise, usize)] = &[
    // One accent that belongs to no letter is mathematics; one on each letter is a disguise.
    (Disguise::Combining, 5),
    (Disguise::Styled, 8),
    (Disguise::Selectors, 2),
    (Disguise::Colour, usize::MAX),
];
