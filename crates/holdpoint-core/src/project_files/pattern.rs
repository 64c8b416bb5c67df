//! Patterns of files in a project, as `programs.toml` writes them: `*` and `?` within a name, `**` for
//! any number of directories.

/// A pattern relative to some directory.
pub(crate) struct Pattern<'p>(pub(crate) &'p str);

/// Parts of a path that are compared; deeper ones are not looked for.
const MAX_PARTS: usize = 32;

impl Pattern<'_> {
    /// Whether a relative path is one of the pattern's.
    pub(crate) fn matches(&self, path: &str) -> bool {
        if !self.0.contains('/') && !path.contains('/') {
            return name_matches(self.0, path);
        }
        let pattern: Vec<&str> = self.0.split('/').take(MAX_PARTS).collect();
        let parts: Vec<&str> = path.split('/').collect();
        parts.len() <= MAX_PARTS && parts_match(&pattern, &parts)
    }

    /// Whether a name is one the last part allows.
    pub(crate) fn last_matches(&self, name: &str) -> bool {
        let last = self.0.rsplit('/').next().unwrap_or(self.0);
        name_matches(last, name)
    }
}

fn parts_match(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((&"**", rest)), _) => {
            (0..=path.len()).any(|skip| parts_match(rest, path.get(skip..).unwrap_or_default()))
                || (rest.is_empty() && !path.is_empty())
        }
        (Some((part, rest)), Some((name, names))) => {
            name_matches(part, name) && parts_match(rest, names)
        }
        (None, Some(_)) | (Some(_), None) => false,
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
