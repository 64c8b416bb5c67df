//! Variables a line gives a literal value, and what later words mean with them.
//!
//! `X=rm; $X -rf /` runs `rm`. Which commands of a line run, and in which order, is not asked
//! here: what a word could mean with a value the line assigns is one more reading of the command,
//! judged beside the others, so a reading too many can only make a decision stricter.

use std::collections::HashMap;

use crate::shell::{self, Command, Text};

/// The longest command made up this way.
const MAX_WORDS: usize = 4096;

/// The longest value that is followed.
const MAX_VALUE: usize = 1 << 16;

/// The most values of one variable that are tried.
const MAX_VALUES: usize = 4;

/// The values assigned so far, the newest first.
#[derive(Debug, Default)]
pub(crate) struct Assigned {
    values: HashMap<String, Vec<String>>,
}

impl Assigned {
    /// The further commands that `commands` could be with the values they assign.
    pub(crate) fn readings(commands: &[Command]) -> Vec<Command> {
        let mut assigned = Self::default();
        let mut found = Vec::new();
        for command in commands {
            for words in assigned.filled_in(command) {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                // What cannot be read stays what it was: a command with a word nobody knows.
                let Ok(readings) = shell::commands_of_words(&words) else {
                    continue;
                };
                let offset = found.len();
                found.extend(readings.into_iter().map(|mut reading| {
                    if let shell::Reached::Within { wrapper, .. } = &mut reading.reached {
                        *wrapper += offset;
                    }
                    reading.span = command.span.clone();
                    reading
                }));
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
                    true => self.value_of(&assignment.value.text, 0),
                };
                if let Some(value) = value {
                    self.remember(&assignment.name, value);
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
                self.remember(name, value.to_owned());
            }
        }
    }

    fn remember(&mut self, name: &str, value: String) {
        let values = self.values.entry(name.to_owned()).or_default();
        if value.len() <= MAX_VALUE && !values.contains(&value) {
            values.insert(0, value);
            values.truncate(MAX_VALUES);
        }
    }

    /// The words of a command with its variables filled in, if it has any and all are known: once
    /// with the newest values, then with older ones, since a later assignment may not have run.
    fn filled_in(&self, command: &Command) -> Vec<Vec<String>> {
        if self.values.is_empty() || !command.words.iter().any(|word| word.dynamic) {
            return Vec::new();
        }
        let mut readings: Vec<Vec<String>> = Vec::new();
        for age in 0..MAX_VALUES {
            if let Some(words) = self.filled_in_at(command, age)
                && !readings.contains(&words)
            {
                readings.push(words);
            }
        }
        readings
    }

    fn filled_in_at(&self, command: &Command, age: usize) -> Option<Vec<String>> {
        let mut words = Vec::new();
        for Text { text, dynamic, .. } in &command.words {
            if !dynamic {
                words.push(text.clone());
                continue;
            }
            let value = self.value_of(text, age)?;
            if text.starts_with('"') {
                words.push(value);
            } else {
                words.extend(value.split_whitespace().map(str::to_owned));
            }
        }
        (words.len() <= MAX_WORDS).then_some(words)
    }

    /// The value of a word written with plain characters, `$NAME` and `${NAME}`, quoted or not.
    fn value_of(&self, source: &str, age: usize) -> Option<String> {
        let mut rest = match source.strip_prefix('"') {
            Some(quoted) => quoted.strip_suffix('"')?,
            None => source,
        };
        let mut value = String::new();
        while let Some(c) = rest.chars().next() {
            if value.len() > MAX_VALUE {
                return None;
            }
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
            let values = self.values.get(name)?;
            value.push_str(values.get(age).or(values.last())?);
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
    fn an_earlier_value_may_be_the_one_that_counts() {
        let found = readings("X=rm; false && X=ls; $X -rf /x");
        assert_eq!(found, ["ls -rf /x", "rm -rf /x"]);
    }

    #[test]
    fn values_that_double_do_not_grow_without_end() {
        let line = format!("a=x;{}echo $a", "b=\"$a$a\";a=\"$b$b\";".repeat(40));
        assert!(
            readings(&line)
                .iter()
                .all(|reading| reading.len() < 1 << 20)
        );
    }

    #[test]
    fn what_the_line_does_not_say_is_not_made_up() {
        assert!(readings("$X -rf /x").is_empty());
        assert!(readings("X=rm; ls ${X:-y}").is_empty());
        assert!(readings("X=rm; ls x").is_empty());
    }
}
