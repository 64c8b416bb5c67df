//! A simple command on its way into the list: its words, what they assign and write, and each of its readings.

use std::collections::HashMap;
use std::sync::Arc;

use super::{
    Listing, MAX_DEPTH, NO_CHOICE, Scope, Start, calculations::evaluates, calculations::names_in,
    carried_code::known_text, failures::either, refuse,
};
use crate::opaque::Reason;
use crate::rules::READ_ONLY;
use crate::shell::commands::{Assignment, Command, Redirection, Text};
use crate::shell::environment::{Environment, Origin, Value};
use crate::shell::foreseen;
use crate::shell::input::Input;
use crate::shell::reader::read_expanding;
use crate::shell::readings;
use crate::shell::redirects;
use crate::shell::refusal::{Refusal, RefusalReason};
use crate::shell::settings;
use crate::shell::texts::{Argument, Expander};
use crate::shell::tree::{CommandNode, Part, Redirect, RedirectKind, Simple, Span, Word};

/// Assignments of one command: each is compared with all before it. A line with a command that has more
/// is refused.
const MAX_ASSIGNMENTS: usize = 500;
/// Words of a command that stands deep in wrappers, which copy them at every step. A line with
/// more is refused.
pub(super) const MAX_WRAPPED: usize = 2000;

/// What one reading of a command is: another that differs in none of this says nothing more.
#[derive(PartialEq)]
struct Taken {
    pub(super) words: Vec<Text>,
    pub(super) assignments: Vec<Assignment>,
    pub(super) redirects: Vec<Redirection>,
}

impl<'w> Listing<'w> {
    /// Lists the substitutions of a text that bash expands though it was quoted.
    pub(in crate::shell) fn evaluated(
        &mut self,
        command: Option<usize>,
        text: &str,
        span: &Span,
        start: &Start,
    ) -> Result<(), Refusal> {
        if !text.contains("$(") && !text.contains('`') && !text.contains("${") {
            return Ok(());
        }
        // A value may use itself, by way of code in it.
        if start.depth >= MAX_DEPTH {
            return match command {
                Some(command) => {
                    self.mark(command, Reason::TooDeep);
                    Ok(())
                }
                None => refuse(RefusalReason::TooDeep, span),
            };
        }
        let parts = match (read_expanding(text), command) {
            (Ok(parts), _) => parts,
            (Err(_), Some(command)) => {
                self.mark(command, Reason::Unreadable);
                return Ok(());
            }
            // There is no command to mark: `[[` is none.
            (Err(refusal), None) => return refuse(refusal.reason, span),
        };
        let scope = Scope {
            source: text,
            held: Some(span.clone()),
            reached: start.reached,
            depth: start.depth + 1,
            documents: &[],
        };
        self.parts(&parts, &scope)
    }

    /// Lists the redirects of a compound command as a command without words.
    pub(super) fn bare(
        &mut self,
        node: &CommandNode,
        scope: &Scope<'_>,
        input: &Input,
    ) -> Result<(), Refusal> {
        let redirects = redirects::redirections(
            &node.redirects,
            &self.expander(scope),
            scope.documents,
            scope.held.as_ref(),
        );
        let printed = foreseen::printed(node, scope.documents, &self.expander(scope), input);
        self.remember_writes(&redirects, &printed, self.commands.len());
        self.add(Command {
            span: scope.place(&node.span),
            assignments: Vec::new(),
            words: Vec::new(),
            redirects,
            reached: scope.reached,
            opaque: Vec::new(),
            directory: Arc::clone(&self.environment.directory),
            input: None,
            file: self.file.clone(),
            loaded: self.quiet,
            fed_by: self.fed_by.clone(),
            container: self.container.clone(),
            whole: None,
        })?;
        self.redirects(&node.redirects, scope)
    }

