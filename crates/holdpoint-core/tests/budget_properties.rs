//! Whatever a call is padded with, it is never looser: every attack of `corpus/shell` behind more
//! than each limit of the budget, in the line itself and in the files it runs.
//!
//! In the line itself nothing may be left out, so the verdict is at least as strict as without the
//! padding. In a file, what is not read is asked about, so that nothing runs unasked that would be
//! asked about or refused. A run tries each padding on some commands, rotating with their place in
//! the corpus; `HOLDPOINT_FORMS=all` tries all.

#![allow(
    clippy::disallowed_methods,
    reason = "the cases are files, and how many are tried is said from outside"
)]

mod padding;
mod shell;

use std::fmt::Write as _;
use std::thread;

use holdpoint_core::{Policy, Verdict};

use crate::padding::{PADDINGS, numbered, words};
use crate::shell::{Case, Outcome, corpus, default_policy};

/// A command is tried with one of so many paddings, unless all are asked for.
const OF_PADDINGS: usize = 601;

/// A padding of a file: its name, and the case with a line that runs the command in a file.
type Hiding = (&'static str, fn(&Case, &str) -> (Case, String));

#[test]
fn padding_the_line_past_a_limit_never_loosens() -> Outcome<()> {
    each(PADDINGS.len(), |place, case, command, policy| {
        let Some((name, padding)) = PADDINGS.get(place) else {
            return Ok(None);
        };
        let plain = case.judged(command, policy)?.verdict;
        let padded = case
            .judged(&format!("{}\n{command}", padding()), policy)?
            .verdict;
        Ok((padded < plain).then(|| format!("{name}: {command}: {plain:?}, so {padded:?}")))
    })
}

#[test]
fn padding_a_file_past_a_limit_never_lets_it_run_unasked() -> Outcome<()> {
    each(HIDINGS.len(), |place, case, command, policy| {
        let Some((name, hide)) = HIDINGS.get(place) else {
            return Ok(None);
        };
        let (hidden, line) = hide(case, command);
        let judged = hidden.judged(&line, policy)?.verdict;
        Ok((judged < Verdict::Ask).then(|| format!("{name}: {command}: {judged:?}")))
    })
}

#[test]
fn what_can_be_read_of_a_padded_script_is_judged_besides() -> Outcome<()> {
    let padded = [
        "a large script",
        "a large program",
        "a script that is no text",
    ];
    let hidings: Vec<&Hiding> = HIDINGS
        .iter()
        .filter(|(name, _)| padded.contains(name))
        .collect();
    assert_eq!(hidings.len(), padded.len());
    each(hidings.len(), |place, case, command, policy| {
        let Some((name, hide)) = hidings.get(place) else {
            return Ok(None);
        };
        let (hidden, line) = hide(case, command);
        let judged = hidden.judged(&line, policy)?.verdict;
        // The script without its padding, which may be another thing than the command in a line.
        let (plain, line) = scripted(case, format!("#!/bin/sh\n{command}\n"));
        let plain = plain.judged(&line, policy)?.verdict;
        Ok((judged < plain).then(|| format!("{name}: {command}: {plain:?}, so {judged:?}")))
    })
}

/// What is wrong with a padding, if anything.
type Wrong = Outcome<Option<String>>;

/// Tries paddings on attacks and tells all that fail.
fn each(count: usize, tried: impl Fn(usize, &Case, &str, &Policy) -> Wrong + Sync) -> Outcome<()> {
    let wanted = std::env::var("HOLDPOINT_CASE").unwrap_or_default();
    let all = std::env::var("HOLDPOINT_FORMS").is_ok_and(|text| text == "all");
    let rotation = if all { 1 } else { OF_PADDINGS };
    let cases = corpus()?;
    let attacks: Vec<(usize, &Case, &str)> = cases
        .iter()
        .filter(|case| case.verdict >= Verdict::Ask)
        .flat_map(|case| case.commands.iter().map(move |command| (case, command)))
        .enumerate()
        .map(|(index, (case, command))| (index, case, command.as_str()))
        .filter(|(_, case, command)| case.topic.contains(&wanted) || command.contains(&wanted))
        .collect();
    let policy = default_policy()?;
    let run = |share: usize| -> Result<Vec<String>, String> {
        let mut wrong = Vec::new();
        for (index, case, command) in attacks.iter().filter(|(index, ..)| index % 2 == share) {
            for place in 0..count {
                // Each padding meets other commands than the one before it.
                if !(index + place * 31).is_multiple_of(rotation) {
                    continue;
                }
                let one = tried(place, case, command, &policy);
                wrong.extend(one.map_err(|problem| format!("{command}: {problem}"))?);
            }
        }
        Ok(wrong)
    };
    let (one, other) = thread::scope(|scope| {
        let other = scope.spawn(|| run(1));
        (run(0), other.join())
    });
    let mut wrong = one?;
    wrong.extend(other.map_err(|_| "a thread stopped")??);
    wrong.truncate(40);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// The case with a script that holds this, and a line that runs it.
fn scripted(case: &Case, script: String) -> (Case, String) {
    let mut hidden = case.clone();
    hidden.files.insert("pad.sh".to_owned(), script);
    (hidden, "bash ./pad.sh".to_owned())
}

const HIDINGS: &[Hiding] = &[
    ("a large script", |case, command| {
        let comments = "# nothing to see here\n".repeat(20_000);
        scripted(case, format!("{comments}{command}\n"))
    }),
    ("a large program", |case, command| {
        let comments = "# nothing to see here\n".repeat(20_000);
        let (hidden, _) = scripted(case, format!("#!/bin/sh\n{comments}{command}\n"));
        (hidden, "./pad.sh".to_owned())
    }),
    ("a script that is no text", |case, command| {
        let mut hidden = case.clone();
        let script = format!("#!/bin/sh\n{command}\n");
        let hex = script.bytes().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        hidden.bytes.insert("pad.sh".to_owned(), hex + "ff");
        (hidden, "./pad.sh".to_owned())
    }),
    ("many scripts", |case, command| {
        let (mut hidden, _) = scripted(case, format!("{command}\n"));
        for number in 0..70 {
            let text = format!("echo {number}\n");
            hidden.files.insert(format!("s{number}.sh"), text);
        }
        (
            hidden,
            format!("{} bash ./pad.sh", numbered(70, "bash s", ".sh; ")),
        )
    }),
    ("scripts of scripts", |case, command| {
        let mut hidden = case.clone();
        for number in 0..40 {
            let text = format!("bash s{}.sh\n", number + 1);
            hidden.files.insert(format!("s{number}.sh"), text);
        }
        hidden
            .files
            .insert("s40.sh".to_owned(), format!("{command}\n"));
        (hidden, "bash s0.sh".to_owned())
    }),
    ("commands of a script", |case, command| {
        scripted(case, format!("{}{command}\n", "true\n".repeat(1600)))
    }),
    ("words of a script", |case, command| {
        scripted(case, format!("echo {}\n{command}\n", words(30_000)))
    }),
    ("variables of a script", |case, command| {
        scripted(case, format!("{}{command}\n", numbered(300, "v", "=1\n")))
    }),
    ("functions of a script", |case, command| {
        scripted(
            case,
            format!("{}{command}\n", numbered(210, "f", "() { true; }\n")),
        )
    }),
    ("a script of a script that is no text", |case, command| {
        let mut hidden = case.clone();
        hidden
            .files
            .insert("pad.sh".to_owned(), "./inner.sh\n".to_owned());
        let script = format!("{command}\n");
        let hex = script.bytes().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        hidden.bytes.insert("inner.sh".to_owned(), hex + "ff");
        (hidden, "bash pad.sh".to_owned())
    }),
    ("lines of a Makefile", |case, command| {
        let mut hidden = case.clone();
        let lines = "\ttrue\n".repeat(2100);
        let last = command.replace('$', "$$").replace('\n', "; ");
        let makefile = format!("pad:\n{lines}\t{last}\n");
        hidden.files.insert("Makefile".to_owned(), makefile);
        (hidden, "make -f Makefile pad".to_owned())
    }),
    ("targets of a Makefile", |case, command| {
        let mut hidden = case.clone();
        let last = command.replace('$', "$$").replace('\n', "; ");
        let names = numbered(250, "t", " ");
        let rules = numbered(250, "t", ":\n\ttrue\n");
        let makefile = format!("pad: {names} end\n{rules}end:\n\t{last}\n");
        hidden.files.insert("Makefile".to_owned(), makefile);
        (hidden, "make -f Makefile pad".to_owned())
    }),
    ("a large Makefile", |case, command| {
        let mut hidden = case.clone();
        let comments = "# nothing to see here\n".repeat(20_000);
        let last = command.replace('$', "$$").replace('\n', "; ");
        let makefile = format!("{comments}pad:\n\t{last}\n");
        hidden.files.insert("Makefile".to_owned(), makefile);
        (hidden, "make -f Makefile pad".to_owned())
    }),
    ("a large package.json", |case, command| {
        let mut hidden = case.clone();
        let text = format!(
            "{{\"description\":\"{}\",\"scripts\":{{\"pad\":{command:?}}}}}",
            "x".repeat(300_000)
        );
        hidden.files.insert("package.json".to_owned(), text);
        (hidden, "npm run pad".to_owned())
    }),
    ("deeds of code", |case, command| {
        let mut hidden = case.clone();
        let deeds = "open('a')\n".repeat(600);
        let text = format!("import os\n{deeds}os.system({command:?})\n");
        hidden.files.insert("pad.py".to_owned(), text);
        (hidden, "python3 pad.py".to_owned())
    }),
    ("large code", |case, command| {
        let mut hidden = case.clone();
        let comments = "# nothing to see here\n".repeat(20_000);
        let text = format!("import os\n{comments}os.system({command:?})\n");
        hidden.files.insert("pad.py".to_owned(), text);
        (hidden, "python3 pad.py".to_owned())
    }),
    ("a detour", |case, command| {
        let (hidden, _) = scripted(case, format!("{command}\n"));
        (hidden, format!("bash {}pad.sh", "./".repeat(1500)))
    }),
];
