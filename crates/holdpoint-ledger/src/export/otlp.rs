//! Logs of OpenTelemetry, in the JSON form of its protocol.
//!
//! One line is one `ExportLogsServiceRequest`, which a collector takes from a file or over HTTP.
//! As in every JSON form of Protocol Buffers, 64-bit numbers are texts.

use holdpoint_core::{Risk, Verdict};
use serde_json::{Value, json};

use super::{Origin, PRODUCT, is_loss, message};
use crate::chain::RecordHash;
use crate::record::{Kind, Record};

/// The most log records in one request.
pub(super) const BATCH: usize = 500;

/// A request that carries these log records.
pub(super) fn request(records: Vec<Value>, origin: &Origin) -> Value {
    let mut resource = vec![
        attribute("service.name", text("holdpoint")),
        attribute("service.version", text(&origin.version)),
    ];
    if !origin.ledger.is_empty() {
        resource.push(attribute("service.instance.id", text(&origin.ledger)));
    }
    json!({
        "resourceLogs": [{
            "resource": { "attributes": resource },
            "scopeLogs": [{
                "scope": { "name": "holdpoint.ledger", "version": origin.version },
                "logRecords": records,
            }],
        }],
    })
}

/// A record as a log record.
pub(super) fn log_record(record: &Record, line: &[u8]) -> Value {
    let (number, name) = severity(record);
    let nanos = record
        .timestamp()
        .map_or(0, |time| u128::from(time.micros()) * 1000);
    json!({
        "timeUnixNano": nanos.to_string(),
        "observedTimeUnixNano": nanos.to_string(),
        "severityNumber": number,
        "severityText": name,
        "eventName": format!("holdpoint.{}", record.kind.as_str()),
        "body": text(&format!("{PRODUCT}: {}", message(record))),
        "attributes": attributes(record, line),
    })
}

fn attributes(record: &Record, line: &[u8]) -> Vec<Value> {
    let hash = RecordHash::from_line(line).to_string();
    let texts = [
        ("holdpoint.kind", Some(record.kind.as_str())),
        ("gen_ai.agent.name", record.agent.as_deref()),
        ("session.id", record.session.as_deref()),
        ("holdpoint.directory", record.directory.as_deref()),
        ("gen_ai.tool.name", record.tool.as_deref()),
        ("holdpoint.verdict", record.verdict.map(Verdict::as_str)),
        ("holdpoint.method", record.method.as_deref()),
        ("holdpoint.rule", record.rule.as_deref()),
        ("holdpoint.risk", record.risk.map(Risk::as_str)),
        ("holdpoint.reason", record.reason.as_deref()),
        ("holdpoint.part", record.part.as_deref()),
        ("holdpoint.call", record.call.as_deref()),
        ("holdpoint.policy", record.policy.as_deref()),
        ("holdpoint.approver", record.approver.as_deref()),
        ("holdpoint.sandbox", record.sandbox.as_deref()),
        ("holdpoint.prev", Some(record.prev.as_str())),
        ("holdpoint.hash", Some(hash.as_str())),
    ];
    let numbers = [
        ("holdpoint.seq", Some(record.seq)),
        ("holdpoint.version", Some(u64::from(record.v))),
        ("holdpoint.duration_us", record.duration_us),
    ];
    let values = [
        ("gen_ai.tool.call.arguments", &record.input),
        ("holdpoint.detail", &record.detail),
    ];
    let texts = texts
        .iter()
        .filter_map(|(key, found)| Some(attribute(key, text((*found)?))));
    let numbers = numbers
        .iter()
        .filter_map(|(key, found)| Some(attribute(key, number(&(*found)?.into()))));
    let values = values
        .iter()
        .filter_map(|(key, found)| Some(attribute(key, any(found.as_ref()?))));
    texts.chain(numbers).chain(values).collect()
}

fn attribute(key: &str, value: Value) -> Value {
    json!({ "key": key, "value": value })
}

fn text(text: &str) -> Value {
    json!({ "stringValue": text })
}

/// A number that fits 64 bits with a sign is one; any other is not cut but written out.
fn number(number: &serde_json::Number) -> Value {
    match (number.as_i64(), number.as_f64()) {
        (Some(whole), _) => json!({ "intValue": whole.to_string() }),
        (None, Some(_)) if number.is_u64() => text(&number.to_string()),
        (None, Some(double)) => json!({ "doubleValue": double }),
        (None, None) => text(&number.to_string()),
    }
}

/// Any value with its type. JSON is as deep as its reader lets it be, so this ends.
fn any(value: &Value) -> Value {
    match value {
        // A value without a type stands for none.
        Value::Null => json!({}),
        Value::Bool(yes) => json!({ "boolValue": yes }),
        Value::Number(found) => number(found),
        Value::String(found) => text(found),
        Value::Array(values) => {
            let values: Vec<Value> = values.iter().map(any).collect();
            json!({ "arrayValue": { "values": values } })
        }
        Value::Object(members) => {
            let values: Vec<Value> = members
                .iter()
                .map(|(key, value)| attribute(key, any(value)))
                .collect();
            json!({ "kvlistValue": { "values": values } })
        }
    }
}

