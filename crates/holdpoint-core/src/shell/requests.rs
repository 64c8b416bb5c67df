//! What a request tells a service to destroy: statements in its body or its address, operations it names.
//!
//! Databases that are spoken to by HTTP are told the same as by their clients, so a statement that loses something is
//! listed as a client's that is told it; what says in other words that something is deleted, as the request `DELETE`.

use serde_json::{Map, Value};

use super::commands::Wrapping;
use super::input::Input;
use super::refusal::Refusal;
use super::texts::Argument;
use super::unwrapping::Unwrapped;
use crate::catalogue;
use crate::opaque::Reason;
use crate::rules::REQUESTERS;

/// The most statements that are told one by one. A request with more deletes something, which is enough to know.
const MAX_STATEMENTS: usize = 64;

/// What is dropped in some dialect or other.
const DROPPED: [&str; 24] = [
    "BUCKET",
    "COLLECTION",
    "CONNECTOR",
    "CONTINUOUS",
    "DATABASE",
    "DICTIONARY",
    "FUNCTION",
    "GRAPH",
    "INDEX",
    "KEYSPACE",
    "MATERIALIZED",
    "MEASUREMENT",
    "RETENTION",
    "ROLE",
    "SCHEMA",
    "SERIES",
    "SHARD",
    "STREAM",
    "TABLE",
    "TENANT",
    "TOPIC",
    "USER",
    "VIEW",
    "WAREHOUSE",
];
/// What bodies hold that delete by another word than a statement's.
const DELETING: [&str; 6] = [
    "\"drop_all\"",
    "\"drop_op\"",
    "\"drop_attr\"",
    "\"delete\":{\"query\"",
    "<delete>",
    "\"delete_by_query\"",
];
/// Keys of texts for people, where a statement is talk.
const PROSE: [&str; 12] = [
    "body",
    "comment",
    "content",
    "contents",
    "description",
    "input",
    "message",
    "name",
    "prompt",
    "text",
    "title",
    "subject",
];
/// Commands of protocols that take a file or a message away.
const QUOTED: [&str; 6] = ["DELE ", "RMD ", "RM ", "RMDIR ", "EXPUNGE", "SITE RMDIR "];

/// Lists what a request tells a service to destroy.
pub(super) fn follow(command: &mut Unwrapped<'_, '_>, name: &str) -> Result<(), Refusal> {
    if !REQUESTERS.contains(name) {
        return Ok(());
    }
    let words: Vec<Argument> = command.rest(1).to_vec();
    let input = match &command.start.input {
        Input::Known(text) => Some(text.to_string()),
        Input::Partly(_) | Input::Unknown(_) | Input::Inherited | Input::Empty => None,
    };
    let mut said = Said::default();
    let changes = words.iter().any(|word| is_change(word.unquoted()));
    let mut address = None;
    let mut flag_before = false;
    for word in &words {
        let text = word.unquoted();
        let is_flag = text.starts_with('-') && text.len() > 1;
        let value_of_flag = std::mem::replace(&mut flag_before, is_flag && !text.contains('='));
        said.in_word(text, changes);
        let plain = !is_flag && !text.contains([' ', '{', '\'']);
        if plain && text.contains(['.', ':', '/']) && (address.is_none() || !value_of_flag) {
            address = Some(word.clone());
        }
    }
    if let Some(text) = &input {
        said.in_body(text);
    }
    let Some(first) = words.first() else {
        return Ok(());
    };
    let literal = |text: &str| Argument::literal(text, first.text.span.clone());
    for statement in &said.statements {
        command.states(&literal(statement))?;
    }
    if said.cut {
        command.mark(Reason::OverBudget);
    }
    // The request itself says so, and is judged by that.
    let plainly = |word: &Argument| {
        let text = word.unquoted().to_ascii_uppercase();
        !text.contains('/') && text.ends_with("DELETE")
    };
    if !said.deletes || words.iter().any(plainly) {
        return Ok(());
    }
    let address = address.unwrap_or_else(|| literal("https://unknown.invalid"));
    let request = vec![literal("curl"), literal("-X"), literal("DELETE"), address];
    command.starts_apart(Wrapping::Incidental, request)
}

