//! A compiled list of rules, and how it is matched against a call.
//!
//! A list that refuses or asks matches when any part of the call does, in any spelling. A list
//! that allows must cover every part of the call by itself or together with other lists, so it is
//! asked about one part at a time and only in the spelling as written.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::document::RuleList;
use super::patterns::{CommandPatterns, LastStar, Patterns};
use super::reach;
use super::tool_names::{self, Naming, TO_THE_LETTER, ToolNames, WrittenName};
use super::values::Values;
use crate::call::push_python_str;
use crate::catalogue::{self, Shape, Tool};
use crate::literal_index::ByText;
use crate::paths::{self, Surroundings};
use crate::understand::{Action, CommandView, Unreadable};

/// A list of rules, ready to be matched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    tools: ToolNames,
    patterns: Vec<String>,
    text: Patterns,
    /// Patterns that speak of more than one command, matched against the line as written.
    raw: Vec<bool>,
    any_raw: bool,
    /// Whether some pattern is about the text form of a call.
    any_form: bool,
    commands: CommandPatterns,
    /// The patterns that mean a tool's name to the letter.
    exact: Vec<bool>,
    /// The names patterns give to tools agents have, each with the patterns that begin with it.
    heads: Vec<(WrittenName, Vec<usize>)>,
    arguments: Vec<ToolArguments>,
    /// The same by the name they are written under.
    arguments_by_name: ByText<usize>,
    /// Those under names agents have, of which there are few.
    known_arguments: Vec<usize>,
    /// Whether some mean a name to the letter.
    exact_arguments: bool,
}

/// The argument rules written under one tool's name.
#[derive(Clone, Debug)]
struct ToolArguments {
    tool: WrittenName,
    values: Vec<(String, Values)>,
}

