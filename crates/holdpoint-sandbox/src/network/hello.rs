//! The name a TLS connection begins with. Hosts of one network answer for each other: whoever is let to one of them and
//! names another in its first message reaches that other one.
//!
//! Only the name is read, and nothing is changed or taken out. What is no TLS is passed on as it is.

use super::names::HostName;

/// The most bytes of a first message: with keys of new kinds in it they have 2 KiB.
pub const MAX_HELLO: usize = 32 << 10;

/// What the first bytes of a connection are.
#[derive(Debug, PartialEq, Eq)]
pub enum Hello {
    /// More bytes are needed.
    Incomplete,
    /// No TLS.
    Other,
    /// TLS for this host.
    Names(HostName),
    /// TLS that does not say for which host, in words that everybody on the way reads.
    Hidden,
}

/// Records begin with their kind, a version and a length.
const RECORD_HEAD: usize = 5;
/// The kinds of records: from a change of ciphers to heartbeats.
const RECORDS: std::ops::RangeInclusive<u8> = 20..=24;
const CHANGE_OF_CIPHERS: u8 = 20;
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
/// The first half of the version of every record there is.
const MAJOR: u8 = 3;
const CLIENT_HELLO: u8 = 1;
/// The oldest form of a first message, which servers still take for newer versions, begins with a length that has this bit,
/// and then says what it is. It has no place for a name.
const LONG: u8 = 0x80;
const SERVER_NAME: u16 = 0;
/// The name it is really about, for the server alone. Clients that only pretend to have one cannot be told apart.
const ENCRYPTED_HELLO: u16 = 0xfe0d;

/// What is encrypted then comes before a second message, and hides where that begins.
const EARLY_DATA: u16 = 42;

/// Reads the first bytes a client has sent.
pub fn read(bytes: &[u8]) -> Hello {
    match bytes {
        [] => return Hello::Incomplete,
        // Whatever follows: some servers take any version in the first record.
        [kind, ..] if RECORDS.contains(kind) => {}
        [LONG..=0xff, _, CLIENT_HELLO, ..] => return Hello::Hidden,
        [LONG..=0xff] | [LONG..=0xff, _] => return Hello::Incomplete,
        _ => return Hello::Other,
    }
    match message(bytes) {
        Message::Whole(body, _) => match name(&body) {
            Some(name) => Hello::Names(name),
            None => Hello::Hidden,
        },
        Message::Incomplete if bytes.len() < MAX_HELLO => Hello::Incomplete,
        Message::Incomplete | Message::None => Hello::Hidden,
    }
}

/// Reads on behind a first message: a server may have asked for a second one, and takes the name from that. `Other` is
/// anything else by which a client goes on. Nothing encrypted comes before it: a message that announces early data names nobody.
pub fn read_second(bytes: &[u8]) -> Hello {
    let Message::Whole(_, mut rest) = message(bytes) else {
        return Hello::Hidden;
    };
    // For the sake of old machines on the way a change of ciphers may come first; that and a warning change nothing.
    while let [CHANGE_OF_CIPHERS | ALERT, ..] = rest {
        rest = match rest {
            [CHANGE_OF_CIPHERS, _, _, 0, 1, _, more @ ..] => more,
            [ALERT, _, _, 0, 2, _, _, more @ ..] => more,
            [CHANGE_OF_CIPHERS, _, _, 0, 1]
            | [ALERT, _, _, 0, 2]
            | [ALERT, _, _, 0, 2, _]
            | [_]
            | [_, _]
            | [_, _, _]
            | [_, _, _, _] => return Hello::Incomplete,
            _ => return Hello::Hidden,
        };
    }
    if bytes.len() > 2 * MAX_HELLO {
        return Hello::Hidden;
    }
    match rest {
        [HANDSHAKE, _, _, 0, 0, ..] => Hello::Hidden,
        [] | [HANDSHAKE] | [HANDSHAKE, _] | [HANDSHAKE, _, _] => Hello::Incomplete,
        [HANDSHAKE, _, _, _] | [HANDSHAKE, _, _, _, _] => Hello::Incomplete,
        // No server takes a message as long as this: it is encrypted, and begins so by chance.
        [HANDSHAKE, MAJOR, _, _, _, CLIENT_HELLO, 3..=u8::MAX, ..] => Hello::Other,
        [HANDSHAKE, _, _, _, _, CLIENT_HELLO, ..] => read(rest),
        _ => Hello::Other,
    }
}

