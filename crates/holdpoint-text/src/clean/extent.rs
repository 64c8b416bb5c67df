//! How much of a text goes with a finding: more than the words that gave it away, so that the rest of
//! an order does not stay behind.

use std::ops::Range;

use crate::Severity;
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
        Family::Hidden | Family::Terminal | Family::Secret | Family::Markup => span.clone(),
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
            let sentence = sentence(text, span);
            // What follows an order like this one is what it wants done.
            if finding.severity >= Severity::High {
                return sentence.start..sentence.end.max(rest(text, span));
            }
            sentence
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

/// Where the line a part stands in ends, or what encloses it: quotes or an element of HTML.
fn rest(text: &str, span: &Range<usize>) -> usize {
    let line = line(text, span);
    let before = text.get(line.start..span.start).unwrap_or_default();
    let behind = text.get(span.end..line.end).unwrap_or_default();
    let opened = last_end(before).and_then(|at| before.get(..at)?.chars().next_back());
    let closed = match opened {
        Some(quote @ ('"' | '`')) => behind.find(quote),
        Some('>') => behind.find('<'),
        Some(_) | None => behind.find("</"),
    };
    closed.map_or(line.end, |at| span.end + at)
}

const ENDS: [char; 9] = ['.', '!', '?', '。', '！', '？', '…', '।', '؟'];

/// Where the last sentence of a text ends behind which another begins.
fn last_end(text: &str) -> Option<usize> {
    let mut ends = text.char_indices().rev().filter(|(_, c)| is_end(*c));
    ends.find_map(|(at, c)| {
        let end = at + c.len_utf8();
        is_over(c, text.get(end..)?).then_some(end)
    })
}

/// Where the first sentence of a text ends, its mark included.
fn first_end(text: &str) -> Option<usize> {
    let mut ends = text.char_indices().filter(|(_, c)| is_end(*c));
    ends.find_map(|(at, c)| {
        let end = at + c.len_utf8();
        // What opens an element or a quotation belongs to what comes next.
        match c {
            '<' | '"' | '`' => Some(at),
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