    pub(super) fn simple(
        &mut self,
        node: &CommandNode,
        simple: &Simple,
        timed: bool,
        scope: &Scope<'_>,
        input: &Input,
    ) -> Result<(), Refusal> {
        if simple.assignments.len() > MAX_ASSIGNMENTS {
            return refuse(RefusalReason::TooMuchWork, &scope.place(&node.span));
        }
        let values = || simple.assignments.iter().map(|node| &node.value);
        let targets = || node.redirects.iter().map(|redirect| &redirect.target);
        let all = || simple.words.iter().chain(values()).chain(targets());
        // Most words are what they say: there is nothing in them to be looked for.
        let expanding: Vec<&Word> = all().filter(|word| word.plain().is_none()).collect();
        for word in &expanding {
            self.code_in_forgotten(word, scope)?;
            self.calculated(&word.parts);
        }
        self.defaults_used_twice(&expanding);
        let several;
        let choices = match expanding.is_empty() {
            true => std::slice::from_ref(&NO_CHOICE),
            false => {
                let all: Vec<&Word> = all().collect();
                several = readings::choices(&mut self.environment, &all);
                several.as_slice()
            }
        };
        let declares = simple
            .words
            .first()
            .and_then(Word::plain)
            .is_some_and(is_declaration);
        let evaluates = simple
            .words
            .iter()
            .chain(values())
            .any(|word| evaluates(&word.parts));
        let expands = !expanding.is_empty();
        let documents = node.redirects.iter().any(|redirect| {
            matches!(
                redirect.kind,
                RedirectKind::HereString | RedirectKind::HereDocument(_)
            )
        });
        let mut seen: Vec<Taken> = Vec::new();
        let mut assigned: Vec<(String, Vec<Value>)> = Vec::new();
        let mut after: Option<Environment> = None;
        let before = self.environment.clone();
        for (at, choice) in choices.iter().enumerate() {
            if at > 0 {
                self.environment = before.clone();
            }
            let expander = Expander {
                source: scope.source,
                environment: &before,
                choice,
                depth: 0,
            };
            let held = scope.held.as_ref();
            // What it reads may be another text in every reading.
            let own = (documents && choices.len() > 1)
                .then(|| redirects::input(&node.redirects, &expander, scope.documents, input));
            let input = own.as_ref().unwrap_or(input);
            let arguments: Vec<Argument> = match declares {
                true => simple
                    .words
                    .iter()
                    .flat_map(|word| match is_assignment(word) {
                        true => expander.values(word, held),
                        false => expander.arguments(word, held),
                    })
                    .collect(),
                false => expander.all_arguments(&simple.words, held),
            };
            let (assignments, given) = self.given(simple, &expander, scope);
            if let Some((_, value)) = assignments.iter().find(|(name, _)| name == "PATH") {
                self.environment.search_in(value.unquoted());
            }
            for (name, value) in &given {
                match assigned.iter_mut().find(|(known, _)| known == name) {
                    Some((_, values)) => values.push(value.clone()),
                    None => assigned.push((name.clone(), vec![value.clone()])),
                }
            }
            let redirects =
                redirects::redirections(&node.redirects, &expander, scope.documents, held);
            let words: Vec<Text> = arguments.iter().map(Argument::listed).collect();
            let set: Vec<Assignment> = assignments.iter().map(as_assignment).collect();
            // Without a command they are set for good.
            if !arguments.is_empty() {
                self.lend(&assignments);
            }
            if choices.len() > 1 {
                let taken = Taken {
                    words: words.clone(),
                    assignments: set.clone(),
                    redirects: redirects.clone(),
                };
                if seen.contains(&taken) {
                    continue;
                }
                seen.push(taken);
            }
            // What writes to nothing is not asked what it prints.
            let printed = match redirects.is_empty() {
                true => Input::Empty,
                false => foreseen::output(&arguments, input, &expander),
            };
            let place = self.add(Command {
                span: scope.place(&node.span),
                assignments: set,
                words,
                redirects,
                reached: scope.reached,
                opaque: Vec::new(),
                directory: Arc::clone(&self.environment.directory),
                input: known_text(input),
                file: self.file.clone(),
                loaded: self.quiet,
                fed_by: self.fed_by.clone(),
                container: self.container.clone(),
                whole: None,
            })?;
            if at == 0 {
                self.code_in(node, simple, &given, scope)?;
            }
            if evaluates {
                self.mark(place, Reason::DynamicCode);
            }
            if expands && self.is_crowded(arguments.first(), simple, &node.redirects) {
                self.mark(place, Reason::OverBudget);
            }
            // A document that is written may be long: it is lent, not copied.
            let redirects = self.lend_redirects(place, Vec::new());
            self.remember_writes(&redirects, &printed, place);
            self.lend_redirects(place, redirects);
            self.remember_changes(place, input);
            if arguments.is_empty() {
                self.unwrap(place, &arguments, &scope.start(input))?;
            } else {
                self.with_assignments(&assignments, |listing| {
                    listing.unwrap(place, &arguments, &scope.start(input))
                })?;
            }
            self.mark_assignments(place, &assignments);
            let start = Start {
                in_shell: false,
                depth: scope.depth + 1,
                ..scope.start(&Input::Empty)
            };
            self.code_in_settings(place, &assignments, &start)?;
            // Shells without the reserved word `time` run a program of that name, and what bash
            // takes for the command is then an option of it.
            let first = arguments.first();
            if timed && first.is_some_and(|word| word.text.text.starts_with('-')) {
                let mut words = vec![Argument::literal("time", scope.place(&node.span))];
                words.extend(arguments.iter().cloned());
                self.start(Vec::new(), words, scope.start(input))?;
            }
            if choices.len() > 1 {
                after = either(after, Some(self.environment.clone()));
            }
        }
        if let Some(after) = after {
            self.environment = after;
        }
        self.default_assignments(&expanding, scope);
        if simple.words.is_empty() {
            for (name, values) in assigned {
                self.environment.assign_any(&name, values);
            }
        }
        if expanding.iter().any(|word| self.may_stop(word, scope)) {
            self.environment = self.environment.clone().either(before.clone());
            if scope.depth > 0 || scope.source.contains('\n') {
                self.environment.may_cut_short(before);
            }
        }
        Ok(())
    }

