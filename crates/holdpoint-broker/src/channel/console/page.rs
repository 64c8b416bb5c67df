//! What a person sees of a request before they answer.

use std::time::Duration;

use holdpoint_core::Risk;
use holdpoint_core::text::escape_for_display;

use super::ink::{Ink, Sheet};
use crate::request::{CheckResult, Display, Format, Mark, Request, Status};
use crate::words::{self, Piece};

/// The whole question, without the options.
pub(super) fn question(sheet: &mut Sheet, request: &Request, left: Option<Duration>) {
    let decision = &request.decision;
    let colour = risk_ink(decision.risk);
    sheet.line(Ink::Bold, RULER);
    sheet.line(colour, "Holdpoint holds a call. It runs if you release it.");
    sheet.field("Tool", Ink::Bold, &request.asked.tool);
    sheet.field("Agent", Ink::Plain, &words::agent(request));
    if let Some(intent) = &request.context.intent {
        sheet.field("Intent", Ink::Plain, intent);
    }
    sheet.field("Reason", Ink::Plain, &decision.reason);
    if let Some(rule) = &decision.rule {
        sheet.field("Rule", Ink::Plain, rule);
    }
    sheet.field("Risk", colour, decision.risk.as_str());
    sheet.field("Directory", Ink::Plain, &request.asked.directory);
    context(sheet, request);
    for path in &request.display.paths {
        sheet.field("Path", Ink::Plain, &format!("{} {}", path.what, path.path));
    }
    details(sheet, &request.display);
    checks(sheet, &request.checks);
    for warned in &request.display.warnings {
        let ink = match warned.level.as_str() {
            "danger" => Ink::Bad,
            "info" => Ink::Plain,
            _ => Ink::Notable,
        };
        sheet.field("Warning", ink, &warned.text);
    }
    if let Some(edit) = request.edits.last() {
        let changed = format!("{} ({})", edit.changed.join(", "), edit.by);
        sheet.field("Changed", Ink::Notable, &changed);
        sheet.diff(&edit.diff);
    }
    if request.terms.required > 1 {
        let said = request.approvers();
        let people = format!(
            "{} of {} ({})",
            said.len(),
            request.terms.required,
            said.join(", ")
        );
        sheet.field("Yes from", Ink::Plain, &people);
    }
    let time = match left {
        Some(left) => format!("{} left, then it is refused", words_for(left)),
        None => "it waits until you answer".into(),
    };
    sheet.field("Time", Ink::Plain, &time);
    sheet.line(Ink::Bold, RULER);
}

const RULER: &str = "============================================================";

/// Every argument in full.
pub(super) fn arguments(sheet: &mut Sheet, request: &Request) {
    let arguments = &request.display.arguments;
    if arguments.is_empty() {
        sheet.line(Ink::Plain, "The call has no arguments.");
    }
    for (key, value) in arguments {
        sheet.line(Ink::Bold, &format!("{}:", escape_for_display(key, 200)));
        let text = value
            .as_str()
            .map_or_else(|| format!("{value:#}"), str::to_owned);
        sheet.block(&[(Ink::Plain, &text)]);
    }
    if !request.display.hidden.is_empty() {
        let hidden = request.display.hidden.join(", ");
        sheet.field("Hidden in", Ink::Notable, &hidden);
    }
}

fn risk_ink(risk: Risk) -> Ink {
    match risk {
        Risk::None | Risk::Low => Ink::Good,
        Risk::Medium => Ink::Notable,
        Risk::High => Ink::Bad,
        Risk::Critical => Ink::Alarming,
    }
}

/// What is known about the circumstances and not said elsewhere (J-54).
fn context(sheet: &mut Sheet, request: &Request) {
    let rest = words::circumstances(&request.context);
    if !rest.is_empty() {
        sheet.field("Context", Ink::Plain, &rest.join(", "));
    }
}

fn details(sheet: &mut Sheet, display: &Display) {
    let text = match display.details.as_str() {
        "" => &display.summary,
        details => details,
    };
    match display.format {
        Format::Diff => {
            sheet.diff(text);
        }
        Format::Code | Format::Text | Format::Json => {
            let pieces = highlighted(text, &display.marks);
            sheet.block(&pieces);
        }
    }
    if display.truncated {
        let lines = display.original_lines;
        let whole = lines.map_or(String::new(), |lines| format!(" of {lines} lines"));
        sheet.line(
            Ink::Notable,
            &format!("  This is not all{whole}: answer d for every argument."),
        );
    }
    for mark in &display.marks {
        let [from, to] = mark.span;
        if let Some(part) = text.get(from..to) {
            let caught = format!("`{part}` by {}: {}", mark.rule, mark.reason);
            sheet.field("Caught", Ink::Notable, &caught);
        }
    }
}

/// The text in pieces, those a rule caught in their own colour.
fn highlighted<'a>(text: &'a str, marks: &[Mark]) -> Vec<(Ink, &'a str)> {
    let pieces = words::pieces(text, marks).into_iter();
    pieces
        .map(|piece| match piece {
            Piece::Plain(text) => (Ink::Plain, text),
            Piece::Caught(text) => (Ink::Caught, text),
        })
        .collect()
}

fn checks(sheet: &mut Sheet, checks: &[CheckResult]) {
    for one in checks {
        let ink = match one.status {
            Status::Passed => Ink::Good,
            Status::Warning => Ink::Notable,
            Status::Failed | Status::Error => Ink::Bad,
            Status::Skipped => Ink::Faint,
        };
        let (word, name) = (words::status_word(one.status), words::check_name(one.check));
        sheet.field("Check", ink, &format!("{word}: {name}: {}", one.message));
    }
}

/// `4 min 58 s`.
pub(super) fn words_for(time: Duration) -> String {
    let seconds = time.as_millis().div_ceil(1000);
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, 0) => format!("{minutes} min"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdpoint_core::Verdict;

    fn mark(from: usize, to: usize) -> Mark {
        Mark {
            span: [from, to],
            rule: "r".into(),
            verdict: Verdict::Ask,
            reason: String::new(),
        }
    }

    #[test]
    fn marks_that_overlap_or_do_not_fit_lose_no_text() {
        let text = "git push --förce";
        for marks in [
            vec![mark(4, 8), mark(9, 17)],
            vec![mark(4, 8), mark(6, 17), mark(0, 3)],
            vec![mark(13, 99), mark(12, 13), mark(9, 3), mark(0, 0)],
            vec![],
        ] {
            let pieces = highlighted(text, &marks);
            let whole: String = pieces.iter().map(|(_, piece)| *piece).collect();
            assert_eq!(whole, text, "{marks:?}");
        }
        assert_eq!(
            highlighted("git push", &[mark(4, 8)]),
            [(Ink::Plain, "git "), (Ink::Caught, "push")]
        );
    }

    #[test]
    fn times_in_words() {
        let words = |seconds| words_for(Duration::from_secs(seconds));
        assert_eq!(words(58), "58 s");
        assert_eq!(words(60), "1 min");
        assert_eq!(words(298), "4 min 58 s");
        assert_eq!(words(7300), "2 h 1 min");
    }
}
