//! The terminal as a screen, and as it was before: whatever ends this, that comes back.

use std::io::{self, Stdout, stdout};
use std::panic;
use std::sync::Once;
use std::time::Duration;

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste, Event};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::{Frame, Terminal};

/// The screen, until it is dropped.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    pub(super) fn open() -> io::Result<Self> {
        restore_on_panic();
        enter()?;
        match Terminal::new(CrosstermBackend::new(stdout())) {
            Ok(terminal) => Ok(Self { terminal }),
            Err(error) => {
                leave();
                Err(error)
            }
        }
    }

    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw).map(drop)
    }

    /// What was typed or pasted, or that the size is another; none within `wait`.
    pub(super) fn event(&self, wait: Duration) -> io::Result<Option<Event>> {
        match event::poll(wait)? {
            true => event::read().map(Some),
            false => Ok(None),
        }
    }

    /// Leaves the terminal to another program, and takes it back.
    pub(super) fn lend<T>(&mut self, run: impl FnOnce() -> T) -> io::Result<T> {
        leave();
        let came = run();
        enter()?;
        self.terminal.clear()?;
        Ok(came)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    let entered = execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste);
    if let Err(error) = entered.and_then(|()| discard_what_was_typed()) {
        leave();
        return Err(error);
    }
    Ok(())
}

/// What was typed before there was anything to see cannot be meant as an answer to it.
fn discard_what_was_typed() -> io::Result<()> {
    while event::poll(Duration::ZERO)? {
        event::read()?;
    }
    Ok(())
}

/// There is nobody to tell if it fails: the terminal is gone.
pub(super) fn leave() {
    let _ = execute!(stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}

/// So that the words of a panic stand on a terminal that shows them.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            leave();
            before(info);
        }));
    });
}
