//! On which terms a person is asked about a call.

use holdpoint_broker::{CallContext, Offer, Scope, Terms};
use holdpoint_core::policy::{AskingTerms, Presence};
use holdpoint_core::{
    Action, Decision, OfferScope, Policy, Session, SessionState, Surroundings, Verdict, judge,
    offers,
};

use super::host::lasting;
use crate::pins::Pinned;

/// The terms for a call that was judged so.
pub(super) fn for_decision(
    asked: &CallContext,
    action: &Action,
    decision: &Decision,
    policy: &Policy,
    session: &SessionState,
    around: &Surroundings<'_>,
    pinned: &Pinned,
) -> Terms {
    let stated = stated(policy, &asked.tool, decision);
    let review = decision.verdict == Verdict::Review;
    let presence = presence(policy, &asked.tool, decision, pinned);
    // A rule left behind answers later calls without the people this one needs, or their signatures.
    let alone = !review && !stated.wants_certain_people() && presence < Presence::Code;
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
        // What is suspended is every question, those that need a signature among them.
        suspendable: alone && *pinned == Pinned::Nobody,
        presence,
    }
}

/// How sure it must be that a person says yes to a call that was judged so.
pub(super) fn presence(
    policy: &Policy,
    tool: &str,
    decision: &Decision,
    pinned: &Pinned,
) -> Presence {
    let stated = policy.stated_presence(tool, asking_rules(decision), decision.risk);
    pinned.level(stated, decision.risk)
}

/// What the policy states for a call that was judged so. What it needs it needs for each of its
/// parts, whichever rule is named first.
pub(super) fn stated(policy: &Policy, tool: &str, decision: &Decision) -> AskingTerms {
    policy
        .asking_terms_of(tool, asking_rules(decision))
        .unwrap_or_else(|| policy.asking_terms(tool, None))
}

/// The rules that ask.
fn asking_rules(decision: &Decision) -> impl Iterator<Item = &str> {
    let asking = decision
        .findings
        .iter()
        .filter(|finding| matches!(finding.verdict, Verdict::Ask | Verdict::Review))
        .map(|finding| finding.rule.as_str());
    decision.rule.as_deref().into_iter().chain(asking)
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
            released: session.released_in(&patterns),
            patterns,
            lasts: lasting(),
        })
        .collect()
}

/// What a person is told who has answered the same question before: the rule that would answer it.
pub(super) fn suggested(terms: &Terms) -> Option<String> {
    let offer = terms.suggestion()?;
    Some(format!(
        "{} times this session a call of this form was asked about and released. The answer `always` ({}) would leave this rule \
         and nobody is asked again: {}",
        offer.released,
        offer.scope.as_str(),
        offer.patterns.join("  and  ")
    ))
}

/// The same for whoever is asked in the agent's own dialog, which knows no `always` of ours.
pub(super) fn suggested_command(terms: &Terms) -> Option<String> {
    let offer = terms.suggestion()?;
    // `cargo test *` covers `cargo test` as well, and the command takes its words for one pattern.
    let pattern = quoted(offer.patterns.last()?);
    Some(format!(
        "Asked and released {} times this session; so that nobody is asked again: `holdpoint permissions allow {pattern}`",
        offer.released
    ))
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
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
