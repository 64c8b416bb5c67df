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
    /// The hook as a process called like the agent starts it, whose own rules can be read then.
    fn below_an_agent(&self) -> Command {
        let agent = self.run.config.with_extension("claude");
        std::fs::create_dir_all(&agent).unwrap();
        let agent = agent.join("claude");
        // Another call has made it.
        let _ = std::os::unix::fs::symlink("/bin/bash", &agent);
        let mut hook = self.run.any_program(agent.to_str().unwrap());
        let line = format!(
            "{} hook claude-code; exit $?",
            env!("CARGO_BIN_EXE_holdpoint")
        );
        hook.args(["-c", &line, "agent"]);
        hook
    }

    fn make(&self, made: &Made) -> Heard {
        let payload = json!({
            "hook_event_name": "PreToolUse",
            "session_id": self.run.session,
            "cwd": self.run.work,
            "prompt_id": made.turn,
            "tool_name": made.tool,
            "tool_input": made.input,
        });
        let mut hook = match self.run.scenario.sandbox {
            true => self.below_an_agent(),
            false => self.run.program(&["hook", "claude-code"]),
        };
        let mut hook = started(&mut hook, &payload);
        while hook.try_wait().unwrap().is_none() && !made.is_off() {
            sleep(GLANCE);
        }
        if made.is_off() {
            // As an agent does whose user has had enough.
            let mut kill = Command::new("kill");
            let signal = if made.killed { "-KILL" } else { "-TERM" };
            kill.arg(signal).arg(hook.id().to_string());
            assert!(kill.status().unwrap().success());
        }
        if made.killed {
            assert!(!hook.wait().unwrap().success());
            return Heard::said(Word::Refused);
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
        let line = edited["command"].as_str().unwrap_or_default();
        if line.contains(" run --ticket ") {
            return Heard::said(Word::Contained);
        }
        Heard {
            edited: edited.as_object().cloned().map(Value::Object),
            ..Heard::said(word)
        }
    }
}
