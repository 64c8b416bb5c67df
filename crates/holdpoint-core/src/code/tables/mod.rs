//! What the functions of each language do, as data.
//!
//! A function stands under its full name, `os.path.join`; a method under its class,
//! `Path#unlink`; a method of an object nobody knows under `?#unlink`, which is only for names
//! that mean little else. The object of a method is its argument 0.

mod javascript;
mod lua;
mod perl;
mod php;
mod python;
mod ruby;

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::calls::canonical;
use super::constants::Pure;
use super::{Language, Unfollowed};

/// Functions that do the same.
pub(super) struct Row {
    /// Their names, with blanks between them.
    pub(super) names: &'static str,
    pub(super) acts: &'static [Act],
}

/// An argument by its position and its name.
#[derive(Clone, Copy)]
pub(super) struct Place(pub(super) usize, pub(super) &'static str);

/// The first and second argument, where names do not matter.
pub(super) const FIRST: Place = Place(0, "");
pub(super) const SECOND: Place = Place(1, "");

/// How much a deletion takes.
#[derive(Clone, Copy)]
pub(super) enum Depth {
    One,
    Tree,
    /// All below if an option is on.
    If(&'static str),
}

/// One thing a function does with its arguments.
pub(super) enum Act {
    Delete(Place, Depth),
    /// All arguments from one on.
    DeleteAll(usize, Depth),
    Write(Place),
    Append(Place),
    Read(Place),
    ChangeMode(Place),
    ChangeModeAll(usize),
    Rename(Place, Place),
    Connect(Place),
    /// Fetches a URL, reads anything else.
    ConnectIfUrl(Place),
    Shell(Place),
    /// The arguments from one on are a program and its arguments.
    Run(usize),
    /// The same, with the name the program is to see as a second.
    RunNamed(usize),
    /// A program, and a list with its name and arguments.
    RunVector(Place, Place),
    /// Python's `subprocess`.
    Start,
    /// A program and a list of arguments, or options.
    StartList(Place, Place),
    /// `system` of Ruby and Perl.
    System(usize),
    /// A line for the shell, or a list of words.
    ShellOrList,
    /// A path and a mode such as `"w"`.
    Open(Place, Place),
    /// The same, where only a mode that writes is a sign that this opens a file.
    OpenIfWriting(Place, Place),
    /// A path and flags.
    OpenFlags(Place, Place),
    /// A path and a mode, or a command after a bar.
    OpenPiped(Place, Place),
    /// Perl's `open`.
    OpenHandle,
    /// Runs code.
    Eval(Place),
    /// Runs code, if there is any: a block is none.
    EvalText(Place),
    /// Runs all arguments from one on as code.
    EvalAll(usize),
    /// Gives a module by name.
    Import(Place),
    /// Gives a member by name.
    Attribute(Place, Place),
    /// Calls a method by name, which is the argument of this number.
    Send(usize),
    /// Calls a function given by name with arguments nobody knows.
    Callback(usize),
    /// Calls a function given by name with the arguments that follow.
    CallWith(usize),
    /// Does what is not followed.
    Opaque(Unfollowed),
    /// Makes an object of a class of this table.
    Make(&'static str, Place),
    /// Makes one of all arguments as parts of a path.
    MakeJoined(&'static str),
    /// Only gives a value.
    Pure(Pure),
}

impl Act {
    /// Whether calling this out of sight would do anything.
    pub(super) fn counts_unseen(&self) -> bool {
        match self {
            Act::Pure(_) | Act::Make(..) | Act::MakeJoined(_) | Act::OpenIfWriting(..) => false,
            Act::Delete(..)
            | Act::DeleteAll(..)
            | Act::Write(_)
            | Act::Append(_)
            | Act::Read(_)
            | Act::ChangeMode(_)
            | Act::ChangeModeAll(_)
            | Act::Rename(..)
            | Act::Connect(_)
            | Act::ConnectIfUrl(_)
            | Act::Shell(_)
            | Act::Run(_)
            | Act::RunNamed(_)
            | Act::RunVector(..)
            | Act::Start
            | Act::StartList(..)
            | Act::System(_)
            | Act::ShellOrList
            | Act::Open(..)
            | Act::OpenFlags(..)
            | Act::OpenPiped(..)
            | Act::OpenHandle
            | Act::Eval(_)
            | Act::EvalText(_)
            | Act::EvalAll(_)
            | Act::Import(_)
            | Act::Attribute(..)
            | Act::Send(_)
            | Act::Callback(_)
            | Act::CallWith(_)
            | Act::Opaque(_) => true,
        }
    }

    /// Whether this does something, rather than find or give a value.
    pub(super) fn is_deed(&self) -> bool {
        self.counts_unseen()
            && !matches!(
                self,
                Act::Import(_)
                    | Act::Attribute(..)
                    | Act::Send(_)
                    | Act::Callback(_)
                    | Act::CallWith(_)
            )
    }

    /// Whether Perl's function takes `$_` where it has no argument.
    pub(super) fn takes_topic(&self) -> bool {
        matches!(
            self,
            Act::DeleteAll(..) | Act::Delete(..) | Act::EvalText(_)
        )
    }
}

/// The functions of a language by name.
pub(super) struct Table {
    language: Language,
    acts: HashMap<&'static str, &'static [Act]>,
    /// Modules and classes that hold a function which counts.
    holders: HashSet<&'static str>,
}

impl Table {
    pub(super) fn of(language: Language) -> &'static Table {
        match language {
            Language::Python => &PYTHON,
            Language::JavaScript => &JAVASCRIPT,
            Language::Ruby => &RUBY,
            Language::Perl => &PERL,
            Language::Php => &PHP,
            // Awk and Vim have walkers of their own and no modules.
            Language::Lua | Language::Awk | Language::Vim => &LUA,
        }
    }

    fn new(language: Language, rows: &'static [Row], globals: &[&'static str]) -> Table {
        let mut acts = HashMap::new();
        let mut holders: HashSet<&'static str> = globals.iter().copied().collect();
        for row in rows {
            for name in row.names.split_ascii_whitespace() {
                acts.insert(name, row.acts);
                if !row.acts.iter().any(Act::counts_unseen) {
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
            holders,
        }
    }

    /// What a function does. A name that ends in `.*` stands for all below it.
    pub(super) fn acts(&self, name: &str) -> Option<&'static [Act]> {
        let name = canonical(self.language, name);
        if let Some(acts) = self.acts.get(name.as_ref()) {
            return Some(acts);
        }
        let (module, _) = name.split_once('.')?;
        self.acts.get(format!("{module}.*").as_str()).copied()
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
        python::ROWS,
        &["builtins", "__builtins__", "sys.modules", "posix"],
    )
});
static JAVASCRIPT: LazyLock<Table> = LazyLock::new(|| {
    Table::new(
        Language::JavaScript,
        javascript::ROWS,
        &["globalThis", "global", "window"],
    )
});
static RUBY: LazyLock<Table> =
    LazyLock::new(|| Table::new(Language::Ruby, ruby::ROWS, &["Kernel"]));
static PERL: LazyLock<Table> = LazyLock::new(|| Table::new(Language::Perl, perl::ROWS, &[]));
static PHP: LazyLock<Table> = LazyLock::new(|| Table::new(Language::Php, php::ROWS, &[]));
static LUA: LazyLock<Table> =
    LazyLock::new(|| Table::new(Language::Lua, lua::ROWS, &["_G", "_ENV"]));
