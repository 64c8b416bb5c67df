//! `holdpoint run`: a command where it can do no harm.

mod inspect;
mod redeem;
mod report;

use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use holdpoint_engine::containing::{
    self, ContainError, Ended, GitBefore, Notice, Plan, PlanError, PutRight, Ran, Tier, Wanted,
    reading_line,
};
use holdpoint_engine::holding;
use holdpoint_engine::{
    ContainedRun, Engine, Failed, Locations, Policy, Recorder, plain_words, real_directory,
};

use self::inspect::Inspector;
use self::redeem::Redeemed;
use super::sandbox_view::SandboxView;
use crate::cli::{Floor, Run};
use crate::terminal::escape_for_display;

/// The sandbox cannot be made. One that other runners of contained commands use too.
const NOT_MADE: u8 = 125;
/// The command is there and cannot be run.
const NOT_RUN: u8 = 126;
/// There is no such command.
const NOT_FOUND: u8 = 127;

/// The most characters of a path or name that are shown: as long as a path can be.
const MAX_SHOWN: usize = 4096;

/// Runs the command; its exit code is ours.
pub(crate) fn run(args: &Run) -> u8 {
    if let Some(ticket) = &args.cwd {
        return tell_directory(ticket);
    }
    let redeemed = match args
        .ticket
        .as_deref()
        .map(|name| Redeemed::take(name, args))
    {
        Some(Ok(redeemed)) => Some(redeemed),
        Some(Err(error)) => {
            tell(&format!("{error}; nothing ran"));
            record_refusal(&format!("a ticket was not good: {error}"));
            return NOT_RUN;
        }
        None => None,
    };
    let (plan, policy) = match plan(args, redeemed.as_ref()) {
        Ok(planned) => planned,
        Err(error) => {
            tell(&format!("{error:#}"));
            return NOT_MADE;
        }
    };
    if args.plan {
        // Whoever read it has gone, or has it.
        let reached = containing::reachable(!plan.hosts.is_empty());
        let view = SandboxView::from_plan(&plan, reached);
        return match view.write("", &mut io::stdout().lock()) {
            Ok(()) => 0,
            Err(_) => NOT_MADE,
        };
    }
    let git = GitBefore::look(
        plan.writable.first().unwrap_or(&plan.directory),
        &plan.journals,
    );
    let started = Instant::now();
    let ran = match args.inspect {
        true => {
            let inspector = Inspector::new(Arc::clone(&policy), plan.directory.clone());
            let ran = containing::run_through(&plan, &inspector);
            inspector.finish();
            ran
        }
        false => containing::run(&plan),
    };
    let took = started.elapsed();
    // Before anybody outside can ask git for anything, however the run ended.
    let right = git.put_right();
    for line in report::put_right(&right) {
        tell(&line);
    }
    match ran {
        Ok(ran) => {
            record(
                args,
                redeemed.as_ref(),
                &plan,
                &policy,
                (&ran, took),
                &right,
            );
            if let (Some(redeemed), Some(workspace)) = (&redeemed, plan.writable.first()) {
                redeemed.keep_directory(workspace);
            }
            if let Some(below) = &ran.below {
                tell(&format!("contained by {} only: {below}", ran.tier));
            }
            if ran.ended == Ended::OutOfTime {
                let seconds = plan.limits.time.unwrap_or_default().as_secs();
                tell(&format!(
                    "it was ended after {seconds} s: --time or `sandbox.limits.time` allows no more"
                ));
            }
            if ran.ended == Ended::Stopped {
                tell("a person has stopped you: make no further calls, and tell your user");
            }
            report(args, redeemed.as_ref(), (&plan, &policy), &ran);
            ran.ended.code()
        }
        Err(error) => {
            let name = plan.command.first().map(|name| name.to_string_lossy());
            match &error {
                ContainError::NotStarted { source } => {
                    let name = escape_for_display(&name.unwrap_or_default(), MAX_SHOWN);
                    tell(&format!("`{name}` cannot be run: {}", plain_words(source)));
                    if source.kind() == io::ErrorKind::NotFound {
                        NOT_FOUND
                    } else {
                        NOT_RUN
                    }
                }
                ContainError::NoCommand
                | ContainError::ZeroByte
                | ContainError::Threads
                | ContainError::DirectoryAsStream
                | ContainError::ProtectedAsInput
                | ContainError::Path { .. }
                | ContainError::BelowFloor { .. }
                | ContainError::Io(_) => {
                    tell(&format!("{error}; nothing ran"));
                    containing::forget_reachable(&Locations::of_this_machine());
                    record_refusal(&format!(
                        "a command was not contained, and did not run: {error}"
                    ));
                    NOT_MADE
                }
            }
        }
    }
}

