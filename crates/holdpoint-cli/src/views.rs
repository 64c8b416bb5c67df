//! What the daemon's page shows beside the requests: sessions, the policy in force, the report.
//! Nothing of it holds a secret.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use holdpoint_broker::{Evidence, Problem, Request, Route, SignedAnswer, StopScope, UnixMillis};
use holdpoint_core::digest_of;
use holdpoint_core::plan::OpenPlan;
use holdpoint_core::policy::{ChannelKind, channel_of};
use holdpoint_daemon::{Broker, Outcome, SessionChange, Views};
use holdpoint_ledger::{Kind, Timestamp};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::{Value, json};

use crate::report::{Period, page, summary_of};
use holdpoint_engine::Locations;
use holdpoint_engine::excerpt::text_without_secrets;
use holdpoint_engine::real_directory;
use holdpoint_engine::{Engine, Presence, Stopped, Stops};
use holdpoint_engine::{Layer, Mark, SessionState, Suspensions};
use holdpoint_engine::{SessionId, Sessions};
use holdpoint_engine::{load_layers, read_policy_file};

/// How far the report looks back.
const REPORTED: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// What the page shows of this user's files.
pub struct LocalViews {
    locations: Locations,
    broker: Broker,
}

impl LocalViews {
    /// The files at `locations`, and what waits at `broker`.
    pub fn new(locations: Locations, broker: Broker) -> Self {
        Self { locations, broker }
    }

    /// Where somebody is who is nowhere in particular.
    fn home(&self) -> PathBuf {
        let home = self.locations.home.clone();
        home.unwrap_or_else(|| PathBuf::from("/"))
    }
}

impl Views for LocalViews {
    fn sessions(&self) -> Result<Value, Problem> {
        let sessions = Sessions::at(&self.locations).map_err(problem)?;
        let kept = sessions.all().map_err(problem)?;
        let mut rows: BTreeMap<String, Row> = BTreeMap::new();
        for (file, changed, state) in kept {
            rows.insert(file.clone(), Row::kept(file, changed, state));
        }
        for one in sessions.present() {
            let id = SessionId::new(&one.session);
            rows.entry(id.file().to_owned()).or_default().works(one);
        }
        for request in self.broker.pending()? {
            let id = SessionId::new(&request.asked.session);
            let row = rows.entry(id.file().to_owned()).or_default();
            row.waits(&request);
        }
        let mut rows: Vec<Row> = rows.into_values().collect();
        rows.sort_by_key(|row| Reverse((row.pending, row.last)));
        let rows: Vec<Value> = rows.iter().map(Row::to_json).collect();
        let stopped = Stops::at(&self.locations)
            .and_then(|stops| stops.all())
            .map_err(problem)?;
        let stopped: Vec<Value> = stopped.iter().map(stop_shown).collect();
        Ok(json!({ "sessions": rows, "stopped": stopped }))
    }

    fn change_session(
        &self,
        key: &str,
        change: &SessionChange,
        by: &str,
    ) -> Result<Value, Problem> {
        let sessions = Sessions::at(&self.locations).map_err(problem)?;
        let kept = sessions.all().map_err(problem)?;
        let found = kept.iter().find(|(file, ..)| key_of(file) == key);
        let Some((file, _, state)) = found else {
            return Err(Problem(
                "the session is not kept any more: it has nothing to change".into(),
            ));
        };
        let mut changed = state.clone();
        let done = take_away(&mut changed, change);
        let Some(what) = done else {
            return Ok(json!({ "changed": false }));
        };
        let recorder = Engine::at(&self.locations).recorder().map_err(problem)?;
        recorder
            .changes_by(by, Kind::SessionRule, Some(file), &what)
            .map_err(problem)?;
        // Read anew under its lock: what the session has learnt meanwhile stays.
        sessions
            .change(&SessionId::new(file), |state| take_away(state, change))
            .map_err(problem)?;
        Ok(json!({ "changed": true }))
    }

    fn stop(&self, scope: &StopScope, by: &str, reason: Option<&str>) -> Result<Value, Problem> {
        let stopped = Stopped::now(scope.clone(), by, reason);
        Engine::at(&self.locations)
            .stop(&stopped)
            .map_err(problem)?;
        let mut refused = Vec::new();
        for request in self.broker.pending()? {
            if !scope.covers(&request.asked.agent, &request.asked.session) {
                continue;
            }
            let said = SignedAnswer {
                answer: scope.refusal(reason),
                approver: by.to_owned(),
                on_behalf_of: Vec::new(),
                binding: Some(request.binding.clone()),
                phrase: None,
                evidence: Evidence::by(Route::Page),
            };
            // Whoever answers at the same time releases nothing: it is judged again before it runs.
            let answered = self.broker.answer(&request.id, &said, UnixMillis::now())?;
            if answered.outcome == Outcome::Settled {
                refused.push(request.id);
            }
        }
        Ok(json!({ "refused": refused }))
    }

