//! The daemon: one process of a user that keeps the requests, over a Unix socket for callers and
//! over HTTP for people.

pub mod peer;
mod socket;

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use holdpoint_broker::host::{BrokerHost, Problem};
use holdpoint_broker::time::UnixMillis;
use holdpoint_broker::wire::{Places, ServerAnswer};
use tokio::net::UnixListener;
use tokio::sync::Semaphore;

use self::socket::SocketState;
use crate::broker::Broker;

/// How often it is looked whether something has expired.
const TICK: Duration = Duration::from_millis(200);

/// How often what nobody needs any more is forgotten.
const TIDY: Duration = Duration::from_secs(60);

/// How often it is looked whether something on record is unsigned, and how old the last signature is by then: together less than
/// a minute, after which nothing may be unsigned.
const SIGN: Duration = Duration::from_secs(10);
const UNSIGNED: Duration = Duration::from_secs(30);

/// What a daemon is made of.
pub struct Daemon {
    places: Places,
    broker: Broker,
    secret: String,
    owner: String,
    account: u32,
    /// Held for as long as the daemon runs, so that there is only one.
    _lock: File,
}

impl Daemon {
    /// Takes the daemon's place: makes its directory and secret, and opens the requests.
    pub fn open(places: &Places, host: Arc<dyn BrokerHost>, owner: &str) -> Result<Self, Problem> {
        let directory = places.directory();
        make_directory(directory)?;
        let account = owner_of(directory)?;
        let lock = take_lock(&places.lock())?;
        let secret = kept_secret(places)?;
        Ok(Self {
            broker: Broker::open(&places.database(), host)?,
            places: places.clone(),
            secret,
            owner: owner.to_owned(),
            account,
            _lock: lock,
        })
    }

    /// The requests.
    pub fn broker(&self) -> &Broker {
        &self.broker
    }

    /// The person at this machine.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// Answers on the socket, expires what is due and tidies up, until `stop` is done.
    pub async fn run(
        self,
        stands_for: impl Fn(&str) -> Vec<String> + Send + Sync + 'static,
        code: impl Fn(&str) -> Result<(String, String), Problem> + Send + Sync + 'static,
        wants_terminal: impl Fn() -> bool + Send + Sync + 'static,
        opinion: impl Fn(&str) -> ServerAnswer + Send + Sync + 'static,
        stop: impl Future<Output = ()>,
    ) -> Result<(), Problem> {
        let path = self.places.socket();
        let listener = listen(&path)?;
        let state = Arc::new(SocketState {
            broker: self.broker.clone(),
            secret: self.secret.clone(),
            owner: self.owner.clone(),
            account: self.account,
            stands_for: Box::new(stands_for),
            code: Box::new(code),
            wants_terminal: Box::new(wants_terminal),
            opinion: Box::new(opinion),
            opinions: Semaphore::new(socket::MAX_OPINIONS),
        });
        let (running, over) = mpsc::channel();
        let broker = self.broker.clone();
        let timekeeper = thread::Builder::new()
            .spawn(move || keep_time(&broker, &over))
            .map_err(|error| Problem(format!("nobody can watch the time ({})", error.kind())))?;
        let ended = tokio::select! {
            () = socket::serve(listener, state) => Ok(()),
            () = stop => Ok(()),
            () = is_gone(&path) => Err(Problem(format!(
                "{}: the daemon's socket was removed, so that nobody could reach it any more: start the daemon again",
                path.display()
            ))),
        };
        drop(running);
        let _ = timekeeper.join();
        // The next daemon would remove it; callers learn sooner that there is none.
        if ended.is_ok() {
            let _ = fs::remove_file(&path);
        }
        ended
    }
}

/// How often it is looked whether the socket is still there.
const LOOK: Duration = Duration::from_secs(1);

/// Waits until the socket at a path is gone, or another one: its directory was deleted, and with it the requests and the
/// lock that keeps a second daemon away. Going on would only hide that.
async fn is_gone(path: &Path) {
    use std::os::unix::fs::MetadataExt;
    let seen = |path: &Path| {
        fs::metadata(path)
            .ok()
            .map(|found| (found.dev(), found.ino()))
    };
    let ours = seen(path);
    loop {
        tokio::time::sleep(LOOK).await;
        if seen(path) != ours {
            return;
        }
    }
}

