//! Who makes calls, and who answers them.

use std::collections::HashSet;
use std::fs::{self, File};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use holdpoint_broker::wire::{self, HoldAnswer, Places, Reply, Wanted};
use holdpoint_broker::{Answer, CallContext, Context as Circumstances};
use holdpoint_core::Verdict;
use holdpoint_proof::Signed;
use serde_json::json;

use super::daemon::Daemon;
use super::milliseconds;
use super::signer::Signer;

/// How many callers ask at the same time when that is measured.
pub(crate) const AT_ONCE: usize = 16;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(30);

const PAYLOAD: &str = include_str!("../../payloads/list.json");

/// Somebody who says yes to whatever is asked, as soon as it is.
pub(crate) struct Answering {
    over: Arc<AtomicBool>,
    thread: JoinHandle<Result<()>>,
}

impl Answering {
    /// With a key they sign each yes.
    pub(crate) fn start(places: &Places, signer: Option<Signer>) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let (places, resolution) = (places.clone(), Arc::clone(&over));
        let thread = thread::spawn(move || {
            // What waits when the following starts may be told of twice.
            let mut answered = HashSet::new();
            let mut trouble = None;
            let followed = wire::follow(&places, |reply| {
                let opened = match reply {
                    Some(Reply::Requests { requests }) => requests,
                    Some(Reply::Change { kind, request }) if kind == "opened" => vec![*request],
                    _ => Vec::new(),
                };
                let said = opened
                    .iter()
                    .filter(|request| answered.insert(request.id.clone()))
                    .try_for_each(|request| {
                        let signed = signer.as_ref().map(|one| one.signs(&places, &request.id));
                        yes(&places, &request.id, &request.binding, signed.transpose()?)
                    });
                trouble = said.err();
                trouble.is_none() && !resolution.load(Ordering::SeqCst)
            });
            followed.context("nobody can answer")?;
            trouble.map_or(Ok(()), Err)
        });
        Self { over, thread }
    }

    /// Ends it; an error if something could not be answered.
    pub(crate) fn stop(self) -> Result<()> {
        self.over.store(true, Ordering::SeqCst);
        let ended = self.thread.join();
        ended.map_err(|_| anyhow!("whoever answers has failed"))?
    }
}

/// Says yes to a request as it was shown.
pub(crate) fn yes(places: &Places, id: &str, binding: &str, signed: Option<Signed>) -> Result<()> {
    let said = wire::ask(
        places,
        Wanted::Answer {
            id: id.to_owned(),
            answer: Answer::Yes,
            binding: Some(binding.to_owned()),
            phrase: None,
            signed,
            watching: false,
        },
    )?;
    match said {
        Reply::Answered { outcome, .. } if outcome == "settled" => Ok(()),
        other => bail!("an answer came to {other:?}"),
    }
}

/// Makes a call and waits for its answer: the milliseconds of that.
pub(crate) fn held(daemon: &Daemon, command: &str) -> Result<f64> {
    let asked = asked(daemon, command);
    let start = Instant::now();
    let answer = wire::hold(daemon.places(), &asked, Some(LONG), LONG, &|| false)?;
    let elapsed = start.elapsed();
    match answer {
        HoldAnswer::Resolved(resolution)
            if resolution.verdict == Verdict::Allow && resolution.id.is_some() =>
        {
            Ok(milliseconds(elapsed))
        }
        other => bail!("`{command}` was answered with {other:?}"),
    }
}

fn asked(daemon: &Daemon, command: &str) -> CallContext {
    let workspace = daemon.workspace().to_string_lossy().into_owned();
    CallContext {
        agent: "claude-code".into(),
        session: "3f2b8c1e-5d64-4a7e-9b0a-6c1d2e3f4a5b".into(),
        tool: "Bash".into(),
        input: [("command".to_owned(), json!(command))]
            .into_iter()
            .collect(),
        directory: workspace.clone(),
        workspace,
        config: None,
        context: Circumstances::default(),
    }
}

/// So many calls from several callers at once: how many are answered in a second.
pub(crate) fn calls_at_once(daemon: &Daemon, calls: usize) -> Result<f64> {
    let next = AtomicUsize::new(0);
    let start = Instant::now();
    thread::scope(|scope| {
        let callers: Vec<_> = (0..AT_ONCE)
            .map(|_| {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= calls {
                            return Ok(());
                        }
                        held(daemon, &format!("make one-of-many-{number}"))?;
                    }
                })
            })
            .collect();
        callers.into_iter().try_for_each(|caller| {
            let ended: Result<Result<()>, _> = caller.join();
            ended.map_err(|_| anyhow!("a caller has failed"))?
        })
    })?;
    Ok(calls as f64 / start.elapsed().as_secs_f64())
}

/// Milliseconds of hooks whose call is held, and of processes that do nothing, in turns.
pub(crate) fn hook_processes(daemon: &Daemon, rounds: usize) -> Result<(Vec<f64>, Vec<f64>)> {
    let nothing = std::env::current_exe()?.with_file_name("nothing");
    let (mut held, mut bare) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let payload = PAYLOAD
            .replace("@workspace@", &daemon.workspace().to_string_lossy())
            .replace("ls -la", &format!("make hook-{round}"));
        let input = daemon.home().join("payload.json");
        fs::write(&input, payload)?;
        bare.push(timed(
            daemon.beside(&nothing).stdin(File::open(&input)?),
            "",
        )?);
        held.push(timed(
            daemon.hook().stdin(File::open(&input)?),
            "\"allow\"",
        )?);
    }
    Ok((held, bare))
}

/// Milliseconds of a process that must say something.
fn timed(command: &mut Command, says: &str) -> Result<f64> {
    let start = Instant::now();
    let output = command.output().context("cannot start")?;
    let elapsed = start.elapsed();
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(
        output.status.success() && said.contains(says),
        "{command:?} ended with {output:?}"
    );
    Ok(milliseconds(elapsed))
}
