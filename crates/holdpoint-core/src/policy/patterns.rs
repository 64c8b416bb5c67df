//! Many globs at once, over text and over commands.
//!
//! `Patterns` matches texts. `CommandPatterns` reads a pattern such as `rm -rf *` as a command —
//! program, flags, operands — and matches commands that mean the same in another spelling: flags
//! in another order, bundled or apart (invariant 3). It is for rules that refuse or ask; a rule
//! that allows must match the text as it stands.
//!
//! A last word that is a star may stand for no word: `cargo test *` means `cargo test`, too. As text it
//! does not, and profile `jaato` keeps to that (J-13): [`LastStar`].

use crate::flags::{self, LONG_BEHIND_ONE_DASH, is_cluster};
use crate::glob::Glob;
use crate::literal_index::{ByText, LiteralIndex};
use crate::paths::base_name;
use crate::understand::CommandView;

/// What a star that is the last word of a pattern for commands stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LastStar {
    /// Any words, or none.
    MayBeMissing,
    /// What `fnmatch` says: the space in front of it must be there (J-13).
    AsText,
}

/// Globs over texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patterns {
    globs: Vec<Glob>,
    exact: ByText<Vec<u32>>,
    index: LiteralIndex,
    /// The rule each indexed glob belongs to, and the glob where it is not the rule's own.
    indexed: Vec<(u32, Option<Glob>)>,
}

impl Patterns {
    pub(crate) fn new<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Self {
        let mut set = Self::default();
        let mut literals = Vec::new();
        for (number, pattern) in (0u32..).zip(patterns) {
            let glob = Glob::new(pattern);
            match glob.literal() {
                Some(text) => set.exact.entry(text.to_owned()).or_default().push(number),
                None => {
                    literals.push(glob.literals());
                    set.indexed.push((number, None));
                }
            }
            set.globs.push(glob);
            let Some(shorter) = without_last_star(pattern) else {
                continue;
            };
            let glob = Glob::new(shorter);
            match glob.literal() {
                Some(text) => set.exact.entry(text.to_owned()).or_default().push(number),
                None => {
                    literals.push(glob.literals());
                    set.indexed.push((number, Some(glob)));
                }
            }
        }
        set.index = LiteralIndex::build(&literals);
        set
    }

    /// The numbers of the patterns that match `text`, in order.
    pub(crate) fn matching(&self, text: &str, star: LastStar) -> Vec<usize> {
        let mut found = self.matching_either_way(text);
        if star == LastStar::AsText {
            found.retain(|number| self.globs.get(*number).is_some_and(|g| g.matches(text)));
        }
        found
    }

