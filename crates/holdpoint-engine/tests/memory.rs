//! A decision that is remembered is the one that would be made anew, whatever changes between two calls:
//! files, links, the policy, the session, how many calls there were.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails loudly"
)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use holdpoint_broker::Context;
use holdpoint_engine::pipeline::Decided;
use holdpoint_engine::{
    Caller, Decision, Engine, LineCaller, Locations, SessionId, SessionSource, Sessions, ToolCall,
    working_directory,
};
use serde_json::{Value, json};

const POLICIES: [&str; 3] = [
    r#"{"defaultPolicy":"ask","allow":{"patterns":["make *"]},"files":{"write":{"deny":["secrets"]}}}"#,
    r#"{"defaultPolicy":"allow","deny":{"patterns":["npm *"]},"tools":{"Bash":{"maxCallsPerSession":4}}}"#,
    r#"{"defaultPolicy":"ask","allow":{"tools":["Read"]},"files":{"write":{"deny":["build/*"]}}}"#,
];

/// Calls whose decision rests on the disk in every way there is: on links, directories, missing files,
/// scripts and Makefiles, and on nothing.
fn calls() -> Vec<(&'static str, Value)> {
    let shell = |command: &str| ("Bash", json!({"command": command}));
    vec![
        shell("make all"),
        shell("npm test"),
        shell("sort -o out notes"),
        shell("cat link"),
        shell("rm -r build"),
        shell("sh run.sh"),
        shell("./run.sh"),
        shell("cp notes link"),
        shell("cd build && rm x"),
        shell("ls -la src && git status"),
        shell("cargo test"),
        shell("cat notes > link"),
        ("Write", json!({"file_path": "link", "content": "x"})),
        ("Write", json!({"file_path": "build/out", "content": "x"})),
        ("Read", json!({"file_path": "notes"})),
        ("Deploy", json!({"n": 0.0})),
        ("Deploy", json!({"n": -0.0})),
    ]
}

fn call(number: usize) -> ToolCall {
    let (tool, input) = calls().swap_remove(number);
    ToolCall::new(tool, input).unwrap()
}

/// A decision, as it is shown, and as it is written.
fn told(decided: &Decided) -> (Decision, Decision, String) {
    let mut written = Vec::new();
    decided.write_without_secrets(&mut written);
    let written = String::from_utf8(written).unwrap();
    (
        decided.decision().clone(),
        decided.without_secrets(),
        written,
    )
}

/// The same numbers in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(most).unwrap()).unwrap()
    }
}

struct Project {
    _home: tempfile::TempDir,
    root: PathBuf,
}

impl Project {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        for directory in ["project", "elsewhere"] {
            fs::create_dir(root.join(directory)).unwrap();
        }
        let project = Self { _home: home, root };
        project.set_policy(0);
        project
    }

    fn set_policy(&self, number: usize) {
        fs::write(self.root.join("user.json"), POLICIES[number]).unwrap();
        // Files that changed a moment ago are not believed to stay as they are.
        sleep(Duration::from_millis(120));
    }

    fn locations(&self) -> Locations {
        Locations {
            managed: self.root.join("managed.json"),
            user: Some(self.root.join("user.json")),
            named: None,
            state: Some(self.root.join("state")),
            home: Some(self.root.clone()),
        }
    }

    fn caller(&self, engine: &Engine, session: &str, workspace: PathBuf) -> Arc<Caller> {
        Arc::new(Caller {
            agent: "test".into(),
            session_name: Some(session.into()),
            policy: engine.layers(&workspace),
            session: SessionSource::Kept(session.into()),
            workspace,
            can_contain: false,
            circumstances: Context::default(),
        })
    }

    fn decided(
        &self,
        engine: &Engine,
        session: &str,
        number: usize,
    ) -> (Decision, Decision, String) {
        let caller = self.caller(engine, session, self.root.join("project"));
        told(&engine.decide(call(number), caller).unwrap())
    }

    /// The same for a call on a line of a stream, which says its directory by a link that is moved.
    fn decided_line(
        &self,
        engine: &Engine,
        session: &str,
        number: usize,
    ) -> (Decision, Decision, String) {
        let line = format!("{session} {number}");
        if let Some(decided) = engine.recall(line.as_bytes()) {
            return told(&decided);
        }
        let directory = self.root.join("here");
        let workspace = working_directory(Some(&directory)).unwrap();
        let said = LineCaller {
            caller: self.caller(engine, session, workspace),
            directory: Some(directory),
        };
        let decided = engine.decide_line(line.as_bytes(), call(number), &said);
        told(&decided.unwrap())
    }

    fn decided_here(&self, session: &str, number: usize) -> (Decision, Decision, String) {
        let engine = Engine::at(&self.locations());
        let workspace = working_directory(Some(&self.root.join("here"))).unwrap();
        let caller = self.caller(&engine, session, workspace);
        told(&engine.decide(call(number), caller).unwrap())
    }

    /// Lets the link lead to another directory.
    fn move_link(&self, to: &str) {
        let link = self.root.join("here");
        let _ = fs::remove_file(&link);
        symlink(self.root.join(to), link).unwrap();
    }

    /// Changes something on the disk.
    fn change(&self, numbers: &mut Numbers) {
        let names = [
            "notes", "link", "build", "run.sh", "secrets", "src", "Makefile",
        ];
        let path = self
            .root
            .join("project")
            .join(names[numbers.below(names.len())]);
        let _ = fs::remove_file(&path);
        let _ = fs::remove_dir_all(&path);
        let texts = ["make one\n", "rm -rf ~\n", "all:\n\tcurl x | sh\n"];
        match numbers.below(5) {
            0 => {}
            1 => fs::create_dir(&path).unwrap(),
            2 => symlink(self.root.join("elsewhere"), &path).unwrap(),
            3 => symlink("secrets", &path).unwrap(),
            _ => fs::write(&path, texts[numbers.below(texts.len())]).unwrap(),
        }
    }

    /// Changes what a session remembers.
    fn remember(&self, session: &str, numbers: &mut Numbers) {
        let sessions = Sessions::at(&self.locations()).unwrap();
        let id = SessionId::new(session);
        let what = numbers.below(4);
        let changed = sessions.change(&id, |state| match what {
            0 => state.allow_pattern("sort *"),
            1 => state.deny = vec!["make *".into()],
            2 => *state.calls.entry("Bash".into()).or_default() += 2,
            _ => *state = Default::default(),
        });
        changed.unwrap();
    }
}

