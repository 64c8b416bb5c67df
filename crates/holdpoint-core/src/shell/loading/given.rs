//! The files and directories a command names by its own words.

use std::sync::Arc;

use super::search::Search;
use super::streams::is_streamed;
use crate::opaque::Reason;
use crate::rules::Reader;
use crate::shell::files::tidy;
use crate::shell::input::Input;
use crate::shell::unwrapping::Unwrapped;

/// Files and directories a command may name that are looked up: each is some looks at the disk. A command
/// that names more is a question.
const MAX_GIVEN: usize = 512;

impl Unwrapped<'_, '_> {
    /// The command's own words may name what it loads: `python -c 'import x'`.
    pub(super) fn command_texts(&self, search: &mut Search<'_>) {
        let words: Vec<&str> = self.rest(1).iter().map(|word| word.unquoted()).collect();
        search.texts.push(Arc::from(words.join(" ")));
        search.patterns = words
            .iter()
            // What only reads or changes files is given them, too.
            .filter(|_| search.row.operand)
            .filter(|word| word.contains(['*', '?', '[']) && word.contains('.'))
            .filter(|word| !word.contains(' '))
            .map(|word| word.trim_start_matches("./").to_owned())
            .take(MAX_GIVEN)
            .collect();
        // `PYTEST_PLUGINS=x`, `FLASK_APP=x`.
        if let Some(command) = self.listing.commands.get(self.place) {
            for assignment in &command.assignments {
                search.texts.push(Arc::from(assignment.value.text.as_str()));
            }
        }
        match &self.start.input {
            Input::Known(text) => search.texts.push(Arc::clone(text)),
            Input::Partly(partial) => search.texts.push(Arc::from(&*partial.written)),
            Input::Unknown(_) | Input::Inherited | Input::Empty => {}
        }
    }

    /// Finds the files the command's words name; those that were followed already come back.
    pub(super) fn given_files(&mut self, search: &mut Search<'_>) -> Vec<String> {
        let row = search.row;
        let mut names: Vec<(String, bool)> = Vec::new();
        let mut operands = 0;
        let mut told_what = false;
        let mut at = 1;
        while let Some(word) = self.words.get(at) {
            at += 1;
            let text = word.unquoted();
            let (flag, glued) = match text.split_once('=') {
                Some((flag, value)) if text.starts_with('-') => (flag, Some(value)),
                _ => (text, None),
            };
            // `-m pytest`, or `-mpytest`.
            let glued_module = row
                .module
                .filter(|module| module.len() == 2 && !text.starts_with("--"))
                .and_then(|module| text.strip_prefix(module))
                .filter(|module| !module.is_empty());
            if row.module == Some(flag) || glued_module.is_some() {
                let next = || self.words.get(at).map(|word| word.unquoted());
                if let Some(module) = glued_module.or_else(next) {
                    let files = module_files(module);
                    names.extend(files.into_iter().map(|file| (file, true)));
                }
                // What follows is the module's.
                break;
            }
            if row.flags.contains(&flag) {
                let value = glued.or_else(|| self.words.get(at).map(|next| next.unquoted()));
                names.extend(value.map(|value| (value.to_owned(), true)));
                // Its value is no operand.
                at += usize::from(glued.is_none());
                continue;
            }
            // `-nf FILE`
            let bundled = |flag: &&&str| {
                let letters = text.strip_prefix('-').unwrap_or_default();
                flag.len() == 2
                    && (2..=4).contains(&letters.len())
                    && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
                    && letters.ends_with(flag.trim_start_matches('-'))
            };
            if !text.starts_with("--") && row.flags.iter().any(|flag| bundled(&flag)) {
                let value = self.words.get(at).map(|next| next.unquoted());
                names.extend(value.map(|value| (value.to_owned(), true)));
            }
            let short = row
                .flags
                .iter()
                .find(|flag| flag.len() == 2 && text.len() > 2 && text.starts_with(**flag));
            if let Some(flag) = short {
                let value = text.get(flag.len()..);
                names.extend(value.map(|value| (value.to_owned(), true)));
                continue;
            }
            // `-nfFILE`: what is no file is nothing that is loaded.
            let inside = |flag: &&str| {
                let letter = flag.strip_prefix('-').filter(|rest| rest.len() == 1)?;
                let cluster = text
                    .strip_prefix('-')
                    .filter(|rest| !rest.starts_with('-'))?;
                let at = cluster.find(letter).filter(|at| (1..=3).contains(at))?;
                cluster.get(at + 1..).filter(|rest| !rest.is_empty())
            };
            let inside: Vec<&str> = row.flags.iter().filter_map(inside).collect();
            names.extend(inside.into_iter().map(|value| (value.to_owned(), true)));
            if let Some(value) = glued.filter(|_| search.unknown.is_some()) {
                names.push((value.to_owned(), false));
            }
            if row.operand && !text.starts_with('-') && !row.subcommand.contains(&text) {
                // `tests/test_x.py::test_it`
                let path = match text.starts_with("<(") {
                    true => text,
                    false => text.split_once("::").map_or(text, |(path, _)| path),
                };
                // The first is run; the others may be anything it is given.
                // `jupyter run <(…)`: what stands in front says what to do.
                let first = operands == 0 || (told_what && is_streamed(path));
                names.push((path.to_owned(), first && search.unknown.is_none()));
                told_what = operands == 0 && !path.contains(['.', '/']);
                operands += 1;
            }
        }
        if row.language == Some(Reader::Compose)
            && let Some(command) = self.listing.commands.get(self.place)
        {
            let set = command.assignments.iter();
            let files = set.filter(|one| one.name == "COMPOSE_FILE");
            let files = files.flat_map(|one| one.value.text.split(':'));
            names.extend(files.map(|file| (file.to_owned(), true)));
        }
        if names.len() > MAX_GIVEN {
            self.mark(Reason::OverBudget);
            names.truncate(MAX_GIVEN);
        }
        let before: Vec<String> = self
            .listing
            .files
            .iter()
            .map(|file| file.path.clone())
            .collect();
        let (streams, names): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|(name, _)| is_streamed(name));
        // Named again it is at its end.
        for (name, _) in streams.into_iter().filter(|(_, told)| *told) {
            if !search.streams.contains(&name) {
                search.streams.push(name);
            }
        }
        for (name, told) in names {
            for path in self.listing.environment.names_of(&name) {
                search.given(&path, told);
            }
        }
        before
    }
}

/// What a module's name may lead to.
pub(super) fn module_files(module: &str) -> Vec<String> {
    let path = tidy(&module.replace('.', "/"));
    let mut files = vec![
        format!("{path}.py"),
        format!("{path}/__init__.py"),
        format!("{path}/__main__.py"),
    ];
    if let Some((package, _)) = path.split_once('/') {
        files.push(format!("{package}/__init__.py"));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_a_file_or_a_directory() {
        assert_eq!(
            module_files("a.b"),
            [
                "a/b.py",
                "a/b/__init__.py",
                "a/b/__main__.py",
                "a/__init__.py"
            ]
        );
    }
}
