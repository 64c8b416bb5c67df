//! The way of a call, from the moment an agent makes it to what its model reads of the result.
//!
//! ```text
//! engine.judge(call) → Judged ─ hold(asking) → Held ─ release() → Permit ─ ran(result) → Inspected
//! ```
//!
//! Each step consumes the one before, so none is left out or taken twice, and each puts on record what
//! it decided before anybody hears of it. The policy is loaded once and the call is read once; both
//! again only if a file they rest on has changed. Hook, `check`, editor, daemon and library differ in
//! who makes the call and who can be asked, and in nothing that happens here.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use holdpoint_broker::CallContext;
use holdpoint_core::facts::{may_run_tests, runs_tests};
use holdpoint_core::text::Origin;
use holdpoint_core::{
    Action, Decision, Explained, Policy, ToolCall, Uncontained, Verdict, command_argument,
    explained,
};
use serde_json::{Map, Value};

use crate::containing::NotContained;
use crate::context::Caller;
use crate::engine::{Engine, MadeDecision, Reading};
use crate::error::EngineError;
use crate::excerpt::without_secrets;
use crate::holding::{self, Asking};
use crate::inspecting::{self, Incoming, Inspected, origin_of};
use crate::memory::{Known, LineCaller};
use crate::recording::{Answered, Ended, Outcome as Recorded, Ran, Remembered};
use holdpoint_core::text::escape_for_display;

/// The most characters of a line that is told beside its safe form; the record has the one that runs.
const MAX_MADE: usize = 300;

impl Engine {
    /// Judges a call and puts the decision on record.
    pub fn judge(&self, call: ToolCall, caller: Arc<Caller>) -> Result<Judged, EngineError> {
        self.enter_turn(&caller)?;
        self.record(self.decide(call, caller)?)
    }

    /// The same for a caller that can have commands contained, but perhaps not this one: `can` is asked about a call that
    /// is to be, and where it cannot, the call is judged as for a caller that contains nothing. A question that could have
    /// been answered by the sandbox says why it is not.
    ///
    /// Where a rule names a safe form of the command, `can_rewrite` is asked whether a line can take the place of the agent's,
    /// of the one it made and of the one that would run. The other one is a call of its own: it is judged, and it runs only if
    /// nobody has to be asked about it. Otherwise the first judgement stands.
    pub fn judge_containing(
        &self,
        call: ToolCall,
        caller: Arc<Caller>,
        can: impl FnOnce(&Decided) -> Result<(), NotContained>,
        can_rewrite: impl Fn(&Decided) -> bool,
    ) -> Result<Judged, EngineError> {
        self.enter_turn(&caller)?;
        let mut decided = self.decide(call.clone(), Arc::clone(&caller))?;
        if let Some(safe) = self.safe_form(&decided, can_rewrite)? {
            return self.record(safe);
        }
        let mut why = match decided.decision.uncontained {
            Some(Uncontained::Caller) if caller.can_contain => Some(NotContained::NoSandbox),
            Some(why) => Some(NotContained::Call(why)),
            None => None,
        };
        // Where calls are only observed, what would have been said is to be what could have been done.
        let wanted = decided
            .decision
            .observed
            .unwrap_or(decided.decision.verdict);
        if wanted == Verdict::Contain
            && let Err(error) = can(&decided)
        {
            let caller = Arc::new(Caller {
                can_contain: false,
                ..Caller::clone(&caller)
            });
            decided = self.decide(call, caller)?;
            why = Some(error);
        }
        if let Some(why) = why {
            let decision = Arc::make_mut(&mut decided.decision);
            decision.reason = format!("{}. It was not contained: {why}", decision.reason);
            // What is remembered of the call says nothing of that.
            decided.known = None;
        }
        self.record(decided)
    }

