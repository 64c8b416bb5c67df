//! Holding a call for a person: the way from a decision that asks to one that does not.
//!
//! `host` is what the broker needs of policies, sessions and the ledger; `binding` what exactly a
//! release is for, `modules` what its scripts load, `pushes` what it pushes, `texts` what is kept of all that to say what changed; `terms` on which terms a person is asked; `asking` who can be asked by whoever makes
//! the call, `routes` how they are reached; `proving` whether it was a person who said yes; `release` the last look before the call runs;
//! `uncontained` how a person lets a call out of the sandbox.

mod asking;
mod binding;
#[cfg(test)]
mod golden;
mod host;
mod modules;
mod proving;
mod pushes;
mod release;
mod routes;
mod terms;
mod texts;
mod uncontained;

pub use asking::{Approvers, Asking, Dialog};
pub use host::Introduce;
pub(crate) use release::release;
pub(crate) use routes::ask;
pub(crate) use uncontained::released;
pub use uncontained::{WayOut, offer};
