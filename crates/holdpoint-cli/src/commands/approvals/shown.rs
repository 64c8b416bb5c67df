//! Requests as a terminal shows them.

use std::io::Write;

use holdpoint_broker::{Request, State, UnixMillis, words};
use holdpoint_engine::{Risk, Verdict};
use serde::Serialize;

use crate::layout::{cut, padded};
use crate::terminal::{Terminal, escape_for_display};

/// What waits, a line each.
pub(super) fn waiting(
    requests: &[Request],
    json: bool,
    terminal: &mut Terminal,
) -> anyhow::Result<()> {
    let now = UnixMillis::now();
    let left = |request: &Request| {
        Some(match request.expires {
            Some(expires) => format!("{} left", span(now.until(expires).as_secs())),
            None => "waits".into(),
        })
    };
    list(requests, json, "Nothing waits for you.", left, terminal)
}

/// What is settled, a line each.
pub(super) fn settled(
    requests: &[Request],
    json: bool,
    terminal: &mut Terminal,
) -> anyhow::Result<()> {
    let now = UnixMillis::now();
    let how = |request: &Request| {
        let settled = request.settled.as_ref()?;
        let ago = span(settled.at.until(now).as_secs());
        let who = match settled.approvers.as_slice() {
            [] => String::new(),
            people => format!(" by {}", people.join(", ")),
        };
        Some(format!("{}{who}, {ago} ago", request.state.as_str()))
    };
    list(requests, json, "Nothing was answered.", how, terminal)
}

/// A line for each request there is something to say of in `when`, or all of them as JSON.
fn list(
    requests: &[Request],
    json: bool,
    none: &str,
    when: impl Fn(&Request) -> Option<String>,
    terminal: &mut Terminal,
) -> anyhow::Result<()> {
    if json {
        return lines(requests, terminal);
    }
    if requests.is_empty() {
        writeln!(terminal.out, "{none}")?;
    }
    for request in requests {
        if let Some(when) = when(request) {
            line(request, &when, terminal)?;
        }
    }
    Ok(())
}

fn lines(requests: &[Request], terminal: &mut Terminal) -> anyhow::Result<()> {
    for request in requests {
        json_line(&request.card(), terminal)?;
    }
    Ok(())
}

fn json_line(value: &impl Serialize, terminal: &mut Terminal) -> anyhow::Result<()> {
    serde_json::to_writer(&mut terminal.out, value)?;
    writeln!(terminal.out)?;
    Ok(())
}

fn line(request: &Request, when: &str, terminal: &mut Terminal) -> anyhow::Result<()> {
    let risk = terminal.like(
        colour(request.decision.risk),
        &padded(request.decision.risk.as_str().into(), 8),
    );
    let opening = format!("{}  {}  ", request.id, padded(when.to_owned(), 12));
    let tool = padded(escape_for_display(&request.asked.tool, 20), 6);
    let summary = escape_for_display(&request.display.summary, 500);
    let used = opening.chars().count() + 8 + 2 + tool.chars().count() + 2;
    let summary = match terminal.width() {
        Some(width) => cut(&summary, width.saturating_sub(used).max(20)),
        None => summary,
    };
    writeln!(terminal.out, "{opening}{risk}  {tool}  {summary}")?;
    Ok(())
}

/// One request in full.
pub(super) fn one(request: &Request, json: bool, terminal: &mut Terminal) -> anyhow::Result<()> {
    if json {
        return json_line(&request.card(), terminal);
    }
    let decision = &request.decision;
    let risk = terminal.like(colour(decision.risk), decision.risk.as_str());
    let mut field = |name: &str, text: &str| -> anyhow::Result<()> {
        if !text.is_empty() {
            writeln!(
                terminal.out,
                "{} {text}",
                terminal.faint(&padded(format!("{name}:"), 11))
            )?;
        }
        Ok(())
    };
    let plain = |text: &str| escape_for_display(text, 2000);
    field(
        "request",
        &format!("{} ({})", request.id, request.state.as_str()),
    )?;
    field("tool", &plain(&request.asked.tool))?;
    field("agent", &plain(&words::agent(request)))?;
    field("session", &plain(&request.asked.session))?;
    field("directory", &plain(&request.asked.directory))?;
    field(
        "intent",
        &plain(request.context.intent.as_deref().unwrap_or_default()),
    )?;
    let circumstances = words::circumstances(&request.context);
    field("context", &plain(&circumstances.join(", ")))?;
    field(
        "verdict",
        &format!("{} ({risk})", decision.verdict.as_str()),
    )?;
    field("rule", &plain(decision.rule.as_deref().unwrap_or_default()))?;
    field("reason", &plain(&decision.reason))?;
    if let Some(expires) = request.expires.filter(|_| request.state == State::Pending) {
        field(
            "expires",
            &format!("in {}", span(UnixMillis::now().until(expires).as_secs())),
        )?;
    }
    if let Some(phrase) = &request.terms.phrase {
        field("phrase", phrase)?;
    }
    if request.terms.required > 1 {
        let said = request.approvers();
        let people = format!(
            "{} of {} have said yes {}",
            said.len(),
            request.terms.required,
            said.join(", ")
        );
        field("people", &plain(&people))?;
    }
    for check in &request.checks {
        let (name, status) = (
            words::check_name(check.check),
            words::status_word(check.status),
        );
        field(
            "check",
            &plain(&format!("{name} {status}: {}", check.message)),
        )?;
    }
    for warning in &request.display.warnings {
        field(&warning.level, &plain(&warning.text))?;
    }
    for offer in &request.terms.offers {
        let rule = format!("{} → {}", offer.scope.as_str(), offer.patterns.join(", "));
        field("always", &plain(&rule))?;
    }
    if let Some(settled) = &request.settled {
        let people = settled.approvers.join(", ");
        field(
            "answer",
            &plain(&format!(
                "{} {} {people}",
                settled.method.as_str(),
                settled.reason
            )),
        )?;
    }
    writeln!(terminal.out)?;
    // All of it, however long a line is: nobody says yes to half a command.
    for text in request.display.details.lines() {
        writeln!(terminal.out, "  {}", escape_for_display(text, usize::MAX))?;
    }
    if request.display.truncated {
        writeln!(
            terminal.out,
            "  … it is longer; --json has its arguments whole"
        )?;
    }
    for edit in &request.edits {
        writeln!(
            terminal.out,
            "\n  changed by {}:",
            escape_for_display(&edit.by, 100)
        )?;
        for text in edit.diff.lines() {
            writeln!(terminal.out, "  {}", escape_for_display(text, 4000))?;
        }
    }
    Ok(())
}

/// Risks in the colours of verdicts.
fn colour(risk: Risk) -> Verdict {
    match risk {
        Risk::None | Risk::Low => Verdict::Allow,
        Risk::Medium => Verdict::Ask,
        Risk::High => Verdict::Review,
        Risk::Critical => Verdict::Deny,
    }
}

/// So many seconds in words.
fn span(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}
