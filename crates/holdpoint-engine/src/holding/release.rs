//! The last look before a call runs: is it still what was shown, may it still run, do its checks pass,
//! is there a copy of what it would change; and it is counted (X-04).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use holdpoint_broker::{
    BrokerHost, CallContext, Event, Prepared, Problem, Resolution, UnixMillis, answering, changes,
};
use holdpoint_core::policy::Check;
use holdpoint_core::{Decision, Method, Session, Verdict, named};

use super::host::{Host, problem};
use super::proving;
use super::routes::resolved;
use crate::backup::{Backups, Wanted};
use crate::checks;
use crate::context::{Caller, SessionSource};
use crate::engine::{Engine, Reading};
use crate::error::EngineError;
use crate::excerpt::text_without_secrets;
use crate::pipeline::{Judged, Outcome, Permit, Refusal, Released};

/// Looks at a call for the last time, and lets it run or refuses it, on record.
pub(crate) fn release(released: Released) -> Result<Outcome, EngineError> {
    let Released { judged, resolution } = released;
    match resolution {
        None => by_rule(judged),
        Some(told) => by_person(judged, told),
    }
}

/// A rule let it run a moment ago, in this process: its judgement need not be made again.
fn by_rule(judged: Judged) -> Result<Outcome, EngineError> {
    let last = LastLook {
        engine: &judged.engine,
        caller: &judged.caller,
        reading: &judged.reading,
        verdict: judged.decision.verdict,
        by_rule: true,
    };
    let mut refusal = last.failed_check(&judged.decision);
    if refusal.is_none() {
        refusal = last.not_backed_up(&judged.decision);
    }
    if refusal.is_none() {
        refusal = last.counted()?;
    }
    if let Some(refusal) = refusal {
        let asked = judged.calling()?;
        return last.refused(&asked, refusal, None);
    }
    judged
        .engine
        .remember_written(&judged.caller, &judged.reading)?;
    judged.engine.expect_own(&judged.caller, &judged.reading);
    (judged.engine).expect_tests(&judged.caller, &judged.reading)?;
    let decision = judged.engine.without_secrets(judged.decision);
    Ok(Outcome::Runs(Box::new(Permit {
        engine: judged.engine,
        caller: judged.caller,
        reading: judged.reading,
        rewritten: judged.made.is_some(),
        made: judged.made.map(Arc::unwrap_or_clone),
        decision,
        request: None,
    })))
}

/// A person let it run, who may have thought for minutes and changed it: it is judged as it would run
/// now. Its checks ran before they were asked.
fn by_person(judged: Judged, told: Resolution) -> Result<Outcome, EngineError> {
    let verdict = judged.decision.verdict;
    let failed = |problem: Problem| EngineError::NotHeld { problem, verdict };
    let made = judged.calling()?;
    let asked = match &told.edited {
        Some(input) => made.with_input(input.clone()),
        None => made,
    };
    let host = Host {
        engine: &judged.engine,
        policy: judged.caller.policy.clone(),
        introduce: None,
    };
    let now = host.look(&asked).map_err(failed)?;
    let last = LastLook {
        engine: &judged.engine,
        caller: &judged.caller,
        reading: &now.reading,
        verdict,
        by_rule: false,
    };
    // What nobody was asked about, since a rule let it run, has no binding: the rule must let it run
    // now, too.
    let bound = told
        .binding
        .as_deref()
        .is_some_and(|binding| now.judged.is_bound_to(binding, told.card.as_deref()));
    let proved = || proving::proved(&judged.engine, &told, &now.judged, UnixMillis::now());
    let mut nonces = Vec::new();
    let decision = now.judged.decision.clone();
    let mut refusal = if decision.verdict == Verdict::Deny {
        Some(decision.clone())
    } else if !bound && !decision.verdict.runs() {
        Some(overtaken(
            &decision,
            // The moment between the answer and this look: what it names was there to be read a moment ago.
            changes::sentence("released", &told.parts, &now.judged.parts, &|_| None),
        ))
    } else if decision.verdict.runs() {
        None
    } else {
        match proved() {
            Ok(found) => {
                nonces = found;
                None
            }
            Err(refusal) => Some(*refusal),
        }
    };
    if refusal.is_none() {
        refusal = last.not_backed_up(&decision);
    }
    // What somebody signed is used up by a call that runs, and by none that could not be copied: they need not sign again.
    if refusal.is_none() {
        refusal = proving::used(&judged.engine, &nonces, &decision);
    }
    if refusal.is_none() {
        refusal = last.counted()?;
    }
    if let Some(refusal) = refusal {
        return last.refused(&asked, refusal, told.id);
    }
    judged
        .engine
        .remember_written(&judged.caller, &now.reading)?;
    judged.engine.expect_own(&judged.caller, &now.reading);
    (judged.engine).expect_tests(&judged.caller, &now.reading)?;
    let made = told.edited.is_some().then(|| judged.call().clone());
    // What a person changed is told with the rule that asked about what runs, not about what was made.
    let decision = match made {
        Some(_) => resolved(&decision, &told),
        None => resolved(&judged.decision, &told),
    };
    Ok(Outcome::Runs(Box::new(Permit {
        engine: judged.engine,
        caller: judged.caller,
        reading: now.reading,
        made,
        rewritten: false,
        decision,
        request: told.id,
    })))
}

