//! Scripts and settings that are merely handed to a program: behind a flag, in a variable, as `key=value`.
//!
//! Which flag of which program runs what it is given nobody can list (`--terragrunt-tfpath`, `-extld`,
//! `--kubeconfig` with an `exec:` in it). So whatever the agent wrote and hands over like that is supposed to run: a
//! question where a line of it would be refused, and silence otherwise. The same holds for the hooks git starts by
//! itself, whoever wrote them.

use std::sync::Arc;

use super::contents::{format_of, reader_of};
use super::search::MAX_WALKED;
use crate::opaque::Reason;
use crate::paths::{Entry, MAX_PATH, base_name, is_within};
use crate::project_files::settings::quoted;
use crate::project_files::{literals, settings};
use crate::rules::{self, HOOKED, READ_ONLY, Reader, SHELLS};
use crate::shell::Text;
use crate::shell::files::tidy;
use crate::shell::input::Input;
use crate::shell::interpreters;
use crate::shell::scripts::{Asks, ScriptSource};
use crate::shell::unwrapping::Unwrapped;
use crate::shell::wrappers;
use crate::supposed;

/// Files of the agent's that are read for one command; one that is handed more is a question.
const MAX_HANDED: usize = 16;
/// Paths of one command that are looked up: each is a look at the disk. Programs are handed a few, and lists of
/// files to work on are operands, which do not count. A command that is handed more is a question.
const MAX_LOOKED_UP: usize = 256;
/// The longest word that may hold a path: code that is given inline has its reader. A path alone is never longer.
const MAX_WORD: usize = 2 * MAX_PATH;
/// Lines of one file of settings that are supposed; more are a question.
const MAX_LINES: usize = 64;
/// The longest script that is supposed to run; a longer one in a shell's language is a question.
const MAX_SCRIPT: usize = 64 << 10;
/// Files of a directory of plugins or hooks that are looked at; nobody keeps more of them by hand, and more are a question.
const MAX_IN_DIRECTORY: usize = 32;
/// Directories above the one a command runs in that may be the repository's.
const MAX_ABOVE: usize = 24;

/// What is in the names of flags, keys and variables whose values run, or say what runs.
const RUNNING: &[&str] = &[
    "browser",
    "cmd",
    "command",
    "compiler",
    "config",
    "conmon",
    "credential",
    "driver",
    "editor",
    "exec",
    "extld",
    "externaltype",
    "flags",
    "helper",
    "hook",
    "launcher",
    "linker",
    "pager",
    "plugin",
    "prog",
    "python",
    "rsh",
    "runner",
    "runtime",
    "settings",
    "shell",
    "ssh",
    "tool",
    "viewer",
    "wrapper",
];
/// What is in the names of those whose values are directories of what runs.
const HOLDING: &[&str] = &[
    "hook",
    "plugin",
    "module",
    "librar",
    "extension",
    "toolchain",
    "template",
    "exec-path",
    "exec_path",
    "checks",
    "rules",
];
/// Endings of texts for people, and of data nobody is told by.
const PROSE: &[&str] = &[
    ".md", ".txt", ".rst", ".adoc", ".html", ".htm", ".log", ".csv", ".tsv", ".diff", ".patch",
    ".svg", ".lock", ".sql", ".out", ".example", ".sample",
];
/// Files of task runners whose texts are command lines, though they are written in a language that has a reader.
const RECIPES: &[&str] = &[
    "Package.swift",
    "codegen.ts",
    "dodo.py",
    "ecosystem.config.cjs",
    "ecosystem.config.js",
    "lint-staged.config.js",
    "package-scripts.js",
    "terragrunt.hcl",
];
/// Where hooks lie that a manager of them runs.
const MANAGED: &str = ".husky";

/// What a command hands to its program.
struct Handed<'w> {
    /// The flag, key or variable; nothing for an operand.
    by: &'w str,
    value: &'w str,
}

impl Handed<'_> {
    fn is_called(&self, names: &[&str]) -> bool {
        let by = self.by.to_ascii_lowercase();
        names.iter().any(|name| by.contains(name))
    }

    fn may_be_path(&self) -> bool {
        self.value.len() <= MAX_WORD && may_be_path(self.value)
    }
}

/// Whether there is a sign in a text that every path has which is looked up.
fn may_be_path(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, b'/' | b'.'))
}

