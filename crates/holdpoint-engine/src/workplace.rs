//! The directory an agent works in: where it really is.

use std::env;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The directory given, or this process's: absolute, with links followed, so that a detour or a
/// link leads to the policy of the place and not of the way to it. Of one that does not exist yet,
/// the part that does is followed.
pub fn real_directory(given: Option<&Path>) -> io::Result<PathBuf> {
    let absolute = match given {
        Some(given) => std::path::absolute(given)?,
        None => env::current_dir()?,
    };
    let mut missing: Vec<Component<'_>> = Vec::new();
    let mut there = absolute.as_path();
    let mut real = loop {
        match there.canonicalize() {
            Ok(real) => break real,
            Err(error) if is_missing(&error) => {
                match (there.parent(), there.components().next_back()) {
                    (Some(parent), Some(last)) => {
                        missing.push(last);
                        there = parent;
                    }
                    _ => return Err(error),
                }
            }
            Err(error) => return Err(error),
        }
    };
    for component in missing.into_iter().rev() {
        match component {
            Component::ParentDir => {
                real.pop();
            }
            Component::Prefix(_)
            | Component::RootDir
            | Component::CurDir
            | Component::Normal(_) => real.push(component),
        }
    }
    Ok(real)
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_and_detours_lead_to_the_place_itself() {
        let temporary = tempfile::tempdir().unwrap();
        let base = temporary.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("project/src")).unwrap();
        symlink(base.join("project"), base.join("link")).unwrap();
        let real = |path: &str| real_directory(Some(&base.join(path))).unwrap();
        assert_eq!(real("link/src"), base.join("project/src"));
        assert_eq!(real("project/src/../src"), base.join("project/src"));
        assert_eq!(real("link/new/deeper"), base.join("project/new/deeper"));
        assert_eq!(real("link/new/../other"), base.join("project/other"));
    }
}
