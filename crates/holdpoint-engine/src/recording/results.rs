//! What the ledger says of a call that has run: how it ended, and how long it took. What it gave is
//! not recorded.

use std::time::Duration;

use holdpoint_broker::CallContext;
use holdpoint_core::text::redaction::Redactor;
use holdpoint_core::{Policy, ToolCall};
use holdpoint_ledger::{Detail, Digest, Durability, Entry, Kind};
use serde_json::{Map, Value, json};

use super::{RecordError, Recorder};
use crate::excerpt::brief;

/// A call that has run.
#[derive(Clone, Copy, Debug)]
pub struct Ran<'a> {
    /// Who made it, and where.
    pub asked: &'a CallContext,
    /// The call as it was made: by it the record of the decision is found.
    pub call: &'a ToolCall,
    /// The call as it ran, if a person changed its arguments.
    pub edited: Option<&'a ToolCall>,
    /// The request a person answered.
    pub request: Option<&'a str>,
    /// How it ended.
    pub ended: Ended<'a>,
    /// How long it took.
    pub took: Duration,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended<'a> {
    /// It gave a result.
    Returned,
    /// It failed, for this reason.
    Failed(&'a str),
    /// It was called off while it ran.
    Cancelled,
}

impl Recorder {
    /// Records what came of a call that ran.
    pub fn result(&self, ran: &Ran<'_>, policy: Option<&Policy>) -> Result<(), RecordError> {
        let redactor = match policy {
            Some(policy) => self.redactor(policy)?,
            None => self.plain_redactor(),
        };
        self.ledger
            .append(&entry(ran, &redactor), Durability::Written)?;
        Ok(())
    }
}

fn entry(ran: &Ran<'_>, redactor: &Redactor) -> Entry {
    let text = |text: &str| brief(redactor, text);
    let (word, reason) = match ran.ended {
        Ended::Returned => ("returned", None),
        Ended::Failed(error) => ("failed", Some(error)),
        Ended::Cancelled => ("cancelled", None),
    };
    let mut detail = Map::new();
    detail.insert("ended".into(), json!(word));
    if let Some(request) = ran.request {
        detail.insert("request".into(), json!(request));
    }
    if let Some(edited) = ran.edited {
        detail.insert("edited".into(), json!(true));
        detail.insert("runs".into(), json!(edited.digest()));
    }
    Entry {
        agent: Some(text(&ran.asked.agent)),
        session: Some(text(&ran.asked.session)),
        directory: Some(text(&ran.asked.directory)),
        tool: Some(text(ran.call.tool())),
        reason: reason.map(text),
        call: Digest::parse(&ran.call.digest()),
        duration: Some(ran.took),
        detail: Some(Detail::Of(redactor.json(&Value::Object(detail)).0)),
        ..Entry::new(Kind::Result)
    }
}
