//! Records in the forms other systems read.
//!
//! Nothing is added that the records do not say: where a form wants more, it gets the least that is
//! true. `docs/log.md` says which field goes where.

mod csv;
mod jaato;
mod ocsf;
mod otlp;

use std::io::{self, Write};

use serde_json::Value;

use crate::record::{Kind, Mend, Record};

/// The name of what writes the records.
const PRODUCT: &str = "Holdpoint";

/// A form records are exported in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The records as they are stored, one JSON object a line.
    Jsonl,
    /// A table for spreadsheets.
    Csv,
    /// OCSF 1.6.0 events in `CloudEvents` 1.0, one a line.
    Ocsf,
    /// Logs of OpenTelemetry, as JSON: one export request a line.
    Otlp,
    /// Events of jaato's permission plugin, one a line.
    Jaato,
}

impl Format {
    /// Every form.
    pub const ALL: [Format; 5] = [
        Format::Jsonl,
        Format::Csv,
        Format::Ocsf,
        Format::Otlp,
        Format::Jaato,
    ];

    /// The word on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Jsonl => "jsonl",
            Format::Csv => "csv",
            Format::Ocsf => "ocsf",
            Format::Otlp => "otlp",
            Format::Jaato => "jaato",
        }
    }
}

/// What the exported records come from.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The name of the ledger, which is that of its key; empty if it has none.
    pub ledger: String,
    /// The version of Holdpoint that exports.
    pub version: String,
}

/// Writes records in a form, one after another.
#[derive(Debug)]
pub struct Exporter<W> {
    form: Form,
    origin: Origin,
    out: W,
}

#[derive(Debug)]
enum Form {
    Jsonl,
    Csv,
    Ocsf,
    /// The log records of the request that is being filled.
    Otlp(Vec<Value>),
    Jaato(jaato::Held),
}

impl<W: Write> Exporter<W> {
    /// Begins an export.
    pub fn new(format: Format, origin: Origin, mut out: W) -> io::Result<Self> {
        let form = match format {
            Format::Jsonl => Form::Jsonl,
            Format::Csv => {
                csv::write_titles(&mut out)?;
                Form::Csv
            }
            Format::Ocsf => Form::Ocsf,
            Format::Otlp => Form::Otlp(Vec::new()),
            Format::Jaato => Form::Jaato(jaato::Held::default()),
        };
        Ok(Self { form, origin, out })
    }

    /// Adds a record and the line it is stored in.
    pub fn add(&mut self, record: &Record, line: &[u8]) -> io::Result<()> {
        match &mut self.form {
            Form::Jsonl => {
                self.out.write_all(line)?;
                self.out.write_all(b"\n")
            }
            Form::Csv => csv::write_row(record, line, &mut self.out),
            Form::Ocsf => write_line(&ocsf::event(record, line, &self.origin), &mut self.out),
            Form::Jaato(held) => match held.event(record) {
                Some(event) => write_line(&event, &mut self.out),
                None => Ok(()),
            },
            Form::Otlp(waiting) => {
                waiting.push(otlp::log_record(record, line));
                if waiting.len() < otlp::BATCH {
                    return Ok(());
                }
                let batch = std::mem::take(waiting);
                write_line(&otlp::request(batch, &self.origin), &mut self.out)
            }
        }
    }

    /// Writes what still waits.
    pub fn finish(mut self) -> io::Result<W> {
        if let Form::Otlp(waiting) = &mut self.form
            && !waiting.is_empty()
        {
            let batch = std::mem::take(waiting);
            write_line(&otlp::request(batch, &self.origin), &mut self.out)?;
        }
        self.out.flush()?;
        Ok(self.out)
    }
}

fn write_line(value: &Value, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// A record in one line: what happened, to what, and why.
fn message(record: &Record) -> String {
    let mut words = vec![record.kind.as_str().replace('_', " ")];
    words.extend(record.verdict.map(|verdict| verdict.as_str().to_owned()));
    words.extend(record.tool.clone());
    words.extend(record.reason.clone());
    words.join(": ")
}

/// Whether the record tells of records that are lost.
fn is_loss(record: &Record) -> bool {
    let mend = record
        .detail
        .as_ref()
        .and_then(|detail| serde_json::from_value::<Mend>(detail.clone()).ok());
    record.kind == Kind::Repair && mend.is_some_and(|mend| mend.is_loss())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A record of a kind with every field, and its line.
    pub(super) fn full(kind: Kind) -> (Record, Vec<u8>) {
        let line = json!({
            "v": 1, "seq": 7, "prev": "ab".repeat(32), "time": "2026-11-16T03:40:12.250000Z",
            "kind": kind, "agent": "claude-code", "session": "s-1", "directory": "~/app",
            "tool": "Bash", "verdict": "deny", "method": "guard", "rule": "git.force-push",
            "risk": "high", "reason": "because", "part": "git push", "call": "sha256:00",
            "policy": "sha256:01", "input": {"command": "git push", "n": 1, "deep": [null, true, 1.5]},
            "approver": "dana", "duration_us": 1500, "sandbox": "none",
            "detail": {"what": "lost", "expected": 5, "found": 3},
        });
        let line = serde_json::to_vec(&line).unwrap();
        (Record::parse(&line).unwrap(), line)
    }

    /// A record of a kind that says nothing else, and its line.
    pub(super) fn bare(kind: Kind) -> (Record, Vec<u8>) {
        let line = json!({"v": 1, "seq": 0, "prev": "", "time": "soon", "kind": kind});
        let line = serde_json::to_vec(&line).unwrap();
        (Record::parse(&line).unwrap(), line)
    }

    pub(super) fn origin() -> Origin {
        Origin {
            ledger: "holdpoint-ledger-00".into(),
            version: "1.2.3".into(),
        }
    }

    #[test]
    fn every_kind_is_written_in_every_form() {
        for format in Format::ALL {
            let mut exporter = Exporter::new(format, origin(), Vec::new()).unwrap();
            for kind in Kind::ALL {
                for (record, line) in [full(kind), bare(kind)] {
                    exporter.add(&record, &line).unwrap();
                }
            }
            let text = String::from_utf8(exporter.finish().unwrap()).unwrap();
            let count = Kind::ALL.len() * 2;
            let lines = match format {
                Format::Jsonl | Format::Ocsf => count,
                Format::Csv => count + 1,
                Format::Otlp => 1,
                // A denial, and what ends a hold or fails, each with every field and bare.
                Format::Jaato => 1 + 2 * 3,
            };
            assert_eq!(text.lines().count(), lines, "{format:?}");
        }
    }

    #[test]
    fn stored_lines_stay_as_they_are() {
        let line = br#"{"v":1, "seq":0,"prev":"","time":"t","kind":"error","new":"\u00e9"}"#;
        let record = Record::parse(line).unwrap();
        let mut exporter = Exporter::new(Format::Jsonl, origin(), Vec::new()).unwrap();
        exporter.add(&record, line).unwrap();
        assert_eq!(
            exporter.finish().unwrap(),
            [line.as_slice(), b"\n"].concat()
        );
    }
}
