//! Many requests, answers, edits, deadlines and restarts in any order: each request ends exactly
//! once, nothing is released without an answer that says so, nothing is used twice, nothing is lost.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may fail loudly"
)]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use holdpoint_broker::{
    Answer, BrokerHost, CallContext, Context, Event, Judged, Memory, Offer, Prepared, Problem,
    Request, Resolution, Scope, SignedAnswer, State, Terms, UnixMillis,
};
use holdpoint_core::policy::Presence;
use holdpoint_core::{Decision, Method, Verdict};
use holdpoint_daemon::{Broker, Held, HistoryQuery, Outcome, Somebody};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tokio::sync::oneshot::Receiver;

/// A world in which a command says itself how it is judged, and everything recorded is remembered.
#[derive(Default)]
struct Theatre {
    told: Mutex<Vec<(String, String)>>,
    allowed: Mutex<BTreeSet<(String, String)>>,
    denied: Mutex<BTreeSet<(String, String)>>,
    /// How often a file that every call names has changed.
    changes: Mutex<u64>,
    /// Whether nothing can be recorded.
    full: Mutex<bool>,
}

fn command(asked: &CallContext) -> String {
    asked.input["command"].as_str().unwrap().to_owned()
}

impl BrokerHost for Theatre {
    fn judge(&self, asked: &CallContext) -> Result<Judged, Problem> {
        let command = command(asked);
        let key = (asked.session.clone(), command.clone());
        let verdict = if command.contains("bad") || self.denied.lock().unwrap().contains(&key) {
            Verdict::Deny
        } else if self.allowed.lock().unwrap().contains(&key) {
            Verdict::Allow
        } else {
            Verdict::Ask
        };
        let required = if command.contains("two") { 2 } else { 1 };
        let changes = *self.changes.lock().unwrap();
        Ok(Judged {
            decision: Decision {
                verdict,
                method: Method::Default,
                ..Decision::error("as the play wants it")
            },
            terms: Terms {
                deadline: (!command.contains("forever")).then_some(30),
                required,
                approvers: Vec::new(),
                phrase: None,
                editable: vec!["command".into()],
                offers: vec![Offer {
                    scope: Scope::Exact,
                    patterns: vec![command.clone()],
                    lasts: "today".into(),
                    released: 0,
                }],
                suspendable: false,
                presence: Presence::None,
            },
            binding: format!("{}/{}/{command}/{changes}", asked.agent, asked.session),
            card: format!("card of {command}"),
            parts: std::collections::BTreeMap::new(),
            former: format!(
                "former/{}/{}/{command}/{changes}",
                asked.agent, asked.session
            ),
        })
    }

    fn judge_remembering(&self, asked: &CallContext, _: &Memory) -> Result<Judged, Problem> {
        self.judge(asked)
    }

    fn prepare(&self, _: &CallContext, _: &Judged) -> Result<Prepared, Problem> {
        Ok(Prepared::default())
    }

    fn difference(&self, before: &CallContext, after: &CallContext) -> String {
        format!("-{}\n+{}", command(before), command(after))
    }

    fn record(&self, event: Event<'_>) -> Result<(), Problem> {
        if *self.full.lock().unwrap() {
            return Err(Problem("the disk is full".into()));
        }
        let mut told = self.told.lock().unwrap();
        let mut add = |id: &str, what: &str| told.push((id.to_owned(), what.to_owned()));
        match event {
            Event::Opened(request) => add(&request.id, "opened"),
            Event::Answered {
                request, answer, ..
            } => add(&request.id, &format!("{} {answer}", request.state.as_str())),
            Event::Expired(request) => add(&request.id, "expired"),
            Event::Withdrawn(request) => add(&request.id, "withdrawn"),
            Event::Used(request) => add(&request.id, "used"),
            Event::Judged { .. } => {}
        }
        Ok(())
    }

