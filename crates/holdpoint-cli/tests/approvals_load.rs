//! Many callers at once, answered in any order by a daemon that is killed again and again: every
//! caller hears exactly the answer that was given, nothing is lost and nothing counts twice.
//!
//! The short form runs with the suite; `HOLDPOINT_LOAD=full` is 1,000 requests from 200 processes
//! and 200 kills.

#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::collections::{BTreeMap, HashSet};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use holdpoint_broker::wire::{self, HoldAnswer, Places, Reply, Wanted};
use holdpoint_broker::{Answer, CallContext, Context, Request};
use serde_json::json;

/// Set for the processes this test starts to be callers: which one, and how many calls it makes.
const CALLER: &str = "HOLDPOINT_TEST_CALLER";

struct Size {
    processes: usize,
    calls: usize,
    kills: usize,
}

fn size() -> Size {
    match std::env::var("HOLDPOINT_LOAD").as_deref() {
        Ok("full") => Size {
            processes: 200,
            calls: 5,
            kills: 200,
        },
        _ => Size {
            processes: 20,
            calls: 5,
            kills: 15,
        },
    }
}

#[test]
fn every_caller_hears_its_own_answer_once_however_often_the_daemon_dies() {
    let size = size();
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join(".config/holdpoint");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::create_dir(home.path().join("p")).unwrap();
    std::fs::write(
        config.join("permissions.json"),
        r#"{"defaultPolicy":"ask","channel":{"type":"daemon"},"approval":{"deadline":0,"presence":"none"}}"#,
    )
    .unwrap();
    let daemon = Arc::new(Mutex::new(start(home.path())));
    let places = Places::under(&home.path().join(".local/state/holdpoint"));

    let mut callers: Vec<Child> = (0..size.processes)
        .map(|number| caller(home.path(), number, size.calls))
        .collect();
    let total = size.processes * size.calls;
    let answered = Arc::new(AtomicUsize::new(0));
    let killed = Arc::new(AtomicUsize::new(0));
    let over = Arc::new(AtomicBool::new(false));

    // Everything waits before anything is answered.
    let patience = Instant::now();
    while pending(&places).len() < total {
        assert!(
            patience.elapsed() < Duration::from_secs(120),
            "not all requests came"
        );
        thread::sleep(Duration::from_millis(50));
    }

    let killer = {
        let (daemon, over, answered, killed) = (
            Arc::clone(&daemon),
            Arc::clone(&over),
            Arc::clone(&answered),
            Arc::clone(&killed),
        );
        let home = home.path().to_owned();
        thread::spawn(move || {
            let mut kills = 0;
            // One kill for each so many answers, which wait for it: they all fall among them.
            while kills < size.kills && !over.load(Ordering::SeqCst) {
                if answered.load(Ordering::SeqCst) >= kills * total / size.kills {
                    let mut daemon = daemon.lock().unwrap();
                    daemon.kill().unwrap();
                    daemon.wait().unwrap();
                    *daemon = start(&home);
                    kills += 1;
                    killed.store(kills, Ordering::SeqCst);
                }
                thread::sleep(Duration::from_millis(3));
            }
            kills
        })
    };

    // Answered in an order that has nothing to do with theirs.
    let given: BTreeMap<String, bool> = {
        let mut given = BTreeMap::new();
        let mut seed = 0x2545_f491_4f6c_dd1d_u64;
        let mut random = move || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed
        };
        let patience = Instant::now();
        while given.len() < total {
            assert!(
                patience.elapsed() < Duration::from_secs(500),
                "{} of {total}",
                given.len()
            );
            let mut waiting = pending(&places);
            while !waiting.is_empty() {
                let chosen = usize::try_from(random()).unwrap_or_default() % waiting.len();
                let request = waiting.swap_remove(chosen);
                let yes = random() % 2 == 0;
                while killed.load(Ordering::SeqCst) * total <= given.len() * size.kills
                    && killed.load(Ordering::SeqCst) < size.kills
                {
                    thread::sleep(Duration::from_millis(1));
                }
                if answer(&places, &request, yes) {
                    assert!(
                        given.insert(request.id.clone(), yes).is_none(),
                        "answered twice"
                    );
                    answered.fetch_add(1, Ordering::SeqCst);
                }
            }
            // An answer whose reply was lost with the daemon was given all the same.
            for request in settled(&places, total) {
                let released = request.state == holdpoint_broker::State::Released;
                given.entry(request.id).or_insert(released);
            }
            answered.store(given.len(), Ordering::SeqCst);
        }
        given
    };
    over.store(true, Ordering::SeqCst);
    let kills = killer.join().unwrap();

    let mut heard = HashSet::new();
    for caller in &mut callers {
        let stdout = BufReader::new(caller.stdout.take().unwrap());
        let mut calls = 0;
        for line in stdout.lines() {
            let line = line.unwrap();
            let Some((id, word)) = line
                .strip_prefix("heard ")
                .and_then(|rest| rest.split_once(' '))
            else {
                continue;
            };
            assert_eq!(given.get(id), Some(&(word == "allow")), "{line}");
            assert!(heard.insert(id.to_owned()), "{id} was heard by two callers");
            calls += 1;
        }
        assert!(caller.wait().unwrap().success());
        assert_eq!(calls, size.calls, "a caller heard of too few of its calls");
    }
    assert_eq!(heard.len(), total);
    assert!(pending(&places).is_empty());
    assert_eq!(kills, size.kills, "kills that fell among the answers");
    let mut daemon = daemon.lock().unwrap();
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    let verified = Command::new(env!("CARGO_BIN_EXE_holdpoint"))
        .args(["log", "verify"])
        .env("HOME", home.path())
        .env_remove("XDG_STATE_HOME")
        .output()
        .unwrap();
    assert!(verified.status.success(), "{verified:?}");
}

