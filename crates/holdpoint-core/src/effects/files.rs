//! The effects of a command on paths and hosts: its operands, values of flags and redirects.

use std::borrow::Cow;

use super::places::{Place, Places, is_stream};
use super::reading::Reading;
use super::{Effect, EffectKind, GivenUp, Limit, network, too_deep};
use crate::opaque::OpaqueKind;
use crate::rules::{Role, target_bit};
use crate::shell::{Command, Container, Redirection, RedirectionKind, Text, Whereabouts, joined};

const LOOPBACK: u64 = target_bit("loopback");

/// The most effects of one command on paths and hosts: each is compared with every rule, and a line of
/// so many words is not one a person reads. Beyond it what the command does is not known.
pub(crate) const MAX_EFFECTS: usize = 4096;

/// Finds the effects; says so if there is more than is found.
pub(super) fn effects(
    command: &Command,
    reading: &Reading<'_>,
    outer: &[&Redirection],
    places: &Places<'_>,
    found: &mut Vec<Effect>,
) -> Option<GivenUp> {
    let start = Whereabouts::default();
    let start = match command.container {
        // What is seen inside was put together with where it runs there.
        Some(_) => &start,
        None => &*command.directory,
    };
    let collector = &mut Collector {
        command,
        places,
        recursive: reading.is_recursive(),
        remote: reading.program().is_some_and(|program| program.remote),
        directory: Cow::Borrowed(start),
        given_up: None,
        found,
    };
    let program = reading.program();
    let goes_to = program.map_or(&[][..], |program| program.directory);
    let operands_in = program.map_or(&[][..], |program| program.operands_in);
    collector.go(reading.values_of(goes_to));
    let elsewhere = collector.directory.clone();
    collector.go(reading.values_of(operands_in));
    operands(collector, reading);
    collector.directory = elsewhere;
    flags(collector, reading, goes_to, start);
    downloads(collector, reading);
    collector.directory = Cow::Borrowed(start);
    redirects(collector, outer);
    let given_up = collector.given_up.map(|kind| GivenUp {
        kind,
        limit: Limit::Effects,
    });
    let given_up = given_up.or_else(|| too_deep(found));
    // What goes to this machine leaves nothing.
    let hosts: Vec<u64> = found
        .iter()
        .filter(|effect| effect.host.is_some())
        .map(|effect| effect.classes)
        .collect();
    if !hosts.is_empty() && hosts.iter().all(|classes| classes & LOOPBACK != 0) {
        found.retain(|effect| effect.kind != EffectKind::Send);
    }
    given_up
}

fn operands(collector: &mut Collector<'_>, reading: &Reading<'_>) {
    let all = reading.own_operands();
    let count = all.len();
    let to_remote = collector.remote
        && all
            .clone()
            .next_back()
            .is_some_and(|word| remote_host(&word.text).is_some());
    for (at, (word, role)) in reading.operand_roles().enumerate() {
        if let Some((role, rest)) = reading.prefixed(&word.text) {
            collector.value(role, rest, word);
            continue;
        }
        // What goes to another machine leaves this one.
        let leaves = to_remote && at + 1 < count && matches!(role, Role::Read | Role::Move);
        let role = if leaves { Role::Send } else { role };
        collector.value(role, &word.text, word);
    }
    if count == 0
        && let (Some(default), Some(role), Some(program)) = (
            reading.default(),
            reading.operand_role(),
            collector.command.words.first(),
        )
    {
        collector.path(role, default, default, program);
    }
}

fn flags(
    collector: &mut Collector<'_>,
    reading: &Reading<'_>,
    goes_to: &[&str],
    start: &Whereabouts,
) {
    for flag in reading.flags() {
        let role = reading
            .flag_role(flag.name)
            .or_else(|| reading.cut_short_role(flag.name));
        let (Some((value, word)), Some(role)) = (flag.value, role) else {
            continue;
        };
        if goes_to.contains(&flag.name) {
            let inside = std::mem::replace(&mut collector.directory, Cow::Owned(start.clone()));
            collector.value(role, value, word);
            collector.directory = inside;
        } else if reading.is_at_file(flag.name) {
            // `-d @file`, `-F name=@file`, `-F name=<file`.
            let file = value
                .strip_prefix('@')
                .or_else(|| value.split_once("=@").map(|(_, file)| file))
                .or_else(|| value.split_once("=<").map(|(_, file)| file));
            if let Some(file) = file.filter(|file| *file != "-") {
                collector.value(role, file.split(';').next().unwrap_or(file), word);
            }
        } else {
            collector.value(role, value, word);
        }
    }
    // `--outp file`: whether that is a flag with a value is not known, so the next word is both.
    for (name, at) in reading.bare_flags() {
        if let (Some(role), Some(next)) =
            (reading.cut_short_role(name), reading.words().get(at + 1))
        {
            collector.value(role, &next.text, next);
        }
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
            collector.path(Role::Write, name, name, word);
        }
    }
}

