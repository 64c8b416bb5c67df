//! `holdpoint check`: judge one call.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use holdpoint_broker::Context;
use holdpoint_core::document;
use holdpoint_engine::holding::{Approvers, Asking};
use holdpoint_engine::pipeline::Outcome;
use holdpoint_engine::{
    Caller, Decision, Engine, EngineError, Failed, Locations, PolicySource, SessionSource,
    StrictValue, ToolCall, working_directory,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::cli;
use crate::exit::Exit;
use crate::terminal::{Terminal, escape_for_display};

/// The most that is read from standard input for one call: as much as a hook takes. More is an error.
const MAX_INPUT: u64 = 16 << 20;

pub(crate) fn run(args: &cli::Check, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    match judged(args) {
        Ok(decision) => {
            if args.json {
                print_json(&decision, terminal)?;
            } else {
                print(&decision, terminal)?;
            }
            Ok(decision.verdict.into())
        }
        Err(error) if args.json => {
            print_json(&Decision::error(format!("{error:#}")), terminal)?;
            terminal.out.flush()?;
            Err(error)
        }
        Err(error) => Err(error),
    }
}

fn judged(args: &cli::Check) -> anyhow::Result<Decision> {
    if args.call.names_nothing() {
        bail!("{NOTHING}, or --batch");
    }
    let engine = Engine::at(&Locations::of_this_machine());
    let judged = answered(args, &engine);
    if let Err(error) = &judged
        && !args.dry_run
        && !matches!(error.downcast_ref(), Some(error) if EngineError::is_on_record(error))
    {
        // The refusal stands whether or not it can be recorded, and has a reason of its own.
        engine.record_failure(&Failed {
            agent: &args.agent,
            session: Some(&args.call.under.session),
            call: None,
            problem: &format!("{error:#}"),
            left_alone: false,
            replayed: None,
        });
    }
    judged
}

/// The way of a call that whoever runs this command makes: they are told, and ask whomever they like.
fn answered(args: &cli::Check, engine: &Engine) -> anyhow::Result<Decision> {
    let under = &args.call.under;
    let directory = working_directory(under.cwd.as_deref())?;
    let call = read_call(&args.call)?;
    let caller = caller(engine, &args.agent, under, &directory);
    if args.dry_run {
        return Ok(engine.decide(call, caller)?.without_secrets());
    }
    let held = engine
        .judge(call, caller)?
        .hold(Asking::by(Approvers::HandsOn))?;
    Ok(told(held.release()?))
}

/// What whoever asked is told of the outcome.
pub(crate) fn told(outcome: Outcome) -> Decision {
    match outcome {
        Outcome::Runs(permit) => permit.hand_over().0,
        Outcome::HandedOn(decision) => decision,
        Outcome::Refused(refusal) => refusal.decision,
    }
}

/// Who asks on a command line.
pub(crate) fn caller(
    engine: &Engine,
    agent: &str,
    under: &cli::PolicyArgs,
    directory: &Path,
) -> Arc<Caller> {
    Arc::new(Caller {
        agent: agent.to_owned(),
        session_name: Some(under.session.clone()),
        policy: policy_for(engine, under, directory),
        session: SessionSource::Kept(under.session.clone()),
        workspace: directory.to_owned(),
        can_contain: true,
        circumstances: Context::default(),
    })
}

const NOTHING: &str = "there is nothing to judge: give a COMMAND, or --tool and --input";

/// Which policy the arguments name.
pub(crate) fn policy_for(
    engine: &Engine,
    under: &cli::PolicyArgs,
    directory: &Path,
) -> PolicySource {
    match (&under.config, &under.profile) {
        (Some(file), _) => PolicySource::File(file.clone()),
        (None, Some(profile)) => PolicySource::Profile(profile.clone()),
        (None, None) => engine.layers(directory),
    }
}

/// The call the arguments describe.
pub(crate) fn read_call(args: &cli::Call) -> anyhow::Result<ToolCall> {
    let call = match (&args.command, &args.tool, &args.input) {
        (Some(command), tool, _) => {
            let command = match command.as_str() {
                "-" => read_stdin()?,
                text => text.to_owned(),
            };
            let mut input = Map::new();
            input.insert("command".into(), Value::String(command));
            ToolCall::new(tool.as_deref().unwrap_or("Bash"), Value::Object(input))?
        }
        (None, Some(tool), Some(input)) => {
            let text = match input.as_str() {
                "-" => read_stdin()?,
                text => text.to_owned(),
            };
            ToolCall::new(tool, parse_input("--input", &text)?)?
        }
        (None, Some(tool), None) => ToolCall::new(tool, Value::Null)?,
        (None, None, Some(_)) => {
            bail!("--input needs --tool: name the tool these arguments are for")
        }
        (None, None, None) => bail!(NOTHING),
    };
    Ok(call)
}

/// The JSON of a tool's arguments.
pub(crate) fn parse_input(name: &str, text: &str) -> anyhow::Result<Value> {
    match serde_json::from_str::<StrictValue>(text) {
        Ok(StrictValue(value)) => Ok(value),
        Err(_) if text.trim().is_empty() => {
            bail!("{name}: it is empty: write the arguments as {{\"name\": value}}")
        }
        Err(error) => {
            let (line, column, message) = json_problem::<StrictValue>(&error, text.as_bytes());
            bail!("{name}:{line}:{column}: {message}")
        }
    }
}

/// Line, column and message of a JSON error. The fast reader stops at the first fault; the
/// document reader is asked what to say about it.
pub(crate) fn json_problem<T: DeserializeOwned>(
    error: &serde_json::Error,
    bytes: &[u8],
) -> (usize, usize, String) {
    match document::read::<T>("", bytes) {
        Err(error) => (error.line, error.column, error.message()),
        Ok(_) => (
            error.line(),
            error.column(),
            "this is not plain JSON: write it without comments and trailing commas".into(),
        ),
    }
}

fn read_stdin() -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    io::stdin()
        .take(MAX_INPUT + 1)
        .read_to_end(&mut bytes)
        .context("standard input cannot be read")?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_INPUT {
        bail!("standard input has more than {MAX_INPUT} bytes: no call is that large");
    }
    match String::from_utf8(bytes) {
        Ok(mut text) => {
            // The line break the shell adds is not part of the command.
            if text.ends_with('\n') {
                text.pop();
            }
            Ok(text)
        }
        Err(error) => bail!(
            "standard input is not UTF-8 text (byte {}): send text",
            error.utf8_error().valid_up_to()
        ),
    }
}