/// How serious it is, and the short name of that.
fn severity(record: &Record) -> (u8, &'static str) {
    const INFO: (u8, &str) = (9, "INFO");
    const INFO2: (u8, &str) = (10, "INFO2");
    const WARN: (u8, &str) = (13, "WARN");
    const WARN2: (u8, &str) = (14, "WARN2");
    const ERROR: (u8, &str) = (17, "ERROR");
    match record.kind {
        Kind::Decision => match record.verdict {
            Some(Verdict::Allow) | None => INFO,
            Some(Verdict::Notify | Verdict::Contain) => INFO2,
            Some(Verdict::Ask) => WARN,
            Some(Verdict::Review) => WARN2,
            Some(Verdict::Deny) => ERROR,
        },
        Kind::HoldAnswered | Kind::Release | Kind::Result | Kind::Checkpoint => INFO,
        Kind::PolicyChange | Kind::SessionRule => INFO2,
        Kind::HoldOpened | Kind::HoldExpired => WARN,
        Kind::TextFinding if record.risk >= Some(Risk::High) => ERROR,
        Kind::TextFinding => WARN,
        Kind::Repair if is_loss(record) => ERROR,
        Kind::Repair => WARN,
        Kind::Error => ERROR,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{bare, full, origin};
    use super::*;

    /// What the definition of a log record and of its values allows.
    fn check_record(record: &Value) {
        for (name, value) in record.as_object().unwrap() {
            match name.as_str() {
                "timeUnixNano" | "observedTimeUnixNano" => {
                    value.as_str().unwrap().parse::<u64>().unwrap();
                }
                "severityNumber" => assert!((1..=24).contains(&value.as_u64().unwrap())),
                "severityText" | "eventName" => assert!(!value.as_str().unwrap().is_empty()),
                "body" => check_value(value),
                "attributes" => check_list(value),
                name => panic!("a log record has no {name}"),
            }
        }
    }

    fn check_list(list: &Value) {
        let mut keys = Vec::new();
        for entry in list.as_array().unwrap() {
            let entry = entry.as_object().unwrap();
            assert_eq!(entry.len(), 2);
            keys.push(entry["key"].as_str().unwrap().to_owned());
            check_value(&entry["value"]);
        }
        let count = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), count, "a key stands once");
    }

    fn check_value(value: &Value) {
        let members = value.as_object().unwrap();
        assert!(members.len() <= 1, "{value}");
        for (name, value) in members {
            match name.as_str() {
                "stringValue" => assert!(value.is_string()),
                "boolValue" => assert!(value.is_boolean()),
                "intValue" => drop(value.as_str().unwrap().parse::<i64>().unwrap()),
                "doubleValue" => assert!(value.is_f64()),
                "arrayValue" => value["values"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .for_each(check_value),
                "kvlistValue" => check_list(&value["values"]),
                name => panic!("no value is a {name}"),
            }
        }
    }

    #[test]
    fn every_kind_is_a_log_record() {
        for kind in Kind::ALL {
            for (record, line) in [full(kind), bare(kind)] {
                check_record(&log_record(&record, &line));
            }
        }
    }

    #[test]
    fn a_record_says_the_same_as_before() {
        let (record, line) = full(Kind::Decision);
        let written = log_record(&record, &line);
        assert_eq!(written["timeUnixNano"], "1794800412250000000");
        assert_eq!(written["severityText"], "ERROR");
        assert_eq!(
            written["body"]["stringValue"],
            "Holdpoint: decision: deny: Bash: because"
        );
        let find = |key: &str| {
            let all = written["attributes"].as_array().unwrap().clone();
            let found = all.into_iter().find(|one| one["key"] == key);
            found.unwrap_or_else(|| panic!("{key}"))["value"].clone()
        };
        assert_eq!(find("holdpoint.seq"), json!({"intValue": "7"}));
        assert_eq!(find("session.id"), json!({"stringValue": "s-1"}));
        let input = find("gen_ai.tool.call.arguments");
        let values = &input["kvlistValue"]["values"];
        assert_eq!(values.as_array().unwrap().len(), 3);
        let deep = values
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["key"] == "deep");
        assert_eq!(
            deep.unwrap()["value"],
            json!({"arrayValue": {"values": [{}, {"boolValue": true}, {"doubleValue": 1.5}]}})
        );
        assert_eq!(any(&json!(u64::MAX)), text("18446744073709551615"));
    }

    #[test]
    fn a_request_names_who_wrote_it() {
        let (record, line) = full(Kind::Error);
        let request = request(vec![log_record(&record, &line)], &origin());
        let logs = &request["resourceLogs"][0];
        check_list(&logs["resource"]["attributes"]);
        assert_eq!(logs["scopeLogs"][0]["scope"]["name"], "holdpoint.ledger");
        assert_eq!(
            logs["scopeLogs"][0]["logRecords"].as_array().unwrap().len(),
            1
        );
    }
}
