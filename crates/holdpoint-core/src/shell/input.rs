//! What a command reads on its standard input, as far as the text tells.

use std::rc::Rc;
use std::sync::Arc;

use super::environment::{Origin, Partial, Value};

/// What a command reads.
#[derive(Debug, Clone)]
pub(super) enum Input {
    /// Whatever the shell itself reads.
    Inherited,
    /// Nothing.
    Empty,
    /// This text.
    Known(Arc<str>),
    /// A text of which not all is known.
    Partly(Rc<Partial>),
    /// A pipe or a file whose content is not in the text.
    Unknown(Origin),
}

impl Input {
    /// A known text.
    pub(super) fn text(text: &str) -> Self {
        Input::Known(Arc::from(text))
    }

    /// What a word or a variable holds, as something to read.
    pub(super) fn from_value(value: &Value) -> Self {
        match value {
            Value::Known(text) => Input::Known(Arc::clone(text)),
            Value::Partly(partial) => Input::Partly(Rc::clone(partial)),
            Value::Unknown(origin) => Input::Unknown(*origin),
            Value::Pattern(_) | Value::List(_) | Value::Unset => Input::Unknown(Origin::Elsewhere),
        }
    }

    /// The same, if anything is there to read at all.
    pub(super) fn if_any(self) -> Self {
        match self {
            Input::Known(text) if !text.is_empty() => {
                Input::from_value(&Value::partly(Origin::Elsewhere, &text, None))
            }
            Input::Partly(partial) => Input::Partly(partial.changed()),
            Input::Inherited | Input::Empty | Input::Known(_) | Input::Unknown(_) => self,
        }
    }

    /// What a variable holds that is given a part of it nobody knows.
    pub(super) fn unknown_value(&self) -> Value {
        match self {
            Input::Partly(partial) => Value::partly(partial.origin, &partial.written, None),
            Input::Unknown(origin) => Value::Unknown(*origin),
            Input::Inherited | Input::Empty | Input::Known(_) => Value::Unknown(Origin::Elsewhere),
        }
    }

    /// Where it comes from, if it is not known.
    pub(super) fn origin(&self) -> Option<Origin> {
        match self {
            Input::Partly(partial) => Some(partial.origin),
            Input::Unknown(origin) => Some(*origin),
            Input::Inherited | Input::Empty | Input::Known(_) => None,
        }
    }
}
