//! How well an agent is guarded: what its settings hold, and what comes of asking through them.

use std::fs;
use std::path::Path;

use serde::Serialize;

use super::probe::{self, Heard};
use super::{Around, Call, Entry, Host, Scope, SetupError};
use holdpoint_core::text::escape_for_display;
use holdpoint_engine::store::read_bounded;

/// How something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// As it should be.
    Fine,
    /// Worth knowing, and not wrong.
    Note,
    /// Calls are not guarded as they should be.
    Broken,
}

/// One thing that was looked at.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The agent, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<&'static str>,
    /// What was looked at.
    pub check: &'static str,
    /// Whose settings, where it is about such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<&'static str>,
    /// How it stands.
    pub standing: Standing,
    /// The same in words.
    pub text: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl Finding {
    /// Something that is not about an agent.
    pub fn new(check: &'static str, standing: Standing, text: impl Into<String>) -> Self {
        Self {
            agent: None,
            check,
            scope: None,
            standing,
            text: text.into(),
            fix: None,
        }
    }

    /// With what to do about it.
    pub fn fixed_by(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }
}

/// Everything about one agent; `program` is the one that looks.
pub fn examine(host: &'static Host, around: &Around, program: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut registered = false;
    for scope in Scope::ALL {
        match of_scope(host, scope, around, program) {
            Ok(found) => {
                registered |= !found.is_empty();
                findings.extend(found);
            }
            Err(SetupError::NoSuchScope(..)) => {}
            Err(error) => findings.push(Finding::new(
                "settings",
                Standing::Broken,
                error.to_string(),
            )),
        }
    }
    if !registered {
        let text = format!(
            "Holdpoint is not registered: nothing that {} does is guarded",
            host.title()
        );
        findings.push(
            Finding::new("registered", Standing::Broken, text)
                .fixed_by(format!("run `holdpoint init {}`", host.name())),
        );
    }
    for finding in &mut findings {
        finding.agent = Some(host.name());
    }
    findings
}

/// What there is of ours in one scope; nothing if there is nothing.
fn of_scope(
    host: &Host,
    scope: Scope,
    around: &Around,
    program: &str,
) -> Result<Vec<Finding>, SetupError> {
    let parts = host.parts(scope, around, program)?;
    let mut findings = Vec::new();
    let mut entries: Vec<(Call, Entry)> = Vec::new();
    let mut disabled_reasons = Vec::new();
    let again = format!(
        "run `holdpoint init {} --scope {}`",
        host.name(),
        scope.name()
    );
    for part in &parts {
        let seen = part.look()?;
        disabled_reasons.extend(seen.disabled_reason);
        if seen.entries.is_empty() {
            continue;
        }
        let path = escape_for_display(&part.path().display().to_string(), 500);
        findings.push(Finding::new(
            "registered",
            Standing::Fine,
            format!("registered in {path}"),
        ));
        if !seen.missing.is_empty() {
            let text = format!(
                "not every call is asked about: {} lacks",
                seen.missing.join(", ")
            );
            let text = format!("{text} an entry that sees everything");
            findings.push(Finding::new("complete", Standing::Broken, text).fixed_by(&again));
        }
        // A script is asked as the agent asks it.
        let script = part.form.is_run().then(|| Call::Direct {
            program: part.path.display().to_string(),
            arguments: Vec::new(),
        });
        let asked = |entry: Entry| (script.clone().unwrap_or_else(|| entry.call.clone()), entry);
        entries.extend(seen.entries.into_iter().map(asked));
    }
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    for disabled_reason in disabled_reasons {
        let text = format!("not in force: {disabled_reason}");
        findings.push(Finding::new("in_force", Standing::Broken, text).fixed_by(&again));
    }
    if entries
        .iter()
        .any(|(_, entry)| entry.fails_closed == Some(false))
    {
        let text = format!("{} goes on if the hook fails", host.title());
        findings.push(Finding::new("fails_closed", Standing::Broken, text).fixed_by(&again));
    }
    findings.push(match host.switched_off_by(scope) {
        Some(how) => Finding::new(
            "switch",
            Standing::Note,
            format!("it can be switched off: {how}"),
        ),
        None => Finding::new(
            "switch",
            Standing::Fine,
            "only the machine's owner can switch it off",
        ),
    });
    // Entries of one agent mostly run the same, and what runs the same answers the same.
    let mut asked: Vec<String> = Vec::new();
    // What nobody hears cannot be asked.
    let heard = |(command, _): &&(Call, Entry)| !command.is_silent();
    for (command, entry) in entries.iter().filter(heard) {
        let runs = match entry.call.is_plain(host.name()) && command == &entry.call {
            true => entry.call.program().unwrap_or_default(),
            false => command.text().to_owned(),
        };
        if asked.contains(&runs) {
            continue;
        }
        asked.push(runs);
        let other = same_program(entry, program);
        // The agent runs what a project says once its user trusts the project; a look at how things
        // stand must not.
        let unchanged = command == &entry.call || entry.sees_all;
        let known = other.is_none() && unchanged && entry.call.is_plain(host.name());
        let own = matches!(scope, Scope::Managed | Scope::User);
        findings.extend(other.map(|finding| finding.fixed_by(&again)));
        findings.push(match known || own {
            true => probed(host, command, around, &again),
            false => Finding::new(
                "probe",
                Standing::Broken,
                "its command is not what `holdpoint init` writes, and a project's commands are not \
                 run to see what they do",
            )
            .fixed_by(&again),
        });
    }
    for finding in &mut findings {
        finding.scope = Some(scope.name());
    }
    Ok(findings)
}

