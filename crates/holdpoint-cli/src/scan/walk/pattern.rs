//! One line of an ignore file, as git reads it.
//!
//! Names are compared byte by byte. A star never crosses a `/`, `**` does; both are matched by
//! going back to the last one only, so that no pattern takes more than time times length.

/// What a line says about paths.
#[derive(Debug)]
pub(super) struct Pattern {
    /// Whether it takes back what a line before it left out.
    pub(super) takes_back: bool,
    /// Whether it is about directories only.
    directories: bool,
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    /// `**`: any number of directories.
    AnyDepth,
    /// A name with wildcards.
    Name(Vec<Token>),
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Byte(u8),
    /// `?`
    One,
    /// `*`
    Any,
    /// `[a-z]`
    Set {
        negated: bool,
        ranges: Vec<(u8, u8)>,
    },
}

impl Pattern {
    /// The pattern of a line; none for comments, empty lines and what cannot match anything.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = without_trailing_spaces(line);
        if line.is_empty() || line.starts_with(b"#") {
            return None;
        }
        let (takes_back, line) = match line.strip_prefix(b"!") {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let (directories, line) = match line.strip_suffix(b"/") {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let anchored = line.contains(&b'/');
        let line = line.strip_prefix(b"/").unwrap_or(line);
        if line.is_empty() {
            return None;
        }
        let mut parts = Vec::new();
        if !anchored {
            parts.push(Part::AnyDepth);
        }
        let names: Vec<&[u8]> = line.split(|byte| *byte == b'/').collect();
        for (index, name) in names.iter().enumerate() {
            // git takes more than two stars for two.
            if name.len() < 2 || name.iter().any(|byte| *byte != b'*') {
                parts.push(Part::Name(tokens(name)?));
                continue;
            }
            parts.push(Part::AnyDepth);
            if index + 1 == names.len() {
                // `a/**` is what is in `a`, not `a`.
                parts.push(Part::Name(vec![Token::Any]));
            }
        }
        Some(Self {
            takes_back,
            directories,
            parts,
        })
    }

    /// Whether it speaks about a path, given as the names from the ignore file's directory on.
    pub(super) fn matches(&self, names: &[&[u8]], is_directory: bool) -> bool {
        if self.directories && !is_directory {
            return false;
        }
        let (mut part, mut name) = (0, 0);
        let mut back: Option<(usize, usize)> = None;
        loop {
            let goes_on = match (self.parts.get(part), names.get(name)) {
                (None, None) => return true,
                (Some(Part::AnyDepth), _) => {
                    part += 1;
                    back = Some((part, name));
                    true
                }
                (Some(Part::Name(tokens)), Some(text)) if name_matches(tokens, text) => {
                    part += 1;
                    name += 1;
                    true
                }
                (None | Some(Part::Name(_)), _) => false,
            };
            if goes_on {
                continue;
            }
            match back {
                Some((after, from)) if from < names.len() => {
                    part = after;
                    name = from + 1;
                    back = Some((after, from + 1));
                }
                _ => return false,
            }
        }
    }
}

/// Spaces at the end do not count, unless the last of them is escaped.
fn without_trailing_spaces(line: &[u8]) -> &[u8] {
    let mut end = line.len();
    while let Some(head) = line.get(..end).and_then(|head| head.strip_suffix(b" ")) {
        if is_escaped(head) {
            break;
        }
        end = head.len();
    }
    line.get(..end).unwrap_or(line)
}

/// Whether what follows is escaped: an odd number of backslashes stands before it.
fn is_escaped(before: &[u8]) -> bool {
    let slashes = before.iter().rev().take_while(|byte| **byte == b'\\');
    slashes.count() % 2 == 1
}

/// The tokens of a name; none if it can match nothing, as an unclosed set or a backslash at the end.
fn tokens(name: &[u8]) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = name;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        tokens.push(match byte {
            b'*' if tokens.last() == Some(&Token::Any) => continue,
            b'*' => Token::Any,
            b'?' => Token::One,
            b'[' => {
                let (set, after) = set(rest)?;
                rest = after;
                set
            }
            b'\\' => {
                let (escaped, after) = rest.split_first()?;
                rest = after;
                Token::Byte(*escaped)
            }
            byte => Token::Byte(*byte),
        });
    }
    Some(tokens)
}

/// A set without its opening bracket, and what follows it.
fn set(text: &[u8]) -> Option<(Token, &[u8])> {
    let (negated, mut rest) = match text.split_first() {
        Some((b'!' | b'^', rest)) => (true, rest),
        _ => (false, text),
    };
    let mut ranges = Vec::new();
    let mut first = true;
    loop {
        let (byte, after) = rest.split_first()?;
        rest = after;
        match byte {
            b']' if !first => break,
            b'[' if rest.starts_with(b":") => {
                let end = rest.windows(2).position(|pair| pair == b":]")?;
                ranges.extend(class(rest.get(1..end)?)?);
                rest = rest.get(end + 2..)?;
            }
            byte => {
                let low = literal(*byte, &mut rest)?;
                let high = match rest {
                    [b'-', next, ..] if *next != b']' => {
                        let next = *next;
                        rest = rest.get(2..)?;
                        literal(next, &mut rest)?
                    }
                    _ => low,
                };
                ranges.push((low, high));
            }
        }
        first = false;
    }
    Some((Token::Set { negated, ranges }, rest))
}

