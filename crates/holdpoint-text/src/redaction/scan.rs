//! One walk over a text that finds everything: fixed texts first, then what stands around them.
//!
//! Three bytes at a time are looked up in a table; where they begin a fixed text of the formats, of
//! names, of programs, the reader for it looks closer. Digits and `@` start the readers for numbers
//! and addresses. Every reader looks a bounded way, and what one has read to its end without result
//! is not read again, so that the walk is linear.

use super::borders::{ends_word, starts_word};
use super::finding::{Certainty, Raw, Source};
use super::marker::Marker;
use super::matcher::{Match, Run};
use super::own::OwnFormat;
use super::tables::{Anchor, FORMATS, Kind, PROGRAMS, Row, SETS, anchors, may_begin};
use super::values::{Make, entropy, is_placeholder};
use super::{addresses, assignments, headers, key_files, manifest, personal, programs, stdin};

/// How far behind a word the format it announces may stand.
const NEAR: usize = 96;

/// A failed attempt longer than this is not repeated from inside of it.
const LONG_ATTEMPT: usize = 256;

/// Every byte in lower case.
static FOLDED: [u8; 256] = {
    let mut folded = [0; 256];
    let mut rest: &mut [u8] = &mut folded;
    let mut byte = 0u8;
    while let Some((place, behind)) = rest.split_first_mut() {
        *place = byte.to_ascii_lowercase();
        byte = byte.wrapping_add(1);
        rest = behind;
    }
    folded
};

/// What is looked for besides secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// A bit for each marker.
    pub(crate) markers: u16,
}

impl Wanted {
    pub(crate) fn has(self, marker: Marker) -> bool {
        self.markers >> marker.index() & 1 == 1
    }
}

/// Finds everything in `text` that `wanted` asks for, overlaps included.
pub(crate) fn scan(text: &str, wanted: Wanted, own: &[OwnFormat]) -> Vec<Raw> {
    let mut scan = Scan {
        bytes: text.as_bytes(),
        found: Vec::new(),
        formats_until: 0,
        name_until: 0,
        header_until: 0,
        manifest_until: 0,
        failed: [(0, 0); 8],
        commands_until: [0; PROGRAMS.len()],
    };
    scan.walk(wanted);
    for (number, format) in (0u16..).zip(own) {
        scan.own(number, format);
    }
    scan.found.retain(|raw| wanted.has(raw.marker));
    // A reader that looked as far as it may has perhaps stopped inside of a character.
    for raw in &mut scan.found {
        raw.start = text.floor_char_boundary(raw.start);
        raw.end = text.ceil_char_boundary(raw.end);
    }
    scan.found
}

/// The next place from `from` on at which a fixed text may begin, with the three bytes there.
#[inline(never)]
fn next_beginning(bytes: &[u8], from: usize) -> Option<(usize, u32)> {
    let fold = |byte: u8| u32::from(FOLDED.get(usize::from(byte)).copied().unwrap_or(0));
    let rest = bytes.get(from..)?;
    let (head, tail) = rest.split_at_checked(3)?;
    let mut four = head.iter().fold(0, |four, byte| four << 8 | fold(*byte));
    for (at, byte) in tail.iter().enumerate() {
        four = four << 8 | fold(*byte);
        if may_begin(four) {
            return Some((from + at, four >> 8));
        }
    }
    // A text of three bytes may end the whole: what stands behind the end is a zero.
    may_begin(four << 8).then_some((from + tail.len(), four & 0x00ff_ffff))
}

struct Scan<'t> {
    bytes: &'t [u8],
    found: Vec<Raw>,
    /// The end of the last format found; what begins before it is part of it.
    formats_until: usize,
    /// The end of the last name read.
    name_until: usize,
    /// The end of the last header read.
    header_until: usize,
    /// The end of the last manifest of secrets read.
    manifest_until: usize,
    /// The formats that failed after a long way, and where.
    failed: [(u16, usize); 8],
    /// Where the arguments of each program end that have been read.
    commands_until: [usize; PROGRAMS.len()],
}

