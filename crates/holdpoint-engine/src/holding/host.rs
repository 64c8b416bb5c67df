//! What the broker needs of this user's policies, sessions and ledger.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use holdpoint_broker::{
    BrokerHost, CallContext, Context, Event, Evidence, Judged, KeptFor, Memory, Prepared, Problem,
    Request, SignedAnswer, UnixMillis, Unsure, Vouched, Warned,
};
use holdpoint_core::policy::{Authority, Source, Trust};
use holdpoint_core::{Action, Session, SessionState, Surroundings, Verdict, judge, named};
use holdpoint_ledger::Kind;
use holdpoint_proof::Pins;
use serde_json::json;

use super::{binding, proving, pushes, terms, texts};
use crate::account::account_name;
use crate::context::{PolicySource, SessionSource};
use crate::engine::{Engine, PolicyWriter, Reading};
use crate::excerpt::{text_without_secrets, without_secrets};
use crate::humanize::counted;
use crate::kept::KeptRules;
use crate::pins::Pinned;
use crate::recording::Hold;
use crate::simulate::simulate;
use crate::{checks, display};

/// The most lines of what a call would do that are shown: what fits above the question on a screen.
const MAX_LOSSES: usize = 12;

/// Where a rule is put that outlives its session.
enum Keeping {
    /// Among those of a project.
    Project(KeptRules, PathBuf),
    /// In the user's policy.
    User(PolicyWriter, PathBuf),
}

impl Keeping {
    fn new(engine: &Engine, asked: &CallContext, place: KeptFor) -> Result<Self, Problem> {
        let locations = engine.locations();
        let nowhere =
            || Problem("it cannot be kept there: answer `always`, for this session".into());
        match place {
            KeptFor::Project => {
                let rules = KeptRules::at(locations).ok_or_else(nowhere)?;
                Ok(Keeping::Project(rules, PathBuf::from(&asked.workspace)))
            }
            KeptFor::User => {
                let file = locations.named.as_ref().or(locations.user.as_ref());
                let both = engine.policy_writer().zip(file);
                let (writer, file) = both.ok_or_else(nowhere)?;
                Ok(Keeping::User(writer, file.clone()))
            }
        }
    }

    fn keep(&self, patterns: &[String]) -> Result<(), Problem> {
        match self {
            Keeping::Project(rules, workspace) => rules.add(workspace, patterns).map_err(problem),
            Keeping::User(writer, file) => writer(file, patterns).map_err(problem),
        }
    }
}

/// For how long a rule of a session holds, in words.
pub(super) fn lasting() -> String {
    "until the session has been idle for a day, or `holdpoint permissions clear`".into()
}

/// Judges, shows, records and remembers calls for the broker, under one policy.
pub(super) struct Host<'a> {
    pub(super) engine: &'a Engine,
    pub(super) policy: PolicySource,
    /// The words a tool has for its own calls.
    pub(super) introduce: Option<Introduce<'a>>,
}

/// Puts a tool's own words into what a person is shown of its call.
pub type Introduce<'a> =
    &'a (dyn Fn(&CallContext, Prepared) -> Result<Prepared, Problem> + Send + Sync);

/// A call as it stands now.
pub(super) struct Looked {
    pub(super) reading: Arc<Reading>,
    /// Without secrets.
    pub(super) judged: Judged,
}

impl<'a> Host<'a> {
    /// For a call that came from elsewhere.
    pub(super) fn of_call(engine: &'a Engine, asked: &CallContext) -> Self {
        Self {
            engine,
            policy: engine.source_for(asked),
            introduce: None,
        }
    }

    /// Looks at a call under the policy and the session in force now. It is read again only if
    /// something it was read from has changed.
    pub(super) fn look(&self, asked: &CallContext) -> Result<Looked, Problem> {
        let reading = self.reading(asked)?;
        let session = self.session(asked)?;
        Ok(Looked {
            judged: judged_in(self.engine, asked, &reading, &session),
            reading,
        })
    }

