//! The words behind a cmdlet: parameters, in any case and cut short, and operands.

use super::tables::{self, Cmdlet};
use super::words::Word;

/// What a cmdlet is given.
#[derive(Default)]
pub(super) struct Given {
    parameters: Vec<(String, Option<Word>)>,
    operands: Vec<Word>,
    /// Any words may stand there, too.
    pub(super) splatted: bool,
    /// A parameter stands there that the cmdlet does not have.
    pub(super) foreign: bool,
    /// All parameters are single letters, which may be flags of a program.
    pub(super) flags_only: bool,
}

impl Given {
    pub(super) fn of(cmdlet: Option<&'static Cmdlet>, words: &[&Word]) -> Self {
        let mut given = Self {
            flags_only: true,
            ..Self::default()
        };
        let mut rest = words.iter().peekable();
        while let Some(word) = rest.next() {
            given.splatted |= word.splatted;
            let Some((name, glued)) = parameter(word) else {
                if !word.block && !word.splatted {
                    given.operands.push((*word).clone());
                }
                continue;
            };
            given.flags_only &= name.len() == 1;
            if let Some(value) = glued {
                given.parameters.push((name, Some(value)));
                continue;
            }
            let next = rest.peek().filter(|next| parameter(next).is_none());
            let value = next.map(|next| (**next).clone());
            match tables::takes(cmdlet, &name) {
                // A switch leaves the word behind it an operand.
                tables::Takes::Nothing => {}
                tables::Takes::Value => {
                    if value.is_some() {
                        rest.next();
                    }
                }
                // So does, to be safe, one nobody has described.
                tables::Takes::Unknown => given.foreign = true,
            }
            given.parameters.push((name, value));
        }
        given
    }

    /// Whether a switch is given and not turned off.
    pub(super) fn switch(&self, name: &str) -> bool {
        self.parameters.iter().any(|(given, value)| {
            let off = value
                .as_ref()
                .and_then(|value| value.known.as_deref())
                .is_some_and(|value| value.eq_ignore_ascii_case("false") || value == "0");
            !given.is_empty() && name.starts_with(given.as_str()) && !off
        })
    }

    /// The value of a parameter, or the operand that stands for it.
    pub(super) fn argument(&self, cmdlet: &Cmdlet, name: &str) -> Option<&Word> {
        self.value(name).or_else(|| {
            // Parameters that are named leave their places to the others.
            let open = cmdlet.positions.iter().filter(|position| {
                let of_place = tables::is_place(position);
                self.value(position).is_none()
                    && !(of_place && self.place_values().next().is_some())
            });
            let mut open = open.copied();
            let at = open.position(|position| position == name)?;
            self.operands.get(at)
        })
    }

    /// The value of a parameter that is named.
    pub(super) fn value(&self, name: &str) -> Option<&Word> {
        let named = self
            .parameters
            .iter()
            .find(|(given, _)| !given.is_empty() && name.starts_with(given.as_str()));
        named.and_then(|(_, value)| value.as_ref())
    }

    pub(super) fn operands(&self) -> impl Iterator<Item = &Word> {
        self.operands.iter()
    }

    fn values(&self) -> impl Iterator<Item = &Word> {
        self.parameters
            .iter()
            .filter_map(|(_, value)| value.as_ref())
    }

    fn place_values(&self) -> impl Iterator<Item = &Word> {
        let named = self
            .parameters
            .iter()
            .filter(|(given, _)| !given.is_empty() && tables::may_be_place(given));
        named.filter_map(|(_, value)| value.as_ref())
    }

    /// Everything a known path may stand in, as it is written.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let words = self.operands.iter().chain(self.values());
        words.map(|word| word.known.as_deref().unwrap_or(&word.shell))
    }

    /// Operands, and values that are places; but for operands that stand for a parameter that is
    /// none.
    pub(super) fn places(&self, cmdlet: Option<&Cmdlet>) -> String {
        let mut words: Vec<String> = self.place_values().map(Word::path).collect();
        let named = !words.is_empty();
        let positions = cmdlet.map_or(&[][..], |cmdlet| cmdlet.positions);
        let mut open = positions.iter().filter(|position| {
            !(named && tables::is_place(position)) && self.value(position).is_none()
        });
        for operand in &self.operands {
            let stands_for = open.next();
            if stands_for.is_none_or(|position| tables::is_place(position)) {
                words.push(operand.path());
            }
        }
        words.join(" ")
    }

    /// Everything that is no switch.
    pub(super) fn all(&self) -> String {
        let words = self.values().chain(&self.operands).map(Word::path);
        words.collect::<Vec<_>>().join(" ")
    }
}

/// The parameter a word is, and the value glued to it: `-Path:x`.
fn parameter(word: &Word) -> Option<(String, Option<Word>)> {
    if word.quoted || word.block || word.redirection {
        return None;
    }
    let text = word.known.as_deref().unwrap_or(&word.shell);
    let name = text.strip_prefix(['-', '–', '—', '―'])?;
    if !name.starts_with(|letter: char| letter.is_alphabetic() || letter == '-') {
        return None;
    }
    let Some((name, value)) = name.split_once(':') else {
        return Some((name.to_ascii_lowercase(), None));
    };
    let value = match word.known {
        Some(_) => Word::literal(value),
        None => Word {
            shell: value.to_owned(),
            ..Word::default()
        },
    };
    Some((name.to_ascii_lowercase(), Some(value)))
}

/// Whether a word looks like a flag of a program elsewhere.
pub(super) fn is_flag(word: &Word) -> bool {
    parameter(word).is_some()
}