    /// The call in the safe form a rule names for it, judged, if it may take the place of the call and runs by itself.
    fn safe_form(
        &self,
        made: &Decided,
        can_rewrite: impl Fn(&Decided) -> bool,
    ) -> Result<Option<Decided>, EngineError> {
        let Some(rewrite) = &made.decision.rewrite else {
            return Ok(None);
        };
        let Some(key) = command_argument(made.call.tool()).filter(|_| can_rewrite(made)) else {
            return Ok(None);
        };
        let mut input = made.call.input().clone();
        input.insert(key.to_owned(), Value::String(rewrite.line.clone()));
        let Ok(mut call) = ToolCall::new(made.call.tool(), Value::Object(input)) else {
            return Ok(None);
        };
        if let Some(directory) = made.call.cwd() {
            call = call.in_directory(directory);
        }
        let caller = Arc::new(Caller {
            can_contain: false,
            ..Caller::clone(&made.caller)
        });
        let mut safe = self.decide(call, caller)?;
        if !safe.decision.verdict.runs() || !can_rewrite(&safe) {
            return Ok(None);
        }
        let decision = Arc::make_mut(&mut safe.decision);
        let line = made.call.command_line().unwrap_or_default();
        decision.reason = format!(
            "{}. It is the safe form of `{}` ({})",
            decision.reason.trim_end_matches('.'),
            escape_for_display(&line, MAX_MADE),
            rewrite.rule
        );
        // What is remembered of the call says nothing of that.
        safe.known = None;
        safe.made = Some(Arc::clone(&made.call));
        Ok(Some(safe))
    }

    /// Judges a call without leaving a trace.
    pub fn decide(&self, call: ToolCall, caller: Arc<Caller>) -> Result<Decided, EngineError> {
        let started = Instant::now();
        let call = Arc::new(call);
        let terms = self.terms(&caller, started)?;
        let made = self.decision(&call, &terms, &caller)?;
        Ok(self.decided(made, call, caller, terms.policy, started))
    }

    /// Judges a call that stands on a line of a stream, without leaving a trace. It is remembered by that
    /// line, so that [`Engine::recall`] finds the decision before the line is read.
    pub fn decide_line(
        &self,
        line: &[u8],
        call: ToolCall,
        said: &LineCaller,
    ) -> Result<Decided, EngineError> {
        let started = Instant::now();
        let (call, caller) = (Arc::new(call), Arc::clone(&said.caller));
        let terms = self.terms(&caller, started)?;
        let made = self.decision_kept(line.to_vec(), &call, &terms, &caller, Some(said))?;
        Ok(self.decided(made, call, caller, terms.policy, started))
    }

    /// The decision on a line of a stream, if it was judged before and nothing that decision was made of
    /// has changed.
    pub fn recall(&self, line: &[u8]) -> Option<Decided> {
        let started = Instant::now();
        let (known, terms) = self.recalled(line, started)?;
        let (call, caller) = (Arc::clone(&known.call), Arc::clone(known.caller()?));
        let made = (Arc::clone(&known.decision), None, Some(known));
        Some(self.decided(made, call, caller, terms.policy, started))
    }

    fn decided(
        &self,
        (decision, reading, known): MadeDecision,
        call: Arc<ToolCall>,
        caller: Arc<Caller>,
        policy: Arc<Policy>,
        started: Instant,
    ) -> Decided {
        Decided {
            engine: self.clone(),
            policy,
            reading: reading.map(OnceLock::from).unwrap_or_default(),
            caller,
            call,
            decision,
            known,
            made: None,
            took: started.elapsed(),
        }
    }

    /// Puts a decision on record.
    pub fn record(&self, decided: Decided) -> Result<Judged, EngineError> {
        let recorded = self.recorder()?.record(&decided.outcome());
        match recorded {
            Ok(()) => {
                self.note_plan(&decided.caller, &decided.decision);
                Ok(decided.recorded())
            }
            Err(error) => Err(EngineError::Unrecorded {
                error: Arc::new(error),
                verdict: decided.decision.verdict,
            }),
        }
    }
}

