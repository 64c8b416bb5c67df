//! The walk from a syntax tree to the list of commands.
//!
//! Promises that each simple command of the tree, and each substitution in any word of it,
//! is visited once, and that the list stays within its limits. It takes every branch.

use super::commands::{Assignment, Command, Opaque, Reached, Wrapping};
use super::input::{self, Input};
use super::reader::{read, read_expanding};
use super::redirects;
use super::refusal::{Refusal, RefusalReason};
use super::settings;
use super::texts::{self, Argument};
use super::tree::{
    AssignmentNode, CommandKind, CommandNode, ConditionToken, HereDocument, Item, Part, Pipeline,
    Redirect, RedirectKind, Script, Simple, Span, Substitution, Word,
};
use super::unwrapping;

/// Most commands and words listed for one text.
const MOST_WORDS: usize = 200_000;
/// Most bytes of code read that stood in words of the text.
const MOST_CODE: usize = 4 << 20;
/// Deepest nesting of compound commands and substitutions over all code in code. One text
/// alone stays far below; the limit keeps the stack small when such texts hold each other.
const MOST_LEVELS: usize = 150;
/// Deepest nesting of code in words of commands in code.
const DEEPEST: usize = 24;

/// The commands of a text's tree.
pub(super) fn script(script: &Script, source: &str) -> Result<Vec<Command>, Refusal> {
    let mut listing = Listing::default();
    let scope = Scope {
        source,
        held: None,
        reached: Reached::Directly,
        depth: 0,
        documents: &script.here_documents,
    };
    listing.script(script, &scope, &Input::Inherited)?;
    Ok(listing.commands)
}

/// The commands of a program started with these words.
pub(super) fn words(arguments: Vec<Argument>) -> Result<Vec<Command>, Refusal> {
    let mut listing = Listing::default();
    if !arguments.is_empty() {
        let start = Start {
            reached: Reached::Directly,
            depth: 0,
            input: Input::Inherited,
        };
        listing.start(Vec::new(), arguments, start)?;
    }
    Ok(listing.commands)
}

/// How the walk came to a piece of the tree.
#[derive(Clone)]
pub(super) struct Scope<'t> {
    /// The text the tree was read from.
    pub(super) source: &'t str,
    /// The word of the caller's text that holds this text.
    held: Option<Span>,
    reached: Reached,
    depth: usize,
    documents: &'t [HereDocument],
}

/// How a command that stands in another command's words is started.
#[derive(Clone)]
pub(super) struct Start {
    pub(super) reached: Reached,
    pub(super) depth: usize,
    pub(super) input: Input,
}

/// The list as it grows.
#[derive(Default)]
pub(super) struct Listing {
    pub(super) commands: Vec<Command>,
    words: usize,
    code: usize,
    level: usize,
}

impl Listing {
    /// Marks a command; the first mark stays.
    pub(super) fn mark(&mut self, command: usize, opaque: Opaque) {
        if let Some(command) = self.commands.get_mut(command) {
            command.opaque.get_or_insert(opaque);
        }
    }

    /// Lists a command and what it starts.
    pub(super) fn start(
        &mut self,
        assignments: Vec<(String, Argument)>,
        arguments: Vec<Argument>,
        start: Start,
    ) -> Result<(), Refusal> {
        let first = arguments.first().map_or(0, |word| word.text.span.start);
        let last = arguments.last().map_or(first, |word| word.text.span.end);
        let place = self.add(Command {
            span: first..last.max(first),
            assignments: assignments.iter().map(as_assignment).collect(),
            words: arguments.iter().map(|word| word.text.clone()).collect(),
            redirects: Vec::new(),
            reached: start.reached,
            opaque: None,
        })?;
        self.mark_assignments(place, &assignments);
        self.unwrap(place, &arguments, &start)
    }

    /// Lists the commands of code that stands in a word of a listed command.
    pub(super) fn code(
        &mut self,
        wrapper: usize,
        how: Wrapping,
        code: &Argument,
        start: &Start,
    ) -> Result<(), Refusal> {
        if code.text.dynamic {
            // What is known of it is still listed: it may be worth a denial.
            self.mark(wrapper, Opaque::DynamicCode);
        }
        self.known_code(wrapper, how, code.unquoted(), &code.text.span, start)
    }

