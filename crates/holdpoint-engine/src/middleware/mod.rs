//! The whole way of a call for whoever builds an agent: judge, hold, run, record, inspect.
//!
//! A [`Gatekeeper`] stands between a model and the functions that do what it asks for. It is handed
//! every call together with the function that would run it, and hands back what the model reads: the
//! function's result with a `_permission` beside it, or a refusal that says why. The function never
//! runs before the call was judged, answered by a person where the policy wants that, looked at once
//! more, and put on record.
//!
//! ```
//! use holdpoint_engine::middleware::Gatekeeper;
//! use holdpoint_engine::{Locations, ToolCall};
//! use serde_json::json;
//!
//! # let home = tempfile::tempdir()?;
//! # let locations = Locations { state: Some(home.path().join("state")), ..Locations::of_this_machine() };
//! let keeper = Gatekeeper::builder()
//!     .policy_text(r#"{"defaultPolicy": "ask", "allow": {"patterns": ["ls *"]}}"#)
//!     .locations(locations)
//!     .agent("my-agent")
//!     .build()?;
//!
//! let listed = keeper.execute(&ToolCall::shell("ls src"), |_: &ToolCall| {
//!     Ok::<_, String>(json!({"output": "lib.rs"}))
//! });
//! assert_eq!(listed.value["_permission"]["decision"], "allowed");
//!
//! // Nobody can be asked: there is no channel.
//! let removed = keeper.execute(&ToolCall::shell("rm notes.txt"), |_: &ToolCall| {
//!     Ok::<_, String>(json!({"output": ""}))
//! });
//! assert_eq!(removed.value["_permission"]["method"], "no_channel");
//! assert!(!removed.ran());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod asynchronous;
mod builder;
mod cancel;
mod dry_run;
mod keeper;
mod pass;
mod permission;
mod previews;
mod reading;
mod toolbox;
mod turns;

pub use builder::{BuildError, Builder};
pub use cancel::Cancel;
pub use dry_run::{AskError, DryRun};
pub use holdpoint_broker::channel::WebhookBuilder;
pub use holdpoint_broker::{
    Answer, Channel, ChannelError, Context, Display, Evidence, Format, Request, Route, Scope,
    SignedAnswer, Turn, Waiting, Warned,
};
pub use keeper::Gatekeeper;
pub use permission::{Executed, Permission};
pub use reading::{Message, Readable};
pub use toolbox::{Tool, Toolbox};
