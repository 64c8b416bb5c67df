//! What identifies people and machines: e-mail addresses, telephone, social security and card
//! numbers, IP addresses.

use super::finding::{Certainty, Raw, Source};
use super::marker::Marker;

/// Reads the e-mail address whose `@` stands at `at`.
pub(crate) fn email(bytes: &[u8], at: usize) -> Option<Raw> {
    let before = bytes.get(at.saturating_sub(64)..at)?;
    let local_byte = |byte: &u8| byte.is_ascii_alphanumeric() || b"._%+-".contains(byte);
    let mut local = before
        .iter()
        .rev()
        .take_while(|byte| local_byte(byte))
        .count();
    while local > 0
        && before
            .get(before.len() - local)
            .is_some_and(|byte| b"._%+-".contains(byte))
    {
        local -= 1;
    }
    let start = at - local;
    // `\n` and `%40` before the first letter are escapes.
    let escaped =
        start.checked_sub(1).and_then(|index| bytes.get(index)) == Some(&b'\\') && local > 1;
    let start = if escaped && bytes.get(start).is_some_and(|byte| b"nrt".contains(byte)) {
        start + 1
    } else {
        start
    };
    let name = bytes.get(start..at)?;
    if name.is_empty() || name.last() == Some(&b'.') {
        return None;
    }
    let behind = bytes.get(at + 1..)?;
    let domain_byte = |byte: &u8| byte.is_ascii_alphanumeric() || b".-".contains(byte);
    let mut length = behind
        .iter()
        .take(255)
        .take_while(|byte| domain_byte(byte))
        .count();
    while length > 0
        && behind
            .get(length - 1)
            .is_some_and(|byte| b".-".contains(byte))
    {
        length -= 1;
    }
    let domain = behind.get(..length)?;
    let mut labels = domain.split(|byte| *byte == b'.');
    let last = labels.next_back()?;
    let others: Vec<&[u8]> = labels.collect();
    let fine = !others.is_empty()
        && others
            .iter()
            .all(|label| !label.is_empty() && !label.starts_with(b"-"))
        && is_top_level(last);
    // `git@github.com:` is how repositories are reached, by nobody in particular.
    let repository = name == b"git" && matches!(behind.get(length), Some(b':' | b'/'));
    (fine && !repository && !is_login(bytes, start, at + 1 + length))
        .then(|| personal(start, at + 1 + length, Marker::Email))
}

/// Whether `user@host` from `start` to `end` is where a program logs in: `ssh deploy@host`,
/// `scp x deploy@host:path`, `ssh://deploy@host`.
fn is_login(bytes: &[u8], start: usize, end: usize) -> bool {
    let line = bytes
        .get(start.saturating_sub(160)..start)
        .unwrap_or(&[])
        .rsplit(|byte| b"\n;|&(`".contains(byte))
        .next()
        .unwrap_or(&[]);
    if line.ends_with(b"ssh://") || line.ends_with(b"sftp://") {
        return true;
    }
    const COPY: [&[u8]; 3] = [b"scp", b"rsync", b"sshfs"];
    const LOGIN: [&[u8]; 6] = [b"ssh", b"sftp", b"mosh", b"ssh-copy-id", b"autossh", b"et"];
    let path = matches!(bytes.get(end..), Some([b':', next, ..]) if !next.is_ascii_whitespace())
        || matches!(bytes.get(end..), Some([b':']) | Some([b':', b' ', ..]));
    let apart = line
        .last()
        .is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'"' | b'\''));
    let words = || line.split(|byte| b" \t\"'".contains(byte));
    // What runs there, once the host is named, may be given addresses of people.
    let named = || words().any(|word| word.contains(&b'@'));
    let called = |programs: &[&[u8]]| {
        words().any(|word| {
            let name = word.rsplit(|byte| *byte == b'/').next().unwrap_or(word);
            programs.contains(&name)
        })
    };
    apart && ((path && called(&COPY)) || (!named() && called(&LOGIN)))
}

