//! Windsurf's `hooks.json`: our entries among its hooks.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::setup::hooks::{Event, Hooks, OnFailure};
use crate::setup::probe;
use crate::setup::{Around, Dialect, Host, Part, Places, Scope, SetupError};

/// Windsurf's Cascade.
pub(crate) struct Windsurf;

const fn event(name: &'static str) -> Event {
    Event {
        name,
        matcher: None,
        timeout: None,
        on_failure: OnFailure::Close,
    }
}

/// Nothing but exit code 2 stops a call there, and there is no switch that closes, so the line does.
static HOOKS: Hooks = Hooks {
    agent: "windsurf",
    grouped: false,
    typed: false,
    command: "command",
    apart: false,
    called: None,
    version: None,
    events: &[
        event("pre_run_command"),
        event("pre_write_code"),
        event("pre_read_code"),
        event("pre_mcp_tool_use"),
    ],
    narrowing: &[],
    hindrance: |_| None,
};

const PLACES: Places = Places {
    user: "hooks.json",
    project: ".windsurf/hooks.json",
    managed: Some("windsurf/hooks.json"),
};

impl Host for Windsurf {
    fn name(&self) -> &'static str {
        HOOKS.agent
    }

    fn title(&self) -> &'static str {
        "Windsurf"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["windsurf"]
    }

    fn home(&self, around: &Around) -> Option<PathBuf> {
        around.in_home(".codeium/windsurf")
    }

    fn parts(
        &self,
        scope: Scope,
        around: &Around,
        _program: &str,
    ) -> Result<Vec<Part>, SetupError> {
        let path = PLACES.of(self, scope, around)?;
        Ok(vec![Part::of(path, &HOOKS)])
    }

    fn canary(&self, directory: &Path) -> Value {
        json!({
            "agent_action_name": "pre_run_command",
            "trajectory_id": probe::SESSION,
            "execution_id": probe::SESSION,
            "tool_info": {
                "command_line": probe::CANARY,
                "cwd": directory.display().to_string(),
            },
        })
    }

    fn dialect(&self) -> Dialect {
        Dialect::ExitCode
    }

    fn switched_off_by(&self, scope: Scope) -> Option<&'static str> {
        match scope {
            Scope::Managed => None,
            Scope::User | Scope::Project | Scope::Local => Some("whoever may write the file"),
        }
    }
}
