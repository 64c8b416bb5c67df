//! Findings as one JSON document: the same keys as the answer for one text, with the file of each
//! finding, and how much was looked at.
//!
//! Findings are written as they come, so that a document of any length takes no memory to speak of.

use std::io::{self, Write};

use holdpoint_cli::scan::Scanned;
use holdpoint_cli::scan::json::{InFile, VERSION, safe, worst};
use serde_json::{Value, json};

use super::{Report, Totals};
use crate::terminal::Terminal;

/// A document that is being written.
pub(super) struct Document {
    findings: u64,
    errors: Vec<Value>,
    opinions: Vec<Value>,
}

impl Document {
    pub(super) fn begin(terminal: &mut Terminal) -> io::Result<Self> {
        write!(terminal.out, r#"{{"v":{VERSION},"findings":["#)?;
        Ok(Self {
            findings: 0,
            errors: Vec::new(),
            opinions: Vec::new(),
        })
    }
}

impl Report for Document {
    fn hear(&mut self, name: &str, scanned: &Scanned, terminal: &mut Terminal) -> io::Result<()> {
        for found in &scanned.findings {
            if self.findings > 0 {
                terminal.out.write_all(b",")?;
            }
            self.findings += 1;
            let json = serde_json::to_string(&InFile::new(name, found))?;
            terminal.out.write_all(safe(&json).as_bytes())?;
        }
        for opinion in &scanned.opinions {
            let mut opinion = opinion.to_json();
            if let Some(fields) = opinion.as_object_mut() {
                fields.insert("path".into(), name.into());
            }
            self.opinions.push(opinion);
        }
        Ok(())
    }

    fn problem(&mut self, name: &str, problem: &str) {
        self.errors
            .push(json!({ "path": name, "problem": problem }));
    }

    fn end(&mut self, totals: &Totals, terminal: &mut Terminal) -> io::Result<()> {
        let mut rest = json!({
            "severity": worst(totals.severity),
            "action": totals.action,
            "score": totals.score,
            "texts": totals.texts,
            "flagged": totals.flagged,
            "untold": totals.untold,
            "binary": totals.binary,
            "bytes": totals.bytes,
            "interrupted": totals.interrupted,
            "errors": self.errors,
        });
        if !self.opinions.is_empty()
            && let Some(fields) = rest.as_object_mut()
        {
            fields.insert("opinions".into(), json!(self.opinions));
        }
        let rest = safe(&rest.to_string());
        let rest = rest.strip_prefix('{').unwrap_or(&rest);
        writeln!(terminal.out, "],{rest}")
    }
}
