//! A light reading of code in languages other than the shell's: what it does to files, programs
//! and the network, as far as that stands in the text.
//!
//! The code is cut into trees of tokens, its names are resolved as far as imports, aliases and
//! constants that are assigned once go, and the functions it calls are looked up in a table for
//! each language. An argument that is no constant makes the effect's operand unknown. Where
//! something could run that this reading does not see at all, [`Reading::opaque`] says why.
//!
//! It is no interpreter: branches are all taken, functions are read where they stand, and what
//! a file loaded by `import` or `require` does is not asked. Text that nothing runs is text.

mod awk;
mod calls;
mod carried;
mod clients;
mod constants;
mod encoding;
mod held_texts;
mod imports;
mod literals;
mod names;
mod place;
mod powershell;
mod programs;
mod scopes;
mod sockets;
mod syntax;
mod tables;
#[cfg(test)]
mod tests;
mod tokens;
mod values;
mod vim;
mod walker;
mod whole;

use std::ops::Range;
use std::rc::Rc;

use crate::budget::{Budget, Resource};

pub(crate) use carried::Carried;
pub(crate) use place::{Place, names_its_place};
pub(crate) use powershell::slashed;

/// Longest code read: as long as the longest line. What is longer is not followed at all.
const MAX_TEXT: usize = 1 << 20;
/// Code inside of code (`exec("…")`) is followed this deep; each level reads all of it again.
const MAX_CODE_DEPTH: usize = 4;

/// A language code is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Language {
    Python,
    JavaScript,
    Ruby,
    Perl,
    Php,
    Awk,
    /// Ex commands, one a line, as after `vim -c` or in a script; the colon is optional.
    Vim,
    Lua,
    /// PowerShell, which a shell does: it is turned into the line of a shell that does the same.
    PowerShell,
}

/// What some code would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    /// What was found, in the order of the text.
    pub(crate) effects: Vec<CodeEffect>,
    /// Why the code could do something that is not among the effects, if so.
    pub(crate) opaque: Option<Unfollowed>,
    /// It opens a connection by hand, over which it can hand out what it starts.
    pub(crate) opens_socket: bool,
    /// Lines among its texts, where it starts or removes something that is not known: they may be that.
    pub(crate) may_run: Vec<String>,
    /// It starts or evaluates something that is not known.
    pub(crate) hands_on: bool,
    /// The modules it loads, where it was read to the end: then it does nothing but its effects.
    pub(crate) whole: Option<Vec<String>>,
}

/// One thing some code would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CodeEffect {
    pub(crate) kind: CodeEffectKind,
    /// Where it stands; for code held by a string, where that string is run.
    pub(crate) span: Range<usize>,
    /// Under what it is done, if that is not what the interpreter itself runs under.
    pub(crate) setting: Option<Rc<Setting>>,
}

/// What a program is started under.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Setting {
    /// The directory.
    pub(crate) directory: Option<Operand>,
    /// Variables of its environment.
    pub(crate) variables: Vec<(String, Operand)>,
    /// What it reads.
    pub(crate) input: Option<Operand>,
}

/// What a effect does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CodeEffectKind {
    /// Removes a file, or a directory, with what it holds where `recursive`.
    Delete { path: Operand, recursive: bool },
    /// Creates, replaces or shortens a file, or creates a directory or link.
    Write { path: Operand },
    /// Adds to a file.
    Append { path: Operand },
    /// Reads a file.
    Read { path: Operand },
    /// Changes mode, owner or times.
    ChangeMode { path: Operand },
    /// Moves a file.
    Rename { from: Operand, to: Operand },
    /// Hands a line to a shell.
    Shell(Operand),
    /// Starts a program with arguments. A last operand that is unknown stands for any number.
    Run(Vec<Operand>),
    /// Talks to a host, given by URL or name.
    Connect(Operand),
    /// Sends something of this machine's to a host.
    Send { to: Operand, what: Carried },
    /// Shows something of the environment.
    Print(Carried),
    /// Runs code that is not known.
    Eval,
}

/// What a effect is done to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operand {
    /// The whole text.
    Known(String),
    /// Nothing is known.
    Unknown,
    /// How it begins.
    Starts(String),
}

impl Operand {
    /// What copying this costs.
    fn size(&self) -> usize {
        match self {
            Operand::Known(text) | Operand::Starts(text) => text.len(),
            Operand::Unknown => 0,
        }
    }
}

