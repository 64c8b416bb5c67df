//! What the rule packs find in a call.

use super::Judgement;
use super::findings::{Answerable, Objection, PartFinding, Speaker};
use crate::decision::span_of;
use crate::effects::places::UNKNOWN_PLACE;
use crate::effects::{self, Effect, Subject};
use crate::facts::{Gathered, say_facts};
use crate::paths::Surroundings;
use crate::policy::tool_names::Naming;
use crate::rules::matching::Holds;
use crate::rules::{self, Help, Pack, Rule, matching};
use crate::understand::{Action, CommandView};
use crate::verdict::{Method, Risk, Verdict};

/// The rules that match a call, whatever a policy makes of them: the shipped ones and those of
/// `packs`, by id. Facts they ask about are those of `around`.
pub fn matching_rules(action: &Action, packs: &[Pack], around: &Surroundings<'_>) -> Vec<String> {
    let facts = Gathered::new(action, *around);
    let mut found: Vec<String> = Vec::new();
    for subject in effects::subjects(action) {
        let mut consider = |rule: &Rule| {
            if matching::holds(rule, &subject, &facts).is_some()
                && !found.contains(&rule.id.to_string())
            {
                found.push(rule.id.to_string());
            }
        };
        rules::candidates(&subject)
            .into_iter()
            .for_each(&mut consider);
        packs.iter().flat_map(Pack::rules).for_each(&mut consider);
    }
    found
}

/// What is made of the effects of a call.
pub(super) struct Guards {
    /// Every rule that matches, the gravest first.
    pub(super) rules: Vec<Guarded>,
    /// What is asked about because of what the session remembers.
    pub(super) doubts: Vec<Objection>,
    /// Whether the call only looks at things.
    pub(super) only_looks: bool,
}

/// A rule of a pack that matched.
pub(super) struct Guarded {
    /// The layer that insists on it.
    speaker: Option<Speaker>,
    pub(super) found: PartFinding,
    pub(super) instead: String,
    /// What it does for the call besides, if whoever loads it may.
    pub(super) help: Option<Box<Help>>,
}

impl Judgement<'_> {
    /// Holds the effects of the call against the rules, and against what the session remembers.
    pub(super) fn guarded(&self) -> Guards {
        let mut found: Vec<Guarded> = Vec::new();
        let mut doubts = Vec::new();
        let mut only_looks = true;
        for subject in effects::subjects(self.view) {
            let subject = &subject;
            only_looks &= subject.is_read_only() && self.is_known_to_look(subject.command);
            if let Some(mark) = &self.session.state.mark {
                doubts.extend(self.doubts(mark, subject));
            }
            let mut consider = |rule: &Rule| {
                if let Some(Holds { effect, facts }) = matching::holds(rule, subject, &self.facts)
                    && !self.is_test_of_its_own(subject, effect)
                    && let Some((verdict, insists)) = self.policy.guard_verdict(rule)
                {
                    // What a layer wants, none below it answers for; what is only shipped, any.
                    let speaker = insists.map(|insists| Speaker {
                        layer: insists.layer.unwrap_or(usize::MAX),
                        authority: insists.authority,
                        trust: insists.trust,
                    });
                    let mut one = self.guard_finding(rule, verdict, subject, effect);
                    say_facts(&mut one.found.finding.reason, &facts);
                    let help = (rule.help.clone()).filter(|_| self.policy.may_help(rule));
                    found.push(Guarded {
                        speaker,
                        help,
                        ..one
                    });
                }
            };
            rules::candidates(subject)
                .into_iter()
                .for_each(&mut consider);
            let loaded = self.policy.packs().iter().flat_map(Pack::rules);
            loaded.for_each(&mut consider);
        }
        found.sort_by(|one, other| {
            let rank = |guarded: &Guarded| {
                let finding = &guarded.found.finding;
                let own = finding.method == Method::SelfProtection;
                (finding.verdict, own, finding.risk)
            };
            rank(other).cmp(&rank(one))
        });
        Guards {
            rules: found,
            doubts,
            only_looks,
        }
    }

    /// Whether it is about a place that code computes which a test runner or its like loads: tests make
    /// and remove such places all the time.
    fn is_test_of_its_own(&self, subject: &Subject<'_>, effect: Option<&Effect>) -> bool {
        let command = subject.command.and_then(|at| self.view.commands.get(at));
        command.is_some_and(|view| view.command.loaded)
            && effect.is_some_and(|effect| effect.classes & UNKNOWN_PLACE != 0)
    }

    /// Whether a command, or the tool, is known to change nothing.
    pub(super) fn is_known_to_look(&self, command: Option<usize>) -> bool {
        match command {
            Some(index) => (self.view.commands.get(index)).is_some_and(CommandView::is_read_only),
            None => self.view.effect.only_looks(),
        }
    }

    fn guard_finding(
        &self,
        rule: &Rule,
        verdict: Verdict,
        subject: &Subject<'_>,
        effect: Option<&Effect>,
    ) -> Guarded {
        let command = subject
            .command
            .and_then(|index| self.view.commands.get(index));
        // What a script does to a place nobody knows is asked about, not refused: most scripts
        // have variables.
        let uncertain = command.is_some_and(|view| view.command.file.is_some())
            && effect.is_some_and(|effect| effect.classes & UNKNOWN_PLACE != 0);
        let verdict = if uncertain {
            verdict.min(Verdict::Ask)
        } else {
            verdict
        };
        let mut found = self.found(
            rule.method,
            verdict,
            rule.id.clone().into_owned(),
            rule.reason.clone().into_owned(),
            subject.command,
        );
        found.finding.risk = rule.risk.max(Risk::Low);
        if subject.command.is_none()
            && let Some(effect) = effect
        {
            found.finding.part = Some(effect.text.clone());
        }
        if let Some(file) = command.and_then(|view| view.command.file.as_deref()) {
            found.finding.reason = format!("{} (in `{file}`)", found.finding.reason);
        } else if let Some(effect) = effect
            && !effect.span.is_empty()
            && self.view.is_shell()
            && command.is_some_and(|view| {
                let span = &view.command.span;
                span.start <= effect.span.start && effect.span.end <= span.end
            })
            && found.finding.span.is_none()
        {
            found.finding.span = Some(span_of(&effect.span));
        }
        Guarded {
            speaker: None,
            found,
            instead: rule.instead.clone().into_owned(),
            help: None,
        }
    }
}

impl Guarded {
    /// What it wants asked or told, as an objection of whoever insists on it.
    pub(super) fn objection(&self) -> Option<Objection> {
        let verdict = self.found.finding.verdict;
        (verdict > Verdict::Allow && verdict < Verdict::Deny).then(|| Objection {
            speaker: self.speaker,
            answerable: match self.found.finding.risk >= Risk::High && verdict >= Verdict::Contain {
                true => Answerable::InSoManyWords,
                false => Answerable::Usually,
            },
            replaces_default: false,
            specificity: 0,
            naming: Naming::Unnamed,
            is_unknown_code: false,
            found: self.found.clone(),
        })
    }

    pub(super) fn refusal(&self) -> Option<PartFinding> {
        (self.found.finding.verdict == Verdict::Deny).then(|| self.found.clone())
    }
}
