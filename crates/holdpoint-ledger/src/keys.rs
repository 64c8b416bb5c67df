//! The key that signs checkpoints, kept beside the segments for its owner alone.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::error::{Cause, Doing, LedgerError};
use crate::note::{MAX_NOTE, PrivateKey, PublicKey};
use crate::segments::{KEY, PUBLIC_KEY};
use crate::system::{Open, System};

/// The key of a ledger that has one.
pub(crate) fn read(directory: &Path) -> Result<PrivateKey, LedgerError> {
    let path = directory.join(KEY);
    let bytes = match read_small(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(LedgerError::new(Doing::Sign, path, Cause::NoKey));
        }
        Err(error) => return Err(LedgerError::io(Doing::Sign, path, error)),
    };
    let text = String::from_utf8_lossy(&bytes);
    PrivateKey::from_text(&text).ok_or(LedgerError::new(Doing::Sign, path, Cause::NoKey))
}

/// Bytes nobody can guess, for a key.
pub fn unguessable() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

/// Makes the key that signs, where there is none or none that can be read.
pub(crate) fn make(directory: &Path, system: &impl System) -> Result<PrivateKey, LedgerError> {
    let path = directory.join(KEY);
    let seed = unguessable().map_err(|error| LedgerError::io(Doing::Sign, &path, error))?;
    let key = PrivateKey::from_seed(seed);
    write(&path, &key.to_text(), system)?;
    Ok(key)
}

/// Makes the key that checks what `key` signs known beside the segments.
pub(crate) fn publish(
    directory: &Path,
    key: &PrivateKey,
    system: &impl System,
) -> Result<(), LedgerError> {
    let text = format!("{}\n", key.public());
    write(&directory.join(PUBLIC_KEY), &text, system)
}

/// Whether the key that is known checks what `key` signs.
pub(crate) fn is_public(directory: &Path, key: &PrivateKey) -> Result<bool, LedgerError> {
    let known = read_public(directory)
        .map_err(|error| LedgerError::io(Doing::Read, directory.join(PUBLIC_KEY), error))?;
    Ok(known == Some(key.public()))
}

/// The key that checks a ledger's checkpoints; none if it is missing or not as it was written.
pub(crate) fn read_public(directory: &Path) -> io::Result<Option<PublicKey>> {
    let bytes = match read_small(&directory.join(PUBLIC_KEY)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let text = String::from_utf8_lossy(&bytes);
    let key: Option<PublicKey> = text.parse().ok();
    Ok(key.filter(|key| text == format!("{key}\n")))
}

/// The bytes of a small file of the ledger; none of one no writer makes so large.
pub(crate) fn read_small(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = MAX_NOTE.saturating_add(1);
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_NOTE) {
        bytes.clear();
    }
    Ok(bytes)
}

/// Writes a small file of the ledger: whoever is ended on the way leaves it as it was. Nobody else
/// writes it meanwhile: the caller holds the lock.
pub(crate) fn write(path: &Path, text: &str, system: &impl System) -> Result<(), LedgerError> {
    put(path, text, system, true)
}

/// The same without waiting for the disk: a loss of power may leave it as it was, or empty.
pub(crate) fn write_soon(path: &Path, text: &str, system: &impl System) -> Result<(), LedgerError> {
    put(path, text, system, false)
}

fn put(path: &Path, text: &str, system: &impl System, sync: bool) -> Result<(), LedgerError> {
    let failed = |error| LedgerError::io(Doing::Write, path, error);
    let aside = path.with_added_extension("new");
    let file = system.open(&aside, Open::Make).map_err(failed)?;
    system.cut(&file, 0).map_err(failed)?;
    let written = system.write_at(&file, text.as_bytes(), 0).map_err(failed)?;
    if written != text.len() {
        return Err(failed(io::ErrorKind::StorageFull.into()));
    }
    if sync {
        system.sync(&file).map_err(failed)?;
    }
    system.rename(&aside, path).map_err(failed)
}
