//! Watching over a run: from its first process's start to its end, serving what it is given meanwhile.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use libc::c_int;

use super::bubblewrap::Watched;
use super::cgroup::Groups;
use super::gateway;
use super::init::END_ALL;
use super::inside;
use super::notice::{self, Noted, Watch};
use super::output::{Flow, Output};
use super::report::{self, Told};
use super::session::{Meeting, Network};
use super::start::Started;
use super::sys::{self, Answer};
use super::used_up::UsedUp;
use super::{Attempt, not_made};
use crate::contain::{ContainError, Ended, Layers, Outside, Plan, Reached, Step, Tier};
use crate::network::{Proxy, Traffic};
use crate::readiness;

/// The first process, which signals to the supervisor are passed on to.
static INIT: AtomicI32 = AtomicI32::new(0);

extern "C" fn pass_on(signal: c_int) {
    let init = INIT.load(Ordering::Relaxed);
    if init > 0 {
        sys::signal(init, signal);
    }
}

/// Signals that are passed on, and those the terminal sends to the command itself, which decides; its end is then told
/// here.
const PASSED_ON: [c_int; 3] = [libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1];
const THE_COMMANDS: [c_int; 2] = [libc::SIGINT, libc::SIGQUIT];

/// How often it is looked whether a person has stopped the command: soon enough that it looks as if at once, and nothing a
/// machine notices.
const STOP_LOOK: Duration = Duration::from_millis(200);

/// What a supervisor needs beside the process itself.
pub(super) struct Supervision<'a> {
    pub(super) plan: &'a Plan,
    pub(super) outside: &'a Outside<'a>,
    /// Where later runs of the session ask, and the network they are handed.
    pub(super) meeting: Option<&'a Meeting>,
    pub(super) network: Option<&'a Network>,
    pub(super) groups: &'a Groups,
    pub(super) tier: Tier,
    pub(super) layers: Layers,
    /// Who makes it, if that is not this program: then the first process says that everything stands before the command starts.
    pub(super) bubblewrap: Option<&'a Watched>,
    /// A limit that nothing holds it to.
    pub(super) unenforced: Option<Reached>,
}

/// What a run left to be told.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) ended: Ended,
    pub(super) traffic: Traffic,
    pub(super) noted: Noted,
    pub(super) reached: Vec<Reached>,
    pub(super) layers: Layers,
    pub(super) unenforced: Option<Reached>,
    /// Protected paths at which somebody outside has put something else, or nothing.
    pub(super) replaced: Vec<PathBuf>,
}

/// What is served while a command runs.
struct Served<'o> {
    proxy: Option<Proxy>,
    watch: Option<Watch>,
    output: Option<Output<'o>>,
    noted: Noted,
    /// The first process has said that everything stands.
    stands: bool,
}

/// What something that is ready belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Report,
    Channel,
    Meeting,
    Watch,
    Output(usize),
    Bubblewrap,
}

