//! A table for spreadsheets, as RFC 4180 has it.
//!
//! A spreadsheet takes a cell that starts with `=`, `+`, `-` or `@` for a formula, and the text in a
//! record is somebody else's. Such a cell gets an apostrophe in front, which spreadsheets do not
//! show. Control characters are escaped: a cell is for reading.

use std::borrow::Cow;
use std::io::{self, Write};

use holdpoint_core::{Risk, Verdict};
use serde_json::Value;

use crate::chain::RecordHash;
use crate::record::Record;

/// The columns. Their order and names stay; new ones come last.
const TITLES: [&str; 23] = [
    "seq",
    "time",
    "kind",
    "agent",
    "session",
    "directory",
    "tool",
    "verdict",
    "method",
    "rule",
    "risk",
    "reason",
    "part",
    "call",
    "policy",
    "approver",
    "duration_us",
    "sandbox",
    "input",
    "detail",
    "prev",
    "hash",
    "v",
];

pub(super) fn write_titles(out: &mut impl Write) -> io::Result<()> {
    write_cells(TITLES.map(Cow::Borrowed), out)
}

pub(super) fn write_row(record: &Record, line: &[u8], out: &mut impl Write) -> io::Result<()> {
    let text = |field: &Option<String>| Cow::Owned(field.clone().unwrap_or_default());
    let json = |field: &Option<Value>| {
        Cow::Owned(field.as_ref().map(Value::to_string).unwrap_or_default())
    };
    let cells: [Cow<'_, str>; TITLES.len()] = [
        record.seq.to_string().into(),
        record.time.as_str().into(),
        record.kind.as_str().into(),
        text(&record.agent),
        text(&record.session),
        text(&record.directory),
        text(&record.tool),
        record.verdict.map_or("", Verdict::as_str).into(),
        text(&record.method),
        text(&record.rule),
        record.risk.map_or("", Risk::as_str).into(),
        text(&record.reason),
        text(&record.part),
        text(&record.call),
        text(&record.policy),
        text(&record.approver),
        record
            .duration_us
            .map(|micros| micros.to_string())
            .unwrap_or_default()
            .into(),
        text(&record.sandbox),
        json(&record.input),
        json(&record.detail),
        record.prev.as_str().into(),
        RecordHash::from_line(line).to_string().into(),
        record.v.to_string().into(),
    ];
    write_cells(cells, out)
}

fn write_cells<const N: usize>(cells: [Cow<'_, str>; N], out: &mut impl Write) -> io::Result<()> {
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        out.write_all(written(cell).as_bytes())?;
    }
    out.write_all(b"\r\n")
}

/// The cell as it is written.
fn written(text: &str) -> String {
    let mut cell = String::with_capacity(text.len() + 2);
    if text.starts_with(starts_formula) {
        cell.push('\'');
    }
    for c in text.chars() {
        match c {
            '"' => cell.push_str("\"\""),
            '\n' | '\t' => cell.push(c),
            c if c.is_control() => cell.extend(c.escape_default()),
            c => cell.push(c),
        }
    }
    let quoted = text.contains([',', '"', '\n', '\t']) || text != text.trim();
    if quoted { format!("\"{cell}\"") } else { cell }
}

/// The wide forms count as well: some spreadsheets take them for the narrow ones.
fn starts_formula(c: char) -> bool {
    matches!(
        c,
        '=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '＝' | '＋' | '－' | '＠'
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::full;
    use super::*;
    use crate::record::Kind;
    use proptest::prelude::*;

    /// Reads what RFC 4180 describes.
    fn read(text: &str) -> Vec<Vec<String>> {
        let mut rows = vec![vec![String::new()]];
        let mut quoted = false;
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            let row = rows.last_mut().unwrap();
            let cell = row.last_mut().unwrap();
            match c {
                '"' if quoted && rest.peek() == Some(&'"') => {
                    rest.next();
                    cell.push('"');
                }
                '"' if quoted || cell.is_empty() => quoted = !quoted,
                ',' if !quoted => row.push(String::new()),
                '\r' if !quoted && rest.peek() == Some(&'\n') => {
                    rest.next();
                    rows.push(vec![String::new()]);
                }
                c => cell.push(c),
            }
        }
        assert!(!quoted);
        assert_eq!(rows.pop().unwrap(), [""]);
        rows
    }

    #[test]
    fn a_formula_becomes_text() {
        assert_eq!(written("=1+1"), "'=1+1");
        assert_eq!(written("@SUM(A1)"), "'@SUM(A1)");
        assert_eq!(written("-c, \"x\""), "\"'-c, \"\"x\"\"\"");
        assert_eq!(written("\tx"), "\"'\tx\"");
        assert_eq!(written("\rx"), "\"'\\rx\"");
        assert_eq!(written("a=b"), "a=b");
        assert_eq!(written("a\x1b[31m"), "a\\u{1b}[31m");
    }

    #[test]
    fn a_row_has_a_cell_for_every_title() {
        let mut out = Vec::new();
        write_titles(&mut out).unwrap();
        let (record, line) = full(Kind::Decision);
        write_row(&record, &line, &mut out).unwrap();
        let rows = read(&String::from_utf8(out).unwrap());
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0], TITLES);
        assert_eq!(rows[1].len(), TITLES.len());
        assert!(rows[1].iter().all(|cell| !cell.is_empty()), "{rows:?}");
        assert_eq!(rows[1][2], "decision");
        assert!(rows[1][18].starts_with("{\"command\":\"git push\""));
    }

    proptest! {
        #[test]
        fn any_text_is_one_cell_and_no_formula(text in "[-=+@\\t\\r\\n\",a-c\\PC]{0,12}") {
            let cells = [Cow::Borrowed(text.as_str()), Cow::Borrowed("end")];
            let mut out = Vec::new();
            write_cells(cells, &mut out).unwrap();
            let rows = read(&String::from_utf8(out).unwrap());
            prop_assert_eq!(rows.len(), 1);
            prop_assert_eq!(rows[0].len(), 2);
            prop_assert_eq!(&rows[0][1], "end");
            prop_assert!(!rows[0][0].starts_with(starts_formula));
            prop_assert!(!rows[0][0].contains('\x1b'));
        }
    }
}
