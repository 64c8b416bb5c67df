//! What local processes and the daemon say to each other: one JSON object a line, over a Unix socket.
//!
//! A caller says what it wants to do and gets nothing but the answer to that call; it proves nothing
//! and is believed nothing. A person's program shows the secret of the daemon, which only the user's
//! own files hold. The daemon proves every answer to a caller with the same secret, so that whatever
//! else sits on the socket's place can release nothing.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit, Mac};
use holdpoint_proof::Signed;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::answer::Answer;
use crate::host::Problem;
use crate::request::{CallContext, Request};
use crate::resolution::Resolution;
use crate::time::UnixMillis;

/// The longest line either side reads.
pub const MAX_LINE: u64 = 64 << 20;

/// Where the daemon of a user keeps its things.
#[derive(Clone, Debug)]
pub struct Places {
    directory: PathBuf,
}

impl Places {
    /// The daemon's directory under the user's state.
    pub fn under(state: &Path) -> Self {
        Self {
            directory: state.join("approvals"),
        }
    }

    /// The directory itself.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The socket.
    pub fn socket(&self) -> PathBuf {
        self.directory.join("socket")
    }

    /// The requests.
    pub fn database(&self) -> PathBuf {
        self.directory.join("approvals.db")
    }

    /// What proves that somebody may read the user's files.
    pub fn secret(&self) -> PathBuf {
        self.directory.join("secret")
    }

    /// The address of the page, while the daemon runs.
    pub fn address(&self) -> PathBuf {
        self.directory.join("address")
    }

    /// Held by the daemon that runs.
    pub fn lock(&self) -> PathBuf {
        self.directory.join("daemon.lock")
    }

    /// The secret, as the daemon left it.
    pub fn read_secret(&self) -> Option<String> {
        let mut bytes = Vec::new();
        std::fs::File::open(self.secret())
            .ok()?
            .take(256)
            .read_to_end(&mut bytes)
            .ok()?;
        let secret = bytes.strip_prefix(SECRET_MARK)?;
        (secret.len() == 32).then(|| hex(secret))
    }

    /// What is stored of a new secret.
    pub fn new_secret() -> Result<Vec<u8>, Problem> {
        let mut secret = [0_u8; 32];
        getrandom::fill(&mut secret)
            .map_err(|error| Problem(format!("the system gives no random numbers ({error})")))?;
        Ok([SECRET_MARK, &secret].concat())
    }
}

/// How the file with the secret starts. It is no text, so that a search through everything a user
/// has does not print it.
const SECRET_MARK: &[u8] = b"\0\0holdpoint secret\0\0";

/// What somebody wants of the daemon.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Wish {
    /// A caller wants to make a call.
    Hold {
        /// The call.
        asked: Box<CallContext>,
        /// What the caller is known by.
        nonce: String,
        /// The request it was told of before it lost the connection.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<String>,
    },
    /// The caller that waits on this connection no longer wants to; it is told how the call ended.
    Withdraw,
    /// The caller waits no longer, and leaves the request where it is: it makes the call again. Without this word the end of a
    /// connection is the end of a caller that was killed, and the request is withdrawn for it.
    Leave,
    /// A call ran inside the sandbox, which refused it something: a person may let it run outside. Nobody waits for that.
    Offer {
        /// The call.
        asked: Box<CallContext>,
        /// What it was refused, in words without secrets.
        refused: Vec<String>,
    },
    /// A caller is about to have a call run inside the sandbox, and wants to know whether a person lets it run outside.
    Claim {
        /// The call.
        asked: Box<CallContext>,
        /// What the caller is known by.
        nonce: String,
    },
    /// Somebody wants to know what the user's model server makes of a text nobody is sure of.
    Opinion {
        /// The text, without secrets.
        text: String,
        /// What the caller is known by.
        nonce: String,
    },
    /// A person wants something.
    Person {
        /// The daemon's secret.
        secret: String,
        /// What.
        #[serde(flatten)]
        wants: Wanted,
    },
}

