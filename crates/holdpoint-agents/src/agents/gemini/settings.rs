//! Gemini CLI's `settings.json`: our entries among its hooks.

use crate::setup::hooks::{Event, Hooks, OnFailure, TIMEOUT, TIMEOUT_OF_TEXT, plain_json};
use crate::setup::{Dialect, Files, Host, Places, Scope, Switch, probe};

/// Google's Gemini CLI.
pub(crate) static HOST: Host = Host {
    name: "gemini",
    title: "Gemini CLI",
    programs: &["gemini"],
    home: |around| around.in_home(".gemini"),
    files: Files::One(
        Places {
            user: "settings.json",
            project: ".gemini/settings.json",
            local: None,
            managed: Some("gemini-cli/settings.json"),
        },
        &HOOKS,
    ),
    switched_off_by: Switch {
        managed: Some("`GEMINI_CLI_SYSTEM_SETTINGS_PATH`, which moves the machine's settings"),
        ..Switch::everywhere("`hooksConfig.enabled` or `hooksConfig.disabled` in any settings")
    },
    canary: |directory| probe::common("BeforeTool", "run_shell_command", directory),
    dialect: Dialect::Gemini,
    shows_results: true,
    remark: Some((
        Scope::Project,
        "Gemini CLI runs a project's hooks only in a folder it trusts",
    )),
};

/// Times are milliseconds. There is no switch that closes, so the line does.
static HOOKS: Hooks = Hooks {
    agent: "gemini",
    called: Some("holdpoint"),
    events: &[
        Event::new("BeforeTool", Some("*"), ASKING, OnFailure::Close),
        Event::new("AfterTool", Some("*"), READING, OnFailure::Close),
        Event::new("BeforeAgent", None, READING, OnFailure::GoOn),
        Event::new("AfterAgent", None, READING, OnFailure::Silent),
    ],
    disabled_reason,
    ..Hooks::GROUPED
};

const ASKING: Option<(&str, u64)> = Some(("timeout", TIMEOUT * 1000));
const READING: Option<(&str, u64)> = Some(("timeout", TIMEOUT_OF_TEXT * 1000));

fn disabled_reason(text: &str) -> Option<String> {
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
        assert_eq!(disabled_reason(&after), None);
    }

    #[test]
    fn hooks_that_are_switched_off_are_no_guard() {
        assert!(
            disabled_reason(
                r#"{"hooksConfig":{"enabled":false}, // off
        }"#
            )
            .is_some()
        );
        assert!(disabled_reason(r#"{"hooksConfig":{"disabled":["holdpoint"]}}"#).is_some());
        assert_eq!(
            disabled_reason(r#"{"hooksConfig":{"disabled":["lint"]}}"#),
            None
        );
    }
}
