//! Chains of members, calls and subscripts that follow one another.

use std::ops::Range;

use super::{Pass, Walker, span_of};
use crate::code::calls::Args;
use crate::code::tables::CallEffect;
use crate::code::tokens::{Kind, Tree};
use crate::code::values::Value;
use crate::code::{Language, Unfollowed, carried, constants};

/// Members that lead behind a module or class.
static HIDDEN: &[&str] = &[
    "__dict__",
    "__subclasses__",
    "__globals__",
    "__builtins__",
    "__loader__",
];

/// Directories above a path that its `parents` are followed to: projects are not deeper.
const MAX_PARENTS: usize = 8;

impl<'t> Walker<'t, '_> {
    /// A value and what follows it. A method of Ruby is called even if no argument follows.
    pub(super) fn chain(&mut self, trees: &[Tree<'t>], at: &mut usize) -> Value {
        let start = *at;
        let value = self.links(trees, at);
        if let Some(span) = trees.get(start..*at).and_then(span_of) {
            self.here = span;
        }
        // A method of Perl's that nothing follows is called all the same.
        let method = self.is(Language::Perl)
            && matches!(&value, Value::Method(object, _) if matches!(**object, Value::Made(..)));
        let called = method
            || self.is(Language::Ruby)
                && match &value {
                    Value::Method(receiver, method) => {
                        !matches!(**receiver, Value::Name(_)) && method != "new"
                    }
                    Value::Name(name) => self.table.acts(name).map_or_else(
                        // `User.delete_all`
                        || {
                            name.rsplit_once('.').is_some_and(|(_, method)| {
                                self.table.acts(&format!("?#{method}")).is_some()
                            })
                        },
                        |acts| !acts.iter().any(CallEffect::counts_unseen),
                    ),
                    Value::Text(_)
                    | Value::Number(_)
                    | Value::Flag(_)
                    | Value::List(_)
                    | Value::Map(_)
                    | Value::Made(..)
                    | Value::Held(..)
                    | Value::Any(_)
                    | Value::Function
                    | Value::Unknown => false,
                };
        if !called {
            return value;
        }
        let span = self.here.clone();
        self.call(value, Args::default(), &span)
    }

    /// The members, calls and subscripts that follow a value.
    fn links(&mut self, trees: &[Tree<'t>], at: &mut usize) -> Value {
        let start = *at;
        let mut value = self.primary(trees, at);
        loop {
            let Some(tree) = trees.get(*at) else {
                return value;
            };
            let span = trees
                .get(start)
                .map_or(tree.span.start, |first| first.span.start)
                ..tree.span.end;
            match &tree.kind {
                Kind::Sign(sign) if self.syntax.member.contains(sign) => {
                    // Lua's labels and JavaScript's `?:` have no name after the sign.
                    let Some(next) = trees.get(*at + 1) else {
                        return value;
                    };
                    match &next.kind {
                        Kind::Word(name) => {
                            let call = trees.get(*at + 2);
                            let called = call.is_some_and(|tree| tree.group(b'(').is_some());
                            if name.starts_with('$') && (called || self.is(Language::Perl)) {
                                // A method whose name is a variable.
                                self.opaque(Unfollowed::DynamicName);
                            }
                            *at += 2;
                            value = self.member(value, name);
                            if !called && (self.is(Language::Ruby) || self.is(Language::Perl)) {
                                value =
                                    self.given(value, trees.get(*at), trees.get(*at + 1), &span);
                            }
                        }
                        Kind::Group(..) => *at += 1,
                        Kind::Sign(_) if *sign == "->" => {
                            // A method whose name is a variable.
                            self.opaque(Unfollowed::DynamicName);
                            *at += 2;
                            value = Value::Unknown;
                        }
                        Kind::Sign(_)
                        | Kind::Number(_)
                        | Kind::Text(_)
                        | Kind::Shell(_)
                        | Kind::Words(_)
                        | Kind::Regex(_)
                        | Kind::End => return value,
                    }
                }
                Kind::End if self.continues_chain(trees, *at) => *at += 1,
                Kind::Group(b'(', inside) => {
                    if self.defines(trees, *at) {
                        self.arguments(inside);
                        *at += 1;
                        return Value::Function;
                    }
                    *at += 1;
                    let args = self.arguments(inside);
                    value = self.call(value, args, &span);
                }
                Kind::Group(b'[', inside) if !tree.spaced || !self.syntax.bare_calls => {
                    *at += 1;
                    value = self.subscript(value, inside);
                }
                Kind::Group(b'{', inside) if self.is(Language::Perl) && !tree.spaced => {
                    if let Value::Name(name) = &value {
                        if carried::named(name).is_none() {
                            // `system{"rm"} …`: the program stands in the block.
                            if !self.begins_argument(&value, tree, trees.get(*at + 1)) {
                                return value;
                            }
                            let args = self.bare_arguments(trees, at);
                            value = self.call(value, args, &span);
                            continue;
                        }
                        let name = match inside.as_slice() {
                            [
                                Tree {
                                    kind: Kind::Word(name),
                                    ..
                                },
                            ] => (!name.starts_with('$')).then(|| (*name).to_owned()),
                            [
                                Tree {
                                    kind: Kind::Text(literal),
                                    ..
                                },
                            ] => self.literal(literal).text().map(str::to_owned),
                            _ => None,
                        };
                        *at += 1;
                        value = name.map_or(Value::Name("ENV".to_owned()), |name| {
                            carried::variable(&name)
                        });
                        continue;
                    }
                    *at += 1;
                    self.sequence(inside);
                    value = Value::Unknown;
                }
                Kind::Group(b'{', _) if self.is(Language::Lua) && is_callable(&value) => {
                    *at += 1;
                    let argument = self.group(tree);
                    value = self.call(value, Args::one(argument), &span);
                }
                Kind::Group(b'{', inside) if self.is(Language::Ruby) => {
                    self.bind_block(&value, inside);
                    *at += 1;
                    if self.is_bare_call(&value) {
                        value = self.call(value, Args::default(), &span);
                    }
                    self.sequence(inside);
                }
                Kind::Text(literal)
                    if (is_callable(&value) || is_object(&value))
                        && ((literal.template && self.is(Language::JavaScript))
                            || (self.is(Language::Lua) && is_callable(&value))) =>
                {
                    *at += 1;
                    let argument = self.literal(literal);
                    value = self.call(value, Args::one(argument), &span);
                }
                Kind::Word("do") if self.is(Language::Ruby) => {
                    self.bind_block(&value, trees.get(*at + 1..).unwrap_or(&[]));
                    return value;
                }
                Kind::Word(_)
                | Kind::Text(_)
                | Kind::Shell(_)
                | Kind::Words(_)
                | Kind::Number(_)
                | Kind::Regex(_)
                | Kind::Group(..)
                | Kind::Sign(_)
                    if self.begins_argument(&value, tree, trees.get(*at + 1)) =>
                {
                    let args = self.bare_arguments(trees, at);
                    let end = trees
                        .get(at.saturating_sub(1))
                        .map_or(span.end, |last| last.span.end);
                    value = self.call(value, args, &(span.start..end));
                }
                Kind::End
                | Kind::Word(_)
                | Kind::Text(_)
                | Kind::Shell(_)
                | Kind::Words(_)
                | Kind::Number(_)
                | Kind::Regex(_)
                | Kind::Group(..)
                | Kind::Sign(_) => return value,
            }
        }
    }

    /// What a method of Ruby gives that is called without arguments in the middle of a chain, and
    /// does nothing else.
    pub(super) fn given(
        &mut self,
        value: Value,
        tree: Option<&Tree<'t>>,
        next: Option<&Tree<'t>>,
        span: &Range<usize>,
    ) -> Value {
        let goes_on = tree.is_some_and(|tree| {
            tree.sign()
                .is_some_and(|sign| self.syntax.member.contains(&sign))
                && !self.begins_argument(&value, tree, next)
        });
        let only_gives = match &value {
            Value::Name(name) => self
                .table
                .acts(name)
                .is_some_and(|acts| !acts.iter().any(CallEffect::counts_unseen)),
            Value::Method(..) => true,
            Value::Text(_)
            | Value::Number(_)
            | Value::Flag(_)
            | Value::List(_)
            | Value::Map(_)
            | Value::Made(..)
            | Value::Held(..)
            | Value::Any(_)
            | Value::Function
            | Value::Unknown => false,
        };
        if goes_on && only_gives {
            return self.call(value, Args::default(), span);
        }
        value
    }

    fn continues_chain(&self, trees: &[Tree<'t>], at: usize) -> bool {
        self.continues(trees, at)
            && trees
                .get(at + 1)
                .and_then(Tree::sign)
                .is_some_and(|sign| self.syntax.member.contains(&sign))
    }

    /// `name(…) {`: a method of a JavaScript class or object, not a call.
    fn defines(&self, trees: &[Tree<'t>], at: usize) -> bool {
        self.is(Language::JavaScript)
            && at
                .checked_sub(1)
                .and_then(|near| trees.get(near))
                .is_some_and(|tree| tree.as_word().is_some())
            && trees
                .get(at + 1)
                .is_some_and(|next| next.group(b'{').is_some())
    }

    /// A method of Ruby that is called though nothing but a block follows.
    fn is_bare_call(&self, value: &Value) -> bool {
        match value {
            Value::Name(name) => self.table.acts(name).is_some(),
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
            | Value::Unknown => false,
        }
    }

    /// `["a", "b"].each { |x| …`
    fn bind_block(&mut self, value: &Value, inside: &[Tree<'t>]) {
        let Value::Method(receiver, method) = value else {
            return;
        };
        let loops = matches!(
            method.as_str(),
            "each" | "map" | "each_entry" | "flat_map" | "select"
        );
        if let [open, name, close, ..] = inside
            && loops
            && open.is_sign("|")
            && close.is_sign("|")
            && let Some(name) = name.as_word()
        {
            let values = self.copied(receiver);
            self.bind_each(name, values);
        }
    }

    /// Whether a call without parentheses has an argument here.
    pub(super) fn begins_argument(
        &self,
        value: &Value,
        tree: &Tree<'t>,
        next: Option<&Tree<'t>>,
    ) -> bool {
        if !self.syntax.bare_calls || !is_callable(value) {
            return false;
        }
        match &tree.kind {
            Kind::Text(_) | Kind::Shell(_) | Kind::Words(_) | Kind::Number(_) | Kind::Regex(_) => {
                true
            }
            Kind::Word(word) => !self.syntax.operators.contains(word),
            Kind::Group(b'[', _) => tree.spaced,
            // `system { "rm" } "rm", "-rf"`: the program stands in the block.
            Kind::Group(b'{', _) => {
                self.is(Language::Perl)
                    && matches!(value, Value::Name(name) if matches!(name.as_str(), "system" | "exec"))
            }
            Kind::Sign(sign) => {
                let glued = tree.spaced && next.is_some_and(|next| !next.spaced);
                match *sign {
                    "*" | "**" | "&" | "->" | "-" => glued && self.is(Language::Ruby),
                    "\\" | "@" | "$" | "%" => glued && self.is(Language::Perl),
                    "<" => glued && self.is(Language::Perl),
                    "::" => glued,
                    _ => false,
                }
            }
            Kind::Group(..) | Kind::End => false,
        }
    }

    /// What a name stands for.
    pub(super) fn name(&mut self, word: &str, called: bool) -> Value {
        if let Some(value) = self.imported.get(word) {
            return value.clone();
        }
        if let Pass::First(asked) = &mut self.pass {
            asked.note(word);
        }
        let key = self.assignments.key(word, self.scope);
        if let Some(value) = self.constants.get(key.as_ref()) {
            return self.copied(value);
        }
        match word {
            "True" | "true" | "TRUE" => return Value::Flag(true),
            "False" | "false" | "FALSE" => return Value::Flag(false),
            _ => {}
        }
        if let Some(place) = self.limits.place.named(word) {
            return Value::Text(place);
        }
        if matches!(word, "%ENV" | "$ENV" | "@ENV" | "$_ENV" | "$_SERVER") {
            return Value::Name("ENV".to_owned());
        }
        if word.starts_with(['$', '@', '%']) && word.len() > 1 {
            return Value::Unknown;
        }
        // A builtin stays one where it is called, even if the code gives its name to something.
        let builtin = called && self.table.acts(word).is_some();
        // Variables of PHP have a sigil, so that this is a function or a class.
        if self.assignments.any(word) && !builtin && !self.is(Language::Php) {
            return Value::Unknown;
        }
        for module in &self.whole_modules {
            let full = format!("{module}.{word}");
            if self.table.acts(&full).is_some() {
                return Value::Name(full);
            }
        }
        Value::Name(word.to_owned())
    }

    /// A member; a private road of Python to the module behind is a dynamic name.
    pub(super) fn member(&mut self, value: Value, name: &str) -> Value {
        if HIDDEN.contains(&name) {
            self.escape(&value, &self.here.clone());
            if name != "__dict__" {
                self.opaque(Unfollowed::DynamicName);
            }
            return Value::Unknown;
        }
        // `Path(__file__).parent`
        if let Value::Made("Path", path) = &value {
            let path = std::slice::from_ref(&**path);
            if name == "parent" {
                return Value::Made("Path", Box::new(constants::parent(path)));
            }
            if name == "parents" {
                let above = std::iter::successors(Some(constants::parent(path)), |below| {
                    Some(constants::parent(std::slice::from_ref(below)))
                });
                let above = above.take(MAX_PARENTS);
                return Value::List(
                    above
                        .map(|one| Value::Made("Path", Box::new(one)))
                        .collect(),
                );
            }
        }
        // `new URL("..", import.meta.url).pathname`
        if matches!(value, Value::Text(_)) && matches!(name, "pathname" | "href") {
            return value;
        }
        // `tempfile.NamedTemporaryFile().name`: the file stands for its path.
        if name == "name" && value.text().is_some_and(|path| path.ends_with("XXXXXX")) {
            return value;
        }
        let value = value.member(name);
        // The program that runs the code itself: `[sys.executable, "app.py"]`.
        if let Value::Name(full) = &value
            && let Some(program) = interpreter(full)
        {
            return Value::known(program.to_owned());
        }
        if let Value::Name(full) = &value
            && let Some(place) = self.limits.place.named(full)
        {
            return match full.as_str() {
                "Rails.root" => Value::Made("Path", Box::new(Value::Text(place))),
                _ => Value::Text(place),
            };
        }
        value
    }

    /// `value[…]`
    fn subscript(&mut self, value: Value, inside: &[Tree<'t>]) -> Value {
        let reversed = matches!(inside, [first, second, minus, _]
            if first.is_sign(":") && second.is_sign(":") && minus.is_sign("-"))
            || matches!(inside, [colons, minus, _] if colons.is_sign("::") && minus.is_sign("-"));
        if reversed {
            return match value.text() {
                Some(text) => Value::known(text.chars().rev().collect::<String>()),
                None => Value::Unknown,
            };
        }
        // plumbum's `rm["-rf", "/"]` is a command with its arguments.
        if matches!(&value, Value::Name(name) if name.starts_with("plumbum.")
            && name != "plumbum.local"
            && self.table.acts(name).is_some())
        {
            let args = self.arguments(inside);
            let way = if let Value::Name(name) = &value {
                self.table.way(name)
            } else {
                ""
            };
            let words = way.split('.').map(Value::known).collect();
            return self.with_words(words, args);
        }
        if let Value::Made("Program", words) = &value
            && let Value::List(words) = words.as_ref()
        {
            let words = words.clone();
            let args = self.arguments(inside);
            return self.with_words(words, args);
        }
        if inside.iter().any(|tree| tree.is_sign(":")) && !carried::held(&value).is_empty() {
            let end = match inside {
                [
                    ..,
                    colon,
                    Tree {
                        kind: Kind::Number(end),
                        ..
                    },
                ] if colon.is_sign(":") => end.map(i64::from),
                _ => None,
            };
            self.sequence(inside);
            return carried::part(&value, end);
        }
        let mut at = 0;
        let key = self.expression(inside, &mut at);
        let key = if at < inside.len() {
            self.sequence(inside.get(at..).unwrap_or(&[]));
            Value::Unknown
        } else {
            key
        };
        match (&value, &key) {
            (Value::Name(name), key)
                if ["sys.modules", "package.loaded", "require.cache"].contains(&name.as_str()) =>
            {
                match key.text() {
                    Some(module) => Value::Name(module.to_owned()),
                    None => {
                        self.opaque(Unfollowed::DynamicName);
                        Value::Unknown
                    }
                }
            }
            (Value::Name(_), key) if key.text().is_some() => {
                let key = key.text().unwrap_or("").to_owned();
                self.member(value, &key)
            }
            (Value::Map(_), key) if key.text().is_some() => {
                let key = key.text().unwrap_or("").to_owned();
                value.member(&key)
            }
            (Value::Name(name), _) => {
                if self.table.has_members(name) {
                    self.opaque(Unfollowed::DynamicName);
                }
                Value::Unknown
            }
            (Value::Held(..), _) => carried::carrying(Value::Unknown, carried::held(&value)),
            // `client["database"]` is still the client's.
            (Value::Made(class, _), _) if *class != "Path" => value,
            (Value::List(values), Value::Number(index)) => usize::try_from(*index)
                .ok()
                .and_then(|index| values.get(index))
                .cloned()
                .unwrap_or(Value::Unknown),
            (_, _) => {
                self.escape(&value, &self.here.clone());
                Value::Unknown
            }
        }
    }
}

/// Whether a value stays itself, whatever is called on it.
pub(super) fn is_object(value: &Value) -> bool {
    matches!(value, Value::Made(class, _) if *class != "Path")
}

/// Whether something could be called without parentheses.
fn is_callable(value: &Value) -> bool {
    match value {
        Value::Name(_) | Value::Method(..) | Value::Function => true,
        Value::Text(_)
        | Value::Number(_)
        | Value::Flag(_)
        | Value::List(_)
        | Value::Map(_)
        | Value::Made(..)
        | Value::Held(..)
        | Value::Any(_)
        | Value::Unknown => false,
    }
}

/// The program by which code of a language runs, under the name the language has for it.
fn interpreter(name: &str) -> Option<&'static str> {
    match name {
        "sys.executable" => Some("python3"),
        "process.execPath" | "process.argv0" => Some("node"),
        _ => None,
    }
}
