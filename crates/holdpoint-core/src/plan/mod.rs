//! Plans: what an agent declares it is going to do, read, judged as a whole, and kept to.
//!
//! A [`Manifest`] is what is written; [`Manifest::opened`] makes of it the [`OpenPlan`] that a session remembers once a person
//! has released it. What an open plan covers is decided in `judge/planned`, by the machinery of allow rules: it answers
//! questions, and nothing else.

mod manifest;
mod open;
mod packages;
mod reading;
mod words;

pub use manifest::{
    Dependencies, Kind, Manifest, Meta, NewPackage, Objective, Paths, Phase, Phases, Resource,
    State, Status, UserStory,
};
pub use open::{OUTSIDE, OpenPhase, OpenPlan, SHOWN, TOOL};
pub(crate) use open::{PhaseRules, PlanRules};
pub use reading::{Format, PlanError};

/// The JSON Schema of a manifest.
#[cfg(feature = "schema")]
pub fn json_schema() -> serde_json::Value {
    manifest::json_schema()
}
