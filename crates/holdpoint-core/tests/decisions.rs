//! Runs the decision cases in `corpus/decisions`: a call and a policy in, a verdict out.
//!
//! The cases are data, so that a newcomer can add one without reading Rust; the format is
//! described in `corpus/decisions/README.md`. Every case of every file runs, and all that fail are
//! reported together.

#![allow(
    clippy::disallowed_methods,
    reason = "a test reads its cases; what it tests does not"
)]

mod padding;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use holdpoint_core::paths::{Entry, Lookup};
use holdpoint_core::policy::{Authority, Source, Trust};
use holdpoint_core::{
    Decision, DocumentError, Policy, Session, SessionState, StrictValue, Surroundings, ToolCall,
    Verdict, judge_call,
};
use serde::Deserialize;
use serde_json::json;

use crate::padding::PADDINGS;

/// A command is tried with one of so many paddings; `HOLDPOINT_FORMS=all` tries all.
const OF_PADDINGS: usize = 601;

/// Fewer judgements than this mean that files were lost, not that everything is well.
const LEAST_JUDGEMENTS: usize = 2000;

/// The tool a bare `command` is given to.
const COMMAND_TOOL: &str = "cli_based_tool";

type Outcome<T> = Result<T, Box<dyn Error>>;

#[test]
fn every_decision_case_holds() -> Outcome<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/decisions");
    let mut files = Vec::new();
    collect_files(&root, &mut files)?;
    files.sort();

    let mut report = Report::default();
    for path in &files {
        let name = path.strip_prefix(&root)?.display().to_string();
        match CaseFile::read(path) {
            Ok(file) => file.run(&name, &mut report),
            Err(problem) => report.fail(&name, "(the file)", &problem.to_string()),
        }
    }
    report.finish()
}

/// Whatever a policy says: a command behind more than a limit of the budget is never judged looser.
#[test]
fn padding_a_line_past_a_limit_never_loosens() -> Outcome<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/decisions");
    let mut files = Vec::new();
    collect_files(&root, &mut files)?;
    files.sort();
    let all = std::env::var("HOLDPOINT_FORMS").is_ok_and(|text| text == "all");
    let rotation = if all { 1 } else { OF_PADDINGS };
    let mut wrong = Vec::new();
    let mut index = 0;
    for path in &files {
        let file = CaseFile::read(path)?;
        for case in file.case.iter().filter(|case| case.refused.is_none()) {
            let setting = case.own.on_top_of(&file.shared);
            for command in case.command.iter().chain(&case.commands) {
                index += 1;
                // Each padding meets other commands than the one before it.
                let paddings = PADDINGS.iter().enumerate();
                let chosen =
                    paddings.filter(|(place, _)| (index + place * 31).is_multiple_of(rotation));
                for (_, (name, padding)) in chosen {
                    let plain = setting.judged(&call_of_command(command)?)?.verdict;
                    let line = format!("{}\n{command}", padding());
                    let padded = setting.judged(&call_of_command(&line)?)?.verdict;
                    if padded < plain {
                        let shown = format!("{}: {command}", case.name);
                        wrong.push(format!("{name}: {shown}: {plain:?}, so {padded:?}"));
                    }
                }
            }
        }
    }
    wrong.truncate(40);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

fn collect_files(directory: &Path, files: &mut Vec<PathBuf>) -> Outcome<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect_files(&path, files)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            files.push(path);
        }
    }
    Ok(())
}

/// What went wrong, and how much was tried.
#[derive(Default)]
struct Report {
    judgements: usize,
    failures: usize,
    text: String,
}

impl Report {
    fn fail(&mut self, file: &str, case: &str, problem: &str) {
        self.failures += 1;
        let _ = writeln!(self.text, "{file}: {case}\n    {problem}");
    }

    fn finish(self) -> Outcome<()> {
        if self.failures > 0 {
            return Err(AsWritten(format!(
                "{} of {} judgements are not as the cases want them:\n\n{}",
                self.failures, self.judgements, self.text
            ))
            .into());
        }
        if self.judgements < LEAST_JUDGEMENTS {
            return Err(AsWritten(format!(
                "only {} judgements were made; there must be at least {LEAST_JUDGEMENTS}",
                self.judgements
            ))
            .into());
        }
        Ok(())
    }
}

/// A message that a failing test shows with its line breaks.
struct AsWritten(String);

