//! `holdpoint stop` and `holdpoint resume`: the stop button, and the way back.

use std::io::Write;

use anyhow::bail;
use holdpoint_broker::wire::{self, Reply, Wanted, WireError};
use holdpoint_broker::{Request, StopScope};
use holdpoint_engine::{Engine, Locations, Stopped, Stops, account_name, working_directory};
use serde_json::json;

use super::serve::{not_for_agents, places, somebody_at_a_terminal};
use super::which_session;
use crate::cli::{Resume, Stop, StopTarget};
use crate::exit::Exit;
use crate::terminal::{Terminal, escape_for_display};

pub(crate) fn stop(args: &Stop, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let locations = Locations::of_this_machine();
    if args.list {
        return list(&Stops::at(&locations)?.all()?, args.target.json, terminal);
    }
    not_for_agents("stop agents")?;
    let scope = match named(&args.target) {
        Some(scope) => scope,
        None => {
            let meant = which_session::meant(None, &working_directory(None)?, terminal)?;
            if meant.found.is_none() {
                bail!(
                    "no agent has made a call here: say what to stop (SESSION, --agent NAME or --all)"
                );
            }
            StopScope::Session(meant.session)
        }
    };
    let refused = press(&locations, &scope, args.reason.as_deref())?;
    if args.target.json {
        let line = json!({"v": 1, "stopped": scope, "refused": refused});
        writeln!(terminal.out, "{line}")?;
        return Ok(Exit::Fine);
    }
    writeln!(
        terminal.out,
        "Stopped {}: every call is refused until `{}`.",
        scope.words(),
        scope.resume()
    )?;
    if !refused.is_empty() {
        writeln!(
            terminal.out,
            "Refused what waited: {}.",
            escape_for_display(&refused.join(", "), 1000)
        )?;
    }
    Ok(Exit::Fine)
}

pub(crate) fn resume(args: &Resume, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    not_for_agents("let itself go on")?;
    let locations = Locations::of_this_machine();
    somebody_at_a_terminal(&locations)?;
    let stops = Stops::at(&locations)?;
    let scope = match named(&args.target) {
        Some(scope) => scope,
        None => only(stops.all()?)?,
    };
    let was_stopped = Engine::at(&locations).resume(&scope, &account_name())?;
    if args.target.json {
        let line = json!({"v": 1, "resumed": scope, "was_stopped": was_stopped});
        writeln!(terminal.out, "{line}")?;
    } else if was_stopped {
        writeln!(terminal.out, "{} may make calls again.", scope.words())?;
        for left in stops.all()? {
            writeln!(terminal.out, "Still stopped: {}.", words(&left))?;
        }
    } else {
        writeln!(terminal.out, "{} was not stopped.", scope.words())?;
    }
    Ok(Exit::Fine)
}

/// Stops something, on record, and refuses what waits of it: the names of those requests.
pub(crate) fn press(
    locations: &Locations,
    scope: &StopScope,
    reason: Option<&str>,
) -> anyhow::Result<Vec<String>> {
    let stopped = Stopped::now(scope.clone(), &account_name(), reason);
    Engine::at(locations).stop(&stopped)?;
    refuse_waiting(locations, scope, reason)
}

/// Refuses what waits in the daemon. It would not run anyway, but nobody has to find that out by releasing it.
fn refuse_waiting(
    locations: &Locations,
    scope: &StopScope,
    reason: Option<&str>,
) -> anyhow::Result<Vec<String>> {
    let places = places(locations)?;
    let waiting: Vec<Request> = match wire::ask(&places, Wanted::Pending) {
        Ok(Reply::Requests { requests }) => requests,
        Ok(_) => bail!(WireError::Untrusted("it answers another question".into())),
        Err(WireError::NotRunning) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut refused = Vec::new();
    for request in waiting {
        if !scope.covers(&request.asked.agent, &request.asked.session) {
            continue;
        }
        let wanted = Wanted::Answer {
            id: request.id.clone(),
            answer: scope.refusal(reason),
            binding: Some(request.binding),
            phrase: None,
            signed: None,
            watching: false,
        };
        // Somebody else may have answered it just now; it is judged again before it runs.
        if let Ok(Reply::Answered { outcome, .. }) = wire::ask(&places, wanted)
            && outcome == "settled"
        {
            refused.push(request.id);
        }
    }
    Ok(refused)
}

/// What the arguments name, if anything.
fn named(target: &StopTarget) -> Option<StopScope> {
    match target {
        StopTarget { all: true, .. } => Some(StopScope::All),
        StopTarget {
            agent: Some(agent), ..
        } => Some(StopScope::Agent(agent.clone())),
        StopTarget { session, .. } => session.clone().map(StopScope::Session),
    }
}

/// The one thing that is stopped.
fn only(mut stopped: Vec<Stopped>) -> anyhow::Result<StopScope> {
    match (stopped.pop(), stopped.is_empty()) {
        (None, _) => bail!("nothing is stopped"),
        (Some(one), true) => Ok(one.scope),
        (Some(last), false) => {
            stopped.push(last);
            let named: Vec<String> = stopped.iter().map(|one| one.scope.resume()).collect();
            bail!(
                "several things are stopped, say which: {}",
                named.join(", ")
            )
        }
    }
}

fn list(stopped: &[Stopped], json: bool, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    if json {
        writeln!(terminal.out, "{}", json!({"v": 1, "stopped": stopped}))?;
        return Ok(Exit::Fine);
    }
    if stopped.is_empty() {
        writeln!(terminal.out, "Nothing is stopped.")?;
    }
    for one in stopped {
        writeln!(terminal.out, "{}", words(one))?;
        writeln!(terminal.out, "  {}", one.scope.resume())?;
    }
    Ok(Exit::Fine)
}

fn words(one: &Stopped) -> String {
    let reason = one.reason.as_deref().map_or_else(String::new, |reason| {
        format!(": {}", escape_for_display(reason, 500))
    });
    format!(
        "{} ({}, {}){reason}",
        one.scope.words(),
        escape_for_display(&one.by, 80),
        escape_for_display(&one.time, 40)
    )
}
