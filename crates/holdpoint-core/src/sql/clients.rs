//! What database clients take for themselves instead of sending it: `\!` and `\copy` of psql, `\!`
//! and `source` of mysql, `.shell` and `.read` of sqlite3, `!!` and `:r` of others.
//!
//! Some take a whole line where a statement could begin ([`line_command`]), some follow a backslash
//! anywhere outside quotes ([`backslash`]).

use super::act::StatementEffect;
use super::tokens::{Backslash, Flavour};
use super::{Dialect, StatementKind};

/// What a client command amounts to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) acts: Vec<StatementEffect>,
    /// Bytes of the line that belong to it.
    pub(super) length: usize,
    /// What ends statements from here on.
    pub(super) delimiter: Option<String>,
    /// SQL it is turned into.
    pub(super) sql: Option<String>,
}

/// What a command does with what follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// Runs the rest of the line.
    Runs,
    /// Runs a program that is not named here, such as an editor.
    Opens,
    /// Takes statements from a file, or from a command behind `|`.
    Sql,
    /// Reads a file, or the output of a command behind `|`.
    Reads,
    /// Writes a file, or to a command behind `|`.
    Writes,
    /// Loads a library.
    Loads,
    /// Works on a database file.
    Database,
    /// Sets a variable of the environment; some name programs.
    Environment,
    /// Runs what a query returns.
    RunsResults,
    /// `\copy`.
    Copy,
    /// Sets the delimiter.
    Delimiter,
    /// Looks.
    Looks,
    /// Changes nothing but the client.
    Nothing,
}

const PSQL: &[(&str, Use)] = &[
    ("!", Use::Runs),
    ("copy", Use::Copy),
    ("i", Use::Sql),
    ("ir", Use::Sql),
    ("include", Use::Sql),
    ("include_relative", Use::Sql),
    ("o", Use::Writes),
    ("out", Use::Writes),
    ("g", Use::Writes),
    ("gx", Use::Writes),
    ("w", Use::Writes),
    ("write", Use::Writes),
    ("s", Use::Writes),
    ("lo_import", Use::Reads),
    ("lo_export", Use::Writes),
    ("lo_unlink", Use::Database),
    ("gexec", Use::RunsResults),
    ("e", Use::Opens),
    ("edit", Use::Opens),
    ("ef", Use::Opens),
    ("ev", Use::Opens),
    ("setenv", Use::Environment),
    ("password", Use::Database),
    ("sf", Use::Looks),
    ("sv", Use::Looks),
    ("l", Use::Looks),
    ("list", Use::Looks),
    ("z", Use::Looks),
    ("h", Use::Looks),
    ("help", Use::Looks),
    ("?", Use::Looks),
    ("c", Use::Nothing),
    ("connect", Use::Nothing),
    ("cd", Use::Nothing),
    ("set", Use::Nothing),
    ("unset", Use::Nothing),
    ("echo", Use::Nothing),
    ("qecho", Use::Nothing),
    ("warn", Use::Nothing),
    ("if", Use::Nothing),
    ("elif", Use::Nothing),
    ("else", Use::Nothing),
    ("endif", Use::Nothing),
    ("timing", Use::Nothing),
    ("pset", Use::Nothing),
    ("prompt", Use::Nothing),
    ("conninfo", Use::Nothing),
    ("encoding", Use::Nothing),
    ("errverbose", Use::Nothing),
    ("watch", Use::Nothing),
    ("gset", Use::Nothing),
    ("gdesc", Use::Nothing),
    ("crosstabview", Use::Nothing),
    ("bind", Use::Nothing),
    ("parse", Use::Nothing),
    ("x", Use::Nothing),
    ("a", Use::Nothing),
    ("t", Use::Nothing),
    ("f", Use::Nothing),
    ("H", Use::Nothing),
    ("C", Use::Nothing),
    ("T", Use::Nothing),
    ("p", Use::Nothing),
    ("r", Use::Nothing),
    ("q", Use::Nothing),
    ("quit", Use::Nothing),
    ("reset", Use::Nothing),
    ("print", Use::Nothing),
    ("copyright", Use::Nothing),
    (".", Use::Nothing),
];

/// Behind a backslash.
const MYSQL_LETTERS: &[(&str, Use)] = &[
    ("!", Use::Runs),
    ("P", Use::Runs),
    (".", Use::Sql),
    ("T", Use::Writes),
    ("e", Use::Opens),
    ("d", Use::Delimiter),
    ("u", Use::Nothing),
    ("r", Use::Nothing),
];

