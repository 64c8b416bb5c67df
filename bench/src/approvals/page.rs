//! A browser in small: signs in, asks for the report, and listens to what the page is told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use holdpoint_broker::wire::{self, Reply, Wanted};
use serde_json::{Value, json};

use super::callers::{held, yes};
use super::daemon::Daemon;
use super::milliseconds;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(30);

pub(crate) struct Page {
    address: String,
    cookie: String,
}

impl Page {
    pub(crate) fn sign_in(daemon: &Daemon) -> Result<Self> {
        let Reply::Code { code, .. } = wire::ask(daemon.places(), Wanted::Code)? else {
            bail!("the daemon gives no code to sign in with");
        };
        let address = daemon.address().to_owned();
        let body = json!({ "code": code }).to_string();
        let reply = whole(&send(
            &address,
            "POST /api/sign-in",
            &format!(
                "Origin: http://{address}\r\nContent-Type: application/json\r\n\
                 Content-Length: {}\r\nConnection: close\r\n",
                body.len()
            ),
            &body,
        )?)?;
        let cookie = reply
            .lines()
            .find_map(|line| line.strip_prefix("set-cookie: "))
            .and_then(|cookie| cookie.split(';').next())
            .with_context(|| format!("no cookie came: {reply}"))?;
        Ok(Self {
            cookie: cookie.to_owned(),
            address,
        })
    }

    /// Asks for the report.
    pub(crate) fn report(&self) -> Result<()> {
        let headers = format!("Cookie: {}\r\nConnection: close\r\n", self.cookie);
        let reply = whole(&send(&self.address, "GET /report", &headers, "")?)?;
        ensure!(
            reply.starts_with("HTTP/1.1 200 "),
            "no report came: {reply}"
        );
        Ok(())
    }

    /// Milliseconds from asking to the event a page reads, for so many calls, one after the other.
    /// Each is answered when it was seen.
    pub(crate) fn times(&self, daemon: &Daemon, calls: usize) -> Result<Vec<f64>> {
        let headers = format!("Cookie: {}\r\n", self.cookie);
        let stream = send(&self.address, "GET /api/events", &headers, "")?;
        let mut events = Events(BufReader::new(stream));
        events.next("snapshot")?;
        let mut times = Vec::new();
        for number in 0..calls {
            let command = format!("make seen-{number}");
            let start = Instant::now();
            let seen = thread::scope(|scope| {
                let caller = scope.spawn(|| held(daemon, &command));
                let card = events.next("opened")?;
                let seen = start.elapsed();
                let text = |name: &str| card.get(name).and_then(Value::as_str);
                let id = text("id").context("a card without an id")?;
                yes(
                    daemon.places(),
                    id,
                    text("binding").unwrap_or_default(),
                    None,
                )?;
                let ended = caller.join().map_err(|_| anyhow!("a caller has failed"))?;
                ended.map(|_| seen)
            })?;
            times.push(milliseconds(seen));
        }
        Ok(times)
    }
}

/// What the server tells, line by line.
struct Events(BufReader<TcpStream>);

impl Events {
    /// What comes with the next event of a kind. Lines that only carry the events are passed over.
    fn next(&mut self, kind: &str) -> Result<Value> {
        let wanted = format!("event: {kind}");
        let mut is_next = false;
        loop {
            let mut line = String::new();
            let length = self.0.read_line(&mut line).context("no event came")?;
            ensure!(length > 0, "the daemon ended the stream");
            let line = line.trim_end();
            match line.strip_prefix("data: ") {
                Some(data) if is_next => return Ok(serde_json::from_str(data)?),
                Some(_) => {}
                None => is_next = is_next || line == wanted,
            }
        }
    }
}

fn send(address: &str, what: &str, headers: &str, body: &str) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(address).context("the page cannot be reached")?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(LONG))?;
    let head = format!("{what} HTTP/1.1\r\nHost: {address}\r\n{headers}\r\n");
    stream.write_all(format!("{head}{body}").as_bytes())?;
    Ok(stream)
}

/// All that comes until the other side has ended.
fn whole(mut stream: &TcpStream) -> Result<String> {
    let mut text = String::new();
    stream.read_to_string(&mut text).context("no reply came")?;
    Ok(text)
}
