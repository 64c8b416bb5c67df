//! Files that are no files: `-f -`, `/dev/stdin`, `-P <(…)`. What a loader reads there is the agent's words,
//! and what cannot be foreseen of it is marked.

use std::sync::Arc;

use super::authors::Author;
use super::search::{Candidate, Search};
use crate::opaque::Reason;
use crate::rules::Reader;
use crate::shell::environment::Origin;
use crate::shell::input::Input;
use crate::shell::refusal::Refusal;
use crate::shell::unwrapping::{STANDARD_INPUT, Unwrapped, is_stream};
use crate::shell::walk::opaque_origin;

/// Whether a name stands for something that is read while the command runs.
pub(in crate::shell) fn is_streamed(name: &str) -> bool {
    name.starts_with("<(") || STANDARD_INPUT.contains(&name) || is_stream(name)
}

impl Unwrapped<'_, '_> {
    /// Reads what the streams hold that a command is told to load.
    pub(super) fn read_streams(&mut self, search: &Search<'_>) -> Result<(), Refusal> {
        // Settings nobody has a reader for may hold lines all the same.
        let language = search.row.language.or(Some(Reader::Lines));
        for name in &search.streams {
            let input = match name.strip_prefix("<(") {
                Some(_) => self.printed_by(name),
                None if STANDARD_INPUT.contains(&name.as_str()) => self.start.input.clone(),
                None => Input::Unknown(Origin::Elsewhere),
            };
            let (text, origin) = match &input {
                // Nobody types there.
                Input::Inherited | Input::Empty => continue,
                Input::Known(text) => (Some(Arc::clone(text)), None),
                Input::Partly(partial) => {
                    (Some(Arc::from(&*partial.written)), Some(partial.origin))
                }
                Input::Unknown(origin) => (None, Some(*origin)),
            };
            // What a chart or an overlay comes to is applied all day; a rule speaks of that.
            if origin.is_some() && language != Some(Reader::Manifest) {
                self.mark(opaque_origin(origin, Reason::ScriptFromInput));
            }
            let Some(text) = text else {
                continue;
            };
            let candidate = Candidate {
                real: name.clone(),
                shown: name.clone(),
                author: Author::AgentNew,
                spare: false,
                told: true,
            };
            self.read_loaded(language, &candidate, &text, &Arc::from(name.as_str()))?;
        }
        Ok(())
    }
}
