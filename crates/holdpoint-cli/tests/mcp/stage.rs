//! A home with a policy, a server that says what a test tells it to, and the client that started it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long anything may take on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// Says what comes through one pipe, and hands what it hears to another.
const SERVER: &str = r#"exec 5<&0; cat <&5 >"$1/heard" & exec cat <"$1/says""#;

/// A home in which servers are seen, one after the other.
pub(crate) struct Home(tempfile::TempDir);

impl Home {
    pub(crate) fn under(policy: &Value) -> Self {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir_all(place.path().join(".config/holdpoint")).unwrap();
        fs::create_dir(place.path().join("work")).unwrap();
        let file = place.path().join(".config/holdpoint/permissions.json");
        fs::write(file, policy.to_string()).unwrap();
        Self(place)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The program, here.
    pub(crate) fn holdpoint(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_holdpoint"));
        command
            .args(arguments)
            .env_clear()
            // The same answers whatever sandbox this machine makes.
            .env("HOLDPOINT_SANDBOX", "none")
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.0.path())
            .current_dir(self.path("work"));
        command
    }

    /// A client and a server that are connected, the server known as `t`.
    pub(crate) fn connect(&self) -> Connection {
        for pipe in ["says", "heard"] {
            let _ = fs::remove_file(self.path(pipe));
            let made = Command::new("mkfifo").arg(self.path(pipe)).status();
            assert!(made.unwrap().success());
        }
        let proxied = ["mcp", "proxy", "--name", "t", "--session", "s", "--"];
        let mut program = self
            .holdpoint(&proxied)
            .args(["sh", "-c", SERVER, "server"])
            .arg(self.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let client = program.stdin.take();
        let client_hears = lines(program.stdout.take().unwrap());
        let words = lines(program.stderr.take().unwrap());
        let says = self.path("says");
        let server = File::options().write(true).open(says).unwrap();
        let server_hears = lines(File::open(self.path("heard")).unwrap());
        Connection {
            program,
            client,
            client_hears,
            words,
            server: Some(server),
            server_hears,
        }
    }

    /// What is on record of calls, oldest first: the kind of each and its verdict.
    pub(crate) fn records(&self) -> Vec<String> {
        let listed = self.holdpoint(&["log", "--json"]).output().unwrap();
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

    /// Answers the one call that waits in the directory of requests.
    pub(crate) fn answers(&self, word: &str) {
        let started = Instant::now();
        let request = loop {
            assert!(started.elapsed() < PATIENCE, "no call waits");
            let found = fs::read_dir(self.path("desk/requests"));
            let file = found.ok().and_then(|mut files| files.next());
            if let Some(Ok(file)) = file
                && file.path().extension().is_some_and(|end| end == "json")
            {
                break file.path();
            }
            thread::sleep(Duration::from_millis(20));
        };
        let response = self
            .path("desk/responses")
            .join(request.file_name().unwrap());
        let id = request.file_stem().unwrap().to_str().unwrap();
        let answer = json!({"request_id": id, "decision": word});
        let draft = response.with_extension("draft");
        fs::write(&draft, answer.to_string()).unwrap();
        fs::rename(draft, response).unwrap();
    }
}

/// Both ends.
pub(crate) struct Connection {
    program: Child,
    client: Option<ChildStdin>,
    client_hears: Receiver<String>,
    words: Receiver<String>,
    server: Option<File>,
    server_hears: Receiver<String>,
}

impl Connection {
    pub(crate) fn client_says(&mut self, line: impl AsRef<[u8]>) {
        let client = self.client.as_mut().unwrap();
        client.write_all(line.as_ref()).unwrap();
        client.write_all(b"\n").unwrap();
    }

    pub(crate) fn server_says(&mut self, line: impl AsRef<[u8]>) {
        let server = self.server.as_mut().unwrap();
        server.write_all(line.as_ref()).unwrap();
        server.write_all(b"\n").unwrap();
    }

    pub(crate) fn client_hears_line(&self) -> String {
        self.client_hears.recv_timeout(PATIENCE).unwrap()
    }

    pub(crate) fn client_hears(&self) -> Value {
        serde_json::from_str(&self.client_hears_line()).unwrap()
    }

    pub(crate) fn server_hears_line(&self) -> String {
        self.server_hears.recv_timeout(PATIENCE).unwrap()
    }

    /// A line on standard error.
    pub(crate) fn is_told(&self) -> String {
        self.words.recv_timeout(PATIENCE).unwrap()
    }

    /// Neither end has anything more to hear: a message of each arrives, and nothing before it.
    pub(crate) fn nothing_more(&mut self) {
        let last = r#"{"jsonrpc":"2.0","method":"notifications/last"}"#;
        self.client_says(last);
        assert_eq!(self.server_hears_line(), last);
        self.server_says(last);
        assert_eq!(self.client_hears_line(), last);
    }

    pub(crate) fn server_exits(&mut self) {
        self.server = None;
    }

    pub(crate) fn client_closes(&mut self) {
        self.client = None;
    }

    pub(crate) fn id(&self) -> u32 {
        self.program.id()
    }

    /// The exit code, once the program has ended by itself.
    pub(crate) fn end(&mut self) -> Option<i32> {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            if let Some(status) = self.program.try_wait().unwrap() {
                return status.code();
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("it does not end");
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // The server reads to its end and ends, and so does whoever started it.
        self.client = None;
        self.server = None;
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(10) {
            if matches!(self.program.try_wait(), Ok(Some(_))) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// A call of a tool.
pub(crate) fn call(id: &Value, tool: &str, arguments: &Value) -> String {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

/// What a tool returns: one text.
pub(crate) fn result(id: &Value, text: &str) -> String {
    let result = json!({"content": [{"type": "text", "text": text}]});
    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
}

/// A list of tools, each with what is said of it.
pub(crate) fn listing(id: &Value, tools: &[(&str, &str)]) -> String {
    let tools: Vec<Value> = tools
        .iter()
        .map(|(name, words)| json!({"name": name, "description": words, "inputSchema": {}}))
        .collect();
    json!({"jsonrpc": "2.0", "id": id, "result": {"tools": tools}}).to_string()
}

/// Whether a process is there.
pub(crate) fn is_there(process: u32) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
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
