//! `holdpoint permissions list` and `forget`: what a person said yes to for longer than a call.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use holdpoint_cli::policy_text::{Change, PolicyEdit};
use holdpoint_core::document;
use holdpoint_core::policy::Document;
use holdpoint_engine::store::is_absent;
use holdpoint_engine::{Engine, KeptRules, Locations, SessionId, Sessions, read_policy_file};
use holdpoint_ledger::Kind;
use serde_json::json;

use crate::cli::KeepWord;
use crate::terminal::{Terminal, escape_for_display};

/// What runs without asking, by where that is kept.
struct Rules {
    session: Vec<String>,
    project: Vec<String>,
    user: Vec<String>,
}

impl Rules {
    fn read(engine: &Engine, directory: &Path, id: &SessionId) -> anyhow::Result<Self> {
        let locations = engine.locations();
        Ok(Self {
            session: Sessions::at(locations)?.load(id)?.allow,
            project: match KeptRules::at(locations) {
                Some(kept) => kept.list(directory)?,
                None => Vec::new(),
            },
            user: match policy_of(locations) {
                Some(file) if !is_absent(&file) => {
                    let bytes = read_policy_file(&file)?;
                    let policy: Document = document::read(&file.display().to_string(), &bytes)?;
                    let lists = policy.allow.into_iter().chain(policy.whitelist);
                    lists.flat_map(|list| list.patterns).collect()
                }
                Some(_) | None => Vec::new(),
            },
        })
    }
}

/// The user's own policy file.
fn policy_of(locations: &Locations) -> Option<PathBuf> {
    locations.named.clone().or_else(|| locations.user.clone())
}

/// Lists them.
pub(super) fn list(
    engine: &Engine,
    directory: &Path,
    id: &SessionId,
    json: bool,
    terminal: &mut Terminal,
) -> anyhow::Result<()> {
    let rules = Rules::read(engine, directory, id)?;
    if json {
        let whole = json!({
            "v": 1,
            "session": rules.session,
            "project": rules.project,
            "user": rules.user,
        });
        writeln!(terminal.out, "{whole}")?;
        return Ok(());
    }
    for (title, rules) in [
        ("This session", &rules.session),
        ("This project", &rules.project),
        ("Your policy", &rules.user),
    ] {
        let heading = terminal.heading(title);
        writeln!(terminal.out, "{heading}")?;
        for rule in rules {
            writeln!(terminal.out, "  + {}", escape_for_display(rule, 500))?;
        }
        if rules.is_empty() {
            writeln!(terminal.out, "  (none)")?;
        }
    }
    Ok(())
}

/// Takes a rule back, wherever it is or where it is said to be; that is on record first.
pub(super) fn forget(
    engine: &Engine,
    directory: &Path,
    id: &SessionId,
    pattern: &str,
    from: Option<KeepWord>,
) -> anyhow::Result<()> {
    let rules = Rules::read(engine, directory, id)?;
    let meant = |place| from.is_none_or(|from| from == place);
    let has = |rules: &[String]| rules.iter().any(|rule| rule == pattern);
    let session = meant(KeepWord::Session) && has(&rules.session);
    let project = meant(KeepWord::Project) && has(&rules.project);
    let user = meant(KeepWord::User) && has(&rules.user);
    if !(session || project || user) {
        bail!("no such rule is kept: `holdpoint permissions list` shows those that are");
    }
    let what = json!({
        "action": "forget",
        "pattern": pattern,
        "session": session,
        "project": project,
        "user": user,
    });
    let kind = match project || user {
        true => Kind::PolicyChange,
        false => Kind::SessionRule,
    };
    engine.recorder()?.changes(kind, Some(id.name()), &what)?;
    let locations = engine.locations();
    if session {
        Sessions::at(locations)?
            .change(id, |state| state.allow.retain(|known| known != pattern))?;
    }
    if let (true, Some(kept)) = (project, KeptRules::at(locations)) {
        kept.forget(directory, pattern)?;
    }
    if let (true, Some(file)) = (user, policy_of(locations)) {
        PolicyEdit::plan(&file, Change::Forget(pattern))?.carry_out()?;
    }
    Ok(())
}
