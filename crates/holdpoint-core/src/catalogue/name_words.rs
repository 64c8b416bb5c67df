//! What the name of a tool nobody has described says: that it destroys, publishes, pays or shows secrets.
//!
//! A name never proves a tool harmless, so nothing is allowed by it; but whoever calls a tool
//! `delete_project` has said what it does. Only whole words count: `budget_transfer` is no `get`,
//! `dropdown` no `drop`. A name that begins with a word for looking is about what it looks at.

use serde_json::{Map, Value};

use super::arguments::{evaluates, language_named, names_code, names_command, names_operation};
use super::{
    DESTROYS_WORDS, HARMLESS_WORDS, LOOKS_WORDS, PAYS_WORDS, PUBLISHES_WORDS, REVEALS_WORDS,
    VERBS_WORDS,
};

/// What a name says a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    Destroys,
    Publishes,
    Pays,
    Reveals,
    /// It hands what a page keeps for its user to somebody else.
    Sends,
}

/// The longest value that is taken for the name of an operation; a longer one is a text.
const MAX_OPERATION: usize = 64;

/// How deep lists of operations are looked into; the reader of commands refuses what lies deeper.
const MAX_DEPTH: usize = 16;

/// What a call says it does: by the tool's name, or by the operation it names for a tool that does
/// several things (`{"action": "delete"}`, `{"method": "DELETE"}`, `push` with `"force": true`).
pub(crate) fn said_by_call(tool: &str, input: &Map<String, Value>) -> Option<Says> {
    said_by_name(tool)
        .or_else(|| said_by_operation(tool, input, 0))
        .or_else(|| (reveals(tool) || shows(tool, input)).then_some(Says::Reveals))
}

/// Whether a call asks for a secret by an argument: one that takes the cover off, or the name of a variable that holds one
/// (`get` with `"name": "GITHUB_TOKEN"`).
fn shows(tool: &str, input: &Map<String, Value>) -> bool {
    let gives = || {
        let own = words(tool.rsplit("__").next().unwrap_or(tool));
        own.iter().any(|word| GIVES.contains(&word.as_str()))
    };
    input.iter().any(|(key, value)| match value {
        Value::Bool(true) => is_plain_among(key, &UNCOVERING),
        Value::String(name) => {
            is_plain_among(key, &NAMING)
                && name.bytes().any(|letter| letter.is_ascii_uppercase())
                && !name.bytes().any(|letter| letter.is_ascii_lowercase())
                && gives()
                && crate::effects::is_secret_variable(name)
        }
        Value::Null
        | Value::Bool(false)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_) => false,
    })
}

/// Switches that take the cover off a secret, and arguments that name a variable.
const UNCOVERING: [&str; 9] = [
    "withdecryption",
    "decrypt",
    "reveal",
    "revealsecrets",
    "includesecrets",
    "showsecrets",
    "showvalues",
    "includesecretvalues",
    "unmask",
];
const NAMING: [&str; 5] = ["name", "variable", "var", "envvar", "variablename"];

/// Whether an argument's name is one of these, whatever its case and signs.
fn is_plain_among(key: &str, names: &[&str]) -> bool {
    let plain = || {
        key.bytes()
            .filter(u8::is_ascii_alphanumeric)
            .map(|letter| letter.to_ascii_lowercase())
    };
    names.iter().any(|name| plain().eq(name.bytes()))
}

/// Whether a tool's name says that it gives a secret out, and none that it lists or keeps them.
fn reveals(tool: &str) -> bool {
    let own = words(tool.rsplit("__").next().unwrap_or(tool));
    // `get_secret`, and `kv_get` of a server that keeps them.
    let gives = [own.first(), own.last()]
        .into_iter()
        .flatten()
        .any(|word| GIVES.contains(&word.as_str()));
    if !gives {
        return false;
    }
    let all = words(tool);
    // `get_secret_scanning_alert`, `get_password_policy`: about them, and not one of them.
    let about = own
        .last()
        .is_some_and(|word| ABOUT_SECRETS.contains(&word.as_str()));
    !about
        && REVEALS_WORDS
            .iter()
            .any(|wanted| match wanted.split_once('+') {
                Some((server, verb)) => {
                    all.iter().any(|word| word == server) && own.iter().any(|word| word == verb)
                }
                None => own.iter().any(|word| word == wanted),
            })
}

/// What names of secrets are about that hold none.
const ABOUT_SECRETS: [&str; 14] = [
    "alert", "alerts", "audit", "count", "docs", "history", "list", "log", "logs", "metadata",
    "names", "policy", "status", "versions",
];

/// Verbs by which a tool gives what it holds.
const GIVES: [&str; 9] = [
    "access", "decrypt", "export", "fetch", "get", "read", "retrieve", "reveal", "show",
];