/// A call that was judged, which nobody may hear of yet.
#[derive(Debug)]
#[must_use]
pub struct Decided {
    engine: Engine,
    caller: Arc<Caller>,
    call: Arc<ToolCall>,
    policy: Arc<Policy>,
    /// The call as it was read; read when it is wanted where the decision was remembered.
    reading: OnceLock<Arc<Reading>>,
    decision: Arc<Decision>,
    known: Option<Arc<Known>>,
    /// The call as it was made, if a rule put this one in its place.
    made: Option<Arc<ToolCall>>,
    took: Duration,
}

impl Decided {
    /// The decision as it is shown, for whoever wants nothing to come of it.
    pub fn without_secrets(&self) -> Decision {
        self.engine.without_secrets(Decision::clone(&self.decision))
    }

    /// Adds the decision as it is shown to others, as JSON.
    pub fn write_without_secrets(&self, into: &mut Vec<u8>) {
        // Writing texts and numbers into memory has no way to fail.
        let written = |mut text: Vec<u8>| {
            let _ = serde_json::to_writer(&mut text, &self.without_secrets());
            text
        };
        match &self.known {
            Some(known) => into.extend_from_slice(known.answer(|| written(Vec::new()))),
            None => *into = written(std::mem::take(into)),
        }
    }

    /// The decision, with whatever the call says.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// The call as it was read.
    pub fn action(&self) -> &Action {
        &self.reading().action
    }

    /// What the call was understood as.
    pub fn explained(&self) -> Result<Explained, EngineError> {
        let around = self.engine.surroundings(self.caller.workspace_text()?);
        Ok(explained(self.action(), &around))
    }

    fn reading(&self) -> &Arc<Reading> {
        self.reading.get_or_init(|| {
            // It was text when the call was judged.
            let workspace = self.caller.workspace_text().unwrap_or("/");
            let (call, session) = (ToolCall::clone(&self.call), self.caller.session());
            self.engine.read(call, &self.policy, workspace, session)
        })
    }

    /// The policy it was judged under.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Whether nothing is left to do once it is on record, if nobody can be asked: no check is to be run,
    /// no copy to be made, nothing to be counted. What is answered is then what is shown.
    pub fn is_final(&self) -> bool {
        self.decision.checks.is_empty() && !self.is_counted()
    }

    /// Whether calls like it are counted, and so must not be judged before those before it are done.
    pub fn is_counted(&self) -> bool {
        match &self.known {
            Some(known) => known.is_counted,
            None => self.policy.limits_calls(self.call.tool()),
        }
    }

    /// What the record says of it.
    pub fn outcome(&self) -> Recorded<'_> {
        let answered = Answered {
            agent: &self.caller.agent,
            session: self.caller.session_name.as_deref(),
            directory: self.caller.workspace.to_str(),
            call: &self.call,
            decision: &self.decision,
            policy: Some(&self.policy),
            took: Some(self.took),
            replayed: None,
        };
        // What was judged just now may never be made again: only what was is kept as it is recorded.
        match &self.known {
            Some(known) if self.reading.get().is_none() => Recorded::Remembered(Remembered {
                answered,
                known,
                caller: &self.caller,
            }),
            Some(_) | None => Recorded::Answered(answered),
        }
    }

    /// The step that follows, once whoever records several at once has done so.
    pub fn recorded(self) -> Judged {
        let reading = Arc::clone(self.reading());
        Judged {
            engine: self.engine,
            caller: self.caller,
            reading,
            made: self.made,
            decision: Arc::unwrap_or_clone(self.decision),
        }
    }
}

/// A call that was judged; the decision is on record.
#[derive(Debug)]
#[must_use]
pub struct Judged {
    pub(crate) engine: Engine,
    pub(crate) caller: Arc<Caller>,
    pub(crate) reading: Arc<Reading>,
    /// The call as it was made, if a rule put this one in its place.
    pub(crate) made: Option<Arc<ToolCall>>,
    /// With whatever the call says: it is shown without secrets.
    pub(crate) decision: Decision,
}

