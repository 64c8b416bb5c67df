//! A sentence handed out in pieces: strings of an array, a sum or numbered fields, cells of a table,
//! lines of a single word or letter.

use std::ops::Range;

use super::super::Disguise;
use super::super::pieces::{Draft, Made};
use super::passage;

/// Puts short strings together that have the same between them.
pub(super) fn strings<'t>(text: &'t str, places: &[usize], draft: &mut Draft<'t>) {
    let mut run: Vec<Range<usize>> = Vec::new();
    let mut usual: Option<Vec<u8>> = None;
    for place in places {
        if draft.is_full() {
            return;
        }
        let Some(opening) = opening(text, *place) else {
            continue;
        };
        let piece = opening + 1..*place;
        let seam = match run.last() {
            // It is where the next string begins.
            Some(last) if last.end == opening => continue,
            Some(last) => shape(text, last.end + 1..opening),
            None => None,
        };
        let goes_on = seam.is_some() && (run.len() == 1 || seam == usual);
        if !goes_on {
            gather(text, &run, usual.as_deref(), draft);
            run.clear();
        }
        usual = seam;
        run.push(piece);
    }
    gather(text, &run, usual.as_deref(), draft);
}

/// The quote that begins the short string which ends at `place`.
fn opening(text: &str, place: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let quote = bytes.get(place)?;
    let start = place.saturating_sub(MAX_PIECE);
    let piece = bytes.get(start..place)?;
    let back = piece
        .iter()
        .rev()
        .position(|byte| byte == quote || *byte == b'\n')?;
    let opening = place - 1 - back;
    (back > 0 && bytes.get(opening) == Some(quote)).then_some(opening)
}

/// What stands between two strings, whatever its numbers and line ends. Nothing if they are too far apart.
fn shape(text: &str, between: Range<usize>) -> Option<Vec<u8>> {
    if between.is_empty() || between.len() > WIDEST_SEAM {
        return None;
    }
    let mut shape = Vec::new();
    for byte in text.as_bytes().get(between)? {
        let sign = match byte {
            b' ' | b'\t' | b'\r' | b'\n' | b'/' | b'#' | b'*' | b'\\' => continue,
            byte if byte.is_ascii_digit() => b'0',
            byte => *byte,
        };
        if !(sign == b'0' && shape.last() == Some(&b'0')) {
            shape.push(sign);
        }
    }
    // Names of a single letter count up like numbers.
    if let [.., b'"', letter, b'"', b':'] = shape.as_mut_slice() {
        *letter = b'0';
    }
    Some(shape)
}

fn gather<'t>(text: &'t str, run: &[Range<usize>], seam: Option<&[u8]>, draft: &mut Draft<'t>) {
    if run.len() < 2 {
        return;
    }
    let piece = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
    let parted = run
        .iter()
        .filter(|range| piece(range).contains(' '))
        .count();
    let foreign = run.iter().any(|range| !piece(range).is_ascii());
    // Names that count up say that the strings belong together.
    let numbered = matches!(seam, Some([.., b'0', b'"', b':'] | [.., b'0', b':' | b'=']));
    let whole: usize = run.iter().map(Range::len).sum();
    let (fewest, longest) = if numbered {
        (2, MAX_PIECE)
    } else {
        (MIN_PIECES, ORDINARY_PIECE)
    };
    if run.len() < fewest || whole > longest * run.len() {
        return;
    }
    if parted * 3 < run.len() && !foreign && !is_sentence(run, piece) {
        return;
    }
    let cut = run.iter().any(|range| {
        let piece = piece(range);
        piece.starts_with(' ') || piece.ends_with(' ')
    });
    // Where gaps are in the pieces none is missing between them; else nobody knows.
    let gaps: &[&str] = if cut { &[""] } else { &[" ", ""] };
    // What stands around them tells whether a sentence is meant or talked about.
    let (Some(first), Some(last)) = (run.first(), run.last()) else {
        return;
    };
    let context = CONTEXT.min(whole);
    let start = text.floor_char_boundary(first.start.saturating_sub(context));
    let after = text.floor_char_boundary(text.len().min(last.end + context));
    for gap in gaps {
        draft.copy(start..first.start);
        let mut end = None;
        for range in run {
            if let Some(end) = end.replace(range.end) {
                draft.add(end..range.start, gap, Made::Undone(Disguise::Split));
            }
            draft.copy(range.clone());
        }
        draft.copy(last.end..after);
        draft.end_segment();
    }
}

