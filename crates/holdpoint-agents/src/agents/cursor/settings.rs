//! Cursor's `hooks.json`: our entries among its hooks.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::setup::hooks::{Event, Hooks, OnFailure, TIMEOUT, TIMEOUT_OF_TEXT, Word};
use crate::setup::probe;
use crate::setup::{Around, Dialect, Host, Part, Places, Scope, SetupError};

/// Anysphere's Cursor.
pub(crate) struct Cursor;

const fn event(name: &'static str, matcher: Option<&'static str>) -> Event {
    Event {
        name,
        matcher,
        timeout: Some(("timeout", TIMEOUT)),
        on_failure: OnFailure::Set("failClosed", Word::True),
    }
}

/// Shell lines and MCP calls have events of their own, the only ones at which Cursor asks its user;
/// all other tools come by `preToolUse`.
static HOOKS: Hooks = Hooks {
    agent: "cursor",
    grouped: false,
    typed: false,
    command: "command",
    apart: false,
    called: None,
    version: Some(1),
    events: &[
        event("preToolUse", Some("^(?!Shell$|MCP:)")),
        event("beforeShellExecution", None),
        event("beforeMCPExecution", None),
        event("beforeReadFile", None),
        Event {
            name: "postToolUse",
            matcher: None,
            timeout: Some(("timeout", TIMEOUT_OF_TEXT)),
            on_failure: OnFailure::GoOn,
        },
    ],
    narrowing: &[],
    hindrance,
};

const PLACES: Places = Places {
    user: "hooks.json",
    project: ".cursor/hooks.json",
    managed: Some("cursor/hooks.json"),
};

impl Host for Cursor {
    fn name(&self) -> &'static str {
        HOOKS.agent
    }

    fn title(&self) -> &'static str {
        "Cursor"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["cursor", "cursor-agent"]
    }

    fn home(&self, around: &Around) -> Option<PathBuf> {
        around.in_home(".cursor")
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
            "conversation_id": probe::SESSION,
            "session_id": probe::SESSION,
            "hook_event_name": "beforeShellExecution",
            "workspace_roots": [directory.display().to_string()],
            "command": probe::CANARY,
            "cwd": directory.display().to_string(),
        })
    }

    fn dialect(&self) -> Dialect {
        Dialect::Cursor
    }

    fn shows_results(&self) -> bool {
        true
    }

    fn switched_off_by(&self, scope: Scope) -> Option<&'static str> {
        match scope {
            Scope::Managed => None,
            Scope::User | Scope::Project | Scope::Local => {
                Some("any mistake in the file, which makes Cursor ignore all of it")
            }
        }
    }
}

/// Cursor takes `//` for the start of a comment wherever it stands, also in a text.
fn hindrance(text: &str) -> Option<String> {
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
        assert!(hindrance(r#"{"command": "curl https://x"}"#).is_some());
        assert_eq!(hindrance("{ // mine\n}"), None);
    }
}
