//! The proxy: serves sockets that listen inside a sandbox, from outside it.
//!
//! One thread answers names and takes connections, two carry each connection. Everything is bounded: connections, bytes,
//! idle time, and what is noted.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{
    IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs, UdpSocket,
};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::addresses::is_public;
use super::dns;
use super::hello::{self, Hello};
use super::names::{HostName, HostRule};
use super::requests::{self, MAX_HEAD, Request, SOCKS5};
use super::{HostRefusal, MAX_NOTED, Opened, Traffic};
use crate::readiness;

/// The most connections at once: package managers open up to fifty.
const MAX_CONNECTIONS: usize = 128;

/// The most bytes one run sends: more than any request, less than a disk.
const MAX_SENT: u64 = 1 << 30;

/// The most bytes one run is sent: a toolchain and all its packages are some GiB.
const MAX_RECEIVED: u64 = 16 << 30;

/// How long a connection may carry nothing: longer than servers wait.
const MAX_IDLE: Duration = Duration::from_secs(300);

/// How long a program has to say where it wants to go, and a host to answer.
const MAX_HEAD_TIME: Duration = Duration::from_secs(30);
const MAX_DIAL_TIME: Duration = Duration::from_secs(10);

/// The most addresses of a host that are tried.
const MAX_DIALS: usize = 4;

/// The stack of a thread that carries bytes: its buffer and little else.
const STACK: usize = 128 << 10;

/// How names become addresses and addresses connections. Only tests have another than [`Internet`].
pub trait Upstream: Send + Sync {
    /// All addresses of a host.
    fn resolve(&self, name: &HostName) -> io::Result<Vec<IpAddr>>;

    /// A connection to an address that has been checked.
    fn dial(&self, address: SocketAddr) -> io::Result<TcpStream>;
}

/// The network of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Internet;

impl Upstream for Internet {
    fn resolve(&self, name: &HostName) -> io::Result<Vec<IpAddr>> {
        let found = (name.as_str(), 0).to_socket_addrs()?;
        Ok(found.map(|address| address.ip()).collect())
    }

    fn dial(&self, address: SocketAddr) -> io::Result<TcpStream> {
        TcpStream::connect_timeout(&address, MAX_DIAL_TIME)
    }
}

/// The most addresses that are invented: what listens on them is handed over at once, and that has a limit. Hosts
/// beyond are reached through the proxy by its name only.
const MAX_INVENTED: usize = 120;

/// Addresses that are kept for hosts below a name, which are only known when they are asked for.
const SPARE: usize = 24;

/// The most sockets that listen on invented addresses.
const MAX_LISTENERS: usize = 200;

/// The addresses that stand for hosts inside: for listed names their own, and spare ones for those below a name.
#[derive(Debug, Clone)]
pub struct Invented {
    run: u8,
    names: Vec<Option<HostName>>,
    /// What listens: the index of an address, and a port.
    listeners: Vec<(usize, u16)>,
}

impl Invented {
    /// For these rules, in the block of addresses of this run: several runs may share a network.
    pub fn new(rules: &[HostRule], run: u8) -> Self {
        let mut names: Vec<Option<HostName>> = Vec::new();
        let mut listeners = Vec::new();
        for rule in rules.iter().filter(|rule| !rule.is_wildcard()) {
            let known = names
                .iter()
                .position(|name| name.as_ref() == Some(rule.name()));
            let index = known.unwrap_or(names.len());
            if index >= MAX_INVENTED {
                continue;
            }
            if known.is_none() {
                names.push(Some(rule.name().clone()));
            }
            listeners.push((index, rule.port()));
        }
        let mut ports: Vec<u16> = rules
            .iter()
            .filter(|rule| rule.is_wildcard())
            .map(HostRule::port)
            .collect();
        ports.sort_unstable();
        ports.dedup();
        if !ports.is_empty() {
            for index in names.len()..names.len() + SPARE {
                names.push(None);
                listeners.extend(ports.iter().map(|port| (index, *port)));
            }
        }
        listeners.sort_unstable();
        listeners.dedup();
        listeners.truncate(MAX_LISTENERS);
        Self {
            run,
            names,
            listeners,
        }
    }

