//! The effects of a command on paths and hosts: its operands, values of flags and redirects.

use super::places::{Place, Places};
use super::reading::Reading;
use super::{Effect, Kind, network};
use crate::path_uses::is_stream;
use crate::rules::{Role, target_bit};
use crate::shell::{Command, Container, Redirection, RedirectionKind, Text, Whereabouts, joined};

const LOOPBACK: u64 = target_bit("loopback");

/// The most paths of one command that are told.
pub(crate) const MOST: usize = 512;

pub(super) fn effects(
    command: &Command,
    reading: &Reading<'_>,
    outer: &[&Redirection],
    places: &Places<'_>,
    found: &mut Vec<Effect>,
) {
    let collector = &mut Collector {
        command,
        places,
        recursive: reading.is_recursive(),
        remote: reading.program().is_some_and(|program| program.remote),
        found,
    };
    let operands = reading.own_operands();
    let first = reading.first_role();
    let others = reading.operand_role();
    let last = reading
        .last_role()
        .filter(|_| operands.len() > usize::from(first.is_some()) + 1);
    let to_remote = collector.remote
        && operands
            .clone()
            .next_back()
            .is_some_and(|word| remote_host(&word.text).is_some());
    let count = operands.len();
    for (at, word) in operands.enumerate() {
        let is_last = at + 1 == count;
        if let Some((role, rest)) = reading.prefixed(&word.text) {
            collector.path(role, rest, word);
            continue;
        }
        let role = match (first, last) {
            (Some(first), _) if at == 0 => Some(first),
            (_, Some(last)) if is_last => Some(last),
            _ => others,
        };
        let role = match role {
            // What goes to another machine leaves this one.
            Some(Role::Read | Role::Move) if to_remote && !is_last => Some(Role::Send),
            role => role,
        };
        collector.word(role.unwrap_or(Role::Either), word);
    }
    if count == 0
        && let (Some(default), Some(role), Some(program)) =
            (reading.default(), others, command.words.first())
    {
        collector.path(role, default, program);
    }
    for flag in reading.flags() {
        let (Some((value, word)), Some(role)) = (flag.value, reading.flag_role(flag.name)) else {
            continue;
        };
        if reading.is_at_file(flag.name) {
            // `-d @file`, `-F name=@file`, `-F name=<file`.
            let file = value
                .strip_prefix('@')
                .or_else(|| value.split_once("=@").map(|(_, file)| file))
                .or_else(|| value.split_once("=<").map(|(_, file)| file));
            if let Some(file) = file.filter(|file| *file != "-") {
                collector.path(role, file.split(';').next().unwrap_or(file), word);
            }
        } else if role == Role::Connect || word.dynamic {
            collector.word(role, word);
        } else {
            collector.path(role, value, word);
        }
    }
    downloads(collector, reading);
    redirects(collector, outer);
    // What goes to this machine leaves nothing.
    let hosts: Vec<u64> = found
        .iter()
        .filter(|effect| effect.host.is_some())
        .map(|effect| effect.classes)
        .collect();
    if !hosts.is_empty() && hosts.iter().all(|classes| classes & LOOPBACK != 0) {
        found.retain(|effect| effect.kind != Kind::Send);
    }
}

/// The files a download is named after: `curl -O`, `wget` without a name.
fn downloads(collector: &mut Collector<'_>, reading: &Reading<'_>) {
    let named = match collector.command.program() {
        Some("curl") => reading.has("-O | --remote-name | --remote-name-all | -J"),
        Some("wget") => !reading.has("-O | --output-document | --spider | -P | --directory-prefix"),
        Some(_) | None => false,
    };
    if !named {
        return;
    }
    for word in reading.own_operands() {
        let address = word.text.split(['?', '#']).next().unwrap_or_default();
        let path = address.split_once("://").map_or(address, |(_, rest)| rest);
        if let Some((_, name)) = path.rsplit_once('/')
            && !name.is_empty()
        {
            collector.path(Role::Write, name, word);
        }
    }
}

