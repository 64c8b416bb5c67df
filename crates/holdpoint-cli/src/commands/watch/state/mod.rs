//! What is on the screen, and what a key or a word of the daemon makes of it.
//!
//! Nothing is read, drawn or asked here. An answer is always about what was shown: it names the
//! binding of the call as it was on the screen, and a call that came under the cursor by itself is
//! not answered until there was time to see it.

mod answering;
mod line;
mod popup;
mod rows;
mod undo;

use std::collections::BTreeMap;

use holdpoint_broker::{Answer, Request, State as Stands, UnixMillis};
use holdpoint_proof::Signed;
use ratatui::crossterm::event::KeyEvent;

use self::line::TypedLine;
use self::popup::After;
use self::rows::Rows;
use self::undo::{Held, TYPED};
use super::keys::{Action, action_of};

pub(super) use self::answering::one_line;
pub(super) use self::popup::{Popup, Purpose, RuleKind};

/// How long something must be on the screen before it can be answered, in milliseconds: in less nobody has seen
/// it, and the key was meant for what stood there before. A key that comes earlier does nothing but say so.
const MIN_TIME_SHOWN: u64 = 600;

/// How many seconds `+` adds.
pub(super) const EXTENSION: u64 = 300;

/// How many settled calls are fetched at once, and the most that are kept: more than anybody scrolls through. The ledger has all.
pub(super) const HISTORY_PAGE: usize = 200;
const MAX_HISTORY: usize = 5000;

/// What an answer is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) id: String,
    /// What was shown.
    pub(super) binding: String,
}

impl Target {
    pub(super) fn from_request(request: &Request) -> Self {
        Self {
            id: request.id.clone(),
            binding: request.binding.clone(),
        }
    }
}

/// An answer to be given.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Given {
    pub(super) target: Target,
    pub(super) answer: Answer,
    pub(super) phrase: Option<String>,
}

/// Something to ask of the daemon.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Errand {
    /// Give these answers.
    Answer(Vec<Given>),
    /// Give this answer, which somebody signed.
    Signed(Box<Given>, Box<Signed>),
    /// Give a call more time.
    Extend(String),
    /// Take back a release that nobody has used yet.
    TakeBack(String),
    /// What else an answer would release.
    Preview(Box<Given>),
    /// Stop a session.
    Stop(String),
    /// Fetch what was settled before then.
    History(Option<UnixMillis>),
}

/// What a key wants of the world.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Nothing,
    Ask(Errand),
    /// Have the arguments changed in an editor.
    Edit(Box<Request>),
    Quit,
}

/// What came of an answer.
#[derive(Clone, Debug)]
pub(super) struct Came {
    pub(super) id: String,
    pub(super) words: String,
    pub(super) had_effect: bool,
    pub(super) request: Option<Box<Request>>,
}

/// What the daemon says.
#[derive(Clone, Debug)]
pub(super) enum News {
    /// Everything that waits.
    Waiting(Vec<Request>),
    /// A call is another now.
    Changed(Box<Request>),
    /// The daemon cannot be reached, for this reason.
    Lost(String),
    /// What came of answers.
    Answered(Vec<Came>),
    /// What was settled before a moment.
    History(Option<UnixMillis>, Vec<Request>),
    /// What else an answer would release.
    Preview(Box<Given>, Preview),
    /// Something was stopped, in words.
    Stopped(String),
    /// Something could not be asked.
    Failed(String),
}

/// What else an answer would release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Preview {
    /// The calls that would be released, a line each.
    pub(super) released: Vec<String>,
    /// The calls of critical risk that it covers, which wait on.
    pub(super) kept: Vec<String>,
}

/// Whether the daemon can be heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Link {
    Opening,
    Up,
    Down(String),
}

/// Which list is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tab {
    Waiting,
    History,
}

/// How something told sounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Good,
    Plain,
    Bad,
}

/// What the view found out when it drew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Drawn {
    /// The first row of the list that is seen.
    pub(super) offset: usize,
    /// How many lines the call takes, and how many of them are seen.
    pub(super) lines: usize,
    pub(super) height: usize,
}

