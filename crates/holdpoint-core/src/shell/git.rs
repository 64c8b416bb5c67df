//! What `git` starts: commands in settings, aliases and options of its subcommands.
//!
//! Promises that a setting given on the command line that makes git run a program is marked,
//! and that code handed to a subcommand is listed. What stands in the repository's own
//! configuration or hooks is not in the text and left to others.

use super::commands::Wrapping;
use super::options::{self, Order, Spec};
use super::refusal::Refusal;
use super::settings;
use super::texts::Argument;
use super::unwrapping::Unwrapped;
use crate::opaque::Reason;

const GLOBAL: Spec = Spec {
    values: "-c -C --git-dir --work-tree --namespace --super-prefix --config-env --attr-source",
    flags: "-p -P -h -v --paginate --no-pager --no-replace-objects --bare --literal-pathspecs \
            --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-optional-locks --no-lazy-fetch \
            --version --help --html-path --man-path --info-path --exec-path",
};

/// Options of subcommands whose value is code.
const CODE: &[(&str, &str)] = &[
    ("rebase", "-x --exec --exe --ex"),
    ("difftool", "-x --extcmd"),
    (
        "filter-branch",
        "--env-filter --tree-filter --index-filter --parent-filter --msg-filter --commit-filter \
         --tag-name-filter --setup",
    ),
    ("clone", "-u --upload-pack"),
    ("fetch", "--upload-pack"),
    ("pull", "--upload-pack"),
    ("ls-remote", "--upload-pack --exec"),
    ("push", "--receive-pack --exec"),
    ("archive", "--exec"),
    (
        "send-email",
        "--sendmail-cmd --to-cmd --cc-cmd --header-cmd",
    ),
    ("grep", "-O --open-files-in-pager"),
];

pub(super) fn launch(command: &mut Unwrapped<'_, '_>) -> Result<(), Refusal> {
    for reading in options::read(
        command.words,
        1,
        GLOBAL,
        Order::OptionsFirst,
        command.listing.budget(),
    ) {
        for (name, value) in &reading.options {
            match (name.as_str(), value) {
                ("-c", Some(value)) => setting(command, value)?,
                ("--config-env" | "--exec-path", Some(_)) => {
                    command.mark(Reason::ExecutableSetting);
                }
                _ => {}
            }
        }
        let at = reading
            .operands
            .first()
            .copied()
            .unwrap_or(command.words.len());
        subcommand(command, at)?;
    }
    Ok(())
}

/// A setting given by `-c key=value`.
fn setting(command: &mut Unwrapped<'_, '_>, setting: &Argument) -> Result<(), Refusal> {
    let text = setting.unquoted();
    let (key, value) = match text.split_once('=') {
        Some((key, value)) => (key, Some(value)),
        None => (text, None),
    };
    if settings::git_setting_runs(key, value) || key.starts_with("alias.") {
        command.mark(Reason::ExecutableSetting);
    }
    if let Some(value) = value {
        let runs = settings::git_setting_runs(key, Some(value));
        let code = value.strip_prefix('!').or(runs.then_some(value));
        if let Some(code) = code {
            let code = setting.tail(text.len() - code.len());
            command.runs(Wrapping::Incidental, &code)?;
        }
    }
    Ok(())
}

fn subcommand(command: &mut Unwrapped<'_, '_>, at: usize) -> Result<(), Refusal> {
    let Some(name) = command.known(at).map(str::to_owned) else {
        if command.words.get(at).is_some() {
            command.mark(Reason::DynamicCode);
        }
        return Ok(());
    };
    let operation = command.known(at + 1);
    match (name.as_str(), operation) {
        ("submodule", Some("foreach")) => {
            let from = at + 2 + usize::from(command.known(at + 2) == Some("--recursive"));
            command.runs_joined(Wrapping::Incidental, from)?;
        }
        ("bisect", Some("run")) => {
            let words = command.rest(at + 2).to_vec();
            command.starts(Wrapping::Incidental, Vec::new(), words)?;
        }
        ("config", _) => configured(command, at)?,
        _ => {}
    }
    let words = command.words;
    for (place, word) in words.iter().enumerate().skip(at + 1) {
        let text = word.unquoted();
        if text.starts_with("ext::") {
            command.runs(Wrapping::Incidental, &word.tail("ext::".len()))?;
        }
        if matches!(name.as_str(), "clone" | "init")
            && matches!(text, "-c" | "--config" | "--template")
            && let Some(value) = words.get(place + 1)
        {
            setting(command, value)?;
        }
        for option in code_options(&name) {
            if text == option {
                if let Some(code) = words.get(place + 1) {
                    command.runs(Wrapping::Incidental, code)?;
                }
                continue;
            }
            let Some(rest) = text.strip_prefix(option) else {
                continue;
            };
            if option.starts_with("--") && rest.starts_with('=') {
                command.runs(Wrapping::Incidental, &word.tail(option.len() + 1))?;
            } else if !option.starts_with("--") {
                command.runs(Wrapping::Incidental, &word.tail(option.len()))?;
            }
        }
    }
    Ok(())
}

fn code_options(subcommand: &str) -> impl Iterator<Item = &'static str> {
    let (_, options) = CODE
        .iter()
        .find(|(name, _)| *name == subcommand)
        .copied()
        .unwrap_or_default();
    options.split_ascii_whitespace()
}

/// `git config key value`: what is set now runs later.
fn configured(command: &mut Unwrapped<'_, '_>, at: usize) -> Result<(), Refusal> {
    let words = command.words;
    let operands: Vec<&Argument> = words
        .iter()
        .skip(at + 1)
        .filter(|word| !word.unquoted().starts_with('-'))
        .filter(|word| word.unquoted() != "set")
        .collect();
    let [key, value, ..] = operands.as_slice() else {
        return Ok(());
    };
    let (key, text) = (key.unquoted(), value.unquoted());
    if matches!(key, "get" | "unset" | "list") || !settings::git_setting_runs(key, Some(text)) {
        return Ok(());
    }
    command.mark(Reason::ExecutableSetting);
    match text.strip_prefix('!') {
        Some(_) => command.runs(Wrapping::Incidental, &value.tail(1)),
        None => Ok(()),
    }
}
