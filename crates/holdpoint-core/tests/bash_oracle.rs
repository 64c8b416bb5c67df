//! The reader against a real bash.
//!
//! Lines made of programs that do not exist are run by bash with no way to find any program;
//! a `command_not_found_handle` logs what bash tried to run. Every one of those commands must
//! be in the reader's list. Lines that bash or the reader refuses are fine, as long as nothing
//! ran that a list does not show.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test may fail loudly, and this one runs a real bash"
)]

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use holdpoint_core::shell::commands;

const LINES: usize = 600;
const PROGRAMS: [&str; 6] = ["cmd_a", "cmd_b", "cmd_c", "cmd_d", "cmd_e", "cmd_f"];

/// A small generator: the same lines on every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.roll(from.len())]
    }
}

fn simple(dice: &mut Dice, depth: usize) -> String {
    let mut text = String::new();
    if dice.roll(8) == 0 {
        text += &format!("x={} ", word(dice, depth));
    }
    let program = dice.pick(&PROGRAMS);
    text += &match dice.roll(8) {
        0 => format!("'{program}'"),
        1 => program.replace('_', "\\_"),
        2 => program.replace('_', "\\\n_"),
        3 => program.replace("cmd", "c\"m\"d"),
        4 => program.replace("cmd", "$'\\x63md'"),
        _ => program.to_owned(),
    };
    for _ in 0..dice.roll(3) {
        text += " ";
        text += &word(dice, depth);
    }
    if dice.roll(8) == 0 {
        text += dice.pick(&[
            " 2>&1",
            " </dev/null",
            " >/dev/null",
            " 2>/dev/null",
            " <<< x",
        ]);
    }
    text
}

fn word(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 {
        return dice
            .pick(&[
                "a", "'b c'", "\"d e\"", "{f,g}", "$h", "i#j", "\\;", "''", "*", "~", "$'\\n'",
                "if", "}", "k=l",
            ])
            .to_owned();
    }
    let depth = depth - 1;
    match dice.roll(16) {
        0 => format!("$({})", list(dice, depth)),
        1 => format!("\"$({})\"", list(dice, depth)),
        2 => format!("${{x:-$({})}}", list(dice, depth)),
        3 => format!("\"${{x:-$({})}}\"", list(dice, depth)),
        4 => format!("`{}`", list(dice, 0)),
        5 => format!("\"`{}`\"", simple(dice, 0).replace('"', "")),
        6 => format!("$((1+$({})))", list(dice, depth)),
        7 => format!("$( ({}) )", list(dice, depth)),
        8 => format!("$(({}) )", simple(dice, 0)),
        9 => format!("a{}b", word(dice, depth)),
        10 => format!("{{{},{}}}", word(dice, depth), word(dice, depth)),
        11 => format!("\"${{x:-'$({})'}}\"", list(dice, depth)),
        12 => format!("$(case x in x) {};; esac)", list(dice, depth)),
        13 => "`cmd_a \\`cmd_b\\``".to_owned(),
        _ => word(dice, 0),
    }
}

fn command(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 {
        return simple(dice, 0);
    }
    let depth = depth - 1;
    match dice.roll(24) {
        0 => format!("({})", list(dice, depth)),
        1 => format!("( ({}) )", list(dice, depth)),
        2 => format!("(({}) )", list(dice, depth)),
        3 => format!("{{ {}; }}", list(dice, depth)),
        4 => format!(
            "if {}; then {}; else {}; fi",
            list(dice, depth),
            list(dice, depth),
            list(dice, depth)
        ),
        5 => format!(
            "for x in {} b; do {}; done",
            word(dice, depth),
            list(dice, depth)
        ),
        6 => format!("for x in a; {{ {}; }}", list(dice, depth)),
        7 => format!(
            "case {} in (a|b) {};; *) {};; esac",
            word(dice, depth),
            list(dice, depth),
            list(dice, depth)
        ),
        8 => format!(
            "[[ -n {} && a == {} ]]",
            word(dice, depth),
            word(dice, depth)
        ),
        9 => format!("f() {{ {}; }}; f", list(dice, depth)),
        10 => format!("! {}", simple(dice, depth)),
        11 => format!("time {}", simple(dice, depth)),
        12 => format!("cmd_a <<E\n$({})\n`cmd_b`\nE\n", list(dice, 0)),
        13 => format!("cmd_a <<'E'\n$({})\nE\n", list(dice, 0)),
        14 => format!("cmd_a <<-E\n\t$({})\n\tE\n", simple(dice, 0)),
        15 => format!("x=({} $({}))", word(dice, depth), list(dice, depth)),
        16 => format!("eval '{}'", list(dice, 0).replace('\'', "'\\''")),
        17 => format!(
            "while {}; do {}; break; done",
            list(dice, depth),
            list(dice, depth)
        ),
        18 => format!("(( x = $({}) ))", simple(dice, depth)),
        19 => format!("x[$({})]=1", simple(dice, depth)),
        20 => format!("for ((i=0;i<1;i++)); do {}; done", list(dice, depth)),
        21 => format!("command {}", simple(dice, depth)),
        22 => format!("trap '{}' EXIT", simple(dice, 0).replace('\'', "'\\''")),
        _ => simple(dice, depth),
    }
}

