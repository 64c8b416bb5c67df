//! What the words of a manifest may say: whatever could cover more than a person sees in it is a fault, not a warning.

use super::manifest::{Manifest, Phase};
use super::open::TOOL;
use super::packages;
use super::reading::Fault;
use crate::catalogue::{self, Effect, Shape};
use crate::glob::Glob;
use crate::offers::{OptionBefore, has_subcommands, option_before};
use crate::policy::HostPattern;
use crate::rules::Program;
use crate::shell::starts_others;
use crate::text::is_invisible;
use crate::timestamp::Timestamp;

/// The longest summary, as the document has it.
const MAX_SUMMARY: usize = 200;

/// The longest word or sentence: nobody reads a longer one before agreeing to it.
const MAX_TEXT: usize = 500;

/// The most declarations of a plan. A person releases it whole, so they must be able to read it whole.
const MAX_WORDS: usize = 300;

/// The most phases.
const MAX_PHASES: usize = 40;

/// The faults found so far.
struct Faults(Vec<Fault>);

impl Faults {
    fn add(&mut self, path: &str, what: impl Into<String>) {
        self.0.push(Fault {
            path: path.split('.').map(str::to_owned).collect(),
            what: what.into(),
        });
    }

    fn text(&mut self, path: &str, text: &str) {
        if text.trim().is_empty() {
            self.add(path, "is empty: say it in a few words");
        } else if text.chars().count() > MAX_TEXT {
            self.add(
                path,
                format!("is longer than {MAX_TEXT} characters: say it shorter"),
            );
        } else if let Some(hidden) = text.chars().find(|c| c.is_control() || is_invisible(*c)) {
            self.add(
                path,
                format!(
                    "holds the character U+{:04X}, which nobody sees: take it out",
                    u32::from(hidden)
                ),
            );
        }
    }

    fn texts<'t>(&mut self, path: &str, texts: impl IntoIterator<Item = &'t String>) {
        for (at, text) in texts.into_iter().enumerate() {
            self.text(&format!("{path}.{at}"), text);
        }
    }

    fn some<T>(&mut self, path: &str, items: &[T]) {
        if items.is_empty() {
            self.add(path, "has nothing in it: give at least one");
        }
    }
}

/// Every fault in what a manifest says.
pub(super) fn faults(manifest: &Manifest) -> Vec<Fault> {
    let mut faults = Faults(Vec::new());
    of_meta(manifest, &mut faults);
    of_objective(manifest, &mut faults);
    faults.texts("constraints", &manifest.constraints);
    of_packages(manifest, &mut faults);
    let phases = &manifest.plan.phases;
    faults.some("plan.phases", phases);
    if phases.len() > MAX_PHASES {
        faults.add(
            "plan.phases",
            format!("has more than {MAX_PHASES} phases: make two plans of it"),
        );
        return faults.0;
    }
    let words: usize = phases.iter().map(declarations).sum();
    if words > MAX_WORDS {
        faults.add(
            "plan.phases",
            format!(
                "declares {words} things, more than the {MAX_WORDS} a person reads before releasing them: make two plans of it"
            ),
        );
        return faults.0;
    }
    for (at, phase) in phases.iter().enumerate() {
        of_phase(&format!("plan.phases.{at}"), phase, &mut faults);
    }
    faults.0
}

fn declarations(phase: &Phase) -> usize {
    let resources = phase.tools_and_resources.iter();
    let paths = &phase.paths;
    phase.commands.len()
        + phase.tools.len()
        + phase.hosts.len()
        + paths.read.len()
        + paths.write.len()
        + paths.delete.len()
        + resources
            .map(|one| one.permissions_required.len())
            .sum::<usize>()
}

fn of_meta(manifest: &Manifest, faults: &mut Faults) {
    let meta = &manifest.meta;
    let named = meta.epic_id.split_once('-').is_some_and(|(name, number)| {
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_uppercase())
            && !number.is_empty()
            && number.chars().all(|c| c.is_ascii_digit())
            && meta.epic_id.len() <= 60
    });
    if !named {
        faults.add(
            "meta.epic_id",
            "is no name of a plan: write capital letters, a hyphen and a number, such as AUTH-12",
        );
    }
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let versioned = (meta.prompt_version.split_once('.'))
        .is_some_and(|(major, minor)| digits(major) && digits(minor));
    if !versioned {
        faults.add(
            "meta.prompt_version",
            "is no version: write two numbers with a point, such as 1.0",
        );
    }
    if Timestamp::parse(&meta.created_at).is_none() {
        faults.add(
            "meta.created_at",
            "is no moment: write one such as 2026-11-19T08:00:00Z",
        );
    }
    faults.text("meta.agent_version", &meta.agent_version);
}

