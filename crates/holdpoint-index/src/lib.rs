//! A rebuildable index over a large ledger, for finding records without reading all of them.
//!
//! It is a crate of its own for what it needs: SQLite. Whoever only writes records, or reads a
//! ledger from one end to the other, needs neither.

mod index;

pub use index::{Anew, Index, IndexError, Keep};
