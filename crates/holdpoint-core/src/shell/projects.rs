//! What `make` and the package managers run on behalf of a project's own files.
//!
//! Promises that the lines a Makefile or `package.json` holds for what is asked are listed, if the
//! file can be read; a file that cannot be found leaves the command as it stands.

use super::commands::Wrapping;
use super::input::Input;
use super::loading;
use super::options::{self, Order, Spec};
use super::reader::read;
use super::refusal::Refusal;
use super::texts::Argument;
use super::unwrapping::{SHELLS, Unwrapped};
use crate::opaque::Reason;
use crate::project_files::makefile;
use crate::project_files::package_json::{self, NotJson};
use std::sync::Arc;

const MAKE: Spec = Spec {
    values: "-C -f -I -j -l -o -W --directory --file --makefile --include-dir --jobs --load-average \
             --old-file --what-if --assume-new --assume-old --eval -E",
    flags: "-b -m -B -d -e -i -k -L -n -p -q -r -R -s -S -t -v -w --always-make --debug \
            --environment-overrides --ignore-errors --keep-going --dry-run --just-print --recon \
            --print-data-base --question --no-builtin-rules --silent --quiet --touch --trace",
};

const MANAGER: Spec = Spec {
    values: "-w -C --workspace --prefix --dir --cwd --filter -F --registry --loglevel",
    flags: "-s -r -ws --silent --workspaces --if-present --recursive --bail",
};

/// Files a makefile may include; each is read, and the whole again.
const MAX_INCLUDES: usize = 16;

/// Whether what makefiles say reads their lines is a shell with the options people give it.
fn is_usual_shell(shell: &str) -> bool {
    const WORDS: [&str; 7] = [
        "env", "errexit", "errtrace", "extglob", "nounset", "pipefail", "posix",
    ];
    shell.split_whitespace().all(|word| {
        let name = word.rsplit('/').next().unwrap_or(word);
        let option = word
            .strip_prefix(['-', '+'])
            .is_some_and(|letters| letters.bytes().all(|byte| byte.is_ascii_alphabetic()));
        option || SHELLS.contains(&name) || WORDS.contains(&name) || name.starts_with("$")
    })
}

/// Files `make` looks for.
const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

impl Unwrapped<'_, '_> {
    /// Lists the recipes of what `make` is asked to make.
    pub(super) fn make(&mut self) -> Result<(), Refusal> {
        for reading in options::read(self.words, 1, MAKE, Order::Mixed, self.listing.budget()) {
            if reading.has(&["-n", "--dry-run", "--just-print", "--recon", "-v", "-q"]) {
                continue;
            }
            let directory = reading
                .value(&["-C", "--directory"])
                .map(Argument::unquoted);
            let named = reading
                .value(&["-f", "--file", "--makefile"])
                .map(|file| file.unquoted().to_owned());
            let words: Vec<String> = reading
                .operands
                .iter()
                .filter_map(|at| self.known(*at))
                .map(str::to_owned)
                .collect();
            let (settings, goals): (Vec<&str>, Vec<&str>) = words
                .iter()
                .map(String::as_str)
                .partition(|word| word.contains('='));
            let overrides: Vec<(&str, &str)> = settings
                .iter()
                .filter_map(|setting| setting.split_once('='))
                .map(|(name, value)| (name.trim_end_matches([':', '?', '+']), value))
                .collect();
            if overrides
                .iter()
                .any(|(name, _)| *name == "SHELL" || *name == ".SHELLFLAGS")
            {
                self.mark(Reason::ExecutableSetting);
            }
            if reading.has(&["--eval", "-E"]) {
                self.mark(Reason::ExecutableSetting);
            }
            let printed = named.as_deref().and_then(|name| name.strip_prefix("<("));
            let files = match (named.as_deref(), &self.start.input) {
                (Some(_), _) if printed.is_some() => {
                    match printed.and_then(|inside| self.printed(inside)) {
                        Some(text) => vec![(text, None)],
                        None => {
                            self.mark(Reason::PipedIntoShell);
                            Vec::new()
                        }
                    }
                }
                (Some("-" | "/dev/stdin"), Input::Known(text)) => vec![(Arc::clone(text), None)],
                (Some("-" | "/dev/stdin"), _) => {
                    self.mark(Reason::ScriptFromInput);
                    Vec::new()
                }
                (Some(name), _) => self.in_directory(directory, name),
                (None, _) => {
                    let directory = directory.map(str::to_owned);
                    let mut found = MAKEFILES
                        .iter()
                        .map(|name| self.in_directory(directory.as_deref(), name));
                    found.find(|files| !files.is_empty()).unwrap_or_default()
                }
            };
            let mut files = files;
            let told: Vec<&str> = reading
                .options
                .iter()
                .filter(|(name, _)| matches!(name.as_str(), "--eval" | "-E"))
                .filter_map(|(_, value)| value.as_ref().map(Argument::unquoted))
                .collect();
            let told = told.join("\n");
            if files.is_empty() && !told.is_empty() {
                files.push((Arc::from(""), None));
            }
            for (text, path) in files {
                let text = format!("{told}\n{text}");
                self.make_file(&text, path.as_ref(), directory, &goals, &overrides)?;
            }
        }
        Ok(())
    }