    fn remember(&self, asked: &CallContext, memory: &Memory, _: &str) -> Result<(), Problem> {
        let key = (asked.session.clone(), command(asked));
        match memory {
            Memory::Allow { .. } | Memory::Keep { .. } => self.allowed.lock().unwrap().insert(key),
            Memory::Deny { .. } => self.denied.lock().unwrap().insert(key),
            Memory::All | Memory::Turn | Memory::Idle => false,
        };
        Ok(())
    }
}

#[derive(Clone, Debug)]
enum Act {
    /// A caller asks about a call.
    Ask {
        caller: usize,
        call: usize,
    },
    /// A caller goes away.
    Leave {
        caller: usize,
    },
    /// It is found not to have come back.
    Abandon {
        caller: usize,
    },
    /// It comes back with the request it was told of.
    Return {
        caller: usize,
    },
    /// It withdraws.
    Withdraw {
        caller: usize,
    },
    /// Somebody answers the n-th request there ever was.
    Answer {
        request: usize,
        person: usize,
        answer: usize,
        stale: bool,
    },
    Extend {
        request: usize,
    },
    /// Time passes.
    Pass {
        seconds: u64,
    },
    /// What is due expires.
    Expire,
    /// A file changes.
    Change,
    /// The daemon is killed and started again.
    Restart,
    /// The ledger's disk fills up, or has room again.
    Fill,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        6 => (0usize..6, 0usize..CALLS.len()).prop_map(|(caller, call)| Act::Ask { caller, call }),
        2 => (0usize..6).prop_map(|caller| Act::Leave { caller }),
        1 => (0usize..6).prop_map(|caller| Act::Abandon { caller }),
        2 => (0usize..6).prop_map(|caller| Act::Return { caller }),
        1 => (0usize..6).prop_map(|caller| Act::Withdraw { caller }),
        8 => (0usize..12, 0usize..3, 0usize..7, prop::bool::weighted(0.1)).prop_map(
            |(request, person, answer, stale)| Act::Answer { request, person, answer, stale }
        ),
        1 => (0usize..12).prop_map(|request| Act::Extend { request }),
        2 => (1u64..40).prop_map(|seconds| Act::Pass { seconds }),
        2 => Just(Act::Expire),
        1 => Just(Act::Change),
        2 => Just(Act::Restart),
        1 => Just(Act::Fill),
    ];
    prop::collection::vec(act, 1..80)
}

const CALLS: [&str; 6] = [
    "make",
    "make test",
    "two deploy",
    "forever wait",
    "bad rm",
    "ls",
];

struct Caller {
    nonce: String,
    asked: Option<CallContext>,
    request: Option<String>,
    waits: Option<Receiver<Resolution>>,
}

struct Play {
    world: Arc<Theatre>,
    broker: Broker,
    directory: tempfile::TempDir,
    now: UnixMillis,
    callers: Vec<Caller>,
    nonces: usize,
    ids: Vec<String>,
    /// What each caller that was told to run was told.
    released: BTreeMap<String, BTreeSet<String>>,
    /// How each request ended, once it has.
    ended: HashMap<String, State>,
}

