//! Asks an HTTP endpoint (J-48 … J-51).
//!
//! The question is posted until somebody has answered it, always under the same id: after a
//! connection that broke, a server's own error, or a reply that says it is pending. Only a reply that
//! names this request counts; if a key is shared, only one signed with it. The server is known by its
//! certificate, and no redirection leads to another.

mod signature;
mod token;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use holdpoint_broker::channel::patience::Patience;
use holdpoint_broker::channel::payload::{Payload, seconds};
use holdpoint_broker::channel::reply::{self, Answered, Reply};
use holdpoint_broker::{
    Channel, ChannelError, Evidence, Request, Route, SignedAnswer, UnixMillis, Waiting,
};
use holdpoint_core::policy::{ChannelText, Secret};
use holdpoint_core::text::escape_for_display;
use ureq::http::header::{
    AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue,
    RETRY_AFTER, TRANSFER_ENCODING,
};
use ureq::http::{Response, StatusCode, Uri};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

use self::signature::Key;
use self::token::Token;

/// The webhook channel.
pub struct Webhook {
    agent: Agent,
    endpoint: Uri,
    host: String,
    headers: HeaderMap,
    token: Token,
    key: Option<Key>,
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

/// Variables that stand in for settings.
const TOKEN_VARIABLE: &str = "PERMISSION_WEBHOOK_TOKEN";
const KEY_VARIABLE: &str = "PERMISSION_WEBHOOK_SIGNING_KEY";

/// The longest file of certificates that is read: all of a system's are fewer. What is cut off does not parse.
const MAX_CA_FILE: u64 = 1 << 20;

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
        let Some(endpoint) = &settings.endpoint else {
            return Err(unusable("needs `endpoint`"));
        };
        let endpoint: Uri = endpoint
            .trim()
            .parse()
            .map_err(|_| unusable("`endpoint` is no address: write https://host/path"))?;
        let host = host_of(&endpoint)?;
        let headers = headers_of(&settings.headers)?;
        let token = token_of(settings, &headers, environment)?;
        let key = settings.signing_key.as_ref().map(Secret::reveal);
        let key = match key.map(str::to_owned).or_else(|| environment(KEY_VARIABLE)) {
            None => None,
            Some(key) => Some(Key::new(&key).ok_or_else(|| unusable("`signing_key` is empty"))?),
        };
        Ok(Self {
            agent: agent(&host, ca_file)?,
            endpoint,
            host,
            headers,
            token,
            key,
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
        let left = patience.left()?;
        let post = self.agent.post(&self.endpoint);
        let mut post = post.config().timeout_global(left).build();
        if let Some(headers) = post.headers_mut() {
            headers.extend(self.headers.clone());
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            if let Some(token) = token {
                headers.insert(AUTHORIZATION, secret_value(&format!("Bearer {token}"))?);
            }
            if let Some(key) = &self.key {
                let signature = key.sign(unix_seconds(), body);
                headers.insert(signature::HEADER, secret_value(&signature)?);
            }
        }
        match post.send(body) {
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
        if let Some(key) = &self.key {
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
            let host = &self.host;
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
        ChannelError::Broken(format!("the webhook at {} {what}", self.host))
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
        let token = self.token.get(&patience)?;
        let answered = self.answered(request, &body, token.as_deref(), &patience)?;
        self.told = told;
        if let Some(notice) = &answered.notice {
            self.told(request, notice);
        }
        let channel = format!("webhook:{}", self.host);
        // Who it was is the server's word; without a signature that is anybody's.
        let name = answered.approver.filter(|_| self.key.is_some());
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

fn unusable(what: &str) -> ChannelError {
    ChannelError::Unusable(format!("the webhook channel: {what}"))
}

/// The host of an address requests may be sent to.
fn host_of(endpoint: &Uri) -> Result<String, ChannelError> {
    let host = endpoint.host().unwrap_or_default();
    if host.is_empty() {
        return Err(unusable(
            "`endpoint` is no address: write https://host/path",
        ));
    }
    if endpoint
        .authority()
        .is_some_and(|whole| whole.as_str().contains('@'))
    {
        return Err(unusable(
            "`endpoint` names a user: use `auth_token` or `headers`",
        ));
    }
    match endpoint.scheme_str() {
        Some("https") => {}
        Some("http") if is_loopback(host) => {}
        Some("http") => {
            return Err(unusable(
                "`endpoint` is not encrypted: use https, http only for this machine",
            ));
        }
        Some(_) | None => {
            return Err(unusable("`endpoint` must start with https://"));
        }
    }
    Ok(host.to_owned())
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback())
}

fn agent(host: &str, ca_file: Option<&Path>) -> Result<Agent, ChannelError> {
    let roots = match ca_file {
        None => RootCerts::WebPki,
        Some(path) => RootCerts::Specific(Arc::new(certificates(path)?)),
    };
    let config = Agent::config_builder()
        .tls_config(TlsConfig::builder().root_certs(roots).build())
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        // Each question has a process of its own, and a connection left open may be dead.
        .max_idle_connections(0)
        .user_agent("holdpoint");
    let config = match is_loopback(host) {
        true => config.proxy(None),
        false => config,
    };
    Ok(config.build().new_agent())
}

fn certificates(path: &Path) -> Result<Vec<Certificate<'static>>, ChannelError> {
    let name = escape_for_display(&path.display().to_string(), 300);
    let read = |path: &Path| {
        let file = fs::File::open(path)?;
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut io::Read::take(file, MAX_CA_FILE), &mut bytes)?;
        Ok(bytes)
    };
    let bytes = read(path).map_err(|error: io::Error| {
        unusable(&format!("`ca_file` `{name}` cannot be read: {error}"))
    })?;
    let mut found = Vec::new();
    for item in parse_pem(&bytes) {
        match item {
            Ok(PemItem::Certificate(certificate)) => found.push(certificate),
            Ok(_) => {}
            Err(_) => return Err(unusable(&format!("`ca_file` `{name}` is no PEM file"))),
        }
    }
    match found.is_empty() {
        true => Err(unusable(&format!(
            "`ca_file` `{name}` holds no certificate"
        ))),
        false => Ok(found),
    }
}

/// The further headers, without those Holdpoint writes itself.
fn headers_of(written: &BTreeMap<String, Secret>) -> Result<HeaderMap, ChannelError> {
    let own = [
        CONTENT_TYPE,
        CONTENT_LENGTH,
        HOST,
        TRANSFER_ENCODING,
        HeaderName::from_static("x-holdpoint-signature"),
    ];
    let mut headers = HeaderMap::new();
    for (name, value) in written {
        let shown = escape_for_display(name, 60);
        let name = HeaderName::try_from(name.as_str())
            .map_err(|_| unusable(&format!("`{shown}` in `headers` is no header")))?;
        if own.contains(&name) {
            return Err(unusable(&format!(
                "the header `{shown}` is Holdpoint's own"
            )));
        }
        headers.insert(name, secret_value(value.reveal())?);
    }
    Ok(headers)
}

fn token_of(
    settings: &ChannelText,
    headers: &HeaderMap,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Token, ChannelError> {
    let token = match (&settings.auth_token, settings.auth_token_command.as_slice()) {
        (Some(token), _) => Token::Known(token.reveal().to_owned()),
        (None, [_, ..]) => Token::Printed(settings.auth_token_command.clone()),
        (None, []) if headers.contains_key(AUTHORIZATION) => return Ok(Token::None),
        (None, []) => match environment(TOKEN_VARIABLE) {
            Some(token) => Token::Known(token),
            None => Token::None,
        },
    };
    match (&token, headers.contains_key(AUTHORIZATION)) {
        (Token::Known(_) | Token::Printed(_), true) => Err(unusable(
            "`headers` has `Authorization`, and there is a token: keep one of them",
        )),
        _ => Ok(token),
    }
}

/// A header's value that no message shows.
fn secret_value(text: &str) -> Result<HeaderValue, ChannelError> {
    let mut value = HeaderValue::from_str(text)
        .map_err(|_| unusable("the token or a header has characters no header may have"))?;
    value.set_sensitive(true);
    Ok(value)
}

fn is_tls_problem(error: &ureq::Error) -> bool {
    // What the TLS layer says in the middle of reading is an error of reading.
    let broken = |error: &io::Error| error.kind() == io::ErrorKind::InvalidData;
    matches!(
        error,
        ureq::Error::Rustls(_) | ureq::Error::Tls(_) | ureq::Error::Pem(_)
    ) || matches!(error, ureq::Error::Io(error) if broken(error))
}

/// The seconds a server wants us to wait.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?;
    text.trim().parse().ok().map(Duration::from_secs)
}

fn unix_seconds() -> u64 {
    UnixMillis::now().0 / 1000
}

#[cfg(test)]
mod tests;