/// Whether an address may end so: two letters, or a name people have addresses under.
fn is_top_level(label: &[u8]) -> bool {
    let mut lower = [0u8; 16];
    for (place, byte) in lower.iter_mut().zip(label) {
        *place = byte.to_ascii_lowercase();
    }
    let Some(lower) = lower.get(..label.len()) else {
        return false;
    };
    const KNOWN: [&[u8]; 62] = [
        b"com",
        b"org",
        b"net",
        b"edu",
        b"gov",
        b"mil",
        b"int",
        b"info",
        b"biz",
        b"name",
        b"pro",
        b"aero",
        b"coop",
        b"museum",
        b"jobs",
        b"mobi",
        b"travel",
        b"asia",
        b"cat",
        b"tel",
        b"post",
        b"arpa",
        b"dev",
        b"app",
        b"cloud",
        b"tech",
        b"online",
        b"site",
        b"store",
        b"shop",
        b"xyz",
        b"club",
        b"live",
        b"email",
        b"agency",
        b"company",
        b"digital",
        b"group",
        b"health",
        b"network",
        b"systems",
        b"team",
        b"work",
        b"world",
        b"zone",
        b"software",
        b"solutions",
        b"services",
        b"studio",
        b"design",
        b"global",
        b"finance",
        b"bank",
        b"law",
        b"academy",
        b"example",
        b"test",
        b"invalid",
        b"local",
        b"internal",
        b"corp",
        b"lan",
    ];
    // Two letters that are the ends of file names far more often than of addresses.
    const FILES: [&[u8]; 11] = [
        b"js", b"ts", b"py", b"rb", b"rs", b"go", b"md", b"sh", b"so", b"gz", b"cc",
    ];
    (lower.len() == 2 && lower.iter().all(u8::is_ascii_lowercase) && !FILES.contains(&lower))
        || KNOWN.contains(&lower)
}

/// Reads the number whose first digit stands at `at`.
pub(crate) fn number(bytes: &[u8], at: usize) -> Option<Raw> {
    let digits = Digits::at(bytes, at)?;
    digits
        .card()
        .or_else(|| digits.social_security())
        .or_else(|| digits.phone())
}

/// A number as people write it: groups of digits with single separators.
struct Digits<'t> {
    bytes: &'t [u8],
    start: usize,
    end: usize,
    values: [u8; 20],
    count: usize,
    /// The lengths of the groups.
    groups: [u8; 8],
    group_count: usize,
    separators: [u8; 8],
}

impl<'t> Digits<'t> {
    fn at(bytes: &'t [u8], start: usize) -> Option<Self> {
        let mut digits = Self {
            bytes,
            start,
            end: start,
            values: [0; 20],
            count: 0,
            groups: [0; 8],
            group_count: 0,
            separators: [0; 8],
        };
        let mut at = start;
        loop {
            let rest = bytes.get(at..).unwrap_or(&[]);
            let length = rest
                .iter()
                .take(21)
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            if length == 0 || digits.count + length > 20 {
                break;
            }
            for (index, byte) in rest.iter().take(length).enumerate() {
                *digits.values.get_mut(digits.count + index)? = byte - b'0';
            }
            let Some(group) = digits.groups.get_mut(digits.group_count) else {
                break;
            };
            *group = u8::try_from(length).ok()?;
            digits.count += length;
            digits.group_count += 1;
            at += length;
            digits.end = at;
            let Some(separator) = bytes.get(at).filter(|byte| b" -.()/".contains(byte)) else {
                break;
            };
            let Some(place) = digits.separators.get_mut(digits.group_count - 1) else {
                break;
            };
            *place = *separator;
            // `) ` is one separator.
            at += 1 + usize::from(*separator == b')' && bytes.get(at + 1) == Some(&b' '));
        }
        (digits.count >= 7).then_some(digits)
    }

    fn before(&self) -> Option<u8> {
        self.start
            .checked_sub(1)
            .and_then(|index| self.bytes.get(index).copied())
    }

    /// Whether neither letters nor digits, nor what joins them, stand around it.
    fn stands_alone(&self) -> bool {
        let joins = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./+#$%@&*~:".contains(&byte);
        let before = self
            .before()
            .is_none_or(|byte| !joins(byte) || b":/".contains(&byte))
            || super::borders::starts_word(self.bytes, self.start)
                && self.before().is_some_and(|b| b.is_ascii_alphanumeric());
        let behind = self.bytes.get(self.end..).unwrap_or(&[]);
        let after = match behind {
            [] => true,
            [b'.' | b':' | b'-' | b'/', next, ..] => !next.is_ascii_alphanumeric(),
            [byte, ..] => !byte.is_ascii_alphanumeric() && !b"_%@".contains(byte),
        };
        before && after
    }

    fn groups(&self) -> &[u8] {
        self.groups.get(..self.group_count).unwrap_or(&[])
    }

    fn separators(&self) -> &[u8] {
        self.separators
            .get(..self.group_count.saturating_sub(1))
            .unwrap_or(&[])
    }

    fn number(&self, from: usize, length: usize) -> u32 {
        let digits = self.values.get(from..from + length).unwrap_or(&[]);
        digits
            .iter()
            .fold(0, |sum, digit| sum * 10 + u32::from(*digit))
    }

