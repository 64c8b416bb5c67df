//! How sure it must be that a person was there who said yes, by risk.
//!
//! The highest authority that says anything counts; those below it may only ask for more.

use std::collections::BTreeSet;
use std::fmt;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::layer::Authority;
use crate::verdict::Risk;

/// How sure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Presence {
    /// Whoever may use the account.
    None,
    /// Somebody at a terminal, or signed in on the page. Stops slips, not programs of the account.
    Terminal,
    /// A code that reaches a person by another way.
    Code,
    /// A signature by a key that somebody touched, over exactly what was shown.
    Key,
    /// The same, on another device than the one the agent works on.
    Elsewhere,
}

impl Presence {
    /// The word used in output and in policies.
    pub fn as_str(self) -> &'static str {
        match self {
            Presence::None => "none",
            Presence::Terminal => "terminal",
            Presence::Code => "code",
            Presence::Key => "key",
            Presence::Elsewhere => "elsewhere",
        }
    }
}

/// A level for everything, or one by risk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PresenceByRisk {
    none: Option<Presence>,
    low: Option<Presence>,
    medium: Option<Presence>,
    high: Option<Presence>,
    critical: Option<Presence>,
}

/// The same as it is written by risk.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct Written {
    /// For calls without a risk.
    none: Option<Presence>,
    /// For low risk.
    low: Option<Presence>,
    /// For medium risk.
    medium: Option<Presence>,
    /// For high risk.
    high: Option<Presence>,
    /// For critical risk.
    critical: Option<Presence>,
}

/// Both ways of writing it, for the schema.
#[cfg(feature = "schema")]
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "the schema is made of it")]
enum Either {
    /// For everything.
    One(Presence),
    /// By risk.
    ByRisk(Written),
}

#[cfg(feature = "schema")]
impl JsonSchema for PresenceByRisk {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PresenceByRisk".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Either::json_schema(generator)
    }
}

impl<'de> Deserialize<'de> for PresenceByRisk {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ByRisk;

        impl<'de> Visitor<'de> for ByRisk {
            type Value = PresenceByRisk;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a level (`none`, `terminal`, `code`, `key`, `elsewhere`), or an object of levels by risk",
                )
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<PresenceByRisk, E> {
                let word = de::value::StrDeserializer::new(word);
                let level = Some(Presence::deserialize(word)?);
                Ok(PresenceByRisk {
                    none: level,
                    low: level,
                    medium: level,
                    high: level,
                    critical: level,
                })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PresenceByRisk, A::Error> {
                let Written {
                    none,
                    low,
                    medium,
                    high,
                    critical,
                } = Written::deserialize(MapAccessDeserializer::new(map))?;
                Ok(PresenceByRisk {
                    none,
                    low,
                    medium,
                    high,
                    critical,
                })
            }
        }

        deserializer.deserialize_any(ByRisk)
    }
}

impl PresenceByRisk {
    /// The level for a risk, if one is stated.
    pub fn level(&self, risk: Risk) -> Option<Presence> {
        match risk {
            Risk::None => self.none,
            Risk::Low => self.low,
            Risk::Medium => self.medium,
            Risk::High => self.high,
            Risk::Critical => self.critical,
        }
    }

    /// Every level that is stated, whatever the risk, each once.
    pub(super) fn every_level(&self) -> BTreeSet<Presence> {
        let all = [self.none, self.low, self.medium, self.high, self.critical];
        all.into_iter().flatten().collect()
    }

    /// Takes what is not said yet.
    pub(super) fn hear(&mut self, other: &Self) {
        self.none = self.none.or(other.none);
        self.low = self.low.or(other.low);
        self.medium = self.medium.or(other.medium);
        self.high = self.high.or(other.high);
        self.critical = self.critical.or(other.critical);
    }
}

/// What the layers state together for one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatedPresence {
    /// The level.
    pub level: Presence,
    /// The highest authority that states one.
    pub by: Authority,
}

impl StatedPresence {
    /// What a layer below adds: it may ask for more.
    pub(super) fn heard(
        before: Option<Self>,
        level: Option<Presence>,
        by: Authority,
    ) -> Option<Self> {
        match (before, level) {
            (before, None) => before,
            (None, Some(level)) => Some(Self { level, by }),
            (Some(before), Some(level)) => Some(Self {
                level: before.level.max(level),
                ..before
            }),
        }
    }

    /// The stricter of two rules that stopped one call.
    pub(super) fn and(one: Option<Self>, two: Option<Self>) -> Option<Self> {
        match (one, two) {
            (Some(one), Some(two)) => Some(if two.level > one.level { two } else { one }),
            (one, two) => one.or(two),
        }
    }
}
