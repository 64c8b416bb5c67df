//! The way of a tool call: the policies, sessions and trust it comes under, its record, the person
//! it may wait for, what is checked and kept before it runs, and what is made of its result.
//!
//! Everything that judges calls is an adapter of this crate: the hook, `check`, an editor's agent,
//! the daemon, the library's middleware. It decides nothing itself; that is `holdpoint-core`.

mod account;
pub mod amounts;
pub mod backup;
pub mod checks;
mod context;
mod disk;
pub mod display;
mod engine;
mod error;
mod error_log;
pub mod excerpt;
mod gate;
pub mod holding;
pub mod inspecting;
mod load;
mod locations;
pub mod middleware;
mod packs;
mod people;
pub mod pipeline;
mod policies;
mod recording;
mod sessions;
pub mod simulate;
mod spread;
mod stamps;
pub mod store;
mod telling;
mod trees;
mod trust;
mod workplace;

pub use account::account_name;
pub use context::{
    Caller, GivenPolicy, NO_SESSION, PolicySource, SessionSource, working_directory,
};
pub use disk::Disk;
pub use engine::{Engine, Work};
pub use error::EngineError;
pub use error_log::ErrorLog;
pub use excerpt::{arguments_without_secrets, text_without_secrets, without_secrets};
pub use gate::Gate;
pub use holdpoint_core::paths::{Entry, Lookup};
pub use holdpoint_core::policy::{Authority, Guard, Layer, OnError, Switched, Trust, json_schema};
pub use holdpoint_core::text::{self, shown};
pub use holdpoint_core::{
    Autonomy, CallError, Decision, DefaultPolicy, DocumentError, Effect, Finding, Mark, Method,
    Pack, PackError, Part, Policy, Profile, Risk, Session, SessionState, StrictValue, Supervision,
    Suspensions, ToolCall, Verdict,
};
pub use load::{
    FileError, LoadError, load_file, load_layers, load_layers_at, load_layers_with, load_text,
    read_policy_file,
};
pub use locations::{Locations, ProjectFiles};
pub use packs::read_pack;
pub use people::people_at;
pub use policies::load_source;
pub use recording::{
    Answered, Ended, Failed, Found, Hold, Outcome, Ran, RecordError, Recorder, Replayed,
};
pub use sessions::{SessionError, SessionId, Sessions};
pub use store::plain_words;
pub use telling::TELLING;
pub use trust::{TrustError, TrustStore};
pub use workplace::real_directory;
