//! A request as the tests of the channels ask it; those of the webhook, in the daemon's crate, too.

use std::time::Duration;

use serde_json::Value;

use super::{Edit, Request, UnixMillis, Waiting};

pub(super) fn request() -> Request {
    serde_json::from_str(include_str!("sample.json")).unwrap()
}

/// A request with two arguments that can be edited, and a secret in a third.
pub(super) fn edited_request() -> Request {
    let mut request = request();
    let value = |text: &str| Value::String(text.into());
    request
        .asked
        .input
        .insert("token".into(), value("made-up-secret"));
    request
        .display
        .arguments
        .insert("token".into(), value("[hidden]"));
    request.display.hidden = vec!["token".into()];
    request.original = Some(request.asked.input.clone());
    let changed = value("git push origin main");
    request
        .asked
        .input
        .insert("command".into(), changed.clone());
    request.display.arguments.insert("command".into(), changed);
    request.edits.push(Edit {
        by: "ann".into(),
        at: UnixMillis(1_794_800_413_000),
        changed: vec!["command".into()],
        diff: "--- command\n+++ command\n@@ -1 +1 @@\n-git push --force origin main\n+git push origin main\n".into(),
    });
    request
}

pub(super) fn waiting(millis: u64) -> Waiting<'static> {
    Waiting {
        limit: Some(Duration::from_millis(millis)),
        cancelled: &|| false,
    }
}
