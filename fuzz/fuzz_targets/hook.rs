//! Whatever bytes an agent's hook is sent, the agent is answered in its own words.
//!
//! Nothing panics; standard output is empty or one JSON object with a known answer and a short
//! reason; silence is only for what nothing objects to; a decision that refuses is never lost on
//! the way; and text from outside drives no terminal. The first byte picks the policy.
#![no_main]

use std::sync::LazyLock;

use holdpoint::hook::{Agent, Answer, Asked, Gatekeeper, Pause, Prompted, Reply, Returned};
use holdpoint::inspecting::Inspected;
use holdpoint_core::text::clean::{note, replacement};
use holdpoint_core::text::inspection::{Inspection, inspect};
use holdpoint_core::text::{Action, Origin};
use holdpoint_core::{Decision, Method, Policy, Session, Surroundings, Verdict, judge};
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
    fn judge(&mut self, asked: Asked) -> Result<Answer, String> {
        let around = Surroundings {
            workspace: Some("/work"),
            directory: asked
                .directory
                .as_deref()
                .filter(|cwd| cwd.starts_with('/')),
            ..Surroundings::nowhere()
        };
        let decision = judge(&asked.call, self.policy, &Session::default(), &around);
        self.judged = Some(decision.clone());
        Ok(decision.into())
    }

    fn stand_by(&mut self, _: Reply) {}

    fn result(&mut self, returned: &Returned) -> Result<Inspected, String> {
        let told = returned.response.to_string();
        Ok(inspected(inspect(&told, Origin::Tool), Origin::Tool))
    }

    fn prompt(&mut self, prompted: &Prompted) -> Result<Inspected, String> {
        Ok(inspected(
            inspect(&prompted.text, Origin::User),
            Origin::User,
        ))
    }

    fn pause(&mut self, _: &str, _: Pause) -> Result<(), String> {
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
    let (pick, payload) = bytes.split_first().unwrap_or((&0, &[]));
    let policy = &POLICIES[usize::from(*pick) % POLICIES.len()];
    let agent = Agent::ClaudeCode;
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
    let specific = output.as_ref().map(|output| &output["hookSpecificOutput"]);
    let permission = specific
        .and_then(|specific| specific["permissionDecision"].as_str())
        .or_else(|| specific.and_then(|specific| specific["decision"]["behavior"].as_str()));
    if let Some(reason) =
        specific.and_then(|specific| specific["permissionDecisionReason"].as_str())
    {
        assert!(!reason.is_empty() && reason.chars().count() < 2000);
    }
    let prompts = payload
        .windows(17)
        .any(|window| window == b"PermissionRequest")
        || payload.contains(&b'\\');

    match judged.map(|decision| (decision.verdict, decision.method)) {
        None => {
            let refused = reply.code == 2 && reply.stderr.starts_with("Holdpoint denied this");
            // What came back of a call, or of the user, is spoken of and no longer refused.
            let spoken_of = output.is_some_and(|output| {
                let event = &output["hookSpecificOutput"]["hookEventName"];
                event
                    .as_str()
                    .is_some_and(|name| name.starts_with("PostToolUse"))
                    || output["systemMessage"].is_string()
                    || output["decision"] == "block"
            });
            // An event that only tells is heard in silence.
            assert!(refused || spoken_of || answered.is_ok() && reply == Default::default());
        }
        Some((Verdict::Deny, _)) => {
            assert_eq!(permission, Some("deny"));
            assert!(reply.must_be_heard && reply.stderr.starts_with("Holdpoint denied this"));
        }
        // The person is about to be asked anyway.
        Some((Verdict::Ask | Verdict::Review, _)) if prompts && output.is_none() => {}
        Some((Verdict::Ask | Verdict::Review, _)) => {
            assert_eq!(permission, Some("ask"));
            assert!(reply.must_be_heard);
        }
        Some((Verdict::Notify, _)) => {
            assert_eq!(permission, None);
            assert!(output.is_some_and(|output| output["systemMessage"].is_string()));
        }
        Some((Verdict::Allow, Method::NoObjection)) => assert_eq!(reply, Default::default()),
        Some((Verdict::Allow, _)) => {
            assert!(matches!(permission, Some("allow") | None));
            assert_eq!(reply.code, 0);
        }
    }
});
