//! Lines of a stream, each of bounded length.

use std::io::{self, BufRead, BufReader};

/// What some editors write before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Lines that are being read.
pub(crate) struct Lines<R> {
    input: BufReader<R>,
    /// The line that was read last.
    pub(crate) line: Vec<u8>,
    /// Its number.
    pub(crate) number: u64,
    longest: usize,
}

/// What came next.
pub(crate) enum Line {
    Whole,
    TooLong,
    End,
}

impl<R: io::Read> Lines<R> {
    /// Lines of at most so many bytes.
    pub(crate) fn new(input: R, longest: usize) -> Self {
        Self {
            input: BufReader::with_capacity(1 << 16, input),
            line: Vec::new(),
            number: 0,
            longest,
        }
    }

    /// Whether the next line can be read without waiting for whoever sends it.
    pub(crate) fn has_whole_line(&self) -> bool {
        self.input.buffer().contains(&b'\n')
    }

    /// Reads the next line without its end; of a line that is too long, nothing is kept.
    pub(crate) fn next(&mut self) -> io::Result<Line> {
        self.line.clear();
        self.number += 1;
        let mut too_long = false;
        let mut any = false;
        loop {
            let available = self.input.fill_buf()?;
            if available.is_empty() {
                break;
            }
            any = true;
            let end = available.iter().position(|byte| *byte == b'\n');
            let (piece, _) = available.split_at(end.unwrap_or(available.len()));
            let used = piece.len() + usize::from(end.is_some());
            if self.line.len() + piece.len() > self.longest {
                too_long = true;
                self.line.clear();
            } else if !too_long {
                self.line.extend_from_slice(piece);
            }
            self.input.consume(used);
            if end.is_some() {
                break;
            }
        }
        if self.number == 1 && self.line.starts_with(BYTE_ORDER_MARK) {
            self.line.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(match (any, too_long) {
            (false, _) => Line::End,
            (true, true) => Line::TooLong,
            (true, false) => Line::Whole,
        })
    }
}
