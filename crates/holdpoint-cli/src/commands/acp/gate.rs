//! Where the calls an agent asks about are judged, and held if a person is to decide.

use std::sync::Arc;

use holdpoint_broker::Context;
use holdpoint_daemon::webhook;
use holdpoint_engine::holding::{self, Approvers, Asking};
use holdpoint_engine::pipeline::{self, Judged, Outcome};
use holdpoint_engine::{
    Caller, Engine, EngineError, Failed, Locations, Method, SessionSource, ToolCall, Verdict,
    working_directory,
};
use serde_json::{Value, json};

use super::dialog::Dialog;
use super::permission::{Options, Permission, cancelled};
use super::sessions::EditorSession;
use super::wires::{HeldCall, Wires, tell};

/// The agent, as the record names it.
const AGENT: &str = "acp";

/// What is to be done with a request.
pub(super) enum Ruling {
    /// The agent is answered.
    Allow,
    Refuse,
    /// The editor is asked as the agent wants it.
    Pass,
    /// A person is asked.
    Hold(Box<Held>),
}

/// Judges the calls of one agent.
pub(super) struct Gate {
    engine: Engine,
}

impl Gate {
    pub(super) fn new() -> Self {
        let engine = Engine::at(&Locations::of_this_machine());
        Self {
            engine: engine.with_webhooks(webhook::build),
        }
    }

    /// Judges what is asked about. What cannot be is refused, on record and with a word.
    pub(super) fn judge(&mut self, wires: &Wires, asked: Result<Permission, String>) -> Ruling {
        let asked = match asked {
            Ok(asked) => asked,
            Err(problem) => return self.failed(None, None, &problem),
        };
        let session = Some(asked.session.as_str());
        let call = match asked.described.call() {
            Ok(call) => call,
            Err(problem) => return self.failed(session, None, &problem),
        };
        let Some(opened) = wires.sessions.get(&asked.session) else {
            return self.failed(
                session,
                Some(&call),
                "the editor has not opened this session",
            );
        };
        match self.judged(&asked.session, call.clone(), &opened) {
            Ok(ruling) => ruling,
            // The refusal is on record as well as it can be.
            Err(error) if error.is_on_record() => {
                tell(&format!("refused: {error}"));
                Ruling::Refuse
            }
            Err(error) => self.failed(session, Some(&call), &error.to_string()),
        }
    }

    fn judged(
        &self,
        session: &str,
        call: ToolCall,
        opened: &EditorSession,
    ) -> Result<Ruling, EngineError> {
        let workspace = working_directory(Some(&opened.directory))?;
        let standing = workspace.to_str().ok_or(EngineError::Directory)?;
        let call = call.in_directory(standing);
        let caller = Arc::new(Caller {
            agent: AGENT.into(),
            session_name: Some(session.to_owned()),
            policy: self.engine.layers(&workspace),
            session: SessionSource::Kept(session.to_owned()),
            workspace,
            can_contain: false,
            circumstances: context_of(session, opened),
        });
        self.engine.note_call(&caller);
        let judged = self.engine.judge(call.clone(), caller)?;
        if matches!(judged.verdict(), Verdict::Ask | Verdict::Review) {
            return Ok(Ruling::Hold(Box::new(Held {
                engine: self.engine.clone(),
                session: session.to_owned(),
                call,
                judged,
            })));
        }
        let outcome = judged.hold(Asking::by(Approvers::HandsOn))?.release()?;
        let decision = match outcome {
            Outcome::Runs(permit) => permit.hand_over().0,
            Outcome::HandedOn(decision) => decision,
            Outcome::Refused(refusal) => refusal.decision,
        };
        Ok(match (decision.verdict, decision.method) {
            // Whoever is told is told by the dialog the agent wants to show.
            (Verdict::Allow, Method::NoObjection) | (Verdict::Notify, _) => Ruling::Pass,
            (Verdict::Allow, _) => Ruling::Allow,
            // Its commands are the agent's to run, so none is ever contained.
            (Verdict::Contain | Verdict::Ask | Verdict::Review | Verdict::Deny, _) => {
                tell(&format!("refused: {}", decision.reason));
                Ruling::Refuse
            }
        })
    }

    fn failed(&self, session: Option<&str>, call: Option<&ToolCall>, problem: &str) -> Ruling {
        tell(&format!("refused: {problem}"));
        record_failure(&self.engine, session, call, problem);
        Ruling::Refuse
    }
}

/// Puts on record that a call was refused because it could not be judged.
fn record_failure(engine: &Engine, session: Option<&str>, call: Option<&ToolCall>, problem: &str) {
    engine.record_failure(&Failed {
        agent: AGENT,
        session,
        call,
        problem,
        left_alone: false,
        replayed: None,
    });
}

fn context_of(session: &str, opened: &EditorSession) -> Context {
    let mut context = Context {
        session_id: Some(session.to_owned()),
        request_source: Some("acp".into()),
        ..Context::default()
    };
    // A turn of another process is another turn.
    let turn = format!("acp-{}-{}", std::process::id(), opened.turn);
    context.more.insert("prompt_id".into(), json!(turn));
    context
}

/// A call that a person is to decide about.
pub(super) struct Held {
    engine: Engine,
    session: String,
    call: ToolCall,
    judged: Judged,
}

impl Held {
    /// The outcome for the agent, once somebody has answered or nobody has.
    pub(super) fn settled(
        self,
        mut dialog: Dialog<'_>,
        call: &HeldCall,
        options: &Options,
    ) -> Value {
        let given_up = || call.is_given_up(&self.session);
        let shown = holding::Dialog::Shown(&mut dialog);
        let held = self.judged.hold(Asking {
            cancelled: &given_up,
            // ACP has no word for other arguments.
            takes_edits: false,
            ..Asking::by(Approvers::AsPolicySays(shown))
        });
        let outcome = held.and_then(pipeline::Held::release);
        let refusal = |reason: &str| {
            tell(&format!("refused: {reason}"));
            match dialog.cancelled || call.is_cancelled(&self.session) {
                true => cancelled(),
                false => options.refusal(),
            }
        };
        match outcome {
            Ok(Outcome::Runs(_)) => options.allow_once().unwrap_or_else(cancelled),
            Ok(Outcome::HandedOn(decision)) => refusal(&decision.reason),
            Ok(Outcome::Refused(refused)) => refusal(&refused.decision.reason),
            Err(error) => {
                let problem = error.to_string();
                tell(&format!("refused: {problem}"));
                if !error.is_on_record() {
                    let session = Some(self.session.as_str());
                    record_failure(&self.engine, session, Some(&self.call), &problem);
                }
                options.refusal()
            }
        }
    }
}
