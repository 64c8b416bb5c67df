//! `holdpoint hook`: answer an agent before it makes a call, and before its model reads what came of it.
//!
//! A process for each call, so it starts nothing it does not need. Whatever goes wrong ends in a
//! refusal with text: most agents let a call run when their hook only fails.

mod containing;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use holdpoint_agents::hook::{
    Agent, Cause, Gatekeeper, HookCall, HookDecision, MAX_PAYLOAD, Problem, Prompted, Reply,
    Returned,
};
use holdpoint_agents::setup;
use holdpoint_broker::Context;
use holdpoint_cli::policy_text;
use holdpoint_daemon::webhook;
use holdpoint_engine::holding::{Approvers, Asking, Dialog};
use holdpoint_engine::inspecting::Inspected;
use holdpoint_engine::pipeline::{self, Outcome, Refusal};
use holdpoint_engine::{
    Caller, Engine, EngineError, ErrorLog, Failed, Locations, NO_SESSION, OnError, ReplyForm,
    SessionId, SessionSource, SessionState, Sessions, ToolCall, Verdict, escape_for_display,
    working_directory,
};
use holdpoint_sandbox::{interrupt, last_words, start};
use lexopt::Arg;
use serde_json::Value;

use self::containing::unwrapped;
use crate::exit::Exit;

/// Answers if the arguments are those of `holdpoint hook`. Asked for help it leaves that to clap.
pub(crate) fn called(arguments: impl Iterator<Item = OsString>) -> Option<u8> {
    let mut arguments = arguments.skip(1);
    if arguments.next()? != "hook" {
        return None;
    }
    match agent_in(lexopt::Parser::from_args(arguments)) {
        Ok(Some(agent)) => Some(answer(agent)),
        Ok(None) => None,
        // An agent may have been told to run this, so it is no mere usage error.
        Err(problem) => {
            let _ = writeln!(
                io::stderr(),
                "holdpoint: hook: {}",
                escape_for_display(&problem, 500)
            );
            Some(Exit::Denied.into())
        }
    }
}

/// The one argument; none if help is asked for.
fn agent_in(mut arguments: lexopt::Parser) -> Result<Option<Agent>, String> {
    let mut found = None;
    while let Some(argument) = arguments.next().map_err(|error| error.to_string())? {
        match argument {
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            Arg::Value(name) if found.is_none() => {
                let name = name.to_string_lossy();
                let agent = Agent::from_name(&name);
                found = Some(agent.ok_or_else(|| {
                    format!("the agent `{name}` is not known: use {}", known_agents())
                })?);
            }
            other @ (Arg::Short(_) | Arg::Long(_) | Arg::Value(_)) => {
                return Err(other.unexpected().to_string());
            }
        }
    }
    match found {
        Some(agent) => Ok(Some(agent)),
        None => Err(format!("no agent is named: use {}", known_agents())),
    }
}

fn known_agents() -> String {
    Agent::ALL.map(Agent::name).join(", ")
}

fn answer(agent: Agent) -> u8 {
    if let Err(error) = last_words::arm(agent.last_words()) {
        let text = format!("this process cannot be guarded ({error})");
        return given(&agent.refusal(&Problem::new(text)));
    }
    let engine = Engine::at(&Locations::of_this_machine())
        .with_webhooks(webhook::build)
        .with_policy_writer(policy_text::add_allowed);
    if let Some(path) = engine.locations().unrecorded() {
        // Without it a breakdown is still a refusal, only one the ledger never hears of.
        let _ = last_words::leave_note_at(&path);
    }
    let mut gate = Gate {
        agent,
        engine,
        caller: None,
        call: None,
    };
    let reply = payload()
        .and_then(|payload| agent.answer(&payload, &mut gate))
        .or_else(|problem| gate.settled(problem))
        .unwrap_or_else(|problem| agent.refusal(&problem));
    // What this process holds, the system takes back faster than it could give it back.
    start::leave(given(&reply))
}

fn payload() -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    // One more than may be, so that too much is seen.
    let most = u64::try_from(MAX_PAYLOAD).unwrap_or(u64::MAX) + 1;
    match io::stdin().lock().take(most).read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(Problem::new(format!(
            "standard input cannot be read ({})",
            error.kind()
        ))),
    }
}

/// Where the calls of one agent are judged.
struct Gate {
    agent: Agent,
    engine: Engine,
    /// Who makes the call, once that is known.
    caller: Option<Arc<Caller>>,
    /// The call, once it is known.
    call: Option<ToolCall>,
}

