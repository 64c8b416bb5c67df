//! Cursor's `hooks.json`: our entries among its hooks.

use serde_json::json;

use crate::setup::hooks::{ASKING, Event, Hooks, OnFailure, READING, Word};
use crate::setup::{Dialect, Files, Host, Places, Switch, probe};

/// Anysphere's Cursor.
pub(crate) static HOST: Host = Host {
    name: "cursor",
    title: "Cursor",
    programs: &["cursor", "cursor-agent"],
    home: |around| around.in_home(".cursor"),
    files: Files::One(
        Places {
            user: "hooks.json",
            project: ".cursor/hooks.json",
            local: None,
            managed: Some("cursor/hooks.json"),
        },
        &HOOKS,
    ),
    switched_off_by: Switch::unless_managed(
        "any mistake in the file, which makes Cursor ignore all of it",
    ),
    canary: |directory| {
        json!({
            "conversation_id": probe::SESSION,
            "session_id": probe::SESSION,
            "hook_event_name": "beforeShellExecution",
            "workspace_roots": [directory.display().to_string()],
            "command": probe::CANARY,
            "cwd": directory.display().to_string(),
        })
    },
    dialect: Dialect::Cursor,
    shows_results: true,
    remark: None,
};

/// Shell lines and MCP calls have events of their own, the only ones at which Cursor asks its user;
/// all other tools come by `preToolUse`.
static HOOKS: Hooks = Hooks {
    agent: "cursor",
    version: Some(1),
    events: &[
        Event::new("preToolUse", Some("^(?!Shell$|MCP:)"), ASKING, CLOSED),
        Event::new("beforeShellExecution", None, ASKING, CLOSED),
        Event::new("beforeMCPExecution", None, ASKING, CLOSED),
        Event::new("beforeReadFile", None, ASKING, CLOSED),
        Event::new("postToolUse", None, READING, OnFailure::GoOn),
        Event::new("stop", None, READING, OnFailure::GoOn),
    ],
    disabled_reason,
    ..Hooks::FLAT
};

const CLOSED: OnFailure = OnFailure::Set("failClosed", Word::True);

/// Cursor takes `//` for the start of a comment wherever it stands, also in a text.
fn disabled_reason(text: &str) -> Option<String> {
    let inside = text.lines().any(|line| {
        line.find("//")
            .and_then(|at| line.get(..at))
            .is_some_and(|before| before.matches('"').count() % 2 == 1)
    });
    inside.then(|| "Cursor does not load a file with `//` in one of its texts".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::Form;

    #[test]
    fn every_entry_closes_when_it_fails() {
        let (after, _) = HOOKS
            .registered("{\"hooks\":{\"stop\":[]}}", "/opt/holdpoint")
            .unwrap();
        assert_eq!(after.matches(r#""failClosed": true"#).count(), 4, "{after}");
        assert!(after.contains(r#""version": 1"#), "{after}");
        assert_eq!(
            HOOKS.registered(&after, "/opt/holdpoint"),
            Ok((after.clone(), true))
        );
    }

    #[test]
    fn two_slashes_in_a_text_are_no_comment() {
        assert!(disabled_reason(r#"{"command": "curl https://x"}"#).is_some());
        assert_eq!(disabled_reason("{ // mine\n}"), None);
    }
}
