//! Processes that a line or its session starts and ends itself: `server & … kill $!`, `kill 4242`, `kill $(lsof -ti:3000)`.
//! A shell of its own runs every line, so its jobs are those of the line.

use crate::paths::{Lookup, installed_name};
use crate::rules::steering::{is_of_name, is_only_used};
use crate::shell::Text;
use crate::understand::CommandView;

/// Whether a command is `kill`, and ends nothing but jobs of its own line and processes of its session.
pub(super) fn are_all_it_ends(view: &CommandView, line: &str, lookup: &dyn Lookup) -> bool {
    let [program, words @ ..] = view.command.words.as_slice() else {
        return false;
    };
    // What stands in a file is another line, and a function may have the name.
    let plain = view.command.file.is_none()
        && !["()", "function", "alias"]
            .iter()
            .any(|sign| line.contains(sign));
    if !plain || program.dynamic || installed_name(&program.text) != "kill" {
        return false;
    }
    let jobs = match words {
        [flag, _, rest @ ..] if matches!(flag.text.as_str(), "-s" | "-n") => rest,
        [signal, rest @ ..] if is_signal(signal) => rest,
        all => all,
    };
    let own = |word: &Text| {
        (line.contains('&') && is_own(word, line)) || is_of_session(word, line, lookup)
    };
    !jobs.is_empty() && jobs.iter().all(own)
}

/// A process by its number, or what uses a port, if the session started it.
fn is_of_session(word: &Text, line: &str, lookup: &dyn Lookup) -> bool {
    if !word.dynamic {
        return word
            .text
            .parse()
            .is_ok_and(|id| id > 1 && lookup.is_own_process(id));
    }
    let written = line.get(word.span.clone()).unwrap_or_default();
    port_of(written.trim_matches('"')).is_some_and(|port| lookup.is_own_port(port))
}

/// The port in `$(lsof -ti:3000)` or with backquotes, if that asks about nothing else.
fn port_of(written: &str) -> Option<u16> {
    let code = match written.strip_prefix("$(") {
        Some(rest) => rest.strip_suffix(')')?,
        None => written.strip_prefix('`')?.strip_suffix('`')?,
    };
    let mut words = code.split_whitespace();
    if words.next() != Some("lsof") {
        return None;
    }
    let (mut port, mut terse) = (None, false);
    for word in words.filter(|word| !matches!(*word, "2>/dev/null" | "-sTCP:LISTEN")) {
        let (flags, number) = match word.split_once(':') {
            Some((flags, number)) => (flags, Some(number)),
            None => (word, None),
        };
        let of_flags = [
            "-t", "-i", "-ti", "-it", "-tiTCP", "-itcp", "-iTCP", "-titcp", "tcp", "TCP", "",
        ];
        if !of_flags.contains(&flags) || (number.is_some() && port.is_some()) {
            return None;
        }
        terse |= flags.starts_with("-t") || flags == "-it";
        if let Some(number) = number {
            port = Some(number.parse().ok()?);
        }
    }
    port.filter(|_| terse)
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

#[cfg(test)]
mod tests {
    use super::port_of;

    #[test]
    fn a_port_is_read_where_nothing_else_is_asked_for() {
        for line in [
            "$(lsof -ti:3000)",
            "`lsof -t -i :3000`",
            "$(lsof -ti tcp:3000 -sTCP:LISTEN 2>/dev/null)",
        ] {
            assert_eq!(port_of(line), Some(3000), "{line}");
        }
        for line in [
            "$(lsof -t -u dev)",
            "$(lsof -i:3000)",
            "$(lsof -ti:3000 -ti:22)",
            "$(pgrep node)",
            "$(lsof -ti:3000; pgrep x)",
        ] {
            assert_eq!(port_of(line), None, "{line}");
        }
    }
}