impl Gatekeeper for Gate {
    fn judge(&mut self, asked: HookCall) -> Result<HookDecision, EngineError> {
        let context = asked.context.clone();
        let (caller, standing) = self.caller(
            asked.session.as_deref(),
            asked.directory.as_deref(),
            context,
        )?;
        // A line that was wrapped and is asked about again is the line in it.
        let call = unwrapped(asked.call.clone()).in_directory(standing);
        self.call = Some(call.clone());
        let caller = Arc::new(Caller {
            can_contain: asked.can_be_contained(),
            ..Caller::clone(&caller)
        });
        self.engine.note_call(&caller);
        let judged = self.engine.judge_containing(
            call,
            Arc::clone(&caller),
            |decided| containing::can_be_wrapped(&asked, &caller, decided, self.engine.locations()),
            |decided| containing::can_be_rewritten(&asked, &caller, decided),
        )?;
        // A person may take their time; the agent is told to wait for longer than this, if it can be.
        let take_time = |wait| {
            last_words::note_stops(true);
            last_words::take_time(wait + TO_ANSWER)
        };
        // An agent that stops its hook, or no longer listens to it, has given the call up.
        let given_up = || last_words::was_told_to_stop() || interrupt::output_is_closed();
        let held = match judged.verdict() {
            Verdict::Ask | Verdict::Review if asked.can_be_held() => judged.hold(Asking {
                patience: asked.patience,
                takes_edits: asked.takes_edits(),
                cancelled: &given_up,
                before_waiting: &take_time,
                ..Asking::by(Approvers::AsPolicySays(match asked.has_dialog() {
                    true => Dialog::Own,
                    false => Dialog::None,
                }))
            })?,
            Verdict::Allow
            | Verdict::Notify
            | Verdict::Contain
            | Verdict::Ask
            | Verdict::Review
            | Verdict::Deny => judged.hold(Asking::by(Approvers::HandsOn))?,
        };
        last_words::note_stops(false);
        let answer: HookDecision = match held.release()? {
            Outcome::Runs(permit) if permit.is_contained() => {
                let wrapped = containing::wrapped(&self.engine, &asked, &caller, &permit)?;
                let (decision, _) = permit.hand_over();
                HookDecision {
                    edited: Some(wrapped),
                    ..decision.into()
                }
            }
            Outcome::Runs(permit) => {
                let rewritten = permit.was_rewritten();
                let (decision, edited) = permit.hand_over();
                HookDecision {
                    edited,
                    rewritten,
                    ..decision.into()
                }
            }
            Outcome::HandedOn(decision) => decision.into(),
            // The agent has no word for a question, and says so in its own.
            Outcome::Refused(Refusal {
                unasked: Some(asked),
                ..
            }) => (*asked).into(),
            Outcome::Refused(refusal) => refusal.decision.into(),
        };
        let reply = match answer.decision.verdict {
            Verdict::Deny => self.engine.policy(&caller.policy)?.reply(),
            // Only a denial has more than one form.
            Verdict::Allow
            | Verdict::Notify
            | Verdict::Contain
            | Verdict::Ask
            | Verdict::Review => ReplyForm::default(),
        };
        Ok(HookDecision { reply, ..answer })
    }

    fn stand_by(&mut self, reply: Reply) {
        // This process ends with its answer, so what is kept for good is soon gone.
        let kept = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
        last_words::say_instead(kept(reply.stdout), kept(reply.stderr), reply.code.into());
    }

    fn result(&mut self, returned: &Returned) -> Result<Inspected, EngineError> {
        let (session, directory) = (returned.session.as_deref(), returned.directory.as_deref());
        let (caller, standing) = self.caller(session, directory, Context::default())?;
        let call = unwrapped(returned.call.clone()).in_directory(standing);
        self.call = Some(call.clone());
        let input = Value::Object(call.input().clone());
        let result = pipeline::Returned {
            input: match call.input() == returned.call.input() {
                true => &returned.input,
                false => &input,
            },
            value: &returned.response,
            replaceable: returned.replaceable,
            succeeded: match returned.failed {
                true => Some(false),
                // An agent that has a word for failures means success by the other one.
                false => self.agent.tells_failures().then_some(true),
            },
        };
        let usual = self.agent.last_words().deadline;
        let take_time = |more: Duration| {
            // Without it the hook ends sooner, and says so; nothing more goes on.
            let _ = last_words::take_time(usual + more);
        };
        self.engine
            .inspect_result(&caller, call, &result, &take_time)
    }

    fn prompt(&mut self, prompted: &Prompted) -> Result<Inspected, EngineError> {
        let (session, directory) = (prompted.session.as_deref(), prompted.directory.as_deref());
        let (caller, standing) = self.caller(session, directory, Context::default())?;
        if let Some(session) = session
            && self.has_worked_since_suspension(session)?
        {
            self.turn_ended(session)?;
        }
        self.engine
            .inspect_prompt(&caller, &standing, &prompted.text)
    }

    fn changed(&mut self, file: &str) -> Result<(), String> {
        match setup::loosened(Path::new(file), self.engine.locations()) {
            Ok(None) => Ok(()),
            Ok(Some(problem)) => Err(problem),
            Err(error) => Err(error.to_string()),
        }
    }

    fn turn_ended(&mut self, session: &str) -> Result<(), EngineError> {
        let sessions = Sessions::at(self.engine.locations())?;
        let id = SessionId::new(session);
        if !sessions.load(&id)?.suspended.is_none() {
            sessions.change(&id, SessionState::become_idle)?;
        }
        Ok(())
    }
}

