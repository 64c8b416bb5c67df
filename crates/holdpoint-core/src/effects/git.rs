//! What a git command does to history: here, on a remote, on a branch others build on.

use super::places::Places;
use super::reading::Reading;
use super::{Effect, EffectKind};
use crate::paths::Surroundings;
use crate::rules::target_bit;
use crate::shell::Command;

const LOCAL: u64 = target_bit("local-history");
const REMOTE: u64 = target_bit("remote-branch");
const SHARED: u64 = target_bit("shared-branch");
const OWN: u64 = target_bit("fresh");

/// Branches several people work on, by the names they usually have.
const SHARED_NAMES: &[&str] = &[
    "main",
    "master",
    "trunk",
    "develop",
    "development",
    "production",
    "prod",
    "staging",
    "stable",
    "release",
    "mainline",
];

/// Flags and subcommands that lose local work.
const LOSING: &[(&str, &str)] = &[
    ("reset", "--hard"),
    ("clean", "-f | --force"),
    ("checkout", "-f | --force"),
    ("branch", "-D | -d | --delete"),
    ("rebase", ""),
    ("filter-branch", ""),
    ("filter-repo", ""),
    ("commit", "--amend"),
    ("stash drop", ""),
    ("stash clear", ""),
    ("reflog expire", ""),
    ("gc", "--prune"),
    ("update-ref", "-d"),
];

pub(super) fn effects(
    command: &Command,
    reading: &Reading<'_>,
    places: &Places<'_>,
    around: &Surroundings<'_>,
    found: &mut Vec<Effect>,
) {
    let losing = LOSING.iter().any(|(subcommand, flag)| {
        reading.begins_so(subcommand).is_some() && (flag.is_empty() || reading.has(flag))
    });
    if losing {
        let own = deletes_own_branches(command, reading, places);
        found.push(Effect {
            classes: if own { OWN } else { LOCAL },
            ..Effect::plain(EffectKind::History, command)
        });
    }
    if reading.begins_so("push").is_some() && !reading.has_exactly("-n | --dry-run") {
        pushes(command, reading, around, found);
    }
}

/// Where git keeps the history of a branch: that file is made with the branch, goes with it, and is only added to.
pub(crate) fn log_of_branch(name: &str) -> Option<String> {
    let of_name = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
    let plain = !name.is_empty()
        && name.chars().all(of_name)
        && !name.starts_with(['-', '/', '.'])
        && !name.contains("..");
    plain.then(|| format!(".git/logs/refs/heads/{name}"))
}

/// Whether all that is deleted are branches the session itself has made.
fn deletes_own_branches(command: &Command, reading: &Reading<'_>, places: &Places<'_>) -> bool {
    let branches = reading.operands_after(1);
    let own = |name: &str| {
        let Some(log) = log_of_branch(name).filter(|_| !is_shared(name)) else {
            return false;
        };
        let found = places.of_word(&log, &command.directory);
        let is_own = |path: &str| places.lookup().is_own(path);
        matches!(found.as_slice(), [one] if one.path.as_deref().is_some_and(is_own))
    };
    let elsewhere = "-r | --remotes | -C | --git-dir | --work-tree";
    reading.begins_so("branch").is_some()
        && !reading.has(elsewhere)
        && branches.len() > 0
        && branches
            .clone()
            .all(|word| !word.dynamic && own(&word.text))
}

fn pushes(
    command: &Command,
    reading: &Reading<'_>,
    around: &Surroundings<'_>,
    found: &mut Vec<Effect>,
) {
    let forced = reading.has("-f | --force | --force-with-lease | --mirror")
        && !reading.has_exactly("--no-force");
    let deletes = reading.has("-d | --delete");
    let everything = reading.has("--all | --mirror | --branches | --prune");
    let operands = reading.operands_after(1);
    let mut refs: Vec<(String, bool)> = Vec::new();
    for (at, operand) in operands.clone().enumerate() {
        let text = operand.text.as_str();
        let overwrites = text.starts_with('+');
        let text = text.trim_start_matches('+');
        let (source, target) = match text.split_once(':') {
            Some((source, target)) => (Some(source), target),
            None => (None, text),
        };
        let removes = source == Some("");
        // The first word names the remote, unless it is plainly a branch.
        if at == 0 && (text.contains([':', '/']) || !is_shared(target)) {
            if operands.len() == 1 && forced {
                refs.push((current_branch(around), forced));
            }
            continue;
        }
        let name = if target == "HEAD" || target == "@" {
            current_branch(around)
        } else {
            target.to_owned()
        };
        refs.push((name, forced || overwrites || removes || deletes));
    }
    if refs.is_empty() {
        refs.push((current_branch(around), forced));
    }
    for (name, forced) in refs {
        let shared = is_shared(&name) || (everything && forced);
        found.push(Effect {
            classes: if shared { SHARED | REMOTE } else { REMOTE },
            forced,
            text: name,
            ..Effect::plain(EffectKind::History, command)
        });
    }
}

fn is_shared(name: &str) -> bool {
    let name = name
        .trim_start_matches("refs/heads/")
        .trim_start_matches("heads/");
    if name.contains('*') {
        // Every branch, those of others among them.
        return true;
    }
    let first = name.split('/').next().unwrap_or_default();
    SHARED_NAMES
        .iter()
        .any(|known| known.eq_ignore_ascii_case(name))
        || first.eq_ignore_ascii_case("release")
        || first.eq_ignore_ascii_case("hotfix")
}

/// The branch that is checked out, as `.git/HEAD` says; empty if it does not.
fn current_branch(around: &Surroundings<'_>) -> String {
    let head = around
        .resolve(".git/HEAD")
        .ok()
        .and_then(|path| around.lookup.read(&path, 1024).into_text());
    head.as_deref()
        .and_then(|text| text.trim().strip_prefix("ref: refs/heads/"))
        .unwrap_or_default()
        .to_owned()
}
