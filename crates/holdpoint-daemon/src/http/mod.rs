//! The daemon's HTTP side: the page, the API, the event stream.
//!
//! Handlers are thin: they say who asks, hand over to the [`Broker`] where it keeps nobody waiting,
//! and turn what comes back into JSON. `guard` looks at every request first, `signed` says who
//! sends it, and `openapi.json` describes what is here, route by route.

mod assets;
mod auth;
mod browser;
mod events;
mod guard;
mod limits;
mod listen;
mod openapi;
mod passkeys;
mod patience;
mod people;
mod reply;
mod requests;
mod seats;
mod sign_in;
mod sign_ins;
mod signed;
mod views;

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::handler::Handler;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodFilter, on};
use tokio::sync::Semaphore;

pub use self::auth::Auth;
pub use self::guard::Origins;
pub use self::listen::{Bound, Certificate, ListenAddress, bind};
use self::reply::Refusal;
use crate::broker::Broker;
use crate::views::Views;

/// The largest body: an answer with changed arguments is smaller. A larger one is refused unread.
const MAX_BODY: usize = 1 << 20;

/// The most event streams, each an open connection and a task; a further one is refused, and the page asks again.
const MAX_STREAMS: usize = 64;

/// How many views are made at a time: the report reads the whole ledger.
const MAX_VIEWS: usize = 2;

/// What the handlers need.
#[derive(Clone)]
pub struct App {
    broker: Broker,
    auth: Arc<Auth>,
    views: Arc<dyn Views>,
    origins: Arc<Origins>,
    /// Where new passkeys are kept for root to pin.
    enrolments: Option<Arc<Path>>,
    streams: Arc<Semaphore>,
    making: Arc<Semaphore>,
}

impl App {
    /// What the handlers need, reached under `origins`.
    pub fn new(broker: Broker, auth: Arc<Auth>, views: Arc<dyn Views>, origins: Origins) -> Self {
        Self {
            broker,
            auth,
            views,
            origins: Arc::new(origins),
            enrolments: None,
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
            making: Arc::new(Semaphore::new(MAX_VIEWS)),
        }
    }
}

impl App {
    /// The same, and new passkeys are kept in a directory.
    #[must_use]
    pub fn keeping_passkeys_in(self, directory: &Path) -> Self {
        Self {
            enrolments: Some(directory.into()),
            ..self
        }
    }
}

/// Everything that is served.
pub fn app(state: App) -> Router {
    routes()
        .router
        .fallback(async || Refusal::missing("such address"))
        .method_not_allowed_fallback(async || {
            Refusal::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "this address does not take that method",
            )
        })
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(from_fn_with_state(state.clone(), guard::guard))
        .with_state(state)
}

/// The routes, and a list of them to hold against their description.
fn routes() -> Routes {
    Routes::default()
        .get("/", assets::page)
        .get("/assets/{name}", assets::file)
        .get("/report", views::report)
        .post("/api/sign-in", sign_in::sign_in)
        .post("/api/sign-out", sign_in::sign_out)
        .get("/api/me", sign_in::me)
        .get("/api/requests", requests::pending)
        .get("/api/requests/{id}", requests::one)
        .post("/api/requests/{id}/answer", requests::answer)
        .post("/api/requests/{id}/extend", requests::extend)
        .post("/api/requests/{id}/statement", passkeys::statement)
        .post("/api/requests/{id}/along", requests::along)
        .post("/api/requests/{id}/undo", requests::undo)
        .post("/api/answers", requests::answer_many)
        .get("/api/events", events::events)
        .get("/api/history", requests::history)
        .get("/api/sessions", views::sessions)
        .post("/api/sessions/change", views::change_session)
        .post("/api/stop", views::stop)
        .post("/api/resume", views::resume)
        .get("/api/policy", views::policy)
        .get("/api/people", people::list)
        .get("/api/passkeys", passkeys::list)
        .post("/api/passkeys", passkeys::keep)
        .post("/api/delegations", people::delegate)
        .delete("/api/delegations/{to}", people::undelegate)
        .get("/api/openapi.json", openapi::document)
}

#[derive(Default)]
struct Routes {
    router: Router<App>,
    #[cfg(test)]
    listed: Vec<(&'static str, &'static str)>,
}

impl Routes {
    fn get<T: 'static>(self, path: &'static str, handler: impl Handler<T, App>) -> Self {
        self.add(MethodFilter::GET, "get", path, handler)
    }

    fn post<T: 'static>(self, path: &'static str, handler: impl Handler<T, App>) -> Self {
        self.add(MethodFilter::POST, "post", path, handler)
    }

    fn delete<T: 'static>(self, path: &'static str, handler: impl Handler<T, App>) -> Self {
        self.add(MethodFilter::DELETE, "delete", path, handler)
    }

    #[cfg_attr(
        not(test),
        expect(unused_mut, unused_variables, reason = "the list is for a test")
    )]
    fn add<T: 'static>(
        mut self,
        filter: MethodFilter,
        method: &'static str,
        path: &'static str,
        handler: impl Handler<T, App>,
    ) -> Self {
        #[cfg(test)]
        self.listed.push((method, path));
        Self {
            router: self.router.route(path, on(filter, handler)),
            #[cfg(test)]
            listed: self.listed,
        }
    }
}