/// Whether a word says that a request is none that only asks.
fn is_change(word: &str) -> bool {
    let starts = |front: &&str| word.starts_with(front);
    matches!(word, "POST" | "PUT" | "PATCH" | "post" | "put" | "patch")
        || [
            "-d",
            "--data",
            "--json",
            "-F",
            "--form",
            "--post",
            "--body",
            "-XP",
            "-XD",
            "--raw",
            "--request=P",
            "--method=P",
        ]
        .iter()
        .any(starts)
}

/// What a request says.
#[derive(Default)]
struct Said {
    statements: Vec<String>,
    deletes: bool,
    /// There is more than was looked at.
    cut: bool,
}

impl Said {
    fn in_word(&mut self, word: &str, changes: bool) {
        let quoted = word
            .trim_start_matches(['-', '*', '+'])
            .to_ascii_uppercase();
        if QUOTED.iter().any(|order| quoted.starts_with(order)) {
            self.deletes = true;
        }
        if let Some((path, query)) = word.split_once('?')
            && !word.contains(['{', ' '])
        {
            for pair in query.split('&') {
                let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                self.in_text(&unescaped(value));
                let orders = ["action", "cmd", "command", "method", "op", "operation"];
                let ordered = orders.iter().any(|one| key.eq_ignore_ascii_case(one));
                self.deletes |= ordered && catalogue::is_destroying(value);
            }
            self.in_path(path, changes);
            return;
        }
        self.in_path(word.split('?').next().unwrap_or(word), changes);
        // `--data=…`, `-dDROP …`, `query==…`, `sql:=…`
        let bare = match word.strip_prefix('-') {
            Some(rest) if !rest.starts_with('-') => rest.get(1..).unwrap_or_default(),
            _ => word,
        };
        self.in_body(bare);
        if let Some((_, value)) = bare.split_once('=') {
            self.in_body(value.trim_start_matches('='));
        }
    }

    /// A path may say what is done there: `/_delete_by_query`, `/job/x/doDelete`.
    fn in_path(&mut self, path: &str, changes: bool) {
        if changes && path.contains('/') && !path.contains([' ', '{', '"']) {
            let mut parts = path.split('/').skip(1);
            self.deletes |= parts.any(catalogue::is_destroying);
        }
    }

    fn in_body(&mut self, body: &str) {
        let packed: String = body.chars().filter(|one| !one.is_whitespace()).collect();
        if DELETING.iter().any(|sign| packed.contains(sign)) {
            self.deletes = true;
        }
        match serde_json::from_str::<Value>(body) {
            // Nested no deeper than the reader of JSON goes; what lies deeper is no JSON to it, and a question.
            Ok(value @ (Value::Object(_) | Value::Array(_))) => self.in_value("", &value),
            Ok(_) => self.in_text(body),
            Err(_) => {
                self.cut |= nests_deeply(body);
                self.in_text(body);
            }
        }
    }