    fn card(&self) -> Option<Raw> {
        if !(14..=19).contains(&self.count) || !self.stands_alone() || self.in_a_table() {
            return None;
        }
        let grouped = match self.groups() {
            [_] => true,
            [4, 4, 4, 4] | [4, 4, 4, 4, 3] | [4, 6, 5] | [4, 6, 4] => {
                let separators = self.separators();
                separators.iter().all(|byte| *byte == b' ')
                    || separators.iter().all(|byte| *byte == b'-')
            }
            _ => false,
        };
        let length = self.count;
        let issued = match (
            self.number(0, 1),
            self.number(0, 2),
            self.number(0, 3),
            self.number(0, 4),
        ) {
            (4, ..) => length == 16,
            (_, 51..=55, ..) | (_, _, _, 2221..=2720) => length == 16,
            (_, 34 | 37, ..) => length == 15,
            (_, 65, ..) | (_, _, 644..=649, _) | (_, _, _, 6011) => length == 16,
            (_, _, _, 3528..=3589) => length == 16,
            (_, _, 300..=305, _) | (_, 36 | 38 | 39, ..) => length == 14,
            (_, 62, ..) => length == 16 || length == 19,
            _ => false,
        };
        // A number made of two digits over and over is an example of something else.
        let mut seen = 0u16;
        for digit in self.values.get(..length)? {
            seen |= 1 << digit;
        }
        let whole = grouped && issued && seen.count_ones() > 1 && self.luhn();
        whole.then(|| personal(self.start, self.end, Marker::Card))
    }

    /// Whether it stands among other numbers: items of a list in code, words of a dump, the comment
    /// behind a row.
    fn in_a_table(&self) -> bool {
        let before = self
            .bytes
            .get(self.start.saturating_sub(40)..self.start)
            .unwrap_or(&[]);
        let lead = before.trim_ascii_end();
        let behind = self.bytes.get(self.end..).unwrap_or(&[]);
        let apart = lead.len() < before.len();
        let item = match (lead.last(), behind.first()) {
            (
                Some(b',' | b'(' | b'[' | b'{'),
                None | Some(b',' | b')' | b']' | b'}' | b'\n' | b'\r'),
            ) if apart => true,
            (Some(b'(' | b'['), Some(b',')) => true,
            _ => false,
        };
        let number = |word: &[u8]| {
            word.iter().any(u8::is_ascii_digit) && word.iter().all(u8::is_ascii_hexdigit)
        };
        let blank = |byte: &u8| byte.is_ascii_whitespace();
        let word_before = lead.rsplit(blank).next().unwrap_or(&[]);
        let next = behind.get(1..behind.len().min(20)).unwrap_or(&[]);
        let word_behind = next.split(blank).next().unwrap_or(&[]);
        let dumped = self.group_count > 1
            && (number(word_before)
                || (behind.first().is_some_and(blank)
                    && word_behind.len() > 3
                    && number(word_behind)));
        item || dumped || lead.last() == Some(&b'#')
    }

    fn luhn(&self) -> bool {
        let digits = self.values.get(..self.count).unwrap_or(&[]);
        let sum: u32 = digits
            .iter()
            .rev()
            .enumerate()
            .map(|(at, digit)| match (at % 2, u32::from(*digit)) {
                (0, digit) => digit,
                (_, digit) => digit * 2 / 10 + digit * 2 % 10,
            })
            .sum();
        sum.is_multiple_of(10)
    }

    fn social_security(&self) -> Option<Raw> {
        let formed = self.groups() == [3, 2, 4] && self.separators() == [b'-', b'-'];
        let (area, group, serial) = (self.number(0, 3), self.number(3, 2), self.number(5, 4));
        let valid = !matches!(area, 0 | 666 | 900..) && group != 0 && serial != 0;
        (formed && valid && self.stands_alone())
            .then(|| personal(self.start, self.end, Marker::Ssn))
    }

