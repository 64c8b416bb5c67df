//! What `make` and the package managers run on behalf of a project's own files.
//!
//! Promises that the lines a Makefile or `package.json` holds for what is asked are listed, if the
//! file can be read; a file that cannot be found leaves the command as it stands.

use super::input::Input;
use super::options::{self, Order, Spec};
use super::refusal::Refusal;
use super::texts::Argument;
use super::unwrapping::Unwrapped;
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
            let files = match (named.as_deref(), &self.start.input) {
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
            for (text, path) in files {
                let recipe = makefile::recipe(&text, &goals, &overrides);
                if recipe.cut {
                    self.mark(Reason::OverBudget);
                }
                let lines: Vec<String> = recipe.lines.into_iter().map(|line| line.text).collect();
                self.follow_lines(path.as_ref(), &lines)?;
            }
        }
        Ok(())
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
            let (Some(first), second) = (words.next(), words.next()) else {
                continue;
            };
            let (first, second) = (first.to_owned(), second.map(str::to_owned));
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
