//! What an expression begins with: names, texts, groups and objects.

use std::ops::Range;

use super::Walker;
use crate::code::calls::Args;
use crate::code::tokens::{Kind, Literal, Piece, Tree};
use crate::code::values::{Value, joined};
use crate::code::{CodeEffectKind, Language, carried};

impl<'t> Walker<'t, '_> {
    pub(super) fn primary(&mut self, trees: &[Tree<'t>], at: &mut usize) -> Value {
        let Some(tree) = trees.get(*at) else {
            return Value::Unknown;
        };
        *at += 1;
        match &tree.kind {
            Kind::Word(word) => {
                let next = trees.get(*at);
                let called = next.is_some_and(|next| {
                    next.group(b'(').is_some() || self.begins_argument(&Value::Function, next, None)
                });
                self.name(word, called)
            }
            Kind::Number(number) => {
                number.map_or(Value::Unknown, |number| Value::Number(number.into()))
            }
            Kind::Text(literal) => self.literal(literal),
            Kind::Shell(literal) => {
                let line = self.literal(literal).operand();
                self.effect(CodeEffectKind::Shell(line), &tree.span);
                Value::Unknown
            }
            Kind::Words(words) => Value::List(words.iter().map(Value::known).collect()),
            Kind::Regex(code) => {
                self.sequence(code);
                Value::Unknown
            }
            Kind::Group(..) => self.group(tree),
            Kind::Sign(_) | Kind::End => Value::Unknown,
        }
    }

    /// A string with the values of its holes.
    pub(in crate::code) fn literal(&mut self, literal: &Literal<'t>) -> Value {
        let mut whole = Value::known("");
        for piece in &literal.pieces {
            let part = match piece {
                Piece::Text(text) => {
                    if !self.limits.copies(text.len()) {
                        return Value::Unknown;
                    }
                    Value::known(text)
                }
                Piece::Hole(trees) => {
                    let mut at = 0;
                    let value = self.expression(trees, &mut at);
                    if at < trees.len() || trees.is_empty() {
                        self.sequence(trees.get(at..).unwrap_or(&[]));
                        Value::Unknown
                    } else {
                        value
                    }
                }
            };
            whole = joined(whole, part);
        }
        whole
    }

    pub(super) fn group(&mut self, tree: &Tree<'t>) -> Value {
        match &tree.kind {
            Kind::Group(b'(', inside) => {
                let args = self.arguments(inside);
                self.named_escape(&args, &tree.span);
                let mut values = args.list;
                match values.len() {
                    0 => Value::List(Vec::new()),
                    1 if !inside.last().is_some_and(|tree| tree.is_sign(",")) => {
                        values.pop().unwrap_or(Value::Unknown)
                    }
                    _ if self.is(Language::JavaScript) => values.pop().unwrap_or(Value::Unknown),
                    _ => Value::List(values),
                }
            }
            Kind::Group(b'[', inside) => {
                let args = self.arguments(inside);
                self.named_escape(&args, &tree.span);
                let mut list = args.list;
                if args.open {
                    list.push(Value::Unknown);
                }
                // PHP's arrays with keys.
                if list.is_empty() && !args.named.is_empty() {
                    return Value::Map(args.named);
                }
                Value::List(list)
            }
            Kind::Group(_, inside) => self.braces(inside),
            Kind::Word(_)
            | Kind::Number(_)
            | Kind::Text(_)
            | Kind::Shell(_)
            | Kind::Words(_)
            | Kind::Regex(_)
            | Kind::Sign(_)
            | Kind::End => Value::Unknown,
        }
    }

    /// Values with keys in a list are not followed.
    fn named_escape(&mut self, args: &Args, span: &Range<usize>) {
        for (_, value) in &args.named {
            self.escape(value, span);
        }
    }

    /// A block, or a map if it looks like one.
    pub(super) fn braces(&mut self, inside: &[Tree<'t>]) -> Value {
        if inside.is_empty() {
            return Value::Map(Vec::new());
        }
        let first = inside.iter().position(|tree| !tree.is_end()).unwrap_or(0);
        let second = inside.get(first + 1);
        let keyed = second
            .is_some_and(|tree| [":", "=>", "=", ","].iter().any(|sign| tree.is_sign(sign)))
            && !(self.is(Language::Php)
                || (self.is(Language::Perl) && second.is_some_and(|tree| tree.is_sign("="))));
        let shorthand = inside.len() == 1 && self.is(Language::JavaScript);
        let starts_with_key = inside.get(first).is_some_and(|tree| {
            matches!(
                tree.kind,
                Kind::Word(_) | Kind::Text(_) | Kind::Group(b'[', _) | Kind::Number(_)
            )
        });
        // Python and Lua have no blocks between braces.
        let no_block = self.is(Language::Python) || self.is(Language::Lua);
        if !(starts_with_key && (keyed || shorthand) || no_block) {
            self.sequence(inside);
            return Value::Unknown;
        }
        let assigns = second.is_some_and(|tree| tree.is_sign("=")) && !self.is(Language::Lua);
        if assigns {
            self.sequence(inside);
            return Value::Unknown;
        }
        let mut pairs = Vec::new();
        let mut at = 0;
        while at < inside.len() {
            let before = at;
            self.pair(inside, &mut at, &mut pairs);
            at += usize::from(at == before);
        }
        Value::Map(pairs)
    }

    fn pair(&mut self, inside: &[Tree<'t>], at: &mut usize, pairs: &mut Vec<(String, Value)>) {
        let Some(tree) = inside.get(*at) else {
            return;
        };
        if tree.is_end() || tree.is_sign(",") {
            *at += 1;
            return;
        }
        if tree.is_sign("**") || tree.is_sign("...") {
            *at += 1;
            let value = self.expression(inside, at);
            self.escape(&value, &tree.span);
            if let Value::Map(more) = value {
                pairs.extend(more);
            } else if !carried::held(&value).is_empty() {
                pairs.push((String::new(), value));
            }
            return;
        }
        let colon = inside
            .get(*at + 1)
            .is_some_and(|next| [":", "=>", "="].iter().any(|sign| next.is_sign(sign)));
        let key = match &tree.kind {
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
        if let (true, Some(key)) = (colon, key) {
            *at += 2;
            let value = self.expression(inside, at);
            let whole = inside
                .get(*at)
                .is_none_or(|next| next.is_sign(",") || next.is_end());
            pairs.push((key, if whole { value } else { Value::Unknown }));
            return;
        }
        let start = *at;
        let value = self.expression(inside, at);
        // `{ fs }`: the name is its own key.
        if let (Some(word), true) = (tree.as_word(), *at == start + 1) {
            pairs.push((word.to_owned(), value));
        } else {
            self.escape(&value, &tree.span);
        }
    }
}