/// Values of an argument, and how the rule names the tool.
struct Named<'r> {
    naming: Naming,
    /// The tool whose argument it is, unless the rule means names to the letter.
    tool: Option<&'static Tool>,
    argument: &'r str,
    values: &'r Values,
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
    /// How it names the tool.
    pub(crate) naming: Naming,
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
        let mut arguments: BTreeMap<&str, HashMap<&str, Vec<String>>> = BTreeMap::new();
        for list in lists {
            rules.tools.extend(&list.tools);
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
        // What marks a name as meant to the letter is no part of it.
        let mut bare: Vec<&str> = Vec::with_capacity(rules.patterns.len());
        for (number, pattern) in rules.patterns.iter().enumerate() {
            let head = tool_names::head(pattern);
            let exact = head.is_some_and(|(_, exact)| exact);
            rules.exact.push(exact);
            bare.push(match exact {
                true => pattern.trim_start_matches(TO_THE_LETTER),
                false => pattern,
            });
            if let Some((name, false)) = head {
                add_head(&mut rules.heads, name, number);
            }
        }
        rules.text = Patterns::new(bare.iter().copied());
        rules.commands = CommandPatterns::new(bare.iter().copied());
        rules.raw = bare.iter().map(|text| speaks_of_lines(text)).collect();
        rules.any_raw = rules.raw.contains(&true);
        rules.any_form = rules.patterns.iter().any(|text| text.contains('('));
        for (tool, named) in arguments {
            let mut values: Vec<(String, Values)> = named
                .into_iter()
                .map(|(argument, values)| (argument.to_owned(), Values::new(&values)))
                .collect();
            values.sort_by(|a, b| a.0.cmp(&b.0));
            rules
                .arguments_by_name
                .insert(tool.to_owned(), rules.arguments.len());
            rules.exact_arguments |= tool.starts_with(TO_THE_LETTER);
            let tool = WrittenName::new(tool);
            if tool.tool().is_some() {
                rules.known_arguments.push(rules.arguments.len());
            }
            rules.arguments.push(ToolArguments { tool, values });
        }
        rules
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.patterns.is_empty() && self.arguments.is_empty()
    }

    /// The argument rules that speak of a call's tool: for a list that allows, or for one that
    /// tightens.
    fn arguments_for(&self, view: &Action, allows: bool) -> Vec<Named<'_>> {
        if self.arguments.is_empty() {
            return Vec::new();
        }
        let own = view.call.tool();
        let identity = view.identity;
        let mut numbers: Vec<(usize, Naming)> = Vec::new();
        let by_name = |name: &str| self.arguments_by_name.get(name).copied();
        numbers.extend(by_name(own).map(|number| (number, Naming::Own)));
        if self.exact_arguments {
            let exact = by_name(&format!("{TO_THE_LETTER}{own}"));
            numbers.extend(exact.map(|number| (number, Naming::Own)));
        }
        if identity.tool().is_some() {
            for number in self.known_arguments.iter().copied() {
                let Some(rules) = self.arguments.get(number) else {
                    continue;
                };
                let naming = match allows {
                    true => rules.tool.naming_to_allow(own, identity),
                    false => rules.tool.naming(own, identity),
                };
                numbers.extend(
                    naming
                        .filter(|naming| *naming != Naming::Own)
                        .map(|naming| (number, naming)),
                );
            }
        }
        let mut found = Vec::new();
        for (number, naming) in numbers {
            let Some(rules) = self.arguments.get(number) else {
                continue;
            };
            found.extend(rules.values.iter().map(|(argument, values)| Named {
                naming,
                tool: rules.tool.tool(),
                argument,
                values,
            }));
        }
        found
    }

    /// Every rule that matches any part of the call, in any spelling: for lists that refuse or ask.
    pub(crate) fn touching(&self, view: &Action, star: LastStar) -> Vec<Match> {
        if self.is_empty() {
            return Vec::new();
        }
        let named = self.tools.touching(view.call.tool(), view.identity);
        let mut found: Vec<Match> = named.map(tool_match).into_iter().collect();
        if !self.patterns.is_empty() {
            self.patterns_touching(view, star, &mut found);
        }
        for rule in self.arguments_for(view, false) {
            arguments_touching(view, &rule, &mut found);
        }
        found
    }

    fn patterns_touching(&self, view: &Action, star: LastStar, found: &mut Vec<Match>) {
        let mut numbers: Vec<(usize, Option<usize>)> = Vec::new();
        let mut by_other_names: Vec<usize> = Vec::new();
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
            // A form has no words that could be missing.
            let by_form = self.text.matching(view.text_form(), LastStar::AsText);
            let by_form = by_form.into_iter();
            numbers.extend(by_form.filter(means_form).map(|number| (number, None)));
            self.forms_under_other_names(view, &mut by_other_names);
            by_other_names.retain(means_form);
        }
        if let Some(line) = &view.line {
            // A line that could not be read is compared as it stands: better one refusal too many.
            let whole = matches!(view.trouble, Some(Unreadable::Syntax(_)));
            if whole || self.any_raw {
                let means_line =
                    |number: &usize| whole || self.raw.get(*number).copied().unwrap_or(false);
                // Of one that could not be read, each piece that may be a command as well.
                let pieces = line.split(['\n', ';', '&', '|']).filter(|_| whole);
                for text in std::iter::once(line.as_str()).chain(pieces.map(str::trim)) {
                    let by_line = self.text.matching(text, star).into_iter();
                    numbers.extend(by_line.filter(means_line).map(|number| (number, None)));
                }
            }
        }
        for (index, command) in view.commands.iter().enumerate() {
            numbers.extend(
                self.text
                    .matching(command.line(), star)
                    .into_iter()
                    .map(|n| (n, Some(index))),
            );
            if let Some(line) = command.line_with_writes() {
                // Appending to a file is writing it.
                for spelling in [line.replace(" >> ", " > "), line] {
                    let matched = self.text.matching(&spelling, star).into_iter();
                    numbers.extend(matched.map(|n| (n, Some(index))));
                }
            }
            numbers.extend(
                self.commands
                    .matching(command, star)
                    .into_iter()
                    .map(|n| (n, Some(index))),
            );
        }
        numbers.sort_unstable();
        numbers.dedup();
        found.extend(numbers.iter().map(|(number, command)| {
            let naming = match command {
                None => self.naming_of_form(*number, view.call.tool()),
                Some(_) => Naming::Unnamed,
            };
            self.pattern_match(*number, *command, naming)
        }));
        by_other_names.sort_unstable();
        by_other_names.dedup();
        by_other_names.retain(|number| !numbers.contains(&(*number, None)));
        found.extend(
            by_other_names
                .into_iter()
                .map(|number| self.pattern_match(number, None, Naming::Kin)),
        );
    }

    /// The patterns that match the text form of a call as it would be written for another agent:
    /// under the name that stands for its tool, and under the names the patterns themselves give it.
    fn forms_under_other_names(&self, view: &Action, found: &mut Vec<usize>) {
        let own = view.call.tool();
        let Some(tool) = view.identity.tool() else {
            return;
        };
        for form in view.standing_forms(tool) {
            let numbers = self.text.matching(&form, LastStar::AsText).into_iter();
            found.extend(numbers.filter(|number| !self.is_exact(*number)));
        }
        for (head, patterns) in &self.heads {
            if matches!(head.naming(own, view.identity), None | Some(Naming::Own)) {
                continue;
            }
            for form in view.forms_as(head.text()) {
                let numbers = self.text.matching(&form, LastStar::AsText).into_iter();
                found.extend(numbers.filter(|number| patterns.contains(number)));
            }
        }
    }

    fn is_exact(&self, number: usize) -> bool {
        self.exact.get(number).copied().unwrap_or(false)
    }

    /// How a pattern that matches the text form of a call names its tool.
    fn naming_of_form(&self, number: usize, own: &str) -> Naming {
        let pattern = self.patterns.get(number).map(String::as_str);
        match pattern.and_then(tool_names::head) {
            Some((name, _)) if name == own => Naming::Own,
            Some(_) | None => Naming::Unnamed,
        }
    }

    /// The pattern a command could turn out to match once its unknown words are known.
    pub(crate) fn possible(&self, command: &CommandView) -> Option<&str> {
        let number = self.commands.possible(command)?;
        self.patterns.get(number).map(String::as_str)
    }

    /// The rules that allow the whole call, whatever its parts (the tool, or its text form). What their
    /// wildcards stand for must lie where they say; without `around` text is all that counts.
    pub(crate) fn covering_call(
        &self,
        view: &Action,
        around: Option<&Surroundings<'_>>,
    ) -> Vec<Match> {
        if self.is_empty() {
            return Vec::new();
        }
        let named = self.tools.covering(view.call.tool(), view.identity);
        let mut found: Vec<Match> = named.map(tool_match).into_iter().collect();
        // Of a shell line, the text form says no more than the line, which its parts must answer;
        // and of a tool given a command, what a pattern says of it must be all there is to it.
        if !self.patterns.is_empty() && !view.is_shell() && !view.text_form_is_ambiguous() {
            self.forms_covering(view, around, &mut found);
        }
        let shell_argument = match view.shape {
            Shape::Shell { command } => Some(command),
            Shape::Plain => None,
        };
        for rule in self.arguments_for(view, true) {
            let given = rule.given(view);
            if given.iter().any(|(key, _)| shell_argument == Some(*key)) {
                continue;
            }
            let is_command = !view.commands.is_empty()
                && given.iter().any(|(key, _)| catalogue::names_command(key));
            if is_command && !view.is_one_plain_command() {
                continue;
            }
            let covered = argument_covered(&rule, view.call.tool(), &given);
            found.extend(covered.filter(|matched| {
                let texts: Vec<String> = given.iter().flat_map(|one| scalar_texts(one.1)).collect();
                let value = matched.rule.split_once('=').map_or("", |(_, value)| value);
                around.is_none_or(|around| reach::value_stays(value, &texts, view, around))
            }));
        }
        found
    }

    fn forms_covering(
        &self,
        view: &Action,
        around: Option<&Surroundings<'_>>,
        found: &mut Vec<Match>,
    ) {
        let own = view.call.tool();
        let simple = view.commands.is_empty() || view.is_one_plain_command();
        let says_all = |number: usize, name: &str| {
            let pattern = self.patterns.get(number).map(String::as_str);
            if let (Some(pattern), Some(around)) = (pattern, around)
                && !reach::form_stays(pattern, view, around)
            {
                return false;
            }
            let whole_tool = || pattern.and_then(|text| text.strip_suffix("(*"));
            simple
                || pattern == Some("*")
                || whole_tool().is_some_and(|text| text.trim_start_matches(TO_THE_LETTER) == name)
        };
        let by_own = self.text.matching(view.text_form(), LastStar::AsText);
        // A form never allows a shell, so it does not under a shell's name.
        let standing = view.identity.standing_name();
        let standing = standing.filter(|name| !name.is_shell());
        let by_standing = standing.map(|name| {
            let mut numbers = self.text.matching(&view.form_named(name), LastStar::AsText);
            numbers.retain(|number| !self.is_exact(*number) && !by_own.contains(number));
            numbers.retain(|number| says_all(*number, name.text()));
            numbers
        });
        found.extend(
            by_own
                .iter()
                .filter(|number| says_all(**number, own))
                .map(|number| self.pattern_match(*number, None, self.naming_of_form(*number, own))),
        );
        found.extend(
            by_standing
                .into_iter()
                .flatten()
                .map(|number| self.pattern_match(number, None, Naming::Standing)),
        );
    }

    /// The rules that allow one command of a shell line as it is written. What their wildcards stand
    /// for must lie where they say; without `around` text is all that counts, and a last star is
    /// read as text, too.
    pub(crate) fn covering_command(
        &self,
        view: &Action,
        index: usize,
        around: Option<&Surroundings<'_>>,
    ) -> Vec<Match> {
        let mut found = Vec::new();
        let Some(command) = view.commands.get(index) else {
            return found;
        };
        let unknown = command.is_dynamic() || !command.command.opaque.is_empty();
        if self.is_empty() || unknown || command.writes_by_option() {
            return found;
        }
        let star = match around {
            Some(_) => LastStar::MayBeMissing,
            None => LastStar::AsText,
        };
        let matching = |text: &str| {
            let mut numbers = self.text.matching(text, star);
            numbers.retain(|number| {
                let pattern = self.patterns.get(*number).map(String::as_str);
                let stays = |around| reach::stays(pattern.unwrap_or("*"), text, command, around);
                around.is_none_or(stays)
            });
            numbers
        };
        let writes = command.line_with_writes();
        let mut numbers = match &writes {
            // A rule speaks of one file; a second one would hide behind it.
            Some(_) if command.writes().count() > 1 => Vec::new(),
            // What a command writes must be allowed by a rule that says so.
            Some(line) => matching(line)
                .into_iter()
                .filter(|number| self.patterns.get(*number).is_some_and(|p| p.contains('>')))
                .collect(),
            None => matching(command.line()),
        };
        if writes.is_none() && !command.command.redirects.is_empty() {
            // `cat < x` has something behind `cat`, whatever it is called.
            numbers.extend(matching(&format!("{} <", command.line())));
            numbers.sort_unstable();
            numbers.dedup();
        }
        if let (1, Some(line)) = (view.commands.len(), &view.line)
            && command.command.redirects.is_empty()
            && line.get(command.command.span.clone()) == Some(line.trim())
            && line.trim() != command.line()
        {
            // A pattern may quote as the line does; where the command is all of the line, both are
            // the same thing.
            numbers.extend(matching(line.trim()));
            numbers.sort_unstable();
            numbers.dedup();
        }
        found.extend(
            numbers
                .into_iter()
                .map(|n| self.pattern_match(n, Some(index), Naming::Unnamed)),
        );
        if writes.is_none()
            && command.command.assignments.is_empty()
            && let Shape::Shell { command: key } = view.shape
        {
            for rule in self.arguments_for(view, true) {
                if rule.means(view, key) {
                    let numbers = rule.values.starting_command(command).into_iter();
                    found.extend(numbers.map(|number| rule.matched(number, Some(index))));
                }
            }
        }
        found
    }

    fn pattern_match(&self, number: usize, command: Option<usize>, naming: Naming) -> Match {
        Match {
            naming,
            kind: MatchKind::Pattern,
            rule: self.patterns.get(number).cloned().unwrap_or_default(),
            specificity: self.text.specificity(number),
            command,
        }
    }
}