/// At the start of a line.
const MYSQL_WORDS: &[(&str, Use)] = &[
    ("system", Use::Runs),
    ("pager", Use::Runs),
    ("source", Use::Sql),
    ("tee", Use::Writes),
    ("edit", Use::Opens),
    ("delimiter", Use::Delimiter),
];

/// Of sqlite3 and DuckDB. Any prefix will do for them, so what does most comes first.
const DOTS: &[(&str, Use)] = &[
    ("shell", Use::Runs),
    ("system", Use::Runs),
    ("read", Use::Sql),
    ("import", Use::Reads),
    ("output", Use::Writes),
    ("once", Use::Writes),
    ("load", Use::Loads),
    ("excel", Use::Opens),
    ("www", Use::Opens),
    ("backup", Use::Writes),
    ("clone", Use::Writes),
    ("save", Use::Writes),
    ("log", Use::Writes),
    ("trace", Use::Writes),
    ("iotrace", Use::Writes),
    ("restore", Use::Database),
    ("open", Use::Database),
    ("archive", Use::Database),
    ("ar", Use::Database),
    ("filectrl", Use::Database),
    ("testctrl", Use::Database),
    ("dbconfig", Use::Database),
    ("imposter", Use::Database),
    ("session", Use::Writes),
    ("dump", Use::Looks),
    ("recover", Use::Looks),
    ("tables", Use::Looks),
    ("schema", Use::Looks),
    ("fullschema", Use::Looks),
    ("indexes", Use::Looks),
    ("indices", Use::Looks),
    ("databases", Use::Looks),
    ("dbinfo", Use::Looks),
    ("dbtotxt", Use::Looks),
    ("sha3sum", Use::Looks),
    ("lint", Use::Looks),
    ("expert", Use::Looks),
    ("show", Use::Looks),
    ("help", Use::Looks),
    ("version", Use::Looks),
    ("selftest", Use::Looks),
    ("vfsinfo", Use::Looks),
    ("vfslist", Use::Looks),
    ("vfsname", Use::Looks),
    ("intck", Use::Looks),
    ("auth", Use::Nothing),
    ("bail", Use::Nothing),
    ("binary", Use::Nothing),
    ("cd", Use::Nothing),
    ("changes", Use::Nothing),
    ("check", Use::Nothing),
    ("connection", Use::Nothing),
    ("crlf", Use::Nothing),
    ("crnl", Use::Nothing),
    ("echo", Use::Nothing),
    ("eqp", Use::Nothing),
    ("exit", Use::Nothing),
    ("explain", Use::Nothing),
    ("headers", Use::Nothing),
    ("limit", Use::Nothing),
    ("mode", Use::Nothing),
    ("nonce", Use::Nothing),
    ("nullvalue", Use::Nothing),
    ("parameter", Use::Nothing),
    ("print", Use::Nothing),
    ("progress", Use::Nothing),
    ("prompt", Use::Nothing),
    ("quit", Use::Nothing),
    ("scanstats", Use::Nothing),
    ("separator", Use::Nothing),
    ("stats", Use::Nothing),
    ("timeout", Use::Nothing),
    ("timer", Use::Nothing),
    ("width", Use::Nothing),
];

/// Of sqlcmd and SQL*Plus.
const OTHERS: &[(&str, Use)] = &[
    (":!!", Use::Runs),
    ("!!", Use::Runs),
    ("!", Use::Runs),
    (":r", Use::Sql),
    (":out", Use::Writes),
    (":error", Use::Writes),
    (":ed", Use::Opens),
    ("@@", Use::Sql),
    ("@", Use::Sql),
];

/// A command that takes a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineCommand {
    usage: Option<Use>,
    /// Bytes of its name.
    name: usize,
}

/// The command that takes the line on which `rest` begins; looks at the first word only.
pub(super) fn line_command(rest: &str, flavour: Flavour) -> Option<LineCommand> {
    let other = flavour.dialect == Dialect::Other;
    if (flavour.dialect == Dialect::Sqlite || other)
        && let Some(behind) = rest.strip_prefix('.')
    {
        let name = first_word(behind);
        return (!name.is_empty()).then(|| LineCommand {
            usage: dot(name),
            name: 1 + name.len(),
        });
    }
    if flavour.backslash == Backslash::Mysql {
        let name = first_word(rest);
        let ends = rest.get(name.len()..).is_none_or(|rest| {
            rest.is_empty()
                || rest.starts_with(|next: char| next.is_ascii_whitespace() || next == ';')
        });
        let usage = lookup(MYSQL_WORDS, &name.to_ascii_lowercase()).filter(|_| ends)?;
        return Some(LineCommand {
            usage: Some(usage),
            name: name.len(),
        });
    }
    if other {
        let (name, usage) = OTHERS.iter().find(|(name, _)| rest.starts_with(name))?;
        return Some(LineCommand {
            usage: Some(*usage),
            name: name.len(),
        });
    }
    None
}

