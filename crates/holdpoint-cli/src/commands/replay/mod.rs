//! `holdpoint replay`: what agents already did, judged under a policy.
//!
//! Calls go one way: `sources` finds transcripts, the library reads them, `judging` judges them in
//! parallel and in order, and listeners (`tally`, `list`, `findings`) hear of each one.

mod display;
mod filter;
mod findings;
mod judging;
mod list;
mod sources;
mod summary;
mod tally;

use std::io::{self, Write};

use holdpoint_engine::{PolicySource, Verdict, working_directory};
use holdpoint_sandbox::interrupt;

pub(in crate::commands) use self::display::{display_of, display_of_call};
pub(in crate::commands) use self::filter::Filter;
use self::findings::Findings;
use self::judging::RunFacts;
pub(in crate::commands) use self::judging::{Bench, Comparison, Conditions, Judged, Listener};
use self::list::List;
pub(in crate::commands) use self::sources::Sources;
use self::tally::Tally;
use crate::cli::{FailOn, Replay};
use crate::commands::policy::policy_named;
use crate::exit::Exit;
use crate::terminal::Terminal;

/// The most lines and files that are named because they cannot be read; all are counted.
const MAX_NAMED: usize = 20;

pub(crate) fn run(args: &Replay, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let here = working_directory(args.cwd.as_deref())?;
    let filter = Filter::new(args);
    let first = match (&args.config, &args.profile) {
        (Some(file), _) => Some(PolicySource::File(file.clone())),
        (None, Some(name)) => Some(PolicySource::Profile(name.clone())),
        (None, None) => None,
    };
    let second = args
        .against
        .as_deref()
        .map(|name| policy_named(name, "--against"))
        .transpose()?;
    let sources = Sources::find(&args.paths)?;
    let conditions = Conditions {
        first,
        second,
        look: args.look,
        here,
        filter,
    };
    let mut bench = Bench::new(conditions, sources.bytes())?;
    // Without it, Ctrl-C ends the program as it ends any other.
    let _ = interrupt::listen();

    let mut tally = Tally::default();
    let mut heard = Heard {
        tally: &mut tally,
        list: List::wanted(args),
        findings: args.record.then(Findings::open).transpose()?,
        terminal,
    };
    bench.run(&sources, &mut heard)?;
    let listed = heard.list.is_some_and(|list| list.printed);
    let findings = heard.findings;
    tally.recorded = findings.map(Findings::finish).transpose()?;
    let facts = &bench.facts;
    if args.json {
        summary::json(&tally, facts, args, terminal)?;
    } else {
        if listed {
            writeln!(terminal.out)?;
        }
        summary::text(&tally, facts, args, terminal)?;
    }
    terminal.out.flush()?;
    name_problems(&tally)?;
    Ok(exit(args, &tally, facts))
}

/// Everybody who hears of a judged call.
struct Heard<'a> {
    tally: &'a mut Tally,
    list: Option<List>,
    findings: Option<Findings>,
    terminal: &'a mut Terminal,
}

impl Listener for Heard<'_> {
    fn hear(&mut self, judged: Judged) -> anyhow::Result<()> {
        self.tally.add(&judged);
        if let Some(list) = &mut self.list {
            list.print(&judged, self.terminal)?;
        }
        if let Some(findings) = &mut self.findings {
            findings.add(judged)?;
        }
        Ok(())
    }

    fn problem(&mut self, file: &str, line: Option<u64>, problem: &str) {
        self.tally.problem(file, line, problem);
    }

    fn speaks(&self, judged: &Judged) -> bool {
        self.list.as_ref().is_some_and(|list| list.wants(judged))
    }

    fn flush(&mut self) -> anyhow::Result<()> {
        Ok(self.terminal.out.flush()?)
    }
}

fn name_problems(tally: &Tally) -> anyhow::Result<()> {
    let mut err = io::stderr().lock();
    for problem in &tally.problems {
        match problem.line {
            Some(line) => writeln!(err, "holdpoint: {}:{line}: {}", problem.file, problem.what)?,
            None => writeln!(err, "holdpoint: {}: {}", problem.file, problem.what)?,
        }
    }
    let named = u64::try_from(tally.problems.len())?;
    let more = (tally.unread_lines + tally.unread_files).saturating_sub(named);
    if more > 0 {
        writeln!(err, "holdpoint: and {more} more that cannot be read")?;
    }
    Ok(())
}

fn exit(args: &Replay, tally: &Tally, facts: &RunFacts) -> Exit {
    let any = |from: Verdict| tally.verdicts.iter().any(|(verdict, _)| *verdict >= from);
    if tally.unread_files > 0 || facts.interrupted {
        return Exit::Error;
    }
    match args.fail_on {
        Some(_) if any(Verdict::Deny) => Exit::Denied,
        Some(FailOn::Ask) if any(Verdict::Ask) => Exit::Held,
        Some(FailOn::Ask | FailOn::Deny) | None => Exit::Fine,
    }
}