fn of_objective(manifest: &Manifest, faults: &mut Faults) {
    let objective = &manifest.objective;
    faults.text("objective.summary", &objective.summary);
    let length = objective.summary.chars().count();
    if length > MAX_SUMMARY && length <= MAX_TEXT {
        faults.add(
            "objective.summary",
            format!("has {length} characters: say it in {MAX_SUMMARY}"),
        );
    }
    faults.some("objective.user_stories", &objective.user_stories);
    faults.some("objective.success_criteria", &objective.success_criteria);
    faults.texts("objective.success_criteria", &objective.success_criteria);
    for (at, story) in objective.user_stories.iter().enumerate() {
        let path = format!("objective.user_stories.{at}");
        for (key, text) in [
            ("as_a", &story.as_a),
            ("i_want", &story.i_want),
            ("so_that", &story.so_that),
        ] {
            faults.text(&format!("{path}.{key}"), text);
        }
        let criteria = format!("{path}.acceptance_criteria");
        faults.some(&criteria, &story.acceptance_criteria);
        faults.texts(&criteria, &story.acceptance_criteria);
    }
}

fn of_packages(manifest: &Manifest, faults: &mut Faults) {
    for (at, package) in manifest.dependencies.new_packages.iter().enumerate() {
        let path = format!("dependencies.new_packages.{at}");
        let managers = packages::managers();
        if !managers.contains(&package.manager.as_str()) {
            faults.add(
                &format!("{path}.manager"),
                format!(
                    "is nothing that installs packages: one of {}",
                    managers.join(", ")
                ),
            );
        } else if packages::commands(package).is_none() {
            faults.add(
                &format!("{path}.name"),
                "is no name of a package in a registry: write the name alone, such as serde",
            );
        }
        faults.text(&format!("{path}.justification"), &package.justification);
    }
}

fn of_phase(path: &str, phase: &Phase, faults: &mut Faults) {
    faults.text(&format!("{path}.name"), &phase.name);
    faults.texts(&format!("{path}.tasks"), &phase.tasks);
    for (at, command) in phase.commands.iter().enumerate() {
        of_command(&format!("{path}.commands.{at}"), command, faults);
    }
    for (at, tool) in phase.tools.iter().enumerate() {
        of_tool(&format!("{path}.tools.{at}"), tool, faults);
    }
    for (at, host) in phase.hosts.iter().enumerate() {
        of_host(&format!("{path}.hosts.{at}"), host, faults);
    }
    let paths = &phase.paths;
    for (key, patterns) in [
        ("read", &paths.read),
        ("write", &paths.write),
        ("delete", &paths.delete),
    ] {
        for (at, pattern) in patterns.iter().enumerate() {
            of_path(&format!("{path}.paths.{key}.{at}"), pattern, faults);
        }
    }
    for (at, resource) in phase.tools_and_resources.iter().enumerate() {
        let path = format!("{path}.tools_and_resources.{at}");
        faults.text(&format!("{path}.name"), &resource.name);
        for (at, needed) in resource.permissions_required.iter().enumerate() {
            let path = format!("{path}.permissions_required.{at}");
            match needed.strip_prefix("tool:") {
                Some(tool) => of_tool(&path, tool, faults),
                None => of_command(&path, needed, faults),
            }
        }
    }
}

/// Whether a word says several things.
pub(super) fn is_wild(word: &str) -> bool {
    word.contains(['*', '?', '['])
}

/// A pattern for commands must say which program, and leave nothing open that a program takes for another command.
fn of_command(path: &str, pattern: &str, faults: &mut Faults) {
    faults.text(path, pattern);
    let words: Vec<&str> = pattern.split_whitespace().collect();
    let Some(program) = words.first() else {
        return;
    };
    if is_wild(program) || program.contains(['(', '$', '`', '=']) {
        faults.add(
            path,
            "does not say which program it is about: begin with its name, without wildcards",
        );
        return;
    }
    let fixed: Vec<&str> = words
        .iter()
        .copied()
        .take_while(|word| !is_wild(word))
        .collect();
    let open = fixed.len() < words.len();
    if open && starts_others(&fixed) {
        faults.add(
            path,
            format!(
                "leaves open what `{program}` runs, which can be anything: write the command without wildcards"
            ),
        );
    } else if open && leaves_open(program, &words) {
        faults.add(
            path,
            format!("leaves open what `{program}` does: name its subcommand, such as `{program} status *`"),
        );
    }
}

