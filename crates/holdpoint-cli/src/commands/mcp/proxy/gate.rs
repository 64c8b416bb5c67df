//! Where the calls of a server's tools are judged, and what it says to models is looked at.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use holdpoint_broker::Context;
use holdpoint_core::text::{Action, Origin};
use holdpoint_daemon::webhook;
use holdpoint_engine::holding::{Approvers, Asking, Dialog};
use holdpoint_engine::inspecting::{Incoming, Inspected, inspect_value};
use holdpoint_engine::middleware::Executed;
use holdpoint_engine::pipeline::{Judged, Outcome, Permit, ToolResult};
use holdpoint_engine::{
    Caller, Engine, EngineError, Failed, Locations, Method, SessionSource, ToolCall, Verdict,
    working_directory,
};
use holdpoint_mcp::pins::{Pins, Seen, Why};
use holdpoint_mcp::{Call, Definition, Listing, ServerName};
use serde_json::{Map, Value, json};

use super::wires::tell;
use crate::commands::mcp::pin_store::{Keep, PinStore, Stamp};

/// Whoever calls, as the record names it: the client does not say which agent it is.
const AGENT: &str = "mcp";

/// Under `_meta` of a call, the name Claude Code has for it in its hooks.
const TOOL_USE_ID: &str = "claudecode/toolUseId";

/// Judges the calls of one server's tools.
pub(super) struct Gate {
    engine: Engine,
    server: ServerName,
    session: String,
    workspace: PathBuf,
    standing: String,
    pins: PinStore,
    /// What was kept of it when its file last changed.
    known: Mutex<(Option<Stamp>, Option<Pins>)>,
    /// Whether the server was never seen before this process.
    first_sight: bool,
}

/// What is to be done with a call.
pub(super) enum Ruling {
    /// The server is to run it.
    Runs(Box<Permit>),
    /// It is not.
    Refused(Refused),
    /// A person is asked.
    Hold(Box<Judged>),
}

/// What the model is told of a call that does not run.
pub(super) struct Refused {
    pub(super) text: String,
    pub(super) permission: Value,
}

impl From<Executed> for Refused {
    fn from(executed: Executed) -> Self {
        let text = executed.value.get("error").and_then(Value::as_str);
        Self {
            text: text.unwrap_or("Permission denied").to_owned(),
            permission: executed.permission.to_json(),
        }
    }
}

/// What becomes of a text on its way to a model.
pub(super) enum Passed {
    /// It goes on as it came, with a note if there is one.
    AsItCame(Option<String>),
    /// Something else goes on in its place.
    Instead(Value, Option<String>),
    /// Nothing of it does, for this reason.
    KeptBack(String),
}

impl Gate {
    pub(super) fn new(
        locations: &Locations,
        server: ServerName,
        session: Option<String>,
        pins: PinStore,
    ) -> anyhow::Result<Self> {
        let workspace = working_directory(None)?;
        let standing = workspace.to_str().ok_or(EngineError::Directory)?.to_owned();
        let session = session.unwrap_or_else(|| format!("mcp-{server}-{}", std::process::id()));
        let first_sight = pins.read()?.is_none();
        Ok(Self {
            engine: Engine::at(locations).with_webhooks(webhook::build),
            server,
            session,
            workspace,
            standing,
            pins,
            known: Mutex::default(),
            first_sight,
        })
    }

    /// The server whose tools they are.
    pub(super) fn server(&self) -> &ServerName {
        &self.server
    }

    /// Judges a call. One that cannot be judged is refused, on record.
    pub(super) fn judge(&self, asked: &Call) -> Ruling {
        let call = asked.call.clone().in_directory(self.standing.as_str());
        match self.why_it_waits(&asked.tool) {
            Ok(None) => {}
            Ok(Some(why)) => {
                let problem = match why {
                    Why::Unlisted => why.to_string(),
                    Why::Changed | Why::New | Why::Orders => format!(
                        "{why}; a person reads it and takes it with `holdpoint mcp accept {}`",
                        self.server
                    ),
                };
                return Ruling::Refused(self.failed(&call, &problem));
            }
            Err(error) => return Ruling::Refused(self.failed(&call, &format!("{error:#}"))),
        }
        self.judged(call.clone(), asked)
            .unwrap_or_else(|error| Ruling::Refused(self.refused_by_error(&call, &error)))
    }