    fn session(&self, asked: &CallContext) -> Result<Arc<Session>, Problem> {
        let kept = SessionSource::Kept(asked.session.clone());
        let session = self.engine.session(&kept).map_err(problem)?;
        let session = self
            .engine
            .session_of(session, &asked.agent, &asked.session);
        session.map_err(problem)
    }

    /// Whether no rule speaks against it that the agent reads a file. What is asked about only because everything is may be read.
    fn may_be_read(&self, asked: &CallContext, path: &str) -> bool {
        let mut input = serde_json::Map::new();
        input.insert("file_path".into(), json!(path));
        let read = CallContext {
            tool: "Read".into(),
            ..asked.with_input(input)
        };
        let judged = || {
            let policy = self.engine.policy(&self.policy).map_err(problem)?;
            let (call, session) = (read.call().map_err(problem)?, self.session(asked)?);
            let session = (asked.session.as_str(), session.as_ref());
            Ok::<_, Problem>(
                self.engine
                    .judge_aside(call, &policy, &asked.workspace, session),
            )
        };
        judged().is_ok_and(|decision| {
            decision.verdict.runs() || decision.verdict != Verdict::Deny && decision.rule.is_none()
        })
    }

    /// Puts events on record, all of them or none.
    fn record_all(&self, events: &[Event<'_>]) -> Result<(), Problem> {
        // What is redacted depends on the policy. If that cannot be read any more, what is redacted
        // always still is.
        let policy = self.engine.latest_policy(&self.policy);
        let recorder = self.engine.recorder().map_err(problem)?;
        recorder
            .hold(&Hold {
                events,
                policy: policy.as_deref(),
            })
            .map_err(problem)?;
        for event in events {
            if let Event::Used(request) = event {
                self.note_release(request);
            }
        }
        Ok(())
    }

    /// Remembers that a call of this form was asked about and released. Nothing rests on it but what is offered, so no
    /// release fails over it.
    fn note_release(&self, request: &Request) {
        let forms = request.terms.offers.iter().map(|offer| &offer.patterns);
        let forms: Vec<&Vec<String>> = forms.collect();
        if !forms.is_empty() {
            let _ = self.engine.change_session(&request.asked.session, |state| {
                forms.into_iter().for_each(|form| state.note_release(form));
            });
        }
    }

    /// Whether rules in the user's policy let the call run: others would be kept in vain.
    fn must_help(&self, asked: &CallContext, patterns: &[String]) -> Result<(), Problem> {
        let reading = self.reading(asked)?;
        let kept = SessionSource::Kept(asked.session.clone());
        let session = self.engine.session(&kept).map_err(problem)?;
        let source = Source {
            name: "answer".into(),
            authority: Authority::User,
            trust: Trust::Trusted,
            bytes: json!({ "allow": { "patterns": patterns } })
                .to_string()
                .into_bytes(),
        };
        let policy = reading.policy.with_further(&source).map_err(problem)?;
        let around = self.engine.surroundings(&asked.workspace);
        match judge(&reading.action, &policy, &session, &around).verdict.runs() {
            true => Ok(()),
            false => Err(Problem(
                "a rule of yours would not answer this question, only one of the session does: answer `always`".into(),
            )),
        }
    }

    fn reading(&self, asked: &CallContext) -> Result<Arc<Reading>, Problem> {
        let policy = self.engine.policy(&self.policy).map_err(problem)?;
        let call = asked.call().map_err(problem)?;
        let (workspace, session) = (&asked.workspace, &asked.session);
        Ok(self.engine.reading(call, &policy, workspace, session))
    }
}

/// A call that was read, judged by what a session remembers; what a release of it is bound to.
fn judged_in(engine: &Engine, asked: &CallContext, reading: &Reading, session: &Session) -> Judged {
    let (action, policy) = (&reading.action, &reading.policy);
    let decision = engine.judge_reading(reading, session, &asked.session);
    let around = engine.surroundings(&asked.workspace);
    let pinned = Pinned::at(engine.locations());
    let terms = terms::for_decision(
        asked,
        action,
        &decision,
        policy,
        session.state(),
        &around,
        &pinned,
    );
    let paths = named(action).paths;
    let home = engine.locations().home.as_deref();
    let loaded = binding::Loaded::of_call(asked, action, &decision, &paths, home);
    let shown = without_secrets(decision.clone());
    let card = proving::card_of(asked, action, &shown);
    let bound = binding::for_call(asked, &decision, &paths, &loaded, &terms, &card);
    Judged {
        binding: bound.whole,
        former: bound.former,
        parts: bound.parts,
        card,
        decision: shown,
        terms,
    }
}

impl BrokerHost for Host<'_> {
    fn judge(&self, asked: &CallContext) -> Result<Judged, Problem> {
        Ok(self.look(asked)?.judged)
    }

