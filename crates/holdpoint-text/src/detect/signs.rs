//! Where rare signs of ASCII stand in a text.

use crate::bits;

/// The places of any of some signs, in order.
pub(super) fn places<const N: usize>(text: &str, signs: [u8; N]) -> impl Iterator<Item = usize> {
    let which = move |eight: u64| {
        let each = signs.iter().map(|sign| bits::equal(eight, *sign));
        each.fold(0, |any, this| any | this)
    };
    bits::blocks(text.as_bytes(), 0).flat_map(move |(start, block)| {
        let mut open = bits::mask(&block, which);
        std::iter::from_fn(move || {
            let at = (open != 0).then(|| start + open.trailing_zeros() as usize)?;
            open &= open - 1;
            Some(at)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_is_told_in_order() {
        let text = "a<b [c] # é ".repeat(40);
        let wanted = |at: &usize| matches!(text.as_bytes()[*at], b'<' | b'[' | b'#');
        for length in 0..200 {
            let text = text.get(..text.floor_char_boundary(length)).unwrap();
            let all = (0..text.len()).filter(wanted);
            assert!(places(text, *b"<[#").eq(all), "{text}");
        }
    }
}