    /// Where names are answered and the proxy listens.
    pub fn gateway(&self) -> Ipv4Addr {
        Ipv4Addr::new(127, 77, self.run, 1)
    }

    /// What must listen beside them, in the order of [`Inside::invented`].
    pub fn listeners(&self) -> impl Iterator<Item = (Ipv4Addr, u16)> + '_ {
        self.listeners
            .iter()
            .map(|(index, port)| (self.address(*index), *port))
    }

    fn address(&self, index: usize) -> Ipv4Addr {
        let last = u8::try_from(index.saturating_add(2)).unwrap_or(u8::MAX);
        Ipv4Addr::new(127, 77, self.run, last)
    }

    /// The address of a host that is allowed.
    fn address_for(&mut self, host: &HostName) -> Option<Ipv4Addr> {
        let known = self
            .names
            .iter()
            .position(|name| name.as_ref() == Some(host));
        let index = known.or_else(|| self.names.iter().position(Option::is_none))?;
        if let Some(place) = self.names.get_mut(index) {
            *place = Some(host.clone());
        }
        Some(self.address(index))
    }

    fn name_of(&self, listener: usize) -> Option<(HostName, u16)> {
        let (index, port) = self.listeners.get(listener)?;
        let name = self.names.get(*index)?.clone()?;
        Some((name, *port))
    }
}

/// The name of the machine a command finds itself on.
pub(crate) const HOST_NAME: &str = "holdpoint";
/// The port of the proxy.
#[cfg(target_os = "linux")]
pub(crate) const PROXY_PORT: u16 = 3128;
/// The port names are asked on.
#[cfg(target_os = "linux")]
pub(crate) const NAMES_PORT: u16 = 53;

/// The sockets that listen inside.
#[derive(Debug)]
pub struct Inside {
    /// For names.
    pub names: UdpSocket,
    /// For `CONNECT` and SOCKS5; none where no host is listed, and names are only answered to be told of.
    pub proxy: Option<TcpListener>,
    /// On invented addresses.
    pub invented: Vec<TcpListener>,
}

/// What all threads share.
struct Shared {
    rules: Vec<HostRule>,
    upstream: Arc<dyn Upstream>,
    invented: Mutex<Invented>,
    traffic: Mutex<Traffic>,
    open: AtomicUsize,
    sent: AtomicU64,
    received: AtomicU64,
    /// Both ends of what is being carried, to be cut when the run ends.
    carried: Mutex<BTreeMap<u64, [TcpStream; 2]>>,
}

