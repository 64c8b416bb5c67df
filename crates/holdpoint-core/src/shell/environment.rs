//! What is known of a shell's state while its commands are walked: variables, positional
//! parameters, functions, aliases, the directory, and files the text itself writes.
//!
//! Promises that a value said to be known is one bash would have there. Where a command may or
//! may not have run, a variable has several values; where others are possible besides, it is
//! open. Sizes are bounded: what does not fit is not known.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::changes::Changers;
use super::files::{Content, Files, tidy};
use super::texts::UNKNOWN;
use super::tree::{CommandNode, HereDocument, Span};
use crate::budget::{Budget, Resource, Spent};
use crate::seeded::SeededMap;

/// Variables followed: states are merged variable by variable. A text that sets more is more
/// than the budget is for.
const MAX_VARIABLES: usize = 256;
/// Values of one variable, each of which makes a reading of its own of every command; one that
/// may have more may have any.
const MAX_VALUES: usize = 12;
/// Longest value followed: values are copied into words. A text that sets a longer one is more
/// than the budget is for.
const MAX_VALUE: usize = 1 << 16;
/// Items of an array; the same holds.
const MAX_ITEMS: usize = 2000;
/// Directories a command may be in; where there could be more, it may be in any.
const MAX_DIRECTORIES: usize = 4;
/// The same for those outside of where the call starts, where more can be lost: a text that may be
/// in more of them is more than the budget is for.
const MAX_DIRECTORIES_OUTSIDE: usize = 16;
/// Longest name of a directory that is followed: every path of every command is put together
/// with it. In one further down a command may be anywhere.
const MAX_PLACE: usize = 1024;
/// What a letter of a directory's name costs: each command there looks its parts up again.
const STEPS_OF_A_LETTER: usize = 4;
/// Directories to come back to; more than the budget is for.
const MAX_PUSHED: usize = 64;
/// Bodies one function may have; the others are walked by themselves.
const MAX_BODIES: usize = 4;
/// Directories of a `PATH`; more than the budget is for.
const MAX_SEARCHED: usize = 64;

/// Where text that is not known comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Origin {
    /// Nobody knows.
    Elsewhere,
    /// One of more texts than are followed, some of which say where something is.
    Crowd,
    /// It was encoded, and something decodes it.
    Decoder,
    /// A network.
    Network,
}

/// Longest text whose parts are remembered where not all of them are known; of a longer one only
/// where it comes from.
const MAX_PARTIAL: usize = 4096;

/// A text of which not all is known, and what is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Partial {
    pub(super) origin: Origin,
    /// The text with its unknown expansions as they were written: whose value it is.
    pub(super) written: String,
    /// The text with [`UNKNOWN`] in their place.
    pub(super) pattern: String,
    /// As an element of a list it is several words, or none.
    pub(super) splits: bool,
}

/// A value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// This text.
    Known(Arc<str>),
    /// A text of which not all is known.
    Partly(Rc<Partial>),
    /// A pattern for file names: what `for f in *.log` puts into `f`.
    Pattern(Arc<str>),
    /// An array.
    List(Rc<[Value]>),
    /// No value at all.
    Unset,
    /// Something else.
    Unknown(Origin),
}

impl Partial {
    /// What a variable from outside holds.
    pub(super) fn named(variable: &str) -> Rc<Self> {
        Rc::new(Self {
            origin: Origin::Elsewhere,
            written: format!("${variable}"),
            pattern: UNKNOWN.to_string(),
            splits: false,
        })
    }

    /// The same without new lines at its end, as a substitution leaves it.
    pub(super) fn without_last_lines(&self) -> Rc<Self> {
        // What is unknown at the end may be nothing, and then the lines before it go, too.
        let kept = self.pattern.trim_end_matches(['\n', UNKNOWN]);
        let tail = self.pattern.get(kept.len()..).unwrap_or_default();
        let mut pattern = kept.to_owned();
        if tail.contains(UNKNOWN) {
            pattern.push(UNKNOWN);
        }
        Rc::new(Self {
            origin: self.origin,
            written: self.written.trim_end_matches('\n').to_owned(),
            pattern,
            splits: false,
        })
    }

