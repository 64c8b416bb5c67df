//! `holdpoint mcp scan`, `wrap` and `unwrap`: the servers agents are set up with, and what is known of them.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use holdpoint_agents::mcp_servers::{
    AGENTS, Rewritten, ServersFile, Start, files, unwrapped, wrapped,
};
use holdpoint_engine::store::{Unread, read_bounded, rewrite};
use holdpoint_engine::{Locations, Recorder, plain_words, text_without_secrets};
use holdpoint_ledger::Kind;
use holdpoint_mcp::ServerName;
use holdpoint_mcp::pins::Pins;
use serde_json::json;

use super::pin_store;
use crate::cli::{McpScan, McpWrap};
use crate::commands::init::{surroundings, this_program};
use crate::commands::serve::may_loosen;
use crate::exit::Exit;
use crate::terminal::{Terminal, escape_for_display};

/// The most bytes of a list: Claude Code keeps its whole history beside its own.
const MAX_BYTES: u64 = 64 << 20;

/// A list that is there.
struct Listed {
    file: ServersFile,
    /// Where it really is: an agent's settings may be a link into somebody's own repository.
    real: PathBuf,
    text: String,
}

pub(crate) fn scan(args: &McpScan, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let locations = Locations::of_this_machine();
    let kept = pin_store::all(&locations)?;
    let seen: Vec<Pins> = kept.servers.into_iter().map(|(_, pins)| pins).collect();
    let shadowed = shadowed(&seen);
    let program = this_program()?;
    let (lists, mut problems) = lists(&[])?;
    problems.extend(kept.problems);
    let mut rows = Vec::new();
    for Listed { file, text, .. } in &lists {
        let entries = match file.entries(text) {
            Ok(entries) => entries,
            Err(problem) => {
                problems.push(format!("{}: {problem}", file.path.display()));
                continue;
            }
        };
        for entry in entries {
            let name = ServerName::near(&entry.name);
            let known: Vec<&Pins> = seen
                .iter()
                .filter(|it| it.server == name.as_str())
                .collect();
            let (gated, how) = match &entry.start {
                Start::Program(command) => (command.is_gated(&program), command.words().join(" ")),
                Start::Address(address) => (false, address.clone()),
                Start::Unknown(why) => (false, (*why).to_owned()),
            };
            let mut found = Vec::new();
            if !gated {
                found.push(
                    match entry.start {
                        Start::Program(_) => {
                            "not gated: `holdpoint mcp wrap` puts it behind Holdpoint"
                        }
                        Start::Address(_) => "not gated: it is reached at an address",
                        Start::Unknown(_) => "not gated: it cannot be started as it stands",
                    }
                    .to_owned(),
                );
            }
            if file.is_projects {
                found.push("the project names it: read how it is started".to_owned());
            }
            for (tool, _, now) in known.iter().flat_map(|pins| pins.changes()) {
                found.push(format!("`{tool}` is hidden: {}", now.why));
            }
            let tools = known.iter().flat_map(|pins| pins.tools());
            for tool in tools {
                if let Some(servers) = shadowed.get(tool) {
                    let others: Vec<&str> = servers
                        .iter()
                        .copied()
                        .filter(|other| *other != name.as_str())
                        .collect();
                    found.push(format!("`{tool}` is a tool of {}, too", others.join(", ")));
                }
            }
            found.dedup();
            rows.push((file, entry.name, how, gated, found));
        }
    }
    for (file, name, how, gated, found) in &rows {
        let how = text_without_secrets(how);
        if args.json {
            let row = json!({
                "v": 1, "agent": file.agent, "file": file.path.display().to_string(),
                "server": name, "start": how, "gated": gated, "found": found,
            });
            writeln!(terminal.out, "{row}")?;
            continue;
        }
        let standing = if *gated { "gated" } else { "open " };
        writeln!(
            terminal.out,
            "{standing}  {}  {}  ({})\n       {}",
            file.agent,
            escape_for_display(name, 100),
            escape_for_display(&file.path.display().to_string(), 300),
            escape_for_display(&how, 300)
        )?;
        for line in found {
            writeln!(terminal.out, "       - {}", escape_for_display(line, 500))?;
        }
    }
    if rows.is_empty() && !args.json {
        writeln!(terminal.out, "No agent is set up with a server here.")?;
    }
    ended(&problems, terminal)
}

