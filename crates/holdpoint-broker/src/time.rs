//! Points in time, in milliseconds since 1970. They reach this crate as arguments, so that a test needs no
//! sleep; only the daemon and the channels look at a clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Milliseconds since the beginning of 1970.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct UnixMillis(pub u64);

impl UnixMillis {
    /// What the clock says.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = since.map_or(0, |since| since.as_millis());
        Self(u64::try_from(millis).unwrap_or(u64::MAX))
    }

    /// The moment so much later.
    #[must_use]
    pub fn after(self, time: Duration) -> Self {
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(millis))
    }

    /// How long it is until a later moment; nothing if that is past.
    pub fn until(self, later: UnixMillis) -> Duration {
        Duration::from_millis(later.0.saturating_sub(self.0))
    }
}
