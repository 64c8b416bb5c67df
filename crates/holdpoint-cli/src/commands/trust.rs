//! `holdpoint trust`: vouch for a project's policy file.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use holdpoint_core::digest_of;
use holdpoint_engine::{
    Locations, Policy, Recorder, TrustStore, read_policy_file, working_directory,
};
use holdpoint_ledger::Kind;
use serde_json::json;

use super::serve::may_loosen;
use crate::cli;
use crate::exit::Exit;
use crate::terminal::{Terminal, escape_for_display};

pub(crate) fn run(args: &cli::Trust, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let locations = Locations::of_this_machine();
    let mut store = TrustStore::open(&locations)?;
    if args.list {
        list(&store, args.json, terminal)?;
        return Ok(Exit::Fine);
    }
    let files = files(args, &locations)?;
    let recorder = Recorder::at(&locations)?;
    if args.revoke {
        for file in files {
            let what = json!({"action": "revoke", "file": file.display().to_string()});
            recorder.changes(Kind::PolicyChange, None, &what)?;
            let known = store.revoke(&file)?;
            let text = if known {
                "No longer trusted"
            } else {
                "Was not trusted"
            };
            said(args.json, terminal, text, &file, None)?;
        }
        return Ok(Exit::Fine);
    }
    may_loosen("vouch for a policy", &locations)?;
    // All are read before any is trusted: a file that is no policy is not worth trusting, and a
    // command that fails has done nothing.
    let mut digests = Vec::new();
    for file in &files {
        let bytes = read_policy_file(file)?;
        digests.push(digest_of(&bytes));
        Policy::from_text(&file.display().to_string(), bytes)?;
    }
    for (file, digest) in files.iter().zip(&digests) {
        let name = file.display().to_string();
        let what = json!({"action": "trust", "file": name, "digest": digest});
        recorder.changes(Kind::PolicyChange, None, &what)?;
        store.trust(file, digest)?;
        said(args.json, terminal, "Trusted", file, Some(digest))?;
    }
    Ok(Exit::Fine)
}

fn files(args: &cli::Trust, locations: &Locations) -> anyhow::Result<Vec<PathBuf>> {
    if let Some(file) = &args.file {
        return Ok(vec![std::path::absolute(file)?]);
    }
    let here = working_directory(None)?;
    let files = locations.project_files(&here).own;
    if files.is_empty() {
        bail!(
            "{}: this project has no policy file: write permissions.json, or name a FILE",
            escape_for_display(&here.display().to_string(), 300)
        );
    }
    Ok(files)
}

fn list(store: &TrustStore, json: bool, terminal: &mut Terminal) -> anyhow::Result<()> {
    if !json && store.files().next().is_none() {
        writeln!(terminal.out, "Nothing is trusted yet.")?;
    }
    for (path, digest) in store.files() {
        let standing = match read_policy_file(Path::new(path)) {
            Ok(bytes) if digest_of(&bytes) == digest => "trusted",
            Ok(_) => "changed since",
            Err(_) => "gone",
        };
        if json {
            let row = json!({ "path": path, "digest": digest, "standing": standing });
            writeln!(terminal.out, "{row}")?;
        } else {
            writeln!(
                terminal.out,
                "{standing:<14} {}",
                escape_for_display(path, 500)
            )?;
        }
    }
    Ok(())
}

fn said(
    json: bool,
    terminal: &mut Terminal,
    text: &str,
    file: &Path,
    digest: Option<&String>,
) -> anyhow::Result<()> {
    let name = escape_for_display(&file.display().to_string(), 500);
    if json {
        let row = json!({ "v": 1, "path": name, "digest": digest, "trusted": digest.is_some() });
        writeln!(terminal.out, "{row}")?;
    } else {
        writeln!(terminal.out, "{text}: {name}")?;
        if let Some(digest) = digest {
            writeln!(
                terminal.out,
                "  {digest}; a change makes it untrusted again"
            )?;
        }
    }
    Ok(())
}
