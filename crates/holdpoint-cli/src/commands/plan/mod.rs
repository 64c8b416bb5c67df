//! `holdpoint plan`: what an agent declares it is going to do, judged as a whole, released once, and kept to.

mod approving;
mod checking;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use holdpoint_core::plan::{Format, Manifest, OpenPlan, json_schema};
use holdpoint_engine::{
    Engine, Locations, SessionId, SessionSource, Sessions, real_directory, text_without_secrets,
};
use holdpoint_ledger::Kind;
use serde_json::{Value, json};

use self::checking::Checked;
use super::serve::may_loosen;
use super::{in_words, which_session};
use crate::cli::{Plan, PlanAction};
use crate::exit::Exit;
use crate::terminal::{Terminal, escape_for_display};

/// The largest manifest: more than anybody writes, and less than takes long to read.
const MAX_MANIFEST: u64 = 256 << 10;

pub(crate) fn run(args: &Plan, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let engine = Engine::at(&Locations::of_this_machine());
    let directory = real_directory(args.cwd.as_deref())
        .context("the directory cannot be looked at: check --cwd")?;
    match &args.action {
        PlanAction::Schema => {
            serde_json::to_writer_pretty(&mut terminal.out, &json_schema())?;
            writeln!(terminal.out)?;
            Ok(Exit::Fine)
        }
        PlanAction::Show { file } => {
            let read = Read::at(file, &directory)?;
            show(&read, terminal)?;
            Ok(Exit::Fine)
        }
        PlanAction::Check { file } => {
            let read = Read::at(file, &directory)?;
            let session = session_of(args, &directory, terminal)?;
            let checked = Checked::of(&engine, &read, &directory, &session)?;
            match args.json {
                true => writeln!(terminal.out, "{}", checked.json(&read))?,
                false => checked.print(&read, terminal)?,
            }
            Ok(checked.exit())
        }
        PlanAction::Approve { file, lasts } => {
            let read = Read::at(file, &directory)?;
            let session = session_of(args, &directory, terminal)?;
            let checked = Checked::of(&engine, &read, &directory, &session)?;
            if checked.exit() == Exit::Denied {
                checked.print(&read, terminal)?;
                bail!(
                    "some of the plan is denied whoever says yes: take that out of {}, then put it before a person",
                    file.display()
                );
            }
            let asked = approving::Asked {
                directory: &directory,
                session: &session,
                lasts,
                json: args.json,
            };
            approving::approve(&asked, read, &checked, terminal)
        }
        PlanAction::Status { file } => {
            let session = session_of(args, &directory, terminal)?;
            status(&engine, &session, file.as_deref(), args.json, terminal)
        }
        PlanAction::Close => {
            may_loosen("close a plan", engine.locations())?;
            let session = session_of(args, &directory, terminal)?;
            close(&engine, &session, args.json, terminal)
        }
    }
}

/// A manifest that was read.
struct Read {
    name: String,
    manifest: Manifest,
    plan: OpenPlan,
}

impl Read {
    /// Reads a manifest and what it comes to in a directory. When it ends is not known before it is opened.
    fn at(file: &Path, directory: &Path) -> anyhow::Result<Self> {
        let name = file.display().to_string();
        let size = fs::metadata(file).map(|found| found.len());
        let bytes = match size {
            Ok(size) if size > MAX_MANIFEST => {
                bail!("{name}: it is larger than {MAX_MANIFEST} bytes: make two plans of it")
            }
            _ => fs::read(file),
        };
        let bytes = bytes.map_err(|error| {
            anyhow::anyhow!("{name}: {}: give the manifest of a plan", in_words(&error))
        })?;
        let Some(workspace) = directory.to_str() else {
            bail!("the directory's name is no text: a plan cannot be bound to it");
        };
        let manifest = Manifest::read(&name, &bytes, Format::of_name(&name))?;
        Ok(Self {
            plan: manifest.opened(&bytes, workspace, ""),
            name,
            manifest,
        })
    }
}

fn session_of(args: &Plan, directory: &Path, terminal: &mut Terminal) -> anyhow::Result<String> {
    let meant = which_session::meant(args.session.as_deref(), directory, terminal)?;
    if let (Some(found), false) = (&meant.found, args.json) {
        writeln!(terminal.out, "Session {}", which_session::words(found))?;
    }
    Ok(meant.session)
}

fn plain(text: &str) -> String {
    escape_for_display(&text_without_secrets(text), usize::MAX)
}

