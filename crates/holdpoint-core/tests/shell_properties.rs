//! What holds for every command of `corpus/shell`, and so for any command: another spelling never
//! changes a verdict, embedding it as data is always allowed, and padding or nesting never loosens
//! it.
//!
//! Nothing is random. A command is tried in every so-many-th form, the forms rotating with the
//! command's place in the corpus, so that a run takes seconds and each form meets hundreds of
//! commands. `HOLDPOINT_FORMS=all` tries all forms of all commands; `HOLDPOINT_CASE=text` keeps to
//! the commands whose file or text contains the text.

#![allow(
    clippy::disallowed_methods,
    reason = "a test reads its cases; what it tests does not"
)]

mod shell;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::thread;

use holdpoint_core::{Policy, Verdict};

use crate::shell::{Case, Outcome, corpus, default_policy};

/// A command is tried in one of so many spellings, unless all are asked for.
const OF_SPELLINGS: usize = 16;
/// The same for ways to embed it as data.
const OF_EMBEDDINGS: usize = 8;
/// The same for nesting.
const OF_NESTINGS: usize = 8;
/// The same for padding: long lines take their time to read.
const OF_PADDINGS: usize = 400;

/// The most failures shown of one form.
const SHOWN: usize = 40;

/// A form of a command: its name, and the line, if it can be put that way.
type Form = (&'static str, fn(&Line<'_>) -> Option<String>);

#[test]
fn another_spelling_never_changes_a_verdict() -> Outcome<()> {
    each_form(SPELLINGS, OF_SPELLINGS, |judged, plain| judged == plain)
}

#[test]
fn embedding_as_data_is_always_allowed() -> Outcome<()> {
    each_form(EMBEDDINGS, OF_EMBEDDINGS, |judged, _| {
        judged == Verdict::Allow
    })
}

#[test]
fn nesting_never_loosens_a_verdict() -> Outcome<()> {
    each_form(NESTINGS, OF_NESTINGS, |judged, plain| judged >= plain)
}

#[test]
fn padding_never_loosens_a_verdict() -> Outcome<()> {
    each_form(PADDINGS, OF_PADDINGS, |judged, plain| judged >= plain)
}

/// Judges the forms of all commands and reports those whose verdict does not hold against the
/// verdict of the plain command.
fn each_form(forms: &[Form], rotation: usize, holds: fn(Verdict, Verdict) -> bool) -> Outcome<()> {
    let wanted = std::env::var("HOLDPOINT_CASE").unwrap_or_default();
    let all = std::env::var("HOLDPOINT_FORMS").is_ok_and(|text| text == "all");
    let rotation = if all { 1 } else { rotation };
    let policy = default_policy()?;
    let cases = corpus()?;
    let lines: Vec<(usize, &Case, &str)> = cases
        .iter()
        .flat_map(|case| case.commands.iter().map(move |command| (case, command)))
        .enumerate()
        .map(|(index, (case, command))| (index, case, command.as_str()))
        .filter(|(_, case, command)| case.topic.contains(&wanted) || command.contains(&wanted))
        .collect();
    // By the command itself: a case that is added changes nothing for the others.
    let chosen = |command: &str, form: usize| (share(command) + form).is_multiple_of(rotation);
    // Two halves at a time: the corpus is large and a debug build slow.
    let (even, odd): (Vec<_>, Vec<_>) = lines.iter().partition(|(index, ..)| index % 2 == 0);
    let run = |part: Vec<&(usize, &Case, &str)>| -> Result<Tally, String> {
        let mut tally = Tally::default();
        for (_, case, command) in part {
            tally
                .add(case, command, &policy, forms, holds, &|form| {
                    chosen(command, form)
                })
                .map_err(|problem| format!("{command}: {problem}"))?;
        }
        Ok(tally)
    };
    let (one, other) = thread::scope(|scope| {
        let other = scope.spawn(|| run(odd));
        (run(even), other.join())
    });
    let mut tally = one?;
    tally.join(other.map_err(|_| "a thread stopped")??);
    tally.finish(forms, wanted.is_empty())
}

/// A number that is a command's own.
fn share(command: &str) -> usize {
    let bytes = command.bytes().map(usize::from);
    bytes.fold(7, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte))
}

fn embeds(form: &fn(&Line) -> Option<String>) -> bool {
    EMBEDDINGS
        .iter()
        .any(|(_, one)| std::ptr::fn_addr_eq(*one, *form))
}

