//! The table's types. What the words mean is said at the top of `scenarios.toml`.

use std::collections::{BTreeMap, BTreeSet};

use holdpoint_broker::Answer;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The adapters, as the table names them.
pub(crate) const ADAPTERS: &[&str] = &["hook", "check", "middleware", "acp", "daemon"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    /// Why an adapter differs, in a sentence for each word.
    reasons: BTreeMap<String, String>,
    #[serde(rename = "scenario")]
    pub(crate) scenarios: Vec<Scenario>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) policy: Value,
    /// A policy that is no JSON, in place of one that is.
    pub(crate) policy_text: Option<String>,
    /// The files of the workspace.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    /// What the session remembers before the first call.
    pub(crate) remembered: Option<Value>,
    /// Whether it has a home to itself.
    #[serde(default)]
    pub(crate) alone: bool,
    /// Whether commands can be contained on its machine.
    #[serde(default)]
    pub(crate) sandbox: bool,
    /// Whether the daemon runs; in a home of its own it may not.
    #[serde(default = "yes")]
    pub(crate) daemon: bool,
    #[serde(rename = "step")]
    pub(crate) steps: Vec<Step>,
    pub(crate) records: Vec<String>,
    /// What the session remembers in the end.
    #[serde(default = "nothing")]
    pub(crate) session: Value,
    /// How many copies were made of what calls would change.
    #[serde(default)]
    pub(crate) backups: usize,
    /// Who cannot be told of this, and the word for why.
    #[serde(default)]
    pub(crate) cannot: BTreeMap<String, String>,
    /// Whose end is another, and the word for why.
    #[serde(default)]
    pub(crate) but: BTreeMap<String, Otherwise>,
}

/// What an adapter comes to instead.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Otherwise {
    pub(crate) reason: String,
    pub(crate) ends: Option<Vec<String>>,
    pub(crate) records: Option<Vec<String>>,
    pub(crate) session: Option<Value>,
    pub(crate) backups: Option<usize>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// A shell command; else a tool and its arguments.
    call: Option<String>,
    /// Shell commands that are made at once, in place of one.
    #[serde(default)]
    pub(crate) race: Vec<String>,
    tool: Option<String>,
    input: Option<Map<String, Value>>,
    /// The turn of the conversation.
    pub(crate) turn: Option<String>,
    /// What happens before the call is made.
    #[serde(default)]
    pub(crate) before: Change,
    /// What happens while the call is held, before anybody answers.
    #[serde(default)]
    pub(crate) meanwhile: Change,
    /// What people answer, one after the other.
    #[serde(default)]
    pub(crate) answers: Vec<String>,
    /// Whether nobody answers for as long as the caller waits.
    #[serde(default)]
    pub(crate) unanswered: bool,
    /// Whether the agent gives the call up once people have given their answers.
    #[serde(default)]
    pub(crate) withdrawn: bool,
    /// Whether what makes the call is killed then, and can say nothing more.
    #[serde(default)]
    pub(crate) killed: bool,
    pub(crate) ends: String,
}

/// Something that happens beside the calls.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Change {
    /// Files of the workspace that are written.
    pub(crate) files: BTreeMap<String, String>,
    /// The policy, from now on.
    pub(crate) policy: Option<Value>,
    /// The answer to a request nobody waits for.
    pub(crate) answer: Option<String>,
    /// The answer to the request before, which is no longer there.
    pub(crate) late: Option<String>,
    /// A file of the state, relative to it, that something else stands in the way of.
    pub(crate) blocked: Option<String>,
}

impl Change {
    pub(crate) fn is_none(&self) -> bool {
        self.files.is_empty()
            && self.policy.is_none()
            && self.answer.is_none()
            && self.late.is_none()
            && self.blocked.is_none()
    }
}

fn yes() -> bool {
    true
}

fn nothing() -> Value {
    json!({})
}

impl Table {
    pub(crate) fn read() -> Self {
        toml::from_str(include_str!("scenarios.toml")).unwrap()
    }

