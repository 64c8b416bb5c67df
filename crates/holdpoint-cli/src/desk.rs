//! Where calls are judged: the policy and session each one comes under, kept for the next.
//!
//! A stream of calls may run for hours, so nothing is kept for longer than a moment: a rule a
//! person changes holds for the calls that follow.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use holdpoint_broker::Context;
use holdpoint_core::{Action, Explained, Surroundings, explained, judge_call, understand};
use holdpoint_engine::inspecting::InspectError;
use holdpoint_engine::simulate::{Simulation, simulate};
use holdpoint_engine::{
    Answered, Decision, Disk, Failed, LoadError, Locations, Outcome, Policy, Profile, RecordError,
    Recorder, Session, SessionError, SessionId, SessionState, Sessions, ToolCall, Verdict,
    load_file, load_layers, load_layers_at, load_text, real_directory, without_secrets,
};

/// How long policies and sessions are kept.
const MOMENT: Duration = Duration::from_millis(500);

/// The most policies kept at once.
const MOST_KEPT: usize = 256;

/// The largest policy given with a call.
const MAX_INLINE: usize = 4 << 20;

/// Which policy a call comes under.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Under {
    /// The layers in force for a directory.
    Layers(PathBuf),
    /// The layers in force for a workspace and the directory its agent stands in.
    LayersAt(PathBuf, PathBuf),
    /// One file.
    File(PathBuf),
    /// A policy given with the call.
    Inline(String),
    /// A ready-made policy.
    Profile(String),
}

/// Which session a call comes under.
#[derive(Clone, Debug)]
pub(crate) enum InSession {
    /// A session kept on disk.
    Kept(String),
    /// A state given with the call.
    Given(SessionState),
}

/// Why a call could not be judged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DeskError {
    #[error("{0}")]
    Policy(String),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A decision was made and could not be put on record.
    #[error("{0}")]
    Unrecorded(RecordError, Verdict),
    /// A text could not be let on.
    #[error(transparent)]
    Inspecting(InspectError),
    /// A person was to be asked and could not be.
    #[error("{0}")]
    NotHeld(String),
    #[error("the working directory is not text: work in a directory with a plain name")]
    Directory,
    #[error("the working directory cannot be used ({0}): name one that can be looked at")]
    NoDirectory(std::io::ErrorKind),
}

/// Who asks for a decision, as the record names them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker<'a> {
    pub(crate) agent: &'a str,
    pub(crate) session: Option<&'a str>,
}

impl<'a> Asker<'a> {
    /// What the record says of a decision made for them.
    fn answered(
        self,
        directory: &'a Path,
        call: &'a ToolCall,
        decision: &'a Decision,
        policy: &'a Policy,
        took: Duration,
    ) -> Outcome<'a> {
        Outcome::Answered(Answered {
            agent: self.agent,
            session: self.session,
            directory: directory.to_str(),
            call,
            decision,
            policy: Some(policy),
            took: Some(took),
            replayed: None,
        })
    }

    /// What the record says of a question that could not be answered.
    pub(crate) fn failed(self, problem: &'a str) -> Failed<'a> {
        Failed {
            agent: self.agent,
            session: self.session,
            call: None,
            problem,
            left_alone: false,
            replayed: None,
        }
    }
}

/// A decision that was made and has yet to be recorded.
#[derive(Debug)]
pub(crate) struct Judged {
    directory: PathBuf,
    call: ToolCall,
    decision: Decision,
    policy: Rc<Policy>,
    took: Duration,
}

impl Judged {
    /// What the record says of it.
    pub(crate) fn outcome<'a>(&'a self, asker: Asker<'a>) -> Outcome<'a> {
        asker.answered(
            &self.directory,
            &self.call,
            &self.decision,
            &self.policy,
            self.took,
        )
    }

    /// The decision, as it is shown.
    pub(crate) fn shown(self) -> Decision {
        without_secrets(self.decision)
    }
}

