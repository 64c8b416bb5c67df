//! Here-documents: found on one line, read after its end.
//!
//! Promises that a body ends at the line where bash ends it. A body whose delimiter was
//! quoted is data; any other is text whose substitutions are code.

use super::cursor::{Announced, Copy, END, Origin, Reader};
use super::quotes::Quoting;
use super::refusal::{Refusal, RefusalReason};
use super::tree::{HereDocument, Part, Span, Word};

impl Reader<'_> {
    /// Notes a here-document whose body follows the end of this line. Returns its number.
    pub(super) fn announce(&mut self, word: &Word, strip_tabs: bool) -> Result<usize, Refusal> {
        let mut delimiter = String::new();
        let mut quoted = false;
        for part in &word.parts {
            match part {
                Part::Literal { text, quoted: q } => {
                    delimiter.push_str(text);
                    quoted |= q;
                }
                Part::SingleQuoted(text) => {
                    delimiter.push_str(text);
                    quoted = true;
                }
                Part::DoubleQuoted(inside) => {
                    quoted = true;
                    for part in inside {
                        let Part::Literal { text, .. } = part else {
                            return self.refuse(RefusalReason::UnknownDelimiter);
                        };
                        delimiter.push_str(text);
                    }
                }
                Part::Glob(sign) | Part::Brace(sign) => delimiter.push(*sign),
                Part::Tilde(text) => delimiter.push_str(text),
                Part::AnsiQuoted(_)
                | Part::Localized(_)
                | Part::Parameter(_)
                | Part::Command(_)
                | Part::Process(_)
                | Part::Arithmetic(_)
                | Part::Extended(_)
                | Part::Array(_) => return self.refuse(RefusalReason::UnknownDelimiter),
            }
        }
        // No line equals a delimiter of two lines, and shells differ on what happens then.
        if delimiter.contains('\n') {
            return self.refuse(RefusalReason::UnknownDelimiter);
        }
        let number = self.here.read.len();
        self.here.read.push(HereDocument::default());
        self.here.announced.push(Announced {
            number,
            delimiter,
            quoted,
            strip_tabs,
        });
        Ok(number)
    }

    /// Takes a line's end and the bodies that follow it.
    pub(super) fn end_line(&mut self) -> Result<(), Refusal> {
        self.bump();
        for announced in std::mem::take(&mut self.here.announced) {
            let number = announced.number;
            let document = self.body(&announced)?;
            if let Some(place) = self.here.read.get_mut(number) {
                *place = document;
            }
        }
        Ok(())
    }

    /// Whether a here-document may be announced between an index and the cursor.
    pub(super) fn mentions_document(&self, start: usize) -> bool {
        let text = self.slice(start, self.pos).replace("\\\n", "");
        text.contains("<<") && text.replace("<<<", "").contains("<<")
    }

    fn body(&mut self, announced: &Announced) -> Result<HereDocument, Refusal> {
        let start = self.pos;
        let as_written = announced.quoted && !announced.strip_tabs && self.enclosing == 0;
        if as_written && matches!(self.origin, Origin::Same) {
            return Ok(self.quoted_body(announced));
        }
        let mut end = start;
        let mut body = Copy::default();
        while self.byte(self.pos) != END {
            let from = self.pos;
            let line = self.body_line(announced, &mut body);
            let text = body.text.get(line.start..).unwrap_or_default();
            let content = text.strip_suffix('\n').unwrap_or(text);
            if content == announced.delimiter {
                body.text.truncate(line.start);
                break;
            }
            if let Some(rest) = content.strip_prefix(announced.delimiter.as_str())
                && self.enclosing > 0
                && rest.contains(')')
            {
                // Inside a substitution bash also ends the body at `EOF)`.
                if !rest.starts_with(')') || announced.delimiter.contains(')') {
                    return self.refuse_at(RefusalReason::UnclosedHereDoc, from);
                }
                self.pos = from;
                while self.byte(self.pos) != b')' {
                    self.pos += 1;
                }
                body.text.truncate(line.start);
                break;
            }
            end = self.pos;
        }
        let span = self.place(start)..self.place(end);
        let parts = if announced.quoted {
            vec![Part::Literal {
                text: body.text,
                quoted: true,
            }]
        } else {
            self.deeper(|outer| {
                let origin = Origin::Copied(body.stretches);
                Reader::new(&body.text, origin, outer.depth, outer.budget)
                    .expanding_text(Quoting::Document)
            })?
        };
        Ok(HereDocument {
            quoted: announced.quoted,
            parts,
            span,
        })
    }

    /// A body that is data to its last letter, as files written by agents are: it is copied as a
    /// whole. What it is to be, [`Self::body`] finds line by line.
    fn quoted_body(&mut self, announced: &Announced) -> HereDocument {
        let start = self.pos;
        let rest = self.slice(start, self.bytes.len());
        let closing = closing_line(rest, &announced.delimiter);
        let end = start + closing.start;
        self.pos = start + closing.end;
        HereDocument {
            quoted: true,
            parts: vec![Part::Literal {
                text: self.slice(start, end).to_owned(),
                quoted: true,
            }],
            span: self.place(start)..self.place(end),
        }
    }

    /// Adds one line to a body and returns where it stands there. Unless the body is quoted,
    /// a backslash joins the next line.
    fn body_line(&mut self, announced: &Announced, body: &mut Copy) -> Span {
        let start = body.text.len();
        if announced.strip_tabs {
            self.take_run(|byte| byte == b'\t');
        }
        loop {
            let from = self.pos;
            if announced.quoted {
                let rest = self.slice(from, self.bytes.len());
                self.pos = from + rest.find('\n').unwrap_or(rest.len());
            } else {
                self.take_run(|byte| byte != b'\n' && byte != b'\\');
            }
            let backslash = self.pos;
            if self.byte(backslash) == b'\n' {
                self.pos += 1;
                self.copy(from, self.pos, body);
                break;
            }
            self.copy(from, backslash, body);
            match (self.byte(backslash), self.byte(backslash + 1)) {
                (END, _) => break,
                (_, b'\n') => self.pos += 2,
                _ => {
                    self.pos += 1;
                    self.take_char();
                    self.copy(backslash, self.pos, body);
                }
            }
        }
        start..body.text.len()
    }
}