impl Play {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let world = Arc::new(Theatre::default());
        let broker = Broker::open(&directory.path().join("a/approvals.db"), world.clone()).unwrap();
        let callers = (0..6)
            .map(|number| Caller {
                nonce: format!("nonce {number}"),
                asked: None,
                request: None,
                waits: None,
            })
            .collect();
        Self {
            world,
            broker,
            directory,
            now: UnixMillis(1_000_000),
            callers,
            nonces: 6,
            ids: Vec::new(),
            released: BTreeMap::new(),
            ended: HashMap::new(),
        }
    }

    fn play(&mut self, act: &Act) {
        match act {
            Act::Ask { caller, call } => {
                self.hear();
                self.nonces += 1;
                let asked = CallContext {
                    agent: "agent".into(),
                    session: format!("session {}", caller % 2),
                    tool: "Bash".into(),
                    input: input(CALLS[*call]),
                    directory: "/p".into(),
                    workspace: "/p".into(),
                    config: None,
                    context: Context::default(),
                };
                let caller = &mut self.callers[*caller];
                *caller = Caller {
                    nonce: format!("nonce {}", self.nonces),
                    asked: Some(asked),
                    request: None,
                    waits: None,
                };
                let number = self
                    .callers
                    .iter()
                    .position(|one| one.nonce == format!("nonce {}", self.nonces));
                self.hold(number.unwrap());
            }
            Act::Leave { caller } => {
                self.hear();
                self.callers[*caller].waits = None;
            }
            Act::Abandon { caller } => {
                self.hear();
                let caller = &self.callers[*caller];
                if let Some(id) = &caller.request {
                    let waits = caller.waits.is_some();
                    let gone = self.broker.abandon(id, &caller.nonce, self.now);
                    assert!(!waits || gone.is_ok_and(|gone| !gone), "it waits");
                }
            }
            Act::Return { caller } => {
                self.hear();
                if self.callers[*caller].asked.is_some() {
                    self.hold(*caller);
                }
            }
            Act::Withdraw { caller } => {
                let caller = &mut self.callers[*caller];
                if let (Some(id), Some(_)) = (&caller.request, &caller.waits) {
                    let _ = self.broker.withdraw(id, &caller.nonce, self.now);
                }
            }
            Act::Answer {
                request,
                person,
                answer,
                stale,
            } => self.answer(*request, *person, *answer, *stale),
            Act::Extend { request } => {
                if let Some(id) = self.ids.get(*request) {
                    let _ = self.broker.extend(
                        id,
                        60,
                        &Somebody {
                            name: "ann",
                            on_behalf_of: &[],
                        },
                        &holdpoint_broker::Evidence::by(holdpoint_broker::Route::Page),
                        self.now,
                    );
                }
            }
            Act::Pass { seconds } => self.now = UnixMillis(self.now.0 + seconds * 1000),
            Act::Expire => {
                let _ = self.broker.expire_due(self.now);
            }
            Act::Change => *self.world.changes.lock().unwrap() += 1,
            Act::Restart => self.restart(),
            Act::Fill => {
                let mut full = self.world.full.lock().unwrap();
                *full = !*full;
            }
        }
        self.hear();
        self.look();
    }

    fn restart(&mut self) {
        self.hear();
        for caller in &mut self.callers {
            caller.waits = None;
        }
        let path = self.directory.path().join("a/approvals.db");
        self.broker = Broker::open(&path, self.world.clone()).unwrap();
    }

    fn hold(&mut self, number: usize) {
        let caller = &self.callers[number];
        let asked = caller.asked.clone().unwrap();
        let held = self
            .broker
            .hold(&asked, &caller.nonce, caller.request.as_deref(), self.now);
        match held {
            Ok(Held::Waiting { id, answer, .. }) => {
                if !self.ids.contains(&id) {
                    self.ids.push(id.clone());
                }
                let caller = &mut self.callers[number];
                caller.request = Some(id);
                caller.waits = Some(answer);
            }
            Ok(Held::Resolved(told)) => self.told(number, &told),
            Err(_) => assert!(*self.world.full.lock().unwrap()),
        }
    }

    /// Lets every caller hear what it was told.
    fn hear(&mut self) {
        for number in 0..self.callers.len() {
            let told = self.callers[number]
                .waits
                .as_mut()
                .and_then(|waits| waits.try_recv().ok());
            if let Some(told) = told {
                self.callers[number].waits = None;
                self.told(number, &told);
            }
        }
    }

    fn told(&mut self, number: usize, told: &Resolution) {
        if told.verdict == Verdict::Allow
            && let Some(id) = &told.id
        {
            let nonce = self.callers[number].nonce.clone();
            self.released.entry(id.clone()).or_default().insert(nonce);
        }
    }

    fn answer(&mut self, request: usize, person: usize, answer: usize, stale: bool) {
        let Some(id) = self.ids.get(request).cloned() else {
            return;
        };
        let seen = self.broker.find(&id).unwrap().unwrap();
        let answer = match answer {
            0 => Answer::Yes,
            1 => Answer::No,
            2 => Answer::Always { scope: None },
            3 => Answer::Never { scope: None },
            4 => Answer::Edit {
                input: input("make edited"),
            },
            5 => Answer::Edit {
                input: input("bad edited"),
            },
            _ => Answer::Comment {
                comment: "no".into(),
            },
        };
        let said = SignedAnswer {
            answer: answer.clone(),
            approver: ["ann", "bob", "eve"][person].into(),
            on_behalf_of: Vec::new(),
            binding: Some(match stale {
                true => "what somebody else was shown".into(),
                false => seen.binding.clone(),
            }),
            phrase: None,
            evidence: holdpoint_broker::Evidence::by(holdpoint_broker::Route::Page),
        };
        let Ok(answered) = self.broker.answer(&id, &said, self.now) else {
            assert!(*self.world.full.lock().unwrap());
            return;
        };
        let over = seen.state != State::Pending
            || stale
            || seen.expires.is_some_and(|expires| expires <= self.now);
        if over {
            assert!(
                matches!(answered.outcome, Outcome::NoEffect(_)),
                "{answered:?}"
            );
        }
        if let (Outcome::Settled, Some(next)) = (&answered.outcome, &answered.request)
            && next.state == State::Released
        {
            assert!(answer.releases());
            assert!(next.approvals.len() >= usize::try_from(next.terms.required).unwrap());
            let people: BTreeSet<_> = next.approvals.iter().map(|one| &one.approver).collect();
            assert_eq!(people.len(), next.approvals.len(), "the same person twice");
        }
    }

    /// What must hold at any time.
    fn look(&mut self) {
        let pending: BTreeSet<String> = self.pending().into_iter().map(|one| one.id).collect();
        for id in &self.ids {
            let request = self.broker.find(id).unwrap();
            let request = request.unwrap_or_else(|| panic!("{id} is lost"));
            assert_eq!(request.state == State::Pending, pending.contains(id));
            assert_eq!(request.state == State::Pending, request.settled.is_none());
            if let Some(ended) = self.ended.get(id) {
                assert_eq!(*ended, request.state, "{id} ended twice");
            } else if request.state != State::Pending {
                self.ended.insert(id.clone(), request.state);
            }
        }
        let told = self.world.told.lock().unwrap();
        let of = |id: &str, what: &str| {
            told.iter()
                .filter(|(one, event)| one == id && event.starts_with(what))
                .count()
        };
        for id in &self.ids {
            let ends = ["released", "refused", "expired", "withdrawn"].map(|what| of(id, what));
            assert!(
                ends.iter().sum::<usize>() <= 1,
                "{id} ended twice on record: {ends:?}"
            );
            assert!(of(id, "used") <= 1, "{id} was used twice");
        }
        for (id, nonces) in &self.released {
            assert_eq!(nonces.len(), 1, "{id} was released to several callers");
            assert_eq!(
                of(id, "released"),
                1,
                "{id} ran without an answer on record"
            );
            assert_eq!(of(id, "used"), 1, "{id} ran and its use is not on record");
            assert_eq!(self.ended.get(id), Some(&State::Released));
        }
    }

    fn pending(&self) -> Vec<Request> {
        self.broker.pending().unwrap()
    }

    /// In the end everything is settled, and all of it is there.
    fn end(&mut self) {
        *self.world.full.lock().unwrap() = false;
        self.now = UnixMillis(self.now.0 + 24 * 3600 * 1000);
        self.broker.expire_due(self.now).unwrap();
        self.hear();
        self.look();
        for request in self.pending() {
            assert!(request.expires.is_none(), "{} never expires", request.id);
            let said = SignedAnswer {
                answer: Answer::No,
                approver: "ann".into(),
                on_behalf_of: Vec::new(),
                binding: None,
                phrase: None,
                evidence: holdpoint_broker::Evidence::by(holdpoint_broker::Route::Page),
            };
            self.broker.answer(&request.id, &said, self.now).unwrap();
        }
        self.look();
        let everything = HistoryQuery {
            before: None,
            limit: 1000,
            text: None,
            approver: None,
            session: None,
            outcome: None,
            rule: None,
        };
        let history = self.broker.history(&everything).unwrap();
        assert_eq!(history.len(), self.ids.len());
    }
}

