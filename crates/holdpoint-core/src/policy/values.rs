//! The values of `arguments` rules: texts an argument starts with or, in a deny list, contains.
//!
//! Both are meant at word boundaries (J-15, J-16): `su` is not in `summary.sh`, `git` does not
//! start `gitevil`. For an argument that is a command the words of its commands are compared, not
//! its text, so that what is only printed or quoted is not taken for a command (invariant 4).

use std::collections::HashMap;

use crate::flags;
use crate::literal_index::{ByText, LiteralIndex};
use crate::paths;
use crate::understand::CommandView;

/// The values of one argument.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values {
    values: Vec<Value>,
    texts: LiteralIndex,
    /// By the word the fewest other values have, or else by the first flag.
    by_word: ByText<Vec<usize>>,
}

#[derive(Clone, Debug)]
struct Value {
    text: String,
    /// The words, flags apart.
    words: Vec<String>,
    flags: Vec<String>,
}

impl Value {
    fn new(text: &str) -> Self {
        let mut words = Vec::new();
        let mut flags = Vec::new();
        for word in text.split_whitespace() {
            if word.len() > 1 && word.starts_with('-') {
                flags.push(word.to_owned());
            } else {
                // `/etc/` is `/etc` and what lies in it.
                let trimmed = word.trim_end_matches('/');
                words.push(if trimmed.is_empty() { word } else { trimmed }.to_owned());
            }
        }
        Self {
            text: text.to_owned(),
            words,
            flags,
        }
    }

    /// A single word that could be a program's name is meant as one; anything else (a flag, a
    /// path, several words) may stand anywhere in a command.
    fn stands_anywhere(&self) -> bool {
        let [word] = self.words.as_slice() else {
            return true;
        };
        !self.flags.is_empty()
            || !word.starts_with(char::is_alphanumeric)
            || word.contains(['.', '/', '_'])
    }
}

impl Values {
    pub(crate) fn new(texts: &[String]) -> Self {
        let values: Vec<Value> = texts.iter().map(|text| Value::new(text)).collect();
        let mut common: HashMap<&str, usize> = HashMap::new();
        for word in values.iter().flat_map(|value| &value.words) {
            *common.entry(word).or_default() += 1;
        }
        let mut by_word: ByText<Vec<usize>> = ByText::default();
        for (number, value) in values.iter().enumerate() {
            let rarest = value
                .words
                .iter()
                .min_by_key(|word| common.get(word.as_str()));
            if let Some(key) = rarest.or(value.flags.first()) {
                by_word.entry(key.clone()).or_default().push(number);
            }
        }
        let literals: Vec<Vec<&str>> = values
            .iter()
            .map(|value| vec![value.text.as_str()])
            .collect();
        Self {
            texts: LiteralIndex::build(&literals),
            by_word,
            values,
        }
    }

    /// The values `text` contains at word boundaries.
    pub(crate) fn contained_in(&self, text: &str) -> Vec<usize> {
        self.text_candidates(text, contains_words)
    }

    /// The values `text` starts with, up to a word boundary.
    pub(crate) fn starting(&self, text: &str) -> Vec<usize> {
        self.text_candidates(text, starts_with_words)
    }

    fn text_candidates(&self, text: &str, verify: fn(&str, &str) -> bool) -> Vec<usize> {
        if self.values.is_empty() {
            return Vec::new();
        }
        self.texts
            .candidates(text)
            .into_iter()
            .filter_map(|number| usize::try_from(number).ok())
            .filter(|number| {
                self.values
                    .get(*number)
                    .is_some_and(|value| !value.text.is_empty() && verify(text, &value.text))
            })
            .collect()
    }

    /// The values that stand in `command`: as its first words or, where the value is not a bare
    /// program name, anywhere among them.
    pub(crate) fn contained_in_command(&self, command: &CommandView) -> Vec<usize> {
        self.command_candidates(command, |value, words| {
            let data = command.only_prints();
            let positions = if value.stands_anywhere() && !data {
                words.len()
            } else {
                1
            };
            !(data && value.words.is_empty())
                && value.flags.iter().all(|flag| has_flag(command, flag))
                && (0..positions).any(|at| words_start_with(words.get(at..), &value.words))
        })
    }

    /// The values that are `path` or a directory above it.
    pub(crate) fn above_path(&self, path: &str) -> Vec<usize> {
        path_prefixes(path)
            .chain(path.split('/').filter(|_| path.len() <= paths::MAX_PATH))
            .filter_map(|prefix| self.by_word.get(prefix))
            .flatten()
            .copied()
            .filter(|number| {
                self.values.get(*number).is_some_and(|value| {
                    value.words.len() == 1 && value.flags.is_empty() && value.stands_anywhere()
                })
            })
            .collect()
    }

    /// The values that are the first words of `command`, in the order written.
    pub(crate) fn starting_command(&self, command: &CommandView) -> Vec<usize> {
        self.command_candidates(command, |value, _| {
            let mut words = command.line().split(' ');
            value
                .text
                .split_whitespace()
                .all(|wanted| words.next() == Some(wanted))
        })
    }

