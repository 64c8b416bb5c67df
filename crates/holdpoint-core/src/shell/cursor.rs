//! A place in the text being read, and the limits on reading it.
//!
//! The cursor hides what bash removes before its grammar sees it: a backslash before a new
//! line disappears between any two characters, so `r\⏎m` and `&\⏎&` need no care elsewhere.
//! It also carries the budgets that make reading end. It knows no grammar.

use std::cell::Cell;
use std::collections::HashMap;

use super::refusal::{Refusal, RefusalReason};
use super::tree::{HereDocument, Part, Span};

/// Longest text read. An agent's longest honest command is a file written by here-document.
pub(super) const MAX_TEXT: usize = 1 << 20;
/// Deepest nesting followed. Real scripts stay below ten.
pub(super) const MAX_DEPTH: usize = 48;
/// Parts, words and commands in one text: what keeps a text of a million semicolons cheap.
pub(super) const MAX_NODES: usize = 60_000;
/// Bytes that may be read a second time because `((` turned out to be a subshell.
pub(super) const MAX_REREAD: usize = 2 << 20;

/// Stands for the end of the text; the text itself holds no NUL.
pub(super) const END: u8 = 0;

/// What is left of the limits, shared by a reader and the readers of texts inside its text.
pub(super) struct Budget {
    nodes: Cell<usize>,
    reread: Cell<usize>,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self {
            nodes: Cell::new(MAX_NODES),
            reread: Cell::new(MAX_REREAD),
        }
    }
}

/// How bytes of the text at hand lie in the text the caller gave.
pub(super) enum Origin {
    /// The same bytes.
    Same,
    /// A copy with some bytes removed.
    Copied(Vec<Stretch>),
}

/// Bytes of a copy that lie together in the caller's text, up to the next stretch.
pub(super) struct Stretch {
    /// Where they begin in the copy.
    local: usize,
    /// Where they begin in the caller's text.
    place: usize,
}

/// A text made of stretches of another.
#[derive(Default)]
pub(super) struct Copy {
    pub(super) text: String,
    pub(super) stretches: Vec<Stretch>,
}

/// A here-document announced on the line being read.
pub(super) struct Announced {
    pub(super) number: usize,
    pub(super) delimiter: String,
    pub(super) quoted: bool,
    pub(super) strip_tabs: bool,
}

/// The here-documents of the script being read.
#[derive(Default)]
pub(super) struct HereDocuments {
    pub(super) announced: Vec<Announced>,
    pub(super) read: Vec<HereDocument>,
}

impl HereDocuments {
    pub(super) fn is_empty(&self) -> bool {
        self.announced.is_empty() && self.read.is_empty()
    }
}

