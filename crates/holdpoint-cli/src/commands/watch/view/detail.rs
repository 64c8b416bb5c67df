//! One call: what is asked, why it is held, and on which terms it is answered.

use holdpoint_broker::words::{self, Piece};
use holdpoint_broker::{Format, Request, State, Status, UnixMillis};
use ratatui::text::Line;

use super::clock;
use super::ink::{Ink, Look};
use super::page::Page;

/// How much of a call is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// What a person needs.
    Usual,
    /// Every argument, too.
    Everything,
}

/// The lines of a call, what matters most first.
pub(super) fn lines(
    request: &Request,
    extent: Extent,
    now: UnixMillis,
    ink: Ink,
    width: u16,
) -> Vec<Line<'static>> {
    let mut page = Page::new(ink, width);
    heading(&mut page, request, now);
    answer(&mut page, request, now);
    page.field("Reason", Look::Bold, &request.decision.reason);
    details(&mut page, request);
    warnings(&mut page, request);
    terms(&mut page, request);
    circumstances(&mut page, request);
    edits(&mut page, request);
    offers(&mut page, request);
    if extent == Extent::Everything {
        arguments(&mut page, request);
    }
    page.finish()
}

fn heading(page: &mut Page, request: &Request, now: UnixMillis) {
    let decision = &request.decision;
    let risk = decision.risk;
    let left = match (request.state, request.expires) {
        (State::Pending, Some(expires)) => format!(", {} left", clock::left(now, expires)),
        (State::Pending, None) => ", until it is answered".into(),
        (state, _) => format!(", {}", state.as_str()),
    };
    page.field(
        "Call",
        Look::for_risk(risk),
        &format!(
            "{} {}: {}, {} risk{left}",
            request.id,
            request.asked.tool,
            decision.verdict.as_str(),
            risk.as_str()
        ),
    );
}

/// How it ended.
fn answer(page: &mut Page, request: &Request, now: UnixMillis) {
    let Some(settled) = &request.settled else {
        return;
    };
    let look = match request.state {
        State::Released => Look::Good,
        State::Refused => Look::Bad,
        State::Pending | State::Expired | State::Withdrawn => Look::Notable,
    };
    let who = match settled.approvers.as_slice() {
        [] => String::new(),
        people => format!(" by {}", people.join(", ")),
    };
    page.field(
        "Answer",
        look,
        &format!(
            "{}{who}, {} ago ({}): {}",
            request.state.as_str(),
            clock::ago(settled.at, now),
            settled.method.as_str(),
            settled.reason
        ),
    );
    page.field(
        "Comment",
        Look::Plain,
        settled.comment.as_deref().unwrap_or_default(),
    );
}

fn details(page: &mut Page, request: &Request) {
    let display = &request.display;
    let text = match display.details.as_str() {
        "" => &display.summary,
        details => details,
    };
    if display.format == Format::Diff {
        page.field("Change", Look::Plain, &display.summary);
    }
    page.gap();
    match display.format {
        Format::Diff => page.diff(text),
        Format::Code | Format::Text | Format::Json => {
            let pieces: Vec<(Look, &str)> = words::pieces(text, &display.marks)
                .into_iter()
                .map(|piece| match piece {
                    Piece::Plain(text) => (Look::Plain, text),
                    Piece::Caught(text) => (Look::Caught, text),
                })
                .collect();
            page.block(&pieces);
        }
    }
    if display.truncated {
        let whole = display
            .original_lines
            .map_or(String::new(), |lines| format!(" of {lines} lines"));
        page.text(
            Look::Notable,
            &format!("This is not all{whole}: Enter shows every argument."),
        );
    }
    page.gap();
    for mark in &display.marks {
        let [from, to] = mark.span;
        if let Some(part) = text.get(from..to) {
            let why = match mark.reason == request.decision.reason {
                true => String::new(),
                false => format!(": {}", mark.reason),
            };
            page.field(
                "Caught",
                Look::Notable,
                &format!("`{part}` by {}{why}", mark.rule),
            );
        }
    }
}

