//! How a person is reached: the agent's own dialog, the daemon, or a channel this process asks
//! through itself.

use std::path::PathBuf;
use std::time::Duration;

use holdpoint_broker::channel::{self, Setting};
use holdpoint_broker::wire::{self, HoldAnswer, Places, WireError};
use holdpoint_broker::{BrokerHost, CallContext, Event, Problem, Resolution, local};
use holdpoint_core::policy::{Channel, ChannelKind, Fallback, channel_of};
use holdpoint_core::{Decision, Method, Policy, Verdict};

use super::terms;
use super::world::House;
use crate::account::account_name;
use crate::store::make_private_directory;

/// How long a daemon that does not answer is looked for: it may be starting anew.
const PATIENCE: Duration = Duration::from_secs(3);

/// How a person is reached.
#[derive(Clone, Debug)]
pub enum Way<'p> {
    /// The agent's own dialog.
    Agent,
    /// The daemon if it runs, else the agent's own dialog: nobody has said anything.
    DaemonIfThere,
    /// The daemon; the fallback if it does not run.
    Daemon(Fallback),
    /// A channel of this process.
    Channel(&'p Channel),
}

/// How a policy wants a person asked.
pub fn way(policy: &Policy) -> Way<'_> {
    let Some(channel) = channel_of(policy) else {
        return Way::DaemonIfThere;
    };
    match channel.kind {
        ChannelKind::Agent => Way::Agent,
        ChannelKind::Daemon => Way::Daemon(policy.fallback()),
        ChannelKind::Console | ChannelKind::Webhook | ChannelKind::File => Way::Channel(channel),
    }
}

/// What comes of holding a call.
#[derive(Clone, Debug)]
pub enum Answer {
    /// It is decided.
    Told(Resolution),
    /// The agent's own dialog is to ask.
    AskAgent,
    /// Nobody has answered yet; the request stays, and the identical call finds the answer.
    StillWaiting {
        /// The request.
        id: String,
        /// How long was waited.
        waited: Duration,
    },
}

/// Holds a call in the way the policy wants, for as long as a caller waits.
pub fn hold(
    house: &House,
    policy: &Policy,
    asked: &CallContext,
    decision: &Decision,
    wait: Duration,
    cancelled: &dyn Fn() -> bool,
) -> Result<Answer, Problem> {
    match way(policy) {
        Way::Agent => by_agent(house, policy, asked, decision),
        Way::DaemonIfThere => match by_daemon(house, asked, wait, Duration::ZERO) {
            Err(WireError::NotRunning) => by_agent(house, policy, asked, decision),
            held => held.map_err(|error| Problem(error.to_string())),
        },
        Way::Daemon(fallback) => match by_daemon(house, asked, wait, PATIENCE) {
            Err(error @ WireError::NotRunning) => match fallback {
                Fallback::Agent => by_agent(house, policy, asked, decision),
                Fallback::Console => {
                    let console = Channel::console();
                    by_channel(
                        house,
                        &console,
                        (asked, decision),
                        wait.as_secs(),
                        cancelled,
                    )
                }
                Fallback::Deny => nobody(house, asked, decision, error.to_string()),
            },
            held => held.map_err(|error| Problem(error.to_string())),
        },
        Way::Channel(channel) => {
            by_channel(house, channel, (asked, decision), wait.as_secs(), cancelled)
        }
    }
}

/// Has the agent's own dialog ask. It does not say who answers it, so it cannot ask certain people,
/// nor several.
fn by_agent(
    house: &House,
    policy: &Policy,
    asked: &CallContext,
    decision: &Decision,
) -> Result<Answer, Problem> {
    if !terms::stated(policy, &asked.tool, decision).wants_certain_people() {
        return Ok(Answer::AskAgent);
    }
    let reason = "certain people must say yes to this, and the agent's own dialog cannot tell who \
                  does: start the approval daemon with `holdpoint serve`";
    nobody(house, asked, decision, reason.into())
}

fn by_daemon(
    house: &House,
    asked: &CallContext,
    wait: Duration,
    patience: Duration,
) -> Result<Answer, WireError> {
    let state = house.locations().state.as_ref();
    let places = Places::under(state.ok_or(WireError::NotRunning)?);
    let held = wire::hold(&places, asked, Some(wait), patience, |_| {})?;
    Ok(match held {
        HoldAnswer::Told(told) => Answer::Told(told),
        HoldAnswer::StillWaiting { id } => Answer::StillWaiting { id, waited: wait },
    })
}

fn by_channel(
    house: &House,
    channel: &Channel,
    (asked, decision): (&CallContext, &Decision),
    wait: u64,
    cancelled: &dyn Fn() -> bool,
) -> Result<Answer, Problem> {
    let environment = |name: &str| std::env::var(name).ok();
    let setting = Setting {
        approver: account_name(),
        prompt_lock: prompt_lock(house),
        environment: &environment,
        webhooks: house.webhooks(),
    };
    let mut judged = house.judge(asked)?;
    if let Some(seconds) = timeout_variable() {
        judged.terms.deadline = u64::try_from(seconds).ok().filter(|seconds| *seconds > 0);
    }
    // The request lives no longer than this process, which waits no longer than that.
    judged.terms.deadline = Some(judged.terms.deadline.unwrap_or(wait).min(wait));
    let told = match channel::build(channel, &setting) {
        Ok(mut channel) => local::hold(house, channel.as_mut(), asked, judged, cancelled)?,
        Err(error) => return nobody(house, asked, decision, error.to_string()),
    };
    Ok(Answer::Told(told))
}

/// What is locked while somebody is asked on the terminal.
fn prompt_lock(house: &House) -> Option<PathBuf> {
    let directory = house.locations().state.as_ref()?.join("approvals");
    make_private_directory(&directory).ok()?;
    Some(directory.join("prompt.lock"))
}

/// Seconds to wait, where the environment says so (J-51).
fn timeout_variable() -> Option<i64> {
    ["HOLDPOINT_PERMISSION_TIMEOUT", "JAATO_PERMISSION_TIMEOUT"]
        .iter()
        .find_map(|name| std::env::var(name).ok()?.trim().parse().ok())
}

/// The refusal when nobody can be asked (J-47).
fn nobody(
    house: &House,
    asked: &CallContext,
    decision: &Decision,
    reason: String,
) -> Result<Answer, Problem> {
    let decision = Decision {
        verdict: Verdict::Deny,
        method: Method::NoChannel,
        reason,
        ..decision.clone()
    };
    house.record(Event::Judged {
        asked,
        decision: &decision,
    })?;
    Ok(Answer::Told(Resolution::decided(&decision)))
}