fn input(command: &str) -> Map<String, Value> {
    json!({"command": command}).as_object().unwrap().clone()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 2000, ..ProptestConfig::default() })]

    #[test]
    fn every_request_ends_exactly_once_and_runs_only_if_somebody_said_so(acts in acts()) {
        let mut play = Play::new();
        for act in &acts {
            play.play(act);
        }
        play.end();
    }
}

/// What a rule released, nobody looked at: it counts for what the rule was held against.
#[test]
fn what_a_rule_releases_is_what_was_judged_by_it() {
    let directory = tempfile::tempdir().unwrap();
    let world = Arc::new(Theatre::default());
    let broker = Broker::open(&directory.path().join("db"), world.clone()).unwrap();
    let asked = CallContext {
        agent: "a".into(),
        session: "s".into(),
        tool: "Bash".into(),
        input: input("make"),
        directory: "/".into(),
        workspace: "/".into(),
        config: None,
        context: Context::default(),
    };
    let waiting = |nonce: &str| match broker.hold(&asked, nonce, None, UnixMillis(1)).unwrap() {
        Held::Waiting { id, answer, .. } => (id, answer),
        Held::Resolved(told) => panic!("{told:?}"),
    };
    let (_, mut first) = waiting("one");
    *world.changes.lock().unwrap() += 1;
    let (second, _answer) = waiting("two");
    let said = SignedAnswer {
        answer: Answer::Always { scope: None },
        approver: "ann".into(),
        on_behalf_of: Vec::new(),
        binding: None,
        phrase: None,
        evidence: holdpoint_broker::Evidence::by(holdpoint_broker::Route::Page),
    };
    broker.answer(&second, &said, UnixMillis(2)).unwrap();
    let told = first.try_recv().unwrap();
    assert_eq!(told.verdict, Verdict::Allow);
    assert_eq!(told.binding.as_deref(), Some("a/s/make/1"));
}

