//! The walk from a syntax tree to the list of commands.
//!
//! Promises that each simple command of the tree, and each substitution in any word of it,
//! is visited once, and that the list stays within its limits. It takes every branch.
mod branches;
mod calculations;
mod carried_code;
mod deferred;
mod failures;
mod loops;
mod simple;
mod substitutions;
mod written;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::builtins;
use super::changes::Change;
use super::commands::{
    Command, Container, FileRead, Listed, MAX_COMMANDS, Reached, Redirection, RedirectionKind,
};
use super::copies::Copy;
use super::environment::{Choice, Environment, Function, Origin, Value};
use super::foreseen;
use super::input::Input;
use super::redirects;
use super::refusal::{Refusal, RefusalReason};
use super::texts::{Argument, Expander};
use super::tree::{
    CommandKind, CommandNode, Connector, HereDocument, Item, Pipeline, Redirect, RedirectKind,
    Script, Span,
};
use super::unwrapping;
use crate::budget::{Budget, Checkpoint, Resource, Spent};
use crate::opaque::{Opaque, Reason};
use crate::paths::{FileText, Surroundings};
pub(super) use calculations::names_in;
pub(super) use carried_code::parameters;
use carried_code::{CodeRead, known_text};
use deferred::SetTrap;
use failures::Waiting;
use simple::{MAX_WRAPPED, as_assignment};

/// Deepest nesting of compound commands and substitutions over all code in code. One text
/// alone stays far below; the limit keeps the stack small when such texts hold each other. A
/// deeper line is refused.
const MAX_LEVELS: usize = 150;
/// Deepest nesting of code in words of commands in code: each level copies the words. What is
/// deeper is marked, and the judge refuses a line that has it.
const MAX_DEPTH: usize = 24;

static NO_CHOICE: Choice = Choice::none();

/// The commands of a text's tree.
pub(super) fn script(
    script: &Script,
    source: &str,
    around: Option<&Surroundings<'_>>,
    budget: &Budget,
) -> Result<Listed, Refusal> {
    let mut listing = Listing::new(around, budget);
    let scope = Scope {
        source,
        held: None,
        reached: Reached::Directly,
        depth: 0,
        documents: &script.here_documents,
    };
    listing.script(script, &scope, &Input::Inherited)?;
    listing.trapped_code()?;
    listing.uncalled_functions()?;
    listing.checked(&(0..0))?;
    Ok(listing.listed())
}

/// The commands of a program started with these words.
pub(super) fn words(
    arguments: Vec<Argument>,
    around: Option<&Surroundings<'_>>,
    budget: &Budget,
) -> Result<Listed, Refusal> {
    let mut listing = Listing::new(around, budget);
    if !arguments.is_empty() {
        let start = Start {
            reached: Reached::Directly,
            depth: 0,
            input: Input::Inherited,
            in_shell: false,
            positional: None,
        };
        listing.start(Vec::new(), arguments, start)?;
        listing.checked(&(0..0))?;
    }
    Ok(listing.listed())
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
    /// The shell itself runs it, so that it may change the shell's state.
    pub(super) in_shell: bool,
    /// The positional parameters of code it runs.
    pub(super) positional: Option<Rc<[Value]>>,
}