    /// Puts redirects in the place of those of a listed command, which are handed out.
    fn lend_redirects(&mut self, place: usize, redirects: Vec<Redirection>) -> Vec<Redirection> {
        match self.commands.get_mut(place) {
            Some(command) => std::mem::replace(&mut command.redirects, redirects),
            None => redirects,
        }
    }

    /// Whether words of a command are among more texts than are followed. What only looks at things
    /// may look at any of them.
    fn is_crowded(&self, name: Option<&Argument>, simple: &Simple, redirects: &[Redirect]) -> bool {
        let mut crowded = false;
        let targets = redirects.iter().map(|redirect| &redirect.target);
        let looks = name.is_some_and(|name| READ_ONLY.contains(name.unquoted()));
        let words = simple.words.iter().filter(|_| !looks);
        for word in words.chain(targets) {
            readings::each_parameter(&word.parts, readings::Within::Word, &mut |parameter| {
                crowded |= self.environment.is_crowded(&parameter.name);
            });
        }
        crowded
    }

    /// The assignments of a command in one reading, and what each variable then holds.
    #[expect(clippy::type_complexity, reason = "two lists that belong together")]
    pub(super) fn given(
        &self,
        simple: &Simple,
        expander: &Expander<'_>,
        scope: &Scope<'_>,
    ) -> (Vec<(String, Argument)>, Vec<(String, Value)>) {
        let mut arguments: Vec<(String, Argument)> = Vec::new();
        let mut given: Vec<(String, Value)> = Vec::new();
        // Each sees what those before it assigned.
        let mut state = (simple.assignments.len() > 1).then(|| expander.environment.clone());
        for node in &simple.assignments {
            let expander = Expander {
                environment: state.as_ref().unwrap_or(expander.environment),
                ..*expander
            };
            let span = scope.place(&node.value.span);
            let argument = expander.argument(&node.value, &span);
            let value = readings::assigned(&expander, node, &argument);
            if let Some(state) = &mut state {
                state.assign(&node.name, value.clone());
            }
            given.retain(|(name, _)| *name != node.name);
            given.push((node.name.clone(), value));
            arguments.push((node.name.clone(), argument));
        }
        (arguments, given)
    }

    /// A variable that gets its default in one word of a command may have it in another.
    fn defaults_used_twice(&mut self, words: &[&Word]) {
        let mut given: Vec<String> = Vec::new();
        for word in words {
            readings::each_parameter(&word.parts, readings::Within::Word, &mut |parameter| {
                if readings::gives_default(parameter) {
                    given.push(parameter.name.clone());
                }
            });
        }
        let mut uses: HashMap<String, usize> = HashMap::new();
        for word in words.iter().filter(|_| !given.is_empty()) {
            let within = readings::Within::Substitutions;
            readings::each_parameter(&word.parts, within, &mut |parameter| {
                *uses.entry(parameter.name.clone()).or_default() += 1;
            });
        }
        given.retain(|name| uses.get(name).is_some_and(|count| *count > 1));
        self.forget_all(&given);
    }

    /// Whether expanding a word may be an error, at which bash leaves the command be.
    fn may_stop(&self, word: &Word, scope: &Scope<'_>) -> bool {
        let mut stops = false;
        readings::each_calculation(&word.parts, &mut |_, _| stops = true);
        readings::each_parameter(&word.parts, readings::Within::Word, &mut |parameter| {
            let operator = parameter.operator.as_str();
            let slices = operator.starts_with(':')
                && ![":-", ":+", ":="]
                    .iter()
                    .any(|sign| operator.starts_with(sign));
            stops |= parameter.prefix == Some('!') || operator.contains('?') || slices;
        });
        stops && self.expander(scope).argument(word, &word.span).text.dynamic
    }

