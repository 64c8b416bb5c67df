//! What Holdpoint asks of the operating system beyond the standard library.
//!
//! The one home of unsafe code: small, with a reason at every block. So far it holds
//! [`last_words`], by which a process that breaks down still says no.

pub mod last_words;
