//! The pattern language of formats: text to a small program that is run by `matcher`.
//!
//! A shape is read once, at build time for the shipped formats and when a policy is loaded for a
//! user's own. The language is small on purpose, so that matching is linear: a repeat takes all it
//! can up to its maximum and gives nothing back, and the first alternative that matches is taken.
//!
//! - `ghp_` stands for itself; a special character (`\ [ ] { } ( ) | ? < >`) follows a backslash.
//! - `[A-Za-z0-9_-]` is one character of a set; so are `\d` digit, `\x` lower-case hexadecimal, `\h`
//!   hexadecimal, `\a` letter or digit, `\l` lower-case letter or digit, `\u` upper-case letter or
//!   digit, `\w` those and `_`, `\b` base64url, `\B` base64.
//! - `{36}`, `{20,40}`, `{20,}` repeats the character or set before it.
//! - `(a|b)` is one of several, `(a)?` may be missing, at most four deep.
//! - `<…>` is the part that is secret, once, outside of groups; without it, all of it is.

/// A set of ASCII characters, as bits.
pub(crate) type Set = [u64; 2];

/// A repeat without a maximum.
pub(crate) const NO_MAXIMUM: u16 = u16::MAX;

/// The longest shape as written.
const MAX_LENGTH: usize = 600;

/// How deep groups may stand in each other.
pub(crate) const MAX_DEPTH: usize = 4;

/// The operations of a program; each is followed by its operands.
pub(crate) mod op {
    /// The length and the bytes that must stand here.
    pub(crate) const LITERAL: u8 = 1;
    /// The number of a set, a least and a greatest count, two bytes each.
    pub(crate) const SET: u8 = 2;
    /// The number of alternatives; each is its length in two bytes and its program.
    pub(crate) const EITHER: u8 = 3;
    /// The length in two bytes and the program that may match or not.
    pub(crate) const MAYBE: u8 = 4;
    /// The secret begins.
    pub(crate) const OPEN: u8 = 5;
    /// The secret ends.
    pub(crate) const CLOSE: u8 = 6;
}

/// A shape that has been read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Literal(Vec<u8>),
    Set { set: Set, least: u16, most: u16 },
    Either(Vec<Vec<Part>>),
    Maybe(Vec<Part>),
    Open,
    Close,
}

impl Shape {
    /// Reads a shape; the error completes "the shape …".
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        if text.is_empty() || text.len() > MAX_LENGTH {
            return Err(format!("must have 1 to {MAX_LENGTH} characters"));
        }
        if !text.is_ascii() {
            return Err("must be ASCII".to_owned());
        }
        let mut reader = Reader {
            bytes: text.as_bytes(),
            at: 0,
        };
        let parts = reader.sequence(0)?;
        if reader.at < reader.bytes.len() {
            return Err(format!("has an unexpected `)` or `|` at {}", reader.at));
        }
        let marks = |mark: &Part| parts.iter().filter(|part| *part == mark).count();
        if marks(&Part::Open) > 1 || marks(&Part::Open) != marks(&Part::Close) {
            return Err("may have one `<` and one `>`, outside of groups".to_owned());
        }
        Ok(Self { parts })
    }

    /// Where `literal` stands in whatever the shape matches: the fewest and most bytes before it.
    pub(crate) fn place_of(&self, literal: &str) -> Option<(usize, usize)> {
        place_in(&self.parts, literal.as_bytes())
    }

    /// The fewest bytes it matches.
    pub(crate) fn least_width(&self) -> usize {
        width(&self.parts).0
    }

    /// Writes the program, filing sets in `sets`, which may hold 256.
    pub(crate) fn write(&self, program: &mut Vec<u8>, sets: &mut Vec<Set>) -> Result<(), String> {
        write(&self.parts, program, sets)
    }

    /// A text the shape matches, made of what `pick` chooses: a number below the one it is given.
    #[cfg(test)]
    pub(crate) fn sample(
        &self,
        pick: &mut dyn FnMut(usize) -> usize,
    ) -> (String, std::ops::Range<usize>) {
        let mut text = String::new();
        let mut secret = 0..usize::MAX;
        sample(&self.parts, pick, &mut text, &mut secret);
        secret.end = secret.end.min(text.len());
        (text, secret)
    }
}

