//! The walk from a syntax tree to the list of commands.
//!
//! Promises that each simple command of the tree, and each substitution in any word of it,
//! is visited once, and that the list stays within its limits. It takes every branch.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::arithmetic;
use super::builtins;
use super::changes::{self, Change, Outcome, Target};
use super::commands::{
    Assignment, Command, Container, FileRead, Listed, MAX_COMMANDS, Reached, Redirection,
    RedirectionKind, Text, Wrapping,
};
use super::copies::Copy;
use super::environment::{Choice, Environment, Function, Origin, Value};
use super::files::Content;
use super::foreseen;
use super::input::Input;
use super::reader::{read, read_expanding};
use super::readings;
use super::redirects;
use super::refusal::{Refusal, RefusalReason};
use super::settings;
use super::texts::{Argument, Expander};
use super::tree::{
    Arithmetic, Clause, CommandKind, CommandNode, ConditionToken, Connector, HereDocument, Item,
    Parameter, Part, Pipeline, Redirect, RedirectKind, Script, Simple, Span, Substitution, Word,
};
use super::unwrapping;
use crate::budget::{Budget, Checkpoint, Cost, Resource, Spent};
use crate::code::{self, Language};
use crate::opaque::{Opaque, Reason};
use crate::paths::{Entry, FileText, Surroundings};
use crate::rules::READ_ONLY;

/// Deepest nesting of compound commands and substitutions over all code in code. One text
/// alone stays far below; the limit keeps the stack small when such texts hold each other. A
/// deeper line is refused.
const MAX_LEVELS: usize = 150;
/// Deepest nesting of code in words of commands in code: each level copies the words. What is
/// deeper is marked, and the judge refuses a line that has it.
const MAX_DEPTH: usize = 24;
/// Words of a command that stands deep in wrappers, which copy them at every step. A line with
/// more is refused.
const MAX_WRAPPED: usize = 2000;
/// Rounds of a loop over words, each with several values. A line that loops over more words is
/// refused.
const MAX_LOOP_ROUNDS: usize = 16;
/// The same where all words are numbers: one is as good as another, and beyond it may be any.
const MAX_NUMBER_ROUNDS: usize = 8;
/// Rounds of a loop after the second, in which variables get values they had not; then they may
/// have any, and what uses them is asked about.
const MAX_FURTHER_ROUNDS: usize = 3;
/// What may start a loop's next round, by itself or by the text it runs.
const GO_AROUND: &[&str] = &["continue", "eval", "source", ".", "command", "builtin"];

/// Values of a loop's variable looked at in one round: as many as a variable may have.
const ROUND: usize = 8;
/// Assignments of one command: each is compared with all before it. A line with a command that has more
/// is refused.
const MAX_ASSIGNMENTS: usize = 500;
/// Variables one expression uses, by their values, too. A line that calculates with more is refused.
const MAX_CALCULATED: usize = 64;
/// Pieces of code whose readings are kept: the same one comes again soon or not at all. An older one
/// is read again.
const MAX_CODE_READ: usize = 4;
/// Stands for a word nobody knows: a variable nobody sets.
const UNKNOWN_WORD: &str = "$__";
const UNKNOWN_WORD_QUOTED: &str = "\"$__\"";

/// Traps are walked where they are set and again at the end; nobody sets more.
const MAX_TRAPS: usize = 16;

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

/// What one reading of a command is: another that differs in none of this says nothing more.
#[derive(PartialEq)]
struct Taken {
    words: Vec<Text>,
    assignments: Vec<Assignment>,
    redirects: Vec<Redirection>,
}

/// Code that was read, and what reading it cost.
struct CodeRead {
    language: Language,
    text: Box<str>,
    cost: Cost,
    reading: Rc<code::Reading>,
}

/// What is left behind by a pipeline that fails.
enum Failure {
    /// It cannot fail.
    Never,
    /// All that it did.
    LeavesAll,
    /// This state.
    Leaves(Environment),
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
    /// Such code is being walked: what it leaves for the end is not followed further.
    ending: bool,
}

impl<'w> Listing<'w> {
    fn new(around: Option<&'w Surroundings<'w>>, budget: &Budget) -> Self {
        let workspace = around.and_then(|around| around.workspace);
        Self {
            commands: Vec::new(),
            files: Vec::new(),
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
            ending: false,
        }
    }

    /// Reads code in another language. A script that a line writes and runs is come upon twice, as
    /// what is run and as a file of the project that is loaded; reading it is by far the dearest thing
    /// a call can ask for.
    pub(super) fn read_code(&mut self, language: Language, text: &str) -> Rc<code::Reading> {
        let same = |one: &&CodeRead| one.language == language && *one.text == *text;
        if let Some(known) = self.code_read.iter().find(same)
            && self.budget().spend_again(&known.cost)
        {
            return Rc::clone(&known.reading);
        }
        let before = self.budget().usage();
        let reading = Rc::new(code::read(language, text, self.budget()));
        if let Some(cost) = self.budget().cost_since(&before) {
            if self.code_read.len() >= MAX_CODE_READ {
                self.code_read.remove(0);
            }
            self.code_read.push(CodeRead {
                language,
                text: Box::from(text),
                cost,
                reading: Rc::clone(&reading),
            });
        }
        reading
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
            words: arguments.iter().map(|word| word.text.clone()).collect(),
            redirects,
            reached: start.reached,
            opaque: Vec::new(),
            directory: Arc::clone(&self.environment.directory),
            input: known_text(&start.input),
            file: self.file.clone(),
            loaded: self.quiet,
            fed_by: self.fed_by.clone(),
            container: self.container.clone(),
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
            self.mark(wrapper, opaque_origin(code.origin, Reason::DynamicCode));
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
        if start.depth >= MAX_DEPTH {
            self.mark(wrapper, Reason::TooDeep);
            return Ok(());
        }
        self.pay(Resource::Code, code.len(), span)?;
        if self.decodes_in(span) {
            self.mark(wrapper, Reason::Decoded);
        }
        let Ok(script) = read(code) else {
            self.mark(wrapper, Reason::Unreadable);
            return Ok(());
        };
        let scope = Scope {
            source: code,
            held: Some(span.clone()),
            reached: Reached::Within { wrapper, how },
            depth: start.depth + 1,
            documents: &script.here_documents,
        };
        if start.in_shell {
            return self.script(&script, &scope, &start.input);
        }
        // Another shell: what it changes is gone when it ends.
        let before = self.environment.clone();
        self.environment.enter_shell();
        self.environment.positional.clone_from(&start.positional);
        self.environment.ends_on_error = false;
        let walked = self.until_its_end(|listing| listing.script(&script, &scope, &start.input));
        let after = std::mem::replace(&mut self.environment, before);
        self.environment.keep_files(after);
        walked
    }

