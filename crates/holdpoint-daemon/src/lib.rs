//! The approval daemon, and what of asking people needs a runtime, a database or the network.
//!
//! The [`Broker`] keeps the requests of one user in SQLite and is the one place where they change. The
//! [`Daemon`] answers callers on a Unix socket; [`http`] is the API and the page for people. The
//! [`webhook`] channel asks an HTTP endpoint, [`opinion`] a model server of the user's own,
//! and [`notices`] tell a messenger that a call waits. What requests, answers and channels are is
//! [`holdpoint_broker`]'s, which has no need of any of this.

pub mod broker;
pub mod daemon;
pub mod http;
pub mod notices;
pub mod opinion;
pub mod views;
pub mod webhook;

pub use broker::{
    Along, Answered, Broker, Change, ChangeKind, Held, HistoryQuery, Outcome, Somebody,
};
pub use daemon::Daemon;
pub use notices::Notices;
pub use opinion::ModelServer;
pub use views::{SessionChange, Views};
