//! The question as another program reads it: the body of a webhook request, the content of a request
//! file (J-48). Nothing in it holds a secret that the display hides.

use std::collections::BTreeSet;

use holdpoint_core::{Risk, Timestamp};
use serde::Serialize;
use serde_json::{Map, Value};

use super::ChannelError;
use super::patience::Patience;
use crate::request::{CheckResult, Context, Display, Offer, Request};
use crate::time::UnixMillis;

/// The question.
#[derive(Serialize)]
pub struct Payload<'a> {
    request_id: &'a str,
    timestamp: String,
    tool_name: &'a str,
    arguments: &'a Map<String, Value>,
    /// 0 means that it waits until there is an answer.
    timeout_seconds: u128,
    default_on_timeout: &'static str,
    context: &'a Context,
    response_options: Vec<&'static str>,
    was_edited: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    original_arguments: Option<Map<String, Value>>,
    risk: Risk,
    reason: &'a str,
    rule: Option<&'a str>,
    binding: &'a str,
    checks: &'a [CheckResult],
    summary: &'a str,
    agent: &'a str,
    directory: &'a str,
    display: Shown<'a>,
    /// The rules `remember` may leave.
    offers: &'a [Offer],
    editable: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    phrase: Option<&'a str>,
    /// What came of the answer before this one, if it settled nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<&'a str>,
}

/// What of the display is not said elsewhere.
#[derive(Serialize)]
struct Shown<'a> {
    details: &'a str,
    format: crate::request::Format,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'a str>,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    original_lines: Option<usize>,
    warnings: &'a [crate::request::Warned],
    marks: &'a [crate::request::Mark],
}

impl<'a> Payload<'a> {
    /// The question about a request, to be answered within so many seconds.
    pub fn from_request(
        request: &'a Request,
        timeout_seconds: u128,
        notice: Option<&'a str>,
    ) -> Self {
        let display = &request.display;
        Self {
            request_id: &request.id,
            timestamp: written(request.opened),
            tool_name: &request.asked.tool,
            arguments: &display.arguments,
            timeout_seconds,
            default_on_timeout: "deny",
            context: &request.context,
            response_options: options(request),
            was_edited: request.was_edited(),
            original_arguments: original(request),
            risk: request.decision.risk,
            reason: &request.decision.reason,
            rule: request.decision.rule.as_deref(),
            binding: &request.binding,
            checks: &request.checks,
            summary: &display.summary,
            agent: &request.asked.agent,
            directory: &request.asked.directory,
            display: Shown::from_display(display),
            offers: &request.terms.offers,
            editable: &request.terms.editable,
            phrase: request.terms.phrase.as_deref(),
            notice,
        }
    }

    /// As JSON.
    pub fn text(&self) -> Vec<u8> {
        // Strings, numbers and maps with text keys have no way to fail.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

impl<'a> Shown<'a> {
    fn from_display(display: &'a Display) -> Self {
        Self {
            details: &display.details,
            format: display.format,
            language: display.language.as_deref(),
            truncated: display.truncated,
            original_lines: display.original_lines,
            warnings: &display.warnings,
            marks: &display.marks,
        }
    }
}

/// The seconds an answer may take, as the question says it.
pub fn seconds(patience: &Patience<'_>) -> Result<u128, ChannelError> {
    let left = patience.left()?;
    Ok(left.map_or(0, |left| left.as_millis().div_ceil(1000)))
}

/// A moment as RFC 3339 has it, in UTC.
fn written(moment: UnixMillis) -> String {
    Timestamp::from_micros(moment.0.saturating_mul(1000)).to_string()
}

/// The decisions that can have an effect.
fn options(request: &Request) -> Vec<&'static str> {
    let terms = &request.terms;
    let alone = terms.required <= 1;
    let offered = !terms.offers.is_empty();
    let words = [
        ("allow", true),
        ("deny", true),
        ("allow_once", true),
        ("allow_session", alone && offered),
        ("deny_session", offered),
        ("allow_all", alone && terms.suspendable),
        ("allow_turn", alone && terms.suspendable),
        ("allow_idle", alone && terms.suspendable),
        ("comment", true),
        ("edit", !terms.editable.is_empty()),
    ];
    let possible = words.into_iter().filter(|(_, possible)| *possible);
    possible.map(|(word, _)| word).collect()
}

/// The arguments before anybody changed them. What was changed held no secret, or it could not have
/// been changed; the rest is as the display has it.
fn original(request: &Request) -> Option<Map<String, Value>> {
    let before = request.original.as_ref()?;
    let changed: BTreeSet<&String> = request
        .edits
        .iter()
        .flat_map(|edit| &edit.changed)
        .collect();
    let mut all = request.display.arguments.clone();
    for key in changed {
        match before.get(key) {
            Some(value) => all.insert(key.clone(), value.clone()),
            None => all.remove(key),
        };
    }
    Some(all)
}
