//! Reads document text into nodes.

use super::fault::Fault;
use super::node::{Entry, Node, Span, Step, Value, position};
use super::quote::{cite, looks_secret, quote};
use std::borrow::Cow;

/// How deep arrays and objects may be nested in a document.
pub const MAX_DEPTH: usize = 64;

/// Reads a whole document.
pub(super) fn parse(text: &str) -> Result<Node<'_>, Fault> {
    let mut reader = Reader {
        text,
        at: 0,
        open: Vec::new(),
        path: Vec::new(),
    };
    if let Some(at) = text.bytes().position(|byte| byte == 0) {
        return Err(Fault::from_sentence("the document holds a NUL byte")
            .with_hint("save the file as UTF-8 text")
            .at(Span::empty(at)));
    }
    reader.skip_blanks()?;
    if reader.peek().is_none() {
        return Err(Fault::from_sentence("the document is empty")
            .with_hint("write `{}` for a document without settings")
            .at(Span::empty(0)));
    }
    let root = reader.value()?;
    reader.skip_blanks()?;
    if reader.peek().is_some() {
        return Err(reader
            .unseen("there is text after the end of the document")
            .with_hint("remove it, or check for a bracket closed too early"));
    }
    Ok(root)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Where the brackets still open were opened, outermost first.
    open: Vec<usize>,
    /// The way to the value being read. A step stays until the separator after its
    /// value, so that stray text behind a secret counts as part of it.
    path: Vec<Step<'a>>,
}