    /// Every name and every reason that is used is one.
    pub(crate) fn check(&self) {
        let mut names = BTreeSet::new();
        let mut used = BTreeSet::new();
        for scenario in &self.scenarios {
            let name = &scenario.name;
            assert!(names.insert(name), "`{name}` stands there twice");
            let apart = scenario.cannot.iter();
            let but = scenario.but.iter().map(|(who, but)| (who, &but.reason));
            for (who, why) in apart.chain(but) {
                assert!(ADAPTERS.contains(&who.as_str()), "{name}: who is `{who}`?");
                assert!(self.reasons.contains_key(why), "{name}: why `{why}`?");
                used.insert(why);
            }
            assert!(scenario.cannot.len() < ADAPTERS.len(), "{name}: for nobody");
        }
        assert!(self.reasons.keys().all(|why| used.contains(why)));
    }
}

impl Scenario {
    /// One without steps, under a policy.
    pub(crate) fn under(policy: &Value) -> Self {
        Self {
            name: String::new(),
            policy: policy.clone(),
            policy_text: None,
            files: BTreeMap::new(),
            remembered: None,
            alone: false,
            sandbox: false,
            daemon: true,
            steps: Vec::new(),
            records: Vec::new(),
            session: nothing(),
            backups: 0,
            cannot: BTreeMap::new(),
            but: BTreeMap::new(),
        }
    }

    /// The policy as it stands in its file: people are asked by the daemon, and no caller waits for
    /// longer than a test may take.
    pub(crate) fn policy_text(&self) -> String {
        match &self.policy_text {
            Some(text) => text.clone(),
            None => whole_policy(&self.policy).to_string(),
        }
    }

    /// How long a caller waits, in seconds.
    pub(crate) fn wait(&self) -> u64 {
        let stated = self.policy["approval"]["wait"].as_u64();
        stated.unwrap_or(MAX_WAIT)
    }
}

/// The seconds a caller waits where the scenario does not say.
const MAX_WAIT: u64 = 20;

/// A policy of the table, with what all of them say.
pub(crate) fn whole_policy(policy: &Value) -> Value {
    let mut whole =
        json!({"channel": {"type": "daemon"}, "approval": {"wait": MAX_WAIT, "presence": "none"}});
    for (key, value) in policy.as_object().into_iter().flatten() {
        match (key.as_str(), value) {
            ("approval", Value::Object(terms)) => {
                for (term, value) in terms {
                    whole["approval"][term] = value.clone();
                }
            }
            _ => whole[key] = value.clone(),
        }
    }
    whole
}

impl Step {
    /// The tools and their arguments. `{work}` is the workspace.
    pub(crate) fn calls(&self, work: &str) -> Vec<(String, Map<String, Value>)> {
        let shell = |command: &String| {
            let command = command.replace("{work}", work);
            let input = Map::from_iter([("command".to_owned(), json!(command))]);
            ("Bash".to_owned(), input)
        };
        match (&self.call, &self.tool, self.race.as_slice()) {
            (Some(command), None, []) => vec![shell(command)],
            (None, Some(tool), []) => {
                let input = Value::Object(self.input.clone().unwrap_or_default());
                let text = input.to_string().replace("{work}", work);
                vec![(tool.clone(), serde_json::from_str(&text).unwrap())]
            }
            (None, None, [_, _, ..]) => self.race.iter().map(shell).collect(),
            _ => panic!("a step has a call, a tool or a race"),
        }
    }
}

/// What a person says, and who it is; the owner of the machine if it does not say.
pub(crate) struct Saying {
    pub(crate) who: Option<String>,
    pub(crate) answer: Answer,
    pub(crate) phrase: Option<String>,
}

impl Saying {
    /// Reads `yes`, `always prefix`, `comment why`, `edit command=make`, `yes, release make` (with a
    /// phrase), `ann: yes`.
    pub(crate) fn read(text: &str) -> Self {
        let (who, text) = match text.split_once(": ") {
            Some((who, text)) => (Some(who.to_owned()), text),
            None => (None, text),
        };
        let (text, phrase) = match text.split_once(", ") {
            Some((text, phrase)) => (text, Some(phrase.to_owned())),
            None => (text, None),
        };
        let answer = match text.strip_prefix("edit ") {
            Some(edit) => {
                let (key, value) = edit.split_once('=').unwrap();
                let input = Map::from_iter([(key.to_owned(), json!(value))]);
                Answer::Edit { input }
            }
            None => match Answer::typed(text) {
                Some(holdpoint_broker::answer::Typed::Answer(answer)) => answer,
                other => panic!("`{text}` is no answer: {other:?}"),
            },
        };
        Self {
            who,
            answer,
            phrase,
        }
    }
}
