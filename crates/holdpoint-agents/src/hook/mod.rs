//! The way of a hook call: an agent's payload in, its reply out.
//!
//! An adapter knows one agent's words and decides nothing: it turns a payload into a call, a result
//! or a message, and what comes of it into a reply. The adapters are in `agents`; this is what they share.
//! Reading the bytes, judging the call and writing the reply are the caller's.

pub(crate) mod adapter;
pub(crate) mod events;
pub(crate) mod glimpse;
pub(crate) mod nested;
pub(crate) mod reading;
#[cfg(test)]
mod tests;
pub(crate) mod wording;

use std::fmt;
use std::str;
use std::time::Duration;

use holdpoint_broker::Context;
use holdpoint_core::policy::ReplyForm;
use holdpoint_core::{Decision, Method, ToolCall};
use holdpoint_sandbox::last_words::LastWords;
use serde_json::{Map, Value};

use self::adapter::{Heard, HookReply};
pub use crate::agents::Agent;
use crate::own_rules::{Circumstances, CommandLine, MayMatch};
use holdpoint_engine::inspecting::Inspected;
use holdpoint_engine::{EngineError, text_without_secrets};

/// The largest payload that is read: a file an agent writes whole, escaped. A larger one is refused, since what is not
/// read is not judged.
pub const MAX_PAYLOAD: usize = 16 << 20;

impl Agent {
    /// The variable in which the agent tells its hooks where it belongs.
    pub fn workspace_variable(self) -> Option<&'static str> {
        self.adapter().workspace_variable()
    }

    /// What a hook of this agent says when it breaks down.
    pub fn last_words(self) -> LastWords {
        self.adapter().last_words()
    }

    /// Whether the agent tells failures by an event of their own, so that any other result is a success.
    pub fn tells_failures(self) -> bool {
        self.adapter().tells_failures()
    }

    /// The reply that leaves a question to the agent, where the policy wants that.
    pub fn deferred(self, problem: &Problem) -> Reply {
        let adapter = self.adapter();
        let output = match &problem.when {
            When::Call(point) => adapter.of_call(*point, HookReply::Nothing, ""),
            When::Prompt => adapter.of_prompt(Heard::Passes),
            When::Result(_) | When::Change | When::TurnEnd => None,
        };
        output.map_or_else(Reply::silence, |output| Reply::saying(&output))
    }

    /// The reply that refuses, because the call could not be judged.
    pub fn refusal(self, problem: &Problem) -> Reply {
        self.adapter().refusal(problem)
    }

    /// Answers a payload by asking `gate` about the call, the result or the message in it.
    pub fn answer(self, payload: &[u8], gate: &mut dyn Gatekeeper) -> Result<Reply, Problem> {
        let adapter = self.adapter();
        let unread = |text: String| adapter.unreadable(payload, text);
        match adapter.read(text_of(payload).map_err(unread)?)? {
            Question::None => Ok(Reply::silence()),
            Question::TurnEnded(session) => match gate.turn_ended(&session) {
                Ok(()) => Ok(Reply::silence()),
                Err(error) => Err(Problem::at(When::TurnEnd, error)),
            },
            Question::Changed(file) => match gate.changed(&file) {
                Ok(()) => Ok(Reply::silence()),
                Err(text) => Err(Problem::at(When::Change, text)),
            },
            Question::Call(mut asked) => {
                let point = asked.point;
                asked.patience = adapter.patience();
                asked.agent = Some(self);
                match gate.judge(*asked) {
                    Ok(answer) => Ok(adapter.reply(point, &answer)),
                    Err(error) => Err(Problem::at(When::Call(point), error)),
                }
            }
            Question::Calls(calls) => strictest(self, calls, gate),
            Question::Result(returned) => {
                gate.stand_by(adapter.kept_back(Some(&returned), BROKE_DOWN));
                match gate.result(&returned) {
                    Ok(inspected) => Ok(adapter.reply_to_result(&returned, &inspected)),
                    Err(error) => Err(Problem::at(When::Result(Some(returned)), error)),
                }
            }
            Question::Prompt(prompted) => {
                gate.stand_by(adapter.refusal(&Problem::at(When::Prompt, BROKE_DOWN)));
                match gate.prompt(&prompted) {
                    Ok(inspected) => Ok(adapter.reply_to_prompt(&inspected)),
                    Err(error) => Err(Problem::at(When::Prompt, error)),
                }
            }
        }
    }
}

