//! What stands in place of a secret, and how often.

use std::fmt;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

/// What a secret is replaced by (O-22).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Marker {
    /// An e-mail address.
    Email,
    /// A telephone number.
    Phone,
    /// A social security number.
    Ssn,
    /// A key a program identifies itself with.
    ApiKey,
    /// A password.
    Password,
    /// A token of a session, a person or a service.
    Token,
    /// A private key.
    PrivateKey,
    /// A payment card.
    Card,
    /// An IP address.
    Ip,
}

impl Marker {
    /// All of them.
    pub const ALL: [Marker; 9] = [
        Marker::Email,
        Marker::Phone,
        Marker::Ssn,
        Marker::ApiKey,
        Marker::Password,
        Marker::Token,
        Marker::PrivateKey,
        Marker::Card,
        Marker::Ip,
    ];

    /// The word in the brackets.
    pub fn name(self) -> &'static str {
        match self {
            Marker::Email => "EMAIL",
            Marker::Phone => "PHONE",
            Marker::Ssn => "SSN",
            Marker::ApiKey => "API_KEY",
            Marker::Password => "PASSWORD",
            Marker::Token => "TOKEN",
            Marker::PrivateKey => "PRIVATE_KEY",
            Marker::Card => "CARD",
            Marker::Ip => "IP",
        }
    }

    /// The word used in policies and in counts.
    pub fn as_str(self) -> &'static str {
        match self {
            Marker::Email => "email",
            Marker::Phone => "phone",
            Marker::Ssn => "ssn",
            Marker::ApiKey => "api_key",
            Marker::Password => "password",
            Marker::Token => "token",
            Marker::PrivateKey => "private_key",
            Marker::Card => "card",
            Marker::Ip => "ip",
        }
    }

    /// Whether it speaks of a person or a machine, not of a secret.
    pub fn is_personal(self) -> bool {
        match self {
            Marker::Email | Marker::Phone | Marker::Ssn | Marker::Card | Marker::Ip => true,
            Marker::ApiKey | Marker::Password | Marker::Token | Marker::PrivateKey => false,
        }
    }

    /// The marker of a number in the tables.
    pub(crate) fn from_number(number: u8) -> Self {
        Self::ALL
            .get(usize::from(number))
            .copied()
            .unwrap_or(Marker::Token)
    }

    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]", self.name())
    }
}

/// How many of each kind were replaced; never what they were (O-14).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds([u32; 9]);

impl Kinds {
    /// Whether nothing was replaced.
    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }

    /// How many were replaced altogether.
    pub fn total(&self) -> u32 {
        self.0
            .iter()
            .fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// How many of one kind.
    pub fn count(&self, marker: Marker) -> u32 {
        self.0.get(marker.index()).copied().unwrap_or(0)
    }

    /// The kinds there were, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Marker, u32)> + '_ {
        Marker::ALL
            .into_iter()
            .map(|marker| (marker, self.count(marker)))
            .filter(|(_, count)| *count > 0)
    }

    /// Adds the counts of another text.
    pub fn add(&mut self, other: Kinds) {
        for (sum, count) in self.0.iter_mut().zip(other.0) {
            *sum = sum.saturating_add(count);
        }
    }

    pub(crate) fn note(&mut self, marker: Marker) {
        if let Some(count) = self.0.get_mut(marker.index()) {
            *count = count.saturating_add(1);
        }
    }
}

impl Serialize for Kinds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (marker, count) in self.iter() {
            map.serialize_entry(marker.as_str(), &count)?;
        }
        map.end()
    }
}

/// The length of the marker at the start of these bytes: `[TOKEN]` or `[TOKEN:9f3ac2d1]`.
pub(crate) fn marker_length(bytes: &[u8]) -> Option<usize> {
    let rest = bytes.strip_prefix(b"[")?;
    let name = rest
        .iter()
        .take(12)
        .take_while(|byte| byte.is_ascii_uppercase() || **byte == b'_')
        .count();
    let word = rest.get(..name)?;
    if !Marker::ALL
        .iter()
        .any(|marker| marker.name().as_bytes() == word)
    {
        return None;
    }
    match rest.get(name..)? {
        [b']', ..] => Some(name + 2),
        [b':', tag @ ..] => {
            let hex = |byte: &u8| byte.is_ascii_hexdigit();
            let whole = tag.get(..8)?.iter().all(hex) && tag.get(8) == Some(&b']');
            whole.then_some(name + 11)
        }
        _ => None,
    }
}

/// Whether a marker stands anywhere in these bytes.
pub(crate) fn has_marker(bytes: &[u8]) -> bool {
    bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'[')
        .any(|(at, _)| bytes.get(at..).and_then(marker_length).is_some())
}

#[cfg(test)]
mod tests {
    use super::super::format::MARKERS;
    use super::*;

    #[test]
    fn the_words_of_the_files_are_the_markers() {
        let words: Vec<&str> = Marker::ALL.iter().map(|marker| marker.as_str()).collect();
        assert_eq!(words, MARKERS);
    }

    #[test]
    fn markers_are_recognised() {
        assert_eq!(marker_length(b"[TOKEN] x"), Some(7));
        assert_eq!(marker_length(b"[API_KEY:9f3ac2d1]"), Some(18));
        assert_eq!(marker_length(b"[API_KEY:9f3ac2d]"), None);
        assert_eq!(marker_length(b"[NOTE]"), None);
        assert!(has_marker(b"a [EMAIL] b"));
    }
}
