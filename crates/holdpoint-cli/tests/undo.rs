//! Backups of real processes: made, killed in the middle, listed and taken back by the program.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use holdpoint_core::{PathVerb, Policy, Surroundings, ToolCall, named, understand};
use holdpoint_engine::Locations;
use holdpoint_engine::backup::{Backups, Manifest, Wanted};

/// The variable that tells a child of this test where to work.
const PLACE: &str = "HOLDPOINT_TEST_PLACE";

struct Scene {
    _place: tempfile::TempDir,
    root: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        fs::create_dir(root.join("work")).unwrap();
        Self {
            _place: place,
            root,
        }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root.join("work").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.root.join("work").join(name)).ok()
    }

    /// Copies what a line would change, then runs it, as the gate does.
    fn release(&self, line: &str) -> Manifest {
        let manifest = backed_up(&self.root, line);
        let work = self.root.join("work");
        let done = Command::new("bash")
            .args(["-c", line])
            .current_dir(work)
            .status();
        assert!(done.unwrap().success());
        manifest
    }

    fn holdpoint(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_holdpoint"))
            .args(arguments)
            .current_dir(self.root.join("work"))
            .env_clear()
            // The same answers whatever sandbox this machine makes.
            .env("HOLDPOINT_SANDBOX", "none")
            .env("HOME", &self.root)
            .env("XDG_STATE_HOME", self.root.join("state"))
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn says(&self, arguments: &[&str]) -> String {
        let output = self.holdpoint(arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        let problem = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {text}{problem}");
        text
    }
}

fn locations(root: &Path) -> Locations {
    Locations {
        managed: root.join("none"),
        user: None,
        named: None,
        state: Some(root.join("state/holdpoint")),
        home: Some(root.to_owned()),
    }
}

fn backed_up(root: &Path, line: &str) -> Manifest {
    let call = ToolCall::shell(line);
    let work = root.join("work");
    let around = Surroundings {
        workspace: work.to_str(),
        directory: None,
        home: root.to_str(),
        lookup: &holdpoint_engine::Disk,
        can_contain: false,
    };
    let policy = Policy::from_text("test", "{}").unwrap();
    let named = named(&understand(call.clone(), &policy, &around));
    let wanted = Wanted {
        call: &call.digest(),
        about: line,
        paths: &named.paths,
        unknown: &named.unknown,
    };
    Backups::at(&locations(root))
        .unwrap()
        .make(&wanted)
        .unwrap()
}

#[test]
fn what_a_call_did_is_taken_back_and_done_again() {
    let scene = Scene::new();
    scene.write("build/a.o", "object");
    scene.write("notes", "before\n");
    let manifest = scene.release("rm -fr build && echo after > notes && echo x > new");
    assert_eq!(scene.read("notes").as_deref(), Some("after\n"));
    let shown = scene.says(&["undo", "--dry-run"]);
    for wanted in [
        "build: nothing -> directory",
        "build/a.o: nothing -> file of 6 bytes",
        "new: file of 2 bytes -> removed",
        "notes: file of 6 bytes -> file of 7 bytes",
        "Nothing was changed.",
    ] {
        assert!(shown.contains(wanted), "{wanted:?} in\n{shown}");
    }
    let refused = scene.holdpoint(&["undo"]);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(scene.read("notes").as_deref(), Some("after\n"));

    let said = scene.says(&["undo", &manifest.id, "--yes"]);
    assert_eq!(scene.read("notes").as_deref(), Some("before\n"));
    assert_eq!(scene.read("build/a.o").as_deref(), Some("object"));
    assert_eq!(scene.read("new"), None);
    let again = said.lines().last().unwrap();
    assert!(
        again.starts_with("Restored 4 paths. `holdpoint undo "),
        "{again}"
    );

    // It is on record, and taking it back is one more command.
    let log = scene.says(&["log", "--json"]);
    assert!(
        log.contains(r#""action":"undo""#) && log.contains(&manifest.id),
        "{log}"
    );
    scene.says(&["undo", "--yes"]);
    assert_eq!(scene.read("notes").as_deref(), Some("after\n"));
    assert_eq!(scene.read("build/a.o"), None);
    assert_eq!(scene.read("new").as_deref(), Some("x\n"));
    assert_eq!(scene.says(&["undo", "--list"]).lines().count(), 3);
}

#[test]
fn a_search_that_removes_is_taken_back_at_every_depth() {
    let scene = Scene::new();
    for name in ["a.o", "deep/er/b.o", ".hidden/c.o", "keep.c"] {
        scene.write(name, name);
    }
    scene.release("find . -name '*.o' -delete");
    assert_eq!(scene.read("deep/er/b.o"), None);
    scene.says(&["undo", "--yes"]);
    for name in ["a.o", "deep/er/b.o", ".hidden/c.o", "keep.c"] {
        assert_eq!(scene.read(name).as_deref(), Some(name));
    }
}

/// Not a test of its own: the process that is killed.
#[test]
#[ignore = "run by the test below, which kills it"]
fn makes_backups_until_it_is_killed() {
    if let Some(place) = env::var_os(PLACE) {
        loop {
            backed_up(Path::new(&place), "rm -rf tree");
        }
    }
}

#[test]
fn a_backup_that_is_killed_in_the_middle_does_not_exist() {
    let scene = Scene::new();
    for number in 0..60 {
        scene.write(
            &format!("tree/{number}"),
            &format!("{number}\n").repeat(2000),
        );
    }
    let backups = Backups::at(&locations(&scene.root)).unwrap();
    // Fifteen kills, each a little later than the one before; on a busy machine more, until one came after a backup.
    for round in 0..60u64 {
        if round >= 15 && !backups.list().unwrap().is_empty() {
            break;
        }
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--ignored", "--exact", "makes_backups_until_it_is_killed"])
            .env(PLACE, &scene.root)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(
            20 + round * 7 + round.saturating_sub(14) * 100,
        ));
        // SIGKILL.
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let all = backups.list().unwrap();
    assert!(!all.is_empty());
    fs::remove_dir_all(scene.root.join("work/tree")).unwrap();
    for manifest in all.into_iter().take(5) {
        let manifest = manifest.unwrap();
        assert_eq!(manifest.copied(), 61);
        assert_eq!(manifest.roots[0].verb, PathVerb::Delete);
        let plan = backups.plan(&manifest).unwrap();
        backups.restore(&manifest, &plan).unwrap();
        assert_eq!(scene.read("tree/7"), Some("7\n".repeat(2000)));
        fs::remove_dir_all(scene.root.join("work/tree")).unwrap();
    }
}
