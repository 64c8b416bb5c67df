//! Codex's records: rollouts, whose records wrap an item or an event, and the output of
//! `codex exec --json`.
//!
//! Codex has several names for running a command; its hooks see all of them as `Bash`, and so does
//! the judge. A call made by code the model wrote (`exec`) has no record of its own when it is
//! made, only when it is done; it is taken from there.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::replay::call::{Uttered, arguments, arguments_at, one};
use crate::replay::loose::{Number, Text, elements, is_object, object};
use crate::replay::record::{Context, Record, RecordContent, absolute};
use crate::replay::{Outcome, Writer};

/// An item of a rollout or of `exec --json`, or an event; they share their fields.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Item<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    call_id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    namespace: Text<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    action: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Text<'a>,
    exit_code: Number,
    #[serde(borrow)]
    command: Option<&'a RawValue>,
    #[serde(borrow)]
    cwd: Text<'a>,
    #[serde(borrow)]
    changes: Option<&'a RawValue>,
    #[serde(borrow)]
    server: Text<'a>,
    #[serde(borrow)]
    tool: Text<'a>,
    #[serde(borrow)]
    query: Text<'a>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
}

/// A record of a rollout.
pub(crate) fn rollout(
    context: &mut Context,
    kind: &str,
    record: &Record<'_>,
    content: &mut RecordContent,
) -> bool {
    let payload = content.part::<Item<'_>>(record.payload);
    let known = match (kind, &payload) {
        ("session_meta", Some(meta)) => {
            context.enter(meta.id.get());
            context.stand(meta.cwd.get());
            true
        }
        ("turn_context", Some(turn)) => {
            context.stand(turn.cwd.get());
            true
        }
        ("response_item", Some(item)) => {
            asked(context, item, content);
            true
        }
        ("event_msg", Some(event)) if event.kind.is("item_completed") => {
            if let Some(item) = content.part::<Item<'_>>(event.item) {
                done(&item, content);
            }
            true
        }
        ("event_msg", Some(event)) => {
            if event.kind.is("exec_command_end") {
                content.outcome(event.call_id.get(), by_code(event));
            }
            true
        }
        // A newer release's record.
        _ => context.writer == Some(Writer::Codex),
    };
    if known {
        context.writer = Some(Writer::Codex);
    }
    known
}

/// Whether a record is of `codex exec --json`.
pub(crate) fn is_event(kind: &str) -> bool {
    ["thread.", "turn.", "item."]
        .iter()
        .any(|start| kind.starts_with(start))
}

pub(crate) fn event(
    context: &mut Context,
    kind: &str,
    record: &Record<'_>,
    content: &mut RecordContent,
) -> bool {
    context.writer = Some(Writer::Codex);
    context.enter(record.thread_id.get());
    if kind.starts_with("item.")
        && let Some(item) = content.part::<Item<'_>>(record.item)
    {
        done(&item, content);
    }
    true
}

/// Whether a record is an item by itself, as rollouts of the first releases have them.
pub(crate) fn is_item(kind: &str) -> bool {
    matches!(
        kind,
        "function_call"
            | "function_call_output"
            | "custom_tool_call"
            | "custom_tool_call_output"
            | "local_shell_call"
            | "local_shell_call_output"
    )
}

pub(crate) fn bare_item(context: &mut Context, text: &str, content: &mut RecordContent) -> bool {
    context.writer = Some(Writer::Codex);
    match serde_json::from_str::<Item<'_>>(text) {
        Ok(item) => asked(context, &item, content),
        Err(_) => content.unreadable = true,
    }
    true
}

/// A rollout that is one document, with its items in a list.
pub(crate) fn old_document(
    context: &mut Context,
    record: &Record<'_>,
    content: &mut RecordContent,
) -> bool {
    let mut known = false;
    for item in elements(record.items) {
        if let Some(item) = content.part::<Item<'_>>(Some(item))
            && item.kind.get().is_some_and(is_item)
        {
            context.writer = Some(Writer::Codex);
            asked(context, &item, content);
            known = true;
        }
    }
    known
}