fn redirects(collector: &mut Collector<'_>, outer: &[&Redirection]) {
    let own = collector.command.redirects.iter();
    for redirect in own.chain(outer.iter().copied()) {
        let role = match redirect.kind {
            RedirectionKind::Read => Role::Read,
            RedirectionKind::Write | RedirectionKind::Clobber | RedirectionKind::ReadWrite => {
                Role::Write
            }
            RedirectionKind::Append => Role::Append,
            RedirectionKind::HereDocument
            | RedirectionKind::HereString
            | RedirectionKind::Duplicate => continue,
        };
        let text = &redirect.target.text;
        // bash opens a connection for these itself.
        let socket = text
            .strip_prefix("/dev/tcp/")
            .or_else(|| text.strip_prefix("/dev/udp/"));
        if let Some(address) = socket {
            collector.host(Kind::Connect, address, &redirect.target);
            if let Some(effect) = collector.found.last_mut() {
                effect.place.path = Some(text.clone());
            }
            continue;
        }
        collector.word(role, &redirect.target);
    }
}

/// What a path a command names in its container is on this machine.
fn on_host(container: &Container, command: &Command, text: &str) -> Option<String> {
    let places = &command.directory.places;
    places
        .iter()
        .find_map(|place| container.on_host(&joined(place, text)))
}

/// The host of `host:path`, unless it is a path here.
fn remote_host(word: &str) -> Option<String> {
    if word.contains("://") {
        return network::host(word);
    }
    let (host, _) = word.split_once(':')?;
    if host.is_empty() || host.contains('/') || host.starts_with('.') {
        return None;
    }
    network::host(host)
}

struct Collector<'a> {
    command: &'a Command,
    places: &'a Places<'a>,
    recursive: bool,
    remote: bool,
    found: &'a mut Vec<Effect>,
}

impl Collector<'_> {
    fn word(&mut self, role: Role, word: &Text) {
        match (&word.pattern, word.dynamic) {
            (Some(pattern), _) => self.path(role, &pattern.clone(), word),
            (None, true) => self.path(role, &crate::shell::UNKNOWN.to_string(), word),
            (None, false) => self.path(role, &word.text, word),
        }
    }

    fn path(&mut self, role: Role, text: &str, word: &Text) {
        let kinds: &[Kind] = match role {
            Role::Text => return,
            Role::Read => &[Kind::Read],
            Role::Write => &[Kind::Write],
            Role::Append => &[Kind::Append],
            Role::Delete => &[Kind::Delete],
            Role::Mode => &[Kind::Mode],
            Role::Owner => &[Kind::Owner],
            Role::List => &[Kind::List],
            Role::Run => &[Kind::Run],
            Role::Send => &[Kind::Send, Kind::Read],
            Role::Either => &[Kind::Either],
            Role::Move => &[Kind::Read, Kind::Delete],
            Role::Connect => {
                self.host(Kind::Connect, text, word);
                return;
            }
        };
        if text.is_empty() || is_stream(text) || self.found.len() > MOST {
            return;
        }
        if self.remote
            && let Some(host) = remote_host(text)
        {
            self.host_named(Kind::Connect, host, text, word);
            return;
        }
        let outside;
        let text = match &self.command.container {
            None => text,
            Some(container) => match on_host(container, self.command, text) {
                Some(path) => {
                    outside = if path.is_empty() {
                        "/".to_owned()
                    } else {
                        path
                    };
                    outside.as_str()
                }
                None => return,
            },
        };
        let start = Whereabouts::default();
        let directory = match self.command.container {
            Some(_) => &start,
            None => &*self.command.directory,
        };
        let places = match role {
            Role::Delete | Role::Move => self.places.of_removed(text, directory),
            Role::Text
            | Role::Read
            | Role::Write
            | Role::Append
            | Role::Mode
            | Role::Owner
            | Role::List
            | Role::Run
            | Role::Connect
            | Role::Send
            | Role::Either => self.places.of_word(text, directory),
        };
        for place in places {
            for kind in kinds {
                self.add(*kind, place.clone(), word);
            }
        }
    }

    fn add(&mut self, kind: Kind, place: Place, word: &Text) {
        let destroys = matches!(kind, Kind::Delete | Kind::Mode | Kind::Owner);
        self.found.push(Effect {
            text: word.text.clone(),
            classes: place.classes,
            place,
            recursive: destroys && self.recursive,
            span: word.span.clone(),
            ..Effect::plain(kind, self.command)
        });
    }

    fn host(&mut self, kind: Kind, address: &str, word: &Text) {
        if let Some(host) = network::host(address) {
            self.host_named(kind, host, address, word);
        }
    }

    fn host_named(&mut self, kind: Kind, host: String, address: &str, word: &Text) {
        self.found.push(Effect {
            text: address.to_owned(),
            classes: network::classes(&host),
            host: Some(host),
            span: word.span.clone(),
            ..Effect::plain(kind, self.command)
        });
    }
}