    /// What the commands of `<(…)` print, if that is foreseen.
    fn printed(&self, inside: &str) -> Option<Arc<str>> {
        let inside = inside.strip_suffix(')').unwrap_or(inside);
        let script = read(inside).ok()?;
        match self.listing.foreseen(&script, inside) {
            Input::Known(text) => Some(text),
            Input::Partly(_) | Input::Unknown(_) | Input::Inherited | Input::Empty => None,
        }
    }

    /// Lists what making some goals runs, by a file and those it includes.
    fn make_file(
        &mut self,
        text: &str,
        path: Option<&Arc<str>>,
        directory: Option<&str>,
        goals: &[&str],
        overrides: &[(&str, &str)],
    ) -> Result<(), Refusal> {
        let mut whole = text.to_owned();
        let mut agents = path.is_none_or(|path| self.is_agents(path));
        let mut included: Vec<String> = Vec::new();
        let mut recipe = makefile::recipe(&whole, goals, overrides);
        while let Some(name) = recipe
            .includes
            .iter()
            .find(|name| !included.contains(name))
            .cloned()
        {
            if included.len() >= MAX_INCLUDES {
                self.mark(Reason::OverBudget);
                break;
            }
            included.push(name.clone());
            for name in self.names_like(directory, &name) {
                for (more, path) in self.in_directory(directory, &name) {
                    agents |= path.is_none_or(|path| self.is_agents(&path));
                    whole.push('\n');
                    whole.push_str(&more);
                }
            }
            recipe = makefile::recipe(&whole, goals, overrides);
        }
        let evals = makefile::evals(&whole);
        if !evals.text.is_empty() {
            whole.push_str(&evals.text);
            recipe = makefile::recipe(&whole, goals, overrides);
        }
        if recipe.cut || evals.cut {
            self.mark(Reason::OverBudget);
        }
        if agents && evals.computed {
            self.mark(Reason::DynamicCode);
        }
        let unusual = recipe
            .shell_override
            .as_deref()
            .is_some_and(|shell| !is_usual_shell(shell));
        if agents && unusual {
            self.mark(Reason::ExecutableSetting);
        }
        let lines: Vec<String> = recipe.lines.into_iter().map(|line| line.text).collect();
        self.follow_lines(path, &lines)
    }

    fn in_directory(
        &mut self,
        directory: Option<&str>,
        name: &str,
    ) -> Vec<(Arc<str>, Option<Arc<str>>)> {
        let name = match directory {
            Some(directory) => super::environment::joined(directory, name),
            None => name.to_owned(),
        };
        self.project_file(&name)
    }

    /// Lists the scripts a package manager runs.
    pub(super) fn package_scripts(&mut self, manager: &str) -> Result<(), Refusal> {
        for reading in options::read(self.words, 1, MANAGER, Order::Mixed, self.listing.budget()) {
            let mut words = reading.operands.iter().filter_map(|at| self.known(*at));
            let (first, second) = match (words.next(), words.next()) {
                (Some(first), second) => (first.to_owned(), second.map(str::to_owned)),
                // By itself it installs.
                (None, _) if manager == "yarn" => ("install".to_owned(), None),
                (None, _) => continue,
            };
            // `yarn jest` runs the program of that name, if no script has it.
            if manager != "npm"
                && first != "npm"
                && loading::is_loader(&first)
                && let Some(at) = reading.operands.first()
            {
                let words = self.rest(*at).to_vec();
                self.starts(Wrapping::Commanding, Vec::new(), words)?;
            }
            let directory = reading
                .value(&["-C", "--prefix", "--dir", "--cwd"])
                .map(|word| word.unquoted().to_owned());
            for (text, path) in self.in_directory(directory.as_deref(), "package.json") {
                let lines = match (first.as_str(), second.as_deref()) {
                    ("run" | "run-script" | "rum" | "urn", Some(name)) => {
                        package_json::script(&text, name)
                    }
                    ("run" | "run-script", None) => Ok(Vec::new()),
                    (command, _) => match package_json::lifecycle(&text, command) {
                        // `yarn build` and `pnpm build` are `npm run build`.
                        Ok(lines) if lines.is_empty() && manager != "npm" => {
                            package_json::script(&text, command)
                        }
                        lines => lines,
                    },
                };
                match lines {
                    Ok(lines) => self.follow_lines(path.as_ref(), &lines)?,
                    Err(NotJson) => self.mark(Reason::Unreadable),
                }
            }
        }
        Ok(())
    }
}