    fn resume(&self, scope: &StopScope, by: &str) -> Result<Value, Problem> {
        let was_stopped = Engine::at(&self.locations).resume(scope, by);
        Ok(json!({ "was_stopped": was_stopped.map_err(problem)? }))
    }

    fn policy(&self, workspace: Option<&str>) -> Result<Value, Problem> {
        let directory = match workspace.map(Path::new) {
            None => self.home(),
            Some(given) if given.is_absolute() => real_directory(Some(given)).map_err(|error| {
                Problem(format!(
                    "the workspace cannot be looked at ({})",
                    error.kind()
                ))
            })?,
            Some(_) => return Err(Problem("name the workspace by its whole path".into())),
        };
        let policy = load_layers(&self.locations, &directory)
            .map_err(|error| Problem(text_without_secrets(&error.to_string())))?;
        let layers: Vec<Value> = policy.layers().iter().map(layer).collect();
        let terms = policy.asking_terms("", None);
        Ok(json!({
            "layers": layers,
            "channel": channel_of(&policy).map(|channel| channel_word(channel.kind)),
            "approval": {
                "deadline": terms.deadline,
                "required": terms.required,
                "approvers": terms.approvers,
            },
            "default": policy.standing().default.map(|default| default.as_str()),
        }))
    }

    fn report(&self) -> Result<String, Problem> {
        let period = Period {
            since: Some(Timestamp::from_clock(SystemTime::now()).minus(REPORTED)),
            until: None,
        };
        let summary = summary_of(&self.locations, period, &self.home(), &mut |_, _, _| {})
            .map_err(|error| Problem(error.to_string()))?;
        Ok(page(&summary))
    }
}

/// Takes something away from what a session remembers; what that was, for the record, or none if there was nothing. Rules are
/// named as they are shown, without secrets.
fn take_away(state: &mut SessionState, change: &SessionChange) -> Option<Value> {
    let forget = |rules: &mut Vec<String>, shown: &str| {
        let before = rules.len();
        rules.retain(|rule| text_without_secrets(rule) != shown);
        (rules.len() < before).then(|| json!({"action": "forget", "pattern": shown}))
    };
    match change {
        SessionChange::Resume => {
            let was = suspended(state.suspended)?;
            state.resume();
            Some(json!({"action": "resume", "scope": was}))
        }
        SessionChange::Unmark => {
            let mark = state.mark.take()?;
            Some(json!({"action": "unmark", "record": mark.record, "time": mark.time}))
        }
        SessionChange::ForgetAllow(shown) => forget(&mut state.allow, shown),
        SessionChange::ForgetDeny(shown) => forget(&mut state.deny, shown),
    }
}

/// What the page names a session by: its own name may be a secret.
fn key_of(file: &str) -> String {
    digest_of(file.as_bytes())
}

/// Something that is stopped, as it is shown.
fn stop_shown(stopped: &Stopped) -> Value {
    json!({
        "scope": stopped.scope,
        "what": text_without_secrets(&stopped.scope.words()),
        "time": stopped.time,
        "by": stopped.by,
        "reason": stopped.reason.as_deref().map(text_without_secrets),
    })
}

fn problem(error: impl std::fmt::Display) -> Problem {
    Problem(text_without_secrets(&error.to_string()))
}

/// A session as it is shown.
#[derive(Default)]
struct Row {
    session: String,
    key: String,
    agent: Option<String>,
    pending: usize,
    last: Option<UnixMillis>,
    state: SessionState,
}

impl Row {
    fn kept(session: String, changed: SystemTime, state: SessionState) -> Self {
        let since = changed.duration_since(SystemTime::UNIX_EPOCH);
        Self {
            key: key_of(&session),
            session,
            last: since.ok().map(|since| UnixMillis::default().after(since)),
            state,
            ..Self::default()
        }
    }

    fn works(&mut self, one: Presence) {
        let since = one.last.duration_since(SystemTime::UNIX_EPOCH);
        let last = since.ok().map(|since| UnixMillis::default().after(since));
        self.key = key_of(SessionId::new(&one.session).file());
        self.session = one.session;
        self.agent = Some(one.agent);
        self.last = self.last.max(last);
    }

    fn waits(&mut self, request: &Request) {
        self.key = key_of(SessionId::new(&request.asked.session).file());
        self.session.clone_from(&request.asked.session);
        self.agent = Some(request.asked.agent.clone());
        self.pending += 1;
        self.last = self.last.max(Some(request.opened));
    }