impl Judged {
    /// What was decided.
    pub fn verdict(&self) -> Verdict {
        self.decision.verdict
    }

    /// The call.
    pub fn call(&self) -> &ToolCall {
        self.reading.action.call()
    }

    /// Has a person answer, where one is to be asked. What rules decided passes through.
    pub fn hold(self, asking: Asking<'_>) -> Result<Held, EngineError> {
        match self.decision.verdict {
            Verdict::Allow | Verdict::Notify => Ok(Held::Released(Box::new(Released {
                judged: self,
                resolution: None,
            }))),
            // A person who saw what the sandbox refused it may have let this very call out.
            Verdict::Contain => Ok(Held::Released(Box::new(Released {
                resolution: holding::released(&self),
                judged: self,
            }))),
            Verdict::Deny => Ok(Held::Refused(Refusal::by_rule(self.decision))),
            Verdict::Ask | Verdict::Review => holding::ask(self, asking),
        }
    }

    /// The call, as whoever holds it hears of it.
    pub(crate) fn calling(&self) -> Result<CallContext, EngineError> {
        self.caller.calling(self.call())
    }
}

/// A call that nobody has to be asked about any more.
#[derive(Debug)]
#[must_use]
pub enum Held {
    /// A rule or a person lets it run, if it is still what they let run.
    Released(Box<Released>),
    /// Whoever made the call is to ask, in a dialog of their own.
    HandedOn(Decision),
    /// It does not run; that is on record.
    Refused(Refusal),
}

impl Held {
    /// The last look: is it still what was shown, may it still run, do its checks pass, is there a copy
    /// of what it changes; and it is counted. What does not pass is refused, on record.
    pub fn release(self) -> Result<Outcome, EngineError> {
        match self {
            Held::Released(released) => holding::release(*released),
            Held::HandedOn(decision) => Ok(Outcome::HandedOn(decision)),
            Held::Refused(refusal) => Ok(Outcome::Refused(refusal)),
        }
    }
}

/// A call that a rule or a person lets run.
#[derive(Debug)]
pub struct Released {
    pub(crate) judged: Judged,
    /// What a person said, or whoever asked them; none if a rule spoke a moment ago.
    pub(crate) resolution: Option<holdpoint_broker::Resolution>,
}

/// What comes of a call before it runs.
#[derive(Debug)]
#[must_use]
pub enum Outcome {
    /// It may run, once.
    Runs(Box<Permit>),
    /// Whoever made the call is to ask, in a dialog of their own.
    HandedOn(Decision),
    /// It does not run; that is on record.
    Refused(Refusal),
}

/// Why a call does not run.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// Who or what refused it, without secrets.
    pub decision: Decision,
    /// The request a person was asked by, if one was; by it a later call finds the answer.
    pub request: Option<String>,
    /// What a person was to be asked about, where nobody could be.
    pub unasked: Option<Box<Decision>>,
}

impl Refusal {
    /// By a rule.
    pub(crate) fn by_rule(decision: Decision) -> Self {
        Self {
            decision: without_secrets(decision),
            request: None,
            unasked: None,
        }
    }
}

/// A call that may run, once.
#[derive(Debug)]
#[must_use]
pub struct Permit {
    pub(crate) engine: Engine,
    pub(crate) caller: Arc<Caller>,
    /// The call as it runs.
    pub(crate) reading: Arc<Reading>,
    /// The call as it was made, if a person or a rule changed its arguments.
    pub(crate) made: Option<ToolCall>,
    /// Whether it was a rule that did.
    pub(crate) rewritten: bool,
    pub(crate) decision: Decision,
    pub(crate) request: Option<String>,
}

impl Permit {
    /// The call as it is to run.
    pub fn call(&self) -> &ToolCall {
        self.reading.action.call()
    }

