//! Deciders outside of Holdpoint: a program, or an endpoint of the form OPA has, that a company decides by already.
//!
//! What one says can only tighten, whatever it says. This is what a policy says of them and what is made of their answers;
//! asking them is the caller's, who has programs and a network.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::document::Secret;
use super::layer::{Authority, Policy};
use crate::catalogue::Identity;
use crate::decision::{Decision, Finding};
use crate::facts::{FactConditions, Gathered, Purpose};
use crate::glob::Glob;
use crate::judge::explained;
use crate::paths::Surroundings;
use crate::understand::Action;
use crate::verdict::{Method, Risk, Verdict};

/// The most deciders of a policy: each is asked within the time of one call.
const MAX_DECIDERS: usize = 8;

/// The longest name of a decider; it stands in the decision.
const MAX_NAME: usize = 60;

/// How long a decider may take, where its policy does not say.
const USUAL_TIME: u64 = 1000;

/// The longest a policy may let one take. A hook answers within five seconds or refuses, and must have time to say so.
const MAX_TIME: u64 = 3000;

/// The longest reason of a decider that is shown; the rest is cut.
const MAX_REASON: usize = 500;

/// A decider outside of Holdpoint.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct External {
    /// What decisions call it: `external.NAME`.
    pub name: String,
    /// A program and its arguments, word by word, by its full path. It reads the question on standard input and writes its
    /// answer on standard output, both JSON.
    pub command: Vec<String>,
    /// An address of OPA's form, without encryption: `http://127.0.0.1:8181/v1/data/agents/gate`.
    pub url: Option<Endpoint>,
    /// The form the address has. Without it: OPA's.
    pub form: Option<EndpointForm>,
    /// Who Cedar is told asks, as it writes entities. Without it: `Agent::"holdpoint"`.
    pub principal: Option<String>,
    /// A token that is sent with the question, as `Authorization: Bearer`.
    pub token: Option<Secret>,
    /// The tools it is asked about, by name or glob. Without it: all.
    pub tools: Vec<String>,
    /// What must be so for it to be asked.
    pub facts: Option<FactConditions>,
    /// Whether it is not asked about calls that are known to change nothing.
    pub skip_read_only: bool,
    /// How many milliseconds it may take. Without it: 1000.
    pub timeout_ms: Option<u64>,
    /// What becomes of a call it gives no answer about. Without it: ask.
    pub on_failure: Option<OnFailure>,
}

/// What becomes of a call when a decider gives no answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// A person is asked.
    #[default]
    Ask,
    /// It does not run.
    Deny,
}

/// How an endpoint is asked, and how it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum EndpointForm {
    /// `{"input": question}`, answered by `{"result": answer}`.
    #[default]
    Opa,
    /// `{"principal", "action", "resource", "context"}` with the question as context, answered by `{"decision": "Allow"}` or
    /// `"Deny"`, as the agent of Cedar does.
    Cedar,
}

/// Who Cedar is told asks, where the policy names nobody.
const PRINCIPAL: &str = r#"Agent::"holdpoint""#;

/// An address a question is posted to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
#[serde(try_from = "String")]
pub struct Endpoint {
    /// The host: a name or a number, without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The path and what follows it.
    pub path: String,
}

impl TryFrom<String> for Endpoint {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = |what: &str| {
            format!("{what}; try: write \"http://127.0.0.1:8181/v1/data/agents/gate\"")
        };
        let Some(rest) = text.strip_prefix("http://") else {
            return Err(wrong(
                "only `http://` is spoken here: have a program of this machine ask what needs encryption",
            ));
        };
        let (authority, path) = match rest.split_once('/') {
            Some((authority, path)) => (authority, format!("/{path}")),
            None => (rest, "/".to_owned()),
        };
        let (host, port) = match authority
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'))
        {
            Some((host, port)) => (host, port.strip_prefix(':').unwrap_or(port)),
            None => authority.split_once(':').unwrap_or((authority, "")),
        };
        let port = match port {
            "" => 80,
            port => port.parse().map_err(|_| wrong("its port is no number"))?,
        };
        let of_host = |c: char| c.is_ascii_alphanumeric() || ".-_:".contains(c);
        if host.is_empty() || !host.chars().all(of_host) {
            return Err(wrong("it names no host"));
        }
        if !path.chars().all(|c| c.is_ascii_graphic() && c != '#') {
            return Err(wrong("its path has a sign that no address has"));
        }
        Ok(Self {
            host: host.to_owned(),
            port,
            path,
        })
    }
}

