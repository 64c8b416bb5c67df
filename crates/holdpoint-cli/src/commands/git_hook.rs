//! `holdpoint init git`: what is about to be committed is scanned first, by a hook of git.
//!
//! A hook that is there stays: it is kept beside ours and runs after it, and `holdpoint uninstall git` puts
//! it back as it was. Both are single renames, so that at no time a repository is without its hook.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use holdpoint_engine::store::plain_words;
use holdpoint_engine::{Locations, Recorder};
use holdpoint_ledger::Kind;
use serde_json::json;

use super::init::{agreed, difference};
use crate::cli::Setup;
use crate::terminal::{Terminal, escape_for_display};

const NAME: &str = "pre-commit";

/// What is made of the hook that was there.
const KEPT: &str = "pre-commit.before-holdpoint";

/// What the hook is known by; the line after it names the program.
const HEAD: &str = "#!/bin/sh
# Holdpoint scans what is about to be committed: secrets, orders to agents, hidden characters, policies that
# loosen. What is critical stops the commit, what is high is only told. `holdpoint uninstall git` removes this.
holdpoint=";

const BODY: &str = r#"
[ -x "$holdpoint" ] || holdpoint=holdpoint
"$holdpoint" scan --staged --fail-at critical --min high --baseline .holdpoint/scan-baseline.json || {
    echo "holdpoint: nothing was committed: take out what is critical, or have it looked at (docs/commits.md)" >&2
    exit 1
}
before="$(dirname "$0")/pre-commit.before-holdpoint"
if [ -x "$before" ]; then exec "$before" "$@"; fi
"#;

/// Puts the hook into the repository around this directory.
pub(super) fn install(args: &Setup, program: &str, terminal: &mut Terminal) -> anyhow::Result<()> {
    let hooks = Hooks::find()?;
    let before = hooks.read()?;
    let after = script(program);
    let shown = escape_for_display(&hooks.hook.display().to_string(), 500);
    if before.as_deref() == Some(after.as_bytes()) {
        writeln!(terminal.out, "{shown}: Holdpoint is registered already.")?;
        return Ok(());
    }
    let ours = before.as_deref().is_some_and(is_ours);
    if !ours && before.is_some() && fs::symlink_metadata(&hooks.kept).is_ok() {
        bail!(
            "{shown}: another hook is kept in {KEPT} already: remove one of the two, then try again"
        );
    }
    writeln!(terminal.out, "{shown}")?;
    let was = before
        .as_deref()
        .filter(|_| ours)
        .map(String::from_utf8_lossy);
    for line in difference(&was.unwrap_or_default(), &after) {
        writeln!(terminal.out, "{line}")?;
    }
    if !ours && before.is_some() {
        writeln!(
            terminal.out,
            "The hook that is there is kept as {KEPT} and runs after it."
        )?;
    }
    if !agreed(args, "the hook", terminal)? {
        return Ok(());
    }
    record("init", &hooks.hook)?;
    fs::create_dir_all(&hooks.directory)
        .and_then(|()| hooks.put(&after, !ours && before.is_some()))
        .map_err(|error| {
            anyhow::anyhow!("{shown}: it cannot be written ({})", plain_words(&error))
        })?;
    writeln!(
        terminal.out,
        "Registered: every `git commit` here is scanned first. `holdpoint uninstall git` undoes it."
    )?;
    Ok(())
}

/// Takes it out again.
pub(super) fn remove(args: &Setup, terminal: &mut Terminal) -> anyhow::Result<()> {
    let hooks = Hooks::find()?;
    let shown = escape_for_display(&hooks.hook.display().to_string(), 500);
    let text = match hooks.read()? {
        Some(text) if text.starts_with(HEAD.as_bytes()) => text,
        Some(_) | None => {
            writeln!(terminal.out, "{shown}: Holdpoint is not registered there.")?;
            return Ok(());
        }
    };
    if !is_ours(&text) {
        bail!(
            "{shown}: somebody has changed it since `holdpoint init git`: take our lines out yourself"
        );
    }
    let has_kept = fs::symlink_metadata(&hooks.kept).is_ok();
    let then = match has_kept {
        true => format!("{KEPT} becomes the hook again"),
        false => "the hook is removed".to_owned(),
    };
    writeln!(terminal.out, "{shown}: {then}.")?;
    if !agreed(args, "the hook", terminal)? {
        return Ok(());
    }
    record("uninstall", &hooks.hook)?;
    match has_kept {
        true => fs::rename(&hooks.kept, &hooks.hook),
        false => fs::remove_file(&hooks.hook),
    }
    .map_err(|error| anyhow::anyhow!("{shown}: it cannot be changed ({})", plain_words(&error)))?;
    writeln!(terminal.out, "Removed: commits here are no longer scanned.")?;
    Ok(())
}

