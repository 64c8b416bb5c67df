//! Calls that wait for a person, through the real program: a daemon, hooks as an agent starts them,
//! and the commands a person answers with, in a home of their own. Each case names the requirement
//! it pins.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod answers;
mod attack_table;
mod attacks;
mod channels;
mod checks;
#[cfg(target_os = "linux")]
mod contained;
mod kept;
mod opinion;
mod people;
mod plans;
#[cfg(target_os = "linux")]
mod proofs;
mod shown;
#[cfg(target_os = "linux")]
#[path = "../../../holdpoint-proof/tests/support/mod.rs"]
mod signing;
mod stopping;
mod test_home;
mod waiting;