fn add_head(heads: &mut Vec<(WrittenName, Vec<usize>)>, name: &str, number: usize) {
    let written = WrittenName::new(name);
    let Some(tool) = written.tool() else {
        return;
    };
    let same = |known: &&mut (WrittenName, Vec<usize>)| known.0.is(tool, name);
    match heads.iter_mut().find(same) {
        Some((_, numbers)) => numbers.push(number),
        None => heads.push((written, vec![number])),
    }
}

/// A tool that a list names.
pub(crate) fn tool_match((rule, naming): (String, Naming)) -> Match {
    Match {
        kind: MatchKind::Tool,
        rule,
        specificity: 0,
        command: None,
        naming,
    }
}

impl Named<'_> {
    /// The arguments of a call the rule speaks of.
    fn given<'c>(&self, view: &'c Action) -> Vec<(&'c str, &'c Value)> {
        let (input, own) = (view.call.input(), view.call.tool());
        catalogue::meaning_argument(input, own, self.tool, self.argument)
    }

    /// Whether the rule speaks of the argument `key`.
    fn means(&self, view: &Action, key: &str) -> bool {
        self.argument == key || self.given(view).iter().any(|(given, _)| *given == key)
    }

    fn matched(&self, number: usize, command: Option<usize>) -> Match {
        let value = self.values.text(number);
        Match {
            kind: MatchKind::Argument,
            rule: format!("{}={value}", self.argument),
            specificity: value.chars().count().max(1),
            command,
            naming: self.naming,
        }
    }
}

