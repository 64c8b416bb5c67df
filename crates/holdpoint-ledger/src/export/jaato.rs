//! The events of jaato's permission plugin: a line for each call whose end is known, in the names of its
//! document, so that what reads its ledger reads ours.
//!
//! A call that is asked about is one event, when it is released, refused or not answered in time; jaato writes
//! none before. What an agent asks in its own dialog is not known here and leaves no event.

use std::collections::HashMap;

use holdpoint_core::Verdict;
use serde_json::{Value, json};

use crate::record::{Kind, Record};

/// The most requests whose arguments are kept until they end. Of one beyond it the event has none.
const MAX_OPEN: usize = 10_000;

/// The arguments of calls that are held: what ends a hold does not repeat them.
#[derive(Debug, Default)]
pub(super) struct Held {
    inputs: HashMap<String, Value>,
}

impl Held {
    /// The event of a record, if it has one.
    pub(super) fn event(&mut self, record: &Record) -> Option<Value> {
        match record.kind {
            Kind::Decision => {
                let allowed = match record.verdict? {
                    Verdict::Allow | Verdict::Notify | Verdict::Contain => true,
                    Verdict::Deny => false,
                    Verdict::Ask | Verdict::Review => return None,
                };
                let method = record.method.as_deref().unwrap_or("unknown");
                Some(check(record, record.input.clone(), allowed, method))
            }
            Kind::HoldOpened => {
                if let (Some(id), Some(input)) = (request(record), &record.input)
                    && self.inputs.len() < MAX_OPEN
                {
                    self.inputs.insert(id.to_owned(), input.clone());
                }
                None
            }
            Kind::HoldAnswered => match detail(record, "answer")? {
                "no" | "never" | "comment" => Some(self.ended(record, false, "user_denied")),
                // A yes is followed by the release, or by the refusal of what has changed.
                _ => None,
            },
            Kind::Release => Some(self.ended(record, true, "user_approved")),
            Kind::HoldExpired => Some(self.ended(record, false, "timeout")),
            Kind::Error => {
                let event = match record.tool {
                    Some(_) => "permission-error",
                    // Nothing could be judged at all.
                    None => "permission-init-error",
                };
                Some(json!({
                    "event": event,
                    "ts": record.time,
                    "tool": record.tool,
                    "args": record.input,
                    "error": record.reason,
                }))
            }
            Kind::Result
            | Kind::TextFinding
            | Kind::PolicyChange
            | Kind::SessionRule
            | Kind::Repair
            | Kind::Checkpoint => None,
        }
    }

    fn ended(&mut self, record: &Record, allowed: bool, method: &str) -> Value {
        let input = request(record).and_then(|id| self.inputs.remove(id));
        check(record, input, allowed, method)
    }
}

fn check(record: &Record, input: Option<Value>, allowed: bool, method: &str) -> Value {
    json!({
        "event": "permission-check",
        "ts": record.time,
        "tool": record.tool,
        "args": input.unwrap_or_else(|| json!({})),
        "allowed": allowed,
        "reason": record.reason,
        "method": method,
        "user": record.approver,
    })
}

fn request(record: &Record) -> Option<&str> {
    detail(record, "request")
}

fn detail<'r>(record: &'r Record, key: &str) -> Option<&'r str> {
    record.detail.as_ref()?.get(key)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(records: &[Value]) -> Vec<Value> {
        let mut held = Held::default();
        let records = records.iter().map(|it| {
            let mut record = json!({"v": 1, "seq": 0, "prev": "", "time": "2026-11-16T03:40:12Z", "tool": "Bash"});
            let fields = record.as_object_mut().unwrap();
            fields.extend(it.as_object().unwrap().clone());
            Record::parse(&serde_json::to_vec(&record).unwrap()).unwrap()
        });
        records.filter_map(|record| held.event(&record)).collect()
    }

    #[test]
    fn a_call_is_one_event_when_its_end_is_known() {
        let input = json!({"command": "git push"});
        let found = events(&[
            json!({"kind": "decision", "verdict": "allow", "method": "whitelist", "input": {"command": "ls"}, "reason": "r"}),
            json!({"kind": "decision", "verdict": "deny", "method": "blacklist"}),
            json!({"kind": "decision", "verdict": "ask", "method": "default"}),
            json!({"kind": "hold_opened", "input": input, "detail": {"request": "a"}}),
            json!({"kind": "hold_answered", "detail": {"request": "a", "answer": "yes"}}),
            json!({"kind": "release", "detail": {"request": "a"}}),
            json!({"kind": "hold_opened", "input": input, "detail": {"request": "b"}}),
            json!({"kind": "hold_answered", "approver": "dana", "detail": {"request": "b", "answer": "no"}}),
            json!({"kind": "hold_expired", "detail": {"request": "c"}}),
            json!({"kind": "error", "reason": "broke"}),
            json!({"kind": "error", "reason": "broke", "tool": null}),
            json!({"kind": "checkpoint"}),
        ]);
        let short: Vec<_> = found
            .iter()
            .map(|it| {
                (
                    it["event"].as_str().unwrap(),
                    it["allowed"].as_bool(),
                    it["method"].as_str(),
                )
            })
            .collect();
        assert_eq!(
            short,
            [
                ("permission-check", Some(true), Some("whitelist")),
                ("permission-check", Some(false), Some("blacklist")),
                ("permission-check", Some(true), Some("user_approved")),
                ("permission-check", Some(false), Some("user_denied")),
                ("permission-check", Some(false), Some("timeout")),
                ("permission-error", None, None),
                ("permission-init-error", None, None),
            ]
        );
        assert_eq!(found[0]["args"], json!({"command": "ls"}));
        assert_eq!(found[2]["args"], input);
        assert_eq!(found[3]["user"], "dana");
    }
}