    /// The same, a last star standing for any words or none.
    fn matching_either_way(&self, text: &str) -> Vec<usize> {
        if self.globs.is_empty() {
            return Vec::new();
        }
        let mut found: Vec<usize> = self
            .exact
            .get(text)
            .into_iter()
            .flatten()
            .filter_map(|number| usize::try_from(*number).ok())
            .collect();
        for candidate in self.index.candidates(text) {
            let indexed = usize::try_from(candidate)
                .ok()
                .and_then(|candidate| self.indexed.get(candidate));
            let Some((number, shorter)) = indexed else {
                continue;
            };
            if let Ok(number) = usize::try_from(*number)
                && let Some(glob) = shorter.as_ref().or_else(|| self.globs.get(number))
                && glob.matches(text)
            {
                found.push(number);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    pub(crate) fn specificity(&self, number: usize) -> usize {
        self.globs.get(number).map_or(0, Glob::specificity)
    }
}

/// A pattern for commands without the star that is its last word; none for a pattern of another
/// kind. One for the text form of a call (`name(…`) has no words.
pub fn without_last_star(pattern: &str) -> Option<&str> {
    let shorter = pattern.strip_suffix(" *")?;
    let is_command = !shorter.is_empty() && !shorter.ends_with(' ') && !shorter.contains('(');
    is_command.then_some(shorter)
}

/// What the indexes of `CommandPatterns` are built from.
#[derive(Default)]
struct Texts {
    operands: Vec<String>,
    flag_starts: Vec<Vec<String>>,
}

/// Patterns read as commands.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommandPatterns {
    shapes: Vec<Shape>,
    operands: Patterns,
    /// Shapes whose operands could be anything, by a flag they need.
    by_flag: ByText<Vec<usize>>,
    /// The same for flags that may go on, by their fixed part.
    by_flag_start: LiteralIndex,
    by_flag_start_shapes: Vec<usize>,
    /// The shape each pattern of `operands` belongs to.
    by_operands: Vec<usize>,
    /// Shapes by the program they name; those that name none under `*`.
    by_program: ByText<Vec<usize>>,
}

#[derive(Clone, Debug)]
struct Shape {
    /// The pattern's words after the program; none for a pattern that is a single star.
    words: Option<Vec<Glob>>,
    rule: usize,
    flags: Vec<String>,
    /// The same flags apart and under all their names.
    same: Vec<String>,
    /// A pattern without a star means exactly its flags.
    more_flags: bool,
}

impl CommandPatterns {
    /// Reads the patterns that have the form of a command; the others are left out.
    pub(crate) fn new<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Self {
        let mut set = Self::default();
        let mut texts = Texts::default();
        for (rule, pattern) in patterns.into_iter().enumerate() {
            let Some((flags, operands)) = read_command_pattern(pattern) else {
                continue;
            };
            // A star at the end of a last flag also stands for operands, or for none.
            let open_end = pattern
                .rsplit(' ')
                .next()
                .is_some_and(|last| last.starts_with('-') && last.ends_with('*'));
            if open_end {
                set.add(rule, &flags, format!("{operands} *"), &mut texts);
            }
            set.add(rule, &flags, operands, &mut texts);
        }
        set.operands = Patterns::new(texts.operands.iter().map(String::as_str));
        set.by_flag_start = LiteralIndex::build(&texts.flag_starts);
        set
    }

    fn add(&mut self, rule: usize, flags: &[String], operands: String, texts: &mut Texts) {
        let mut same = Vec::new();
        let program = operands.split(' ').next().unwrap_or_default();
        for flag in flags {
            flags::push(&mut same, program, flag);
        }
        flags::add_other_names(&mut same, operands.split(' '));
        let shape = self.shapes.len();
        let program = if program.contains('*') { "*" } else { program };
        self.by_program
            .entry(program.to_owned())
            .or_default()
            .push(shape);
        let any_operands = operands == "*" || operands == "* *";
        match flags.first().filter(|_| any_operands) {
            Some(flag) => match flag.strip_suffix('*') {
                // A command's flags are listed letter by letter, in whatever order they stand.
                Some(start) if start.starts_with("--") => {
                    texts.flag_starts.push(vec![start.to_owned()]);
                    self.by_flag_start_shapes.push(shape);
                }
                _ => {
                    let key = match flag.chars().nth(1) {
                        Some(letter) if is_cluster(flag) => format!("-{letter}"),
                        _ => flag.clone(),
                    };
                    self.by_flag.entry(key).or_default().push(shape);
                }
            },
            None => {
                texts.operands.push(operands.clone());
                self.by_operands.push(shape);
            }
        }
        self.shapes.push(Shape {
            rule,
            flags: flags.to_vec(),
            same,
            words: (operands != "*").then(|| operands.split(' ').skip(1).map(Glob::new).collect()),
            more_flags: operands.contains('*') || flags.iter().any(|flag| flag.ends_with('*')),
        });
    }

    /// The numbers of the patterns `command` matches.
    pub(crate) fn matching(&self, command: &CommandView, star: LastStar) -> Vec<usize> {
        if self.shapes.is_empty() {
            return Vec::new();
        }
        let by_operands = std::iter::once(command.flagless())
            .chain(command.valueless())
            .flat_map(|operands| self.operands.matching(operands, star))
            .filter_map(|number| self.by_operands.get(number));
        let by_flag = command
            .all_flags()
            .filter_map(|flag| self.by_flag.get(flag))
            .flatten();
        let by_flag_start = command
            .all_flags()
            .filter(|_| !self.by_flag_start_shapes.is_empty())
            .flat_map(|flag| self.by_flag_start.candidates(flag))
            .filter_map(|number| usize::try_from(number).ok())
            .filter_map(|number| self.by_flag_start_shapes.get(number));
        let mut found: Vec<usize> = by_operands
            .chain(by_flag)
            .chain(by_flag_start)
            .filter_map(|shape| self.shapes.get(*shape))
            .filter(|shape| shape.flags_fit(command))
            .map(|shape| shape.rule)
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl CommandPatterns {
    /// The first pattern that `command` could turn out to match once the shell has filled in the
    /// words that are not known yet.
    pub(crate) fn possible(&self, command: &CommandView) -> Option<usize> {
        let words = || command.command.words.iter();
        let program = command.program()?;
        let known: Vec<&str> = words()
            .take_while(|word| !word.dynamic)
            .filter(|word| !word.text.starts_with('-'))
            .map(|word| word.text.as_str())
            .skip(1)
            .collect();
        ["*", program]
            .into_iter()
            .filter_map(|key| self.by_program.get(key))
            .flatten()
            .filter_map(|shape| self.shapes.get(*shape))
            // A pattern of one star speaks of everything and so of nothing unknown.
            .find(|shape| {
                shape.words.as_ref().is_some_and(|wanted| {
                    wanted
                        .iter()
                        .zip(&known)
                        .all(|(wanted, word)| wanted.matches(word))
                })
            })
            .map(|shape| shape.rule)
    }
}

impl Shape {
    fn flags_fit(&self, command: &CommandView) -> bool {
        let extra = || {
            command
                .flags
                .iter()
                .any(|flag| !is_cluster(flag) && !self.same.contains(flag))
        };
        self.flags.iter().all(|flag| is_given(flag, command)) && (self.more_flags || !extra())
    }
}

/// Whether a flag is among those given: itself, letter by letter, or how it may go on.
fn is_given(flag: &str, command: &CommandView) -> bool {
    let (start, open) = match flag.strip_suffix('*') {
        Some(start) => (start, true),
        None => (flag, false),
    };
    let has = |flag: &str| command.all_flags().any(|one| one == flag);
    // A long flag may be cut short where that is still clear.
    let cut_short =
        |one: &String| one.len() > 4 && one.starts_with("--") && start.starts_with(one.as_str());
    let letters = !LONG_BEHIND_ONE_DASH.contains(&command.program().unwrap_or_default());
    has(start)
        || command.all_flags().any(cut_short)
        || (open && command.all_flags().any(|one| one.starts_with(start)))
        || (is_cluster(start)
            && letters
            && start
                .chars()
                .skip(1)
                .all(|letter| has(&format!("-{letter}"))))
}

/// The flags and the rest of a pattern that is a command with literal flags.
fn read_command_pattern(pattern: &str) -> Option<(Vec<String>, String)> {
    if pattern.contains([
        '|', ';', '&', '<', '>', '(', '`', '$', '"', '\'', '\\', '\n',
    ]) {
        return None;
    }
    let mut flags = Vec::new();
    let mut operands = String::new();
    for (index, word) in pattern.split(' ').enumerate() {
        if word.is_empty() {
            return None;
        }
        // A star at the end of a flag is one more way it may go on.
        let fixed = word.strip_suffix('*').unwrap_or(word);
        if index > 0 && fixed.len() > 1 && fixed.starts_with('-') && !fixed.contains('*') {
            flags.push(word.to_owned());
            continue;
        }
        if index == 0 {
            operands.push_str(base_name(word));
        } else {
            operands.push(' ');
            operands.push_str(word);
        }
    }
    Some((flags, operands))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::ToolCall;
    use crate::understand::Action;

    fn command_matches(pattern: &str, line: &str) -> bool {
        let call = ToolCall::shell(line);
        let view = Action::of(&call);
        let set = CommandPatterns::new([pattern]);
        view.commands
            .iter()
            .any(|command| !set.matching(command, LastStar::MayBeMissing).is_empty())
    }

    fn matching(set: &Patterns, text: &str) -> Vec<usize> {
        set.matching(text, LastStar::MayBeMissing)
    }

    #[test]
    fn matching_names_every_pattern_in_order() {
        let set = Patterns::new(["git *", "ls", "* push *", "git push origin"]);
        assert_eq!(matching(&set, "git push origin"), [0, 2, 3]);
        assert_eq!(matching(&set, "ls"), [1]);
        assert!(matching(&set, "nothing").is_empty());
    }

    #[test]
    fn a_last_star_stands_for_any_words_or_none() {
        let set = Patterns::new([
            "cargo test *",
            "git * push *",
            "ls*",
            "f(a=b *",
            " *",
            "* *",
        ]);
        assert_eq!(matching(&set, "cargo test"), [0, 5]);
        assert_eq!(matching(&set, "cargo test x"), [0, 5]);
        assert_eq!(matching(&set, "cargo tests"), [5]);
        assert_eq!(matching(&set, "git -C x push"), [1, 5]);
        assert_eq!(matching(&set, "git"), [5]);
        assert_eq!(matching(&set, "f(a=b"), [5]);
        assert!(matching(&set, "").contains(&5) && !matching(&set, "").contains(&4));
    }

    #[test]
    fn as_text_the_space_before_a_last_star_must_be_there() {
        let set = Patterns::new(["cargo test *", "git * push *"]);
        let as_text = |text| set.matching(text, LastStar::AsText);
        assert!(as_text("cargo test").is_empty());
        assert_eq!(as_text("cargo test "), [0]);
        assert!(as_text("git -C x push").is_empty());
        let call = ToolCall::shell("rm -rf");
        let command = CommandPatterns::new(["rm -rf *"]);
        for view in &Action::of(&call).commands {
            assert!(command.matching(view, LastStar::AsText).is_empty());
            assert_eq!(command.matching(view, LastStar::MayBeMissing), [0]);
        }
    }

    #[test]
    fn flags_may_be_bundled_apart_or_moved() {
        for line in [
            "rm -rf /x",
            "rm -fr /x",
            "rm -r -f /x",
            "rm /x -rf",
            "/bin/rm -rvf /x",
        ] {
            assert!(command_matches("rm -rf *", line), "{line}");
        }
        assert!(command_matches("rm -rf *", "rm --recursive --force /x"));
        assert!(!command_matches("rm -rf *", "rm -r /x"));
        assert!(!command_matches("rm -rf *", "rm file.txt"));
        assert!(command_matches("rm -rf *", "rm -rf"));
    }

    #[test]
    fn a_pattern_without_a_star_means_exactly_its_flags() {
        assert!(command_matches("git push --force", "git push -f"));
        assert!(command_matches(
            "yarn publish --force",
            "yarn --force publish"
        ));
        assert!(!command_matches(
            "git push --force",
            "git push --force --tags"
        ));
        assert!(!command_matches("git push", "git push --force"));
    }

    #[test]
    fn a_flag_may_go_on_and_stand_anywhere() {
        assert!(command_matches(
            "git push --force*",
            "git push origin main --force-with-lease"
        ));
        assert!(command_matches("git push --force*", "git push --force"));
        assert!(command_matches("git clean -fd*", "git clean -xdf src"));
        assert!(!command_matches(
            "git push --force*",
            "git push origin main"
        ));
    }

    #[test]
    fn options_before_the_subcommand_do_not_hide_it() {
        assert!(command_matches(
            "git push --force*",
            "git -C /repo --no-pager push --force"
        ));
        assert!(command_matches(
            "git push *",
            "git --git-dir=x -c a.b=c push origin"
        ));
        assert!(command_matches(
            "kubectl delete *",
            "kubectl -n prod delete pod x"
        ));
    }

    #[test]
    fn words_that_are_not_known_could_be_what_a_pattern_names() {
        let possible = |pattern: &str, line: &str| {
            let call = ToolCall::shell(line);
            let set = CommandPatterns::new([pattern]);
            let view = Action::of(&call);
            view.commands
                .iter()
                .any(|command| set.possible(command).is_some())
        };
        assert!(possible("rm -rf *", "rm $F /x"));
        assert!(possible("git push --force*", "git push $X"));
        assert!(!possible("git push --force*", "git commit -m \"$X\""));
        assert!(!possible("rm -rf *", "ls $X"));
    }

    #[test]
    fn flags_of_any_program_can_be_named() {
        assert!(command_matches("* -rf *", "rm -fr x"));
        assert!(!command_matches("* --force", "git push --force-with-lease"));
    }
}
