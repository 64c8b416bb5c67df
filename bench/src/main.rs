//! The benchmarks, one program: `bench NAME [ARGUMENTS]`. Linking with all of Holdpoint optimised as a whole takes minutes, so it
//! is done once. What each measures, and how it is called, stands in its module.

mod approvals;
mod batch;
mod commands;
mod decisions;
mod hook;
mod inspection;
mod ledger;
mod redaction;
mod replay;
mod sandbox;
mod stops;

use std::process::ExitCode;

const BENCHMARKS: [(&str, fn() -> anyhow::Result<()>); 11] = [
    ("approvals", approvals::run),
    ("batch", batch::run),
    ("commands", commands::run),
    ("decisions", decisions::run),
    ("hook", hook::run),
    ("inspection", inspection::run),
    ("ledger", ledger::run),
    ("redaction", redaction::run),
    ("replay", replay::run),
    ("sandbox", sandbox::run),
    ("stops", stops::run),
];

fn main() -> ExitCode {
    let wanted = std::env::args_os().nth(1).unwrap_or_default();
    match BENCHMARKS.iter().find(|(name, _)| wanted == *name) {
        Some((name, run)) => holdpoint_bench::exit(name, run()),
        None => {
            let names = BENCHMARKS.map(|(name, _)| name).join(", ");
            eprintln!(
                "bench: unknown benchmark `{}`: use one of {names}",
                wanted.display()
            );
            ExitCode::from(2)
        }
    }
}
