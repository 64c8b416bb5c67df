//! Qwen Code's `settings.json`: our entries among its hooks.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::setup::hooks::{Event, Hooks, OnFailure, TIMEOUT, TIMEOUT_OF_TEXT, plain_json};
use crate::setup::probe;
use crate::setup::{Around, Dialect, Host, Part, Places, Scope, SetupError};

/// Alibaba's Qwen Code.
pub(crate) struct Qwen;

const fn event(name: &'static str, matcher: Option<&'static str>, seconds: u64) -> Event {
    Event {
        name,
        matcher,
        timeout: Some(("timeout", seconds)),
        on_failure: OnFailure::Close,
    }
}

/// Times are seconds, as long as they are fewer than a thousand. There is no switch that closes, so
/// the line does.
static HOOKS: Hooks = Hooks {
    agent: "qwen",
    grouped: true,
    typed: true,
    command: "command",
    apart: false,
    called: Some("holdpoint"),
    version: None,
    events: &[
        event("PreToolUse", Some("*"), TIMEOUT),
        event("PostToolUse", Some("*"), TIMEOUT_OF_TEXT),
        event("PostToolUseFailure", Some("*"), TIMEOUT_OF_TEXT),
        Event {
            on_failure: OnFailure::GoOn,
            ..event("UserPromptSubmit", None, TIMEOUT_OF_TEXT)
        },
    ],
    narrowing: &["async"],
    hindrance,
};

const PLACES: Places = Places {
    user: "settings.json",
    project: ".qwen/settings.json",
    managed: Some("qwen-code/settings.json"),
};

impl Host for Qwen {
    fn name(&self) -> &'static str {
        HOOKS.agent
    }

    fn title(&self) -> &'static str {
        "Qwen Code"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["qwen"]
    }

    fn home(&self, around: &Around) -> Option<PathBuf> {
        around.in_home(".qwen")
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
        probe::common("PreToolUse", "run_shell_command", directory)
    }

    fn dialect(&self) -> Dialect {
        Dialect::Strict
    }

    fn shows_results(&self) -> bool {
        true
    }

    fn switched_off_by(&self, _scope: Scope) -> Option<&'static str> {
        Some("`disableAllHooks` in any settings")
    }

    fn remark(&self, scope: Scope) -> Option<&'static str> {
        match scope {
            Scope::Project => Some("Qwen Code runs a project's hooks only in a folder it trusts"),
            Scope::User | Scope::Local | Scope::Managed => None,
        }
    }
}

fn hindrance(text: &str) -> Option<String> {
    (plain_json(text)?.get("disableAllHooks") == Some(&true.into()))
        .then(|| "`disableAllHooks` is true in these settings".into())
}
