//! Settings of programs by variables that change nothing of what they do: `GIT_PAGER=cat`, `PYTHONUNBUFFERED=1`.
//!
//! A variable that could steer a program is harmless only with a value that is listed here, as it is written.

/// Variables that take any plain value: how much is printed, and when.
const ANY: &[&str] = &[
    "CARGO_BUILD_JOBS",
    "CARGO_INCREMENTAL",
    "CARGO_NET_OFFLINE",
    "CARGO_TERM_COLOR",
    "CARGO_TERM_PROGRESS_WHEN",
    "DOCKER_BUILDKIT",
    "GIT_OPTIONAL_LOCKS",
    "GIT_TERMINAL_PROMPT",
    "PIP_DISABLE_PIP_VERSION_CHECK",
    "PIP_NO_INPUT",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONFAULTHANDLER",
    "PYTHONHASHSEED",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONUTF8",
    "UV_NO_PROGRESS",
];

/// What node may be told for a run.
const NODE: &[&str] = &[
    "--enable-source-maps",
    "--experimental-vm-modules",
    "--no-deprecation",
    "--no-warnings",
    "--trace-deprecation",
    "--trace-warnings",
];

/// What a command begins with that runs the tests.
const RUNS_TESTS: &[&str] = &[
    " pytest ",
    " python -m pytest ",
    " python3 -m pytest ",
    " python -m unittest ",
    " python3 -m unittest ",
];

/// Whether a name, and what stands behind it, sets a variable to a value that changes nothing of note.
pub(super) fn is_one(name: &str, behind: &str) -> bool {
    let Some(rest) = behind.strip_prefix('=') else {
        return false;
    };
    let ends = [' ', '\t', '\n', ';', '&', '|', ')'];
    let (value, behind) = match rest.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let Some((value, behind)) = rest.get(1..).and_then(|rest| rest.split_once(quote))
            else {
                return false;
            };
            (value, behind)
        }
        Some(_) | None => rest.split_at(rest.find(ends).unwrap_or(rest.len())),
    };
    // Behind a quote a word may go on.
    if !behind.is_empty() && !behind.starts_with(ends) {
        return false;
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || " .,:/_=-".contains(c);
    if !value.chars().all(plain) {
        return false;
    }
    match name {
        "PAGER" | "GIT_PAGER" | "GH_PAGER" | "MANPAGER" | "SYSTEMD_PAGER" => {
            matches!(value, "cat" | "")
        }
        "EDITOR" | "VISUAL" | "GIT_EDITOR" | "GIT_SEQUENCE_EDITOR" => matches!(value, "true" | ":"),
        // Tests are the project's own code anyway; to any other program it brings what it would not load.
        "PYTHONPATH" => {
            value.split(':').all(is_below) && RUNS_TESTS.iter().any(|one| behind.starts_with(one))
        }
        "NODE_OPTIONS" => value.split(' ').all(|one| {
            let memory = one.strip_prefix("--max-old-space-size=");
            let memory = memory.or_else(|| one.strip_prefix("--max_old_space_size="));
            NODE.contains(&one) || memory.is_some_and(|size| size.parse::<u32>().is_ok())
        }),
        _ => ANY.contains(&name),
    }
}

/// Whether a path leads into the directory a command runs in, as it is written.
fn is_below(path: &str) -> bool {
    !path.is_empty() && !path.starts_with(['/', '~']) && !path.split('/').any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_changes_nothing_is_harmless_and_no_other() {
        for (name, behind) in [
            ("GIT_PAGER", "=cat git log"),
            ("PYTHONPATH", "=. pytest -q"),
            ("PYTHONPATH", "=\"src:tests\" python3 -m pytest tests"),
            (
                "NODE_OPTIONS",
                "='--no-warnings --max-old-space-size=4096' npm test",
            ),
            ("PYTHONUNBUFFERED", "=1"),
        ] {
            assert!(is_one(name, behind), "{name}{behind}");
        }
        for (name, behind) in [
            ("GIT_PAGER", "=./x git log"),
            ("GIT_PAGER", " git log"),
            ("GIT_PAGER", "=\"cat\"./x git log"),
            ("GIT_PAGER", "='cat\" git log"),
            ("PYTHONPATH", "=. pip list"),
            ("PYTHONPATH", "=/tmp/x pytest -q"),
            ("PYTHONPATH", "=src/../../x pytest -q"),
            ("PYTHONPATH", "=$X pytest -q"),
            ("NODE_OPTIONS", "='--require ./x.js' npm test"),
            ("PATH", "=. ls"),
            ("GIT_SSH_COMMAND", "=ssh git fetch"),
        ] {
            assert!(!is_one(name, behind), "{name}{behind}");
        }
    }
}