    /// Walks with variables set for one command.
    fn with_assignments(
        &mut self,
        assignments: &[(String, Argument)],
        walk: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let before: Vec<_> = assignments
            .iter()
            .map(|(name, _)| (name.clone(), self.environment.variable(name)))
            .collect();
        let exported = self.environment.exports();
        for (name, value) in assignments {
            self.environment.assign(name, value.value());
            self.environment.export(name);
        }
        let walked = walk(self);
        for (name, variable) in before {
            self.environment.restore(&name, variable);
            self.environment.export_as_before(&name, &exported);
        }
        walked
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

    /// Walks the bodies a function of the text may have, if that is what a command runs.
    fn function(
        &mut self,
        place: usize,
        arguments: &[Argument],
        start: &Start,
    ) -> Result<(), Refusal> {
        let name = arguments.first().and_then(Argument::known);
        let definition = name.and_then(|name| self.environment.functions.get(name).cloned());
        let Some(definition) = definition else {
            return Ok(());
        };
        let outer = self.environment.clone();
        // Without a function of that name nothing changes.
        let mut after = definition.doubtful.then(|| outer.clone());
        for function in &definition.bodies {
            // A function may define another of its own name and run that.
            if self
                .calling
                .iter()
                .any(|calling| Rc::ptr_eq(calling, function))
            {
                self.mark(place, Reason::CallsItself);
                continue;
            }
            self.environment = outer.clone();
            self.body(function, arguments, start)?;
            after = either(after, Some(self.environment.clone()));
        }
        self.environment = after.unwrap_or(outer);
        Ok(())
    }

    /// Walks one body of a function.
    fn body(
        &mut self,
        function: &Rc<Function>,
        arguments: &[Argument],
        start: &Start,
    ) -> Result<(), Refusal> {
        let outer = self.environment.clone();
        self.environment.positional = parameters(arguments.get(1..).unwrap_or_default());
        self.environment.locals = Rc::default();
        self.environment.in_function = true;
        if !self
            .called
            .iter()
            .any(|called| Rc::ptr_eq(called, function))
        {
            self.called.push(Rc::clone(function));
        }
        self.calling.push(Rc::clone(function));
        let scope = Scope {
            source: &function.source,
            held: function.held.clone(),
            reached: start.reached,
            depth: start.depth,
            documents: &function.documents,
        };
        let walked = self.leveled(&scope, &function.body.span, |listing| {
            listing.node(&function.body, false, &scope, &start.input)
        });
        self.calling.pop();
        self.environment.positional = outer.positional.clone();
        self.environment.in_function = outer.in_function;
        let locals = std::mem::replace(&mut self.environment.locals, Rc::clone(&outer.locals));
        for name in locals.iter() {
            self.environment.restore(name, outer.variable(name));
        }
        // `return` ends the function, not the shell.
        self.environment.ended = false;
        walked
    }

    /// Walks what an alias the text defines stands for.
    fn alias(
        &mut self,
        place: usize,
        arguments: &[Argument],
        start: &Start,
    ) -> Result<(), Refusal> {
        let Some((program, rest)) = arguments.split_first() else {
            return Ok(());
        };
        let alias = program
            .known()
            .and_then(|name| self.environment.aliases.get(name).cloned());
        let Some(alias) = alias else {
            return Ok(());
        };
        if alias.contains("<<") || alias.contains('\n') {
            // What follows on other lines is then part of it.
            self.mark(place, Reason::Unreadable);
        }
        let mut code = alias.to_string();
        for word in rest {
            code.push(' ');
            match word.known() {
                Some(text) if !word.text.glob => {
                    // A tilde that leads home is one no longer once it stands in quotes.
                    let leads_home = text.starts_with('~') && word.text.pattern.is_none();
                    let bare = match leads_home {
                        true => text.find('/').unwrap_or(text.len()),
                        false => 0,
                    };
                    let (home, name) = text.split_at_checked(bare).unwrap_or(("", text));
                    code.push_str(home);
                    if !name.is_empty() || home.is_empty() {
                        code.push_str(&format!("'{}'", name.replace('\'', "'\\''")));
                    }
                }
                Some(_) | None => {
                    // Quotes that came out of a variable would be read as such, and blanks that
                    // were quoted as what they are no more.
                    let quoted = word.text.text.starts_with('"');
                    let odd: &[char] = match quoted {
                        true => &['"', '\\', '`'],
                        false => &['"', '\\', '`', ' ', '{', '*', '\n', ';', '&', '|'],
                    };
                    if word.unquoted().contains(odd) {
                        self.mark(place, Reason::DynamicCode);
                    }
                    // What is shown of another command's output is not what stands in the text, and read
                    // again would be taken for known.
                    code.push_str(match (word.origin.is_some(), quoted) {
                        (true, true) => UNKNOWN_WORD_QUOTED,
                        (true, false) => UNKNOWN_WORD,
                        (false, _) => &word.text.text,
                    });
                }
            }
        }
        let span = program.text.span.clone();
        self.known_code(place, Wrapping::Transparent, &code, &span, start)
    }

    /// Remembers code a signal or the end runs, when variables may hold other values.
    pub(super) fn trap(&mut self, place: usize, code: &Argument) {
        if self.ending {
            return;
        }
        if self.trapped.len() < MAX_TRAPS {
            self.trapped.push((place, code.clone()));
        } else {
            self.budget().overrun();
        }
    }

    fn trapped_code(&mut self) -> Result<(), Refusal> {
        if self.trapped.is_empty() {
            return Ok(());
        }
        // Judged once with what was known when it was set; here only what came later matters.
        let before = self.environment.clone();
        self.environment.settle();
        self.ending = true;
        let mut trapped = std::mem::take(&mut self.trapped).into_iter();
        let walked = trapped.try_for_each(|(place, code)| {
            let start = Start {
                reached: Reached::Directly,
                depth: 1,
                input: Input::Inherited,
                // The shell itself runs it: with variables nobody exported, and its separators.
                in_shell: true,
                positional: None,
            };
            self.code(place, Wrapping::Commanding, &code, &start)
        });
        self.ending = false;
        self.environment = before;
        walked
    }

    /// Walks the functions nothing ran: another text may.
    fn uncalled_functions(&mut self) -> Result<(), Refusal> {
        for function in std::mem::take(&mut self.defined) {
            let known =
                |called: &Rc<Function>| Rc::ptr_eq(called, &function) || called.is(&function);
            if self.called.iter().any(known) {
                continue;
            }
            let before = self.environment.clone();
            self.environment.positional = None;
            self.environment.in_function = true;
            self.calling.push(Rc::clone(&function));
            let scope = Scope {
                source: &function.source,
                held: function.held.clone(),
                reached: Reached::Directly,
                depth: 0,
                documents: &function.documents,
            };
            let walked = self.node(&function.body, false, &scope, &Input::Inherited);
            self.calling.pop();
            self.environment = before;
            walked?;
        }
        Ok(())
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

    fn mark_assignments(&mut self, place: usize, assignments: &[(String, Argument)]) {
        // A shell that starts reads its code from a descriptor.
        let descriptor = |(name, value): &(String, Argument)| {
            matches!(name.as_str(), "BASH_ENV" | "ENV")
                && ["/dev/", "/proc/"]
                    .iter()
                    .any(|front| value.unquoted().starts_with(front))
        };
        if assignments.iter().any(descriptor) {
            self.mark(place, Reason::ScriptFromInput);
        }
        let runs = |(name, value): &(String, Argument)| settings::variable_runs(name, value);
        if assignments.iter().any(runs) {
            self.mark(place, Reason::ExecutableSetting);
        }
    }

    /// Lists what a variable set for a command makes it run.
    fn code_in_settings(
        &mut self,
        place: usize,
        assignments: &[(String, Argument)],
        start: &Start,
    ) -> Result<(), Refusal> {
        for (name, value) in assignments {
            if settings::is_command(name) && settings::variable_runs(name, value) {
                self.code(place, Wrapping::Incidental, value, start)?;
            }
            // Expanded before each command bash shows.
            if name == "PS4" {
                let span = value.text.span.clone();
                self.evaluated(Some(place), value.unquoted(), &span, start)?;
            }
        }
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
        // States of those who wait for `||` because something failed, and for `&&`.
        let mut failed: Option<Environment> = None;
        let mut succeeded: Option<Environment> = None;
        for item in items {
            if self.is_beyond_judging(scope) {
                break;
            }
            let before = self.environment.clone();
            self.pipeline(&item.pipeline, scope, input)?;
            if item.connector == Connector::Background {
                self.leave_running(&before);
            }
            let failure = self.after_failure(&item.pipeline, before);
            match item.connector {
                Connector::Sequence | Connector::Background => {
                    let ends =
                        self.environment.ends_on_error && item.connector == Connector::Sequence;
                    // The same state twice is that state.
                    let failure = match failure {
                        Failure::Leaves(state) if !ends => Some(state),
                        Failure::Leaves(_) | Failure::LeavesAll | Failure::Never => None,
                    };
                    let others = [failure, failed.take(), succeeded.take()];
                    for other in others.into_iter().flatten() {
                        self.environment = self.environment.clone().either(other);
                    }
                }
                Connector::And => {
                    failed = either(failed.take(), self.state_after(failure));
                    if let Some(waiting) = succeeded.take() {
                        self.environment = self.environment.clone().either(waiting);
                    }
                }
                Connector::Or => {
                    let success = self.environment.clone();
                    succeeded = either(succeeded.take(), Some(success));
                    if let Some(waiting) = either(failed.take(), self.state_after(failure)) {
                        self.environment = waiting;
                    }
                }
            }
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

    /// Goes back to the state before a command that runs on: what it writes is there at some time.
    fn leave_running(&mut self, before: &Environment) {
        let after = std::mem::replace(&mut self.environment, before.clone());
        self.environment.may_keep_files(&after);
    }

    /// The state a failure leaves, if it is possible.
    fn state_after(&self, failure: Failure) -> Option<Environment> {
        match failure {
            Failure::Never => None,
            Failure::LeavesAll => Some(self.environment.clone()),
            Failure::Leaves(state) => Some(state),
        }
    }

    /// The state if a pipeline fails.
    fn after_failure(&self, pipeline: &Pipeline, before: Environment) -> Failure {
        let [only] = pipeline.commands.as_slice() else {
            return Failure::Leaves(before);
        };
        let CommandKind::Simple(simple) = &only.kind else {
            return Failure::Leaves(before.either(self.environment.clone()));
        };
        if pipeline.negated {
            return Failure::LeavesAll;
        }
        if simple.words.is_empty() {
            // How the last substitution ended is how the assignment does.
            let values = simple.assignments.iter().map(|node| &node.value.parts);
            let mut runs = values.flatten().filter(|part| runs_code(part));
            return match runs.next() {
                Some(_) => Failure::LeavesAll,
                None => Failure::Never,
            };
        }
        let program = simple
            .words
            .first()
            .and_then(Word::plain)
            .unwrap_or_default();
        match program {
            _ if self.environment.redefines(program) => {
                Failure::Leaves(before.either(self.environment.clone()))
            }
            "local" if !self.environment.in_function => Failure::LeavesAll,
            // A number that is none is an error.
            "printf" if !simple.words.get(1).is_some_and(takes_any_text) => Failure::LeavesAll,
            ":" | "true" | "echo" | "printf" | "export" | "local" | "declare" | "set" | "shopt"
            | "mkdir" | "alias" | "exit" | "return" | "unset" => Failure::Never,
            "cd" | "pushd" if self.surely_changes(simple, &only.redirects) => Failure::Never,
            "cd" | "pushd" => Failure::Leaves(before),
            _ => Failure::LeavesAll,
        }
    }

    /// Whether a command that changes the directory cannot fail: one plain operand that is there,
    /// and nothing in the text that could have taken it away.
    fn surely_changes(&self, simple: &Simple, redirects: &[Redirect]) -> bool {
        let operands = simple.words.get(1..).unwrap_or_default();
        let plain = operands.len() <= 1
            && redirects.is_empty()
            && operands.iter().all(|word| {
                word.plain()
                    .is_none_or(|text| !text.starts_with('-') || text == "--")
            });
        let moved = self.commands.iter().any(|command| {
            matches!(
                command.program(),
                Some("mv" | "rm" | "rmdir" | "git" | "ln")
            )
        });
        let redefined = self.environment.functions.contains_key("cd");
        plain && !moved && !redefined && self.arrived()
    }

    /// Whether the directory the shell is in is there for sure.
    fn arrived(&self) -> bool {
        let (Some(around), [place]) = (self.around, self.environment.directory.places.as_slice())
        else {
            return false;
        };
        if matches!(place.as_str(), "" | "." | "~" | "/") {
            return true;
        }
        let real = around.resolve(place);
        real.is_ok_and(|real| around.lookup.entry(&real) == Entry::Directory)
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

    /// Walks `((…))` as other shells than bash read it: subshells. Only code that is handed to a
    /// shell can meet one.
    fn as_subshells(
        &mut self,
        arithmetic: &Arithmetic,
        scope: &Scope<'_>,
        input: &Input,
    ) -> Result<(), Refusal> {
        let text = scope
            .source
            .get(arithmetic.span.clone())
            .unwrap_or_default();
        let inside = text
            .strip_prefix("((")
            .and_then(|rest| rest.strip_suffix("))"));
        let (Some(_), Some(inside)) = (&scope.held, inside) else {
            return Ok(());
        };
        let Ok(script) = read(inside) else {
            return Ok(());
        };
        let inner = Scope {
            source: inside,
            documents: &script.here_documents,
            ..scope.clone()
        };
        self.apart(|listing| {
            listing.leveled(scope, &arithmetic.span, |listing| {
                listing.script(&script, &inner, input)
            })
        })
    }

    /// Walks what cannot change this shell's state; the files it writes stay.
    fn apart(
        &mut self,
        walk: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let before = self.environment.clone();
        let walked = self.until_its_end(walk);
        let after = std::mem::replace(&mut self.environment, before);
        self.environment.keep_files(after);
        walked
    }

    /// Walks what a shell of its own runs, and what its end runs.
    fn until_its_end(
        &mut self,
        walk: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let outer = std::mem::take(&mut self.trapped);
        let walked = walk(self).and_then(|()| self.trapped_code());
        self.trapped = outer;
        walked
    }

    fn conditional(
        &mut self,
        branches: &[(Vec<Item>, Vec<Item>)],
        otherwise: Option<&[Item]>,
        scope: &Scope<'_>,
        input: &Input,
    ) -> Result<(), Refusal> {
        let mut after: Option<Environment> = None;
        for (condition, body) in branches {
            self.items(condition, scope, input)?;
            let skipped = self.environment.clone();
            self.items(body, scope, input)?;
            after = either(after, Some(self.environment.clone()));
            self.environment = skipped;
        }
        self.items(otherwise.unwrap_or_default(), scope, input)?;
        if let Some(after) = after {
            self.environment = self.environment.clone().either(after);
        }
        Ok(())
    }

    /// What a loop reads into is empty when there is nothing left to read.
    fn read_to_the_end(&mut self, condition: &[Item]) {
        for node in condition.iter().flat_map(|item| &item.pipeline.commands) {
            let CommandKind::Simple(simple) = &node.kind else {
                continue;
            };
            let mut words = simple.words.iter().filter_map(Word::plain);
            if words.next() != Some("read") {
                continue;
            }
            for name in words {
                let Some(variable) = self.environment.variable(name) else {
                    continue;
                };
                let mut values = variable.values;
                values.push(Value::Known(Arc::from("")));
                self.environment.assign_any(name, values);
            }
        }
    }

    /// `while` and `until`: apart from the walk that leads here, whose room on the stack every level
    /// of a nested text takes.
    fn conditioned_loop(
        &mut self,
        condition: &[Item],
        body: &[Item],
        scope: &Scope<'_>,
        input: &Input,
    ) -> Result<(), Refusal> {
        self.repeated(body, |listing| {
            listing.items(condition, scope, input)?;
            // The condition is the last to run, unless something breaks out of the body.
            let ended = listing.environment.clone();
            listing.items(body, scope, input)?;
            listing.environment = listing.environment.clone().either(ended);
            Ok(())
        })?;
        self.read_to_the_end(condition);
        Ok(())
    }

    /// `case`.
    fn cases(
        &mut self,
        subject: &Word,
        clauses: &[Clause],
        scope: &Scope<'_>,
        input: &Input,
    ) -> Result<(), Refusal> {
        self.parts(&subject.parts, scope)?;
        let before = self.environment.clone();
        let mut after = before.clone();
        for clause in clauses {
            self.environment = before.clone();
            self.substitutions_in(&clause.patterns, scope)?;
            self.items(&clause.body, scope, input)?;
            after = after.either(self.environment.clone());
        }
        self.environment = after;
        Ok(())
    }

    /// `for ((…))`.
    fn counting_loop(
        &mut self,
        header: &Arithmetic,
        body: &[Item],
        scope: &Scope<'_>,
        input: &Input,
    ) -> Result<(), Refusal> {
        self.parts(&header.parts, scope)?;
        self.calculation(header, scope)?;
        self.repeated(body, |listing| listing.items(body, scope, input))
    }

    /// Walks a loop's body as often as it may see something new: once, and again with what the
    /// first round leaves behind.
    fn repeated(
        &mut self,
        body: &[Item],
        mut walk: impl FnMut(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let before = self.environment.clone();
        let looked_up = self.looked_up;
        walk(self)?;
        let after = self.environment.clone();
        let both = before.clone().either(after);
        // A file that is run may have been changed by what follows it in the body.
        let reruns = looked_up < self.looked_up
            && both.changers != before.changers
            && !self.leaves_at_once(body);
        if reruns || both.differs(&before) {
            self.pay(Resource::Rounds, 1, &(0..0))?;
            self.environment = both.clone();
            walk(self)?;
            let twice = both.clone().either(self.environment.clone());
            return self.repeated_on(both, twice, walk);
        }
        self.environment = both;
        Ok(())
    }

    /// Whether a loop's body comes to a `break` at its end, past nothing that could go around it.
    fn leaves_at_once(&self, body: &[Item]) -> bool {
        let name = |item: &Item| {
            let [one] = item.pipeline.commands.as_slice() else {
                return None;
            };
            let CommandKind::Simple(simple) = &one.kind else {
                return None;
            };
            simple.words.first()?.plain().map(str::to_owned)
        };
        let ends =
            |item: &Item| matches!(item.connector, Connector::Sequence | Connector::Background);
        let passes = |item: &Item| ends(item) && self.comes_back(std::slice::from_ref(item));
        let Some((last, before)) = body.split_last() else {
            return false;
        };
        let breaks = name(last).is_some_and(|name| name == "break");
        breaks && !self.environment.redefines("break") && before.iter().all(passes)
    }

    /// Whether the shell goes on behind all of these: none of them can go around what follows.
    fn comes_back(&self, items: &[Item]) -> bool {
        let mut nodes = items.iter().flat_map(|item| &item.pipeline.commands);
        nodes.all(|node| match &node.kind {
            CommandKind::Simple(simple) => {
                let name = simple.words.first().and_then(|word| word.plain());
                name.is_some_and(|name| {
                    !GO_AROUND.contains(&name) && !self.environment.redefines(name)
                })
            }
            CommandKind::Group(body) => self.comes_back(body),
            CommandKind::If {
                branches,
                otherwise,
            } => {
                let mut branches = branches.iter();
                branches
                    .all(|(condition, body)| self.comes_back(condition) && self.comes_back(body))
                    && otherwise.iter().all(|body| self.comes_back(body))
            }
            CommandKind::Case { clauses, .. } => {
                clauses.iter().all(|clause| self.comes_back(&clause.body))
            }
            CommandKind::Subshell(_)
            | CommandKind::Loop { .. }
            | CommandKind::Each { .. }
            | CommandKind::ForArithmetic { .. }
            | CommandKind::Condition(_)
            | CommandKind::Arithmetic(_)
            | CommandKind::Function { .. }
            | CommandKind::Coproc { .. } => false,
        })
    }

    /// Goes on with a loop as long as its variables come to name further places: `a=$b; b=$c`.
    fn repeated_on(
        &mut self,
        mut before: Environment,
        mut after: Environment,
        mut walk: impl FnMut(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let first = before.clone();
        for round in 0..=MAX_FURTHER_ROUNDS {
            if !after.names_new_places(&before) {
                break;
            }
            if round == MAX_FURTHER_ROUNDS {
                after.crowd(&first);
            }
            self.pay(Resource::Rounds, 1, &(0..0))?;
            self.environment = after.clone();
            walk(self)?;
            before = after.clone();
            after = after.either(self.environment.clone());
        }
        self.environment = after;
        Ok(())
    }

    fn each(
        &mut self,
        name: &str,
        words: Option<&[Word]>,
        body: &[Item],
        scope: &Scope<'_>,
        input: &Input,
    ) -> Result<(), Refusal> {
        let values: Vec<Value> = match words {
            Some(words) => {
                self.substitutions_in(words, scope)?;
                self.readings_of(words, scope)
            }
            None => match &self.environment.positional {
                Some(values) => values.iter().cloned().map(Value::one_of).collect(),
                None => vec![Value::Unknown(Origin::Elsewhere)],
            },
        };
        let before = self.environment.clone();
        let mut after = before.clone();
        let mut rounds: Vec<Vec<Value>> = values.chunks(ROUND).map(<[Value]>::to_vec).collect();
        let numbers = values.iter().all(is_number);
        let most = if numbers {
            MAX_NUMBER_ROUNDS
        } else {
            MAX_LOOP_ROUNDS
        };
        if rounds.len() > most {
            if !numbers {
                self.budget().overrun();
            }
            rounds.truncate(most);
            rounds.push(vec![Value::Unknown(Origin::Elsewhere)]);
        }
        if rounds.is_empty() {
            // Nobody iterates over nothing; what stands in the body is listed all the same.
            rounds.push(vec![Value::Unset]);
        }
        for values in rounds {
            self.environment = before.clone();
            self.environment.assign_any(name, values);
            self.repeated(body, |listing| listing.items(body, scope, input))?;
            after = after.either(self.environment.clone());
        }
        self.environment = after;
        Ok(())
    }

    /// What a loop over words gives its variable, in all readings of them.
    fn readings_of(&mut self, words: &[Word], scope: &Scope<'_>) -> Vec<Value> {
        let all: Vec<&Word> = words.iter().collect();
        let choices = readings::choices(&mut self.environment, &all);
        let mut values: Vec<Value> = Vec::new();
        for choice in &choices {
            let expander = Expander {
                choice,
                ..self.expander(scope)
            };
            for argument in words.iter().flat_map(|word| expander.arguments(word, None)) {
                let value = argument.one_value();
                if choices.len() == 1 || !values.contains(&value) {
                    values.push(value);
                }
            }
        }
        values
    }

    /// Forgets the variables that arithmetic in these parts may assign.
    fn calculated(&mut self, parts: &[Part]) {
        let mut names: Vec<String> = Vec::new();
        readings::each_calculation(parts, &mut |text, inside| {
            self.names_assigned(text, inside, &mut names);
        });
        self.forget_all(&names);
    }

    /// Lists the code an arithmetic expression runs, and forgets the variables it may assign.
    fn calculation(&mut self, arithmetic: &Arithmetic, scope: &Scope<'_>) -> Result<(), Refusal> {
        let mut names: Vec<String> = Vec::new();
        let text = readings::calculated_text(&arithmetic.parts);
        self.code_in_values(&text, &arithmetic.parts, &arithmetic.span, scope)?;
        self.names_assigned(&text, &arithmetic.parts, &mut names);
        self.forget_all(&names);
        self.calculated(&arithmetic.parts);
        Ok(())
    }

    /// Lists the code in values an expression uses: they are expressions, too, and what stands
    /// in a subscript is expanded.
    fn code_in_values(
        &mut self,
        text: &str,
        parts: &[Part],
        span: &Span,
        scope: &Scope<'_>,
    ) -> Result<(), Refusal> {
        let values = self.values_used(text, parts);
        self.evaluated_values(&values, span, scope)
    }

    fn evaluated_values(
        &mut self,
        values: &[Arc<str>],
        span: &Span,
        scope: &Scope<'_>,
    ) -> Result<(), Refusal> {
        let span = scope.place(span);
        let start = scope.start(&Input::Inherited);
        let runs =
            |value: &&Arc<str>| value.contains('[') && (value.contains('$') || value.contains('`'));
        for value in values.iter().filter(runs) {
            // A value may use itself, or others that use it.
            self.pay(Resource::Evaluations, 1, &span)?;
            self.evaluated(None, value, &span, &start)?;
        }
        Ok(())
    }

    /// Lists the code in values that the word's own arithmetic replaces, while they are known:
    /// `$((x++))` runs what is in `x` first.
    fn code_in_forgotten(&mut self, word: &Word, scope: &Scope<'_>) -> Result<(), Refusal> {
        let mut values: Vec<Arc<str>> = Vec::new();
        readings::each_calculation(&word.parts, &mut |text, inside| {
            // Values are expressions, too: `=` in one of them is enough to forget it.
            let used = self.values_used(text, inside);
            if arithmetic::assigns(text) || used.iter().any(|value| arithmetic::assigns(value)) {
                values.extend(used);
            }
        });
        self.evaluated_values(&values, &word.span, scope)
    }

    /// Lists the code in a value that is calculated because its variable holds numbers.
    fn code_in_number(
        &mut self,
        name: &str,
        given: &[(String, Value)],
        span: &Span,
        scope: &Scope<'_>,
    ) -> Result<(), Refusal> {
        let start = scope.start(&Input::Inherited);
        for (_, value) in given.iter().filter(|(known, _)| known == name) {
            if let Value::Known(text) = value {
                self.evaluated(None, text, &scope.place(span), &start)?;
                self.code_in_values(text, &[], span, scope)?;
            }
        }
        Ok(())
    }

    /// What is known of the values of the variables an expression uses, and of those they use in turn:
    /// a value is an expression, too.
    fn values_used(&self, text: &str, parts: &[Part]) -> Vec<Arc<str>> {
        let mut names: Vec<String> = names_in(text).map(str::to_owned).collect();
        readings::each_parameter(parts, readings::Within::Word, &mut |parameter| {
            names.push(parameter.name.clone());
        });
        let mut seen: HashSet<String> = HashSet::new();
        let mut used: Vec<Arc<str>> = Vec::new();
        while let Some(name) = names.pop() {
            let Some(variable) = self.environment.variable(&name) else {
                continue;
            };
            // An expression of a thousand uses of one variable uses one.
            if !seen.insert(name) {
                continue;
            }
            if seen.len() > MAX_CALCULATED {
                self.budget().overrun();
                break;
            }
            for value in variable.values {
                let Value::Known(text) = value else { continue };
                if !is_plain_number(&text) {
                    names.extend(names_in(&text).map(str::to_owned));
                    used.push(text);
                }
            }
        }
        used
    }

    fn forget_all(&mut self, names: &[String]) {
        for name in names {
            let value = Value::Unknown(Origin::Elsewhere);
            self.environment.assign(name, value);
        }
    }

    /// The variables an expression may assign, or the values of those it uses, which are
    /// expressions, too.
    fn names_assigned(&self, text: &str, parts: &[Part], names: &mut Vec<String>) {
        let mut texts = vec![Arc::from(text)];
        texts.extend(self.values_used(text, parts));
        if texts.iter().any(|text| arithmetic::assigns(text)) {
            names.extend(
                texts
                    .iter()
                    .flat_map(|text| names_in(text))
                    .map(str::to_owned),
            );
        }
    }

    fn define(
        &mut self,
        name: &Word,
        body: &CommandNode,
        scope: &Scope<'_>,
    ) -> Result<(), Refusal> {
        let known = self.expander(scope).argument(name, &name.span);
        let Some(name) = known.known() else {
            return self.apart(|listing| listing.node(body, false, scope, &Input::Inherited));
        };
        self.pay(Resource::Functions, 1, &scope.place(&body.span))?;
        let function = Rc::new(Function {
            body: body.clone(),
            source: Arc::from(scope.source),
            documents: scope.documents.to_vec(),
            held: scope.held.clone(),
        });
        self.defined.push(Rc::clone(&function));
        self.environment.define(name, function);
        Ok(())
    }

    /// `[[` evaluates operands of `-eq` and `-v` as arithmetic, quoted or not.
    fn condition(&mut self, tokens: &[ConditionToken], scope: &Scope<'_>) -> Result<(), Refusal> {
        let calculates = |at: Option<usize>| {
            let token = at.and_then(|at| tokens.get(at));
            matches!(token, Some(ConditionToken::Word(word)) if matches!(
                word.plain(),
                Some("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-v" | "-R")
            ))
        };
        for (at, token) in tokens.iter().enumerate() {
            let ConditionToken::Word(word) = token else {
                continue;
            };
            self.parts(&word.parts, scope)?;
            if !calculates(at.checked_sub(1)) && !calculates(Some(at + 1)) {
                continue;
            }
            let span = scope.held.clone().unwrap_or_else(|| word.span.clone());
            let operand = self.expander(scope).argument(word, &span);
            if let Some(text) = operand.known()
                && text.contains('[')
            {
                let start = scope.start(&Input::Inherited);
                self.evaluated(None, text, &span, &start)?;
            } else {
                // A name, or a variable with several values: each of them is calculated.
                let name = word.plain().unwrap_or_default();
                self.code_in_values(name, &word.parts, &word.span, scope)?;
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
        // A value may use itself, by way of code in it.
        if start.depth >= MAX_DEPTH {
            return match command {
                Some(command) => {
                    self.mark(command, Reason::TooDeep);
                    Ok(())
                }
                None => refuse(RefusalReason::TooDeep, span),
            };
        }
        let parts = match (read_expanding(text), command) {
            (Ok(parts), _) => parts,
            (Err(_), Some(command)) => {
                self.mark(command, Reason::Unreadable);
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
    fn bare(
        &mut self,
        node: &CommandNode,
        scope: &Scope<'_>,
        input: &Input,
    ) -> Result<(), Refusal> {
        let redirects = redirects::redirections(
            &node.redirects,
            &self.expander(scope),
            scope.documents,
            scope.held.as_ref(),
        );
        let printed = foreseen::printed(node, scope.documents, &self.expander(scope), input);
        self.remember_writes(&redirects, &printed, self.commands.len());
        self.add(Command {
            span: scope.place(&node.span),
            assignments: Vec::new(),
            words: Vec::new(),
            redirects,
            reached: scope.reached,
            opaque: Vec::new(),
            directory: Arc::clone(&self.environment.directory),
            input: None,
            file: self.file.clone(),
            loaded: self.quiet,
            fed_by: self.fed_by.clone(),
            container: self.container.clone(),
        })?;
        self.redirects(&node.redirects, scope)
    }

    /// Remembers what the files a command writes will hold, the `at`-th of the list.
    fn remember_writes(&mut self, redirects: &[Redirection], printed: &Input, at: usize) {
        for redirect in redirects {
            let append = match redirect.kind {
                RedirectionKind::Write | RedirectionKind::Clobber => false,
                // What was there before stays behind what is shorter.
                RedirectionKind::Append | RedirectionKind::ReadWrite => true,
                RedirectionKind::Read
                | RedirectionKind::HereDocument
                | RedirectionKind::HereString
                | RedirectionKind::Duplicate => continue,
            };
            if changes::writes_unknown(redirect) {
                Rc::make_mut(&mut self.environment.changers).add(at);
                continue;
            }
            let content = foreseen::content(printed);
            self.environment
                .write(&redirect.target.text, content, append, at);
        }
    }

    fn simple(
        &mut self,
        node: &CommandNode,
        simple: &Simple,
        timed: bool,
        scope: &Scope<'_>,
        input: &Input,
    ) -> Result<(), Refusal> {
        if simple.assignments.len() > MAX_ASSIGNMENTS {
            return refuse(RefusalReason::TooMuchWork, &scope.place(&node.span));
        }
        let values = || simple.assignments.iter().map(|node| &node.value);
        let targets = node.redirects.iter().map(|redirect| &redirect.target);
        let all: Vec<&Word> = simple.words.iter().chain(values()).chain(targets).collect();
        // Most words are what they say: there is nothing in them to be looked for.
        let expanding: Vec<&Word> = (all.iter().copied())
            .filter(|word| word.plain().is_none())
            .collect();
        for word in &expanding {
            self.code_in_forgotten(word, scope)?;
            self.calculated(&word.parts);
        }
        self.defaults_used_twice(&expanding);
        let choices = match expanding.is_empty() {
            true => vec![Choice::none()],
            false => readings::choices(&mut self.environment, &all),
        };
        let declares = simple
            .words
            .first()
            .and_then(Word::plain)
            .is_some_and(is_declaration);
        let evaluates = simple
            .words
            .iter()
            .chain(values())
            .any(|word| evaluates(&word.parts));
        let expands = !expanding.is_empty();
        let documents = node.redirects.iter().any(|redirect| {
            matches!(
                redirect.kind,
                RedirectKind::HereString | RedirectKind::HereDocument(_)
            )
        });
        let mut seen: Vec<Taken> = Vec::new();
        let mut assigned: Vec<(String, Vec<Value>)> = Vec::new();
        let mut after: Option<Environment> = None;
        let before = self.environment.clone();
        for (at, choice) in choices.iter().enumerate() {
            if at > 0 {
                self.environment = before.clone();
            }
            let expander = Expander {
                source: scope.source,
                environment: &before,
                choice,
                depth: 0,
            };
            let held = scope.held.as_ref();
            // What it reads may be another text in every reading.
            let own = (documents && choices.len() > 1)
                .then(|| redirects::input(&node.redirects, &expander, scope.documents, input));
            let input = own.as_ref().unwrap_or(input);
            let arguments: Vec<Argument> = match declares {
                true => simple
                    .words
                    .iter()
                    .flat_map(|word| match is_assignment(word) {
                        true => expander.values(word, held),
                        false => expander.arguments(word, held),
                    })
                    .collect(),
                false => expander.all_arguments(&simple.words, held),
            };
            let (assignments, given) = self.given(simple, &expander, scope);
            if let Some((_, value)) = assignments.iter().find(|(name, _)| name == "PATH") {
                self.environment.search_in(value.unquoted());
            }
            for (name, value) in &given {
                match assigned.iter_mut().find(|(known, _)| known == name) {
                    Some((_, values)) => values.push(value.clone()),
                    None => assigned.push((name.clone(), vec![value.clone()])),
                }
            }
            let redirects =
                redirects::redirections(&node.redirects, &expander, scope.documents, held);
            let words: Vec<Text> = arguments.iter().map(|word| word.text.clone()).collect();
            let set: Vec<Assignment> = assignments.iter().map(as_assignment).collect();
            if choices.len() > 1 {
                let taken = Taken {
                    words: words.clone(),
                    assignments: set.clone(),
                    redirects: redirects.clone(),
                };
                if seen.contains(&taken) {
                    continue;
                }
                seen.push(taken);
            }
            let printed = foreseen::output(&arguments, input, &expander);
            let place = self.add(Command {
                span: scope.place(&node.span),
                assignments: set,
                words,
                redirects,
                reached: scope.reached,
                opaque: Vec::new(),
                directory: Arc::clone(&self.environment.directory),
                input: known_text(input),
                file: self.file.clone(),
                loaded: self.quiet,
                fed_by: self.fed_by.clone(),
                container: self.container.clone(),
            })?;
            if at == 0 {
                self.code_in(node, simple, &given, scope)?;
            }
            if evaluates {
                self.mark(place, Reason::DynamicCode);
            }
            if expands && self.is_crowded(arguments.first(), simple, &node.redirects) {
                self.mark(place, Reason::OverBudget);
            }
            // A document that is written may be long: it is lent, not copied.
            let redirects = self.lend_redirects(place, Vec::new());
            self.remember_writes(&redirects, &printed, place);
            self.lend_redirects(place, redirects);
            self.remember_changes(place, input);
            if arguments.is_empty() {
                self.unwrap(place, &arguments, &scope.start(input))?;
            } else {
                self.with_assignments(&assignments, |listing| {
                    listing.unwrap(place, &arguments, &scope.start(input))
                })?;
            }
            self.mark_assignments(place, &assignments);
            let start = Start {
                in_shell: false,
                depth: scope.depth + 1,
                ..scope.start(&Input::Empty)
            };
            self.code_in_settings(place, &assignments, &start)?;
            // Shells without the reserved word `time` run a program of that name, and what bash
            // takes for the command is then an option of it.
            let first = arguments.first();
            if timed && first.is_some_and(|word| word.text.text.starts_with('-')) {
                let mut words = vec![Argument::literal("time", scope.place(&node.span))];
                words.extend(arguments.iter().cloned());
                self.start(Vec::new(), words, scope.start(input))?;
            }
            if choices.len() > 1 {
                after = either(after, Some(self.environment.clone()));
            }
        }
        if let Some(after) = after {
            self.environment = after;
        }
        self.default_assignments(&expanding, scope);
        if simple.words.is_empty() {
            for (name, values) in assigned {
                self.environment.assign_any(&name, values);
            }
        }
        if expanding.iter().any(|word| self.may_stop(word, scope)) {
            self.environment = self.environment.clone().either(before);
        }
        Ok(())
    }

    /// Puts redirects in the place of those of a listed command, which are handed out.
    fn lend_redirects(&mut self, place: usize, redirects: Vec<Redirection>) -> Vec<Redirection> {
        match self.commands.get_mut(place) {
            Some(command) => std::mem::replace(&mut command.redirects, redirects),
            None => redirects,
        }
    }

    /// Whether words of a command are among more texts than are followed. What only looks at things
    /// may look at any of them.
    fn is_crowded(&self, name: Option<&Argument>, simple: &Simple, redirects: &[Redirect]) -> bool {
        let mut crowded = false;
        let targets = redirects.iter().map(|redirect| &redirect.target);
        let looks = name.is_some_and(|name| READ_ONLY.binary_search(&name.unquoted()).is_ok());
        let words = simple.words.iter().filter(|_| !looks);
        for word in words.chain(targets) {
            readings::each_parameter(&word.parts, readings::Within::Word, &mut |parameter| {
                crowded |= self.environment.is_crowded(&parameter.name);
            });
        }
        crowded
    }

    /// The assignments of a command in one reading, and what each variable then holds.
    #[expect(clippy::type_complexity, reason = "two lists that belong together")]
    fn given(
        &self,
        simple: &Simple,
        expander: &Expander<'_>,
        scope: &Scope<'_>,
    ) -> (Vec<(String, Argument)>, Vec<(String, Value)>) {
        let mut arguments: Vec<(String, Argument)> = Vec::new();
        let mut given: Vec<(String, Value)> = Vec::new();
        // Each sees what those before it assigned.
        let mut state = (simple.assignments.len() > 1).then(|| expander.environment.clone());
        for node in &simple.assignments {
            let expander = Expander {
                environment: state.as_ref().unwrap_or(expander.environment),
                ..*expander
            };
            let span = scope.place(&node.value.span);
            let argument = expander.argument(&node.value, &span);
            let value = readings::assigned(&expander, node, &argument);
            if let Some(state) = &mut state {
                state.assign(&node.name, value.clone());
            }
            given.retain(|(name, _)| *name != node.name);
            given.push((node.name.clone(), value));
            arguments.push((node.name.clone(), argument));
        }
        (arguments, given)
    }

    /// A variable that gets its default in one word of a command may have it in another.
    fn defaults_used_twice(&mut self, words: &[&Word]) {
        let mut given: Vec<String> = Vec::new();
        for word in words {
            readings::each_parameter(&word.parts, readings::Within::Word, &mut |parameter| {
                if readings::gives_default(parameter) {
                    given.push(parameter.name.clone());
                }
            });
        }
        let mut uses: HashMap<String, usize> = HashMap::new();
        for word in words.iter().filter(|_| !given.is_empty()) {
            let within = readings::Within::Substitutions;
            readings::each_parameter(&word.parts, within, &mut |parameter| {
                *uses.entry(parameter.name.clone()).or_default() += 1;
            });
        }
        given.retain(|name| uses.get(name).is_some_and(|count| *count > 1));
        self.forget_all(&given);
    }

    /// Whether expanding a word may be an error, at which bash leaves the command be.
    fn may_stop(&self, word: &Word, scope: &Scope<'_>) -> bool {
        let mut stops = false;
        readings::each_calculation(&word.parts, &mut |_, _| stops = true);
        readings::each_parameter(&word.parts, readings::Within::Word, &mut |parameter| {
            let operator = parameter.operator.as_str();
            let slices = operator.starts_with(':')
                && ![":-", ":+", ":="]
                    .iter()
                    .any(|sign| operator.starts_with(sign));
            stops |= parameter.prefix == Some('!') || operator.contains('?') || slices;
        });
        stops && self.expander(scope).argument(word, &word.span).text.dynamic
    }

    /// Gives variables the values `${x:=value}` gives them.
    fn default_assignments(&mut self, words: &[&Word], scope: &Scope<'_>) {
        let mut given: Vec<(String, Value, bool)> = Vec::new();
        let expander = self.expander(scope);
        for word in words {
            readings::each_parameter(&word.parts, readings::Within::Word, &mut |parameter| {
                if readings::gives_default(parameter) {
                    let sign = match parameter.operator.starts_with(':') {
                        true => ":=",
                        false => "=",
                    };
                    let text = expander.known(&parameter.parts);
                    let value = match text.as_deref().and_then(|text| text.strip_prefix(sign)) {
                        Some(text) => Value::Known(Arc::from(text)),
                        None => Value::Unknown(Origin::Elsewhere),
                    };
                    given.push((parameter.name.clone(), value, sign.starts_with(':')));
                }
            });
        }
        for (name, value, if_empty) in given {
            let before = self.environment.variable(&name);
            let mut values = before.map_or_else(Vec::new, |before| before.values);
            values.retain(|value| match value {
                Value::Unset => false,
                Value::Known(text) => !if_empty || !text.is_empty(),
                Value::Partly(_) | Value::Pattern(_) | Value::List(_) | Value::Unknown(_) => true,
            });
            values.push(value);
            self.environment.assign_any(&name, values);
        }
    }

    /// Lists the substitutions in the words, values and redirects of a command.
    fn code_in(
        &mut self,
        node: &CommandNode,
        simple: &Simple,
        given: &[(String, Value)],
        scope: &Scope<'_>,
    ) -> Result<(), Refusal> {
        let mut before = Vec::new();
        for (at, assignment) in simple.assignments.iter().enumerate() {
            if let Some(subscript) = &assignment.subscript {
                self.parts(subscript, scope)?;
                let text = readings::calculated_text(subscript);
                self.code_in_values(&text, subscript, &assignment.value.span, scope)?;
            }
            self.parts(&assignment.value.parts, scope)?;
            if self.environment.is_odd(&assignment.name) {
                self.code_in_number(&assignment.name, given, &assignment.value.span, scope)?;
            }
            if at + 1 == simple.assignments.len() {
                continue;
            }
            // Code in those that follow may see this one.
            let name = &assignment.name;
            let held = self.environment.variable(name);
            let mut values = held.clone().map_or(Vec::new(), |held| held.values);
            values.extend(
                given
                    .iter()
                    .filter(|(known, _)| known == name)
                    .map(|(_, value)| value.clone()),
            );
            self.environment.assign_any(name, values);
            before.push((name, held));
        }
        for (name, held) in before.into_iter().rev() {
            self.environment.restore(name, held);
        }
        self.substitutions_in(&simple.words, scope)?;
        self.redirects(&node.redirects, scope)
    }

    /// Remembers the files a listed command changes by its words: what they then hold where that is
    /// foreseen, and otherwise that it may have changed some.
    fn remember_changes(&mut self, place: usize, input: &Input) {
        let Some(command) = self.commands.get(place) else {
            return;
        };
        let Some(program) = changes::changer(command) else {
            return;
        };
        if !program.foreseen || command.container.is_some() {
            Rc::make_mut(&mut self.environment.changers).add(place);
            return;
        }
        for change in changes::of(command, input) {
            let (Target::Path(path), Outcome::Holds { content, added }) =
                (&change.target, change.outcome)
            else {
                Rc::make_mut(&mut self.environment.changers).add(place);
                continue;
            };
            let content = match content {
                Content::Same(from) => self.environment.content(&from).unwrap_or_else(|| {
                    let names = self.environment.names_of(&from);
                    Content::Same(names.into_iter().next().unwrap_or(from))
                }),
                Content::Link(from) => {
                    let names = self.environment.names_of(&from);
                    Content::Link(names.into_iter().next().unwrap_or(from))
                }
                content @ (Content::Known(_) | Content::From(_) | Content::Edited) => content,
            };
            self.environment.write(path, content, added, place);
        }
    }

    /// The same for a command another one starts. Where it is not said what it reads, that is not
    /// nothing.
    fn remember_started(&mut self, place: usize, input: &Input) {
        match input {
            Input::Inherited | Input::Empty => {
                self.remember_changes(place, &Input::Unknown(Origin::Elsewhere));
            }
            Input::Known(_) | Input::Partly(_) | Input::Unknown(_) => {
                self.remember_changes(place, input);
            }
        }
    }

    /// Forgets the commands from one on, and what they change.
    pub(super) fn cut_to(&mut self, place: usize) {
        self.commands.truncate(place);
        self.changes.retain(|known, _| *known < place);
        Rc::make_mut(&mut self.environment.changers).forget_from(place);
    }

    /// What the command at a place of the list changes by its words, read when it is first asked for.
    pub(super) fn changes_of(&mut self, place: usize) -> Rc<[Change]> {
        if let Some(known) = self.changes.get(&place) {
            return Rc::clone(known);
        }
        let command = self.commands.get(place);
        let changes: Rc<[Change]> = command
            .map(|command| changes::of(command, &Input::Unknown(Origin::Elsewhere)))
            .unwrap_or_default()
            .into();
        self.changes.insert(place, Rc::clone(&changes));
        changes
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

    fn substitutions_in<'t>(
        &mut self,
        words: impl IntoIterator<Item = &'t Word>,
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
                Part::Parameter(parameter) => {
                    self.parts(&parameter.parts, scope)?;
                    self.code_in_parameter(parameter, scope)?;
                }
                Part::Arithmetic(arithmetic) => {
                    self.parts(&arithmetic.parts, scope)?;
                    self.calculation(arithmetic, scope)?;
                }
                Part::Command(code) | Part::Process(code) => self.substituted(code, scope)?,
                Part::Array(words) => self.substitutions_in(words, scope)?,
            }
        }
        Ok(())
    }

    /// Lists the code in values that a parameter calculates with: `${a[x]}`, `${x:y}`, and `${!x}`,
    /// whose value may be a name with a subscript.
    fn code_in_parameter(
        &mut self,
        parameter: &Parameter,
        scope: &Scope<'_>,
    ) -> Result<(), Refusal> {
        let span = &parameter.span;
        if let Some(text) = readings::calculated_operator(parameter) {
            self.code_in_values(text, &[], span, scope)?;
        }
        if parameter.prefix == Some('!') {
            self.code_in_values(&parameter.name, &[], span, scope)?;
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
            Input::Unknown(Origin::Elsewhere)
        } else {
            Input::Inherited
        };
        self.apart(|listing| listing.script(&code.script, &scope, &input))
    }
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

/// The names in an arithmetic expression.
pub(super) fn names_in(text: &str) -> impl Iterator<Item = &str> {
    let letter = |c: char| c == '_' || c.is_ascii_alphanumeric();
    let words = text.split(move |c: char| !letter(c));
    words.filter(|word| word.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic()))
}

fn is_plain_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a value is digits and nothing else.
fn is_number(value: &Value) -> bool {
    match value {
        Value::Known(text) => is_plain_number(text),
        Value::Partly(_)
        | Value::Pattern(_)
        | Value::List(_)
        | Value::Unset
        | Value::Unknown(_) => false,
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

/// Words as positional parameters; none if their number is not known.
pub(super) fn parameters(words: &[Argument]) -> Option<Rc<[Value]>> {
    let counted = !words.iter().any(|word| word.text.glob);
    words
        .iter()
        .map(Argument::element)
        .collect::<Option<Vec<Value>>>()
        .filter(|_| counted)
        .map(Rc::from)
}

fn known_text(input: &Input) -> Option<Arc<str>> {
    match input {
        Input::Known(text) => Some(Arc::clone(text)),
        Input::Inherited | Input::Empty | Input::Partly(_) | Input::Unknown(_) => None,
    }
}

fn either(one: Option<Environment>, other: Option<Environment>) -> Option<Environment> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.either(other)),
        (one, other) => one.or(other),
    }
}

fn as_assignment((name, value): &(String, Argument)) -> Assignment {
    Assignment {
        name: name.clone(),
        value: value.text.clone(),
    }
}

/// Whether a part of a word holds code.
fn runs_code(part: &Part) -> bool {
    match part {
        Part::Command(_) | Part::Process(_) => true,
        Part::DoubleQuoted(inside) | Part::Localized(inside) | Part::Extended(inside) => {
            inside.iter().any(runs_code)
        }
        Part::Parameter(parameter) => parameter.parts.iter().any(runs_code),
        Part::Arithmetic(arithmetic) => arithmetic.parts.iter().any(runs_code),
        Part::Array(words) => words.iter().flat_map(|word| &word.parts).any(runs_code),
        Part::Literal { .. }
        | Part::SingleQuoted(_)
        | Part::AnsiQuoted(_)
        | Part::Glob(_)
        | Part::Brace(_)
        | Part::Tilde(_) => false,
    }
}

/// Whether a format of `printf` accepts any values: it asks for no numbers.
fn takes_any_text(format: &Word) -> bool {
    format.parts.iter().all(|part| match part {
        Part::Literal { text, .. } | Part::SingleQuoted(text) | Part::AnsiQuoted(text) => {
            let mut conversions = text.split('%').skip(1);
            !text.starts_with('-') && conversions.all(|rest| rest.starts_with(['s', 'b']))
        }
        Part::DoubleQuoted(_)
        | Part::Localized(_)
        | Part::Parameter(_)
        | Part::Command(_)
        | Part::Process(_)
        | Part::Arithmetic(_)
        | Part::Glob(_)
        | Part::Brace(_)
        | Part::Extended(_)
        | Part::Tilde(_)
        | Part::Array(_) => false,
    })
}

/// Commands whose words may be assignments.
fn is_declaration(program: &str) -> bool {
    matches!(
        program,
        "alias" | "declare" | "export" | "local" | "readonly" | "typeset"
    )
}

/// Whether a word is an assignment to a command that takes some.
fn is_assignment(word: &Word) -> bool {
    let Some(Part::Literal {
        text,
        quoted: false,
    }) = word.parts.first()
    else {
        return false;
    };
    let Some((name, _)) = text.split_once('=') else {
        return false;
    };
    let name = name.strip_suffix('+').unwrap_or(name);
    names_in(name).next() == Some(name)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_comes_again_is_what_it_was_and_costs_as_much() {
        let budget = Budget::new();
        let mut listing = Listing::new(None, &budget);
        let texts = ["import os\nos.remove('x')", "print(1)", "", "f(", "eval(x)"];
        for text in texts {
            let alone = Budget::new();
            let read = code::read(Language::Python, text, &alone);
            let before = budget.left(Resource::Tokens);
            let first = listing.read_code(Language::Python, text);
            let second = listing.read_code(Language::Python, text);
            assert_eq!((&*first, &*second), (&read, &read), "{text}");
            assert!(Rc::ptr_eq(&first, &second), "{text}");
            let once = Resource::Tokens;
            let cost = crate::budget::MAX_TOKENS - alone.left(once);
            assert_eq!(before - budget.left(once), 2 * cost, "{text}");
        }
        let other = listing.read_code(Language::Ruby, "print(1)");
        assert_eq!(
            *other,
            code::read(Language::Ruby, "print(1)", &Budget::new())
        );
    }
}
