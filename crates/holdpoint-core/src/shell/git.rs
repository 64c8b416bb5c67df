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
use super::told;
use super::unwrapping::Unwrapped;
use super::walk::{Start, parameters};
use crate::opaque::Reason;
use crate::rules;

const GLOBAL: Spec = Spec {
    values: "-c -C --git-dir --work-tree --namespace --super-prefix --config-env --attr-source",
    flags: "-p -P -h -v --paginate --no-pager --no-replace-objects --bare --literal-pathspecs \
            --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-optional-locks --no-lazy-fetch \
            --version --help --html-path --man-path --info-path --exec-path",
};

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
                ("-c", Some(value)) if !alias(command, value, &reading)? => {
                    setting(command, value)?;
                }
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

/// Whether a program is a part of git under a name of its own: `git-push`, as it lies below `git --exec-path`.
pub(super) fn is_part(name: &str) -> bool {
    let subcommand = name.strip_prefix("git-");
    subcommand.is_some_and(|word| !word.is_empty()) && rules::program(name).is_none()
}

/// Lists the subcommand such a program is.
pub(super) fn part(command: &mut Unwrapped<'_, '_>, name: &str) -> Result<(), Refusal> {
    let subcommand = name.strip_prefix("git-").unwrap_or(name);
    let span = command
        .words
        .first()
        .map_or(0..0, |word| word.text.span.clone());
    let mut words = ["git", subcommand]
        .map(|word| Argument::literal(word, span.clone()))
        .to_vec();
    words.extend_from_slice(command.rest(1));
    command.starts(Wrapping::Incidental, Vec::new(), words)
}

/// `-c alias.x='!code' x words`: lists the code with the words that follow its name, or the
/// subcommand it stands for; says whether it is an alias that is used.
fn alias(
    command: &mut Unwrapped<'_, '_>,
    setting: &Argument,
    reading: &options::Reading,
) -> Result<bool, Refusal> {
    let text = setting.unquoted();
    let Some((key, value)) = text.split_once('=') else {
        return Ok(false);
    };
    let key = key.to_ascii_lowercase();
    let Some(name) = key.strip_prefix("alias.") else {
        return Ok(false);
    };
    let Some(used) = reading.operands.first().copied() else {
        return Ok(false);
    };
    let is_used = command
        .known(used)
        .is_some_and(|word| word.eq_ignore_ascii_case(name));
    if !is_used {
        return Ok(false);
    }
    command.mark(Reason::ExecutableSetting);
    let mut words = command.rest(used + 1).to_vec();
    match value.strip_prefix('!') {
        Some(code) => {
            // Git hands the words to a shell that runs `code "$@"`.
            let code = setting.tail(text.len() - code.len()).with_suffix(" \"$@\"");
            let start = Start {
                positional: parameters(&words),
                ..command.start.clone()
            };
            let place = command.place;
            command
                .listing
                .code(place, Wrapping::Incidental, &code, &start)?;
        }
        None => {
            let span = setting.text.span.clone();
            let own = value.split_whitespace();
            let mut line = vec![Argument::literal("git", span.clone())];
            line.extend(own.map(|word| Argument::literal(word, span.clone())));
            line.append(&mut words);
            command.starts(Wrapping::Incidental, Vec::new(), line)?;
        }
    }
    Ok(true)
}

/// A setting given by `-c key=value`.
fn setting(command: &mut Unwrapped<'_, '_>, setting: &Argument) -> Result<(), Refusal> {
    let text = setting.unquoted();
    let (key, value) = match text.split_once('=') {
        Some((key, value)) => (key, Some(value)),
        None => (text, None),
    };
    if settings::git_setting_runs(key, value) || key.to_ascii_lowercase().starts_with("alias.") {
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

/// Whether `git apply` only says what it would do.
fn only_looks_at_patch(command: &Unwrapped<'_, '_>) -> bool {
    let looks = |word: &Argument| {
        let flags = ["--check", "--stat", "--numstat", "--summary"];
        flags.contains(&word.unquoted())
    };
    let applies = |word: &Argument| word.unquoted() == "--apply";
    command.words.iter().any(looks) && !command.words.iter().any(applies)
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
        ("submodule", _) => {
            let words = command.words.iter().enumerate().skip(at + 1);
            let foreach = words
                .filter(|(_, word)| !word.unquoted().starts_with('-'))
                .map(|(place, word)| (place, word.unquoted()))
                .next();
            if let Some((mut from, "foreach")) = foreach {
                from += 1;
                while command
                    .known(from)
                    .is_some_and(|word| word.starts_with('-'))
                {
                    from += 1;
                }
                command.runs_joined(Wrapping::Incidental, from)?;
            }
        }
        ("bisect", Some("run")) => {
            let words = command.rest(at + 2).to_vec();
            command.starts(Wrapping::Incidental, Vec::new(), words)?;
        }
        ("config", _) => configured(command, at)?,
        ("apply" | "am", _) if !only_looks_at_patch(command) => told::patch(command, at + 1)?,
        _ => {}
    }
    let words = command.words;
    for (place, word) in words.iter().enumerate().skip(at + 1) {
        let text = word.unquoted();
        // `--remote=ext::…` as well.
        if let Some(address) = text.find("ext::").filter(|at| is_value_at(text, *at)) {
            command.runs(Wrapping::Incidental, &word.tail(address + "ext::".len()))?;
        }
        if matches!(name.as_str(), "clone" | "init") {
            let (flag, glued) = match text.split_once('=') {
                Some((flag, _)) if flag.starts_with("--") => (flag, Some(flag.len() + 1)),
                _ if text.starts_with("-c") && text.len() > 2 => ("-c", Some(2)),
                _ => (text, None),
            };
            let long = |name: &str| flag.len() > 3 && name.starts_with(flag);
            let value = match glued {
                Some(from) => Some(word.tail(from)),
                None => words.get(place + 1).cloned(),
            };
            if let Some(value) = value
                && (flag == "-c" || long("--config") || long("--template"))
            {
                setting(command, &value)?;
            }
        }
    }
    Ok(())
}

/// Whether the value of a word begins at a place of it: the word itself, or what a flag is given with it.
fn is_value_at(word: &str, at: usize) -> bool {
    at == 0 || (word.starts_with('-') && word.get(..at).is_some_and(|front| front.ends_with('=')))
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
