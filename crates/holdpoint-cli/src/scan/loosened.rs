//! What a changed policy lets happen that the one before it did not.
//!
//! Two texts are compared, entry by entry: a deny that is gone, an allow that is new, a word that became a
//! milder one. What cannot be ranked (a number, another profile) is told as well, since somebody should
//! look at it. It does not judge calls: `holdpoint policy diff` does.

use std::collections::BTreeMap;

use holdpoint_core::document;
use holdpoint_core::policy::Document;
use holdpoint_core::text::Severity;
use holdpoint_core::text::inspection::{Family, Finding};
use holdpoint_core::text::normal::Disguises;
use serde_json::Value;

use super::LocatedFinding;
use super::baseline::Baseline;

/// The largest policy that is compared: as large as one may be.
pub const MAX_POLICY: u64 = 4 << 20;

/// Words that are milder or stricter than others of their kind, the mildest first. A word stands in one row.
const RANKS: &[&[&str]] = &[
    // verdicts, supervision, packs, answers to failures
    &["off", "allow", "automatic", "allowed", "false"],
    &["defer"],
    &["notify"],
    &["contain"],
    &["ask", "confirm", "restricted"],
    &["review", "manual"],
    &["deny", "forbidden", "on", "true"],
];
const MODES: &[&[&str]] = &[&["observe"], &["enforce"]];
const AUTONOMY: &[&[&str]] = &[&["full"], &["supervised"], &["readonly"], &["locked"]];
const PRESENCE: &[&[&str]] = &[
    &["none"],
    &["terminal"],
    &["code"],
    &["key"],
    &["elsewhere"],
];
const FLOORS: &[&[&str]] = &[&["landlock"], &["full"]];
/// Of lines that permit something by saying `true`.
const PERMITS: &[&[&str]] = &[&["true"], &["false"]];

/// What an entry does where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// Its loss loosens.
    Denies,
    /// The same, though a person was only asked.
    Asks,
    /// Its coming loosens.
    Allows,
    /// Its words decide.
    Says,
}

/// Everything a text says, each entry with where it stands in it.
type Entries = BTreeMap<(Vec<String>, String), Vec<String>>;

