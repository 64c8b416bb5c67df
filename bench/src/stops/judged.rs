//! Judging all commands, each in the session it belongs to.

use std::collections::BTreeMap;

use anyhow::Result;
use holdpoint::{Method, Policy, Profile, Session, ToolCall, Verdict};
use holdpoint_core::{ExplainedCommand, Surroundings, explained, judge, understand, written_by};

use super::Real;
use super::world::{HOME, SessionWorld, World, project};

/// What was said of a command.
pub(super) struct Answered {
    pub(super) verdict: Verdict,
    method: Method,
    pub(super) rule: String,
    pub(super) reason: String,
    /// The parts no rule allows, with what they do.
    pub(super) why: Vec<String>,
}

impl Answered {
    /// A person, or nobody, must let it run.
    pub(super) fn is_stopped(&self) -> bool {
        self.verdict > Verdict::Contain
    }

    /// A rule says that it may run, so that the agent does not ask either.
    pub(super) fn is_allowed(&self) -> bool {
        self.verdict == Verdict::Allow && self.method != Method::NoObjection
    }
}

/// Judges the commands in their order under a profile.
pub(super) fn judge_all(
    commands: &[Real],
    profile: Profile,
    can_contain: bool,
    world: &World,
) -> Result<Vec<Answered>> {
    let policy = Policy::profile(profile)?;
    let mut sessions: BTreeMap<u64, (&str, SessionWorld<'_>)> = BTreeMap::new();
    let judged = commands.iter().map(|real| {
        let (project, session) = sessions.entry(real.session).or_insert_with(|| {
            let own = commands.iter().filter(|one| one.session == real.session);
            let project = project(own.map(|one| one.command.as_str()));
            (project, SessionWorld::new(world))
        });
        let around = Surroundings {
            workspace: Some(project),
            directory: None,
            home: Some(HOME),
            lookup: &*session,
            can_contain,
        };
        let action = understand(ToolCall::shell(&real.command), &policy, &around);
        let decision = judge(&action, &policy, &Session::default(), &around);
        let parts = explained(&action, &around);
        let allowed = |command: &ExplainedCommand| {
            decision.findings.iter().any(|one| {
                one.verdict < Verdict::Contain
                    && one.method == Method::Whitelist
                    && one.span == Some(command.span)
            })
        };
        let why = parts.commands.iter().filter(|one| !allowed(one));
        let why = why.map(described).collect();
        // The person says yes to what is asked, and the agent goes on after what is refused.
        if decision.verdict < Verdict::Deny {
            session.remember(written_by(&action));
            session.run(&real.command, &parts);
        }
        Answered {
            verdict: decision.verdict,
            method: decision.method,
            rule: decision.rule.unwrap_or_default(),
            reason: decision.reason,
            why,
        }
    });
    Ok(judged.collect())
}

/// A command and what it does, in a line.
fn described(command: &ExplainedCommand) -> String {
    let mut text: String = command.text.chars().take(160).collect();
    if let Some(unknown) = command.unknown {
        text.push_str(&format!(" | unknown: {unknown}"));
    }
    for effect in &command.effects {
        let path = effect.path.as_deref().or(effect.host.as_deref());
        let classes = effect.classes.join("+");
        text.push_str(&format!(
            " | {} {} {classes}",
            effect.kind,
            path.unwrap_or("-")
        ));
    }
    text
}
