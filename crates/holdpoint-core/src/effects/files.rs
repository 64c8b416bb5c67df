//! The effects of a command on paths and hosts: its operands, values of flags and redirects.

use std::borrow::Cow;

use super::places::{Place, Places, SECRET, is_stream};
use super::reading::Reading;
use super::{Effect, EffectKind, GivenUp, Limit, addresses, inserted, too_deep};
use crate::address::{self, Address, Form, LOOPBACK, Leads};
use crate::opaque::OpaqueKind;
use crate::paths::base_name;
use crate::rules::{CREDENTIAL_FLAGS, Role, target_bit};
use crate::shell::{Command, Container, Redirection, RedirectionKind, Text, Whereabouts, joined};

const WORKSPACE_ROOT: u64 = target_bit("workspace-root");
const HOME: u64 = target_bit("home");
/// What decides what agents may do.
const GUARDED: u64 =
    target_bit("agent-config") | target_bit("hook-registration") | target_bit("gate-config");

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
    let inside;
    let start = match command.container {
        // What is seen inside was put together with where it runs there.
        Some(_) => {
            inside = Whereabouts::default();
            &inside
        }
        None => &*command.directory,
    };
    let collector = &mut Collector {
        command,
        places,
        recursive: reading.is_recursive(),
        remote: reading.program().is_some_and(|program| program.remote),
        takes_data: command.program().is_none_or(crate::supposed::is_data),
        revisions: reading.program().is_some_and(|program| program.revisions),
        items: match reading.program().is_some_and(|program| program.items) {
            true => Items::BehindAddress,
            false => Items::Nowhere,
        },
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
    brought_along(collector, reading);
    for file in inserted::files(command.program(), reading) {
        collector.shown(file.path, file.path, file.word);
    }
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
        .filter(|effect| effect.address.is_some())
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
            .is_some_and(|word| !remote_hosts(&word.text).is_empty());
    let mut items = collector.items;
    let credentials = credentials(reading);
    for (at, (word, role)) in reading.operand_roles().enumerate() {
        if let Some((role, rest)) = reading.prefixed(&word.text) {
            collector.value(role, rest, word);
            continue;
        }
        if items == Items::Follow {
            collector.item(&word.text, word);
            continue;
        }
        if items == Items::BehindAddress && !is_method(&word.text) {
            items = Items::Follow;
        }
        // `HEAD:.env`, `:.env`, `:0:.env`.
        if collector.revisions
            && role == Role::Read
            && let Some((_, path)) = word.text.split_once(':')
        {
            let path =
                path.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ':');
            collector.value(role, path, word);
        }
        // What goes to another machine leaves this one.
        let leaves = to_remote && at + 1 < count && matches!(role, Role::Read | Role::Move);
        let proves = credentials.iter().any(|one| std::ptr::eq(*one, word));
        let role = if leaves { Role::Send } else { role };
        if role == Role::Either && proves {
            collector.credential(&word.text, word);
        } else {
            collector.value(role, &word.text, word);
            if !proves && is_no_path(role) {
                collector.named_secret(&word.text, word);
            }
        }
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

/// Whether a word of this role is no path, as the program's description has it.
fn is_no_path(role: Role) -> bool {
    matches!(
        role,
        Role::Text | Role::Connect | Role::Address | Role::Remote | Role::Image
    )
}

/// Whether a flag says by its name that a program is told its settings by it, or proves who it is.
fn is_credential(flag: &str) -> bool {
    const PARTS: [&str; 12] = [
        "auth", "cert", "conf", "cred", "env", "exclude", "identity", "ignore", "key", "pass",
        "secret", "token",
    ];
    CREDENTIAL_FLAGS.contains(&flag)
        || (flag.starts_with("--") && PARTS.iter().any(|part| flag.contains(part)))
}

/// The words by which a program is told its settings, or proves who it is.
fn credentials<'c>(reading: &Reading<'c>) -> Vec<&'c Text> {
    let flags = reading.bare_flags();
    flags
        .filter(|(name, _)| CREDENTIAL_FLAGS.contains(name))
        .filter_map(|(_, at)| reading.words().get(at + 1))
        .collect()
}

