//! What every request must be before anybody looks at it: addressed to us by a name that is ours,
//! and, if it changes something, sent by our own page.
//!
//! The name keeps out pages that point a name of their own at this machine; the origin keeps out
//! pages of other servers in the same browser, those on other ports of this machine included.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::App;
use super::reply::Refusal;

/// The names under which we are reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origins {
    scheme: &'static str,
    hosts: Vec<String>,
}

impl Origins {
    /// The names of what listens at `addresses`, and whatever else leads there. `localhost` is no
    /// such name by itself: somebody else may listen at the other address it stands for.
    pub fn new(addresses: &[SocketAddr], names: &[String], secure: bool) -> Self {
        let port = addresses.first().map_or(0, SocketAddr::port);
        let mut led: Vec<String> = addresses
            .iter()
            .filter(|address| !address.ip().is_unspecified())
            .map(|address| host_of(address.ip()))
            .collect();
        // The first is for browsers: a certificate is about a name.
        let at = if secure { 0 } else { led.len() };
        led.splice(at..at, names.iter().map(|name| name.to_ascii_lowercase()));
        let usual = if secure { 443 } else { 80 };
        let mut hosts = Vec::new();
        for name in led {
            if port == usual {
                hosts.push(name.clone());
            }
            hosts.push(format!("{name}:{port}"));
        }
        Self {
            scheme: if secure { "https" } else { "http" },
            hosts,
        }
    }

    /// The address for a browser. On this machine that is `localhost` where it leads here: an address of numbers has no passkeys.
    pub fn url(&self) -> Option<String> {
        let named = self
            .hosts
            .iter()
            .find(|host| !self.is_secure() && host.starts_with("localhost"));
        named
            .or(self.hosts.first())
            .map(|host| format!("{}://{host}/", self.scheme))
    }

    /// Whether the connection is encrypted.
    pub fn is_secure(&self) -> bool {
        self.scheme == "https"
    }

    fn has_host(&self, host: &str) -> bool {
        self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host))
    }

    fn has_origin(&self, origin: &str) -> bool {
        origin
            .strip_prefix(self.scheme)
            .and_then(|rest| rest.strip_prefix("://"))
            .is_some_and(|host| self.has_host(host))
    }

    /// Why a request is none of ours.
    fn objection(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<Refusal> {
        let named = only(headers, &header::HOST).filter(|host| self.has_host(host));
        let target = uri.authority();
        if named.is_none() || target.is_some_and(|target| !self.has_host(target.as_str())) {
            return Some(Refusal::new(
                StatusCode::MISDIRECTED_REQUEST,
                "this is not the address of this daemon: run `holdpoint open`",
            ));
        }
        let guarded = is_guarded(uri.path());
        if guarded && let Some(site) = headers.get(SEC_FETCH_SITE) {
            // `same-site` is another port of this machine.
            if site != "same-origin" && site != "none" {
                return Some(foreign());
            }
        }
        if is_safe(method) {
            return None;
        }
        match only(headers, &header::ORIGIN) {
            Some(origin) if self.has_origin(origin) => {}
            Some(_) => return Some(foreign()),
            None => {
                return Some(Refusal::new(
                    StatusCode::FORBIDDEN,
                    "the header `Origin` must name the address of this daemon",
                ));
            }
        }
        let json = only(headers, &header::CONTENT_TYPE).is_some_and(is_json);
        (method == Method::POST && !json).then(|| {
            Refusal::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "the header `Content-Type` must be `application/json`",
            )
        })
    }
}

/// Refuses what is none of ours.
pub(super) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let objection = app
        .origins
        .objection(request.method(), request.uri(), request.headers());
    let guarded = is_guarded(request.uri().path());
    let mut response = match objection {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers.insert(
        header::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    );
    headers.insert(
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    );
    headers.insert(
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    );
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(NOTHING_RUNS));
    if guarded || !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

/// The policy of what is not the page: data is no document.
const NOTHING_RUNS: &str = "default-src 'none'; frame-ancestors 'none'";

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whether nothing can change by it.
pub(super) fn is_safe(method: &Method) -> bool {
    method == Method::GET || method == Method::HEAD
}

/// Whether there is data at a path; the page and its files are the same for everybody.
fn is_guarded(path: &str) -> bool {
    path != "/" && !path.starts_with("/assets/")
}

fn foreign() -> Refusal {
    Refusal::new(
        StatusCode::FORBIDDEN,
        "this was sent by a page of another server",
    )
}

/// The text of a header that is there once.
pub(super) fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() {
        return None;
    }
    value.to_str().ok()
}