fn said_by_operation(tool: &str, input: &Map<String, Value>, depth: usize) -> Option<Says> {
    if depth > MAX_DEPTH {
        return None;
    }
    input.iter().find_map(|(key, value)| match value {
        Value::Bool(true) if is_among(key, &DOING) => said_by_name(&format!("{tool}_{key}")),
        // What is put away is gone for those who look for it.
        Value::Bool(true) if is_plain_among(key, &PUT_AWAY) => {
            said_by_name(&format!("{tool}_trash"))
        }
        // Who may see it: `{"type": "anyone"}`.
        Value::String(who) if is_among(key, &SEEN_BY) && is_among(who, &EVERYBODY) => {
            said_by_name(&format!("{tool}_public_true"))
        }
        // What is told to a key-value store in its own language, wherever it stands.
        Value::String(script) if loses_keys(tool, script) => Some(Says::Destroys),
        Value::Bool(true) if key.eq_ignore_ascii_case("public") => {
            said_by_name(&format!("{tool}_public_true"))
        }
        Value::Bool(false) if key.eq_ignore_ascii_case("private") => {
            said_by_name(&format!("{tool}_private_false"))
        }
        // Nothing of it is left to run.
        Value::Number(count) if count.as_u64() == Some(0) && is_among(key, &COUNTS) => {
            said_by_name(&format!("{tool}_scale_zero"))
        }
        Value::Number(_) | Value::String(_) if is_among(key, &AMOUNTS) => {
            said_by_name(&format!("{tool}_amount"))
        }
        Value::String(code)
            if (names_code(key) || names_command(key)) && sends_what_a_page_keeps(code) =>
        {
            Some(Says::Sends)
        }
        // Code that nobody reads says it by what it calls.
        Value::String(code) if runs_unread(tool, key, code) => Some(Says::Destroys),
        // What a request says it does, written as its first line.
        Value::String(request) if is_request(request) => {
            let method = request.split(' ').next().unwrap_or_default();
            said_by_name(&format!("{tool}__{method}"))
        }
        Value::String(place) if is_among(key, &PLACES) && is_among(place, &LIVE) => {
            said_by_name(&format!("{tool}_{place}"))
        }
        Value::String(rank) if is_among(key, &RANKS) => {
            let rank = rank.get(..MAX_OPERATION).unwrap_or(rank);
            said_by_name(&format!("{tool}_rank_{rank}"))
        }
        // What a pipeline writes takes the place of what was there.
        Value::String(_) | Value::Object(_) if matches!(key.as_str(), "$out" | "$merge") => {
            Some(Says::Destroys)
        }
        // All of it is meant.
        Value::Object(filter) if filter.is_empty() && is_among(key, &["filter", "where"]) => {
            said_by_name(&format!("{tool}_everything"))
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

/// Switches that say what is done, in the words of names.
const DOING: [&str; 8] = [
    "force",
    "prune",
    "destroy",
    "is_destroy",
    "purge",
    "delete",
    "prod",
    "production",
];
/// Switches that put something away.
const PUT_AWAY: [&str; 4] = ["intrash", "trashed", "archived", "isarchived"];
/// Who may see something, and that it is everybody.
const SEEN_BY: [&str; 6] = [
    "type",
    "scope",
    "access",
    "visibility",
    "link_access",
    "shared_with",
];
const EVERYBODY: [&str; 4] = ["anyone", "everyone", "anyone_with_link", "world"];
/// What something is scaled to.
const COUNTS: [&str; 4] = ["replicas", "desired_count", "instances", "min_replicas"];
/// How much of it.
const AMOUNTS: [&str; 3] = ["amount", "lamports", "wei"];
/// Where something goes, and the places people work with.
const PLACES: [&str; 4] = ["target", "environment", "env", "stage"];
const LIVE: [&str; 3] = ["production", "prod", "live"];
/// What somebody may do.
const RANKS: [&str; 4] = ["permission", "role", "access", "access_level"];

fn is_among(key: &str, names: &[&str]) -> bool {
    names.iter().any(|name| key.eq_ignore_ascii_case(name))
}

/// Whether a text is a request from its first line on: `DELETE https://api.x/users/1`, `DELETE /users/1 HTTP/1.1`.
fn is_request(text: &str) -> bool {
    let mut words = text.split([' ', '\n']);
    let method = words.next().unwrap_or_default();
    let about = words.next().unwrap_or_default();
    matches!(method, "DELETE" | "PURGE") && (about.starts_with('/') || about.contains("://"))
}

/// Whether code in a language that nobody reads calls something by a name that says it destroys or starts something:
/// `Directory.Delete("/x")`, `(delete-directory "x")`, `OS.execute("rm")`.
pub(crate) fn calls_destroyer(code: &str) -> bool {
    calls_one_of(code, &CALLED)
}

/// Whether code calls something by a name with one of these words.
fn calls_one_of(code: &str, names: &[&str]) -> bool {
    let is_name =
        |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '-' | '.' | '!' | ':');
    let mut rest = code;
    let mut lisp = false;
    while let Some(start) = rest.find(is_name) {
        lisp |= rest.get(..start).is_some_and(|front| front.ends_with('('));
        let name = rest.get(start..).unwrap_or_default();
        let end = name.find(|sign| !is_name(sign)).unwrap_or(name.len());
        let (name, behind) = name.split_at_checked(end).unwrap_or((name, ""));
        let given = behind
            .trim_start()
            .trim_start_matches(['(', '['])
            .trim_start();
        let called = behind.trim_start().starts_with(['(', '[']) || lisp;
        let last = name.rsplit(['.', ':']).next().unwrap_or(name);
        // What is written there and not worked out: a name in a text, or options.
        // `it.delete()` says all of it by its name.
        let bare = given.starts_with(')') && name.contains('.') && names.contains(&last);
        let given = given.starts_with(['"', '\'', '`', '{', '@']);
        if called && (given || bare) && last.len() <= MAX_OPERATION {
            let words = words(last);
            if words.iter().any(|word| names.contains(&word.as_str())) && !is_harmless(&words) {
                return true;
            }
        }
        lisp = false;
        rest = behind;
    }
    false
}

/// Whether a tool is given code to run that no reader knows, and that destroys something by what it calls. Where no language
/// is named, readers of the two most tools know have seen it, so that only what destroys by its name counts.
fn runs_unread(tool: &str, key: &str, code: &str) -> bool {
    if !(names_code(key) || names_command(key)) || !evaluates(tool) {
        return false;
    }
    match language_named(key).or_else(|| language_named(tool)) {
        Some(interpreter) => {
            let program = interpreter.split(' ').next().unwrap_or(interpreter);
            !crate::shell::is_interpreter(program) && program != "sh" && calls_destroyer(code)
        }
        None => calls_one_of(code, &LOSING),
    }
}

/// Words in the names of functions that start or remove something.
const CALLED: [&str; 21] = [
    "delete",
    "destroy",
    "drop",
    "erase",
    "exec",
    "execute",
    "kill",
    "nuke",
    "popen",
    "purge",
    "rm",
    "rmdir",
    "rmtree",
    "shell",
    "shred",
    "spawn",
    "system",
    "terminate",
    "truncate",
    "unlink",
    "wipe",
];

/// The same of what removes alone.
const LOSING: [&str; 12] = [
    "delete",
    "destroy",
    "drop",
    "erase",
    "nuke",
    "purge",
    "rmdir",
    "shred",
    "terminate",
    "truncate",
    "unlink",
    "wipe",
];

/// Whether a tool or its argument is named after a graph that is spoken to in Cypher.
fn speaks_cypher(tool: &str, key: &str) -> bool {
    let named = ["cypher", "neo4j", "memgraph", "falkordb", "kuzu"];
    let names = [tool.to_ascii_lowercase(), key.to_ascii_lowercase()];
    named
        .iter()
        .any(|one| names.iter().any(|name| name.contains(one)))
}

/// Whether a browser's script both takes what the page keeps for its user and sends something: such scripts look at the one
/// or do the other.
fn sends_what_a_page_keeps(code: &str) -> bool {
    let has = |names: &[&str]| names.iter().any(|name| code.contains(name));
    has(&[
        "document.cookie",
        "localStorage",
        "sessionStorage",
        "cookieStore",
    ]) && has(&[
        "fetch(",
        "XMLHttpRequest",
        "sendBeacon",
        "new WebSocket",
        "new Image",
        "new EventSource",
    ])
}

/// Whether a script for a key-value store empties it: `redis.call('flushall')`.
fn loses_keys(tool: &str, script: &str) -> bool {
    let words = words(tool);
    let named = ["redis", "valkey", "keydb", "dragonfly", "memcached"];
    let speaks = named
        .iter()
        .any(|name| words.iter().any(|word| word == name));
    let lower = || script.to_ascii_lowercase();
    speaks && {
        let script = lower();
        ["flushall", "flushdb", "flush_all"]
            .iter()
            .any(|told| script.contains(told))
    }
}

/// Whether a query in Cypher takes something away: `MATCH (n) DETACH DELETE n`, `DROP INDEX x`.
pub(crate) fn loses_nodes(query: &str) -> bool {
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

/// Whether a tool's own name says that it moves something: `move_file`, `rename`.
pub(crate) fn moves(tool: &str) -> bool {
    let own = words(tool.rsplit("__").next().unwrap_or(tool));
    own.iter()
        .any(|word| matches!(word.as_str(), "move" | "mv" | "rename" | "relocate"))
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
        // Most names are ASCII, of which a letter has one small form.
        if sign.is_ascii_alphanumeric() {
            word.push(sign.to_ascii_lowercase());
        } else if sign.is_alphanumeric() {
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
