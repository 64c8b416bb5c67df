//! What Holdpoint asks of the operating system beyond the standard library.
//!
//! The one home of unsafe code: small, with a reason at every block. It holds [`last_words`], by
//! which a process that breaks down still says no, [`file_sizes`], by which a file that may not grow
//! is an error and not the end, and [`interrupt`], by which Ctrl-C ends a long run in good order.

pub mod file_sizes;
pub mod interrupt;
pub mod last_words;
