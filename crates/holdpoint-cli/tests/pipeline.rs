//! How much work a held call is, for each of the two processes it passes through: whoever makes it and
//! the daemon that judges it itself. Each loads the policy once and reads the call once, and again only
//! if a file has changed.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use holdpoint_broker::wire::{self, Places, Reply, ServerAnswer, Wanted};
use holdpoint_broker::{Answer, Context, Request};
use holdpoint_daemon::daemon::Daemon;
use holdpoint_engine::holding::{Approvers, Asking, Dialog};
use holdpoint_engine::pipeline::Outcome;
use holdpoint_engine::{Caller, Engine, Locations, SessionSource, ToolCall, Work};
use tokio::sync::oneshot;

/// How long anything may take on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(30);

/// Files that changed a moment ago are not believed to stay as they are.
const A_MOMENT: Duration = Duration::from_millis(120);

const ASKING: &str =
    r#"{"defaultPolicy": "ask", "channel": {"type": "daemon"}, "approval": {"presence": "none"}}"#;

/// A home with a daemon, in this process so that its engine can be looked at.
struct Home {
    directory: tempfile::TempDir,
    root: PathBuf,
    engine: Arc<Engine>,
    stop: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
}

impl Home {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        fs::create_dir(root.join("project")).unwrap();
        fs::write(root.join("project/deploy.sh"), "make one\n").unwrap();
        fs::write(root.join("user.json"), ASKING).unwrap();
        sleep(A_MOMENT);
        let engine = Arc::new(Engine::at(&locations(&root)));
        let daemon = Daemon::open(&places(&root), Arc::clone(&engine) as _, "ann").unwrap();
        let (stop, stopped) = oneshot::channel();
        let serving = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            let no_code = |_: &str| panic!("nobody signs in");
            let no_opinion = |_: &str| ServerAnswer::nobodys("nobody is asked");
            let stopped = async {
                let _ = stopped.await;
            };
            let ran = runtime.block_on(daemon.run(
                |_| Vec::new(),
                no_code,
                || false,
                no_opinion,
                stopped,
            ));
            ran.unwrap();
        });
        let home = Self {
            directory,
            root,
            engine,
            stop: Some(stop),
            serving: Some(serving),
        };
        home.eventually(|| home.waiting().is_some());
        home
    }

    fn eventually(&self, mut holds: impl FnMut() -> bool) {
        let started = Instant::now();
        while !holds() {
            assert!(started.elapsed() < PATIENCE, "nothing comes of it");
            sleep(Duration::from_millis(5));
        }
    }

    /// What waits; none before the daemon listens.
    fn waiting(&self) -> Option<Vec<Request>> {
        match wire::ask(&places(&self.root), Wanted::Pending) {
            Ok(Reply::Requests { requests }) => Some(requests),
            Ok(other) => panic!("{other:?}"),
            Err(_) => None,
        }
    }

    /// Makes a call as a hook does, in an engine of its own, while somebody answers; the work of that
    /// engine.
    fn held(&self, session: &str, command: &str, answer: Answer) -> (Outcome, Work) {
        let engine = Engine::at(&locations(&self.root));
        let project = self.root.join("project");
        let caller = Arc::new(Caller {
            agent: "test".into(),
            session_name: Some(session.into()),
            policy: engine.layers(&project),
            session: SessionSource::Kept(session.into()),
            workspace: project.clone(),
            can_contain: false,
            circumstances: Context::default(),
        });
        let call = ToolCall::shell(command).in_directory(project.to_str().unwrap());
        let outcome = thread::scope(|scope| {
            let outcome = scope.spawn(|| {
                let judged = engine.judge(call, caller).unwrap();
                let held = judged.hold(Asking::by(Approvers::AsPolicySays(Dialog::None)));
                held.unwrap().release().unwrap()
            });
            self.eventually(|| self.waiting().is_some_and(|waiting| !waiting.is_empty()));
            let request = self.waiting().unwrap().remove(0);
            let wanted = Wanted::Answer {
                id: request.id,
                answer,
                binding: Some(request.binding),
                phrase: None,
                signed: None,
                watching: false,
            };
            wire::ask(&places(&self.root), wanted).unwrap();
            outcome.join().unwrap()
        });
        (outcome, engine.work())
    }

    /// What the daemon has done.
    fn work_of_daemon(&self) -> Work {
        self.engine.work()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        drop(self.stop.take());
        let _ = self.serving.take().map(JoinHandle::join);
        assert!(self.directory.path().exists());
    }
}

fn locations(root: &std::path::Path) -> Locations {
    Locations {
        managed: root.join("managed.json"),
        user: Some(root.join("user.json")),
        named: None,
        state: Some(root.join("state")),
        home: Some(root.to_owned()),
    }
}

fn places(root: &std::path::Path) -> Places {
    Places::under(&root.join("state"))
}

fn work(policies_loaded: usize, calls_read: usize) -> Work {
    Work {
        policies_loaded,
        calls_read,
    }
}

#[test]
fn a_call_the_daemon_holds_is_read_once_by_each_process_and_its_policy_loaded_once() {
    let home = Home::new();
    let commands = ["make all", "sh deploy.sh", "rm deploy.sh && touch made"];
    for (number, command) in (1..).zip(commands) {
        let (outcome, hook) = home.held("s", command, Answer::Yes);
        assert!(matches!(outcome, Outcome::Runs(_)), "{outcome:?}");
        assert_eq!(hook, work(1, 1), "{command}");
        assert_eq!(home.work_of_daemon(), work(1, number), "{command}");
    }
    // A rule that is left has what waits judged anew, and not read.
    let (outcome, hook) = home.held("t", "npm test", Answer::Always { scope: None });
    assert!(matches!(outcome, Outcome::Runs(_)), "{outcome:?}");
    assert_eq!(hook, work(1, 1));
    assert_eq!(home.work_of_daemon(), work(1, 4));
    let (outcome, hook) = home.held("s", "npm ci", Answer::No);
    assert!(matches!(outcome, Outcome::Refused(_)), "{outcome:?}");
    assert_eq!(hook, work(1, 1));
    assert_eq!(home.work_of_daemon(), work(1, 5));
}

#[test]
fn what_has_changed_is_looked_at_again_and_nothing_else() {
    let home = Home::new();
    let _ = home.held("s", "sh deploy.sh", Answer::No);
    assert_eq!(home.work_of_daemon(), work(1, 1));
    fs::write(home.root.join("project/deploy.sh"), "make two\n").unwrap();
    sleep(A_MOMENT);
    let _ = home.held("s", "sh deploy.sh", Answer::No);
    assert_eq!(home.work_of_daemon(), work(1, 2), "the script is another");
    let more = r#"{"defaultPolicy": "ask", "channel": {"type": "daemon"}, "approval": {"presence": "none"}, "deny": {"patterns": ["dd *"]}}"#;
    fs::write(home.root.join("user.json"), more).unwrap();
    sleep(A_MOMENT);
    let _ = home.held("s", "sh deploy.sh", Answer::No);
    assert_eq!(home.work_of_daemon(), work(2, 3), "the policy is another");
}
