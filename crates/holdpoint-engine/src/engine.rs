//! What the steps of the pipeline share: this user's policies, sessions and ledger, and what was
//! read and loaded already.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use holdpoint_broker::CallContext;
use holdpoint_broker::channel::WebhookBuilder;
use holdpoint_core::facts::{edits, may_run_tests, runs_tests};
use holdpoint_core::paths::Lookup;
use holdpoint_core::policy::{External, Presence, ask_outside};
use holdpoint_core::text::redaction::Redactor;
use holdpoint_core::{
    Action, Decision, Finding, Policy, Risk, Session, SessionState, Surroundings, ToolCall,
    Verdict, judge, made_by, offers, plan, understand, written_by,
};

use crate::containing;
use crate::context::{Caller, GivenPolicy, PolicySource, SessionSource};
use crate::disk::Disk;
use crate::error::EngineError;
use crate::excerpt::{CleanTexts, without_secrets};
use crate::external;
use crate::locations::Locations;
use crate::memory::{self, Known, LineCaller, Memory};
use crate::own;
use crate::pins::Pinned;
use crate::policies::Policies;
use crate::recording::{Failed, Outcome, Recorder};
use crate::sessions::{SessionError, SessionId, Sessions};
use crate::stops::{StopError, Stops};
use crate::written::SessionDisk;

/// How long policies and sessions count in a stream of calls before they are looked at again: short
/// enough that a rule a person changes holds for the calls that follow, long enough that a stream
/// does not look at a dozen files for each of its calls.
const MOMENT: Duration = Duration::from_millis(500);

/// The most sessions kept at once in a stream; beyond it all are read again.
const MAX_SESSIONS: usize = 256;

/// The most calls of a session that run tests at once and are remembered; agents start a few.
const MAX_TESTING: usize = 16;

/// The most readings kept. One is kept for each call that waits, so that whoever answers is judged by
/// what was read; a call whose reading was forgotten is read again.
const MAX_READINGS: usize = 128;

/// Judges the calls of this user, and takes them all the way to their release. A clone is the same
/// engine; it may be used from many threads.
#[derive(Clone, Debug)]
pub struct Engine {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    settings: Settings,
    home: Option<String>,
    policies: Policies,
    sessions: Mutex<HashMap<String, (Instant, Arc<Session>)>>,
    latest: Mutex<Option<Latest>>,
    clean: CleanTexts,
    /// The decisions of a stream.
    memory: Memory,
    readings: Mutex<VecDeque<Arc<Reading>>>,
    read: AtomicUsize,
}

#[derive(Clone, Debug)]
struct Settings {
    locations: Locations,
    /// A policy in place of the files.
    given: Option<GivenPolicy>,
    /// What makes a webhook channel, if the program has them.
    webhooks: Option<WebhookBuilder>,
    /// What adds rules to a policy file, if the program can.
    policy_writer: Option<PolicyWriter>,
    /// How long what was loaded counts without another look.
    moment: Duration,
    /// Whether decisions are remembered.
    remembers: bool,
}

/// Adds patterns to what a policy file allows, as text.
pub type PolicyWriter = fn(&Path, &[String]) -> Result<(), String>;

/// What the last call of a stream came under. Most of a stream's calls are made by one caller, for
/// whom nothing has to be looked up by name.
#[derive(Debug)]
struct Latest {
    caller: Arc<Caller>,
    terms: Terms,
    /// When the older of the two was looked at.
    since: Instant,
}

/// What a call comes under.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) policy: Arc<Policy>,
    pub(crate) session: Arc<Session>,
}

/// A call as it was read under a policy.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) policy: Arc<Policy>,
    pub(crate) action: Action,
    workspace: String,
}

/// A decision; the call as it was read, if it was read for it; what is remembered of it.
pub(crate) type MadeDecision = (Arc<Decision>, Option<Arc<Reading>>, Option<Arc<Known>>);

/// How much work an engine has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// How often a policy was loaded.
    pub policies_loaded: usize,
    /// How often a call was read.
    pub calls_read: usize,
}