    /// The same after something was done to it that is not followed.
    pub(super) fn changed(&self) -> Rc<Self> {
        Rc::new(Self {
            origin: self.origin,
            written: self.written.clone(),
            pattern: UNKNOWN.to_string(),
            splits: false,
        })
    }
}

impl Value {
    /// A text of which not all is known, if it is short enough to be remembered.
    pub(super) fn partly(origin: Origin, written: &str, pattern: Option<&str>) -> Self {
        if written.is_empty() || written.len() > MAX_PARTIAL {
            return Value::Unknown(origin);
        }
        Value::Partly(Rc::new(Partial {
            origin,
            written: written.to_owned(),
            pattern: pattern.map_or_else(|| UNKNOWN.to_string(), str::to_owned),
            splits: false,
        }))
    }

    /// Whether it says where something is that a call had better leave alone: outside of where the
    /// call runs, or a name that begins with a dot.
    fn is_place(&self) -> bool {
        let says = |text: &str| {
            text.starts_with(['/', '~', '.', '-', '*'])
                || text.contains("..")
                || text.contains("/.")
        };
        match self {
            Value::Known(text) | Value::Pattern(text) => says(text),
            Value::List(items) => items.iter().any(Value::is_place),
            Value::Partly(_) | Value::Unset | Value::Unknown(_) => false,
        }
    }

    /// Whether it is one of more texts than are followed.
    pub(super) fn is_crowd(&self) -> bool {
        match self {
            Value::Unknown(origin) => *origin == Origin::Crowd,
            Value::Partly(partial) => partial.origin == Origin::Crowd,
            Value::Known(_) | Value::Pattern(_) | Value::List(_) | Value::Unset => false,
        }
    }

    /// Whether an element of a list is several words, or none.
    pub(super) fn splits(&self) -> bool {
        match self {
            Value::Partly(partial) => partial.splits,
            Value::Known(_)
            | Value::Pattern(_)
            | Value::List(_)
            | Value::Unset
            | Value::Unknown(_) => false,
        }
    }

    /// What a variable holds that is given one of the words this may be.
    pub(super) fn one_of(self) -> Self {
        if let Value::Partly(partial) = &self
            && partial.splits
        {
            return Value::Partly(partial.changed());
        }
        self
    }
}

/// What a variable may hold; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) values: Vec<Value>,
}

/// A function the text defines.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) body: CommandNode,
    pub(super) source: Arc<str>,
    pub(super) documents: Vec<HereDocument>,
    /// The word of the caller's text that holds it, if one does.
    pub(super) held: Option<Span>,
}

impl Function {
    /// Whether the same piece of the same text defines both: a loop's body is walked twice.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.body.span == other.body.span && self.held == other.held && self.source == other.source
    }
}

/// What a function's name may stand for.
#[derive(Debug, Clone, Default)]
pub(super) struct Definition {
    /// The bodies it may have; one of them, unless it may be no function at all.
    pub(super) bodies: Vec<Rc<Function>>,
    /// It may be no function: the definition may not have been reached, or was taken back.
    pub(super) doubtful: bool,
}

impl Definition {
    fn add(&mut self, function: &Rc<Function>) {
        let known = |one: &Rc<Function>| Rc::ptr_eq(one, function) || one.is(function);
        if self.bodies.len() < MAX_BODIES && !self.bodies.iter().any(known) {
            self.bodies.push(Rc::clone(function));
        }
    }

    fn either(&self, other: &Self) -> Self {
        let mut both = self.clone();
        for function in &other.bodies {
            both.add(function);
        }
        both.doubtful |= other.doubtful;
        both
    }
}

/// The directories a command may run in, relative to where the text starts: empty is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whereabouts {
    /// Directories, each as the commands name it.
    pub places: Vec<String>,
    /// Others are possible.
    pub unknown: bool,
}

impl Default for Whereabouts {
    fn default() -> Self {
        Self {
            places: vec![String::new()],
            unknown: false,
        }
    }
}

thread_local! {
    /// A shell nothing is known of yet.
    static EMPTY: Environment = Environment::default();
}

