//! What a command changes on the disk that a later command of the same text might run.
//!
//! Promises that every file is told that `programs.toml` says a command writes by its words, with
//! its content where that is foreseen. What is only known when a file is looked up (whether it is
//! there, what its name leads to) is left to who looks.

use std::borrow::Cow;

use super::commands::{Command, Redirection, RedirectionKind, Text};
use super::environment::{Origin, joined};
use super::files::Content;
use super::foreseen;
use super::input::Input;
use super::texts::UNKNOWN;
use super::unwrapping::STANDARD_INPUT;
use crate::effects::reading::{ReadWords, Reading};
use crate::rules::{self, Leaves, Program, Role};

/// Commands that are remembered one by one; where more could have changed files, all that were
/// listed count.
const MAX_CHANGERS: usize = 64;

/// The commands that may have changed files by their words, by their places in the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Changers {
    places: Vec<usize>,
    /// There are more than are remembered.
    more: bool,
}

impl Changers {
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty() && !self.more
    }

    pub(super) fn add(&mut self, place: usize) {
        if self.more || self.places.contains(&place) {
            return;
        }
        if self.places.len() >= MAX_CHANGERS {
            self.more = true;
            return;
        }
        self.places.push(place);
    }

    /// The commands of either.
    pub(super) fn either(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.more |= other.more;
        for place in &other.places {
            both.add(*place);
        }
        both
    }

    /// Forgets the commands from one on: they are listed no more.
    pub(super) fn forget_from(&mut self, place: usize) {
        self.places.retain(|known| *known < place);
    }

    /// Those of `listed` commands that may have changed files.
    pub(super) fn among(&self, listed: usize) -> Vec<usize> {
        if self.more {
            return (0..listed).collect();
        }
        let mut places = self.places.clone();
        places.retain(|place| *place < listed);
        places
    }
}

/// Something a command changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) target: Target,
    pub(super) outcome: Outcome,
}

/// The file that is changed, or the directory below which files are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// This path, from where the command runs.
    Path(String),
    /// What a pattern with `*` and `?` stands for.
    Pattern(String),
    /// Nobody knows.
    Anywhere,
}

/// What a file then holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// This, added to what is there or in its place.
    Holds { content: Content, added: bool },
    /// What comes from there.
    Anything(Origin),
    /// What it held, changed in place in a way that is not foreseen.
    Edited,
    /// Something else, perhaps: files are brought to another state of the project's history, or
    /// nobody knows which file is written. That counts where there is a text.
    Perhaps,
    /// What was made of sources, or installed.
    Built,
}

/// What is known of a command's program, if it changes files by its words.
pub(super) fn changer(command: &Command) -> Option<&'static Program> {
    rules::program(command.program()?).filter(|program| program.writes)
}

/// What a command changes, if it reads this; the files its redirects name are known from elsewhere.
pub(super) fn of(command: &Command, input: &Input) -> Vec<Change> {
    let mut changes = match changer(command).and(command.program()) {
        Some(name) => by_words(command, name, input),
        None => Vec::new(),
    };
    let dynamic = command.redirects.iter().filter(|one| writes_unknown(one));
    changes.extend(dynamic.map(|redirect| Change {
        target: Places::target(Some(""), &redirect.target.text, &redirect.target),
        outcome: Outcome::Perhaps,
    }));
    changes
}

/// Whether a redirect writes a file that only the shell will know.
pub(super) fn writes_unknown(redirect: &Redirection) -> bool {
    let writes = match redirect.kind {
        RedirectionKind::Write
        | RedirectionKind::Clobber
        | RedirectionKind::Append
        | RedirectionKind::ReadWrite => true,
        RedirectionKind::Read
        | RedirectionKind::HereDocument
        | RedirectionKind::HereString
        | RedirectionKind::Duplicate => false,
    };
    writes && redirect.target.dynamic
}

