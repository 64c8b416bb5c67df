//! What the functions of each language do, as data.
//!
//! A function stands under its full name, `os.path.join`; a method under its class,
//! `Path#unlink`; a method of an object nobody knows under `?#unlink`, which is only for names
//! that mean little else. The object of a method is its argument 0.

mod javascript;
mod javascript_clients;
mod lua;
mod perl;
mod php;
mod python;
mod python_clients;
mod ruby;
mod shared;

use std::collections::HashSet;
use std::sync::LazyLock;

use super::calls::canonical;
use super::constants::Pure;
use super::{Language, Unfollowed};
use crate::seeded::{Seeded, SeededMap};

/// Functions that do the same.
pub(super) struct Row {
    /// Their names, with blanks between them.
    pub(super) names: &'static str,
    pub(super) acts: &'static [CallEffect],
}

/// An argument by its position and its name.
#[derive(Clone, Copy)]
pub(super) struct Parameter(pub(super) usize, pub(super) &'static str);

/// The first and second argument, where names do not matter.
pub(super) const FIRST: Parameter = Parameter(0, "");
pub(super) const SECOND: Parameter = Parameter(1, "");

/// How much a deletion takes.
#[derive(Clone, Copy)]
pub(super) enum Depth {
    One,
    Tree,
    /// All below if an option is on.
    If(&'static str),
}

/// One thing a function does with its arguments.
pub(super) enum CallEffect {
    Delete(Parameter, Depth),
    /// All arguments from one on.
    DeleteAll(usize, Depth),
    Write(Parameter),
    Append(Parameter),
    Read(Parameter),
    ChangeMode(Parameter),
    ChangeModeAll(usize),
    Rename(Parameter, Parameter),
    /// Makes the second a name of the first.
    Link(Parameter, Parameter),
    Connect(Parameter),
    /// The same, where only an address makes it one.
    ConnectIfAddress(Parameter),
    /// Sends what of this machine's its arguments hold, to a host that is known or not.
    Send(Parameter),
    /// Shows what of the environment its arguments from one on hold.
    Print(usize),
    /// Does what a program does whose words these are; see `clients`.
    As(&'static str),
    /// A statement for a database, run as by this program.
    Query(&'static str),
    /// The same, where only a text that is plainly a statement makes it one.
    QueryIfPlain(&'static str),
    /// A method of the Kubernetes client.
    Kubernetes,
    /// Writes to a program that was started.
    Feed(Parameter),
    /// A process and a signal.
    Kill(Parameter, Parameter),
    /// Changes the directory of all that follows.
    ChangeDirectory(Parameter),
    /// Sets a variable of the environment for all that follows.
    SetVariable(Parameter, Parameter),
    /// Fetches a URL, reads anything else.
    ConnectIfUrl(Parameter),
    Shell(Parameter),
    /// The same of a method many objects have: only a line that stands there is one.
    ShellIfKnown(Parameter),
    /// The arguments from one on are a program and its arguments.
    Run(usize),
    /// The same of a method many objects have: only words that stand there are some.
    RunIfKnown(usize),
    /// The same, with the name the program is to see as a second.
    RunNamed(usize),
    /// A program, and a list with its name and arguments.
    RunVector(Parameter, Parameter),
    /// A program that is given a terminal of its own.
    StartOnTerminal(Parameter),
    /// Python's `subprocess`.
    Start,
    /// A program and a list of arguments, or options.
    StartList(Parameter, Parameter),
    /// A program and a list of arguments, or all of it in one text.
    StartLine,
    /// `system` of Ruby and Perl.
    System(usize),
    /// A line for the shell, or a list of words.
    ShellOrList,
    /// A path and a mode such as `"w"`.
    Open(Parameter, Parameter),
    /// The same, where only a mode that writes is a sign that this opens a file.
    OpenIfWriting(Parameter, Parameter),
    /// A path and flags.
    OpenFlags(Parameter, Parameter),
    /// A path and a mode, or a command after a bar.
    OpenPiped(Parameter, Parameter),
    /// Perl's `open`.
    OpenHandle,
    /// Runs code.
    Eval(Parameter),
    /// Runs code, if there is any: a block is none.
    EvalText(Parameter),
    /// Runs all arguments from one on as code.
    EvalAll(usize),
    /// Gives a module by name.
    Import(Parameter),
    /// Gives a member by name.
    Attribute(Parameter, Parameter),
    /// Calls a method by name, which is the argument of this number.
    Dispatch(usize),
    /// Calls a function given by name with arguments nobody knows.
    Callback(usize),
    /// Calls a function given by name with the arguments that follow.
    CallWith(usize),
    /// Does what is not followed.
    Opaque(Unfollowed),
    /// Makes an object of a class of this table.
    Make(&'static str, Parameter),
    /// Makes one of the name it is called by.
    MakeNamed(&'static str),
    /// Makes one of all arguments as parts of a path.
    MakeJoined(&'static str),
    /// Gives what its arguments hold, written down differently.
    Keep,
    /// Gives the directory the code runs in, as an object of a class if it says one.
    WorkingDirectory(Option<&'static str>),
    /// Only gives a value.
    Pure(Pure),
}

impl CallEffect {
    /// Whether calling this out of sight would do anything.
    pub(super) fn counts_unseen(&self) -> bool {
        match self {
            // What is out of sight of a call that shows, sends or sets is not known to be more.
            CallEffect::Pure(_)
            | CallEffect::WorkingDirectory(_)
            | CallEffect::Keep
            | CallEffect::Make(..)
            | CallEffect::MakeJoined(_)
            | CallEffect::OpenIfWriting(..)
            | CallEffect::MakeNamed(_)
            | CallEffect::ConnectIfAddress(_)
            | CallEffect::Print(_)
            | CallEffect::Send(_)
            | CallEffect::Feed(_)
            | CallEffect::Query(_)
            | CallEffect::QueryIfPlain(_)
            | CallEffect::Kubernetes
            | CallEffect::Kill(..)
            | CallEffect::ShellIfKnown(_)
            | CallEffect::RunIfKnown(_)
            | CallEffect::ChangeDirectory(_)
            | CallEffect::SetVariable(..) => false,
            CallEffect::Delete(..)
            | CallEffect::DeleteAll(..)
            | CallEffect::Write(_)
            | CallEffect::Append(_)
            | CallEffect::Read(_)
            | CallEffect::ChangeMode(_)
            | CallEffect::ChangeModeAll(_)
            | CallEffect::Rename(..)
            | CallEffect::Link(..)
            | CallEffect::Connect(_)
            | CallEffect::ConnectIfUrl(_)
            | CallEffect::As(_)
            | CallEffect::Shell(_)
            | CallEffect::Run(_)
            | CallEffect::RunNamed(_)
            | CallEffect::RunVector(..)
            | CallEffect::Start
            | CallEffect::StartOnTerminal(_)
            | CallEffect::StartList(..)
            | CallEffect::StartLine
            | CallEffect::System(_)
            | CallEffect::ShellOrList
            | CallEffect::Open(..)
            | CallEffect::OpenFlags(..)
            | CallEffect::OpenPiped(..)
            | CallEffect::OpenHandle
            | CallEffect::Eval(_)
            | CallEffect::EvalText(_)
            | CallEffect::EvalAll(_)
            | CallEffect::Import(_)
            | CallEffect::Attribute(..)
            | CallEffect::Dispatch(_)
            | CallEffect::Callback(_)
            | CallEffect::CallWith(_)
            | CallEffect::Opaque(_) => true,
        }
    }

    /// Whether this does something, rather than find or give a value.
    pub(super) fn is_known_effect(&self) -> bool {
        self.counts_unseen()
            && !matches!(
                self,
                CallEffect::Import(_)
                    | CallEffect::Attribute(..)
                    | CallEffect::Dispatch(_)
                    | CallEffect::Callback(_)
                    | CallEffect::CallWith(_)
            )
    }

    /// Whether Perl's function takes `$_` where it has no argument.
    pub(super) fn takes_topic(&self) -> bool {
        matches!(
            self,
            CallEffect::DeleteAll(..) | CallEffect::Delete(..) | CallEffect::EvalText(_)
        )
    }
}

/// The functions of a language by name.
pub(super) struct Table {
    language: Language,
    acts: SeededMap<&'static str, &'static [CallEffect]>,
    /// What all functions of a module do: the rows whose names end in `.*`, without that.
    below: SeededMap<&'static str, &'static [CallEffect]>,
    /// Modules and classes that hold a function which counts.
    holders: HashSet<&'static str, Seeded>,
}

impl Table {
    pub(super) fn for_language(language: Language) -> &'static Table {
        match language {
            Language::Python => &PYTHON,
            Language::JavaScript => &JAVASCRIPT,
            Language::Ruby => &RUBY,
            Language::Perl => &PERL,
            Language::Php => &PHP,
            // Awk and Vim have walkers of their own and no modules.
            Language::Lua | Language::Awk | Language::Vim | Language::PowerShell => &LUA,
        }
    }

    fn new(language: Language, rows: &[&'static [Row]], globals: &[&'static str]) -> Table {
        let mut acts = SeededMap::default();
        let mut below = SeededMap::default();
        let mut holders: HashSet<&'static str, Seeded> = globals.iter().copied().collect();
        for row in rows.iter().copied().flatten() {
            for name in row.names.split_ascii_whitespace() {
                acts.insert(name, row.acts);
                if let Some(module) = name.strip_suffix(".*") {
                    below.insert(module, row.acts);
                }
                if !row.acts.iter().any(CallEffect::counts_unseen) {
                    continue;
                }
                for (dot, _) in name.match_indices('.') {
                    holders.extend(name.get(..dot));
                }
            }
        }
        // Code asks all the time whether there is a `process`; what it leads to has rows for
        // objects nobody knows.
        holders.remove("process");
        Table {
            language,
            acts,
            below,
            holders,
        }
    }

    /// What a function does. A name that ends in `.*` stands for all below it.
    pub(super) fn acts(&self, name: &str) -> Option<&'static [CallEffect]> {
        let name = canonical(self.language, name);
        if let Some(acts) = self.acts.get(name.as_ref()) {
            return Some(acts);
        }
        let (module, _) = name.split_once('.')?;
        self.below.get(module).copied()
    }

    /// The way below a module all of which is one row: `git.push` of `sh.git.push`.
    pub(super) fn way<'n>(&self, name: &'n str) -> &'n str {
        for module in [
            "plumbum.cmd.",
            "plumbum.local.cmd.",
            "plumbum.local.",
            "sh.",
            "aws-sdk.",
            "@aws-sdk/client-",
            "Aws.",
        ] {
            if let Some(way) = name.strip_prefix(module) {
                return way;
            }
        }
        name.rsplit('.').next().unwrap_or(name)
    }

    /// What a method of a class does: by its whole way from the object, by where that begins, by
    /// its last step, by a row for all methods of the class, by a row for any object.
    pub(super) fn method(&self, class: &str, way: &str) -> Option<&'static [CallEffect]> {
        let find = |method: &str| {
            let key = format!("{class}#{method}");
            self.acts
                .get(canonical(self.language, &key).as_ref())
                .copied()
        };
        if let Some(acts) = find(way) {
            return Some(acts);
        }
        let last = way.rsplit('.').next().unwrap_or(way);
        if let Some((first, _)) = way.split_once('.')
            && let Some(acts) = find(&format!("{first}.*")).or_else(|| find(last))
        {
            return Some(acts);
        }
        let every = if class == "?" { None } else { find("*") };
        every.or_else(|| {
            let key = format!("?#{last}");
            self.acts
                .get(canonical(self.language, &key).as_ref())
                .copied()
        })
    }

    /// Whether something that counts can be reached through this name.
    pub(super) fn has_members(&self, name: &str) -> bool {
        self.holders
            .contains(canonical(self.language, name).as_ref())
    }
}

static PYTHON: LazyLock<Table> = LazyLock::new(|| {
    Table::new(
        Language::Python,
        &[shared::ROWS, python::ROWS, python_clients::ROWS],
        &["builtins", "__builtins__", "sys.modules", "posix"],
    )
});
static JAVASCRIPT: LazyLock<Table> = LazyLock::new(|| {
    Table::new(
        Language::JavaScript,
        &[shared::ROWS, javascript::ROWS, javascript_clients::ROWS],
        &["globalThis", "global", "window"],
    )
});
static RUBY: LazyLock<Table> =
    LazyLock::new(|| Table::new(Language::Ruby, &[shared::ROWS, ruby::ROWS], &["Kernel"]));
static PERL: LazyLock<Table> =
    LazyLock::new(|| Table::new(Language::Perl, &[shared::ROWS, perl::ROWS], &[]));
static PHP: LazyLock<Table> =
    LazyLock::new(|| Table::new(Language::Php, &[shared::ROWS, php::ROWS], &[]));
static LUA: LazyLock<Table> =
    LazyLock::new(|| Table::new(Language::Lua, &[lua::ROWS], &["_G", "_ENV"]));