fn record(action: &str, hook: &Path) -> anyhow::Result<()> {
    let what = json!({"action": action, "agent": "git", "file": hook.display().to_string()});
    Recorder::at(&Locations::of_this_machine())?.changes(Kind::PolicyChange, None, &what)?;
    Ok(())
}

fn script(program: &str) -> String {
    format!("{HEAD}'{}'{BODY}", program.replace('\'', r"'\''"))
}

/// Whether a hook is what we wrote, whatever program it names.
fn is_ours(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(HEAD.as_bytes()) else {
        return false;
    };
    rest.strip_suffix(BODY.as_bytes())
        .is_some_and(|program| !program.contains(&b'\n'))
}

/// Where git looks for hooks.
struct Hooks {
    directory: PathBuf,
    hook: PathBuf,
    kept: PathBuf,
}

impl Hooks {
    fn find() -> anyhow::Result<Self> {
        let [hooks, common, top] = ["--git-path hooks", "--git-common-dir", "--show-toplevel"]
            .map(|question| asked(&question.split(' ').collect::<Vec<_>>()));
        let (hooks, common) = (hooks?, common?);
        // Hooks elsewhere are those of many repositories: nobody meant all of them.
        let inside = hooks.starts_with(&common) || top.is_ok_and(|top| hooks.starts_with(top));
        if !inside {
            bail!(
                "git takes its hooks from {} (core.hooksPath), outside of this repository: add `holdpoint scan --staged --fail-at critical` to the hook there yourself",
                escape_for_display(&hooks.display().to_string(), 300)
            );
        }
        Ok(Self {
            hook: hooks.join(NAME),
            kept: hooks.join(KEPT),
            directory: hooks,
        })
    }

    fn read(&self) -> anyhow::Result<Option<Vec<u8>>> {
        match fs::read(&self.hook) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| {
                let shown = escape_for_display(&self.hook.display().to_string(), 500);
                format!("{shown}: it cannot be read")
            }),
        }
    }

    /// Writes the hook, with the one that is there kept, in single steps.
    fn put(&self, text: &str, keep: bool) -> io::Result<()> {
        let draft = self
            .directory
            .join(format!("{NAME}.draft-{}", std::process::id()));
        let done = fs::write(&draft, text)
            .and_then(|()| runnable(&draft))
            // A second name for it: it is there under one of the two whatever happens.
            .and_then(|()| match keep {
                true => fs::hard_link(&self.hook, &self.kept),
                false => Ok(()),
            })
            .and_then(|()| fs::rename(&draft, &self.hook));
        if done.is_err() {
            let _ = fs::remove_file(&draft);
        }
        done
    }
}

#[cfg(unix)]
fn runnable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn runnable(_: &Path) -> io::Result<()> {
    Ok(())
}

/// What git says about a path, in full.
fn asked(question: &[&str]) -> anyhow::Result<PathBuf> {
    let output = Command::new("git")
        .args(["--no-optional-locks", "-c", "core.fsmonitor=false"])
        .args(["rev-parse", "--path-format=absolute"])
        .args(question)
        .stdin(Stdio::null())
        .output()
        .context("git cannot be run: install it")?;
    let text = String::from_utf8(output.stdout).unwrap_or_default();
    let path = text.trim_end_matches(['\n', '\r']);
    if !output.status.success() || path.is_empty() {
        bail!("this directory is in no git repository: run `git init` first, or go to one");
    }
    Ok(PathBuf::from(path))
}
