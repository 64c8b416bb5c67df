//! `holdpoint hook`: a process for each call.

use serde_json::{Value, json};

use crate::house::{heard, started};
use crate::walk::{Adapter, Calls, Heard, Made, Run, Word};

pub(crate) struct Hook;

impl Adapter for Hook {
    fn name(&self) -> &'static str {
        "hook"
    }

    fn open<'a>(&self, run: &'a Run<'a>) -> Box<dyn Calls + 'a> {
        Box::new(Agent { run })
    }
}

struct Agent<'a> {
    run: &'a Run<'a>,
}

impl Calls for Agent<'_> {
    fn call(&mut self, made: &Made) -> Heard {
        let payload = json!({
            "hook_event_name": "PreToolUse",
            "session_id": self.run.session,
            "cwd": self.run.work,
            "prompt_id": made.turn,
            "tool_name": made.tool,
            "tool_input": made.input,
        });
        let mut hook = self.run.program(&["hook", "claude-code"]);
        let heard = heard(started(&mut hook, &payload));
        let word = match (heard.word.as_str(), heard.code) {
            // Silence is for what nothing objects to.
            ("allow" | "", 0) => Word::Runs,
            ("ask", 0) => Word::Asks,
            ("deny", _) | (_, 2) => Word::Refused,
            _ => panic!("{heard:?}"),
        };
        let edited = &heard.output["hookSpecificOutput"]["updatedInput"];
        Heard {
            edited: edited.as_object().cloned().map(Value::Object),
            ..Heard::said(word)
        }
    }
}
