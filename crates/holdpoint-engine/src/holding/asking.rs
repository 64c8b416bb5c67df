//! Who can be asked about a call, by whoever makes it.

use std::io;
use std::time::Duration;

use holdpoint_broker::Channel;

use super::host::Introduce;

/// Who can be asked, and for how long.
pub struct Asking<'a> {
    /// Who.
    pub approvers: Approvers<'a>,
    /// The longest the caller waits, if that is less than the policy does.
    pub patience: Option<Duration>,
    /// Whether the caller can be handed other arguments than it made the call with.
    pub takes_edits: bool,
    /// Whether the caller no longer wants an answer.
    pub cancelled: &'a dyn Fn() -> bool,
    /// Told how long a person may take, before one is asked.
    pub before_waiting: &'a dyn Fn(Duration) -> io::Result<()>,
    /// The words a tool has for its own calls.
    pub introduce: Option<Introduce<'a>>,
}

/// Who can be asked.
pub enum Approvers<'a> {
    /// Nobody from here: the question is handed on to whoever made the call, who asks or does not.
    HandsOn,
    /// Nobody at all: what would be asked is refused (J-47).
    Nobody,
    /// People, reached in the way the policy says; the agent's own dialog where that is the way.
    AsPolicySays(Dialog<'a>),
    /// People, through this channel, whatever the policy says.
    Through(&'a mut dyn Channel),
}

/// The dialog of the agent that makes a call.
pub enum Dialog<'a> {
    /// It has none here.
    None,
    /// It asks its user itself, and runs the call if they say yes.
    Own,
    /// It shows what it is told to, and says what came of it. There is no place to type a phrase.
    Shown(&'a mut dyn Channel),
}

impl<'a> Asking<'a> {
    /// Somebody who waits for as long as the policy says, and takes what comes.
    pub fn by(approvers: Approvers<'a>) -> Self {
        Self {
            approvers,
            patience: None,
            takes_edits: true,
            cancelled: &|| false,
            before_waiting: &|_| Ok(()),
            introduce: None,
        }
    }
}
