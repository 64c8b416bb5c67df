//! Records as a table that fits: as many columns as there is room for, none of them broken by what
//! stands in them.

use std::io::Write;

use holdpoint_engine::Verdict;
use holdpoint_ledger::Record;

use super::words::{about, outcome};
use crate::layout::{cell_width, fitted, padded};
use crate::terminal::{Terminal, escape_for_display};

/// The most characters that are looked at for a cell: wider than any terminal.
const MAX_CELL: usize = 400;

/// Between two columns.
const GAP: &str = "  ";

/// The least room that is worth a last column.
const MIN_LAST_COLUMN: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Seq,
    Time,
    Outcome,
    Agent,
    Session,
    Tool,
    Rule,
    About,
}

impl Column {
    const ALL: [Column; 8] = [
        Column::Seq,
        Column::Time,
        Column::Outcome,
        Column::Agent,
        Column::Session,
        Column::Tool,
        Column::Rule,
        Column::About,
    ];

    fn title(self) -> &'static str {
        match self {
            Column::Seq => "RECORD",
            Column::Time => "TIME",
            Column::Outcome => "OUTCOME",
            Column::Agent => "AGENT",
            Column::Session => "SESSION",
            Column::Tool => "TOOL",
            Column::Rule => "RULE",
            Column::About => "CALL",
        }
    }

    /// How wide a column is for records that are still to come.
    fn usual(self) -> usize {
        match self {
            Column::Seq | Column::Time | Column::About => 0,
            Column::Outcome => "approved".len(),
            Column::Agent => "claude-code".len(),
            Column::Session => 8,
            Column::Tool => 10,
            Column::Rule => 22,
        }
    }

    /// How wide a column may get in a terminal of a width; none where it is left out.
    fn most(self, width: Option<usize>) -> Option<usize> {
        let Some(width) = width else {
            return Some(usize::MAX);
        };
        match self {
            Column::Seq | Column::Outcome => Some(usize::MAX),
            Column::Time => (width >= 50).then_some(usize::MAX),
            Column::Agent => (width >= 110).then_some(14),
            Column::Session => (width >= 140).then_some(12),
            Column::Tool => Some(width / 7),
            Column::Rule => (width >= 100).then_some((width / 4).min(32)),
            Column::About => Some(usize::MAX),
        }
    }
}

/// A record's cells, safe to show.
pub(super) struct Row {
    day: String,
    cells: [String; Column::ALL.len()],
    colour: Option<Verdict>,
}

impl Row {
    /// The row of a record. With a width, the day stands above the rows and not in each.
    pub(super) fn from_record(record: &Record, width: Option<usize>) -> Self {
        let (outcome, colour) = outcome(record);
        let (day, clock) = record.time.split_once('T').unwrap_or(("", &record.time));
        let clock = clock.split('.').next().unwrap_or_default();
        let time = match width {
            Some(_) => clock.to_owned(),
            None => format!("{day}T{clock}Z"),
        };
        let text =
            |field: &Option<String>| escape_for_display(field.as_deref().unwrap_or("-"), MAX_CELL);
        Self {
            day: escape_for_display(day, 20),
            cells: [
                record.seq.to_string(),
                escape_for_display(&time, 40),
                outcome.to_owned(),
                text(&record.agent),
                text(&record.session),
                text(&record.tool),
                text(&record.rule),
                escape_for_display(&about(record), MAX_CELL),
            ],
            colour,
        }
    }

    fn cell(&self, column: Column) -> &str {
        let at = Column::ALL.iter().position(|one| *one == column);
        at.and_then(|at| self.cells.get(at))
            .map_or("", String::as_str)
    }
}

/// Whether rows follow those a table is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum More {
    /// They may.
    MayCome,
    /// None does.
    None,
}

/// A table whose columns were measured.
pub(super) struct Table {
    columns: Vec<(Column, usize)>,
    width: Option<usize>,
    day: String,
}

impl Table {
    /// Columns as wide as these rows need, and those that may follow, within what the terminal has.
    pub(super) fn measured(rows: &[Row], more: More, width: Option<usize>) -> Self {
        let mut columns = Vec::new();
        let mut taken = 0;
        for column in Column::ALL {
            let Some(most) = column.most(width) else {
                continue;
            };
            let widest = rows.iter().map(|row| cell_width(row.cell(column))).max();
            let usual = match more {
                More::MayCome => column.usual(),
                More::None => 0,
            };
            let room = widest
                .unwrap_or_default()
                .max(usual)
                .max(column.title().len())
                .min(most);
            columns.push((column, room));
            taken += room + GAP.len();
        }
        // The last column has what is left.
        if let (Some(width), Some((_, last))) = (width, columns.last_mut()) {
            taken -= *last + GAP.len();
            *last = width.saturating_sub(taken).max(MIN_LAST_COLUMN);
        }
        Self {
            columns,
            width,
            day: String::new(),
        }
    }

    pub(super) fn print_title(&self, terminal: &mut Terminal) -> anyhow::Result<()> {
        let mut line = String::new();
        for (column, room) in &self.columns {
            let title = column.title();
            let cell = if *column == Column::Seq {
                format!("{title:>room$}")
            } else {
                fitted(title, *room)
            };
            line.push_str(&cell);
            line.push_str(GAP);
        }
        let line = terminal.faint(line.trim_end());
        writeln!(terminal.out, "{line}")?;
        Ok(())
    }

    pub(super) fn print(&mut self, row: &Row, terminal: &mut Terminal) -> anyhow::Result<()> {
        if self.width.is_some() && row.day != self.day {
            self.day.clone_from(&row.day);
            let day = terminal.heading(&row.day);
            writeln!(terminal.out, "{day} {}", terminal.faint("UTC"))?;
        }
        let last = self.columns.len().saturating_sub(1);
        for (at, (column, room)) in self.columns.iter().enumerate() {
            let text = row.cell(*column);
            let cell = if *column == Column::Seq {
                format!("{text:>room$}")
            } else if self.width.is_none() {
                padded(text.to_owned(), *room)
            } else {
                fitted(text, *room)
            };
            let cell = if at == last { cell.trim_end() } else { &cell };
            let cell = match (column, row.colour) {
                (Column::Outcome, Some(verdict)) => terminal.like(verdict, cell),
                (Column::Seq | Column::Time, _) => terminal.faint(cell),
                _ => cell.to_owned(),
            };
            let gap = if at == last { "\n" } else { GAP };
            write!(terminal.out, "{cell}{gap}")?;
        }
        Ok(())
    }
}
