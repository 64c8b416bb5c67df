//! Cline: a script of our own among its hooks.

use serde_json::json;

use crate::setup::command_line::quoted;
use crate::setup::generated::{Generated, between, direct};
use crate::setup::{Dialect, Files, Host, Places, Switch, probe};

/// Cline.
pub(crate) static HOST: Host = Host {
    name: "cline",
    title: "Cline",
    programs: &["cline"],
    home: |around| around.in_home(".cline"),
    files: Files::One(
        Places {
            user: "hooks/PreToolUse",
            project: ".clinerules/hooks/PreToolUse",
            local: None,
            managed: None,
        },
        &SCRIPT,
    ),
    switched_off_by: Switch::everywhere("`--hooks-dir`, or whoever may write the script"),
    canary: |directory| {
        json!({
            "clineVersion": "",
            "taskId": probe::SESSION,
            "workspaceRoots": [directory.display().to_string()],
            "hookName": "tool_call",
            "tool_call": {
                "id": probe::SESSION,
                "name": "run_commands",
                "input": { "commands": [probe::CANARY] },
            },
        })
    },
    dialect: Dialect::Cline,
    shows_results: false,
    remark: None,
};

/// Exit codes mean nothing to Cline, so a hook that cannot be run is answered for: nothing runs then.
static SCRIPT: Generated = Generated {
    event: Some("PreToolUse"),
    text: |program| {
        format!(
            "#!/bin/sh\n\
             # Asks Holdpoint before each tool call. Written by holdpoint init; `holdpoint uninstall cline` removes it.\n\
             program={}\n\
             answer=$(\"$program\" hook cline)\n\
             ended=$?\n\
             if [ -n \"$answer\" ]; then\n  printf '%s\\n' \"$answer\"\n\
             elif [ \"$ended\" -ne 0 ]; then\n  \
             echo '{{\"cancel\":true,\"errorMessage\":\"Holdpoint could not be asked, and nothing runs unasked: see holdpoint doctor\"}}'\n\
             fi\n",
            quoted(program)
        )
    },
    call: |text| {
        let word = between(text, "\nprogram=", "\n")?;
        let bare = word
            .strip_prefix('\'')
            .and_then(|word| word.strip_suffix('\''));
        let program = bare.unwrap_or(word).replace(r"'\''", "'");
        Some(direct(program, "cline"))
    },
    is_run: true,
    is_json: false,
};
