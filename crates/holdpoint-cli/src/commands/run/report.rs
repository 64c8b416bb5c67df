//! What is said after a contained run: what was refused and what would allow it, and with `--trace` the least policy the
//! command could run under.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use holdpoint_engine::containing::{
    Limits, PutRight, Ran, Reached, Refusal, given_for, is_advised, policy_line, reading_line,
    shell_word,
};
use holdpoint_engine::holding::WayOut;
use holdpoint_engine::text_without_secrets;
use serde_json::json;

use super::MAX_SHOWN;
use crate::terminal::escape_for_display;

/// The most refusals that are told one by one: whoever meets more of them has one cause to mend first.
const MAX_LINES: usize = 5;

/// What the words of a report are about, beside the run itself.
pub(super) struct Around<'a> {
    pub(super) limits: &'a Limits,
    pub(super) home: Option<&'a Path>,
    /// The policy a person writes in.
    pub(super) policy: Option<&'a Path>,
    /// Trees that the policy or a flag gives to be changed, if what the command needs is to be told.
    pub(super) trace: Option<Vec<PathBuf>>,
}

/// The lines for standard error.
pub(super) fn lines(ran: &Ran, around: &Around<'_>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    // A limit nobody asked for is not missed: every run would begin its output with that.
    let is_asked_for = |limit: &&Reached| match limit {
        Reached::Processes => around.limits.processes != Limits::default().processes,
        Reached::Temporary => around.limits.temporary != Limits::default().temporary,
        Reached::Time | Reached::Memory | Reached::Output | Reached::FileSize => true,
    };
    for limit in ran.unenforced.iter().filter(is_asked_for) {
        lines.push(format!("nothing here bounds its {limit}"));
    }
    // How long it ran is told by who ended it.
    for limit in ran.reached.iter().filter(|limit| **limit != Reached::Time) {
        lines.push(format!(
            "it reached a limit, and may have failed for it: `sandbox.limits.{limit}` of the policy"
        ));
    }
    let told = ran.refusals.iter().take(MAX_LINES);
    lines.extend(told.map(|refusal| {
        let (tier, refused) = (ran.tier, said(refusal));
        format!(
            "contained ({tier}), refused: {refused}; {}",
            allowed_by(refusal, around)
        )
    }));
    let more = ran.refusals.len().saturating_sub(MAX_LINES) as u64 + ran.refusals_left_out;
    if more > 0 {
        lines.push(format!("and {more} more refusals"));
    }
    lines.extend(hidden(ran, around));
    lines.extend(ran.replaced.iter().take(MAX_LINES).map(|path| {
        format!(
            "`{}` was replaced or removed from outside while this ran, and could be changed inside from then on: look at it",
            escape_for_display(&path.to_string_lossy(), MAX_SHOWN)
        )
    }));
    if let Some(given) = &around.trace {
        lines.push(policy(ran, given, around.home));
    }
    lines
}

/// What was done about what git outside would have run.
pub(super) fn put_right(right: &PutRight) -> Vec<String> {
    let shown = |path: &Path| escape_for_display(&path.to_string_lossy(), MAX_SHOWN);
    let aside = right.aside.iter().take(MAX_LINES).map(|one| {
        let kept = one.kept_as.file_name().unwrap_or_default().to_string_lossy();
        let then = match one.restored {
            true => "; what was there before is there again",
            false => "",
        };
        format!(
            "`{}`, by which git would run programs outside of the sandbox ({}), was put aside as `{}`{then}",
            shown(&one.file),
            escape_for_display(&one.why, MAX_SHOWN),
            escape_for_display(&kept, MAX_SHOWN),
        )
    });
    let failed = right.failed.iter().take(MAX_LINES).map(|(file, why)| {
        format!(
            "`{}`, by which git would run programs outside of the sandbox, cannot be put aside ({why}): look at it before \
             git is run there",
            shown(file)
        )
    });
    let mut lines: Vec<String> = aside.chain(failed).collect();
    let more = (right.aside.len() + right.failed.len()).saturating_sub(lines.len());
    if more > 0 {
        lines.push(format!("and {more} more such files"));
    }
    if !right.whole {
        lines.push(
            "not all it has left was looked at, there is too much of it: there may be repositories in which git would run programs"
                .into(),
        );
    }
    lines
}

/// What was refused, for whoever is asked to let the call run outside; without secrets.
pub(super) fn refused(ran: &Ran) -> Vec<String> {
    let told = ran.refusals.iter().map(said);
    let hidden = ran.hidden.iter().map(|path| {
        let path = escape_for_display(&path.to_string_lossy(), MAX_SHOWN);
        format!("to find `{path}`, which is hidden")
    });
    told.chain(hidden)
        .take(MAX_LINES)
        .map(|text| text_without_secrets(&text))
        .collect()
}

