//! What an address says: its scheme, who asks, the host and what that is, the port; for `file:` a path.
//!
//! Programs do not agree about addresses: where a host ends, which spellings of a number are one,
//! whether `\` is a slash. An address that can be read in several ways is all of them, so that no
//! rule depends on which program reads it. What leads to the same place has the same class however
//! it is spelled.

mod host;
mod names;
mod numbers;
mod punycode;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub(crate) use self::host::{DISGUISED, INTERNAL, LINK_LOCAL, LOOPBACK, METADATA, PRIVATE};
use crate::shell::UNKNOWN;

/// The longest address that is read: no program takes a longer one. Of a longer one only its
/// beginning counts, and it is [`DISGUISED`].
const MAX_ADDRESS: usize = 8192;

/// The most addresses one word may be: `{a,b}` of curl, hosts with commas, and the readings of
/// programs that do not agree. A word that may be more is [`DISGUISED`].
const MAX_READINGS: usize = 256;

/// An address on a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// In lower case; none if the word has none.
    pub(crate) scheme: Option<String>,
    /// Who asks, as written, without a password.
    pub(crate) user: Option<String>,
    /// As rules name it: in lower case, decoded, numbers as four with dots, without a dot at the end.
    pub(crate) host: String,
    pub(crate) port: Option<u16>,
    /// Bits of what the host is, among the targets of rules.
    pub(crate) classes: u64,
}

/// What a word that stands for an address leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Leads {
    /// Somewhere on a network.
    To(Address),
    /// To a file of this machine.
    ToFile(String),
    /// To another machine, whose name the word does not say: a remote of git.
    ToName,
}

/// What a word may be besides a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A URL, or a host with or without a port and a path.
    Url,
    /// A host, or several with commas; a socket's directory is none.
    Host,
    /// What git fetches from: a URL, `host:path`, a path here, or a name it knows.
    Remote,
    /// A URL or settings like `host=x dbname=y`; anything else is a name over there.
    Connection,
    /// An image of a container: a registry may stand before the first slash.
    Image,
}

/// Everything a word may lead to.
pub(crate) fn read(word: &str, form: Form) -> Vec<Leads> {
    let mut found = Vec::new();
    let cut = beginning(word);
    let cleaned = without_breaks(cut);
    let (texts, more) = alternatives(&cleaned);
    for text in texts {
        one(&text, form, &mut found);
    }
    // Somewhere among those that are left out there may be any host.
    let more = (more && is_host_one_of_many(&cleaned)) || found.len() > MAX_READINGS;
    let odd = more || cut.len() < word.len() || matches!(cleaned, Cow::Owned(_));
    found.truncate(MAX_READINGS);
    for leads in &mut found {
        if let Leads::To(address) = leads
            && odd
        {
            address.classes |= DISGUISED;
        }
    }
    found
}

/// The files among what a word leads to, if it is an address of a file; nothing for any other.
#[cfg(test)]
fn files(word: &str) -> Vec<String> {
    if !is_file(word) {
        return Vec::new();
    }
    let leads = read(word, Form::Url).into_iter();
    leads
        .filter_map(|one| match one {
            Leads::ToFile(path) => Some(path),
            Leads::To(_) | Leads::ToName => None,
        })
        .collect()
}

/// Whether a word is the address of a file.
pub(crate) fn is_file(word: &str) -> bool {
    let word = without_wrapping(word.trim_matches(is_blank));
    split_scheme(word).is_some_and(|(scheme, _)| is_file_scheme(scheme))
}

/// Whether a word begins like an address: with a scheme and `//`, or one that needs none.
pub(crate) fn has_scheme(word: &str) -> bool {
    let word = without_wrapping(word.trim_matches(is_blank));
    split_scheme(word).is_some()
}

/// Schemes whose addresses browsers read with any number of slashes, and `\` for `/`.
const LENIENT: &[&str] = &["http", "https", "ws", "wss", "ftp", "ftps", "file"];

/// What may stand before a scheme and says nothing of where it leads.
const WRAPPING: &[&str] = &[
    "view-source:",
    "jdbc:",
    "url:",
    "blob:",
    "feed:",
    "jar:",
    "filesystem:",
    "git::",
    "hg::",
];