#[test]
fn nothing_on_disk_holds_the_arguments_of_what_was_settled_long_ago() {
    let directory = tempfile::tempdir().unwrap();
    let broker = Broker::open(&directory.path().join("db"), Arc::new(Theatre::default())).unwrap();
    let mut asked = CallContext {
        agent: "a".into(),
        session: "s".into(),
        tool: "Bash".into(),
        input: input("make"),
        directory: "/".into(),
        workspace: "/".into(),
        config: None,
        context: Context {
            intent: Some("made-up-secret".into()),
            ..Context::default()
        },
    };
    let secret = json!("made-up-secret");
    asked.input.insert("token".into(), secret);
    let Held::Waiting { id, .. } = broker.hold(&asked, "one", None, UnixMillis(1)).unwrap() else {
        panic!("it waits");
    };
    let said = SignedAnswer {
        answer: Answer::No,
        approver: "ann".into(),
        on_behalf_of: Vec::new(),
        binding: None,
        phrase: None,
        evidence: holdpoint_broker::Evidence::by(holdpoint_broker::Route::Page),
    };
    broker.answer(&id, &said, UnixMillis(2)).unwrap();
    let holds_it = || {
        let files = std::fs::read_dir(directory.path()).unwrap();
        let mut texts = files.map(|file| std::fs::read(file.unwrap().path()).unwrap());
        texts.any(|text| String::from_utf8_lossy(&text).contains("made-up-secret"))
    };
    assert!(holds_it());
    broker.tidy(UnixMillis(3_600_000)).unwrap();
    assert!(!holds_it());
}

/// The long form is asked for by `PROPTEST_CASES`.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(150)
}
