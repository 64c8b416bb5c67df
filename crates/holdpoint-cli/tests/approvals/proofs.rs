//! Only a person releases: attacks by programs of the account itself, against the floor (`terminal`) and against `key`, where a
//! release is somebody's signature. `docs/approvals.md` has the table of them.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;
use std::time::Duration;

use holdpoint_broker::wire::{self, Places, Reply, Wanted};
use holdpoint_broker::{Answer, Request, Resolution};
use holdpoint_core::{Method, Verdict};
use holdpoint_proof::{PinnedKey, Pins, Proof, Signed, Statement};
use ring::rand::SystemRandom;
use ring::signature::Ed25519KeyPair;
use serde_json::{Value, json};

use super::signing::{Ceremony, Device, Passkey, Touch, pins};
use super::test_home::{Caller, TestHome, ran, started};

/// Everything is asked about on the usual terms: somebody must sit at a terminal.
fn usual() -> Value {
    json!({"approval": {"presence": "terminal"}})
}

/// Everything must be signed.
fn signed() -> Value {
    json!({"approval": {"presence": "key"}})
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_holdpoint");

/// A copy of the program under another name, where the agent works.
fn copy(test_home: &TestHome) -> String {
    let copy = test_home.work().join("build-tool");
    fs::copy(PROGRAM, &copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    copy.to_str().unwrap().to_owned()
}

/// Runs a line in a shell that has left the test's process tree, with nothing in its environment; what it said.
fn detached(test_home: &TestHome, line: &str) -> String {
    let said = test_home.path("said");
    let done = test_home.path("done");
    let _ = fs::remove_file(&done);
    let line = format!(
        "{{ {line}; }} >{0} 2>&1; mv {0} {1}",
        said.display(),
        done.display()
    );
    let mut shell = test_home.clean("setsid");
    let home = test_home.path("");
    let path = std::env::var("PATH").unwrap();
    shell.args(["-f", "env", "-i"]);
    shell.arg(format!("HOME={}", home.display()));
    shell.arg(format!("PATH={path}"));
    let ran = ran(shell.args(["sh", "-c", &line]));
    assert_eq!(ran.code, 0, "{ran:?}");
    for _ in 0..600 {
        if let Ok(text) = fs::read_to_string(&done) {
            return text;
        }
        thread::sleep(Duration::from_millis(50));
    }
    panic!("it does not end: {line}");
}

fn stays_held(call: &mut Caller, said: &str, what: &str) {
    assert!(call.waits(), "{what}: {said}");
    assert!(!said.contains("released"), "{what}: {said}");
}

#[test]
fn a_renamed_detached_copy_with_a_clean_environment_releases_nothing() {
    let test_home = TestHome::under(usual());
    let copy = copy(&test_home);
    let mut call = test_home.held(&test_home.bash("make one"));
    let said = detached(&test_home, &format!("'{copy}' approve {}", call.id));
    assert!(said.contains("nobody sits at a terminal"), "{said}");
    stays_held(&mut call, &said, "approve");
    for arguments in ["open --print", "resume --all", "people add mallory"] {
        let said = detached(&test_home, &format!("'{copy}' {arguments}; echo ended $?"));
        assert!(said.contains("ended 1"), "{arguments}: {said}");
        assert!(said.contains("terminal"), "{arguments}: {said}");
        assert!(!said.contains("#code=") && !said.contains("hpt_"), "{said}");
    }
    // Nor does it take the question away, not even under a policy it brings with it.
    test_home.file("permissions.json", "{}");
    test_home.file("own.json", r#"{"approval": {"presence": "none"}}"#);
    for arguments in [
        "permissions --session s1 allow 'make one'",
        "permissions --session s1 default allow",
        "permissions --session s1 suspend",
        "permissions --session s1 clear",
        "permissions --session s1 forget 'make one'",
        "trust permissions.json",
    ] {
        for before in ["", "HOLDPOINT_CONFIG=own.json "] {
            let line = format!("{before}'{copy}' {arguments}; echo ended $?");
            let said = detached(&test_home, &line);
            assert!(said.contains("ended 1"), "{line}: {said}");
            assert!(said.contains("terminal"), "{line}: {said}");
        }
    }
    assert!(call.waits());
    // What a person is about to release stays as it is, and waits no longer.
    for arguments in [
        format!("approve {} --edit 'command=make evil'", call.id),
        format!("extend {} 600", call.id),
    ] {
        let line = format!("'{copy}' {arguments}; echo ended $?");
        let said = detached(&test_home, &line);
        assert!(said.contains("ended 1"), "{line}: {said}");
        assert!(said.contains("terminal"), "{line}: {said}");
    }
    let card = test_home.card(&call.id);
    assert_eq!(card["was_edited"], false, "{card}");
    assert!(call.waits());
    // What tightens needs nobody.
    let line = format!("'{copy}' permissions --session s1 deny 'make two'; echo ended $?");
    let said = detached(&test_home, &line);
    assert!(said.contains("ended 0"), "{said}");
    // A refusal needs no proof.
    let said = detached(&test_home, &format!("'{copy}' deny {}", call.id));
    assert!(said.contains("refused"), "{said}");
    assert_eq!(call.hears().word, "deny");
}

#[test]
fn nobody_answers_in_a_name_that_was_not_verified() {
    let test_home = TestHome::asking();
    let mut call = test_home.held(&test_home.bash("make one"));
    let wanted = Wanted::Statement {
        id: call.id.clone(),
        approver: "the-boss".into(),
    };
    let Ok(Reply::Statement { statement }) = wire::ask(&test_home.places(), wanted) else {
        panic!("no statement");
    };
    let made_up = sign(&Device::ed25519(), statement, Touch::default());
    let mut input = serde_json::Map::new();
    input.insert("command".into(), json!("make evil"));
    for said in [
        Answer::Comment {
            comment: "run make evil instead".into(),
        },
        Answer::No,
        Answer::Never { scope: None },
        Answer::Edit { input },
        Answer::Yes,
    ] {
        let (outcome, why) = answers(
            &test_home,
            &call.id,
            said.clone(),
            Some(made_up.clone()),
            false,
        );
        assert_eq!(outcome, "no_effect", "{said:?}: {why}");
        assert!(call.waits(), "{said:?}");
    }
    let (outcome, why) = answers(&test_home, &call.id, Answer::No, None, false);
    assert_eq!(outcome, "settled", "{why}");
    assert_eq!(call.hears().word, "deny");
    let records = test_home.records();
    let said = serde_json::to_string(&records).unwrap();
    assert!(!said.contains("the-boss"), "{said}");
}

#[test]
fn a_conftest_that_forks_twice_releases_nothing() {
    let test_home = TestHome::under(usual());
    let copy = copy(&test_home);
    let mut call = test_home.held(&test_home.bash("make one"));
    let done = test_home.path("forked");
    let code = format!(
        "import os, subprocess, sys\n\
         if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        \
         ran = subprocess.run([{copy:?}, 'approve', {:?}], env={{'HOME': {:?}}}, capture_output=True, text=True)\n        \
         open({:?}, 'w').write(ran.stdout + ran.stderr)\n        os.rename({:?}, {:?})\n    os._exit(0)\n",
        call.id,
        test_home.path("").to_str().unwrap(),
        test_home.path("forking").to_str().unwrap(),
        test_home.path("forking").to_str().unwrap(),
        done.to_str().unwrap(),
    );
    test_home.file("conftest.py", &code);
    let mut python = test_home.clean("python3");
    if python.arg("conftest.py").status().is_err() {
        eprintln!("there is no Python here");
        return;
    }
    for _ in 0..600 {
        if done.exists() {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    let said = fs::read_to_string(done).unwrap();
    stays_held(&mut call, &said, "conftest");
    assert!(said.contains("nobody sits at a terminal"), "{said}");
    call.kill();
}

#[test]
fn a_person_with_a_token_is_no_terminal_and_answers() {
    let test_home = TestHome::under(json!({}));
    let added: Value =
        serde_json::from_str(&test_home.says(&["people", "--json", "add", "bot"])).unwrap();
    test_home.write_policy(&json!({
        "defaultPolicy": "ask", "channel": {"type": "daemon"}, "approval": {"presence": "terminal"},
    }));
    let call = test_home.held(&test_home.bash("make one"));
    let bot = test_home.sign_in("bot", added["token"].as_str().unwrap());
    let (status, said) = bot.answers(&json!(test_home.card(&call.id)), "yes");
    assert_eq!(status, 200, "{said}");
    assert_eq!(call.hears().word, "allow");
    assert_eq!(test_home.last("hold_answered")["detail"]["route"], "page");
}

/// A home where ann's key of ssh is pinned, and a daemon runs.
fn pinned(policy: Value) -> Option<(TestHome, Device)> {
    let device = Device::ed25519();
    let key = PinnedKey::of_ssh(&device.line("ssh:")).unwrap();
    let mut test_home = TestHome::with_pins(policy, &pins("ann", vec![key]))?;
    test_home.start();
    Some((test_home, device))
}

fn statement(test_home: &TestHome, id: &str) -> String {
    let wanted = Wanted::Statement {
        id: id.to_owned(),
        approver: "ann".into(),
    };
    match wire::ask(&test_home.places(), wanted) {
        Ok(Reply::Statement { statement }) => statement,
        other => panic!("{other:?}"),
    }
}

fn sign(device: &Device, statement: String, touch: Touch) -> Signed {
    Signed {
        proof: Proof::Sshsig {
            key: PinnedKey::of_ssh(&device.line(touch.application))
                .unwrap()
                .id,
            signature: device.signs(statement.as_bytes(), touch),
        },
        statement,
    }
}

fn answer(
    test_home: &TestHome,
    id: &str,
    signed: Option<Signed>,
    watching: bool,
) -> (String, String) {
    answers(test_home, id, Answer::Yes, signed, watching)
}

fn answers(
    test_home: &TestHome,
    id: &str,
    answer: Answer,
    signed: Option<Signed>,
    watching: bool,
) -> (String, String) {
    let wanted = Wanted::Answer {
        id: id.to_owned(),
        answer,
        binding: None,
        phrase: None,
        signed,
        watching,
    };
    match wire::ask(&test_home.places(), wanted) {
        Ok(Reply::Answered {
            outcome, message, ..
        }) => (outcome, message.unwrap_or_default()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_signature_releases_once_and_is_on_record() {
    let Some((test_home, device)) = pinned(signed()) else {
        return;
    };
    let call = test_home.held(&test_home.bash("make one"));
    let text = statement(&test_home, &call.id);
    let good = sign(&device, text, Touch::default());
    let (outcome, why) = answer(&test_home, &call.id, Some(good.clone()), false);
    assert_eq!(outcome, "settled", "{why}");
    assert_eq!(call.hears().word, "allow");
    let record = test_home.last("hold_answered");
    assert_eq!(record["approver"], "ann");
    assert_eq!(record["detail"]["statement"], good.statement.as_str());
    assert_eq!(record["detail"]["route"], "terminal");
    assert_eq!(record["detail"]["proof"]["kind"], "sshsig");
    assert!(
        record["detail"]["key"]["public_key"]
            .as_str()
            .unwrap()
            .starts_with("sk-ssh")
    );
    let verified = test_home.run(&["log", "verify", "--json"]);
    assert_eq!(verified.code, 0, "{verified:?}");
    let told: Value = serde_json::from_str(&verified.out).unwrap();
    assert_eq!(
        (&told["proofs"], &told["unpinned"]),
        (&json!(1), &json!(0)),
        "{told}"
    );
    // The release itself is signed by the ledger's key, in the same turn.
    assert_eq!(
        told["signed"].as_u64().map(|signed| signed + 1),
        told["records"].as_u64(),
        "{told}"
    );
    verified_by_python(&test_home, true);
    for kind in ["hold_opened", "hold_answered", "release"] {
        let detail = &test_home.last(kind)["detail"];
        assert_eq!(detail["presence"], "key", "{kind}");
        let said = Statement::read(&good.statement).unwrap();
        assert_eq!(
            (&detail["binding"], &detail["card"]),
            (&json!(said.binding), &json!(said.card))
        );
    }
    // `once` is the same word: what is on record is what was signed.
    let call = test_home.held(&test_home.bash("make two"));
    let for_two = sign(&device, statement(&test_home, &call.id), Touch::default());
    for other in [
        Answer::Always { scope: None },
        Answer::All,
        Answer::No,
        Answer::Never { scope: None },
        Answer::Comment {
            comment: "no".into(),
        },
    ] {
        let (outcome, why) = answers(
            &test_home,
            &call.id,
            other.clone(),
            Some(for_two.clone()),
            false,
        );
        assert_eq!(outcome, "no_effect", "{other:?}");
        assert!(why.contains("signature"), "{other:?}: {why}");
    }
    let (outcome, why) = answers(&test_home, &call.id, Answer::Once, Some(for_two), false);
    assert_eq!(outcome, "settled", "{why}");
    assert_eq!(call.hears().word, "allow");
    assert_eq!(test_home.last("hold_answered")["detail"]["answer"], "yes");
    let verified = test_home.run(&["log", "verify", "--json"]);
    assert_eq!(verified.code, 0, "{verified:?}");
    // The identical call is another request, and the signature none for it.
    let mut again = test_home.held(&test_home.bash("make one"));
    let (outcome, why) = answer(&test_home, &again.id, Some(good), false);
    assert_eq!(outcome, "no_effect");
    assert!(why.contains("another request"), "{why}");
    assert!(again.waits());
    again.kill();
}

/// What the verifier that shares no code with Holdpoint makes of the ledger.
fn verified_by_python(test_home: &TestHome, holds: bool) {
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/verify_ledger.py");
    let mut python = test_home.clean("python3");
    python
        .arg(tool)
        .arg(test_home.path(".local/state/holdpoint/ledger"));
    let ran = ran(python.arg("--json"));
    let told: Value = serde_json::from_str(&ran.out).unwrap_or_default();
    assert_eq!(ran.code, if holds { 0 } else { 4 }, "{ran:?}");
    assert_eq!(told["proofs"], 1, "{told}");
}

// A policy that hides what digests and names look like hides nothing that records are verified by.
#[test]
fn what_a_policy_takes_out_of_texts_leaves_what_is_signed_as_it_is() {
    let policy = json!({
        "approval": {"presence": "key"},
        "redaction": {"formats": [
            {"id": "own.digest", "marker": "token", "prefix": "sha256:", "shape": "sha256:\\x{64}"},
            {"id": "own.people", "marker": "token", "prefix": "ann-", "shape": "ann-[a-z]{5}"},
        ]},
    });
    let device = Device::ed25519();
    let key = PinnedKey::of_ssh(&device.line("ssh:")).unwrap();
    let Some(mut test_home) = TestHome::with_pins(policy, &pins("ann-smith", vec![key])) else {
        return;
    };
    test_home.start();
    let call = test_home.held(&test_home.bash("echo ann-smith"));
    let wanted = Wanted::Statement {
        id: call.id.clone(),
        approver: "ann-smith".into(),
    };
    let Ok(Reply::Statement { statement: text }) = wire::ask(&test_home.places(), wanted) else {
        panic!("no statement");
    };
    let good = sign(&device, text.clone(), Touch::default());
    let (outcome, why) = answer(&test_home, &call.id, Some(good), false);
    assert_eq!(outcome, "settled", "{why}");
    assert_eq!(call.hears().word, "allow");
    let said = Statement::read(&text).unwrap();
    for kind in ["hold_opened", "hold_answered", "release"] {
        let detail = &test_home.last(kind)["detail"];
        assert_eq!(
            (&detail["binding"], &detail["card"]),
            (&json!(said.binding), &json!(said.card)),
            "{kind}"
        );
    }
    assert_eq!(test_home.last("hold_answered")["approver"], "ann-smith");
    // The call's own text is taken care of as the policy says.
    let opened = test_home.last("hold_opened");
    assert_ne!(opened["input"]["command"], "echo ann-smith", "{opened}");
    let verified = test_home.run(&["log", "verify"]);
    assert_eq!(verified.code, 0, "{verified:?}");
    verified_by_python(&test_home, true);
}

// The positive side of the floor: somebody at a terminal a login leads to releases, and the record says at which.
#[test]
fn a_yes_at_a_terminal_releases_under_the_usual_level() {
    let test_home = TestHome::under(usual());
    let call = test_home.held(&test_home.bash("make one"));
    let Some(said) = test_home.typed(&["approve", &call.id]) else {
        call.kill();
        return;
    };
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("released"), "{said:?}");
    assert_eq!(call.hears().word, "allow");
    let detail = &test_home.last("hold_answered")["detail"];
    assert_eq!(
        (&detail["route"], &detail["presence"]),
        (&json!("terminal"), &json!("terminal"))
    );
    let device = detail["device"].as_str().unwrap();
    assert!(device.starts_with("pts/"), "{device}");
    // What gives a session on the page, and what takes questions away, works there, too.
    for line in [
        &["people", "add", "ann"][..],
        &["permissions", "--session", "s1", "allow", "make two"],
        &["open", "--print"],
    ] {
        let said = test_home.typed(line).unwrap();
        assert_eq!(said.code, 0, "{line:?}: {said:?}");
    }
}

/// An account that is not root's, for what an account tries against itself.
const ACCOUNT: &str = "64999";

#[test]
fn nobody_looks_into_the_daemon() {
    let mut test_home = TestHome::alone(usual());
    let chown = ran(test_home.clean("chown").args(["-R", ACCOUNT, ".."]));
    if chown.code != 0 {
        let left_out =
            "left out: only root starts a daemon and an attacker as one account that is not root";
        writeln!(std::io::stderr(), "{left_out}").unwrap();
        return;
    }
    test_home.become_account(ACCOUNT);
    test_home.start();
    let daemon = test_home.daemon();
    for file in ["mem", "environ", "maps", "auxv", "fd/0", "cwd/."] {
        let path = format!("/proc/{daemon}/{file}");
        let read = ran(test_home.clean("head").args(["-c", "1", &path]));
        assert_ne!(read.code, 0, "{path}: {read:?}");
        assert!(read.err.contains("ermission denied"), "{path}: {read:?}");
    }
    // The same of a process that keeps nobody out: so it was the daemon that did.
    let mut open = test_home.clean("sleep").arg("60").spawn().unwrap();
    let environ = format!("/proc/{}/environ", open.id());
    // Until the account has changed and the program has begun it is as closed as the daemon.
    let comm = format!("/proc/{}/comm", open.id());
    for _ in 0..600 {
        if fs::read_to_string(&comm).is_ok_and(|name| name.trim() == "sleep") {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    let read = ran(test_home.clean("head").args(["-c", "1", &environ]));
    assert_eq!(read.code, 0, "{read:?}");
    let attach = |process: u32| {
        let code = format!(
            "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n\
             print('attached', libc.ptrace(16, {process}, None, None), ctypes.get_errno())"
        );
        let system = "/usr/bin/python3";
        let python = match Path::new(system).exists() {
            true => system,
            false => "python3",
        };
        ran(test_home.clean(python).args(["-c", &code])).out
    };
    let told = attach(daemon);
    let other = attach(open.id());
    open.kill().unwrap();
    open.wait().unwrap();
    if other.trim() == "attached 0 0" {
        assert_eq!(told.trim(), "attached -1 1", "{told}");
    } else {
        // Some machines let nobody attach to what is no child of theirs, and some keep Python in root's home.
        assert!(!told.contains("attached 0"), "{told}");
        let left_out = "left out: the account attaches to nothing here";
        writeln!(std::io::stderr(), "{left_out}: {other}").unwrap();
    }
    // It still judges and answers as the account it is.
    let hook = test_home.hook(&test_home.bash("make one"));
    let id = (0..600).find_map(|_| {
        thread::sleep(Duration::from_millis(100));
        let waiting = test_home.says(&["pending", "--json"]);
        let first: Value = serde_json::from_str(waiting.lines().next()?).ok()?;
        Some(first["id"].as_str()?.to_owned())
    });
    let said = test_home.run(&["deny", &id.unwrap()]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(super::test_home::heard(hook).word, "deny");
    let owner = test_home.last("hold_answered")["approver"].clone();
    assert_eq!(owner, format!("uid {ACCOUNT}"));
}

/// A library that says of every stream that it is a terminal, and lets nobody else be asked who they are.
const PRELOADED: &str = r#"
int isatty(int fd) { return 1; }
char *ttyname(int fd) { return "/dev/pts/0"; }
int geteuid(void) { return 0; }
int getuid(void) { return 0; }
"#;

#[test]
fn a_library_loaded_into_the_program_releases_nothing() {
    let test_home = TestHome::under(usual());
    let source = test_home.file("seated.c", PRELOADED);
    let library = source.with_extension("so");
    let mut cc = test_home.clean("cc");
    cc.args(["-shared", "-fPIC", "-w", "-o"])
        .args([&library, &source]);
    if !cc.status().is_ok_and(|ended| ended.success()) {
        writeln!(std::io::stderr(), "left out: there is no compiler for C").unwrap();
        return;
    }
    let copy = copy(&test_home);
    let mut call = test_home.held(&test_home.bash("make one"));
    let preload = format!("LD_PRELOAD='{}'", library.display());
    // It is loaded: what it says of a stream is believed by a program that asks.
    let asked = detached(
        &test_home,
        &format!("{preload} env test -t 5 && echo a terminal"),
    );
    assert!(asked.contains("a terminal"), "{asked}");
    for arguments in [
        format!("approve {}", call.id),
        format!("approve {} --all", call.id),
        "open --print".into(),
        "people add mallory".into(),
        "permissions --session s1 allow 'make one'".into(),
    ] {
        let line = format!("{preload} '{copy}' {arguments}; echo ended $?");
        let said = detached(&test_home, &line);
        assert!(said.contains("ended 1"), "{line}: {said}");
        assert!(!said.contains("#code=") && !said.contains("hpt_"), "{said}");
        stays_held(&mut call, &said, &line);
    }
    call.kill();
}

#[test]
fn whoever_cannot_sign_releases_nothing() {
    let Some((test_home, device)) = pinned(signed()) else {
        return;
    };
    let copy = copy(&test_home);
    let mut call = test_home.held(&test_home.bash("make one"));
    let id = call.id.clone();
    for line in [
        format!("'{copy}' approve {id}"),
        // A terminal of its own.
        format!("script -qec \"'{copy}' approve {id}\" /dev/null"),
        format!("script -qec \"'{copy}' approve {id} --all\" /dev/null"),
        // And a login it has counted for itself.
        format!(
            "echo $(id -u) > /proc/self/loginuid; script -qec \"'{copy}' approve {id}\" /dev/null"
        ),
        format!("LD_PRELOAD=/usr/lib/libnothing.so '{copy}' approve {id}"),
        format!("HOLDPOINT_CONFIG=/dev/null '{copy}' approve {id}"),
    ] {
        let said = detached(&test_home, &line);
        stays_held(&mut call, &said, &line);
    }
    // The daemon's secret, and no signature.
    for watching in [false, true] {
        let (outcome, why) = answer(&test_home, &id, None, watching);
        assert_eq!(outcome, "no_effect");
        assert!(why.contains("a key must sign this"), "{why}");
    }
    let text = statement(&test_home, &id);
    let forger = Device::ed25519();
    let usual = Touch::default();
    let ours = PinnedKey::of_ssh(&device.line("ssh:")).unwrap().id;
    let forged = Signed {
        statement: text.clone(),
        proof: Proof::Sshsig {
            key: ours.clone(),
            signature: forger.signs(text.as_bytes(), usual),
        },
    };
    let mut other = Statement::read(&text).unwrap();
    other.card = format!("sha256:{}", "0".repeat(64));
    let mut expired = Statement::read(&text).unwrap();
    (expired.time, expired.expires) = (expired.time - 60_000, expired.time - 1);
    let mut somebody = Statement::read(&text).unwrap();
    somebody.approver = "mallory".into();
    let mut longer = Statement::read(&text).unwrap();
    longer.expires += 3_600_000;
    let plain = plain_key(&test_home, &text, &ours);
    let attempts = [
        ("a key nobody pinned", sign(&forger, text.clone(), usual)),
        ("a forged signature", forged),
        (
            "nobody touched it",
            sign(&device, text.clone(), Touch { flags: 0, ..usual }),
        ),
        (
            "no PIN",
            sign(&device, text.clone(), Touch { flags: 1, ..usual }),
        ),
        (
            "made for git",
            sign(
                &device,
                text.clone(),
                Touch {
                    namespace: "git",
                    ..usual
                },
            ),
        ),
        ("another card", sign(&device, other.to_text(), usual)),
        ("expired", sign(&device, expired.to_text(), usual)),
        ("another person", sign(&device, somebody.to_text(), usual)),
        ("too long", sign(&device, longer.to_text(), usual)),
        ("another spelling", sign(&device, format!(" {text}"), usual)),
    ];
    for (what, attempt) in attempts
        .into_iter()
        .chain(plain.map(|one| ("a key in a file", one)))
    {
        let (outcome, why) = answer(&test_home, &id, Some(attempt), false);
        assert_eq!(outcome, "no_effect", "{what}: {why}");
        assert!(call.waits(), "{what}");
    }
    let (outcome, why) = answer(&test_home, &id, Some(sign(&device, text, usual)), false);
    assert_eq!(outcome, "settled", "{why}");
    assert_eq!(call.hears().word, "allow");
}

/// What a key without a device signs, under the name of one that has.
fn plain_key(test_home: &TestHome, text: &str, id: &str) -> Option<Signed> {
    let (key, message) = (test_home.path("plain"), test_home.path("message"));
    fs::write(&message, text).unwrap();
    let mut keygen = test_home.clean("ssh-keygen");
    keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]);
    keygen.arg(&key).status().ok()?;
    let mut keygen = test_home.clean("ssh-keygen");
    keygen.args(["-q", "-Y", "sign", "-n", "holdpoint-release-v1", "-f"]);
    keygen.arg(&key).arg(&message).status().ok()?;
    Some(Signed {
        statement: text.to_owned(),
        proof: Proof::Sshsig {
            key: id.to_owned(),
            signature: fs::read_to_string(test_home.path("message.sig")).ok()?,
        },
    })
}

#[test]
fn pinned_keys_are_roots_word_and_the_account_cannot_ask_for_less() {
    let high = json!({
        "approval": {"presence": "none"},
        "tools": {"Bash": {"supervision": "confirm", "risk": "high"}},
    });
    let Some((test_home, device)) = pinned(high) else {
        return;
    };
    // Keys of its own, wherever the account can write them.
    let mallory = Device::ed25519();
    let own = pins(
        "ann",
        vec![PinnedKey::of_ssh(&mallory.line("ssh:")).unwrap()],
    );
    let text = serde_json::to_vec(&own).unwrap();
    for place in [
        ".config/holdpoint/approvers.json",
        ".local/state/holdpoint/approvers.json",
        "work/approvers.json",
    ] {
        fs::write(test_home.path(place), &text).unwrap();
    }
    let call = test_home.held(&test_home.bash("make one"));
    assert_eq!(test_home.card(&call.id)["terms"]["presence"], "key");
    let statement = statement(&test_home, &call.id);
    let forged = sign(&mallory, statement.clone(), Touch::default());
    assert_eq!(
        answer(&test_home, &call.id, Some(forged), false).0,
        "no_effect"
    );
    // A lost key is taken back, and signs nothing from then on; a second one does.
    let second = Device::p256();
    test_home.pin(&pins(
        "ann",
        vec![PinnedKey::of_ssh(&second.line("ssh:")).unwrap()],
    ));
    let lost = sign(&device, statement.clone(), Touch::default());
    let (outcome, why) = answer(&test_home, &call.id, Some(lost), false);
    assert_eq!(outcome, "no_effect");
    assert!(why.contains("nobody's"), "{why}");
    let good = sign(&second, statement, Touch::default());
    assert_eq!(answer(&test_home, &call.id, Some(good), false).0, "settled");
    assert_eq!(call.hears().word, "allow");
    // A file others can write pins nobody, and asks for no less.
    let file = test_home.path("etc/holdpoint/approvers.json");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let heard = test_home.told(&test_home.bash("make two"));
    assert_eq!(heard.word, "deny", "{heard:?}");
    assert!(heard.reason.contains("others can write"), "{heard:?}");
}

/// Sits in the daemon's place, with its secret, and tells a caller this.
fn play_daemon(places: &Places, request: &Request, proofs: Vec<Signed>) -> thread::JoinHandle<()> {
    let told = Resolution {
        id: Some(request.id.clone()),
        verdict: Verdict::Allow,
        method: Method::UserApproved,
        reason: "User approved execution".into(),
        comment: None,
        approvers: vec!["ann".into()],
        edited: None,
        changed: false,
        binding: Some(request.binding.clone()),
        card: request.card.clone(),
        parts: Default::default(),
        proofs,
    };
    let told = serde_json::to_string(&told).unwrap();
    let secret = places.read_secret().unwrap();
    let _ = fs::remove_file(places.socket());
    let listener = UnixListener::bind(places.socket()).unwrap();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut line = String::new();
        BufReader::new(stream.try_clone().unwrap())
            .read_line(&mut line)
            .unwrap();
        let wish: Value = serde_json::from_str(&line).unwrap();
        let proof = wire::proof(&secret, wish["nonce"].as_str().unwrap(), &told).unwrap();
        writeln!(
            stream,
            "{}",
            json!({"says": "told", "told": told, "proof": proof})
        )
        .unwrap();
    })
}

#[test]
fn whoever_plays_the_daemon_to_the_hook_releases_nothing() {
    let Some((mut test_home, device)) = pinned(signed()) else {
        return;
    };
    let one = test_home.held(&test_home.bash("make one"));
    let two = test_home.held(&test_home.bash("make two"));
    let find = |id: &str| {
        test_home
            .waiting()
            .into_iter()
            .find(|request| request.id == id)
            .unwrap()
    };
    let (first, second) = (find(&one.id), find(&two.id));
    let good = sign(&device, statement(&test_home, &one.id), Touch::default());
    let for_two = sign(&device, statement(&test_home, &two.id), Touch::default());
    let forger = Device::ed25519();
    let forged = sign(&forger, good.statement.clone(), Touch::default());
    test_home.kill();
    one.kill();
    two.kill();
    let places = test_home.places();
    let payload = test_home.bash("make one");
    let hook = || {
        let hook = started(&mut test_home.program(&["hook", "claude-code"]), &payload);
        super::test_home::heard(hook)
    };
    for (what, request, proofs) in [
        ("nothing signed", &first, vec![]),
        ("a forged signature", &first, vec![forged]),
        (
            "a signature for another call",
            &first,
            vec![for_two.clone()],
        ),
        ("another call's release", &second, vec![for_two]),
    ] {
        let daemon = play_daemon(&places, request, proofs);
        let heard = hook();
        daemon.join().unwrap();
        assert_eq!(heard.word, "deny", "{what}: {heard:?}");
    }
    // What ann signed counts, once, whoever brings it.
    let daemon = play_daemon(&places, &first, vec![good.clone()]);
    let heard = hook();
    daemon.join().unwrap();
    assert_eq!(heard.word, "allow", "{heard:?}");
    let daemon = play_daemon(&places, &first, vec![good]);
    let heard = hook();
    daemon.join().unwrap();
    assert_eq!(heard.word, "deny", "{heard:?}");
    assert!(heard.reason.contains("used before"), "{heard:?}");
}

#[test]
fn two_people_must_sign_where_two_are_wanted() {
    let policy = json!({"approval": {"presence": "key", "required": 2}});
    let (ann, ann_too, bob) = (Device::ed25519(), Device::p256(), Device::p256());
    let of = |device: &Device| PinnedKey::of_ssh(&device.line("ssh:")).unwrap();
    let mut all: Pins = pins("ann", vec![of(&ann), of(&ann_too)]);
    all.pin("bob", of(&bob)).unwrap();
    let Some(mut test_home) = TestHome::with_pins(policy, &all) else {
        return;
    };
    test_home.start();
    let call = test_home.held(&test_home.bash("make one"));
    let text = statement(&test_home, &call.id);
    let first = sign(&ann, text.clone(), Touch::default());
    assert_eq!(
        answer(&test_home, &call.id, Some(first), false).0,
        "counted"
    );
    let again = sign(&ann_too, text, Touch::default());
    assert_eq!(
        answer(&test_home, &call.id, Some(again), false).0,
        "no_effect"
    );
    let wanted = Wanted::Statement {
        id: call.id.clone(),
        approver: "bob".into(),
    };
    let Ok(Reply::Statement { statement }) = wire::ask(&test_home.places(), wanted) else {
        panic!("no statement");
    };
    let second = sign(&bob, statement, Touch::default());
    assert_eq!(
        answer(&test_home, &call.id, Some(second), false).0,
        "settled"
    );
    assert_eq!(call.hears().word, "allow");
}

#[test]
fn what_was_signed_before_an_edit_is_not_counted_again() {
    let policy = json!({"approval": {"presence": "key", "required": 2}});
    let ann = Device::ed25519();
    let key = PinnedKey::of_ssh(&ann.line("ssh:")).unwrap();
    let Some(mut test_home) = TestHome::with_pins(policy, &pins("ann", vec![key])) else {
        return;
    };
    let written =
        json!({"people": [{"name": "bot", "role": "approver", "token": digest("hpt_x")}]});
    let people = test_home.path(".config/holdpoint/people.json");
    fs::write(&people, written.to_string()).unwrap();
    fs::set_permissions(&people, fs::Permissions::from_mode(0o600)).unwrap();
    test_home.start();
    let mut call = test_home.held(&test_home.bash("make one"));
    let signed = sign(&ann, statement(&test_home, &call.id), Touch::default());
    let (outcome, why) = answer(&test_home, &call.id, Some(signed.clone()), false);
    assert_eq!(outcome, "counted", "{why}");
    // Changed, and changed back: the binding is what it was.
    let bot = test_home.sign_in("bot", "hpt_x");
    let path = format!("/api/requests/{}/answer", call.id);
    let first = test_home.card(&call.id)["binding"].clone();
    for command in ["make two", "make one"] {
        let binding = test_home.card(&call.id)["binding"].clone();
        let body = json!({"answer": "edit", "binding": binding, "input": {"command": command}});
        let (status, said) = bot.posts(&path, &body);
        assert_eq!(status, 200, "{said}");
    }
    assert_eq!(test_home.card(&call.id)["binding"], first);
    let (outcome, why) = answer(&test_home, &call.id, Some(signed), false);
    assert_eq!(outcome, "no_effect", "{why}");
    assert!(why.contains("counted before"), "{why}");
    assert!(call.waits());
    let verified = test_home.run(&["log", "verify"]);
    assert_eq!(verified.code, 0, "{verified:?}");
    call.kill();
}

#[test]
fn what_expires_before_the_other_person_signs_is_signed_anew() {
    let policy = json!({"approval": {"presence": "key", "required": 2}});
    let (ann, bob) = (Device::ed25519(), Device::p256());
    let of = |device: &Device| PinnedKey::of_ssh(&device.line("ssh:")).unwrap();
    let mut all: Pins = pins("ann", vec![of(&ann)]);
    all.pin("bob", of(&bob)).unwrap();
    let Some(mut test_home) = TestHome::with_pins(policy, &all) else {
        return;
    };
    test_home.start();
    let mut call = test_home.held(&test_home.bash("make one"));
    let id = call.id.clone();
    let made_for = |approver: &str| {
        let wanted = Wanted::Statement {
            id: id.clone(),
            approver: approver.into(),
        };
        match wire::ask(&test_home.places(), wanted) {
            Ok(Reply::Statement { statement }) => Statement::read(&statement).unwrap(),
            other => panic!("{other:?}"),
        }
    };
    // It counts for a few seconds yet.
    let mut short = made_for("ann");
    short.expires = short.time + 8_000;
    let again = made_for("ann");
    let second = made_for("bob");
    assert!(second.expires - second.time > 10 * 60 * 1000);
    let says = |device: &Device, statement: &Statement| {
        let signed = sign(device, statement.to_text(), Touch::default());
        answer(&test_home, &id, Some(signed), false)
    };
    assert_eq!(says(&ann, &short).0, "counted");
    assert_eq!(says(&bob, &second).0, "counted");
    assert!(call.waits());
    let (outcome, why) = says(&ann, &again);
    assert_eq!(outcome, "settled", "{why}");
    let heard = call.hears();
    assert_eq!(heard.word, "allow", "{heard:?}");
    let verified = test_home.run(&["log", "verify"]);
    assert_eq!(verified.code, 0, "{verified:?}");
}

#[test]
fn what_was_signed_for_a_release_that_was_taken_back_is_used_up() {
    let Some((mut test_home, device)) = pinned(signed()) else {
        return;
    };
    let payload = test_home.bash("make one");
    let call = test_home.held(&payload);
    let request = test_home
        .waiting()
        .into_iter()
        .find(|one| one.id == call.id);
    let request = request.unwrap();
    // Nobody is there to hear the answer, so it can be taken back.
    let good = sign(&device, statement(&test_home, &call.id), Touch::default());
    let id = call.id.clone();
    call.kill();
    let (outcome, why) = answer(&test_home, &id, Some(good.clone()), false);
    assert_eq!(outcome, "settled", "{why}");
    match wire::ask(&test_home.places(), Wanted::TakeBack { id }) {
        Ok(Reply::Answered { outcome, .. }) => assert_eq!(outcome, "settled"),
        other => panic!("{other:?}"),
    }
    test_home.kill();
    let daemon = play_daemon(&test_home.places(), &request, vec![good]);
    let hook = started(&mut test_home.program(&["hook", "claude-code"]), &payload);
    let heard = super::test_home::heard(hook);
    daemon.join().unwrap();
    assert_eq!(heard.word, "deny", "{heard:?}");
    assert!(heard.reason.contains("used before"), "{heard:?}");
}

#[test]
fn a_session_on_the_page_without_a_passkey_releases_nothing() {
    let key = Passkey::p256();
    let Some(mut test_home) = TestHome::with_pins(signed(), &pins("bot", vec![key.pinned("k1")]))
    else {
        return;
    };
    // Whoever has the account has a token, or the cookie of somebody who is signed in.
    let written =
        json!({"people": [{"name": "bot", "role": "approver", "token": digest("hpt_x")}]});
    let people = test_home.path(".config/holdpoint/people.json");
    fs::write(&people, written.to_string()).unwrap();
    fs::set_permissions(&people, fs::Permissions::from_mode(0o600)).unwrap();
    test_home.start();
    let mut call = test_home.held(&test_home.bash("make one"));
    let bot = test_home.sign_in("bot", "hpt_x");
    let card = json!(test_home.card(&call.id));
    let (status, said) = bot.answers(&card, "yes");
    assert_eq!(status, 409, "{said}");
    let wanted = Wanted::Statement {
        id: call.id.clone(),
        approver: "bot".into(),
    };
    let Ok(Reply::Statement { statement }) = wire::ask(&test_home.places(), wanted) else {
        panic!("no statement");
    };
    let usual = Ceremony::default();
    let path = format!("/api/requests/{}/answer", call.id);
    let own = Passkey::p256();
    for (what, signed) in [
        ("its own key", own.signs("k1", &statement, &usual)),
        (
            "another port",
            key.signs(
                "k1",
                &statement,
                &Ceremony {
                    origin: "http://localhost:1".into(),
                    ..usual.clone()
                },
            ),
        ),
        (
            "no touch",
            key.signs(
                "k1",
                &statement,
                &Ceremony {
                    flags: 4,
                    ..usual.clone()
                },
            ),
        ),
        (
            "no PIN",
            key.signs(
                "k1",
                &statement,
                &Ceremony {
                    flags: 1,
                    ..usual.clone()
                },
            ),
        ),
        (
            "another challenge",
            key.signs("k1", &statement.replace("yes", "once"), &usual),
        ),
    ] {
        let mut body = json!({"answer": "yes", "binding": card["binding"], "signed": signed});
        body["signed"]["statement"] = json!(statement);
        let (status, said) = bot.posts(&path, &body);
        assert_eq!(status, 409, "{what}: {said}");
        assert!(call.waits(), "{what}");
    }
    let good = key.signs("k1", &statement, &usual);
    let body = json!({"answer": "yes", "binding": card["binding"], "signed": good});
    let (status, said) = bot.posts(&path, &body);
    assert_eq!(status, 200, "{said}");
    assert_eq!(call.hears().word, "allow");
    // What it came from is a word of ours and what the passkey says of itself in what it signed.
    let device = &test_home.last("hold_answered")["detail"]["device"];
    assert_eq!(device, "another program, passkey of one device");
    verified_by_python(&test_home, true);
}

fn digest(text: &str) -> String {
    holdpoint_proof::sha256_hex(text.as_bytes())
}

#[test]
fn a_channel_that_cannot_prove_anything_asks_nobody() {
    let key = PinnedKey::of_ssh(&Device::ed25519().line("ssh:")).unwrap();
    for channel in ["console", "agent"] {
        let policy = json!({"approval": {"presence": "key"}, "channel": {"type": channel}});
        let Some(test_home) = TestHome::with_pins(policy, &pins("ann", vec![key.clone()])) else {
            return;
        };
        let heard = test_home.told(&test_home.bash("make one"));
        assert_eq!(heard.word, "deny", "{channel}: {heard:?}");
        assert!(heard.reason.contains("`key`"), "{heard:?}");
    }
    // A level nothing here can hold is refused at once, not lowered, and nobody is asked.
    for level in ["code", "elsewhere"] {
        let policy = json!({"approval": {"presence": level}});
        let test_home = TestHome::under(policy);
        let heard = test_home.told(&test_home.bash("make one"));
        assert_eq!(heard.word, "deny", "{level}: {heard:?}");
        assert!(heard.reason.contains("cannot be had"), "{heard:?}");
    }
}

/// Set for the process that signs as a device of ssh does.
const SIGNER: &str = "HOLDPOINT_TEST_SIGNER";

/// What that process does: it signs what it is given with the key in the file.
#[test]
fn signing_process() {
    let Ok(key) = std::env::var(SIGNER) else {
        return;
    };
    let device = Device::ed25519_of(&fs::read(key).unwrap());
    let mut text = String::new();
    std::io::Read::read_to_string(&mut std::io::stdin(), &mut text).unwrap();
    println!("\n{}", device.signs(text.as_bytes(), Touch::default()));
}

/// A home where everything must be signed, the search path by which `ssh-keygen` is one that signs, and the public key; none
/// where this machine does not let a test have one.
fn with_signer() -> Option<(TestHome, String, String)> {
    let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    let device = Device::ed25519_of(document.as_ref());
    let mut test_home = TestHome::with_pins(signed(), &Pins::default())?;
    test_home.start();
    fs::create_dir(test_home.path(".ssh")).unwrap();
    let file = test_home.path(".ssh/id_ed25519_sk");
    fs::write(&file, document.as_ref()).unwrap();
    fs::write(file.with_extension("pub"), device.line("ssh:")).unwrap();
    let public = file.with_extension("pub");
    let public = public.to_str().unwrap().to_owned();
    // In place of ssh-keygen and a device.
    let tools = test_home.path("tools");
    fs::create_dir(&tools).unwrap();
    let this = std::env::current_exe().unwrap();
    let script = format!(
        "#!/bin/sh\n{SIGNER}='{}' '{}' --exact proofs::signing_process --nocapture -q | sed -n '/BEGIN SSH/,/END SSH/p'\n",
        file.display(),
        this.display()
    );
    fs::write(tools.join("ssh-keygen"), script).unwrap();
    fs::set_permissions(tools.join("ssh-keygen"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    Some((test_home, path, public))
}

#[test]
fn approve_has_ssh_sign_and_pin_is_for_root() {
    let Some((test_home, path, public)) = with_signer() else {
        return;
    };
    let public = public.as_str();
    let approve = |id: &str| ran(test_home.program(&["approve", id]).env("PATH", &path));

    // Nobody could sign it, so nobody is asked.
    let heard = test_home.told(&test_home.bash("make one"));
    assert_eq!(heard.word, "deny", "{heard:?}");
    assert!(heard.reason.contains("nobody's key is pinned"), "{heard:?}");
    // The file is the account's: what is pinned is what root has seen.
    let key = PinnedKey::of_ssh(fs::read_to_string(public).unwrap().trim()).unwrap();
    let unseen = ["people", "pin", "ann", "--key", public];
    let Some(ran_) = test_home.typed(&unseen) else {
        return;
    };
    assert!(ran_.code == 1 && ran_.out.contains("--check"), "{ran_:?}");
    let other = PinnedKey::of_ssh(&Device::ed25519().line("ssh:")).unwrap();
    let pin = |seen: &str| {
        let line = ["people", "pin", "ann", "--key", public, "--check", seen];
        test_home.typed(&line).unwrap()
    };
    let ran_ = pin(&other.id);
    assert!(
        ran_.code == 1 && ran_.out.contains("another key"),
        "{ran_:?}"
    );
    // Root's own programs that nobody sits at pin nothing, whatever the policy of the account says.
    let line = ["people", "pin", "ann", "--key", public, "--check", &key.id];
    let unseated = test_home.run(&line);
    assert_eq!(unseated.code, 1, "{unseated:?}");
    assert!(
        unseated.err.contains("nobody sits at a terminal")
            && unseated.err.contains("\"presence\": \"none\""),
        "{unseated:?}"
    );
    let said = pin(&key.id);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("Pinned for ann"), "{said:?}");
    let recorded = test_home.last("policy_change");
    let detail = &recorded["detail"];
    assert_eq!(detail["action"], "pin key", "{recorded}");
    assert_eq!(
        (&detail["person"], &detail["fingerprint"]),
        (&json!("ann"), &json!(key.id)),
        "{recorded}"
    );
    let call = test_home.held(&test_home.bash("make one"));
    assert!(
        test_home
            .says(&["people", "list"])
            .contains("ann signs with SHA256:")
    );
    let said = approve(&call.id);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains("Touch your key"), "{said:?}");
    assert_eq!(call.hears().word, "allow");
    assert_eq!(test_home.last("hold_answered")["approver"], "ann");
    // A rule would answer later calls without a signature.
    let call = test_home.held(&test_home.bash("make two"));
    let ran_ = ran(test_home
        .program(&["approve", &call.id, "--all"])
        .env("PATH", &path));
    assert_eq!(ran_.code, 1, "{ran_:?}");
    let bad = [
        "people", "pin", "ann b", "--key", public, "--check", &key.id,
    ];
    let ran_ = test_home.typed(&bad).unwrap();
    assert!(
        ran_.code == 1 && ran_.out.contains("is no name"),
        "{ran_:?}"
    );
    assert_eq!(test_home.run(&["people", "unpin", "ann"]).code, 1);
    let unpinned = test_home.typed(&["people", "unpin", "ann"]).unwrap();
    assert_eq!(unpinned.code, 0, "{unpinned:?}");
    let recorded = test_home.last("policy_change");
    assert_eq!(recorded["detail"]["action"], "unpin keys", "{recorded}");
    let refused = approve(&call.id);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(
        refused.err.contains("nobody's key is pinned"),
        "{refused:?}"
    );
    call.kill();
    let plain = test_home.path("plain.pub");
    fs::write(
        &plain,
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB x",
    )
    .unwrap();
    let pinned = test_home
        .typed(&["people", "pin", "ann", "--key", plain.to_str().unwrap()])
        .unwrap();
    assert_eq!(pinned.code, 1, "{pinned:?}");
    assert!(pinned.out.contains("without a device"), "{pinned:?}");
}

/// Pins the key in `public` for ann, as root does who has seen what it is called.
fn pin_as_seen(test_home: &TestHome, public: &str) {
    let key = PinnedKey::of_ssh(fs::read_to_string(public).unwrap().trim()).unwrap();
    test_home.pin(&pins("ann", vec![key]));
}

/// What stands on the screen of a program in a terminal of its own, so far.
fn screen_of(child: &mut std::process::Child) -> std::sync::Arc<std::sync::Mutex<String>> {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let mut out = child.stdout.take().unwrap();
    let kept = std::sync::Arc::clone(&seen);
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = std::io::Read::read(&mut out, &mut buffer) {
            let text = String::from_utf8_lossy(&buffer[..length]).into_owned();
            kept.lock().unwrap().push_str(&text);
        }
    });
    seen
}

#[test]
fn watch_has_ssh_sign_what_a_key_releases() {
    let Some((test_home, path, public)) = with_signer() else {
        return;
    };
    pin_as_seen(&test_home, &public);
    let call = test_home.held(&test_home.bash("make one"));
    let line = format!("stty rows 30 cols 100; exec '{PROGRAM}' watch");
    let mut watch = test_home.clean("script");
    watch.args(["-q", "-e", "-c", &line, "/dev/null"]);
    watch.env("PATH", &path).env("TERM", "xterm-256color");
    watch.stdin(std::process::Stdio::piped());
    watch.stdout(std::process::Stdio::piped());
    let Ok(mut watch) = watch.spawn() else {
        let _ = writeln!(
            std::io::stderr(),
            "there is no `script` to have a terminal by"
        );
        call.kill();
        return;
    };
    let seen = screen_of(&mut watch);
    let sees = |text: &str| {
        for _ in 0..600 {
            if seen.lock().unwrap().contains(text) {
                return;
            }
            thread::sleep(Duration::from_millis(100));
        }
        panic!("no `{text}` is seen: {}", seen.lock().unwrap());
    };
    sees(&call.id);
    // A key that answers stands alone, and what it is about was on the screen for a while.
    thread::sleep(Duration::from_millis(1500));
    let mut keys = watch.stdin.take().unwrap();
    keys.write_all(b"y").unwrap();
    sees("Touch your key to release it as ann");
    // It comes back, and asks where the cursor is: a terminal answers that.
    sees("\u{1b}[6n");
    keys.write_all(b"\x1b[1;1R").unwrap();
    let heard = call.hears();
    assert_eq!(heard.word, "allow", "{heard:?}");
    let answered = test_home.last("hold_answered");
    assert_eq!(answered["approver"], "ann", "{answered}");
    keys.write_all(b"q").unwrap();
    drop(keys);
    let _ = watch.kill();
    watch.wait().unwrap();
}

/// Sits in the daemon's place and shows a person this request, with this statement to sign.
fn show_as_daemon(places: &Places, request: &Request, statement: &str) {
    let _ = fs::remove_file(places.socket());
    let listener = UnixListener::bind(places.socket()).unwrap();
    let shown = json!({"says": "requests", "requests": [request]});
    let to_sign = json!({"says": "statement", "statement": statement});
    thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let mut line = String::new();
            let _ = BufReader::new(stream.try_clone().unwrap()).read_line(&mut line);
            let wish: Value = serde_json::from_str(&line).unwrap_or_default();
            let reply = match wish["wants"].as_str() {
                Some("find") => shown.clone(),
                Some("statement") => to_sign.clone(),
                _ => json!({"says": "error", "error": "nothing is answered here"}),
            };
            let _ = writeln!(stream, "{reply}");
        }
    });
}

#[test]
fn approve_has_no_other_card_signed_than_it_prints() {
    let Some((mut test_home, path, public)) = with_signer() else {
        return;
    };
    pin_as_seen(&test_home, &public);
    let line = format!("make evil {}", "x".repeat(400));
    let call = test_home.held(&test_home.bash(&line));
    let id = call.id.clone();
    let wanted = Wanted::Find { id: id.clone() };
    let Ok(Reply::Requests { requests }) = wire::ask(&test_home.places(), wanted) else {
        panic!("the request is not found");
    };
    let request = requests.first().unwrap().clone();
    let statement = statement(&test_home, &id);
    test_home.kill();
    call.kill();
    let places = test_home.places();
    let approve = |request: &Request| {
        show_as_daemon(&places, request, &statement);
        ran(test_home.program(&["approve", &id]).env("PATH", &path))
    };
    // What is signed stands there whole.
    let said = approve(&request);
    assert!(said.err.contains("Touch your key"), "{said:?}");
    assert!(said.err.contains(&line), "{said:?}");
    let mut others = vec![request.clone(), request.clone(), request.clone()];
    others[0].display.arguments["command"] = json!("make one");
    others[1].decision.rule = Some("nothing.to-see".into());
    others[2].asked.directory = "/elsewhere".into();
    for other in &others {
        let said = approve(other);
        assert_eq!(said.code, 1, "{said:?}");
        assert!(said.err.contains("is not what it wants signed"), "{said:?}");
        assert!(!said.err.contains("Touch your key"), "{said:?}");
    }
}
