//! What an adapter has to say for itself, and what follows from that for all of them alike.

use std::time::Duration;

use holdpoint_core::policy::ReplyForm;
use holdpoint_core::text::Action;
use holdpoint_core::{Method, Verdict};
use holdpoint_sandbox::last_words::LastWords;
use serde_json::{Map, Value, json};

use super::events::{self, Event, Events};
use super::glimpse::Glimpse;
use super::wording::{self, explained};
use super::{HookDecision, HookPoint, Problem, Question, Reply, Returned, When};
use crate::own_rules::{Circumstances, Rules};
use holdpoint_engine::inspecting::Inspected;

/// The exit code that blocks a call, for every agent that minds exit codes.
pub(crate) const BLOCK: u8 = 2;

/// What is said before a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HookReply<'a> {
    /// No opinion.
    Nothing,
    /// It may run.
    Allow,
    /// It may run with these arguments, and no others.
    Edited(&'a Map<String, Value>),
    /// No opinion, and the person is told something.
    Tell,
    /// The agent's own dialog is to ask.
    Ask,
    /// It may not run.
    Deny,
}

/// What is said of a result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seen<'a> {
    /// It goes on, with a note.
    Noted(&'a str),
    /// Another goes on, without what nobody sees; the note if there is one.
    Stripped(&'a Value, Option<&'a str>),
    /// Another goes on, without what was found; the note.
    Cleaned(&'a Value, &'a str),
    /// Nothing of it goes on but this notice.
    Withheld(&'a str),
}

/// What is said of a user's message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Heard<'a> {
    /// It goes on.
    Passes,
    /// It goes on, and the user is warned.
    Warned(&'a str),
    /// It does not go on.
    Stopped(&'a str),
}

/// One agent's words. For whatever it has no words, a method gives none. Each agent's folder says `read`, `events` and `of_call`
/// in full, alike as some are: an agent changes its words without asking the others, and then one file changes.
pub(crate) trait Adapter {
    /// What a payload asks.
    fn read(&self, payload: &str) -> Result<Question, Problem>;

    /// The events it knows.
    fn events(&self) -> Events;

    /// Whether the agent tells failures by an event of their own, so that any other result is a success.
    fn tells_failures(&self) -> bool {
        self.events()
            .iter()
            .any(|(_, event)| *event == Event::Failure)
    }

    /// For standard output before a call. No word for a denial means that the exit code is one; no
    /// word for a question or for other arguments, that the call is denied.
    fn of_call(&self, _moment: HookPoint, _said: HookReply<'_>, _reason: &str) -> Option<Value> {
        None
    }

    /// For standard output before a call that is to run with these arguments instead, by which it runs inside the sandbox or
    /// in its safe form; the note is for the model. No word for it means that the call is asked about.
    fn of_replaced(
        &self,
        _moment: HookPoint,
        _input: &Map<String, Value>,
        _reason: &str,
        _note: &str,
    ) -> Option<Value> {
        None
    }

    /// The same output with a note for the model, where the agent has a word for one beside its answer to a call.
    fn with_note(&self, _point: HookPoint, output: Option<Value>, _note: &str) -> Option<Value> {
        output
    }

    /// Whether its shell stays where a command has gone.
    fn keeps_directory(&self) -> bool {
        false
    }

    /// For standard output after a call, which may be one of which nothing is known.
    fn of_result(&self, _returned: Option<&Returned>, _seen: Seen<'_>) -> Option<Value> {
        None
    }

    /// For standard output before a user's message goes on.
    fn of_prompt(&self, _heard: Heard<'_>) -> Option<Value> {
        None
    }

    /// The exit code beside a denial in words.
    fn exit_code_of_denial(&self) -> u8 {
        0
    }

    /// Whether exit code 2 with a reason on standard error, and nothing on standard output, is a denial here.
    fn heeds_exit_code(&self, _point: HookPoint) -> bool {
        false
    }

    /// The variable that names the directory the agent belongs in.
    fn workspace_variable(&self) -> Option<&'static str> {
        None
    }

    /// The tool whose command another may take the place of, where Holdpoint can read the agent's own rules as well.
    fn shell_tool(&self) -> Option<&'static str> {
        None
    }

    /// The agent's own rules against commands; none if nobody knows where they are.
    fn own_rules(&self, _around: &Circumstances<'_>) -> Option<Rules> {
        None
    }

    /// How long the agent waits at most while a person is asked, if that is less than it is told to.
    fn patience(&self) -> Option<Duration> {
        None
    }

    /// A denial for a call that could not be judged, if the exit code is none then.
    fn of_refusal(&self, _moment: HookPoint, _reason: &str) -> Option<Value> {
        None
    }

    /// A refusal when nothing else can be said any more.
    fn last_words(&self) -> LastWords {
        LastWords {
            stdout: "",
            stderr: wording::REFUSED,
            code: BLOCK.into(),
            // Half of the shortest time `holdpoint init` tells an agent to wait.
            deadline: Duration::from_secs(5),
            memory: 2 << 30,
        }
    }

    /// What is wrong with a payload that cannot be read, as far as its point can be made out.
    fn unreadable(&self, payload: &[u8], text: String) -> Problem {
        let seen = Glimpse::from_payload(payload);
        let Some(name) = seen.event.as_deref() else {
            return Problem::new(text);
        };
        let when = match events::about(self.events(), Some(name)) {
            Event::Result | Event::Failure => When::Result(self.glimpsed(seen)),
            Event::Prompt => When::Prompt,
            Event::Change => When::Change,
            Event::Call(HookPoint::BeforePrompt) => When::Call(HookPoint::BeforePrompt),
            // What only seems to be the end of a turn may be a call, which silence would let run.
            Event::Call(_) | Event::TurnEnds | Event::Tells => return Problem::new(text),
        };
        Problem::at(when, text)
    }

    /// What is known of the result in a payload that cannot be read.
    fn glimpsed(&self, _seen: Glimpse) -> Option<Box<Returned>> {
        None
    }

    /// Whether the agent asks its own user if it is told to, before a call.
    fn has_dialog(&self, point: HookPoint) -> bool {
        point != HookPoint::Unknown && self.of_call(point, HookReply::Ask, "").is_some()
    }

    /// Whether the agent makes a call with other arguments if it is told to.
    fn takes_edits(&self, point: HookPoint) -> bool {
        self.of_call(point, HookReply::Edited(&Map::new()), "")
            .is_some()
    }

    /// An answer in the agent's words.
    fn reply(&self, point: HookPoint, answer: &HookDecision) -> Reply {
        let decision = &answer.decision;
        let said = match (decision.verdict, decision.method, &answer.edited) {
            (Verdict::Allow | Verdict::Notify, _, Some(input)) => HookReply::Edited(input),
            (Verdict::Allow, Method::NoObjection, None) => HookReply::Nothing,
            (Verdict::Allow, _, None) => HookReply::Allow,
            // Whoever has suspended questions does not want the agent's own either; the notice is the reason.
            (
                Verdict::Notify,
                Method::AllowAll | Method::TurnSuspension | Method::IdleSuspension,
                None,
            ) => HookReply::Allow,
            (Verdict::Notify, _, _) => HookReply::Tell,
            // As it stands it is a question.
            (Verdict::Contain | Verdict::Ask | Verdict::Review, _, _) => HookReply::Ask,
            (Verdict::Deny, _, _) => HookReply::Deny,
        };
        let reason = explained(decision);
        if answer.reply == ReplyForm::ExitCode
            && matches!(said, HookReply::Deny)
            && self.heeds_exit_code(point)
        {
            return self.denied(point, None, &wording::blocked(decision, &reason));
        }
        let note = match (decision.verdict, answer.rewritten) {
            (Verdict::Contain, _) => Some(wording::RAN_CONTAINED.to_owned()),
            (Verdict::Allow | Verdict::Notify, true) => {
                Some(wording::rewritten(answer.edited.as_ref()))
            }
            (_, _) => None,
        };
        if let (Some(note), Some(input)) = (note, &answer.edited)
            && let Some(output) = self.of_replaced(point, input, &reason, &note)
        {
            // Unheard, the call would run as the agent made it.
            return Reply {
                must_be_heard: true,
                ..Reply::saying(&output)
            };
        }
        let mut output = self.of_call(point, said, &reason);
        if let (Some(told), HookReply::Nothing | HookReply::Allow | HookReply::Tell) =
            (wording::told(decision), said)
        {
            output = self.with_note(point, output, &told);
        }
        match (said, output) {
            (HookReply::Deny, output) => self.denied(point, output, &reason),
            // The person is about to be asked anyway.
            (HookReply::Ask, None) if point == HookPoint::BeforePrompt => Reply::silence(),
            (HookReply::Ask, None) => {
                let reason = wording::cannot_ask(&reason);
                let output = self.of_call(point, HookReply::Deny, &reason);
                self.denied(point, output, &reason)
            }
            (HookReply::Ask, output) if point == HookPoint::Unknown => {
                self.denied(point, output, &reason)
            }
            (HookReply::Edited(_), None) => {
                let output = self.of_call(point, HookReply::Deny, wording::CHANGED);
                self.denied(point, output, wording::CHANGED)
            }
            // Unheard, the call would run unasked, or as the agent made it.
            (HookReply::Ask | HookReply::Edited(_), Some(output)) => Reply {
                must_be_heard: true,
                ..Reply::saying(&output)
            },
            (HookReply::Nothing | HookReply::Allow | HookReply::Tell, Some(output)) => {
                Reply::saying(&output)
            }
            (HookReply::Nothing | HookReply::Allow | HookReply::Tell, None) => Reply::silence(),
        }
    }

    /// A denial: in words if there are any, on standard error, and as an exit code where words are
    /// not sure to be understood.
    fn denied(&self, point: HookPoint, output: Option<Value>, reason: &str) -> Reply {
        let code = match &output {
            Some(_) if point != HookPoint::Unknown => self.exit_code_of_denial(),
            Some(_) | None => BLOCK,
        };
        Reply {
            must_be_heard: output.is_some(),
            stdout: output
                .map(|output| format!("{output}\n"))
                .unwrap_or_default(),
            stderr: format!("{reason}\n"),
            code,
        }
    }

    /// What becomes of a result, in the agent's words.
    fn reply_to_result(&self, returned: &Returned, inspected: &Inspected) -> Reply {
        let note = inspected.note.as_deref();
        if inspected.stays {
            let note = format!(
                "{} {}",
                note.unwrap_or(wording::WITHHELD),
                wording::STILL_THERE
            );
            return self.said_of_result(Some(returned), Seen::Noted(&note));
        }
        let seen = match (inspected.action, &inspected.instead) {
            (Action::Block, _) => Seen::Withheld(note.unwrap_or(wording::WITHHELD)),
            (Action::Quarantine, Some(instead)) => {
                Seen::Cleaned(instead, note.unwrap_or(wording::WITHHELD))
            }
            (Action::Pass | Action::Annotate, Some(instead)) => Seen::Stripped(instead, note),
            (Action::Pass | Action::Annotate | Action::Quarantine, None) => match note {
                Some(note) => Seen::Noted(note),
                None => return Reply::silence(),
            },
        };
        self.said_of_result(Some(returned), seen)
    }

    /// The reply that keeps a result back, which may be one that could not be read.
    fn kept_back(&self, returned: Option<&Returned>, problem: &str) -> Reply {
        let notice = wording::kept_back(problem);
        self.said_of_result(returned, Seen::Withheld(&notice))
    }

    /// A reply after a call. Where nothing can be said, the agent is not kept from going on.
    fn said_of_result(&self, returned: Option<&Returned>, seen: Seen<'_>) -> Reply {
        match self.of_result(returned, seen) {
            Some(output) => Reply {
                must_be_heard: true,
                ..Reply::saying(&output)
            },
            None => Reply::silence(),
        }
    }

    /// What becomes of a user's message, in the agent's words.
    fn reply_to_prompt(&self, inspected: &Inspected) -> Reply {
        let heard = match (&inspected.note, inspected.action) {
            (None, _) => Heard::Passes,
            (Some(note), Action::Pass | Action::Annotate) => Heard::Warned(note),
            // A message can be stopped, but not changed.
            (Some(note), Action::Quarantine | Action::Block) => Heard::Stopped(note),
        };
        let stopped = matches!(heard, Heard::Stopped(_));
        match self.of_prompt(heard) {
            Some(output) => Reply {
                must_be_heard: stopped,
                ..Reply::saying(&output)
            },
            None => Reply::silence(),
        }
    }

    /// A refusal without a decision.
    fn refusal(&self, problem: &Problem) -> Reply {
        match &problem.when {
            When::Result(returned) => self.kept_back(returned.as_deref(), &problem.text()),
            // Whoever writes may always do so, and every call that follows is judged.
            When::Prompt => {
                let note = wording::unseen(&problem.text());
                let output = self.of_prompt(Heard::Warned(&note));
                output.map_or_else(Reply::silence, |output| Reply::saying(&output))
            }
            When::Change => {
                let reason = wording::not_gone_by(&problem.text());
                Reply {
                    must_be_heard: true,
                    ..Reply::saying(&json!({"decision": "block", "reason": reason}))
                }
            }
            // A word on standard output, or exit code 2, would have the agent go on with its turn.
            When::TurnEnd => Reply {
                stderr: format!("{}\n", problem.text()),
                ..Reply::silence()
            },
            When::Call(point) => {
                let reason = wording::refused(&problem.text());
                match self.of_refusal(*point, &reason) {
                    Some(output) => Reply {
                        stderr: format!("{reason}\n"),
                        must_be_heard: true,
                        ..Reply::saying(&output)
                    },
                    None => self.denied(HookPoint::Unknown, None, &reason),
                }
            }
        }
    }
}
