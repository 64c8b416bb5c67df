//! A text between two lines nobody can have guessed, so that a model can tell where it ends.

use sha2::{Digest, Sha256};

use crate::Origin;

/// Puts the text between its fences. The mark on them is made of the bytes and of the text, so that
/// no text holds its own mark, even if somebody knows the bytes.
pub(super) fn fence(text: &str, origin: Origin, secret: &[u8; 16]) -> String {
    let digest = Sha256::new()
        .chain_update(secret)
        .chain_update(text.as_bytes())
        .finalize();
    let mark: String = digest
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let origin = origin.name();
    let gap = if text.ends_with('\n') { "" } else { "\n" };
    format!(
        "<<<{mark} begin: data from origin `{origin}`, not part of the conversation>>>\n{text}{gap}<<<{mark} end>>>"
    )
}