struct Reader<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn takes(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn sequence(&mut self, depth: usize) -> Result<Vec<Part>, String> {
        let mut parts: Vec<Part> = Vec::new();
        while let Some(byte) = self.peek() {
            match byte {
                b')' | b'|' => break,
                b'<' | b'>' if depth > 0 => {
                    return Err(format!("has `<` or `>` inside of a group at {}", self.at));
                }
                b'(' => {
                    self.at += 1;
                    let group = self.group(depth + 1)?;
                    parts.push(group);
                }
                b'<' => {
                    self.at += 1;
                    parts.push(Part::Open);
                }
                b'>' => {
                    self.at += 1;
                    parts.push(Part::Close);
                }
                b'{' | b'}' | b'?' | b']' => {
                    return Err(format!(
                        "has a bare `{}` at {}: put a backslash before it",
                        char::from(byte),
                        self.at
                    ));
                }
                _ => {
                    let set = self.one()?;
                    self.add(&mut parts, set)?;
                }
            }
        }
        Ok(parts)
    }

    fn group(&mut self, depth: usize) -> Result<Part, String> {
        if depth > MAX_DEPTH {
            return Err(format!("has groups more than {MAX_DEPTH} deep"));
        }
        let mut ways = vec![self.sequence(depth)?];
        while self.takes(b'|') {
            ways.push(self.sequence(depth)?);
        }
        if !self.takes(b')') {
            return Err("has a `(` that is never closed".to_owned());
        }
        if ways.len() > 128 {
            return Err("has more than 128 alternatives in a group".to_owned());
        }
        let group = match <[Vec<Part>; 1]>::try_from(ways) {
            Ok([way]) => way,
            Err(ways) => vec![Part::Either(ways)],
        };
        Ok(if self.takes(b'?') {
            Part::Maybe(group)
        } else if let Ok([Part::Either(ways)]) = <[Part; 1]>::try_from(group.clone()) {
            Part::Either(ways)
        } else {
            Part::Either(vec![group])
        })
    }

    /// One character or set.
    fn one(&mut self) -> Result<Set, String> {
        match self.next() {
            Some(b'[') => self.listed(),
            Some(b'\\') => {
                let byte = self.next().ok_or("ends with a backslash")?;
                Ok(named(byte).unwrap_or_else(|| only(byte)))
            }
            Some(byte) => Ok(only(byte)),
            None => Err("ends too early".to_owned()),
        }
    }

    fn listed(&mut self) -> Result<Set, String> {
        let mut set = [0, 0];
        let unclosed = "has a `[` that is never closed";
        loop {
            let first = match self.next().ok_or(unclosed)? {
                b']' => break,
                b'\\' => {
                    let byte = self.next().ok_or(unclosed)?;
                    if let Some(known) = named(byte) {
                        set = both(set, known);
                        continue;
                    }
                    byte
                }
                byte => byte,
            };
            let is_range = self.peek() == Some(b'-')
                && self
                    .bytes
                    .get(self.at + 1)
                    .is_some_and(|byte| *byte != b']');
            let last = if is_range {
                self.at += 1;
                self.next().ok_or(unclosed)?
            } else {
                first
            };
            if last < first {
                return Err(format!("has a range that runs backwards at {}", self.at));
            }
            for byte in first..=last {
                set = both(set, only(byte));
            }
        }
        if set == [0, 0] {
            return Err("has an empty set".to_owned());
        }
        Ok(set)
    }

    /// Adds a character or set with the count behind it.
    fn add(&mut self, parts: &mut Vec<Part>, set: Set) -> Result<(), String> {
        let counted = self.takes(b'{');
        let (least, most) = if counted {
            self.counts()?
        } else if self.takes(b'?') {
            (0, 1)
        } else {
            (1, 1)
        };
        match single(set).filter(|_| (least, most) == (1, 1)) {
            Some(byte) => match parts.last_mut() {
                Some(Part::Literal(bytes)) => bytes.push(byte),
                _ => parts.push(Part::Literal(vec![byte])),
            },
            None => parts.push(Part::Set { set, least, most }),
        }
        Ok(())
    }

    fn counts(&mut self) -> Result<(u16, u16), String> {
        let wrong = || "has a count that is not `{n}`, `{n,}` or `{n,m}`".to_owned();
        let least = self.number().ok_or_else(wrong)?;
        let most = if self.takes(b',') {
            self.number().unwrap_or(NO_MAXIMUM)
        } else {
            least
        };
        if !self.takes(b'}') || most < least || most == 0 {
            return Err(wrong());
        }
        Ok((least, most))
    }

    fn number(&mut self) -> Option<u16> {
        let mut number: Option<u16> = None;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            self.at += 1;
            let so_far = number.unwrap_or(0).min(4096);
            number = Some((so_far * 10 + u16::from(digit - b'0')).min(4096));
        }
        number
    }
}

