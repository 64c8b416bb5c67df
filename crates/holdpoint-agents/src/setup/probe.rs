//! A live question through an agent's own hook command: is a call that every policy denies denied?
//!
//! The command is run as it stands in the settings, and its answer is read as the agent reads it.
//! Nothing is ever carried out: a hook only answers.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Call;
use holdpoint_engine::store::plain_words;

/// What is asked about: agents may never answer what is held for a person, under any policy. Were it
/// run after all, nothing of that name waits.
pub(crate) const CANARY: &str = "holdpoint approve holdpoint-doctor";

/// The session under which the question is on record.
pub(crate) const SESSION: &str = "holdpoint-doctor";

/// What the refusal says, if it is the policy that refuses.
const REASON: &str = "Only a person may answer";

/// How long the command may take. A hook answers within five seconds.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// The most bytes of its output that are read: a reply has some hundred. What is cut off is no reply, and the probe fails.
const MAX_OUTPUT: u64 = 1 << 20;

/// What came of the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// The policy denied it, and the agent would have obeyed.
    Denied,
    /// The agent would not have run it, but because the hook fails.
    Refused(String),
    /// The agent would have run it.
    Allowed(String),
    /// The command did not answer, and this is why.
    Silent(String),
}

/// How an agent reads the answer of a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `hookSpecificOutput.permissionDecision`, whatever the exit code; exit code 2 denies even silently.
    Claude,
    /// The same, but only with exit code 0 and a reason; exit code 2 needs a text.
    Strict,
    /// `decision`, from whichever output has text; other texts deny by exit code.
    Gemini,
    /// `permission`, or exit code 2.
    Cursor,
    /// `permissionDecision` at the top, or any exit code but 0.
    Copilot,
    /// `cancel`; exit codes mean nothing.
    Cline,
    /// Exit code 2.
    ExitCode,
    /// `decision: "block"`, or exit code 2.
    Goose,
    /// Everything but exit code 0 and a word our plug-in knows.
    Plugin,
}

/// What a command said.
#[derive(Debug)]
struct Output {
    stdout: String,
    stderr: String,
    /// None if a signal ended it.
    code: Option<i32>,
}

/// The payload most agents agree on.
pub(crate) fn common(event: &str, tool: &str, directory: &Path) -> Value {
    json!({
        "session_id": SESSION,
        "cwd": directory.display().to_string(),
        "hook_event_name": event,
        "tool_name": tool,
        "tool_input": { "command": CANARY },
    })
}

/// Asks.
pub(crate) fn ask(call: &Call, payload: &Value, dialect: Dialect, directory: &Path) -> Heard {
    match run(call, payload.to_string(), directory) {
        Ok(said) => heard(dialect, &said),
        Err(problem) => Heard::Silent(problem),
    }
}

fn heard(dialect: Dialect, said: &Output) -> Heard {
    match refusal(dialect, said) {
        Some(reason) if reason.contains(REASON) => Heard::Denied,
        Some(reason) => Heard::Refused(reason),
        None => Heard::Allowed(match (said.code, said.stderr.trim()) {
            (Some(code), "") => format!("it ends with code {code}"),
            (Some(code), words) => format!("it ends with code {code} and says `{words}`"),
            (None, _) => "a signal ends it".into(),
        }),
    }
}

