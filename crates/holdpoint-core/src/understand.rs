//! What a call is about: the commands it would run and the paths it names.
//!
//! This is the view the rules are matched against. A shell line is taken apart into its commands,
//! each in the spellings rules compare with; every argument that names a file becomes a path with
//! the verb the tool would apply to it. Nothing is judged here, and what cannot be read is said.

use std::cell::OnceCell;
use std::ops::Range;

use serde_json::Value;

use crate::assigned::Assigned;
use crate::call::{ToolCall, push_python_str};
use crate::catalogue::{self, COMMAND_ARGUMENTS, Effect, PATH_ARGUMENTS, Shape};
use crate::flags;
use crate::shell::{self, Command, RedirectionKind, Refusal, RefusalReason};

/// The longest command line that is read; a longer one is refused, whatever it says (H-10).
pub const MAX_COMMAND: usize = 1 << 20;

/// The most commands a line may run; nobody reads a longer one before saying yes to it.
const MAX_COMMANDS: usize = 2000;

/// The most paths that are looked at from every directory a line may have changed to.
const MAX_PATHS: usize = 4000;

/// The most files a tool may be given at once.
const MAX_NAMED: usize = 1000;

/// A call, taken apart.
#[derive(Debug)]
pub(crate) struct Understood<'c> {
    pub(crate) call: &'c ToolCall,
    pub(crate) effect: Effect,
    /// The command line of a shell tool, as written.
    pub(crate) line: Option<String>,
    /// The commands of every argument that is one.
    pub(crate) commands: Vec<CommandView>,
    /// Why a command line could not be taken apart.
    pub(crate) trouble: Option<Trouble>,
    pub(crate) paths: Vec<PathUse>,
    text_form: OnceCell<String>,
}

/// Why a call cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The command of a shell tool is not text (J-18).
    Malformed(&'static str),
    /// The command is longer than anything a person would approve.
    Oversize(usize),
    /// The line runs more commands than that.
    TooMany(usize),
    /// The call names more files than that.
    TooManyPaths(usize),
    /// The shell reader gives up on it.
    TooComplex,
    /// The shell reader refuses it.
    Unreadable(Refusal),
}

impl Trouble {
    fn of(refusal: Refusal) -> Self {
        let gives_up = matches!(
            refusal.reason,
            RefusalReason::TooDeep | RefusalReason::TooLong | RefusalReason::TooMuchWork
        );
        if gives_up {
            Trouble::TooComplex
        } else {
            Trouble::Unreadable(refusal)
        }
    }
}

/// One command of a line, in the spellings rules compare with.
#[derive(Debug)]
pub(crate) struct CommandView {
    pub(crate) command: Command,
    /// Words joined by single spaces, the program without the directory it is installed in. White
    /// space inside a quoted word is replaced, so that a rule of two words never matches inside it.
    pub(crate) line: String,
    /// The same without flags and without the options before a subcommand, for rules that do not
    /// care where flags stand.
    pub(crate) flagless: String,
    /// Single letters (`-r`), whole clusters (`-rf`) and long flags (`--force`).
    pub(crate) flags: Vec<String>,
    /// The same for the options before a subcommand.
    pub(crate) outer_flags: Vec<String>,
}

/// A path a call names, and what would happen to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathUse {
    pub(crate) text: String,
    pub(crate) verb: Verb,
    /// Whether only the shell will know where it leads.
    pub(crate) dynamic: bool,
    /// Whether it is a pattern for paths.
    pub(crate) glob: bool,
    /// The command that names it, for a path in a shell line.
    pub(crate) command: Option<usize>,
    pub(crate) span: Option<Range<usize>>,
}

/// What would happen to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Read,
    Write,
    Delete,
    /// Nobody knows: the rules for all three apply.
    Unknown,
}

