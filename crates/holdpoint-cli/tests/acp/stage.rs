//! A home with a policy, an agent that says what a test tells it to, and the editor that started it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// How long anything may take on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// Says what it is given through one pipe, and tells through another what it hears. A line of its
/// directions may name a file to say, or how to exit.
const AGENT: &str = r#"
exec 3<"$1/directions" 4>"$1/heard" 5<&0
cat <&5 >&4 &
while IFS= read -r line <&3; do
  case "$line" in
    'say '*) cat "${line#say }" ;;
    'exit '*) exit "${line#exit }" ;;
    *) printf '%s\n' "$line" ;;
  esac
done
wait
"#;

const STUBBORN: &str =
    "trap '' TERM; exec 3<\"$1/directions\" 4>\"$1/heard\"; while :; do sleep 1; done";

pub(crate) struct Stage {
    place: tempfile::TempDir,
    program: Child,
    editor: Option<ChildStdin>,
    editor_hears: Receiver<String>,
    directions: Option<File>,
    agent_hears: Receiver<String>,
}

/// A request for permission as an agent sends it.
pub(crate) fn request(id: Value, call: &Value) -> String {
    let option = |id: &str, kind: &str| json!({"optionId": id, "kind": kind, "name": kind});
    json!({
        "jsonrpc": "2.0",
        "id": id,
        "method": "session/request_permission",
        "params": {
            "sessionId": "s",
            "toolCall": call,
            "options": [
                option("yes-always", "allow_always"),
                option("yes-once", "allow_once"),
                option("no-once", "reject_once"),
            ],
        },
    })
    .to_string()
}

/// An editor's choice.
pub(crate) fn selected(id: Value, option: &str) -> String {
    let outcome = json!({"outcome": "selected", "optionId": option});
    json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": outcome}}).to_string()
}

impl Stage {
    /// Everything is asked about.
    pub(crate) fn asking() -> Self {
        Self::under(json!({"defaultPolicy": "ask"}))
    }

    /// A session is open, under this policy.
    pub(crate) fn under(policy: Value) -> Self {
        let mut stage = Self::with(&policy, AGENT);
        let work = stage.path("work");
        stage.editor_says(
            &json!({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": work, "mcpServers": []}})
                .to_string(),
        );
        assert_eq!(stage.agent_hears()["method"], "session/new");
        stage.agent_says(r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}"#);
        assert_eq!(stage.editor_hears()["result"]["sessionId"], "s");
        stage
    }

    /// The agent hears nothing and does not go when it is asked to.
    pub(crate) fn stubborn() -> Self {
        Self::with(&json!({}), STUBBORN)
    }

    fn with(policy: &Value, agent: &str) -> Self {
        let place = tempfile::tempdir().unwrap();
        let home = place.path();
        fs::create_dir_all(home.join(".config/holdpoint")).unwrap();
        fs::create_dir(home.join("work")).unwrap();
        let policy_file = home.join(".config/holdpoint/permissions.json");
        fs::write(policy_file, policy.to_string()).unwrap();
        for pipe in ["directions", "heard"] {
            let made = Command::new("mkfifo")
                .arg(home.join(pipe))
                .status()
                .unwrap();
            assert!(made.success());
        }
        let mut program = holdpoint(place.path())
            .args(["acp", "--", "sh", "-c", agent, "agent"])
            .arg(home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let editor = program.stdin.take();
        let editor_hears = lines(program.stdout.take().unwrap());
        let directions = File::options()
            .write(true)
            .open(home.join("directions"))
            .unwrap();
        let agent_hears = lines(File::open(home.join("heard")).unwrap());
        Self {
            place,
            program,
            editor,
            editor_hears,
            directions: Some(directions),
            agent_hears,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    pub(crate) fn editor_says(&mut self, line: &str) {
        writeln!(self.editor.as_mut().unwrap(), "{line}").unwrap();
    }

    pub(crate) fn editor_closes(&mut self) {
        self.editor = None;
        // The agent has nothing more to say, either.
        self.directions = None;
    }

    pub(crate) fn editor_hears_line(&mut self) -> String {
        self.editor_hears.recv_timeout(PATIENCE).unwrap()
    }

    pub(crate) fn editor_hears(&mut self) -> Value {
        serde_json::from_str(&self.editor_hears_line()).unwrap()
    }

    pub(crate) fn agent_says(&mut self, line: &str) {
        writeln!(self.directions.as_mut().unwrap(), "{line}").unwrap();
    }

    pub(crate) fn agent_asks(&mut self, line: &str) {
        self.agent_says(line);
    }

    pub(crate) fn agent_says_from_file(&mut self, line: &str) {
        let path = self.path("long");
        fs::write(&path, format!("{line}\n")).unwrap();
        self.agent_says(&format!("say {}", path.display()));
    }

    pub(crate) fn agent_exits(&mut self, code: u8) {
        self.agent_says(&format!("exit {code}"));
    }

    pub(crate) fn agent_hears_line(&mut self) -> String {
        self.agent_hears.recv_timeout(PATIENCE).unwrap()
    }

    pub(crate) fn agent_hears(&mut self) -> Value {
        serde_json::from_str(&self.agent_hears_line()).unwrap()
    }

    /// The exit code, and what stood on standard error.
    pub(crate) fn end(&mut self) -> (Option<i32>, String) {
        if self.editor.is_some()
            && self.directions.is_some()
            && self.program.try_wait().unwrap().is_none()
        {
            // Unless the agent goes first.
            thread::sleep(Duration::from_millis(300));
            self.editor_closes();
        }
        let code = self.program.wait().unwrap().code();
        let mut text = String::new();
        let _ = self
            .program
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut text);
        (code, text)
    }

    /// What is on record of calls, oldest first: the kind of each and its verdict.
    pub(crate) fn records(&self) -> Vec<String> {
        let listed = holdpoint(self.place.path())
            .args(["log", "--json"])
            .output()
            .unwrap();
        let text = String::from_utf8(listed.stdout).unwrap();
        let said = |record: &Value, key: &str| record[key].as_str().unwrap_or_default().to_owned();
        text.lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .map(|record| format!("{} {}", said(&record, "kind"), said(&record, "verdict")))
            .map(|record| record.trim_end().to_owned())
            // Every ledger begins with one.
            .filter(|record| record != "checkpoint")
            .collect()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

fn holdpoint(home: &std::path::Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_holdpoint"));
    command
        .env_clear()
        // The same answers whatever sandbox this machine makes.
        .env("HOLDPOINT_SANDBOX", "none")
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .current_dir(home);
    command
}

/// The lines of a stream, as they come.
fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}
