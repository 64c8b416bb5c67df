//! An address requests are posted to: who it is, what goes along, and how it is known for what it is.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use holdpoint_broker::ChannelError;
use holdpoint_broker::channel::patience::Patience;
use holdpoint_core::policy::{ChannelText, Secret};
use holdpoint_core::text::escape_for_display;
use ureq::http::header::{
    AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue,
    RETRY_AFTER, TRANSFER_ENCODING,
};
use ureq::http::{Response, Uri};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

use super::signature::{self, Key};
use super::token::Token;
use super::{unix_seconds, unusable};

/// Variables that stand in for settings.
pub(super) const TOKEN_VARIABLE: &str = "PERMISSION_WEBHOOK_TOKEN";
pub(super) const KEY_VARIABLE: &str = "PERMISSION_WEBHOOK_SIGNING_KEY";

/// The longest file of certificates that is read: all of a system's are fewer. What is cut off does not parse.
const MAX_CA_FILE: u64 = 1 << 20;

/// Where a webhook's requests go.
pub(crate) struct Endpoint {
    agent: Agent,
    uri: Uri,
    host: String,
    headers: HeaderMap,
    token: Token,
    key: Option<Key>,
}

impl Endpoint {
    /// The one of these settings. `ca_file` is the path they name, made absolute; `environment` looks variables up.
    pub(crate) fn new(
        settings: &ChannelText,
        ca_file: Option<&Path>,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ChannelError> {
        let Some(endpoint) = &settings.endpoint else {
            return Err(unusable("needs `endpoint`"));
        };
        let uri: Uri = endpoint
            .trim()
            .parse()
            .map_err(|_| unusable("`endpoint` is no address: write https://host/path"))?;
        let host = host_of(&uri)?;
        let headers = headers_of(&settings.headers)?;
        let token = token_of(settings, &headers, environment)?;
        let key = settings.signing_key.as_ref().map(Secret::reveal);
        let key = match key.map(str::to_owned).or_else(|| environment(KEY_VARIABLE)) {
            None => None,
            Some(key) => Some(Key::new(&key).ok_or_else(|| unusable("`signing_key` is empty"))?),
        };
        Ok(Self {
            agent: agent(&host, ca_file)?,
            uri,
            host,
            headers,
            token,
            key,
        })
    }

    /// Its host: what messages may name, since the rest of an address is often a secret.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Its address.
    pub(crate) fn uri(&self) -> &Uri {
        &self.uri
    }

    /// The same settings for another path of its server.
    pub(crate) fn at_path(mut self, path: &str) -> Result<Self, ChannelError> {
        let mut parts = self.uri.into_parts();
        parts.path_and_query = Some(
            path.parse()
                .map_err(|_| unusable("`endpoint` has no usable path"))?,
        );
        self.uri = Uri::from_parts(parts).map_err(|_| unusable("`endpoint` is no address"))?;
        Ok(self)
    }

    /// The key that signs what is sent, where one is shared.
    pub(super) fn key(&self) -> Option<&Key> {
        self.key.as_ref()
    }

    /// The token, if there is one.
    pub(crate) fn token(&self, patience: &Patience<'_>) -> Result<Option<String>, ChannelError> {
        self.token.get(patience)
    }

    /// Posts a body once, within the time that is left.
    pub(crate) fn post(
        &self,
        body: &[u8],
        token: Option<&str>,
        patience: &Patience<'_>,
    ) -> Result<Result<Response<Body>, ureq::Error>, ChannelError> {
        let left = patience.left()?;
        let post = self.agent.post(&self.uri);
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
        Ok(post.send(body))
    }
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

pub(crate) fn is_tls_problem(error: &ureq::Error) -> bool {
    // What the TLS layer says in the middle of reading is an error of reading.
    let broken = |error: &io::Error| error.kind() == io::ErrorKind::InvalidData;
    matches!(
        error,
        ureq::Error::Rustls(_) | ureq::Error::Tls(_) | ureq::Error::Pem(_)
    ) || matches!(error, ureq::Error::Io(error) if broken(error))
}

/// The seconds a server wants us to wait.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?;
    text.trim().parse().ok().map(Duration::from_secs)
}
