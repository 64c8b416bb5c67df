//! What a fence, a quotation, a string or a field holds, and what single words are handed out one by one, judged as if
//! nothing stood around it.
//!
//! Talk about attacks makes less of what stands in it, and whoever attacks can bring his own talk. So what is set apart and
//! suspect is read once more by itself. What would be withheld there is annotated here, whatever is said of it.

use std::borrow::Cow;
use std::ops::Range;

use crate::classify::{self, Judged, Model};
use crate::detect;
use crate::normal;
use crate::words::{self, Word};
use crate::{Origin, Severity};

use super::{Family, Finding};

/// Adds a finding for everything set apart in a text that touches what is suspect in it and would be withheld by itself.
pub fn judge(
    model: &Model<'_>,
    text: &str,
    origin: Origin,
    suspects: Vec<Range<usize>>,
    findings: &mut Vec<Finding>,
) {
    let orders = findings
        .iter()
        .filter(|it| it.family.is_order() && it.severity < Severity::High);
    let orders = orders.map(|it| it.span.clone());
    let suspects = Suspects::new(suspects.into_iter().chain(orders).collect());
    if suspects.0.is_empty() {
        return;
    }
    let mut room: Vec<Word> = Vec::new();
    let mut budget = text.len().saturating_mul(READINGS);
    let mut unread: Option<Range<usize>> = None;
    for part in parts(text) {
        // Shorter ones hold no words enough, whatever they are.
        if part.span.len() < 2 * part.holder.min_words() {
            continue;
        }
        let Some(span) = suspects.within(&part.span) else {
            continue;
        };
        let is_known = |it: &Finding| {
            it.span.start < part.span.end
                && part.span.start < it.span.end
                && (it.severity >= Severity::High || it.rule == classify::TOLD)
        };
        if findings.iter().any(is_known) {
            continue;
        }
        let from = text.floor_char_boundary(part.span.start.max(span.start.saturating_sub(REACH)));
        let to = text.ceil_char_boundary(part.span.end.min(span.end.saturating_add(REACH)));
        let inside = text.get(from..to).unwrap_or_default();
        let Some(left) = budget.checked_sub(inside.len()) else {
            let before = unread.unwrap_or(from..to);
            unread = Some(before.start.min(from)..before.end.max(to));
            continue;
        };
        budget = left;
        let said = part.holder.contents(inside);
        if said
            .split_whitespace()
            .nth(part.holder.min_words() - 1)
            .is_some()
            && is_withheld(model, &said, origin, &mut room)
        {
            let reason = "what is told of here, or said to be, gives orders by itself";
            findings.push(told(from..to, reason));
        }
    }
    // One for all of them: there may be as many as there are lines.
    if let Some(span) = unread {
        let reason =
            "so much is set apart within what is set apart that not all of it was read by itself";
        findings.push(told(span, reason));
    }
}

fn told(span: Range<usize>, reason: &'static str) -> Finding {
    Finding {
        family: Family::Statistical,
        severity: Severity::Medium,
        rule: classify::TOLD.into(),
        reason: reason.into(),
        span,
        disguises: normal::Disguises::default(),
    }
}

/// Whether a text gives orders beyond doubt, with nothing around it.
fn is_withheld(model: &Model<'_>, text: &str, origin: Origin, room: &mut Vec<Word>) -> bool {
    let mut found = Vec::new();
    let mut judged = Judged::new(text);
    for view in &normal::read(text).views {
        words::split(&view.text, room);
        detect::detect(view, room, origin, &mut found);
        model.classify(view, room, origin, &mut judged, &mut found);
    }
    found
        .iter()
        .any(|it| it.family.is_order() && it.severity >= Severity::High)
}

/// The places of a text that are suspect, in its order and none touching another.
struct Suspects(Vec<Range<usize>>);

