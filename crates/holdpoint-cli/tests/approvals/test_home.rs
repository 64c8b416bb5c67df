//! A home with a policy and a daemon of its own, an agent whose hooks run in it, and a person.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use holdpoint_broker::Request;
use holdpoint_broker::wire::{self, Places, Reply, Wanted, WireError};
use holdpoint_ledger::Reader;
use serde_json::{Value, json};

/// How long anything may take on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a line ends that would need a login where there is none.
#[cfg(target_os = "linux")]
const NO_LOGIN: i32 = 77;

/// A home, and what runs in it; ended with it.
pub(crate) struct TestHome {
    directory: tempfile::TempDir,
    daemon: Option<Daemon>,
    /// What stands in the place of /etc for the programs of this home.
    etc: Option<PathBuf>,
    /// The account its programs run under, where it is another than that of the test.
    account: Option<String>,
}

struct Daemon {
    process: Child,
    address: String,
}

impl Drop for TestHome {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What a command of the program came to.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl TestHome {
    /// Everything is asked about, through the daemon, which runs.
    pub(crate) fn asking() -> Self {
        Self::under(json!({}))
    }

    /// The same with more in the policy.
    pub(crate) fn under(policy: Value) -> Self {
        let mut test_home = Self::alone(policy);
        test_home.start();
        test_home
    }

    /// The same, and no daemon runs.
    pub(crate) fn alone(policy: Value) -> Self {
        let test_home = Self {
            directory: tempfile::tempdir().unwrap(),
            daemon: None,
            etc: None,
            account: None,
        };
        fs::create_dir_all(test_home.path(".config/holdpoint")).unwrap();
        fs::create_dir(test_home.work()).unwrap();
        let mut whole = json!({"defaultPolicy": "ask", "channel": {"type": "daemon"}});
        for (key, value) in policy.as_object().unwrap() {
            whole[key] = value.clone();
        }
        test_home.write_policy(&whole);
        test_home
    }

    /// The same, without a daemon, with an /etc of its own in which these keys are pinned; none where this machine does not let
    /// a test have one.
    #[cfg(target_os = "linux")]
    pub(crate) fn with_pins(policy: Value, pins: &holdpoint_proof::Pins) -> Option<Self> {
        let mut test_home = Self::alone(policy);
        let etc = test_home.path("etc");
        fs::create_dir_all(etc.join("holdpoint")).unwrap();
        for name in ["passwd", "group", "machine-id", "nsswitch.conf", "hosts"] {
            let _ = fs::copy(Path::new("/etc").join(name), etc.join(name));
        }
        test_home.etc = Some(etc);
        let may = ran(test_home.clean("sh").args(["-c", "test -d /etc/holdpoint"]));
        if may.code != 0 {
            let _ = writeln!(
                std::io::stderr(),
                "no test here has an /etc of its own: {may:?}"
            );
            return None;
        }
        test_home.pin(pins);
        Some(test_home)
    }

    /// From now on its programs run under this account, which owns what is in it.
    #[cfg(target_os = "linux")]
    pub(crate) fn become_account(&mut self, account: &str) {
        self.account = Some(account.to_owned());
    }

    /// Pins these keys, as root does.
    #[cfg(target_os = "linux")]
    pub(crate) fn pin(&self, pins: &holdpoint_proof::Pins) {
        let file = self.path("etc/holdpoint/approvers.json");
        fs::write(file, serde_json::to_vec(pins).unwrap()).unwrap();
    }

