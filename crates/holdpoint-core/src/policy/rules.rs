//! A compiled list of rules, and how it is matched against a call.
//!
//! A list that refuses or asks matches when any part of the call does, in any spelling. A list
//! that allows must cover every part of the call by itself or together with other lists, so it is
//! asked about one part at a time and only in the spelling as written.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::document::RuleList;
use super::patterns::{CommandPatterns, Patterns};
use super::values::Values;
use crate::call::push_python_str;
use crate::catalogue::{self, Shape};
use crate::paths;
use crate::understand::{Action, CommandView, Trouble};

/// A list of rules, ready to be matched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    tools: HashSet<String>,
    patterns: Vec<String>,
    text: Patterns,
    /// Patterns that speak of more than one command, matched against the line as written.
    raw: Vec<bool>,
    any_raw: bool,
    /// Whether some pattern is about the text form of a call.
    any_form: bool,
    commands: CommandPatterns,
    arguments: HashMap<String, Vec<(String, Values)>>,
}

/// A rule that matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) kind: MatchKind,
    /// The rule as the policy writes it; `argument=value` for an argument rule (J-19).
    pub(crate) rule: String,
    /// How much of the call the rule fixes; a tool's name fixes least.
    pub(crate) specificity: usize,
    /// The command of the line it matched, if it matched only one.
    pub(crate) command: Option<usize>,
}

/// The kinds of rules, in the order they are reported (J-19).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MatchKind {
    Tool,
    Pattern,
    Argument,
}