/// What a copy into the workspace, the directory it runs in or the home puts there under its own
/// name, where that is a name that decides what agents may do: `cp -r evil/.claude .`.
fn brought_along(collector: &mut Collector<'_>, reading: &Reading<'_>) {
    let copies = matches!(
        collector.command.program(),
        Some("cp" | "gcp" | "mv" | "gmv" | "rsync" | "ditto" | "install" | "ginstall")
    );
    if !copies {
        return;
    }
    let operands: Vec<&Text> = reading.own_operands().collect();
    let Some((last, sources)) = operands.split_last() else {
        return;
    };
    let into = reading.values_of(&["-t", "--target-directory"]).next();
    let (target, sources) = match into {
        Some((directory, _)) => (directory, operands.as_slice()),
        None => (last.text.as_str(), sources),
    };
    let home = matches!(target.trim_end_matches('/'), "." | "" | "~" | "./.");
    let rooted = collector.places.of(target).classes & (WORKSPACE_ROOT | HOME) != 0;
    if target.is_empty() || !(home || rooted) {
        return;
    }
    for source in sources {
        let whole = source.text.ends_with("/.") || source.text.ends_with('/');
        let path = source.text.trim_end_matches("/.").trim_end_matches('/');
        let name = base_name(path);
        if whole {
            // All that is in it comes along: what that is the disk says.
            for name in collector.places.guarded_in(path) {
                let there = joined(target, name);
                collector.path(Role::Write, &there, &source.text, source);
            }
        }
        let there = joined(target, name);
        let classes = collector.places.of(&there).classes;
        if name.starts_with('.') && (classes & GUARDED != 0 || source.glob) {
            collector.path(Role::Write, &there, &source.text, source);
        }
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
            .or_else(|| reading.cut_short_role(flag.name))
            .or_else(|| reading.program().is_none().then_some(Role::Either));
        // `-L1,5:file`.
        if let Some((value, word)) = flag.value
            && collector.revisions
            && flag.name == "-L"
            && let Some((_, path)) = value.split_once(':')
        {
            collector.value(Role::Read, path, word);
        }
        let Some((value, word)) = flag.value else {
            continue;
        };
        if role.is_none_or(is_no_path) && !is_credential(flag.name) {
            collector.named_secret(value, word);
        }
        let Some(role) = role else {
            continue;
        };
        if goes_to.contains(&flag.name) {
            let inside = std::mem::replace(&mut collector.directory, Cow::Owned(start.clone()));
            collector.value(role, value, word);
            collector.directory = inside;
        } else if reading.is_at_file(flag.name) {
            collector.sent_file(role, value, reading.is_named_file(flag.name), word);
        } else if reading.is_bare_file(flag.name) {
            collector.cookies(value, word);
        } else if role == Role::Either && CREDENTIAL_FLAGS.contains(&flag.name) {
            collector.credential(value, word);
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

/// The path of this machine in what says where a container sees it: `~/data:/data:ro`,
/// `type=bind,source=/srv,target=/srv`.
fn mounted(text: &str) -> &str {
    if let Some((here, _)) = text.split_once(":/")
        && here.starts_with(['/', '~', '.'])
    {
        return here;
    }
    let fields = || text.split(',').filter_map(|field| field.split_once('='));
    let is_mount = fields().any(|(name, _)| matches!(name, "target" | "dst" | "destination"));
    let source = fields().find(|(name, _)| matches!(*name, "source" | "src"));
    match source {
        Some((_, path)) if is_mount => path,
        Some(_) | None => text,
    }
}

/// The files that are named after an address: `curl -O`, `wget` without a name.
fn downloads(collector: &mut Collector<'_>, reading: &Reading<'_>) {
    for (name, word) in reading.named_by_address() {
        collector.path(Role::Write, name, name, word);
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
            for leads in address::read(address, Form::Url) {
                if let Leads::To(address) = leads {
                    collector.connect(address, text, false, &redirect.target);
                }
            }
            if let Some(effect) = collector.found.last_mut() {
                effect.place.path = Some(text.clone());
            }
            continue;
        }
        collector.value(role, &redirect.target.text, &redirect.target);
    }
}

/// Whether what a command leaves in a file holds nothing but what is meant to be shared, or what it has just
/// made: `touch .env`, `cp .env.example .env`, `openssl genrsa -out server.key`.
fn makes_anew(command: &Command, written: &Text) -> bool {
    if !command.redirects.is_empty() {
        return false;
    }
    let words = command.words.get(1..).unwrap_or_default();
    match command.program() {
        Some("touch" | "gtouch" | "openssl" | "ssh-keygen" | "mkcert" | "certtool" | "step") => {
            true
        }
        Some("cp" | "gcp" | "install" | "ginstall") => {
            let mut sources = words
                .iter()
                .filter(|word| !word.text.starts_with('-') && word.text != written.text)
                // The mode behind `-m`.
                .filter(|word| !word.text.bytes().all(|byte| byte.is_ascii_digit()))
                .peekable();
            sources.peek().is_some() && sources.all(|word| !word.dynamic && is_example(&word.text))
        }
        Some(_) | None => false,
    }
}

/// Whether a word is the address of a file here: `file:///x`, `FILE:/x`.
fn is_file_address(text: &str) -> bool {
    let scheme = text.get(..6).unwrap_or_default();
    scheme.eq_ignore_ascii_case("file:/")
}

/// Whether a file is called an example of another.
fn is_example(path: &str) -> bool {
    let name = crate::paths::base_name(path).to_ascii_lowercase();
    let mut parts = name.split(['.', '-', '_']);
    parts.any(|part| {
        matches!(
            part,
            "example"
                | "examples"
                | "sample"
                | "template"
                | "tmpl"
                | "dist"
                | "default"
                | "defaults"
        )
    })
}

/// What a path a command names in its container is on this machine.
fn on_host(container: &Container, command: &Command, text: &str) -> Option<String> {
    let places = &command.directory.places;
    places
        .iter()
        .find_map(|place| container.on_host(&joined(place, text)))
}

/// The hosts of `host:path`; none if it is a path here.
fn remote_hosts(word: &str) -> Vec<Address> {
    if !word.contains(':') {
        return Vec::new();
    }
    let leads = address::read(word, Form::Remote).into_iter();
    leads
        .filter_map(|one| match one {
            Leads::To(address) => Some(address),
            Leads::ToFile(_) | Leads::ToName => None,
        })
        .collect()
}

/// Where the words stand that say what is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Items {
    Nowhere,
    /// Behind the address, which comes first or behind a method.
    BehindAddress,
    Follow,
}

/// `POST`.
fn is_method(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|letter| letter.is_ascii_uppercase())
}