impl<'c> Understood<'c> {
    pub(crate) fn of(call: &'c ToolCall) -> Self {
        let mut view = Self {
            call,
            effect: catalogue::effect(call.tool()),
            line: call.command_line(),
            commands: Vec::new(),
            trouble: None,
            paths: Vec::new(),
            text_form: OnceCell::new(),
        };
        match catalogue::shape(call.tool()) {
            Shape::Shell { command } => view.read_shell_call(command),
            Shape::Plain => {
                for key in COMMAND_ARGUMENTS {
                    match call.input().get(*key) {
                        Some(Value::String(line)) => view.read_line(line),
                        Some(Value::Array(words)) => view.read_words(words),
                        Some(
                            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_),
                        )
                        | None => {}
                    }
                }
            }
        }
        view.name_paths();
        view
    }

    /// `name(key=value, …)`.
    pub(crate) fn text_form(&self) -> &str {
        self.text_form.get_or_init(|| self.call.text_form())
    }

    /// Whether the text form could be read as another call: some value contains what separates
    /// two arguments. Such a form may refuse a call but never allow it (J-12).
    pub(crate) fn text_form_is_ambiguous(&self) -> bool {
        self.call.input().values().any(|value| {
            let mut text = String::new();
            push_python_str(&mut text, value);
            text.match_indices(", ").any(|(at, separator)| {
                let rest = text.get(at + separator.len()..).unwrap_or_default();
                let after = rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
                after.len() < rest.len() && after.starts_with('=')
            })
        })
    }

    /// Whether the call is a shell line, so that its commands are its parts.
    pub(crate) fn is_shell(&self) -> bool {
        self.line.is_some()
    }

    /// The text of every argument that is a command line.
    pub(crate) fn command_texts(&self) -> Vec<&str> {
        match &self.line {
            Some(line) => vec![line],
            None => COMMAND_ARGUMENTS
                .iter()
                .filter_map(|key| self.call.input().get(*key)?.as_str())
                .collect(),
        }
    }

    fn read_shell_call(&mut self, key: &str) {
        let input = self.call.input();
        match input.get(key) {
            None | Some(Value::Null) => return,
            Some(Value::String(_)) => {}
            Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                self.trouble = Some(Trouble::Malformed("the command is not text"));
                return;
            }
        }
        match input.get("args") {
            None | Some(Value::Null) => {}
            Some(Value::Array(args)) if args.iter().all(is_scalar) => {}
            Some(_) => {
                self.trouble = Some(Trouble::Malformed("`args` is not a list of texts"));
                return;
            }
        }
        if let Some(line) = self.line.clone() {
            self.read_line(&line);
        }
        self.read_literal_args(key);
    }

    /// A tool may pass `args` to the program as they are instead of to a shell: then they are
    /// words, whatever they contain. Both readings are judged.
    fn read_literal_args(&mut self, key: &str) {
        let input = self.call.input();
        let (Some(Value::String(program)), Some(Value::Array(args))) =
            (input.get(key), input.get("args"))
        else {
            return;
        };
        let mut words: Vec<String> = program.split_whitespace().map(str::to_owned).collect();
        for arg in args {
            let mut word = String::new();
            push_python_str(&mut word, arg);
            words.push(word);
        }
        let plain = |word: &String| {
            !word.is_empty()
                && word
                    .chars()
                    .all(|c| c.is_alphanumeric() || "-_./=:,@+%".contains(c))
        };
        if words.iter().all(plain) {
            return;
        }
        let words: Vec<Value> = words.into_iter().map(Value::String).collect();
        self.read_words(&words);
    }

    /// A command given as a list of words, which no shell takes apart.
    fn read_words(&mut self, words: &[Value]) {
        let mut texts = Vec::new();
        for word in words {
            collect_texts(word, &mut |text| texts.push(text.to_owned()));
        }
        let words: Vec<&str> = texts.iter().map(String::as_str).collect();
        let whole = 0..self.line.as_ref().map_or(0, String::len);
        match shell::commands_of_words(&words) {
            Ok(mut commands) => {
                // Words have no place in a line of their own; they are all of it.
                for command in &mut commands {
                    command.span = whole.clone();
                }
                self.add_commands(commands);
            }
            Err(refusal) => self.trouble = Some(Trouble::of(refusal)),
        }
    }

    fn read_line(&mut self, line: &str) {
        if line.len() > MAX_COMMAND {
            self.trouble = Some(Trouble::Oversize(line.len()));
            return;
        }
        match shell::commands(line) {
            Ok(commands) => {
                let readings = Assigned::readings(&commands);
                self.add_commands(commands);
                self.add_commands(readings);
            }
            Err(refusal) => self.trouble = Some(Trouble::of(refusal)),
        }
    }

    fn add_commands(&mut self, commands: Vec<Command>) {
        // A second list's references to its own members move with it.
        let offset = self.commands.len();
        if offset + commands.len() > MAX_COMMANDS {
            self.trouble = Some(Trouble::TooMany(offset + commands.len()));
            return;
        }
        for mut command in commands {
            if let shell::Reached::Within { wrapper, .. } = &mut command.reached {
                *wrapper += offset;
            }
            self.commands.push(CommandView::of(command));
        }
    }

    fn name_paths(&mut self) {
        let mut paths = Vec::new();
        let mut elsewhere = Elsewhere::default();
        for (index, view) in self.commands.iter().enumerate() {
            let from = paths.len();
            view.name_paths(index, &mut paths);
            elsewhere.enter_own(view);
            elsewhere.apply(&mut paths, from);
            elsewhere.enter(view);
        }
        if !self.is_shell() {
            let verb = match self.effect {
                Effect::None | Effect::Read => Verb::Read,
                Effect::Write => Verb::Write,
                Effect::Delete => Verb::Delete,
                Effect::Execute | Effect::Unknown => Verb::Unknown,
            };
            for (key, value) in self.call.input() {
                if PATH_ARGUMENTS.binary_search(&key.as_str()).is_ok() {
                    collect_texts(value, &mut |text| {
                        paths.push(PathUse {
                            text: text.to_owned(),
                            verb,
                            dynamic: false,
                            glob: false,
                            command: None,
                            span: None,
                        });
                    });
                }
            }
        }
        if !self.is_shell() && paths.len() > MAX_NAMED {
            self.trouble = Some(Trouble::TooManyPaths(paths.len()));
            paths.clear();
        }
        self.paths = paths;
    }
}

