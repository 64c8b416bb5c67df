//! What stands over the list until it is answered.

use holdpoint_broker::Offer;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};

use super::super::keys::BINDINGS;
use super::super::state::{Popup, Preview, Purpose, RuleKind};
use super::ink::{Ink, Look};
use super::page::Page;
use crate::layout::{cell_width, char_width, cut};
use crate::terminal::escape_for_display;

/// The widest a popup gets: longer lines are hard to read.
const MAX_WIDTH: u16 = 84;

pub(super) fn draw(frame: &mut Frame<'_>, screen: Rect, popup: &Popup, ink: Ink) {
    match popup {
        Popup::Help(scroll) => help(frame, screen, *scroll, ink),
        Popup::Line { purpose, line } => typing(frame, screen, purpose, line.halves(), ink),
        Popup::Rules {
            target,
            kind,
            offers,
            chosen,
            preview,
        } => {
            let offered = (offers.as_slice(), *chosen, preview.as_ref());
            rules(frame, screen, (*kind, &target.id), offered, ink);
        }
        Popup::Confirm {
            question,
            note,
            lines,
            preview,
            ..
        } => {
            let mut lines = lines.clone();
            lines.extend(preview.iter().flat_map(also_released));
            confirm(frame, screen, (question, note), &lines, ink);
        }
    }
}

fn help(frame: &mut Frame<'_>, screen: Rect, scroll: usize, ink: Ink) {
    let mut page = Page::new(ink, inner_width(screen));
    for binding in BINDINGS {
        page.field(&binding.names(), Look::Plain, binding.help);
    }
    page.gap();
    page.text(
        Look::Faint,
        "What you answer is recorded with your name. Only a person can: an agent that runs this is \
         refused.",
    );
    let lines = page.finish();
    let room = usize::from(screen.height.saturating_sub(2));
    let scroll = scroll.min(lines.len().saturating_sub(room));
    let more = lines.len() > room;
    let seen: Vec<Line<'static>> = lines.into_iter().skip(scroll).take(room).collect();
    let foot = match more {
        true => " j k scroll, any other key closes ",
        false => " any key closes ",
    };
    boxed(frame, screen, " Keys ", foot, seen, ink);
}

fn typing(
    frame: &mut Frame<'_>,
    screen: Rect,
    purpose: &Purpose,
    (before, behind): (String, String),
    ink: Ink,
) {
    let mut page = Page::new(ink, inner_width(screen));
    let title = match purpose {
        Purpose::Filter => {
            page.text(Look::Plain, "Show only calls with this in them:");
            " Filter ".to_owned()
        }
        Purpose::Comment(targets) => {
            let which = match targets.as_slice() {
                [one] => format!("{} is refused.", one.id),
                several => format!("{} calls are refused.", several.len()),
            };
            page.text(Look::Plain, &format!("{which} What shall the model read?"));
            " Refuse with a comment ".to_owned()
        }
        Purpose::Phrase { target, phrase, .. } => {
            page.text(
                Look::Plain,
                "This call is to be reviewed: look at it before you release it. To release it, type",
            );
            page.text(Look::Bold, phrase);
            format!(" Release {} ", target.id)
        }
    };
    page.gap();
    let mut lines = page.finish();
    let row = lines.len();
    let room = usize::from(inner_width(screen)).saturating_sub(3);
    let before = tail(&escape_for_display(&before, usize::MAX), room);
    let column = cell_width(&before);
    let behind = escape_for_display(&behind, room);
    lines.push(Line::from(vec![
        Span::styled("> ", ink.style(Look::Faint)),
        Span::raw(format!("{before}{behind}")),
    ]));
    let area = boxed(
        frame,
        screen,
        &title,
        " Enter sends, Esc closes ",
        lines,
        ink,
    );
    let at = |from: u16, by: usize| from.saturating_add(u16::try_from(by).unwrap_or(u16::MAX));
    frame.set_cursor_position(Position::new(at(area.x, column + 2), at(area.y, row)));
}

