//! Private keys as they stand in files: PEM and OpenPGP armour, PuTTY's own; also when their line
//! breaks are written `\n`.

use super::finding::{Certainty, Raw, Source};
use super::marker::Marker;
use super::values::{contains, find, starts};

/// The longest key that is looked for.
const MAX_LENGTH: usize = 64 * 1024;

/// Reads the armour whose `-----BEGIN` stands at `at`.
pub(crate) fn armoured(bytes: &[u8], at: usize) -> Option<Raw> {
    let rest = bytes.get(at..)?;
    let rest = rest.get(..rest.len().min(MAX_LENGTH))?;
    let label_start = b"-----begin".len();
    let label = rest.get(label_start..rest.len().min(label_start + 64))?;
    let label_length = find(label, b"--")?;
    let label = label.get(..label_length)?;
    let upper = label.to_ascii_uppercase();
    if !contains(&upper, b"PRIVATE KEY") || label.contains(&b'\n') {
        return None;
    }
    let dashes = |from: usize| {
        let behind = rest.get(from..).unwrap_or(&[]);
        from + behind.iter().take_while(|byte| **byte == b'-').count()
    };
    let head_end = dashes(label_start + label_length);
    let body = rest.get(head_end..)?;
    let limit = find(body, b"-----BEGIN").unwrap_or(body.len());
    let body = body.get(..limit)?;
    let length = match find(body, b"-----END") {
        Some(end) => {
            let line = body.get(end + 8..).unwrap_or(&[]);
            let label = line.iter().take(64).position(|byte| *byte == b'-');
            // A program that names the two lines has nothing, or its own text, between them.
            let between = body.get(..end)?;
            let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || b".+/=".contains(byte);
            let quoted = body.first().is_some_and(|byte| b"\"'`".contains(byte));
            if quoted || between.iter().filter(|byte| is_key(byte)).count() < 3 + escapes(between) {
                return None;
            }
            dashes(head_end + end + 8 + label.unwrap_or(0))
        }
        None => {
            // The first line alone may be what is left of a text that was cut.
            let length = encoded_lines(body);
            if length == 0 && !body.trim_ascii().is_empty() {
                return None;
            }
            head_end + length
        }
    };
    Some(key(at, at + length))
}

/// How many letters belong to escaped line breaks.
fn escapes(text: &[u8]) -> usize {
    let is_escape = |pair: &&[u8]| matches!(pair, [b'\\', b'n' | b'r']);
    text.windows(2).filter(is_escape).count()
}

/// Reads what follows PuTTY's `Private-Lines:` at `at`.
pub(crate) fn putty(bytes: &[u8], at: usize) -> Option<Raw> {
    let start = at + b"private-lines:".len();
    let rest = bytes.get(start..)?;
    let count = rest
        .iter()
        .take(8)
        .take_while(|byte| **byte == b' ' || byte.is_ascii_digit())
        .count();
    let body = rest.get(count..)?;
    let length = encoded_lines(body.get(..body.len().min(MAX_LENGTH))?);
    let lead = body
        .iter()
        .take_while(|byte| !byte.is_ascii_alphanumeric())
        .count();
    (length > lead).then(|| key(start + count + lead.min(2), start + count + length))
}

/// How far runs of base64 go on, with line breaks, quotes and escapes between them.
fn encoded_lines(body: &[u8]) -> usize {
    let mut end = 0;
    let mut at = 0;
    while at < body.len() {
        let rest = body.get(at..).unwrap_or(&[]);
        let between = rest
            .iter()
            .enumerate()
            .take_while(|(index, byte)| {
                byte.is_ascii_whitespace()
                    || b"\\\"'+,>".contains(byte)
                        && !rest.get(index + 1).is_some_and(u8::is_ascii_alphabetic)
                    || (**byte == b'\\')
                    || (b"nr".contains(byte) && *index > 0 && rest.get(index - 1) == Some(&b'\\'))
            })
            .count();
        let behind = rest.get(between..).unwrap_or(&[]);
        let run = behind
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte))
            .count();
        let header = starts(behind, b"proc-type:")
            || starts(behind, b"dek-info:")
            || starts(behind, b"version:");
        if header {
            let line = behind
                .iter()
                .position(|byte| *byte == b'\n' || *byte == b'\\')
                .unwrap_or(behind.len());
            at += between + line;
            continue;
        }
        if run < 16 && !(end > 0 && run > 0 && behind.get(run - 1) == Some(&b'=')) {
            break;
        }
        at += between + run;
        end = at;
    }
    end
}

fn key(start: usize, end: usize) -> Raw {
    Raw {
        start,
        end,
        marker: Marker::PrivateKey,
        certainty: Certainty::Certain,
        source: Source::KeyFile,
    }
}