impl Rules {
    pub(crate) fn new<'l>(lists: impl IntoIterator<Item = &'l RuleList>) -> Self {
        let mut rules = Self::default();
        let mut arguments: HashMap<&str, HashMap<&str, Vec<String>>> = HashMap::new();
        for list in lists {
            rules.tools.extend(list.tools.iter().cloned());
            rules.patterns.extend(list.patterns.iter().cloned());
            for (tool, named) in &list.arguments {
                for (argument, values) in named {
                    arguments
                        .entry(tool)
                        .or_default()
                        .entry(argument)
                        .or_default()
                        .extend(values.iter().cloned());
                }
            }
        }
        rules.text = Patterns::new(rules.patterns.iter().map(String::as_str));
        rules.commands = CommandPatterns::new(rules.patterns.iter().map(String::as_str));
        rules.raw = rules
            .patterns
            .iter()
            .map(|text| speaks_of_lines(text))
            .collect();
        rules.any_raw = rules.raw.contains(&true);
        rules.any_form = rules.patterns.iter().any(|text| text.contains('('));
        rules.arguments = arguments
            .into_iter()
            .map(|(tool, named)| {
                let mut named: Vec<(String, Values)> = named
                    .into_iter()
                    .map(|(argument, values)| (argument.to_owned(), Values::new(&values)))
                    .collect();
                named.sort_by(|a, b| a.0.cmp(&b.0));
                (tool.to_owned(), named)
            })
            .collect();
        rules
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.patterns.is_empty() && self.arguments.is_empty()
    }

    /// The rule that names the tool itself.
    pub(crate) fn tool_match(&self, tool: &str) -> Option<Match> {
        self.tools.contains(tool).then(|| Match {
            kind: MatchKind::Tool,
            rule: tool.to_owned(),
            specificity: 0,
            command: None,
        })
    }

    /// Every rule that matches any part of the call, in any spelling: for lists that refuse or ask.
    pub(crate) fn touching(&self, view: &Action) -> Vec<Match> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut found: Vec<Match> = self.tool_match(view.call.tool()).into_iter().collect();
        if !self.patterns.is_empty() {
            self.patterns_touching(view, &mut found);
        }
        if let Some(named) = self.arguments.get(view.call.tool()) {
            for (argument, values) in named {
                arguments_touching(view, argument, values, &mut found);
            }
        }
        found
    }

    fn patterns_touching(&self, view: &Action, found: &mut Vec<Match>) {
        let mut numbers: Vec<(usize, Option<usize>)> = Vec::new();
        // Of a shell line the text form holds everything as text, data included: only a pattern
        // that means the form is compared with it.
        if !view.is_shell() || self.any_form {
            let means_form = |number: &usize| {
                !view.is_shell()
                    || self
                        .patterns
                        .get(*number)
                        .is_some_and(|text| text.contains('('))
            };
            let by_form = self.text.matching(view.text_form()).into_iter();
            numbers.extend(by_form.filter(means_form).map(|number| (number, None)));
        }
        if let Some(line) = &view.line {
            // A line that could not be read is compared as it stands: better one refusal too many.
            let whole = matches!(view.trouble, Some(Trouble::Unreadable(_)));
            if whole || self.any_raw {
                let means_line =
                    |number: &usize| whole || self.raw.get(*number).copied().unwrap_or(false);
                let by_line = self.text.matching(line).into_iter();
                numbers.extend(by_line.filter(means_line).map(|number| (number, None)));
            }
        }
        for (index, command) in view.commands.iter().enumerate() {
            numbers.extend(
                self.text
                    .matching(&command.line)
                    .into_iter()
                    .map(|n| (n, Some(index))),
            );
            if let Some(line) = command.line_with_writes() {
                // Appending to a file is writing it.
                for spelling in [line.replace(" >> ", " > "), line] {
                    let matched = self.text.matching(&spelling).into_iter();
                    numbers.extend(matched.map(|n| (n, Some(index))));
                }
            }
            numbers.extend(
                self.commands
                    .matching(command)
                    .into_iter()
                    .map(|n| (n, Some(index))),
            );
        }
        numbers.sort_unstable();
        numbers.dedup();
        found.extend(
            numbers
                .into_iter()
                .map(|(number, command)| self.pattern_match(number, command)),
        );
    }

    /// The pattern a command could turn out to match once its unknown words are known.
    pub(crate) fn possible(&self, command: &CommandView) -> Option<&str> {
        let number = self.commands.possible(command)?;
        self.patterns.get(number).map(String::as_str)
    }

    /// The rules that allow the whole call, whatever its parts (the tool, or its text form).
    pub(crate) fn covering_call(&self, view: &Action) -> Vec<Match> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut found: Vec<Match> = self.tool_match(view.call.tool()).into_iter().collect();
        // Of a shell line, the text form says no more than the line, which its parts must answer;
        // and of a tool given a command, what a pattern says of it must be all there is to it.
        if !self.patterns.is_empty() && !view.is_shell() && !view.text_form_is_ambiguous() {
            let whole_tool = format!("{}(*", view.call.tool());
            let simple = view.commands.is_empty() || view.is_one_plain_command();
            let numbers = self
                .text
                .matching(view.text_form())
                .into_iter()
                .filter(|number| {
                    let pattern = self.patterns.get(*number).map(String::as_str);
                    simple || pattern == Some("*") || pattern == Some(&whole_tool)
                });
            found.extend(numbers.map(|n| self.pattern_match(n, None)));
        }
        let shell_argument = match view.shape {
            Shape::Shell { command } => Some(command),
            Shape::Plain => None,
        };
        for (argument, values) in self.arguments.get(view.call.tool()).into_iter().flatten() {
            if shell_argument == Some(argument.as_str()) {
                continue;
            }
            let is_command = !view.commands.is_empty() && catalogue::names_command(argument);
            if is_command && !view.is_one_plain_command() {
                continue;
            }
            if let Some(value) = view.call.input().get(argument) {
                found.extend(argument_covered(argument, values, value));
            }
        }
        found
    }

    /// The rules that allow one command of a shell line as it is written.
    pub(crate) fn covering_command(&self, view: &Action, index: usize) -> Vec<Match> {
        let mut found = Vec::new();
        let Some(command) = view.commands.get(index) else {
            return found;
        };
        let unknown = command.is_dynamic() || !command.command.opaque.is_empty();
        if self.is_empty() || unknown || command.writes_by_option() {
            return found;
        }
        let writes = command.line_with_writes();
        let mut numbers = match &writes {
            // A rule speaks of one file; a second one would hide behind it.
            Some(_) if command.writes().count() > 1 => Vec::new(),
            // What a command writes must be allowed by a rule that says so.
            Some(line) => self
                .text
                .matching(line)
                .into_iter()
                .filter(|number| self.patterns.get(*number).is_some_and(|p| p.contains('>')))
                .collect(),
            None => self.text.matching(&command.line),
        };
        if writes.is_none() && !command.command.redirects.is_empty() {
            // `cat < x` has something behind `cat`, whatever it is called.
            numbers.extend(self.text.matching(&format!("{} <", command.line)));
            numbers.sort_unstable();
            numbers.dedup();
        }
        if let (1, Some(line)) = (view.commands.len(), &view.line)
            && command.command.redirects.is_empty()
            && line.get(command.command.span.clone()) == Some(line.trim())
            && line.trim() != command.line
        {
            // A pattern may quote as the line does; where the command is all of the line, both are
            // the same thing.
            numbers.extend(self.text.matching(line.trim()));
            numbers.sort_unstable();
            numbers.dedup();
        }
        found.extend(
            numbers
                .into_iter()
                .map(|n| self.pattern_match(n, Some(index))),
        );
        if writes.is_none()
            && command.command.assignments.is_empty()
            && let Shape::Shell { command: key } = view.shape
        {
            for (argument, values) in self.arguments.get(view.call.tool()).into_iter().flatten() {
                if argument == key {
                    found.extend(
                        values.starting_command(command).into_iter().map(|number| {
                            argument_match(argument, values.text(number), Some(index))
                        }),
                    );
                }
            }
        }
        found
    }

    fn pattern_match(&self, number: usize, command: Option<usize>) -> Match {
        Match {
            kind: MatchKind::Pattern,
            rule: self.patterns.get(number).cloned().unwrap_or_default(),
            specificity: self.text.specificity(number),
            command,
        }
    }
}

