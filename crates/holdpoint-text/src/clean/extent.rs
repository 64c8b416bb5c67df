//! How much of a text goes with a finding: more than the words that gave it away, so that the rest of
//! an order does not stay behind.

use std::ops::Range;

use crate::classify;
use crate::inspection::{Family, Finding};
use crate::normal::Disguise;

/// How far to either side a finding is widened at most.
const MAX_REACH: usize = 600;

/// How long an invented turn or a comment is at most.
const MAX_LENGTH: usize = 4096;

/// How long a line of wrapped prose is at least; a shorter one ends where it ends.
const WRAPPED: usize = 50;

/// The part of `text` that goes with a finding.
pub(super) fn of_finding(text: &str, finding: &Finding) -> Range<usize> {
    let span = &finding.span;
    match finding.family {
        Family::Hidden
        | Family::Terminal
        | Family::Secret
        | Family::Markup
        | Family::Policy
        | Family::Dependency => span.clone(),
        Family::Template => element(text, span),
        Family::Disguised => run(text, span),
        Family::Override
        | Family::Role
        | Family::Turn
        | Family::ToolResult
        | Family::Addressed
        | Family::Exfiltration
        | Family::SecretRequest
        | Family::CommandRequest
        | Family::Concealment
        | Family::ToolDescription
        | Family::Jailbreak
        | Family::Statistical => {
            if is_encoded(finding) {
                return run(text, span);
            }
            let comment = comment(text, span);
            if let Some(comment) = comment {
                return comment;
            }
            let core = if finding.family == Family::Statistical {
                leaning_part(text, span)
            } else {
                span.clone()
            };
            followed(text, &core)
        }
    }
}

/// The paragraph around a part of a text: for what comes back however often it is taken out.
pub(super) fn paragraph(text: &str, span: &Range<usize>) -> Range<usize> {
    let before = text.get(..span.start).unwrap_or_default();
    let behind = text.get(span.end..).unwrap_or_default();
    let start = before.rfind("\n\n").map_or(0, |place| place + 2);
    let end = behind
        .find("\n\n")
        .map_or(text.len(), |place| span.end + place);
    start..end
}

/// Whether the finding was read out of an encoding, so that what stands there is no sentence.
fn is_encoded(finding: &Finding) -> bool {
    [
        Disguise::Base64,
        Disguise::Hex,
        Disguise::Escape,
        Disguise::Percent,
        Disguise::Tags,
        Disguise::Selectors,
    ]
    .into_iter()
    .any(|disguise| finding.disguises.has(disguise))
}

/// The run of anything but white space around a part.
fn run(text: &str, span: &Range<usize>) -> Range<usize> {
    let around = around(text, span, MAX_REACH);
    let before = text.get(around.start..span.start).unwrap_or_default();
    let behind = text.get(span.end..around.end).unwrap_or_default();
    let stops = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>');
    let start = before
        .char_indices()
        .rev()
        .find(|(_, c)| stops(*c))
        .map_or(around.start, |(at, c)| around.start + at + c.len_utf8());
    let end = behind.find(stops).map_or(around.end, |at| span.end + at);
    start..end
}

/// A token and, if another token of its kind closes what it opens, everything up to that one.
fn element(text: &str, span: &Range<usize>) -> Range<usize> {
    const PAIRS: [(&str, &str); 6] = [
        ("<|im_start|>", "<|im_end|>"),
        ("[inst]", "[/inst]"),
        ("<<sys>>", "<</sys>>"),
        ("<|system|>", "<|end|>"),
        ("<|start_header_id|>", "<|eot_id|>"),
        ("<start_of_turn>", "<end_of_turn>"),
    ];
    let around = around(text, span, MAX_LENGTH);
    let token = text
        .get(span.clone())
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let behind = text
        .get(span.end..around.end)
        .unwrap_or_default()
        .to_ascii_lowercase();
    let close = PAIRS
        .iter()
        .filter(|(open, _)| token.starts_with(open))
        .find_map(|(_, close)| Some(behind.find(close)? + close.len()));
    match close {
        Some(length) => span.start..span.end + length,
        None => span.clone(),
    }
}

/// The comment of HTML a part stands in, as a whole: nobody sees any of it.
fn comment(text: &str, span: &Range<usize>) -> Option<Range<usize>> {
    let around = around(text, span, MAX_LENGTH);
    let before = text.get(around.start..span.start)?;
    let open = before.rfind("<!--")?;
    if before.get(open..)?.contains("-->") {
        return None;
    }
    let behind = text.get(span.end..around.end)?;
    let close = behind.find("-->")? + "-->".len();
    Some(around.start + open..span.end + close)
}

