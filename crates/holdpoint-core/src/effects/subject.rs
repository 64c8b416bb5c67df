//! What rules are matched against: each command of a call, or the call itself.

use super::places::Places;
use super::reading::{ReadWords, Reading};
use super::{Effect, EffectKind, GivenUp, databases, files, git, opaque_bit, too_deep};
use serde_json::Value;

use crate::catalogue;
use crate::paths::Surroundings;
use crate::rules::{HELPFUL, SENDERS, traces};
use crate::shell::{self, Command, Reached, Redirection, RedirectionKind, Text, Whereabouts};
use crate::sql;
use crate::understand::{Action, CommandView};

/// One command, or one call that is none, and everything known of it.
#[derive(Debug)]
pub(crate) struct Subject<'v> {
    /// The command's place in the call; none for the call itself.
    pub(crate) command: Option<usize>,
    pub(crate) tool: &'v str,
    pub(crate) program: Option<&'v str>,
    pub(crate) reading: Option<Reading<'v>>,
    /// The words behind the program that are its own.
    pub(crate) words: &'v [Text],
    /// Variables set for it or exported by it.
    pub(crate) assigns: Vec<&'v str>,
    /// The programs that run it, the nearest first.
    pub(crate) within: Vec<&'v str>,
    /// Kinds of statements that reach a database.
    pub(crate) sql: &'v [&'static str],
    pub(crate) effects: &'v [Effect],
    /// All bits of the effects' kinds, and of what they are about.
    pub(crate) mask: u64,
    pub(crate) targets: u64,
    /// The bit of why what it runs is not known.
    pub(crate) opaque: u64,
    pub(crate) traces: Traces,
}

/// What was found out about one command, or about a call that is none, when it was read.
#[derive(Debug)]
pub(crate) struct Meaning {
    read: Option<ReadWords>,
    /// How many words of the command are its own.
    own: usize,
    effects: Vec<Effect>,
    sql: Vec<&'static str>,
    mask: u64,
    targets: u64,
    traces: Traces,
    /// There is more than the effects say.
    pub(crate) given_up: Option<GivenUp>,
    /// It does nothing but print its help.
    only_helps: bool,
}

/// What [`traces`] says of a subject.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traces {
    pub(crate) program: u128,
    /// Of the first operand, with which a subcommand begins.
    pub(crate) subcommand: u128,
    /// Of every word behind the program that is its own.
    pub(crate) words: u128,
    pub(crate) tool: u128,
    /// Of every component of the effects' places.
    pub(crate) paths: u128,
}

impl Traces {
    fn of(
        program: Option<&str>,
        reading: Option<Reading<'_>>,
        words: &[Text],
        effects: &[Effect],
    ) -> Self {
        let first = reading.and_then(|reading| reading.operands().next());
        let paths = effects
            .iter()
            .flat_map(|effect| [&effect.place.path, &effect.place.from_home])
            .flatten();
        Self {
            program: program.map(traces::of_word).unwrap_or_default(),
            subcommand: first
                .map(|word| traces::of_word(&word.text))
                .unwrap_or_default(),
            words: words
                .iter()
                .fold(0, |all, word| all | traces::of_word(&word.text)),
            tool: 0,
            paths: paths.fold(0, |all, path| all | traces_of_path(path)),
        }
    }
}

fn traces_of_path(path: &str) -> u128 {
    // Other letters may become ASCII ones where they are compared in lower case.
    if !path.is_ascii() {
        return u128::MAX;
    }
    path.split('/')
        .fold(0, |all, name| all | traces::of_component(name))
}

impl Subject<'_> {
    /// Whether nothing is known or feared of it but that it looks at things.
    pub(crate) fn is_read_only(&self) -> bool {
        let looking = EffectKind::Run.bit() | EffectKind::Read.bit() | EffectKind::List.bit();
        self.opaque == 0 && self.mask & !looking == 0
    }
}

