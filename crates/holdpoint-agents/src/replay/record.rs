//! One record of a transcript, whoever wrote it: which format it is of, and what it tells. The fields stand in each
//! agent's folder, alike as some are: a format changes by itself, and then one file changes.

use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::call::Uttered;
use super::loose::{Flag, Text, Time, is_object, object};
use super::{Outcome, Writer};
use crate::agents::claude_code::transcript as claude_code;
use crate::agents::codex::transcript as codex;
use crate::agents::gemini::transcript as gemini;

/// The fields by which records are told apart, and the small ones all of them have. What is large
/// is passed over and read again only where a call may stand in it.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Record<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Text<'a>,
    pub(crate) timestamp: Time,
    #[serde(borrow)]
    pub(crate) session_id: Text<'a>,
    #[serde(borrow, rename = "sessionId")]
    pub(crate) claude_session: Text<'a>,
    #[serde(borrow)]
    pub(crate) cwd: Text<'a>,
    #[serde(rename = "isSidechain")]
    pub(crate) sidechain: Flag,
    #[serde(borrow)]
    pub(crate) parent_tool_use_id: Text<'a>,
    #[serde(borrow)]
    pub(crate) message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) data: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) qwen_code_version: Text<'a>,
    #[serde(borrow, rename = "permissionDecision")]
    pub(crate) permission: Option<&'a RawValue>,
    #[serde(borrow, rename = "toolDenialKind")]
    pub(crate) denial: Text<'a>,
    #[serde(borrow)]
    pub(crate) tool_result_meta: Option<&'a RawValue>,
    #[serde(borrow, rename = "toolCallResult")]
    pub(crate) tool_call_result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) payload: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) item: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) items: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) thread_id: Text<'a>,
    #[serde(borrow, rename = "toolCalls")]
    pub(crate) tool_calls: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) messages: Option<&'a RawValue>,
    #[serde(borrow, rename = "$set")]
    pub(crate) set: Option<&'a RawValue>,
    #[serde(borrow, rename = "projectHash")]
    pub(crate) project: Text<'a>,
    #[serde(borrow)]
    pub(crate) tool_name: Text<'a>,
    #[serde(borrow)]
    pub(crate) tool_id: Text<'a>,
    #[serde(borrow)]
    pub(crate) parameters: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) status: Text<'a>,
    #[serde(borrow)]
    pub(crate) role: Text<'a>,
}

/// What a record tells.
#[derive(Debug, Default)]
pub(crate) struct RecordContent {
    /// Calls, in order.
    pub(crate) calls: Vec<Uttered>,
    /// What became of earlier calls, by their ids.
    pub(crate) outcomes: Vec<(String, Outcome)>,
    /// Whether a part in which a call may stand cannot be read.
    pub(crate) unreadable: bool,
}

impl RecordContent {
    /// A part in which a call may stand. One that is no object has none; of one that cannot be
    /// read nobody knows.
    pub(crate) fn part<'a, T: Deserialize<'a>>(&mut self, raw: Option<&'a RawValue>) -> Option<T> {
        let read = object(raw);
        self.unreadable |= read.is_none() && raw.is_some_and(is_object);
        read
    }

    pub(crate) fn outcome(&mut self, id: Option<&str>, outcome: Option<Outcome>) {
        if let (Some(id), Some(outcome)) = (id, outcome) {
            self.outcomes.push((id.to_owned(), outcome));
        }
    }
}

/// What the records of a transcript have said so far, and holds for those that follow.
#[derive(Debug, Default)]
pub(crate) struct Context {
    pub(crate) writer: Option<Writer>,
    pub(crate) session: Option<Arc<str>>,
    /// Where the agent was started: the first directory of the session.
    pub(crate) workspace: Option<Arc<str>>,
    pub(crate) directory: Option<Arc<str>>,
}

impl Context {
    /// Reads a record; `text` is all of it. False if its form is not known.
    pub(crate) fn read(
        &mut self,
        record: &Record<'_>,
        text: &str,
        content: &mut RecordContent,
    ) -> bool {
        let kind = record.kind.get().unwrap_or_default();
        if !kind.is_empty() && record.payload.is_some() {
            codex::rollout(self, kind, record, content)
        } else if codex::is_event(kind) {
            codex::event(self, kind, record, content)
        } else if gemini::is_chat(record) {
            gemini::chat(self, record, content)
        } else if gemini::is_stream(kind, record) {
            gemini::stream(self, kind, record, content)
        } else if codex::is_item(kind) {
            codex::bare_item(self, text, content)
        } else if record.items.is_some() {
            codex::old_document(self, record, content)
        } else if record.message.is_some() || record.data.is_some() {
            claude_code::message(self, kind, record, content)
        } else {
            claude_code::other(self, kind, record)
        }
    }

    /// Takes over which session a record is of. Another session starts anew.
    pub(crate) fn enter(&mut self, session: Option<&str>) {
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
    pub(crate) fn stand(&mut self, directory: Option<&str>) {
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
pub(crate) fn absolute(directory: &str) -> Option<&str> {
    let directory = directory.strip_prefix("file://").unwrap_or(directory);
    Path::new(directory).is_absolute().then_some(directory)
}
