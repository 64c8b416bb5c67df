//! Where the console writes and reads: the controlling terminal, or any reader and writer.

use std::fs::OpenOptions;
use std::io::{self, BufRead, Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use holdpoint_sandbox::terminal::{CTRL_BACKSLASH, CTRL_C, Terminal};

use super::super::ChannelError;
use super::super::patience::Patience;

/// What somebody typed.
pub(super) enum Heard {
    /// A line.
    Line(String),
    /// The end of input, or Ctrl-C: they want nothing more to do with it.
    Turned,
}

/// Where a conversation takes place.
pub(super) trait Screen {
    /// Before anything is shown.
    fn begin(&mut self) -> Result<(), ChannelError>;

    /// After the last word.
    fn end(&mut self);

    /// Shows a text that holds no control characters but ours.
    fn show(&mut self, text: &str) -> Result<(), ChannelError>;

    /// Waits for a line.
    fn line(&mut self, patience: &Patience<'_>) -> Result<Heard, ChannelError>;

    /// Leaves the place to another program until it ends.
    fn run(
        &mut self,
        command: &mut Command,
        patience: &Patience<'_>,
    ) -> Result<io::Result<ExitStatus>, ChannelError>;

    /// How many columns there are.
    fn width(&self) -> usize;
}

/// The longest line that is read: more than a terminal hands over at once. What is longer is taken as it is by then.
const MAX_LINE: usize = 8 << 10;

/// Columns where nothing is known.
const WIDTH: usize = 80;

fn unusable(error: &io::Error) -> ChannelError {
    ChannelError::Unusable(format!(
        "the console cannot ask on a terminal: {error}; use another `channel`, or run the agent in \
         a terminal"
    ))
}

/// The controlling terminal, held while a question stands on it.
#[derive(Default)]
pub(super) struct Controlling {
    held: Option<Terminal>,
}

impl Controlling {
    fn held(&mut self) -> Result<&mut Terminal, ChannelError> {
        let gone = || unusable(&io::ErrorKind::NotConnected.into());
        self.held.as_mut().ok_or_else(gone)
    }
}

impl Screen for Controlling {
    fn begin(&mut self) -> Result<(), ChannelError> {
        // The one before is given back first.
        self.held = None;
        self.held = Some(Terminal::take().map_err(|error| unusable(&error))?);
        Ok(())
    }

    fn end(&mut self) {
        self.held = None;
    }

    fn show(&mut self, text: &str) -> Result<(), ChannelError> {
        let written = match &self.held {
            Some(terminal) => terminal.file().write_all(text.as_bytes()),
            // A word after the question: nothing is read, so nothing is held.
            None => OpenOptions::new()
                .write(true)
                .open("/dev/tty")
                .and_then(|mut terminal| terminal.write_all(text.as_bytes())),
        };
        written.map_err(|error| unusable(&error))
    }

    fn line(&mut self, patience: &Patience<'_>) -> Result<Heard, ChannelError> {
        let mut line = Vec::new();
        let mut bytes = [0; 4096];
        loop {
            let wait = patience.slice()?;
            match self.held()?.read(&mut bytes, wait) {
                Ok(None) => {}
                // The end of input, or a terminal that is gone.
                Ok(Some(0)) | Err(_) => return Ok(Heard::Turned),
                Ok(Some(count)) => line.extend(bytes.iter().take(count)),
            }
            if let Some(heard) = heard(&line) {
                return Ok(heard);
            }
        }
    }

    fn run(
        &mut self,
        command: &mut Command,
        patience: &Patience<'_>,
    ) -> Result<io::Result<ExitStatus>, ChannelError> {
        let terminal = self.held()?;
        let stdio = || terminal.file().try_clone().map(Stdio::from);
        let (input, output, errors) = match (stdio(), stdio(), stdio()) {
            (Ok(input), Ok(output), Ok(errors)) => (input, output, errors),
            (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => return Ok(Err(error)),
        };
        command.stdin(input).stdout(output).stderr(errors);
        let lent = terminal.lend().map_err(|error| unusable(&error))?;
        let ended = until_it_ends(command, patience);
        drop(lent);
        if ended.is_err() {
            // A program that was ended in the middle may have left its own screen.
            self.show("\x1b[?1049l\x1b[?25h\x1b[0m")?;
        }
        ended
    }

    fn width(&self) -> usize {
        let terminal = self.held.as_ref().map(Terminal::file);
        let size = terminal.and_then(terminal_size::terminal_size_of);
        size.map_or(WIDTH, |(width, _)| usize::from(width.0))
    }
}

/// Any reader and writer. Reading cannot be limited in time, so the deadline is looked at between
/// lines only.
pub(super) struct Plain<R, W> {
    pub(super) reader: R,
    pub(super) writer: W,
}

impl<R: BufRead, W: Write> Screen for Plain<R, W> {
    fn begin(&mut self) -> Result<(), ChannelError> {
        Ok(())
    }

    fn end(&mut self) {}

    fn show(&mut self, text: &str) -> Result<(), ChannelError> {
        let written = self.writer.write_all(text.as_bytes());
        let written = written.and_then(|()| self.writer.flush());
        written.map_err(|error| unusable(&error))
    }

    fn line(&mut self, patience: &Patience<'_>) -> Result<Heard, ChannelError> {
        patience.left()?;
        let mut line = Vec::new();
        let most = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
        let read = (&mut self.reader).take(most).read_until(b'\n', &mut line);
        patience.left()?;
        match read {
            Ok(0) | Err(_) => Ok(Heard::Turned),
            Ok(_) => Ok(heard(&line).unwrap_or_else(|| whole(&line))),
        }
    }

    fn run(
        &mut self,
        command: &mut Command,
        patience: &Patience<'_>,
    ) -> Result<io::Result<ExitStatus>, ChannelError> {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        until_it_ends(command, patience)
    }

    fn width(&self) -> usize {
        WIDTH
    }
}

/// What the bytes typed so far are, if they are enough.
fn heard(bytes: &[u8]) -> Option<Heard> {
    if bytes
        .iter()
        .any(|byte| [CTRL_C, CTRL_BACKSLASH].contains(byte))
    {
        return Some(Heard::Turned);
    }
    (bytes.ends_with(b"\n") || bytes.len() >= MAX_LINE).then(|| whole(bytes))
}

fn whole(bytes: &[u8]) -> Heard {
    Heard::Line(String::from_utf8_lossy(bytes).into_owned())
}

fn until_it_ends(
    command: &mut Command,
    patience: &Patience<'_>,
) -> Result<io::Result<ExitStatus>, ChannelError> {
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Ok(Err(error)),
    };
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(Ok(status)),
            Ok(None) => {}
            Err(error) => return Ok(Err(error)),
        }
        if let Err(over) = patience.pause(Duration::from_millis(20)) {
            // Nobody waits for what it still does.
            let _ = child.kill();
            let _ = child.wait();
            return Err(over);
        }
    }
}