/// What the commands of a call mean, or the call itself if it runs none.
pub(crate) fn meanings(
    action: &Action,
    around: &Surroundings<'_>,
    generated: &[String],
) -> Vec<Meaning> {
    let places = Places::new(around, generated);
    if action.commands.is_empty() {
        let mut effects = effects_of_call(action, &places);
        let sql = statements_of_call(action, &mut effects);
        return vec![Meaning::new(None, None, effects, sql)];
    }
    let mut found: Vec<Found> = Vec::with_capacity(action.commands.len());
    for (index, view) in action.commands.iter().enumerate() {
        let own = own_words(action, index);
        let read = view
            .program()
            .map(|name| ReadWords::of(&view.command, name, own));
        let reading = read
            .as_ref()
            .map(|read| read.of_command(&view.command, own));
        let outer = redirects_of_wrappers(action, index);
        let (effects, given_up) = effects_of(view, reading, &outer, &places, around);
        found.push(Found {
            own,
            read,
            effects,
            given_up,
        });
    }
    let sent: Vec<Vec<Effect>> = (0..found.len())
        .map(|index| sent_on(action, index, &found))
        .collect();
    let known = action.commands.iter().zip(found).zip(sent);
    known
        .map(|((view, mut found), sent)| {
            let mut effects = std::mem::take(&mut found.effects);
            effects.extend(sent);
            let reading = found.reading(view);
            let sql = match (view.program(), reading) {
                (Some(name), Some(reading)) => {
                    databases::statements(&view.command, name, &reading, around, &mut effects)
                }
                (_, _) => Vec::new(),
            };
            Meaning::new(Some(view), Some(found), effects, sql)
        })
        .collect()
}

/// What is found of a command by itself.
struct Found {
    own: usize,
    read: Option<ReadWords>,
    effects: Vec<Effect>,
    given_up: Option<GivenUp>,
}

impl Found {
    fn reading<'c>(&'c self, view: &'c CommandView) -> Option<Reading<'c>> {
        let read = self.read.as_ref()?;
        Some(read.of_command(&view.command, self.own))
    }
}

impl Meaning {
    fn new(
        view: Option<&CommandView>,
        found: Option<Found>,
        effects: Vec<Effect>,
        sql: Vec<&'static str>,
    ) -> Self {
        let reading = view
            .zip(found.as_ref())
            .and_then(|(view, found)| found.reading(view));
        let program = view.and_then(name_of);
        let own = found.as_ref().map_or(0, |found| found.own);
        Self {
            own,
            given_up: match &found {
                Some(found) => found.given_up,
                None => too_deep(&effects),
            },
            mask: effects.iter().fold(0, |mask, one| mask | one.kind.bit()),
            targets: effects.iter().fold(0, |bits, one| bits | one.classes),
            traces: Traces::of(program, reading, words_of(view, own), &effects),
            only_helps: only_helps(program, reading),
            read: found.and_then(|found| found.read),
            effects,
            sql,
        }
    }

    /// What the command does.
    pub(crate) fn effects(&self) -> &[Effect] {
        &self.effects
    }

    /// The words of the command as its program reads them; none if that is not known.
    pub(crate) fn reading<'c>(&'c self, view: &'c CommandView) -> Option<Reading<'c>> {
        let read = self.read.as_ref()?;
        Some(read.of_command(&view.command, self.own))
    }
}

/// The words behind the program that are its own.
fn words_of(view: Option<&CommandView>, own: usize) -> &[Text] {
    let words = view.and_then(|view| view.command.words.get(1..own));
    words.unwrap_or_default()
}

/// The program of a command, the shell's own among them.
fn name_of(view: &CommandView) -> Option<&str> {
    view.program().or_else(|| read_by_shell(&view.command))
}

/// The subjects of a call.
pub(crate) fn subjects(action: &Action) -> impl Iterator<Item = Subject<'_>> {
    let meanings = action.meanings.iter().enumerate();
    let tool = traces::of_word(action.call.tool());
    meanings
        .filter(|(_, meaning)| !meaning.only_helps)
        .map(move |(index, meaning)| {
            let view = action.commands.get(index);
            let reading = view.and_then(|view| meaning.reading(view));
            let opaque = view
                .map_or(&[][..], |view| &view.command.opaque)
                .iter()
                .copied();
            Subject {
                command: view.map(|_| index),
                tool: action.call.tool(),
                program: view.and_then(name_of),
                reading,
                words: words_of(view, meaning.own),
                assigns: view.map_or_else(Vec::new, |view| assigns(&view.command)),
                within: view.map_or_else(Vec::new, |view| within(action, &view.command)),
                sql: &meaning.sql,
                effects: &meaning.effects,
                mask: meaning.mask,
                targets: meaning.targets,
                opaque: opaque.map(opaque_bit).fold(0, |all, bit| all | bit),
                traces: Traces {
                    tool,
                    ..meaning.traces
                },
            }
        })
}