impl std::fmt::Debug for AsWritten {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Display for AsWritten {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for AsWritten {}

/// One file: a topic, what its cases share, and the cases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    about: String,
    #[serde(flatten)]
    shared: Setting,
    #[serde(default)]
    case: Vec<Case>,
}

/// Where a call is judged; a case's own words come before its file's.
#[derive(Clone, Default, Deserialize)]
struct Setting {
    /// The user's policy file.
    policy: Option<String>,
    /// The managed policy file.
    managed: Option<String>,
    /// A project's policy file that nobody has vouched for.
    project: Option<String>,
    /// A project's policy file whose owner trusts it.
    trusted_project: Option<String>,
    /// The state of the session.
    session: Option<String>,
    /// The directory the call runs in.
    cwd: Option<String>,
    /// The directory the agent is meant to work in; without it, `cwd`.
    workspace: Option<String>,
    home: Option<String>,
    /// Symbolic links of the made-up file system.
    links: Option<BTreeMap<String, String>>,
    /// Places of it that cannot be looked at.
    unreadable: Option<BTreeSet<String>>,
}

/// A call, or several, and the decision wanted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(flatten)]
    own: Setting,

    command: Option<String>,
    /// Several commands that must all be decided alike.
    #[serde(default)]
    commands: Vec<String>,
    tool: Option<String>,
    input: Option<String>,
    /// Several calls that must all be decided alike, each a tool and its input.
    #[serde(default)]
    calls: Vec<String>,

    verdict: Option<Verdict>,
    /// This verdict or a stricter one.
    at_least: Option<Verdict>,
    method: Option<String>,
    rule: Option<String>,
    reason: Option<String>,
    risk: Option<String>,
    /// The policy itself must be refused, with an error that contains this.
    refused: Option<String>,
}

impl CaseFile {
    fn read(path: &Path) -> Outcome<Self> {
        let file: CaseFile = toml::from_str(&fs::read_to_string(path)?)?;
        if file.about.trim().is_empty() {
            return Err("`about` says nothing".into());
        }
        if file.case.is_empty() {
            return Err("there is no case in it".into());
        }
        let mut names = BTreeSet::new();
        for case in &file.case {
            if !names.insert(case.name.as_str()) {
                return Err(format!("two cases are called `{}`", case.name).into());
            }
        }
        Ok(file)
    }

    fn run(&self, file: &str, report: &mut Report) {
        for case in &self.case {
            let setting = case.own.on_top_of(&self.shared);
            if let Err(problem) = case.run(&setting, file, report) {
                report.fail(file, &case.name, &problem.to_string());
            }
        }
    }
}

impl Setting {
    fn on_top_of(&self, shared: &Setting) -> Setting {
        let own = self.clone();
        let shared = shared.clone();
        Setting {
            policy: own.policy.or(shared.policy),
            managed: own.managed.or(shared.managed),
            project: own.project.or(shared.project),
            trusted_project: own.trusted_project.or(shared.trusted_project),
            session: own.session.or(shared.session),
            cwd: own.cwd.or(shared.cwd),
            workspace: own.workspace.or(shared.workspace),
            home: own.home.or(shared.home),
            links: own.links.or(shared.links),
            unreadable: own.unreadable.or(shared.unreadable),
        }
    }

    fn compile(&self) -> Result<Policy, DocumentError> {
        let layers = [
            (&self.managed, "managed", Authority::Managed, Trust::Trusted),
            (&self.policy, "policy", Authority::User, Trust::Trusted),
            (
                &self.project,
                "project",
                Authority::Project,
                Trust::Untrusted,
            ),
            (
                &self.trusted_project,
                "trusted_project",
                Authority::Project,
                Trust::Trusted,
            ),
        ];
        let sources = layers
            .into_iter()
            .filter_map(|(text, name, authority, trust)| {
                Some(Source {
                    name: name.into(),
                    authority,
                    trust,
                    bytes: text.clone()?.into_bytes(),
                })
            });
        Policy::compile(sources.collect())
    }

    /// What becomes of a call here.
    fn judged(&self, call: &ToolCall) -> Outcome<Decision> {
        let around = Surroundings {
            workspace: self.workspace.as_deref().or(self.cwd.as_deref()),
            directory: self.cwd.as_deref(),
            home: self.home.as_deref(),
            lookup: self,
            can_contain: false,
        };
        let policy = self.compile()?;
        Ok(judge_call(call, &policy, &self.session()?, &around))
    }

    fn session(&self) -> Outcome<Session> {
        let state: SessionState = match &self.session {
            Some(text) => serde_json::from_str(text)?,
            None => SessionState::default(),
        };
        Ok(Session::new(state))
    }
}

