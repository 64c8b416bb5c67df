//! Whatever a policy, a session and a call say, the judge answers, and its promises hold.
//!
//! - The same inputs give the same decision.
//! - Deny is absolute: what a rule refuses in an empty session is refused in every session. A
//!   default is not a rule; a session may replace it.
//! - A project file nobody trusts only tightens.
//! - Every place a finding names lies in the command.
//!
//! The input is a small language, so that a mutation of it is still a policy and a call. Each
//! line is a statement, and one that says nothing is skipped; the last one runs to the end:
//!
//! ```text
//! deny pattern rm -rf *              deny|ask|allow  tool|pattern
//! deny argument Bash command sudo    deny|allow, a tool, one of its arguments, a value
//! tool Bash confirm git push         a tool, its supervision, words its command starts with
//! file write deny *.env              read|write|delete deny|ask|allow, or `file root|blocked`
//! block curl                         switches the sanitizer on
//! limit Bash 3                       calls of a tool in one session
//! default ask, autonomy readonly, profile hooks
//! layer managed                      what follows is in another file
//! session allow *                    session allow|deny|default|suspend
//! called Bash 4                      calls already made
//! cwd /ws/sub
//! $ ls; rm x                         a shell command
//! @Write {"file_path": "x"}          any other call
//! ```
#![no_main]

use std::collections::BTreeMap;

use holdpoint_core::paths::{Entry, Lookup};
use holdpoint_core::policy::{Authority, Source, Trust};
use holdpoint_core::{
    Autonomy, Decision, DefaultPolicy, Policy, Profile, Session, SessionState, StrictValue,
    Supervision, Surroundings, Suspensions, ToolCall, Verdict, judge_call,
};
use libfuzzer_sys::fuzz_target;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fuzz_target!(|text: &str| {
    let Some(case) = Case::read(text) else { return };
    let Ok(policy) = Policy::compile(case.sources(Layer::ALL)) else {
        return;
    };

    let alone = case.decide(&policy, SessionState::default());
    let drawn = case.decide(&policy, case.session.clone());
    assert_eq!(drawn, case.decide(&policy, case.session.clone()));

    if by_rule(&alone) {
        for state in case.generous_states() {
            assert_eq!(
                case.decide(&policy, state).verdict,
                Verdict::Deny,
                "{}: {}",
                alone.method.as_str(),
                alone.reason
            );
        }
    }

    let trusted = case.sources(&[Layer::Managed, Layer::User, Layer::Project]);
    if !trusted.is_empty()
        && let Ok(policy) = Policy::compile(trusted)
    {
        let before = case.decide(&policy, case.session.clone());
        assert!(
            drawn.verdict >= before.verdict,
            "an untrusted file turned {:?} into {:?}",
            before.verdict,
            drawn.verdict
        );
    }
});

/// Whether a rule refuses the call, and not only the default.
fn by_rule(decision: &Decision) -> bool {
    let refused = decision
        .findings
        .iter()
        .any(|finding| finding.verdict == Verdict::Deny);
    assert!(!refused || decision.verdict == Verdict::Deny);
    refused
}

/// A policy, a session and a call, as the input says them.
struct Case {
    layers: BTreeMap<Layer, Value>,
    session: SessionState,
    call: ToolCall,
}

/// A policy file, by who wrote it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Layer {
    Managed,
    User,
    Project,
    Untrusted,
}

impl Layer {
    const ALL: &[Layer] = &[
        Layer::Managed,
        Layer::User,
        Layer::Project,
        Layer::Untrusted,
    ];

    fn named(word: &str) -> Option<Self> {
        match word {
            "managed" => Some(Layer::Managed),
            "user" => Some(Layer::User),
            "project" => Some(Layer::Project),
            "untrusted" => Some(Layer::Untrusted),
            _ => None,
        }
    }

    fn source(self, document: &Value) -> Source {
        Source {
            name: "fuzz".into(),
            authority: match self {
                Layer::Managed => Authority::Managed,
                Layer::User => Authority::User,
                Layer::Project | Layer::Untrusted => Authority::Project,
            },
            trust: match self {
                Layer::Managed | Layer::User | Layer::Project => Trust::Trusted,
                Layer::Untrusted => Trust::Untrusted,
            },
            bytes: document.to_string().into_bytes(),
        }
    }
}

impl Case {
    fn read(text: &str) -> Option<Self> {
        let mut layers = BTreeMap::new();
        let mut layer = Layer::User;
        let mut session = SessionState::default();
        let mut directory = None;
        let mut rest = text;
        let call = loop {
            if let Some(command) = rest.strip_prefix("$ ") {
                break ToolCall::shell(command);
            }
            if let Some(call) = rest.strip_prefix('@') {
                let (tool, input) = call.split_once(' ')?;
                let StrictValue(input) = serde_json::from_str(input).ok()?;
                break ToolCall::new(tool, input).ok()?;
            }
            let (line, after) = rest.split_once('\n')?;
            rest = after;
            let (verb, what) = line.split_once(' ').unwrap_or((line, ""));
            match verb {
                "layer" => layer = Layer::named(what).unwrap_or(layer),
                "session" => remember(&mut session, what),
                "called" => {
                    if let Some((tool, count)) = what.rsplit_once(' ') {
                        session
                            .calls
                            .insert(tool.into(), count.parse().unwrap_or(1));
                    }
                }
                "cwd" => directory = Some(what.to_owned()),
                _ => write(layers.entry(layer).or_insert(json!({})), verb, what),
            }
        };
        Some(Self {
            layers,
            session,
            call: match directory {
                Some(directory) => call.in_directory(directory),
                None => call,
            },
        })
    }

