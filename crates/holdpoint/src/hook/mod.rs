//! The way of a hook call: an agent's payload in, its reply out.
//!
//! An adapter knows one agent's words and decides nothing: it turns a payload into a call, a result
//! or a message, and what comes of it into a reply. Adding an agent is a file with an `Adapter` and a row in [`Agent`].
//! Reading the bytes, judging the call and writing the reply are the caller's.

mod claude_code;
mod wording;

use std::str;

use holdpoint_broker::Context;
use holdpoint_core::{Decision, ToolCall};
use holdpoint_sandbox::last_words::LastWords;
use serde_json::{Map, Value};

use crate::inspecting::Inspected;

/// The largest payload that is read.
pub const MAX_PAYLOAD: usize = 16 << 20;

/// The agents whose hooks Holdpoint answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// Anthropic's Claude Code.
    ClaudeCode,
}

impl Agent {
    /// Every agent.
    pub const ALL: [Agent; 1] = [Agent::ClaudeCode];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "claude-code",
        }
    }

    /// The agent of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == name)
    }

    /// The variable in which the agent tells its hooks where it belongs.
    pub fn workspace_variable(self) -> &'static str {
        self.adapter().workspace_variable()
    }

    /// What a hook of this agent says when it breaks down.
    pub fn last_words(self) -> LastWords {
        self.adapter().last_words()
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
            Question::Pause { session, pause } => match gate.pause(&session, pause) {
                Ok(()) => Ok(Reply::silence()),
                Err(text) => Err(Problem::new(text)),
            },
            Question::Call(asked) => {
                let moment = asked.moment;
                match gate.judge(*asked) {
                    Ok(answer) => Ok(adapter.reply(moment, &answer)),
                    Err(text) => Err(Problem::at(When::Call(moment), text)),
                }
            }
            Question::Result(returned) => {
                gate.stand_by(adapter.kept_back(Some(&returned), BROKE_DOWN));
                match gate.result(&returned) {
                    Ok(inspected) => Ok(adapter.reply_to_result(&returned, &inspected)),
                    Err(text) => Err(Problem::at(When::Result(Some(returned)), text)),
                }
            }
            Question::Prompt(prompted) => {
                gate.stand_by(adapter.refusal(&Problem::at(When::Prompt, BROKE_DOWN)));
                match gate.prompt(&prompted) {
                    Ok(inspected) => Ok(adapter.reply_to_prompt(&inspected)),
                    Err(text) => Err(Problem::at(When::Prompt, text)),
                }
            }
        }
    }

    fn adapter(self) -> &'static dyn Adapter {
        match self {
            Agent::ClaudeCode => &claude_code::ClaudeCode,
        }
    }
}

/// One agent's words.
trait Adapter {
    /// What a payload asks.
    fn read(&self, payload: &str) -> Result<Question, Problem>;
    /// What is wrong with a payload that cannot be read, as far as its moment can be made out.
    fn unreadable(&self, payload: &[u8], text: String) -> Problem;
    /// An answer in the agent's words.
    fn reply(&self, moment: Moment, answer: &Answer) -> Reply;
    /// What becomes of a result, in the agent's words.
    fn reply_to_result(&self, returned: &Returned, inspected: &Inspected) -> Reply;
    /// What becomes of a user's message, in the agent's words.
    fn reply_to_prompt(&self, inspected: &Inspected) -> Reply;
    /// The reply that keeps a result back, which may be one that could not be read.
    fn kept_back(&self, returned: Option<&Returned>, problem: &str) -> Reply;
    /// A refusal without a decision.
    fn refusal(&self, problem: &Problem) -> Reply;
    /// The variable that names the directory the agent belongs in.
    fn workspace_variable(&self) -> &'static str;
    /// A refusal when nothing else can be said any more.
    fn last_words(&self) -> LastWords;
}

/// What a payload asks.
#[derive(Debug)]
enum Question {
    /// Whether a call may run.
    Call(Box<Asked>),
    /// Whether the model may read what a call returned.
    Result(Box<Returned>),
    /// Whether the model may read what the user wrote.
    Prompt(Prompted),
    /// Nothing, but a session pauses.
    Pause { session: String, pause: Pause },
    /// Nothing: the agent only tells.
    None,
}

/// When an agent stops for its user (J-41, X-20).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Its turn has ended.
    Turn,
    /// It waits, with nothing to do.
    Idle,
}

/// What is wrong when a process ends before it could say anything else.
const BROKE_DOWN: &str = "Holdpoint broke down";

/// Who answers the questions of an agent.
pub trait Gatekeeper {
    /// Whether a call may run.
    fn judge(&mut self, asked: Asked) -> Result<Answer, String>;

    /// What is to be said if this process breaks down from here on: a call that has been made can
    /// no longer be refused, but what it returned can be kept back.
    fn stand_by(&mut self, reply: Reply);

    /// What the model may read of what a call returned.
    fn result(&mut self, returned: &Returned) -> Result<Inspected, String>;

    /// What is to be said of what the user wrote.
    fn prompt(&mut self, prompted: &Prompted) -> Result<Inspected, String>;

    /// Notes that a session pauses.
    fn pause(&mut self, session: &str, pause: Pause) -> Result<(), String>;
}

/// The answer to a call.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What was decided, by rules or by a person.
    pub decision: Decision,
    /// The arguments to run with, if a person changed them.
    pub edited: Option<Map<String, Value>>,
}

impl From<Decision> for Answer {
    fn from(decision: Decision) -> Self {
        Self {
            decision,
            edited: None,
        }
    }
}

/// A call an agent wants to make.
#[derive(Debug)]
pub struct Asked {
    /// The call.
    pub call: ToolCall,
    /// The agent's session, if it says.
    pub session: Option<String>,
    /// The directory the agent stands in, if it says.
    pub directory: Option<String>,
    /// What the agent says of the circumstances.
    pub context: Context,
    moment: Moment,
}

impl Asked {
    /// Whether the call can be held here. Before the agent asks its own user it cannot: that is the
    /// question already.
    pub fn can_be_held(&self) -> bool {
        self.moment != Moment::BeforePrompt
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
    failed: bool,
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
enum Moment {
    /// Before any call.
    BeforeCall,
    /// Before it asks its user.
    BeforePrompt,
    /// Nobody knows: the agent is newer than this program.
    Unknown,
}

/// What a problem keeps from being answered.
#[derive(Debug)]
enum When {
    /// Whether a call may run.
    Call(Moment),
    /// What the model may read of a result; the result, if that much is known of it.
    Result(Option<Box<Returned>>),
    /// What is to be said of a user's message.
    Prompt,
}

/// Why a question could not be answered.
#[derive(Debug)]
pub struct Problem {
    when: When,
    /// In one line.
    pub text: String,
}

impl Problem {
    /// A problem with anything but the call itself.
    pub fn new(text: impl Into<String>) -> Self {
        Self::at(When::Call(Moment::Unknown), text)
    }

    fn at(when: When, text: impl Into<String>) -> Self {
        Self {
            when,
            text: text.into(),
        }
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
