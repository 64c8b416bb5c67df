//! The tour leaves nothing behind, and says which scene did not end as promised.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A user of a fresh machine: a home and a project with nothing in them, and a place for temporary
/// files.
struct Machine {
    place: TempDir,
}

impl Machine {
    fn new() -> Self {
        let place = TempDir::new().unwrap();
        for name in ["home", "project", "temporary"] {
            fs::create_dir(place.path().join(name)).unwrap();
        }
        Self { place }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// Runs a program, with standard input closed so that nobody can answer.
    fn run(&self, program: &str, args: &[&str]) -> Output {
        let home = self.at("home");
        Command::new(program)
            .args(args)
            .current_dir(self.at("project"))
            .env_clear()
            // The same answers whatever sandbox this machine makes.
            .env("HOLDPOINT_SANDBOX", "none")
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_STATE_HOME", home.join("state"))
            .env("XDG_DATA_HOME", home.join("data"))
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("XDG_RUNTIME_DIR", &home)
            .env("TMPDIR", self.at("temporary"))
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn demo(&self, args: &[&str]) -> Output {
        let args: Vec<&str> = ["demo"].iter().chain(args).copied().collect();
        self.run(PROGRAM, &args)
    }

    /// Everything below a directory of the machine, without the directory itself.
    fn found_in(&self, name: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        below(&self.at(name), &mut found);
        found
    }
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_holdpoint");

fn below(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        found.push(path.clone());
        if path.is_dir() && !path.is_symlink() {
            below(&path, found);
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn nothing_is_left_behind() {
    let machine = Machine::new();
    let output = machine.demo(&[]);
    assert!(output.status.success(), "{output:?}");
    assert!(text(&output.stdout).contains("Every scene ended as promised"));
    for name in ["home", "project", "temporary"] {
        assert_eq!(machine.found_in(name), Vec::<PathBuf>::new(), "{name}");
    }
}

#[test]
fn what_is_kept_is_all_in_one_directory_for_the_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let machine = Machine::new();
    let output = machine.demo(&["--keep"]);
    assert!(output.status.success(), "{output:?}");
    for name in ["home", "project"] {
        assert_eq!(machine.found_in(name), Vec::<PathBuf>::new(), "{name}");
    }
    let kept: Vec<_> = fs::read_dir(machine.at("temporary")).unwrap().collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    let kept = kept.into_iter().next().unwrap().unwrap().path();
    let mode = fs::metadata(&kept).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);

    // What the tour says of its ledger is what the program says of it.
    let ledger = kept.join("home/.local/state/holdpoint/ledger");
    let verify = |ledger: &Path| {
        let args = ["log", "verify", "--ledger", ledger.to_str().unwrap()];
        machine.run(PROGRAM, &args).status.code()
    };
    assert_eq!(verify(&ledger), Some(0));
    assert_eq!(verify(&kept.join("forged-ledger")), Some(4));
}

#[test]
fn rules_of_the_machine_s_user_have_no_say_in_it() {
    let machine = Machine::new();
    let config = machine.at("home").join("config/holdpoint");
    fs::create_dir_all(&config).unwrap();
    for policy in [r#"{"defaultPolicy": "deny"}"#, "this is no policy"] {
        fs::write(config.join("permissions.json"), policy).unwrap();
        let project = machine.at("project");
        fs::write(project.join("permissions.json"), policy).unwrap();
        let temporary = machine.at("temporary");
        fs::write(temporary.join("permissions.json"), policy).unwrap();
        let output = machine.demo(&[]);
        assert!(output.status.success(), "{output:?}");
    }
}

#[test]
fn a_scene_that_does_not_end_as_promised_is_named() {
    let machine = Machine::new();
    // No file may grow beyond a kibibyte or so, so the second record cannot be written: nothing runs.
    let line = r#"ulimit -f 2; exec "$0" demo"#;
    let output = machine.run("sh", &["-c", line, PROGRAM]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let problem = text(&output.stderr);
    let named = "holdpoint: scene 1 (A call nobody objects to) did not end as promised: ";
    assert!(problem.starts_with(named), "{problem}");
    assert!(!text(&output.stdout).contains("2/5"));
    assert_eq!(machine.found_in("temporary"), Vec::<PathBuf>::new());
}

#[test]
fn a_reader_who_leaves_leaves_nothing_behind() {
    let machine = Machine::new();
    let line = r#""$0" demo | head -n 1"#;
    let output = machine.run("sh", &["-c", line, PROGRAM]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(machine.found_in("temporary"), Vec::<PathBuf>::new());
}
