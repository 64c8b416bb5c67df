//! Calls as the ledger has them, for whoever judges them again.

use std::path::Path;

use holdpoint_core::ToolCall;
use holdpoint_ledger::{Kind, Record};
use serde_json::Value;

/// What a record says of a call.
#[derive(Debug)]
pub enum OnRecord {
    /// The call, as it was made, and where.
    Whole {
        /// The call.
        call: ToolCall,
        /// The directory it was made in, if that is on record.
        directory: Option<String>,
    },
    /// A call of which something was taken out or cut off: judging what is left would be judging
    /// another call.
    Shortened,
    /// No call somebody made.
    None,
}

/// The call a record is about.
pub fn on_record(record: &Record, home: Option<&Path>) -> OnRecord {
    if record.kind != Kind::Decision || record.is_replayed() {
        return OnRecord::None;
    }
    let (Some(tool), Some(input)) = (record.tool.as_deref(), &record.input) else {
        return OnRecord::Shortened;
    };
    if !is_whole(input) {
        return OnRecord::Shortened;
    }
    match ToolCall::new(tool, input.clone()) {
        Ok(call) => OnRecord::Whole {
            call,
            directory: directory(record, home),
        },
        Err(_) => OnRecord::Shortened,
    }
}

/// The directory a record names, with the home in place of `~`.
pub(super) fn directory(record: &Record, home: Option<&Path>) -> Option<String> {
    let written = record.directory.as_deref()?;
    let whole = match (written.strip_prefix('~'), home.and_then(Path::to_str)) {
        (Some(rest), Some(home)) => format!("{home}{rest}"),
        _ => written.to_owned(),
    };
    whole.starts_with('/').then_some(whole)
}

/// Whether nothing was taken out of arguments and nothing cut off. The walk is as deep as what it
/// walks, which the ledger's reader has bounded.
fn is_whole(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.contains('…') && !has_marker(text),
        Value::Array(items) => items.iter().all(is_whole),
        Value::Object(map) => map
            .iter()
            .all(|(key, value)| !has_marker(key) && is_whole(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Whether something in a text was redacted: `[TOKEN]` or `[TOKEN:9f3ac2d1]`.
pub(super) fn has_marker(text: &str) -> bool {
    text.split('[').skip(1).any(|rest| {
        let word: String = rest
            .chars()
            .take_while(|sign| sign.is_ascii_uppercase() || *sign == '_')
            .collect();
        let after = rest.chars().nth(word.len());
        word.len() > 1 && matches!(after, Some(']' | ':'))
    })
}