/// The state of a shell.
#[derive(Debug, Clone, Default)]
pub(super) struct Environment {
    variables: Rc<SeededMap<String, Variable>>,
    pub(super) functions: Rc<SeededMap<String, Definition>>,
    pub(super) aliases: Rc<SeededMap<String, Arc<str>>>,
    /// What aliases stood for that were given again: bash replaces the words of a group before it runs any of it.
    pub(super) former_aliases: Rc<SeededMap<String, Arc<str>>>,
    pub(super) files: Rc<Files>,
    /// The commands that changed further files by their words.
    pub(super) changers: Rc<Changers>,
    /// `$1`, `$2` …; none if they are not known.
    pub(super) positional: Option<Rc<[Value]>>,
    pub(super) directory: Arc<Whereabouts>,
    /// Directories to come back to.
    pushed: Rc<Vec<Arc<Whereabouts>>>,
    /// Every value any variable was given so far, in whatever branch or function.
    ever: Rc<RefCell<SeededMap<String, Vec<Value>>>>,
    /// Variables other programs see.
    exported: Rc<Vec<String>>,
    /// A function runs.
    pub(super) in_function: bool,
    /// Variables that are a function's own.
    pub(super) locals: Rc<Vec<String>>,
    /// Variables whose values change when they are assigned, or go elsewhere.
    odd: Rc<Vec<String>>,
    /// Those of them that hold what they are given in other letters: `declare -u`.
    cased: Rc<Vec<String>>,
    /// Directories the text makes the shell look for programs in.
    pub(super) search: Rc<Vec<String>>,
    /// What the call may still use.
    pub(super) budget: Budget,
    /// The agent's workspace, for commands that print it.
    pub(super) workspace: Option<Arc<str>>,
    /// A command that fails ends the shell.
    pub(super) ends_on_error: bool,
    /// Nothing that follows runs.
    pub(super) ended: bool,
    /// What the next line may begin with besides: a word may have been an error, after which bash leaves out the rest of
    /// the line.
    pub(super) cut_short: Option<Rc<Environment>>,
}

/// Which of its values each variable has in one reading of a command.
#[derive(Debug, Clone, Default)]
pub(super) struct Choice {
    picked: Vec<(String, usize)>,
}

impl Choice {
    /// No variable with several values.
    pub(super) const fn none() -> Self {
        Self { picked: Vec::new() }
    }

    pub(super) fn from_picks(picked: Vec<(String, usize)>) -> Self {
        Self { picked }
    }

    fn index(&self, name: &str) -> Option<usize> {
        let picked = self.picked.iter().find(|(known, _)| known == name);
        picked.map(|(_, index)| *index)
    }
}

impl Environment {
    /// The state a shell starts in.
    pub(super) fn in_workspace(workspace: Option<&str>, budget: &Budget) -> Self {
        // Shared until something is put into it: most shells are left as they started.
        let empty = EMPTY.with(Self::clone);
        Self {
            budget: budget.clone(),
            workspace: workspace.map(Arc::from),
            ever: Rc::default(),
            ..empty
        }
    }

    /// Takes bytes that are to be copied.
    pub(super) fn copies(&self, bytes: usize) -> Result<(), Spent> {
        self.budget.spend(Resource::Copies, bytes)
    }

    /// The value of a variable in one reading, if the text says anything about it.
    pub(super) fn value(&self, name: &str, choice: &Choice) -> Option<Value> {
        let values = &self.variables.get(name)?.values;
        match (choice.index(name), values.as_slice()) {
            (_, [only]) => Some(only.clone()),
            (Some(at), values) => values.get(at).or(values.first()).cloned(),
            // One of several, and the reading does not say which.
            (None, _) => Some(Value::Unknown(Origin::Elsewhere)),
        }
    }

    /// How many values a variable may have.
    pub(super) fn count(&self, name: &str) -> usize {
        self.variables
            .get(name)
            .map_or(1, |variable| variable.values.len())
    }

    /// Takes note of the directories a new `PATH` names.
    pub(super) fn search_in(&mut self, path: &str) {
        let named = path.trim_matches('"').split(':');
        let mut directories: Vec<String> = named
            .map(|directory| directory.replace("$PWD", "."))
            .filter(|directory| !directory.contains('$') && !directory.starts_with("/usr"))
            .collect();
        if directories.len() > MAX_SEARCHED {
            self.budget.overrun();
            directories.truncate(MAX_SEARCHED);
        }
        self.search = Rc::new(directories);
    }

