//! The pure heart of Holdpoint: a tool call, a policy and a session in, a decision out.
//!
//! Nothing here touches a file, the clock, the environment or a thread; what a judgement needs to
//! know of the world reaches it as arguments ([`Surroundings`]). The way of a call is
//! [`ToolCall`] → [`understand`] → [`Action`] → [`judge`] → [`Decision`]: a call is read once, and
//! whoever wants to know something about it looks at the action.

mod address;
pub mod budget;
mod call;
mod catalogue;
mod code;
mod decision;
pub mod document;
mod effects;
pub mod facts;
mod flags;
mod glob;
mod judge;
mod kind_words;
mod literal_index;
mod named;
mod offers;
pub mod opaque;
pub mod paths;
pub mod plan;
pub mod policy;
mod project_files;
mod pushes;
mod rules;
mod seeded;
mod session;
pub mod shell;
mod sql;
mod stores;
mod supposed;
mod timestamp;
mod understand;
mod verdict;

pub use call::{CallError, StrictValue, ToolCall, digest_of};
pub use catalogue::{
    Effect, command_argument, names_command, reaches_network, reads_files, standing_name,
    tool_names,
};
pub use decision::{Decision, Finding, Rewritten, StatedIn, Uncontained};
pub use document::DocumentError;
pub use effects::is_secret_variable;
pub use glob::Glob;
pub use holdpoint_text as text;
pub use judge::{
    Explained, ExplainedCommand, ExplainedEffect, Filled, Part, Session, explained, judge,
    judge_call, matching_rules, parts,
};
pub use named::{Named, PathVerb, made_by, named, written_by};
pub use offers::{OfferScope, offers};
pub use paths::Surroundings;
pub use policy::{Policy, Profile};
pub use pushes::{GitPush, git_pushes};
pub use rules::{Description, ExampleCall, Pack, PackError, program_names};
pub use session::{Mark, SessionState, Stop, Suspensions};
pub use timestamp::Timestamp;
pub use understand::{Action, MAX_COMMAND, understand, understand_alone};
pub use verdict::{Autonomy, DefaultPolicy, Method, Risk, Supervision, Verdict};
