//! Changing the arguments of a call in the person's own editor.

use std::io;
use std::path::Path;
use std::process::Command;

use holdpoint_broker::Request;
use holdpoint_broker::channel::console::editor::Editable;
use holdpoint_broker::channel::console::editor_of;
use serde_json::{Map, Value};

use super::screen::Screen;
use super::variable;
use crate::terminal::escape_for_display;

/// What came of it.
pub(super) enum Edited {
    /// These arguments are others.
    Changed(Map<String, Value>),
    Unchanged,
    /// Nothing was changed, for this reason.
    Failed(String),
}

/// Has the person's editor change what may be changed of a call.
pub(super) fn edit(request: &Request, screen: &mut Screen) -> io::Result<Edited> {
    let Some(editable) = Editable::from_request(request) else {
        let why = "nothing of this call can be changed here: refuse it with a comment";
        return Ok(Edited::Failed(why.into()));
    };
    let edited = editable.edit(|file| screen.lend(|| run_editor(file)))?;
    Ok(match edited {
        Ok(input) if input.is_empty() => Edited::Unchanged,
        Ok(input) => Edited::Changed(input),
        Err(problem) => Edited::Failed(format!("{problem}; nothing was changed")),
    })
}

fn run_editor(file: &Path) -> Result<(), String> {
    let words = editor_of(&variable);
    let Some((program, words)) = words.split_first() else {
        return Err("no editor is set: set VISUAL or EDITOR".into());
    };
    let ended = Command::new(program).args(words).arg(file).status();
    let program = escape_for_display(program, 100);
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{program}` failed ({status})")),
        Err(error) => Err(format!(
            "`{program}` cannot be started: {error}; set VISUAL or EDITOR"
        )),
    }
}
