//! Patterns of files in a project, as `programs.toml` writes them: `*` and `?` within a name, `**` for
//! any number of directories.

use crate::paths::base_name;

/// A pattern relative to some directory.
pub(crate) struct Pattern<'p>(pub(crate) &'p str);

/// Parts of a path that are compared; deeper ones are not looked for.
const MAX_PARTS: usize = 32;

impl Pattern<'_> {
    /// Whether a relative path is one of the pattern's.
    pub(crate) fn matches(&self, path: &str) -> bool {
        // Nearly all comparisons fail at the first letter or at the last.
        let differ = |wanted: Option<&u8>, given: Option<&u8>| {
            wanted.is_some_and(|wanted| !matches!(wanted, b'*' | b'?') && given != Some(wanted))
        };
        let (wanted, given) = (self.0.as_bytes(), path.as_bytes());
        if differ(wanted.last(), given.last()) || differ(wanted.first(), given.first()) {
            return false;
        }
        let slashes = |text: &str| text.bytes().filter(|byte| *byte == b'/').count();
        let deepest = MAX_PARTS - 1;
        if slashes(path) > deepest {
            return false;
        }
        // Patterns that are shipped have a few parts; one a command is given may have any number.
        let mut pattern = self.0;
        if slashes(pattern) > deepest {
            let end = pattern.match_indices('/').nth(deepest);
            pattern = end.and_then(|(at, _)| pattern.get(..at)).unwrap_or(pattern);
        }
        parts_match(Some(pattern), Some(path))
    }

    /// Whether a name is one the last part allows.
    pub(crate) fn last_matches(&self, name: &str) -> bool {
        name_matches(base_name(self.0), name)
    }
}

/// Whether what is left of a path is what is left of a pattern; none where there is no further part.
fn parts_match(pattern: Option<&str>, path: Option<&str>) -> bool {
    let Some(pattern) = pattern else {
        return path.is_none();
    };
    let (part, rest) = first_part(pattern);
    if part == "**" {
        let mut below = path;
        while let Some(names) = below {
            if parts_match(rest, below) {
                return true;
            }
            below = first_part(names).1;
        }
        return parts_match(rest, None);
    }
    path.is_some_and(|path| {
        let (name, names) = first_part(path);
        name_matches(part, name) && parts_match(rest, names)
    })
}

/// The first part of a path and those behind it. Letter by letter: a search has to be prepared, and the
/// patterns of every program are compared with every file.
fn first_part(path: &str) -> (&str, Option<&str>) {
    match path.bytes().position(|byte| byte == b'/') {
        Some(at) => (path.get(..at).unwrap_or_default(), path.get(at + 1..)),
        None => (path, None),
    }
}

/// Whether a name matches `*` and `?`; the patterns are short and have few stars.
fn name_matches(pattern: &str, name: &str) -> bool {
    match pattern.chars().next() {
        None => name.is_empty(),
        Some('*') => {
            let rest = pattern.get(1..).unwrap_or_default();
            if !rest.contains(['*', '?']) {
                return name.ends_with(rest);
            }
            let ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            ends.into_iter()
                .any(|at| name_matches(rest, name.get(at..).unwrap_or_default()))
        }
        Some(letter) => {
            let mut letters = name.chars();
            let first = letters.next();
            let same = first.is_some_and(|first| letter == '?' || first == letter);
            let rest = pattern.get(letter.len_utf8()..).unwrap_or_default();
            same && name_matches(rest, letters.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stay_within_a_name_and_two_go_deeper() {
        for (pattern, path) in [
            ("conftest.py", "conftest.py"),
            ("**/conftest.py", "conftest.py"),
            ("**/conftest.py", "a/b/conftest.py"),
            ("**/*.test.*", "src/x.test.ts"),
            ("rakelib/*", "rakelib/a.rake"),
            ("a/**/*.rb", "a/b/c/d.rb"),
            (".*rc.js", ".eslintrc.js"),
            (".github/actions/**", ".github/actions/a/b.yml"),
        ] {
            assert!(Pattern(pattern).matches(path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("conftest.py", "a/conftest.py"),
            ("rakelib/*", "rakelib/a/b.rake"),
            ("**/test_*.py", "tests/x.py"),
            ("*.py", "x.pyc"),
        ] {
            assert!(!Pattern(pattern).matches(path), "{pattern} {path}");
        }
    }
}
