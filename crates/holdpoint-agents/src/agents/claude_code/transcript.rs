//! Claude Code's records, and those of agents that write like it: `assistant` and `user` messages
//! whose content are blocks, in transcripts and in `stream-json` output alike.
//!
//! A request is kept beside the messages it was made of (`api-request-blob`), so a call counts
//! only where an `assistant` record has it.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::agents::gemini::transcript as gemini;
use crate::replay::call::{Uttered, arguments_at};
use crate::replay::loose::{Flag, Text, elements, object};
use crate::replay::record::{Context, Record, RecordContent};
use crate::replay::{Outcome, Writer};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    /// Qwen Code's form of it.
    #[serde(borrow)]
    parts: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_id: Text<'a>,
    is_error: Flag,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

/// A record with a message in it.
pub(crate) fn message(
    context: &mut Context,
    kind: &str,
    record: &Record<'_>,
    content: &mut RecordContent,
) -> bool {
    place(context, record);
    match kind {
        "assistant" | "user" | "tool_result" => {}
        "progress" => return progress(context, record, content),
        _ => return record.claude_session.get().is_some() || record.session_id.get().is_some(),
    }
    let Some(message) = content.part::<Message<'_>>(record.message) else {
        return false;
    };
    if message.parts.is_some() {
        context.writer = Some(Writer::QwenCode);
        return gemini::parts(kind, message.parts, record, content);
    }
    let writer = *context.writer.get_or_insert(Writer::ClaudeCode);
    let subagent = record.sidechain.0 || record.parent_tool_use_id.get().is_some();
    for block in elements(message.content) {
        let Some(block) = content.part::<Block<'_>>(Some(block)) else {
            continue;
        };
        match block.kind.get() {
            Some("tool_use") if kind == "assistant" => {
                let mut call = made(writer, &block);
                call.subagent = subagent;
                content.calls.push(call);
            }
            Some("tool_result") if kind == "user" => {
                content.outcome(block.tool_use_id.get(), Some(outcome(record, &block)));
            }
            _ => {}
        }
    }
    true
}

/// A record without a message: the start of a session, a title, a request.
pub(crate) fn other(context: &mut Context, kind: &str, record: &Record<'_>) -> bool {
    let known = !kind.is_empty()
        && (record.claude_session.get().is_some() || record.session_id.get().is_some());
    if known {
        if record.qwen_code_version.get().is_some() {
            context.writer = Some(Writer::QwenCode);
        }
        place(context, record);
    }
    known
}

/// A subagent's message, reported inside its parent's transcript.
fn progress(context: &mut Context, record: &Record<'_>, content: &mut RecordContent) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Data<'a> {
        #[serde(borrow)]
        message: Option<&'a RawValue>,
    }
    let data = content.part::<Data<'_>>(record.data);
    let inner = data.and_then(|data| content.part::<Record<'_>>(data.message));
    if let Some(inner) = inner
        && matches!(inner.kind.get(), Some("assistant" | "user"))
    {
        let from = content.calls.len();
        message(
            context,
            inner.kind.get().unwrap_or_default(),
            &inner,
            content,
        );
        for call in content.calls.iter_mut().skip(from) {
            call.subagent = true;
        }
    }
    true
}

fn place(context: &mut Context, record: &Record<'_>) {
    let session = record.claude_session.get().or(record.session_id.get());
    context.enter(session);
    context.stand(record.cwd.get());
}

fn made(writer: Writer, block: &Block<'_>) -> Uttered {
    let tool = block.name.get().unwrap_or_default();
    if writer == Writer::QwenCode
        && let Some(inner) = gemini::wrapped(block.id.get(), tool, block.input)
    {
        return inner;
    }
    Uttered::new(block.id.get(), tool, arguments_at(block.input))
}

/// What a result says about its call.
fn outcome(record: &Record<'_>, block: &Block<'_>) -> Outcome {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Permission<'a> {
        #[serde(borrow)]
        decision: Text<'a>,
        #[serde(borrow)]
        source: Text<'a>,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Meta<'a> {
        #[serde(borrow)]
        id: Text<'a>,
        #[serde(borrow)]
        non_execution_kind: Text<'a>,
        #[serde(borrow)]
        permission_decision: Option<&'a RawValue>,
    }
    let meta = elements(record.tool_result_meta)
        .into_iter()
        .filter_map(|meta| object::<Meta<'_>>(Some(meta)))
        .find(|meta| meta.id == block.tool_use_id)
        .unwrap_or_default();
    let permission = object::<Permission<'_>>(record.permission.or(meta.permission_decision))
        .unwrap_or_default();
    let kind = record.denial.get().or(meta.non_execution_kind.get());
    if permission.decision.is("reject") || kind.is_some() {
        let by_person = kind == Some("user-rejected")
            || permission
                .source
                .get()
                .is_some_and(|source| source.starts_with("user"));
        return if by_person {
            Outcome::Rejected
        } else {
            Outcome::Refused
        };
    }
    if !block.is_error.0 {
        return Outcome::Ran;
    }
    // Older releases say it in the text alone.
    let text = result_text(block.content);
    if REJECTIONS.iter().any(|opening| text.starts_with(opening)) {
        Outcome::Rejected
    } else if text.starts_with("Permission to use ") && text.contains(" denied") {
        Outcome::Refused
    } else {
        Outcome::Failed
    }
}

/// How the text begins that stands in place of a result if the person said no.
const REJECTIONS: &[&str] = &[
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action",
    "[Request interrupted by user",
];

/// The text of a result: a string, or the first of its blocks.
fn result_text(raw: Option<&RawValue>) -> String {
    let Some(raw) = raw else {
        return String::new();
    };
    if let Ok(Text(Some(text))) = serde_json::from_str::<Text<'_>>(raw.get()) {
        return text.into_owned();
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Part<'a> {
        #[serde(borrow)]
        text: Text<'a>,
    }
    elements(Some(raw))
        .first()
        .and_then(|part| object::<Part<'_>>(Some(part)))
        .and_then(|part| part.text.0)
        .map(std::borrow::Cow::into_owned)
        .unwrap_or_default()
}
