//! `holdpoint rules test`: the examples of packs, tried.

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use holdpoint_core::{ExampleCall, Surroundings, matching_rules, understand_alone};
use holdpoint_engine::{Pack, read_pack};
use serde::Serialize;
use serde_json::json;

use crate::commands::empty_machine;
use crate::exit::Exit;
use crate::terminal::{Terminal, escape_for_display};
use holdpoint_engine::humanize::counted;

pub(super) fn run(files: &[PathBuf], json: bool, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let own: Vec<Pack> = files
        .iter()
        .map(|file| read_pack(file))
        .collect::<Result<_, _>>()?;
    let mut trial = Trial::default();
    if own.is_empty() {
        for pack in Pack::shipped()? {
            trial.of_pack(&pack, &[]);
        }
    } else {
        for pack in &own {
            trial.of_pack(pack, &own);
        }
    }
    if json {
        let whole = json!({
            "v": 1,
            "packs": trial.packs,
            "rules": trial.rules,
            "examples": trial.examples,
            "failures": trial.failures,
        });
        serde_json::to_writer_pretty(&mut terminal.out, &whole)?;
        writeln!(terminal.out)?;
    } else {
        trial.print(terminal)?;
    }
    match trial.failures.len() {
        0 => Ok(Exit::Fine),
        failed => bail!(
            "{failed} of {} fail: change the rule or the example",
            counted(trial.examples, "example")
        ),
    }
}

/// Examples being tried.
#[derive(Default)]
struct Trial {
    packs: usize,
    rules: usize,
    examples: usize,
    failures: Vec<Failure>,
}

/// An example that does not do what it should.
#[derive(Serialize)]
struct Failure {
    rule: String,
    example: String,
    /// Whether it should have matched.
    should_match: bool,
    /// The rules that did match.
    matched: Vec<String>,
}

impl Trial {
    /// Tries a pack; its rules are among `loaded`, or shipped.
    fn of_pack(&mut self, pack: &Pack, loaded: &[Pack]) {
        self.packs += 1;
        for rule in pack.descriptions() {
            self.rules += 1;
            let should = rule.matches.iter().map(|example| (example, true));
            let should_not = rule.not_matches.iter().map(|example| (example, false));
            for (example, should_match) in should.chain(should_not) {
                self.examples += 1;
                let matched = matched(example, loaded);
                if matched.iter().any(|id| id == rule.id) != should_match {
                    self.failures.push(Failure {
                        rule: rule.id.to_owned(),
                        example: example.text.clone(),
                        should_match,
                        matched,
                    });
                }
            }
        }
    }

    fn print(&self, terminal: &mut Terminal) -> anyhow::Result<()> {
        for failure in &self.failures {
            let rule = terminal.heading(&failure.rule);
            let (what, example) = (failure.what(), escape_for_display(&failure.example, 500));
            writeln!(terminal.out, "{rule} {what}: {example}")?;
            if failure.should_match {
                let others = if failure.matched.is_empty() {
                    "no rule does".to_owned()
                } else {
                    format!("these do: {}", failure.matched.join(", "))
                };
                writeln!(terminal.out, "  {others}")?;
            }
        }
        let outcome = match self.failures.len() {
            0 => "all as they should be".to_owned(),
            failed => format!("{failed} failed"),
        };
        writeln!(
            terminal.out,
            "{}, {}, {}: {outcome}",
            counted(self.packs, "pack"),
            counted(self.rules, "rule"),
            counted(self.examples, "example")
        )?;
        Ok(())
    }
}

impl Failure {
    fn what(&self) -> &'static str {
        if self.should_match {
            "does not match"
        } else {
            "matches what it should not"
        }
    }
}

/// The rules that match an example, on a machine with nothing on its disk but the facts it states.
fn matched(example: &ExampleCall, loaded: &[Pack]) -> Vec<String> {
    let around = Surroundings {
        lookup: &example.facts,
        ..empty_machine::surroundings(false)
    };
    let action = understand_alone(example.call.clone(), &around);
    matching_rules(&action, loaded, &around)
}
