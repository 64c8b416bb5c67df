//! The moment in which an answer that was given with a key can be taken back, and by which a key that answers is told from a
//! letter of something that is typed: an answer stands alone.

use holdpoint_broker::UnixMillis;
use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::{Errand, Given, State, Step, Target, Tone};

/// For how long nothing may be typed before and behind a key that answers, in milliseconds. People type a letter every 0.1 to
/// 0.4 seconds, so what is typed in a row answers nothing.
pub(super) const QUIET: u64 = 1000;

/// What is said of a key that comes among others.
pub(super) const TYPED: &str =
    "you typed just now, so nothing was answered: wait a second, then press the key alone";

/// Answers that leave in a moment, unless somebody takes them back.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Held {
    answers: Vec<Given>,
    due: UnixMillis,
}

impl Held {
    pub(super) fn targets(&self) -> impl Iterator<Item = &Target> {
        self.answers.iter().map(|given| &given.target)
    }
}

impl State {
    /// Notes a key, and says whether it stands alone so far.
    pub(super) fn note_key(&mut self, key: &KeyEvent, now: UnixMillis) -> bool {
        let alone = self
            .typed
            .is_none_or(|at| now.0.saturating_sub(at.0) >= QUIET);
        if is_typing(key.code) {
            self.typed = Some(now);
        }
        alone
    }

    /// Keeps answers back for a moment.
    pub(super) fn hold(&mut self, answers: Vec<Given>, now: UnixMillis) -> Step {
        let what = match answers.as_slice() {
            [one] => one.target.id.clone(),
            several => format!("{} calls", several.len()),
        };
        let releases = answers.iter().any(|given| given.answer.releases());
        let verb = if releases { "releasing" } else { "refusing" };
        self.tell(Tone::Plain, format!("{verb} {what} … Esc takes it back"));
        self.held = Some(Held {
            answers,
            due: UnixMillis(now.0.saturating_add(QUIET)),
        });
        Step::Nothing
    }

    /// Takes back what is kept for a moment, because of a key. True if that was all the key is for.
    pub(super) fn take_back(&mut self, key: &KeyEvent) -> bool {
        let asked = matches!(key.code, KeyCode::Esc | KeyCode::Char('u'));
        if self.held.is_none() || !(asked || is_typing(key.code)) {
            return false;
        }
        self.held = None;
        let why = match asked {
            true => "taken back: nothing was answered",
            false => "you typed on, so nothing was answered: press the key alone",
        };
        self.tell(Tone::Bad, why);
        asked
    }

    /// What has waited for its moment and goes now.
    pub(in super::super) fn due(&mut self, now: UnixMillis) -> Step {
        match self.held.take_if(|held| held.due <= now) {
            Some(held) => self.give(held.answers),
            None => Step::Nothing,
        }
    }

    /// The release that was given last is taken back, if nobody has used it yet.
    pub(super) fn take_back_release(&mut self) -> Step {
        match self.released.take() {
            Some(id) => {
                self.tell(Tone::Plain, "the daemon is told …");
                Step::Ask(Errand::TakeBack(id))
            }
            None => {
                self.tell(
                    Tone::Bad,
                    "you have released nothing that could be taken back",
                );
                Step::Nothing
            }
        }
    }
}

/// Whether a key writes something. Moving and leaving are none of it.
fn is_typing(code: KeyCode) -> bool {
    matches!(
        code,
        KeyCode::Char(_) | KeyCode::Enter | KeyCode::Backspace | KeyCode::Delete
    )
}
