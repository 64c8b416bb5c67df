//! What the name of a tool nobody has described says: that it destroys, publishes or pays.
//!
//! A name never proves a tool harmless, so nothing is allowed by it; but whoever calls a tool
//! `delete_project` has said what it does. Only whole words count: `budget_transfer` is no `get`,
//! `dropdown` no `drop`. A name that begins with a word for looking is about what it looks at.

use serde_json::{Map, Value};

use super::arguments::names_operation;
use super::{
    DESTROYS_WORDS, HARMLESS_WORDS, LOOKS_WORDS, PAYS_WORDS, PUBLISHES_WORDS, VERBS_WORDS,
};

/// What a name says a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    Destroys,
    Publishes,
    Pays,
}

/// The longest value that is taken for the name of an operation; a longer one is a text.
const MAX_OPERATION: usize = 64;

/// How deep lists of operations are looked into; the reader of commands refuses what lies deeper.
const MAX_DEPTH: usize = 16;

/// What a call says it does: by the tool's name, or by the operation it names for a tool that does
/// several things (`{"action": "delete"}`, `{"method": "DELETE"}`, `push` with `"force": true`).
pub(crate) fn said_by_call(tool: &str, input: &Map<String, Value>) -> Option<Says> {
    said_by_name(tool).or_else(|| said_by_operation(tool, input, 0))
}

