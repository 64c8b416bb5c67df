//! Code in other languages: what a light reading finds in it becomes commands of the list.
//!
//! `shutil.rmtree("x")` is listed as `rm -r x`, run by the interpreter, so that one set of rules
//! judges both. What cannot be followed is marked on the interpreter.

use std::sync::Arc;

use super::commands::Wrapping;
use super::environment::Origin;
use super::input::Input;
use super::refusal::Refusal;
use super::scripts::{Asks, ScriptSource};
use super::texts::{Argument, UNKNOWN};
use super::tree::Span;
use super::unwrapping::Unwrapped;
use crate::code::{
    self, Carried, CodeEffect, CodeEffectKind, Language, Operand, Place, Setting, Unfollowed,
};
use crate::opaque::Reason;
use crate::paths::{Entry, base_name};
use crate::project_files::settings;

/// Effects of one piece of code that are listed; each is a command. What has more is marked.
const MAX_EFFECTS: usize = 500;

/// The programs calls of database libraries are listed as.
const DATABASE_CLIENTS: [&str; 4] = ["mongosh", "mysql", "psql", "sqlite3"];

/// Where code comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// It stands in the command.
    Inline,
    /// It stands in a file, where not following everything is no news.
    File,
    /// It stands in a file of the project that a program loads of its own accord.
    Loaded {
        /// What of it cannot be read is asked about.
        asks: bool,
        /// The agent wrote it.
        own: bool,
        /// It takes texts out of a code, so that what it hands on is asked about, too.
        decodes: bool,
        /// It says what becomes of a database step by step, and back: that is what it is for.
        migrates: bool,
    },
}

/// The name of an interpreter without its version and without the word for a build of it: `python3.13t`, `python3-dbg`,
/// `nodejs-18`.
pub(super) fn stem(program: &str) -> &str {
    let ends = |letter: char| letter.is_ascii_digit() || letter == '.';
    // Another language, whatever its number says.
    if program == "perl6" {
        return program;
    }
    let plain = program.trim_end_matches(ends);
    if plain.len() == program.len() && !program.ends_with(['t', 'd', 'm', 'g']) {
        return plain;
    }
    let built = BUILDS
        .iter()
        .find_map(|build| program.strip_suffix(build))
        .unwrap_or(program);
    // `t` is a build only behind a version.
    let freed = program
        .strip_suffix(['t', 'd', 'm'])
        .filter(|front| front.ends_with(|letter: char| letter.is_ascii_digit()));
    freed
        .unwrap_or(built)
        .trim_end_matches(ends)
        .trim_end_matches('-')
}

/// Words for builds of an interpreter, behind its name.
const BUILDS: [&str; 3] = ["-dbg", "-debug", "-intg"];

/// The language an interpreter runs, by its name without a version.
pub(super) fn language(program: &str) -> Option<Language> {
    Some(match stem(program) {
        "python" | "pypy" | "ipython" | "pythonw" | "py" | "graalpy" | "graalpython" | "jython"
        | "bpython" | "ptpython" | "ptipython" | "sage-python" => Language::Python,
        "node" | "nodejs" | "bun" | "deno" | "tsx" | "ts-node" | "zx" | "esno" | "esr" | "jiti"
        | "babel-node" | "vite-node" | "iojs" | "electron" | "graaljs" | "ts-node-esm"
        | "swc-node" => Language::JavaScript,
        "ruby" | "jruby" | "truffleruby" => Language::Ruby,
        "perl" => Language::Perl,
        "php" => Language::Php,
        "lua" | "luajit" | "luau" | "texlua" => Language::Lua,
        "awk" | "gawk" | "mawk" | "nawk" => Language::Awk,
        "pwsh" | "powershell" | "pwsh.exe" | "powershell.exe" => Language::PowerShell,
        "vim" | "nvim" | "vi" | "ex" | "view" | "gvim" => Language::Vim,
        _ => return None,
    })
}

/// Whether a program runs code in another language.
pub(crate) fn is_interpreter(program: &str) -> bool {
    language(program).is_some()
}

