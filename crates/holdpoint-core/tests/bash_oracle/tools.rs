//! The reader against real tools that start others: `env -S`, `xargs`, `find -exec`, `make` and git's
//! aliases. Generated lines are run with one stub program that writes down its words; every command
//! that really ran must be shown by a command of the list, or hidden behind a mark.
//!
//! `HOLDPOINT_ORACLE_TOOLS` says how many lines to try.

use holdpoint_core::opaque::Reason;
use holdpoint_core::shell::{Command, Text, commands};

use crate::generator::Dice;
use crate::machine::{Machine, is_installed};
use crate::wish;

/// Lines tried without a wish for more.
const LINES: usize = 300;
/// Lines one bash runs.
const BATCH: usize = 100;

/// The program that writes down its words.
const STUB: &str = "cmd_w";

/// Words a shell makes one of.
const WORDS: [&str; 12] = [
    "a", "-n", "'b c'", "\"d e\"", "--x=1", "k=v", "/", "''", "-rf", "\"it's\"", "x#y", "é",
];

/// Pieces of what `env -S` splits.
const PIECES: [&str; 16] = [
    "a",
    "-rf",
    "\"d e\"",
    "\\_",
    " ",
    "  ",
    "\\t",
    "x=1",
    "\"f\\_g\"",
    "#h",
    "i#j",
    "\\#k",
    "\\$l",
    "\\\\",
    "m\\c n",
    "${HOME}",
];

fn one_of<'t>(dice: &mut Dice, texts: &[&'t str]) -> &'t str {
    texts[dice.roll(texts.len())]
}

fn words(dice: &mut Dice, most: usize) -> String {
    let count = dice.roll(most + 1);
    let all: Vec<&str> = (0..count).map(|_| one_of(dice, &WORDS)).collect();
    all.join(" ")
}

fn env(dice: &mut Dice) -> String {
    let front = one_of(dice, &["", "-u X ", "A=1 ", "-uX ", "--unset=Y "]);
    let count = dice.roll(6);
    let mut text = one_of(dice, &["", "B=2 ", "-u Z "]).to_owned() + STUB + " ";
    for _ in 0..count {
        text += one_of(dice, &PIECES);
        text += one_of(dice, &["", " "]);
    }
    let option = one_of(
        dice,
        &[
            "-S ",
            "-S",
            "--split-string=",
            "--split-string ",
            "--sp=",
            "-vS ",
        ],
    );
    // Assignments in front of the option end it.
    let front = if front.starts_with('A') { "" } else { front };
    format!("env {front}{option}'{text}' {}", words(dice, 3))
}

fn xargs(dice: &mut Dice) -> String {
    let input = one_of(
        dice,
        &["a b", "a\\nb\\n", "x  y\\tz", "\"q r\" s", "-n\\n/"],
    );
    let options = one_of(
        dice,
        &[
            "",
            "-n1",
            "-n 2",
            "-I{} ",
            "-r",
            "-L 1",
            "-t -n1",
            "--max-args=1",
            "--max-a 1",
            "-P1",
            "-I% ",
            "-i",
        ],
    );
    let own = words(dice, 2);
    let marker = one_of(dice, &["", "{}", "p{}q", "%"]);
    format!("printf '{input}' | xargs {options} {STUB} {own} {marker}")
}

fn find(dice: &mut Dice) -> String {
    let tests = one_of(
        dice,
        &[
            "",
            "-maxdepth 0",
            "-type d",
            "-name .",
            "! -name x",
            "-name x -o -name .",
        ],
    );
    let action = one_of(dice, &["-exec", "-execdir"]);
    let own = words(dice, 2);
    let end = one_of(
        dice,
        &[
            "{} \\;",
            "{} +",
            "\\;",
            "p{}q \\;",
            "{} ';' -exec cmd_w 2 {} +",
        ],
    );
    format!("find . {tests} {action} {STUB} {own} {end}")
}