impl LineCommand {
    /// What it does with its line.
    pub(super) fn take(self, line: &str) -> Taken {
        let rest = line.get(self.name..).unwrap_or_default();
        Taken {
            length: line.len(),
            ..taken(self.usage, rest, rest.trim())
        }
    }
}

/// What a command behind a backslash does; `line` is the rest of the line.
pub(super) fn backslash(line: &str, flavour: Flavour) -> Taken {
    match flavour.backslash {
        Backslash::Psql => psql(line),
        Backslash::Mysql => mysql(line),
        Backslash::Nothing => Taken::default(),
    }
}

/// mysql hands its command the whole line and then goes on reading behind the next `;`.
fn mysql(line: &str) -> Taken {
    let Some(letter) = line.chars().next() else {
        return Taken::default();
    };
    let length = letter.len_utf8();
    let name = line.get(..length).unwrap_or_default();
    let Some(usage) = lookup(MYSQL_LETTERS, name) else {
        return Taken {
            length,
            ..Taken::default()
        };
    };
    let rest = line.get(length..).unwrap_or_default();
    let end = line.bytes().position(|byte| byte == b';');
    let length = end
        .filter(|_| usage != Use::Delimiter)
        .unwrap_or(line.len());
    Taken {
        length,
        ..taken(Some(usage), rest, rest.trim())
    }
}

fn psql(line: &str) -> Taken {
    // `\\` ends a command, `\;` separates statements that are sent together.
    if line.starts_with(['\\', ';']) {
        return Taken {
            length: 1,
            ..Taken::default()
        };
    }
    let end = line
        .char_indices()
        .find(|(_, char)| char.is_whitespace() || *char == '\\')
        .map_or(line.len(), |(at, _)| at);
    let mut name = line.get(..end).unwrap_or_default();
    let mut usage = lookup(PSQL, name);
    if usage.is_none() && name.starts_with('d') {
        usage = Some(Use::Looks);
    } else if usage.is_none() {
        // `\!ls`, `\ofile`: the name is one letter long.
        let letter = name.chars().next().map_or(0, char::len_utf8);
        let short = name.get(..letter).unwrap_or_default();
        if matches!(short, "!" | "i" | "o" | "w" | "e" | "g") {
            name = short;
            usage = lookup(PSQL, short);
        }
    }
    let rest = line.get(name.len()..).unwrap_or_default();
    let whole_line =
        matches!(usage, Some(Use::Runs | Use::Copy)) || rest.trim_start().starts_with('|');
    let mut commands = Vec::new();
    let arguments = if whole_line {
        rest
    } else {
        rest.get(..arguments_end(rest, &mut commands))
            .unwrap_or_default()
    };
    let mut taken = taken(usage, arguments, arguments.trim());
    taken.length = name.len() + arguments.len();
    for command in commands {
        taken
            .acts
            .push(StatementEffect::new(StatementKind::ShellEscape).running(Some(command)));
    }
    taken
}

/// Where the arguments of a psql command end, and the commands between backquotes in them.
fn arguments_end(rest: &str, commands: &mut Vec<String>) -> usize {
    let mut quote = None;
    let mut opened = 0;
    let mut chars = rest.char_indices();
    while let Some((at, char)) = chars.next() {
        match (quote, char) {
            (Some('\''), '\\') => {
                chars.next();
            }
            (Some('`'), '`') => {
                commands.push(rest.get(opened..at).unwrap_or_default().to_owned());
                quote = None;
            }
            (Some(open), char) if open == char => quote = None,
            (Some(_), _) => {}
            (None, '\\') => return at,
            (None, '\'' | '"' | '`') => {
                quote = Some(char);
                opened = at + char.len_utf8();
            }
            (None, _) => {}
        }
    }
    if quote == Some('`') {
        commands.push(rest.get(opened..).unwrap_or_default().to_owned());
    }
    rest.len()
}

