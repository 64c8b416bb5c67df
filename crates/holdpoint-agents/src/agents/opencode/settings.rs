//! OpenCode: a plug-in that asks the program, for it knows no hooks that are programs.

use serde_json::json;

use crate::setup::generated::{Generated, between, direct};
use crate::setup::{Dialect, Files, Host, Places, Switch, probe};

/// OpenCode.
pub(crate) static HOST: Host = Host {
    name: "opencode",
    title: "OpenCode",
    programs: &["opencode"],
    home: |around| {
        let base = around.moved("XDG_CONFIG_HOME", ".config");
        base.map(|base| base.join("opencode"))
    },
    files: Files::One(
        Places {
            user: "plugins/holdpoint.js",
            project: ".opencode/plugins/holdpoint.js",
            local: None,
            managed: None,
        },
        &PLUGIN,
    ),
    switched_off_by: Switch::everywhere(
        "any mistake in the plug-in, which OpenCode then skips without a word",
    ),
    canary: |directory| {
        json!({
            "event": "tool.execute.before",
            "tool": "bash",
            "sessionID": probe::SESSION,
            "directory": directory.display().to_string(),
            "args": { "command": probe::CANARY },
        })
    },
    dialect: Dialect::Plugin,
    shows_results: true,
    remark: None,
};

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
