//! What a session remembers: the person's rules for it, suspended prompts, calls counted.
//!
//! The state is data; who stores it and when it expires is the caller's business. Nothing in it
//! can turn a deny into anything else (invariant 1).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::catalogue::{self, Identity, Tool};
use crate::glob::Glob;
use crate::paths::Surroundings;
use crate::plan::OpenPlan;
use crate::policy::RuleList;
use crate::policy::patterns::LastStar;
use crate::policy::rules::{Match, MatchKind, Rules, tool_match};
use crate::policy::tool_names::{Naming, WrittenName};
use crate::text::{Origin, Severity};
use crate::understand::{Action, CommandView};
use crate::verdict::{DefaultPolicy, Method};

/// The most forms of calls whose releases are counted: more questions than a person answers in a day. Further ones are asked as
/// before, and nothing is offered for them.
const MAX_FORMS: usize = 256;

/// The state of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SessionState {
    /// Globs over tool names and signatures that run without asking.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Globs over tool names and signatures that never run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// What happens to a call no rule speaks about, in place of the policy's default (J-25).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<DefaultPolicy>,
    /// Which prompts are off.
    #[serde(skip_serializing_if = "Suspensions::is_none")]
    pub suspended: Suspensions,
    /// The turn in which prompts were suspended, as the agent names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// Calls made so far, by tool.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub calls: BTreeMap<String, u64>,
    /// How often calls of a form were asked about and released, by the patterns of the rule that would answer for them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub released: BTreeMap<String, u32>,
    /// Whether tests have passed since the session last edited anything.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tests_passed: bool,
    /// Digests of calls that run tests now, with no edit since they began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub testing: Vec<String>,
    /// That a text the session was shown gave orders, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
    /// The plan a person has released for it, while that is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<OpenPlan>,
}

/// The memory of a text that gave orders. What it was after may still be in the model's mind, so
/// calls that reach the network or secrets are asked about until a person takes the mark away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// When it was found.
    pub time: String,
    /// Where the text came from.
    pub origin: Origin,
    /// The tool that returned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// How bad the worst of it was.
    pub severity: Severity,
    /// The ledger's record of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    /// The allow rules a person had given before. They knew nothing of this then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<String>,
}

/// That a person has stopped a session, an agent or everything: no call of theirs runs until a person lets them go on.
/// It is kept apart from what a session remembers, which is forgotten after a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// What was stopped, in words: "this session".
    pub what: String,
    /// When, by whom and why, as far as that is known, in words: "since 14:02 by ann (looks odd)".
    pub told: String,
    /// What a person types to let it go on.
    pub resume: String,
}

/// Prompts that are off, and until when (J-41, X-20).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Suspensions {
    /// Until this turn ends.
    pub turn: bool,
    /// Until the session is idle.
    pub idle: bool,
    /// For the whole session.
    pub all: bool,
}

impl Suspensions {
    /// Whether every prompt is on.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// How a suspended prompt is reported, and why: idle, then turn, then session (J-41).
    pub fn in_force(self) -> Option<(Method, &'static str)> {
        if self.idle {
            Some((
                Method::IdleSuspension,
                "Prompts are suspended until the session is idle",
            ))
        } else if self.turn {
            Some((
                Method::TurnSuspension,
                "Prompts are suspended until the turn ends",
            ))
        } else if self.all {
            Some((Method::AllowAll, "Prompts are suspended for this session"))
        } else {
            None
        }
    }
}

impl SessionState {
    /// The turn has ended.
    pub fn end_turn(&mut self) {
        self.suspended.turn = false;
    }

    /// The session has become idle; a turn has then ended too.
    pub fn become_idle(&mut self) {
        self.suspended.turn = false;
        self.suspended.idle = false;
    }

    /// An agent is in a turn it names so. If prompts were suspended in another one, that has ended,
    /// and the agent has waited for its user since.
    pub fn enter_turn(&mut self, turn: &str) {
        if self.turn.as_deref().is_some_and(|before| before != turn) {
            self.become_idle();
            self.turn = None;
        }
    }