/// What a command does with its arguments.
fn taken(usage: Option<Use>, raw: &str, arguments: &str) -> Taken {
    let piped = piped(arguments);
    let file = || argument(arguments);
    let act = match usage {
        None => Some(StatementEffect::new(StatementKind::Unreadable)),
        Some(Use::Sql | Use::Reads | Use::Writes) if piped.is_some() => {
            Some(StatementEffect::new(StatementKind::ShellEscape).running(piped))
        }
        Some(Use::Runs) => {
            let command = arguments.trim_end_matches(';').trim_end();
            Some(StatementEffect::new(StatementKind::ShellEscape).running(Some(command.to_owned())))
        }
        Some(Use::Opens) => Some(StatementEffect::new(StatementKind::ShellEscape)),
        Some(Use::Sql) => Some(StatementEffect::new(StatementKind::Unreadable).touching(file())),
        Some(Use::Reads) => Some(StatementEffect::new(StatementKind::LoadFile).touching(file())),
        Some(Use::Writes) => {
            file().map(|file| StatementEffect::new(StatementKind::IntoOutfile).touching(Some(file)))
        }
        Some(Use::Loads) => Some(StatementEffect::new(StatementKind::ShellEscape).touching(file())),
        Some(Use::Database) => Some(StatementEffect::new(StatementKind::Admin).touching(file())),
        Some(Use::Environment) => Some(environment(arguments)),
        Some(Use::RunsResults) => Some(StatementEffect::new(StatementKind::Unreadable)),
        Some(Use::Looks) => Some(StatementEffect::new(StatementKind::Select)),
        Some(Use::Nothing) => Some(StatementEffect::new(StatementKind::Other).on(file())),
        Some(Use::Copy | Use::Delimiter) => None,
    };
    Taken {
        acts: act.into_iter().collect(),
        length: raw.len(),
        delimiter: (usage == Some(Use::Delimiter)).then(|| first_argument(arguments).to_owned()),
        sql: (usage == Some(Use::Copy)).then(|| format!("copy {arguments}")),
    }
}

/// psql starts what these variables name.
fn environment(arguments: &str) -> StatementEffect {
    let (name, value) = arguments
        .split_once(char::is_whitespace)
        .unwrap_or((arguments, ""));
    let starts = ["PAGER", "EDITOR", "VISUAL"]
        .iter()
        .any(|program| name.ends_with(program));
    if starts {
        StatementEffect::new(StatementKind::ShellEscape).running(argument(value))
    } else {
        StatementEffect::new(StatementKind::Admin).on(Some(name.to_owned()))
    }
}

/// The command behind `|`, also where quotes enclose both.
fn piped(arguments: &str) -> Option<String> {
    let quote = arguments
        .chars()
        .next()
        .filter(|first| matches!(first, '\'' | '"'));
    let inside = match quote {
        Some(quote) => arguments.trim_matches(quote),
        None => arguments,
    };
    inside
        .strip_prefix('|')
        .map(|command| command.trim().to_owned())
}

fn first_argument(arguments: &str) -> &str {
    arguments
        .split_ascii_whitespace()
        .next()
        .unwrap_or_default()
}

/// The first argument that is no option, unquoted.
fn argument(arguments: &str) -> Option<String> {
    let mut rest = arguments.trim_start();
    while rest.starts_with('-') {
        rest = rest
            .split_once(char::is_whitespace)
            .map_or("", |(_, rest)| rest)
            .trim_start();
    }
    let quote = rest.chars().next()?;
    let found = if matches!(quote, '\'' | '"') {
        rest.strip_prefix(quote)?.split(quote).next()?
    } else {
        first_argument(rest).trim_end_matches(';')
    };
    (!found.is_empty()).then(|| found.to_owned())
}

fn dot(name: &str) -> Option<Use> {
    let name = name.to_ascii_lowercase();
    lookup(DOTS, &name).or_else(|| {
        DOTS.iter()
            .find(|(known, _)| known.starts_with(&name))
            .map(|(_, usage)| *usage)
    })
}

fn lookup(table: &[(&str, Use)], name: &str) -> Option<Use> {
    table
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, usage)| *usage)
}

/// The letters and digits in front; names of commands are short.
fn first_word(text: &str) -> &str {
    const MAX_LENGTH: usize = 32;
    let end = text
        .bytes()
        .take(MAX_LENGTH)
        .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        .count();
    text.get(..end).unwrap_or_default()
}