impl CommandView {
    fn of(command: Command) -> Self {
        let mut line = String::new();
        let mut flagless = String::new();
        let mut flags = Vec::new();
        for assignment in &command.assignments {
            push_word(
                &mut line,
                &format!("{}={}", assignment.name, assignment.value.text),
            );
        }
        let mut outer_flags = Vec::new();
        let mut operands_only = false;
        let program = command
            .words
            .first()
            .map_or("", |word| base_name(&word.text));
        let hidden = flags::before_subcommand(
            program,
            command.words.iter().skip(1).map(|word| word.text.as_str()),
        );
        for (index, word) in command.words.iter().enumerate() {
            let text = match index {
                0 => installed_name(&word.text),
                _ => word.text.as_str(),
            };
            push_word(&mut line, text);
            if (1..=hidden).contains(&index) {
                if text.starts_with('-') {
                    flags::push(&mut outer_flags, text);
                }
                continue;
            }
            if index > 0 && !operands_only && text.len() > 1 && text.starts_with('-') {
                operands_only = text == "--";
                flags::push(&mut flags, text);
            } else {
                let text = if index == 0 { base_name(text) } else { text };
                push_word(&mut flagless, text);
            }
        }
        flags::add_other_names(&mut flags, flagless.split(' '));
        Self {
            command,
            line,
            flagless,
            flags,
            outer_flags,
        }
    }