fn said_by_operation(tool: &str, input: &Map<String, Value>, depth: usize) -> Option<Says> {
    if depth > MAX_DEPTH {
        return None;
    }
    input.iter().find_map(|(key, value)| match value {
        Value::Bool(true) if key.eq_ignore_ascii_case("force") => {
            said_by_name(&format!("{tool}_force"))
        }
        Value::String(operation) if names_operation(key) => {
            let is_name = operation.len() <= MAX_OPERATION && !operation.contains(' ');
            // Alone it is a tool's own name; together they may say what neither does (`reset`, `hard`).
            let spelled = || {
                let alone = said_by_name(&format!("{tool}__{operation}"));
                alone.or_else(|| said_by_name(&format!("{tool}_{operation}")))
            };
            is_name.then(spelled).flatten()
        }
        // Who may see it: `{"visibility": "public"}`.
        Value::String(seen) if key.eq_ignore_ascii_case("visibility") => {
            let seen = seen.get(..MAX_OPERATION).unwrap_or(seen);
            said_by_name(&format!("{tool}_visibility_{seen}"))
        }
        // A change in GraphQL: what it calls is the operation.
        Value::String(text) if text.trim_start().starts_with("mutation") => {
            let calls = text.split(['{', '}', '(', '\n']).map(str::trim);
            calls
                .filter(|call| call.len() <= MAX_OPERATION && !call.contains(' '))
                .find_map(said_by_name)
        }
        // What a graph is told to let go of stands in the query.
        Value::String(query) if loses_nodes(query) && speaks_cypher(tool, key) => {
            Some(Says::Destroys)
        }
        Value::Object(inner) => said_by_operation(tool, inner, depth + 1),
        Value::Array(items) => items
            .iter()
            .filter_map(Value::as_object)
            .find_map(|inner| said_by_operation(tool, inner, depth + 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}

/// Whether a tool or its argument is named after a graph that is spoken to in Cypher.
fn speaks_cypher(tool: &str, key: &str) -> bool {
    let named = ["cypher", "neo4j", "memgraph", "falkordb", "kuzu"];
    let names = [tool.to_ascii_lowercase(), key.to_ascii_lowercase()];
    named
        .iter()
        .any(|one| names.iter().any(|name| name.contains(one)))
}

/// Whether a query in Cypher takes something away: `MATCH (n) DETACH DELETE n`, `DROP INDEX x`.
fn loses_nodes(query: &str) -> bool {
    let mut words = query.split(|sign: char| !sign.is_ascii_alphanumeric());
    words.any(|word| {
        ["delete", "drop", "remove"]
            .iter()
            .any(|verb| word.eq_ignore_ascii_case(verb))
    })
}

/// Whether a name says by its first or its last word that something is destroyed: `doDelete`, `delete_series`.
pub(crate) fn is_destroying(name: &str) -> bool {
    let words = words(name);
    let is_verb = |word: &String| VERBS_WORDS.contains(&word.as_str()) || word == "truncate";
    name.len() <= MAX_OPERATION
        && (words.first().is_some_and(is_verb) || words.last().is_some_and(is_verb))
}

/// Whether a call says that it destroys something.
pub(crate) fn says_that_it_destroys(tool: &str, input: &Map<String, Value>) -> bool {
    said_by_call(tool, input) == Some(Says::Destroys)
}

/// Whether words say together that nothing is lost.
pub(super) fn is_harmless(all: &[String]) -> bool {
    HARMLESS_WORDS.iter().any(|wanted| {
        let mut parts = wanted.split('+');
        parts.all(|part| all.iter().any(|word| word == part))
    })
}

/// What the name of a tool says, if anything of this kind.
fn said_by_name(tool: &str) -> Option<Says> {
    // The server's name says what it is about, the tool's what is done.
    let own = tool.rsplit("__").next().unwrap_or(tool);
    let own_words = taken_apart(words(own));
    let all = match own.len() == tool.len() {
        true => own_words.clone(),
        false => taken_apart(words(tool)),
    };
    let first = own_words.first()?;
    if LOOKS_WORDS.contains(&first.as_str()) {
        return None;
    }
    let has = |list: &[&str]| {
        list.iter().any(|wanted| match wanted.split_once('+') {
            // One word of the tool's own name, the other anywhere, also if it is about several.
            Some((verb, about)) => {
                own_words.iter().any(|word| word == verb)
                    && all.iter().any(|word| {
                        word.strip_prefix(about)
                            .is_some_and(|rest| matches!(rest, "" | "s" | "es"))
                    })
            }
            None => own_words.iter().any(|word| word == wanted),
        })
    };
    if has(HARMLESS_WORDS) {
        return None;
    }
    if has(PAYS_WORDS) {
        Some(Says::Pays)
    } else if has(DESTROYS_WORDS) {
        Some(Says::Destroys)
    } else if has(PUBLISHES_WORDS) {
        Some(Says::Publishes)
    } else {
        None
    }
}

/// What names are about that glue a verb to it.
const THINGS: [&str; 52] = [
    "account",
    "all",
    "app",
    "backup",
    "branch",
    "bucket",
    "cluster",
    "collaborator",
    "collection",
    "column",
    "container",
    "customer",
    "data",
    "database",
    "db",
    "deployment",
    "device",
    "disk",
    "document",
    "domain",
    "employee",
    "environment",
    "file",
    "folder",
    "instance",
    "issue",
    "key",
    "log",
    "member",
    "message",
    "namespace",
    "logging",
    "password",
    "pod",
    "subscription",
    "node",
    "org",
    "permission",
    "project",
    "queue",
    "record",
    "repo",
    "repository",
    "schema",
    "server",
    "stack",
    "table",
    "tenant",
    "token",
    "user",
    "vm",
    "volume",
];

/// Words with those that glue a verb to what it is about (`deleteuser`, `droptables`) as two. Both must be known, so
/// that `dropdown` and `deleted` stay what they are.
fn taken_apart(words: Vec<String>) -> Vec<String> {
    let mut found = Vec::with_capacity(words.len());
    for word in words {
        // Nearly all begin with another letter than the word, which is told without taking them apart.
        let first = word.as_bytes().first();
        let verbs = DESTROYS_WORDS
            .iter()
            .filter(|verb| verb.as_bytes().first() == first)
            .filter_map(|verb| verb.split('+').next());
        let parts = verbs.filter(|verb| verb.len() > 2).find_map(|verb| {
            let about = word.strip_prefix(verb)?;
            let one = about.strip_suffix('s').unwrap_or(about);
            THINGS
                .contains(&one)
                .then(|| (verb.to_owned(), about.to_owned()))
        });
        match parts {
            Some((verb, about)) => found.extend([verb, about]),
            None => found.push(word),
        }
    }
    found
}

/// The words of a name in lower case: apart by signs, or by capitals (`DELETEUser`, `deleteUser`).
pub(super) fn words(name: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut lower_before = false;
    let mut signs = name.chars().peekable();
    while let Some(sign) = signs.next() {
        // The last capital of several begins the word that goes on in small letters.
        let goes_on = signs.peek().is_some_and(|next| next.is_lowercase());
        let capital = sign.is_uppercase() && (lower_before || (goes_on && word.len() > 1));
        let begins = !sign.is_alphanumeric() || capital;
        if begins && !word.is_empty() {
            found.push(std::mem::take(&mut word));
        }
        lower_before = sign.is_lowercase() || sign.is_ascii_digit();
        if sign.is_alphanumeric() {
            word.extend(sign.to_lowercase());
        }
    }
    if !word.is_empty() {
        found.push(word);
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_say_what_their_words_say() {
        for name in [
            "delete_project",
            "mcp__x__DeleteBucket",
            "drop-database",
            "removeUser",
            "terraform__apply",
            "wipe",
            "DELETEUser",
            "deleteuser",
            "droptables",
            "transfer_repositories",
            "banUser",
            "disable-users",
        ] {
            assert_eq!(said_by_name(name), Some(Says::Destroys), "{name}");
        }
        for name in [
            "get_deleted",
            "list_drops",
            "dropdown",
            "budget_transfer_report",
            "removeLabel",
            "plan",
            "undelete_x",
            "deleted",
            "bandwidth",
            "terminal",
            "",
        ] {
            assert_eq!(said_by_name(name), None, "{name}");
        }
    }

    #[test]
    fn an_operation_counts_like_a_name() {
        let says = |tool: &str, input: Value| said_by_call(tool, input.as_object().unwrap());
        let destroys = Some(Says::Destroys);
        assert_eq!(says("manage", json!({"op": "delete"})), destroys);
        assert_eq!(
            says("api", json!({"steps": [{"method": "DELETE"}]})),
            destroys
        );
        assert_eq!(says("git_push", json!({"force": true})), destroys);
        assert_eq!(says("git_reset", json!({"mode": "hard"})), destroys);
        assert_eq!(says("git_push", json!({"force": false})), None);
        assert_eq!(says("api", json!({"method": "GET"})), None);
        assert_eq!(says("labels", json!({"action": "remove_label"})), None);
        assert_eq!(says("note", json!({"text": "delete"})), None);
        assert_eq!(says("note", json!({"action": "please delete it"})), None);
    }
}
