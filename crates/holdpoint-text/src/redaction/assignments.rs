//! Values that are given to a name: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`,
//! `<password>…</password>`, in code, files, addresses and command lines.
//!
//! A name alone says little: programs are full of `token = next()`. What the value must look like
//! depends on where it stands. In an environment, a flag, an address or quotes after `password`,
//! anything is a secret; in what could be code, it must look like something nobody would call a
//! variable.

use super::borders::Quote;
use super::finding::{Certainty, Raw, Source};
use super::marker::{Marker, marker_length};
use super::names;
use super::rest;
use super::values::{
    Make, is_code, is_identifier, is_number, is_placeholder, is_random, is_reference,
    password_lead, starts,
};

/// The longest value in quotes that is looked for.
const MAX_LENGTH: usize = 2048;

/// A value longer than this is read once.
const LONG: usize = 256;

/// What was learned at a name: where to go on, and the secret if there is one.
pub(crate) struct Read {
    /// The end of the name; other roots before it belong to it.
    pub(crate) resume: usize,
    pub(crate) found: Option<Raw>,
}

/// Reads the name around `at`, where one of the roots stands, and what is given to it.
pub(crate) fn at(bytes: &[u8], at: usize) -> Read {
    let name = Name::around(bytes, at);
    // The word of a marker is no name.
    let marker = name.start.checked_sub(1).and_then(|open| {
        let length = marker_length(bytes.get(open..)?)?;
        Some(open + length)
    });
    if let Some(resume) = marker {
        return Read {
            resume,
            found: None,
        };
    }
    let nothing = Read {
        resume: name.end,
        found: None,
    };
    let Some(given) = Given::behind(bytes, &name) else {
        return nothing;
    };
    let Some(text) = bytes.get(name.start..name.end) else {
        return nothing;
    };
    let known = names::kept_under(text);
    let perhaps = || (name.shouts && names::may_be_key(text)).then_some(Marker::ApiKey);
    let Some(marker) = known.or_else(perhaps) else {
        return nothing;
    };
    let Some((start, end, quoted)) = given.value(bytes, &name) else {
        return nothing;
    };
    let fits = known.is_some() || bytes.get(start..end).is_some_and(is_key);
    let secret = given
        .secret(bytes, &name, marker, (start, end, quoted))
        .filter(|_| fits);
    // What has been read at length is not read again for the names in it.
    let read = secret.is_some() || end - start > LONG;
    let end = secret.map_or(end, |(_, end)| end);
    Read {
        resume: if read { end.max(name.end) } else { name.end },
        found: secret.map(|(start, end)| Raw {
            start,
            end,
            marker,
            certainty: Certainty::Likely,
            source: Source::Assignment,
        }),
    }
}

/// A name as it stands in the text.
struct Name {
    start: usize,
    end: usize,
    /// Behind one or two dashes.
    is_flag: bool,
    /// Before it stands `?`, `&` or their escapes.
    in_query: bool,
    /// Before it stands `<`.
    in_tag: bool,
    /// Nothing but blanks, or `export`, stands before it on its line.
    first: bool,
    /// Only upper case.
    shouts: bool,
}

