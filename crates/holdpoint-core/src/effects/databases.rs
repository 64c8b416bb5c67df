//! The statements that reach a database client: in its flags, its operands, its input and files.

use super::reading::Reading;
use super::{Effect, EffectKind};
use crate::paths::{Entry, Surroundings};
use crate::shell::{Command, RedirectionKind, joined};
use crate::sql::{self, Dialect, StatementKind};
use crate::stores::{StoreAct, mongo, redis};

/// The longest file of statements that is read.
const LONGEST_FILE: usize = 1 << 18;

/// A program that hands statements to a database.
struct Client {
    names: &'static [&'static str],
    dialect: Dialect,
    /// Flags whose value is statements.
    statements: &'static [&'static str],
    /// Flags whose value is a file of them.
    files: &'static [&'static str],
    /// Operands from this one on are statements.
    operands: Option<usize>,
}

const CLIENTS: &[Client] = &[
    Client {
        names: &["psql", "pgcli", "cockroach", "usql"],
        dialect: Dialect::Postgres,
        statements: &["-c", "--command", "-e", "--execute"],
        files: &["-f", "--file"],
        operands: None,
    },
    Client {
        names: &["mysql", "mariadb", "mycli"],
        dialect: Dialect::MySql,
        statements: &["-e", "--execute", "--init-command"],
        files: &[],
        operands: None,
    },
    Client {
        names: &["sqlite3", "sqlite", "duckdb", "litecli"],
        dialect: Dialect::Sqlite,
        statements: &["-cmd", "-c", "-s", "-e"],
        files: &["-init"],
        operands: Some(1),
    },
    Client {
        names: &[
            "clickhouse-client",
            "clickhouse",
            "cqlsh",
            "sqlcmd",
            "snowsql",
            "isql",
            "osql",
            "trino",
            "presto",
            "beeline",
            "hive",
        ],
        dialect: Dialect::Other,
        statements: &["-q", "--query", "-Q", "-e", "--execute"],
        files: &["-f", "--file", "-i", "--queries-file"],
        operands: None,
    },
];

/// The kinds of the statements a command hands to a database.
pub(super) fn statements(
    command: &Command,
    name: &str,
    reading: &Reading<'_>,
    around: &Surroundings<'_>,
    found: &mut Vec<Effect>,
) -> Vec<&'static str> {
    let Some(client) = CLIENTS.iter().find(|client| client.names.contains(&name)) else {
        return stored(command, name, reading, found);
    };
    let mut kinds: Vec<&'static str> = Vec::new();
    let mut given = false;
    let mut add = |kind: StatementKind, object: Option<String>| {
        kinds.push(kind.word());
        found.push(Effect {
            text: object.unwrap_or_default(),
            ..Effect::plain(EffectKind::Database, command)
        });
    };
    let mut read = |text: &str| {
        for statement in sql::read(text, client.dialect) {
            add(statement.kind, statement.object);
        }
    };
    let mut hidden = false;
    for (flag, value, dynamic) in given_flags(command, reading, client) {
        given = true;
        if client.statements.contains(&flag) {
            hidden |= dynamic;
            read(value);
        } else {
            match file(value, command, around).filter(|_| !dynamic) {
                Some(text) => read(&text),
                None => hidden = true,
            }
        }
    }
    if let Some(first) = client.operands {
        for word in reading.operands().skip(first) {
            given = true;
            hidden |= word.dynamic;
            read(&word.text);
        }
    }
    for redirect in &command.redirects {
        if redirect.kind == RedirectionKind::Read {
            given = true;
            let path = (!redirect.target.dynamic).then_some(redirect.target.text.as_str());
            match path.and_then(|path| file(path, command, around)) {
                Some(text) => read(&text),
                None => hidden |= redirect.target.text != "/dev/null",
            }
        }
    }
    match &command.input {
        Some(text) => read(text),
        None => hidden |= !given && !command.fed_by.is_empty(),
    }
    if hidden {
        add(StatementKind::Unreadable, None);
    }
    kinds
}