fn one(text: &str, form: Form, found: &mut Vec<Leads>) {
    let text = without_wrapping(text.trim_matches(is_blank));
    if text.is_empty() {
        return;
    }
    if let Some((scheme, rest)) = split_scheme(text) {
        if is_file_scheme(scheme) {
            files_of(rest, found);
        } else {
            behind_scheme(scheme, rest, found);
        }
        return;
    }
    match form {
        // A socket's directory, or a path.
        Form::Url if text.starts_with('/') && !text.starts_with("//") => {}
        Form::Url => authorities(None, text.trim_start_matches('/'), true, found),
        Form::Host => {
            for host in text.split(',') {
                // A directory with a socket, or an abstract one.
                match host.starts_with(['/', '@']) {
                    true => {}
                    false => authorities(None, host, false, found),
                }
            }
        }
        Form::Remote => remote(text, found),
        Form::Connection if text.contains(UNKNOWN) => push(found, Leads::ToName),
        Form::Connection => settings(text, found),
        Form::Image => image(text, found),
    }
}

/// `host:path`, a path of this machine, or a name.
fn remote(text: &str, found: &mut Vec<Leads>) {
    let is_path = text.starts_with(['/', '.', '~']);
    match text.split_once(':') {
        Some((host, _)) if !is_path && !host.is_empty() && !host.contains('/') => {
            authorities(Some("ssh"), host, false, found);
        }
        _ if is_path => push(found, Leads::ToFile(text.to_owned())),
        _ => push(found, Leads::ToName),
    }
}

/// `host=a,b hostaddr=c`, as libpq takes it, or `server=tcp:a,1433;…`.
fn settings(text: &str, found: &mut Vec<Leads>) {
    // `5432:db.example:5432`, as ssh is told what to reach from over there.
    let parts: Vec<&str> = text.split(':').take(5).collect();
    if let [_, host, port] | [_, _, host, port] = parts.as_slice()
        && port.parse::<u16>().is_ok()
    {
        authorities(None, host, false, found);
        return;
    }
    // `::10.0.0.1:`, as curl is told what to connect to in place of what was asked for.
    if let [_, _, host, ""] = parts.as_slice()
        && !host.is_empty()
    {
        authorities(None, host, false, found);
        return;
    }
    // `example.com:443:10.0.0.1`, as curl is told where a name leads.
    if let [_, port, hosts] = parts.as_slice()
        && port.parse::<u16>().is_ok()
    {
        one(hosts, Form::Host, found);
        return;
    }
    for setting in text.split([' ', ';', '\n', '\t']) {
        let Some((name, value)) = setting.split_once('=') else {
            continue;
        };
        let name = name.trim().to_ascii_lowercase();
        if matches!(
            name.as_str(),
            "host"
                | "hostaddr"
                | "server"
                | "hostname"
                | "addr"
                | "http_proxy"
                | "https_proxy"
                | "ftp_proxy"
        ) {
            let value = value.trim().trim_matches(['\'', '"']);
            let value = value.strip_prefix("tcp:").unwrap_or(value);
            one(value, Form::Host, found);
        }
    }
}

/// `registry.example.com/team/app:1`, as containers are named.
fn image(text: &str, found: &mut Vec<Leads>) {
    let registry = text.split_once('/').map(|(registry, _)| registry);
    let named = |registry: &&str| registry.contains(['.', ':']) || *registry == "localhost";
    match registry.filter(named) {
        Some(registry) => authorities(Some("https"), registry, false, found),
        None => push(found, Leads::ToName),
    }
}

/// The scheme of an address, in front of `//` or, where programs need none, in front of anything.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let mut letters = scheme.bytes();
    let starts = letters
        .next()
        .is_some_and(|letter| letter.is_ascii_alphabetic());
    let plain = letters.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let lenient = LENIENT.iter().any(|one| scheme.eq_ignore_ascii_case(one));
    let is_scheme = starts && plain && (lenient || rest.starts_with("//"));
    // `localhost://x` is no host, but `http:8080` is one of neither kind.
    is_scheme.then_some((scheme, rest))
}

fn is_file_scheme(scheme: &str) -> bool {
    let last = scheme.rsplit('+').next().unwrap_or(scheme);
    last.eq_ignore_ascii_case("file") || last.eq_ignore_ascii_case("sqlite")
}

fn behind_scheme(scheme: &str, rest: &str, found: &mut Vec<Leads>) {
    let scheme = scheme.to_ascii_lowercase();
    let lenient = LENIENT.contains(&scheme.as_str());
    let rest = match lenient {
        true => rest.trim_start_matches(['/', '\\']),
        false => rest.strip_prefix("//").unwrap_or(rest),
    };
    // `http:http://x`: which proxy is for which scheme.
    if let Some((inner, behind)) = split_scheme(rest).filter(|(_, rest)| rest.starts_with("//")) {
        let inner = inner.to_ascii_lowercase();
        authorities(Some(&inner), behind.trim_start_matches('/'), true, found);
    }
    authorities(Some(&scheme), rest, lenient, found);
}

