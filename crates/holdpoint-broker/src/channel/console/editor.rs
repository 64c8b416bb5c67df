//! Other arguments, written in the person's own editor.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use holdpoint_core::StrictValue;
use holdpoint_core::text::escape_for_display;
use serde_json::{Map, Value};

use crate::request::Request;

/// The longest text that comes back, as bytes: far more than a person writes. A longer one changes nothing.
const MAX_TEXT: u64 = 4 << 20;

/// What can be edited of a call, and how it is written.
pub enum Editable {
    /// One text, as it is.
    Text(String, String),
    /// Several arguments, or one that is no text, as JSON.
    Json(Map<String, Value>),
}

impl Editable {
    /// What may be changed and has no hidden part; none if nothing.
    pub fn from_request(request: &Request) -> Option<Self> {
        let mut arguments: Map<String, Value> = request
            .terms
            .editable
            .iter()
            .filter(|key| !request.display.hidden.contains(key))
            // What is shown and has nothing hidden is the argument itself, also where the arguments
            // as they are have not left the daemon.
            .filter_map(|key| Some((key.clone(), request.display.arguments.get(key)?.clone())))
            .collect();
        let only = match arguments.len() {
            0 => return None,
            1 => arguments.iter().next(),
            _ => None,
        };
        if let Some((key, Value::String(text))) = only {
            return Some(Editable::Text(key.clone(), text.clone()));
        }
        arguments.sort_keys();
        Some(Editable::Json(arguments))
    }

    /// The text an editor opens, and how its file ends.
    fn written(&self) -> (String, &'static str) {
        match self {
            Editable::Text(key, text) if holdpoint_core::names_command(key) => (lines(text), "sh"),
            Editable::Text(_, text) => (lines(text), "txt"),
            Editable::Json(arguments) => {
                (format!("{:#}\n", Value::Object(arguments.clone())), "json")
            }
        }
    }

    /// What was changed, from the text that came back.
    fn read(&self, text: String) -> Result<Map<String, Value>, String> {
        match self {
            Editable::Text(key, before) => {
                // Editors end a file with a line break that was not there.
                let text = match before.ends_with('\n') {
                    true => text,
                    false => text.strip_suffix('\n').unwrap_or(&text).to_owned(),
                };
                let changed = text != *before;
                let changed = changed.then(|| (key.clone(), Value::String(text)));
                Ok(changed.into_iter().collect())
            }
            Editable::Json(before) => {
                let read: StrictValue = serde_json::from_str(&text).map_err(|error| {
                    format!(
                        "what you wrote is no JSON: {}",
                        escape_for_display(&error.to_string(), 200)
                    )
                })?;
                let Value::Object(mut after) = read.0 else {
                    return Err("what you wrote is no JSON object".into());
                };
                if let Some(key) = after.keys().find(|key| !before.contains_key(*key)) {
                    return Err(format!(
                        "`{}` cannot be changed",
                        escape_for_display(key, 60)
                    ));
                }
                after.retain(|key, value| before.get(key) != Some(value));
                Ok(after)
            }
        }
    }

    /// Has `run` open an editor on it. What was changed comes back, or why nothing was.
    pub fn edit<E>(
        &self,
        run: impl FnOnce(&Path) -> Result<Result<(), String>, E>,
    ) -> Result<Result<Map<String, Value>, String>, E> {
        let (text, ending) = self.written();
        let draft = match Draft::new(&text, ending) {
            Ok(draft) => draft,
            Err(error) => return Ok(Err(format!("no file can be made for the editor: {error}"))),
        };
        if let Err(problem) = run(&draft.file)? {
            return Ok(Err(problem));
        }
        Ok(match draft.text() {
            Ok(text) => self.read(text),
            Err(error) => Err(format!("what you wrote cannot be read: {error}")),
        })
    }
}

/// With the line break an editor expects at the end.
fn lines(text: &str) -> String {
    match text.ends_with('\n') {
        true => text.to_owned(),
        false => format!("{text}\n"),
    }
}

/// A file for an editor in a directory nobody else can enter; both are gone in the end.
struct Draft {
    directory: PathBuf,
    file: PathBuf,
}

impl Draft {
    fn new(text: &str, ending: &str) -> io::Result<Self> {
        let name = getrandom::u64().map_err(io::Error::other)?;
        let directory = std::env::temp_dir().join(format!("holdpoint-{name:016x}"));
        let mut make = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut make, 0o700);
        make.create(&directory)?;
        let file = directory.join(format!("call.{ending}"));
        let draft = Self { directory, file };
        let mut how = OpenOptions::new();
        how.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut how, 0o600);
        how.open(&draft.file)?.write_all(text.as_bytes())?;
        Ok(draft)
    }

    fn text(&self) -> io::Result<String> {
        let mut text = String::new();
        let mut file = File::open(&self.file)?.take(MAX_TEXT + 1);
        let count = file.read_to_string(&mut text)?;
        match u64::try_from(count).is_ok_and(|count| count <= MAX_TEXT) {
            true => Ok(text),
            false => Err(io::ErrorKind::FileTooLarge.into()),
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // What cannot be deleted stays private.
        let _ = fs::remove_dir_all(&self.directory);
    }
}
