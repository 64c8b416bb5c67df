//! What a hook's agent hears: exit code, standard output and standard error read together.

use serde::Deserialize;
use serde_json::Value;

use crate::expect::Got;

/// Claude Code's view of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Answer {
    /// No opinion.
    Silent,
    /// Run it, and show the person a message.
    Told,
    Allow,
    Ask,
    /// Denied by a decision: in JSON, and on standard error for whoever reads only that.
    Deny,
    /// Blocked because it could not be judged: exit code 2 and one line of standard error.
    Refused,
    /// Denied by a decision, by exit code alone: one line of standard error in the words of the safety hooks.
    Blocked,
    /// A result goes on, and the model is told something about it.
    Noted,
    /// Something else goes on in place of a result, and the model is told why.
    Replaced,
    /// Something else goes on in place of a result, without a word.
    Stripped,
    /// A result that should not go on does, since it cannot be replaced, and the model is told.
    Stays,
    /// A user's message does not go on.
    Stopped,
}

/// The answer and its reason, or what is wrong with the way it is given.
pub(crate) fn heard(got: &Got) -> Result<(Answer, String), String> {
    let stderr = got.stderr.trim_end_matches('\n').to_owned();
    match got.code {
        Some(2) if got.stdout.is_empty() => {
            let one_line = got.stderr.lines().count() == 1 && got.stderr.ends_with('\n');
            if one_line && stderr.starts_with("\u{1f6d1} BLOCKED: ") {
                return Ok((Answer::Blocked, stderr));
            }
            if !one_line || !stderr.starts_with("Holdpoint denied this") {
                return Err("exit code 2 needs one line that says what was denied and why".into());
            }
            Ok((Answer::Refused, stderr))
        }
        Some(0 | 2) => {
            if got.stdout.is_empty() {
                return match got.stderr.is_empty() {
                    true => Ok((Answer::Silent, String::new())),
                    false => Err("no opinion, but something on standard error".into()),
                };
            }
            let (answer, reason) = in_json(&got.stdout)?;
            let wordless = answer == Answer::Stripped;
            if reason.is_empty() != wordless || reason.chars().count() >= 2000 {
                return Err(format!("a reason of {} characters", reason.chars().count()));
            }
            let repeated = if got.code == Some(2) || answer == Answer::Deny {
                reason.as_str()
            } else {
                ""
            };
            // A process that breaks down after a call keeps the result back, and says what happened.
            let broke_down = reason.contains("Holdpoint broke down") && answer == Answer::Replaced;
            if stderr != repeated && !broke_down {
                return Err(format!("standard error must be `{repeated}`"));
            }
            Ok((answer, reason))
        }
        code => Err(format!("{code:?} is no exit code of a hook")),
    }
}

fn in_json(stdout: &str) -> Result<(Answer, String), String> {
    let value: Value = serde_json::from_str(stdout).map_err(|error| error.to_string())?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let keys = |value: &Value| -> Vec<String> {
        let object = value.as_object();
        object.map_or_else(Vec::new, |object| object.keys().cloned().collect())
    };
    if let Some(message) = text(&value["systemMessage"]) {
        return match keys(&value).len() {
            1 => Ok((Answer::Told, message)),
            _ => Err("a message and something else".into()),
        };
    }
    let specific = &value["hookSpecificOutput"];
    if keys(&value) == ["decision", "reason"] && value["decision"] == "block" {
        let reason = text(&value["reason"]).ok_or("no reason")?;
        return Ok((Answer::Stopped, reason));
    }
    match specific["hookEventName"].as_str() {
        Some("PreToolUse") => {
            let known = [
                "hookEventName",
                "permissionDecision",
                "permissionDecisionReason",
            ];
            if keys(&value) != ["hookSpecificOutput"] || keys(specific) != known {
                return Err("fields that do not belong there".into());
            }
            let answer = match specific["permissionDecision"].as_str() {
                Some("allow") => Answer::Allow,
                Some("ask") => Answer::Ask,
                Some("deny") => Answer::Deny,
                other => return Err(format!("{other:?} is no permission")),
            };
            let reason = text(&specific["permissionDecisionReason"]);
            reason
                .map(|reason| (answer, reason))
                .ok_or("no reason".into())
        }
        Some("PermissionRequest") if specific["decision"]["behavior"] == "deny" => {
            let reason = text(&specific["decision"]["message"]);
            reason
                .map(|reason| (Answer::Deny, reason))
                .ok_or("no reason".into())
        }
        Some("PostToolUse" | "PostToolUseFailure") => after_call(&value),
        other => Err(format!("{other:?} is no event that can be answered")),
    }
}

/// What the model hears after a call.
fn after_call(value: &Value) -> Result<(Answer, String), String> {
    let specific = value["hookSpecificOutput"].as_object().ok_or("no fields")?;
    let has = |key: &str| specific.contains_key(key);
    let known = [
        "hookEventName",
        "additionalContext",
        "updatedToolOutput",
        "updatedMCPToolOutput",
    ];
    if !specific.keys().all(|key| known.contains(&key.as_str())) {
        return Err("fields that do not belong there".into());
    }
    if has("updatedMCPToolOutput")
        && specific.get("updatedMCPToolOutput") != specific.get("updatedToolOutput")
    {
        return Err("two results that differ".into());
    }
    let failed = specific["hookEventName"] == "PostToolUseFailure";
    if failed && (has("updatedToolOutput") || value.get("decision").is_some()) {
        return Err("what failed cannot be replaced".into());
    }
    let context = specific.get("additionalContext").map(|it| it.as_str());
    let context = context
        .map(|it| it.ok_or("a note that is no text"))
        .transpose()?;
    let whole = value.as_object().ok_or("no object")?;
    let answer = match (whole.len(), has("updatedToolOutput"), context) {
        (1, true, Some(_)) => Answer::Replaced,
        (1, true, None) => Answer::Stripped,
        (1, false, Some(_)) => Answer::Noted,
        (3, false, Some(note)) if value["decision"] == "block" && value["reason"] == note => {
            Answer::Stays
        }
        _ => return Err("no such answer".into()),
    };
    Ok((answer, context.unwrap_or_default().to_owned()))
}