    pub(crate) fn write_policy(&self, policy: &Value) {
        let path = self.path(".config/holdpoint/permissions.json");
        fs::write(path, without_terminal(policy.clone()).to_string()).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Where the agent works.
    pub(crate) fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// Where the daemon keeps its things.
    pub(crate) fn places(&self) -> Places {
        Places::under(&self.path(".local/state/holdpoint"))
    }

    /// Writes a file the agent works on.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// A command of the program, as a person gives it in the agent's directory.
    pub(crate) fn program(&self, arguments: &[&str]) -> Command {
        let mut command = self.clean(env!("CARGO_BIN_EXE_holdpoint"));
        command.args(arguments);
        command
    }

    /// Any program, with nothing of the environment of the test.
    pub(crate) fn clean(&self, program: &str) -> Command {
        let mut command = match (&self.etc, &self.account) {
            (None, None) => Command::new(program),
            (_, Some(account)) => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid", account, "--regid", account, "--clear-groups"]);
                command.arg(program);
                command
            }
            (Some(etc), None) => {
                let mut command = Command::new("unshare");
                let line = r#"mount --bind "$0" /etc && exec "$@""#;
                command.args(["-m", "sh", "-c", line]).arg(etc).arg(program);
                command
            }
        };
        command
            .env_clear()
            // The same answers whatever sandbox this machine makes.
            .env("HOLDPOINT_SANDBOX", "none")
            .env("HOME", self.directory.path())
            .env("PATH", std::env::var_os("PATH").unwrap())
            .current_dir(self.work())
            .stdin(Stdio::null());
        command
    }

    /// What comes of a command.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        ran(&mut self.program(arguments))
    }

    /// A line at a terminal to which a login leads, as a person types it. It ends with [`NO_LOGIN`] where this machine lets no test
    /// sign anybody in. A new login is counted as the programs that sign people in do it: by naming the account.
    #[cfg(target_os = "linux")]
    pub(crate) fn at_terminal(&self, line: &str) -> Command {
        let login = format!(
            r#"echo "$(id -u)" > /proc/self/loginuid; grep -qv 4294967295 /proc/self/sessionid || exit {NO_LOGIN}
            exec script -q -e -c "$0" /dev/null"#
        );
        let mut shell = self.clean("sh");
        shell.args(["-c", &login, line]);
        shell
    }

    /// What comes of a command of the program that a person gives at a terminal; none where no test can.
    #[cfg(target_os = "linux")]
    pub(crate) fn typed(&self, arguments: &[&str]) -> Option<Ran> {
        let words: Vec<String> = [env!("CARGO_BIN_EXE_holdpoint")]
            .iter()
            .chain(arguments)
            .map(|word| format!("'{word}'"))
            .collect();
        let typed = ran(&mut self.at_terminal(&words.join(" ")));
        if typed.code == NO_LOGIN {
            let _ = writeln!(std::io::stderr(), "left out: no test here has a login");
            return None;
        }
        Some(typed)
    }

    /// What a command prints that has to work.
    pub(crate) fn says(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
        ran.out
    }

