//! What rules are matched against: each command of a call, or the call itself.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::addresses::{self, nowhere};
use super::links::{self, WithLinks};
use super::made::Made;
use super::places::{ENVIRONMENT, Places, SECRET, SECRET_VARIABLE};
use super::reading::{ReadWords, Reading};
use super::variables::{self, Flow};
use super::{
    Effect, EffectKind, GivenUp, databases, files, git, opaque_bit, searches, terminals, too_deep,
    undescribed,
};
use serde_json::{Map, Value};

use crate::catalogue::{self, Says, SpeaksSql};
use crate::paths::{MAX_PATH, Surroundings};
use crate::rules::{HELPFUL, SENDERS, target_bit, traces};
use crate::shell::{self, Command, Reached, Redirection, RedirectionKind, Text, Whereabouts};
use crate::sql;
use crate::understand::{Action, CommandView, MAX_NAMED};

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
    /// The marks of every component of the effects' places; none if there are too many.
    marks: &'v [u32],
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
    marks: Vec<u32>,
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
    fn from_words(
        program: Option<&str>,
        reading: Option<Reading<'_>>,
        words: &[Text],
        paths: u128,
    ) -> Self {
        let first = reading.and_then(|reading| reading.operands().next());
        Self {
            program: program.map(traces::of_word).unwrap_or_default(),
            subcommand: first
                .map(|word| traces::of_word(&word.text))
                .unwrap_or_default(),
            words: words
                .iter()
                .fold(0, |all, word| all | traces::of_word(&word.text)),
            tool: 0,
            paths,
        }
    }
}

/// The most marks that are looked through one by one; of more they are put in order.
const MAX_UNSORTED: usize = 64;

/// The most marks that are kept, more than the places a call may name have: of a command with more
/// the bits alone count, and every path of a rule they let through is compared with every place.
const MAX_MARKS: usize = 1 << 16;

/// The bits and marks of every component of the effects' places.
fn traces_of_places(effects: &[Effect]) -> (u128, Vec<u32>) {
    let places = effects
        .iter()
        .flat_map(|effect| [&effect.place.path, &effect.place.from_home]);
    let (mut bits, mut marks) = (0, Vec::new());
    for path in places.flatten() {
        // Other letters may become ASCII ones where they are compared in lower case.
        if !path.is_ascii() {
            return (u128::MAX, Vec::new());
        }
        // Letter by letter: a search has to be prepared, and names are short.
        let names = path.as_bytes().split(|byte| *byte == b'/');
        for name in names.filter(|name| !name.is_empty()) {
            traces::marks_of_component(name, &mut |mark| {
                bits |= traces::bit(mark);
                let many = marks.len() > MAX_UNSORTED;
                if marks.len() <= MAX_MARKS && (many || !marks.contains(&mark)) {
                    marks.push(mark);
                }
            });
        }
    }
    if marks.len() > MAX_MARKS {
        marks.clear();
    } else if marks.len() > MAX_UNSORTED {
        // Repeated or not, there stay more than are looked through one by one.
        marks.sort_unstable();
    }
    (bits, marks)
}

