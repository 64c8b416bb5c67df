//! Walks the trees of some code, works out what its expressions are, and reports its calls.
//!
//! The walk goes over the code twice where it has to: once for what names stand for, since a function
//! may use a name that is imported below it, and once for what is done. Where no name is used before it
//! stands for something, the second time would find what the first did. Operators without a meaning
//! here make a value unknown; both sides are walked all the same, so that no call is passed over.
//!
//! A function or module of the table that goes where it is not followed — into a list, an
//! argument, another name — counts as called with anything.

use std::ops::Range;
use std::rc::Rc;

use super::calls::Args;
use super::constants;
use super::names::Assignments;
use super::sockets;
use super::syntax::{Lines, Syntax};
use super::tables::{CallEffect, Table};
use super::tokens::{self, Kind, Literal, Piece, Tree};
use super::values::{Value, joined};
use super::{
    CodeEffect, CodeEffectKind, Language, Limits, Operand, Reading, Setting, Unfollowed, carried,
};
use crate::rules::traces;
use crate::seeded::SeededMap;

/// Expressions and operands inside of each other. Groups are bounded by the lexer; this bounds
/// `a = b = …` and `f g h …`.
const MAX_DEPTH: usize = 128;

/// Names and commas in front of the `in` of a loop that are looked at.
const MAX_PARTS: usize = 16;

pub(super) fn read(language: Language, code: &str, limits: &Limits) -> Reading {
    read_beginning(Pass::First(Box::default()), language, code, limits)
}

/// The same, over the code twice whatever it says: once must come to this, too.
#[cfg(test)]
pub(super) fn read_twice(language: Language, code: &str, limits: &Limits) -> Reading {
    read_beginning(Pass::Names, language, code, limits)
}

fn read_beginning(pass: Pass, language: Language, code: &str, limits: &Limits) -> Reading {
    let syntax = Syntax::for_language(language);
    let (trees, fault) = tokens::trees(syntax, code, limits);
    let mut walker = Walker {
        syntax,
        table: Table::for_language(language),
        limits,
        assignments: Assignments::from_trees(syntax, &trees),
        imported: SeededMap::default(),
        whole_modules: Vec::new(),
        constants: SeededMap::default(),
        reading: Reading::default(),
        pass,
        depth: 0,
        here: 0..0,
        setting: Setting::default(),
    };
    walker.sequence(&trees);
    if !walker.is_settled() {
        walker.reading = Reading::default();
        walker.setting = Setting::default();
        walker.here = 0..0;
        walker.pass = Pass::Last;
        walker.sequence(&trees);
    }
    let mut reading = walker.reading;
    reading.opens_socket |= sockets::opens(language, &trees);
    if let Some(fault) = fault {
        reading.note(fault);
    }
    reading
}

pub(super) struct Walker<'t, 'l> {
    pub(super) syntax: &'static Syntax,
    pub(super) table: &'static Table,
    pub(super) limits: &'l Limits,
    assignments: Assignments<'t>,
    /// What imports bound names to.
    pub(super) imported: SeededMap<String, Value>,
    /// Modules all of whose names are imported.
    pub(super) whole_modules: Vec<String>,
    /// Names with one constant value.
    constants: SeededMap<String, Value>,
    pub(super) reading: Reading,
    pass: Pass,
    depth: usize,
    /// The operand read last.
    pub(super) here: Range<usize>,
    /// What programs are started under from here on.
    pub(super) setting: Setting,
}

/// Which time the walk goes over the code.
enum Pass {
    /// The first, which counts if nothing comes up that only the next can know.
    First(Box<AskedNames>),
    /// The first, of which something did: only what names stand for is looked for.
    Names,
    /// The second, with what names stand for.
    Last,
}

/// Names that were used when they stood for nothing that is imported, each by a bit: two may share one,
/// and then the code is walked twice for nothing.
struct AskedNames([u64; AskedNames::WORDS]);

impl AskedNames {
    /// Some hundred names fill a hundredth of so many bits; clearing them costs less than reading one line.
    const WORDS: usize = 256;

    fn place(name: &str) -> (usize, u64) {
        let slot = traces::slot(name, Self::WORDS * 64);
        (slot / 64, 1 << (slot % 64))
    }

    fn note(&mut self, name: &str) {
        let (word, bit) = Self::place(name);
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }

    fn holds(&self, name: &str) -> bool {
        let (word, bit) = Self::place(name);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }
}

impl Default for AskedNames {
    fn default() -> Self {
        Self([0; Self::WORDS])
    }
}

