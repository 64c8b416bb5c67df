//! What an agent might try so that it answers for a person, or so that something else runs than a
//! person saw.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use holdpoint_broker::wire::{self, HoldAnswer, Reply, Wanted};
use holdpoint_broker::{Answer, CallContext, Context, UnixMillis};
use holdpoint_daemon::Broker;
use holdpoint_engine::Engine;
use holdpoint_engine::Locations;
use serde_json::{Value, json};

use super::test_home::{TestHome, is_below, ran};

/// Everything that is not denied runs.
fn lax() -> Value {
    json!({"defaultPolicy": "allow"})
}

#[test]
fn a_gated_shell_call_cannot_answer() {
    let test_home = TestHome::under(lax());
    let program = env!("CARGO_BIN_EXE_holdpoint");
    for line in [
        "holdpoint approve abcdefgh",
        "holdpoint deny abcdefgh",
        "holdpoint extend abcdefgh",
        &format!("{program} approve abcdefgh"),
        "cd / && holdpoint approve abcdefgh",
        "bash -c 'holdpoint approve abcdefgh'",
        "env -u CLAUDECODE holdpoint approve abcdefgh",
        "h=holdpoint; $h approve abcdefgh",
        "echo abcdefgh | xargs holdpoint approve",
        "echo 'holdpoint approve abcdefgh' | sh",
        "nohup setsid holdpoint approve abcdefgh &",
        "holdpoint watch",
        "holdpoint open --print",
        "holdpoint people add mallory",
    ] {
        let heard = test_home.told(&test_home.bash(line));
        assert_eq!(heard.word, "deny", "{line}: {heard:?}");
        let checked = test_home.run(&["check", line]);
        assert_eq!(checked.code, 2, "{line}: {checked:?}");
    }
}

#[test]
fn all_does_not_let_an_agent_answer() {
    let test_home = TestHome::asking();
    let call = test_home.held(&test_home.bash("make one"));
    test_home.says(&["approve", &call.id, "--all"]);
    assert_eq!(call.hears().word, "allow");
    assert_eq!(
        test_home
            .told(&test_home.bash("holdpoint approve abcdefgh"))
            .word,
        "deny"
    );
}

#[test]
fn a_command_run_by_an_agent_is_refused() {
    let test_home = TestHome::asking();
    let mut call = test_home.held(&test_home.bash("make one"));
    let id = call.id.clone();
    for arguments in [
        &["approve", &id][..],
        &["deny", &id],
        &["extend", &id],
        &["pending"],
        &["approvals", "list"],
        &["open", "--print"],
        &["people", "add", "mallory"],
    ] {
        let mut command = test_home.program(arguments);
        let ran = ran(command.env("CLAUDECODE", "1"));
        assert_ne!(ran.code, 0, "{arguments:?}: {ran:?}");
        assert!(!ran.err.is_empty(), "{arguments:?}");
    }
    // The mark is dropped, and the shell above still has it.
    let line = format!(
        "env -u CLAUDECODE '{}' approve {id}; echo ended $?",
        env!("CARGO_BIN_EXE_holdpoint")
    );
    let mut shell = test_home.clean("sh");
    let ran = ran(shell.args(["-c", &line]).env("CLAUDECODE", "1"));
    assert!(ran.out.contains("ended 1"), "{ran:?}");
    assert!(call.waits());
    call.kill();
}

/// Set for the process a test starts that answers without looking who it is.
const ANSWERER: &str = "HOLDPOINT_TEST_ANSWERER";

