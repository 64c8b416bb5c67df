//! What a call is understood as, for whoever explains a decision: its commands, where they run,
//! where their words come from, and what they would do.

use serde::Serialize;

use super::findings::opaque_words;
use super::parts::{shown_with_writes, trouble_words};
use crate::decision::span_of;
use crate::effects::{self, Effect};
use crate::paths::Surroundings;
use crate::rules::{TARGETS, spoken};
use crate::shell::{Command, FileRead, Reached, Text, UNKNOWN};
use crate::understand::{Action, CommandView};

/// A call, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// The commands it would run, in the order they stand in.
    pub commands: Vec<ExplainedCommand>,
    /// What a call that is no command line would do.
    pub effects: Vec<ExplainedEffect>,
    /// The scripts that were read to know it.
    pub files: Vec<FileRead>,
    /// Why it cannot be taken apart, if so.
    pub unreadable: Option<String>,
}

/// A command of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedCommand {
    /// The command, without quotes and with one space between words.
    pub text: String,
    /// Its words as the program gets them; `…` stands for what nobody knows. For whoever has to know
    /// where one word ends; the text says the same to people.
    #[serde(skip)]
    pub words: Vec<String>,
    /// Whether its program is known to change nothing, the files it redirects to aside.
    #[serde(skip)]
    pub only_looks: bool,
    /// Where it stands in the line.
    pub span: [usize; 2],
    /// The programs that run it, the outermost first.
    pub within: Vec<String>,
    /// Whether it runs for its output: `$(…)`, `` `…` ``, `<(…)`.
    pub substituted: bool,
    /// The commands whose output it reads, by their places in the list.
    pub fed_by: Vec<usize>,
    /// The directories it may run in; several where that depends.
    pub directories: Vec<String>,
    /// Whether it may run elsewhere, too.
    pub directory_unknown: bool,
    /// The script it stands in.
    pub file: Option<String>,
    /// Words that were filled in.
    pub filled: Vec<Filled>,
    /// Words that are only known when the shell runs it.
    pub open: Vec<String>,
    /// Why what it runs cannot be known, if so.
    pub unknown: Option<&'static str>,
    /// Kinds of statements it sends to a database.
    pub sql: Vec<String>,
    /// What it would do.
    pub effects: Vec<ExplainedEffect>,
}

/// Text that stands for other text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Filled {
    /// As the line writes it.
    pub written: String,
    /// What the shell puts there.
    pub value: String,
}

/// Something a call would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedEffect {
    /// What: one of the effects of `docs/rules.md`.
    pub kind: &'static str,
    /// What it is about, as the call names it; empty if about nothing in particular.
    pub text: String,
    /// Where that leads; `…` stands for what nobody knows.
    pub path: Option<String>,
    /// The host it is about.
    pub host: Option<String>,
    /// What is known of that: places, branches and networks of `docs/rules.md`.
    pub classes: Vec<&'static str>,
    /// Whether it takes whole trees.
    pub recursive: bool,
    /// Whether it overwrites.
    pub forced: bool,
    /// Where the call says so.
    pub span: [usize; 2],
}

/// Says what a call was understood as.
pub fn explained(action: &Action, around: &Surroundings<'_>) -> Explained {
    let lookup = action.remembering(around.lookup);
    let around = Surroundings {
        directory: action.call.cwd().or(around.directory),
        lookup: &lookup,
        ..*around
    };
    let mut found = Explained {
        files: action.files.clone(),
        unreadable: action.trouble.as_ref().map(trouble_words),
        ..Explained::default()
    };
    for subject in effects::subjects(action) {
        let command = subject.command.and_then(|index| action.commands.get(index));
        let program = command.and_then(|view| view.command.words.first());
        let effects: Vec<ExplainedEffect> = subject
            .effects
            .iter()
            .map(|one| effect(one, program))
            .collect();
        let Some(command) = command else {
            found.effects = effects;
            continue;
        };
        let mut within: Vec<String> = subject
            .within
            .iter()
            .map(|name| replace_unknown(name))
            .collect();
        within.reverse();
        found.commands.push(ExplainedCommand {
            within,
            sql: subject
                .sql
                .iter()
                .map(|kind| replace_unknown(kind))
                .collect(),
            effects,
            ..plain(command, action, &around)
        });
    }
    found
}

/// A command without what it would do.
fn plain(view: &CommandView, whole: &Action, around: &Surroundings<'_>) -> ExplainedCommand {
    let command = &view.command;
    let directories = command.directory.places.iter().map(|place| {
        let path = if place.is_empty() { "." } else { place };
        around
            .resolve(path)
            .unwrap_or_else(|_| replace_unknown(path))
    });
    let line = whole.line.as_deref().filter(|_| command.file.is_none());
    ExplainedCommand {
        text: replace_unknown(&with_assignments(view)),
        words: program_and_arguments(view),
        only_looks: view.is_read_only(),
        span: span_of(&command.span),
        within: Vec::new(),
        substituted: command.reached == Reached::Substituted,
        fed_by: command.fed_by.clone().collect(),
        directories: directories.collect(),
        directory_unknown: command.directory.unknown,
        file: command.file.as_deref().map(str::to_owned),
        filled: line.map_or_else(Vec::new, |line| filled(command, line)),
        open: words(command)
            .filter(|word| word.dynamic)
            .map(|word| replace_unknown(&word.text))
            .collect(),
        unknown: command.opaque.first().map(|opaque| opaque_words(*opaque).1),
        sql: Vec::new(),
        effects: Vec::new(),
    }
}

