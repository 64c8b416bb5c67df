//! Rule packs: what each rule looks for, compiled in or loaded, and whether it holds for a command.
//!
//! The tables of the shipped packs are made by the build script. A rule is data; how its keys are
//! compared is in `matching`, what they are compared with in [`effects`](crate::effects).

pub(crate) mod format;
pub(crate) mod gate_reach;
pub(crate) mod helping;
mod load;
pub(crate) mod matching;
mod own;
pub(crate) mod spoken;
pub(crate) mod steering;
pub(crate) mod traces;
pub(crate) mod words;

use std::borrow::Cow;

use crate::effects::Subject;
use crate::facts::FactConditions;
use crate::verdict::{Method, Risk, Verdict};

pub(crate) use helping::Help;
pub use load::{Description, ExampleCall, Pack, PackError};

/// Several texts, compiled in or loaded.
pub(crate) type Texts = Cow<'static, [Cow<'static, str>]>;

/// A rule of a pack.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) id: Cow<'static, str>,
    pub(crate) pack: Cow<'static, str>,
    pub(crate) method: Method,
    pub(crate) verdict: Verdict,
    pub(crate) risk: Risk,
    pub(crate) reason: Cow<'static, str>,
    pub(crate) instead: Cow<'static, str>,
    pub(crate) when: Cow<'static, [Case]>,
    /// What it does for a call besides; no shipped rule does.
    pub(crate) help: Option<Box<Help>>,
}

/// One way for a rule to hold: everything it says does.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) program: Texts,
    pub(crate) subcommand: Texts,
    pub(crate) not_subcommand: Texts,
    pub(crate) flags: Texts,
    pub(crate) without: Texts,
    pub(crate) operands: Texts,
    pub(crate) not_operands: Texts,
    pub(crate) least_operands: Option<usize>,
    pub(crate) most_operands: Option<usize>,
    pub(crate) words: Texts,
    /// Bits of [`words::EFFECTS`].
    pub(crate) effect: u64,
    /// Bits of [`TARGETS`].
    pub(crate) target: u64,
    pub(crate) path: Texts,
    /// The mark every place at each of these paths has.
    pub(crate) path_marks: Cow<'static, [u32]>,
    pub(crate) not_path: Texts,
    pub(crate) host: Texts,
    pub(crate) not_host: Texts,
    pub(crate) recursive: Option<bool>,
    pub(crate) forced: Option<bool>,
    pub(crate) sql: Texts,
    /// Bits of [`words::OPAQUE`].
    pub(crate) opaque: u64,
    pub(crate) assigns: Texts,
    pub(crate) not_program: Texts,
    pub(crate) within: Texts,
    pub(crate) not_within: Texts,
    pub(crate) tool: Texts,
    /// What must be so besides; no shipped rule asks for that, which means the same on every machine.
    pub(crate) facts: Option<Box<FactConditions>>,
}

/// What is known of a program.
#[derive(Debug)]
pub(crate) struct Program {
    /// Options with a value that stand before a subcommand only.
    pub(crate) before: &'static [&'static str],
    pub(crate) single_dash: bool,
    /// The first word is a cluster of flags without its dash.
    pub(crate) dashless: bool,
    /// Behind its first operand every word is one: `kill 12 -1`.
    pub(crate) options_first: bool,
    /// Long flags that take two words, a name and a text.
    pub(crate) pairs: &'static [&'static str],
    /// Flags of a program with `single_dash` whose value may be glued to them.
    pub(crate) glued: &'static [&'static str],
    /// Flags that name the directory it goes to before it looks at its words.
    pub(crate) directory: &'static [&'static str],
    /// The same for its operands alone.
    pub(crate) operands_in: &'static [&'static str],
    /// Operands may be `host:path`.
    pub(crate) remote: bool,
    /// Operands behind the address are what is sent: `name=value`, `name@file`.
    pub(crate) items: bool,
    /// Operands may be files of another revision: `HEAD:file`.
    pub(crate) revisions: bool,
    /// The first operand is what is searched for: a pattern that lets everything through prints all.
    pub(crate) searches: bool,
    /// Variables whose value is an address it goes to.
    pub(crate) addresses_in: &'static [&'static str],
    pub(crate) same: &'static [&'static [&'static str]],
    /// Whether it changes files by its words in some case.
    pub(crate) writes: bool,
    /// Whether what it leaves in these files is foreseen in some case.
    pub(crate) foreseen: bool,
    /// How it hands statements to a database.
    pub(crate) database: Option<Database>,
    pub(crate) roles: Roles,
    pub(crate) cases: &'static [ProgramCase],
}