impl Gate {
    /// What becomes of a problem: a refusal, or silence where the policy wants that. Either is put
    /// on record, and told without secrets.
    fn settled(&mut self, problem: Problem) -> Result<Reply, Problem> {
        let (decided, on_record) = match &problem.cause {
            Cause::Engine(error) => (error.decided(), error.is_on_record()),
            Cause::Text(_) => (None, false),
        };
        let left_alone = decided.is_none_or(Verdict::runs) && self.is_left_alone(&problem);
        if !on_record {
            let caller = self.caller.as_deref();
            self.engine.record_failure(&Failed {
                agent: self.agent.name(),
                session: caller.and_then(|caller| caller.session_name.as_deref()),
                call: self.call.as_ref(),
                problem: &problem.text(),
                left_alone,
                replayed: None,
            });
        }
        match left_alone {
            true => Ok(self.agent.deferred(&problem)),
            false => Err(problem),
        }
    }

    /// Whether calls were made since a session was last changed. Then the turn in which its prompts were suspended is over
    /// when its user writes again, for agents that do not say when it ends; somebody who suspends them and then gives a
    /// task means the task.
    fn has_worked_since_suspension(&self, session: &str) -> Result<bool, EngineError> {
        let sessions = Sessions::at(self.engine.locations())?;
        let id = SessionId::new(session);
        let (changed, called) = (sessions.last_change(&id), sessions.last_call(&id));
        Ok(matches!((changed, called), (Some(changed), Some(called)) if called > changed))
    }

    /// Who makes a call, and the directory they stand in.
    fn caller(
        &mut self,
        session: Option<&str>,
        standing: Option<&str>,
        circumstances: Context,
    ) -> Result<(Arc<Caller>, String), EngineError> {
        let (workspace, directory) = self.place(standing)?;
        let standing = directory.to_str().ok_or(EngineError::Directory)?.to_owned();
        let caller = Arc::new(Caller {
            agent: self.agent.name().to_owned(),
            session_name: session.map(str::to_owned),
            policy: self.engine.layers_at(&workspace, &directory),
            session: SessionSource::Kept(session.unwrap_or(NO_SESSION).to_owned()),
            workspace,
            can_contain: false,
            circumstances,
        });
        self.caller = Some(Arc::clone(&caller));
        Ok((caller, standing))
    }

    /// Where the agent belongs and where it stands. It belongs where it was started, if it says:
    /// where it stands it chooses itself, and walking away must not change what may be done.
    fn place(&self, standing: Option<&str>) -> Result<(PathBuf, PathBuf), EngineError> {
        let variable = self.agent.workspace_variable();
        let started = variable
            .and_then(env::var_os)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute());
        let standing = working_directory(standing.map(Path::new).or(started.as_deref()))?;
        let workspace = match started {
            Some(started) if started != standing => working_directory(Some(&started))?,
            // The same place, already followed to where it really is.
            Some(_) | None => standing.clone(),
        };
        Ok((workspace, standing))
    }

    /// Whether silence takes the place of a refusal of a call that nothing is known against: the policy
    /// wants that, and it can be written down.
    fn is_left_alone(&self, problem: &Problem) -> bool {
        let source = match &self.caller {
            Some(caller) => Some(caller.policy.clone()),
            None => {
                let place = self.place(None).ok();
                place.map(|(workspace, directory)| self.engine.layers_at(&workspace, &directory))
            }
        };
        let policy = source.and_then(|source| self.engine.policy(&source).ok());
        if policy.is_none_or(|policy| policy.on_error() == OnError::Deny) {
            return false;
        }
        ErrorLog::at(self.engine.locations())
            .is_some_and(|log| log.add(self.agent.name(), &problem.text()).is_ok())
    }
}

/// The time to answer in once a person has.
const TO_ANSWER: Duration = Duration::from_secs(20);

/// Hands the reply over; one that is lost on the way is no permission.
fn given(reply: &Reply) -> u8 {
    let _ = io::stderr().write_all(reply.stderr.as_bytes());
    if reply.stdout.is_empty() {
        return reply.code;
    }
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(reply.stdout.as_bytes())
        .and_then(|()| stdout.flush());
    let lost = written.is_err() || (reply.must_be_heard && nobody_listens());
    if !lost {
        return reply.code;
    }
    if reply.stderr.is_empty() {
        let _ = writeln!(
            io::stderr(),
            "Holdpoint denied this, because its answer could not be handed over."
        );
    }
    Exit::Denied.into()
}

/// Whether standard output is thrown away. The runtime puts the null device in the place of one
/// that is closed, so a write to it succeeds.
#[cfg(unix)]
fn nobody_listens() -> bool {
    use std::os::unix::fs::MetadataExt;
    let device = |path: &str| fs::metadata(path).ok().map(|found| found.rdev());
    matches!((device("/dev/stdout"), device("/dev/null")), (Some(out), Some(null)) if out == null)
}

#[cfg(not(unix))]
fn nobody_listens() -> bool {
    false
}