/// Names a promise of a module brings, as if the module were loaded for them: `import("fs").then(({rmSync}) => …)`
/// is `const {rmSync} = require("fs")` to whatever follows. None where nothing is written so.
fn with_promised(text: &str) -> Option<String> {
    let mut front = String::new();
    for (at, _) in text.match_indices("import(") {
        let from = at + "import(".len();
        let end = text.floor_char_boundary(from + MAX_NAMES);
        let near = text.get(from..end).unwrap_or_default();
        let Some((module, rest)) = near.split_once(')') else {
            continue;
        };
        let quotes = ['"', '\'', '`', ' '];
        let module = module.trim_matches(quotes);
        let plain = !module.is_empty()
            && module
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-:/.@".contains(&byte));
        let compact = rest.trim_start().strip_prefix(".then(");
        let names = compact
            .map(|rest| rest.trim_start().trim_start_matches("async").trim_start())
            .map(|rest| rest.trim_start_matches("function").trim_start())
            .and_then(|rest| rest.strip_prefix('('))
            .and_then(|rest| rest.trim_start().strip_prefix('{'))
            .and_then(|rest| rest.split_once('}'));
        if let (true, Some((names, _))) = (plain, names) {
            front.push_str(&format!("const {{{names}}} = require('{module}');"));
        }
    }
    (!front.is_empty()).then(|| front + text)
}

/// How far behind a promise of a module its name and the names it brings are looked for: a list of some words.
const MAX_NAMES: usize = 1000;