    fn phone(&self) -> Option<Raw> {
        let before = self.before();
        let second = self
            .start
            .checked_sub(2)
            .and_then(|index| self.bytes.get(index).copied());
        let apart = |byte: Option<u8>| {
            byte.is_none_or(|byte| byte.is_ascii_whitespace() || b"\"'(:=,>;|[".contains(&byte))
        };
        let ends = self
            .bytes
            .get(self.end)
            .is_none_or(|byte| !byte.is_ascii_alphanumeric() && !b"_@%+-/".contains(byte));
        let plain = self.separators().iter().all(|byte| b" -.()".contains(byte));
        if !ends || !plain {
            return None;
        }
        if before == Some(b'+') && apart(second) {
            let international = match self.groups() {
                [_] => (10..=15).contains(&self.count),
                [first, rest @ ..] => {
                    let sized = rest.iter().all(|group| (2..=8).contains(group));
                    let prefixed = *first == 4 && rest.len() > 1;
                    (8..=15).contains(&self.count) && (*first < 4 || prefixed) && sized
                }
                [] => false,
            };
            let country = self.values.first().is_some_and(|digit| *digit > 0);
            return (international && country)
                .then(|| personal(self.start - 1, self.end, Marker::Phone));
        }
        let exchange = |area: usize, exchange: usize| {
            (200..=999).contains(&self.number(area, 3))
                && (200..=999).contains(&self.number(exchange, 3))
        };
        if before == Some(b'(') && self.groups() == [3, 3, 4] && exchange(0, 3) {
            let formed = matches!(self.separators(), [b')', b'-' | b'.' | b' ']);
            return formed.then(|| personal(self.start - 1, self.end, Marker::Phone));
        }
        if self.called_a_phone() && (7..=15).contains(&self.count) && apart(before) {
            return Some(personal(self.start, self.end, Marker::Phone));
        }
        let national = match (self.groups(), self.separators()) {
            ([3, 3, 4], [b'-', b'-'] | [b'.', b'.']) => exchange(0, 3),
            ([1, 3, 3, 4], [b'-', b'-', b'-'] | [b'.', b'.', b'.']) => {
                self.number(0, 1) == 1 && exchange(1, 4)
            }
            _ => false,
        };
        let alone = self.stands_alone() && apart(before);
        (national && alone).then(|| personal(self.start, self.end, Marker::Phone))
    }

    /// Whether a word for telephones stands right before it.
    fn called_a_phone(&self) -> bool {
        let before = self
            .bytes
            .get(self.start.saturating_sub(16)..self.start)
            .unwrap_or(&[]);
        let lower: Vec<u8> = before.iter().map(u8::to_ascii_lowercase).collect();
        let lead = lower
            .iter()
            .rev()
            .take_while(|byte| b" :=\"'\\(+.".contains(byte))
            .count();
        let name = lower.get(..lower.len() - lead).unwrap_or(&[]);
        let words: [&[u8]; 9] = [
            b"phone",
            b"mobile",
            b"tel",
            b"telephone",
            b"phone_number",
            b"phonenumber",
            b"phone number",
            b"cell",
            b"whatsapp",
        ];
        lead > 0 && words.iter().any(|word| name.ends_with(word))
    }
}

/// Reads the IPv4 address whose first digit stands at `at`.
pub(crate) fn ip_v4(bytes: &[u8], at: usize) -> Option<Raw> {
    let joins = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let before = at
        .checked_sub(1)
        .and_then(|index| bytes.get(index).copied());
    if before.is_some_and(joins) && !super::borders::starts_word(bytes, at) {
        return None;
    }
    if before == Some(b'.') || before == Some(b'-') {
        return None;
    }
    let mut index = at;
    let mut quad = [0u32; 4];
    for (part, value) in quad.iter_mut().enumerate() {
        if part > 0 {
            if bytes.get(index) != Some(&b'.') {
                return None;
            }
            index += 1;
        }
        let rest = bytes.get(index..)?;
        let length = rest
            .iter()
            .take(4)
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let digits = rest.get(..length)?;
        *value = digits
            .iter()
            .fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'));
        if length == 0 || *value > 255 || (length > 1 && digits.first() == Some(&b'0')) {
            return None;
        }
        index += length;
    }
    let behind = bytes.get(index..).unwrap_or(&[]);
    let goes_on = match behind {
        [b'.', next, ..] => next.is_ascii_digit(),
        [byte, ..] => byte.is_ascii_alphanumeric() || *byte == b'_',
        [] => false,
    };
    // The machine itself is nobody's address.
    let own = matches!(quad, [127, ..] | [0, 0, 0, 0] | [255, 255, 255, _]);
    (!goes_on && !own).then(|| personal(at, index, Marker::Ip))
}

/// Reads the IPv6 address around the `::` or between the colons from `at` on, where a group begins.
pub(crate) fn ip_v6(bytes: &[u8], at: usize) -> Option<Raw> {
    let inner = |byte: &u8| byte.is_ascii_hexdigit() || *byte == b':';
    let before = at.checked_sub(1).and_then(|index| bytes.get(index));
    if before.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_:.".contains(byte)) {
        return None;
    }
    let rest = bytes.get(at..)?;
    let length = rest.iter().take(40).take_while(|byte| inner(byte)).count();
    let text = std::str::from_utf8(rest.get(..length)?).ok()?;
    let address: std::net::Ipv6Addr = text.parse().ok()?;
    let after = rest
        .get(length)
        .is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    let own = address.is_loopback() || address.is_unspecified();
    (after && !own && length > 5).then(|| personal(at, at + length, Marker::Ip))
}

fn personal(start: usize, end: usize, marker: Marker) -> Raw {
    Raw {
        start,
        end,
        marker,
        certainty: Certainty::Certain,
        source: Source::Personal,
    }
}
