//! How often each name of some code is given a value.
//!
//! A variable stands for its constant only if nothing else could have been put into it: one
//! plain assignment, no change in place, not the parameter of any function. Functions of Python have variables of their own.

use std::borrow::Cow;
use std::collections::HashSet;

use super::Language;
use super::scopes::{Scope, Scopes};
use super::syntax::Syntax;
use super::tokens::{Kind, Literal, Piece, Tree};
use crate::seeded::{Seeded, SeededMap};

/// Counts assignments. More than one means that a value cannot be told.
#[derive(Default)]
pub(super) struct Assignments<'t> {
    counts: SeededMap<&'t str, u32>,
    /// The functions of the code, where they are told apart.
    scopes: Option<Scopes>,
    /// The same for each function, and for what stands in none.
    scoped: SeededMap<(Option<u32>, &'t str), u32>,
    /// Names that are not one function's own: stated as another's, or given a value where only a part of the function has it.
    shared: HashSet<&'t str, Seeded>,
    /// What the statement at hand is in; none between brackets.
    scope: Option<Scope>,
    /// Names whose value is changed in place.
    changed: HashSet<&'t str, Seeded>,
    /// Some list of names is longer than is looked through: what any name stands for cannot be told.
    lost: bool,
}

/// How far in front of an `=` its target may begin. A bound, so that a line of a hundred thousand
/// assignments is not looked through as many times.
const MAX_TARGET: usize = 64;

/// Names and signs of the parameters of a function without parentheses, or of a loop: nobody writes as many. A bound for the
/// same reason; behind it no name can be told.
const MAX_PARAMETERS: usize = 256;

/// What an assignment that cannot be followed counts.
const UNTOLD: u32 = 2;

