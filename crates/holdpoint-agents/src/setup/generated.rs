//! A file that Holdpoint writes whole: a plug-in, a script, a manifest.

use super::command_line::Call;
use super::{Entry, Form, FormError};

/// What such a file is.
#[derive(Debug)]
pub(crate) struct Generated {
    /// When it is run; nothing if it only goes with another file.
    pub(crate) event: Option<&'static str>,
    /// Its text for a program.
    pub(crate) text: fn(&str) -> String,
    /// What is run by a text of that kind.
    pub(crate) call: fn(&str) -> Option<Call>,
    /// What comes of asking through it: it is run itself, or runs the program.
    pub(crate) is_run: bool,
    /// Whether it is JSON.
    pub(crate) is_json: bool,
}

/// By this a file is known to be ours, whatever version wrote it.
pub(crate) const MARK: &str = "holdpoint init";

impl Form for Generated {
    fn registered(&self, text: &str, program: &str) -> Result<(String, bool), FormError> {
        if text.trim().is_empty() {
            return Ok(((self.text)(program), false));
        }
        match text.contains(MARK) {
            true => Ok(((self.text)(program), true)),
            false => Err(FormError::NotOurs),
        }
    }

    fn unregistered(&self, text: &str) -> Result<Option<String>, FormError> {
        Ok((!text.contains(MARK)).then(|| text.to_owned()))
    }

    fn entries(&self, text: &str) -> Result<Vec<Entry>, FormError> {
        let call = (self.call)(text).filter(|_| text.contains(MARK));
        let (Some(event), Some(call)) = (self.event, call) else {
            return Ok(Vec::new());
        };
        let whole = call.program().map(|program| (self.text)(&program));
        Ok(vec![Entry {
            event,
            // What somebody has changed in it may not do what it should.
            sees_all: whole.as_deref() == Some(text),
            call,
            fails_closed: None,
        }])
    }

    fn events(&self) -> Vec<&'static str> {
        self.event.into_iter().collect()
    }

    fn disabled_reason(&self, _text: &str) -> Option<String> {
        None
    }

    fn is_json(&self) -> bool {
        self.is_json
    }

    fn is_run(&self) -> bool {
        self.is_run
    }
}

/// The call of a program without a shell.
pub(crate) fn direct(program: String, agent: &str) -> Call {
    Call::Direct {
        program,
        arguments: vec!["hook".to_owned(), agent.to_owned()],
    }
}

/// The text between two others.
pub(crate) fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(after).map(|(inside, _)| inside)
}
