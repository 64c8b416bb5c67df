//! What `make GOAL` would run, from the text of a makefile.
//!
//! The reader follows GNU make as far as it goes without looking at files: every rule of a wanted
//! target counts as out of date, every branch of a condition as taken, and a variable set in
//! several branches gives a line for each value. What it cannot know is left as a shell variable in
//! the line and marked; `eval`, built-in rules and included files are reported as unknown.

mod evals;
mod functions;
mod lines;
mod rules;
#[cfg(test)]
mod tests;
mod variables;
mod words;

use std::collections::HashSet;

pub(crate) use evals::evals;
use lines::logical_lines;
use rules::{Makefile, Rule};
use variables::Variables;

use crate::budget::MAX_FILE;

/// Targets followed; each may look at every rule. Beyond this and the limits below, the recipe is
/// said to be cut.
const MAX_TARGETS: usize = 200;
/// Prerequisites of prerequisites followed.
const MAX_DEPTH: usize = 40;
/// Lines listed.
const MAX_LINES: usize = 2_000;

/// What a call of make would run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recipe {
    /// The shell lines, in order: first what runs while the file is read.
    pub(crate) lines: Vec<RecipeLine>,
    /// Files that are read as part of this one, as far as their names are known.
    pub(crate) includes: Vec<String>,
    /// More may run than is listed.
    pub(crate) unknown: bool,
    /// More is in the file than is read: what may run besides stands in it all the same.
    pub(crate) cut: bool,
    /// What reads the lines, where the file sets `SHELL` or `.SHELLFLAGS`.
    pub(crate) shell_override: Option<String>,
}

/// One line that make hands to a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecipeLine {
    /// The line, ready for a shell: make's variables are put in, `@`, `-` and `+` taken off.
    pub(crate) text: String,
    /// The target it makes; none for what runs while the file is read.
    pub(crate) target: Option<String>,
    /// Something make would put in is not known, and stands as `${NAME}` in the text. make puts it
    /// in before a shell reads the line, so that it may hold more than one word.
    pub(crate) unknown: bool,
}

/// Whether a file makes make load a library, or run code of the language that is built into it.
pub(crate) fn extends_make(text: &str) -> bool {
    text.contains("$(guile")
        || text.contains("${guile")
        || text.lines().any(|line| {
            let directive = line.trim_start_matches([' ', '-']);
            directive.starts_with("load ") || directive.starts_with("load\t")
        })
}

/// What making `goals`, or the default goal, would run with these variables given to make.
pub(crate) fn recipe(text: &str, goals: &[&str], overrides: &[(&str, &str)]) -> Recipe {
    let whole = text.len() <= MAX_FILE;
    let text = text
        .get(..text.floor_char_boundary(MAX_FILE))
        .unwrap_or(text);
    let mut variables = Variables::new(overrides);
    let mut makefile = Makefile::default();
    makefile.read(&logical_lines(text), &mut variables);
    let mut making = Making {
        makefile: &makefile,
        variables,
        recipe: Recipe {
            unknown: !whole || makefile.unknown,
            cut: !whole || makefile.cut,
            ..Recipe::default()
        },
        made: HashSet::new(),
    };
    making.flush(None);
    making.goals(goals);
    making.finish()
}

/// A run of make.
struct Making<'m> {
    makefile: &'m Makefile,
    variables: Variables,
    recipe: Recipe,
    made: HashSet<String>,
}

