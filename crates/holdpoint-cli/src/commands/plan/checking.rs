//! Judging all that a plan declares: each declaration as a call that would need it, with the plan and without.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use holdpoint_broker::Context;
use holdpoint_core::Glob;
use holdpoint_core::plan::{OpenPhase, OpenPlan};
use holdpoint_engine::{Caller, Decision, Engine, SessionSource, SessionState, ToolCall, Verdict};
use serde_json::{Value, json};

use super::{Read, plain};
use crate::exit::Exit;
use crate::terminal::Terminal;

/// A time that is not over, for a plan that is not open yet.
const SOME_DAY: &str = "9999-12-31T00:00:00Z";

/// What a declaration comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Comes {
    /// It runs without the plan as well.
    Runs,
    /// It runs inside the sandbox, plan or not.
    Contained,
    /// It would be asked about, and the plan answers that.
    Covered,
    /// It is asked about although the plan declares it.
    Asked,
    /// It is refused.
    Denied,
}

impl Comes {
    fn word(self) -> &'static str {
        match self {
            Comes::Runs => "allowed",
            Comes::Contained => "contained",
            Comes::Covered => "covered",
            Comes::Asked => "still asked",
            Comes::Denied => "denied",
        }
    }
}

/// One declaration, judged.
struct Line {
    phase: usize,
    kind: &'static str,
    word: String,
    comes: Comes,
    /// The decision that says why.
    why: Decision,
}

/// A plan, judged.
pub(super) struct Checked {
    lines: Vec<Line>,
}

impl Checked {
    pub(super) fn of(
        engine: &Engine,
        read: &Read,
        directory: &Path,
        session: &str,
    ) -> anyhow::Result<Self> {
        let kept = SessionSource::Kept(session.to_owned());
        let mut without = engine.session(&kept)?.state().clone();
        without.plan = None;
        let with = SessionState {
            plan: Some(OpenPlan {
                until: SOME_DAY.into(),
                ..read.plan.clone()
            }),
            ..without.clone()
        };
        let caller = |state: SessionState| {
            Arc::new(Caller {
                agent: "plan".into(),
                session_name: Some(session.to_owned()),
                policy: engine.layers(directory),
                session: SessionSource::Given(Box::new(state)),
                workspace: directory.to_owned(),
                can_contain: true,
                circumstances: Context::default(),
            })
        };
        let (without, with) = (caller(without), caller(with));
        let mut lines = Vec::new();
        for (number, phase) in (1..).zip(&read.plan.phases) {
            for (kind, word, calls) in calls_of(phase, directory)? {
                let mut line: Option<Line> = None;
                for call in calls {
                    let call = call.in_directory(read.plan.workspace.as_str());
                    let alone = engine.decide(call.clone(), Arc::clone(&without))?;
                    let planned = engine.decide(call, Arc::clone(&with))?;
                    let (alone, planned) = (alone.without_secrets(), planned.without_secrets());
                    let comes = comes(alone.verdict, planned.verdict);
                    if line.as_ref().is_some_and(|known| known.comes >= comes) {
                        continue;
                    }
                    line = Some(Line {
                        phase: number,
                        kind,
                        word: word.clone(),
                        comes,
                        why: if comes >= Comes::Asked {
                            planned
                        } else {
                            alone
                        },
                    });
                }
                lines.extend(line);
            }
        }
        Ok(Self { lines })
    }

    /// The worst of it.
    pub(super) fn exit(&self) -> Exit {
        match self.lines.iter().map(|line| line.comes).max() {
            Some(Comes::Denied) => Exit::Denied,
            Some(Comes::Asked) => Exit::Held,
            Some(Comes::Covered | Comes::Contained | Comes::Runs) | None => Exit::Fine,
        }
    }

    fn count(&self, comes: Comes) -> usize {
        self.lines.iter().filter(|line| line.comes == comes).count()
    }

    /// How many of each, in words.
    pub(super) fn summary(&self) -> String {
        let all = [
            Comes::Covered,
            Comes::Runs,
            Comes::Contained,
            Comes::Asked,
            Comes::Denied,
        ];
        let counts = all.map(|comes| (self.count(comes), comes.word()));
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let words: Vec<String> = counts
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        match words.is_empty() {
            true => "it declares nothing, so it covers nothing".into(),
            false => words.join(", "),
        }
    }

