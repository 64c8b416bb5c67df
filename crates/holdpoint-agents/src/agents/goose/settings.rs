//! Goose: a plug-in of our own among its plug-ins.

use serde_json::json;

use crate::setup::generated::Generated;
use crate::setup::hooks::{ASKING, Event, Hooks, OnFailure};
use crate::setup::own_file::OwnFile;
use crate::setup::{Around, Dialect, Files, Host, Part, Scope, SetupError, Switch, probe};

/// Block's Goose.
pub(crate) static HOST: Host = Host {
    name: "goose",
    title: "Goose",
    programs: &["goose"],
    home: |around| around.in_home(".config/goose"),
    files: Files::Own(plugin),
    switched_off_by: Switch::everywhere("whoever may write the plug-in's files"),
    canary: |directory| {
        json!({
            "event": "PreToolUse",
            "session_id": probe::SESSION,
            "matcher_context": "developer__shell",
            "tool_name": "developer__shell",
            "tool_input": { "command": probe::CANARY },
            "working_dir": directory.display().to_string(),
        })
    },
    dialect: Dialect::Goose,
    shows_results: false,
    remark: None,
};

/// A matcher is a regular expression there, and a wrong one drops the rule. There is no switch that
/// closes, so the line does.
static HOOKS: Hooks = Hooks {
    agent: "goose",
    events: &[Event::new(
        "PreToolUse",
        Some(".*"),
        ASKING,
        OnFailure::Close,
    )],
    ..Hooks::GROUPED
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

/// The plug-in's files, in the directory that agents share and not in its own home.
fn plugin(host: &Host, scope: Scope, around: &Around, _: &str) -> Result<Vec<Part>, SetupError> {
    let base = match scope {
        Scope::User => around.home.as_ref().ok_or(SetupError::NoHome)?,
        Scope::Project => &around.directory,
        Scope::Local | Scope::Managed => {
            let known = "user or project";
            return Err(SetupError::NoSuchScope(host.title, scope.name(), known));
        }
    };
    let plugin = base.join(".agents/plugins/holdpoint");
    Ok(vec![
        Part::new(plugin.join("hooks/hooks.json"), OwnFile(&HOOKS)),
        Part::new(plugin.join("plugin.json"), &MANIFEST),
    ])
}
