//! `holdpoint policy diff`: which verdicts a change of policy changes, on recorded calls.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::Write;
use std::path::Path;

use anyhow::bail;
use holdpoint_engine::humanize::{counted, grouped};
use holdpoint_engine::{Decision, PolicySource, Verdict, working_directory};
use holdpoint_sandbox::interrupt;
use serde_json::{Value, json};

use super::history::History;
use super::policy_named;
use crate::cli::PolicyDiff;
use crate::commands::replay::{
    Bench, Comparison, Conditions, Filter, Judged, Listener, Sources, display_of, display_of_call,
};
use crate::exit::Exit;
use crate::layout::hanging;
use crate::terminal::{Terminal, escape_for_display};

/// The most different changes that are kept and listed; the others are counted.
const MAX_CHANGES: usize = 500;

/// The most characters of a call that are shown: enough to know it by. More is cut.
const MAX_CALL: usize = 300;

pub(super) fn run(args: &PolicyDiff, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    if let (Some(since), Some(until)) = (args.span.since, args.span.until)
        && since >= until
    {
        bail!("--since is not before --until: nothing lies between them");
    }
    let (old, new) = match args.policies.as_slice() {
        [old, new] => (Some(policy_named(old, "OLD")?), policy_named(new, "NEW")?),
        [new] => (None, policy_named(new, "NEW")?),
        _ => bail!("give the new policy, or the old and the new one"),
    };
    let here = working_directory(None)?;
    let changes = match args.transcripts.is_empty() {
        true => on_ledger(args, old, new, &here)?,
        false => on_transcripts(args, old, new, &here)?,
    };
    match args.json {
        true => print_json(&changes, args, terminal)?,
        false => print(&changes, args, terminal)?,
    }
    match changes.calls_changed {
        0 => Ok(Exit::Fine),
        changed => {
            let calls = counted(changes.calls, "call");
            super::found(
                &format!("{} of {calls} are judged differently", grouped(changed)),
                terminal,
            )
        }
    }
}

fn on_ledger(
    args: &PolicyDiff,
    old: Option<PolicySource>,
    new: PolicySource,
    here: &Path,
) -> anyhow::Result<Changes> {
    let mut comparison = Comparison::new(old, new, args.look)?;
    let history = History::read(args.span, here)?;
    let mut changes = Changes {
        shortened: history.shortened,
        left_out: history.left_out,
        ..Changes::default()
    };
    for past in history.calls {
        let shown = display_of_call(&past.call, MAX_CALL);
        if let Some((old, new)) = comparison.judge(past.call, &past.directory) {
            changes.add(shown, &past.directory, past.times, &old, &new);
        }
    }
    Ok(changes)
}

fn on_transcripts(
    args: &PolicyDiff,
    old: Option<PolicySource>,
    new: PolicySource,
    here: &Path,
) -> anyhow::Result<Changes> {
    let sources = Sources::find(&args.transcripts)?;
    let conditions = Conditions {
        first: old,
        second: Some(new),
        look: args.look,
        here: here.to_owned(),
        filter: Filter::of_span(args.span),
    };
    let mut bench = Bench::new(conditions, sources.bytes())?;
    // Without it, Ctrl-C ends the program as it ends any other.
    let _ = interrupt::listen();
    let mut changes = Changes::default();
    bench.run(&sources, &mut changes)?;
    if let Some(problem) = &changes.unread_file {
        bail!("{problem}");
    }
    if bench.facts.interrupted {
        bail!("interrupted before everything was read");
    }
    Ok(changes)
}

/// What would change.
#[derive(Default)]
struct Changes {
    calls: u64,
    calls_changed: u64,
    /// By what is done, where, and from what to what.
    different: BTreeMap<(Verdict, Verdict, String, String), Change>,
    transitions: BTreeMap<(Verdict, Verdict), u64>,
    /// Changed calls that are counted and not listed.
    unlisted: u64,
    shortened: u64,
    left_out: u64,
    unread_lines: u64,
    /// The first file that cannot be read.
    unread_file: Option<String>,
}

/// What changes for one call.
struct Change {
    times: u64,
    old_rule: Option<String>,
    new_rule: Option<String>,
    /// Why the stricter of the two policies says what it says.
    reason: String,
}

impl Changes {
    fn add(&mut self, call: String, directory: &str, times: u64, old: &Decision, new: &Decision) {
        self.calls += times;
        let moved = (old.verdict, new.verdict);
        if moved.0 == moved.1 {
            return;
        }
        self.calls_changed += times;
        *self.transitions.entry(moved).or_default() += times;
        let full = self.different.len() >= MAX_CHANGES;
        let key = (moved.1, moved.0, call, directory.to_owned());
        match self.different.entry(key) {
            Entry::Occupied(mut known) => known.get_mut().times += times,
            Entry::Vacant(_) if full => self.unlisted += times,
            Entry::Vacant(place) => {
                let stricter = std::cmp::max_by_key(old, new, |one| one.verdict);
                let mut reason = stricter.reason.clone();
                if let Some(stated) = &stricter.stated_in {
                    reason.push_str(&format!(" ({})", stated.words()));
                }
                place.insert(Change {
                    times,
                    old_rule: old.rule.clone(),
                    new_rule: new.rule.clone(),
                    reason,
                });
            }
        }
    }
}

