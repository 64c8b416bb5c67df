//! Whatever bytes an agent's hook is sent, the agent is answered in its own words.
//!
//! Nothing panics; standard output is empty or one JSON object; a decision that refuses is never lost
//! on the way, and says why on standard error; and text from outside drives no terminal. The first
//! byte picks the policy, the second the agent. Which words each agent understands, `corpus/hook`
//! and the adapters' own tests say; Claude Code's are looked at here too.
#![no_main]

use std::sync::LazyLock;

use holdpoint_agents::hook::{
    Agent, Gatekeeper, HookCall, HookDecision, Prompted, Reply, Returned,
};
use holdpoint_core::{Decision, Policy, Session, Surroundings, Verdict, judge_call};
use holdpoint_engine::EngineError;
use holdpoint_engine::inspecting::Inspected;
use holdpoint_text::clean::{note, replacement};
use holdpoint_text::inspection::{Inspection, inspect};
use holdpoint_text::{Action, Origin};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

static POLICIES: LazyLock<Vec<Policy>> = LazyLock::new(|| {
    [
        r#"{"defaultPolicy":"defer","deny":{"patterns":["rm *"],"tools":["Write"]},"ask":{"patterns":["git *"]},"allow":{"patterns":["ls*"]}}"#,
        r#"{"defaultPolicy":"deny"}"#,
        r#"{"defaultPolicy":"notify","files":{"write":{"deny":[".env"]}}}"#,
        r#"{"autonomy":"readonly"}"#,
    ]
    .iter()
    .map(|text| Policy::from_text("fuzz", *text).unwrap())
    .collect()
});

/// Judges, and keeps what it decided.
struct Judge {
    policy: &'static Policy,
    judged: Option<Decision>,
}

impl Gatekeeper for Judge {
    fn judge(&mut self, asked: HookCall) -> Result<HookDecision, EngineError> {
        let around = Surroundings {
            workspace: Some("/work"),
            directory: asked
                .directory
                .as_deref()
                .filter(|cwd| cwd.starts_with('/')),
            ..Surroundings::nowhere()
        };
        let decision = judge_call(&asked.call, self.policy, &Session::default(), &around);
        self.judged = Some(decision.clone());
        Ok(decision.into())
    }

    fn stand_by(&mut self, _: Reply) {}

    fn result(&mut self, returned: &Returned) -> Result<Inspected, EngineError> {
        let told = returned.response.to_string();
        Ok(inspected(inspect(&told, Origin::Tool), Origin::Tool))
    }

    fn prompt(&mut self, prompted: &Prompted) -> Result<Inspected, EngineError> {
        Ok(inspected(
            inspect(&prompted.text, Origin::User),
            Origin::User,
        ))
    }

    fn changed(&mut self, _: &str) -> Result<(), String> {
        Ok(())
    }

    fn turn_ended(&mut self, _: &str) -> Result<(), EngineError> {
        Ok(())
    }
}

/// What comes of an inspection, in place of what came if that is kept back.
fn inspected(inspection: Inspection, origin: Origin) -> Inspected {
    let kept_back = inspection.action >= Action::Quarantine;
    Inspected {
        action: inspection.action,
        severity: inspection.severity(),
        note: note(&inspection, origin),
        instead: kept_back.then(|| Value::String(replacement(&inspection, origin))),
        ..Inspected::default()
    }
}

fuzz_target!(|bytes: &[u8]| {
    let (pick, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let (whose, payload) = rest.split_first().unwrap_or((&0, &[]));
    let policy = &POLICIES[usize::from(*pick) % POLICIES.len()];
    let agent = Agent::ALL[usize::from(*whose) % Agent::ALL.len()];
    let mut judge = Judge {
        policy,
        judged: None,
    };
    let answered = agent.answer(payload, &mut judge);
    let judged = judge.judged;
    let reply = match &answered {
        Ok(reply) => reply.clone(),
        Err(problem) => {
            assert!(judged.is_none());
            agent.refusal(problem)
        }
    };

    for text in [&reply.stdout, &reply.stderr] {
        assert!(
            text.chars().all(|c| c == '\n' || !c.is_control()),
            "{text:?}"
        );
        assert!(text.is_empty() || text.ends_with('\n') && text.lines().count() == 1);
    }
    let output: Option<Value> = (!reply.stdout.is_empty())
        .then(|| serde_json::from_str(&reply.stdout).expect("standard output is JSON"));
    assert!(output.as_ref().is_none_or(Value::is_object));
    match judged.map(|decision| decision.verdict) {
        Some(Verdict::Deny) => refuses(agent, &reply, output.as_ref()),
        Some(Verdict::Ask | Verdict::Review) => {
            let asks = reply.stdout.contains("\"ask\"") && reply.must_be_heard;
            // The agent's own question may follow.
            if !asks && reply != Reply::default() {
                refuses(agent, &reply, output.as_ref());
            }
            if agent == Agent::ClaudeCode && !asks {
                let prompts = b"PermissionRequest";
                assert!(
                    payload.windows(prompts.len()).any(|found| found == prompts)
                        || payload.contains(&b'\\')
                );
            }
        }
        Some(Verdict::Allow | Verdict::Notify) => assert_eq!(reply.code, 0),
        Some(Verdict::Contain) => panic!("nobody here can contain a call, so it is asked about"),
        // What came back of a call, or of the user, is spoken of and no longer refused.
        None if reply.code == 2 || !reply.stderr.is_empty() => {
            refuses(agent, &reply, output.as_ref());
        }
        None => assert!(!reply.stdout.contains("\"allow\"")),
    }
});

/// A refusal has words: on standard error, and as the agent's own or as an exit code.
fn refuses(agent: Agent, reply: &Reply, output: Option<&Value>) {
    assert!(
        reply.stderr.starts_with("Holdpoint denied this"),
        "{reply:?}"
    );
    let reason = reply.stderr.trim_end();
    match output {
        None => assert_eq!(reply.code, 2, "{agent:?}: {reply:?}"),
        Some(_) => {
            assert!(reply.must_be_heard, "{agent:?}: {reply:?}");
            let said = Value::String(reason.to_owned()).to_string();
            assert!(reply.stdout.contains(&said), "{agent:?}: {reply:?}");
            assert!(
                ["\"deny\"", "\"block\"", "\"cancel\":true", "\"ask\""]
                    .iter()
                    .any(|word| reply.stdout.contains(word))
            );
        }
    }
}
