//! Windsurf's words: exit code 2 and a line on standard error are a denial, and there are no others.

use std::time::Duration;

use holdpoint_core::StrictValue;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::hook::adapter::Adapter;
use crate::hook::events::{self, BEFORE_CALL, Event, Events};
use crate::hook::reading::{Facts, mcp_tool, parsed};
use crate::hook::{Problem, Question};

pub(crate) struct Windsurf;

impl Adapter for Windsurf {
    fn read(&self, payload: &str) -> Result<Question, Problem> {
        parsed::<Payload>(self, payload)?.question()
    }

    fn events(&self) -> Events {
        EVENTS
    }

    fn patience(&self) -> Option<Duration> {
        // How long it waits is written nowhere, and afterwards the call may run.
        Some(Duration::from_secs(20))
    }
}

/// What its hooks read.
#[derive(Deserialize)]
struct Payload {
    agent_action_name: Option<String>,
    trajectory_id: Option<String>,
    execution_id: Option<String>,
    tool_info: Option<ToolInfo>,
}

#[derive(Default, Deserialize)]
struct ToolInfo {
    command_line: Option<StrictValue>,
    /// The agent chooses it, so it is an argument and not where the agent belongs.
    cwd: Option<StrictValue>,
    file_path: Option<StrictValue>,
    edits: Option<StrictValue>,
    mcp_server_name: Option<String>,
    mcp_tool_name: Option<String>,
    mcp_tool_arguments: Option<StrictValue>,
    user_prompt: Option<StrictValue>,
    mcp_result: Option<StrictValue>,
}

impl Payload {
    fn question(self) -> Result<Question, Problem> {
        let event = events::about(EVENTS, self.agent_action_name.as_deref());
        let info = self.tool_info.unwrap_or_default();
        let action = self.agent_action_name.as_deref().unwrap_or_default();
        let kind = TOOLS.iter().find(|(name, _)| *name == action);
        let foreign = info
            .mcp_server_name
            .zip(info.mcp_tool_name)
            .map(|(server, tool)| mcp_tool(&server, &tool));
        let (tool, input) = match foreign {
            Some(tool) => {
                let arguments = info.mcp_tool_arguments;
                (
                    Some(tool),
                    arguments.map_or(Value::Null, |StrictValue(it)| it),
                )
            }
            None => {
                let arguments = [
                    ("command", info.command_line),
                    ("cwd", info.cwd),
                    ("file_path", info.file_path),
                    ("edits", info.edits),
                ];
                let present = arguments
                    .into_iter()
                    .filter_map(|(key, value)| Some((key.to_owned(), value?.0)))
                    .collect::<Map<_, _>>();
                (
                    kind.map(|(_, tool)| (*tool).to_owned()),
                    Value::Object(present),
                )
            }
        };
        Facts {
            tool,
            input,
            response: info.mcp_result.map(|StrictValue(it)| it),
            prompt: info.user_prompt.map(|StrictValue(it)| it),
            session: self.trajectory_id,
            more: vec![("prompt_id", self.execution_id)],
            ..Facts::default()
        }
        .question(event)
    }
}

/// The tool each of its actions is.
const TOOLS: &[(&str, &str)] = &[
    ("pre_run_command", "run_command"),
    ("pre_read_code", "Read"),
    ("pre_write_code", "Write"),
];

const EVENTS: Events = &[
    ("pre_run_command", BEFORE_CALL),
    ("pre_read_code", BEFORE_CALL),
    ("pre_write_code", BEFORE_CALL),
    ("pre_mcp_tool_use", BEFORE_CALL),
    ("pre_user_prompt", Event::Prompt),
    ("post_mcp_tool_use", Event::Result),
    ("post_run_command", Event::Tells),
    ("post_read_code", Event::Tells),
    ("post_write_code", Event::Tells),
    ("post_cascade_response", Event::Tells),
    ("post_setup_worktree", Event::Tells),
];
