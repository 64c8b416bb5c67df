//! Consoles of frameworks and notebooks: programs that run code in the language of an application.
//!
//! `rails runner CODE`, `manage.py shell -c CODE`, `artisan tinker --execute CODE`: the code is
//! read like that of the language's own interpreter, or marked where the language is not read.
//! IPython's lines that begin with `!` are the shell's.

use super::code::{self, Source};
use super::commands::Wrapping;
use super::input::Input;
use super::refusal::Refusal;
use super::texts::Argument;
use super::unwrapping::Unwrapped;
use crate::code::Language;
use crate::opaque::Reason;

/// A console of some program.
struct Console {
    /// Names of the program, or of the script that an interpreter runs.
    programs: &'static [&'static str],
    subcommands: &'static [&'static str],
    /// Options followed by code; without any, the first operand is code.
    code: &'static [&'static str],
    /// What the code is written in, if that is read.
    language: Option<Language>,
}

const CONSOLES: &[Console] = &[
    Console {
        programs: &["rails"],
        subcommands: &["runner", "r"],
        code: &[],
        language: Some(Language::Ruby),
    },
    Console {
        programs: &["rails"],
        subcommands: &["console", "c"],
        code: &["-e"],
        language: Some(Language::Ruby),
    },
    Console {
        programs: &["manage.py", "django-admin", "django-admin.py"],
        subcommands: &["shell", "shell_plus"],
        code: &["-c", "--command"],
        language: Some(Language::Python),
    },
    Console {
        programs: &["jupyter", "jupyter-console", "jupyter-qtconsole"],
        subcommands: &["console", "qtconsole"],
        code: &["-c"],
        language: Some(Language::Python),
    },
    Console {
        programs: &["flask"],
        subcommands: &["shell"],
        code: &["-c"],
        language: Some(Language::Python),
    },
    Console {
        programs: &["artisan"],
        subcommands: &["tinker"],
        code: &["--execute"],
        language: Some(Language::Php),
    },
    Console {
        programs: &["wp"],
        subcommands: &["eval", "shell"],
        code: &[],
        language: Some(Language::Php),
    },
    Console {
        programs: &["mix"],
        subcommands: &["run", "eval"],
        code: &["-e", "--eval"],
        language: None,
    },
];

/// Programs with a subcommand that is the client of a database: what it reads are statements.
const DATABASES: [(&str, &str); 6] = [
    ("django-admin", "dbshell"),
    ("manage.py", "dbshell"),
    ("prisma", "db"),
    ("rails", "db"),
    ("rails", "dbconsole"),
    ("wp", "db"),
];

/// Lists what a console is given to run, if a command is one.
pub(super) fn run(command: &mut Unwrapped<'_, '_>, name: &str) -> Result<(), Refusal> {
    // `python manage.py shell` and `php artisan tinker` name the console second.
    let interpreter = ["python", "php"]
        .iter()
        .any(|known| name.starts_with(known));
    let (name, at) = if interpreter {
        let script = command.words.get(1).and_then(|word| word.text.program());
        (script.unwrap_or_default(), 2)
    } else {
        (name, 1)
    };
    let Some(subcommand) = command.known(at) else {
        return Ok(());
    };
    if DATABASES.contains(&(name, subcommand)) {
        let span = command
            .words
            .first()
            .map_or(0..0, |word| word.text.span.clone());
        let client = Argument::literal("psql", span);
        return command.starts(Wrapping::Incidental, Vec::new(), vec![client]);
    }
    let Some(console) = CONSOLES.iter().find(|console| {
        console.programs.contains(&name) && console.subcommands.contains(&subcommand)
    }) else {
        return Ok(());
    };
    match console.given(command.rest(at + 1)) {
        Some(code) => {
            if code.text.dynamic {
                command.mark(Reason::DynamicCode);
            }
            console.runs(command, code.unquoted(), &code)
        }
        // What is piped into it is its code.
        None => match command.start.input.clone() {
            Input::Known(text) => match command.words.first().cloned() {
                Some(word) => console.runs(command, &text, &word),
                None => Ok(()),
            },
            Input::Partly(_) | Input::Unknown(_) => {
                command.mark(Reason::ScriptFromInput);
                Ok(())
            }
            Input::Inherited | Input::Empty => Ok(()),
        },
    }
}