impl Lookup for Setting {
    fn entry(&self, path: &str) -> Entry {
        let target = self.links.as_ref().and_then(|links| links.get(path));
        match target {
            Some(target) => Entry::Link(target.clone()),
            None if self
                .unreadable
                .as_ref()
                .is_some_and(|all| all.contains(path)) =>
            {
                Entry::Unreadable
            }
            None => Entry::Missing,
        }
    }
}

impl Case {
    fn run(&self, setting: &Setting, file: &str, report: &mut Report) -> Outcome<()> {
        let compiled = setting.compile();
        if let Some(wanted) = &self.refused {
            report.judgements += 1;
            return match compiled {
                Ok(_) => Err("wanted the policy to be refused, but it was read".into()),
                Err(error) if error.to_string().contains(wanted) => Ok(()),
                Err(error) => Err(format!("wanted an error with `{wanted}`, got: {error}").into()),
            };
        }
        if self.verdict.is_some() == self.at_least.is_some() {
            return Err("give one of `verdict`, `at_least` and `refused`".into());
        }
        let policy = compiled?;
        let session = setting.session()?;
        let around = Surroundings {
            workspace: setting.workspace.as_deref().or(setting.cwd.as_deref()),
            directory: setting.cwd.as_deref(),
            home: setting.home.as_deref(),
            lookup: setting,
            can_contain: false,
        };
        let calls = self.calls()?;
        for (shown, call) in &calls {
            report.judgements += 1;
            let decision = judge_call(call, &policy, &session, &around);
            if let Some(problem) = self.problem(&decision) {
                report.fail(file, &self.name, &format!("{shown}\n    {problem}"));
            }
        }
        Ok(())
    }

    /// The calls of the case, each with a text that tells it from the others.
    fn calls(&self) -> Outcome<Vec<(String, ToolCall)>> {
        let commands: Vec<&String> = self.command.iter().chain(&self.commands).collect();
        if !self.calls.is_empty() && commands.is_empty() && self.tool.is_none() {
            let made = self.calls.iter().map(|text| {
                let (tool, input) = text.split_once(' ').unwrap_or((text, "{}"));
                let StrictValue(value) = serde_json::from_str(input)?;
                Ok((text.clone(), ToolCall::new(tool, value)?))
            });
            return made.collect();
        }
        match (&self.tool, &self.input) {
            (None, None) if !commands.is_empty() => commands
                .into_iter()
                .map(|command| Ok((command.clone(), call_of_command(command)?)))
                .collect(),
            (Some(tool), input) if commands.is_empty() => {
                let input = input.as_deref().unwrap_or("{}");
                let StrictValue(value) = serde_json::from_str(input)?;
                Ok(vec![(
                    format!("{tool} {input}"),
                    ToolCall::new(tool, value)?,
                )])
            }
            _ => Err("give `command`, `commands`, `calls`, or `tool` with its `input`".into()),
        }
    }

    fn problem(&self, decision: &Decision) -> Option<String> {
        let verdict_fits = match (self.verdict, self.at_least) {
            (Some(wanted), _) => decision.verdict == wanted,
            (None, Some(least)) => decision.verdict >= least,
            (None, None) => false,
        };
        let fits = |wanted: &Option<String>, got: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == got)
        };
        let rule = decision.rule.as_deref().unwrap_or("(none)");
        if verdict_fits
            && fits(&self.method, decision.method.as_str())
            && fits(&self.rule, rule)
            && fits(&self.reason, &decision.reason)
            && fits(&self.risk, decision.risk.as_str())
        {
            return None;
        }
        let mut wanted = match (self.verdict, self.at_least) {
            (Some(verdict), _) => verdict.as_str().to_owned(),
            (None, Some(least)) => format!("at least {}", least.as_str()),
            (None, None) => String::new(),
        };
        for (key, value) in [
            ("method", &self.method),
            ("rule", &self.rule),
            ("reason", &self.reason),
            ("risk", &self.risk),
        ] {
            if let Some(value) = value {
                let _ = write!(wanted, ", {key} `{value}`");
            }
        }
        Some(format!(
            "wanted {wanted}\n    got    {}, method `{}`, rule `{rule}`, reason `{}`, risk `{}`",
            decision.verdict.as_str(),
            decision.method.as_str(),
            decision.reason,
            decision.risk.as_str(),
        ))
    }
}

fn call_of_command(command: &str) -> Outcome<ToolCall> {
    Ok(ToolCall::new(COMMAND_TOOL, json!({ "command": command }))?)
}
