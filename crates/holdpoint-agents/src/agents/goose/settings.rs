//! Goose: a plug-in of our own among its plug-ins.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::setup::generated::Generated;
use crate::setup::hooks::{Event, Hooks, OnFailure, TIMEOUT};
use crate::setup::own_file::OwnFile;
use crate::setup::probe;
use crate::setup::{Around, Dialect, Host, Part, Scope, SetupError};

/// Block's Goose.
pub(crate) struct Goose;

/// A matcher is a regular expression there, and a wrong one drops the rule. There is no switch that
/// closes, so the line does.
static HOOKS: Hooks = Hooks {
    agent: "goose",
    grouped: true,
    typed: true,
    command: "command",
    apart: false,
    called: None,
    version: None,
    events: &[Event {
        name: "PreToolUse",
        matcher: Some(".*"),
        timeout: Some(("timeout", TIMEOUT)),
        on_failure: OnFailure::Close,
    }],
    narrowing: &[],
    hindrance: |_| None,
};

/// What makes a directory a plug-in.
static MANIFEST: Generated = Generated {
    event: None,
    text: |_| {
        format!(
            "{{\n  \"name\": \"holdpoint\",\n  \"version\": \"{}\",\n  \
             \"description\": \"Asks Holdpoint before each tool call (written by holdpoint init)\"\n}}\n",
            env!("CARGO_PKG_VERSION")
        )
    },
    call: |_| None,
    is_run: false,
    is_json: true,
};

impl Host for Goose {
    fn name(&self) -> &'static str {
        HOOKS.agent
    }

    fn title(&self) -> &'static str {
        "Goose"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["goose"]
    }

    fn home(&self, around: &Around) -> Option<PathBuf> {
        around.in_home(".config/goose")
    }

    fn parts(
        &self,
        scope: Scope,
        around: &Around,
        _program: &str,
    ) -> Result<Vec<Part>, SetupError> {
        let plugins = Path::new(".agents/plugins/holdpoint");
        let base = match scope {
            Scope::User => around.home.as_ref().ok_or(SetupError::NoHome)?,
            Scope::Project => &around.directory,
            Scope::Local | Scope::Managed => {
                return Err(SetupError::NoSuchScope(
                    self.title(),
                    scope.name(),
                    "user or project",
                ));
            }
        };
        let plugin = base.join(plugins);
        Ok(vec![
            Part::of(plugin.join("hooks/hooks.json"), OwnFile(&HOOKS)),
            Part::of(plugin.join("plugin.json"), &MANIFEST),
        ])
    }

    fn canary(&self, directory: &Path) -> Value {
        json!({
            "event": "PreToolUse",
            "session_id": probe::SESSION,
            "matcher_context": "developer__shell",
            "tool_name": "developer__shell",
            "tool_input": { "command": probe::CANARY },
            "working_dir": directory.display().to_string(),
        })
    }

    fn dialect(&self) -> Dialect {
        Dialect::Goose
    }

    fn switched_off_by(&self, _scope: Scope) -> Option<&'static str> {
        Some("whoever may write the plug-in's files")
    }
}
