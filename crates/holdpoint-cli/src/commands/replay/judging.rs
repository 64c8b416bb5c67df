//! Transcripts read, their calls judged by all cores, and handed on in order.
//!
//! Calls go to the judge in small pieces while more are read, so a run of any length takes little
//! room, and whoever hears of them hears of them as they stand in the transcripts.

use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::anyhow;
use holdpoint_agents::replay::{Item, Reader, Recorded, Seen, Writer};
use holdpoint_core::paths::NoLinks;
use holdpoint_core::{Surroundings, judge_call};
use holdpoint_engine::{
    Decision, Disk, Locations, Lookup, Policy, PolicySource, Session, ToolCall, load_layers_at,
    load_source, real_directory, without_secrets,
};
use holdpoint_sandbox::interrupt;

use super::filter::Filter;
use super::sources::{Source, Sources};
use crate::commands::in_words;
use crate::pool::Pool;
use crate::progress::{Progress, so_far};
use holdpoint_engine::humanize::counted;

/// How many calls are judged in one piece.
const PIECE: usize = 64;

/// The most policies kept at once; each directory may have one of its own. Beyond it all are loaded again.
const MAX_POLICIES: usize = 4096;

/// A call that was judged: what a listener hears.
#[derive(Debug)]
pub(in crate::commands) struct Judged {
    /// The transcript, as it is called in output.
    pub(in crate::commands) file: Arc<str>,
    /// The call, its agent, session and time, and what became of it.
    pub(in crate::commands) recorded: Recorded,
    /// The directory it was judged in.
    pub(in crate::commands) directory: Arc<str>,
    /// What the policy says about it.
    pub(in crate::commands) decision: Decision,
    /// What the second policy says about it.
    pub(in crate::commands) against: Option<Decision>,
}

/// Whoever wants to hear of every call, in order.
pub(in crate::commands) trait Listener {
    /// A call was judged.
    fn hear(&mut self, judged: Judged) -> anyhow::Result<()>;
    /// A line, or a whole file, cannot be read.
    fn problem(&mut self, file: &str, line: Option<u64>, problem: &str);
    /// Whether hearing of a call makes it write something.
    fn speaks(&self, judged: &Judged) -> bool;
    /// Writes what was held back.
    fn flush(&mut self) -> anyhow::Result<()>;
}

/// A policy, or why there is none.
type Loaded = Result<Policy, String>;

/// The policies calls are judged under.
pub(super) struct Policies {
    locations: Locations,
    /// A policy named for all calls.
    named: Option<Arc<Policy>>,
    /// The layers in force for a workspace and a directory in it.
    layers: HashMap<(Arc<str>, Arc<str>), Arc<Loaded>>,
}

impl Policies {
    /// The policy of a call.
    fn for_directory(&mut self, workspace: &Arc<str>, directory: &Arc<str>) -> Ruling {
        if let Some(named) = &self.named {
            return Ruling::Named(Arc::clone(named));
        }
        let key = (Arc::clone(workspace), Arc::clone(directory));
        if let Some(kept) = self.layers.get(&key) {
            return Ruling::Layers(Arc::clone(kept));
        }
        if self.layers.len() >= MAX_POLICIES {
            self.layers.clear();
        }
        let real = |directory: &str| {
            real_directory(Some(Path::new(directory)))
                .map_err(|error| format!("the directory cannot be looked at ({})", error.kind()))
        };
        let loaded = real(workspace)
            .and_then(|workspace| Ok((workspace, real(directory)?)))
            .and_then(|(workspace, directory)| {
                load_layers_at(&self.locations, &workspace, &directory)
                    .map_err(|error| error.to_string())
            });
        let loaded = Arc::new(loaded);
        self.layers.insert(key, Arc::clone(&loaded));
        Ruling::Layers(loaded)
    }
}

/// The policy a call is judged under, or why there is none.
enum Ruling {
    Named(Arc<Policy>),
    Layers(Arc<Loaded>),
}

