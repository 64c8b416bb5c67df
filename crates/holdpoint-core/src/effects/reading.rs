//! The words of a command as its program reads them: subcommand, flags with their values, operands.
//!
//! What takes a value is known from `programs.toml`. Of a program that is not listed, a flag is a
//! flag and everything else an operand.

use std::sync::OnceLock;

use crate::rules::{self, Leaves, Program, ProgramCase, Recursive, Role, Roles, matching, traces};
use crate::shell::{Command, Text};

/// How a program reads the words of a command: which are flags, their values and operands. Words are
/// named by their places, so that a reading can be kept beside the words.
#[derive(Debug)]
pub(crate) struct ReadWords {
    program: Option<&'static Program>,
    case: Option<&'static ProgramCase>,
    flags: Vec<GivenFlag>,
    /// Words that are no flags and no values, the subcommand included.
    operands: Vec<usize>,
    /// How many of them are the subcommand the case asks for.
    subcommand: usize,
    /// The groups of names some flag belongs to, found when somebody asks.
    groups: OnceLock<u128>,
}

/// A flag as given.
#[derive(Debug)]
struct GivenFlag {
    name: String,
    /// The word it stands in.
    word: usize,
    value: Option<GivenValue>,
}

/// The value of a flag: a word, from one of its bytes on.
#[derive(Clone, Copy, Debug)]
struct GivenValue {
    word: usize,
    from: usize,
}

/// A command, read: its own words behind the program, and what each of them is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'c> {
    words: &'c [Text],
    read: &'c ReadWords,
}

/// A flag as given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flag<'c> {
    pub(crate) name: &'c str,
    /// Its value and the word that holds it.
    pub(crate) value: Option<(&'c str, &'c Text)>,
}

/// The words of a command that are its own: what stands behind the first `own` belongs to a command
/// it runs.
fn own_words(command: &Command, own: usize) -> &[Text] {
    command.words.get(1..own.max(1)).unwrap_or_default()
}

impl ReadWords {
    /// Reads the first `own` words of a command as the program `name` does.
    pub(crate) fn read_command(command: &Command, name: &str, own: usize) -> Self {
        let program = rules::program(name);
        let words = own_words(command, own);
        let mut read = Self {
            program,
            case: None,
            flags: Vec::new(),
            operands: Vec::new(),
            subcommand: 0,
            groups: OnceLock::new(),
        };
        read.read(words);
        let Some(program) = program else {
            return read;
        };
        // The values of a subcommand's own flags are known once the subcommand is.
        let mut first = read.first_trace(words);
        for case in program.cases {
            if case.first_words != 0 && case.first_words & first == 0 {
                continue;
            }
            let Some(count) = read.with(words).begins(case.subcommand) else {
                continue;
            };
            if !case.roles.values.is_empty() {
                read.case = Some(case);
                read.subcommand = count;
                read.read(words);
                first = read.first_trace(words);
            }
            let reading = read.with(words);
            if case.flags.iter().all(|flag| reading.has_in_force(flag))
                && !case.without.iter().any(|flag| reading.has_exactly(flag))
            {
                let count = reading.begins(case.subcommand).unwrap_or(count);
                let behind = reading.operands().len().saturating_sub(count);
                if case.most_operands.is_some_and(|most| behind > most) {
                    read.case = None;
                    read.subcommand = 0;
                    continue;
                }
                read.case = Some(case);
                read.subcommand = count;
                return read;
            }
            read.case = None;
            read.subcommand = 0;
        }
        read
    }

    /// The reading of a command whose first `own` words were read so.
    pub(crate) fn of_command<'c>(&'c self, command: &'c Command, own: usize) -> Reading<'c> {
        self.with(own_words(command, own))
    }

    fn with<'c>(&'c self, words: &'c [Text]) -> Reading<'c> {
        Reading { words, read: self }
    }

    /// What traces say of the first operand, with which a subcommand begins.
    fn first_trace(&self, words: &[Text]) -> u128 {
        let first = self.operands.first().and_then(|at| words.get(*at));
        first.map_or(0, |word| traces::of_word(&word.text))
    }

