//! On which terms a person is asked about a call.

use holdpoint_broker::{CallContext, Offer, Scope, Terms};
use holdpoint_core::policy::AskingTerms;
use holdpoint_core::{
    Action, Decision, OfferScope, Policy, Session, SessionState, Surroundings, Verdict, judge,
    offers,
};

use super::host::lasting;

/// The terms for a call that was judged so.
pub(super) fn for_decision(
    asked: &CallContext,
    action: &Action,
    decision: &Decision,
    policy: &Policy,
    session: &SessionState,
    around: &Surroundings<'_>,
) -> Terms {
    let stated = stated(policy, &asked.tool, decision);
    let review = decision.verdict == Verdict::Review;
    // A rule left behind answers later calls without the people this one needs.
    let alone = !review && !stated.wants_certain_people();
    Terms {
        deadline: stated.deadline,
        required: stated.required,
        approvers: stated.approvers,
        phrase: review.then(|| phrase(action)),
        editable: stated
            .editable
            .into_iter()
            .filter(|key| asked.input.contains_key(key))
            .collect(),
        offers: match alone && decision.verdict == Verdict::Ask {
            true => useful_offers(action, policy, session, around),
            false => Vec::new(),
        },
        suspendable: alone,
    }
}

/// What the policy states for a call that was judged so. What it needs it needs for each of its
/// parts, whichever rule is named first.
pub(super) fn stated(policy: &Policy, tool: &str, decision: &Decision) -> AskingTerms {
    let asking = decision
        .findings
        .iter()
        .filter(|finding| matches!(finding.verdict, Verdict::Ask | Verdict::Review))
        .map(|finding| finding.rule.as_str());
    let rules = decision.rule.as_deref().into_iter().chain(asking);
    policy
        .asking_terms_of(tool, rules)
        .unwrap_or_else(|| policy.asking_terms(tool, None))
}

/// The rules that would have let this call run: any other would be stored in vain.
fn useful_offers(
    action: &Action,
    policy: &Policy,
    session: &SessionState,
    around: &Surroundings<'_>,
) -> Vec<Offer> {
    offers(action)
        .into_iter()
        .filter(|(_, patterns)| {
            let mut with = session.clone();
            with.allow.extend(patterns.iter().cloned());
            judge(action, policy, &Session::new(with), around)
                .verdict
                .runs()
        })
        .map(|(scope, patterns)| Offer {
            scope: match scope {
                OfferScope::Exact => Scope::Exact,
                OfferScope::Prefix => Scope::Prefix,
                OfferScope::Tool => Scope::Tool,
            },
            patterns,
            lasts: lasting(),
        })
        .collect()
}

/// What must be typed to release a call that is to be reviewed: something one has to look at it for.
fn phrase(action: &Action) -> String {
    let parts = holdpoint_core::parts(action).unwrap_or_default();
    let program = parts
        .first()
        .and_then(|part| part.text.split_whitespace().next())
        .map(|program| program.rsplit('/').next().unwrap_or(program));
    let what = program.unwrap_or(action.call().tool());
    let plain: String = what
        .chars()
        .filter(|letter| letter.is_ascii_graphic())
        .take(40)
        .collect();
    format!("release {plain}")
}
