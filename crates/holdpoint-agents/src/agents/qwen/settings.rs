//! Qwen Code's `settings.json`: our entries among its hooks.

use crate::setup::hooks::{ASKING, Event, Hooks, OnFailure, READING, plain_json};
use crate::setup::{Dialect, Files, Host, Places, Scope, Switch, probe};

/// Alibaba's Qwen Code.
pub(crate) static HOST: Host = Host {
    name: "qwen",
    title: "Qwen Code",
    programs: &["qwen"],
    home: |around| around.in_home(".qwen"),
    files: Files::One(
        Places {
            user: "settings.json",
            project: ".qwen/settings.json",
            local: None,
            managed: Some("qwen-code/settings.json"),
        },
        &HOOKS,
    ),
    switched_off_by: Switch::everywhere("`disableAllHooks` in any settings"),
    canary: |directory| probe::common("PreToolUse", "run_shell_command", directory),
    dialect: Dialect::Strict,
    shows_results: true,
    remark: Some((
        Scope::Project,
        "Qwen Code runs a project's hooks only in a folder it trusts",
    )),
};

/// Times are seconds, as long as they are fewer than a thousand. There is no switch that closes, so
/// the line does.
static HOOKS: Hooks = Hooks {
    agent: "qwen",
    called: Some("holdpoint"),
    events: &[
        Event::new("PreToolUse", Some("*"), ASKING, OnFailure::Close),
        Event::new("PostToolUse", Some("*"), READING, OnFailure::Close),
        Event::new("PostToolUseFailure", Some("*"), READING, OnFailure::Close),
        Event::new("UserPromptSubmit", None, READING, OnFailure::GoOn),
        Event::new("Stop", None, READING, OnFailure::Silent),
    ],
    forbidden_keys: &["async"],
    disabled_reason,
    ..Hooks::GROUPED
};

fn disabled_reason(text: &str) -> Option<String> {
    (plain_json(text)?.get("disableAllHooks") == Some(&true.into()))
        .then(|| "`disableAllHooks` is true in these settings".into())
}
