//! What a pattern of the shell stands for on this disk.
//!
//! `*`, `?` and `[…]` stand for parts of one name, `**` for any number of directories. A name that
//! starts with a dot is only matched by a pattern that does, as in a shell, unless `**` says that
//! something other than the shell looks. Links are not followed, work is bounded.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use holdpoint_core::Glob;

/// The most entries of directories that are looked at for one pattern: about a second of a disk. Beyond it what was
/// found is said to be cut.
const MAX_ENTRIES: usize = 200_000;

/// What a pattern stands for.
#[derive(Debug, Default)]
pub(crate) struct Expanded {
    /// The paths, in order.
    pub(crate) paths: Vec<PathBuf>,
    /// Whether there are more than were looked for.
    pub(crate) cut: bool,
}

/// What an absolute path or pattern stands for: at most so many paths. A path without a wildcard
/// stands for itself, whether or not anything is there.
pub(crate) fn glob_expand(pattern: &str, most: usize) -> Expanded {
    if !pattern.contains(['*', '?', '[']) {
        return Expanded {
            paths: vec![PathBuf::from(pattern)],
            cut: false,
        };
    }
    let mut found = Expanded::default();
    let literal = Path::new(pattern);
    if literal.symlink_metadata().is_ok() {
        // The pattern may have been quoted.
        found.paths.push(literal.to_owned());
    }
    let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    let hidden_too = parts.contains(&"**");
    let mut looked_at = 0;
    let mut open: Vec<(PathBuf, usize)> = vec![(PathBuf::from("/"), 0)];
    while let Some((place, at)) = open.pop() {
        if found.paths.len() >= most || looked_at >= MAX_ENTRIES {
            found.cut = true;
            break;
        }
        let Some(part) = parts.get(at) else {
            if place.symlink_metadata().is_ok() && !found.paths.contains(&place) {
                found.paths.push(place);
            }
            continue;
        };
        if !part.contains(['*', '?', '[']) {
            open.push((place.join(part), at + 1));
            continue;
        }
        let deep = *part == "**";
        let glob = Glob::new(part);
        let mut next: Vec<(PathBuf, usize)> = Vec::new();
        if deep {
            next.push((place.clone(), at + 1));
        }
        let entries = match fs::read_dir(&place) {
            Ok(entries) => Some(entries),
            Err(error) => {
                found.cut |= !is_nothing(&error);
                None
            }
        };
        for entry in entries.into_iter().flatten() {
            looked_at += 1;
            let Ok(entry) = entry else {
                found.cut = true;
                break;
            };
            if looked_at >= MAX_ENTRIES {
                found.cut = true;
                break;
            }
            let name = entry.file_name();
            // What is not text in a name is one letter that no pattern names.
            let name = name.to_string_lossy();
            if deep {
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    next.push((entry.path(), at));
                }
                continue;
            }
            let visible = hidden_too || !name.starts_with('.') || part.starts_with('.');
            if visible && glob.matches(&name) {
                next.push((entry.path(), at + 1));
            }
        }
        next.sort();
        open.extend(next.into_iter().rev());
    }
    found.paths.sort();
    found
}

/// Whether an error says that a shell would find nothing there: it looks as the same user.
fn is_nothing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::PermissionDenied
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_stands_for_what_the_shell_would_find() {
        let place = tempfile::tempdir().unwrap();
        for name in ["a.o", "b.o", "c.c", ".d.o", "sub/e.o", "sub/deep/f.o"] {
            let path = place.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let names = |pattern: &str| -> Vec<String> {
            let whole = place.path().join(pattern);
            let found = glob_expand(whole.to_str().unwrap(), 100);
            assert!(!found.cut);
            let names = found.paths.iter().map(|path| {
                let name = path.strip_prefix(place.path()).unwrap();
                name.to_str().unwrap().to_owned()
            });
            names.collect()
        };
        assert_eq!(names("*.o"), ["a.o", "b.o"]);
        assert_eq!(names("?.[co]"), ["a.o", "b.o", "c.c"]);
        assert_eq!(names("*/*.o"), ["sub/e.o"]);
        assert_eq!(
            names("**/*.o"),
            [".d.o", "a.o", "b.o", "sub/deep/f.o", "sub/e.o"]
        );
        assert_eq!(names("none"), ["none"]);
        assert!(names("none*").is_empty());
        let all = place.path().join("*");
        assert!(glob_expand(all.to_str().unwrap(), 1).cut);
    }
}
