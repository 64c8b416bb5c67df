//! The pages about moving over (`docs/from-*.md`), tried as a reader would: the files they show are
//! written, the commands run, and what they print is what the page says.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

#[path = "cli/project.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod project;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use crate::project::Project;

fn page(name: &str) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    fs::read_to_string(docs.join(name)).unwrap()
}

fn shell(project: &Project, line: &str) -> Output {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_holdpoint"));
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let mut command = project.command_of("sh");
    command
        .env("PATH", path)
        .args(["-c", line])
        .stdin(Stdio::null());
    command.output().unwrap()
}

/// Follows a page; how many commands it has.
fn follow(name: &str) -> usize {
    let project = Project::new();
    let text = page(name);
    let mut commands = 0;
    let mut blocks = text.split("```").skip(1).step_by(2);
    for block in &mut blocks {
        let (head, body) = block.split_once('\n').unwrap();
        match head.split_once(' ') {
            Some((_, file)) => project.write(file, body.as_bytes()),
            None if head == "console" => {
                for step in format!("\n{body}").split("\n$ ").skip(1) {
                    let (line, wanted) = step.split_once('\n').unwrap_or((step, ""));
                    let output = shell(&project, line);
                    let said = String::from_utf8_lossy(&output.stdout);
                    let mut lines = said.lines();
                    for want in wanted.lines().filter(|want| !want.is_empty()) {
                        assert!(
                            lines.any(|line| line == want),
                            "{name}: `{line}` says not `{want}` but:\n{said}{}",
                            String::from_utf8_lossy(&output.stderr)
                        );
                    }
                    commands += 1;
                }
            }
            None => {}
        }
    }
    commands
}

#[test]
fn what_the_pages_show_is_what_happens() {
    for (name, least) in [
        ("from-claude-code.md", 6),
        ("from-jaato.md", 5),
        ("from-adh.md", 5),
        ("from-rrclaw.md", 4),
        ("from-hooks.md", 6),
        ("from-obra.md", 3),
    ] {
        assert!(follow(name) >= least, "{name} has lost its commands");
    }
}

#[test]
fn a_policy_is_written_only_where_none_is() {
    let project = Project::new();
    project.write("s.json", br#"{"permissions": {"deny": ["Bash(curl:*)"]}}"#);
    let import = |arguments: &[&str]| {
        let mut command = project.command();
        command
            .args(["import", "claude-code", "s.json"])
            .args(arguments);
        // Somebody at a terminal is wanted otherwise.
        command.stdin(Stdio::null()).output().unwrap()
    };
    let refused = import(&["--write"]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    let policy = project.home().join(".config/holdpoint/permissions.json");
    assert!(!policy.exists(), "nobody is at a terminal");
    project.wants_no_terminal();
    let before = fs::read(&policy).unwrap();
    let refused = import(&["--write"]);
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("a policy is there already"), "{said}");
    assert_eq!(fs::read(&policy).unwrap(), before);
    let made = import(&["--write=new.json"]);
    assert!(made.status.success(), "{made:?}");
    assert!(
        fs::read_to_string(project.path().join("new.json"))
            .unwrap()
            .contains("curl *")
    );
}

#[test]
fn settings_that_are_none_are_an_error_with_their_place() {
    let project = Project::new();
    project.write("s.json", b"{\"permissions\": {\"deny\": [1]}}");
    for (arguments, want) in [
        (
            &["import", "claude-code", "s.json"][..],
            "`permissions.deny` is not a list of texts",
        ),
        (
            &["import", "claude-code", "none.json"],
            "none.json: there is no such file",
        ),
        (&["import", "jaato"], "name the file of settings"),
    ] {
        let output = project.command().args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(want), "{said}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_policy_that_only_jaato_reads_is_named() {
    let project = Project::new();
    let doctor = || {
        let output = project
            .command()
            .args(["doctor", "claude-code"])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(!doctor().contains("jaato"));
    project.write("~/.config/jaato/permissions.json", b"{}");
    project.write(".jaato/permissions.json", b"{}");
    let said = doctor();
    assert_eq!(
        said.matches("is jaato's own and is not read here").count(),
        2,
        "{said}"
    );
    assert!(said.contains("run `holdpoint import jaato "), "{said}");
}

#[test]
fn what_was_decided_is_written_in_the_events_of_jaato() {
    let project = Project::new();
    project.write("p.json", br#"{"deny": {"patterns": ["rm *"]}, "allow": {"patterns": ["ls *"]}, "defaultPolicy": "ask"}"#);
    for command in ["ls", "rm x", "make"] {
        let _ = project
            .command()
            .args(["check", "--config", "p.json", command])
            .output()
            .unwrap();
    }
    let output = project
        .command()
        .args(["log", "export", "--format", "jaato"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let events: Vec<serde_json::Value> = said
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    let short: Vec<_> = events
        .iter()
        .map(|it| {
            (
                it["event"].as_str().unwrap(),
                it["args"]["command"].as_str().unwrap(),
                it["allowed"].as_bool().unwrap(),
                it["method"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        short,
        [
            ("permission-check", "ls", true, "whitelist"),
            ("permission-check", "rm x", false, "blacklist"),
        ]
    );
}
