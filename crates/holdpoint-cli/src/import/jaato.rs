//! jaato: `permissions.json`, which is nearly a policy already.

use holdpoint_core::document;
use holdpoint_core::policy::Document;
use serde_json::{Map, Value};

use super::Imported;

pub(super) fn read(name: &str, text: &str, into: &mut Imported) -> Result<(), String> {
    let mut whole: Map<String, Value> =
        document::read(name, text.as_bytes()).map_err(|error| error.message())?;
    // J-02: without a default it is a no, which is what the profile says.
    for (key, value) in std::mem::take(&mut whole) {
        // Each key by itself, so that one that is not known takes no other with it (J-04).
        let alone = Value::Object(Map::from_iter([(key.clone(), value.clone())])).to_string();
        match (
            key.as_str(),
            document::read::<Document>(name, alone.as_bytes()),
        ) {
            // It was looked at when the profile was chosen.
            ("version", Ok(_)) => {}
            ("channel", _) => channel(&value, into),
            (_, Ok(_)) => into.set(&key, value),
            // An error in a rule is not a rule left out: nobody knows what it was to deny.
            (
                "version" | "defaultPolicy" | "blacklist" | "whitelist" | "sanitization",
                Err(error),
            ) => {
                return Err(error.message());
            }
            (_, Err(_)) => into.left(key, "no such key is known: jaato ignores it as well"),
        }
    }
    Ok(())
}

/// How a person is asked: what jaato's document has, as far as it is a channel here.
fn channel(value: &Value, into: &mut Imported) {
    let kind = value.get("type").and_then(Value::as_str);
    let known = ["console", "webhook", "file"];
    match kind.filter(|kind| known.contains(kind)) {
        Some(_) => {
            let alone = Value::Object(Map::from_iter([("channel".to_owned(), value.clone())]));
            match document::read::<Document>("channel", alone.to_string().as_bytes()) {
                Ok(_) => into.set("channel", value.clone()),
                Err(error) => into.left("channel", error.message()),
            }
        }
        None => into.left(
            "channel",
            "no such channel is known: the approval daemon asks, if it runs (docs/channels.md)",
        ),
    }
}
