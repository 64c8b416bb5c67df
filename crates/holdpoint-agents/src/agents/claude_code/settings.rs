//! Claude Code's `settings.json`: our entries among its hooks.

use std::path::Path;

use serde_json::Value;

use crate::setup::hooks::{ASKING, BYTE_ORDER_MARK, Event, Hooks, OnFailure, READING, Word};
use crate::setup::record::Records;
use crate::setup::{Dialect, Files, Host, Part, Places, SetupError, Switch, probe, settings};
use holdpoint_engine::Locations;

/// Anthropic's Claude Code.
pub(crate) static HOST: Host = Host {
    name: "claude-code",
    title: "Claude Code",
    programs: &["claude"],
    home: |around| around.moved("CLAUDE_CONFIG_DIR", ".claude"),
    files: Files::One(
        Places {
            user: "settings.json",
            project: ".claude/settings.json",
            local: Some(".claude/settings.local.json"),
            managed: Some("claude-code/managed-settings.json"),
        },
        &HOOKS,
    ),
    switched_off_by: Switch {
        managed: None,
        user: "`--bare`, `--safe-mode` or `disableAllHooks` in any settings",
        project: "`--bare`, `--safe-mode`, `--setting-sources user` or `disableAllHooks` in any settings",
    },
    canary: |directory| probe::common("PreToolUse", "Bash", directory),
    dialect: Dialect::Claude,
    shows_results: true,
    remark: None,
};

/// Before each call, after it, when the user has written something, when settings change, and at the end of a
/// turn. What a user writes is never stopped by a hook that fails: every call that follows is.
static HOOKS: Hooks = Hooks {
    agent: "claude-code",
    args_separate: true,
    events: &[
        Event::new("PreToolUse", Some("*"), ASKING, BLOCKED),
        Event::new("PostToolUse", Some("*"), READING, BLOCKED),
        Event::new("PostToolUseFailure", Some("*"), READING, OnFailure::GoOn),
        Event::new("UserPromptSubmit", None, READING, OnFailure::GoOn),
        Event::new("ConfigChange", None, READING, OnFailure::GoOn),
        Event::new("Stop", None, READING, OnFailure::GoOn),
        Event::new("SessionEnd", None, READING, OnFailure::GoOn),
    ],
    forbidden_keys: &["if", "once", "async", "asyncRewake"],
    disabled_reason,
    ..Hooks::GROUPED
};

const BLOCKED: OnFailure = OnFailure::Set("onFailure", Word::Text("block"));

/// Why the agent would not be guarded any more if it went by a file of settings as it is now: hooks are switched
/// off in it, or what `holdpoint init` put there is gone.
pub fn loosened(file: &Path, locations: &Locations) -> Result<Option<String>, SetupError> {
    let part = Part::new(file.to_owned(), &HOOKS);
    let (path, text) = settings(&part)?;
    let shown = path.display();
    let value: Option<Value> = text.as_deref().and_then(|text| {
        serde_json::from_str(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)).ok()
    });
    if value.is_some_and(|value| value.get("disableAllHooks") == Some(&Value::Bool(true))) {
        return Ok(Some(format!("`disableAllHooks` is true in {shown}")));
    }
    if !Records::for_settings(locations, &path)?.are_kept() {
        return Ok(None);
    }
    let seen = part.look()?;
    let unguarded = seen.missing.contains(&"PreToolUse") || seen.disabled_reason.is_some();
    Ok(unguarded.then(|| {
        format!(
            "{shown} no longer runs Holdpoint before each call; `holdpoint uninstall` takes it out"
        )
    }))
}

