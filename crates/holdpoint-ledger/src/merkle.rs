//! The Merkle tree of RFC 6962 over the records, kept as the few nodes needed to go on.
//!
//! A tree of n leaves is a row of perfect trees, one for each binary digit 1 of n. Their roots are
//! all that adding a leaf or finding the root of the whole needs, so a checkpoint carries them and
//! nobody has to read older segments again.

use sha2::{Digest, Sha256};

use crate::chain::RecordHash;

/// A tree that grows at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    size: u64,
    /// The roots of the perfect trees, the largest first.
    peaks: Vec<RecordHash>,
}

impl Tree {
    /// The tree of `size` leaves with these roots of perfect trees; none if they are not as many
    /// as such a tree has.
    pub fn resume(size: u64, peaks: Vec<RecordHash>) -> Option<Self> {
        let fits = usize::try_from(size.count_ones()) == Ok(peaks.len());
        fits.then_some(Self { size, peaks })
    }

    /// The number of leaves.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The roots of the perfect trees, the largest first.
    pub fn peaks(&self) -> &[RecordHash] {
        &self.peaks
    }

    /// Adds a leaf.
    pub fn add(&mut self, leaf: RecordHash) {
        let mut node = leaf;
        // Every perfect tree of the size just completed merges with the new one.
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.peaks.pop() {
                node = parent(&left, &node);
            }
        }
        self.peaks.push(node);
        self.size = self.size.saturating_add(1);
    }

    /// The root of the whole.
    pub fn root(&self) -> RecordHash {
        let mut peaks = self.peaks.iter().rev();
        match peaks.next() {
            Some(last) => peaks.fold(*last, |right, left| parent(left, &right)),
            None => RecordHash(Sha256::digest([]).into()),
        }
    }
}

fn parent(left: &RecordHash, right: &RecordHash) -> RecordHash {
    let mut hasher = Sha256::new();
    hasher.update([1]);
    hasher.update(left.0);
    hasher.update(right.0);
    RecordHash(hasher.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::hex;

    /// The definition of RFC 6962, section 2.1.
    fn defined(leaves: &[RecordHash]) -> RecordHash {
        match leaves {
            [] => RecordHash(Sha256::digest([]).into()),
            [one] => *one,
            many => {
                let half = many.len().next_power_of_two() / 2;
                let (left, right) = many.split_at(half);
                parent(&defined(left), &defined(right))
            }
        }
    }

    #[test]
    fn roots_are_those_of_the_definition() {
        let leaves: Vec<_> = (0u32..70)
            .map(|n| RecordHash::from_line(&n.to_be_bytes()))
            .collect();
        let mut tree = Tree::default();
        for (count, leaf) in leaves.iter().enumerate() {
            assert_eq!(tree.root(), defined(&leaves[..count]), "{count} leaves");
            let again = Tree::resume(tree.size(), tree.peaks().to_vec());
            assert_eq!(again.as_ref(), Some(&tree));
            tree.add(*leaf);
        }
    }

    #[test]
    fn roots_are_those_others_compute() {
        // The reference inputs of the certificate transparency implementations.
        let inputs: [&[u8]; 3] = [b"", b"\x00", b"\x10"];
        let mut tree = Tree::default();
        for input in inputs {
            tree.add(RecordHash::from_line(input));
        }
        assert_eq!(
            hex(&tree.root().0),
            "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"
        );
    }

    #[test]
    fn a_row_of_the_wrong_length_is_no_tree() {
        assert_eq!(Tree::resume(3, vec![RecordHash::NONE]), None);
    }
}