    fn command_candidates(
        &self,
        command: &CommandView,
        verify: impl Fn(&Value, &[&str]) -> bool,
    ) -> Vec<usize> {
        if self.values.is_empty() {
            return Vec::new();
        }
        let words: Vec<&str> = command.flagless().split(' ').collect();
        let prefixes = words.iter().flat_map(|word| path_prefixes(word));
        let flags = command.all_flags().map(String::as_str);
        let mut found: Vec<usize> = prefixes
            .chain(flags)
            .filter_map(|key| self.by_word.get(key))
            .flatten()
            .copied()
            .filter(|number| {
                self.values
                    .get(*number)
                    .is_some_and(|value| verify(value, &words))
            })
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    pub(crate) fn text(&self, number: usize) -> &str {
        self.values
            .get(number)
            .map_or("", |value| value.text.as_str())
    }
}

/// The word itself and, for a path, every directory above it: `/etc/ssh/x`, `/etc/ssh`, `/etc`.
fn path_prefixes(word: &str) -> impl Iterator<Item = &str> {
    // What is longer than a path can be is not one.
    let is_path = word.len() <= paths::MAX_PATH;
    std::iter::successors(Some(word), move |path| {
        // Letter by letter: most words are short, and no paths.
        let slash = path.bytes().rposition(|byte| byte == b'/')?;
        path.get(..slash)
            .filter(|parent| is_path && !parent.is_empty())
    })
    .chain(word.starts_with('/').then_some("/"))
}

fn has_flag(command: &CommandView, flag: &str) -> bool {
    let given = |flag: &str| command.all_flags().any(|given| given == flag);
    let mut pieces = Vec::new();
    flags::push(&mut pieces, command.program().unwrap_or_default(), flag);
    given(flag)
        || (!flag.starts_with("--")
            && pieces.len() > 1
            && pieces.iter().skip(1).all(|piece| given(piece)))
}

/// Whether `words` begins with `wanted`, the last of which may be a directory of its counterpart.
fn words_start_with(words: Option<&[&str]>, wanted: &[String]) -> bool {
    let (Some(words), Some((last, before))) = (words, wanted.split_last()) else {
        return wanted.is_empty();
    };
    before
        .iter()
        .zip(words)
        .all(|(wanted, word)| wanted == word)
        && words
            .get(before.len())
            .is_some_and(|word| path_prefixes(word).any(|prefix| prefix == last))
}

/// Whether `value` stands in `text` with no letter, digit or path glued to it.
fn contains_words(text: &str, value: &str) -> bool {
    let ends_open = value.ends_with(|c: char| !is_word(c));
    text.match_indices(value).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text
            .get(at + value.len()..)
            .and_then(|after| after.chars().next());
        let starts = !before.is_some_and(|c| {
            is_word(c) || (value.starts_with('/') && matches!(c, '.' | '/' | '~'))
        });
        starts && (ends_open || !after.is_some_and(is_word))
    })
}

/// Whether `text` starts with `value` and the value ends at a space, a `/`, `?` or `#`.
fn starts_with_words(text: &str, value: &str) -> bool {
    let Some(rest) = text.strip_prefix(value) else {
        return false;
    };
    let ends_open = value.ends_with(|c: char| c.is_whitespace() || c == '/');
    let boundary = rest
        .chars()
        .next()
        .is_none_or(|c| c.is_whitespace() || matches!(c, '/' | '?' | '#'));
    // `/data/../etc` starts with `/data` and leads elsewhere.
    (ends_open || boundary) && !paths::climbs(rest)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::ToolCall;
    use crate::understand::Action;

    fn denied(value: &str, line: &str) -> bool {
        let values = Values::new(&[value.to_owned()]);
        let call = ToolCall::shell(line);
        Action::of(&call)
            .commands
            .iter()
            .any(|command| !values.contained_in_command(command).is_empty())
    }

    fn contains(value: &str, text: &str) -> bool {
        !Values::new(&[value.to_owned()])
            .contained_in(text)
            .is_empty()
    }

    fn starts(value: &str, text: &str) -> bool {
        !Values::new(&[value.to_owned()]).starting(text).is_empty()
    }

    #[test]
    fn a_program_name_is_found_wherever_it_would_run() {
        assert!(denied("sudo", "echo x && sudo ls"));
        assert!(denied("sudo", "bash -c 'sudo ls'"));
        assert!(denied("rm -rf", "echo x && rm -rf /"));
        assert!(denied("rm -rf", "rm -f -r /"));
        assert!(denied("rm -rf", "rm --force --recursive /"));
        assert!(!denied("su", "summary.sh"));
    }

    #[test]
    fn data_is_not_a_program() {
        assert!(!denied("sudo", "echo sudo"));
        assert!(!denied("sudo", "grep sudo /var/log/auth.log"));
        assert!(!denied("rm -rf", "echo rm -rf /"));
        assert!(!denied("rm -rf", "git commit -m 'never rm -rf /'"));
    }

    #[test]
    fn flags_and_directories_are_found_anywhere_in_a_command() {
        assert!(denied("--force", "git push --force origin"));
        assert!(denied("push --force", "git push --force origin"));
        assert!(denied("/etc", "cat /etc/passwd"));
        assert!(!denied("/etc", "cat /etcetera"));
        assert!(!denied("--force", "echo --force"));
    }

    #[test]
    fn texts_match_at_word_boundaries() {
        assert!(contains("DROP", "x;DROP TABLE t"));
        assert!(contains("/etc", "/etc/passwd"));
        assert!(!contains("/etc", "./etc/passwd"));
        assert!(!contains("su", "summary.sh"));
        assert!(contains("/etc/", "/etc/passwd"));
    }

    #[test]
    fn an_allowed_prefix_ends_at_a_boundary_and_does_not_climb() {
        assert!(starts("git", "git status"));
        assert!(!starts("git", "gitevil --pwn"));
        assert!(starts(
            "https://docs.example.com",
            "https://docs.example.com/a"
        ));
        assert!(!starts(
            "https://docs.example.com",
            "https://docs.example.com.evil.org"
        ));
        assert!(!starts("/data", "/data/../etc/passwd"));
    }
}
