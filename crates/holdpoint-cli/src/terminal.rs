//! Standard output.

use std::env;
use std::io::{self, BufWriter, IsTerminal, Write};

use holdpoint_core::text::Severity;
use holdpoint_engine::Verdict;

pub(crate) use holdpoint_engine::escape_for_display;

/// Where output goes.
pub(crate) struct Terminal {
    pub(crate) out: BufWriter<Box<dyn Write>>,
    colour: bool,
    width: Option<usize>,
}

impl Terminal {
    /// Standard output, in colour if it is a terminal and nobody objects.
    pub(crate) fn standard() -> Self {
        let stdout = io::stdout();
        let plain = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            width: terminal_size::terminal_size_of(&stdout)
                .map(|(width, _)| usize::from(width.0))
                .filter(|width| *width > 0),
            colour: stdout.is_terminal() && !plain,
            out: BufWriter::with_capacity(1 << 16, Box::new(stdout)),
        }
    }

    /// The verdict's word, coloured by how strict it is.
    pub(crate) fn verdict(&self, verdict: Verdict) -> String {
        self.like(verdict, verdict.as_str())
    }

    /// Text in the colour of a verdict.
    pub(crate) fn like(&self, verdict: Verdict, text: &str) -> String {
        let code = match verdict {
            Verdict::Allow => "32",
            Verdict::Notify => "36",
            Verdict::Contain => "34",
            Verdict::Ask => "33",
            Verdict::Review => "35",
            Verdict::Deny => "31",
        };
        self.paint(code, text)
    }

    /// The severity's word, coloured by how bad it is.
    pub(crate) fn severity(&self, severity: Severity) -> String {
        let code = match severity {
            Severity::Critical => "1;31",
            Severity::High => "31",
            Severity::Medium => "33",
            Severity::Low => "36",
            Severity::Info => "2",
        };
        self.paint(code, severity.name())
    }

    /// How many characters a line has; none where output is no terminal, and so not cut.
    pub(crate) fn width(&self) -> Option<usize> {
        self.width
    }

    /// Text that matters less.
    pub(crate) fn faint(&self, text: &str) -> String {
        self.paint("2", text)
    }

    /// A heading.
    pub(crate) fn heading(&self, text: &str) -> String {
        self.paint("1", text)
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}
