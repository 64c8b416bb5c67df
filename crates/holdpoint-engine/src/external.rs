//! Asking a decider outside: a program on this machine, or an endpoint of OPA's or Cedar's form, each within its time.
//!
//! What is sent holds no secrets, as what people are shown. Whatever goes wrong is an answer, too: none that counts. No runtime
//! and no TLS stand on the way of a hook; a decider that needs either is asked by a program.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use holdpoint_core::policy::{Endpoint, External, ExternalAnswer};
use holdpoint_sandbox::children;
use serde_json::Value;

use crate::excerpt::whole_without_secrets;

/// How long all deciders of a call may take together: a hook answers within five seconds, or refuses.
pub(crate) const MAX_TIME: Duration = Duration::from_secs(3);

/// The most bytes of an answer: a verdict and a reason. One that is longer is none.
const MAX_ANSWER: usize = 64 << 10;

/// Where a decider's program looks for others: not where the agent or a project may have put some.
const PROGRAMS: &str = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin";

/// Asks a decider.
pub(crate) fn ask(decider: &External, question: &Value, until: Instant) -> ExternalAnswer {
    let own = Instant::now() + Duration::from_millis(decider.time_ms());
    let until = until.min(own);
    let question = Value::Object(whole_without_secrets(question));
    let answer = match (&decider.url, decider.command.split_first()) {
        (Some(endpoint), _) => {
            posted(endpoint, decider, question, until).map(|body| decider.answered(body))
        }
        (None, Some((program, arguments))) => run(program, arguments, &question, until)
            .map(|value| ExternalAnswer::from_value(&value)),
        (None, None) => Err("nothing says how to ask it".to_owned()),
    };
    answer.unwrap_or_else(ExternalAnswer::Failed)
}

/// Runs a program with the question on its standard input.
fn run(
    program: &str,
    arguments: &[String],
    question: &Value,
    until: Instant,
) -> Result<Value, String> {
    let home = std::env::home_dir();
    let path = match (program.strip_prefix("~/"), &home) {
        (Some(below), Some(home)) => home.join(below),
        (Some(_), None) => return Err("no home directory is known".to_owned()),
        (None, _) => program.into(),
    };
    let mut command = Command::new(path);
    command
        .args(arguments)
        // Not where the agent works: what lies there is not to change what a program does.
        .current_dir("/")
        .env_clear()
        .env("PATH", PROGRAMS)
        .env("LC_ALL", "C.UTF-8")
        .envs(home.map(|home| ("HOME", home)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    // What a hook has set itself for memory is not for others, and what it starts ends with it.
    children::in_own_group(children::with_own_memory(&mut command));
    let mut child = command
        .spawn()
        .map_err(|error| format!("it cannot be started ({})", error.kind()))?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let text = question.to_string();
    // Its input and its output are each served by a thread: one that reads nothing, or writes without end, is not waited for.
    let sent = thread::Builder::new().spawn(move || {
        if let Some(mut input) = input {
            // One that decides without reading all of it may.
            let _ = input.write_all(text.as_bytes());
        }
    });
    let (sender, receiver) = channel();
    let read = thread::Builder::new().spawn(move || {
        let _ = sender.send(output.map_or_else(|| Ok(Vec::new()), bounded));
    });
    let started = sent.is_ok() && read.is_ok();
    let answer = match started {
        true => receiver.recv_timeout(left(until)).ok(),
        false => None,
    };
    let bytes = match answer {
        Some(Ok(bytes)) if bytes.len() <= MAX_ANSWER => bytes,
        Some(Ok(_)) => {
            children::end_group(&mut child);
            return Err("its answer is too long".to_owned());
        }
        Some(Err(error)) => {
            children::end_group(&mut child);
            return Err(format!("its answer cannot be read ({})", error.kind()));
        }
        None => {
            children::end_group(&mut child);
            return Err("it took too long".to_owned());
        }
    };
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => break,
            Ok(Some(status)) => return Err(format!("it failed ({status})")),
            Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(2)),
            Ok(None) | Err(_) => {
                children::end_group(&mut child);
                return Err("it took too long".to_owned());
            }
        }
    }
    serde_json::from_slice(&bytes).map_err(|_| "its answer is no JSON".to_owned())
}

