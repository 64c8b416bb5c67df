//! A hash for maps that readers fill from the text of a call.
//!
//! The standard library's takes some two hundred instructions for a short name, and code in other
//! languages is looked up name by name. This one folds eight bytes at a time by a multiplication. It
//! starts from a number of the process's own, so that nobody can write names that all fall together.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::LazyLock;

/// A map with this hash.
pub(crate) type SeededMap<K, V> = HashMap<K, V, Seeded>;

/// Makes hashers that start from the process's number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seeded {
    seed: u64,
}

impl Default for Seeded {
    fn default() -> Self {
        static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0));
        Self { seed: *SEED }
    }
}

impl BuildHasher for Seeded {
    type Hasher = Folding;

    fn build_hasher(&self) -> Folding {
        Folding { state: self.seed }
    }
}

/// A hash as it grows.
#[derive(Debug)]
pub(crate) struct Folding {
    state: u64,
}

/// Odd, and without a pattern in its bits: digits of the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Folding {
    fn fold(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(FACTOR);
        let (low, high) = (product as u64, (product >> 64) as u64);
        // What a zero would swallow stays in.
        self.state = (low ^ high).wrapping_add(word.rotate_left(32));
    }
}

impl Hasher for Folding {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.fold(u64::from_le_bytes(*word));
        }
        let mut last = 0;
        for byte in rest {
            last = last << 8 | u64::from(*byte);
        }
        self.fold(last ^ (bytes.len() as u64) << 56);
    }

    fn write_u8(&mut self, byte: u8) {
        // What ends every text; its length is in the hash already.
        self.state ^= u64::from(byte);
    }

    fn finish(&self) -> u64 {
        self.state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    #[test]
    fn names_that_are_alike_fall_apart() {
        let state = Seeded::default();
        let names = (0..10_000).map(|number| format!("name_{number}"));
        let low: HashSet<u64> = names.map(|name| state.hash_one(name) & 0xffff).collect();
        // Ten thousand at random in sixty-five thousand places take some 9,270.
        assert!(low.len() > 8_800, "{}", low.len());
    }

    proptest! {
        #[test]
        fn equal_names_have_equal_hashes_and_others_have_not(one in ".{0,20}", other in ".{0,20}") {
            let state = Seeded::default();
            let same = state.hash_one(&one) == state.hash_one(&other);
            prop_assert_eq!(same, one == other);
        }
    }
}