#[test]
fn with_and_without_memory_every_decision_is_the_same() {
    let project = Project::new();
    let remembering = Engine::at(&project.locations()).remembering();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut steps = 0;
    for _ in 0..1500 {
        let session = ["s", "t"][numbers.below(2)];
        match numbers.below(120) {
            0 => project.set_policy(numbers.below(POLICIES.len())),
            1..=2 => project.remember(session, &mut numbers),
            3..=7 => project.change(&mut numbers),
            _ => {}
        }
        let number = numbers.below(calls().len());
        let known = project.decided(&remembering, session, number);
        let fresh = project.decided(&Engine::at(&project.locations()), session, number);
        assert_eq!(known, fresh, "step {steps}, call {number}");
        assert_eq!(known.2, serde_json::to_string(&known.1).unwrap());
        steps += 1;
    }
    // It is not remembering nothing.
    let read = remembering.work().calls_read;
    assert!(read * 4 < steps * 3, "{read} of {steps} calls were read");
}

#[test]
fn lines_that_are_answered_together_are_judged_by_the_disk_as_it_was_then() {
    let place = Project::new();
    place.move_link("project");
    let remembering = Engine::at(&place.locations()).remembering();
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    let mut steps = 0;
    for _ in 0..250 {
        match numbers.below(20) {
            0 => place.set_policy(numbers.below(POLICIES.len())),
            1 => place.remember("s", &mut numbers),
            2 => place.move_link(["project", "elsewhere"][numbers.below(2)]),
            3..=8 => place.change(&mut numbers),
            _ => {}
        }
        remembering.look_again();
        for _ in 0..numbers.below(12) {
            let session = ["s", "t"][numbers.below(2)];
            let number = numbers.below(calls().len());
            let known = place.decided_line(&remembering, session, number);
            let fresh = place.decided_here(session, number);
            assert_eq!(known, fresh, "step {steps}, call {number}");
            steps += 1;
        }
    }
    let read = remembering.work().calls_read;
    assert!(read * 4 < steps * 3, "{read} of {steps} calls were read");
}

#[test]
fn a_change_among_lines_that_are_answered_together_is_seen_by_the_next_ones() {
    let place = Project::new();
    place.move_link("project");
    fs::create_dir(place.root.join("project/build")).unwrap();
    let remembering = Engine::at(&place.locations()).remembering();
    // Removing a directory of the project.
    let number = 4;
    remembering.look_again();
    let before = place.decided_line(&remembering, "s", number);
    assert_eq!(place.decided_line(&remembering, "s", number), before);
    fs::remove_dir(place.root.join("project/build")).unwrap();
    symlink(place.root.clone(), place.root.join("project/build")).unwrap();
    remembering.look_again();
    let fresh = place.decided_here("s", number);
    assert_eq!(place.decided_line(&remembering, "s", number), fresh);
    // A policy counts at once, also among them.
    place.set_policy(1);
    let fresh = place.decided_here("s", number);
    assert_eq!(place.decided_line(&remembering, "s", number), fresh);
}
