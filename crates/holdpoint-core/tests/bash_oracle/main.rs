//! The reader against a real bash.
//!
//! Generated lines are run by bash with nothing to run: what bash tried to start, word by word, is
//! compared with what the reader lists. The comparison is sound in both directions:
//!
//! - **Nothing is missed.** Every command bash ran is shown by a command of the list: with exactly
//!   its words where they are all said to be known, with the known words in their places around
//!   those said to be dynamic, or hidden behind a command that is marked opaque.
//! - **Nothing is made up.** Each command of a line has a number of its own among its words, so
//!   only the readings of the same place can show it. Where the reader lists one reading and says
//!   that it knows all of its words, bash must have run exactly these words, if it came to that
//!   place. Several readings are several values a variable may have; one of them must be the true
//!   one. That a listed command did not run says nothing: every branch is listed.
//!
//! Lines that bash or the reader refuses are fine. `HOLDPOINT_ORACLE_LINES` says how many lines to
//! try, `HOLDPOINT_ORACLE_SEED` which ones, `HOLDPOINT_ORACLE_REPORT` how many differences to look
//! for before giving up; each is shortened before it is shown.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test may fail loudly, and this one runs a real bash"
)]

mod covering;
mod found;
mod generator;
mod indirect;
mod machine;
mod tools;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use covering::{Shown, shown};
use generator::Dice;
use holdpoint_core::opaque::{Opaque, Reason};
use holdpoint_core::shell::{Command, commands};
use machine::Machine;

/// Lines tried without a wish for more.
const LINES: usize = 4_000;
/// Lines one bash runs.
const BATCH: usize = 500;

/// Whether a command may be followed by others that nobody can list.
fn hides(command: &Command) -> bool {
    let hides = |opaque: &Opaque| match opaque.reason {
        Reason::InlineCode | Reason::ExecutableSetting => false,
        Reason::DynamicProgram
        | Reason::DynamicCode
        | Reason::PipedIntoShell
        | Reason::Downloaded
        | Reason::Decoded
        | Reason::ScriptFromInput
        | Reason::Unreadable
        | Reason::TooDeep
        | Reason::CallsItself
        | Reason::OverBudget
        | Reason::CannotRead
        | Reason::TooLarge
        | Reason::NotText
        | Reason::BuiltBefore
        | Reason::ChangedBefore => true,
    };
    command.opaque.iter().any(hides)
}

/// The first command of a line that the reader does not show.
fn difference(line: &str, ran: &[Vec<String>]) -> Option<Vec<String>> {
    let listed = commands(line).ok()?;
    ran.iter()
        .find(|argv| shown(&listed, argv, hides).is_none())
        .cloned()
}

/// A shorter line with a difference in a command of the same name: words are left out first, then
/// letters.
fn shortened(line: &str, program: &str, machine: &Machine) -> String {
    let words: Vec<&str> = line
        .split_inclusive([' ', ';', '\n', '(', ')', '{', '}'])
        .collect();
    let line = fewer(words, program, machine);
    let letters: Vec<&str> = line.split("").collect();
    fewer(letters, program, machine)
}

fn fewer(mut pieces: Vec<&str>, program: &str, machine: &Machine) -> String {
    let mut size = pieces.len() / 2;
    while size > 0 {
        let without = |places: &[usize]| -> Vec<&str> {
            let kept = |place: &usize| !places.iter().any(|at| (*at..at + size).contains(place));
            let all = pieces.iter().enumerate();
            all.filter(|(place, _)| kept(place))
                .map(|(_, piece)| *piece)
                .collect()
        };
        // Each piece left out by itself, all in one bash, and then all that may be left out.
        let places: Vec<usize> = (0..pieces.len()).step_by(size).collect();
        let tries: Vec<String> = places.iter().map(|at| without(&[*at]).concat()).collect();
        let found: Vec<usize> = differing(&tries, program, machine)
            .into_iter()
            .map(|at| places[at])
            .collect();
        let together = without(&found);
        let shorter = match found.first() {
            None => None,
            Some(_) if !differing(&[together.concat()], program, machine).is_empty() => {
                Some(together)
            }
            Some(first) => Some(without(&[*first])),
        };
        match shorter {
            Some(shorter) => pieces = shorter,
            None => size /= 2,
        }
        size = size.min(pieces.len());
    }
    pieces.concat()
}

