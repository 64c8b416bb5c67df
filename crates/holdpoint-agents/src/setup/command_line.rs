//! The command an agent is told to run: written so that a shell reads it as one program, and read
//! back from what is found in settings.

/// What makes a line a refusal if its program is not there or breaks down: most agents let a call
/// run then, and none that read exit codes does so at 2 with words beside it. Who ends with 2 has spoken.
const CLOSING: &str =
    " || { [ $? -eq 2 ] || echo 'Holdpoint did not answer: this call may not run' >&2; exit 2; }";

/// What keeps a line from saying anything, whatever becomes of its program: where a turn ends, agents take words and exit code 2
/// for a reason to go on.
const SILENT: &str = " >/dev/null 2>&1 || true";

/// What an agent runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// A program with its arguments, without a shell.
    Direct {
        /// The program.
        program: String,
        /// What follows it.
        arguments: Vec<String>,
    },
    /// A line for the shell.
    Line(String),
}

impl Call {
    /// The program, or the whole line.
    pub(crate) fn text(&self) -> &str {
        match self {
            Call::Direct { program, .. } => program,
            Call::Line(line) => line,
        }
    }

    /// The program that is run, as far as the line is one program and the two words that follow it.
    pub fn program(&self) -> Option<String> {
        match self {
            Call::Direct { program, .. } => Some(program.clone()),
            Call::Line(line) => {
                let (rest, _) = opened(line).rsplit_once(' ')?;
                let called = rest.strip_suffix(" hook")?.trim();
                let bare = called.trim_matches(['"', '\'']);
                Some(bare.replace(r"'\''", "'"))
            }
        }
    }

    /// Whether it ends in `hook` and this agent's name.
    pub(crate) fn is_hook_of(&self, agent: &str) -> bool {
        match self {
            Call::Direct { arguments, .. } => arguments == &["hook", agent],
            Call::Line(line) => opened(line)
                .strip_suffix(agent)
                .is_some_and(|rest| rest.ends_with(" hook ")),
        }
    }

    /// Whether it refuses by itself if the program cannot.
    pub(crate) fn closes(&self) -> bool {
        match self {
            Call::Direct { .. } => false,
            Call::Line(line) => line.trim().ends_with(CLOSING),
        }
    }

    /// Whether nothing it says is heard.
    pub(crate) fn is_silent(&self) -> bool {
        match self {
            Call::Direct { .. } => false,
            Call::Line(line) => line.trim().ends_with(SILENT),
        }
    }

    /// Whether nothing but the program is run, with nothing but its two words.
    pub(crate) fn is_plain(&self, agent: &str) -> bool {
        match self {
            Call::Direct { .. } => self.is_hook_of(agent),
            Call::Line(line) => self.program().is_some_and(|program| {
                [for_agent, closing, silent]
                    .iter()
                    .any(|written| *line == written(&program, agent))
            }),
        }
    }

    /// Whether the program has Holdpoint's name, wherever it lies.
    pub(crate) fn is_named_holdpoint(&self) -> bool {
        self.program().is_some_and(|program| {
            let file = program.rsplit(['/', '\\']).next();
            matches!(file, Some("holdpoint" | "holdpoint.exe"))
        })
    }
}

/// The line that runs the hook of `agent`.
pub(crate) fn for_agent(program: &str, agent: &str) -> String {
    format!("{} hook {agent}", quoted(program))
}

/// The same, so that it refuses by itself if the program cannot.
pub(crate) fn closing(program: &str, agent: &str) -> String {
    format!("{}{CLOSING}", for_agent(program, agent))
}

/// The same, so that nothing is heard of it.
pub(crate) fn silent(program: &str, agent: &str) -> String {
    format!("{}{SILENT}", for_agent(program, agent))
}

fn opened(line: &str) -> &str {
    let line = line.trim();
    let plain = line.strip_suffix(CLOSING).or(line.strip_suffix(SILENT));
    plain.unwrap_or(line).trim_end()
}

/// A word as every shell reads it back.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for program in [
            "/opt/holdpoint",
            "/opt/my place/holdpoint",
            "/it's/holdpoint",
        ] {
            let call = Call::Line(for_agent(program, "codex"));
            assert!(call.is_hook_of("codex") && !call.is_hook_of("gemini"));
            assert!(call.is_named_holdpoint());
            assert_eq!(call.program().as_deref(), Some(program));
            let closing = Call::Line(closing(program, "codex"));
            assert!(closing.is_hook_of("codex") && closing.closes() && !call.closes());
            assert_eq!(closing.program(), call.program());
            let silent = Call::Line(silent(program, "codex"));
            assert!(silent.is_hook_of("codex") && silent.is_silent() && silent.is_plain("codex"));
            assert!(!silent.closes() && !call.is_silent());
            assert_eq!(silent.program(), call.program());
        }
        assert_eq!(
            for_agent("/it's/holdpoint", "codex"),
            r"'/it'\''s/holdpoint' hook codex"
        );
    }

    /// Exit code 2 or a word there would have the agent go on, for ever.
    #[cfg(unix)]
    #[test]
    fn a_silent_line_says_nothing_whatever_becomes_of_its_program() {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("holdpoint");
        let text = "#!/bin/sh\necho '{\"decision\":\"block\"}'\necho no >&2\nexit 2\n";
        std::fs::write(&program, text).unwrap();
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        for program in [program.to_str().unwrap(), "/nonexistent/holdpoint"] {
            let line = silent(program, "codex");
            let ran = std::process::Command::new("sh")
                .args(["-c", &line])
                .output();
            let ran = ran.unwrap();
            assert_eq!(ran.status.code(), Some(0), "{line}");
            assert!(ran.stdout.is_empty() && ran.stderr.is_empty(), "{line}");
        }
    }

    #[test]
    fn a_line_that_does_more_is_not_plain() {
        for line in [
            "/opt/holdpoint hook codex",
            "'/my opt/holdpoint' hook codex || { [ $? -eq 2 ] || echo 'Holdpoint did not answer: this call may not run' >&2; exit 2; }",
        ] {
            assert!(Call::Line(line.into()).is_plain("codex"), "{line}");
        }
        for line in [
            "steal; /opt/holdpoint hook codex",
            "$(steal)/holdpoint hook codex",
            "/opt/holdpoint hook codex || steal",
            "X=1 /opt/holdpoint hook codex",
            "'/opt/'$(steal)'/holdpoint' hook codex",
        ] {
            assert!(!Call::Line(line.into()).is_plain("codex"), "{line}");
        }
    }

    #[test]
    fn another_program_is_not_ours() {
        for line in ["lint hook codex", "holdpoint check", "echo codex", ""] {
            let call = Call::Line(line.into());
            assert!(
                !(call.is_hook_of("codex") && call.is_named_holdpoint()),
                "{line}"
            );
        }
    }
}
