//! `holdpoint policy lint`: rules that do not say what they seem to.
//!
//! `written` has the entries of a file with their lines, `spelling` looks at the entries alone, `tried` at what
//! the policy makes of calls they are about.

mod spelling;
mod tried;
mod written;

use std::io::Write;
use std::path::PathBuf;

use holdpoint_core::policy::{Authority, Layer};
use holdpoint_engine::humanize::counted;
use holdpoint_engine::{Engine, Locations, PolicySource, Trust, working_directory};
use serde::Serialize;
use serde_json::json;

use self::tried::Tried;
use self::written::{Entry, WrittenPolicy};
use crate::cli::PolicyLint;
use crate::exit::Exit;
use crate::layout::hanging;
use crate::terminal::{Terminal, escape_for_display};

pub(super) fn run(args: &PolicyLint, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let engine = Engine::at(&Locations::of_this_machine());
    let source = match &args.file {
        Some(file) => PolicySource::File(file.clone()),
        None => engine.layers(&working_directory(args.cwd.as_deref())?),
    };
    let policy = engine.policy(&source)?;
    let layers = policy.layers().iter().filter(|layer| !layer.is_built_in());
    let files: Vec<(&Layer, WrittenPolicy)> = layers
        .map(|layer| Ok((layer, WrittenPolicy::read(&PathBuf::from(&layer.name))?)))
        .collect::<anyhow::Result<_>>()?;
    let tried = Tried::new(&policy)?;
    let mut findings = Vec::new();
    for (layer, file) in &files {
        // As the only file it is the user's; a project's says nothing by stating no default.
        let silent = !layer.states_default() && layer.authority != Authority::Project;
        findings.extend(silent.then(|| no_default(file)));
        let untrusted = layer.trust == Trust::Untrusted;
        let first = file.allows().next().filter(|_| untrusted);
        findings.extend(first.map(untrusted_allow));
        spelling::look(file, layer, &mut findings);
        tried.look(file, layer, &mut findings);
    }
    findings.sort_by(|one, other| {
        (&one.file, one.line, one.column, one.code).cmp(&(
            &other.file,
            other.line,
            other.column,
            other.code,
        ))
    });
    let warnings = findings
        .iter()
        .filter(|one| one.level == Level::Warning)
        .count();
    match args.json {
        true => print_json(&findings, &files, warnings, terminal)?,
        false => print(&findings, files.len(), warnings, terminal)?,
    }
    match warnings {
        0 => Ok(Exit::Fine),
        warnings => super::found(
            &format!(
                "{}: change what is meant otherwise",
                counted(warnings, "warning")
            ),
            terminal,
        ),
    }
}

/// Something an author should know.
#[derive(Debug, Serialize)]
struct Finding {
    file: String,
    line: usize,
    column: usize,
    level: Level,
    /// What kind of finding it is.
    code: &'static str,
    /// The entry, as it is written.
    rule: String,
    message: String,
    /// What to write.
    instead: Option<String>,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    /// The entry does not do what it seems to.
    Warning,
    /// It does, and there is something to know about it.
    Note,
}

impl Level {
    fn as_str(self) -> &'static str {
        match self {
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }
}

impl Finding {
    fn about(entry: &Entry, level: Level, code: &'static str, message: String) -> Self {
        Self {
            file: entry.file.clone(),
            line: entry.place.0,
            column: entry.place.1,
            level,
            code,
            rule: entry.text.clone(),
            message,
            instead: None,
        }
    }

    fn instead(mut self, instead: impl Into<String>) -> Self {
        self.instead = Some(instead.into());
        self
    }
}

fn no_default(file: &WrittenPolicy) -> Finding {
    Finding {
        file: file.name.clone(),
        line: 1,
        column: 1,
        level: Level::Note,
        code: "no-default",
        rule: String::new(),
        message: "states no defaultPolicy, no autonomy and no profile: what no rule speaks about is denied".into(),
        instead: Some("\"profile\": \"balanced\", or \"defaultPolicy\": \"ask\"".into()),
    }
}

fn untrusted_allow(entry: &Entry) -> Finding {
    let message = "does not count, nor does any other allow of this file: nobody has vouched for it, so it only \
                   tightens"
        .into();
    Finding::about(entry, Level::Note, "not-trusted", message)
        .instead("run `holdpoint trust` once you have read the file")
}

fn print(
    findings: &[Finding],
    files: usize,
    warnings: usize,
    terminal: &mut Terminal,
) -> anyhow::Result<()> {
    for one in findings {
        let place = format!(
            "{}:{}:{}",
            escape_for_display(&one.file, 300),
            one.line,
            one.column
        );
        let place = terminal.heading(&place);
        let rule = match one.rule.is_empty() {
            true => String::new(),
            false => format!("`{}` ", escape_for_display(&one.rule, 200)),
        };
        let text = format!(
            "{}: {rule}{} [{}]",
            one.level.as_str(),
            escape_for_display(&one.message, 700),
            one.code
        );
        let text = hanging(&text, 4, terminal.width());
        writeln!(terminal.out, "{place}: {text}")?;
        if let Some(instead) = &one.instead {
            let instead = hanging(&escape_for_display(instead, 500), 13, terminal.width());
            writeln!(terminal.out, "    instead: {instead}")?;
        }
    }
    let notes = findings.len() - warnings;
    let said = match (warnings, notes) {
        (0, 0) => "nothing to say".to_owned(),
        (warnings, 0) => counted(warnings, "warning"),
        (0, notes) => counted(notes, "note"),
        (warnings, notes) => format!(
            "{}, {}",
            counted(warnings, "warning"),
            counted(notes, "note")
        ),
    };
    writeln!(terminal.out, "{}: {said}", counted(files, "policy file"))?;
    Ok(())
}

fn print_json(
    findings: &[Finding],
    files: &[(&Layer, WrittenPolicy)],
    warnings: usize,
    terminal: &mut Terminal,
) -> anyhow::Result<()> {
    let files: Vec<&str> = files.iter().map(|(_, file)| file.name.as_str()).collect();
    let whole = json!({ "v": 1, "files": files, "warnings": warnings, "findings": findings });
    serde_json::to_writer_pretty(&mut terminal.out, &whole)?;
    writeln!(terminal.out)?;
    Ok(())
}