impl Name {
    fn around(bytes: &[u8], at: usize) -> Self {
        let inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
        let before = bytes
            .get(at.saturating_sub(names::MAX_LENGTH)..at)
            .unwrap_or(&[]);
        let mut start = at - before.iter().rev().take_while(|byte| inner(byte)).count();
        let behind = bytes.get(at..).unwrap_or(&[]);
        let mut length = behind
            .iter()
            .take(names::MAX_LENGTH)
            .take_while(|byte| inner(byte))
            .count();
        while length > 0
            && behind
                .get(length - 1)
                .is_some_and(|byte| b"-.".contains(byte))
        {
            length -= 1;
        }
        let end = at + length;
        let previous = |start: usize| {
            start
                .checked_sub(1)
                .and_then(|index| bytes.get(index).copied())
        };
        // The first letters may belong to an escape: `\npassword`, `%22password`.
        match previous(start) {
            Some(b'\\') if start < at && bytes.get(start).is_some_and(|b| b"nrt".contains(b)) => {
                start += 1
            }
            Some(b'%') if start + 2 <= at => start += 2,
            Some(_) | None => {}
        }
        let dashes = bytes
            .get(start..at)
            .unwrap_or(&[])
            .iter()
            .take_while(|byte| **byte == b'-')
            .count();
        let text = bytes.get(start + dashes..end).unwrap_or(&[]);
        let line = bytes.get(start.saturating_sub(24)..start).unwrap_or(&[]);
        let line_start = line
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(line, |end| line.get(end + 1..).unwrap_or(&[]));
        let whole = start < 24 || line_start.len() < line.len();
        let lead = line_start.trim_ascii();
        Self {
            start: start + dashes,
            end,
            is_flag: dashes > 0,
            in_query: matches!(previous(start), Some(b'?' | b'&'))
                || bytes
                    .get(start.saturating_sub(3)..start)
                    .is_some_and(|escape| {
                        escape.eq_ignore_ascii_case(b"%26") || escape.eq_ignore_ascii_case(b"%3f")
                    })
                || bytes.get(start.saturating_sub(5)..start) == Some(b"&amp;"),
            in_tag: previous(start) == Some(b'<'),
            first: whole
                && (lead.is_empty() || matches!(lead, b"export" | b"-" | b"set" | b"ENV" | b"ARG")),
            shouts: text.iter().any(u8::is_ascii_uppercase)
                && !text.iter().any(u8::is_ascii_lowercase),
        }
    }
}

/// How a value is given to a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// `name=value`, `name%3Dvalue`
    Tight,
    /// `name = value`, `name := value`
    Spaced,
    /// `name: value`
    Colon,
    /// `--name value`
    Flag,
    /// `<name>value<`
    Tag,
    /// `name("value"`, `"name", "value"`, `name == "value"`
    Code,
    /// `password value` in a netrc, `PASSWORD 'value'` in SQL
    Word,
}

struct Given {
    by: By,
    /// Where the value begins, its quotation mark included.
    at: usize,
}

impl Given {
    fn behind(bytes: &[u8], name: &Name) -> Option<Self> {
        let byte = |at: usize| bytes.get(at).copied();
        let blanks = |at: usize| {
            let rest = bytes.get(at..).unwrap_or(&[]);
            at + rest
                .iter()
                .take(16)
                .take_while(|byte| matches!(byte, b' ' | b'\t'))
                .count()
        };
        let mut at = name.end;
        if name.in_tag && byte(at) == Some(b'>') {
            return Some(Self {
                by: By::Tag,
                at: at + 1,
            });
        }
        let quote = Quote::at(bytes, at);
        at += quote.map_or(0, |quote| quote.length);
        // `config["password"] = …`
        if quote.is_some() && byte(at) == Some(b']') {
            at += 1;
        }
        let apart = blanks(at);
        let rest = bytes.get(apart..)?;
        let given = |by, length: usize| {
            let value = blanks(apart + length);
            // The first of a list stands for all of them.
            let listed = byte(value) == Some(b'[') && Quote::at(bytes, value + 1).is_some();
            Some(Self {
                by,
                at: value + usize::from(listed),
            })
        };
        match rest {
            [b'=', b'=', b'=', ..] => given(By::Code, 3),
            [b'=', b'=', ..] => given(By::Code, 2),
            [b'=', b'>', ..] | [b':', b'=', ..] => given(By::Spaced, 2),
            [b'=', next, ..] => {
                let tight = apart == at && !next.is_ascii_whitespace();
                given(if tight { By::Tight } else { By::Spaced }, 1)
            }
            // How LDIF gives what it has encoded.
            [b':', b':', b' ', ..] if name.first => given(By::Colon, 2),
            [b':', b':', ..] => None,
            [b':', _, ..] => {
                let colon = given(By::Colon, 1)?;
                Some(typed(bytes, colon.at).map_or(colon, |at| Self { by: By::Spaced, at }))
            }
            [b'%', b'3', b'D' | b'd', ..] => given(By::Tight, 3),
            [b'%', b'3', b'A' | b'a', ..] => given(By::Colon, 3),
            [b'\\', b'u', b'0', b'0', b'3', b'd' | b'D', ..] => given(By::Tight, 6),
            [b'&', b'#', b'6', b'1', b';', ..] => given(By::Tight, 5),
            [b'(', ..] if Quote::at(bytes, blanks(apart + 1)).is_some() => given(By::Code, 1),
            [b',', ..] if quote.is_some() => {
                let value = blanks(apart + 1);
                let by = if name.is_flag { By::Flag } else { By::Code };
                value_key(bytes, value)
                    .or_else(|| Quote::at(bytes, value).map(|_| Self { by, at: value }))
            }
            _ if apart > at || matches!(rest, [b'\n' | b'\r', ..] | [b'\\', b'n' | b'r', ..]) => {
                if let Some(given) = value_key(bytes, apart) {
                    return Some(given);
                }
                if name.is_flag && apart > at {
                    // The word may stand on the next line of the command.
                    let at = match rest {
                        [b'\\', b'\n', ..] => blanks(apart + 2),
                        [b'\\', b'\r', b'\n', ..] => blanks(apart + 3),
                        _ => apart,
                    };
                    return Some(Self { by: By::Flag, at });
                }
                let is_word = starts(bytes.get(name.start..)?, b"password")
                    && by_word(bytes, name, apart)
                    || is_configured(bytes, name)
                    || is_directive(bytes, name);
                (quote.is_none() && apart > at && is_word).then_some(Self {
                    by: By::Word,
                    at: apart,
                })
            }
            _ => None,
        }
    }

