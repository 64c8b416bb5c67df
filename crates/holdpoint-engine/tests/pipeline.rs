//! The way of a call through the engine: how much work it is, what is on record of it, and what a
//! change on the way does to it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails loudly"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use holdpoint_broker::{Answer, Channel, ChannelError, Context, Request, SignedAnswer, Waiting};
use holdpoint_engine::backup::Backups;
use holdpoint_engine::holding::{Approvers, Asking, Dialog};
use holdpoint_engine::pipeline::Outcome;
use holdpoint_engine::{Caller, Engine, Locations, SessionSource, ToolCall, Verdict, Work};
use holdpoint_ledger::{Kind, Reader, Record};

struct Project {
    home: tempfile::TempDir,
    root: PathBuf,
}

impl Project {
    fn under(policy: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("project")).unwrap();
        fs::write(root.join("project/notes.txt"), "kept").unwrap();
        let project = Self { home, root };
        project.set_policy(policy);
        // Files that changed a moment ago are not believed to stay as they are.
        std::thread::sleep(Duration::from_millis(120));
        project
    }

    fn set_policy(&self, policy: &str) {
        fs::write(self.root.join("user.json"), policy).unwrap();
    }

    fn locations(&self) -> Locations {
        Locations {
            managed: self.root.join("managed.json"),
            user: Some(self.root.join("user.json")),
            named: None,
            state: Some(self.home.path().join("state")),
            home: Some(self.root.clone()),
        }
    }

    fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    fn engine(&self) -> Engine {
        Engine::at(&self.locations())
    }

    fn caller(&self, engine: &Engine) -> Arc<Caller> {
        Arc::new(Caller {
            agent: "test".into(),
            session_name: Some("s".into()),
            policy: engine.layers(&self.project()),
            session: SessionSource::Kept("s".into()),
            workspace: self.project(),
            can_contain: false,
            circumstances: Context::default(),
        })
    }

    fn call(&self, command: &str) -> ToolCall {
        ToolCall::shell(command).in_directory(self.project().to_str().unwrap())
    }

    fn outcome(&self, engine: &Engine, command: &str, approvers: Approvers<'_>) -> Outcome {
        let judged = engine.judge(self.call(command), self.caller(engine));
        let held = judged.unwrap().hold(Asking::by(approvers)).unwrap();
        held.release().unwrap()
    }

    fn decisions(&self) -> Vec<Record> {
        let mut reader = Reader::new(self.locations().ledger().unwrap());
        let mut found = Vec::new();
        while let Some(line) = reader.next().unwrap() {
            let record: Record = serde_json::from_slice(line.bytes).unwrap();
            if record.kind == Kind::Decision {
                found.push(record);
            }
        }
        found
    }
}

/// Says yes, once `before` has happened.
struct Yes<F: FnMut()>(F);

impl<F: FnMut()> Channel for Yes<F> {
    fn ask(&mut self, request: &Request, _: &Waiting<'_>) -> Result<SignedAnswer, ChannelError> {
        (self.0)();
        Ok(SignedAnswer {
            answer: Answer::Yes,
            approver: "ann".into(),
            on_behalf_of: Vec::new(),
            binding: Some(request.binding.clone()),
            phrase: None,
            evidence: holdpoint_broker::Evidence::by(holdpoint_broker::Route::Library),
        })
    }

    fn told(&mut self, _: &Request, _: &str) {}
}

const ONCE: Work = Work {
    policies_loaded: 1,
    calls_read: 1,
};

