//! What goes back: JSON, or one line that says why not.

use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::FromRequest;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use holdpoint_broker::host::Problem;
use serde::de::DeserializeOwned;
use serde_json::json;

/// Why something is not done.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    message: String,
    wait: Option<Duration>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            wait: None,
        }
    }

    pub(super) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    pub(super) fn missing(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("there is no {what}"))
    }

    pub(super) fn signed_out() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "you are not signed in: run `holdpoint open`, or sign in with your name and token",
        )
    }

    pub(super) fn too_often(wait: Duration) -> Self {
        Self {
            wait: Some(wait),
            ..Self::new(
                StatusCode::TOO_MANY_REQUESTS,
                "that is too often: wait a moment and try again",
            )
        }
    }
}

impl From<Problem> for Refusal {
    fn from(Problem(message): Problem) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = Json(json!({ "error": self.message }));
        let mut response = (self.status, body).into_response();
        if let Some(wait) = self.wait {
            let seconds = wait.as_secs().saturating_add(1);
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// Runs what may wait for a disk or a lock where it keeps nobody else waiting.
pub(super) async fn blocking<T, F>(work: F) -> Result<T, Refusal>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, Problem> + Send + 'static,
{
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done?),
        Err(_) => Err(Refusal::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the daemon failed over this; nothing was released by it",
        )),
    }
}

/// A body that is read as JSON, whole and bounded, with the same errors as everything else.
pub(super) struct JsonBody<T>(pub(super) T);

impl<T, S> FromRequest<S> for JsonBody<T>
where
    T: DeserializeOwned,
    S: Send + Sync,
{
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        let bytes = Bytes::from_request(request, state)
            .await
            .map_err(|rejected| match rejected.into_response().status() {
                StatusCode::PAYLOAD_TOO_LARGE => Refusal::new(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    "the body is larger than 1 MB: send less at once",
                ),
                _ => Refusal::bad("the body cannot be read"),
            })?;
        let told = serde_json::from_slice(&bytes)
            .map_err(|error| Refusal::bad(format!("the body is not what is expected: {error}")))?;
        Ok(Self(told))
    }
}
