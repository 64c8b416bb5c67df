//! What a case expects, and what holds for every command line without being said.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;

use serde::Deserialize;
use serde_json::Value;

use crate::agents;
use crate::answer::{Answer, heard};
use crate::project::Project;

/// What came of a command line.
pub(crate) struct Got {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// What is expected. In exact texts and in the strings of JSON, `[..]` stands for anything on the
/// same line; `$DIR`, `$HOME` and `$PROGRAM` are filled in.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Expected {
    exit: i32,
    /// An error: exit code 1, nothing but `holdpoint: ` and this line on standard error.
    error: Option<String>,
    stdout: Option<String>,
    stdout_has: Vec<String>,
    stdout_lacks: Vec<String>,
    /// How many lines.
    stdout_lines: Option<usize>,
    /// JSON of which every key must be there with this value; several stand for one a line.
    stdout_json: Option<Documents>,
    stderr: Option<String>,
    stderr_has: Vec<String>,
    stderr_lacks: Vec<String>,
    /// The command line itself is wrong: help follows the message.
    usage: bool,
    /// What files hold afterwards.
    after: BTreeMap<String, String>,
    /// What is not there afterwards.
    gone: Vec<String>,
    /// What a hook's agent hears, in place of `exit`, `stdout` and `stderr`.
    answer: Option<Answer>,
    /// Texts its reason contains, and does not.
    reason_has: Vec<String>,
    reason_lacks: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Documents {
    One(String),
    Lines(Vec<String>),
}

impl Expected {
    pub(crate) fn compare(&self, line: &str, got: &Got, project: &Project) -> Result<(), String> {
        let mut wrong = Vec::new();
        let exit = if self.error.is_some() { 1 } else { self.exit };
        if self.answer.is_some() {
            wrong.extend(self.wrong_answer(line, got, project));
        } else if got.code != Some(exit) {
            wrong.push(format!("exit code {exit} expected"));
        }
        let error = self
            .error
            .as_ref()
            .map(|text| format!("holdpoint: {text}\n"));
        let mut exact = |name: &str, expected: Option<&str>, found: &str| {
            if let Some(expected) = expected.map(|text| project.fill(text))
                && !is_like(&expected, found)
            {
                wrong.push(format!("{name} expected:\n{}", indented(&expected)));
            }
        };
        exact("stdout", self.stdout.as_deref(), &got.stdout);
        exact(
            "stderr",
            self.stderr.as_deref().or(error.as_deref()),
            &got.stderr,
        );
        for (name, found, has, lacks) in [
            ("stdout", &got.stdout, &self.stdout_has, &self.stdout_lacks),
            ("stderr", &got.stderr, &self.stderr_has, &self.stderr_lacks),
        ] {
            for text in has.iter().map(|text| project.fill(text)) {
                if !found.contains(&text) {
                    wrong.push(format!("{name} must contain `{text}`"));
                }
            }
            for text in lacks.iter().map(|text| project.fill(text)) {
                if found.contains(&text) {
                    wrong.push(format!("{name} must not contain `{text}`"));
                }
            }
        }
        if self
            .stdout_lines
            .is_some_and(|lines| got.stdout.lines().count() != lines)
        {
            wrong.push(format!(
                "{} lines of stdout expected",
                self.stdout_lines.unwrap_or_default()
            ));
        }
        wrong.extend(self.wrong_files(project));
        wrong.extend(self.wrong_json(got, project));
        wrong.extend(self.wrong_manners(line, got));
        if wrong.is_empty() {
            return Ok(());
        }
        Err(format!("$ {line}\n{}\n{got}", wrong.join("\n")))
    }

    fn wrong_files(&self, project: &Project) -> Vec<String> {
        let mut wrong = Vec::new();
        for (name, expected) in &self.after {
            let found =
                fs::read_to_string(project.place(name)).unwrap_or_else(|error| error.to_string());
            if found != project.fill(expected) {
                wrong.push(format!("{name} must not hold\n{}", indented(&found)));
            }
        }
        let there = |name: &&String| project.place(name).symlink_metadata().is_ok();
        for name in self.gone.iter().filter(there) {
            wrong.push(format!("{name} must not be there"));
        }
        wrong
    }

