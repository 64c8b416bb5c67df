//! Copilot CLI: a file of our own among its hooks.

use serde_json::json;

use crate::setup::hooks::{Event, Hooks, OnFailure, TIMEOUT, TIMEOUT_OF_TEXT};
use crate::setup::own_file::OwnFile;
use crate::setup::{Dialect, Files, Host, Places, Scope, Switch, probe};

/// GitHub's Copilot CLI.
pub(crate) static HOST: Host = Host {
    name: "copilot",
    title: "Copilot CLI",
    programs: &["copilot"],
    home: |around| around.moved("COPILOT_HOME", ".copilot"),
    files: Files::One(
        Places {
            user: "hooks/holdpoint.json",
            project: ".github/hooks/holdpoint.json",
            local: None,
            managed: Some("github-copilot/policy.d/holdpoint.json"),
        },
        &FILE,
    ),
    switched_off_by: Switch::unless_managed("`disableAllHooks` in any settings"),
    canary: |directory| {
        json!({
            "sessionId": probe::SESSION,
            "cwd": directory.display().to_string(),
            "toolName": "bash",
            "toolArgs": { "command": probe::CANARY },
        })
    },
    dialect: Dialect::Copilot,
    shows_results: true,
    remark: Some((
        Scope::Project,
        "Copilot's cloud agent does not run this entry: the program is not on its machine",
    )),
};

static FILE: OwnFile<&Hooks> = OwnFile(&HOOKS);

/// A hook that fails denies there; one that is too slow does not. The case of an event's name
/// chooses the words of payload and answer.
static HOOKS: Hooks = Hooks {
    agent: "copilot",
    typed: true,
    command: "exec",
    args_separate: true,
    version: Some(1),
    events: &[
        Event::new("preToolUse", None, ASKING, OnFailure::GoOn),
        Event::new("postToolUse", None, READING, OnFailure::GoOn),
        Event::new("agentStop", None, READING, OnFailure::GoOn),
    ],
    ..Hooks::FLAT
};

const ASKING: Option<(&str, u64)> = Some(("timeoutSec", TIMEOUT));
const READING: Option<(&str, u64)> = Some(("timeoutSec", TIMEOUT_OF_TEXT));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::Form;

    #[test]
    fn the_file_is_made_whole() {
        let (after, _) = HOOKS.registered("", "/opt/holdpoint").unwrap();
        let value: serde_json::Value = serde_json::from_str(&after).unwrap();
        assert_eq!(
            value,
            serde_json::json!({"version": 1, "hooks": {"preToolUse": [{
                "type": "command", "exec": "/opt/holdpoint", "args": ["hook", "copilot"],
                "timeoutSec": 600
            }], "postToolUse": [{
                "type": "command", "exec": "/opt/holdpoint", "args": ["hook", "copilot"],
                "timeoutSec": 30
            }], "agentStop": [{
                "type": "command", "exec": "/opt/holdpoint", "args": ["hook", "copilot"],
                "timeoutSec": 30
            }]}})
        );
    }
}