/// Lists what a piece of code does, which stands in a file by its name or in the command.
pub(super) fn run(
    command: &mut Unwrapped<'_, '_>,
    language: Language,
    text: &str,
    span: &Span,
    source: Source,
    file: Option<&str>,
) -> Result<(), Refusal> {
    let spelled = match language {
        Language::JavaScript => with_promised(text),
        Language::Python
        | Language::Ruby
        | Language::Perl
        | Language::Php
        | Language::Awk
        | Language::Vim
        | Language::Lua
        | Language::PowerShell => None,
    };
    let text = spelled.as_deref().unwrap_or(text);
    let place = place_of(command, text, file);
    let reading = command.listing.read_code(language, text, &place);
    if !reading.may_run.is_empty() && (source == Source::Inline || is_own(command, source, file)) {
        let lines = reading
            .may_run
            .iter()
            .map(|line| (command.place, line.clone()));
        command.listing.may_run.extend(lines);
    }
    if reading.hands_on && is_own(command, source, file) {
        hand_on(command, language, &reading, span, source)?;
    }
    let builds = HELD_CODE.iter().any(|sign| text.contains(sign));
    if source == Source::Inline && (reading.opaque.is_some() || builds) {
        command.mark(Reason::InlineCode);
    }
    // A file is text that could have been read; that it does what only running it shows is no news.
    let unread = match reading.opaque {
        Some(Unfollowed::TooLong | Unfollowed::TooDeep) => Some(Reason::OverBudget),
        Some(Unfollowed::Unreadable) if source != Source::Inline => Some(Reason::Unreadable),
        Some(
            Unfollowed::Unreadable
            | Unfollowed::Evaluates
            | Unfollowed::DynamicName
            | Unfollowed::Native,
        )
        | None => None,
    };
    let asks = !matches!(source, Source::Loaded { asks: false, .. });
    if matches!(source, Source::Loaded { decodes: true, .. }) && asks {
        let hands_on = |effect: &CodeEffect| match &effect.kind {
            CodeEffectKind::Shell(Operand::Unknown) | CodeEffectKind::Eval => true,
            CodeEffectKind::Run(words) => words.first() == Some(&Operand::Unknown),
            CodeEffectKind::Shell(Operand::Known(_) | Operand::Starts(_))
            | CodeEffectKind::Delete { .. }
            | CodeEffectKind::Write { .. }
            | CodeEffectKind::Append { .. }
            | CodeEffectKind::Read { .. }
            | CodeEffectKind::ChangeMode { .. }
            | CodeEffectKind::Rename { .. }
            | CodeEffectKind::Send { .. }
            | CodeEffectKind::Print(_)
            | CodeEffectKind::Connect(_) => false,
        };
        let evaluates = matches!(
            reading.opaque,
            Some(Unfollowed::Evaluates | Unfollowed::Native)
        );
        if evaluates || reading.effects.iter().any(hands_on) {
            command.mark(Reason::InlineCode);
        }
    }
    if is_own(command, source, file) && runs_what_it_fetches(&reading, text) {
        command.mark(match asks && runs_what_a_line_fetches(text) {
            true => Reason::Downloaded,
            false => Reason::InlineCode,
        });
    }
    if let Some(reason) = unread.filter(|_| asks) {
        command.mark(reason);
    }
    let whole = is_whole(command, &reading, source, file);
    command.mark_whole(whole);
    if reading.effects.len() > MAX_EFFECTS && asks {
        command.mark(Reason::OverBudget);
    }
    let unknown = |effect: &CodeEffect| match &effect.kind {
        CodeEffectKind::Delete { path, .. }
        | CodeEffectKind::Write { path }
        | CodeEffectKind::Append { path }
        | CodeEffectKind::ChangeMode { path } => *path == Operand::Unknown,
        CodeEffectKind::Rename { from, to } => *from == Operand::Unknown || *to == Operand::Unknown,
        CodeEffectKind::Run(words) => words.first() == Some(&Operand::Unknown),
        CodeEffectKind::Read { .. }
        | CodeEffectKind::Shell(_)
        | CodeEffectKind::Connect(_)
        | CodeEffectKind::Send { .. }
        | CodeEffectKind::Print(_)
        | CodeEffectKind::Eval => false,
    };
    // What it changes is not known, so neither is what it does.
    if source == Source::Inline && language != Language::Vim && reading.effects.iter().any(unknown)
    {
        command.mark(Reason::InlineCode);
    }
    if reading.opens_socket && hands_over_shell(&reading, language, source) {
        let words =
            ["nc", "-e", "/bin/sh", UNKNOWN_HOST].map(|word| Argument::literal(word, span.clone()));
        command.starts_apart(Wrapping::Commanding, words.to_vec())?;
    }
    for effect in reading.effects.iter().take(MAX_EFFECTS) {
        if source != Source::Inline && removes_nothing(command, &effect.kind, &place) {
            continue;
        }
        let before = Arc::clone(&command.listing.environment.directory);
        let directory = effect
            .setting
            .as_ref()
            .and_then(|under| under.directory.as_ref());
        match directory {
            Some(Operand::Known(directory)) => command.listing.environment.go(directory),
            Some(Operand::Starts(_) | Operand::Unknown) => command.listing.environment.get_lost(),
            None => {}
        }
        let listed = list(command, effect, span, source);
        command.listing.environment.directory = before;
        listed?;
    }
    Ok(())
}

/// How the files end by which Python finds a module; a package is a directory.
const MODULE_ENDS: [&str; 6] = ["", ".py", ".pyc", ".so", ".abi3.so", ".pyd"];

/// Whether code does nothing but what was found in it: it was read to the end, and what it loads comes with its language. A
/// file beside it that is called like a module would be loaded in place of that.
fn is_whole(
    command: &Unwrapped<'_, '_>,
    reading: &code::Reading,
    source: Source,
    file: Option<&str>,
) -> bool {
    let environment = &command.listing.environment;
    let (Some(modules), Some(around)) = (&reading.whole, command.listing.around) else {
        return false;
    };
    let directory = match (source, file.and_then(|file| file.rsplit_once('/'))) {
        (Source::Inline, _) | (Source::File, None) => "",
        (Source::File, Some((directory, _))) => directory,
        (Source::Loaded { .. }, _) => return false,
    };
    let taken = |module: &String| {
        let named = |name: String| match directory {
            "" => name,
            directory => format!("{directory}/{name}"),
        };
        // A package, a file, or one that was compiled.
        let found = MODULE_ENDS.map(|end| {
            let name = named(format!("{module}{end}"));
            let places = environment.names_of(&name);
            places.is_empty()
                || places.iter().any(|place| {
                    around
                        .resolve(place)
                        .ok()
                        .map(|path| around.lookup.entry(&path))
                        != Some(Entry::Missing)
                })
        });
        found.contains(&true) || environment.files.name_module(module)
    };
    reading.effects.len() <= MAX_EFFECTS
        && !environment.directory.unknown
        && !modules.iter().any(taken)
}

