//! A person's own policy file, changed as text: comments, order and spacing are theirs.
//!
//! What a change would make of the file is known before anything is written, and a text that is no policy afterwards is
//! not written at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use holdpoint_core::document;
use holdpoint_core::policy::{Document, Mode, Profile};
use holdpoint_engine::store::{Unread, plain_words, read_bounded, rewrite};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstNode, CstObject, CstRootNode};

/// The largest policy that is edited: as large as one may be. Beyond it nothing is changed.
const MAX_POLICY: u64 = 4 << 20;

/// What some editors write in front of a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// What is to be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<'a> {
    /// Whether calls are held to the policy; `enforce` is what a file without the line means.
    Mode(Mode),
    /// The profile it is made on top of, where it names none.
    Profile(Profile),
    /// Patterns that run without asking.
    Allow(&'a [String]),
    /// A pattern that no longer does.
    Forget(&'a str),
}

/// Why a policy file was left as it is.
#[derive(Debug, thiserror::Error)]
pub enum PolicyTextError {
    /// It cannot be read.
    #[error("{0}: {1}: check the path and the disk")]
    Unread(String, String),
    /// It is no policy, before the change or after it.
    #[error("{0}: {1}: correct it, then try again")]
    Broken(String, String),
    /// It names another profile.
    #[error("{0}: it names the profile `{1}`: change that line yourself if it is to be another")]
    Named(String, String),
    /// It cannot be written.
    #[error("{0}: it cannot be written ({1})")]
    Unwritten(String, String),
    /// Somebody else was faster.
    #[error("{0}: somebody changed it meanwhile: try again")]
    Changed(String),
}

/// A policy file, and what a change makes of it. Nothing is done before [`PolicyEdit::carry_out`].
#[derive(Debug)]
pub struct PolicyEdit {
    /// The file, links followed.
    pub path: PathBuf,
    /// Its text; none if there is no file.
    pub before: Option<String>,
    /// Its text afterwards.
    pub after: Option<String>,
}

impl PolicyEdit {
    /// What a change makes of the file at `path`. A file that is not there is made on top of the profile that is in force
    /// without one, or the file alone would deny everything.
    pub fn plan(path: &Path, change: Change<'_>) -> Result<Self, PolicyTextError> {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let before = read(&path)?;
        let base = match &before {
            Some(text) => text.clone(),
            None if matches!(change, Change::Mode(Mode::Enforce) | Change::Forget(_)) => {
                return Ok(Self {
                    path,
                    before: None,
                    after: None,
                });
            }
            None => {
                let profile = match change {
                    Change::Profile(profile) => profile,
                    Change::Mode(_) | Change::Allow(_) | Change::Forget(_) => Profile::Balanced,
                };
                format!("{{\n  \"profile\": \"{}\"\n}}\n", profile.name())
            }
        };
        let broken = |problem: String| PolicyTextError::Broken(name(&path), problem);
        if let Change::Profile(wanted) = change
            && let Some(other) = named_profile(&base).filter(|named| named != wanted.name())
        {
            return Err(PolicyTextError::Named(
                name(&path),
                other.escape_debug().to_string(),
            ));
        }
        let after = edited(&base, change).map_err(broken)?;
        let read = document::read::<Document>(&name(&path), after.as_bytes());
        read.map_err(|error| broken(format!("line {}: {}", error.line, error.message())))?;
        Ok(Self {
            path,
            before,
            after: Some(after),
        })
    }

    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        self.before == self.after
    }

    /// Writes the file, unless somebody has changed it meanwhile.
    pub fn carry_out(&self) -> Result<(), PolicyTextError> {
        let Some(after) = &self.after else {
            return Ok(());
        };
        let failed =
            |error: io::Error| PolicyTextError::Unwritten(name(&self.path), plain_words(&error));
        if let Some(directory) = self.path.parent() {
            fs::create_dir_all(directory).map_err(failed)?;
        }
        if read(&self.path)? != self.before {
            return Err(PolicyTextError::Changed(name(&self.path)));
        }
        let like = fs::metadata(&self.path).ok();
        rewrite(&self.path, after.as_bytes(), like.as_ref()).map_err(failed)
    }
}

fn name(path: &Path) -> String {
    path.display().to_string().escape_debug().to_string()
}