/// The reason, if the agent would not run the call.
fn refusal(dialect: Dialect, said: &Output) -> Option<String> {
    let value: Option<Value> = serde_json::from_str(&said.stdout).ok();
    let at = |pointer: &str| {
        value
            .as_ref()
            .and_then(|value| value.pointer(pointer))
            .cloned()
    };
    let text = |pointer: &str| {
        let found = at(pointer);
        found
            .as_ref()
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let stderr = said.stderr.trim();
    let two = said.code == Some(2);
    let by_code = two.then(|| stderr.to_owned());
    let nested = || {
        let own = "/hookSpecificOutput/permissionDecision";
        (text(own) == "deny").then(|| text(&format!("{own}Reason")))
    };
    match dialect {
        Dialect::Claude => by_code.or_else(nested),
        Dialect::Strict => match said.code {
            Some(0) => nested().filter(|reason| !reason.trim().is_empty()),
            Some(_) | None => by_code.filter(|words| !words.is_empty()),
        },
        Dialect::Gemini => {
            let words = match said.stdout.trim() {
                "" => stderr,
                words => words,
            };
            match serde_json::from_str::<Value>(words) {
                Ok(value) => {
                    let decision = value.get("decision").and_then(Value::as_str);
                    matches!(decision, Some("deny" | "block")).then(|| {
                        let reason = value.get("reason").and_then(Value::as_str);
                        reason.unwrap_or_default().to_owned()
                    })
                }
                Err(_) => (!words.is_empty() && !matches!(said.code, Some(0 | 1) | None))
                    .then(|| words.to_owned()),
            }
        }
        Dialect::Cursor => by_code.or_else(|| {
            let denied = said.code == Some(0) && text("/permission") == "deny";
            denied.then(|| format!("{} {}", text("/agent_message"), text("/user_message")))
        }),
        Dialect::Copilot => match said.code {
            Some(0) => {
                (text("/permissionDecision") == "deny").then(|| text("/permissionDecisionReason"))
            }
            Some(_) | None => Some(stderr.to_owned()),
        },
        Dialect::Cline => (at("/cancel") == Some(Value::Bool(true))).then(|| text("/errorMessage")),
        Dialect::ExitCode => by_code,
        Dialect::Plugin => {
            (said.code != Some(0) || text("/decision") == "deny").then(|| match text("/reason") {
                none if none.is_empty() => stderr.to_owned(),
                reason => reason,
            })
        }
        Dialect::Goose => {
            by_code.or_else(|| (text("/decision") == "block").then(|| text("/reason")))
        }
    }
}

fn run(call: &Call, payload: String, directory: &Path) -> Result<Output, String> {
    let mut command = match call {
        Call::Direct { program, arguments } => {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
        Call::Line(line) => {
            let mut command = Command::new("sh");
            command.args(["-c", line]);
            command
        }
    };
    command
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let cannot = |error: io::Error| format!("it cannot be run ({})", plain_words(&error));
    let mut child = command.spawn().map_err(cannot)?;
    let input = child.stdin.take();
    let outputs: [Option<Box<dyn Read + Send>>; 2] = [
        child
            .stdout
            .take()
            .map(|output| Box::new(output) as Box<dyn Read + Send>),
        child
            .stderr
            .take()
            .map(|output| Box::new(output) as Box<dyn Read + Send>),
    ];
    let until = Instant::now() + MAX_WAIT;
    // Each on a thread of its own: a command that does not read, or does not end, holds up nothing.
    let written = thread::Builder::new().spawn(move || {
        if let Some(mut input) = input {
            let _ = input.write_all(payload.as_bytes());
        }
    });
    let mut heard = written.map(|_| Vec::new()).map_err(cannot)?;
    for output in outputs {
        let (sender, receiver) = channel();
        let read = move || {
            let mut bytes = Vec::new();
            if let Some(output) = output {
                let _ = output.take(MAX_OUTPUT).read_to_end(&mut bytes);
            }
            let _ = sender.send(bytes);
        };
        thread::Builder::new().spawn(read).map_err(cannot)?;
        heard.push(receiver);
    }
    let late = || format!("it does not answer within {} seconds", MAX_WAIT.as_secs());
    let status = ended(&mut child, until).ok_or_else(late)?;
    let mut texts = heard.into_iter().map(|receiver| {
        let left = until.saturating_duration_since(Instant::now());
        let bytes = receiver.recv_timeout(left).map_err(|_| late())?;
        Ok::<String, String>(String::from_utf8_lossy(&bytes).into_owned())
    });
    Ok(Output {
        stdout: texts.next().transpose()?.unwrap_or_default(),
        stderr: texts.next().transpose()?.unwrap_or_default(),
        code: status,
    })
}

/// Its exit code, if it ended in time; it is ended otherwise.
fn ended(child: &mut Child, until: Instant) -> Option<Option<i32>> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.code()),
            Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(2)),
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(stdout: &str, stderr: &str, code: i32) -> Output {
        Output {
            stdout: stdout.into(),
            stderr: stderr.into(),
            code: Some(code),
        }
    }

    const WORDS: &str = "Only a person may answer what is held";

    #[test]
    fn each_agents_denial_is_one() {
        let nested = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
            "permissionDecision": "deny", "permissionDecisionReason": WORDS}})
        .to_string();
        for (dialect, stdout, code) in [
            (Dialect::Claude, nested.clone(), 1),
            (Dialect::Strict, nested.clone(), 0),
            (
                Dialect::Gemini,
                json!({"decision": "deny", "reason": WORDS}).to_string(),
                0,
            ),
            (Dialect::Gemini, WORDS.into(), 2),
            (
                Dialect::Cursor,
                json!({"permission": "deny", "user_message": WORDS}).to_string(),
                0,
            ),
            (
                Dialect::Copilot,
                json!({"permissionDecision": "deny", "permissionDecisionReason": WORDS})
                    .to_string(),
                0,
            ),
            (
                Dialect::Cline,
                json!({"cancel": true, "errorMessage": WORDS}).to_string(),
                1,
            ),
            (
                Dialect::Goose,
                json!({"decision": "block", "reason": WORDS}).to_string(),
                0,
            ),
        ] {
            assert_eq!(
                heard(dialect, &said(&stdout, "", code)),
                Heard::Denied,
                "{dialect:?}"
            );
        }
        for dialect in [
            Dialect::Claude,
            Dialect::Strict,
            Dialect::ExitCode,
            Dialect::Goose,
        ] {
            assert_eq!(heard(dialect, &said("", WORDS, 2)), Heard::Denied);
        }
    }

    /// Another agent's words, an exit code that says nothing there, an empty reason.
    #[test]
    fn what_an_agent_does_not_understand_is_no_denial() {
        let nested = json!({"hookSpecificOutput": {"permissionDecision": "deny",
            "permissionDecisionReason": WORDS}})
        .to_string();
        let without = json!({"hookSpecificOutput": {"permissionDecision": "deny"}}).to_string();
        for (dialect, stdout, stderr, code) in [
            (Dialect::Claude, "{}", WORDS, 1),
            (Dialect::Strict, without.as_str(), "", 0),
            (Dialect::Strict, nested.as_str(), "", 1),
            (Dialect::Strict, "", "", 2),
            (Dialect::Gemini, nested.as_str(), WORDS, 2),
            (Dialect::Gemini, "", "", 2),
            (Dialect::Gemini, "", WORDS, 1),
            (Dialect::Copilot, nested.as_str(), "", 0),
            (Dialect::Cline, nested.as_str(), WORDS, 2),
            (Dialect::ExitCode, nested.as_str(), WORDS, 0),
            (Dialect::Goose, nested.as_str(), WORDS, 1),
        ] {
            let heard = heard(dialect, &said(stdout, stderr, code));
            assert!(
                matches!(heard, Heard::Allowed(_)),
                "{dialect:?} {stdout}: {heard:?}"
            );
        }
    }

    #[test]
    fn a_hook_that_only_fails_is_told_from_one_that_judges() {
        let heard = heard(Dialect::Copilot, &said("", "no such file", 127));
        assert_eq!(heard, Heard::Refused("no such file".into()));
    }

    #[cfg(unix)]
    #[test]
    fn a_command_is_run_as_it_stands() {
        let ask = |line: &str| {
            let here = std::env::temp_dir();
            ask(
                &Call::Line(line.into()),
                &json!({"a": 1}),
                Dialect::Strict,
                &here,
            )
        };
        assert_eq!(
            ask(&format!("cat >/dev/null; echo '{WORDS}' >&2; exit 2")),
            Heard::Denied
        );
        assert_eq!(ask("exit 3"), Heard::Allowed("it ends with code 3".into()));
        let direct = Call::Direct {
            program: "/nowhere/holdpoint".into(),
            arguments: Vec::new(),
        };
        let silent = super::ask(&direct, &json!({}), Dialect::Claude, &std::env::temp_dir());
        assert!(matches!(silent, Heard::Silent(_)));
    }
}