impl Making<'_> {
    fn goals(&mut self, goals: &[&str]) {
        // make first brings its own files up to date.
        for name in ["GNUmakefile", "makefile", "Makefile"] {
            self.remake(name);
        }
        for name in &self.makefile.includes {
            self.remake(name);
        }
        if goals.is_empty() {
            let set = self.variables.value(".DEFAULT_GOAL");
            match set.or_else(|| self.makefile.default_goal.clone()) {
                Some(goal) => self.make(goal.trim(), MAX_DEPTH),
                None => self.recipe.unknown |= !self.makefile.includes.is_empty(),
            }
        }
        for goal in goals {
            self.make(goal, MAX_DEPTH);
        }
    }

    fn remake(&mut self, name: &str) {
        if self.makefile.rules.iter().any(|rule| rule.names(name)) {
            self.make(name, MAX_DEPTH);
        }
    }

    /// Lists what making `target` runs, prerequisites first.
    fn make(&mut self, target: &str, left: usize) {
        if self.made.contains(target) {
            return;
        }
        if left == 0 || self.made.len() >= MAX_TARGETS || self.is_full() {
            self.recipe.unknown = true;
            self.recipe.cut = true;
            return;
        }
        self.made.insert(target.to_owned());
        let makefile = self.makefile;
        let own: Vec<(&Rule, String)> = makefile
            .rules
            .iter()
            .filter_map(|rule| Some((rule, rule.matches(target)?)))
            .collect();
        let explicit = own
            .iter()
            .any(|(rule, _)| !rule.is_pattern() && !rule.recipe.is_empty());
        let mut runs = false;
        let mut known = false;
        for (rule, stem) in own {
            // A recipe of its own is preferred to a pattern's.
            if rule.is_pattern() && explicit {
                continue;
            }
            known = true;
            runs |= !rule.recipe.is_empty();
            self.rule(rule, target, Some(&stem), left);
        }
        if !runs && let Some(rule) = makefile.rules.iter().find(|rule| rule.names(".DEFAULT")) {
            self.rule(rule, target, None, left);
        } else if !known && !looks_like_source(target) {
            // A built-in rule, a rule of an included file, or a file that is there.
            self.recipe.unknown |= left == MAX_DEPTH || !self.makefile.includes.is_empty();
        }
    }

    fn rule(&mut self, rule: &Rule, target: &str, stem: Option<&str>, left: usize) {
        let prerequisites = rule.prerequisites_for(stem);
        for prerequisite in &prerequisites {
            if prerequisite.contains('$') {
                self.recipe.unknown = true;
            }
            self.make(prerequisite, left - 1);
        }
        self.variables.enter(target, &prerequisites, stem);
        for (name, value) in makefile_settings(self.makefile, target) {
            self.variables.set_local(name, value);
        }
        let mut lines = Vec::new();
        for line in &rule.recipe {
            self.line(line, target, &mut lines);
        }
        self.variables.leave();
        if self.makefile.one_shell && lines.len() > 1 {
            let unknown = lines.iter().any(|line| line.unknown);
            let text: Vec<String> = lines.into_iter().map(|line| line.text).collect();
            lines = vec![RecipeLine {
                text: text.join("\n"),
                target: Some(target.to_owned()),
                unknown,
            }];
        }
        for line in lines {
            self.push(line);
        }
    }

    /// One line of a recipe: each value its variables can have, each line of a `define` in it.
    fn line(&mut self, line: &str, target: &str, lines: &mut Vec<RecipeLine>) {
        for expanded in self.variables.expand(line) {
            for text in recipe_lines(&expanded.text) {
                let text = text.trim_start_matches(|char: char| "@-+ \t".contains(char));
                if !text.is_empty() {
                    let target = Some(target.to_owned());
                    lines.push(RecipeLine {
                        text: text.to_owned(),
                        target,
                        unknown: expanded.unknown,
                    });
                }
            }
        }
        self.flush(Some(target));
    }

    /// Lists the commands of `$(shell …)` met since the last time.
    fn flush(&mut self, target: Option<&str>) {
        for (text, unknown) in self.variables.take_commands() {
            self.push(RecipeLine {
                text,
                target: target.map(str::to_owned),
                unknown,
            });
        }
    }

    fn push(&mut self, line: RecipeLine) {
        if self.is_full() {
            self.recipe.unknown = true;
            self.recipe.cut = true;
        } else {
            self.recipe.lines.push(line);
        }
    }

    fn is_full(&self) -> bool {
        self.recipe.lines.len() >= MAX_LINES
    }

    fn finish(mut self) -> Recipe {
        self.recipe.unknown |= self.variables.unknown();
        self.recipe.cut |= self.variables.is_cut();
        self.recipe.includes = self.makefile.includes.clone();
        self.recipe.shell_override = self.makefile.shell(&mut self.variables);
        self.recipe
    }
}

/// Variables set for one target only.
fn makefile_settings<'m>(makefile: &'m Makefile, target: &str) -> Vec<(&'m str, &'m str)> {
    makefile
        .settings
        .iter()
        .filter(|setting| setting.is_for(target))
        .map(|setting| (setting.name.as_str(), setting.value.as_str()))
        .collect()
}

/// A file that people write is no target: nothing is made when there is no rule for it.
fn looks_like_source(target: &str) -> bool {
    target
        .rsplit_once('.')
        .is_some_and(|(_, suffix)| suffix.len() <= 5)
}

/// The lines of an expanded recipe line; a backslash joins the next to it.
fn recipe_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut joined = false;
    for line in text.split('\n') {
        match lines.last_mut() {
            Some(last) if joined => {
                last.push('\n');
                last.push_str(line);
            }
            _ => lines.push(line.to_owned()),
        }
        joined = lines::ends_in_backslash(line);
    }
    lines
}
