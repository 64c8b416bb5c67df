//! The weights as they lie in the binary: read in place, byte by byte.
//!
//! A header of little-endian numbers, the table of the first stage and the buckets of the second, a
//! signed byte each. `tools/train` writes it; nothing is parsed or copied but the header.

use crate::{Origin, Severity};

use super::features::mixed;
use super::language::Language;

/// The model that ships.
pub(super) static SHIPPED: &[u8] = include_bytes!("weights.bin");

/// A linear model in two stages.
#[derive(Clone, Copy, Debug)]
pub struct Model<'w> {
    header: Header,
    words: &'w [u8],
    buckets: &'w [u8],
}

/// What stands before the tables.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Header {
    /// What a score begins with.
    pub bias: f32,
    /// What a step of a bucket's weight is worth.
    pub scale: f32,
    /// The score of a window in the first stage below which the second is spared.
    pub spare_below: f32,
    /// What a step of a word's weight is worth in the first stage.
    pub word_scale: f32,
    /// By origin from which score on a text is worth a word.
    pub faint: [f32; 5],
    /// By origin from which score on a text may give orders.
    pub loose: [f32; 5],
    /// By origin from which score on it does.
    pub strict: [f32; 5],
    /// How much lower both are for text that was disguised.
    pub disguise: f32,
    /// By language how much more a text has to say for each of them.
    pub margins: [f32; Language::COUNT],
}

/// Features are in two to the power of this many buckets.
pub const BITS: u32 = 21;
/// Words are in two to the power of this many places of the first stage's table.
pub const WORD_BITS: u32 = 16;
/// No word takes more than this from a window's sum.
pub const FLOOR: f32 = -2.0;
/// With this many features more, a short text's few features would not count too much.
const SMOOTH: f32 = 40.0;
/// The same for the words of the first stage.
const WORD_SMOOTH: f32 = 4.0;

const MAGIC: &[u8; 8] = b"HPTEXT03";
const NUMBERS: usize = 20 + Language::COUNT;
const HEADER: usize = MAGIC.len() + NUMBERS * 4;

impl Model<'static> {
    /// The model that ships.
    pub fn shipped() -> Option<Self> {
        Self::read(SHIPPED)
    }
}

impl<'w> Model<'w> {
    /// The model that some bytes are.
    pub fn read(bytes: &'w [u8]) -> Option<Self> {
        let (head, rest) = bytes.split_at_checked(HEADER)?;
        let (words, buckets) = rest.split_at_checked(1 << WORD_BITS)?;
        if head.get(..MAGIC.len())? != MAGIC || buckets.len() != 1 << BITS {
            return None;
        }
        let mut numbers = [0.0_f32; NUMBERS];
        let stored = head.get(MAGIC.len()..)?.chunks_exact(4);
        for (number, bytes) in numbers.iter_mut().zip(stored) {
            *number = f32::from_le_bytes(bytes.try_into().ok()?);
        }
        let [bias, scale, spare_below, word_scale, disguise, rest @ ..] = numbers;
        let [f0, f1, f2, f3, f4, l0, l1, l2, l3, l4, rest @ ..] = rest;
        let [s0, s1, s2, s3, s4, margins @ ..] = rest;
        Some(Self {
            header: Header {
                bias,
                scale,
                spare_below,
                word_scale,
                faint: [f0, f1, f2, f3, f4],
                loose: [l0, l1, l2, l3, l4],
                strict: [s0, s1, s2, s3, s4],
                disguise,
                margins,
            },
            words,
            buckets,
        })
    }

    /// A model as bytes; the tables have to be of their full length.
    pub fn write(header: &Header, words: &[i8], buckets: &[i8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let first = [
            header.bias,
            header.scale,
            header.spare_below,
            header.word_scale,
            header.disguise,
        ];
        let marks = header
            .faint
            .iter()
            .chain(&header.loose)
            .chain(&header.strict)
            .chain(&header.margins);
        for number in first.iter().chain(marks) {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(
            words
                .iter()
                .chain(buckets)
                .map(|weight| weight.to_le_bytes()[0]),
        );
        bytes
    }

    /// Its header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What a word weighs in the first stage.
    #[inline]
    pub(super) fn word_weight(&self, hash: u32) -> i32 {
        self.words
            .get(word_place(hash))
            .map_or(0, |byte| i32::from(byte.cast_signed()))
    }

    /// What a feature weighs in the second stage.
    #[inline]
    pub(super) fn feature(&self, hash: u32) -> i32 {
        self.buckets
            .get(bucket(hash))
            .map_or(0, |byte| i32::from(byte.cast_signed()))
    }

    /// How much more a text of a language has to say.
    pub(super) fn margin(&self, language: Language) -> f32 {
        let margin = self.header.margins.get(language.index());
        margin.copied().unwrap_or_default()
    }

    /// The tables as steps of their scales: of the first stage and of the second.
    pub fn tables(&self) -> [Vec<i8>; 2] {
        let steps = |bytes: &[u8]| bytes.iter().map(|byte| byte.cast_signed()).collect();
        [steps(self.words), steps(self.buckets)]
    }

    /// What a word weighs at the least, however unlike an order it is: an order among code stays one.
    pub(super) fn at_least(&self, word: i32) -> i32 {
        word.max((FLOOR / self.header.scale) as i32)
    }

    /// Whether the words of a window weigh enough to look closer.
    pub(super) fn is_worth_a_look(&self, sum: i32, words: usize) -> bool {
        let score = sum as f32 * self.header.word_scale * word_norm(words);
        score >= self.header.spare_below
    }

    /// The score of a window by the sum of its features' weights and how many they are.
    pub(super) fn score(&self, sum: i32, features: u32) -> f32 {
        self.header.bias + sum as f32 * self.header.scale * norm(features as usize)
    }

    /// The scores from which on a text is worth a word, may give orders and does.
    pub(super) fn marks(&self, origin: Origin, disguised: bool) -> Marks {
        let lower = if disguised { self.header.disguise } else { 0.0 };
        let at = origin as usize;
        let of = |marks: &[f32; 5]| marks.get(at).copied().unwrap_or(f32::INFINITY) - lower;
        Marks {
            faint: of(&self.header.faint),
            loose: of(&self.header.loose),
            strict: of(&self.header.strict),
        }
    }
}

/// Scores that part texts of one origin.
#[derive(Clone, Copy)]
pub(super) struct Marks {
    pub(super) faint: f32,
    pub(super) loose: f32,
    pub(super) strict: f32,
}

impl Marks {
    /// How bad it is that a text scores so high.
    pub(super) fn severity(self, score: f32) -> Option<Severity> {
        let steps = [
            (self.strict, Severity::High),
            (self.loose, Severity::Medium),
            (self.faint, Severity::Low),
        ];
        let (_, severity) = steps.into_iter().find(|(mark, _)| score >= *mark)?;
        Some(severity)
    }
}

/// The place of a word in the first stage's table.
pub fn word_place(hash: u32) -> usize {
    (mixed(0, hash) >> (32 - WORD_BITS)) as usize
}

/// The bucket of a feature.
pub fn bucket(hash: u32) -> usize {
    (hash >> (32 - BITS)) as usize
}

/// By what the sum of a window's weights is multiplied, so that long windows count no more than short ones.
pub fn norm(features: usize) -> f32 {
    1.0 / (features as f32 + SMOOTH).sqrt()
}

/// The same for the first stage.
pub fn word_norm(words: usize) -> f32 {
    1.0 / (words as f32 + WORD_SMOOTH).sqrt()
}