impl Listener for Changes {
    fn hear(&mut self, judged: Judged) -> anyhow::Result<()> {
        if let Some(against) = &judged.against {
            let call = display_of(&judged.recorded, MAX_CALL);
            self.add(call, &judged.directory, 1, &judged.decision, against);
        }
        Ok(())
    }

    fn problem(&mut self, file: &str, line: Option<u64>, problem: &str) {
        match line {
            Some(_) => self.unread_lines += 1,
            None => {
                let file = escape_for_display(file, 300);
                self.unread_file.get_or_insert(format!("{file}: {problem}"));
            }
        }
    }

    fn speaks(&self, _judged: &Judged) -> bool {
        false
    }

    fn flush(&mut self) -> anyhow::Result<()> {
        Ok(())
    }
}

fn print(changes: &Changes, args: &PolicyDiff, terminal: &mut Terminal) -> anyhow::Result<()> {
    // The strictest of what comes first: it is what people look for.
    for ((to, from, call, directory), change) in changes.different.iter().rev() {
        let moved = format!("{} → {}", terminal.verdict(*from), terminal.verdict(*to));
        let times = match change.times {
            1 => String::new(),
            times => format!(" ({} times)", grouped(times)),
        };
        writeln!(terminal.out, "{moved}: {call}{times}")?;
        let rules = [("was", &change.old_rule), ("now", &change.new_rule)];
        let rules = rules.iter().filter_map(|(word, rule)| {
            let rule = rule.as_deref()?;
            Some(format!("{word} {}", escape_for_display(rule, 100)))
        });
        let mut about: Vec<String> = rules.collect();
        about.push(escape_for_display(&change.reason, 300));
        about.push(format!("in {}", escape_for_display(directory, 300)));
        let about = hanging(&about.join("; "), 4, terminal.width());
        writeln!(terminal.out, "    {}", terminal.faint(&about))?;
    }
    if changes.unlisted > 0 {
        writeln!(
            terminal.out,
            "and {} more",
            counted(changes.unlisted, "call")
        )?;
    }
    let name = args.policies.last().map_or("", String::as_str);
    writeln!(
        terminal.out,
        "Under {}, {} of {} on record would be judged differently.",
        escape_for_display(name, 100),
        grouped(changes.calls_changed),
        counted(changes.calls, "call")
    )?;
    for ((from, to), calls) in &changes.transitions {
        let moved = format!("{} → {}", terminal.verdict(*from), terminal.verdict(*to));
        writeln!(terminal.out, "  {moved}: {}", grouped(*calls))?;
    }
    for (number, what) in [
        (
            changes.shortened,
            "on record without their whole text, which was redacted or cut: left out",
        ),
        (
            changes.left_out,
            "beyond what is compared at once: give --since",
        ),
        (changes.unread_lines, "that cannot be read: left out"),
    ] {
        if number > 0 {
            let text = format!("{} {what}.", counted(number, "call"));
            writeln!(terminal.out, "{}", terminal.faint(&text))?;
        }
    }
    Ok(())
}

fn print_json(changes: &Changes, args: &PolicyDiff, terminal: &mut Terminal) -> anyhow::Result<()> {
    let listed: Vec<Value> = changes
        .different
        .iter()
        .rev()
        .map(|((to, from, call, directory), change)| {
            json!({
                "call": call,
                "cwd": directory,
                "calls": change.times,
                "from": from,
                "to": to,
                "old_rule": change.old_rule,
                "new_rule": change.new_rule,
                "reason": change.reason,
            })
        })
        .collect();
    let transitions: Vec<Value> = changes
        .transitions
        .iter()
        .map(|((from, to), calls)| json!({ "from": from, "to": to, "calls": calls }))
        .collect();
    let (new, old) = match args.policies.as_slice() {
        [old, new] => (new.as_str(), Some(old.as_str())),
        [new] => (new.as_str(), None),
        _ => ("", None),
    };
    let whole = json!({
        "v": 1,
        "old": old,
        "new": new,
        "calls": changes.calls,
        "changed": changes.calls_changed,
        "changes": listed,
        "unlisted": changes.unlisted,
        "transitions": transitions,
        "shortened": changes.shortened,
        "left_out": changes.left_out,
        "unread_lines": changes.unread_lines,
    });
    serde_json::to_writer_pretty(&mut terminal.out, &whole)?;
    writeln!(terminal.out)?;
    Ok(())
}