/// Posts the question in the form the endpoint takes; the body of its response.
fn posted(
    endpoint: &Endpoint,
    decider: &External,
    question: Value,
    until: Instant,
) -> Result<Value, String> {
    let body = decider.posted(question).to_string();
    let token = decider
        .token
        .as_ref()
        .map(|token| token.reveal().to_owned());
    if token
        .as_ref()
        .is_some_and(|token| token.contains(|c: char| c.is_control()))
    {
        return Err("its token cannot be sent".to_owned());
    }
    let endpoint = endpoint.clone();
    let (sender, receiver) = channel();
    // In a thread of its own: looking a name up has no deadline.
    let asking = thread::Builder::new().spawn(move || {
        let _ = sender.send(exchanged(&endpoint, token.as_deref(), &body, until));
    });
    if asking.is_err() {
        return Err("no thread could be started".to_owned());
    }
    let bytes = receiver
        .recv_timeout(left(until))
        .map_err(|_| "it took too long".to_owned())??;
    serde_json::from_slice(&bytes).map_err(|_| "its answer is no JSON".to_owned())
}

/// One request and the body of its answer. HTTP 1.0, so that the answer comes in one piece and ends with the connection.
fn exchanged(
    endpoint: &Endpoint,
    token: Option<&str>,
    body: &str,
    until: Instant,
) -> Result<Vec<u8>, String> {
    let failed = |error: io::Error| {
        let late = [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut];
        match late.contains(&error.kind()) {
            true => "it took too long".to_owned(),
            false => format!("it cannot be reached ({})", error.kind()),
        }
    };
    let mut stream = connected(endpoint, until).map_err(failed)?;
    let host = match endpoint.host.contains(':') {
        true => format!("[{}]", endpoint.host),
        false => endpoint.host.clone(),
    };
    let token = token.map_or_else(String::new, |token| {
        format!("Authorization: Bearer {token}\r\n")
    });
    let request = format!(
        "POST {} HTTP/1.0\r\nHost: {host}:{}\r\nContent-Type: application/json\r\nAccept: application/json\r\n\
         {token}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        endpoint.path,
        endpoint.port,
        body.len()
    );
    stream
        .set_write_timeout(Some(left(until)))
        .map_err(failed)?;
    stream.write_all(request.as_bytes()).map_err(failed)?;
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        // Anew each time: one that sends a byte now and then does not get more time.
        stream.set_read_timeout(Some(left(until))).map_err(failed)?;
        match stream.read(&mut buffer).map_err(failed)? {
            0 => break,
            count => bytes.extend(buffer.iter().take(count)),
        }
        if bytes.len() > MAX_ANSWER {
            return Err("its answer is too long".to_owned());
        }
        if Instant::now() >= until {
            return Err("it took too long".to_owned());
        }
    }
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    let head = end.and_then(|end| bytes.get(..end)).unwrap_or_default();
    let status = String::from_utf8_lossy(head);
    let status = status.split(' ').nth(1).unwrap_or_default();
    if status != "200" {
        let shown: String = status
            .chars()
            .filter(char::is_ascii_digit)
            .take(3)
            .collect();
        return Err(match shown.is_empty() {
            true => "it does not speak HTTP".to_owned(),
            false => format!("it answers with status {shown}"),
        });
    }
    let body = end.and_then(|end| bytes.get(end + 4..)).unwrap_or_default();
    Ok(body.to_vec())
}

fn connected(endpoint: &Endpoint, until: Instant) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for address in (endpoint.host.as_str(), endpoint.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, left(until)) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// All that can be read, but one byte more than an answer may have at most.
fn bounded(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = u64::try_from(MAX_ANSWER)
        .unwrap_or(u64::MAX)
        .saturating_add(1);
    reader.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The time that is left, which is never none: a timeout of zero would be none at all.
fn left(until: Instant) -> Duration {
    let left = until.saturating_duration_since(Instant::now());
    left.max(Duration::from_millis(1))
}