/// The hosts in front of a path, as different programs find them.
fn authorities(scheme: Option<&str>, rest: &str, lenient: bool, found: &mut Vec<Leads>) {
    let strict = before(rest, &['/', '?', '#']);
    let loose = before(strict, &['\\']);
    let ambiguous = lenient && loose.len() < strict.len();
    // `http://good\@evil`: what is a slash to one is a letter of the user's name to another.
    if !ambiguous || strict.contains('@') {
        authority(scheme, strict, found);
    }
    if ambiguous {
        authority(scheme, loose, found);
        disguise(found);
    }
    // `http://a@b@c`.
    if strict.matches('@').count() > 1 {
        let mut parts = strict.split('@');
        parts.next();
        for part in parts {
            host_and_port(scheme, None, part, found);
        }
        disguise(found);
    }
}

fn disguise(found: &mut [Leads]) {
    for leads in found {
        if let Leads::To(address) = leads {
            address.classes |= DISGUISED;
        }
    }
}

fn authority(scheme: Option<&str>, text: &str, found: &mut Vec<Leads>) {
    match text.rsplit_once('@') {
        Some((user, rest)) => host_and_port(scheme, Some(before(user, &[':'])), rest, found),
        None => host_and_port(scheme, None, text, found),
    }
}

fn host_and_port(scheme: Option<&str>, user: Option<&str>, text: &str, found: &mut Vec<Leads>) {
    // Several in one: `mongodb://a:1,b:2`.
    if text.contains(',') {
        // One more than is kept tells that there are more.
        for text in text.split(',').take(MAX_READINGS + 1) {
            host_and_port(scheme, user, text, found);
        }
        return;
    }
    let (host, port) = match text.strip_prefix('[') {
        Some(inside) => match inside.split_once(']') {
            Some((host, rest)) => (host, rest.strip_prefix(':').unwrap_or_default()),
            None => (inside, ""),
        },
        // More than one colon and no brackets: an address, not a port.
        None if text.matches(':').count() > 1 => (text, ""),
        None => text.split_once(':').unwrap_or((text, "")),
    };
    if let Some(host) = host::read(host) {
        push(
            found,
            Leads::To(Address {
                scheme: scheme.map(str::to_owned),
                user: user.filter(|user| !user.is_empty()).map(str::to_owned),
                host: host.name,
                port: port.parse().ok(),
                classes: host.classes,
            }),
        );
    }
}

/// The files `file:` leads to: programs do not agree on what stands behind two slashes, nor on
/// whether a path has a query.
fn files_of(rest: &str, found: &mut Vec<Leads>) {
    let rest = rest.replace('\\', "/");
    let mut paths: Vec<&str> = Vec::new();
    match rest.strip_prefix("//") {
        Some(behind) => {
            let host_end = behind.find('/').unwrap_or(behind.len());
            let (host, path) = behind.split_at_checked(host_end).unwrap_or((behind, ""));
            match host::read(host) {
                // Another machine's share, for those who take it for one.
                Some(other) if other.classes & LOOPBACK == 0 => {
                    paths.push(behind);
                    if host.contains('.') && !host.starts_with('.') {
                        host_and_port(Some("file"), None, host, found);
                    }
                }
                Some(_) | None => {}
            }
            paths.push(path);
        }
        None => paths.push(&rest),
    }
    for path in paths {
        let path = match path.strip_prefix("//") {
            Some(behind) => format!("/{}", behind.trim_start_matches('/')),
            None => path.to_owned(),
        };
        let whole = decoded(&path).into_owned();
        let cut = decoded(before(&path, &['?', '#'])).into_owned();
        for path in [cut, whole] {
            if !path.is_empty() {
                push(found, Leads::ToFile(path));
            }
        }
    }
}

fn push(found: &mut Vec<Leads>, leads: Leads) {
    if found.len() <= MAX_READINGS && !found.contains(&leads) {
        found.push(leads);
    }
}

fn without_wrapping(text: &str) -> &str {
    let mut text = text;
    // Each is shorter than the one before.
    while let Some(rest) = WRAPPING.iter().find_map(|front| strip(text, front)) {
        text = rest;
    }
    text
}

