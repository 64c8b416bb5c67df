//! How each agent but Claude Code takes what its hook says: written from what the agents do, not
//! from what Holdpoint means.

use serde_json::Value;

use crate::answer::Answer;
use crate::expect::Got;

/// The answer an agent hears and its reason, or what is wrong with the way it is given.
pub(crate) fn heard(agent: &str, got: &Got) -> Result<(Answer, String), String> {
    let words: Option<Value> = match got.stdout.is_empty() {
        true => None,
        false => Some(serde_json::from_str(&got.stdout).map_err(|error| error.to_string())?),
    };
    if words.as_ref().is_some_and(|words| !words.is_object()) {
        return Err("standard output is no object".into());
    }
    if got.stderr.lines().count() > 1 {
        return Err("more than one line on standard error".into());
    }
    let stderr = got.stderr.trim_end_matches('\n').to_owned();
    let code = got.code.ok_or("ended by a signal")?;
    let (answer, reason) = match (agent, &words) {
        // It minds no exit code.
        ("cline", None) => (Answer::Silent, String::new()),
        (_, None) if code == 0 => (Answer::Silent, String::new()),
        (_, None) if code == 2 && !stderr.is_empty() => (Answer::Refused, stderr.clone()),
        (_, None) => return Err(format!("exit code {code} without a word lets the call run")),
        ("windsurf" | "kiro", Some(_)) => return Err("words it does not read".into()),
        (agent, Some(words)) => {
            let heard = in_words(agent, words)?;
            let blocks = matches!(agent, "opencode" | "generic") && heard.0 == Answer::Deny;
            // Gemini goes by the words, whatever the exit code.
            if code != if blocks { 2 } else { 0 } && !(agent == "gemini" && code == 2) {
                return Err(format!("exit code {code} beside words"));
            }
            heard
        }
    };
    let refuses = matches!(answer, Answer::Deny | Answer::Refused);
    let repeated = if refuses { reason.as_str() } else { "" };
    if stderr != repeated {
        return Err(format!("standard error must be `{repeated}`"));
    }
    if refuses && !reason.starts_with("Holdpoint denied this") {
        return Err("a denial says who denied it".into());
    }
    Ok((answer, reason))
}

