//! What a contained command leaves in its workspace is not run by git outside: every case of `git_outside.toml`, tried with the
//! program itself.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Deserialize;

const HOLDPOINT: &str = env!("CARGO_BIN_EXE_holdpoint");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(default)]
    before: String,
    inside: String,
    outside: String,
    #[serde(default)]
    stays: Vec<String>,
    #[serde(default)]
    works: bool,
}

/// A home with a repository in it.
struct Place(tempfile::TempDir);

impl Place {
    fn new(case: &Case) -> Self {
        // Beside the build: what is under the directory for temporary files is another place inside.
        let place = Self(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
        fs::create_dir_all(place.at("home/project")).unwrap();
        fs::write(
            place.at("home/.gitconfig"),
            "[user]\nname = x\nemail = x@example.com\n[init]\ndefaultBranch = main\n[core]\neditor = true\n",
        )
        .unwrap();
        let begin = "git init -q . && echo 1 > a && git add a && git commit -qm a";
        let made = place.sh(&format!("{begin} && {{ {}\n}}", or_nothing(&case.before)));
        assert!(made.status.success(), "{made:?}");
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.at("home"))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("EVIL", format!("touch {}", self.at("ran").display()))
            .current_dir(self.at("home/project"));
        command
    }

    fn sh(&self, text: &str) -> Output {
        self.command("/bin/sh").args(["-c", text]).output().unwrap()
    }

    fn inside(&self, text: &str) -> Output {
        let mut command = self.command(HOLDPOINT);
        command.args(["run", "--", "/bin/sh", "-c", text]);
        command.output().unwrap()
    }
}

fn or_nothing(text: &str) -> &str {
    if text.is_empty() { ":" } else { text }
}

fn is_aside(path: &Path) -> bool {
    let mut all = vec![path.to_owned()];
    while let Some(path) = all.pop() {
        if path.to_string_lossy().contains("held-by-holdpoint") {
            return true;
        }
        if path.is_dir() && !path.is_symlink() {
            let entries = fs::read_dir(path).unwrap();
            all.extend(entries.map(|entry| entry.unwrap().path()));
        }
    }
    false
}

#[test]
fn git_outside_runs_nothing_that_a_contained_command_has_left() {
    let text = include_str!("git_outside.toml");
    let cases: BTreeMap<String, Case> = toml::from_str(text).unwrap();
    assert!(cases.len() > 20);
    let mut wrong = Vec::new();
    for (name, case) in &cases {
        let place = Place::new(case);
        let texts = |place: &Place| -> Vec<_> {
            let paths = case
                .stays
                .iter()
                .map(|path| place.at("home/project").join(path));
            paths.map(|path| fs::read(path).ok()).collect()
        };
        let before = texts(&place);
        let ran = place.inside(&case.inside);
        if ran.status.code() == Some(125) {
            // What happens without a sandbox is tried elsewhere.
            let left_out =
                std::env::var_os("HOLDPOINT_SKIP_SANDBOX").is_some_and(|word| word == "1");
            assert!(
                left_out,
                "no sandbox can be made here; HOLDPOINT_SKIP_SANDBOX=1 leaves this out"
            );
            return;
        }
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        let outside = place.sh(&case.outside);
        if place.at("ran").exists() {
            wrong.push(format!("{name}: git ran it; {said}"));
        }
        if texts(&place) != before {
            wrong.push(format!("{name}: not as before; {said}"));
        }
        if case.works
            && (!outside.status.success() || !ran.status.success() || is_aside(&place.at("home")))
        {
            wrong.push(format!("{name}: does not work: {ran:?} {outside:?}"));
        }
        if !case.works {
            let place = Place::new(case);
            place.sh(&case.inside);
            place.sh(&case.outside);
            if !place.at("ran").exists() {
                wrong.push(format!("{name}: nothing runs without the sandbox either"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