impl Engine {
    /// The engine for what is kept at these places.
    pub fn at(locations: &Locations) -> Self {
        Self::with(Settings {
            locations: locations.clone(),
            given: None,
            webhooks: None,
            policy_writer: None,
            moment: Duration::ZERO,
            remembers: false,
        })
    }

    /// The same, with a policy in place of the files for calls that come from elsewhere.
    #[must_use]
    pub fn under(self, policy: Arc<Policy>) -> Self {
        let given = Some(GivenPolicy(policy));
        Self::with(Settings {
            given,
            ..self.inner.settings.clone()
        })
    }

    /// The same, in a program that asks webhooks.
    #[must_use]
    pub fn with_webhooks(self, build: WebhookBuilder) -> Self {
        let webhooks = Some(build);
        Self::with(Settings {
            webhooks,
            ..self.inner.settings.clone()
        })
    }

    /// The same, in a program that adds rules to its user's policy when they say so.
    #[must_use]
    pub fn with_policy_writer(self, writer: PolicyWriter) -> Self {
        let policy_writer = Some(writer);
        Self::with(Settings {
            policy_writer,
            ..self.inner.settings.clone()
        })
    }

    /// The same, for a stream of calls: what was loaded counts for a moment, and decisions are
    /// remembered.
    #[must_use]
    pub fn for_a_stream(self) -> Self {
        Self::with(Settings {
            moment: MOMENT,
            remembers: true,
            ..self.inner.settings.clone()
        })
    }

    /// The same, for calls of which many are made again: a decision is remembered for as long as
    /// everything it was made of is unchanged.
    #[must_use]
    pub fn remembering(self) -> Self {
        Self::with(Settings {
            remembers: true,
            ..self.inner.settings.clone()
        })
    }

    fn with(settings: Settings) -> Self {
        let home = settings.locations.home.as_ref();
        let home = home.and_then(|home| home.to_str()).map(str::to_owned);
        Self {
            inner: Arc::new(Inner {
                settings,
                home,
                policies: Policies::default(),
                sessions: Mutex::default(),
                latest: Mutex::default(),
                clean: CleanTexts::default(),
                memory: Memory::default(),
                readings: Mutex::default(),
                read: AtomicUsize::new(0),
            }),
        }
    }

    /// Where things are kept.
    pub fn locations(&self) -> &Locations {
        &self.inner.settings.locations
    }

    /// The policy in force for work in a directory.
    pub fn layers(&self, directory: &Path) -> PolicySource {
        self.layers_at(directory, directory)
    }

    /// The policy in force for an agent that belongs in `workspace` and stands in `directory`.
    pub fn layers_at(&self, workspace: &Path, directory: &Path) -> PolicySource {
        PolicySource::Layers {
            workspace: workspace.to_owned(),
            directory: directory.to_owned(),
            named: self.locations().named.clone(),
        }
    }

    /// The policy of a source.
    pub fn policy(&self, source: &PolicySource) -> Result<Arc<Policy>, EngineError> {
        Ok(self.policy_since(source)?.0)
    }

    /// Whether whoever lets something run by a command has to sit at a terminal: unless the policy of the user and the machine
    /// wants nothing for any risk. One that cannot be read wants it.
    pub fn wants_terminal(&self) -> bool {
        let Ok(policy) = self.policy(&self.layers(Path::new("/"))) else {
            return true;
        };
        let pinned = Pinned::at(self.locations());
        [
            Risk::None,
            Risk::Low,
            Risk::Medium,
            Risk::High,
            Risk::Critical,
        ]
        .into_iter()
        .map(|risk| pinned.level(policy.stated_presence("", std::iter::empty(), risk), risk))
        .any(|level| level >= Presence::Terminal)
    }

    /// The policy of a source, and when it was last known to be as its files are.
    fn policy_since(&self, source: &PolicySource) -> Result<(Arc<Policy>, Instant), EngineError> {
        let Settings {
            locations, moment, ..
        } = &self.inner.settings;
        self.inner.policies.get(locations, source, *moment)
    }

    /// The policy of a source as it was when it was last wanted; loaded if it never was.
    pub(crate) fn latest_policy(&self, source: &PolicySource) -> Option<Arc<Policy>> {
        let known = self.inner.policies.latest(source);
        known.or_else(|| self.policy(source).ok())
    }

