//! Processes that a line starts and ends itself: `server & … kill $!`. A shell of its own runs every line, so its jobs are
//! those of the line.

use super::by_effect::{is_of_name, is_only_used};
use crate::paths::installed_name;
use crate::shell::Text;
use crate::understand::CommandView;

/// Whether a command is `kill`, and ends nothing but jobs of its own line.
pub(super) fn are_all_it_ends(view: &CommandView, line: &str) -> bool {
    let [program, words @ ..] = view.command.words.as_slice() else {
        return false;
    };
    // What stands in a file is another line, and a function may have the name.
    let plain = view.command.file.is_none()
        && !["()", "function", "alias"]
            .iter()
            .any(|sign| line.contains(sign))
        && line.contains('&');
    if !plain || program.dynamic || installed_name(&program.text) != "kill" {
        return false;
    }
    let jobs = match words {
        [flag, _, rest @ ..] if matches!(flag.text.as_str(), "-s" | "-n") => rest,
        [signal, rest @ ..] if is_signal(signal) => rest,
        all => all,
    };
    !jobs.is_empty() && jobs.iter().all(|word| is_own(word, line))
}

/// `-9`, `-TERM`: only in front, since behind a process it would be another.
fn is_signal(word: &Text) -> bool {
    let name = word.text.strip_prefix('-').unwrap_or_default();
    !word.dynamic && !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric())
}

/// `%1`, `$!`, or a variable that holds `$!` and nothing else.
fn is_own(word: &Text, line: &str) -> bool {
    let written = line.get(word.span.clone()).unwrap_or_default();
    let written = match written.strip_prefix('"') {
        Some(rest) => rest.strip_suffix('"').unwrap_or_default(),
        None => written,
    };
    if let Some(job) = written.strip_prefix('%') {
        let number = !job.is_empty() && job.chars().all(|c| c.is_ascii_digit());
        return number || matches!(job, "%" | "+" | "-");
    }
    let name = written.strip_prefix('$').unwrap_or_default();
    let name = match name.strip_prefix('{') {
        Some(rest) => rest.strip_suffix('}').unwrap_or_default(),
        None => name,
    };
    name == "!" || (!name.is_empty() && name.chars().all(is_of_name) && holds_job(name, line))
}

/// Whether a variable is given the last job of the line, and no other value: wherever its name stands it is given that or
/// used.
fn holds_job(name: &str, line: &str) -> bool {
    let mut given = false;
    let mut from = 0;
    for piece in line.split_inclusive(|c: char| !is_of_name(c)) {
        let at = from;
        from += piece.len();
        if piece.trim_end_matches(|c: char| !is_of_name(c)) != name || is_only_used(line, at, name)
        {
            continue;
        }
        let behind = line.get(at + name.len()..).unwrap_or_default();
        let values = ["=$!", "=\"$!\"", "=${!}", "=\"${!}\""];
        let ends =
            |rest: &str| rest.is_empty() || rest.starts_with([' ', ';', '\n', '&', '|', ')', '}']);
        let value = |value: &&&str| behind.strip_prefix(**value).is_some_and(ends);
        if values.iter().find(value).is_none() {
            return false;
        }
        given = true;
    }
    given
}