fn read(path: &Path) -> Result<Option<String>, PolicyTextError> {
    match read_bounded(path, MAX_POLICY) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(PolicyTextError::Broken(
                name(path),
                "it is not UTF-8 text".into(),
            )),
        },
        Err(Unread::Missing) => Ok(None),
        Err(unread) => Err(PolicyTextError::Unread(name(path), unread.to_string())),
    }
}

/// The text of a policy after a change.
fn edited(text: &str, change: Change<'_>) -> Result<String, String> {
    let plain = text.strip_prefix(BYTE_ORDER_MARK);
    let root = CstRootNode::parse(plain.unwrap_or(text), &ParseOptions::default())
        .map_err(|error| error.to_string())?;
    let policy = root
        .object_value_or_create()
        .ok_or_else(|| "the policy is not an object".to_owned())?;
    match change {
        Change::Mode(mode) => set_mode(&policy, mode),
        Change::Profile(profile) => set_profile(&policy, profile),
        Change::Allow(patterns) => allow(&policy, patterns)?,
        Change::Forget(pattern) => forget(&policy, pattern),
    }
    let mark = if plain.is_some() { "\u{feff}" } else { "" };
    Ok(format!("{mark}{root}"))
}

fn set_mode(policy: &CstObject, mode: Mode) {
    match (policy.get("mode"), mode) {
        (Some(line), Mode::Observe) => line.set_value(mode.as_str().into()),
        (Some(line), Mode::Enforce) => line.remove(),
        (None, Mode::Observe) => {
            // Where whoever reads the file sees it: behind the schema and the profile it is about.
            let first = |name: &str| policy.get(name).map(|line| line.property_index() + 1);
            let at = ["$schema", "version", "profile"]
                .into_iter()
                .filter_map(first);
            policy.insert(at.max().unwrap_or(0), "mode", mode.as_str().into());
        }
        (None, Mode::Enforce) => {}
    }
}

/// The profile a text names, if it is a policy that names one.
fn named_profile(text: &str) -> Option<String> {
    let plain = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let root = CstRootNode::parse(plain, &ParseOptions::default()).ok()?;
    let value = root
        .object_value()?
        .get("profile")?
        .value()?
        .to_serde_value()?;
    value.as_str().map(str::to_owned)
}

fn set_profile(policy: &CstObject, profile: Profile) {
    if policy.get("profile").is_none() {
        let first = |name: &str| policy.get(name).map(|line| line.property_index() + 1);
        let at = ["$schema", "version"].into_iter().filter_map(first).max();
        policy.insert(at.unwrap_or(0), "profile", profile.name().into());
    }
}

/// Adds patterns to a policy file, for whoever keeps what a person answered.
pub fn add_allowed(path: &Path, patterns: &[String]) -> Result<(), String> {
    let edit = PolicyEdit::plan(path, Change::Allow(patterns));
    edit.and_then(|edit| edit.carry_out())
        .map_err(|error| error.to_string())
}

fn allow(policy: &CstObject, patterns: &[String]) -> Result<(), String> {
    // The list there is, by whichever of its names.
    let key = match policy.get("allow").is_none() && policy.get("whitelist").is_some() {
        true => "whitelist",
        false => "allow",
    };
    let list = policy
        .object_value_or_create(key)
        .and_then(|list| list.array_value_or_create("patterns"))
        .ok_or_else(|| format!("`{key}` is no list of rules"))?;
    // In front: what stands behind the last entry is a comment about that one.
    let mut at = 0;
    for pattern in patterns {
        let known = |one: &CstNode| says(one, pattern);
        if !list.elements().iter().any(known) {
            list.insert(at, pattern.as_str().into());
            at += 1;
        }
    }
    Ok(())
}

fn forget(policy: &CstObject, pattern: &str) {
    for key in ["allow", "whitelist"] {
        let list = policy.object_value(key);
        let list = list.and_then(|list| list.array_value("patterns"));
        for one in list.iter().flat_map(CstArray::elements) {
            if says(&one, pattern) {
                one.remove();
            }
        }
    }
}