/// Whether strings of a word each are those of a sentence: many, some of them as short as the words every language ties
/// the others together with, and not put in order as lists of names are.
fn is_sentence<'t>(run: &[Range<usize>], piece: impl Fn(&Range<usize>) -> &'t str) -> bool {
    let is_word = |word: &str| word.chars().filter(|c| c.is_alphabetic()).count() * 2 > word.len();
    let (mut words, mut short, mut rising) = (0, 0, 0);
    let mut before = "";
    for range in run {
        let word = piece(range);
        words += usize::from(is_word(word));
        short += usize::from(word.len() <= SHORT_WORD && is_word(word));
        rising += usize::from(before <= word);
        before = word;
    }
    run.len() >= MIN_WORDS
        && words * 5 >= run.len() * 4
        && short * 8 >= run.len()
        && rising * 5 <= run.len() * 4
}

/// Reads rows of tables across their cells; rows of a word a cell that follow each other are one sentence, and so are the
/// cells below each other in a column of single words.
pub(super) fn cells<'t>(text: &'t str, places: &[usize], draft: &mut Draft<'t>) {
    let mut bars = places.iter().copied().peekable();
    let mut rows: Vec<Row> = Vec::new();
    for line in passage::all(text, places) {
        let mut row = Row {
            line,
            bars: Vec::new(),
        };
        while let Some(bar) = bars.next_if(|bar| *bar < row.line.end) {
            row.bars.push(bar);
        }
        if draft.is_full() {
            return;
        }
        let follows = rows.last().is_some_and(|last| {
            let between = text.get(last.line.end..row.line.start).unwrap_or_default();
            // The last row of a sentence may end before the others.
            between.trim().is_empty() && row.bars.len() <= last.bars.len()
        });
        if !follows {
            columns(text, &rows, draft);
            rows.clear();
        }
        let goes_on = follows && row.is_of_words(text) && is_wide(&rows);
        if row.bars.len() >= MIN_PIECES || goes_on {
            across(text, &row, follows, draft);
        }
        rows.push(row);
    }
    columns(text, &rows, draft);
}

/// Whether rows begin with one that is read across.
fn is_wide(rows: &[Row]) -> bool {
    rows.first().is_some_and(|row| row.bars.len() >= MIN_PIECES)
}

/// Adds the word in the last row of a table, if it stands there alone: there is no bar between cells to find it by.
fn last_word<'t>(text: &'t str, rows: &[Row], draft: &mut Draft<'t>) {
    let Some(last) = rows
        .last()
        .filter(|row| is_wide(rows) && row.is_of_words(text))
    else {
        return;
    };
    let rest = text.get(last.line.end..).unwrap_or_default();
    let line = rest.strip_prefix('\n').unwrap_or_default();
    let line = line.split('\n').next().unwrap_or_default();
    let cell = line
        .strip_prefix("| ")
        .and_then(|it| it.trim_end().strip_suffix(" |"));
    if let Some(cell) = cell.filter(|cell| cell.len() <= MAX_LINE && !cell.contains([' ', '|'])) {
        let start = last.line.end + "\n| ".len();
        draft.copy(start..start + cell.len());
    }
}

/// A line of a table and the bars in it.
struct Row {
    line: Range<usize>,
    bars: Vec<usize>,
}

impl Row {
    /// What stands in its cells. The bars at its ends are none of those between cells.
    fn cells<'t>(&self, text: &'t str) -> impl Iterator<Item = (Range<usize>, &'t str)> {
        let starts = std::iter::once(self.line.start).chain(self.bars.iter().map(|bar| bar + 1));
        let ends = self.bars.iter().copied().chain([self.line.end]);
        let frame = |c: char| c == '|' || c.is_whitespace();
        starts.zip(ends).map(move |(start, end)| {
            let cell = text.get(start..end).unwrap_or_default();
            let says = cell.trim_start_matches(frame);
            let start = start + (cell.len() - says.len());
            let says = says.trim_end_matches(frame);
            (start..start + says.len(), says)
        })
    }

    fn is_of_words(&self, text: &str) -> bool {
        self.cells(text).all(|(_, cell)| !cell.contains(' '))
    }
}