fn only_helps(program: Option<&str>, reading: Option<Reading<'_>>) -> bool {
    program.is_some_and(|name| HELPFUL.binary_search(&name).is_ok())
        && reading.is_some_and(|reading| {
            let mut flags = reading.flags();
            flags.any(|flag| flag.name == "--help" && flag.value.is_none())
        })
}

/// How many words of a command are its own: what follows is a command it runs.
fn own_words(view: &Action, index: usize) -> usize {
    let Some(command) = view.commands.get(index) else {
        return 0;
    };
    let words = &command.command.words;
    let mut own = words.len();
    for inner in view.commands.iter().skip(index + 1) {
        let runs =
            matches!(inner.command.reached, Reached::Within { wrapper, .. } if wrapper == index);
        let Some(first) = inner.command.words.first().filter(|_| runs) else {
            continue;
        };
        let place = words
            .iter()
            .skip(1)
            .position(|word| word.span == first.span && word.text == first.text);
        let more = place.is_some_and(|place| place + 2 < words.len());
        let flag = |place| {
            words
                .get(place)
                .is_some_and(|word: &Text| word.text.starts_with('-'))
        };
        // `sort --compress-program zip x`: what is run is the value of a flag, and `x` no word of it.
        let value = more && inner.command.words.len() == 1 && place.is_some_and(flag);
        if let Some(place) = place.filter(|_| !value) {
            // The program it runs is still a word of its own: `sudo su`, `npx github:a/b`.
            own = own.min(place + 2);
        }
    }
    own
}

fn effects_of(
    view: &CommandView,
    reading: Option<Reading<'_>>,
    outer: &[&Redirection],
    places: &Places<'_>,
    around: &Surroundings<'_>,
) -> (Vec<Effect>, Option<GivenUp>) {
    let command = &view.command;
    let mut found = Vec::new();
    let given_up = match reading {
        Some(reading) => {
            let given_up = files::effects(command, &reading, outer, places, &mut found);
            let plain = reading.effects();
            for kind in EffectKind::ALL {
                if plain & (1 << (kind as u32)) != 0 {
                    found.push(Effect::plain(kind, command));
                }
            }
            if view.program() == Some("git") {
                git::effects(command, &reading, around, &mut found);
            }
            given_up
        }
        None => {
            let nothing = ReadWords::of(command, "", 0);
            let nothing = nothing.of_command(command, 0);
            files::effects(command, &nothing, outer, places, &mut found)
        }
    };
    if !command.opaque.is_empty() || given_up.is_some() {
        found.push(Effect::plain(EffectKind::Opaque, command));
    }
    (found, given_up)
}

/// The redirects of the programs a command is run by with its own words: `nohup yes > log`.
fn redirects_of_wrappers(view: &Action, index: usize) -> Vec<&Redirection> {
    let mut found = Vec::new();
    let mut inner = index;
    for _ in 0..8 {
        let Some(command) = view.commands.get(inner).map(|view| &view.command) else {
            break;
        };
        let Reached::Within { wrapper, .. } = command.reached else {
            break;
        };
        let Some(outer) = view.commands.get(wrapper).map(|view| &view.command) else {
            break;
        };
        let first = command.words.first();
        let same_words = first.is_some_and(|first| {
            let word = |word: &Text| word.span == first.span && word.text == first.text;
            outer.words.iter().any(word)
        });
        if !same_words {
            break;
        }
        found.extend(&outer.redirects);
        inner = wrapper;
    }
    found
}