/// The tools that more than one server has: a model that means one may be given the other.
fn shadowed(seen: &[Pins]) -> BTreeMap<&str, Vec<&str>> {
    let mut by_tool: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for pins in seen {
        for tool in pins.tools() {
            let servers = by_tool.entry(tool).or_default();
            if !servers.contains(&pins.server.as_str()) {
                servers.push(&pins.server);
            }
        }
    }
    by_tool.retain(|_, servers| servers.len() > 1);
    by_tool
}

pub(crate) fn wrap(args: &McpWrap, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let program = this_program()?;
    let name_of = |name: &str| ServerName::near(name).as_str().to_owned();
    changed(args, "mcp wrap", terminal, |file, text| {
        wrapped(file, text, &program, &name_of)
    })
}

pub(crate) fn unwrap(args: &McpWrap, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    if !args.dry_run {
        may_loosen(
            "take the gate from its servers",
            &Locations::of_this_machine(),
        )?;
    }
    let program = this_program()?;
    changed(args, "mcp unwrap", terminal, |file, text| {
        unwrapped(file, text, &program)
    })
}

fn changed(
    args: &McpWrap,
    action: &str,
    terminal: &mut Terminal,
    change: impl Fn(&ServersFile, &str) -> Result<Rewritten, String>,
) -> anyhow::Result<Exit> {
    if let Some(unknown) = args.agents.iter().find(|it| !AGENTS.contains(&it.as_str())) {
        bail!(
            "`{}`: its servers are not known: name one of {}",
            escape_for_display(unknown, 100),
            AGENTS.join(", ")
        );
    }
    let locations = Locations::of_this_machine();
    let (lists, mut problems) = lists(&args.agents)?;
    let mut any = false;
    for Listed { file, real, text } in &lists {
        let path = escape_for_display(&file.path.display().to_string(), 300);
        let made = match change(file, text) {
            Ok(made) if made.servers.is_empty() => continue,
            Ok(made) => made,
            Err(problem) => {
                problems.push(format!("{path}: {problem}"));
                continue;
            }
        };
        any = true;
        let servers = escape_for_display(&made.servers.join(", "), 500);
        if args.dry_run {
            writeln!(terminal.out, "Would change {path}: {servers}")?;
            continue;
        }
        let what = json!({"action": action, "file": file.path.display().to_string(), "servers": made.servers});
        Recorder::at(&locations)?.changes(Kind::PolicyChange, None, &what)?;
        let like = std::fs::metadata(real).context("it has gone meanwhile")?;
        if read(real)?.as_deref() != Some(text.as_str()) {
            problems.push(format!(
                "{path}: somebody has changed it meanwhile: try again"
            ));
            continue;
        }
        match rewrite(real, made.text.as_bytes(), Some(&like)) {
            Ok(()) => writeln!(terminal.out, "Changed {path}: {servers}")?,
            Err(error) => problems.push(format!(
                "{path}: it cannot be written ({})",
                plain_words(&error)
            )),
        }
    }
    if !any && problems.is_empty() {
        writeln!(terminal.out, "Nothing to change.")?;
    }
    ended(&problems, terminal)
}

/// The lists of these agents, or of all, and why some cannot be read.
fn lists(agents: &[String]) -> anyhow::Result<(Vec<Listed>, Vec<String>)> {
    let around = surroundings()?;
    let mut found = Vec::new();
    let mut problems = Vec::new();
    let wanted =
        |file: &ServersFile| agents.is_empty() || agents.iter().any(|agent| agent == file.agent);
    for file in files(&around).into_iter().filter(wanted) {
        let real = std::fs::canonicalize(&file.path).unwrap_or_else(|_| file.path.clone());
        match read(&real) {
            Ok(Some(text)) => found.push(Listed { file, real, text }),
            Ok(None) => {}
            Err(problem) => problems.push(problem.to_string()),
        }
    }
    Ok((found, problems))
}

fn read(path: &Path) -> anyhow::Result<Option<String>> {
    match read_bounded(path, MAX_BYTES) {
        Err(Unread::Missing) => Ok(None),
        Err(unread) => bail!("{}: {unread}", path.display()),
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => bail!("{}: it is not UTF-8 text", path.display()),
        },
    }
}

fn ended(problems: &[String], terminal: &mut Terminal) -> anyhow::Result<Exit> {
    terminal.out.flush()?;
    match problems.split_last() {
        None => Ok(Exit::Fine),
        Some((last, others)) => {
            for problem in others {
                writeln!(std::io::stderr(), "holdpoint: {problem}")?;
            }
            bail!("{last}")
        }
    }
}