/// A lock nobody breaks: what holds one only copies values.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A proxy at work.
pub struct Proxy {
    shared: Arc<Shared>,
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Proxy {
    /// Serves these sockets.
    pub fn start(
        inside: Inside,
        rules: &[HostRule],
        invented: Invented,
        upstream: Arc<dyn Upstream>,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            rules: rules.to_vec(),
            upstream,
            invented: Mutex::new(invented),
            traffic: Mutex::default(),
            open: AtomicUsize::new(0),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
            carried: Mutex::default(),
        });
        let (stop, stopped) = UnixStream::pair()?;
        inside.names.set_nonblocking(true)?;
        for listener in inside.invented.iter().chain(&inside.proxy) {
            listener.set_nonblocking(true)?;
        }
        let thread = {
            let shared = Arc::clone(&shared);
            thread::Builder::new().spawn(move || accept(&inside, &stopped, &shared))?
        };
        Ok(Self {
            shared,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Ends it, and says what went through.
    pub fn stop(mut self) -> Traffic {
        self.end();
        locked(&self.shared.traffic).clone()
    }

    fn end(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // It has nothing to say, and a thread that ended badly serves nobody either.
            let _ = thread.join();
        }
        for [inside, outside] in locked(&self.shared.carried).values() {
            // One that is closed already is cut.
            let _ = inside.shutdown(Shutdown::Both);
            let _ = outside.shutdown(Shutdown::Both);
        }
        // Those that carry notice at once; one that waits for a name or a host is not waited for.
        let until = Instant::now() + Duration::from_millis(200);
        while self.shared.open.load(Ordering::Acquire) > 0 && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.end();
    }
}

/// Takes what comes until the other end of `stopped` is closed.
fn accept(inside: &Inside, stopped: &UnixStream, shared: &Arc<Shared>) {
    let mut fds: Vec<BorrowedFd<'_>> = vec![stopped.as_fd(), inside.names.as_fd()];
    fds.extend(inside.proxy.iter().map(AsFd::as_fd));
    let first_invented = fds.len();
    fds.extend(inside.invented.iter().map(AsFd::as_fd));
    while let Ok(ready) = readiness::wait(&fds, None) {
        let is_ready = |index: usize| ready.get(index).copied().unwrap_or_default();
        if is_ready(0) {
            return;
        }
        if is_ready(1) {
            answer_names(&inside.names, shared);
        }
        if let Some(proxy) = inside.proxy.as_ref().filter(|_| is_ready(2)) {
            take(proxy, shared, None);
        }
        for (index, listener) in inside.invented.iter().enumerate() {
            if !is_ready(first_invented + index) {
                continue;
            }
            let target = locked(&shared.invented).name_of(index);
            match target {
                Some(target) => take(listener, shared, Some(target)),
                // An address nobody was told: whoever came is sent away.
                None => drop(listener.accept()),
            }
        }
    }
}

fn answer_names(socket: &UdpSocket, shared: &Shared) {
    let mut datagram = [0; dns::MAX_QUESTION];
    while let Ok((length, from)) = socket.recv_from(&mut datagram) {
        let Some(read) = datagram.get(..length).and_then(dns::read) else {
            continue;
        };
        let answer = match read {
            Err(answer) => answer,
            // Its own, which servers look up; anywhere else that is this machine, too.
            Ok(question) if question.name.eq_ignore_ascii_case(HOST_NAME.as_bytes()) => {
                question.answer(Ipv4Addr::LOCALHOST)
            }
            Ok(question) => match shared.invent(&question.name) {
                Ok(address) => question.answer(address),
                Err(reason) => {
                    locked(&shared.traffic).refuse(&question.name, 0, reason);
                    question.deny()
                }
            },
        };
        // Whoever asked and has gone needs no answer.
        let _ = socket.send_to(&answer, from);
    }
}

/// Takes one connection, to a target that is known or is still to be said.
fn take(listener: &TcpListener, shared: &Arc<Shared>, target: Option<(HostName, u16)>) {
    let Ok((stream, _)) = listener.accept() else {
        return;
    };
    let seat = Seat::take(shared);
    let shared = Arc::clone(shared);
    let Some(seat) = seat else {
        let asked = target.as_ref().map_or("", |(name, _)| name.as_str());
        let port = target.as_ref().map_or(0, |(_, port)| *port);
        locked(&shared.traffic).refuse(asked.as_bytes(), port, HostRefusal::TooMany);
        return;
    };
    // A machine that gives no thread gives no connection.
    let _ = thread::Builder::new().stack_size(STACK).spawn(move || {
        // A program that hangs up early has nobody to be told.
        let _ = serve(stream, &shared, target);
        drop(seat);
    });
}

/// The right to one of the connections.
struct Seat(Arc<Shared>);

impl Seat {
    fn take(shared: &Arc<Shared>) -> Option<Self> {
        let seat = Self(Arc::clone(shared));
        (shared.open.fetch_add(1, Ordering::AcqRel) < MAX_CONNECTIONS).then_some(seat)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::AcqRel);
    }
}

/// How a program is spoken to.
#[derive(Clone, Copy)]
enum Speech {
    /// It knows of no proxy.
    None,
    Http,
    Socks,
}

