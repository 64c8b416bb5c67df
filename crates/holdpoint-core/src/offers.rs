//! The rules an `always` or `never` may leave: this very call, its subcommand, or its tool.
//!
//! What is offered covers the call it was derived from and nothing that is not plain from its
//! text: no rule for a program that runs what it is given, none for a call that is not known to
//! its last word, and for a line of several commands none but the line itself. Whether a rule
//! may be left at all is for whoever asks; nothing here can answer a deny.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::ToolCall;
use crate::catalogue::{self, Shape};
use crate::effects::EffectKind;
use crate::glob::Glob;
use crate::paths::installed_name;
use crate::rules::{self, Program, Role, Roles, matching};
use crate::shell::{self, Reached, RedirectionKind, Text};
use crate::text::redaction::{Marker, Redactor};
use crate::understand::{Action, CommandView};

/// How far a rule reaches, the narrowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OfferScope {
    /// This call and no other.
    Exact,
    /// Calls of the same program and subcommand.
    Prefix,
    /// Every call of the tool.
    Tool,
}

/// The rules that may be left for a call, each with the session patterns that make it up.
pub fn offers(action: &Action) -> Vec<(OfferScope, Vec<String>)> {
    let (view, call) = (action, &action.call);
    if view.trouble.is_some() || !view.commands.iter().all(is_offerable) {
        return Vec::new();
    }
    let mut found = Vec::new();
    if let Shape::Shell { .. } = view.shape {
        let line = view.line.as_deref().unwrap_or_default();
        if let Some(line) = view.known_line() {
            found.push((OfferScope::Exact, vec![Glob::escape(line)]));
        }
        // What stands in a script is answered for with the script.
        let direct = |view: &&CommandView| view.command.file.is_none();
        let mut commands = view.commands.iter().filter(direct);
        if let (Some(only), None) = (commands.next(), commands.next())
            && line.get(only.command.span.clone()) == Some(line.trim())
            && let Some(patterns) = prefix(only)
        {
            found.push((OfferScope::Prefix, patterns));
        }
    } else {
        let simple = view.commands.is_empty() || view.is_one_plain_command();
        if simple && !view.text_form_is_ambiguous() {
            found.push((OfferScope::Exact, vec![Glob::escape(view.text_form())]));
        }
        // A tool that is given commands is as good as a shell, and a shell can do anything.
        if view.commands.is_empty() {
            found.push((OfferScope::Tool, vec![Glob::escape(call.tool())]));
        }
    }
    found.retain(|(scope, patterns)| {
        patterns.iter().all(|pattern| {
            let names_tool = Glob::new(pattern).matches(call.tool());
            pattern.len() <= MAX_LENGTH && names_tool == (*scope == OfferScope::Tool)
        })
    });
    found.retain(|(scope, patterns)| !tells(call, *scope, patterns));
    found
}

/// Whether a rule would hold a secret of the call: it is shown and kept as it is, so it cannot be left.
fn tells(call: &ToolCall, scope: OfferScope, patterns: &[String]) -> bool {
    let redactor = Redactor::new()
        .keeping(Marker::Email)
        .keeping(Marker::Phone);
    let holds_secret = |text: &str| redactor.text(text).as_str() != text;
    match scope {
        OfferScope::Tool => false,
        OfferScope::Prefix => patterns.iter().any(|pattern| holds_secret(pattern)),
        OfferScope::Exact => {
            let input = Value::Object(call.input().clone());
            *redactor.json(&input).0.as_value() != input || holds_secret(&call.signature())
        }
    }
}

/// Nobody reads a longer pattern before agreeing to it.
const MAX_LENGTH: usize = 2000;

/// Whether a rule may be left for a line with this command in it.
fn is_offerable(view: &CommandView) -> bool {
    let command = &view.command;
    if command.file.is_some() {
        return true;
    }
    let words: Vec<&str> = command
        .words
        .iter()
        .map(|word| word.text.as_str())
        .collect();
    command.reached == Reached::Directly
        && !view.is_dynamic()
        && command.opaque.is_empty()
        && view.disguised().is_none()
        && !shell::starts_others(&words)
}

/// The patterns for calls of the same program and subcommand, with and without more words.
fn prefix(view: &CommandView) -> Option<Vec<String>> {
    let command = &view.command;
    let undirected = command.redirects.iter().all(|redirect| {
        redirect.kind == RedirectionKind::Duplicate
            || (redirect.kind.writing_sign().is_some() && redirect.target.text == "/dev/null")
    });
    if !undirected || !command.assignments.is_empty() || view.writes_by_option() {
        return None;
    }
    let first = installed_name(&command.words.first()?.text);
    let name = view.program().filter(|name| *name == first)?;
    let count = own_words(view, name)?;
    let mut words = vec![first];
    let more = command.words.get(1..count)?;
    words.extend(more.iter().map(|word| word.text.as_str()));
    if words.iter().any(|word| word.contains(char::is_whitespace)) {
        return None;
    }
    let bare = Glob::escape(&words.join(" "));
    let longer = format!("{bare} *");
    // One word alone may be the name of a tool as well, which is not what is offered.
    Some(if catalogue::is_name(&bare) {
        vec![longer]
    } else {
        vec![bare, longer]
    })
}

