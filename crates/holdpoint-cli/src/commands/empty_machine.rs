//! A machine with nothing on its disk, so that examples and cases say the same everywhere.

use holdpoint_core::Surroundings;
use holdpoint_engine::{Entry, Lookup};

/// The workspace of its user.
pub(crate) const WORKSPACE: &str = "/work/app";

/// The home of its user.
const HOME: &str = "/home/dev";

struct Empty;

impl Lookup for Empty {
    fn entry(&self, _path: &str) -> Entry {
        Entry::Missing
    }
}

/// What surrounds a call there.
pub(crate) fn surroundings(can_contain: bool) -> Surroundings<'static> {
    Surroundings {
        workspace: Some(WORKSPACE),
        directory: None,
        home: Some(HOME),
        lookup: &Empty,
        can_contain,
    }
}
