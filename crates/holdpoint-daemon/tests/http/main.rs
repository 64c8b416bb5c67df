//! The HTTP side of the daemon, through a real listener and with requests written byte by byte.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod attacks;
mod events;
mod listening;
mod people;
mod requests;
mod served;