/// Supposes that a command's program runs what it is handed.
pub(super) fn suppose(command: &mut Unwrapped<'_, '_>, name: &str) {
    if command.listing.around.is_none() || READ_ONLY.contains(name) {
        return;
    }
    command.hooks(name);
    command.fed_lines(name);
    let assigned = command.listing.commands.get(command.place);
    let assigned = assigned.into_iter().flat_map(|listed| &listed.assignments);
    let values = assigned.clone().map(|one| &one.value);
    // Most commands are handed nothing that could be a path.
    let mut texts = command.rest(1).iter().map(|word| &word.text).chain(values);
    if !texts.any(|word| may_be_path(&word.text)) {
        return;
    }
    let words: Vec<String> = match passes_over(name) {
        true => Vec::new(),
        false => command
            .rest(1)
            .iter()
            .map(|word| beside(&word.text))
            .collect(),
    };
    let assignments: Vec<(String, String)> = assigned
        .map(|one| (one.name.clone(), beside(&one.value)))
        .collect();
    let mut handed = among_words(name, &words);
    let assignments = assignments.iter().map(|(by, value)| Handed { by, value });
    handed.extend(assignments.filter(Handed::may_be_path));
    if handed.is_empty() {
        return;
    }
    let mut reading = Reading {
        looked_up: 0,
        read: 0,
    };
    for one in &handed {
        for path in paths_in(one.value) {
            command.handed_path(one, path, &mut reading);
        }
    }
    if reading.read > MAX_HANDED {
        command.mark(Reason::OverBudget);
    }
}

/// A word with the directory the shell is in left out where it stands for that; nothing of one that is not known.
fn beside(word: &Text) -> String {
    match word.dynamic {
        true => ["$PWD/", "${PWD}/", "$(pwd)/", "`pwd`/"]
            .iter()
            .fold(word.text.clone(), |text, here| text.replace(here, "./")),
        false => word.text.clone(),
    }
}

/// How much was looked at for one command.
struct Reading {
    looked_up: usize,
    read: usize,
}

/// Programs whose words have a reader of their own, or name no files.
fn passes_over(name: &str) -> bool {
    SHELLS.contains(name)
        || matches!(name, "." | "source" | "eval" | "trap" | "[[" | "alias")
        || interpreters::is_interpreter(name)
        || wrappers::find(name, None).is_some()
}

/// The values among the words of a program. Of one that takes its words for data only those count whose names say
/// that they run, or what runs.
fn among_words<'w>(name: &str, words: &'w [String]) -> Vec<Handed<'w>> {
    let data = supposed::is_data(name);
    let described = data
        || rules::program(name).is_some()
        || rules::loads(name).is_some()
        || interpreters::is_interpreter(name)
        || name.contains('/');
    let first = words.iter().find(|word| !word.starts_with('-'));
    let configures =
        first.is_some_and(|word| matches!(word.as_str(), "config" | "settings" | "set"));
    let mut found = Vec::new();
    let mut before: Option<&str> = None;
    for word in words {
        let flag_before = before.take();
        let glued = word
            .split_once('=')
            .filter(|(key, _)| !key.contains(['/', ' ']))
            // A line that begins with an assignment is a text.
            .filter(|(key, _)| key.starts_with('-') || !word.contains(char::is_whitespace));
        let one = match (word.strip_prefix('-'), glued) {
            (_, Some((by, value))) => Handed { by, value },
            (Some(letters), None) if !letters.starts_with('-') && letters.contains(['/', '.']) => {
                // `-B./tools`, `-otools/x`
                let at = letters
                    .char_indices()
                    .nth(1)
                    .map_or(letters.len(), |(at, _)| at);
                let (by, value) = letters.split_at_checked(at).unwrap_or((letters, ""));
                Handed { by, value }
            }
            (Some(_), None) => {
                before = Some(word);
                // `--cc:./x`
                match word.split_once(':') {
                    Some((by, value)) => Handed { by, value },
                    None => continue,
                }
            }
            (None, None) => Handed {
                by: flag_before.unwrap_or_default(),
                value: word,
            },
        };
        if !one.may_be_path() {
            continue;
        }
        let counts = match data {
            true => configures || one.is_called(RUNNING),
            false => !one.by.is_empty() || !described,
        };
        if counts {
            found.push(one);
        }
    }
    found
}

/// What may be paths in a value: `-linkmode=external -extld=./x`, `protoc-gen-y=./x`, `a:b`.
fn paths_in(value: &str) -> impl Iterator<Item = &str> {
    let between = |letter: char| letter.is_whitespace() || "=,:;|!@'\"`()[]{}<>".contains(letter);
    value.split(between).filter(|part| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./~+".contains(&byte);
        (2..=MAX_PATH).contains(&part.len())
            && part.contains(['/', '.'])
            && !part.starts_with(['-', '~'])
            && !part.starts_with("//")
            && part.bytes().any(|byte| byte.is_ascii_alphabetic())
            && part.bytes().all(plain)
    })
}

