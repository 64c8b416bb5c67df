//! On which terms a person is asked: the strictest any layer states.
//!
//! A project nobody trusts may ask for more people, never for other people or more time.

use std::collections::BTreeSet;

use super::document::{Approval, Channel, Fallback, RuleTerms};
use super::layer::{Layer, Policy, Trust};
use super::presence::{Presence, PresenceByRisk, StatedPresence};
use crate::catalogue;
use crate::glob::Glob;
use crate::verdict::Risk;

/// How long a request waits if nobody says otherwise (X-13).
const DEADLINE: i64 = 300;

/// How long a hook waits for the answer if nobody says otherwise, and at most: less than the agents
/// are told to wait for the hook.
const WAIT: u64 = 300;
const MAX_WAIT: u64 = 540;

/// The terms of one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskingTerms {
    /// Seconds until it is refused; none means never.
    pub deadline: Option<u64>,
    /// Who may answer; empty means whoever is signed in.
    pub approvers: Vec<String>,
    /// How many people must say yes.
    pub required: u32,
    /// The arguments a person may change.
    pub editable: Vec<String>,
}

impl AskingTerms {
    /// Whether certain people, or several, must say yes.
    pub fn wants_certain_people(&self) -> bool {
        self.required > 1 || !self.approvers.is_empty()
    }

    /// Both of two terms.
    fn and(self, other: Self) -> Self {
        let approvers = match (self.approvers.as_slice(), other.approvers.as_slice()) {
            ([], _) => other.approvers,
            (_, []) => self.approvers,
            (one, two) => {
                let both = one.iter().filter(|name| two.contains(name)).cloned();
                let both: Vec<String> = both.collect();
                match both.is_empty() {
                    true => vec![NOBODY.to_owned()],
                    false => both,
                }
            }
        };
        Self {
            deadline: [self.deadline, other.deadline].into_iter().flatten().min(),
            approvers,
            required: self.required.max(other.required),
            editable: self.editable,
        }
    }
}

impl Policy {
    /// The terms on which a person is asked about a call of `tool` that `rule` stopped.
    pub fn asking_terms(&self, tool: &str, rule: Option<&str>) -> AskingTerms {
        let mut deadline = None;
        let mut approvers: Option<BTreeSet<String>> = None;
        let mut required = 1;
        for layer in self.layers() {
            // The nearest word of a layer counts; the first layer that says anything, for the time.
            let stated = Stated::from_layer(layer, tool, rule);
            required = required.max(stated.required.unwrap_or(1));
            if layer.trust == Trust::Untrusted {
                continue;
            }
            deadline = deadline.or(stated.deadline);
            if let Some(own) = stated.approvers {
                approvers = Some(match approvers {
                    // Both layers must agree to somebody.
                    Some(others) => others.intersection(&own).cloned().collect(),
                    None => own,
                });
            }
        }
        let deadline = deadline.or_else(|| channel_of(self)?.settings.timeout);
        AskingTerms {
            deadline: u64::try_from(deadline.unwrap_or(DEADLINE))
                .ok()
                .filter(|seconds| *seconds > 0),
            approvers: match approvers {
                // Layers that agree to nobody leave nobody, not everybody.
                Some(none) if none.is_empty() => vec![NOBODY.to_owned()],
                Some(some) => some.into_iter().collect(),
                None => Vec::new(),
            },
            required,
            editable: self.editable(tool),
        }
    }

