//! OCSF 1.6.0 events, each in a `CloudEvents` 1.0 envelope.
//!
//! What an agent asked for and what became of it is API Activity (6003): the agent is the actor,
//! the tool the operation. A finding in a text is a Detection Finding (2004), a change of rules
//! Entity Management (3004), what the ledger says of itself Application Lifecycle (6002), a
//! failure an Application Error (6008).

use holdpoint_core::{Risk, Verdict};
use serde_json::{Map, Value, json};

use super::{Origin, PRODUCT, is_loss, message};
use crate::chain::RecordHash;
use crate::record::{Kind, Record};

const VERSION: &str = "1.6.0";

/// A kind of event.
struct Class {
    uid: u32,
    name: &'static str,
    caption: &'static str,
    category: &'static str,
}

// The schema's own classes, as its tables have them: one after the other, so that they can be compared with it.
const API_ACTIVITY: Class = Class {
    uid: 6003,
    name: "api_activity",
    caption: "API Activity",
    category: "Application Activity",
};
const DETECTION_FINDING: Class = Class {
    uid: 2004,
    name: "detection_finding",
    caption: "Detection Finding",
    category: "Findings",
};
const ENTITY_MANAGEMENT: Class = Class {
    uid: 3004,
    name: "entity_management",
    caption: "Entity Management",
    category: "Identity & Access Management",
};
const APPLICATION_LIFECYCLE: Class = Class {
    uid: 6002,
    name: "application_lifecycle",
    caption: "Application Lifecycle",
    category: "Application Activity",
};
const APPLICATION_ERROR: Class = Class {
    uid: 6008,
    name: "application_error",
    caption: "Application Error",
    category: "Application Activity",
};

