//! `holdpoint policy test`: the cases of a policy, tried.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{anyhow, bail};
use holdpoint_core::{Surroundings, judge_call};
use holdpoint_engine::humanize::counted;
use holdpoint_engine::{
    Decision, Disk, Engine, Locations, Policy, PolicySource, Session, Trust, Verdict,
    without_secrets, working_directory,
};
use serde_json::{Value, json};

use super::cases::{self, Case};
use super::found;
use crate::cli::PolicyTest;
use crate::commands::empty_machine;
use crate::exit::Exit;
use crate::layout::hanging;
use crate::terminal::{Terminal, escape_for_display};

pub(super) fn run(args: &PolicyTest, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let locations = Locations::of_this_machine();
    let engine = Engine::at(&locations);
    let here = working_directory(args.cwd.as_deref())?;
    let source = match (&args.file, &args.profile) {
        (Some(file), _) => PolicySource::File(file.clone()),
        (None, Some(profile)) => PolicySource::Profile(profile.clone()),
        (None, None) => engine.layers(&here),
    };
    let policy = engine.policy(&source)?;
    let files = case_files(args, &policy)?;
    let mut all = Vec::new();
    for file in &files {
        all.extend(cases::read(file)?);
    }
    let place = match args.look {
        true => Place::Here {
            workspace: text_of(&here)?,
            home: locations.home.as_deref().map(text_of).transpose()?,
        },
        false => Place::Empty,
    };
    let tried: Vec<Tried> = all
        .into_iter()
        .map(|case| place.tried(case, &policy))
        .collect();
    let failed = tried.iter().filter(|one| !one.holds()).count();
    match args.json {
        true => print_json(&tried, &files, terminal)?,
        false => print(&tried, &files, terminal)?,
    }
    let mut layers = policy.layers().iter();
    if let Some(layer) = layers.find(|layer| layer.trust == Trust::Untrusted)
        && failed > 0
        && !args.json
    {
        let text = format!(
            "{} is not trusted, so its allow rules do not count: name it to try it alone, or run `holdpoint trust`.",
            escape_for_display(&layer.name, 300)
        );
        let text = hanging(&text, 0, terminal.width());
        writeln!(terminal.out, "{}", terminal.faint(&text))?;
    }
    match failed {
        0 => Ok(Exit::Fine),
        1 => found(
            &format!(
                "1 of {} does not hold: change the policy or the case",
                counted(tried.len(), "case")
            ),
            terminal,
        ),
        failed => found(
            &format!(
                "{failed} of {} do not hold: change the policy or the cases",
                counted(tried.len(), "case")
            ),
            terminal,
        ),
    }
}

/// The files the arguments name, or those beside the policy's own.
fn case_files(args: &PolicyTest, policy: &Policy) -> anyhow::Result<Vec<PathBuf>> {
    if !args.cases.is_empty() {
        return Ok(args.cases.clone());
    }
    let policies: Vec<PathBuf> = match &args.file {
        Some(file) => vec![file.clone()],
        None => policy
            .layers()
            .iter()
            .filter(|layer| !layer.is_built_in())
            .map(|layer| PathBuf::from(&layer.name))
            .collect(),
    };
    let beside: Vec<PathBuf> = policies.iter().map(|file| cases::beside(file)).collect();
    let there: Vec<PathBuf> = beside
        .iter()
        .filter(|file| file.exists())
        .cloned()
        .collect();
    if there.is_empty() {
        let Some(first) = beside.first() else {
            bail!("no policy file is in force here: name one, or give --profile and --cases");
        };
        bail!(
            "there are no cases: write {} with {{\"cases\": [{{\"command\": \"cargo test\", \"want\": \"allow\"}}]}}, \
             or name a file with --cases",
            escape_for_display(&first.display().to_string(), 300)
        );
    }
    Ok(there)
}

fn text_of(path: &Path) -> anyhow::Result<Arc<str>> {
    let text = path.to_str();
    text.map(Arc::from)
        .ok_or_else(|| anyhow!("{} is not text: judge without --look", path.display()))
}

/// Where cases are judged.
enum Place {
    /// A machine with nothing on it.
    Empty,
    /// This one.
    Here {
        workspace: Arc<str>,
        home: Option<Arc<str>>,
    },
}