/// What a decider answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExternalAnswer {
    /// It has an opinion, with a reason of its own or without.
    Says(Verdict, Option<String>),
    /// It gives none that counts, and why, in a few words.
    Failed(String),
}

impl ExternalAnswer {
    /// What a response of Cedar's form says. Where a policy failed to be evaluated it might have forbidden the call, so that is no
    /// answer.
    fn from_cedar(value: &Value) -> Self {
        let failed = |why: &str| Self::Failed(why.to_owned());
        let listed = |key: &str| {
            let found = value.pointer(&format!("/diagnostics/{key}"));
            found
                .and_then(Value::as_array)
                .map_or(&[][..], Vec::as_slice)
        };
        if !listed("errors").is_empty() {
            return failed("its policies could not all be evaluated");
        }
        let verdict = match value.get("decision").and_then(Value::as_str) {
            Some("Allow") => Verdict::Allow,
            Some("Deny") => Verdict::Deny,
            Some(_) | None => return failed("its answer says neither `Allow` nor `Deny`"),
        };
        let policies: Vec<&str> = listed("reason").iter().filter_map(Value::as_str).collect();
        let reason: String = policies.join(", ").chars().take(MAX_REASON).collect();
        Self::Says(verdict, (!reason.is_empty()).then_some(reason))
    }

    /// What a JSON value says: `true` or `false`, `{"allow": …}` or `{"verdict": …}`, with a `reason` or without.
    pub fn from_value(value: &Value) -> Self {
        let unclear = || Self::Failed("its answer says neither `verdict` nor `allow`".to_owned());
        let of_bool = |allows: bool| match allows {
            true => Verdict::Allow,
            false => Verdict::Deny,
        };
        let fields = match value {
            Value::Bool(allows) => return Self::Says(of_bool(*allows), None),
            Value::Object(fields) => fields,
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                return unclear();
            }
        };
        let allows = match fields.get("allow") {
            None => None,
            Some(Value::Bool(allows)) => Some(of_bool(*allows)),
            Some(_) => return unclear(),
        };
        let said = match fields.get("verdict") {
            None => None,
            Some(Value::String(word)) => match Verdict::from_word(word) {
                // It cannot know whether the call can be contained.
                Some(Verdict::Contain) | None => return unclear(),
                said => said,
            },
            Some(_) => return unclear(),
        };
        // Where it says both, the stricter counts.
        let Some(verdict) = allows.max(said) else {
            return unclear();
        };
        let reason = fields.get("reason").and_then(Value::as_str);
        let reason = reason.map(|text| text.chars().take(MAX_REASON).collect::<String>());
        Self::Says(verdict, reason.filter(|text| !text.trim().is_empty()))
    }
}

/// What a decider said of a call, as a decision names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalOpinion {
    /// The decider.
    pub name: String,
    /// What it said; none if it gave no answer.
    pub verdict: Option<Verdict>,
    /// Why, in its words or in ours.
    pub reason: Option<String>,
}

