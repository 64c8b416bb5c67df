//! What a text says once its disguises are taken off, with the way back to where it stands.
//!
//! The first view is the whole text in its normal form: compatibility forms, look-alikes, invisible
//! characters, character references and terminal sequences are resolved in place. Further views are
//! the parts that were encoded or rearranged, each decoded, to a fixpoint. Time and memory are linear
//! in the text whatever it holds: a budget bounds the views, a depth their nesting.

mod alike;
mod entities;
mod lexicon;
mod marks;
mod pieces;
mod plain;
mod prose;
mod scripts;
mod styled;
mod survey;
mod terminal;
mod undo;
mod unseen;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use marks::Marks;
use pieces::{Finished, Pieces};
use survey::Survey;

/// A way of hiding text or of dressing it up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Disguise {
    /// Zero-width and other format characters.
    ZeroWidth,
    /// Characters that turn the direction of text.
    Bidi,
    /// Tag characters, which no screen shows.
    Tags,
    /// Variation selectors that carry bytes.
    Selectors,
    /// Accents heaped on letters.
    Combining,
    /// Letters of other scripts that look like these.
    Lookalike,
    /// Mathematical, full-width, circled and other styled letters.
    Styled,
    /// Digits and signs in place of letters.
    Leet,
    /// Letters set apart.
    Spaced,
    /// Character references of HTML.
    Entity,
    /// A comment or element of HTML or Markdown that is not shown.
    Markup,
    /// `\x41`, `\u0041` and the like.
    Escape,
    /// `%41`.
    Percent,
    /// Base64 and base32.
    Base64,
    /// Digits of base 16, 10, 8 or 2.
    Hex,
    /// Letters moved on by some places, or read backwards.
    Cipher,
    /// Sequences with which a terminal conceals, erases or moves, or sets the clipboard.
    Terminal,
    /// Sequences that set a terminal's title or make a link.
    TerminalTitle,
    /// Sequences that colour letters. Never a mark of a [`Reading`]: half of all program output has them.
    Colour,
    /// NUL and other control characters.
    Control,
    /// A form feed, which old source files have between their parts.
    FormFeed,
    /// A sentence broken over lines, strings or fields.
    Split,
}

/// A set of disguises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disguises(u32);

impl Disguises {
    /// The set with one more.
    #[must_use]
    pub fn with(self, disguise: Disguise) -> Self {
        Self(self.0 | 1 << disguise as u32)
    }

    /// What is in either of two sets.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether one is in the set.
    pub fn has(self, disguise: Disguise) -> bool {
        self.0 & (1 << disguise as u32) != 0
    }

    /// Whether somebody took trouble to keep the text from being read. Character references, escapes
    /// and comments are everywhere.
    pub fn are_deliberate(self) -> bool {
        DELIBERATE.iter().any(|it| self.has(*it))
    }

    /// Whether nobody can see the text at all.
    pub fn are_invisible(self) -> bool {
        INVISIBLE.iter().any(|it| self.has(*it))
    }

    /// Whether the text was not disguised.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

const DELIBERATE: &[Disguise] = &[
    Disguise::ZeroWidth,
    Disguise::Bidi,
    Disguise::Tags,
    Disguise::Selectors,
    Disguise::Combining,
    Disguise::Lookalike,
    Disguise::Styled,
    Disguise::Leet,
    Disguise::Spaced,
    Disguise::Base64,
    Disguise::Hex,
    Disguise::Cipher,
];

const INVISIBLE: &[Disguise] = &[Disguise::ZeroWidth, Disguise::Tags, Disguise::Selectors];

/// Something odd that was met on the way, whatever the text says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// What it is.
    pub disguise: Disguise,
    /// Where it stands in the text.
    pub span: Range<usize>,
    /// How often it was met there: characters, sequences, words or encoded passages.
    pub count: usize,
}

/// One way to read a text, or a part of it.
#[derive(Clone, Debug)]
pub struct View<'t> {
    /// What it says.
    pub text: Cow<'t, str>,
    /// The disguises that were taken off to get at this view at all; none for the whole text.
    pub disguises: Disguises,
    map: Map,
}

impl View<'_> {
    /// Where a part of the view stands in the text.
    pub fn original(&self, part: Range<usize>) -> Range<usize> {
        match &self.map {
            Map::Same => part,
            Map::Pieces(pieces) => pieces.original(part),
        }
    }

    /// The disguises that were taken off to read this part of the view.
    pub fn disguises_of(&self, part: Range<usize>) -> Disguises {
        match &self.map {
            Map::Same => self.disguises,
            Map::Pieces(pieces) => self.disguises.and(pieces.disguises(part)),
        }
    }
}

/// From offsets in a view to offsets in the text.
#[derive(Clone, Debug)]
enum Map {
    /// They are the same.
    Same,
    /// They are told piece by piece.
    Pieces(Arc<Pieces>),
}

/// A text as it reads: the first view is the whole of it.
#[derive(Debug)]
pub struct Reading<'t> {
    /// The ways to read it.
    pub views: Vec<View<'t>>,
    /// What was met on the way.
    pub marks: Vec<Mark>,
}

/// Reads a block of text in every way that makes sense of it.
pub fn read(text: &str) -> Reading<'_> {
    let mut marks = Marks::merged();
    let mut budget = Budget::for_text(text);
    let mut views = Vec::new();
    let mut layers = Vec::new();
    let whole = Layer {
        text: Cow::Borrowed(text),
        disguises: Disguises::default(),
        map: Map::Same,
        depth: 0,
    };
    views.push(whole.read(&mut budget, &mut marks, &mut layers));
    // Innermost first would starve what stands in the open: one depth after the other.
    let mut next = 0;
    while next < layers.len() {
        let Some(layer) = layers.get_mut(next).and_then(Option::take) else {
            break;
        };
        views.push(layer.read(&mut budget, &mut marks, &mut layers));
        next += 1;
    }
    Reading {
        views,
        marks: marks.finish(),
    }
}