impl Suspects {
    fn new(mut spans: Vec<Range<usize>>) -> Self {
        spans.sort_by_key(|span| span.start);
        let mut apart: Vec<Range<usize>> = Vec::new();
        for span in spans {
            match apart.last_mut() {
                Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
                _ => apart.push(span),
            }
        }
        Self(apart)
    }

    /// What is suspect in a part, from the first place to the last.
    fn within(&self, part: &Range<usize>) -> Option<Range<usize>> {
        let first = self.0.partition_point(|span| span.end <= part.start);
        let end = self.0.partition_point(|span| span.start < part.end);
        let inside = self.0.get(first..end)?;
        Some(inside.first()?.start..inside.last()?.end)
    }
}

/// A string of a program as it is read.
fn unescaped(string: &str) -> String {
    let string = string.replace("\\\\", "\\").replace("\\r", "");
    let string = string.replace("\\n", "\n").replace("\\t", "\t");
    string.replace("\\\"", "\"").replace("\\'", "'")
}

/// A part of a text that is set apart.
struct Part {
    span: Range<usize>,
    holder: Holder,
}

/// What sets a part of a text apart.
#[derive(Clone, Copy)]
enum Holder {
    /// A fence of Markdown.
    Fence,
    /// Lines with a sign of quotation before them.
    Quotation,
    /// The lines below a name, further in.
    Field,
    /// The rows of a table.
    Table,
    /// Strings of a word each, one after the other.
    Strings,
    /// Lines of a word each.
    Lines,
    /// A string of a program, the value of a field, an element of a list, a cell of a table.
    String,
    /// Quotes in a sentence.
    Quotes,
}

impl Holder {
    /// Without what holds them, the words of a part.
    fn contents(self, part: &str) -> Cow<'_, str> {
        match self {
            Holder::Fence => Cow::Borrowed(part),
            Holder::Quotation => {
                let lines = part.lines().map(|line| {
                    let line = line.trim_start().trim_start_matches('>');
                    line.strip_prefix(' ').unwrap_or(line)
                });
                Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
            }
            Holder::Field => {
                let lines = part.lines().map(str::trim_start);
                Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
            }
            Holder::Table => Cow::Owned(read_across(part)),
            Holder::Strings => {
                let mut words = Vec::new();
                quoted(part, |inside, _| {
                    words.push(part.get(inside).unwrap_or_default())
                });
                Cow::Owned(unescaped(&words.join(" ")))
            }
            Holder::Lines => {
                let words: Vec<&str> = part.split_whitespace().collect();
                Cow::Owned(words.join(" "))
            }
            Holder::String if part.contains('\\') => Cow::Owned(unescaped(part)),
            Holder::String | Holder::Quotes => Cow::Borrowed(part),
        }
    }

    /// Fewer words are a name for an order and not one. A list of them is what filters are made of.
    fn min_words(self) -> usize {
        match self {
            Holder::Fence | Holder::Quotation | Holder::Field | Holder::Table => MIN_WORDS,
            Holder::Strings | Holder::Lines => MIN_LISTED,
            Holder::String => MIN_STRING,
            Holder::Quotes => MIN_QUOTED,
        }
    }
}