/// Reads one text.
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    pub(super) pos: usize,
    pub(super) origin: Origin,
    pub(super) depth: usize,
    pub(super) budget: &'t Budget,
    pub(super) here: HereDocuments,
    /// How many substitutions of this text enclose the cursor.
    pub(super) enclosing: usize,
    /// Where a `((` was found not to be arithmetic, and where its last parenthesis closes.
    pub(super) not_arithmetic: HashMap<usize, usize>,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str, origin: Origin, depth: usize, budget: &'t Budget) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            pos: 0,
            origin,
            depth,
            budget,
            here: HereDocuments::default(),
            enclosing: 0,
            not_arithmetic: HashMap::new(),
        }
    }

    /// The byte at an index, as written.
    pub(super) fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(END)
    }

    /// The first index from `at` that is not a line continuation.
    pub(super) fn settle(&self, mut at: usize) -> usize {
        while self.byte(at) == b'\\' && self.byte(at + 1) == b'\n' {
            at += 2;
        }
        at
    }

    /// The next byte, line continuations removed.
    pub(super) fn peek(&mut self) -> u8 {
        self.pos = self.settle(self.pos);
        self.byte(self.pos)
    }

    /// The byte after the next, line continuations removed.
    pub(super) fn second(&mut self) -> u8 {
        self.pos = self.settle(self.pos);
        self.byte(self.settle(self.pos + 1))
    }

    /// The byte after the second, line continuations removed.
    pub(super) fn third(&mut self) -> u8 {
        self.pos = self.settle(self.pos);
        let second = self.settle(self.pos + 1);
        self.byte(self.settle(second + 1))
    }

    /// Takes the next byte, and the continuations in front of it.
    pub(super) fn bump(&mut self) {
        self.pos = self.settle(self.pos);
        if self.pos < self.bytes.len() {
            self.pos += 1;
        }
    }

    /// Takes the next byte if it is this one.
    pub(super) fn eat(&mut self, wanted: u8) -> bool {
        let found = self.peek() == wanted;
        if found {
            self.bump();
        }
        found
    }

    /// Takes one character as written, of however many bytes.
    pub(super) fn take_char(&mut self) -> &'t str {
        let start = self.pos;
        self.pos = (start + 1).min(self.bytes.len());
        while self.pos < self.bytes.len() && !self.text.is_char_boundary(self.pos) {
            self.pos += 1;
        }
        self.slice(start, self.pos)
    }

    /// Takes bytes while they satisfy `plain`, which must hold of every byte above ASCII.
    pub(super) fn take_run(&mut self, plain: impl Fn(u8) -> bool) -> &'t str {
        let start = self.pos;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let length = rest.iter().position(|byte| !plain(*byte));
        self.pos = start + length.unwrap_or(rest.len());
        self.slice(start, self.pos)
    }

    /// The text between two indices.
    pub(super) fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Where an index lies in the caller's text.
    pub(super) fn place(&self, at: usize) -> usize {
        match &self.origin {
            Origin::Same => at,
            Origin::Copied(stretches) => {
                let after = stretches.partition_point(|stretch| stretch.local <= at);
                let stretch = after.checked_sub(1).and_then(|last| stretches.get(last));
                stretch.map_or(0, |stretch| stretch.place + (at - stretch.local))
            }
        }
    }

    /// Copies the text between two indices, noting where it came from.
    pub(super) fn copy(&self, from: usize, to: usize, copied: &mut Copy) {
        let mut begin = from;
        if let Origin::Copied(stretches) = &self.origin {
            let next = stretches.partition_point(|stretch| stretch.local <= from);
            let inside = stretches.get(next..).unwrap_or_default().iter();
            for cut in inside
                .map(|stretch| stretch.local)
                .take_while(|cut| *cut < to)
            {
                self.copy_stretch(begin, cut, copied);
                begin = cut;
            }
        }
        self.copy_stretch(begin, to, copied);
    }

    fn copy_stretch(&self, from: usize, to: usize, copied: &mut Copy) {
        let (local, place) = (copied.text.len(), self.place(from));
        let goes_on = copied
            .stretches
            .last()
            .is_some_and(|last| last.place + (local - last.local) == place);
        if !goes_on {
            copied.stretches.push(Stretch { local, place });
        }
        copied.text.push_str(self.slice(from, to));
    }

    /// Where the bytes from `start` to the cursor lie in the caller's text.
    pub(super) fn span_from(&self, start: usize) -> Span {
        let start = start.min(self.pos);
        let end = match self.pos.checked_sub(1) {
            Some(last) if self.pos > start => self.place(last) + 1,
            Some(_) | None => self.place(self.pos),
        };
        self.place(start)..end
    }

    pub(super) fn refuse<T>(&self, reason: RefusalReason) -> Result<T, Refusal> {
        self.refuse_at(reason, self.pos)
    }

    pub(super) fn refuse_at<T>(&self, reason: RefusalReason, at: usize) -> Result<T, Refusal> {
        Err(Refusal {
            reason,
            at: self.place(at),
        })
    }

    /// Refuses what stands at the cursor.
    pub(super) fn unexpected<T>(&mut self) -> Result<T, Refusal> {
        if self.peek() == END {
            return self.refuse(RefusalReason::UnexpectedEnd);
        }
        self.refuse(RefusalReason::UnexpectedToken)
    }

    /// Pays for one node of the tree.
    pub(super) fn pay(&self) -> Result<(), Refusal> {
        match self.budget.nodes.get().checked_sub(1) {
            Some(left) => {
                self.budget.nodes.set(left);
                Ok(())
            }
            None => self.refuse(RefusalReason::TooMuchWork),
        }
    }

    /// Pays for bytes that will be read again.
    pub(super) fn pay_reread(&self, bytes: usize) -> Result<(), Refusal> {
        match self.budget.reread.get().checked_sub(bytes) {
            Some(left) => {
                self.budget.reread.set(left);
                Ok(())
            }
            None => self.refuse(RefusalReason::TooMuchWork),
        }
    }

    /// Reads something one level further down.
    pub(super) fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        if self.depth >= MAX_DEPTH {
            return self.refuse(RefusalReason::TooDeep);
        }
        self.depth += 1;
        let outcome = read(self);
        self.depth -= 1;
        outcome
    }

    /// Adds text to the parts of a word, joining it to text of the same quoting before it.
    pub(super) fn push_text(
        &self,
        parts: &mut Vec<Part>,
        text: &str,
        is_quoted: bool,
    ) -> Result<(), Refusal> {
        if let Some(Part::Literal { text: last, quoted }) = parts.last_mut()
            && *quoted == is_quoted
        {
            last.push_str(text);
            return Ok(());
        }
        self.push(
            parts,
            Part::Literal {
                text: text.to_owned(),
                quoted: is_quoted,
            },
        )
    }

    /// Adds a part.
    pub(super) fn push(&self, parts: &mut Vec<Part>, part: Part) -> Result<(), Refusal> {
        self.pay()?;
        parts.push(part);
        Ok(())
    }
}

/// A byte that ends a word when it is not quoted.
pub(super) fn ends_word(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' | END
    )
}

/// A byte that may begin a variable's name.
pub(super) fn begins_name(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphabetic()
}

/// A byte that may continue a variable's name.
pub(super) fn continues_name(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}