impl<'t> Walker<'t, '_> {
    /// Whether the first time over found what a second would: no name was used before it stood for
    /// something, no module brought names in unnamed, and no code runs other code, which is read once.
    fn is_settled(&self) -> bool {
        match self.pass {
            Pass::First(_) => self.whole_modules.is_empty(),
            Pass::Names => false,
            Pass::Last => true,
        }
    }

    /// Whether what is done counts.
    fn is_recording(&self) -> bool {
        match self.pass {
            Pass::First(_) | Pass::Last => true,
            Pass::Names => false,
        }
    }

    /// Gives a name a constant value.
    fn bind(&mut self, name: &str, value: Value) {
        self.stands_for_something(name);
        self.constants.insert(name.to_owned(), value);
    }

    /// Takes note that a name stands for something from here on.
    pub(super) fn stands_for_something(&mut self, name: &str) {
        if let Pass::First(asked) = &self.pass
            && asked.holds(name)
        {
            self.pass = Pass::Names;
        }
    }

    pub(super) fn effect(&mut self, kind: CodeEffectKind, span: &Range<usize>) {
        self.deed_under(kind, Setting::default(), span);
    }

    /// A effect under a setting of its own, and where it has none under that of the code.
    pub(super) fn deed_under(&mut self, kind: CodeEffectKind, own: Setting, span: &Range<usize>) {
        if !self.is_recording() {
            return;
        }
        let mut setting = own;
        if setting.directory.is_none() {
            setting.directory.clone_from(&self.setting.directory);
        }
        setting
            .variables
            .splice(0..0, self.setting.variables.iter().cloned());
        let setting = (setting != Setting::default()).then(|| Rc::new(setting));
        self.reading.effects.push(CodeEffect {
            kind,
            span: span.clone(),
            setting,
        });
    }

    pub(super) fn opaque(&mut self, why: Unfollowed) {
        if self.is_recording() {
            self.reading.note(why);
        }
    }

    /// Reads code that the code at hand runs.
    pub(super) fn run_code(&mut self, language: Language, code: &str, span: &Range<usize>) {
        match self.pass {
            // Read twice at every level, code in code in code would be read any number of times.
            Pass::First(_) | Pass::Names => self.pass = Pass::Names,
            Pass::Last => {
                let inner = self.limits.read_inside(language, code);
                self.reading.absorb(inner, span);
            }
        }
    }

    /// Goes one level deeper; false where that is too deep.
    pub(super) fn descend(&mut self) -> bool {
        if self.depth >= MAX_DEPTH {
            self.opaque(Unfollowed::TooDeep);
            return false;
        }
        self.depth += 1;
        true
    }

    pub(super) fn ascend(&mut self) {
        self.depth -= 1;
    }

    pub(super) fn is(&self, language: Language) -> bool {
        self.syntax.is(language)
    }

    /// Walks statements.
    pub(super) fn sequence(&mut self, trees: &[Tree<'t>]) {
        let mut at = 0;
        while at < trees.len() {
            if self.is(Language::Python) && trees.get(at).is_some_and(|tree| tree.is_sign(":")) {
                at += 1;
                continue;
            }
            let before = at;
            let value = self.expression(trees, &mut at);
            if self.is(Language::Php)
                && trees
                    .get(before)
                    .is_some_and(|tree| tree.is_word("echo") || tree.is_word("print"))
            {
                let span = self.here.clone();
                self.perform(
                    &[CallEffect::Print(0)],
                    &Args::one(self.copied(&value)),
                    &span,
                );
            }
            self.dropped(value, trees.get(before..at).unwrap_or(&[]));
            at += usize::from(at == before);
        }
    }

    /// A value nobody takes. Perl calls a function that stands alone, on `$_`.
    fn dropped(&mut self, value: Value, trees: &[Tree<'t>]) {
        if !self.is(Language::Perl) {
            return;
        }
        if let (Value::Name(name), Some(span)) = (value, span_of(trees)) {
            let args = Args {
                list: vec![Value::Unknown],
                ..Args::default()
            };
            if self
                .table
                .acts(&name)
                .is_some_and(|acts| acts.iter().any(CallEffect::takes_topic))
            {
                self.call(Value::Name(name), args, &span);
            }
        }
    }

    /// An expression, up to a comma or the end of its statement.
    pub(super) fn expression(&mut self, trees: &[Tree<'t>], at: &mut usize) -> Value {
        if !self.descend() {
            *at = trees.len();
            return Value::Unknown;
        }
        let value = self.operators(trees, at);
        self.ascend();
        value
    }

    fn operators(&mut self, trees: &[Tree<'t>], at: &mut usize) -> Value {
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
                        && (self.assignments.once(name)
                            || (is_object(&value) && self.assignments.one_object(name)))
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
    fn continues(&self, trees: &[Tree<'t>], at: usize) -> bool {
        self.syntax.lines == Lines::EndUnlessContinued
            && trees.get(at + 1).is_some_and(|next| {
                next.sign().is_some_and(|sign| {
                    (self.syntax.member.contains(&sign) && sign != "::")
                        || (self.is(Language::JavaScript) && self.syntax.concat.contains(&sign))
                })
            })
    }

    fn skip_lines(&self, trees: &[Tree<'t>], at: &mut usize) {
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
        let before = name.and_then(|name| self.constants.remove(name));
        let value = self.expression(trees, at);
        drop(before);
        if name == Some("@ARGV") && self.is(Language::Perl) {
            self.opened_by_diamond(&value, &span);
        }
        match (name, left.as_slice()) {
            (Some(name), _)
                if self.assignments.once(name)
                    || (is_object(&value) && self.assignments.one_object(name)) =>
            {
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

    /// A copy, or nothing known where that would cost too much.
    pub(super) fn copied(&self, value: &Value) -> Value {
        if self.limits.copies(value.size()) {
            value.clone()
        } else {
            Value::Unknown
        }
    }

    /// `for x in values`, the `for` being read.
    fn for_each(&mut self, trees: &[Tree<'t>], at: &mut usize) {
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

    pub(super) fn bind_each(&mut self, name: &str, values: Value) {
        let value = values.each();
        if self.assignments.once(name) || (is_object(&value) && self.assignments.one_object(name)) {
            let copy = self.copied(&value);
            self.bind(name, copy);
        } else {
            self.escape(&value, &self.here.clone());
        }
    }

    /// `x of values`, `values as $x`.
    fn loop_over(
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

    /// An operand with the signs and words in front of it.
    pub(super) fn operand(&mut self, trees: &[Tree<'t>], at: &mut usize) -> Value {
        if !self.descend() {
            *at = trees.len();
            return Value::Unknown;
        }
        let value = self.prefixed(trees, at);
        self.ascend();
        value
    }

    fn prefixed(&mut self, trees: &[Tree<'t>], at: &mut usize) -> Value {
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
    fn keyword(&mut self, trees: &[Tree<'t>], at: &mut usize, word: &str) -> Option<Value> {
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

    /// A value and what follows it. A method of Ruby is called even if no argument follows.
    fn chain(&mut self, trees: &[Tree<'t>], at: &mut usize) -> Value {
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
    fn given(
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
    fn begins_argument(&self, value: &Value, tree: &Tree<'t>, next: Option<&Tree<'t>>) -> bool {
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

    fn primary(&mut self, trees: &[Tree<'t>], at: &mut usize) -> Value {
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

    /// What a name stands for.
    fn name(&mut self, word: &str, called: bool) -> Value {
        if let Some(value) = self.imported.get(word) {
            return value.clone();
        }
        if let Pass::First(asked) = &mut self.pass {
            asked.note(word);
        }
        if let Some(value) = self.constants.get(word) {
            return self.copied(value);
        }
        match word {
            "True" | "true" | "TRUE" => return Value::Flag(true),
            "False" | "false" | "FALSE" => return Value::Flag(false),
            "__dirname" | "__filename" | "__DIR__" | "__FILE__" => {
                return Value::Text(Operand::Starts("/".to_owned()));
            }
            _ => {}
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
    fn member(&mut self, value: Value, name: &str) -> Value {
        if HIDDEN.contains(&name) {
            self.escape(&value, &self.here.clone());
            if name != "__dict__" {
                self.opaque(Unfollowed::DynamicName);
            }
            return Value::Unknown;
        }
        value.member(name)
    }

    /// A string with the values of its holes.
    pub(super) fn literal(&mut self, literal: &Literal<'t>) -> Value {
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

    fn group(&mut self, tree: &Tree<'t>) -> Value {
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
    fn braces(&mut self, inside: &[Tree<'t>]) -> Value {
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

    /// A command that is given more words, and may be run with them.
    fn with_words(&mut self, mut words: Vec<Value>, args: Args) -> Value {
        words.extend(args.list);
        let span = self.here.clone();
        let all = words.iter().flat_map(Value::operands).collect();
        self.effect(CodeEffectKind::Run(all), &span);
        Value::Made("Program", Box::new(Value::List(words)))
    }

    /// What stands between parentheses or brackets.
    pub(super) fn arguments(&mut self, inside: &[Tree<'t>]) -> Args {
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
    fn bare_arguments(&mut self, trees: &[Tree<'t>], at: &mut usize) -> Args {
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

    fn argument(&mut self, trees: &[Tree<'t>], at: &mut usize, args: &mut Args) {
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
    pub(super) fn escape(&mut self, value: &Value, span: &Range<usize>) {
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

/// Whether a value stays itself, whatever is called on it.
fn is_object(value: &Value) -> bool {
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

fn span_of(trees: &[Tree<'_>]) -> Option<Range<usize>> {
    Some(trees.first()?.span.start..trees.last()?.span.end)
}

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

/// Members that lead behind a module or class.
static HIDDEN: &[&str] = &[
    "__dict__",
    "__subclasses__",
    "__globals__",
    "__builtins__",
    "__loader__",
];
