//! `holdpoint check --batch`: a stream of calls in, a stream of decisions out.
//!
//! Every line gets exactly one answer, in order, and is answered before the next one has to
//! arrive. A line that cannot be read is a call that cannot be judged: it is denied.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use holdpoint_engine::{
    Decision, Outcome, RecordError, Recorder, SessionState, StrictValue, ToolCall, without_secrets,
};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::check::policy_for;
use crate::cli;
use crate::desk::{Asker, Desk, InSession, Judged, Under, directory};
use crate::exit::Exit;
use crate::json_line::{self, Wanted};
use crate::lines::{Line, Lines};
use crate::terminal::Terminal;

/// The longest line that is read.
const MAX_LINE: usize = 16 << 20;

/// The most answers that wait to be recorded together.
const MOST_WAITING: usize = 256;

/// What stands on each line.
const CALLS: Wanted = Wanted {
    noun: "call",
    no_object: "a call must be an object: write {\"tool\": …}",
};

pub(crate) fn run(args: &cli::Check, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let under = &args.call.under;
    let here = directory(under.cwd.as_deref())?;
    let desk = Desk::new();
    let mut batch = Batch {
        recorder: match args.dry_run {
            true => None,
            false => Some(desk.recorder()?),
        },
        desk,
        agent: args.agent.clone(),
        waiting: Vec::new(),
        named: match policy_for(under, &here) {
            Under::Layers(_) | Under::LayersAt(..) => None,
            named @ (Under::File(_) | Under::Inline(_) | Under::Profile(_)) => Some(named),
        },
        directory: here,
        session: under.session.clone(),
    };
    if let Some(named) = &batch.named {
        // A policy named for the whole batch is wrong for all of it, so it is said once.
        batch.desk.policy(named)?;
    }
    let mut lines = Lines::new(io::stdin().lock(), MAX_LINE);
    loop {
        if !lines.has_whole_line() {
            // Whoever sends the next line may be waiting for these answers.
            batch.hand_over(terminal)?;
            terminal.out.flush()?;
        } else if batch.waiting.len() >= MOST_WAITING {
            batch.hand_over(terminal)?;
        }
        let answer = match lines.next()? {
            Line::End => break,
            Line::TooLong => Err(format!(
                "line {}: it has more than {MAX_LINE} bytes: no call is that large",
                lines.number
            )),
            Line::Whole => batch
                .judge(&lines.line)
                .map_err(|problem| format!("line {}{problem}", lines.number)),
        };
        batch.waiting.push(answer);
    }
    batch.hand_over(terminal)?;
    Ok(Exit::Fine)
}

/// The answer to a line, or what is wrong with it.
type Answer = Result<(String, Judged), String>;

/// What is the same for every line.
struct Batch {
    desk: Desk,
    directory: PathBuf,
    /// The policy named for all lines in place of the layers.
    named: Option<Under>,
    session: String,
    /// The agent that asks, as the record names it.
    agent: String,
    /// Where outcomes are recorded; nowhere in a dry run.
    recorder: Option<Recorder>,
    /// What was judged and is neither recorded nor answered yet.
    waiting: Vec<Answer>,
}

/// One line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request<'a> {
    #[serde(borrow)]
    tool: Cow<'a, str>,
    #[serde(default)]
    input: Option<StrictValue>,
    #[serde(borrow, default)]
    cwd: Option<Cow<'a, str>>,
    #[serde(default)]
    session: Option<SessionField>,
    #[serde(borrow, default)]
    config: Option<&'a RawValue>,
}

/// A line read for the sake of its errors, with everything owned.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only whether it can be read matters")]
struct OwnedRequest {
    tool: String,
    input: Option<StrictValue>,
    cwd: Option<String>,
    session: Option<SessionField>,
    config: Option<Value>,
}

enum SessionField {
    Id(String),
    State(SessionState),
}

impl<'de> Deserialize<'de> for SessionField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IdOrState;
        impl<'de> Visitor<'de> for IdOrState {
            type Value = SessionField;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a session id or an object with `allow`, `deny` and `default`")
            }

            fn visit_str<E: de::Error>(self, id: &str) -> Result<SessionField, E> {
                Ok(SessionField::Id(id.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SessionField, A::Error> {
                SessionState::deserialize(de::value::MapAccessDeserializer::new(map))
                    .map(SessionField::State)
            }
        }
        deserializer.deserialize_any(IdOrState)
    }
}

impl Batch {
    /// Records what waits and then answers it.
    fn hand_over(&mut self, terminal: &mut Terminal) -> anyhow::Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        let problem = self.record(&waiting).err().map(|error| error.to_string());
        for answer in waiting {
            let decision = match (&problem, answer) {
                (Some(problem), _) => Decision::error(problem),
                (None, Ok((_, judged))) => judged.shown(),
                (None, Err(problem)) => without_secrets(Decision::error(problem)),
            };
            serde_json::to_writer(&mut terminal.out, &decision)?;
            terminal.out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn record(&self, waiting: &[Answer]) -> Result<(), RecordError> {
        let Some(recorder) = &self.recorder else {
            return Ok(());
        };
        let asker = |session| Asker {
            agent: &self.agent,
            session: Some(session),
        };
        let outcomes: Vec<Outcome<'_>> = waiting
            .iter()
            .map(|answer| match answer {
                Ok((session, judged)) => judged.outcome(asker(session)),
                Err(problem) => Outcome::Failed(asker(&self.session).failed(problem)),
            })
            .collect();
        recorder.record_together(&outcomes)
    }

    /// The decision on one line, or what is wrong with it, starting with the place.
    fn judge(&mut self, line: &[u8]) -> Result<(String, Judged), String> {
        let request = json_line::request::<Request<'_>, OwnedRequest>(line, &CALLS)?;
        self.judge_request(request)
            .map_err(|problem| format!(": {problem}"))
    }

    fn judge_request(&mut self, request: Request<'_>) -> Result<(String, Judged), String> {
        self.desk.refresh();
        let input = request
            .input
            .map_or(Value::Null, |StrictValue(value)| value);
        let call = ToolCall::new(request.tool, input).map_err(|error| error.to_string())?;
        let elsewhere = match &request.cwd {
            Some(cwd) => {
                Some(directory(Some(Path::new(cwd.as_ref()))).map_err(|error| error.to_string())?)
            }
            None => None,
        };
        let directory = elsewhere.as_deref().unwrap_or(&self.directory).to_owned();
        let under = match (request.config, &self.named) {
            (Some(config), _) => inline(config)?,
            (None, Some(named)) => named.clone(),
            (None, None) => Under::Layers(directory.clone()),
        };
        let session = match request.session {
            Some(SessionField::Id(id)) => InSession::Kept(id),
            Some(SessionField::State(state)) => InSession::Given(state),
            None => InSession::Kept(self.session.clone()),
        };
        let name = match &session {
            InSession::Kept(name) => name.clone(),
            InSession::Given(_) => self.session.clone(),
        };
        let counts = self.recorder.is_some();
        let judged = self
            .desk
            .judged(call, counts, &under, &session, &directory)
            .map_err(|error| error.to_string())?;
        Ok((name, judged))
    }
}

/// The policy given with a line: an object, or the path of a file.
fn inline(config: &RawValue) -> Result<Under, String> {
    let text = config.get();
    if text.starts_with('"') {
        let path: String = serde_json::from_str(text).map_err(|error| error.to_string())?;
        return Ok(Under::File(PathBuf::from(path)));
    }
    Ok(Under::Inline(text.to_owned()))
}
