//! How often a developer would be stopped: commands of real agents, judged under the profiles people choose from.
//!
//! The file holds JSON objects with a `command`, one a line, and the number of its `session`; home is `/home/dev`, the project
//! `/home/dev/app` (or `/app`, of agents in a container), and both are faked (see `world`). Each session remembers what its commands wrote, as the engine does. Every
//! profile is measured without a sandbox and, where that makes a difference, with one.
//!
//! Usage: `bench stops [--check] [--empty] [--list PROFILE[+sandbox]] FILE [PEER…]`. With `--empty` the project is empty and stays so: no
//! script that a command writes is there when a later one runs it. `--list` prints every command that is stopped with rule and reason,
//! and of `autopilot` what is not allowed; a PEER is asked about the same commands: the script of cc-safety-net for node, or the Python
//! for which nah is installed.

mod judged;
mod peer;
mod world;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use holdpoint::{Profile, Verdict};
use holdpoint_bench::table::{self, Goals, Kind};
use serde_json::Value;

use self::judged::{Answered, judge_all};
use self::world::World;

/// The profiles that are measured, and whether with a sandbox.
const MEASURED: [(Profile, bool); 6] = [
    (Profile::Balanced, false),
    (Profile::Balanced, true),
    (Profile::Autopilot, false),
    (Profile::Autopilot, true),
    (Profile::Hooks, false),
    (Profile::Strict, false),
];

/// At most so many questions, and so many denials, of 100 commands under `balanced`.
const MOST_ASKED: f64 = 2.0;
const MOST_DENIED: f64 = 0.3;

/// At least so many of 100 commands are allowed under `autopilot` with a sandbox, and so many allowed or contained.
const LEAST_ALLOWED: f64 = 70.0;
const LEAST_RUN: f64 = 85.0;

/// Rules that are shown for each profile: most stops are theirs.
const RULES_SHOWN: usize = 12;

/// A command an agent ran.
struct Real {
    command: String,
    session: u64,
}

pub(crate) fn run() -> Result<()> {
    let (mut check, mut empty, mut list, mut files) = (false, false, None, Vec::new());
    let mut arguments = std::env::args().skip(2);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--check" => check = true,
            "--empty" => empty = true,
            "--list" => list = Some(arguments.next().context("--list wants a profile")?),
            flag if flag.starts_with("--") => {
                bail!(
                    "unknown argument `{flag}`: use `--check`, `--empty`, `--list PROFILE` or a file"
                )
            }
            file => files.push(PathBuf::from(file)),
        }
    }
    let mut files = files.into_iter();
    let file = files.next().context("which file of commands?")?;
    let commands = read(&file)?;
    let named = (!empty).then(|| commands.iter().map(|real| real.command.as_str()));
    let world = World::new(named)?;
    match list {
        Some(wanted) => print_list(&wanted, &commands, &world),
        None => measure(&commands, &world, &files.collect::<Vec<_>>(), check),
    }
}

fn read(file: &Path) -> Result<Vec<Real>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("`{}`", file.display()))?;
    let commands: Result<Vec<Real>> = text
        .lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line)?;
            let command = line.get("command").and_then(Value::as_str);
            Ok(Real {
                command: command.context("a line without `command`")?.to_owned(),
                session: line.get("session").and_then(Value::as_u64).unwrap_or(0),
            })
        })
        .collect();
    let commands = commands?;
    ensure!(!commands.is_empty(), "`{}` is empty", file.display());
    Ok(commands)
}

/// What became of the commands under one profile, in numbers of 100.
struct Shares {
    allowed: f64,
    contained: f64,
    asked: f64,
    denied: f64,
    stops: f64,
}

impl Shares {
    fn of(answers: &[Answered]) -> Result<Self> {
        let all = f64::from(u32::try_from(answers.len())?);
        let share = |holds: &dyn Fn(&Answered) -> bool| -> Result<f64> {
            let count = answers.iter().filter(|one| holds(one)).count();
            Ok(f64::from(u32::try_from(count)?) * 100.0 / all)
        };
        Ok(Self {
            allowed: share(&|one| one.is_allowed())?,
            contained: share(&|one| one.verdict == Verdict::Contain)?,
            asked: share(&|one| matches!(one.verdict, Verdict::Ask | Verdict::Review))?,
            denied: share(&|one| one.verdict == Verdict::Deny)?,
            stops: share(&|one| one.is_stopped())?,
        })
    }
}