impl Unwrapped<'_, '_> {
    /// Supposes that a program nobody has described runs the lines it is given to read, as a shell or a scheduler does.
    fn fed_lines(&mut self, name: &str) {
        let described = supposed::is_data(name)
            || rules::program(name).is_some()
            || rules::loads(name).is_some()
            || passes_over(name);
        let Input::Known(text) = &self.start.input else {
            return;
        };
        if described || self.listing.file.is_some() {
            return;
        }
        if text.len() > MAX_SCRIPT {
            self.mark(Reason::OverBudget);
            return;
        }
        let lines: Vec<String> = text
            .lines()
            .filter(|line| supposed::is_line(line))
            .map(str::to_owned)
            .collect();
        if lines.len() > MAX_LINES {
            self.mark(Reason::OverBudget);
        }
        for line in lines.into_iter().take(MAX_LINES) {
            self.may_run(line);
        }
    }

    /// Reads what a value may name, if the agent wrote it.
    fn handed_path(&mut self, one: &Handed<'_>, path: &str, reading: &mut Reading) {
        if reading.looked_up >= MAX_LOOKED_UP {
            self.mark(Reason::OverBudget);
            return;
        }
        if reading.read > MAX_HANDED {
            // Its reader asks about that in the end.
            return;
        }
        reading.looked_up += 1;
        let Some(around) = self.listing.around else {
            return;
        };
        let names = self.listing.environment.names_of(path);
        let Some(real) = names.first().and_then(|name| around.resolve(name).ok()) else {
            return;
        };
        let written = self.written_in_line().contains(&real);
        match around.lookup.entry(&real) {
            Entry::Directory if one.is_called(HOLDING) => {
                for name in self.files_in(&real) {
                    self.handed_file(&format!("{}/{name}", tidy(path)), false, reading);
                }
            }
            Entry::Directory => {}
            // What a program of the line brings there is no text that stands in the line.
            Entry::Missing if !written => {
                let brings = |one: &ScriptSource| {
                    matches!(
                        one,
                        ScriptSource::From(_) | ScriptSource::Unread(Reason::ChangedBefore)
                    )
                };
                if format_of(base_name(path)) == Some(Reader::Shell)
                    && self.look_up(path, Asks::Project).iter().any(brings)
                {
                    self.mark(Reason::ChangedBefore);
                }
            }
            Entry::Missing | Entry::Other | Entry::Link(_) | Entry::Unreadable => {
                self.handed_file(path, true, reading);
            }
        }
    }

    /// Reads one file of the agent's as what may run; settings only where they are.
    fn handed_file(&mut self, path: &str, settings: bool, reading: &mut Reading) {
        if reading.read > MAX_HANDED || !self.is_agents(path) {
            return;
        }
        reading.read += 1;
        let name = base_name(path);
        let found = self.look_up(path, Asks::Project);
        let mut texts = Vec::new();
        for one in found {
            match one {
                ScriptSource::Text { text, .. } => texts.push(text),
                // A script the line itself brings from elsewhere; what else it writes so is rather data.
                ScriptSource::From(_) | ScriptSource::Unread(Reason::ChangedBefore)
                    if format_of(name) == Some(Reader::Shell) =>
                {
                    self.mark(Reason::ChangedBefore);
                }
                ScriptSource::From(_)
                | ScriptSource::Unread(_)
                | ScriptSource::Compiled
                | ScriptSource::Built
                | ScriptSource::Missing => {}
            }
        }
        for text in texts {
            match self.as_line(name, &text) {
                Some(line) => self.may_run(line),
                None if settings && !PROSE.iter().any(|end| name.ends_with(end)) => {
                    self.may_be_told(&text, reading);
                }
                None => {}
            }
        }
    }

    /// A script as a line that runs it; none if it is no script.
    fn as_line(&mut self, name: &str, text: &Arc<str>) -> Option<String> {
        let runner = match reader_of(name, text, None)? {
            Reader::Shell => {
                if text.len() > MAX_SCRIPT {
                    self.mark(Reason::OverBudget);
                    return None;
                }
                return Some(text.to_string());
            }
            Reader::Python if !name.ends_with(".ipynb") => "python3 -c",
            Reader::Javascript => "node -e",
            Reader::Ruby => "ruby -e",
            Reader::Perl => "perl -e",
            Reader::Php => "php -r",
            Reader::Lua => "lua -e",
            Reader::Python
            | Reader::Awk
            | Reader::Vim
            | Reader::Sed
            | Reader::Package
            | Reader::Compose
            | Reader::Manifest
            | Reader::Lines
            | Reader::Literals
            | Reader::Unread => return None,
        };
        if text.len() > MAX_SCRIPT {
            self.mark(Reason::OverBudget);
            return None;
        }
        let code = text.trim_start_matches("<?php");
        Some(format!("{runner} {}", quoted(code)))
    }