    /// Gives variables the values `${x:=value}` gives them.
    fn default_assignments(&mut self, words: &[&Word], scope: &Scope<'_>) {
        let mut given: Vec<(String, Value, bool)> = Vec::new();
        let expander = self.expander(scope);
        for word in words {
            readings::each_parameter(&word.parts, readings::Within::Word, &mut |parameter| {
                if readings::gives_default(parameter) {
                    let sign = match parameter.operator.starts_with(':') {
                        true => ":=",
                        false => "=",
                    };
                    let text = expander.known(&parameter.parts);
                    let value = match text.as_deref().and_then(|text| text.strip_prefix(sign)) {
                        Some(text) => Value::Known(Arc::from(text)),
                        None => Value::Unknown(Origin::Elsewhere),
                    };
                    given.push((parameter.name.clone(), value, sign.starts_with(':')));
                }
            });
        }
        for (name, value, if_empty) in given {
            let before = self.environment.variable(&name);
            let mut values = before.map_or_else(Vec::new, |before| before.values);
            values.retain(|value| match value {
                Value::Unset => false,
                Value::Known(text) => !if_empty || !text.is_empty(),
                Value::Partly(_) | Value::Pattern(_) | Value::List(_) | Value::Unknown(_) => true,
            });
            values.push(value);
            self.environment.assign_any(&name, values);
        }
    }

    pub(super) fn redirects(
        &mut self,
        redirects: &[Redirect],
        scope: &Scope<'_>,
    ) -> Result<(), Refusal> {
        for redirect in redirects {
            self.parts(&redirect.target.parts, scope)?;
            if let Some(document) = scope.document(redirect) {
                self.parts(&document.parts, scope)?;
            }
        }
        Ok(())
    }

    /// Walks with variables set for one command.
    pub(super) fn with_assignments(
        &mut self,
        assignments: &[(String, Argument)],
        walk: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let before: Vec<_> = assignments
            .iter()
            .map(|(name, _)| (name.clone(), self.environment.variable(name)))
            .collect();
        let exported = self.environment.exports();
        for (name, value) in assignments {
            self.environment.assign(name, value.value());
            self.environment.export(name);
        }
        let walked = walk(self);
        for (name, variable) in before {
            self.environment.restore(&name, variable);
            self.environment.export_as_before(&name, &exported);
        }
        walked
    }

    pub(super) fn mark_assignments(&mut self, place: usize, assignments: &[(String, Argument)]) {
        // A shell that starts reads its code from a descriptor.
        let descriptor = |(name, value): &(String, Argument)| {
            matches!(name.as_str(), "BASH_ENV" | "ENV")
                && ["/dev/", "/proc/"]
                    .iter()
                    .any(|front| value.unquoted().starts_with(front))
        };
        if assignments.iter().any(descriptor) {
            self.mark(place, Reason::ScriptFromInput);
        }
        let runs = |(name, value): &(String, Argument)| settings::variable_runs(name, value);
        if assignments.iter().any(runs) {
            self.mark(place, Reason::ExecutableSetting);
        }
    }
}

/// Whether a format of `printf` accepts any values: it asks for no numbers.
pub(super) fn takes_any_text(format: &Word) -> bool {
    format.parts.iter().all(|part| match part {
        Part::Literal { text, .. } | Part::SingleQuoted(text) | Part::AnsiQuoted(text) => {
            let mut conversions = text.split('%').skip(1);
            !text.starts_with('-') && conversions.all(|rest| rest.starts_with(['s', 'b']))
        }
        Part::DoubleQuoted(_)
        | Part::Localized(_)
        | Part::Parameter(_)
        | Part::Command(_)
        | Part::Process(_)
        | Part::Arithmetic(_)
        | Part::Glob(_)
        | Part::Brace(_)
        | Part::Extended(_)
        | Part::Tilde(_)
        | Part::Array(_) => false,
    })
}

/// Commands whose words may be assignments.
fn is_declaration(program: &str) -> bool {
    matches!(
        program,
        "alias" | "declare" | "export" | "local" | "readonly" | "typeset"
    )
}

/// Whether a word is an assignment to a command that takes some.
fn is_assignment(word: &Word) -> bool {
    // `x[0]=…` as well: the bracket may stand apart, and the subscript be anything.
    let mut front = String::new();
    for part in &word.parts {
        if let Part::Literal {
            text,
            quoted: false,
        } = part
        {
            front.push_str(text);
        } else if let Part::Glob(letter) = part {
            front.push(*letter);
        } else if front.contains('[') {
            front.push('0');
        } else {
            break;
        }
        if front.contains('=') {
            break;
        }
    }
    let Some((name, _)) = front.split_once('=') else {
        return false;
    };
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = match name.split_once('[') {
        Some((array, subscript)) if subscript.ends_with(']') => array,
        Some(_) => return false,
        None => name,
    };
    names_in(name).next() == Some(name)
}

pub(super) fn as_assignment((name, value): &(String, Argument)) -> Assignment {
    Assignment {
        name: name.clone(),
        value: value.text.clone(),
    }
}
