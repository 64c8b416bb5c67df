//! Calls one by one.

use std::io::Write;

use holdpoint_agents::replay::Outcome;
use holdpoint_engine::Verdict;
use serde_json::{Value, json};

use super::display::{clean, display_of};
use super::judging::Judged;
use super::tally::rule_of;
use crate::cli::Replay;
use crate::terminal::{Terminal, escape_for_display};

/// The most characters of a call that are shown where output is not a terminal: enough to know it by. More is cut.
const MAX_CALL: usize = 300;

/// The least room for a call: fewer characters tell nobody which it was. On a narrower terminal lines run over.
const MIN_CALL_WIDTH: usize = 30;

/// Prints the calls that are wanted.
pub(super) struct List {
    all: bool,
    differing: bool,
    json: bool,
    /// Whether there was anything to list.
    pub(super) printed: bool,
}

impl List {
    /// A list, if one is asked for.
    pub(super) fn wanted(args: &Replay) -> Option<Self> {
        (args.list || args.all).then_some(Self {
            all: args.all,
            differing: args.against.is_some(),
            json: args.json,
            printed: false,
        })
    }

    /// Whether a call is listed.
    pub(super) fn wants(&self, judged: &Judged) -> bool {
        let verdict = judged.decision.verdict;
        self.all
            || match &judged.against {
                Some(against) if self.differing => against.verdict != verdict,
                Some(_) | None => verdict > Verdict::Allow,
            }
    }

    pub(super) fn print(&mut self, judged: &Judged, terminal: &mut Terminal) -> anyhow::Result<()> {
        if !self.wants(judged) {
            return Ok(());
        }
        self.printed = true;
        if self.json {
            serde_json::to_writer(&mut terminal.out, &document(judged))?;
            writeln!(terminal.out)?;
            return Ok(());
        }
        let recorded = &judged.recorded;
        let word = terminal.verdict(judged.decision.verdict);
        let (verdict, decided) = match &judged.against {
            // The stricter one has something to say.
            Some(against) if against.verdict != judged.decision.verdict => (
                format!("{word} → {}", terminal.verdict(against.verdict)),
                std::cmp::max_by_key(against, &judged.decision, |one| one.verdict),
            ),
            Some(_) | None => (word, &judged.decision),
        };
        let mut about = format!("{}:{}", judged.file, recorded.line);
        if let Some(time) = recorded.time {
            // Nobody wants the milliseconds.
            let time: String = time.to_string().chars().take(19).collect();
            about.push_str(&format!("  {}Z", time));
        }
        if let Some(outcome) = recorded.outcome {
            about.push_str(&format!("  then: {}", outcome.as_str()));
        }
        let room = terminal
            .width()
            .map(|width| width.saturating_sub(4).max(MIN_CALL_WIDTH));
        let call = display_of(recorded, room.unwrap_or(MAX_CALL));
        let about = terminal.faint(&about);
        writeln!(
            terminal.out,
            "{verdict}: {}\n    {call}\n    {about}",
            rule_of(decided)
        )?;
        Ok(())
    }
}

/// A call as JSON.
fn document(judged: &Judged) -> Value {
    let (recorded, decision) = (&judged.recorded, &judged.decision);
    let mut document = json!({
        "v": 1,
        "kind": "call",
        "file": &*judged.file,
        "line": recorded.line,
        "time": recorded.time.map(|time| time.to_string()),
        "agent": recorded.writer.name(),
        "session": recorded.session.as_deref().map(|session| clean(session, 200)),
        "subagent": recorded.subagent,
        "id": recorded.id.as_deref().map(|id| clean(id, 200)),
        "tool": clean(&recorded.tool, 200),
        "call": display_of(recorded, usize::MAX),
        "cwd": clean(&judged.directory, 4096),
        "then": recorded.outcome.map(Outcome::as_str),
        "verdict": decision.verdict,
        "risk": decision.risk,
        "method": decision.method,
        "rule": decision.rule.as_deref().map(|rule| escape_for_display(rule, 500)),
        "reason": escape_for_display(&decision.reason, 500),
        "digest": decision.call,
    });
    if let (Some(against), Some(fields)) = (&judged.against, document.as_object_mut()) {
        let against = json!({
            "verdict": against.verdict,
            "method": against.method,
            "rule": against.rule.as_deref().map(|rule| escape_for_display(rule, 500)),
            "reason": escape_for_display(&against.reason, 500),
        });
        fields.insert("against".into(), against);
    }
    document
}
