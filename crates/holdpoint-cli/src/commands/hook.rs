//! `holdpoint hook`: answer an agent before it makes a call, and before its model reads what came of it.
//!
//! A process for each call, so it starts nothing it does not need. Whatever goes wrong ends in a
//! refusal with text: most agents let a call run when their hook only fails.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use holdpoint_agents::hook::{
    Agent, Answer, Gatekeeper, HookCall, MAX_PAYLOAD, Pause, Problem, Prompted, Reply, Returned,
};
use holdpoint_agents::setup;
use holdpoint_broker::{BrokerHost, Event};
use holdpoint_core::Explained;
use holdpoint_core::text::Origin;
use holdpoint_daemon::webhook;
use holdpoint_engine::holding::{self, House, Released, release};
use holdpoint_engine::inspecting::{self, Incoming, Inspected, origin_of};
use holdpoint_engine::{
    Decision, ErrorLog, Failed, Method, OnError, Outcome, Policy, SessionId, Sessions, ToolCall,
    Verdict, shown, text_without_secrets,
};
use holdpoint_sandbox::last_words;
use lexopt::Arg;

use crate::desk::{Asker, Desk, DeskError, InSession, Under, directory};
use crate::exit::Exit;

/// Answers if the arguments are those of `holdpoint hook`. Asked for help it leaves that to clap.
pub(crate) fn called(arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.skip(1);
    if arguments.next()? != "hook" {
        return None;
    }
    match agent_in(lexopt::Parser::from_args(arguments)) {
        Ok(Some(agent)) => Some(answer(agent)),
        Ok(None) => None,
        // An agent may have been told to run this, so it is no mere usage error.
        Err(problem) => {
            let _ = writeln!(io::stderr(), "holdpoint: hook: {}", shown(&problem, 500));
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

fn answer(agent: Agent) -> ExitCode {
    if let Err(error) = last_words::arm(agent.last_words()) {
        let text = format!("this process cannot be guarded ({error})");
        return given(&agent.refusal(&Problem::new(text)));
    }
    let desk = Desk::new();
    if let Some(path) = desk.locations().unrecorded() {
        // Without it a breakdown is still a refusal, only one the ledger never hears of.
        let _ = last_words::leave_note_at(&path);
    }
    let mut gate = Gate {
        agent,
        desk,
        under: None,
        session: None,
        call: None,
        on_record: false,
        decided: None,
    };
    let reply = payload()
        .and_then(|payload| agent.answer(&payload, &mut gate))
        .or_else(|problem| gate.settled(problem))
        .unwrap_or_else(|problem| agent.refusal(&problem));
    given(&reply)
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
    desk: Desk,
    /// The policy the call comes under, once that is known.
    under: Option<Under>,
    /// The agent's session, once that is known.
    session: Option<String>,
    /// The call, once it is known.
    call: Option<ToolCall>,
    /// Whether what went wrong is on record, as well as it can be.
    on_record: bool,
    /// What was decided, if only the record failed.
    decided: Option<Verdict>,
}

impl Gatekeeper for Gate {
    fn judge(&mut self, asked: HookCall) -> Result<Answer, String> {
        self.judged(asked).map_err(|error| {
            if let DeskError::Unrecorded(_, verdict) = &error {
                self.on_record = true;
                self.decided = Some(*verdict);
            }
            error.to_string()
        })
    }

    fn stand_by(&mut self, reply: Reply) {
        // This process ends with its answer, so what is kept for good is soon gone.
        let kept = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
        last_words::say_instead(kept(reply.stdout), kept(reply.stderr), reply.code.into());
    }

    fn result(&mut self, returned: &Returned) -> Result<Inspected, String> {
        self.inspected(returned).map_err(|error| error.to_string())
    }

    fn prompt(&mut self, prompted: &Prompted) -> Result<Inspected, String> {
        self.heard(prompted).map_err(|error| error.to_string())
    }

    fn changed(&mut self, file: &str) -> Result<(), String> {
        match setup::loosened(Path::new(file), self.desk.locations()) {
            Ok(None) => Ok(()),
            Ok(Some(problem)) => Err(problem),
            Err(error) => Err(error.to_string()),
        }
    }

    fn pause(&mut self, session: &str, pause: Pause) -> Result<(), String> {
        let sessions = Sessions::at(self.desk.locations()).map_err(|error| error.to_string())?;
        let id = SessionId::new(session);
        let state = sessions.load(&id).map_err(|error| error.to_string())?;
        if state.suspended.is_none() {
            return Ok(());
        }
        let paused = sessions.change(&id, |state| match pause {
            Pause::Turn => state.end_turn(),
            Pause::Idle => state.become_idle(),
        });
        paused.map_err(|error| error.to_string())
    }
}

impl Gate {
    /// What becomes of a problem: a refusal, or silence where the policy wants that. Either is put
    /// on record, and told without secrets.
    fn settled(&mut self, mut problem: Problem) -> Result<Reply, Problem> {
        problem.text = text_without_secrets(&problem.text);
        let left_alone = self.is_left_alone(&problem);
        if !self.on_record {
            // It stands whether or not it can be recorded.
            let outcome = Outcome::Failed(Failed {
                call: self.call.as_ref(),
                left_alone,
                ..self.asker().failed(&problem.text)
            });
            let _ = self
                .desk
                .recorder()
                .map(|recorder| recorder.record(&outcome));
        }
        match left_alone {
            true => Ok(self.agent.deferred(&problem)),
            false => Err(problem),
        }
    }

    fn asker(&self) -> Asker<'_> {
        Asker {
            agent: self.agent.name(),
            session: self.session.as_deref(),
        }
    }

    fn judged(&mut self, asked: HookCall) -> Result<Answer, DeskError> {
        let can_be_held = asked.can_be_held();
        let context = asked.context.clone();
        let patience = asked.patience;
        let (workspace, directory) = self.place(asked.directory.as_deref())?;
        let standing = directory.to_str().ok_or(DeskError::Directory)?.to_owned();
        let call = asked.call.in_directory(standing.as_str());
        let under = Under::LayersAt(workspace.clone(), directory);
        self.under = Some(under.clone());
        let session = asked.session.as_deref().unwrap_or(NO_SESSION);
        let kept = InSession::Kept(session.to_owned());
        self.session = asked.session.clone();
        let asker = Asker {
            agent: self.agent.name(),
            session: asked.session.as_deref(),
        };
        self.desk.enter_turn(session, &context)?;
        let call = self.call.insert(call);
        let decision = self.desk.answer(asker, call, &under, &kept, &workspace)?;
        if !can_be_held || !matches!(decision.verdict, Verdict::Ask | Verdict::Review) {
            return Ok(decision.into());
        }
        // Whatever goes wrong from here on, a person was to be asked.
        self.decided = Some(decision.verdict);
        let named = self.desk.locations().named.as_ref();
        let asked = holdpoint_broker::CallContext {
            agent: self.agent.name().to_owned(),
            session: session.to_owned(),
            tool: call.tool().to_owned(),
            input: call.input().clone(),
            directory: standing,
            workspace: workspace.to_str().ok_or(DeskError::Directory)?.to_owned(),
            config: named.and_then(|path| path.to_str()).map(str::to_owned),
            context,
        };
        let policy = self.desk.policy(&under)?;
        self.held(&asked, &policy, decision, patience)
    }

    fn inspected(&mut self, returned: &Returned) -> Result<Inspected, DeskError> {
        let (policy, directory) =
            self.circumstances(returned.session.as_deref(), returned.directory.as_deref())?;
        let call = returned.call.clone().in_directory(directory.as_str());
        let call = &*self.call.insert(call);
        let mut unclear = None;
        let origin = origin_of(call, || {
            let directory = Path::new(&directory);
            let action = self.desk.understood(call, &policy, directory);
            let explained = action.and_then(|action| self.desk.explained(&action, directory));
            explained.unwrap_or_else(|error| {
                unclear = Some(error);
                Explained::default()
            })
        });
        if let Some(error) = unclear {
            return Err(error);
        }
        let incoming = Incoming {
            agent: self.agent.name(),
            session: self.session.as_deref().unwrap_or(NO_SESSION),
            directory: Some(&directory),
            tool: Some((call.tool(), &returned.input)),
            origin,
            replaceable: returned.replaceable,
            policy: &policy,
        };
        let locations = self.desk.locations();
        inspecting::inspect_value(locations, &incoming, &returned.response)
            .map_err(DeskError::Inspecting)
    }

    fn heard(&mut self, prompted: &Prompted) -> Result<Inspected, DeskError> {
        let (policy, directory) =
            self.circumstances(prompted.session.as_deref(), prompted.directory.as_deref())?;
        let incoming = Incoming {
            agent: self.agent.name(),
            session: self.session.as_deref().unwrap_or(NO_SESSION),
            directory: Some(&directory),
            tool: None,
            origin: Origin::User,
            replaceable: false,
            policy: &policy,
        };
        inspecting::inspect_prompt(self.desk.locations(), &incoming, &prompted.text)
            .map_err(DeskError::Inspecting)
    }

    /// The policy a text comes under, and the directory its agent stands in.
    fn circumstances(
        &mut self,
        session: Option<&str>,
        standing: Option<&str>,
    ) -> Result<(Rc<Policy>, String), DeskError> {
        self.session = session.map(str::to_owned);
        let (workspace, directory) = self.place(standing)?;
        let standing = directory.to_str().ok_or(DeskError::Directory)?.to_owned();
        let under = Under::LayersAt(workspace, directory);
        self.under = Some(under.clone());
        Ok((self.desk.policy(&under)?, standing))
    }

    /// Holds a call that a person is to be asked about.
    fn held(
        &self,
        asked: &holdpoint_broker::CallContext,
        policy: &Policy,
        decision: Decision,
        patience: Option<Duration>,
    ) -> Result<Answer, DeskError> {
        let house = House::at(self.desk.locations()).with_webhooks(webhook::build);
        // A person may take their time; the agent is told to wait for longer than this, if it can be.
        let wanted = Duration::from_secs(policy.answer_wait());
        let wait = patience.map_or(wanted, |patience| wanted.min(patience));
        last_words::take_time(wait + TO_ANSWER)
            .map_err(|error| DeskError::NotHeld(error.to_string()))?;
        let not_held = |problem: holdpoint_broker::Problem| DeskError::NotHeld(problem.0);
        let told = match holding::hold(&house, policy, asked, &decision, wait, &|| false)
            .map_err(not_held)?
        {
            holding::Answer::AskAgent => return Ok(decision.into()),
            holding::Answer::StillWaiting { id, waited } => {
                let decision = still_waiting(decision, &id, waited);
                house
                    .record(Event::Judged {
                        asked,
                        decision: &decision,
                    })
                    .map_err(not_held)?;
                return Ok(decision.into());
            }
            holding::Answer::Told(told) => told,
        };
        let answered = Decision {
            verdict: told.verdict,
            method: told.method,
            reason: text_without_secrets(&told.reason),
            ..decision
        };
        if !told.verdict.runs() {
            return Ok(answered.into());
        }
        let runs = match &told.edited {
            Some(input) => asked.with_input(input.clone()),
            None => asked.clone(),
        };
        match release(&house, &runs, &told).map_err(not_held)? {
            Released::Refused(decision) => Ok((*decision).into()),
            Released::Runs => Ok(Answer {
                decision: answered,
                edited: told.edited,
            }),
        }
    }

    /// Where the agent belongs and where it stands. It belongs where it was started, if it says:
    /// where it stands it chooses itself, and walking away must not change what may be done.
    fn place(&self, standing: Option<&str>) -> Result<(PathBuf, PathBuf), DeskError> {
        let variable = self.agent.workspace_variable();
        let started = variable
            .and_then(env::var_os)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute());
        let standing = directory(standing.map(Path::new).or(started.as_deref()))?;
        let workspace = match started {
            Some(started) if started != standing => directory(Some(&started))?,
            // The same place, already followed to where it really is.
            Some(_) | None => standing.clone(),
        };
        Ok((workspace, standing))
    }

    /// Whether silence takes the place of a refusal: the policy wants that, it can be written down,
    /// and nothing is known against the call.
    fn is_left_alone(&mut self, problem: &Problem) -> bool {
        if self.decided.is_some_and(|verdict| !verdict.runs()) {
            return false;
        }
        let under = match self.under.take() {
            Some(under) => Some(under),
            None => self
                .place(None)
                .ok()
                .map(|(workspace, directory)| Under::LayersAt(workspace, directory)),
        };
        let policy = under.and_then(|under| self.desk.policy(&under).ok());
        if policy.is_none_or(|policy| policy.on_error() == OnError::Deny) {
            return false;
        }
        ErrorLog::at(self.desk.locations())
            .is_some_and(|log| log.add(self.agent.name(), &problem.text).is_ok())
    }
}

/// The session of an agent that does not say.
const NO_SESSION: &str = "default";

/// The time to answer in once a person has.
const TO_ANSWER: Duration = Duration::from_secs(20);

/// What an agent is told whose call still waits.
fn still_waiting(decision: Decision, id: &str, waited: Duration) -> Decision {
    Decision {
        verdict: Verdict::Deny,
        method: Method::Timeout,
        reason: format!(
            "it is held as request `{id}`, and nobody has answered within {} s. It stays open: make \
             the identical call again later, and it gets the answer that came meanwhile",
            waited.as_secs()
        ),
        ..decision
    }
}

/// Hands the reply over; one that is lost on the way is no permission.
fn given(reply: &Reply) -> ExitCode {
    let _ = io::stderr().write_all(reply.stderr.as_bytes());
    if reply.stdout.is_empty() {
        return ExitCode::from(reply.code);
    }
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(reply.stdout.as_bytes())
        .and_then(|()| stdout.flush());
    let lost = written.is_err() || (reply.must_be_heard && nobody_listens());
    if !lost {
        return ExitCode::from(reply.code);
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
