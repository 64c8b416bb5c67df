//! Calls by name: code that is evaluated, modules that are imported, attributes and messages.

use std::ops::Range;

use super::args::Args;
use crate::code::tables::Parameter;
use crate::code::values::Value;
use crate::code::walker::Walker;
use crate::code::{CodeEffectKind, Language, Operand, Unfollowed};

impl Walker<'_, '_> {
    /// A function that PHP is given by name.
    pub(super) fn callback(&mut self, function: Option<&Value>, args: Args, span: &Range<usize>) {
        match function {
            Some(Value::Text(Operand::Known(name))) => {
                self.call_name(name, args, span);
            }
            Some(Value::Text(_) | Value::Unknown) => self.opaque(Unfollowed::DynamicName),
            Some(_) | None => {}
        }
    }

    pub(super) fn eval(&mut self, code: Option<&Value>, span: &Range<usize>) {
        match code {
            Some(Value::Function | Value::Map(_) | Value::Number(_) | Value::Flag(_)) => {}
            Some(Value::Text(Operand::Known(text))) => {
                let text = text.clone();
                self.run_code(self.syntax.language, &text, span);
            }
            Some(_) | None => {
                self.effect(CodeEffectKind::Eval, span);
                self.opaque(Unfollowed::Evaluates);
            }
        }
    }

    /// A module by its name.
    pub(in crate::code) fn import(&mut self, name: Option<&Value>) -> Value {
        // `require Foo::Bar`: a word of Perl without a sigil is itself.
        if let Some(Value::Name(name)) = name
            && self.is(Language::Perl)
        {
            return Value::Name(name.clone());
        }
        match name.map(Value::operand) {
            // Brings its functions in without a name.
            Some(Operand::Known(name))
                if ["data:", "http:", "https:", "blob:"]
                    .iter()
                    .any(|scheme| name.starts_with(scheme)) =>
            {
                self.opaque(Unfollowed::Evaluates);
                Value::Unknown
            }
            Some(Operand::Known(name)) if name == "shelljs/global" => {
                self.whole_modules.push("shelljs".to_owned());
                Value::Unknown
            }
            Some(Operand::Known(name)) => Value::Name(name),
            // `require("./" + name)` is a file and no module with powers of its own.
            Some(Operand::Starts(start)) if start.starts_with(['.', '/']) => Value::Unknown,
            Some(Operand::Starts(_) | Operand::Unknown) | None => {
                self.opaque(Unfollowed::DynamicName);
                Value::Unknown
            }
        }
    }

    /// `getattr(object, name)`.
    pub(super) fn attribute(
        &mut self,
        args: &Args,
        object: Parameter,
        name: Parameter,
        span: &Range<usize>,
    ) -> Value {
        let receiver = args
            .at(object)
            .map_or(Value::Unknown, |value| self.copied(value));
        match args.at(name).and_then(Value::text) {
            Some(name) => receiver.member(name),
            None => {
                let followed = match &receiver {
                    Value::Name(name) => !self.table.has_members(name),
                    Value::Text(_)
                    | Value::Number(_)
                    | Value::Flag(_)
                    | Value::List(_)
                    | Value::Map(_)
                    | Value::Made(..)
                    | Value::Held(..)
                    | Value::Method(..)
                    | Value::Any(_)
                    | Value::Function
                    | Value::Unknown => true,
                };
                if !followed {
                    self.opaque(Unfollowed::DynamicName);
                }
                self.escape(&receiver, span);
                Value::Unknown
            }
        }
    }

    /// Ruby's `send(:name, …)`, with or without a receiver in front.
    pub(super) fn send(&mut self, args: &Args, start: usize, span: &Range<usize>) -> Value {
        let Some(name) = args.list.get(start).and_then(Value::text) else {
            self.opaque(Unfollowed::DynamicName);
            return Value::Unknown;
        };
        let rest = Args {
            list: args.from(start + 1).to_vec(),
            open: args.open,
            ..Args::default()
        };
        let callee = match start.checked_sub(1).and_then(|near| args.list.get(near)) {
            Some(Value::Name(receiver)) => {
                let full = format!("{receiver}.{name}");
                let known = self.table.acts(&full).is_some();
                Value::Name(if known { full } else { name.to_owned() })
            }
            Some(_) | None => Value::Name(name.to_owned()),
        };
        self.call(callee, rest, span)
    }
}
