//! The ledger: every outcome on record, in files nobody rewrites unnoticed.
//!
//! A ledger is a directory of JSON-lines segments. Each record carries the hash of the stored bytes
//! of the one before; each segment opens with a signed checkpoint over the Merkle tree of all
//! records so far; a head beside the segments says how far the last writer came. Many processes
//! append at once under one lock. No database, no thread and no runtime is needed, to write or to read.
//!
//! - [`Ledger`] appends, signs checkpoints and repairs.
//! - [`Reader`] reads the records again, from any place, as they come.
//! - [`Query`] finds records, [`Exporter`] writes them for others.
//! - [`Verify`] finds whatever was changed, removed or added.

mod chain;
mod error;
mod export;
mod filter;
mod head;
mod keys;
mod ledger;
mod merkle;
mod note;
mod query;
mod reader;
mod record;
mod recovery;
mod reserve;
mod segments;
mod stats;
mod system;
mod verify;
mod writer;

pub use chain::{NoHash, RecordHash};
pub use error::{LedgerError, plain_words};
pub use export::{Exporter, Format, Origin};
pub use filter::{Filter, Needle, Pattern};
pub use holdpoint_core::Timestamp;
pub use keys::unguessable;
pub use ledger::{Appended, Durability, Ledger, Options, Repaired};
pub use merkle::Tree;
pub use note::{Checkpoint, NoteError, PrivateKey, PublicKey};
pub use query::{Fetch, Item, Query, Spot};
pub use reader::{Line, Position, Reader};
pub use record::{
    AnsweredDetail, Detail, Digest, Draft, Entry, EntryRef, Kind, MAX_LINE, Mend, REPLAYED_AGENT,
    Record, Sandbox, SignedDetail, VERSION,
};
pub use segments::{segment_name, segment_numbers, segment_path};
pub use stats::{Counts, Durations, Stats};
pub use system::{Open, Real, System, make_directory};
pub use verify::{Defect, Fault, Verification, Verify};