/// The list as it grows.
pub(super) struct Listing<'w> {
    pub(super) commands: Vec<Command>,
    pub(super) files: Vec<FileRead>,
    /// Lines a listed command may run besides.
    pub(super) may_run: Vec<(usize, String)>,
    pub(super) environment: Environment,
    pub(super) around: Option<&'w Surroundings<'w>>,
    /// The script being followed.
    pub(super) file: Option<Arc<str>>,
    /// It is loaded by a program and names no place worth asking about.
    pub(super) quiet: bool,
    /// The container commands run in.
    pub(super) container: Option<Arc<Container>>,
    /// The commands of the pipeline so far.
    fed_by: Range<usize>,
    /// Functions the text defines, and those it runs.
    defined: Vec<Rc<Function>>,
    called: Vec<Rc<Function>>,
    calling: Vec<Rc<Function>>,
    level: usize,
    /// What listed commands change by their words, as far as somebody asked.
    changes: HashMap<usize, Rc<[Change]>>,
    /// The scripts whose first line is being followed.
    pub(super) interpreted: Vec<String>,
    /// How often a file was looked up that may have been changed.
    pub(super) looked_up: usize,
    /// Files that were read, by their real paths.
    pub(super) texts: HashMap<String, FileText>,
    /// Programs the text gave other names.
    pub(super) copies: Vec<Copy>,
    /// Files of the project that were loaded, by real path, and from where.
    pub(super) loaded: HashSet<(String, String)>,
    /// Code in other languages that was read, the last of it last.
    code_read: Vec<CodeRead>,
    /// Code that runs at the end, or at any time.
    trapped: Vec<(usize, Argument)>,
    /// Code only the end runs, not walked yet with what was known where it was set.
    exit_traps: Vec<SetTrap>,
    /// Variables that single commands were given since.
    lent: Vec<String>,
    /// Such code is being walked: what it leaves for the end is not followed further.
    ending: bool,
}

impl<'w> Listing<'w> {
    fn new(around: Option<&'w Surroundings<'w>>, budget: &Budget) -> Self {
        let workspace = around.and_then(|around| around.workspace);
        Self {
            commands: Vec::new(),
            files: Vec::new(),
            may_run: Vec::new(),
            environment: Environment::in_workspace(workspace, budget),
            around,
            file: None,
            quiet: false,
            fed_by: 0..0,
            container: None,
            defined: Vec::new(),
            called: Vec::new(),
            calling: Vec::new(),
            level: 0,
            changes: HashMap::new(),
            interpreted: Vec::new(),
            looked_up: 0,
            texts: HashMap::new(),
            copies: Vec::new(),
            loaded: HashSet::new(),
            code_read: Vec::new(),
            trapped: Vec::new(),
            exit_traps: Vec::new(),
            lent: Vec::new(),
            ending: false,
        }
    }

    /// What a script prints, as far as that can be foreseen.
    pub(super) fn foreseen(&self, script: &Script, source: &str) -> Input {
        let words = Expander {
            source,
            environment: &self.environment,
            choice: &NO_CHOICE,
            depth: 0,
        };
        foreseen::script(script, &words, &Input::Inherited)
    }

    /// The command whose output the one at hand reads.
    pub(super) fn last_of_pipeline(&self) -> Option<String> {
        let last = self.fed_by.end.checked_sub(1)?;
        self.fed_by
            .contains(&last)
            .then(|| self.commands.get(last).map(Command::line))?
            .filter(|line| line.len() < 200)
    }

    /// The commands whose output is read, those inside of them included.
    pub(super) fn feeders(&self) -> &[Command] {
        self.commands.get(self.fed_by.clone()).unwrap_or_default()
    }

    /// Whether a command reads what the pipeline before it prints, and nothing else: it has no redirects,
    /// and nothing that has some starts it.
    pub(super) fn reads_pipe(&self, place: usize) -> bool {
        let mut at = place;
        while let Some(command) = self.commands.get(at) {
            if !command.redirects.is_empty() {
                return false;
            }
            let Reached::Within { wrapper, .. } = command.reached else {
                return true;
            };
            if wrapper >= at {
                return true;
            }
            at = wrapper;
        }
        false
    }

    /// Whether something of the pipeline before decodes.
    pub(super) fn fed_by_decoder(&self) -> bool {
        let fed = self.commands.get(self.fed_by.clone()).unwrap_or_default();
        fed.iter().any(foreseen::is_decoder)
    }

