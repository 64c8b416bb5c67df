//! What the files of a project make a short command run: `make test`, `npm run build`.
//!
//! Each reader takes the text of a file and gives the shell lines that would run. Finding the file,
//! and following the files it includes, is left to the caller.

/// The shell lines a file comes to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CommandLines {
    /// The lines, each once.
    pub(crate) lines: Vec<String>,
    /// There is more than was read, so that nobody knows all that would run.
    pub(crate) cut: bool,
}

pub(crate) mod compose;
pub(crate) mod literals;
pub(crate) mod makefile;
pub(crate) mod manifest;
pub(crate) mod package_json;
pub(crate) mod pattern;
pub(crate) mod settings;
pub(crate) mod sources;

/// A value of YAML as it is meant: without the comment behind it and the quotes around it.
fn yaml_scalar(value: &str) -> &str {
    let value = value.trim();
    let value = value.split(" #").next().unwrap_or(value).trim();
    value.trim_matches(['"', '\''])
}