/// What a text has in it that a library makes code of: a YAML document, a template.
const HELD_CODE: [&str; 2] = ["!!python/", "__globals__"];

/// Whether code fetches something and runs it: as code of its own, or as what it hands to a shell or starts.
fn runs_what_it_fetches(reading: &code::Reading, text: &str) -> bool {
    let connects = |effect: &CodeEffect| matches!(effect.kind, CodeEffectKind::Connect(_));
    if !reading.effects.iter().any(connects) {
        return false;
    }
    let starts = |effect: &&CodeEffect| match &effect.kind {
        CodeEffectKind::Shell(line) => *line == Operand::Unknown,
        CodeEffectKind::Run(words) => words.first() == Some(&Operand::Unknown),
        CodeEffectKind::Eval
        | CodeEffectKind::Delete { .. }
        | CodeEffectKind::Write { .. }
        | CodeEffectKind::Append { .. }
        | CodeEffectKind::Read { .. }
        | CodeEffectKind::ChangeMode { .. }
        | CodeEffectKind::Rename { .. }
        | CodeEffectKind::Send { .. }
        | CodeEffectKind::Print(_)
        | CodeEffectKind::Connect(_) => false,
    };
    let evaluates = reading
        .effects
        .iter()
        .any(|effect| effect.kind == CodeEffectKind::Eval);
    if evaluates || reading.opaque == Some(Unfollowed::Native) {
        return true;
    }
    let names = fetched_names(text);
    reading.effects.iter().filter(starts).any(|effect| {
        let call = text.get(effect.span.clone()).unwrap_or_default();
        let mut words = call.split(|sign: char| !sign.is_alphanumeric() && sign != '_');
        fetches(call) || words.any(|word| names.contains(&word))
    })
}

/// Whether what is fetched is run on the spot, as `curl … | sh` does it: `exec(requests.get(…).text)`.
fn runs_what_a_line_fetches(text: &str) -> bool {
    let code = text
        .lines()
        .filter(|line| !line.trim_start().starts_with(['#', '/']));
    code.flat_map(|line| line.split(';')).any(|statement| {
        let mut runs = RUNNING.iter();
        runs.any(|run| {
            statement
                .split_once(run)
                .is_some_and(|(_, given)| fetches(given))
        })
    })
}

/// What code that runs something begins with.
const RUNNING: [&str; 9] = [
    "exec(",
    "eval(",
    "os.system(",
    "popen(",
    "execSync(",
    "new Function(",
    "subprocess.",
    "spawnSync(",
    "runInThisContext(",
];

/// Whether a piece of code fetches something.
fn fetches(code: &str) -> bool {
    FETCHING.iter().any(|sign| code.contains(sign))
}

/// What code that fetches has in it.
const FETCHING: [&str; 10] = [
    "urlopen(",
    "urlretrieve(",
    "requests.",
    "httpx.",
    "fetch(",
    "axios",
    "http.get",
    "https.get",
    "Net::HTTP",
    "open-uri",
];

/// The names that hold what is fetched: where it is assigned, and where it goes from there.
fn fetched_names(text: &str) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for line in text.lines().flat_map(|line| line.split(';')) {
        let Some((front, value)) = line.split_once('=') else {
            continue;
        };
        let mut words = value.split(|sign: char| !sign.is_alphanumeric() && sign != '_');
        let holds = fetches(value) || words.any(|word| names.contains(&word));
        let name = front.split_whitespace().next_back().unwrap_or_default();
        if holds && !name.is_empty() && names.len() < MAX_FETCHED {
            names.push(name);
        }
    }
    names
}

/// Names that are followed from what is fetched; a script has one or two.
const MAX_FETCHED: usize = 64;

