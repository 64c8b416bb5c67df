//! What Holdpoint asks of the operating system beyond the standard library.
//!
//! The one home of unsafe code: small, with a reason at every block. So far it holds
//! [`last_words`], by which a process that breaks down still says no, and [`interrupt`], by which
//! Ctrl-C ends a long run in good order.

pub mod interrupt;
pub mod last_words;
