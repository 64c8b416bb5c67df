//! The library's `Gatekeeper`, which runs the tool itself.

use std::thread::{self, sleep};

use holdpoint_engine::ToolCall;
use holdpoint_engine::middleware::{Cancel, Context, Gatekeeper};
use serde_json::{Value, json};

use crate::walk::{Adapter, Calls, GLANCE, Heard, Made, Run, Word, at_once};

pub(crate) struct Library;

impl Adapter for Library {
    fn name(&self) -> &'static str {
        "middleware"
    }

    fn open<'a>(&self, run: &'a Run<'a>) -> Box<dyn Calls + 'a> {
        let keeper = Gatekeeper::builder()
            .locations(run.locations())
            .workspace(&run.work)
            .agent("library")
            .session(&run.session)
            .channel_of_policy()
            .build()
            .unwrap();
        Box::new(Agent { keeper })
    }

    /// It runs the tool, and says on record what came of that.
    fn runs_the_tool(&self) -> bool {
        true
    }
}

struct Agent {
    keeper: Gatekeeper,
}

impl Calls for Agent {
    fn call(&mut self, made: &[Made]) -> Vec<Heard> {
        let mut context = Context::default();
        if let Some(turn) = made.iter().find_map(|one| one.turn.as_ref()) {
            context.more.insert("prompt_id".into(), json!(turn));
        }
        self.keeper.set_context(context);
        at_once(made, |one| self.make(one))
    }
}

impl Agent {
    fn make(&self, made: &Made) -> Heard {
        let call = match ToolCall::new(made.tool.clone(), Value::Object(made.input.clone())) {
            Ok(call) => call,
            Err(error) => panic!("{error}"),
        };
        let cancel = Cancel::new();
        let tool = |_: &ToolCall| Ok::<_, String>(json!({"output": "done"}));
        let executed = thread::scope(|scope| {
            let call = scope.spawn(|| self.keeper.execute_with(&call, &cancel, tool));
            while !call.is_finished() {
                if made.is_off() {
                    cancel.cancel();
                }
                sleep(GLANCE);
            }
            call.join().unwrap()
        });
        let word = match executed.ran() {
            true => Word::Runs,
            false => Word::Refused,
        };
        assert_eq!(executed.permission.allowed, executed.ran());
        let edited = executed.permission.was_edited && executed.ran();
        Heard {
            method: Some(executed.permission.method.as_str().to_owned()),
            edited: edited.then(|| Value::Object(executed.call.input().clone())),
            ..Heard::said(word)
        }
    }
}