fn arguments_touching(view: &Action, rule: &Named<'_>, found: &mut Vec<Match>) {
    let values = rule.values;
    let mut numbers: Vec<(usize, Option<usize>)> = Vec::new();
    let mut compared = false;
    for (key, value) in rule.given(view) {
        if is_command(view, key) && view.trouble.is_none() {
            if !std::mem::replace(&mut compared, true) {
                commands_touching(view, values, &mut numbers);
            }
        } else {
            for text in scalar_texts(value) {
                text_touching(&text, values, &mut numbers);
            }
        }
    }
    // The files of a patch stand in its text.
    if view.identity.is_patch() && rule.tool.is_some_and(|tool| tool.names_file(rule.argument)) {
        for path in catalogue::patched_paths(&view.call) {
            text_touching(path, values, &mut numbers);
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    found.extend(
        numbers
            .into_iter()
            .map(|(number, command)| rule.matched(number, command)),
    );
}

/// Whether an argument is one whose commands were read.
fn is_command(view: &Action, key: &str) -> bool {
    match view.shape {
        Shape::Shell { command } if view.call.input().contains_key(command) => command == key,
        Shape::Shell { .. } | Shape::Plain => {
            !view.commands.is_empty() && catalogue::names_command(key)
        }
    }
}

fn commands_touching(view: &Action, values: &Values, numbers: &mut Vec<(usize, Option<usize>)>) {
    for (index, command) in view.commands.iter().enumerate() {
        let matched = values.contained_in_command(command);
        numbers.extend(matched.into_iter().map(|number| (number, Some(index))));
    }
    // A path may stand in a redirection, behind a flag, or in another spelling.
    for path in view.paths() {
        let matched = values.above_path(&tidied(&path.text));
        numbers.extend(matched.into_iter().map(|number| (number, path.command)));
    }
}

fn text_touching(text: &str, values: &Values, numbers: &mut Vec<(usize, Option<usize>)>) {
    numbers.extend(values.contained_in(text).into_iter().map(|n| (n, None)));
    for spelling in [tidied(text), spaced(text)] {
        if spelling != text {
            let matched = values.contained_in(&spelling).into_iter();
            numbers.extend(matched.map(|n| (n, None)));
        }
    }
}

/// A text with single spaces between its words.
fn spaced(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_whitespace) {
        return Cow::Borrowed(text);
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    Cow::Owned(words.join(" "))
}

/// A path without its scheme and without empty, `.` and `..` components.
fn tidied(path: &str) -> Cow<'_, str> {
    let path = paths::without_scheme(path);
    let below_root = path.strip_prefix('/').unwrap_or(path);
    let untidy = |component: &str| matches!(component, "" | "." | "..");
    // Most paths are tidy, and are looked at for every rule there is.
    if path == "/" || !below_root.split('/').any(untidy) {
        return Cow::Borrowed(path);
    }
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
    Cow::Owned(format!("{root}{}", components.join("/")))
}

/// The first allowed value that covers an argument: every text of it, under whatever names it is
/// given, must start with some value.
fn argument_covered(rule: &Named<'_>, own: &str, given: &[(&str, &Value)]) -> Option<Match> {
    let mut first = None;
    for (key, value) in given {
        // What a text starts with says nothing about what else stands in it.
        if *key != rule.argument && catalogue::is_free_text(own, key) {
            return None;
        }
        let number = value_covered(rule.values, value)?;
        first.get_or_insert(number);
    }
    first.map(|number| rule.matched(number, None))
}

fn value_covered(values: &Values, value: &Value) -> Option<usize> {
    let texts = scalar_texts(value);
    if value.is_boolean() || value.is_null() {
        return texts
            .iter()
            .find_map(|text| values.starting(text).first().copied());
    }
    let mut first = None;
    for text in &texts {
        let number = *values.starting(text).first()?;
        first.get_or_insert(number);
    }
    first
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
