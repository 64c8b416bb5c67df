//! What holds for every program of `programs.toml`, read off the table itself.

use std::collections::BTreeSet;

use super::EffectKind;
use crate::call::ToolCall;
use crate::rules::{PROGRAM_NAMES, PROGRAMS, Program, Role, Roles, words};
use crate::understand::Action;

/// What the first command of a line does, for packs and for rules about places.
type Read = (Vec<(EffectKind, Option<String>)>, Vec<(EffectKind, String)>);

fn read(line: &str) -> Read {
    let action = Action::of(&ToolCall::shell(line));
    let effects = action.meanings.first().map(|meaning| meaning.effects());
    let mut effects: Vec<_> = (effects.unwrap_or_default().iter())
        // Whether the code in a file is known is for the shell's reader to say.
        .filter(|effect| effect.kind != EffectKind::Opaque)
        .map(|effect| (effect.kind, effect.place.path.clone()))
        .collect();
    effects.sort();
    effects.dedup();
    let mut paths: Vec<_> = (action.paths().iter())
        .filter(|path| path.command == Some(0))
        .map(|path| (path.kind, path.text.clone()))
        .collect();
    paths.sort();
    paths.dedup();
    (effects, paths)
}

/// The words in front of a flag that make a case hold: its subcommand and its flags.
fn front(subcommand: &[&str], flags: &[&str]) -> Option<String> {
    let mut words = String::new();
    for word in subcommand
        .first()
        .into_iter()
        .flat_map(|words| words.split(' '))
    {
        if word.contains(['*', '?']) {
            return None;
        }
        words.push_str(&format!(" {word}"));
    }
    for flag in flags {
        let one = flag.split(" | ").next().unwrap_or_default();
        if one.contains(['*', '?', '=']) {
            return None;
        }
        words.push_str(&format!(" {one}"));
    }
    Some(words)
}

/// The spellings of a flag with a value.
fn spellings(program: &Program, flag: &str, value: &str) -> Vec<String> {
    let long = flag.starts_with("--") || program.single_dash;
    let glued = match long {
        true => program.glued.contains(&flag),
        false => flag.len() == 2,
    };
    let mut all = vec![format!("{flag} {value}")];
    if long {
        all.push(format!("{flag}={value}"));
    }
    if glued {
        all.push(format!("{flag}{value}"));
    }
    all
}

#[test]
fn a_flags_value_is_the_same_in_every_spelling() {
    let mut compared = 0;
    let mut different = Vec::new();
    // A name with a slash in it is one of a package, and nobody runs it by that; `time` is a word of
    // the shell, with flags of its own.
    let is_program = |name: &str| !name.contains('/') && name != "time";
    let mut seen = BTreeSet::new();
    for (name, at) in PROGRAM_NAMES.iter().filter(|(name, _)| is_program(name)) {
        // Its other names are read off the same table.
        if !seen.insert(*at) {
            continue;
        }
        let program = PROGRAMS.get(*at).unwrap();
        let own: (&[&str], &[&str], &Roles) = (&[], &[], &program.roles);
        let cases = (program.cases.iter()).map(|case| (case.subcommand, case.flags, &case.roles));
        for (subcommand, flags, roles) in std::iter::once(own).chain(cases) {
            let Some(front) = front(subcommand, flags) else {
                continue;
            };
            for (flag, role) in roles.flag_operands {
                let takes = program.roles.values.contains(flag) || roles.values.contains(flag);
                let twice = flags.iter().any(|given| given.contains(flag));
                // A cluster without its dash has no value glued to it.
                if !takes || twice || *role == Role::Text || (program.dashless && flag.len() == 2) {
                    continue;
                }
                let at_file = roles.at_file.contains(flag) || program.roles.at_file.contains(flag);
                let value = if at_file { "@./secrets" } else { "./secrets" };
                let lines: Vec<String> = spellings(program, flag, value)
                    .iter()
                    .map(|spelling| format!("{name}{front} {spelling} x"))
                    .collect();
                let first = read(&lines[0]);
                for line in &lines[1..] {
                    compared += 1;
                    let other = read(line);
                    if first != other {
                        let both = format!("{first:?}\n    {other:?}");
                        different.push(format!("`{}` and `{line}`\n    {both}", lines[0]));
                    }
                }
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(compared > 1000, "{compared}");
}

#[test]
fn the_last_of_many_operands_counts() {
    for count in [10, 600, 3000] {
        let many = "x ".repeat(count);
        for line in [format!("rm {many}secrets"), format!("rm secrets {many}")] {
            let (effects, paths) = read(&line);
            let there = (EffectKind::Delete, Some("/workspace/secrets".to_owned()));
            assert!(effects.contains(&there), "{count}");
            assert!(
                paths.contains(&(EffectKind::Delete, "secrets".to_owned())),
                "{count}"
            );
        }
    }
    // What is more than can be told is not passed over.
    let words: Vec<String> = (0..5000).map(|n| format!("f{n}")).collect();
    let action = Action::of(&ToolCall::shell(format!("rm {} secrets", words.join(" "))));
    assert!(action.trouble.is_some());
    let first = action.commands.first().unwrap();
    assert!(!first.command.opaque.is_empty());
}

#[test]
fn every_kind_has_its_word_and_bit() {
    assert_eq!(EffectKind::ALL.len(), words::EFFECTS.len());
    for kind in EffectKind::ALL {
        assert_eq!(
            words::bit(words::EFFECTS, kind.as_str()).map(|bit| bit & kind.bit()),
            words::bit(words::EFFECTS, kind.as_str())
        );
    }
}