/// What a person wants.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "wants", rename_all = "snake_case")]
pub enum Wanted {
    /// What waits.
    Pending,
    /// One request.
    Find {
        /// Which.
        id: String,
    },
    /// What was settled.
    History {
        /// How many at most.
        limit: usize,
        /// Those settled before.
        #[serde(default)]
        before: Option<UnixMillis>,
        /// Those with this in their words.
        #[serde(default)]
        text: Option<String>,
        /// Those this person answered.
        #[serde(default)]
        approver: Option<String>,
        /// Those of a session.
        #[serde(default)]
        session: Option<String>,
    },
    /// To answer a request.
    Answer {
        /// Which.
        id: String,
        /// The answer.
        #[serde(flatten)]
        answer: Answer,
        /// What was shown.
        #[serde(default)]
        binding: Option<String>,
        /// What was typed.
        #[serde(default)]
        phrase: Option<String>,
        /// What was signed, and by whose key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signed: Option<Signed>,
        /// Whether it was answered in `watch`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        watching: bool,
    },
    /// What to sign to let a request run.
    Statement {
        /// Which.
        id: String,
        /// Who signs.
        approver: String,
    },
    /// To give a request more time.
    Extend {
        /// Which.
        id: String,
        /// How much.
        seconds: u64,
    },
    /// To know what an answer would release besides its request.
    Along {
        /// Which.
        id: String,
        /// The answer.
        #[serde(flatten)]
        answer: Answer,
    },
    /// To take a release back that nobody has used.
    TakeBack {
        /// Which.
        id: String,
    },
    /// To sign in on the page.
    Code,
    /// To hear of every change.
    Follow,
}

/// What the daemon says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "snake_case")]
pub enum Reply {
    /// What an answer would release.
    Along {
        /// These are released by it.
        released: Vec<Request>,
        /// It covers these, of critical risk, and they wait on.
        kept: Vec<Request>,
    },
    /// The call waits.
    Waiting {
        /// As this request.
        id: String,
        /// Until then.
        expires: Option<UnixMillis>,
    },
    /// The call is decided.
    #[serde(rename = "told")]
    Resolved {
        /// A [`Resolution`] as JSON, as it was proved.
        told: String,
        /// The proof.
        proof: String,
    },
    /// Nobody has let the call run outside of the sandbox.
    Unreleased,
    /// Requests, without the arguments as they are.
    Requests {
        /// Which.
        requests: Vec<Request>,
    },
    /// What came of an answer.
    Answered {
        /// `settled`, `counted`, `again` or `no_effect`.
        outcome: String,
        /// Why it had none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// The request as it is now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<Box<Request>>,
    },
    /// What the model server makes of a text.
    Opinion {
        /// A [`ServerAnswer`] as JSON, as it was proved.
        told: String,
        /// The proof.
        proof: String,
    },
    /// What to sign.
    Statement {
        /// The bytes.
        statement: String,
    },
    /// A code to sign in with, once.
    Code {
        /// The code.
        code: String,
        /// Where the page is.
        address: String,
    },
    /// Something changed.
    Change {
        /// `opened`, `changed` or `settled`.
        kind: String,
        /// The request as it is now.
        request: Box<Request>,
    },
    /// It cannot be done.
    Error {
        /// Why.
        error: String,
    },
}

/// Proves that the daemon told a caller something; none if the secret is no key.
pub fn proof(secret: &str, nonce: &str, told: &str) -> Option<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?;
    mac.update(b"holdpoint told\n");
    mac.update(nonce.as_bytes());
    mac.update(b"\n");
    mac.update(told.as_bytes());
    Some(hex(&mac.finalize().into_bytes()))
}