/// A call on its way through the judge.
struct Task {
    file: Arc<str>,
    recorded: Recorded,
    workspace: Arc<str>,
    directory: Arc<str>,
    ruling: Ruling,
    decisions: Option<(Decision, Option<Decision>)>,
}

/// What is the same for all calls.
struct Shared {
    second: Option<Arc<Policy>>,
    home: Option<String>,
    look: bool,
    session: Session,
}

impl Shared {
    fn judge(&self, task: &mut Task) {
        let place = (task.workspace.as_ref(), task.directory.as_ref());
        task.decisions = Some(self.decisions(&task.recorded.call, place, &task.ruling));
    }

    /// What the policies say about a call made in a workspace and a directory.
    fn decisions(
        &self,
        call: &Result<ToolCall, String>,
        place: (&str, &str),
        ruling: &Ruling,
    ) -> (Decision, Option<Decision>) {
        let policy = match ruling {
            Ruling::Named(policy) => Ok(policy.as_ref()),
            Ruling::Layers(layers) => layers.as_ref().as_ref(),
        };
        let decision = match policy {
            Ok(policy) => self.decision(call, place, policy),
            Err(problem) => without_secrets(Decision::error(problem.clone())),
        };
        let second = self.second.as_deref();
        let against = second.map(|second| self.decision(call, place, second));
        (decision, against)
    }

    /// What a policy says about a call, as it may be shown.
    fn decision(
        &self,
        call: &Result<ToolCall, String>,
        (workspace, directory): (&str, &str),
        policy: &Policy,
    ) -> Decision {
        let call = match call {
            Ok(call) => call.clone().in_directory(directory),
            Err(problem) => return without_secrets(Decision::error(problem.clone())),
        };
        // Today's files are not those of then, so they are not looked at unless somebody asks.
        let lookup: &dyn Lookup = if self.look { &Disk } else { &NoLinks };
        let around = Surroundings {
            workspace: Some(workspace),
            directory: None,
            home: self.home.as_deref(),
            lookup,
            can_contain: false,
        };
        let decision = judge_call(&call, policy, &self.session, &around);
        // What was done was done: the question is what the policy says of it.
        without_secrets(decision.as_if_enforced())
    }
}

/// Under what calls are judged.
pub(in crate::commands) struct Conditions {
    /// The policy, in place of the layers in force where a call was made.
    pub(in crate::commands) first: Option<PolicySource>,
    /// A second policy.
    pub(in crate::commands) second: Option<PolicySource>,
    /// Whether the disk is looked at.
    pub(in crate::commands) look: bool,
    /// Where calls were made that do not say it.
    pub(in crate::commands) here: PathBuf,
    pub(in crate::commands) filter: Filter,
}

/// Two policies, for calls that stand in no transcript.
pub(in crate::commands) struct Comparison {
    policies: Policies,
    shared: Shared,
}

impl Comparison {
    /// The policies; without a first one, the layers in force where a call was made.
    pub(in crate::commands) fn new(
        first: Option<PolicySource>,
        second: PolicySource,
        look: bool,
    ) -> anyhow::Result<Self> {
        let (policies, shared) = loaded(first, Some(second), look)?;
        Ok(Self { policies, shared })
    }

    /// What each of them says about a call made in a directory.
    pub(in crate::commands) fn judge(
        &mut self,
        call: ToolCall,
        directory: &str,
    ) -> Option<(Decision, Decision)> {
        let place: Arc<str> = directory.into();
        let ruling = self.policies.for_directory(&place, &place);
        let decisions = self
            .shared
            .decisions(&Ok(call), (directory, directory), &ruling);
        Some((decisions.0, decisions.1?))
    }
}

