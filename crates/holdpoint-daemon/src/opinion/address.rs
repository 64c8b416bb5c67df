//! Where a model server may be: on this machine, or at a number of a private network.

use std::net::IpAddr;

use ureq::http::Uri;

use super::UnusableServer;

/// The address of a model server.
pub(super) struct Address {
    /// As it is called.
    pub(super) url: String,
    /// The same as people are told and the record says: without a user's name or a query, which may hold secrets.
    pub(super) shown: String,
    /// How far away it is.
    pub(super) reach: Reach,
    /// Whether nobody on the way can read what is sent.
    pub(super) is_encrypted: bool,
}

/// How far away a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// On this machine.
    Here,
    /// In a private network.
    Private,
}

impl Address {
    pub(super) fn parse(url: &str) -> Result<Self, UnusableServer> {
        let no_address = || UnusableServer::NoAddress(url.chars().take(MAX_SHOWN).collect());
        let uri: Uri = url.parse().map_err(|_| no_address())?;
        let scheme = uri.scheme_str().ok_or_else(no_address)?;
        let is_encrypted = match scheme {
            "http" => false,
            "https" => true,
            _ => return Err(no_address()),
        };
        let host = uri.host().ok_or_else(no_address)?;
        let elsewhere = || UnusableServer::Elsewhere(host.to_owned());
        let reach = reach_of(host).ok_or_else(elsewhere)?;
        let port = uri.port_u16().map(|port| format!(":{port}"));
        Ok(Self {
            url: url.to_owned(),
            shown: format!(
                "{scheme}://{host}{}{}",
                port.unwrap_or_default(),
                uri.path()
            ),
            reach,
            is_encrypted,
        })
    }
}

/// How far away a host is; none if it is further than a text should go. A name may lead anywhere, today here and tomorrow
/// there, but for the one that must not.
fn reach_of(host: &str) -> Option<Reach> {
    if host.eq_ignore_ascii_case("localhost") {
        return Some(Reach::Here);
    }
    let number: IpAddr = host.trim_matches(['[', ']']).parse().ok()?;
    let number = number.to_canonical();
    let is_private = match number {
        IpAddr::V4(number) => number.is_private(),
        IpAddr::V6(number) => number.is_unique_local(),
    };
    match (number.is_loopback(), is_private) {
        (true, _) => Some(Reach::Here),
        (false, true) => Some(Reach::Private),
        (false, false) => None,
    }
}

/// How much of what is no address is repeated to whoever wrote it.
const MAX_SHOWN: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_and_private_networks_are_asked() {
        let reach = |url: &str| Address::parse(url).map(|it| it.reach);
        for url in [
            "http://127.0.0.1:8080/v1",
            "http://127.9.9.9/v1",
            "https://[::1]:8080/v1",
            "http://LocalHost/v1",
        ] {
            assert_eq!(reach(url), Ok(Reach::Here), "{url}");
        }
        for url in [
            "http://10.0.0.2/v1",
            "http://192.168.1.9:11434/v1",
            "http://[fd00::2]/v1",
            "http://[::ffff:172.16.0.1]/v1",
        ] {
            assert_eq!(reach(url), Ok(Reach::Private), "{url}");
        }
        for url in [
            "https://api.example/v1",
            "http://127.0.0.1.example/v1",
            "http://127.0.0.1@evil.example/v1",
            "http://169.254.169.254/latest",
            "http://8.8.8.8/v1",
            "http://0.0.0.0:1/v1",
            "http://[::ffff:8.8.8.8]/v1",
            "http://2130706433/v1",
        ] {
            let found = reach(url);
            assert!(matches!(found, Err(UnusableServer::Elsewhere(_))), "{url}");
        }
        for url in ["nonsense", "/v1", "ftp://127.0.0.1/v1", "http://", ""] {
            let found = reach(url);
            assert!(matches!(found, Err(UnusableServer::NoAddress(_))), "{url}");
        }
    }

    #[test]
    fn what_may_be_secret_in_an_address_is_not_told() {
        let address = Address::parse("http://me:pass@127.0.0.1:8/v1?key=abc").unwrap();
        assert_eq!(address.shown, "http://127.0.0.1:8/v1");
    }
}
