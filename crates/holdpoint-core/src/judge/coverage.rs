//! Which rules allow which parts of a call (invariant 2: an allow covers every part).

use super::Judgement;
use super::findings::{List, PartFinding, Speaker};
use super::spelling::Spelled;
use crate::effects::EffectKind;
use crate::glob::Glob;
use crate::paths::Surroundings;
use crate::policy::Profile;
use crate::policy::patterns::LastStar;
use crate::policy::rules::{Match, MatchKind};
use crate::policy::tool_names::Naming;
use crate::policy::tool_rules::Opinion;
use crate::shell::{Reached, Wrapping};
use crate::understand::{Action, CommandView};
use crate::verdict::{Method, Verdict};

/// Something that allows a part.
#[derive(Clone, Debug)]
pub(super) struct Cover {
    /// Whose it is; none for the session's.
    pub(super) speaker: Option<Speaker>,
    pub(super) specificity: usize,
    /// How its rule names the tool.
    pub(super) naming: Naming,
    /// Whether a person gave it when they could know what the session remembers.
    pub(super) knows_of_mark: bool,
    /// Whether it is of the open plan, which answers questions and nothing else.
    pub(super) by_plan: bool,
    /// What of a call it says in so many words.
    pub(super) spelled: Spelled,
    pub(super) found: PartFinding,
}

