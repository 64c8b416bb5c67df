//! Text on its way in and out: what in it may not be kept or shown.

pub mod redaction;
mod shown;

pub use shown::{is_invisible, shown};
