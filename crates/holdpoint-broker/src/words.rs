//! Words about a request that every channel and every screen shows the same.

use holdpoint_core::policy::Check;
use holdpoint_core::text::escape_for_display;
use serde_json::Value;

use crate::request::{Context, Mark, Request, Status};

/// The agent, and the one that works for it (A-27).
pub fn agent(request: &Request) -> String {
    let context = &request.context;
    let through = context.agent_name.as_ref().or(context.agent_type.as_ref());
    match through {
        Some(name) => format!("{} (via {name})", request.asked.agent),
        None => request.asked.agent.clone(),
    }
}

/// What is known about the circumstances and not said elsewhere, as `name=value` (J-54).
pub fn circumstances(context: &Context) -> Vec<String> {
    let Ok(Value::Object(all)) = serde_json::to_value(context) else {
        return Vec::new();
    };
    let said = ["intent", "agent_name", "agent_type"];
    all.into_iter()
        .filter(|(key, _)| !said.contains(&key.as_str()))
        .map(|(key, value)| match value.as_str() {
            Some(text) => format!("{key}={text}"),
            None => format!("{key}={value}"),
        })
        .collect()
}

/// The name of a check.
pub fn check_name(check: Check) -> String {
    match serde_json::to_value(check) {
        Ok(Value::String(name)) => name.replace('_', " "),
        Ok(_) | Err(_) => "check".into(),
    }
}

/// What came of a check, in a word.
pub fn status_word(status: Status) -> &'static str {
    match status {
        Status::Passed => "passed",
        Status::Warning => "warning",
        Status::Failed => "failed",
        Status::Error => "error",
        Status::Skipped => "skipped",
    }
}

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Nothing caught it.
    Plain(&'a str),
    /// A rule caught it.
    Caught(&'a str),
}

/// The text in pieces, those apart that a rule caught. Marks that do not fit the text are left out.
pub fn pieces<'a>(text: &'a str, marks: &[Mark]) -> Vec<Piece<'a>> {
    let mut spans: Vec<[usize; 2]> = marks.iter().map(|mark| mark.span).collect();
    spans.sort_unstable();
    let mut pieces = Vec::new();
    let mut at = 0;
    for [from, to] in spans {
        let from = from.max(at);
        if let (Some(before), Some(caught)) = (text.get(at..from), text.get(from..to)) {
            pieces.push(Piece::Plain(before));
            pieces.push(Piece::Caught(caught));
            at = to;
        }
    }
    pieces.extend(text.get(at..).map(Piece::Plain));
    pieces.retain(|piece| match piece {
        Piece::Plain(text) | Piece::Caught(text) => !text.is_empty(),
    });
    pieces
}

/// Text from outside in lines, made safe to show, each piece with the look it came with. A line break at
/// the end makes no line of its own.
pub fn lines<L: Copy>(pieces: &[(L, &str)]) -> Vec<Vec<(L, String)>> {
    let mut lines = vec![Vec::new()];
    for (look, text) in pieces {
        for (count, part) in text.split('\n').enumerate() {
            if count > 0 {
                lines.push(Vec::new());
            }
            let part = part.strip_suffix('\r').unwrap_or(part);
            let part = escape_for_display(&part.replace('\t', "    "), usize::MAX);
            if let Some(line) = lines.last_mut()
                && !part.is_empty()
            {
                line.push((*look, part));
            }
        }
    }
    if lines.len() > 1 && lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    lines
}

/// What a line of a difference is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffLine {
    /// It names the files that are compared.
    Header,
    /// It says where the lines below it stand.
    Position,
    /// Only the new text has it.
    Added,
    /// Only the old text has it.
    Removed,
    /// Both texts have it.
    Same,
}

/// The lines of a difference, and what each of them is.
pub fn diff_lines(text: &str) -> impl Iterator<Item = (DiffLine, &str)> {
    let mut header = true;
    text.lines().map(move |line| {
        header &= !line.starts_with("@@");
        let kind = match line.as_bytes().first() {
            _ if header => DiffLine::Header,
            Some(b'+') => DiffLine::Added,
            Some(b'-') => DiffLine::Removed,
            Some(b'@') => DiffLine::Position,
            Some(_) | None => DiffLine::Same,
        };
        (kind, line)
    })
}

#[cfg(test)]
mod tests {
    use holdpoint_core::Verdict;

    use super::*;

    fn mark(span: [usize; 2]) -> Mark {
        Mark {
            span,
            rule: "r".into(),
            verdict: Verdict::Ask,
            reason: "why".into(),
        }
    }

    #[test]
    fn caught_parts_stand_apart_and_nothing_of_the_text_is_lost() {
        use Piece::{Caught, Plain};
        let marks = [mark([4, 8]), mark([0, 2])];
        assert_eq!(
            pieces("rm -rf /", &marks),
            [Caught("rm"), Plain(" -"), Caught("rf /")]
        );
        let overlapping = [mark([0, 4]), mark([2, 6])];
        assert_eq!(
            pieces("abcdefg", &overlapping),
            [Caught("abcd"), Caught("ef"), Plain("g")]
        );
        // Outside of the text, the wrong way round, within a character.
        for span in [[3, 99], [5, 2], [1, 2]] {
            assert_eq!(pieces("é text", &[mark(span)]), [Plain("é text")]);
        }
    }

    #[test]
    fn lines_keep_their_looks_and_a_last_break_makes_none() {
        let owned = |look, text: &str| (look, text.to_owned());
        assert_eq!(
            lines(&[('a', "one\r\n\ttw"), ('b', "o\x1b\n")]),
            [
                vec![owned('a', "one")],
                vec![owned('a', "    tw"), owned('b', "o\\u{1b}")],
            ]
        );
        assert_eq!(lines(&[('a', "")]), [vec![]]);
    }

    #[test]
    fn what_stands_above_the_first_position_is_the_header() {
        use DiffLine::{Added, Header, Position, Removed, Same};
        let kinds: Vec<DiffLine> = diff_lines("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n z\n")
            .map(|(kind, _)| kind)
            .collect();
        assert_eq!(kinds, [Header, Header, Position, Removed, Added, Same]);
    }
}