/// Why the agent runs no hook of these settings, though they hold one. Observed of Claude Code
/// 2.1.325, which says so only when it ends.
fn disabled_reason(text: &str) -> Option<String> {
    let plain = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    match serde_json::from_str::<Value>(plain) {
        Err(error) => Some(format!(
            "Claude Code does not load settings with comments or trailing commas (line {})",
            error.line()
        )),
        Ok(settings) => (settings.get("disableAllHooks") == Some(&Value::Bool(true)))
            .then(|| "`disableAllHooks` is true in these settings".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::Form;

    const PROGRAM: &str = "/opt/holdpoint";

    fn add(text: &str) -> String {
        let (after, renewed) = HOOKS.registered(text, PROGRAM).unwrap();
        assert!(!renewed);
        after
    }

    #[test]
    fn an_empty_file_gets_a_whole_entry() {
        let expected = include_str!("settings.example.json").trim();
        for text in ["", "\n", "{}"] {
            assert_eq!(add(text).trim(), expected, "{text:?}");
        }
    }

    #[test]
    fn everything_else_stays_as_it_was() {
        for text in [
            "{\n    // why\n    \"model\": \"x\", // here\n    \"env\": {\"A\":\"1\"},\n}\n",
            "{\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [],\r\n\t\t\"PreToolUse\": [\r\n\t\t\t{\"matcher\":\"Bash\",\"hooks\":[{\"type\":\"command\",\"command\":\"lint\"}]}\r\n\t\t]\r\n\t}\r\n}\r\n",
            "\u{feff}{\n  \"hooks\": {\n    \"PreToolUse\": [ /* none */ ]\n  }\n}",
        ] {
            let after = add(text);
            // What is there is the old text with something put in.
            let mut rest = after.chars();
            let kept = text.chars().all(|old| rest.any(|new| new == old));
            assert!(kept, "{after}");
            assert_eq!(HOOKS.registered(&after, PROGRAM), Ok((after.clone(), true)));
        }
    }

    #[test]
    fn an_old_entry_is_brought_up_to_date_in_its_place() {
        for old in [
            r#"{"type":"command","command":"/old/holdpoint","args":["hook","claude-code"],"timeout":10,"onFailure":"block"}"#,
            r#"{"type":"command","command":"holdpoint hook claude-code"}"#,
            r#"{"type":"command","command":"\"/old place/holdpoint\" hook claude-code","onFailure":"continue","statusMessage":"…"}"#,
        ] {
            let text = format!(r#"{{"hooks":{{"PreToolUse":[{{"hooks":[{old}]}}]}}}}"#);
            let (after, renewed) = HOOKS.registered(&text, PROGRAM).unwrap();
            assert!(renewed);
            let value: Value = serde_json::from_str(&after).unwrap();
            let handlers = &value["hooks"]["PreToolUse"][0]["hooks"];
            assert_eq!(handlers.as_array().unwrap().len(), 1, "{after}");
            assert_eq!(handlers[0]["command"], PROGRAM);
            assert_eq!(handlers[0]["onFailure"], "block");
            assert_eq!(handlers[0]["timeout"], 600);
            assert_eq!(HOOKS.registered(&after, PROGRAM), Ok((after.clone(), true)));
        }
    }

    #[test]
    fn a_registration_for_calls_alone_is_completed() {
        let whole = add("{}");
        let mut before: Value = serde_json::from_str(&whole).unwrap();
        let hooks = before["hooks"].as_object_mut().unwrap();
        for event in HOOKS.events.iter().skip(1) {
            hooks.remove(event.name).unwrap();
        }
        let (after, renewed) = HOOKS.registered(&before.to_string(), PROGRAM).unwrap();
        assert!(renewed);
        let after: Value = serde_json::from_str(&after).unwrap();
        assert_eq!(after, serde_json::from_str::<Value>(&whole).unwrap());
    }

    #[test]
    fn an_entry_that_misses_calls_is_no_registration() {
        for (matcher, more) in [
            ("Bash", ""),
            ("*", r#","async":true"#),
            ("*", r#","if":"Bash(*)""#),
        ] {
            let text = format!(
                r#"{{"hooks":{{"PreToolUse":[{{"matcher":"{matcher}","hooks":[{{"type":"command","command":"{PROGRAM}","args":["hook","claude-code"],"timeout":10,"onFailure":"block"{more}}}]}}]}}}}"#
            );
            let value: Value = serde_json::from_str(&add(&text)).unwrap();
            assert_eq!(value["hooks"]["PreToolUse"].as_array().unwrap().len(), 2);
        }
    }

    #[test]
    fn what_is_taken_out_is_ours_and_only_that() {
        let others = "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"hooks\": [{\"type\":\"command\",\"command\":\"lint\"}]}\n    ]\n  },\n  \"model\": \"x\"\n}\n";
        assert_eq!(HOOKS.unregistered(&add(others)).unwrap().unwrap(), others);
        assert_eq!(HOOKS.unregistered(others).unwrap().unwrap(), others);
        assert_eq!(
            HOOKS
                .unregistered(&add("{\n  \"model\": \"x\"\n}\n"))
                .unwrap()
                .unwrap(),
            "{\n  \"model\": \"x\"\n}\n"
        );
        assert_eq!(HOOKS.unregistered("").unwrap().unwrap(), "");
    }

    #[test]
    fn an_entry_the_agent_does_not_load_is_no_guard() {
        assert_eq!(disabled_reason(&add("\u{feff}{\"model\":\"x\"}")), None);
        let commented = disabled_reason(&add("{\n  // why\n}")).unwrap();
        assert!(commented.ends_with("(line 2)"), "{commented}");
        assert!(disabled_reason(&add("{\"model\":\"x\",}")).is_some());
        assert!(disabled_reason(&add("{\"disableAllHooks\":true}")).is_some());
    }

    #[test]
    fn settings_of_another_shape_are_left_alone() {
        for text in [
            "[]",
            "1",
            r#"{"hooks":[]}"#,
            r#"{"hooks":{"PreToolUse":{}}}"#,
        ] {
            assert!(HOOKS.registered(text, PROGRAM).is_err(), "{text}");
            assert!(HOOKS.unregistered(text).is_err(), "{text}");
        }
    }
}
