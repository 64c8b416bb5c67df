//! Reading what agents are told: settings files of many layers, directories of rules, flags.

use std::fs;
use std::path::{Path, PathBuf};

use holdpoint_core::{StrictValue, document};
use holdpoint_engine::store::{Unread, is_absent, plain_words, read_bounded};
use serde_json::Value;

/// The largest file of settings that is read. A larger one counts as one that cannot be read.
const MAX_FILE: u64 = 4 << 20;

/// The most files of a directory that are read: rules are a few. More count as ones that cannot be read.
const MAX_FILES: usize = 500;

/// The text of a file; none if there is none.
pub(crate) fn text(path: &Path) -> Result<Option<String>, String> {
    if is_absent(path) {
        return Ok(None);
    }
    let unread = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    match read_bounded(path, MAX_FILE) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(unread(&"this is not UTF-8 text")),
        },
        Err(Unread::Missing) => Ok(None),
        Err(error) => Err(unread(&error)),
    }
}

/// The JSON in a file; none if there is no file, or an empty one.
pub(crate) fn json_file(path: &Path) -> Result<Option<Value>, String> {
    match text(path)? {
        Some(text) if !text.trim().is_empty() => json(&path.display().to_string(), &text).map(Some),
        Some(_) | None => Ok(None),
    }
}

/// JSON, with comments or without.
pub(crate) fn json(name: &str, text: &str) -> Result<Value, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match document::read::<StrictValue>(name, text.as_bytes()) {
        Ok(StrictValue(value)) => Ok(value),
        Err(error) => Err(format!("{name}: {}", error.message())),
    }
}

/// The TOML in a file; none if there is no file.
pub(crate) fn toml_file(path: &Path) -> Result<Option<toml::Table>, String> {
    match text(path)? {
        Some(text) => match text.parse() {
            Ok(table) => Ok(Some(table)),
            Err(_) => Err(format!("{}: this is not TOML", path.display())),
        },
        None => Ok(None),
    }
}

/// The files of a directory whose names end so; none if there is no directory.
pub(crate) fn files_in(directory: &Path, ending: &str) -> Result<Vec<PathBuf>, String> {
    if is_absent(directory) {
        return Ok(Vec::new());
    }
    let unread = |why: &str| {
        format!(
            "{}: the directory cannot be read ({why})",
            directory.display()
        )
    };
    let listed = fs::read_dir(directory).map_err(|error| unread(&plain_words(&error)))?;
    let mut found = Vec::new();
    for (count, entry) in listed.enumerate() {
        if count >= MAX_FILES {
            return Err(unread("too many files"));
        }
        let path = entry.map_err(|error| unread(&plain_words(&error)))?.path();
        if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The texts in a value that is a text or a list of them; an error for anything else.
pub(crate) fn texts(value: &Value) -> Result<Vec<&str>, String> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => Ok(vec![text]),
        Value::Array(all) => all
            .iter()
            .map(|one| one.as_str().ok_or_else(|| NOT_TEXT.to_owned()))
            .collect(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => Err(NOT_TEXT.to_owned()),
    }
}

const NOT_TEXT: &str = "a rule of the agent's own is not a text";

/// The values of a flag: behind it up to the next flag, or behind a `=`.
pub(crate) fn flag_values<'a>(arguments: &'a [String], names: &[&str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut taking = false;
    for argument in arguments {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (argument.as_str(), None),
        };
        if names.contains(&name) {
            found.extend(value);
            taking = value.is_none();
        } else if argument.starts_with('-') {
            taking = false;
        } else if taking {
            found.push(argument.as_str());
        }
    }
    found
}

/// Whether a flag is given.
pub(crate) fn has_flag(arguments: &[&[String]], names: &[&str]) -> bool {
    let mut all = arguments.iter().flat_map(|one| one.iter());
    all.any(|argument| {
        let name = argument
            .split_once('=')
            .map_or(argument.as_str(), |(name, _)| name);
        names.contains(&name)
    })
}

/// Rules one after another, with commas or white space between them, but not inside of parentheses.
pub(crate) fn listed(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut depth = 0_usize;
    for letter in text.chars() {
        match letter {
            '(' => depth = depth.saturating_add(1),
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (letter == ',' || letter.is_whitespace()) {
            found.push(String::new());
        } else if let Some(last) = found.last_mut() {
            last.push(letter);
        }
    }
    found.retain(|rule| !rule.is_empty());
    found
}

/// A rule of the form `Tool` or `Tool(what)`; an error if it is neither.
pub(crate) fn tool_and_what(rule: &str) -> Result<(&str, Option<&str>), String> {
    let rule = rule.trim();
    match rule.split_once('(') {
        None if !rule.contains(')') => Ok((rule, None)),
        Some((tool, rest)) => match rest.strip_suffix(')') {
            Some(what) => Ok((tool.trim(), Some(what))),
            None => Err(format!("the agent's own rule `{rule}` has no end")),
        },
        None => Err(format!("the agent's own rule `{rule}` has no beginning")),
    }
}

/// Whether a name in which `*` stands for anything may be this one. Case does not count: whether it does for the agent is
/// its own affair.
pub(crate) fn may_name(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_lowercase(), name.to_lowercase());
    let mut rest = name.as_str();
    let mut pieces = pattern.split('*');
    let Some(head) = pieces.next() else {
        return false;
    };
    match rest.strip_prefix(head) {
        Some(after) => rest = after,
        None => return false,
    }
    let mut open = false;
    for piece in pieces {
        open = true;
        match rest.split_once(piece) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    // Where something may stand, it may stand to the end.
    open || rest.is_empty()
}
