//! `holdpoint serve` and `holdpoint open`: the approval daemon, and its page.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use holdpoint_broker::UnixMillis;
use holdpoint_broker::wire::{self, Places, Reply, ServerAnswer, Wanted};
use holdpoint_cli::{LocalViews, policy_text};
use holdpoint_core::policy::channel_of;
use holdpoint_daemon::daemon::{Daemon, peer};
use holdpoint_daemon::http::{App, Auth, Certificate, ListenAddress, app, bind};
use holdpoint_daemon::{ModelServer, Notices};
use holdpoint_engine::{Engine, Locations, Pinned, PolicySource, account_name, people_at};

use super::service;
use crate::cli;
use crate::exit::Exit;
use crate::terminal::Terminal;

/// Threads for what waits for the disk; more would only be memory.
const MAX_THREADS: usize = 16;

/// How long one of them waits for something to do. Each keeps a third of a megabyte, more if it made
/// a report, and gives it back when it ends.
const IDLE_THREAD: Duration = Duration::from_secs(2);

pub(crate) fn serve(args: &cli::Serve, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    not_for_agents("start the approval daemon")?;
    if args.install {
        return service::install(args, terminal);
    }
    if args.uninstall {
        return service::uninstall(terminal);
    }
    // The daemon's secret and what waits are in its memory.
    holdpoint_sandbox::user::keep_out()
        .context("other programs cannot be kept out of the daemon's memory")?;
    let locations = Locations::of_this_machine();
    let places = places(&locations)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(MAX_THREADS)
        .thread_keep_alive(IDLE_THREAD)
        .build()
        .context("the daemon cannot be started")?;
    runtime.block_on(served(args, &locations, &places, terminal))?;
    Ok(Exit::Fine)
}

async fn served(
    args: &cli::Serve,
    locations: &Locations,
    places: &Places,
    terminal: &mut Terminal,
) -> anyhow::Result<()> {
    let owner = account_name();
    let people = people_at(locations)?;
    let engine = Engine::at(locations).with_policy_writer(policy_text::add_allowed);
    let engine = Arc::new(engine);
    let opinion = second_opinion(Arc::clone(&engine));
    let wants_terminal = {
        let engine = Arc::clone(&engine);
        move || engine.wants_terminal()
    };
    let judging = Arc::clone(&engine);
    let daemon = Daemon::open(places, engine, &owner)?;
    let certificate = match (&args.cert, &args.key) {
        (Some(chain), Some(key)) => Some(Certificate {
            chain: chain.clone(),
            key: key.clone(),
        }),
        _ => None,
    };
    let listen = ListenAddress {
        address: args.listen,
        names: args.name.clone(),
        certificate,
    };
    let bound = bind(&listen, people.roster()?.people.len()).await?;
    let url = bound.origins().url().unwrap_or_default();
    let signed_in = places.directory().join("sign-ins.json");
    let auth = Arc::new(Auth::kept_at(people.clone(), signed_in, Instant::now()));
    let views = Arc::new(LocalViews::new(locations.clone(), daemon.broker().clone()));
    let state = App::new(
        daemon.broker().clone(),
        Arc::clone(&auth),
        views,
        bound.origins().clone(),
    )
    .keeping_passkeys_in(&places.directory().join("enrolments"));
    let notices = Notices {
        broker: daemon.broker().clone(),
        page: url.clone(),
        channel_of: Box::new(move |asked| {
            // A policy that cannot be read names nobody; the call itself says what is wrong with it.
            let policy = judging.policy(&PolicySource::of_call(asked)).ok()?;
            channel_of(&policy).cloned()
        }),
        environment: Box::new(|name| std::env::var(name).ok()),
        say: Box::new(|problem| {
            // Whoever reads it may have gone; the calls wait all the same.
            let _ = writeln!(std::io::stderr(), "holdpoint: {problem}");
        }),
    };
    notices.start()?;
    write_address(&places.address(), &url)?;
    writeln!(
        terminal.out,
        "Holdpoint holds calls for you at {url}\nOpen it with: holdpoint open\nStop it with Ctrl-C; what waits then is kept."
    )?;
    terminal.out.flush()?;
    let (stopping, mut stopped) = tokio::sync::watch::channel(());
    let page = tokio::spawn(bound.serve(app(state), async move {
        let _ = stopped.changed().await;
    }));
    let code = {
        let url = url.clone();
        move |person: &str| Ok((auth.new_code(person, Instant::now())?, url.clone()))
    };
    // A list that cannot be read gives nobody the right to stand in for anybody.
    let stands_for = move |name: &str| {
        people
            .stands_in_for(name, UnixMillis::now())
            .unwrap_or_default()
    };
    let ended = daemon
        .run(stands_for, code, wants_terminal, opinion, told_to_stop())
        .await;
    drop(stopping);
    let _ = page.await;
    let _ = fs::remove_file(places.address());
    Ok(ended?)
}

