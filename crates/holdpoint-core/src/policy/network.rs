//! Rules about addresses, for every tool and command that names one.
//!
//! A layer's lists speak for that layer alone: what it allows takes nothing away from what a layer
//! above it refuses.

use std::net::IpAddr;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize};

use crate::address::{
    self, Address, Form, INTERNAL, LINK_LOCAL, LOOPBACK, Leads, METADATA, PRIVATE,
};
use crate::catalogue::Fetching;
use crate::effects::{Effect, EffectKind};
use crate::rules::matching::wild;
use crate::shell::UNKNOWN;
use crate::verdict::Verdict;

/// Rules for addresses on networks, for every tool and command that names one.
///
/// A host is a name or an address, `*` and `?` are wild, `.example.com` is that name and everything
/// below it, `10.0.0.0/8` a range; a port may follow (`db.example.com:5432`). `@loopback`,
/// `@private`, `@link-local`, `@metadata`, `@internal` and `@public` stand for what a host is. An
/// address is compared as what it is, however it is spelled.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Network {
    /// Hosts nothing may talk to.
    pub deny: Vec<HostPattern>,
    /// Hosts a person is asked about.
    pub ask: Vec<HostPattern>,
    /// Hosts to which `private`, `others` and `ask` do not apply.
    pub allow: Vec<HostPattern>,
    /// The schemes addresses may have.
    pub schemes: Schemes,
    /// What happens when a tool that fetches pages is sent to this machine or a private network.
    /// Without it: deny.
    pub private: Option<Access>,
    /// What happens with hosts no list names. Without it: allow.
    pub others: Option<Access>,
}

/// The schemes addresses may have. Tools that fetch pages take `http` and `https` where nothing else
/// is allowed.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Schemes {
    /// The only ones, such as `https`.
    pub allow: Vec<String>,
    /// Never these.
    pub deny: Vec<String>,
}

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Nothing is said about it here.
    Allow,
    /// A person is asked.
    Ask,
    /// It is refused.
    Deny,
}

impl Access {
    fn verdict(self) -> Option<Verdict> {
        match self {
            Access::Allow => None,
            Access::Ask => Some(Verdict::Ask),
            Access::Deny => Some(Verdict::Deny),
        }
    }
}

/// A host as a policy names it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub struct HostPattern {
    text: String,
    host: HostKind,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq)]
enum HostKind {
    /// A name, wild or not.
    Name(String),
    /// A name and everything below it, with the dot in front.
    Below(String),
    /// Addresses that begin with the same bits.
    Range(IpAddr, u8),
    /// Bits of what a host is; none are all that is none of them.
    Class(u64),
}

const INSIDE: u64 = LOOPBACK | PRIVATE | LINK_LOCAL | INTERNAL | METADATA;

/// The words for what a host is.
const CLASSES: &[(&str, u64)] = &[
    ("@loopback", LOOPBACK),
    ("@private", PRIVATE),
    ("@link-local", LINK_LOCAL),
    ("@metadata", METADATA),
    ("@internal", INTERNAL),
    ("@public", 0),
];

impl<'de> Deserialize<'de> for HostPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        HostPattern::read(&text).map_err(de::Error::custom)
    }
}

