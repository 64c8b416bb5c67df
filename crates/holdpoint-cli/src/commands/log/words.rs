//! A record in few words: what became of a call, and what the call was.

use std::borrow::Cow;

use holdpoint_engine::{SUMMARY_ARGUMENTS, Verdict};
use holdpoint_ledger::{Kind, Record};
use serde_json::Value;

use crate::terminal::{Terminal, escape_for_display};

/// What happened, in one word, and the verdict it looks like.
pub(super) fn outcome(record: &Record) -> (&'static str, Option<Verdict>) {
    let runs = record.verdict.map(Verdict::runs);
    match record.kind {
        Kind::Decision => match record.verdict {
            Some(verdict) if record.is_replayed() => (looking_back(verdict), Some(verdict)),
            Some(verdict) => (verdict.as_str(), Some(verdict)),
            None => ("judged", None),
        },
        Kind::HoldOpened => ("held", Some(Verdict::Ask)),
        Kind::HoldAnswered => match runs {
            Some(true) => ("approved", Some(Verdict::Allow)),
            Some(false) => ("refused", Some(Verdict::Deny)),
            None => ("answered", None),
        },
        Kind::HoldExpired => ("expired", Some(Verdict::Deny)),
        Kind::Release => ("released", Some(Verdict::Allow)),
        Kind::Result => ("ran", None),
        Kind::TextFinding => found(record),
        Kind::PolicyChange => ("policy", Some(Verdict::Notify)),
        Kind::SessionRule => ("session", Some(Verdict::Notify)),
        Kind::Repair => ("repair", Some(Verdict::Review)),
        Kind::Checkpoint => ("signed", None),
        Kind::Error => ("error", Some(Verdict::Deny)),
    }
}

/// What became of a text in which something was found.
fn found(record: &Record) -> (&'static str, Option<Verdict>) {
    let action = record
        .detail
        .as_ref()
        .and_then(|it| it.get("action")?.as_str());
    match action {
        Some("annotate") => ("noted", Some(Verdict::Notify)),
        Some("quarantine") => ("cleaned", Some(Verdict::Review)),
        Some("block") => ("withheld", Some(Verdict::Deny)),
        Some(_) | None => ("finding", Some(Verdict::Review)),
    }
}

/// What would have happened to a call that was replayed.
fn looking_back(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "would allow",
        Verdict::Notify => "would notify",
        Verdict::Contain => "would contain",
        Verdict::Ask => "would ask",
        Verdict::Review => "would review",
        Verdict::Deny => "would deny",
    }
}

/// What it is about: the call itself where there is one, else why.
pub(super) fn about(record: &Record) -> String {
    if let Some(call) = record.input.as_ref().and_then(call) {
        return call;
    }
    let own = match record.kind {
        Kind::Checkpoint => record.detail.as_ref().and_then(signed),
        Kind::Repair => record.detail.as_ref().map(mended),
        Kind::Decision
        | Kind::HoldOpened
        | Kind::HoldAnswered
        | Kind::HoldExpired
        | Kind::Release
        | Kind::Result
        | Kind::TextFinding
        | Kind::PolicyChange
        | Kind::SessionRule
        | Kind::Error => None,
    };
    own.or_else(|| record.part.clone())
        .or_else(|| record.reason.clone())
        .or_else(|| record.detail.as_ref().map(Value::to_string))
        .unwrap_or_default()
}

fn call(input: &Value) -> Option<String> {
    let members = input.as_object()?;
    let telling = SUMMARY_ARGUMENTS
        .iter()
        .find_map(|name| members.get(*name)?.as_str());
    match telling {
        Some(text) => Some(text.to_owned()),
        None if members.is_empty() => None,
        None => Some(input.to_string()),
    }
}

fn signed(detail: &Value) -> Option<String> {
    let size = detail.get("note")?.as_str()?.lines().nth(1)?;
    Some(format!("{size} records signed"))
}

/// A repair as its record tells it.
fn mended(detail: &Value) -> String {
    match serde_json::from_value(detail.clone()) {
        Ok(mend) => super::upkeep::told(&mend),
        Err(_) => detail.to_string(),
    }
}

/// A stored line: as it is for other programs; for a terminal, what it would act on is escaped.
pub(super) fn stored<'l>(line: &'l [u8], terminal: &Terminal) -> Cow<'l, [u8]> {
    if terminal.width().is_none() || line.iter().all(|byte| (b' '..0x7f).contains(byte)) {
        return line.into();
    }
    let mut safe = String::with_capacity(line.len());
    for c in String::from_utf8_lossy(line).chars() {
        if escape_for_display(c.encode_utf8(&mut [0; 4]), 1)
            .chars()
            .eq([c])
        {
            safe.push(c);
        } else {
            let units = c.encode_utf16(&mut [0; 2]).to_vec();
            safe.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    safe.into_bytes().into()
}
