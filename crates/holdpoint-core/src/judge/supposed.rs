//! What is made of lines a command may run: asked about where one would be refused.

use super::Judgement;
use super::findings::{Answerable, Objection};
use crate::effects;
use crate::policy::tool_names::Naming;
use crate::rules::{self, Pack, Rule, matching};
use crate::understand::Supposed;
use crate::verdict::{Method, Risk, Verdict};

/// The id of the question.
const RULE: &str = "shell.command-in-words";

impl Judgement<'_> {
    /// What the packs would say to the lines the commands of the call may run.
    pub(super) fn supposed(&self) -> Vec<Objection> {
        let mut found: Vec<Objection> = Vec::new();
        for supposed in &self.view.supposed {
            let by = supposed.supposition.by;
            // One question for a command is enough.
            let part = self.part_of(by);
            if found.iter().any(|one| one.found.part == part) {
                continue;
            }
            found.extend(self.supposed_objection(supposed));
        }
        found
    }

    /// The part a supposition is about; none for what belongs to the call as a whole.
    fn part_of(&self, by: usize) -> Option<usize> {
        self.view.commands.get(by).map(|_| by)
    }

    fn supposed_objection(&self, supposed: &Supposed) -> Option<Objection> {
        // A command under another name is asked about as under its own; what is only data to most
        // programs, where it would be refused.
        let least = match supposed.supposition.is_itself {
            true => Verdict::Contain,
            false => Verdict::Deny,
        };
        let mut gravest: Option<(Verdict, Risk, String)> = None;
        for subject in effects::subjects(&supposed.action) {
            let mut consider = |rule: &Rule| {
                if matching::holds(rule, &subject, &self.facts).is_some()
                    && let Some((verdict, _)) = self.policy.guard_verdict(rule)
                    && verdict >= least
                    && gravest.as_ref().is_none_or(|(known, ..)| *known < verdict)
                {
                    gravest = Some((verdict, rule.risk, rule.reason.clone().into_owned()));
                }
            };
            rules::candidates(&subject)
                .into_iter()
                .for_each(&mut consider);
            let loaded = self.policy.packs().iter().flat_map(Pack::rules);
            loaded.for_each(&mut consider);
        }
        let line = &supposed.supposition.line;
        let host = self.view.commands.get(supposed.supposition.by);
        // What no command may run, the tool may.
        let program = match host {
            Some(view) => view.program().unwrap_or_default(),
            None => self.view.call.tool(),
        };
        let (risk, reason) = match gravest {
            Some((_, risk, reason)) => {
                let reason = format!("`{program}` may run `{}`: {reason}", shortened(line));
                (risk, reason)
            }
            None if line.is_empty() => {
                let reason = "More of what the tool is given may be commands than can be read";
                (Risk::Medium, reason.to_owned())
            }
            None => return None,
        };
        let mut one = self.found(
            Method::Guard,
            Verdict::Ask,
            RULE.to_owned(),
            reason,
            self.part_of(supposed.supposition.by),
        );
        one.finding.risk = risk.max(Risk::Low);
        Some(Objection {
            speaker: None,
            answerable: Answerable::InSoManyWords,
            replaces_default: false,
            specificity: 0,
            naming: Naming::Unnamed,
            is_unknown_code: false,
            found: one,
        })
    }
}

/// The beginning of a line: a person who is asked reads no more of it.
fn shortened(line: &str) -> String {
    const MAX_SHOWN: usize = 80;
    match line.char_indices().nth(MAX_SHOWN) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line.to_owned(),
    }
}