    /// The secret, if the value is one.
    fn secret(
        &self,
        bytes: &[u8],
        name: &Name,
        marker: Marker,
        (mut start, mut end, quoted): (usize, usize, bool),
    ) -> Option<(usize, usize)> {
        let password = marker == Marker::Password;
        // An argument in a list of them is code, and the punctuation behind it is none of it.
        let written = end;
        if !quoted && !name.shouts {
            while end > start
                && bytes
                    .get(end - 1)
                    .is_some_and(|byte| b",):;".contains(byte))
            {
                end -= 1;
            }
        }
        let argument = bytes
            .get(start..end)
            .is_some_and(|value| is_dotted(value) || is_identifier(value));
        let listed = end < written && argument;
        if !listed {
            end = written;
        }
        if self.by == By::Flag {
            start += password_lead(bytes.get(start..end)?)?;
        }
        let value = bytes.get(start..end)?;
        if is_reference(value)
            || is_placeholder(value)
            || is_same(value, bytes.get(name.start..name.end)?)
        {
            return None;
        }
        // `--secret id=npm,src=.npmrc` says which secret, and where it is kept.
        if name.is_flag && (value.starts_with(b"id=") || value.starts_with(b"type=")) {
            return None;
        }
        // `Authorization=Bearer …`: what kind of token it is may stay.
        let call = self.by == By::Code
            && starts(bytes.get(name.start..name.end)?, b"pass")
            && name.end - name.start == 4;
        let key_elsewhere = marker == Marker::PrivateKey && value.len() < 32;
        if call || key_elsewhere {
            return None;
        }
        if marker == Marker::Token
            && let Some(scheme) = super::headers::scheme(value)
        {
            start += scheme;
            if is_reference(bytes.get(start..end)?) || is_placeholder(bytes.get(start..end)?) {
                return None;
            }
            return Some((start, end));
        }
        // A passphrase may have blanks; in a file of settings its line is all it is.
        let line_end = if !quoted && password && self.by == By::Colon && name.first {
            whole_line(bytes, end)
        } else {
            end
        };
        let make = Make::from_bytes(value);
        let length = value.len();
        // In quotes, a line of its own is no more than an argument in code.
        let shouted = self.by == By::Tight && name.shouts;
        let decided = name.is_flag
            || name.in_query
            || (self.by == By::Tag && password)
            || self.by == By::Word
            || (self.by == By::Colon && make.is_mixed() && fills_quotes(bytes, name, end))
            || (self.by == By::Tight && name.shouts)
            || (self.by == By::Tight && name.first && !listed && !is_dotted(value))
            || (self.by == By::Tight && in_connection(bytes, name, end));
        let secret = if self.by == By::Flag {
            length >= 3 && (quoted || !is_prose(value)) && !value.starts_with(b"-")
        } else if decided && (!quoted || (make.blanks == 0 && shouted)) {
            let enough = if password { 3 } else { 6 };
            // A directory (`PWD=/home/me`) and a small number are no secrets; a call is code.
            let code = value.contains(&b'(')
                || value
                    .first()
                    .is_some_and(|b| b"/~.(".contains(b) && !name.is_flag);
            let number = make.letters() == 0 && make.others == 0;
            length >= enough && !code && (!number || length >= 4 && (password || length >= 12))
        } else if quoted {
            self.is_quoted_secret(value, &make, password)
        } else {
            match self.by {
                By::Code => false,
                By::Colon if name.first && ends_line(bytes, line_end) => {
                    let word = make.letters() == length && make.upper == 0;
                    let plain = password && word && length >= 4 && !is_label(value);
                    // A line of settings; in code something would follow.
                    let chosen = password
                        && make.digits > 0
                        && make.letters() > 0
                        && length >= 4
                        && !value.iter().any(|byte| b"([{&*:".contains(byte))
                        && !is_number(value)
                        && !is_dotted(value);
                    plain || chosen || is_bare_secret(value, &make, if password { 6 } else { 12 })
                }
                By::Colon => is_bare_secret(value, &make, if password { 6 } else { 12 }),
                By::Tight | By::Spaced | By::Flag | By::Tag | By::Word => {
                    let follows_call = bytes.get(end).is_some_and(|byte| b"([".contains(byte));
                    !follows_call && is_bare_secret(value, &make, if password { 6 } else { 12 })
                }
            }
        };
        if !secret {
            return None;
        }
        if end - start < MAX_LENGTH && line_end == end {
            return Some((start, self.real_end(bytes, name, (start, end, quoted))));
        }
        // What was too long to be looked at is part of it.
        let cut = end - start >= MAX_LENGTH;
        let rest = bytes.get(line_end..).filter(|_| cut).unwrap_or(&[]);
        let more = rest
            .iter()
            .take_while(|byte| **byte > b' ' && !b"\"'`".contains(byte))
            .count();
        Some((start, line_end + more))
    }

