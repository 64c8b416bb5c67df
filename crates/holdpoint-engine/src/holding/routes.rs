//! How a person is reached: the agent's own dialog, the daemon, or a channel this process asks
//! through itself.

use std::path::PathBuf;
use std::time::Duration;

use holdpoint_broker::channel::{self, Setting};
use holdpoint_broker::wire::{self, HoldAnswer, Places, WireError};
use holdpoint_broker::{
    BrokerHost, CallContext, Event, Prepared, Problem, Resolution, Terms, answering, local,
};
use holdpoint_core::policy::{Channel, ChannelKind, Fallback, Presence, channel_of};
use holdpoint_core::{Decision, Method, Policy, Verdict};

use super::asking::{Approvers, Asking, Dialog};
use super::host::Host;
use super::terms;
use crate::account::account_name;
use crate::context::SessionSource;
use crate::error::EngineError;
use crate::excerpt::{text_without_secrets, without_secrets};
use crate::pins::{Pinned, not_held};
use crate::pipeline::{Held, Judged, Refusal, Released};
use crate::store::make_private_directory;

/// The longest that a daemon which does not answer is looked for: it may be starting anew, which takes less than a second. Then
/// it counts as one that does not run.
const MAX_WAIT: Duration = Duration::from_secs(3);

/// How a policy wants a person asked.
#[derive(Clone, Debug)]
enum ApprovalRoute<'p> {
    /// In the agent's own dialog.
    Agent,
    /// By the daemon if it runs, else in the agent's own dialog: nobody has said anything.
    DaemonIfThere,
    /// By the daemon; by the fallback if it does not run.
    Daemon(Fallback),
    /// Through a channel of this process.
    Channel(&'p Channel),
}

impl<'p> ApprovalRoute<'p> {
    fn of_policy(policy: &'p Policy) -> Self {
        let Some(channel) = channel_of(policy) else {
            return ApprovalRoute::DaemonIfThere;
        };
        if channel.only_tells().is_some() {
            // Who is told answers on the daemon's page.
            return ApprovalRoute::Daemon(policy.fallback());
        }
        match channel.kind {
            ChannelKind::Agent => ApprovalRoute::Agent,
            ChannelKind::Daemon => ApprovalRoute::Daemon(policy.fallback()),
            ChannelKind::Console | ChannelKind::Webhook | ChannelKind::File => {
                ApprovalRoute::Channel(channel)
            }
        }
    }
}

/// What comes of asking.
enum AskOutcome {
    /// It is decided, and on record.
    Resolved(Resolution),
    /// The agent's own dialog is to ask.
    HandOn,
    /// The agent has none, and nobody else can be asked.
    NoDialog,
    /// Nobody has answered yet; the request stays, and the identical call finds the answer.
    StillWaiting { id: String, waited: Duration },
}

/// Has a person answer about a call that is to be asked about.
pub(crate) fn ask(judged: Judged, asking: Asking<'_>) -> Result<Held, EngineError> {
    if let Approvers::HandsOn = asking.approvers {
        return handed_on(judged);
    }
    let verdict = judged.decision.verdict;
    let failed = |problem: Problem| EngineError::NotHeld { problem, verdict };
    let (takes_edits, cancelled) = (asking.takes_edits, asking.cancelled);
    let asked = judged.calling()?;
    let engine = judged.engine.clone();
    // Whoever answers is judged by what was read already.
    engine.keep(&judged.reading);
    let inquiry = Inquiry {
        host: Host {
            engine: &engine,
            policy: judged.caller.policy.clone(),
            introduce: asking.introduce,
        },
        policy: &judged.reading.policy,
        asked: &asked,
        decision: &judged.decision,
    };
    let answer = inquiry.answer(asking).map_err(failed)?;
    let refusal = match answer {
        AskOutcome::HandOn => {
            drop(inquiry);
            return handed_on(judged);
        }
        AskOutcome::Resolved(resolution) if !resolution.verdict.runs() => {
            return Ok(Held::Refused(Refusal {
                decision: resolved(&judged.decision, &resolution),
                request: resolution.id,
                unasked: None,
            }));
        }
        // Somebody said yes the moment the call was given up.
        AskOutcome::Resolved(resolution) if cancelled() => Refusal {
            decision: withdrawn(&judged.decision),
            request: resolution.id,
            unasked: None,
        },
        AskOutcome::Resolved(resolution) if resolution.edited.is_some() && !takes_edits => {
            Refusal {
                decision: changed(&judged.decision),
                request: resolution.id,
                unasked: None,
            }
        }
        AskOutcome::Resolved(resolution) => {
            return Ok(Held::Released(Box::new(Released {
                judged,
                resolution: Some(resolution),
            })));
        }
        AskOutcome::NoDialog => {
            let asked_about = without_secrets(judged.decision.clone());
            let reason = format!("Nobody can be asked here: {}", asked_about.reason);
            Refusal {
                decision: unheard(&judged.decision, reason),
                request: None,
                unasked: Some(Box::new(asked_about)),
            }
        }
        AskOutcome::StillWaiting { id, waited } => Refusal {
            decision: still_waiting(&judged.decision, &id, waited),
            request: Some(id),
            unasked: None,
        },
    };
    inquiry.record(&refusal.decision).map_err(failed)?;
    Ok(Held::Refused(refusal))
}

