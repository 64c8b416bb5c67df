//! What an expression is known to be.

use super::Operand;
use super::carried::{self, Carried};

/// The value of an expression, as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(Operand),
    Number(i64),
    Flag(bool),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
    /// A module, class or function by its full name: `os.path`, `child_process.exec`.
    Name(String),
    /// An object of a class whose methods are in the table, and the text it was made of.
    Made(&'static str, Box<Value>),
    /// A method of some value.
    Method(Box<Value>, String),
    /// A text of which this much is known, and what of this machine's it holds.
    Held(Operand, Vec<Carried>),
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
            | Value::Held(..)
            | Value::Method(..)
            | Value::Any(_)
            | Value::Function
            | Value::Unknown => None,
        }
    }

    /// What a effect is done to: one operand for each value this may be or holds.
    pub(super) fn operands(&self) -> Vec<Operand> {
        match self {
            Value::Text(operand) => vec![operand.clone()],
            Value::Made(_, inner) => inner.operands(),
            Value::Any(values) | Value::List(values) => {
                values.iter().flat_map(Value::operands).collect()
            }
            Value::Number(number) => vec![Operand::Known(number.to_string())],
            Value::Held(text, _) => vec![text.clone()],
            Value::Name(name) => vec![carried::foretold(name).unwrap_or(Operand::Unknown)],
            Value::Flag(_)
            | Value::Map(_)
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
            Value::Held(text, _) => text.clone(),
            Value::Name(name) => carried::foretold(name).unwrap_or(Operand::Unknown),
            Value::Flag(_)
            | Value::List(_)
            | Value::Map(_)
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
            // `client.containers.prune`: the way from an object that the table knows.
            Value::Method(object, way)
                if matches!(&*object, Value::Made(class, _) if *class != "Path")
                    && way.len() + name.len() < MAX_NAME =>
            {
                Value::Method(object, format!("{way}.{name}"))
            }
            Value::Name(_) | Value::Function | Value::Method(..) => {
                Value::Method(Box::new(Value::Unknown), name.to_owned())
            }
            Value::Made("Account", _) if name == "pw_dir" => Value::known("~"),
            Value::Map(pairs) => pairs
                .into_iter()
                .find(|(key, _)| key == name)
                .map_or(Value::Unknown, |(_, value)| value),
            Value::Text(_)
            | Value::Number(_)
            | Value::Flag(_)
            | Value::List(_)
            | Value::Made(..)
            | Value::Held(..)
            | Value::Any(_)
            | Value::Unknown => Value::Method(Box::new(self), name.to_owned()),
        }
    }

    /// What a loop over this value gives its variable.
    pub(super) fn each(self) -> Value {
        match self {
            Value::List(values) if values.len() <= MAX_ALTERNATIVES => {
                match <[Value; 1]>::try_from(values) {
                    Ok([only]) => only,
                    Err(values) => Value::Any(values),
                }
            }
            // The objects an object of the table gives one by one.
            Value::Made(class, inner) if class != "Path" => Value::Made(class, inner),
            Value::Held(_, all) => Value::Held(Operand::Unknown, all),
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
            Value::Held(text, all) => {
                16 + text.size() + all.iter().map(Carried::size).sum::<usize>()
            }
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
        (Value::Text(left), right) => carried::joined(left, Vec::new(), &right),
        (Value::Held(left, all), right) => carried::joined(left, all, &right),
        (Value::Name(name), right) if carried::named(&name).is_some() => {
            let left = carried::foretold(&name).unwrap_or(Operand::Unknown);
            carried::joined(left, carried::held(&Value::Name(name)), &right)
        }
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