/// Whether a proof is one, in a time that tells nothing.
pub fn is_proved(secret: &str, nonce: &str, told: &str, given: &str) -> bool {
    use subtle::ConstantTimeEq;
    proof(secret, nonce, told)
        .is_some_and(|wanted| wanted.as_bytes().ct_eq(given.as_bytes()).into())
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// So many random bytes, as hexadecimal digits.
pub fn unguessable<const BYTES: usize>() -> Result<String, Problem> {
    let mut bytes = [0_u8; BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| Problem(format!("the system gives no random numbers ({error})")))?;
    Ok(hex(&bytes))
}

/// What comes of holding a call.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for a call that was held, and it is taken apart at once"
)]
pub enum HoldAnswer {
    /// It is decided.
    Resolved(Resolution),
    /// Nobody has answered yet; the request stays.
    StillWaiting {
        /// The request.
        id: String,
    },
}

/// Why the daemon cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// It does not run.
    #[error("the approval daemon does not run: start it with `holdpoint serve`")]
    NotRunning,
    /// It says no.
    #[error("{0}")]
    Refused(String),
    /// It does not speak as it should, or somebody else sits in its place.
    #[error("the approval daemon cannot be trusted ({0}): restart it with `holdpoint serve`")]
    Untrusted(String),
    /// The connection broke.
    #[error("the connection to the approval daemon broke ({0})")]
    Broken(io::ErrorKind),
}

/// How long one look at the connection lasts before it is asked whether the caller still wants an
/// answer; an answer that comes is heard at once.
const GLANCE: Duration = Duration::from_millis(100);

/// How long a caller that withdraws its call waits for the daemon to say so.
const TO_WITHDRAW: Duration = Duration::from_secs(3);

/// Asks the daemon to hold a call and waits for the answer, at most `limit`. If the daemon goes away
/// it is looked for again, for as long as there is time; if it was never there, for `patience`.
///
/// Once `cancelled` says so the call is withdrawn, and the daemon tells how it ended: withdrawn, or
/// as somebody answered it a moment before.
pub fn hold(
    places: &Places,
    asked: &CallContext,
    limit: Option<Duration>,
    patience: Duration,
    cancelled: &dyn Fn() -> bool,
) -> Result<HoldAnswer, WireError> {
    let nonce = unguessable::<16>().map_err(|problem| WireError::Refused(problem.0))?;
    let mut hold = Hold {
        places,
        asked,
        nonce,
        until: Until::begin(limit),
        cancelled,
        withdrawing: false,
        before: None,
    };
    let started = Instant::now();
    let mut pause = Duration::from_millis(10);
    loop {
        let trouble = match hold.once() {
            Ok(answer) => return Ok(answer),
            Err(trouble) => trouble,
        };
        let again = match &trouble {
            WireError::NotRunning => hold.before.is_some() || started.elapsed() < patience,
            WireError::Broken(_) => true,
            WireError::Refused(_) | WireError::Untrusted(_) => false,
        };
        if !again {
            return Err(trouble);
        }
        hold.notice_cancellation();
        // What nobody has heard of yet need not be withdrawn.
        let forgotten = hold.withdrawing && hold.before.is_none();
        if forgotten || hold.until.left().is_some_and(|left| left <= pause) {
            return match hold.before {
                Some(id) => Ok(HoldAnswer::StillWaiting { id }),
                None => Err(trouble),
            };
        }
        sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(500));
    }
}

/// The time that is left to somebody who waits.
#[derive(Clone, Copy)]
struct Until(Option<Instant>);

impl Until {
    fn begin(limit: Option<Duration>) -> Self {
        // A limit beyond what the clock can show is none.
        Self(limit.and_then(|limit| Instant::now().checked_add(limit)))
    }

    /// None if there is no limit.
    fn left(self) -> Option<Duration> {
        self.0
            .map(|until| until.saturating_duration_since(Instant::now()))
    }
}

/// A call the daemon is asked to hold, over as many connections as that takes.
struct Hold<'a> {
    places: &'a Places,
    asked: &'a CallContext,
    /// What the caller is known by.
    nonce: String,
    until: Until,
    cancelled: &'a dyn Fn() -> bool,
    /// Whether the caller no longer wants an answer.
    withdrawing: bool,
    /// The request it was told of.
    before: Option<String>,
}