    /// Who or what let it run, without secrets.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// The call as it was made.
    pub fn made(&self) -> &ToolCall {
        self.made.as_ref().unwrap_or(self.call())
    }

    /// Whether a person changed its arguments.
    pub fn was_edited(&self) -> bool {
        self.made.is_some() && !self.rewritten
    }

    /// Whether a rule put it in its safe form.
    pub fn was_rewritten(&self) -> bool {
        self.rewritten
    }

    /// Whether it may run inside the sandbox only. Whoever cannot put it there must not run it; only callers that say
    /// they can ([`Caller::can_contain`]) are given such a permit.
    pub fn is_contained(&self) -> bool {
        self.decision.verdict == Verdict::Contain
    }

    /// The request a person answered.
    pub fn request(&self) -> Option<&str> {
        self.request.as_deref()
    }

    /// The call as it is to run, as whoever holds it hears of it.
    pub fn calling(&self) -> Result<CallContext, EngineError> {
        self.caller.calling(self.call())
    }

    /// What the call was understood as.
    pub fn explained(&self) -> Result<Explained, EngineError> {
        let around = self.engine.surroundings(self.caller.workspace_text()?);
        Ok(explained(&self.reading.action, &around))
    }

    /// Leaves the call to whoever made it, who runs it: the decision, and the arguments if a person
    /// changed them. What it returns comes, if at all, by another way.
    pub fn hand_over(self) -> (Decision, Option<Map<String, Value>>) {
        let edited = self.made.is_some().then(|| self.call().input().clone());
        (self.decision, edited)
    }

    /// The call has run: puts that on record, and inspects what the model may read of the result.
    pub fn ran(self, result: &ToolResult, took: Duration) -> Result<Inspected, EngineError> {
        self.engine.confirm_own(&self.caller, self.call());
        let asked = self.caller.calling(self.call())?;
        let ran = Ran {
            asked: &asked,
            call: self.made(),
            edited: self.made.is_some().then_some(self.call()),
            request: self.request.as_deref(),
            ended: result.ended(),
            took,
        };
        self.engine
            .recorder()?
            .result(&ran, Some(&self.reading.policy))?;
        match result {
            ToolResult::Returned(value) => self.inspected(value),
            ToolResult::Failed(error) => self.inspected(&Value::String(error.clone())),
            ToolResult::Cancelled => Ok(Inspected::default()),
        }
    }

    fn inspected(&self, value: &Value) -> Result<Inspected, EngineError> {
        let input = Value::Object(self.call().input().clone());
        let returned = Returned {
            input: &input,
            value,
            replaceable: true,
            succeeded: None,
        };
        let workspace = self.caller.workspace_text()?;
        let around = self.engine.surroundings(workspace);
        let explain = || explained(&self.reading.action, &around);
        let (call, policy) = (self.call(), &self.reading.policy);
        self.engine
            .inspect(&self.caller, call, policy, &returned, explain)
    }
}

/// How a tool ended.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolResult {
    /// It gave a result.
    Returned(Value),
    /// It failed, for this reason.
    Failed(String),
    /// Whoever wanted the result no longer does, and the tool was left where it stood.
    Cancelled,
}

impl ToolResult {
    fn ended(&self) -> Ended<'_> {
        match self {
            ToolResult::Returned(_) => Ended::Returned,
            ToolResult::Failed(error) => Ended::Failed(error),
            ToolResult::Cancelled => Ended::Cancelled,
        }
    }
}

/// What a call returned that ran elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Returned<'a> {
    /// Its arguments, as they are told with the result.
    pub input: &'a Value,
    /// What it returned, or why it failed.
    pub value: &'a Value,
    /// Whether the model can be given something else in its place.
    pub replaceable: bool,
    /// Whether the call ended well, where the agent says so.
    pub succeeded: Option<bool>,
}

