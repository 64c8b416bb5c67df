//! The gatekeeper: what happens to a call from the moment a model makes it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use holdpoint_broker::{
    BrokerHost, CallContext, Context, Event, Judged, Problem, Resolution, local,
};
use holdpoint_core::{Decision, Method, SessionState, ToolCall, Verdict};

use super::builder::Builder;
use super::cancel::Cancel;
use super::pass::{CANCELLED, Ending, Pass};
use super::permission::{Executed, Permission};
use super::previews::{Introduced, Previews, said_of};
use super::toolbox::{Tool, Toolbox, run_safely};
use super::turns::Turns;
use crate::excerpt::text_without_secrets;
use crate::holding::{self, House, Released, Way};
use crate::recording::{Answered, Failed, Outcome, Ran, Recorder};
use crate::sessions::{SessionError, SessionId, Sessions};

/// The most tools a session is said to have called before.
const MOST_PREVIOUS: usize = 50;

/// Stands between a model and its tools: every call it is handed is judged, held where a person is
/// to be asked, run, and recorded. A clone is the same gatekeeper; it may be used from many threads.
#[derive(Clone)]
pub struct Gatekeeper {
    pub(super) post: Arc<Post>,
}

/// Where a gatekeeper stands, and for whom.
pub(super) struct Post {
    pub(super) house: House,
    pub(super) agent: String,
    pub(super) session: String,
    pub(super) workspace: String,
    /// A policy file named in place of the search.
    pub(super) config: Option<String>,
    /// Whether the policy was given by the caller, so that no other process knows it.
    pub(super) own_policy: bool,
    pub(super) context: Mutex<Context>,
    pub(super) asking: Asking,
    pub(super) previews: Previews,
}

/// How a person is asked.
pub(super) enum Asking {
    /// Nobody is: what would be asked is refused (J-47).
    Nobody,
    /// In the way the policy wants.
    AsPolicySays,
    /// Through a channel of the caller's.
    Through(Turns),
}

impl Gatekeeper {
    /// Says where a gatekeeper stands, step by step.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Judges a call, holds it if a person is to be asked, and runs `tool` if it may run. Waits for
    /// as long as that takes.
    pub fn execute(&self, call: &ToolCall, tool: impl Tool) -> Executed {
        self.execute_with(call, &Cancel::new(), tool)
    }

    /// The same, for a call that may be called off while a person is being asked. A tool that has
    /// started is not stopped.
    pub fn execute_with(&self, call: &ToolCall, cancel: &Cancel, tool: impl Tool) -> Executed {
        match self.admit(call, cancel) {
            Err(refused) => *refused,
            Ok(mut pass) => {
                pass.begin();
                let ending = match run_safely(tool, pass.call()) {
                    Ok(value) => Ending::Returned(value),
                    Err(error) => Ending::Failed(error),
                };
                pass.end(ending)
            }
        }
    }

    /// The same with the tool the call names. One that is not there is an error before anybody is
    /// asked (J-59).
    pub fn execute_from(&self, tools: &Toolbox, call: &ToolCall) -> Executed {
        match tools.find(call.tool()) {
            Some(tool) => self.execute(call, tool),
            None => self.without_executor(call),
        }
    }

    fn without_executor(&self, call: &ToolCall) -> Executed {
        let problem = format!("No tool `{}` is there to run this", call.tool());
        self.record_failure(call, &problem);
        let permission = Permission::refused(Method::Error, problem.clone());
        let mut executed = Executed::refused(call.clone(), permission, None);
        if let Some(error) = executed.value.get_mut("error") {
            *error = problem.into();
        }
        executed
    }

    /// What is known about the circumstances of the calls that follow (J-54).
    pub fn set_context(&self, context: Context) {
        *self.context() = context;
    }

    /// Changes what is known about them.
    pub fn change_context(&self, change: impl FnOnce(&mut Context)) {
        change(&mut self.context());
    }

    /// The session calls come under.
    pub fn session(&self) -> &str {
        &self.post.session
    }

    /// What the session remembers.
    pub fn remembered(&self) -> Result<SessionState, SessionError> {
        self.sessions()?.load(&self.session_id())
    }

