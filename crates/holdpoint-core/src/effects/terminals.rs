//! Typing into terminals: in one of the session's own a typed line is a command like any other, elsewhere a person may be
//! answering there.

use super::places::Places;
use super::{Effect, EffectKind};
use crate::rules::target_bit;
use crate::shell::Text;
use crate::understand::CommandView;

const TERMINAL: u64 = target_bit("terminal");

/// What tmux calls typing keys; a buffer that is pasted has words nobody reads here.
const TYPING: &[&str] = &["send-keys", "send", "send-key"];

/// What tmux calls pasting.
const PASTING: &[&str] = &["paste-buffer", "pasteb", "paste"];

/// Keys that end a line.
const ENDING: &[&str] = &["Enter", "C-m", "KPEnter", "C-j"];

/// That tmux is told to type into a terminal that is not known to be the session's own.
pub(super) fn effects(view: &CommandView, places: &Places<'_>, found: &mut Vec<Effect>) {
    if view.program() != Some("tmux") {
        return;
    }
    let words = view.command.words.get(1..).unwrap_or_default();
    let typing = words
        .iter()
        .position(|word| TYPING.contains(&word.text.as_str()));
    let pasting = words
        .iter()
        .any(|word| PASTING.contains(&word.text.as_str()));
    let own = typing.is_some_and(|at| !pasting && is_own_line(words, at, places));
    if (typing.is_some() || pasting) && !own {
        found.push(Effect {
            classes: TERMINAL,
            ..Effect::plain(EffectKind::Send, &view.command)
        });
    }
}

/// Whether whole lines are typed into one of the session's own terminals: of a line that is typed in pieces, none says what
/// will run. `-t NAME` is the only flag, and stands in front of the keys.
fn is_own_line(words: &[Text], at: usize, places: &Places<'_>) -> bool {
    let known = words
        .iter()
        .all(|word| !word.dynamic && !word.text.contains(';'));
    let [flag, target, keys @ ..] = words.get(at + 1..).unwrap_or_default() else {
        return false;
    };
    let ended = keys
        .last()
        .is_some_and(|key| ENDING.contains(&key.text.as_str()));
    let plain = keys.iter().all(|key| !key.text.starts_with('-'));
    at == 0
        && known
        && flag.text == "-t"
        && plain
        && ended
        && keys.len() > 1
        && (places.lookup().is_own_terminal(&target.text)
            || (goes_to_line(keys) && places.lookup().has_opened_terminal(&target.text)))
}

/// Whether what is typed only goes to another line of a file: `:13` and the end of a line. In an editor it does that, or is text; to
/// shells and interpreters it is an error.
fn goes_to_line(keys: &[Text]) -> bool {
    let [line, end] = keys else {
        return false;
    };
    let number = line.text.strip_prefix(':').unwrap_or_default();
    let digits = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
    digits && ENDING.contains(&end.text.as_str())
}