/// How a program hands statements to a database.
#[derive(Debug)]
pub(crate) struct Database {
    pub(crate) language: StatementLanguage,
    /// Flags whose value is statements.
    pub(crate) statements: &'static [&'static str],
    /// Flags whose value is a file of them.
    pub(crate) files: &'static [&'static str],
    /// Operands from this one on are statements.
    pub(crate) operands: Option<usize>,
}

/// What statements are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatementLanguage {
    Postgres,
    Mysql,
    Sqlite,
    Sql,
    Redis,
    Mongo,
    Memcached,
}

/// What the files hold that a program has written; nobody foresees it where nothing is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaves {
    /// What its operands hold.
    Copies,
    /// The same, by other names of the very files.
    Links,
    /// What it reads on its standard input.
    Input,
    /// What they held before, changed in a way that is not foreseen.
    Edited,
    /// Another state of the project's history.
    History,
    /// What was made of sources, or installed.
    Built,
    /// No other code than before.
    Nothing,
}

/// When a program changes nothing outside itself.
#[derive(Debug)]
pub(crate) struct ReadOnly {
    pub(crate) program: &'static str,
    /// Its first operand is one of these; any, if there are none.
    pub(crate) subcommand: &'static [&'static str],
    /// No flag begins like one of these.
    pub(crate) without: &'static [&'static str],
}

/// Programs policies allow by what they are for, in some case.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) programs: &'static [&'static str],
    /// Its operands begin with one of these; any, if there are none.
    pub(crate) subcommand: &'static [&'static str],
    /// All of these flags are given, each one of several.
    pub(crate) flags: &'static [&'static str],
    /// None of these flags is given.
    pub(crate) without: &'static [&'static str],
    /// Its words begin with a dash only if they are one of these flags.
    pub(crate) only: Option<&'static [&'static str]>,
    /// No word of it is like one of these.
    pub(crate) without_words: &'static [&'static str],
    pub(crate) operands: GroupOperands,
    /// No more operands stand behind the subcommand.
    pub(crate) most_operands: Option<usize>,
}

/// What the operands of a command must be so that it is one of a group.
#[derive(Clone, Copy, Debug)]
pub(crate) enum GroupOperands {
    Any,
    /// Names of packages: no paths, files or addresses.
    Names,
    /// Names of branches, and of one for another, which git moves only forward.
    Refs,
}

/// Flags of a program whose values run.
#[derive(Debug)]
pub(crate) struct Carrier {
    /// One of these stands among the words; any, if there are none.
    pub(crate) subcommand: &'static [&'static str],
    /// Flags whose value is a command line; behind `=` stands what it begins with where it is one.
    pub(crate) runs: &'static [&'static str],
    /// Flags whose value is code it loads into itself, or a setting that runs something.
    pub(crate) loads: &'static [&'static str],
    /// Letters that take a value, and end a bundle of others.
    pub(crate) values: &'static [&'static str],
    /// It exists to run the command.
    pub(crate) commanding: bool,
    /// Flags whose value is SQL it hands to a database somewhere.
    pub(crate) statements: &'static [&'static str],
    /// Its operands of several words are SQL, too.
    pub(crate) statement_operands: bool,
}

