//! Copilot CLI's words. The case of an event's name chooses the dialect: its own, in which answers
//! are flat, or one borrowed from Claude Code, in which they are nested.

use std::time::Duration;

use holdpoint_core::StrictValue;
use holdpoint_sandbox::last_words::LastWords;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::own_rules;
use crate::hook::adapter::{Adapter, BLOCK, HookReply, Seen};
use crate::hook::events::{self, BEFORE_CALL, BEFORE_PROMPT, Event, Events, TURN_ENDS};
use crate::hook::reading::{Facts, mcp_tool, parsed, unfolded};
use crate::hook::{HookPoint, Problem, Question, Returned, nested, wording};
use crate::own_rules::{Circumstances, Rules};

pub(crate) struct Copilot;

impl Adapter for Copilot {
    fn read(&self, payload: &str) -> Result<Question, Problem> {
        parsed::<Payload>(self, payload)?.question()
    }

    fn events(&self) -> Events {
        EVENTS
    }

    fn shell_tool(&self) -> Option<&'static str> {
        Some("bash")
    }

    fn own_rules(&self, around: &Circumstances<'_>) -> Option<Rules> {
        Some(own_rules::read(around))
    }

    fn of_call(&self, point: HookPoint, said: HookReply<'_>, reason: &str) -> Option<Value> {
        let word = match said {
            HookReply::Allow | HookReply::Edited(_) => "allow",
            HookReply::Ask => "ask",
            HookReply::Deny => "deny",
            HookReply::Nothing | HookReply::Tell => return None,
        };
        match (point, said) {
            (HookPoint::BeforeCall, HookReply::Edited(input)) => Some(json!({
                "permissionDecision": word,
                "permissionDecisionReason": reason,
                "modifiedArgs": input,
            })),
            (HookPoint::BeforeCall, _) => {
                Some(json!({"permissionDecision": word, "permissionDecisionReason": reason}))
            }
            (HookPoint::Otherwise, HookReply::Edited(input)) => {
                Some(json!({"hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": word,
                    "permissionDecisionReason": reason,
                    "updatedInput": input,
                }}))
            }
            (HookPoint::Otherwise, _) => Some(nested::permission(word, reason)),
            (HookPoint::BeforePrompt, HookReply::Deny) => Some(denial(reason)),
            // Its own question follows, and an allow was said before.
            (HookPoint::BeforePrompt | HookPoint::BeforeCommand | HookPoint::Unknown, _) => None,
        }
    }

    fn of_replaced(
        &self,
        point: HookPoint,
        input: &Map<String, Value>,
        _reason: &str,
        _note: &str,
    ) -> Option<Value> {
        // A decision would take the place of its own rules and of its user's answer.
        match point {
            HookPoint::BeforeCall => Some(json!({"modifiedArgs": input})),
            HookPoint::Otherwise
            | HookPoint::BeforeCommand
            | HookPoint::BeforePrompt
            | HookPoint::Unknown => None,
        }
    }

    fn of_result(&self, returned: Option<&Returned>, seen: Seen<'_>) -> Option<Value> {
        // Without the original nobody knows which dialect is spoken.
        let flat = returned?.replaceable;
        Some(match seen {
            Seen::Noted(note) if flat => json!({"additionalContext": note}),
            Seen::Noted(note) => nested::note("PostToolUse", note),
            Seen::Stripped(instead, None) => json!({"modifiedResult": instead}),
            Seen::Stripped(instead, Some(note)) => {
                json!({"modifiedResult": instead, "additionalContext": note})
            }
            Seen::Cleaned(instead, note) => {
                json!({"modifiedResult": instead, "additionalContext": note})
            }
            Seen::Withheld(notice) if flat => json!({
                "modifiedResult": {"resultType": "success", "textResultForLlm": notice},
            }),
            Seen::Withheld(notice) => nested::note("PostToolUse", notice),
        })
    }

    fn of_refusal(&self, point: HookPoint, reason: &str) -> Option<Value> {
        // An exit code blocks a call as well, but then its model is not told why.
        self.of_call(point, HookReply::Deny, reason)
    }

    fn last_words(&self) -> LastWords {
        LastWords {
            stdout: concat!(
                r#"{"permissionDecision":"deny","permissionDecisionReason":"#,
                r#""Holdpoint denied this, because it could not judge it."}"#,
                "\n"
            ),
            stderr: wording::REFUSED,
            // It reads the words all the same, and what cannot be read is a denial then.
            code: BLOCK.into(),
            deadline: Duration::from_secs(5),
            memory: 2 << 30,
        }
    }
}

/// A denial before the user is asked.
fn denial(reason: &str) -> Value {
    json!({"behavior": "deny", "message": reason})
}

/// What its hooks read, in either dialect.
#[derive(Deserialize)]
struct Payload {
    #[serde(alias = "hookName")]
    hook_event_name: Option<String>,
    #[serde(alias = "sessionId")]
    session_id: Option<String>,
    cwd: Option<String>,
    #[serde(rename = "toolName")]
    own_tool: Option<String>,
    #[serde(rename = "tool_name")]
    borrowed_tool: Option<String>,
    #[serde(alias = "toolArgs", alias = "toolInput")]
    tool_input: Option<StrictValue>,
    #[serde(rename = "toolResult")]
    own_result: Option<StrictValue>,
    #[serde(rename = "tool_result", alias = "tool_response")]
    borrowed_result: Option<StrictValue>,
    prompt: Option<StrictValue>,
}

impl Payload {
    fn question(self) -> Result<Question, Problem> {
        let event = match (self.hook_event_name.as_deref(), &self.own_result) {
            (None, Some(_)) => Event::Result,
            (None, None) if self.prompt.is_some() && self.own_tool.is_none() => Event::Prompt,
            (name, _) => events::about(EVENTS, name),
        };
        if self.own_tool.is_some() && self.borrowed_tool.is_some() {
            return Err(Problem::new(
                "the agent's message names its tool in two ways",
            ));
        }
        let tool = self.own_tool.or(self.borrowed_tool);
        let input = self.tool_input.map_or(Value::Null, |StrictValue(it)| it);
        Facts {
            tool: tool.map(|name| match name.split_once('/') {
                Some((server, tool)) => mcp_tool(server, tool),
                None => name,
            }),
            input: unfolded(input),
            response: self
                .own_result
                .or(self.borrowed_result)
                .map(|StrictValue(it)| it),
            prompt: self.prompt.map(|StrictValue(it)| it),
            session: self.session_id,
            directory: self.cwd,
            replaceable: |_, response| response.get("textResultForLlm").is_some(),
            ..Facts::default()
        }
        .question(event)
    }
}

const EVENTS: Events = &[
    ("preToolUse", BEFORE_CALL),
    ("PreToolUse", Event::Call(HookPoint::Otherwise)),
    ("permissionRequest", BEFORE_PROMPT),
    ("postToolUse", Event::Result),
    ("PostToolUse", Event::Result),
    ("userPromptSubmitted", Event::Prompt),
    ("UserPromptSubmit", Event::Prompt),
    ("agentStop", TURN_ENDS),
    ("Stop", TURN_ENDS),
    ("sessionEnd", TURN_ENDS),
    ("SessionEnd", TURN_ENDS),
    ("sessionStart", Event::Tells),
    ("SessionStart", Event::Tells),
    ("subagentStart", Event::Tells),
    ("subagentStop", Event::Tells),
    ("preCompact", Event::Tells),
    ("notification", Event::Tells),
    ("errorOccurred", Event::Tells),
];