enum Message<'b> {
    Incomplete,
    /// Something else than a client's first message.
    None,
    /// What it says, and what follows its records.
    Whole(Vec<u8>, &'b [u8]),
}

/// The first message, which may be cut over several records.
fn message(bytes: &[u8]) -> Message<'_> {
    let (mut rest, mut text) = (bytes, Vec::new());
    loop {
        if let [kind, a, b, c, body @ ..] = text.as_slice() {
            let length = u32::from_be_bytes([0, *a, *b, *c]);
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            if *kind != CLIENT_HELLO || length > MAX_HELLO {
                return Message::None;
            }
            if let Some((said, more)) = body.split_at_checked(length) {
                // Nothing may follow in the same record.
                return match more {
                    [] => Message::Whole(said.to_vec(), rest),
                    _ => Message::None,
                };
            }
        }
        let Some((head, more)) = rest.split_at_checked(RECORD_HEAD) else {
            return match rest {
                [] | [HANDSHAKE] | [HANDSHAKE, MAJOR, ..] => Message::Incomplete,
                _ => Message::None,
            };
        };
        let [HANDSHAKE, MAJOR, _, high, low] = head else {
            return Message::None;
        };
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        let Some((body, more)) = more.split_at_checked(length) else {
            return Message::Incomplete;
        };
        // A record without content is no part of a message.
        if length == 0 {
            return Message::None;
        }
        text.extend_from_slice(body);
        rest = more;
    }
}

/// The one host a first message names.
fn name(body: &[u8]) -> Option<HostName> {
    const VERSION_AND_RANDOM: usize = 2 + 32;
    let mut reader = Reader(body.get(VERSION_AND_RANDOM..)?);
    let _session = reader.part(1)?;
    let _ciphers = reader.part(2)?;
    let _compressions = reader.part(1)?;
    let mut extensions = Reader(reader.part(2)?);
    let mut found = None;
    while !extensions.0.is_empty() {
        let kind = extensions.number(2)?;
        let content = extensions.part(2)?;
        match u16::try_from(kind).ok()? {
            ENCRYPTED_HELLO | EARLY_DATA => return None,
            SERVER_NAME if found.is_none() => found = Some(content),
            // Of two each server takes another.
            SERVER_NAME => return None,
            _ => {}
        }
    }
    let mut content = Reader(found?);
    let mut names = Reader(content.part(2)?);
    const HOST: usize = 0;
    let (kind, text) = (names.number(1)?, names.part(2)?);
    let alone = content.0.is_empty() && names.0.is_empty() && reader.0.is_empty();
    HostName::parse(text).ok().filter(|_| kind == HOST && alone)
}

struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    /// A number of so many bytes.
    fn number(&mut self, bytes: usize) -> Option<usize> {
        let taken = self.take(bytes)?;
        Some(
            taken
                .iter()
                .fold(0, |all, byte| all << 8 | usize::from(*byte)),
        )
    }

    /// What follows its own length, which takes so many bytes.
    fn part(&mut self, bytes: usize) -> Option<&'b [u8]> {
        let length = self.number(bytes)?;
        self.take(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(bytes: usize, content: &[u8]) -> Vec<u8> {
        let length = content.len().to_be_bytes();
        [&length[length.len() - bytes..], content].concat()
    }

    fn server_name(name: &[u8]) -> Vec<u8> {
        let names = part(2, &[&[0][..], &part(2, name)].concat());
        [&[0, 0][..], &part(2, &names)].concat()
    }

    /// A first message with these extensions.
    fn hello(extensions: &[Vec<u8>]) -> Vec<u8> {
        let body = [
            &[3, 3][..],
            &[7; 32],
            &part(1, &[1; 32]),
            &part(2, &[0x13, 1]),
            &part(1, &[0]),
            &part(2, &extensions.concat()),
        ]
        .concat();
        [&[CLIENT_HELLO][..], &part(3, &body)].concat()
    }

    /// The message in records of this length at most.
    fn records(message: &[u8], length: usize) -> Vec<u8> {
        let record = |piece: &[u8]| [&[HANDSHAKE, 3, 1][..], &part(2, piece)].concat();
        message.chunks(length).flat_map(record).collect()
    }

    fn names(text: &str) -> Hello {
        Hello::Names(HostName::parse(text.as_bytes()).unwrap())
    }

    #[test]
    fn the_name_is_read_however_the_message_is_cut() {
        let other = [&[0x12, 0x34][..], &part(2, b"x")].concat();
        let message = hello(&[other, server_name(b"Good.example")]);
        for length in [1, 2, 3, 7, 100, 10_000] {
            let whole = records(&message, length);
            assert_eq!(read(&whole), names("good.example"), "{length}");
            for cut in 0..whole.len() {
                assert_eq!(read(&whole[..cut]), Hello::Incomplete, "{length} {cut}");
            }
            let more = [&whole[..], b"and what follows"].concat();
            assert_eq!(read(&more), names("good.example"));
        }
    }

    #[test]
    fn what_names_nobody_or_somebody_in_secret_is_hidden() {
        let encrypted = [&[0xfe, 0x0d][..], &part(2, b"x")].concat();
        let good = server_name(b"good.example");
        let one = |name: &[u8]| [&[0][..], &part(2, name)].concat();
        let two = [one(b"good.example"), one(b"evil.example")].concat();
        for extensions in [
            vec![],
            vec![server_name(b"")],
            vec![server_name(b"127.0.0.1")],
            vec![server_name(b"good.example.")],
            vec![server_name(b"good.example\0.evil.example")],
            vec![good.clone(), server_name(b"evil.example")],
            vec![good.clone(), encrypted],
            vec![[&[0, 0][..], &part(2, &[0, 3, 1, 0, 0])].concat()],
            vec![good.clone(), good.clone()],
            vec![[&[0, 0][..], &part(2, &part(2, &two))].concat()],
            vec![
                [
                    &[0, 0][..],
                    &part(2, &[part(2, &two[..two.len() / 2]), two.clone()].concat()),
                ]
                .concat(),
            ],
        ] {
            let bytes = records(&hello(&extensions), 10_000);
            assert_eq!(read(&bytes), Hello::Hidden, "{extensions:?}");
        }
        // Other records first, or none at all in them.
        let message = records(&hello(&[good]), 10_000);
        for before in [
            &[20, 3, 3, 0, 1, 1][..],
            &[21, 3, 1, 0, 2, 1, 0],
            &[22, 3, 1, 0, 0],
        ] {
            assert_eq!(read(&[before, &message].concat()), Hello::Hidden);
        }
        // A message without end.
        let long = [
            &[HANDSHAKE, 3, 1, 0xff, 0xff, CLIENT_HELLO, 0, 0x7f, 0xff][..],
            &[0; MAX_HELLO],
        ]
        .concat();
        assert_eq!(read(&long), Hello::Hidden);
        let longer = records(&[CLIENT_HELLO, 0xff, 0, 0], 9);
        assert_eq!(read(&longer), Hello::Hidden);
    }

    #[test]
    fn what_is_no_tls_is_something_else() {
        for text in [
            &b"GET / HTTP/1.1"[..],
            b"SSH-2.0-x",
            b"hi",
            b"\0",
            b"\x13\x03\x01",
            b"\x19\x03\x01",
            b"\x80\x2e\x02",
        ] {
            assert_eq!(read(text), Hello::Other, "{text:?}");
        }
        assert_eq!(read(b""), Hello::Incomplete);
        assert_eq!(read(b"\x16"), Hello::Incomplete);
    }

    #[test]
    fn no_first_record_is_odd_enough_to_be_something_else() {
        let whole = records(&hello(&[server_name(b"evil.example")]), 10_000);
        for kind in RECORDS {
            for major in 0..=255 {
                let mut odd = whole.clone();
                (odd[0], odd[1]) = (kind, major);
                let expected = match (kind, major) {
                    (HANDSHAKE, MAJOR) => names("evil.example"),
                    _ => Hello::Hidden,
                };
                assert_eq!(read(&odd), expected, "{kind} {major}");
                // No start of it is passed on either.
                for end in 1..odd.len() {
                    let begun = read(&odd[..end]);
                    let held = matches!(begun, Hello::Incomplete | Hello::Hidden);
                    assert!(held, "{kind} {major} {end}: {begun:?}");
                }
            }
        }
        assert_eq!(read(b"\x16\x02"), Hello::Hidden);
        // The second half says little, and is as the client likes.
        for minor in 0..=255 {
            let mut other = whole.clone();
            other[2] = minor;
            assert_eq!(read(&other), names("evil.example"), "{minor}");
        }
        // A later record of the same message.
        let mut cut = records(&hello(&[server_name(b"good.example")]), 50);
        cut[RECORD_HEAD + 50 + 1] = 4;
        assert_eq!(read(&cut), Hello::Hidden);
    }

    #[test]
    fn a_second_message_is_read_too() {
        let first = records(&hello(&[server_name(b"good.example")]), 50);
        let second = records(&hello(&[server_name(b"evil.example")]), 50);
        let change = [20, 3, 3, 0, 1, 1];
        let warning = [21, 3, 3, 0, 2, 1, 90].to_vec();
        for between in [vec![], change.to_vec(), change.repeat(3), warning] {
            let all = [&first[..], &between, &second].concat();
            assert_eq!(read_second(&all), names("evil.example"));
            for end in first.len()..all.len() {
                assert_eq!(read_second(&all[..end]), Hello::Incomplete, "{end}");
            }
        }
        for (next, expected) in [
            (&[23, 3, 3, 0, 1, 1][..], Hello::Other),
            (&[22, 3, 3, 0, 9, 16], Hello::Other),
            (&[22, 3, 3, 0, 9, 1], Hello::Incomplete),
            (&[22, 3, 3, 0, 9, 1, 3], Hello::Other),
            (&[22, 3, 3, 0, 0], Hello::Hidden),
            (&[20, 3, 3, 0, 2, 1, 1], Hello::Hidden),
            (&[22, 4, 3, 0, 9, 1], Hello::Hidden),
        ] {
            assert_eq!(read_second(&[&first, next].concat()), expected, "{next:?}");
        }
        let early = [0, 42, 0, 0].to_vec();
        let early = records(&hello(&[server_name(b"good.example"), early]), 50);
        assert_eq!(read(&early), Hello::Hidden);
    }

    #[test]
    fn the_oldest_form_names_nobody() {
        let old = b"\x80\x2e\x01\x03\x01\0\x15\0\0\0\x10";
        for end in 0..old.len() {
            let expected = match end {
                0..=2 => Hello::Incomplete,
                _ => Hello::Hidden,
            };
            assert_eq!(read(&old[..end]), expected, "{end}");
        }
        assert_eq!(read(b"\xff\xff\x01"), Hello::Hidden);
    }

    #[test]
    fn lengths_that_do_not_fit_name_nobody() {
        let good = hello(&[server_name(b"good.example")]);
        // Longer than its record: the rest may come in another.
        let mut long = good.clone();
        long[3] += 1;
        assert_eq!(read(&records(&long, 10_000)), Hello::Incomplete);
        long.push(0);
        assert_eq!(read(&records(&long, 10_000)), Hello::Hidden);
        // Something else than the rest.
        let cut = [records(&good[..50], 50), b"\x15\x03\x01\0\x02".to_vec()].concat();
        assert_eq!(read(&cut), Hello::Hidden);
        let mut short = good;
        short[3] -= 1;
        assert_eq!(read(&records(&short, 10_000)), Hello::Hidden);
    }

    #[test]
    fn no_bytes_end_it() {
        let whole = records(&hello(&[server_name(b"good.example")]), 50);
        for place in 0..whole.len() {
            for value in 0..=255 {
                let mut bytes = whole.clone();
                bytes[place] = value;
                let _ = read(&bytes);
            }
        }
    }
}