    /// The terms of a call that several rules stopped: everything that any of them wants.
    pub fn asking_terms_of<'r>(
        &self,
        tool: &str,
        rules: impl Iterator<Item = &'r str>,
    ) -> Option<AskingTerms> {
        rules
            .map(|rule| self.asking_terms(tool, Some(rule)))
            .reduce(AskingTerms::and)
    }

    /// How sure it must be that a person was there who lets a call of `tool` run that these rules stopped; none where nobody
    /// states anything.
    pub fn stated_presence<'r>(
        &self,
        tool: &str,
        rules: impl Iterator<Item = &'r str>,
        risk: Risk,
    ) -> Option<StatedPresence> {
        let of = |rule: Option<&str>| {
            self.layers().iter().fold(None, |before, layer| {
                let stated = Stated::from_layer(layer, tool, rule);
                StatedPresence::heard(before, stated.presence.level(risk), layer.authority)
            })
        };
        rules
            .map(|rule| of(Some(rule)))
            .reduce(StatedPresence::and)
            .unwrap_or_else(|| of(None))
    }

    /// The levels of presence that are stated for single rules and tools, with the key that states them.
    pub fn presence_by_name(&self) -> Vec<(String, Presence)> {
        let mut found = Vec::new();
        for layer in self.layers() {
            let rules = layer.approval.iter().flat_map(|approval| &approval.rules);
            let rules = rules.map(|(glob, terms)| (format!("approval.rules.{glob}"), terms));
            let tools = layer.tools.every_terms();
            let tools = tools.map(|(name, terms)| (format!("tools.{name}.approval"), terms));
            for (key, terms) in rules.chain(tools) {
                let levels = terms.presence.every_level().into_iter();
                found.extend(levels.map(|level| (key.clone(), level)));
            }
        }
        found
    }

    /// Whether certain people, or several, must say yes to a call of `tool` that `rule` stopped. What
    /// one person leaves in a session does not speak for them.
    pub(crate) fn wants_certain_people(&self, tool: &str, rule: Option<&str>) -> bool {
        self.asking_terms(tool, rule).wants_certain_people()
    }

    /// Seconds a hook waits for an answer.
    pub fn answer_wait(&self) -> u64 {
        let stated = self.stated(|approval| approval.wait);
        stated.unwrap_or(WAIT).min(MAX_WAIT)
    }

    /// What happens when the daemon does not run: the strictest word of any layer.
    pub fn fallback(&self) -> Fallback {
        self.trusted()
            .filter_map(|layer| layer.approval.as_ref()?.fallback)
            .max()
            .unwrap_or_default()
    }

    fn editable(&self, tool: &str) -> Vec<String> {
        let stated = self.trusted().find_map(|layer| layer.tools.editable(tool));
        match stated {
            Some(keys) => keys,
            None => catalogue::editable(tool)
                .iter()
                .map(|key| (*key).to_owned())
                .collect(),
        }
    }

    fn stated<T>(&self, of: impl Fn(&Approval) -> Option<T>) -> Option<T> {
        self.trusted()
            .find_map(|layer| layer.approval.as_ref().and_then(&of))
    }

    fn trusted(&self) -> impl Iterator<Item = &Layer> {
        self.layers()
            .iter()
            .filter(|layer| layer.trust == Trust::Trusted)
    }
}

/// How a person is asked: the word of the highest authority that says anything.
pub fn channel_of(policy: &Policy) -> Option<&Channel> {
    policy.trusted().find_map(|layer| layer.channel.as_ref())
}

/// No person can have this name.
const NOBODY: &str = "(nobody: the rules agree to no approver)";

/// What one layer says about a question: its rule before its tool before everything.
#[derive(Default)]
struct Stated {
    deadline: Option<i64>,
    approvers: Option<BTreeSet<String>>,
    required: Option<u32>,
    presence: PresenceByRisk,
}

impl Stated {
    fn from_layer(layer: &Layer, tool: &str, rule: Option<&str>) -> Self {
        let mut stated = Self::default();
        let approval = layer.approval.as_ref();
        if let (Some(approval), Some(rule)) = (approval, rule) {
            for (glob, terms) in &approval.rules {
                if glob == rule || Glob::new(glob).matches(rule) {
                    stated.hear(terms);
                }
            }
        }
        for terms in layer.tools.terms(tool) {
            stated.hear(terms);
        }
        if let Some(approval) = approval {
            stated.hear(&RuleTerms {
                deadline: approval.deadline,
                approvers: approval.approvers.clone(),
                required: approval.required,
                presence: approval.presence,
            });
        }
        stated
    }

