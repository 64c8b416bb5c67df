//! The shell corpus: `corpus/shell/*.toml` read and judged.
//!
//! Every command is judged as an agent's `Bash` call under no policy file at all, in the workspace
//! `/work/app` of a user whose home is `/home/dev`. The disk is made up: it holds what a case's
//! `files` and `links` say and nothing else, so that the same line gets the same verdict everywhere.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use holdpoint_core::paths::{Entry, FileText, Lookup, Tracking, Written};
use holdpoint_core::{Decision, Policy, Session, Surroundings, ToolCall, Verdict, judge_call};
use serde::Deserialize;
use serde_json::json;

pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

const WORKSPACE: &str = "/work/app";
const HOME: &str = "/home/dev";

/// One file: a topic and its cases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    about: String,
    case: Vec<Case>,
}

/// Commands that are judged alike, and how.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) verdict: Verdict,
    /// The rule that wants the verdict, or several of which one must (` | `); none where nothing
    /// objects.
    pub(crate) rule: Option<String>,
    /// Why it is so, where that is not plain.
    pub(crate) note: Option<String>,
    pub(crate) commands: Vec<String>,
    /// The directory the commands run in; without it, the workspace.
    pub(crate) cwd: Option<String>,
    /// Files on the disk, by absolute path or path below `cwd`.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    /// Files that are no text, named likewise: their bytes in hexadecimal.
    #[serde(default)]
    pub(crate) bytes: BTreeMap<String, String>,
    /// Lines of comment that stand in front of each file's text.
    #[serde(default)]
    pub(crate) padding: usize,
    /// Symbolic links on the disk, named likewise.
    #[serde(default)]
    pub(crate) links: BTreeMap<String, String>,
    /// Files the session wrote, named likewise.
    #[serde(default)]
    pub(crate) written: Vec<String>,
    /// Those among them that came from a network.
    #[serde(default)]
    pub(crate) fetched: Vec<String>,
    /// Whether the workspace is a repository. Then files are untracked but for those below.
    #[serde(default)]
    pub(crate) repository: bool,
    /// Files that are as they were committed.
    #[serde(default)]
    pub(crate) committed: Vec<String>,
    /// Files that were committed otherwise.
    #[serde(default)]
    pub(crate) changed: Vec<String>,
    /// The file the case stands in.
    #[serde(skip)]
    pub(crate) topic: String,
}

/// All cases, in the order of their files' names.
pub(crate) fn corpus() -> Outcome<Vec<Case>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/shell");
    let mut paths = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let topic = path.file_stem().unwrap_or_default().display().to_string();
        let file: CaseFile = toml::from_str(&fs::read_to_string(&path)?)
            .map_err(|problem| format!("{topic}.toml: {problem}"))?;
        if file.about.trim().is_empty() {
            return Err(format!("{topic}.toml: `about` says nothing").into());
        }
        for mut case in file.case {
            let empty = |text: &Option<String>| text.as_ref().is_some_and(|text| text.is_empty());
            if case.commands.is_empty() || empty(&case.note) || empty(&case.rule) {
                return Err(format!("{topic}.toml: a case has an empty key").into());
            }
            if (case.verdict == Verdict::Allow) != case.rule.is_none() {
                return Err(format!(
                    "{topic}.toml: `{}`: `rule` belongs to every verdict but `allow`",
                    case.commands.join("`, `")
                )
                .into());
            }
            case.topic.clone_from(&topic);
            cases.push(case);
        }
    }
    Ok(cases)
}

/// The policy of somebody who has written none.
pub(crate) fn default_policy() -> Outcome<Policy> {
    Ok(Policy::compile(Vec::new())?)
}

impl Case {
    /// What becomes of a line in the surroundings of this case.
    pub(crate) fn judged(&self, line: &str, policy: &Policy) -> Outcome<Decision> {
        let call = ToolCall::new("Bash", json!({ "command": line }))?;
        let around = Surroundings {
            workspace: Some(WORKSPACE),
            directory: self.cwd.as_deref(),
            home: Some(HOME),
            lookup: self,
            can_contain: false,
        };
        Ok(judge_call(&call, policy, &Session::default(), &around))
    }

