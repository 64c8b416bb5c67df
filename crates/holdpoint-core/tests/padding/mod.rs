//! Text that may stand in front of any command and takes more than some limit of the budget allows.

use std::fmt::Write as _;

/// A padding of the line: its name, and the text in front of the command.
pub(crate) type Padding = (&'static str, fn() -> String);

/// `wa wb wc …`: so many words that are no numbers.
pub(crate) fn words(count: usize) -> String {
    numbered(count, "w", "x ")
}

/// A text for each number, with a separator.
pub(crate) fn numbered(count: usize, front: &str, back: &str) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        let _ = write!(text, "{front}{number}{back}");
        text
    })
}

/// One for each limit a line can pass.
pub(crate) const PADDINGS: &[Padding] = &[
    ("commands", || "true;".repeat(2100)),
    ("words", || format!("echo {}", words(9000))),
    ("variables", || numbered(300, "v", "=1; ")),
    ("functions", || numbered(210, "f", "() { true; }; ")),
    ("loops", || "for i in 1 2; do x=$x$i; done; ".repeat(70)),
    ("words of a loop", || {
        format!("for pad in {}; do true; done", words(200))
    }),
    ("words added by xargs", || {
        format!("echo {} | xargs echo", words(3000))
    }),
    ("lines replaced by xargs", || {
        format!("printf '%s\\n' {} | xargs -I{{}} echo {{}}", words(2100))
    }),
    ("alternatives", || {
        format!("echo {{{}}}", words(300).trim_end().replace(' ', ","))
    }),
    ("items", || {
        format!("pad=({}); echo \"${{pad[@]}}\"", words(2100))
    }),
    ("a long value", || format!("pad='{}'", "x".repeat(70_000))),
    ("a long output", || {
        format!("echo '{}' | cat", "x".repeat(600_000))
    }),
    ("files written", || numbered(300, "echo x > pad", ".txt; ")),
    ("directories pushed", || {
        format!("({})", "pushd /tmp; ".repeat(70))
    }),
    ("directories left", || {
        format!("({} true)", "cd a || cd b; ".repeat(900))
    }),
    ("traps", || {
        format!("({})", "trap 'echo x' INT; ".repeat(20))
    }),
    ("substitutions", || {
        format!("echo {}x{}", "$(echo ".repeat(16), ")".repeat(16))
    }),
    ("braces of a group", || {
        format!("{} true; {}", "{ ".repeat(60), "}; ".repeat(60))
    }),
    ("code in code", || {
        let code = (0..5).fold("true".to_owned(), |code, _| {
            format!("bash -c {}", quoted(&code))
        });
        format!("{} {code}", "nice ".repeat(30))
    }),
    ("changed directories of files", || {
        numbered(70, "tar xf a -C d", "; ")
    }),
    ("a search path", || {
        format!("PATH={}:$PATH", words(70).trim_end().replace(' ', ":"))
    }),
    ("evaluations", || "x='a[$(true)]'; ((x)); ".repeat(70)),
];

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
