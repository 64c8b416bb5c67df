//! Addresses that stand in a tool's arguments or in variables, as effects.

use serde_json::{Map, Value};

use super::places::Places;
use super::{Effect, EffectKind};
use crate::address::{self, Form, Leads};
use crate::catalogue;
use crate::rules::{Program, Role};
use crate::shell::{Command, Text, UNKNOWN, Whereabouts};
use crate::understand::Action;

/// What a word that plays this role may be besides a URL.
pub(super) fn form(role: Role) -> Form {
    match role {
        Role::Remote => Form::Remote,
        Role::Address => Form::Connection,
        Role::Image => Form::Image,
        Role::Text
        | Role::Read
        | Role::Write
        | Role::Append
        | Role::Delete
        | Role::Mode
        | Role::Owner
        | Role::List
        | Role::Run
        | Role::Connect
        | Role::Send
        | Role::Either
        | Role::Move => Form::Url,
    }
}

/// Ends of the names of arguments that are addresses, compared without case, `_` and `-`.
const ADDRESS_WORDS: &[&str] = &[
    "url",
    "urls",
    "uri",
    "uris",
    "href",
    "hrefs",
    "link",
    "links",
    "endpoint",
    "endpoints",
    "host",
    "hostname",
    "website",
    "webpage",
    "webhook",
];

/// The same of arguments that are often something else: only what begins with a scheme counts.
const MAY_BE_ADDRESSES: &[&str] = &[
    "address",
    "addresses",
    "destination",
    "from",
    "location",
    "page",
    "remote",
    "resource",
    "server",
    "site",
    "source",
    "src",
    "target",
];

/// The addresses among the arguments of a call that runs no command.
pub(super) fn of_arguments(action: &Action, places: &Places<'_>) -> Vec<Effect> {
    let tool = action.call.tool();
    let mut arguments = Arguments {
        places,
        // What is only written down or searched for leads nowhere, unless it names a file.
        only_files: catalogue::is_known(tool) && !catalogue::reaches_network(tool),
        texts: catalogue::texts_with_addresses(tool),
        found: Vec::new(),
    };
    arguments.of_map(action.call.input());
    arguments.found
}

/// Whether the name of an argument ends like one of these, without case and separators.
fn ends_like(key: &str, words: &[&str]) -> bool {
    if !key.is_ascii() {
        let letters = key.chars().filter(|letter| !matches!(letter, '_' | '-'));
        let folded: String = letters.flat_map(char::to_lowercase).collect();
        return words.iter().any(|word| folded.ends_with(word));
    }
    // What nearly every key is: compared from its end, without a copy.
    words.iter().any(|word| {
        let letters = key.bytes().rev();
        let mut letters = letters.filter(|byte| !matches!(byte, b'_' | b'-'));
        let mut wanted = word.bytes().rev();
        wanted.all(|wanted| {
            letters
                .next()
                .is_some_and(|byte| byte.eq_ignore_ascii_case(&wanted))
        })
    })
}

struct Arguments<'a> {
    places: &'a Places<'a>,
    only_files: bool,
    /// Arguments that are prose with addresses in it.
    texts: &'static [(&'static str, &'static str)],
    found: Vec<Effect>,
}

