//! Operators and assignments: what two operands give, and what a name is bound to.

use std::ops::Range;

use super::Walker;
use crate::code::constants;
use crate::code::syntax::Lines;
use crate::code::tokens::{Kind, Tree};
use crate::code::values::{Value, joined};
use crate::code::{Language, carried};

/// Operators whose value is yes or no.
static COMPARES: &[&str] = &[
    "==",
    "!=",
    "===",
    "!==",
    "<",
    ">",
    "<=",
    ">=",
    "~=",
    "is",
    "in",
    "instanceof",
];

impl<'t> Walker<'t, '_> {
    pub(super) fn operators(&mut self, trees: &[Tree<'t>], at: &mut usize) -> Value {
        let start = *at;
        let mut value = self.operand(trees, at);
        loop {
            let Some(tree) = trees.get(*at) else {
                return value;
            };
            match &tree.kind {
                Kind::End => {
                    if !self.continues(trees, *at) {
                        return value;
                    }
                    *at += 1;
                }
                Kind::Sign(",") => return value,
                // What follows it is a statement of its own.
                Kind::Sign(":") if self.is(Language::Python) => return value,
                Kind::Sign("=" | ":=") => {
                    let target = start..*at;
                    *at += 1;
                    let left = std::mem::replace(&mut value, Value::Unknown);
                    value = self.assignment(trees, target, at);
                    self.sets_variable(&left, &value);
                }
                Kind::Sign(sign) if self.syntax.concat.contains(sign) => {
                    *at += 1;
                    self.skip_lines(trees, at);
                    let right = self.operand(trees, at);
                    value = self.concatenated(value, right);
                }
                // `Path("a") / "b"`
                Kind::Sign("/") if matches!(value, Value::Made("Path", _)) => {
                    *at += 1;
                    let right = self.operand(trees, at);
                    let path = constants::path_joined(&[value, right]);
                    value = Value::Made("Path", Box::new(path));
                }
                // `"rm %s" % name`
                Kind::Sign("%") if value.text().is_some() && self.is(Language::Python) => {
                    *at += 1;
                    let right = self.operand(trees, at);
                    self.escape(&right, &tree.span);
                    value = match &right {
                        Value::List(values) => constants::filled(&value, '%', values, &[]),
                        Value::Map(named) => constants::filled(&value, '%', &[], named),
                        Value::Text(_)
                        | Value::Number(_)
                        | Value::Flag(_)
                        | Value::Name(_)
                        | Value::Made(..)
                        | Value::Held(..)
                        | Value::Method(..)
                        | Value::Any(_)
                        | Value::Function
                        | Value::Unknown => {
                            constants::filled(&value, '%', std::slice::from_ref(&right), &[])
                        }
                    };
                }
                Kind::Sign(_) => {
                    *at += 1;
                    self.skip_lines(trees, at);
                    self.combined(&value, trees, at, tree);
                    value = Value::Unknown;
                }
                Kind::Text(_) if self.syntax.adjacent && matches!(value, Value::Text(_)) => {
                    let right = self.operand(trees, at);
                    value = self.concatenated(value, right);
                }
                Kind::Word(word) if self.syntax.operators.contains(word) => {
                    if self.syntax.bare_calls {
                        // A modifier or a keyword: what it says is a statement of its own.
                        if word.len() > 2 || matches!(*word, "if" | "or" | "do" | "in") {
                            return value;
                        }
                    }
                    if *word == "for" {
                        *at += 1;
                        self.for_each(trees, at);
                        // `{k: v for k, v in …}` holds what its parts hold.
                        value = carried::carrying(Value::Unknown, carried::held(&value));
                        continue;
                    }
                    if *word == "as"
                        && self.is(Language::Python)
                        && let Some(name) = trees.get(*at + 1).and_then(Tree::as_word)
                        && self.is_only_value(name, &value)
                    {
                        // `with value as name`
                        *at += 2;
                        let copy = self.copied(&value);
                        self.bind(name, copy);
                        value = Value::Unknown;
                        continue;
                    }
                    if *word == "of" || (*word == "as" && self.is(Language::Php)) {
                        value = self.loop_over(trees, start, at, value);
                        continue;
                    }
                    *at += 1;
                    self.combined(&value, trees, at, tree);
                    value = Value::Unknown;
                }
                Kind::Word(_)
                | Kind::Number(_)
                | Kind::Text(_)
                | Kind::Shell(_)
                | Kind::Words(_)
                | Kind::Regex(_)
                | Kind::Group(..) => return value,
            }
        }
    }

    /// The other side of an operator without a meaning here. Unless it only compares, its value
    /// may be either of them.
    fn combined(&mut self, left: &Value, trees: &[Tree<'t>], at: &mut usize, operator: &Tree<'t>) {
        let compares = operator
            .sign()
            .or(operator.as_word())
            .is_some_and(|operator| COMPARES.contains(&operator));
        if !compares {
            self.escape(left, &operator.span);
        }
        if trees.get(*at).is_some_and(|next| !next.is_end()) {
            let right = self.operand(trees, at);
            if !compares {
                self.escape(&right, &operator.span);
            }
        }
    }

    /// Whether the line after this one goes on with the expression.
    pub(super) fn continues(&self, trees: &[Tree<'t>], at: usize) -> bool {
        self.syntax.lines == Lines::EndUnlessContinued
            && trees.get(at + 1).is_some_and(|next| {
                next.sign().is_some_and(|sign| {
                    (self.syntax.member.contains(&sign) && sign != "::")
                        || (self.is(Language::JavaScript) && self.syntax.concat.contains(&sign))
                })
            })
    }

    pub(super) fn skip_lines(&self, trees: &[Tree<'t>], at: &mut usize) {
        while trees.get(*at).is_some_and(Tree::is_end) {
            *at += 1;
        }
    }

    fn concatenated(&mut self, left: Value, right: Value) -> Value {
        if !matches!(
            left,
            Value::Text(_) | Value::Number(_) | Value::List(_) | Value::Held(..)
        ) {
            self.escape(&left, &self.here.clone());
        }
        if self.limits.copies(left.size() + right.size()) {
            joined(left, right)
        } else {
            Value::Unknown
        }
    }

    /// The right side of an assignment, and what it makes of the names on the left.
    fn assignment(&mut self, trees: &[Tree<'t>], target: Range<usize>, at: &mut usize) -> Value {
        self.skip_lines(trees, at);
        let span = trees
            .get(target.start)
            .map_or(0..0, |tree| tree.span.clone());
        let left = trees.get(target).unwrap_or(&[]);
        let left: Vec<&Tree<'t>> = left
            .iter()
            .filter(|tree| {
                !tree
                    .as_word()
                    .is_some_and(|word| self.syntax.prefixes.contains(&word))
            })
            .collect();
        let name = match left.as_slice() {
            [only] => only.as_word(),
            _ => None,
        };
        // `a = a + "x"` is not told by what `a` was the first time over.
        let key = name.map(|name| self.assignments.key(name, self.scope));
        let before = key.and_then(|key| self.constants.remove(key.as_ref()));
        let value = self.expression(trees, at);
        drop(before);
        if name == Some("@ARGV") && self.is(Language::Perl) {
            self.opened_by_diamond(&value, &span);
        }
        match (name, left.as_slice()) {
            (Some(name), _) if self.is_only_value(name, &value) => {
                if matches!(value, Value::List(_) | Value::Map(_)) && self.is_alias(trees, *at) {
                    return Value::Unknown;
                }
                let copy = self.copied(&value);
                self.bind(name, copy);
                value
            }
            (None, [only]) if only.group(b'{').is_some() => {
                self.destructured(only.group(b'{').unwrap_or(&[]), &value, &span);
                Value::Unknown
            }
            _ => {
                self.escape(&value, &span);
                value
            }
        }
    }

    /// Whether a list came from another name, which could change it unseen.
    fn is_alias(&self, trees: &[Tree<'t>], at: usize) -> bool {
        at.checked_sub(1)
            .and_then(|near| trees.get(near))
            .is_some_and(|last| last.as_word().is_some())
    }
}
