//! Counters by name that stay bounded however many names the ledger holds.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The most characters of a name that are kept; no tool, rule or session needs more to be told apart.
const MAX_NAME: usize = 300;

/// How much something counts; what counts least is forgotten first.
pub(super) trait Weight {
    fn weight(&self) -> u64;
}

impl Weight for u64 {
    fn weight(&self) -> u64 {
        *self
    }
}

/// Something counted for each name. When there are too many names, the lighter half is forgotten.
#[derive(Clone, Debug)]
pub(super) struct Tally<V> {
    by_name: HashMap<String, V>,
    most: usize,
    forgotten: u64,
}

impl<V: Default + Weight> Tally<V> {
    /// At most `most` names.
    pub(super) fn of_at_most(most: usize) -> Self {
        Self {
            by_name: HashMap::new(),
            most: most.max(2),
            forgotten: 0,
        }
    }

    /// What is counted for a name.
    pub(super) fn entry(&mut self, name: &str) -> &mut V {
        let name = cut(name);
        if self.by_name.len() >= self.most && !self.by_name.contains_key(name) {
            self.forget_half();
        }
        self.by_name.entry(name.to_owned()).or_default()
    }

    /// What is counted for a name, if it is.
    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut V> {
        self.by_name.get_mut(cut(name))
    }

    /// Whether a name is counted.
    pub(super) fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(cut(name))
    }

    /// Whether names were forgotten.
    pub(super) fn forgot(&self) -> bool {
        self.forgotten > 0
    }

    /// How many names there are, the forgotten ones included.
    pub(super) fn names(&self) -> u64 {
        self.forgotten
            .saturating_add(u64::try_from(self.by_name.len()).unwrap_or(u64::MAX))
    }

    /// All of them, the heaviest first and equals by name.
    pub(super) fn ranked(&self) -> Vec<(&str, &V)> {
        let mut all: Vec<(&str, &V)> = self
            .by_name
            .iter()
            .map(|(name, value)| (name.as_str(), value))
            .collect();
        all.sort_by(|(a, one), (b, other)| other.weight().cmp(&one.weight()).then(a.cmp(b)));
        all
    }

    fn forget_half(&mut self) {
        let keep: HashSet<String> = self
            .ranked()
            .into_iter()
            .take(self.most / 2)
            .map(|(name, _)| name.to_owned())
            .collect();
        let before = self.by_name.len();
        self.by_name.retain(|name, _| keep.contains(name));
        let gone = before.saturating_sub(self.by_name.len());
        self.forgotten += u64::try_from(gone).unwrap_or(u64::MAX);
    }
}

/// A name as it is kept.
fn cut(name: &str) -> &str {
    match name.char_indices().nth(MAX_NAME) {
        Some((end, _)) => name.split_at_checked(end).map_or(name, |(start, _)| start),
        None => name,
    }
}

/// How many different texts there were, up to a bound.
#[derive(Clone, Debug, Default)]
pub(super) struct Distinct(HashSet<u64>);

impl Distinct {
    /// Takes note of a text, unless `most` are known already.
    pub(super) fn add(&mut self, text: &str, most: usize) {
        if self.0.len() < most {
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            self.0.insert(hasher.finish());
        }
    }

    pub(super) fn count(&self) -> u64 {
        u64::try_from(self.0.len()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_names_stay_and_the_bound_holds() {
        let mut tally: Tally<u64> = Tally::of_at_most(100);
        for number in 0..10_000 {
            *tally.entry("often") += 1;
            *tally.entry(&format!("once {number}")) += 1;
            assert!(tally.by_name.len() <= 100);
        }
        assert_eq!(tally.ranked().first(), Some(&("often", &10_000)));
        assert_eq!(tally.names(), 10_001);
    }

    #[test]
    fn a_long_name_is_cut_between_characters() {
        let mut tally: Tally<u64> = Tally::of_at_most(10);
        *tally.entry(&"é".repeat(1000)) += 1;
        *tally.entry(&"é".repeat(2000)) += 1;
        assert_eq!(tally.ranked(), [("é".repeat(300).as_str(), &2)]);
        assert!(tally.has(&"é".repeat(3000)));
    }
}