fn show(read: &Read, terminal: &mut Terminal) -> anyhow::Result<()> {
    let out = &mut terminal.out;
    let objective = &read.manifest.objective;
    write!(
        out,
        "{}",
        text_without_secrets(&read.plan.shown("as long as it is released for"))
    )?;
    writeln!(out, "\nUser stories")?;
    for story in &objective.user_stories {
        writeln!(
            out,
            "  As {}, I want {}, so that {}",
            plain(&story.as_a),
            plain(&story.i_want),
            plain(&story.so_that)
        )?;
        for one in &story.acceptance_criteria {
            writeln!(out, "    - {}", plain(one))?;
        }
    }
    for (title, items) in [
        ("Success criteria", &objective.success_criteria),
        ("Constraints", &read.manifest.constraints),
    ] {
        if !items.is_empty() {
            writeln!(out, "{title}")?;
        }
        for one in items {
            writeln!(out, "  - {}", plain(one))?;
        }
    }
    for package in &read.manifest.dependencies.new_packages {
        writeln!(
            out,
            "New package {} ({}): {}",
            plain(&package.name),
            plain(&package.manager),
            plain(&package.justification)
        )?;
    }
    Ok(())
}

fn open_plan(engine: &Engine, session: &str) -> anyhow::Result<Option<OpenPlan>> {
    let kept = SessionSource::Kept(session.to_owned());
    Ok(engine.session(&kept)?.state().plan.clone())
}

fn status(
    engine: &Engine,
    session: &str,
    file: Option<&Path>,
    json: bool,
    terminal: &mut Terminal,
) -> anyhow::Result<Exit> {
    let open = open_plan(engine, session)?;
    let same = match (file, &open) {
        (Some(file), Some(open)) => {
            let workspace = PathBuf::from(&open.workspace);
            Some(Read::at(file, &workspace)?.plan.digest == open.digest)
        }
        _ => None,
    };
    if json {
        let whole = json!({"v": 1, "session": session, "plan": open, "same": same});
        writeln!(terminal.out, "{whole}")?;
        return Ok(Exit::Fine);
    }
    let Some(open) = open else {
        writeln!(
            terminal.out,
            "No plan is open in this session: `holdpoint plan approve FILE` puts one before a person"
        )?;
        return Ok(Exit::Fine);
    };
    progress(&open, terminal)?;
    match same {
        Some(true) => writeln!(terminal.out, "The file is what was released.")?,
        Some(false) => writeln!(
            terminal.out,
            "The file has changed since: what is open is what was released, manifest {}",
            plain(&open.digest)
        )?,
        None => {}
    }
    Ok(Exit::Fine)
}

fn progress(open: &OpenPlan, terminal: &mut Terminal) -> anyhow::Result<()> {
    let out = &mut terminal.out;
    writeln!(out, "{}: {}", plain(&open.name), plain(&open.summary))?;
    writeln!(
        out,
        "in {} until {}",
        plain(&open.workspace),
        plain(&open.until)
    )?;
    for (number, phase) in (1..).zip(&open.phases) {
        writeln!(
            out,
            "  {number}. {:<40} {:>5} covered",
            plain(&phase.name),
            phase.covered
        )?;
    }
    writeln!(out, "  {:<43} {:>5} held as not in it", "", open.outside)?;
    Ok(())
}

fn close(
    engine: &Engine,
    session: &str,
    json: bool,
    terminal: &mut Terminal,
) -> anyhow::Result<Exit> {
    let Some(open) = open_plan(engine, session)? else {
        bail!("no plan is open in this session: `holdpoint permissions sessions` lists the others");
    };
    let what = json!({
        "action": "plan_close", "plan": open.name, "digest": open.digest,
        "covered": open.covered(), "outside": open.outside,
    });
    change(engine, session, &what, None)?;
    if json {
        writeln!(
            terminal.out,
            "{}",
            json!({"v": 1, "session": session, "closed": open})
        )?;
        return Ok(Exit::Fine);
    }
    progress(&open, terminal)?;
    writeln!(
        terminal.out,
        "Closed. Calls come under the policy alone again."
    )?;
    Ok(Exit::Fine)
}

/// Puts another plan, or none, in a session, once that is on record.
fn change(
    engine: &Engine,
    session: &str,
    what: &Value,
    plan: Option<OpenPlan>,
) -> anyhow::Result<()> {
    let recorder = engine.recorder()?;
    recorder.changes(Kind::SessionRule, Some(session), what)?;
    let sessions = Sessions::at(engine.locations())?;
    sessions.change(&SessionId::new(session), |state| state.plan = plan)?;
    Ok(())
}
