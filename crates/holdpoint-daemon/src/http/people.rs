//! Who there is, and who stands in for whom.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use holdpoint_broker::people::{Delegation, Role};
use holdpoint_broker::time::UnixMillis;
use serde::Deserialize;
use serde_json::{Value, json};

use super::App;
use super::reply::{JsonBody, Refusal, blocking};
use super::signed::{Approver, Signed, person};

pub(super) async fn list(State(app): State<App>, _: Signed) -> Result<Json<Value>, Refusal> {
    let people = app.auth.people().clone();
    let shown = blocking(move || {
        let roster = people.roster()?;
        let owner = [person(people.owner(), Role::Admin)];
        let others = roster
            .people
            .iter()
            .filter(|one| one.name != people.owner())
            .map(|one| person(&one.name, one.role));
        let everybody: Vec<Value> = owner.into_iter().chain(others).collect();
        let now = UnixMillis::now();
        let lasting = roster.delegations.iter().filter(|one| one.until > now);
        let delegations: Vec<&Delegation> = lasting.collect();
        Ok(json!({ "people": everybody, "delegations": delegations }))
    });
    Ok(Json(shown.await?))
}

/// Whom to have stand in, and for how long.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    to: String,
    seconds: u64,
}

pub(super) async fn delegate(
    State(app): State<App>,
    Approver(from): Approver,
    JsonBody(wanted): JsonBody<Wanted>,
) -> Result<Json<Value>, Refusal> {
    let people = app.auth.people().clone();
    let now = UnixMillis::now();
    let delegation = Delegation {
        from: from.clone(),
        to: wanted.to,
        until: now.after(Duration::from_secs(wanted.seconds)),
    };
    let made = blocking(move || {
        Ok(people
            .delegate(&from, &delegation, now)
            .map(|()| json!(delegation)))
    });
    let made = made.await?;
    made.map(Json).map_err(|problem| Refusal::bad(problem.0))
}

pub(super) async fn undelegate(
    State(app): State<App>,
    Approver(from): Approver,
    Path(to): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let people = app.auth.people().clone();
    match blocking(move || people.undelegate(&from, &from, &to)).await? {
        true => Ok(Json(json!({}))),
        false => Err(Refusal::missing("such delegation of yours")),
    }
}