/// Which of these lines have a difference in a command of this name.
fn differing(lines: &[String], program: &str, machine: &Machine) -> Vec<usize> {
    let ran = machine.start(usize::MAX, lines).finish().ran;
    let pairs = lines.iter().zip(ran).enumerate();
    pairs
        .filter(|(_, (line, ran))| {
            difference(line, ran)
                .is_some_and(|argv| argv.first().is_some_and(|name| name == program))
        })
        .map(|(at, _)| at)
        .collect()
}

fn wish(name: &str, otherwise: usize) -> usize {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(otherwise)
}

#[derive(Default, Debug)]
struct Tally {
    lines: usize,
    refused: BTreeMap<String, usize>,
    endless: usize,
    ran: usize,
    shown: BTreeMap<Shown, usize>,
    listed: usize,
    reading: Duration,
    both: Duration,
}

#[test]
fn lines_that_once_differed_are_read_as_bash_runs_them() {
    let machine = Machine::new("found");
    let lines: Vec<String> = found::ONCE_DIFFERENT
        .iter()
        .map(|line| (*line).to_owned())
        .collect();
    let finished = machine.start(0, &lines).finish();
    assert_eq!(finished.endless, 0, "bash did not end");
    let ran = finished.ran;
    for (line, ran) in lines.iter().zip(ran) {
        assert_eq!(difference(line, &ran), None, "{line:?}");
    }
}

#[test]
fn what_bash_runs_is_what_the_reader_says() {
    let machine = Machine::new("generated");
    let wanted = wish("HOLDPOINT_ORACLE_LINES", LINES);
    let most = wish("HOLDPOINT_ORACLE_REPORT", 5);
    let seed = wish("HOLDPOINT_ORACLE_SEED", 0) as u64;
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let mut tally = Tally::default();
    let mut differences: Vec<String> = Vec::new();
    while tally.lines < wanted && differences.len() < most {
        let lines: Vec<String> = (0..BATCH.min(wanted - tally.lines))
            .map(|_| generator::line(&mut dice))
            .collect();
        let begin = Instant::now();
        // Bash and the reader work at the same time.
        let bash = machine.start(tally.lines, &lines);
        let lists: Vec<_> = lines.iter().map(|line| commands(line)).collect();
        tally.reading += begin.elapsed();
        let finished = bash.finish();
        tally.both += begin.elapsed();
        tally.endless += finished.endless;
        let ran = finished.ran;
        tally.lines += lines.len();
        for ((line, listed), ran) in lines.iter().zip(lists).zip(ran) {
            let listed = match listed {
                Ok(listed) => listed,
                Err(refusal) => {
                    let reason = format!("{:?}", refusal.reason);
                    *tally.refused.entry(reason).or_default() += 1;
                    continue;
                }
            };
            tally.listed += listed.len();
            tally.ran += ran.len();
            for argv in &ran {
                match shown(&listed, argv, hides) {
                    Some(how) => *tally.shown.entry(how).or_default() += 1,
                    None => {
                        let program = argv.first().map_or("", String::as_str);
                        let line = shortened(line, program, &machine);
                        let argv = difference(&line, &machine.ran(&line));
                        let text = format!("bash ran {argv:?}\n  line {line:?}");
                        if !differences.contains(&text) {
                            eprintln!("{text}");
                            differences.push(text);
                        }
                        break;
                    }
                }
            }
        }
    }
    eprintln!("{tally:#?}");
    assert!(
        differences.is_empty(),
        "the reader does not list what bash ran:\n{}",
        differences.join("\n")
    );
    let refused: usize = tally.refused.values().sum();
    assert!(refused * 10 < tally.lines * 2, "too many lines refused");
    assert!(tally.ran > tally.lines, "bash ran too little");
    let count = |how| tally.shown.get(&how).copied().unwrap_or_default();
    assert!(
        count(Shown::Exactly) * 10 > tally.ran * 4,
        "too little is known"
    );
    // A few values use themselves; what such a line ran until it was ended is compared, too.
    assert!(
        tally.endless * 1000 <= tally.lines,
        "lines that bash did not end"
    );
}
