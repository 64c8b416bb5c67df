//! Words about a request that every channel and every screen shows the same.

use holdpoint_core::policy::Check;
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
}
