//! What Claude Code's model reads of what a tool returned.
//!
//! The agent takes another result only in the form of the tool's own, and silently goes on with the
//! original otherwise. So texts are exchanged one by one and everything else stays. Where that is
//! not possible the model is at least told, and nobody is told that the text is gone.

use std::collections::HashSet;

use holdpoint_core::ToolCall;
use holdpoint_core::text::Action;
use serde_json::{Map, Value, json};

use crate::hook::glimpse::Glimpse;
use crate::hook::wording::{STILL_THERE, WITHHELD};
use crate::hook::{Reply, Returned};
use holdpoint_engine::inspecting::{Inspected, is_form, is_picture, strings};

/// What stands in the place of each text of such a result but one.
const GONE: &str = "[withheld]";

/// The fields in which the agent shows the model what a tool returned.
const SHOWN: &[&str] = &[
    "content", "error", "message", "output", "result", "stderr", "stdout", "text",
];

/// The reply to a result that was inspected.
pub(crate) fn reply(returned: &Returned, inspected: &Inspected) -> Reply {
    let note = inspected.note.as_deref();
    if inspected.stays {
        return only_told(returned.failed, note.unwrap_or(WITHHELD));
    }
    match inspected.action {
        Action::Block => withholding(Some(returned), note.unwrap_or(WITHHELD)),
        Action::Pass | Action::Annotate | Action::Quarantine => {
            let mut output = Map::new();
            if let Some(note) = note {
                output.insert("additionalContext".into(), json!(note));
            }
            if let Some(instead) = &inspected.instead {
                replace(&mut output, returned, instead.clone());
            }
            if output.is_empty() {
                return Reply::silence();
            }
            said(returned.failed, output, None)
        }
    }
}

/// The reply that keeps a result back, with a notice in its place.
pub(crate) fn withholding(returned: Option<&Returned>, notice: &str) -> Reply {
    let Some(returned) = returned else {
        return only_told(false, notice);
    };
    let instead = if !returned.replaceable {
        None
    } else if is_mcp(returned.call.tool()) {
        Some(json!([{"type": "text", "text": notice}]))
    } else {
        withheld(&returned.response, &returned.input, notice)
    };
    let Some(instead) = instead else {
        return only_told(returned.failed, notice);
    };
    let mut output = Map::new();
    output.insert("additionalContext".into(), json!(notice));
    replace(&mut output, returned, instead);
    said(false, output, None)
}

/// The reply where nothing can be replaced: the model sees the text, and is told what it is.
fn only_told(failed: bool, notice: &str) -> Reply {
    let text = format!("{notice} {STILL_THERE}");
    let mut output = Map::new();
    output.insert("additionalContext".into(), json!(text));
    // After a call that failed the agent knows no other field.
    let reason = (!failed).then_some(text);
    said(failed, output, reason)
}

fn said(failed: bool, mut output: Map<String, Value>, reason: Option<String>) -> Reply {
    let event = if failed {
        "PostToolUseFailure"
    } else {
        "PostToolUse"
    };
    output.insert("hookEventName".into(), json!(event));
    let mut whole = Map::new();
    if let Some(reason) = reason {
        whole.insert("decision".into(), json!("block"));
        whole.insert("reason".into(), json!(reason));
    }
    whole.insert("hookSpecificOutput".into(), Value::Object(output));
    Reply {
        stdout: format!("{}\n", Value::Object(whole)),
        stderr: String::new(),
        code: 0,
        must_be_heard: true,
    }
}

fn replace(output: &mut Map<String, Value>, returned: &Returned, instead: Value) {
    if is_mcp(returned.call.tool()) {
        // Releases before the one that takes any tool's result know this name for it.
        output.insert("updatedMCPToolOutput".into(), instead.clone());
    }
    output.insert("updatedToolOutput".into(), instead);
}

fn is_mcp(tool: &str) -> bool {
    tool.starts_with("mcp__")
}

