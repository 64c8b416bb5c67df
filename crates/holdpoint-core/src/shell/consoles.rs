//! Consoles of frameworks and notebooks: programs that run code in the language of an application.
//!
//! `rails runner CODE`, `manage.py shell -c CODE`, `artisan tinker --execute CODE`: the code is
//! read like that of the language's own interpreter, or marked where the language is not read.
//! IPython's lines that begin with `!` are the shell's.

use super::code::{self, Source};
use super::commands::Wrapping;
use super::input::Input;
use super::loading::is_streamed;
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
    /// Options followed by code.
    code: &'static [&'static str],
    /// Options followed by something else.
    values: &'static [&'static str],
    /// The first operand is code; without it, what they read is.
    operand: bool,
    /// What the code is written in, if that is read.
    language: Option<Language>,
}

const PLAIN: Console = Console {
    programs: &[],
    subcommands: &[],
    code: &[],
    values: &[],
    operand: false,
    language: None,
};

const CONSOLES: &[Console] = &[
    Console {
        programs: &["rails"],
        subcommands: &["runner", "r"],
        values: &["-e", "--environment"],
        operand: true,
        language: Some(Language::Ruby),
        ..PLAIN
    },
    Console {
        programs: &["rails", "hanami", "hbase"],
        subcommands: &["console", "c", "shell"],
        values: &["-e", "--environment"],
        language: Some(Language::Ruby),
        ..PLAIN
    },
    Console {
        programs: &["rake"],
        subcommands: &[
            "-e",
            "--execute",
            "-p",
            "--execute-print",
            "-E",
            "--execute-continue",
        ],
        operand: true,
        language: Some(Language::Ruby),
        ..PLAIN
    },
    Console {
        programs: &["manage.py", "django-admin", "django-admin.py"],
        subcommands: &["shell", "shell_plus"],
        code: &["-c", "--command"],
        language: Some(Language::Python),
        ..PLAIN
    },
    Console {
        programs: &["jupyter", "jupyter-console", "jupyter-qtconsole"],
        subcommands: &["console", "qtconsole"],
        code: &["-c"],
        language: Some(Language::Python),
        ..PLAIN
    },
    Console {
        programs: &[
            "flask", "scrapy", "odoo", "odoo-bin", "superset", "ckan", "bench",
        ],
        subcommands: &["shell", "console"],
        code: &["-c"],
        language: Some(Language::Python),
        ..PLAIN
    },
    Console {
        programs: &["artisan", "sail"],
        subcommands: &["tinker"],
        code: &["--execute"],
        language: Some(Language::Php),
        ..PLAIN
    },
    Console {
        programs: &["wp", "wp-cli", "wp-cli.phar"],
        subcommands: &["eval", "shell"],
        values: &["--path", "--url", "--user", "--ssh", "--http"],
        operand: true,
        language: Some(Language::Php),
        ..PLAIN
    },
    Console {
        programs: &["drush", "drush.php"],
        subcommands: &["php:eval", "php-eval", "ev", "eval"],
        values: &["-l", "-r"],
        operand: true,
        language: Some(Language::Php),
        ..PLAIN
    },
    Console {
        programs: &[
            "craft",
            "n98-magerun",
            "n98-magerun2",
            "n98-magerun.phar",
            "n98-magerun2.phar",
        ],
        subcommands: &["exec", "exec/exec", "dev:console"],
        operand: true,
        language: Some(Language::Php),
        ..PLAIN
    },
    // A file of theirs is followed as any that is loaded; `-` is what they read.
    Console {
        programs: &["wp", "wp-cli", "wp-cli.phar", "drush", "drush.php"],
        subcommands: &[
            "eval-file",
            "php:script",
            "php-script",
            "scr",
            "php:cli",
            "php",
            "core:cli",
            "core-cli",
        ],
        language: Some(Language::Php),
        ..PLAIN
    },
    Console {
        programs: &["mix"],
        subcommands: &["run", "eval"],
        code: &["-e", "--eval"],
        ..PLAIN
    },
];

/// Programs with a subcommand that is the client of a database: what it reads are statements.
const DATABASES: [(&str, &str); 11] = [
    ("django-admin", "dbshell"),
    ("drush", "sql-cli"),
    ("drush", "sql:cli"),
    ("drush", "sqlc"),
    ("hbase", "shell"),
    ("manage.py", "dbshell"),
    ("prisma", "db"),
    ("rails", "db"),
    ("rails", "dbconsole"),
    ("wp", "db"),
    ("wp-cli", "db"),
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
    // `drush @live ev CODE`, `wp --path=/x eval CODE`
    let in_front = |word: &Argument| {
        let text = word.unquoted();
        text.starts_with(['@', '-']) && !is_subcommand(name, text)
    };
    let words = command.words;
    let skipped = words.iter().skip(at).take_while(|word| in_front(word));
    let at = at + skipped.count();
    let Some(subcommand) = words.get(at).and_then(Argument::known) else {
        return Ok(());
    };
    if DATABASES.contains(&(name, subcommand)) {
        let span = command
            .words
            .first()
            .map_or(0..0, |word| word.text.span.clone());
        let client = Argument::literal("psql", span);
        command.starts(Wrapping::Incidental, Vec::new(), vec![client])?;
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

/// Whether a word is a subcommand of one of a program's consoles, though it looks like an option.
fn is_subcommand(name: &str, word: &str) -> bool {
    let mut consoles = CONSOLES.iter();
    consoles.any(|console| console.programs.contains(&name) && console.subcommands.contains(&word))
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
            if self.operand && !text.starts_with('-') {
                return (!is_streamed(text)).then(|| word.clone());
            }
            // `rails runner -e production CODE`
            at += 1 + usize::from(self.values.contains(&text));
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
