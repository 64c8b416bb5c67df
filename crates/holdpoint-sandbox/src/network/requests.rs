//! What a program says to a proxy: `CONNECT` of HTTP, or SOCKS5 with a name. Nothing else is carried, plain HTTP among
//! it: a request in clear text could be changed on the way, and its words could name another host than its line.

use super::names::parse_port;

/// The most bytes of a request's head: what clients send is a few hundred.
pub const MAX_HEAD: usize = 8 << 10;

/// Where a program wants to go: bytes nobody has checked, and a port.
#[derive(Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// A name, an address or anything else.
    pub host: &'a [u8],
    /// The port.
    pub port: u16,
}

/// What the first bytes of a connection are.
#[derive(Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// More bytes are needed.
    Incomplete,
    /// It is none that is carried.
    Unreadable,
    /// A target, and how many bytes the request took.
    To(Target<'a>, usize),
}

/// The head of an HTTP request.
pub fn connect(bytes: &[u8]) -> Request<'_> {
    const END: &[u8] = b"\r\n\r\n";
    let Some(end) = bytes.windows(END.len()).position(|four| four == END) else {
        return if bytes.len() < MAX_HEAD {
            Request::Incomplete
        } else {
            Request::Unreadable
        };
    };
    let target = bytes.get(..end).and_then(|head| {
        let line = head.split(|byte| *byte == b'\r').next()?;
        let mut words = line.split(|byte| *byte == b' ');
        let (method, authority, version) = (words.next()?, words.next()?, words.next()?);
        let known = matches!(version, b"HTTP/1.1" | b"HTTP/1.0");
        if method != b"CONNECT" || !known || words.next().is_some() {
            return None;
        }
        let colon = authority.iter().rposition(|byte| *byte == b':')?;
        let (host, port) = authority.split_at_checked(colon)?;
        let port = parse_port(port.get(1..)?)?;
        Some(Target { host, port })
    });
    match target {
        Some(target) => Request::To(target, end + END.len()),
        None => Request::Unreadable,
    }
}

/// The host that a request in clear text names, to be told of: without its path and its words, which may hold secrets.
pub fn plain_target(bytes: &[u8]) -> Option<&[u8]> {
    const SCHEME: &[u8] = b"http://";
    let line = bytes.split(|byte| *byte == b'\r').next()?;
    let address = line.split(|byte| *byte == b' ').nth(1)?;
    let rest = address.strip_prefix(SCHEME)?;
    let authority = rest
        .split(|byte| matches!(byte, b'/' | b'?' | b'#'))
        .next()?;
    authority.rsplit(|byte| *byte == b'@').next()
}

/// The version of SOCKS that begins its connection.
pub const SOCKS5: u8 = 5;

/// How a client greets: whether it can do without proving who it is, and how many bytes that took. `None` if more are
/// needed.
pub fn socks_greeting(bytes: &[u8]) -> Option<(bool, usize)> {
    let [_, count, rest @ ..] = bytes else {
        return None;
    };
    let count = usize::from(*count);
    let methods = rest.get(..count)?;
    Some((methods.contains(&0), count + 2))
}

/// The request of SOCKS5. An address in place of a name is given as its text, so that it can be told.
pub fn socks_request(bytes: &[u8]) -> Request<'_> {
    let [version, command, reserved, kind, rest @ ..] = bytes else {
        return Request::Incomplete;
    };
    const CONNECT: u8 = 1;
    const NAME: u8 = 3;
    if (*version, *command, *reserved) != (SOCKS5, CONNECT, 0) || *kind != NAME {
        return Request::Unreadable;
    }
    let Some((length, rest)) = rest.split_first() else {
        return Request::Incomplete;
    };
    let length = usize::from(*length);
    let (Some(host), Some([high, low])) = (rest.get(..length), rest.get(length..length + 2)) else {
        return Request::Incomplete;
    };
    let port = u16::from_be_bytes([*high, *low]);
    Request::To(Target { host, port }, 5 + length + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(host: &[u8], port: u16, length: usize) -> Request<'_> {
        Request::To(Target { host, port }, length)
    }

    #[test]
    fn a_connect_is_read() {
        let text = b"CONNECT example.com:443 HTTP/1.1\r\nHost: other.org\r\n\r\nrest";
        assert_eq!(connect(text), to(b"example.com", 443, text.len() - 4));
        assert_eq!(
            connect(b"CONNECT example.com:443 HTTP/1.1\r\n"),
            Request::Incomplete
        );
        for wrong in [
            "GET http://example.com/ HTTP/1.1\r\n\r\n",
            "CONNECT example.com HTTP/1.1\r\n\r\n",
            "CONNECT example.com:0 HTTP/1.1\r\n\r\n",
            "CONNECT example.com:443 evil.org:443 HTTP/1.1\r\n\r\n",
            "CONNECT  example.com:443 HTTP/1.1\r\n\r\n",
            "connect example.com:443 HTTP/1.1\r\n\r\n",
            "CONNECT example.com:443 HTTP/2\r\n\r\n",
            "\r\n\r\n",
        ] {
            assert_eq!(connect(wrong.as_bytes()), Request::Unreadable, "{wrong:?}");
        }
        assert_eq!(connect(&[b'x'; MAX_HEAD]), Request::Unreadable);
        // What is no name is told as it is, and refused by whoever checks names.
        let zero = b"CONNECT a\0b:443 HTTP/1.1\r\n\r\n";
        assert_eq!(connect(zero), to(b"a\0b", 443, zero.len()));
    }

    #[test]
    fn of_a_request_in_clear_text_only_the_host_is_told() {
        let text = b"GET http://me:secret@example.com:8080/x?token=y HTTP/1.1\r\n\r\n";
        assert_eq!(plain_target(text), Some(&b"example.com:8080"[..]));
        assert_eq!(plain_target(b"GET / HTTP/1.1\r\n\r\n"), None);
        assert_eq!(plain_target(b"http://example.com\r\n\r\n"), None);
    }

    #[test]
    fn socks_is_read() {
        assert_eq!(socks_greeting(&[5, 2, 0, 2]), Some((true, 4)));
        assert_eq!(socks_greeting(&[5, 1, 2]), Some((false, 3)));
        assert_eq!(socks_greeting(&[5, 3, 0]), None);
        let request = [5, 1, 0, 3, 3, b'a', b'.', b'b', 1, 187];
        assert_eq!(socks_request(&request), to(b"a.b", 443, 10));
        for length in 0..10 {
            assert_eq!(socks_request(&request[..length]), Request::Incomplete);
        }
        for wrong in [
            [5, 2, 0, 3],
            [5, 1, 0, 1],
            [5, 1, 0, 4],
            [4, 1, 0, 3],
            [5, 1, 1, 3],
        ] {
            assert_eq!(socks_request(&wrong), Request::Unreadable, "{wrong:?}");
        }
    }
}
