//! Rules, assignments and directives of a makefile, in the order make meets them.

use super::lines::{Line, logical_lines};
use super::variables::{Flavour, Variables};
use super::words::{find_outside, list, matches};

/// Rules kept.
const MAX_RULES: usize = 4_000;

/// How targets are made.
#[derive(Clone, Debug, Default)]
pub(super) struct Rule {
    targets: Vec<String>,
    prerequisites: Vec<String>,
    /// `targets: pattern: prerequisites`.
    static_pattern: Option<String>,
    /// The lines, not yet expanded.
    pub(super) recipe: Vec<String>,
}

impl Rule {
    /// Whether it names this very target.
    pub(super) fn names(&self, target: &str) -> bool {
        self.targets.iter().any(|name| name == target)
    }

    /// The stem, empty for a plain rule, if the rule makes `target`.
    pub(super) fn matches(&self, target: &str) -> Option<String> {
        let stem = self
            .targets
            .iter()
            .find_map(|pattern| matches(pattern, target))?;
        match &self.static_pattern {
            Some(pattern) => matches(pattern, target),
            None => Some(stem),
        }
    }

    pub(super) fn is_pattern(&self) -> bool {
        self.static_pattern.is_none() && self.targets.iter().any(|target| target.contains('%'))
    }

    pub(super) fn prerequisites_for(&self, stem: Option<&str>) -> Vec<String> {
        let stem = stem.unwrap_or_default();
        self.prerequisites
            .iter()
            .map(|name| name.replacen('%', stem, 1))
            .collect()
    }
}

/// `target: NAME = value`.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    targets: Vec<String>,
    pub(super) name: String,
    pub(super) value: String,
}

impl Setting {
    /// Whether it counts while `target` is made.
    pub(super) fn is_for(&self, target: &str) -> bool {
        self.targets
            .iter()
            .any(|pattern| matches(pattern, target).is_some())
    }
}

/// What a makefile says.
#[derive(Default)]
pub(super) struct Makefile {
    pub(super) rules: Vec<Rule>,
    pub(super) settings: Vec<Setting>,
    pub(super) includes: Vec<String>,
    pub(super) default_goal: Option<String>,
    pub(super) one_shell: bool,
    /// Something may define rules that are not here.
    pub(super) unknown: bool,
    /// There are more rules than are kept.
    pub(super) cut: bool,
    /// Values given to `SHELL` and `.SHELLFLAGS`.
    shells: Vec<(String, String)>,
    /// The rules whose recipe the next tabbed lines are.
    open: usize,
    conditions: usize,
}

impl Makefile {
    /// Takes in the lines of a file.
    pub(super) fn read(&mut self, lines: &[Line], variables: &mut Variables) {
        for line in lines {
            match line {
                Line::Recipe(text) => self.recipe_line(text, variables),
                Line::Plain(text) => self.plain(text.trim(), variables),
                Line::Define { head, body } => {
                    let (name, flavour) =
                        assignment_head(head).unwrap_or((head, Flavour::Recursive));
                    let name = variables.first(name.trim());
                    variables.assign(&name, flavour, body, self.conditions > 0);
                }
            }
        }
    }

    fn recipe_line(&mut self, text: &str, variables: &mut Variables) {
        let from = self.rules.len().saturating_sub(self.open);
        let mut open = self.rules.iter_mut().skip(from).peekable();
        if open.peek().is_none() {
            // Without a rule before it, a tab is a blank.
            self.plain(text.trim(), variables);
            return;
        }
        for rule in open {
            rule.recipe.push(text.to_owned());
        }
    }

    fn plain(&mut self, line: &str, variables: &mut Variables) {
        if self.directive(line, variables) {
            return;
        }
        let exported = line.starts_with("export");
        let line = without_modifiers(line);
        if let Some((name, flavour, value)) = assignment(line) {
            self.open = 0;
            if exported {
                // What recipes find in their environment is worked out for each of them.
                variables.expand(value);
            }
            self.assign(name, flavour, value, variables);
            return;
        }
        self.open = 0;
        let Some(colon) = find_outside(line, |rest| rest.starts_with(':')) else {
            self.expression(line, variables);
            return;
        };
        self.rule(line, colon, variables);
    }

