//! Quoted text: `'…'`, `"…"`, `$'…'`, and text that bash treats as if it were quoted.
//!
//! Promises that expansions inside double quotes are found and parsed, and that nothing else
//! inside quotes is. The expansions themselves belong to `expansions`.

use super::cursor::{END, Reader};
use super::refusal::{Refusal, RefusalReason};
use super::tree::Part;

/// What surrounds an expansion, which decides how the quotes inside it read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    /// Nothing.
    Bare,
    /// Double quotes.
    Double,
    /// The body of a here-document: as double quotes, but `"` is an ordinary character.
    Document,
}

impl Reader<'_> {
    /// Reads one quoted or expanding piece of an unquoted word, if one stands here.
    pub(super) fn piece(&mut self, parts: &mut Vec<Part>) -> Result<bool, Refusal> {
        match self.peek() {
            b'\\' => {
                self.pos += 1;
                if self.byte(self.pos) == END {
                    self.push_text(parts, "\\", true)?;
                } else {
                    let escaped = self.take_char();
                    self.push_text(parts, escaped, true)?;
                }
            }
            b'\'' => {
                let text = self.single_quoted()?;
                self.push(parts, Part::SingleQuoted(text))?;
            }
            b'"' => {
                let inside = self.double_quoted()?;
                self.push(parts, Part::DoubleQuoted(inside))?;
            }
            b'$' => self.dollar(parts, Quoting::Bare)?,
            b'`' => self.backquoted(parts, Quoting::Bare)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads `'…'` as written.
    pub(super) fn single_quoted(&mut self) -> Result<String, Refusal> {
        let open = self.pos;
        self.pos += 1;
        let text = self.take_run(|byte| byte != b'\'').to_owned();
        if self.byte(self.pos) == END {
            return self.refuse_at(RefusalReason::UnclosedQuote, open);
        }
        self.pos += 1;
        Ok(text)
    }

    /// Reads `"…"`.
    pub(super) fn double_quoted(&mut self) -> Result<Vec<Part>, Refusal> {
        let open = self.pos;
        self.bump();
        let parts = self.deeper(|inside| inside.expanding_text(Quoting::Double))?;
        if !self.eat(b'"') {
            return self.refuse_at(RefusalReason::UnclosedQuote, open);
        }
        Ok(parts)
    }

    /// Reads text with expansions up to the closing `"`, or to the end of a here-document.
    pub(super) fn expanding_text(&mut self, quoting: Quoting) -> Result<Vec<Part>, Refusal> {
        let mut parts = Vec::new();
        loop {
            match self.peek() {
                END => return Ok(parts),
                b'"' if quoting == Quoting::Double => return Ok(parts),
                b'"' => {
                    self.pos += 1;
                    self.push_text(&mut parts, "\"", true)?;
                }
                b'\\' => {
                    self.pos += 1;
                    match self.byte(self.pos) {
                        b'$' | b'`' | b'\\' => {}
                        b'"' if quoting == Quoting::Double => {}
                        _ => {
                            self.push_text(&mut parts, "\\", true)?;
                            continue;
                        }
                    }
                    let escaped = self.take_char();
                    self.push_text(&mut parts, escaped, true)?;
                }
                b'$' => self.dollar(&mut parts, quoting)?,
                b'`' => self.backquoted(&mut parts, quoting)?,
                _ => {
                    let run = self.take_run(|byte| !matches!(byte, b'"' | b'\\' | b'$' | b'`'));
                    self.push_text(&mut parts, run, true)?;
                }
            }
        }
    }

    /// Reads `'…'` where bash pairs the quotes and still expands what stands between them:
    /// in arithmetic, and in `${x:-'…'}` inside double quotes.
    pub(super) fn paired_quotes(
        &mut self,
        parts: &mut Vec<Part>,
        quoting: Quoting,
    ) -> Result<(), Refusal> {
        let open = self.pos;
        let mut close = open + 1;
        while self.byte(close) != b'\'' {
            if self.byte(close) == END {
                return self.refuse_at(RefusalReason::UnclosedQuote, open);
            }
            close += 1;
        }
        self.pos += 1;
        self.push_text(parts, "'", true)?;
        while self.pos < close {
            match self.byte(self.pos) {
                b'$' => self.dollar(parts, quoting)?,
                b'`' => self.backquoted(parts, quoting)?,
                _ => {
                    let text = self.take_char();
                    self.push_text(parts, text, true)?;
                }
            }
        }
        // An expansion that reaches over the closing quote is read differently by bash when it
        // looks for the end and when it expands.
        if self.pos != close {
            return self.refuse_at(RefusalReason::UnknownExpansion, open);
        }
        self.pos += 1;
        self.push_text(parts, "'", true)
    }

    /// Reads `$'…'`, the cursor on the quote, and decodes it.
    pub(super) fn ansi_quoted(&mut self) -> Result<String, Refusal> {
        let open = self.pos;
        self.pos += 1;
        let mut decoded = Vec::new();
        // bash builds a C string: what follows a NUL inside the quotes is lost.
        let mut cut = None;
        loop {
            match self.byte(self.pos) {
                END => return self.refuse_at(RefusalReason::UnclosedQuote, open),
                b'\'' => break,
                b'\\' => {
                    self.pos += 1;
                    let before = decoded.len();
                    self.ansi_escape(&mut decoded);
                    let ends = decoded.get(before..).is_some_and(|new| new.contains(&0));
                    if ends && cut.is_none() {
                        cut = Some(before);
                    }
                }
                _ => decoded.extend_from_slice(self.take_char().as_bytes()),
            }
        }
        self.pos += 1;
        decoded.truncate(cut.unwrap_or(decoded.len()));
        Ok(String::from_utf8_lossy(&decoded).into_owned())
    }

    /// Decodes one escape of `$'…'`, the cursor after the backslash.
    fn ansi_escape(&mut self, decoded: &mut Vec<u8>) {
        let letter = self.byte(self.pos);
        let single = match letter {
            b'a' => 0x07,
            b'b' => 0x08,
            b'e' | b'E' => 0x1b,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            b'\\' | b'\'' | b'"' | b'?' => letter,
            b'0'..=b'7' => {
                let value = self.digits(8, 3).unwrap_or_default();
                decoded.push(value.to_le_bytes()[0]);
                return;
            }
            b'x' => {
                self.pos += 1;
                let braced = self.byte(self.pos) == b'{';
                self.pos += usize::from(braced);
                match self.digits(16, if braced { 8 } else { 2 }) {
                    Some(value) => decoded.push(value.to_le_bytes()[0]),
                    None => decoded.extend_from_slice(b"\\x"),
                }
                if braced && self.byte(self.pos) == b'}' {
                    self.pos += 1;
                }
                return;
            }
            b'u' | b'U' => {
                self.pos += 1;
                match self.digits(16, if letter == b'u' { 4 } else { 8 }) {
                    Some(value) => {
                        let letter = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
                        decoded.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                    None => decoded.extend_from_slice(&[b'\\', letter]),
                }
                return;
            }
            b'c' if self.byte(self.pos + 1) != END => {
                self.pos += 1;
                let control = self.byte(self.pos);
                // `\c\\` is control-backslash, written with two of them.
                if control == b'\\' && self.byte(self.pos + 1) == b'\\' {
                    self.pos += 1;
                }
                control.to_ascii_uppercase() & 0x1f
            }
            END => return,
            _ => {
                decoded.push(b'\\');
                decoded.extend_from_slice(self.take_char().as_bytes());
                return;
            }
        };
        decoded.push(single);
        self.take_char();
    }

    /// Reads up to `most` digits; `None` if there is none.
    fn digits(&mut self, radix: u32, most: usize) -> Option<u32> {
        let mut value = None;
        for _ in 0..most {
            let Some(digit) = char::from(self.byte(self.pos)).to_digit(radix) else {
                break;
            };
            value = Some(
                value
                    .unwrap_or(0u32)
                    .wrapping_mul(radix)
                    .wrapping_add(digit),
            );
            self.pos += 1;
        }
        value
    }
}
