//! Where the calls an agent asks about are judged, and held if a person is to decide.

use std::path::PathBuf;
use std::time::Duration;

use holdpoint_broker::{BrokerHost, CallContext, Context, Event, Problem, Resolution, local};
use holdpoint_daemon::webhook;
use holdpoint_engine::holding::{self, House, Released, release};
use holdpoint_engine::{Decision, Failed, Locations, Method, Outcome, ToolCall, Verdict};
use serde_json::{Value, json};

use super::dialog::Dialog;
use super::permission::{Options, Permission, cancelled};
use super::places::Place;
use super::wires::{Wires, tell};
use crate::desk::{Asker, Desk, DeskError, InSession, Under, directory, load};

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
    desk: Desk,
}

impl Gate {
    pub(super) fn new() -> Self {
        Self { desk: Desk::new() }
    }

    /// Judges what is asked about. What cannot be is refused, on record and with a word.
    pub(super) fn judge(&mut self, wires: &Wires, asked: Result<Permission, String>) -> Ruling {
        self.desk.refresh();
        let asked = match asked {
            Ok(asked) => asked,
            Err(problem) => return self.failed(None, None, &problem),
        };
        let session = Some(asked.session.as_str());
        let call = match asked.described.call() {
            Ok(call) => call,
            Err(problem) => return self.failed(session, None, &problem),
        };
        let Some(place) = wires.places.of(&asked.session) else {
            return self.failed(
                session,
                Some(&call),
                "the editor has not opened this session",
            );
        };
        match self.judged(&asked.session, call.clone(), &place) {
            Ok(ruling) => ruling,
            // The refusal is on record as well as it can be.
            Err(error @ DeskError::Unrecorded(..)) => {
                tell(&format!("refused: {error}"));
                Ruling::Refuse
            }
            Err(error) => self.failed(session, Some(&call), &error.to_string()),
        }
    }

    fn judged(
        &mut self,
        session: &str,
        call: ToolCall,
        place: &Place,
    ) -> Result<Ruling, DeskError> {
        let workspace = directory(Some(&place.directory))?;
        let standing = workspace.to_str().ok_or(DeskError::Directory)?.to_owned();
        let call = call.in_directory(standing.as_str());
        let under = Under::LayersAt(workspace.clone(), workspace.clone());
        let context = context_of(session, place);
        self.desk.enter_turn(session, &context)?;
        let asker = Asker {
            agent: AGENT,
            session: Some(session),
        };
        let kept = InSession::Kept(session.to_owned());
        let decision = self.desk.answer(asker, &call, &under, &kept, &workspace)?;
        Ok(match (decision.verdict, decision.method) {
            // Whoever is told is told by the dialog the agent wants to show.
            (Verdict::Allow, Method::NoObjection) | (Verdict::Notify, _) => Ruling::Pass,
            (Verdict::Allow, _) => Ruling::Allow,
            (Verdict::Deny, _) => {
                tell(&format!("refused: {}", decision.reason));
                Ruling::Refuse
            }
            (Verdict::Ask | Verdict::Review, _) => Ruling::Hold(Box::new(Held {
                locations: self.desk.locations().clone(),
                asked: CallContext {
                    agent: AGENT.into(),
                    session: session.to_owned(),
                    tool: call.tool().to_owned(),
                    input: call.input().clone(),
                    directory: standing.clone(),
                    workspace: standing,
                    config: named(self.desk.locations()),
                    context,
                },
                decision,
                workspace,
            })),
        })
    }

    fn failed(&self, session: Option<&str>, call: Option<&ToolCall>, problem: &str) -> Ruling {
        tell(&format!("refused: {problem}"));
        let asker = Asker {
            agent: AGENT,
            session,
        };
        let outcome = Outcome::Failed(Failed {
            call,
            ..asker.failed(problem)
        });
        // It is refused whether or not it can be recorded.
        let _ = self
            .desk
            .recorder()
            .map(|recorder| recorder.record(&outcome));
        Ruling::Refuse
    }
}

fn named(locations: &Locations) -> Option<String> {
    let named = locations.named.as_ref()?;
    named.to_str().map(str::to_owned)
}

fn context_of(session: &str, place: &Place) -> Context {
    let mut context = Context {
        session_id: Some(session.to_owned()),
        request_source: Some("acp".into()),
        ..Context::default()
    };
    // A turn of another process is another turn.
    let turn = format!("acp-{}-{}", std::process::id(), place.turn);
    context.more.insert("prompt_id".into(), json!(turn));
    context
}

/// A call that a person is to decide about.
pub(super) struct Held {
    locations: Locations,
    asked: CallContext,
    decision: Decision,
    workspace: PathBuf,
}

impl Held {
    /// The outcome for the agent, once somebody has answered or nobody has.
    pub(super) fn settled(&self, mut dialog: Dialog<'_>, options: &Options) -> Value {
        let house = House::at(&self.locations).with_webhooks(webhook::build);
        match self.released(&house, &mut dialog) {
            Ok(None) => options.allow_once().unwrap_or_else(cancelled),
            Ok(Some(reason)) => {
                tell(&format!("refused: {reason}"));
                match dialog.cancelled {
                    true => cancelled(),
                    false => options.refusal(),
                }
            }
            Err(problem) => {
                tell(&format!("refused: {problem}"));
                // It stands whether or not it can be recorded.
                let _ = house.record(Event::Judged {
                    asked: &self.asked,
                    decision: &self.refused(problem.0),
                });
                options.refusal()
            }
        }
    }

    fn refused(&self, reason: String) -> Decision {
        Decision {
            verdict: Verdict::Deny,
            method: Method::Error,
            reason,
            ..self.decision.clone()
        }
    }

    /// Why the call does not run, if it does not. Everything that leads there is on record.
    fn released(&self, house: &House, dialog: &mut Dialog<'_>) -> Result<Option<String>, Problem> {
        let told = self.told(house, dialog)?;
        if !told.verdict.runs() {
            return Ok(Some(told.reason));
        }
        if told.edited.is_some() {
            return Err(Problem(
                "it was changed by whoever released it, and ACP has no word for that".into(),
            ));
        }
        Ok(match release(house, &self.asked, &told)? {
            Released::Runs => None,
            Released::Refused(decision) => Some(decision.reason),
        })
    }

    /// What a person says, reached the way the policy wants; the editor is the agent's own dialog.
    fn told(&self, house: &House, dialog: &mut Dialog<'_>) -> Result<Resolution, Problem> {
        let under = Under::LayersAt(self.workspace.clone(), self.workspace.clone());
        let policy = load(&self.locations, &under).map_err(Problem)?;
        let wires = dialog.wires;
        let gone = || wires.agent_is_gone();
        let wait = Duration::from_secs(policy.answer_wait());
        match holding::hold(house, &policy, &self.asked, &self.decision, wait, &gone)? {
            holding::Answer::Told(told) => Ok(told),
            holding::Answer::StillWaiting { id, waited } => Err(Problem(format!(
                "request `{id}` has had no answer within {} s; it stays open for the identical call",
                waited.as_secs()
            ))),
            holding::Answer::AskAgent => {
                let mut judged = house.judge(&self.asked)?;
                // A dialog of buttons has no place to type one.
                judged.terms.phrase = None;
                local::hold(house, dialog, &self.asked, judged, &gone)
            }
        }
    }
}
