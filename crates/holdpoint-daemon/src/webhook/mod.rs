//! Asks an HTTP endpoint (J-48 … J-51).
//!
//! The question is posted until somebody has answered it, always under the same id: after a
//! connection that broke, a server's own error, or a reply that says it is pending. Only a reply that
//! names this request counts; if a key is shared, only one signed with it. The server is known by its
//! certificate, and no redirection leads to another.

mod endpoint;
mod signature;
mod token;

use std::path::Path;
use std::time::Duration;

use holdpoint_broker::channel::patience::Patience;
use holdpoint_broker::channel::payload::{Payload, seconds};
use holdpoint_broker::channel::reply::{self, Answered, Reply};
use holdpoint_broker::{
    Channel, ChannelError, Evidence, Request, Route, SignedAnswer, UnixMillis, Waiting,
};
use holdpoint_core::policy::ChannelText;
use holdpoint_core::text::escape_for_display;
use ureq::Body;
use ureq::http::{Response, StatusCode};

pub(crate) use self::endpoint::{Endpoint, is_tls_problem, retry_after};

/// The webhook channel.
pub struct Webhook {
    endpoint: Endpoint,
    pace: Pace,
    told: Option<LastOutcome>,
}

/// What came of an answer, for the next time this is asked.
struct LastOutcome {
    id: String,
    message: String,
    /// How often in a row an answer settled nothing.
    times: u32,
}

/// How long to wait before asking again.
#[derive(Clone, Copy)]
struct Pace {
    /// After a failure; twice as long after each further one.
    failed: Duration,
    /// While the answer is pending, or after one that settled nothing.
    pending: Duration,
    /// At the longest.
    most: Duration,
}

const PACE: Pace = Pace {
    failed: Duration::from_millis(500),
    pending: Duration::from_secs(2),
    most: Duration::from_secs(30),
};

impl Pace {
    fn backoff(self, start: Duration, times: u32) -> Duration {
        let factor = 1u32.checked_shl(times).unwrap_or(u32::MAX);
        start.saturating_mul(factor).min(self.most)
    }
}

