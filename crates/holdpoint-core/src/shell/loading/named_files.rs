//! Files that settings name: what the agent's words in a manifest lead to is loaded with it.
//!
//! Which key of which tool names a plugin, a hook or a setup file is each tool's affair. A text that is the path
//! or the module of a file the agent wrote is taken for one.

use std::collections::HashSet;

use super::contents::{format_of, is_code};
use super::given::module_files;
use super::search::{MAX_WALKED, Search};
use crate::opaque::Reason;
use crate::paths::Entry;
use crate::rules::Reader;
use crate::shell::files::tidy;
use crate::shell::scripts::{Asks, ScriptSource};
use crate::shell::unwrapping::Unwrapped;

/// Texts of one file of settings that are looked up: each is some looks at the disk. More are a question where
/// they may be paths.
const MAX_LOOKED_UP: usize = 96;
/// The longest text taken for a path.
const MAX_PATH: usize = 200;
/// Where the runners of a language are told what to load, besides files of their own.
const PYTHON: &[&str] = &["pyproject.toml", "setup.cfg", "tox.ini", ".coveragerc"];
const JAVASCRIPT: &[&str] = &["package.json", "tsconfig.json", ".swcrc"];
const PHP: &[&str] = &["composer.json"];
/// What a directory that is named is run by.
const INDEXES: &[&str] = &["setup.py", "__init__.py", "index.js", "index.ts"];
/// Endings a name may be written without.
const ENDINGS: &[&str] = &["py", "js", "cjs", "mjs", "ts", "rb", "php"];

impl Unwrapped<'_, '_> {
    /// Finds what the manifests of a runner's language name.
    pub(super) fn named_by_manifests(&mut self, search: &mut Search<'_>) {
        let loads = |ending: &str| search.row.reach.iter().any(|one| one.ends_with(ending));
        let manifests = match search.row.language {
            Some(Reader::Python) => PYTHON,
            Some(Reader::Javascript) => JAVASCRIPT,
            Some(Reader::Php) => PHP,
            _ if loads(".js") => JAVASCRIPT,
            _ => return,
        };
        for base in search.bases.clone() {
            for manifest in manifests {
                let real = format!("{base}/{manifest}");
                let there = matches!(
                    search.around.lookup.entry(&real),
                    Entry::Other | Entry::Link(_)
                );
                if !there || !search.is_agents_own(&real) {
                    continue;
                }
                let shown = search.shown(&real);
                for found in self.look_up(&shown, Asks::Project) {
                    if let ScriptSource::Text { text, .. } = found
                        && search.named_in(&text, &base)
                    {
                        self.mark(Reason::OverBudget);
                    }
                }
            }
        }
    }
}

impl Search<'_> {
    /// Wants the files of the agent's that a text of settings names; true if there are more than are looked up.
    pub(super) fn named_in(&mut self, text: &str, directory: &str) -> bool {
        let listed = self.around.lookup.names(directory, MAX_WALKED);
        let beside: HashSet<String> = listed.into_iter().flatten().map(|(name, _)| name).collect();
        let between = |letter: char| letter.is_whitespace() || "\"'`,;=[]{}()<>".contains(letter);
        let mut known: HashSet<&str> = HashSet::new();
        let mut looked_up = 0;
        for word in text.split(between) {
            let word = word.trim_end_matches(':');
            let path = word.split_once(':').map_or(word, |(path, _)| path);
            let path = path
                .trim_start_matches("<rootDir>/")
                .trim_start_matches("file:");
            let plausible = (2..=MAX_PATH).contains(&path.len())
                && !path.starts_with(['-', '/', '~', '$', '@', '#', '*', '^'])
                && path
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte))
                && path.bytes().any(|byte| byte.is_ascii_alphabetic());
            if !plausible || !known.insert(path) {
                continue;
            }
            let first = tidy(path);
            let first = first.split(['/', '.']).next().unwrap_or_default();
            // Nothing lies below a directory that is not there.
            let begins = |name: &String| {
                name == first
                    || name
                        .strip_prefix(first)
                        .is_some_and(|rest| rest.starts_with('.'))
            };
            if !path.starts_with("..") && !first.is_empty() && !beside.iter().any(begins) {
                continue;
            }
            if looked_up >= MAX_LOOKED_UP {
                return true;
            }
            looked_up += 1;
            self.named(directory, path);
        }
        false
    }

    /// Wants what a path or a module stands for.
    fn named(&mut self, directory: &str, path: &str) {
        let mut paths = vec![format!("{directory}/{}", tidy(path))];
        let plain = !path.contains('/') || path.starts_with('.');
        let has_ending = format_of(crate::paths::base_name(path)).is_some();
        if !has_ending {
            paths.extend(
                ENDINGS
                    .iter()
                    .map(|end| format!("{directory}/{}.{end}", tidy(path))),
            );
            if plain && path.contains('.') {
                let files = module_files(path);
                paths.extend(files.into_iter().map(|file| format!("{directory}/{file}")));
            }
        }
        for path in paths {
            let Ok(real) = self.around.resolve(&path) else {
                continue;
            };
            match self.around.lookup.entry(&real) {
                Entry::Directory => {
                    for index in INDEXES {
                        self.want_own(&format!("{real}/{index}"));
                    }
                }
                Entry::Missing if !self.in_line.contains(&real) => {}
                Entry::Missing | Entry::Other | Entry::Link(_) | Entry::Unreadable => {
                    self.want_own(&real);
                }
            }
        }
    }

    /// Wants a file of code, if the agent wrote it.
    fn want_own(&mut self, real: &str) {
        let code = format_of(crate::paths::base_name(real)).is_some_and(is_code);
        if !code {
            return;
        }
        // What was only in reach is loaded for sure.
        if let Some(at) = self.reach.iter().position(|one| one.real == real) {
            let candidate = self.reach.swap_remove(at);
            self.wanted.push(candidate);
        } else if self.is_there(real) && self.is_agents_own(real) {
            self.want(real, false);
        }
    }
}