/// What is wrong with the program an entry names, if something is.
fn same_program(entry: &Entry, program: &str) -> Option<Finding> {
    let broken = |text: String| Some(Finding::new("program", Standing::Broken, text));
    let Some(named) = entry.call.program() else {
        return broken("which program its command runs cannot be told".into());
    };
    if named == program {
        return None;
    }
    let shown_name = escape_for_display(&named, 300);
    if !Path::new(&named).is_absolute() {
        return broken(format!(
            "`{shown_name}` is looked for wherever the agent was started: name its place"
        ));
    }
    let there = fs::metadata(&named).is_ok_and(|found| found.is_file());
    match (there, same_content(Path::new(&named), Path::new(program))) {
        (true, true) => None,
        (true, false) => broken(format!("{shown_name} is another program than this one")),
        (false, _) => broken(format!("{shown_name} is not there, or cannot be read")),
    }
}

fn same_content(one: &Path, other: &Path) -> bool {
    let Ok(size) = fs::metadata(other).map(|found| found.len()) else {
        return false;
    };
    match (read_bounded(one, size), read_bounded(other, size)) {
        (Ok(one), Ok(other)) => one == other,
        (Ok(_) | Err(_), _) => false,
    }
}

/// What comes of asking through the command as it stands.
fn probed(host: &Host, command: &Call, around: &Around, again: &str) -> Finding {
    let payload = host.canary(&around.directory);
    let (standing, text) = match probe::ask(command, &payload, host.dialect(), &around.directory) {
        Heard::Denied => (
            Standing::Fine,
            "asked through its own command, a call no policy allows is denied".to_owned(),
        ),
        Heard::Refused(words) => (
            Standing::Broken,
            format!(
                "its command refuses everything instead of judging: {}",
                escape_for_display(words.trim(), 300)
            ),
        ),
        Heard::Allowed(words) => (
            Standing::Broken,
            format!(
                "a call no policy allows would run: {}",
                escape_for_display(words.trim(), 300)
            ),
        ),
        Heard::Silent(words) => (
            Standing::Broken,
            format!(
                "its command does not answer: {}",
                escape_for_display(&words, 300)
            ),
        ),
    };
    let finding = Finding::new("probe", standing, text);
    match standing {
        Standing::Fine | Standing::Note => finding,
        Standing::Broken => finding.fixed_by(again),
    }
}