/// What is set apart in a text, what is further inside first.
fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut fence: Option<usize> = None;
    let mut quotation: Option<Range<usize>> = None;
    let mut table: Option<Range<usize>> = None;
    // Where the lines below a name begin, and how far in the name stands.
    let mut field: Option<(Range<usize>, usize)> = None;
    let mut outer = Vec::new();
    let mut strings = List::new(Holder::Strings);
    let mut lines = List::new(Holder::Lines);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        let inner = line.trim_start();
        let depth = line.len() - inner.len();
        if let Some((span, of_name)) = &mut field {
            if inner.is_empty() || depth > *of_name {
                span.end = end;
            } else {
                let span = span.clone();
                parts.push(Part {
                    span,
                    holder: Holder::Field,
                });
                field = None;
            }
        }
        if field.is_none() && opens_field(inner) {
            field = Some((end..end, depth));
        }
        if inner.starts_with('>') {
            let start = quotation.map_or(start, |span| span.start);
            quotation = Some(start..end);
        } else if let Some(span) = quotation.take() {
            parts.push(Part {
                span,
                holder: Holder::Quotation,
            });
        }
        if inner.starts_with('|') {
            let start = table.map_or(start, |span| span.start);
            table = Some(start..end);
            cells(line, end - line.len(), &mut parts);
        } else if let Some(span) = table.take() {
            parts.push(Part {
                span,
                holder: Holder::Table,
            });
        }
        if inner.starts_with("```") || inner.starts_with("~~~") {
            fence = match fence {
                Some(from) => {
                    outer.push(Part {
                        span: from..start,
                        holder: Holder::Fence,
                    });
                    None
                }
                None => Some(end),
            };
        } else {
            quoted(line, |inside, holder| {
                let said = line.get(inside.clone()).unwrap_or_default();
                let span = start + inside.start..start + inside.end;
                let is_word = !said.is_empty() && !said.contains(' ');
                // With its quotes, so that it is known for a string. Typographic ones are in no program.
                if is_word && let Some(b'"' | b'`') = line.as_bytes().get(inside.end) {
                    strings.add(text, span.start - 1..span.end + 1, &mut outer);
                }
                parts.push(Part { span, holder });
            });
        }
        let said = inner.trim_end();
        if !said.is_empty() && !said.contains([' ', '\t']) {
            let from = start + depth;
            lines.add(text, from..from + said.len(), &mut outer);
        }
    }
    strings.end(&mut outer);
    lines.end(&mut outer);
    let rest = [
        field.map(|(span, _)| (span, Holder::Field)),
        quotation.map(|span| (span, Holder::Quotation)),
        table.map(|span| (span, Holder::Table)),
        fence.map(|from| (from..text.len(), Holder::Fence)),
    ];
    let rest = rest.into_iter().flatten();
    parts.extend(rest.map(|(span, holder)| Part { span, holder }));
    parts.append(&mut outer);
    parts
}

/// Whether a line is a name whose text stands on the lines below: `prompt: |`.
fn opens_field(line: &str) -> bool {
    let line = line.trim_end();
    let line = line.strip_suffix(['-', '+']).unwrap_or(line);
    let Some(name) = line.strip_suffix(['|', '>']) else {
        return false;
    };
    let name = name.trim_end();
    name.len() <= MAX_NAME && name.ends_with(':') && !name.starts_with(['>', '|', '<'])
}

/// The sentence that the cells of a table are the words of; nothing of a table whose cells say something by themselves.
fn read_across(rows: &str) -> String {
    let cells = rows.lines().flat_map(|line| line.split('|'));
    let cells: Vec<&str> = cells
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .collect();
    let words: usize = cells
        .iter()
        .map(|cell| cell.split_whitespace().count())
        .sum();
    if words * 2 > cells.len() * 3 {
        return String::new();
    }
    cells.join(" ")
}

/// Adds the cells of a row.
fn cells(line: &str, start: usize, parts: &mut Vec<Part>) {
    let mut at = start;
    for cell in line.split('|') {
        parts.push(Part {
            span: at..at + cell.len(),
            holder: Holder::String,
        });
        at += cell.len() + 1;
    }
}

/// Words that follow each other with nothing but signs between them.
struct List {
    holder: Holder,
    span: Range<usize>,
    count: usize,
}

impl List {
    fn new(holder: Holder) -> Self {
        Self {
            holder,
            span: 0..0,
            count: 0,
        }
    }

    fn add(&mut self, text: &str, word: Range<usize>, parts: &mut Vec<Part>) {
        let seam = text.get(self.span.end..word.start).unwrap_or_default();
        if self.count > 0 && seam.len() <= MAX_SEAM && !seam.contains(char::is_alphanumeric) {
            self.span.end = word.end;
            self.count += 1;
        } else {
            self.end(parts);
            self.span = word;
            self.count = 1;
        }
    }