fn loaded(
    first: Option<PolicySource>,
    second: Option<PolicySource>,
    look: bool,
) -> anyhow::Result<(Policies, Shared)> {
    let locations = Locations::of_this_machine();
    let load = |under: PolicySource| {
        load_source(&locations, &under)
            .map(Arc::new)
            .map_err(anyhow::Error::from)
    };
    let named = first.map(load).transpose()?;
    let home = locations.home.as_ref().and_then(|home| home.to_str());
    let shared = Shared {
        second: second.map(load).transpose()?,
        home: home.map(str::to_owned),
        look,
        session: Session::default(),
    };
    let policies = Policies {
        locations,
        named,
        layers: HashMap::new(),
    };
    Ok((policies, shared))
}

/// Where transcripts are read and their calls judged.
pub(in crate::commands) struct Bench {
    policies: Policies,
    filter: Filter,
    here: Arc<str>,
    progress: Progress,
    /// The bytes there are, as far as that is known.
    total: u64,
    seen: Seen,
    pool: Pool<Vec<Task>>,
    piece: Vec<Task>,
    calls: u64,
    /// What was found on the way.
    pub(in crate::commands) facts: RunFacts,
}

/// What a run finds besides calls.
#[derive(Debug, Default)]
pub(in crate::commands) struct RunFacts {
    /// Bytes that were read.
    pub(super) bytes: u64,
    /// Transcripts by their agent.
    pub(super) transcripts: BTreeMap<Writer, u64>,
    /// Files of directories that are no transcripts.
    pub(super) others: u64,
    /// Calls left out because they had been told before.
    pub(super) repeats: u64,
    /// Calls whose transcript does not say where they were made.
    pub(super) placed_here: u64,
    /// Whether somebody ended the run.
    pub(in crate::commands) interrupted: bool,
    /// How many transcripts are in each directory that was named.
    in_directory: Vec<u64>,
}

const NO_TRANSCRIPT: &str = "this is no transcript of a known agent";

impl Bench {
    pub(in crate::commands) fn new(conditions: Conditions, total: u64) -> anyhow::Result<Self> {
        let here = conditions.here.to_str();
        let here = here.ok_or_else(|| anyhow!("the working directory is not text: give --cwd"))?;
        let (policies, shared) = loaded(conditions.first, conditions.second, conditions.look)?;
        Ok(Self {
            policies,
            filter: conditions.filter,
            here: here.into(),
            progress: Progress::new(),
            total,
            seen: Seen::default(),
            pool: Pool::start(move |piece: &mut Vec<Task>| {
                piece.iter_mut().for_each(|task| shared.judge(task));
            }),
            piece: Vec::with_capacity(PIECE),
            calls: 0,
            facts: RunFacts::default(),
        })
    }

    /// Reads, judges and hands on everything.
    pub(in crate::commands) fn run(
        &mut self,
        sources: &Sources,
        listener: &mut dyn Listener,
    ) -> anyhow::Result<()> {
        self.facts.in_directory = vec![0; sources.directories.len()];
        for (name, problem) in &sources.unread {
            listener.problem(name, None, problem);
        }
        for source in &sources.files {
            if self.facts.interrupted {
                break;
            }
            self.source(source, listener)?;
        }
        let rest = std::mem::take(&mut self.piece);
        self.pool.hand_in(rest)?;
        while let Some(piece) = self.pool.wait()? {
            self.hand_on(piece, listener)?;
        }
        self.facts.repeats = self.seen.repeats();
        for (name, count) in sources.directories.iter().zip(&self.facts.in_directory) {
            if *count == 0 && !self.facts.interrupted {
                listener.problem(name, None, "there is no transcript in it");
            }
        }
        self.progress.clear();
        Ok(())
    }

    fn source(&mut self, source: &Source, listener: &mut dyn Listener) -> anyhow::Result<()> {
        let input = match source.open() {
            Ok(input) => input,
            Err(problem) => {
                listener.problem(&source.name, None, &problem);
                return Ok(());
            }
        };
        let mut seen = std::mem::take(&mut self.seen);
        let result = self.transcript(Reader::new(input, &mut seen), source, listener);
        self.seen = seen;
        result
    }

