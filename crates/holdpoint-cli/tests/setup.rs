//! Somebody else's settings come back to the byte, whatever they look like and whenever it ends.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use holdpoint_agents::hook::Agent;
use holdpoint_agents::setup::{Around, HOSTS, Host, Plan, Scope};
use holdpoint_engine::Locations;
use tempfile::TempDir;

const PROGRAM: &str = "/opt/holdpoint";

/// What people have in the files that hold hooks: comments, other hooks, odd spacing, line ends of
/// another system, no line end at all.
fn hook_files(agent: &str) -> Vec<String> {
    let (event, theirs) = match agent {
        "gemini" => (
            "BeforeTool",
            r#"{"matcher": "write_file", "hooks": [{"type": "command", "command": "lint"}]}"#,
        ),
        "cursor" => ("preToolUse", r#"{"command": "lint", "matcher": "Write"}"#),
        "windsurf" => (
            "pre_run_command",
            r#"{"command": "lint", "show_output": true}"#,
        ),
        "kiro" => (
            "preToolUse",
            r#"{"matcher": "fs_write", "command": "lint"}"#,
        ),
        _ => (
            "PreToolUse",
            r#"{"matcher": "Bash", "hooks": [{"type": "command", "command": "lint"}]}"#,
        ),
    };
    let plain = format!(
        "{{\n  \"theme\": \"dark\",\n  \"hooks\": {{\n    \"{event}\": [\n      {theirs}\n    ]\n  }},\n  \"mcpServers\": {{}}\n}}\n"
    );
    vec![
        String::new(),
        "{}".into(),
        "{ }\n".into(),
        plain.clone(),
        plain.trim_end().to_owned(),
        plain.replace('\n', "\r\n"),
        plain.replace("  ", "\t"),
        plain.replace("  \"theme\"", "     // mine\n  \"theme\""),
        plain.replace("]\n", "], // last\n      \"Stop\": [ /* none */ ],\n"),
        format!("\u{feff}{plain}"),
        format!("{{\"hooks\":{{\"{event}\":[{theirs}]}}}}"),
        format!("// at the top\n{plain}\n\n// at the end"),
    ]
}

const CONFIGURATIONS: &[&str] = &[
    "",
    "model = \"gpt-5.5\"",
    "# mine\r\nmodel = \"gpt-5.5\" # the best\r\n\r\n[projects.\"/home/dev/app\"]\r\ntrust_level = \"trusted\"\r\n",
    "[features]\nweb_search = true\n\n[hooks.state.\"/etc/x.json:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:0\"\n\n\n",
    "[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n  [[hooks.PreToolUse.hooks]]\n  type = \"command\"\n  command = \"lint\"",
];

struct Machine {
    place: TempDir,
    around: Around,
    locations: Locations,
}

impl Machine {
    fn new() -> Self {
        let place = TempDir::new().unwrap();
        let root = fs::canonicalize(place.path()).unwrap();
        let (home, project) = (root.join("home"), root.join("project"));
        fs::create_dir_all(&home).unwrap();
        fs::create_dir_all(&project).unwrap();
        Self {
            place,
            around: Around {
                directory: project,
                home: Some(home.clone()),
                machine: root.join("etc"),
                search: Vec::new(),
                variable: |_| None::<OsString>,
            },
            locations: Locations {
                managed: root.join("etc/holdpoint/permissions.json"),
                user: None,
                named: None,
                state: Some(root.join("state")),
                home: Some(home),
            },
        }
    }

    /// The files an agent's hook would stand in.
    fn files(&self, host: &Host, scope: Scope) -> Vec<PathBuf> {
        let plans = Plan::to_register(host, scope, &self.around, PROGRAM);
        plans.map_or_else(
            |_| Vec::new(),
            |plans| plans.into_iter().map(|plan| plan.path).collect(),
        )
    }

    fn register(&self, host: &Host, scope: Scope) -> usize {
        let plans = Plan::to_register(host, scope, &self.around, PROGRAM).unwrap();
        let changes = plans.iter().filter(|plan| !plan.is_empty());
        changes
            .map(|plan| plan.carry_out(&self.locations).unwrap())
            .count()
    }

    fn unregister(&self, host: &Host, scope: Scope) -> usize {
        let plans =
            Plan::to_unregister(host, scope, &self.around, PROGRAM, &self.locations).unwrap();
        let changes = plans.iter().filter(|plan| !plan.is_empty());
        changes
            .map(|plan| plan.carry_out(&self.locations).unwrap())
            .count()
    }

    /// Everything but Holdpoint's own state.
    fn everything(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut found = BTreeMap::new();
        for part in ["home", "project", "etc"] {
            collect(&self.place.path().join(part), &mut found);
        }
        found
    }
}

fn collect(directory: &Path, found: &mut BTreeMap<PathBuf, Option<Vec<u8>>>) {
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.insert(path.clone(), None);
            collect(&path, found);
        } else {
            found.insert(path.clone(), Some(fs::read(&path).unwrap()));
        }
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The texts that may stand in a file before: none, or what people have there.
fn texts_for(host: &Host, path: &Path) -> Vec<Option<String>> {
    let name = path.file_name().unwrap().to_str().unwrap();
    let texts: Vec<String> = match name {
        "config.toml" | "requirements.toml" => CONFIGURATIONS
            .iter()
            .map(|text| (*text).to_owned())
            .collect(),
        // A file of ours alone.
        "holdpoint.json" | "holdpoint.js" | "PreToolUse" | "plugin.json" => Vec::new(),
        _ if path.components().any(|part| part.as_os_str() == "plugins") => Vec::new(),
        _ => hook_files(host.name()),
    };
    std::iter::once(None)
        .chain(texts.into_iter().map(Some))
        .collect()
}

#[test]
fn what_was_there_comes_back_to_the_byte_for_every_agent_and_scope() {
    let mut tried = 0;
    for host in HOSTS {
        for scope in Scope::ALL {
            let paths = || {
                let machine = Machine::new();
                if host.name() == "kiro" {
                    write(
                        &machine
                            .around
                            .home
                            .as_ref()
                            .unwrap()
                            .join(".kiro/agents/mine.json"),
                        "{}",
                    );
                }
                let files = machine.files(host, scope);
                (machine, files)
            };
            let (_, files) = paths();
            let most = files.iter().map(|file| texts_for(host, file).len()).max();
            for round in 0..most.unwrap_or(0) {
                let (machine, files) = paths();
                for file in &files {
                    let texts = texts_for(host, file);
                    if let Some(text) = &texts[round % texts.len()] {
                        write(file, text);
                    }
                }
                let before = machine.everything();
                let context = format!("{} {} {round}", host.name(), scope.name());
                assert!(machine.register(host, scope) > 0, "{context}");
                assert_ne!(machine.everything(), before, "{context}");
                assert_eq!(
                    machine.register(host, scope),
                    0,
                    "{context}: not the same twice"
                );
                assert!(machine.unregister(host, scope) > 0, "{context}");
                assert_eq!(machine.everything(), before, "{context}");
                assert_eq!(machine.unregister(host, scope), 0, "{context}");
                tried += 1;
            }
        }
    }
    assert!(tried > 150, "{tried}");
}

/// What somebody has changed meanwhile stays, and nothing of ours does.
#[test]
fn what_changed_since_stays_and_what_is_ours_goes() {
    for host in HOSTS {
        let machine = Machine::new();
        let scope = Scope::Project;
        for file in machine.files(host, scope) {
            if let Some(Some(text)) = texts_for(host, &file).get(4) {
                write(&file, text);
            }
        }
        machine.register(host, scope);
        for file in machine.files(host, scope) {
            let text = fs::read_to_string(&file).unwrap();
            fs::write(&file, format!("{text}\n\n")).unwrap();
        }
        machine.unregister(host, scope);
        for (path, text) in machine.everything() {
            let text = String::from_utf8(text.unwrap_or_default()).unwrap();
            assert!(
                !text.contains(PROGRAM),
                "{}: {}\n{text}",
                host.name(),
                path.display()
            );
        }
    }
}

/// Ended at any moment, a file holds what it held before or what it should hold, and the next time
/// everything works.
#[test]
fn ended_in_the_middle_nothing_is_broken() {
    let program = env!("CARGO_BIN_EXE_holdpoint");
    let agents = ["claude-code", "codex", "gemini", "cursor"];
    let before: BTreeMap<&str, String> = [
        (
            ".claude/settings.json",
            hook_files("claude-code").swap_remove(5),
        ),
        (".codex/hooks.json", hook_files("codex").swap_remove(3)),
        (".codex/config.toml", CONFIGURATIONS[2].to_owned()),
        (".gemini/settings.json", hook_files("gemini").swap_remove(7)),
        (".cursor/hooks.json", hook_files("cursor").swap_remove(4)),
    ]
    .into();
    let place = TempDir::new().unwrap();
    let home = place.path();
    let run = |action: &str| {
        let mut command = Command::new(program);
        command
            .arg(action)
            .args(agents)
            .current_dir(home)
            .env_clear()
            .env("HOME", home)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    };
    let now = || -> BTreeMap<&str, String> {
        let read = |name: &&'static str| (*name, fs::read_to_string(home.join(name)).unwrap());
        [
            ".claude/settings.json",
            ".codex/hooks.json",
            ".codex/config.toml",
            ".gemini/settings.json",
            ".cursor/hooks.json",
        ]
        .iter()
        .map(read)
        .collect()
    };
    for (name, text) in &before {
        write(&home.join(name), text);
    }
    let started = Instant::now();
    assert!(run("init").status().unwrap().success());
    // Ends are spread over the time a run takes here, which is not the same on a busy machine.
    let whole_run = started.elapsed();
    let after = now();
    assert!(run("uninstall").status().unwrap().success());
    assert_eq!(now(), before);
    let mut in_between = 0;
    for step in 0..60_u32 {
        for action in ["init", "uninstall"] {
            let mut child = run(action).spawn().unwrap();
            thread::sleep(whole_run * step / 60);
            child.kill().unwrap();
            child.wait().unwrap();
            for (name, text) in now() {
                let whole = text == before[name] || text == after[name];
                assert!(whole, "{action} ended after {step}: {name}\n{text}");
            }
            in_between += usize::from(now() != before && now() != after);
        }
        assert!(run("init").status().unwrap().success());
        assert_eq!(now(), after, "{step}");
        assert!(run("uninstall").status().unwrap().success());
        assert_eq!(now(), before, "{step}");
    }
    // Otherwise this shows nothing.
    assert!(in_between > 0);
}

/// For each agent whose hook the program answers: set up, its own command denies.
#[test]
fn every_agent_that_is_answered_is_guarded_once_it_is_set_up() {
    let program = fs::canonicalize(env!("CARGO_BIN_EXE_holdpoint")).unwrap();
    for host in HOSTS
        .iter()
        .filter(|host| Agent::from_name(host.name()).is_some())
    {
        let place = TempDir::new().unwrap();
        let run = |arguments: &[&str]| {
            let output = Command::new(&program)
                .args(arguments)
                .current_dir(place.path())
                .env_clear()
                .env("HOME", place.path())
                .env("PATH", "/usr/bin:/bin")
                .stdin(Stdio::null())
                .output()
                .unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(output.status.success(), "{}: {text}", host.name());
            text
        };
        run(&["init", host.name(), "--project"]);
        let text = run(&["doctor", host.name()]);
        assert!(text.contains("a call no policy allows is denied"), "{text}");
    }
}