fn serve(
    mut stream: TcpStream,
    shared: &Arc<Shared>,
    target: Option<(HostName, u16)>,
) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    if let Some((name, port)) = target {
        return carry(
            stream,
            shared,
            Speech::None,
            name.as_str().as_bytes(),
            port,
            &[],
        );
    }
    stream.set_read_timeout(Some(MAX_HEAD_TIME))?;
    let mut bytes = Vec::new();
    more(&mut stream, &mut bytes)?;
    let speech = if bytes.first() == Some(&SOCKS5) {
        greet(&mut stream, &mut bytes)?;
        Speech::Socks
    } else {
        Speech::Http
    };
    loop {
        let request = match speech {
            Speech::Socks => requests::socks_request(&bytes),
            Speech::None | Speech::Http => requests::connect(&bytes),
        };
        match request {
            Request::To(target, length) => {
                let rest = bytes.get(length..).unwrap_or_default();
                return carry(stream, shared, speech, target.host, target.port, rest);
            }
            Request::Unreadable => {
                let plain = requests::plain_target(&bytes);
                let reason = match plain {
                    Some(_) => HostRefusal::Plain,
                    None => HostRefusal::NotAName,
                };
                locked(&shared.traffic).refuse(plain.unwrap_or_default(), 0, reason);
                return refuse(&mut stream, speech, reason);
            }
            Request::Incomplete => more(&mut stream, &mut bytes)?,
        }
    }
}