fn redirects(collector: &mut Collector<'_>, outer: &[&Redirection]) {
    let own = collector.command.redirects.iter();
    for redirect in own.chain(outer.iter().copied()) {
        let role = match redirect.kind {
            RedirectionKind::Read => Role::Read,
            RedirectionKind::Write | RedirectionKind::Clobber => Role::Write,
            RedirectionKind::ReadWrite => {
                collector.value(Role::Read, &redirect.target.text, &redirect.target);
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
            collector.host(EffectKind::Connect, address, &redirect.target);
            if let Some(effect) = collector.found.last_mut() {
                effect.place.path = Some(text.clone());
            }
            continue;
        }
        collector.value(role, &redirect.target.text, &redirect.target);
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

/// `file:///etc/passwd`.
fn is_file_address(text: &str) -> bool {
    text.get(..5)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"))
}

struct Collector<'a> {
    command: &'a Command,
    places: &'a Places<'a>,
    recursive: bool,
    remote: bool,
    /// Where relative paths begin.
    directory: Cow<'a, Whereabouts>,
    /// The kind of effects there are too many of.
    given_up: Option<OpaqueKind>,
    found: &'a mut Vec<Effect>,
}

impl Collector<'_> {
    /// Goes to the directories some flags name, one after the other.
    fn go<'t>(&mut self, directories: impl Iterator<Item = (&'t str, &'t Text)>) {
        for (value, word) in directories {
            let mut there = Whereabouts::clone(&self.directory);
            if word.dynamic || word.glob {
                there.unknown = true;
            } else {
                for place in &mut there.places {
                    *place = joined(place, value);
                }
                there.unknown &= !value.starts_with(['/', '~']);
            }
            self.directory = Cow::Owned(there);
        }
    }

    /// A word, or what stands at the end of it.
    fn value(&mut self, role: Role, value: &str, word: &Text) {
        let unknown = crate::shell::UNKNOWN.to_string();
        let text = match (word.pattern.as_deref(), word.text.strip_suffix(value)) {
            (Some(pattern), Some("")) => pattern,
            (Some(pattern), Some(front)) => pattern.strip_prefix(front).unwrap_or(&unknown),
            (Some(_), None) => &unknown,
            (None, _) if word.dynamic => &unknown,
            (None, _) => value,
        };
        self.path(role, text, value, word);
    }

    /// What happens to a path. `text` is what is known of it, `written` how it is written.
    fn path(&mut self, role: Role, text: &str, written: &str, word: &Text) {
        // An address of a file on this machine.
        let here = role == Role::Connect && is_file_address(text);
        let role = if here { Role::Read } else { role };
        let kinds: &[EffectKind] = match role {
            Role::Text => return,
            Role::Read => &[EffectKind::Read],
            Role::Write => &[EffectKind::Write],
            Role::Append => &[EffectKind::Append],
            Role::Delete => &[EffectKind::Delete],
            Role::Mode => &[EffectKind::Mode],
            Role::Owner => &[EffectKind::Owner],
            Role::List => &[EffectKind::List],
            Role::Run => &[EffectKind::Run],
            Role::Send => &[EffectKind::Send, EffectKind::Read],
            Role::Either => &[EffectKind::Either],
            Role::Move => &[EffectKind::Read, EffectKind::Delete],
            Role::Connect => {
                self.host(EffectKind::Connect, text, word);
                return;
            }
        };
        if text.is_empty() || is_stream(text) {
            return;
        }
        if self.found.len() >= MAX_EFFECTS {
            let kind = kinds.iter().find_map(|kind| OpaqueKind::of_effect(*kind));
            self.given_up = self.given_up.or(kind);
            return;
        }
        if self.remote
            && let Some(host) = remote_host(text)
        {
            self.host_named(EffectKind::Connect, host, text, word);
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
        let directory = &*self.directory;
        let lost = directory.unknown && !text.starts_with(['/', '~']);
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
        for mut place in places {
            if word.dynamic && text.contains(crate::shell::UNKNOWN) {
                // As the call writes it: what stands for the unknown is no letter.
                written.clone_into(&mut place.named);
            }
            for kind in kinds {
                self.add(*kind, place.clone(), lost, word);
            }
        }
    }

    fn add(&mut self, kind: EffectKind, place: Place, lost: bool, word: &Text) {
        let destroys = matches!(
            kind,
            EffectKind::Delete | EffectKind::Mode | EffectKind::Owner
        );
        self.found.push(Effect {
            text: word.text.clone(),
            classes: place.classes,
            place,
            recursive: destroys && self.recursive,
            dynamic: lost || word.dynamic,
            glob: word.glob,
            span: word.span.clone(),
            ..Effect::plain(kind, self.command)
        });
    }

    fn host(&mut self, kind: EffectKind, address: &str, word: &Text) {
        if let Some(host) = network::host(address) {
            self.host_named(kind, host, address, word);
        }
    }

    fn host_named(&mut self, kind: EffectKind, host: String, address: &str, word: &Text) {
        self.found.push(Effect {
            text: address.to_owned(),
            classes: network::classes(&host),
            host: Some(host),
            span: word.span.clone(),
            ..Effect::plain(kind, self.command)
        });
    }
}