    /// Every prompt is on again (J-42).
    pub fn resume(&mut self) {
        self.suspended = Suspensions::default();
    }

    /// Forgets rules and default; what was counted stays counted (J-25), and a mark stays.
    pub fn clear_rules(&mut self) {
        self.allow.clear();
        self.released.clear();
        self.deny.clear();
        self.default = None;
        if let Some(mark) = &mut self.mark {
            mark.earlier.clear();
        }
    }

    /// Remembers that a call was asked about and released which these patterns would have let through.
    pub fn note_release(&mut self, patterns: &[String]) {
        let form = patterns.join("\n");
        if self.released.len() < MAX_FORMS || self.released.contains_key(&form) {
            let count = self.released.entry(form).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// How often a call was asked about and released which these patterns would have let through.
    pub fn released_in(&self, patterns: &[String]) -> u32 {
        let count = self.released.get(&patterns.join("\n"));
        count.copied().unwrap_or_default()
    }

    /// A person allows what a pattern says. One they had given before is given anew.
    pub fn allow_pattern(&mut self, pattern: &str) {
        if !self.allow.iter().any(|known| known == pattern) {
            self.allow.push(pattern.to_owned());
        }
        if let Some(mark) = &mut self.mark {
            mark.earlier.retain(|known| known != pattern);
        }
    }

    /// Remembers that a text gave orders. Of several the worst counts; what a person has allowed
    /// since one as bad, they allowed knowing of it.
    pub fn remember(&mut self, mark: Mark) {
        let known = self.mark.as_ref();
        if known.is_some_and(|known| known.severity >= mark.severity) {
            return;
        }
        self.mark = Some(Mark {
            earlier: self.allow.clone(),
            ..mark
        });
    }

    /// Whether an allow rule was given in the knowledge of what the session remembers.
    pub(crate) fn knows_of_mark(&self, rule: &str) -> bool {
        let earlier = self.mark.iter().flat_map(|mark| &mark.earlier);
        !earlier.into_iter().any(|known| known == rule)
    }

    /// How often `tool` was called, in whatever case and under whatever name agents have for it: the
    /// rules that limit it do not tell them apart.
    pub fn calls_of(&self, tool: &str) -> u64 {
        let known = catalogue::tool_named(tool).map(|tool| tool.name);
        self.calls_where(|name| {
            name.eq_ignore_ascii_case(tool)
                || (known.is_some() && catalogue::tool_named(name).map(|tool| tool.name) == known)
        })
    }

    /// How often anything was called that rules for `tool` limit: calls are kept under the names they
    /// were made by.
    pub(crate) fn calls_counted_for(&self, tool: &Tool) -> u64 {
        self.calls_where(|name| {
            Identity::of_name(name).touches(tool)
                || catalogue::tool_named(name).is_some_and(|known| known.name == tool.name)
        })
    }

    /// How often a tool was called by this very name.
    pub(crate) fn calls_under(&self, name: &str) -> u64 {
        self.calls_where(|known| known == name)
    }

    fn calls_where(&self, counts: impl Fn(&str) -> bool) -> u64 {
        let counted = self.calls.iter().filter(|(name, _)| counts(name));
        counted.fold(0, |sum: u64, (_, count)| sum.saturating_add(*count))
    }
}

/// A session's rules, ready to be matched.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionRules {
    deny: List,
    allow: List,
}

#[derive(Clone, Debug, Default)]
struct List {
    entries: Vec<Entry>,
    signatures: Rules,
}

/// A session's entry: a glob over names of tools and over signatures.
#[derive(Clone, Debug)]
struct Entry {
    pattern: String,
    glob: Glob,
    /// The name it is, if it has no wildcard.
    name: Option<WrittenName>,
}

impl Entry {
    fn new(pattern: &str) -> Self {
        let glob = Glob::new(pattern);
        Self {
            name: glob.only().map(|name| WrittenName::new(&name)),
            pattern: pattern.to_owned(),
            glob,
        }
    }

