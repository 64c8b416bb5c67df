//! A call that ran inside the sandbox and was refused something there: how a person lets it run outside.
//!
//! Where a daemon runs, it is told of the call, and a person's yes is for the identical call, once. Otherwise a rule of the
//! session lets it run, which a person has to leave.

use holdpoint_broker::wire::{self, Places};
use holdpoint_broker::{CallContext, Resolution, Scope};

use super::host::Host;
use crate::engine::Engine;
use crate::pipeline::Judged;

/// How a person lets a call run outside of the sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WayOut {
    /// By answering this request, once.
    Request(String),
    /// By a rule of the session: these patterns.
    Rule {
        /// The session.
        session: String,
        /// What `holdpoint permissions allow` is to be given.
        patterns: Vec<String>,
    },
    /// Not by a word: no rule of a session would let it run.
    None,
}

/// Offers a person to let a call run outside that ran inside and was refused this, in words without secrets.
pub fn offer(engine: &Engine, asked: &CallContext, refused: Vec<String>) -> WayOut {
    let state = engine.locations().state.as_ref();
    let offered = state.and_then(|state| wire::offer(&Places::under(state), asked, refused).ok());
    if let Some(id) = offered {
        return WayOut::Request(id);
    }
    let looked = Host::of_call(engine, asked).look(asked);
    let offers = looked.map(|looked| looked.judged.terms.offers);
    let exact = offers
        .unwrap_or_default()
        .into_iter()
        .find(|offer| offer.scope == Scope::Exact);
    match exact {
        Some(offer) => WayOut::Rule {
            session: asked.session.clone(),
            patterns: offer.patterns,
        },
        None => WayOut::None,
    }
}

/// A person's yes to a call that is to be contained; it is used by this. Without a daemon there is none, and one that does not
/// answer leaves the call inside the sandbox.
pub(crate) fn released(judged: &Judged) -> Option<Resolution> {
    // The daemon judges by the policy files: its answer would be about another policy.
    if !judged.caller.policy.is_known_to_all() {
        return None;
    }
    let state = judged.engine.locations().state.as_ref()?;
    let places = Places::under(state);
    // Most machines have no daemon, and looking costs less than writing the call down.
    if !places.socket().exists() {
        return None;
    }
    let asked = judged.calling().ok()?;
    let told = wire::claim(&places, &asked).ok()??;
    told.verdict.runs().then_some(told)
}