impl<'a> Reader<'a> {
    fn value(&mut self) -> Result<Node<'a>, Fault> {
        let start = self.at;
        let value = match self.peek() {
            None => return Err(self.ended()),
            Some(b'{') => self.object()?,
            Some(b'[') => self.array()?,
            Some(b'"') => Value::Text(self.string()?),
            Some(_) => self.keyword()?,
        };
        let end = self.at;
        Ok(Node {
            span: Span { start, end },
            value,
        })
    }

    fn array(&mut self) -> Result<Value<'a>, Fault> {
        self.enter()?;
        let mut items = Vec::new();
        loop {
            self.skip_blanks()?;
            match self.peek() {
                None => return Err(self.ended()),
                Some(b']') => break,
                Some(_) => {}
            }
            self.path.push(Step::Index(items.len()));
            items.push(self.value()?);
            self.separator(b']', "expected `,` or `]`")?;
            self.path.pop();
        }
        self.leave();
        Ok(Value::Array(items))
    }

    fn object(&mut self) -> Result<Value<'a>, Fault> {
        self.enter()?;
        let mut entries = Vec::new();
        loop {
            self.skip_blanks()?;
            match self.peek() {
                None => return Err(self.ended()),
                Some(b'}') => break,
                Some(b'"') => {}
                Some(_) => return Err(self.not_a_key(entries.last())),
            }
            let start = self.at;
            let key = self.string()?;
            let end = self.at;
            self.path.push(Step::Key(key.clone()));
            self.skip_blanks()?;
            match self.peek() {
                None => return Err(self.ended()),
                Some(b':') => self.at += 1,
                Some(_) => {
                    let problem = format!("key {} needs a `:` and a value", cite(&quote(&key)));
                    return Err(self.fault(problem));
                }
            }
            self.skip_blanks()?;
            entries.push(Entry {
                key,
                key_span: Span { start, end },
                value: self.value()?,
            });
            self.separator(b'}', "expected `,` or `}`")?;
            self.path.pop();
        }
        self.leave();
        self.refuse_repeated_keys(&entries)?;
        Ok(Value::Object(entries))
    }

    /// Compares keys as they are meant, so an escape does not hide a repetition.
    fn refuse_repeated_keys(&self, entries: &[Entry<'a>]) -> Result<(), Fault> {
        let mut keys: Vec<(&str, usize)> = entries
            .iter()
            .map(|entry| (entry.key.as_ref(), entry.key_span.start))
            .collect();
        keys.sort_unstable();
        let repeated = keys
            .windows(2)
            .filter_map(|pair| match pair {
                [(first, _), (second, at)] if first == second => Some(*at),
                _ => None,
            })
            .min();
        let Some(entry) = entries
            .iter()
            .find(|entry| Some(entry.key_span.start) == repeated)
        else {
            return Ok(());
        };
        let fault =
            Fault::from_sentence(format!("key {} is written twice", cite(&quote(&entry.key))))
                .with_hint("keep one")
                .at_key(entry)
                .within(Step::Key(entry.key.clone()));
        Err(self.within_path(fault))
    }

    fn enter(&mut self) -> Result<(), Fault> {
        if self.open.len() >= MAX_DEPTH {
            return Err(self
                .unseen(format!(
                    "the document is nested deeper than {MAX_DEPTH} levels"
                ))
                .with_hint("remove levels"));
        }
        self.open.push(self.at);
        self.at += 1;
        Ok(())
    }

    fn leave(&mut self) {
        self.open.pop();
        self.at += 1;
    }

    /// Takes the comma after an entry, or stops before the closing bracket.
    fn separator(&mut self, close: u8, expected: &'static str) -> Result<(), Fault> {
        self.skip_blanks()?;
        match self.peek() {
            None => Err(self.ended()),
            Some(b',') => {
                self.at += 1;
                Ok(())
            }
            Some(byte) if byte == close => Ok(()),
            Some(b']' | b'}') => Err(self.fault(expected).with_hint(self.still_open())),
            Some(_) => Err(self
                .fault(expected)
                .with_hint("put a `,` between two entries")),
        }
    }

    /// Reads a string. The reader stands on the opening quote.
    fn string(&mut self) -> Result<Cow<'a, str>, Fault> {
        let start = self.at;
        self.at += 1;
        let mut decoded: Option<String> = None;
        loop {
            let from = self.at;
            let ordinary = self
                .rest()
                .bytes()
                .position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f));
            let Some(ordinary) = ordinary else {
                self.at = self.text.len();
                let closers = self.closers();
                return Err(self
                    .unseen(format!(
                        "the document ends inside the string opened at {}",
                        self.place(start)
                    ))
                    .with_hint(format!("add `\"{closers}`")));
            };
            self.at += ordinary;
            let text = self.text;
            let run = text.get(from..self.at).unwrap_or_default();
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(match decoded {
                        None => Cow::Borrowed(run),
                        Some(decoded) => Cow::Owned(decoded + run),
                    });
                }
                Some(b'\\') => {
                    let decoded = decoded.get_or_insert_default();
                    decoded.push_str(run);
                    decoded.push(self.escape()?);
                }
                Some(b'\n' | b'\r') => {
                    return Err(self
                        .unseen("a string cannot run over the end of its line")
                        .with_hint("close it with `\"`, or write `\\n` for a line break"));
                }
                other => {
                    let code = other.unwrap_or_default();
                    return Err(self
                        .unseen("a string cannot hold a bare control character")
                        .with_hint(format!("write it as `\\u{code:04x}`")));
                }
            }
        }
    }

    /// Reads one escape. The reader stands on the backslash.
    fn escape(&mut self) -> Result<char, Fault> {
        let start = self.at;
        self.at += 1;
        let plain = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.code_unit_escape(start),
            Some(_) | None => {
                return Err(self
                    .bad_escape(start, "this escape does not exist in JSON")
                    .with_hint("write `\\\\` for a backslash"));
            }
        };
        self.at += 1;
        Ok(plain)
    }

    /// Reads `uXXXX`, and the second half when the first is half of a pair.
    fn code_unit_escape(&mut self, start: usize) -> Result<char, Fault> {
        self.at += 1;
        let first = self.hex_digits(start)?;
        let code = match first {
            0xD800..=0xDBFF if self.rest().starts_with("\\u") => {
                self.at += 2;
                let second = self.hex_digits(start)?;
                second
                    .checked_sub(0xDC00)
                    .filter(|low| *low < 0x400)
                    .map_or(first, |low| 0x10000 + ((first - 0xD800) << 10) + low)
            }
            _ => first,
        };
        char::from_u32(code).ok_or_else(|| {
            self.bad_escape(start, "this escape is half of a pair")
                .with_hint("write both halves, such as `\\ud83d\\ude00`, or the character itself")
        })
    }

    fn hex_digits(&mut self, start: usize) -> Result<u32, Fault> {
        let digits = self.text.get(self.at..self.at + 4).unwrap_or_default();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(self
                .bad_escape(start, "`\\u` needs four hexadecimal digits")
                .with_hint("write it as in `\\u00e9`"));
        }
        self.at += 4;
        u32::from_str_radix(digits, 16)
            .map_err(|_| self.bad_escape(start, "`\\u` needs four hexadecimal digits"))
    }

    /// Reads `true`, `false`, `null` or a number; anything else is not a value.
    fn keyword(&mut self) -> Result<Value<'a>, Fault> {
        let span = self.token();
        let text = self.text;
        let word = span.slice(text);
        let value = match word {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            number if is_number(number) => Value::Number(number),
            other => return Err(self.not_a_value(other)),
        };
        self.at = span.end;
        Ok(value)
    }

    fn not_a_value(&self, word: &str) -> Fault {
        let digits = word.trim_start_matches(['+', '-', '.']);
        if digits.starts_with(|c: char| c.is_ascii_digit()) {
            return self
                .fault("this is not a number")
                .with_hint(number_hint(word));
        }
        let fault = self.fault("expected a value");
        match word {
            "]" | "}" if !self.open.is_empty() => fault.with_hint(self.still_open()),
            "'" => self
                .unseen("a string is written in double quotes")
                .with_hint("replace `'` with `\"`"),
            "“" | "”" | "„" => fault.with_hint("replace the curly quotes with `\"`"),
            "," => fault.with_hint("remove the `,` or write a value before it"),
            ":" => fault.with_hint("a `:` stands only between a key and its value"),
            "/" => fault.with_hint("a comment starts with `//` or `/*`"),
            _ => match word.to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" => fault.with_hint("did you mean `true`?"),
                "false" | "no" | "off" => fault.with_hint("did you mean `false`?"),
                "null" | "none" | "nil" | "undefined" => fault.with_hint("did you mean `null`?"),
                _ => fault.with_hint(self.stray_hint(word)),
            },
        }
    }

    fn not_a_key(&self, previous: Option<&Entry<'_>>) -> Fault {
        if previous.is_some_and(|entry| looks_secret(&entry.key)) {
            // A quote inside a secret ends it early, and this is the rest of it.
            return self
                .unseen("expected a key")
                .with_hint("check the quotes of the value before it");
        }
        let word = self.token().slice(self.text);
        let fault = self.fault("expected a key");
        match word {
            "]" => fault.with_hint(self.still_open()),
            "'" => self
                .unseen("a key is written in double quotes")
                .with_hint("replace `'` with `\"`"),
            "“" | "”" | "„" => fault.with_hint("replace the curly quotes with `\"`"),
            "," => fault.with_hint("remove the `,`"),
            _ if word.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$')) => self
                .fault("a key is written in double quotes")
                .with_hint(format!("write {}", cite(&quote(&format!("\"{word}\""))))),
            _ => fault.with_hint(self.stray_hint(word)),
        }
    }

    fn stray_hint(&self, word: &str) -> &'static str {
        if word.starts_with(|c: char| c.is_whitespace() || c == '\u{feff}') {
            "replace this character with a plain space"
        } else if word.starts_with(char::is_control) {
            "remove this control character"
        } else {
            "write text in double quotes"
        }
    }

    fn skip_blanks(&mut self) -> Result<(), Fault> {
        loop {
            let rest = self.rest();
            let blanks = rest
                .bytes()
                .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
            let blanks = blanks.count();
            if blanks > 0 {
                self.at += blanks;
            } else if rest.starts_with("//") {
                self.at += rest.find(['\n', '\r']).unwrap_or(rest.len());
            } else if let Some(body) = rest.strip_prefix("/*") {
                match body.find("*/") {
                    Some(length) => self.at += length + 4,
                    None => {
                        let start = self.place(self.at);
                        self.at = self.text.len();
                        return Err(self
                            .unseen(format!(
                                "the document ends inside the comment opened at {start}"
                            ))
                            .with_hint("add `*/`"));
                    }
                }
            } else {
                return Ok(());
            }
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The stretch from here that an author would see as one thing.
    fn token(&self) -> Span {
        let rest = self.rest();
        let length = match self.peek() {
            Some(b'"') => {
                let mut shown = rest.char_indices().skip(1).take(SHOWN_STRING);
                match shown.find(|(_, c)| matches!(c, '"' | '\n' | '\r')) {
                    Some((end, '"')) => end + 1,
                    Some((end, _)) => end,
                    None => rest
                        .char_indices()
                        .nth(SHOWN_STRING)
                        .map_or(rest.len(), |(end, _)| end),
                }
            }
            Some(byte) if is_word_byte(byte) => {
                rest.bytes().take_while(|b| is_word_byte(*b)).count()
            }
            Some(_) | None => rest.chars().next().map_or(0, char::len_utf8),
        };
        Span {
            start: self.at,
            end: self.at + length,
        }
    }

    /// A problem with the text that starts here.
    fn fault(&self, problem: impl Into<String>) -> Fault {
        self.within_path(Fault::from_sentence(problem).showing().at(self.token()))
    }

    /// A problem at this point, without repeating what stands here.
    fn unseen(&self, problem: impl Into<String>) -> Fault {
        self.within_path(Fault::from_sentence(problem).at(Span::empty(self.at)))
    }

    fn bad_escape(&self, start: usize, problem: &'static str) -> Fault {
        let next = self.rest().chars().next().map_or(0, char::len_utf8);
        let span = Span {
            start,
            end: self.at + next,
        };
        self.within_path(Fault::from_sentence(problem).showing().at(span))
    }

    fn ended(&self) -> Fault {
        let Some(&start) = self.open.last() else {
            return self.unseen("the document ends too early");
        };
        let kind = match self.text.as_bytes().get(start) {
            Some(b'[') => "array",
            Some(_) | None => "object",
        };
        self.unseen(format!(
            "the document ends inside the {kind} opened at {}",
            self.place(start)
        ))
        .with_hint(format!("add `{}`", self.closers()))
    }

    /// The brackets that would close everything still open.
    fn closers(&self) -> String {
        let opened = self.open.iter().rev();
        opened
            .map(|start| match self.text.as_bytes().get(*start) {
                Some(b'[') => ']',
                Some(_) | None => '}',
            })
            .collect()
    }

    fn still_open(&self) -> String {
        let Some(&start) = self.open.last() else {
            return "remove it".to_owned();
        };
        let bracket = Span {
            start,
            end: start + 1,
        }
        .slice(self.text);
        format!(
            "the `{bracket}` opened at {} is not closed yet",
            self.place(start)
        )
    }

    fn place(&self, offset: usize) -> String {
        let (line, column) = position(self.text, offset);
        format!("line {line}, column {column}")
    }

    fn within_path(&self, fault: Fault) -> Fault {
        let steps = self.path.iter().rev();
        steps.fold(fault, |fault, step| fault.within(step.clone()))
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.' | b'+' | b'-')
}

/// Whether the text is a number as JSON writes it.
fn is_number(text: &str) -> bool {
    let (whole, rest) = digits(text.strip_prefix('-').unwrap_or(text));
    if whole.is_empty() || (whole.len() > 1 && whole.starts_with('0')) {
        return false;
    }
    let rest = match rest.strip_prefix('.').map(digits) {
        Some(("", _)) => return false,
        Some((_, rest)) => rest,
        None => rest,
    };
    match rest.strip_prefix(['e', 'E']) {
        Some(exponent) => {
            let (exponent, rest) = digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent));
            !exponent.is_empty() && rest.is_empty()
        }
        None => rest.is_empty(),
    }
}