/// Whether the agent takes another result for this one. It does not take a plain text for that of a
/// tool of its own.
pub(crate) fn can_be_replaced(tool: &str, response: &Value) -> bool {
    match response {
        Value::Object(_) | Value::Array(_) => true,
        Value::String(_) => is_mcp(tool),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A result without its texts, in the form it has; none if it has none that could go. What the model
/// itself had said stays, and so do the words the agent tells the forms of results apart by.
fn withheld(response: &Value, input: &Value, notice: &str) -> Option<Value> {
    let own: HashSet<&str> = strings(input).collect();
    let mut instead = response.clone();
    let mut texts: Vec<(&str, &mut String)> = Vec::new();
    let mut open: Vec<(&str, &mut Value)> = vec![("", &mut instead)];
    while let Some((key, value)) = open.pop() {
        match value {
            Value::String(text) => {
                let kept = text.is_empty()
                    || own.contains(text.as_str())
                    || is_form(text)
                    || is_picture(key, text);
                if !kept {
                    texts.push((key, text));
                }
            }
            Value::Array(items) => open.extend(items.iter_mut().rev().map(|item| (key, item))),
            Value::Object(members) => {
                members.retain(|key, _| is_name(key));
                open.extend(
                    members
                        .iter_mut()
                        .map(|(key, member)| (key.as_str(), member)),
                );
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    if texts.is_empty() {
        return None;
    }
    let told = texts
        .iter()
        .position(|(key, _)| SHOWN.contains(key))
        .unwrap_or_default();
    for (place, (_, text)) in texts.into_iter().enumerate() {
        *text = if place == told { notice } else { GONE }.to_owned();
    }
    Some(instead)
}

/// A result of the tool a payload speaks of that cannot be read, in the form it is known to have,
/// without a word of what it returned.
pub(crate) fn glimpsed(seen: Glimpse) -> Option<Returned> {
    let tool = seen.tool?;
    let (input, response) = match tool.as_str() {
        "Bash" => (
            Value::Null,
            json!({"stdout": UNREAD, "stderr": "", "interrupted": false, "isImage": false}),
        ),
        "Read" => {
            let path = seen.file.unwrap_or_default();
            let file = json!({
                "filePath": path, "content": UNREAD, "numLines": 1, "startLine": 1, "totalLines": 1,
            });
            (
                json!({"file_path": path}),
                json!({"type": "text", "file": file}),
            )
        }
        "WebFetch" => (
            Value::Null,
            json!({"bytes": 0, "code": 200, "codeText": "", "result": UNREAD, "durationMs": 0, "url": ""}),
        ),
        "Grep" => (
            Value::Null,
            json!({"mode": "content", "numFiles": 0, "filenames": [], "content": UNREAD, "numLines": 1}),
        ),
        _ if tool.starts_with("mcp__") => (Value::Null, json!([])),
        _ => return None,
    };
    Some(Returned {
        call: ToolCall::new(tool, input.clone()).ok()?,
        input,
        response,
        session: None,
        directory: None,
        replaceable: true,
        failed: false,
    })
}

/// Stands for a text that was not read.
const UNREAD: &str = "…";

/// A field of a form. A sentence is none.
fn is_name(key: &str) -> bool {
    key.len() <= 40
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn returned(tool: &str, input: Value, response: Value) -> Returned {
        Returned {
            call: ToolCall::new(tool, input.clone()).unwrap(),
            input,
            session: None,
            directory: None,
            replaceable: can_be_replaced(tool, &response),
            response,
            failed: false,
        }
    }

    fn output(reply: &Reply) -> Value {
        let whole: Value = serde_json::from_str(&reply.stdout).unwrap();
        whole["hookSpecificOutput"]["updatedToolOutput"].clone()
    }

    #[test]
    fn a_result_is_withheld_in_the_form_of_its_tool() {
        for (tool, input, response, expected) in [
            (
                "Bash",
                json!({"command": "cat x"}),
                json!({"stdout": "bad", "stderr": "", "interrupted": false, "isImage": false}),
                json!({"stdout": "no", "stderr": "", "interrupted": false, "isImage": false}),
            ),
            (
                "Read",
                json!({"file_path": "/a/b"}),
                json!({"type": "text", "file": {"filePath": "/a/b", "content": "bad", "numLines": 1}}),
                json!({"type": "text", "file": {"filePath": "/a/b", "content": "no", "numLines": 1}}),
            ),
            (
                "Grep",
                json!({"pattern": "x"}),
                json!({"mode": "content", "numFiles": 0, "filenames": ["bad"], "content": "bad"}),
                json!({"mode": "content", "numFiles": 0, "filenames": ["[withheld]"], "content": "no"}),
            ),
            (
                "WebSearch",
                json!({"query": "q"}),
                json!({"query": "q", "results": [{"tool_use_id": "t", "content": [{"title": "bad", "url": "u"}]}, "bad"]}),
                json!({"query": "q", "results": [{"tool_use_id": "no", "content": [{"title": "[withheld]", "url": "[withheld]"}]}, "[withheld]"]}),
            ),
            (
                "Agent",
                json!({"prompt": "look"}),
                json!({"status": "completed", "prompt": "look", "content": [{"type": "text", "text": "bad"}], "totalTokens": 5}),
                json!({"status": "completed", "prompt": "look", "content": [{"type": "text", "text": "no"}], "totalTokens": 5}),
            ),
            (
                "mcp__srv__get",
                json!({}),
                json!({"bad": {"type": "bad"}}),
                json!([{"type": "text", "text": "no"}]),
            ),
            (
                "mcp__srv__get",
                json!({}),
                json!("bad"),
                json!([{"type": "text", "text": "no"}]),
            ),
            // A sentence for a field is none.
            (
                "Bash",
                json!({}),
                json!({"bad one": 1, "stdout": "bad"}),
                json!({"stdout": "no"}),
            ),
        ] {
            let reply = withholding(Some(&returned(tool, input, response)), "no");
            assert!(!reply.stdout.contains("bad"), "{}", reply.stdout);
            assert_eq!(output(&reply), expected, "{tool}");
            assert_eq!(
                reply.stdout.contains("updatedMCPToolOutput"),
                tool.starts_with("mcp")
            );
        }
    }

    #[test]
    fn where_nothing_can_be_replaced_the_model_is_told_that_it_is_still_there() {
        let picture = json!({"type": "image", "file": {"base64": "aGk=", "type": "image/png"}});
        for response in [json!("bad"), json!(5), Value::Null, picture] {
            let reply = withholding(Some(&returned("Bash", json!({}), response)), "no.");
            let whole: Value = serde_json::from_str(&reply.stdout).unwrap();
            assert_eq!(whole["decision"], "block");
            let context = &whole["hookSpecificOutput"]["additionalContext"];
            assert_eq!(context, &whole["reason"]);
            assert!(context.as_str().unwrap().contains("still there"));
            assert_eq!(output(&reply), Value::Null);
        }
    }

    #[test]
    fn after_a_failure_there_is_only_context() {
        let mut failure = returned("Bash", json!({}), json!("bad"));
        (failure.failed, failure.replaceable) = (true, false);
        let reply = withholding(Some(&failure), "no.");
        let whole: Value = serde_json::from_str(&reply.stdout).unwrap();
        let keys: Vec<&String> = whole["hookSpecificOutput"]
            .as_object()
            .unwrap()
            .keys()
            .collect();
        assert_eq!(keys, ["additionalContext", "hookEventName"]);
        assert_eq!(
            whole["hookSpecificOutput"]["hookEventName"],
            "PostToolUseFailure"
        );
        assert_eq!(whole.as_object().unwrap().len(), 1);
    }

    #[test]
    fn nothing_is_said_of_a_result_nobody_minds() {
        let fine = returned("Bash", json!({}), json!({"stdout": "ok"}));
        assert_eq!(reply(&fine, &Inspected::default()), Reply::silence());
    }
}