/// Has the agent's own dialog ask. Who has said yes to calls of this form before is told how not to be asked again.
fn handed_on(judged: Judged) -> Result<Held, EngineError> {
    let Judged {
        engine,
        caller,
        reading,
        decision,
        ..
    } = judged;
    engine.remember_written(&caller, &reading)?;
    engine.expect_own(&caller, &reading);
    engine.expect_tests(&caller, &reading)?;
    engine.expect_answer(&caller, &reading);
    let mut decision = without_secrets(decision);
    let session = engine.session(&SessionSource::Kept(caller.session().to_owned()))?;
    if !session.state().released.is_empty() {
        let (asked, state) = (caller.calling(reading.action.call())?, session.state());
        let around = engine.surroundings(&asked.workspace);
        let (action, policy) = (&reading.action, &reading.policy);
        let pinned = Pinned::at(engine.locations());
        let terms = terms::for_decision(&asked, action, &decision, policy, state, &around, &pinned);
        if let Some(suggested) = terms::suggested_command(&terms) {
            decision.reason = format!("{}. {suggested}", decision.reason);
        }
    }
    Ok(Held::HandedOn(decision))
}

/// One question, and all that is needed to ask it.
struct Inquiry<'a> {
    host: Host<'a>,
    policy: &'a Policy,
    asked: &'a CallContext,
    decision: &'a Decision,
}

