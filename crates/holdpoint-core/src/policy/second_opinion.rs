//! Whom the approval daemon asks about a text nobody is sure of, and what their word may do.
//!
//! This is what a policy says of it. Asking is the daemon's, which has a network; which texts are asked about and what comes of
//! the answer is the engine's.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};

use super::layer::{Authority, Policy, Trust};

/// How many milliseconds a model server has, where the policy does not say: a person who waits for an agent waits for it, too.
const USUAL_TIME: u32 = 2_000;

/// The most a policy may give it. Agents end a hook that reads a text after thirty seconds, and it must have time to answer.
const MAX_TIME: u32 = 20_000;

/// How much to either side of what was found a model that chats is shown: enough to tell talk from orders, and little enough for a
/// small one to read in its time.
const AROUND_FOR_CHAT: usize = 4 << 10;

/// The same for a classifier. Those in use read 512 tokens, some 1,500 bytes, and cut what is longer: what was found must be
/// among them.
const AROUND_FOR_CLASSIFIER: usize = 500;

/// From which score on a classifier means it, where the policy does not say: more likely than not.
const USUAL_SCORE: f32 = 0.5;

/// The labels by which classifiers in use call an attack.
const USUAL_LABELS: &[&str] = &["INJECTION", "JAILBREAK", "MALICIOUS", "ATTACK", "LABEL_1"];

/// A model server that is asked for a second opinion on texts nobody is sure of.
///
/// Its word makes an annotated text a withheld one. It makes nothing less strict unless `mayLower` says so, and what a rule
/// withholds or anything blocks it never touches.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SecondOpinion {
    /// Its address: `http://127.0.0.1:11434/v1/chat/completions`, or `http://127.0.0.1:8080/predict` for a classifier. It must
    /// be on this machine, or at a number of a private network.
    pub url: String,
    /// The model to ask, by the name the server knows. A server of classifiers has one, and this is what the record calls it.
    pub model: String,
    /// What it speaks. Without it: chat.
    #[serde(default)]
    pub api: OpinionApi,
    /// How many milliseconds it has. Without it: 2000; at most 20000.
    #[serde(default, alias = "deadline_ms")]
    pub deadline_ms: Option<u32>,
    /// The labels by which a classifier calls an attack. Without it: INJECTION, JAILBREAK, MALICIOUS, ATTACK, LABEL_1.
    #[serde(default, alias = "attack_labels")]
    pub attack_labels: Option<Vec<String>>,
    /// From which score of these labels on, all taken together, it is one. Without it: 0.5.
    #[serde(default, alias = "attack_from", deserialize_with = "score")]
    pub attack_from: Option<f32>,
    /// A variable of the daemon's environment with the key the server wants, which is sent as `Authorization: Bearer`.
    #[serde(default, alias = "key_env")]
    pub key_env: Option<String>,
    /// A file with that key, which nobody but you may read; its full path, or one that starts with `~/`.
    #[serde(default, alias = "key_file")]
    pub key_file: Option<String>,
    /// Whether its word `harmless` lets a text on with a note that the classifier alone would have withheld. Without it: no. The
    /// session is marked all the same.
    #[serde(default, alias = "may_lower")]
    pub may_lower: bool,
}

/// What a model server speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum OpinionApi {
    /// Chats as OpenAI's API takes them: Ollama, llama.cpp, vLLM, LM Studio.
    #[default]
    Chat,
    /// `{"inputs": …}` in, labels with scores out, as Text Embeddings Inference has it for models in ONNX.
    Classify,
}

/// The other spellings of the keys, for the schema; the reader has them as aliases.
#[cfg(feature = "schema")]
pub(super) const SECOND_OPINION_ALIASES: &[(&str, &[&str])] = &[
    ("deadlineMs", &["deadline_ms"]),
    ("attackLabels", &["attack_labels"]),
    ("attackFrom", &["attack_from"]),
    ("keyEnv", &["key_env"]),
    ("keyFile", &["key_file"]),
    ("mayLower", &["may_lower"]),
];

impl SecondOpinion {
    /// How many milliseconds it has.
    pub fn deadline(&self) -> u64 {
        u64::from(self.deadline_ms.unwrap_or(USUAL_TIME).min(MAX_TIME))
    }

    /// How many bytes to either side of what was found it is shown.
    pub fn reach(&self) -> usize {
        match self.api {
            OpinionApi::Chat => AROUND_FOR_CHAT,
            OpinionApi::Classify => AROUND_FOR_CLASSIFIER,
        }
    }

