//! The words of a command as its program reads them: subcommand, flags with their values, operands.
//!
//! What takes a value is known from `programs.toml`. Of a program that is not listed, a flag is a
//! flag and everything else an operand.

use crate::rules::{self, Program, ProgramCase, Recursive, Role, Roles, matching};
use crate::shell::{Command, Text};

/// A command, read.
#[derive(Debug)]
pub(crate) struct Reading<'c> {
    pub(crate) program: Option<&'static Program>,
    case: Option<&'static ProgramCase>,
    pub(crate) flags: Vec<Flag<'c>>,
    /// Words that are no flags and no values, the subcommand included.
    pub(crate) operands: Vec<&'c Text>,
    /// How many of them are the subcommand the case asks for.
    subcommand: usize,
}

/// A flag as given.
#[derive(Debug)]
pub(crate) struct Flag<'c> {
    pub(crate) name: String,
    /// Its value and the word that holds it.
    pub(crate) value: Option<(&'c str, &'c Text)>,
}

impl<'c> Reading<'c> {
    /// Reads the first `own` words of a command; what follows belongs to a command it runs.
    pub(crate) fn of(command: &'c Command, name: &str, own: usize) -> Self {
        let program = rules::program(name);
        let words = command.words.get(1..own.max(1)).unwrap_or_default();
        let mut reading = Self {
            program,
            case: None,
            flags: Vec::new(),
            operands: Vec::new(),
            subcommand: 0,
        };
        reading.read(words);
        let Some(program) = program else {
            return reading;
        };
        // The values of a subcommand's own flags are known once the subcommand is.
        for case in program.cases {
            let Some(count) = reading.begins(case.subcommand) else {
                continue;
            };
            if !case.roles.values.is_empty() {
                reading.case = Some(case);
                reading.subcommand = count;
                reading.read(words);
            }
            if case.flags.iter().all(|flag| reading.has(flag))
                && !case.without.iter().any(|flag| reading.has_exactly(flag))
            {
                reading.case = Some(case);
                reading.subcommand = reading.begins(case.subcommand).unwrap_or(count);
                return reading;
            }
            reading.case = None;
            reading.subcommand = 0;
        }
        reading
    }

