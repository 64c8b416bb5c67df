//! A transcript from its first byte to its last: lines into records, records into calls.

use std::collections::hash_map::RandomState;
use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::io::{self, BufRead};
use std::str;

use serde::de::IgnoredAny;
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::call::Uttered;
use super::lines::{Line, Lines, MAX_LINE};
use super::record::{Context, Record, RecordContent};
use super::waiting::Waiting;
use super::{Recorded, Timestamp, Writer};

/// The largest transcript that is one JSON document, since it is held in memory whole; what is longer and does not come
/// in lines cannot be read.
const MAX_DOCUMENT: usize = 64 << 20;

/// How much of a file is looked at before it is taken for no transcript: so many lines, or fewer
/// of a file of long ones, so that a directory of logs and pictures takes no longer than its transcripts.
const MAX_LINES_LOOKED_AT: u64 = 1000;
const MAX_BYTES_LOOKED_AT: u64 = 4 << 20;
const MAX_LONG_LINES_LOOKED_AT: u64 = 8;

/// What a reader gives.
#[derive(Debug, PartialEq)]
pub enum Item {
    /// A call.
    Call(Box<Recorded>),
    /// A line that cannot be read, and why.
    Problem {
        /// Its number, from 1.
        line: u64,
        /// In a few words.
        problem: String,
    },
}

/// The calls of all transcripts so far: a session that is continued in another file is copied there.
#[derive(Debug, Default)]
pub struct Seen {
    state: RandomState,
    calls: HashSet<u64>,
    repeats: u64,
}

impl Seen {
    /// How many calls were left out because they had been given before.
    pub fn repeats(&self) -> u64 {
        self.repeats
    }

    fn hash(&self, key: impl Hash) -> u64 {
        self.state.hash_one(key)
    }

    /// Whether another transcript gave the same call: its id and arguments at the same time. Ids
    /// alone do not tell; some models count their calls from one.
    fn told_elsewhere(&mut self, call: u64, time: Option<Timestamp>) -> bool {
        let Some(time) = time else {
            return false;
        };
        let told = !self.calls.insert(self.hash((call, time)));
        self.repeats += u64::from(told);
        told
    }
}

/// Reads one transcript.
pub struct Reader<'s, R> {
    lines: Lines<R>,
    context: Context,
    seen: &'s mut Seen,
    /// The ids in this transcript, and the calls with their ids.
    ids: HashSet<u64>,
    given: HashSet<u64>,
    waiting: Waiting,
    ready: VecDeque<Item>,
    /// Problems found while nobody knows yet whether this is a transcript.
    doubts: Vec<Item>,
    recognised: bool,
    first: bool,
    ended: bool,
}

impl<'s, R: BufRead> Reader<'s, R> {
    /// A reader of `input`.
    pub fn new(input: R, seen: &'s mut Seen) -> Self {
        Self {
            lines: Lines::new(input, MAX_LINE),
            context: Context::default(),
            seen,
            ids: HashSet::new(),
            given: HashSet::new(),
            waiting: Waiting::default(),
            ready: VecDeque::new(),
            doubts: Vec::new(),
            recognised: false,
            first: true,
            ended: false,
        }
    }

    /// Who wrote the transcript, as far as it was read; none if it is no transcript.
    pub fn writer(&self) -> Option<Writer> {
        self.context.writer.filter(|_| self.recognised)
    }

    /// How many bytes were read so far.
    pub fn bytes(&self) -> u64 {
        self.lines.bytes()
    }

