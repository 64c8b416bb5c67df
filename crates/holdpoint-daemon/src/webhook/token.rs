//! The bearer token of a webhook: written in the policy, printed by a secret store's own command, or
//! taken from the environment. It is never part of a message.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use holdpoint_broker::ChannelError;
use holdpoint_broker::channel::patience::Patience;
use holdpoint_sandbox::children;

/// Where a token comes from.
pub(super) enum Token {
    /// There is none.
    None,
    /// It is known.
    Known(String),
    /// A program prints it.
    Printed(Vec<String>),
}

impl Token {
    /// The token, if there is one.
    pub(super) fn get(&self, patience: &Patience<'_>) -> Result<Option<String>, ChannelError> {
        match self {
            Token::None => Ok(None),
            Token::Known(token) => Ok(Some(token.clone())),
            Token::Printed(words) => printed(words, patience).map(Some),
        }
    }
}

/// How long the program may take, since a held call waits for it; then it is ended, and no token is there.
const MAX_TIME: Duration = Duration::from_secs(5);
/// The most bytes a token may take: no server accepts a longer header. More is an error.
const MAX_TOKEN: usize = 16 << 10;

fn printed(words: &[String], patience: &Patience<'_>) -> Result<String, ChannelError> {
    let unusable = |what: &str| ChannelError::Unusable(format!("`auth_token_command` {what}"));
    let Some((program, words)) = words.split_first() else {
        return Err(unusable("is empty"));
    };
    let mut command = Command::new(program);
    command
        .args(words)
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let (mut output, mut child) = started(children::with_own_memory(&mut command))
        .map_err(|error| unusable(&format!("cannot be started: {error}")))?;
    let own = patience.at_most(MAX_TIME);
    let read = read(&mut output, &mut child, &own);
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(error) => {
            // It may have ended by itself; either way nobody waits for it.
            let _ = child.kill();
            let _ = child.wait();
            // The deadline of the question, or the program's own.
            patience.left()?;
            return Err(unusable(&match error {
                Failed::TimedOut => format!("took more than {} seconds", MAX_TIME.as_secs()),
                Failed::TooMuch => "prints too much for a token".into(),
                Failed::Unreadable(error) => format!("cannot be read: {error}"),
            }));
        }
    };
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if own.pause(Duration::from_millis(5)).is_ok() => {}
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                patience.left()?;
                return Err(unusable("does not end"));
            }
        }
    };
    if !ended.success() {
        return Err(unusable(&format!("failed ({ended})")));
    }
    let token = String::from_utf8(bytes).map_err(|_| unusable("prints no text"))?;
    match token.trim() {
        "" => Err(unusable("prints nothing")),
        token => Ok(token.to_owned()),
    }
}

enum Failed {
    TimedOut,
    TooMuch,
    Unreadable(io::Error),
}

/// Reads what a program prints, until it has printed all or has ended: something it left running
/// may hold its output open.
fn read(
    output: &mut Output,
    child: &mut Child,
    patience: &Patience<'_>,
) -> Result<Vec<u8>, Failed> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 1024];
    loop {
        let ended = child.try_wait().map_err(Failed::Unreadable)?.is_some();
        match output.read(&mut buffer) {
            Ok(0) => return Ok(bytes),
            Ok(count) => bytes.extend(buffer.iter().take(count)),
            Err(error) if is_wait(&error) && ended => return Ok(bytes),
            Err(error) if is_wait(&error) => {}
            Err(error) => return Err(Failed::Unreadable(error)),
        }
        if bytes.len() > MAX_TOKEN {
            return Err(Failed::TooMuch);
        }
        if patience.left().is_err() {
            return Err(Failed::TimedOut);
        }
    }
}

fn is_wait(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

/// A socket, because reading from one can be given a limit without another thread.
#[cfg(unix)]
type Output = std::os::unix::net::UnixStream;

#[cfg(unix)]
fn started(command: &mut Command) -> io::Result<(Output, Child)> {
    use std::os::fd::OwnedFd;

    let (ours, theirs) = Output::pair()?;
    ours.set_read_timeout(Some(Duration::from_millis(50)))?;
    let child = command.stdout(OwnedFd::from(theirs)).spawn()?;
    // Our copy of the program's end would keep it open.
    command.stdout(Stdio::null());
    Ok((ours, child))
}

/// Nothing here can be read with a limit.
#[cfg(not(unix))]
type Output = io::Empty;

#[cfg(not(unix))]
fn started(_command: &mut Command) -> io::Result<(Output, Child)> {
    Err(io::ErrorKind::Unsupported.into())
}
