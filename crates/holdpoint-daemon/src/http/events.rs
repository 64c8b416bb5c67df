//! The event stream: what waits now, then every change.
//!
//! The stream listens before it looks, so nothing falls between; what it has sent already in this
//! version or a newer one is left out. A reader that falls behind is told everything anew.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::response::sse::{Event, Sse};
use holdpoint_broker::request::Request;
use holdpoint_broker::time::UnixMillis;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, broadcast, mpsc};
use tokio::time::{MissedTickBehavior, interval};
use tokio_stream::wrappers::ReceiverStream;

use super::App;
use super::reply::{Refusal, blocking};
use super::signed::Signed;
use crate::broker::{Change, ChangeKind};

/// How often a silent stream says that it is there.
const PULSE: Duration = Duration::from_secs(15);

/// How often it is looked whether the reader may still look, where nothing happens: a list of people is a small file.
const LOOK: Duration = Duration::from_secs(2);

/// How many events wait for a slow reader; behind them the changes queue up.
const AHEAD: usize = 16;

pub(super) async fn events(
    State(app): State<App>,
    signed: Signed,
) -> Result<impl IntoResponse, Refusal> {
    let place = app.streams.clone().try_acquire_owned().map_err(|_| {
        Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "there are too many open pages: close some of them",
        )
    })?;
    let (out, events) = mpsc::channel(AHEAD);
    let stream = Stream {
        changes: app.broker.events(),
        sent: HashMap::new(),
        cookie: signed.cookie,
        app,
        out,
        _place: place,
    };
    tokio::spawn(stream.run());
    Ok(Sse::new(ReceiverStream::new(events)))
}

struct Stream {
    app: App,
    cookie: String,
    changes: broadcast::Receiver<Arc<Change>>,
    /// The version of each request that was sent last.
    sent: HashMap<String, u64>,
    out: mpsc::Sender<Result<Event, Infallible>>,
    _place: OwnedSemaphorePermit,
}

/// The stream is over: its reader has gone, or may no longer look.
struct Over;

impl Stream {
    async fn run(mut self) {
        let mut pulse = interval(PULSE);
        pulse.set_missed_tick_behavior(MissedTickBehavior::Delay);
        pulse.reset();
        let mut looking = interval(LOOK);
        looking.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut next = self.everything().await;
        while next.is_ok() {
            next = tokio::select! {
                change = self.changes.recv() => match change {
                    Ok(change) => self.change(&change).await,
                    Err(RecvError::Lagged(_)) => self.everything().await,
                    Err(RecvError::Closed) => Err(Over),
                },
                _ = pulse.tick() => self.pulse().await,
                _ = looking.tick() => self.still_known().await,
                () = self.out.closed() => Err(Over),
            };
        }
    }

    /// What waits now.
    async fn everything(&mut self) -> Result<(), Over> {
        // What is queued up is older than what is read now.
        self.changes = self.changes.resubscribe();
        let broker = self.app.broker.clone();
        let requests = blocking(move || broker.pending()).await.map_err(|_| Over)?;
        self.sent = requests
            .iter()
            .map(|request| (request.id.clone(), request.version))
            .collect();
        let cards: Vec<_> = requests.iter().map(Request::card).collect();
        let data = json!({ "requests": cards, "now": UnixMillis::now() });
        self.send("snapshot", &data).await
    }

    async fn change(&mut self, change: &Change) -> Result<(), Over> {
        self.still_known().await?;
        let request = &change.request;
        let version = self.sent.get(&request.id);
        if version.is_some_and(|version| *version >= request.version) {
            return Ok(());
        }
        let kind = match change.kind {
            ChangeKind::Opened => "opened",
            ChangeKind::Changed => "changed",
            ChangeKind::Settled => "settled",
        };
        match change.kind {
            ChangeKind::Opened | ChangeKind::Changed => {
                self.sent.insert(request.id.clone(), request.version);
            }
            // Nothing comes after it.
            ChangeKind::Settled => {
                self.sent.remove(&request.id);
            }
        }
        self.send(kind, &json!(request.card())).await
    }

    /// Whoever was taken off the list, or signed out, hears nothing more.
    async fn still_known(&self) -> Result<(), Over> {
        let (auth, cookie) = (self.app.auth.clone(), self.cookie.clone());
        let known = blocking(move || auth.known_by(&cookie, Instant::now())).await;
        match known.is_ok_and(|known| known.is_some()) {
            true => Ok(()),
            false => Err(Over),
        }
    }

    /// A sign of life, for whoever is still allowed one.
    async fn pulse(&mut self) -> Result<(), Over> {
        self.still_known().await?;
        self.send("ping", &json!({ "now": UnixMillis::now() }))
            .await
    }

    async fn send(&self, kind: &str, data: &serde_json::Value) -> Result<(), Over> {
        let event = Event::default().event(kind).data(data.to_string());
        self.out.send(Ok(event)).await.map_err(|_| Over)
    }
}
