//! Signing in and out.

use std::time::Instant;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::App;
use super::auth::{Admitted, Credentials, Shut};
use super::reply::{JsonBody, Refusal, blocking};
use super::signed::{COOKIE, Signed, is_from_page, person};

/// How somebody signs in: by a code, or by name and token.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Given {
    code: Option<String>,
    name: Option<String>,
    token: Option<String>,
}

pub(super) async fn sign_in(
    State(app): State<App>,
    JsonBody(given): JsonBody<Given>,
) -> Result<Response, Refusal> {
    let credentials = match (given.code, given.name, given.token) {
        (Some(code), None, None) => Credentials::Code(code),
        (None, Some(name), Some(token)) => Credentials::Token { name, token },
        (Some(_), _, _) | (None, _, _) => {
            return Err(Refusal::bad(
                "sign in with `code`, or with `name` and `token`",
            ));
        }
    };
    let auth = app.auth.clone();
    let signed = blocking(move || Ok(auth.sign_in(&credentials, Instant::now()))).await?;
    let admitted = match signed {
        Ok(admitted) => admitted,
        Err(Shut::TooOften(wait)) => return Err(Refusal::too_often(wait)),
        Err(Shut::Trouble(problem)) => return Err(problem.into()),
        Err(Shut::Wrong(delay)) => {
            tokio::time::sleep(delay).await;
            return Err(Refusal::new(
                StatusCode::UNAUTHORIZED,
                "this does not let anybody in: a code is good once and for a minute",
            ));
        }
    };
    let Admitted {
        name,
        role,
        cookie,
        csrf,
    } = admitted;
    let cookie = set_cookie(&app, &cookie, "");
    let body = Json(json!({ "person": person(&name, role), "csrf": csrf }));
    Ok(([(header::SET_COOKIE, cookie)], body).into_response())
}

pub(super) async fn sign_out(State(app): State<App>, signed: Signed) -> Response {
    app.auth.sign_out(&signed.cookie);
    let gone = set_cookie(&app, "", "; Max-Age=0");
    ([(header::SET_COOKIE, gone)], Json(json!({}))).into_response()
}

/// Who is signed in. The page shows the secret it was given; it is not handed out again, since
/// whoever has only the cookie need not be the page.
pub(super) async fn me(
    State(app): State<App>,
    headers: HeaderMap,
    signed: Signed,
) -> Result<Response, Refusal> {
    if !is_from_page(&app, &headers, &signed.cookie, Instant::now()) {
        return Err(Refusal::signed_out());
    }
    Ok(Json(json!({ "person": person(&signed.name, signed.role) })).into_response())
}

fn set_cookie(app: &App, value: &str, more: &str) -> String {
    let secure = if app.origins.is_secure() {
        "; Secure"
    } else {
        ""
    };
    format!("{COOKIE}={value}; Path=/; HttpOnly; SameSite=Strict{secure}{more}")
}