fn rules(
    frame: &mut Frame<'_>,
    screen: Rect,
    (kind, id): (RuleKind, &str),
    (offers, chosen, preview): (&[Offer], usize, Option<&Preview>),
    ink: Ink,
) {
    let mut page = Page::new(ink, inner_width(screen));
    let (title, opening) = match kind {
        RuleKind::Always => (
            format!(" Always release calls like {id} "),
            "Released now, and later calls run without you if they match:",
        ),
        RuleKind::Never => (
            format!(" Never release calls like {id} "),
            "Refused now, and later calls are refused without you if they match:",
        ),
    };
    page.text(Look::Plain, opening);
    let mut lines = page.finish();
    let mut chosen_end = 0;
    let mut times: Vec<&str> = offers.iter().map(|offer| offer.lasts.as_str()).collect();
    times.dedup();
    for (place, offer) in offers.iter().enumerate() {
        let mut page = Page::new(ink, inner_width(screen));
        page.gap();
        let here = place == chosen;
        let marker = if here { "›" } else { " " };
        page.field(
            &format!("{marker} {}", offer.scope.as_str()),
            if here { Look::Bold } else { Look::Plain },
            &offer.patterns.join("   "),
        );
        if times.len() > 1 {
            page.field("  lasts", Look::Faint, &offer.lasts);
        }
        lines.extend(page.finish());
        if here {
            chosen_end = lines.len();
        }
    }
    if let [lasts] = times.as_slice() {
        let mut page = Page::new(ink, inner_width(screen));
        page.gap();
        page.field("  lasts", Look::Faint, lasts);
        lines.extend(page.finish());
    }
    if let Some(preview) = preview {
        let width = usize::from(inner_width(screen));
        lines.push(Line::default());
        let also = also_released(preview).into_iter();
        lines.extend(also.map(|line| Line::raw(cut(&escape_for_display(&line, 500), width))));
    }
    // On a low screen the rule that is chosen is the one that is seen.
    let room = usize::from(screen.height.saturating_sub(2));
    let hidden = chosen_end.saturating_sub(room);
    let seen: Vec<Line<'static>> = lines.into_iter().skip(hidden).take(room).collect();
    let foot = match kind {
        RuleKind::Always => " ↑ ↓ choose, y releases it and stores the rule, Esc closes ",
        RuleKind::Never => " ↑ ↓ choose, Enter stores the rule, Esc closes ",
    };
    boxed(frame, screen, &title, foot, seen, ink);
}

/// What else an answer would release, in lines.
fn also_released(preview: &Preview) -> Vec<String> {
    let mut lines = vec![match preview.released.len() {
        0 => "No other call that waits goes along.".to_owned(),
        1 => "1 other call that waits is released by it:".to_owned(),
        more => format!("{more} other calls that wait are released by it:"),
    }];
    lines.extend(preview.released.iter().map(|line| format!("  {line}")));
    if !preview.kept.is_empty() {
        lines.push("Of critical risk, so they wait on:".to_owned());
        lines.extend(preview.kept.iter().map(|line| format!("  {line}")));
    }
    lines
}

fn confirm(
    frame: &mut Frame<'_>,
    screen: Rect,
    (question, note): (&str, &str),
    about: &[String],
    ink: Ink,
) {
    let width = inner_width(screen);
    let mut page = Page::new(ink, width);
    page.text(Look::Bold, question);
    if !note.is_empty() {
        page.text(Look::Notable, note);
    }
    page.gap();
    let mut lines = page.finish();
    let room = usize::from(screen.height.saturating_sub(3))
        .saturating_sub(lines.len())
        .max(1);
    for line in about.iter().take(room) {
        lines.push(Line::raw(cut(
            &escape_for_display(line, 500),
            usize::from(width),
        )));
    }
    if about.len() > room {
        let more = format!("… and {} more", about.len() - room);
        lines.push(Line::styled(more, ink.style(Look::Notable)));
    }
    boxed(frame, screen, " Sure? ", " y yes, n no ", lines, ink);
}

/// Draws a box at the foot of the screen, below the call it is about, and says where its inside is.
fn boxed(
    frame: &mut Frame<'_>,
    screen: Rect,
    title: &str,
    foot: &str,
    lines: Vec<Line<'static>>,
    ink: Ink,
) -> Rect {
    let height = u16::try_from(lines.len() + 2)
        .unwrap_or(u16::MAX)
        .min(screen.height);
    let width = inner_width(screen).saturating_add(4).min(screen.width);
    let area = Rect {
        x: screen.x + (screen.width - width) / 2,
        y: screen.bottom() - height,
        width,
        height,
    };
    let block = Block::bordered()
        .title(Line::styled(title.to_owned(), Modifier::BOLD))
        .title_bottom(Line::styled(foot.to_owned(), ink.style(Look::Faint)).right_aligned());
    let inside = block.inner(area);
    let inside = Rect {
        x: inside.x.saturating_add(1),
        width: inside.width.saturating_sub(2),
        ..inside
    };
    frame.render_widget(Clear, area);
    frame.render_widget(block, area);
    frame.render_widget(Paragraph::new(lines), inside);
    inside
}

fn inner_width(screen: Rect) -> u16 {
    screen.width.saturating_sub(6).clamp(1, MAX_WIDTH)
}

/// The end of a text in so many columns.
fn tail(text: &str, room: usize) -> String {
    let mut skip = 0;
    let mut wide = cell_width(text);
    for c in text.chars() {
        if wide <= room {
            break;
        }
        wide = wide.saturating_sub(char_width(c));
        skip += 1;
    }
    text.chars().skip(skip).collect()
}