/// What a process started by the test does: makes several calls at once and says what it hears.
#[test]
fn caller_process() {
    let Ok(setting) = std::env::var(CALLER) else {
        return;
    };
    let (number, calls) = setting.split_once('/').unwrap();
    let calls: usize = calls.parse().unwrap();
    let home = std::env::var("HOME").unwrap();
    let places = Places::under(&Path::new(&home).join(".local/state/holdpoint"));
    let threads: Vec<_> = (0..calls)
        .map(|call| {
            let (places, home, number) = (places.clone(), home.clone(), number.to_owned());
            thread::spawn(move || {
                let asked = CallContext {
                    agent: "load".into(),
                    session: format!("session {number}"),
                    tool: "Bash".into(),
                    input: json!({"command": format!("make part-{number}-{call}")})
                        .as_object()
                        .unwrap()
                        .clone(),
                    directory: format!("{home}/p"),
                    workspace: format!("{home}/p"),
                    config: None,
                    context: Context::default(),
                };
                let patience = Duration::from_secs(300);
                match wire::hold(&places, &asked, Some(patience * 2), patience, &|| false).unwrap()
                {
                    HoldAnswer::Resolved(resolution) => {
                        (resolution.id.unwrap(), resolution.verdict.as_str())
                    }
                    HoldAnswer::StillWaiting { id } => (id, "nothing"),
                }
            })
        })
        .collect();
    let mut out = std::io::stdout().lock();
    for thread in threads {
        let (id, word) = thread.join().unwrap();
        writeln!(out, "\nheard {id} {word}").unwrap();
    }
}

fn caller(home: &Path, number: usize, calls: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "caller_process",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(CALLER, format!("{number}/{calls}"))
        .env("HOME", home)
        .env_remove("XDG_STATE_HOME")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

fn start(home: &Path) -> Child {
    let mut daemon = Command::new(env!("CARGO_BIN_EXE_holdpoint"))
        .args(["serve", "--listen", "127.0.0.1:0"])
        .env("HOME", home)
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_CONFIG_HOME")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(daemon.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    daemon
}

fn pending(places: &Places) -> Vec<Request> {
    match wire::ask(places, Wanted::Pending) {
        Ok(Reply::Requests { requests }) => requests,
        _ => Vec::new(),
    }
}

fn settled(places: &Places, limit: usize) -> Vec<Request> {
    let wanted = Wanted::History {
        limit,
        before: None,
        text: None,
        approver: None,
        session: None,
    };
    match wire::ask(places, wanted) {
        Ok(Reply::Requests { requests }) => requests,
        _ => Vec::new(),
    }
}

/// Whether the answer is known to have counted.
fn answer(places: &Places, request: &Request, yes: bool) -> bool {
    let wanted = Wanted::Answer {
        id: request.id.clone(),
        answer: if yes { Answer::Yes } else { Answer::No },
        binding: Some(request.binding.clone()),
        phrase: None,
        signed: None,
        watching: false,
    };
    match wire::ask(places, wanted) {
        Ok(Reply::Answered { outcome, .. }) => outcome == "settled",
        _ => false,
    }
}