    /// The policy of a call that came from elsewhere.
    pub(crate) fn source_for(&self, asked: &CallContext) -> PolicySource {
        match &self.inner.settings.given {
            Some(given) => PolicySource::Given(given.clone()),
            None => PolicySource::of_call(asked),
        }
    }

    /// What makes a webhook channel, if the program has them.
    pub(crate) fn webhooks(&self) -> Option<WebhookBuilder> {
        self.inner.settings.webhooks
    }

    /// What adds rules to a policy file, if the program can.
    pub(crate) fn policy_writer(&self) -> Option<PolicyWriter> {
        self.inner.settings.policy_writer
    }

    /// What a call made now comes under.
    pub(crate) fn terms(&self, caller: &Arc<Caller>, now: Instant) -> Result<Terms, EngineError> {
        let moment = self.inner.settings.moment;
        if moment.is_zero() {
            return Ok(Terms {
                policy: self.policy(&caller.policy)?,
                session: self.stopped_or(self.session(&caller.session)?, caller)?,
            });
        }
        if let Some(latest) = &*self.lock(&self.inner.latest)
            && Arc::ptr_eq(&latest.caller, caller)
            && now.saturating_duration_since(latest.since) < moment
        {
            return Ok(latest.terms.clone());
        }
        let (policy, policy_since) = self.policy_since(&caller.policy)?;
        let (session, session_since) = self.session_since(&caller.session)?;
        let session = self.stopped_or(session, caller)?;
        let terms = Terms { policy, session };
        *self.lock(&self.inner.latest) = Some(Latest {
            caller: Arc::clone(caller),
            terms: terms.clone(),
            since: policy_since.min(session_since),
        });
        Ok(terms)
    }

    /// The session, stopped if a person has stopped it, its agent or everything.
    fn stopped_or(
        &self,
        session: Arc<Session>,
        caller: &Caller,
    ) -> Result<Arc<Session>, EngineError> {
        self.session_of(session, &caller.agent, caller.session())
    }

    /// The same for a call that came from elsewhere.
    pub(crate) fn session_of(
        &self,
        session: Arc<Session>,
        agent: &str,
        name: &str,
    ) -> Result<Arc<Session>, EngineError> {
        let stop = match Stops::at(self.locations()) {
            Ok(stops) => stops.stop_of(agent, name)?,
            // Without a place to keep it nobody can have stopped anything.
            Err(StopError::NoPlace) => None,
            Err(error) => return Err(error.into()),
        };
        Ok(match stop {
            Some(stop) => Arc::new(Session::clone(&session).stopped(stop)),
            None => session,
        })
    }

    /// The session a call comes under.
    pub fn session(&self, source: &SessionSource) -> Result<Arc<Session>, EngineError> {
        Ok(self.session_since(source)?.0)
    }

    /// The session a call comes under, and when it was read.
    fn session_since(
        &self,
        source: &SessionSource,
    ) -> Result<(Arc<Session>, Instant), EngineError> {
        let now = Instant::now();
        let name = match source {
            SessionSource::Kept(name) => name,
            SessionSource::Given(state) => {
                return Ok((Arc::new(Session::new(SessionState::clone(state))), now));
            }
        };
        if self.inner.settings.moment.is_zero() {
            return Ok((Arc::new(Session::new(self.session_state(name)?)), now));
        }
        let mut kept = self.lock(&self.inner.sessions);
        if let Some((since, session)) = kept.get(name)
            && now.saturating_duration_since(*since) < self.inner.settings.moment
        {
            return Ok((Arc::clone(session), *since));
        }
        if kept.len() >= MAX_SESSIONS {
            kept.clear();
        }
        let session = Arc::new(Session::new(self.session_state(name)?));
        kept.insert(name.clone(), (now, Arc::clone(&session)));
        Ok((session, now))
    }

    fn session_state(&self, name: &str) -> Result<SessionState, EngineError> {
        match Sessions::at(self.locations()) {
            Ok(sessions) => Ok(sessions.load(&SessionId::new(name))?),
            // Without a place to keep sessions nobody can have said anything in one.
            Err(SessionError::NoPlace) => Ok(SessionState::default()),
            Err(error) => Err(error.into()),
        }
    }

