//! The statements that reach a database client: in its flags, its operands, its input and files.

use super::files::MAX_EFFECTS;
use super::reading::Reading;
use super::{Effect, EffectKind};
use crate::paths::{Entry, Surroundings};
use crate::rules::{Database, StatementLanguage};
use crate::shell::{Command, RedirectionKind, joined};
use crate::sql::{self, Dialect, StatementKind};
use crate::stores::{StoreEffect, mongo, redis};

/// The longest file of statements that is read.
const MAX_FILE: usize = 1 << 18;

/// The kinds of the statements a command hands to a database.
pub(super) fn statements(
    command: &Command,
    reading: &Reading<'_>,
    around: &Surroundings<'_>,
    found: &mut Vec<Effect>,
) -> Vec<&'static str> {
    let database = reading
        .program()
        .and_then(|program| program.database.as_ref());
    let Some(client) = database else {
        return in_files(command, reading, around, found);
    };
    // `sqlplus u/p @x.sql`: nothing is said of where its statements stand.
    if client.files.is_empty() && client.statements.is_empty() && client.operands.is_none() {
        let in_words = in_files(command, reading, around, found);
        if !in_words.is_empty() {
            return in_words;
        }
    }
    let dialect = match client.language {
        StatementLanguage::Postgres => Dialect::Postgres,
        StatementLanguage::Mysql => Dialect::MySql,
        StatementLanguage::Sqlite => Dialect::Sqlite,
        StatementLanguage::Sql => Dialect::Other,
        StatementLanguage::Redis | StatementLanguage::Mongo | StatementLanguage::Memcached => {
            return stored(command, client, reading, around, found);
        }
    };
    let mut kinds: Vec<&'static str> = Vec::new();
    let mut given = false;
    let mut add = |kind: StatementKind, object: Option<String>| {
        kinds.push(kind.as_str());
        found.push(Effect {
            text: object.unwrap_or_default(),
            ..Effect::plain(EffectKind::Database, command)
        });
    };
    let mut read = |text: &str| {
        for statement in sql::read(text, dialect) {
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
        None => {
            let document = command.redirects.iter().any(|redirect| {
                matches!(
                    redirect.kind,
                    RedirectionKind::HereDocument | RedirectionKind::HereString
                )
            });
            hidden |= document || (!given && !command.fed_by.is_empty());
        }
    }
    if hidden {
        add(StatementKind::Unreadable, None);
    }
    kinds
}

/// The kinds of the statements in files a program is handed of which nobody has said that it is a client: `vsql -f x.sql`,
/// `sqlplus u/p @x.sql`, `somedb < x.sql`. Only what takes something away counts, for it may as well count their lines;
/// a file that cannot be read is a question all the same.
fn in_files(
    command: &Command,
    reading: &Reading<'_>,
    around: &Surroundings<'_>,
    found: &mut Vec<Effect>,
) -> Vec<&'static str> {
    let takes_data = command.program().is_none_or(crate::supposed::is_data);
    // A program of the project's is read itself.
    let by_path =
        (command.words.first()).is_some_and(|word| crate::shell::is_file_of_somebody(&word.text));
    if takes_data || by_path {
        return Vec::new();
    }
    let described = reading.program().is_some();
    // What stands behind the own words of a wrapper belongs to a command it runs, and so does its input.
    let all = command.words.get(1..).unwrap_or_default();
    let own = if described { reading.words() } else { all };
    let inner = all.get(own.len()).map(|word| word.text.as_str());
    let is_read = inner.is_none_or(|inner| !crate::supposed::is_data(inner));
    let given = command.redirects.iter().filter(|_| is_read);
    let given = given.filter(|redirect| redirect.kind == RedirectionKind::Read);
    let given = given.map(|redirect| &redirect.target);
    let words = own.iter().chain(given);
    let named = words.filter(|word| !word.dynamic && word.text.ends_with(".sql"));
    let is_client = (found.iter())
        .any(|effect| matches!(effect.kind, EffectKind::Database | EffectKind::Connect));
    let mut kinds: Vec<&'static str> = Vec::new();
    let mut hidden = false;
    for (nth, word) in named.enumerate() {
        let path = word.text.rsplit(['=', '@']).next().unwrap_or_default();
        let changes = |effect: &Effect| {
            matches!(
                effect.kind,
                EffectKind::Write | EffectKind::Append | EffectKind::Delete
            )
        };
        // What it writes there was not there before, and what is described to read files formats or counts them.
        let formats = |effect: &Effect| {
            !is_client && matches!(effect.kind, EffectKind::Read | EffectKind::List)
        };
        let known = |effect: &Effect| changes(effect) || (described && formats(effect));
        if found
            .iter()
            .any(|effect| known(effect) && effect.span == word.span)
        {
            continue;
        }
        let read =
            (nth < MAX_FILES && found.len() < MAX_EFFECTS).then(|| file(path, command, around));
        let Some(text) = read.flatten() else {
            hidden = true;
            continue;
        };
        for statement in sql::read(&text, Dialect::Other) {
            let kind = statement.kind.as_str();
            if !LOSING.contains(&kind) {
                continue;
            }
            if found.len() >= MAX_EFFECTS {
                hidden = true;
                break;
            }
            kinds.push(kind);
            found.push(Effect {
                text: statement.object.unwrap_or_default(),
                ..Effect::plain(EffectKind::Database, command)
            });
        }
    }
    if hidden {
        kinds.push(StatementKind::Unreadable.as_str());
        found.push(Effect::plain(EffectKind::Database, command));
    }
    kinds
}