/// Whether a pattern with wildcards does not say what its program does: the subcommand, for one that has any, must stand
/// there whole and behind nothing that may be several words; for another that does different things, the next word must
/// begin with something.
fn leaves_open(program: &str, words: &[&str]) -> bool {
    let name = crate::paths::installed_name(program);
    let Some(known) = crate::rules::program(name) else {
        return false;
    };
    if has_subcommands(name, known) {
        let subcommand = behind_options(words, known).and_then(|at| words.get(at));
        return !subcommand.is_some_and(|word| !is_wild(word) && begins_plainly(word));
    }
    let open = words
        .get(1)
        .is_some_and(|word| is_wild(word) && !begins_plainly(word));
    open && !known.cases.is_empty()
}

/// Whether a word says something before any wildcard: `test*`.
fn begins_plainly(word: &str) -> bool {
    word.chars()
        .next()
        .is_some_and(|c| c.is_ascii_alphanumeric())
}

/// The place of the word behind the options in front of a subcommand. None if one is wild, which may be any words, or nothing
/// says whether the next word is its value.
fn behind_options(words: &[&str], program: &Program) -> Option<usize> {
    let mut at = 1;
    while let Some(option) = words.get(at).filter(|word| word.starts_with(['-', '+'])) {
        if is_wild(option) {
            return None;
        }
        at += match option_before(option, program) {
            OptionBefore::Alone => 1,
            OptionBefore::WithValue if !is_wild(words.get(at + 1)?) => 2,
            OptionBefore::WithValue | OptionBefore::Unknown => return None,
        };
    }
    Some(at)
}

/// A tool by name must be one whose name says all that is to be covered.
fn of_tool(path: &str, name: &str, faults: &mut Faults) {
    faults.text(path, name);
    let glob = Glob::new(name);
    if is_wild(name) && !names_server(name) {
        faults.add(
            path,
            "does not say which tools it is about: begin with the whole name of their server, such as mcp__tracker__*",
        );
        return;
    }
    if name.contains(['(', ' ']) {
        faults.add(path, "is no name of a tool: write the name alone");
        return;
    }
    let known = catalogue::tool_names()
        .filter(|known| glob.matches(known) || known.eq_ignore_ascii_case(name));
    let known: Vec<&str> = known
        .chain(catalogue::tool_named(name).map(|tool| tool.name))
        .collect();
    for tool in known {
        let hint = match (catalogue::shape(tool), catalogue::effect(tool)) {
            _ if tool == TOOL => "no plan opens plans",
            (Shape::Shell { .. }, _) | (Shape::Plain, Effect::Execute) => {
                "declare its commands under `commands`"
            }
            (Shape::Plain, Effect::Write | Effect::Delete) => "declare its files under `paths`",
            (Shape::Plain, Effect::None | Effect::Read | Effect::Unknown) => continue,
        };
        faults.add(
            path,
            format!("covers `{tool}` whatever it is given, so it says nothing: {hint}"),
        );
        return;
    }
}

/// Whether the name of several tools says whose they are, to the last letter: `mcp__tracker__get_*`.
fn names_server(name: &str) -> bool {
    let fixed = name.split(['*', '?', '[']).next().unwrap_or_default();
    (fixed.strip_prefix("mcp__"))
        .and_then(|rest| rest.split_once("__"))
        .is_some_and(|(server, _)| !server.is_empty())
}

fn of_host(path: &str, host: &str, faults: &mut Faults) {
    faults.text(path, host);
    let open = host
        .split(['.', ':'])
        .filter(|label| !label.is_empty())
        .rev()
        .take(2)
        .any(|label| {
            label.contains('*') && host.rsplit_once(':').is_none_or(|(_, port)| port != label)
        });
    if open || host.starts_with('@') {
        faults.add(
            path,
            "does not say which hosts it is about: write a name, such as api.example.com or .example.com",
        );
    } else if let Err(problem) = HostPattern::read(host) {
        faults.add(path, format!("cannot be used: {problem}"));
    }
}

/// A place must lie somewhere: in the workspace, or below a directory that is named.
fn of_path(path: &str, pattern: &str, faults: &mut Faults) {
    faults.text(path, pattern);
    let steps: Vec<&str> = pattern.split('/').collect();
    if steps.contains(&"..") || pattern.starts_with('!') {
        faults.add(
            path,
            "is no plain path: write where it lies, without `..` or `!`",
        );
        return;
    }
    let outside = pattern.starts_with(['/', '~']);
    let mut named = steps.iter().skip(1).filter(|step| !step.is_empty());
    if outside && named.next().is_none_or(|step| is_wild(step)) {
        faults.add(
            path,
            "is everything there is: name a directory outside the workspace, such as /var/tmp/build",
        );
    } else if pattern.starts_with('~') && !pattern.starts_with("~/") {
        faults.add(path, "is somebody else's home: write ~/ or a whole path");
    }
}