/// What stands behind a beginning, whatever its case.
fn strip<'t>(text: &'t str, front: &str) -> Option<&'t str> {
    let (head, tail) = text.split_at_checked(front.len())?;
    head.eq_ignore_ascii_case(front).then_some(tail)
}

fn before<'t>(text: &'t str, ends: &[char]) -> &'t str {
    text.split(ends).next().unwrap_or_default()
}

fn is_blank(letter: char) -> bool {
    letter <= ' ' && letter != UNKNOWN
}

/// As much of a word as is read.
fn beginning(word: &str) -> &str {
    if word.len() <= MAX_ADDRESS {
        return word;
    }
    let end = (0..=MAX_ADDRESS)
        .rev()
        .find(|end| word.is_char_boundary(*end));
    word.get(..end.unwrap_or_default()).unwrap_or_default()
}

/// Browsers read over tabs and line breaks anywhere in an address.
fn without_breaks(text: &str) -> Cow<'_, str> {
    let text = text.trim_matches(is_blank);
    match text.contains(['\t', '\n', '\r']) {
        true => Cow::Owned(text.replace(['\t', '\n', '\r'], "")),
        false => Cow::Borrowed(text),
    }
}

/// `%41` as the letter it is; what is no text is left as it stands.
fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let digits = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let plain = |two: &&str| two.bytes().all(|digit| digit.is_ascii_hexdigit());
        let letter = digits
            .filter(plain)
            .and_then(|two| u8::from_str_radix(two, 16).ok());
        match (first, letter) {
            (b'%', Some(letter)) => {
                bytes.push(letter);
                rest = tail.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    match String::from_utf8(bytes) {
        Ok(text) => Cow::Owned(text),
        Err(_) => Cow::Borrowed(text),
    }
}

/// Whether what is in the place of a host stands for several.
fn is_host_one_of_many(text: &str) -> bool {
    let behind = text.split_once("://").map_or(text, |(_, rest)| rest);
    before(behind, &['/', '?', '#']).contains(['{', '['])
}

/// What curl makes of `{a,b}` and `[a-c]` in an address, and whether there is more of it than is tried; without any, the
/// text alone. A range of numbers with more in it is left where it stands, and makes a host one nobody knows.
fn alternatives(text: &str) -> (Vec<String>, bool) {
    let mut more = false;
    let mut found = vec![text.to_owned()];
    let mut at = 0;
    // Every step takes one pair of signs away from one of them.
    for _ in 0..2 * MAX_READINGS {
        let Some(current) = found.get(at) else {
            break;
        };
        let Some(made) = first_group(current) else {
            at += 1;
            continue;
        };
        found.swap_remove(at);
        found.extend(made);
        if found.len() > MAX_READINGS {
            more = true;
            found.truncate(MAX_READINGS);
            break;
        }
    }
    (found, more)
}

/// The text with each of the pieces of its first group in place of it.
fn first_group(text: &str) -> Option<Vec<String>> {
    let open = text.find(['{', '['])?;
    let (front, rest) = text.split_at_checked(open)?;
    let (close, braces) = match rest.starts_with('{') {
        true => ('}', true),
        false => (']', false),
    };
    let (inside, back) = rest.get(1..)?.split_once(close)?;
    let pieces: Vec<String> = match braces {
        true => inside
            .split(',')
            .take(MAX_READINGS + 1)
            .map(str::to_owned)
            .collect(),
        false => range(inside)?,
    };
    Some(
        pieces
            .iter()
            .map(|piece| format!("{front}{piece}{back}"))
            .collect(),
    )
}

/// `w`, `a-c`, `1-9`; an address of six has colons.
fn range(inside: &str) -> Option<Vec<String>> {
    let inside = match inside.split_once(':') {
        None => inside,
        // With a step: `1-9:2`.
        Some((range, step)) if range.contains('-') && !step.contains(':') => range,
        Some(_) => return None,
    };
    let letters: Vec<char> = inside.chars().collect();
    match letters.as_slice() {
        [one] => Some(vec![one.to_string()]),
        [first, '-', last] if first <= last => {
            let all: Vec<String> = (*first..=*last)
                .map(String::from)
                .take(MAX_READINGS + 1)
                .collect();
            Some(all)
        }
        _ => {
            let (first, last) = inside.split_once('-')?;
            let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
            let few = last.checked_sub(first)? < u32::try_from(MAX_READINGS).ok()?;
            few.then(|| (first..=last).map(|number| number.to_string()).collect())
        }
    }
}
