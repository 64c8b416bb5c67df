//! What a policy says about redaction, and what becomes of it when layers disagree.

use std::collections::BTreeSet;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize};

use super::layer::{Policy, Trust};
use crate::text::redaction::{MAX_OWN, Marker, OwnFormat, Redactor};

/// Redaction: what is taken out of everything that is written down or shown.
///
/// Without it, every kind of secret and personal data but IP addresses. Secrets are always taken
/// out.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Redaction {
    /// Whether IP addresses are taken out as well.
    pub addresses: Option<bool>,
    /// Kinds of personal data that stay as they are.
    pub keep: Option<BTreeSet<Kept>>,
    /// Whether the home directory is shortened to `~`; it is unless this says no.
    pub home: Option<bool>,
    /// Whether markers carry a short keyed tag by which equal secrets can be recognised.
    pub equality: Option<bool>,
    /// Formats of your own.
    pub formats: FormatList,
}

/// The kinds that may stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Kept {
    /// E-mail addresses.
    Email,
    /// Telephone numbers.
    Phone,
    /// Social security numbers.
    Ssn,
    /// Payment cards.
    Card,
}

impl Kept {
    fn marker(self) -> Marker {
        match self {
            Kept::Email => Marker::Email,
            Kept::Phone => Marker::Phone,
            Kept::Ssn => Marker::Ssn,
            Kept::Card => Marker::Card,
        }
    }
}

/// Formats that have been read: each has a shape that can be matched.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FormatList(
    #[cfg_attr(feature = "schema", schemars(with = "Vec<FormatText>"))] pub Vec<OwnFormat>,
);

/// A format as it is written.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FormatText {
    /// What findings call it.
    pub id: String,
    /// What stands in its place; without it, `api_key`.
    #[serde(default = "api_key")]
    pub marker: Marker,
    /// A fixed text of at least three characters that stands in whatever the shape matches.
    pub prefix: String,
    /// What it looks like, such as `acme_[a-z0-9]{20,40}`; docs/redaction.md has the language.
    pub shape: String,
}

fn api_key() -> Marker {
    Marker::ApiKey
}

impl<'de> Deserialize<'de> for FormatList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written: Vec<FormatText> = Vec::deserialize(deserializer)?;
        if written.len() > MAX_OWN {
            return Err(de::Error::custom(format_args!(
                "has more than {MAX_OWN} formats; try: remove some"
            )));
        }
        written
            .iter()
            .map(|format| OwnFormat::new(&format.id, format.marker, &format.prefix, &format.shape))
            .collect::<Result<_, _>>()
            .map(Self)
            .map_err(|error| de::Error::custom(format_args!("has a format that {error}")))
    }
}

impl Redaction {
    pub(super) fn joined(self, other: Self) -> Self {
        let mut formats = self.formats;
        formats.0.extend(other.formats.0);
        Self {
            addresses: other.addresses.or(self.addresses),
            keep: other.keep.or(self.keep),
            home: other.home.or(self.home),
            equality: other.equality.or(self.equality),
            formats,
        }
    }
}

/// What is in force when every layer has spoken.
#[derive(Clone, Debug, PartialEq)]
pub struct RedactionRules {
    /// Whether IP addresses are taken out as well.
    pub addresses: bool,
    /// Kinds that stay.
    pub keep: BTreeSet<Kept>,
    /// Whether the home directory is shortened.
    pub home: bool,
    /// Whether markers carry a keyed tag.
    pub equality: bool,
    formats: Vec<OwnFormat>,
}

impl RedactionRules {
    /// The redactor that does so. `home` is the home directory and `salt` the key of the tags;
    /// each is used only if the rules want it.
    pub fn redactor(&self, home: Option<&str>, salt: Option<[u8; 32]>) -> Redactor {
        let mut redactor = Redactor::new().with_formats(self.formats.iter().cloned());
        for kind in &self.keep {
            redactor = redactor.keeping(kind.marker());
        }
        if self.addresses {
            redactor = redactor.redacting(Marker::Ip);
        }
        if let Some(home) = home.filter(|_| self.home) {
            redactor = redactor.shortening_home(home);
        }
        if let Some(salt) = salt.filter(|_| self.equality) {
            redactor = redactor.salted(salt);
        }
        redactor
    }
}

