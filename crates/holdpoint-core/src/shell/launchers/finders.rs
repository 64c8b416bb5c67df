//! Programs that find files and run commands on them: `find` and `fd`.

use crate::opaque::Reason;
use crate::shell::commands::Wrapping;
use crate::shell::listings;
use crate::shell::refusal::Refusal;
use crate::shell::texts::{Argument, UNKNOWN};
use crate::shell::tree::Span;
use crate::shell::unwrapping::Unwrapped;

/// Tests of `find` after which the name of what it finds stands.
const FIND_BY_NAME: [&str; 4] = ["-name", "-iname", "-path", "-wholename"];

impl Unwrapped<'_, '_> {
    pub(super) fn find(&mut self) -> Result<(), Refusal> {
        let begins = |word: &Argument| {
            let text = word.unquoted();
            matches!(text, "(" | "!" | ",") || (text.starts_with('-') && text.len() > 1)
        };
        let mut from = 1;
        while let Some("-H" | "-L" | "-P" | "-D") = self.known(from) {
            from += if self.known(from) == Some("-D") { 2 } else { 1 };
        }
        let roots: Vec<Argument> = self
            .rest(from)
            .iter()
            .take_while(|word| !begins(word))
            .cloned()
            .collect();
        let mut at = from + roots.len();
        let follows = self
            .words
            .get(1..from)
            .unwrap_or_default()
            .iter()
            .any(|word| matches!(word.unquoted(), "-L" | "-H"));
        let roots: Vec<Argument> = if follows {
            // What a link leads to is searched, not the link.
            let led = |root: &Argument| match root.known() {
                Some(text) => Argument::literal(&format!("{text}/"), root.text.span.clone()),
                None => root.clone(),
            };
            roots.iter().map(led).collect()
        } else {
            roots
        };
        let roots = if roots.is_empty() {
            let span = self
                .words
                .first()
                .map_or(0..0, |word| word.text.span.clone());
            vec![Argument::literal(".", span)]
        } else {
            roots
        };
        // What it finds is named like this, at any depth.
        let tests = self.rest(at);
        let acts = |word: &Argument| {
            let text = word.unquoted();
            text == "-delete" || text.starts_with("-exec") || text.starts_with("-ok")
        };
        // A test behind the deed, or one that is turned around, narrows nothing.
        let first_act = tests.iter().position(acts).unwrap_or(tests.len());
        let loose = tests
            .iter()
            .any(|word| matches!(word.unquoted(), "!" | "-not" | "-o" | "-or" | ","));
        let tests = tests
            .get(..first_act)
            .filter(|_| !loose)
            .unwrap_or_default();
        let filter = tests.windows(2).find_map(|pair| match pair {
            [test, name] if FIND_BY_NAME.contains(&test.unquoted()) => name.known(),
            _ => None,
        });
        let filter = filter.map(str::to_owned);
        let empty = tests.iter().any(|word| word.unquoted() == "-empty");
        let found: Vec<String> = roots
            .iter()
            .flat_map(|root| {
                let hidden = listings::found_hidden(root.unquoted(), filter.as_deref());
                std::iter::once(found_below(root, &filter)).chain(hidden)
            })
            .collect();
        while let Some(word) = self.words.get(at) {
            at += 1;
            if word.splits {
                self.mark(Reason::DynamicCode);
            }
            match word.unquoted() {
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let from = at;
                    let ends = |at: usize, word: &Argument| {
                        let braces = at > from && self.known(at - 1) == Some("{}");
                        word.unquoted() == ";" || (word.unquoted() == "+" && braces)
                    };
                    let left = self.rest(from).iter().enumerate();
                    let count = left
                        .take_while(|(place, word)| !ends(from + place, word))
                        .count();
                    let given: Vec<Argument> =
                        self.rest(from).iter().take(count).cloned().collect();
                    at = from + count + 1;
                    self.executes(&given, &found, filter.is_none(), &word.text.span.clone())?;
                }
                "-delete" => {
                    let span = word.text.span.clone();
                    // What is empty in the project is lost by nobody.
                    let inside = |root: &Argument| {
                        let known = root.known().unwrap_or("/");
                        !known.starts_with(['/', '~']) && !known.contains("..")
                    };
                    if empty && roots.iter().all(inside) {
                        continue;
                    }
                    let mut words = vec![Argument::literal("rm", span.clone())];
                    if self
                        .rest(from)
                        .iter()
                        .any(|word| word.unquoted() == "-empty")
                    {
                        words = vec![Argument::literal("rmdir", span.clone())];
                    } else if filter.is_none() {
                        words.push(Argument::literal("-r", span.clone()));
                    }
                    for root in &roots {
                        let hidden = listings::found_hidden(root.unquoted(), filter.as_deref());
                        words.extend(hidden.map(|pattern| {
                            let word = Argument::supplied(root.unquoted(), span.clone());
                            word.filled_with(Some(pattern))
                        }));
                        words.push(match &filter {
                            Some(_) => Argument::supplied(root.unquoted(), span.clone())
                                .filled_with(Some(found_below(root, &filter))),
                            None => root.clone(),
                        });
                    }
                    self.starts(Wrapping::Incidental, Vec::new(), words)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What `find -exec` runs, once for what is found below each of the places it starts from.
    fn executes(
        &mut self,
        given: &[Argument],
        found: &[String],
        everything: bool,
        span: &Span,
    ) -> Result<(), Refusal> {
        let filled = given.iter().any(|word| word.unquoted().contains("{}"));
        // What names nothing that is found does the same each time.
        let times = if filled { found.len() } else { 1 };
        for found in found.iter().take(times) {
            let fill = |word: &Argument| match word.unquoted() {
                text if text.contains("{}") => {
                    let filled = text_filled(text, found);
                    word.clone().filled_with(Some(filled))
                }
                _ => word.clone(),
            };
            let mut words: Vec<Argument> = given.iter().map(fill).collect();
            // Done to everything that is found, it is done to the whole tree.
            let tree = match words.first().and_then(Argument::known) {
                Some("rm" | "shred") => Some("-r"),
                Some("chmod" | "chown" | "chgrp") => Some("-R"),
                Some(_) | None => None,
            };
            if let (true, Some(flag), true) = (everything, tree, filled) {
                words.insert(1, Argument::literal(flag, span.clone()));
            }
            self.starts(Wrapping::Incidental, Vec::new(), words)?;
        }
        Ok(())
    }

    pub(super) fn fd(&mut self) -> Result<(), Refusal> {
        let option = |text: &str| matches!(text, "-x" | "-X" | "--exec" | "--exec-batch");
        let Some(at) = (1..self.words.len()).find(|at| self.known(*at).is_some_and(option)) else {
            return Ok(());
        };
        let end_of_command = |word: &&Argument| word.unquoted() != ";";
        let mut words: Vec<Argument> = self
            .rest(at + 1)
            .iter()
            .take_while(end_of_command)
            .cloned()
            .collect();
        let end = words.last().map_or(0, |word| word.text.span.end);
        // What follows the pattern is where it searches.
        let root = self
            .words
            .get(1..at)
            .unwrap_or_default()
            .iter()
            .filter_map(Argument::known)
            .filter(|word| !word.starts_with('-'))
            .skip(1)
            .last();
        let pattern = format!("{}/*", root.unwrap_or(".").trim_end_matches('/'));
        words.push(Argument::supplied("{}", end..end).filled_with(Some(pattern)));
        self.starts(Wrapping::Incidental, Vec::new(), words)
    }
}

/// A pattern for what `find` finds below a place.
fn found_below(root: &Argument, filter: &Option<String>) -> String {
    let root = if root.text.dynamic {
        UNKNOWN.to_string()
    } else {
        root.unquoted().trim_end_matches('/').to_owned()
    };
    let name = match filter {
        Some(name) => name
            .rsplit('/')
            .find(|part| !part.is_empty())
            .unwrap_or("*"),
        None => "*",
    };
    format!("{root}/{name}")
}

/// A word of `-exec` with its braces filled in.
fn text_filled(text: &str, found: &str) -> String {
    text.replace("{}", found)
}
