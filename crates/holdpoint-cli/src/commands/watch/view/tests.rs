use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::style::Color;

use super::super::sample::{NOW, edit, push, review, settled};
use super::super::state::{Drawn, News, State};
use super::*;

fn buffer_of(state: &mut State, width: u16, height: u16, ink: Ink) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let mut drawn = Drawn::default();
    terminal
        .draw(|frame| drawn = draw(frame, state, NOW, ink))
        .unwrap();
    state.drawn(drawn);
    terminal.backend().buffer().clone()
}

fn text_of(buffer: &Buffer) -> String {
    let area = buffer.area;
    let mut text = String::new();
    for y in 0..area.height {
        let line: String = (0..area.width)
            .map(|x| buffer.cell((x, y)).map_or("", |cell| cell.symbol()))
            .collect();
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn seen(state: &mut State, width: u16, height: u16) -> String {
    text_of(&buffer_of(state, width, height, Ink::Coloured))
}

fn state(requests: &[holdpoint_broker::Request]) -> State {
    let mut state = State::new();
    state.heard(News::Waiting(requests.to_vec()), NOW);
    state
}

fn press(state: &mut State, code: KeyCode) {
    let later = UnixMillis(NOW.0 + 10_000);
    let _ = state.press(&KeyEvent::from(code), later);
}

/// Compares a screen with the one that is kept; a new one is written down with
/// `HOLDPOINT_NEW_SCREENS=1`.
fn assert_looks(name: &str, seen: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src/commands/watch/view/screens")
        .join(format!("{name}.txt"));
    if std::env::var_os("HOLDPOINT_NEW_SCREENS").is_some() {
        std::fs::write(&path, seen).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(kept, seen, "{name} looks another way now:\n{seen}");
}

#[test]
fn a_list_and_a_call() {
    let mut state = state(&[push(), edit(), review()]);
    press(&mut state, KeyCode::Char('j'));
    assert_looks("waiting-100x36", &seen(&mut state, 100, 36));
    assert_looks("waiting-60x15", &seen(&mut state, 60, 15));
    assert_looks("waiting-160x24", &seen(&mut state, 160, 24));
}

#[test]
fn a_difference_and_two_people() {
    let mut state = state(&[edit()]);
    assert_looks("difference", &seen(&mut state, 80, 24));
}

#[test]
fn everything_about_a_call() {
    let mut call = push();
    call.display.hidden = vec!["timeout".into()];
    let mut state = state(&[call]);
    press(&mut state, KeyCode::Enter);
    assert_looks("in-full", &seen(&mut state, 80, 44));
}

#[test]
fn a_phrase_is_typed_below_the_call() {
    let mut state = state(&[review()]);
    press(&mut state, KeyCode::Char('y'));
    for c in "release g".chars() {
        press(&mut state, KeyCode::Char(c));
    }
    assert_looks("phrase", &seen(&mut state, 60, 20));
}

#[test]
fn rules_are_shown_before_they_are_stored() {
    let mut state = state(&[push()]);
    press(&mut state, KeyCode::Char('a'));
    press(&mut state, KeyCode::Down);
    assert_looks("always", &seen(&mut state, 80, 24));
}

#[test]
fn the_help_names_every_key() {
    let mut state = state(&[push()]);
    press(&mut state, KeyCode::Char('?'));
    let text = seen(&mut state, 100, 40);
    for binding in BINDINGS {
        assert!(text.contains(binding.help), "{}\n{text}", binding.help);
    }
    assert_looks("help-60x15", &seen(&mut state, 60, 15));
}

#[test]
fn history_and_what_ended_how() {
    let mut state = state(&[]);
    press(&mut state, KeyCode::Tab);
    let past = vec![settled(&push(), "released"), settled(&edit(), "expired")];
    state.heard(News::History(None, past), NOW);
    assert_looks("history", &seen(&mut state, 80, 24));
}

#[test]
fn no_daemon_and_nothing_to_do() {
    let mut state = State::new();
    assert!(seen(&mut state, 80, 15).contains("Connecting"));
    state.heard(
        News::Lost("the approval daemon does not run: start it with `holdpoint serve`".into()),
        NOW,
    );
    assert_looks("no-daemon", &seen(&mut state, 80, 15));
    state.heard(News::Waiting(Vec::new()), NOW);
    assert!(seen(&mut state, 80, 15).contains("Nothing waits for you."));
}

#[test]
fn text_from_outside_drives_no_terminal_wherever_it_stands() {
    let bad = "a\x1b[2J\u{202e}b\x07\u{9b}c\r\nd\u{200b}e";
    let mut call = push();
    let outside = [
        &mut call.asked.tool,
        &mut call.asked.agent,
        &mut call.asked.session,
        &mut call.asked.directory,
        &mut call.display.summary,
        &mut call.display.details,
        &mut call.decision.reason,
    ];
    for text in outside {
        *text = bad.into();
    }
    call.display.marks.clear();
    call.decision.rule = Some(bad.into());
    call.context.intent = Some(bad.into());
    call.context.agent_name = Some(bad.into());
    call.terms.phrase = Some(bad.into());
    for warned in &mut call.display.warnings {
        warned.text = bad.into();
    }
    for offer in &mut call.terms.offers {
        offer.patterns = vec![bad.into()];
        offer.lasts = bad.into();
    }
    call.display.arguments.insert(bad.into(), bad.into());
    let mut state = state(&[call]);
    for keys in ["", "\n", "a", "A", "y", "c"] {
        for key in keys.chars() {
            press(
                &mut state,
                match key {
                    '\n' => KeyCode::Enter,
                    key => KeyCode::Char(key),
                },
            );
        }
        let text = seen(&mut state, 120, 60);
        let harmful = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{200b}".contains(c);
        assert!(!text.contains(harmful), "{text:?}");
        assert!(text.contains("\\u{1b}[2J\\u{202e}b"), "{text}");
        press(&mut state, KeyCode::Esc);
    }
}

#[test]
fn caught_parts_and_changes_have_their_colours_and_none_without() {
    let colour_at = |text: &str, ink: Ink, mut state: State| {
        let buffer = buffer_of(&mut state, 100, 40, ink);
        let seen = text_of(&buffer);
        let (y, line) = seen
            .lines()
            .enumerate()
            .find(|(_, line)| line.contains(text))
            .unwrap();
        let x = line.split(text).next().unwrap().chars().count();
        let place = (u16::try_from(x).unwrap(), u16::try_from(y).unwrap());
        buffer.cell(place).unwrap().fg
    };
    for (text, colour) in [
        ("--force origin topic", Color::Red),
        ("120 MB", Color::Yellow),
    ] {
        // In the list it stands, too: there it has the colours of the list.
        let mut call = push();
        call.display.summary = "forced push".into();
        assert_eq!(
            colour_at(text, Ink::Coloured, state(&[call.clone()])),
            colour
        );
        assert_eq!(colour_at(text, Ink::Plain, state(&[call])), Color::Reset);
    }
    assert_eq!(
        colour_at("+    2", Ink::Coloured, state(&[edit()])),
        Color::Green
    );
    assert_eq!(
        colour_at("-    1", Ink::Coloured, state(&[edit()])),
        Color::Red
    );
}

#[test]
fn a_long_call_is_scrolled_to_its_end_and_no_further() {
    let mut call = push();
    call.display.details = (0..200).map(|line| format!("line {line}\n")).collect();
    call.display.marks.clear();
    let mut state = state(&[call]);
    assert!(seen(&mut state, 80, 24).contains("more"));
    for _ in 0..100 {
        press(&mut state, KeyCode::PageDown);
        seen(&mut state, 80, 24);
    }
    let end = seen(&mut state, 80, 24);
    assert!(end.contains("Editable"), "{end}");
    press(&mut state, KeyCode::PageUp);
    assert_ne!(seen(&mut state, 80, 24), end, "one page up is one page up");
}

#[test]
fn every_size_is_drawn() {
    let popups = [None, Some('?'), Some('a'), Some('A'), Some('c'), Some('/')];
    for popup in popups {
        let mut state = state(&[push(), edit(), review()]);
        press(&mut state, KeyCode::Char('j'));
        if let Some(key) = popup {
            press(&mut state, KeyCode::Char(key));
        }
        for (width, height) in [
            (1, 1),
            (10, 3),
            (30, 8),
            (31, 9),
            (60, 15),
            (149, 20),
            (150, 20),
            (400, 120),
        ] {
            let text = seen(&mut state, width, height);
            assert_eq!(text.lines().count(), usize::from(height));
        }
    }
}

#[test]
fn the_cursor_is_always_in_view() {
    let calls: Vec<_> = (0..60)
        .map(|number| {
            let mut call = push();
            call.id = format!("call{number:04}");
            call
        })
        .collect();
    let mut state = state(&calls);
    for key in "jjjjjjjjjjjjjjjjjjjjkkkkkkkkkkkkkkkkkkGgGkkkkkkkkkkkkkk".chars() {
        press(&mut state, KeyCode::Char(key));
        let text = seen(&mut state, 60, 15);
        let (_, current) = state.current().unwrap();
        let listed = text.lines().skip(1).take(4);
        assert!(
            listed.clone().any(|line| line.contains(&current.id)),
            "{text}"
        );
    }
}
