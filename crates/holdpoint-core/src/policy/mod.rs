//! Policies: from the text people write to something a call can be judged by.
//!
//! `document` is the file, `profile` the ready-made ones, `layer` one compiled file with its
//! authority, and `Policy` the layers in force. Matching lives in `rules` (lists), `clauses`, `tool_rules`,
//! `files` and `sanitizer`; combining what they find is the judge's business.

mod asking;
pub(crate) mod clauses;
mod document;
mod external;
pub(crate) mod files;
mod guards;
mod injection;
mod layer;
mod mode;
mod network;
mod packs;
pub(crate) mod patterns;
mod presence;
mod profile;
mod reach;
mod redaction;
pub(crate) mod rules;
mod sandbox;
mod sanitizer;
#[cfg(feature = "schema")]
mod schema;
mod second_opinion;
pub(crate) mod tool_names;
pub(crate) mod tool_rules;
mod values;

pub use asking::{AskingTerms, channel_of};
pub use clauses::{Clause, EffectWord, GroupWord, TargetWord};
pub use document::{
    Approval, Channel, ChannelFormat, ChannelKind, ChannelText, Check, Condition, Conditions,
    Document, Durability, Fallback, FileRules, Files, LedgerRules, OnError, Parameter,
    ParameterType, PathScope, Pattern, ReplyForm, Restriction, RuleList, RuleTerms, Sanitization,
    Secret, ToolRule, ToolRules, Version,
};
pub use external::{
    Endpoint, EndpointForm, External, ExternalAnswer, ExternalOpinion, Externals, OnFailure,
    ask_outside,
};
pub use guards::{Guards, Switch};
pub use injection::{Cleaning, Injection, Origins, Thresholds};
pub use layer::{Authority, Layer, Policy, Source, Standing, Trust};
pub use mode::Mode;
pub use network::{Access, HostPattern, Network, Schemes};
pub use packs::{Guard, LoadedPack, Switched};
pub use patterns::without_last_star;
pub use presence::{Presence, PresenceByRisk, StatedPresence};
pub use profile::Profile;
pub use redaction::{FormatList, FormatText, Kept, Redaction, RedactionRules};
pub use sandbox::{Cache, Calls, Floor, OpaqueAnswer, Sandbox, SandboxLimits};
#[cfg(feature = "schema")]
pub use schema::json_schema;
pub use second_opinion::{OpinionApi, SecondOpinion};