    /// How the entry names the tool of a call, if it does.
    fn naming(&self, view: &Action, list: Purpose) -> Option<Naming> {
        let (own, identity) = (view.call.tool(), view.identity);
        if let Some(name) = &self.name {
            return match list {
                Purpose::Deny => name.naming(own, identity),
                Purpose::Allow => name.naming_to_allow(own, identity),
            };
        }
        if self.glob.matches(own) {
            return Some(Naming::Unnamed);
        }
        let standing = identity.standing_name()?;
        self.glob
            .matches(standing.text())
            .then_some(Naming::Standing)
    }
}

/// What a list of a session is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Deny,
    Allow,
}

impl List {
    fn new(patterns: &[String]) -> Self {
        if patterns.is_empty() {
            return Self::default();
        }
        let list = RuleList {
            patterns: patterns.to_vec(),
            ..RuleList::default()
        };
        Self {
            entries: patterns.iter().map(|text| Entry::new(text)).collect(),
            signatures: Rules::new([&list]),
        }
    }

    /// The entries that are a shell line, letter by letter: they speak of all its commands, where
    /// one with a wildcard speaks of one command only.
    fn lines(&self, view: &Action) -> impl Iterator<Item = Match> {
        let line = view.known_line();
        self.entries
            .iter()
            .filter(move |entry| line.is_some() && entry.glob.only().as_deref() == line)
            .map(|entry| Match {
                kind: MatchKind::Pattern,
                rule: entry.pattern.clone(),
                specificity: entry.glob.specificity(),
                command: None,
                naming: Naming::Unnamed,
            })
    }
}

impl SessionRules {
    pub(crate) fn new(state: &SessionState) -> Self {
        Self {
            deny: List::new(&state.deny),
            allow: List::new(&state.allow),
        }
    }

    /// The deny entries that match. A glob that names the tool gives way to an allow entry that
    /// names it exactly (J-22), but not where it matched a command of the line (J-23).
    pub(crate) fn denying(&self, view: &Action, star: LastStar) -> Vec<Match> {
        if self.deny.entries.is_empty() {
            return Vec::new();
        }
        // An entry that names the tool as the glob came to name it.
        let excepts = |by: Naming| {
            self.allow.entries.iter().any(|entry| {
                let naming = entry.name.as_ref().and(entry.naming(view, Purpose::Allow));
                naming == Some(Naming::Own)
                    || (by == Naming::Standing && naming == Some(Naming::Standing))
            })
        };
        let mut found: Vec<Match> = Vec::new();
        // The globs that name the tool, and whether they give way.
        let mut globs: Vec<(&str, bool)> = Vec::new();
        for entry in &self.deny.entries {
            let Some(naming) = entry.naming(view, Purpose::Deny) else {
                continue;
            };
            let gives_way = entry.name.is_none() && excepts(naming);
            globs.push((&entry.pattern, gives_way));
            if !gives_way {
                found.push(tool_match((entry.pattern.clone(), naming)));
            }
        }
        let by_signature = self
            .deny
            .signatures
            .touching(view, star)
            .into_iter()
            .filter(|found| {
                // The text form of a call starts with the tool's name: a glob that matches it by that
                // name alone has spoken about the name.
                let by_name = globs
                    .iter()
                    .find(|(pattern, _)| *pattern == found.rule)
                    .filter(|_| found.command.is_none() && !found.rule.contains('('));
                !by_name.is_some_and(|(_, gives_way)| *gives_way || !view.is_shell())
            });
        for matched in by_signature.chain(self.deny.lines(view)) {
            if !found.iter().any(|known| known.rule == matched.rule) {
                found.push(matched);
            }
        }
        found
    }

    /// Whether the session refuses anything.
    pub(crate) fn denies(&self) -> bool {
        !self.deny.entries.is_empty()
    }

    /// The deny entry a command could turn out to match.
    pub(crate) fn possible_denial(&self, command: &CommandView) -> Option<&str> {
        self.deny.signatures.possible(command)
    }