impl Scan<'_> {
    fn walk(&mut self, wanted: Wanted) {
        let numbers = [Marker::Card, Marker::Ssn, Marker::Phone, Marker::Ip];
        // Most texts have no digit in them, which is found out many bytes at a time.
        let digits = self.bytes.iter().any(u8::is_ascii_digit);
        if (digits || wanted.has(Marker::Ip))
            && numbers.into_iter().any(|marker| wanted.has(marker))
        {
            self.walk_numbers(wanted);
        }
        let bytes = self.bytes;
        let mut from = 0;
        while let Some((at, gram)) = next_beginning(bytes, from) {
            for anchor in anchors(gram) {
                self.anchor(anchor, at);
            }
            from = at + 1;
        }
        if wanted.has(Marker::Email) && bytes.contains(&b'@') {
            let signs = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'@');
            for (at, _) in signs {
                self.found.extend(personal::email(bytes, at));
            }
        }
    }

    /// Finds what begins with a digit, and addresses of the sixth version.
    fn walk_numbers(&mut self, wanted: Wanted) {
        let bytes = self.bytes;
        let addresses = wanted.has(Marker::Ip);
        let numbers =
            wanted.has(Marker::Card) || wanted.has(Marker::Ssn) || wanted.has(Marker::Phone);
        let mut before = b' ';
        let mut number_until = 0;
        for (at, byte) in bytes.iter().enumerate() {
            if byte.is_ascii_digit() && !before.is_ascii_digit() && at >= number_until {
                if numbers && let Some(raw) = personal::number(bytes, at) {
                    number_until = raw.end;
                    self.found.push(raw);
                }
                if addresses {
                    self.found.extend(personal::ip_v4(bytes, at));
                }
            }
            if addresses
                && (byte.is_ascii_hexdigit() || *byte == b':')
                && !before.is_ascii_alphanumeric()
            {
                self.found.extend(personal::ip_v6(bytes, at));
            }
            before = *byte;
        }
    }

    fn anchor(&mut self, anchor: &Anchor, at: usize) {
        let text = anchor.text.bytes();
        let Some(here) = self.bytes.get(at..at + text.len()) else {
            return;
        };
        // Their first bytes are the same already: the last one tells most others apart.
        let last = |text: &[u8]| text.last().map(|byte| byte | 0x20);
        if last(here) != last(text) {
            return;
        }
        let same = match anchor.kind {
            Kind::Format => here == text,
            Kind::FormatInAnyCase | Kind::Near | Kind::Name | Kind::Program | Kind::Special => {
                here.eq_ignore_ascii_case(text)
            }
        };
        if !same {
            return;
        }
        let index = usize::from(anchor.index);
        match anchor.kind {
            Kind::Format | Kind::FormatInAnyCase => {
                if let Some(row) = FORMATS.get(index) {
                    self.format(anchor, row, at);
                }
            }
            Kind::Near => {
                if let Some(row) = FORMATS.get(index) {
                    self.near(anchor.index, row, at + text.len());
                }
            }
            Kind::Name => {
                if at >= self.name_until {
                    let read = assignments::at(self.bytes, at);
                    self.name_until = read.resume;
                    self.found.extend(read.found);
                }
            }
            Kind::Program => {
                if let (Some(program), Some(until)) =
                    (PROGRAMS.get(index), self.commands_until.get_mut(index))
                    && at >= *until
                {
                    *until = programs::command(
                        self.bytes,
                        at,
                        text.trim_ascii_end()
                            .iter()
                            .take_while(|byte| !b"\"'".contains(byte))
                            .count(),
                        program,
                        &mut self.found,
                    );
                }
            }
            Kind::Special => self.special(anchor.index, at, text.len()),
        }
    }

    /// In the order of the build script's list.
    fn special(&mut self, index: u16, at: usize, length: usize) {
        let found = match index {
            0 => addresses::at(self.bytes, at),
            1 if at >= self.formats_until => key_files::armoured(self.bytes, at),
            // What stands in a header that has been read is part of it.
            2 | 4 if at < self.header_until => None,
            2 => headers::authorization(self.bytes, at, &mut self.header_until),
            3 => headers::bearer(self.bytes, at),
            4 => headers::cookie(self.bytes, at, &mut self.header_until),
            5 => assignments::identified_by(self.bytes, at),
            6 => key_files::putty(self.bytes, at),
            7 => assignments::from_literal(self.bytes, at),
            8 => {
                if at >= self.manifest_until {
                    self.manifest_until = manifest::secret(self.bytes, at, &mut self.found);
                }
                None
            }
            9..=21 => stdin::given(self.bytes, at, length),
            _ => None,
        };
        if let Some(raw) = found {
            if raw.source == Source::KeyFile {
                self.formats_until = raw.end;
            }
            self.found.push(raw);
        }
    }

    fn format(&mut self, anchor: &Anchor, row: &Row, at: usize) {
        let (least, most) = (usize::from(anchor.least), usize::from(anchor.most));
        for before in (least..=most).rev() {
            let Some(start) = at.checked_sub(before) else {
                continue;
            };
            let known = start < self.formats_until
                || self
                    .failed
                    .iter()
                    .any(|(format, until)| *format == anchor.index && start < *until);
            if known || !(row.inside || starts_word(self.bytes, start)) {
                continue;
            }
            match Run::at(row.program(), &SETS, row.any_case, self.bytes, start) {
                Ok(matched) => {
                    if let Some((from, to)) = self.accepted(&matched, row.checks) {
                        self.formats_until = matched.end;
                        self.found.push(Raw {
                            start: from,
                            end: to,
                            marker: Marker::from_number(row.marker),
                            certainty: Certainty::Certain,
                            source: Source::Format(anchor.index),
                        });
                        return;
                    }
                }
                Err(reached) => {
                    if reached.saturating_sub(start) > LONG_ATTEMPT {
                        self.failed.rotate_right(1);
                        if let Some(first) = self.failed.first_mut() {
                            *first = (anchor.index, reached);
                        }
                    }
                }
            }
        }
    }

    /// Looks for a format behind the word that announces it.
    fn near(&mut self, index: u16, row: &Row, from: usize) {
        let mut at = from;
        let limit = self.bytes.len().min(from + NEAR);
        // The word may be the start of a longer name, or part of a path.
        let assigns = |byte: u8| b"=:\"'`, \t\r\n(>[{|".contains(&byte);
        let last = from.checked_sub(1).and_then(|last| self.bytes.get(last));
        let mut assigned = last.is_some_and(|byte| assigns(*byte));
        while at < limit {
            let Some(byte) = self.bytes.get(at).copied() else {
                return;
            };
            let before = at.checked_sub(1).and_then(|before| self.bytes.get(before));
            let in_path = before.is_some_and(|byte| b"/.-\\".contains(byte));
            let may_begin = !in_path && (byte.is_ascii_alphanumeric() || b"_-/+".contains(&byte));
            if assigned && may_begin && starts_word(self.bytes, at) {
                if let Ok(matched) = Run::at(row.program(), &SETS, row.any_case, self.bytes, at)
                    && let Some((start, end)) = self.accepted(&matched, row.checks)
                {
                    self.found.push(Raw {
                        start,
                        end,
                        marker: Marker::from_number(row.marker),
                        certainty: Certainty::Likely,
                        source: Source::Format(index),
                    });
                    return;
                }
                let rest = self.bytes.get(at..limit).unwrap_or(&[]);
                let word = rest
                    .iter()
                    .take_while(|byte| byte.is_ascii_alphanumeric())
                    .count();
                at += word.max(1);
            } else {
                assigned |= assigns(byte);
                at += 1;
            }
        }
    }

    fn own(&mut self, number: u16, format: &OwnFormat) {
        let mut until = 0;
        for (prefix, least, most) in &format.anchors {
            let text = prefix.as_bytes();
            let mut from = 0;
            while let Some(rest) = self.bytes.get(from..)
                && let Some(index) = super::values::find(rest, text)
            {
                let at = from + index;
                from = at + 1;
                for before in (*least..=*most).rev() {
                    let Some(start) = at.checked_sub(before).filter(|start| *start >= until) else {
                        continue;
                    };
                    if !starts_word(self.bytes, start) {
                        continue;
                    }
                    match Run::at(&format.program, &format.sets, false, self.bytes, start) {
                        Ok(matched) => {
                            if let Some((start, end)) = self.accepted(&matched, 0) {
                                until = matched.end;
                                self.found.push(Raw {
                                    start,
                                    end,
                                    marker: format.marker,
                                    certainty: Certainty::Certain,
                                    source: Source::Own(number),
                                });
                                break;
                            }
                        }
                        Err(reached) if reached.saturating_sub(start) > LONG_ATTEMPT => {
                            until = reached
                        }
                        Err(_) => {}
                    }
                }
            }
        }
    }

    /// The secret of a match, if it ends where a word does and its checks hold.
    fn accepted(&self, matched: &Match, checks: u8) -> Option<(usize, usize)> {
        let (start, end) = matched.secret;
        let secret = self.bytes.get(start..end)?;
        let whole =
            end < matched.end || (ends_word(self.bytes, end) && !matched.goes_on(self.bytes));
        let make = Make::from_bytes(secret);
        let asks = |bit: u8| checks >> bit & 1 == 1;
        let fails = (asks(0) && (make.digits == 0 || make.letters() == 0))
            || (asks(1) && entropy(secret) < 48)
            || (asks(2) && !is_jwt(secret))
            || (asks(3) && (make.upper == 0 || make.lower == 0));
        let fine = whole && !secret.is_empty() && !fails && !is_filler(secret);
        fine.then_some((start, end))
    }
}

