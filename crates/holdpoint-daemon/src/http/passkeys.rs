//! Passkeys: which of somebody's sign here, what they are to sign, and how a new one is handed to root.
//!
//! The page makes a passkey and the daemon keeps its public half in a file. It counts once root has pinned it, with the
//! characters the page shows: a file of this account alone says nothing.

use std::fs;
use std::io::Write;
use std::net::IpAddr;
use std::path::Path;

use axum::Json;
use axum::extract::{Path as Named, State};
use axum::http::{HeaderMap, header};
use holdpoint_broker::host::Problem;
use holdpoint_broker::time::UnixMillis;
use holdpoint_proof::{KeyKind, PinnedKey, Pins, Statement, base64url, from_base64url};
use serde::Deserialize;
use serde_json::{Value, json};

use super::App;
use super::guard::only;
use super::reply::{JsonBody, Refusal, blocking};
use super::signed::{Approver, Signed};

/// The most passkeys that wait to be pinned, and characters of a credential's id: keys have up to 1,023 bytes of it.
const MAX_WAITING: usize = 20;
const MAX_ID: usize = 1400;

/// The keys that count, by person.
pub(super) async fn list(State(app): State<App>, signed: Signed) -> Result<Json<Value>, Refusal> {
    // Keys that are pinned and cannot be believed are not the same as none: nobody releases what needs one.
    let (pins, unusable) = blocking(move || {
        Ok(match app.broker.pins() {
            Ok(pins) => (pins, None),
            Err(Problem(why)) => (Pins::default(), Some(why)),
        })
    })
    .await?;
    let people: Vec<Value> = pins
        .people
        .iter()
        .map(|person| {
            let keys: Vec<Value> = person.keys.iter().map(shown).collect();
            json!({ "name": person.name, "keys": keys })
        })
        .collect();
    let mut told = json!({ "people": people, "you": signed.name });
    if let (Some(why), Some(fields)) = (unusable, told.as_object_mut()) {
        fields.insert("unusable".into(), json!(why));
    }
    Ok(Json(told))
}

fn shown(key: &PinnedKey) -> Value {
    let check = key.verifying().map(|key| key.short_check());
    json!({
        "id": key.id, "kind": key.kind, "check": check.unwrap_or_default(), "device_bound": key.device_bound,
        "origins": key.origins,
    })
}

/// What somebody is to sign, and which of their passkeys sign it.
pub(super) async fn statement(
    State(app): State<App>,
    Approver(approver): Approver,
    Named(id): Named<String>,
    headers: HeaderMap,
    JsonBody(Nothing {}): JsonBody<Nothing>,
) -> Result<Json<Value>, Refusal> {
    let origin = page_of(&headers)?;
    let made = blocking(move || {
        let pins = app.broker.pins()?;
        let keys: Vec<String> = pins
            .of(&approver)
            .iter()
            .filter(|key| key.kind == KeyKind::Webauthn && key.origins.contains(&origin.whole))
            .map(|key| key.id.clone())
            .collect();
        if keys.is_empty() {
            return Ok(Err(format!(
                "no passkey of {approver} signs on this page ({}): add one, and have root pin it",
                origin.whole
            )));
        }
        let statement = app.broker.statement(&id, &approver, UnixMillis::now())?;
        Ok(Ok(json!({
            "challenge": base64url(&Statement::challenge(&statement)),
            "statement": statement,
            "rp": origin.host,
            "credentials": keys,
        })))
    });
    made.await?.map(Json).map_err(Refusal::bad)
}

/// An empty body.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// A passkey as the browser made it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Made {
    /// The credential's id, in base64 for URLs.
    id: String,
    /// Its public key as SPKI, in base64.
    public_key: String,
    /// Whether it cannot leave its device.
    device_bound: bool,
}

/// Keeps a new passkey for root to pin.
pub(super) async fn keep(
    State(app): State<App>,
    Approver(name): Approver,
    headers: HeaderMap,
    JsonBody(made): JsonBody<Made>,
) -> Result<Json<Value>, Refusal> {
    let origin = page_of(&headers)?;
    let directory = app.enrolments.clone();
    let directory = directory.ok_or_else(|| Refusal::missing("place for passkeys here"))?;
    if from_base64url(&made.id, MAX_ID).is_none() {
        return Err(Refusal::bad("`id` is no credential's id"));
    }
    let key = PinnedKey {
        id: made.id,
        kind: KeyKind::Webauthn,
        public_key: made.public_key,
        rp: Some(origin.host),
        origins: vec![origin.whole],
        device_bound: made.device_bound,
    };
    let check = match key.verifying() {
        Ok(verifying) => verifying.short_check(),
        Err(bad) => return Err(Refusal::bad(bad.to_string())),
    };
    let file = directory.join(format!("{check}.json"));
    let text = serde_json::to_vec_pretty(&key).map_err(|error| Refusal::bad(error.to_string()))?;
    let written = file.clone();
    blocking(move || write(&directory, &written, &text)).await?;
    let command = format!(
        "sudo holdpoint people pin {} --key '{}' --check {check}",
        name,
        file.display()
    );
    Ok(Json(json!({ "check": check, "command": command })))
}

fn write(directory: &Path, file: &Path, text: &[u8]) -> Result<(), Problem> {
    let failed =
        |error: std::io::Error| Problem(format!("the passkey cannot be kept ({})", error.kind()));
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory).map_err(failed)?;
    if fs::read_dir(directory).map_err(failed)?.count() >= MAX_WAITING {
        return Err(Problem(format!(
            "{MAX_WAITING} passkeys wait to be pinned already: remove some from {}",
            directory.display()
        )));
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut open = options.open(file).map_err(failed)?;
    open.write_all(text).map_err(failed)
}

/// The page that asks, as its browser names it; the guard has seen that it is one of ours.
struct Page {
    whole: String,
    /// The name a passkey is made for.
    host: String,
}

fn page_of(headers: &HeaderMap) -> Result<Page, Refusal> {
    let whole = only(headers, &header::ORIGIN).unwrap_or_default();
    let host = whole.split_once("://").map_or("", |(_, host)| host);
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let is_number = name.parse::<IpAddr>().is_ok() || name.starts_with('[');
    if name.is_empty() || is_number {
        return Err(Refusal::bad(
            "an address of numbers has no passkeys: open the page by its name (`holdpoint open`)",
        ));
    }
    Ok(Page {
        whole: whole.to_owned(),
        host: name.to_owned(),
    })
}
