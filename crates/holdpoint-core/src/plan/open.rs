//! A plan that a person has released: what a session remembers of it, and the rules it comes to.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::manifest::{Manifest, Phase};
use super::packages;
use super::words::is_wild;
use crate::call::digest_of;
use crate::glob::Glob;
use crate::policy::HostPattern;
use crate::policy::RuleList;
use crate::policy::files::FileGuard;
use crate::policy::rules::Rules;
use crate::policy::{FileRules, Files};
use crate::text::escape_for_display;

/// The tool a person is asked by whether a plan may be opened. It is never covered by anything.
pub const TOOL: &str = "HoldpointPlan";

/// The argument of that tool: the plan as a person is shown it.
pub const SHOWN: &str = "plan";

/// The rule that asks about what is not in a plan.
pub const OUTSIDE: &str = "plan.outside";

/// The name of what covers the packages of a plan.
const PACKAGES: &str = "packages";

/// What a session remembers of a plan while it is open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenPlan {
    /// Its name.
    pub name: String,
    /// What is to be achieved.
    pub summary: String,
    /// The digest of the manifest it was made of.
    pub digest: String,
    /// The directory it holds in.
    pub workspace: String,
    /// When it ends by itself, as RFC 3339 has it.
    pub until: String,
    /// Its phases, and last the packages it installs.
    pub phases: Vec<OpenPhase>,
    /// Calls that were held or refused because they are not in it.
    #[serde(default)]
    pub outside: u64,
}

/// What a phase covers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OpenPhase {
    /// What it is called.
    pub name: String,
    /// Patterns over commands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Names of tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Places that are read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// Places that are written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub write: Vec<String>,
    /// Places that are removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub delete: Vec<String>,
    /// Hosts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// The calls it has covered.
    pub covered: u64,
}

impl Manifest {
    /// The plan a session remembers once a person has released it. `bytes` is the manifest as it was read.
    pub fn opened(&self, bytes: &[u8], workspace: &str, until: &str) -> OpenPlan {
        let mut phases: Vec<OpenPhase> = self.plan.phases.iter().map(OpenPhase::of).collect();
        let installs = self.dependencies.new_packages.iter();
        let installs: Vec<String> = installs.filter_map(packages::commands).flatten().collect();
        if !installs.is_empty() {
            phases.push(OpenPhase {
                name: PACKAGES.into(),
                commands: installs.iter().map(|line| Glob::escape(line)).collect(),
                ..OpenPhase::default()
            });
        }
        OpenPlan {
            name: self.meta.epic_id.clone(),
            summary: self.objective.summary.clone(),
            digest: digest_of(bytes),
            workspace: workspace.to_owned(),
            until: until.to_owned(),
            phases,
            outside: 0,
        }
    }
}

impl OpenPhase {
    fn of(phase: &Phase) -> Self {
        let needed = phase.tools_and_resources.iter();
        let needed: Vec<&String> = needed.flat_map(|one| &one.permissions_required).collect();
        let tools = needed.iter().filter_map(|one| one.strip_prefix("tool:"));
        let commands = needed.iter().filter(|one| !one.starts_with("tool:"));
        Self {
            name: phase.name.clone(),
            commands: (phase.commands.iter())
                .chain(commands.copied())
                .cloned()
                .collect(),
            tools: (phase.tools.iter().cloned())
                .chain(tools.map(str::to_owned))
                .collect(),
            read: phase.paths.read.clone(),
            write: phase.paths.write.clone(),
            delete: phase.paths.delete.clone(),
            hosts: phase.hosts.clone(),
            covered: 0,
        }
    }

    fn lists(&self) -> [(&'static str, &Vec<String>); 6] {
        [
            ("commands", &self.commands),
            ("tools", &self.tools),
            ("reads", &self.read),
            ("writes", &self.write),
            ("deletes", &self.delete),
            ("hosts", &self.hosts),
        ]
    }
}

impl OpenPlan {
    /// What a person is shown before they release it for a time: all it will cover, and nothing shortened.
    pub fn shown(&self, lasts: &str) -> String {
        let plain = |text: &str| escape_for_display(text, usize::MAX);
        let mut text = format!(
            "{}: {}\nin {} for {lasts}\nmanifest {}\n",
            plain(&self.name),
            plain(&self.summary),
            plain(&self.workspace),
            plain(&self.digest),
        );
        for (number, phase) in (1..).zip(&self.phases) {
            // A text in memory takes whatever is written to it.
            let _ = writeln!(text, "\n{number}. {}", plain(&phase.name));
            for (what, words) in phase.lists() {
                for word in words {
                    let _ = writeln!(text, "   {what:<8}  {}", plain(word));
                }
            }
        }
        text
    }

