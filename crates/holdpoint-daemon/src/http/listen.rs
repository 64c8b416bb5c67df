//! Where the daemon listens: on this machine, or, encrypted and for named people, elsewhere.

use std::fs::File;
use std::future::Future;
use std::io::{self, ErrorKind, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::serve::Listener;
use holdpoint_broker::host::Problem;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::guard::Origins;
use super::patience::{Connection, USUAL, Wire};
use super::seats::{Seat, Seats};

/// The port, unless another is given.
const PORT: u16 = 4717;

/// The most connections at a time, so that nobody uses up the daemon's file descriptors, of which a process usually has 1,024; a
/// further one gets the place of the slowest.
const MAX_CONNECTIONS: usize = 256;

/// The longest it may take to agree on keys: a second or two over the slowest line. Then the connection is closed, so
/// that nobody holds its place by saying nothing.
const MAX_HANDSHAKE: Duration = Duration::from_secs(10);

/// The longest that those who are being answered are waited for at the end; event streams never end by themselves. Then
/// they are cut off.
const MAX_FAREWELL: Duration = Duration::from_secs(1);

/// The largest certificate or key file that is read: a chain has some kilobytes. What is cut off does not parse.
const MAX_PEM: u64 = 1 << 20;

/// Where to listen.
#[derive(Clone, Debug, Default)]
pub struct ListenAddress {
    /// The address; without one, a port of this machine.
    pub address: Option<SocketAddr>,
    /// Names that lead to it.
    pub names: Vec<String>,
    /// What to encrypt with.
    pub certificate: Option<Certificate>,
}

/// A certificate and its key, in PEM files.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The certificate, and those that lead to its issuer.
    pub chain: PathBuf,
    /// The key.
    pub key: PathBuf,
}

/// Listens. `people` is how many are on the list: nobody else can sign in from another machine.
pub async fn bind(listen: &ListenAddress, people: usize) -> Result<Bound, Problem> {
    for name in &listen.names {
        check_name(name)?;
    }
    let loopback = listen
        .address
        .is_none_or(|address| address.ip().is_loopback());
    if !loopback {
        let wildcard = listen.address.is_some_and(|one| one.ip().is_unspecified());
        check_exposed(listen, people, wildcard)?;
    }
    let tls = listen.certificate.as_ref().map(acceptor).transpose()?;
    let first = first(listen.address).await?;
    let address = first.local_addr().map_err(|error| taken(PORT, &error))?;
    let mut names = listen.names.clone();
    let second = second(address).await;
    if second.leads_here() {
        names.push("localhost".into());
    }
    let listeners: Vec<TcpListener> = [Some(first), second.listener()]
        .into_iter()
        .flatten()
        .collect();
    let addresses: Vec<SocketAddr> = listeners
        .iter()
        .filter_map(|listener| listener.local_addr().ok())
        .collect();
    Ok(Bound {
        address,
        origins: Origins::new(&addresses, &names, tls.is_some()),
        arrivals: Arrivals {
            listeners,
            tls,
            room: Arc::new(Seats::new(MAX_CONNECTIONS)),
            agreeing: JoinSet::new(),
            address,
        },
    })
}

fn check_exposed(listen: &ListenAddress, people: usize, wildcard: bool) -> Result<(), Problem> {
    let problem = if listen.certificate.is_none() {
        "an address that others can reach needs encryption: name a certificate and its key"
    } else if people == 0 {
        "an address that others can reach needs named people: run `holdpoint people add`"
    } else if wildcard && listen.names.is_empty() {
        "all addresses at once have no name: say under which names the daemon is reached"
    } else {
        return Ok(());
    };
    Err(Problem(problem.into()))
}

fn check_name(name: &str) -> Result<(), Problem> {
    let plain = !name.is_empty()
        && name.len() <= 253
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || ".-".contains(c));
    match plain {
        true => Ok(()),
        false => Err(Problem(format!(
            "`{}` is no name of a machine: write it without scheme and port",
            name.chars().take(80).collect::<String>().escape_debug()
        ))),
    }
}

/// The address that was asked for; without one the usual port, or any if that is taken.
async fn first(wanted: Option<SocketAddr>) -> Result<TcpListener, Problem> {
    if let Some(address) = wanted {
        return TcpListener::bind(address)
            .await
            .map_err(|error| taken(address.port(), &error));
    }
    match TcpListener::bind((Ipv4Addr::LOCALHOST, PORT)).await {
        Ok(listener) => Ok(listener),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
                .await
                .map_err(|error| taken(0, &error))
        }
        Err(error) => Err(taken(PORT, &error)),
    }
}

fn taken(port: u16, error: &io::Error) -> Problem {
    Problem(format!(
        "port {port} cannot be listened at ({}): choose another address",
        error.kind()
    ))
}

/// The other address `localhost` stands for. If somebody else has it, a page of theirs would have our
/// name, so then `localhost` does not lead here.
enum Second {
    Bound(TcpListener),
    Nobody,
    Taken,
}

impl Second {
    fn leads_here(&self) -> bool {
        match self {
            Second::Bound(_) | Second::Nobody => true,
            Second::Taken => false,
        }
    }

