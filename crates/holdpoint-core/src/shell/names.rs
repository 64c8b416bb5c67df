//! Lists of program names, written as one text and asked about for every command.
//!
//! Most commands are on no list. A small table made when the program is compiled says so for
//! nearly all of them without comparing a single name.

/// A list of names.
pub(super) struct Names {
    list: &'static str,
    shapes: Shapes,
}

/// One bit for each shape a name of some list has.
#[derive(Clone, Copy)]
pub(super) struct Shapes([u64; WORDS]);

/// The shape of one name, worked out once to be asked of many lists.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    word: usize,
    bit: u64,
}

impl Shape {
    pub(super) fn from_name(name: &str) -> Self {
        let (word, bit) = place(name.as_bytes());
        Self { word, bit }
    }
}

/// With 1,024 bits even two hundred names leave four of five others known by their shape alone.
const WORDS: usize = 16;

impl Shapes {
    pub(super) const NONE: Self = Self([0; WORDS]);

    /// Whether a name of these shapes could be `name`.
    pub(super) fn could_hold(&self, name: &str) -> bool {
        self.have(Shape::from_name(name))
    }

    /// The same for whoever knows the name's shape.
    pub(super) fn have(&self, Shape { word, bit }: Shape) -> bool {
        self.0.get(word).is_some_and(|bits| bits & bit != 0)
    }

    const fn with(mut self, name: &[u8]) -> Self {
        let (word, bit) = place(name);
        let mut rest: &mut [u64] = &mut self.0;
        let mut at = 0;
        while let [first, tail @ ..] = rest {
            if at == word {
                *first |= bit;
            }
            at += 1;
            rest = tail;
        }
        self
    }

    /// The shapes of both.
    const fn and(mut self, other: &Self) -> Self {
        let mut own: &mut [u64] = &mut self.0;
        let mut others: &[u64] = &other.0;
        while let ([first, tail @ ..], [more, rest @ ..]) = (own, others) {
            *first |= *more;
            own = tail;
            others = rest;
        }
        self
    }
}

impl Names {
    /// The names in `list`, separated by spaces.
    pub(super) const fn new(list: &'static str) -> Self {
        let mut shapes = Shapes::NONE;
        let mut rest = list.as_bytes();
        while let [byte, tail @ ..] = rest {
            if *byte == b' ' {
                rest = tail;
                continue;
            }
            let mut length = 0;
            let mut behind = rest;
            while let [letter, further @ ..] = behind {
                if *letter == b' ' {
                    break;
                }
                length += 1;
                behind = further;
            }
            let (name, tail) = rest.split_at(length);
            shapes = shapes.with(name);
            rest = tail;
        }
        Self { list, shapes }
    }

    /// Whether `name` is one of them.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.contains_shaped(name, Shape::from_name(name))
    }

    /// The same for whoever knows the name's shape.
    pub(super) fn contains_shaped(&self, name: &str, shape: Shape) -> bool {
        self.shapes.have(shape)
            && self
                .list
                .split_ascii_whitespace()
                .any(|known| known == name)
    }

    /// The shapes of these names and those already in `shapes`, to be asked about at once.
    pub(super) const fn shapes_with(&self, shapes: Shapes) -> Shapes {
        shapes.and(&self.shapes)
    }

    /// Whether there are none.
    pub(super) const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

/// Where the bit of a name's shape stands: its length, its first two letters and its last.
const fn place(name: &[u8]) -> (usize, u64) {
    let (first, second, last) = match name {
        [] => (0, 0, 0),
        [only] => (*only, 0, *only),
        [first, last] => (*first, *last, *last),
        [first, second, .., last] => (*first, *second, *last),
    };
    let mixed = (first as usize)
        .wrapping_mul(31)
        .wrapping_add(second as usize)
        .wrapping_mul(31)
        .wrapping_add(last as usize)
        .wrapping_mul(31)
        .wrapping_add(name.len())
        .wrapping_mul(0x9e37_79b1);
    // The upper bits of the product depend on all of them.
    let at = (mixed >> 20) % (WORDS * 64);
    (at / 64, 1 << (at % 64))
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