    fn in_value(&mut self, key: &str, value: &Value) {
        match value {
            Value::String(text) => {
                if !PROSE.iter().any(|one| key.eq_ignore_ascii_case(one)) {
                    self.in_text(text);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.in_value(key, item)),
            Value::Object(fields) => fields
                .iter()
                .for_each(|(key, value)| self.in_value(key, value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn in_text(&mut self, text: &str) {
        let text = text.trim();
        if loses(text) {
            if self.statements.len() >= MAX_STATEMENTS {
                self.deletes = true;
            } else if !self.statements.iter().any(|known| known == text) {
                self.statements.push(text.to_owned());
            }
        } else if is_graph_query(text) || is_mutation(text) {
            self.deletes = true;
        }
    }
}

/// How deep the reader of JSON goes, a little less: a text that nests deeper is no JSON to it.
const MAX_DEPTH: usize = 120;

/// Whether a body has more lists and objects in each other than are read.
fn nests_deeply(body: &str) -> bool {
    let mut depth = 0_usize;
    body.bytes().any(|byte| {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > MAX_DEPTH
    })
}

/// Whether a text is a statement that loses something.
fn loses(text: &str) -> bool {
    let upper = text.to_ascii_uppercase();
    let mut words = upper.split_ascii_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some("DROP"), Some(what), Some(_)) => DROPPED.contains(&what),
        (Some("TRUNCATE"), Some(_), _) => true,
        (Some("DELETE"), Some("FROM"), Some(_)) => true,
        (Some("ALTER"), Some("TABLE"), Some(_)) => words.any(|word| word == "DROP"),
        _ => false,
    }
}

/// `MATCH (n) DETACH DELETE n`, `FOR d IN x REMOVE d IN x`, `ALTER TABLE x DELETE WHERE 1`.
fn is_graph_query(text: &str) -> bool {
    let upper = text.to_ascii_uppercase();
    let mut words = upper.split_ascii_whitespace();
    match words.next() {
        Some("MATCH") => words.any(|word| matches!(word, "DELETE" | "DETACH")),
        Some("FOR") => words.any(|word| word == "REMOVE"),
        Some("ALTER") => words.any(|word| word == "DELETE"),
        _ => false,
    }
}

/// A change in GraphQL that deletes something.
fn is_mutation(text: &str) -> bool {
    let mut asked = Map::new();
    asked.insert("query".to_owned(), Value::String(text.to_owned()));
    text.starts_with("mutation") && catalogue::says_that_it_destroys("graphql", &asked)
}

/// A value of an address with its signs spelled out.
fn unescaped(value: &str) -> String {
    let mut plain: Vec<u8> = Vec::with_capacity(value.len());
    let mut parts = value.split('%');
    plain.extend(parts.next().unwrap_or_default().bytes());
    for part in parts {
        let code = part
            .get(..2)
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (code, part.get(2..)) {
            (Some(code), Some(rest)) => {
                plain.push(code);
                plain.extend(rest.bytes());
            }
            _ => {
                plain.push(b'%');
                plain.extend(part.bytes());
            }
        }
    }
    String::from_utf8_lossy(&plain).replace('+', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(words: &[&str]) -> (Vec<String>, bool) {
        let changes = words.iter().any(|word| is_change(word));
        let mut said = Said::default();
        words.iter().for_each(|word| said.in_word(word, changes));
        (said.statements, said.deletes)
    }

    #[test]
    fn statements_are_found_in_bodies_and_addresses() {
        let drop = || (vec!["DROP TABLE x".to_owned()], false);
        assert_eq!(said(&["http://ch:8123/?query=DROP%20TABLE+x"]), drop());
        assert_eq!(said(&["-d", "DROP TABLE x", "http://ch:8123"]), drop());
        assert_eq!(said(&["-dDROP TABLE x"]), drop());
        assert_eq!(said(&["--post-data=DROP TABLE x"]), drop());
        assert_eq!(said(&["--json", "{\"sql\":\"DROP TABLE x\"}"]), drop());
        assert_eq!(said(&["query==DROP TABLE x"]), drop());
    }

    #[test]
    fn operations_may_say_that_they_delete() {
        for words in [
            &["-XPOST", "es:9200/u/_delete_by_query"][..],
            &["http://solr/admin?action=DELETE&name=c"],
            &["-d", "{\"drop_all\": true}", "d:8080/alter"],
            &["-d", "{\"query\":\"mutation { deleteUser(id:1) { id } }\"}"],
            &["-Q", "DELE x", "ftp://h/"],
        ] {
            assert!(said(words).1, "{words:?}");
        }
    }

    #[test]
    fn talk_and_questions_are_neither() {
        for words in [
            &["https://a.example/docs/delete-user"][..],
            &["-d", "{\"content\":\"DROP TABLE x\"}"],
            &["-d", "SELECT 1", "http://ch:8123"],
            &["https://a.example/?q=drop+shipping"],
            &["-d", "{\"query\":\"mutation { createUser(n:1) { id } }\"}"],
        ] {
            assert_eq!(said(words), (Vec::new(), false), "{words:?}");
        }
    }
}
