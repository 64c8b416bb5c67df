//! A rule against commands, loosened to what can be told without knowing how the agent compares.
//!
//! Whatever way an agent matches a rule, the letters of the rule stand in what it matches. So a rule may match a line if
//! each of its words stands somewhere in the line, however that is written; where the rule ends a word, so must the line.

use super::CommandLine;

/// A rule, as loose as need be.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// As its author wrote it.
    pub(crate) said: String,
    needs: Needs,
}

#[derive(Clone, Debug)]
enum Needs {
    /// All of these, each in one of its spellings. None at all matches every line.
    Words(Vec<Vec<Literal>>),
    /// The same, where the directory the line runs in counts as well.
    Place(Vec<Literal>),
    /// A path that may lead out of the directory.
    PathOutside,
}

/// Letters that have to stand in a line.
#[derive(Clone, Debug)]
struct Literal {
    /// Lower case, without quotes.
    text: String,
    /// Whether a word begins with them.
    starts: bool,
    /// Whether a word ends with them.
    ends: bool,
}

impl Pattern {
    /// A rule that matches every command.
    pub(crate) fn any(said: &str) -> Self {
        Self::words(said, Vec::new())
    }

    /// A rule against paths that lead out of the directory.
    pub(crate) fn path_outside(said: &str) -> Self {
        Self {
            said: said.to_owned(),
            needs: Needs::PathOutside,
        }
    }

    /// A text in which `*` stands for anything. The text is the beginning of a command and, unless `prefix`, all of it.
    pub(crate) fn command(said: &str, text: &str, prefix: bool) -> Self {
        let mut all = Vec::new();
        let text = unquoted(text);
        let last = text.split_whitespace().count().saturating_sub(1);
        for (index, word) in text.split_whitespace().enumerate() {
            let pieces: Vec<&str> = word.split(WILD).collect();
            let end = pieces.len().saturating_sub(1);
            for (at, piece) in pieces.into_iter().enumerate() {
                all.push(vec![Literal {
                    text: piece.to_owned(),
                    starts: at == 0,
                    ends: at == end && !(prefix && index == last),
                }]);
            }
        }
        Self::words(said, all)
    }

    /// Words that stand one behind the other, each in one of several spellings.
    pub(crate) fn exact_words(said: &str, words: Vec<Vec<String>>) -> Self {
        let literal = |word: String| {
            // A program may be named with its path, here or there.
            Literal {
                text: unquoted(word.rsplit('/').next().unwrap_or(&word)),
                starts: true,
                ends: true,
            }
        };
        let spellings = |words: Vec<String>| words.into_iter().map(literal).collect();
        Self::words(said, words.into_iter().map(spellings).collect())
    }

    /// A path or an address: what stands last in it and is no wildcard.
    pub(crate) fn place(said: &str, path: &str) -> Self {
        let path = unquoted(path);
        let mut parts = path.split(['/', ':']);
        let literal = |part: &&str| {
            let plain = part.replace(WILD, "");
            !plain.is_empty() && !plain.chars().all(|c| matches!(c, '.' | '~'))
        };
        let last = parts.rfind(literal).unwrap_or_default();
        let pieces = last.split(WILD).filter(|piece| !piece.is_empty());
        let literal = |piece: &str| Literal {
            text: piece.to_owned(),
            starts: false,
            ends: false,
        };
        Self {
            said: said.to_owned(),
            needs: Needs::Place(pieces.map(literal).collect()),
        }
    }

    fn words(said: &str, mut all: Vec<Vec<Literal>>) -> Self {
        // What has no letters stands everywhere.
        all.retain(|spellings| !spellings.iter().any(|one| one.text.is_empty()));
        Self {
            said: said.to_owned(),
            needs: Needs::Words(all),
        }
    }

    pub(crate) fn may_match(&self, line: &CommandLine) -> bool {
        match &self.needs {
            Needs::Words(all) => all.iter().all(|spellings| {
                let stands = |one: &Literal| line.forms.iter().any(|form| one.stands_in(form));
                spellings.iter().any(stands)
            }),
            Needs::Place(all) => all.iter().all(|one| {
                let mut forms = line.forms.iter().chain([&line.directory]);
                forms.any(|form| one.stands_in(form))
            }),
            Needs::PathOutside => line.words.iter().any(|word| {
                let path = word.rsplit('=').next().unwrap_or(word);
                path.starts_with(['/', '~', '$', '…']) || path.contains("..")
            }),
        }
    }
}

/// Letters that stand for others, in one agent's rules or another's.
const WILD: [char; 6] = ['*', '?', '[', ']', '{', '}'];

/// Letters as they are compared.
fn unquoted(text: &str) -> String {
    text.replace(['\'', '"', '\\'], "").to_lowercase()
}

impl Literal {
    fn stands_in(&self, form: &str) -> bool {
        form.match_indices(self.text.as_str()).any(|(at, found)| {
            let (before, rest) = form.split_at_checked(at).unwrap_or((form, ""));
            let after = rest.strip_prefix(found).unwrap_or_default();
            let begins = !self.starts || !before.ends_with(goes_on);
            begins && (!self.ends || !after.starts_with(goes_on))
        })
    }
}

/// Whether a letter belongs to the same word as the one beside it, in every shell.
fn goes_on(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.')
}