    pub(crate) fn start(&mut self) {
        let mut process = self
            .program(&["serve", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line.trim().rsplit("http://").next().unwrap();
        let address = address.trim_end_matches('/').to_owned();
        self.daemon = Some(Daemon { process, address });
        let waited = Instant::now();
        if self.account.is_some() {
            // To anybody else it says nothing.
            while self.run(&["pending"]).code != 0 {
                assert!(waited.elapsed() < PATIENCE, "the daemon does not answer");
                thread::sleep(Duration::from_millis(10));
            }
            return;
        }
        while let Err(error) = wire::ask(&self.places(), Wanted::Pending) {
            // These tests answer as a person does, so they cannot be run by an agent.
            let not_yet = matches!(error, WireError::NotRunning);
            assert!(not_yet && waited.elapsed() < PATIENCE, "{error}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Whether the daemon ends by itself within a time.
    pub(crate) fn ends(&mut self, within: Duration) -> bool {
        let Some(daemon) = &mut self.daemon else {
            return true;
        };
        let start = Instant::now();
        while start.elapsed() < within {
            if daemon.process.try_wait().unwrap().is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        false
    }

    /// Ends the daemon as a crash does.
    pub(crate) fn kill(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.process.kill();
            let _ = daemon.process.wait();
        }
    }

    /// What waits, as the daemon tells a person's program.
    pub(crate) fn waiting(&self) -> Vec<Request> {
        match wire::ask(&self.places(), Wanted::Pending) {
            Ok(Reply::Requests { requests }) => requests,
            other => panic!("{other:?}"),
        }
    }

    /// One request in full, as `pending ID --json` prints it; also one that is settled.
    pub(crate) fn card(&self, id: &str) -> Value {
        serde_json::from_str(&self.says(&["pending", id, "--json"])).unwrap()
    }

    /// The payload of a hook before a call.
    pub(crate) fn payload(&self, tool: &str, input: Value) -> Value {
        json!({
            "hook_event_name": "PreToolUse",
            "session_id": "s1",
            "cwd": self.work(),
            "tool_name": tool,
            "tool_input": input,
        })
    }

    pub(crate) fn bash(&self, command: &str) -> Value {
        self.payload("Bash", json!({"command": command}))
    }

    /// Starts a hook with a payload.
    pub(crate) fn hook(&self, payload: &Value) -> Child {
        started(&mut self.program(&["hook", "claude-code"]), payload)
    }

    /// What an agent hears that nobody at a terminal has started.
    #[cfg(target_os = "linux")]
    pub(crate) fn told_without_terminal(&self, payload: &Value) -> Heard {
        let mut hook = self.clean("setsid");
        hook.args([env!("CARGO_BIN_EXE_holdpoint"), "hook", "claude-code"]);
        heard(started(&mut hook, payload))
    }

    /// Starts a hook whose call is held.
    pub(crate) fn held(&self, payload: &Value) -> Caller {
        self.held_by(&mut self.program(&["hook", "claude-code"]), payload)
    }

    /// The same for a hook that is started otherwise.
    pub(crate) fn held_by(&self, hook: &mut Command, payload: &Value) -> Caller {
        let before: HashSet<String> = self.waiting().into_iter().map(|one| one.id).collect();
        let mut hook = started(hook, payload);
        let waited = Instant::now();
        loop {
            let ended = hook.try_wait().unwrap().is_some();
            let mut new = self.waiting().into_iter().map(|one| one.id);
            if let Some(id) = new.find(|id| !before.contains(id)) {
                return Caller { hook, id };
            }
            if ended {
                panic!("it was not held: {:?}", heard(hook));
            }
            assert!(waited.elapsed() < PATIENCE, "nothing waits");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// What an agent hears at once: nobody is asked.
    pub(crate) fn told(&self, payload: &Value) -> Heard {
        let before: Vec<String> = self.ids();
        let heard = heard(self.hook(payload));
        assert_eq!(self.ids(), before, "somebody was asked: {heard:?}");
        heard
    }

    fn ids(&self) -> Vec<String> {
        match self.daemon {
            Some(_) => self.waiting().into_iter().map(|one| one.id).collect(),
            None => Vec::new(),
        }
    }

    /// The ledger.
    pub(crate) fn records(&self) -> Vec<Value> {
        let mut reader = Reader::new(self.path(".local/state/holdpoint/ledger"));
        let mut found = Vec::new();
        while let Some(line) = reader.next().unwrap() {
            found.push(serde_json::to_value(line.record().unwrap()).unwrap());
        }
        found
    }

    /// The last record of a kind.
    pub(crate) fn last(&self, kind: &str) -> Value {
        let records = self.records();
        let found = records.iter().rev().find(|record| record["kind"] == kind);
        found
            .unwrap_or_else(|| panic!("no {kind}: {records:?}"))
            .clone()
    }

    /// Signs somebody in on the page.
    pub(crate) fn sign_in(&self, name: &str, token: &str) -> Signed<'_> {
        let address = &self.daemon.as_ref().unwrap().address;
        let body = json!({"name": name, "token": token});
        let (status, head, body) = post(address, "/api/sign-in", "", &body);
        assert_eq!(status, 200, "{body}");
        let cookie = head.lines().find_map(|line| {
            let line = line
                .to_lowercase()
                .starts_with("set-cookie:")
                .then_some(line)?;
            Some(line.split_once(':')?.1.split(';').next()?.trim().to_owned())
        });
        Signed {
            address,
            headers: format!(
                "Cookie: {}\r\nX-Holdpoint-Csrf: {}\r\n",
                cookie.unwrap(),
                body["csrf"].as_str().unwrap()
            ),
        }
    }
}

/// A policy under which whoever has the account answers: these tests are no login session. What is about that states it.
pub(crate) fn without_terminal(mut policy: Value) -> Value {
    if policy["approval"]["presence"].is_null() {
        policy["approval"]["presence"] = json!("none");
    }
    policy
}

/// Starts a hook and tells it what the agent wants.
pub(crate) fn started(hook: &mut Command, payload: &Value) -> Child {
    let mut hook = hook
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let text = payload.to_string();
    let mut stdin = hook.stdin.take().unwrap();
    stdin.write_all(text.as_bytes()).unwrap();
    hook
}

/// What comes of a command that ends by itself.
pub(crate) fn ran(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A hook whose call waits.
pub(crate) struct Caller {
    hook: Child,
    pub(crate) id: String,
}

impl TestHome {
    /// The number of the daemon's process.
    #[cfg(target_os = "linux")]
    pub(crate) fn daemon(&self) -> u32 {
        self.daemon.as_ref().unwrap().process.id()
    }
}

impl Caller {
    /// Whether it still waits.
    pub(crate) fn waits(&mut self) -> bool {
        self.hook.try_wait().unwrap().is_none()
    }

    /// The number of its process.
    pub(crate) fn process(&self) -> u32 {
        self.hook.id()
    }

    /// Whoever should hear what it says has gone.
    pub(crate) fn is_not_listened_to(&mut self) {
        drop(self.hook.stdout.take());
    }

    /// What it says in the end.
    pub(crate) fn hears(self) -> Heard {
        heard(self.hook)
    }

    /// Ends it as a crash does.
    pub(crate) fn kill(mut self) {
        self.hook.kill().unwrap();
        self.hook.wait().unwrap();
    }
}

/// What a hook tells its agent.
#[derive(Debug)]
pub(crate) struct Heard {
    /// `allow`, `deny`, `ask`, or nothing.
    pub(crate) word: String,
    /// What the model reads.
    pub(crate) reason: String,
    /// Everything it prints.
    pub(crate) output: Value,
    pub(crate) code: i32,
    pub(crate) err: String,
}

pub(crate) fn heard(mut hook: Child) -> Heard {
    let waited = Instant::now();
    while hook.try_wait().unwrap().is_none() {
        if waited.elapsed() > PATIENCE {
            hook.kill().unwrap();
            panic!("the hook does not end");
        }
        thread::sleep(Duration::from_millis(10));
    }
    let output = hook.wait_with_output().unwrap();
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let specific = &printed["hookSpecificOutput"];
    let word = |key: &str| specific[key].as_str().unwrap_or_default().to_owned();
    Heard {
        word: word("permissionDecision"),
        reason: word("permissionDecisionReason"),
        code: output.status.code().unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
        output: printed,
    }
}

/// Somebody who is signed in on the page.
pub(crate) struct Signed<'h> {
    address: &'h str,
    headers: String,
}

impl Signed<'_> {
    /// Answers a request as it is now; the status and what the daemon says.
    pub(crate) fn answers(&self, card: &Value, word: &str) -> (u16, Value) {
        let path = format!("/api/requests/{}/answer", card["id"].as_str().unwrap());
        let body = json!({"answer": word, "binding": card["binding"]});
        self.posts(&path, &body)
    }

    pub(crate) fn posts(&self, path: &str, body: &Value) -> (u16, Value) {
        let (status, _, body) = post(self.address, path, &self.headers, body);
        (status, body)
    }
}

fn post(address: &str, path: &str, headers: &str, body: &Value) -> (u16, String, Value) {
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\
         {headers}\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split_whitespace().nth(1).unwrap().parse().unwrap();
    (
        status,
        head.to_owned(),
        serde_json::from_str(body).unwrap_or_default(),
    )
}

/// Whether a text stands anywhere below a directory, in any file.
pub(crate) fn is_below(directory: &Path, text: &str) -> Option<PathBuf> {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let kind = fs::symlink_metadata(&path).unwrap();
        if kind.is_dir() {
            if let Some(found) = is_below(&path, text) {
                return Some(found);
            }
        } else if kind.is_file() {
            let bytes = fs::read(&path).unwrap();
            if bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes())
            {
                return Some(path);
            }
        }
    }
    None
}