    /// The next call or problem, calls in the order of the transcript; none at its end. A file of
    /// which nothing is known after a good look at it ends early.
    pub fn read_next(&mut self) -> io::Result<Option<Item>> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Ok(Some(item));
            }
            if let Some(call) = self.waiting.overdue() {
                return Ok(Some(Item::Call(Box::new(call))));
            }
            if self.ended {
                let call = self.waiting.first();
                return Ok(call.map(|call| Item::Call(Box::new(call))));
            }
            match self.lines.next()? {
                Line::End => self.ended = true,
                Line::TooLong => {
                    self.problem(
                        self.lines.number(),
                        format!("the line has more than {MAX_LINE} bytes"),
                    );
                }
                Line::Whole => self.line()?,
            }
            if self.recognised {
                self.ready.extend(self.doubts.drain(..));
            } else {
                let most = match self.lines.bytes() {
                    ..=MAX_BYTES_LOOKED_AT => MAX_LINES_LOOKED_AT,
                    _ => MAX_LONG_LINES_LOOKED_AT,
                };
                self.ended |= self.lines.number() >= most;
            }
        }
    }

    fn problem(&mut self, line: u64, problem: String) {
        self.doubts.push(Item::Problem { line, problem });
    }

    fn line(&mut self) -> io::Result<()> {
        let line = self.lines.take_line();
        let number = self.lines.number();
        if !line.iter().all(u8::is_ascii_whitespace) {
            let first = std::mem::replace(&mut self.first, false);
            match str::from_utf8(&line) {
                Err(_) => self.problem(number, "the line is not UTF-8 text".into()),
                Ok(text) => match self.records(text, number) {
                    Ok(()) => {}
                    Err(error) if first && error.classify() == Category::Eof => {
                        return self.document(line, number);
                    }
                    Err(error) => self.problem(number, said(&error)),
                },
            }
        }
        self.lines.reuse(line);
        Ok(())
    }

    /// Reads a transcript that is one document of many lines. One that is none after all is read
    /// by its lines: its first line was cut off.
    fn document(&mut self, first_line: Vec<u8>, number: u64) -> io::Result<()> {
        let mut text = first_line;
        text.push(b'\n');
        let start = text.len();
        let room = MAX_DOCUMENT.saturating_sub(start);
        self.lines.read_rest(room, &mut text)?;
        let whole = str::from_utf8(&text).ok();
        if whole.is_some_and(|whole| self.records(whole, number).is_ok()) {
            self.lines.count(text.get(start..).unwrap_or_default());
        } else {
            self.problem(number, CUT_OFF.into());
            self.lines.put_back(text.split_off(start));
        }
        Ok(())
    }

    /// Takes a record, or a list of records, apart.
    fn records(&mut self, text: &str, line: u64) -> Result<(), serde_json::Error> {
        let mut count = LineCount { rest: text, line };
        if !text.trim_start().starts_with('[') {
            return self.record(text, &mut count);
        }
        for record in serde_json::from_str::<Vec<&RawValue>>(text)? {
            // One that cannot be read says nothing about the others.
            if let Err(error) = self.record(record.get(), &mut count) {
                let line = count.at(record.get().as_ptr() as usize);
                self.problem(line, said(&error));
            }
        }
        Ok(())
    }

    fn record(&mut self, text: &str, count: &mut LineCount<'_>) -> Result<(), serde_json::Error> {
        if !text.trim_start().starts_with('{') {
            // Valid or not, no transcript has it.
            return serde_json::from_str::<IgnoredAny>(text).map(|_| ());
        }
        let record: Record<'_> = serde_json::from_str(text)?;
        let mut content = RecordContent::default();
        let known = self.context.read(&record, text, &mut content);
        self.recognised |= known && self.context.writer.is_some();
        let start = text.as_ptr() as usize;
        for call in content.calls {
            let line = count.at(if call.at == 0 { start } else { call.at });
            self.call(call, &record, line, text.len());
        }
        if content.unreadable {
            self.problem(count.at(start), TWICE.into());
        }
        for (id, outcome) in content.outcomes {
            self.waiting.tell(&id, outcome);
        }
        Ok(())
    }

    fn call(&mut self, call: Uttered, record: &Record<'_>, line: u64, bytes: usize) {
        let Some(writer) = self.context.writer else {
            return;
        };
        let time = call.time.or(record.timestamp.0);
        if let Some(id) = &call.id {
            let input = call.call.as_ref().ok();
            let input = input.and_then(|call| serde_json::to_string(call.input()).ok());
            let id_known = !self.ids.insert(self.seen.hash(id));
            let whole = self.seen.hash((id, &call.tool, input));
            // A chat writes a message again when it changes.
            let again = !self.given.insert(whole) || (call.only_if_new && id_known);
            if again {
                if let Some(outcome) = call.outcome {
                    self.waiting.tell(id, outcome);
                }
                return;
            }
            if self
                .seen
                .told_elsewhere(self.seen.hash((writer, whole)), time)
            {
                return;
            }
        }
        let directory = call
            .directory
            .map(Into::into)
            .or_else(|| self.context.directory.clone());
        self.waiting.add(
            Recorded {
                writer,
                line,
                session: self.context.session.clone(),
                time,
                id: call.id,
                tool: call.tool,
                call: call.call,
                workspace: self.context.workspace.clone().or_else(|| directory.clone()),
                directory,
                subagent: call.subagent,
                outcome: call.outcome,
            },
            bytes,
        );
    }
}

/// Finds the lines of places in a text, in one walk as long as they come in order.
struct LineCount<'a> {
    rest: &'a str,
    line: u64,
}

impl LineCount<'_> {
    /// The line of an address in the text; of one already passed, that of the last.
    fn at(&mut self, address: usize) -> u64 {
        let ahead = address.saturating_sub(self.rest.as_ptr() as usize);
        if let Some((passed, rest)) = self.rest.split_at_checked(ahead) {
            let breaks = passed.bytes().filter(|byte| *byte == b'\n').count();
            self.line += u64::try_from(breaks).unwrap_or(u64::MAX);
            self.rest = rest;
        }
        self.line
    }
}

const TWICE: &str = "a key is written twice in the line";
const CUT_OFF: &str = "the line ends in the middle of its JSON";

/// What is wrong with a line.
fn said(error: &serde_json::Error) -> String {
    match error.classify() {
        Category::Eof => CUT_OFF.into(),
        Category::Syntax | Category::Io => "the line is not JSON".into(),
        // Only a key that stands twice is not taken as it comes.
        Category::Data => TWICE.into(),
    }
}