/// Whether what a form puts a command into is stopped for the code that lies on the case's disk,
/// told nothing but a word or a file's name: `git commit` runs hooks, an interpreter loads what lies beside it.
fn loads_the_disk(
    case: &Case,
    form: &fn(&Line) -> Option<String>,
    policy: &Policy,
) -> Outcome<bool> {
    if !embeds(form) || case.files.is_empty() {
        return Ok(false);
    }
    let mut names = vec!["word".to_owned()];
    names.extend(case.files.keys().cloned());
    for name in names {
        let Some(text) = form(&Line::new(&name)) else {
            continue;
        };
        if case.judged(&text, policy)?.verdict != Verdict::Allow {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What was tried and what failed, by form.
#[derive(Default)]
struct Tally {
    tried: BTreeMap<&'static str, usize>,
    failed: BTreeMap<&'static str, Vec<String>>,
}

impl Tally {
    fn add(
        &mut self,
        case: &Case,
        command: &str,
        policy: &Policy,
        forms: &[Form],
        holds: fn(Verdict, Verdict) -> bool,
        chosen: &dyn Fn(usize) -> bool,
    ) -> Outcome<()> {
        let mut plain = None;
        let line = Line::new(command);
        for (place, (name, form)) in forms.iter().enumerate() {
            if !chosen(place) {
                continue;
            }
            let Some(text) = form(&line) else { continue };
            let plain = match plain {
                Some(verdict) => verdict,
                None => *plain.insert(case.judged(command, policy)?.verdict),
            };
            *self.tried.entry(name).or_default() += 1;
            let judged = case.judged(&text, policy)?;
            if !holds(judged.verdict, plain) && !loads_the_disk(case, form, policy)? {
                let rules: Vec<_> = judged
                    .findings
                    .iter()
                    .map(|one| one.rule.as_str())
                    .collect();
                let shown: String = text.chars().take(300).collect();
                self.failed.entry(name).or_default().push(format!(
                    "{shown}\n        plain {}, so {} by {}",
                    plain.as_str(),
                    judged.verdict.as_str(),
                    rules.join(", "),
                ));
            }
        }
        Ok(())
    }

    fn join(&mut self, other: Tally) {
        for (name, count) in other.tried {
            *self.tried.entry(name).or_default() += count;
        }
        for (name, texts) in other.failed {
            self.failed.entry(name).or_default().extend(texts);
        }
    }

    fn finish(self, forms: &[Form], whole: bool) -> Outcome<()> {
        let mut text = String::new();
        let mut count = 0;
        for (name, failures) in &self.failed {
            count += failures.len();
            let tried = self.tried.get(name).copied().unwrap_or_default();
            writeln!(text, "{name}: {} of {tried}", failures.len())?;
            for failure in failures.iter().take(SHOWN) {
                writeln!(text, "    {failure}")?;
            }
        }
        assert_eq!(count, 0, "verdicts that do not hold:\n\n{text}");
        for (name, _) in forms.iter().filter(|_| whole) {
            // A form that never applies tests nothing.
            assert!(self.tried.contains_key(name), "`{name}` was never tried");
        }
        Ok(())
    }
}

/// A command of the corpus, and its words if it is a single simple command.
struct Line<'a> {
    text: &'a str,
    words: Option<Vec<&'a str>>,
}

/// Words that mean something else when they are quoted or put behind a program.
const RESERVED: &[&str] = &[
    "!", "[[", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function",
    "if", "in", "select", "then", "time", "until", "while", "{", "}",
];

/// Programs that are part of the shell, which another program cannot run.
const BUILTINS: &[&str] = &[
    ".", ":", "alias", "bg", "builtin", "cd", "command", "declare", "dirs", "disown", "enable",
    "eval", "exec", "exit", "export", "fg", "hash", "help", "history", "jobs", "let", "local",
    "mapfile", "popd", "pushd", "read", "readonly", "return", "set", "shift", "shopt", "source",
    "suspend", "trap", "type", "typeset", "ulimit", "umask", "unalias", "unset", "wait",
];

/// Programs that do not look at their input, so that they may be given as a shell's input.
const INPUTLESS: &[&str] = &[
    "chmod",
    "chown",
    "git",
    "helm",
    "holdpoint",
    "kill",
    "mv",
    "reboot",
    "rm",
    "terraform",
];

impl<'a> Line<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            words: simple_words(text),
        }
    }

    /// The program and the rest of a simple command, if the program is a plain name.
    fn program(&self) -> Option<(&'a str, &[&'a str])> {
        let (program, rest) = self.words.as_ref()?.split_first()?;
        let plain = program
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        (plain && program.len() > 1 && !RESERVED.contains(program)).then_some((*program, rest))
    }

    /// The same, if it is a program that others can run.
    fn outside_program(&self) -> Option<(&'a str, &[&'a str])> {
        self.program()
            .filter(|(program, _)| !BUILTINS.contains(program))
    }

    /// A simple command with its program written in another way.
    fn with_program(&self, written: impl Fn(&str, &str) -> String) -> Option<String> {
        let (program, rest) = self.program()?;
        let mut letters = program.chars();
        let first: String = letters.by_ref().take(1).collect();
        Some(joined(&written(&first, letters.as_str()), rest, " "))
    }

    /// A simple command run by another program.
    fn run_by(&self, wrapper: &str) -> Option<String> {
        self.outside_program()?;
        Some(format!("{wrapper} {}", self.text))
    }

    /// An `rm` with its flags behind its operands.
    fn flags_last(&self) -> Option<String> {
        let (program, rest) = self.program()?;
        if program != "rm" || rest.contains(&"--") {
            return None;
        }
        let (flags, others): (Vec<&str>, Vec<&str>) =
            rest.iter().partition(|word| word.starts_with('-'));
        let words: Vec<&str> = others.into_iter().chain(flags).collect();
        Some(joined(program, &words, " "))
    }

    /// Whether the line ends with a word of the grammar, which to bash is another word with a
    /// carriage return behind it: it would not run the line at all.
    fn ends_reserved(&self) -> bool {
        let last = self.text.split([' ', ';']).rfind(|word| !word.is_empty());
        last.is_some_and(|word| RESERVED.contains(&word) || word.ends_with(['}', ')']))
    }

    /// The line, if it is one line that something can be put behind.
    fn continuable(&self) -> Option<&'a str> {
        let end = self.text.trim_end();
        let whole =
            !self.text.contains(['\n', '\r', '\0', '#']) && !end.ends_with(['&', ';', '\\']);
        whole.then_some(self.text)
    }

    /// The line, if it does not move the shell: a loop that may come round again begins where it ended.
    fn staying(&self) -> Option<&Self> {
        let mut words = self.text.split(|c: char| !c.is_ascii_alphanumeric());
        let moves = words.any(|word| matches!(word, "cd" | "pushd" | "popd"));
        (!moves).then_some(self)
    }

    /// The line, if it is a list of commands that stands by itself: no comment alone, and no
    /// letter that ends the reading.
    fn list(&self) -> Option<&'a str> {
        let alone = self.text.trim_start().starts_with('#') || self.text.trim().is_empty();
        let whole = !alone && !self.text.contains('\0') && !self.text.trim_end().ends_with('\\');
        whole.then_some(self.text)
    }

    /// The line, if it says nothing about the arguments of the shell that reads it: another shell
    /// or a function has others.
    fn without_arguments(&self) -> Option<&'a str> {
        let list = self.list()?;
        let named = [
            "$@", "$*", "$#", "$0", "$1", "$2", "${1", "${@", "${*", "BASH_", "$SHLVL",
        ];
        (!named.iter().any(|name| list.contains(name))).then_some(list)
    }

    /// A simple command whose program is named with a directory.
    fn from(&self, directory: &str) -> Option<String> {
        let (program, rest) = self.outside_program()?;
        Some(joined(&format!("{directory}{program}"), rest, " "))
    }

    /// A simple command with something else between its words.
    fn spaced(&self, gap: &str) -> Option<String> {
        let (program, rest) = self.program()?;
        Some(joined(program, rest, gap))
    }

    /// The line with something behind it.
    fn before(&self, behind: &str) -> Option<String> {
        Some(format!("{}{behind}", self.continuable()?))
    }

    /// The line with something before and behind it.
    fn within(&self, before: &str, behind: &str) -> Option<String> {
        Some(format!("{before}{}{behind}", self.list()?))
    }

    /// The line as the text another shell is given.
    fn given_to(&self, shell: &str) -> Option<String> {
        Some(format!("{shell} {}", quoted(self.without_arguments()?)))
    }

    /// The line as a text of its own in another one.
    fn as_data(&self, before: &str, behind: &str) -> Option<String> {
        let text = (!self.text.contains(['\0', '\r'])).then(|| quoted(self.text))?;
        Some(format!("{before}{text}{behind}"))
    }

    /// The line in a quoted here-document of a command that does not run it.
    fn in_document(&self, command: &str) -> Option<String> {
        self.as_data("", "")?;
        Some(format!("{command} <<'HP_END'\n{}\nHP_END", self.text))
    }

    /// The simple command with each word rewritten, where its letters are plain ones.
    fn with_words(&self, written: impl Fn(&str) -> String) -> Option<String> {
        let (program, rest) = self.program()?;
        let words: Vec<String> = rest
            .iter()
            .map(|word| {
                let plain = word.len() > 1
                    && word
                        .chars()
                        .all(|c| c.is_ascii_alphanumeric() || "_./:@,+-".contains(c));
                if plain {
                    written(word)
                } else {
                    (*word).to_owned()
                }
            })
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Some(joined(program, &words, " "))
    }

    /// An `rm` whose `-rf` is written in another way.
    fn with_flags(&self, written: &str) -> Option<String> {
        let (program, rest) = self.program()?;
        let at = rest.iter().position(|word| *word == "-rf")?;
        let after = rest.iter().take(at).any(|word| *word == "--");
        if program != "rm" || after {
            return None;
        }
        let words: Vec<&str> = rest
            .iter()
            .map(|word| if *word == "-rf" { written } else { *word })
            .collect();
        Some(joined(program, &words, " "))
    }
}