    fn listener(self) -> Option<TcpListener> {
        match self {
            Second::Bound(listener) => Some(listener),
            Second::Nobody | Second::Taken => None,
        }
    }
}

async fn second(first: SocketAddr) -> Second {
    let other = match first.ip() {
        IpAddr::V4(Ipv4Addr::LOCALHOST) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        IpAddr::V6(Ipv6Addr::LOCALHOST) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V4(_) | IpAddr::V6(_) => return Second::Taken,
    };
    match TcpListener::bind((other, first.port())).await {
        Ok(listener) => Second::Bound(listener),
        // The machine does not have such addresses.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::AddrNotAvailable | ErrorKind::Unsupported
            ) =>
        {
            Second::Nobody
        }
        Err(_) => Second::Taken,
    }
}

fn acceptor(certificate: &Certificate) -> Result<TlsAcceptor, Problem> {
    let Certificate { chain, key } = certificate;
    let unusable = |path: &Path, why: &str| {
        Problem(format!(
            "{}: {why}: name a PEM file",
            path.display().to_string().escape_debug()
        ))
    };
    let certificates: Vec<CertificateDer<'static>> =
        CertificateDer::pem_slice_iter(&read_pem(chain)?)
            .collect::<Result<_, _>>()
            .map_err(|_| unusable(chain, "the certificate cannot be read"))?;
    if certificates.is_empty() {
        return Err(unusable(chain, "there is no certificate in it"));
    }
    let text = read_pem(key)?;
    let private = PrivateKeyDer::from_pem_slice(&text)
        .map_err(|_| unusable(key, "there is no key in it that can be read"))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|config| {
            config
                .with_no_client_auth()
                .with_single_cert(certificates, private)
        })
        .map_err(|error| {
            unusable(
                key,
                &format!("certificate and key cannot be used ({error})"),
            )
        })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn read_pem(path: &Path) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    let read = File::open(path)
        .and_then(|file| file.take(MAX_PEM).read_to_end(&mut bytes))
        .map_err(|error| {
            Problem(format!(
                "{}: cannot be read ({}): check the path",
                path.display().to_string().escape_debug(),
                error.kind()
            ))
        });
    read.map(|_| bytes)
}

/// A daemon that listens.
pub struct Bound {
    address: SocketAddr,
    origins: Origins,
    arrivals: Arrivals,
}

impl Bound {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The names under which it is reached.
    pub fn origins(&self) -> &Origins {
        &self.origins
    }

    /// Answers until `end`. Whoever is being answered then has a moment; event streams just end.
    pub async fn serve(
        self,
        router: Router,
        end: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        let (tell, mut told) = tokio::sync::watch::channel(());
        let server = axum::serve(self.arrivals, router).with_graceful_shutdown(async move {
            end.await;
            drop(tell);
        });
        let mut server = pin!(server.into_future());
        tokio::select! {
            ended = &mut server => ended,
            _ = told.changed() => timeout(MAX_FAREWELL, server).await.unwrap_or(Ok(())),
        }
    }
}

/// Connections as they come in. Keys are agreed on apart, so that one who takes long keeps nobody
/// else out.
struct Arrivals {
    listeners: Vec<TcpListener>,
    tls: Option<TlsAcceptor>,
    room: Arc<Seats>,
    agreeing: JoinSet<Option<(Connection, SocketAddr)>>,
    address: SocketAddr,
}

impl Listener for Arrivals {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        loop {
            tokio::select! {
                Some(agreed) = self.agreeing.join_next() => {
                    if let Ok(Some(arrived)) = agreed {
                        return arrived;
                    }
                }
                (mut place, stream, from) = arrived(&self.room, &self.listeners) => {
                    let Some(tls) = self.tls.clone() else {
                        return (Connection::new(Wire::Plain(stream), USUAL, place), from);
                    };
                    self.agreeing.spawn(async move {
                        let agreed = tokio::select! {
                            agreed = timeout(MAX_HANDSHAKE, tls.accept(stream)) => agreed.ok()?.ok()?,
                            // Who says nothing here holds a descriptor as well.
                            () = place.lost() => return None,
                        };
                        let wire = Wire::Secure(Box::new(agreed));
                        Some((Connection::new(wire, USUAL, place), from))
                    });
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}

/// The next connection, and its place.
async fn arrived(room: &Arc<Seats>, listeners: &[TcpListener]) -> (Seat, TcpStream, SocketAddr) {
    loop {
        match next(listeners).await {
            Ok((stream, from)) => {
                // An event is small, and somebody waits for it.
                let _ = stream.set_nodelay(true);
                return (room.take(), stream, from);
            }
            Err(error) if is_about_one(&error) => {}
            // No file handles or no memory: it gets better, or it does not.
            Err(_) => sleep(Duration::from_millis(200)).await,
        }
    }
}

/// Whoever comes first, at any of the addresses.
async fn next(listeners: &[TcpListener]) -> io::Result<(TcpStream, SocketAddr)> {
    std::future::poll_fn(|context| {
        for listener in listeners {
            if let std::task::Poll::Ready(arrived) = listener.poll_accept(context) {
                return std::task::Poll::Ready(arrived);
            }
        }
        std::task::Poll::Pending
    })
    .await
}

/// Whether only that connection failed.
fn is_about_one(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset
    )
}
