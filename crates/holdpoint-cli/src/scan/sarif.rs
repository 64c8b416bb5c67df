//! Findings as SARIF 2.1.0, for code hosts and editors.
//!
//! Results are written as they come; the rules they name and what went wrong come after them, so
//! that a report of any length takes no memory to speak of.

use std::collections::HashMap;
use std::io::{self, Write};

use holdpoint_core::text::Severity;
use holdpoint_core::text::inspection::{Family, Finding};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::LocatedFinding;

/// The most files that could not be read which are named: services that take such files in refuse larger ones.
const MAX_NOTED: usize = 1000;

/// A report that is being written.
#[derive(Debug, Default)]
pub struct Report {
    rules: Vec<Value>,
    /// Where a rule stands among them.
    numbers: HashMap<String, usize>,
    results: u64,
    notes: Vec<Value>,
}

impl Report {
    /// Begins a report.
    pub fn begin(out: &mut impl Write) -> io::Result<Self> {
        write!(
            out,
            r#"{{"version":"2.1.0","$schema":"{SCHEMA}","runs":[{{"columnKind":"unicodeCodePoints","results":["#
        )?;
        Ok(Self::default())
    }

    /// Adds what was found in a file, which is named as it is called from where paths start.
    pub fn add(
        &mut self,
        path: &str,
        found: &[LocatedFinding],
        out: &mut impl Write,
    ) -> io::Result<()> {
        let uri = uri_of(path);
        // The same words twice in a file are two findings that stay apart.
        let mut often: HashMap<[u8; 8], u64> = HashMap::new();
        for one in found {
            let print = fingerprint(&uri, one);
            let count = often.entry(print).or_default();
            *count += 1;
            let result = self.result(&uri, one, &format!("{}:{count}", hex(&print)));
            write!(out, "{}{result}", if self.results > 0 { "," } else { "" })?;
            self.results += 1;
        }
        Ok(())
    }

    /// Notes something that could not be read.
    pub fn note(&mut self, path: &str, problem: &str) {
        if self.notes.len() < MAX_NOTED {
            self.notes.push(json!({
                "level": "error",
                "message": { "text": problem },
                "locations": [{ "physicalLocation": { "artifactLocation": location(&uri_of(path)) } }],
            }));
        }
    }

    /// Ends the report.
    pub fn end(self, out: &mut impl Write) -> io::Result<()> {
        let driver = json!({
            "name": "Holdpoint",
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": self.rules,
        });
        let invocation = json!({
            "executionSuccessful": self.notes.is_empty(),
            "toolExecutionNotifications": self.notes,
        });
        writeln!(
            out,
            r#"],"tool":{{"driver":{driver}}},"invocations":[{invocation}]}}]}}"#
        )
    }

    fn result(&mut self, uri: &str, found: &LocatedFinding, print: &str) -> Value {
        let finding = &found.finding;
        let mut region = json!({
            "startLine": found.start.line,
            "startColumn": found.start.column,
            "endLine": found.end.line,
            "endColumn": found.end.column,
            "byteOffset": found.start.byte,
            "byteLength": found.end.byte.saturating_sub(found.start.byte),
        });
        if !found.preview.is_empty()
            && let Some(region) = region.as_object_mut()
        {
            region.insert("snippet".into(), json!({ "text": found.preview }));
        }
        json!({
            "ruleId": finding.rule,
            "ruleIndex": self.rule(finding),
            "level": level(finding.severity),
            "message": { "text": sentence(&finding.reason) },
            "locations": [{ "physicalLocation": { "artifactLocation": location(uri), "region": region } }],
            "partialFingerprints": { "holdpoint/v1": print },
            "properties": {
                "severity": finding.severity,
                "family": finding.family,
                "disguises": finding.disguise_names().collect::<Vec<_>>(),
            },
        })
    }

    /// The number of a finding's rule, which is described where it is named first.
    fn rule(&mut self, finding: &Finding) -> usize {
        if let Some(number) = self.numbers.get(finding.rule.as_ref()) {
            return *number;
        }
        let number = self.rules.len();
        self.numbers
            .insert(finding.rule.clone().into_owned(), number);
        self.rules.push(json!({
            "id": finding.rule,
            "shortDescription": { "text": sentence(&finding.reason) },
            "defaultConfiguration": { "level": level(finding.severity) },
            "properties": {
                "tags": tags(finding.family),
                "security-severity": points(finding.severity),
            },
        }));
        number
    }
}

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low | Severity::Info => "note",
    }
}

fn tags(family: Family) -> Vec<&'static str> {
    let about_words = !matches!(family, Family::Secret | Family::Policy | Family::Dependency);
    let mut tags = vec!["security"];
    tags.extend(about_words.then_some("prompt-injection"));
    tags.push(family.name());
    tags
}

/// What code hosts rank security findings by, from 0 to 10.
fn points(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "9.5",
        Severity::High => "8.0",
        Severity::Medium => "5.5",
        Severity::Low => "3.0",
        Severity::Info => "1.0",
    }
}

fn sentence(reason: &str) -> String {
    let mut letters = reason.chars();
    let first = letters.next().map(char::to_uppercase);
    let mut sentence: String = first.into_iter().flatten().chain(letters).collect();
    if !sentence.ends_with('.') {
        sentence.push('.');
    }
    sentence
}

fn location(uri: &str) -> Value {
    if uri.starts_with("file:") {
        return json!({ "uri": uri });
    }
    json!({ "uri": uri, "uriBaseId": "%SRCROOT%" })
}

/// A path as a reference: relative where it is, else with its scheme.
fn uri_of(path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// The same for a finding that only moved. It is made of what is shown, so it tells nothing of a
/// secret.
fn fingerprint(uri: &str, found: &LocatedFinding) -> [u8; 8] {
    let mut hash = Sha256::new();
    for part in [uri, &found.finding.rule, &found.preview] {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    let mut first = [0; 8];
    for (into, byte) in first.iter_mut().zip(hash.finalize()) {
        *into = byte;
    }
    first
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_references() {
        assert_eq!(uri_of("./docs/a b#1.md"), "docs/a%20b%231.md");
        assert_eq!(uri_of("ä"), "%C3%A4");
        assert_eq!(uri_of("/tmp/x"), "file:///tmp/x");
    }

    #[test]
    fn reasons_become_sentences() {
        assert_eq!(sentence("it hides"), "It hides.");
        assert_eq!(sentence(""), ".");
    }
}
