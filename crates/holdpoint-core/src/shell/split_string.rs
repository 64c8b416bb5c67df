//! `env -S`: one word that becomes several, by rules of env's own.
//!
//! Promises the words env would make of it, and of everything behind it, read once more as its own
//! arguments. A word with a variable in it is dynamic; what env refuses is marked.

use super::commands::Wrapping;
use super::refusal::Refusal;
use super::texts::Argument;
use super::tree::Span;
use super::unwrapping::Unwrapped;
use crate::opaque::Reason;

impl Unwrapped<'_, '_> {
    /// Lists what `env -S` starts; says whether there is such an option.
    pub(super) fn split_string(&mut self) -> Result<bool, Refusal> {
        let Some((text, place)) = option(self.words) else {
            return Ok(false);
        };
        let code = text.unquoted().to_owned();
        if text.text.dynamic {
            self.mark(Reason::DynamicCode);
        }
        let Some(made) = split(&code, &text.text.span) else {
            // env stops at what it cannot split, or this reader is wrong about it.
            self.mark(Reason::DynamicCode);
            return Ok(true);
        };
        let mut words: Vec<Argument> = self.words.first().cloned().into_iter().collect();
        words.extend(made);
        words.extend_from_slice(self.rest(place));
        self.starts(Wrapping::Incidental, Vec::new(), words)?;
        Ok(true)
    }
}

/// The value of the option, and where the words behind it begin.
fn option(words: &[Argument]) -> Option<(Argument, usize)> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let text = word.unquoted();
        at += 1;
        if let Some(long) = text.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, _)) => (name, Some(name.len() + 3)),
                None => (long, None),
            };
            if name.is_empty() {
                return None;
            }
            if "split-string".starts_with(name) {
                return match value {
                    Some(from) => Some((word.tail(from), at)),
                    None => Some((words.get(at)?.clone(), at + 1)),
                };
            }
            let valued = ["unset", "chdir", "argv0"];
            let takes = valued.iter().any(|one| one.starts_with(name));
            at += usize::from(takes && value.is_none());
            continue;
        }
        let letters = text.strip_prefix('-')?;
        for (place, letter) in letters.char_indices() {
            let rest = place + 2;
            match letter {
                'S' if rest < text.len() => return Some((word.tail(rest), at)),
                'S' => return Some((words.get(at)?.clone(), at + 1)),
                'u' | 'C' | 'P' | 'a' => {
                    at += usize::from(rest == text.len());
                    break;
                }
                _ => {}
            }
        }
    }
    None
}

/// The words a text becomes; none if env refuses it.
fn split(text: &str, span: &Span) -> Option<Vec<Argument>> {
    let mut words = Vec::new();
    let mut current: Option<Word> = None;
    let mut letters = text.chars().peekable();
    let mut quote: Option<char> = None;
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\'' | '"', None) => {
                quote = Some(letter);
                current.get_or_insert_default();
            }
            (end, Some(open)) if end == open => quote = None,
            ('\\', Some('\'')) => {
                let word = current.get_or_insert_default();
                match letters.peek().copied() {
                    Some(escaped @ ('\'' | '\\')) => {
                        letters.next();
                        word.text.push(escaped);
                    }
                    _ => word.text.push('\\'),
                }
            }
            ('\\', _) => match letters.next()? {
                // The rest of the text is left out.
                'c' if quote.is_none() => break,
                '_' if quote.is_none() => words.extend(current.take()),
                escaped => {
                    let meant = match escaped {
                        '_' => ' ',
                        'f' => '\u{c}',
                        'n' => '\n',
                        'r' => '\r',
                        't' => '\t',
                        'v' => '\u{b}',
                        '"' | '#' | '$' | '\'' | '\\' => escaped,
                        _ => return None,
                    };
                    current.get_or_insert_default().text.push(meant);
                }
            },
            ('$', None | Some('"')) => {
                let word = current.get_or_insert_default();
                word.dynamic = true;
                word.text.push('$');
            }
            ('#', None) if current.is_none() => break,
            (blank, None) if blank.is_ascii_whitespace() || blank == '\u{b}' => {
                words.extend(current.take());
            }
            (letter, _) => current.get_or_insert_default().text.push(letter),
        }
    }
    if quote.is_some() {
        return None;
    }
    words.extend(current);
    let argument = |word: Word| match word.dynamic {
        true => Argument::supplied(&word.text, span.clone()),
        false => Argument::literal(&word.text, span.clone()),
    };
    Some(words.into_iter().map(argument).collect())
}

/// A word that is being made.
#[derive(Default)]
struct Word {
    text: String,
    /// A variable stands in it.
    dynamic: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Option<Vec<String>> {
        let words = split(text, &(0..0))?;
        Some(
            words
                .iter()
                .map(|word| word.unquoted().to_owned())
                .collect(),
        )
    }

    #[test]
    fn words_are_split_as_env_does() {
        let cases: &[(&str, &[&str])] = &[
            ("rm -rf", &["rm", "-rf"]),
            (" a\tb\n c ", &["a", "b", "c"]),
            ("a 'b c' \"d e\"f", &["a", "b c", "d ef"]),
            (r"a\_b", &["a", "b"]),
            (r#""a\_b""#, &["a b"]),
            (r"'a\_b' 'c\'d'", &[r"a\_b", "c'd"]),
            (r"a b\c d", &["a", "b"]),
            ("a #b c", &["a"]),
            ("a b#c", &["a", "b#c"]),
            ("''", &[""]),
            ("", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(
                words(text).as_deref(),
                Some(*expected)
                    .map(|one| one
                        .iter()
                        .map(|word| (*word).to_owned())
                        .collect::<Vec<_>>())
                    .as_deref(),
                "{text}"
            );
        }
        assert_eq!(words("'a"), None);
        assert_eq!(words(r"a\q"), None);
    }
}
