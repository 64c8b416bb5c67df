//! Rule packs on disk: those that lie beside a policy file, and those it loads.
//!
//! A pack is one more thing a decision rests on, so one that is named and cannot be used is an
//! error, as a broken policy file is. Its rules can only object, so whoever may write a policy may
//! load packs.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use holdpoint_core::policy::{Authority, LoadedPack};
use holdpoint_core::{Pack, Policy};

use crate::escape_for_display;
use crate::load::{FileError, LoadError, read_text_file};
use crate::stamps::Stamps;
use crate::store::plain_words;

/// The largest pack that is read: ten times the longest shipped one. A larger one is an error, since a pack that
/// is passed over guards nothing.
const MAX_PACK: u64 = 1 << 20;

/// The most packs that are loaded: each costs every call a little. One more is an error, since a pack that
/// is passed over guards nothing.
const MAX_PACKS: usize = 64;

/// The directory for packs beside a policy file.
pub(crate) fn beside(policy: &Path) -> PathBuf {
    policy.with_file_name("rules")
}

/// A pack of somebody's own: an ordinary file of at most 1 MiB.
pub fn read_pack(path: &Path) -> Result<Pack, LoadError> {
    read_pack_stamped(path, &mut Stamps::default())
}

fn read_pack_stamped(path: &Path, stamps: &mut Stamps) -> Result<Pack, LoadError> {
    let bytes = read_text_file(path, "pack", MAX_PACK, stamps)?;
    let text = String::from_utf8(bytes).map_err(|error| FileError {
        path: path.to_owned(),
        problem: format!(
            "the pack is not UTF-8 text (byte {})",
            error.utf8_error().valid_up_to()
        ),
        hint: "write it as UTF-8",
    })?;
    let place = path.display().to_string();
    Pack::own(&place, &text)
        // Its words are its author's, who may not be the one who reads them.
        .map_err(|error| LoadError::Packs(escape_for_display(&error.to_string(), MAX_MESSAGE)))
}

/// The most characters of a message about a pack; long enough for every list of known words.
const MAX_MESSAGE: usize = 1000;

/// The packs in the given directories and those the layers of a policy load, from the highest
/// authority down. A file that is named twice is loaded once, for the highest that names it.
pub(crate) fn loaded(
    policy: &Policy,
    directories: &[(PathBuf, Authority)],
    home: Option<&Path>,
    stamps: &mut Stamps,
) -> Result<Vec<LoadedPack>, LoadError> {
    let mut files: Vec<(PathBuf, Authority)> = Vec::new();
    for (directory, authority) in directories {
        let found = packs_in(directory, stamps)?;
        files.extend(found.into_iter().map(|file| (file, *authority)));
    }
    for layer in policy.layers() {
        for written in layer.pack_files() {
            let file = place_of(written, &layer.name, home)?;
            files.push((file, layer.authority));
        }
    }
    // Files of one authority stay in the order they were found in.
    files.sort_by_key(|(_, authority)| *authority);
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut packs: Vec<LoadedPack> = Vec::new();
    for (file, authority) in files {
        let real = fs::canonicalize(&file).unwrap_or_else(|_| file.clone());
        if seen.contains(&real) {
            continue;
        }
        seen.push(real);
        if packs.len() == MAX_PACKS {
            return Err(LoadError::Packs(format!(
                "{}: this is one pack too many, at most {MAX_PACKS} are loaded: join some",
                escape_for_display(&file.display().to_string(), 300)
            )));
        }
        let pack = read_pack_stamped(&file, stamps)?;
        let place = file.display().to_string();
        // The same text in two places is one pack.
        if packs.iter().any(|one| one.pack.digest() == pack.digest()) {
            continue;
        }
        if let Some((id, other)) = shared_rule(&pack, &packs) {
            return Err(LoadError::Packs(format!(
                "{}: rule `{id}` stands in {} too: give one of them another id",
                escape_for_display(&place, 300),
                escape_for_display(other, 300)
            )));
        }
        packs.push(LoadedPack {
            pack,
            authority,
            place,
        });
    }
    Ok(packs)
}

/// The first id a pack shares with another one, and that one's place.
fn shared_rule<'p>(pack: &'p Pack, others: &'p [LoadedPack]) -> Option<(&'p str, &'p str)> {
    pack.ids().find_map(|id| {
        let other = others
            .iter()
            .find(|other| other.pack.ids().any(|known| known == id))?;
        Some((id, other.place.as_str()))
    })
}

/// The packs in a directory, by name; none if there is no such directory.
fn packs_in(directory: &Path, stamps: &mut Stamps) -> Result<Vec<PathBuf>, FileError> {
    let failed = |error: std::io::Error| FileError {
        path: directory.to_owned(),
        problem: format!("the packs in it cannot be listed ({})", plain_words(&error)),
        hint: "make it a directory you may read, or remove it",
    };
    // Before it is listed: a file that comes between is seen as a change.
    match fs::metadata(directory) {
        Ok(found) => stamps.content(directory, &found),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            stamps.absent(directory);
            return Ok(Vec::new());
        }
        Err(error) => return Err(failed(error)),
    }
    let entries = fs::read_dir(directory).map_err(failed)?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        let named = path.extension().is_some_and(|ending| ending == "toml");
        // What editors leave beside a file begins with a dot.
        let hidden = path
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if named && !hidden {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Where a pack is that a policy file names: `~/…` from home, else from where the file stands.
fn place_of(written: &str, policy: &str, home: Option<&Path>) -> Result<PathBuf, FileError> {
    let beside = || {
        let directory = Path::new(policy).parent().unwrap_or(Path::new(""));
        directory.join(written)
    };
    let problem = |problem: &str, hint| FileError {
        path: policy.into(),
        problem: format!(
            "`guards.load`: `{}` {problem}",
            escape_for_display(written, 200)
        ),
        hint,
    };
    if written.is_empty() {
        return Err(problem("names no file", "name a pack"));
    }
    match written.strip_prefix('~') {
        None => Ok(beside()),
        Some(rest) => match (rest.strip_prefix('/'), home) {
            (Some(rest), Some(home)) => Ok(home.join(rest)),
            (Some(_), None) => Err(problem("needs a home, and none is known", "set HOME")),
            (None, _) => Err(problem(
                "starts in somebody else's home",
                "write the whole path",
            )),
        },
    }
}
