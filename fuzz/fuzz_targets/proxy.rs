//! Whatever bytes a contained program sends to the proxy, they are read to their end, and only a plain name of a host
//! comes out of them.
//!
//! Nothing panics; what is read of a request lies in it; an answer about names repeats the question's number; a name
//! that is accepted has nothing in it that another reader could take for something else.
#![no_main]

use std::net::Ipv4Addr;

use holdpoint_sandbox::network::requests::{Request, connect, socks_greeting, socks_request};
use holdpoint_sandbox::network::{HostName, HostRule, dns};
use libfuzzer_sys::fuzz_target;

fn check_name(bytes: &[u8]) {
    let Ok(name) = HostName::parse(bytes) else {
        return;
    };
    let text = name.as_str();
    assert!(
        text.bytes().all(|byte| byte.is_ascii_lowercase()
            || byte.is_ascii_digit()
            || b"-.".contains(&byte))
    );
    assert!(text.eq_ignore_ascii_case(std::str::from_utf8(bytes).unwrap()));
    assert!(text.parse::<std::net::IpAddr>().is_err());
    assert_eq!(HostName::parse(text.as_bytes()), Ok(name.clone()));
    let rule = HostRule::parse(text).unwrap();
    assert!(rule.names(&name));
    assert_eq!(HostRule::parse(&rule.to_string()), Ok(rule));
}

fuzz_target!(|bytes: &[u8]| {
    check_name(bytes);
    for request in [connect(bytes), socks_request(bytes)] {
        if let Request::To(target, length) = request {
            assert!(length <= bytes.len());
            check_name(target.host);
        }
    }
    if let Some((_, length)) = socks_greeting(bytes) {
        assert!(length <= bytes.len());
    }
    match dns::read(bytes) {
        Some(Ok(question)) => {
            check_name(&question.name);
            for answer in [question.answer(Ipv4Addr::LOCALHOST), question.deny()] {
                assert_eq!(answer.get(..2), bytes.get(..2));
                assert!(dns::read(&answer).is_none(), "an answer is no question");
            }
        }
        Some(Err(answer)) => assert!(dns::read(&answer).is_none()),
        None => {}
    }
    if let Ok(rule) = std::str::from_utf8(bytes)
        .map_err(drop)
        .and_then(|text| HostRule::parse(text).map_err(drop))
    {
        assert_eq!(HostRule::parse(&rule.to_string()), Ok(rule));
    }
});
