//! The short keyed tag by which equal secrets are recognised without being shown.

use sha2::{Digest, Sha256};

/// How many bytes of the keyed hash are shown.
const SHOWN: usize = 4;

/// HMAC-SHA-256 (RFC 2104) of `secret` under `salt`, cut to eight hexadecimal digits.
pub(crate) fn tag(salt: &[u8; 32], secret: &[u8]) -> String {
    let keyed = |pad: u8| {
        let mut block = [pad; 64];
        for (place, byte) in block.iter_mut().zip(salt) {
            *place ^= byte;
        }
        let mut hasher = Sha256::new();
        hasher.update(block);
        hasher
    };
    let mut inner = keyed(0x36);
    inner.update(secret);
    let mut outer = keyed(0x5c);
    outer.update(inner.finalize());
    let digest = outer.finalize();
    digest
        .iter()
        .take(SHOWN)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_hmac_sha_256() {
        // RFC 4231, test case 1, with its key of twenty bytes padded to 32 as the block is anyway.
        let mut salt = [0u8; 32];
        salt[..20].fill(0x0b);
        assert_eq!(tag(&salt, b"Hi There"), "b0344c61");
    }
}