    /// Whether a substitution in a word decodes.
    fn decodes_in(&self, span: &Span) -> bool {
        self.commands.iter().any(|command| {
            command.reached == Reached::Substituted
                && span.start <= command.span.start
                && command.span.end <= span.end
                && foreseen::is_decoder(command)
        })
    }

    /// What is used up of the call's budget.
    pub(super) fn budget(&self) -> &Budget {
        &self.environment.budget
    }

    /// Takes so much of a resource, or refuses.
    fn pay(&self, resource: Resource, amount: usize, span: &Span) -> Result<(), Refusal> {
        match self.budget().spend(resource, amount) {
            Ok(()) => Ok(()),
            Err(Spent(_)) => refuse(RefusalReason::TooMuchWork, span),
        }
    }

    /// Refuses if a reader had to leave something out where it could not say so.
    pub(super) fn checked(&self, span: &Span) -> Result<(), Refusal> {
        if self.budget().is_overrun() {
            return refuse(RefusalReason::TooMuchWork, span);
        }
        Ok(())
    }

    /// How much has been used up, to be put back.
    pub(super) fn save(&self) -> (Checkpoint, usize) {
        (self.budget().checkpoint(), self.level)
    }

    pub(super) fn restore(&mut self, (checkpoint, level): (Checkpoint, usize)) {
        self.budget().restore(checkpoint);
        self.level = level;
    }

    fn listed(self) -> Listed {
        Listed {
            commands: self.commands,
            files: self.files,
            may_run: self.may_run,
        }
    }

    /// Marks a command as running what cannot be known.
    pub(super) fn mark(&mut self, command: usize, reason: Reason) {
        let opaque = Opaque::run(reason);
        if let Some(command) = self.commands.get_mut(command)
            && !command.opaque.contains(&opaque)
        {
            command.opaque.push(opaque);
        }
    }

    /// Lists a command and what it starts.
    pub(super) fn start(
        &mut self,
        assignments: Vec<(String, Argument)>,
        arguments: Vec<Argument>,
        start: Start,
    ) -> Result<(), Refusal> {
        // Wrappers of wrappers copy their words at every step.
        if start.depth > 2 && arguments.len() > MAX_WRAPPED {
            let span = arguments
                .first()
                .map_or(0..0, |word| word.text.span.clone());
            return refuse(RefusalReason::TooMuchWork, &span);
        }
        let first = arguments.first().map_or(0, |word| word.text.span.start);
        let last = arguments.last().map_or(first, |word| word.text.span.end);
        let redirects = self.inherited_redirects(&start);
        let place = self.add(Command {
            span: first..last.max(first),
            assignments: assignments.iter().map(as_assignment).collect(),
            words: arguments.iter().map(Argument::listed).collect(),
            redirects,
            reached: start.reached,
            opaque: Vec::new(),
            directory: Arc::clone(&self.environment.directory),
            input: known_text(&start.input),
            file: self.file.clone(),
            loaded: self.quiet,
            fed_by: self.fed_by.clone(),
            container: self.container.clone(),
            whole: None,
        })?;
        self.mark_assignments(place, &assignments);
        self.remember_started(place, &start.input);
        self.with_assignments(&assignments, |listing| {
            listing.unwrap(place, &arguments, &start)
        })
    }

    /// The file a command reads because whoever starts it was told to: `timeout 5 psql < dump.sql`.
    fn inherited_redirects(&self, start: &Start) -> Vec<Redirection> {
        let Reached::Within { wrapper, .. } = start.reached else {
            return Vec::new();
        };
        match start.input {
            Input::Unknown(_) | Input::Partly(_) => {}
            Input::Inherited | Input::Empty | Input::Known(_) => return Vec::new(),
        }
        let outer = self
            .commands
            .get(wrapper)
            .map(|command| command.redirects.as_slice());
        let reads = |redirect: &&Redirection| redirect.kind == RedirectionKind::Read;
        outer
            .unwrap_or_default()
            .iter()
            .filter(reads)
            .cloned()
            .collect()
    }