    fn judge_remembering(&self, asked: &CallContext, memory: &Memory) -> Result<Judged, Problem> {
        let reading = self.reading(asked)?;
        let kept = SessionSource::Kept(asked.session.clone());
        let session = self.engine.session(&kept).map_err(problem)?;
        let mut state = session.state().clone();
        match memory {
            // Wherever it is kept, in this session it does what a rule of the session does.
            Memory::Keep { patterns, .. } => {
                for pattern in patterns {
                    state.allow_pattern(pattern);
                }
            }
            Memory::Allow { .. }
            | Memory::Deny { .. }
            | Memory::All
            | Memory::Turn
            | Memory::Idle => remembered(&mut state, memory),
        }
        let session = self
            .engine
            .session_of(Arc::new(Session::new(state)), &asked.agent, &asked.session)
            .map_err(problem)?;
        Ok(judged_in(self.engine, asked, &reading, &session))
    }

    fn prepare(&self, asked: &CallContext, judged: &Judged) -> Result<Prepared, Problem> {
        let reading = self.reading(asked)?;
        let action = &reading.action;
        let around = self.engine.surroundings(&asked.workspace);
        let paths = named(action).paths;
        let workspace = Path::new(&asked.workspace);
        let home = self.engine.locations().home.as_deref();
        let checks = checks::run(&judged.decision.checks, action, &paths, workspace, home);
        let mut display = display::display(action, &judged.decision, &paths, workspace);
        display.warnings.extend(simulated_losses(action, &around));
        let loaded = binding::Loaded::of_call(asked, action, &judged.decision, &paths, home);
        display.warnings.extend(pushes::shown(&loaded.pushes));
        if loaded.modules.is_cut {
            display.warnings.push(Warned {
                level: "warning".into(),
                text: "its scripts load more than can be followed: what may change while it waits is not all held".into(),
            });
        }
        let suggested = terms::suggested(&judged.terms).map(|text| Warned {
            level: "info".into(),
            text,
        });
        display.warnings.extend(suggested);
        let prepared = Prepared {
            display,
            context: shown_context(&asked.context),
            checks,
            texts: texts::of_call(asked, &judged.decision, &paths, &loaded, &|path| {
                self.may_be_read(asked, path)
            }),
        };
        match self.introduce {
            Some(introduce) => introduce(asked, prepared),
            None => Ok(prepared),
        }
    }

    fn texts(&self, asked: &CallContext) -> BTreeMap<String, String> {
        // What cannot be read any more has no text to compare.
        let Ok(Looked { judged, reading }) = self.look(asked) else {
            return BTreeMap::new();
        };
        let (action, decision) = (&reading.action, &judged.decision);
        let paths = named(action).paths;
        let home = self.engine.locations().home.as_deref();
        let loaded = binding::Loaded::of_call(asked, action, decision, &paths, home);
        texts::of_call(asked, decision, &paths, &loaded, &|path| {
            self.may_be_read(asked, path)
        })
    }