    fn to_json(&self) -> Value {
        let clean = |patterns: &[String]| -> Vec<String> {
            let patterns = patterns.iter();
            patterns.map(|one| text_without_secrets(one)).collect()
        };
        json!({
            "session": text_without_secrets(&self.session),
            "key": self.key,
            "agent": self.agent,
            "pending": self.pending,
            "last": self.last,
            "suspended": suspended(self.state.suspended),
            "allow": clean(&self.state.allow),
            "deny": clean(&self.state.deny),
            "mark": self.state.mark.as_ref().map(marked),
            "plan": self.state.plan.as_ref().map(planned),
        })
    }
}

/// The plan that is open in a session, and how far it is.
fn planned(plan: &OpenPlan) -> Value {
    let phases: Vec<Value> = (plan.phases.iter())
        .map(|phase| json!({"name": text_without_secrets(&phase.name), "covered": phase.covered}))
        .collect();
    json!({
        "name": plan.name,
        "summary": text_without_secrets(&plan.summary),
        "digest": plan.digest,
        "until": plan.until,
        "phases": phases,
        "outside": plan.outside,
    })
}

/// What a session remembers of a text that gave orders.
fn marked(mark: &Mark) -> Value {
    json!({
        "time": mark.time,
        "origin": mark.origin,
        "tool": mark.tool.as_deref().map(text_without_secrets),
        "severity": mark.severity,
        "record": mark.record,
    })
}

/// The longest suspension in force.
fn suspended(suspensions: Suspensions) -> Option<&'static str> {
    if suspensions.all {
        Some("all")
    } else if suspensions.idle {
        Some("idle")
    } else if suspensions.turn {
        Some("turn")
    } else {
        None
    }
}

fn channel_word(kind: ChannelKind) -> &'static str {
    match kind {
        ChannelKind::Console => "console",
        ChannelKind::Webhook => "webhook",
        ChannelKind::File => "file",
        ChannelKind::Daemon => "daemon",
        ChannelKind::Agent => "agent",
    }
}

fn layer(layer: &Layer) -> Value {
    json!({
        "name": layer.name,
        "authority": layer.authority,
        "trust": layer.trust,
        "digest": layer.digest,
        "default": layer.default.map(|default| default.as_str()),
        "text": text_of(layer),
    })
}

/// The file of a layer, as it was loaded, without secrets; none for what is no file.
fn text_of(layer: &Layer) -> Option<String> {
    let bytes = read_policy_file(Path::new(&layer.name)).ok()?;
    if digest_of(&bytes) != layer.digest {
        return None;
    }
    let text = String::from_utf8(bytes).ok()?;
    without_channel_secrets(&text).map(|text| text_without_secrets(&text))
}

/// The keys of `channel` whose values are secrets, or lead to one.
const SECRET_KEYS: &[&str] = &["auth_token", "auth_token_command", "signing_key", "headers"];

/// What stands in the place of a secret.
const HIDDEN: &str = "…";

/// A policy without the secrets of its channel, whatever they look like.
fn without_channel_secrets(text: &str) -> Option<String> {
    let root = CstRootNode::parse(text, &ParseOptions::default()).ok()?;
    let policy = root.object_value()?;
    if let Some(channel) = policy.object_value("channel") {
        for key in SECRET_KEYS {
            hide(&channel, key, HIDDEN.into());
        }
        // The whole address may be the secret; whose it is may be known.
        let endpoint = channel.get("endpoint").and_then(|one| one.value());
        let address = endpoint.and_then(|value| value.to_serde_value());
        let shown = address.as_ref().and_then(Value::as_str).map(whose);
        hide(&channel, "endpoint", shown.unwrap_or_else(|| HIDDEN.into()));
    } else if policy.get("channel").is_some() {
        return None;
    }
    Some(root.to_string())
}

fn hide(object: &CstObject, key: &str, shown: String) {
    if let Some(property) = object.get(key) {
        property.set_value(CstInputValue::String(shown));
    }
}

/// Scheme and host of an address.
fn whose(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else {
        return HIDDEN.into();
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}/{HIDDEN}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_shown_without_the_secrets_of_its_channel() {
        let text = r#"{
            // who is asked
            "defaultPolicy": "ask",
            "channel": {
                "type": "webhook",
                "endpoint": "https://me:pw@hooks.example/services/T0/plain",
                "headers": { "X-Key": "plainwords" },
                "auth_token": "short",
                "auth_token_command": ["pass", "show", "hook"],
                "signing_key": "\u0073eal"
            }
        }"#;
        let shown = without_channel_secrets(text).unwrap();
        for secret in ["pw@", "services", "plain", "short", "show", "eal\""] {
            assert!(!shown.contains(secret), "{secret} in {shown}");
        }
        for kept in ["// who is asked", "webhook", "https://hooks.example/…"] {
            assert!(shown.contains(kept), "{kept} not in {shown}");
        }
    }
}
