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
use super::unwrapping::Unwrapped;
use crate::opaque::Reason;
use crate::project_files::makefile;
use crate::project_files::package_json::{self, NotJson};
use crate::rules::SHELLS;
use std::sync::Arc;

const MAKE: Spec = Spec {
    values: "-C -f -I -j -l -o -W --directory --file --makefile --include-dir --jobs --load-average \
             --old-file --what-if --assume-new --assume-old --eval -E",
    flags: "-b -m -h --help --version -B -d -e -i -k -L -n -p -q -r -R -s -S -t -v -w --always-make --debug \
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
        option || SHELLS.contains(name) || WORDS.contains(&name) || name.starts_with("$")
    })
}

/// Flags with which make shows what it would do. What runs while its file is read runs all the same.
const DRY_RUN: [&str; 6] = [
    "-n",
    "--dry-run",
    "--just-print",
    "--recon",
    "-q",
    "--question",
];

/// What make is asked to make.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Making {
    /// Its goals.
    Goals,
    /// Nothing: it only reads its file.
    Nothing,
}

/// Texts a makefile may hold, each with where it lies.
type MakefileTexts = Vec<(Arc<str>, Option<Arc<str>>)>;

/// Files `make` looks for.
const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

impl Unwrapped<'_, '_> {
    /// Lists the recipes of what `make` is asked to make.
    pub(super) fn make(&mut self) -> Result<(), Refusal> {
        for reading in options::read(self.words, 1, MAKE, Order::Mixed, self.listing.budget()) {
            if reading.has(&["-v", "--version", "-h", "--help"]) {
                continue;
            }
            let making = match reading.has(&DRY_RUN) {
                true => Making::Nothing,
                false => Making::Goals,
            };
            let directory = reading
                .value(&["-C", "--directory"])
                .map(Argument::unquoted);
            let named: Vec<&Argument> = reading.values(&["-f", "--file", "--makefile"]).collect();
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
            let mut files = match named.as_slice() {
                [] => {
                    let mut found = MAKEFILES
                        .iter()
                        .map(|name| self.in_directory(directory, name));
                    found.find(|files| !files.is_empty()).unwrap_or_default()
                }
                [only] => self.named_makefile(only, directory),
                // They are read as one.
                several => {
                    let mut whole = String::new();
                    for file in several {
                        for (text, _) in self.named_makefile(file, directory) {
                            whole.push('\n');
                            whole.push_str(&text);
                        }
                    }
                    vec![(Arc::from(whole), None)]
                }
            };
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
                self.make_file(&text, path.as_ref(), directory, &goals, &overrides, making)?;
            }
        }
        Ok(())
    }

    /// The texts a file named to make may hold.
    fn named_makefile(&mut self, file: &Argument, directory: Option<&str>) -> MakefileTexts {
        let name = file.unquoted().to_owned();
        if let Some(inside) = name.strip_prefix("<(") {
            return match self.printed(inside) {
                Some(text) => vec![(text, None)],
                None => {
                    self.mark(Reason::PipedIntoShell);
                    Vec::new()
                }
            };
        }
        match (name.as_str(), &self.start.input) {
            ("-" | "/dev/stdin", Input::Known(text)) => return vec![(Arc::clone(text), None)],
            ("-" | "/dev/stdin", _) => {
                self.mark(Reason::ScriptFromInput);
                return Vec::new();
            }
            _ => {}
        }
        if file.text.glob {
            let names = self.names_like(directory, &name);
            return (names.iter())
                .flat_map(|name| self.in_directory(directory, name))
                .collect();
        }
        let found = self.in_directory(directory, &name);
        if file.known().is_none() && found.is_empty() {
            self.mark(Reason::DynamicCode);
        }
        found
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
        making: Making,
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
        if agents && makefile::extends_make(&whole) {
            self.mark(Reason::ExecutableSetting);
        }
        let runs = |line: &makefile::RecipeLine| making == Making::Goals || line.target.is_none();
        let lines = recipe.lines.into_iter().filter(runs);
        let lines: Vec<String> = lines.map(|line| line.text).collect();
        self.follow_lines(path, &lines)
    }

    fn in_directory(&mut self, directory: Option<&str>, name: &str) -> MakefileTexts {
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
