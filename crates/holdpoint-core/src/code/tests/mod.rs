//! What reading finds, and what it leaves alone.
//!
//! A case is code and what is read from it: deeds in order, with `; ` between them. `?` is an
//! unknown operand, `x…` one that begins with `x`, and `!Why` at the end that something is not
//! followed.

mod awk;
mod javascript;
mod lua;
mod perl;
mod php;
mod properties;
mod python;
mod ruby;
mod vim;

use super::{Deed, DeedKind, Language, Operand, Reading};
use crate::budget::Budget;

/// Reads code with all that a call may use.
fn read(language: Language, code: &str) -> Reading {
    super::read(language, code, &Budget::new())
}

/// Compares each case, and tells all that differ at once.
fn check(language: Language, cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(code, expected)| {
            let found = shown(&read(language, code));
            (found != *expected)
                .then(|| format!("{code}\n  expected: {expected}\n  found:    {found}"))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} cases differ\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

/// Nothing may be found in any of these.
fn check_harmless(language: Language, cases: &[&str]) {
    let cases: Vec<(&str, &str)> = cases.iter().map(|code| (*code, "")).collect();
    check(language, &cases);
}

fn shown(reading: &Reading) -> String {
    let mut parts: Vec<String> = reading.deeds.iter().map(deed).collect();
    parts.extend(reading.opaque.map(|why| format!("!{why:?}")));
    parts.join("; ")
}

fn deed(deed: &Deed) -> String {
    match &deed.kind {
        DeedKind::Delete {
            path,
            recursive: false,
        } => format!("delete {}", operand(path)),
        DeedKind::Delete {
            path,
            recursive: true,
        } => format!("delete -r {}", operand(path)),
        DeedKind::Write { path } => format!("write {}", operand(path)),
        DeedKind::Append { path } => format!("append {}", operand(path)),
        DeedKind::Read { path } => format!("read {}", operand(path)),
        DeedKind::ChangeMode { path } => format!("mode {}", operand(path)),
        DeedKind::Rename { from, to } => format!("rename {} {}", operand(from), operand(to)),
        DeedKind::Shell(line) => format!("shell {}", operand(line)),
        DeedKind::Run(words) => {
            let words: Vec<String> = words.iter().map(operand).collect();
            format!("run {}", words.join("|"))
        }
        DeedKind::Connect(host) => format!("connect {}", operand(host)),
        DeedKind::Eval => "eval".to_owned(),
    }
}

fn operand(operand: &Operand) -> String {
    match operand {
        Operand::Known(text) => text.clone(),
        Operand::Starts(text) => format!("{text}…"),
        Operand::Unknown => "?".to_owned(),
    }
}

#[test]
fn a_deed_stands_where_its_call_stands() {
    for (language, code, expected) in [
        (
            Language::Python,
            "import os; os.remove('x')",
            "os.remove('x')",
        ),
        (
            Language::Python,
            "import os; list(map(os.remove, a))",
            "map(os.remove, a)",
        ),
        (
            Language::Python,
            "print(1); exec('open(\"x\", \"w\")')",
            "exec('open(\"x\", \"w\")')",
        ),
        (
            Language::Python,
            "import os; x = lambda: os.system",
            "os.system",
        ),
        (
            Language::JavaScript,
            "1; require('fs').rmSync('x')",
            "require('fs').rmSync('x')",
        ),
        (Language::Ruby, "x; system 'a', 'b'", "system 'a', 'b'"),
        (Language::Perl, "1; unlink 'a'; 2", "unlink 'a'"),
        (Language::Php, "echo 1; echo `id`;", "`id`"),
    ] {
        let reading = read(language, code);
        let found: Vec<&str> = reading
            .deeds
            .iter()
            .filter_map(|deed| code.get(deed.span.clone()))
            .collect();
        assert_eq!(found, [expected], "{code}");
    }
}