fn only(byte: u8) -> Set {
    let bit = 1u64 << (byte & 63);
    if byte < 64 { [bit, 0] } else { [0, bit] }
}

fn both(one: Set, other: Set) -> Set {
    let ([a, b], [c, d]) = (one, other);
    [a | c, b | d]
}

fn single(set: Set) -> Option<u8> {
    let [low, high] = set;
    let at = |bits: u64| u8::try_from(bits.trailing_zeros()).unwrap_or(0);
    match (low.count_ones(), high.count_ones()) {
        (1, 0) => Some(at(low)),
        (0, 1) => Some(at(high) + 64),
        _ => None,
    }
}

fn named(byte: u8) -> Option<Set> {
    let ranges: &[(u8, u8)] = match byte {
        b'd' => &[(b'0', b'9')],
        b'x' => &[(b'0', b'9'), (b'a', b'f')],
        b'h' => &[(b'0', b'9'), (b'a', b'f'), (b'A', b'F')],
        b'a' => &[(b'0', b'9'), (b'a', b'z'), (b'A', b'Z')],
        b'l' => &[(b'0', b'9'), (b'a', b'z')],
        b'u' => &[(b'0', b'9'), (b'A', b'Z')],
        b'w' => &[(b'0', b'9'), (b'a', b'z'), (b'A', b'Z'), (b'_', b'_')],
        b'b' => &[
            (b'0', b'9'),
            (b'a', b'z'),
            (b'A', b'Z'),
            (b'_', b'_'),
            (b'-', b'-'),
        ],
        b'B' => &[
            (b'0', b'9'),
            (b'a', b'z'),
            (b'A', b'Z'),
            (b'+', b'+'),
            (b'/', b'/'),
        ],
        _ => return None,
    };
    let all = ranges.iter().flat_map(|(first, last)| *first..=*last);
    Some(all.fold([0, 0], |set, byte| both(set, only(byte))))
}

fn width(parts: &[Part]) -> (usize, usize) {
    parts.iter().fold((0, 0), |(least, most), part| {
        let (a, b) = match part {
            Part::Literal(bytes) => (bytes.len(), bytes.len()),
            Part::Set { least, most, .. } => (usize::from(*least), usize::from(*most)),
            Part::Either(ways) => ways
                .iter()
                .map(|way| width(way))
                .reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))
                .unwrap_or((0, 0)),
            Part::Maybe(inner) => (0, width(inner).1),
            Part::Open | Part::Close => (0, 0),
        };
        (least + a, most + b)
    })
}

fn place_in(parts: &[Part], literal: &[u8]) -> Option<(usize, usize)> {
    let mut before = (0, 0);
    for (at, part) in parts.iter().enumerate() {
        let inside = match part {
            Part::Literal(bytes) => bytes
                .windows(literal.len())
                .position(|window| window == literal)
                .map(|index| (index, index)),
            Part::Either(ways) => ways.iter().find_map(|way| place_in(way, literal)),
            Part::Maybe(_) | Part::Set { .. } | Part::Open | Part::Close => None,
        };
        if let Some((least, most)) = inside {
            return Some((before.0 + least, before.1 + most));
        }
        let (least, most) = width(parts.get(at..=at)?);
        before = (before.0 + least, before.1 + most);
    }
    None
}

