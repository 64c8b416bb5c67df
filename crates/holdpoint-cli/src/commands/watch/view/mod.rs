//! Draws the state. Every text from outside goes through [`page`] or
//! [`escape_for_display`], so that none of it drives the terminal.

mod clock;
mod detail;
mod ink;
mod list;
mod page;
mod popup;

use holdpoint_broker::UnixMillis;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};

use self::detail::Extent;
use self::ink::Look;
use self::page::Page;
use super::keys::{Action, BINDINGS};
use super::state::{Drawn, Link, State, Tab, Tone};
use crate::layout::cut;
use crate::terminal::escape_for_display;

pub(super) use self::ink::Ink;

/// From this width on, the list and the call stand side by side.
const WIDE: u16 = 150;

/// The smallest screen there is something to see on.
const MIN_SCREEN: (u16, u16) = (30, 8);

/// Draws everything, and says what the state has to know of it.
pub(super) fn draw(frame: &mut Frame<'_>, state: &State, now: UnixMillis, ink: Ink) -> Drawn {
    let screen = frame.area();
    if screen.width < MIN_SCREEN.0 || screen.height < MIN_SCREEN.1 {
        frame.render_widget(Paragraph::new("Make the window larger."), screen);
        return Drawn::default();
    }
    let [top, body, status, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(1),
        Constraint::Length(1),
    ])
    .areas(screen);
    header(frame, top, state, ink);
    let drawn = self::body(frame, body, state, now, ink);
    told(frame, status, state, ink);
    match state.popup() {
        // It says itself which keys it takes.
        Some(popup) => popup::draw(frame, body, popup, ink),
        None => hints(frame, keys, state.tab(), ink),
    }
    drawn
}

fn header(frame: &mut Frame<'_>, area: Rect, state: &State, ink: Ink) {
    let tab = |text: String, here: bool| match here {
        true => Span::styled(text, Modifier::REVERSED),
        false => Span::styled(text, ink.style(Look::Faint)),
    };
    let (link, look) = match state.link() {
        Link::Opening => ("connecting …", Look::Notable),
        Link::Up => ("● connected", Look::Good),
        Link::Down(_) => ("○ not connected", Look::Bad),
    };
    let mut spans = vec![
        Span::styled(" Holdpoint ", ink.style(Look::Bold)),
        tab(
            format!(" Waiting {} ", state.count()),
            state.tab() == Tab::Waiting,
        ),
        tab(" History ".into(), state.tab() == Tab::History),
    ];
    if !state.filter().is_empty() {
        let filter = cut(&escape_for_display(state.filter(), 60), 20);
        spans.push(Span::styled(
            format!(" with “{filter}”"),
            ink.style(Look::Notable),
        ));
    }
    frame.render_widget(Line::from(spans), area);
    let link = Line::styled(format!(" {link} "), ink.style(look)).right_aligned();
    let width = u16::try_from(link.width()).unwrap_or(0).min(area.width);
    let corner = Rect {
        x: area.right() - width,
        width,
        ..area
    };
    frame.render_widget(link, corner);
}

fn body(frame: &mut Frame<'_>, area: Rect, state: &State, now: UnixMillis, ink: Ink) -> Drawn {
    let Some((_, request)) = state.current() else {
        nothing(frame, area, state, ink);
        return Drawn::default();
    };
    if state.is_full() {
        let area = inside(frame, area, Borders::TOP, " In full ", ink);
        let lines = detail::lines(request, Extent::Everything, now, ink, area.width);
        let drawn = scrolled(frame, area, lines, state.scroll());
        return Drawn {
            offset: state.offset(),
            ..drawn
        };
    }
    let (list, call, border) = match area.width >= WIDE {
        true => {
            let [list, call] =
                Layout::horizontal([Constraint::Percentage(45), Constraint::Fill(1)]).areas(area);
            (list, call, Borders::LEFT)
        }
        false => {
            let rows = u16::try_from(state.rows().len()).unwrap_or(u16::MAX);
            let most = (area.height / 3).max(2);
            let [list, call] =
                Layout::vertical([Constraint::Length(rows.min(most)), Constraint::Fill(1)])
                    .areas(area);
            (list, call, Borders::TOP)
        }
    };
    let offset = list::draw(frame, list, state, now, ink);
    let call = inside(frame, call, border, "", ink);
    let lines = detail::lines(request, Extent::Usual, now, ink, call.width);
    Drawn {
        offset,
        ..scrolled(frame, call, lines, state.scroll())
    }
}

