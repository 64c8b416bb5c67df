//! Holdpoint: the gate between an AI agent and its tools.
//!
//! Build a [`Gate`] from a policy and ask it about every call before it runs:
//!
//! ```
//! use holdpoint::{Gate, ToolCall, Verdict};
//!
//! let gate = Gate::from_policy(
//!     r#"{ "defaultPolicy": "ask", "deny": { "patterns": ["rm -rf *"] },
//!          "allow": { "patterns": ["git status"] } }"#,
//! )?;
//! assert_eq!(gate.judge(&ToolCall::shell("git status")).verdict, Verdict::Allow);
//! assert_eq!(gate.judge(&ToolCall::shell("rm -fr /data")).verdict, Verdict::Deny);
//! assert_eq!(gate.judge(&ToolCall::shell("make")).verdict, Verdict::Ask);
//! # Ok::<(), holdpoint::LoadError>(())
//! ```
//!
//! [`Gate::open`] reads the policy files that apply to a directory, as the `holdpoint` program
//! does, and closes when one of them cannot be read: such a gate denies everything and says why.

mod account;
pub mod amounts;
pub mod backup;
pub mod checks;
mod disk;
pub mod display;
mod error_log;
mod excerpt;
mod gate;
pub mod holding;
pub mod hook;
pub mod inspecting;
mod load;
mod locations;
pub mod middleware;
mod packs;
mod people;
mod recording;
pub mod replay;
pub mod report;
pub mod scan;
mod sessions;
pub mod setup;
pub mod simulate;
mod spread;
mod store;
mod telling;
mod trees;
mod trust;
mod views;
mod workplace;

pub use account::account_name;
pub use disk::Disk;
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
    FileError, LoadError, load_file, load_layers, load_layers_at, load_text, read_policy_file,
};
pub use locations::{Locations, ProjectFiles};
pub use packs::read_pack;
pub use people::people_at;
pub use recording::{
    Answered, Ended, Failed, Found, Hold, Outcome, Ran, RecordError, Recorder, Replayed,
};
pub use sessions::{SessionError, SessionId, Sessions};
pub use store::plain_words;
pub use telling::TELLING;
pub use trust::{TrustError, TrustStore};
pub use views::HouseViews;
pub use workplace::real_directory;

/// The guides' code is compiled and run with the other examples in the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct LibraryGuide;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/inspection.md")]
struct InspectionGuide;