impl External {
    /// What is wrong with it, if anything.
    fn problem(&self) -> Option<String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if self.name.is_empty() || self.name.len() > MAX_NAME || !self.name.chars().all(plain) {
            return Some(format!(
                "a decider needs a `name` of 1 to {MAX_NAME} letters, digits, `-`, `_` and `.`"
            ));
        }
        let name = &self.name;
        if self.command.is_empty() == self.url.is_none() {
            return Some(format!("decider `{name}` needs one of `command` and `url`"));
        }
        if self.url.is_none() && (self.form.is_some() || self.principal.is_some()) {
            return Some(format!(
                "decider `{name}`: `form` and `principal` are about a `url`"
            ));
        }
        if self.principal.is_some() && self.form != Some(EndpointForm::Cedar) {
            return Some(format!(
                "decider `{name}`: `principal` needs `\"form\": \"cedar\"`"
            ));
        }
        let by_path = |program: &String| program.starts_with('/') || program.starts_with("~/");
        if !self.command.first().is_none_or(by_path) {
            return Some(format!(
                "decider `{name}`: write the full path of its program, so that no other is found in its place"
            ));
        }
        let time = self.timeout_ms.unwrap_or(USUAL_TIME);
        (!(1..=MAX_TIME).contains(&time))
            .then(|| format!("decider `{name}`: `timeoutMs` must be 1 to {MAX_TIME}"))
    }

    /// What is posted to its address to ask it.
    pub fn posted(&self, question: Value) -> Value {
        match self.form.unwrap_or_default() {
            EndpointForm::Opa => json!({ "input": question }),
            EndpointForm::Cedar => {
                let text = |key: &str| question.get(key).cloned().unwrap_or_default();
                let entity = |kind: &str, name: Value| format!("{kind}::{}", quoted(&name));
                json!({
                    "principal": self.principal.as_deref().unwrap_or(PRINCIPAL),
                    "action": entity("Action", text("tool")),
                    "resource": entity("Workspace", text("workspace")),
                    "context": without_nulls(question),
                })
            }
        }
    }

    /// What the body of its response says.
    pub fn answered(&self, body: Value) -> ExternalAnswer {
        if self.form.unwrap_or_default() == EndpointForm::Cedar {
            return ExternalAnswer::from_cedar(&body);
        }
        match body.get("result") {
            Some(result) => ExternalAnswer::from_value(result),
            None => ExternalAnswer::Failed(
                "its answer has no `result`: is the path of a rule that is defined?".to_owned(),
            ),
        }
    }

    /// How many milliseconds it may take.
    pub fn time_ms(&self) -> u64 {
        self.timeout_ms.unwrap_or(USUAL_TIME).min(MAX_TIME)
    }

    fn is_about(&self, action: &Action, decision: &Decision) -> bool {
        let own = action.call().tool().to_lowercase();
        let standing = Identity::of_name(action.call().tool()).standing_name();
        let standing = standing.map(|name| name.text().to_lowercase());
        let fits = |pattern: &String| {
            let glob = Glob::new(&pattern.to_lowercase());
            glob.matches(&own) || standing.as_ref().is_some_and(|name| glob.matches(name))
        };
        (self.tools.is_empty() || self.tools.iter().any(fits))
            && !(self.skip_read_only && decision.only_looks)
    }
}

/// The name of an entity as Cedar writes it.
fn quoted(name: &Value) -> String {
    let escaped = name.as_str().unwrap_or_default().escape_default();
    format!("\"{escaped}\"")
}

/// A value without what Cedar has no word for. The walk is as deep as a question, which is made here.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(_, value)| !value.is_null());
            kept.map(|(key, value)| (key, without_nulls(value)))
                .collect()
        }
        Value::Array(items) => {
            let kept = items.into_iter().filter(|value| !value.is_null());
            kept.map(without_nulls).collect()
        }
        // It counts in whole numbers only.
        Value::Number(number) if !number.is_i64() => Value::String(number.to_string()),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other,
    }
}

/// The deciders of a policy.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(try_from = "Vec<External>")]
pub struct Externals(pub Vec<External>);

impl TryFrom<Vec<External>> for Externals {
    type Error = String;

    fn try_from(all: Vec<External>) -> Result<Self, String> {
        match problem(&all) {
            None => Ok(Self(all)),
            Some(problem) => Err(format!("{problem}; try: see `external` in docs/policy.md")),
        }
    }
}

/// What is wrong with the deciders of a policy, if anything.
fn problem(all: &[External]) -> Option<String> {
    if all.len() > MAX_DECIDERS {
        return Some(format!(
            "at most {MAX_DECIDERS} deciders can be asked about a call"
        ));
    }
    let twice = all.iter().enumerate().find(|(at, one)| {
        let before = all.get(..*at).unwrap_or_default();
        before.iter().any(|other| other.name == one.name)
    });
    let twice = twice.map(|(_, one)| format!("two deciders are called `{}`", one.name));
    all.iter().find_map(External::problem).or(twice)
}

impl Policy {
    /// Whether somebody outside is asked about calls, so that a decision is not a matter of what is known here.
    pub fn asks_outside(&self) -> bool {
        self.layers.iter().any(|layer| !layer.external.is_empty())
    }
}

