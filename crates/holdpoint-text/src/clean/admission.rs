//! What goes on to the model of a text, after its inspection.

use serde_json::Value;

use super::{Cleaner, wording};
use crate::inspection::{Detectors, Finding, Inspection, JsonInspection, Terms};
use crate::{Action, Origin};

/// A text on its way to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Admitted {
    /// What goes on: the text, what is left of it, or what stands in its place.
    pub text: String,
    /// What the model and the user are told, where anything was found that they should know.
    pub note: Option<String>,
    /// What was found in the text as it was.
    pub inspection: Inspection,
}

/// A JSON value on its way to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct AdmittedJson {
    /// What goes on: the value, what is left of it, or a text that stands in its place.
    pub value: Value,
    /// What the model and the user are told, where anything was found that they should know.
    pub note: Option<String>,
    /// What was found in the value as it was.
    pub inspection: JsonInspection,
}

impl Terms {
    /// Inspects a text and does what these terms want done about it.
    pub fn admit(&self, text: &str, origin: Origin) -> Admitted {
        let inspection = self.inspect(text, origin);
        let admitted = match inspection.action {
            Action::Annotate if self.looks_only_with(Detectors::Rrclaw) => {
                wording::with_warning(text)
            }
            Action::Pass | Action::Annotate => text.to_owned(),
            Action::Quarantine => Cleaner::new(self, self.cleaning).text(text, origin).text,
            Action::Block => wording::replacement(&inspection, origin),
        };
        Admitted {
            text: admitted,
            note: wording::note(&inspection, origin),
            inspection,
        }
    }

    /// Inspects the texts of a JSON value and does what these terms want done about it.
    pub fn admit_json(&self, value: &Value, origin: Origin) -> AdmittedJson {
        let inspection = self.inspect_json(value, origin);
        let findings: Vec<&Finding> = inspection.findings.iter().map(|(_, it)| it).collect();
        let admitted = match inspection.action {
            Action::Pass | Action::Annotate => value.clone(),
            Action::Quarantine => Cleaner::new(self, self.cleaning).json(value, origin).value,
            Action::Block => Value::String(wording::replacement_for(&findings, origin)),
        };
        AdmittedJson {
            value: admitted,
            note: wording::note_for(inspection.action, &findings, origin),
            inspection,
        }
    }
}
