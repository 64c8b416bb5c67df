//! Many callers at once, answered in any order by a daemon that is killed again and again: every
//! caller hears exactly the answer that was given, nothing is lost and nothing counts twice.
//!
//! The short form runs with the suite; `HOLDPOINT_LOAD=full` is 1,000 requests from 200 processes
//! and 200 kills. Once more with pinned keys, where each yes is signed: those who may not bind an `/etc` of their own (all but root)
//! see a line that says it was left out.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

#[cfg(target_os = "linux")]
#[path = "../../holdpoint-proof/tests/support/mod.rs"]
mod signing;

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
use holdpoint_proof::Signed;
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
    let home = tempfile::tempdir().unwrap();
    let released = answered_under_fire(home.path(), "none", Signer::nobody());
    assert!(released > 0);
    let told = verified(home.path(), None);
    assert_eq!(told["proofs"], 0, "{told}");
}

#[cfg(target_os = "linux")]
#[test]
fn signed_answers_are_neither_lost_nor_doubled_however_often_the_daemon_dies() {
    let home = tempfile::tempdir().unwrap();
    let etc = home.path().join("etc");
    std::fs::create_dir_all(etc.join("holdpoint")).unwrap();
    for name in ["passwd", "group", "machine-id", "nsswitch.conf", "hosts"] {
        let _ = std::fs::copy(Path::new("/etc").join(name), etc.join(name));
    }
    let device = signing::Device::ed25519();
    let key = holdpoint_proof::PinnedKey::of_ssh(&device.line("ssh:")).unwrap();
    let pins = signing::pins("ann", vec![key.clone()]);
    let file = etc.join("holdpoint/approvers.json");
    std::fs::write(&file, serde_json::to_vec(&pins).unwrap()).unwrap();
    let may = in_etc("test", Some(&etc))
        .args(["-e", "/etc/holdpoint/approvers.json"])
        .status();
    if !may.is_ok_and(|ended| ended.success()) {
        let left_out = "left out: no test here has an /etc of its own";
        writeln!(std::io::stderr(), "{left_out}").unwrap();
        return;
    }
    let signer = Signer {
        etc: Some(etc.clone()),
        key: Some((device, key.id)),
    };
    let released = answered_under_fire(home.path(), "key", signer);
    let told = verified(home.path(), Some(&etc));
    assert_eq!(told["unpinned"], 0, "{told}");
    // An answer that was on record when the daemon was killed is signed anew and stands there again: never fewer than were
    // released.
    let proofs = usize::try_from(told["proofs"].as_u64().unwrap()).unwrap();
    assert!(proofs >= released && released > 0, "{proofs} of {released}");
    let signed: HashSet<String> = records(home.path())
        .into_iter()
        .filter(|record| record["detail"]["statement"].is_string())
        .map(|record| record["detail"]["request"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(signed.len(), released, "the requests somebody signed for");
}

/// Every record.
#[cfg(target_os = "linux")]
fn records(home: &Path) -> Vec<serde_json::Value> {
    let ledger = home.join(".local/state/holdpoint/ledger");
    let mut segments: Vec<_> = std::fs::read_dir(ledger)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .collect();
    segments.sort();
    let texts = segments
        .iter()
        .map(|path| std::fs::read_to_string(path).unwrap());
    texts
        .flat_map(|text| {
            let lines: Vec<_> = text
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            lines
        })
        .collect()
}

/// Who signs, and the `/etc` in which their key is pinned.
struct Signer {
    etc: Option<std::path::PathBuf>,
    #[cfg(target_os = "linux")]
    key: Option<(signing::Device, String)>,
}

impl Signer {
    /// Nobody has to sign.
    fn nobody() -> Self {
        Self {
            etc: None,
            #[cfg(target_os = "linux")]
            key: None,
        }
    }

    /// What they sign to let a request run; none if the daemon cannot be asked for it now.
    #[cfg(target_os = "linux")]
    fn signs(&self, places: &Places, request: &Request) -> Result<Option<Signed>, ()> {
        let Some((device, key)) = &self.key else {
            return Ok(None);
        };
        let wanted = Wanted::Statement {
            id: request.id.clone(),
            approver: "ann".into(),
        };
        let Ok(Reply::Statement { statement }) = wire::ask(places, wanted) else {
            return Err(());
        };
        let signature = device.signs(statement.as_bytes(), signing::Touch::default());
        let proof = holdpoint_proof::Proof::Sshsig {
            key: key.clone(),
            signature,
        };
        Ok(Some(Signed { statement, proof }))
    }

    #[cfg(not(target_os = "linux"))]
    fn signs(&self, _places: &Places, _request: &Request) -> Result<Option<Signed>, ()> {
        Ok(None)
    }
}

/// A program where this is `/etc`.
fn in_etc(program: &str, etc: Option<&Path>) -> Command {
    match etc {
        None => Command::new(program),
        Some(etc) => {
            let mut command = Command::new("unshare");
            let line = r#"mount --bind "$0" /etc && exec "$@""#;
            command.args(["-m", "sh", "-c", line]).arg(etc).arg(program);
            command
        }
    }
}

/// What `log verify` says, which finds nothing wrong.
fn verified(home: &Path, etc: Option<&Path>) -> serde_json::Value {
    let verified = in_etc(env!("CARGO_BIN_EXE_holdpoint"), etc)
        .args(["log", "verify", "--json"])
        .env("HOME", home)
        .env_remove("XDG_STATE_HOME")
        .output()
        .unwrap();
    assert!(verified.status.success(), "{verified:?}");
    serde_json::from_slice(&verified.stdout).unwrap()
}

/// Has many callers answered while the daemon dies again and again; how many of their calls were released.
fn answered_under_fire(home: &Path, presence: &str, signer: Signer) -> usize {
    let size = size();
    let config = home.join(".config/holdpoint");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::create_dir(home.join("p")).unwrap();
    std::fs::write(
        config.join("permissions.json"),
        json!({
            "defaultPolicy": "ask",
            "channel": {"type": "daemon"},
            "approval": {"deadline": 0, "presence": presence},
        })
        .to_string(),
    )
    .unwrap();
    let daemon = Arc::new(Mutex::new(start(home, signer.etc.as_deref())));
    let places = Places::under(&home.join(".local/state/holdpoint"));

    let mut callers: Vec<Child> = (0..size.processes)
        .map(|number| caller(home, number, size.calls))
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
        let (home, etc) = (home.to_owned(), signer.etc.clone());
        thread::spawn(move || {
            let mut kills = 0;
            // One kill for each so many answers, which wait for it: they all fall among them.
            while kills < size.kills && !over.load(Ordering::SeqCst) {
                if answered.load(Ordering::SeqCst) >= kills * total / size.kills {
                    let mut daemon = daemon.lock().unwrap();
                    daemon.kill().unwrap();
                    daemon.wait().unwrap();
                    *daemon = start(&home, etc.as_deref());
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
                if answer(&places, &request, yes, &signer) {
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
    given.values().filter(|yes| **yes).count()
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

fn start(home: &Path, etc: Option<&Path>) -> Child {
    let mut daemon = in_etc(env!("CARGO_BIN_EXE_holdpoint"), etc)
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
fn answer(places: &Places, request: &Request, yes: bool, signer: &Signer) -> bool {
    let signed = match yes {
        // A refusal needs no proof.
        false => Ok(None),
        true => signer.signs(places, request),
    };
    let Ok(signed) = signed else { return false };
    let wanted = Wanted::Answer {
        id: request.id.clone(),
        answer: if yes { Answer::Yes } else { Answer::No },
        binding: Some(request.binding.clone()),
        phrase: None,
        signed,
        watching: false,
    };
    match wire::ask(places, wanted) {
        Ok(Reply::Answered { outcome, .. }) => outcome == "settled",
        _ => false,
    }
}
