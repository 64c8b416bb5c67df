//! Claude Code's words: the payloads of its hooks and the replies it understands.

use std::time::Duration;

use holdpoint_core::{CallError, Decision, Method, StrictValue, ToolCall, Verdict, document};
use holdpoint_sandbox::last_words::LastWords;
use serde::Deserialize;
use serde_json::{Value, json};

use super::wording::{self, explained};
use super::{Adapter, Asked, Moment, Problem, Question, Reply};

pub(super) struct ClaudeCode;

/// The exit code that blocks a call, whatever stands on standard output.
const BLOCK: u8 = 2;

impl Adapter for ClaudeCode {
    fn read(&self, payload: &str) -> Result<Question, Problem> {
        match serde_json::from_str::<Payload>(payload) {
            // The reader would also take an array for an object.
            Ok(read) if payload.trim_start().starts_with('{') => read.question(),
            Ok(_) => Err(Problem::new("the agent's message is not a JSON object")),
            Err(_) if payload.trim().is_empty() => {
                Err(Problem::new("the agent sent no message on standard input"))
            }
            Err(error) => Err(unreadable(payload, &error)),
        }
    }

    fn reply(&self, moment: Moment, decision: &Decision) -> Reply {
        let answer = match (decision.verdict, decision.method) {
            (Verdict::Allow, Method::NoObjection) => return Reply::silence(),
            (Verdict::Allow, _) => Answer::Allow,
            (Verdict::Notify, _) => Answer::Tell,
            (Verdict::Ask | Verdict::Review, _) => Answer::Ask,
            (Verdict::Deny, _) => Answer::Deny,
        };
        replied(moment, answer, &explained(decision))
    }

    fn refusal(&self, problem: &Problem) -> Reply {
        let text = wording::refused(&problem.text);
        match problem.moment {
            // Here the exit code counts for nothing.
            Moment::BeforePrompt => Reply {
                code: BLOCK,
                ..replied(Moment::BeforePrompt, Answer::Deny, &text)
            },
            Moment::BeforeCall | Moment::Unknown => Reply {
                stdout: String::new(),
                stderr: format!("{text}\n"),
                code: BLOCK,
                must_be_heard: false,
            },
        }
    }

    fn workspace_variable(&self) -> &'static str {
        "CLAUDE_PROJECT_DIR"
    }

    fn last_words(&self) -> LastWords {
        LastWords {
            stdout: "",
            stderr: wording::REFUSED,
            code: BLOCK.into(),
            // Half of what `holdpoint init` tells the agent to wait.
            deadline: Duration::from_secs(5),
            memory: 2 << 30,
        }
    }
}

/// What a hook reads; it has more fields, and newer agents have others.
#[derive(Deserialize)]
struct Payload {
    hook_event_name: Option<String>,
    session_id: Option<String>,
    cwd: Option<String>,
    tool_name: Option<String>,
    tool_input: Option<StrictValue>,
}

impl Payload {
    fn question(self) -> Result<Question, Problem> {
        let moment = match self.hook_event_name.as_deref() {
            None | Some("PreToolUse") => Moment::BeforeCall,
            Some("PermissionRequest") => Moment::BeforePrompt,
            Some(event) if TELLS.contains(&event) => return Ok(Question::None),
            Some(_) => Moment::Unknown,
        };
        let input = self.tool_input.map_or(Value::Null, |StrictValue(it)| it);
        let called = self.tool_name.filter(|name| !name.trim().is_empty());
        call_of(called, input)
            .map(|call| {
                Question::Call(Asked {
                    call,
                    session: self.session_id,
                    directory: self.cwd.filter(|cwd| !cwd.is_empty()),
                    moment,
                })
            })
            .map_err(|text| Problem { moment, text })
    }
}

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
    let missing = match tool.as_str() {
        "Bash" | "PowerShell" if !has("command") => Some("command"),
        "Read" | "Write" | "Edit" | "MultiEdit" | "NotebookEdit" if !has_path => Some("file_path"),
        _ => None,
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
const PATHS: &[&str] = &["file_path", "path", "notebook_path"];

/// The events that ask for no permission to call a tool.
const TELLS: &[&str] = &[
    "ConfigChange",
    "CwdChanged",
    "DirectoryAdded",
    "Elicitation",
    "ElicitationResult",
    "FileChanged",
    "InstructionsLoaded",
    "MessageDisplay",
    "Notification",
    "PermissionDenied",
    "PostCompact",
    "PostModelSwitch",
    "PostToolBatch",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "PreModelSwitch",
    "SessionEnd",
    "SessionStart",
    "Setup",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
    "UserPromptExpansion",
    "UserPromptSubmit",
    "WorktreeCreate",
    "WorktreeRemove",
];

/// What is wrong with a payload. The fast reader stops at the first fault; the document reader is
/// asked what to say about it.
fn unreadable(payload: &str, error: &serde_json::Error) -> Problem {
    let (line, column, message) = match document::read::<Payload>("", payload.as_bytes()) {
        Err(error) => (error.line, error.column, error.message()),
        Ok(_) => (
            error.line(),
            error.column(),
            "this is not plain JSON".into(),
        ),
    };
    Problem::new(format!(
        "the agent's message cannot be read ({line}:{column}: {message})"
    ))
}

#[derive(Clone, Copy)]
enum Answer {
    Allow,
    Tell,
    Ask,
    Deny,
}

fn replied(moment: Moment, answer: Answer, reason: &str) -> Reply {
    let permission = |word: &str| {
        json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": word,
            "permissionDecisionReason": reason,
        }})
    };
    let output = match (moment, answer) {
        (Moment::BeforeCall, Answer::Allow) => permission("allow"),
        (Moment::BeforeCall | Moment::Unknown, Answer::Ask) => permission("ask"),
        (Moment::BeforeCall | Moment::Unknown, Answer::Deny) => permission("deny"),
        (Moment::BeforePrompt, Answer::Deny) => json!({"hookSpecificOutput": {
            "hookEventName": "PermissionRequest",
            "decision": {"behavior": "deny", "message": reason},
        }}),
        // The person is about to be asked; that a rule would allow the call was said before.
        (Moment::BeforePrompt, Answer::Ask | Answer::Allow) => return Reply::silence(),
        (Moment::Unknown, Answer::Allow) => return Reply::silence(),
        (_, Answer::Tell) => json!({"systemMessage": reason}),
    };
    let refuses = matches!(answer, Answer::Ask | Answer::Deny);
    // At a moment nobody knows, only the exit code is sure to be understood.
    let blocks = refuses && moment == Moment::Unknown;
    Reply {
        stdout: format!("{output}\n"),
        stderr: match answer {
            Answer::Deny => format!("{reason}\n"),
            Answer::Ask if blocks => format!("{reason}\n"),
            Answer::Ask | Answer::Allow | Answer::Tell => String::new(),
        },
        code: if blocks { BLOCK } else { 0 },
        must_be_heard: refuses,
    }
}