    fn remember(&self, name: &str, values: &[Value]) {
        let mut ever = self.ever.borrow_mut();
        if ever.len() >= MAX_VARIABLES && !ever.contains_key(name) {
            // Who holds it says that there are too many.
            return;
        }
        let known = ever.entry(name.to_owned()).or_default();
        for value in values {
            if known.contains(value) {
                continue;
            }
            match known.len() {
                0..MAX_VALUES => known.push(value.clone()),
                // One more stands for all that are not remembered.
                MAX_VALUES => known.push(Value::Unknown(Origin::Elsewhere)),
                _ => {}
            }
        }
    }

    /// Lets a variable have any value it was ever given: which of the assignments counts is not
    /// always what it seems, and where it decides what is destroyed none may be overlooked.
    pub(super) fn doubt(&mut self, name: &str) {
        let Some(variable) = self.variable(name) else {
            return;
        };
        let mut values = variable.values;
        let ever = self.ever.borrow().get(name).cloned().unwrap_or_default();
        for value in ever.into_iter().filter(|value| *value != Value::Unset) {
            // What it may hold now comes before what it once held.
            let value = match values.len() < MAX_VALUES {
                true => value,
                false => Value::Unknown(Origin::Elsewhere),
            };
            if !values.contains(&value) {
                values.push(value);
            }
        }
        self.hold(name, values);
    }

    /// Makes a variable one that other programs see.
    pub(super) fn export(&mut self, name: &str) {
        if !self.exported.iter().any(|known| known == name) {
            Rc::make_mut(&mut self.exported).push(name.to_owned());
        }
    }

    /// The variables other programs see.
    pub(super) fn exports(&self) -> Rc<Vec<String>> {
        Rc::clone(&self.exported)
    }

    /// Hides a variable from other programs again that was set for one of them only.
    pub(super) fn export_as_before(&mut self, name: &str, before: &[String]) {
        if !before.iter().any(|known| known == name) {
            Rc::make_mut(&mut self.exported).retain(|known| known != name);
        }
    }

    /// What another shell starts with: variables that are not exported have no value there, unless
    /// the text it runs was made so that they do.
    pub(super) fn enter_shell(&mut self) {
        self.in_function = false;
        // No shell takes its separators from outside.
        self.forget("IFS");
        let exported = Rc::clone(&self.exported);
        for (name, variable) in Rc::make_mut(&mut self.variables) {
            if !exported.contains(name) && !variable.values.contains(&Value::Unset) {
                variable.values.push(Value::Unset);
            }
        }
    }

    /// Leaves out what is not known of variables that have known values, too.
    pub(super) fn settle(&mut self) {
        for variable in Rc::make_mut(&mut self.variables).values_mut() {
            let known = |value: &Value| !matches!(value, Value::Unknown(_));
            if variable.values.iter().any(known) {
                variable.values.retain(known);
            }
        }
    }

    /// Takes note of a variable that does not hold what it is given.
    pub(super) fn make_odd(&mut self, name: &str) {
        Rc::make_mut(&mut self.odd).push(name.to_owned());
        self.assign(name, Value::Unset);
    }

    /// The same for one that holds what it is given in other letters.
    pub(super) fn make_cased(&mut self, name: &str) {
        Rc::make_mut(&mut self.cased).push(name.to_owned());
    }

    /// Whether a variable may not hold what it is given.
    pub(super) fn is_odd(&self, name: &str) -> bool {
        self.odd.iter().any(|known| known == name)
    }

    /// Takes note of a variable that keeps what it holds: whether a later assignment counts is not
    /// followed.
    pub(super) fn freeze(&mut self, name: &str) {
        Rc::make_mut(&mut self.odd).push(name.to_owned());
    }

    /// Takes note that a variable is another name of `target`: what it holds is not known, but whose value it is.
    pub(super) fn refer(&mut self, name: &str, target: &str) {
        // What is given to it may then become what any word runs.
        if matches!(target, "BASH_ALIASES" | "BASH_CMDS") {
            self.budget.overrun();
        }
        if super::parameters::is_name(target) {
            let held = Value::partly(Origin::Elsewhere, &format!("${target}"), None);
            self.hold(name, vec![held]);
        }
    }