impl HostPattern {
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let lower = text.trim().to_ascii_lowercase();
        if lower.is_empty() || lower.contains(char::is_whitespace) {
            return Err(format!(
                "`{text}` is no host; try: \"example.com\" or \"*.example.com\""
            ));
        }
        let of = |host: HostKind, port: Option<u16>| Self {
            text: text.to_owned(),
            host,
            port,
        };
        if lower.starts_with('@') {
            let known = CLASSES.iter().find(|(word, _)| *word == lower);
            let words: Vec<&str> = CLASSES.iter().map(|(word, _)| *word).collect();
            let (_, class) = known.ok_or_else(|| {
                format!(
                    "`{text}` says of no host what it is; try: {}",
                    words.join(", ")
                )
            })?;
            return Ok(of(HostKind::Class(*class), None));
        }
        if let Some((_, host)) = lower.split_once("://") {
            let host = host.split('/').next().unwrap_or_default();
            return Err(format!(
                "`{text}` is an address, and hosts are wanted; try: \"{host}\", and `schemes` for what stands before it"
            ));
        }
        if let Some((address, bits)) = lower.split_once('/') {
            let range = address.parse::<IpAddr>().ok().zip(bits.parse::<u8>().ok());
            return match range {
                Some((address, bits)) if bits <= width(address) => {
                    Ok(of(HostKind::Range(address, bits), None))
                }
                _ => Err(format!(
                    "`{text}` is no range of addresses; try: \"10.0.0.0/8\", or a host without a path"
                )),
            };
        }
        let (host, port) = match lower.rsplit_once(':') {
            Some((host, port)) if host.ends_with(']') || !host.contains(':') => {
                let port = match port {
                    "*" => None,
                    port => Some(port.parse().map_err(|_| {
                        format!("`{port}` in `{text}` is no port; try: a number up to 65535")
                    })?),
                };
                (host, port)
            }
            _ => (lower.as_str(), None),
        };
        if host.is_empty() {
            return Err(format!(
                "`{text}` names no host; try: \"*:{}\"",
                port.unwrap_or(443)
            ));
        }
        if let Some(name) = host.strip_prefix('.') {
            return Ok(of(
                HostKind::Below(format!(".{}", name.trim_end_matches('.'))),
                port,
            ));
        }
        if host.contains(['*', '?']) {
            return Ok(of(HostKind::Name(host.to_owned()), port));
        }
        // As addresses are compared.
        let name = address::read(host, Form::Host)
            .into_iter()
            .find_map(|leads| match leads {
                Leads::To(address) => Some(address.host),
                Leads::ToFile(_) | Leads::ToName => None,
            });
        Ok(of(
            HostKind::Name(name.unwrap_or_else(|| host.to_owned())),
            port,
        ))
    }

    /// It as it was written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether an address is one of these. What only the shell will know counts where it is refused,
    /// and not where it is allowed.
    pub(crate) fn fits(&self, address: &Address) -> bool {
        let port = self.port.is_none() || self.port == port_of(address);
        let host = &address.host;
        port && match &self.host {
            HostKind::Name(name) => wild(name, host),
            HostKind::Below(end) => host.ends_with(end.as_str()) || end.get(1..) == Some(host),
            HostKind::Range(from, bits) => host
                .parse::<IpAddr>()
                .is_ok_and(|address| begins_alike(*from, address, *bits)),
            HostKind::Class(0) => address.classes & INSIDE == 0,
            HostKind::Class(class) => address.classes & class != 0,
        }
    }

    fn surely_fits(&self, address: &Address) -> bool {
        let all = matches!(&self.host, HostKind::Name(name) if name == "*");
        self.fits(address) && (all || !address.host.contains(UNKNOWN))
    }
}

fn width(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

fn begins_alike(one: IpAddr, other: IpAddr, bits: u8) -> bool {
    let number = |address: IpAddr| match address {
        IpAddr::V4(four) => u128::from(u32::from(four)) << 96,
        IpAddr::V6(six) => u128::from(six),
    };
    let differing = number(one) ^ number(other);
    one.is_ipv4() == other.is_ipv4() && u8::try_from(differing.leading_zeros()).unwrap_or(0) >= bits
}

/// The port an address leads to, where its scheme says which.
fn port_of(address: &Address) -> Option<u16> {
    let usual = match address.scheme.as_deref()? {
        "http" | "ws" => 80,
        "https" | "wss" => 443,
        "ftp" => 21,
        "ssh" | "sftp" | "git+ssh" => 22,
        "git" => 9418,
        "postgres" | "postgresql" => 5432,
        "mysql" => 3306,
        "redis" => 6379,
        "mongodb" => 27017,
        _ => return address.port,
    };
    address.port.or(Some(usual))
}

/// What a layer says about one address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AddressFinding {
    pub(crate) verdict: Verdict,
    pub(crate) rule: String,
    pub(crate) reason: String,
}

impl Network {
    /// These rules and those of a file that builds on them.
    pub(super) fn joined(mut self, other: Network) -> Network {
        self.deny.extend(other.deny);
        self.ask.extend(other.ask);
        self.allow.extend(other.allow);
        self.schemes.allow.extend(other.schemes.allow);
        self.schemes.deny.extend(other.schemes.deny);
        self.private = other.private.or(self.private);
        self.others = other.others.or(self.others);
        self
    }