    fn assign(&mut self, name: &str, flavour: Flavour, value: &str, variables: &mut Variables) {
        let name = variables.first(name);
        if matches!(name.as_str(), "SHELL" | ".SHELLFLAGS") {
            self.shells.push((name.clone(), value.to_owned()));
        }
        variables.assign(&name, flavour, value, self.conditions > 0);
    }

    /// A line that is only references: what they run is noted, what they expand to is read.
    fn expression(&mut self, line: &str, variables: &mut Variables) {
        for expanded in variables.expand(line) {
            let text = expanded.text;
            if text.trim().is_empty() || text == line {
                continue;
            }
            self.unknown |= expanded.unknown;
            for line in logical_lines(&text) {
                if let Line::Plain(line) = line
                    && let Some(colon) = find_outside(&line, |rest| rest.starts_with(':'))
                {
                    self.rule(&line, colon, variables);
                }
            }
        }
    }

    /// Directives; every branch of a condition is taken.
    fn directive(&mut self, line: &str, variables: &mut Variables) -> bool {
        let (word, rest) = line.split_once([' ', '\t', '(']).unwrap_or((line, ""));
        let assigns = rest.trim_start().starts_with(['=', ':', '?', '+', '!']);
        if assigns {
            return false;
        }
        match word {
            "ifeq" | "ifneq" | "ifdef" | "ifndef" => {
                self.conditions += 1;
                variables.expand(rest);
            }
            "else" => {
                variables.expand(rest);
            }
            "endif" => self.conditions = self.conditions.saturating_sub(1),
            "include" | "-include" | "sinclude" => {
                self.open = 0;
                for expanded in variables.expand(rest) {
                    self.includes.extend(list(&expanded.text));
                }
            }
            "load" | "-load" => self.unknown = true,
            "vpath" | "unexport" | "undefine" | "endef" => {}
            "export" if assignment(rest).is_none() => {}
            _ => return false,
        }
        true
    }

    fn rule(&mut self, line: &str, colon: usize, variables: &mut Variables) {
        let (targets, rest) = line.split_at_checked(colon).unwrap_or((line, ""));
        let rest = rest.trim_start_matches(':');
        let targets: Vec<String> = variables
            .expand(targets.trim_end_matches('&'))
            .into_iter()
            .flat_map(|expanded| list(&expanded.text))
            .collect();
        if let Some((name, flavour, value)) = assignment(without_modifiers(rest.trim())) {
            self.set_for(&targets, name, flavour, value, variables);
            return;
        }
        let (rest, first) = match find_outside(rest, |rest| rest.starts_with(';')) {
            Some(at) => rest.split_at_checked(at).unwrap_or((rest, "")),
            None => (rest, ""),
        };
        let (pattern, prerequisites) = match find_outside(rest, |rest| rest.starts_with(':')) {
            Some(at) => rest
                .split_at_checked(at)
                .map_or((None, rest), |(pattern, rest)| {
                    (Some(pattern), rest.trim_start_matches(':'))
                }),
            None => (None, rest),
        };
        let (normal, ordered) = match find_outside(prerequisites, |rest| rest.starts_with('|')) {
            Some(at) => prerequisites
                .split_at_checked(at)
                .unwrap_or((prerequisites, "")),
            None => (prerequisites, ""),
        };
        let prerequisites = format!("{normal} {}", ordered.trim_start_matches('|'));
        let mut rule = Rule {
            prerequisites: variables
                .expand(&prerequisites)
                .into_iter()
                .flat_map(|expanded| list(&expanded.text))
                .collect(),
            static_pattern: pattern.map(|pattern| variables.first(pattern).trim().to_owned()),
            targets,
            recipe: Vec::new(),
        };
        let first = first.trim_start_matches([';', ' ', '\t']);
        if !first.is_empty() {
            rule.recipe.push(first.to_owned());
        }
        self.add(rule);
    }

