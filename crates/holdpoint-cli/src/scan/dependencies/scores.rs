//! How bad an advisory is: the base score of a CVSS 3 vector, by its specification's formulas.

use holdpoint_core::text::Severity;

/// The severity of a vector `CVSS:3.1/AV:N/…`; none for other versions and for what is not whole.
pub(super) fn of_vector(vector: &str) -> Option<Severity> {
    let metrics = vector.strip_prefix("CVSS:3.")?;
    let metric = |name: &str| {
        metrics
            .split('/')
            .filter_map(|metric| metric.split_once(':'))
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    };
    let changed = metric("S")? == "C";
    let attack = weight(
        metric("AV")?,
        &[("N", 0.85), ("A", 0.62), ("L", 0.55), ("P", 0.2)],
    )?;
    let complexity = weight(metric("AC")?, &[("L", 0.77), ("H", 0.44)])?;
    let privileges = match changed {
        true => weight(metric("PR")?, &[("N", 0.85), ("L", 0.68), ("H", 0.5)])?,
        false => weight(metric("PR")?, &[("N", 0.85), ("L", 0.62), ("H", 0.27)])?,
    };
    let interaction = weight(metric("UI")?, &[("N", 0.85), ("R", 0.62)])?;
    let mut kept = 1.0;
    for name in ["C", "I", "A"] {
        kept *= 1.0 - weight(metric(name)?, &[("H", 0.56), ("L", 0.22), ("N", 0.0)])?;
    }
    let lost: f64 = 1.0 - kept;
    let impact = match changed {
        true => 7.52 * (lost - 0.029) - 3.25 * (lost - 0.02).powi(15),
        false => 6.42 * lost,
    };
    if impact <= 0.0 {
        return Some(Severity::Info);
    }
    let exploitability = 8.22 * attack * complexity * privileges * interaction;
    let score = match changed {
        true => 1.08 * (impact + exploitability),
        false => impact + exploitability,
    };
    // Rounded up to one digit.
    Some(of_score((score.min(10.0) * 10.0 - 1e-6).ceil() / 10.0))
}

/// The specification's ratings of scores.
fn of_score(score: f64) -> Severity {
    match score {
        score if score >= 9.0 => Severity::Critical,
        score if score >= 7.0 => Severity::High,
        score if score >= 4.0 => Severity::Medium,
        score if score > 0.0 => Severity::Low,
        _ => Severity::Info,
    }
}

/// The words databases use for it.
pub(super) fn of_word(word: &str) -> Option<Severity> {
    match word.to_ascii_lowercase().as_str() {
        "critical" => Some(Severity::Critical),
        "high" | "important" => Some(Severity::High),
        "moderate" | "medium" => Some(Severity::Medium),
        "low" => Some(Severity::Low),
        "none" | "info" => Some(Severity::Info),
        _ => None,
    }
}

fn weight(value: &str, weights: &[(&str, f64)]) -> Option<f64> {
    weights
        .iter()
        .find(|(name, _)| *name == value)
        .map(|(_, weight)| *weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_scored_as_the_specification_does() {
        for (vector, want) in [
            (
                "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
                Some(Severity::Critical),
            ),
            (
                "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H",
                Some(Severity::High),
            ),
            (
                "CVSS:3.0/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N",
                Some(Severity::Medium),
            ),
            (
                "CVSS:3.1/AV:L/AC:H/PR:L/UI:R/S:U/C:L/I:N/A:N",
                Some(Severity::Low),
            ),
            (
                "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N",
                Some(Severity::Info),
            ),
            ("CVSS:3.1/AV:N", None),
            (
                "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N",
                None,
            ),
        ] {
            assert_eq!(of_vector(vector), want, "{vector}");
        }
    }
}
