//! `holdpoint mcp serve`: a server of one tool, by which a client asks whether a call would be let run.
//!
//! Asking changes nothing: no call is made, counted, remembered or recorded by it. It is for programs; a
//! model that has it tends to ask instead of calling, so nothing offers it by itself.

use std::io::{self, Write};

use holdpoint_engine::StrictValue;
use holdpoint_engine::middleware::{Context, Gatekeeper};
use holdpoint_mcp::denial;
use holdpoint_mcp::jsonrpc::{Frame, Id, Kind, MAX_LINE, Message, not_read, one_line, response};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::cli::McpServe;
use crate::exit::Exit;
use crate::lines::{Line, Lines};
use crate::terminal::Terminal;

const TOOL: &str = "askPermission";

/// The revisions with a handshake, the newest last, and the stateless one.
const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const MODERN: &str = "2026-07-28";

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// What the protocol has for a method nobody knows, other arguments than it takes, and another revision.
const NO_METHOD: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const OTHER_VERSION: i32 = -32022;

/// How long a client may keep the list of tools; it never changes.
const TTL_MILLIS: u64 = 3_600_000;

pub(crate) fn run(args: &McpServe, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let mut builder = Gatekeeper::builder().agent("mcp").context(Context {
        request_source: Some("mcp".into()),
        ..Context::default()
    });
    if let Some(session) = &args.session {
        builder = builder.session(session);
    }
    let keeper = builder.build()?;
    let mut lines = Lines::new(io::stdin(), MAX_LINE);
    loop {
        let answer = match lines.next()? {
            Line::End => return Ok(Exit::Fine),
            Line::TooLong => Some(not_read("it is longer than 16 MiB")),
            Line::Whole => answered(&keeper, &lines.line),
        };
        if let Some(answer) = answer {
            terminal.out.write_all(&answer)?;
            terminal.out.flush()?;
        }
    }
}

/// The answer to a line, if it wants one.
fn answered(keeper: &Gatekeeper, line: &[u8]) -> Option<Vec<u8>> {
    let text = match one_line(line) {
        Ok(text) => text,
        Err(problem) => return Some(not_read(problem)),
    };
    match Frame::read(&text) {
        Ok(Frame::Nothing) => None,
        Ok(Frame::Single(text)) => reply(keeper, text),
        Ok(Frame::Batch(texts)) => {
            let answers = texts.into_iter().filter_map(|text| reply(keeper, text));
            let answers: Vec<Vec<u8>> = answers
                .map(|answer| answer.trim_ascii_end().to_vec())
                .collect();
            (!answers.is_empty()).then(|| [b"[", answers.join(&b',').as_slice(), b"]\n"].concat())
        }
        Err(problem) => Some(not_read(problem)),
    }
}

fn reply(keeper: &Gatekeeper, text: &str) -> Option<Vec<u8>> {
    let message = Message::read(text);
    let Some((message, kind)) = message.and_then(|it| it.kind().map(|kind| (it, kind))) else {
        return Some(not_read(
            "it is no JSON-RPC message, or two readers could read two",
        ));
    };
    let (Kind::Request, Some(method)) = (kind, message.method.as_deref()) else {
        return None;
    };
    let Some(id) = message.id() else {
        return Some(not_read("a request is named by a whole number or a text"));
    };
    let params = match params(message.params) {
        Ok(params) => params,
        Err(problem) => return Some(failure(&id, INVALID_PARAMS, problem, None)),
    };
    let version = params
        .get("_meta")
        .and_then(|meta| meta.get(VERSION_KEY)?.as_str());
    if version.is_some_and(|version| version != MODERN) {
        let supported = json!({"supported": [MODERN]});
        return Some(failure(
            &id,
            OTHER_VERSION,
            "this revision is not spoken here",
            Some(supported),
        ));
    }
    let modern = version.is_some();
    Some(match method {
        "initialize" => response(&id, &welcome(&params)),
        "server/discover" => response(&id, &discovered()),
        "ping" => response(&id, &json!({})),
        "tools/list" => response(&id, &listed(modern)),
        "tools/call" => asked(keeper, &id, params, modern),
        _ => failure(&id, NO_METHOD, "Method not found", None),
    })
}

