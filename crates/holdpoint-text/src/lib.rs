//! Text on its way in and out: what in it gives orders, hides, or may not be kept or shown.
//!
//! Pure: no files, clock, environment or threads. It knows nothing of shells, tools or policies; on
//! which terms a text is inspected and what is redacted reaches it as values
//! ([`inspection::Terms`], [`redaction::Redactor`]).

mod bits;
pub mod classify;
pub mod clean;
pub mod detect;
mod display;
pub mod inspection;
pub mod normal;
mod origin;
pub mod redaction;
mod severity;
pub mod words;

pub use display::{escape_for_display, is_invisible};
pub use origin::Origin;
pub use severity::{Action, Severity};
