//! A request to call a tool: the call as the engine judges it, and its text with other arguments.

use std::borrow::Cow;
use std::fmt;

use holdpoint_core::{CallError, StrictValue, ToolCall};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::result::spliced;

/// What a user has answered a server while a call runs, sent along with the call again. It is part of
/// what the server acts on, and so of what is judged.
const ANSWERS: &str = "inputResponses";

/// The mark of a request of the stateless revisions, under `_meta`.
const MODERN: &str = "io.modelcontextprotocol/protocolVersion";

/// The longest name a server may go by; agents have theirs in the names of its tools.
const MAX_SERVER_NAME: usize = 64;

/// The name a server goes by: in policies its tools are `mcp__NAME__TOOL`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServerName(String);

impl ServerName {
    /// A name, if it is one: letters, digits, `-`, `_` and `.`. Two underscores end it in the name of a
    /// tool, so they cannot be part of it, nor can the first or last be one.
    pub fn new(name: &str) -> Option<Self> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let fits = !name.is_empty()
            && name.len() <= MAX_SERVER_NAME
            && name.chars().all(plain)
            && !name.contains("__")
            && !name.starts_with(['_', '.', '-'])
            && !name.ends_with('_');
        fits.then(|| Self(name.to_owned()))
    }

    /// The name a server gets that nobody has named: that of its program, or of the package its program
    /// runs.
    pub fn of_command(command: &[String]) -> Option<Self> {
        const RUNNERS: [&str; 12] = [
            "npx", "uvx", "node", "python", "python3", "bun", "bunx", "deno", "uv", "docker",
            "pipx", "run",
        ];
        let short = |word: &str| {
            let last = word.rsplit(['/', '\\']).next().unwrap_or_default();
            let version = last.split('@').next().unwrap_or_default();
            let stem = ["exe", "js", "mjs", "cjs", "ts", "py", "cmd"]
                .iter()
                .find_map(|end| version.strip_suffix(&format!(".{end}")));
            stem.unwrap_or(version).to_owned()
        };
        let mut words = command.iter().filter(|word| !word.starts_with('-'));
        let named = words.find_map(|word| {
            let name = short(word);
            (!RUNNERS.contains(&name.as_str())).then_some(name)
        });
        Self::new(&named.or_else(|| command.first().map(|word| short(word)))?)
    }

    /// The name nearest to one that an agent has for a server.
    pub fn near(name: &str) -> Self {
        let plain = |c: char| match c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') {
            true => c,
            false => '-',
        };
        let mut near: String = name.chars().map(plain).take(MAX_SERVER_NAME).collect();
        while near.contains("__") {
            near = near.replace("__", "_");
        }
        let near = near.trim_start_matches(['_', '.', '-']);
        Self::new(near.trim_end_matches('_')).unwrap_or_else(|| Self("server".into()))
    }

    /// The name of one of its tools, as policies write it.
    pub fn tool(&self, tool: &str) -> String {
        format!("mcp__{}__{tool}", self.0)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a request is no call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallProblem {
    /// It cannot be read, or two readers could read two calls.
    #[error("the request cannot be read, or names a field twice")]
    Unreadable,
    /// It names no tool.
    #[error("the request names no tool")]
    NoTool,
    /// It has no arguments a tool could take.
    #[error(transparent)]
    Call(#[from] CallError),
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

/// A request to call a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// As it is judged.
    pub call: ToolCall,
    /// The tool, as its server knows it.
    pub tool: String,
    /// Whether it is of a stateless revision, whose results say that they are complete.
    pub modern: bool,
    /// What it says besides, for whoever looks for the call elsewhere.
    pub meta: Map<String, Value>,
    /// Whether it holds what a user has answered the server.
    pub has_answers: bool,
}

impl Call {
    /// Reads what a request to call a tool of `server` asks for.
    pub fn read(server: &ServerName, params: Option<&RawValue>) -> Result<Self, CallProblem> {
        let params = params.ok_or(CallProblem::NoTool)?;
        // All of it: of a key that stands twice the server may read the other one.
        let Ok(StrictValue(Value::Object(mut params))) = serde_json::from_str(params.get()) else {
            return Err(CallProblem::Unreadable);
        };
        let Some(Value::String(tool)) = params.remove("name") else {
            return Err(CallProblem::NoTool);
        };
        let mut input = params.remove("arguments").unwrap_or(Value::Null);
        let answers = params.remove(ANSWERS);
        let has_answers = answers.is_some();
        if let Some(answers) = answers {
            if input.is_null() {
                input = Value::Object(Map::new());
            }
            if let Value::Object(arguments) = &mut input {
                if arguments.contains_key(ANSWERS) {
                    return Err(CallProblem::Unreadable);
                }
                arguments.insert(ANSWERS.into(), answers);
            }
        }
        let meta = match params.remove("_meta") {
            Some(Value::Object(meta)) => meta,
            _ => Map::new(),
        };
        Ok(Self {
            call: ToolCall::new(server.tool(&tool), input)?,
            tool,
            modern: meta.contains_key(MODERN),
            meta,
            has_answers,
        })
    }

    /// The line of a request with other arguments; everything else is as it was.
    pub fn with_arguments(
        line: &str,
        params: Option<&RawValue>,
        arguments: &Map<String, Value>,
    ) -> Option<String> {
        let params = params?;
        let read: Params<'_> = serde_json::from_str(params.get()).ok()?;
        let text = serde_json::to_string(arguments).ok()?;
        if let Some(before) = read.arguments {
            return spliced(line, before.get(), &text);
        }
        let rest = params.get().strip_prefix('{')?;
        // It has a name, so it is not empty.
        spliced(
            line,
            params.get(),
            &format!("{{\"arguments\":{text},{rest}"),
        )
        .filter(|_| !read.name.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::Message;
    use serde_json::json;

    fn server() -> ServerName {
        ServerName::new("fs").unwrap()
    }

    fn read(params: &Value) -> Result<Call, CallProblem> {
        read_text(&params.to_string())
    }

    fn read_text(params: &str) -> Result<Call, CallProblem> {
        let raw: Box<RawValue> = serde_json::from_str(params).unwrap();
        Call::read(&server(), Some(&raw))
    }

    #[test]
    fn a_call_has_the_name_policies_know_it_by() {
        let call = read(&json!({"name": "delete", "arguments": {"id": 4}})).unwrap();
        assert_eq!(call.call.tool(), "mcp__fs__delete");
        assert_eq!(Value::Object(call.call.input().clone()), json!({"id": 4}));
        assert!(!call.modern);
        let modern = read(&json!({"name": "x", "_meta": {MODERN: "2026-07-28"}})).unwrap();
        assert!(modern.modern && modern.call.input().is_empty());
    }

    #[test]
    fn what_a_user_answered_the_server_is_judged_with_the_call() {
        let call = read(&json!({
            "name": "run",
            "arguments": {"a": 1},
            "inputResponses": {"k": {"action": "accept", "content": {"command": "rm -rf /"}}},
            "requestState": "opaque",
        }));
        let call = call.unwrap();
        assert_eq!(
            call.call.input()["inputResponses"]["k"]["content"]["command"],
            "rm -rf /"
        );
        assert!(call.has_answers);
    }

    #[test]
    fn what_is_no_call_is_none() {
        for params in [
            r#"{"arguments":{}}"#,
            r#"{"name":7}"#,
            r#"{"name":"a","name":"b"}"#,
            r#"{"name":"a","arguments":[1]}"#,
            r#"{"name":"a","arguments":{"x":1,"x":2}}"#,
            r#"{"name":"a","arguments":{"inputResponses":1},"inputResponses":{}}"#,
            r#"[]"#,
        ] {
            assert!(read_text(params).is_err(), "{params}");
        }
        // An empty name is a call all the same: with the server's before it policies can match it.
        let nameless = read_text(r#"{"name":""}"#).unwrap();
        assert_eq!(nameless.call.tool(), "mcp__fs__");
        assert_eq!(Call::read(&server(), None), Err(CallProblem::NoTool));
    }

    #[test]
    fn other_arguments_leave_everything_else_as_it_was() {
        for (line, wanted) in [
            (
                r#"{ "id":1, "method":"tools/call","params":{"x":"\u0041", "name":"t" ,"arguments": {"a":1} }}"#,
                r#"{ "id":1, "method":"tools/call","params":{"x":"\u0041", "name":"t" ,"arguments": {"b":2} }}"#,
            ),
            (
                r#"{"params":{"name":"t"},"id":1,"method":"tools/call"}"#,
                r#"{"params":{"arguments":{"b":2},"name":"t"},"id":1,"method":"tools/call"}"#,
            ),
        ] {
            let message = Message::read(line).unwrap();
            let arguments = json!({"b": 2});
            let made = Call::with_arguments(line, message.params, arguments.as_object().unwrap());
            assert_eq!(made.as_deref(), Some(wanted));
        }
    }

    #[test]
    fn a_server_that_nobody_named_goes_by_what_it_runs() {
        let name = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            ServerName::of_command(&words).map(|name| name.as_str().to_owned())
        };
        assert_eq!(
            name(&[
                "npx",
                "-y",
                "@modelcontextprotocol/server-filesystem@1.2",
                "/tmp"
            ])
            .as_deref(),
            Some("server-filesystem")
        );
        assert_eq!(
            name(&["/usr/bin/python3", "server.py"]).as_deref(),
            Some("server")
        );
        assert_eq!(
            name(&["uvx", "mcp-server-git"]).as_deref(),
            Some("mcp-server-git")
        );
        assert_eq!(name(&["node"]).as_deref(), Some("node"));
        assert_eq!(name(&[]), None);
        for (given, near) in [
            ("a b", "a-b"),
            ("__x__y_", "x_y"),
            ("\u{e4}", "server"),
            ("fs", "fs"),
        ] {
            assert_eq!(ServerName::near(given).as_str(), near);
        }
        for none in ["", "a b", "a__b", "_a", "a/b", "a_"] {
            assert_eq!(ServerName::new(none), None, "{none}");
        }
    }
}
