//! adh-cli: policies (categories of rules) and preferences, in YAML.

use holdpoint_core::document;
use holdpoint_core::policy::Profile;
use serde_json::{Map, Value, json};

use super::{Imported, yaml};

/// Above every rule people write, below nothing: what a preference says of a tool.
const PREFERRED: i64 = 1_000_000;

const CONDITIONS: &[&str] = &["command_matches", "command_starts_with", "path_matches"];
const RESTRICTIONS: &[&str] = &["path_pattern", "size_limit", "url_scheme"];
const CHECKS: &[(&str, &str)] = &[
    ("backup", "backup"),
    ("disk_space", "disk_space"),
    ("permission", "permission"),
    ("size_limit", "size_limit"),
    ("sensitive_data", "sensitive_data"),
    ("command_validator", "command_validator"),
    ("sandbox_check", "sandbox_check"),
    ("sandbox", "sandbox_check"),
];
const SUPERVISION: &[&str] = &["automatic", "notify", "confirm", "manual", "deny"];
const RISKS: &[&str] = &["none", "low", "medium", "high", "critical"];

pub(super) fn read(text: &str, into: &mut Imported) -> Result<(), String> {
    let whole = yaml::read(text)?;
    let whole = whole.as_object().ok_or("it is no mapping")?;
    let preferences = ["auto_approve", "never_allow", "preset"];
    if preferences.iter().any(|key| whole.contains_key(*key)) || is_tools_only(whole) {
        return preferences_of(whole, into);
    }
    for (category, rules) in whole {
        let Some(rules) = rules.as_object() else {
            // Files have a head of their own in places.
            into.left(category, "it is no category of rules");
            continue;
        };
        for (name, rule) in rules {
            let place = format!("{category}.{name}");
            let rule = rule
                .as_object()
                .ok_or_else(|| format!("`{place}` is no rule: it must be a mapping"))?;
            add(&place, name, rule, into)?;
        }
    }
    Ok(())
}

/// `tools: {name: {supervision: …}}` is a file of preferences, not a category `tools` of rules with patterns.
fn is_tools_only(whole: &Map<String, Value>) -> bool {
    whole.len() == 1
        && whole
            .get("tools")
            .and_then(Value::as_object)
            .is_some_and(|tools| {
                tools.values().all(|it| {
                    it.as_object()
                        .is_some_and(|it| it.keys().all(|key| key == "supervision"))
                })
            })
}

fn add(
    place: &str,
    name: &str,
    rule: &Map<String, Value>,
    into: &mut Imported,
) -> Result<(), String> {
    let word = |key: &str, known: &[&str], otherwise: &str| -> Result<String, String> {
        let word = match rule.get(key) {
            None | Some(Value::Null) => return Ok(otherwise.to_owned()),
            Some(value) => value.as_str().unwrap_or_default().to_lowercase(),
        };
        match known.contains(&word.as_str()) {
            true => Ok(word),
            false => Err(format!("`{place}.{key}` is none of {}", known.join(", "))),
        }
    };
    let mut supervision = word("supervision", SUPERVISION, "confirm")?;
    let risk = word("risk", RISKS, "medium")?;
    let patterns = match rule.get("pattern") {
        None | Some(Value::Null) => vec![name.to_owned()],
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(items)) if items.is_empty() => {
            return Err(format!("`{place}.pattern` is an empty list"));
        }
        Some(several) => globs(several, &format!("{place}.pattern"))?,
    };
    let lets_run = matches!(supervision.as_str(), "automatic" | "notify");
    let mut made = Map::new();

    let mut conditions = Vec::new();
    for condition in list(rule, "conditions", place)? {
        let condition = condition
            .as_object()
            .ok_or_else(|| format!("`{place}.conditions` holds something else than mappings"))?;
        match condition
            .keys()
            .find(|key| !CONDITIONS.contains(&key.as_str()))
        {
            None => conditions.push(Value::Object(condition.clone())),
            Some(key) if lets_run => {
                into.left(
                    place,
                    format!("its condition `{key}` is not known: what it lets run is asked about"),
                );
                return Ok(());
            }
            Some(key) => into.tighter(
                place,
                format!("its condition `{key}` is not known: it holds without it"),
            ),
        }
    }
    if !conditions.is_empty() {
        made.insert("conditions".into(), Value::Array(conditions));
    }

    let mut restrictions = Vec::new();
    let mut checks = Vec::new();
    let mut unknown = Vec::new();
    for restriction in list(rule, "restrictions", place)? {
        let kind = restriction
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        match RESTRICTIONS.contains(&kind) {
            true => restrictions.push(restriction.clone()),
            false => unknown.push(format!("restriction `{}`", kind.escape_debug())),
        }
    }
    for check in list(rule, "safety_checks", place)? {
        let name = check
            .as_str()
            .or_else(|| check.get("name")?.as_str())
            .unwrap_or_default();
        match CHECKS.iter().find(|(theirs, _)| *theirs == name) {
            Some((_, ours)) => checks.push(json!(ours)),
            None => unknown.push(format!("check `{}`", name.escape_debug())),
        }
    }
    for what in unknown {
        // What was to be held to something nobody here knows is not let run without it.
        if lets_run {
            supervision = "confirm".into();
            into.tighter(
                place,
                format!("its {what} is not known: it is confirmed instead"),
            );
        } else {
            into.left(
                place,
                format!("its {what} is not known; it is `{supervision}` as before"),
            );
        }
    }
    if !restrictions.is_empty() {
        made.insert("restrictions".into(), Value::Array(restrictions));
    }
    if !checks.is_empty() {
        made.insert("checks".into(), Value::Array(checks));
    }
    made.insert("supervision".into(), supervision.into());
    made.insert("risk".into(), risk.into());
    for key in ["priority", "enabled"] {
        if let Some(value) = rule.get(key).filter(|value| !value.is_null()) {
            made.insert(key.into(), value.clone());
        }
    }
    for pattern in patterns {
        add_rule(&pattern, made.clone(), into);
    }
    let known = [
        "pattern",
        "supervision",
        "risk",
        "conditions",
        "restrictions",
        "safety_checks",
        "priority",
        "enabled",
        "description",
        "name",
        "reason",
    ];
    for key in rule.keys().filter(|key| !known.contains(&key.as_str())) {
        into.left(format!("{place}.{key}"), "no such key is known");
    }
    Ok(())
}