/// A number of the schema and its caption.
type Coded = (u32, &'static str);

/// The activities of a class that stand for no other carry a caption of their own.
const OTHER: u32 = 99;

/// A record as an event in its envelope.
pub(super) fn event(record: &Record, line: &[u8], origin: &Origin) -> Value {
    let hash = RecordHash::from_line(line).to_string();
    let (class, activity) = class_of(record.kind);
    let mut envelope = json!({
        "specversion": "1.0",
        "id": hash,
        "source": source(origin),
        "type": format!("holdpoint.ledger.{}", record.kind.as_str()),
        "subject": format!("record/{}", record.seq),
        "datacontenttype": "application/json",
        "dataschema": format!("https://schema.ocsf.io/{VERSION}/classes/{}", class.name),
        "data": data(record, &hash, &class, activity, origin),
    });
    if let (Some(time), Some(members)) = (record.timestamp(), envelope.as_object_mut()) {
        members.insert("time".into(), time.to_string().into());
    }
    envelope
}

fn source(origin: &Origin) -> String {
    match origin.ledger.as_str() {
        "" => "/holdpoint/ledger".to_owned(),
        ledger => format!("/holdpoint/ledger/{ledger}"),
    }
}

/// What kind of event a record is, and which activity of it.
fn class_of(kind: Kind) -> (Class, Coded) {
    match kind {
        Kind::Decision => (API_ACTIVITY, (OTHER, "Judge")),
        Kind::HoldOpened => (API_ACTIVITY, (OTHER, "Hold")),
        Kind::HoldAnswered => (API_ACTIVITY, (OTHER, "Answer")),
        Kind::HoldExpired => (API_ACTIVITY, (OTHER, "Expire")),
        Kind::Release => (API_ACTIVITY, (OTHER, "Release")),
        Kind::Result => (API_ACTIVITY, (OTHER, "Run")),
        Kind::TextFinding => (DETECTION_FINDING, (1, "Create")),
        Kind::PolicyChange | Kind::SessionRule => (ENTITY_MANAGEMENT, (3, "Update")),
        Kind::Repair => (APPLICATION_LIFECYCLE, (OTHER, "Repair")),
        Kind::Checkpoint => (APPLICATION_LIFECYCLE, (OTHER, "Checkpoint")),
        Kind::Error => (APPLICATION_ERROR, (1, "General Error")),
    }
}

fn data(
    record: &Record,
    hash: &str,
    class: &Class,
    (activity_id, activity): Coded,
    origin: &Origin,
) -> Value {
    let (severity_id, severity) = severity(record);
    // Only the activity may have a caption of its own; the type is named by the schema.
    let kind = if activity_id == OTHER {
        "Other"
    } else {
        activity
    };
    let mut event = json!({
        "category_uid": class.uid / 1000,
        "category_name": class.category,
        "class_uid": class.uid,
        "class_name": class.caption,
        "activity_id": activity_id,
        "activity_name": activity,
        "type_uid": class.uid * 100 + activity_id,
        "type_name": format!("{}: {kind}", class.caption),
        "time": record.timestamp().map_or(0, |time| time.micros() / 1000),
        "severity_id": severity_id,
        "severity": severity,
        "message": message(record),
        "metadata": metadata(record, hash, origin),
    });
    let Some(members) = event.as_object_mut() else {
        return event;
    };
    let mut add = |name: &str, value: Option<Value>| {
        members.extend(value.map(|value| (name.to_owned(), value)));
    };
    add("status_detail", record.reason.clone().map(Value::from));
    add("status_code", record.method.clone().map(Value::from));
    add(
        "duration",
        record.duration_us.map(|micros| json!(micros / 1000)),
    );
    add("unmapped", unmapped(record));
    match record.kind {
        Kind::Decision
        | Kind::HoldOpened
        | Kind::HoldAnswered
        | Kind::HoldExpired
        | Kind::Release
        | Kind::Result => {
            add("actor", Some(actor(record)));
            add("api", Some(api(record, hash)));
            add("src_endpoint", Some(json!({ "svc_name": agent(record) })));
            control(record, &mut add);
        }
        Kind::TextFinding => {
            add("actor", Some(actor(record)));
            add("finding_info", Some(finding(record, hash)));
            add("status_id", Some(json!(1)));
            add("status", Some(json!("New")));
            control(record, &mut add);
        }
        Kind::PolicyChange | Kind::SessionRule => {
            add("actor", Some(actor(record)));
            add("entity", Some(entity(record)));
            add("status_id", Some(json!(1)));
            add("status", Some(json!("Success")));
        }
        Kind::Repair | Kind::Checkpoint => {
            add("app", Some(product(origin)));
            add("status_id", Some(json!(1)));
            add("status", Some(json!("Success")));
        }
        Kind::Error => {
            add("status_id", Some(json!(2)));
            add("status", Some(json!("Failure")));
        }
    }
    event
}

fn metadata(record: &Record, hash: &str, origin: &Origin) -> Value {
    let profiles: &[&str] = match record.kind {
        Kind::TextFinding => &["host", "security_control"],
        Kind::Decision
        | Kind::HoldOpened
        | Kind::HoldAnswered
        | Kind::HoldExpired
        | Kind::Release
        | Kind::Result => &["security_control"],
        Kind::PolicyChange | Kind::SessionRule | Kind::Repair | Kind::Checkpoint | Kind::Error => {
            &[]
        }
    };
    let mut metadata = json!({
        "version": VERSION,
        "product": product(origin),
        "uid": hash,
        "sequence": record.seq,
        "event_code": record.kind.as_str(),
        "log_name": "ledger",
        "log_provider": "holdpoint",
        "log_version": record.v.to_string(),
        "original_time": record.time,
        "profiles": profiles,
    });
    // What was said of one call belongs together.
    if let (Some(call), Some(members)) = (&record.call, metadata.as_object_mut()) {
        members.insert("correlation_uid".into(), call.as_str().into());
    }
    metadata
}

fn product(origin: &Origin) -> Value {
    json!({ "name": PRODUCT, "vendor_name": PRODUCT, "version": origin.version })
}

/// Who asked; what Holdpoint does by itself it does as itself.
fn agent(record: &Record) -> &str {
    record.agent.as_deref().unwrap_or("holdpoint")
}

fn actor(record: &Record) -> Value {
    let mut actor = Map::new();
    actor.insert("app_name".into(), agent(record).into());
    if let Some(session) = &record.session {
        actor.insert("session".into(), json!({ "uid": session }));
    }
    if let Some(approver) = &record.approver {
        actor.insert("user".into(), json!({ "name": approver }));
    }
    actor.into()
}

fn api(record: &Record, hash: &str) -> Value {
    let mut request = json!({ "uid": record.call.as_deref().unwrap_or(hash) });
    if let (Some(input), Some(members)) = (&record.input, request.as_object_mut()) {
        members.insert("data".into(), input.clone());
    }
    json!({
        "operation": record.tool.as_deref().unwrap_or("unknown"),
        "service": { "name": agent(record) },
        "request": request,
    })
}

fn finding(record: &Record, hash: &str) -> Value {
    let title = record.reason.as_deref().unwrap_or("A finding in a text");
    let mut finding = json!({ "uid": hash, "title": title });
    let Some(members) = finding.as_object_mut() else {
        return finding;
    };
    if let Some(time) = record.timestamp() {
        members.insert("created_time".into(), json!(time.micros() / 1000));
    }
    if let Some(rule) = &record.rule {
        let analytic = json!({ "type_id": 1, "type": "Rule", "name": rule, "uid": rule });
        members.insert("analytic".into(), analytic);
    }
    finding
}

fn entity(record: &Record) -> Value {
    let (name, kind) = if record.kind == Kind::SessionRule {
        ("session rules", "session")
    } else {
        ("policy", "policy")
    };
    let name = record.part.as_deref().unwrap_or(name);
    let mut entity = json!({ "name": name, "type": kind });
    if let (Some(policy), Some(members)) = (&record.policy, entity.as_object_mut()) {
        members.insert("version".into(), policy.as_str().into());
    }
    entity
}

/// What the gate did: the attributes of the profile `security_control`.
fn control(record: &Record, add: &mut dyn FnMut(&str, Option<Value>)) {
    let (action, disposition) = outcome(record);
    add("action_id", Some(action.0.into()));
    add("action", Some(action.1.into()));
    add("disposition_id", Some(disposition.0.into()));
    add("disposition", Some(disposition.1.into()));
    let alert = disposition.0 != ALLOWED.0 && record.risk >= Some(Risk::High);
    add("is_alert", Some(alert.into()));
    if let Some(risk) = record.risk {
        let (id, caption) = risk_level(risk);
        add("risk_level_id", Some(id.into()));
        add("risk_level", Some(caption.into()));
    }
    if let Some(policy) = &record.policy {
        add(
            "policy",
            Some(json!({ "name": "holdpoint", "uid": policy })),
        );
    }
    if let (Some(rule), Some(verdict)) = (&record.rule, record.verdict) {
        let authorization = json!({ "decision": verdict.as_str(), "policy": { "name": rule } });
        add("authorizations", Some(json!([authorization])));
    }
    if record.kind == Kind::TextFinding {
        return;
    }
    let (id, caption) = match action {
        ACTION_ALLOWED => (1, "Success"),
        ACTION_DENIED => (2, "Failure"),
        _ => (OTHER, "Held"),
    };
    add("status_id", Some(id.into()));
    add("status", Some(caption.into()));
}

const ACTION_UNKNOWN: Coded = (0, "Unknown");
const ACTION_ALLOWED: Coded = (1, "Allowed");
const ACTION_DENIED: Coded = (2, "Denied");

const ALLOWED: Coded = (1, "Allowed");
const BLOCKED: Coded = (2, "Blocked");
const ISOLATED: Coded = (4, "Isolated");
const QUARANTINED: Coded = (3, "Quarantined");
const APPROVED: Coded = (8, "Approved");
const DELAYED: Coded = (14, "Delayed");
const DETECTED: Coded = (15, "Detected");
const REJECTED: Coded = (25, "Rejected");

/// The action that was taken and the disposition it led to.
fn outcome(record: &Record) -> (Coded, Coded) {
    match (record.kind, record.verdict) {
        (Kind::HoldAnswered, Some(Verdict::Allow | Verdict::Notify | Verdict::Contain)) => {
            (ACTION_ALLOWED, APPROVED)
        }
        (Kind::HoldAnswered, Some(Verdict::Deny)) => (ACTION_DENIED, REJECTED),
        (Kind::HoldExpired, _) => (ACTION_DENIED, BLOCKED),
        (Kind::Release, _) => (ACTION_ALLOWED, APPROVED),
        (Kind::Result, _) => (ACTION_ALLOWED, ALLOWED),
        (_, Some(Verdict::Deny)) => (ACTION_DENIED, BLOCKED),
        (Kind::TextFinding, _) => match record.detail.as_ref().and_then(action_on_text) {
            Some("block") => (ACTION_DENIED, BLOCKED),
            Some("quarantine") => (ACTION_DENIED, QUARANTINED),
            Some(_) | None => (ACTION_UNKNOWN, DETECTED),
        },
        (_, Some(Verdict::Allow | Verdict::Notify)) => (ACTION_ALLOWED, ALLOWED),
        (_, Some(Verdict::Contain)) => (ACTION_ALLOWED, ISOLATED),
        (_, Some(Verdict::Ask | Verdict::Review) | None) => (ACTION_UNKNOWN, DELAYED),
    }
}

/// What was done about a text.
fn action_on_text(detail: &Value) -> Option<&str> {
    detail.get("action")?.as_str()
}

fn severity(record: &Record) -> Coded {
    match (record.risk, record.kind) {
        (Some(Risk::None), _) => (1, "Informational"),
        (Some(Risk::Low), _) => (2, "Low"),
        (Some(Risk::Medium), _) => (3, "Medium"),
        (Some(Risk::High), _) => (4, "High"),
        (Some(Risk::Critical), _) => (5, "Critical"),
        (None, Kind::Repair) if is_loss(record) => (4, "High"),
        (None, Kind::Error | Kind::TextFinding) => (3, "Medium"),
        (None, _) => (1, "Informational"),
    }
}

fn risk_level(risk: Risk) -> Coded {
    match risk {
        Risk::None => (0, "Info"),
        Risk::Low => (1, "Low"),
        Risk::Medium => (2, "Medium"),
        Risk::High => (3, "High"),
        Risk::Critical => (4, "Critical"),
    }
}

/// What the schema has no place for, by its own name.
fn unmapped(record: &Record) -> Option<Value> {
    let mut rest = Map::new();
    rest.insert("prev".into(), record.prev.as_str().into());
    for (name, value) in [
        ("directory", &record.directory),
        ("part", &record.part),
        ("sandbox", &record.sandbox),
    ] {
        if let Some(value) = value {
            rest.insert(name.into(), value.as_str().into());
        }
    }
    if let Some(detail) = &record.detail {
        rest.insert("detail".into(), detail.clone());
    }
    Some(rest.into())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{bare, full, origin};
    use super::*;

    /// What `CloudEvents` 1.0 asks of an event in its JSON form.
    fn check_envelope(event: &Value) {
        let members = event.as_object().unwrap();
        for required in ["id", "source", "specversion", "type"] {
            assert!(
                !members[required].as_str().unwrap().is_empty(),
                "{required}"
            );
        }
        assert_eq!(members["specversion"], "1.0");
        for name in members.keys() {
            assert!(
                name.bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()),
                "{name}"
            );
        }
        if let Some(time) = members.get("time") {
            assert!(crate::Timestamp::parse(time.as_str().unwrap()).is_some());
        }
        assert!(
            members["dataschema"]
                .as_str()
                .unwrap()
                .starts_with("https://")
        );
        assert!(members["data"].is_object());
    }

    /// What OCSF 1.6.0 requires of every event, and of the class in question.
    fn check_event(event: &Value) {
        let number = |name: &str| event[name].as_u64().unwrap_or_else(|| panic!("{name}"));
        let class = number("class_uid");
        let activity = number("activity_id");
        assert_eq!(number("category_uid"), class / 1000);
        assert_eq!(number("type_uid"), class * 100 + activity);
        assert!(number("severity_id") <= 6);
        number("time");
        let metadata = &event["metadata"];
        assert_eq!(metadata["version"], "1.6.0");
        assert!(metadata["product"]["name"].is_string());
        assert!(metadata["product"]["vendor_name"].is_string());
        assert!(metadata["uid"].is_string());
        let profiles = metadata["profiles"].as_array().unwrap();
        let has = |profile: &str| profiles.iter().any(|one| one == profile);
        let (activities, required): (&[u64], &[&str]) = match class {
            6003 => (&[0, 1, 2, 3, 4, 99], &["actor", "api", "src_endpoint"]),
            2004 => (&[0, 1, 2, 3, 99], &["finding_info"]),
            3004 => (&[0, 1, 2, 3, 4, 99], &["entity"]),
            6002 => (&[0, 1, 2, 3, 4, 5, 6, 7, 8, 99], &["app"]),
            6008 => (&[0, 1, 2, 99], &[]),
            class => panic!("no class {class}"),
        };
        assert!(activities.contains(&activity));
        assert!(event["activity_name"].is_string());
        for name in required {
            assert!(event[*name].is_object(), "{class} needs {name}");
        }
        if class == 6003 {
            assert!(event["api"]["operation"].is_string());
            assert!(event["api"]["request"]["uid"].is_string());
            assert!(event["src_endpoint"]["svc_name"].is_string());
        }
        if class == 2004 {
            assert!(event["finding_info"]["uid"].is_string());
            let analytic = &event["finding_info"]["analytic"];
            assert!(analytic.is_null() || analytic["type_id"] == 1);
            assert!((1..=6).contains(&number("status_id")));
            assert!(has("host") || event["actor"].is_null());
        } else {
            assert!([0, 1, 2, 99].contains(&number("status_id")));
        }
        if let Some(actor) = event["actor"].as_object() {
            let one = ["process", "user", "session", "app_name", "app_uid"];
            assert!(one.iter().any(|name| actor.contains_key(*name)));
        }
        for name in [
            "action_id",
            "disposition_id",
            "is_alert",
            "policy",
            "authorizations",
        ] {
            assert!(has("security_control") || event[name].is_null(), "{name}");
        }
        if has("security_control") {
            assert!(number("action_id") <= 2);
            assert!(number("disposition_id") <= 27);
        }
    }

    #[test]
    fn every_kind_is_an_event_of_its_class() {
        for kind in Kind::ALL {
            for (record, line) in [full(kind), bare(kind)] {
                let event = event(&record, &line, &origin());
                check_envelope(&event);
                check_event(&event["data"]);
            }
        }
    }

    #[test]
    fn a_denied_call_is_one_that_was_blocked() {
        let (record, line) = full(Kind::Decision);
        let event = event(&record, &line, &origin());
        assert_eq!(event["source"], "/holdpoint/ledger/holdpoint-ledger-00");
        assert_eq!(event["type"], "holdpoint.ledger.decision");
        assert_eq!(event["time"], "2026-11-16T03:40:12.250000Z");
        let data = &event["data"];
        assert_eq!(data["time"], 1_794_800_412_250_u64);
        assert_eq!(data["type_uid"], 600_399);
        assert_eq!(data["type_name"], "API Activity: Other");
        assert_eq!(data["activity_name"], "Judge");
        assert_eq!(data["severity_id"], 4);
        assert_eq!(data["status"], "Failure");
        assert_eq!(
            (&data["action_id"], &data["disposition_id"]),
            (&json!(2), &json!(2))
        );
        assert_eq!(data["is_alert"], true);
        assert_eq!(data["actor"]["app_name"], "claude-code");
        assert_eq!(data["actor"]["session"]["uid"], "s-1");
        assert_eq!(data["api"]["operation"], "Bash");
        assert_eq!(data["api"]["request"]["data"]["command"], "git push");
        assert_eq!(data["authorizations"][0]["decision"], "deny");
        assert_eq!(data["metadata"]["correlation_uid"], "sha256:00");
        assert_eq!(data["unmapped"]["directory"], "~/app");
    }
}