struct Collector<'a> {
    command: &'a Command,
    places: &'a Places<'a>,
    recursive: bool,
    remote: bool,
    items: Items,
    /// Its words are texts and names, whatever they look like.
    takes_data: bool,
    /// Operands may be files of another revision.
    revisions: bool,
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
    /// A file a program is told its settings by, or proves who it is with: that it is a secret is
    /// what it is there for.
    fn credential(&mut self, value: &str, word: &Text) {
        let before = self.found.len();
        self.value(Role::Either, value, word);
        for effect in self.found.iter_mut().skip(before) {
            effect.classes &= !SECRET;
        }
    }

    fn value(&mut self, role: Role, value: &str, word: &Text) {
        let mut letters = [0; 4];
        let unknown: &str = crate::shell::UNKNOWN.encode_utf8(&mut letters);
        let text = match &word.pattern {
            Some(pattern) => match word.text.strip_suffix(value) {
                Some("") => pattern,
                Some(front) => pattern.strip_prefix(front).unwrap_or(unknown),
                None => unknown,
            },
            None if word.dynamic => unknown,
            None => value,
        };
        let text = if role == Role::Either {
            mounted(text)
        } else {
            text
        };
        self.path(role, text, value, word);
    }

    /// What happens to a path. `text` is what is known of it, `written` how it is written.
    fn path(&mut self, role: Role, text: &str, written: &str, word: &Text) {
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
            Role::Connect | Role::Remote | Role::Address | Role::Image => {
                self.address(role, text, written, word);
                return;
            }
        };
        if text.is_empty() || is_stream(text) {
            return;
        }
        // Many programs take an address where they take a file.
        if matches!(role, Role::Read | Role::Either) && is_file_address(text) {
            self.address(Role::Connect, text, written, word);
            return;
        }
        if self.found.len() >= MAX_EFFECTS {
            let kind = kinds.iter().find_map(|kind| OpaqueKind::of_effect(*kind));
            self.given_up = self.given_up.or(kind);
            return;
        }
        if self.remote {
            let hosts = remote_hosts(text);
            if !hosts.is_empty() {
                for host in hosts {
                    self.connect(host, text, false, word);
                }
                return;
            }
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
            | Role::Remote
            | Role::Address
            | Role::Image
            | Role::Send
            | Role::Either => self.places.of_word(text, directory),
        };
        for mut place in places {
            if word.dynamic && text.contains(crate::shell::UNKNOWN) {
                // As the call writes it: what stands for the unknown is no letter.
                written.clone_into(&mut place.named);
            }
            let Some((last, others)) = kinds.split_last() else {
                continue;
            };
            for kind in others {
                self.add(*kind, place.clone(), lost, word);
            }
            self.add(*last, place, lost, word);
        }
    }

    fn add(&mut self, kind: EffectKind, place: Place, lost: bool, word: &Text) {
        let destroys = matches!(
            kind,
            EffectKind::Delete | EffectKind::Mode | EffectKind::Owner
        );
        let changes = destroys || matches!(kind, EffectKind::Write | EffectKind::Append);
        let twin = match changes && !word.dynamic && !word.glob {
            true => self.places.twin_classes(&place),
            false => 0,
        };
        let mut place = place;
        let anew = kind == EffectKind::Write && place.classes & SECRET != 0 && !word.dynamic;
        if anew && !word.glob && self.places.is_free(&place) && makes_anew(self.command, word) {
            place.classes &= !SECRET;
        }
        // What a pattern could be called matters less than what is there.
        if kind == EffectKind::Delete && word.glob && !word.dynamic {
            place.classes = self
                .places
                .classes_of_names(&place)
                .unwrap_or(place.classes);
        }
        self.found.push(Effect {
            text: word.text.clone(),
            classes: place.classes | twin,
            place,
            recursive: destroys && self.recursive,
            dynamic: lost || word.dynamic,
            glob: word.glob,
            span: word.span.clone(),
            ..Effect::plain(kind, self.command)
        });
    }

    /// A word that is an address, or may be one: it leads to another machine or to a file here.
    fn address(&mut self, role: Role, text: &str, written: &str, word: &Text) {
        let names_only = role != Role::Connect;
        for leads in address::read(text, addresses::form(role)) {
            match leads {
                Leads::To(address) => self.connect(address, text, names_only, word),
                Leads::ToFile(path) if names_only => self.path(Role::Read, &path, written, word),
                // What is fetched is printed.
                Leads::ToFile(path) => self.shown(&path, written, word),
                Leads::ToName => self.found.push(Effect {
                    names_only,
                    text: text.to_owned(),
                    span: word.span.clone(),
                    ..Effect::plain(EffectKind::Connect, self.command)
                }),
            }
        }
    }

    fn connect(&mut self, address: Address, text: &str, names_only: bool, word: &Text) {
        self.found.push(Effect {
            text: text.to_owned(),
            classes: address.classes,
            dynamic: address.host.contains(crate::shell::UNKNOWN),
            address: Some(Box::new(address)),
            names_only,
            span: word.span.clone(),
            ..Effect::plain(EffectKind::Connect, self.command)
        });
    }

    /// The files of a value that is data unless it says so: `@file`, `name=@file;type=x`,
    /// `name=<file`, `name=@a,b`, and for some flags `name@file`.
    fn sent_file(&mut self, role: Role, value: &str, named: bool, word: &Text) {
        let files = value
            .strip_prefix('@')
            .or_else(|| value.split_once("=@").map(|(_, file)| file))
            .or_else(|| value.split_once("=<").map(|(_, file)| file))
            .or_else(|| {
                let (name, file) = value.split_once('@').filter(|_| named)?;
                (!name.contains('=')).then_some(file)
            });
        let Some(files) = files else {
            return;
        };
        let first = files.split(';').next().unwrap_or(files);
        self.sent_path(role, first, word);
        if first.contains(',') {
            for file in first.split(',') {
                self.sent_path(role, file, word);
            }
        }
    }

    fn sent_path(&mut self, role: Role, file: &str, word: &Text) {
        if file != "-" {
            self.value(role, file.trim_matches('"'), word);
        }
    }

    /// A word that is no path as far as the program is described, and yet the name of a secret: nobody says that the
    /// program does not read it.
    fn named_secret(&mut self, text: &str, word: &Text) {
        // A path, or the name of a key; a sentence is neither.
        let may_name = text.len() <= crate::paths::MAX_PATH
            && (text.contains(['.', '/']) || text.starts_with("id_"))
            && !text.contains(|sign: char| sign.is_whitespace() || sign == crate::shell::UNKNOWN);
        if word.dynamic || word.glob || !may_name || self.takes_data {
            return;
        }
        // `@file`, `name=file`, `name=@file`, `scheme:file`.
        let plain = text.rsplit(['=', '@']).next().unwrap_or(text);
        let plain = match plain.split_once(':') {
            Some((_, path)) if !path.starts_with("//") => path,
            Some(_) | None => plain,
        };
        let directory = self.directory.clone();
        for place in self.places.of_word(plain, &directory) {
            if place.classes & SECRET != 0 && self.found.len() < MAX_EFFECTS {
                self.add(EffectKind::Either, place, false, word);
            }
        }
    }

    /// A file that is read and printed.
    fn shown(&mut self, path: &str, written: &str, word: &Text) {
        let before = self.found.len();
        self.path(Role::Read, path, written, word);
        let read = self.found.get(before..).unwrap_or_default().to_vec();
        self.found.extend(read.into_iter().map(|effect| Effect {
            kind: EffectKind::Show,
            ..effect
        }));
    }

    /// `name=value`, or a file of such: what stands in an ordinary one belongs to the host anyway.
    fn cookies(&mut self, value: &str, word: &Text) {
        if value.contains('=') {
            return;
        }
        let before = self.found.len();
        self.value(Role::Send, value, word);
        let sent = self.found.split_off(before.min(self.found.len()));
        self.found.extend(
            sent.into_iter()
                .filter(|effect| effect.kind != EffectKind::Send || effect.classes & SECRET != 0),
        );
    }

    /// `name=value`, `name:=@file`, `name@file`, as HTTPie takes them.
    fn item(&mut self, text: &str, word: &Text) {
        let sign = text.find(['=', ':', '@']).unwrap_or(text.len());
        let (_, rest) = text.split_at_checked(sign).unwrap_or((text, ""));
        let file = rest.trim_start_matches(['=', ':']).strip_prefix('@');
        if let Some(file) = file {
            let file = file.split(';').next().unwrap_or(file);
            self.sent_path(Role::Send, file, word);
        }
    }
}
