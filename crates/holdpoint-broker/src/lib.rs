//! Calls that wait for a person.
//!
//! A [`Request`] is one call that is held: bound to the digest of exactly what was shown, answered
//! once, by somebody who has a name, and used once. [`answering`] is what an answer does to it, and
//! asks the [`BrokerHost`] whatever it cannot know itself: how the call is judged now, how an answer is
//! recorded and remembered. A [`Channel`] carries a request to a person and the answer back. [`local`]
//! holds a call in the process that asks, [`wire`] asks the daemon, which keeps requests that survive
//! it: a crate of its own, since it needs a runtime and a database, and nothing here does.

pub mod answer;
pub mod answering;
pub mod changes;
pub mod channel;
pub mod host;
pub mod local;
pub mod people;
pub mod request;
pub mod resolution;
pub mod stop;
pub mod time;
pub mod wire;
pub mod words;

pub use answer::{Answer, Evidence, KeptFor, Route, Scope, SignedAnswer};
pub use answering::{Step, apply};
pub use channel::{Channel, ChannelError, Turn, Waiting};
pub use host::{BrokerHost, Event, Judged, Memory, Prepared, Problem, Unsure, Vouched};
pub use people::{Delegation, People, PeopleStore, Person, Role, Roster};
pub use request::{
    Approval, CallContext, Card, CheckResult, Context, Display, Edit, Format, Mark, NamedPath,
    Offer, ProvedBy, Request, Settled, State, Status, Terms, Warned, card_digest,
};
pub use resolution::Resolution;
pub use stop::StopScope;
pub use time::UnixMillis;