/// Answers for several calls at once: they run together or not at all.
fn strictest(
    agent: Agent,
    calls: Vec<HookCall>,
    gate: &mut dyn Gatekeeper,
) -> Result<Reply, Problem> {
    let adapter = agent.adapter();
    let count = u32::try_from(calls.len()).unwrap_or(u32::MAX).max(1);
    let mut worst: Option<(HookPoint, HookDecision)> = None;
    let mut edited = false;
    for mut asked in calls {
        let point = asked.point;
        // The agent waits for all of them, one after another.
        asked.patience = adapter.patience().map(|patience| patience / count);
        asked.agent = Some(agent);
        asked.together = true;
        let answer = gate
            .judge(asked)
            .map_err(|error| Problem::at(When::Call(point), error))?;
        let refused = !answer.decision.verdict.runs();
        edited |= answer.edited.is_some();
        let said = |answer: &HookDecision| {
            (
                answer.decision.verdict,
                answer.decision.method == Method::NoObjection,
            )
        };
        if worst
            .as_ref()
            .is_none_or(|(_, kept)| said(kept) < said(&answer))
        {
            worst = Some((point, answer));
        }
        if refused {
            break;
        }
    }
    match worst {
        // Which of them were changed cannot be told the agent.
        Some((point, answer)) if edited && answer.decision.verdict.runs() => {
            let output = adapter.of_call(point, HookReply::Deny, wording::CHANGED);
            Ok(adapter.denied(point, output, wording::CHANGED))
        }
        Some((point, answer)) => Ok(adapter.reply(point, &answer)),
        None => Err(Problem::new("the agent's message names no command")),
    }
}

/// What a payload asks.
#[derive(Debug)]
pub(crate) enum Question {
    /// Whether a call may run.
    Call(Box<HookCall>),
    /// Whether several calls may run, all or none.
    Calls(Vec<HookCall>),
    /// Whether the model may read what a call returned.
    Result(Box<Returned>),
    /// Whether the model may read what the user wrote.
    Prompt(Prompted),
    /// Whether the agent may go by this file of settings as it is now.
    Changed(String),
    /// Nothing, but the turn of a session has ended.
    TurnEnded(String),
    /// Nothing: the agent only tells.
    None,
}

/// What is wrong when a process ends before it could say anything else.
const BROKE_DOWN: &str = "Holdpoint broke down";

/// Who answers the questions of an agent.
pub trait Gatekeeper {
    /// Whether a call may run.
    fn judge(&mut self, asked: HookCall) -> Result<HookDecision, EngineError>;

    /// What is to be said if this process breaks down from here on: a call that has been made can
    /// no longer be refused, but what it returned can be kept back.
    fn stand_by(&mut self, reply: Reply);

    /// What the model may read of what a call returned.
    fn result(&mut self, returned: &Returned) -> Result<Inspected, EngineError>;

    /// What is to be said of what the user wrote.
    fn prompt(&mut self, prompted: &Prompted) -> Result<Inspected, EngineError>;

    /// Whether the agent stays guarded if it goes by this file of settings as it is now.
    fn changed(&mut self, file: &str) -> Result<(), String>;

    /// Notes that the turn of a session has ended: the agent waits for its user, with nothing to do (J-41).
    fn turn_ended(&mut self, session: &str) -> Result<(), EngineError>;
}

/// The answer to a call.
#[derive(Clone, Debug)]
pub struct HookDecision {
    /// What was decided, by rules or by a person.
    pub decision: Decision,
    /// The arguments to run with, if a person or a rule changed them.
    pub edited: Option<Map<String, Value>>,
    /// Whether it was a rule that did, and nobody was asked.
    pub rewritten: bool,
    /// How to say no, where the agent understands more than one way.
    pub reply: ReplyForm,
}

impl From<Decision> for HookDecision {
    fn from(decision: Decision) -> Self {
        Self {
            decision,
            edited: None,
            rewritten: false,
            reply: ReplyForm::default(),
        }
    }
}

/// A call an agent wants to make.
#[derive(Debug)]
pub struct HookCall {
    /// The call.
    pub call: ToolCall,
    /// The agent's session, if it says.
    pub session: Option<String>,
    /// The directory the agent stands in, if it says.
    pub directory: Option<String>,
    /// What the agent says of the circumstances.
    pub context: Context,
    /// How long the agent waits for an answer, if it cannot be told to wait for longer.
    pub patience: Option<Duration>,
    pub(crate) point: HookPoint,
    /// Who asks, once that is known.
    pub(crate) agent: Option<Agent>,
    /// Whether it is one of several that run together or not at all.
    pub(crate) together: bool,
}

impl HookCall {
    /// Whether the call can be held here. Before the agent asks its own user it cannot: that is the
    /// question already.
    pub fn can_be_held(&self) -> bool {
        self.point != HookPoint::BeforePrompt
    }

    /// Whether the call can be made to run inside the sandbox: it is a command, and the agent runs another in its place.
    pub fn can_be_contained(&self) -> bool {
        let agent = self.agent.filter(|_| !self.together);
        let tool = agent.and_then(|agent| agent.adapter().shell_tool());
        self.point == HookPoint::BeforeCall
            && tool.is_some_and(|tool| tool.eq_ignore_ascii_case(self.call.tool()))
            // More than a line, which nobody here knows how to put together.
            && !self.call.input().contains_key("args")
    }