/// Adds a row without its bars. One of single words goes on with the sentence of the row before.
fn across<'t>(text: &'t str, row: &Row, follows: bool, draft: &mut Draft<'t>) {
    let joins = row.is_of_words(text);
    if !(joins && follows) {
        draft.end_segment();
    }
    // The bar before the first cell stays: it tells that this is a table.
    let mut copied = row.line.start;
    for bar in &row.bars {
        draft.copy(copied..*bar);
        draft.add(*bar..bar + 1, "", Made::Undone(Disguise::Split));
        copied = bar + 1;
    }
    draft.copy(copied..row.line.end);
    if joins {
        draft.add(
            row.line.end..row.line.end,
            " ",
            Made::Undone(Disguise::Split),
        );
    } else {
        draft.end_segment();
    }
}

/// Adds the columns of a table whose cells are words of a sentence.
fn columns<'t>(text: &'t str, rows: &[Row], draft: &mut Draft<'t>) {
    last_word(text, rows, draft);
    draft.end_segment();
    let width = rows.first().map_or(0, |row| row.bars.len() + 1);
    if rows.len() < MIN_WORDS {
        return;
    }
    for column in 0..width.min(MAX_COLUMNS) {
        let cells: Vec<Range<usize>> = rows
            .iter()
            .filter_map(|row| row.cells(text).nth(column))
            .filter(|(_, says)| !says.is_empty())
            .map(|(range, _)| range)
            .collect();
        let piece = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
        if cells.iter().any(|range| piece(range).contains(' ')) || !is_sentence(&cells, piece) {
            continue;
        }
        let mut end = None;
        for range in cells {
            if let Some(end) = end.replace(range.end) {
                draft.add(end..range.start, " ", Made::Undone(Disguise::Split));
            }
            draft.copy(range);
        }
        draft.end_segment();
    }
}

/// Puts lines into one where every other is empty or has a single letter.
pub(super) fn lines<'t>(text: &'t str, places: &[usize], draft: &mut Draft<'t>) {
    let mut places = places.iter().copied().peekable();
    while let Some(first) = places.next() {
        let (mut last, mut count) = (first, 1);
        while let Some(next) = places.next_if(|next| next - last <= MAX_LINE) {
            last = next;
            count += 1;
        }
        if draft.is_full() {
            return;
        }
        if count >= MIN_LINES {
            let start = passage::around(
                text,
                first.saturating_sub(MAX_LINE).max(line_before(text, first)),
            )
            .start;
            let end = passage::around(text, text.len().min(last + 1)).end;
            in_one_line(text, start..end, draft);
        }
    }
}

/// Where the line begins that stands before the one which ends at `newline`.
fn line_before(text: &str, newline: usize) -> usize {
    let before = text.get(..newline).unwrap_or_default();
    let near = text.floor_char_boundary(newline.saturating_sub(2 * MAX_LINE));
    let mut starts = before.get(near..).unwrap_or_default().rmatch_indices('\n');
    starts.nth(1).map_or(near, |(at, _)| near + at + 1)
}

fn in_one_line<'t>(text: &'t str, range: Range<usize>, draft: &mut Draft<'t>) {
    let mut at = range.start;
    let mut ended: Option<(usize, usize)> = None;
    for line in text.get(range).unwrap_or_default().split_inclusive('\n') {
        let start = at;
        at += line.len();
        let says = line.trim_end();
        let says = says.trim_start_matches([' ', '\t', '/', '#', '*', '>']);
        if says.is_empty() {
            ended = ended.map(|(end, blank)| (end, blank + 1));
            continue;
        }
        let from = start + line.find(says).unwrap_or(0);
        if let Some((end, blank)) = ended {
            let gap = if blank > 0 { "   " } else { " " };
            draft.add(end..from, gap, Made::Undone(Disguise::Split));
        }
        draft.copy(from..from + says.len());
        ended = Some((from + says.len(), 0));
    }
    draft.end_segment();
}

/// Fewer pieces are no sentence.
const MIN_PIECES: usize = 3;
/// Fewer strings of a word each are a list of names, which programs are full of.
const MIN_WORDS: usize = 6;
/// Words this short tie others together.
const SHORT_WORD: usize = 3;
/// Nobody reads a wider table column by column.
const MAX_COLUMNS: usize = 12;
/// Longer strings say something by themselves.
const ORDINARY_PIECE: usize = 48;
const MAX_PIECE: usize = 192;
const WIDEST_SEAM: usize = 64;
const CONTEXT: usize = 160;
/// Fewer lines are an ordinary text.
const MIN_LINES: usize = 4;
const MAX_LINE: usize = 40;
