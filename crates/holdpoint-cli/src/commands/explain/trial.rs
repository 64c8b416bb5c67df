//! Advice, tried before it is given: what it says to do must lead to another verdict.

use holdpoint_core::policy::{Authority, Source, Trust};
use holdpoint_core::{
    Action, Glob, OfferScope, Policy, Session, Surroundings, Verdict, judge, offers,
};
use holdpoint_engine::{Layer, Part, SessionState, read_policy_file};
use serde_json::{Value, json};

/// The most patterns one piece of advice has a person type.
const MAX_PATTERNS: usize = 4;

/// A call, and what it is judged under.
pub(super) struct Trial<'a> {
    pub(super) action: &'a Action,
    pub(super) policy: &'a Policy,
    pub(super) session: &'a SessionState,
    /// The commands of the call that nothing allows yet.
    pub(super) uncovered: Vec<String>,
    pub(super) around: Surroundings<'a>,
}

impl Trial<'_> {
    fn verdict(&self, policy: &Policy, session: SessionState) -> Verdict {
        let decision = judge(self.action, policy, &Session::new(session), &self.around);
        decision.as_if_enforced().verdict
    }

    /// The patterns that let the call run once its session allows them, the narrowest first; none if no session does.
    pub(super) fn session_patterns(&self) -> Option<Vec<String>> {
        self.patterns().into_iter().find(|patterns| {
            let mut session = self.session.clone();
            patterns.iter().for_each(|one| session.allow_pattern(one));
            self.verdict(self.policy, session).runs()
        })
    }

    /// The same in a policy file of one's own.
    pub(super) fn file_patterns(&self) -> Option<Vec<String>> {
        self.patterns().into_iter().find(|patterns| {
            let file = json!({ "allow": { "patterns": patterns } });
            self.with_file(&file).is_some_and(Verdict::runs)
        })
    }

    /// Sets of patterns that may allow the call: its commands that nothing allows, all of them, the whole line, its tool.
    fn patterns(&self) -> Vec<Vec<String>> {
        let escaped = |texts: &mut dyn Iterator<Item = &String>| -> Vec<String> {
            texts.map(|text| Glob::escape(text)).collect()
        };
        let mut sets = vec![escaped(&mut self.uncovered.iter())];
        let parts = holdpoint_core::parts(self.action).unwrap_or_default();
        sets.push(escaped(&mut parts.iter().map(|part: &Part| &part.text)));
        let offered = offers(self.action).into_iter();
        sets.extend(
            offered
                .filter(|(scope, _)| *scope == OfferScope::Exact)
                .map(|(_, one)| one),
        );
        if parts.is_empty() {
            sets.push(vec![self.action.call().tool().to_owned()]);
        }
        sets.retain(|patterns| (1..=MAX_PATTERNS).contains(&patterns.len()));
        sets
    }

    /// What the policy would say with these lines in a file of the user's.
    pub(super) fn with_file(&self, file: &Value) -> Option<Verdict> {
        let source = Source {
            name: "advice".into(),
            authority: Authority::User,
            trust: Trust::Trusted,
            bytes: file.to_string().into_bytes(),
        };
        let policy = self.policy.with_further(&source).ok()?;
        Some(self.verdict(&policy, self.session.clone()))
    }

    /// Whether switching rules of packs leads to another verdict than this.
    pub(super) fn switching_helps(&self, rules: &[&str], word: &str, verdict: Verdict) -> bool {
        let rules: serde_json::Map<String, Value> = rules
            .iter()
            .map(|rule| ((*rule).to_owned(), json!(word)))
            .collect();
        let tried = self.with_file(&json!({ "guards": { "rules": rules } }));
        tried.is_some_and(|tried| tried < verdict)
    }

    /// Whether trusting a project's file leads to a looser verdict than this.
    pub(super) fn trusting_helps(&self, layer: &Layer, verdict: Verdict) -> bool {
        let bytes = read_policy_file(layer.name.as_ref());
        let source = bytes.map(|bytes| Source {
            name: layer.name.clone(),
            authority: layer.authority,
            trust: Trust::Trusted,
            bytes,
        });
        let policy = source
            .ok()
            .and_then(|source| self.policy.with_further(&source).ok());
        policy.is_some_and(|policy| self.verdict(&policy, self.session.clone()) < verdict)
    }
}

/// The commands that allow patterns in a session, as they are typed.
pub(super) fn typed(patterns: &[String]) -> String {
    let quoted = |pattern: &String| {
        let pattern = pattern.replace('\'', "'\\''");
        format!("`holdpoint permissions allow '{pattern}'`")
    };
    patterns
        .iter()
        .map(quoted)
        .collect::<Vec<_>>()
        .join(" and ")
}
