//! The ignore files that speak about a directory.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::pattern::Pattern;
use holdpoint_engine::store::read_bounded;

/// The files in a directory that say what to leave out, the one that counts for more last.
const NAMES: [&str; 2] = [".gitignore", ".ignore"];

/// The largest such file that is read: thousands of patterns. A larger one counts as empty, so that more is scanned.
const MAX_FILE: u64 = 1 << 20;

/// What the ignore files of a directory and of those above it say.
#[derive(Debug)]
pub(super) struct Rules {
    /// Where the paths of these patterns start.
    directory: PathBuf,
    patterns: Vec<Pattern>,
    above: Option<Arc<Rules>>,
}

impl Rules {
    /// What holds in a directory from which a walk starts: its repository's files above it, too.
    pub(super) fn above(directory: &Path) -> Option<Arc<Self>> {
        let root = directory
            .ancestors()
            .find(|one| one.join(".git").exists())?;
        let exclude = patterns_of(&root.join(".git/info/exclude"));
        let mut rules = joined(root, exclude, None);
        let between: Vec<&Path> = directory
            .ancestors()
            .skip(1)
            .take_while(|one| one.starts_with(root))
            .collect();
        for one in between.into_iter().rev() {
            rules = Self::within(one, rules);
        }
        rules
    }

    /// What holds in a directory below one where `above` holds.
    pub(super) fn within(directory: &Path, above: Option<Arc<Self>>) -> Option<Arc<Self>> {
        NAMES.iter().fold(above, |above, name| {
            joined(directory, patterns_of(&directory.join(name)), above)
        })
    }

    /// Whether a path is left out. The nearest file that speaks about it counts, and in it the last
    /// line that does.
    pub(super) fn leaves_out(&self, path: &Path, is_directory: bool) -> bool {
        let mut rules = Some(self);
        while let Some(now) = rules {
            if let Ok(below) = path.strip_prefix(&now.directory) {
                let names: Vec<&[u8]> = below.iter().map(OsStr::as_encoded_bytes).collect();
                let mut lines = now.patterns.iter().rev();
                if let Some(last) = lines.find(|line| line.matches(&names, is_directory)) {
                    return !last.takes_back;
                }
            }
            rules = now.above.as_deref();
        }
        false
    }
}

fn joined(
    directory: &Path,
    patterns: Vec<Pattern>,
    above: Option<Arc<Rules>>,
) -> Option<Arc<Rules>> {
    if patterns.is_empty() {
        return above;
    }
    Some(Arc::new(Rules {
        directory: directory.to_owned(),
        patterns,
        above,
    }))
}

/// The patterns of a file. One that is not there or cannot be read leaves nothing out.
fn patterns_of(path: &Path) -> Vec<Pattern> {
    let bytes = read_bounded(path, MAX_FILE).unwrap_or_default();
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    bytes
        .split(|byte| *byte == b'\n')
        .filter_map(Pattern::read)
        .collect()
}