fn joined(program: &str, rest: &[&str], gap: &str) -> String {
    let mut line = program.to_owned();
    for word in rest {
        line.push_str(gap);
        line.push_str(word);
    }
    line
}

/// A text in single quotes.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The words of a line as they are written, if it is one simple command without redirections:
/// nothing outside quotes that joins, groups, substitutes or continues.
fn simple_words(text: &str) -> Option<Vec<&str>> {
    let mut words = Vec::new();
    let mut start = None;
    let mut quote = None;
    let mut escaped = false;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            _ if escaped => escaped = false,
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), _) => {}
            (Some(_), '\\') => escaped = true,
            (Some(_), '`') => return None,
            (Some(_), _) => {}
            (None, '\'' | '"') => {
                quote = Some(letter);
                start.get_or_insert(at);
            }
            (None, '\\') => {
                escaped = true;
                start.get_or_insert(at);
            }
            (None, ' ' | '\t') => {
                if let Some(from) = start.take() {
                    words.push(text.get(from..at)?);
                }
            }
            (None, ';' | '|' | '&' | '<' | '>' | '(' | ')' | '`' | '\n' | '\r' | '\0') => {
                return None;
            }
            (None, '#') if start.is_none() => return None,
            (None, _) => {
                start.get_or_insert(at);
            }
        }
    }
    if quote.is_some() || escaped || text.contains("$(") {
        return None;
    }
    words.extend(start.and_then(|from| text.get(from..)));
    Some(words)
}

