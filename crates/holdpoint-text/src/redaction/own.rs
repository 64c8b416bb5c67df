//! Formats of a user's own: the same language as the shipped ones, read when the policy is.

use super::marker::Marker;
use super::shape::{Set, Shape};

/// The most formats one policy may add.
pub const MAX_OWN: usize = 64;

/// A format of a user's own.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnFormat {
    pub(crate) id: String,
    pub(crate) marker: Marker,
    /// Fixed texts, and the fewest and most bytes of the shape before each.
    pub(crate) anchors: Vec<(String, usize, usize)>,
    pub(crate) program: Vec<u8>,
    pub(crate) sets: Vec<Set>,
}

impl OwnFormat {
    /// A format named `id`, of texts that contain `prefix` and have this shape. The error completes
    /// "the format …".
    pub fn new(id: &str, marker: Marker, prefix: &str, shape: &str) -> Result<Self, String> {
        let named = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if id.is_empty() || id.len() > 100 || !id.chars().all(named) {
            return Err("needs an id of letters, digits, `-`, `_` and `.`".to_owned());
        }
        if prefix.len() < 3 {
            return Err("needs a `prefix` of at least three characters".to_owned());
        }
        let read = Shape::read(shape).map_err(|error| format!("has a shape that {error}"))?;
        let Some((least, most)) = read.place_of(prefix) else {
            return Err("has a `prefix` that does not stand in its shape".to_owned());
        };
        if most > 80 {
            return Err("has too much before its `prefix`".to_owned());
        }
        if read.least_width() < 8 {
            return Err("matches texts of fewer than eight characters".to_owned());
        }
        let (mut program, mut sets) = (Vec::new(), Vec::new());
        read.write(&mut program, &mut sets)
            .map_err(|error| format!("has a shape that {error}"))?;
        Ok(Self {
            id: id.to_owned(),
            marker,
            anchors: vec![(prefix.to_owned(), least, most)],
            program,
            sets,
        })
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_of_ones_own_is_checked_when_it_is_read() {
        assert!(OwnFormat::new("acme.key", Marker::ApiKey, "acme_", r"acme_\a{20,}").is_ok());
        for (id, prefix, shape, part) in [
            ("", "acme_", r"acme_\a{20}", "id"),
            ("a b", "acme_", r"acme_\a{20}", "id"),
            ("a", "ac", r"acme_\a{20}", "three"),
            ("a", "acme_", r"acne_\a{20}", "does not stand"),
            ("a", "acme_", "acme_(", "never closed"),
            ("a", "acme", "acme", "fewer than eight"),
        ] {
            let error = OwnFormat::new(id, Marker::Token, prefix, shape).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