/// The sentence or sentences a part stands in.
fn sentence(text: &str, span: &Range<usize>) -> Range<usize> {
    let whole = line(text, span);
    let span = &with_closing_quote(text, span, &whole);
    let before = text.get(whole.start..span.start).unwrap_or_default();
    let behind = text.get(span.end..whole.end).unwrap_or_default();
    let start = last_end(before).map_or(whole.start, |at| whole.start + at);
    // A part that ends its own sentence already needs nothing of the next.
    let closed = text
        .get(span.clone())
        .is_some_and(|part| part.trim_end().ends_with(ENDS));
    let end = match closed {
        true => span.end,
        false => first_end(behind).map_or(whole.end, |at| span.end + at),
    };
    let lead = text
        .get(start..span.start)
        .map_or(0, |lead| lead.len() - lead.trim_start().len());
    start + lead..end
}

/// A part with the quote that closes one it opens: a command in backticks that a finding ends in the middle of does not
/// end the sentence.
fn with_closing_quote(text: &str, span: &Range<usize>, line: &Range<usize>) -> Range<usize> {
    let part = text.get(span.clone()).unwrap_or_default();
    let behind = text.get(span.end..line.end).unwrap_or_default();
    let closings = ['"', '`']
        .into_iter()
        .filter(|quote| is_unpaired(*quote, part));
    let last = closings
        .filter_map(|quote| Some(behind.find(quote)? + quote.len_utf8()))
        .max();
    span.start..span.end + last.unwrap_or_default()
}

/// The sentences of a part that lean to orders: what was found by so many words in a row has honest ones among them.
fn leaning_part(text: &str, span: &Range<usize>) -> Range<usize> {
    let whole = sentence(text, span);
    let leaning: Vec<(Range<usize>, f32)> = sentences(text, whole.clone())
        .map(|part| (part.clone(), classify::leaning(text, part)))
        .collect();
    let highest = leaning.iter().map(|(_, it)| *it).fold(f32::MIN, f32::max);
    let least = LEANING.min(highest);
    let leans = |(_, it): &&(Range<usize>, f32)| *it >= least;
    let first = leaning.iter().find(leans);
    let last = leaning.iter().rev().find(leans);
    let start = first.map_or(whole.start, |(part, _)| part.start);
    start..last.map_or(whole.end, |(part, _)| part.end).max(start)
}

/// An order with what it wants done: the sentence it stands in, all of the line that is whoever's who gives it, and of
/// another line as much as leans to orders as well.
fn followed(text: &str, core: &Range<usize>) -> Range<usize> {
    let sentence = sentence(text, core);
    let line = line(text, core);
    let lead = text.get(line.start..sentence.start).unwrap_or_default();
    // A line that begins with an order, or is an order for a good part, belongs to whoever gives it.
    let begins = lead.chars().all(|c| !c.is_alphanumeric());
    let is_own = begins || sentence.len() * OWN_PART >= line.len();
    let enclosed = enclosed(text, core, &line);
    let leans = |part: &Range<usize>| classify::leaning(text, part.clone()) >= LEANING;
    // What leads to an order may be anybody's, whosever line it is.
    let before: Vec<Range<usize>> = sentences(text, line.start..sentence.start).collect();
    let start = before.into_iter().rev().take_while(leans).last();
    let start = start.map_or(sentence.start, |part| part.start);
    if is_own && enclosed.is_none() {
        return start..following_lines(text, sentence.end.max(line.end));
    }
    let end = sentence.end.max(enclosed.unwrap_or(sentence.end));
    let after = sentences(text, end..line.end.max(end)).take_while(leans);
    start..after.last().map_or(end, |part| part.end)
}

/// Where the lines end that go on with an order which had a line of its own.
fn following_lines(text: &str, end: usize) -> usize {
    let mut end = end;
    let latest = text.ceil_char_boundary(text.len().min(end.saturating_add(MAX_REACH)));
    while let Some(rest) = text.get(end..latest) {
        let gap = rest.len() - rest.trim_start().len();
        // A blank line ends it: what stands behind is found by itself or is none of it.
        let breaks = rest.get(..gap).unwrap_or_default().matches('\n').count();
        let length = rest
            .get(gap..)
            .map_or(0, |rest| rest.find('\n').unwrap_or(rest.len()));
        let next = end + gap..end + gap + length;
        if breaks != 1 || length == 0 || classify::leaning(text, next.clone()) < LEANING {
            break;
        }
        end = next.end;
    }
    end
}

/// The sentences of a part.
fn sentences(text: &str, part: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut at = part.start;
    std::iter::from_fn(move || {
        let rest = text.get(at..part.end)?;
        let lead = rest.len() - rest.trim_start().len();
        let rest = rest.get(lead..).filter(|rest| !rest.is_empty())?;
        let line = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let end = first_end(rest).unwrap_or(rest.len()).clamp(1, line.max(1));
        let start = at + lead;
        at = text.ceil_char_boundary(start + end);
        Some(start..at)
    })
}

