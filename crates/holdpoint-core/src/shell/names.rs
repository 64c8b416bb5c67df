//! Lists of program names, written as one text and asked about for every command.
//!
//! Most commands are on no list. A small table made when the program is compiled says so for
//! nearly all of them without comparing a single name.

/// A list of names.
pub(super) struct Names {
    list: &'static str,
    /// One bit for each first letter and length that occurs.
    shapes: u128,
}

impl Names {
    /// The names in `list`, separated by spaces.
    pub(super) const fn new(list: &'static str) -> Self {
        let mut rest = list.as_bytes();
        let mut shapes = 0;
        let (mut first, mut length) = (0, 0);
        while let [byte, tail @ ..] = rest {
            if *byte == b' ' {
                if length > 0 {
                    shapes |= shape(first, length);
                }
                length = 0;
            } else {
                if length == 0 {
                    first = *byte;
                }
                length += 1;
            }
            rest = tail;
        }
        if length > 0 {
            shapes |= shape(first, length);
        }
        Self { list, shapes }
    }

    /// Whether `name` is one of them.
    pub(super) fn contains(&self, name: &str) -> bool {
        Self::could_hold(self.shapes, name)
            && self
                .list
                .split_ascii_whitespace()
                .any(|known| known == name)
    }

    /// The shapes of these names and those already in `shapes`, to be asked about at once.
    pub(super) const fn shapes_with(&self, shapes: u128) -> u128 {
        self.shapes | shapes
    }

    /// Whether a name with such shapes could be `name`.
    pub(super) fn could_hold(shapes: u128, name: &str) -> bool {
        name.as_bytes()
            .first()
            .is_some_and(|first| shapes & shape(*first, name.len()) != 0)
    }

    /// Whether there are none.
    pub(super) const fn is_empty(&self) -> bool {
        self.shapes == 0
    }
}

const fn shape(first: u8, length: usize) -> u128 {
    1 << (((first as usize).wrapping_mul(5)).wrapping_add(length.wrapping_mul(37)) & 127)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_holds_its_names_and_no_others() {
        const NAMES: Names = Names::new("sudo doas  su");
        for name in ["sudo", "doas", "su"] {
            assert!(NAMES.contains(name), "{name}");
        }
        for name in ["", "s", "sud", "sudoo", "do", "ls", "as su"] {
            assert!(!NAMES.contains(name), "{name}");
        }
        assert!(Names::new("").is_empty() && !NAMES.is_empty());
    }
}