/// Says what was refused, what would allow it, and how a person lets an agent's call out of the sandbox.
fn report(args: &Run, redeemed: Option<&Redeemed>, (plan, policy): (&Plan, &Policy), ran: &Ran) {
    let locations = Locations::of_this_machine();
    let workspace = plan.writable.first().unwrap_or(&plan.directory);
    let given = || {
        let given = containing::writable(&policy.sandbox(), workspace, locations.home.as_deref());
        given.into_iter().chain(args.write.iter().cloned())
    };
    let around = report::Around {
        limits: &plan.limits,
        home: locations.home.as_deref(),
        policy: locations.named.as_deref().or(locations.user.as_deref()),
        trace: args.trace.then(|| given().collect()),
    };
    for line in report::lines(ran, &around) {
        tell(&line);
    }
    let made = redeemed.and_then(|redeemed| redeemed.ticket().made.as_ref());
    // What it did not find counts only where a person would be advised to give it.
    let home = around.home;
    let is_refused = !ran.refusals.is_empty() || reading_line(&ran.hidden, home).is_some();
    if let Some(made) = made.filter(|_| is_refused) {
        let way = holding::offer(&Engine::at(&locations), made, report::refused(ran));
        if let Some(line) = report::way_out(&way) {
            tell(&line);
        }
    }
}

/// Puts what came of a run on record. It has run: where that fails, whoever looks on is told.
fn record(
    args: &Run,
    redeemed: Option<&Redeemed>,
    plan: &Plan,
    policy: &Policy,
    (ran, took): (&Ran, Duration),
    right: &PutRight,
) {
    let ticket = redeemed.map(Redeemed::ticket);
    let words = args.command.iter().map(|word| word.to_string_lossy());
    let command = words.collect::<Vec<_>>().join(" ");
    let run = ContainedRun {
        agent: ticket.map_or(OWN_NAME, |ticket| &ticket.agent),
        session: ticket.and_then(|ticket| ticket.session.as_deref()),
        directory: &plan.directory,
        tool: ticket.map_or(OWN_NAME, |ticket| &ticket.tool),
        call: ticket.map(|ticket| ticket.call.as_str()),
        command: match ticket {
            Some(_) => None,
            None => Some(&command),
        },
        ran,
        took,
        right,
    };
    let locations = Locations::of_this_machine();
    if let Err(error) = Recorder::at(&locations).and_then(|all| all.contained(&run, policy)) {
        tell(&format!("what came of it is not on record: {error}"));
    }
}

/// Puts on record that something did not run.
fn record_refusal(problem: &str) {
    Engine::at(&Locations::of_this_machine()).record_failure(&Failed {
        agent: OWN_NAME,
        session: None,
        call: None,
        problem,
        left_alone: false,
        replayed: None,
    });
}

/// What the record calls a run that a person asked for.
const OWN_NAME: &str = "run";

/// Says where the line of a ticket ended.
fn tell_directory(ticket: &str) -> u8 {
    let told = redeem::directory_of(ticket).map(|directory| {
        // Without a standard output there is nobody who goes there.
        let _ = writeln!(io::stdout(), "{directory}");
    });
    match told {
        Ok(()) => 0,
        Err(error) => {
            tell(&error.to_string());
            NOT_RUN
        }
    }
}

fn plan(args: &Run, redeemed: Option<&Redeemed>) -> anyhow::Result<(Plan, Arc<Policy>)> {
    if let Some(redeemed) = redeemed {
        let wanted = Wanted {
            command: redeemed.command.clone(),
            directory: redeemed.directory.clone(),
            writable: redeemed.writable().into_iter().collect(),
            time: None,
            floor: Tier::Full,
        };
        let policy = redeemed.policy();
        let plan = under_policy(&wanted, &policy, Notice::Refusals)?;
        let session = redeemed.session.as_ref();
        let session = session.map(|name| plan.journals.join(name));
        let stops = redeemed.stops.clone();
        return Ok((
            Plan {
                session,
                stops,
                ..plan
            },
            policy,
        ));
    }
    let directory = real_directory(None).map_err(|error| {
        anyhow!(
            "the present directory cannot be found: {}",
            plain_words(&error)
        )
    })?;
    let writable = args
        .write
        .iter()
        .map(|path| {
            path.canonicalize().map_err(|error| {
                let shown = escape_for_display(&path.to_string_lossy(), MAX_SHOWN);
                anyhow!("--write `{shown}`: {}", plain_words(&error))
            })
        })
        .collect::<anyhow::Result<_>>()?;
    let engine = Engine::at(&Locations::of_this_machine());
    let policy = engine.policy(&engine.layers(&directory))?;
    let floor = args.floor.map(|floor| match floor {
        Floor::Full => Tier::Full,
        Floor::Landlock => Tier::Landlock,
    });
    let wanted = Wanted {
        command: args.command.clone(),
        directory,
        writable,
        time: args.time.map(Duration::from_secs),
        floor: containing::floor(floor, &policy.sandbox()),
    };
    let notice = match args.trace {
        true => Notice::Everything,
        false => Notice::Refusals,
    };
    let plan = under_policy(&wanted, &policy, notice)?;
    Ok((plan, policy))
}

/// The plan under a policy.
pub(crate) fn under_policy(
    wanted: &Wanted,
    policy: &Policy,
    notice: Notice,
) -> Result<Plan, PlanError> {
    let locations = Locations::of_this_machine();
    let plan = Plan {
        notice,
        ..containing::plan(wanted, &locations)?
    };
    let outside = std::env::vars_os();
    containing::under(plan, &policy.sandbox(), outside, &locations)
}

fn tell(text: &str) {
    // Without a standard error there is nobody to be told.
    let _ = writeln!(io::stderr(), "holdpoint: {text}");
}