impl CodeEffect {
    /// A effect under what the interpreter itself runs under.
    fn plain(kind: CodeEffectKind, span: Range<usize>) -> Self {
        Self {
            kind,
            span,
            setting: None,
        }
    }
}

/// Why code could do more than the effects found in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Unfollowed {
    /// It runs code that it makes or fetches.
    Evaluates,
    /// It finds a function or module by a name that is not known.
    DynamicName,
    /// It calls machine code or takes objects apart that can run code.
    Native,
    /// A string or bracket does not end, or a literal is not understood.
    Unreadable,
    /// It nests deeper than is followed.
    TooDeep,
    /// It is longer than is read.
    TooLong,
}

impl Unfollowed {
    /// Whether there is code that was not read at all.
    pub(crate) fn is_unread(self) -> bool {
        match self {
            Unfollowed::Unreadable | Unfollowed::TooDeep | Unfollowed::TooLong => true,
            Unfollowed::Evaluates | Unfollowed::DynamicName | Unfollowed::Native => false,
        }
    }
}

/// Reads code that stands at a place.
#[must_use]
pub(crate) fn read(language: Language, code: &str, place: &Place, budget: &Budget) -> Reading {
    let limits = Limits {
        budget: budget.clone(),
        code: MAX_CODE_DEPTH,
        place: place.clone(),
    };
    read_within(language, code, &limits)
}

/// Reads code that may stand inside of other code.
fn read_within(language: Language, code: &str, limits: &Limits) -> Reading {
    if code.len() > MAX_TEXT {
        return Reading::opaque(Unfollowed::TooLong);
    }
    let mut reading = match language {
        Language::Vim => vim::read(code, limits),
        Language::Awk => awk::read(code, limits),
        Language::PowerShell => powershell::read(code, limits),
        Language::Python
        | Language::JavaScript
        | Language::Ruby
        | Language::Perl
        | Language::Php
        | Language::Lua => walker::read(language, code, limits),
    };
    // What was found counts all the same: it may be what the interpreter finds, too.
    if encoding::is_other(language, code) {
        reading.note(Unfollowed::Unreadable);
        reading.whole = None;
    }
    reading
}

/// What is left of the bounds on a reading.
struct Limits {
    budget: Budget,
    /// How much deeper code inside of code may stand.
    code: usize,
    /// Where the code stands and runs.
    place: Place,
}

impl Limits {
    /// Takes one token; false when there is none left.
    fn token(&self) -> bool {
        self.budget.spend(Resource::Tokens, 1).is_ok()
    }

    /// Takes bytes that are to be copied; false when there are not so many left.
    fn copies(&self, bytes: usize) -> bool {
        self.budget.spend(Resource::Copies, bytes).is_ok()
    }

    /// Reads code found in a string, with what is left here.
    fn read_inside(&self, language: Language, code: &str) -> Reading {
        let Some(code_depth) = self.code.checked_sub(1) else {
            return Reading::opaque(Unfollowed::TooDeep);
        };
        if !self.copies(code.len()) {
            return Reading::opaque(Unfollowed::TooLong);
        }
        let inner = Limits {
            budget: self.budget.clone(),
            code: code_depth,
            place: self.place.clone(),
        };
        read_within(language, code, &inner)
    }
}

impl Reading {
    fn opaque(why: Unfollowed) -> Self {
        Self {
            effects: Vec::new(),
            opaque: Some(why),
            opens_socket: false,
            may_run: Vec::new(),
            whole: None,
            hands_on: false,
        }
    }

    /// Notes that something is not followed. What was not read counts for more than what was read
    /// and only running it shows, and otherwise the first.
    fn note(&mut self, why: Unfollowed) {
        match self.opaque {
            Some(known) if known.is_unread() || !why.is_unread() => {}
            Some(_) | None => self.opaque = Some(why),
        }
    }

    /// Takes over what code inside of this code does; all of it stands where that code is run.
    fn absorb(&mut self, inner: Reading, span: &Range<usize>) {
        self.effects
            .extend(inner.effects.into_iter().map(|effect| CodeEffect {
                span: span.clone(),
                ..effect
            }));
        self.opens_socket |= inner.opens_socket;
        self.may_run.extend(inner.may_run);
        self.hands_on |= inner.hands_on;
        if let Some(why) = inner.opaque {
            self.note(why);
        }
    }
}