fn by_words(command: &Command, name: &str, input: &Input) -> Vec<Change> {
    let read = ReadWords::read_command(command, name, command.words.len());
    let reading = read.of_command(command, command.words.len());
    let leaves = reading.leaves();
    if leaves == Some(Leaves::Nothing) {
        return Vec::new();
    }
    let places = Places::of(&reading);
    if matches!(leaves, Some(Leaves::Copies | Leaves::Links)) {
        return copied(&reading, leaves == Some(Leaves::Links), input);
    }
    let outcome = |added: bool| match leaves {
        Some(Leaves::Input) => Outcome::Holds {
            content: foreseen::content(input),
            added,
        },
        Some(Leaves::Edited) => Outcome::Edited,
        Some(Leaves::History) => Outcome::Perhaps,
        Some(Leaves::Built) => Outcome::Built,
        Some(Leaves::Copies | Leaves::Links | Leaves::Nothing) | None => {
            Outcome::Anything(origin(command, &reading))
        }
    };
    let mut changes = Vec::new();
    let mut add = |target: Target, role: Role| {
        let outcome = match (&target, outcome(role == Role::Append)) {
            // Which file holds it is not known, so nothing is foreseen of any.
            (Target::Pattern(_) | Target::Anywhere, Outcome::Holds { .. }) => {
                Outcome::Anything(Origin::Elsewhere)
            }
            (Target::Path(_) | Target::Pattern(_) | Target::Anywhere, outcome) => outcome,
        };
        changes.push(Change { target, outcome });
    };
    let mut operands = 0;
    for (word, role) in reading.operand_roles() {
        operands += 1;
        let (role, value) = reading
            .prefixed(&word.text)
            .unwrap_or((role, word.text.as_str()));
        if is_written(role) {
            add(places.of_operand(value, word), role);
        }
        if let Some(stem) = reading.without_ending(&word.text) {
            add(places.of_operand(stem, word), Role::Write);
        }
    }
    if operands == 0
        && let (Some(default), Some(role)) = (reading.default(), reading.operand_role())
        && is_written(role)
    {
        add(places.of_text(default), role);
    }
    for (value, word, role) in written_by_flags(&reading) {
        add(places.of_flag(value, word), role);
    }
    for (name, word) in reading.named_by_address() {
        let name = reading.without_ending(name).unwrap_or(name);
        add(places.of_flag(name, word), Role::Write);
    }
    if let Some(directory) = reading.fills() {
        add(places.of_text(directory), Role::Write);
    }
    changes
}

fn is_written(role: Role) -> bool {
    matches!(role, Role::Write | Role::Append)
}

/// The values of flags that are written.
fn written_by_flags<'c>(reading: &Reading<'c>) -> Vec<(&'c str, &'c Text, Role)> {
    let mut written = Vec::new();
    for flag in reading.flags() {
        let role = reading
            .flag_role(flag.name)
            .or_else(|| reading.cut_short_role(flag.name));
        if let (Some((value, word)), Some(role)) = (flag.value, role)
            && is_written(role)
            && !reading.is_at_file(flag.name)
        {
            written.push((value, word, role));
        }
    }
    for (name, at) in reading.bare_flags() {
        if let (Some(role), Some(next)) =
            (reading.cut_short_role(name), reading.words().get(at + 1))
            && is_written(role)
        {
            written.push((next.text.as_str(), next, role));
        }
    }
    written
}

/// Where what a command writes comes from.
fn origin(command: &Command, reading: &Reading<'_>) -> Origin {
    if reading.operand_role() == Some(Role::Connect) {
        Origin::Network
    } else if foreseen::is_decoder(command) {
        Origin::Decoder
    } else {
        Origin::Elsewhere
    }
}

