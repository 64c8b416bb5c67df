//! What an expression is known to be.

use super::Operand;

/// The value of an expression, as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(Operand),
    Number(u32),
    Flag(bool),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
    /// A module, class or function by its full name: `os.path`, `child_process.exec`.
    Name(String),
    /// An object of a class whose methods are in the table, and the text it was made of.
    Made(&'static str, Box<Value>),
    /// A method of some value.
    Method(Box<Value>, String),
    /// One of these.
    Any(Vec<Value>),
    /// A function written in the code itself, whose body is read where it stands.
    Function,
    Unknown,
}

/// Longest dotted name worth following.
const MAX_NAME: usize = 200;
/// Most values one variable of a loop may stand for.
const MAX_ALTERNATIVES: usize = 64;

impl Value {
    pub(super) fn known(text: impl Into<String>) -> Self {
        Value::Text(Operand::Known(text.into()))
    }

    /// The text, where all of it is known.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Value::Text(Operand::Known(text)) => Some(text),
            Value::Made(_, inner) => inner.text(),
            Value::Text(Operand::Unknown | Operand::Starts(_))
            | Value::Number(_)
            | Value::Flag(_)
            | Value::List(_)
            | Value::Map(_)
            | Value::Name(_)
            | Value::Method(..)
            | Value::Any(_)
            | Value::Function
            | Value::Unknown => None,
        }
    }

    /// What a deed is done to: one operand for each value this may be or holds.
    pub(super) fn operands(&self) -> Vec<Operand> {
        match self {
            Value::Text(operand) => vec![operand.clone()],
            Value::Made(_, inner) => inner.operands(),
            Value::Any(values) | Value::List(values) => {
                values.iter().flat_map(Value::operands).collect()
            }
            Value::Number(number) => vec![Operand::Known(number.to_string())],
            Value::Flag(_)
            | Value::Map(_)
            | Value::Name(_)
            | Value::Method(..)
            | Value::Function
            | Value::Unknown => vec![Operand::Unknown],
        }
    }

    /// The one operand this is.
    pub(super) fn operand(&self) -> Operand {
        match self {
            Value::Text(operand) => operand.clone(),
            Value::Made(_, inner) => inner.operand(),
            Value::Number(number) => Operand::Known(number.to_string()),
            Value::Flag(_)
            | Value::List(_)
            | Value::Map(_)
            | Value::Name(_)
            | Value::Method(..)
            | Value::Any(_)
            | Value::Function
            | Value::Unknown => Operand::Unknown,
        }
    }

    /// The member of a value.
    pub(super) fn member(self, name: &str) -> Value {
        match self {
            Value::Name(mut full) if full.len() + name.len() < MAX_NAME => {
                full.push('.');
                full.push_str(name);
                Value::Name(full)
            }
            Value::Name(_) | Value::Function | Value::Method(..) => {
                Value::Method(Box::new(Value::Unknown), name.to_owned())
            }
            Value::Map(pairs) => pairs
                .into_iter()
                .find(|(key, _)| key == name)
                .map_or(Value::Unknown, |(_, value)| value),
            Value::Text(_)
            | Value::Number(_)
            | Value::Flag(_)
            | Value::List(_)
            | Value::Made(..)
            | Value::Any(_)
            | Value::Unknown => Value::Method(Box::new(self), name.to_owned()),
        }
    }

    /// What a loop over this value gives its variable.
    pub(super) fn each(self) -> Value {
        match self {
            Value::List(values) if values.len() <= MAX_ALTERNATIVES => Value::Any(values),
            Value::List(_)
            | Value::Text(_)
            | Value::Number(_)
            | Value::Flag(_)
            | Value::Map(_)
            | Value::Name(_)
            | Value::Made(..)
            | Value::Method(..)
            | Value::Any(_)
            | Value::Function
            | Value::Unknown => Value::Unknown,
        }
    }

    /// What copying this costs.
    pub(super) fn size(&self) -> usize {
        match self {
            Value::Text(Operand::Known(text) | Operand::Starts(text)) | Value::Name(text) => {
                text.len() + 16
            }
            Value::Method(inner, name) => inner.size() + name.len(),
            Value::Made(_, inner) => inner.size() + 16,
            Value::List(values) | Value::Any(values) => {
                16 + values.iter().map(Value::size).sum::<usize>()
            }
            Value::Map(pairs) => {
                16 + pairs
                    .iter()
                    .map(|(key, value)| key.len() + value.size())
                    .sum::<usize>()
            }
            Value::Text(Operand::Unknown)
            | Value::Number(_)
            | Value::Flag(_)
            | Value::Function
            | Value::Unknown => 16,
        }
    }
}

/// Two values joined: texts, lists, numbers.
pub(super) fn joined(left: Value, right: Value) -> Value {
    match (left, right) {
        (Value::Text(left), right) => Value::Text(text_joined(left, right.operand())),
        (Value::Number(left), Value::Number(right)) => left
            .checked_add(right)
            .map_or(Value::Unknown, Value::Number),
        (left @ Value::Number(_), Value::Text(right)) => {
            Value::Text(text_joined(left.operand(), right))
        }
        (Value::List(mut left), Value::List(right)) => {
            left.extend(right);
            Value::List(left)
        }
        (Value::List(mut left), _) => {
            left.push(Value::Unknown);
            Value::List(left)
        }
        (_, _) => Value::Unknown,
    }
}

/// Text followed by text.
pub(super) fn text_joined(left: Operand, right: Operand) -> Operand {
    match (left, right) {
        (Operand::Known(mut left), Operand::Known(right)) => {
            left.push_str(&right);
            Operand::Known(left)
        }
        (Operand::Known(mut left), Operand::Starts(right)) => {
            left.push_str(&right);
            Operand::Starts(left)
        }
        (Operand::Known(left), Operand::Unknown) if left.is_empty() => Operand::Unknown,
        (Operand::Known(left), Operand::Unknown) => Operand::Starts(left),
        (Operand::Starts(left), _) => Operand::Starts(left),
        (Operand::Unknown, _) => Operand::Unknown,
    }
}
