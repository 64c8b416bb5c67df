//! Answering names inside a sandbox: listed ones with an address the proxy has invented, all others with "there is no
//! such name". Nothing is ever asked further, so a name carries no data out.

use std::net::Ipv4Addr;

/// The most bytes of a question: more than the largest name, its header and what clients add.
pub const MAX_QUESTION: usize = 1232;

const HEADER: usize = 12;
const TYPE_A: u16 = 1;
const CLASS_INTERNET: u16 = 1;

/// No error; the question cannot be read; there is no such name.
const OK: u8 = 0;
const UNREADABLE: u8 = 1;
const NO_SUCH_NAME: u8 = 3;

/// A question, as far as it was read.
#[derive(Debug, PartialEq, Eq)]
pub struct Question<'a> {
    /// The name's bytes with dots between its labels, unchecked: a dot may also stand within one.
    pub name: Vec<u8>,
    /// What is asked for: `1` is an IPv4 address.
    pub kind: u16,
    /// The header and the question, as they came.
    asked: &'a [u8],
}

/// What a datagram asks. `None` if it is no question at all, which is not answered.
pub fn read(datagram: &[u8]) -> Option<Result<Question<'_>, Vec<u8>>> {
    if datagram.len() > MAX_QUESTION {
        return None;
    }
    let (header, _) = datagram.split_at_checked(HEADER)?;
    let [_, _, flags, ..] = *header else {
        return None;
    };
    // An answer, which answering would make an endless talk of.
    if flags & 0x80 != 0 {
        return None;
    }
    // An ordinary question, and one only.
    let ordinary = flags & 0x78 == 0 && matches!(header, [_, _, _, _, 0, 1, ..]);
    Some(match ordinary.then(|| question(datagram)).flatten() {
        Some(question) => Ok(question),
        None => Err(reply(header, UNREADABLE, 0, None)),
    })
}

fn question(datagram: &[u8]) -> Option<Question<'_>> {
    let mut name = Vec::new();
    let mut at = HEADER;
    loop {
        let length = usize::from(*datagram.get(at)?);
        at += 1;
        match length {
            0 => break,
            1..=63 => {}
            // A pointer to elsewhere, which no question needs.
            _ => return None,
        }
        let label = datagram.get(at..at + length)?;
        at += length;
        if !name.is_empty() {
            name.push(b'.');
        }
        name.extend_from_slice(label);
        if name.len() > 255 {
            return None;
        }
    }
    let [a, b, c, d] = *datagram.get(at..at + 4)? else {
        return None;
    };
    if u16::from_be_bytes([c, d]) != CLASS_INTERNET {
        return None;
    }
    Some(Question {
        name,
        kind: u16::from_be_bytes([a, b]),
        asked: datagram.get(..at + 4)?,
    })
}

impl Question<'_> {
    /// The answer that there is such a name: its address, if an IPv4 address was asked for, and nothing else if not.
    pub fn answer(&self, address: Ipv4Addr) -> Vec<u8> {
        let address = (self.kind == TYPE_A).then_some(address);
        reply(self.asked, OK, 1, address)
    }

    /// The answer that there is none.
    pub fn deny(&self) -> Vec<u8> {
        reply(self.asked, NO_SUCH_NAME, 1, None)
    }
}

/// An answer to what begins with a header.
fn reply(asked: &[u8], code: u8, questions: u8, address: Option<Ipv4Addr>) -> Vec<u8> {
    let mut answer = asked.to_vec();
    let wants_recursion = asked.get(2).copied().unwrap_or_default() & 1;
    let counts = [0, questions, 0, u8::from(address.is_some()), 0, 0, 0, 0];
    let head = [0x84 | wants_recursion, 0x80 | code]
        .into_iter()
        .chain(counts);
    for (place, byte) in answer.iter_mut().skip(2).zip(head) {
        *place = byte;
    }
    if let Some(address) = address {
        // The name is that of the question; the answer is true for this moment only, because a later run invents anew.
        answer.extend([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
        answer.extend(address.octets());
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(name: &str, kind: u16) -> Vec<u8> {
        let mut bytes = vec![0xab, 0xcd, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1];
        for label in name.split('.') {
            bytes.push(u8::try_from(label.len()).unwrap());
            bytes.extend(label.bytes());
        }
        bytes.push(0);
        bytes.extend(kind.to_be_bytes());
        bytes.extend([0, 1]);
        // What clients add, which is not repeated.
        bytes.extend([0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0]);
        bytes
    }

    #[test]
    fn a_question_is_read_and_answered() {
        let asked = ask("Example.com", 1);
        let question = read(&asked).unwrap().unwrap();
        assert_eq!(question.name, b"Example.com");
        let answer = question.answer(Ipv4Addr::new(127, 1, 2, 3));
        assert_eq!(answer[..4], [0xab, 0xcd, 0x85, 0x80]);
        assert_eq!(answer[4..12], [0, 1, 0, 1, 0, 0, 0, 0]);
        assert!(answer.ends_with(&[0, 4, 127, 1, 2, 3]));
        let none = question.deny();
        assert_eq!(none[3] & 15, NO_SUCH_NAME);
        assert_eq!(none[6..12], [0; 6]);
        let other = ask("example.com", 28);
        let empty = read(&other).unwrap().unwrap().answer(Ipv4Addr::LOCALHOST);
        assert_eq!((empty[3] & 15, empty[7]), (0, 0));
    }

    #[test]
    fn what_is_no_question_is_not_answered() {
        assert!(read(&[]).is_none() && read(&[0; 11]).is_none());
        let mut answer = ask("a.com", 1);
        answer[2] |= 0x80;
        assert!(read(&answer).is_none());
        let mut pointer = ask("a.com", 1);
        pointer[12] = 0xc0;
        assert!(read(&pointer).unwrap().is_err());
        let mut two = ask("a.com", 1);
        two[5] = 2;
        assert_eq!(read(&two).unwrap().unwrap_err()[3] & 15, UNREADABLE);
        for length in 12..17 {
            assert!(read(&ask("a.com", 1)[..length]).unwrap().is_err());
        }
    }
}