/// Judges calls, keeping what several of them need.
pub(crate) struct Desk {
    locations: Locations,
    home: Option<String>,
    policies: HashMap<Under, Result<Rc<Policy>, String>>,
    sessions: HashMap<String, Rc<Session>>,
    kept_since: Instant,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let locations = Locations::of_this_machine();
        let home = locations
            .home
            .as_ref()
            .and_then(|home| home.to_str())
            .map(str::to_owned);
        Self {
            locations,
            home,
            policies: HashMap::new(),
            sessions: HashMap::new(),
            kept_since: Instant::now(),
        }
    }

    pub(crate) fn locations(&self) -> &Locations {
        &self.locations
    }

    /// Forgets what was kept for too long; called before each call of a stream.
    pub(crate) fn refresh(&mut self) {
        if self.kept_since.elapsed() > MOMENT
            || self.policies.len() + self.sessions.len() > MOST_KEPT
        {
            self.policies.clear();
            self.sessions.clear();
            self.kept_since = Instant::now();
        }
    }

    /// The policy a call comes under.
    pub(crate) fn policy(&mut self, under: &Under) -> Result<Rc<Policy>, DeskError> {
        if let Some(kept) = self.policies.get(under) {
            return kept.clone().map_err(DeskError::Policy);
        }
        if let Under::Inline(text) = under
            && text.len() > MAX_INLINE
        {
            return Err(DeskError::Policy(format!(
                "config: the policy has {} bytes; a policy has at most {MAX_INLINE}: name a file",
                text.len()
            )));
        }
        let loaded = load(&self.locations, under).map(Rc::new);
        self.policies.insert(under.clone(), loaded.clone());
        loaded.map_err(DeskError::Policy)
    }

    /// The session kept under a name.
    pub(crate) fn session(&mut self, name: &str) -> Result<Rc<Session>, DeskError> {
        if let Some(kept) = self.sessions.get(name) {
            return Ok(Rc::clone(kept));
        }
        let state = match Sessions::at(&self.locations) {
            Ok(sessions) => sessions.load(&SessionId::new(name))?,
            // Without a place to keep sessions nobody can have said anything in one.
            Err(SessionError::NoPlace) => SessionState::default(),
            Err(error) => return Err(error.into()),
        };
        let session = Rc::new(Session::new(state));
        self.sessions.insert(name.to_owned(), Rc::clone(&session));
        Ok(session)
    }

    /// Forgets a session that has changed.
    pub(crate) fn forget_session(&mut self, name: &str) {
        self.sessions.remove(name);
    }

    /// Ends what was suspended in another turn of the session than this one.
    pub(crate) fn enter_turn(&mut self, session: &str, context: &Context) -> Result<(), DeskError> {
        let Some(turn) = context.turn() else {
            return Ok(());
        };
        let kept = self.session(session)?;
        let before = kept.state().turn.as_deref();
        if before.is_none_or(|before| before == turn) {
            return Ok(());
        }
        let sessions = Sessions::at(&self.locations)?;
        sessions.change(&SessionId::new(session), |state| state.enter_turn(turn))?;
        self.forget_session(session);
        Ok(())
    }

    /// Judges a call without leaving a trace.
    pub(crate) fn judge(
        &mut self,
        call: &ToolCall,
        under: &Under,
        session: &InSession,
        directory: &Path,
    ) -> Result<Decision, DeskError> {
        let policy = self.policy(under)?;
        self.judge_under(call, &policy, session, directory)
    }

    /// Where outcomes are recorded.
    pub(crate) fn recorder(&self) -> Result<Recorder, DeskError> {
        Ok(Recorder::at(&self.locations)?)
    }

    /// Judges a call, counts it and puts the decision on record.
    pub(crate) fn answer(
        &mut self,
        asker: Asker<'_>,
        call: &ToolCall,
        under: &Under,
        session: &InSession,
        directory: &Path,
    ) -> Result<Decision, DeskError> {
        let started = Instant::now();
        let decision = self.judge_and_count(call, under, session, directory)?;
        let took = started.elapsed();
        let policy = self.policy(under)?;
        let outcome = asker.answered(directory, call, &decision, &policy, took);
        match Recorder::at(&self.locations).and_then(|recorder| recorder.record(&outcome)) {
            Ok(()) => Ok(without_secrets(decision)),
            Err(error) => Err(DeskError::Unrecorded(error, decision.verdict)),
        }
    }

    /// Judges a call. One that counts is counted, and must be recorded before it is answered.
    pub(crate) fn judged(
        &mut self,
        call: ToolCall,
        counts: bool,
        under: &Under,
        session: &InSession,
        directory: &Path,
    ) -> Result<Judged, DeskError> {
        let started = Instant::now();
        let decision = if counts {
            self.judge_and_count(&call, under, session, directory)?
        } else {
            self.judge(&call, under, session, directory)?
        };
        Ok(Judged {
            directory: directory.to_owned(),
            policy: self.policy(under)?,
            took: started.elapsed(),
            call,
            decision,
        })
    }

    /// Judges a call and, where its policy limits the calls of a session, counts it if it may run.
    /// Judging and counting are one step, so that two processes cannot both make the last call.
    fn judge_and_count(
        &mut self,
        call: &ToolCall,
        under: &Under,
        session: &InSession,
        directory: &Path,
    ) -> Result<Decision, DeskError> {
        let policy = self.policy(under)?;
        let name = match session {
            InSession::Kept(name) if policy.limits_calls(call.tool()) => name,
            InSession::Kept(_) | InSession::Given(_) => {
                return self.judge_under(call, &policy, session, directory);
            }
        };
        self.sessions.remove(name);
        let sessions = Sessions::at(&self.locations)?;
        sessions.change(&SessionId::new(name), |state| {
            let session = Session::new(state.clone());
            let decision = self.judge_with(call, &policy, &session, directory)?;
            if decision.verdict.runs() {
                *state.calls.entry(call.tool().to_owned()).or_default() += 1;
            }
            Ok(decision)
        })?
    }

    fn judge_under(
        &mut self,
        call: &ToolCall,
        policy: &Policy,
        session: &InSession,
        directory: &Path,
    ) -> Result<Decision, DeskError> {
        let session = match session {
            InSession::Kept(name) => self.session(name)?,
            InSession::Given(state) => Rc::new(Session::new(state.clone())),
        };
        self.judge_with(call, policy, &session, directory)
    }

    fn judge_with(
        &self,
        call: &ToolCall,
        policy: &Policy,
        session: &Session,
        directory: &Path,
    ) -> Result<Decision, DeskError> {
        let around = self.surroundings(directory)?;
        Ok(judge_call(call, policy, session, &around))
    }

    /// A call, read to be judged under a policy.
    pub(crate) fn understood(
        &self,
        call: &ToolCall,
        policy: &Policy,
        directory: &Path,
    ) -> Result<Action, DeskError> {
        let around = self.surroundings(directory)?;
        Ok(understand(call.clone(), policy, &around))
    }

    /// What a call is understood as.
    pub(crate) fn explained(
        &self,
        action: &Action,
        directory: &Path,
    ) -> Result<Explained, DeskError> {
        Ok(explained(action, &self.surroundings(directory)?))
    }

    /// What a call would do, as far as that can be found out without doing it.
    pub(crate) fn simulated(
        &self,
        call: &ToolCall,
        policy: &Policy,
        directory: &Path,
    ) -> Result<Simulation, DeskError> {
        let around = self.surroundings(directory)?;
        Ok(simulate(
            &understand(call.clone(), policy, &around),
            &around,
        ))
    }

    fn surroundings<'a>(&'a self, directory: &'a Path) -> Result<Surroundings<'a>, DeskError> {
        Ok(Surroundings {
            workspace: Some(directory.to_str().ok_or(DeskError::Directory)?),
            directory: None,
            home: self.home.as_deref(),
            lookup: &Disk,
        })
    }
}

/// Loads the policy, or says why there is none.
pub(crate) fn load(locations: &Locations, under: &Under) -> Result<Policy, String> {
    let loaded: Result<Policy, LoadError> = match under {
        Under::Layers(directory) => load_layers(locations, directory),
        Under::LayersAt(workspace, directory) => load_layers_at(locations, workspace, directory),
        Under::File(path) => load_file(path),
        Under::Inline(text) => load_text("config", text),
        // Named as a file would name it, so that a wrong name gets the same suggestion.
        Under::Profile(name) => match Profile::ALL.into_iter().find(|one| one.name() == name) {
            Some(profile) => Policy::profile(profile).map_err(LoadError::from),
            None => {
                let text = serde_json::json!({ "profile": name }).to_string();
                Policy::from_text("--profile", text).map_err(LoadError::from)
            }
        },
    };
    loaded.map_err(|error| error.to_string())
}

/// The directory given, or this one.
pub(crate) fn directory(given: Option<&Path>) -> Result<PathBuf, DeskError> {
    real_directory(given).map_err(|error| DeskError::NoDirectory(error.kind()))
}
