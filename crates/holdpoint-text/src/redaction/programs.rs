//! Secrets that programs are given as arguments: `mysql -pSECRET`, `curl -u user:password`.

use super::borders::Quote;
use super::finding::{Certainty, Raw, Source};
use super::marker::Marker;
use super::names;
use super::tables::{PROGRAMS, Program};
use super::values::{is_placeholder, is_reference, password_lead};

/// The most arguments of a command that are looked at.
const MAX_WORDS: usize = 128;

/// How far the arguments of a command are followed.
const MAX_REACH: usize = 4096;

/// Reads the command whose program's name stands at `at`, `length` bytes long. Returns where it
/// ends.
pub(crate) fn command(
    bytes: &[u8],
    at: usize,
    length: usize,
    program: &Program,
    found: &mut Vec<Raw>,
) -> usize {
    let before = at
        .checked_sub(1)
        .and_then(|index| bytes.get(index).copied());
    let begins = before
        .is_none_or(|byte| byte.is_ascii_whitespace() || b"/\"'`;|&($@!\\=:[,{".contains(&byte))
        || super::borders::starts_word(bytes, at)
            && before.is_some_and(|byte| byte.is_ascii_alphanumeric());
    if !begins {
        return at;
    }
    let behind = at + length;
    let (words, end) = match bytes.get(behind) {
        Some(b' ' | b'\t') => words(bytes, behind),
        Some(b'"' | b'\'' | b'\\') => listed(bytes, behind),
        Some(_) | None => return at,
    };
    let texts: Vec<&[u8]> = words
        .iter()
        .map(|(start, end)| bytes.get(*start..*end).unwrap_or(&[]))
        .collect();
    secrets(program, &texts, |word, start, end| {
        if let Some((word_start, _)) = words.get(word) {
            found.push(Raw {
                start: word_start + start,
                end: word_start + end,
                marker: Marker::Password,
                certainty: Certainty::Likely,
                source: Source::Flag,
            });
        }
    });
    end
}

/// Finds the secrets in a list of arguments, given one by one: the word, and where in it.
pub(crate) fn in_arguments(words: &[&[u8]], mut found: impl FnMut(usize, usize, usize, Marker)) {
    for (at, word) in words.iter().enumerate() {
        let name = word.rsplit(|byte| *byte == b'/').next().unwrap_or(word);
        for program in PROGRAMS.iter().filter(|program| is_called(program, name)) {
            let rest = words.get(at + 1..).unwrap_or(&[]);
            secrets(program, rest, |index, start, end| {
                found(at + 1 + index, start, end, Marker::Password);
            });
        }
        let dashes = word.iter().take_while(|byte| **byte == b'-').count();
        let flag = word.get(dashes..).unwrap_or(&[]);
        if dashes > 0
            && let Some(marker) = names::kept_under(flag)
            && let Some(value) = words.get(at + 1)
            && !value.starts_with(b"-")
            && is_secret(value)
        {
            found(at + 1, 0, value.len(), marker);
        }
    }
}

fn is_called(program: &Program, name: &[u8]) -> bool {
    !name.is_empty()
        && program
            .names
            .get()
            .lines()
            .any(|known| known.as_bytes() == name)
}

fn is_secret(value: &[u8]) -> bool {
    !value.is_empty() && !is_reference(value) && !is_placeholder(value)
}

fn secrets(program: &Program, words: &[&[u8]], mut found: impl FnMut(usize, usize, usize)) {
    // A line is what a flag does, a blank, the flag.
    let lines = || {
        let lines = program.flags.bytes().split(|byte| *byte == b'\n');
        lines.filter_map(|line| match line {
            [what, _, flag @ ..] => Some((*what, flag)),
            _ => None,
        })
    };
    let mut with = lines().filter(|(what, _)| *what == b'w').peekable();
    if with.peek().is_some() && !with.any(|(_, needed)| words.contains(&needed)) {
        return;
    }
    let mut tell = |word: usize, from: usize| {
        let Some(value) = words.get(word).and_then(|text| text.get(from..)) else {
            return;
        };
        let Some(lead) = password_lead(value) else {
            return;
        };
        let from = from + lead;
        let Some((start, end)) = unquoted(words.get(word).copied().unwrap_or(&[]), from) else {
            return;
        };
        let secret = words
            .get(word)
            .and_then(|text| text.get(start..end))
            .unwrap_or(&[]);
        if is_secret(secret) {
            found(word, start, end);
        }
    };
    for (at, word) in words.iter().enumerate() {
        for (what, flag) in lines() {
            let Some(rest) = word.strip_prefix(flag) else {
                continue;
            };
            match (what, rest.first()) {
                (b'n', None) if !words.get(at + 1).is_some_and(|next| next.starts_with(b"-")) => {
                    tell(at + 1, 0)
                }
                (b'n', Some(b'=')) => tell(at, flag.len() + 1),
                (b'g', Some(_)) => {
                    let equals = usize::from(rest.first() == Some(&b'='));
                    tell(at, flag.len() + equals);
                }
                (b'a', None) => {
                    let behind = words.iter().enumerate().skip(at + 1);
                    for (index, operand) in behind.filter(|(_, word)| !word.starts_with(b"-")) {
                        let equals = operand.iter().position(|byte| *byte == b'=');
                        // `name=@file` says where it is kept.
                        if let Some(equals) = equals
                            && operand.get(equals + 1) != Some(&b'@')
                        {
                            tell(index, equals + 1);
                        }
                    }
                }
                (b'p', _) => {
                    let (index, from) = match rest.first() {
                        None => (at + 1, 0),
                        Some(b'=') => (at, flag.len() + 1),
                        Some(_) if flag.starts_with(b"--") => continue,
                        Some(_) => (at, flag.len()),
                    };
                    let value = words
                        .get(index)
                        .and_then(|text| text.get(from..))
                        .unwrap_or(&[]);
                    if let Some(between) = value.iter().position(|byte| *byte == program.between) {
                        tell(index, from + between + 1);
                    }
                }
                _ => {}
            }
        }
    }
    if program.operand > 0 {
        let last = words
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, word)| !word.starts_with(b"-") && !word.contains(&b'='))
            .nth(usize::from(program.operand) - 1);
        let named = |word: &&[u8]| lines().any(|(what, known)| what == b'w' && known == *word);
        if let Some((at, _)) = last.filter(|(_, word)| !named(word)) {
            tell(at, 0);
        }
    }
}

