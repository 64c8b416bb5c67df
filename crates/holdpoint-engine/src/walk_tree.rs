//! Everything below a path, without following links and without looking for ever.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What stands at a path and below it.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// The path itself and what is below it, each directory before what is in it; empty if nothing
    /// is there.
    pub(crate) entries: Vec<(PathBuf, Metadata)>,
    /// What could not be looked at.
    pub(crate) unreadable: Vec<(PathBuf, io::Error)>,
    /// Whether there is more than was looked at.
    pub(crate) cut: bool,
}

/// How far to look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    /// The most entries.
    pub(crate) entries: usize,
    /// When to stop.
    pub(crate) until: Option<Instant>,
}

/// What stands at `root` and below it, in order.
pub(crate) fn walk_tree(root: &Path, reach: Reach) -> Tree {
    let mut found = Tree::default();
    let mut open = vec![root.to_owned()];
    while let Some(path) = open.pop() {
        let late = reach.until.is_some_and(|until| Instant::now() >= until);
        if found.entries.len() >= reach.entries || late {
            found.cut = true;
            break;
        }
        let metadata = match path.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(error) if is_missing(&error) => continue,
            Err(error) => {
                found.unreadable.push((path, error));
                continue;
            }
        };
        if metadata.is_dir() {
            match children(&path, reach.entries.saturating_sub(found.entries.len())) {
                Ok((mut children, cut)) => {
                    found.cut |= cut;
                    children.sort();
                    open.extend(children.into_iter().rev());
                }
                Err(error) => found.unreadable.push((path.clone(), error)),
            }
        }
        found.entries.push((path, metadata));
    }
    found
}

fn children(directory: &Path, most: usize) -> io::Result<(Vec<PathBuf>, bool)> {
    let mut children = Vec::new();
    for entry in fs::read_dir(directory)? {
        if children.len() > most {
            return Ok((children, true));
        }
        children.push(entry?.path());
    }
    Ok((children, false))
}

/// Whether an error says that nothing is there.
pub(crate) fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    const ALL: Reach = Reach {
        entries: 1000,
        until: None,
    };

    #[test]
    fn a_tree_is_listed_in_order_and_links_are_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        fs::create_dir_all(root.join("b/c")).unwrap();
        fs::create_dir_all(place.path().join("elsewhere")).unwrap();
        fs::write(place.path().join("elsewhere/secret"), "x").unwrap();
        fs::write(root.join("a"), "12345").unwrap();
        symlink("../elsewhere", root.join("link")).unwrap();
        let found = walk_tree(&root, ALL);
        let names: Vec<_> = found
            .entries
            .iter()
            .map(|(path, _)| path.strip_prefix(&root).unwrap().to_str().unwrap())
            .collect();
        assert_eq!(names, ["", "a", "b", "b/c", "link"]);
        assert!(!found.cut && found.unreadable.is_empty());
        assert!(walk_tree(&root.join("none"), ALL).entries.is_empty());
    }

    #[test]
    fn a_large_tree_is_cut() {
        let place = tempfile::tempdir().unwrap();
        for number in 0..20 {
            fs::write(place.path().join(number.to_string()), "").unwrap();
        }
        let reach = Reach {
            entries: 5,
            until: None,
        };
        let found = walk_tree(place.path(), reach);
        assert!(found.cut && found.entries.len() <= 6);
        let late = Reach {
            entries: 1000,
            until: Some(Instant::now()),
        };
        assert!(walk_tree(place.path(), late).cut);
    }
}
