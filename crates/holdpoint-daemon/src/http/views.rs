//! Sessions, policy and report, as the program makes them.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use holdpoint_broker::StopScope;
use holdpoint_broker::host::Problem;
use serde::Deserialize;
use serde_json::Value;

use super::App;
use super::reply::{JsonBody, Refusal, blocking};
use super::signed::{Approver, Signed};
use crate::views::{SessionChange, Views};

pub(super) async fn sessions(State(app): State<App>, _: Signed) -> Result<Json<Value>, Refusal> {
    made(&app, |views| views.sessions()).await.map(Json)
}

/// What is changed of a session.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Changing {
    key: String,
    change: SessionChange,
}

pub(super) async fn change_session(
    State(app): State<App>,
    Approver(by): Approver,
    JsonBody(wanted): JsonBody<Changing>,
) -> Result<Json<Value>, Refusal> {
    made(&app, move |views| {
        views.change_session(&wanted.key, &wanted.change, &by)
    })
    .await
    .map(Json)
}

/// What is stopped or goes on.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stopping {
    scope: StopScope,
    reason: Option<String>,
}

pub(super) async fn stop(
    State(app): State<App>,
    Approver(by): Approver,
    JsonBody(wanted): JsonBody<Stopping>,
) -> Result<Json<Value>, Refusal> {
    let reason = wanted.reason.filter(|reason| !reason.trim().is_empty());
    made(&app, move |views| {
        views.stop(&wanted.scope, &by, reason.as_deref())
    })
    .await
    .map(Json)
}

pub(super) async fn resume(
    State(app): State<App>,
    Approver(by): Approver,
    JsonBody(wanted): JsonBody<Stopping>,
) -> Result<Json<Value>, Refusal> {
    made(&app, move |views| views.resume(&wanted.scope, &by))
        .await
        .map(Json)
}

/// Whose policy.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    workspace: Option<String>,
}

pub(super) async fn policy(
    State(app): State<App>,
    _: Signed,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(wanted) = wanted.map_err(|error| Refusal::bad(error.body_text()))?;
    let workspace = wanted.workspace.filter(|workspace| !workspace.is_empty());
    made(&app, move |views| views.policy(workspace.as_deref()))
        .await
        .map(Json)
}

pub(super) async fn report(State(app): State<App>, _: Signed) -> Result<Response, Refusal> {
    let page = made(&app, |views| views.report()).await?;
    let policy = [(header::CONTENT_SECURITY_POLICY, REPORT_POLICY)];
    Ok((policy, Html(page)).into_response())
}

/// The report styles itself, runs nothing, and is shown inside of the page.
const REPORT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/// Has the program make something, not too much at a time.
async fn made<T: Send + 'static>(
    app: &App,
    make: impl FnOnce(&dyn Views) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Refusal> {
    let turn = app.making.clone().acquire_owned().await;
    let views = app.views.clone();
    blocking(move || {
        let _turn = turn;
        make(views.as_ref())
    })
    .await
}