    fn sources(&self, wanted: &[Layer]) -> Vec<Source> {
        self.layers
            .iter()
            .filter(|(layer, _)| wanted.contains(layer))
            .map(|(layer, document)| layer.source(document))
            .collect()
    }

    /// Judges the call, and checks what holds of every decision.
    fn decide(&self, policy: &Policy, state: SessionState) -> Decision {
        let around = Surroundings {
            workspace: Some("/ws"),
            directory: None,
            home: Some("/home/dev"),
            lookup: &Links,
            can_contain: false,
        };
        let decision = judge_call(&self.call, policy, &Session::new(state), &around);
        let texts = self.command_texts();
        for finding in &decision.findings {
            if let Some([start, end]) = finding.span {
                assert!(
                    texts.iter().any(|text| text.get(start..end).is_some()),
                    "{start}..{end} of `{}` is not in the command",
                    finding.rule
                );
            }
        }
        decision
    }

    /// The texts a span can be about: the line of a shell tool, or any argument of another tool
    /// that holds a command.
    fn command_texts(&self) -> Vec<String> {
        let line = self.call.signature();
        let by_argument = ["cmd", "command"]
            .iter()
            .filter_map(|key| self.call.input().get(*key)?.as_str())
            .map(str::to_owned);
        let form = format!("{}(", self.call.tool());
        if line.starts_with(&form) {
            by_argument.collect()
        } else {
            vec![line]
        }
    }

    /// The drawn session, and those that want to let everything through.
    fn generous_states(&self) -> [SessionState; 4] {
        let everything = || SessionState {
            allow: vec!["*".into(), self.call.tool().into(), self.call.signature()],
            default: Some(DefaultPolicy::Allow),
            ..SessionState::default()
        };
        let suspended = Suspensions {
            turn: true,
            idle: true,
            all: true,
        };
        [
            self.session.clone(),
            everything(),
            SessionState {
                suspended,
                ..SessionState::default()
            },
            SessionState {
                suspended,
                ..everything()
            },
        ]
    }
}

/// Adds a statement to a session.
fn remember(session: &mut SessionState, what: &str) {
    let (verb, what) = what.split_once(' ').unwrap_or((what, ""));
    match verb {
        "allow" => session.allow.push(what.into()),
        "deny" => session.deny.push(what.into()),
        "default" => session.default = serde_json::from_value(what.into()).ok(),
        "suspend" => match what {
            "turn" => session.suspended.turn = true,
            "idle" => session.suspended.idle = true,
            "all" => session.suspended.all = true,
            _ => {}
        },
        _ => {}
    }
}

/// Adds a statement to a policy document.
fn write(document: &mut Value, verb: &str, what: &str) {
    let words: Vec<&str> = what.splitn(4, ' ').collect();
    let one_word = || what.split_once(' ');
    match (verb, words.as_slice()) {
        ("deny" | "ask" | "allow", ["tool", ..]) => {
            push(&mut document[verb]["tools"], one_word());
        }
        ("deny" | "ask" | "allow", ["pattern", ..]) => {
            push(&mut document[verb]["patterns"], one_word());
        }
        ("deny" | "allow", ["argument", tool, name, value]) => {
            let list = &mut document[verb]["arguments"][*tool][*name];
            push(list, Some(("", *value)));
        }
        ("tool", [tool, supervision, rest @ ..]) if is_word::<Supervision>(supervision) => {
            let mut rule = json!({"supervision": supervision});
            if !rest.is_empty() {
                rule["conditions"] = json!({"command_starts_with": rest.join(" ")});
            }
            push_value(&mut document["tools"][*tool], rule);
        }
        ("limit", [tool, count]) => {
            let rule = json!({"maxCalls": count.parse::<u64>().unwrap_or(1)});
            push_value(&mut document["tools"][*tool], rule);
        }
        ("file", ["root", ..]) => push(&mut document["files"]["roots"], one_word()),
        ("file", ["blocked", ..]) => push(&mut document["files"]["blocked"], one_word()),
        (
            "file",
            [
                verb @ ("read" | "write" | "delete"),
                list @ ("deny" | "ask" | "allow"),
                ..,
            ],
        ) => {
            let pattern = what.splitn(3, ' ').nth(2).map(|pattern| ("", pattern));
            push(&mut document["files"][*verb][*list], pattern);
        }
        ("block", _) => {
            document["sanitization"]["enabled"] = true.into();
            push(
                &mut document["sanitization"]["custom_blocked_commands"],
                Some(("", what)),
            );
        }
        ("default", _) if is_word::<DefaultPolicy>(what) => {
            document["defaultPolicy"] = what.into();
        }
        ("autonomy", _) if is_word::<Autonomy>(what) => document[verb] = what.into(),
        ("profile", _) if is_word::<Profile>(what) => document[verb] = what.into(),
        _ => {}
    }
}

fn is_word<T: DeserializeOwned>(word: &str) -> bool {
    serde_json::from_value::<T>(word.into()).is_ok()
}

fn push(list: &mut Value, statement: Option<(&str, &str)>) {
    if let Some((_, what)) = statement {
        push_value(list, what.into());
    }
}

fn push_value(list: &mut Value, value: Value) {
    match list {
        Value::Array(values) => values.push(value),
        list => *list = json!([value]),
    }
}

/// A workspace with a link that leads out of it, one that leads in a circle, and a directory
/// that cannot be looked at.
struct Links;

impl Lookup for Links {
    fn entry(&self, path: &str) -> Entry {
        match path {
            "/ws/out" => Entry::Link("/etc".into()),
            "/ws/loop" => Entry::Link("loop".into()),
            "/ws/shut" => Entry::Unreadable,
            _ => Entry::Other,
        }
    }
}
