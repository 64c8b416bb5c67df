//! The commands of a call, where they come from and what they would do.

use std::io::Write;

use holdpoint_core::{Explained, ExplainedCommand, ExplainedEffect};

use super::heading;
use crate::layout::hanging;
use crate::terminal::{Terminal, escape_for_display};

/// The most commands that are printed, and effects of one; nobody reads more of them here.
const MAX_COMMANDS: usize = 100;
const MAX_EFFECTS: usize = 16;

/// Where the notes on a command begin, and the column of their texts.
const INDENT: usize = 5;
const TEXTS: usize = INDENT + 10;

pub(super) fn print(
    understood: &Explained,
    directory: &str,
    terminal: &mut Terminal,
) -> anyhow::Result<()> {
    let commands = &understood.commands;
    if !commands.is_empty() || understood.unreadable.is_some() {
        heading("Commands it would run", terminal)?;
    }
    if let Some(problem) = &understood.unreadable {
        writeln!(
            terminal.out,
            "  cannot be read: {}",
            escape_for_display(problem, 300)
        )?;
    }
    for (number, command) in (1..).zip(commands).take(MAX_COMMANDS) {
        let mark = format!("  {number}. ");
        let text = hanging(
            &escape_for_display(&command.text, 300),
            mark.len(),
            terminal.width(),
        );
        writeln!(terminal.out, "{mark}{text}")?;
        for (name, text) in notes(command, directory) {
            note(name, &text, terminal)?;
        }
        effects(&command.effects, terminal)?;
    }
    if commands.len() > MAX_COMMANDS {
        let more = commands.len() - MAX_COMMANDS;
        writeln!(terminal.out, "  … and {more} more; --json has them all")?;
    }
    if commands.is_empty() && !understood.effects.is_empty() {
        heading("What it would do", terminal)?;
        effects(&understood.effects, terminal)?;
    }
    Ok(())
}

fn note(name: &str, text: &str, terminal: &mut Terminal) -> anyhow::Result<()> {
    let text = hanging(text, TEXTS, terminal.width());
    if text.is_empty() {
        let name = terminal.faint(name);
        writeln!(terminal.out, "{:INDENT$}{name}", "")?;
        return Ok(());
    }
    let name = terminal.faint(&format!("{name:<9}"));
    writeln!(terminal.out, "{:INDENT$}{name} {text}", "")?;
    Ok(())
}

/// How a command comes to run, where, and where its words come from.
fn notes(command: &ExplainedCommand, directory: &str) -> Vec<(&'static str, String)> {
    let mut notes = Vec::new();
    if let Some(file) = &command.file {
        notes.push(("in script", escape_for_display(file, 200)));
    }
    if !command.within.is_empty() {
        notes.push((
            "run by",
            escape_for_display(&command.within.join(", then "), 200),
        ));
    }
    if command.substituted {
        notes.push(("for", "its output, which the line uses".to_owned()));
    }
    // What a wrapper runs reads what the wrapper does.
    if let (Some(first), true) = (command.fed_by.first(), command.within.is_empty()) {
        let from = match command.fed_by.len() {
            1 => (first + 1).to_string(),
            2 => format!("{} and {}", first + 1, first + 2),
            more => format!("{} to {}", first + 1, first + more),
        };
        notes.push(("reads", format!("the output of {from}")));
    }
    if command.directories != [directory] || command.directory_unknown {
        let mut places: Vec<String> = command
            .directories
            .iter()
            .map(|place| escape_for_display(place, 200))
            .collect();
        if command.directory_unknown {
            places.push("a directory nobody knows".to_owned());
        }
        notes.push(("in", places.join(" or ")));
    }
    for filled in &command.filled {
        notes.push((
            "filled in",
            format!(
                "{} is {}",
                escape_for_display(&filled.written, 80),
                escape_for_display(&filled.value, 200)
            ),
        ));
    }
    if !command.open.is_empty() {
        let open = escape_for_display(&command.open.join("  "), 200);
        notes.push(("open", format!("{open} is only known when it runs")));
    }
    if let Some(unknown) = command.unknown {
        notes.push(("unknown", unknown.to_owned()));
    }
    if !command.sql.is_empty() {
        notes.push(("sql", command.sql.join(", ")));
    }
    notes
}

fn effects(effects: &[ExplainedEffect], terminal: &mut Terminal) -> anyhow::Result<()> {
    let rows = together(effects);
    for (kinds, effect) in rows.iter().take(MAX_EFFECTS) {
        note(kinds, &about(effect), terminal)?;
    }
    if rows.len() > MAX_EFFECTS {
        let more = rows.len() - MAX_EFFECTS;
        note(
            "…",
            &format!("and {more} more effects; --json has them all"),
            terminal,
        )?;
    }
    Ok(())
}

/// Effects about the same thing become one row: what is sent is read, too.
fn together(effects: &[ExplainedEffect]) -> Vec<(String, &ExplainedEffect)> {
    let mut rows: Vec<(String, &ExplainedEffect)> = Vec::new();
    for effect in effects {
        let same = rows.iter_mut().find(|(_, other)| {
            (&effect.text, &effect.path, &effect.host) == (&other.text, &other.path, &other.host)
                && !effect.text.is_empty()
        });
        match same {
            Some((kinds, _)) if kinds.split(", ").any(|kind| kind == effect.kind) => {}
            Some((kinds, _)) => kinds.push_str(&format!(", {}", effect.kind)),
            None => rows.push((effect.kind.to_owned(), effect)),
        }
    }
    rows
}

/// What an effect is about: as written, where that leads, and what is known of it.
fn about(effect: &ExplainedEffect) -> String {
    let mut text = escape_for_display(&effect.text, 120);
    let leads_to = match (&effect.path, &effect.host) {
        (Some(path), _) => Some(escape_for_display(path, 200)),
        (None, Some(host)) => Some(escape_for_display(host, 200)),
        (None, None) => None,
    };
    match leads_to {
        Some(place) if text.is_empty() => text = place,
        Some(place) if place != text => text.push_str(&format!(" → {place}")),
        Some(_) | None => {}
    }
    let mut known: Vec<&str> = effect.classes.clone();
    if effect.recursive {
        known.push("with all in it");
    }
    if effect.forced {
        known.push("by force");
    }
    if effect.kind == "either" {
        known.push("read, written or deleted");
    }
    if !known.is_empty() {
        let gap = if text.is_empty() { "" } else { "  " };
        text.push_str(&format!("{gap}({})", known.join(", ")));
    }
    text
}