    /// Takes what is not said yet.
    fn hear(&mut self, terms: &RuleTerms) {
        self.deadline = self.deadline.or(terms.deadline);
        self.required = self.required.or(terms.required);
        self.presence.hear(&terms.presence);
        if self.approvers.is_none() && !terms.approvers.is_empty() {
            self.approvers = Some(terms.approvers.iter().cloned().collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Authority, Source};

    fn policy(layers: &[(Authority, Trust, &str)]) -> Policy {
        let sources = layers.iter().map(|(authority, trust, text)| Source {
            name: "test".into(),
            authority: *authority,
            trust: *trust,
            bytes: text.as_bytes().to_vec(),
        });
        Policy::compile(sources.collect()).unwrap()
    }

    // X-13, A-17
    #[test]
    fn nothing_said_means_five_minutes_and_one_person() {
        let terms = policy(&[]).asking_terms("Bash", None);
        assert_eq!((terms.deadline, terms.required), (Some(300), 1));
        assert!(terms.approvers.is_empty());
        assert_eq!(terms.editable, ["command"]);
    }

    // X-13
    #[test]
    fn a_rule_speaks_before_its_tool_and_the_tool_before_the_file() {
        let policy = Policy::from_text(
            "p",
            r#"{"defaultPolicy":"ask",
                "approval":{"deadline":60,"required":2,"approvers":["ann","bob"],
                            "rules":{"git.*":{"deadline":0}}},
                "tools":{"Deploy":{"approval":{"deadline":30,"approvers":["eve"]},"editable":["env"]}}}"#,
        )
        .unwrap();
        let of = |tool: &str, rule: Option<&str>| policy.asking_terms(tool, rule);
        assert_eq!(of("Bash", None).deadline, Some(60));
        assert_eq!(of("Bash", Some("git.push")).deadline, None);
        assert_eq!(of("Bash", Some("git.push")).required, 2);
        assert_eq!(of("Deploy", None).deadline, Some(30));
        assert_eq!(of("Deploy", None).approvers, ["eve"]);
        assert_eq!(of("Deploy", None).editable, ["env"]);
        assert_eq!(of("Bash", None).approvers, ["ann", "bob"]);
    }

    #[test]
    fn layers_tighten_and_a_stranger_asks_for_more_people_only() {
        use Authority::{Managed, Project, User};
        use Trust::{Trusted, Untrusted};
        let policy = policy(&[
            (
                Managed,
                Trusted,
                r#"{"approval":{"approvers":["ann","bob"],"deadline":100}}"#,
            ),
            (
                User,
                Trusted,
                r#"{"approval":{"approvers":["bob","eve"],"deadline":0}}"#,
            ),
            (
                Project,
                Untrusted,
                r#"{"approval":{"approvers":["mallory"],"required":3,"deadline":0}}"#,
            ),
        ]);
        let terms = policy.asking_terms("Bash", None);
        assert_eq!(terms.approvers, ["bob"]);
        assert_eq!((terms.deadline, terms.required), (Some(100), 3));
    }

    #[test]
    fn levels_are_found_by_what_states_them() {
        let text = r#"{"approval":{"presence":"none","rules":{"git.*":{"presence":{"high":"code"}}}},
            "tools":{"Deploy":{"approval":{"presence":"key"}},"Read":{"supervision":"confirm"}}}"#;
        let policy = Policy::from_text("p", text).unwrap();
        assert_eq!(
            policy.presence_by_name(),
            [
                ("approval.rules.git.*".to_owned(), Presence::Code),
                ("tools.Deploy.approval".to_owned(), Presence::Key),
            ]
        );
    }