/// Everything that is on the screen.
#[derive(Debug)]
pub(super) struct State {
    link: Link,
    tab: Tab,
    waiting: Rows,
    past: Rows,
    /// Whether there is more behind what was fetched.
    more_past: bool,
    /// The calls that are selected, as they were when they were.
    marked: BTreeMap<String, Target>,
    filter: String,
    full: bool,
    scroll: usize,
    popup: Option<Popup>,
    told: Option<(Tone, String)>,
    /// When something else came under the cursor by itself.
    moved: Option<UnixMillis>,
    /// When a key was typed last.
    typed: Option<UnixMillis>,
    /// What leaves in a moment.
    held: Option<Held>,
    /// The call that was released last.
    released: Option<String>,
    drawn: Drawn,
}

impl State {
    pub(super) fn new() -> Self {
        Self {
            link: Link::Opening,
            tab: Tab::Waiting,
            waiting: Rows::default(),
            past: Rows::default(),
            more_past: true,
            marked: BTreeMap::new(),
            filter: String::new(),
            full: false,
            scroll: 0,
            popup: None,
            told: None,
            moved: None,
            typed: None,
            held: None,
            released: None,
            drawn: Drawn::default(),
        }
    }

    pub(super) fn link(&self) -> &Link {
        &self.link
    }

    pub(super) fn tab(&self) -> Tab {
        self.tab
    }

    /// How many calls wait, whatever the filter says.
    pub(super) fn count(&self) -> usize {
        self.waiting.requests().len()
    }

    pub(super) fn rows(&self) -> Vec<&Request> {
        self.list().visible(&self.filter)
    }

    pub(super) fn current(&self) -> Option<(usize, &Request)> {
        self.list().current(&self.filter)
    }

    pub(super) fn is_marked(&self, request: &Request) -> bool {
        self.marked.contains_key(&request.id)
    }

    pub(super) fn filter(&self) -> &str {
        &self.filter
    }

    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    pub(super) fn scroll(&self) -> usize {
        self.scroll
    }

    pub(super) fn offset(&self) -> usize {
        self.drawn.offset
    }

    pub(super) fn popup(&self) -> Option<&Popup> {
        self.popup.as_ref()
    }

    pub(super) fn told(&self) -> Option<(Tone, &str)> {
        self.told
            .as_ref()
            .map(|(tone, text)| (*tone, text.as_str()))
    }

    /// Takes what the view found out.
    pub(super) fn drawn(&mut self, drawn: Drawn) {
        self.drawn = drawn;
        self.scroll = self.scroll.min(drawn.lines.saturating_sub(drawn.height));
    }

    /// Says something in the line at the bottom.
    pub(super) fn tell(&mut self, tone: Tone, text: impl Into<String>) {
        self.told = Some((tone, text.into()));
    }

    /// Takes what the daemon says.
    pub(super) fn heard(&mut self, news: News, now: UnixMillis) {
        let before = self
            .current()
            .map(|(_, request)| Target::from_request(request));
        match news {
            News::Waiting(requests) => {
                self.link = Link::Up;
                self.waiting.replace(requests);
                self.waiting.sort_by_expiry();
            }
            News::Changed(request) => self.changed(*request),
            News::Lost(why) => self.link = Link::Down(why),
            News::Answered(came) => self.answered(came),
            News::History(before, requests) => self.fetched(before, requests),
            News::Preview(given, preview) => {
                if let Some(popup) = &mut self.popup {
                    popup.previewed(&given, preview);
                }
            }
            News::Stopped(words) => self.tell(Tone::Good, words),
            News::Failed(why) => self.tell(Tone::Bad, why),
        }
        self.forget_what_changed();
        self.waiting.settle(&self.filter);
        self.past.settle(&self.filter);
        let after = self
            .current()
            .map(|(_, request)| Target::from_request(request));
        if after != before {
            self.scroll = 0;
            self.moved = Some(now);
            // What was looked at in full is gone.
            self.full &= after.map(|target| target.id) == before.map(|target| target.id);
        }
    }