impl Place {
    fn tried(&self, case: Case, policy: &Policy) -> Tried {
        let around = match self {
            Place::Empty => empty_machine::surroundings(true),
            Place::Here { workspace, home } => Surroundings {
                workspace: Some(workspace),
                directory: None,
                home: home.as_deref(),
                lookup: &Disk,
                can_contain: true,
            },
        };
        let workspace = around.workspace.unwrap_or_default();
        let mut call = case.call.clone();
        if let Some(cwd) = &case.cwd {
            let directory = Path::new(workspace).join(cwd);
            call = call.in_directory(directory.to_string_lossy());
        }
        let decision = judge_call(&call, policy, &Session::default(), &around);
        Tried {
            case,
            decision: without_secrets(decision),
        }
    }
}

/// A case and what the policy says.
struct Tried {
    case: Case,
    decision: Decision,
}

impl Tried {
    fn holds(&self) -> bool {
        self.decision.verdict == self.case.want
            && (self.case.rule.is_none() || self.case.rule == self.decision.rule)
    }

    /// The call, as its author knows it.
    fn call(&self) -> String {
        let call = &self.case.call;
        call.command_line()
            .unwrap_or_else(|| call.signature().to_string())
    }

    fn wanted(&self) -> String {
        said(self.case.want, self.case.rule.as_deref())
    }

    fn got(&self) -> String {
        let rule = self.decision.rule.as_deref();
        said(self.decision.verdict, rule)
    }
}

fn said(verdict: Verdict, rule: Option<&str>) -> String {
    match rule {
        Some(rule) => format!("{} by {}", verdict.as_str(), escape_for_display(rule, 200)),
        None => verdict.as_str().to_owned(),
    }
}

fn print(tried: &[Tried], files: &[PathBuf], terminal: &mut Terminal) -> anyhow::Result<()> {
    for one in tried.iter().filter(|one| !one.holds()) {
        let (case, decision) = (&one.case, &one.decision);
        let place = format!("{}:{}", escape_for_display(&case.file, 300), case.line);
        let name = case
            .name
            .as_deref()
            .map(|name| format!(" ({})", escape_for_display(name, 200)));
        let heading = terminal.heading(&place);
        writeln!(
            terminal.out,
            "{heading}: {}{}",
            escape_for_display(&one.call(), 500),
            name.unwrap_or_default()
        )?;
        writeln!(
            terminal.out,
            "    wanted {}, got {}",
            one.wanted(),
            one.got()
        )?;
        let mut reason = escape_for_display(&decision.reason, 500);
        if let Some(place) = &decision.stated_in {
            reason.push_str(&format!(" ({})", escape_for_display(&place.words(), 500)));
        }
        let reason = hanging(&reason, 4, terminal.width());
        writeln!(terminal.out, "    {reason}")?;
    }
    let failed = tried.iter().filter(|one| !one.holds()).count();
    let outcome = match failed {
        0 => "all hold".to_owned(),
        1 => "1 does not hold".to_owned(),
        failed => format!("{failed} do not hold"),
    };
    writeln!(
        terminal.out,
        "{} in {}: {outcome}",
        counted(tried.len(), "case"),
        counted(files.len(), "file")
    )?;
    Ok(())
}

fn print_json(tried: &[Tried], files: &[PathBuf], terminal: &mut Terminal) -> anyhow::Result<()> {
    let failures: Vec<Value> = tried
        .iter()
        .filter(|one| !one.holds())
        .map(|one| {
            let (case, decision) = (&one.case, &one.decision);
            json!({
                "file": case.file,
                "line": case.line,
                "name": case.name,
                "call": one.call(),
                "cwd": case.cwd,
                "want": case.want,
                "want_rule": case.rule,
                "verdict": decision.verdict,
                "rule": decision.rule,
                "method": decision.method,
                "reason": decision.reason,
                "stated_in": decision.stated_in,
            })
        })
        .collect();
    let files: Vec<String> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    let whole = json!({ "v": 1, "files": files, "cases": tried.len(), "failures": failures });
    serde_json::to_writer_pretty(&mut terminal.out, &whole)?;
    writeln!(terminal.out)?;
    Ok(())
}