/// What the model asks for, and what it was answered.
fn asked(context: &Context, item: &Item<'_>, content: &mut RecordContent) {
    let id = item.call_id.get().or(item.id.get());
    match item.kind.get().unwrap_or_default() {
        "function_call" => {
            let name = match (item.namespace.get(), item.name.get().unwrap_or_default()) {
                (Some(space), name) if !name.starts_with(space) => {
                    format!("{}__{name}", space.trim_end_matches('_'))
                }
                (_, name) => name.to_owned(),
            };
            let mut call = function(id, &name, text_or_json(item.arguments));
            from_standing(context, &mut call);
            content.calls.push(call);
        }
        "custom_tool_call" => {
            let name = item.name.get().unwrap_or_default();
            let input = text(item.input).unwrap_or_default();
            let key = if name == "apply_patch" {
                "command"
            } else {
                "code"
            };
            content
                .calls
                .push(Uttered::new(id, name, Ok(one(key, &input))));
        }
        "local_shell_call" => {
            let mut call = function(id, "local_shell", arguments_at(item.action));
            from_standing(context, &mut call);
            content.calls.push(call);
        }
        "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
            content.outcome(item.call_id.get(), item.output.map(answered));
        }
        _ => {}
    }
}

/// A directory a call names is from where the agent stands.
fn from_standing(context: &Context, call: &mut Uttered) {
    let Some(named) = call.directory.take() else {
        return;
    };
    call.directory = match (absolute(&named), &context.directory) {
        (Some(directory), _) => Some(directory.to_owned()),
        (None, Some(standing)) => Some(format!("{standing}/{named}")),
        (None, None) => None,
    };
}

/// What was done: a call with what became of it.
fn done(item: &Item<'_>, content: &mut RecordContent) {
    let id = item.id.get();
    let kind = item.kind.get().unwrap_or_default();
    let mut call = match kind {
        "command_execution" | "CommandExecution" => {
            let mut call = match item.command.map(RawValue::get) {
                Some(words) if words.starts_with('[') => {
                    function(id, "shell", arguments(&format!("{{\"command\":{words}}}")))
                }
                _ => Uttered::shell(id, &text(item.command).unwrap_or_default()),
            };
            call.directory = item.cwd.get().and_then(absolute).map(str::to_owned);
            call
        }
        "file_change" | "FileChange" => {
            Uttered::new(id, "apply_patch", Ok(one("command", &patch(item.changes))))
        }
        "mcp_tool_call" | "McpToolCall" => {
            let (server, tool) = (item.server.get(), item.tool.get());
            let name = format!(
                "mcp__{}__{}",
                server.unwrap_or_default(),
                tool.unwrap_or_default()
            );
            Uttered::new(id, &name, arguments_at(item.arguments))
        }
        "web_search" => {
            let query = item.query.get().unwrap_or_default();
            Uttered::new(id, "web_search", Ok(one("query", query)))
        }
        _ => return,
    };
    call.outcome = by_code(item);
    call.only_if_new = true;
    content.calls.push(call);
}

/// The outcome by status and exit code; nothing while the call is under way.
fn by_code(item: &Item<'_>) -> Option<Outcome> {
    match (item.status.get(), item.exit_code.0) {
        (Some("declined"), _) => Some(Outcome::Rejected),
        (Some("in_progress" | "inProgress"), _) => None,
        (Some("failed"), _) => Some(Outcome::Failed),
        (_, Some(code)) if code != 0 => Some(Outcome::Failed),
        (Some("completed"), _) | (_, Some(_)) => Some(Outcome::Ran),
        (_, None) => None,
    }
}

/// The function call a model writes, in the words of the hooks.
fn function(id: Option<&str>, name: &str, input: Result<Value, String>) -> Uttered {
    let runs = matches!(
        name,
        "exec_command" | "shell" | "shell_command" | "local_shell" | "container.exec"
    );
    match input {
        Ok(Value::Object(mut fields)) if runs => {
            let directory = ["workdir", "working_directory"]
                .iter()
                .find_map(|key| fields.get(*key)?.as_str())
                .filter(|directory| !directory.is_empty())
                .map(str::to_owned);
            let mut call = match fields.remove("cmd").or_else(|| fields.remove("command")) {
                Some(Value::Array(words)) => started(id, &words),
                Some(other) => {
                    let mut input = Map::new();
                    input.insert("command".into(), other);
                    Uttered::new(id, "Bash", Ok(Value::Object(input)))
                }
                None => Uttered::new(id, "Bash", Ok(Value::Object(fields))),
            };
            call.directory = directory;
            call
        }
        Ok(other) if runs => Uttered::new(id, "Bash", Ok(other)),
        input => Uttered::new(id, if runs { "Bash" } else { name }, input),
    }
}