    fn difference(&self, before: &CallContext, after: &CallContext) -> String {
        display::diff_of_arguments(&before.input, &after.input)
    }

    fn record(&self, event: Event<'_>) -> Result<(), Problem> {
        self.record_all(&[event])
    }

    fn record_both(&self, first: Event<'_>, second: Event<'_>) -> Result<(), Problem> {
        self.record_all(&[first, second])
    }

    fn sign_record(&self, age: Duration) -> Result<(), Problem> {
        BrokerHost::sign_record(self.engine, age)
    }

    fn vouch(
        &self,
        request: &Request,
        said: &SignedAnswer,
        now: UnixMillis,
    ) -> Result<Vouched, Unsure> {
        proving::vouch(self.engine.locations(), request, said, now)
    }

    fn seated(&self, request: &Request, evidence: &Evidence) -> Result<(), Unsure> {
        proving::seated(request, evidence)
    }

    fn burn(&self, nonces: &[String]) {
        proving::burn(self.engine.locations(), nonces);
    }

    fn statement(
        &self,
        request: &Request,
        approver: &str,
        now: UnixMillis,
    ) -> Result<String, Problem> {
        proving::statement(self.engine.locations(), request, approver, now)
    }

    fn pins(&self) -> Result<Pins, Problem> {
        match Pinned::at(self.engine.locations()) {
            Pinned::Nobody => Ok(Pins::default()),
            known @ (Pinned::Keys(_) | Pinned::Unusable(_)) => known.keys().map_err(Problem),
        }
    }

    fn remember(
        &self,
        asked: &CallContext,
        memory: &Memory,
        approver: &str,
    ) -> Result<(), Problem> {
        let what = json!({"action": "answer", "change": memory});
        let recorder = self.engine.recorder().map_err(problem)?;
        let record = |kind| {
            recorder
                .changes_by(approver, kind, Some(&asked.session), &what)
                .map_err(problem)
        };
        if let Memory::Keep {
            patterns, place, ..
        } = memory
        {
            let owner = account_name();
            if approver != owner {
                return Err(Problem(format!(
                    "only {owner}, whose policy it is, keeps a rule beyond the session: answer `always` or yes"
                )));
            }
            let keeping = Keeping::new(self.engine, asked, *place)?;
            self.must_help(asked, patterns)?;
            record(Kind::PolicyChange)?;
            return keeping.keep(patterns);
        }
        record(Kind::SessionRule)?;
        self.engine
            .change_session(&asked.session, |state| {
                remembered(state, memory);
                if matches!(memory, Memory::Turn | Memory::Idle) {
                    state.turn = asked.context.turn().map(str::to_owned);
                }
            })
            .map_err(problem)
    }
}

/// The daemon's: every call it is asked about came from elsewhere.
impl BrokerHost for Engine {
    fn judge(&self, asked: &CallContext) -> Result<Judged, Problem> {
        Host::of_call(self, asked).judge(asked)
    }

    fn judge_remembering(&self, asked: &CallContext, memory: &Memory) -> Result<Judged, Problem> {
        Host::of_call(self, asked).judge_remembering(asked, memory)
    }

    fn prepare(&self, asked: &CallContext, judged: &Judged) -> Result<Prepared, Problem> {
        Host::of_call(self, asked).prepare(asked, judged)
    }

    fn texts(&self, asked: &CallContext) -> BTreeMap<String, String> {
        Host::of_call(self, asked).texts(asked)
    }

    fn difference(&self, before: &CallContext, after: &CallContext) -> String {
        Host::of_call(self, before).difference(before, after)
    }

    fn record(&self, event: Event<'_>) -> Result<(), Problem> {
        Host::of_call(self, asked_in(event)).record(event)
    }

    fn record_both(&self, first: Event<'_>, second: Event<'_>) -> Result<(), Problem> {
        Host::of_call(self, asked_in(first)).record_both(first, second)
    }