fn warnings(page: &mut Page, request: &Request) {
    for warned in &request.display.warnings {
        let look = match warned.level.as_str() {
            "danger" => Look::Bad,
            "info" => Look::Plain,
            _ => Look::Notable,
        };
        page.field("Warning", look, &warned.text);
    }
    let failing = request.display.pre_validation_error.as_deref();
    page.field("Will fail", Look::Bad, failing.unwrap_or_default());
    for one in &request.checks {
        let look = match one.status {
            Status::Passed => Look::Good,
            Status::Warning => Look::Notable,
            Status::Failed | Status::Error => Look::Bad,
            Status::Skipped => Look::Faint,
        };
        let (word, name) = (words::status_word(one.status), words::check_name(one.check));
        page.field("Check", look, &format!("{word}: {name}: {}", one.message));
    }
}

/// What an answer needs.
fn terms(page: &mut Page, request: &Request) {
    let terms = &request.terms;
    if let Some(phrase) = terms
        .phrase
        .as_deref()
        .filter(|_| request.settled.is_none())
    {
        page.field(
            "Needs",
            Look::Notable,
            &format!("that you type `{phrase}` to release it"),
        );
    }
    if terms.required > 1 {
        let said: Vec<String> = request
            .approvals
            .iter()
            .map(|one| match &one.on_behalf_of {
                Some(other) => format!("{} for {other}", one.approver),
                None => one.approver.clone(),
            })
            .collect();
        let who = match said.as_slice() {
            [] => String::new(),
            people => format!(": {}", people.join(", ")),
        };
        page.field(
            "Approvals",
            Look::Notable,
            &format!("{} of {}{who}", said.len(), terms.required),
        );
    }
    if !terms.approvers.is_empty() {
        page.field("Waits for", Look::Plain, &terms.approvers.join(", "));
    }
}

fn circumstances(page: &mut Page, request: &Request) {
    let decision = &request.decision;
    let intent = request.context.intent.as_deref();
    page.field("Intent", Look::Plain, intent.unwrap_or_default());
    page.field("Agent", Look::Plain, &words::agent(request));
    page.field("Session", Look::Plain, &request.asked.session);
    page.field("Directory", Look::Plain, &request.asked.directory);
    let rule = decision.rule.as_deref();
    page.field("Rule", Look::Plain, rule.unwrap_or_default());
    for path in &request.display.paths {
        page.field("Path", Look::Plain, &format!("{} {}", path.what, path.path));
    }
    let rest = words::circumstances(&request.context);
    page.field("Context", Look::Plain, &rest.join(", "));
}

fn edits(page: &mut Page, request: &Request) {
    for edit in &request.edits {
        page.field(
            "Changed",
            Look::Notable,
            &format!("{} by {}", edit.changed.join(", "), edit.by),
        );
        page.diff(&edit.diff);
    }
}

fn offers(page: &mut Page, request: &Request) {
    if request.settled.is_some() {
        return;
    }
    for offer in &request.terms.offers {
        page.field(
            "Always",
            Look::Faint,
            &format!("{}: {}", offer.scope.as_str(), offer.patterns.join(", ")),
        );
    }
    if !request.terms.editable.is_empty() {
        page.field("Editable", Look::Faint, &request.terms.editable.join(", "));
    }
}

fn arguments(page: &mut Page, request: &Request) {
    let display = &request.display;
    page.gap();
    page.text(Look::Bold, "Every argument");
    if display.arguments.is_empty() {
        page.text(Look::Plain, "The call has none.");
    }
    for (key, value) in &display.arguments {
        page.gap();
        page.text(Look::Place, key);
        let text = value
            .as_str()
            .map_or_else(|| format!("{value:#}"), str::to_owned);
        page.block(&[(Look::Plain, &text)]);
    }
    if !display.hidden.is_empty() {
        page.gap();
        page.field(
            "Hidden",
            Look::Notable,
            &format!(
                "something in {} is not shown, so it cannot be edited here",
                display.hidden.join(", ")
            ),
        );
    }
}