fn with_assignments(view: &CommandView) -> String {
    let mut text = String::new();
    for assignment in &view.command.assignments {
        text.push_str(&format!("{}={} ", assignment.name, assignment.value.text));
    }
    text.push_str(&shown_with_writes(view));
    text.trim_end().to_owned()
}

/// The words, the program without the directory it is installed in. A word that the shell makes
/// others of is not known.
fn program_and_arguments(view: &CommandView) -> Vec<String> {
    let arguments = view.command.words.iter().skip(1);
    let arguments = arguments.map(|word| match word.dynamic {
        true => UNKNOWN_WORD.to_owned(),
        false => replace_unknown(&word.text),
    });
    let program = view.program().map(str::to_owned);
    program.into_iter().chain(arguments).collect()
}

const UNKNOWN_WORD: &str = "…";

fn words(command: &Command) -> impl Iterator<Item = &Text> {
    command
        .words
        .iter()
        .chain(command.redirects.iter().map(|redirect| &redirect.target))
}

/// The words whose expansions were filled in. Code that one word holds (`sh -c '…'`) has no places
/// of its own in the line; all its words stand where that word does.
fn filled(command: &Command, line: &str) -> Vec<Filled> {
    let held = command.words.len() > 1
        && command.words.windows(2).all(|pair| match pair {
            [one, other] => one.span == other.span,
            _ => false,
        });
    if held {
        return Vec::new();
    }
    let mut found: Vec<(&Text, Filled)> = Vec::new();
    for word in words(command).filter(|word| !word.dynamic) {
        let Some(written) = line.get(word.span.clone()) else {
            continue;
        };
        if !written.contains(['$', '`']) || written.trim_matches(['"', '\'']) == word.text {
            continue;
        }
        match found.last_mut() {
            // One word of the line became several.
            Some((first, filled)) if first.span == word.span => {
                filled.value.push(' ');
                filled.value.push_str(&word.text);
            }
            _ => found.push((
                word,
                Filled {
                    written: written.to_owned(),
                    value: word.text.clone(),
                },
            )),
        }
    }
    found.into_iter().map(|(_, filled)| filled).collect()
}

fn effect(effect: &Effect, program: Option<&Text>) -> ExplainedEffect {
    // `ls` alone lists the directory it runs in, which the line does not name.
    let meant = program.is_some_and(|word| word.span == effect.span && word.text == effect.text);
    ExplainedEffect {
        kind: effect.kind.as_str(),
        text: replace_unknown(if meant { "" } else { &effect.text }),
        path: effect.place.path.as_deref().map(replace_unknown),
        host: effect.host().map(replace_unknown),
        classes: spoken::of_bits(effect.classes, TARGETS),
        recursive: effect.recursive,
        forced: effect.forced,
        span: span_of(&effect.span),
    }
}

/// Text for a person: what stands for the unknown is no letter.
fn replace_unknown(text: &str) -> String {
    text.replace(UNKNOWN, UNKNOWN_WORD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::ToolCall;
    use crate::paths::NoLinks;
    use crate::policy::Policy;
    use crate::understand::understand;

    fn of(line: &str) -> Explained {
        let around = Surroundings {
            workspace: Some("/work/app"),
            directory: None,
            home: Some("/home/dev"),
            lookup: &NoLinks,
            can_contain: false,
        };
        let policy = Policy::compile(vec![]).unwrap();
        let action = understand(ToolCall::shell(line), &policy, &around);
        explained(&action, &around)
    }

    #[test]
    fn a_variable_that_was_filled_in_is_shown_with_its_value() {
        let found = of("A='-rf /'; sudo rm $A");
        let rm = found.commands.last().unwrap();
        assert_eq!(
            (rm.text.as_str(), rm.within.as_slice()),
            ("rm -rf /", ["sudo".to_owned()].as_slice())
        );
        let filled = Filled {
            written: "$A".into(),
            value: "-rf /".into(),
        };
        assert_eq!(rm.filled, [filled]);
        assert_eq!(found.commands[0].text, "A=-rf /");
    }

    #[test]
    fn each_command_says_where_it_runs_and_what_it_reads() {
        let found = of("cd /etc && cat passwd | wc -l > $OUT");
        let [_, cat, wc] = found.commands.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!(cat.directories, ["/etc"]);
        assert_eq!(cat.effects[0].path.as_deref(), Some("/etc/passwd"));
        assert!(cat.effects[0].classes.contains(&"system"));
        assert_eq!(
            (wc.fed_by.as_slice(), wc.open.as_slice()),
            ([1].as_slice(), ["$OUT".to_owned()].as_slice())
        );
    }

    #[test]
    fn code_held_by_a_word_is_not_taken_for_a_filled_in_word() {
        let found = of("bash -c 'rm -rf $HOME/x'");
        assert!(
            found
                .commands
                .iter()
                .all(|command| command.filled.is_empty())
        );
    }

    #[test]
    fn a_line_that_cannot_be_read_says_why() {
        assert!(of("ls 'x").unreadable.is_some());
    }
}
