//! A call as one line of text, as rules for tools are written.

use super::{Action, MAX_NAMED, view::CommandView};
use crate::call::{self, push_python_str};
use crate::catalogue::{self, Name, Tool};
use serde_json::Value;

/// Shows a text so that no letter of it can be taken for another.
pub(crate) trait EscapeUnicode {
    /// The text with every letter that is not ASCII written as its number.
    fn escape_unicode_letters(&self) -> String;
}

impl EscapeUnicode for str {
    fn escape_unicode_letters(&self) -> String {
        let mut shown = String::new();
        for letter in self.chars() {
            if letter.is_ascii() {
                shown.push(letter);
            } else {
                shown.extend(letter.escape_unicode());
            }
        }
        shown
    }
}

impl Action {
    /// `name(key=value, …)`.
    pub(crate) fn text_form(&self) -> &str {
        self.text_form.get_or_init(|| self.call.text_form())
    }

    /// The text form as the agent `name` is taken from would write it.
    pub(crate) fn form_named(&self, name: &'static Name) -> String {
        self.call.text_form_as(name)
    }

    /// The text forms under the name that stands for its tool, and under its own with the arguments
    /// named as that one names them; where they differ from its own.
    pub(crate) fn standing_forms(&self, tool: &Tool) -> Vec<String> {
        let mut forms = Vec::new();
        let own = self.text_form();
        if let Some(standing) = catalogue::find_name(tool.name) {
            let form = self.form_named(standing);
            let arguments = form.get(tool.name.len()..).unwrap_or_default();
            forms.push(format!("{}{arguments}", self.call.tool()));
            forms.push(form);
        }
        forms.retain(|form| form != own);
        forms
    }

    /// The text forms of what the call does under a name another agent's tool has; for a patch, of
    /// what it does to each file.
    pub(crate) fn forms_as(&self, name: &str) -> Vec<String> {
        let Some(known) = catalogue::find_name(name) else {
            return Vec::new();
        };
        let input = self.call.input();
        let as_given = input.iter().map(|(key, value)| (key.as_str(), value));
        let mut forms = vec![call::text_form(name, as_given), self.form_named(known)];
        forms.dedup();
        if self.identity.is_patch() {
            let path_key = catalogue::rename(known, "file_path");
            let patch = input.values().find(|value| value.is_string());
            for path in catalogue::patched_paths(&self.call).take(MAX_NAMED) {
                let path = Value::from(path);
                let mut arguments = vec![(path_key.as_ref(), &path)];
                let content = catalogue::rename(known, "content");
                arguments.extend(patch.map(|patch| (content.as_ref(), patch)));
                arguments.sort_by_key(|(key, _)| *key);
                forms.push(call::text_form(name, arguments.into_iter()));
            }
        }
        forms
    }

    /// Whether the text form could be read as another call: some value contains what separates
    /// two arguments. Such a form may refuse a call but never allow it (J-12).
    pub(crate) fn text_form_is_ambiguous(&self) -> bool {
        self.call.input().iter().any(|(key, value)| {
            let mut text = String::new();
            push_python_str(&mut text, value);
            // Whatever stands between a separator and the next may be taken for an argument.
            key.contains(['=', ',', '('])
                || text.split(", ").skip(1).any(|piece| piece.contains('='))
        })
    }

    /// Whether the commands of the call are one that is known to its last word and writes nothing.
    pub(crate) fn is_one_plain_command(&self) -> bool {
        match self.commands.as_slice() {
            [only] => {
                !only.is_dynamic()
                    && only.command.opaque.is_empty()
                    && only.command.redirects.is_empty()
                    && self.trouble.is_none()
            }
            _ => false,
        }
    }

    /// The command line of a shell tool, if it says everything the call would run and all of it is
    /// known: then whoever speaks of this very text speaks of each of its commands.
    pub(crate) fn known_line(&self) -> Option<&str> {
        let known = |command: &CommandView| {
            // What stands in a script is answered for with the script.
            command.command.file.is_some()
                || (!command.is_dynamic() && command.command.opaque.is_empty())
        };
        let whole = !self.commands.is_empty()
            && self.in_line == self.commands.len()
            && self.trouble.is_none()
            && self.commands.iter().all(known);
        self.line.as_deref().map(str::trim).filter(|_| whole)
    }
}
