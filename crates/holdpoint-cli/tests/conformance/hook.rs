//! `holdpoint hook`: a process for each call.

use std::process::Command;
use std::thread::sleep;

use serde_json::{Value, json};

use crate::test_home::{heard, started};
use crate::walk::{Adapter, Calls, GLANCE, Heard, Made, Run, Word, at_once};

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
    fn call(&mut self, made: &[Made]) -> Vec<Heard> {
        at_once(made, |one| self.make(one))
    }
}

impl Agent<'_> {
    fn make(&self, made: &Made) -> Heard {
        let payload = json!({
            "hook_event_name": "PreToolUse",
            "session_id": self.run.session,
            "cwd": self.run.work,
            "prompt_id": made.turn,
            "tool_name": made.tool,
            "tool_input": made.input,
        });
        let mut hook = self.run.program(&["hook", "claude-code"]);
        let mut hook = started(&mut hook, &payload);
        while hook.try_wait().unwrap().is_none() && !made.is_off() {
            sleep(GLANCE);
        }
        if made.is_off() {
            // As an agent does whose user has had enough.
            let mut kill = Command::new("kill");
            kill.arg("-TERM").arg(hook.id().to_string());
            assert!(kill.status().unwrap().success());
        }
        let heard = heard(hook);
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