/// The digits at the start of the text, and what follows.
fn digits(text: &str) -> (&str, &str) {
    let count = text.bytes().take_while(u8::is_ascii_digit).count();
    text.split_at_checked(count).unwrap_or((text, ""))
}

fn number_hint(word: &str) -> &'static str {
    let unsigned = word.trim_start_matches(['+', '-']);
    if word.starts_with('+') {
        "remove the `+`"
    } else if unsigned.starts_with('.') {
        "write a digit before the `.`"
    } else if unsigned.starts_with("0x") || unsigned.starts_with("0X") {
        "write it in decimal digits"
    } else if digits(unsigned).1.is_empty() && unsigned.starts_with('0') {
        "remove the leading zero"
    } else if word.ends_with('.') {
        "write a digit after the `.`"
    } else {
        "write a number such as `30` or `1.5`, or put text in double quotes"
    }
}

/// How many characters of a string are looked at when it is only to be shown.
const SHOWN_STRING: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_json() {
        for number in [
            "0", "-0", "7", "10", "-1.5", "1e3", "1E+3", "0.0e-0", "1.25e10",
        ] {
            assert!(is_number(number), "{number}");
        }
        for word in [
            "", "-", "01", "-01", "+1", ".5", "1.", "1.e3", "1e", "1e+", "0x1", "1_000", "1-2",
            "1.2.3", "NaN", "Infinity",
        ] {
            assert!(!is_number(word), "{word}");
        }
    }
}