fn params(raw: Option<&RawValue>) -> Result<Map<String, Value>, &'static str> {
    match raw.map(|raw| serde_json::from_str(raw.get())) {
        None => Ok(Map::new()),
        Some(Ok(StrictValue(Value::Object(params)))) => Ok(params),
        Some(Ok(_)) => Err("`params` must be an object"),
        Some(Err(_)) => Err("`params` cannot be read, or names a field twice"),
    }
}

fn failure(id: &Id, code: i32, text: &str, data: Option<Value>) -> Vec<u8> {
    let mut error = json!({"code": code, "message": text});
    if let (Some(data), Some(fields)) = (data, error.as_object_mut()) {
        fields.insert("data".into(), data);
    }
    let mut line = json!({"jsonrpc": "2.0", "id": id.to_json(), "error": error})
        .to_string()
        .into_bytes();
    line.push(b'\n');
    line
}

fn server() -> Value {
    json!({"name": "holdpoint", "version": env!("CARGO_PKG_VERSION")})
}

fn welcome(params: &Map<String, Value>) -> Value {
    let wanted = params.get("protocolVersion").and_then(Value::as_str);
    let known = LEGACY.into_iter().find(|known| Some(*known) == wanted);
    let [.., newest] = LEGACY;
    json!({
        "protocolVersion": known.unwrap_or(newest),
        "capabilities": {"tools": {}},
        "serverInfo": server(),
    })
}

fn discovered() -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": [MODERN],
        "capabilities": {"tools": {}},
        "ttlMs": TTL_MILLIS,
        "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": server()},
    })
}

fn listed(modern: bool) -> Value {
    let tool = json!({
        "name": TOOL,
        "title": "Ask whether a call would be let run",
        "description": "Says whether Holdpoint would let a call run without asking anybody. Nothing is run, \
            remembered or recorded, and the answer is no promise: the call itself is judged when it is made.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "tool_name": {"type": "string", "description": "The tool, as its agent names it"},
                "intent": {"type": "string", "description": "What the call is to achieve"},
                "arguments": {"type": "object", "description": "The arguments of the call"},
            },
            "required": ["tool_name", "intent"],
            "additionalProperties": false,
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "allowed": {"type": "boolean"},
                "reason": {"type": "string"},
                "method": {"type": "string"},
                "tool_name": {"type": "string"},
            },
            "required": ["allowed", "reason", "method", "tool_name"],
        },
        "annotations": {"readOnlyHint": true, "openWorldHint": false},
    });
    let mut list = json!({"tools": [tool]});
    if let (true, Some(fields)) = (modern, list.as_object_mut()) {
        fields.insert("resultType".into(), "complete".into());
        fields.insert("ttlMs".into(), TTL_MILLIS.into());
        fields.insert("cacheScope".into(), "private".into());
    }
    list
}

fn asked(keeper: &Gatekeeper, id: &Id, mut params: Map<String, Value>, modern: bool) -> Vec<u8> {
    if params.get("name").and_then(Value::as_str) != Some(TOOL) {
        return failure(id, INVALID_PARAMS, "the only tool is askPermission", None);
    }
    let arguments = match params.remove("arguments") {
        Some(Value::Object(arguments)) => arguments,
        _ => Map::new(),
    };
    let text = |key: &str| arguments.get(key).and_then(Value::as_str);
    let Some(tool) = text("tool_name") else {
        return denial(
            id,
            "`tool_name` is missing: name the tool to ask about",
            None,
            modern,
        );
    };
    let input = arguments.get("arguments").cloned().unwrap_or(Value::Null);
    let run = match keeper.ask_permission(tool, text("intent").unwrap_or_default(), input) {
        Ok(run) => json!(run),
        Err(error) => return denial(id, &error.to_string(), None, modern),
    };
    let mut result = json!({
        "content": [{"type": "text", "text": run.to_string()}],
        "structuredContent": run,
        "isError": false,
    });
    if let (true, Some(fields)) = (modern, result.as_object_mut()) {
        fields.insert("resultType".into(), "complete".into());
    }
    response(id, &result)
}