/// The files of a project some programs load and run.
#[derive(Debug)]
pub(crate) struct Loads {
    /// The first operand is one of these; any, if there are none.
    pub(crate) subcommand: &'static [&'static str],
    /// With any of these flags nothing is loaded.
    pub(crate) without: &'static [&'static str],
    /// Operands name files, or directories with one of `index` in them.
    pub(crate) operand: bool,
    pub(crate) index: &'static [&'static str],
    /// Endings that may be left out.
    pub(crate) extensions: &'static [&'static str],
    /// Flags whose value names a file.
    pub(crate) flags: &'static [&'static str],
    /// The flag whose value names a module.
    pub(crate) module: Option<&'static str>,
    /// Files they look for by name.
    pub(crate) files: &'static [&'static str],
    /// Files these may load in turn.
    pub(crate) reach: &'static [&'static str],
    /// Only what the session remembers counts.
    pub(crate) remembered: bool,
    /// How a file is read whose name does not say.
    pub(crate) language: Option<Reader>,
}

impl Loads {
    /// What loads nothing.
    pub(crate) const NONE: Self = Self {
        subcommand: &[],
        without: &[],
        operand: false,
        index: &[],
        extensions: &[],
        flags: &[],
        module: None,
        files: &[],
        reach: &[],
        remembered: false,
        language: None,
    };
}

/// How a file is read that a program loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    Python,
    Javascript,
    Ruby,
    Perl,
    Php,
    Lua,
    Awk,
    Vim,
    Sed,
    Shell,
    /// Scripts of a `package.json` and its like.
    Package,
    /// Services of a compose file.
    Compose,
    /// Pods of a Kubernetes manifest.
    Manifest,
    /// Settings, some of which are command lines.
    Lines,
    /// Code of a language without a reader, built and tested all the time.
    Literals,
    /// The same for scripts, which are asked about where they hand on what nobody sees.
    Unread,
}

/// What a program does in some case.
#[derive(Debug)]
pub(crate) struct ProgramCase {
    /// What [`traces`] says of the first words of the subcommands; nothing if it may be any.
    pub(crate) first_words: u128,
    pub(crate) subcommand: &'static [&'static str],
    pub(crate) flags: &'static [&'static str],
    pub(crate) without: &'static [&'static str],
    /// No more operands stand behind the subcommand.
    pub(crate) most_operands: Option<usize>,
    pub(crate) roles: Roles,
}

/// What happens to the words of a program.
#[derive(Debug)]
pub(crate) struct Roles {
    pub(crate) values: &'static [&'static str],
    pub(crate) operands: Option<Role>,
    pub(crate) first: Option<Role>,
    pub(crate) first_unless: &'static [&'static str],
    pub(crate) last: Option<Role>,
    pub(crate) default: Option<&'static str>,
    pub(crate) flag_operands: &'static [(&'static str, Role)],
    pub(crate) at_file: &'static [&'static str],
    /// Flags whose value may be `name@file`, too.
    pub(crate) named_file: &'static [&'static str],
    /// Flags whose value is a file unless it is `name=value`.
    pub(crate) bare_file: &'static [&'static str],
    /// Flags whose value is sent as it stands.
    pub(crate) data: &'static [&'static str],
    /// It asks another machine for something by name.
    pub(crate) looks_up: bool,
    pub(crate) prefixed: &'static [(&'static str, Role)],
    pub(crate) recursive: Recursive,
    pub(crate) effects: Option<u64>,
    /// What the files it writes hold afterwards.
    pub(crate) leaves: Option<Leaves>,
    /// The directory it brings files into though no word of it names them.
    pub(crate) fills: Option<&'static str>,
    /// It writes files that are called what the addresses of its operands end in.
    pub(crate) named_by_address: Option<bool>,
    /// Endings it takes off the names of its operands to name what it writes.
    pub(crate) takes_off: &'static [&'static str],
}