/// Where in a text the line stands that is a delimiter and nothing else, its end included; at the end if
/// there is none. A delimiter has no line's end in it.
fn closing_line(text: &str, delimiter: &str) -> Span {
    let bytes = text.as_bytes();
    let is_line = |at: &usize| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        let behind = bytes.get(at + delimiter.len());
        matches!(before, None | Some(b'\n')) && matches!(behind, None | Some(b'\n'))
    };
    let mut found = text.match_indices(delimiter).map(|(at, _)| at);
    // What is not there is no line: an empty delimiter is not found behind the last one.
    let line = found.find(|at| *at < bytes.len() && is_line(at));
    line.map_or(bytes.len()..bytes.len(), |at| {
        at..bytes.len().min(at + delimiter.len() + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::super::reader::read;
    use proptest::prelude::*;

    proptest! {
        /// `<<-` is read line by line, and where no line begins with a tab says the same.
        #[test]
        fn a_quoted_body_is_the_same_as_a_whole_and_line_by_line(
            lines in prop::collection::vec("[aE \\\\$é]{0,4}", 0..6),
            ends in any::<bool>(),
        ) {
            let body = lines.join("\n");
            let end = if ends { "\nE\necho x" } else { "" };
            let whole = read(&format!("cat <<'E'\n{body}{end}"));
            let by_lines = read(&format!("cat <<-'E'\n{body}{end}"));
            let documents = |script: super::super::tree::Script| -> Vec<_> {
                let here = script.here_documents.into_iter();
                here.map(|one| (one.parts, one.span.len())).collect()
            };
            prop_assert_eq!(whole.map(documents).ok(), by_lines.map(documents).ok());
        }
    }
}