    /// The absolute path of a file of the case.
    fn absolute(&self, name: &str) -> String {
        match name.starts_with('/') {
            true => name.to_owned(),
            false => format!("{}/{name}", self.cwd.as_deref().unwrap_or(WORKSPACE)),
        }
    }

    /// Whether a list of the case names an absolute path.
    fn lists(&self, list: &[String], path: &str) -> bool {
        list.iter().any(|name| self.absolute(name) == path)
    }

    /// The absolute paths of all files.
    fn paths(&self) -> impl Iterator<Item = String> {
        let names = self
            .files
            .keys()
            .chain(self.bytes.keys())
            .chain(self.links.keys());
        names.map(|name| self.absolute(name))
    }

    /// What a map of the case has at an absolute path.
    fn at<'a>(&self, map: &'a BTreeMap<String, String>, path: &str) -> Option<&'a String> {
        let below = path
            .strip_prefix(self.cwd.as_deref().unwrap_or(WORKSPACE))
            .and_then(|rest| rest.strip_prefix('/'));
        map.get(path).or_else(|| map.get(below?))
    }
}

/// The bytes that pairs of hexadecimal digits say; an odd letter counts for nothing.
fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text
        .chars()
        .filter_map(|letter| letter.to_digit(16))
        .collect();
    let pairs = digits.chunks_exact(2);
    pairs
        .filter_map(|pair| u8::try_from(pair.iter().fold(0, |sum, digit| sum * 16 + digit)).ok())
        .collect()
}

impl Lookup for Case {
    fn entry(&self, path: &str) -> Entry {
        match self.at(&self.links, path) {
            Some(target) => Entry::Link(target.clone()),
            None if self.at(&self.files, path).is_some() => Entry::Other,
            None if self.at(&self.bytes, path).is_some() => Entry::Other,
            None if self
                .paths()
                .any(|file| file.starts_with(&format!("{path}/"))) =>
            {
                Entry::Directory
            }
            None => Entry::Missing,
        }
    }

    fn names(&self, path: &str, most: usize) -> Option<Vec<(String, bool)>> {
        let mut names: BTreeMap<String, bool> = BTreeMap::new();
        for file in self.paths() {
            let Some(below) = file.strip_prefix(&format!("{path}/")) else {
                continue;
            };
            match below.split_once('/') {
                Some((directory, _)) => names.insert(directory.to_owned(), true),
                None => names.insert(below.to_owned(), false),
            };
        }
        (names.len() <= most).then(|| names.into_iter().collect())
    }

    fn tracking(&self, path: &str) -> Tracking {
        if !self.repository {
            Tracking::NoRepository
        } else if self.lists(&self.committed, path) {
            Tracking::Committed
        } else if self.lists(&self.changed, path) {
            Tracking::Changed
        } else {
            Tracking::Untracked
        }
    }

    fn written(&self) -> Arc<Written> {
        let files = self.written.iter().map(|name| (self.absolute(name), None));
        Arc::new(Written {
            files: files.collect(),
            sealed: Default::default(),
            fetched: self
                .fetched
                .iter()
                .map(|name| self.absolute(name))
                .collect(),
            more: false,
        })
    }

    fn read(&self, path: &str, most: usize) -> FileText {
        let Some(bytes) = self.content(path) else {
            return FileText::Missing;
        };
        if bytes.len() > most {
            return FileText::from_head(&bytes);
        }
        FileText::from_bytes(bytes)
    }

    fn skim(&self, path: &str, most: usize) -> Option<String> {
        let bytes = self.content(path)?;
        Some(FileText::skimmed(&bytes, most))
    }
}

impl Case {
    /// The bytes of a file, with its padding.
    fn content(&self, path: &str) -> Option<Vec<u8>> {
        Some(
            match (self.at(&self.files, path), self.at(&self.bytes, path)) {
                (Some(text), _) => {
                    // Who runs a file, and how it is encoded, stands in comments of its first two lines.
                    let lines = text.split_inclusive('\n').take(2);
                    let heads = lines.take_while(|line| line.starts_with('#'));
                    let (head, rest) = text.split_at(heads.map(str::len).sum());
                    let padding = "# nothing to see\n".repeat(self.padding);
                    format!("{head}{padding}{rest}").into_bytes()
                }
                (None, Some(hex)) => unhex(hex),
                (None, None) => return None,
            },
        )
    }
}