/// What happens to an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Text,
    Read,
    Write,
    Append,
    Delete,
    Mode,
    Owner,
    List,
    Run,
    Connect,
    Send,
    Either,
    Move,
    Remote,
    Address,
    Image,
}

/// When a program takes whole trees.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Recursive {
    Unsaid,
    Always(bool),
    With(&'static [&'static str]),
}

/// A package manager's files that say where it gets packages.
#[derive(Debug)]
pub(crate) struct Sources {
    /// Words by which it fetches; it always does, if there are none.
    pub(crate) fetching: &'static [&'static str],
    /// No word is needed.
    pub(crate) bare: bool,
    pub(crate) files: &'static [&'static str],
    /// Files that programs write: only what the session is known to have written itself is the agent's.
    pub(crate) locks: &'static [&'static str],
}

/// What of a file names a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceForm {
    /// Every address is one: a list of requirements.
    Any,
    /// `key = value`, with these keys.
    Keys(&'static [&'static str]),
    /// The value of a dependency in JSON, whatever it is called.
    Dependencies,
    /// `replace a => b`
    Replacements,
    /// `<repository><url>`
    Repositories,
}

/// A pattern of `path-classes.toml`.
#[derive(Debug)]
pub(crate) struct PathRule {
    /// The bit of its class.
    pub(crate) class: u64,
    /// It takes the class back.
    pub(crate) except: bool,
    pub(crate) anchor: Anchor,
    /// The names, wild or not; `**` is any number of them.
    pub(crate) parts: &'static [&'static str],
}

/// Where a path pattern begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Anywhere,
    Workspace,
    Home,
    Root,
}

/// What a case of a rule asks of a command; nothing of a kind is none. Small and side by side, so
/// that most rules are passed over without being looked at.
#[derive(Debug)]
pub(crate) struct Filter {
    /// Its rule, and which of the rule's cases it is.
    rule: u16,
    case: u16,
    /// Whether some case of the rule asks about no program.
    general: bool,
    assigns: bool,
    within: bool,
    sql: bool,
    effect: u64,
    target: u64,
    opaque: u64,
    /// What [`traces`] says of the programs, the subcommands' first words, some word, the tools and
    /// the paths.
    program: u128,
    subcommand: u128,
    words: u128,
    tool: u128,
    path: u128,
}

impl Filter {
    /// Whether the case could hold.
    fn passes(&self, subject: &Subject<'_>) -> bool {
        let meets = |wanted: u64, given: u64| wanted == 0 || wanted & given != 0;
        let traced = |wanted: u128, given: u128| wanted == 0 || wanted & given != 0;
        meets(self.effect, subject.mask)
            && traced(self.subcommand, subject.traces.subcommand)
            && traced(self.words, subject.traces.words)
            && meets(self.target, subject.targets)
            && traced(self.path, subject.traces.paths)
            && meets(self.opaque, subject.opaque)
            && traced(self.program, subject.traces.program)
            && traced(self.tool, subject.traces.tool)
            && !(self.assigns && subject.assigns.is_empty())
            && !(self.within && subject.within.is_empty())
            && !(self.sql && subject.sql.is_empty())
    }
}

mod packs {
    use super::{
        Anchor, Carrier, Case, Cow, Database, Filter, Group, GroupOperands, Leaves, Loads, Method,
        NameList, PathRule, Program, ProgramCase, ReadOnly, Reader, Recursive, Risk, Role, Roles,
        Rule, SourceForm, Sources, StatementLanguage, Verdict,
    };

    include!(concat!(env!("OUT_DIR"), "/packs.rs"));
}