#[rustfmt::skip] // One form a line.
const SPELLINGS: &[Form] = &[
    // Quotes and escapes.
    ("r''m", |line| line.with_program(|first, rest| format!("{first}''{rest}"))),
    ("\"rm\"", |line| line.with_program(|first, rest| format!("\"{first}{rest}\""))),
    ("'r'm", |line| line.with_program(|first, rest| format!("'{first}'{rest}"))),
    ("r\"m\"", |line| line.with_program(|first, rest| format!("{first}\"{rest}\""))),
    ("\\rm", |line| line.with_program(|first, rest| format!("\\{first}{rest}"))),
    ("$'\\x72m'", |line| line.with_program(|first, rest| format!("$'\\x{:02x}{rest}'", code(first)))),
    ("$'\\162'm", |line| line.with_program(|first, rest| format!("$'\\{:03o}'{rest}", code(first)))),
    ("$\"rm\"", |line| line.with_program(|first, rest| format!("$\"{first}{rest}\""))),
    ("words in quotes", |line| line.with_words(|word| format!("'{word}'"))),
    ("words in double quotes", |line| line.with_words(|word| format!("\"{word}\""))),
    ("quotes behind words", |line| line.with_words(|word| format!("{word}''"))),
    ("escaped words", |line| line.with_words(|word| format!("\\{word}"))),
    // White space and line ends.
    ("continued within a word", |line| line.with_program(|first, rest| format!("{first}\\\n{rest}"))),
    ("continued between words", |line| line.spaced(" \\\n  ")),
    ("tabs", |line| line.spaced("\t \t")),
    ("white space around", |line| line.within("\n\t ", "\n\n")),
    ("carriage return", |line| line.before("\r\n").filter(|_| !line.ends_reserved())),
    ("a comment behind it", |line| line.before(" # and so on")),
    ("a comment before it", |line| line.within("# and so on\n", "")),
    ("&& true", |line| line.before(" && true")),
    ("|| true", |line| line.before(" || true")),
    ("in the background", |line| line.before(" &")),
    // The place of the program.
    ("/bin/", |line| line.from("/bin/")),
    ("/usr/bin/", |line| line.from("/usr/bin/")),
    ("/usr/bin/../bin/", |line| line.from("/usr/bin/../bin/")),
    // Flags.
    ("-fr", |line| line.with_flags("-fr")),
    ("-r -f", |line| line.with_flags("-r -f")),
    ("-Rf", |line| line.with_flags("-Rf")),
    ("--recursive --force", |line| line.with_flags("--recursive --force")),
    ("-f --recursive", |line| line.with_flags("-f --recursive")),
    ("-rvf", |line| line.with_flags("-rvf")),
    ("flags last", |line| line.flags_last()),
    // Wrappers that add nothing.
    ("A=1", |line| line.run_by("A=1")),
    ("env", |line| line.run_by("env")),
    ("env A=1", |line| line.run_by("env A=1")),
    ("command", |line| line.run_by("command")),
    ("exec", |line| line.run_by("exec")),
    ("nice", |line| line.run_by("nice -n 5")),
    ("nohup", |line| line.run_by("nohup")),
    ("timeout", |line| line.run_by("timeout 5")),
    ("timeout -k", |line| line.run_by("timeout -k 1 -s KILL 5s")),
    ("time", |line| line.run_by("time")),
    ("stdbuf", |line| line.run_by("stdbuf -o0")),
    ("setsid", |line| line.run_by("setsid -w")),
    ("ionice", |line| line.run_by("ionice -c 3")),
    ("wrappers of wrappers", |line| line.run_by("env A=1 nice timeout 5 nohup")),
    ("bash -c", |line| line.given_to("bash -c")),
    ("bash -lc", |line| line.given_to("bash -lc")),
    ("bash -o pipefail -c", |line| line.given_to("bash -o pipefail -c")),
    ("sh -c", |line| line.given_to("sh -c").filter(|_| line.words.is_some())),
    ("eval", |line| Some(format!("eval {}", quoted(line.list()?)))),
    // Compound commands.
    ("( )", |line| line.within("( ", "\n)")),
    ("{ }", |line| line.within("{ ", "\n}")),
    ("if", |line| line.within("if true; then ", "\nfi")),
    ("else", |line| line.within("if false; then :; else ", "\nfi")),
    ("for", |line| line.within("for _hp in 1; do ", "\ndone")),
    ("while", |line| line.staying()?.within("while true; do ", "\nbreak; done")),
    ("case", |line| line.within("case x in *) ", "\n;; esac")),
    ("a function", |line| Some(format!("_hp() {{ {}\n}}; _hp", line.without_arguments()?))),
    ("an assignment before it", |line| line.within("_hp=1; ", "")),
    ("another command before it", |line| line.within("ls; ", "")),
    ("another command behind it", |line| line.within("", "\nls")),
    // A program from a variable, or out of a substitution.
    ("P=rm; $P", |line| {
        let (program, rest) = line.outside_program()?;
        Some(format!("_hp={program}; {}", joined("$_hp", rest, " ")))
    }),
    ("P=r; ${P}m", |line| {
        line.outside_program()?;
        line.with_program(|first, rest| format!("_hp={first}; ${{_hp}}{rest}"))
    }),
    ("$(echo rm)", |line| {
        let (program, rest) = line.outside_program()?;
        Some(joined(&format!("$(echo {program})"), rest, " "))
    }),
    ("an array", |line| {
        line.outside_program()?;
        Some(format!("_hp=({}); \"${{_hp[@]}}\"", line.text))
    }),
    ("echo | sh", |line| {
        let (program, _) = line.program()?;
        let literal = INPUTLESS.contains(&program) && !line.text.contains('\\');
        literal.then(|| format!("echo {} | sh", quoted(line.text)))
    }),
];

