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
//!
//! By default the library loads policies and judges, and brings little along. Features add to that:
//! `middleware` the whole way of a call with its record, the people who are asked and what is made of
//! its result (`middleware::Gatekeeper`); `schema` the JSON Schema of policy files.

#[cfg(feature = "schema")]
pub use holdpoint_engine::json_schema;
#[cfg(feature = "middleware")]
pub use holdpoint_engine::{
    Answered, Ended, ErrorLog, Failed, FlaggedText, Hold, Outcome, Ran, RecordError, Recorder,
    Replayed, account_name, arguments_without_secrets, backup, checks, display, holding,
    inspecting, middleware, people_at, simulate, text_without_secrets, without_secrets,
};
pub use holdpoint_engine::{
    Authority, Autonomy, CallError, Decision, DefaultPolicy, Disk, DocumentError, Effect, Entry,
    FileError, Finding, Gate, Guard, Layer, LoadError, Locations, Lookup, Mark, Method, OnError,
    Pack, PackError, Part, Policy, Profile, ProjectFiles, Risk, Session, SessionError, SessionId,
    SessionState, Sessions, StrictValue, Supervision, Suspensions, Switched, ToolCall, Trust,
    TrustError, TrustStore, Verdict, escape_for_display, load_file, load_layers, load_layers_at,
    load_text, plain_words, prompt, read_pack, read_policy_file, real_directory, text,
};

/// The guides' code is compiled and run with the other examples in the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct LibraryGuide;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/inspection.md")]
struct InspectionGuide;
