//! `holdpoint check --batch`: a stream of calls in, a stream of decisions out.
//!
//! Every line gets exactly one answer, in order, and is answered before the next one has to
//! arrive. A line that cannot be read is a call that cannot be judged: it is denied. Lines that have
//! arrived already are answered together: one write to the ledger, one look at whatever the decisions
//! that are remembered rest on.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use holdpoint_engine::holding::{Approvers, Asking};
use holdpoint_engine::pipeline::{Decided, Held};
use holdpoint_engine::{
    Caller, Decision, Engine, Failed, LineCaller, Locations, Outcome, PolicySource, RecordError,
    Recorder, SessionSource, SessionState, StrictValue, ToolCall, without_secrets,
    working_directory,
};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::check::{caller, told};
use crate::cli;
use crate::exit::Exit;
use crate::json_line::{self, Wanted};
use crate::lines::{Line, Lines};
use crate::terminal::Terminal;

/// The longest line that is read.
const MAX_LINE: usize = 16 << 20;

/// The most answers that wait to be recorded together: by then another that shares the wait for the
/// disk saves next to nothing. Those that wait are then recorded and handed over.
const MAX_WAITING: usize = 256;

/// The longest answers wait for others that are judged: a person does not notice it, and what they rest
/// on is not looked at again until they are handed over.
const MAX_WAIT: Duration = Duration::from_millis(20);

/// The bytes of an ordinary answer, so that room for all that wait is made once.
const USUAL_ANSWER: usize = 512;

/// What stands on each line.
const CALLS: Wanted = Wanted {
    noun: "call",
    no_object: "a call must be an object: write {\"tool\": …}",
};

pub(crate) fn run(args: &cli::Check, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let under = &args.call.under;
    let here = working_directory(under.cwd.as_deref())?;
    let engine = Engine::at(&Locations::of_this_machine()).for_a_stream();
    let caller = caller(&engine, &args.agent, under, &here);
    let mut batch = Batch {
        recorder: match args.dry_run {
            true => None,
            false => Some(engine.recorder()?),
        },
        waiting: Vec::new(),
        since: Instant::now(),
        callers: HashMap::new(),
        named: under.config.is_some() || under.profile.is_some(),
        caller,
        engine,
    };
    if batch.named {
        // A policy named for the whole batch is wrong for all of it, so it is said once.
        batch.engine.policy(&batch.caller.policy)?;
    }
    let mut lines = Lines::new(io::stdin().lock(), MAX_LINE);
    loop {
        if !lines.has_whole_line() {
            // Whoever sends the next line may be waiting for these answers.
            batch.hand_over(terminal)?;
            terminal.out.flush()?;
        } else if batch.is_to_hand_over() {
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
        // The next call is judged by how many there were.
        let counted = answer.as_ref().is_ok_and(Decided::is_counted);
        batch.waiting.push(answer);
        if counted {
            batch.hand_over(terminal)?;
        }
    }
    batch.hand_over(terminal)?;
    Ok(Exit::Fine)
}

/// The decision on a line, or what is wrong with it.
type Answer = Result<Decided, String>;

/// What is the same for every line.
struct Batch {
    engine: Engine,
    /// Who asks, where a line does not say otherwise.
    caller: Arc<Caller>,
    /// Whether a policy is named for all lines in place of the layers.
    named: bool,
    /// Where outcomes are recorded; nowhere in a dry run.
    recorder: Option<Recorder>,
    /// What was judged and is neither recorded nor answered yet.
    waiting: Vec<Answer>,
    /// When the first of these came, or the last were handed over.
    since: Instant,
    /// Who asks on the lines since then that name a directory and say nothing else of it.
    callers: HashMap<String, Arc<Caller>>,
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
    State(Box<SessionState>),
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
                    .map(|state| SessionField::State(Box::new(state)))
            }
        }
        deserializer.deserialize_any(IdOrState)
    }
}

impl Batch {
    /// Whether what waits has waited long enough.
    fn is_to_hand_over(&self) -> bool {
        self.waiting.len() >= MAX_WAITING
            || (!self.waiting.is_empty() && self.since.elapsed() >= MAX_WAIT)
    }

    /// Records what waits and then answers it. What follows is judged by the disk as it is from then on.
    fn hand_over(&mut self, terminal: &mut Terminal) -> anyhow::Result<()> {
        self.hand_over_waiting(terminal)?;
        self.engine.look_again();
        self.callers.clear();
        self.since = Instant::now();
        Ok(())
    }

