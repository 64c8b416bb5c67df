//! Windsurf's `hooks.json`: our entries among its hooks.

use serde_json::json;

use crate::setup::hooks::{Event, Hooks, OnFailure};
use crate::setup::{Dialect, Files, Host, Places, Switch, probe};

/// Windsurf's Cascade.
pub(crate) static HOST: Host = Host {
    name: "windsurf",
    title: "Windsurf",
    programs: &["windsurf"],
    home: |around| around.in_home(".codeium/windsurf"),
    files: Files::One(
        Places {
            user: "hooks.json",
            project: ".windsurf/hooks.json",
            local: None,
            managed: Some("windsurf/hooks.json"),
        },
        &HOOKS,
    ),
    switched_off_by: Switch::unless_managed("whoever may write the file"),
    canary: |directory| {
        json!({
            "agent_action_name": "pre_run_command",
            "trajectory_id": probe::SESSION,
            "execution_id": probe::SESSION,
            "tool_info": {
                "command_line": probe::CANARY,
                "cwd": directory.display().to_string(),
            },
        })
    },
    dialect: Dialect::ExitCode,
    shows_results: false,
    remark: None,
};

/// Nothing but exit code 2 stops a call there, and there is no switch that closes, so the line does.
static HOOKS: Hooks = Hooks {
    agent: "windsurf",
    events: &[
        Event::new("pre_run_command", None, None, OnFailure::Close),
        Event::new("pre_write_code", None, None, OnFailure::Close),
        Event::new("pre_read_code", None, None, OnFailure::Close),
        Event::new("pre_mcp_tool_use", None, None, OnFailure::Close),
    ],
    ..Hooks::FLAT
};
