//! Many blank lines and then text: what stands below is not seen by whoever looks at the top.

use std::ops::Range;

use super::finding::{Family, Finding};
use crate::Severity;
use crate::normal::Disguises;

/// The fewest blank lines that hide something.
const MIN_LINES: usize = 40;

/// Adds every long run of blank lines behind which the text goes on.
pub(super) fn find(block: &str, findings: &mut Vec<Finding>) {
    findings.extend(runs(block).map(|span| Finding {
        family: Family::Hidden,
        severity: Severity::Info,
        rule: "hidden.blank-lines".into(),
        reason: "text follows a long run of blank lines".into(),
        span,
        disguises: Disguises::default(),
    }));
}

/// The runs. Every run is longer than `MIN_LINES`, so that one byte in as many tells where to look.
fn runs(block: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = block.as_bytes();
    let mut at = MIN_LINES - 1;
    std::iter::from_fn(move || {
        while let Some(byte) = bytes.get(at) {
            if !byte.is_ascii_whitespace() {
                at += MIN_LINES;
                continue;
            }
            let (before, behind) = bytes.split_at_checked(at)?;
            let start = at - blanks(before.iter().rev());
            let end = at + blanks(behind.iter());
            at = end + MIN_LINES;
            let run = bytes.get(start..end)?;
            let lines = run.iter().filter(|byte| **byte == b'\n').count();
            if lines >= MIN_LINES && end < bytes.len() {
                return Some(start..end);
            }
        }
        None
    })
}

fn blanks<'b>(bytes: impl Iterator<Item = &'b u8>) -> usize {
    bytes.take_while(|byte| byte.is_ascii_whitespace()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_of_blank_lines_before_text_is_told() {
        let found = |text: &str| runs(text).collect::<Vec<_>>();
        let blank = " \r\n".repeat(50);
        assert_eq!(found(&format!("a{blank}b")), vec![(1..151)]);
        assert!(found(&format!("a{blank}")).is_empty());
        assert!(found(&format!("a{}b", "\n".repeat(39))).is_empty());
        assert!(found(&format!("a\n{}b", " ".repeat(300))).is_empty());
        assert_eq!(
            found(&format!("x{}y{}z", "\n".repeat(60), "\n".repeat(60))),
            [1..61, 62..122]
        );
    }
}