    /// The names of the files in a directory of plugins or hooks, without those nobody starts.
    fn files_in(&mut self, directory: &str) -> Vec<String> {
        let Some(around) = self.listing.around else {
            return Vec::new();
        };
        let Some(names) = around.lookup.names(directory, MAX_WALKED) else {
            // Where no directory is, nothing was left out.
            if around.lookup.entry(directory) == Entry::Directory {
                self.mark(Reason::OverBudget);
            }
            return Vec::new();
        };
        let mut files: Vec<String> = (names.into_iter())
            .filter(|(name, is_directory)| !is_directory && !name.ends_with(".sample"))
            .map(|(name, _)| name)
            .collect();
        if files.len() > MAX_IN_DIRECTORY {
            self.mark(Reason::OverBudget);
            files.sort();
            files.truncate(MAX_IN_DIRECTORY);
        }
        files
    }

    /// Supposes that texts in a recipe of the agent's run, whatever language it is written in.
    pub(super) fn recipe(&mut self, real: &str, text: &str) {
        if RECIPES.contains(&base_name(real)) {
            let mut reading = Reading {
                looked_up: 0,
                read: 0,
            };
            self.may_be_told(text, &mut reading);
        }
    }

    /// Supposes that lines of settings run, and scripts of the agent's that they name.
    fn may_be_told(&mut self, text: &str, reading: &mut Reading) {
        let mut lines = settings::command_lines(text).lines;
        lines.extend(literals::read(text).lines);
        lines.extend(text.lines().flat_map(behind_key));
        let mut kept: Vec<String> = Vec::new();
        for line in lines {
            let first = line.split_whitespace().next().unwrap_or_default();
            if first.starts_with("./") && reading.read <= MAX_HANDED {
                self.handed_file(first, false, reading);
            }
            if supposed::is_line(&line) && !kept.contains(&line) {
                kept.push(line);
            }
        }
        if kept.len() > MAX_LINES {
            self.mark(Reason::OverBudget);
        }
        for line in kept.into_iter().take(MAX_LINES) {
            self.may_run(line);
        }
    }

    fn may_run(&mut self, line: String) {
        let one = (self.place, line);
        if !self.listing.may_run.contains(&one) {
            self.listing.may_run.push(one);
        }
    }

    pub(super) fn texts_of(&mut self, path: &str) -> Vec<Arc<str>> {
        // What was not written in the text has no words but those on the disk, whatever commands may change it.
        let found = match self.listing.environment.files.is_empty() {
            true => {
                // A loop around it is read again all the same.
                self.listing.looked_up += 1;
                self.look_up_on_disk(path)
            }
            false => self.look_up(path, Asks::Project),
        };
        found
            .into_iter()
            .filter_map(|found| match found {
                ScriptSource::Text { text, .. } => Some(text),
                ScriptSource::From(_)
                | ScriptSource::Unread(_)
                | ScriptSource::Compiled
                | ScriptSource::Built
                | ScriptSource::Missing => None,
            })
            .collect()
    }

    /// The hooks a command of git starts, as far as they lie where it looks for them.
    fn hooks(&mut self, name: &str) {
        let Some((_, words)) = HOOKED.iter().find(|(program, _)| *program == name) else {
            return;
        };
        let said = words.is_empty()
            || self
                .rest(1)
                .iter()
                .any(|word| words.contains(&word.unquoted()));
        let Some(root) = said.then(|| self.repository()).flatten() else {
            return;
        };
        let configured = self
            .texts_of(&format!("{root}/.git/config"))
            .iter()
            .find_map(|config| hooks_path(config).map(str::to_owned));
        let directory = match configured {
            Some(path) if path.starts_with('/') => path,
            Some(path) => format!("{root}/{}", tidy(&path)),
            None => format!("{root}/.git/hooks"),
        };
        for directory in [directory, format!("{root}/{MANAGED}")] {
            for hook in self.files_in(&directory) {
                let path = format!("{directory}/{hook}");
                // Those of a project that has committed them are the person's.
                if self.is_persons(&path) {
                    continue;
                }
                for text in self.texts_of(&path) {
                    let line = match format_of(&hook) {
                        Some(_) => self.as_line(&hook, &text),
                        None if text.starts_with("#!") => self.as_line(&hook, &text),
                        // Hooks without a first line are the shell's.
                        None => Some(text.to_string()),
                    };
                    match line {
                        Some(line) if line.len() <= MAX_SCRIPT => self.may_run(line),
                        Some(_) => self.mark(Reason::OverBudget),
                        None => {}
                    }
                }
            }
        }
    }

