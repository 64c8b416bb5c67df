//! What the benchmark programs share: made-up rules, medians, tables, and how they end.

use std::process::ExitCode;

pub mod rules;
pub mod table;
pub mod timing;

/// How a program ends: a failure is one line that says what went wrong.
pub fn exit(program: &str, outcome: anyhow::Result<()>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{program}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