/// Answers SOCKS's greeting, and takes it out of what was read.
fn greet(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> io::Result<()> {
    loop {
        match requests::socks_greeting(bytes) {
            None => more(stream, bytes)?,
            Some((true, length)) => {
                bytes.drain(..length.min(bytes.len()));
                return stream.write_all(&[SOCKS5, 0]);
            }
            Some((false, _)) => {
                stream.write_all(&[SOCKS5, 0xff])?;
                return Err(io::ErrorKind::Unsupported.into());
            }
        }
    }
}

/// Reads some more of a request.
fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> io::Result<()> {
    let mut buffer = [0; 1024];
    let length = stream.read(&mut buffer)?;
    if length == 0 || bytes.len() > MAX_HEAD {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    bytes.extend_from_slice(buffer.get(..length).unwrap_or_default());
    Ok(())
}

fn refuse(stream: &mut TcpStream, speech: Speech, reason: HostRefusal) -> io::Result<()> {
    match speech {
        Speech::None => Ok(()),
        Speech::Http => {
            let body =
                format!("holdpoint: {reason}; `sandbox.hosts` of the policy lists the hosts\n");
            let head = "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: ";
            write!(stream, "{head}{}\r\n\r\n{body}", body.len())
        }
        // Not allowed by the rules.
        Speech::Socks => stream.write_all(&[SOCKS5, 2, 0, 1, 0, 0, 0, 0, 0, 0]),
    }
}

/// Opens the connection that was asked for and carries what both say.
fn carry(
    mut inside: TcpStream,
    shared: &Arc<Shared>,
    speech: Speech,
    asked: &[u8],
    port: u16,
    rest: &[u8],
) -> io::Result<()> {
    let (name, outside) = match shared.open(asked, port) {
        Ok(opened) => opened,
        Err(reason) => {
            locked(&shared.traffic).refuse(asked, port, reason);
            return refuse(&mut inside, speech, reason);
        }
    };
    outside.set_nodelay(true)?;
    match speech {
        Speech::None => {}
        Speech::Http => inside.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?,
        Speech::Socks => inside.write_all(&[SOCKS5, 0, 0, 1, 0, 0, 0, 0, 0, 0])?,
    }
    let sent = shared.relay(inside, outside, rest, port)?;
    let mut traffic = locked(&shared.traffic);
    match &sent.other {
        Some(Some(other)) => {
            traffic.refuse(other.as_str().as_bytes(), port, HostRefusal::OtherName)
        }
        Some(None) => traffic.refuse(asked, port, HostRefusal::HiddenName),
        None => {}
    }
    if sent.cut {
        traffic.refuse(asked, port, HostRefusal::TooMuch);
    }
    if traffic.opened.len() >= MAX_NOTED {
        traffic.left_out += 1;
    } else {
        traffic.opened.push(Opened {
            name: name.to_string(),
            port,
            sent: sent.sent,
            received: sent.received,
        });
    }
    Ok(())
}

/// What one connection carried.
struct Carried {
    sent: u64,
    received: u64,
    /// It was cut because it was too much.
    cut: bool,
    /// It was cut because it was begun for this host, or for one that cannot be told.
    other: Option<Option<HostName>>,
}

impl Shared {
    /// The address that stands for a name inside.
    fn invent(&self, asked: &[u8]) -> Result<Ipv4Addr, HostRefusal> {
        let name = HostName::parse(asked).map_err(|_| HostRefusal::NotAName)?;
        if !self.rules.iter().any(|rule| rule.names(&name)) {
            return Err(HostRefusal::NotListed);
        }
        let address = locked(&self.invented).address_for(&name);
        address.ok_or(HostRefusal::TooMany)
    }

    /// A connection to a host that may be reached: to an address that was looked up here, and checked.
    fn open(&self, asked: &[u8], port: u16) -> Result<(HostName, TcpStream), HostRefusal> {
        let name = HostName::parse(asked).map_err(|_| HostRefusal::NotAName)?;
        let listed = |rule: &HostRule| rule.names(&name) && rule.port() == port;
        if !self.rules.iter().any(listed) {
            return Err(HostRefusal::NotListed);
        }
        let addresses = self
            .upstream
            .resolve(&name)
            .map_err(|_| HostRefusal::Unreachable)?;
        // All of them: a name that answers with one of each would be dialled at the other the next time.
        if !addresses.iter().all(|address| is_public(*address)) {
            return Err(HostRefusal::NotPublic);
        }
        for address in addresses.into_iter().take(MAX_DIALS) {
            if let Ok(stream) = self.upstream.dial(SocketAddr::new(address, port)) {
                return Ok((name, stream));
            }
        }
        Err(HostRefusal::Unreachable)
    }

    fn relay(
        self: &Arc<Self>,
        inside: TcpStream,
        outside: TcpStream,
        first: &[u8],
        port: u16,
    ) -> io::Result<Carried> {
        static CONNECTIONS: AtomicU64 = AtomicU64::new(0);
        let number = CONNECTIONS.fetch_add(1, Ordering::Relaxed);
        let ends = [inside.try_clone()?, outside.try_clone()?];
        locked(&self.carried).insert(number, ends);
        let activity = Arc::new(Mutex::new(Instant::now()));
        let (from, to) = (outside.try_clone()?, inside.try_clone()?);
        let back = {
            let (shared, activity) = (Arc::clone(self), Arc::clone(&activity));
            let carry = move || copy(&from, &to, (&shared.received, MAX_RECEIVED), &activity);
            thread::Builder::new().stack_size(STACK).spawn(carry)?
        };
        // Who speaks second waits for nothing: the other way is open already.
        let begun = self.begin(&inside, &outside, (first, port), &activity);
        let (sent, sent_cut) = match begun {
            Begun::Passed(_) => copy(&inside, &outside, (&self.sent, MAX_SENT), &activity),
            Begun::Other(_) | Begun::Ended => {
                cut(&inside, &outside);
                (0, false)
            }
        };
        let (received, received_cut) = back.join().unwrap_or_default();
        locked(&self.carried).remove(&number);
        let (first, other) = match begun {
            Begun::Passed(first) => (first, None),
            Begun::Other(name) => (0, Some(name)),
            Begun::Ended => (0, None),
        };
        Ok(Carried {
            sent: sent.saturating_add(first),
            received,
            cut: sent_cut || received_cut,
            other,
        })
    }

    /// Passes on what a client begins with, if that is not TLS for a host that is not listed.
    fn begin(
        &self,
        mut inside: &TcpStream,
        mut outside: &TcpStream,
        (first, port): (&[u8], u16),
        activity: &Mutex<Instant>,
    ) -> Begun {
        let listed = |name: &HostName| {
            let mut rules = self.rules.iter();
            rules.any(|rule| rule.names(name) && rule.port() == port)
        };
        let mut bytes = first.to_vec();
        let mut passed = 0;
        let mut buffer = [0; 4 << 10];
        // Who says nothing yet may be waiting for the host to begin.
        let _ = inside.set_read_timeout(Some(MAX_IDLE));
        loop {
            match hello::read(&bytes) {
                Hello::Names(name) if !listed(&name) => {
                    return Begun::Other(Some(name));
                }
                Hello::Hidden => return Begun::Other(None),
                Hello::Other => break,
                Hello::Names(_) => match hello::read_second(&bytes) {
                    Hello::Names(name) if !listed(&name) => return Begun::Other(Some(name)),
                    Hello::Hidden => return Begun::Other(None),
                    Hello::Names(_) | Hello::Other => break,
                    // The host has to answer first, and does nothing with a part of a second message.
                    Hello::Incomplete => {
                        let next = bytes.get(passed..).unwrap_or_default();
                        if outside.write_all(next).is_err() {
                            return Begun::Ended;
                        }
                        passed = bytes.len();
                    }
                },
                Hello::Incomplete => {}
            }
            match inside.read(&mut buffer) {
                Ok(0) if bytes.len() == passed => break,
                Ok(0) => return Begun::Ended,
                Ok(length) => bytes.extend_from_slice(buffer.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error)
                    if error.kind() == io::ErrorKind::WouldBlock
                        && bytes.len() == passed
                        && locked(activity).elapsed() < MAX_IDLE => {}
                Err(_) => return Begun::Ended,
            }
        }
        let count = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.sent.fetch_add(count, Ordering::Relaxed);
        match outside.write_all(bytes.get(passed..).unwrap_or_default()) {
            Ok(()) => Begun::Passed(count),
            Err(_) => Begun::Ended,
        }
    }
}

/// What a client began with.
enum Begun {
    /// So many bytes, which were passed on.
    Passed(u64),
    /// TLS for this host; none where it cannot be told.
    Other(Option<HostName>),
    /// Nothing that could be passed on.
    Ended,
}

/// Carries bytes one way until one end is closed. How many, and whether the bound on all of them was reached.
fn copy(
    mut from: &TcpStream,
    mut to: &TcpStream,
    (all, most): (&AtomicU64, u64),
    activity: &Mutex<Instant>,
) -> (u64, bool) {
    let mut buffer = [0; 16 << 10];
    let mut carried = 0_u64;
    // Without a time limit of its own a read would wait for ever; then it is cut with the run.
    let _ = from.set_read_timeout(Some(MAX_IDLE));
    let _ = to.set_write_timeout(Some(MAX_IDLE));
    loop {
        let length = match from.read(&mut buffer) {
            Ok(0) => {
                // The other way may still be in use.
                let _ = to.shutdown(Shutdown::Write);
                return (carried, false);
            }
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if locked(activity).elapsed() < MAX_IDLE {
                    continue;
                }
                break;
            }
            Err(_) => break,
        };
        let count = u64::try_from(length).unwrap_or(u64::MAX);
        if all
            .fetch_add(count, Ordering::Relaxed)
            .saturating_add(count)
            > most
        {
            cut(from, to);
            return (carried, true);
        }
        if to
            .write_all(buffer.get(..length).unwrap_or_default())
            .is_err()
        {
            break;
        }
        carried += count;
        *locked(activity) = Instant::now();
    }
    cut(from, to);
    (carried, false)
}

fn cut(from: &TcpStream, to: &TcpStream) {
    // What is closed already needs no more.
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
