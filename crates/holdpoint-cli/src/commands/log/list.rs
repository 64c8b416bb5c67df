//! `holdpoint log`: the records a filter wants.

use std::io::Write;
use std::path::Path;

use holdpoint_ledger::{Item, Query, Record};

use super::follow;
use super::source::{Source, total_bytes};
use super::table::{More, Row, Table};
use super::unreadable::Unreadable;
use super::words::stored;
use super::{directory, nothing_yet};
use crate::cli::List;
use crate::exit::Exit;
use crate::terminal::Terminal;

/// How many records are listed on a terminal if nobody says.
const USUAL: usize = 50;

/// How many rows a table's columns are measured by.
const MEASURED: usize = 200;

pub(super) fn run(args: &List, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let query = Query {
        filter: args.wanted.filter(),
        last: match args.last {
            Some(0) => None,
            Some(last) => Some(last),
            None => terminal.width().map(|_| USUAL),
        },
        newest_first: args.reverse,
    };
    let when = args.wanted.index.where_it_helps(query.gains_by_index());
    let mut source = Source::open(directory(&args.wanted.place)?, when)?;
    let mut unreadable = Unreadable::default();
    let mut printer = Printer::new(args);
    let end = source.query(&query, &mut |item| {
        match item {
            Item::Record(record, line) => printer.add(record, line.bytes, terminal)?,
            Item::Unreadable(why) => unreadable.add(why),
        }
        Ok(())
    })?;
    printer.finish(terminal)?;
    if args.follow {
        return follow::run(
            source.directory(),
            end,
            &query.filter,
            printer,
            unreadable,
            terminal,
        );
    }
    if printer.printed == 0 && !args.json {
        nothing(source.directory(), terminal)?;
    }
    unreadable.tell(terminal)
}

fn nothing(directory: &Path, terminal: &mut Terminal) -> anyhow::Result<()> {
    if total_bytes(directory)? == 0 {
        return nothing_yet(directory, terminal);
    }
    writeln!(terminal.out, "No record is like that.")?;
    Ok(())
}

/// Prints records as they come: JSON at once, a table once its columns are measured.
pub(super) struct Printer {
    json: bool,
    follow: bool,
    waiting: Vec<Row>,
    table: Option<Table>,
    printed: usize,
}

impl Printer {
    fn new(args: &List) -> Self {
        Self {
            json: args.json,
            follow: args.follow,
            waiting: Vec::new(),
            table: None,
            printed: 0,
        }
    }

    pub(super) fn add(
        &mut self,
        record: &Record,
        line: &[u8],
        terminal: &mut Terminal,
    ) -> anyhow::Result<()> {
        self.printed += 1;
        if self.json {
            let line = stored(line, terminal);
            terminal.out.write_all(&line)?;
            terminal.out.write_all(b"\n")?;
            return Ok(());
        }
        let row = Row::from_record(record, terminal.width());
        match &mut self.table {
            Some(table) => table.print(&row, terminal)?,
            None => {
                self.waiting.push(row);
                if self.waiting.len() >= MEASURED {
                    self.finish(terminal)?;
                }
            }
        }
        Ok(())
    }

    /// Prints what waits for the columns to be measured.
    pub(super) fn finish(&mut self, terminal: &mut Terminal) -> anyhow::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let rows = std::mem::take(&mut self.waiting);
        let more = if self.follow || rows.len() >= MEASURED {
            More::MayCome
        } else {
            More::None
        };
        let mut table = Table::measured(&rows, more, terminal.width());
        table.print_title(terminal)?;
        for row in &rows {
            table.print(row, terminal)?;
        }
        self.table = Some(table);
        Ok(())
    }
}