    fn judged(&self, call: ToolCall, asked: &Call) -> Result<Ruling, EngineError> {
        let judged = self.engine.judge(call, Arc::new(self.caller(asked)))?;
        if matches!(judged.verdict(), Verdict::Ask | Verdict::Review) {
            return Ok(Ruling::Hold(Box::new(judged)));
        }
        let call = judged.call().clone();
        let outcome = judged.hold(Asking::by(Approvers::Nobody))?.release()?;
        Ok(ruling(&call, outcome))
    }

    /// What a person says to a call, or that none can be asked. Waits for as long as that takes.
    pub(super) fn held(
        &self,
        judged: Judged,
        asked: &Call,
        cancelled: &dyn Fn() -> bool,
    ) -> Ruling {
        let call = judged.call().clone();
        let outcome = judged.hold(Asking {
            cancelled,
            // What a user has answered the server is not one of the arguments.
            takes_edits: !asked.has_answers,
            ..Asking::by(Approvers::AsPolicySays(Dialog::None))
        });
        match outcome.and_then(|held| held.release()) {
            Ok(outcome) => ruling(&call, outcome),
            Err(error) => Ruling::Refused(self.refused_by_error(&call, &error)),
        }
    }

    fn refused_by_error(&self, call: &ToolCall, error: &EngineError) -> Refused {
        if error.is_on_record() {
            return Executed::failed(call.clone(), &error.to_string()).into();
        }
        self.failed(call, &error.to_string())
    }

    /// Puts on record that a call does not run because something is wrong, and says what its model is told.
    pub(super) fn failed(&self, call: &ToolCall, problem: &str) -> Refused {
        tell(&format!("`{}` refused: {problem}", call.tool()));
        self.record_failure(Some(call), problem);
        Executed::failed(call.clone(), problem).into()
    }

    pub(super) fn record_failure(&self, call: Option<&ToolCall>, problem: &str) {
        self.engine.record_failure(&Failed {
            agent: AGENT,
            session: Some(&self.session),
            call,
            problem,
            left_alone: false,
            replayed: None,
        });
    }

    fn caller(&self, asked: &Call) -> Caller {
        let mut circumstances = Context {
            session_id: Some(self.session.clone()),
            request_source: Some("mcp".into()),
            ..Context::default()
        };
        let more = &mut circumstances.more;
        more.insert("mcp_server".into(), json!(self.server.as_str()));
        if let Some(Value::String(id)) = asked.meta.get(TOOL_USE_ID) {
            more.insert("tool_use_id".into(), json!(id));
        }
        self.caller_in(circumstances)
    }

    fn caller_in(&self, circumstances: Context) -> Caller {
        Caller {
            agent: AGENT.into(),
            session_name: Some(self.session.clone()),
            policy: self.engine.layers(&self.workspace),
            session: SessionSource::Kept(self.session.clone()),
            workspace: self.workspace.clone(),
            can_contain: false,
            circumstances,
        }
    }

    /// A call has run: puts that on record, and says what its model may read of what the tool returned.
    pub(super) fn ran(&self, permit: Permit, started: Instant, result: ToolResult) -> Passed {
        let call = permit.call().clone();
        match permit.ran(&result, started.elapsed()) {
            Ok(inspected) => passed(inspected),
            Err(error) => {
                let problem = format!("What the tool returned is kept back: {error}");
                tell(&problem);
                self.record_failure(Some(&call), &problem);
                Passed::KeptBack(problem)
            }
        }
    }

    /// Looks at a text of the server that no call returned, which came in answer to `method`.
    pub(super) fn inspect(&self, method: &str, origin: Origin, text: &Value) -> Passed {
        let looked = self.inspected(method, origin, text);
        looked.map_or_else(
            |problem| {
                let problem = format!("What the server says is kept back: {problem}");
                self.record_failure(None, &problem);
                Passed::KeptBack(problem)
            },
            passed,
        )
    }

    fn inspected(&self, about: &str, origin: Origin, text: &Value) -> Result<Inspected, String> {
        let caller = self.caller_in(Context::default());
        let policy = self
            .engine
            .policy(&caller.policy)
            .map_err(|error| error.to_string())?;
        let incoming = Incoming {
            agent: AGENT,
            session: &self.session,
            directory: Some(&self.standing),
            tool: Some((&self.server.tool(about), &Value::Null)),
            origin,
            replaceable: true,
            policy: &policy,
        };
        inspect_value(self.engine.locations(), &incoming, text).map_err(|error| error.to_string())
    }