    /// What is said about an effect of a call by a tool that fetches so.
    pub(crate) fn finding(&self, effect: &Effect, fetching: Fetching) -> Option<AddressFinding> {
        let Some(address) = &effect.address else {
            return self.of_file(effect, fetching);
        };
        if effect.kind != EffectKind::Connect {
            return None;
        }
        let shown = address.host.replace(UNKNOWN, "…");
        let finding = |verdict: Verdict, rule: String, why: String| {
            Some(AddressFinding {
                verdict,
                rule,
                reason: format!("Host `{shown}` {why}"),
            })
        };
        let first = |list: &[HostPattern]| list.iter().find(|one| one.fits(address)).cloned();
        if let Some(pattern) = first(&self.deny) {
            let rule = format!("network.deny={}", pattern.text);
            return finding(
                Verdict::Deny,
                rule,
                format!("is refused (matches `{}`)", pattern.text),
            );
        }
        if let Some(scheme) = address
            .scheme
            .as_deref()
            .filter(|one| self.refuses(one, fetching))
        {
            let why = format!("is addressed with `{scheme}:`, which is not allowed");
            return finding(Verdict::Deny, "network.schemes".into(), why);
        }
        if self.allow.iter().any(|one| one.surely_fits(address)) {
            return None;
        }
        if let Some(pattern) = first(&self.ask) {
            let rule = format!("network.ask={}", pattern.text);
            let why = format!("needs a person's yes (matches `{}`)", pattern.text);
            return finding(Verdict::Ask, rule, why);
        }
        let guarded = match fetching {
            Fetching::Never => 0,
            // What a browser is for is the page one works on.
            Fetching::Browses => INSIDE & !LOOPBACK,
            Fetching::Fetches => INSIDE,
        };
        if address.classes & guarded != 0
            && let Some(verdict) = self.private.unwrap_or(Access::Deny).verdict()
        {
            let why =
                "is this machine or in a private network, where tools that fetch pages do not go";
            return finding(verdict, "network.private".into(), why.into());
        }
        if let Some(verdict) = self.others.and_then(Access::verdict) {
            let why = "is not among the hosts that are allowed";
            return finding(verdict, "network.others".into(), why.into());
        }
        if effect.dynamic && !(self.deny.is_empty() && self.ask.is_empty()) {
            let why = "is only known when the shell runs it";
            return finding(Verdict::Ask, "network.dynamic".into(), why.into());
        }
        None
    }

    /// A file that a tool for pages is sent to.
    fn of_file(&self, effect: &Effect, fetching: Fetching) -> Option<AddressFinding> {
        let fetched = effect.kind == EffectKind::Show && fetching == Fetching::Fetches;
        let refused = fetched && address::is_file(&effect.text) && self.refuses("file", fetching);
        refused.then(|| AddressFinding {
            verdict: Verdict::Deny,
            rule: "network.schemes".into(),
            reason: format!(
                "`{}` is a file of this machine, which tools that fetch pages do not open",
                effect.text
            ),
        })
    }

    fn refuses(&self, scheme: &str, fetching: Fetching) -> bool {
        let among = |list: &[String]| list.iter().any(|one| one.eq_ignore_ascii_case(scheme));
        let usual = || match fetching {
            Fetching::Fetches => matches!(scheme, "http" | "https" | "ws" | "wss"),
            Fetching::Browses | Fetching::Never => true,
        };
        among(&self.schemes.deny)
            || match self.schemes.allow.is_empty() {
                true => !usual(),
                false => !among(&self.schemes.allow),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Address {
        match address::read(text, Form::Url).into_iter().next() {
            Some(Leads::To(address)) => address,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_host_is_compared_as_what_it_is() {
        for (pattern, address) in [
            ("example.com", "https://EXAMPLE.com./x"),
            ("*.example.com", "https://a.b.example.com"),
            (".example.com", "https://example.com"),
            (".example.com", "https://a.example.com"),
            ("127.0.0.1", "http://2130706433/"),
            ("2130706433", "http://127.0.0.1"),
            ("10.0.0.0/8", "http://[::ffff:10.1.2.3]/"),
            ("fd00::/8", "http://[fd12::1]"),
            ("@loopback", "http://localhost:3000"),
            ("@public", "https://example.org"),
            ("example.com:443", "https://example.com/"),
            ("example.com:*", "http://example.com:8080/"),
            ("*", "http://anything"),
        ] {
            assert!(
                HostPattern::read(pattern).unwrap().fits(&one(address)),
                "{pattern} {address}"
            );
        }
        for (pattern, address) in [
            ("example.com", "https://example.com.evil.example"),
            ("*.example.com", "https://example.com"),
            (".example.com", "https://badexample.com"),
            ("10.0.0.0/8", "http://11.0.0.1"),
            ("example.com:443", "http://example.com/"),
            ("@public", "http://10.0.0.1"),
        ] {
            assert!(
                !HostPattern::read(pattern).unwrap().fits(&one(address)),
                "{pattern} {address}"
            );
        }
    }

    #[test]
    fn what_is_no_host_is_told_with_what_to_write() {
        for pattern in [
            "",
            "a b",
            "https://example.com/x",
            "example.com/x",
            "@privat",
            "a:99999",
            "10.0.0.0/99",
        ] {
            let problem = HostPattern::read(pattern).unwrap_err();
            assert!(problem.contains("try: "), "{problem}");
        }
    }
}