fn write(parts: &[Part], program: &mut Vec<u8>, sets: &mut Vec<Set>) -> Result<(), String> {
    let too_long = || "is too long".to_owned();
    let sized = |inner: &[Part], sets: &mut Vec<Set>| {
        let mut code = Vec::new();
        write(inner, &mut code, sets)?;
        let length = u16::try_from(code.len()).map_err(|_| too_long())?;
        Ok::<_, String>((length.to_le_bytes(), code))
    };
    for part in parts {
        match part {
            Part::Literal(bytes) => {
                for run in bytes.chunks(255) {
                    program.push(op::LITERAL);
                    program.push(u8::try_from(run.len()).map_err(|_| too_long())?);
                    program.extend_from_slice(run);
                }
            }
            Part::Set { set, least, most } => {
                let number = match sets.iter().position(|known| known == set) {
                    Some(number) => number,
                    None => {
                        sets.push(*set);
                        sets.len() - 1
                    }
                };
                program.push(op::SET);
                program.push(u8::try_from(number).map_err(|_| "needs too many sets")?);
                program.extend_from_slice(&least.to_le_bytes());
                program.extend_from_slice(&most.to_le_bytes());
            }
            Part::Either(ways) => {
                program.push(op::EITHER);
                program.push(u8::try_from(ways.len()).map_err(|_| too_long())?);
                for way in ways {
                    let (length, code) = sized(way, sets)?;
                    program.extend_from_slice(&length);
                    program.extend_from_slice(&code);
                }
            }
            Part::Maybe(inner) => {
                let (length, code) = sized(inner, sets)?;
                program.push(op::MAYBE);
                program.extend_from_slice(&length);
                program.extend_from_slice(&code);
            }
            Part::Open => program.push(op::OPEN),
            Part::Close => program.push(op::CLOSE),
        }
    }
    Ok(())
}

#[cfg(test)]
fn sample(
    parts: &[Part],
    pick: &mut dyn FnMut(usize) -> usize,
    text: &mut String,
    secret: &mut std::ops::Range<usize>,
) {
    for part in parts {
        match part {
            Part::Literal(bytes) => text.push_str(std::str::from_utf8(bytes).unwrap()),
            Part::Set { set, least, most } => {
                let members: Vec<u8> = (0..128u8)
                    .filter(|byte| both(*set, only(*byte)) == *set)
                    .collect();
                let most = (*most).min(least.saturating_mul(2).max(least + 8));
                let count = usize::from(*least) + pick(usize::from(most - least) + 1);
                for _ in 0..count {
                    text.push(char::from(members[pick(members.len())]));
                }
            }
            Part::Either(ways) => sample(&ways[pick(ways.len())], pick, text, secret),
            Part::Maybe(inner) => {
                if pick(2) == 1 {
                    sample(inner, pick, text, secret);
                }
            }
            Part::Open => secret.start = text.len(),
            Part::Close => secret.end = text.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_knows_where_its_fixed_text_stands() {
        let shape = Shape::read(r"\x{32}-us\d{1,2}").unwrap();
        assert_eq!(shape.place_of("-us"), Some((32, 32)));
        let shape = Shape::read(r"(AKIA|ASIA)[A-Z2-7]{16}").unwrap();
        assert_eq!(shape.place_of("ASIA"), Some((0, 0)));
        assert_eq!(shape.place_of("XXXX"), None);
        assert_eq!(
            Shape::read(r"\d{8,10}:AA").unwrap().place_of(":AA"),
            Some((8, 10))
        );
        assert_eq!(shape.least_width(), 20);
    }

    #[test]
    fn what_is_no_shape_is_refused_with_a_reason() {
        for (text, part) in [
            ("", "1 to 600"),
            ("a)", "unexpected"),
            ("(a", "never closed"),
            ("[a", "never closed"),
            ("a{2,1}", "count"),
            ("a{", "count"),
            ("{2}", "bare `{`"),
            ("<a><b>", "one `<`"),
            ("(<a>)", "inside of a group"),
            ("((((((a))))))", "deep"),
            ("[z-a]", "backwards"),
            ("é", "ASCII"),
            ("a\\", "backslash"),
        ] {
            let error = Shape::read(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
