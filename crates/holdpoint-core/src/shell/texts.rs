//! Words as the program would receive them, as far as that is known without running anything.
//!
//! Promises that a text not marked dynamic is exactly what bash passes on, but for globs,
//! which are marked, and a leading `~`, which stays. What depends on an expansion keeps its
//! source. Values of variables are left to a later stage.

use super::braces::{self, Piece};
use super::commands::Text;
use super::tree::{Part, Span, Word};

/// Longest word whose braces are expanded; each result is a copy.
const LONGEST_BRACED: usize = 4096;

/// A word of a command, with what is needed should the word turn out to be code.
#[derive(Debug, Clone)]
pub(super) struct Argument {
    pub(super) text: Text,
    /// The word after quote removal with its expansions as written, if that differs.
    code: Option<String>,
    /// An expansion in it may become several words, or none.
    pub(super) splits: bool,
}

impl Argument {
    /// A word that is exactly this text.
    pub(super) fn literal(text: &str, span: Span) -> Self {
        Self {
            text: Text {
                text: text.to_owned(),
                dynamic: false,
                glob: false,
                span,
            },
            code: None,
            splits: false,
        }
    }

    /// A word that comes from somewhere else when the command runs.
    pub(super) fn supplied(text: &str, span: Span) -> Self {
        let mut argument = Self::literal(text, span);
        argument.text.dynamic = true;
        argument
    }

    /// The text, if it is known.
    pub(super) fn known(&self) -> Option<&str> {
        (!self.text.dynamic).then_some(self.text.text.as_str())
    }

    /// The word without its quotes, expansions as written.
    pub(super) fn unquoted(&self) -> &str {
        self.code.as_deref().unwrap_or(&self.text.text)
    }

    /// The same word from byte `at` of its unquoted text on.
    pub(super) fn tail(&self, at: usize) -> Self {
        let rest = self.unquoted().get(at..).unwrap_or_default().to_owned();
        let mut tail = self.clone();
        tail.code = self.code.is_some().then(|| rest.clone());
        tail.text.text = rest;
        tail
    }

    /// The same word, filled in when the command runs.
    pub(super) fn made_dynamic(mut self) -> Self {
        self.text.dynamic = true;
        self
    }
}

/// The words one word of a command becomes.
pub(super) fn arguments(word: &Word, source: &str, held: Option<&Span>) -> Vec<Argument> {
    let span = held.unwrap_or(&word.span);
    let braced = word
        .parts
        .iter()
        .any(|part| matches!(part, Part::Brace('{')));
    if !braced {
        return vec![argument(word, source, span)];
    }
    let expanded = if word.span.len() <= LONGEST_BRACED {
        braces::expand(&word.parts)
    } else {
        None
    };
    let Some(words) = expanded else {
        let mut whole = argument(word, source, span);
        whole.text.dynamic = true;
        whole.splits = true;
        return vec![whole];
    };
    if let [_] = words.as_slice() {
        return vec![argument(word, source, span)];
    }
    // A result without any piece is no word at all: `{,a}` is one word.
    words
        .iter()
        .filter(|pieces| !pieces.is_empty())
        .map(|pieces| {
            let mut rendered = Rendered::default();
            for piece in pieces {
                match piece {
                    Piece::Part(part) => rendered.part(part, source, false),
                    Piece::Made(text) => rendered.text.push_str(text),
                }
            }
            let glob = rendered.is_glob();
            Argument {
                text: Text {
                    text: rendered.text,
                    dynamic: rendered.dynamic,
                    glob,
                    span: span.clone(),
                },
                code: None,
                splits: rendered.splits,
            }
        })
        .collect()
}

/// A word that is not subject to brace expansion.
pub(super) fn argument(word: &Word, source: &str, span: &Span) -> Argument {
    let mut rendered = Rendered::default();
    for part in &word.parts {
        rendered.part(part, source, false);
    }
    let glob = rendered.is_glob();
    let (text, code) = if rendered.dynamic {
        let raw = source.get(word.span.clone()).unwrap_or_default();
        (raw.to_owned(), Some(rendered.text))
    } else {
        (rendered.text, None)
    };
    Argument {
        text: Text {
            text,
            dynamic: rendered.dynamic,
            glob,
            span: span.clone(),
        },
        code,
        splits: rendered.splits,
    }
}

/// The text of a here-document, and whether all of it is known.
pub(super) fn document(parts: &[Part], source: &str) -> (String, bool) {
    let mut rendered = Rendered::default();
    for part in parts {
        rendered.part(part, source, true);
    }
    (rendered.text, !rendered.dynamic)
}

#[derive(Default)]
struct Rendered {
    text: String,
    dynamic: bool,
    splits: bool,
    wild: bool,
    bracket: Option<usize>,
}

impl Rendered {
    fn part(&mut self, part: &Part, source: &str, quoted: bool) {
        match part {
            Part::Literal { text, .. }
            | Part::SingleQuoted(text)
            | Part::AnsiQuoted(text)
            | Part::Tilde(text) => self.text.push_str(text),
            Part::DoubleQuoted(parts) | Part::Localized(parts) => {
                for part in parts {
                    self.part(part, source, true);
                }
            }
            Part::Parameter(parameter) => {
                let many = parameter.name == "@" || parameter.operator.contains('@');
                self.expansion(&parameter.span, source, quoted && !many);
            }
            Part::Command(code) => self.expansion(&code.span, source, quoted),
            Part::Process(code) => self.expansion(&code.span, source, true),
            Part::Arithmetic(arithmetic) => self.expansion(&arithmetic.span, source, quoted),
            Part::Glob(sign) => {
                if *sign == '[' {
                    self.bracket.get_or_insert(self.text.len());
                } else {
                    self.wild = true;
                }
                self.text.push(*sign);
            }
            Part::Brace(sign) => self.text.push(*sign),
            Part::Extended(parts) => {
                self.wild = true;
                for part in parts {
                    self.part(part, source, quoted);
                }
            }
            Part::Array(words) => {
                self.dynamic = true;
                self.text.push('(');
                for (at, word) in words.iter().enumerate() {
                    if at > 0 {
                        self.text.push(' ');
                    }
                    for part in &word.parts {
                        self.part(part, source, true);
                    }
                }
                self.text.push(')');
            }
        }
    }

    fn expansion(&mut self, span: &Span, source: &str, whole: bool) {
        self.dynamic = true;
        self.splits |= !whole;
        let raw = source.get(span.clone()).unwrap_or_default();
        self.text.push_str(raw);
    }

    /// A bracket is a pattern only if one closes it: `[` is a program.
    fn is_glob(&self) -> bool {
        let closed = |open: usize| {
            let rest = self.text.get(open + 1..);
            rest.is_some_and(|rest| rest.contains(']'))
        };
        self.wild || self.bracket.is_some_and(closed)
    }
}
