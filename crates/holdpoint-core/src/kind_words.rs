//! Kinds of statements and the words policies have for them, in tables with a row for each.

/// The word of a kind.
pub(crate) fn word_of<K: Copy + PartialEq>(
    words: &[(K, &'static str)],
    kind: K,
) -> Option<&'static str> {
    let mut rows = words.iter();
    rows.find(|(known, _)| *known == kind)
        .map(|(_, word)| *word)
}

/// The kind a word means.
pub(crate) fn kind_of<K: Copy>(words: &[(K, &'static str)], word: &str) -> Option<K> {
    let mut rows = words.iter();
    rows.find(|(_, known)| *known == word)
        .map(|(kind, _)| *kind)
}
