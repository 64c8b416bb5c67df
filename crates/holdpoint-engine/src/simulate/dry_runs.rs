//! Tools that have a dry run of their own. Only one that changes nothing, talks to nobody and runs
//! nothing of the project is used; the others are named, for the person to run.

use std::path::Path;

use holdpoint_core::ExplainedCommand;

use super::{Known, MAX_LISTED, NO_SIMULATION, quiet};

/// `rsync` between directories of this machine, with flags that only say what is copied.
pub(super) fn rsync(command: &ExplainedCommand, directory: Option<&Path>) -> Known {
    let words: Vec<&str> = command.words.iter().skip(1).map(String::as_str).collect();
    let (flags, operands): (Vec<&str>, Vec<&str>) =
        words.iter().partition(|word| word.starts_with('-'));
    let plain = flags.iter().all(|flag| is_plain(flag))
        && operands.iter().all(|word| !word.contains([':', '…']));
    let (Some(directory), true, true) = (directory, plain, operands.len() > 1) else {
        let why = "rsync has a dry run, `rsync -n`: run it yourself, since here it would talk to others or do more than copy";
        return Known::nothing(why);
    };
    let mut arguments = vec!["--dry-run", "--itemize-changes"];
    arguments.extend(flags);
    arguments.push("--");
    arguments.extend(operands);
    match quiet::run("rsync", &arguments, directory, &[], quiet::MAX_TIME) {
        Err(why) => Known::nothing(&format!("it cannot be said: {why}")),
        Ok(said) => {
            let changes: Vec<String> = said
                .lines()
                .into_iter()
                .filter(|line| {
                    line.starts_with("*deleting") || line.starts_with(['>', '<', 'c', 'h'])
                })
                .collect();
            let removed = changes.iter().filter(|line| line.starts_with("*deleting"));
            let mut lines = vec![format!(
                "copies or makes {}, removes {}",
                changes.len() - removed.clone().count(),
                removed.count()
            )];
            let more = changes.len().saturating_sub(MAX_LISTED);
            lines.extend(
                changes
                    .into_iter()
                    .take(MAX_LISTED)
                    .map(|line| format!("  {line}")),
            );
            if more > 0 {
                lines.push(format!("  … and {more} more"));
            }
            Known {
                lines,
                complete: !said.cut,
            }
        }
    }
}

/// Flags that change neither what is run nor where anything is written.
fn is_plain(flag: &str) -> bool {
    const LONG: &[&str] = &[
        "--archive",
        "--checksum",
        "--delete",
        "--delete-after",
        "--delete-before",
        "--delete-during",
        "--delete-excluded",
        "--dry-run",
        "--existing",
        "--force",
        "--human-readable",
        "--ignore-existing",
        "--links",
        "--perms",
        "--progress",
        "--quiet",
        "--recursive",
        "--size-only",
        "--stats",
        "--times",
        "--update",
        "--verbose",
    ];
    match flag.strip_prefix("--") {
        Some(long) => {
            LONG.contains(&flag) || long.starts_with("exclude=") || long.starts_with("include=")
        }
        None => flag
            .chars()
            .skip(1)
            .all(|letter| "acdghilnoprtuvzDHOx".contains(letter)),
    }
}

/// Which dry run a tool has that is not run here, and why not.
pub(super) fn advice(words: &[String]) -> Option<String> {
    let word = |at: usize| words.get(at).map(String::as_str).unwrap_or_default();
    let has = |wanted: &str| words.iter().skip(1).any(|word| word == wanted);
    let operand = |wanted: &[&str]| {
        words
            .iter()
            .skip(1)
            .any(|word| wanted.contains(&word.as_str()))
    };
    let (dry_run, why) = match word(0) {
        "terraform" | "tofu" if has("destroy") => (
            format!("{} plan -destroy", word(0)),
            "it runs providers and talks to the cloud with your keys",
        ),
        "terraform" | "tofu" if has("apply") => (
            format!("{} plan", word(0)),
            "it runs providers and talks to the cloud with your keys",
        ),
        "kubectl" if operand(&["apply", "create", "delete", "patch", "replace", "scale"]) => (
            format!("{} --dry-run=server", words.join(" ")),
            "it talks to the cluster with your keys",
        ),
        "helm" if operand(&["install", "upgrade", "uninstall", "delete", "rollback"]) => (
            format!("{} --dry-run", words.join(" ")),
            "it talks to the cluster with your keys",
        ),
        "ansible-playbook" => (
            format!("{} --check --diff", words.join(" ")),
            "it talks to the machines and runs the modules of the playbook",
        ),
        "npm" | "pnpm" if has("publish") => (
            format!("{} --dry-run", words.join(" ")),
            "it runs the scripts of the package",
        ),
        "cargo" if has("publish") => (
            format!("{} --dry-run", words.join(" ")),
            "it builds the package, which runs its code",
        ),
        "make" | "gmake" => {
            let why = "`make -n` runs parts of the makefile all the same";
            return Some(format!("{NO_SIMULATION}: {why}"));
        }
        _ => return None,
    };
    Some(format!(
        "it has a dry run, `{dry_run}`, for you to run: {why}, so it is not run here"
    ))
}