/// A program that sends what it reads sends what is piped into it or put into its words.
fn sent_on(view: &Action, index: usize, found: &[Found]) -> Vec<Effect> {
    let effects = |at: usize| found.get(at).map(|found| found.effects.as_slice());
    let (Some(command), Some(own)) = (view.commands.get(index), effects(index)) else {
        return Vec::new();
    };
    let talks = own.iter().any(|effect| effect.kind == EffectKind::Connect);
    if !talks
        && command
            .program()
            .is_none_or(|name| SENDERS.binary_search(&name).is_err())
    {
        return Vec::new();
    }
    let span = &command.command.span;
    let mut sent: Vec<Effect> = own
        .iter()
        .filter(|effect| {
            effect.kind == EffectKind::Read
                && (redirected(&command.command, effect) || writes_to_network(&command.command))
        })
        .cloned()
        .collect();
    for (at, other) in view.commands.iter().enumerate() {
        let piped = command.command.fed_by.contains(&at);
        let inside = other.command.reached == Reached::Substituted
            && other.command.span.start >= span.start
            && other.command.span.end <= span.end;
        // Code that reads a file and talks to somebody may well say what it read.
        let sibling =
            reads_code(view, &command.command) && other.command.reached == command.command.reached;
        if piped || inside || sibling {
            let reads = effects(at).unwrap_or_default().iter();
            sent.extend(
                reads
                    .filter(|effect| effect.kind == EffectKind::Read)
                    .cloned(),
            );
        }
    }
    for effect in &mut sent {
        effect.kind = EffectKind::Send;
    }
    sent
}

/// Whether what a command prints goes to a socket bash opens.
fn writes_to_network(command: &Command) -> bool {
    command.redirects.iter().any(|redirect| {
        let target = &redirect.target.text;
        redirect.kind.writing_sign().is_some()
            && (target.starts_with("/dev/tcp/") || target.starts_with("/dev/udp/"))
    })
}

/// Whether a command stands for what the code of an interpreter does.
fn reads_code(view: &Action, command: &Command) -> bool {
    let Reached::Within { wrapper, .. } = command.reached else {
        return false;
    };
    view.commands
        .get(wrapper)
        .and_then(CommandView::program)
        .is_some_and(shell::is_interpreter)
}

fn redirected(command: &Command, effect: &Effect) -> bool {
    command
        .redirects
        .iter()
        .any(|redirect| redirect.target.span == effect.span)
}

/// What `done < file` reads, the shell's own `read` gets.
fn read_by_shell(command: &Command) -> Option<&'static str> {
    let reads = command
        .redirects
        .iter()
        .any(|redirect| redirect.kind == RedirectionKind::Read);
    (command.words.is_empty() && reads).then_some("read")
}

fn assigns(command: &Command) -> Vec<&str> {
    let mut names: Vec<&str> = command
        .assignments
        .iter()
        .map(|assignment| assignment.name.as_str())
        .collect();
    let declares = matches!(
        command.program(),
        Some("export" | "declare" | "local" | "readonly" | "typeset" | "env" | "setenv")
    );
    if declares {
        let env = command.program() == Some("env");
        for word in command.words.iter().skip(1) {
            if env && !word.text.contains('=') && !word.text.starts_with('-') {
                // What follows is the command it runs.
                break;
            }
            let name = word.text.split(['=', '+']).next().unwrap_or_default();
            if !name.starts_with('-') && !name.is_empty() {
                names.push(name);
            }
        }
    }
    names
}

fn within<'v>(view: &'v Action, command: &Command) -> Vec<&'v str> {
    let mut names = Vec::new();
    let mut reached = command.reached;
    while let Reached::Within { wrapper, .. } = reached {
        let Some(outer) = view.commands.get(wrapper) else {
            break;
        };
        names.extend(outer.program());
        reached = outer.command.reached;
        if names.len() > 32 {
            break;
        }
    }
    names
}

