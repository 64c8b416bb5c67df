//! Walks the trees of some code, works out what its expressions are, and reports its calls.
//!
//! The walk goes over the code twice where it has to: once for what names stand for, since a function
//! may use a name that is imported below it, and once for what is done. Where no name is used before it
//! stands for something, the second time would find what the first did. Operators without a meaning
//! here make a value unknown; both sides are walked all the same, so that no call is passed over.
//!
//! A function or module of the table that goes where it is not followed — into a list, an
//! argument, another name — counts as called with anything.
mod arguments;
mod asked_names;
mod chains;
mod operands;
mod operators;
mod statements;

use std::ops::Range;
use std::rc::Rc;

use super::calls::Args;
use super::held_texts;
use super::names::Assignments;
use super::scopes::Scope;
use super::sockets;
use super::syntax::Syntax;
use super::tables::{CallEffect, Table};
use super::tokens::{self, Tree};
use super::values::Value;
use super::whole;
use super::{CodeEffect, CodeEffectKind, Language, Limits, Reading, Setting, Unfollowed};
use crate::seeded::SeededMap;
use asked_names::AskedNames;
use chains::is_object;

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
        assignments: Assignments::from_trees(syntax, code, &trees),
        imported: SeededMap::default(),
        whole_modules: Vec::new(),
        constants: SeededMap::default(),
        reading: Reading::default(),
        pass,
        depth: 0,
        here: 0..0,
        scope: Scope::Module,
        setting: Setting::default(),
    };
    walker.statements(&trees);
    if !walker.is_settled() {
        walker.reading = Reading::default();
        walker.setting = Setting::default();
        walker.here = 0..0;
        walker.pass = Pass::Last;
        walker.statements(&trees);
    }
    let mut reading = walker.reading;
    reading.opens_socket |= sockets::opens(language, &trees);
    if let Some(fault) = fault {
        reading.note(fault);
    }
    held_texts::note(&mut reading, syntax, &trees);
    if language == Language::Python && reading.opaque.is_none() {
        reading.whole = whole::modules(&trees);
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
    /// What the statement at hand is in.
    scope: Scope,
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
        let key = self.assignments.key(name, self.scope).into_owned();
        self.constants.insert(key, value);
    }

    /// Whether a name may be given this value: it has no other.
    fn is_only_value(&self, name: &str, value: &Value) -> bool {
        self.assignments.once(name, self.scope)
            || (is_object(value) && self.assignments.one_object(name, self.scope))
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

    /// Walks the statements of the code, each in the function it belongs to.
    fn statements(&mut self, trees: &[Tree<'t>]) {
        let runs = match self.assignments.scopes() {
            Some(scopes) => scopes.runs(),
            None => vec![(Scope::Module, 0..trees.len())],
        };
        for (scope, run) in runs {
            self.scope = scope;
            self.sequence(trees.get(run).unwrap_or(&[]));
        }
        self.scope = Scope::Module;
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

    /// A copy, or nothing known where that would cost too much.
    pub(super) fn copied(&self, value: &Value) -> Value {
        if self.limits.copies(value.size()) {
            value.clone()
        } else {
            Value::Unknown
        }
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
}

fn span_of(trees: &[Tree<'_>]) -> Option<Range<usize>> {
    Some(trees.first()?.span.start..trees.last()?.span.end)
}