fn list(dice: &mut Dice, depth: usize) -> String {
    let mut text = command(dice, depth);
    for _ in 0..dice.roll(2) {
        let joint = dice.pick(&[";", "&&", "||", "|", "\n", " # cmd_f\n", " && ", "|&"]);
        // A body must end its line before anything follows.
        if text.ends_with('\n') && joint != "\n" {
            continue;
        }
        text += joint;
        text += &command(dice, depth);
    }
    text
}

/// A directory that goes away with the test.
struct Nowhere(PathBuf);

impl Nowhere {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("shell-oracle-{}", std::process::id()));
        fs::create_dir_all(path.join("empty")).expect("a temporary directory");
        Self(path)
    }
}

impl Drop for Nowhere {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The bash of this machine, found before the search path is taken away.
fn bash() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|directory| directory.join("bash"))
        .find(|bash| bash.is_file())
        .expect("bash must be installed: it is what the reader is compared with")
}

/// What bash tried to run, one argv per entry.
fn ran(line: &str, number: usize, nowhere: &Nowhere) -> Vec<Vec<String>> {
    // A log of its own: what a line left behind must not count for the next.
    let log = nowhere.0.join(format!("log-{number}"));
    let script = nowhere.0.join("script");
    // One write per command, hence no new lines: the ends of a pipeline log at the same time.
    let handler = "command_not_found_handle() { \
                   printf '%s\\0' \"${@//$'\\n'/$'\\2'}\" $'\\1' >>\"$ORACLE_LOG\"; }\n";
    let mut file = fs::File::create(&script).unwrap();
    writeln!(file, "{handler}{line}").unwrap();
    let mut bash = Command::new(bash())
        .args(["--norc", "--noprofile"])
        .arg(&script)
        .env_clear()
        .env("PATH", "/nonexistent")
        .env("ORACLE_LOG", &log)
        .current_dir(nowhere.0.join("empty"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("bash starts");
    let begin = Instant::now();
    while bash.try_wait().unwrap().is_none() {
        if begin.elapsed() > Duration::from_secs(5) {
            bash.kill().unwrap();
            bash.wait().unwrap();
            break;
        }
        std::thread::sleep(Duration::from_micros(300));
    }
    let log = fs::read(&log).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    let mut argv = Vec::new();
    let mut all = Vec::new();
    for field in log.split('\0') {
        if field == "\u{1}" {
            all.push(std::mem::take(&mut argv));
        } else {
            argv.push(field.replace('\u{2}', "\n"));
        }
    }
    all
}

/// Whether a command of the list can be what bash ran.
fn shows(command: &holdpoint_core::shell::Command, argv: &[String]) -> bool {
    let known = |word: &holdpoint_core::shell::Text| {
        !word.dynamic && !word.glob && !word.text.starts_with('~')
    };
    if command.words.iter().all(known) {
        return command.words.len() == argv.len()
            && command
                .words
                .iter()
                .zip(argv)
                .all(|(word, ran)| word.text == *ran);
    }
    command
        .words
        .first()
        .is_some_and(|word| !known(word) || word.text == argv[0])
}

#[test]
fn every_command_bash_tried_to_run_is_listed() {
    let nowhere = Nowhere::new();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut read, mut seen) = (0usize, 0usize);
    for number in 0..LINES {
        let depth = 1 + dice.roll(3);
        let line = list(&mut dice, depth);
        let Ok(listed) = commands(&line) else {
            continue;
        };
        read += 1;
        for argv in ran(&line, number, &nowhere) {
            seen += 1;
            assert!(
                listed.iter().any(|command| shows(command, &argv)),
                "bash ran {argv:?}, which the reader does not list\n{line}\n{listed:#?}"
            );
        }
    }
    assert!(
        read * 10 > LINES * 8,
        "only {read} of {LINES} lines were read"
    );
    assert!(seen > LINES, "bash ran only {seen} commands");
}
