//! What a call is given, and what of it nobody follows.

use std::ops::Range;

use super::Walker;
use crate::code::calls::Args;
use crate::code::tables::CallEffect;
use crate::code::tokens::{Kind, Tree};
use crate::code::values::Value;
use crate::code::{CodeEffectKind, Language, Unfollowed};

impl<'t> Walker<'t, '_> {
    /// A command that is given more words, and may be run with them.
    pub(super) fn with_words(&mut self, mut words: Vec<Value>, args: Args) -> Value {
        words.extend(args.list);
        let span = self.here.clone();
        let all = words.iter().flat_map(Value::operands).collect();
        self.effect(CodeEffectKind::Run(all), &span);
        Value::Made("Program", Box::new(Value::List(words)))
    }

    /// What stands between parentheses or brackets.
    pub(in crate::code) fn arguments(&mut self, inside: &[Tree<'t>]) -> Args {
        let mut args = Args::default();
        let mut at = 0;
        while at < inside.len() {
            let before = at;
            self.argument(inside, &mut at, &mut args);
            // What follows an argument without a comma belongs to it and makes it unknown.
            while inside.get(at).is_some_and(|next| !next.is_sign(",")) {
                let place = at;
                let value = self.expression(inside, &mut at);
                self.escape(&value, &self.here.clone());
                at += usize::from(at == place);
                if let Some(last) = args.list.last_mut()
                    && !matches!(last, Value::Function)
                {
                    *last = Value::Unknown;
                }
            }
            at += usize::from(inside.get(at).is_some_and(|next| next.is_sign(",")) || at == before);
        }
        args
    }

    /// The arguments of a call without parentheses.
    pub(super) fn bare_arguments(&mut self, trees: &[Tree<'t>], at: &mut usize) -> Args {
        let mut args = Args::default();
        if let Some(block) = trees.get(*at).and_then(|tree| tree.group(b'{')) {
            let mut inner = 0;
            let program = self.expression(block, &mut inner);
            self.sequence(block.get(inner..).unwrap_or(&[]));
            args.indirect = Some(Box::new(program));
            *at += 1;
        }
        loop {
            let before = *at;
            self.argument(trees, at, &mut args);
            if !trees.get(*at).is_some_and(|next| next.is_sign(",")) || *at == before {
                return args;
            }
            *at += 1;
            self.skip_lines(trees, at);
        }
    }

    pub(super) fn argument(&mut self, trees: &[Tree<'t>], at: &mut usize, args: &mut Args) {
        let (first, second) = (trees.get(*at), trees.get(*at + 1));
        let Some(first) = first else {
            return;
        };
        let keyword = match self.syntax.language {
            Language::Python => second.is_some_and(|tree| tree.is_sign("=")),
            Language::Ruby | Language::Php => {
                second.is_some_and(|tree| tree.is_sign(":") && !tree.spaced)
            }
            Language::JavaScript
            | Language::Perl
            | Language::Lua
            | Language::Awk
            | Language::Vim
            | Language::PowerShell => false,
        };
        if let (Some(name), true) = (first.as_word(), keyword) {
            *at += 2;
            let value = self.expression(trees, at);
            args.named.push((name.to_owned(), value));
            return;
        }
        if second.is_some_and(|tree| tree.is_sign("=>")) && !self.is(Language::JavaScript) {
            let key = match &first.kind {
                Kind::Word(word) => Some((*word).to_owned()),
                Kind::Text(literal) => self.literal(literal).text().map(str::to_owned),
                Kind::Number(_)
                | Kind::Shell(_)
                | Kind::Words(_)
                | Kind::Regex(_)
                | Kind::Sign(_)
                | Kind::Group(..)
                | Kind::End => None,
            };
            if let Some(key) = key {
                *at += 2;
                let value = self.expression(trees, at);
                args.named.push((key, value));
                return;
            }
        }
        match first.sign() {
            Some("*" | "...") => {
                *at += 1;
                match self.expression(trees, at) {
                    Value::List(values) => args.list.extend(values),
                    other @ (Value::Text(_)
                    | Value::Number(_)
                    | Value::Flag(_)
                    | Value::Map(_)
                    | Value::Name(_)
                    | Value::Made(..)
                    | Value::Held(..)
                    | Value::Method(..)
                    | Value::Any(_)
                    | Value::Function
                    | Value::Unknown) => {
                        self.escape(&other, &first.span);
                        args.list.push(Value::Unknown);
                        args.open = true;
                    }
                }
            }
            Some("**") => {
                *at += 1;
                if let Value::Map(pairs) = self.expression(trees, at) {
                    args.named.extend(pairs);
                } else {
                    args.open = true;
                }
            }
            _ => {
                let value = self.expression(trees, at);
                // Lists of Perl have no brackets of their own once they are arguments.
                let flat = self.is(Language::Perl) && first.group(b'[').is_none();
                if let (Value::List(values), true) = (&value, flat) {
                    args.list.extend(values.iter().cloned());
                } else {
                    args.list.push(value);
                }
            }
        }
    }

    /// A value goes where it is not followed.
    pub(in crate::code) fn escape(&mut self, value: &Value, span: &Range<usize>) {
        match value {
            Value::Name(name) => {
                let table = self.table;
                if let Some(acts) = table.acts(name) {
                    if acts.iter().any(CallEffect::counts_unseen) {
                        self.perform(acts, &Args::unknown(), span);
                    }
                } else if table.has_members(name) {
                    self.opaque(Unfollowed::DynamicName);
                }
            }
            Value::List(values) | Value::Any(values) => {
                for value in values {
                    self.escape(value, span);
                }
            }
            Value::Map(pairs) => {
                for (_, value) in pairs {
                    self.escape(value, span);
                }
            }
            Value::Method(receiver, _) => self.escape(receiver, span),
            Value::Text(_)
            | Value::Number(_)
            | Value::Flag(_)
            | Value::Made(..)
            | Value::Held(..)
            | Value::Function
            | Value::Unknown => {}
        }
    }
}
