//! Whoever takes the tour: how they go on, how they leave, and who answers for them if they are not
//! there.

use std::io::{self, Cursor, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use holdpoint_broker::channel::console::{
    CANCELLED, Console, Settings, editor_of, wants_no_colour,
};
use holdpoint_engine::account_name;
use holdpoint_engine::middleware::{Channel, ChannelError, Request, SignedAnswer, Turn, Waiting};
use holdpoint_sandbox::interrupt;
use holdpoint_sandbox::terminal::{CTRL_BACKSLASH, CTRL_C, Terminal as Keys};

use crate::cli;
use crate::terminal::Terminal;

/// How often whoever waits for a key looks whether the process was told to stop.
const LOOK: Duration = Duration::from_millis(200);

/// What the script types when it is asked.
const TYPED: &str = "y";

/// The visitor left: Ctrl-C, the end of input, or a signal.
#[derive(Debug, thiserror::Error)]
#[error("the tour was left")]
pub(super) struct Left;

/// Who answers the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answers {
    /// The person at the terminal.
    Person,
    /// The script, because they said so.
    ScriptAsTold,
    /// The script, because nobody is there.
    ScriptAlone,
}

pub(super) struct Visitor {
    pub(super) answers: Answers,
    pauses: bool,
    left: Arc<AtomicBool>,
}

impl Visitor {
    pub(super) fn from_args(args: &cli::Demo) -> Self {
        // A question needs the terminal the process was started from, in the foreground.
        let there = io::stdin().is_terminal() && io::stdout().is_terminal() && Keys::take().is_ok();
        Self {
            answers: match (args.yes, there) {
                (true, _) => Answers::ScriptAsTold,
                (false, true) => Answers::Person,
                (false, false) => Answers::ScriptAlone,
            },
            pauses: there && !args.no_pause,
            left: Arc::new(AtomicBool::new(false)),
        }
    }

    /// Waits for Enter, if anybody is there to press it.
    pub(super) fn pause(&self, terminal: &mut Terminal) -> anyhow::Result<()> {
        self.stays()?;
        if !self.pauses {
            return Ok(());
        }
        let prompt = terminal.faint("Enter goes on, Ctrl-C ends the tour");
        write!(terminal.out, "\n  {prompt} ")?;
        terminal.out.flush()?;
        let mut keys = Keys::take()?;
        let mut bytes = [0; 256];
        loop {
            let read = keys.read(&mut bytes, LOOK)?;
            self.stays()?;
            let Some(count) = read else { continue };
            let typed = bytes.get(..count).unwrap_or_default();
            let leaves = |key: &u8| [CTRL_C, CTRL_BACKSLASH].contains(key);
            if typed.is_empty() || typed.iter().any(leaves) {
                return Err(Left.into());
            }
            if typed.ends_with(b"\n") {
                return Ok(());
            }
        }
    }

    /// Whether the tour goes on.
    pub(super) fn stays(&self) -> Result<(), Left> {
        match self.left.load(Ordering::Relaxed) || interrupt::was_told() {
            true => Err(Left),
            false => Ok(()),
        }
    }

    /// What makes the channel the question goes through: the console, on the terminal or on standard
    /// output with the script's answer already typed.
    pub(super) fn channel(
        &self,
    ) -> impl Fn() -> Result<Box<dyn Channel>, ChannelError> + Send + Sync + use<> {
        let (answers, left) = (self.answers, Arc::clone(&self.left));
        move || {
            let environment = |name: &str| std::env::var(name).ok();
            let coloured = io::stdout().is_terminal() && !wants_no_colour(&environment);
            let settings = |approver: String| Settings {
                approver,
                colours: coloured,
                lock: None,
                editor: editor_of(&environment),
            };
            let console = match answers {
                Answers::Person => Console::on_terminal(settings(account_name())),
                Answers::ScriptAsTold | Answers::ScriptAlone => Console::over(
                    Cursor::new(format!("{TYPED}\n")),
                    io::stdout(),
                    settings("the script of this tour".into()),
                ),
            };
            Ok(Box::new(Asking {
                console,
                answers,
                left: Arc::clone(&left),
            }))
        }
    }
}

/// The console, watched for somebody who leaves.
struct Asking {
    console: Console,
    answers: Answers,
    left: Arc<AtomicBool>,
}

impl Channel for Asking {
    fn take_turn(&mut self, waiting: &Waiting<'_>) -> Result<Turn, ChannelError> {
        self.console.take_turn(waiting)
    }

    fn end_turn(&mut self) {
        self.console.end_turn();
    }

    fn ask(
        &mut self,
        request: &Request,
        waiting: &Waiting<'_>,
    ) -> Result<SignedAnswer, ChannelError> {
        let cancelled = || (waiting.cancelled)() || interrupt::was_told();
        let waiting = Waiting {
            limit: waiting.limit,
            cancelled: &cancelled,
        };
        // The question stands apart from what was told before.
        let _ = writeln!(io::stdout());
        let said = self.console.ask(request, &waiting);
        match (&said, self.answers) {
            (Err(ChannelError::Refused(why)), _) if why == CANCELLED => {
                self.left.store(true, Ordering::Relaxed);
            }
            // Nobody saw it typed.
            (_, Answers::ScriptAsTold | Answers::ScriptAlone) => {
                let _ = writeln!(io::stdout(), "{TYPED}");
            }
            (_, Answers::Person) => {}
        }
        said
    }

    fn told(&mut self, request: &Request, message: &str) {
        self.console.told(request, message);
    }
}