    /// Where a value known to be a secret ends: what separates words and items elsewhere may be a
    /// part of it.
    fn real_end(
        &self,
        bytes: &[u8],
        name: &Name,
        (start, end, quoted): (usize, usize, bool),
    ) -> usize {
        if quoted && rest::in_triple_quotes(bytes, self.at).is_some() {
            return end;
        }
        if quoted {
            return rest::behind_quotes(bytes, self.at, end);
        }
        if name.in_query || self.by == By::Tag {
            return end;
        }
        let before = name.start.checked_sub(1).and_then(|at| bytes.get(at));
        let apart = before.is_none_or(u8::is_ascii_whitespace);
        if name.is_flag || (self.by == By::Tight && name.shouts && apart) {
            return if start > self.at {
                rest::over_lines(bytes, self.at, end)
            } else {
                rest::of_shell_word(bytes, end)
            };
        }
        if before == Some(&b';') && self.by == By::Tight {
            return rest::of_setting(bytes, end);
        }
        let of_line = matches!(self.by, By::Colon | By::Spaced) && name.first;
        if of_line {
            rest::of_line(bytes, end)
        } else {
            end
        }
    }

    fn is_quoted_secret(&self, value: &[u8], make: &Make, password: bool) -> bool {
        let length = value.len();
        if password {
            let label = make.blanks > 0 && is_label(value);
            let path =
                value.starts_with(b"/") && value.iter().filter(|byte| **byte == b'/').count() > 1;
            let code = path
                || self.by == By::Code
                    && (make.digits == 0 || value.contains(&b'/') || is_wordy(value, make));
            let version = make.letters() == 0 && make.joints > 0;
            return !label && !code && !version && length >= 2 && !is_type(value);
        }
        if make.blanks > 0 {
            return false;
        }
        let wordy = is_wordy(value, make) || value.windows(2).any(|pair| pair == b"::");
        let path = value.first().is_some_and(|byte| b"/.~#@".contains(byte))
            || value.windows(3).any(|w| w == b"://");
        if wordy || path || (make.letters() == 0 && length < 16) {
            return false;
        }
        let least = if self.by == By::Code { 12 } else { 8 };
        (make.digits > 0 && make.letters() > 0 && length >= least) || length >= 16
    }