/// The effects of a call that is no command: the paths and addresses its arguments name.
fn effects_of_call(view: &Action, places: &Places<'_>) -> Vec<Effect> {
    let mut found = Vec::new();
    let here = Whereabouts::default();
    let tool = view.call.tool();
    for path in super::paths::of_arguments(view) {
        let kind = if path.kind == EffectKind::Either {
            catalogue::verb_by_name(tool)
        } else {
            path.kind
        };
        for place in spellings(&path.text)
            .iter()
            .flat_map(|text| places.of_word(text, &here))
        {
            found.push(Effect {
                kind,
                text: path.text.clone(),
                classes: place.classes,
                place,
                recursive: kind == EffectKind::Delete,
                forced: false,
                host: None,
                dynamic: false,
                glob: false,
                span: 0..0,
            });
        }
    }
    if !catalogue::is_known(tool) {
        let mut texts = Vec::new();
        for value in view.call.input().values() {
            path_like(value, &mut texts);
        }
        for text in texts {
            for place in spellings(text)
                .iter()
                .flat_map(|text| places.of_word(text, &here))
            {
                found.push(plain_effect(catalogue::verb_by_name(tool), text, place));
            }
        }
    }
    for (key, value) in view.call.input() {
        let Some(address) = value.as_str().filter(|text| text.contains("://")) else {
            continue;
        };
        if !key.to_ascii_lowercase().contains("ur") || address.len() > 4096 {
            continue;
        }
        if address.starts_with("file:") {
            for place in places.of_word(address, &here) {
                found.push(plain_effect(EffectKind::Read, address, place));
            }
        } else if let Some(host) = super::network::host(address) {
            found.push(Effect {
                kind: EffectKind::Connect,
                text: address.to_owned(),
                place: super::places::Place::default(),
                classes: super::network::classes(&host),
                recursive: false,
                forced: false,
                host: Some(host),
                dynamic: false,
                glob: false,
                span: 0..0,
            });
        }
    }
    found
}

fn plain_effect(kind: EffectKind, text: &str, place: super::places::Place) -> Effect {
    Effect {
        kind,
        text: text.to_owned(),
        classes: place.classes,
        place,
        recursive: false,
        forced: false,
        host: None,
        dynamic: false,
        glob: false,
        span: 0..0,
    }
}

/// A path as a tool may come to read it: as it is; without what is invisible, behind a NUL or at its
/// ends; with backslashes for slashes.
fn spellings(path: &str) -> Vec<String> {
    let mut found = vec![path.to_owned()];
    let visible = |c: &char| {
        !matches!(
            c,
            '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}'
        )
    };
    let cut = path.split('\0').next().unwrap_or_default();
    let cleaned: String = cut.trim().chars().filter(visible).collect();
    for other in [cleaned.replace('\\', "/"), cleaned] {
        if !other.is_empty() && !found.contains(&other) {
            found.push(other);
        }
    }
    found
}

/// The most texts of a call that are looked at.
const MOST_TEXTS: usize = 200;

/// The texts and keys of a value, however deep, that look like paths.
fn path_like<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    let looks = |text: &str| {
        text.len() <= 1024
            && !text.contains('\n')
            && (text.starts_with(['/', '~'])
                || text.starts_with("./")
                || text.starts_with("../")
                || text.starts_with("file:")
                || text.starts_with('.') && !text.contains(' '))
    };
    if found.len() >= MOST_TEXTS {
        return;
    }
    match value {
        Value::String(text) if looks(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| path_like(item, found)),
        Value::Object(map) => {
            for (key, value) in map {
                if looks(key) {
                    found.push(key);
                }
                path_like(value, found);
            }
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The kinds of the statements a tool hands to a database.
fn statements_of_call(view: &Action, effects: &mut Vec<Effect>) -> Vec<&'static str> {
    if catalogue::is_known(view.call.tool()) {
        return Vec::new();
    }
    let mut kinds = Vec::new();
    for (key, value) in view.call.input() {
        let named = ["sql", "query", "statement", "queries", "statements"]
            .iter()
            .any(|name| key.to_ascii_lowercase().contains(name));
        let Some(text) = value.as_str().filter(|_| named) else {
            continue;
        };
        // Many tools take a query that is none of a database.
        let first: String = text
            .trim_start()
            .chars()
            .take_while(char::is_ascii_alphabetic)
            .collect();
        let verbs = [
            "select", "with", "insert", "update", "delete", "drop", "truncate", "alter", "create",
            "grant", "revoke", "copy", "call", "do", "exec", "execute", "merge", "begin", "set",
        ];
        if !verbs.contains(&first.to_ascii_lowercase().as_str()) {
            continue;
        }
        for statement in sql::read(text, sql::Dialect::Other) {
            kinds.push(statement.kind.word());
            effects.push(plain_effect(
                EffectKind::Database,
                &statement.object.unwrap_or_default(),
                super::places::Place::default(),
            ));
        }
    }
    kinds
}
