//! The values of a Kubernetes `kind: Secret`: whatever they are called, they are secrets.

use super::finding::{Certainty, Raw, Source};
use super::marker::Marker;
use super::values::{is_placeholder, is_reference};

/// How far before and behind its kind a manifest is read.
const MAX_REACH: usize = 8192;

/// Reads the manifest around `kind: Secret` at `at`. Returns where it ends.
pub(crate) fn secret(bytes: &[u8], at: usize, found: &mut Vec<Raw>) -> usize {
    let behind = at + b"kind: secret".len();
    if !matches!(bytes.get(behind), None | Some(b'\n' | b'\r' | b' ')) {
        return behind;
    }
    let from = at.saturating_sub(MAX_REACH);
    let before = bytes.get(from..at).unwrap_or(&[]);
    let border = before.windows(4).rposition(|window| window == b"\n---");
    let start = border.map_or(from, |place| from + place + 1);
    let limit = bytes.len().min(behind + MAX_REACH);
    let rest = bytes.get(behind..limit).unwrap_or(&[]);
    let end = super::values::find(rest, b"\n---").map_or(limit, |place| behind + place);
    values(bytes, start, end, found);
    end
}

fn values(bytes: &[u8], from: usize, to: usize, found: &mut Vec<Raw>) {
    // How far the section of values is indented, and the name whose text stands on the next lines.
    let mut section: Option<usize> = None;
    let mut block: Option<usize> = None;
    let mut at = from;
    let text = bytes.get(from..to).unwrap_or(&[]);
    for line in text.split(|byte| *byte == b'\n') {
        let start = at;
        at += line.len() + 1;
        let indent = line.iter().take_while(|byte| **byte == b' ').count();
        let words = line.trim_ascii();
        if words.is_empty() {
            continue;
        }
        if block.is_some_and(|name| indent > name) {
            tell(words, start + indent, found);
            continue;
        }
        block = None;
        if section.is_some_and(|name| indent <= name) {
            section = None;
        }
        if section.is_none() {
            section = matches!(words, b"data:" | b"stringData:").then_some(indent);
            continue;
        }
        let Some(colon) = words.windows(2).position(|pair| pair == b": ") else {
            continue;
        };
        let value = words.get(colon + 2..).unwrap_or(&[]);
        let lead = value.iter().take_while(|byte| **byte == b' ').count();
        let value = value.get(lead..).unwrap_or(&[]);
        if matches!(value, [b'|' | b'>'] | [b'|' | b'>', b'-' | b'+']) {
            block = Some(indent);
        } else {
            tell(value, start + indent + colon + 2 + lead, found);
        }
    }
}

fn tell(value: &[u8], start: usize, found: &mut Vec<Raw>) {
    let (value, start) = match value {
        [b'"', inside @ .., b'"'] | [b'\'', inside @ .., b'\''] => (inside, start + 1),
        _ => (value, start),
    };
    if !is_reference(value) && !is_placeholder(value) {
        found.push(Raw {
            start,
            end: start + value.len(),
            marker: Marker::Password,
            certainty: Certainty::Likely,
            source: Source::Assignment,
        });
    }
}
