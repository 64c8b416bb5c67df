//! `holdpoint watch`: what waits for a person, on a full screen.
//!
//! [`state`] is what is on the screen and what a key makes of it, [`view`] draws it, [`keys`] says
//! which key does what, [`feed`] speaks with the daemon, [`screen`] is the terminal.

mod editing;
mod feed;
mod keys;
#[cfg(test)]
mod sample;
mod screen;
mod state;
mod view;

use std::io::{self, IsTerminal};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use holdpoint_broker::channel::console::wants_no_colour;
use holdpoint_broker::{Answer, Request, UnixMillis};
use holdpoint_engine::Locations;
use holdpoint_sandbox::interrupt;
use ratatui::crossterm::event::{Event, KeyEventKind};

use self::editing::Edited;
use self::feed::Feed;
use self::screen::Screen;
use self::state::{Errand, Given, State, Step, Target, Tone};
use self::view::Ink;
use super::approvals::signed_for;
use super::serve::{not_for_agents, places};
use crate::exit::Exit;

/// How long a key is waited for until it is looked whether there is news.
const TICK: Duration = Duration::from_millis(50);

/// How long the screen may take to be left in good order.
const GRACE: Duration = Duration::from_secs(1);

/// How much news is taken in at once, so that a flood of it keeps no key waiting.
const MAX_NEWS: usize = 64;

pub(crate) fn run() -> anyhow::Result<Exit> {
    not_for_agents("answer for a person")?;
    let places = places(&Locations::of_this_machine())?;
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        bail!("a full screen needs a terminal: `holdpoint pending` prints what waits");
    }
    if variable("TERM").is_some_and(|term| term == "dumb") {
        bail!("this terminal has no full screen: `holdpoint pending` prints what waits");
    }
    let ink = match wants_no_colour(&variable) {
        true => Ink::Plain,
        false => Ink::Coloured,
    };
    interrupt::listen().context("the program cannot be told to stop")?;
    thread::spawn(end_when_told);
    let feed = Feed::start(&places);
    let mut screen = Screen::open().context("the terminal cannot be used")?;
    watch(&mut screen, &feed, ink).context("the terminal is lost")?;
    Ok(Exit::Fine)
}

/// Ends the program a moment after it was told to. Asking a terminal that has gone away for keys
/// never returns, so it cannot be left to the loop that does.
fn end_when_told() {
    while !interrupt::was_told() {
        thread::sleep(TICK * 4);
    }
    thread::sleep(GRACE);
    screen::leave();
    std::process::exit(Exit::Fine as i32);
}

/// Everything that was heard is on the screen before the next key is looked at, so a key is never
/// about something that was not shown.
fn watch(screen: &mut Screen, feed: &Feed, ink: Ink) -> io::Result<()> {
    let mut state = State::new();
    let mut shown_at = None;
    while !interrupt::was_told() {
        let now = UnixMillis::now();
        for news in feed.news.try_iter().take(MAX_NEWS) {
            state.heard(news, now);
            shown_at = None;
        }
        if shown_at != Some(now.0 / 1000) {
            let mut drawn = state::Drawn::default();
            screen.draw(|frame| drawn = view::draw(frame, &state, now, ink))?;
            state.drawn(drawn);
            shown_at = Some(now.0 / 1000);
        }
        // Keys that wait were pressed before now: each may take back an answer that is due.
        let event = match screen.event(Duration::ZERO)? {
            Some(event) => Some(event),
            None => {
                if let Step::Ask(errand) = state.due(UnixMillis::now()) {
                    send(screen, feed, &mut state, errand)?;
                    shown_at = None;
                }
                screen.event(TICK)?
            }
        };
        let Some(event) = event else {
            continue;
        };
        shown_at = None;
        let step = match &event {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                state.press(key, UnixMillis::now())
            }
            Event::Paste(text) => {
                state.paste(text);
                Step::Nothing
            }
            Event::Key(_) | Event::Resize(..) | Event::Mouse(_) => Step::Nothing,
            Event::FocusGained | Event::FocusLost => Step::Nothing,
        };
        match step {
            Step::Nothing => {}
            Step::Ask(errand) => send(screen, feed, &mut state, errand)?,
            Step::Edit(request) => edit(screen, feed, &mut state, &request)?,
            Step::Quit => return Ok(()),
        }
    }
    Ok(())
}

/// Hands on what is to be asked of the daemon. An answer that a key must sign is signed first: the terminal is left to
/// `ssh-keygen` for that, and to what is signed.
fn send(screen: &mut Screen, feed: &Feed, state: &mut State, errand: Errand) -> io::Result<()> {
    let Errand::Answer(answers) = errand else {
        feed.ask(errand);
        return Ok(());
    };
    let (to_sign, plain): (Vec<Given>, Vec<Given>) = answers
        .into_iter()
        .partition(|given| state.wants_key(given));
    if !plain.is_empty() {
        feed.ask(Errand::Answer(plain));
    }
    for given in to_sign {
        let Target { id, binding } = &given.target;
        match screen.lend(|| signed_for(id, binding, &given.answer))? {
            Ok(Some(signed)) => feed.ask(Errand::Signed(Box::new(given), Box::new(signed))),
            // The daemon says what it wants instead.
            Ok(None) => feed.ask(Errand::Answer(vec![given])),
            Err(error) => state.tell(Tone::Bad, format!("{id}  nothing is released: {error:#}")),
        }
    }
    Ok(())
}

fn edit(screen: &mut Screen, feed: &Feed, state: &mut State, request: &Request) -> io::Result<()> {
    match editing::edit(request, screen)? {
        Edited::Changed(input) => {
            state.tell(Tone::Plain, "the daemon is told …");
            feed.ask(Errand::Answer(vec![Given {
                target: Target::from_request(request),
                answer: Answer::Edit { input },
                phrase: None,
            }]));
        }
        Edited::Unchanged => state.tell(Tone::Plain, "nothing was changed"),
        Edited::Failed(why) => state.tell(Tone::Bad, why),
    }
    Ok(())
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