/// How many words of a command say what it does: its program, or all up to its subcommand. None if
/// that cannot be told, or if the words that follow decide what it does to what.
fn own_words(view: &CommandView, name: &str) -> Option<usize> {
    let words = &view.command.words;
    if AS_WRITTEN.contains(&name) {
        return None;
    }
    // A word that could be a subcommand of a program nobody has described is taken for one.
    let unknown = || is_plain(words.get(1)?).then_some(2);
    let Some(program) = rules::program(name) else {
        return unknown();
    };
    let subcommands = subcommands(name, program);
    if subcommands.is_empty() {
        return match program.roles.operands {
            _ if view.only_prints() => Some(1),
            Some(Role::Read | Role::List) if only_looks(program) => Some(1),
            Some(Role::Text) if only_looks(program) => unknown(),
            _ => None,
        };
    }
    let at = behind_options(words, program)?;
    let mut count = 1;
    loop {
        let given = words.get(at..at + count)?;
        if !given.iter().all(is_plain) {
            return None;
        }
        let named = given
            .last()
            .is_some_and(|word| RUNNING.contains(&word.text.as_str()));
        if !named && !subcommands.iter().any(|known| goes_on(known, given)) {
            return Some(at + count);
        }
        count += 1;
    }
}

/// Programs that do what a text says, of theirs or of the project's, so that only the whole of a
/// command says what that is.
const AS_WRITTEN: &[&str] = &["bmake", "gmake", "gsed", "make", "sed"];

/// Subcommands that run what the next word names.
const RUNNING: &[&str] = &["run", "run-script", "task"];

/// Every subcommand a table speaks of.
fn subcommands(name: &str, program: &'static Program) -> Vec<&'static str> {
    let cases = program.cases.iter().flat_map(|case| case.subcommand);
    let by_rules = rules::RULES
        .iter()
        .flat_map(|rule| rule.when.iter())
        .filter(|case| {
            let mut programs = case.program.iter();
            programs.any(|program| matching::wild(program, name))
        })
        .flat_map(|case| case.subcommand.iter());
    cases.copied().chain(by_rules.map(AsRef::as_ref)).collect()
}

/// Whether a program does different things by its first word.
pub(crate) fn has_subcommands(name: &str, program: &'static Program) -> bool {
    !subcommands(name, program).is_empty()
}

/// Whether a subcommand begins with these words and has more.
fn goes_on(subcommand: &str, given: &[Text]) -> bool {
    let mut wanted = subcommand.split(' ');
    given.iter().all(|word| {
        let wanted = wanted.next();
        wanted.is_some_and(|wanted| matching::wild(wanted, &word.text))
    }) && wanted.next().is_some()
}

/// The place of the first word behind the options a program takes before its subcommand. None if
/// one of them is not known: then the next word may be its value.
fn behind_options(words: &[Text], program: &Program) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = words.get(at).filter(|word| word.text.starts_with('-')) {
        at += match option_before(&word.text, program) {
            OptionBefore::WithValue => 2,
            OptionBefore::Alone => 1,
            OptionBefore::Unknown => return None,
        };
    }
    Some(at)
}

/// What an option in front of a subcommand is known to take.
pub(crate) enum OptionBefore {
    Alone,
    WithValue,
    Unknown,
}

pub(crate) fn option_before(option: &str, program: &Program) -> OptionBefore {
    let takes_value = program.before.contains(&option) || program.roles.values.contains(&option);
    let known = program.same.iter().any(|group| group.contains(&option));
    match (takes_value, option.contains('=')) {
        (true, false) => OptionBefore::WithValue,
        (false, true) => OptionBefore::Alone,
        (false, false) if known => OptionBefore::Alone,
        (true, true) | (false, false) => OptionBefore::Unknown,
    }
}

/// A word that reads like the name of a subcommand.
fn is_plain(word: &Text) -> bool {
    let text = word.text.as_str();
    !word.glob
        && !word.dynamic
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.:".contains(c))
}

/// Whether all a program does, whatever it is told, is look at the files its operands name. What an
/// option has it write is a file at most, and rules that protect files still do.
fn only_looks(program: &Program) -> bool {
    let cases = program.cases.iter().map(|case| &case.roles);
    std::iter::once(&program.roles).chain(cases).all(looks)
}

fn looks(roles: &Roles) -> bool {
    let looking = EffectKind::Run.bit() | EffectKind::Read.bit() | EffectKind::List.bit();
    let operands = [roles.operands, roles.first, roles.last];
    let mut operands = operands.into_iter().flatten();
    let mut flags = roles.flag_operands.iter().map(|(_, role)| *role);
    roles.effects.unwrap_or_default() & !looking == 0
        && roles.prefixed.is_empty()
        && operands.all(|role| matches!(role, Role::Read | Role::List | Role::Text))
        && !flags.any(|role| matches!(role, Role::Run | Role::Delete | Role::Send))
}

#[cfg(test)]
mod tests;