    fn changed(&mut self, request: Request) {
        match request.state {
            Stands::Pending => {
                self.waiting.put(request);
                self.waiting.sort_by_expiry();
            }
            Stands::Released | Stands::Refused | Stands::Expired | Stands::Withdrawn => {
                self.waiting.remove(&request.id);
                self.past.put(request);
                self.past.sort_by_answer();
                self.past.shorten(MAX_HISTORY);
            }
        }
    }

    fn answered(&mut self, came: Vec<Came>) {
        let released = came.iter().rev().filter_map(|one| one.request.as_ref());
        if let Some(request) = released.into_iter().next() {
            let is_released = request.state == Stands::Released;
            self.released = is_released.then(|| request.id.clone());
        }
        let (tone, text) = match came.as_slice() {
            [] => return,
            [one] => {
                let tone = match one.had_effect {
                    true => Tone::Good,
                    false => Tone::Bad,
                };
                (tone, format!("{}  {}", one.id, one.words))
            }
            several => {
                let lost: Vec<&Came> = several.iter().filter(|one| !one.had_effect).collect();
                let done = several.len() - lost.len();
                match lost.first() {
                    None => (Tone::Good, format!("{done} answered")),
                    Some(first) => (
                        Tone::Bad,
                        format!(
                            "{done} answered, {} without effect: {}  {}",
                            lost.len(),
                            first.id,
                            first.words
                        ),
                    ),
                }
            }
        };
        self.tell(tone, text);
        for request in came.into_iter().filter_map(|one| one.request) {
            self.changed(*request);
        }
    }

    fn fetched(&mut self, before: Option<UnixMillis>, requests: Vec<Request>) {
        self.more_past = requests.len() >= HISTORY_PAGE;
        if before.is_none() {
            self.past.replace(Vec::new());
        }
        for request in requests {
            self.past.put(request);
        }
        self.past.sort_by_answer();
        self.past.shorten(MAX_HISTORY);
    }

    /// What was selected or asked about and is another now, or gone, is not answered as it was.
    fn forget_what_changed(&mut self) {
        let waiting = &self.waiting;
        let as_shown = |target: &Target| {
            waiting
                .find(&target.id)
                .is_some_and(|request| request.binding == target.binding)
        };
        self.marked.retain(|_, target| as_shown(target));
        let held = self.held.iter().flat_map(Held::targets);
        let asked = self.popup.iter().flat_map(Popup::targets);
        let gone = held.chain(asked).find(|target| !as_shown(target));
        if let Some(id) = gone.map(|target| target.id.clone()) {
            (self.held, self.popup) = (None, None);
            self.tell(
                Tone::Bad,
                format!("{id}  it was answered or changed meanwhile: look again"),
            );
        }
    }

    /// Takes text that was pasted: never keys, only letters of a line that is being typed.
    pub(super) fn paste(&mut self, text: &str) {
        if let Some(popup) = &mut self.popup {
            popup.paste(text);
        }
    }

    /// Takes a key.
    pub(super) fn press(&mut self, key: &KeyEvent, now: UnixMillis) -> Step {
        let alone = self.note_key(key, now);
        self.told = None;
        if self.take_back(key) {
            return Step::Nothing;
        }
        let step = match (self.popup.take(), action_of(key)) {
            (Some(popup), _) => self.pressed_in(popup, key, alone, now),
            (None, Some(Action::Do(command))) if command.answers() && !alone => {
                self.tell(Tone::Bad, TYPED);
                Step::Nothing
            }
            (None, Some(action)) => self.act(action, now),
            (None, None) => Step::Nothing,
        };
        self.waiting.settle(&self.filter);
        self.past.settle(&self.filter);
        step
    }

    fn pressed_in(&mut self, popup: Popup, key: &KeyEvent, alone: bool, now: UnixMillis) -> Step {
        let by_letter = matches!(popup, Popup::Rules { .. } | Popup::Confirm { .. });
        let before = popup.clone();
        match popup.press(key) {
            After::Stay(popup) => self.popup = Some(popup),
            After::Say(popup, why) => {
                self.popup = Some(popup);
                self.tell(Tone::Bad, why);
            }
            After::Close => {}
            After::Filter(filter) => self.set_filter(filter),
            After::Preview(popup, given) => {
                self.popup = Some(popup);
                return Step::Ask(Errand::Preview(given));
            }
            After::Give(_) if by_letter && !alone => {
                self.popup = Some(before);
                self.tell(Tone::Bad, TYPED);
            }
            After::Give(answers) if answers.iter().any(|given| given.answer.releases()) => {
                return self.hold(answers, now);
            }
            After::Give(answers) => return self.give(answers),
            After::Quit => return Step::Quit,
        }
        Step::Nothing
    }

