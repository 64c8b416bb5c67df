//! The characters of a text beyond ASCII, which are few in most.

/// Each of them with where it stands.
pub(super) fn characters(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.as_bytes().get(at..)?;
        at += plain_at_start(rest);
        let c = text.get(at..)?.chars().next()?;
        let start = at;
        at += c.len_utf8();
        Some((start, c))
    })
}

/// How many bytes of ASCII there are before any other.
fn plain_at_start(bytes: &[u8]) -> usize {
    let (chunks, _) = bytes.as_chunks::<16>();
    let plain = chunks.iter().take_while(|chunk| chunk.is_ascii()).count() * 16;
    let rest = bytes.get(plain..).unwrap_or_default();
    plain + rest.iter().take_while(|byte| byte.is_ascii()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_characters_beyond_ascii_are_told() {
        let long = "plain text that is longer than sixteen bytes ";
        for text in [
            "",
            "a",
            "é",
            "aéb",
            "請勿",
            &format!("{long}é{long}請{long}"),
        ] {
            let all = text.char_indices().filter(|(_, c)| !c.is_ascii());
            assert!(characters(text).eq(all), "{text}");
        }
    }
}