impl Judgement<'_> {
    /// What allows each part, in the order of J-20: the session's rules, then the policy's.
    pub(super) fn covers(&self, opinions: &[Vec<Opinion>]) -> Vec<Vec<Cover>> {
        let view = self.view;
        let whole = self.covers_of_call();
        if !self.has_commands() {
            let mut covers = whole;
            covers.extend(self.covers_of_files());
            covers.extend(self.covers_of_opinions(opinions.first(), None));
            return vec![covers];
        }
        let own: Vec<Vec<Cover>> = (0..view.commands.len())
            .map(|index| {
                let mut covers = whole.clone();
                // A rule for commands speaks of shells; another tool may do more with a command.
                if view.is_shell() {
                    covers.extend(self.covers_of_command(index));
                }
                covers.extend(self.covers_of_opinions(opinions.get(index), Some(index)));
                covers
            })
            .collect();
        passed_on(view, own)
    }

    fn covers_of_call(&self) -> Vec<Cover> {
        let mut covers = Vec::new();
        let reach = self.session_reach();
        let session = self.session.rules.covering_call(self.view, reach);
        covers.extend(
            session
                .into_iter()
                .map(|matched| self.session_cover(matched)),
        );
        for (speaker, layer) in self.speakers() {
            let matches = layer
                .allow
                .covering_call(self.view, self.reach(layer.profile));
            covers.extend(matches.into_iter().map(|m| self.layer_cover(m, speaker)));
        }
        covers.extend(self.plan_covers_of_call());
        covers
    }

    /// Where paths lie for the wildcards of a layer's patterns. jaato's are compared with the text alone
    /// (J-13).
    fn reach(&self, profile: Option<Profile>) -> Option<&Surroundings<'_>> {
        (last_star(profile) == LastStar::MayBeMissing).then_some(&self.around)
    }

    /// The same for the session's, which were given under all the layers together.
    fn session_reach(&self) -> Option<&Surroundings<'_>> {
        (self.session_star() == LastStar::MayBeMissing).then_some(&self.around)
    }

    /// How a last star is read in the session's patterns.
    pub(super) fn session_star(&self) -> LastStar {
        let layers = self.policy.layers().iter();
        let mut stars = layers.map(|layer| last_star(layer.profile));
        match stars.any(|star| star == LastStar::AsText) {
            true => LastStar::AsText,
            false => LastStar::MayBeMissing,
        }
    }

    fn covers_of_command(&self, index: usize) -> Vec<Cover> {
        let mut covers = Vec::new();
        let reach = self.session_reach();
        let session = (self.session.rules).covering_command(self.view, index, reach);
        covers.extend(
            session
                .into_iter()
                .map(|matched| self.session_cover(matched)),
        );
        for (speaker, layer) in self.speakers() {
            let reach = self.reach(layer.profile);
            let matches = layer.allow.covering_command(self.view, index, reach);
            covers.extend(matches.into_iter().map(|m| self.layer_cover(m, speaker)));
        }
        covers.extend(self.plan_covers_of_command(index));
        covers
    }

    /// File rules allow a call that names files and does nothing else, if they allow all of them.
    fn covers_of_files(&self) -> Vec<Cover> {
        let view = self.view;
        // Most policies have no file rules, and then nobody asks for the paths.
        if self
            .policy
            .layers()
            .iter()
            .all(|layer| layer.files.is_empty())
        {
            return Vec::new();
        }
        let known = view
            .paths()
            .iter()
            .all(|path| path.kind != EffectKind::Either);
        if view.paths().is_empty() || !view.commands.is_empty() || !known {
            return Vec::new();
        }
        let mut covers = Vec::new();
        for (speaker, layer) in self.speakers().filter(|(_, layer)| !layer.files.is_empty()) {
            let allowed: Option<Vec<_>> = view
                .paths()
                .iter()
                .map(|path| {
                    layer
                        .files
                        .findings(path, &self.around)
                        .into_iter()
                        .find(|finding| finding.verdict == Verdict::Allow)
                })
                .collect();
            if let Some(first) = allowed.and_then(|all| all.into_iter().next()) {
                let spelled = Spelled::Place(first.rule.clone());
                let found = self.found(
                    Method::FileGuard,
                    Verdict::Allow,
                    first.rule,
                    first.reason,
                    None,
                );
                covers.push(Cover {
                    speaker: Some(speaker),
                    specificity: 1,
                    naming: Naming::Unnamed,
                    knows_of_mark: false,
                    by_plan: false,
                    spelled,
                    found: found.of_layer(speaker.authority),
                });
            }
        }
        covers
    }

    /// Tool rules that let a part run. One with conditions speaks of the words it can see, so it
    /// says nothing about a command whose words are not known or that writes a file besides.
    fn covers_of_opinions(
        &self,
        opinions: Option<&Vec<Opinion>>,
        part: Option<usize>,
    ) -> Vec<Cover> {
        let command = part.and_then(|index| self.view.commands.get(index));
        let plain = command.is_none_or(|command| {
            !command.is_dynamic()
                && command.command.opaque.is_empty()
                && !command.writes_by_option()
                && command.line_with_writes().is_none()
        });
        self.speakers()
            .zip(opinions.into_iter().flatten())
            .filter_map(|((speaker, _), opinion)| {
                let supervised = opinion.supervision.as_ref()?;
                let speaks = supervised.verdict.runs() && (plain || supervised.specificity == 0);
                speaks.then(|| Cover {
                    speaker: Some(speaker),
                    specificity: supervised.specificity,
                    naming: supervised.naming,
                    knows_of_mark: false,
                    by_plan: false,
                    spelled: match &supervised.spelled {
                        Some(command) => Spelled::Command(command.clone()),
                        None => Spelled::Tool,
                    },
                    found: self
                        .found(
                            Method::ToolPolicy,
                            supervised.verdict,
                            supervised.rule.clone(),
                            supervised.reason.clone(),
                            part,
                        )
                        .of_layer(speaker.authority),
                })
            })
            .collect()
    }

    fn session_cover(&self, matched: Match) -> Cover {
        Cover {
            speaker: None,
            specificity: matched.specificity,
            naming: matched.naming,
            knows_of_mark: self.session.state.knows_of_mark(&matched.rule),
            by_plan: false,
            spelled: self.spelled(&matched),
            found: self.found(
                Method::SessionWhitelist,
                Verdict::Allow,
                matched.rule.clone(),
                List::SessionWhitelist.reason(&matched, self.view.call.tool()),
                matched.command,
            ),
        }
    }

    pub(super) fn spelled(&self, matched: &Match) -> Spelled {
        let rule = &matched.rule;
        match matched.kind {
            MatchKind::Tool => Spelled::Tool,
            MatchKind::Pattern if self.view.is_shell() => Spelled::Command(rule.clone()),
            MatchKind::Pattern => Spelled::Form(rule.clone()),
            MatchKind::Argument => {
                let (argument, value) = rule.split_once('=').unwrap_or(("", rule));
                match matched.command {
                    Some(_) => Spelled::Command(Glob::escape(value)),
                    None => Spelled::Argument(argument.to_owned(), value.to_owned()),
                }
            }
        }
    }

    fn layer_cover(&self, matched: Match, speaker: Speaker) -> Cover {
        Cover {
            speaker: Some(speaker),
            specificity: matched.specificity,
            naming: matched.naming,
            knows_of_mark: false,
            by_plan: false,
            spelled: self.spelled(&matched),
            found: self
                .found(
                    Method::Whitelist,
                    Verdict::Allow,
                    matched.rule.clone(),
                    List::Whitelist.reason(&matched, self.view.call.tool()),
                    matched.command,
                )
                .of_layer(speaker.authority),
        }
    }
}