    /// Gives a variable one value.
    pub(super) fn assign(&mut self, name: &str, value: Value) {
        self.assign_any(name, vec![value]);
    }

    /// Gives a variable several possible values.
    pub(super) fn assign_any(&mut self, name: &str, values: Vec<Value>) {
        let odd = self.is_odd(name);
        // `declare -u` makes another command of what stands in a subscript, and no reading lists it.
        let calculates = |value: &Value| match value {
            Value::Known(text) => text.contains('[') && (text.contains("$(") || text.contains('`')),
            Value::Partly(_) | Value::Pattern(_) | Value::List(_) => false,
            Value::Unknown(_) | Value::Unset => false,
        };
        if self.cased.iter().any(|known| known == name) && values.iter().any(calculates) {
            self.budget.overrun();
        }
        self.hold(
            name,
            if odd {
                vec![Value::Unknown(Origin::Elsewhere)]
            } else {
                values
            },
        );
    }

    /// Lets a variable hold these values, whatever kind of variable it is.
    fn hold(&mut self, name: &str, values: Vec<Value>) {
        let mut kept: Vec<Value> = Vec::new();
        for value in values {
            let fits = match &value {
                Value::Known(text) | Value::Pattern(text) => text.len() <= MAX_VALUE,
                Value::List(items) => items.len() <= MAX_ITEMS,
                Value::Partly(_) | Value::Unset | Value::Unknown(_) => true,
            };
            let value = if fits {
                value
            } else {
                self.budget.overrun();
                Value::Unknown(Origin::Elsewhere)
            };
            if !kept.contains(&value) {
                kept.push(value);
            }
        }
        thin_out(&mut kept);
        self.remember(name, &kept);
        let variables = Rc::make_mut(&mut self.variables);
        if variables.len() >= MAX_VARIABLES && !variables.contains_key(name) {
            self.budget.overrun();
            return;
        }
        variables.insert(name.to_owned(), Variable { values: kept });
    }

    /// Forgets a variable: it is then what the outside says, or unset.
    pub(super) fn forget(&mut self, name: &str) {
        if self.variables.contains_key(name) {
            Rc::make_mut(&mut self.variables).remove(name);
        }
    }

    /// Defines a function, whatever its name stood for.
    pub(super) fn define(&mut self, name: &str, function: Rc<Function>) {
        let definition = Definition {
            bodies: vec![function],
            doubtful: false,
        };
        Rc::make_mut(&mut self.functions).insert(name.to_owned(), definition);
    }

    /// Takes note that a function may be one no more.
    pub(super) fn doubt_function(&mut self, name: &str) {
        if self.functions.contains_key(name)
            && let Some(definition) = Rc::make_mut(&mut self.functions).get_mut(name)
        {
            definition.doubtful = true;
        }
    }

    /// Whether a name may stand for something the text defines instead of what it usually runs.
    pub(super) fn redefines(&self, name: &str) -> bool {
        self.functions.contains_key(name) || self.aliases.contains_key(name)
    }

    /// The names a path has, put together with every directory the shell may be in.
    pub(super) fn names_of(&self, path: &str) -> Vec<String> {
        let places = self.directory.places.iter();
        let mut names: Vec<String> = places.map(|place| tidy(&joined(place, path))).collect();
        names.dedup();
        names
    }

    /// What a file holds after the commands so far, if they wrote it and that is one text.
    pub(super) fn content(&self, path: &str) -> Option<Content> {
        if self.files.is_empty() {
            return None;
        }
        let names = self.names_of(path);
        let file = names.iter().find_map(|name| self.files.get(name))?;
        match file.contents.as_slice() {
            [only] if names.len() == 1 && !file.doubtful => Some(only.clone()),
            _ => Some(Content::From(Origin::Elsewhere)),
        }
    }