fn make(dice: &mut Dice) -> String {
    let own = words(dice, 2).replace(['\'', '#'], "");
    let silent = one_of(dice, &["", "@", "-", "@-"]);
    let variable = one_of(dice, &["", " $(X)", " ${X}", " $X"]);
    let text = format!(
        "X = one\\nall: dep\\n\\t{silent}{STUB} {own}{variable}\\ndep:\\n\\t{STUB} dep $@\\n"
    );
    let goal = one_of(dice, &["", "all", "dep", "X=two", "X=two all"]);
    match dice.roll(3) {
        0 => format!("make -f <(printf '{text}') {goal}"),
        1 => format!("printf '{text}' | make -f - {goal}"),
        _ => format!("printf '{text}' | make -s --file=- {goal}"),
    }
}

fn alias(dice: &mut Dice) -> String {
    let own = words(dice, 2).replace('\'', "");
    let front = one_of(dice, &["", "-C . ", "--no-pager ", "-c user.name=x "]);
    let key = one_of(dice, &["alias.xx", "Alias.xx", "ALIAS.xx"]);
    let given = words(dice, 2);
    let glued = one_of(dice, &["-c ", "-c"]);
    // Git takes no option glued to its letter.
    let glued = if glued == "-c" { "-c " } else { glued };
    format!("git {front}{glued}{key}='!{STUB} {own}' xx {given}")
}

/// Whether a command may be followed by others that nobody can list.
fn hides(command: &Command) -> bool {
    let hides =
        |reason: Reason| reason != Reason::InlineCode && reason != Reason::ExecutableSetting;
    command.opaque.iter().any(|opaque| hides(opaque.reason))
}

/// Whether words can be what ran: a dynamic one is any number of them.
fn covers(words: &[Text], argv: &[String]) -> bool {
    match words.split_first() {
        None => argv.is_empty(),
        Some((first, rest)) if first.dynamic => {
            (0..=argv.len()).any(|taken| covers(rest, &argv[taken..]))
        }
        Some((first, rest)) => argv.first() == Some(&first.text) && covers(rest, &argv[1..]),
    }
}

/// Whether what ran is a part of these words, in their order.
fn holds(words: &[Text], argv: &[String]) -> bool {
    let mut words = words.iter();
    argv.iter()
        .all(|ran| words.any(|word| !word.dynamic && word.text == *ran))
}

#[test]
fn what_tools_run_is_what_the_reader_says() {
    let machine = Machine::new("tools");
    type Generator = fn(&mut Dice) -> String;
    let all: [(&str, Generator); 5] = [
        ("env", env),
        ("xargs", xargs),
        ("find", find),
        ("make", make),
        ("git", alias),
    ];
    let installed: Vec<(&str, Generator)> = all
        .into_iter()
        .filter(|(name, _)| is_installed(name))
        .collect();
    let wanted = wish("HOLDPOINT_ORACLE_TOOLS", LINES);
    let mut dice = Dice(0x2545_f491_4f6c_dd1d ^ wish("HOLDPOINT_ORACLE_SEED", 0) as u64);
    let mut differences: Vec<String> = Vec::new();
    let (mut ran_all, mut tried, mut refused, mut hidden) = (0, 0, 0, 0);
    while tried < wanted {
        let lines: Vec<String> = (0..BATCH)
            .map(|at| (installed[at % installed.len()].1)(&mut dice))
            .collect();
        let finished = machine.start(tried, &lines).finish();
        assert_eq!(finished.endless, 0, "bash did not end");
        let ran = finished.ran;
        tried += lines.len();
        for (line, ran) in lines.iter().zip(ran) {
            let Ok(listed) = commands(line) else {
                refused += 1;
                continue;
            };
            ran_all += ran.len();
            for argv in ran.iter().filter(|argv| argv[0] == STUB) {
                // What xargs does in several runs is listed as one.
                let several = line.contains("xargs");
                let shown = listed.iter().any(|command| {
                    covers(&command.words, argv) || (several && holds(&command.words, argv))
                });
                if !shown && listed.iter().any(hides) {
                    hidden += 1;
                } else if !shown {
                    let list: Vec<String> = listed.iter().map(Command::line).collect();
                    differences.push(format!("{line}\n  ran {argv:?}\n  listed {list:?}"));
                }
            }
        }
    }
    eprintln!("{tried} lines, {ran_all} commands, {hidden} hidden, {refused} refused");
    differences.truncate(20);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(ran_all * 2 > tried, "the tools ran too little");
    assert!(hidden * 4 < ran_all, "too little is known");
}