    fn transcript(
        &mut self,
        mut reader: Reader<'_, impl BufRead>,
        source: &Source,
        listener: &mut dyn Listener,
    ) -> anyhow::Result<()> {
        let file: Arc<str> = source.name.as_str().into();
        let mut beside = None;
        let before = self.facts.bytes;
        loop {
            match reader.read_next() {
                Ok(Some(Item::Call(call))) if self.filter.wants(&call) => {
                    let beside =
                        beside.get_or_insert_with(|| source.project_root().map(Arc::<str>::from));
                    let task = self.task(&file, *call, beside.as_ref());
                    self.piece.push(task);
                }
                Ok(Some(Item::Call(_))) => {}
                Ok(Some(Item::Problem { line, problem })) => {
                    listener.problem(&file, Some(line), &problem);
                }
                Ok(None) => break,
                Err(error) => {
                    listener.problem(&file, None, &in_words(&error));
                    break;
                }
            }
            self.facts.bytes = before + reader.bytes();
            let (calls, bytes) = (self.calls, self.facts.bytes);
            self.progress
                .tell(|| format!("{}, {}", counted(calls, "call"), so_far(bytes, self.total)));
            if interrupt::was_told() {
                self.facts.interrupted = true;
                break;
            }
            if self.piece.len() >= PIECE {
                self.turn(listener)?;
            }
        }
        self.facts.bytes = before + reader.bytes();
        match (reader.writer(), source.found_in) {
            (Some(writer), found_in) => {
                *self.facts.transcripts.entry(writer).or_default() += 1;
                let counts = &mut self.facts.in_directory;
                if let Some(count) = found_in.and_then(|index| counts.get_mut(index)) {
                    *count += 1;
                }
            }
            (None, Some(_)) => self.facts.others += 1,
            (None, None) => listener.problem(&file, None, NO_TRANSCRIPT),
        }
        Ok(())
    }

    /// Hands a piece in, and on what was judged meanwhile.
    fn turn(&mut self, listener: &mut dyn Listener) -> anyhow::Result<()> {
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE));
        self.pool.hand_in(piece)?;
        while let Some(piece) = self.pool.ready() {
            self.hand_on(piece, listener)?;
        }
        while self.pool.is_full() {
            match self.pool.wait()? {
                Some(piece) => self.hand_on(piece, listener)?,
                None => break,
            }
        }
        Ok(())
    }

    fn hand_on(&mut self, piece: Vec<Task>, listener: &mut dyn Listener) -> anyhow::Result<()> {
        let mut spoke = false;
        for task in piece {
            let Some((decision, against)) = task.decisions else {
                continue;
            };
            self.calls += 1;
            let judged = Judged {
                file: task.file,
                recorded: task.recorded,
                directory: task.directory,
                decision,
                against,
            };
            if listener.speaks(&judged) {
                self.progress.clear();
                spoke = true;
            }
            listener.hear(judged)?;
        }
        if spoke && self.progress.is_on() {
            // Before the progress is drawn again: both may be on one terminal.
            listener.flush()?;
        }
        Ok(())
    }

    fn task(&mut self, file: &Arc<str>, recorded: Recorded, beside: Option<&Arc<str>>) -> Task {
        let directory = match recorded.directory.as_ref().or(beside) {
            Some(directory) => Arc::clone(directory),
            None => {
                self.facts.placed_here += 1;
                Arc::clone(&self.here)
            }
        };
        let workspace = recorded.workspace.as_ref().unwrap_or(&directory);
        let workspace = Arc::clone(workspace);
        Task {
            ruling: self.policies.for_directory(&workspace, &directory),
            file: Arc::clone(file),
            recorded,
            workspace,
            directory,
            decisions: None,
        }
    }
}