    /// Where the value begins and ends, and whether it stands in quotes.
    fn value(&self, bytes: &[u8], name: &Name) -> Option<(usize, usize, bool)> {
        let mut at = self.at;
        if self.by == By::Tag {
            let rest = bytes.get(at..)?;
            let inside = rest.strip_prefix(b"<![CDATA[").map_or(0, |_| 9);
            let text = rest.get(inside..)?;
            let length = text
                .iter()
                .take(MAX_LENGTH)
                .position(|byte| *byte == b'<')?;
            if text.get(length + 1) != Some(&b'/') {
                return None;
            }
            let length = match text.get(..length)? {
                [.., b']', b']', b'>'] if inside > 0 => length - 3,
                _ => length,
            };
            return Some((at + inside, at + inside + length, false));
        }
        if self.by == By::Colon
            && name.first
            && let Some((start, end)) = rest::block(bytes, at)
        {
            return Some((start, end, false));
        }
        if let Some((start, end)) = rest::in_triple_quotes(bytes, at) {
            return Some((start, end, true));
        }
        // `b"…"`, `f'…'`, `@"…"`, `L"…"`
        if bytes
            .get(at)
            .is_some_and(|byte| b"bfrRBFuL@$".contains(byte))
            && matches!(bytes.get(at + 1), Some(b'"' | b'\''))
        {
            at += 1;
        }
        if let Some(quote) = Quote::at(bytes, at) {
            let start = at + quote.length;
            if let Some(end) = quote.closes(bytes, start, MAX_LENGTH) {
                return Some((start, end, true));
            }
            // Rather the end of a text than the start of one.
            let end = bare_end(bytes, start, Ends::AtPunctuation);
            return Some((start, end, false));
        }
        let ends =
            if self.by == By::Tight && name.first && !name.in_query && one_word_line(bytes, at) {
                Ends::AtBlank
            } else if name.in_query {
                Ends::InQuery
            } else {
                Ends::AtPunctuation
            };
        let end = bare_end(bytes, at, ends);
        (end > at).then_some((at, end, false))
    }
}

/// What ends a value without quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// Blanks and quotation marks.
    AtBlank,
    /// Those and what separates parameters.
    InQuery,
    /// Those and what separates commands, arguments and items.
    AtPunctuation,
}

fn bare_end(bytes: &[u8], from: usize, ends: Ends) -> usize {
    let rest = bytes.get(from..).unwrap_or(&[]);
    let mut length = 0;
    let mut open = 0usize;
    for (at, byte) in rest.iter().take(MAX_LENGTH).enumerate() {
        // A marker is one piece.
        if at < length {
            continue;
        }
        if *byte == b'['
            && let Some(marker) = rest.get(at..).and_then(marker_length)
        {
            length = at + marker;
            continue;
        }
        let behind = rest.get(at + 1).copied();
        let stops = match byte {
            0..=b' ' | 0x7f | b'"' | b'\'' | b'`' => true,
            b'\\' => matches!(
                behind,
                Some(b'n' | b'r' | b't' | b'"' | b'\'' | b'\\' | b'u' | b'\n') | None
            ),
            b'%' => ends != Ends::AtBlank && rest.get(at..at + 3).is_some_and(is_separator),
            // A reference is one value with what stands in its brackets.
            b'(' | b'{' if at > 0 && rest.get(at - 1) == Some(&b'$') => {
                open += 1;
                false
            }
            b')' | b'}' if open > 0 => {
                open -= 1;
                false
            }
            b'&' | b'#' if ends != Ends::AtBlank => true,
            b';' | b',' | b'|' | b')' | b']' | b'}' | b'<' | b'>' => {
                ends == Ends::AtPunctuation || matches!(byte, b'<' | b'>')
            }
            _ => false,
        };
        if stops && !(open > 0 && *byte == b' ') {
            break;
        }
        length = at + 1;
    }
    from + length
}

fn is_separator(escape: &[u8]) -> bool {
    [
        &b"%26"[..],
        b"%22",
        b"%27",
        b"%0A",
        b"%0D",
        b"%20",
        b"%3B",
        b"%7D",
        b"%2C",
    ]
    .iter()
    .any(|known| escape.eq_ignore_ascii_case(known))
}

