//! Inspections as JSON, the same in every output.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::{Finding, Inspection};
use crate::normal::Disguise;

impl Serialize for Inspection {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Inspection", 5)?;
        object.serialize_field("v", &1)?;
        let severity = self.severity().map_or("none", |severity| severity.name());
        object.serialize_field("severity", severity)?;
        object.serialize_field("action", &self.action)?;
        object.serialize_field("score", &self.score)?;
        object.serialize_field("findings", &self.findings)?;
        object.end()
    }
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Finding", 6)?;
        object.serialize_field("family", &self.family)?;
        object.serialize_field("severity", &self.severity)?;
        object.serialize_field("rule", &self.rule)?;
        object.serialize_field("reason", &self.reason)?;
        object.serialize_field("span", &[self.span.start, self.span.end])?;
        let disguises: Vec<&str> = self.disguise_names().collect();
        object.serialize_field("disguises", &disguises)?;
        object.end()
    }
}

impl Finding {
    /// The words for the disguises that had to be taken off.
    pub fn disguise_names(&self) -> impl Iterator<Item = &'static str> {
        let disguises = self.disguises;
        DISGUISES
            .iter()
            .filter(move |(disguise, _)| disguises.has(*disguise))
            .map(|(_, name)| *name)
    }
}

/// Every disguise and the word for it.
const DISGUISES: [(Disguise, &str); 22] = [
    (Disguise::ZeroWidth, "zero-width"),
    (Disguise::Bidi, "bidi"),
    (Disguise::Tags, "tags"),
    (Disguise::Selectors, "selectors"),
    (Disguise::Combining, "combining"),
    (Disguise::Lookalike, "lookalike"),
    (Disguise::Styled, "styled"),
    (Disguise::Leet, "leet"),
    (Disguise::Spaced, "spaced"),
    (Disguise::Entity, "entity"),
    (Disguise::Markup, "markup"),
    (Disguise::Escape, "escape"),
    (Disguise::Percent, "percent"),
    (Disguise::Base64, "base64"),
    (Disguise::Hex, "hex"),
    (Disguise::Cipher, "cipher"),
    (Disguise::Terminal, "terminal"),
    (Disguise::TerminalTitle, "terminal-title"),
    (Disguise::Colour, "colour"),
    (Disguise::Control, "control"),
    (Disguise::FormFeed, "form-feed"),
    (Disguise::Split, "split"),
];