/// The part of a word from `from` on that is not quotation marks.
fn unquoted(word: &[u8], from: usize) -> Option<(usize, usize)> {
    let Some(quote) = Quote::at(word, from) else {
        let rest = word.get(from..)?;
        let end = rest
            .iter()
            .position(|byte| b"\"'".contains(byte))
            .unwrap_or(rest.len());
        return Some((from, from + end));
    };
    let start = from + quote.length;
    Some((
        start,
        quote.closes(word, start, word.len()).unwrap_or(word.len()),
    ))
}

/// The words of a command from `from` on, without the quotation marks around a whole word, and where
/// the command ends.
fn words(bytes: &[u8], from: usize) -> (Vec<(usize, usize)>, usize) {
    let mut words = Vec::new();
    let limit = bytes.len().min(from + MAX_REACH);
    let mut at = from;
    while at < limit && words.len() < MAX_WORDS {
        match bytes.get(at) {
            Some(b' ' | b'\t') => at += 1,
            Some(b'\\') if bytes.get(at + 1) == Some(&b'\n') => at += 2,
            Some(b'\n' | b'\r' | b';' | b'|' | b'&' | b')' | b'<' | b'>') | None => break,
            Some(_) => {
                let (start, end, next) = read_word(bytes, at, limit);
                if next == at {
                    break;
                }
                words.push((start, end));
                at = next;
                // What the command itself stands in ends here.
                if matches!(bytes.get(at), Some(b'"' | b'\'' | b'`' | b'\\')) {
                    break;
                }
            }
        }
    }
    (words, at)
}

/// The words of a list from `from` on, where the quotation mark behind the program's name stands:
/// `"mysql", "-p…"]`.
fn listed(bytes: &[u8], from: usize) -> (Vec<(usize, usize)>, usize) {
    let mut words = Vec::new();
    let limit = bytes.len().min(from + MAX_REACH);
    let Some(quote) = Quote::at(bytes, from) else {
        return (words, from);
    };
    let mut at = from + quote.length;
    while at < limit && words.len() < MAX_WORDS {
        let rest = bytes.get(at..limit).unwrap_or(&[]);
        let lead = rest
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace() || **byte == b',')
            .count();
        if Quote::at(bytes, at + lead) != Some(quote) {
            break;
        }
        let start = at + lead + quote.length;
        let Some(end) = quote.closes(bytes, start, limit.saturating_sub(start)) else {
            break;
        };
        words.push((start, end));
        at = end + quote.length;
    }
    (words, at)
}

/// One word: its text and where the next may begin.
fn read_word(bytes: &[u8], at: usize, limit: usize) -> (usize, usize, usize) {
    if let Some(quote) = Quote::at(bytes, at) {
        let start = at + quote.length;
        return match quote.closes(bytes, start, limit.saturating_sub(start)) {
            Some(end) => (start, end, (end + quote.length).min(bytes.len())),
            None => (at, at, at),
        };
    }
    let mut end = at;
    while end < limit {
        match bytes.get(end) {
            Some(b' ' | b'\t' | b'\n' | b'\r' | b';' | b'|' | b'&' | b')' | b'<' | b'>') | None => {
                break;
            }
            Some(b'\\') if bytes.get(end + 1).is_some_and(|byte| b"nrt".contains(byte)) => break,
            Some(b'"' | b'\'' | b'`' | b'\\') => {
                // A mark opens behind a flag or `=`; elsewhere it closes what the command stands in.
                let opens = end - at == 2
                    || end
                        .checked_sub(1)
                        .is_some_and(|b| bytes.get(b) == Some(&b'='));
                let closed = Quote::at(bytes, end).filter(|_| opens).and_then(|quote| {
                    let start = end + quote.length;
                    let close = quote.closes(bytes, start, limit.saturating_sub(start))?;
                    Some(close + quote.length)
                });
                match (closed, bytes.get(end)) {
                    (Some(close), _) => end = close,
                    (None, Some(b'\\')) if Quote::at(bytes, end).is_none() => end += 2,
                    (None, _) => break,
                }
            }
            Some(_) => end += 1,
        }
    }
    let end = end.min(bytes.len());
    (at, end, end)
}