impl Console {
    /// The code among the words behind the subcommand.
    fn given(&self, words: &[Argument]) -> Option<Argument> {
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let text = word.unquoted();
            if self.code.contains(&text) {
                return words.get(at + 1).cloned();
            }
            if let Some((name, _)) = text.split_once('=')
                && self.code.contains(&name)
            {
                return Some(word.tail(name.len() + 1));
            }
            if self.code.is_empty() && !text.starts_with('-') {
                return Some(word.clone());
            }
            // `rails runner -e production CODE`
            let valued = self.code.is_empty() && matches!(text, "-e" | "--environment");
            at += 1 + usize::from(valued);
        }
        None
    }

    fn runs(
        &self,
        command: &mut Unwrapped<'_, '_>,
        text: &str,
        word: &Argument,
    ) -> Result<(), Refusal> {
        match self.language {
            Some(Language::Python) => {
                let span = word.text.span.clone();
                let python = notebook(command, text, word)?;
                code::run(
                    command,
                    Language::Python,
                    &python,
                    &span,
                    Source::Inline,
                    None,
                )
            }
            Some(language) => {
                let span = word.text.span.clone();
                code::run(command, language, text, &span, Source::Inline, None)
            }
            None => {
                command.mark(Reason::InlineCode);
                Ok(())
            }
        }
    }
}

/// Programs a notebook runs under a magic of their name.
const FILE_MAGICS: [&str; 11] = [
    "rm", "mv", "cp", "rmdir", "mkdir", "ln", "cat", "pip", "conda", "mamba", "uv",
];

/// The line of a magic that is named after the program it runs: `%rm -r x`.
pub(crate) fn file_magic(text: &str) -> Option<&str> {
    let program = text.strip_prefix('%')?;
    let is_named = |name: &&str| {
        let behind = program.strip_prefix(*name);
        behind.is_some_and(|rest| rest.starts_with(' '))
    };
    FILE_MAGICS.iter().any(is_named).then_some(program)
}

/// What a magic for a database says on its own line: `%sql DROP TABLE x`, `%%sql`.
pub(crate) fn sql_magic(text: &str) -> Option<&str> {
    let magic = text.strip_prefix("%%").or_else(|| text.strip_prefix('%'))?;
    let rest = magic
        .strip_prefix("sql")
        .or_else(|| magic.strip_prefix("bigquery"))?;
    (rest.is_empty() || rest.starts_with([' ', '\n', '\t'])).then_some(rest.trim_start())
}

/// Lists the lines of IPython that are the shell's: `!line`, `%sx line`, `%%bash` and all below it.
/// Gives the rest, which is Python.
pub(super) fn notebook(
    command: &mut Unwrapped<'_, '_>,
    text: &str,
    word: &Argument,
) -> Result<String, Refusal> {
    let mut python = String::with_capacity(text.len());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let trimmed = line.trim_start();
        // `files = !ls`
        let assigned = trimmed
            .split_once('=')
            .map_or("", |(_, value)| value.trim_start());
        let shell = [trimmed, assigned].into_iter().find_map(|text| {
            text.strip_prefix("!!")
                .or_else(|| text.strip_prefix('!'))
                .or_else(|| text.strip_prefix("%sx "))
                .or_else(|| text.strip_prefix("%system "))
                .or_else(|| file_magic(text))
        });
        let statement = [trimmed, assigned].into_iter().find_map(sql_magic);
        if let Some(head) = statement {
            let below = trimmed.starts_with("%%").then(|| lines.by_ref());
            let below: Vec<&str> = below.into_iter().flatten().collect();
            let statement = format!("{head}\n{}", below.join("\n"));
            command.states(&Argument::literal(statement.trim(), word.text.span.clone()))?;
            continue;
        }
        let shell = match shell {
            Some(line) => line.to_owned(),
            None if ["%%bash", "%%sh", "%%system", "%%sx", "%%script"]
                .iter()
                .any(|magic| trimmed.starts_with(magic)) =>
            {
                lines.by_ref().collect::<Vec<_>>().join("\n")
            }
            None => {
                python.push_str(line);
                python.push('\n');
                continue;
            }
        };
        let line = Argument::literal(&shell, word.text.span.clone());
        command.runs(Wrapping::Commanding, &line)?;
    }
    Ok(python)
}