    /// The directory of the repository a command runs in, if `.git` in it is one; looked for up to the workspace, or
    /// where the command runs if that lies elsewhere.
    fn repository(&self) -> Option<String> {
        let around = self.listing.around?;
        let base = self.listing.environment.names_of(".").into_iter().next()?;
        let base = if base.is_empty() { "." } else { &base };
        let mut place = around.resolve(base).ok()?;
        for _ in 0..MAX_ABOVE {
            match around.lookup.entry(&format!("{place}/.git")) {
                Entry::Directory => return Some(place),
                // Of a work tree elsewhere.
                Entry::Other | Entry::Link(_) | Entry::Unreadable => return None,
                Entry::Missing => {}
            }
            let (above, _) = place.rsplit_once('/')?;
            if !around.workspace.is_some_and(|top| is_within(above, top)) {
                return None;
            }
            place = above.to_owned();
        }
        None
    }
}

/// Where a repository's settings say that hooks lie.
fn hooks_path(config: &str) -> Option<&str> {
    config.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        let named = key.trim().eq_ignore_ascii_case("hookspath");
        named.then(|| value.trim().trim_matches('"'))
    })
}

/// What a line may run where its first word is a key (`ProxyCommand sh -c …`, `exec "rm …"`), or a text in quotes is.
fn behind_key(line: &str) -> Vec<String> {
    let plain = |text: &str| {
        let text = text.trim().trim_matches(['"', '\'', ';', ',']);
        text.trim_start_matches(['|', '!', '@', '=', ' '])
            .to_owned()
    };
    let mut found = Vec::new();
    let mut rest = line.trim();
    // `exec_always --no-startup-id rm …`, `bind x run "rm …"`
    for _ in 0..MAX_KEYS {
        let Some((_, behind)) = rest.split_once([' ', '\t', '=']) else {
            break;
        };
        rest = behind.trim();
        found.push(plain(rest));
    }
    let quoted = line.split(['"', '\'', '`']).skip(1).step_by(2);
    found.extend(quoted.map(plain));
    found
}

/// Words in front of a command in a line of settings.
const MAX_KEYS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn handed(name: &str, words: &[&str]) -> Vec<String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let found = among_words(name, &words);
        let paths = found.iter().flat_map(|one| paths_in(one.value));
        paths.map(str::to_owned).collect()
    }

    #[test]
    fn values_of_flags_and_keys_are_handed() {
        assert_eq!(handed("x", &["--tf-path", "./e.sh", "plan"]), ["./e.sh"]);
        assert_eq!(handed("x", &["--plugin=gen=./e"]), ["./e"]);
        assert_eq!(handed("x", &["-B./tools"]), ["./tools"]);
        assert_eq!(handed("x", &["--cc:./e.sh"]), ["./e.sh"]);
        assert_eq!(handed("make", &["CC=tools/e"]), ["tools/e"]);
        let ldflags = ["build", "-ldflags=-linkmode=external -extld=./e.sh"];
        assert_eq!(handed("x", &ldflags), ["./e.sh"]);
        assert_eq!(handed("x", &["--url=https://a.example/b.sh"]), [""; 0]);
    }

    #[test]
    fn data_is_handed_where_a_name_says_that_it_runs() {
        assert_eq!(handed("git", &["add", "./e.sh"]), [""; 0]);
        assert_eq!(
            handed("docker", &["run", "--runtime", "./e.sh"]),
            ["./e.sh"]
        );
        assert_eq!(
            handed("gh", &["config", "set", "editor", "./e.sh"]),
            ["./e.sh"]
        );
        assert_eq!(
            handed("curl", &["-o", "./e.sh", "https://a.example"]),
            [""; 0]
        );
    }

    #[test]
    fn settings_may_run_what_stands_behind_a_key() {
        let has = |line: &str| behind_key(line).contains(&"rm -rf x".to_owned());
        assert!(has("ProxyCommand rm -rf x"));
        assert!(has("PassCmd \"rm -rf x\""));
        assert!(has("CustomLog \"|rm -rf x\" y"));
        assert!(has("exec { command => \"rm -rf x\" }"));
        assert!(has("bind x run 'rm -rf x'"));
        assert_eq!(
            hooks_path("[core]\n\thooksPath = .husky/_\n"),
            Some(".husky/_")
        );
        assert_eq!(hooks_path("[core]\n\tbare = false\n"), None);
    }
}