    /// Notes what a command, the `at`-th of the list, does to a file.
    pub(super) fn write(&mut self, path: &str, content: Content, append: bool, at: usize) {
        let mut names = self.names_of(path);
        let surely = names.len() == 1 && !self.directory.unknown;
        if !matches!(content, Content::Link(_)) {
            // What is written by one name is there by the others.
            let mut linked = Vec::new();
            for name in &names {
                let (others, more) = self.files.aliases(name);
                linked.extend(others);
                if more {
                    self.budget.overrun();
                }
            }
            names.extend(linked);
        }
        for name in names {
            let copied = match &content {
                Content::Known(text) if append => text.len(),
                Content::Known(_)
                | Content::From(_)
                | Content::Same(_)
                | Content::Link(_)
                | Content::Edited => 0,
            };
            let files = Rc::make_mut(&mut self.files);
            let content = content.clone();
            let noted = if append {
                files.append(&name, content, at)
            } else {
                files.write(&name, content, surely, at)
            };
            if noted.is_err() || self.budget.spend(Resource::Copies, copied).is_err() {
                self.budget.overrun();
            }
        }
    }

    /// Takes over the files another shell wrote.
    pub(super) fn keep_files(&mut self, other: Self) {
        self.files = other.files;
        self.changers = other.changers;
    }

    /// Takes over the files another shell writes at some time.
    pub(super) fn may_keep_files(&mut self, other: &Self) {
        self.files = Files::either(&self.files, &other.files);
        self.changers = Rc::clone(&other.changers);
    }

    /// Changes the directory.
    pub(super) fn go(&mut self, target: &str) {
        let mut places: Vec<String> = Vec::new();
        let mut unknown = self.directory.unknown && !target.starts_with(['/', '~']);
        for place in &self.directory.places {
            let place = joined(place, target);
            let steps = place.len().saturating_mul(STEPS_OF_A_LETTER);
            if self.budget.spend(Resource::Steps, steps).is_err() {
                self.budget.overrun();
            }
            if place.len() > MAX_PLACE {
                unknown = true;
            } else if !places.contains(&place) {
                places.push(place);
            }
        }
        if places.is_empty() {
            places = self.directory.places.clone();
        }
        self.directory = Arc::new(Whereabouts { places, unknown });
    }

    /// Remembers the directory to come back to.
    pub(super) fn push_directory(&mut self) {
        let directory = Arc::clone(&self.directory);
        let pushed = Rc::make_mut(&mut self.pushed);
        if pushed.len() < MAX_PUSHED {
            pushed.push(directory);
        } else {
            self.budget.overrun();
        }
    }

    /// Goes back to the directory remembered last.
    pub(super) fn pop_directory(&mut self) {
        match Rc::make_mut(&mut self.pushed).pop() {
            Some(directory) => self.directory = directory,
            None => self.get_lost(),
        }
    }

    /// What a variable may hold, to be put back.
    pub(super) fn variable(&self, name: &str) -> Option<Variable> {
        self.variables.get(name).cloned()
    }

    /// Puts back what a variable held.
    pub(super) fn restore(&mut self, name: &str, variable: Option<Variable>) {
        match variable {
            Some(variable) => self.hold(name, variable.values),
            None => self.forget(name),
        }
    }

    /// The directory is no longer known.
    pub(super) fn get_lost(&mut self) {
        let mut directory = Whereabouts::clone(&self.directory);
        directory.unknown = true;
        self.directory = Arc::new(directory);
    }

    /// The directory is no longer known, but for what it is like.
    pub(super) fn get_lost_in(&mut self, pattern: &str) {
        let hidden = pattern.starts_with('.') || pattern.contains("/.");
        let hidden = hidden || pattern.trim_start_matches(UNKNOWN).starts_with('.');
        if !hidden || pattern.len() > MAX_PLACE {
            return self.get_lost();
        }
        let mut directory = Whereabouts::clone(&self.directory);
        let more: Vec<String> = match pattern.starts_with(UNKNOWN) {
            true => vec![pattern.to_owned()],
            false => (directory.places.iter())
                .map(|place| joined(place, pattern))
                .filter(|place| place.len() <= MAX_PLACE)
                .collect(),
        };
        directory.places.extend(more);
        directory.places.dedup();
        directory.unknown = true;
        self.directory = Arc::new(directory);
    }

