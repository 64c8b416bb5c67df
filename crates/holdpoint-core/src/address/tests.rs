//! Addresses, respelled: the same place has the same class.

use proptest::prelude::*;

use super::host::{INTERNET, LOOK_ALIKE, RAW};
use super::*;

/// Where an address leads, whatever it looks like.
fn places(text: &str) -> Vec<u64> {
    let leads = read(text, Form::Url).into_iter();
    leads
        .map(|one| match one {
            Leads::To(address) => address.classes & !DISGUISED,
            Leads::ToFile(_) | Leads::ToName => 0,
        })
        .collect()
}

fn address(text: &str) -> Address {
    match read(text, Form::Url).as_slice() {
        [Leads::To(address)] => address.clone(),
        other => panic!("{text}: {other:?}"),
    }
}

fn paths(text: &str) -> Vec<String> {
    files(text)
}

#[test]
fn an_address_has_one_class_however_it_is_spelled() {
    for text in [
        "http://127.0.0.1:8/x",
        "127.1",
        "0x7f000001",
        "[::1]:80",
        "localhost:3000",
        "LOCALHOST.",
        "http://user:pw@localhost/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[0:0:0:0:0:0:0:1]/",
        "http://2130706433/",
        "http://0177.0.0.1/",
        "http://0X7F.0.0.1/",
        "http://127.0.0.1%2f@127.0.0.1/",
        "http:127.0.0.1",
        "http:\\\\127.0.0.1\\x",
        "http:////127.0.0.1",
        " http://127.0.0.1",
        "http://127.0.\t0.1/",
        "http://①②⑦.⓪.⓪.①/",
        "http://１２７。０。０。１/",
        "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
        "http://loc\u{ad}alhost/",
        "http://%6c%6f%63%61%6c%68%6f%73%74/",
        "http://[::1%25lo]/",
        "0",
        "http://0.0.0.0:80",
        "http://[64:ff9b::127.0.0.1]/",
        "http://[2002:7f00:1::]/",
        "jdbc:postgresql://localhost:5432/x",
        "view-source:http://localhost/",
    ] {
        assert_eq!(places(text), [LOOPBACK], "{text}");
    }
    for text in [
        "http://169.254.169.254/latest",
        "2852039166",
        "0xA9FEA9FE",
        "http://[::ffff:169.254.169.254]/",
        "http://[fd00:ec2::254]/",
        "http://metadata.google.internal./",
        "http://169.254.169.254.nip.io/",
        "http://a9fea9fe.nip.io",
        "http://{169.254.169.254}/",
    ] {
        let found = places(text);
        assert!(found.iter().any(|one| one & METADATA != 0), "{text}");
    }
    for text in [
        "10.0.0.1",
        "172.16.0.9:80",
        "http://192.168.1.1",
        "http://100.64.1.2",
        "http://[fd12::1]",
        "http://10.1",
        "http://0xa000001",
        "http://lvh.me",
        "http://app.10-0-0-1.sslip.io",
    ] {
        let found = places(text);
        assert!(found.iter().all(|one| one & PRIVATE != 0), "{text}");
    }
    assert_eq!(
        places("http://[fe80::1%25eth0]/"),
        [LINK_LOCAL | RAW | INTERNET]
    );
    assert_eq!(places("http://wiki.internal/"), [INTERNAL | INTERNET]);
    assert_eq!(places("http://printer.local"), [INTERNAL | INTERNET]);
    assert_eq!(places("https://example.org."), [INTERNET]);
    assert_eq!(places("http://8.8.8.8"), [RAW | INTERNET]);
}

#[test]
fn the_parts_are_told_apart() {
    let found = address("HTTPS://me:secret@Example.ORG.:8443/a?b#c");
    assert_eq!(found.scheme.as_deref(), Some("https"));
    assert_eq!(found.user.as_deref(), Some("me"));
    assert_eq!(
        (found.host.as_str(), found.port),
        ("example.org", Some(8443))
    );
    assert_eq!(
        address("http://good.example@evil.example/").host,
        "evil.example"
    );
    assert_eq!(address("me@example.org:dir").host, "example.org");
    let both: Vec<Leads> = read("http://good.example\\@evil.example/", Form::Url);
    assert_eq!(both.len(), 2, "{both:?}");
    let hosts = read("mongodb://a.example:1,b.example:2/x", Form::Connection);
    assert_eq!(hosts.len(), 2, "{hosts:?}");
}

#[test]
fn letters_that_look_like_others_are_told() {
    for host in [
        "аpple.com",
        "xn--80ak6aa92e.com",
        "gооgle.com",
        "xn--pple-43d.com",
    ] {
        assert!(address(host).classes & LOOK_ALIKE != 0, "{host}");
        assert_ne!(address(host).host, "apple.com");
    }
    for host in [
        "bücher.de",
        "xn--bcher-kva.de",
        "россия.рф",
        "münchen.de",
        "日本.jp",
    ] {
        assert!(address(host).classes & LOOK_ALIKE == 0, "{host}");
    }
}

#[test]
fn a_files_address_leads_to_the_file() {
    for text in [
        "file:///etc/shadow",
        "FILE:///etc/shadow",
        "file:/etc/shadow",
        "file://localhost/etc/shadow",
        "file://127.0.0.1/etc/shadow",
        "file:///etc/%73hadow",
        "file:\\\\\\etc\\shadow",
        "file:////etc/shadow",
        "file:///etc/shadow?x",
        "file:///etc/shadow#x",
        "file:///etc/{passwd,shadow}",
        "view-source:file:///etc/shadow",
        " file:///etc/shadow",
        "git+file:///etc/shadow",
    ] {
        assert!(
            paths(text).contains(&"/etc/shadow".to_owned()),
            "{text}: {:?}",
            paths(text)
        );
    }
    assert!(paths("file://~/.ssh/id_rsa").contains(&"~/.ssh/id_rsa".to_owned()));
    assert!(paths("file://.env").contains(&".env".to_owned()));
    assert!(paths("https://example.org/etc/shadow").is_empty());
}