/// What each source of a command that copies becomes.
fn copied(reading: &Reading<'_>, linked: bool, input: &Input) -> Vec<Change> {
    let places = Places::of(reading);
    let mut sources: Vec<&Text> = Vec::new();
    let mut targets: Vec<(Target, bool)> = Vec::new();
    for (word, role) in reading.operand_roles() {
        if is_written(role) {
            let is_directory = word.text.ends_with('/');
            targets.push((places.of_operand(&word.text, word), is_directory));
        } else {
            sources.push(word);
        }
    }
    let given = written_by_flags(reading);
    targets.extend(
        given
            .into_iter()
            .map(|(value, word, _)| (places.of_flag(value, word), true)),
    );
    if targets.is_empty() {
        // `ln -s ../x` makes a link of that name here.
        targets.push((Target::Path(String::new()), true));
    }
    // What a symbolic link says is read from where it stands.
    let symbolic = linked && reading.has("-s | --symbolic | --symbolic-link");
    let mut changes = Vec::new();
    for (target, is_directory) in targets {
        for source in &sources {
            let unknown = source.dynamic || source.glob;
            let whole = !linked
                && (matches!(source.text.as_str(), "." | "..") || source.text.ends_with("/."));
            let Target::Path(path) = target.clone().given(!unknown && !whole) else {
                // What a pattern stands for, or all of a directory, comes to lie below the target.
                changes.push(Change {
                    target: target.clone(),
                    outcome: Outcome::Anything(Origin::Elsewhere),
                });
                continue;
            };
            let source = source.text.as_str();
            let name = source.trim_end_matches('/').rsplit('/').next();
            let inside = joined(&path, name.unwrap_or(source));
            let holds = |path: String| {
                let from = match path.rsplit_once('/') {
                    Some((beside, _)) if symbolic => joined(beside, source),
                    Some(_) | None => source.to_owned(),
                };
                Change {
                    target: Target::Path(path),
                    outcome: Outcome::Holds {
                        content: match linked {
                            true => Content::Link(from),
                            false if STANDARD_INPUT.contains(&source) => foreseen::content(input),
                            false => Content::Same(from),
                        },
                        added: false,
                    },
                }
            };
            if !is_directory && sources.len() == 1 {
                changes.push(holds(path));
            }
            // What has no name of its own gets none inside of a directory.
            if !matches!(name, Some("." | "..")) {
                changes.push(holds(inside));
            }
        }
    }
    changes
}

impl Target {
    /// The target itself if the source is given, and otherwise no single path.
    fn given(self, given: bool) -> Self {
        match given {
            true => self,
            false => Target::Anywhere,
        }
    }
}

/// The directories a command puts in front of what its words name.
struct Places<'c> {
    /// For the values of its flags and for its operands; none if nobody knows.
    flags: Option<Cow<'c, str>>,
    operands: Option<Cow<'c, str>>,
}

impl<'c> Places<'c> {
    fn of(reading: &Reading<'c>) -> Self {
        let program = reading.program();
        let mut flags = Some(Cow::Borrowed(""));
        for (value, word) in reading.values_of(program.map_or(&[], |program| program.directory)) {
            flags = Self::inside(flags, value, word);
        }
        let mut operands = flags.clone();
        for (value, word) in reading.values_of(program.map_or(&[], |program| program.operands_in)) {
            operands = Self::inside(operands, value, word);
        }
        Self { flags, operands }
    }