/// Draws a border, and says where the inside is.
fn inside(frame: &mut Frame<'_>, area: Rect, borders: Borders, title: &str, ink: Ink) -> Rect {
    let block = Block::new()
        .borders(borders)
        .border_style(ink.style(Look::Faint))
        .title(Line::styled(title.to_owned(), ink.style(Look::Bold)));
    let inside = block.inner(area);
    frame.render_widget(block, area);
    Rect {
        x: inside.x.saturating_add(1),
        width: inside.width.saturating_sub(2),
        ..inside
    }
}

/// Draws lines from one of them on, and says in the corner how much is above and below.
fn scrolled(frame: &mut Frame<'_>, area: Rect, lines: Vec<Line<'static>>, scroll: usize) -> Drawn {
    let (count, height) = (lines.len(), usize::from(area.height));
    let scroll = scroll.min(count.saturating_sub(height));
    let seen: Vec<Line<'static>> = lines.into_iter().skip(scroll).take(height).collect();
    frame.render_widget(Paragraph::new(seen), area);
    let below = count.saturating_sub(scroll + height);
    let note = match (scroll, below) {
        (0, 0) => String::new(),
        (_, 0) => " PgUp ↑ ".into(),
        (0, below) => format!(" PgDn ↓ {below} more "),
        (_, below) => format!(" PgUp ↑ PgDn ↓ {below} more "),
    };
    let note = Line::styled(note, Modifier::REVERSED).right_aligned();
    let width = u16::try_from(note.width()).unwrap_or(0).min(area.width);
    let corner = Rect {
        x: area.right() - width,
        y: area.y.saturating_sub(1),
        width,
        height: 1,
    };
    frame.render_widget(note, corner);
    Drawn {
        offset: 0,
        lines: count,
        height,
    }
}

/// What is said where nothing is listed.
fn nothing(frame: &mut Frame<'_>, area: Rect, state: &State, ink: Ink) {
    let mut page = Page::new(ink, area.width.saturating_sub(4));
    match (state.link(), state.tab()) {
        (Link::Down(why), _) => {
            page.text(Look::Bad, why);
            page.gap();
            page.text(
                Look::Plain,
                "This goes on trying, and shows what waits as soon as it can.",
            );
        }
        (Link::Opening, _) => page.text(Look::Plain, "Connecting to the approval daemon …"),
        (Link::Up, _) if !state.filter().is_empty() => {
            page.text(Look::Plain, "Nothing has this in it. Esc shows everything.");
        }
        (Link::Up, Tab::Waiting) => {
            page.text(Look::Good, "Nothing waits for you.");
            page.gap();
            page.text(
                Look::Plain,
                "Calls that policy asks about appear here as soon as an agent makes them.",
            );
        }
        (Link::Up, Tab::History) => page.text(Look::Plain, "Nothing was answered yet."),
    }
    let area = Rect {
        x: area.x.saturating_add(2),
        y: area.y.saturating_add(1),
        width: area.width.saturating_sub(4),
        height: area.height.saturating_sub(1),
    };
    frame.render_widget(Paragraph::new(page.finish()), area);
}

fn told(frame: &mut Frame<'_>, area: Rect, state: &State, ink: Ink) {
    let (look, text) = match (state.told(), state.link()) {
        (Some((Tone::Good, text)), _) => (Look::Good, text),
        (Some((Tone::Plain, text)), _) => (Look::Plain, text),
        (Some((Tone::Bad, text)), _) => (Look::Bad, text),
        // What is listed may be old; where nothing is, the reason stands there.
        (None, Link::Down(why)) if state.current().is_some() => (Look::Bad, why.as_str()),
        (None, Link::Opening | Link::Up | Link::Down(_)) => return,
    };
    let room = usize::from(area.width).saturating_sub(2);
    let text = format!(" {}", cut(&escape_for_display(text, 1000), room));
    frame.render_widget(Line::styled(text, ink.style(look)), area);
}

/// The keys that do something here, as many as there is room for.
fn hints(frame: &mut Frame<'_>, area: Rect, tab: Tab, ink: Ink) {
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut used = 0;
    for binding in BINDINGS {
        let Some(hint) = binding.hint else { continue };
        if tab == Tab::History && matches!(binding.action, Action::Do(_)) {
            continue;
        }
        let pair = [
            Span::styled(format!(" {}", binding.name()), ink.style(Look::Bold)),
            Span::styled(format!(" {hint} "), ink.style(Look::Faint)),
        ];
        used += pair.iter().map(Span::width).sum::<usize>();
        if used > usize::from(area.width) {
            break;
        }
        spans.extend(pair);
    }
    frame.render_widget(Line::from(spans), area);
}

#[cfg(test)]
mod tests;