/// A call as it would run, and for whom.
struct LastLook<'a> {
    engine: &'a Engine,
    caller: &'a Caller,
    reading: &'a Reading,
    /// What was decided when it was made.
    verdict: Verdict,
    /// Whether a rule lets it run, and nobody was asked.
    by_rule: bool,
}

impl LastLook<'_> {
    /// The refusal of a check, for a call that nobody was asked about.
    fn failed_check(&self, decision: &Decision) -> Option<Decision> {
        if decision.checks.iter().all(|check| *check == Check::Backup) {
            return None;
        }
        let action = &self.reading.action;
        let home = self.engine.locations().home.as_deref();
        let workspace: &Path = &self.caller.workspace;
        let paths = named(action).paths;
        let prepared = Prepared {
            checks: checks::run(&decision.checks, action, &paths, workspace, home),
            ..Prepared::default()
        };
        answering::hopeless(decision, &prepared)
    }

    /// Keeps a copy of what the call would change, if that is wanted; the refusal if it cannot.
    fn not_backed_up(&self, decision: &Decision) -> Option<Decision> {
        if !decision.checks.contains(&Check::Backup) {
            return None;
        }
        let error = self.back_up(&decision.call).err()?;
        Some(Decision {
            verdict: Verdict::Deny,
            method: Method::ToolPolicy,
            reason: format!("No copy of what it would change could be kept: {error}"),
            ..decision.clone()
        })
    }

    fn back_up(&self, digest: &str) -> Result<(), Problem> {
        let action = &self.reading.action;
        let named = named(action);
        let backups = Backups::at(self.engine.locations()).map_err(problem)?;
        backups
            .make(&Wanted {
                call: digest,
                about: &text_without_secrets(&action.call().signature()),
                paths: &named.paths,
                unknown: &named.unknown,
            })
            .map(drop)
            .map_err(problem)
    }

    /// Counts the call, if the calls of its tool are counted; the refusal if it is one too many. It is
    /// judged and counted in one step, so that two processes cannot both make the last call.
    fn counted(&self) -> Result<Option<Decision>, EngineError> {
        let tool = self.reading.action.call().tool();
        let name = match &self.caller.session {
            SessionSource::Kept(name) if self.reading.policy.limits_calls(tool) => name,
            SessionSource::Kept(_) | SessionSource::Given(_) => return Ok(None),
        };
        self.engine.change_session(name, |state| {
            let session = Session::new(state.clone());
            let decision = self
                .engine
                .judge_reading_for(self.caller, self.reading, &session);
            if decision.verdict == Verdict::Deny {
                return Some(decision);
            }
            if self.by_rule && decision.verdict > self.verdict.max(Verdict::Notify) {
                let nothing = BTreeMap::new();
                let reason = changes::sentence("released", &nothing, &nothing, &|_| None);
                return Some(overtaken(&decision, reason));
            }
            *state.calls.entry(tool.to_owned()).or_default() += 1;
            None
        })
    }

    /// Puts a refusal on record.
    fn refused(
        &self,
        asked: &CallContext,
        refusal: Decision,
        request: Option<String>,
    ) -> Result<Outcome, EngineError> {
        let host = Host {
            engine: self.engine,
            policy: self.caller.policy.clone(),
            introduce: None,
        };
        let event = Event::Judged {
            asked,
            decision: &refusal,
        };
        host.record(event).map_err(|problem| EngineError::NotHeld {
            problem,
            verdict: self.verdict,
        })?;
        Ok(Outcome::Refused(Refusal {
            request,
            ..Refusal::by_rule(refusal)
        }))
    }
}