pub(crate) use packs::{
    CARRIERS, CARRIERS_SLOTS, COPIERS, CREDENTIAL_FLAGS, DATA, DECODERS, DESTROYERS, FETCHERS,
    FILTERS, FILTERS_BY_PATTERN, FILTERS_BY_PROGRAM, FILTERS_BY_PROGRAM_SLOTS,
    FILTERS_BY_SUBCOMMAND, FINDERS, FORMATS, GENERAL_BY_NEED, GENERAL_FILTERS, GROUPS, HELPFUL,
    HOOKED, KEEPERS, LISTERS, LOADS, MOVERS, PACKS, PASSERS, PATHS_BY_ENDING, PATHS_BY_NAME,
    PATHS_BY_PATTERN, PATTERN_LETTERS, PATTERNS_BY_FIRST, PATTERNS_BY_LAST, PRINTERS,
    PROGRAM_NAMES, PROGRAM_NAMES_SLOTS, PROGRAM_PATTERNS, PROGRAMS, READ_ONLY, READ_ONLY_WHEN,
    REQUESTERS, RESPONSE_FILES, RULES, SAYERS, SECRET_VARIABLES, SENDERS, SET_UPS, SHELLS,
    SOURCE_FORMATS, SPEAKERS, STEERING, TALKERS, TARGETS, USUAL_SOURCES,
};

/// The bit of a target.
pub(crate) const fn target_bit(name: &str) -> u64 {
    let mut rest = TARGETS;
    let mut bit = 1;
    while let [first, tail @ ..] = rest {
        if same_text(first.as_bytes(), name.as_bytes()) {
            return bit;
        }
        bit <<= 1;
        rest = tail;
    }
    0
}

const fn same_text(mut one: &[u8], mut other: &[u8]) -> bool {
    loop {
        match (one, other) {
            ([], []) => return true,
            ([a, one_rest @ ..], [b, other_rest @ ..]) if *a == *b => {
                one = one_rest;
                other = other_rest;
            }
            _ => return false,
        }
    }
}

/// What a table of names says of one.
fn look_up<T>(table: &'static [(&str, T)], slots: &[u16], name: &str) -> Option<&'static T> {
    let at = place_of(slots, name, |at| table.get(at).map(|(known, _)| *known))?;
    table.get(at).map(|(_, found)| found)
}

/// Where in a table a name stands. `slots` say where one of some hash does, `known` which it is.
pub(crate) fn place_of(
    slots: &[u16],
    name: &str,
    known: impl Fn(usize) -> Option<&'static str>,
) -> Option<usize> {
    let mut slot = traces::slot(name, slots.len());
    // There are more slots than names, so that an empty one ends every search.
    for _ in 0..slots.len() {
        let at = usize::from(*slots.get(slot)?).checked_sub(1)?;
        if known(at)? == name {
            return Some(at);
        }
        slot = (slot + 1) % slots.len();
    }
    None
}

/// A list of names.
#[derive(Debug)]
pub(crate) struct NameList {
    names: &'static [&'static str],
    slots: &'static [u16],
}

impl NameList {
    pub(crate) fn contains(&self, name: &str) -> bool {
        place_of(self.slots, name, |at| self.names.get(at).copied()).is_some()
    }
}

/// The rows about what a program loads of a project's files.
pub(crate) fn loads(name: &str) -> Option<&'static [usize]> {
    look_up(packs::LOADERS, packs::LOADERS_SLOTS, name).copied()
}

/// What is known of where a package manager gets packages.
pub(crate) fn sources(name: &str) -> Option<&'static Sources> {
    look_up(packs::SOURCES, packs::SOURCES_SLOTS, name)
}

/// The classes of files with a component of this name, in lower case.
pub(crate) fn paths_named(name: &str) -> &'static [PathRule] {
    look_up(PATHS_BY_NAME, packs::PATHS_BY_NAME_SLOTS, name).map_or(&[], |rules| *rules)
}

/// The classes of files by several names of which this is one.
pub(crate) fn paths_with_part(name: &str) -> &'static [PathRule] {
    look_up(packs::PATHS_BY_PART, packs::PATHS_BY_PART_SLOTS, name).map_or(&[], |rules| *rules)
}