    /// Lists the commands of a text that a listed command runs as code.
    pub(super) fn known_code(
        &mut self,
        wrapper: usize,
        how: Wrapping,
        code: &str,
        span: &Span,
        start: &Start,
    ) -> Result<(), Refusal> {
        if start.depth >= DEEPEST {
            self.mark(wrapper, Opaque::TooDeep);
            return Ok(());
        }
        self.code += code.len();
        if self.code > MOST_CODE {
            return refuse(RefusalReason::TooMuchWork, span);
        }
        let Ok(script) = read(code) else {
            self.mark(wrapper, Opaque::Unreadable);
            return Ok(());
        };
        let scope = Scope {
            source: code,
            held: Some(span.clone()),
            reached: Reached::Within { wrapper, how },
            depth: start.depth + 1,
            documents: &script.here_documents,
        };
        self.script(&script, &scope, &start.input)
    }

    fn add(&mut self, command: Command) -> Result<usize, Refusal> {
        self.words += command.words.len() + 1;
        if self.words > MOST_WORDS {
            return refuse(RefusalReason::TooMuchWork, &command.span);
        }
        self.commands.push(command);
        Ok(self.commands.len() - 1)
    }

    fn unwrap(
        &mut self,
        place: usize,
        arguments: &[Argument],
        start: &Start,
    ) -> Result<(), Refusal> {
        let Some(program) = arguments.first() else {
            return Ok(());
        };
        if program.text.dynamic || program.text.glob {
            self.mark(place, Opaque::DynamicProgram);
            return Ok(());
        }
        if start.depth >= DEEPEST {
            self.mark(place, Opaque::TooDeep);
            return Ok(());
        }
        let inner = Start {
            depth: start.depth + 1,
            ..start.clone()
        };
        unwrapping::unwrap(self, place, arguments, &inner)
    }

    fn mark_assignments(&mut self, place: usize, assignments: &[(String, Argument)]) {
        let runs = |(name, value): &(String, Argument)| settings::variable_runs(name, value);
        if assignments.iter().any(runs) {
            self.mark(place, Opaque::ExecutableSetting);
        }
    }

    fn script(&mut self, script: &Script, scope: &Scope<'_>, input: &Input) -> Result<(), Refusal> {
        let scope = Scope {
            documents: &script.here_documents,
            ..scope.clone()
        };
        self.items(&script.items, &scope, input)
    }

    fn items(&mut self, items: &[Item], scope: &Scope<'_>, input: &Input) -> Result<(), Refusal> {
        items
            .iter()
            .try_for_each(|item| self.pipeline(&item.pipeline, scope, input))
    }

    fn pipeline(
        &mut self,
        pipeline: &Pipeline,
        scope: &Scope<'_>,
        input: &Input,
    ) -> Result<(), Refusal> {
        let mut input = input.clone();
        for (at, node) in pipeline.commands.iter().enumerate() {
            let timed = pipeline.timed && at == 0;
            self.level += 1;
            if self.level > MOST_LEVELS {
                return refuse(RefusalReason::TooDeep, &scope.place(&node.span));
            }
            self.node(node, timed, scope, &input)?;
            self.level -= 1;
            if at + 1 < pipeline.commands.len() {
                input = Self::output(node, scope, &input);
            }
        }
        Ok(())
    }

    /// What the next command of a pipeline reads from this one.
    fn output(node: &CommandNode, scope: &Scope<'_>, input: &Input) -> Input {
        let CommandKind::Simple(simple) = &node.kind else {
            return Input::Unknown;
        };
        let (arguments, _) = simple_words(simple, scope);
        let input = redirects::input(&node.redirects, scope, input);
        input::output(&arguments, &input)
    }

    fn node(
        &mut self,
        node: &CommandNode,
        timed: bool,
        scope: &Scope<'_>,
        input: &Input,
    ) -> Result<(), Refusal> {
        let input = &redirects::input(&node.redirects, scope, input);
        if let CommandKind::Simple(simple) = &node.kind {
            return self.simple(node, simple, timed, scope, input);
        }
        if !node.redirects.is_empty() {
            self.bare(node, scope)?;
        }
        match &node.kind {
            CommandKind::Simple(_) => Ok(()),
            CommandKind::Subshell(items) | CommandKind::Group(items) => {
                self.items(items, scope, input)
            }
            CommandKind::If {
                branches,
                otherwise,
            } => {
                for (condition, body) in branches {
                    self.items(condition, scope, input)?;
                    self.items(body, scope, input)?;
                }
                self.items(otherwise.as_deref().unwrap_or_default(), scope, input)
            }
            CommandKind::Loop {
                condition, body, ..
            } => {
                self.items(condition, scope, input)?;
                self.items(body, scope, input)
            }
            CommandKind::Each { words, body, .. } => {
                self.substitutions_in(words.iter().flatten(), scope)?;
                self.items(body, scope, input)
            }
            CommandKind::ForArithmetic { header, body } => {
                self.parts(&header.parts, scope)?;
                self.items(body, scope, input)
            }
            CommandKind::Case { subject, clauses } => {
                self.parts(&subject.parts, scope)?;
                for clause in clauses {
                    self.substitutions_in(&clause.patterns, scope)?;
                    self.items(&clause.body, scope, input)?;
                }
                Ok(())
            }
            CommandKind::Condition(tokens) => self.condition(tokens, scope),
            CommandKind::Arithmetic(arithmetic) => self.parts(&arithmetic.parts, scope),
            CommandKind::Function { name, body } => {
                self.parts(&name.parts, scope)?;
                self.node(body, false, scope, &Input::Inherited)
            }
            CommandKind::Coproc { body, .. } => self.node(body, false, scope, &Input::Unknown),
        }
    }

