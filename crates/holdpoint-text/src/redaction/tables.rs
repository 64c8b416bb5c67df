//! What the build script makes of `rules/redaction/`: numbers and one long text, no pointers.

use super::shape::Set;

include!(concat!(env!("OUT_DIR"), "/redaction.rs"));

/// A piece of [`TEXTS`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text {
    at: u16,
    length: u16,
}

impl Text {
    /// Its bytes, for who compares.
    #[inline]
    pub(crate) fn bytes(self) -> &'static [u8] {
        let start = usize::from(self.at);
        TEXTS
            .as_bytes()
            .get(start..start + usize::from(self.length))
            .unwrap_or(&[])
    }

    pub(crate) fn get(self) -> &'static str {
        let start = usize::from(self.at);
        TEXTS
            .get(start..start + usize::from(self.length))
            .unwrap_or("")
    }
}

/// A shipped format.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) id: Text,
    pub(crate) what: Text,
    /// The number of its marker.
    pub(crate) marker: u8,
    /// Bits of `format::CHECKS`.
    pub(crate) checks: u8,
    pub(crate) any_case: bool,
    /// Whether a letter or digit may stand right before it.
    pub(crate) inside: bool,
    /// Whether it is known by a word before it, not by itself.
    pub(crate) near: bool,
    program: (u16, u16),
}

impl Row {
    pub(crate) fn program(&self) -> &'static [u8] {
        let (start, length) = (usize::from(self.program.0), usize::from(self.program.1));
        CODE.get(start..start + length).unwrap_or(&[])
    }
}

/// What a fixed text is looked for by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It stands in a format, just so.
    Format,
    /// It stands in a format, in upper or lower case.
    FormatInAnyCase,
    /// It stands shortly before a format.
    Near,
    /// It stands in the names of secrets.
    Name,
    /// It is a program that is given secrets.
    Program,
    /// It is one of `Special`.
    Special,
}

/// A fixed text.
#[derive(Debug)]
pub(crate) struct Anchor {
    pub(crate) text: Text,
    pub(crate) kind: Kind,
    /// The number of the format, the program or the special reader.
    pub(crate) index: u16,
    /// The fewest bytes of the format before it.
    pub(crate) least: u8,
    /// The most.
    pub(crate) most: u8,
}

/// How much of a name must be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// All of it.
    Whole,
    /// Its last words.
    Words,
    /// Its end.
    Ends,
}

/// The name of a secret, without separators.
#[derive(Debug)]
pub(crate) struct Name {
    pub(crate) text: Text,
    /// Its last two letters, so that most are told apart without a look at the text.
    pub(crate) tail: [u8; 2],
    pub(crate) marker: u8,
    pub(crate) reach: Reach,
}

/// A program that is given secrets.
#[derive(Debug)]
pub(crate) struct Program {
    /// Its names, each on a line of its own, with a line break before the first.
    pub(crate) names: Text,
    /// Its flags: what they do, a blank, the flag, a line each.
    pub(crate) flags: Text,
    /// What stands between a user and a password.
    pub(crate) between: u8,
    /// Which operand is a secret, counted from the end; 0 for none.
    pub(crate) operand: u8,
}

/// The hash of three bytes in lower case; the build script computes the same.
#[inline]
fn hash(gram: u32) -> u32 {
    gram.wrapping_mul(0x9e37_79b1)
}

/// Whether a fixed text may begin with these four bytes, or is the first three of them: the three tell
/// where to look, the last bits of the fourth at which bit. Three bytes alone would say so of every
/// twelfth place in ordinary source.
#[inline]
pub(crate) fn may_begin(four: u32) -> bool {
    let place = usize::try_from(hash(four >> 8) >> 18).unwrap_or(0);
    let bits = BEGINNINGS.get(place).copied().unwrap_or(0);
    bits >> (four & 7) & 1 != 0
}

/// The fixed texts that begin with these three bytes, and perhaps a few that do not.
pub(crate) fn anchors(gram: u32) -> &'static [Anchor] {
    let bucket = usize::try_from(hash(gram) >> 20).unwrap_or(0);
    let head = |at: usize| HEADS.get(at).map_or(0, |head| usize::from(*head));
    ANCHORS.get(head(bucket)..head(bucket + 1)).unwrap_or(&[])
}
