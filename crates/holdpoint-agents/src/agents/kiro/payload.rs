//! Kiro's words: exit code 2 and a line on standard error are a denial, and there are no others.

use crate::hook::adapter::Adapter;
use crate::hook::events::{BEFORE_CALL, Event, Events, TURN_ENDS};
use crate::hook::reading::{Facts, mcp_tool};
use crate::hook::{Problem, Question, nested};

pub(crate) struct Kiro;

impl Adapter for Kiro {
    fn read(&self, payload: &str) -> Result<Question, Problem> {
        nested::question(self, payload, |facts| Facts {
            tool: facts.tool.map(canonical_name),
            ..facts
        })
    }

    fn events(&self) -> Events {
        EVENTS
    }
}

/// A tool under the name it has elsewhere: `@server/tool` is an MCP server's.
fn canonical_name(tool: String) -> String {
    match tool.strip_prefix('@').and_then(|name| name.split_once('/')) {
        Some((server, name)) => mcp_tool(server, name),
        None => tool,
    }
}

const EVENTS: Events = &[
    ("preToolUse", BEFORE_CALL),
    ("PreToolUse", BEFORE_CALL),
    ("postToolUse", Event::Result),
    ("PostToolUse", Event::Result),
    ("userPromptSubmit", Event::Prompt),
    ("UserPromptSubmit", Event::Prompt),
    ("agentSpawn", Event::Tells),
    ("SessionStart", Event::Tells),
    ("stop", TURN_ENDS),
    ("Stop", TURN_ENDS),
];
