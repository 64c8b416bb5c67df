//! How much one backup may hold.

/// How much one backup may hold.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of files.
    pub bytes: u64,
    /// Files, directories and links.
    pub entries: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 1 << 30,
            entries: 100_000,
        }
    }
}
