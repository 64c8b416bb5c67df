//! Secrets in a text: what the redactor would take out of a record, told as findings.

use super::finding::{Family, Finding};
use crate::Severity;
use crate::normal::Disguises;
use crate::redaction::{Certainty, Marker, Redactor};

/// Secrets only: that somebody has an address or a telephone is no finding. It is made for every block: what is
/// kept for the next one is a page more to write to at the first.
fn redactor() -> Redactor {
    Marker::ALL
        .into_iter()
        .filter(|marker| marker.is_personal())
        .fold(Redactor::new(), Redactor::keeping)
}

/// Adds the secrets of a block.
pub(super) fn find(block: &str, findings: &mut Vec<Finding>) {
    for secret in redactor().find(block) {
        let severity = match secret.certainty {
            Certainty::Certain => Severity::Medium,
            Certainty::Likely => Severity::Low,
            // Lock files and test data are full of it.
            Certainty::Guess => Severity::Info,
        };
        findings.push(Finding {
            family: Family::Secret,
            severity,
            rule: format!("secret.{}", secret.format).into(),
            reason: secret.what,
            span: secret.span,
            disguises: Disguises::default(),
        });
    }
}
