//! A file that is Holdpoint's alone, in a directory of an agent's.

use super::{Entry, Form, FormError};

/// What the file holds, in a form that could also stand among others.
#[derive(Debug)]
pub(crate) struct OwnFile<F>(pub(crate) F);

impl<F: Form> Form for OwnFile<F> {
    fn registered(&self, text: &str, program: &str) -> Result<(String, bool), FormError> {
        let (mut after, known) = self.0.registered(text, program)?;
        if !after.ends_with('\n') {
            after.push('\n');
        }
        Ok((after, known))
    }

    /// Nothing of it is left, unless somebody has put something else into it.
    fn unregistered(&self, text: &str) -> Result<Option<String>, FormError> {
        let left = self.0.unregistered(text)?;
        let whole = self.0.entries(text)?.first().and_then(|entry| {
            let program = entry.call.program()?;
            self.registered("", &program).ok()
        });
        Ok(left.filter(|_| whole.is_none_or(|(whole, _)| whole != text)))
    }

    fn entries(&self, text: &str) -> Result<Vec<Entry>, FormError> {
        self.0.entries(text)
    }

    fn events(&self) -> Vec<&'static str> {
        self.0.events()
    }

    fn disabled_reason(&self, text: &str) -> Option<String> {
        self.0.disabled_reason(text)
    }

    fn is_json(&self) -> bool {
        self.0.is_json()
    }

    fn is_run(&self) -> bool {
        self.0.is_run()
    }
}