    fn add(&mut self, mut rule: Rule) {
        self.one_shell |= rule.names(".ONESHELL");
        if let Some((from, to)) = rule.targets.first().and_then(|target| suffix_rule(target)) {
            rule.prerequisites.push(format!("%{from}"));
            rule.targets = vec![format!("%{to}")];
        }
        let first = rule.targets.first();
        let goal = first
            .filter(|name| !name.contains('%') && (!name.starts_with('.') || name.contains('/')));
        if self.default_goal.is_none() {
            self.default_goal = goal.cloned();
        }
        if self.rules.len() >= MAX_RULES {
            self.unknown = true;
            self.cut = true;
            self.open = 0;
            return;
        }
        self.rules.push(rule);
        self.open = 1;
    }

    fn set_for(
        &mut self,
        targets: &[String],
        name: &str,
        flavour: Flavour,
        value: &str,
        variables: &mut Variables,
    ) {
        self.open = 0;
        let name = variables.first(name);
        if matches!(name.as_str(), "SHELL" | ".SHELLFLAGS") {
            self.shells.push((name.clone(), value.to_owned()));
        }
        let value = match flavour {
            Flavour::Recursive | Flavour::IfUnset => value.to_owned(),
            Flavour::Simple => variables.first(value).replace('$', "$$"),
            Flavour::Append => format!("$({name}) {value}"),
            Flavour::Shell => {
                variables.assign("\u{1}", Flavour::Shell, value, false);
                format!("${{{name}}}")
            }
        };
        if self.settings.len() < MAX_RULES {
            let targets = targets.to_vec();
            self.settings.push(Setting {
                targets,
                name,
                value,
            });
        } else {
            self.unknown = true;
            self.cut = true;
        }
    }

    /// What reads the recipes, if the file says; the most unusual of several.
    pub(super) fn shell(&self, variables: &mut Variables) -> Option<String> {
        let mut found: Option<String> = None;
        for (name, value) in &self.shells {
            let value = variables.first(value).trim().to_owned();
            let usual = value
                .rsplit('/')
                .next()
                .is_some_and(|name| matches!(name, "sh" | "bash" | "dash"))
                || (name == ".SHELLFLAGS" && matches!(value.as_str(), "-c" | "-ec" | "-e -c"));
            if found.is_none() || !usual {
                found = Some(value);
            }
        }
        found
    }
}

/// `.c.o`: how one suffix is made from another.
fn suffix_rule(target: &str) -> Option<(String, String)> {
    let rest = target.strip_prefix('.')?;
    let (from, to) = rest.split_once('.')?;
    let is_suffix =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase());
    (is_suffix(from) && is_suffix(to)).then(|| (format!(".{from}"), format!(".{to}")))
}

/// Without `export`, `override` and `private` in front of an assignment.
fn without_modifiers(line: &str) -> &str {
    let mut line = line;
    loop {
        let (word, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        let rest = rest.trim_start();
        if !matches!(word, "export" | "override" | "private") || assignment(rest).is_none() {
            return line;
        }
        line = rest;
    }
}

/// The name, operator and value of an assignment.
fn assignment(line: &str) -> Option<(&str, Flavour, &str)> {
    let at = find_outside(line, |rest| {
        rest.starts_with(':') || OPERATORS.iter().any(|(sign, _)| rest.starts_with(sign))
    })?;
    let (name, rest) = line.split_at_checked(at)?;
    let (flavour, sign) = OPERATORS
        .iter()
        .find_map(|(sign, flavour)| rest.starts_with(sign).then_some((*flavour, *sign)))?;
    let name = name.trim();
    let value = rest.strip_prefix(sign)?.trim_start();
    let is_name = !name.is_empty() && (!name.contains(char::is_whitespace) || name.contains('$'));
    is_name.then_some((name, flavour, value))
}

/// The name and operator behind `define`.
fn assignment_head(head: &str) -> Option<(&str, Flavour)> {
    let (name, flavour, _) = assignment(head)?;
    Some((name, flavour))
}

const OPERATORS: &[(&str, Flavour)] = &[
    (":::=", Flavour::Simple),
    ("::=", Flavour::Simple),
    (":=", Flavour::Simple),
    ("?=", Flavour::IfUnset),
    ("+=", Flavour::Append),
    ("!=", Flavour::Shell),
    ("=", Flavour::Recursive),
];