fn list<'r>(
    rule: &'r Map<String, Value>,
    key: &str,
    place: &str,
) -> Result<Vec<&'r Value>, String> {
    match rule.get(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => Ok(items.iter().collect()),
        Some(one @ Value::Object(_)) => Ok(vec![one]),
        Some(_) => Err(format!("`{place}.{key}` is not a list")),
    }
}

/// Rules add to those of the profile under the same key; by itself the key would replace them.
fn add_rule(pattern: &str, rule: Map<String, Value>, into: &mut Imported) {
    let pattern = pattern.to_lowercase();
    let known = into
        .policy
        .get("tools")
        .is_some_and(|tools| tools.get(&pattern).is_some());
    if !known {
        let started = into.policy.get("profile").and_then(Value::as_str);
        let profile = Profile::ALL
            .into_iter()
            .find(|one| Some(one.name()) == started);
        let text = profile.map_or("{}", Profile::text);
        let shipped: Value = document::read("profile", text.as_bytes()).unwrap_or_default();
        let rules = match shipped.get("tools").and_then(|tools| tools.get(&pattern)) {
            Some(Value::Array(rules)) => rules.clone(),
            Some(one) => vec![one.clone()],
            None => Vec::new(),
        };
        for one in rules {
            into.push(&["tools", &pattern], one);
        }
    }
    into.push(&["tools", &pattern], Value::Object(rule));
}

fn preferences_of(whole: &Map<String, Value>, into: &mut Imported) -> Result<(), String> {
    for (key, value) in whole {
        match key.as_str() {
            "preset" => match value.as_str() {
                Some("paranoid") => into.start("paranoid"),
                Some("balanced") => {}
                Some("permissive") => into.tighter(
                    "preset",
                    "`permissive` is not carried over: the rules of the profile `adh` hold",
                ),
                _ => return Err("`preset` is none of paranoid, balanced, permissive".into()),
            },
            "auto_approve" => {
                for glob in globs(value, key)? {
                    let rule = json!({"supervision": "automatic", "priority": PREFERRED});
                    add_rule(&glob, object(rule), into);
                    into.tighter(
                        format!("auto_approve: {glob}"),
                        "questions of high risk stay questions, and denials stay denials",
                    );
                }
            }
            "never_allow" => {
                for glob in globs(value, key)? {
                    add_rule(
                        &glob,
                        object(json!({"supervision": "deny", "priority": PREFERRED})),
                        into,
                    );
                }
            }
            "tools" => {
                for (tool, wanted) in value.as_object().ok_or("`tools` is no mapping")? {
                    preferred(tool, wanted, into)?;
                }
            }
            _ => into.left(key, "it is no preference known here"),
        }
    }
    Ok(())
}

/// What somebody wants for one tool only tightens.
fn preferred(tool: &str, wanted: &Value, into: &mut Imported) -> Result<(), String> {
    let place = format!("tools.{tool}.supervision");
    match wanted.get("supervision").and_then(Value::as_str) {
        // A question is added to whatever the rules say, so that no stricter one of them is passed over.
        Some("confirm") if tool.contains(['*', '?', '[']) => {
            into.push(&["ask", "patterns"], format!("{tool}(*"))
        }
        Some("confirm") => into.push(&["ask", "tools"], tool),
        Some(word @ ("manual" | "deny")) => {
            add_rule(
                tool,
                object(json!({"supervision": word, "priority": PREFERRED})),
                into,
            );
        }
        Some("automatic" | "notify") => into.left(
            place,
            "a preference only tightens: write `auto_approve` if it is to run",
        ),
        _ => return Err(format!("`{place}` is none of {}", SUPERVISION.join(", "))),
    }
    Ok(())
}

fn globs(value: &Value, key: &str) -> Result<Vec<String>, String> {
    let problem = || format!("`{key}` is not a list of texts");
    let items = value.as_array().ok_or_else(problem)?.iter();
    items
        .map(|item| item.as_str().map(str::to_owned).ok_or_else(problem))
        .collect()
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}
