//! From an agent's bytes to a question: what every adapter does alike once its own fields are named.

use holdpoint_broker::Context;
use holdpoint_core::{CallError, StrictValue, ToolCall, command_argument, document};
use holdpoint_engine::NO_SESSION;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::adapter::Adapter;
use super::events::Event;
use super::{HookCall, HookPoint, Problem, Prompted, Question, Returned, When};

/// Reads the payload of an agent's hook.
pub(crate) fn parsed<P: DeserializeOwned>(
    adapter: &dyn Adapter,
    payload: &str,
) -> Result<P, Problem> {
    read(payload).map_err(|text| adapter.unreadable(payload.as_bytes(), text))
}

/// Reads a payload, or says in one line what is wrong with it.
fn read<P: DeserializeOwned>(payload: &str) -> Result<P, String> {
    match serde_json::from_str(payload) {
        // The reader would also take an array for an object.
        Ok(read) if payload.trim_start().starts_with('{') => Ok(read),
        Ok(_) => Err("the agent's message is not a JSON object".into()),
        Err(_) if payload.trim().is_empty() => {
            Err("the agent sent no message on standard input".into())
        }
        Err(error) => Err(fault::<P>(payload, &error)),
    }
}

/// What is wrong with a payload. The fast reader stops at the first fault; the document reader is
/// asked what to say about it.
fn fault<P: DeserializeOwned>(payload: &str, error: &serde_json::Error) -> String {
    let (line, column, message) = match document::read::<P>("", payload.as_bytes()) {
        Err(error) => (error.line, error.column, error.message()),
        Ok(_) => (
            error.line(),
            error.column(),
            "this is not plain JSON".into(),
        ),
    };
    format!("the agent's message cannot be read ({line}:{column}: {message})")
}

/// What a payload says, in nobody's words.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) tool: Option<String>,
    /// The arguments; null if there are none.
    pub(crate) input: Value,
    /// What the call returned, or why it failed.
    pub(crate) response: Option<Value>,
    pub(crate) prompt: Option<Value>,
    pub(crate) session: Option<String>,
    pub(crate) directory: Option<String>,
    pub(crate) agent_type: Option<String>,
    pub(crate) agent_name: Option<String>,
    /// The file it is about.
    pub(crate) file: Option<String>,
    /// Whatever else may matter to whoever is asked.
    pub(crate) more: Vec<(&'static str, Option<String>)>,
    /// Whether the agent takes something else for what a tool returned.
    pub(crate) replaceable: fn(&str, &Value) -> bool,
}

impl Default for Facts {
    fn default() -> Self {
        Self {
            tool: None,
            input: Value::Null,
            response: None,
            prompt: None,
            session: None,
            directory: None,
            agent_type: None,
            agent_name: None,
            file: None,
            more: Vec::new(),
            replaceable: |_, _| false,
        }
    }
}

impl Facts {
    /// Of an agent that takes something else for whatever a tool returned.
    pub(crate) fn replaceable(self) -> Self {
        Self {
            replaceable: |_, _| true,
            ..self
        }
    }

    /// What is asked at such an event.
    pub(crate) fn question(mut self, event: Event) -> Result<Question, Problem> {
        self.tool = self.tool.filter(|name| !name.trim().is_empty());
        self.directory = self.directory.filter(|path| !path.is_empty());
        match event {
            Event::Call(point) => Ok(Question::Call(Box::new(self.call(point)?))),
            Event::Result => self.result(false),
            Event::Failure => self.result(true),
            Event::Prompt => self.message(),
            // Calls of an agent that names no session have this one.
            Event::TurnEnds => Ok(Question::TurnEnded(
                self.session.unwrap_or_else(|| NO_SESSION.to_owned()),
            )),
            Event::Change => Ok(self.file.map_or(Question::None, Question::Changed)),
            Event::Tells => Ok(Question::None),
        }
    }

    /// The call that is asked about.
    pub(crate) fn call(self, point: HookPoint) -> Result<HookCall, Problem> {
        let intent = self.input.get("description").and_then(Value::as_str);
        let context = Context {
            session_id: self.session.clone(),
            request_source: Some("hook".into()),
            intent: intent.map(str::to_owned),
            agent_type: self.agent_type,
            agent_name: self.agent_name,
            more: self
                .more
                .into_iter()
                .filter_map(|(key, value)| Some((key.to_owned(), Value::String(value?))))
                .collect(),
            ..Context::default()
        };
        let call =
            call_of(self.tool, self.input).map_err(|text| Problem::at(When::Call(point), text))?;
        Ok(HookCall {
            call,
            session: self.session,
            directory: self.directory,
            context,
            patience: None,
            agent: None,
            together: false,
            point,
        })
    }

