//! Gemini CLI's `settings.json`: our entries among its hooks.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::setup::hooks::{Event, Hooks, OnFailure, TIMEOUT, TIMEOUT_OF_TEXT, plain_json};
use crate::setup::probe;
use crate::setup::{Around, Dialect, Host, Part, Places, Scope, SetupError};

/// Google's Gemini CLI.
pub(crate) struct Gemini;

/// Times are milliseconds. There is no switch that closes, so the line does.
static HOOKS: Hooks = Hooks {
    agent: "gemini",
    grouped: true,
    typed: true,
    command: "command",
    apart: false,
    called: Some("holdpoint"),
    version: None,
    events: &[
        Event {
            name: "BeforeTool",
            matcher: Some("*"),
            timeout: Some(("timeout", TIMEOUT * 1000)),
            on_failure: OnFailure::Close,
        },
        Event {
            name: "AfterTool",
            matcher: Some("*"),
            timeout: Some(("timeout", TIMEOUT_OF_TEXT * 1000)),
            on_failure: OnFailure::Close,
        },
        Event {
            name: "BeforeAgent",
            matcher: None,
            timeout: Some(("timeout", TIMEOUT_OF_TEXT * 1000)),
            on_failure: OnFailure::GoOn,
        },
    ],
    narrowing: &[],
    hindrance,
};

const PLACES: Places = Places {
    user: "settings.json",
    project: ".gemini/settings.json",
    managed: Some("gemini-cli/settings.json"),
};

impl Host for Gemini {
    fn name(&self) -> &'static str {
        HOOKS.agent
    }

    fn title(&self) -> &'static str {
        "Gemini CLI"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["gemini"]
    }

    fn home(&self, around: &Around) -> Option<PathBuf> {
        around.in_home(".gemini")
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
        probe::common("BeforeTool", "run_shell_command", directory)
    }

    fn dialect(&self) -> Dialect {
        Dialect::Gemini
    }

    fn shows_results(&self) -> bool {
        true
    }

    fn switched_off_by(&self, scope: Scope) -> Option<&'static str> {
        match scope {
            Scope::Managed => {
                Some("`GEMINI_CLI_SYSTEM_SETTINGS_PATH`, which moves the machine's settings")
            }
            Scope::User | Scope::Project | Scope::Local => {
                Some("`hooksConfig.enabled` or `hooksConfig.disabled` in any settings")
            }
        }
    }

    fn remark(&self, scope: Scope) -> Option<&'static str> {
        match scope {
            Scope::Project => Some("Gemini CLI runs a project's hooks only in a folder it trusts"),
            Scope::User | Scope::Local | Scope::Managed => None,
        }
    }
}

fn hindrance(text: &str) -> Option<String> {
    let settings = plain_json(text)?;
    let switches = settings.get("hooksConfig")?;
    if switches.get("enabled") == Some(&false.into()) {
        return Some("`hooksConfig.enabled` is false in these settings".into());
    }
    let disabled = switches.get("disabled")?.as_array()?;
    disabled
        .iter()
        .any(|name| name == "holdpoint")
        .then(|| "`hooksConfig.disabled` names `holdpoint` in these settings".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::Form;

    #[test]
    fn the_entry_waits_in_milliseconds_and_has_a_name() {
        let (after, _) = HOOKS.registered("{ // mine\n}", "/opt/holdpoint").unwrap();
        for part in [
            "// mine",
            r#""name": "holdpoint""#,
            r#""command": "/opt/holdpoint hook gemini || { [ $? -eq 2 ] || echo 'Holdpoint did not answer: this call may not run' >&2; exit 2; }""#,
            r#""timeout": 600000"#,
        ] {
            assert!(after.contains(part), "{after}");
        }
        assert_eq!(hindrance(&after), None);
    }

    #[test]
    fn hooks_that_are_switched_off_are_no_guard() {
        assert!(
            hindrance(
                r#"{"hooksConfig":{"enabled":false}, // off
        }"#
            )
            .is_some()
        );
        assert!(hindrance(r#"{"hooksConfig":{"disabled":["holdpoint"]}}"#).is_some());
        assert_eq!(hindrance(r#"{"hooksConfig":{"disabled":["lint"]}}"#), None);
    }
}