    fn sign_record(&self, age: Duration) -> Result<(), Problem> {
        let recorder = self.recorder().map_err(problem)?;
        recorder.sign_if_older(age).map(drop).map_err(problem)
    }

    fn vouch(
        &self,
        request: &Request,
        said: &SignedAnswer,
        now: UnixMillis,
    ) -> Result<Vouched, Unsure> {
        proving::vouch(self.locations(), request, said, now)
    }

    fn seated(&self, request: &Request, evidence: &Evidence) -> Result<(), Unsure> {
        proving::seated(request, evidence)
    }

    fn burn(&self, nonces: &[String]) {
        proving::burn(self.locations(), nonces);
    }

    fn statement(
        &self,
        request: &Request,
        approver: &str,
        now: UnixMillis,
    ) -> Result<String, Problem> {
        proving::statement(self.locations(), request, approver, now)
    }

    fn pins(&self) -> Result<Pins, Problem> {
        Pinned::at(self.locations()).keys().map_err(Problem)
    }

    fn remember(
        &self,
        asked: &CallContext,
        memory: &Memory,
        approver: &str,
    ) -> Result<(), Problem> {
        Host::of_call(self, asked).remember(asked, memory, approver)
    }
}

/// The call an event is about.
fn asked_in(event: Event<'_>) -> &CallContext {
    match event {
        Event::Judged { asked, .. } => asked,
        Event::Opened(request)
        | Event::Answered { request, .. }
        | Event::Expired(request)
        | Event::Withdrawn(request)
        | Event::Used(request) => &request.asked,
    }
}

/// What the call would do, as far as that is known without doing it (O-18): what it would remove or
/// overwrite, what git would lose. Nothing where nothing is.
fn simulated_losses(action: &Action, around: &Surroundings<'_>) -> Vec<Warned> {
    let told = simulate(action, around).told();
    let more = told.len().saturating_sub(MAX_LOSSES);
    let more = (more > 0).then(|| format!("and {}", counted(more, "more thing")));
    told.into_iter()
        .take(MAX_LOSSES)
        .chain(more)
        .map(|text| Warned {
            level: "info".into(),
            text,
        })
        .collect()
}

fn remembered(state: &mut SessionState, memory: &Memory) {
    match memory {
        Memory::Allow { patterns, .. } => {
            for pattern in patterns {
                state.allow_pattern(pattern);
            }
        }
        Memory::Deny { patterns, .. } => {
            for pattern in patterns {
                if !state.deny.contains(pattern) {
                    state.deny.push(pattern.clone());
                }
            }
        }
        // It is kept elsewhere.
        Memory::Keep { .. } => {}
        Memory::All => state.suspended.all = true,
        Memory::Turn => state.suspended.turn = true,
        Memory::Idle => state.suspended.idle = true,
    }
}

pub(super) fn problem(error: impl std::fmt::Display) -> Problem {
    Problem(text_without_secrets(&error.to_string()))
}

/// The circumstances without secrets: what an agent says of itself is its text like any other.
fn shown_context(context: &Context) -> Context {
    let clean = |text: &Option<String>| text.as_deref().map(text_without_secrets);
    let values = serde_json::Value::Object(context.more.clone().into_iter().collect());
    let more = crate::excerpt::value_without_secrets(&values);
    Context {
        session_id: clean(&context.session_id),
        user_id: clean(&context.user_id),
        turn_number: context.turn_number,
        previous_tools: context
            .previous_tools
            .iter()
            .take(50)
            .map(|tool| text_without_secrets(tool))
            .collect(),
        project: clean(&context.project),
        environment: clean(&context.environment),
        request_source: clean(&context.request_source),
        intent: clean(&context.intent),
        agent_type: clean(&context.agent_type),
        agent_name: clean(&context.agent_name),
        more: more.into_iter().collect(),
    }
}