    /// The program's name without its directory, where it is known before running.
    pub(crate) fn program(&self) -> Option<&str> {
        self.command
            .words
            .first()
            .filter(|word| !word.dynamic)
            .map(|word| base_name(&word.text))
    }

    /// Every flag, wherever it stands.
    pub(crate) fn all_flags(&self) -> impl Iterator<Item = &String> {
        self.flags.iter().chain(&self.outer_flags)
    }

    /// Whether any word depends on something only the shell will know.
    pub(crate) fn is_dynamic(&self) -> bool {
        self.command.words.iter().any(|word| word.dynamic)
    }

    /// Whether an option makes a program that otherwise only looks write a file.
    pub(crate) fn writes_by_option(&self) -> bool {
        let has = |wanted: &[&str]| {
            self.flags
                .iter()
                .any(|flag| wanted.iter().any(|start| flag.starts_with(start)))
        };
        match self.program() {
            Some("find") => has(&["-fprint", "-fls"]),
            Some("time" | "gtime" | "strace" | "ltrace") => has(&["-o", "--output"]),
            Some(_) | None => false,
        }
    }

    /// Whether the command only prints its arguments, so that they are data.
    pub(crate) fn only_prints(&self) -> bool {
        matches!(
            self.program(),
            Some("echo" | "printf" | ":" | "true" | "false")
        )
    }

    /// The line with its redirections to files, or nothing if it has none that write one.
    pub(crate) fn line_with_writes(&self) -> Option<String> {
        let mut text = self.line.clone();
        let mut writes = false;
        for redirect in &self.command.redirects {
            let sign = match redirect.kind {
                RedirectionKind::Write | RedirectionKind::Clobber => ">",
                RedirectionKind::Append => ">>",
                RedirectionKind::ReadWrite => "<>",
                RedirectionKind::Read
                | RedirectionKind::HereDocument
                | RedirectionKind::HereString
                | RedirectionKind::Duplicate => continue,
            };
            if redirect.target.text == "/dev/null" {
                continue;
            }
            writes = true;
            push_word(&mut text, sign);
            push_word(&mut text, &redirect.target.text);
        }
        writes.then_some(text)
    }

    fn name_paths(&self, index: usize, paths: &mut Vec<PathUse>) {
        let mut add = |text: &str, verb: Verb, word: &shell::Text| {
            paths.push(PathUse {
                text: text.to_owned(),
                verb,
                dynamic: word.dynamic,
                glob: word.glob,
                command: Some(index),
                span: Some(word.span.clone()),
            });
        };
        if !self.only_prints() {
            let verb = match self.program() {
                Some(program) if READERS.binary_search(&program).is_ok() => Verb::Read,
                Some(program) if REMOVERS.binary_search(&program).is_ok() => Verb::Delete,
                _ => Verb::Unknown,
            };
            for word in self.command.words.iter().skip(1) {
                for text in path_texts(&word.text) {
                    add(text, verb, word);
                }
            }
        }
        for redirect in &self.command.redirects {
            let verb = match redirect.kind {
                RedirectionKind::Read => Verb::Read,
                RedirectionKind::Write
                | RedirectionKind::Clobber
                | RedirectionKind::Append
                | RedirectionKind::ReadWrite => Verb::Write,
                RedirectionKind::HereDocument
                | RedirectionKind::HereString
                | RedirectionKind::Duplicate => continue,
            };
            if redirect.target.text != "/dev/null" {
                add(&redirect.target.text, verb, &redirect.target);
            }
        }
    }
}

/// Directories a line may have changed to by the time a command runs. Which commands of a line
/// run is not asked, so every path is looked at from each of them and from where the line began.
#[derive(Default)]
struct Elsewhere {
    directories: Vec<String>,
    /// Some change leads where only the shell knows.
    unknown: bool,
}

impl Elsewhere {
    const MOST: usize = 4;