impl Hold<'_> {
    /// Whether the caller no longer wants an answer since this was asked last. From then on it waits
    /// only to hear that the call is withdrawn.
    fn notice_cancellation(&mut self) -> bool {
        if self.withdrawing || !(self.cancelled)() {
            return false;
        }
        self.withdrawing = true;
        let left = self.until.left();
        self.until = Until::begin(Some(left.map_or(TO_WITHDRAW, |left| left.min(TO_WITHDRAW))));
        true
    }

    /// Asks over one connection.
    fn once(&mut self) -> Result<HoldAnswer, WireError> {
        let mut line = Line::connect(self.places)?;
        line.send(&Wish::Hold {
            asked: Box::new(self.asked.clone()),
            nonce: self.nonce.clone(),
            before: self.before.clone(),
        })?;
        if self.withdrawing {
            line.send(&Wish::Withdraw)?;
        }
        loop {
            if self.notice_cancellation() {
                line.send(&Wish::Withdraw)?;
            }
            let left = self.until.left();
            let slice = left.map_or(GLANCE, |left| left.min(GLANCE));
            let reply = match line.receive(Some(slice)) {
                Ok(reply) => reply,
                Err(Silence::Timeout) if left.is_none_or(|left| left > slice) => continue,
                Err(Silence::Timeout) => {
                    return match self.before.take() {
                        Some(id) => {
                            // Should the daemon have gone this moment, nobody is left who would withdraw it.
                            let _ = line.send(&Wish::Leave);
                            Ok(HoldAnswer::StillWaiting { id })
                        }
                        None => Err(WireError::Broken(io::ErrorKind::TimedOut)),
                    };
                }
                Err(Silence::Trouble(trouble)) => return Err(trouble),
            };
            match reply {
                Reply::Waiting { id, .. } => self.before = Some(id),
                Reply::Resolved { told, proof } => {
                    let resolution = proved(self.places, &self.nonce, &told, &proof)?;
                    return Ok(HoldAnswer::Resolved(resolution));
                }
                Reply::Error { error } => return Err(WireError::Refused(error)),
                Reply::Unreleased
                | Reply::Along { .. }
                | Reply::Requests { .. }
                | Reply::Answered { .. }
                | Reply::Opinion { .. }
                | Reply::Statement { .. }
                | Reply::Code { .. }
                | Reply::Change { .. } => {
                    return Err(WireError::Untrusted("it answers another question".into()));
                }
            }
        }
    }
}

/// What the daemon told the caller with this nonce, if it is the daemon.
fn proved<T: DeserializeOwned>(
    places: &Places,
    nonce: &str,
    told: &str,
    proof: &str,
) -> Result<T, WireError> {
    // Read only now: the daemon makes it when it first starts.
    let secret = places
        .read_secret()
        .ok_or_else(|| WireError::Untrusted("its secret cannot be read".into()))?;
    if !is_proved(&secret, nonce, told, proof) {
        return Err(WireError::Untrusted("its answer is not proved".into()));
    }
    serde_json::from_str(told).map_err(|_| WireError::Untrusted("its answer cannot be read".into()))
}

/// How long the daemon has for what nobody waits for: it judges one call. Beyond that a call runs contained, as it would
/// without a daemon.
const TO_LOOK: Duration = Duration::from_secs(2);

/// Tells the daemon of a call that ran inside the sandbox and was refused something there; the request by which a person lets
/// it run outside, once.
pub fn offer(
    places: &Places,
    asked: &CallContext,
    refused: Vec<String>,
) -> Result<String, WireError> {
    let wish = Wish::Offer {
        asked: Box::new(asked.clone()),
        refused,
    };
    let Reply::Waiting { id, .. } = looked(places, &wish)? else {
        return Err(WireError::Untrusted("it answers another question".into()));
    };
    Ok(id)
}