fn says(node: &CstNode, text: &str) -> bool {
    let value = node.to_serde_value();
    value.as_ref().and_then(serde_json::Value::as_str) == Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBSERVE: Change<'_> = Change::Mode(Mode::Observe);
    const ENFORCE: Change<'_> = Change::Mode(Mode::Enforce);

    #[test]
    fn a_line_comes_and_goes_and_the_rest_stays() {
        let text = "{\n  // mine\n  \"profile\": \"strict\", // as agreed\n  \"deny\": {\"patterns\": [\"x *\"]}, // never\n}\n";
        let observed = edited(text, OBSERVE).unwrap();
        assert_eq!(
            observed,
            "{\n  // mine\n  \"profile\": \"strict\", // as agreed\n  \"mode\": \"observe\",\n  \"deny\": {\"patterns\": [\"x *\"]}, // never\n}\n"
        );
        assert_eq!(edited(&observed, OBSERVE).unwrap(), observed);
        assert_eq!(edited(&observed, ENFORCE).unwrap(), text);
        assert_eq!(edited(text, ENFORCE).unwrap(), text);
    }

    #[test]
    fn a_line_that_is_there_is_changed_where_it_stands() {
        let text = "\u{feff}{\"defaultPolicy\": \"ask\", \"mode\": \"enforce\" /* why */}";
        assert_eq!(
            edited(text, OBSERVE).unwrap(),
            "\u{feff}{\"defaultPolicy\": \"ask\", \"mode\": \"observe\" /* why */}"
        );
    }

    #[test]
    fn a_file_that_is_not_there_is_made_on_top_of_what_is_in_force() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("config/permissions.json");
        let plan = PolicyEdit::plan(&path, ENFORCE).unwrap();
        assert!(plan.is_empty());
        let plan = PolicyEdit::plan(&path, OBSERVE).unwrap();
        plan.carry_out().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(
            text,
            "{\n  \"profile\": \"balanced\",\n  \"mode\": \"observe\"\n}\n"
        );
        // Somebody was faster.
        assert!(matches!(plan.carry_out(), Err(PolicyTextError::Changed(_))));
        PolicyEdit::plan(&path, ENFORCE)
            .unwrap()
            .carry_out()
            .unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "{\n  \"profile\": \"balanced\"\n}\n");
    }

    #[test]
    fn patterns_are_added_and_taken_back_where_they_stand() {
        let patterns = ["make *".to_owned(), "npm test".to_owned()];
        let text = "{\n  // mine\n  \"profile\": \"strict\"\n}\n";
        let with = edited(text, Change::Allow(&patterns)).unwrap();
        assert!(
            with.contains("// mine") && with.contains("\"make *\""),
            "{with}"
        );
        assert_eq!(edited(&with, Change::Allow(&patterns)).unwrap(), with);
        let read: Document = document::read("p", with.as_bytes()).unwrap();
        assert_eq!(read.allow.unwrap().patterns, patterns);
        let less = edited(&with, Change::Forget("make *")).unwrap();
        let read: Document = document::read("p", less.as_bytes()).unwrap();
        assert_eq!(read.allow.unwrap().patterns, ["npm test"]);
        let other = "{\"whitelist\": {\"patterns\": [\"ls\" /* why */]}}";
        let with = edited(other, Change::Allow(&patterns)).unwrap();
        assert!(
            with.contains("\"ls\" /* why */") && !with.contains("allow"),
            "{with}"
        );
    }

    #[test]
    fn a_profile_is_put_in_where_none_is_and_another_one_is_left() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("permissions.json");
        let autopilot = Change::Profile(Profile::Autopilot);
        let made = PolicyEdit::plan(&path, autopilot).unwrap();
        assert_eq!(
            made.after.as_deref(),
            Some("{\n  \"profile\": \"autopilot\"\n}\n")
        );
        let text = "{\n  \"version\": \"1.0\", // mine\n  \"deny\": {\"patterns\": [\"x\"]}\n}\n";
        let with = edited(text, autopilot).unwrap();
        assert_eq!(
            with,
            "{\n  \"version\": \"1.0\", // mine\n  \"profile\": \"autopilot\",\n  \"deny\": {\"patterns\": [\"x\"]}\n}\n"
        );
        fs::write(&path, &with).unwrap();
        assert!(PolicyEdit::plan(&path, autopilot).unwrap().is_empty());
        let strict = PolicyEdit::plan(&path, Change::Profile(Profile::Strict));
        assert!(matches!(strict, Err(PolicyTextError::Named(_, named)) if named == "autopilot"));
        assert_eq!(fs::read_to_string(&path).unwrap(), with);
    }

    #[test]
    fn what_is_no_policy_is_not_touched() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("permissions.json");
        for text in ["[]", "{", "{\"mood\": 1}"] {
            fs::write(&path, text).unwrap();
            let error = PolicyEdit::plan(&path, OBSERVE).unwrap_err();
            assert!(
                matches!(error, PolicyTextError::Broken(..)),
                "{text}: {error}"
            );
        }
    }
}