    fn wrong_answer(&self, line: &str, got: &Got, project: &Project) -> Vec<String> {
        let agent = line.rsplit(' ').next().unwrap_or_default();
        let told = match agent {
            "claude-code" => heard(got),
            other => agents::heard(other, got),
        };
        let (answer, reason) = match told {
            Ok(heard) => heard,
            Err(problem) => return vec![problem],
        };
        let mut wrong = Vec::new();
        if Some(answer) != self.answer {
            wrong.push(format!(
                "answer {:?} expected, found {answer:?}",
                self.answer
            ));
        }
        for text in self.reason_has.iter().map(|text| project.fill(text)) {
            if !reason.contains(&text) {
                wrong.push(format!("the reason must contain `{text}`"));
            }
        }
        for text in self.reason_lacks.iter().map(|text| project.fill(text)) {
            if reason.contains(&text) {
                wrong.push(format!("the reason must not contain `{text}`"));
            }
        }
        wrong
    }

    fn wrong_json(&self, got: &Got, project: &Project) -> Vec<String> {
        let pairs: Vec<(String, &str)> = match &self.stdout_json {
            None => return Vec::new(),
            Some(Documents::One(one)) => vec![(project.fill(one), got.stdout.as_str())],
            Some(Documents::Lines(lines)) => {
                if lines.len() != got.stdout.lines().count() {
                    return vec![format!("{} lines of JSON expected", lines.len())];
                }
                lines
                    .iter()
                    .map(|line| project.fill(line))
                    .zip(got.stdout.lines())
                    .collect()
            }
        };
        let mut wrong = Vec::new();
        for (number, (expected, found)) in (1..).zip(pairs) {
            let expected: Value = match serde_json::from_str(&expected) {
                Ok(expected) => expected,
                Err(error) => return vec![format!("the case's own JSON: {error}: {expected}")],
            };
            match serde_json::from_str(found) {
                Ok(found) => wrong.extend(
                    differences(&expected, &found, "")
                        .into_iter()
                        .map(|difference| format!("JSON {number}{difference}")),
                ),
                Err(error) => wrong.push(format!("JSON {number}: {error}")),
            }
        }
        wrong
    }

    /// Manners: no panic, nothing a terminal would act on, one line for an error, silence without
    /// one, and a decision on standard output where one was asked for.
    fn wrong_manners(&self, line: &str, got: &Got) -> Vec<String> {
        let mut wrong = Vec::new();
        if got.stderr.contains("panicked") {
            wrong.push("a panic".into());
        }
        wrong.extend(
            terminal_text(&got.stdout)
                .err()
                .map(|c| format!("stdout holds {c}")),
        );
        wrong.extend(
            terminal_text(&got.stderr)
                .err()
                .map(|c| format!("stderr holds {c}")),
        );
        let denials = got
            .stdout
            .lines()
            .filter(|line| line.contains(r#""method":"error""#));
        for text in denials.chain([got.stderr.as_str()]) {
            for word in RUST.iter().filter(|word| text.contains(**word)) {
                wrong.push(format!("`{word}` is a word of programmers"));
            }
        }
        if self.answer.is_some() {
            return wrong;
        }
        match got.code {
            Some(1) if self.usage => {
                let helps = got.stderr.contains("--help");
                wrong.extend((!helps).then(|| "a usage message expected".into()));
            }
            Some(1) => {
                if got.stderr.lines().count() != 1 || !got.stderr.ends_with('\n') {
                    wrong.push("one line of stderr expected".into());
                }
                let Some(message) = got.stderr.strip_prefix("holdpoint: ") else {
                    wrong.push("stderr must start with `holdpoint: `".into());
                    return wrong;
                };
                if line.starts_with("holdpoint check") && line.contains("--json") {
                    match serde_json::from_str::<Value>(&got.stdout) {
                        Ok(decision)
                            if decision["verdict"] == "deny"
                                && decision["method"] == "error"
                                && decision["reason"] == message.trim_end() => {}
                        _ => wrong.push(
                            "a decision `deny` by `error` with the same reason expected".into(),
                        ),
                    }
                } else if !got.stdout.is_empty()
                    && !line.starts_with("holdpoint rules test")
                    && !line.starts_with("holdpoint policy")
                    && !line.starts_with("holdpoint replay")
                    && !line.starts_with("holdpoint log")
                    && !line.starts_with("holdpoint scan")
                    && !line.starts_with("holdpoint doctor")
                    && !line.starts_with("holdpoint init")
                    && !line.starts_with("holdpoint serve --install")
                {
                    // A test that fails has said which examples or cases do; a replay, a list and a scan
                    // that skipped something tell what they could read; a doctor tells what ails,
                    // a set-up of several agents what it left out, and a service that is written how to start it.
                    wrong.push("nothing on stdout expected".into());
                }
            }
            _ if self.stderr.is_none() && self.stderr_has.is_empty() && !got.stderr.is_empty() => {
                wrong.push("nothing on stderr expected".into());
            }
            _ => {}
        }
        wrong
    }
}

impl fmt::Display for Got {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => writeln!(f, "got exit code {code}")?,
            None => writeln!(f, "got killed by a signal")?,
        }
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                writeln!(f, "got {name}:\n{}", indented(text))?;
            }
        }
        Ok(())
    }
}