/// Files of statements looked at for one command; people name one or two. One more is a question, as one is that cannot be
/// read.
const MAX_FILES: usize = 32;

/// Statements after which something is gone.
const LOSING: [&str; 8] = [
    "drop-database",
    "drop-schema",
    "drop-schema-cascade",
    "drop-table",
    "truncate",
    "truncate-cascade",
    "delete-all",
    "delete-always",
];

/// The kinds of what a command does to a key-value or document store.
fn stored(
    command: &Command,
    client: &Database,
    reading: &Reading<'_>,
    around: &Surroundings<'_>,
    found: &mut Vec<Effect>,
) -> Vec<&'static str> {
    let typed = typed(command, around);
    let input = match &typed {
        Typed::Text(text) => Some(text.as_str()),
        Typed::Nothing | Typed::Unread => None,
    };
    let mut hidden = false;
    let acts = match client.language {
        StatementLanguage::Redis => {
            let words: Vec<&str> = reading.operands().map(|word| word.text.as_str()).collect();
            // With words it reads its input only for a value.
            hidden = words.is_empty() && matches!(typed, Typed::Unread);
            match (words.is_empty(), input) {
                (true, Some(text)) => redis::lines(text),
                (true, None) => Vec::new(),
                (false, _) => redis::command(&words),
            }
        }
        StatementLanguage::Memcached => input.map(typed_at_a_store).unwrap_or_default(),
        StatementLanguage::Mongo => {
            let given = given_flags(command, reading, client);
            let mut acts: Vec<StoreEffect> = Vec::new();
            hidden = matches!(typed, Typed::Unread);
            for (flag, value, dynamic) in given {
                match client.files.contains(&flag) {
                    false => acts.extend(mongo::script(value)),
                    true => match file(value, command, around).filter(|_| !dynamic) {
                        Some(text) => acts.extend(mongo::script(&text)),
                        None => hidden = true,
                    },
                }
            }
            // Scripts stand behind the address, or instead of it.
            for script in reading.operands().filter(|word| word.text.ends_with(".js")) {
                match file(&script.text, command, around).filter(|_| !script.dynamic) {
                    Some(text) => acts.extend(mongo::script(&text)),
                    None => hidden = true,
                }
            }
            acts.extend(input.map(mongo::script).unwrap_or_default());
            acts
        }
        StatementLanguage::Postgres
        | StatementLanguage::Mysql
        | StatementLanguage::Sqlite
        | StatementLanguage::Sql => Vec::new(),
    };
    for act in &acts {
        found.push(Effect {
            text: act.object.clone().unwrap_or_default(),
            ..Effect::plain(EffectKind::Database, command)
        });
    }
    let mut kinds: Vec<&'static str> = acts.iter().map(|act| act.kind.as_str()).collect();
    if hidden {
        kinds.push(StatementKind::Unreadable.as_str());
        found.push(Effect::plain(EffectKind::Database, command));
    }
    kinds
}

/// What is typed into a client.
enum Typed {
    Nothing,
    Text(String),
    /// Something that is not known.
    Unread,
}

fn typed(command: &Command, around: &Surroundings<'_>) -> Typed {
    if let Some(text) = &command.input {
        return Typed::Text(text.to_string());
    }
    let mut given = false;
    for redirect in &command.redirects {
        match redirect.kind {
            RedirectionKind::Read if redirect.target.text == "/dev/null" => return Typed::Nothing,
            RedirectionKind::Read if !redirect.target.dynamic => {
                return match file(&redirect.target.text, command, around) {
                    Some(text) => Typed::Text(text),
                    None => Typed::Unread,
                };
            }
            RedirectionKind::Read | RedirectionKind::HereDocument | RedirectionKind::HereString => {
                given = true;
            }
            RedirectionKind::Write
            | RedirectionKind::Append
            | RedirectionKind::ReadWrite
            | RedirectionKind::Clobber
            | RedirectionKind::Duplicate => {}
        }
    }
    match given || !command.fed_by.is_empty() {
        true => Typed::Unread,
        false => Typed::Nothing,
    }
}

/// What is typed into a bare connection, if a key-value store at its other end would lose something
/// by it. Anything else may be meant for any server, and is nobody's statement.
fn typed_at_a_store(text: &str) -> Vec<StoreEffect> {
    if text.contains("flush_all") {
        return redis::command(&["flushall"]);
    }
    // Redis also takes each word behind its length: `$8\r\nFLUSHALL`.
    let mut effects: Vec<StoreEffect> = Vec::new();
    for line in text.lines() {
        let first = line.split_ascii_whitespace().next().unwrap_or_default();
        if is_loss(first) {
            effects.extend(redis::lines(line));
        }
    }
    effects
}

/// Commands of Redis after which something is gone or differs for everybody. Short words that other
/// protocols have as well, such as `DEL` and `SET`, are not among them.
fn is_loss(word: &str) -> bool {
    [
        "flushall",
        "flushdb",
        "shutdown",
        "swapdb",
        "replicaof",
        "slaveof",
    ]
    .iter()
    .any(|known| word.eq_ignore_ascii_case(known))
}

/// The flags of a client that bring statements, with their values: `-c x`, `--command=x`, `-tAc x`,
/// `-ex`.
fn given_flags<'c>(
    command: &'c Command,
    reading: &Reading<'c>,
    client: &Database,
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
    around.lookup.read(&real, MAX_FILE).into_text()
}
