//! A bit for each of 64 bytes: what is looked for is seen in many bytes at once.

/// The bytes of a block that are of a kind; the first is the lowest bit. `which` gets eight bytes as one
/// number, the first one lowest, and sets the highest bit of those that are: a compiler that makes small
/// programs does not do several bytes at once by itself.
#[inline]
pub(crate) fn mask(block: &[u8; 64], which: impl Fn(u64) -> u64) -> u64 {
    let eights = block.as_chunks::<8>().0.iter();
    eights.fold(0, |bits, eight| {
        // Each of the eight flags ends up at its place in the highest byte.
        let flags = which(u64::from_le_bytes(*eight)) >> 7;
        bits >> 8 | flags.wrapping_mul(0x0102_0408_1020_4080) & 0xff << 56
    })
}

/// Those of eight bytes that are from `first` to `last`, both of ASCII.
#[inline]
pub(crate) fn among(eight: u64, first: u8, last: u8) -> u64 {
    // The highest bit of a sum tells whether `first` is reached, and whether `last` is passed.
    let low = eight & !HIGHS;
    let reached = low.wrapping_add(every(0x80 - first));
    let passed = low.wrapping_add(every(0x7f - last));
    reached & !passed & !eight & HIGHS
}

/// Those of eight bytes that are letters or digits of ASCII.
#[inline]
pub(crate) fn plain(eight: u64) -> u64 {
    among(eight | every(0x20), b'a', b'z') | among(eight, b'0', b'9')
}

/// Those of eight bytes that are one byte.
#[inline]
pub(crate) fn equal(eight: u64, byte: u8) -> u64 {
    let other = eight ^ every(byte);
    !((other & !HIGHS).wrapping_add(!HIGHS) | other) & HIGHS
}

/// Those of eight bytes that are beyond ASCII.
#[inline]
pub(crate) fn wide(eight: u64) -> u64 {
    eight & HIGHS
}

#[inline]
const fn every(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The highest bit of each of eight bytes.
const HIGHS: u64 = every(0x80);

/// The bytes of a text in blocks with where they start; the last one goes on with `behind`.
pub(crate) fn blocks(bytes: &[u8], behind: u8) -> impl Iterator<Item = (usize, [u8; 64])> {
    let (whole, rest) = bytes.as_chunks::<64>();
    let mut last = [behind; 64];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    let all = whole.iter().copied().chain([last]);
    all.zip((0_usize..).step_by(64))
        .map(|(block, at)| (at, block))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_tell_the_bytes_of_every_block() {
        let text = "a<b [c] # é ".repeat(40);
        for length in 0..200 {
            let bytes = text.as_bytes().get(..length).unwrap();
            let mut found = Vec::new();
            for (at, block) in blocks(bytes, b' ') {
                let bits = mask(&block, |eight| equal(eight, b'<') | wide(eight));
                let places = (0..64).filter(|bit| bits >> bit & 1 != 0);
                found.extend(places.map(|bit| at + bit));
            }
            let wanted = |at: &usize| bytes[*at] == b'<' || bytes[*at] > 127;
            assert!(found.into_iter().eq((0..length).filter(wanted)), "{length}");
        }
    }

    #[test]
    fn every_byte_is_of_its_kind_wherever_it_stands() {
        for byte in 0..=u8::MAX {
            for place in 0..64 {
                for other in [0, b'a', b'0', 0xff] {
                    let mut block = [other; 64];
                    block[place] = byte;
                    let has = |which: fn(u64) -> u64| mask(&block, which) >> place & 1 != 0;
                    assert_eq!(has(plain), byte.is_ascii_alphanumeric());
                    assert_eq!(has(wide), !byte.is_ascii());
                    assert_eq!(has(|eight| equal(eight, b'_')), byte == b'_');
                }
            }
        }
    }
}