    /// The state after commands of which either these or those ran.
    pub(super) fn either(self, other: Self) -> Self {
        if self.ended {
            return other;
        }
        if other.ended {
            return self;
        }
        let variables = if Rc::ptr_eq(&self.variables, &other.variables) {
            self.variables
        } else {
            Rc::new(merged(&self.variables, &other.variables))
        };
        let directory = if self.directory == other.directory {
            self.directory
        } else {
            let both = Whereabouts::either(&self.directory, &other.directory);
            if both.places.len() > MAX_DIRECTORIES_OUTSIDE {
                self.budget.overrun();
            }
            Arc::new(both)
        };
        Self {
            variables,
            functions: functions_of_either(self.functions, other.functions),
            aliases: united(self.aliases, other.aliases),
            former_aliases: united(self.former_aliases, other.former_aliases),
            files: Files::either(&self.files, &other.files),
            changers: match Rc::ptr_eq(&self.changers, &other.changers) {
                true => self.changers,
                false => Rc::new(self.changers.either(&other.changers)),
            },
            positional: if self.positional == other.positional {
                self.positional
            } else {
                None
            },
            directory,
            pushed: self.pushed,
            budget: self.budget,
            ever: self.ever,
            exported: if self.exported.len() < other.exported.len() {
                self.exported
            } else {
                other.exported
            },
            in_function: self.in_function || other.in_function,
            locals: self.locals,
            cased: if self.cased.len() < other.cased.len() {
                other.cased
            } else {
                self.cased
            },
            odd: if self.odd.len() < other.odd.len() {
                other.odd
            } else {
                self.odd
            },
            search: if self.search.is_empty() {
                other.search
            } else {
                self.search
            },
            workspace: self.workspace,
            ends_on_error: self.ends_on_error && other.ends_on_error,
            ended: false,
            cut_short: match (self.cut_short, other.cut_short) {
                (Some(one), Some(other)) if !Rc::ptr_eq(&one, &other) => {
                    Some(Rc::new(Self::clone(&one).either(Self::clone(&other))))
                }
                (one, other) => one.or(other),
            },
        }
    }

    /// Remembers the state in which bash may leave out the rest of the line.
    pub(super) fn may_cut_short(&mut self, before: Self) {
        let earlier = self.cut_short.take();
        let before = Self {
            cut_short: None,
            ..before
        };
        let state = match earlier {
            Some(earlier) => Self::clone(&earlier).either(before),
            None => before,
        };
        self.cut_short = Some(Rc::new(state));
    }

    /// Whether a variable may say where something is that it did not say before.
    pub(super) fn names_new_places(&self, before: &Self) -> bool {
        if Rc::ptr_eq(&self.variables, &before.variables) {
            return false;
        }
        self.variables.iter().any(|(name, variable)| {
            let known = before.variables.get(name);
            let is_new = |value: &Value| known.is_none_or(|known| !known.values.contains(value));
            let mut values = variable.values.iter();
            values.any(|value| value.is_place() && is_new(value))
        })
    }

    /// Whether a variable is one of more values than are followed.
    pub(super) fn is_crowded(&self, name: &str) -> bool {
        let variable = self.variables.get(name);
        variable.is_some_and(|variable| variable.values.iter().any(Value::is_crowd))
    }

    /// Lets every variable that is not what it was be one of more values than are followed.
    pub(super) fn crowd(&mut self, before: &Self) {
        let variables = Rc::clone(&self.variables);
        for (name, variable) in variables.iter() {
            if before.variables.get(name) != Some(variable) {
                let mut values = variable.values.clone();
                values.push(Value::Unknown(Origin::Crowd));
                self.assign_any(name, values);
            }
        }
    }

    /// Lets every variable be something else as well: one of them was assigned to, and which one nobody knows.
    pub(super) fn doubt_variables(&mut self) {
        let variables = Rc::clone(&self.variables);
        for (name, variable) in variables.iter() {
            let mut values = variable.values.clone();
            values.push(Value::Unknown(Origin::Elsewhere));
            self.assign_any(name, values);
        }
    }