/// Makes the channel, for [`Setting::webhooks`](holdpoint_broker::channel::Setting::webhooks).
pub fn build(
    settings: &ChannelText,
    ca_file: Option<&Path>,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Box<dyn Channel>, ChannelError> {
    Ok(Box::new(Webhook::new(settings, ca_file, environment)?))
}

impl Webhook {
    /// The webhook of these settings. `ca_file` is the path they name, made absolute; `environment`
    /// looks variables up.
    pub fn new(
        settings: &ChannelText,
        ca_file: Option<&Path>,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ChannelError> {
        Ok(Self {
            endpoint: Endpoint::new(settings, ca_file, environment)?,
            pace: PACE,
            told: None,
        })
    }

    /// Posts the question until there is an answer.
    fn answered(
        &self,
        request: &Request,
        body: &[u8],
        token: Option<&str>,
        patience: &Patience<'_>,
    ) -> Result<Answered, ChannelError> {
        let mut failures = 0;
        loop {
            let pause = match self.post(body, token, patience)? {
                Posted::Answered(bytes) => match Reply::read(&bytes, request, UnixMillis::now())? {
                    Reply::Answered(answered) => return Ok(answered),
                    Reply::Pending => {
                        failures = 0;
                        self.pace.pending
                    }
                },
                Posted::Pending(after) => {
                    failures = 0;
                    after.unwrap_or(self.pace.pending)
                }
                Posted::Failed(after) => {
                    let own = self.pace.backoff(self.pace.failed, failures);
                    failures = failures.saturating_add(1);
                    after.unwrap_or(own)
                }
            };
            patience.pause(pause.clamp(self.pace.failed, self.pace.most.max(self.pace.failed)))?;
        }
    }

    /// Posts the question once.
    fn post(
        &self,
        body: &[u8],
        token: Option<&str>,
        patience: &Patience<'_>,
    ) -> Result<Posted, ChannelError> {
        match self.endpoint.post(body, token, patience)? {
            Ok(response) => self.received(response, patience),
            Err(error) => self.failed(&error, patience),
        }
    }

    fn received(
        &self,
        mut response: Response<Body>,
        patience: &Patience<'_>,
    ) -> Result<Posted, ChannelError> {
        let status = response.status();
        let after = retry_after(response.headers());
        if status == StatusCode::ACCEPTED {
            return Ok(Posted::Pending(after));
        }
        if status.is_server_error() {
            return Ok(Posted::Failed(after));
        }
        if status != StatusCode::OK {
            return Err(self.refused(&format!("answered with status {}", status.as_u16())));
        }
        let limited = response.body_mut().with_config().limit(reply::MAX_REPLY);
        let bytes = match limited.read_to_vec() {
            Ok(bytes) => bytes,
            Err(error) => return self.failed(&error, patience),
        };
        if let Some(key) = self.endpoint.key() {
            let header = response.headers().get(signature::HEADER);
            let header = header.and_then(|value| value.to_str().ok());
            let checked = match header {
                Some(header) => key.verify(header, unix_seconds(), &bytes),
                None => Err("it is not signed"),
            };
            checked
                .map_err(|why| self.refused(&format!("sent a reply that does not count: {why}")))?;
        }
        Ok(Posted::Answered(bytes))
    }

    /// What a failed attempt means: another attempt, or none.
    fn failed(&self, error: &ureq::Error, patience: &Patience<'_>) -> Result<Posted, ChannelError> {
        patience.left()?;
        if is_tls_problem(error) {
            let host = self.endpoint.host();
            return Err(unusable(&format!(
                "does not accept the certificate of {host}: check the address and `ca_file`"
            )));
        }
        if matches!(error, ureq::Error::BodyExceedsLimit(_)) {
            return Err(self.refused("sent a reply that is too long"));
        }
        let again = matches!(
            error,
            ureq::Error::Io(_)
                | ureq::Error::Timeout(_)
                | ureq::Error::HostNotFound
                | ureq::Error::ConnectionFailed
                | ureq::Error::ConnectProxyFailed(_)
        );
        match again {
            true => Ok(Posted::Failed(None)),
            false => Err(self.refused("sent no reply that HTTP knows")),
        }
    }

    fn refused(&self, what: &str) -> ChannelError {
        ChannelError::Broken(format!("the webhook at {} {what}", self.endpoint.host()))
    }
}

/// What came of one attempt.
enum Posted {
    /// A reply.
    Answered(Vec<u8>),
    /// None yet; ask again after so long.
    Pending(Option<Duration>),
    /// A failure that may pass.
    Failed(Option<Duration>),
}

impl Channel for Webhook {
    fn ask(
        &mut self,
        request: &Request,
        waiting: &Waiting<'_>,
    ) -> Result<SignedAnswer, ChannelError> {
        let patience = Patience::begin(waiting);
        let told = self.told.take().filter(|told| told.id == request.id);
        if let Some(told) = &told {
            // A server that always gives the same answer is not asked all the time.
            let times = told.times.saturating_sub(1);
            patience.pause(self.pace.backoff(self.pace.pending, times))?;
        }
        let message = told.as_ref().map(|told| told.message.as_str());
        let body = Payload::from_request(request, seconds(&patience)?, message).text();
        let token = self.endpoint.token(&patience)?;
        let answered = self.answered(request, &body, token.as_deref(), &patience)?;
        self.told = told;
        if let Some(notice) = &answered.notice {
            self.told(request, notice);
        }
        let channel = format!("webhook:{}", self.endpoint.host());
        // Who it was is the server's word; without a signature that is anybody's.
        let name = answered.approver.filter(|_| self.endpoint.key().is_some());
        let name = name.map(|name| escape_for_display(name.trim(), 64));
        let (approver, on_behalf_of) = match name.filter(|name| !name.is_empty()) {
            Some(name) => (format!("{channel}/{name}"), vec![channel]),
            None => (channel, Vec::new()),
        };
        Ok(SignedAnswer {
            answer: answered.answer,
            approver,
            on_behalf_of,
            binding: Some(request.binding.clone()),
            phrase: answered.phrase,
            evidence: Evidence::by(Route::Webhook),
        })
    }

    /// The next question says it.
    fn told(&mut self, request: &Request, message: &str) {
        let before = self.told.take().filter(|told| told.id == request.id);
        self.told = Some(LastOutcome {
            id: request.id.clone(),
            message: message.to_owned(),
            times: before.map_or(1, |told| told.times.saturating_add(1)),
        });
    }
}

pub(crate) fn unusable(what: &str) -> ChannelError {
    ChannelError::Unusable(format!("the webhook channel: {what}"))
}

fn unix_seconds() -> u64 {
    UnixMillis::now().0 / 1000
}

#[cfg(test)]
pub(crate) mod tests;
