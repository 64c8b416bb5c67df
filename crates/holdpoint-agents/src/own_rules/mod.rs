//! The rules an agent has of its own against commands: what its user has told it never to run, or not without asking.
//!
//! An agent judges the line it is about to run. A line that Holdpoint has wrapped is another one, and a rule against the
//! command in it no longer matches. So a line is wrapped only where no such rule could have matched it as it was. Each
//! agent's folder says where its rules are and what they look like; this is what they share. The answer errs on one
//! side: what cannot be read, and what cannot be told, is never [`MayMatch::No`].

pub(crate) mod layers;
pub(crate) mod pattern;
mod process;
#[cfg(test)]
mod tests;

use std::path::Path;

use holdpoint_core::{Explained, ExplainedCommand};

use self::pattern::Pattern;
pub use self::process::{AgentProcess, ancestors};
use crate::agents::Agent;
pub use crate::agents::codex::starlark::{PrefixRule, prefix_rules as codex_rules};
use crate::setup::Around;

/// Whether a rule of the agent's own may match a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MayMatch {
    /// None does.
    No,
    /// This one may.
    Yes(String),
    /// Nobody can tell, for this reason.
    Unknown(String),
}

/// A command line, as far as it is understood.
#[derive(Clone, Debug)]
pub struct CommandLine {
    /// Lower case: the line as it is, without quotes, and each command of it.
    pub(crate) forms: Vec<String>,
    /// The words of its commands.
    pub(crate) words: Vec<String>,
    /// Lower case: where it runs, which its paths may begin with.
    pub(crate) directory: String,
    /// Whether all of it could be taken apart, down to the names of its programs.
    understood: bool,
}

impl CommandLine {
    /// A line, what was understood of it, and where it runs.
    pub fn new(line: &str, explained: &Explained, directory: &Path) -> Self {
        // What stands in a script the agent has not seen either.
        let commands = || explained.commands.iter().filter(|one| one.file.is_none());
        let known = |command: &ExplainedCommand| {
            if command.unknown.is_some() && !command.open.is_empty() {
                return false;
            }
            let name = command.words.first();
            name.is_some_and(|name| !command.open.contains(name) && !name.contains(['…', '$', '`']))
        };
        let mut forms = vec![line.to_lowercase(), unquoted(line)];
        forms.extend(commands().map(|command| command.words.join(" ").to_lowercase()));
        Self {
            forms,
            directory: directory.to_string_lossy().to_lowercase(),
            words: commands().flat_map(|one| one.words.clone()).collect(),
            understood: explained.unreadable.is_none()
                && commands().next().is_some()
                && commands().all(known),
        }
    }
}

/// A line without what quotes: joined where it goes on, without quotes and backslashes.
fn unquoted(line: &str) -> String {
    line.replace("\\\n", "")
        .replace(['\'', '"', '\\'], "")
        .to_lowercase()
}

/// Where an agent runs, and how it was started.
pub struct Circumstances<'a> {
    /// Its settings; the directory is the one it was started in.
    pub around: &'a Around,
    /// The directory it stands in.
    pub standing: &'a Path,
    /// What it calls the way it asks its user now, if it says.
    pub mode: Option<&'a str>,
    /// The processes that started this one, the nearest first.
    pub processes: &'a Result<Vec<AgentProcess>, String>,
}

impl Circumstances<'_> {
    /// The directories settings of a project may lie in: those the agent stands and belongs in, and all above.
    pub(crate) fn project_directories(&self) -> Vec<&Path> {
        let mut all: Vec<&Path> = Vec::new();
        let belongs = self.around.directory.ancestors();
        for directory in belongs.chain(self.standing.ancestors()) {
            if !all.contains(&directory) {
                all.push(directory);
            }
        }
        all
    }

    /// The arguments the agent was started with, its program having one of these names; an error if it is not found.
    /// Those of the shells between it and the hook are among them.
    pub(crate) fn arguments(&self, names: &[&str]) -> Result<Vec<&[String]>, String> {
        let processes = self.processes.as_ref().map_err(Clone::clone)?;
        let Some(last) = processes.iter().rposition(|one| one.is_called(names)) else {
            return Err("the agent's own process was not found, so its flags are not known".into());
        };
        let own = processes.iter().take(last + 1);
        own.map(|one| match one.is_overwritten && one.is_called(names) {
            true => Err("the agent has overwritten the flags it was started with".into()),
            false => Ok(one.arguments.as_slice()),
        })
        .collect()
    }
}

/// The rules of an agent that were found.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    patterns: Vec<Pattern>,
    /// Why it is not known whether these are all.
    unread: Option<String>,
}

impl Rules {
    pub(crate) fn add(&mut self, pattern: Pattern) {
        self.patterns.push(pattern);
    }

    /// Notes that something could not be read.
    pub(crate) fn unread(&mut self, reason: impl Into<String>) {
        self.unread.get_or_insert(reason.into());
    }

    /// What was found, or why it could not be read.
    pub(crate) fn add_all(&mut self, found: Result<Vec<Pattern>, String>) {
        match found {
            Ok(found) => self.patterns.extend(found),
            Err(reason) => self.unread(reason),
        }
    }

    fn may_match(&self, line: &CommandLine) -> MayMatch {
        let found = self.patterns.iter().find(|one| one.may_match(line));
        match (found, &self.unread) {
            (Some(pattern), _) => MayMatch::Yes(pattern.said.clone()),
            (None, Some(reason)) => MayMatch::Unknown(reason.clone()),
            (None, None) if self.patterns.is_empty() || line.understood => MayMatch::No,
            (None, None) => MayMatch::Unknown(
                "it cannot be told which commands this line runs, and the agent has rules against some".into(),
            ),
        }
    }
}

impl Agent {
    /// Whether a command of the agent's can be wrapped at all: it takes another line in place of its own, and its own
    /// rules can be read.
    pub fn can_contain(self) -> bool {
        self.adapter().shell_tool().is_some()
    }

    /// Whether a rule of the agent's own, against a command or to ask about it, may match a line.
    pub fn own_rules(self, line: &CommandLine, around: &Circumstances<'_>) -> MayMatch {
        match self.adapter().own_rules(around) {
            Some(rules) => rules.may_match(line),
            None => MayMatch::Unknown("the agent's own rules cannot be read".into()),
        }
    }
}
