//! Cline: a script of our own among its hooks.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::setup::command_line::quoted;
use crate::setup::generated::{Generated, between, direct};
use crate::setup::probe;
use crate::setup::{Around, Dialect, Host, Part, Places, Scope, SetupError};

/// Cline.
pub(crate) struct Cline;

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

const PLACES: Places = Places {
    user: "hooks/PreToolUse",
    project: ".clinerules/hooks/PreToolUse",
    managed: None,
};

impl Host for Cline {
    fn name(&self) -> &'static str {
        "cline"
    }

    fn title(&self) -> &'static str {
        "Cline"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["cline"]
    }

    fn home(&self, around: &Around) -> Option<PathBuf> {
        around.in_home(".cline")
    }

    fn parts(
        &self,
        scope: Scope,
        around: &Around,
        _program: &str,
    ) -> Result<Vec<Part>, SetupError> {
        let path = PLACES.of(self, scope, around)?;
        Ok(vec![Part::of(path, &SCRIPT)])
    }

    fn canary(&self, directory: &Path) -> Value {
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
    }

    fn dialect(&self) -> Dialect {
        Dialect::Cline
    }

    fn switched_off_by(&self, _scope: Scope) -> Option<&'static str> {
        Some("`--hooks-dir`, or whoever may write the script")
    }
}
