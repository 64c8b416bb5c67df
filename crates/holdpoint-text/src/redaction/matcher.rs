//! Runs the program of a shape against bytes, without going back.

use super::shape::{MAX_DEPTH, NO_MAXIMUM, Set, op};

/// How far a repeat without a maximum looks before what follows it must stand.
const MAX_REACH: usize = 4096;

/// What a shape matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Match {
    /// The first byte behind it.
    pub(crate) end: usize,
    /// The part that is secret.
    pub(crate) secret: (usize, usize),
    /// The set that ended it, so that a longer run of it is known not to be this shape.
    last: Option<Set>,
}

impl Match {
    /// Whether the run that ends the match goes on behind it.
    pub(crate) fn goes_on(&self, bytes: &[u8]) -> bool {
        self.last
            .is_some_and(|set| bytes.get(self.end).is_some_and(|byte| holds(set, *byte)))
    }
}

/// How far a program got.
#[derive(Debug)]
pub(crate) struct Run<'p> {
    bytes: &'p [u8],
    sets: &'p [Set],
    any_case: bool,
    at: usize,
    open: Option<usize>,
    close: Option<usize>,
    last: Option<Set>,
}

impl<'p> Run<'p> {
    /// Runs `program` at `start`; the error is how far it got.
    pub(crate) fn at(
        program: &'p [u8],
        sets: &'p [Set],
        any_case: bool,
        bytes: &'p [u8],
        start: usize,
    ) -> Result<Match, usize> {
        let mut run = Run {
            bytes,
            sets,
            any_case,
            at: start,
            open: None,
            close: None,
            last: None,
        };
        if run.steps(program, 0).is_none() {
            return Err(run.at);
        }
        Ok(Match {
            end: run.at,
            secret: (run.open.unwrap_or(start), run.close.unwrap_or(run.at)),
            last: run.last,
        })
    }

    fn steps(&mut self, mut program: &'p [u8], depth: usize) -> Option<()> {
        if depth > MAX_DEPTH + 1 {
            return None;
        }
        while let Some((operation, rest)) = program.split_first() {
            program = match *operation {
                op::LITERAL => {
                    let (length, rest) = rest.split_first()?;
                    let (literal, rest) = rest.split_at_checked(usize::from(*length))?;
                    self.literal(literal)?;
                    rest
                }
                op::SET => {
                    let (operands, rest) = rest.split_at_checked(5)?;
                    let [number, a, b, c, d] = operands else {
                        return None;
                    };
                    let set = *self.sets.get(usize::from(*number))?;
                    self.repeat(
                        set,
                        u16::from_le_bytes([*a, *b]),
                        u16::from_le_bytes([*c, *d]),
                    )?;
                    rest
                }
                op::EITHER => {
                    let (count, mut rest) = rest.split_first()?;
                    let mut found = false;
                    let start = self.at;
                    for _ in 0..*count {
                        let (way, behind) = sized(rest)?;
                        rest = behind;
                        if !found {
                            self.at = start;
                            found = self.steps(way, depth + 1).is_some();
                        }
                    }
                    if !found {
                        return None;
                    }
                    rest
                }
                op::MAYBE => {
                    let (inner, rest) = sized(rest)?;
                    let (start, last) = (self.at, self.last);
                    if self.steps(inner, depth + 1).is_none() {
                        (self.at, self.last) = (start, last);
                    }
                    rest
                }
                op::OPEN => {
                    self.open = Some(self.at);
                    rest
                }
                op::CLOSE => {
                    self.close = Some(self.at);
                    rest
                }
                _ => return None,
            };
        }
        Some(())
    }

    fn literal(&mut self, literal: &[u8]) -> Option<()> {
        let here = self.bytes.get(self.at..self.at + literal.len())?;
        let same = if self.any_case {
            here.eq_ignore_ascii_case(literal)
        } else {
            here == literal
        };
        same.then(|| {
            self.at += literal.len();
            self.last = None;
        })
    }

    fn repeat(&mut self, set: Set, least: u16, most: u16) -> Option<()> {
        let most = match most {
            NO_MAXIMUM => MAX_REACH,
            most => usize::from(most),
        };
        let rest = self.bytes.get(self.at..)?;
        let count = rest
            .iter()
            .take(most)
            .take_while(|byte| holds(set, **byte))
            .count();
        self.at += count;
        self.last = Some(set);
        (count >= usize::from(least)).then_some(())
    }
}

fn sized(program: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = program.split_at_checked(2)?;
    let [low, high] = length else { return None };
    rest.split_at_checked(usize::from(u16::from_le_bytes([*low, *high])))
}

fn holds(set: Set, byte: u8) -> bool {
    let [low, high] = set;
    match byte {
        0..64 => low >> byte & 1 == 1,
        64..128 => high >> (byte - 64) & 1 == 1,
        128.. => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::shape::Shape;
    use super::*;

    fn run(shape: &str, text: &str) -> Option<Match> {
        let (mut program, mut sets) = (Vec::new(), Vec::new());
        Shape::read(shape)
            .unwrap()
            .write(&mut program, &mut sets)
            .unwrap();
        Run::at(&program, &sets, false, text.as_bytes(), 0).ok()
    }

    #[test]
    fn shapes_match_what_they_describe() {
        for (shape, text, end) in [
            (r"ab[0-9]{2,3}", "ab1234", Some(5)),
            (r"ab[0-9]{2,3}", "ab1", None),
            (r"(x|yy)z", "yyz", Some(3)),
            (r"(x|yy)z", "yz", None),
            (r"a(-b)?c", "a-bc", Some(4)),
            (r"a(-b)?c", "ac", Some(2)),
            (r"\x{4}\.\u{2,}", "00ff.AB9z", Some(8)),
            (r"a?b", "b", Some(1)),
            (r"((a|b)c|d)e", "bce", Some(3)),
            (r"\\\<", "\\<", Some(2)),
        ] {
            assert_eq!(run(shape, text).map(|m| m.end), end, "{shape} {text}");
        }
    }

    #[test]
    fn the_secret_is_the_marked_part() {
        let found = run(r"k=<\d{3}>;", "k=123;").unwrap();
        assert_eq!(found.secret, (2, 5));
        assert!(!found.goes_on(b"k=123;9"));
        assert!(run(r"k\d{3}", "k1234").unwrap().goes_on(b"k1234"));
    }
}
