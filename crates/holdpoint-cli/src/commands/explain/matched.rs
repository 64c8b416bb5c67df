//! The rules that matched, each once, with the parts it matched and what to do instead.

use std::io::Write;

use holdpoint_engine::{Authority, Decision, Finding, Method, Policy, Risk, Verdict};
use serde::Serialize;

use crate::layout::hanging;
use crate::terminal::{Terminal, escape_for_display};

/// The most parts printed with one rule: enough to see what it catches. The rest is counted.
const MAX_PARTS: usize = 6;

/// A rule that matched.
#[derive(Serialize)]
pub(super) struct Matched {
    rule: String,
    verdict: Verdict,
    risk: Risk,
    method: Method,
    /// Whose rule it is: a layer, `session`, a pack, or `holdpoint`.
    owner: String,
    reason: String,
    instead: Option<String>,
    parts: Vec<String>,
}

/// The findings of a decision, rule by rule.
pub(super) fn for_decision(decision: &Decision, policy: &Policy) -> Vec<Matched> {
    let mut rules: Vec<Matched> = Vec::new();
    for finding in &decision.findings {
        let same = rules.iter_mut().find(|one| {
            one.rule == finding.rule
                && one.verdict == finding.verdict
                && one.reason == finding.reason
        });
        match same {
            Some(one) => one.parts.extend(
                finding
                    .part
                    .clone()
                    .filter(|part| !one.parts.contains(part)),
            ),
            None => rules.push(Matched::from_finding(finding, policy)),
        }
    }
    rules
}

impl Matched {
    fn from_finding(finding: &Finding, policy: &Policy) -> Self {
        let guard = finding
            .layer
            .is_none()
            .then(|| policy.guard(&finding.rule))
            .flatten();
        Self {
            rule: finding.rule.clone(),
            verdict: finding.verdict,
            risk: finding.risk,
            method: finding.method,
            owner: match &guard {
                Some(guard) => format!("pack {}", guard.pack),
                None => owner(finding).to_owned(),
            },
            reason: finding.reason.clone(),
            instead: guard.map(|guard| guard.instead.to_owned()),
            parts: finding.part.iter().cloned().collect(),
        }
    }
}

/// Who speaks in a finding that is of no pack.
pub(super) fn owner(finding: &Finding) -> &'static str {
    let of_session = [Method::SessionWhitelist, Method::SessionBlacklist].contains(&finding.method);
    let ours = if of_session { "session" } else { "holdpoint" };
    finding.layer.map_or(ours, Authority::as_str)
}

pub(super) fn print(rules: &[Matched], terminal: &mut Terminal) -> anyhow::Result<()> {
    if rules.is_empty() {
        writeln!(terminal.out, "  none")?;
    }
    for rule in rules {
        let verdict = terminal.verdict(rule.verdict);
        // Colour takes room the eye does not see.
        let padding = " ".repeat("review".len().saturating_sub(rule.verdict.as_str().len()));
        let name = terminal.heading(&escape_for_display(&rule.rule, 120));
        writeln!(
            terminal.out,
            "  {verdict}{padding}  {name}  [{}]",
            rule.owner
        )?;
        line("", &rule.reason, terminal)?;
        for part in rule.parts.iter().take(MAX_PARTS) {
            line("in", part, terminal)?;
        }
        if rule.parts.len() > MAX_PARTS {
            let more = rule.parts.len() - MAX_PARTS;
            line("in", &format!("… and {more} more"), terminal)?;
        }
        if let Some(instead) = &rule.instead {
            line("instead", instead, terminal)?;
        }
    }
    Ok(())
}

fn line(name: &str, text: &str, terminal: &mut Terminal) -> anyhow::Result<()> {
    if name.is_empty() {
        let text = hanging(&escape_for_display(text, 500), 10, terminal.width());
        writeln!(terminal.out, "          {text}")?;
    } else {
        let text = hanging(&escape_for_display(text, 500), 19, terminal.width());
        let name = terminal.faint(&format!("{name:<8}"));
        writeln!(terminal.out, "          {name} {text}")?;
    }
    Ok(())
}
