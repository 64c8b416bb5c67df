//! The Model Context Protocol as a gate reads it: one JSON-RPC message a line.
//!
//! A gate that took messages apart and put them together again would drop what it does not know, so
//! nothing here does: a message is its text and the places in it that matter. What is passed on is that
//! text, byte for byte, with a piece replaced only where policy acts. A text two readers could read
//! differently is no message.
//!
//! Nothing here opens a file, starts a thread or asks the time; every reader is bounded by the length of
//! its text, and the text by [`jsonrpc::MAX_LINE`].

mod call;
pub mod jsonrpc;
mod listing;
pub mod pins;
mod result;

pub use call::{Call, CallProblem, ServerName};
pub use listing::{Definition, Listing};
pub use result::{cancelled_id, denial, error, noted, with_permission};