    fn read(&mut self, words: &[Text]) {
        self.groups.take();
        self.flags.clear();
        self.operands.clear();
        let mut operands_only = false;
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let text = word.text.as_str();
            let left = words.len() - at - 1;
            if operands_only || text.len() < 2 || !text.starts_with('-') {
                if self.takes_cluster_without_dash(word) {
                    at += 1 + self.cluster(&format!("-{text}"), at, word, left);
                    continue;
                }
                self.operands.push(at);
                operands_only |= self.program.is_some_and(|program| program.options_first);
            } else if text == "--" {
                operands_only = true;
            } else if text.starts_with("--") || self.program.is_some_and(|one| one.single_dash) {
                at += self.long(text, at, left);
            } else {
                at += self.cluster(text, at, word, left);
            }
            at += 1;
        }
    }

    /// `tar xzf`: the first word is flags.
    fn takes_cluster_without_dash(&self, word: &Text) -> bool {
        self.program.is_some_and(|program| program.dashless)
            && self.operands.is_empty()
            && self.flags.is_empty()
            && !word.text.is_empty()
            && word.text.bytes().all(|byte| byte.is_ascii_alphabetic())
    }

    /// Takes the long flag at `at`, behind which `left` words stand; says how many words of value it
    /// takes besides.
    fn long(&mut self, text: &str, at: usize, left: usize) -> usize {
        if let Some((name, _)) = text.split_once('=') {
            self.flags.push(GivenFlag {
                name: name.to_owned(),
                word: at,
                value: Some(GivenValue {
                    word: at,
                    from: name.len() + 1,
                }),
            });
            return 0;
        }
        let takes = self.takes_value(text);
        if let Some(name) = self.glued(text).filter(|_| !takes) {
            self.flags.push(GivenFlag {
                name: name.to_owned(),
                word: at,
                value: Some(GivenValue {
                    word: at,
                    from: name.len(),
                }),
            });
            return 0;
        }
        // A name that is cut short may have the value of the one it stands for. That the program has
        // no such flag without a value nobody knows: the word behind it is an operand, too, unless a
        // subcommand is still to come.
        let cut_short = !takes
            && self
                .full_name(text)
                .is_some_and(|full| self.takes_value(full));
        let in_front = cut_short && self.operands.is_empty() && text.len() >= MIN_IN_FRONT;
        self.flags.push(GivenFlag {
            name: text.to_owned(),
            word: at,
            value: ((takes || cut_short) && left > 0).then_some(GivenValue {
                word: at + 1,
                from: 0,
            }),
        });
        if self
            .program
            .is_some_and(|program| program.pairs.contains(&text))
        {
            return 2;
        }
        usize::from(takes || (in_front && self.has_subcommands()))
    }

    /// Whether words may be read differently behind a subcommand.
    fn has_subcommands(&self) -> bool {
        let cases = self.program.map_or(&[][..], |program| program.cases);
        cases.iter().any(|case| !case.subcommand.is_empty())
    }

    /// The one flag a long name that is cut short can be: `--comm` for `--command`.
    fn full_name(&self, name: &str) -> Option<&'static str> {
        let program = self.program.filter(|one| !one.single_dash)?;
        if name.len() <= 3 || !name.starts_with("--") {
            return None;
        }
        let roles = || {
            let case = self.case.map(|case| &case.roles);
            case.into_iter().chain([&program.roles])
        };
        let listed = roles().flat_map(|roles| {
            let named = roles.flag_operands.iter().map(|(flag, _)| flag);
            roles.values.iter().chain(named)
        });
        let same = program.same.iter().copied().flatten();
        let known = listed.chain(program.before).chain(same);
        let mut full = None;
        for flag in known.copied().filter(|flag| flag.starts_with(name)) {
            if flag.len() == name.len() || full.is_some_and(|other| other != flag) {
                return None;
            }
            full = Some(flag);
        }
        full
    }

    /// Takes bundled letters; says how many words of value they take besides.
    fn cluster(&mut self, text: &str, at: usize, word: &Text, left: usize) -> usize {
        let next = |taken: usize| {
            (taken < left).then_some(GivenValue {
                word: at + 1 + taken,
                from: 0,
            })
        };
        let whole = text.chars().count() > 2;
        if whole {
            let takes = self.takes_value(text);
            self.flags.push(GivenFlag {
                name: text.to_owned(),
                word: at,
                value: next(0).filter(|_| takes),
            });
            if takes {
                return 1;
            }
        }
        // The word may be written without its dash.
        let offset = usize::from(!word.text.starts_with('-'));
        let mut taken = 0;
        let mut seen = 0u128;
        for (place, letter) in text.char_indices().skip(1) {
            // A letter that stands there again says nothing more, unless it takes another value.
            let own = 1u128.checked_shl(u32::from(letter)).unwrap_or_default();
            if seen & own != 0 {
                continue;
            }
            let name = format!("-{letter}");
            let takes = self.takes_value(&name);
            if !takes {
                seen |= own;
            }
            let rest = place + letter.len_utf8() - offset;
            let glued = offset == 0 && rest < word.text.len();
            let value = match (takes, glued) {
                (false, _) => None,
                (true, true) => Some(GivenValue {
                    word: at,
                    from: rest,
                }),
                (true, false) => {
                    taken += 1;
                    next(taken - 1)
                }
            };
            self.flags.push(GivenFlag {
                name,
                word: at,
                value,
            });
            if takes && glued {
                break;
            }
        }
        taken
    }

    /// `-ofile` of a program whose flags have one dash and whole words for names.
    fn glued(&self, text: &str) -> Option<&'static str> {
        let mut glued = self.program?.glued.iter();
        glued.find(|flag| text.starts_with(**flag)).copied()
    }

    fn takes_value(&self, flag: &str) -> bool {
        let Some(program) = self.program else {
            return false;
        };
        let own = self.case.map_or(&[][..], |case| case.roles.values);
        is_among(flag, own)
            || is_among(flag, program.roles.values)
            || (self.operands.is_empty() && is_among(flag, program.before))
    }
}