/// Whether the rest of the line is one word, as in a file of settings.
fn one_word_line(bytes: &[u8], at: usize) -> bool {
    let rest = bytes.get(at..).unwrap_or(&[]);
    let word = rest
        .iter()
        .take(MAX_LENGTH)
        .take_while(|byte| **byte > b' ')
        .count();
    let command = |pair: &[u8]| pair == b"&&" || pair == b"||";
    ends_line(bytes, at + word) && !rest.get(..word).unwrap_or(&[]).windows(2).any(command)
}

fn ends_line(bytes: &[u8], at: usize) -> bool {
    matches!(bytes.get(at), None | Some(b'\n' | b'\r'))
        || matches!(bytes.get(at..at + 2), Some(b"\\n" | b"\\r"))
}

/// The end of the line, or of what stands before a comment.
fn whole_line(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or(&[]);
    let end = rest.iter().take(200).position(|byte| {
        matches!(
            byte,
            b'\n' | b'\r' | b'"' | b'#' | b',' | b';' | b'}' | b'\\'
        )
    });
    let line = rest
        .get(..end.unwrap_or(rest.len().min(200)))
        .unwrap_or(&[]);
    // People write sentences after a colon, too.
    const SPOKEN: [&[u8]; 16] = [
        b"must", b"the", b"is", b"be", b"at", b"should", b"of", b"to", b"a", b"your", b"for",
        b"in", b"are", b"with", b"and", b"or",
    ];
    let word = |part: &[u8]| part.iter().all(u8::is_ascii_alphanumeric) && !SPOKEN.contains(&part);
    let words = line.split(|byte| *byte == b' ').all(word);
    if words {
        at + line.trim_ascii_end().len()
    } else {
        at
    }
}

/// `name: type = "value"`: where the value stands.
fn typed(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let kind = |byte: &u8| byte.is_ascii_alphanumeric() || b"_<>&'[]. ?".contains(byte);
    let length = rest.iter().take(48).take_while(|byte| kind(byte)).count();
    let behind = rest.get(length..)?.strip_prefix(b"=")?;
    let blanks = behind
        .iter()
        .take(4)
        .take_while(|byte| **byte == b' ')
        .count();
    let value = at + length + 1 + blanks;
    (length > 0 && behind.first() != Some(&b'=')).then_some(value)
}

/// `"name": "DB_PASSWORD", "value": "…"` and `name: DB_PASSWORD` above `value: …`.
fn value_key(bytes: &[u8], from: usize) -> Option<Given> {
    let rest = bytes.get(from..)?;
    let between = |(at, byte): (usize, &u8)| {
        let escape = b"nrt".contains(byte)
            && at.checked_sub(1).and_then(|before| rest.get(before)) == Some(&b'\\');
        byte.is_ascii_whitespace() || b"\"'\\,".contains(byte) || escape
    };
    let lead = rest
        .iter()
        .enumerate()
        .take(48)
        .take_while(|place| between(*place))
        .count();
    let key = rest.get(lead..)?;
    if !starts(key, b"value") {
        return None;
    }
    let mut at = from + lead + 5;
    at += Quote::at(bytes, at).map_or(0, |quote| quote.length);
    let rest = bytes.get(at..)?;
    let blanks = rest
        .iter()
        .take(8)
        .take_while(|byte| **byte == b' ')
        .count();
    let operator = rest.get(blanks)?;
    if !b":=".contains(operator) {
        return None;
    }
    let behind = bytes.get(at + blanks + 1..)?;
    let more = behind
        .iter()
        .take(8)
        .take_while(|byte| **byte == b' ')
        .count();
    Some(Given {
        by: By::Tight,
        at: at + blanks + 1 + more,
    })
}

/// `machine h login u password p`, and `PASSWORD 'p'` in SQL.
fn by_word(bytes: &[u8], name: &Name, value: usize) -> bool {
    let before = bytes
        .get(name.start.saturating_sub(160)..name.start)
        .unwrap_or(&[]);
    let has = |word: &[u8]| super::values::contains(before, word);
    if bytes.get(value) == Some(&b'\'')
        && (has(b"USER ") || has(b"user ") || has(b"ROLE ") || has(b"role "))
    {
        return true;
    }
    has(b"login") && (has(b"machine ") || has(b"default "))
}