fn is_json(kind: &str) -> bool {
    let (kind, _) = kind.split_once(';').unwrap_or((kind, ""));
    kind.trim().eq_ignore_ascii_case("application/json")
}

fn host_of(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours() -> Origins {
        let address = "127.0.0.1:4717".parse().unwrap();
        Origins::new(&[address], &["localhost".into()], false)
    }

    fn status(method: &Method, path: &str, headers: &[(&str, &str)]) -> Option<u16> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(
                HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_str(value).unwrap(),
            );
        }
        ours()
            .objection(method, &path.parse().unwrap(), &map)
            .map(|refusal| refusal.into_response().status().as_u16())
    }

    #[test]
    fn only_our_own_names_are_answered() {
        let get = |host: &str| status(&Method::GET, "/", &[("host", host)]);
        for host in ["127.0.0.1:4717", "localhost:4717", "LOCALHOST:4717"] {
            assert_eq!(get(host), None, "{host}");
        }
        for host in [
            "evil.example:4717",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.1.evil.example:4717",
            "127.0.0.1:4717@evil.example",
            "[::1]:4717",
            "",
        ] {
            assert_eq!(get(host), Some(421), "{host}");
        }
        assert_eq!(status(&Method::GET, "/", &[]), Some(421));
        let twice = [("host", "127.0.0.1:4717"), ("host", "evil.example")];
        assert_eq!(status(&Method::GET, "/", &twice), Some(421));
        let target = "http://evil.example/";
        let host = [("host", "127.0.0.1:4717")];
        assert_eq!(status(&Method::GET, target, &host), Some(421));
    }

    #[test]
    fn only_our_own_page_changes_anything() {
        let post = |more: &[(&str, &str)]| {
            let own = [
                ("host", "127.0.0.1:4717"),
                ("content-type", "application/json"),
            ];
            status(&Method::POST, "/api/answers", &[&own, more].concat())
        };
        assert_eq!(post(&[("origin", "http://127.0.0.1:4717")]), None);
        assert_eq!(post(&[("origin", "http://localhost:4717")]), None);
        for origin in [
            "https://127.0.0.1:4717",
            "http://127.0.0.1:3000",
            "http://evil.example",
            "http://127.0.0.1:4717.evil.example",
            "null",
        ] {
            assert_eq!(post(&[("origin", origin)]), Some(403), "{origin}");
        }
        assert_eq!(post(&[]), Some(403));
        for site in ["cross-site", "same-site"] {
            let headers = [
                ("origin", "http://127.0.0.1:4717"),
                ("sec-fetch-site", site),
            ];
            assert_eq!(post(&headers), Some(403));
        }
    }

    #[test]
    fn data_is_for_our_own_page_and_the_page_for_everybody() {
        let get = |path: &str, site: &str| {
            let headers = [("host", "127.0.0.1:4717"), ("sec-fetch-site", site)];
            status(&Method::GET, path, &headers)
        };
        assert_eq!(get("/api/events", "same-origin"), None);
        assert_eq!(get("/report", "none"), None);
        for site in ["cross-site", "same-site", "anything"] {
            assert_eq!(get("/api/events", site), Some(403));
            assert_eq!(get("/report", site), Some(403));
            assert_eq!(get("/", site), None);
        }
    }

    #[test]
    fn a_form_cannot_post() {
        for kind in ["text/plain", "application/x-www-form-urlencoded", ""] {
            let headers = [
                ("host", "127.0.0.1:4717"),
                ("origin", "http://127.0.0.1:4717"),
                ("content-type", kind),
            ];
            assert_eq!(status(&Method::POST, "/api/sign-in", &headers), Some(415));
        }
    }

    #[test]
    fn the_usual_port_is_left_out_of_the_name() {
        let address = "192.0.2.1:443".parse().unwrap();
        let origins = Origins::new(&[address], &["Gate.example".into()], true);
        assert!(origins.has_host("gate.example"));
        assert!(origins.has_host("gate.example:443"));
        assert_eq!(origins.url().as_deref(), Some("https://gate.example/"));
        assert_eq!(ours().url().as_deref(), Some("http://localhost:4717/"));
        let taken = Origins::new(&["127.0.0.1:4717".parse().unwrap()], &[], false);
        assert_eq!(taken.url().as_deref(), Some("http://127.0.0.1:4717/"));
        assert!(origins.has_origin("https://192.0.2.1"));
        assert!(!origins.has_origin("http://192.0.2.1"));
        let everywhere = Origins::new(&["0.0.0.0:443".parse().unwrap()], &[], true);
        assert_eq!(everywhere.url(), None);
    }
}