impl<'c> Reading<'c> {
    /// Its own words behind the program.
    pub(crate) fn words(&self) -> &'c [Text] {
        self.words
    }

    /// The values of some flags, with the words that hold them.
    pub(crate) fn values_of(
        &self,
        flags: &'static [&'static str],
    ) -> impl Iterator<Item = (&'c str, &'c Text)> + use<'c> {
        let given = self.flags().filter(|flag| flags.contains(&flag.name));
        given.filter_map(|flag| flag.value)
    }

    /// The places of words that are flags and bring no value with them, each with the flag's name.
    pub(crate) fn bare_flags(&self) -> impl Iterator<Item = (&'c str, usize)> + use<'c> {
        // The letters of a cluster stand one behind the other, and have their word in common.
        let words = self.read.flags.chunk_by(|one, next| one.word == next.word);
        words
            .filter(|flags| flags.iter().all(|flag| flag.value.is_none()))
            .flatten()
            .map(|flag| (flag.name.as_str(), flag.word))
    }

    /// The operands behind the subcommand, each with what happens to it.
    pub(crate) fn operand_roles(&self) -> impl Iterator<Item = (&'c Text, Role)> + use<'c> {
        let operands = self.own_operands();
        let count = operands.len();
        let first = self.first_role();
        let others = self.operand_role();
        let last = self
            .last_role()
            .filter(|_| count > usize::from(first.is_some()) + 1);
        operands.enumerate().map(move |(at, word)| {
            let role = match (first, last) {
                (Some(first), _) if at == 0 => Some(first),
                (_, Some(last)) if at + 1 == count => Some(last),
                _ => others,
            };
            (word, role.unwrap_or(Role::Either))
        })
    }

    /// What is known of the program.
    pub(crate) fn program(&self) -> Option<&'static Program> {
        self.read.program
    }

    /// The flags, in the order they stand in; a cluster is one, and each of its letters.
    pub(crate) fn flags(&self) -> impl Iterator<Item = Flag<'c>> + use<'c> {
        let Self { words, read } = *self;
        read.flags.iter().map(move |flag| Flag {
            name: &flag.name,
            value: flag.value.and_then(|value| {
                let word = words.get(value.word)?;
                Some((word.text.get(value.from..)?, word))
            }),
        })
    }

    /// Words that are no flags and no values, the subcommand included.
    pub(crate) fn operands(
        &self,
    ) -> impl DoubleEndedIterator<Item = &'c Text> + ExactSizeIterator + Clone + use<'c> {
        self.operands_after(0)
    }

    /// How many operands a list of subcommands takes; none if they begin otherwise.
    pub(crate) fn begins(&self, subcommands: &[&str]) -> Option<usize> {
        if subcommands.is_empty() {
            return Some(0);
        }
        subcommands
            .iter()
            .find_map(|subcommand| self.begins_so(subcommand))
    }

    /// The same for one, its words wild.
    pub(crate) fn begins_so(&self, subcommand: &str) -> Option<usize> {
        let mut given = self.operands();
        let mut count = 0;
        // Letter by letter: a search for the space costs more than a short word has letters.
        for wanted in subcommand.as_bytes().split(|byte| *byte == b' ') {
            let given = given.next()?;
            if given.dynamic || !matching::wild_bytes(wanted, given.text.as_bytes()) {
                return None;
            }
            count += 1;
        }
        Some(count)
    }

    /// Whether a flag is given, by any of its names, cut short or with a value.
    pub(crate) fn has(&self, spec: &str) -> bool {
        !self.read.flags.is_empty()
            && matching::alternatives(spec).any(|one| self.has_one(one, true))
    }

    /// Whether a flag is given in full, and not taken back.
    pub(crate) fn has_exactly(&self, spec: &str) -> bool {
        !self.read.flags.is_empty()
            && matching::alternatives(spec).any(|one| self.has_one(one, false))
            && !self.is_taken_back(spec)
    }

    /// Whether a flag is given, by any of its names, and not taken back.
    fn has_in_force(&self, spec: &str) -> bool {
        self.has(spec) && !self.is_taken_back(spec)
    }

    /// Whether a flag is switched off: `--dry-run=false`, `--no-dry-run`. Which of two that
    /// contradict each other stands last is not asked: whoever gives both does not mean to be safe.
    fn is_taken_back(&self, spec: &str) -> bool {
        self.flags().any(|flag| {
            let off = flag.value.is_some_and(|(value, _)| is_off(value));
            let taken_back = flag.name.strip_prefix("--no-");
            matching::alternatives(spec).any(|one| {
                let long = one.strip_prefix("--");
                (off && (flag.name == one || self.same(flag.name, one)))
                    || taken_back.is_some_and(|name| {
                        long == Some(name) || self.same(&format!("--{name}"), one)
                    })
            })
        })
    }

    fn has_one(&self, spec: &str, cut_short: bool) -> bool {
        // Letter by letter: a search has to be prepared, and names of flags are short.
        let (name, wanted) = match spec.bytes().position(|byte| byte == b'=') {
            Some(at) => (spec.get(..at).unwrap_or_default(), spec.get(at + 1..)),
            None => (spec, None),
        };
        // Mostly no flag belongs to a group that has the name.
        let in_group = self.groups_given().any(|group| is_among(name, group));
        self.flags().any(|flag| {
            let named = flag.name == name
                || (cut_short && is_cut_short(flag.name, name) && !self.is_known(flag.name))
                || (in_group && self.same(flag.name, name));
            if named {
                return match (wanted, flag.value) {
                    (None, Some((value, _))) => cut_short || !is_off(value),
                    (None, None) => true,
                    (Some(wanted), Some((value, _))) => matching::wild(wanted, value),
                    // A flag nobody has listed may take the next word.
                    (Some(wanted), None) => self
                        .operands()
                        .any(|operand| matching::wild(wanted, &operand.text)),
                };
            }
            // `-Xdelete` of a program that is not listed.
            wanted.is_some_and(|wanted| {
                name.len() == 2
                    && flag
                        .name
                        .strip_prefix(name)
                        .is_some_and(|glued| matching::wild(wanted, glued.trim_start_matches('=')))
            })
        })
    }

    /// The flags of the program that have several names.
    fn groups(&self) -> &'static [&'static [&'static str]] {
        self.read.program.map_or(&[], |program| program.same)
    }

    /// Those of them some flag belongs to, by its name or by one that is cut short.
    fn groups_given(&self) -> impl Iterator<Item = &'static [&'static str]> {
        let groups = self.groups();
        let given = self.read.groups.get_or_init(|| {
            let belongs = |group: &[&str]| {
                let mut flags = self.read.flags.iter();
                flags.any(|flag| is_one_of(&flag.name, group))
            };
            let bits = groups.iter().zip(0..u128::BITS);
            bits.fold(0, |given, (group, at)| {
                given | u128::from(belongs(group)) << at
            })
        });
        let mut left = *given;
        let known = std::iter::from_fn(move || {
            let at = left.trailing_zeros();
            left &= left.wrapping_sub(1);
            groups.get(at as usize).copied().filter(|_| at < u128::BITS)
        });
        // Those there is no bit for are always looked at.
        known.chain(groups.iter().skip(u128::BITS as usize).copied())
    }

    fn same(&self, one: &str, other: &str) -> bool {
        is_same(self.groups(), one, other)
    }

    /// Whether the program has a flag of exactly this name.
    fn is_known(&self, flag: &str) -> bool {
        self.read
            .program
            .is_some_and(|program| program.same.iter().any(|group| is_among(flag, group)))
            || self.read.takes_value(flag)
    }

    /// The operands behind the first `skip` words of a subcommand.
    pub(crate) fn operands_after(
        &self,
        skip: usize,
    ) -> impl DoubleEndedIterator<Item = &'c Text> + ExactSizeIterator + Clone + use<'c> {
        let words = self.words;
        let places = self.read.operands.get(skip..).unwrap_or_default();
        // Every place is that of a word: they were found by looking at these.
        places
            .iter()
            .map(move |place| words.get(*place).unwrap_or(NO_WORD))
    }

    /// The operands behind the subcommand of the case that holds.
    pub(crate) fn own_operands(
        &self,
    ) -> impl DoubleEndedIterator<Item = &'c Text> + ExactSizeIterator + Clone + use<'c> {
        self.operands_after(self.read.subcommand)
    }

    fn roles(&self) -> impl Iterator<Item = &'static Roles> {
        let case = self.read.case.map(|case| &case.roles);
        case.into_iter()
            .chain(self.read.program.map(|program| &program.roles))
    }

    /// The role of operands that stand nowhere in particular.
    pub(crate) fn operand_role(&self) -> Option<Role> {
        self.roles().find_map(|roles| roles.operands)
    }

    /// The role of the first operand, unless a flag gives what it would be.
    pub(crate) fn first_role(&self) -> Option<Role> {
        let (role, unless) = self
            .roles()
            .find_map(|roles| Some((roles.first?, roles.first_unless)))?;
        let given = unless.iter().any(|flag| self.has(flag));
        (!given).then_some(role)
    }

    pub(crate) fn last_role(&self) -> Option<Role> {
        self.roles().find_map(|roles| roles.last)
    }

    pub(crate) fn default(&self) -> Option<&'static str> {
        self.roles().find_map(|roles| roles.default)
    }

    /// The role of a flag's value.
    pub(crate) fn flag_role(&self, flag: &str) -> Option<Role> {
        self.roles().find_map(|roles| {
            let found = roles.flag_operands.iter().find(|(name, _)| *name == flag);
            found.map(|(_, role)| *role)
        })
    }

    /// The role of the value of a flag that is cut short: `--outp` for `--output`. Which flags a
    /// program has that are not listed nobody knows, so the strictest of those it could be counts.
    pub(crate) fn cut_short_role(&self, flag: &str) -> Option<Role> {
        let known = self.roles().flat_map(|roles| roles.flag_operands);
        let mut could_be = known
            .filter(|(name, _)| is_cut_short(flag, name))
            .peekable();
        could_be.peek()?;
        if !flag.starts_with("--") || self.is_known(flag) || self.flag_role(flag).is_some() {
            return None;
        }
        let writes = |role: Role| matches!(role, Role::Write | Role::Append | Role::Delete);
        let first = could_be.next().map(|(_, role)| *role)?;
        let stricter = could_be.map(|(_, role)| *role).find(|role| writes(*role));
        Some(stricter.filter(|_| !writes(first)).unwrap_or(first))
            .filter(|role| *role != Role::Text)
    }

    /// Whether a flag's value names a file only behind `@`.
    pub(crate) fn is_at_file(&self, flag: &str) -> bool {
        self.roles().any(|roles| roles.at_file.contains(&flag))
    }

    /// Whether a flag's value may be `name@file`, too.
    pub(crate) fn is_named_file(&self, flag: &str) -> bool {
        self.roles().any(|roles| roles.named_file.contains(&flag))
    }

    /// Whether a flag's value is a file unless it is `name=value`.
    pub(crate) fn is_bare_file(&self, flag: &str) -> bool {
        self.roles().any(|roles| roles.bare_file.contains(&flag))
    }

    /// Whether a flag's value is sent as it stands.
    pub(crate) fn is_data(&self, flag: &str) -> bool {
        self.roles().any(|roles| roles.data.contains(&flag))
    }

    /// Whether it asks another machine for something by name.
    pub(crate) fn looks_up(&self) -> bool {
        self.roles().any(|roles| roles.looks_up)
    }

    /// The role of a word like `of=x`, and what stands behind the prefix.
    pub(crate) fn prefixed<'t>(&self, text: &'t str) -> Option<(Role, &'t str)> {
        self.roles().find_map(|roles| {
            roles
                .prefixed
                .iter()
                .find_map(|(prefix, role)| Some((*role, text.strip_prefix(prefix)?)))
        })
    }

    pub(crate) fn is_recursive(&self) -> bool {
        let said = self.roles().map(|roles| roles.recursive);
        for recursive in said {
            match recursive {
                Recursive::Unsaid => {}
                Recursive::Always(yes) => return yes,
                Recursive::With(flags) => return flags.iter().any(|flag| self.has(flag)),
            }
        }
        false
    }

    /// What the files it writes hold afterwards, if that is said.
    pub(crate) fn leaves(&self) -> Option<Leaves> {
        self.roles().find_map(|roles| roles.leaves)
    }

    /// The directory it brings files into though no word of it names them.
    pub(crate) fn fills(&self) -> Option<&'static str> {
        let filled = self.roles().find_map(|roles| roles.fills);
        filled.filter(|directory| !directory.is_empty())
    }

    /// The names of the files it calls what addresses end in, with the words that hold these.
    pub(crate) fn named_by_address(&self) -> impl Iterator<Item = (&'c str, &'c Text)> + use<'c> {
        let named = self.roles().find_map(|roles| roles.named_by_address);
        let words = self.own_operands().filter(move |_| named == Some(true));
        words.filter_map(|word| {
            let address = word.text.split(['?', '#']).next().unwrap_or_default();
            let path = address.split_once("://").map_or(address, |(_, rest)| rest);
            // `git@host:name` has no slash.
            let behind_user = || {
                path.split_once('@')
                    .and_then(|(_, rest)| rest.rsplit_once(':'))
            };
            let (_, name) = path.rsplit_once('/').or_else(behind_user)?;
            (!name.is_empty()).then_some((name, word))
        })
    }

    /// The name of what it writes for an operand whose ending it takes off.
    pub(crate) fn without_ending<'t>(&self, operand: &'t str) -> Option<&'t str> {
        let mut endings = self.roles().flat_map(|roles| roles.takes_off);
        endings.find_map(|ending| operand.strip_suffix(ending))
    }

    /// Effects that are about no path, as bits.
    pub(crate) fn effects(&self) -> u64 {
        self.roles()
            .find_map(|roles| roles.effects)
            .unwrap_or_default()
    }
}