/// What the language's own messages would say.
const RUST: &[&str] = &[
    "struct ",
    "enum ",
    "invalid type",
    "invalid length",
    "unknown variant",
    "os error",
    "Err(",
];

/// Refuses text that would do more to a terminal than fill it.
pub(crate) fn terminal_text(text: &str) -> Result<(), String> {
    let acted_on = |c: &char| {
        (c.is_control() && *c != '\n' && *c != '\t')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    match text.chars().find(acted_on) {
        Some(c) => Err(format!("{c:?}: {text:?}")),
        None => Ok(()),
    }
}

fn indented(text: &str) -> String {
    let mut lines: Vec<String> = text
        .lines()
        .take(60)
        .map(|line| format!("  | {}", line.chars().take(2000).collect::<String>()))
        .collect();
    if !text.ends_with('\n') {
        lines.push("  (no line break at the end)".into());
    }
    lines.join("\n")
}

/// Whether `found` is the text expected, with `[..]` for anything on one line.
fn is_like(expected: &str, found: &str) -> bool {
    if !expected.contains("[..]") {
        return expected == found;
    }
    let mut expected_lines = expected.split('\n');
    let mut found_lines = found.split('\n');
    loop {
        match (expected_lines.next(), found_lines.next()) {
            (None, None) => return true,
            (Some(expected), Some(found)) if is_like_line(expected, found) => {}
            _ => return false,
        }
    }
}

fn is_like_line(expected: &str, found: &str) -> bool {
    let mut pieces = expected.split("[..]");
    let Some(mut rest) = found.strip_prefix(pieces.next().unwrap_or_default()) else {
        return false;
    };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else {
        return rest.is_empty();
    };
    for piece in pieces {
        match rest.split_once(piece) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

fn differences(expected: &Value, found: &Value, place: &str) -> Vec<String> {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => expected
            .iter()
            .flat_map(|(key, value)| match found.get(key) {
                Some(found) => differences(value, found, &format!("{place}.{key}")),
                None => vec![format!("{place}.{key}: is missing")],
            })
            .collect(),
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => expected
            .iter()
            .zip(found)
            .enumerate()
            .flat_map(|(index, (expected, found))| {
                differences(expected, found, &format!("{place}[{index}]"))
            })
            .collect(),
        (Value::String(expected), Value::String(found)) if is_like(expected, found) => Vec::new(),
        _ if expected == found => Vec::new(),
        _ => vec![format!("{place}: expected {expected}, found {found}")],
    }
}
