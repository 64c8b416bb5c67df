//! Asks through a directory: a request file there, a response file back (J-52).
//!
//! Whoever may write in the directory may answer, so it must be this user's alone. The agent runs as
//! this user too: that it keeps away from there is the policy's part.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::patience::Patience;
use super::payload::{Payload, seconds};
use super::private::{self, Unfit};
use super::reply::{self, Answered, Reply, Wrong};
use super::{Channel, ChannelError, Waiting};
use crate::answer::{Evidence, Route, SignedAnswer};
use crate::request::Request;
use crate::time::UnixMillis;

/// The file channel.
pub struct FileChannel {
    base: PathBuf,
    pace: Duration,
    user: String,
    notice: Option<String>,
}

impl FileChannel {
    /// A channel through `base`, looked at every `pace` seconds. `user` is the name of whoever this process
    /// runs as.
    pub fn new(base: &Path, pace: Option<f64>, user: &str) -> Self {
        let pace = pace.filter(|pace| pace.is_finite()).unwrap_or(PACE);
        Self {
            base: base.to_owned(),
            pace: Duration::from_secs_f64(pace.clamp(MIN_PACE, MAX_PACE)),
            user: user.to_owned(),
            notice: None,
        }
    }

    fn requests(&self) -> PathBuf {
        self.base.join("requests")
    }

    fn responses(&self) -> PathBuf {
        self.base.join("responses")
    }

    /// Looks at the directories: before anything is written, and again before an answer counts.
    fn inspect(&self) -> Result<(), ChannelError> {
        for directory in [self.base.clone(), self.requests(), self.responses()] {
            private::directory(&directory).map_err(|problem| {
                ChannelError::Unusable(format!("the file channel: {problem}"))
            })?;
        }
        Ok(())
    }

    fn wait(
        &self,
        request: &Request,
        response: &Path,
        patience: &Patience<'_>,
    ) -> Result<(Answered, u32), ChannelError> {
        loop {
            patience.pause(self.pace)?;
            self.inspect()?;
            let left = match private::read(response, reply::MAX_REPLY) {
                Ok(Some(left)) => left,
                Ok(None) | Err(Unfit::Unreadable) => continue,
                Err(Unfit::Doubtful(doubt)) => {
                    return Err(ChannelError::Broken(format!(
                        "the response file does not count: {doubt}"
                    )));
                }
            };
            if u64::try_from(left.bytes.len()).unwrap_or(u64::MAX) > reply::MAX_REPLY {
                return Err(ChannelError::Broken("the response file is too long".into()));
            }
            match Reply::read(&left.bytes, request, UnixMillis::now()) {
                Ok(Reply::Answered(answered)) => return Ok((answered, left.owner)),
                // Perhaps it is still being written.
                Ok(Reply::Pending) | Err(Wrong::Unreadable(_)) => {}
                Err(wrong @ Wrong::Refused(_)) => return Err(wrong.into()),
            }
        }
    }
}

impl Channel for FileChannel {
    fn ask(
        &mut self,
        request: &Request,
        waiting: &Waiting<'_>,
    ) -> Result<SignedAnswer, ChannelError> {
        let patience = Patience::begin(waiting);
        let file = file_name(&request.id)?;
        self.inspect()?;
        let response = self.responses().join(&file);
        let failed = |what: &str, error: std::io::Error| {
            ChannelError::Unusable(format!("the file channel cannot {what}: {error}"))
        };
        // Nobody can have answered yet.
        private::forget(&response).map_err(|error| failed("delete an old response", error))?;
        let payload = Payload::from_request(request, seconds(&patience)?, self.notice.as_deref());
        private::write(&self.requests(), &file, &payload.text())
            .map_err(|error| failed("write the request", error))?;
        let answered = self.wait(request, &response, &patience);
        for done in [self.requests().join(&file), response] {
            // A file that stays has no effect: the answer is in hand, and the next one is another.
            let _ = private::forget(&done);
        }
        let (answered, owner) = answered?;
        self.notice = answered.notice;
        let owner = match owner {
            0 => "root",
            _ => &self.user,
        };
        Ok(SignedAnswer {
            answer: answered.answer,
            approver: format!("file:{owner}"),
            on_behalf_of: Vec::new(),
            binding: Some(request.binding.clone()),
            phrase: answered.phrase,
            evidence: Evidence::by(Route::File),
        })
    }

    /// The next request file says it.
    fn told(&mut self, _request: &Request, message: &str) {
        self.notice = Some(message.to_owned());
    }
}

/// The name of a request's files. Ids are made by Holdpoint; one that could lead out of the
/// directory is not.
fn file_name(id: &str) -> Result<String, ChannelError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if id.is_empty() || id.len() > MAX_ID || !id.bytes().all(plain) {
        return Err(ChannelError::Unusable(
            "the id of the request is no file name".into(),
        ));
    }
    Ok(format!("{id}.json"))
}

/// The most bytes of an id: with the ending a name every file system takes.
const MAX_ID: usize = 128;

/// Seconds between two looks unless the policy says: nobody notices half a second. What the policy says is kept to a pace
/// that costs no battery and one at which an answer still seems to be heard.
const PACE: f64 = 0.5;
const MIN_PACE: f64 = 0.05;
const MAX_PACE: f64 = 60.0;

#[cfg(test)]
mod tests;