    /// Takes note of a command that changes the directory for those that follow.
    fn enter(&mut self, view: &CommandView) {
        let words = view.command.words.as_slice();
        match view.program() {
            Some("cd" | "pushd") => {
                match words
                    .iter()
                    .skip(1)
                    .find(|word| !word.text.starts_with('-'))
                {
                    Some(word) => self.go(&word.text, word.dynamic || word.glob),
                    None if words.len() == 1 => self.go("~", false),
                    None => self.unknown = true,
                }
            }
            Some("popd") => self.unknown = true,
            Some(_) | None => {}
        }
    }

    /// Takes note of a directory a command changes to by itself: `git -C DIR`.
    fn enter_own(&mut self, view: &CommandView) {
        if !matches!(view.program(), Some("env" | "git" | "make" | "tar")) {
            return;
        }
        let mut words = view.command.words.iter().skip(1);
        while let Some(word) = words.next() {
            match word.text.as_str() {
                "-C" | "--chdir" | "--directory" => {
                    if let Some(target) = words.next() {
                        self.go(&target.text, target.dynamic || target.glob);
                    }
                }
                text => {
                    let glued = ["--chdir=", "--directory=", "-C"]
                        .iter()
                        .find_map(|flag| text.strip_prefix(flag));
                    if let Some(target) = glued {
                        self.go(target, word.dynamic || word.glob);
                    }
                }
            }
        }
    }

    fn go(&mut self, target: &str, unknown: bool) {
        if unknown || self.directories.len() >= Self::MOST {
            self.unknown |= !self.directories.iter().any(|known| known == target);
            return;
        }
        let further: Vec<String> = self
            .directories
            .iter()
            .map(|directory| joined(directory, target))
            .collect();
        for directory in std::iter::once(target.to_owned()).chain(further) {
            if !self.directories.contains(&directory) {
                self.directories.push(directory);
            }
        }
    }

    /// Adds to the paths named since `from` where they lead from elsewhere.
    fn apply(&self, paths: &mut Vec<PathUse>, from: usize) {
        let mut more = Vec::new();
        for path in paths.iter_mut().skip(from) {
            if path.text.starts_with(['/', '~']) {
                continue;
            }
            let too_many = !self.directories.is_empty() && from + more.len() > MAX_PATHS;
            path.dynamic |= self.unknown || too_many;
            if too_many {
                continue;
            }
            more.extend(self.directories.iter().map(|directory| PathUse {
                text: joined(directory, &path.text),
                ..path.clone()
            }));
        }
        paths.extend(more);
    }
}

fn joined(directory: &str, path: &str) -> String {
    if path.starts_with(['/', '~']) {
        path.to_owned()
    } else {
        format!("{}/{path}", directory.trim_end_matches('/'))
    }
}

/// Stands for white space inside a quoted word.
const INNER_SPACE: char = '\u{e000}';

fn push_word(line: &mut String, word: &str) {
    if !line.is_empty() {
        line.push(' ');
    }
    if word.contains(char::is_whitespace) {
        line.extend(
            word.chars()
                .map(|c| if c.is_whitespace() { INNER_SPACE } else { c }),
        );
    } else {
        line.push_str(word);
    }
}

/// The name of a program given by the full path of a directory programs are installed in. A path
/// into any other directory stays, since `/tmp/x/ls` is not `ls`.
fn installed_name(word: &str) -> &str {
    const INSTALLED: &[&str] = &[
        "/bin",
        "/usr/bin",
        "/usr/local/bin",
        "/sbin",
        "/usr/sbin",
        "/usr/local/sbin",
        "/opt/homebrew/bin",
    ];
    match word.rsplit_once('/') {
        Some((directory, name)) if INSTALLED.contains(&directory) && !name.is_empty() => name,
        _ => word,
    }
}