    fn add(&mut self, command: Command) -> Result<usize, Refusal> {
        self.pay(Resource::Words, command.words.len() + 1, &command.span)?;
        self.checked(&command.span)?;
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
            self.mark(place, opaque_origin(program.origin, Reason::DynamicProgram));
            return Ok(());
        }
        if start.depth >= MAX_DEPTH {
            self.mark(place, Reason::TooDeep);
            return Ok(());
        }
        let inner = Start {
            depth: start.depth + 1,
            ..start.clone()
        };
        if start.in_shell {
            self.function(place, arguments, &inner)?;
            self.alias(place, arguments, &inner)?;
            builtins::apply(&mut self.environment, arguments, &start.input, self.around);
        }
        unwrapping::unwrap(self, place, arguments, &inner)
    }

    /// Walks one level deeper, if that is not too deep.
    fn leveled(
        &mut self,
        scope: &Scope<'_>,
        span: &Span,
        walk: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        self.level += 1;
        if self.level > MAX_LEVELS {
            return refuse(RefusalReason::TooDeep, &scope.place(span));
        }
        walk(self)?;
        self.level -= 1;
        Ok(())
    }

    fn script(&mut self, script: &Script, scope: &Scope<'_>, input: &Input) -> Result<(), Refusal> {
        let scope = Scope {
            documents: &script.here_documents,
            ..scope.clone()
        };
        self.items(&script.items, &scope, input)
    }

    /// Walks a list. A command after `&&` or `||` may not run, and one that fails may have
    /// changed nothing: the states that are possible then are kept apart until they meet.
    fn items(&mut self, items: &[Item], scope: &Scope<'_>, input: &Input) -> Result<(), Refusal> {
        let mut waiting = Waiting::default();
        let mut last: Option<&Item> = None;
        for item in items {
            if self.is_beyond_judging(scope) {
                break;
            }
            // What an error leaves out ends with the line.
            let ends = self.level == 0 || scope.depth > 0;
            if ends && self.environment.cut_short.is_some() && is_on_next_line(last, item, scope) {
                self.begin_line(scope);
            }
            last = Some(item);
            let before = waiting.begin(item.connector, &self.environment);
            self.pipeline(&item.pipeline, scope, input)?;
            self.connect(item, before, &mut waiting);
        }
        Ok(())
    }

    /// Whether there are more commands of the line itself than it may run: it is refused, whatever the
    /// others are. Those of a file are counted where it is read, which leaves out what is too much.
    fn is_beyond_judging(&self, scope: &Scope<'_>) -> bool {
        self.level == 0
            && scope.depth == 0
            && self.file.is_none()
            && self.commands.len() > MAX_COMMANDS
    }

    fn pipeline(
        &mut self,
        pipeline: &Pipeline,
        scope: &Scope<'_>,
        input: &Input,
    ) -> Result<(), Refusal> {
        if let [only] = pipeline.commands.as_slice() {
            return self.leveled(scope, &only.span, |listing| {
                listing.node(only, pipeline.timed, scope, input)
            });
        }
        let mut input = input.clone();
        let outer = self.fed_by.clone();
        let first = self.commands.len();
        for (at, node) in pipeline.commands.iter().enumerate() {
            if at > 0 {
                self.fed_by = first..self.commands.len();
            }
            let timed = pipeline.timed && at == 0;
            // Each command of a pipeline is a shell of its own; only the files it writes stay.
            let before = self.environment.clone();
            self.leveled(scope, &node.span, |listing| {
                listing.node(node, timed, scope, &input)
            })?;
            let after = std::mem::replace(&mut self.environment, before);
            self.environment.keep_files(after);
            if at + 1 < pipeline.commands.len() {
                input = foreseen::node(node, scope.documents, &self.expander(scope), &input);
            }
        }
        self.fed_by = outer;
        Ok(())
    }

    fn expander<'e>(&'e self, scope: &'e Scope<'_>) -> Expander<'e> {
        Expander {
            source: scope.source,
            environment: &self.environment,
            choice: &NO_CHOICE,
            depth: 0,
        }
    }

    fn node(
        &mut self,
        node: &CommandNode,
        timed: bool,
        scope: &Scope<'_>,
        input: &Input,
    ) -> Result<(), Refusal> {
        let input = &redirects::input(
            &node.redirects,
            &self.expander(scope),
            scope.documents,
            input,
        );
        self.before(node)?;
        if let CommandKind::Simple(simple) = &node.kind {
            return self.simple(node, simple, timed, scope, input);
        }
        if !node.redirects.is_empty() {
            self.bare(node, scope, input)?;
        }
        match &node.kind {
            CommandKind::Simple(_) => Ok(()),
            CommandKind::Group(items) => self.items(items, scope, input),
            CommandKind::Subshell(items) => {
                self.apart(|listing| listing.items(items, scope, input))
            }
            CommandKind::If {
                branches,
                otherwise,
            } => self.conditional(branches, otherwise.as_deref(), scope, input),
            CommandKind::Loop {
                condition, body, ..
            } => self.conditioned_loop(condition, body, scope, input),
            CommandKind::Each {
                name, words, body, ..
            } => self.each(name, words.as_deref(), body, scope, input),
            CommandKind::ForArithmetic { header, body } => {
                self.counting_loop(header, body, scope, input)
            }
            CommandKind::Case { subject, clauses } => self.cases(subject, clauses, scope, input),
            CommandKind::Condition(tokens) => self.condition(tokens, scope),
            CommandKind::Arithmetic(arithmetic) => {
                self.parts(&arithmetic.parts, scope)?;
                self.calculation(arithmetic, scope)?;
                self.as_subshells(arithmetic, scope, input)
            }
            CommandKind::Function { name, body } => {
                self.parts(&name.parts, scope)?;
                self.define(name, body, scope)
            }
            CommandKind::Coproc {
                body, rewritten, ..
            } => {
                let first = self.commands.len();
                self.apart(|listing| {
                    let input = Input::Unknown(Origin::Elsewhere);
                    listing.node(body, false, scope, &input)
                })?;
                if *rewritten && self.commands.len() == first {
                    return refuse(RefusalReason::UnknownExpansion, &scope.place(&body.span));
                }
                if *rewritten {
                    self.mark(first, Reason::Unreadable);
                }
                Ok(())
            }
        }
    }
}

