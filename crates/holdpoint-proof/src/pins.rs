//! The keys that count, by person: what `/etc/holdpoint/approvers.json` says.
//!
//! Whoever reads the file sees to it that only root can have written it; here it is read.

use serde::{Deserialize, Serialize};

use crate::key::{BadKey, KeyKind, VerifyingKey};

/// The most bytes of the file: a thousand people with a few keys each.
pub const MAX_PINS: usize = 1 << 20;

/// The most people, and keys of one of them: more is a slip, and each costs a look at every release.
const MAX_PEOPLE: usize = 1000;
const MAX_KEYS: usize = 20;

/// The keys that count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pins {
    /// Everybody.
    #[serde(default)]
    pub people: Vec<PinnedPerson>,
}

/// Somebody whose signature counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinnedPerson {
    /// The name the policy and the ledger know.
    pub name: String,
    /// Their keys.
    pub keys: Vec<PinnedKey>,
}

/// One key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinnedKey {
    /// What it is called by: the credential's id for a passkey, the fingerprint for ssh.
    pub id: String,
    /// What it is.
    pub kind: KeyKind,
    /// The key: SPKI in base64, or the line of a `.pub` file.
    pub public_key: String,
    /// For a passkey, the name it was made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rp: Option<String>,
    /// For a passkey, the pages it signs on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<String>,
    /// Whether it cannot leave its device.
    #[serde(default)]
    pub device_bound: bool,
}

/// Why a file pins nobody.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPins {
    /// It is not of this form.
    #[error("it is not as it is written by `holdpoint people pin` (line {0}, column {1})")]
    Form(usize, usize),
    /// It is too long.
    #[error("it has more people or keys than are read")]
    TooMany,
    /// A name or key stands there twice.
    #[error("`{0}` stands there twice")]
    Twice(String),
    /// A key is none.
    #[error("the key `{0}`: {1}")]
    Key(String, BadKey),
    /// Somebody is called by what is no name.
    #[error("`{0}` is no name: use up to 64 letters, digits and . _ @ + -")]
    Name(String),
    /// A passkey without pages.
    #[error("the passkey `{0}` names no page it signs on")]
    NoOrigin(String),
}

impl Pins {
    /// Reads the file.
    pub fn read(bytes: &[u8]) -> Result<Self, BadPins> {
        if bytes.len() > MAX_PINS {
            return Err(BadPins::TooMany);
        }
        let pins: Self = serde_json::from_slice(bytes)
            .map_err(|error| BadPins::Form(error.line(), error.column()))?;
        pins.check()?;
        Ok(pins)
    }

    fn check(&self) -> Result<(), BadPins> {
        if self.people.len() > MAX_PEOPLE {
            return Err(BadPins::TooMany);
        }
        let mut names = std::collections::HashSet::new();
        let mut ids = std::collections::HashSet::new();
        for person in &self.people {
            if person.keys.len() > MAX_KEYS {
                return Err(BadPins::TooMany);
            }
            if !is_name(&person.name) {
                return Err(BadPins::Name(person.name.escape_debug().take(80).collect()));
            }
            if !names.insert(&person.name) {
                return Err(BadPins::Twice(person.name.clone()));
            }
            for key in &person.keys {
                // One key of two people would let either answer for the other.
                if !ids.insert(&key.id) {
                    return Err(BadPins::Twice(key.id.clone()));
                }
                key.verifying()
                    .map_err(|bad| BadPins::Key(key.id.clone(), bad))?;
                if key.kind == KeyKind::Webauthn && (key.rp.is_none() || key.origins.is_empty()) {
                    return Err(BadPins::NoOrigin(key.id.clone()));
                }
            }
        }
        Ok(())
    }

    /// Whether anybody has a key that counts.
    pub fn is_empty(&self) -> bool {
        self.people.iter().all(|person| person.keys.is_empty())
    }

    /// A key by its id, and whose it is.
    pub fn key(&self, id: &str) -> Option<(&PinnedPerson, &PinnedKey)> {
        self.people
            .iter()
            .flat_map(|person| person.keys.iter().map(move |key| (person, key)))
            .find(|(_, key)| key.id == id)
    }

    /// The keys of somebody.
    pub fn of(&self, name: &str) -> &[PinnedKey] {
        self.people
            .iter()
            .find(|person| person.name == name)
            .map_or(&[], |person| person.keys.as_slice())
    }

    /// Adds a key; what was there under its id is replaced if it was the same person's.
    pub fn pin(&mut self, name: &str, key: PinnedKey) -> Result<(), BadPins> {
        let mut next = self.clone();
        match next.people.iter_mut().find(|person| person.name == name) {
            Some(person) => {
                person.keys.retain(|one| one.id != key.id);
                person.keys.push(key);
            }
            None => next.people.push(PinnedPerson {
                name: name.to_owned(),
                keys: vec![key],
            }),
        }
        next.check()?;
        *self = next;
        Ok(())
    }

    /// Removes one key of somebody, or all; how many went.
    pub fn unpin(&mut self, name: &str, id: Option<&str>) -> usize {
        let mut gone = 0;
        for person in self.people.iter_mut().filter(|person| person.name == name) {
            let before = person.keys.len();
            person
                .keys
                .retain(|key| id.is_some_and(|id| key.id != id && !key.is_called(id)));
            gone += before - person.keys.len();
        }
        self.people.retain(|person| !person.keys.is_empty());
        gone
    }
}

/// Whether a name can be told apart from others when it is read. It stands in statements and in the ledger as it is, so it is
/// short and nothing else than a name.
fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "._@+-".contains(c);
    !text.is_empty() && text.len() <= 64 && text.chars().all(plain)
}

impl PinnedKey {
    /// A key of ssh, from the line of its `.pub` file.
    pub fn of_ssh(line: &str) -> Result<Self, BadKey> {
        let key = VerifyingKey::of_ssh(line)?;
        Ok(Self {
            id: key.fingerprint().to_owned(),
            kind: KeyKind::Sshsig,
            // What stands behind them is anybody's text, and the key goes into the ledger as it is.
            public_key: line
                .split_whitespace()
                .take(2)
                .collect::<Vec<_>>()
                .join(" "),
            rp: None,
            origins: Vec::new(),
            // The private half is made in the device and stays there.
            device_bound: true,
        })
    }

    /// The key itself.
    pub fn verifying(&self) -> Result<VerifyingKey, BadKey> {
        VerifyingKey::read(self.kind, &self.public_key)
    }

    /// Whether somebody means it by the characters it is compared by.
    pub fn is_called(&self, word: &str) -> bool {
        self.verifying().is_ok_and(|key| key.short_check() == word)
    }
}