/// Visits the classes of files by patterns that a component may fit: by the letters at its ends, then by those a pattern
/// cannot do without.
pub(crate) fn patterns_near(name: &str, mut visit: impl FnMut(&'static PathRule)) {
    let (Some(first), Some(last)) = (name.bytes().next(), name.bytes().next_back()) else {
        return;
    };
    let begins = PATTERNS_BY_FIRST.get(usize::from(first));
    let ends = PATTERNS_BY_LAST.get(usize::from(last));
    let missing = !traces::letters(name.as_bytes());
    for (word, (begins, ends)) in begins
        .into_iter()
        .flatten()
        .zip(ends.into_iter().flatten())
        .enumerate()
    {
        let mut set = begins & ends;
        while set != 0 {
            let at = word * 64 + set.trailing_zeros() as usize;
            set &= set - 1;
            if PATTERN_LETTERS
                .get(at)
                .is_some_and(|needed| needed & missing == 0)
                && let Some(rule) = PATHS_BY_PATTERN.get(at)
            {
                visit(rule);
            }
        }
    }
}

/// The programs something is known of, by name.
pub fn program_names() -> impl Iterator<Item = &'static str> {
    PROGRAM_NAMES.iter().map(|(name, _)| *name)
}

/// What is known of a program of this name.
pub(crate) fn program(name: &str) -> Option<&'static Program> {
    let at = match look_up(PROGRAM_NAMES, PROGRAM_NAMES_SLOTS, name) {
        Some(at) => *at,
        None => {
            PROGRAM_PATTERNS
                .iter()
                .find(|(pattern, _)| matching::wild(pattern, name))?
                .1
        }
    };
    PROGRAMS.get(at)
}

/// The flags of a program whose values run.
pub(crate) fn carriers(name: &str) -> &'static [Carrier] {
    look_up(CARRIERS, CARRIERS_SLOTS, name)
        .copied()
        .unwrap_or_default()
}

/// The shipped rules of which some case holds for a command or a call: those about its program, then
/// those that may be about any.
pub(crate) fn candidates(subject: &Subject<'_>) -> Vec<&'static Rule> {
    let mut found: Vec<(bool, u16)> = Vec::new();
    // A case that was found under the program's name is about it.
    let mut consider = |filter: &Filter, by_name: bool| {
        let key = (filter.general, filter.rule);
        // The cases of a rule stand side by side; the first that holds is enough.
        if found.last() == Some(&key) || !filter.passes(subject) {
            return;
        }
        let rule = RULES.get(usize::from(filter.rule));
        let case = rule.and_then(|rule| rule.when.get(usize::from(filter.case)));
        let holds = |case| {
            (by_name || matching::is_about(case, subject))
                && matching::case_holds(case, subject).is_some()
        };
        if case.is_some_and(holds) {
            found.push(key);
        }
    };
    let first_word = subject.traces.subcommand;
    for at in subject.program.into_iter().flat_map(filters_of) {
        let at = usize::from(*at);
        // Most cases of a program are about another of its subcommands.
        let wanted = FILTERS_BY_SUBCOMMAND.get(at).copied().unwrap_or_default();
        if wanted == 0 || wanted & first_word != 0 {
            let filter = FILTERS.get(at);
            filter.into_iter().for_each(|filter| consider(filter, true));
        }
    }
    for (word, mut set) in general_cases(subject).into_iter().enumerate() {
        while set != 0 {
            let bit = set.trailing_zeros() as usize;
            set &= set - 1;
            let filter = GENERAL_FILTERS.get(word * 64 + bit);
            filter
                .into_iter()
                .for_each(|filter| consider(filter, false));
        }
    }
    found.sort_unstable();
    found.dedup();
    let rules = found.into_iter();
    rules
        .filter_map(|(_, rule)| RULES.get(usize::from(rule)))
        .collect()
}

/// The cases that name a program, or a pattern its name fits; programs are compared without case.
fn filters_of(name: &str) -> impl Iterator<Item = &'static u16> {
    let (table, slots) = (FILTERS_BY_PROGRAM, FILTERS_BY_PROGRAM_SLOTS);
    let named = match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => look_up(table, slots, &name.to_ascii_lowercase()),
        false => look_up(table, slots, name),
    };
    let fitting = FILTERS_BY_PATTERN
        .iter()
        .filter(move |(pattern, _)| matching::wild(pattern, name));
    let fitting = fitting.flat_map(|(_, filters)| filters.iter());
    named.into_iter().copied().flatten().chain(fitting)
}