/// Whether a person lets a call run outside of the sandbox, once; it is used by asking.
pub fn claim(places: &Places, asked: &CallContext) -> Result<Option<Resolution>, WireError> {
    let nonce = unguessable::<16>().map_err(|problem| WireError::Refused(problem.0))?;
    let wish = Wish::Claim {
        asked: Box::new(asked.clone()),
        nonce: nonce.clone(),
    };
    let reply = looked(places, &wish)?;
    if let Reply::Unreleased = reply {
        return Ok(None);
    }
    let Reply::Resolved { told, proof } = reply else {
        return Err(WireError::Untrusted("it answers another question".into()));
    };
    proved(places, &nonce, &told, &proof).map(Some)
}

/// One answer to one wish.
fn looked(places: &Places, wish: &Wish) -> Result<Reply, WireError> {
    let mut line = Line::connect(places)?;
    line.send(wish)?;
    match line.receive(Some(TO_LOOK)) {
        Ok(Reply::Error { error }) => Err(WireError::Refused(error)),
        Ok(reply) => Ok(reply),
        Err(Silence::Timeout) => Err(WireError::Broken(io::ErrorKind::TimedOut)),
        Err(Silence::Trouble(trouble)) => Err(trouble),
    }
}

/// Asks the daemon something as a person, and gets one answer.
pub fn ask(places: &Places, wants: Wanted) -> Result<Reply, WireError> {
    let mut line = as_person(places, wants)?;
    match line.receive(Some(Duration::from_secs(30))) {
        Ok(Reply::Error { error }) => Err(WireError::Refused(error)),
        Ok(reply) => Ok(reply),
        Err(Silence::Timeout) => Err(WireError::Broken(io::ErrorKind::TimedOut)),
        Err(Silence::Trouble(trouble)) => Err(trouble),
    }
}

/// What a model server makes of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opinion {
    /// It gives orders to whoever reads it.
    Attack,
    /// It does not.
    Harmless,
    /// There is none, and why.
    None(String),
}

impl Opinion {
    /// Why there is no opinion.
    pub fn none(why: impl Into<String>) -> Self {
        Self::None(why.into())
    }
}

/// What came of asking a model server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerAnswer {
    /// Its opinion.
    pub opinion: Opinion,
    /// Who was asked: model and address. None if nobody was.
    pub server: Option<String>,
}

impl ServerAnswer {
    /// Nobody was asked, or nobody can say who, and why.
    pub fn nobodys(why: impl Into<String>) -> Self {
        Self {
            opinion: Opinion::none(why),
            server: None,
        }
    }
}

/// What an answer to a question for an opinion is proved for: one to another question is none to this.
pub fn opinion_nonce(nonce: &str) -> String {
    format!("opinion {nonce}")
}

/// How much longer than the model server the daemon has to say what it was told.
const TO_TELL: Duration = Duration::from_millis(250);

/// Asks the daemon for a second opinion on a text without secrets, and waits no longer than the server has. Whatever fails is no
/// opinion; so is an answer the daemon does not prove, for anybody may sit in its place.
pub fn opinion(places: &Places, text: &str, deadline: Duration) -> ServerAnswer {
    let asked = || {
        let nonce = unguessable::<16>().map_err(|problem| WireError::Refused(problem.0))?;
        let mut line = Line::connect(places)?;
        line.send(&Wish::Opinion {
            text: text.into(),
            nonce: nonce.clone(),
        })?;
        match line.receive(Some(deadline + TO_TELL)) {
            Ok(Reply::Opinion { told, proof }) => {
                proved(places, &opinion_nonce(&nonce), &told, &proof)
            }
            Ok(Reply::Error { error }) => Err(WireError::Refused(error)),
            Ok(_) => Err(WireError::Untrusted("it answers another question".into())),
            Err(Silence::Timeout) => {
                Err(WireError::Refused("no answer within the deadline".into()))
            }
            Err(Silence::Trouble(trouble)) => Err(trouble),
        }
    };
    asked().unwrap_or_else(|trouble: WireError| ServerAnswer::nobodys(trouble.to_string()))
}