impl Policy {
    /// What is redacted under this policy. The first layer that speaks of something decides and
    /// those below it only tighten; a file nobody trusts loosens nothing, and adds no formats
    /// either: they could hide from the record what its agent does.
    pub fn redaction(&self) -> RedactionRules {
        let mut rules = RedactionRules {
            addresses: false,
            keep: BTreeSet::new(),
            home: true,
            equality: false,
            formats: Vec::new(),
        };
        let (mut keep_stated, mut home_stated, mut equality_stated) = (false, false, false);
        for layer in self.layers() {
            let Some(said) = &layer.redaction else {
                continue;
            };
            let trusted = layer.trust == Trust::Trusted;
            rules.addresses |= said.addresses == Some(true);
            if let Some(keep) = &said.keep {
                if trusted && !keep_stated {
                    rules.keep.clone_from(keep);
                } else {
                    rules.keep.retain(|kind| keep.contains(kind));
                }
                keep_stated |= trusted;
            }
            if let Some(home) = said.home {
                if home || (trusted && !home_stated) {
                    rules.home = home;
                }
                home_stated |= trusted;
            }
            if let Some(equality) = said.equality {
                if !equality || (trusted && !equality_stated) {
                    rules.equality = equality;
                }
                equality_stated |= trusted;
            }
            if trusted {
                rules.formats.extend(said.formats.0.iter().cloned());
            }
        }
        rules.formats.truncate(MAX_OWN);
        rules
    }
}

#[cfg(test)]
mod tests {
    use super::super::layer::{Authority, Source};
    use super::*;

    fn policy(layers: &[(Authority, Trust, &str)]) -> Policy {
        let sources = layers
            .iter()
            .map(|(authority, trust, text)| Source {
                name: "test".into(),
                authority: *authority,
                trust: *trust,
                bytes: format!("{{\"redaction\":{text}}}").into_bytes(),
            })
            .collect();
        Policy::compile(sources).unwrap()
    }

    use Authority::{Managed, Project, User};
    use Trust::{Trusted, Untrusted};

    #[test]
    fn everything_but_addresses_unless_a_policy_says_otherwise() {
        let rules = Policy::compile(vec![]).unwrap().redaction();
        assert!(!rules.addresses && rules.home && !rules.equality && rules.keep.is_empty());
        let redactor = rules.redactor(Some("/home/me"), Some([1; 32]));
        assert_eq!(
            redactor.text("/home/me a@example.com 10.1.2.3").as_str(),
            "~ [EMAIL] 10.1.2.3"
        );
    }

    #[test]
    fn a_policy_may_keep_add_and_tag() {
        let text = r#"{"addresses": true, "keep": ["email"], "home": false, "equality": true,
            "formats": [{"id": "acme", "prefix": "acme_", "shape": "acme_[a-z0-9]{20}"}]}"#;
        let rules = policy(&[(User, Trusted, text)]).redaction();
        let redactor = rules.redactor(Some("/home/me"), Some([1; 32]));
        let shown = redactor.text("/home/me a@example.com 10.1.2.3 acme_0123456789abcdefghij");
        let shown = shown.as_str();
        assert!(shown.starts_with("/home/me a@example.com [IP:"), "{shown}");
        assert!(shown.contains(" [API_KEY:"), "{shown}");
    }

    #[test]
    fn layers_below_and_strangers_only_tighten() {
        let keeps = r#"{"keep": ["email", "phone"], "home": false, "equality": true}"#;
        let mine = r#"{"keep": ["phone", "card"], "home": true, "equality": true}"#;
        let rules = policy(&[(Managed, Trusted, keeps), (User, Trusted, mine)]).redaction();
        assert_eq!(rules.keep, BTreeSet::from([Kept::Phone]));
        assert!(rules.home && rules.equality);
        let stranger = r#"{"keep": ["email"], "home": false, "equality": true,
            "formats": [{"id": "all", "prefix": "rm ", "shape": "rm [ -~]{5,}"}]}"#;
        let rules = policy(&[(Project, Untrusted, stranger)]).redaction();
        assert!(rules.keep.is_empty() && rules.home && !rules.equality);
        assert!(rules.formats.is_empty());
        let rules = policy(&[(User, Trusted, keeps), (Project, Trusted, stranger)]).redaction();
        assert_eq!(rules.keep, BTreeSet::from([Kept::Email]));
        assert_eq!(rules.formats.len(), 1);
    }

    #[test]
    fn a_format_that_cannot_be_matched_is_an_error_of_the_file() {
        let text =
            r#"{"redaction": {"formats": [{"id": "a", "prefix": "abc", "shape": "abd[0-9]{9}"}]}}"#;
        let error = Policy::from_text("test", text).unwrap_err().to_string();
        assert!(error.contains("does not stand in its shape"), "{error}");
    }
}