#[test]
fn what_git_fetches_from_may_be_a_name_a_path_or_a_host() {
    let one = |text: &str| read(text, Form::Remote).pop();
    assert_eq!(one("origin"), Some(Leads::ToName));
    assert_eq!(one("../x"), Some(Leads::ToFile("../x".into())));
    assert!(
        matches!(one("git@example.org:a/b"), Some(Leads::To(address)) if address.host == "example.org")
    );
    assert!(matches!(one("https://example.org/a"), Some(Leads::To(_))));
    let one = |text: &str| read(text, Form::Connection).pop();
    assert_eq!(one("app"), None);
    assert!(
        matches!(one("host=prod-db dbname=x"), Some(Leads::To(address)) if address.host == "prod-db")
    );
    let one = |text: &str| read(text, Form::Image).pop();
    assert_eq!(one("alpine:3"), Some(Leads::ToName));
    assert!(
        matches!(one("reg.example.org:5000/a:1"), Some(Leads::To(address)) if address.port == Some(5000))
    );
}

/// The spellings of an address of four numbers that programs take for the same.
fn spelled(octets: [u8; 4], how: usize) -> String {
    let [a, b, c, d] = octets;
    let number = u32::from_be_bytes(octets);
    let [ab, cd] = [number >> 16, number & 0xffff];
    match how {
        0 => format!("{a}.{b}.{c}.{d}"),
        1 => format!("{number}"),
        2 => format!("{number:#x}"),
        3 => format!("0{number:o}"),
        4 => format!("{a:#x}.{b:#x}.{c:#x}.{d:#x}"),
        5 => format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        6 => format!("{a}.{}", number & 0xff_ffff),
        7 => format!("{a}.{b}.{cd}"),
        8 => format!("[::ffff:{a}.{b}.{c}.{d}]"),
        9 => format!("[::ffff:{ab:x}:{cd:x}]"),
        10 => format!("[0:0:0:0:0:FFFF:{ab:X}:{cd:X}]"),
        11 => format!("[64:ff9b::{ab:x}:{cd:x}]"),
        12 => format!("{a}.{b}.{c}.{d}."),
        13 => format!("{a}%2e{b}%2E{c}.{d}"),
        14 => format!("{a}。{b}．{c}.{d}"),
        _ => {
            let wide = |octet: u8| -> String {
                let digits = octet.to_string();
                digits
                    .chars()
                    .filter_map(|c| char::from_u32(c as u32 + 0xfee0))
                    .collect()
            };
            format!("{}.{}.{}.{}", wide(a), wide(b), wide(c), wide(d))
        }
    }
}

/// Everything around a host that does not change where it leads.
fn around(host: &str, how: usize) -> String {
    match how {
        0 => host.to_owned(),
        1 => format!("http://{host}/"),
        2 => format!("HTTP://{host}:8080/x?y=http://example.org"),
        3 => format!("https://user:pw@{host}/#@example.org"),
        4 => format!("http:\\\\{host}\\x"),
        5 => format!("http:/{host}"),
        6 => format!("\thttp://{host}\n"),
        _ => format!("wss://example.org@{host}:443"),
    }
}

proptest! {
    #[test]
    fn a_number_leads_to_one_place_however_it_is_written(
        octets in prop_oneof![
            any::<[u8; 4]>(),
            any::<[u8; 3]>().prop_map(|[b, c, d]| [127, b, c, d]),
            any::<[u8; 3]>().prop_map(|[b, c, d]| [10, b, c, d]),
            any::<[u8; 2]>().prop_map(|[c, d]| [192, 168, c, d]),
            any::<[u8; 2]>().prop_map(|[c, d]| [169, 254, c, d]),
            Just([169, 254, 169, 254]),
            Just([0, 0, 0, 0]),
        ],
        how in 0usize..16,
        within in 0usize..8,
    ) {
        let plain = places(&spelled(octets, 0));
        let text = around(&spelled(octets, how), within);
        let found = places(&text);
        prop_assert!(found.iter().any(|one| plain.contains(one)), "{text}: {found:?} for {plain:?}");
    }

    #[test]
    fn a_name_is_one_place_however_it_is_written(
        name in prop_oneof![
            Just("localhost"), Just("app.localhost"), Just("metadata.google.internal"),
            Just("printer.local"), Just("db.internal"), Just("intranet"), Just("example.org"),
            Just("10.0.0.1.nip.io"),
        ],
        capitals in any::<u32>(),
        dots in 0usize..3,
        within in 0usize..8,
    ) {
        let mut host: String = name.char_indices().map(|(at, letter)| {
            match capitals >> (at % 32) & 1 {
                1 => letter.to_ascii_uppercase(),
                _ => letter,
            }
        }).collect();
        host.push_str(&".".repeat(dots));
        prop_assert_eq!(places(&around(&host, within)), places(name));
    }

    #[test]
    fn no_text_breaks_it(text in "\\PC*", cut in any::<String>()) {
        for form in [Form::Url, Form::Host, Form::Remote, Form::Connection, Form::Image] {
            for text in [&text, &cut, &format!("http://{text}"), &format!("file:{cut}"), &format!("xn--{text}")] {
                prop_assert!(read(text, form).len() <= MAX_READINGS);
            }
        }
    }
}