/// Where what encloses a part ends, if something does: quotes or an element of HTML.
fn enclosed(text: &str, span: &Range<usize>, line: &Range<usize>) -> Option<usize> {
    let before = text.get(line.start..span.start).unwrap_or_default();
    let behind = text.get(span.end..line.end).unwrap_or_default();
    let opened = last_end(before).and_then(|at| before.get(..at)?.chars().next_back());
    let closed = match opened {
        Some(quote @ ('"' | '`')) => behind.find(quote),
        Some('>') => behind.find('<'),
        Some(_) | None => behind.find("</"),
    };
    closed.map(|at| span.end + at)
}

/// From here on a sentence beside an order goes with it: one in a hundred pages of ordinary text has a sentence that leans so far.
const LEANING: f32 = 0.6;
/// A line of which an order is one part in so many is its own; beyond that the honest words would be most of what goes.
const OWN_PART: usize = 3;

const ENDS: [char; 9] = ['.', '!', '?', '。', '！', '？', '…', '।', '؟'];

/// Where the last sentence of a text ends behind which another begins.
fn last_end(text: &str) -> Option<usize> {
    let mut ends = text.char_indices().rev().filter(|(_, c)| is_end(*c));
    ends.find_map(|(at, c)| {
        let end = at + c.len_utf8();
        let is_over = match c {
            '"' | '`' => is_unpaired(c, text.get(..end)?),
            _ => is_over(c, text.get(end..)?),
        };
        is_over.then_some(end)
    })
}

/// Whether one of a pair of quotes is missing, so that the last or the first of them ends something: a name in quotes
/// inside a sentence ends nothing.
fn is_unpaired(quote: char, text: &str) -> bool {
    !text.matches(quote).count().is_multiple_of(2)
}

/// Where the first sentence of a text ends, its mark included.
fn first_end(text: &str) -> Option<usize> {
    let mut ends = text.char_indices().filter(|(_, c)| is_end(*c));
    ends.find_map(|(at, c)| {
        let end = at + c.len_utf8();
        // What opens an element or a quotation belongs to what comes next.
        match c {
            // One that closes what the sentence itself has opened ends nothing.
            '"' | '`' if is_unpaired(c, text.get(..at)?) => None,
            '"' | '`' => is_unpaired(c, text.get(at..)?).then_some(at),
            '<' => Some(at),
            _ => is_over(c, text.get(end..)?).then_some(end),
        }
    })
}

fn is_end(c: char) -> bool {
    ENDS.contains(&c) || matches!(c, '<' | '>' | '"' | '`')
}

/// Whether a sentence is over at `c`, judged by what stands behind.
fn is_over(c: char, behind: &str) -> bool {
    match c {
        '.' | '!' | '?' | '…' => behind.chars().next().is_none_or(|next| {
            next.is_whitespace() || matches!(next, '"' | '\'' | ')' | ']' | '*')
        }),
        _ => true,
    }
}

/// The line a part stands in, with the lines it is wrapped over.
fn line(text: &str, span: &Range<usize>) -> Range<usize> {
    let around = around(text, span, MAX_REACH);
    let mut start = around.start;
    let before = text.get(around.start..span.start).unwrap_or_default();
    let mut upper = before;
    while let Some(at) = upper.rfind('\n') {
        let above = upper.get(..at).unwrap_or_default();
        let last = above.rsplit('\n').next().unwrap_or_default();
        let here = before.get(at + 1..).unwrap_or_default();
        let here = here.split('\n').next().unwrap_or_default();
        // A part at the start of its line has nothing before it, and goes on itself.
        let next = if here.trim().is_empty() { "a" } else { here };
        if !is_wrapped(last, next) {
            start = around.start + at + 1;
            break;
        }
        upper = above;
    }
    let mut end = around.end;
    let mut at = span.end;
    while let Some(rest) = text.get(at..around.end) {
        let Some(length) = rest.find('\n') else { break };
        let whole = text.get(around.start..at + length).unwrap_or_default();
        let last = whole.rsplit('\n').next().unwrap_or_default();
        let next = rest.get(length + 1..).unwrap_or_default();
        if !is_wrapped(last, next.split('\n').next().unwrap_or_default()) {
            end = at + length;
            break;
        }
        at += length + 1;
    }
    start..end.max(span.end)
}

/// Whether prose goes on from one line to the next.
fn is_wrapped(line: &str, next: &str) -> bool {
    let line = line.trim_end();
    let lead = |c: char| c.is_whitespace() || matches!(c, '#' | '/' | '*' | '>' | '|' | ';' | '-');
    let next = next.trim_start_matches(lead);
    line.chars().count() >= WRAPPED
        && line.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ',' | '\'' | ')'))
        && next.starts_with(char::is_alphanumeric)
}

/// As far around a part as anything looks.
fn around(text: &str, span: &Range<usize>, far: usize) -> Range<usize> {
    let start = text.floor_char_boundary(span.start.saturating_sub(far));
    let end = text.ceil_char_boundary(text.len().min(span.end + far));
    start.min(span.start)..end.max(span.end)
}
