//! Finds, among thousands of rules, the few whose fixed text stands in a given text.
//!
//! Each rule is filed under one run of bytes that anything it matches must contain: the run that
//! the fewest other rules have. A look-up walks the text once; what it names are candidates, which
//! the caller verifies. Building costs a few hash insertions a rule, no automaton, since a hook
//! process builds this for a single call.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The index; rules are numbered by the order they were given in.
#[derive(Clone, Debug, Default)]
pub(crate) struct LiteralIndex {
    grams: Filed,
    short_grams: Filed,
    /// Rules with no run long enough to file them under.
    always: Vec<u32>,
}

/// Rules by the run they are filed under.
#[derive(Clone, Debug, Default)]
struct Filed {
    rules: HashMap<u32, Vec<u32>, BuildHasherDefault<PolicyHasher>>,
    /// One bit for each run, so that a text with none of them is known by a few cached words.
    seen: Vec<u64>,
}

impl Filed {
    fn file(&mut self, gram: u32, rule: u32) {
        self.rules.entry(gram).or_default().push(rule);
    }

    /// Makes the bits, some sixteen for each run.
    fn finish(&mut self) {
        self.seen = vec![0; (self.rules.len() / 4).next_power_of_two()];
        let grams: Vec<u32> = self.rules.keys().copied().collect();
        for gram in grams {
            let (word, bit) = self.place(gram);
            if let Some(word) = self.seen.get_mut(word) {
                *word |= bit;
            }
        }
    }

    fn place(&self, gram: u32) -> (usize, u64) {
        let hash = u64::from(gram).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24;
        let word = usize::try_from(hash >> 6).unwrap_or(0) & self.seen.len().saturating_sub(1);
        (word, 1 << (hash & 63))
    }

    fn collect(&self, text: &str, size: usize, found: &mut Vec<u32>) {
        if self.rules.is_empty() {
            return;
        }
        for gram in grams(text, size) {
            let (word, bit) = self.place(gram);
            let seen = self.seen.get(word).is_some_and(|word| word & bit != 0);
            if seen && let Some(rules) = self.rules.get(&gram) {
                found.extend_from_slice(rules);
            }
        }
    }
}

const GRAM: usize = 4;
const SHORT_GRAM: usize = 3;

impl LiteralIndex {
    /// Files each rule, given as the texts that must all stand in whatever it matches.
    pub(crate) fn build<L: AsRef<str>>(rules: &[Vec<L>]) -> Self {
        let mut common: HashMap<u32, u32, BuildHasherDefault<PolicyHasher>> = HashMap::default();
        for literals in rules {
            for gram in literals.iter().flat_map(|text| grams(text.as_ref(), GRAM)) {
                *common.entry(gram).or_default() += 1;
            }
        }
        let mut index = Self::default();
        for (rule, literals) in (0u32..).zip(rules) {
            let rarest = literals
                .iter()
                .flat_map(|text| grams(text.as_ref(), GRAM))
                .min_by_key(|gram| common.get(gram).copied().unwrap_or(0));
            let short = || {
                literals
                    .iter()
                    .flat_map(|text| grams(text.as_ref(), SHORT_GRAM))
                    .next()
            };
            if let Some(gram) = rarest {
                index.grams.file(gram, rule);
            } else if let Some(gram) = short() {
                index.short_grams.file(gram, rule);
            } else {
                index.always.push(rule);
            }
        }
        index.grams.finish();
        index.short_grams.finish();
        index
    }

    /// The rules that could match `text`, each once, in order.
    pub(crate) fn candidates(&self, text: &str) -> Vec<u32> {
        let mut found = self.always.clone();
        self.grams.collect(text, GRAM, &mut found);
        self.short_grams.collect(text, SHORT_GRAM, &mut found);
        if found.len() > 1 {
            found.sort_unstable();
            found.dedup();
        }
        found
    }
}

fn grams(text: &str, size: usize) -> impl Iterator<Item = u32> + '_ {
    // Each is the one before with a byte more and, past the size, one less.
    let mask = if size == SHORT_GRAM {
        0x00ff_ffff
    } else {
        u32::MAX
    };
    let mut gram = 0u32;
    let all = text.bytes().map(move |byte| {
        gram = ((gram << 8) | u32::from(byte)) & mask;
        gram
    });
    all.skip(size - 1)
}

/// What a policy says by some text of its own.
pub(crate) type ByText<V> = HashMap<String, V, BuildHasherDefault<PolicyHasher>>;

/// A multiplication: the keys are a policy's own bytes, and a policy is not hostile to itself.
#[derive(Default)]
pub(crate) struct PolicyHasher(u64);

impl Hasher for PolicyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let word = chunk
                .iter()
                .fold(0u64, |word, byte| (word << 8) | u64::from(*byte));
            self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
    }

    // The byte that ends a text tells nothing that its bytes do not.
    fn write_u8(&mut self, _: u8) {
        self.0 ^= self.0 >> 32;
    }

    fn write_u32(&mut self, gram: u32) {
        let mixed = u64::from(gram).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_rule_is_found_by_its_rarest_run() {
        let rules: Vec<Vec<String>> = (0..1000).map(|n| vec![format!("command{n:04} ")]).collect();
        let index = LiteralIndex::build(&rules);
        assert!(index.candidates("command0042 x").contains(&42));
        assert!(index.candidates("something else entirely").is_empty());
        assert!(index.candidates("command0042 x").len() < 50);
    }

    #[test]
    fn rules_with_little_fixed_text_are_always_candidates() {
        let index = LiteralIndex::build(&[vec!["ls"], vec!["abc"], vec![]]);
        assert_eq!(index.candidates("xyz"), vec![0, 2]);
        assert_eq!(index.candidates("xabcx"), vec![0, 1, 2]);
    }

    proptest! {
        #[test]
        fn no_rule_whose_texts_all_stand_in_the_text_is_missed(
            rules in prop::collection::vec(prop::collection::vec("[a-d]{0,6}", 0..3), 0..20),
            text in "[a-d]{0,40}",
        ) {
            let found = LiteralIndex::build(&rules).candidates(&text);
            for (number, literals) in rules.iter().enumerate() {
                if literals.iter().all(|literal| text.contains(literal.as_str())) {
                    prop_assert!(found.contains(&u32::try_from(number).unwrap()));
                }
            }
        }
    }
}