    /// `[[` evaluates operands of `-eq` and `-v` as arithmetic, quoted or not.
    fn condition(&mut self, tokens: &[ConditionToken], scope: &Scope<'_>) -> Result<(), Refusal> {
        for token in tokens {
            let ConditionToken::Word(word) = token else {
                continue;
            };
            self.parts(&word.parts, scope)?;
            let span = scope.held.clone().unwrap_or_else(|| word.span.clone());
            let operand = texts::argument(word, scope.source, &span);
            if let Some(text) = operand.known()
                && text.contains('[')
            {
                let start = scope.start(&Input::Inherited);
                self.evaluated(None, text, &span, &start)?;
            }
        }
        Ok(())
    }

    /// Lists the substitutions of a text that bash expands though it was quoted.
    pub(super) fn evaluated(
        &mut self,
        command: Option<usize>,
        text: &str,
        span: &Span,
        start: &Start,
    ) -> Result<(), Refusal> {
        if !text.contains("$(") && !text.contains('`') && !text.contains("${") {
            return Ok(());
        }
        let parts = match (read_expanding(text), command) {
            (Ok(parts), _) => parts,
            (Err(_), Some(command)) => {
                self.mark(command, Opaque::Unreadable);
                return Ok(());
            }
            // There is no command to mark: `[[` is none.
            (Err(refusal), None) => return refuse(refusal.reason, span),
        };
        let scope = Scope {
            source: text,
            held: Some(span.clone()),
            reached: start.reached,
            depth: start.depth + 1,
            documents: &[],
        };
        self.parts(&parts, &scope)
    }

    /// Lists the redirects of a compound command as a command without words.
    fn bare(&mut self, node: &CommandNode, scope: &Scope<'_>) -> Result<(), Refusal> {
        self.add(Command {
            span: scope.place(&node.span),
            assignments: Vec::new(),
            words: Vec::new(),
            redirects: redirects::redirections(&node.redirects, scope),
            reached: scope.reached,
            opaque: None,
        })?;
        self.redirects(&node.redirects, scope)
    }

    fn simple(
        &mut self,
        node: &CommandNode,
        simple: &Simple,
        timed: bool,
        scope: &Scope<'_>,
        input: &Input,
    ) -> Result<(), Refusal> {
        let (arguments, assignments) = simple_words(simple, scope);
        let place = self.add(Command {
            span: scope.place(&node.span),
            assignments: assignments.iter().map(as_assignment).collect(),
            words: arguments.iter().map(|word| word.text.clone()).collect(),
            redirects: redirects::redirections(&node.redirects, scope),
            reached: scope.reached,
            opaque: None,
        })?;
        for assignment in &simple.assignments {
            self.parts(assignment.subscript.as_deref().unwrap_or_default(), scope)?;
            self.parts(&assignment.value.parts, scope)?;
        }
        self.substitutions_in(&simple.words, scope)?;
        self.redirects(&node.redirects, scope)?;
        let values = simple.assignments.iter().map(|node| &node.value);
        if simple
            .words
            .iter()
            .chain(values)
            .any(|word| evaluates(&word.parts))
        {
            self.mark(place, Opaque::DynamicCode);
        }
        self.unwrap(place, &arguments, &scope.start(input))?;
        self.mark_assignments(place, &assignments);
        // Shells without the reserved word `time` run a program of that name, and what bash
        // takes for the command is then an option of it.
        let first = arguments.first();
        if timed && first.is_some_and(|word| word.text.text.starts_with('-')) {
            let mut words = vec![Argument::literal("time", scope.place(&node.span))];
            words.extend(arguments);
            self.start(Vec::new(), words, scope.start(input))?;
        }
        Ok(())
    }

    fn redirects(&mut self, redirects: &[Redirect], scope: &Scope<'_>) -> Result<(), Refusal> {
        for redirect in redirects {
            self.parts(&redirect.target.parts, scope)?;
            if let Some(document) = scope.document(redirect) {
                self.parts(&document.parts, scope)?;
            }
        }
        Ok(())
    }

