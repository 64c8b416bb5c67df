//! Kiro: a hook file of a project, and our entries in the agents of the user and the project.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::setup::generated::{Generated, between};
use crate::setup::hooks::{Event, Hooks, OnFailure, TIMEOUT};
use crate::setup::{Around, Dialect, Host, Part, Scope, SetupError};
use crate::setup::{Call, command_line, probe};

/// Amazon's Kiro.
pub(crate) struct Kiro;

/// In an agent's file (CLI 2). Nothing but exit code 2 stops a call there, and there is no switch that
/// closes, so the line does.
static AGENT: Hooks = Hooks {
    agent: "kiro",
    grouped: false,
    typed: false,
    command: "command",
    apart: false,
    called: None,
    version: None,
    events: &[Event {
        name: "preToolUse",
        matcher: Some("*"),
        timeout: Some(("timeout_ms", TIMEOUT * 1000)),
        on_failure: OnFailure::Close,
    }],
    narrowing: &["cache_ttl_seconds"],
    hindrance: |_| None,
};

/// A project's hook, for all agents (CLI 3 and the editor).
static HOOK: Generated = Generated {
    event: Some("PreToolUse"),
    text: |program| {
        let line = json!(command_line::closing(program, "kiro"));
        format!(
            "{{\n  \"version\": \"v1\",\n  \"hooks\": [\n    {{\n      \"name\": \"holdpoint\",\n      \
             \"description\": \"Asks Holdpoint before each tool call (written by holdpoint init)\",\n      \
             \"trigger\": \"PreToolUse\",\n      \"matcher\": \".*\",\n      \
             \"action\": {{ \"type\": \"command\", \"command\": {line} }},\n      \
             \"timeout\": {TIMEOUT},\n      \"enabled\": true\n    }}\n  ]\n}}\n"
        )
    },
    call: |text| {
        let line = between(text, "\"command\", \"command\": ", " },")?;
        serde_json::from_str(line).ok().map(Call::Line)
    },
    is_run: false,
    is_json: true,
};

impl Host for Kiro {
    fn name(&self) -> &'static str {
        AGENT.agent
    }

    fn title(&self) -> &'static str {
        "Kiro"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["kiro", "kiro-cli"]
    }

    fn home(&self, around: &Around) -> Option<PathBuf> {
        around.in_home(".kiro")
    }

    fn parts(
        &self,
        scope: Scope,
        around: &Around,
        _program: &str,
    ) -> Result<Vec<Part>, SetupError> {
        match scope {
            Scope::User => {
                let home = self.home(around).ok_or(SetupError::NoHome)?;
                let agents = agents_in(&home.join("agents"));
                match agents.is_empty() {
                    false => Ok(agents),
                    true => Err(SetupError::NoSuchScope(
                        "Kiro without agents of your own",
                        scope.name(),
                        "project",
                    )),
                }
            }
            Scope::Project => {
                let base = around.directory.join(".kiro");
                let mut parts = vec![Part::of(base.join("hooks/holdpoint.json"), &HOOK)];
                parts.extend(agents_in(&base.join("agents")));
                Ok(parts)
            }
            Scope::Local | Scope::Managed => Err(SetupError::NoSuchScope(
                self.title(),
                scope.name(),
                "user or project",
            )),
        }
    }

    fn canary(&self, directory: &Path) -> Value {
        probe::common("preToolUse", "execute_bash", directory)
    }

    fn dialect(&self) -> Dialect {
        Dialect::ExitCode
    }

    fn switched_off_by(&self, _scope: Scope) -> Option<&'static str> {
        Some("whoever may write the file, or uses an agent without the entry")
    }

    fn remark(&self, scope: Scope) -> Option<&'static str> {
        match scope {
            Scope::User => Some(
                "Kiro's command line guards only the agents that have the entry: its own default agent is not one of them",
            ),
            Scope::Project | Scope::Local | Scope::Managed => None,
        }
    }
}

/// The agents in a directory, in the order of their names.
fn agents_in(directory: &Path) -> Vec<Part> {
    let found = fs::read_dir(directory).into_iter().flatten();
    let mut files: Vec<PathBuf> = found
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect();
    files.sort();
    files
        .into_iter()
        .map(|file| Part::of(file, &AGENT))
        .collect()
}
