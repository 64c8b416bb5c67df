//! What reading finds, and what it leaves alone.
//!
//! A case is code and what is read from it: effects in order, with `; ` between them. `?` is an
//! unknown operand, `x…` one that begins with `x`, and `!Why` at the end that something is not
//! followed.

mod awk;
mod clients;
mod javascript;
mod lua;
mod perl;
mod php;
mod properties;
mod python;
mod ruby;
mod vim;

use super::{
    Carried, CodeEffect, CodeEffectKind, Language, Limits, MAX_CODE_DEPTH, Operand, Place, Reading,
    walker,
};
use crate::budget::Budget;

/// Reads code with all that a call may use.
fn read(language: Language, code: &str) -> Reading {
    super::read(language, code, &Place::default(), &Budget::new())
}

/// Reads code as if every name in it might be used before it stands for something.
fn read_twice(language: Language, code: &str) -> Reading {
    let limits = Limits {
        budget: Budget::new(),
        code: MAX_CODE_DEPTH,
        place: Place::default(),
    };
    match language {
        Language::Vim | Language::Awk | Language::PowerShell => read(language, code),
        Language::Python
        | Language::JavaScript
        | Language::Ruby
        | Language::Perl
        | Language::Php
        | Language::Lua => walker::read_twice(language, code, &limits),
    }
}

/// Compares each case, and tells all that differ at once.
fn check(language: Language, cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(code, expected)| {
            let found = shown(&read(language, code));
            assert_eq!(found, shown(&read_twice(language, code)), "{code}");
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
    let mut parts: Vec<String> = reading.effects.iter().map(effect).collect();
    parts.extend(reading.opaque.map(|why| format!("!{why:?}")));
    parts.join("; ")
}

fn effect(effect: &CodeEffect) -> String {
    let mut text = done(effect);
    if let Some(under) = &effect.setting {
        if let Some(input) = &under.input {
            text = format!("{text} < {}", operand(input));
        }
        if let Some(directory) = &under.directory {
            text = format!("{text} in {}", operand(directory));
        }
        for (name, value) in &under.variables {
            text = format!("{text} with {name}={}", operand(value));
        }
    }
    text
}

fn done(effect: &CodeEffect) -> String {
    match &effect.kind {
        CodeEffectKind::Delete {
            path,
            recursive: false,
        } => format!("delete {}", operand(path)),
        CodeEffectKind::Delete {
            path,
            recursive: true,
        } => format!("delete -r {}", operand(path)),
        CodeEffectKind::Write { path } => format!("write {}", operand(path)),
        CodeEffectKind::Append { path } => format!("append {}", operand(path)),
        CodeEffectKind::Read { path } => format!("read {}", operand(path)),
        CodeEffectKind::ChangeMode { path } => format!("mode {}", operand(path)),
        CodeEffectKind::Rename { from, to } => format!("rename {} {}", operand(from), operand(to)),
        CodeEffectKind::Shell(line) => format!("shell {}", operand(line)),
        CodeEffectKind::Run(words) => {
            let words: Vec<String> = words.iter().map(operand).collect();
            format!("run {}", words.join("|"))
        }
        CodeEffectKind::Connect(host) => format!("connect {}", operand(host)),
        CodeEffectKind::Send { to, what } => format!("send {} {}", carried(what), operand(to)),
        CodeEffectKind::Print(what) => format!("print {}", carried(what)),
        CodeEffectKind::Eval => "eval".to_owned(),
    }
}

fn carried(what: &Carried) -> String {
    match what {
        Carried::File(path) => operand(path),
        Carried::Environment => "environment".to_owned(),
        Carried::Variable(name) => format!("${name}"),
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
fn an_effect_stands_where_its_call_stands() {
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
            .effects
            .iter()
            .filter_map(|effect| code.get(effect.span.clone()))
            .collect();
        assert_eq!(found, [expected], "{code}");
    }
}
