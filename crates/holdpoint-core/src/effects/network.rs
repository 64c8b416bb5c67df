//! What a word says about a host on a network.

use crate::rules::target_bit;

const LOOPBACK: u64 = target_bit("loopback");
const METADATA: u64 = target_bit("metadata-service");
const RAW: u64 = target_bit("raw-address");
const INTERNET: u64 = target_bit("internet");

/// The host of an address: a URL, `user@host:path`, `host:port` or a bare host.
pub(crate) fn host(word: &str) -> Option<String> {
    let rest = word.split_once("://").map_or(word, |(_, rest)| rest);
    let rest = rest.split(['/', '?', '#']).next()?;
    let rest = rest.rsplit('@').next()?;
    let host = match rest.strip_prefix('[') {
        Some(inside) => inside.split(']').next()?,
        // More than one colon and no brackets: an address, not a port.
        None if rest.matches(':').count() > 1 => rest,
        None => rest.split(':').next()?,
    };
    (!host.is_empty()).then(|| host.trim_end_matches('.').to_ascii_lowercase())
}

/// The bits of what a host is.
pub(crate) fn classes(host: &str) -> u64 {
    let address = number(host);
    if host == "localhost"
        || host.ends_with(".localhost")
        || host == "::1"
        || host == "::"
        || address.is_some_and(|address| address >> 24 == 127 || address == 0)
    {
        return LOOPBACK;
    }
    let metadata = [
        "metadata.google.internal",
        "metadata",
        "instance-data",
        "fd00:ec2::254",
        "::ffff:a9fe:a9fe",
        "::ffff:169.254.169.254",
    ];
    if metadata.contains(&host)
        || address.is_some_and(|address| matches!(address, 0xa9fe_a9fe | 0xa9fe_aa02 | 0x6464_64c8))
    {
        return METADATA | RAW;
    }
    if address.is_some() || host.contains(':') {
        return RAW | INTERNET;
    }
    INTERNET
}

/// The address a text is, in any of the spellings programs take: `127.1`, `0x7f000001`, `017700000001`.
fn number(host: &str) -> Option<u32> {
    let parts: Vec<&str> = host.split('.').collect();
    if parts.len() > 4 {
        return None;
    }
    let mut numbers: Vec<u64> = Vec::new();
    for part in &parts {
        let value = if let Some(hex) = part.strip_prefix("0x") {
            u64::from_str_radix(hex, 16).ok()?
        } else if part.len() > 1 && part.starts_with('0') {
            u64::from_str_radix(part, 8).ok()?
        } else {
            part.parse().ok()?
        };
        numbers.push(value);
    }
    let (last, front) = numbers.split_last()?;
    let mut address: u64 = 0;
    for part in front {
        if *part > 255 {
            return None;
        }
        address = (address << 8) | part;
    }
    let rest = 4 - u32::try_from(front.len()).ok()?;
    if *last >= 1u64 << (8 * rest) {
        return None;
    }
    u32::try_from((address << (8 * rest)) | last).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_one_class_however_it_is_spelled() {
        for text in [
            "http://127.0.0.1:8/x",
            "127.1",
            "0x7f000001",
            "[::1]:80",
            "localhost:3000",
        ] {
            assert_eq!(
                host(text).map(|host| classes(&host)),
                Some(LOOPBACK),
                "{text}"
            );
        }
        for text in ["http://169.254.169.254/latest", "2852039166", "0xA9FEA9FE"] {
            let found = host(text).map(|host| classes(&host)).unwrap();
            assert!(found & METADATA != 0, "{text}");
        }
        assert_eq!(host("me@example.org:dir").as_deref(), Some("example.org"));
        assert_eq!(classes("example.org"), INTERNET);
    }
}