/// Whether a new line of the text begins between two commands; where that is not certain, none does.
fn is_on_next_line(last: Option<&Item>, next: &Item, scope: &Scope<'_>) -> bool {
    let last = last.filter(|item| item.connector == Connector::Sequence);
    let end = last.and_then(|item| item.pipeline.commands.last());
    let (Some(end), Some(begin)) = (end, next.pipeline.commands.first()) else {
        return false;
    };
    let between = scope.source.get(end.span.end..begin.span.start);
    between.is_some_and(|text| text.contains('\n') && !text.contains('\\'))
}

impl Scope<'_> {
    fn place(&self, span: &Span) -> Span {
        self.held.clone().unwrap_or_else(|| span.clone())
    }

    fn start(&self, input: &Input) -> Start {
        Start {
            reached: self.reached,
            depth: self.depth,
            input: input.clone(),
            in_shell: true,
            positional: None,
        }
    }

    fn document(&self, redirect: &Redirect) -> Option<&HereDocument> {
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

/// Why code is not known, by where it comes from.
pub(super) fn opaque_origin(origin: Option<Origin>, otherwise: Reason) -> Reason {
    match origin {
        Some(Origin::Network) => Reason::Downloaded,
        Some(Origin::Decoder) => Reason::Decoded,
        Some(Origin::Elsewhere | Origin::Crowd) | None => otherwise,
    }
}
