//! What each key does. One table, from which the help is made, too.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a person wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Down,
    Up,
    First,
    Last,
    PageDown,
    PageUp,
    Open,
    Filter,
    OtherTab,
    Help,
    Back,
    Quit,
    /// Something about calls that wait.
    Do(Command),
}

/// What can be done with calls that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Release,
    Refuse,
    Comment,
    Edit,
    Always,
    Never,
    Turn,
    Idle,
    All,
    Extend,
    TakeBack,
    Stop,
    Mark,
    MarkAll,
}

impl Command {
    /// Whether it answers, or asks what comes before an answer, so that its key must stand alone.
    pub(super) fn answers(self) -> bool {
        match self {
            Command::Release
            | Command::Refuse
            | Command::Comment
            | Command::Edit
            | Command::Always
            | Command::Never
            | Command::Turn
            | Command::Idle
            | Command::All => true,
            // Whoever stops something has no time, and it can be resumed.
            Command::Extend
            | Command::TakeBack
            | Command::Stop
            | Command::Mark
            | Command::MarkAll => false,
        }
    }
}

/// Keys, what they do, and how that is told.
pub(super) struct Binding {
    keys: &'static [Key],
    pub(super) action: Action,
    /// In the line at the bottom; none if there is no room for it.
    pub(super) hint: Option<&'static str>,
    /// In the help.
    pub(super) help: &'static str,
}

/// A key that is pressed.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    code: KeyCode,
    control: bool,
}

const fn key(code: KeyCode) -> Key {
    Key {
        code,
        control: false,
    }
}

const fn letter(letter: char) -> Key {
    key(KeyCode::Char(letter))
}

const fn control(letter: char) -> Key {
    Key {
        code: KeyCode::Char(letter),
        control: true,
    }
}

const fn binding(
    keys: &'static [Key],
    action: Action,
    hint: Option<&'static str>,
    help: &'static str,
) -> Binding {
    Binding {
        keys,
        action,
        hint,
        help,
    }
}

/// Every key. The hints stand in the order in which they give way on a narrow screen.
pub(super) const BINDINGS: &[Binding] = &[
    binding(
        &[letter('y')],
        Action::Do(Command::Release),
        Some("release"),
        "release the call; with a selection, all of it",
    ),
    binding(
        &[letter('n')],
        Action::Do(Command::Refuse),
        Some("refuse"),
        "refuse it; with a selection, all of it",
    ),
    binding(
        &[letter('c')],
        Action::Do(Command::Comment),
        Some("comment"),
        "refuse it and tell the model why",
    ),
    binding(
        &[letter('?')],
        Action::Help,
        Some("help"),
        "this help, and away again",
    ),
    binding(
        &[letter('q'), control('c')],
        Action::Quit,
        Some("quit"),
        "quit; what waits goes on waiting",
    ),
    binding(
        &[letter('e')],
        Action::Do(Command::Edit),
        Some("edit"),
        "change its arguments in your editor; it is judged again",
    ),
    binding(
        &[letter('a')],
        Action::Do(Command::Always),
        Some("always"),
        "release it and calls like it; shows the rule first",
    ),
    binding(
        &[letter('N')],
        Action::Do(Command::Never),
        Some("never"),
        "refuse it and calls like it; shows the rule first",
    ),
    binding(
        &[key(KeyCode::Enter)],
        Action::Open,
        Some("in full"),
        "the call in full, with every argument, and back",
    ),
    binding(
        &[letter('+')],
        Action::Do(Command::Extend),
        Some("5 min more"),
        "give it five more minutes",
    ),
    binding(
        &[letter('u')],
        Action::Do(Command::TakeBack),
        None,
        "take back the release given last, if nothing has used it yet",
    ),
    binding(
        &[letter('x'), letter(' ')],
        Action::Do(Command::Mark),
        Some("select"),
        "select it, or no longer",
    ),
    binding(
        &[key(KeyCode::Tab)],
        Action::OtherTab,
        Some("other list"),
        "what was answered before, and back",
    ),
    binding(
        &[letter('/')],
        Action::Filter,
        Some("filter"),
        "show only what has a text in it",
    ),
    binding(
        &[letter('X')],
        Action::Do(Command::MarkAll),
        None,
        "select everything that is listed, or nothing",
    ),
    binding(
        &[letter('t')],
        Action::Do(Command::Turn),
        None,
        "release it, and ask nothing more until its turn ends",
    ),
    binding(
        &[letter('i')],
        Action::Do(Command::Idle),
        None,
        "release it, and ask nothing more until its session is idle",
    ),
    binding(
        &[letter('A')],
        Action::Do(Command::All),
        None,
        "release it, and ask nothing more in its session",
    ),
    binding(
        &[letter('S')],
        Action::Do(Command::Stop),
        None,
        "stop its session: every call is refused until `holdpoint resume`",
    ),
    binding(
        &[letter('j'), key(KeyCode::Down)],
        Action::Down,
        None,
        "the next call",
    ),
    binding(
        &[letter('k'), key(KeyCode::Up)],
        Action::Up,
        None,
        "the call before",
    ),
    binding(
        &[letter('g'), key(KeyCode::Home)],
        Action::First,
        None,
        "the first call",
    ),
    binding(
        &[letter('G'), key(KeyCode::End)],
        Action::Last,
        None,
        "the last call",
    ),
    binding(
        &[key(KeyCode::PageDown), control('d')],
        Action::PageDown,
        None,
        "further down in the call",
    ),
    binding(
        &[key(KeyCode::PageUp), control('u')],
        Action::PageUp,
        None,
        "further up in the call",
    ),
    binding(
        &[key(KeyCode::Esc)],
        Action::Back,
        None,
        "back; then drops the selection, then the filter",
    ),
];