impl Subject<'_> {
    /// Whether some place may be at a path with this mark; 0 is any.
    pub(crate) fn is_near(&self, mark: u32) -> bool {
        mark == 0
            || (traces::bit(mark) & self.traces.paths != 0
                && match self.marks.len() {
                    0 => true,
                    1..=MAX_UNSORTED => self.marks.contains(&mark),
                    _ => self.marks.binary_search(&mark).is_ok(),
                })
    }

    /// Whether some place may be at a path with one of these marks.
    pub(crate) fn is_near_some(&self, marks: &[u32]) -> bool {
        // A shift of 128 bits is several instructions, and there are hundreds of marks.
        let (low, high) = (self.traces.paths as u64, (self.traces.paths >> 64) as u64);
        marks.iter().any(|mark| {
            let bit = traces::place(*mark);
            let half = if bit < 64 { low } else { high };
            (half >> (bit % 64) & 1 != 0 || *mark == 0) && self.is_near(*mark)
        })
    }

    /// Whether nothing is known or feared of it but that it looks at things.
    pub(crate) fn is_read_only(&self) -> bool {
        let looking = EffectKind::Run.bit()
            | EffectKind::Read.bit()
            | EffectKind::List.bit()
            | EffectKind::Show.bit();
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
    let linked = WithLinks::of(action, around);
    let linked = linked
        .as_ref()
        .map(|lookup| Surroundings { lookup, ..*around });
    let linked_places = linked.as_ref().map(|linked| Places::new(linked, generated));
    if action.commands.is_empty() {
        let mut effects = effects_of_call(action, &places);
        let sql = statements_of_call(action, &mut effects);
        return vec![Meaning::new(None, None, effects, sql)];
    }
    let flow = OnceCell::new();
    let mut made = Made::default();
    let mut found: Vec<CommandMeaning> = Vec::with_capacity(action.commands.len());
    for (index, view) in action.commands.iter().enumerate() {
        let own = own_words(action, index);
        let read = view
            .program()
            .map(|name| ReadWords::read_command(&view.command, name, own));
        let reading = read
            .as_ref()
            .map(|read| read.of_command(&view.command, own));
        let outer = redirects_of_wrappers(action, index);
        let (mut effects, given_up) = effects_of(view, reading, &outer, &places, around);
        // Whether a link of the line could be made is not known: what stands there now counts, too.
        if let (Some(places), Some(linked), false) =
            (&linked_places, &linked, links::makes_links(view))
        {
            let reading = read
                .as_ref()
                .map(|read| read.of_command(&view.command, own));
            let (more, _) = effects_of(view, reading, &outer, places, linked);
            let more: Vec<Effect> = (more.into_iter())
                .filter(|one| !effects.contains(one))
                .collect();
            effects.extend(more);
        }
        made.pass(view, &places, &mut effects);
        effects.extend(shown(action, &flow, index, reading, &effects, &places));
        effects.extend(variables::effects(action, &flow, index, reading, &effects));
        found.push(CommandMeaning {
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
    let mut meanings: Vec<Meaning> = known
        .enumerate()
        .map(|(index, ((view, mut found), sent))| {
            let mut effects = std::mem::take(&mut found.effects);
            effects.extend(sent);
            let reading = found.reading(view);
            let program = reading.and_then(|reading| reading.program());
            addresses::of_variables(action, index, program, &mut effects);
            let sql = match reading {
                Some(reading) => {
                    databases::statements(&view.command, &reading, around, &mut effects)
                }
                None => Vec::new(),
            };
            Meaning::new(Some(view), Some(found), effects, sql)
        })
        .collect();
    if meanings.iter().any(|meaning| meaning.only_helps) && ends_options_early(action) {
        for meaning in &mut meanings {
            meaning.only_helps = false;
        }
    }
    // A command among its arguments is not all a tool does that nobody has described.
    if !catalogue::is_known(action.call.tool()) {
        let mut effects = effects_of_call(action, &places);
        let sql = statements_of_call(action, &mut effects);
        meanings.push(Meaning::new(None, None, effects, sql));
    }
    meanings
}

/// Whether a call makes programs take their first operand for the end of their options: what stands
/// behind it then asks for no help.
fn ends_options_early(action: &Action) -> bool {
    const NAME: &str = "POSIXLY_CORRECT";
    action.commands.iter().any(|view| {
        let assignments = &view.command.assignments;
        let mut words = view.command.words.iter();
        assignments.iter().any(|one| one.name == NAME)
            || words.any(|word| word.text.starts_with(NAME))
    })
}

/// What a search prints of the files it reads, where that reaches the agent.
fn shown<'a>(
    action: &'a Action,
    flow: &OnceCell<Flow<'a>>,
    index: usize,
    reading: Option<Reading<'_>>,
    effects: &[Effect],
    places: &Places<'_>,
) -> Vec<Effect> {
    let shown = reading.map_or_else(Vec::new, |reading| {
        searches::shown(&reading, effects, places)
    });
    if shown.is_empty() || !flow.get_or_init(|| Flow::of(action)).is_seen(index) {
        return Vec::new();
    }
    shown
}

/// What is found of a command by itself.
struct CommandMeaning {
    own: usize,
    read: Option<ReadWords>,
    effects: Vec<Effect>,
    given_up: Option<GivenUp>,
}

impl CommandMeaning {
    fn reading<'c>(&'c self, view: &'c CommandView) -> Option<Reading<'c>> {
        let read = self.read.as_ref()?;
        Some(read.of_command(&view.command, self.own))
    }
}

impl Meaning {
    fn new(
        view: Option<&CommandView>,
        found: Option<CommandMeaning>,
        effects: Vec<Effect>,
        sql: Vec<&'static str>,
    ) -> Self {
        let reading = view
            .zip(found.as_ref())
            .and_then(|(view, found)| found.reading(view));
        let program = view.and_then(name_of);
        let own = found.as_ref().map_or(0, |found| found.own);
        let (paths, marks) = traces_of_places(&effects);
        Self {
            own,
            marks,
            given_up: match &found {
                Some(found) => found.given_up,
                None => too_deep(&effects),
            },
            mask: effects.iter().fold(0, |mask, one| mask | one.kind.bit()),
            targets: effects.iter().fold(0, |bits, one| bits | one.classes),
            traces: Traces::from_words(program, reading, words_of(view, own), paths),
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

/// The effects of each subject of a call, with the place of the command that has them; none for the
/// call itself.
pub(crate) fn effects_by_command(
    action: &Action,
) -> impl Iterator<Item = (Option<usize>, &[Effect])> {
    let meanings = action.meanings.iter().enumerate();
    meanings
        .filter(|(_, meaning)| !meaning.only_helps)
        .map(|(index, meaning)| {
            let command = action.commands.get(index).map(|_| index);
            (command, meaning.effects())
        })
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
                marks: &meaning.marks,
            }
        })
}

fn only_helps(program: Option<&str>, reading: Option<Reading<'_>>) -> bool {
    program.is_some_and(|name| HELPFUL.contains(name))
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
            if reading.looks_up() {
                found.push(Effect {
                    names_only: true,
                    ..Effect::plain(EffectKind::Connect, command)
                });
            }
            let plain = reading.effects();
            for kind in EffectKind::ALL {
                if plain & (1 << (kind as u32)) != 0 {
                    found.push(Effect::plain(kind, command));
                }
            }
            if view.program() == Some("git") {
                git::effects(command, &reading, places, around, &mut found);
            }
            terminals::effects(view, places, &mut found);
            given_up
        }
        None => {
            let nothing = ReadWords::read_command(command, "", 0);
            let nothing = nothing.of_command(command, 0);
            files::effects(command, &nothing, outer, places, &mut found)
        }
    };
    let more = undescribed::effects(view, reading, &found);
    found.extend(more);
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
fn sent_on(view: &Action, index: usize, found: &[CommandMeaning]) -> Vec<Effect> {
    let effects = |at: usize| found.get(at).map(|found| found.effects.as_slice());
    let (Some(command), Some(own)) = (view.commands.get(index), effects(index)) else {
        return Vec::new();
    };
    let connects = || {
        own.iter()
            .filter(|effect| effect.kind == EffectKind::Connect)
    };
    let sender = command.program().is_some_and(|name| SENDERS.contains(name));
    if !sender && connects().next().is_none() {
        return Vec::new();
    }
    let talks = sender || connects().any(|effect| !effect.names_only);
    let span = &command.command.span;
    let mut sent: Vec<Effect> = own
        .iter()
        .filter(|effect| {
            is_read(effect)
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
            sent.extend(reads.filter(|effect| is_read(effect)).cloned());
        }
    }
    if !talks {
        // In the name of what is asked for a secret may stand, and nothing else is worth a word.
        sent.retain(|effect| effect.classes & (SECRET | SECRET_VARIABLE | ENVIRONMENT) != 0);
    }
    // What goes to this machine leaves nothing.
    if variables::stays_here(own) {
        return Vec::new();
    }
    for effect in &mut sent {
        effect.kind = EffectKind::Send;
    }
    sent
}

fn is_read(effect: &Effect) -> bool {
    matches!(effect.kind, EffectKind::Read | EffectKind::Show)
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
    let outside = target_bit("outside");
    let input = view.call.input();
    let empties = catalogue::tool_named(tool).is_some_and(|tool| tool.name == "Write")
        && ["content", "contents", "file_text", "text"]
            .iter()
            .any(|key| input.get(*key).and_then(Value::as_str) == Some(""));
    let mut named: Vec<(&str, EffectKind)> = Vec::new();
    super::paths::each_argument(view, &mut |text, kind| {
        // A call with more is refused, whatever they are.
        if named.len() < MAX_NAMED {
            named.push((text, kind));
        }
    });
    for (path, kind) in named {
        let kind = if kind == EffectKind::Either {
            catalogue::verb_by_name(tool)
        } else {
            kind
        };
        for place in spellings(path)
            .iter()
            .flat_map(|text| places.of_word(text, &here))
        {
            // A file that nothing is written to is emptied.
            if kind == EffectKind::Write && empties && place.classes & outside != 0 {
                found.push(plain_effect(EffectKind::Delete, path, place.clone()));
            }
            found.push(Effect {
                recursive: kind == EffectKind::Delete,
                ..plain_effect(kind, path, place)
            });
        }
    }
    if !catalogue::is_known(tool) {
        for text in paths_in(view.call.input()) {
            for place in spellings(text)
                .iter()
                .flat_map(|text| places.of_word(text, &here))
            {
                found.push(plain_effect(catalogue::verb_by_name(tool), text, place));
            }
        }
        // What is moved is no longer where it was.
        let moved = match catalogue::moves(tool) {
            true => [
                "source",
                "src",
                "from",
                "old_path",
                "oldPath",
                "source_path",
                "sourcePath",
            ]
            .as_slice(),
            false => &[],
        };
        for from in moved.iter().filter_map(|key| input.get(*key)?.as_str()) {
            for place in spellings(from)
                .iter()
                .flat_map(|text| places.of_word(text, &here))
            {
                found.push(plain_effect(EffectKind::Delete, from, place));
            }
        }
    }
    if view.effect == catalogue::Effect::Unknown {
        found.extend(said_by_call(view));
    }
    for file in patched_in(view.call.input()).iter().take(MAX_NAMED) {
        for place in places.of_word(file, &here) {
            found.push(plain_effect(EffectKind::Write, file, place));
        }
    }
    found.extend(addresses::of_arguments(view, places));
    found.extend(shown_by_search(view, places));
    found
}

/// What a tool that searches in files prints of the secrets among them.
fn shown_by_search(view: &Action, places: &Places<'_>) -> Vec<Effect> {
    let is_search = catalogue::tool_named(view.call.tool()).is_some_and(|tool| tool.name == "Grep");
    if !is_search {
        return Vec::new();
    }
    let input = view.call.input();
    let text = |names: &[&str]| -> Vec<&str> {
        let values = names.iter().filter_map(|name| input.get(*name));
        values.filter_map(Value::as_str).collect()
    };
    let mode = text(&["output_mode", "outputMode"]).pop();
    // Claude Code's own prints only names unless it is told otherwise.
    let names_only = match mode {
        Some(mode) => mode != "content",
        None => view.call.tool() == "Grep",
    };
    let broad = |pattern: &&str| searches::is_broad(pattern, false);
    let patterns = text(&["pattern", "query", "regex", "search"]);
    let inverts = input.get("-v").and_then(Value::as_bool).unwrap_or(false);
    if names_only || !(inverts || patterns.iter().any(broad) || patterns.is_empty()) {
        return Vec::new();
    }
    let here = Whereabouts::default();
    let files = text(&[
        "path",
        "glob",
        "include",
        "include_pattern",
        "file_pattern",
        "includePattern",
        "dir_path",
    ]);
    let places = files.iter().flat_map(|file| places.of_word(file, &here));
    places
        .filter(|place| place.classes & SECRET != 0)
        .map(|place| plain_effect(EffectKind::Show, &place.named.clone(), place))
        .collect()
}

/// What a tool nobody has described does, going by its name and the operation the call names.
fn said_by_call(view: &Action) -> Option<Effect> {
    let tool = view.call.tool();
    let says = catalogue::said_by_call(tool, view.call.input())?;
    let (kind, class) = match says {
        Says::Destroys => (EffectKind::Either, target_bit("tool-destroys")),
        Says::Publishes => (EffectKind::Publish, target_bit("tool-publishes")),
        Says::Pays => (EffectKind::Either, target_bit("tool-pays")),
        Says::Reveals => (EffectKind::Show, target_bit("tool-reveals")),
        Says::Sends => (EffectKind::Send, target_bit("tool-sends")),
    };
    let place = super::places::Place {
        classes: class,
        ..super::places::Place::default()
    };
    Some(plain_effect(kind, tool, place))
}

/// The files that patches in the arguments change, each once. A call with more of them than it may name
/// is refused as a whole (`Unreadable::TooManyPaths`).
pub(crate) fn patched_in(input: &Map<String, Value>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for value in input.values() {
        crate::understand::collect_texts(value, &mut |text| {
            // Both halves of a patch's head, or git's own: prose has neither.
            let has = |sign: &str| text.starts_with(sign) || text.contains(&format!("\n{sign}"));
            if has("+++ ") || has("diff --git ") {
                found.extend(crate::shell::patched_files(text));
            }
        });
    }
    found
}

pub(super) fn plain_effect(kind: EffectKind, text: &str, place: super::places::Place) -> Effect {
    Effect {
        text: text.to_owned(),
        classes: place.classes,
        place,
        ..nowhere(kind)
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

/// The texts of a call's arguments that look like paths: at most one more than a call may name, which
/// is then refused as a whole (`Unreadable::TooManyPaths`).
pub(crate) fn paths_in(input: &Map<String, Value>) -> Vec<&str> {
    let mut found = Vec::new();
    for value in input.values() {
        path_like(value, &mut found);
    }
    found
}

/// The texts and keys of a value, however deep, that look like paths.
fn path_like<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    let looks = |text: &str| {
        text.len() <= MAX_PATH
            && !text.contains('\n')
            && (text.starts_with(['/', '~'])
                || text.starts_with("./")
                || text.starts_with("../")
                || text.starts_with("file:")
                || text.starts_with('.') && !text.contains(' '))
    };
    if found.len() > MAX_NAMED {
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
    let tool = view.call.tool();
    if catalogue::is_known(tool) || catalogue::stays_with_the_agent(tool) {
        return Vec::new();
    }
    let mut texts = Vec::new();
    statements_in(
        view.call.input(),
        catalogue::speaks_sql(tool),
        0,
        &mut texts,
    );
    let mut kinds = Vec::new();
    for text in texts {
        for statement in sql::read(text, sql::Dialect::Other) {
            kinds.push(statement.kind.as_str());
            effects.push(plain_effect(
                EffectKind::Database,
                &statement.object.unwrap_or_default(),
                super::places::Place::default(),
            ));
        }
    }
    kinds
}

/// How deep arguments are looked into for statements; what lies deeper is refused by the reader of commands.
const MAX_DEPTH: usize = 16;

/// Names that say nothing: what stands there for a database is a statement if it begins like one.
const UNSAID: [&str; 9] = [
    "body",
    "cmd",
    "code",
    "command",
    "expression",
    "input",
    "q",
    "script",
    "text",
];

/// The texts of arguments that are statements by their names and how they begin. Many tools take a
/// query that is none of a database: what the tool is called says whether it may be one.
fn statements_in<'v>(
    input: &'v Map<String, Value>,
    speaks: SpeaksSql,
    depth: usize,
    found: &mut Vec<&'v str>,
) {
    for (key, value) in input {
        let key = key.to_ascii_lowercase();
        let named = key.contains("sql")
            || (speaks != SpeaksSql::No && (key.contains("quer") || key.contains("statement")))
            || (speaks == SpeaksSql::Yes
                && (UNSAID.contains(&key.as_str()) || !catalogue::names_prose(&key)));
        collect_statements(value, named, speaks, depth, found);
    }
}

fn collect_statements<'v>(
    value: &'v Value,
    named: bool,
    speaks: SpeaksSql,
    depth: usize,
    found: &mut Vec<&'v str>,
) {
    if depth > MAX_DEPTH {
        return;
    }
    match value {
        Value::String(text) if named && begins_statement(text) => found.push(text),
        Value::Array(items) => {
            for item in items {
                collect_statements(item, named, speaks, depth + 1, found);
            }
        }
        Value::Object(inner) => statements_in(inner, speaks, depth + 1, found),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn begins_statement(text: &str) -> bool {
    let verbs = [
        "select", "with", "insert", "update", "delete", "drop", "truncate", "alter", "create",
        "grant", "revoke", "copy", "call", "do", "exec", "execute", "merge", "begin", "set",
    ];
    let first = text
        .split(|letter: char| !letter.is_ascii_alphabetic())
        .find(|word| !word.is_empty())
        .unwrap_or_default();
    verbs.iter().any(|verb| first.eq_ignore_ascii_case(verb))
}