/// Expires what is due, forgets what nobody needs and signs the record, until nobody holds the other end. On a thread of
/// its own: the threads of the runtime then end when there is nothing to do, and give back what they
/// took.
fn keep_time(broker: &Broker, over: &Receiver<()>) {
    let (mut tidied, mut signed) = (UnixMillis::default(), UnixMillis::now());
    while over.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
        let now = UnixMillis::now();
        let due = broker.next_expiry();
        if due.is_ok_and(|due| due.is_some_and(|due| due <= now)) {
            // What could not be recorded is tried again at the next tick.
            let _ = broker.expire_due(now);
        }
        if tidied.until(now) >= TIDY {
            tidied = now;
            let _ = broker.tidy(now);
        }
        if signed.until(now) >= SIGN {
            signed = now;
            // Whoever appends next signs, too.
            let _ = broker.sign_record(UNSIGNED);
        }
    }
}

fn make_directory(directory: &Path) -> Result<(), Problem> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
    let fail = |what: &str| Problem(format!("{}: {what}", directory.display()));
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .map_err(|error| fail(&format!("the directory cannot be made ({})", error.kind())))?;
    let found = fs::symlink_metadata(directory)
        .map_err(|error| fail(&format!("the directory cannot be used ({})", error.kind())))?;
    if !found.is_dir() {
        return Err(fail("this must be a directory and no link: remove it"));
    }
    if found.mode() & 0o077 != 0 {
        fs::set_permissions(directory, fs::Permissions::from_mode(0o700))
            .map_err(|error| fail(&format!("others can look into it ({})", error.kind())))?;
    }
    Ok(())
}

fn owner_of(directory: &Path) -> Result<u32, Problem> {
    use std::os::unix::fs::MetadataExt;
    // A file made now is ours, whoever owns the directory.
    let probe = directory.join(format!(".probe-{}", std::process::id()));
    let fail = |error: std::io::Error| {
        Problem(format!(
            "{}: nothing can be written there ({})",
            directory.display(),
            error.kind()
        ))
    };
    let ours = File::create(&probe).and_then(|file| file.metadata());
    let _ = fs::remove_file(&probe);
    let ours = ours.map_err(fail)?.uid();
    let theirs = fs::metadata(directory).map_err(fail)?.uid();
    if ours != theirs {
        return Err(Problem(format!(
            "{}: this directory belongs to another user",
            directory.display()
        )));
    }
    Ok(ours)
}

fn take_lock(path: &Path) -> Result<File, Problem> {
    let file = private(OpenOptions::new().create(true).truncate(false).write(true))
        .open(path)
        .map_err(|error| {
            Problem(format!(
                "{}: cannot be opened ({})",
                path.display(),
                error.kind()
            ))
        })?;
    file.try_lock().map_err(|_| {
        Problem("the approval daemon runs already: `holdpoint open` shows its page".into())
    })?;
    Ok(file)
}

/// The secret, made when it is first needed. It stays: programs of the person keep no copy.
fn kept_secret(places: &Places) -> Result<String, Problem> {
    if let Some(secret) = places.read_secret() {
        return Ok(secret);
    }
    let path = places.secret();
    let secret = Places::new_secret()?;
    let draft = path.with_extension("draft");
    let written = private(OpenOptions::new().create(true).truncate(true).write(true))
        .open(&draft)
        .and_then(|mut file| {
            file.write_all(&secret)?;
            file.sync_data()
        })
        .and_then(|()| fs::rename(&draft, &path));
    written.map_err(|error| {
        Problem(format!(
            "{}: the secret cannot be written ({})",
            path.display(),
            error.kind()
        ))
    })?;
    places
        .read_secret()
        .ok_or_else(|| Problem(format!("{}: the secret cannot be read", path.display())))
}

fn listen(path: &Path) -> Result<UnixListener, Problem> {
    use std::os::unix::fs::PermissionsExt;
    let fail = |error: std::io::Error| {
        Problem(format!(
            "{}: the socket cannot be made ({}): choose a shorter XDG_STATE_HOME if the path is long",
            path.display(),
            error
        ))
    };
    // Whoever left it has ended: the lock is ours.
    let _ = fs::remove_file(path);
    let listener = UnixListener::bind(path).map_err(fail)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(fail)?;
    Ok(listener)
}

fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600)
}