    /// Changes what a session remembers; what `edit` returns comes back once that is stored.
    pub(crate) fn change_session<T>(
        &self,
        name: &str,
        edit: impl FnOnce(&mut SessionState) -> T,
    ) -> Result<T, EngineError> {
        self.lock(&self.inner.sessions).remove(name);
        *self.lock(&self.inner.latest) = None;
        let sessions = Sessions::at(self.locations())?;
        Ok(sessions.change(&SessionId::new(name), edit)?)
    }

    /// Notes that an agent makes a call in its session, so that a person finds it. An agent that names no session has
    /// none of its own.
    pub fn note_call(&self, caller: &Caller) {
        if let (Ok(sessions), Some(name), Ok(directory)) = (
            Sessions::at(self.locations()),
            &caller.session_name,
            caller.workspace_text(),
        ) {
            // Nothing secret is kept, nor in the name of a file; what it is good for can be said with `--session`, too.
            let redactor = Redactor::new();
            if [name.as_str(), directory]
                .iter()
                .any(|text| !redactor.find(text).is_empty())
            {
                return;
            }
            let _ = sessions.note_call(&SessionId::new(name), &caller.agent, directory);
        }
    }

    /// Counts a call that the session's plan covers, or that it is held for. How far a plan is decides on nothing, so a count
    /// that cannot be kept stops nobody.
    pub(crate) fn note_plan(&self, caller: &Caller, decision: &Decision) {
        let SessionSource::Kept(name) = &caller.session else {
            return;
        };
        let rules = || decision.findings.iter().map(|found| found.rule.as_str());
        // What is denied is denied with and without a plan.
        if decision.verdict == Verdict::Deny
            || !rules().any(|rule| rule.starts_with("plan:") || rule == plan::OUTSIDE)
        {
            return;
        }
        let is_outside = !decision.verdict.runs();
        let _ = self.change_session(name, |state| {
            if let Some(plan) = &mut state.plan {
                plan.note(rules(), is_outside);
            }
        });
    }

    /// Ends what was suspended in another turn of the session than this one.
    pub(crate) fn enter_turn(&self, caller: &Caller) -> Result<(), EngineError> {
        let (SessionSource::Kept(name), Some(turn)) =
            (&caller.session, caller.circumstances.turn())
        else {
            return Ok(());
        };
        let session = self.session(&caller.session)?;
        let before = session.state().turn.as_deref();
        if before.is_none_or(|before| before == turn) {
            return Ok(());
        }
        self.change_session(name, |state| state.enter_turn(turn))
    }

    /// Reads a call as it is to be judged under a policy.
    ///
    /// `session` is whose memory tells which files the agent wrote.
    pub(crate) fn read(
        &self,
        call: ToolCall,
        policy: &Arc<Policy>,
        workspace: &str,
        session: &str,
    ) -> Arc<Reading> {
        self.read_through(&self.session_disk(session), call, policy, workspace)
    }

    fn read_through(
        &self,
        lookup: &dyn Lookup,
        call: ToolCall,
        policy: &Arc<Policy>,
        workspace: &str,
    ) -> Arc<Reading> {
        self.inner.read.fetch_add(1, Ordering::Relaxed);
        Arc::new(self.understood(lookup, call, policy, workspace))
    }

    fn understood(
        &self,
        lookup: &dyn Lookup,
        call: ToolCall,
        policy: &Arc<Policy>,
        workspace: &str,
    ) -> Reading {
        let around = Surroundings {
            lookup,
            ..self.surroundings(workspace)
        };
        Reading {
            action: understand(call, policy, &around),
            policy: Arc::clone(policy),
            workspace: workspace.to_owned(),
        }
    }

    /// What would be decided on a call that nobody makes, beside one that is being looked at. Nothing of it is kept.
    pub(crate) fn judge_aside(
        &self,
        call: ToolCall,
        policy: &Arc<Policy>,
        workspace: &str,
        (name, session): (&str, &Session),
    ) -> Decision {
        let reading = self.understood(&self.session_disk(name), call, policy, workspace);
        self.judge_reading(&reading, session, name)
    }