/// What the user's model server makes of a text, by the policy of the user and the machine as it is now: the daemon does not
/// belong to a project, and whoever asks does not say whom to ask.
fn second_opinion(engine: Arc<Engine>) -> impl Fn(&str) -> ServerAnswer {
    // Made anew only where the policy names another: it keeps its connections.
    let known: Mutex<Option<Arc<ModelServer>>> = Mutex::default();
    move |text: &str| {
        // A policy that cannot be read names nobody; calls say what is wrong with it.
        let policy = engine.policy(&engine.layers(Path::new("/"))).ok();
        let Some(named) = policy.as_ref().and_then(|policy| policy.second_opinion()) else {
            return ServerAnswer::nobodys("the policy the daemon runs under names no model server");
        };
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let server = match known.as_ref().filter(|known| known.settings() == named) {
            Some(same) => Arc::clone(same),
            None => match ModelServer::new(named) {
                Ok(server) => Arc::clone(known.insert(Arc::new(server))),
                Err(problem) => return ServerAnswer::nobodys(problem.to_string()),
            },
        };
        drop(known);
        server.ask(text)
    }
}

/// Waits for Ctrl-C or for whoever looks after processes.
async fn told_to_stop() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        let _ = tokio::signal::ctrl_c().await;
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

fn write_address(path: &Path, url: &str) -> anyhow::Result<()> {
    let draft = path.with_extension("draft");
    fs::write(&draft, url)
        .and_then(|()| fs::rename(&draft, path))
        .with_context(|| format!("{}: cannot be written", path.display()))
}

pub(crate) fn open(args: &cli::Open, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    not_for_agents("sign in")?;
    let places = places(&Locations::of_this_machine())?;
    let Reply::Code { code, address } = wire::ask(&places, Wanted::Code)? else {
        bail!("the approval daemon answers another question: restart it");
    };
    // In the fragment, which no server and no log ever sees.
    let url = format!("{address}#code={code}");
    if !args.print && browse(&url) {
        writeln!(terminal.out, "Opened {address} in your browser.")?;
    } else {
        writeln!(terminal.out, "{url}")?;
    }
    Ok(Exit::Fine)
}

/// Starts the browser of whoever sits here; false if there is none.
fn browse(url: &str) -> bool {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    if !cfg!(target_os = "macos")
        && std::env::var_os("DISPLAY").is_none()
        && std::env::var_os("WAYLAND_DISPLAY").is_none()
    {
        return false;
    }
    Command::new(program)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Where this user's daemon keeps its things.
pub(crate) fn places(locations: &Locations) -> anyhow::Result<Places> {
    match &locations.state {
        Some(state) => Ok(Places::under(state)),
        None => bail!("no home directory is known: set HOME or XDG_STATE_HOME"),
    }
}

/// What lets something run is refused where nobody sits at a terminal, unless the policy wants nobody to.
///
/// A policy named in the environment is the word of whoever runs the command: it is asked for no less than without it.
pub(crate) fn somebody_at_a_terminal(locations: &Locations) -> anyhow::Result<()> {
    let unnamed = Locations {
        named: None,
        ..locations.clone()
    };
    let wanted = || {
        [locations, &unnamed]
            .into_iter()
            .any(|locations| Engine::at(locations).wants_terminal())
    };
    if peer::terminal_of_ours().is_some() || !wanted() {
        return Ok(());
    }
    bail!(peer::NO_TERMINAL)
}

/// What takes questions away is refused below an agent, and wants the same as a yes: somebody at a terminal, and where keys are
/// pinned whatever the policy says, since a yes is a signature there.
pub(crate) fn may_loosen(what: &str, locations: &Locations) -> anyhow::Result<()> {
    not_for_agents(what)?;
    somebody_at_a_terminal(locations)?;
    if Pinned::at(locations) != Pinned::Nobody && peer::terminal_of_ours().is_none() {
        bail!(peer::NO_TERMINAL);
    }
    Ok(())
}

/// What only a person may do is refused below an agent.
pub(crate) fn not_for_agents(what: &str) -> anyhow::Result<()> {
    match peer::agent_above_us() {
        Some(sign) => bail!(
            "an agent's call may not {what} ({sign}): only a person does; run it in your own terminal"
        ),
        None => Ok(()),
    }
}