pub(crate) fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// The texts in a word that could name a file: the word, the value of `--key=value` or `key=value`,
/// and what is glued to a short flag (`-C/etc`).
fn path_texts(word: &str) -> Vec<&str> {
    if word.contains("://") && !word.starts_with("file://") {
        return Vec::new();
    }
    let mut texts = Vec::new();
    match word.split_once('=') {
        Some((_, value)) if !value.is_empty() => texts.push(value),
        _ => {}
    }
    if let Some(flag) = word.strip_prefix('-') {
        if !flag.starts_with('-')
            && let Some(start) = flag.find(['/', '~', '.'])
        {
            texts.extend(flag.get(start..));
        }
    } else if !word.is_empty() {
        texts.push(word);
    }
    texts
}

fn is_scalar(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_))
}

/// Every text in `value`, however deep (J-17).
pub(crate) fn collect_texts(value: &Value, found: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => found(text),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, found)),
        Value::Object(map) => map.values().for_each(|item| collect_texts(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Programs that only read the files they are given. Sorted.
const READERS: &[&str] = &[
    "cat",
    "cksum",
    "cmp",
    "diff",
    "du",
    "file",
    "grep",
    "head",
    "less",
    "ls",
    "md5sum",
    "more",
    "nl",
    "od",
    "realpath",
    "rg",
    "sha1sum",
    "sha256sum",
    "stat",
    "strings",
    "tac",
    "tail",
    "wc",
    "xxd",
];

/// Programs that remove the files they are given. Sorted.
const REMOVERS: &[&str] = &["rm", "rmdir", "shred", "unlink"];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_tables_are_sorted() {
        assert!(READERS.is_sorted() && REMOVERS.is_sorted());
    }

    #[test]
    fn a_command_is_seen_without_its_spelling() {
        let call = ToolCall::shell("'/bin/rm'  -r\\f \"a b\"  x");
        let view = Understood::of(&call);
        let command = view.commands.first().unwrap();
        assert_eq!(command.line, "rm -rf a\u{e000}b x");
        assert_eq!(command.flagless, "rm a\u{e000}b x");
        assert!(
            ["-r", "-f"]
                .iter()
                .all(|flag| command.flags.iter().any(|one| one == flag))
        );
    }

    #[test]
    fn paths_hide_in_flags_and_redirections() {
        let call = ToolCall::shell("tar -C/etc --file=/x/y out < in > out.txt");
        let paths: Vec<_> = Understood::of(&call)
            .paths
            .into_iter()
            .map(|path| (path.text, path.verb))
            .collect();
        for wanted in [
            ("/etc".into(), Verb::Unknown),
            ("/x/y".into(), Verb::Unknown),
            ("out".into(), Verb::Unknown),
            ("/etc/out".into(), Verb::Unknown),
            ("in".into(), Verb::Read),
            ("out.txt".into(), Verb::Write),
        ] {
            assert!(paths.contains(&wanted), "{wanted:?} in {paths:?}");
        }
    }

    #[test]
    fn a_file_tools_paths_carry_its_verb() {
        let call = ToolCall::new("NotebookEdit", json!({"notebook_path": "a.ipynb"})).unwrap();
        let view = Understood::of(&call);
        assert_eq!(view.paths.first().map(|path| path.verb), Some(Verb::Write));
    }

    #[test]
    fn a_value_that_looks_like_two_arguments_makes_the_text_form_ambiguous() {
        let clear = ToolCall::new("t", json!({"a": "x, y", "b": 2})).unwrap();
        assert!(!Understood::of(&clear).text_form_is_ambiguous());
        let unclear = ToolCall::new("t", json!({"a": "x, y=1"})).unwrap();
        assert!(Understood::of(&unclear).text_form_is_ambiguous());
    }

    #[test]
    fn a_command_that_is_not_text_is_malformed() {
        for input in [
            json!({"command": 5}),
            json!({"command": ["rm"]}),
            json!({"command": "ls", "args": {"a": 1}}),
        ] {
            let call = ToolCall::new("Bash", input).unwrap();
            assert!(matches!(
                Understood::of(&call).trouble,
                Some(Trouble::Malformed(_))
            ));
        }
    }
}
