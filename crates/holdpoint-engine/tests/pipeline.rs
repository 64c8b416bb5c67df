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
use holdpoint_engine::holding::{Asker, Asking, Dialog};
use holdpoint_engine::pipeline::Outcome;
use holdpoint_engine::{Caller, Engine, Locations, SessionSource, ToolCall, Verdict, Work};
use holdpoint_ledger::{Kind, Reader, Record};

struct Place {
    home: tempfile::TempDir,
    root: PathBuf,
}

impl Place {
    fn under(policy: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("project")).unwrap();
        fs::write(root.join("project/notes.txt"), "kept").unwrap();
        let place = Self { home, root };
        place.set_policy(policy);
        // Files that changed a moment ago are not believed to stay as they are.
        std::thread::sleep(Duration::from_millis(120));
        place
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
            circumstances: Context::default(),
        })
    }

    fn call(&self, command: &str) -> ToolCall {
        ToolCall::shell(command).in_directory(self.project().to_str().unwrap())
    }

    fn outcome(&self, engine: &Engine, command: &str, asker: Asker<'_>) -> Outcome {
        let judged = engine.judge(self.call(command), self.caller(engine));
        let held = judged.unwrap().hold(Asking::by(asker)).unwrap();
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
    let place = Place::under(r#"{"defaultPolicy":"ask","allow":{"patterns":["ls"]}}"#);
    let engine = place.engine();
    let allowed = place.outcome(&engine, "ls", Asker::HandsOn);
    assert!(matches!(allowed, Outcome::Runs(_)), "{allowed:?}");
    assert_eq!(engine.work(), ONCE);
    let engine = place.engine();
    let mut yes = Yes(|| {});
    let held = place.outcome(&engine, "rm notes.txt", Asker::Through(&mut yes));
    assert!(matches!(held, Outcome::Runs(_)), "{held:?}");
    assert_eq!(engine.work(), ONCE);
}

#[test]
fn a_policy_or_a_file_that_changes_while_somebody_thinks_is_a_refusal() {
    let place = Place::under(r#"{"defaultPolicy":"ask"}"#);
    let stricter = r#"{"defaultPolicy":"ask","deny":{"patterns":["rm *"]}}"#;
    let mut yes = Yes(|| place.set_policy(stricter));
    let changed = place.outcome(&place.engine(), "rm notes.txt", Asker::Through(&mut yes));
    assert!(matches!(changed, Outcome::Refused(_)), "{changed:?}");
    let place = Place::under(r#"{"defaultPolicy":"ask"}"#);
    let notes = place.project().join("notes.txt");
    let mut yes = Yes(|| fs::write(&notes, "another").unwrap());
    let changed = place.outcome(&place.engine(), "rm notes.txt", Asker::Through(&mut yes));
    assert!(matches!(changed, Outcome::Refused(_)), "{changed:?}");
}

#[test]
fn a_denial_because_nobody_can_be_asked_is_on_record_as_one() {
    let place = Place::under(r#"{"defaultPolicy":"ask","channel":{"type":"agent"}}"#);
    for asker in [Asker::Nobody, Asker::AsPolicySays(Dialog::None)] {
        let refused = place.outcome(&place.engine(), "make", asker);
        assert!(matches!(refused, Outcome::Refused(_)), "{refused:?}");
        let records = place.decisions();
        let last = records.last().unwrap();
        assert_eq!(last.verdict, Some(Verdict::Deny));
        assert_eq!(last.method.as_deref(), Some("no_channel"));
    }
}

#[test]
fn what_a_rule_allows_is_backed_up_and_checked_like_what_a_person_does() {
    let place = Place::under(
        r#"{"defaultPolicy":"deny","allow":{"patterns":["rm *"]},
            "tools":{"Bash":{"checks":["backup"]}}}"#,
    );
    let allowed = place.outcome(&place.engine(), "rm notes.txt", Asker::HandsOn);
    assert!(matches!(allowed, Outcome::Runs(_)), "{allowed:?}");
    let backups = Backups::at(&place.locations()).unwrap();
    assert_eq!(backups.list().unwrap().len(), 1);
}

#[test]
fn calls_are_counted_when_they_are_released_and_never_one_too_many() {
    let place =
        Place::under(r#"{"defaultPolicy":"allow","tools":{"Bash":{"maxCallsPerSession":2}}}"#);
    let (one, other) = (place.engine(), place.engine());
    // Both were judged before either ran.
    let judged = |engine: &Engine| {
        let judged = engine.judge(place.call("ls"), place.caller(engine));
        judged.unwrap().hold(Asking::by(Asker::HandsOn)).unwrap()
    };
    let held = [judged(&one), judged(&other), judged(&one)];
    let mut ran = 0;
    for held in held {
        ran += usize::from(matches!(held.release().unwrap(), Outcome::Runs(_)));
    }
    assert_eq!(ran, 2);
    assert_eq!(
        place.decisions().last().unwrap().verdict,
        Some(Verdict::Deny)
    );
}

#[test]
fn what_cannot_be_recorded_is_no_answer() {
    let place = Place::under(r#"{"defaultPolicy":"allow"}"#);
    fs::create_dir_all(place.home.path().join("state")).unwrap();
    fs::write(place.home.path().join("state/ledger"), "no directory").unwrap();
    let engine = place.engine();
    let error = engine
        .judge(place.call("ls"), place.caller(&engine))
        .unwrap_err();
    assert!(error.is_on_record(), "{error:?}");
    assert_eq!(error.decided(), Some(Verdict::Allow));
    assert!(Path::new(&place.root).exists());
}
