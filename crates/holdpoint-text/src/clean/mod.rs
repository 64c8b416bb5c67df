//! Text without what was found in it.
//!
//! `remove`, `redact` and `escape` take out what [`Terms`] find, again and again until nothing is
//! left to find; a text in which nothing was found stays as it is, and cleaning twice is cleaning
//! once. `strip` takes out what nobody sees and what terminals act on, and looks for nothing else.
//! `fence` takes out nothing and puts the text between two lines nobody can have guessed.

mod admission;
mod extent;
mod fence;
mod json;
mod mode;
mod passes;
mod strip;
mod wording;

use std::collections::BTreeMap;

use super::Origin;
use super::inspection::{Family, Inspection, Terms};

pub use admission::{Admitted, AdmittedJson};
pub use json::CleanedJson;
pub use mode::{Mode, UnknownMode};
pub use strip::strip;
pub use wording::{note, replacement};

/// A text after cleaning.
#[derive(Clone, Debug, PartialEq)]
pub struct Cleaned {
    /// What is left of it.
    pub text: String,
    /// What was found in it before.
    pub inspection: Inspection,
    /// How many pieces of which kind were taken out.
    pub removed: BTreeMap<Family, usize>,
}

/// Cleans a text.
pub fn clean(text: &str, origin: Origin, mode: Mode, terms: &Terms) -> Cleaned {
    Cleaner::new(terms, mode).text(text, origin)
}

/// How texts are cleaned.
#[derive(Clone, Copy, Debug)]
pub struct Cleaner<'t> {
    terms: &'t Terms,
    mode: Mode,
    collapse: bool,
}

impl<'t> Cleaner<'t> {
    /// Cleans what the terms find in the given way. White space stays as it is.
    pub fn new(terms: &'t Terms, mode: Mode) -> Self {
        Self {
            terms,
            mode,
            collapse: false,
        }
    }

    /// Makes a single space of every run of white space, too, as Obra does (O-05). Code does not
    /// survive that.
    #[must_use]
    pub fn collapsing_white_space(mut self) -> Self {
        self.collapse = true;
        self
    }

    /// The text without what was found in it.
    pub fn text(&self, text: &str, origin: Origin) -> Cleaned {
        let (mut texts, inspection, removed) = self.texts(vec![text.to_owned()], origin);
        Cleaned {
            text: texts.pop().unwrap_or_default(),
            inspection,
            removed,
        }
    }

    /// Texts that belong together, each without what was found in it.
    fn texts(
        &self,
        texts: Vec<String>,
        origin: Origin,
    ) -> (Vec<String>, Inspection, BTreeMap<Family, usize>) {
        let mut removed = BTreeMap::new();
        let (mut texts, inspection) = match self.mode {
            Mode::Remove | Mode::Redact | Mode::Escape => {
                passes::clean(self.terms, self.mode, texts, origin, &mut removed)
            }
            Mode::Strip => {
                let stripped = texts.iter().map(|text| {
                    let (text, taken) = strip::strip_counted(text);
                    for (family, count) in taken {
                        *removed.entry(family).or_default() += count;
                    }
                    text.into_owned()
                });
                (stripped.collect(), Inspection::default())
            }
            Mode::Fence(secret) => {
                let fenced = texts.iter().map(|text| fence::fence(text, origin, &secret));
                (fenced.collect(), Inspection::default())
            }
        };
        if self.collapse {
            for text in &mut texts {
                *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            }
        }
        (texts, inspection, removed)
    }
}