/// What stands where no word is.
const NO_WORD: &Text = &Text {
    text: String::new(),
    dynamic: false,
    glob: false,
    pattern: None,
    span: 0..0,
};

/// Whether some group of names has both, the first perhaps cut short.
fn is_same(groups: &[&[&str]], one: &str, other: &str) -> bool {
    let mut groups = groups.iter();
    groups.any(|group| is_among(other, group) && is_one_of(one, group))
}

/// Whether a name, perhaps cut short, is one of a group.
fn is_one_of(flag: &str, group: &[&str]) -> bool {
    let mut names = group.iter();
    names.any(|name| *name == flag || is_cut_short(flag, name))
}

/// Whether a flag is one of these. Flags are short and of few lengths, and differ in their last
/// letter: that saves nearly every comparison of texts.
fn is_among(flag: &str, names: &[&str]) -> bool {
    let last = flag.as_bytes().last();
    names
        .iter()
        .any(|name| name.len() == flag.len() && name.as_bytes().last() == last && *name == flag)
}

/// Letters of a long flag that tell it from others well enough to take the word behind it away.
const MIN_IN_FRONT: usize = 6;

/// `--recurs` for `--recursive`, down to a single letter.
fn is_cut_short(flag: &str, name: &str) -> bool {
    flag.len() > 2 && flag.starts_with("--") && name.starts_with(flag)
}

/// `--dry-run=none`: given, and switched off.
fn is_off(value: &str) -> bool {
    let off = ["none", "false", "f", "no", "n", "off", "0"];
    off.iter().any(|word| value.eq_ignore_ascii_case(word))
}