/// `ghp_xxxxxxxx`: the body is one letter over and over that people write for any.
fn is_filler(secret: &[u8]) -> bool {
    let Some(last) = secret.last() else {
        return true;
    };
    let tail = secret.iter().rev().take_while(|byte| *byte == last).count();
    (b"xX*.".contains(last) && tail >= 12 && tail * 2 > secret.len()) || is_placeholder(secret)
}

/// Whether the first part of a token is the base64url of a JSON object.
fn is_jwt(token: &[u8]) -> bool {
    let head: Vec<u8> = token
        .iter()
        .copied()
        .take_while(|byte| *byte != b'.')
        .take(512)
        .collect();
    let mut bits = 0u32;
    let mut count = 0u32;
    let mut text = Vec::with_capacity(head.len());
    for byte in head {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' | b'+' => 62,
            b'_' | b'/' => 63,
            _ => return false,
        };
        bits = (bits << 6 | u32::from(value)) & 0xffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            text.push(u8::try_from(bits >> count & 0xff).unwrap_or(0));
        }
    }
    let printable = |byte: &u8| {
        (b' '..=b'~').contains(byte)
            || *byte == b'\n'
            || *byte == b'\r'
            || *byte == b'\t'
            || *byte >= 128
    };
    text.first() == Some(&b'{') && text.iter().all(printable)
}
