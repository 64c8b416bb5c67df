//! The way of a tool call: the policies, sessions and trust it comes under, its record, the person
//! it may wait for, what is checked and kept before it runs, and what is made of its result.
//!
//! Everything that judges calls is an adapter of this crate: the hook, `check`, an editor's agent,
//! the daemon, the library's middleware. It decides nothing itself; that is `holdpoint-core`.

#[cfg(feature = "pipeline")]
mod account;
#[cfg(feature = "pipeline")]
pub mod backup;
#[cfg(feature = "pipeline")]
pub mod checks;
#[cfg(feature = "pipeline")]
pub mod containing;
#[cfg(feature = "pipeline")]
mod context;
mod disk;
#[cfg(feature = "pipeline")]
pub mod display;
#[cfg(feature = "pipeline")]
mod engine;
#[cfg(feature = "pipeline")]
mod error;
#[cfg(feature = "pipeline")]
mod error_log;
#[cfg(feature = "pipeline")]
pub mod excerpt;
#[cfg(feature = "pipeline")]
mod external;
mod facts;
mod gate;
#[cfg(unix)]
mod git_index;
#[cfg(feature = "pipeline")]
mod glob_expand;
#[cfg(feature = "pipeline")]
pub mod holding;
#[cfg(feature = "pipeline")]
pub mod humanize;
#[cfg(feature = "pipeline")]
pub mod inspecting;
mod kept;
mod load;
mod locations;
#[cfg(feature = "pipeline")]
mod memory;
#[cfg(feature = "pipeline")]
pub mod middleware;
#[cfg(feature = "pipeline")]
mod own;
mod packs;
#[cfg(feature = "pipeline")]
mod people;
#[cfg(feature = "pipeline")]
mod pins;
#[cfg(feature = "pipeline")]
pub mod pipeline;
#[cfg(feature = "pipeline")]
mod policies;
#[cfg(feature = "pipeline")]
mod presence;
pub mod prompt;
#[cfg(feature = "pipeline")]
mod recording;
mod sessions;
#[cfg(feature = "pipeline")]
pub mod simulate;
mod stamps;
#[cfg(feature = "pipeline")]
mod stops;
pub mod store;
#[cfg(feature = "pipeline")]
mod summary_arguments;
mod trust;
#[cfg(feature = "pipeline")]
mod walk_tree;
mod workplace;
mod written;

#[cfg(feature = "pipeline")]
pub use account::account_name;
#[cfg(feature = "pipeline")]
pub use context::{
    Caller, GivenPolicy, NO_SESSION, PolicySource, SessionSource, working_directory,
};
pub use disk::Disk;
#[cfg(feature = "pipeline")]
pub use engine::{Engine, PolicyWriter, Work};
#[cfg(feature = "pipeline")]
pub use error::EngineError;
#[cfg(feature = "pipeline")]
pub use error_log::ErrorLog;
#[cfg(feature = "pipeline")]
pub use excerpt::{arguments_without_secrets, text_without_secrets, without_secrets};
pub use gate::Gate;
pub use holdpoint_core::paths::{Entry, Lookup};
#[cfg(feature = "schema")]
pub use holdpoint_core::policy::json_schema;
pub use holdpoint_core::policy::{Authority, Guard, Layer, OnError, ReplyForm, Switched, Trust};
pub use holdpoint_core::text::{self, escape_for_display};
pub use holdpoint_core::{
    Autonomy, CallError, Decision, DefaultPolicy, DocumentError, Effect, Finding, Mark, Method,
    Pack, PackError, Part, Policy, Profile, Risk, Session, SessionState, StrictValue, Supervision,
    Suspensions, ToolCall, Verdict,
};
pub use kept::{KeepError, KeptRules};
pub use load::{
    FileError, LoadError, load_file, load_layers, load_layers_at, load_layers_with, load_text,
    read_policy_file,
};
pub use locations::{Locations, ProjectFiles};
#[cfg(feature = "pipeline")]
pub use memory::LineCaller;
pub use packs::read_pack;
#[cfg(feature = "pipeline")]
pub use people::people_at;
#[cfg(feature = "pipeline")]
pub use pins::{Pinned, change_pins, not_held};
#[cfg(feature = "pipeline")]
pub use policies::load_source;
#[cfg(feature = "pipeline")]
pub use presence::{Presence, RUNNING};
#[cfg(feature = "pipeline")]
pub use recording::{
    Answered, ContainedRun, Ended, Failed, FlaggedText, Hold, Outcome, Ran, RecordError, Recorder,
    Replayed,
};
pub use sessions::{SessionError, SessionId, Sessions};
#[cfg(feature = "pipeline")]
pub use stops::{StopError, Stopped, Stops};
pub use store::plain_words;
#[cfg(feature = "pipeline")]
pub use summary_arguments::SUMMARY_ARGUMENTS;
pub use trust::{TrustError, TrustStore};
pub use workplace::real_directory;