    /// The tools of a list that a model is not to see: those that wait for a person, and those no call of
    /// which would run.
    pub(super) fn hidden(&self, listing: &Listing<'_>) -> anyhow::Result<BTreeSet<String>> {
        let mut hidden = BTreeSet::new();
        let mut told = Vec::new();
        self.pins.change(|pins| {
            let mut keep = Keep::Same;
            let first_sight = self.first_sight && !pins.first_sight_is_over();
            let mut has_room = true;
            for one in listing.definitions() {
                let why = match pins.seen(one) {
                    Seen::Pinned => {
                        if pins.settle(one) {
                            keep = Keep::Changed;
                        }
                        continue;
                    }
                    Seen::Waits(_) => {
                        hidden.insert(one.name.clone());
                        continue;
                    }
                    Seen::Otherwise => Some(self.orders(one).unwrap_or(Why::Changed)),
                    Seen::Never if first_sight => self.orders(one),
                    Seen::Never => Some(self.orders(one).unwrap_or(Why::New)),
                };
                let waited = pins.waits(&one.name).is_some();
                let kept = match why {
                    Some(why) => {
                        hidden.insert(one.name.clone());
                        if !waited {
                            told.push((one.name.clone(), why));
                        }
                        pins.hold(one, why)
                    }
                    None => pins.pin(one),
                };
                keep = Keep::Changed;
                if !kept {
                    hidden.insert(one.name.clone());
                    has_room = false;
                }
            }
            // What there is no room for counts as not listed, which it does only once first sight is over.
            if (listing.is_last() || !has_room) && pins.end_first_sight() {
                keep = Keep::Changed;
            }
            ((), keep)
        })?;
        for (tool, why) in told {
            tell(&format!(
                "`{tool}` is hidden: {why}: read it with `holdpoint mcp accept {}`",
                self.server
            ));
        }
        let denied = listing
            .definitions()
            .filter(|one| !hidden.contains(&one.name) && self.is_denied(&one.name))
            .map(|one| one.name.clone())
            .collect::<Vec<_>>();
        hidden.extend(denied);
        Ok(hidden)
    }

    /// Whether what is said of a tool is nothing for a model.
    fn orders(&self, one: &Definition) -> Option<Why> {
        let words = Value::Object(one.words.clone());
        let found = self.inspected(&one.name, Origin::Description, &words);
        match found {
            Ok(inspected) if inspected.action < Action::Quarantine => None,
            Ok(_) | Err(_) => Some(Why::Orders),
        }
    }

    /// Whether a rule denies a tool by its name, whatever it is called with.
    fn is_denied(&self, tool: &str) -> bool {
        let call = ToolCall::new(self.server.tool(tool), Value::Null);
        let Ok(call) = call.map(|call| call.in_directory(self.standing.as_str())) else {
            return true;
        };
        let caller = Arc::new(self.caller_in(Context::default()));
        self.engine.decide(call, caller).is_ok_and(|decided| {
            let decision = decided.decision();
            decision.verdict == Verdict::Deny && decision.method == Method::Blacklist
        })
    }

    /// Why no call of a tool runs until a person has read something. Read anew only where it has changed:
    /// what is kept of a server with many tools is long.
    fn why_it_waits(&self, tool: &str) -> anyhow::Result<Option<Why>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = self.pins.stamp();
        if stamp.is_none() || known.0 != stamp {
            *known = (stamp, self.pins.read()?);
        }
        let Some(pins) = &known.1 else {
            return Ok(None);
        };
        let is_over = !self.first_sight || pins.first_sight_is_over();
        let unlisted = (is_over && !pins.is_pinned(tool)).then_some(Why::Unlisted);
        Ok(pins.waits(tool).or(unlisted))
    }
}

fn ruling(call: &ToolCall, outcome: Outcome) -> Ruling {
    match outcome {
        Outcome::Runs(permit) => Ruling::Runs(permit),
        Outcome::Refused(refusal) => Ruling::Refused(Executed::refused_by(call, &refusal).into()),
        // There is no dialog to hand it on to.
        Outcome::HandedOn(decision) => {
            Ruling::Refused(Executed::failed(call.clone(), &decision.reason).into())
        }
    }
}

fn passed(inspected: Inspected) -> Passed {
    match (inspected.action, inspected.instead) {
        (Action::Block, _) => Passed::KeptBack(
            inspected
                .note
                .unwrap_or_else(|| "What came is kept back.".to_owned()),
        ),
        (_, Some(instead)) => Passed::Instead(instead, inspected.note),
        (_, None) => Passed::AsItCame(inspected.note),
    }
}

/// The fields of a value, if it is an object.
pub(super) fn fields(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(fields) => Some(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            None
        }
    }
}