impl Inquiry<'_> {
    fn answer(&self, asking: Asking<'_>) -> Result<AskOutcome, Problem> {
        let wanted = Duration::from_secs(self.policy.answer_wait());
        let wait = asking.patience.map_or(wanted, |most| wanted.min(most));
        let cancelled = asking.cancelled;
        let dialog = match asking.approvers {
            Approvers::HandsOn => return Ok(AskOutcome::HandOn),
            Approvers::Nobody => return self.nobody(about(self.decision)),
            Approvers::Through(channel) => {
                let judged = self.host.judge(self.asked)?;
                if let Some(reason) = unsigned(&judged.terms) {
                    return self.nobody(reason);
                }
                let resolution = local::hold(&self.host, channel, self.asked, judged, cancelled)?;
                return Ok(AskOutcome::Resolved(resolution));
            }
            Approvers::AsPolicySays(dialog) => dialog,
        };
        if let Some(refused) = self.known_to_fail()? {
            return Ok(refused);
        }
        if let Some(reason) = self.not_held() {
            return self.nobody(reason);
        }
        (asking.before_waiting)(wait).map_err(|error| Problem(error.to_string()))?;
        let route = ApprovalRoute::of_policy(self.policy);
        // The daemon judges by the policy files: its answer would be about another policy.
        let here_alone = !self.host.policy.is_known_to_all();
        match route {
            ApprovalRoute::Agent => self.by_agent(dialog, cancelled),
            ApprovalRoute::DaemonIfThere if here_alone => self.by_agent(dialog, cancelled),
            ApprovalRoute::DaemonIfThere => match self.by_daemon(wait, Duration::ZERO, cancelled) {
                Err(WireError::NotRunning) => self.by_agent(dialog, cancelled),
                held => held.map_err(|error| Problem(error.to_string())),
            },
            ApprovalRoute::Daemon(_) if here_alone => self.nobody(about(self.decision)),
            ApprovalRoute::Daemon(fallback) => match self.by_daemon(wait, MAX_WAIT, cancelled) {
                Err(error @ WireError::NotRunning) => match fallback {
                    Fallback::Agent => self.by_agent(dialog, cancelled),
                    Fallback::Console => self.by_channel(&Channel::console(), wait, cancelled),
                    Fallback::Deny => self.nobody(error.to_string()),
                },
                held => held.map_err(|error| Problem(error.to_string())),
            },
            ApprovalRoute::Channel(channel) => self.by_channel(channel, wait, cancelled),
        }
    }

    /// Why nobody can say yes to this, whoever is asked: the policy wants it surer than this machine can have it.
    fn not_held(&self) -> Option<String> {
        let pinned = Pinned::at(self.host.engine.locations());
        let level = terms::presence(self.policy, &self.asked.tool, self.decision, &pinned);
        let why = not_held(level, &pinned)?;
        Some(format!(
            "a yes to this needs the presence `{}`, which cannot be had: {why}",
            level.as_str()
        ))
    }

    /// The refusal of what its own tool knows must fail: whoever is asked may be in another process,
    /// which knows nothing of the tool (J-46).
    fn known_to_fail(&self) -> Result<Option<AskOutcome>, Problem> {
        let Some(introduce) = self.host.introduce else {
            return Ok(None);
        };
        let said = introduce(self.asked, Prepared::default())?.display;
        let Some(error) = said.pre_validation_error else {
            return Ok(None);
        };
        let refusal = Decision {
            verdict: Verdict::Deny,
            method: Method::PreValidation,
            reason: text_without_secrets(&error),
            ..without_secrets(self.decision.clone())
        };
        self.record(&refusal)?;
        Ok(Some(AskOutcome::Resolved(Resolution::decided(&refusal))))
    }

    /// Has the agent's own dialog ask. It does not say who answers it, so it cannot ask certain
    /// people, nor several.
    fn by_agent(
        &self,
        dialog: Dialog<'_>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<AskOutcome, Problem> {
        let stated = terms::stated(self.policy, &self.asked.tool, self.decision);
        if stated.wants_certain_people() {
            let reason = "certain people must say yes to this, and the agent's own dialog cannot \
                          tell who does: start the approval daemon with `holdpoint serve`";
            return self.nobody(reason.into());
        }
        let judged = self.host.judge(self.asked)?;
        if let Some(reason) = unsigned(&judged.terms) {
            return self.nobody(reason);
        }
        match dialog {
            Dialog::None => Ok(AskOutcome::NoDialog),
            Dialog::Own => Ok(AskOutcome::HandOn),
            Dialog::Shown(channel) => {
                let mut judged = judged;
                judged.terms.phrase = None;
                let resolution = local::hold(&self.host, channel, self.asked, judged, cancelled)?;
                Ok(AskOutcome::Resolved(resolution))
            }
        }
    }

    fn by_daemon(
        &self,
        wait: Duration,
        patience: Duration,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<AskOutcome, WireError> {
        let state = self.host.engine.locations().state.as_ref();
        let places = Places::under(state.ok_or(WireError::NotRunning)?);
        let held = wire::hold(&places, self.asked, Some(wait), patience, cancelled)?;
        Ok(match held {
            HoldAnswer::Resolved(resolution) => AskOutcome::Resolved(resolution),
            HoldAnswer::StillWaiting { id } => AskOutcome::StillWaiting { id, waited: wait },
        })
    }

    fn by_channel(
        &self,
        channel: &Channel,
        wait: Duration,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<AskOutcome, Problem> {
        let environment = |name: &str| std::env::var(name).ok();
        let setting = Setting {
            approver: account_name(),
            prompt_lock: self.prompt_lock(),
            environment: &environment,
            webhooks: self.host.engine.webhooks(),
        };
        let mut judged = self.host.judge(self.asked)?;
        if let Some(reason) = unsigned(&judged.terms) {
            return self.nobody(reason);
        }
        if let Some(seconds) = timeout_variable() {
            judged.terms.deadline = u64::try_from(seconds).ok().filter(|seconds| *seconds > 0);
        }
        // The request lives no longer than this process, which waits no longer than that.
        let wait = wait.as_secs();
        judged.terms.deadline = Some(judged.terms.deadline.unwrap_or(wait).min(wait));
        match channel::build(channel, &setting) {
            Ok(mut channel) => {
                let channel = channel.as_mut();
                let resolution = local::hold(&self.host, channel, self.asked, judged, cancelled)?;
                Ok(AskOutcome::Resolved(resolution))
            }
            Err(error) => self.nobody(error.to_string()),
        }
    }

    /// What is locked while somebody is asked on the terminal.
    fn prompt_lock(&self) -> Option<PathBuf> {
        let state = self.host.engine.locations().state.as_ref()?;
        let directory = state.join("approvals");
        make_private_directory(&directory).ok()?;
        Some(directory.join("prompt.lock"))
    }

    /// The refusal when nobody can be asked (J-47).
    fn nobody(&self, reason: String) -> Result<AskOutcome, Problem> {
        let refusal = unheard(self.decision, reason);
        self.record(&refusal)?;
        Ok(AskOutcome::Resolved(Resolution::decided(&refusal)))
    }

    fn record(&self, decision: &Decision) -> Result<(), Problem> {
        self.host.record(Event::Judged {
            asked: self.asked,
            decision,
        })
    }
}

/// Seconds to wait, where the environment says so (J-51).
fn timeout_variable() -> Option<i64> {
    ["HOLDPOINT_PERMISSION_TIMEOUT", "JAATO_PERMISSION_TIMEOUT"]
        .iter()
        .find_map(|name| std::env::var(name).ok()?.trim().parse().ok())
}

/// Why nobody can be asked but by the daemon: what they say must be signed.
fn unsigned(terms: &Terms) -> Option<String> {
    (terms.presence >= Presence::Code).then(|| {
        format!(
            "a yes to this needs the presence `{}`, which only the page, `approve` and `watch` can prove: start the approval \
             daemon with `holdpoint serve`",
            terms.presence.as_str()
        )
    })
}

fn about(decision: &Decision) -> String {
    format!("Nobody can be asked about this: {}", decision.reason)
}

/// A decision as somebody, or nobody, has answered it. Of a call that was changed before it was refused no rule is told: the one
/// that is known asked about other arguments.
pub(super) fn resolved(decision: &Decision, resolution: &Resolution) -> Decision {
    let mut next = Decision {
        verdict: resolution.verdict,
        method: resolution.method,
        reason: resolution.reason.clone(),
        ..decision.clone()
    };
    if resolution.changed {
        next.rule = None;
        next.instead = None;
        next.findings = Vec::new();
    }
    without_secrets(next)
}

/// The refusal when nobody can be asked (J-47).
fn unheard(decision: &Decision, reason: String) -> Decision {
    without_secrets(Decision {
        verdict: Verdict::Deny,
        method: Method::NoChannel,
        reason,
        ..decision.clone()
    })
}

/// The refusal of a call whose caller no longer wants an answer.
fn withdrawn(decision: &Decision) -> Decision {
    without_secrets(Decision {
        verdict: Verdict::Deny,
        method: Method::UserDenied,
        reason: answering::WITHDRAWN.into(),
        ..decision.clone()
    })
}

/// The refusal of a call that was changed and cannot be handed over so.
fn changed(decision: &Decision) -> Decision {
    without_secrets(Decision {
        verdict: Verdict::Deny,
        method: Method::Error,
        rule: None,
        reason: "a person changed its arguments, and they cannot be handed over here".into(),
        instead: None,
        findings: Vec::new(),
        ..decision.clone()
    })
}

/// What an agent is told whose call still waits.
fn still_waiting(decision: &Decision, id: &str, waited: Duration) -> Decision {
    without_secrets(Decision {
        verdict: Verdict::Deny,
        method: Method::Timeout,
        reason: format!(
            "it is held as request `{id}`, and nobody has answered within {} s. It stays open: make \
             the identical call again later, and it gets the answer that came meanwhile",
            waited.as_secs()
        ),
        ..decision.clone()
    })
}
