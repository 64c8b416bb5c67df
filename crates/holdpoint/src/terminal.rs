//! Standard output, and what a person may see of somebody else's text.

use std::env;
use std::io::{self, BufWriter, IsTerminal, Write};

use holdpoint::Verdict;

/// Where output goes.
pub(crate) struct Terminal {
    pub(crate) out: BufWriter<Box<dyn Write>>,
    colour: bool,
}

impl Terminal {
    /// Standard output, in colour if it is a terminal and nobody objects.
    pub(crate) fn standard() -> Self {
        let stdout = io::stdout();
        let plain = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            colour: stdout.is_terminal() && !plain,
            out: BufWriter::with_capacity(1 << 16, Box::new(stdout)),
        }
    }

    /// The verdict's word, coloured by how strict it is.
    pub(crate) fn verdict(&self, verdict: Verdict) -> String {
        let code = match verdict {
            Verdict::Allow => "32",
            Verdict::Notify => "36",
            Verdict::Ask => "33",
            Verdict::Review => "35",
            Verdict::Deny => "31",
        };
        self.paint(code, verdict.word())
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

/// Text from outside on one line: what a terminal would act on is escaped, and what is long is cut.
pub(crate) fn shown(text: &str, most: usize) -> String {
    let mut line = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == most {
            line.push('…');
            break;
        }
        if c.is_control() || is_invisible(c) {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    line
}

/// Characters that change how text around them looks without being seen.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_never_acts_on_somebody_elses_text() {
        assert_eq!(
            shown("a\x1b[31mb\n\u{202e}", 99),
            "a\\u{1b}[31mb\\n\\u{202e}"
        );
        assert_eq!(shown("abcdef", 3), "abc…");
    }
}