#[test]
fn a_call_is_read_once_and_its_policy_loaded_once_even_if_it_is_held() {
    let project = Project::under(r#"{"defaultPolicy":"ask","allow":{"patterns":["ls"]}}"#);
    let engine = project.engine();
    let allowed = project.outcome(&engine, "ls", Approvers::HandsOn);
    assert!(matches!(allowed, Outcome::Runs(_)), "{allowed:?}");
    assert_eq!(engine.work(), ONCE);
    let engine = project.engine();
    let mut yes = Yes(|| {});
    let held = project.outcome(&engine, "rm notes.txt", Approvers::Through(&mut yes));
    assert!(matches!(held, Outcome::Runs(_)), "{held:?}");
    assert_eq!(engine.work(), ONCE);
}

#[test]
fn a_policy_or_a_file_that_changes_while_somebody_thinks_is_a_refusal() {
    let project = Project::under(r#"{"defaultPolicy":"ask"}"#);
    let stricter = r#"{"defaultPolicy":"ask","deny":{"patterns":["rm *"]}}"#;
    let mut yes = Yes(|| project.set_policy(stricter));
    let changed = project.outcome(
        &project.engine(),
        "rm notes.txt",
        Approvers::Through(&mut yes),
    );
    assert!(matches!(changed, Outcome::Refused(_)), "{changed:?}");
    let project = Project::under(r#"{"defaultPolicy":"ask"}"#);
    let notes = project.project().join("notes.txt");
    let mut yes = Yes(|| fs::write(&notes, "another").unwrap());
    let changed = project.outcome(
        &project.engine(),
        "rm notes.txt",
        Approvers::Through(&mut yes),
    );
    assert!(matches!(changed, Outcome::Refused(_)), "{changed:?}");
}

#[test]
fn a_denial_because_nobody_can_be_asked_is_on_record_as_one() {
    let project = Project::under(r#"{"defaultPolicy":"ask","channel":{"type":"agent"}}"#);
    for approvers in [Approvers::Nobody, Approvers::AsPolicySays(Dialog::None)] {
        let refused = project.outcome(&project.engine(), "make", approvers);
        assert!(matches!(refused, Outcome::Refused(_)), "{refused:?}");
        let records = project.decisions();
        let last = records.last().unwrap();
        assert_eq!(last.verdict, Some(Verdict::Deny));
        assert_eq!(last.method.as_deref(), Some("no_channel"));
    }
}

#[test]
fn what_a_rule_allows_is_backed_up_and_checked_like_what_a_person_does() {
    let project = Project::under(
        r#"{"defaultPolicy":"deny","allow":{"patterns":["rm *"]},
            "tools":{"Bash":{"checks":["backup"]}}}"#,
    );
    let allowed = project.outcome(&project.engine(), "rm notes.txt", Approvers::HandsOn);
    assert!(matches!(allowed, Outcome::Runs(_)), "{allowed:?}");
    let backups = Backups::at(&project.locations()).unwrap();
    assert_eq!(backups.list().unwrap().len(), 1);
}

#[test]
fn calls_are_counted_when_they_are_released_and_never_one_too_many() {
    let project =
        Project::under(r#"{"defaultPolicy":"allow","tools":{"Bash":{"maxCallsPerSession":2}}}"#);
    let (one, other) = (project.engine(), project.engine());
    // Both were judged before either ran.
    let judged = |engine: &Engine| {
        let judged = engine.judge(project.call("ls"), project.caller(engine));
        judged
            .unwrap()
            .hold(Asking::by(Approvers::HandsOn))
            .unwrap()
    };
    let held = [judged(&one), judged(&other), judged(&one)];
    let mut ran = 0;
    for held in held {
        ran += usize::from(matches!(held.release().unwrap(), Outcome::Runs(_)));
    }
    assert_eq!(ran, 2);
    assert_eq!(
        project.decisions().last().unwrap().verdict,
        Some(Verdict::Deny)
    );
}

#[test]
fn what_cannot_be_recorded_is_no_answer() {
    let project = Project::under(r#"{"defaultPolicy":"allow"}"#);
    fs::create_dir_all(project.home.path().join("state")).unwrap();
    fs::write(project.home.path().join("state/ledger"), "no directory").unwrap();
    let engine = project.engine();
    let error = engine
        .judge(project.call("ls"), project.caller(&engine))
        .unwrap_err();
    assert!(error.is_on_record(), "{error:?}");
    assert_eq!(error.decided(), Some(Verdict::Allow));
    assert!(Path::new(&project.root).exists());
}
