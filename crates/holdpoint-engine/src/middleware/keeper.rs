//! The gatekeeper: what happens to a call from the moment a model makes it.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use holdpoint_broker::{CallContext, Context, Prepared, Problem};
use holdpoint_core::{Method, SessionState, ToolCall};

use super::builder::Builder;
use super::cancel::Cancel;
use super::pass::{CANCELLED, Pass};
use super::permission::{Executed, Permission};
use super::previews::{Previews, introduced, said_of};
use super::toolbox::{Tool, Toolbox, run_safely};
use super::turns::Turns;
use crate::context::{Caller, GivenPolicy, PolicySource, SessionSource};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::holding::{self, Approvers, Dialog};
use crate::pipeline::{Held, Outcome, ToolResult};
use crate::recording::Failed;
use crate::sessions::{SessionError, SessionId, Sessions};

/// The most tools a session is said to have called before: enough to see what led to a call. The oldest are left out.
const MAX_PREVIOUS: usize = 50;

/// Stands between a model and its tools: every call it is handed is judged, held where a person is
/// to be asked, run, and recorded. A clone is the same gatekeeper; it may be used from many threads.
#[derive(Clone)]
pub struct Gatekeeper {
    pub(super) inner: Arc<Inner>,
}

/// Where a gatekeeper stands, and for whom.
pub(super) struct Inner {
    pub(super) engine: Engine,
    pub(super) agent: String,
    pub(super) session: String,
    pub(super) workspace: String,
    /// The policy, if it was given in place of the files.
    pub(super) policy: Option<GivenPolicy>,
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
                    Ok(value) => ToolResult::Returned(value),
                    Err(error) => ToolResult::Failed(error),
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
        &self.inner.session
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
        Sessions::at(self.inner.engine.locations())
    }

    fn session_id(&self) -> SessionId {
        SessionId::new(&self.inner.session)
    }

    fn context(&self) -> MutexGuard<'_, Context> {
        let context = self.inner.context.lock();
        context.unwrap_or_else(PoisonError::into_inner)
    }

    /// Who makes a call, and what it comes under.
    pub(super) fn caller(&self, call: &ToolCall) -> Caller {
        let inner = &self.inner;
        let mut circumstances = self.context().clone();
        circumstances
            .session_id
            .get_or_insert_with(|| inner.session.clone());
        let workspace = Path::new(&inner.workspace);
        let directory = call.cwd().map_or(workspace, Path::new);
        Caller {
            agent: inner.agent.clone(),
            session_name: Some(inner.session.clone()),
            policy: match &inner.policy {
                Some(given) => PolicySource::Given(given.clone()),
                None => inner.engine.layers_at(workspace, directory),
            },
            session: SessionSource::Kept(inner.session.clone()),
            workspace: workspace.to_owned(),
            can_contain: false,
            circumstances,
        }
    }

    /// A call in the directory it is made in.
    pub(super) fn placed(&self, call: &ToolCall) -> ToolCall {
        match call.cwd() {
            Some(_) => call.clone(),
            None => call.clone().in_directory(self.inner.workspace.as_str()),
        }
    }

    /// Finds out whether a call may run: everything that comes before the tool.
    pub(super) fn admit(&self, call: &ToolCall, cancel: &Cancel) -> Result<Pass, Box<Executed>> {
        let call = self.placed(call);
        match self.admitted(&call, cancel) {
            Ok(admitted) => admitted,
            Err(error) => {
                let problem = error.to_string();
                if !error.is_on_record() {
                    self.record_failure(&call, &problem);
                }
                Err(Box::new(Executed::failed(call, &problem)))
            }
        }
    }

    fn admitted(
        &self,
        call: &ToolCall,
        cancel: &Cancel,
    ) -> Result<Result<Pass, Box<Executed>>, EngineError> {
        let caller = Arc::new(self.caller(call));
        let judged = self.inner.engine.judge(call.clone(), caller)?;
        let cancelled = || cancel.is_cancelled();
        let introduce = |asked: &CallContext, prepared| self.introduced(asked, prepared);
        let mut visitor;
        let approvers = match &self.inner.asking {
            Asking::Nobody => Approvers::Nobody,
            Asking::AsPolicySays => Approvers::AsPolicySays(Dialog::None),
            Asking::Through(turns) => {
                visitor = turns.visitor();
                Approvers::Through(&mut visitor)
            }
        };
        let held = judged.hold(holding::Asking {
            cancelled: &cancelled,
            introduce: Some(&introduce),
            ..holding::Asking::by(approvers)
        })?;
        if matches!(held, Held::Released(_)) && cancel.is_cancelled() {
            self.record_failure(call, CANCELLED);
            let permission = Permission::refused(Method::UserDenied, CANCELLED);
            let refused = Executed::refused(call.clone(), permission, None);
            return Ok(Err(Box::new(refused)));
        }
        Ok(match held.release()? {
            Outcome::Runs(permit) => Ok(Pass::new(self.clone(), *permit)),
            Outcome::Refused(refusal) => Err(Box::new(Executed::refused_by(call, &refusal))),
            // There is no dialog to hand it on to.
            Outcome::HandedOn(decision) => {
                let permission = Permission::refused(Method::NoChannel, decision.reason);
                Err(Box::new(Executed::refused(call.clone(), permission, None)))
            }
        })
    }

    /// What a person is shown of a call, in the tool's words where it has any.
    fn introduced(&self, asked: &CallContext, prepared: Prepared) -> Result<Prepared, Problem> {
        match said_of(&self.inner.previews, asked)? {
            None => Ok(prepared),
            Some(said) => Ok(Prepared {
                display: introduced(prepared.display, said),
                ..prepared
            }),
        }
    }

    /// A tool was run.
    pub(super) fn ran(&self, tool: &str) {
        let previous = &mut self.context().previous_tools;
        previous.push(tool.to_owned());
        let excess = previous.len().saturating_sub(MAX_PREVIOUS);
        previous.drain(..excess);
    }

    /// Puts on record that a call did not run. It does not run whether or not this can be written.
    pub(super) fn record_failure(&self, call: &ToolCall, problem: &str) {
        self.inner.engine.record_failure(&Failed {
            agent: &self.inner.agent,
            session: Some(&self.inner.session),
            call: Some(call),
            problem,
            left_alone: false,
            replayed: None,
        });
    }
}

impl std::fmt::Debug for Gatekeeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gatekeeper")
            .field("agent", &self.inner.agent)
            .field("session", &self.inner.session)
            .field("workspace", &self.inner.workspace)
            .finish_non_exhaustive()
    }
}