    /// From which score on a classifier means it.
    pub fn min_score(&self) -> f32 {
        self.attack_from.unwrap_or(USUAL_SCORE)
    }

    /// Whether a classifier means an attack by a label.
    pub fn means_attack(&self, label: &str) -> bool {
        match &self.attack_labels {
            Some(labels) => labels.iter().any(|it| it.eq_ignore_ascii_case(label)),
            None => USUAL_LABELS.iter().any(|it| it.eq_ignore_ascii_case(label)),
        }
    }
}

/// A score that some texts reach and others do not.
fn score<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<f32>, D::Error> {
    let score = Option::<f32>::deserialize(reader)?;
    match score {
        Some(score) if !(score > 0.0 && score <= 1.0) => Err(de::Error::custom(
            "a score is above 0 and at most 1; try: write 0.5",
        )),
        fine => Ok(fine),
    }
}

impl Policy {
    /// The model server that is asked about what is uncertain. A project does not choose who reads its user's texts, trusted
    /// or not: only the user and whoever manages the machine do.
    pub fn second_opinion(&self) -> Option<&SecondOpinion> {
        self.layers()
            .iter()
            .filter(|layer| layer.trust == Trust::Trusted && layer.authority != Authority::Project)
            .find_map(|layer| layer.injection.as_ref()?.second_opinion.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::super::layer::Source;
    use super::*;

    use Authority::{Managed, Project, User};
    use Trust::{Trusted, Untrusted};

    const NAMED: &str = r#""url": "http://127.0.0.1:1/v1/chat/completions", "model": "m""#;

    fn named_by(authority: Authority, trust: Trust, more: &str) -> Option<SecondOpinion> {
        let source = Source {
            name: "test".into(),
            authority,
            trust,
            bytes: format!("{{\"injection\":{{\"secondOpinion\":{{{NAMED}{more}}}}}}}")
                .into_bytes(),
        };
        let policy = Policy::compile(vec![source]).unwrap();
        policy.second_opinion().cloned()
    }

    #[test]
    fn only_the_user_and_the_machine_name_a_second_opinion() {
        assert_eq!(named_by(User, Trusted, "").unwrap().model, "m");
        assert_eq!(named_by(Managed, Trusted, "").unwrap().model, "m");
        assert!(named_by(Project, Trusted, "").is_none());
        assert!(named_by(Project, Untrusted, r#", "mayLower": true"#).is_none());
        assert!(
            Policy::compile(Vec::new())
                .unwrap()
                .second_opinion()
                .is_none()
        );
    }

    #[test]
    fn who_says_nothing_gives_it_two_seconds_and_no_power_to_loosen() {
        let server = named_by(User, Trusted, "").unwrap();
        assert_eq!((server.deadline(), server.may_lower), (2_000, false));
        assert_eq!(server.api, OpinionApi::Chat);
        assert!(server.key_env.is_none() && server.key_file.is_none());
        let slow = named_by(User, Trusted, r#", "deadlineMs": 90000"#).unwrap();
        assert_eq!(slow.deadline(), 20_000);
    }

    #[test]
    fn a_classifiers_labels_are_its_own() {
        let usual = named_by(User, Trusted, r#", "api": "classify""#).unwrap();
        assert!(usual.means_attack("injection") && usual.means_attack("LABEL_1"));
        assert!(!usual.means_attack("SAFE") && !usual.means_attack("LABEL_0"));
        assert!(usual.reach() < named_by(User, Trusted, "").unwrap().reach());
        let own = r#", "api": "classify", "attack_labels": ["bad"], "attackFrom": 0.9"#;
        let own = named_by(User, Trusted, own).unwrap();
        assert!(own.means_attack("BAD") && !own.means_attack("INJECTION"));
        assert!((own.min_score() - 0.9).abs() < f32::EPSILON);
    }

    #[test]
    fn a_score_nobody_reaches_or_everybody_does_is_an_error() {
        for odd in ["0", "-1", "1.5"] {
            let text =
                format!(r#"{{"injection":{{"secondOpinion":{{{NAMED}, "attackFrom": {odd}}}}}}}"#);
            let error = Policy::from_text("test", text).unwrap_err().to_string();
            assert!(error.contains("above 0 and at most 1"), "{error}");
        }
    }
}