    fn hand_over_waiting(&mut self, terminal: &mut Terminal) -> anyhow::Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        let problem = self.record(&waiting).err().map(|error| error.to_string());
        let mut answers = Vec::with_capacity(waiting.len().saturating_mul(USUAL_ANSWER));
        for answer in waiting {
            let decision = match (&problem, answer) {
                (None, Ok(decided)) if self.recorder.is_none() || decided.is_final() => {
                    decided.write_without_secrets(&mut answers);
                    answers.push(b'\n');
                    continue;
                }
                (Some(problem), _) => Decision::error(problem),
                (None, Ok(decided)) => self.answered(decided),
                (None, Err(problem)) => without_secrets(Decision::error(problem)),
            };
            serde_json::to_writer(&mut answers, &decision)?;
            answers.push(b'\n');
        }
        terminal.out.write_all(&answers)?;
        Ok(())
    }

    /// What is answered once the decision is on record.
    fn answered(&self, decided: Decided) -> Decision {
        let outcome = decided
            .recorded()
            .hold(Asking::by(Approvers::HandsOn))
            .and_then(Held::release);
        match outcome {
            Ok(outcome) => told(outcome),
            Err(error) => {
                let problem = error.to_string();
                self.engine.record_failure(&self.failed(&problem));
                without_secrets(Decision::error(problem))
            }
        }
    }

    fn record(&self, waiting: &[Answer]) -> Result<(), RecordError> {
        let Some(recorder) = &self.recorder else {
            return Ok(());
        };
        let outcomes: Vec<Outcome<'_>> = waiting
            .iter()
            .map(|answer| match answer {
                Ok(decided) => decided.outcome(),
                Err(problem) => Outcome::Failed(self.failed(problem)),
            })
            .collect();
        recorder.record_together(&outcomes)
    }

    fn failed<'a>(&'a self, problem: &'a str) -> Failed<'a> {
        Failed {
            agent: &self.caller.agent,
            session: self.caller.session_name.as_deref(),
            call: None,
            problem,
            left_alone: false,
            replayed: None,
        }
    }

    /// The decision on one line, or what is wrong with it, starting with the place.
    fn judge(&mut self, line: &[u8]) -> Answer {
        if let Some(decided) = self.engine.recall(line) {
            return Ok(decided);
        }
        let request = json_line::request::<Request<'_>, OwnedRequest>(line, &CALLS)?;
        self.judge_request(line, request)
            .map_err(|problem| format!(": {problem}"))
    }

    fn judge_request(&mut self, line: &[u8], request: Request<'_>) -> Answer {
        let input = request
            .input
            .map_or(Value::Null, |StrictValue(value)| value);
        let call = ToolCall::new(request.tool, input).map_err(|error| error.to_string())?;
        let said = LineCaller {
            directory: request.cwd.as_deref().map(PathBuf::from),
            caller: match (request.cwd, request.config, request.session) {
                (None, None, None) => Arc::clone(&self.caller),
                (Some(cwd), None, None) => self.caller_in(cwd)?,
                (cwd, config, session) => Arc::new(self.caller_of(cwd, config, session)?),
            },
        };
        self.engine
            .decide_line(line, call, &said)
            .map_err(|error| error.to_string())
    }

    /// Who asks on a line that only names its directory: the same for all lines that are answered together.
    fn caller_in(&mut self, cwd: Cow<'_, str>) -> Result<Arc<Caller>, String> {
        if let Some(caller) = self.callers.get(cwd.as_ref()) {
            return Ok(Arc::clone(caller));
        }
        let named = cwd.clone().into_owned();
        let caller = Arc::new(self.caller_of(Some(cwd), None, None)?);
        self.callers.insert(named, Arc::clone(&caller));
        Ok(caller)
    }

    /// Who asks on a line that says so itself.
    fn caller_of(
        &self,
        cwd: Option<Cow<'_, str>>,
        config: Option<&RawValue>,
        session: Option<SessionField>,
    ) -> Result<Caller, String> {
        let mut caller = Caller::clone(&self.caller);
        if let Some(cwd) = cwd {
            let directory = working_directory(Some(Path::new(cwd.as_ref())));
            caller.workspace = directory.map_err(|error| error.to_string())?;
        }
        caller.policy = match config {
            Some(config) => inline(config)?,
            None if self.named => caller.policy,
            None => self.engine.layers(&caller.workspace),
        };
        match session {
            Some(SessionField::Id(id)) => {
                caller.session_name = Some(id.clone());
                caller.session = SessionSource::Kept(id);
            }
            Some(SessionField::State(state)) => caller.session = SessionSource::Given(state),
            None => {}
        }
        Ok(caller)
    }
}

/// The policy given with a line: an object, or the path of a file.
fn inline(config: &RawValue) -> Result<PolicySource, String> {
    let text = config.get();
    if text.starts_with('"') {
        let path: String = serde_json::from_str(text).map_err(|error| error.to_string())?;
        return Ok(PolicySource::File(PathBuf::from(path)));
    }
    Ok(PolicySource::Inline(text.to_owned()))
}