/// Whether some rule speaks of a program by its name.
pub(crate) fn is_named(name: &str) -> bool {
    filters_of(name).next().is_some()
}

/// The set of cases that may be about any program, but for those that need what a subject lacks.
fn general_cases(subject: &Subject<'_>) -> [u64; GENERAL_BY_NEED[0].len()] {
    let mut set = [0; GENERAL_BY_NEED[0].len()];
    let mut has = bits_of(subject);
    while has != 0 {
        let row = GENERAL_BY_NEED.get(has.trailing_zeros() as usize);
        has &= has - 1;
        for (all, more) in set.iter_mut().zip(row.into_iter().flatten()) {
            *all |= more;
        }
    }
    set
}

/// What cases of rules may need of a subject, as bits.
fn bits_of(subject: &Subject<'_>) -> u64 {
    let if_any = |any: bool, bit: u64| if any { bit } else { 0 };
    subject.mask
        | if_any(subject.opaque != 0, words::NEEDS_OPAQUE)
        | if_any(!subject.assigns.is_empty(), words::NEEDS_ASSIGNS)
        | if_any(!subject.within.is_empty(), words::NEEDS_WITHIN)
        | if_any(!subject.sql.is_empty(), words::NEEDS_SQL)
        | words::NEEDS_NOTHING
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::ToolCall;
    use crate::effects;
    use crate::facts::Gathered;
    use crate::paths::Surroundings;
    use crate::understand::understand_alone;

    /// Every line of an example in a pack, as a shell line.
    fn examples(value: &toml::Value, lines: &mut Vec<String>) {
        match value {
            toml::Value::String(line) => lines.push(line.clone()),
            toml::Value::Array(items) => items.iter().for_each(|item| examples(item, lines)),
            toml::Value::Table(table) => table.values().for_each(|item| examples(item, lines)),
            toml::Value::Integer(_)
            | toml::Value::Float(_)
            | toml::Value::Boolean(_)
            | toml::Value::Datetime(_) => {}
        }
    }

    #[test]
    fn no_rule_that_holds_is_passed_over() {
        let mut lines = Vec::new();
        for (_, _, text) in PACKS {
            let pack: toml::Table = text.parse().unwrap();
            for rule in pack["rule"].as_array().unwrap() {
                for key in ["matches", "not_matches"] {
                    if let Some(list) = rule.get(key) {
                        examples(list, &mut lines);
                    }
                }
            }
        }
        assert!(lines.len() > 1000, "{}", lines.len());
        for line in lines {
            let action = understand_alone(ToolCall::shell(&line), &Surroundings::nowhere());
            let facts = Gathered::new(&action, Surroundings::nowhere());
            for subject in effects::subjects(&action) {
                let all = RULES
                    .iter()
                    .filter(|one| matching::holds(one, &subject, &facts).is_some());
                let mut all: Vec<&str> = all.map(|rule| rule.id.as_ref()).collect();
                let mut found: Vec<&str> = candidates(&subject)
                    .iter()
                    .map(|rule| rule.id.as_ref())
                    .collect();
                all.sort_unstable();
                found.sort_unstable();
                assert_eq!(found, all, "{line}");
            }
        }
    }
}
