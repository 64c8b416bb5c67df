//! What a policy makes of calls its entries are about.
//!
//! An entry is read as calls: its wildcards filled with a few words. What no filling shows is not claimed.

use std::collections::BTreeSet;

use holdpoint_core::policy::Layer;
use holdpoint_core::{Finding as CallFinding, Glob, Risk, command_argument, judge_call};
use holdpoint_engine::{Decision, Method, Pack, Policy, Session, ToolCall, Trust, Verdict};

use super::written::{Entry, EntryKind, List, WrittenPolicy};
use super::{Finding, Level};
use crate::commands::empty_machine;

/// What wildcards are filled with: nothing, a word, a file, a branch, a flag.
const FILLINGS: [&str; 5] = ["", "x", "src/x", "main", "-v"];

/// The most rules that are named for an allow that does not answer them.
const MAX_NAMED: usize = 4;

/// A policy, and what it says of the packs' gravest examples.
pub(super) struct Tried<'p> {
    policy: &'p Policy,
    /// Examples of high risk that are asked about although something allows them.
    asked: Vec<Decision>,
}

impl<'p> Tried<'p> {
    pub(super) fn new(policy: &'p Policy) -> anyhow::Result<Self> {
        let shipped = Pack::shipped()?;
        let mut asked = Vec::new();
        for rule in shipped
            .iter()
            .chain(policy.packs())
            .flat_map(Pack::descriptions)
        {
            if rule.risk < Risk::High || rule.verdict == Verdict::Deny {
                continue;
            }
            for example in rule.matches {
                let decision = judged(&example.call, policy);
                let held = matches!(decision.verdict, Verdict::Ask | Verdict::Review);
                if held && decision.rule.as_deref() == Some(rule.id) {
                    asked.push(decision);
                }
            }
        }
        Ok(Self { policy, asked })
    }

    /// Looks at every entry of a file.
    pub(super) fn look(&self, file: &WrittenPolicy, layer: &Layer, findings: &mut Vec<Finding>) {
        for entry in &file.entries {
            match entry.list {
                // What does not count is not tried.
                List::Allow if layer.trust == Trust::Trusted => {
                    let both =
                        |one: &&Finding| one.code == "in-both-lists" && one.rule == entry.text;
                    if !findings.iter().any(|one| both(&one)) {
                        findings.extend(self.never_used(entry));
                    }
                    findings.extend(self.too_broad(entry));
                }
                List::Ask => findings.extend(self.never_asked(entry)),
                List::Allow | List::Deny | List::Tools => {}
            }
        }
    }

    /// An allow that nothing can use.
    fn never_used(&self, entry: &Entry) -> Option<Finding> {
        let decisions: Vec<Decision> = calls(entry)
            .iter()
            .map(|call| judged(call, self.policy))
            .collect();
        if decisions.is_empty() {
            return None;
        }
        let covering: Vec<&Decision> = decisions
            .iter()
            .filter(|one| is_covered(one, entry))
            .collect();
        let Some(first) = covering.first() else {
            let (why, instead) = why_nothing(&entry.text);
            let message = format!("allows nothing: {why}");
            return Some(
                Finding::about(entry, Level::Warning, "allow-never-used", message).instead(instead),
            );
        };
        if covering.iter().any(|one| one.verdict != Verdict::Deny) {
            return None;
        }
        let message = format!("allows nothing: {}", denied_by(first));
        let instead = match first.rule.as_deref() {
            Some(rule) if first.method == Method::Guard => format!(
                "nothing, or change the rule: \"guards\": {{ \"rules\": {{ \"{rule}\": \"ask\" }} }}"
            ),
            Some(_) | None => "nothing, or change what denies it".to_owned(),
        };
        Some(Finding::about(entry, Level::Warning, "allow-never-used", message).instead(instead))
    }

    /// An ask nobody is asked, because it is denied.
    fn never_asked(&self, entry: &Entry) -> Option<Finding> {
        let decisions: Vec<Decision> = calls(entry)
            .iter()
            .map(|call| judged(call, self.policy))
            .collect();
        let first = decisions.first()?;
        if decisions.iter().any(|one| one.verdict != Verdict::Deny) {
            return None;
        }
        let message = format!("never asks: {}", denied_by(first));
        Some(
            Finding::about(entry, Level::Warning, "ask-never-asked", message)
                .instead("nothing, or change what denies it"),
        )
    }