fn measure(commands: &[Real], world: &World, peers: &[PathBuf], check: bool) -> Result<()> {
    println!("{} commands of real agents, of 100", commands.len());
    let (mut rows, mut rules, mut measured) = (Vec::new(), Vec::new(), Vec::new());
    for (profile, sandbox) in MEASURED {
        let answers = judge_all(commands, profile, sandbox, world)?;
        let shares = Shares::of(&answers)?;
        let name = named(profile, sandbox);
        let cell = |share: f64| format!("{share:.2}");
        rows.push(vec![
            name.clone(),
            cell(shares.stops),
            cell(shares.asked),
            cell(shares.denied),
            cell(shares.contained),
            cell(shares.allowed),
            cell(shares.allowed + shares.contained),
        ]);
        rules.push((name, top_rules(&answers)));
        measured.push(((profile, sandbox), shares));
    }
    for peer in peers {
        let stops = peer::stops(peer, commands, world)?;
        let share =
            f64::from(u32::try_from(stops)?) * 100.0 / f64::from(u32::try_from(commands.len())?);
        let mut row = vec![peer::name(peer).to_owned(), format!("{share:.2}")];
        row.extend((0..5).map(|_| "-".to_owned()));
        rows.push(row);
    }
    table::print(
        &[
            "profile",
            "stops",
            "asked",
            "denied",
            "contained",
            "allowed",
            "allowed or contained",
        ],
        &rows,
    );
    for (name, rules) in rules {
        println!("\nstops by rule, {name}");
        table::print(&["rule", "stops"], &rules);
    }
    println!();
    let mut goals = Goals::default();
    for (key, shares) in &measured {
        match key {
            (Profile::Balanced, false) => {
                let met = shares.asked <= MOST_ASKED && shares.denied <= MOST_DENIED;
                let text = format!(
                    "balanced asks {:.2} and denies {:.2} of 100 (goals {MOST_ASKED} and {MOST_DENIED})",
                    shares.asked, shares.denied
                );
                let alarming = shares.stops > 2.0 * (MOST_ASKED + MOST_DENIED);
                goals.state(Kind::Ratio, met, alarming, &text);
            }
            (Profile::Autopilot, true) => {
                let run = shares.allowed + shares.contained;
                let met = shares.allowed >= LEAST_ALLOWED && run >= LEAST_RUN;
                let text = format!(
                    "autopilot allows {:.1} and allows or contains {run:.1} of 100 (goals {LEAST_ALLOWED:.0} and {LEAST_RUN:.0})",
                    shares.allowed
                );
                let alarming = shares.allowed < LEAST_ALLOWED / 2.0 || run < LEAST_RUN / 2.0;
                goals.state(Kind::Ratio, met, alarming, &text);
            }
            _ => {}
        }
    }
    goals.outcome(check)
}

fn named(profile: Profile, sandbox: bool) -> String {
    let with = if sandbox { "+sandbox" } else { "" };
    format!("{}{with}", profile.name())
}

/// The rules that stop most.
fn top_rules(answers: &[Answered]) -> Vec<Vec<String>> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for one in answers.iter().filter(|one| one.is_stopped()) {
        *counts.entry(&one.rule).or_default() += 1;
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let shown = counts.into_iter().take(RULES_SHOWN);
    shown
        .map(|(rule, count)| vec![rule.to_owned(), count.to_string()])
        .collect()
}

/// Prints what a profile stops, and of one that allows by effect what it leaves to the agent.
fn print_list(wanted: &str, commands: &[Real], world: &World) -> Result<()> {
    let found = MEASURED
        .iter()
        .find(|(profile, sandbox)| named(*profile, *sandbox) == wanted);
    let (profile, sandbox) = *found.with_context(|| {
        let known = MEASURED.map(|(profile, sandbox)| named(profile, sandbox));
        format!(
            "no profile `{wanted}` is measured: use one of {}",
            known.join(", ")
        )
    })?;
    let answers = judge_all(commands, profile, sandbox, world)?;
    for (real, one) in commands.iter().zip(answers) {
        let left = profile == Profile::Autopilot && !one.is_allowed();
        if one.is_stopped() || left {
            println!(
                "[{}] {}: {}\n{}",
                one.verdict.as_str(),
                one.rule,
                one.reason,
                real.command
            );
            if !one.why.is_empty() {
                println!("  -- {}", one.why.join("\n  -- "));
            }
            println!();
        }
    }
    Ok(())
}