    pub(super) fn print(&self, read: &Read, terminal: &mut Terminal) -> anyhow::Result<()> {
        let out = &mut terminal.out;
        writeln!(
            out,
            "{}: {}",
            plain(&read.plan.name),
            plain(&read.plan.summary)
        )?;
        for (number, phase) in (1..).zip(&read.plan.phases) {
            writeln!(out, "{number}. {}", plain(&phase.name))?;
            for line in self.lines.iter().filter(|line| line.phase == number) {
                let (word, kind) = (line.comes.word(), line.kind);
                writeln!(out, "   {word:<11}  {kind:<7}  {}", plain(&line.word))?;
                if line.comes != Comes::Runs {
                    writeln!(out, "                {}", said(&line.why))?;
                }
            }
        }
        writeln!(out, "{}", self.summary())?;
        Ok(())
    }

    pub(super) fn json(&self, read: &Read) -> Value {
        let lines: Vec<Value> = (self.lines.iter())
            .map(|line| {
                json!({
                    "phase": line.phase, "kind": line.kind, "word": line.word,
                    "comes": line.comes.word(), "verdict": line.why.verdict,
                    "rule": line.why.rule, "reason": line.why.reason,
                })
            })
            .collect();
        json!({
            "v": 1, "file": read.name, "plan": read.plan.name, "digest": read.plan.digest,
            "workspace": read.plan.workspace, "declarations": lines,
        })
    }
}

fn said(decision: &Decision) -> String {
    match &decision.rule {
        Some(rule) => format!("{} ({})", plain(&decision.reason), plain(rule)),
        None => plain(&decision.reason),
    }
}

fn comes(alone: Verdict, planned: Verdict) -> Comes {
    match (alone, planned) {
        (_, Verdict::Deny) => Comes::Denied,
        (_, Verdict::Ask | Verdict::Review) => Comes::Asked,
        (_, Verdict::Contain) => Comes::Contained,
        (Verdict::Ask | Verdict::Review | Verdict::Deny, Verdict::Allow | Verdict::Notify) => {
            Comes::Covered
        }
        (Verdict::Allow | Verdict::Notify | Verdict::Contain, Verdict::Allow | Verdict::Notify) => {
            Comes::Runs
        }
    }
}

/// A declaration: its kind, how it is written, and calls that would need it.
type Declared = (&'static str, String, Vec<ToolCall>);

fn calls_of(phase: &OpenPhase, directory: &Path) -> anyhow::Result<Vec<Declared>> {
    let mut found = Vec::new();
    for pattern in &phase.commands {
        found.push(("command", pattern.clone(), commands(pattern)));
    }
    for tool in &phase.tools {
        let call = ToolCall::new(Glob::new(tool).example("x"), json!({}))?;
        found.push(("tool", tool.clone(), vec![call]));
    }
    for (kind, places) in [
        ("read", &phase.read),
        ("write", &phase.write),
        ("delete", &phase.delete),
    ] {
        for place in places {
            let path = example_in(place, directory);
            let call = match kind {
                "read" => ToolCall::new("Read", json!({"file_path": path})),
                "write" => ToolCall::new("Write", json!({"file_path": path, "content": "x\n"})),
                _ => ToolCall::new("Delete", json!({"path": path})),
            };
            found.push((kind, place.clone(), vec![call?]));
        }
    }
    for host in &phase.hosts {
        let name = Glob::new(host.trim_start_matches('.')).example("x");
        let url = format!("https://{name}/");
        let call = ToolCall::new("WebFetch", json!({"url": url, "prompt": "read it"}))?;
        found.push(("host", host.clone(), vec![call]));
    }
    Ok(found)
}

/// What a pattern for commands says, with some word and with nothing where it leaves something open.
fn commands(pattern: &str) -> Vec<ToolCall> {
    let glob = Glob::new(pattern);
    let mut lines = vec![glob.example("x"), glob.example("").trim_end().to_owned()];
    lines.dedup();
    lines.into_iter().map(ToolCall::shell).collect()
}

/// A file in a place that is declared.
fn example_in(place: &str, directory: &Path) -> String {
    let example = Glob::new(place).example("x");
    let plain = example == place;
    match plain && directory.join(place).is_dir() {
        true => format!("{}/x", example.trim_end_matches('/')),
        false => example,
    }
}