/// What a key does; none if nothing.
pub(super) fn action_of(event: &KeyEvent) -> Option<Action> {
    let odd = KeyModifiers::ALT | KeyModifiers::SUPER | KeyModifiers::HYPER | KeyModifiers::META;
    if event.modifiers.intersects(odd) {
        return None;
    }
    let pressed = Key {
        code: event.code,
        control: event.modifiers.contains(KeyModifiers::CONTROL),
    };
    BINDINGS
        .iter()
        .find(|binding| binding.keys.contains(&pressed))
        .map(|binding| binding.action)
}

/// The key of an action, as it is named to people.
pub(super) fn name_of(action: Action) -> String {
    let binding = BINDINGS.iter().find(|binding| binding.action == action);
    binding
        .and_then(|binding| binding.keys.first())
        .map(|key| key.name())
        .unwrap_or_default()
}

impl Binding {
    /// The first key.
    pub(super) fn name(&self) -> String {
        self.keys.first().map(|key| key.name()).unwrap_or_default()
    }

    /// All keys.
    pub(super) fn names(&self) -> String {
        let names: Vec<String> = self.keys.iter().map(|key| key.name()).collect();
        names.join(" ")
    }
}

/// Keys that are not named by what is on them everywhere.
const NAMES: &[(KeyCode, &str)] = &[
    (KeyCode::Char(' '), "Space"),
    (KeyCode::Up, "↑"),
    (KeyCode::Down, "↓"),
    (KeyCode::PageUp, "PgUp"),
    (KeyCode::PageDown, "PgDn"),
];

impl Key {
    fn name(self) -> String {
        if let (KeyCode::Char(letter), true) = (self.code, self.control) {
            return format!("^{}", letter.to_ascii_uppercase());
        }
        let named = NAMES.iter().find(|(code, _)| *code == self.code);
        named.map_or_else(|| self.code.to_string(), |(_, name)| (*name).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_does_one_thing_and_has_a_name() {
        let mut seen = Vec::new();
        for binding in BINDINGS {
            assert!(!binding.names().trim().is_empty(), "{}", binding.help);
            for key in binding.keys {
                assert!(!seen.contains(key), "{} twice", key.name());
                seen.push(*key);
            }
        }
    }

    #[test]
    fn keys_that_look_alike_are_told_apart() {
        let pressed = |code, modifiers| action_of(&KeyEvent::new(code, modifiers));
        let char = |c| pressed(KeyCode::Char(c), KeyModifiers::NONE);
        assert_eq!(char('n'), Some(Action::Do(Command::Refuse)));
        assert_eq!(
            pressed(KeyCode::Char('N'), KeyModifiers::SHIFT),
            Some(Action::Do(Command::Never))
        );
        assert_eq!(char('c'), Some(Action::Do(Command::Comment)));
        assert_eq!(
            pressed(KeyCode::Char('c'), KeyModifiers::CONTROL),
            Some(Action::Quit)
        );
        assert_eq!(pressed(KeyCode::Char('y'), KeyModifiers::CONTROL), None);
        assert_eq!(pressed(KeyCode::Char('y'), KeyModifiers::ALT), None);
        assert_eq!(char('z'), None);
    }
}
