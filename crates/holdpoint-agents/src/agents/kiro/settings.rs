//! Kiro: a hook file of a project, and our entries in the agents of the user and the project.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::setup::generated::{Generated, between};
use crate::setup::hooks::{Event, Hooks, OnFailure, TIMEOUT, TIMEOUT_OF_TEXT};
use crate::setup::{Around, Call, Dialect, Files, Host, Part, Scope, SetupError, Switch};
use crate::setup::{command_line, probe};

/// Amazon's Kiro.
pub(crate) static HOST: Host = Host {
    name: "kiro",
    title: "Kiro",
    programs: &["kiro", "kiro-cli"],
    home: |around| around.in_home(".kiro"),
    files: Files::Own(hook_and_agents),
    switched_off_by: Switch::everywhere(
        "whoever may write the file, or uses an agent without the entry",
    ),
    canary: |directory| probe::common("preToolUse", "execute_bash", directory),
    dialect: Dialect::ExitCode,
    shows_results: false,
    remark: Some((
        Scope::User,
        "Kiro's command line guards only the agents that have the entry: its own default agent is not one of them",
    )),
};

/// In an agent's file (CLI 2). Nothing but exit code 2 stops a call there, and there is no switch that
/// closes, so the line does.
static AGENT: Hooks = Hooks {
    agent: "kiro",
    events: &[
        Event::new(
            "preToolUse",
            Some("*"),
            Some(("timeout_ms", TIMEOUT * 1000)),
            OnFailure::Close,
        ),
        Event::new(
            "stop",
            None,
            Some(("timeout_ms", TIMEOUT_OF_TEXT * 1000)),
            OnFailure::Silent,
        ),
    ],
    forbidden_keys: &["cache_ttl_seconds"],
    ..Hooks::FLAT
};

/// A project's hook, for all agents (CLI 3 and the editor). It asks about calls only: whether those know a trigger at the end of a
/// turn is not known here, and a file with one they do not know might count for nothing.
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

/// The files of a scope: those of its agents, and in a project the hook for all of them.
fn hook_and_agents(
    host: &Host,
    scope: Scope,
    around: &Around,
    _: &str,
) -> Result<Vec<Part>, SetupError> {
    let none = |title, known| Err(SetupError::NoSuchScope(title, scope.name(), known));
    match scope {
        Scope::User => {
            let home = host.home(around).ok_or(SetupError::NoHome)?;
            let agents = agents_in(&home.join("agents"));
            match agents.is_empty() {
                false => Ok(agents),
                true => none("Kiro without agents of your own", "project"),
            }
        }
        Scope::Project => {
            let base = around.directory.join(".kiro");
            let mut parts = vec![Part::new(base.join("hooks/holdpoint.json"), &HOOK)];
            parts.extend(agents_in(&base.join("agents")));
            Ok(parts)
        }
        Scope::Local | Scope::Managed => none(host.title, "user or project"),
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
        .map(|file| Part::new(file, &AGENT))
        .collect()
}
