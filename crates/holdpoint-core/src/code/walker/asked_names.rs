//! Names somebody asked for, as bits: whether a second pass could say anything new.

use crate::rules::traces;

/// Names that were used when they stood for nothing that is imported, each by a bit: two may share one,
/// and then the code is walked twice for nothing.
pub(super) struct AskedNames([u64; AskedNames::WORDS]);

impl AskedNames {
    /// Some hundred names fill a hundredth of so many bits; clearing them costs less than reading one line.
    const WORDS: usize = 256;

    pub(super) fn place(name: &str) -> (usize, u64) {
        let slot = traces::slot(name, Self::WORDS * 64);
        (slot / 64, 1 << (slot % 64))
    }

    pub(super) fn note(&mut self, name: &str) {
        let (word, bit) = Self::place(name);
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }

    pub(super) fn holds(&self, name: &str) -> bool {
        let (word, bit) = Self::place(name);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }
}

impl Default for AskedNames {
    fn default() -> Self {
        Self([0; Self::WORDS])
    }
}