    fn result(self, failed: bool) -> Result<Question, Problem> {
        let unread = |text: &str| Err(Problem::at(When::Result(None), text));
        let Some(tool) = self.tool else {
            return unread("the agent's message does not say which tool it is about");
        };
        if SILENT.contains(&tool.as_str()) {
            return Ok(Question::None);
        }
        let Some(response) = self.response else {
            return unread("the agent's message does not say what the tool returned");
        };
        match ToolCall::new(tool, self.input.clone()) {
            Ok(call) => Ok(Question::Result(Box::new(Returned {
                replaceable: !failed && (self.replaceable)(call.tool(), &response),
                call,
                input: self.input,
                response,
                session: self.session,
                directory: self.directory,
                failed,
            }))),
            Err(error) => unread(&error.to_string()),
        }
    }

    fn message(self) -> Result<Question, Problem> {
        match self.prompt {
            Some(Value::String(text)) => Ok(Question::Prompt(Prompted {
                text,
                session: self.session,
                directory: self.directory,
            })),
            Some(_) | None => Err(Problem::at(
                When::Prompt,
                "the agent's message has no text of the user's",
            )),
        }
    }
}

/// The tools of which the model is told no more than that they have done what it said, or what the
/// user answered. What else the agent knows of their results, the model does not see.
const SILENT: &[&str] = &[
    "AskUserQuestion",
    "Edit",
    "MultiEdit",
    "NotebookEdit",
    "Write",
    "apply_patch",
    "ask_question",
    "ask_user",
    "create",
    "edit",
    "editor",
    "fs_write",
    "replace",
    "write",
    "write_file",
];

/// The call a payload names. One without its tool's name is judged by the arguments it has.
fn call_of(tool: Option<String>, input: Value) -> Result<ToolCall, String> {
    let has = |key: &str| input.get(key).is_some_and(|value| !value.is_null());
    let has_path = PATHS.iter().any(|key| has(key));
    let tool = match tool {
        Some(tool) => tool,
        None => match (has("command"), has_path) {
            (true, false) => "Bash".to_owned(),
            // What a file tool does to its file is at worst to write it.
            (false, true) => "Write".to_owned(),
            (true, true) | (false, false) => {
                return Err("the agent's message does not say which tool it is about".into());
            }
        },
    };
    let missing = match command_argument(&tool) {
        Some(key) if !has(key) => Some(key),
        None if FILE_TOOLS.contains(&tool.as_str()) && !has_path => Some("file_path"),
        Some(_) | None => None,
    };
    match ToolCall::new(tool, input) {
        Ok(call) => match missing {
            Some(key) => Err(format!("the call of {} has no `{key}`", call.tool())),
            None => Ok(call),
        },
        Err(CallError::InputNotObject(found)) => {
            Err(format!("`tool_input` must be an object, found {found}"))
        }
        Err(error @ (CallError::NoTool | CallError::ToolNameTooLong)) => Err(error.to_string()),
    }
}

/// The arguments in which the file tools name their file.
const PATHS: &[&str] = &[
    "file_path",
    "path",
    "notebook_path",
    "filePath",
    "absolute_path",
];

/// The tools that do nothing without a file.
const FILE_TOOLS: &[&str] = &[
    "Delete",
    "Edit",
    "MultiEdit",
    "NotebookEdit",
    "Read",
    "Write",
    "create",
    "edit",
    "read",
    "read_file",
    "replace",
    "view",
    "write",
    "write_file",
];

/// The one name of an MCP server's tool, whatever the agent calls it.
pub(crate) fn mcp_tool(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}

/// Arguments that came as an object, or as the text of one. Text that is none stays text, which no
/// call can have for its arguments.
pub(crate) fn unfolded(input: Value) -> Value {
    let Value::String(text) = &input else {
        return input;
    };
    match serde_json::from_str(text) {
        Ok(StrictValue(inner)) => inner,
        Err(_) => input,
    }
}

/// The text a model would read of a result.
pub(crate) fn readable(value: &Value) -> String {
    if let Value::String(text) = value {
        return text.clone();
    }
    let blocks = value.get("content").unwrap_or(value).as_array();
    let texts: Option<Vec<&str>> = blocks.and_then(|blocks| {
        let texts = blocks.iter().map(|block| block.get("text")?.as_str());
        texts.collect()
    });
    match texts {
        Some(texts) if !texts.is_empty() => texts.join("\n"),
        Some(_) | None => value.to_string(),
    }
}