/// Whether code removes a directory of the project that it has worked out from there, and that is not there
/// yet: it makes it first, as tests do.
fn removes_nothing(command: &Unwrapped<'_, '_>, kind: &CodeEffectKind, place: &Place) -> bool {
    let CodeEffectKind::Delete {
        path: Operand::Known(path),
        ..
    } = kind
    else {
        return false;
    };
    let Some(around) = command.listing.around.filter(|_| path.starts_with('/')) else {
        return false;
    };
    let Ok(real) = around.resolve(path) else {
        return false;
    };
    let within = around.workspace.unwrap_or(place.directory.as_str());
    let below = real.strip_prefix(within.trim_end_matches('/'));
    below.is_some_and(|rest| rest.starts_with('/'))
        && around.lookup.entry(&real) == Entry::Missing
        && command.listing.environment.files.is_empty()
}

/// Where code stands and runs, by real paths where there are any: it may go elsewhere before it asks.
fn place_of(command: &Unwrapped<'_, '_>, text: &str, file: Option<&str>) -> Place {
    let mut place = Place::default();
    if !code::names_its_place(text) {
        return place;
    }
    let around = command.listing.around;
    let real = |name: &str| {
        let name = if name.is_empty() { "." } else { name };
        around.and_then(|around| around.resolve(name).ok())
    };
    let environment = &command.listing.environment;
    let directories = environment.names_of(".");
    if let ([only], false) = (directories.as_slice(), environment.directory.unknown)
        && let Some(directory) = real(only)
    {
        place.file = format!("{directory}/-");
        place.directory = directory;
    }
    if let Some(file) = file {
        place.file = real(file).unwrap_or_else(|| file.to_owned());
    }
    place
}

/// Files of data whose lines code may run that are looked at: it reads one or two. Code that reads more is a question.
const MAX_DATA: usize = 4;
/// Lines of one such file; more are a question.
const MAX_DATA_LINES: usize = 32;

/// What code reads and may run: the lines of a file, and where it runs code, the file as that.
fn hand_on(
    command: &mut Unwrapped<'_, '_>,
    language: Language,
    reading: &code::Reading,
    span: &Span,
    source: Source,
) -> Result<(), Refusal> {
    let evaluates = reading.opaque == Some(Unfollowed::Evaluates)
        || reading
            .effects
            .iter()
            .any(|effect| effect.kind == CodeEffectKind::Eval);
    let paths: Vec<String> = reading
        .effects
        .iter()
        .filter_map(|effect| {
            let CodeEffectKind::Read {
                path: Operand::Known(path),
            } = &effect.kind
            else {
                return None;
            };
            Some(path.clone())
        })
        .collect();
    let mut looked_at = 0;
    for path in paths {
        // Once each, so that files which run each other come to an end.
        if command.is_persons(&path)
            || !command.listing.loaded.insert((path.clone(), String::new()))
        {
            continue;
        }
        looked_at += 1;
        if looked_at > MAX_DATA {
            command.mark(Reason::OverBudget);
            break;
        }
        for found in command.look_up(&path, Asks::Project) {
            let ScriptSource::Text { text, .. } = found else {
                continue;
            };
            let found = settings::command_lines(&text);
            let lines = found.lines.into_iter();
            let mut lines: Vec<String> = lines
                .filter(|line| crate::supposed::is_line(line))
                .collect();
            if found.cut || lines.len() > MAX_DATA_LINES {
                command.mark(Reason::OverBudget);
                lines.truncate(MAX_DATA_LINES);
            }
            let place = command.place;
            let lines = lines.into_iter().map(|line| (place, line));
            command.listing.may_run.extend(lines);
            if evaluates {
                run(command, language, &text, span, source, Some(&path))?;
            }
        }
    }
    Ok(())
}

/// Whether a file of code is no work of the person's.
fn is_own(command: &Unwrapped<'_, '_>, source: Source, file: Option<&str>) -> bool {
    match source {
        // What stands in the command is asked about for all it hides.
        Source::Inline => false,
        Source::File => file.is_none_or(|file| !command.is_persons(file)),
        Source::Loaded { own, .. } => own,
    }
}