    /// Whether a further round through a loop could see other values.
    pub(super) fn differs(&self, other: &Self) -> bool {
        let same = (Rc::ptr_eq(&self.variables, &other.variables)
            || self.variables == other.variables)
            && self.directory == other.directory
            && Rc::ptr_eq(&self.files, &other.files)
            && self.functions.len() == other.functions.len()
            && self.positional == other.positional;
        !same
    }
}

impl Whereabouts {
    fn either(one: &Self, other: &Self) -> Self {
        let mut both = one.clone();
        for place in &other.places {
            if both.places.contains(place) {
                continue;
            }
            let outside = place.starts_with(['/', '~']) || place.contains("..");
            let most = match outside {
                true => MAX_DIRECTORIES_OUTSIDE,
                false => MAX_DIRECTORIES - 1,
            };
            if both.places.len() > most {
                both.unknown = true;
                continue;
            }
            both.places.push(place.clone());
        }
        both.unknown |= other.unknown;
        both
    }
}

/// A path from a directory; either may be relative.
pub(crate) fn joined(directory: &str, path: &str) -> String {
    if directory.is_empty() || path.starts_with(['/', '~']) {
        return path.to_owned();
    }
    let directory = directory.trim_end_matches('/');
    let mut joined = String::with_capacity(directory.len() + 1 + path.len());
    joined.push_str(directory);
    joined.push('/');
    joined.push_str(path);
    joined
}

/// Leaves as many values as are followed. Those that say where something is stay before all others;
/// where one of them has to go, that is said.
fn thin_out(values: &mut Vec<Value>) {
    let open = |value: &Value| matches!(value, Value::Unknown(Origin::Elsewhere | Origin::Crowd));
    if values.len() <= MAX_VALUES
        || values.iter().filter(|value| !open(value)).count() <= MAX_VALUES
    {
        return;
    }
    let crowd = Value::Unknown(Origin::Crowd);
    let mut crowded = values.contains(&crowd);
    values.retain(|value| !open(value));
    values.sort_by_key(|value| !value.is_place());
    let dropped = values.get(MAX_VALUES..).unwrap_or_default();
    crowded |= dropped.iter().any(Value::is_place);
    values.truncate(MAX_VALUES);
    values.push(match crowded {
        true => crowd,
        false => Value::Unknown(Origin::Elsewhere),
    });
}

fn merged(
    one: &SeededMap<String, Variable>,
    other: &SeededMap<String, Variable>,
) -> SeededMap<String, Variable> {
    let unset = || Variable {
        values: vec![Value::Unknown(Origin::Elsewhere)],
    };
    let mut both = SeededMap::default();
    for name in one.keys().chain(other.keys()) {
        if both.contains_key(name) {
            continue;
        }
        // A variable only one of them assigns may hold what it held outside.
        let mut variable = one.get(name).cloned().unwrap_or_else(unset);
        let further = other.get(name).cloned().unwrap_or_else(unset);
        for value in further.values {
            if !variable.values.contains(&value) {
                variable.values.push(value);
            }
        }
        thin_out(&mut variable.values);
        both.insert(name.clone(), variable);
    }
    both
}

fn functions_of_either(
    one: Rc<SeededMap<String, Definition>>,
    other: Rc<SeededMap<String, Definition>>,
) -> Rc<SeededMap<String, Definition>> {
    if Rc::ptr_eq(&one, &other) || (one.is_empty() && other.is_empty()) {
        return one;
    }
    let missing = Definition {
        bodies: Vec::new(),
        doubtful: true,
    };
    let names = one.keys().chain(other.keys());
    let both = names.map(|name| {
        let (first, second) = (one.get(name), other.get(name));
        let either = first.unwrap_or(&missing).either(second.unwrap_or(&missing));
        (name.clone(), either)
    });
    Rc::new(both.collect())
}

fn united<V: Clone>(
    one: Rc<SeededMap<String, V>>,
    other: Rc<SeededMap<String, V>>,
) -> Rc<SeededMap<String, V>> {
    if Rc::ptr_eq(&one, &other) || other.is_empty() {
        return one;
    }
    let mut both = SeededMap::clone(&one);
    for (name, value) in other.iter() {
        both.entry(name.clone()).or_insert_with(|| value.clone());
    }
    Rc::new(both)
}
