//! The line an agent is told to run in place of its own, so that its own runs contained.
//!
//! `/path/holdpoint run --ticket T -- 'LINE'`. The line stands in it as it is, in single quotes: people read it, and so do
//! an agent's records. What comes back from the agent is taken apart again only if it is exactly such a line.

use super::ticket::{MAX_REPEATED, NAME_LENGTH, is_name};

/// A line that was wrapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrapped {
    /// The path of this program.
    pub program: String,
    /// The name of the ticket.
    pub ticket: String,
    /// The line; none if it is in the ticket alone.
    pub line: Option<String>,
    /// Whether the shell goes where the line went.
    pub keeps_directory: bool,
}

impl Wrapped {
    /// A line to be wrapped.
    pub fn new(program: &str, ticket: &str, line: &str, keeps_directory: bool) -> Self {
        Self {
            program: program.to_owned(),
            ticket: ticket.to_owned(),
            line: (line.len() <= MAX_REPEATED).then(|| line.to_owned()),
            keeps_directory,
        }
    }

    /// The line for a shell.
    pub fn to_line(&self) -> String {
        let (program, ticket) = (shell_word(&self.program), &self.ticket);
        let mut text = format!("{program} run --ticket {ticket}");
        if let Some(line) = &self.line {
            text.push_str(" -- ");
            text.push_str(&quoted(line));
        }
        if self.keeps_directory {
            text.push_str(&format!(
                "; __holdpoint=$?; cd -- \"$({program} run --cwd {ticket})\" 2>/dev/null; (exit $__holdpoint)"
            ));
        }
        text
    }

    /// What a line is the wrapping of; none if it is anything else.
    pub fn from_line(text: &str) -> Option<Self> {
        let (word, rest) = text.split_once(" run --ticket ")?;
        let program = unquoted_word(word)?;
        let (ticket, rest) = rest.split_at_checked(NAME_LENGTH)?;
        // Anything else in its place is for a shell to read: `$(…)` there would run.
        if !is_name(ticket) {
            return None;
        }
        let line = match rest.strip_prefix(" -- '") {
            Some(rest) => Some(unquoted(rest)?),
            None => None,
        };
        [false, true]
            .into_iter()
            .map(|keeps_directory| Self {
                program: program.clone(),
                ticket: ticket.to_owned(),
                line: line.clone(),
                keeps_directory,
            })
            .find(|wrapped| wrapped.to_line() == text)
    }
}

/// A text as one word of any shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A text as one word of any shell, in quotes only where it has to be.
pub fn shell_word(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+".contains(letter);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => quoted(text),
    }
}

fn unquoted_word(word: &str) -> Option<String> {
    match word.strip_prefix('\'') {
        Some(rest) => unquoted(rest),
        None => Some(word.to_owned()),
    }
}

/// What stands behind an opening quote, up to the closing one.
fn unquoted(rest: &str) -> Option<String> {
    let mut text = String::new();
    let mut rest = rest;
    loop {
        let (before, after) = rest.split_once('\'')?;
        text.push_str(before);
        match after.strip_prefix(r"\''") {
            Some(after) => {
                text.push('\'');
                rest = after;
            }
            None => return Some(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::Command;

    const TICKET: &str = "0123456789abcdef0123456789abcdef";

    const LINES: [&str; 9] = [
        "pytest -q",
        "echo 'a b' \"$HOME\" \\$x `id`",
        "cat <<'E'\nit's $here \\ \"x\"\nE",
        "echo one\necho two",
        "printf '%s' 'Grüße 日本'",
        "'",
        "''\\''",
        "echo a; (exit 3)",
        " -- x ' -- ' y",
    ];

    #[test]
    fn a_wrapped_line_comes_back_as_it_was() {
        for line in LINES {
            for program in ["/usr/bin/holdpoint", "/opt/it's here/holdpoint"] {
                for keeps in [false, true] {
                    let wrapped = Wrapped::new(program, TICKET, line, keeps);
                    assert_eq!(Wrapped::from_line(&wrapped.to_line()), Some(wrapped));
                }
            }
        }
        let long = "x".repeat(MAX_REPEATED + 1);
        let wrapped = Wrapped::new("/bin/holdpoint", TICKET, &long, false);
        assert_eq!(wrapped.line, None);
        assert_eq!(Wrapped::from_line(&wrapped.to_line()), Some(wrapped));
    }

    #[test]
    fn anything_else_is_not_taken_apart() {
        let line = Wrapped::new("/bin/holdpoint", TICKET, "make", true).to_line();
        for other in [
            format!("{line}; rm -rf x"),
            line.replace(TICKET, "$(rm -rf ~/abc/defg/hijkl/mnopq)"),
            line.replace(TICKET, "0123456789ABCDEF0123456789ABCDEF"),
            format!("true; {line}"),
            line.replace("run --cwd", "run  --cwd"),
            line.replace("-- 'make'", "-- make"),
            line.replace("$(/bin", "$(touch x;/bin"),
            format!("/bin/holdpoint run --ticket {TICKET} -- 'a' 'b'"),
            format!("/bin/holdpoint run --ticket {TICKET} -- 'a"),
            "holdpoint run --ticket x -- 'a'".to_owned(),
        ] {
            let found = Wrapped::from_line(&other);
            // A program that is no plain word stands for itself, and is nobody's path.
            let harmless = found.as_ref().is_none_or(|found| found.to_line() == other);
            assert!(harmless, "{other}: {found:?}");
        }
        let before = format!("true; {line}");
        assert_eq!(Wrapped::from_line(&before), None);
    }

    #[cfg(unix)]
    #[test]
    fn shells_hand_the_line_over_as_it_is() {
        for line in LINES {
            let text = Wrapped::new("printf", TICKET, line, false).to_line();
            let text = text.replace(&format!("printf run --ticket {TICKET} --"), "printf %s");
            let out = Command::new("/bin/sh")
                .args(["-c", &text])
                .output()
                .unwrap();
            assert_eq!(String::from_utf8(out.stdout).unwrap(), line);
        }
    }

    proptest! {
        #[test]
        fn any_line_comes_back(line in "[ -~\n'\"\\\\é]{0,40}", keeps in any::<bool>()) {
            let wrapped = Wrapped::new("/bin/holdpoint", TICKET, &line, keeps);
            prop_assert_eq!(Wrapped::from_line(&wrapped.to_line()), Some(wrapped));
        }
    }
}