fn arguments_touching(view: &Action, argument: &str, values: &Values, found: &mut Vec<Match>) {
    let Some(value) = view.call.input().get(argument) else {
        return;
    };
    let is_command = match view.shape {
        Shape::Shell { command } => command == argument,
        Shape::Plain => !view.commands.is_empty() && catalogue::names_command(argument),
    };
    let mut numbers: Vec<(usize, Option<usize>)> = Vec::new();
    if is_command && view.trouble.is_none() {
        for (index, command) in view.commands.iter().enumerate() {
            let matched = values.contained_in_command(command);
            numbers.extend(matched.into_iter().map(|number| (number, Some(index))));
        }
        // A path may stand in a redirection, behind a flag, or in another spelling.
        for path in view.paths() {
            let matched = values.above_path(&tidied(&path.text));
            numbers.extend(matched.into_iter().map(|number| (number, path.command)));
        }
    } else {
        for text in scalar_texts(value) {
            numbers.extend(values.contained_in(&text).into_iter().map(|n| (n, None)));
            let spaced: Vec<&str> = text.split_whitespace().collect();
            for spelling in [tidied(&text), spaced.join(" ")] {
                if spelling != text {
                    let matched = values.contained_in(&spelling).into_iter();
                    numbers.extend(matched.map(|n| (n, None)));
                }
            }
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    found.extend(
        numbers
            .into_iter()
            .map(|(number, command)| argument_match(argument, values.text(number), command)),
    );
}

/// A path without its scheme and without empty, `.` and `..` components.
fn tidied(path: &str) -> String {
    let path = paths::without_scheme(path);
    let root = if path.starts_with('/') { "/" } else { "" };
    let mut components: Vec<&str> = Vec::new();
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." if !components.is_empty() => {
                components.pop();
            }
            ".." if !root.is_empty() => {}
            other => components.push(other),
        }
    }
    format!("{root}{}", components.join("/"))
}

/// The first allowed value that covers the argument: every text of it must start with some value.
fn argument_covered(argument: &str, values: &Values, value: &Value) -> Option<Match> {
    let texts = scalar_texts(value);
    if value.is_boolean() || value.is_null() {
        let number = texts
            .iter()
            .find_map(|text| values.starting(text).first().copied())?;
        return Some(argument_match(argument, values.text(number), None));
    }
    let mut first = None;
    for text in &texts {
        let number = *values.starting(text).first()?;
        first.get_or_insert(number);
    }
    first.map(|number| argument_match(argument, values.text(number), None))
}

fn argument_match(argument: &str, value: &str, command: Option<usize>) -> Match {
    Match {
        kind: MatchKind::Argument,
        rule: format!("{argument}={value}"),
        specificity: value.chars().count().max(1),
        command,
    }
}

/// Every scalar in a value as text (J-17): as Python writes it and, where that differs, as JSON.
fn scalar_texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(scalar_texts).collect(),
        Value::Object(map) => map.values().flat_map(scalar_texts).collect(),
        Value::Null | Value::Bool(_) => {
            let mut text = String::new();
            push_python_str(&mut text, value);
            vec![text, value.to_string()]
        }
        Value::Number(_) | Value::String(_) => {
            let mut text = String::new();
            push_python_str(&mut text, value);
            vec![text]
        }
    }
}

/// Whether a pattern contains what no single command contains once its quotes are gone.
fn speaks_of_lines(pattern: &str) -> bool {
    pattern.contains(['|', ';', '&', '(', ')', '`', '$', '"', '\'', '\\', '\n'])
        || pattern.contains("  ")
        || pattern.starts_with(' ')
        || pattern.ends_with(' ')
}
