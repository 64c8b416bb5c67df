//! Whether a name is one that secrets are kept under: `DB_PASSWORD`, `apiKey`, `x-auth-token`.

use super::marker::Marker;
use super::tables::{NAMES, Reach};

/// The longest name that is looked at.
pub(crate) const MAX_LENGTH: usize = 64;

/// What is kept under `name`, if it is a secret.
pub(crate) fn kept_under(name: &[u8]) -> Option<Marker> {
    let plain = Plain::from_name(name)?;
    let letters = plain.letters();
    let tail = letters.last_chunk::<2>()?;
    let row = NAMES.iter().filter(|row| row.tail == *tail).find(|row| {
        let known = row.text.bytes();
        match row.reach {
            Reach::Whole => letters == known,
            Reach::Words => letters.ends_with(known) && plain.word_at(letters.len() - known.len()),
            Reach::Ends => letters.ends_with(known),
        }
    })?;
    Some(Marker::from_number(row.marker))
}

/// Whether a name is that of a key of some kind: `OPENAI_KEY`, `HASH_SALT`, not `PUBLIC_KEY` or `CACHE_KEY`.
pub(crate) fn may_be_key(name: &[u8]) -> bool {
    const OTHER: [&[u8]; 12] = [
        b"PUBLIC",
        b"PUB",
        b"PRIMARY",
        b"FOREIGN",
        b"CACHE",
        b"PARTITION",
        b"SORT",
        b"OBJECT",
        b"S3",
        b"GPG",
        b"HOST",
        b"LOOKUP",
    ];
    // A personal access token; a pattern does not look like one.
    const ALSO: [&[u8]; 5] = [b"_AUTH", b"_SALT", b"_SK", b"PEPPER", b"_PAT"];
    if name == b"PAT" || ALSO.iter().any(|end| name.ends_with(end)) {
        return true;
    }
    name.strip_suffix(b"_KEY").is_some_and(|lead| {
        let word = lead.rsplit(|byte| *byte == b'_').next().unwrap_or(lead);
        !OTHER.contains(&word)
    })
}

/// A name without separators, in lower case, and where its words begin.
struct Plain {
    bytes: [u8; MAX_LENGTH],
    length: usize,
    words: u64,
}

impl Plain {
    fn from_name(name: &[u8]) -> Option<Self> {
        let mut plain = Self {
            bytes: [0; MAX_LENGTH],
            length: 0,
            words: 0,
        };
        // A number at the end tells one from another: `PASSWORD_2`.
        let end = name
            .iter()
            .rposition(|byte| !byte.is_ascii_digit() && !b"_-".contains(byte))?;
        let name = name.get(..=end)?;
        let mut before = b' ';
        for byte in name {
            if byte.is_ascii_alphanumeric() {
                let begins = !before.is_ascii_alphanumeric()
                    || (byte.is_ascii_uppercase() && !before.is_ascii_uppercase())
                    || (before.is_ascii_digit() && !byte.is_ascii_digit());
                *plain.bytes.get_mut(plain.length)? = byte.to_ascii_lowercase();
                plain.words |= u64::from(begins) << plain.length;
                plain.length += 1;
            }
            before = *byte;
        }
        Some(plain)
    }

    fn letters(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or(&[])
    }

    fn word_at(&self, at: usize) -> bool {
        at == 0 || self.words >> at.min(63) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_however_they_are_written() {
        for (name, marker) in [
            ("password", Marker::Password),
            ("DB_PASSWORD", Marker::Password),
            ("dbPassword", Marker::Password),
            ("spring.datasource.password", Marker::Password),
            ("PGPASSWORD", Marker::Password),
            ("MYSQL_PWD", Marker::Password),
            ("password2", Marker::Password),
            ("apiKey", Marker::ApiKey),
            ("X-Api-Key", Marker::ApiKey),
            ("AWS_SECRET_ACCESS_KEY", Marker::ApiKey),
            ("client_secret", Marker::ApiKey),
            ("GITHUB_TOKEN", Marker::Token),
            ("accessToken", Marker::Token),
            ("_authToken", Marker::Token),
            ("privateKey", Marker::PrivateKey),
        ] {
            assert_eq!(kept_under(name.as_bytes()), Some(marker), "{name}");
        }
        for name in [
            "bypass",
            "compass",
            "max_tokens",
            "token_count",
            "tokenizer",
            "key",
            "public_key",
            "password_file",
            "passwordLabel",
            "secretary",
            "author",
            "keyboard",
            "monkey",
            "primary_key",
            "passed",
            "",
            "tokens",
            "passwordless",
        ] {
            assert_eq!(kept_under(name.as_bytes()), None, "{name}");
        }
    }
}