/// The refusal of a call that is no longer what was let run.
fn overtaken(decision: &Decision, reason: String) -> Decision {
    Decision {
        verdict: Verdict::Deny,
        method: Method::Error,
        reason,
        ..decision.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{GivenPolicy, PolicySource};
    use crate::locations::Locations;
    use holdpoint_core::{Policy, ToolCall};
    use std::sync::Arc;

    /// An engine with its state in a directory, and who calls under a policy that asks about everything.
    fn asking(state: &std::path::Path) -> (Engine, Arc<Caller>) {
        let locations = Locations {
            state: Some(state.join("state")),
            ..Locations::of_this_machine()
        };
        let policy = Policy::from_text("p", r#"{"defaultPolicy":"ask"}"#).unwrap();
        let caller = Caller {
            agent: "a".into(),
            session_name: Some("s".into()),
            policy: PolicySource::Given(GivenPolicy(Arc::new(policy))),
            session: SessionSource::Kept("s".into()),
            workspace: "/".into(),
            can_contain: false,
            circumstances: Default::default(),
        };
        (Engine::at(&locations), Arc::new(caller))
    }

    #[test]
    fn what_nobody_was_asked_about_must_run_by_itself() {
        let home = tempfile::tempdir().unwrap();
        let (engine, caller) = asking(home.path());
        let call = || ToolCall::shell("make").in_directory("/");
        let judged = || engine.judge(call(), Arc::clone(&caller)).unwrap();
        let asked = judged().calling().unwrap();
        let host = Host {
            engine: &engine,
            policy: caller.policy.clone(),
            introduce: None,
        };
        let now = host.look(&asked).unwrap().judged;
        let mut told = Resolution::decided(&Decision {
            verdict: Verdict::Allow,
            ..now.decision
        });
        let looked = by_person(judged(), told.clone()).unwrap();
        assert!(matches!(looked, Outcome::Refused(_)), "{looked:?}");
        told.binding = Some(now.binding);
        told.card = Some(now.card);
        let looked = by_person(judged(), told).unwrap();
        assert!(matches!(looked, Outcome::Runs(_)), "{looked:?}");
    }

    #[test]
    fn a_call_that_was_changed_is_told_by_what_runs() {
        let home = tempfile::tempdir().unwrap();
        let (engine, caller) = asking(home.path());
        let call = ToolCall::shell("git push --force origin topic").in_directory("/");
        let judged = || engine.judge(call.clone(), Arc::clone(&caller)).unwrap();
        assert!(judged().decision.rule.is_some());
        let mut input = judged().calling().unwrap().input;
        input.insert("command".into(), "make".into());
        let asked = judged().calling().unwrap().with_input(input.clone());
        let host = Host {
            engine: &engine,
            policy: caller.policy.clone(),
            introduce: None,
        };
        let now = host.look(&asked).unwrap().judged;
        let told = Resolution {
            edited: Some(input),
            binding: Some(now.binding),
            card: Some(now.card),
            ..Resolution::decided(&Decision {
                verdict: Verdict::Allow,
                ..now.decision.clone()
            })
        };
        let Outcome::Runs(permit) = by_person(judged(), told.clone()).unwrap() else {
            panic!("it does not run");
        };
        assert_eq!(permit.decision().rule, now.decision.rule);
        assert_eq!(permit.decision().call, now.decision.call);
        assert_eq!(permit.decision().instead, None);
        // Refused after it was changed: by no rule that asked about what it was.
        let refused = Resolution {
            changed: true,
            ..told
        };
        let decision = resolved(&judged().decision, &refused);
        assert_eq!((decision.rule, decision.instead), (None, None));
        assert!(decision.findings.is_empty());
    }

    #[test]
    fn on_another_branch_it_is_another_call() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        let head = root.join(".git/HEAD");
        std::fs::create_dir(root.join(".git")).unwrap();
        let on = |branch: &str| std::fs::write(&head, format!("ref: refs/heads/{branch}")).unwrap();
        let locations = Locations {
            state: Some(root.join("state")),
            ..Locations::of_this_machine()
        };
        let text = r#"{"defaultPolicy": "defer", "tools": {"Bash": {"supervision": "confirm",
            "conditions": {"facts": {"not_branch": "scratch"}}}}}"#;
        let policy = Policy::from_text("p", text).unwrap();
        let engine = Engine::at(&locations);
        let caller = Arc::new(Caller {
            agent: "a".into(),
            session_name: Some("s".into()),
            policy: PolicySource::Given(GivenPolicy(Arc::new(policy))),
            session: SessionSource::Kept("s".into()),
            workspace: root.clone(),
            can_contain: false,
            circumstances: Default::default(),
        });
        let call = ToolCall::shell("make").in_directory(root.to_str().unwrap());
        let judged = || engine.judge(call.clone(), Arc::clone(&caller)).unwrap();
        on("topic");
        let asked = judged().calling().unwrap();
        let host = Host {
            engine: &engine,
            policy: caller.policy.clone(),
            introduce: None,
        };
        let shown = host.look(&asked).unwrap().judged;
        let mut told = Resolution::decided(&Decision {
            verdict: Verdict::Allow,
            ..shown.decision
        });
        told.binding = Some(shown.binding);
        told.card = Some(shown.card);
        let runs = |told: &Resolution| match by_person(judged(), told.clone()).unwrap() {
            Outcome::Runs(_) => true,
            Outcome::Refused(_) | Outcome::HandedOn(_) => false,
        };
        assert!(runs(&told));
        on("main");
        assert!(!runs(&told));
        on("topic");
        assert!(runs(&told));
    }
}