    fn act(&mut self, action: Action, now: UnixMillis) -> Step {
        match action {
            Action::Quit => return Step::Quit,
            Action::Help => self.popup = Some(Popup::Help(0)),
            Action::Back => self.back(),
            Action::Open => {
                self.full = !self.full && self.current().is_some();
                self.scroll = 0;
            }
            Action::Filter => {
                self.popup = Some(Popup::Line {
                    purpose: Purpose::Filter,
                    line: TypedLine::from_text(&self.filter),
                });
            }
            Action::OtherTab => return self.other_tab(),
            Action::Down => return self.go(self.row().saturating_add(1)),
            Action::Up => return self.go(self.row().saturating_sub(1)),
            Action::First => return self.go(0),
            Action::Last => return self.go(usize::MAX),
            Action::PageDown => self.scroll = self.scroll.saturating_add(self.page()),
            Action::PageUp => self.scroll = self.scroll.saturating_sub(self.page()),
            Action::Do(command) => return self.answer(command, now),
        }
        Step::Nothing
    }

    fn mark_all(&mut self) {
        let visible: Vec<Target> = self.rows().into_iter().map(Target::from_request).collect();
        let all = visible
            .iter()
            .all(|target| self.marked.contains_key(&target.id));
        self.marked.clear();
        if !all {
            let named = visible
                .into_iter()
                .map(|target| (target.id.clone(), target));
            self.marked.extend(named);
        }
    }

    fn back(&mut self) {
        if self.full {
            self.full = false;
            self.scroll = 0;
        } else if !self.marked.is_empty() {
            self.marked.clear();
        } else if !self.filter.is_empty() {
            self.set_filter(String::new());
        } else if self.tab == Tab::History {
            self.tab = Tab::Waiting;
            self.scroll = 0;
        }
    }

    fn set_filter(&mut self, filter: String) {
        self.filter = filter;
        self.scroll = 0;
        // What is no longer seen is no longer selected.
        let visible: Vec<String> = self.rows().iter().map(|one| one.id.clone()).collect();
        self.marked.retain(|id, _| visible.contains(id));
    }

    fn other_tab(&mut self) -> Step {
        self.scroll = 0;
        self.full = false;
        match self.tab {
            Tab::Waiting => {
                self.tab = Tab::History;
                self.past.go(0, &self.filter);
                Step::Ask(Errand::History(None))
            }
            Tab::History => {
                self.tab = Tab::Waiting;
                Step::Nothing
            }
        }
    }

    /// Moves the cursor; past the end of history, fetches more of it.
    fn go(&mut self, row: usize) -> Step {
        self.scroll = 0;
        self.moved = None;
        let past_end = row >= self.rows().len();
        let filter = self.filter.clone();
        match self.tab {
            Tab::Waiting => self.waiting.go(row, &filter),
            Tab::History => self.past.go(row, &filter),
        }
        if self.tab == Tab::History && past_end && self.more_past {
            let oldest = self.past.requests().last();
            let before = oldest.and_then(|request| Some(request.settled.as_ref()?.at));
            if before.is_some() && self.past.requests().len() < MAX_HISTORY {
                return Step::Ask(Errand::History(before));
            }
        }
        Step::Nothing
    }

    fn row(&self) -> usize {
        self.current().map_or(0, |(row, _)| row)
    }

    /// How far a page is, with a line of overlap.
    fn page(&self) -> usize {
        self.drawn.height.saturating_sub(1).max(1)
    }

    fn list(&self) -> &Rows {
        match self.tab {
            Tab::Waiting => &self.waiting,
            Tab::History => &self.past,
        }
    }
}

#[cfg(test)]
mod tests;
