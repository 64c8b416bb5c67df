//! What the ledger says of a run inside the sandbox: what bounded it, how it ended, what it was refused and which hosts it
//! reached.

use std::path::Path;
use std::time::Duration;

use holdpoint_core::Policy;
use holdpoint_core::text::redaction::Redactor;
use holdpoint_ledger::{Detail, Digest, Durability, Entry, Kind, Sandbox};
use serde_json::{Map, Value, json};

use super::{RecordError, Recorder};
use crate::containing::{Ended, NetworkLayer, PutRight, Ran, Refusal, Tier};
use crate::excerpt::{brief, recorded};

/// The most refusals and hosts that are recorded one by one: a person reads no more. The rest are counted.
const MAX_LISTED: usize = 20;

/// A run inside the sandbox, and whose it was.
#[derive(Clone, Copy, Debug)]
pub struct ContainedRun<'a> {
    /// The agent whose call it was, or the program a person used.
    pub agent: &'a str,
    /// Its session.
    pub session: Option<&'a str>,
    /// The directory it started in.
    pub directory: &'a Path,
    /// The tool of the call.
    pub tool: &'a str,
    /// The digest of the call, by which the record of the decision is found.
    pub call: Option<&'a str>,
    /// What was run, where no decision says so.
    pub command: Option<&'a str>,
    /// What came of it.
    pub ran: &'a Ran,
    /// How long it took.
    pub took: Duration,
    /// What it left that git would have run.
    pub right: &'a PutRight,
}

impl Recorder {
    /// Records what came of a run inside the sandbox.
    pub fn contained(&self, run: &ContainedRun<'_>, policy: &Policy) -> Result<(), RecordError> {
        let entry = entry(run, &self.redactor(policy)?);
        self.ledger.append(&entry, Durability::Written)?;
        Ok(())
    }
}

fn entry(run: &ContainedRun<'_>, redactor: &Redactor) -> Entry {
    let text = |text: &str| brief(redactor, text);
    let command = run.command.map(|line| json!({ "command": line }));
    Entry {
        agent: Some(text(run.agent)),
        session: run.session.map(text),
        directory: Some(text(&run.directory.to_string_lossy())),
        tool: Some(text(run.tool)),
        reason: Some(text(&summary(run.ran))),
        call: run.call.and_then(Digest::parse),
        input: command.map(|input| recorded(redactor, &input)),
        duration: Some(run.took),
        sandbox: Some(match run.ran.tier {
            Tier::None => Sandbox::None,
            Tier::Landlock => Sandbox::Landlock,
            Tier::Full => Sandbox::Full,
        }),
        detail: Some(Detail::Of(recorded(redactor, &detail(run.ran, run.right)))),
        ..Entry::new(Kind::Result)
    }
}

/// One line for whoever reads the list of records.
fn summary(ran: &Ran) -> String {
    let ended = match ran.ended {
        Ended::Exited(code) => format!("it ended with exit code {code}"),
        Ended::Signalled(signal) => format!("signal {signal} ended it"),
        Ended::OutOfTime => "its time was up".into(),
        Ended::TooMuchOutput => "it wrote more than it may".into(),
        Ended::Stopped => "a person stopped it".into(),
    };
    let refused = u64::try_from(ran.refusals.len()).unwrap_or(u64::MAX);
    match refused.saturating_add(ran.refusals_left_out) {
        0 => format!("contained ({}): {ended}", ran.tier),
        count => format!("contained ({}): {ended}; {count} refused inside", ran.tier),
    }
}

fn detail(ran: &Ran, right: &PutRight) -> Value {
    let mut detail = Map::new();
    let mut say = |name: &str, value: Value| detail.insert(name.into(), value);
    match ran.ended {
        Ended::Exited(code) => {
            say("ended", json!("exited"));
            say("code", json!(code));
        }
        Ended::Signalled(signal) => {
            say("ended", json!("signalled"));
            say("signal", json!(signal));
        }
        Ended::OutOfTime => {
            say("ended", json!("out_of_time"));
        }
        Ended::TooMuchOutput => {
            say("ended", json!("too_much_output"));
        }
        Ended::Stopped => {
            say("ended", json!("stopped"));
        }
    }
    if let Some(below) = &ran.below {
        say("below_full", json!(below));
    }
    say("layers", layers(ran));
    let words = |limits: &[crate::containing::Reached]| -> Value {
        limits.iter().map(|limit| json!(limit.as_str())).collect()
    };
    for (name, limits) in [
        ("limits_reached", &ran.reached),
        ("limits_not_enforced", &ran.unenforced),
    ] {
        if !limits.is_empty() {
            say(name, words(limits));
        }
    }
    if !ran.refusals.is_empty() {
        let refused = ran.refusals.iter().take(MAX_LISTED).map(refusal);
        say("refused", refused.collect());
    }
    let more = u64::try_from(ran.refusals.len().saturating_sub(MAX_LISTED)).unwrap_or(u64::MAX);
    let more = more.saturating_add(ran.refusals_left_out);
    if more > 0 {
        say("refused_besides", json!(more));
    }
    if !ran.hidden.is_empty() {
        let hidden = ran.hidden.iter().take(MAX_LISTED);
        let hidden = hidden.map(|path| json!(path.to_string_lossy()));
        say("not_found_inside", hidden.collect());
    }
    if !ran.replaced.is_empty() {
        let replaced = ran.replaced.iter().take(MAX_LISTED);
        let replaced = replaced.map(|path| json!(path.to_string_lossy()));
        say("replaced_outside", replaced.collect());
    }
    if !ran.opened.is_empty() {
        let opened = ran.opened.iter().take(MAX_LISTED).map(|one| {
            json!({"host": one.name, "port": one.port, "sent": one.sent, "received": one.received})
        });
        say("hosts", opened.collect());
    }
    if !right.aside.is_empty() {
        let aside = right.aside.iter().take(MAX_LISTED).map(|one| {
            json!({"file": one.file.to_string_lossy(), "kept_as": one.kept_as.to_string_lossy(),
                "why": one.why, "restored": one.restored})
        });
        say("put_aside", aside.collect());
    }
    if !right.failed.is_empty() {
        let failed = right.failed.iter().take(MAX_LISTED);
        let failed = failed.map(|(file, why)| json!({"file": file.to_string_lossy(), "why": why}));
        say("not_put_aside", failed.collect());
    }
    Value::Object(detail)
}

/// Each wall that stood, by its name.
fn layers(ran: &Ran) -> Value {
    let layers = &ran.layers;
    let limits: Vec<&str> = layers.groups.iter().map(|limit| limit.as_str()).collect();
    json!({
        "users": layers.users,
        "mounts": layers.mounts,
        "processes": layers.processes,
        "network": match layers.network {
            NetworkLayer::Shut => "shut",
            NetworkLayer::Own => "own",
            NetworkLayer::Joined => "session",
        },
        "landlock": layers.landlock,
        "system_calls": layers.filter,
        "groups": limits,
        "bubblewrap": layers.bubblewrap,
    })
}

fn refusal(refusal: &Refusal) -> Value {
    let mut said = match refusal {
        Refusal::Write(path) => json!({"write": path.to_string_lossy()}),
        Refusal::Protected(path) => json!({"protected": path.to_string_lossy()}),
        Refusal::Host { name, port, reason } => {
            json!({"host": name, "port": port, "why": reason.words()})
        }
        Refusal::Call(name) => json!({"call": name}),
    };
    if let (Some(key), Some(said)) = (refusal.allowed_by(), said.as_object_mut()) {
        said.insert("allowed_by".into(), json!(format!("sandbox.{key}")));
    }
    said
}