/// The words of an agent: which fields stand there, and what that means. `*` is the reason; `=` is
/// followed by the value a field must have.
const WORDS: &[(&str, &[&str], Answer)] = &[
    (
        "codex",
        &[
            "hookSpecificOutput.hookEventName=PreToolUse",
            "hookSpecificOutput.permissionDecision=deny",
            "hookSpecificOutput.permissionDecisionReason*",
        ],
        Answer::Deny,
    ),
    (
        "codex",
        &[
            "hookSpecificOutput.hookEventName=PermissionRequest",
            "hookSpecificOutput.decision.behavior=deny",
            "hookSpecificOutput.decision.message*",
        ],
        Answer::Deny,
    ),
    (
        "codex",
        &[
            "hookSpecificOutput.hookEventName=PermissionRequest",
            "hookSpecificOutput.decision.behavior=allow",
        ],
        Answer::Allow,
    ),
    (
        "codex",
        &[
            "hookSpecificOutput.hookEventName=PostToolUse",
            "hookSpecificOutput.additionalContext*",
        ],
        Answer::Noted,
    ),
    ("codex", &["decision=block", "reason*"], Answer::Stopped),
    ("codex", &["systemMessage*"], Answer::Told),
    ("gemini", &["decision=deny", "reason*"], Answer::Deny),
    ("gemini", &["decision=ask", "reason*"], Answer::Ask),
    ("gemini", &["decision=allow", "reason*"], Answer::Allow),
    (
        "gemini",
        &[
            "hookSpecificOutput.hookEventName=AfterTool",
            "hookSpecificOutput.additionalContext*",
        ],
        Answer::Noted,
    ),
    ("gemini", &["systemMessage*"], Answer::Told),
    (
        "qwen",
        &[
            "hookSpecificOutput.hookEventName=PreToolUse",
            "hookSpecificOutput.permissionDecision=deny",
            "hookSpecificOutput.permissionDecisionReason*",
        ],
        Answer::Deny,
    ),
    (
        "qwen",
        &[
            "hookSpecificOutput.hookEventName=PreToolUse",
            "hookSpecificOutput.permissionDecision=ask",
            "hookSpecificOutput.permissionDecisionReason*",
        ],
        Answer::Ask,
    ),
    (
        "qwen",
        &[
            "hookSpecificOutput.hookEventName=PreToolUse",
            "hookSpecificOutput.permissionDecision=allow",
            "hookSpecificOutput.permissionDecisionReason*",
        ],
        Answer::Allow,
    ),
    (
        "qwen",
        &[
            "hookSpecificOutput.hookEventName=PermissionRequest",
            "hookSpecificOutput.decision.behavior=deny",
            "hookSpecificOutput.decision.message*",
        ],
        Answer::Deny,
    ),
    (
        "qwen",
        &[
            "hookSpecificOutput.hookEventName=PostToolUse",
            "hookSpecificOutput.additionalContext*",
        ],
        Answer::Noted,
    ),
    ("qwen", &["continue=false", "stopReason*"], Answer::Stopped),
    ("qwen", &["decision=block", "reason*"], Answer::Stopped),
    ("qwen", &["systemMessage*"], Answer::Told),
    (
        "copilot",
        &["permissionDecision=deny", "permissionDecisionReason*"],
        Answer::Deny,
    ),
    (
        "copilot",
        &["permissionDecision=ask", "permissionDecisionReason*"],
        Answer::Ask,
    ),
    (
        "copilot",
        &["permissionDecision=allow", "permissionDecisionReason*"],
        Answer::Allow,
    ),
    (
        "copilot",
        &[
            "hookSpecificOutput.hookEventName=PreToolUse",
            "hookSpecificOutput.permissionDecision=deny",
            "hookSpecificOutput.permissionDecisionReason*",
        ],
        Answer::Deny,
    ),
    ("copilot", &["behavior=deny", "message*"], Answer::Deny),
    (
        "copilot",
        &[
            "modifiedResult.resultType=success",
            "modifiedResult.textResultForLlm*",
        ],
        Answer::Replaced,
    ),
    ("copilot", &["additionalContext*"], Answer::Noted),
    (
        "copilot",
        &[
            "additionalContext*",
            "modifiedResult.resultType=success",
            "modifiedResult.textResultForLlm?",
        ],
        Answer::Replaced,
    ),
    (
        "cursor",
        &["permission=deny", "user_message*", "agent_message*"],
        Answer::Deny,
    ),
    (
        "cursor",
        &["permission=ask", "user_message*", "agent_message*"],
        Answer::Ask,
    ),
    ("cursor", &["permission=allow"], Answer::Allow),
    (
        "cursor",
        &["permission=allow", "user_message*"],
        Answer::Told,
    ),
    ("cursor", &["continue=true"], Answer::Allow),
    ("cursor", &["continue=true", "user_message*"], Answer::Told),
    (
        "cursor",
        &["continue=false", "user_message*"],
        Answer::Stopped,
    ),
    ("cursor", &["additional_context*"], Answer::Noted),
    ("opencode", &["decision=deny", "reason*"], Answer::Deny),
    ("opencode", &["note*"], Answer::Noted),
    ("opencode", &["note*", "result?"], Answer::Replaced),
    ("opencode", &["result*"], Answer::Replaced),
    ("cline", &["cancel=true", "errorMessage*"], Answer::Deny),
    ("cline", &["context*"], Answer::Noted),
    ("goose", &["decision=block", "reason*"], Answer::Deny),
    ("generic", &["decision=deny", "reason*"], Answer::Deny),
    ("generic", &["decision=allow", "reason*"], Answer::Allow),
    ("generic", &["decision=none"], Answer::Silent),
    ("generic", &["decision=none", "note*"], Answer::Told),
    ("generic", &["note*"], Answer::Noted),
    ("generic", &["note*", "output?"], Answer::Replaced),
];

fn in_words(agent: &str, words: &Value) -> Result<(Answer, String), String> {
    let mut found = Vec::new();
    flatten(words, String::new(), &mut found);
    WORDS
        .iter()
        .filter(|(name, _, _)| *name == agent)
        .find_map(|(_, form, answer)| Some((*answer, fits(form, &found)?)))
        .ok_or_else(|| format!("{agent} does not understand {words}"))
}

/// The reason, if the fields that were found are those of the form and no others.
fn fits(form: &[&str], found: &[(String, &Value)]) -> Option<String> {
    let mut reason = String::new();
    for field in form {
        let (name, rest) = field.split_at(field.find(['=', '*', '?'])?);
        let (_, value) = found.iter().find(|(path, _)| path == name)?;
        match (rest.split_at(1), value) {
            (("=", wanted), Value::String(text)) if text == wanted => {}
            (("=", wanted), Value::Bool(flag)) if flag.to_string() == wanted => {}
            (("*", _), Value::String(text)) if !text.is_empty() => reason = text.clone(),
            (("?", _), _) => {}
            _ => return None,
        }
    }
    (found.len() == form.len()).then_some(reason)
}

fn flatten<'v>(value: &'v Value, path: String, found: &mut Vec<(String, &'v Value)>) {
    let Value::Object(fields) = value else {
        found.push((path, value));
        return;
    };
    for (key, inner) in fields {
        let dot = if path.is_empty() { "" } else { "." };
        flatten(inner, format!("{path}{dot}{key}"), found);
    }
}
