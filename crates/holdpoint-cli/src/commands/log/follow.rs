//! `holdpoint log --follow`: records as they are written.

use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::Duration;

use holdpoint_ledger::{Filter, Position, Reader};
use holdpoint_sandbox::interrupt;

use super::list::Printer;
use super::unreadable::Unreadable;
use crate::exit::Exit;
use crate::terminal::Terminal;

/// How long nothing is looked at.
const PAUSE: Duration = Duration::from_millis(200);

/// Prints what is recorded after `place` until the process is told to stop or nobody reads.
pub(super) fn run(
    directory: &Path,
    place: Position,
    filter: &Filter,
    mut printer: Printer,
    mut unreadable: Unreadable,
    terminal: &mut Terminal,
) -> anyhow::Result<Exit> {
    interrupt::listen()?;
    let mut reader = Reader::from(directory, place);
    loop {
        while let Some(line) = reader.next()? {
            match line.record() {
                Ok(record) if filter.matches(&record) => {
                    printer.add(&record, line.bytes, terminal)?;
                }
                Ok(_) => {}
                Err(why) => unreadable.add(why),
            }
            if interrupt::was_told() {
                break;
            }
        }
        printer.finish(terminal)?;
        terminal.out.flush()?;
        if interrupt::was_told() || interrupt::output_is_closed() {
            if terminal.width().is_some() {
                // Behind the `^C` the terminal shows.
                writeln!(terminal.out)?;
            }
            return unreadable.tell(terminal);
        }
        thread::sleep(PAUSE);
    }
}
