//! The calls, a line each.

use holdpoint_broker::{Request, State as Stands, UnixMillis};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::super::state::{State, Tab};
use super::clock;
use super::ink::{Ink, Look};
use crate::layout::{cut, fitted};
use crate::terminal::escape_for_display;

/// What the columns take; the summary gets the rest.
const TIME: usize = 7;
const RISK: usize = 8;
const ANSWER: usize = 9;
const TOOL: usize = 12;

/// The time left below which a row is marked, in milliseconds: about what it takes to read a call and answer.
const MIN_CALM_TIME: u64 = 30_000;

/// Draws the list; says which row is the first that is seen.
pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &State,
    now: UnixMillis,
    ink: Ink,
) -> usize {
    let rows = state.rows();
    let height = usize::from(area.height);
    let cursor = state.current().map_or(0, |(row, _)| row);
    let last = rows.len().saturating_sub(height);
    let offset = state
        .offset()
        .clamp((cursor + 1).saturating_sub(height), cursor)
        .min(last);
    let tool = tool_room(&rows);
    let lines: Vec<Line<'_>> = rows
        .iter()
        .enumerate()
        .skip(offset)
        .take(height)
        .map(|(row, request)| {
            let line = line(request, state, now, ink, (usize::from(area.width), tool));
            match row == cursor {
                true => line.patch_style(Modifier::REVERSED),
                false => line,
            }
        })
        .collect();
    frame.render_widget(Paragraph::new(lines), area);
    offset
}

fn line(
    request: &Request,
    state: &State,
    now: UnixMillis,
    ink: Ink,
    (width, tool): (usize, usize),
) -> Line<'static> {
    let mark = match state.is_marked(request) {
        true => "x",
        false => " ",
    };
    let risk = request.decision.risk;
    let mut spans = vec![
        Span::styled(format!("{mark} "), ink.style(Look::Bold)),
        Span::styled(fitted(&request.id, 8), ink.style(Look::Plain)),
    ];
    let mut cell = |text: &str, room: usize, look: Look| {
        spans.push(Span::raw(" "));
        spans.push(Span::styled(fitted(text, room), ink.style(look)));
    };
    match state.tab() {
        Tab::Waiting => {
            let (left, look) = match request.expires {
                Some(expires) if now.until(expires).as_millis() < u128::from(MIN_CALM_TIME) => {
                    (clock::left(now, expires), Look::Bad)
                }
                Some(expires) => (clock::left(now, expires), Look::Plain),
                None => ("–".into(), Look::Faint),
            };
            cell(&format!("{left:>TIME$}"), TIME, look);
        }
        Tab::History => {
            let at = request.settled.as_ref().map(|settled| settled.at);
            let ago = at.map(|at| clock::ago(at, now)).unwrap_or_default();
            cell(&format!("{ago:>TIME$}"), TIME, Look::Plain);
            let look = match request.state {
                Stands::Released => Look::Good,
                Stands::Refused => Look::Bad,
                Stands::Pending | Stands::Expired | Stands::Withdrawn => Look::Faint,
            };
            cell(request.state.as_str(), ANSWER, look);
        }
    }
    cell(risk.as_str(), RISK, Look::for_risk(risk));
    cell(
        &escape_for_display(&request.asked.tool, 60),
        tool,
        Look::Bold,
    );
    let used: usize = spans.iter().map(Span::width).sum();
    let summary = escape_for_display(&request.display.summary, 500);
    let room = width.saturating_sub(used + 1);
    spans.push(Span::raw(format!(" {}", cut(&summary, room))));
    Line::from(spans)
}

/// The tools' column is as wide as the longest name that is listed needs, within reason.
fn tool_room(rows: &[&Request]) -> usize {
    rows.iter()
        .map(|request| request.asked.tool.chars().count())
        .max()
        .unwrap_or(0)
        .clamp(4, TOOL)
}