    #[test]
    fn the_highest_layer_says_how_sure_and_others_may_ask_for_more() {
        use crate::policy::Presence;
        use Authority::{Managed, Project, User};
        use Trust::{Trusted, Untrusted};
        let of = |policy: &Policy, rule: &str, risk: Risk| {
            let stated = policy.stated_presence("Bash", [rule].into_iter(), risk);
            stated.map(|stated| (stated.level, stated.by))
        };
        let by_risk = policy(&[
            (
                Managed,
                Trusted,
                r#"{"approval":{"presence":{"high":"terminal","critical":"key"}}}"#,
            ),
            (
                User,
                Trusted,
                r#"{"approval":{"presence":"none","rules":{"git.*":{"presence":"key"}}}}"#,
            ),
            (
                Project,
                Untrusted,
                r#"{"approval":{"presence":{"low":"terminal"}}}"#,
            ),
        ]);
        assert_eq!(
            of(&by_risk, "a", Risk::High),
            Some((Presence::Terminal, Managed))
        );
        assert_eq!(
            of(&by_risk, "a", Risk::Critical),
            Some((Presence::Key, Managed))
        );
        assert_eq!(
            of(&by_risk, "git.push", Risk::High),
            Some((Presence::Key, Managed))
        );
        assert_eq!(
            of(&by_risk, "a", Risk::Medium),
            Some((Presence::None, User))
        );
        assert_eq!(
            of(&by_risk, "a", Risk::Low),
            Some((Presence::Terminal, User))
        );
        assert_eq!(of(&policy(&[]), "a", Risk::Critical), None);
        for wrong in [r#""sure""#, r#"{"huge":"key"}"#, "3", r#"{"low":"sure"}"#] {
            let text = format!(r#"{{"approval":{{"presence":{wrong}}}}}"#);
            assert!(Policy::from_text("p", text).is_err(), "{wrong}");
        }
    }

    #[test]
    fn layers_that_agree_to_nobody_leave_nobody() {
        use Authority::{Managed, User};
        let policy = policy(&[
            (
                Managed,
                Trust::Trusted,
                r#"{"approval":{"approvers":["ann"]}}"#,
            ),
            (
                User,
                Trust::Trusted,
                r#"{"approval":{"approvers":["bob"]}}"#,
            ),
        ]);
        assert_eq!(policy.asking_terms("Bash", None).approvers.len(), 1);
        assert_ne!(policy.asking_terms("Bash", None).approvers, ["ann"]);
    }

    #[test]
    fn the_channels_own_timeout_is_the_deadline_where_none_is_stated() {
        let of = |text: &str| {
            Policy::from_text("p", text)
                .unwrap()
                .asking_terms("Bash", None)
                .deadline
        };
        assert_eq!(
            of(r#"{"channel":{"type":"console","timeout":30}}"#),
            Some(30)
        );
        assert_eq!(of(r#"{"channel":{"type":"console","timeout":-1}}"#), None);
        assert_eq!(
            of(r#"{"channel":{"timeout":30},"approval":{"deadline":9}}"#),
            Some(9)
        );
    }

    #[test]
    fn several_rules_want_all_that_each_of_them_wants() {
        let policy = Policy::from_text(
            "p",
            r#"{"approval":{"rules":{"a":{"required":2,"deadline":0},
                "b":{"approvers":["ann","bob"],"deadline":50},
                "c":{"approvers":["bob"]}, "d":{"approvers":["eve"]}}}}"#,
        )
        .unwrap();
        let of = |rules: &[&str]| policy.asking_terms_of("Bash", rules.iter().copied());
        assert_eq!(of(&[]), None);
        let terms = of(&["a", "b", "c", "x"]).unwrap();
        assert_eq!((terms.required, terms.deadline), (2, Some(50)));
        assert_eq!(terms.approvers, ["bob"]);
        assert_eq!(of(&["c", "d"]).unwrap().approvers, [NOBODY]);
    }
}
