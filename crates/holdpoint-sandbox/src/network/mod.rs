//! The way from a sandbox to the hosts it is allowed, and to no others.
//!
//! A contained command has a network of its own with nothing on it but loopback. Where a plan lists hosts, sockets that
//! listen inside are served from outside by a [`Proxy`]: it answers names ([`dns`]), takes `CONNECT` and SOCKS5
//! ([`requests`]), and for programs that know no proxy it listens on addresses it has invented for the listed names.
//! It checks the name ([`names`]), looks it up itself, refuses it if any of its addresses is not public ([`addresses`])
//! and dials the very address it has checked. Nothing a command sends decides where a connection goes but the name; a TLS
//! connection must name a listed host as well ([`hello`]), because one address serves many.

pub mod addresses;
pub mod dns;
pub mod hello;
pub mod names;
#[cfg(unix)]
mod proxy;
pub mod requests;

use std::collections::BTreeSet;
use std::fmt;

pub use self::names::{HostError, HostName, HostRule};
#[cfg(target_os = "linux")]
pub(crate) use self::proxy::{HOST_NAME, NAMES_PORT, PROXY_PORT};
#[cfg(unix)]
pub use self::proxy::{Inside, Internet, Invented, Proxy, Upstream};

/// Why a host was not reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HostRefusal {
    /// No rule names it, or not this port.
    NotListed,
    /// It is no name: an address, or an address in disguise, or nothing a name may hold.
    NotAName,
    /// It was asked for in clear text, which the proxy does not carry.
    Plain,
    /// One of its addresses is not a public one.
    NotPublic,
    /// It has no address, or did not answer.
    Unreachable,
    /// TLS was begun for it on a connection to a listed host.
    OtherName,
    /// TLS was begun for a host that cannot be told.
    HiddenName,
    /// As many connections as are allowed at once were open.
    TooMany,
    /// As many bytes as are allowed had been carried.
    TooMuch,
}

impl HostRefusal {
    /// Why, as a clause.
    pub fn words(self) -> &'static str {
        match self {
            Self::NotListed => "it is not listed",
            Self::NotAName => "it is no host name",
            Self::Plain => "plain HTTP is not carried",
            Self::NotPublic => "an address of it is not public",
            Self::Unreachable => "it cannot be reached",
            Self::OtherName => "TLS was begun for it on a connection to a listed host",
            Self::HiddenName => "TLS was begun without saying for which host",
            Self::TooMany => "too many connections are open",
            Self::TooMuch => "too many bytes were carried",
        }
    }
}

impl fmt::Display for HostRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// A host that was not reached.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RefusedHost {
    /// What was asked for, made safe to be shown.
    pub name: String,
    /// The port; 0 where only the name was looked up.
    pub port: u16,
    /// Why not.
    pub reason: HostRefusal,
}

/// A connection that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// The host.
    pub name: String,
    /// Its port.
    pub port: u16,
    /// Bytes from the command to it.
    pub sent: u64,
    /// Bytes from it to the command.
    pub received: u64,
}

/// What went through a proxy.
#[derive(Debug, Clone, Default)]
pub struct Traffic {
    /// Connections that were made, the first [`MAX_NOTED`].
    pub opened: Vec<Opened>,
    /// Hosts that were not reached, each once, the first [`MAX_NOTED`].
    pub refused: BTreeSet<RefusedHost>,
    /// What is not in the two lists.
    pub left_out: u64,
}

/// The most entries of each list that are kept: a command can ask for names without end.
pub const MAX_NOTED: usize = 256;

impl Traffic {
    /// Notes a refusal.
    pub fn refuse(&mut self, asked: &[u8], port: u16, reason: HostRefusal) {
        if self.refused.len() >= MAX_NOTED {
            self.left_out += 1;
            return;
        }
        let name = names::for_display(asked);
        self.refused.insert(RefusedHost { name, port, reason });
    }
}
