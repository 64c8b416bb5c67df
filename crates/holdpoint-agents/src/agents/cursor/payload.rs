//! Cursor's words. It has a hook for every kind of call, with the call's parts at the top of the
//! payload, and takes no word at all for a denial where it fails closed: so it always gets one.

use holdpoint_core::StrictValue;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::hook::adapter::{Adapter, Heard, HookReply, Seen};
use crate::hook::events::{self, BEFORE_CALL, Event, Events, TURN_ENDS};
use crate::hook::reading::{Facts, mcp_tool, parsed, unfolded};
use crate::hook::{HookPoint, Problem, Question, Returned};

pub(crate) struct Cursor;

impl Adapter for Cursor {
    fn read(&self, payload: &str) -> Result<Question, Problem> {
        parsed::<Payload>(self, payload)?.question()
    }

    fn events(&self) -> Events {
        EVENTS
    }

    fn of_call(&self, point: HookPoint, said: HookReply<'_>, reason: &str) -> Option<Value> {
        let told = |word: &str| json!({"permission": word, "user_message": reason, "agent_message": reason});
        match (point, said) {
            (_, HookReply::Deny) => Some(told("deny")),
            (HookPoint::BeforeCommand, HookReply::Ask) => Some(told("ask")),
            (HookPoint::BeforeCall, HookReply::Edited(input)) => Some(json!({
                "permission": "allow",
                "updated_input": input,
            })),
            (_, HookReply::Tell) => Some(json!({"permission": "allow", "user_message": reason})),
            (_, HookReply::Nothing | HookReply::Allow) => Some(json!({"permission": "allow"})),
            (_, HookReply::Ask | HookReply::Edited(_)) => None,
        }
    }

    fn with_note(&self, point: HookPoint, mut output: Option<Value>, note: &str) -> Option<Value> {
        let fields = output.as_mut().and_then(Value::as_object_mut);
        if let (HookPoint::BeforeCall, Some(fields)) = (point, fields) {
            fields.insert("additional_context".into(), note.into());
        }
        output
    }

    fn of_result(&self, returned: Option<&Returned>, seen: Seen<'_>) -> Option<Value> {
        let replaceable = returned.is_some_and(|returned| returned.replaceable);
        match seen {
            Seen::Noted(note) => Some(json!({"additional_context": note})),
            Seen::Stripped(instead, None) => Some(json!({"updated_mcp_tool_output": instead})),
            Seen::Stripped(instead, Some(note)) | Seen::Cleaned(instead, note) => Some(json!({
                "updated_mcp_tool_output": instead,
                "additional_context": note,
            })),
            Seen::Withheld(notice) if replaceable => Some(json!({
                "updated_mcp_tool_output": {"content": [{"type": "text", "text": notice}]},
            })),
            Seen::Withheld(notice) => Some(json!({"additional_context": notice})),
        }
    }

    fn of_prompt(&self, heard: Heard<'_>) -> Option<Value> {
        Some(match heard {
            Heard::Passes => json!({"continue": true}),
            Heard::Warned(note) => json!({"continue": true, "user_message": note}),
            Heard::Stopped(note) => json!({"continue": false, "user_message": note}),
        })
    }

    fn workspace_variable(&self) -> Option<&'static str> {
        Some("CURSOR_PROJECT_DIR")
    }
}

/// What its hooks read.
#[derive(Deserialize)]
struct Payload {
    hook_event_name: Option<String>,
    conversation_id: Option<String>,
    session_id: Option<String>,
    generation_id: Option<String>,
    workspace_roots: Option<Vec<String>>,
    cwd: Option<String>,
    /// Of a shell call, or of the program an MCP server is.
    command: Option<String>,
    file_path: Option<String>,
    tool_name: Option<String>,
    tool_input: Option<StrictValue>,
    tool_output: Option<StrictValue>,
    result_json: Option<StrictValue>,
    output: Option<StrictValue>,
    error_message: Option<StrictValue>,
    mcp_server_name: Option<String>,
    prompt: Option<StrictValue>,
}

impl Payload {
    fn question(self) -> Result<Question, Problem> {
        let name = self.hook_event_name.as_deref().unwrap_or_default();
        let event = events::about(EVENTS, self.hook_event_name.as_deref());
        let given = self.tool_input.map(|StrictValue(it)| unfolded(it));
        let (tool, input) = match name {
            "beforeShellExecution" => (Some("Shell".to_owned()), one("command", self.command)),
            "beforeReadFile" | "beforeTabFileRead" => {
                (Some("Read".to_owned()), one("file_path", self.file_path))
            }
            _ => {
                let foreign =
                    self.mcp_server_name
                        .zip(self.tool_name.as_deref())
                        .map(|(server, tool)| {
                            mcp_tool(&server, tool.strip_prefix("MCP:").unwrap_or(tool))
                        });
                (foreign.or(self.tool_name), given.unwrap_or(Value::Null))
            }
        };
        let response = if event == Event::Failure {
            self.error_message
        } else {
            self.tool_output.or(self.result_json).or(self.output)
        };
        let root = self
            .workspace_roots
            .and_then(|roots| roots.into_iter().next());
        Facts {
            tool,
            input,
            response: response.map(|StrictValue(it)| unfolded(it)),
            prompt: self.prompt.map(|StrictValue(it)| it),
            session: self.conversation_id.or(self.session_id),
            directory: self.cwd.filter(|cwd| !cwd.is_empty()).or(root),
            more: vec![("prompt_id", self.generation_id)],
            replaceable: |tool, _| tool.starts_with("mcp__") || tool.starts_with("MCP:"),
            ..Facts::default()
        }
        .question(event)
    }
}

/// Arguments of which there is one.
fn one(key: &str, value: Option<String>) -> Value {
    let mut arguments = Map::new();
    if let Some(value) = value {
        arguments.insert(key.to_owned(), Value::String(value));
    }
    Value::Object(arguments)
}

const EVENTS: Events = &[
    ("preToolUse", BEFORE_CALL),
    (
        "beforeShellExecution",
        Event::Call(HookPoint::BeforeCommand),
    ),
    ("beforeMCPExecution", Event::Call(HookPoint::Otherwise)),
    ("beforeReadFile", Event::Call(HookPoint::Otherwise)),
    ("beforeTabFileRead", Event::Call(HookPoint::Otherwise)),
    ("postToolUse", Event::Result),
    ("postToolUseFailure", Event::Failure),
    ("beforeSubmitPrompt", Event::Prompt),
    ("stop", TURN_ENDS),
    ("sessionEnd", TURN_ENDS),
    ("sessionStart", Event::Tells),
    ("afterShellExecution", Event::Tells),
    ("afterMCPExecution", Event::Tells),
    ("afterFileEdit", Event::Tells),
    ("afterTabFileEdit", Event::Tells),
    ("afterAgentResponse", Event::Tells),
    ("afterAgentThought", Event::Tells),
    ("subagentStart", Event::Tells),
    ("subagentStop", Event::Tells),
    ("preCompact", Event::Tells),
    ("workspaceOpen", Event::Tells),
];