#[rustfmt::skip] // One form a line.
const EMBEDDINGS: &[Form] = &[
    ("echo", |line| line.as_data("echo ", "")),
    ("printf", |line| line.as_data("printf '%s\\n' ", "")),
    ("a commit message", |line| line.as_data("git commit -m ", "")),
    ("--message=", |line| line.as_data("git commit --message=", "")),
    ("a commit message behind another", |line| line.as_data("git commit -a -m 'fix' -m ", "")),
    ("the body of a pull request", |line| line.as_data("gh pr create --title x --body ", "")),
    ("a here-document", |line| line.in_document("cat")),
    ("a file", |line| line.in_document("cat > notes.md")),
    ("more of a file", |line| line.in_document("tee -a docs/notes.md")),
    ("a commit message in a here-document", |line| {
        Some(format!("git commit -m \"$({}\n)\"", line.in_document("cat")?))
    }),
    ("a here-string", |line| line.as_data("cat <<< ", "")),
    ("grep", |line| line.as_data("grep -rn ", " src")),
    ("grep -e", |line| line.as_data("grep -rn -e ", " src")),
    ("rg -F", |line| line.as_data("rg -F ", " src")),
    ("git log --grep", |line| line.as_data("git log --grep=", "")),
    ("git log -S", |line| line.as_data("git log -S ", " --oneline")),
    ("a comment", |line| {
        let comment = line.list()?.lines().map(|one| format!("# {one}\n"));
        Some(comment.collect::<String>() + "ls")
    }),
    ("a comment behind a command", |line| Some(format!("ls -l # {}", line.continuable()?))),
    ("an assignment", |line| line.as_data("NOTE=", "")),
    ("a printed variable", |line| line.as_data("NOTE=", "; echo \"$NOTE\"")),
    ("an array", |line| line.as_data("NOTES=(", " x); echo \"${#NOTES[@]}\"")),
    ("jq --arg", |line| line.as_data("jq -n --arg c ", " '$c'")),
    ("test", |line| line.as_data("[ \"$x\" = ", " ] && echo same")),
    ("[[ ]]", |line| line.as_data("[[ $x == ", " ]] && echo same")),
    ("case", |line| line.as_data("case \"$x\" in ", ") echo no;; esac")),
    ("a list to go through", |line| line.as_data("for c in ", " x; do echo \"$c\"; done")),
    ("through a pipe", |line| line.as_data("echo ", " | tee notes.txt | wc -c")),
    ("the gate itself", |line| line.as_data("holdpoint check ", "")),
    ("python", |line| {
        let text = serde_json::to_string(line.list()?).ok()?;
        Some(format!("python3 -c {}", quoted(&format!("print({text})"))))
    }),
];