    fn read(&mut self, words: &'c [Text]) {
        self.flags.clear();
        self.operands.clear();
        let mut operands_only = false;
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            let text = word.text.as_str();
            if operands_only || text.len() < 2 || !text.starts_with('-') {
                if self.takes_cluster_without_dash(word) {
                    let cluster = format!("-{text}");
                    at += self.cluster(&cluster, word, words.get(at..).unwrap_or_default());
                    continue;
                }
                self.operands.push(word);
            } else if text == "--" {
                operands_only = true;
            } else if text.starts_with("--") || self.program.is_some_and(|one| one.single_dash) {
                at += self.long(text, word, words.get(at));
            } else {
                at += self.cluster(text, word, words.get(at..).unwrap_or_default());
            }
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

    /// Takes a long flag; says how many words of value it takes besides.
    fn long(&mut self, text: &'c str, word: &'c Text, next: Option<&'c Text>) -> usize {
        if let Some((name, value)) = text.split_once('=') {
            self.flags.push(Flag {
                name: name.to_owned(),
                value: Some((value, word)),
            });
            return 0;
        }
        let takes = self.takes_value(text);
        self.flags.push(Flag {
            name: text.to_owned(),
            value: next
                .filter(|_| takes)
                .map(|next| (next.text.as_str(), next)),
        });
        usize::from(takes)
    }

    /// Takes bundled letters; says how many words of value they take besides.
    fn cluster(&mut self, text: &str, word: &'c Text, next: &'c [Text]) -> usize {
        let whole = text.chars().count() > 2;
        if whole {
            self.flags.push(Flag {
                name: text.to_owned(),
                value: None,
            });
            if self.takes_value(text) {
                let value = next.first().map(|next| (next.text.as_str(), next));
                if let Some(flag) = self.flags.last_mut() {
                    flag.value = value;
                }
                return 1;
            }
        }
        let mut taken = 0;
        for (at, letter) in text.char_indices().skip(1) {
            let name = format!("-{letter}");
            let takes = self.takes_value(&name);
            let rest = at + letter.len_utf8();
            // The word may be written without its dash.
            let offset = usize::from(!word.text.starts_with('-'));
            let glued = word
                .text
                .get(rest - offset..)
                .filter(|glued| !glued.is_empty());
            let value = match (takes, glued) {
                (false, _) => None,
                (true, Some(glued)) if offset == 0 => Some((glued, word)),
                (true, _) => {
                    let value = next.get(taken).map(|next| (next.text.as_str(), next));
                    taken += 1;
                    value
                }
            };
            let ends = takes && glued.is_some() && offset == 0;
            self.flags.push(Flag { name, value });
            if ends {
                break;
            }
        }
        taken
    }

    fn takes_value(&self, flag: &str) -> bool {
        let Some(program) = self.program else {
            return false;
        };
        let own = self.case.map_or(&[][..], |case| case.roles.values);
        own.contains(&flag)
            || program.roles.values.contains(&flag)
            || (self.operands.is_empty() && program.before.contains(&flag))
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
        let mut count = 0;
        for wanted in subcommand.split(' ') {
            let given = self.operands.get(count)?;
            if given.dynamic || !matching::wild(wanted, &given.text) {
                return None;
            }
            count += 1;
        }
        Some(count)
    }

    /// Whether a flag is given, by any of its names, cut short or with a value.
    pub(crate) fn has(&self, spec: &str) -> bool {
        spec.split(" | ").any(|one| self.has_one(one.trim(), true))
    }

    /// Whether a flag is given in full.
    pub(crate) fn has_exactly(&self, spec: &str) -> bool {
        spec.split(" | ").any(|one| self.has_one(one.trim(), false))
    }

    fn has_one(&self, spec: &str, cut_short: bool) -> bool {
        if self.flags.is_empty() {
            return false;
        }
        let (name, wanted) = match spec.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (spec, None),
        };
        self.flags.iter().any(|flag| {
            let named = flag.name == name
                || self.same(&flag.name, name)
                || (cut_short && !self.is_known(&flag.name) && is_cut_short(&flag.name, name));
            if named {
                return match (wanted, flag.value) {
                    (None, Some((value, _))) => cut_short || !is_off(value),
                    (None, None) => true,
                    (Some(wanted), Some((value, _))) => matching::wild(wanted, value),
                    // A flag nobody has listed may take the next word.
                    (Some(wanted), None) => self
                        .operands
                        .iter()
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

    fn same(&self, one: &str, other: &str) -> bool {
        self.program.is_some_and(|program| {
            program.same.iter().any(|group| {
                group.contains(&other)
                    && group
                        .iter()
                        .any(|name| *name == one || is_cut_short(one, name))
            })
        })
    }

    /// Whether the program has a flag of exactly this name.
    fn is_known(&self, flag: &str) -> bool {
        self.program
            .is_some_and(|program| program.same.iter().any(|group| group.contains(&flag)))
            || self.takes_value(flag)
    }

    /// The operands behind the first `skip` words of a subcommand.
    pub(crate) fn operands_after(&self, skip: usize) -> &[&'c Text] {
        self.operands.get(skip..).unwrap_or_default()
    }

    /// The operands behind the subcommand of the case that holds.
    pub(crate) fn own_operands(&self) -> &[&'c Text] {
        self.operands_after(self.subcommand)
    }

    fn roles(&self) -> impl Iterator<Item = &'static Roles> {
        let case = self.case.map(|case| &case.roles);
        case.into_iter()
            .chain(self.program.map(|program| &program.roles))
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

    /// Whether a flag's value names a file only behind `@`.
    pub(crate) fn is_at_file(&self, flag: &str) -> bool {
        self.roles().any(|roles| roles.at_file.contains(&flag))
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

    /// Effects that are about no path, as bits.
    pub(crate) fn effects(&self) -> u64 {
        self.roles()
            .find_map(|roles| roles.effects)
            .unwrap_or_default()
    }
}

/// `--recurs` for `--recursive`.
fn is_cut_short(flag: &str, name: &str) -> bool {
    flag.len() > 3 && flag.starts_with("--") && name.starts_with(flag)
}

/// `--dry-run=none`: given, and switched off.
fn is_off(value: &str) -> bool {
    matches!(value, "none" | "false" | "no" | "0")
}
