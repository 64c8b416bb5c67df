//! What Holdpoint asks of the operating system beyond the standard library.
//!
//! The one home of unsafe code: small, with a reason at every block. It holds [`last_words`], by
//! which a process that breaks down still says no, [`file_sizes`], by which a file that may not grow
//! is an error and not the end, [`interrupt`], by which Ctrl-C ends a long run in good order,
//! [`places`], by which checks know how much room there is and whether they may write, [`machine`]: its
//! name and its clock, [`terminal`], on which a question stands, [`user`] and [`children`]: who this process is, and what the
//! programs it starts may use, [`start`]: how the program begins and ends, [`contain`]: where a command
//! runs that is not to be trusted, [`network`]: the hosts it may reach from there, and `beneath`: files in a directory that others
//! change meanwhile.

#[cfg(target_os = "linux")]
pub mod beneath;
pub mod children;
pub mod contain;
pub mod file_sizes;
pub mod interrupt;
pub mod last_words;
pub mod machine;
pub mod network;
pub mod places;
#[cfg(unix)]
mod readiness;
pub mod start;
pub mod terminal;
pub mod user;
