//! Whatever bytes are taken for a transcript, they are read to their end, and what is found can be
//! judged and shown.
//!
//! Nothing panics; calls come in the order of their lines; only a transcript has calls and
//! problems; and reading the same bytes again tells no call twice that has an id and a time.
#![no_main]

use std::sync::LazyLock;

use holdpoint_agents::replay::{Item, Reader, Recorded, Seen};
use holdpoint_core::{Policy, Session, Surroundings, judge_call};
use libfuzzer_sys::fuzz_target;

static POLICY: LazyLock<Policy> = LazyLock::new(|| {
    Policy::from_text(
        "fuzz",
        r#"{"defaultPolicy":"ask","deny":{"patterns":["rm *"]}}"#,
    )
    .unwrap()
});

fn read(bytes: &[u8], seen: &mut Seen) -> Vec<Recorded> {
    let mut reader = Reader::new(bytes, seen);
    let (mut calls, mut problems) = (Vec::new(), 0);
    while let Some(item) = reader.read_next().expect("memory can be read") {
        match item {
            Item::Call(call) => calls.push(*call),
            Item::Problem { line, problem } => {
                assert!(line > 0 && !problem.is_empty());
                problems += 1;
            }
        }
    }
    assert!(reader.writer().is_some() || (calls.is_empty() && problems == 0));
    assert!(calls.is_sorted_by_key(|call| call.line));
    calls
}

fuzz_target!(|bytes: &[u8]| {
    let mut seen = Seen::default();
    let calls = read(bytes, &mut seen);
    for call in &calls {
        let Ok(made) = &call.call else {
            continue;
        };
        let around = Surroundings {
            workspace: call.workspace.as_deref(),
            directory: call.directory.as_deref(),
            ..Surroundings::nowhere()
        };
        let decision = judge_call(made, &POLICY, &Session::default(), &around);
        assert!(!decision.reason.is_empty());
    }
    let again = read(bytes, &mut seen);
    assert!(
        again
            .iter()
            .all(|call| call.id.is_none() || call.time.is_none())
    );
});