impl Supervision<'_> {
    /// Waits for the command's end.
    pub(super) fn finish(
        &self,
        started: Started,
        output: Option<Output<'_>>,
    ) -> Result<Attempt, ContainError> {
        INIT.store(started.init, Ordering::Relaxed);
        for signal in PASSED_ON {
            sys::on_signal(signal, &Answer::Handled(pass_on))?;
        }
        for signal in THE_COMMANDS {
            sys::on_signal(signal, &Answer::Ignored)?;
        }
        let told = self.wait(started, output);
        INIT.store(0, Ordering::Relaxed);
        for signal in PASSED_ON.into_iter().chain(THE_COMMANDS) {
            sys::on_signal(signal, &Answer::Default)?;
        }
        told
    }

    fn wait(
        &self,
        mut started: Started,
        output: Option<Output<'_>>,
    ) -> Result<Attempt, ContainError> {
        let deadline = self.plan.limits.time.map(|time| Instant::now() + time);
        let network = started.network.take();
        let network = network.as_ref().or(self.network);
        let mut served = Served {
            proxy: None,
            watch: None,
            output,
            noted: Noted::default(),
            stands: false,
        };
        let mut cut = loop {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let left = match self.plan.stops.is_empty() {
                true => left,
                false => Some(left.map_or(STOP_LOOK, |left| left.min(STOP_LOOK))),
            };
            let ready = self.next(&started, &served, left)?;
            // Before its end, which may have come at the same time: what was sent first is taken first.
            if ready.contains(&Source::Channel) {
                self.take_passed(&started, &mut served)?;
            }
            if let (true, Some(watch)) = (ready.contains(&Source::Watch), &served.watch)
                && !watch.answer(&mut served.noted)
            {
                served.watch = None;
            }
            let too_much = served.carry_output(&ready) == Flow::TooMuch;
            if ready.contains(&Source::Report) && !too_much {
                break None;
            }
            // Whoever was to make it has gone, and nothing of the command has run.
            if ready.contains(&Source::Bubblewrap) && !served.stands {
                sys::wait_for(started.init)?;
                return Ok(unmade());
            }
            let meets = ready.contains(&Source::Meeting);
            if let (true, Some(meeting), Some(network)) = (meets, self.meeting, network) {
                meeting.hand_over(network);
            }
            if too_much {
                break Some(Ended::TooMuchOutput);
            }
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                break Some(Ended::OutOfTime);
            }
            if self
                .plan
                .stops
                .iter()
                .any(|file| file.symlink_metadata().is_ok())
            {
                break Some(Ended::Stopped);
            }
        };
        let told = if let Some(ended) = cut {
            // With a process table of its own everything ends with its first process.
            match (self.bubblewrap, self.tier) {
                (Some(bubblewrap), _) => bubblewrap.end(),
                (None, Tier::Full) => sys::signal(started.init, libc::SIGKILL),
                (None, Tier::Landlock | Tier::None) => sys::signal(started.init, END_ALL),
            }
            sys::wait_for(started.init)?;
            Some(Told::Ended(ended, UsedUp::default()))
        } else {
            let mut record = [0; report::LENGTH];
            let read = started.report.read_exact(&mut record);
            read.ok().and_then(|()| report::read(&record))
        };
        let (mut ended, used_up) = match told {
            Some(Told::Ended(ended, used_up)) => (ended, used_up),
            Some(Told::Failed(step, error)) => {
                sys::wait_for(started.init)?;
                if step == Step::Execute {
                    return Err(ContainError::NotStarted { source: error });
                }
                return Ok(not_made(step, &error));
            }
            None if self.bubblewrap.is_some() && !served.stands => {
                sys::wait_for(started.init)?;
                return Ok(unmade());
            }
            // It was ended from outside before it could say anything.
            None => {
                let status = sys::wait_for(started.init)?;
                (report::ended(status), UsedUp::default())
            }
        };
        let rest = served.output.as_mut().map_or(Flow::GoesOn, Output::drain);
        if rest == Flow::TooMuch && cut.is_none() {
            cut = Some(Ended::TooMuchOutput);
            ended = Ended::TooMuchOutput;
        }
        let mut reached = self.groups.reached();
        let told: Vec<Reached> = used_up
            .reached()
            .filter(|one| !reached.contains(one))
            .collect();
        reached.extend(told);
        reached.extend(cut.and_then(|ended| match ended {
            Ended::OutOfTime => Some(Reached::Time),
            Ended::TooMuchOutput => Some(Reached::Output),
            Ended::Exited(_) | Ended::Signalled(_) | Ended::Stopped => None,
        }));
        Ok(Attempt::Ended(Box::new(Outcome {
            ended,
            traffic: served.proxy.map(Proxy::stop).unwrap_or_default(),
            noted: served.noted,
            reached,
            layers: self.layers.clone(),
            unenforced: self.unenforced,
            replaced: Vec::new(),
        })))
    }

    /// What there is to be done, at most after so long.
    fn next(
        &self,
        started: &Started,
        served: &Served<'_>,
        left: Option<Duration>,
    ) -> Result<Vec<Source>, ContainError> {
        let mut sources = vec![Source::Report, Source::Channel];
        let mut fds = vec![started.report.as_fd(), started.channel.as_fd()];
        if let Some(meeting) = self.meeting {
            sources.push(Source::Meeting);
            fds.push(meeting.as_fd());
        }
        if let Some(watch) = &served.watch {
            sources.push(Source::Watch);
            fds.push(watch.as_fd());
        }
        // Once it stands, its end is told as that of any other.
        if let Some(bubblewrap) = self.bubblewrap.filter(|_| !served.stands) {
            sources.push(Source::Bubblewrap);
            fds.push(bubblewrap.as_fd());
        }
        for (index, fd) in served.output.iter().flat_map(Output::waited_for) {
            sources.push(Source::Output(index));
            fds.push(fd);
        }
        let ready = readiness::wait(&fds, left)?;
        let found = sources.into_iter().zip(ready);
        Ok(found
            .filter(|(_, ready)| *ready)
            .map(|(source, _)| source)
            .collect())
    }

    /// Takes what the inside has passed out.
    fn take_passed(&self, started: &Started, served: &mut Served<'_>) -> Result<(), ContainError> {
        let mut bytes = [0; 8];
        let Ok((length, fds)) = sys::take_passed(started.channel.as_fd(), &mut bytes) else {
            // Nobody is left who could send anything; its end is about to be told.
            return Ok(());
        };
        match bytes.get(..length) {
            Some([gateway::LISTENERS, run]) => {
                if let Some((inside, invented)) = gateway::taken(&self.plan.hosts, *run, fds) {
                    let upstream = Arc::clone(&self.outside.upstream);
                    let proxy = Proxy::start(inside, &self.plan.hosts, invented, upstream)?;
                    served.proxy = Some(proxy);
                }
            }
            Some([inside::STANDS]) => {
                served.stands = true;
                // Signals are for it, and no longer for who has started it.
                if let Some(first) = self.bubblewrap.and_then(Watched::first_process) {
                    INIT.store(first, Ordering::Relaxed);
                }
            }
            Some([notice::LISTENER]) => {
                let listener = fds.into_iter().next();
                served.watch = listener.map(|listener| Watch::new(listener, self.plan, self.tier));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Bubblewrap has not made what it was told to.
fn unmade() -> Attempt {
    let refused = io::ErrorKind::PermissionDenied.into();
    not_made(Step::Namespaces, &refused)
}

impl Served<'_> {
    fn carry_output(&mut self, ready: &[Source]) -> Flow {
        for source in ready {
            if let (Source::Output(index), Some(output)) = (source, &mut self.output)
                && output.carry(*index) == Flow::TooMuch
            {
                return Flow::TooMuch;
            }
        }
        Flow::GoesOn
    }
}
