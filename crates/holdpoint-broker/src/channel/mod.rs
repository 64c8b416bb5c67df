//! How a request reaches a person and an answer comes back. One trait, whatever carries it.
//!
//! - [`console`] asks on the terminal the hook was started from.
//! - [`mod@file`] asks whoever watches a directory; a webhook, which the daemon's crate has, an HTTP
//!   endpoint. They write the same question ([`payload`]) and read the same reply ([`reply`]).
//! - [`build()`] makes the one a policy names; one that cannot be made is an error, never another.

mod build;
pub mod console;
#[cfg(unix)]
pub mod file;
pub mod patience;
pub mod payload;
#[cfg(unix)]
mod private;
mod queue;
pub mod reply;
#[cfg(test)]
mod sample;

use std::time::Duration;

pub use build::{Setting, WebhookBuilder, build};

use crate::answer::SignedAnswer;
use crate::request::Request;
#[cfg(test)]
use crate::{UnixMillis, request::Edit};

/// Carries requests to people.
///
/// A channel only carries. It does not judge, remember or record, and whoever gets its answer
/// applies it by [`apply`](crate::apply); an answer that has no effect is told to the person by
/// [`Channel::told`], and they are asked again.
pub trait Channel {
    /// Waits until it is this request's turn, where only one can be shown at a time (J-45). What was
    /// decided before is decided anew afterwards.
    fn take_turn(&mut self, _waiting: &Waiting<'_>) -> Result<Turn, ChannelError> {
        Ok(Turn::AtOnce)
    }

    /// Lets the next one ask: what came of this request is recorded and remembered.
    fn end_turn(&mut self) {}

    /// Asks, and waits for an answer. What comes back must be the answer of a person, named by the
    /// channel's own authentication.
    fn ask(
        &mut self,
        request: &Request,
        waiting: &Waiting<'_>,
    ) -> Result<SignedAnswer, ChannelError>;

    /// Tells whoever answered what came of it.
    fn told(&mut self, request: &Request, message: &str);
}

/// Whether others came before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// None did.
    AtOnce,
    /// Some did, and their answers may cover this call.
    AfterOthers,
}

/// How long a channel may wait, and whether anybody still wants to know.
pub struct Waiting<'a> {
    /// The longest it may take; none means until there is an answer.
    pub limit: Option<Duration>,
    /// Whether whoever asked has gone away.
    pub cancelled: &'a dyn Fn() -> bool,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// The channel cannot be used; it is never swapped for another in silence (J-10).
    #[error("{0}")]
    Unusable(String),
    /// Nobody answered in time.
    #[error("nobody answered in time")]
    Timeout,
    /// The person turned away: an empty line, end of input, Ctrl-C (J-36).
    #[error("{0}")]
    Refused(String),
    /// What came back is no answer of a person: it cannot be read, is not signed as it should be, or is about something else. The call
    /// does not run, and nobody is said to have refused it.
    #[error("{0}")]
    Broken(String),
    /// Whoever asked has gone away.
    #[error("the call was cancelled")]
    Cancelled,
}
