//! Holding a call for a person: the way from a decision that asks to one that does not.
//!
//! `world` is what the broker needs of policies, sessions and the ledger; `binding` what exactly a
//! release is for; `terms` on which terms a person is asked; `ways` how they are reached; `release`
//! the last look before the call runs.

mod binding;
#[cfg(test)]
mod golden;
mod release;
mod terms;
mod ways;
mod world;

pub use release::{Released, release};
pub use ways::{Answer, Way, hold, way};
pub use world::House;