    /// The disk as a session sees it.
    fn session_disk<'s>(&self, session: &'s str) -> SessionDisk<'s> {
        SessionDisk {
            sessions: Sessions::at(self.locations()).ok(),
            session,
        }
    }

    /// Remembers the files a call writes that is about to run, or may: what a session wrote is its
    /// agent's words when something loads it later.
    pub(crate) fn remember_written(
        &self,
        caller: &Caller,
        reading: &Reading,
    ) -> Result<(), EngineError> {
        let files = written_by(&reading.action);
        if files.is_empty() {
            return Ok(());
        }
        match Sessions::at(self.locations()) {
            Ok(sessions) => {
                let session = SessionId::new(caller.session());
                let redactor = reading.policy.redaction().redactor(None, None);
                Ok(sessions.remember_written(&session, &files, &redactor)?)
            }
            // Without a place to keep sessions there is none to remember.
            Err(SessionError::NoPlace) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Notes what a call that is about to run, or may, would make and leave running, so that it is known as the session's
    /// own once its result is told.
    pub(crate) fn expect_own(&self, caller: &Caller, reading: &Reading) {
        let Ok(sessions) = Sessions::at(self.locations()) else {
            return;
        };
        let call = reading.action.call();
        let line = call.command_line().unwrap_or_default();
        let around = Surroundings {
            lookup: &Disk,
            ..self.surroundings(&reading.workspace)
        };
        let redactor = reading.policy.redaction().redactor(None, None);
        let mut makes = made_by(&reading.action, &around);
        // A path that holds a secret is not written down.
        makes.retain(|path| redactor.text(path).as_str() == path);
        let list = sessions.own_list(&SessionId::new(caller.session()));
        let left = own::Leaving::from_call(call, &line);
        // What is not noted is asked about later, so that no call fails over it.
        let _ = own::expect(&list, &own::digest_of_call(call), makes, left);
    }

    /// Notes that the agent's own dialog asks about a call, so that it is known as released once its result is told.
    pub(crate) fn expect_answer(&self, caller: &Caller, reading: &Reading) {
        if let Ok(sessions) = Sessions::at(self.locations()) {
            let list = sessions.own_list(&SessionId::new(caller.session()));
            let forms = offers(&reading.action).into_iter();
            let forms = forms.map(|(_, patterns)| patterns).collect();
            let call = own::digest_of_call(reading.action.call());
            // What is not noted is not offered to be remembered; no call fails over that.
            let _ = own::expect_answer(&list, &call, forms);
        }
    }

    /// Remembers of a call that is about to run, or may, that it edits, so that no tests have passed since; or that it runs tests,
    /// which count only if nothing is edited until they end. Fails where an edit cannot be remembered: the tests would count on.
    pub(crate) fn expect_tests(
        &self,
        caller: &Caller,
        reading: &Reading,
    ) -> Result<(), EngineError> {
        match Sessions::at(self.locations()) {
            Ok(_) => {}
            // Without a place to keep sessions no tests are known to have passed.
            Err(SessionError::NoPlace) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        let (call, asked) = (reading.action.call(), reading.policy.asks_about_tests());
        // A policy that asks may be another than the one that asked before, and what is kept of a session a moment old.
        let counts = || -> Result<bool, EngineError> {
            let known = self.session(&SessionSource::Kept(caller.session().to_owned()))?;
            let state = known.state();
            Ok(asked || state.tests_passed || !state.testing.is_empty())
        };
        if edits(&reading.action) && counts()? {
            self.change_session(caller.session(), |state| {
                state.tests_passed = false;
                state.testing.clear();
            })?;
        }
        let line = call.command_line().unwrap_or_default();
        let begins = asked && may_run_tests(&line) && runs_tests(&reading.action);
        if begins {
            let digest = own::digest_of_call(call);
            self.change_session(caller.session(), |state| {
                // Of more at once the first are forgotten, and count as failed.
                let surplus = (state.testing.len() + 1).saturating_sub(MAX_TESTING);
                state.testing.drain(..surplus);
                state.testing.push(digest);
            })?;
        }
        Ok(())
    }

    /// Remembers how tests went that have ended: passed only where nothing was edited since they began.
    pub(crate) fn confirm_tests_of(
        &self,
        caller: &Caller,
        call: &ToolCall,
        passed: bool,
    ) -> Result<(), EngineError> {
        let digest = own::digest_of_call(call);
        self.change_session(caller.session(), |state| {
            let began = state.testing.iter().position(|one| *one == digest);
            if let Some(at) = began {
                state.testing.remove(at);
            }
            state.tests_passed = passed && began.is_some();
        })
    }

    /// Remembers what a call has made and left running that has ended.
    pub(crate) fn confirm_own(&self, caller: &Caller, call: &ToolCall) {
        if let Ok(sessions) = Sessions::at(self.locations()) {
            let list = sessions.own_list(&SessionId::new(caller.session()));
            let digest = own::digest_of_call(call);
            // What is not remembered is asked about.
            let _ = own::confirm(&list, &digest);
            let forms = own::answered(&list, &digest).unwrap_or_default();
            if !forms.is_empty() {
                let _ = self.change_session(caller.session(), |state| {
                    forms.iter().for_each(|form| state.note_release(form));
                });
            }
        }
    }

    /// Judges a call that was read, by what a session remembers; `name` is whose memory tells what it has made, and how its tests
    /// went.
    pub(crate) fn judge_reading(
        &self,
        reading: &Reading,
        session: &Session,
        name: &str,
    ) -> Decision {
        self.judge_through(&self.session_disk(name), reading, session, false)
    }

    /// The same for a caller, who may be able to contain it.
    pub(crate) fn judge_reading_for(
        &self,
        caller: &Caller,
        reading: &Reading,
        session: &Session,
    ) -> Decision {
        let disk = self.session_disk(caller.session());
        self.judge_through(&disk, reading, session, caller.can_contain)
    }

    fn judge_through(
        &self,
        lookup: &dyn Lookup,
        reading: &Reading,
        session: &Session,
        can_contain: bool,
    ) -> Decision {
        let judged = |can_contain| {
            let around = Surroundings {
                lookup,
                can_contain,
                ..self.surroundings(&reading.workspace)
            };
            judge(&reading.action, &reading.policy, session, &around)
        };
        let decision = judged(can_contain);
        // Whether there is a sandbox is found out by making one, so only where something is to be contained.
        let contains = |finding: &Finding| finding.verdict == Verdict::Contain;
        let reaches = || {
            let listed = reading.policy.sandbox().hosts;
            let hosts = listed.is_some_and(|hosts| !hosts.is_empty());
            containing::is_reachable(self.locations(), hosts)
        };
        let decision = match decision.findings.iter().any(contains) && !reaches() {
            true => judged(false),
            false => decision,
        };
        let around = Surroundings {
            lookup,
            ..self.surroundings(&reading.workspace)
        };
        let until = Instant::now() + external::MAX_TIME;
        let ask = |decider: &External, question: &_| external::ask(decider, question, until);
        ask_outside(decision, &reading.action, &reading.policy, &around, ask)
    }

    /// The decision on a call: the one that is remembered, if nothing it was made of has changed; else
    /// the call is read and judged.
    pub(crate) fn decision(
        &self,
        call: &Arc<ToolCall>,
        terms: &Terms,
        caller: &Arc<Caller>,
    ) -> Result<MadeDecision, EngineError> {
        let workspace = caller.workspace_text()?;
        if !self.inner.settings.remembers {
            let reading = self.read(
                ToolCall::clone(call),
                &terms.policy,
                workspace,
                caller.session(),
            );
            let decision = self.judge_reading_for(caller, &reading, &terms.session);
            return Ok((Arc::new(decision), Some(reading), None));
        }
        let key = memory::key(call, workspace, caller.can_contain);
        if let Some((known, _)) = self.inner.memory.find(&key, |_| Some(terms.clone())) {
            return Ok((Arc::clone(&known.decision), None, Some(known)));
        }
        self.decision_kept(key, call, terms, caller, None)
    }

    /// Reads and judges a call, and remembers that under a key if it may be.
    pub(crate) fn decision_kept(
        &self,
        key: Vec<u8>,
        call: &Arc<ToolCall>,
        terms: &Terms,
        caller: &Arc<Caller>,
        said: Option<&LineCaller>,
    ) -> Result<MadeDecision, EngineError> {
        let (workspace, session) = (caller.workspace_text()?, caller.session());
        let sessions = Sessions::at(self.locations()).ok();
        let list = sessions.map(|all| all.written_list(&SessionId::new(session)));
        let noting = self.inner.memory.noting(list);
        let reading = self.read_through(&noting, ToolCall::clone(call), &terms.policy, workspace);
        let decision =
            Arc::new(self.judge_through(&noting, &reading, &terms.session, caller.can_contain));
        let judged = memory::Judged {
            call,
            said,
            decision: &decision,
        };
        // What somebody outside says of a call may be another thing the next time.
        let known = match terms.policy.asks_outside() {
            true => None,
            false => self.inner.memory.keep(key, terms, noting, judged),
        };
        Ok((decision, Some(reading), known))
    }

    /// What is remembered of a call by what was said of it, if nothing it was made of has changed.
    pub(crate) fn recalled(&self, key: &[u8], now: Instant) -> Option<(Arc<Known>, Terms)> {
        let terms = |known: &Known| self.terms(known.caller()?, now).ok();
        self.inner.memory.find(key, terms)
    }

    /// From now on every place on the disk that a remembered decision rests on is looked at again, once
    /// for all calls until this is said the next time. It is said before the first of calls that are
    /// answered together.
    pub fn look_again(&self) {
        self.inner.memory.look_again();
    }

    /// A decision as it is shown to anybody.
    pub(crate) fn without_secrets(&self, decision: Decision) -> Decision {
        match self.inner.settings.moment.is_zero() {
            true => without_secrets(decision),
            false => self.inner.clean.without_secrets(decision),
        }
    }

    /// Keeps a reading for whoever answers.
    pub(crate) fn keep(&self, reading: &Arc<Reading>) {
        let mut kept = self.lock(&self.inner.readings);
        if kept.len() >= MAX_READINGS {
            kept.pop_front();
        }
        kept.push_back(Arc::clone(reading));
    }

    /// The reading of a call: the one that is kept, if neither the policy nor anything that was looked
    /// at on the disk has changed since; else the call is read again, and that is kept.
    pub(crate) fn reading(
        &self,
        call: ToolCall,
        policy: &Arc<Policy>,
        workspace: &str,
        session: &str,
    ) -> Arc<Reading> {
        let known = {
            let kept = self.lock(&self.inner.readings);
            let mut newest = kept.iter().rev();
            newest
                .find(|one| {
                    Arc::ptr_eq(&one.policy, policy)
                        && one.workspace == workspace
                        && *one.action.call() == call
                })
                .cloned()
        };
        match known {
            Some(reading) if reading.action.is_current(&self.session_disk(session)) => reading,
            Some(_) | None => {
                let reading = self.read(call, policy, workspace, session);
                self.keep(&reading);
                reading
            }
        }
    }

    /// What the core sees of the disk.
    pub fn surroundings<'a>(&'a self, workspace: &'a str) -> Surroundings<'a> {
        Surroundings {
            workspace: Some(workspace),
            directory: None,
            home: self.inner.home.as_deref(),
            lookup: &Disk,
            can_contain: false,
        }
    }

    /// Where outcomes are recorded.
    pub fn recorder(&self) -> Result<Recorder, EngineError> {
        Ok(Recorder::at(self.locations())?)
    }

    /// Puts on record that a call was refused, or left to the agent's own permissions, because it
    /// could not be judged. That stands whether or not it can be written.
    pub fn record_failure(&self, failed: &Failed<'_>) {
        if let Ok(recorder) = self.recorder() {
            let _ = recorder.record(&Outcome::Failed(*failed));
        }
    }

    /// How much work was done.
    pub fn work(&self) -> Work {
        Work {
            policies_loaded: self.inner.policies.loads(),
            calls_read: self.inner.read.load(Ordering::Relaxed),
        }
    }

    fn lock<'m, T>(&self, mutex: &'m Mutex<T>) -> std::sync::MutexGuard<'m, T> {
        // What is kept is whole between any two statements.
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
