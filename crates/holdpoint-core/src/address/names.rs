//! Names of hosts that say what they are: this machine, one of the house, or an address in a name.

use std::net::Ipv4Addr;

use super::host::{INTERNAL, INTERNET, LOOPBACK, METADATA, PRIVATE, RAW};
use super::numbers;

/// What clouds call the service that hands out a machine's credentials.
const METADATA_NAMES: &[&str] = &[
    "instance-data",
    "instance-data.ec2.internal",
    "metadata",
    "metadata.aws.internal",
    "metadata.azure.com",
    "metadata.azure.internal",
    "metadata.goog",
    "metadata.google.internal",
    "metadata.packet.net",
    "metadata.platformequinix.com",
    "metadata.tencentyun.com",
    "rancher-metadata",
];

/// Endings of names that are never found on the public network.
const INSIDE: &[&str] = &[
    "cluster.local",
    "corp",
    "home",
    "home.arpa",
    "internal",
    "intra",
    "intranet",
    "lan",
    "local",
    "localdomain",
    "private",
    "svc",
];

/// Public services whose names hold the address they lead to.
const HOLD_ADDRESSES: &[&str] = &[
    "nip.io",
    "sslip.io",
    "xip.io",
    "traefik.me",
    "local-ip.co",
    "local-ip.sh",
    "my.local-ip.co",
    "backname.io",
    "1u.ms",
    "rbndr.us",
    "plex.direct",
];

/// Public names that lead to this machine.
const LEAD_HERE: &[&str] = &[
    "127-0-0-1.org.uk",
    "42foo.com",
    "domaincontrol.com",
    "fuf.me",
    "lacolhost.com",
    "local.gd",
    "localho.st",
    "localhost.direct",
    "localtest.me",
    "localtls.com",
    "lvh.me",
    "smackaho.st",
    "vcap.me",
    "yoogle.com",
];

/// The classes of a name in lower case, without a dot at its end.
pub(super) fn classes(name: &str) -> u64 {
    if name == "localhost"
        || name.ends_with(".localhost")
        || matches!(
            name,
            "localhost.localdomain" | "localhost6" | "ip6-localhost" | "ip6-loopback"
        )
    {
        return LOOPBACK;
    }
    if METADATA_NAMES.contains(&name) {
        return METADATA | RAW;
    }
    if let Some(front) = HOLD_ADDRESSES.iter().find_map(|end| below(name, end)) {
        return held(front) | INTERNET;
    }
    // Whoever owns the name may lead it elsewhere tomorrow.
    if LEAD_HERE
        .iter()
        .any(|end| name == *end || below(name, end).is_some())
    {
        return PRIVATE | INTERNET;
    }
    let inside = INSIDE.iter().any(|end| below(name, end).is_some());
    match inside || !name.contains('.') {
        true => INTERNAL | INTERNET,
        false => INTERNET,
    }
}

/// What stands in front of an ending, if it is a name below it.
fn below<'n>(name: &'n str, end: &str) -> Option<&'n str> {
    name.strip_suffix(end)?.strip_suffix('.')
}

/// The classes of the addresses a name holds: `10.0.0.1`, `app-10-0-0-1`, `0a000001`. One that does
/// not tell, nobody knows; one of several may be any of them.
fn held(front: &str) -> u64 {
    let labels: Vec<&str> = front.split('.').collect();
    let dotted = labels.windows(4).map(|four| four.join("."));
    let dashed = labels.iter().flat_map(|label| {
        let parts: Vec<&str> = label.split('-').collect();
        let four: Vec<String> = parts.windows(4).map(|four| four.join(".")).collect();
        four
    });
    let plain = dotted.chain(dashed).filter_map(|text| text.parse().ok());
    let hex = labels
        .iter()
        .flat_map(|label| label.split('-'))
        .filter_map(|text| {
            let number = (text.len() == 8).then(|| u32::from_str_radix(text, 16).ok())??;
            Some(Ipv4Addr::from(number))
        });
    let found: Vec<u64> = plain.chain(hex).map(numbers::of_four).collect();
    let mut all = found.iter().fold(0, |all, classes| all | classes);
    if all & LOOPBACK != 0 || found.is_empty() {
        // Leads to this machine, but only as long as its owner says so.
        all = (all & !LOOPBACK) | PRIVATE;
    }
    all
}