/// Stands for a host that is not looked for: what is done to it is the point.
const UNKNOWN_HOST: &str = "unknown.invalid";

/// Whether code that has a connection of its own also has what is handed out over one: a shell that waits
/// for lines, or a way to run whatever arrives. It is listed as the program that does just that.
fn hands_over_shell(reading: &code::Reading, language: Language, source: Source) -> bool {
    // Awk knows connections only by the names of files nobody else uses.
    if language == Language::Awk {
        return true;
    }
    let waits = |words: &[&str]| {
        let Some((program, rest)) = words.split_first() else {
            return false;
        };
        let idle = |word: &&str| {
            let option = word.starts_with('-') && !word.contains('c');
            option || word.contains(['<', '>'])
        };
        SHELLS.contains(&base_name(program)) && rest.iter().all(idle)
    };
    let inline = source == Source::Inline;
    let hands_over = |effect: &CodeEffect| match &effect.kind {
        CodeEffectKind::Run(words) => {
            let known: Option<Vec<&str>> = words.iter().map(known).collect();
            known.is_some_and(|words| waits(&words))
                || (inline && words.first() == Some(&Operand::Unknown))
        }
        CodeEffectKind::Shell(Operand::Known(line)) => {
            waits(&line.split_whitespace().collect::<Vec<_>>())
        }
        CodeEffectKind::Shell(Operand::Unknown) | CodeEffectKind::Eval => inline,
        CodeEffectKind::Shell(Operand::Starts(_))
        | CodeEffectKind::Delete { .. }
        | CodeEffectKind::Write { .. }
        | CodeEffectKind::Append { .. }
        | CodeEffectKind::Read { .. }
        | CodeEffectKind::ChangeMode { .. }
        | CodeEffectKind::Rename { .. }
        | CodeEffectKind::Send { .. }
        | CodeEffectKind::Print(_)
        | CodeEffectKind::Connect(_) => false,
    };
    let evaluates = inline && reading.opaque == Some(Unfollowed::Evaluates);
    evaluates || reading.effects.iter().any(hands_over)
}

/// Shells that read lines for want of a script.
const SHELLS: [&str; 8] = [
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "ash",
    "cmd.exe",
    "powershell.exe",
];

fn known(operand: &Operand) -> Option<&str> {
    match operand {
        Operand::Known(text) => Some(text),
        Operand::Starts(_) | Operand::Unknown => None,
    }
}

/// Lists one effect.
fn list(
    command: &mut Unwrapped<'_, '_>,
    effect: &CodeEffect,
    span: &Span,
    source: Source,
) -> Result<(), Refusal> {
    let words = |program: &[&str], operands: &[&Operand]| -> Vec<Argument> {
        let program = program
            .iter()
            .map(|word| Argument::literal(word, span.clone()));
        program
            .chain(operands.iter().map(|operand| argument(operand, span)))
            .collect()
    };
    let words = match &effect.kind {
        CodeEffectKind::Delete { path, recursive } => {
            let program: &[&str] = if *recursive { &["rm", "-r"] } else { &["rm"] };
            words(program, &[path])
        }
        CodeEffectKind::Write { path } => words(&["tee"], &[path]),
        CodeEffectKind::Append { path } => words(&["tee", "-a"], &[path]),
        CodeEffectKind::Read { path } => words(&["cat"], &[path]),
        CodeEffectKind::ChangeMode { path } => words(&["chmod", "u+rw"], &[path]),
        CodeEffectKind::Rename { from, to } => words(&["mv"], &[from, to]),
        CodeEffectKind::Connect(address) => words(&["curl"], &[address]),
        CodeEffectKind::Send { to, what } => return send(command, to, what, span),
        CodeEffectKind::Print(Carried::Variable(name)) => words(&["printenv", name], &[]),
        CodeEffectKind::Print(Carried::Environment | Carried::File(_)) => words(&["printenv"], &[]),
        CodeEffectKind::Run(operands) => {
            let operands: Vec<&Operand> = operands.iter().collect();
            words(&[], &operands)
        }
        CodeEffectKind::Shell(Operand::Known(line)) => match effect.setting.as_deref() {
            // Under variables of its own it is a shell's, which has them.
            Some(under) if !under.variables.is_empty() => words(&["sh", "-c", line], &[]),
            Some(_) | None => {
                let line = Argument::literal(line, span.clone());
                return command.runs(Wrapping::Commanding, &line);
            }
        },
        CodeEffectKind::Shell(Operand::Starts(line)) => {
            if !matches!(source, Source::Loaded { .. }) {
                command.mark(Reason::InlineCode);
            }
            let line = Argument::literal(line, span.clone());
            return command.runs(Wrapping::Commanding, &line);
        }
        CodeEffectKind::Shell(Operand::Unknown) | CodeEffectKind::Eval => {
            if source == Source::Inline {
                command.mark(Reason::InlineCode);
            }
            return Ok(());
        }
    };
    if matches!(source, Source::Loaded { migrates: true, .. })
        && words
            .first()
            .is_some_and(|word| DATABASE_CLIENTS.contains(&word.unquoted()))
    {
        return Ok(());
    }
    match effect.setting.as_deref() {
        Some(under) => start_under(command, under, words, span),
        None => command.starts_apart(Wrapping::Commanding, words),
    }
}

