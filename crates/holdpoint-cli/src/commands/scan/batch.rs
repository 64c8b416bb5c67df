//! `holdpoint scan --batch`: a stream of texts in, a stream of answers out.
//!
//! Every line gets exactly one answer, in order, and is answered before the next one has to arrive.
//! A line that cannot be read is a text nobody has looked at: nothing of it may go on.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread;

use holdpoint_cli::scan::json::Unread;
use holdpoint_core::text::{Origin, Severity};
use holdpoint_engine::humanize::counted;
use serde::{Deserialize, Serialize};

use super::{Fails, Settings, no_origin};
use crate::cli::Scan;
use crate::exit::Exit;
use crate::json_line::{self, Wanted};
use crate::lines::{Line, Lines};
use crate::pool::Pool;
use crate::terminal::Terminal;

/// The longest line that is read: ten megabytes of text, every character of it escaped.
const MAX_LINE: usize = 64 << 20;

/// How many bytes are handed to a thread at once, and the most that may be under way: memory stays small however long
/// the lines are. Beyond it nothing more is read until something is done.
const PIECE: usize = 256 << 10;
const MAX_UNDER_WAY: usize = 96 << 20;

/// The most pieces that are read ahead: enough that no thread waits. Then reading waits.
const MAX_AHEAD: usize = 4;

/// What stands on each line.
const TEXTS: Wanted = Wanted {
    noun: "text",
    no_object: "a text must come in an object: write {\"text\": …}",
};

pub(crate) fn batch(args: &Scan, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let settings = Arc::new(Settings::new(args, Severity::Info)?);
    let shared = Arc::clone(&settings);
    let mut pool = Pool::start(move |piece: &mut Piece| piece.answer(&shared));
    let (sender, pieces) = sync_channel(MAX_AHEAD);
    let reader = thread::spawn(move || read(&sender));
    let mut batch = Batch {
        under_way: 0,
        wrong: 0,
        worst: None,
        quiet: args.quiet,
    };
    batch.run(&mut pool, &pieces, terminal)?;
    if let Ok(read) = reader.join() {
        read?;
    }
    if batch.wrong > 0 {
        terminal.out.flush()?;
        let lines = counted(batch.wrong, "line");
        writeln!(
            io::stderr(),
            "holdpoint: {lines} could not be read: the answers say why"
        )?;
        return Ok(Exit::Error);
    }
    Ok(match settings.fails {
        Fails::At(from) if batch.worst >= Some(from) => Exit::Denied,
        Fails::At(_) | Fails::ByAction | Fails::Never => Exit::Fine,
    })
}

/// Some lines, and what is answered to them.
#[derive(Default)]
struct Piece {
    /// The number of the first one.
    first: u64,
    /// Each line; none if it was too long.
    lines: Vec<Option<Vec<u8>>>,
    bytes: usize,
    answers: Vec<u8>,
    /// How many of them could not be read.
    wrong: u64,
    worst: Option<Severity>,
}

/// Reads lines and sends on what has arrived as soon as more would have to be waited for.
fn read(pieces: &SyncSender<Piece>) -> io::Result<()> {
    let mut lines = Lines::new(io::stdin().lock(), MAX_LINE);
    let mut piece = Piece::default();
    loop {
        let line = match lines.next()? {
            Line::End => break,
            Line::TooLong => None,
            Line::Whole => Some(std::mem::take(&mut lines.line)),
        };
        if piece.lines.is_empty() {
            piece.first = lines.number;
        }
        piece.bytes += line.as_ref().map_or(0, Vec::len);
        piece.lines.push(line);
        if (piece.bytes >= PIECE || !lines.has_whole_line())
            && pieces.send(std::mem::take(&mut piece)).is_err()
        {
            // Nobody answers any more.
            break;
        }
    }
    if !piece.lines.is_empty() {
        let _ = pieces.send(piece);
    }
    Ok(())
}

/// What is known of the lines so far.
struct Batch {
    /// How many bytes are being inspected.
    under_way: usize,
    /// How many lines could not be read.
    wrong: u64,
    worst: Option<Severity>,
    quiet: bool,
}

impl Batch {
    fn run(
        &mut self,
        pool: &mut Pool<Piece>,
        pieces: &Receiver<Piece>,
        terminal: &mut Terminal,
    ) -> anyhow::Result<()> {
        loop {
            let next = match pieces.try_recv() {
                Ok(piece) => Some(piece),
                Err(TryRecvError::Disconnected) => None,
                Err(TryRecvError::Empty) => {
                    // There is time to answer what was asked; then there is nothing but to wait.
                    if let Some(piece) = pool.wait()? {
                        self.hand_over(&piece, terminal)?;
                        continue;
                    }
                    terminal.out.flush()?;
                    pieces.recv().ok()
                }
            };
            let Some(piece) = next else {
                break;
            };
            self.under_way += piece.bytes;
            pool.hand_in(piece)?;
            while pool.is_full() || self.under_way > MAX_UNDER_WAY {
                match pool.wait()? {
                    Some(piece) => self.hand_over(&piece, terminal)?,
                    None => break,
                }
            }
        }
        while let Some(piece) = pool.wait()? {
            self.hand_over(&piece, terminal)?;
        }
        Ok(())
    }

    fn hand_over(&mut self, piece: &Piece, terminal: &mut Terminal) -> io::Result<()> {
        self.under_way = self.under_way.saturating_sub(piece.bytes);
        self.wrong += piece.wrong;
        self.worst = self.worst.max(piece.worst);
        if self.quiet {
            return Ok(());
        }
        terminal.out.write_all(&piece.answers)
    }
}

/// One line.
#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
    #[serde(borrow, default)]
    origin: Option<Cow<'a, str>>,
}

/// A line read for the sake of its errors, with everything owned.
#[derive(Deserialize)]
#[expect(dead_code, reason = "only whether it can be read matters")]
struct OwnedRequest {
    text: String,
    origin: Option<String>,
}

impl Piece {
    fn answer(&mut self, settings: &Settings) {
        let lines = std::mem::take(&mut self.lines);
        for (number, line) in (self.first..).zip(lines) {
            let answered = match &line {
                Some(line) => self.answer_line(line, settings),
                None => Err(format!(
                    ": it has more than {MAX_LINE} bytes: split the text, or scan it as a file"
                )),
            };
            if let Err(problem) = answered {
                self.wrong += 1;
                self.worst = Some(Severity::Critical);
                let problem = format!("line {number}{problem}");
                self.write(&Unread::because(&problem));
            }
        }
    }

    /// Answers one line, or says what is wrong with it, starting with the place.
    fn answer_line(&mut self, line: &[u8], settings: &Settings) -> Result<(), String> {
        let request = json_line::request::<Request<'_>, OwnedRequest>(line, &TEXTS)?;
        let origin = match request.origin {
            Some(word) => Origin::named(&word).ok_or_else(|| format!(": {}", no_origin(&word)))?,
            None => settings.origin.unwrap_or(Origin::Tool),
        };
        let inspection = settings.scanner.inspect(&request.text, origin);
        self.worst = self.worst.max(inspection.severity());
        self.write(&inspection);
        Ok(())
    }

    fn write(&mut self, answer: &impl Serialize) {
        // Writing to memory fails for nothing.
        let _ = serde_json::to_writer(&mut self.answers, answer);
        self.answers.push(b'\n');
    }
}
