//! How bad a finding is where it stands: milder in talk about attacks, worse in a disguise.

use crate::Severity;
use crate::normal::View;

/// The severity of something found at a span of a view, which is talk as strongly as `talk` says.
pub(super) fn weigh(
    view: &View<'_>,
    span: (usize, usize),
    severity: Severity,
    talk: u8,
) -> Severity {
    let disguises = view.disguises_of(span.0..span.1);
    if disguises.are_deliberate() {
        return match severity {
            Severity::High if disguises.are_invisible() => Severity::Critical,
            Severity::Low => Severity::Medium,
            Severity::Medium => Severity::High,
            other @ (Severity::Info | Severity::High | Severity::Critical) => other,
        };
    }
    (0..talk).fold(severity, |severity, _| milder(severity))
}

fn milder(severity: Severity) -> Severity {
    match severity {
        Severity::Critical => Severity::High,
        Severity::High => Severity::Medium,
        Severity::Medium | Severity::Low => Severity::Low,
        Severity::Info => Severity::Info,
    }
}
