//! Which parts of a command a rule caught, in the text that is shown.

use holdpoint_broker::Mark;
use holdpoint_core::{Decision, Verdict};

use crate::excerpt::showing;

/// The most parts that are marked; whoever sees a hundred has seen enough.
const MAX_MARKS: usize = 100;

/// The parts of `shown`, which is `line` without its secrets, that rules of a decision caught. A
/// part that cannot be found again is not marked.
pub(super) fn for_decision(line: &str, shown: &str, decision: &Decision) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for finding in &decision.findings {
        let speaks = finding.verdict > Verdict::Allow;
        let Some([start, end]) = finding.span.filter(|_| speaks) else {
            continue;
        };
        let Some(span) = placed(line, shown, start, end) else {
            continue;
        };
        let mark = Mark {
            span,
            rule: finding.rule.clone(),
            verdict: finding.verdict,
            reason: finding.reason.clone(),
        };
        if marks.len() < MAX_MARKS && !marks.contains(&mark) {
            marks.push(mark);
        }
    }
    marks
}

/// Where a part of the line stands in what is shown of it.
fn placed(line: &str, shown: &str, start: usize, end: usize) -> Option<[usize; 2]> {
    let part = line.get(start..end).filter(|part| !part.is_empty())?;
    if line == shown {
        return Some([start, end]);
    }
    let redactor = showing();
    let part = redactor.text(part).into_string();
    // What stands before it tells where it should be, unless a secret reaches across.
    let before = redactor.text(line.get(..start)?).into_string().len();
    if shown.get(before..)?.starts_with(&part) {
        return Some([before, before + part.len()]);
    }
    let mut places = shown.match_indices(&part);
    match (places.next(), places.next()) {
        (Some((at, _)), None) => Some([at, at + part.len()]),
        (_, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_found_again_behind_what_was_hidden() {
        let line = "DB_PASSWORD=hunter2-Zq81kX deploy; rm -rf build; rm -rf build";
        let shown = showing().text(line).into_string();
        assert_ne!(line, shown);
        let at = line.find("rm -rf").unwrap();
        let [start, end] = placed(line, &shown, at, at + 12).unwrap();
        assert_eq!(shown.get(start..end), Some("rm -rf build"));
        let last = line.rfind("rm -rf").unwrap();
        let [second, _] = placed(line, &shown, last, last + 12).unwrap();
        assert!(second > start);
        assert_eq!(placed(line, &shown, 5, 9999), None);
        assert_eq!(placed("é", "é", 1, 2), None);
    }
}
