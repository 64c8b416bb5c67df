//! Rules about what a call does, not how it is spelled (`"effects"` in a list).
//!
//! A clause names effects and the places they may be about, programs, or both. A list that refuses or asks speaks of a
//! call if any of its effects is in a clause. A list that allows must cover the call whole: each program by a clause that
//! names it, and each effect by a clause that names that; of the kinds of effects that a clause names together with
//! programs, it alone speaks for these programs. What is not known is covered by nothing (invariants 2 and 5).

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Deserialize;

use crate::document::hint;
use crate::effects::places::{Place, WORKSPACE_ROOT};
use crate::effects::{Effect, Subject};
use crate::rules::{self, GROUPS, GroupOperands, TARGETS, matching, words};

/// What a call may do, and with which programs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(
    deny_unknown_fields,
    default,
    rename_all = "camelCase",
    expecting = "an object; try: write {\"effect\": [\"read\"], \"notTarget\": [\"secret\"]}"
)]
pub struct Clause {
    /// Effects it speaks of: `read`, `write`, `delete`, `connect` and the others of docs/rules.md.
    pub effect: Vec<EffectWord>,
    /// What they must be about, one of these. Without it: anything.
    pub target: Vec<TargetWord>,
    /// What they must not be about.
    pub not_target: Vec<TargetWord>,
    /// Programs it speaks of, by what they are for: `look`, `edit`, `build` and the others of docs/policy.md.
    pub group: Vec<GroupWord>,
    /// Programs it speaks of by name, with a subcommand or without, wild: `cargo`, `git commit`, `./*`.
    pub program: Vec<String>,
    /// Where they must be run, one of these places. Without it: anywhere.
    pub directory: Vec<TargetWord>,
    /// In `allow`: only inside the sandbox. Where there is none, it allows nothing.
    pub contained: bool,
}

/// A kind of effect, as a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(try_from = "String")]
pub struct EffectWord(#[cfg_attr(feature = "schema", schemars(with = "String"))] u64);

/// What an effect can be about, as bits of its classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(try_from = "String")]
pub struct TargetWord(#[cfg_attr(feature = "schema", schemars(with = "String"))] Target);

/// What an effect can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Class(u64),
    /// What git has to the byte, or the session made: it can be had again.
    Recoverable,
    /// A process that the same line has started.
    OwnJob,
}

impl TargetWord {
    fn is_root(self) -> bool {
        self.0 == Target::Class(WORKSPACE_ROOT)
    }
}

/// The name of a group of programs, as its place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(try_from = "String")]
pub struct GroupWord(#[cfg_attr(feature = "schema", schemars(with = "String"))] usize);

/// The group of programs that no table describes, and its place behind all others.
const UNDESCRIBED: (&str, usize) = ("undescribed", usize::MAX);

/// The group of interpreters whose code was read to the end, and its place.
const UNDERSTOOD: (&str, usize) = ("understood", usize::MAX - 1);

/// The word for what can be had again, beside the classes of places.
const RECOVERABLE: &str = "recoverable";

/// The word for processes that the same line has started.
const OWN_JOB: &str = "own-job";

impl TryFrom<String> for EffectWord {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        let bit = words::bit(words::EFFECTS, &word);
        bit.map(Self)
            .ok_or_else(|| unknown("effect", &word, words::EFFECTS))
    }
}

impl TryFrom<String> for TargetWord {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        if word == RECOVERABLE {
            return Ok(Self(Target::Recoverable));
        }
        if word == OWN_JOB {
            return Ok(Self(Target::OwnJob));
        }
        let bit = words::bit(TARGETS, &word);
        bit.map(|bit| Self(Target::Class(bit)))
            .ok_or_else(|| unknown("place", &word, &targets()))
    }
}

impl TryFrom<String> for GroupWord {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        if word == UNDESCRIBED.0 {
            return Ok(Self(UNDESCRIBED.1));
        }
        if word == UNDERSTOOD.0 {
            return Ok(Self(UNDERSTOOD.1));
        }
        let at = GROUPS.iter().position(|(name, _)| *name == word);
        at.map(Self)
            .ok_or_else(|| unknown("group of programs", &word, &groups()))
    }
}