/// The kinds of what a command does to a key-value or document store.
fn stored(
    command: &Command,
    name: &str,
    reading: &Reading<'_>,
    found: &mut Vec<Effect>,
) -> Vec<&'static str> {
    let input = command.input.as_deref();
    let acts = match name {
        "redis-cli" | "valkey-cli" | "keydb-cli" | "redis6-cli" => {
            let words: Vec<&str> = reading.operands().map(|word| word.text.as_str()).collect();
            match (words.is_empty(), input) {
                (true, Some(text)) => redis::lines(text),
                (true, None) => Vec::new(),
                (false, _) => redis::command(&words),
            }
        }
        "nc" | "ncat" | "netcat" | "telnet"
            if input.is_some_and(|text| text.contains("flush_all")) =>
        {
            redis::command(&["flushall"])
        }
        "mongosh" | "mongo" => {
            let evaluated = command.words.iter().zip(command.words.iter().skip(1));
            let mut acts: Vec<StoreAct> = evaluated
                .filter(|(flag, _)| flag.text == "--eval")
                .flat_map(|(_, code)| mongo::script(&code.text))
                .collect();
            for word in &command.words {
                if let Some(code) = word.text.strip_prefix("--eval=") {
                    acts.extend(mongo::script(code));
                }
            }
            acts.extend(input.map(mongo::script).unwrap_or_default());
            acts
        }
        _ => return Vec::new(),
    };
    for act in &acts {
        found.push(Effect {
            text: act.object.clone().unwrap_or_default(),
            ..Effect::plain(EffectKind::Database, command)
        });
    }
    acts.iter().map(|act| act.kind.word()).collect()
}

/// The flags of a client that bring statements, with their values: `-c x`, `--command=x`, `-tAc x`,
/// `-ex`.
fn given_flags<'c>(
    command: &'c Command,
    reading: &Reading<'c>,
    client: &Client,
) -> Vec<(&'static str, &'c str, bool)> {
    let mut found = Vec::new();
    for flag in reading.flags() {
        let cut_short = flag.name.starts_with("--") && flag.name.len() > 3;
        let mut known = client.statements.iter().chain(client.files);
        let known =
            known.find(|one| **one == flag.name || (cut_short && one.starts_with(flag.name)));
        if let (Some(known), Some((value, word))) = (known, flag.value) {
            found.push((*known, value, word.dynamic));
        }
    }
    let described = found.len();
    // Clients nobody has described: whether a flag of theirs takes a value is guessed.
    let mut words = command.words.iter().skip(1).peekable();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        for flag in client.statements.iter().chain(client.files) {
            let long = flag.starts_with("--");
            let letter = flag.chars().nth(1).filter(|_| flag.len() == 2);
            let cluster = letter.is_some_and(|letter| {
                !text.starts_with("--")
                    && text.starts_with('-')
                    && text.ends_with(letter)
                    && text
                        .bytes()
                        .skip(1)
                        .all(|byte| byte.is_ascii_alphanumeric())
            });
            if text == *flag || cluster {
                if let Some(value) = words.peek() {
                    found.push((*flag, value.text.as_str(), value.dynamic));
                }
                break;
            }
            let rest = text.strip_prefix(flag);
            let glued = match rest {
                Some(rest) if long => rest.strip_prefix('='),
                Some(rest) if flag.len() == 2 && rest.contains(' ') => Some(rest),
                Some(_) | None => None,
            };
            if let Some(glued) = glued {
                found.push((*flag, glued, word.dynamic));
                break;
            }
        }
    }
    // What is described was found twice.
    let (read, guessed) = found.split_at(described);
    let mut all = read.to_vec();
    all.extend(guessed.iter().filter(|one| !read.contains(one)));
    all
}

/// The text of a file; empty if there is none, since then nothing is run.
fn file(path: &str, command: &Command, around: &Surroundings<'_>) -> Option<String> {
    let directory = command.directory.places.first()?;
    let real = around.resolve(&joined(directory, path)).ok()?;
    if around.lookup.entry(&real) == Entry::Missing {
        return Some(String::new());
    }
    around.lookup.read(&real, LONGEST_FILE).into_text()
}
