//! Lines of any length, read into bounded memory.

use std::io::{self, BufRead, Cursor, Read};

/// The longest line that is read: pictures make long ones, and a line is held in memory. A longer one is named as
/// one that cannot be read.
pub const MAX_LINE: usize = 32 << 20;

/// What some editors write before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The lines of an input, one at a time.
pub(crate) struct Lines<R> {
    input: Rewound<R>,
    line: Vec<u8>,
    number: u64,
    bytes: u64,
    longest: usize,
}

/// What was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Whole,
    /// Nothing of it is kept.
    TooLong,
    End,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R, longest: usize) -> Self {
        Self {
            input: Rewound {
                back: Cursor::default(),
                inner: input,
            },
            line: Vec::new(),
            number: 0,
            bytes: 0,
            longest,
        }
    }

    /// The number of the line last read, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// How many bytes were read so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads the next line.
    pub(crate) fn next(&mut self) -> io::Result<Line> {
        self.line.clear();
        // Room for a line break of two bytes, and one more by which too much is seen.
        let most = u64::try_from(self.longest).unwrap_or(u64::MAX);
        let read = (&mut self.input)
            .take(most.saturating_add(3))
            .read_until(b'\n', &mut self.line)?;
        if read == 0 {
            return Ok(Line::End);
        }
        self.number += 1;
        self.bytes += u64::try_from(read).unwrap_or(u64::MAX);
        let ended = self.line.pop_if(|byte| *byte == b'\n').is_some();
        if ended {
            self.line.pop_if(|byte| *byte == b'\r');
        }
        if self.line.len() > self.longest {
            self.line.clear();
            if !ended {
                let skipped = self.input.skip_until(b'\n')?;
                self.bytes += u64::try_from(skipped).unwrap_or(u64::MAX);
            }
            return Ok(Line::TooLong);
        }
        if self.number == 1 && self.line.starts_with(BYTE_ORDER_MARK) {
            self.line.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(Line::Whole)
    }

    /// The line last read, without its end; it can be taken once.
    pub(crate) fn take_line(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.line)
    }

    /// Gives the room of a line back.
    pub(crate) fn reuse(&mut self, line: Vec<u8>) {
        self.line = line;
    }

    /// Reads on to the end of the input, but at most `most` bytes.
    pub(crate) fn read_rest(&mut self, most: usize, into: &mut Vec<u8>) -> io::Result<usize> {
        let most = u64::try_from(most).unwrap_or(u64::MAX);
        (&mut self.input).take(most).read_to_end(into)
    }

    /// Counts what was read by [`Lines::read_rest`] as lines that were read.
    pub(crate) fn count(&mut self, rest: &[u8]) {
        let lines = rest.iter().filter(|byte| **byte == b'\n').count();
        self.number += u64::try_from(lines).unwrap_or(u64::MAX);
        self.bytes += u64::try_from(rest.len()).unwrap_or(u64::MAX);
    }

    /// Puts back what was read by [`Lines::read_rest`].
    pub(crate) fn put_back(&mut self, rest: Vec<u8>) {
        self.input.back = Cursor::new(rest);
    }
}

/// An input of which some was put back.
struct Rewound<R> {
    back: Cursor<Vec<u8>>,
    inner: R,
}

impl<R: BufRead> Read for Rewound<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.back.read(buffer)? {
            0 => self.inner.read(buffer),
            read => Ok(read),
        }
    }
}

impl<R: BufRead> BufRead for Rewound<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.back.fill_buf()?.is_empty() {
            self.inner.fill_buf()
        } else {
            self.back.fill_buf()
        }
    }

    fn consume(&mut self, amount: usize) {
        // What was handed out came from the one or the other.
        if self.back.fill_buf().is_ok_and(|back| !back.is_empty()) {
            self.back.consume(amount);
        } else {
            self.inner.consume(amount);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<(Line, Vec<u8>)> {
        let mut lines = Lines::new(text, 4);
        let mut found = Vec::new();
        loop {
            match lines.next().unwrap() {
                Line::End => return found,
                line @ (Line::Whole | Line::TooLong) => found.push((line, lines.take_line())),
            }
        }
    }

    #[test]
    fn a_long_line_is_left_out_and_the_next_one_is_read() {
        assert_eq!(
            all(b"\xef\xbb\xbfa\r\nabcd\nabcde\n\nabcdefghijk\nxy"),
            [
                (Line::Whole, b"a".to_vec()),
                (Line::Whole, b"abcd".to_vec()),
                (Line::TooLong, Vec::new()),
                (Line::Whole, Vec::new()),
                (Line::TooLong, Vec::new()),
                (Line::Whole, b"xy".to_vec()),
            ]
        );
        assert_eq!(all(b"abcde").len(), 1);
    }
}
