//! What is printed for reference: the schema, the profiles, completions, manual pages.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{anyhow, bail};
use clap::CommandFactory;
use clap_complete::Shell;
use holdpoint_engine::{Profile, json_schema};
use serde_json::json;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::terminal::{Terminal, escape_for_display};

pub(crate) fn schema(terminal: &mut Terminal) -> anyhow::Result<Exit> {
    serde_json::to_writer_pretty(&mut terminal.out, &json_schema())?;
    writeln!(terminal.out)?;
    Ok(Exit::Fine)
}

/// The profiles, each with the line its file opens with.
pub(crate) fn profiles(json: bool, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    for profile in Profile::ALL {
        let first = profile.text().lines().next().unwrap_or_default();
        let (name, about) = (profile.name(), first.trim_start_matches("//").trim());
        if json {
            writeln!(terminal.out, "{}", json!({ "name": name, "about": about }))?;
        } else {
            writeln!(terminal.out, "{name:<11} {about}")?;
        }
    }
    Ok(Exit::Fine)
}

/// The file of one profile.
pub(crate) fn profile(name: &str, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    match Profile::ALL
        .into_iter()
        .find(|profile| profile.name() == name)
    {
        Some(profile) => terminal.out.write_all(profile.text().as_bytes())?,
        None => bail!(
            "there is no profile `{}`: `holdpoint profiles` lists them",
            escape_for_display(name, 60)
        ),
    }
    Ok(Exit::Fine)
}

pub(crate) fn completions(shell: Shell, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    // Not straight to the output: the generator panics if that is closed.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "holdpoint", &mut script);
    terminal.out.write_all(&script)?;
    Ok(Exit::Fine)
}

pub(crate) fn man(directory: Option<&Path>, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    match directory {
        None => clap_mangen::Man::new(Cli::command()).render(&mut terminal.out)?,
        Some(directory) => {
            fs::create_dir_all(directory)
                .and_then(|()| clap_mangen::generate_to(Cli::command(), directory))
                .map_err(|error| {
                    anyhow!(
                        "{}: the manual pages cannot be written ({}): name a directory you may write",
                        escape_for_display(&directory.display().to_string(), 300),
                        error.kind()
                    )
                })?;
            writeln!(
                terminal.out,
                "Manual pages written to {}",
                escape_for_display(&directory.display().to_string(), 300)
            )?;
        }
    }
    Ok(Exit::Fine)
}
