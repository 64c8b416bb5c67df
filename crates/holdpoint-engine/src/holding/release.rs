//! The last look before a released call runs: is it still what was shown, may it still run, and is
//! there a copy of what it would change (X-04).

use holdpoint_broker::{BrokerHost, CallContext, Event, Judged, Problem, Resolution};
use holdpoint_core::policy::Check;
use holdpoint_core::{Decision, Method, Verdict};

use super::world::House;
use crate::sessions::{SessionId, Sessions};

/// What comes of a last look.
#[derive(Clone, Debug)]
pub enum Released {
    /// It runs, with these arguments if a person changed them.
    Runs,
    /// It does not, for the reason in this decision, which is on record.
    Refused(Box<Decision>),
}

/// Looks at a call that was released, as it would run. Counts it, if its calls are counted, and
/// keeps a copy of what it would change, if that is wanted.
pub fn release(house: &House, asked: &CallContext, told: &Resolution) -> Result<Released, Problem> {
    let policy = house.policy(asked)?;
    let judged = if policy.limits_calls(&asked.tool) {
        counted(house, asked, &policy)?
    } else {
        house.judge_in(asked, &policy, &house.session(asked)?)?
    };
    // What nobody was asked about, since a rule let it run, has no binding: the rule must let it run
    // now, too.
    let bound = told.binding.as_ref() == Some(&judged.binding);
    let refusal = if judged.decision.verdict == Verdict::Deny {
        Some(judged.decision.clone())
    } else if !bound && !judged.decision.verdict.runs() {
        Some(Decision {
            verdict: Verdict::Deny,
            method: Method::Error,
            reason: "It changed after it was released: the policy or a file it names is another \
                     now. Make the call again to have it looked at as it is"
                .into(),
            ..judged.decision.clone()
        })
    } else {
        backed_up(house, asked, &judged)
            .err()
            .map(|problem| Decision {
                verdict: Verdict::Deny,
                method: Method::ToolPolicy,
                reason: format!("No copy of what it would change could be kept: {problem}"),
                ..judged.decision.clone()
            })
    };
    match refusal {
        None => Ok(Released::Runs),
        Some(decision) => {
            house.record(Event::Judged {
                asked,
                decision: &decision,
            })?;
            Ok(Released::Refused(Box::new(decision)))
        }
    }
}

/// Judges and counts in one step, so that two calls cannot both be the last one.
fn counted(
    house: &House,
    asked: &CallContext,
    policy: &holdpoint_core::Policy,
) -> Result<Judged, Problem> {
    let fail = |error: crate::SessionError| Problem(error.to_string());
    let sessions = Sessions::at(house.locations()).map_err(fail)?;
    sessions
        .change(&SessionId::new(&asked.session), |state| {
            let judged = house.judge_in(asked, policy, state)?;
            if judged.decision.verdict != Verdict::Deny {
                *state.calls.entry(asked.tool.clone()).or_default() += 1;
            }
            Ok(judged)
        })
        .map_err(fail)?
}

fn backed_up(house: &House, asked: &CallContext, judged: &Judged) -> Result<(), Problem> {
    if !judged.decision.checks.contains(&Check::Backup) {
        return Ok(());
    }
    house.back_up(asked, &judged.decision.call)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locations::Locations;
    use holdpoint_broker::Context;
    use holdpoint_core::Policy;
    use std::sync::Arc;

    #[test]
    fn what_nobody_was_asked_about_must_run_by_itself() {
        let home = tempfile::tempdir().unwrap();
        let locations = Locations {
            state: Some(home.path().join("state")),
            ..Locations::of_this_machine()
        };
        let policy = Policy::from_text("p", r#"{"defaultPolicy":"ask"}"#).unwrap();
        let house = House::at(&locations).under(Arc::new(policy));
        let asked = CallContext {
            agent: "a".into(),
            session: "s".into(),
            tool: "Bash".into(),
            input: serde_json::from_str(r#"{"command":"make"}"#).unwrap(),
            directory: "/".into(),
            workspace: "/".into(),
            config: None,
            context: Context::default(),
        };
        let judged = house.judge(&asked).unwrap();
        let mut told = Resolution::decided(&Decision {
            verdict: Verdict::Allow,
            ..judged.decision
        });
        let looked = release(&house, &asked, &told).unwrap();
        assert!(matches!(looked, Released::Refused(_)), "{looked:?}");
        told.binding = Some(judged.binding);
        let looked = release(&house, &asked, &told).unwrap();
        assert!(matches!(looked, Released::Runs), "{looked:?}");
    }
}