#[rustfmt::skip] // One form a line.
const NESTINGS: &[Form] = &[
    ("bash -c three deep", |line| {
        let twice = format!("bash -c {}", quoted(&line.given_to("bash -c")?));
        Some(format!("bash -c {}", quoted(&twice)))
    }),
    ("eval in sh in sudo", |line| {
        Some(format!("sudo -n sh -c {}", quoted(&line.given_to("eval")?)))
    }),
    ("groups in groups", |line| {
        line.within(&"( ".repeat(20), &format!("\n{}", " )".repeat(20)))
    }),
    ("a substitution in a substitution", |line| line.within("echo \"$(echo \"$(", "\n)\")\"")),
];

/// As long as a line that got past a guard elsewhere, and several times that.
#[rustfmt::skip] // One form a line.
const PADDINGS: &[Form] = &[
    ("66 KB of comments before it", |line| line.within(&comments(66), "")),
    ("66 KB of commands before it", |line| line.within(&commands(66), "")),
    ("66 KB of white space before it", |line| line.within(&" ".repeat(66 * 1024), "")),
    ("66 KB of text before it", |line| {
        line.within(&format!("echo '{}'; ", "x".repeat(66 * 1024)), "")
    }),
    ("66 KB of comments behind it", |line| line.within("", &format!("\n{}", comments(66)))),
    ("300 KB of comments before it", |line| line.within(&comments(300), "")),
    ("300 KB of commands before it", |line| line.within(&commands(300), "")),
    ("300 KB of comments behind it", |line| line.within("", &format!("\n{}", comments(300)))),
];

/// The number of the letter in ASCII.
fn code(letter: &str) -> u8 {
    letter.bytes().next().unwrap_or_default()
}

/// So many KB of comments.
fn comments(size: usize) -> String {
    "# nothing to see in this line, nor in any of the others of its kind\n".repeat(size * 1024 / 68)
}

/// So many KB of commands that do nothing.
fn commands(size: usize) -> String {
    "true;".repeat(size * 1024 / 5)
}
