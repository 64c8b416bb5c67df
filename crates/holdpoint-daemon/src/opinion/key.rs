//! The key a model server wants: from the daemon's environment or from a file nobody else can read, never from the policy, which
//! is a file people share.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;

use holdpoint_core::policy::SecondOpinion;
use holdpoint_sandbox::{places, user};

/// The most bytes of a key: no server takes a longer header.
const MAX_KEY: u64 = 16 << 10;

/// Where the key is.
pub(super) enum Key {
    /// There is none.
    None,
    /// In a variable.
    Variable(String),
    /// In a file.
    File(PathBuf),
}

impl Key {
    /// The key a policy names; what is wrong with it is said to its author.
    pub(super) fn named(settings: &SecondOpinion) -> Result<Self, &'static str> {
        match (&settings.key_env, &settings.key_file) {
            (None, None) => Ok(Key::None),
            (Some(_), Some(_)) => Err("name `keyEnv` or `keyFile`, not both"),
            (Some(name), None) if name.is_empty() || name.contains(['=', '\0']) => {
                Err("`keyEnv` is no name of a variable")
            }
            (Some(name), None) => Ok(Key::Variable(name.clone())),
            (None, Some(path)) => {
                let path = match path.strip_prefix("~/") {
                    Some(below) => std::env::home_dir()
                        .ok_or("no home directory is known for `keyFile`")?
                        .join(below),
                    None => PathBuf::from(path),
                };
                match path.is_absolute() {
                    true => Ok(Key::File(path)),
                    false => Err("`keyFile` must be a full path, or one that starts with `~/`"),
                }
            }
        }
    }

    /// What is sent with the question. Read anew each time, so that a new key counts at once.
    pub(super) fn header(&self) -> Result<Option<String>, String> {
        let key = match self {
            Key::None => return Ok(None),
            Key::Variable(name) => std::env::var(name)
                .map_err(|_| format!("the daemon's environment has no `{name}`"))?,
            Key::File(path) => read(path).map_err(|why| format!("the file of `keyFile` {why}"))?,
        };
        match key.trim() {
            "" => Err("the key of the model server is empty".to_owned()),
            key if !key.chars().all(|c| c.is_ascii_graphic()) => {
                Err("the key of the model server cannot be sent in a header".to_owned())
            }
            key => Ok(Some(format!("Bearer {key}"))),
        }
    }
}

/// A file of this user's that nobody else can read or change.
fn read(path: &PathBuf) -> Result<String, &'static str> {
    // What a link leads to may be another file by the time it is read, and a pipe would keep the daemon waiting.
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(places::AS_IT_IS)
        .open(path);
    let file: File = opened.map_err(|_| "cannot be opened, or is a link")?;
    let about = file.metadata().map_err(|_| "cannot be looked at")?;
    if !about.is_file() {
        return Err("is no file");
    }
    if about.uid() != user::id() {
        return Err("belongs to another user");
    }
    if about.mode() & 0o077 != 0 {
        return Err("may be read by others: run chmod 600 on it");
    }
    let mut text = String::new();
    let read = file.take(MAX_KEY).read_to_string(&mut text);
    read.map_err(|_| "is no text")?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn mode(path: &PathBuf, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_file_others_can_read_holds_no_key() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        fs::write(&path, "sk-local\n").unwrap();
        mode(&path, 0o600);
        let header = || Key::File(path.clone()).header();
        assert_eq!(header().unwrap().unwrap(), "Bearer sk-local");
        for open in [0o640, 0o604, 0o660] {
            mode(&path, open);
            assert!(header().unwrap_err().contains("chmod 600"), "{open:o}");
        }
        mode(&path, 0o600);
        let link = directory.path().join("link");
        symlink(&path, &link).unwrap();
        assert!(Key::File(link).header().unwrap_err().contains("link"));
        fs::write(&path, "two\nlines").unwrap();
        assert!(header().unwrap_err().contains("header"));
        fs::write(&path, " \n").unwrap();
        assert!(header().unwrap_err().contains("empty"));
    }

    #[test]
    fn a_variable_that_is_not_set_is_told_by_its_name() {
        let key = Key::Variable("HOLDPOINT_TEST_NO_SUCH_KEY".to_owned());
        let why = key.header().unwrap_err();
        assert!(why.contains("HOLDPOINT_TEST_NO_SUCH_KEY"), "{why}");
    }
}
