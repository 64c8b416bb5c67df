//! What a rule does for a call besides objecting: it tells the model something, or names the safe form of the command.

use super::format::RewriteEntry;
use crate::facts::FILLED_IN;
use crate::shell::Command;

/// The longest text a model is told: a sentence or two beside the result.
const MAX_TELL: usize = 500;

/// The most words a rule replaces: the spellings of one flag.
const MAX_REPLACED: usize = 16;

/// The longest word that is put in place of another.
const MAX_WORD: usize = 100;

/// What a rule does for a call besides.
#[derive(Clone, Debug)]
pub(crate) struct Help {
    /// What the model is told of a call that runs, with `{branch}` and its like in it.
    pub(crate) tell: Option<String>,
    pub(crate) rewrite: Option<Rewrite>,
}

/// The safe form of a command: some of its words are another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rewrite {
    replace: Vec<String>,
    with: String,
}

impl Help {
    /// Reads what a rule says of it; none if it says nothing.
    pub(super) fn read(
        tell: Option<String>,
        rewrite: Option<RewriteEntry>,
    ) -> Result<Option<Box<Self>>, String> {
        if let Some(text) = &tell {
            check_tell(text)?;
        }
        let rewrite = rewrite.map(Rewrite::read).transpose()?;
        Ok((tell.is_some() || rewrite.is_some()).then(|| Box::new(Self { tell, rewrite })))
    }
}

/// An error if a text is none a model can be told.
pub(crate) fn check_tell(text: &str) -> Result<(), String> {
    let length = text.chars().count();
    if text.trim().is_empty() || length > MAX_TELL || text.contains(char::is_control) {
        return Err(format!(
            "its `tell` must be one line of 1 to {MAX_TELL} characters"
        ));
    }
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('{') {
        let name = after.split_once('}').map(|(name, _)| name);
        match name.filter(|name| FILLED_IN.contains(name)) {
            Some(name) => rest = after.get(name.len()..).unwrap_or_default(),
            None => {
                let known: Vec<String> =
                    FILLED_IN.iter().map(|name| format!("{{{name}}}")).collect();
                return Err(format!(
                    "its `tell` has a `{{` that no fact is filled in for: use {}",
                    known.join(", ")
                ));
            }
        }
    }
    Ok(())
}

impl Rewrite {
    fn read(entry: RewriteEntry) -> Result<Self, String> {
        let rewrite = Self {
            replace: entry.replace.into_list(),
            with: entry.with,
        };
        let words = || rewrite.replace.iter().chain([&rewrite.with]);
        if rewrite.replace.is_empty() || rewrite.replace.len() > MAX_REPLACED {
            return Err(format!(
                "its `rewrite` must replace 1 to {MAX_REPLACED} words"
            ));
        }
        // Nothing a shell would take for anything but one word, however it stands in the line.
        if let Some(word) = words().find(|word| !is_plain(word)) {
            return Err(format!(
                "`{}` in its `rewrite` is no plain word: use at most {MAX_WORD} letters, digits and `-`, `_`, `=`, `.`, `/`, `:`, `@`, `+`",
                word.escape_debug()
            ));
        }
        if rewrite.replace.contains(&rewrite.with) {
            return Err("its `rewrite` replaces a word by itself".into());
        }
        Ok(rewrite)
    }

    /// The places in a line that are to be another word, with that word, for a command of it. None if there are none, or
    /// one of the words is not in the line as it stands: what is quoted, filled in or read from a file is not touched.
    pub(crate) fn places(
        &self,
        command: &Command,
        line: &str,
    ) -> Option<Vec<(usize, usize, &str)>> {
        if command.file.is_some() {
            return None;
        }
        let mut found = Vec::new();
        for word in command.words.iter().skip(1) {
            // Behind it nothing is a flag.
            if word.text == "--" {
                break;
            }
            if !self.replace.contains(&word.text) {
                continue;
            }
            let written = line.get(word.span.clone());
            if word.dynamic || word.glob || written != Some(&word.text) {
                return None;
            }
            found.push((word.span.start, word.span.end, self.with.as_str()));
        }
        (!found.is_empty()).then_some(found)
    }

    /// As it is written: what is replaced, and by what.
    pub(crate) fn spoken(&self) -> (&[String], &str) {
        (&self.replace, &self.with)
    }
}

fn is_plain(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:@+".contains(c);
    !word.is_empty() && word.len() <= MAX_WORD && word.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::format::OneOrMany;

    #[test]
    fn only_plain_words_take_the_place_of_others() {
        let read = |replace: &[&str], with: &str| {
            let replace = replace.iter().map(|word| (*word).to_owned()).collect();
            Rewrite::read(RewriteEntry {
                replace: OneOrMany::Many(replace),
                with: with.to_owned(),
            })
        };
        assert!(read(&["--force", "-f"], "--force-with-lease").is_ok());
        for with in [
            "", "a b", "x;rm", "$(id)", "`id`", "a'b", "a|b", "*", "~", "a\nb", "-f", ">x",
        ] {
            assert!(read(&["--force", "-f"], with).is_err(), "{with:?}");
        }
        assert!(read(&[], "--x").is_err());
    }

    #[test]
    fn a_tell_is_one_line_with_facts_and_nothing_else_filled_in() {
        assert!(check_tell("You are on {branch}, {worktree}").is_ok());
        for wrong in [
            "",
            " ",
            "a\nb",
            "on {command}",
            "open {",
            "{}",
            "{branch",
            &"x".repeat(501),
        ] {
            assert!(check_tell(wrong).is_err(), "{wrong:?}");
        }
    }
}
