//! The session a person means: that of the agent that works where they stand, unless they name one.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::time::SystemTime;

use anyhow::bail;
use holdpoint_engine::{Locations, NO_SESSION, Presence, RUNNING, SessionId, Sessions};
use serde_json::{Value, json};

use super::permissions::suspension_words;
use crate::layout::padded;
use crate::terminal::{Terminal, escape_for_display};

/// The session that is meant.
pub(crate) struct Meant {
    /// Its name.
    pub(crate) session: String,
    /// Whose it is, if it was found and not named.
    pub(crate) found: Option<Presence>,
}

/// The session named, or that of the agent that works in a directory: of several that run, the one a person chooses.
pub(crate) fn meant(
    named: Option<&str>,
    directory: &Path,
    terminal: &mut Terminal,
) -> anyhow::Result<Meant> {
    if let Some(name) = named {
        return Ok(Meant {
            session: name.to_owned(),
            found: None,
        });
    }
    let all = present();
    let here: Vec<&Presence> = all.iter().filter(|one| one.is_at(directory)).collect();
    let running: Vec<&Presence> = here
        .iter()
        .copied()
        .filter(|one| one.is_within(RUNNING))
        .collect();
    let found = match (running.as_slice(), here.first()) {
        ([only], _) => only,
        ([], Some(latest)) => latest,
        ([], None) if all.is_empty() => {
            return Ok(Meant {
                session: NO_SESSION.to_owned(),
                found: None,
            });
        }
        ([], None) => bail!(
            "no agent has made a call in this directory: go to its project, or say which session with --session ID; \
             there are {}",
            listed(&all.iter().collect::<Vec<_>>())
        ),
        (several, _) => chosen(several, terminal)?,
    };
    Ok(Meant {
        session: found.session.clone(),
        found: Some(found.clone()),
    })
}

fn present() -> Vec<Presence> {
    let sessions = Sessions::at(&Locations::of_this_machine());
    sessions.map(|all| all.present()).unwrap_or_default()
}

/// Has a person choose; where nobody can be asked, that is an error that tells them how.
fn chosen<'p>(several: &[&'p Presence], terminal: &mut Terminal) -> anyhow::Result<&'p Presence> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        bail!(
            "{} sessions run here: say which with --session ID; there are {}",
            several.len(),
            listed(several)
        );
    }
    let out = &mut terminal.out;
    writeln!(out, "Several sessions run here:")?;
    for (number, one) in (1..).zip(several) {
        writeln!(out, "  {number}  {}", words(one))?;
    }
    write!(out, "Which one? [1] ")?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    let number = match answer.trim() {
        "" => Ok(1),
        text => text.parse::<usize>(),
    };
    let picked = number.ok().and_then(|number| number.checked_sub(1));
    match picked.and_then(|at| several.get(at)) {
        Some(one) => Ok(one),
        None => bail!("there is no such session: nothing was changed"),
    }
}

/// The most sessions an error names: one line. `permissions sessions` has the rest.
const MAX_NAMED: usize = 5;

fn listed(sessions: &[&Presence]) -> String {
    let named = sessions.iter().take(MAX_NAMED).map(|one| {
        format!(
            "{} ({} in {}, {})",
            escape_for_display(&one.session, 80),
            escape_for_display(&one.agent, 40),
            escape_for_display(&one.directory, 120),
            ago(one.last)
        )
    });
    let mut text = named.collect::<Vec<_>>().join(", ");
    if sessions.len() > MAX_NAMED {
        text.push_str(", …");
    }
    text
}

/// A session in a line.
pub(crate) fn words(one: &Presence) -> String {
    format!(
        "{}  {} in {}, last call {}",
        escape_for_display(&one.session, 80),
        escape_for_display(&one.agent, 40),
        escape_for_display(&one.directory, 200),
        ago(one.last)
    )
}

/// How long ago a moment was, in words.
fn ago(time: SystemTime) -> String {
    let age = SystemTime::now().duration_since(time).unwrap_or_default();
    match age.as_secs() {
        seconds @ 0..60 => format!("{seconds} s ago"),
        seconds @ 60..3600 => format!("{} min ago", seconds / 60),
        seconds => format!("{} h ago", seconds / 3600),
    }
}

/// Shows the sessions of agents that made a call within a day.
pub(crate) fn show(directory: &Path, json: bool, terminal: &mut Terminal) -> anyhow::Result<()> {
    let sessions = Sessions::at(&Locations::of_this_machine())?;
    let mut rows = Vec::new();
    for one in sessions.present() {
        let state = sessions.load(&SessionId::new(&one.session))?;
        rows.push((one, state));
    }
    if json {
        let rows: Vec<Value> = rows
            .iter()
            .map(|(one, state)| {
                let since = one.last.duration_since(SystemTime::UNIX_EPOCH);
                json!({
                    "session": one.session,
                    "agent": one.agent,
                    "directory": one.directory,
                    "here": one.is_at(directory),
                    "last": since.unwrap_or_default().as_secs(),
                    "state": state,
                })
            })
            .collect();
        writeln!(terminal.out, "{}", json!({ "v": 1, "sessions": rows }))?;
        return Ok(());
    }
    if rows.is_empty() {
        writeln!(terminal.out, "No agent has made a call within a day.")?;
    }
    let width = rows
        .iter()
        .map(|(one, _)| one.session.chars().count().min(80));
    let width = width.max().unwrap_or_default();
    for (one, state) in &rows {
        let here = if one.is_at(directory) { "*" } else { " " };
        let mut rules = Vec::new();
        if !state.allow.is_empty() {
            rules.push(format!("{} allow", state.allow.len()));
        }
        if !state.deny.is_empty() {
            rules.push(format!("{} deny", state.deny.len()));
        }
        rules.extend(
            state
                .default
                .map(|word| format!("default {}", word.as_str())),
        );
        rules.extend(suspension_words(state.suspended));
        rules.extend(state.mark.as_ref().map(|_| "marked".to_owned()));
        let rules = match rules.is_empty() {
            true => "no rules".to_owned(),
            false => rules.join(", "),
        };
        writeln!(
            terminal.out,
            "{here} {}  {}  {}  {}  {rules}",
            padded(escape_for_display(&one.session, 80), width),
            padded(escape_for_display(&one.agent, 40), 12),
            padded(ago(one.last), 10),
            escape_for_display(&one.directory, 200),
        )?;
    }
    Ok(())
}