/// How a last star is read in the patterns of a layer: jaato's are text and nothing else (J-13).
pub(super) fn last_star(profile: Option<Profile>) -> LastStar {
    match profile {
        Some(Profile::Jaato) => LastStar::AsText,
        Some(_) | None => LastStar::MayBeMissing,
    }
}

/// Passes covers between a command and the one that runs it. A rule for `sudo *` speaks of what
/// sudo runs; a rule for `find *` does not speak of what `-exec` runs; and what `timeout` or
/// `bash -c` runs, they are only another spelling of.
fn passed_on(view: &Action, own: Vec<Vec<Cover>>) -> Vec<Vec<Cover>> {
    // Most policies allow by effect, and there is nothing to pass on.
    if own.iter().all(Vec::is_empty) {
        return own;
    }
    let mut covers = own.clone();
    let mut inherited: Vec<Vec<Cover>> = vec![Vec::new(); own.len()];
    for (index, command) in view.commands.iter().enumerate() {
        let Reached::Within { wrapper, how } = &command.command.reached else {
            continue;
        };
        let mut from_above = inherited.get(*wrapper).cloned().unwrap_or_default();
        if matches!(how, Wrapping::Commanding) {
            from_above.extend(own.get(*wrapper).into_iter().flatten().cloned());
        }
        if let Some(slot) = covers.get_mut(index) {
            slot.extend(from_above.iter().cloned());
        }
        if let Some(slot) = inherited.get_mut(index) {
            *slot = from_above;
        }
    }
    for index in (0..view.commands.len()).rev() {
        let uncovered = covers.get(index).is_some_and(Vec::is_empty);
        let Some(command) = view.commands.get(index).filter(|_| uncovered) else {
            continue;
        };
        let inner = inner_commands(view, index);
        let all_covered = inner
            .iter()
            .all(|inner| covers.get(*inner).is_some_and(|covers| !covers.is_empty()));
        if is_another_spelling(view, command, &inner)
            && all_covered
            && let Some(first) = inner.first().and_then(|inner| covers.get(*inner)).cloned()
            && let Some(slot) = covers.get_mut(index)
        {
            *slot = first;
        }
    }
    covers
}

fn inner_commands(view: &Action, wrapper: usize) -> Vec<usize> {
    let runs = |command: &CommandView| match &command.command.reached {
        Reached::Within { wrapper: by, .. } => *by == wrapper,
        Reached::Directly | Reached::Substituted => false,
    };
    view.commands
        .iter()
        .enumerate()
        .filter(|(_, command)| runs(command))
        .map(|(index, _)| index)
        .collect()
}

/// Whether a command adds nothing to what it runs.
fn is_another_spelling(view: &Action, command: &CommandView, inner: &[usize]) -> bool {
    const SHELLS: &[&str] = &["ash", "bash", "dash", "eval", "ksh", "sh", "zsh"];
    let transparent = inner.iter().all(|index| {
        view.commands.get(*index).is_some_and(|inner| {
            matches!(
                inner.command.reached,
                Reached::Within {
                    how: Wrapping::Transparent,
                    ..
                }
            )
        })
    });
    let shell = command
        .program()
        .is_some_and(|program| SHELLS.contains(&program));
    !inner.is_empty()
        && !command.writes_by_option()
        && command.command.opaque.is_empty()
        && command.command.assignments.is_empty()
        && command.line_with_writes().is_none()
        && !command.is_dynamic()
        && (transparent || shell)
}