/// Starts a program under variables and with input of its own.
fn start_under(
    command: &mut Unwrapped<'_, '_>,
    under: &Setting,
    words: Vec<Argument>,
    span: &Span,
) -> Result<(), Refusal> {
    let assignments = under
        .variables
        .iter()
        .map(|(name, value)| (name.clone(), argument(value, span)))
        .collect();
    let input = match &under.input {
        Some(Operand::Known(text)) => Input::text(text),
        Some(Operand::Starts(_) | Operand::Unknown) => Input::Unknown(Origin::Elsewhere),
        None => Input::Empty,
    };
    command.starts_with(Wrapping::Commanding, assignments, words, input)
}

/// Lists what is sent as the line of a shell that does the same.
fn send(
    command: &mut Unwrapped<'_, '_>,
    to: &Operand,
    what: &Carried,
    span: &Span,
) -> Result<(), Refusal> {
    let literal = |text: &str| Argument::literal(text, span.clone());
    match what {
        Carried::File(path) => {
            let from = match path {
                Operand::Known(path) => literal(&format!("@{path}")),
                Operand::Starts(path) => {
                    literal(&format!("@{path}")).filled_with(Some(format!("@{path}{UNKNOWN}")))
                }
                // A file nobody knows is any.
                Operand::Unknown => return Ok(()),
            };
            let words = vec![
                literal("curl"),
                literal("--data-binary"),
                from,
                argument(to, span),
            ];
            command.starts_apart(Wrapping::Commanding, words)
        }
        Carried::Environment | Carried::Variable(_) => {
            let address = match to {
                Operand::Known(address) => address.as_str(),
                Operand::Starts(_) | Operand::Unknown => "https://unknown.invalid",
            };
            let address = address.replace('\'', "%27");
            let line = match what {
                Carried::Variable(name) if is_name(name) => {
                    format!("curl --data-binary \"x=${{{name}}}\" '{address}'")
                }
                Carried::Variable(_) | Carried::Environment | Carried::File(_) => {
                    format!("printenv | curl --data-binary @- '{address}'")
                }
            };
            command.runs(Wrapping::Commanding, &literal(&line))
        }
    }
}

/// Whether a text can be the name of a variable.
fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn argument(operand: &Operand, span: &Span) -> Argument {
    match operand {
        Operand::Known(text) => Argument::literal(text, span.clone()),
        Operand::Unknown => {
            Argument::supplied("{}", span.clone()).filled_with(Some(UNKNOWN.to_string()))
        }
        Operand::Starts(text) => {
            let pattern = format!("{text}{UNKNOWN}");
            Argument::supplied(text, span.clone()).filled_with(Some(pattern))
        }
    }
}
