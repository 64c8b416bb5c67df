//! Words that begin a statement or stand before an operand: loops, definitions, imports and their like.

use super::{MAX_PARTS, Walker, span_of};
use crate::code::tokens::{Kind, Tree};
use crate::code::values::Value;
use crate::code::{Language, Operand, Unfollowed, carried};

impl<'t> Walker<'t, '_> {
    /// `for x in values`, the `for` being read.
    pub(super) fn for_each(&mut self, trees: &[Tree<'t>], at: &mut usize) {
        let Some(name) = trees.get(*at).and_then(Tree::as_word) else {
            return;
        };
        if !trees.get(*at + 1).is_some_and(|tree| tree.is_word("in")) {
            self.for_parts(trees, at);
            return;
        }
        *at += 2;
        let values = self.operand(trees, at);
        self.bind_each(name, values);
    }

    /// `for a, b in values`: of the parts only what they hold is told.
    fn for_parts(&mut self, trees: &[Tree<'t>], at: &mut usize) {
        let mut names: Vec<String> = Vec::new();
        let mut here = *at;
        while let Some(tree) = trees.get(here).filter(|_| here < *at + MAX_PARTS) {
            match &tree.kind {
                Kind::Word("in") => {
                    *at = here + 1;
                    let values = self.operand(trees, at);
                    let all = carried::held(&values);
                    if all.is_empty() {
                        return;
                    }
                    for name in names {
                        let part = carried::carrying(Value::Unknown, all.clone());
                        self.bind(&name, part);
                    }
                    return;
                }
                Kind::Word(name) => names.push((*name).to_owned()),
                Kind::Sign(",") => {}
                Kind::Group(b'(', inside) => {
                    names.extend(inside.iter().filter_map(Tree::as_word).map(str::to_owned));
                }
                Kind::Number(_)
                | Kind::Text(_)
                | Kind::Shell(_)
                | Kind::Words(_)
                | Kind::Regex(_)
                | Kind::Sign(_)
                | Kind::Group(..)
                | Kind::End => return,
            }
            here += 1;
        }
    }

    pub(in crate::code) fn bind_each(&mut self, name: &str, values: Value) {
        let value = values.each();
        if self.is_only_value(name, &value) {
            let copy = self.copied(&value);
            self.bind(name, copy);
        } else {
            self.escape(&value, &self.here.clone());
        }
    }

    /// `x of values`, `values as $x`.
    pub(super) fn loop_over(
        &mut self,
        trees: &[Tree<'t>],
        start: usize,
        at: &mut usize,
        left: Value,
    ) -> Value {
        let reversed = trees.get(*at).is_some_and(|tree| tree.is_word("as"));
        let name = if reversed {
            trees.get(*at + 1).and_then(Tree::as_word)
        } else {
            at.checked_sub(1)
                .filter(|near| *near >= start)
                .and_then(|near| trees.get(near))
                .and_then(Tree::as_word)
        };
        *at += 1;
        let right = self.operand(trees, at);
        if let Some(name) = name {
            self.bind_each(name, if reversed { left } else { right });
        }
        Value::Unknown
    }

    pub(super) fn prefixed(&mut self, trees: &[Tree<'t>], at: &mut usize) -> Value {
        let mut signed = false;
        let mut returned = false;
        let first = *at;
        loop {
            let Some(tree) = trees.get(*at) else {
                return Value::Unknown;
            };
            match &tree.kind {
                Kind::End | Kind::Sign(",") => return Value::Unknown,
                Kind::Sign(sign) => {
                    let next = trees.get(*at + 1);
                    if *sign == "&"
                        && self.is(Language::Perl)
                        && next.is_some_and(|tree| {
                            matches!(tree.kind, Kind::Group(b'{', _) | Kind::Text(_))
                        })
                    {
                        self.opaque(Unfollowed::DynamicName);
                    }
                    signed |= *sign != "\\" || !self.is(Language::Php);
                    *at += 1;
                }
                Kind::Word(word) => {
                    if let Some(value) = self.keyword(trees, at, word) {
                        return value;
                    }
                    if !self.syntax.prefixes.contains(word) {
                        break;
                    }
                    returned |= matches!(*word, "return" | "yield");
                    *at += 1;
                }
                Kind::Number(_)
                | Kind::Text(_)
                | Kind::Shell(_)
                | Kind::Words(_)
                | Kind::Regex(_)
                | Kind::Group(..) => break,
            }
        }
        let start = *at;
        let value = self.chain(trees, at);
        if let Value::Number(number) = value
            && start == first + 1
            && trees.get(first).is_some_and(|sign| sign.is_sign("-"))
        {
            return Value::Number(number.saturating_neg());
        }
        // What is returned may go on: a function that only gives a value is often in the way.
        if let (Value::Name(name), true) = (&value, signed)
            && carried::named(name).is_some()
            && trees.get(first).is_some_and(|sign| sign.is_sign("\\"))
        {
            return value;
        }
        if signed || returned {
            let span = trees.get(start..*at).and_then(span_of).unwrap_or(0..0);
            self.escape(&value, &span);
        }
        if signed || returned {
            Value::Unknown
        } else {
            value
        }
    }

    /// Words with a syntax of their own. `None` means that the word has none.
    pub(super) fn keyword(
        &mut self,
        trees: &[Tree<'t>],
        at: &mut usize,
        word: &str,
    ) -> Option<Value> {
        match (self.syntax.language, word) {
            (Language::Python, "import") => {
                *at += 1;
                self.python_import(trees, at);
            }
            (Language::Python, "from") => {
                *at += 1;
                self.python_from(trees, at);
            }
            (Language::Python, "for") => {
                *at += 1;
                self.for_each(trees, at);
            }
            (Language::Ruby, "for") => {
                *at += 1;
                self.for_each(trees, at);
            }
            (Language::JavaScript, "import")
                if trees
                    .get(*at + 1)
                    .is_some_and(|next| next.group(b'(').is_none() && !next.is_sign(".")) =>
            {
                *at += 1;
                self.javascript_import(trees, at);
            }
            (Language::Perl, "eval")
                if trees
                    .get(*at + 1)
                    .is_some_and(|next| next.group(b'{').is_some()) =>
            {
                // A block catches errors and is read like any other.
                *at += 1;
            }
            (Language::Perl, "for" | "foreach") => {
                *at += 1;
                self.perl_for(trees, at);
            }
            (Language::Php, "include" | "include_once" | "require" | "require_once") => {
                *at += 1;
                let file = self.expression(trees, at);
                // Code from elsewhere, or from the text itself.
                if matches!(file.operand(), Operand::Known(file) | Operand::Starts(file)
                    if file.contains("://") || file.starts_with("data:"))
                {
                    self.opaque(Unfollowed::Evaluates);
                }
                self.import(Some(&file));
            }
            (Language::Python, "lambda") => {
                while trees
                    .get(*at)
                    .is_some_and(|tree| !tree.is_sign(":") && !tree.is_end())
                {
                    *at += 1;
                }
                *at += 1;
                let value = self.operand(trees, at);
                self.escape(&value, &self.here.clone());
            }
            (_, "def" | "function" | "sub" | "fn") => {
                *at += 1;
                self.definition(trees, at);
                return Some(Value::Function);
            }
            _ => return None,
        }
        Some(Value::Unknown)
    }

    /// The name, parameters and, between braces, the body of a function.
    fn definition(&mut self, trees: &[Tree<'t>], at: &mut usize) {
        while trees.get(*at).is_some_and(|tree| {
            tree.as_word().is_some() || tree.is_sign("*") || tree.is_sign(".") || tree.is_sign(":")
        }) {
            *at += 1;
        }
        if let Some(inside) = trees.get(*at).and_then(|tree| tree.group(b'(')) {
            self.arguments(inside);
            *at += 1;
        }
        if trees.get(*at).is_some_and(|tree| tree.is_word("use"))
            && trees
                .get(*at + 1)
                .is_some_and(|tree| tree.group(b'(').is_some())
        {
            *at += 2;
        }
        if let Some(body) = trees.get(*at).and_then(|tree| tree.group(b'{')) {
            self.sequence(body);
            *at += 1;
        } else if trees.get(*at).is_some_and(|tree| tree.is_sign("=>")) {
            *at += 1;
            let value = self.expression(trees, at);
            self.escape(&value, &self.here.clone());
        }
    }

    /// `for my $x (…)`, the `for` being read.
    fn perl_for(&mut self, trees: &[Tree<'t>], at: &mut usize) {
        if trees
            .get(*at)
            .is_some_and(|tree| tree.is_word("my") || tree.is_word("our"))
        {
            *at += 1;
        }
        let name = trees.get(*at).and_then(Tree::as_word);
        if let (Some(name), Some(inside)) =
            (name, trees.get(*at + 1).and_then(|tree| tree.group(b'(')))
        {
            let list = self.arguments(inside);
            self.bind_each(name, Value::List(list.list));
            *at += 2;
        }
    }
}
