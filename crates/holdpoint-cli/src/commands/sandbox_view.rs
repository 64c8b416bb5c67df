//! What a command would be given inside the sandbox, as `run --plan` and `explain` show it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use holdpoint_engine::containing::{Limits, Plan, Tier};
use serde::Serialize;

use crate::terminal::escape_for_display;

/// The most characters of a path that are shown: as long as one can be.
const MAX_SHOWN: usize = 4096;

/// The room names take.
const NAMES: usize = 18;

/// What a command is given.
#[derive(Debug, Serialize)]
pub(crate) struct SandboxView {
    may_change: Vec<String>,
    reads_in_home: Vec<String>,
    does_not_find: Vec<String>,
    cannot_change: Vec<String>,
    finds_empty: Option<String>,
    hosts: Vec<String>,
    limits: LimitsView,
    /// The least that must bound it.
    floor: &'static str,
    /// What bounds it on this machine, and why that is no more.
    tier: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    below_full: Option<String>,
}

/// Limits, in seconds and bytes.
#[derive(Debug, Serialize)]
struct LimitsView {
    time: Option<u64>,
    memory: Option<u64>,
    output: Option<u64>,
    processes: u64,
    file_size: u64,
    temporary: u64,
}

impl LimitsView {
    fn from_limits(limits: &Limits) -> Self {
        Self {
            time: limits.time.map(|time| time.as_secs()),
            memory: limits.memory,
            output: limits.output,
            processes: limits.processes,
            file_size: limits.file_size,
            temporary: limits.temporary,
        }
    }

    fn words(&self) -> String {
        let mut words: Vec<String> = Vec::new();
        words.extend(self.time.map(|seconds| format!("{seconds} s")));
        for (name, bytes) in [
            ("memory", self.memory),
            ("output", self.output),
            ("a file", Some(self.file_size)),
            ("temporary files", Some(self.temporary)),
        ] {
            words.extend(bytes.map(|bytes| format!("{name} {} MiB", bytes >> 20)));
        }
        words.push(format!("{} processes", self.processes));
        let missing = [
            ("time", self.time.is_none()),
            ("memory", self.memory.is_none()),
            ("output", self.output.is_none()),
        ];
        let missing = missing.iter().filter(|(_, is)| *is).map(|(name, _)| *name);
        let missing = missing.collect::<Vec<_>>().join(", ");
        if !missing.is_empty() {
            words.push(format!("none of {missing}"));
        }
        words.join(", ")
    }
}

impl SandboxView {
    /// A plan on a machine that reaches this tier.
    pub(crate) fn from_plan(plan: &Plan, (tier, below): (Tier, Option<String>)) -> Self {
        let text = |path: &Path| path.display().to_string();
        let present = |paths: &[PathBuf]| -> Vec<String> {
            let there = paths.iter().filter(|path| path.exists());
            there.map(|path| text(path)).collect()
        };
        Self {
            may_change: present(&plan.writable),
            reads_in_home: present(&plan.readable),
            does_not_find: present(&plan.hidden),
            // What is protected is protected before it exists.
            cannot_change: plan.protected.iter().map(|path| text(path)).collect(),
            finds_empty: plan.home.as_deref().map(text),
            hosts: plan.hosts.iter().map(ToString::to_string).collect(),
            limits: LimitsView::from_limits(&plan.limits),
            floor: plan.floor.as_str(),
            tier: tier.as_str(),
            below_full: below,
        }
    }

    /// A line each.
    pub(crate) fn write(&self, indent: &str, out: &mut impl Write) -> io::Result<()> {
        let mut line = |name: &str, text: &str| -> io::Result<()> {
            writeln!(
                out,
                "{indent}{name:<NAMES$} {}",
                escape_for_display(text, MAX_SHOWN)
            )
        };
        for (name, paths) in [
            ("may change", &self.may_change),
            ("reads in the home", &self.reads_in_home),
            ("does not find", &self.does_not_find),
            ("cannot change", &self.cannot_change),
        ] {
            for path in paths {
                line(name, path)?;
            }
        }
        if let Some(home) = &self.finds_empty {
            line("finds empty", home)?;
        }
        let hosts = match self.hosts.as_slice() {
            [] => "none".to_owned(),
            // Whoever lists it has to know.
            hosts => format!("{} (what takes uploads is a way out)", hosts.join(", ")),
        };
        line("network", &format!("{hosts}; a loopback of its own"))?;
        line("limits", &self.limits.words())?;
        let below = self.below_full.as_ref();
        let below = below.map(|why| format!(" ({why})")).unwrap_or_default();
        line("sandbox here", &format!("{}{below}", self.tier))?;
        line("at least", self.floor)
    }
}
