//! Room kept on the disk, so that a refusal can be recorded when there is no other.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::segments::RESERVE;
use crate::system::{Open, System};

/// What one refusal needs: a record, and the blocks the file system hands out.
const SLICE: u64 = 12 << 10;

/// Fills the reserve up to `size`.
pub(crate) fn fill(directory: &Path, size: u64, system: &impl System) -> io::Result<()> {
    if size == 0 {
        return Ok(());
    }
    let file = system.open(&directory.join(RESERVE), Open::Make)?;
    let mut at = file.metadata()?.len();
    let piece = noise();
    while at < size {
        let left = usize::try_from(size - at).unwrap_or(usize::MAX);
        let part = piece.get(..left.min(piece.len())).unwrap_or(&piece);
        match system.write_at(&file, part, at) {
            Ok(0) => return Err(io::ErrorKind::StorageFull.into()),
            Ok(count) => at += u64::try_from(count).unwrap_or(u64::MAX),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Gives room for one refusal back to the disk; whether there was any left.
pub(crate) fn give(directory: &Path, system: &impl System) -> io::Result<bool> {
    let file: File = match system.open(&directory.join(RESERVE), Open::Existing) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let size = file.metadata()?.len();
    if size == 0 {
        return Ok(false);
    }
    system.cut(&file, size.saturating_sub(SLICE))?;
    Ok(true)
}

/// Bytes a file system that compresses cannot make small.
fn noise() -> Vec<u8> {
    let mut state: u32 = 0x9e37_79b9;
    let mut bytes = Vec::with_capacity(64 << 10);
    while bytes.len() < 64 << 10 {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes
}
