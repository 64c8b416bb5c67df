//! Copilot CLI: a file of our own among its hooks.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::setup::hooks::{Event, Hooks, OnFailure, TIMEOUT, TIMEOUT_OF_TEXT};
use crate::setup::own_file::OwnFile;
use crate::setup::probe;
use crate::setup::{Around, Dialect, Host, Part, Places, Scope, SetupError};

/// GitHub's Copilot CLI.
pub(crate) struct Copilot;

/// A hook that fails denies there; one that is too slow does not. The case of an event's name
/// chooses the words of payload and answer.
static HOOKS: Hooks = Hooks {
    agent: "copilot",
    grouped: false,
    typed: true,
    command: "exec",
    apart: true,
    called: None,
    version: Some(1),
    events: &[
        Event {
            name: "preToolUse",
            matcher: None,
            timeout: Some(("timeoutSec", TIMEOUT)),
            on_failure: OnFailure::GoOn,
        },
        Event {
            name: "postToolUse",
            matcher: None,
            timeout: Some(("timeoutSec", TIMEOUT_OF_TEXT)),
            on_failure: OnFailure::GoOn,
        },
    ],
    narrowing: &[],
    hindrance: |_| None,
};

const PLACES: Places = Places {
    user: "hooks/holdpoint.json",
    project: ".github/hooks/holdpoint.json",
    managed: Some("github-copilot/policy.d/holdpoint.json"),
};

impl Host for Copilot {
    fn name(&self) -> &'static str {
        HOOKS.agent
    }

    fn title(&self) -> &'static str {
        "Copilot CLI"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["copilot"]
    }

    fn home(&self, around: &Around) -> Option<PathBuf> {
        around.moved("COPILOT_HOME", ".copilot")
    }

    fn parts(
        &self,
        scope: Scope,
        around: &Around,
        _program: &str,
    ) -> Result<Vec<Part>, SetupError> {
        let path = PLACES.of(self, scope, around)?;
        Ok(vec![Part::of(path, OwnFile(&HOOKS))])
    }

    fn canary(&self, directory: &Path) -> Value {
        json!({
            "sessionId": probe::SESSION,
            "cwd": directory.display().to_string(),
            "toolName": "bash",
            "toolArgs": { "command": probe::CANARY },
        })
    }

    fn dialect(&self) -> Dialect {
        Dialect::Copilot
    }

    fn shows_results(&self) -> bool {
        true
    }

    fn switched_off_by(&self, scope: Scope) -> Option<&'static str> {
        match scope {
            Scope::Managed => None,
            Scope::User | Scope::Project | Scope::Local => {
                Some("`disableAllHooks` in any settings")
            }
        }
    }

    fn remark(&self, scope: Scope) -> Option<&'static str> {
        match scope {
            Scope::Project => Some(
                "Copilot's cloud agent does not run this entry: the program is not on its machine",
            ),
            Scope::User | Scope::Local | Scope::Managed => None,
        }
    }
}

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
            }]}})
        );
    }
}
