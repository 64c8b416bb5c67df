//! PowerShell: statements become the line of a shell that does the same.
//!
//! `Remove-Item -Rec -Fo x` is `rm -r x`, `iwr URL | iex` is `curl URL | sh`, and a program is itself. The line is
//! judged as any other, so there is one set of rules for both. What cmdlets do is data
//! (`rules/powershell.toml`). A cmdlet nobody has described, a method whose doing is not known and a
//! block that came from elsewhere make the reading opaque.

mod cmdlets;
mod constants;
mod members;
mod parameters;
mod paths;
mod statements;
mod tables;
#[cfg(test)]
mod tests;
mod words;

use super::{CodeEffect, CodeEffectKind, Limits, Operand, Reading};
use constants::Constants;

pub(crate) use paths::slashed;

/// Brackets inside of brackets: each is a call deeper on the stack. Deeper code is not read, and
/// said to be.
const MAX_NESTING: usize = 64;

pub(super) fn read(code: &str, limits: &Limits) -> Reading {
    let mut reader = Reader {
        limits,
        rest: code,
        reading: Reading::default(),
        line: String::new(),
        constants: Constants::of(code),
        in_table: false,
    };
    reader.statements(None, 0);
    let Reader {
        mut reading, line, ..
    } = reader;
    if !line.trim().is_empty() {
        let span = 0..code.len();
        reading.effects.push(CodeEffect::plain(
            CodeEffectKind::Shell(Operand::Known(line)),
            span,
        ));
    }
    reading
}

/// A reading on its way through the text.
struct Reader<'c, 'l> {
    limits: &'l Limits,
    rest: &'c str,
    reading: Reading,
    /// The shell's line so far.
    line: String,
    /// What variables are known to hold.
    constants: Constants,
    /// The statements are those of a table: `@{ key = value }`.
    in_table: bool,
}