pub(crate) fn print_json(decision: &Decision, terminal: &mut Terminal) -> anyhow::Result<()> {
    serde_json::to_writer(&mut terminal.out, decision)?;
    writeln!(terminal.out)?;
    Ok(())
}

/// The decision for a person: the verdict and its reason first, then what it rests on.
pub(crate) fn print(decision: &Decision, terminal: &mut Terminal) -> anyhow::Result<()> {
    let verdict = terminal.verdict(decision.verdict);
    let out = &mut terminal.out;
    writeln!(
        out,
        "{verdict}: {}",
        escape_for_display(&decision.reason, 500)
    )?;
    let mut row = |name: &str, value: &str| writeln!(out, "  {name:<8} {value}");
    if let Some(rule) = &decision.rule {
        row("rule", &escape_for_display(rule, 200))?;
    }
    if let Some(place) = &decision.stated_in {
        row("default", &escape_for_display(&place.words(), 500))?;
    }
    let deciding = decision
        .findings
        .first()
        .filter(|finding| Some(&finding.rule) == decision.rule.as_ref());
    if let Some(part) = deciding.and_then(|finding| finding.part.as_deref()) {
        row("part", &escape_for_display(part, 200))?;
    }
    if let Some(observed) = decision.observed {
        row("observed", observed.as_str())?;
    }
    row("method", decision.method.as_str())?;
    row("risk", decision.risk.as_str())?;
    if let Some(instead) = &decision.instead {
        row("instead", &escape_for_display(instead, 500))?;
    }
    Ok(())
}
