//! `holdpoint rules list`: a table of the rules, pack by pack.

use std::io::Write;

use anyhow::bail;
use holdpoint_engine::{Guard, Policy, Verdict};
use serde_json::{Value, json};

use super::{in_force, policy};
use crate::cli::{RuleWord, RulesUnder};
use crate::exit::Exit;
use crate::layout::hanging;
use crate::terminal::{Terminal, escape_for_display};
use holdpoint_engine::humanize::counted;

/// The room a verdict and a risk take, with what separates them.
const VERDICT: usize = "notify (review)".len();
const RISK: usize = "critical".len();

/// The least width of the column for reasons; a narrower terminal has them on lines of their own.
const MIN_REASON_WIDTH: usize = 30;

pub(super) fn run(
    pack: Option<&str>,
    verdict: Option<RuleWord>,
    under: &RulesUnder,
    terminal: &mut Terminal,
) -> anyhow::Result<Exit> {
    let policy = policy(under)?;
    if let Some(pack) = pack
        && !policy.pack_titles().any(|(name, _, _)| name == pack)
    {
        let known: Vec<&str> = policy.pack_titles().map(|(name, _, _)| name).collect();
        bail!(
            "there is no pack `{}`: {}",
            escape_for_display(pack, 60),
            holdpoint_core::document::hint(pack, &known)
        );
    }
    let wanted = |guard: &Guard<'_>| {
        pack.is_none_or(|pack| guard.pack == pack)
            && verdict.is_none_or(|word| guard.in_force == verdict_of(word))
    };
    let guards: Vec<Guard<'_>> = policy.guards().filter(wanted).collect();
    let packs = by_pack(&policy, &guards);
    if under.json {
        let packs: Vec<Value> = packs.iter().map(Listed::json).collect();
        let whole = json!({ "v": 1, "count": guards.len(), "packs": packs });
        serde_json::to_writer_pretty(&mut terminal.out, &whole)?;
        writeln!(terminal.out)?;
    } else {
        for pack in &packs {
            pack.print(terminal)?;
        }
        summary(&guards, packs.len(), terminal)?;
    }
    Ok(Exit::Fine)
}

fn verdict_of(word: RuleWord) -> Option<Verdict> {
    match word {
        RuleWord::Off => None,
        RuleWord::Notify => Some(Verdict::Notify),
        RuleWord::Contain => Some(Verdict::Contain),
        RuleWord::Ask => Some(Verdict::Ask),
        RuleWord::Review => Some(Verdict::Review),
        RuleWord::Deny => Some(Verdict::Deny),
    }
}

/// A pack and those of its rules that are listed.
struct Listed<'p> {
    name: &'p str,
    title: &'p str,
    place: Option<&'p str>,
    guards: Vec<&'p Guard<'p>>,
}

/// The packs that have something to list.
fn by_pack<'p>(policy: &'p Policy, guards: &'p [Guard<'p>]) -> Vec<Listed<'p>> {
    policy
        .pack_titles()
        .map(|(name, title, place)| Listed {
            name,
            title,
            place,
            guards: guards
                .iter()
                .filter(|guard| guard.pack == name && guard.place == place)
                .collect(),
        })
        .filter(|pack| !pack.guards.is_empty())
        .collect()
}

impl Listed<'_> {
    fn json(&self) -> Value {
        let rules: Vec<Value> = self
            .guards
            .iter()
            .map(|guard| {
                json!({
                    "id": guard.id,
                    "verdict": in_force(guard),
                    "pack_verdict": guard.verdict,
                    "risk": guard.risk,
                    "reason": guard.reason,
                    "instead": guard.instead,
                })
            })
            .collect();
        json!({ "name": self.name, "title": self.title, "file": self.place, "rules": rules })
    }

    fn print(&self, terminal: &mut Terminal) -> anyhow::Result<()> {
        let name = terminal.heading(self.name);
        let mut about = format!(
            "{} ({})",
            escape_for_display(self.title, 200),
            counted(self.guards.len(), "rule")
        );
        if let Some(place) = self.place {
            about.push_str(&format!(", from {}", escape_for_display(place, 300)));
        }
        let about = hanging(&about, self.name.chars().count() + 2, terminal.width());
        writeln!(terminal.out, "{name}: {about}")?;
        let ids = self.guards.iter().map(|guard| guard.id.chars().count());
        let ids = ids.max().unwrap_or_default();
        let changed = self.guards.iter().any(|guard| is_changed(guard));
        let verdicts = if changed { VERDICT } else { "notify".len() };
        let used = 2 + ids + 2 + verdicts + 2 + RISK + 2;
        let apart = terminal
            .width()
            .is_some_and(|width| width < used.saturating_add(MIN_REASON_WIDTH));
        for guard in &self.guards {
            let (id, risk) = (guard.id, guard.risk.as_str());
            let verdict = padded_verdict(guard, verdicts, terminal);
            let width = terminal.width();
            if apart {
                let reason = hanging(&escape_for_display(guard.reason, 500), 6, width);
                writeln!(
                    terminal.out,
                    "  {id:<ids$}  {verdict}  {risk}\n      {reason}"
                )?;
            } else {
                let reason = hanging(&escape_for_display(guard.reason, 500), used, width);
                writeln!(
                    terminal.out,
                    "  {id:<ids$}  {verdict}  {risk:<RISK$}  {reason}"
                )?;
            }
        }
        writeln!(terminal.out)?;
        Ok(())
    }
}

fn is_changed(guard: &Guard<'_>) -> bool {
    guard.in_force != Some(guard.verdict)
}

/// The verdict in force, and the pack's own where that differs.
fn padded_verdict(guard: &Guard<'_>, width: usize, terminal: &Terminal) -> String {
    let word = in_force(guard);
    let own = if is_changed(guard) {
        format!(" ({})", guard.verdict.as_str())
    } else {
        String::new()
    };
    // Colour takes room the eye does not see.
    let padding = " ".repeat(width.saturating_sub(word.len() + own.len()));
    let word = match guard.in_force {
        Some(verdict) => terminal.verdict(verdict),
        None => terminal.faint(word),
    };
    format!("{word}{own}{padding}")
}

fn summary(guards: &[Guard<'_>], packs: usize, terminal: &mut Terminal) -> anyhow::Result<()> {
    let mut words = Vec::new();
    for verdict in [
        Some(Verdict::Deny),
        Some(Verdict::Review),
        Some(Verdict::Ask),
        Some(Verdict::Contain),
        Some(Verdict::Notify),
        None,
    ] {
        let number = guards
            .iter()
            .filter(|guard| guard.in_force == verdict)
            .count();
        if number > 0 {
            words.push(format!(
                "{number} {}",
                verdict.map_or("off", Verdict::as_str)
            ));
        }
    }
    let words = if words.is_empty() {
        "nothing to list".to_owned()
    } else {
        words.join(", ")
    };
    writeln!(
        terminal.out,
        "{} in {}: {words}",
        counted(guards.len(), "rule"),
        counted(packs, "pack")
    )?;
    Ok(())
}