    /// An allow that leaves questions of high risk, since it does not say what they are about.
    fn too_broad(&self, entry: &Entry) -> Option<Finding> {
        let left = self
            .asked
            .iter()
            .filter(|one| is_covered_where_asked(one, entry));
        let rules: BTreeSet<&str> = left.filter_map(|one| one.rule.as_deref()).collect();
        if rules.is_empty() {
            return None;
        }
        let named: Vec<&str> = rules.iter().take(MAX_NAMED).copied().collect();
        let more = match rules.len().saturating_sub(named.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let message = format!(
            "is too broad to answer questions of high risk, which stay: {}{more}",
            named.join(", ")
        );
        Some(
            Finding::about(entry, Level::Note, "too-broad", message).instead(
                "a further line that spells the call out, or switch the rule off under `guards`",
            ),
        )
    }
}

fn judged(call: &ToolCall, policy: &Policy) -> Decision {
    let around = empty_machine::surroundings(true);
    judge_call(call, policy, &Session::default(), &around)
}

/// The calls an entry is about; none where it cannot be read as one.
fn calls(entry: &Entry) -> Vec<ToolCall> {
    let pattern = match &entry.kind {
        EntryKind::Pattern if !entry.text.contains('(') => entry.text.clone(),
        EntryKind::Value { tool, argument }
            if command_argument(tool) == Some(argument.as_str()) =>
        {
            format!("{} *", Glob::escape(&entry.text))
        }
        EntryKind::Pattern
        | EntryKind::Value { .. }
        | EntryKind::Tool
        | EntryKind::ToolOfArguments => return Vec::new(),
    };
    let glob = Glob::new(&pattern);
    let mut texts: Vec<String> = FILLINGS
        .iter()
        .map(|filling| glob.example(filling).trim().to_owned())
        .filter(|text| !text.is_empty())
        .collect();
    texts.dedup();
    texts.into_iter().map(ToolCall::shell).collect()
}

/// Whether an entry is among what allows a call.
fn is_covered(decision: &Decision, entry: &Entry) -> bool {
    covers(decision, entry).next().is_some()
}

/// Whether it allows the very part that is asked about.
fn is_covered_where_asked(decision: &Decision, entry: &Entry) -> bool {
    let asked = decision.findings.first().and_then(|one| one.part.as_ref());
    covers(decision, entry).any(|one| one.part.is_none() || one.part.as_ref() == asked)
}

/// What an entry says of a call.
fn covers<'d>(decision: &'d Decision, entry: &Entry) -> impl Iterator<Item = &'d CallFinding> {
    let rule = match &entry.kind {
        EntryKind::Value { argument, .. } => format!("{argument}={}", entry.text),
        EntryKind::Tool | EntryKind::Pattern | EntryKind::ToolOfArguments => entry.text.clone(),
    };
    let findings = decision.findings.iter();
    findings.filter(move |one| one.method == Method::Whitelist && one.rule == rule)
}

fn denied_by(decision: &Decision) -> String {
    match (&decision.rule, &decision.stated_in) {
        (Some(rule), _) => format!("`{rule}` denies it ({})", decision.reason),
        (None, Some(place)) => format!("it is denied by default ({})", place.words()),
        (None, None) => format!("it is denied ({})", decision.reason),
    }
}

/// Why a pattern covers none of the commands it looks like, and what to write.
fn why_nothing(pattern: &str) -> (&'static str, &'static str) {
    if pattern.contains(['|', ';', '&', '\n']) {
        (
            "each command of a line is compared by itself",
            "a pattern for each of the commands",
        )
    } else if pattern.contains(['$', '`']) {
        (
            "words only the shell will know are never covered",
            "a pattern for what they stand for",
        )
    } else {
        (
            "no command that could be made of it is covered",
            "the command as `holdpoint explain` shows its parts",
        )
    }
}
