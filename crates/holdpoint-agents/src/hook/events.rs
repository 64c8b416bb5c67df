//! What an agent's events are about. Each adapter has a table of those it knows; what no table has
//! is taken for a call nobody understands, never for something to be waved through.

use super::HookPoint;

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A call that has not been made.
    Call(HookPoint),
    /// What a call returned.
    Result,
    /// Why a call failed.
    Failure,
    /// What the user wrote.
    Prompt,
    /// Settings the agent is about to go by.
    Change,
    /// The agent's turn has ended, and it waits for its user.
    TurnEnds,
    /// Nothing that asks for permission.
    Tells,
}

/// The names of events, and what they are about.
pub(crate) type Events = &'static [(&'static str, Event)];

pub(crate) const BEFORE_CALL: Event = Event::Call(HookPoint::BeforeCall);
pub(crate) const BEFORE_PROMPT: Event = Event::Call(HookPoint::BeforePrompt);
pub(crate) const TURN_ENDS: Event = Event::TurnEnds;

/// What the event of that name is about. One without a name is about a call.
pub(crate) fn about(events: Events, name: Option<&str>) -> Event {
    match name {
        None => BEFORE_CALL,
        Some(name) => events
            .iter()
            .find(|(known, _)| *known == name)
            .map_or(Event::Call(HookPoint::Unknown), |(_, event)| *event),
    }
}