    /// Counts a call by the rules that decided on it.
    pub fn note<'r>(&mut self, mut rules: impl Iterator<Item = &'r str>, is_outside: bool) {
        if is_outside {
            self.outside = self.outside.saturating_add(1);
            return;
        }
        let phase = rules.find_map(phase_of);
        if let Some(phase) = phase.and_then(|number| self.phases.get_mut(number.checked_sub(1)?)) {
            phase.covered = phase.covered.saturating_add(1);
        }
    }

    /// How many calls it has covered.
    pub fn covered(&self) -> u64 {
        let counts = self.phases.iter().map(|phase| phase.covered);
        counts.fold(0, u64::saturating_add)
    }
}

/// The phase a rule of a plan belongs to: `plan:AUTH-12#2: cargo test *`.
fn phase_of(rule: &str) -> Option<usize> {
    let rest = rule.strip_prefix("plan:")?;
    let (_, rest) = rest.split_once('#')?;
    rest.split_once(':')?.0.parse().ok()
}

/// An open plan, ready to be matched.
#[derive(Clone, Debug)]
pub(crate) struct PlanRules {
    pub(crate) name: String,
    pub(crate) workspace: String,
    pub(crate) phases: Vec<PhaseRules>,
    /// The hosts of all phases.
    pub(crate) hosts: Vec<HostPattern>,
}

/// A phase, ready to be matched.
#[derive(Clone, Debug)]
pub(crate) struct PhaseRules {
    pub(crate) name: String,
    pub(crate) rules: Rules,
    /// Names of tools with wildcards. A list of rules takes names to the letter.
    pub(crate) wild_tools: Vec<(String, Glob)>,
    pub(crate) files: FileGuard,
    /// Lines without wildcards.
    pub(crate) lines: Vec<String>,
    pub(crate) hosts: Vec<HostPattern>,
}

impl PlanRules {
    pub(crate) fn new(plan: &OpenPlan) -> Self {
        let phases = plan.phases.iter();
        let phases: Vec<PhaseRules> = phases
            .map(|phase| PhaseRules::new(phase, &plan.workspace))
            .collect();
        let hosts = phases.iter().flat_map(|phase| phase.hosts.iter().cloned());
        Self {
            name: plan.name.clone(),
            workspace: plan.workspace.clone(),
            hosts: hosts.collect(),
            phases,
        }
    }
}

impl PhaseRules {
    fn new(phase: &OpenPhase, workspace: &str) -> Self {
        let (wild_tools, tools): (Vec<String>, Vec<String>) =
            (phase.tools.iter().cloned()).partition(|name| is_wild(name));
        let list = RuleList {
            tools,
            patterns: phase.commands.clone(),
            ..RuleList::default()
        };
        let allowing = |patterns: Vec<String>| FileRules {
            allow: patterns,
            ..FileRules::default()
        };
        let places = |patterns: &[String]| -> Vec<String> {
            let patterns = patterns.iter();
            patterns.map(|one| in_workspace(one, workspace)).collect()
        };
        let hosts = phase.hosts.iter();
        let written = places(&phase.write);
        let mut read = places(&phase.read);
        read.extend(written.iter().cloned());
        Self {
            name: phase.name.clone(),
            rules: Rules::new([&list]),
            wild_tools: (wild_tools.into_iter())
                .map(|name| (name.clone(), Glob::new(&name)))
                .collect(),
            lines: (phase.commands.iter())
                .filter_map(|pattern| Glob::new(pattern).only())
                .collect(),
            hosts: hosts
                .filter_map(|host| HostPattern::read(host).ok())
                .collect(),
            files: FileGuard::new(&Files {
                read: allowing(read),
                write: allowing(written),
                delete: allowing(places(&phase.delete)),
                ..Files::default()
            }),
        }
    }
}

/// A place as a whole path: a bare name is a file of the workspace, not every file of that name.
fn in_workspace(pattern: &str, workspace: &str) -> String {
    match pattern.starts_with(['/', '~']) {
        true => pattern.to_owned(),
        false => {
            let inside = pattern.trim_start_matches("./");
            let inside = match inside {
                "." | "" => "**",
                inside => inside,
            };
            let workspace = workspace.trim_end_matches('/');
            format!("{}/{inside}", Glob::escape(workspace))
        }
    }
}