    /// The model's turn has ended: prompts that were off until then are on again (J-41).
    pub fn end_turn(&self) -> Result<(), SessionError> {
        self.sessions()?
            .change(&self.session_id(), SessionState::end_turn)
    }

    /// The session has become idle.
    pub fn become_idle(&self) -> Result<(), SessionError> {
        self.sessions()?
            .change(&self.session_id(), SessionState::become_idle)
    }

    fn sessions(&self) -> Result<Sessions, SessionError> {
        Sessions::at(self.post.house.locations())
    }

    fn session_id(&self) -> SessionId {
        SessionId::new(&self.post.session)
    }

    fn context(&self) -> MutexGuard<'_, Context> {
        let context = self.post.context.lock();
        context.unwrap_or_else(PoisonError::into_inner)
    }

    /// The call as the house hears of it.
    pub(super) fn asked(&self, call: &ToolCall) -> CallContext {
        let post = &self.post;
        let mut context = self.context().clone();
        context
            .session_id
            .get_or_insert_with(|| post.session.clone());
        CallContext {
            agent: post.agent.clone(),
            session: post.session.clone(),
            tool: call.tool().to_owned(),
            input: call.input().clone(),
            directory: call.cwd().unwrap_or(&post.workspace).to_owned(),
            workspace: post.workspace.clone(),
            config: post.config.clone(),
            context,
        }
    }

    /// Finds out whether a call may run: everything that comes before the tool.
    pub(super) fn admit(&self, call: &ToolCall, cancel: &Cancel) -> Result<Pass, Box<Executed>> {
        match self.admitted(call, cancel) {
            Ok(admitted) => admitted,
            Err(Problem(problem)) => {
                self.record_failure(call, &problem);
                Err(Box::new(Executed::failed(call.clone(), &problem)))
            }
        }
    }

    fn admitted(
        &self,
        call: &ToolCall,
        cancel: &Cancel,
    ) -> Result<Result<Pass, Box<Executed>>, Problem> {
        let asked = self.asked(call);
        let call = asked.call().map_err(|error| Problem(error.to_string()))?;
        let started = Instant::now();
        let judged = self.post.house.judge(&asked)?;
        self.record_decision(&asked, &call, &judged.decision, started)?;
        let instead = judged.decision.instead.clone();
        let told = match judged.decision.verdict {
            Verdict::Allow | Verdict::Notify | Verdict::Deny => {
                Resolution::decided(&judged.decision)
            }
            Verdict::Ask | Verdict::Review => self.hold(&asked, judged, cancel)?,
        };
        let permission = Permission::of(&told);
        if !permission.allowed {
            let instead = instead.filter(|_| told.id.is_none());
            let refused = Executed::refused(call, permission, instead.as_deref());
            return Ok(Err(Box::new(refused)));
        }
        let made = call;
        let asked = match &told.edited {
            Some(input) => asked.with_input(input.clone()),
            None => asked,
        };
        let call = asked.call().map_err(|error| Problem(error.to_string()))?;
        if cancel.is_cancelled() {
            self.record_failure(&made, CANCELLED);
            let permission = Permission::refused(Method::UserDenied, CANCELLED);
            return Ok(Err(Box::new(Executed::refused(call, permission, None))));
        }
        // What was shown is what runs: somebody may have thought for minutes.
        match holding::release(&self.post.house, &asked, &told)? {
            Released::Refused(decision) => {
                let permission = permission.refused_by(&decision);
                Ok(Err(Box::new(Executed::refused(call, permission, None))))
            }
            Released::Runs => Ok(Ok(Pass::new(self.clone(), asked, made, call, permission))),
        }
    }

    /// Has a person answer.
    fn hold(
        &self,
        asked: &CallContext,
        judged: Judged,
        cancel: &Cancel,
    ) -> Result<Resolution, Problem> {
        let house = &self.post.house;
        let world = Introduced {
            world: house,
            previews: &self.post.previews,
        };
        let cancelled = || cancel.is_cancelled();
        match &self.post.asking {
            Asking::Through(turns) => {
                local::hold(&world, &mut turns.visitor(), asked, judged, &cancelled)
            }
            Asking::AsPolicySays => {
                // Whoever asks may be another process, which knows nothing of the tool.
                let said = said_of(&self.post.previews, asked)?;
                if let Some(error) = said.and_then(|said| said.pre_validation_error) {
                    let error = text_without_secrets(&error);
                    return self.turn_away(asked, judged.decision, Method::PreValidation, error);
                }
                let policy = house.policy(asked)?;
                let here = matches!(holding::way(&policy), Way::Channel(_));
                if self.post.own_policy && !here {
                    // The daemon judges by the policy files: its answer would be about another policy.
                    return self.nobody(asked, judged.decision);
                }
                let wait = Duration::from_secs(policy.answer_wait());
                let held = holding::hold(house, &policy, asked, &judged.decision, wait, &cancelled);
                match held? {
                    holding::Answer::Told(told) => Ok(told),
                    holding::Answer::AskAgent => self.nobody(asked, judged.decision),
                    holding::Answer::StillWaiting { id, waited } => Ok(Resolution {
                        id: Some(id),
                        verdict: Verdict::Deny,
                        method: Method::Timeout,
                        reason: format!(
                            "Nobody has answered for {} seconds. The request still waits: make the \
                             same call again to hear the answer",
                            waited.as_secs()
                        ),
                        comment: None,
                        approvers: Vec::new(),
                        edited: None,
                        binding: None,
                    }),
                }
            }
            Asking::Nobody => self.nobody(asked, judged.decision),
        }
    }

    /// The refusal of what a person would have to be asked about, when nobody can be (J-47).
    fn nobody(&self, asked: &CallContext, decision: Decision) -> Result<Resolution, Problem> {
        let reason = format!("Nobody can be asked about this: {}", decision.reason);
        self.turn_away(asked, decision, Method::NoChannel, reason)
    }

    /// Refuses what would be asked without asking, and puts that on record.
    fn turn_away(
        &self,
        asked: &CallContext,
        decision: Decision,
        method: Method,
        reason: String,
    ) -> Result<Resolution, Problem> {
        let refusal = Decision {
            verdict: Verdict::Deny,
            method,
            reason,
            ..decision
        };
        self.post.house.record(Event::Judged {
            asked,
            decision: &refusal,
        })?;
        Ok(Resolution::decided(&refusal))
    }

    /// A tool was run.
    pub(super) fn ran(&self, tool: &str) {
        let previous = &mut self.context().previous_tools;
        previous.push(tool.to_owned());
        let excess = previous.len().saturating_sub(MOST_PREVIOUS);
        previous.drain(..excess);
    }

    fn recorder(&self) -> Result<Recorder, Problem> {
        Recorder::at(self.post.house.locations()).map_err(|error| Problem(error.to_string()))
    }

    fn record_decision(
        &self,
        asked: &CallContext,
        call: &ToolCall,
        decision: &Decision,
        started: Instant,
    ) -> Result<(), Problem> {
        let policy = self.post.house.policy(asked)?;
        let answered = Answered {
            agent: &self.post.agent,
            session: Some(&self.post.session),
            directory: Some(&asked.directory),
            call,
            decision,
            policy: Some(&policy),
            took: Some(started.elapsed()),
            replayed: None,
        };
        self.recorder()?
            .record(&Outcome::Answered(answered))
            .map_err(|error| Problem(error.to_string()))
    }

    /// Puts on record that a call did not run. It does not run whether or not this can be written.
    pub(super) fn record_failure(&self, call: &ToolCall, problem: &str) {
        if let Ok(recorder) = self.recorder() {
            let _ = recorder.record(&Outcome::Failed(Failed {
                agent: &self.post.agent,
                session: Some(&self.post.session),
                call: Some(call),
                problem,
                left_alone: false,
                replayed: None,
            }));
        }
    }

    /// Puts on record what came of a call that ran.
    pub(super) fn record_result(&self, ran: &Ran<'_>) -> Result<(), String> {
        let recorder = self.recorder().map_err(|Problem(problem)| problem)?;
        let policy = self.post.house.policy(ran.asked).ok();
        recorder
            .result(ran, policy.as_deref())
            .map_err(|error| error.to_string())
    }
}

impl std::fmt::Debug for Gatekeeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gatekeeper")
            .field("agent", &self.post.agent)
            .field("session", &self.post.session)
            .field("workspace", &self.post.workspace)
            .finish_non_exhaustive()
    }
}