/// How a person lets the call run outside of the sandbox.
pub(super) fn way_out(way: &WayOut) -> Option<String> {
    match way {
        WayOut::Request(id) => Some(format!(
            "a person can let this call run outside of the sandbox, once: `holdpoint approve {id}`, or on the page; then make \
             the identical call again"
        )),
        WayOut::Rule { session, patterns } => {
            // What could move a cursor is not shown, and what is not shown as it is cannot be typed.
            let texts = patterns.iter().chain([session]);
            if texts.flat_map(|text| text.chars()).any(char::is_control) {
                return None;
            }
            let words = patterns.iter().map(|pattern| shell_word(pattern));
            let words = words.collect::<Vec<_>>().join(" ");
            Some(format!(
                "a person can let it run outside of the sandbox in this session: `holdpoint permissions allow --session {} \
                 -- {words}`; then make the call again",
                shell_word(session)
            ))
        }
        WayOut::None => None,
    }
}

fn said(refusal: &Refusal) -> String {
    let path = |path: &PathBuf| escape_for_display(&path.to_string_lossy(), MAX_SHOWN);
    match refusal {
        Refusal::Write(file) => format!(
            "to change `{}`, which is outside of what it may change",
            path(file)
        ),
        Refusal::Protected(file) => format!("to change `{}`, which is protected", path(file)),
        Refusal::Host { name, port, reason } => {
            let name = escape_for_display(name, MAX_SHOWN);
            let port = match port {
                0 => String::new(),
                port => format!(":{port}"),
            };
            format!("to reach `{name}{port}`: {reason}")
        }
        Refusal::Call(name) => format!("the system call `{name}`"),
    }
}

/// What a command that failed did not find because it is hidden: it may have failed for that.
fn hidden(ran: &Ran, around: &Around<'_>) -> Option<String> {
    let first = ran.hidden.iter().take(MAX_LINES);
    let first: Vec<PathBuf> = first.cloned().collect();
    let shown: Vec<_> = first
        .iter()
        .map(|path| {
            format!(
                "`{}`",
                escape_for_display(&path.to_string_lossy(), MAX_SHOWN)
            )
        })
        .collect();
    let more = match ran.hidden.len().saturating_sub(first.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let then = match reading_line(&first, around.home) {
        Some(line) => in_policy(&line, around),
        None => "no line is advised, because secrets and settings lie there".into(),
    };
    (!first.is_empty()).then(|| {
        format!(
            "contained ({}), and it failed: it did not find {}{more}, because the home and temporary directories are empty \
             inside; {then}",
            ran.tier,
            shown.join(", ")
        )
    })
}

/// The line of a policy that would allow it, and where that stands.
fn allowed_by(refusal: &Refusal, around: &Around<'_>) -> String {
    if let Refusal::Protected(_) = refusal {
        return "no policy allows that, change it yourself".into();
    }
    match policy_line(refusal, around.home) {
        Some(line) => in_policy(&line, around),
        None => "no line of a policy allows that alone".into(),
    }
}

fn in_policy(line: &str, around: &Around<'_>) -> String {
    let line = escape_for_display(line, MAX_SHOWN);
    match around.policy {
        Some(file) => format!(
            "`{line}` in {} would allow it",
            escape_for_display(&file.to_string_lossy(), MAX_SHOWN)
        ),
        None => format!("`{line}` in a policy would allow it"),
    }
}

/// The section of a policy that gives the command what it used and was not given by itself.
fn policy(ran: &Ran, given: &[PathBuf], home: Option<&Path>) -> String {
    let texts = |paths: &BTreeSet<PathBuf>| -> BTreeSet<String> {
        paths
            .iter()
            .map(|path| path.display().to_string())
            .collect()
    };
    let refused: BTreeSet<PathBuf> = ran
        .refusals
        .iter()
        .filter_map(|refusal| match refusal {
            Refusal::Write(path) => given_for(path, home),
            Refusal::Protected(_) | Refusal::Host { .. } | Refusal::Call(_) => None,
        })
        .collect();
    // What it is given already and has used, it needs.
    let used = given.iter().filter(|tree| {
        let tree = tree.canonicalize().unwrap_or_else(|_| (*tree).clone());
        ran.trace.written.iter().any(|path| path.starts_with(&tree))
    });
    let written: BTreeSet<PathBuf> = refused.into_iter().chain(used.cloned()).collect();
    let wanted = ran.refusals.iter().filter_map(|refusal| match refusal {
        Refusal::Host { name, .. } if refusal.allowed_by().is_some() => Some(name.clone()),
        Refusal::Host { .. } | Refusal::Write(_) | Refusal::Protected(_) | Refusal::Call(_) => None,
    });
    let hosts: BTreeSet<String> = ran
        .opened
        .iter()
        .map(|opened| opened.name.clone())
        .chain(wanted)
        .collect();
    let (read, private): (BTreeSet<PathBuf>, BTreeSet<PathBuf>) = ran
        .trace
        .read
        .iter()
        .cloned()
        .partition(|path| is_advised(path, home));
    let section = json!({ "sandbox": {
        "write": texts(&written),
        "read": texts(&read),
        "hosts": hosts,
    }});
    let needs = format!("what it needs beside what every command is given: {section}");
    if private.is_empty() {
        return needs;
    }
    let listed = texts(&private).into_iter().take(MAX_LINES);
    let listed = listed.collect::<Vec<_>>().join("`, `");
    format!(
        "{needs}; not in it, because secrets and settings lie there: `{}`",
        escape_for_display(&listed, MAX_SHOWN)
    )
}