    /// Whether the agent's shell stays where a command has gone.
    pub fn keeps_directory(&self) -> bool {
        self.agent
            .is_some_and(|agent| agent.adapter().keeps_directory())
    }

    /// Has a rule of the agent's own against the command, or may have: then the command is not to be wrapped.
    pub fn own_rules(&self, line: &CommandLine, around: &Circumstances<'_>) -> MayMatch {
        match self.agent {
            Some(agent) => agent.own_rules(line, around),
            None => MayMatch::Unknown("nobody knows which agent asks".into()),
        }
    }

    /// Whether the agent has a dialog of its own to ask its user in.
    pub fn has_dialog(&self) -> bool {
        self.agent
            .is_some_and(|agent| agent.adapter().has_dialog(self.point))
    }

    /// Whether the agent can be told to make the call with other arguments. Which one of several was
    /// changed it cannot be told.
    pub fn takes_edits(&self) -> bool {
        let agent = self.agent.filter(|_| !self.together);
        agent.is_some_and(|agent| agent.adapter().takes_edits(self.point))
    }
}

/// What a call returned.
#[derive(Debug)]
pub struct Returned {
    /// The call.
    pub call: ToolCall,
    /// Its arguments.
    pub input: Value,
    /// What it returned, or why it failed.
    pub response: Value,
    /// The agent's session, if it says.
    pub session: Option<String>,
    /// The directory the agent stands in, if it says.
    pub directory: Option<String>,
    /// Whether the agent takes something else in its place.
    pub replaceable: bool,
    /// Whether the call failed.
    pub failed: bool,
}

/// What a user wrote to an agent.
#[derive(Debug)]
pub struct Prompted {
    /// The message.
    pub text: String,
    /// The agent's session, if it says.
    pub session: Option<String>,
    /// The directory the agent stands in, if it says.
    pub directory: Option<String>,
}

/// When an agent asks; the form of the reply depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HookPoint {
    /// Before any call.
    BeforeCall,
    /// Before a call, for agents that have other words at some of their events.
    Otherwise,
    /// Before a command, for agents that have other words then.
    BeforeCommand,
    /// Before it asks its user.
    BeforePrompt,
    /// Nobody knows: the agent is newer than this program.
    Unknown,
}

/// What a problem keeps from being answered.
#[derive(Debug)]
pub(crate) enum When {
    /// Whether a call may run.
    Call(HookPoint),
    /// What the model may read of a result; the result, if that much is known of it.
    Result(Option<Box<Returned>>),
    /// What is to be said of a user's message.
    Prompt,
    /// Whether the agent may go by changed settings.
    Change,
    /// Nothing: the turn is over.
    TurnEnd,
}

/// Why a question could not be answered.
#[derive(Debug)]
pub struct Problem {
    pub(crate) when: When,
    /// What it is.
    pub cause: Cause,
}

/// What keeps a question from being answered.
#[derive(Debug)]
pub enum Cause {
    /// Something about the question itself, in one line.
    Text(String),
    /// It did not get through the pipeline.
    Engine(EngineError),
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Text(text) => f.write_str(text),
            Cause::Engine(error) => error.fmt(f),
        }
    }
}

impl From<String> for Cause {
    fn from(text: String) -> Self {
        Cause::Text(text)
    }
}

impl From<&str> for Cause {
    fn from(text: &str) -> Self {
        Cause::Text(text.to_owned())
    }
}

impl From<EngineError> for Cause {
    fn from(error: EngineError) -> Self {
        Cause::Engine(error)
    }
}

impl Problem {
    /// A problem with anything but the call itself.
    pub fn new(cause: impl Into<Cause>) -> Self {
        Self::at(When::Call(HookPoint::Unknown), cause)
    }

    pub(crate) fn at(when: When, cause: impl Into<Cause>) -> Self {
        Self {
            when,
            cause: cause.into(),
        }
    }

    /// In one line, without secrets.
    pub fn text(&self) -> String {
        text_without_secrets(&self.cause.to_string())
    }
}

/// What goes back to the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// For standard output.
    pub stdout: String,
    /// For standard error.
    pub stderr: String,
    /// The exit code.
    pub code: u8,
    /// Whether the call would run if nobody heard this.
    pub must_be_heard: bool,
}

impl Reply {
    /// No opinion: the agent's own permission system decides.
    pub fn silence() -> Self {
        Self::default()
    }

    /// A line of JSON on standard output.
    pub(crate) fn saying(output: &Value) -> Self {
        Self {
            stdout: format!("{output}\n"),
            ..Self::default()
        }
    }
}

fn text_of(payload: &[u8]) -> Result<&str, String> {
    if payload.len() > MAX_PAYLOAD {
        return Err(format!(
            "the agent's message has more than {MAX_PAYLOAD} bytes: no call is that large"
        ));
    }
    str::from_utf8(payload).map_err(|error| {
        format!(
            "the agent's message is not UTF-8 text (byte {})",
            error.valid_up_to()
        )
    })
}
