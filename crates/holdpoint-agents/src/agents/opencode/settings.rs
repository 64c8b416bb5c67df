//! OpenCode: a plug-in that asks the program, for it knows no hooks that are programs.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::setup::generated::{Generated, between, direct};
use crate::setup::probe;
use crate::setup::{Around, Dialect, Host, Part, Scope, SetupError};

/// OpenCode.
pub(crate) struct OpenCode;

/// The plug-in refuses whatever is not a clear permission.
static PLUGIN: Generated = Generated {
    event: Some("tool.execute.before"),
    text: |program| include_str!("plugin.js").replace("\"PROGRAM\"", &json!(program).to_string()),
    call: |text| {
        let word = between(text, "\nconst program = ", "\n")?;
        let program: String = serde_json::from_str(word).ok()?;
        Some(direct(program, "opencode"))
    },
    is_run: false,
    is_json: false,
};

impl Host for OpenCode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn title(&self) -> &'static str {
        "OpenCode"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["opencode"]
    }

    fn home(&self, around: &Around) -> Option<PathBuf> {
        around
            .moved("XDG_CONFIG_HOME", ".config")
            .map(|base| base.join("opencode"))
    }

    fn parts(
        &self,
        scope: Scope,
        around: &Around,
        _program: &str,
    ) -> Result<Vec<Part>, SetupError> {
        let base = match scope {
            Scope::User => self.home(around).ok_or(SetupError::NoHome)?,
            Scope::Project => around.directory.join(".opencode"),
            Scope::Local | Scope::Managed => {
                return Err(SetupError::NoSuchScope(
                    self.title(),
                    scope.name(),
                    "user or project",
                ));
            }
        };
        Ok(vec![Part::of(base.join("plugins/holdpoint.js"), &PLUGIN)])
    }

    fn canary(&self, directory: &Path) -> Value {
        json!({
            "event": "tool.execute.before",
            "tool": "bash",
            "sessionID": probe::SESSION,
            "directory": directory.display().to_string(),
            "args": { "command": probe::CANARY },
        })
    }

    fn dialect(&self) -> Dialect {
        Dialect::Plugin
    }

    fn shows_results(&self) -> bool {
        true
    }

    fn switched_off_by(&self, _scope: Scope) -> Option<&'static str> {
        Some("any mistake in the plug-in, which OpenCode then skips without a word")
    }
}
