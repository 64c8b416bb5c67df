//! Code in the words of a command: what an interpreter, a wrapper or a setting runs.

use std::rc::Rc;
use std::sync::Arc;

use super::{Listing, MAX_DEPTH, Scope, Start, opaque_origin};
use crate::budget::{Cost, Resource};
use crate::code::{self, Language, Place};
use crate::opaque::Reason;
use crate::shell::commands::{Reached, Wrapping};
use crate::shell::environment::Value;
use crate::shell::input::Input;
use crate::shell::reader::read;
use crate::shell::refusal::Refusal;
use crate::shell::settings;
use crate::shell::texts::Argument;
use crate::shell::tree::Span;

/// Pieces of code whose readings are kept: the same one comes again soon or not at all. An older one
/// is read again.
const MAX_CODE_READ: usize = 4;
/// Stands for a word nobody knows: a variable nobody sets.
pub(super) const UNKNOWN_WORD: &str = "$__";
pub(super) const UNKNOWN_WORD_QUOTED: &str = "\"$__\"";

/// Code that was read, and what reading it cost.
pub(super) struct CodeRead {
    language: Language,
    place: Place,
    pub(super) text: Box<str>,
    pub(super) cost: Cost,
    pub(super) reading: Rc<code::Reading>,
}

impl<'w> Listing<'w> {
    /// Reads code in another language. A script that a line writes and runs is come upon twice, as
    /// what is run and as a file of the project that is loaded; reading it is by far the dearest thing
    /// a call can ask for.
    pub(in crate::shell) fn read_code(
        &mut self,
        language: Language,
        text: &str,
        place: &Place,
    ) -> Rc<code::Reading> {
        let same =
            |one: &&CodeRead| one.language == language && *one.text == *text && one.place == *place;
        if let Some(known) = self.code_read.iter().find(same)
            && self.budget().spend_again(&known.cost)
        {
            return Rc::clone(&known.reading);
        }
        let before = self.budget().usage();
        let reading = Rc::new(code::read(language, text, place, self.budget()));
        if let Some(cost) = self.budget().cost_since(&before) {
            if self.code_read.len() >= MAX_CODE_READ {
                self.code_read.remove(0);
            }
            self.code_read.push(CodeRead {
                language,
                place: place.clone(),
                text: Box::from(text),
                cost,
                reading: Rc::clone(&reading),
            });
        }
        reading
    }

    /// Lists the commands of code that stands in a word of a listed command.
    pub(in crate::shell) fn code(
        &mut self,
        wrapper: usize,
        how: Wrapping,
        code: &Argument,
        start: &Start,
    ) -> Result<(), Refusal> {
        if code.text.dynamic {
            // What is known of it is still listed: it may be worth a denial.
            self.mark(wrapper, opaque_origin(code.origin, Reason::DynamicCode));
        }
        self.known_code(wrapper, how, code.unquoted(), &code.text.span, start)
    }

    /// Lists the commands of a text that a listed command runs as code.
    pub(in crate::shell) fn known_code(
        &mut self,
        wrapper: usize,
        how: Wrapping,
        code: &str,
        span: &Span,
        start: &Start,
    ) -> Result<(), Refusal> {
        if start.depth >= MAX_DEPTH {
            self.mark(wrapper, Reason::TooDeep);
            return Ok(());
        }
        self.pay(Resource::Code, code.len(), span)?;
        if self.decodes_in(span) {
            self.mark(wrapper, Reason::Decoded);
        }
        let Ok(script) = read(code) else {
            self.mark(wrapper, Reason::Unreadable);
            return Ok(());
        };
        let scope = Scope {
            source: code,
            held: Some(span.clone()),
            reached: Reached::Within { wrapper, how },
            depth: start.depth + 1,
            documents: &script.here_documents,
        };
        if start.in_shell {
            return self.script(&script, &scope, &start.input);
        }
        // Another shell: what it changes is gone when it ends.
        let before = self.environment.clone();
        self.environment.enter_shell();
        self.environment.positional.clone_from(&start.positional);
        self.environment.ends_on_error = false;
        let walked = self.until_its_end(|listing| listing.script(&script, &scope, &start.input));
        let after = std::mem::replace(&mut self.environment, before);
        self.environment.keep_files(after);
        walked
    }

    /// Lists what a variable set for a command makes it run.
    pub(super) fn code_in_settings(
        &mut self,
        place: usize,
        assignments: &[(String, Argument)],
        start: &Start,
    ) -> Result<(), Refusal> {
        for (name, value) in assignments {
            if settings::is_command(name) && settings::variable_runs(name, value) {
                self.code(place, Wrapping::Incidental, value, start)?;
            }
            // Expanded before each command bash shows.
            if name == "PS4" {
                // Its escapes are those of a prompt, and what they stand for is put in first: the user, the host,
                // the directory, `#` or `$`.
                if value.unquoted().contains('\\') {
                    self.mark(place, Reason::DynamicCode);
                }
                let span = value.text.span.clone();
                self.evaluated(Some(place), value.unquoted(), &span, start)?;
            }
        }
        Ok(())
    }
}

/// Words as positional parameters; none if their number is not known.
pub(in crate::shell) fn parameters(words: &[Argument]) -> Option<Rc<[Value]>> {
    let counted = !words.iter().any(|word| word.text.glob);
    words
        .iter()
        .map(Argument::element)
        .collect::<Option<Vec<Value>>>()
        .filter(|_| counted)
        .map(Rc::from)
}

pub(super) fn known_text(input: &Input) -> Option<Arc<str>> {
    match input {
        Input::Known(text) => Some(Arc::clone(text)),
        Input::Inherited | Input::Empty | Input::Partly(_) | Input::Unknown(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;

    #[test]
    fn code_that_comes_again_is_what_it_was_and_costs_as_much() {
        let budget = Budget::new();
        let mut listing = Listing::new(None, &budget);
        let texts = ["import os\nos.remove('x')", "print(1)", "", "f(", "eval(x)"];
        for text in texts {
            let alone = Budget::new();
            let read = code::read(Language::Python, text, &Place::default(), &alone);
            let before = budget.left(Resource::Tokens);
            let first = listing.read_code(Language::Python, text, &Place::default());
            let second = listing.read_code(Language::Python, text, &Place::default());
            assert_eq!((&*first, &*second), (&read, &read), "{text}");
            assert!(Rc::ptr_eq(&first, &second), "{text}");
            let once = Resource::Tokens;
            let cost = crate::budget::MAX_TOKENS - alone.left(once);
            assert_eq!(before - budget.left(once), 2 * cost, "{text}");
        }
        let other = listing.read_code(Language::Ruby, "print(1)", &Place::default());
        assert_eq!(
            *other,
            code::read(
                Language::Ruby,
                "print(1)",
                &Place::default(),
                &Budget::new()
            )
        );
    }
}