/// A program started with words.
fn started(id: Option<&str>, words: &[Value]) -> Uttered {
    let texts: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
    match texts.as_deref() {
        // What the agent itself runs through a shell is the command.
        Some([shell, "-lc" | "-c", script]) if is_shell(shell) => Uttered::shell(id, script),
        Some(["apply_patch" | "applypatch", patch]) => {
            Uttered::new(id, "apply_patch", Ok(one("command", patch)))
        }
        Some(words) => {
            let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            Uttered::shell(id, &quoted.join(" "))
        }
        None => Uttered::new(
            id,
            "Bash",
            Err("the command's words are not all text".into()),
        ),
    }
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    matches!(name, "bash" | "sh" | "zsh" | "dash")
}

/// A word as a shell would have to be given it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The changes of files as a patch without its content.
fn patch(changes: Option<&RawValue>) -> String {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Change<'a> {
        #[serde(borrow)]
        path: Text<'a>,
        #[serde(borrow)]
        kind: Text<'a>,
        #[serde(borrow, rename = "type")]
        form: Text<'a>,
    }
    let mut text = String::from("*** Begin Patch\n");
    let mut add = |path: &str, kind: Option<&str>| {
        let header = match kind {
            Some("add") => "Add",
            Some("delete") => "Delete",
            _ => "Update",
        };
        text.push_str(&format!("*** {header} File: {path}\n"));
    };
    match changes {
        // By path.
        Some(raw) if is_object(raw) => {
            let by_path: std::collections::BTreeMap<String, &RawValue> =
                serde_json::from_str(raw.get()).unwrap_or_default();
            for (path, change) in by_path {
                let change = object::<Change<'_>>(Some(change)).unwrap_or_default();
                add(&path, change.form.get());
            }
        }
        raw => {
            for change in elements(raw) {
                let change = object::<Change<'_>>(Some(change)).unwrap_or_default();
                if let Some(path) = change.path.get() {
                    add(path, change.kind.get());
                }
            }
        }
    }
    text.push_str("*** End Patch\n");
    text
}

/// What an answer to the model says about its call: the tool's own text does not count.
fn answered(output: &RawValue) -> Outcome {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Wrapped<'a> {
        #[serde(borrow)]
        metadata: Option<&'a RawValue>,
    }
    let whole = text(Some(output)).unwrap_or_default();
    let metadata = serde_json::from_str::<Wrapped<'_>>(&whole)
        .ok()
        .filter(|_| whole.starts_with('{'))
        .and_then(|wrapped| object::<Item<'_>>(wrapped.metadata));
    if let Some(outcome) = metadata.and_then(|metadata| by_code(&metadata)) {
        return outcome;
    }
    let head = match whole.split_once("\nOutput:\n") {
        Some((head, _)) => head,
        None => whole.lines().next().unwrap_or_default(),
    };
    let says = |words: &[&str]| words.iter().any(|word| head.contains(word));
    let code = ["Process exited with code ", "Exit code: "]
        .iter()
        .find_map(|words| head.split_once(words))
        .map(|(_, rest)| rest.lines().next().unwrap_or_default().trim());
    match code {
        Some("0") => Outcome::Ran,
        Some(_) => Outcome::Failed,
        None if says(&["rejected by user", "aborted by user"]) => Outcome::Rejected,
        None if says(&["blocked by PreToolUse hook", "blocked by policy"]) => Outcome::Refused,
        None if says(&["failed for `", "exec_command failed", "Script failed"]) => Outcome::Failed,
        None => Outcome::Ran,
    }
}

/// A text, or the first text of a list of parts.
fn text(raw: Option<&RawValue>) -> Option<String> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Part<'a> {
        #[serde(borrow)]
        text: Text<'a>,
        #[serde(borrow)]
        content: Text<'a>,
    }
    let raw = raw?;
    if let Ok(Text(Some(text))) = serde_json::from_str::<Text<'_>>(raw.get()) {
        return Some(text.into_owned());
    }
    let part = match elements(Some(raw)).first() {
        Some(first) => object::<Part<'_>>(Some(first)),
        None => object::<Part<'_>>(Some(raw)),
    }?;
    let text = part.text.0.or(part.content.0)?;
    Some(text.into_owned())
}

/// Arguments, which are JSON in a text, or plain JSON.
fn text_or_json(raw: Option<&RawValue>) -> Result<Value, String> {
    match raw.map(RawValue::get) {
        Some(json) if json.starts_with('"') => match serde_json::from_str::<Text<'_>>(json) {
            Ok(Text(Some(text))) => arguments(&text),
            _ => Err("the arguments cannot be read".into()),
        },
        _ => arguments_at(raw),
    }
}