/// Every character nobody sees and every sequence a terminal acts on, one by one: what may be taken
/// out of a text without loss to its reader. Characters that ordinary writing needs are not among
/// them, and colours are told apart ([`Disguise::Colour`]).
pub fn unseen(text: &str) -> Vec<Mark> {
    let mut marks = Marks::single();
    if survey::needs_cleaning(text) {
        plain::plain(text, &mut marks, 0);
    }
    let mut found = marks.finish();
    found.retain(|mark| {
        matches!(
            mark.disguise,
            Disguise::ZeroWidth
                | Disguise::Bidi
                | Disguise::Tags
                | Disguise::Selectors
                | Disguise::Control
                | Disguise::Terminal
                | Disguise::TerminalTitle
                | Disguise::Colour
        )
    });
    found
}

/// Whether a character is one nobody sees.
pub(crate) fn is_unseen(c: char) -> bool {
    unseen::unseen(c).is_some()
}

/// How deep encodings are followed into each other.
const MAX_DEPTH: u8 = 5;

/// How much may still be decoded.
struct Budget {
    bytes: usize,
    views: usize,
}

impl Budget {
    fn for_text(text: &str) -> Self {
        Self {
            bytes: text.len().saturating_mul(3).saturating_add(64 << 10),
            views: 63,
        }
    }
}

/// A text that was decoded and is to be read in its turn.
struct Layer<'t> {
    text: Cow<'t, str>,
    disguises: Disguises,
    map: Map,
    depth: u8,
}

impl<'t> Layer<'t> {
    /// Its view; what is hidden in it becomes further layers.
    fn read(
        self,
        budget: &mut Budget,
        marks: &mut Marks,
        layers: &mut Vec<Option<Layer<'static>>>,
    ) -> View<'t> {
        let depth = self.depth;
        let cleaned = self.cleaned(budget, marks, layers);
        if depth < MAX_DEPTH {
            let below = cleaned.pieces();
            for (disguise, draft) in undo::all(&cleaned.text, &cleaned.survey, budget.bytes) {
                let made = draft.finish(below.clone());
                for segment in &made.told {
                    marks.add(disguise, made.pieces.original(segment.clone()), 1);
                }
                cleaned
                    .disguises
                    .add_layer(disguise, made, depth, budget, layers);
            }
        }
        View {
            text: cleaned.text,
            disguises: cleaned.disguises,
            map: cleaned.map,
        }
    }

    /// The text in its normal form. What invisible characters carry becomes layers of its own.
    fn cleaned(
        self,
        budget: &mut Budget,
        marks: &mut Marks,
        layers: &mut Vec<Option<Layer<'static>>>,
    ) -> Cleaned<'t> {
        if !survey::needs_cleaning(&self.text) {
            return Cleaned {
                survey: Survey::read(&self.text),
                text: self.text,
                disguises: self.disguises,
                map: self.map,
            };
        }
        let mut inner = Marks::merged();
        let marks = if self.depth == 0 { marks } else { &mut inner };
        let below = pieces_of(&self.map);
        let read = plain::plain(&self.text, marks, budget.bytes);
        if self.depth < MAX_DEPTH {
            for (disguise, draft) in read.carried {
                if !draft.is_empty() {
                    let made = draft.finish(below.clone());
                    self.disguises
                        .add_layer(disguise, made, self.depth, budget, layers);
                }
            }
        }
        let has_lookalikes = read.has_lookalikes;
        let replaced = read.draft.replaced().map(|draft| draft.finish(below));
        let (mut text, mut map) = match replaced {
            Some(made) => (Cow::Owned(made.text), Map::Pieces(made.pieces)),
            None => (self.text, self.map),
        };
        if has_lookalikes && let Some(made) = alike::folded(&text, pieces_of(&map), marks) {
            text = Cow::Owned(made.text);
            map = Map::Pieces(made.pieces);
        }
        Cleaned {
            survey: Survey::read(&text),
            text,
            disguises: self.disguises,
            map,
        }
    }
}

/// A text in its normal form and what is worth a closer look in it.
struct Cleaned<'t> {
    text: Cow<'t, str>,
    disguises: Disguises,
    map: Map,
    survey: Survey,
}

impl Cleaned<'_> {
    fn pieces(&self) -> Option<Arc<Pieces>> {
        pieces_of(&self.map)
    }
}

fn pieces_of(map: &Map) -> Option<Arc<Pieces>> {
    match map {
        Map::Same => None,
        Map::Pieces(pieces) => Some(pieces.clone()),
    }
}

impl Disguises {
    /// Puts what was under one more disguise among the layers, as far as there is room.
    fn add_layer(
        self,
        disguise: Disguise,
        made: Finished,
        depth: u8,
        budget: &mut Budget,
        layers: &mut Vec<Option<Layer<'static>>>,
    ) {
        if made.text.len() > budget.bytes || budget.views == 0 {
            return;
        }
        budget.bytes -= made.text.len();
        budget.views -= 1;
        layers.push(Some(Layer {
            text: Cow::Owned(made.text),
            disguises: self.with(disguise),
            map: Map::Pieces(made.pieces),
            depth: depth + 1,
        }));
    }
}