/// `requirepass value` on a line of its own, `#define PASSWORD "value"`.
fn is_directive(bytes: &[u8], name: &Name) -> bool {
    let text = bytes.get(name.start..name.end).unwrap_or(&[]);
    let defined = bytes
        .get(..name.start)
        .is_some_and(|before| before.ends_with(b"#define "));
    defined || (name.first && matches!(text, b"requirepass" | b"masterauth"))
}

/// `npm config set //host/:_authToken value`: the word behind the name is given to it.
fn is_configured(bytes: &[u8], name: &Name) -> bool {
    let before = bytes
        .get(name.start.saturating_sub(96)..name.start)
        .unwrap_or(&[]);
    let line = before
        .rsplit(|byte| b"\n;|".contains(byte))
        .next()
        .unwrap_or(&[]);
    let has = |words: &[u8]| super::values::contains(line, words);
    let operand = line
        .rsplit(|byte| *byte == b' ')
        .next()
        .is_some_and(|lead| lead.is_empty() || lead.ends_with(b":"));
    operand && (has(b"config set ") || has(b"configure set "))
}

/// `Server=x;Password=y;`: settings in one line, separated by semicolons or commas.
fn in_connection(bytes: &[u8], name: &Name, end: usize) -> bool {
    let before = bytes
        .get(name.start.saturating_sub(3)..name.start)
        .unwrap_or(&[])
        .trim_ascii_end();
    before.last() == Some(&b';')
        || (bytes.get(end) == Some(&b';')
            && bytes.get(end + 1).is_some_and(u8::is_ascii_alphabetic))
}

/// Whether a bare value looks like something nobody would name a variable.
fn is_bare_secret(value: &[u8], make: &Make, least: usize) -> bool {
    let empty_assignment = value.ends_with(b"=") && make.digits == 0;
    value.len() >= least
        && make.is_mixed()
        && !empty_assignment
        && !is_code(value)
        && !is_wordy(value, make)
}

/// Whether a value is a key rather than the name of one: `FOO_KEY=` is given both.
fn is_key(value: &[u8]) -> bool {
    let make = Make::from_bytes(value);
    let path = value.contains(&b'/') && (make.joints > 0 || value.starts_with(b"/"));
    make.blanks == 0 && !path && is_random(value) && is_bare_secret(value, &make, 12)
}

/// Words with joints between them and at most a number: `my-token-name`, `utf-8`, `v1.2.3`.
fn is_wordy(value: &[u8], make: &Make) -> bool {
    if make.others > 0 {
        return false;
    }
    if make.digits == 0 {
        return make.joints > 0 || make.upper == 0 || make.lower == 0 || is_camel(value);
    }
    // Digits at the end of a word number it; digits in it make it something else.
    let word = |part: &[u8]| {
        let digits = part
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let letters = part.len() - digits;
        part.iter().take(letters).all(u8::is_ascii_alphabetic) && part.len() < 16
    };
    make.joints > 0 && value.split(|byte| b"_-.".contains(byte)).all(word)
}

/// `CamelCase` words, not random letters: no two capitals in a row of short words.
fn is_camel(value: &[u8]) -> bool {
    let words = value
        .iter()
        .filter(|byte| byte.is_ascii_uppercase())
        .count();
    words * 4 <= value.len()
}

/// What people write to people.
fn is_label(value: &[u8]) -> bool {
    let lower: Vec<u8> = value.iter().take(80).map(u8::to_ascii_lowercase).collect();
    let spoken: [&[u8]; 8] = [
        b"pass", b"secret", b"token", b"key", b"enter", b"type ", b"your ", b"invalid",
    ];
    let ends = value.last().is_some_and(|byte| b".:?!)".contains(byte)) && value.contains(&b' ');
    ends || spoken
        .iter()
        .any(|word| super::values::contains(&lower, word))
}

fn is_type(value: &[u8]) -> bool {
    is_identifier(value) && matches!(value, b"String" | b"SecretString" | b"text" | b"password")
}

