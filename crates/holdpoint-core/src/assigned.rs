//! Variables a line gives a literal value, and what later words mean with them.
//!
//! `X=rm; $X -rf /` runs `rm`. Which commands of a line run, and in which order, is not asked
//! here: what a word could mean with a value the line assigns is one more reading of the command,
//! judged beside the others, so a reading too many can only make a decision stricter.

use std::collections::HashMap;

use crate::shell::{self, Command, Text};

/// The longest command made up this way.
const MAX_WORDS: usize = 256;

/// The values assigned so far.
#[derive(Debug, Default)]
pub(crate) struct Assigned {
    values: HashMap<String, String>,
}

impl Assigned {
    /// The further commands that `commands` could be with the values they assign.
    pub(crate) fn readings(commands: &[Command]) -> Vec<Command> {
        let mut assigned = Self::default();
        let mut found = Vec::new();
        for command in commands {
            if let Some(words) = assigned.filled_in(command) {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                if let Ok(readings) = shell::commands_of_words(&words) {
                    let offset = found.len();
                    found.extend(readings.into_iter().map(|mut reading| {
                        if let shell::Reached::Within { wrapper, .. } = &mut reading.reached {
                            *wrapper += offset;
                        }
                        reading.span = command.span.clone();
                        reading
                    }));
                }
            }
            assigned.learn(command);
        }
        found
    }

    fn learn(&mut self, command: &Command) {
        if command.words.is_empty() {
            for assignment in &command.assignments {
                let value = match assignment.value.dynamic {
                    false => Some(assignment.value.text.clone()),
                    true => self.value_of(&assignment.value.text),
                };
                if let Some(value) = value {
                    self.values.insert(assignment.name.clone(), value);
                }
            }
        }
        let declares = matches!(
            command.program(),
            Some("export" | "declare" | "local" | "readonly" | "typeset")
        );
        for word in command
            .words
            .iter()
            .skip(1)
            .filter(|word| declares && !word.dynamic)
        {
            if let Some((name, value)) = word.text.split_once('=') {
                self.values.insert(name.to_owned(), value.to_owned());
            }
        }
    }

    /// The words of a command with its variables filled in, if it has any and all are known.
    fn filled_in(&self, command: &Command) -> Option<Vec<String>> {
        if self.values.is_empty() || !command.words.iter().any(|word| word.dynamic) {
            return None;
        }
        let mut words = Vec::new();
        for Text { text, dynamic, .. } in &command.words {
            if !dynamic {
                words.push(text.clone());
                continue;
            }
            let value = self.value_of(text)?;
            if text.starts_with('"') {
                words.push(value);
            } else {
                words.extend(value.split_whitespace().map(str::to_owned));
            }
        }
        (words.len() <= MAX_WORDS).then_some(words)
    }

    /// The value of a word written with plain characters, `$NAME` and `${NAME}`, quoted or not.
    fn value_of(&self, source: &str) -> Option<String> {
        let mut rest = match source.strip_prefix('"') {
            Some(quoted) => quoted.strip_suffix('"')?,
            None => source,
        };
        let mut value = String::new();
        while let Some(c) = rest.chars().next() {
            if c != '$' {
                let plain = c.is_alphanumeric() || "_-./=:,+@% ~".contains(c);
                if !plain {
                    return None;
                }
                value.push(c);
                rest = rest.get(c.len_utf8()..)?;
                continue;
            }
            let after = rest.get(1..)?;
            let (name, further) = match after.strip_prefix('{') {
                Some(braced) => braced.split_once('}')?,
                None => {
                    let end = after
                        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                        .unwrap_or(after.len());
                    after.split_at_checked(end)?
                }
            };
            value.push_str(self.values.get(name)?);
            rest = further;
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(line: &str) -> Vec<String> {
        Assigned::readings(&shell::commands(line).unwrap())
            .iter()
            .map(Command::line)
            .collect()
    }

    #[test]
    fn a_variable_means_what_the_line_says() {
        assert_eq!(readings("X=rm; $X -rf /x"), ["rm -rf /x"]);
        assert_eq!(readings("A=r; B=m; $A${B} x"), ["rm x"]);
        assert_eq!(readings("export F='-r -f'; rm $F x"), ["rm -r -f x"]);
        assert_eq!(readings("X='a b'; rm \"$X\""), ["rm a b"]);
        assert_eq!(readings("A=rm; B=\"$A -rf\"; $B x"), ["rm -rf x"]);
    }

    #[test]
    fn code_in_a_variable_is_read_as_code() {
        let found = readings("X='rm -rf /x'; eval \"$X\"");
        assert!(found.contains(&"rm -rf /x".to_owned()), "{found:?}");
    }

    #[test]
    fn what_the_line_does_not_say_is_not_made_up() {
        assert!(readings("$X -rf /x").is_empty());
        assert!(readings("X=rm; ls ${X:-y}").is_empty());
        assert!(readings("X=rm; ls x").is_empty());
    }
}
