//! Tells a messenger of the person's own (ntfy, Slack, Teams) that a call waits, and where its page is.
//!
//! Such a service cannot answer: whatever came back from it would prove nobody, so nothing that comes back is looked at but
//! whether the message was taken. The daemon holds the call, and people answer on its page, where they sign in. A message that
//! cannot be sent holds nothing up and releases nothing.

mod message;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use holdpoint_broker::channel::patience::Patience;
use holdpoint_broker::host::Problem;
use holdpoint_broker::{CallContext, ChannelError, Request, State, Waiting};
use holdpoint_core::policy::{Channel, ChannelFormat};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use self::message::Message;
use crate::broker::{Broker, Change, ChangeKind};
use crate::webhook::{Endpoint, is_tls_problem, retry_after, unusable};

/// More calls than this that came at once are told in one message that counts them: nobody reads a hundred.
const MAX_AT_ONCE: usize = 3;

/// How long one attempt may take: other messages wait behind it.
const MAX_TIME: Duration = Duration::from_secs(10);

/// How long is waited before each further attempt; then the message is given up, since the call may be answered already.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(5)];

/// The longest a service may have us wait before the next attempt.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// The channel of the policy a call comes under; none where there is none, or the policy cannot be read.
pub type ChannelOf = Box<dyn Fn(&CallContext) -> Option<Channel> + Send>;

/// Looks variables of the environment up.
pub type Environment = Box<dyn Fn(&str) -> Option<String> + Send>;

/// What the messages need of the program around them.
pub struct Notices {
    /// The requests they are about.
    pub broker: Broker,
    /// The page's address.
    pub page: String,
    /// Where a message about a call goes.
    pub channel_of: ChannelOf,
    /// For what the settings leave to it.
    pub environment: Environment,
    /// Says what went wrong to whoever looks after the daemon.
    pub say: Box<dyn Fn(&str) + Send>,
}

impl Notices {
    /// Tells of every call that begins to wait from now on, on a thread of its own: a slow service keeps nobody waiting.
    pub fn start(self) -> Result<(), Problem> {
        let changes = self.broker.events();
        thread::Builder::new()
            .name("notices".into())
            .spawn(move || self.run(changes))
            .map(drop)
            .map_err(|error| Problem(format!("nobody can be told of calls ({})", error.kind())))
    }

    fn run(self, mut changes: Receiver<Arc<Change>>) {
        loop {
            let mut opened = match changes.blocking_recv() {
                Ok(change) => of_opened(&change).into_iter().collect(),
                // Too much happened to follow: what waits now is what there is to tell.
                Err(RecvError::Lagged(_)) => self.broker.pending().unwrap_or_default(),
                Err(RecvError::Closed) => return,
            };
            loop {
                match changes.try_recv() {
                    Ok(change) => opened.extend(of_opened(&change)),
                    Err(TryRecvError::Lagged(_)) => {}
                    Err(TryRecvError::Empty | TryRecvError::Closed) => break,
                }
            }
            self.tell(opened);
        }
    }

    /// Tells of these calls, each in the messenger its policy names.
    fn tell(&self, opened: Vec<Request>) {
        let mut groups: Vec<(Channel, ChannelFormat, Vec<Request>)> = Vec::new();
        for request in opened {
            let Some(channel) = (self.channel_of)(&request.asked) else {
                continue;
            };
            let Some(format) = channel.only_tells() else {
                continue;
            };
            match groups.iter_mut().find(|(known, ..)| *known == channel) {
                Some((_, _, requests)) => requests.push(request),
                None => groups.push((channel, format, vec![request])),
            }
        }
        for (channel, format, requests) in groups {
            if let Err(error) = self.tell_group(&channel, format, &requests) {
                (self.say)(&format!("nobody was told that a call waits: {error}"));
            }
        }
    }

    fn tell_group(
        &self,
        channel: &Channel,
        format: ChannelFormat,
        requests: &[Request],
    ) -> Result<(), ChannelError> {
        let ca_file = channel.settings.ca_file.as_deref();
        let ca_file = ca_file.map(|path| self.place(path)).transpose()?;
        let endpoint = Endpoint::new(&channel.settings, ca_file.as_deref(), &self.environment)?;
        let (endpoint, topic) = message::addressed(format, endpoint)?;
        let details = channel.settings.details.unwrap_or(true);
        let still = || requests.iter().filter(|request| self.waits(&request.id));
        let messages: Vec<Message> = match requests.len() {
            0..=MAX_AT_ONCE => still()
                .map(|request| Message::about(request, &self.page, details))
                .collect(),
            _ => match still().count() {
                0 => Vec::new(),
                count => vec![Message::counting(count, &self.page)],
            },
        };
        for message in messages {
            send(&endpoint, &message.body(format, &topic))?;
        }
        Ok(())
    }

    /// Whether nobody has answered yet. What cannot be looked up is told.
    fn waits(&self, id: &str) -> bool {
        match self.broker.find(id) {
            Ok(found) => found.is_some_and(|request| request.state == State::Pending),
            Err(_) => true,
        }
    }

    fn place(&self, written: &str) -> Result<PathBuf, ChannelError> {
        let home = (self.environment)("HOME").filter(|home| !home.is_empty());
        let path = match (written.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => Path::new(&home).join(rest),
            (Some(_), None) | (None, _) => PathBuf::from(written),
        };
        match path.is_absolute() {
            true => Ok(path),
            false => Err(unusable(
                "`ca_file` must be the whole path, or one that starts with ~/",
            )),
        }
    }
}

/// A call that began to wait for an answer; what only offers a way out of the sandbox keeps no agent waiting.
fn of_opened(change: &Change) -> Option<Request> {
    let waits = change.kind == ChangeKind::Opened && !change.request.offered;
    waits.then(|| change.request.clone())
}

/// Posts a message until it is taken, as often as there are [`PAUSES`] and once.
fn send(endpoint: &Endpoint, body: &[u8]) -> Result<(), ChannelError> {
    let mut pauses = PAUSES.iter();
    loop {
        let waiting = Waiting {
            limit: Some(MAX_TIME),
            cancelled: &|| false,
        };
        let patience = Patience::begin(&waiting);
        let token = endpoint.token(&patience)?;
        let (why, after) = match endpoint.post(body, token.as_deref(), &patience)? {
            Ok(response) if response.status().is_success() => return Ok(()),
            Ok(response) => {
                let status = response.status();
                let why = format!("answered with status {}", status.as_u16());
                if !status.is_server_error() && status.as_u16() != 429 {
                    return Err(failed(endpoint, &why));
                }
                (why, retry_after(response.headers()))
            }
            Err(error) if is_tls_problem(&error) => {
                return Err(failed(endpoint, "shows a certificate that is not accepted"));
            }
            Err(_) => ("cannot be reached".to_owned(), None),
        };
        let Some(pause) = pauses.next() else {
            return Err(failed(endpoint, &why));
        };
        thread::sleep(after.unwrap_or(*pause).min(MAX_PAUSE));
    }
}

/// The rest of the address is often a secret.
fn failed(endpoint: &Endpoint, what: &str) -> ChannelError {
    ChannelError::Broken(format!("the webhook at {} {what}", endpoint.host()))
}

#[cfg(test)]
mod tests;
