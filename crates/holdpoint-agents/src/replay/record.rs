//! One record of a transcript, whoever wrote it: which format it is of, and what it tells.

use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::call::Uttered;
use super::loose::{Flag, Text, Time, is_object, object};
use super::{Outcome, Writer, claude_code, codex, gemini};

/// The fields by which records are told apart, and the small ones all of them have. What is large
/// is passed over and read again only where a call may stand in it.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Record<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) timestamp: Time,
    #[serde(borrow)]
    pub(super) session_id: Text<'a>,
    #[serde(borrow, rename = "sessionId")]
    pub(super) claude_session: Text<'a>,
    #[serde(borrow)]
    pub(super) cwd: Text<'a>,
    #[serde(rename = "isSidechain")]
    pub(super) sidechain: Flag,
    #[serde(borrow)]
    pub(super) parent_tool_use_id: Text<'a>,
    #[serde(borrow)]
    pub(super) message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) data: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) qwen_code_version: Text<'a>,
    #[serde(borrow, rename = "permissionDecision")]
    pub(super) permission: Option<&'a RawValue>,
    #[serde(borrow, rename = "toolDenialKind")]
    pub(super) denial: Text<'a>,
    #[serde(borrow)]
    pub(super) tool_result_meta: Option<&'a RawValue>,
    #[serde(borrow, rename = "toolCallResult")]
    pub(super) tool_call_result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) payload: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) item: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) items: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) thread_id: Text<'a>,
    #[serde(borrow, rename = "toolCalls")]
    pub(super) tool_calls: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) messages: Option<&'a RawValue>,
    #[serde(borrow, rename = "$set")]
    pub(super) set: Option<&'a RawValue>,
    #[serde(borrow, rename = "projectHash")]
    pub(super) project: Text<'a>,
    #[serde(borrow)]
    pub(super) tool_name: Text<'a>,
    #[serde(borrow)]
    pub(super) tool_id: Text<'a>,
    #[serde(borrow)]
    pub(super) parameters: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) status: Text<'a>,
    #[serde(borrow)]
    pub(super) role: Text<'a>,
}

/// What a record tells.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Calls, in order.
    pub(super) calls: Vec<Uttered>,
    /// What became of earlier calls, by their ids.
    pub(super) outcomes: Vec<(String, Outcome)>,
    /// Whether a part in which a call may stand cannot be read.
    pub(super) unreadable: bool,
}

impl Told {
    /// A part in which a call may stand. One that is no object has none; of one that cannot be
    /// read nobody knows.
    pub(super) fn part<'a, T: Deserialize<'a>>(&mut self, raw: Option<&'a RawValue>) -> Option<T> {
        let read = object(raw);
        self.unreadable |= read.is_none() && raw.is_some_and(is_object);
        read
    }

    pub(super) fn outcome(&mut self, id: Option<&str>, outcome: Option<Outcome>) {
        if let (Some(id), Some(outcome)) = (id, outcome) {
            self.outcomes.push((id.to_owned(), outcome));
        }
    }
}

/// What the records of a transcript have said so far, and holds for those that follow.
#[derive(Debug, Default)]
pub(super) struct Context {
    pub(super) writer: Option<Writer>,
    pub(super) session: Option<Arc<str>>,
    /// Where the agent was started: the first directory of the session.
    pub(super) workspace: Option<Arc<str>>,
    pub(super) directory: Option<Arc<str>>,
}

impl Context {
    /// Reads a record; `text` is all of it. False if its form is not known.
    pub(super) fn read(&mut self, record: &Record<'_>, text: &str, told: &mut Told) -> bool {
        let kind = record.kind.get().unwrap_or_default();
        if !kind.is_empty() && record.payload.is_some() {
            codex::rollout(self, kind, record, told)
        } else if codex::is_event(kind) {
            codex::event(self, kind, record, told)
        } else if gemini::is_chat(record) {
            gemini::chat(self, record, told)
        } else if gemini::is_stream(kind, record) {
            gemini::stream(self, kind, record, told)
        } else if codex::is_item(kind) {
            codex::bare_item(self, text, told)
        } else if record.items.is_some() {
            codex::old_document(self, record, told)
        } else if record.message.is_some() || record.data.is_some() {
            claude_code::message(self, kind, record, told)
        } else {
            claude_code::other(self, kind, record)
        }
    }

    /// Takes over which session a record is of. Another session starts anew.
    pub(super) fn enter(&mut self, session: Option<&str>) {
        let Some(session) = session.filter(|session| !session.is_empty()) else {
            return;
        };
        if self.session.as_deref() != Some(session) {
            self.session = Some(session.into());
            self.workspace = None;
            self.directory = None;
        }
    }

    /// Takes over where the agent stands.
    pub(super) fn stand(&mut self, directory: Option<&str>) {
        let Some(directory) = directory.and_then(absolute) else {
            return;
        };
        if self.directory.as_deref() != Some(directory) {
            self.directory = Some(directory.into());
        }
        if self.workspace.is_none() {
            self.workspace.clone_from(&self.directory);
        }
    }
}

/// A directory that can be stood in: absolute, with or without `file://` before it.
pub(super) fn absolute(directory: &str) -> Option<&str> {
    let directory = directory.strip_prefix("file://").unwrap_or(directory);
    Path::new(directory).is_absolute().then_some(directory)
}