/// A decision with what deciders outside say of it. `ask` hands one the question; it is asked only where nothing has refused
/// the call yet, and whatever it answers, the decision is not looser than before.
pub fn ask_outside(
    mut decision: Decision,
    action: &Action,
    policy: &Policy,
    around: &Surroundings<'_>,
    mut ask: impl FnMut(&External, &Value) -> ExternalAnswer,
) -> Decision {
    if !policy.asks_outside() {
        return decision;
    }
    // Where the policy only observes, what they say is on record like the rest, and nobody is held to it.
    let observed = decision.observed.is_some();
    if observed {
        decision = decision.as_if_enforced();
    }
    decision = tightened_by_all(decision, action, policy, around, &mut ask);
    match observed {
        true => decision.not_enforced(),
        false => decision,
    }
}

/// The decision with what each decider says that is to be asked.
fn tightened_by_all(
    mut decision: Decision,
    action: &Action,
    policy: &Policy,
    around: &Surroundings<'_>,
    ask: &mut impl FnMut(&External, &Value) -> ExternalAnswer,
) -> Decision {
    let mut question: Option<Value> = None;
    for layer in policy.layers() {
        for decider in &layer.external {
            if decision.verdict == Verdict::Deny {
                return decision;
            }
            if !decider.is_about(action, &decision) {
                continue;
            }
            if let Some(conditions) = &decider.facts {
                let facts = Gathered::new(action, *around);
                let holds = facts.hold(conditions, Purpose::Tighten, None).is_some();
                for used in facts.into_used() {
                    if !decision.facts.contains(&used) {
                        decision.facts.push(used);
                    }
                }
                if !holds {
                    continue;
                }
            }
            let question = question.get_or_insert_with(|| asked(action, &decision, around));
            let answer = ask(decider, question);
            decision = tightened(decision, decider, layer.authority, answer);
        }
    }
    decision
}

/// What a decider is asked.
fn asked(action: &Action, decision: &Decision, around: &Surroundings<'_>) -> Value {
    let call = action.call();
    json!({
        "v": 1,
        "tool": call.tool(),
        "input": call.input(),
        "directory": call.cwd().or(around.workspace),
        "workspace": around.workspace,
        "verdict": decision.verdict,
        "risk": decision.risk,
        "rule": decision.rule,
        "reason": decision.reason,
        "facts": decision.facts,
        "understood": explained(action, around),
    })
}

fn tightened(
    mut decision: Decision,
    decider: &External,
    authority: Authority,
    answer: ExternalAnswer,
) -> Decision {
    let name = &decider.name;
    let (said, verdict, reason) = match answer {
        ExternalAnswer::Says(verdict, reason) => {
            let words = match &reason {
                Some(reason) => format!("`{name}` says: {reason}"),
                None => format!("`{name}` says {}", verdict.as_str()),
            };
            (Some((verdict, reason)), verdict, words)
        }
        ExternalAnswer::Failed(why) => {
            let verdict = match decider.on_failure.unwrap_or_default() {
                OnFailure::Ask => Verdict::Ask,
                OnFailure::Deny => Verdict::Deny,
            };
            (None, verdict, format!("`{name}` gave no answer: {why}"))
        }
    };
    let (said, its_reason) = said.map_or((None, Some(reason.clone())), |(verdict, reason)| {
        (Some(verdict), reason)
    });
    decision.external.push(ExternalOpinion {
        name: name.clone(),
        verdict: said,
        reason: its_reason,
    });
    if verdict <= decision.verdict {
        return decision;
    }
    let rule = format!("external.{name}");
    let finding = Finding {
        rule: rule.clone(),
        verdict,
        risk: decision.risk.max(Risk::Medium),
        reason: reason.clone(),
        part: None,
        span: None,
        method: Method::ToolPolicy,
        layer: Some(authority),
    };
    decision.findings.insert(0, finding);
    decision.tell.clear();
    // It knows nothing of another form of the call.
    decision.rewrite = None;
    decision.uncontained = None;
    Decision {
        verdict,
        risk: decision.risk.max(Risk::Medium),
        method: Method::ToolPolicy,
        rule: Some(rule),
        reason,
        instead: None,
        ..decision
    }
}