/// What a policy loosens against the one before it. Nothing if neither is one: other programs have files
/// of that name.
pub fn loosened(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> Vec<LocatedFinding> {
    let read = |bytes: &[u8]| {
        document::read::<Document>(path, bytes)?;
        document::read::<Value>(path, bytes)
    };
    let old = before.and_then(|bytes| read(bytes).ok());
    let text = after.map(String::from_utf8_lossy).unwrap_or_default();
    let new = match after.map(read) {
        Some(Ok(value)) => value,
        Some(Err(_)) if old.is_none() && !path.ends_with(".holdpoint/permissions.json") => {
            return Vec::new();
        }
        Some(Err(_)) => {
            let about = "the whole file".to_owned();
            let finding = finding(
                "policy.broken",
                Severity::Critical,
                "it is a policy nobody can read: every call is refused by it, or it is passed over",
            );
            return vec![LocatedFinding::at(finding, &text, (1, 1), about)];
        }
        None => Value::Object(serde_json::Map::new()),
    };
    let was = entries(old.as_ref());
    let is = entries(Some(&new));
    let mut found = Vec::new();
    for (entry, place) in was.iter().filter(|(entry, _)| !is.contains_key(*entry)) {
        found.extend(lost(entry, place, &is));
    }
    for (entry, place) in is.iter().filter(|(entry, _)| !was.contains_key(*entry)) {
        found.extend(gained(entry, place, &was));
    }
    let steps = |place: &[String]| -> (usize, usize) {
        let mut steps: Vec<&str> = place.iter().map(String::as_str).collect();
        while !steps.is_empty() {
            if let Some(at) = document::locate(after.unwrap_or_default(), &steps) {
                return at;
            }
            steps.pop();
        }
        (1, 1)
    };
    found
        .into_iter()
        .map(|one| {
            let finding = finding(one.rule, one.severity, one.reason);
            LocatedFinding::at(finding, &text, steps(&one.place), one.about)
        })
        .collect()
}

/// What a baseline has grown by.
pub fn baseline_grown(before: Option<&[u8]>, after: &[u8], path: &str) -> Option<LocatedFinding> {
    let read = |bytes: &[u8]| Baseline::read(path, bytes).unwrap_or_default();
    let more = read(after).beyond(&before.map(read).unwrap_or_default());
    (more > 0).then(|| {
        let finding = finding(
            "policy.baseline-grows",
            Severity::High,
            "the baseline lets more findings pass than before: see that each of them was looked at",
        );
        LocatedFinding::at(finding, "", (1, 1), format!("{more} more"))
    })
}

/// Whether a file of settings no longer runs Holdpoint, which it did before.
pub fn hook_removed(
    path: &str,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
) -> Option<LocatedFinding> {
    let runs = |bytes: Option<&[u8]>| {
        let text = bytes.map(String::from_utf8_lossy).unwrap_or_default();
        text.match_indices("holdpoint").any(|(at, word)| {
            let rest = text.get(at + word.len()..).unwrap_or_default();
            let line = rest.lines().next().unwrap_or_default();
            line.contains("hook ")
        })
    };
    (runs(before) && !runs(after)).then(|| {
        let finding = finding(
            "policy.hook-removed",
            Severity::Critical,
            "the agent's settings no longer run Holdpoint before its tools: nothing is judged",
        );
        LocatedFinding::at(finding, "", (1, 1), path.to_owned())
    })
}

struct Loosening {
    rule: &'static str,
    severity: Severity,
    reason: &'static str,
    place: Vec<String>,
    about: String,
}

fn lost(
    (path, value): &(Vec<String>, String),
    place: &[String],
    is: &Entries,
) -> Option<Loosening> {
    let (rule, severity, reason) = match side(path) {
        Side::Denies => (
            "policy.deny-removed",
            Severity::Critical,
            "what was denied no longer is",
        ),
        // Asked about before and denied now is no loss.
        Side::Asks
            if is
                .keys()
                .any(|(other, same)| same == value && side(other) == Side::Denies) =>
        {
            return None;
        }
        Side::Asks => (
            "policy.ask-removed",
            Severity::High,
            "what was asked about no longer is",
        ),
        Side::Allows => return None,
        // The word that is there now tells. Of a list, another item says nothing about this one.
        Side::Says if !is_item(path, place) && is.keys().any(|(other, _)| other == path) => {
            return None;
        }
        Side::Says if rank(path, value) == Some(0) || only_describes(path) => return None,
        Side::Says => (
            "policy.removed",
            Severity::High,
            "a line that may have tightened is gone",
        ),
    };
    Some(Loosening {
        rule,
        severity,
        reason,
        place: path.clone(),
        about: about(path, value),
    })
}

fn gained(
    (path, value): &(Vec<String>, String),
    place: &[String],
    was: &Entries,
) -> Option<Loosening> {
    // What it took the place of. An item of a list takes nobody's.
    let before = was
        .keys()
        .find(|(other, _)| other == path && !is_item(path, place))
        .map(|(_, value)| rank(path, value));
    let (rule, severity, reason) = match side(path) {
        Side::Denies | Side::Asks if value.starts_with("\"!") => (
            "policy.exception",
            Severity::High,
            "a list that tightens has a new exception",
        ),
        Side::Denies | Side::Asks => return None,
        Side::Allows => (
            "policy.allow-added",
            Severity::High,
            "something is allowed that was not",
        ),
        Side::Says if only_describes(path) => return None,
        Side::Says => match (before, rank(path, value)) {
            (Some(Some(old)), Some(new)) if new >= old => return None,
            (None, Some(new)) if new + 1 == ranks(path).len() => return None,
            (Some(Some(_)), Some(_)) | (None, Some(0 | 1)) => (
                "policy.milder",
                Severity::Critical,
                "a word of the policy became a milder one",
            ),
            (None, Some(_)) => return None,
            (Some(_), _) | (None, None) => (
                "policy.changed",
                Severity::High,
                "a line changed that may loosen: see what it means",
            ),
        },
    };
    Some(Loosening {
        rule,
        severity,
        reason,
        place: place.to_vec(),
        about: about(path, value),
    })
}

/// The innermost list says what an entry is for.
fn side(path: &[String]) -> Side {
    if let [section, key, ..] = path
        && section == "sandbox"
    {
        return match key.as_str() {
            "read" | "write" | "hosts" | "env" | "calls" => Side::Allows,
            "hide" | "protect" => Side::Denies,
            _ => Side::Says,
        };
    }
    path.iter()
        .rev()
        .find_map(|key| match key.as_str() {
            "deny" | "blacklist" | "blocked" => Some(Side::Denies),
            "ask" => Some(Side::Asks),
            "allow" | "whitelist" => Some(Side::Allows),
            _ => None,
        })
        .unwrap_or(Side::Says)
}

/// Lines that say nothing about a call.
fn only_describes(path: &[String]) -> bool {
    let first = path.first().map(String::as_str);
    let last = path.last().map(String::as_str);
    matches!(first, Some("$schema" | "version"))
        || matches!(
            last,
            Some("reason" | "instead" | "confirmationMessage" | "tell")
        )
}

fn rank(path: &[String], value: &str) -> Option<usize> {
    let word = value.trim_matches('"');
    ranks(path).iter().position(|row| row.contains(&word))
}

/// The words a line may say, as they are ranked.
fn ranks(path: &[String]) -> &'static [&'static [&'static str]] {
    match path.last().map(String::as_str) {
        Some("mode") => MODES,
        Some("autonomy") => AUTONOMY,
        Some("presence") => PRESENCE,
        Some("floor") => FLOORS,
        Some(
            "allow_home"
            | "allow_tmp"
            | "mayLower"
            | "may_lower"
            | "additionalParameters"
            | "additional_parameters",
        ) => PERMITS,
        _ => RANKS,
    }
}

/// Whether an entry is one of a list: where it stands then has a number more than what it is.
fn is_item(path: &[String], place: &[String]) -> bool {
    place.len() > path.len()
}

fn about(path: &[String], value: &str) -> String {
    format!("{}: {value}", path.join("."))
}

fn entries(value: Option<&Value>) -> Entries {
    let mut entries = Entries::new();
    if let Some(value) = value {
        collect(value, &mut Vec::new(), &mut Vec::new(), &mut entries);
    }
    entries
}

/// Adds every leaf of a value. The number of an item in a list is part of where it stands and not of what
/// it is; an object in a list is one entry, whose parts mean nothing without each other.
fn collect(value: &Value, path: &mut Vec<String>, place: &mut Vec<String>, into: &mut Entries) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                path.push(key.clone());
                place.push(key.clone());
                collect(value, path, place, into);
                path.pop();
                place.pop();
            }
        }
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                place.push(number.to_string());
                into.insert((path.clone(), item.to_string()), place.clone());
                place.pop();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            into.insert((path.clone(), value.to_string()), place.clone());
        }
    }
}