/// What that process does: it has the secret, speaks to the daemon, and is believed nothing.
#[test]
fn answering_process() {
    let Ok(id) = std::env::var(ANSWERER) else {
        return;
    };
    let home = std::env::var("HOME").unwrap();
    let state = std::path::Path::new(&home).join(".local/state/holdpoint");
    let wanted = Wanted::Answer {
        id,
        answer: Answer::Yes,
        binding: None,
        phrase: None,
        signed: None,
        watching: false,
    };
    let said = wire::ask(&wire::Places::under(&state), wanted);
    println!("answered {said:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_daemon_itself_refuses_whoever_runs_below_an_agent() {
    let test_home = TestHome::asking();
    let mut call = test_home.held(&test_home.bash("make one"));
    let this = std::env::current_exe().unwrap();
    let arguments = "--exact attacks::answering_process --nocapture --test-threads=1";
    for prefix in ["", "env -u CLAUDECODE "] {
        let line = format!("{prefix}'{}' {arguments}; true", this.display());
        let mut shell = test_home.clean("sh");
        let shell = shell
            .args(["-c", &line])
            .env("CLAUDECODE", "1")
            .env(ANSWERER, &call.id);
        let ran = ran(shell);
        assert!(
            ran.out.contains("only a person answers"),
            "{prefix}: {ran:?}"
        );
        assert!(call.waits());
    }
    // The same process, and nobody's mark above it: so it was the mark.
    let mut shell = test_home.clean("sh");
    let line = format!("'{}' {arguments}; true", this.display());
    let ran = ran(shell.args(["-c", &line]).env(ANSWERER, &call.id));
    assert!(ran.out.contains("settled"), "{ran:?}");
    assert_eq!(call.hears().word, "allow");
}

#[test]
fn the_secret_cannot_be_read_through_a_gated_tool() {
    let test_home = TestHome::under(lax());
    let secret = test_home.places().secret();
    let directory = test_home.places().directory().to_owned();
    let (file, within) = (secret.display(), directory.display());
    let mut calls = vec![
        test_home.payload("Read", json!({"file_path": secret})),
        test_home.payload(
            "Grep",
            json!({"pattern": ".", "path": directory, "output_mode": "content"}),
        ),
        test_home.payload(
            "Edit",
            json!({"file_path": secret, "old_string": "a", "new_string": "b"}),
        ),
        test_home.payload("Write", json!({"file_path": secret, "content": "mine"})),
    ];
    for line in [
        format!("cat {file}"),
        "cat ~/.local/state/holdpoint/approvals/secret".into(),
        "cd ~/.local/state/holdpoint && xxd approvals/secret".into(),
        format!("grep -ra . {within}"),
        format!("base64 < {file}"),
        format!("cp {file} /tmp/x"),
        format!("cp -r {within} /tmp/x"),
        format!("tar cf - {within}"),
        format!("ln -s {file} notes"),
        format!("sqlite3 {within}/approvals.db .dump"),
        format!("rm {within}/socket"),
        // Along with everything beside it.
        "cp -r ~/.local/state /tmp/x".into(),
        "cd ~/.local && tar cf /tmp/x state".into(),
        "grep -ra . ~/.local".into(),
    ] {
        calls.push(test_home.bash(&line));
    }
    for payload in calls {
        let heard = test_home.told(&payload);
        assert_eq!(heard.word, "deny", "{payload}: {heard:?}");
    }
}

fn answer_with(test_home: &TestHome, id: &str, binding: Option<String>) -> (String, String) {
    let wanted = Wanted::Answer {
        id: id.to_owned(),
        answer: Answer::Yes,
        binding,
        phrase: None,
        signed: None,
        watching: false,
    };
    match wire::ask(&test_home.places(), wanted) {
        Ok(Reply::Answered {
            outcome, message, ..
        }) => (outcome, message.unwrap_or_default()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_answer_about_something_else_and_one_replayed_have_no_effect() {
    let test_home = TestHome::asking();
    let mut one = test_home.held(&test_home.bash("make one"));
    let two = test_home.held(&test_home.bash("make two"));
    let binding = |id: &str| Some(test_home.card(id)["binding"].as_str().unwrap().to_owned());
    let (outcome, why) = answer_with(&test_home, &one.id, binding(&two.id));
    assert_eq!(outcome, "no_effect");
    assert!(why.contains("no longer what you were shown"), "{why}");
    assert!(one.waits());
    // What was shown before an edit is not what would run after it.
    let before = binding(&one.id);
    test_home.says(&["approve", &one.id, "--edit", "command=make three"]);
    assert_eq!(
        answer_with(&test_home, &one.id, before.clone()).0,
        "no_effect"
    );
    assert!(one.waits());
    let now = binding(&one.id);
    assert_eq!(answer_with(&test_home, &one.id, now.clone()).0, "settled");
    assert_eq!(answer_with(&test_home, &one.id, now).0, "no_effect");
    assert_eq!(one.hears().word, "allow");
    two.kill();
}

#[test]
fn without_the_secret_nobody_answers() {
    let test_home = TestHome::asking();
    let mut call = test_home.held(&test_home.bash("make one"));
    for secret in [
        "",
        "0000000000000000000000000000000000000000000000000000000000000000",
    ] {
        let mut stream = UnixStream::connect(test_home.places().socket()).unwrap();
        let wish = json!({"do": "person", "secret": secret, "wants": "answer",
                          "id": call.id, "answer": "yes"});
        writeln!(stream, "{wish}").unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        assert!(line.contains("secret is another"), "{line}");
    }
    assert!(call.waits());
    call.kill();
}

// X-04, invariant 6
#[test]
fn a_script_that_changes_while_it_waits_is_not_released() {
    let test_home = TestHome::asking();
    test_home.file("deploy.sh", "echo deploy\n");
    let call = test_home.held(&test_home.bash("bash deploy.sh"));
    test_home.file("deploy.sh", "echo something else\n");
    let said = test_home.run(&["approve", &call.id]);
    // A yes that comes to a refusal is not what was asked for.
    assert_eq!(said.code, 1, "{said:?}");
    assert!(
        said.out.contains("refused: It changed after it was shown"),
        "{said:?}"
    );
    let heard = call.hears();
    assert_eq!(heard.word, "deny", "{heard:?}");
    assert!(heard.reason.contains("Make the call again"), "{heard:?}");
}

// Invariant 6: what a script loads runs as surely as the script.
#[test]
fn a_module_that_changes_while_a_script_waits_is_not_released() {
    let test_home = TestHome::asking();
    let files = [
        (
            "run.py",
            "import helper\nfrom tools.sub import thing\nhelper.go()\n",
        ),
        ("helper.py", "from inner import go\n"),
        ("inner.py", "def go(): print('hi')\n"),
        ("tools/__init__.py", ""),
        ("tools/sub/__init__.py", "from . import thing\n"),
        ("tools/sub/thing.py", "from ..beside import one\n"),
        ("tools/beside.py", "one = 1\n"),
        ("app/run.js", "const a = require('./a'); a()\n"),
        (
            "app/a/index.js",
            "module.exports = require('../b.json').go\n",
        ),
        ("app/b.json", "{}\n"),
        ("app/esm.mjs", "import {go} from './lib/c.mjs'; go()\n"),
        ("app/lib/c.mjs", "export const go = () => {}\n"),
        (
            "deploy.sh",
            "DIR=$(pwd)\nsource \"$DIR/env\"\n[ -n \"$1\" ] && . ./lib/more.sh\n",
        ),
        ("env", "STAGE=test\n"),
        ("lib/more.sh", "echo more\n"),
        ("run.rb", "require_relative 'lib/one'\n"),
        ("lib/one.rb", "puts 1\n"),
    ];
    for (command, changed, text) in [
        (
            "python3 run.py",
            "helper.py",
            "import shutil; shutil.rmtree('/srv/data')\n",
        ),
        ("python3 run.py", "inner.py", "def go(): pass\n"),
        ("python3 run.py", "tools/sub/thing.py", "one = 2\n"),
        ("python3 run.py", "tools/beside.py", "one = 2\n"),
        // In front of the module of the same name that comes with the language, or in its place.
        ("python3 run.py", "inner/__init__.py", "def go(): pass\n"),
        ("python3 -m tools.sub.thing", "tools/beside.py", "one = 3\n"),
        ("python3 -c 'import helper'", "helper.py", "one = 3\n"),
        (
            "node app/run.js",
            "app/a/index.js",
            "module.exports = () => {}\n",
        ),
        ("node app/run.js", "app/b.json", "{\"go\": 1}\n"),
        ("node app/esm.mjs", "app/lib/c.mjs", "export const go = 1\n"),
        ("bash deploy.sh prod", "env", "STAGE=prod\n"),
        ("bash deploy.sh prod", "lib/more.sh", "echo less\n"),
        ("ruby run.rb", "lib/one.rb", "puts 2\n"),
    ] {
        for (name, text) in files {
            test_home.file(name, text);
        }
        let call = test_home.held(&test_home.bash(command));
        test_home.file(changed, text);
        let said = test_home.run(&["approve", &call.id]);
        assert_eq!(said.code, 1, "{command}, {changed}: {said:?}");
        // Both hear what it was.
        let heard = call.hears();
        assert_eq!(heard.word, "deny", "{command}, {changed}");
        for told in [&said.out, &heard.reason] {
            assert!(told.contains(&format!("`{changed}` ")), "{command}: {told}");
        }
    }
}

// What changed is said with the difference, without secrets, and of nothing outside of the workspace.
#[test]
fn what_changed_while_a_script_waited_is_said_with_the_difference() {
    let test_home = TestHome::under(json!({"files": {"read": {"deny": ["kept/*"]}}}));
    let run = "import helper\nimport linked\nimport kept.words\nhelper.go()\n";
    test_home.file("run.py", run);
    // The agent may not read it, so it does not hear its lines either.
    test_home.file("kept/words.py", "word = 'of the person, kept'\n");
    test_home.file("helper.py", "import os\n\ndef go(): print('hi')\n");
    let outside = test_home.path("outside.py");
    fs::write(&outside, "word = 'of the person'\n").unwrap();
    std::os::unix::fs::symlink(&outside, test_home.work().join("linked.py")).unwrap();
    let token = ["ghp", "_", "Zk3vT9qLm2Xc7RbN5wYh8JdF4sGp1AeU6oKi"].concat();
    let call = test_home.held(&test_home.bash("python3 run.py"));
    let changed = format!("import os\n\ndef go(): os.system('send {token}')\n");
    test_home.file("helper.py", &changed);
    fs::write(&outside, "word = 'of somebody else'\n").unwrap();
    test_home.file("kept/words.py", "word = 'of somebody else, kept'\n");
    let said = test_home.run(&["approve", &call.id]);
    assert_eq!(said.code, 1, "{said:?}");
    let heard = call.hears();
    assert_eq!(heard.word, "deny", "{heard:?}");
    for told in [&said.out, &heard.reason] {
        let before =
            "`helper.py` changed (line 3: - `def go(): print('hi')` + `def go(): os.system('send ";
        assert!(told.contains(before), "{told}");
        assert!(
            !told.contains(&token) && !told.contains("of the person"),
            "{told}"
        );
        assert!(!told.contains("of somebody else"), "{told}");
    }
    let stored = is_below(
        &test_home.path(".local/state/holdpoint/approvals"),
        "of the person",
    );
    assert!(stored.is_none(), "{stored:?}");
}

#[test]
fn what_a_script_leaves_behind_and_what_it_does_not_load_changes_nothing() {
    let test_home = TestHome::asking();
    for (name, text) in [
        ("run.py", "import helper\n"),
        ("helper.py", "one = 1\n"),
        ("run.js", "require('./a')\n"),
        ("a.js", "1\n"),
        ("deploy.sh", "source ./env.sh\n"),
        ("env.sh", "STAGE=test\n"),
        ("run.log", "one\n"),
    ] {
        test_home.file(name, text);
    }
    for command in ["python3 run.py", "node run.js", "bash deploy.sh"] {
        let call = test_home.held(&test_home.bash(command));
        test_home.file("__pycache__/helper.cpython-312.pyc", "compiled");
        test_home.file("run.log", command);
        test_home.file("other.py", command);
        test_home.file("b.js", command);
        test_home.says(&["approve", &call.id]);
        assert_eq!(call.hears().word, "allow", "{command}");
    }
}

/// A repository with a commit and a remote, the agent's.
fn repository(test_home: &TestHome) {
    test_home.file("main.tf", "resource \"x\" \"y\" {}\n");
    git(test_home, &["init", "-q", "-b", "main"]);
    git(
        test_home,
        &["remote", "add", "origin", "https://example.com/a.git"],
    );
    commit(test_home, "one");
}

fn git(test_home: &TestHome, arguments: &[&str]) {
    let said = ran(test_home.clean("git").args(arguments));
    assert_eq!(said.code, 0, "{arguments:?}: {said:?}");
}

fn commit(test_home: &TestHome, message: &str) {
    git(test_home, &["add", "-A"]);
    let who = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    git(
        test_home,
        &[&who[..], &["commit", "-q", "--allow-empty", "-m", message]].concat(),
    );
}

#[test]
fn a_push_is_released_for_its_commits_and_where_they_go() {
    let test_home = TestHome::asking();
    repository(&test_home);
    type Change = fn(&TestHome);
    let changes: [(&str, Change, &str); 7] = [
        (
            "git push origin HEAD",
            |home| commit(home, "two"),
            "`HEAD` is now ",
        ),
        ("git push", |home| commit(home, "three"), "`HEAD` is now "),
        (
            "git push origin main:other",
            |home| commit(home, "four"),
            "`main` is now ",
        ),
        (
            "cd / && git -C ~/work push origin main",
            |home| commit(home, "five"),
            "`main` is now ",
        ),
        (
            "git push origin main",
            |home| {
                git(
                    home,
                    &["remote", "set-url", "origin", "https://example.org/b.git"],
                )
            },
            "`origin` is now https://example.org/b.git",
        ),
        (
            "git push origin main",
            |home| {
                git(
                    home,
                    &[
                        "config",
                        "--global",
                        "remote.origin.pushurl",
                        "https://example.net/c",
                    ],
                )
            },
            "`origin` is now https://example.net/c",
        ),
        (
            "terraform apply",
            |home| drop(home.file("main.tf", "resource \"x\" \"z\" {}\n")),
            // What was committed is the person's; as it is now it is somebody else's.
            "`main.tf` is part of it now",
        ),
    ];
    for (command, change, told) in changes {
        let call = test_home.held(&test_home.bash(command));
        change(&test_home);
        let said = test_home.run(&["approve", &call.id]);
        assert_eq!(said.code, 1, "{command}: {said:?}");
        assert!(said.out.contains(told), "{command}: {said:?}");
        let heard = call.hears();
        assert_eq!(heard.word, "deny", "{command}");
        assert!(heard.reason.contains(told), "{command}: {heard:?}");
    }
    let call = test_home.held(&test_home.bash("git push origin main"));
    let hook = test_home.file(".git/hooks/pre-push", "#!/bin/sh\nmake evil\n");
    fs::set_permissions(hook, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(test_home.run(&["approve", &call.id]).code, 1);
    assert_eq!(call.hears().word, "deny");
}

#[test]
fn a_push_that_is_as_it_was_shown_is_released() {
    let test_home = TestHome::asking();
    repository(&test_home);
    let call = test_home.held(&test_home.bash("git push -u origin main"));
    let card = test_home.card(&call.id);
    let shown = card["display"]["warnings"].to_string();
    assert!(shown.contains("pushes `main` ("), "{card}");
    assert!(shown.contains("to https://example.com/a.git"), "{card}");
    // Another branch is none of it.
    git(&test_home, &["branch", "other"]);
    test_home.file("notes.txt", "one");
    test_home.says(&["approve", &call.id]);
    assert_eq!(call.hears().word, "allow");
}

fn signal(name: &str, process: u32) {
    let status = Command::new("kill")
        .args([name, &process.to_string()])
        .status();
    assert!(status.unwrap().success());
}

// X-04: looked at again immediately before the release.
#[test]
fn a_file_that_changes_after_the_release_is_noticed_by_the_hook() {
    let test_home = TestHome::asking();
    let path = test_home.file("notes.txt", "one\n");
    let input = json!({"file_path": path, "old_string": "one", "new_string": "two"});
    let call = test_home.held(&test_home.payload("Edit", input));
    signal("-STOP", call.process());
    test_home.says(&["approve", &call.id]);
    test_home.file("notes.txt", "one\nand more\n");
    signal("-CONT", call.process());
    let heard = call.hears();
    assert_eq!(heard.word, "deny", "{heard:?}");
    assert!(
        heard.reason.contains("It changed after it was released"),
        "{heard:?}"
    );
    assert_eq!(test_home.last("decision")["verdict"], "deny");
}

// X-13, invariant 6: an answer that came meanwhile is for the files as they were.
#[test]
fn a_release_is_not_picked_up_for_a_script_that_has_changed() {
    let test_home = TestHome::under(json!({"approval": {"wait": 3}}));
    test_home.file("deploy.sh", "echo deploy\n");
    let call = test_home.held(&test_home.bash("bash deploy.sh"));
    let id = call.id.clone();
    assert_eq!(call.hears().word, "deny");
    test_home.says(&["approve", &id]);
    test_home.file("deploy.sh", "echo something else\n");
    let again = test_home.held(&test_home.bash("bash deploy.sh"));
    assert_ne!(again.id, id);
    again.kill();
}

/// Something that sits on the daemon's socket and says yes to everything.
fn impostor(test_home: &TestHome) {
    let directory = test_home.places().directory().to_owned();
    fs::create_dir_all(&directory).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
    let socket = test_home.places().socket();
    let _ = fs::remove_file(&socket);
    let listener = UnixListener::bind(socket).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            let wish: Value = serde_json::from_str(&line).unwrap();
            let told = json!({"verdict": "allow", "method": "user_approved", "reason": "yes"});
            let told = told.to_string();
            let nonce = wish["nonce"].as_str().unwrap();
            let reply = json!({
                "says": "told", "told": told, "proof": wire::proof("not the secret", nonce, &told).unwrap(),
            });
            let _ = writeln!(stream.get_mut(), "{reply}");
        }
    });
}

#[test]
fn whatever_sits_in_the_daemons_place_releases_nothing() {
    // Where there never was a daemon, and where there was one.
    let never = TestHome::alone(json!({}));
    let mut once = TestHome::asking();
    once.kill();
    for test_home in [&never, &once] {
        impostor(test_home);
        let heard = test_home.told(&test_home.bash("make one"));
        assert_eq!(heard.code, 2, "{heard:?}");
        assert!(heard.err.contains("cannot be trusted"), "{heard:?}");
        assert_ne!(heard.word, "allow");
    }
}

fn asked(test_home: &TestHome, command: &str) -> CallContext {
    CallContext {
        agent: "claude-code".into(),
        session: "s1".into(),
        tool: "Bash".into(),
        input: json!({"command": command}).as_object().unwrap().clone(),
        directory: test_home.work().to_str().unwrap().into(),
        workspace: test_home.work().to_str().unwrap().into(),
        config: None,
        context: Context::default(),
    }
}

// The daemon judges afresh: no client has a person shown one call and another released.
#[test]
fn a_client_that_asks_on_other_terms_does_not_release_the_real_call() {
    let test_home = TestHome::under(json!({"approval": {"required": 2}}));
    let mut call = test_home.held(&test_home.bash("make deploy"));
    let loose = test_home.path("loose.json");
    fs::write(
        &loose,
        r#"{"defaultPolicy": "ask", "channel": {"type": "daemon"}, "approval": {"presence": "none"}}"#,
    )
    .unwrap();
    let open = test_home.path("open.json");
    fs::write(&open, r#"{"allow": {"patterns": ["make *"]}}"#).unwrap();

    // A policy of its own that lets it run answers that client and nobody else.
    let mut own = asked(&test_home, "make deploy");
    own.config = open.to_str().map(str::to_owned);
    let (places, limit) = (test_home.places(), Some(Duration::from_secs(20)));
    let answer = wire::hold(&places, &own, limit, Duration::ZERO, &|| false);
    assert!(matches!(answer, Ok(HoldAnswer::Resolved(_))), "{answer:?}");
    assert!(call.waits());

    // One that needs a single person is another request; released, it releases only itself.
    own.config = loose.to_str().map(str::to_owned);
    let client = thread::spawn(move || wire::hold(&places, &own, limit, Duration::ZERO, &|| false));
    let other = loop {
        let mut waiting = test_home.waiting().into_iter();
        match waiting.find(|one| one.id != call.id) {
            Some(other) => break other,
            None => thread::sleep(Duration::from_millis(20)),
        }
    };
    assert_ne!(
        other.binding,
        test_home.card(&call.id)["binding"].as_str().unwrap()
    );
    test_home.says(&["approve", &other.id]);
    let told = client.join().unwrap();
    assert!(matches!(told, Ok(HoldAnswer::Resolved(_))), "{told:?}");
    assert!(call.waits());
    assert_eq!(test_home.waiting().len(), 1);
    call.kill();
}

/// Where things are kept in a test home.
fn locations(test_home: &TestHome) -> Locations {
    Locations {
        managed: test_home.path("managed.json"),
        user: Some(test_home.path(".config/holdpoint/permissions.json")),
        named: None,
        state: Some(test_home.path(".local/state/holdpoint")),
        home: Some(test_home.path("")),
    }
}

#[test]
fn a_secret_in_a_command_is_shown_nowhere_and_forgotten_in_the_end() {
    let mut test_home = TestHome::asking();
    let token = ["ghp", "_", "Zk3vT9qLm2Xc7RbN5wYh8JdF4sGp1AeU6oKi"].concat();
    let line = format!("curl -H 'Authorization: Bearer {token}' https://api.example/x");
    let call = test_home.held(&test_home.bash(&line));
    let id = call.id.clone();
    let everything = |test_home: &TestHome| {
        let shown = [
            test_home.says(&["pending"]),
            test_home.says(&["pending", "--json"]),
            test_home.says(&["pending", &id, "--json"]),
            test_home.says(&["pending", &id]),
            test_home.says(&["approvals", "list", "--json"]),
            test_home.says(&["log", "--json"]),
        ];
        assert!(!shown.iter().any(|text| text.contains(&token)), "{shown:?}");
    };
    everything(&test_home);
    let database = test_home.places().database();
    let private = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(private(&database), 0o600);
    assert_eq!(private(test_home.places().directory()), 0o700);
    test_home.says(&["approve", &id]);
    assert_eq!(call.hears().word, "allow");
    everything(&test_home);
    assert!(is_below(&test_home.path(".local/state/holdpoint/ledger"), &token).is_none());

    // As the daemon tidies up, when the answer can no longer be asked for.
    test_home.kill();
    let world = Arc::new(Engine::at(&locations(&test_home)));
    let broker = Broker::open(&database, world).unwrap();
    broker
        .tidy(UnixMillis::now().after(Duration::from_secs(3600)))
        .unwrap();
    let left = is_below(&test_home.path(".local/state"), &token);
    assert!(
        left.is_none(),
        "it stands in {left:?} while the daemon runs on"
    );
    drop(broker);
    assert!(is_below(&test_home.path(".local/state"), &token).is_none());
    test_home.start();
    let card = test_home.card(&id);
    assert_eq!(
        card["state"], "released",
        "what was answered is still known"
    );
}
