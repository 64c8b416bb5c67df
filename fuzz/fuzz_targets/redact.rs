//! Whatever a text holds, it is redacted: in bounded size, the same the second time, as JSON too.
//!
//! A secret that is handed over in a way nobody can mistake does not survive beside it.
#![no_main]

use holdpoint_text::redaction::{Marker, Redactor};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

const SECRET: &str = "hG7kQ2mZ9pL4vR8tY1wB6nC3";

fuzz_target!(|text: &str| {
    let redactor = Redactor::new()
        .redacting(Marker::Ip)
        .shortening_home("/home/me")
        .salted([5; 32]);
    let mut end = 0;
    for finding in redactor.find(text) {
        assert!(finding.span.start >= end, "findings overlap");
        assert!(text.get(finding.span.clone()).is_some(), "not in the text");
        end = finding.span.end;
    }
    let (once, _) = redactor.text_counted(text);
    assert!(once.as_str().len() <= text.len() * 12 + 64, "it grows");
    let (twice, kinds) = redactor.text_counted(once.as_str());
    assert!(kinds.is_empty() && once == twice, "{once} became {twice}");

    let given = format!("{text}\nAPI_TOKEN={SECRET}\n{text}");
    assert!(!redactor.text(&given).as_str().contains(SECRET), "{given}");

    let value = json!({text: [text, {"password": SECRET}], "text": text});
    let (redacted, _) = redactor.json(&value);
    let shown = redacted.to_string();
    assert!(text.contains(SECRET) || !shown.contains(SECRET), "{shown}");
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        let (once, _) = redactor.json(&value);
        assert_eq!(redactor.json(once.as_value()).0, once);
    }
});