/// The words each kind of word can be, by the name of its type.
#[cfg(feature = "schema")]
pub(super) fn words() -> [(&'static str, Vec<&'static str>); 3] {
    [
        ("EffectWord", words::EFFECTS.to_vec()),
        ("TargetWord", targets()),
        ("GroupWord", groups()),
    ]
}

fn targets() -> Vec<&'static str> {
    TARGETS
        .iter()
        .copied()
        .chain([RECOVERABLE, OWN_JOB])
        .collect()
}

fn groups() -> Vec<&'static str> {
    let named = GROUPS.iter().map(|(name, _)| *name);
    named.chain([UNDESCRIBED.0, UNDERSTOOD.0]).collect()
}

fn unknown(what: &str, word: &str, known: &[&str]) -> String {
    format!("no {what} is called `{word}`; try: {}", hint(word, known))
}

/// What a clause needs to be told of places, which only whoever can look at the disk knows.
pub(crate) trait Facts {
    /// Whether what an effect of a command is about can be had again to the byte.
    fn is_recoverable(&self, effect: &Effect, subject: &Subject<'_>) -> bool;

    /// Whether a command ends nothing but processes that the same line has started.
    fn ends_own_jobs(&self, subject: &Subject<'_>) -> bool;

    /// Whether a clause names a command for the code it runs, which was read to the end.
    fn names_code(&self, clause: &Clause, subject: &Subject<'_>) -> bool;

    /// Whether a place is the workspace or in it. One above it is `workspace-root` as well, since deleting that deletes
    /// the workspace; to one who allows it is not.
    fn is_in_workspace(&self, place: &Place) -> bool;
}

impl Clause {
    /// Whether it speaks of an effect of a command, whose program it names or leaves open. By which name the program is
    /// known, the caller says: `./ls` is not `ls` to one who allows.
    pub(crate) fn speaks_of(
        &self,
        effect: &Effect,
        program: Option<&str>,
        subject: &Subject<'_>,
        facts: &impl Facts,
    ) -> bool {
        let about = |word: &TargetWord| match word.0 {
            Target::Class(bit) => effect.classes & bit != 0,
            Target::Recoverable => facts.is_recoverable(effect, subject),
            Target::OwnJob => facts.ends_own_jobs(subject),
        };
        self.is_about(effect)
            && !self.not_target.iter().any(about)
            && (self.names_no_program()
                || self.names(program, subject)
                || facts.names_code(self, subject))
            && (self.target.is_empty()
                || self.target.iter().any(|word| {
                    about(word) && (!word.is_root() || facts.is_in_workspace(&effect.place))
                }))
    }

    /// Whether it is about effects of this kind.
    pub(crate) fn is_about(&self, effect: &Effect) -> bool {
        let kind = 1u64 << (effect.kind as u32);
        self.effect.iter().any(|word| word.0 & kind != 0)
    }

    /// Whether it is about commands that are run in this place.
    pub(crate) fn has_directory(&self, place: &Place, facts: &impl Facts) -> bool {
        let is =
            |word: &TargetWord| matches!(word.0, Target::Class(bit) if place.classes & bit != 0);
        let mut wanted = self.directory.iter();
        wanted.any(|word| is(word) && (!word.is_root() || facts.is_in_workspace(place)))
    }

    /// Whether it is about any program.
    fn names_no_program(&self) -> bool {
        self.group.is_empty() && self.program.is_empty()
    }

    /// Whether it names the program of a command, by the name under which the command is to be known.
    pub(crate) fn names(&self, program: Option<&str>, subject: &Subject<'_>) -> bool {
        let Some(program) = program else {
            return false;
        };
        let begins = |words: &str| {
            let reading = subject.reading.as_ref();
            reading.is_some_and(|reading| reading.begins_so(words).is_some())
        };
        let by_name = |written: &String| match written.split_once(' ') {
            Some((name, subcommand)) => matching::wild(name, program) && begins(subcommand.trim()),
            None => matching::wild(written, program),
        };
        self.program.iter().any(by_name)
            || self.group.iter().any(|word| {
                if word.0 == UNDESCRIBED.1 {
                    return is_undescribed(program);
                }
                let entries = GROUPS.get(word.0).map_or(&[][..], |(_, entries)| entries);
                entries.iter().any(|entry| entry.holds(program, subject))
            })
    }

    /// Whether it names interpreters whose code was read to the end.
    pub(crate) fn names_understood(&self) -> bool {
        self.group.iter().any(|word| word.0 == UNDERSTOOD.1)
    }

    /// Whether a list that refuses or asks speaks of a command by it, and by which of its effects.
    pub(crate) fn touches(&self, subject: &Subject<'_>, facts: &impl Facts) -> bool {
        match self.effect.is_empty() {
            true => self.names(subject.program, subject),
            false => (subject.effects.iter())
                .any(|one| self.speaks_of(one, subject.program, subject, facts)),
        }
    }

    /// How it is called where it decided: by what it says.
    pub(crate) fn label(&self) -> String {
        let effects = (0..words::EFFECTS.len())
            .filter(|at| self.effect.iter().any(|word| word.0 == 1 << at))
            .filter_map(|at| words::EFFECTS.get(at).copied());
        let groups = self.group.iter();
        let groups = groups.map(|word| match GROUPS.get(word.0) {
            Some((name, _)) => *name,
            None if word.0 == UNDERSTOOD.1 => UNDERSTOOD.0,
            None => UNDESCRIBED.0,
        });
        let named = self.program.iter().map(String::as_str);
        let said: Vec<&str> = effects.chain(groups).chain(named).collect();
        format!("effects: {}", said.join(", "))
    }
}

/// Whether no table says what a program does, and no rule speaks of it.
pub(crate) fn is_undescribed(program: &str) -> bool {
    let known = rules::program(program).is_some() || rules::is_named(program);
    !known && !program.contains('/') && !crate::shell::is_program(program)
}

impl crate::rules::Group {
    /// Whether a command of this program is one of the group.
    pub(crate) fn holds(&self, program: &str, subject: &Subject<'_>) -> bool {
        if !self.programs.contains(&program) {
            return false;
        }
        let Some(reading) = subject.reading.as_ref() else {
            return false;
        };
        let Some(count) = reading.begins(self.subcommand) else {
            return false;
        };
        let behind = reading.operands().len().saturating_sub(count);
        self.most_operands.is_none_or(|most| behind <= most)
            && self.flags.iter().all(|flag| reading.has_exactly(flag))
            && !self.without.iter().any(|flag| reading.has(flag))
            && reading.words().iter().all(|word| self.has_word(&word.text))
            && (reading.operands_after(count)).all(|word| self.operands.admits(&word.text))
    }

    /// Whether a command of the group may have such a word.
    fn has_word(&self, word: &str) -> bool {
        let flag = word.split_once('=').map_or(word, |(name, _)| name);
        let known = |only: &[&str]| !word.starts_with('-') || only.contains(&flag);
        let mut unlike = self.without_words.iter().copied();
        self.only.is_none_or(known)
            && !unlike.any(|spec| matching::alternatives(spec).any(|one| matching::wild(one, word)))
    }
}

/// Endings by which package managers take a name for a file.
const ENDINGS_OF_FILES: &[&str] = &[".gz", ".json", ".rb", ".tar", ".tgz"];

impl GroupOperands {
    fn admits(self, operand: &str) -> bool {
        let plain = |signs: &str| {
            let known = |c: char| c.is_ascii_alphanumeric() || signs.contains(c);
            operand.chars().all(known)
        };
        match self {
            Self::Any => true,
            Self::Names => {
                let file = ENDINGS_OF_FILES.iter().any(|end| operand.ends_with(end));
                let scopes = usize::from(operand.starts_with('@'));
                plain("._@+-^~/") && operand.matches('/').count() <= scopes && !file
            }
            // What begins with a plus is forced, a pattern and a full name may be any of the repository's.
            Self::Refs => plain("._/:@-") && !operand.contains(":refs/"),
        }
    }
}