    fn substitutions_in<'w>(
        &mut self,
        words: impl IntoIterator<Item = &'w Word>,
        scope: &Scope<'_>,
    ) -> Result<(), Refusal> {
        words
            .into_iter()
            .try_for_each(|word| self.parts(&word.parts, scope))
    }

    /// Lists the code inside the parts of a word.
    fn parts(&mut self, parts: &[Part], scope: &Scope<'_>) -> Result<(), Refusal> {
        for part in parts {
            match part {
                Part::Literal { .. }
                | Part::SingleQuoted(_)
                | Part::AnsiQuoted(_)
                | Part::Glob(_)
                | Part::Brace(_)
                | Part::Tilde(_) => {}
                Part::DoubleQuoted(inside) | Part::Localized(inside) | Part::Extended(inside) => {
                    self.parts(inside, scope)?;
                }
                Part::Parameter(parameter) => self.parts(&parameter.parts, scope)?,
                Part::Arithmetic(arithmetic) => self.parts(&arithmetic.parts, scope)?,
                Part::Command(code) | Part::Process(code) => self.substituted(code, scope)?,
                Part::Array(words) => self.substitutions_in(words, scope)?,
            }
        }
        Ok(())
    }

    fn substituted(&mut self, code: &Substitution, scope: &Scope<'_>) -> Result<(), Refusal> {
        let scope = Scope {
            reached: Reached::Substituted,
            ..scope.clone()
        };
        // A `>(…)` reads what the command writes; treating every one so loses nothing.
        let writes_into = scope
            .source
            .as_bytes()
            .get(code.span.start)
            .is_some_and(|byte| *byte == b'>');
        let input = if writes_into {
            Input::Unknown
        } else {
            Input::Inherited
        };
        self.script(&code.script, &scope, &input)
    }
}

impl Scope<'_> {
    pub(super) fn place(&self, span: &Span) -> Span {
        self.held.clone().unwrap_or_else(|| span.clone())
    }

    fn start(&self, input: &Input) -> Start {
        Start {
            reached: self.reached,
            depth: self.depth,
            input: input.clone(),
        }
    }

    pub(super) fn document(&self, redirect: &Redirect) -> Option<&HereDocument> {
        match redirect.kind {
            RedirectKind::HereDocument(number) => self.documents.get(number),
            RedirectKind::Read
            | RedirectKind::Write
            | RedirectKind::Append
            | RedirectKind::ReadWrite
            | RedirectKind::Clobber
            | RedirectKind::DuplicateInput
            | RedirectKind::DuplicateOutput
            | RedirectKind::WriteBoth
            | RedirectKind::AppendBoth
            | RedirectKind::HereString => None,
        }
    }
}

fn refuse<T>(reason: RefusalReason, span: &Span) -> Result<T, Refusal> {
    Err(Refusal {
        reason,
        at: span.start,
    })
}

/// The words of a simple command and its assignments.
fn simple_words(simple: &Simple, scope: &Scope<'_>) -> (Vec<Argument>, Vec<(String, Argument)>) {
    let held = scope.held.as_ref();
    let arguments = simple
        .words
        .iter()
        .flat_map(|word| texts::arguments(word, scope.source, held))
        .collect();
    let assigned = |node: &AssignmentNode| {
        let span = scope.place(&node.value.span);
        let value = texts::argument(&node.value, scope.source, &span);
        (node.name.clone(), value)
    };
    (arguments, simple.assignments.iter().map(assigned).collect())
}

fn as_assignment((name, value): &(String, Argument)) -> Assignment {
    Assignment {
        name: name.clone(),
        value: value.text.clone(),
    }
}

/// Whether a word holds `${x@P}`, which runs the substitutions in a variable's value.
fn evaluates(parts: &[Part]) -> bool {
    parts.iter().any(|part| match part {
        Part::Parameter(parameter) => {
            parameter.operator.ends_with("@P") || evaluates(&parameter.parts)
        }
        Part::DoubleQuoted(inside) | Part::Localized(inside) | Part::Extended(inside) => {
            evaluates(inside)
        }
        Part::Array(words) => words.iter().any(|word| evaluates(&word.parts)),
        Part::Literal { .. }
        | Part::SingleQuoted(_)
        | Part::AnsiQuoted(_)
        | Part::Command(_)
        | Part::Process(_)
        | Part::Arithmetic(_)
        | Part::Glob(_)
        | Part::Brace(_)
        | Part::Tilde(_) => false,
    })
}
