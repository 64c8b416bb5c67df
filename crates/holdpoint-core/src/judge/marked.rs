//! What is asked about in a session that was shown a text with orders in it.
//!
//! The text was taken away or cleaned, but nobody knows what a model makes of the rest. Orders of
//! that kind want data: so whatever reaches the network or reads secrets goes past a person, until
//! that person takes the mark away or allows it in its knowledge. A mark only ever adds a question.

use super::Judgement;
use super::findings::{Answerable, Objection};
use crate::catalogue;
use crate::effects::places::{ENVIRONMENT, LOOPBACK, REMOTE_BRANCH, SECRET, SECRET_VARIABLE};
use crate::effects::{Effect, EffectKind, Subject};
use crate::opaque::Reason;
use crate::policy::tool_names::Naming;
use crate::session::Mark;
use crate::text::escape_for_display;
use crate::verdict::{Method, Verdict};

/// What somebody who gives orders to a model is after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Temptation {
    Network,
    Secrets,
    Unknown,
}

impl Temptation {
    fn rule(self) -> &'static str {
        match self {
            Temptation::Network => "injection.network",
            Temptation::Secrets => "injection.secrets",
            Temptation::Unknown => "injection.unknown",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Temptation::Network => "this reaches the network",
            Temptation::Secrets => "this reads secrets",
            Temptation::Unknown => "nobody knows what this does",
        }
    }
}

impl Judgement<'_> {
    /// What a marked session is asked about one subject of the call.
    pub(super) fn doubts(&self, mark: &Mark, subject: &Subject<'_>) -> Option<Objection> {
        let temptation = self.temptation(subject)?;
        let source = match &mark.tool {
            Some(tool) => format!("{} ({})", escape_for_display(tool, 60), mark.origin),
            None => mark.origin.to_string(),
        };
        let reason = format!(
            "Earlier text in this session carried instructions (from {source}, {} severity), and {}",
            mark.severity,
            temptation.words()
        );
        Some(Objection {
            speaker: None,
            answerable: Answerable::InItsKnowledge,
            replaces_default: false,
            specificity: 0,
            naming: Naming::Unnamed,
            is_unknown_code: false,
            found: self.found(
                Method::Injection,
                Verdict::Ask,
                temptation.rule().into(),
                reason,
                subject.command,
            ),
        })
    }

    fn temptation(&self, subject: &Subject<'_>) -> Option<Temptation> {
        if subject.effects.iter().any(reads_secrets) {
            return Some(Temptation::Secrets);
        }
        let tool = self.view.call.tool();
        let by_tool = subject.command.is_none() && catalogue::reaches_network(tool);
        if by_tool || subject.effects.iter().any(reaches_network) {
            return Some(Temptation::Network);
        }
        let unknown = match subject.command {
            Some(index) => (self.view.commands.get(index)).is_some_and(|view| {
                let mut unknown = view.command.opaque.iter();
                unknown.any(|opaque| may_be_anything(opaque.reason))
            }),
            None => {
                self.view.effect == catalogue::Effect::Unknown
                    && !catalogue::stays_with_the_agent(tool)
            }
        };
        unknown.then_some(Temptation::Unknown)
    }
}

fn reads_secrets(effect: &Effect) -> bool {
    matches!(
        effect.kind,
        EffectKind::Read | EffectKind::Send | EffectKind::Either | EffectKind::Show
    ) && effect.classes & (SECRET | SECRET_VARIABLE | ENVIRONMENT) != 0
}

pub(super) fn reaches_network(effect: &Effect) -> bool {
    match effect.kind {
        // Talking to oneself tells nobody anything.
        EffectKind::Connect => effect.classes & LOOPBACK == 0,
        EffectKind::History => effect.classes & REMOTE_BRANCH != 0,
        EffectKind::Send
        | EffectKind::Publish
        | EffectKind::Infrastructure
        | EffectKind::Install => true,
        EffectKind::Run
        | EffectKind::Read
        | EffectKind::Write
        | EffectKind::Append
        | EffectKind::Delete
        | EffectKind::Mode
        | EffectKind::Owner
        | EffectKind::Listen
        | EffectKind::Database
        | EffectKind::Privilege
        | EffectKind::Signal
        | EffectKind::Persist
        | EffectKind::Opaque
        | EffectKind::List
        | EffectKind::Either
        | EffectKind::Show => false,
    }
}

/// Whether code nobody can read may be run. Code that stands in the call itself was read as far as
/// that goes.
fn may_be_anything(reason: Reason) -> bool {
    match reason {
        Reason::DynamicProgram
        | Reason::DynamicCode
        | Reason::PipedIntoShell
        | Reason::Downloaded
        | Reason::Decoded
        | Reason::Unreadable
        | Reason::TooDeep
        | Reason::OverBudget
        | Reason::CannotRead
        | Reason::TooLarge
        | Reason::NotText
        | Reason::ChangedBefore => true,
        Reason::InlineCode
        | Reason::ScriptFromInput
        | Reason::ExecutableSetting
        | Reason::BuiltBefore
        | Reason::CallsItself => false,
    }
}
