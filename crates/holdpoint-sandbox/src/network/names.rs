//! Names of hosts: what may be one, and which a command may reach.
//!
//! Everything that could be read as something else by somebody further on is no name: addresses and their disguises
//! (decimal, octal, hexadecimal), zero bytes, other alphabets, trailing dots.

use std::fmt;

/// The most bytes of a name, as the protocol of names has it.
const MAX_NAME: usize = 253;

/// The most bytes between two dots, as the protocol of names has it.
const MAX_LABEL: usize = 63;

/// The port of a rule that names none: encrypted, so that nobody on the way reads or changes what is fetched.
const DEFAULT_PORT: u16 = 443;

/// A name that can only be a name, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostName(String);

/// Why a text is no host, or no rule about one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostError {
    /// It is empty, or longer than names are.
    Length,
    /// A part between dots is empty, too long, or begins or ends with a hyphen.
    Label,
    /// A byte no name has.
    Byte,
    /// It could be an address.
    Address,
    /// The port is no number from 1 to 65535.
    Port,
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Length => "a host name has 1 to 253 characters",
            Self::Label => {
                "a part of a host name has 1 to 63 characters and neither begins nor ends with a hyphen"
            }
            Self::Byte => "a host name has letters, digits, hyphens and dots",
            Self::Address => "an address is no host name: name the host",
            Self::Port => "a port is a number from 1 to 65535",
        })
    }
}

impl std::error::Error for HostError {}

impl HostName {
    /// The name these bytes are.
    pub fn parse(bytes: &[u8]) -> Result<Self, HostError> {
        if bytes.is_empty() || bytes.len() > MAX_NAME {
            return Err(HostError::Length);
        }
        let mut name = String::with_capacity(bytes.len());
        for byte in bytes {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' => {
                    name.push(char::from(byte.to_ascii_lowercase()));
                }
                b':' | b'[' | b']' | b'%' => return Err(HostError::Address),
                _ => return Err(HostError::Byte),
            }
        }
        let mut last = "";
        for label in name.split('.') {
            let whole = !label.starts_with('-') && !label.ends_with('-');
            if label.is_empty() || label.len() > MAX_LABEL || !whole {
                return Err(HostError::Label);
            }
            last = label;
        }
        // Every way to write an address ends in a digit's label, also `0x7f.1` and `017700000001`.
        if !last.starts_with(|first: char| first.is_ascii_alphabetic()) {
            return Err(HostError::Address);
        }
        Ok(Self(name))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A host a command may reach, or all below a name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostRule {
    name: HostName,
    below: bool,
    port: u16,
}

impl HostRule {
    /// The rule a text is: `example.com`, `*.example.com`, `example.com:8443`.
    pub fn parse(text: &str) -> Result<Self, HostError> {
        let (name, port) = match text.rsplit_once(':') {
            None => (text, DEFAULT_PORT),
            Some((name, port)) => (name, parse_port(port.as_bytes()).ok_or(HostError::Port)?),
        };
        let (name, below) = match name.strip_prefix("*.") {
            Some(name) => (name, true),
            None => (name, false),
        };
        Ok(Self {
            name: HostName::parse(name.as_bytes())?,
            below,
            port,
        })
    }

    /// Whether it is about this host, on any port.
    pub fn names(&self, host: &HostName) -> bool {
        if !self.below {
            return self.name == *host;
        }
        let rest = host.0.strip_suffix(self.name.as_str());
        rest.is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
    }

    /// Whether it is about all hosts below a name.
    pub fn is_wildcard(&self) -> bool {
        self.below
    }

    /// The name it is about, or above those it is about.
    pub fn name(&self) -> &HostName {
        &self.name
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let star = if self.below { "*." } else { "" };
        write!(f, "{star}{}", self.name)?;
        if self.port != DEFAULT_PORT {
            write!(f, ":{}", self.port)?;
        }
        Ok(())
    }
}

/// A port in digits alone, and in as few as it has.
pub(super) fn parse_port(digits: &[u8]) -> Option<u16> {
    let text = std::str::from_utf8(digits).ok()?;
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|port| plain && *port != 0)
}

/// The most characters of a name nobody has checked that are shown.
const MAX_SHOWN: usize = 80;

/// What was asked for, with everything that is not plain replaced.
pub(super) fn for_display(asked: &[u8]) -> String {
    let plain = |byte: &u8| match byte {
        b'!'..=b'~' if *byte != b'`' => char::from(*byte),
        _ => '?',
    };
    asked.iter().take(MAX_SHOWN).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> HostName {
        HostName::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn addresses_in_disguise_are_no_names() {
        for text in [
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0x7f.0.0.1",
            "017700000001",
            "0177.0.0.0x1",
            "1.2.3.4.",
            "[::1]",
            "::ffff:1.2.3.4",
            "fe80::1%eth0",
            "example.com.",
            "example.com\0.evil.org",
            "exa mple.com",
            "ex\u{e4}mple.com",
            "\u{ff45}xample.com",
            "example\u{3002}com",
            "-a.com",
            "a-.com",
            "a..com",
            ".com",
            "",
            "user@example.com",
            "example.com/x",
            "example.com#x",
            "example.com?x",
            "a\\b.com",
            "a_b.com",
            "example.com\n",
        ] {
            assert!(HostName::parse(text.as_bytes()).is_err(), "{text:?}");
        }
        assert_eq!(name("Example.COM").as_str(), "example.com");
        assert_eq!(name("xn--mnchen-3ya.de").as_str(), "xn--mnchen-3ya.de");
        assert!(HostName::parse("a.".repeat(127).as_bytes()).is_err());
        assert!(HostName::parse(format!("{}.com", "a".repeat(64)).as_bytes()).is_err());
    }

    #[test]
    fn a_rule_is_about_its_name_or_all_below_it() {
        let one = HostRule::parse("example.com").unwrap();
        assert!(one.names(&name("EXAMPLE.com")));
        assert!(!one.names(&name("a.example.com")) && !one.names(&name("notexample.com")));
        let all = HostRule::parse("*.example.com:8443").unwrap();
        assert!(all.names(&name("a.example.com")) && all.names(&name("a.b.example.com")));
        assert!(!all.names(&name("example.com")) && !all.names(&name("notexample.com")));
        assert_eq!(all.port(), 8443);
        assert_eq!(all.to_string(), "*.example.com:8443");
        assert_eq!(one.to_string(), "example.com");
        for wrong in [
            "*",
            "*.",
            "a.*.com",
            "x:0",
            "x:65536",
            "x:",
            "x:+1",
            "x:01",
            "1.2.3.4:443",
        ] {
            assert!(HostRule::parse(wrong).is_err(), "{wrong}");
        }
    }
}
