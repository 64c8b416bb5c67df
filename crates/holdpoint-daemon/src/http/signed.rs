//! Who sends a request. A handler that takes a [`Signed`] is for whoever is signed in, one that takes
//! an [`Approver`] for those who may answer; there is no other way to either.

use std::time::Instant;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use holdpoint_broker::people::Role;
use serde_json::{Value, json};

use super::App;
use super::guard::{is_safe, only};
use super::reply::{Refusal, blocking};

/// The cookie of a session.
pub(super) const COOKIE: &str = "holdpoint_session";

/// The header with the secret of the page.
const CSRF: HeaderName = HeaderName::from_static("x-holdpoint-csrf");

/// Somebody who is signed in. If the request changes something, their page sent it, and not too much
/// of the kind.
pub(super) struct Signed {
    pub(super) name: String,
    pub(super) role: Role,
    /// The secret of the session.
    pub(super) cookie: String,
}

impl FromRequestParts<App> for Signed {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refusal> {
        let now = Instant::now();
        let cookie = cookie_in(&parts.headers).ok_or_else(Refusal::signed_out)?;
        let known = {
            let (auth, cookie) = (app.auth.clone(), cookie.clone());
            blocking(move || auth.used_by(&cookie, now)).await?
        };
        let (name, role) = known.ok_or_else(Refusal::signed_out)?;
        if !is_safe(&parts.method) {
            if !is_from_page(app, &parts.headers, &cookie, now) {
                return Err(Refusal::new(
                    StatusCode::FORBIDDEN,
                    "the header `X-Holdpoint-Csrf` must have the value that signing in gave",
                ));
            }
            app.auth.allow(&cookie, now).map_err(Refusal::too_often)?;
        }
        Ok(Self { name, role, cookie })
    }
}

/// Somebody who may answer.
pub(super) struct Approver(pub(super) String);

impl FromRequestParts<App> for Approver {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refusal> {
        let signed = Signed::from_request_parts(parts, app).await?;
        if signed.role.answers() {
            return Ok(Self(signed.name));
        }
        Err(Refusal::new(
            StatusCode::FORBIDDEN,
            format!("{} may look, and not answer", signed.name),
        ))
    }
}

/// Whether the page of the session sent this.
pub(super) fn is_from_page(app: &App, headers: &HeaderMap, cookie: &str, now: Instant) -> bool {
    only(headers, &CSRF).is_some_and(|csrf| app.auth.is_from_page(cookie, csrf, now))
}

/// What somebody is told about themselves.
pub(super) fn person(name: &str, role: Role) -> Value {
    json!({ "name": name, "role": role })
}

/// The value of our cookie; none if there are two, since one of them is somebody else's.
fn cookie_in(headers: &HeaderMap) -> Option<String> {
    let mut found = headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(name, _)| *name == COOKIE)
        .map(|(_, value)| value.to_owned());
    let value = found.next()?;
    found.next().is_none().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn our_cookie_is_found_among_others() {
        let found = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::COOKIE, HeaderValue::from_str(text).unwrap());
            cookie_in(&headers)
        };
        assert_eq!(found("holdpoint_session=x"), Some("x".into()));
        assert_eq!(found("a=b; holdpoint_session=x; c"), Some("x".into()));
        assert_eq!(found("not_holdpoint_session=x"), None);
        assert_eq!(found("holdpoint_session=x; holdpoint_session=y"), None);
        assert_eq!(found(""), None);
    }
}
