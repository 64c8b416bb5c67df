//! A second opinion: what a model server of the user's makes of a text nobody is sure of.
//!
//! The text is somebody else's and may speak to that model, too. So it stands between marks nobody can guess, the answer is taken
//! only if it can be read without doubt, and it has a deadline. It goes to this machine or to a private network, and nowhere
//! else. What the answer may change is not decided here, but where the text was inspected.

mod address;
mod chat;
mod classify;
mod key;

use std::time::Duration;

use holdpoint_broker::wire::{Opinion, ServerAnswer};
use holdpoint_core::policy::{OpinionApi, SecondOpinion};
use ureq::Agent;

use self::address::{Address, Reach};
use self::key::Key;

/// How much of a text is shown. A small model reads no more in its time; what was found stands in it.
const MAX_TEXT: usize = 16 << 10;

/// How long an answer of one word is at most, with all that servers put around it.
const MAX_ANSWER: u64 = 64 << 10;

/// A model server.
pub struct ModelServer {
    settings: SecondOpinion,
    address: Address,
    key: Key,
    agent: Agent,
}

/// Why a model server is not asked.
#[derive(Debug, PartialEq, Eq)]
pub enum UnusableServer {
    /// Its address cannot be read.
    NoAddress(String),
    /// It is neither on this machine nor near it.
    Elsewhere(String),
    /// A key would be sent for everybody on the way to read.
    OpenKey,
    /// Its key cannot be found the way the policy says.
    Key(&'static str),
}

impl std::fmt::Display for UnusableServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            UnusableServer::NoAddress(url) => write!(
                f,
                "`injection.secondOpinion.url`: `{url}` is no address: write http://127.0.0.1:PORT/v1/chat/completions"
            ),
            UnusableServer::Elsewhere(host) => write!(
                f,
                "`injection.secondOpinion.url`: `{host}` is neither this machine nor a number of a private network: run the model server on 127.0.0.1"
            ),
            UnusableServer::OpenKey => write!(
                f,
                "`injection.secondOpinion`: a key goes to another machine by https only: use https, or run the model server on 127.0.0.1"
            ),
            UnusableServer::Key(problem) => write!(f, "`injection.secondOpinion`: {problem}"),
        }
    }
}

impl std::error::Error for UnusableServer {}

impl ModelServer {
    /// The server a policy names.
    pub fn new(settings: &SecondOpinion) -> Result<Self, UnusableServer> {
        let address = Address::parse(&settings.url)?;
        let key = Key::named(settings).map_err(UnusableServer::Key)?;
        let is_open = address.reach == Reach::Private && !address.is_encrypted;
        if is_open && !matches!(key, Key::None) {
            return Err(UnusableServer::OpenKey);
        }
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // Elsewhere is where it would lead.
            .max_redirects(0)
            .proxy(None)
            .timeout_global(Some(Duration::from_millis(settings.deadline())))
            .user_agent("holdpoint");
        Ok(Self {
            settings: settings.clone(),
            address,
            key,
            agent: config.build().new_agent(),
        })
    }

    /// What it was made from.
    pub fn settings(&self) -> &SecondOpinion {
        &self.settings
    }

    /// What it makes of a text without secrets.
    pub fn ask(&self, text: &str) -> ServerAnswer {
        let opinion = self.opinion(text).unwrap_or_else(Opinion::none);
        ServerAnswer {
            opinion,
            server: Some(format!("{} at {}", self.settings.model, self.address.shown)),
        }
    }

    fn opinion(&self, text: &str) -> Result<Opinion, String> {
        let shown = text
            .get(..text.floor_char_boundary(MAX_TEXT))
            .unwrap_or(text);
        let question = match self.settings.api {
            OpinionApi::Chat => chat::question(&self.settings.model, shown)?,
            OpinionApi::Classify => classify::question(shown),
        };
        let answer = self.answer(&question.to_string())?;
        match self.settings.api {
            OpinionApi::Chat => chat::opinion(&answer),
            OpinionApi::Classify => classify::opinion(&answer, &self.settings),
        }
    }

    fn answer(&self, question: &str) -> Result<String, String> {
        let mut request = self
            .agent
            .post(&self.address.url)
            .content_type("application/json");
        if let Some(header) = self.key.header()? {
            request = request.header("Authorization", header);
        }
        let mut response = request
            .send(question)
            .map_err(|error| self.failed(&error))?;
        if !response.status().is_success() {
            let status = response.status().as_u16();
            return Err(format!("the model server answers with status {status}"));
        }
        let read = response.body_mut().with_config().limit(MAX_ANSWER);
        read.read_to_string().map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &ureq::Error) -> String {
        if matches!(error, ureq::Error::Timeout(_)) {
            return format!("no answer within {} ms", self.settings.deadline());
        }
        if matches!(error, ureq::Error::BodyExceedsLimit(_)) {
            return "the model server's answer is too long".to_owned();
        }
        // What else can go wrong names nothing a person could do more about, and may repeat the server's words.
        "the model server cannot be reached, or breaks off".to_owned()
    }
}

#[cfg(test)]
mod tests;
