//! The reader of Python against a real Python.
//!
//! Generated programs are run by `python3` where their commands are stubs that write down how they
//! were called. Every command that ran must be among those the reader lists for `python3 -c
//! PROGRAM`, with its words where they are said to be known, or something must be marked that
//! says more could run.
//!
//! `HOLDPOINT_ORACLE_PROGRAMS` says how many programs to try, `HOLDPOINT_ORACLE_SEED` which ones.
//! Without a `python3` there is nothing to compare with, and the test says so.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test may fail loudly, and this one runs a real Python"
)]

#[path = "../bash_oracle/covering.rs"]
mod covering;
mod generator;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use covering::{Shown, shown};
use generator::{Dice, PROGRAMS};
use holdpoint_core::shell::commands;

/// Programs tried without a wish for more: some seconds.
const PROGRAMS_TRIED: usize = 200;
/// Programs one Python runs, each in a process of its own.
const BATCH: usize = 100;

/// Runs programs one after the other, each in a child that is ended after two seconds.
const DRIVER: &str = r#"
import os, signal, sys
sys.path.insert(0, '')
for code in open(sys.argv[1]).read().split('\0'):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        null = os.open('/dev/null', os.O_RDWR)
        for at in (0, 1, 2): os.dup2(null, at)
        try: exec(compile(code, 'program', 'exec'), {'__name__': '__main__'})
        except BaseException: pass
        os._exit(0)
    os.waitpid(child, 0)
"#;

/// Anything marked says that there may be more.
fn hides(command: &holdpoint_core::shell::Command) -> bool {
    !command.opaque.is_empty()
}

fn found(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|directory| directory.join(name))
        .find(|program| Path::is_file(program))
}

fn wish(name: &str, otherwise: usize) -> usize {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(otherwise)
}

/// A directory with stubs, which goes away with the test.
struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        let place = std::env::temp_dir().join(format!("python-oracle-{}", std::process::id()));
        let programs = place.join("programs");
        fs::create_dir_all(&programs).expect("a temporary directory");
        for shell in ["sh", "bash"] {
            symlink(found(shell).expect("a shell"), programs.join(shell)).expect("a link");
        }
        let log = place.join("log");
        for name in PROGRAMS {
            let stub = programs.join(name);
            let text = format!(
                "#!/bin/sh\nprintf '%s\\037' {name} \"$@\" >>'{0}'\nprintf '\\036' >>'{0}'\n",
                log.display()
            );
            fs::write(&stub, text).expect("a stub");
            fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).expect("a mode");
        }
        fs::write(place.join("driver.py"), DRIVER).expect("a script");
        Self(place)
    }

    /// What these programs ran.
    fn ran(&self, python: &Path, codes: &[String]) -> Vec<Vec<String>> {
        let log = self.0.join("log");
        fs::write(&log, "").expect("a log");
        let file = self.0.join("codes");
        fs::write(&file, codes.join("\0")).expect("a file of programs");
        let path = format!("{}:/usr/bin:/bin", self.0.join("programs").display());
        let ended = Command::new(python)
            .arg(self.0.join("driver.py"))
            .arg(&file)
            .env("PATH", path)
            .current_dir(&self.0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("python3 starts");
        assert!(ended.success(), "the programs did not end");
        let text = fs::read(&log).expect("a log");
        String::from_utf8_lossy(&text)
            .split('\u{1e}')
            .filter(|argv| !argv.is_empty())
            .map(|argv| {
                let mut words: Vec<String> = argv.split('\u{1f}').map(str::to_owned).collect();
                words.pop();
                words
            })
            .collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The number of the program a command belongs to: `@3.1`.
fn number(argv: &[String]) -> Option<usize> {
    let label = argv.iter().find(|word| word.starts_with('@'))?;
    label.get(1..)?.split('.').next()?.parse().ok()
}

#[test]
fn what_python_runs_is_what_the_reader_says() {
    // A shim starts slowly and needs its own search path.
    let python = ["/usr/bin/python3", "/usr/local/bin/python3"]
        .iter()
        .map(PathBuf::from)
        .find(|path| path.is_file())
        .or_else(|| found("python3"));
    let Some(python) = python else {
        eprintln!("there is no python3 to compare with");
        return;
    };
    let place = Place::new();
    let wanted = wish("HOLDPOINT_ORACLE_PROGRAMS", PROGRAMS_TRIED);
    let seed = wish("HOLDPOINT_ORACLE_SEED", 0) as u64;
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let mut tally: BTreeMap<Shown, usize> = BTreeMap::new();
    let mut differences: Vec<String> = Vec::new();
    let mut tried = 0;
    while tried < wanted && differences.len() < 8 {
        let codes: Vec<String> = (0..BATCH.min(wanted - tried))
            .map(|at| generator::program(&mut dice, at))
            .collect();
        tried += codes.len();
        let lists: Vec<_> = codes
            .iter()
            .map(|code| {
                let line = format!("python3 -c '{}'", code.replace('\'', "'\\''"));
                commands(&line).expect("the line is plain")
            })
            .collect();
        for argv in place.ran(&python, &codes) {
            let at = number(&argv).expect("each command has a number");
            match shown(&lists[at], &argv, hides) {
                Some(how) => *tally.entry(how).or_default() += 1,
                None => differences.push(format!("python ran {argv:?}\n{}\n", codes[at])),
            }
        }
    }
    eprintln!("{tried} programs: {tally:?}");
    assert!(
        differences.is_empty(),
        "the reader does not list what Python ran:\n{}",
        differences.join("\n")
    );
    let count = |how| tally.get(&how).copied().unwrap_or_default();
    let all: usize = tally.values().sum();
    assert!(all > tried, "Python ran too little: {all}");
    assert!(
        count(Shown::Exactly) * 10 > all * 3,
        "too little is known: {tally:?}"
    );
}
