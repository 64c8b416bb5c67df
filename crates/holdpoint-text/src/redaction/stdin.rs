//! Secrets that a program reads from its input, written on the same line:
//! `echo SECRET | docker login --password-stdin`, `sudo -S ls <<< SECRET`.

use super::borders::Quote;
use super::finding::{Certainty, Raw, Source};
use super::marker::Marker;
use super::values::{find, is_placeholder, is_reference};

/// How far before and behind the program its input is looked for.
const MAX_REACH: usize = 512;

/// Reads what the program is given whose telling words stand from `at` on, `length` bytes long.
pub(crate) fn given(bytes: &[u8], at: usize, length: usize) -> Option<Raw> {
    let (start, end) = here_string(bytes, at + length).or_else(|| piped(bytes, at))?;
    let value = bytes.get(start..end)?;
    // `user:password`, as `chpasswd` reads it.
    let pairs = starts_pair(bytes, at);
    let lead = if pairs {
        value.iter().position(|byte| *byte == b':')? + 1
    } else {
        0
    };
    let secret = value.get(lead..)?;
    let fine = secret.len() >= 3 && !is_reference(secret) && !is_placeholder(secret);
    fine.then_some(Raw {
        start: start + lead,
        end,
        marker: Marker::Password,
        certainty: Certainty::Likely,
        source: Source::Assignment,
    })
}

fn starts_pair(bytes: &[u8], at: usize) -> bool {
    bytes
        .get(at..)
        .is_some_and(|rest| rest.starts_with(b"chpasswd"))
}

/// The word behind `<<<` in the rest of the command.
fn here_string(bytes: &[u8], from: usize) -> Option<(usize, usize)> {
    let rest = bytes.get(from..bytes.len().min(from + MAX_REACH))?;
    let line = rest.split(|byte| b"\n;|&".contains(byte)).next()?;
    let at = find(line, b"<<<")? + 3;
    read_word(bytes, from + at)
}

/// The last word that `echo` or `printf` writes into the pipe before `at`.
fn piped(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let from = at.saturating_sub(MAX_REACH);
    let before = bytes.get(from..at)?;
    let pipe = before.iter().rposition(|byte| *byte == b'|')?;
    // What stands between belongs to the program; another command there reads the pipe itself.
    let between = before.get(pipe + 1..)?;
    if between.iter().any(|byte| b"\n;&".contains(byte)) {
        return None;
    }
    let writer = before.get(..pipe)?;
    let last = |name: &[u8]| {
        writer
            .windows(name.len())
            .rposition(|window| window == name)
            .map(|place| place + name.len())
    };
    let mut place = last(b"echo ").max(last(b"printf "))?;
    // Switches and the format of `printf` come first.
    for _ in 0..4 {
        let (start, end) = read_word(bytes, from + place)?;
        let text = bytes.get(start..end)?;
        let switch = text.starts_with(b"-") && text.len() <= 3 || text.starts_with(b"%s");
        let closing = usize::from(Quote::at(bytes, end).is_some());
        if !switch {
            let rest = bytes.get(end + closing..from + pipe)?;
            return rest.trim_ascii().is_empty().then_some((start, end));
        }
        place = end + closing - from;
    }
    None
}

/// The word from `at` on, without its quotation marks.
fn read_word(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let rest = bytes.get(at..)?;
    let blanks = rest
        .iter()
        .take(16)
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    let start = at + blanks;
    if let Some(quote) = Quote::at(bytes, start) {
        let inside = start + quote.length;
        return Some((inside, quote.closes(bytes, inside, MAX_REACH)?));
    }
    let length = bytes
        .get(start..)?
        .iter()
        .take(MAX_REACH)
        .take_while(|byte| **byte > b' ' && !b"|;&<>()\"'`".contains(byte))
        .count();
    (length > 0).then_some((start, start + length))
}