/// Hears of every change: first what waits, then each change, until `heard` returns false.
pub fn follow(
    places: &Places,
    mut heard: impl FnMut(Option<Reply>) -> bool,
) -> Result<(), WireError> {
    let mut line = as_person(places, Wanted::Follow)?;
    loop {
        let reply = match line.receive(Some(Duration::from_millis(200))) {
            Ok(Reply::Error { error }) => return Err(WireError::Refused(error)),
            Ok(reply) => Some(reply),
            Err(Silence::Timeout) => None,
            Err(Silence::Trouble(trouble)) => return Err(trouble),
        };
        if !heard(reply) {
            return Ok(());
        }
    }
}

fn as_person(places: &Places, wants: Wanted) -> Result<Line, WireError> {
    let mut line = Line::connect(places)?;
    let secret = places.read_secret().ok_or(WireError::NotRunning)?;
    line.send(&Wish::Person { secret, wants })?;
    Ok(line)
}

/// One connection.
struct Line {
    stream: BufReader<UnixStream>,
    /// What was read of a line that is not whole yet.
    partial: Vec<u8>,
}

/// Why nothing was heard.
enum Silence {
    Timeout,
    Trouble(WireError),
}

impl Line {
    fn connect(places: &Places) -> Result<Self, WireError> {
        let stream = UnixStream::connect(places.socket()).map_err(|error| {
            let kind = error.kind();
            match matches!(
                kind,
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
            ) {
                true => WireError::NotRunning,
                false => WireError::Broken(kind),
            }
        })?;
        Ok(Self {
            stream: BufReader::new(stream),
            partial: Vec::new(),
        })
    }

    fn send(&mut self, wish: &Wish) -> Result<(), WireError> {
        let mut text = serde_json::to_vec(wish)
            .map_err(|_| WireError::Refused("the call cannot be written as JSON".into()))?;
        text.push(b'\n');
        self.stream
            .get_mut()
            .write_all(&text)
            .map_err(|error| WireError::Broken(error.kind()))
    }

    fn receive(&mut self, limit: Option<Duration>) -> Result<Reply, Silence> {
        let trouble = |trouble| Silence::Trouble(trouble);
        // No time at all would mean for ever.
        let limit = limit.map(|limit| limit.max(Duration::from_millis(1)));
        self.stream
            .get_ref()
            .set_read_timeout(limit)
            .map_err(|error| trouble(WireError::Broken(error.kind())))?;
        let room = MAX_LINE.saturating_sub(u64::try_from(self.partial.len()).unwrap_or(MAX_LINE));
        match (&mut self.stream)
            .take(room)
            .read_until(b'\n', &mut self.partial)
        {
            Ok(_) if self.partial.ends_with(b"\n") => {
                let line = std::mem::take(&mut self.partial);
                serde_json::from_slice(&line)
                    .map_err(|_| trouble(WireError::Untrusted("its words cannot be read".into())))
            }
            Ok(_) => Err(trouble(WireError::Broken(io::ErrorKind::UnexpectedEof))),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                ) =>
            {
                Err(Silence::Timeout)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(Silence::Timeout),
            Err(error) => Err(trouble(WireError::Broken(error.kind()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_daemon_can_prove_what_it_told_this_caller() {
        let told = r#"{"verdict":"allow"}"#;
        let proved = proof("secret", "nonce", told).unwrap();
        assert!(is_proved("secret", "nonce", told, &proved));
        assert!(!is_proved("secret", "another", told, &proved));
        assert!(!is_proved("other", "nonce", told, &proved));
        assert!(!is_proved(
            "secret",
            "nonce",
            r#"{"verdict":"deny"}"#,
            &proved
        ));
        assert!(!is_proved("secret", "nonce", told, ""));
    }
}