impl Arguments<'_> {
    fn of_map(&mut self, map: &Map<String, Value>) {
        for (key, value) in map {
            let named = ends_like(key, ADDRESS_WORDS)
                || ends_like(key, MAY_BE_ADDRESSES)
                    && value.as_str().is_none_or(address::has_scheme);
            let prose = self.texts.iter().any(|(_, text)| *text == key.as_str());
            self.of_value(value, named, prose);
        }
    }

    fn of_value(&mut self, value: &Value, named: bool, prose: bool) {
        match value {
            Value::String(text) if prose => {
                for word in text.split(is_gap) {
                    if address::has_scheme(word) {
                        self.address(word);
                    }
                }
            }
            Value::String(text) if named && looks_like_one(text) => self.address(text),
            Value::String(text) if address::is_file(text) && !self.only_files => self.address(text),
            Value::Array(items) => items
                .iter()
                .for_each(|item| self.of_value(item, named, prose)),
            Value::Object(map) => self.of_map(map),
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn address(&mut self, text: &str) {
        let here = Whereabouts::default();
        for leads in address::read(text, Form::Url) {
            match leads {
                Leads::To(address) if !self.only_files => self.found.push(Effect {
                    text: text.to_owned(),
                    classes: address.classes,
                    address: Some(Box::new(address)),
                    ..nowhere(EffectKind::Connect)
                }),
                Leads::ToFile(path) => {
                    for place in self.places.of_word(&path, &here) {
                        // What is fetched is shown.
                        for kind in [EffectKind::Read, EffectKind::Show] {
                            self.found.push(Effect {
                                text: text.to_owned(),
                                classes: place.classes,
                                place: place.clone(),
                                ..nowhere(kind)
                            });
                        }
                    }
                }
                Leads::To(_) | Leads::ToName => {}
            }
        }
    }
}

/// Whether a text stands for an address and not for a sentence or a name.
fn looks_like_one(text: &str) -> bool {
    let text = text.trim();
    address::has_scheme(text)
        || !text.contains(char::is_whitespace)
            && (text.contains(['.', ':', '[']) || text.eq_ignore_ascii_case("localhost"))
            && !text.starts_with('.')
            && (!text.starts_with('/') || text.starts_with("//"))
}

/// What addresses are set off by in prose.
fn is_gap(letter: char) -> bool {
    letter.is_whitespace() || "\"'`<>()|,;".contains(letter)
}

/// An effect of a call that is no command.
pub(super) fn nowhere(kind: EffectKind) -> Effect {
    Effect {
        kind,
        text: String::new(),
        place: super::places::Place::default(),
        classes: 0,
        recursive: false,
        forced: false,
        address: None,
        names_only: false,
        dynamic: false,
        glob: false,
        span: 0..0,
    }
}

/// The addresses a program takes from variables that are set for it, or before it in the line.
pub(super) fn of_variables(
    action: &Action,
    index: usize,
    program: Option<&Program>,
    found: &mut Vec<Effect>,
) {
    let Some(view) = action.commands.get(index) else {
        return;
    };
    let wanted = program.map_or(&[][..], |program| program.addresses_in);
    if wanted.is_empty() {
        return;
    }
    let command = &view.command;
    for other in action.commands.iter().take(index + 1) {
        let other = &other.command;
        // What is set for another program is not set for this one.
        let own = std::ptr::eq(other, command) || other.words.is_empty();
        for assignment in other.assignments.iter().filter(|_| own) {
            if wanted.contains(&assignment.name.as_str()) {
                let value = &assignment.value;
                variable(command, &assignment.name, &value.text, value, found);
            }
        }
        let declares = matches!(
            other.program(),
            Some("export" | "declare" | "typeset" | "readonly" | "env" | "setenv")
        );
        for word in other.words.iter().skip(1).filter(|_| declares) {
            if let Some((name, value)) = word.text.split_once('=')
                && wanted.contains(&name)
            {
                variable(command, name, value, word, found);
            }
        }
    }
}

fn variable(command: &Command, name: &str, value: &str, word: &Text, found: &mut Vec<Effect>) {
    let unknown = UNKNOWN.to_string();
    let value = if word.dynamic { &unknown } else { value };
    if value.starts_with('/') {
        // The directory of a socket.
        return;
    }
    for leads in address::read(value, Form::Url) {
        if let Leads::To(address) = leads {
            found.push(Effect {
                text: format!(
                    "{name}={}",
                    word.text.rsplit('=').next().unwrap_or_default()
                ),
                classes: address.classes,
                dynamic: word.dynamic,
                address: Some(Box::new(address)),
                names_only: true,
                span: word.span.clone(),
                ..Effect::plain(EffectKind::Connect, command)
            });
        }
    }
}