fn finding(rule: &'static str, severity: Severity, reason: &'static str) -> Finding {
    Finding {
        family: Family::Policy,
        severity,
        rule: rule.into(),
        reason: reason.into(),
        span: 0..0,
        disguises: Disguises::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(before: &str, after: &str) -> Vec<String> {
        let found = loosened(
            ".holdpoint/permissions.json",
            (!before.is_empty()).then_some(before.as_bytes()),
            (!after.is_empty()).then_some(after.as_bytes()),
        );
        found
            .iter()
            .map(|one| {
                format!(
                    "{} {} {}",
                    one.finding.severity, one.finding.rule, one.start.line
                )
            })
            .collect()
    }

    const STRICT: &str = r#"{
  "defaultPolicy": "ask",
  "deny": {"patterns": ["rm -rf *"]},
  "ask": {"patterns": ["git push *"]},
  "guards": {"packs": {"cloud": "deny"}}
}"#;

    #[test]
    fn what_tightens_is_no_finding() {
        assert!(rules("", STRICT).is_empty());
        assert!(rules(STRICT, STRICT).is_empty());
        let more = STRICT
            .replace("\"ask\",", "\"deny\",")
            .replace("\"rm -rf *\"", "\"rm -rf *\", \"git push *\"")
            .replace("  \"ask\": {\"patterns\": [\"git push *\"]},\n", "");
        assert_eq!(rules(STRICT, &more), [""; 0]);
    }

    #[test]
    fn what_loosens_is_told_where_it_stands() {
        for (from, to, want) in [
            ("\"rm -rf *\"", "", "critical policy.deny-removed 3"),
            ("\"git push *\"", "", "high policy.ask-removed 4"),
            ("\"ask\",", "\"allow\",", "critical policy.milder 2"),
            (
                "\"cloud\": \"deny\"",
                "\"cloud\": \"off\"",
                "critical policy.milder 5",
            ),
            (
                "{\n",
                "{\"mode\": \"observe\",\n",
                "critical policy.milder 1",
            ),
            (
                "{\n",
                "{\"allow\": {\"tools\": [\"x\"]},\n",
                "high policy.allow-added 1",
            ),
            ("{\n", "{\"profile\": \"hooks\",\n", "high policy.changed 1"),
            (
                "[\"rm -rf *\"]",
                "[\"rm -rf *\", \"!rm -rf x\"]",
                "high policy.exception 3",
            ),
        ] {
            assert_eq!(rules(STRICT, &STRICT.replacen(from, to, 1)), [want], "{to}");
        }
        let gone = rules(STRICT, "");
        assert!(
            gone.contains(&"critical policy.deny-removed 1".into()),
            "{gone:?}"
        );
        assert_eq!(rules(STRICT, "{"), ["critical policy.broken 1"]);
    }

    #[test]
    fn what_a_sandbox_is_given_is_told_item_by_item() {
        let before = r#"{"sandbox": {
  "hide": ["~/.ssh", "~/.aws"],
  "protect": [".git/hooks", "ci"],
  "write": ["~/.cache/a"]
}}"#;
        let after = r#"{"sandbox": {
  "hide": ["~/.ssh"],
  "protect": ["ci"],
  "write": ["~/.cache/a", "~"],
  "read": ["~/notes"],
  "hosts": ["*.example.com"],
  "env": ["TOKEN"],
  "calls": ["ptrace"],
  "floor": "landlock"
}}"#;
        let mut told = rules(before, after);
        told.sort();
        assert_eq!(
            told,
            [
                "critical policy.deny-removed 2",
                "critical policy.deny-removed 3",
                "critical policy.milder 9",
                "high policy.allow-added 4",
                "high policy.allow-added 5",
                "high policy.allow-added 6",
                "high policy.allow-added 7",
                "high policy.allow-added 8",
            ]
        );
        // The other way round it only tightens.
        assert_eq!(rules(after, before), [""; 0]);
        assert_eq!(
            rules(after, &after.replace("landlock", "full")),
            [""; 0],
            "a higher floor"
        );
        assert_eq!(
            rules(
                before,
                &before.replace("\"hide\"", "\"floor\": \"full\", \"hide\"")
            ),
            [""; 0],
            "what is so without a word"
        );
    }

    #[test]
    fn a_new_line_nobody_can_rank_is_told() {
        for line in [
            r#""approval": {"deadline": 9}"#,
            r#""sandbox": {"limits": {"memory": 9}}"#,
            r#""sandbox": {"cache": "readonly"}"#,
            r#""files": {"roots": ["/"]}"#,
        ] {
            let after = STRICT.replacen("{\n", &format!("{{{line},\n"), 1);
            assert_eq!(rules(STRICT, &after), ["high policy.changed 1"], "{line}");
        }
        let scope = |word: &str| {
            let scope =
                format!("{{\"sanitization\": {{\"path_scope\": {{\"allow_home\": {word}}}}},\n");
            rules(STRICT, &STRICT.replacen("{\n", &scope, 1))
        };
        assert_eq!(scope("true"), ["critical policy.milder 1"]);
        assert_eq!(scope("false"), [""; 0]);
    }

    #[test]
    fn a_list_is_compared_item_by_item() {
        let roots = |items: &str| format!("{{\"files\": {{\"roots\": [{items}]}}}}");
        let (one, two) = (roots("\"a\""), roots("\"a\", \"b\""));
        assert_eq!(rules(&two, &one), ["high policy.removed 1"]);
        assert_eq!(rules(&one, &two), ["high policy.changed 1"]);
        assert_eq!(rules(&two, &roots("\"b\", \"a\"")), [""; 0]);
    }

    #[test]
    fn files_of_others_with_that_name_are_none_of_ours() {
        assert!(loosened("app/permissions.json", None, Some(b"{\"tabs\": true}")).is_empty());
    }

    #[test]
    fn a_hook_that_goes_is_told() {
        let with = br#"{"hooks": "'/opt/holdpoint' hook claude-code"}"#;
        assert!(hook_removed("x", Some(with), Some(b"{}")).is_some());
        assert!(hook_removed("x", Some(with), None).is_some());
        assert!(hook_removed("x", Some(with), Some(with)).is_none());
        assert!(hook_removed("x", None, Some(b"{}")).is_none());
    }
}
