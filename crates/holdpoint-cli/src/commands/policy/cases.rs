//! Files of cases: calls, and what a policy should say of each.

use std::path::{Path, PathBuf};

use anyhow::bail;
use holdpoint_core::document;
use holdpoint_engine::{ToolCall, Verdict, read_policy_file};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::terminal::escape_for_display;

/// A file as people write it: JSON with comments, as policies are.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    cases: Vec<Written>,
}

/// A case as people write it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: Option<String>,
    command: Option<String>,
    tool: Option<String>,
    input: Option<Map<String, Value>>,
    cwd: Option<String>,
    want: Verdict,
    rule: Option<String>,
}

/// A case, ready to be tried.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) file: String,
    pub(super) line: usize,
    pub(super) name: Option<String>,
    pub(super) call: ToolCall,
    /// Where it runs, from the workspace.
    pub(super) cwd: Option<String>,
    pub(super) want: Verdict,
    /// The rule that should decide.
    pub(super) rule: Option<String>,
}

/// Where the cases of a policy file are: `permissions.test.json` beside `permissions.json`.
pub(super) fn beside(policy: &Path) -> PathBuf {
    let mut name = policy.file_stem().unwrap_or_default().to_owned();
    name.push(".test.json");
    policy.with_file_name(name)
}

/// The cases of a file.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Case>> {
    let bytes = read_policy_file(path)?;
    let file = path.display().to_string();
    let document: Document = document::read(&file, &bytes)?;
    if document.cases.is_empty() {
        bail!(
            "{}: there is no case in it: add one to `cases`",
            escape_for_display(&file, 300)
        );
    }
    let cases = document.cases.into_iter().enumerate();
    cases
        .map(|(index, written)| {
            let place = document::locate(&bytes, &["cases", &index.to_string()]);
            let (line, column) = place.unwrap_or((1, 1));
            match called(&written) {
                Ok(call) => Ok(Case {
                    file: file.clone(),
                    line,
                    name: written.name,
                    call,
                    cwd: written.cwd,
                    want: written.want,
                    rule: written.rule,
                }),
                Err(problem) => bail!(
                    "{}:{line}:{column}: {problem}",
                    escape_for_display(&file, 300)
                ),
            }
        })
        .collect()
}

/// The call a case describes.
fn called(written: &Written) -> anyhow::Result<ToolCall> {
    let (tool, input) = match (&written.command, &written.tool, &written.input) {
        (Some(command), tool, None) => {
            let mut input = Map::new();
            input.insert("command".into(), Value::String(command.clone()));
            (tool.as_deref().unwrap_or("Bash"), input)
        }
        (None, Some(tool), input) => (tool.as_str(), input.clone().unwrap_or_default()),
        (Some(_), _, Some(_)) => bail!("a case has `command` or `input`, not both: remove one"),
        (None, None, _) => bail!("this case names no call: give `command`, or `tool` and `input`"),
    };
    Ok(ToolCall::new(tool, Value::Object(input))?)
}
