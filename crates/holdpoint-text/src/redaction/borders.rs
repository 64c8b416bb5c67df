//! Where a word begins and ends in text that may be escaped.

/// Whether no letter or digit stands right before `at`, or only one that belongs to an escape:
/// `\n`, `%22`, `\u0022`, `\x1b[0m`.
pub(crate) fn starts_word(bytes: &[u8], at: usize) -> bool {
    let back = |count: usize| {
        at.checked_sub(count)
            .and_then(|index| bytes.get(index).copied())
    };
    let Some(before) = back(1) else { return true };
    if !before.is_ascii_alphanumeric() {
        return true;
    }
    let hex = |count: usize| back(count).is_some_and(|byte| byte.is_ascii_hexdigit());
    if back(2) == Some(b'\\') && b"nrtbfv0ae".contains(&before) {
        return true;
    }
    if back(3) == Some(b'%') && hex(1) && hex(2) {
        return true;
    }
    if back(4) == Some(b'\\') && back(3) == Some(b'x') && hex(1) && hex(2) {
        return true;
    }
    if back(6) == Some(b'\\') && back(5) == Some(b'u') && (1..=4).all(hex) {
        return true;
    }
    before == b'm' && ends_colour(bytes, at)
}

/// Whether a terminal's colour sequence ends right before `at`.
fn ends_colour(bytes: &[u8], at: usize) -> bool {
    let start = at.saturating_sub(12);
    let Some(behind) = bytes.get(start..at.saturating_sub(1)) else {
        return false;
    };
    let inside = behind
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b';')
        .count();
    behind
        .len()
        .checked_sub(inside + 1)
        .and_then(|index| behind.get(index))
        == Some(&b'[')
}

/// Whether no letter or digit stands at `at`.
pub(crate) fn ends_word(bytes: &[u8], at: usize) -> bool {
    bytes
        .get(at)
        .is_none_or(|byte| !byte.is_ascii_alphanumeric())
}

/// A quotation mark as it stands in text: how many bytes it has, how many of them are
/// backslashes, and which mark it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quote {
    pub(crate) length: usize,
    backslashes: usize,
    mark: Mark,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Byte(u8),
    /// `%22`, `%27`, `&quot;` and their like.
    Written(&'static [u8]),
}

const WRITTEN: [&[u8]; 5] = [b"%22", b"%27", b"&quot;", b"&#34;", b"&#39;"];

impl Quote {
    /// The quotation mark that stands at `at`.
    pub(crate) fn at(bytes: &[u8], at: usize) -> Option<Self> {
        let rest = bytes.get(at..)?;
        let backslashes = rest
            .iter()
            .take(8)
            .take_while(|byte| **byte == b'\\')
            .count();
        if let Some(mark @ (b'"' | b'\'' | b'`')) = rest.get(backslashes) {
            return Some(Self {
                length: backslashes + 1,
                backslashes,
                mark: Mark::Byte(*mark),
            });
        }
        if rest.starts_with(b"\\u0022") || rest.starts_with(b"\\u0027") {
            let mark: &[u8] = if rest.starts_with(b"\\u0022") {
                b"\\u0022"
            } else {
                b"\\u0027"
            };
            return Some(Self {
                length: 6,
                backslashes: 0,
                mark: Mark::Written(mark),
            });
        }
        let written = WRITTEN.into_iter().find(|mark| rest.starts_with(mark))?;
        Some(Self {
            length: written.len(),
            backslashes: 0,
            mark: Mark::Written(written),
        })
    }

    /// Where the text it opens at `from` ends, looking at most `limit` bytes far and not past the
    /// line.
    pub(crate) fn closes(&self, bytes: &[u8], from: usize, limit: usize) -> Option<usize> {
        let rest = bytes.get(from..)?;
        let mut backslashes = 0usize;
        for (at, byte) in rest.iter().take(limit).enumerate() {
            match (self.mark, *byte) {
                (_, b'\n') => return None,
                (Mark::Byte(mark), byte) if byte == mark => {
                    // Of the backslashes beyond its own, pairs stand for themselves; one more
                    // makes the mark a part of the text.
                    let own = self.backslashes;
                    let beyond = backslashes.saturating_sub(own) / (own + 1);
                    if beyond.is_multiple_of(2) {
                        return Some(from + at - backslashes.min(own));
                    }
                    backslashes = 0;
                }
                (Mark::Byte(_), b'\\') => backslashes += 1,
                (Mark::Byte(_), _) => backslashes = 0,
                (Mark::Written(mark), _) => {
                    if rest.get(at..).is_some_and(|rest| rest.starts_with(mark)) {
                        return Some(from + at);
                    }
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_starts_behind_escapes() {
        for text in [
            "", "a ", "\\n", "%22", "%3D", "\\u0022", "\x1b[31m", "\\x1b[0m", "é", "_",
        ] {
            assert!(starts_word(text.as_bytes(), text.len()), "{text}");
        }
        for text in ["a", "9", "xm", "22", "u0022"] {
            assert!(!starts_word(text.as_bytes(), text.len()), "{text}");
        }
    }

    #[test]
    fn a_quote_closes_at_its_own_level() {
        let close = |text: &str| {
            let quote = Quote::at(text.as_bytes(), 0).unwrap();
            quote.closes(text.as_bytes(), quote.length, 100)
        };
        assert_eq!(close(r#""ab" c"#), Some(3));
        assert_eq!(close(r#""a\"b""#), Some(5));
        assert_eq!(close(r#"\"ab\","#), Some(4));
        assert_eq!(close(r#"\"a\\\"b\","#), Some(8));
        assert_eq!(close(r#""a\\" b""#), Some(4));
        assert_eq!(close("%22ab%22"), Some(5));
        assert_eq!(close("'ab"), None);
        assert_eq!(close("'a\nb'"), None);
    }
}