impl Engine {
    /// Inspects what a call returned that was handed over and ran elsewhere. `before_asking` hears how long that may take longer
    /// because somebody else may be asked for an opinion.
    pub fn inspect_result(
        &self,
        caller: &Caller,
        call: ToolCall,
        returned: &Returned<'_>,
        before_asking: &dyn Fn(Duration),
    ) -> Result<Inspected, EngineError> {
        self.confirm_own(caller, &call);
        let policy = self.policy(&caller.policy)?;
        self.confirm_tests(caller, &call, &policy, returned)?;
        if let Some(server) = policy.second_opinion() {
            before_asking(Duration::from_millis(server.deadline()));
        }
        let workspace = caller.workspace_text()?;
        let explain = || {
            let reading = self.read(call.clone(), &policy, workspace, caller.session());
            explained(&reading.action, &self.surroundings(workspace))
        };
        self.inspect(caller, &call, &policy, returned, explain)
    }

    /// Remembers how the tests went that a call ran. Where nobody says how, they count as failed.
    fn confirm_tests(
        &self,
        caller: &Caller,
        call: &ToolCall,
        policy: &Arc<Policy>,
        returned: &Returned<'_>,
    ) -> Result<(), EngineError> {
        if !policy.asks_about_tests() {
            return Ok(());
        }
        let line = call.command_line().unwrap_or_default();
        if may_run_tests(&line) {
            let workspace = caller.workspace_text()?;
            let reading = self.read(call.clone(), policy, workspace, caller.session());
            if runs_tests(&reading.action) {
                let told = exit_status(returned.value).map(|status| status == 0);
                let passed = told.or(returned.succeeded) == Some(true)
                    && returned.succeeded != Some(false)
                    && has_ended(returned);
                self.confirm_tests_of(caller, call, passed)?;
            }
        }
        Ok(())
    }

    /// `explain` says what the call does; it is asked only where its tool does not say enough.
    fn inspect(
        &self,
        caller: &Caller,
        call: &ToolCall,
        policy: &Policy,
        returned: &Returned<'_>,
        explain: impl FnOnce() -> Explained,
    ) -> Result<Inspected, EngineError> {
        let incoming = Incoming {
            agent: &caller.agent,
            session: caller.session(),
            directory: Some(call.cwd().unwrap_or(caller.workspace_text()?)),
            tool: Some((call.tool(), returned.input)),
            origin: origin_of(call, explain),
            replaceable: returned.replaceable,
            policy,
        };
        let inspected = inspecting::inspect_value(self.locations(), &incoming, returned.value)?;
        Ok(inspected)
    }

    /// Inspects what a user wrote, before the model reads it. `directory` is where the agent stands.
    pub fn inspect_prompt(
        &self,
        caller: &Caller,
        directory: &str,
        text: &str,
    ) -> Result<Inspected, EngineError> {
        let policy = self.policy(&caller.policy)?;
        let incoming = Incoming {
            agent: &caller.agent,
            session: caller.session(),
            directory: Some(directory),
            tool: None,
            origin: Origin::User,
            replaceable: false,
            policy: &policy,
        };
        let inspected = inspecting::inspect_prompt(self.locations(), &incoming, text)?;
        Ok(inspected)
    }
}

/// Whether a command has run to its end, as far as the agent says: not in the background, and not interrupted.
fn has_ended(returned: &Returned<'_>) -> bool {
    let is_on = |value: &Value, name: &str| value.get(name).and_then(Value::as_bool) == Some(true);
    !is_on(returned.input, "run_in_background")
        && !is_on(returned.value, "interrupted")
        && returned.value.get("backgroundTaskId").is_none()
}

/// The exit status in what a command returned, under the names agents have for it.
fn exit_status(value: &Value) -> Option<i64> {
    const NAMES: [&str; 6] = [
        "exit_code",
        "exitCode",
        "exit_status",
        "exitStatus",
        "returncode",
        "return_code",
    ];
    let in_object = |object: &Value| NAMES.iter().find_map(|name| object.get(name)?.as_i64());
    in_object(value).or_else(|| value.get("metadata").and_then(in_object))
}
