//! What a command reads on its standard input, as far as the text tells.

use std::rc::Rc;

use super::environment::Origin;

/// What a command reads.
#[derive(Debug, Clone)]
pub(super) enum Input {
    /// Whatever the shell itself reads.
    Inherited,
    /// Nothing.
    Empty,
    /// This text.
    Known(Rc<str>),
    /// A pipe or a file whose content is not in the text.
    Unknown(Origin),
}

impl Input {
    /// A known text.
    pub(super) fn text(text: &str) -> Self {
        Input::Known(Rc::from(text))
    }

    /// Where it comes from, if it is not known.
    pub(super) fn origin(&self) -> Option<Origin> {
        match self {
            Input::Unknown(origin) => Some(*origin),
            Input::Inherited | Input::Empty | Input::Known(_) => None,
        }
    }
}
