//! What an open plan covers, and what it says to calls that are not in it.
//!
//! A plan covers by what it declares, as allow rules do, and answers questions alone: no refusal, no review, nothing about
//! Holdpoint itself, no doubt of a marked session, and what is to be contained stays contained. A call that changes or reaches
//! something and is not covered is asked about, whatever the policy's default; a rule that allows it by name answers that.

use super::Judgement;
use super::answers::Answer;
use super::coverage::Cover;
use super::findings::{Answerable, Objection, PartFinding};
use super::spelling::Spelled;
use crate::catalogue;
use crate::effects::places::{LOOPBACK, Places};
use crate::effects::{self, EffectKind, Subject};
use crate::glob::Glob;
use crate::plan::{self, PhaseRules, PlanRules};
use crate::policy::HostPattern;
use crate::policy::clauses::Facts;
use crate::policy::rules::{Match, tool_match};
use crate::policy::tool_names::Naming;
use crate::verdict::{Method, Risk, Verdict};

/// Puts what the plan covers behind everything else: it speaks where nobody else does.
pub(super) fn last_the_plan(covers: &mut [Vec<Cover>]) {
    for of_part in covers {
        of_part.sort_by_key(|cover| cover.by_plan);
    }
}

impl Judgement<'_> {
    /// The plan, where it holds.
    fn plan_here(&self) -> Option<&PlanRules> {
        let plan = self.session.plan.as_ref()?;
        let here = self.around.resolve_root(self.around.workspace?).ok()?;
        (here == plan.workspace).then_some(plan)
    }

    fn phases(&self) -> impl Iterator<Item = (usize, &PhaseRules)> {
        let plan = self.plan_here();
        (1..).zip(plan.into_iter().flat_map(|plan| &plan.phases))
    }

    /// What a plan covers of the call as a whole: tools, files, pages.
    pub(super) fn plan_covers_of_call(&self) -> Vec<Cover> {
        let mut covers = Vec::new();
        if self.has_commands() || self.session.plan.is_none() {
            return covers;
        }
        let reaches_others = effects::subjects(self.view).any(|one| self.reaches_others(&one));
        for (number, phase) in self.phases() {
            if !reaches_others {
                let matches = phase.rules.covering_call(self.view, Some(&self.around));
                covers.extend(
                    matches
                        .into_iter()
                        .map(|one| self.plan_match(number, phase, one)),
                );
                covers.extend(self.declared_tool(number, phase));
            }
            let place = self.declared_places(phase).map(|rule| {
                let spelled = Spelled::Place(rule.clone());
                self.plan_cover(number, phase, &rule, spelled, None)
            });
            let host = self
                .declared_hosts(phase)
                .map(|rule| self.plan_cover(number, phase, &rule, Spelled::Tool, None));
            covers.extend(place.into_iter().chain(host));
        }
        covers
    }

    /// The tool by a name with wildcards.
    fn declared_tool(&self, number: usize, phase: &PhaseRules) -> Option<Cover> {
        let tool = self.view.call.tool();
        let (rule, _) = (phase.wild_tools.iter()).find(|(_, name)| name.matches(tool))?;
        let matched = tool_match((rule.clone(), Naming::Unnamed));
        Some(self.plan_match(number, phase, matched))
    }

    /// What a plan covers of one command: one that is run in the workspace, and reaches no other hosts than it names.
    pub(super) fn plan_covers_of_command(&self, index: usize) -> Vec<Cover> {
        let mut covers = Vec::new();
        if self.plan_here().is_none() || !self.is_run_in_workspace(index) {
            return covers;
        }
        let mut own = effects::subjects(self.view).filter(|one| one.command == Some(index));
        if own.any(|one| self.reaches_others(&one)) {
            return covers;
        }
        let mut own = effects::subjects(self.view).filter(|one| one.command == Some(index));
        let goes_out = own.any(|one| self.changes_outside(&one));
        for (number, phase) in self.phases() {
            let matches = (phase.rules).covering_command(self.view, index, Some(&self.around));
            // What lies elsewhere is declared by its name: a wildcard stands for what there is in the workspace.
            let told = |one: &Match| !goes_out || !one.rule.contains(['*', '?', '[']);
            covers.extend(
                (matches.into_iter().filter(told)).map(|one| self.plan_match(number, phase, one)),
            );
            covers.extend(self.declared_line(number, phase, index));
        }
        covers
    }

    /// The line itself, declared letter by letter: it speaks of all its commands, of which a pattern speaks one by one.
    fn declared_line(&self, number: usize, phase: &PhaseRules, index: usize) -> Option<Cover> {
        let line = self.view.known_line()?;
        let started = self.around.resolve(".").ok()?;
        let here = self
            .plan_here()
            .is_some_and(|plan| plan.workspace == started);
        let declared = phase.lines.iter().find(|declared| *declared == line);
        let rule = declared.filter(|_| here)?;
        let spelled = Spelled::Command(Glob::escape(rule));
        Some(self.plan_cover(number, phase, rule, spelled, Some(index)))
    }

    fn is_run_in_workspace(&self, index: usize) -> bool {
        let Some(view) = self.view.commands.get(index) else {
            return false;
        };
        let generated = self.policy.generated();
        let places = Places::new(&self.around, &generated).of_word(".", &view.command.directory);
        !places.is_empty() && places.iter().all(|place| self.is_in_workspace(place))
    }

    /// Whether it reaches a host that the plan does not name, where it names any.
    fn reaches_others(&self, subject: &Subject<'_>) -> bool {
        let Some(plan) = self.plan_here().filter(|plan| !plan.hosts.is_empty()) else {
            return false;
        };
        // What is installed is declared as a package, wherever it comes from.
        let installs = (subject.effects.iter()).any(|effect| effect.kind == EffectKind::Install);
        let mut connects = subject.effects.iter().filter(|effect| {
            effect.kind == EffectKind::Connect
                && effect.classes & LOOPBACK == 0
                && (effect.dynamic || effect.address.is_some() || !installs)
        });
        connects.any(|effect| {
            let named = |address| {
                plan.hosts
                    .iter()
                    .any(|host: &HostPattern| host.fits(address))
            };
            effect.dynamic || !effect.address.as_deref().is_some_and(named)
        })
    }

    /// Whether it writes, deletes or runs a file that is not known to lie in the workspace.
    fn changes_outside(&self, subject: &Subject<'_>) -> bool {
        let mut files = subject.effects.iter().filter(|effect| {
            matches!(
                effect.kind,
                EffectKind::Write | EffectKind::Append | EffectKind::Delete | EffectKind::Run
            ) && (effect.place.path.is_some() || effect.dynamic)
        });
        files.any(|effect| effect.dynamic || !self.is_in_workspace(&effect.place))
    }

    /// The place a phase declares for a tool that works on files and does nothing else, if it declares all of them.
    fn declared_places(&self, phase: &PhaseRules) -> Option<String> {
        let paths = self.view.paths();
        if phase.files.is_empty()
            || paths.is_empty()
            || !catalogue::is_known(self.view.call.tool())
            || self.view.effect == catalogue::Effect::Unknown
        {
            return None;
        }
        let rules: Option<Vec<String>> = paths
            .iter()
            .map(|path| {
                let findings = phase.files.findings(path, &self.around);
                let refused = findings.iter().any(|one| one.verdict != Verdict::Allow);
                let known = path.kind != EffectKind::Either && !path.dynamic && !refused;
                let allowed = findings
                    .into_iter()
                    .find(|one| one.verdict == Verdict::Allow);
                allowed.filter(|_| known).map(|one| one.rule)
            })
            .collect();
        rules?.into_iter().next()
    }

    /// The host a phase names for a tool that fetches pages, if it names all the call reaches.
    fn declared_hosts(&self, phase: &PhaseRules) -> Option<String> {
        let tool = self.view.call.tool();
        if phase.hosts.is_empty() || !catalogue::is_known(tool) || !self.view.effect.only_looks() {
            return None;
        }
        let connects = effects::subjects(self.view).flat_map(|one| one.effects.iter());
        let connects = connects.filter(|effect| effect.kind == EffectKind::Connect);
        let named: Option<Vec<&str>> = connects
            .map(|effect| {
                let address = effect.address.as_deref().filter(|_| !effect.dynamic)?;
                let mut hosts = phase.hosts.iter();
                hosts.find(|host| host.fits(address)).map(HostPattern::text)
            })
            .collect();
        named?.first().map(|host| (*host).to_owned())
    }

    fn plan_match(&self, number: usize, phase: &PhaseRules, matched: Match) -> Cover {
        let spelled = self.spelled(&matched);
        Cover {
            specificity: matched.specificity,
            naming: matched.naming,
            ..self.plan_cover(number, phase, &matched.rule, spelled, matched.command)
        }
    }

    fn plan_cover(
        &self,
        number: usize,
        phase: &PhaseRules,
        rule: &str,
        spelled: Spelled,
        command: Option<usize>,
    ) -> Cover {
        let name = self.plan_here().map_or("", |plan| plan.name.as_str());
        Cover {
            speaker: None,
            specificity: 1,
            naming: Naming::Unnamed,
            // Whoever released it had not seen what the session was shown since.
            knows_of_mark: false,
            by_plan: true,
            spelled,
            found: self.found(
                Method::SessionWhitelist,
                Verdict::Allow,
                format!("plan:{name}#{number}: {rule}"),
                format!("In the plan `{name}`, phase `{}`", phase.name),
                command,
            ),
        }
    }

    /// What is said of a part that only the plan allows: a default that refuses or wants a review is no question, and stands.
    pub(super) fn planned_answer(&self, cover: &Cover) -> Answer {
        let standing = self.standing_answer(self.policy.standing(), false);
        match standing.verdict >= Verdict::Review {
            true => standing,
            false => Answer::by(&cover.found, false),
        }
    }

    /// The question about each part that changes or reaches something and is not in the plan.
    pub(super) fn outside_the_plan(&self, covers: &[Vec<Cover>]) -> Vec<Objection> {
        let tool = self.view.call.tool();
        let Some(plan) = &self.session.plan else {
            return Vec::new();
        };
        if catalogue::stays_with_the_agent(tool) || tool == plan::TOOL {
            return Vec::new();
        }
        let mut found: Vec<Objection> = Vec::new();
        for subject in effects::subjects(self.view) {
            let part = subject.command;
            let of_part = covers.get(part.unwrap_or_default());
            let covered = of_part.is_some_and(|covers| covers.iter().any(|one| one.by_plan));
            let known = found.iter().any(|one| one.found.part == part);
            if covered || known || self.is_in_file(part) || self.only_looks_around(&subject) {
                continue;
            }
            let reason = format!("Not in the plan `{}`", plan.name);
            let rule = plan::OUTSIDE.to_owned();
            let one = self.found(Method::ToolPolicy, Verdict::Ask, rule, reason, part);
            found.push(self.question(one, Answerable::Usually));
        }
        found
    }

    /// Whether it changes nothing and goes nowhere, or only to another directory.
    fn only_looks_around(&self, subject: &Subject<'_>) -> bool {
        let goes = subject.program == Some("cd");
        subject.is_read_only() && (goes || self.is_known_to_look(subject.command))
    }

    /// The question whether a plan may be opened. Nothing answers it but a person who sees the plan.
    pub(super) fn opens_a_plan(&self) -> Option<Objection> {
        if self.view.call.tool() != plan::TOOL {
            return None;
        }
        let reason = "A plan is to be opened: what it covers will not be asked about again";
        let rule = "plan.open".to_owned();
        let mut one = self.found(Method::ToolPolicy, Verdict::Ask, rule, reason.into(), None);
        one.finding.risk = Risk::High;
        Some(self.question(one, Answerable::Never))
    }

    fn question(&self, found: PartFinding, answerable: Answerable) -> Objection {
        Objection {
            speaker: None,
            answerable,
            replaces_default: false,
            specificity: 0,
            naming: Naming::Unnamed,
            is_unknown_code: false,
            found,
        }
    }
}
