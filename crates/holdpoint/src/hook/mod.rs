//! The way of a hook call: an agent's payload in, its reply out.
//!
//! An adapter knows one agent's words and decides nothing: it turns a payload into a call and a
//! decision into a reply. Adding an agent is a file with an `Adapter` and a row in [`Agent`].
//! Reading the bytes, judging the call and writing the reply are the caller's.

mod claude_code;
mod wording;

use std::str;

use holdpoint_broker::Context;
use holdpoint_core::{Decision, ToolCall};
use holdpoint_sandbox::last_words::LastWords;
use serde_json::{Map, Value};

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

    /// Answers a payload by asking `gate` about the call in it.
    pub fn answer(self, payload: &[u8], gate: &mut dyn Gatekeeper) -> Result<Reply, Problem> {
        let adapter = self.adapter();
        match adapter.read(text_of(payload)?)? {
            Question::None => Ok(Reply::silence()),
            Question::Pause { session, pause } => match gate.pause(&session, pause) {
                Ok(()) => Ok(Reply::silence()),
                Err(text) => Err(Problem::new(text)),
            },
            Question::Call(asked) => {
                let moment = asked.moment;
                match gate.judge(*asked) {
                    Ok(answer) => Ok(adapter.reply(moment, &answer)),
                    Err(text) => Err(Problem { moment, text }),
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
    /// An answer in the agent's words.
    fn reply(&self, moment: Moment, answer: &Answer) -> Reply;
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

/// Who answers the questions of an agent.
pub trait Gatekeeper {
    /// Whether a call may run.
    fn judge(&mut self, asked: Asked) -> Result<Answer, String>;

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

/// Why a call could not be judged.
#[derive(Debug)]
pub struct Problem {
    moment: Moment,
    /// In one line.
    pub text: String,
}

impl Problem {
    /// A problem with anything but the call itself.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            moment: Moment::Unknown,
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

fn text_of(payload: &[u8]) -> Result<&str, Problem> {
    if payload.len() > MAX_PAYLOAD {
        return Err(Problem::new(format!(
            "the agent's message has more than {MAX_PAYLOAD} bytes: no call is that large"
        )));
    }
    str::from_utf8(payload).map_err(|error| {
        Problem::new(format!(
            "the agent's message is not UTF-8 text (byte {})",
            error.valid_up_to()
        ))
    })
}
