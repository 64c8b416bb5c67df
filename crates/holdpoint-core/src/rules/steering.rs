//! Variables that make programs do something else than their words say (`steering` in rules/programs.toml), where a text names
//! them.

use super::STEERING;

/// Whether a variable of this name steers programs.
pub(crate) fn steers(name: &str) -> bool {
    STEERING.iter().any(|one| is_like(one, name))
}

/// The places of a text at which a variable that steers is named and not only used, each with the name. There are more ways to
/// set one than assignments (`read`, `for`, `printf -v`, `((…))`): wherever such a name stands it may be set.
pub(crate) fn named(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut from = 0;
    let pieces = text.split_inclusive(|c: char| !is_of_name(c));
    pieces.filter_map(move |piece| {
        let at = from;
        from += piece.len();
        let name = piece.trim_end_matches(|c: char| !is_of_name(c));
        (steers(name) && !is_only_used(text, at, name)).then_some((at, name))
    })
}

pub(crate) fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether the name at a place of a line stands for its value (`$PATH`, `${PATH}`), which sets nothing.
pub(crate) fn is_only_used(line: &str, at: usize, name: &str) -> bool {
    let before = line.get(..at).unwrap_or_default();
    let after = line.get(at + name.len()..).unwrap_or_default();
    before.ends_with('$') || (before.ends_with("${") && after.starts_with('}'))
}

/// Whether a name is one of a list, where a star at either end is wild. Upper and lower case are not the same to shells.
fn is_like(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), None) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (Some(_), Some(_)) | (None, None) => name == pattern,
    }
}
