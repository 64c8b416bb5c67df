//! Gemini CLI's records: chats (one document, or a line for each change) and `stream-json` output;
//! and what Qwen Code, which descends from it, still writes its way.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::replay::call::{Uttered, arguments, arguments_at};
use crate::replay::loose::{Text, Time, elements, object};
use crate::replay::record::{Context, Record, RecordContent};
use crate::replay::{Outcome, Writer};

/// A call in a chat, with what became of it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ToolCallRecord<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Text<'a>,
    timestamp: Time,
    #[serde(borrow, rename = "agentId")]
    agent: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    timestamp: Time,
    #[serde(borrow, rename = "toolCalls")]
    tool_calls: Option<&'a RawValue>,
}

/// Whether a record is of a chat: its head, a message, a change of either, or all of it.
pub(crate) fn is_chat(record: &Record<'_>) -> bool {
    record.tool_calls.is_some()
        || record.set.is_some()
        || record.kind.is("gemini")
        || record.project.get().is_some() && record.claude_session.get().is_some()
        || record.messages.is_some() && record.claude_session.get().is_some()
}

pub(crate) fn chat(
    context: &mut Context,
    record: &Record<'_>,
    content: &mut RecordContent,
) -> bool {
    context.writer = Some(Writer::GeminiCli);
    context.enter(record.claude_session.get());
    calls(record.tool_calls, record.timestamp, content);
    messages(record.messages, content);
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Change<'a> {
        #[serde(borrow)]
        messages: Option<&'a RawValue>,
    }
    if let Some(change) = content.part::<Change<'_>>(record.set) {
        messages(change.messages, content);
    }
    true
}

fn messages(raw: Option<&RawValue>, content: &mut RecordContent) {
    for message in elements(raw) {
        if let Some(message) = content.part::<Message<'_>>(Some(message)) {
            calls(message.tool_calls, message.timestamp, content);
        }
    }
}

fn calls(raw: Option<&RawValue>, time: Time, content: &mut RecordContent) {
    for raw in elements(raw) {
        let Some(call) = content.part::<ToolCallRecord<'_>>(Some(raw)) else {
            continue;
        };
        let mut made = Uttered::new(
            call.id.get(),
            call.name.get().unwrap_or_default(),
            arguments_at(call.args),
        );
        made.time = call.timestamp.0.or(time.0);
        made.subagent = call.agent.get().is_some();
        made.outcome = outcome(call.status.get());
        made.at = raw.get().as_ptr() as usize;
        content.calls.push(made);
    }
}

/// Whether a record is of `stream-json` output.
pub(crate) fn is_stream(kind: &str, record: &Record<'_>) -> bool {
    match kind {
        "tool_use" => record.tool_name.get().is_some(),
        "tool_result" => record.tool_id.get().is_some(),
        "init" => record.session_id.get().is_some(),
        "message" => record.role.get().is_some() && record.timestamp.0.is_some(),
        _ => false,
    }
}

pub(crate) fn stream(
    context: &mut Context,
    kind: &str,
    record: &Record<'_>,
    content: &mut RecordContent,
) -> bool {
    context.writer = Some(Writer::GeminiCli);
    context.enter(record.session_id.get());
    match kind {
        "tool_use" => content.calls.push(Uttered::new(
            record.tool_id.get(),
            record.tool_name.get().unwrap_or_default(),
            arguments_at(record.parameters),
        )),
        "tool_result" => content.outcome(record.tool_id.get(), outcome(record.status.get())),
        _ => {}
    }
    true
}

/// The parts of one of Qwen Code's messages.
pub(crate) fn parts(
    kind: &str,
    raw: Option<&RawValue>,
    record: &Record<'_>,
    content: &mut RecordContent,
) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Part<'a> {
        #[serde(borrow, rename = "functionCall")]
        call: Option<&'a RawValue>,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Result<'a> {
        #[serde(borrow, rename = "callId")]
        id: Text<'a>,
        #[serde(borrow)]
        status: Text<'a>,
    }
    if kind == "assistant" {
        for part in elements(raw) {
            let part = content.part::<Part<'_>>(Some(part));
            let call = part.and_then(|part| content.part::<ToolCallRecord<'_>>(part.call));
            let Some(call) = call else {
                continue;
            };
            let (id, tool) = (call.id.get(), call.name.get().unwrap_or_default());
            let mut made = wrapped(id, tool, call.args)
                .unwrap_or_else(|| Uttered::new(id, tool, arguments_at(call.args)));
            made.subagent = record.sidechain.0;
            content.calls.push(made);
        }
    }
    if let Some(result) = object::<Result<'_>>(record.tool_call_result) {
        content.outcome(result.id.get(), outcome(result.status.get()));
    }
    true
}

/// The call inside one of Qwen Code's `tool_call`, which its hooks see in place of it.
pub(crate) fn wrapped(id: Option<&str>, tool: &str, raw: Option<&RawValue>) -> Option<Uttered> {
    if tool != "tool_call" {
        return None;
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Inner<'a> {
        #[serde(borrow)]
        name: Text<'a>,
        #[serde(borrow)]
        arguments: Option<&'a RawValue>,
    }
    let inner = object::<Inner<'_>>(raw)?;
    let name = inner.name.get()?;
    let input = match inner.arguments.map(RawValue::get) {
        // Arguments may be JSON in a text.
        Some(text) if text.starts_with('"') => serde_json::from_str::<Text<'_>>(text)
            .ok()
            .and_then(|Text(text)| text)
            .map_or(Ok(Value::Null), |text| arguments(&text)),
        _ => arguments_at(inner.arguments),
    };
    Some(Uttered::new(id, name, input))
}

/// What a status says; nothing while the call is under way.
fn outcome(status: Option<&str>) -> Option<Outcome> {
    match status? {
        "success" => Some(Outcome::Ran),
        "error" => Some(Outcome::Failed),
        "cancelled" | "canceled" => Some(Outcome::Rejected),
        _ => None,
    }
}
