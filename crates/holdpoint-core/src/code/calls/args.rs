//! The arguments of a call, by place and by name.

use crate::code::Operand;
use crate::code::tables::Parameter;
use crate::code::values::Value;

static UNKNOWN: Value = Value::Unknown;

/// The arguments of a call.
#[derive(Default)]
pub(in crate::code) struct Args {
    pub(in crate::code) list: Vec<Value>,
    pub(in crate::code) named: Vec<(String, Value)>,
    /// More arguments than are listed may stand here.
    pub(in crate::code) open: bool,
    /// The program in front of Perl's `system { … } …`.
    pub(in crate::code) indirect: Option<Box<Value>>,
    /// How the function is called, for rows that stand for many.
    pub(in crate::code) called: String,
}

impl Args {
    pub(in crate::code) fn one(value: Value) -> Self {
        Self {
            list: vec![value],
            ..Self::default()
        }
    }

    /// Arguments of a call that is not seen.
    pub(in crate::code) fn unknown() -> Self {
        Self {
            open: true,
            ..Self::default()
        }
    }

    pub(in crate::code) fn at(&self, place: Parameter) -> Option<&Value> {
        self.list
            .get(place.0)
            .or_else(|| self.named(place.1))
            .or(self.open.then_some(&UNKNOWN))
    }

    pub(super) fn named(&self, name: &str) -> Option<&Value> {
        self.named
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }

    /// An option, given by name or in a map among the arguments.
    pub(in crate::code) fn option(&self, name: &str) -> Option<&Value> {
        self.named(name)
            .or_else(|| {
                self.list.iter().find_map(|value| match value {
                    Value::Map(pairs) => pairs
                        .iter()
                        .find(|(key, _)| key == name)
                        .map(|(_, value)| value),
                    Value::Text(_)
                    | Value::Number(_)
                    | Value::Flag(_)
                    | Value::List(_)
                    | Value::Name(_)
                    | Value::Made(..)
                    | Value::Held(..)
                    | Value::Method(..)
                    | Value::Any(_)
                    | Value::Function
                    | Value::Unknown => None,
                })
            })
            .or(self.open.then_some(&UNKNOWN))
    }

    /// An option that is given, rather than one that could be.
    pub(in crate::code) fn named_option(&self, name: &str) -> Option<&Value> {
        self.option(name)
            .filter(|value| !std::ptr::eq(*value, &UNKNOWN))
    }

    /// Whether an option is on, or could be.
    pub(in crate::code) fn may_be_on(&self, name: &str) -> bool {
        self.option(name)
            .is_some_and(|value| !matches!(value, Value::Flag(false) | Value::Number(0)))
    }

    pub(super) fn from(&self, start: usize) -> &[Value] {
        self.list.get(start..).unwrap_or(&[])
    }

    /// The operands from one on, all alternatives and lists taken apart.
    pub(super) fn operands_from(&self, start: usize) -> Vec<Operand> {
        let mut operands: Vec<Operand> = self
            .from(start)
            .iter()
            .filter(|value| !matches!(value, Value::Map(_) | Value::Function))
            .flat_map(Value::operands)
            .collect();
        if operands.is_empty() || (self.open && !operands.contains(&Operand::Unknown)) {
            operands.push(Operand::Unknown);
        }
        operands
    }

    pub(super) fn operands(&self, place: Parameter) -> Vec<Operand> {
        self.at(place)
            .map_or_else(|| vec![Operand::Unknown], Value::operands)
    }
}