impl<'t> Assignments<'t> {
    pub(super) fn from_trees(syntax: &Syntax, code: &str, trees: &[Tree<'t>]) -> Self {
        let scopes = match syntax.is(Language::Python) {
            true => Scopes::from_trees(code, trees),
            false => None,
        };
        let mut found = Self {
            scopes,
            ..Self::default()
        };
        found.list(syntax, trees, Region::Statements, Depth::Top);
        found
    }

    /// The functions of the code, where they are told apart.
    pub(super) fn scopes(&self) -> Option<&Scopes> {
        self.scopes.as_ref()
    }

    /// The name has exactly one value, given in one place.
    pub(super) fn once(&self, name: &str, scope: Scope) -> bool {
        self.one_object(name, scope) && !self.changed.contains(name)
    }

    /// The same, of an object: what is called on it or set in it does not make it another.
    pub(super) fn one_object(&self, name: &str, scope: Scope) -> bool {
        let count = match self.owner(name, scope) {
            Owner::Everybody => self.counts.get(name),
            Owner::Module => self.scoped.get(&(None, name)),
            Owner::Function(number) => self.scoped.get(&(Some(number), name)),
        };
        !self.lost && count == Some(&1)
    }

    /// The name is given some value somewhere.
    pub(super) fn any(&self, name: &str) -> bool {
        self.counts.contains_key(name)
    }

    /// What a name is kept under where it is used in a scope: two functions' own names are two.
    pub(super) fn key<'n>(&self, name: &'n str, scope: Scope) -> Cow<'n, str> {
        match self.owner(name, scope) {
            Owner::Everybody | Owner::Module => Cow::Borrowed(name),
            // No name has a blank in it.
            Owner::Function(number) => Cow::Owned(format!("{name} {number}")),
        }
    }

    /// Whose a name is where it is used in a scope.
    fn owner(&self, name: &str, scope: Scope) -> Owner {
        let Some(scopes) = self.scopes.as_ref() else {
            return Owner::Everybody;
        };
        if self.shared.contains(name) {
            return Owner::Everybody;
        }
        let mut functions = scopes.functions(scope);
        match functions.find(|number| self.scoped.contains_key(&(Some(*number), name))) {
            Some(number) => Owner::Function(number),
            None => Owner::Module,
        }
    }

    fn count(&mut self, name: &'t str, by: u32) {
        let count = self.counts.entry(name).or_default();
        *count = count.saturating_add(by);
        if self.scopes.is_none() {
            return;
        }
        let function = match self.scope {
            Some(Scope::Module) => None,
            Some(Scope::Function(number)) => Some(number),
            Some(Scope::Class) | None => {
                self.shared.insert(name);
                return;
            }
        };
        let count = self.scoped.entry((function, name)).or_default();
        *count = count.saturating_add(by);
    }

    fn list(&mut self, syntax: &Syntax, trees: &[Tree<'t>], place: Region, depth: Depth) {
        // Where the statement at hand begins.
        let mut start = 0;
        for (at, tree) in trees.iter().enumerate() {
            self.scope = match depth {
                Depth::Top => self.scopes.as_ref().map(|scopes| scopes.of_token(at)),
                Depth::Bracketed => None,
            };
            match &tree.kind {
                Kind::End => start = at + 1,
                Kind::Sign(sign) => {
                    if place == Region::Statements || !syntax_has_keywords(syntax.language) {
                        self.sign(trees, start, at, sign);
                    } else if *sign == ":=" {
                        self.sign(trees, at.saturating_sub(1), at, "=");
                    }
                    if matches!(*sign, "=~" | "<<") {
                        self.changed(trees, at);
                    }
                    if matches!(*sign, ":" | "=>" | "->" | "|") {
                        start = at + 1;
                    }
                    if *sign == "=>" {
                        self.parameters(trees, at);
                    }
                    if *sign == "|" && syntax.is(Language::Ruby) && at <= 1 {
                        self.block_parameters(trees, at);
                    }
                }
                Kind::Word(word) => self.note_word(syntax, trees, at, word),
                Kind::Group(open, inside) => {
                    let statements = match open {
                        b'{' => Region::Statements,
                        _ => Region::Arguments,
                    };
                    self.list(syntax, inside, statements, Depth::Bracketed);
                    let body_follows = trees
                        .get(at + 1)
                        .is_some_and(|next| next.group(b'{').is_some());
                    let named = at
                        .checked_sub(1)
                        .and_then(|before| trees.get(before))
                        .and_then(Tree::as_word)
                        .is_some_and(|word| !CONTROL.contains(&word));
                    if *open == b'(' && body_follows && named && syntax.is(Language::JavaScript) {
                        self.untold(inside);
                    }
                }
                Kind::Text(literal) | Kind::Shell(literal) => self.holes(syntax, literal),
                Kind::Regex(inside) => {
                    self.list(syntax, inside, Region::Statements, Depth::Bracketed);
                }
                Kind::Number(_) | Kind::Words(_) => {}
            }
        }
    }

    fn holes(&mut self, syntax: &Syntax, literal: &Literal<'t>) {
        for piece in &literal.pieces {
            match piece {
                Piece::Hole(trees) => {
                    self.list(syntax, trees, Region::Arguments, Depth::Bracketed);
                }
                Piece::Text(_) => {}
            }
        }
    }

    /// An assignment: a plain one to one name, or any other to all names in front.
    fn sign(&mut self, trees: &[Tree<'t>], start: usize, at: usize, sign: &str) {
        if matches!(sign, "++" | "--") {
            for near in [at.checked_sub(1), at.checked_add(1)].into_iter().flatten() {
                if let Some(word) = trees.get(near).and_then(Tree::as_word) {
                    self.count(word, UNTOLD);
                }
            }
            return;
        }
        let assigns = sign == "=" || sign == ":=" || is_compound(sign);
        if !assigns {
            return;
        }
        // `a = b = c`: the names of this target begin after the last `=`.
        let start = start.max(at.saturating_sub(MAX_TARGET));
        let mut from = start;
        for (place, tree) in trees.iter().enumerate().take(at).skip(start) {
            if tree.sign().is_some_and(|sign| sign == "=" || sign == ",")
                && sign_at_target(trees, place)
            {
                from = place + 1;
            }
        }
        let target = trees.get(from..at).unwrap_or(&[]);
        let names: Vec<&Tree<'t>> = target
            .iter()
            .filter(|tree| {
                tree.as_word()
                    .is_none_or(|word| !DECLARATIONS.contains(&word))
            })
            .collect();
        match names.as_slice() {
            [only] if sign != "=" && sign != ":=" => {
                if let Some(word) = only.as_word() {
                    self.count(word, UNTOLD);
                }
            }
            [only] => match only.as_word() {
                Some(word) => self.count(word, 1),
                None => self.untold(std::slice::from_ref(only)),
            },
            // `a.b = …` sets something in what `a` stands for.
            [object, dot, _] if object.as_word().is_some() && dot.is_sign(".") => {
                if let Some(word) = object.as_word() {
                    self.changed.insert(word);
                }
            }
            _ => {
                // `a, b = …` and `a[0] = …`: the names in front of a subscript or comma.
                for tree in target {
                    self.untold(std::slice::from_ref(tree));
                }
            }
        }
        // In `a, b = 1, 2` the comma hides the names further in front.
        for (place, tree) in trees.iter().enumerate().take(from).skip(start) {
            if tree.is_sign(",")
                && !sign_at_target(trees, place)
                && let Some(word) = place
                    .checked_sub(1)
                    .and_then(|near| trees.get(near))
                    .and_then(Tree::as_word)
            {
                self.count(word, UNTOLD);
            }
        }
    }

    /// All names of these trees get values that are not followed.
    fn untold(&mut self, trees: &[Tree<'t>]) {
        for tree in trees {
            match &tree.kind {
                Kind::Word(word) => self.count(word, UNTOLD),
                Kind::Group(_, inside) => self.untold(inside),
                Kind::Number(_)
                | Kind::Text(_)
                | Kind::Shell(_)
                | Kind::Words(_)
                | Kind::Regex(_)
                | Kind::Sign(_)
                | Kind::End => {}
            }
        }
    }

    /// `x =~ s/…/…/` and `x << "…"` change what stands in front.
    fn changed(&mut self, trees: &[Tree<'t>], at: usize) {
        if let Some(word) = at
            .checked_sub(1)
            .and_then(|near| trees.get(near))
            .and_then(Tree::as_word)
        {
            self.count(word, UNTOLD);
        }
    }

    /// The parameters in front of an arrow.
    fn parameters(&mut self, trees: &[Tree<'t>], at: usize) {
        if let Some(before) = at.checked_sub(1).and_then(|near| trees.get(near)) {
            self.untold(std::slice::from_ref(before));
        }
    }

    /// `{ |a, b| …`: loops over constants count their variable once.
    fn block_parameters(&mut self, trees: &[Tree<'t>], at: usize) {
        let inside: Vec<&Tree<'t>> = trees
            .iter()
            .skip(at + 1)
            .take_while(|tree| !tree.is_sign("|"))
            .take(MAX_PARAMETERS)
            .collect();
        self.lost |= inside.len() == MAX_PARAMETERS;
        let by = if inside.len() == 1 { 1 } else { UNTOLD };
        for tree in inside {
            if let Some(word) = tree.as_word() {
                self.count(word, by);
            }
        }
    }

    fn note_word(&mut self, syntax: &Syntax, trees: &[Tree<'t>], at: usize, word: &'t str) {
        let next = trees.get(at + 1);
        match word {
            "def" | "function" | "sub" | "fn" | "catch" => {
                for tree in trees.iter().skip(at + 1).take(2) {
                    if let Some(inside) = tree.group(b'(') {
                        self.parameters_of_definition(at, inside);
                        break;
                    }
                    if tree.as_word().is_none() {
                        break;
                    }
                }
                if let Some(name) = next.and_then(Tree::as_word) {
                    self.count(name, UNTOLD);
                }
            }
            "lambda" => {
                let rest = trees.iter().skip(at + 1);
                let parameters = rest.take_while(|tree| !tree.is_sign(":"));
                let mut looked_at = 0;
                for tree in parameters.take(MAX_PARAMETERS) {
                    looked_at += 1;
                    if let Some(name) = tree.as_word() {
                        self.count(name, UNTOLD);
                    }
                }
                self.lost |= looked_at == MAX_PARAMETERS;
            }
            "global" | "nonlocal" if syntax.is(Language::Python) => {
                let named = trees.iter().skip(at + 1).take_while(|tree| !tree.is_end());
                self.shared.extend(named.filter_map(Tree::as_word));
            }
            "for" | "foreach" => self.loop_variables(syntax, trees, at),
            "as" => {
                if let Some(name) = next.and_then(Tree::as_word) {
                    let told = syntax.is(Language::Php)
                        || (syntax.is(Language::Python) && opens_with(trees, at));
                    let by = if told { 1 } else { UNTOLD };
                    self.count(name, by);
                }
            }
            "of" => {
                if let Some(name) = at
                    .checked_sub(1)
                    .and_then(|near| trees.get(near))
                    .and_then(Tree::as_word)
                {
                    self.count(name, 1);
                }
            }
            "do" if syntax.is(Language::Ruby) && next.is_some_and(|tree| tree.is_sign("|")) => {
                self.block_parameters(trees, at + 1);
            }
            _ => {
                let changes = next.is_some_and(|dot| dot.is_sign("."))
                    && trees
                        .get(at + 2)
                        .and_then(Tree::as_word)
                        .is_some_and(|method| {
                            CHANGING.contains(&method)
                                || method.ends_with('!')
                                || (syntax.is(Language::Ruby) && CHANGING_TEXT.contains(&method))
                        });
                if changes {
                    self.changed.insert(word);
                }
            }
        }
    }

    /// What a function is given is its own.
    fn parameters_of_definition(&mut self, at: usize, inside: &[Tree<'t>]) {
        let around = self.scope;
        let opened = self
            .scopes
            .as_ref()
            .filter(|_| around.is_some())
            .and_then(|scopes| scopes.opened_at(at));
        self.scope = opened.map(Scope::Function);
        self.untold(inside);
        self.scope = around;
    }

    fn loop_variables(&mut self, syntax: &Syntax, trees: &[Tree<'t>], at: usize) {
        let mut names = Vec::new();
        for (looked_at, tree) in trees.iter().skip(at + 1).enumerate() {
            if looked_at == MAX_PARAMETERS {
                self.lost = true;
                break;
            }
            match &tree.kind {
                Kind::Word("in") => break,
                Kind::Word(word) if !DECLARATIONS.contains(word) => names.push(*word),
                Kind::Word(_) => {}
                Kind::Sign(",") => {}
                Kind::Group(_, inside) => {
                    if names.is_empty() && !syntax.is(Language::Perl) {
                        self.untold_before_in(inside);
                    }
                    break;
                }
                Kind::Number(_)
                | Kind::Text(_)
                | Kind::Shell(_)
                | Kind::Words(_)
                | Kind::Regex(_)
                | Kind::Sign(_)
                | Kind::End => break,
            }
        }
        let by = if names.len() == 1 { 1 } else { UNTOLD };
        for name in names {
            self.count(name, by);
        }
    }

    /// `for (const x in …)`.
    fn untold_before_in(&mut self, inside: &[Tree<'t>]) {
        let stands = inside.iter().position(|tree| tree.is_word("in"));
        if let Some(before) = stands.and_then(|at| inside.get(..at)) {
            self.untold(before);
        }
    }
}

/// Whose a name is.
enum Owner {
    /// No function's alone, as far as that can be told.
    Everybody,
    /// The code's outside of its functions.
    Module,
    /// That function's.
    Function(u32),
}

/// Whether statements stand between brackets, where a name may be an expression's own.
#[derive(Clone, Copy)]
enum Depth {
    Top,
    Bracketed,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Region {
    Statements,
    /// Between parentheses, where `a=b` may name an argument.
    Arguments,
}

/// `with a as b, c as d`: whether this `as` belongs to a `with`.
fn opens_with(trees: &[Tree<'_>], at: usize) -> bool {
    trees
        .iter()
        .take(at)
        .rev()
        .take(MAX_TARGET)
        .take_while(|tree| !tree.is_end())
        .any(|tree| tree.is_word("with"))
}

/// `f(a=b)` names an argument and assigns nothing.
fn syntax_has_keywords(language: Language) -> bool {
    language == Language::Python
}

/// A comma or `=` that ends another target of the same statement: nothing but names follow it.
fn sign_at_target(trees: &[Tree<'_>], at: usize) -> bool {
    trees.get(at).is_some_and(|tree| tree.is_sign("=")) || declares(trees, at)
}

/// `const a = 1, b = 2`: each is a plain assignment.
fn declares(trees: &[Tree<'_>], comma: usize) -> bool {
    trees
        .iter()
        .take(comma)
        .rev()
        .take(64)
        .take_while(|tree| !tree.is_end())
        .any(|tree| {
            tree.as_word()
                .is_some_and(|word| DECLARATIONS.contains(&word))
        })
}

fn is_compound(sign: &str) -> bool {
    sign.len() > 1
        && sign.ends_with('=')
        && !matches!(
            sign,
            "==" | "===" | "!=" | "!==" | "<=" | ">=" | "~=" | ":="
        )
}

static DECLARATIONS: &[&str] = &[
    "const", "let", "var", "my", "our", "local", "export", "static", "state",
];

static CONTROL: &[&str] = &["if", "while", "for", "switch", "with", "elseif", "foreach"];

/// Methods that change the value they are called on.
static CHANGING: &[&str] = &[
    "append",
    "extend",
    "insert",
    "push",
    "unshift",
    "splice",
    "pop",
    "shift",
    "reverse",
    "sort",
    "fill",
    "clear",
    "remove",
    "update",
    "setdefault",
    "add",
];

/// Methods that change a text of Ruby. Elsewhere texts do not change.
static CHANGING_TEXT: &[&str] = &["replace", "concat", "prepend"];
