//! The sockets by which a sandbox reaches listed hosts: they listen inside its network and are served from outside.
//!
//! A socket stays in the network it was made in, whoever holds it. Whoever is inside makes them and passes them out; no
//! packet ever leaves the sandbox's network.

use std::ffi::CString;
use std::io;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::sys;
use super::text;
use crate::network::{HostRule, Inside, Invented, NAMES_PORT, PROXY_PORT};

/// What a message to the supervisor holds.
pub(super) const LISTENERS: u8 = b'N';

/// Variables by which programs are told of a proxy; whatever they say outside is not true inside.
const PROXY_VARIABLES: [&str; 5] = [
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "ftp_proxy",
    "no_proxy",
];

/// Whether a variable names a proxy.
pub(super) fn is_proxy_variable(name: &[u8]) -> bool {
    PROXY_VARIABLES
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

/// Makes the sockets in the present network and passes them to the supervisor. Where several runs share a network, each
/// has a block of addresses of its own: the first that is free.
pub(super) fn open(rules: &[HostRule], supervisor: BorrowedFd<'_>) -> io::Result<Ipv4Addr> {
    for run in 0..=u8::MAX {
        let invented = Invented::new(rules, run);
        let inside = match listen(rules, &invented) {
            Ok(inside) => inside,
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => continue,
            Err(error) => return Err(error),
        };
        let mut fds = vec![inside.names.as_fd()];
        fds.extend(inside.proxy.iter().map(AsFd::as_fd));
        fds.extend(inside.invented.iter().map(AsFd::as_fd));
        sys::pass(supervisor, &[LISTENERS, run], &fds)?;
        return Ok(invented.gateway());
    }
    Err(io::ErrorKind::AddrInUse.into())
}

/// Where no host is listed, names are still answered: that there are none, and whoever looks on learns which was wanted.
fn listen(rules: &[HostRule], invented: &Invented) -> io::Result<Inside> {
    let proxy = || TcpListener::bind((invented.gateway(), PROXY_PORT));
    Ok(Inside {
        names: UdpSocket::bind((invented.gateway(), NAMES_PORT))?,
        proxy: (!rules.is_empty()).then(proxy).transpose()?,
        invented: invented
            .listeners()
            .map(TcpListener::bind)
            .collect::<io::Result<_>>()?,
    })
}

/// The sockets of a message, on the supervisor's side.
pub(super) fn taken(rules: &[HostRule], run: u8, fds: Vec<OwnedFd>) -> Option<(Inside, Invented)> {
    let invented = Invented::new(rules, run);
    let mut fds = fds.into_iter();
    let inside = Inside {
        names: UdpSocket::from(fds.next()?),
        proxy: match rules.is_empty() {
            true => None,
            false => Some(TcpListener::from(fds.next()?)),
        },
        invented: fds.map(TcpListener::from).collect(),
    };
    (inside.invented.len() == invented.listeners().count()).then_some((inside, invented))
}

/// What programs are told of it. Those that know no proxy find it by the addresses of names.
pub(super) fn variables(gateway: Ipv4Addr) -> io::Result<Vec<CString>> {
    let proxy = format!("http://{gateway}:{PROXY_PORT}");
    let none = "localhost,127.0.0.1,::1".to_owned();
    [
        ("HTTPS_PROXY", &proxy),
        ("https_proxy", &proxy),
        ("NO_PROXY", &none),
        ("no_proxy", &none),
    ]
    .into_iter()
    .map(|(name, value)| text(format!("{name}={value}").as_bytes()))
    .collect()
}