    fn inside(
        directory: Option<Cow<'c, str>>,
        value: &'c str,
        word: &Text,
    ) -> Option<Cow<'c, str>> {
        if word.dynamic || word.glob {
            return None;
        }
        match directory {
            Some(outer) if !outer.is_empty() => Some(Cow::Owned(joined(&outer, value))),
            Some(_) => Some(Cow::Borrowed(value)),
            None if value.starts_with(['/', '~']) => Some(Cow::Borrowed(value)),
            None => None,
        }
    }

    fn of_operand(&self, value: &str, word: &Text) -> Target {
        Self::target(self.operands.as_deref(), value, word)
    }

    fn of_flag(&self, value: &str, word: &Text) -> Target {
        Self::target(self.flags.as_deref(), value, word)
    }

    /// A path that stands in no word.
    fn of_text(&self, text: &str) -> Target {
        match self.operands.as_deref() {
            Some(directory) => Target::Path(joined(directory, text)),
            None => Target::Anywhere,
        }
    }

    /// What stands at the end of a word, below a directory.
    fn target(directory: Option<&str>, value: &str, word: &Text) -> Target {
        let known: Cow<'_, str> = match (word.pattern.as_deref(), word.text.strip_suffix(value)) {
            (Some(pattern), Some(front)) if word.dynamic => match pattern.strip_prefix(front) {
                Some(rest) => Cow::Borrowed(rest),
                None => return Target::Anywhere,
            },
            _ if word.dynamic => return Target::Anywhere,
            _ => Cow::Borrowed(value),
        };
        let anchored = known.starts_with(['/', '~']);
        let path = match directory {
            Some(directory) if !directory.is_empty() => joined(directory, &known),
            Some(_) => known.into_owned(),
            None if anchored => known.into_owned(),
            None => return Target::Anywhere,
        };
        let wild: &[char] = if word.glob || word.dynamic {
            &['*', '?', '[', UNKNOWN]
        } else {
            &[UNKNOWN]
        };
        if !path.contains(wild) {
            return Target::Path(path);
        }
        if path.starts_with(UNKNOWN) {
            return Target::Anywhere;
        }
        // A list of letters is as good as any text: it is only asked what could be meant.
        let front = path.split('[').next().unwrap_or_default();
        let open = if front.len() < path.len() { "*" } else { "" };
        let pattern = front.replace(UNKNOWN, "*");
        Target::Pattern(format!("{pattern}{open}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(line: &str) -> Vec<String> {
        let commands = super::super::commands::commands(line).unwrap_or_default();
        let mut told = Vec::new();
        for command in &commands {
            if changer(command).is_none() {
                continue;
            }
            for change in of(command, &Input::text("t")) {
                let target = match change.target {
                    Target::Path(path) | Target::Pattern(path) => path,
                    Target::Anywhere => "anywhere".to_owned(),
                };
                told.push(match change.outcome {
                    Outcome::Holds { content, added } => {
                        let sign = if added { "+=" } else { "=" };
                        match content {
                            Content::Known(text) => format!("{target}{sign}{text}"),
                            Content::Same(from) => format!("{target}<-{from}"),
                            Content::Link(from) => format!("{target}->{from}"),
                            Content::From(_) | Content::Edited => format!("{target}{sign}?"),
                        }
                    }
                    Outcome::Anything(origin) => format!("{target}<{origin:?}"),
                    Outcome::Edited => format!("{target}~"),
                    Outcome::Perhaps => format!("{target}@"),
                    Outcome::Built => format!("{target}#"),
                });
            }
        }
        told
    }

    #[test]
    fn copies_are_what_they_are_copies_of() {
        assert_eq!(changed("cp a b"), ["b<-a", "b/a<-a"]);
        assert_eq!(changed("mv a x/b dir/"), ["dir/a<-a", "dir/b<-x/b"]);
        assert_eq!(changed("cp -t dir a"), ["dir/a<-a"]);
        assert_eq!(
            changed("install -m 755 a bin/b"),
            ["bin/b<-a", "bin/b/a<-a"]
        );
        assert_eq!(changed("cp -r src/. dir"), ["dir<Elsewhere"]);
        assert_eq!(changed("cp *.sh dir"), ["dir<Elsewhere"]);
        assert_eq!(changed("ln -s ../a"), ["a->../a"]);
    }

    #[test]
    fn what_is_read_from_input_is_what_is_written() {
        assert_eq!(changed("tee a b"), ["a=t", "b=t"]);
        assert_eq!(changed("tee -a a"), ["a+=t"]);
    }

    #[test]
    fn what_nobody_foresees_is_said() {
        assert_eq!(changed("sed -i s/a/b/ x.sh"), ["x.sh~"]);
        assert_eq!(changed("sed -i s/a/b/ *.sh"), ["*.sh~"]);
        assert_eq!(changed("sed s/a/b/ x.sh"), [""; 0]);
        assert_eq!(changed("tar xzf a.tgz -C dir"), ["dir<Elsewhere"]);
        assert_eq!(changed("tar czf a.tgz dir"), ["a.tgz<Elsewhere"]);
        assert_eq!(changed("unzip a.zip"), [".<Elsewhere"]);
        assert_eq!(changed("unzip a.zip -d out"), ["out<Elsewhere"]);
        assert_eq!(changed("dd if=a of=b"), ["b<Elsewhere"]);
        assert_eq!(changed("sort -ob a"), ["b<Elsewhere"]);
        assert_eq!(changed("curl -fsSLo x https://e.example/y"), ["x<Network"]);
        assert_eq!(changed("curl -O https://e.example/y"), ["y<Network"]);
        assert_eq!(changed("wget -qO x https://e.example/y"), ["x<Network"]);
        assert_eq!(
            changed("gunzip x.sh.gz"),
            ["x.sh.gz<Decoder", "x.sh<Decoder"]
        );
    }

    #[test]
    fn history_brings_other_files() {
        assert_eq!(changed("git checkout main"), [".@"]);
        assert_eq!(changed("git -C sub pull"), ["sub/.@"]);
        assert_eq!(changed("git checkout -b new"), [""; 0]);
        assert_eq!(changed("git status"), [""; 0]);
        assert_eq!(changed("git apply x.patch"), [".<Elsewhere"]);
    }
}