/// A byte of a set, where a backslash stands for the byte behind it.
fn literal(byte: u8, rest: &mut &[u8]) -> Option<u8> {
    if byte != b'\\' {
        return Some(byte);
    }
    let (escaped, after) = rest.split_first()?;
    *rest = after;
    Some(*escaped)
}

/// What a class such as `[:alpha:]` stands for.
fn class(name: &[u8]) -> Option<Vec<(u8, u8)>> {
    let ranges: &[(u8, u8)] = match name {
        b"alnum" => &[(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')],
        b"alpha" => &[(b'A', b'Z'), (b'a', b'z')],
        b"blank" => &[(b' ', b' '), (b'\t', b'\t')],
        b"cntrl" => &[(0, 31), (127, 127)],
        b"digit" => &[(b'0', b'9')],
        b"graph" => &[(33, 126)],
        b"lower" => &[(b'a', b'z')],
        b"print" => &[(32, 126)],
        b"punct" => &[(33, 47), (58, 64), (91, 96), (123, 126)],
        b"space" => &[(9, 13), (b' ', b' ')],
        b"upper" => &[(b'A', b'Z')],
        b"xdigit" => &[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')],
        _ => return None,
    };
    Some(ranges.to_vec())
}

fn name_matches(tokens: &[Token], text: &[u8]) -> bool {
    let (mut token, mut at) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    loop {
        let goes_on = match (tokens.get(token), text.get(at)) {
            (None, None) => return true,
            (Some(Token::Any), _) => {
                token += 1;
                back = Some((token, at));
                true
            }
            (Some(one), Some(byte)) if one.takes(*byte) => {
                token += 1;
                at += 1;
                true
            }
            (None | Some(_), _) => false,
        };
        if goes_on {
            continue;
        }
        match back {
            Some((after, from)) if from < text.len() => {
                token = after;
                at = from + 1;
                back = Some((after, from + 1));
            }
            _ => return false,
        }
    }
}

impl Token {
    fn takes(&self, byte: u8) -> bool {
        match self {
            Token::Byte(own) => *own == byte,
            Token::One | Token::Any => true,
            Token::Set { negated, ranges } => {
                let inside = ranges
                    .iter()
                    .any(|(low, high)| (*low..=*high).contains(&byte));
                inside != *negated
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        let (path, is_directory) = match path.strip_suffix('/') {
            Some(path) => (path, true),
            None => (path, false),
        };
        let names: Vec<&[u8]> = path.split('/').map(str::as_bytes).collect();
        Pattern::read(pattern.as_bytes()).is_some_and(|it| it.matches(&names, is_directory))
    }

    #[test]
    fn a_name_matches_anywhere_and_a_path_from_where_the_file_stands() {
        for (pattern, path, wanted) in [
            ("a", "x/y/a", true),
            ("/a", "x/a", false),
            ("x/a", "x/a", true),
            ("x/a", "y/x/a", false),
            ("a/", "a", false),
            ("a/", "a/", true),
            ("*.o", "deep/in/a.o", true),
            ("x/*.o", "x/y/a.o", false),
            ("**/a/b", "a/b", true),
            ("**/a/b", "x/y/a/b", true),
            ("a/**", "a", false),
            ("a/**", "a/b/c", true),
            ("a/**/b", "a/b", true),
            ("a/**/b", "a/x/y/b", true),
            ("a**b", "axxb", true),
            ("[a-c]?", "b1", true),
            ("[!a-c]", "b", false),
            ("[]]", "]", true),
            ("[[:digit:]]x", "7x", true),
            ("\\#a", "#a", true),
            ("\\!a", "!a", true),
            ("a\\ ", "a ", true),
            ("a  ", "a", true),
            ("a\\", "a\\", false),
            ("[a", "[a", false),
        ] {
            assert_eq!(matches(pattern, path), wanted, "{pattern} {path}");
        }
        assert!(Pattern::read(b"# no").is_none() && Pattern::read(b"/").is_none());
        assert!(Pattern::read(b"!a").unwrap().takes_back);
    }

    #[test]
    fn many_stars_take_no_time() {
        let pattern = format!("{}b", "a*".repeat(60));
        let path = "a".repeat(4000);
        assert!(!matches(&pattern, &path));
        let pattern = format!("{}b", "**/a/".repeat(60));
        let path = vec!["a"; 2000].join("/");
        assert!(!matches(&pattern, &path));
    }
}