/// Words that follow a flag in a sentence or in a help text.
fn is_prose(value: &[u8]) -> bool {
    let word = value.strip_suffix(b".").unwrap_or(value);
    let shouts = word
        .iter()
        .all(|byte| byte.is_ascii_uppercase() || *byte == b'_');
    let words: [&[u8]; 24] = [
        b"to",
        b"or",
        b"and",
        b"is",
        b"for",
        b"if",
        b"the",
        b"with",
        b"flag",
        b"option",
        b"string",
        b"in",
        b"as",
        b"on",
        b"from",
        b"when",
        b"flags",
        b"options",
        b"can",
        b"must",
        b"will",
        b"argument",
        b"value",
        b"are",
    ];
    shouts || words.contains(&word) || word.starts_with(b"[") || word.starts_with(b"<")
}

/// `url.password`: names with dots between them, as programs have them.
fn is_dotted(value: &[u8]) -> bool {
    value.contains(&b'.') && is_code(value)
}

/// `"X-Api-Key: value"`: the name and its value are all that stands in the quotes.
fn fills_quotes(bytes: &[u8], name: &Name, end: usize) -> bool {
    let open = name.start.checked_sub(1).and_then(|open| bytes.get(open));
    let close = bytes
        .get(end..)
        .and_then(|rest| rest.iter().find(|byte| **byte != b'\\'));
    open.is_some_and(|mark| b"\"'".contains(mark)) && open == close
}

/// A value that repeats its name: `password=password`, `token: "token"`.
fn is_same(value: &[u8], name: &[u8]) -> bool {
    let is_name = value
        .iter()
        .all(|byte| byte.is_ascii_alphabetic() || b"_-. :".contains(byte));
    if !is_name {
        return false;
    }
    // The end of one is all of the other.
    let letters = |text| {
        <[u8]>::iter(text)
            .rev()
            .filter(|byte| byte.is_ascii_alphabetic())
    };
    let mut pairs = letters(value).zip(letters(name)).peekable();
    pairs.peek().is_some() && pairs.all(|(one, other)| one.eq_ignore_ascii_case(other))
}

/// `IDENTIFIED BY 'password'`, at `at`.
pub(crate) fn identified_by(bytes: &[u8], at: usize) -> Option<Raw> {
    let from = at + b"identified by".len();
    let shouts = bytes.get(at).is_some_and(u8::is_ascii_uppercase);
    let lead = bytes
        .get(from..)?
        .iter()
        .take(16)
        .take_while(|byte| **byte == b' ')
        .count();
    // People are identified by things, too.
    let spoken = !shouts && bytes.get(from + lead) != Some(&b'\'');
    if spoken {
        return None;
    }
    quoted_or_bare(bytes, from + lead, Marker::Password)
}

/// `--from-literal=name=value`, at `at`: whatever its name, it becomes a secret.
pub(crate) fn from_literal(bytes: &[u8], at: usize) -> Option<Raw> {
    let from = at + b"--from-literal".len();
    let rest = bytes.get(from..)?;
    let name = rest
        .strip_prefix(b"=")
        .or_else(|| rest.strip_prefix(b" "))?;
    let quote = Quote::at(name, 0).map_or(0, |quote| quote.length);
    let equals = name
        .get(quote..)?
        .iter()
        .take(names::MAX_LENGTH)
        .position(|byte| *byte == b'=')?;
    quoted_or_bare(bytes, from + 1 + quote + equals + 1, Marker::Password)
}

fn quoted_or_bare(bytes: &[u8], at: usize, marker: Marker) -> Option<Raw> {
    let (start, end) = match Quote::at(bytes, at) {
        Some(quote) => {
            let start = at + quote.length;
            let end = quote.closes(bytes, start, MAX_LENGTH)?;
            (start, rest::behind_quotes(bytes, at, end))
        }
        None => (at, bare_end(bytes, at, Ends::AtPunctuation)),
    };
    let value = bytes.get(start..end)?;
    (!value.is_empty() && !is_reference(value) && !is_placeholder(value)).then_some(Raw {
        start,
        end,
        marker,
        certainty: Certainty::Likely,
        source: Source::Assignment,
    })
}