    fn end(&mut self, parts: &mut Vec<Part>) {
        if self.count >= MIN_LISTED {
            parts.push(Part {
                span: self.span.clone(),
                holder: self.holder,
            });
        }
        self.count = 0;
    }
}

/// Calls `each` with what stands in quotes on a line.
fn quoted(line: &str, mut each: impl FnMut(Range<usize>, Holder)) {
    let mut open: Option<(char, usize)> = None;
    let mut is_escaped = false;
    for (at, c) in line.char_indices() {
        if std::mem::take(&mut is_escaped) {
            continue;
        }
        match open {
            _ if c == '\\' => is_escaped = true,
            Some((close, from)) if c == close => {
                let holder = if is_in_sentence(line, from) {
                    Holder::Quotes
                } else {
                    Holder::String
                };
                each(from..at, holder);
                open = None;
            }
            Some(_) => {}
            None => {
                let close = QUOTES.iter().find(|(open, _)| *open == c);
                open = close.map(|(_, close)| (*close, at + c.len_utf8()));
            }
        }
    }
}

/// Whether quotes that open before a place of a line belong to a sentence: words lead to them, and no name of a field.
fn is_in_sentence(line: &str, inside: usize) -> bool {
    let before = line.get(..inside).unwrap_or_default();
    let mut before = before.chars();
    before.next_back();
    let before = before.as_str();
    let lead = before.trim_end();
    if lead.ends_with(['=', '(', '[', '{', '\\']) || lead.len() == before.len() && !lead.is_empty()
    {
        return false;
    }
    let lead = lead.trim_start_matches(|c: char| !c.is_alphanumeric());
    let words = lead.split_whitespace().count();
    words > 2 || words > 0 && lead.ends_with(char::is_alphanumeric)
}

/// How a string or a quotation in a line begins and ends. An apostrophe is seldom one.
const QUOTES: [(char, char); 5] = [
    ('"', '"'),
    ('`', '`'),
    ('\u{201c}', '\u{201d}'),
    ('\u{ab}', '\u{bb}'),
    ('\u{300c}', '\u{300d}'),
];

/// How often all of a text is read at most: in a string, a list of them, a cell or a quotation, a table, a field and a fence.
/// Texts that take more of it are made for that.
const READINGS: usize = 6;

/// Fewer words are no order.
const MIN_WORDS: usize = 3;

/// Fewer words one by one are a list of names.
const MIN_LISTED: usize = 6;

/// How much stands at most between two words of a list.
const MAX_SEAM: usize = 24;

/// How many words of a string are more than a name for what they say, and how many in the quotes of a sentence.
const MIN_STRING: usize = 8;
const MIN_QUOTED: usize = 16;

/// How long the name of a field is at most, with what stands before it.
const MAX_NAME: usize = 60;

/// How much is read on either side of what is suspect: no talk reaches further.
const REACH: usize = 4 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<Finding> {
        let mut findings = Vec::new();
        let whole = 0..text.len();
        let model = Model::shipped().unwrap();
        judge(&model, text, Origin::Web, Vec::from([whole]), &mut findings);
        findings
    }

    #[test]
    fn what_is_not_read_any_more_is_annotated() {
        let word = "flour".repeat(24);
        let rows = format!(" |\"{word}\"|\n").repeat(8);
        // In strings, a list of them, a cell, a table and a field, and lines of a word each: all is read.
        assert!(found(&format!("a: |\n{rows}")).is_empty());
        // In a fence as well, more often than anybody reads.
        let text = format!("```\na: |\n{rows}```\n");
        let findings = found(&text);
        let [finding] = findings.as_slice() else {
            panic!("{findings:#?}")
        };
        assert_eq!(finding.rule, classify::TOLD);
        assert_eq!(finding.severity, Severity::Medium);
        assert!(finding.reason.contains("not all of it was read"));
        assert!(finding.span.len() > text.len() / 2, "{finding:#?}");
    }
}
