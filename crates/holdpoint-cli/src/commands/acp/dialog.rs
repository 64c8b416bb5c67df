//! The editor's own dialog as a channel: the agent's request goes to it, its answer comes back.

use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use holdpoint_broker::{
    Answer, Channel, ChannelError, Evidence, Request, Route, SignedAnswer, Waiting,
};
use holdpoint_engine::account_name;
use holdpoint_mcp::jsonrpc::Id;

use super::permission::{Heard, Kind, Options, with_reason};
use super::wires::Wires;

/// How often it is looked whether anybody still wants to know.
const GLANCE: Duration = Duration::from_millis(100);

/// One request of an agent, shown by its editor.
pub(super) struct Dialog<'a> {
    pub(super) wires: &'a Wires,
    pub(super) id: &'a Id,
    /// The request as the agent sent it.
    pub(super) line: &'a str,
    pub(super) options: &'a Options,
    pub(super) asked: bool,
    /// Whether the editor said that the turn was cancelled.
    pub(super) cancelled: bool,
}

impl Channel for Dialog<'_> {
    fn ask(
        &mut self,
        request: &Request,
        waiting: &Waiting<'_>,
    ) -> Result<SignedAnswer, ChannelError> {
        // An editor shows a request once.
        if std::mem::replace(&mut self.asked, true) {
            return Err(ChannelError::Refused("The answer had no effect".into()));
        }
        let unusable = |text: &str| ChannelError::Unusable(text.to_owned());
        if self.options.allow_once().is_none() {
            return Err(unusable("the agent offers no way to allow this once"));
        }
        let (reason, about) = (&request.decision.reason, &request.display.summary);
        let line = with_reason(self.line, reason, about)
            .map_err(|_| unusable("the request cannot be passed on"))?;
        let answers = self.wires.open(self.id).map_err(unusable)?;
        let heard = match self.wires.to_editor(&line) {
            Ok(()) => heard(&answers, waiting),
            Err(_) => Err(ChannelError::Refused(GONE.into())),
        };
        let said = heard.and_then(|heard| self.said(&heard, request));
        if said.is_err() {
            self.wires.give_up(self.id);
        }
        said
    }

    /// There is nothing in the protocol to tell it with.
    fn told(&mut self, _request: &Request, _message: &str) {}
}

impl Dialog<'_> {
    fn said(&mut self, heard: &Heard, request: &Request) -> Result<SignedAnswer, ChannelError> {
        let answer = match heard {
            Heard::Selected(option) => match self.options.kind(option) {
                Kind::AllowOnce => Answer::Yes,
                Kind::RejectOnce | Kind::RejectAlways => Answer::No,
                Kind::AllowAlways | Kind::Unknown => return Err(strange()),
            },
            Heard::Cancelled => {
                self.cancelled = true;
                return Err(ChannelError::Cancelled);
            }
            Heard::Strange => return Err(strange()),
        };
        Ok(SignedAnswer {
            answer,
            // Whoever sits at the editor runs it under this account.
            approver: account_name(),
            on_behalf_of: Vec::new(),
            binding: Some(request.binding.clone()),
            phrase: None,
            evidence: Evidence::by(Route::Dialog),
        })
    }
}

const GONE: &str = "The editor has gone";

fn strange() -> ChannelError {
    ChannelError::Refused("The editor gave an answer that is none of those it was offered".into())
}

fn heard(answers: &Receiver<Heard>, waiting: &Waiting<'_>) -> Result<Heard, ChannelError> {
    let started = Instant::now();
    loop {
        let left = waiting
            .limit
            .map(|limit| limit.saturating_sub(started.elapsed()));
        if left.is_some_and(|left| left.is_zero()) {
            return Err(ChannelError::Timeout);
        }
        match answers.recv_timeout(left.map_or(GLANCE, |left| left.min(GLANCE))) {
            Ok(heard) => return Ok(heard),
            Err(RecvTimeoutError::Disconnected) => return Err(ChannelError::Refused(GONE.into())),
            Err(RecvTimeoutError::Timeout) if (waiting.cancelled)() => {
                // An editor that goes takes the question along, and one that answers is heard.
                return match answers.try_recv() {
                    Ok(heard) => Ok(heard),
                    Err(TryRecvError::Disconnected) => Err(ChannelError::Refused(GONE.into())),
                    Err(TryRecvError::Empty) => Err(ChannelError::Cancelled),
                };
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}