    /// The allow entries that cover the whole call.
    pub(crate) fn covering_call(
        &self,
        view: &Action,
        around: Option<&Surroundings<'_>>,
    ) -> Vec<Match> {
        if self.allow.entries.is_empty() {
            return Vec::new();
        }
        let named = self.allow.entries.iter().filter_map(|entry| {
            let naming = entry.naming(view, Purpose::Allow)?;
            Some(tool_match((entry.pattern.clone(), naming)))
        });
        let mut found: Vec<Match> = named.collect();
        found.extend(self.allow.signatures.covering_call(view, around));
        found.extend(self.allow.lines(view));
        found
    }

    /// The allow entries that cover one command of the line.
    pub(crate) fn covering_command(
        &self,
        view: &Action,
        index: usize,
        around: Option<&Surroundings<'_>>,
    ) -> Vec<Match> {
        self.allow.signatures.covering_command(view, index, around)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // J-41, X-20
    #[test]
    fn the_end_of_a_turn_and_idleness_are_different_events() {
        let all = Suspensions {
            turn: true,
            idle: true,
            all: true,
        };
        let mut state = SessionState {
            suspended: all,
            ..SessionState::default()
        };
        let method = |state: &SessionState| state.suspended.in_force().map(|(method, _)| method);
        assert_eq!(method(&state), Some(Method::IdleSuspension));
        state.end_turn();
        assert_eq!(method(&state), Some(Method::IdleSuspension));
        state.become_idle();
        assert_eq!(method(&state), Some(Method::AllowAll));
        state.resume();
        assert_eq!(method(&state), None);
    }

    #[test]
    fn another_turn_ends_what_was_suspended_in_one_before() {
        let mut state = SessionState {
            suspended: Suspensions {
                turn: true,
                idle: true,
                all: false,
            },
            turn: Some("first".into()),
            ..SessionState::default()
        };
        state.enter_turn("first");
        assert!(state.suspended.turn && state.suspended.idle);
        state.enter_turn("second");
        assert!(state.suspended.is_none());
    }

    fn mark(severity: Severity) -> Mark {
        Mark {
            time: "2026-11-16T10:00:00Z".into(),
            origin: Origin::File,
            tool: Some("Read".into()),
            severity,
            record: Some(7),
            earlier: Vec::new(),
        }
    }

    #[test]
    fn a_rule_counts_against_a_mark_once_it_is_given_in_its_knowledge() {
        let mut state = SessionState::default();
        state.allow_pattern("curl *");
        state.remember(mark(Severity::High));
        assert!(!state.knows_of_mark("curl *"));
        state.allow_pattern("curl *");
        assert!(state.knows_of_mark("curl *"));
        assert_eq!(state.allow, ["curl *"]);
        // The same again tells the person nothing new, something worse does.
        state.remember(mark(Severity::High));
        assert!(state.knows_of_mark("curl *"));
        state.remember(mark(Severity::Critical));
        assert!(!state.knows_of_mark("curl *"));
        state.clear_rules();
        assert!(state.mark.is_some());
    }

    #[test]
    fn a_mark_is_kept_with_its_session() {
        let state = SessionState {
            mark: Some(mark(Severity::Critical)),
            ..SessionState::default()
        };
        let text = serde_json::to_string(&state).unwrap();
        assert_eq!(serde_json::from_str::<SessionState>(&text).unwrap(), state);
    }

    #[test]
    fn clearing_forgets_rules_but_not_what_was_counted() {
        let mut state = SessionState {
            allow: vec!["ls".into()],
            deny: vec!["rm *".into()],
            default: Some(DefaultPolicy::Deny),
            calls: [("Read".to_owned(), 2), ("read".to_owned(), 1)].into(),
            ..SessionState::default()
        };
        state.clear_rules();
        assert!(state.allow.is_empty() && state.deny.is_empty() && state.default.is_none());
        assert_eq!(state.calls_of("READ"), 3);
    }
}
