//! Commands in the arguments of tools: under names that say so, however deep; as a program and its
//! arguments; in a JSON text; in a notebook's cell; typed into a shell that runs.
//!
//! An MCP server may call its arguments anything, so what is looked for is listed in `tools.toml`. A
//! text that is only a text — a title, a message — stays one.

use serde_json::{Map, Value};

use super::{Action, Here, Unreadable, collect_texts};
use crate::catalogue;
use crate::opaque::{Opaque, Reason};
use crate::paths::base_name;
use crate::project_files::{literals, settings};
use crate::shell::{self, is_program};
use crate::supposed;

/// How deep objects and JSON texts are followed into each other; tools' arguments have three or four.
const MAX_DEPTH: usize = 16;

/// The longest JSON text that is read for commands: as long as a command may be. A longer one is refused
/// as a longer command is.
const MAX_JSON: usize = super::MAX_COMMAND;

/// Keys a terminal is sent by their names, which end a line.
const LINE_ENDS: [&str; 10] = [
    "{enter}", "{return}", "<enter>", "<return>", "\\n", "\\r", " Enter", " C-m", " KPEnter", "\r",
];

/// Magics of a notebook in front of a line they only measure or keep quiet.
const MEASURING: [&str; 4] = ["%time ", "%timeit ", "%prun ", "%memit "];

/// Names arguments of a program have.
const ARGUMENTS: &[&str] = &["args", "argv", "arguments", "parameters", "params"];

/// Names under which variables are set for a command.
const SETTING: &[&str] = &[
    "env",
    "environment",
    "envs",
    "env_vars",
    "envVars",
    "variables",
    "vars",
];

/// Names under which the language of code is told.
const LANGUAGE: &[&str] = &[
    "language",
    "lang",
    "interpreter",
    "runtime",
    "kernel",
    "kernel_name",
    "executor",
    "engine",
    "shell",
];

/// Names under which a command for a database stands as a document.
const COMMANDING: &[&str] = &["body", "document", "payload", "runCommand", "spec"];

/// Names under which code stands if its language is told beside it.
const HOLDING: &[&str] = &["body", "content", "data", "input", "text", "value"];

/// The interpreters whose code most tools run, as `tools.toml` names them.
const PYTHON: &str = "python3 -c";
const JAVASCRIPT: &str = "node -e";
const SHELL: &str = "sh -c";

/// Ends what a command is given to read; no text has such a line by chance.
const END: &str = "HOLDPOINT_END_OF_INPUT";

/// What begins a line that an interpreter hands to a shell: `!ls`, `:!ls`, `\\! ls`.
const TO_SHELL: [&str; 3] = [":!", "\\!", "!"];

/// Verbs by which a statement for a database begins and no shell command does.
const STATEMENTS: [&str; 4] = ["ALTER", "DELETE", "DROP", "TRUNCATE"];

/// Commands of a store that lose or change more than one entry, and that no shell knows.
const STORE_COMMANDS: [&str; 11] = [
    "CONFIG",
    "DEBUG",
    "DEL",
    "EVAL",
    "FLUSHALL",
    "FLUSHDB",
    "REPLICAOF",
    "SCRIPT",
    "SHUTDOWN",
    "SLAVEOF",
    "SWAPDB",
];

/// Arguments that say that what is typed is sent off.
const SENDING: [&str; 6] = [
    "enter",
    "press_enter",
    "pressEnter",
    "submit",
    "newline",
    "execute",
];

impl Action {
    /// Reads every argument that is named like a command, except the one already read.
    pub(super) fn read_commands_in(
        &mut self,
        input: &Map<String, Value>,
        already: Option<&str>,
        here: &Here<'_>,
    ) {
        self.read_map(input, already, 0, here);
    }

    fn read_map(
        &mut self,
        input: &Map<String, Value>,
        already: Option<&str>,
        depth: usize,
        here: &Here<'_>,
    ) {
        if depth > MAX_DEPTH {
            self.trouble.get_or_insert(Unreadable::TooComplex);
            return;
        }
        self.read_container(input, here);
        self.read_prose(input, here);
        for (key, value) in input {
            if already == Some(key.as_str()) || (already.is_some() && names_shell(key, value)) {
                continue;
            }
            if self.trouble.as_ref().is_some_and(Unreadable::refuses) {
                // The call is refused whatever else stands in it.
                return;
            }
            let named = catalogue::names_command(key);
            match value {
                Value::String(line) if named => {
                    self.read_command(key, line, input, here);
                    self.read_json(line, depth, here);
                }
                Value::String(program) if catalogue::names_program(key) => {
                    self.read_program(program, input, here);
                    self.read_with_input(program, input, here);
                }
                Value::Array(words) if named => {
                    self.read_words(words, here);
                    self.read_as_of_program(words, here);
                    // A list may also be one of whole lines.
                    for line in words.iter().filter_map(Value::as_str) {
                        if line.contains(char::is_whitespace) {
                            self.read_line(line, here);
                        }
                    }
                    for inner in words.iter().filter_map(Value::as_object) {
                        self.read_map(inner, None, depth + 1, here);
                    }
                }
                Value::String(code) if catalogue::names_code(key) => {
                    self.read_code(key, code, input, here);
                }
                Value::Array(words) if catalogue::names_words(key) => self.read_words(words, here),
                Value::Array(words) if ARGUMENTS.contains(&key.as_str()) => {
                    self.read_arguments(words, input, here);
                }
                // `{"subcommand": "reset", "flags": ["--hard"]}` of a tool that is named after its program.
                Value::Array(words) if matches!(key.as_str(), "flags" | "options") => {
                    let told = input.iter().filter(|(key, _)| {
                        catalogue::names_operation(key) || catalogue::names_command(key)
                    });
                    let told = told.map(|(_, value)| value);
                    let told = told.filter(|value| {
                        (value.as_str()).is_some_and(|one| !one.contains(char::is_whitespace))
                    });
                    let line: Vec<Value> = told.chain(words).cloned().collect();
                    self.read_as_of_program(&line, here);
                }
                Value::Object(inner) => {
                    if named || COMMANDING.contains(&key.as_str()) {
                        self.read_document("runCommand", value, here);
                    }
                    // Whatever a command's parts are called, a text among them may be all of it.
                    for (key, line) in inner.iter().filter(|_| named) {
                        if let Some(line) = line.as_str().filter(|line| line.contains(' ')) {
                            self.read_command(key, line, inner, here);
                        }
                    }
                    self.read_map(inner, None, depth + 1, here);
                }
                Value::String(words) if ARGUMENTS.contains(&key.as_str()) => {
                    let known = |key: &String| {
                        catalogue::names_command(key) || catalogue::names_program(key)
                    };
                    if !input.keys().any(known) {
                        self.read_for_program(words, here);
                    }
                    self.read_json(words, depth, here);
                }
                Value::String(query) if key == "query" || key == "queries" => {
                    // A statement in a language of a database's own client.
                    self.read_statement(query, here);
                    self.read_json(query, depth, here);
                }
                Value::Array(items) => {
                    if key == "pipeline" {
                        self.read_document("x.aggregate", value, here);
                    }
                    for inner in items.iter().filter_map(Value::as_object) {
                        self.read_map(inner, None, depth + 1, here);
                    }
                }
                Value::String(cell)
                    if cell.trim_start().starts_with(['!', '%']) && self.has_cells() =>
                {
                    self.read_cell(cell, here);
                }
                Value::String(text) => {
                    let told = LANGUAGE
                        .iter()
                        .filter_map(|key| input.get(*key)?.as_str())
                        .find_map(catalogue::language_named);
                    let holds = HOLDING.contains(&key.as_str());
                    if let Some(language) = told.filter(|_| holds) {
                        self.read_in(language, text, here);
                    }
                    // `{"type": "shell", "body": "…"}`; a file has a type as well, but is rarely a shell's.
                    let kind = input.get("type").or_else(|| input.get("kind"));
                    let kind = kind
                        .and_then(Value::as_str)
                        .and_then(catalogue::language_named);
                    if holds && kind == Some(SHELL) {
                        self.read_line(text, here);
                    }
                    self.read_manifest(text, here);
                    self.read_json(text, depth, here);
                }
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        if already.is_some()
            && let Some(line) = already.and_then(|key| input.get(key)?.as_str())
        {
            self.read_with_environment(line, input, here);
        }
    }

    /// Texts under names for prose that a tool whose own name says that it executes is given, and nothing else to run: a
    /// line there is a command.
    fn read_prose(&mut self, input: &Map<String, Value>, here: &Here<'_>) {
        if self.is_shell() || !catalogue::executes(self.call.tool()) || says_what_runs(input) {
            return;
        }
        for (key, value) in input {
            let text = value.as_str().filter(|_| catalogue::names_prose(key));
            let Some(text) = text.filter(|text| supposed::begins_like_line(text)) else {
                continue;
            };
            self.read_if_line(text, here);
        }
    }

    /// A text that may be a line: what no shell can read is none.
    fn read_if_line(&mut self, text: &str, here: &Here<'_>) {
        let before = self.trouble.take();
        self.read_line(text, here);
        if before.is_some() || matches!(self.trouble, Some(Unreadable::Syntax(_))) {
            self.trouble = before;
        }
    }

    /// The program a shell tool is told to run its line with. One that no system has for a shell may be anything.
    pub(super) fn read_interpreter(&mut self, input: &Map<String, Value>, here: &Here<'_>) {
        let Some(line) = self.line.clone() else {
            return;
        };
        for (key, value) in input {
            let Some(program) = value.as_str().map(str::trim) else {
                continue;
            };
            let named = INTERPRETING.contains(&key.as_str()) && !program.is_empty();
            if !named || names_shell(key, value) {
                continue;
            }
            let at = self.commands.len();
            self.read_words(&[program, "-c", &line].map(Value::from), here);
            if let Some(first) = self.commands.get_mut(at) {
                first
                    .command
                    .opaque
                    .push(Opaque::run(Reason::ExecutableSetting));
            }
        }
    }

    /// Whether the tool's name says that it runs a notebook's cells.
    fn has_cells(&self) -> bool {
        let tool = self.call.tool().to_ascii_lowercase();
        let names = ["cell", "jupyter", "notebook", "ipython", "colab", "kernel"];
        names.iter().any(|name| tool.contains(name))
    }

    /// An object written as text.
    fn read_json(&mut self, text: &str, depth: usize, here: &Here<'_>) {
        let text = text.trim();
        let looks = text.starts_with(['{', '[']) && text.ends_with(['}', ']']);
        if !looks {
            return;
        }
        if text.len() > MAX_JSON {
            self.trouble.get_or_insert(Unreadable::Oversize(text.len()));
            return;
        }
        match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(inner)) => self.read_map(&inner, None, depth + 1, here),
            Ok(Value::Array(items)) => {
                let first = items.first().and_then(Value::as_str);
                if first.is_some_and(|word| is_program(base_name(word))) {
                    self.read_words(&items, here);
                }
                for inner in items.iter().filter_map(Value::as_object) {
                    self.read_map(inner, None, depth + 1, here);
                }
            }
            Ok(_) | Err(_) => {}
        }
    }

    /// A text under a name that says it is a command: a line, the name of a program whose arguments
    /// stand beside it, what a tool named like a program is told, or code of a language that is named.
    fn read_command(&mut self, key: &str, line: &str, input: &Map<String, Value>, here: &Here<'_>) {
        self.read_line(line, here);
        self.read_program(line, input, here);
        self.read_with_environment(line, input, here);
        self.read_with_input(line, input, here);
        self.read_for_program(line, here);
        if let Some(language) = self.language_of(key, input)
            && language != SHELL
        {
            self.read_in(language, line, here);
        }
    }

    /// A line for the program a tool is named after.
    fn read_for_program(&mut self, line: &str, here: &Here<'_>) {
        for program in catalogue::programs_named(self.call.tool()) {
            // `kubectl get pods` says itself what it is.
            if line.split_whitespace().next() != program.split_whitespace().next() {
                self.read_line(&told_to(program, line), here);
            }
        }
    }

    /// A query for the program a tool is named after, if that takes one as a text.
    fn read_statement(&mut self, query: &str, here: &Here<'_>) {
        for program in catalogue::programs_named(self.call.tool()) {
            if program.contains(' ') {
                self.read_line(&told_to(program, query), here);
            }
        }
    }

    /// A document that a tool named after MongoDB hands to the database.
    fn read_document(&mut self, method: &str, document: &Value, here: &Here<'_>) {
        for program in catalogue::programs_named(self.call.tool()) {
            if program.starts_with("mongosh") {
                let code = format!("db.{method}({document})");
                self.read_line(&told_to(program, &code), here);
            }
        }
    }

    /// Words for the program a tool is named after.
    fn read_as_of_program(&mut self, words: &[Value], here: &Here<'_>) {
        for program in catalogue::programs_named(self.call.tool()) {
            let own = program.split_whitespace().map(Value::from);
            if words.first() != own.clone().next().as_ref() {
                // `git_push` with `["--force"]`: the tool is the subcommand.
                let verbs = catalogue::verbs_named(self.call.tool(), program);
                let verbs: Vec<Value> = verbs.into_iter().map(Value::from).collect();
                if !verbs.is_empty() {
                    let told = own.clone().chain(verbs).chain(words.iter().cloned());
                    self.read_words(&told.collect::<Vec<Value>>(), here);
                }
                let words: Vec<Value> = own.chain(words.iter().cloned()).collect();
                self.read_words(&words, here);
            }
        }
    }

    /// A list of arguments beside which no program stands: the program may be its first word, the tool
    /// may be named after it, or it may stand under a name that says nothing.
    fn read_arguments(&mut self, words: &[Value], input: &Map<String, Value>, here: &Here<'_>) {
        let known = |key: &String| catalogue::names_command(key) || catalogue::names_program(key);
        if input.keys().any(known) {
            return;
        }
        let named = |word: &str| !word.contains(char::is_whitespace) && is_program(base_name(word));
        if words.first().and_then(Value::as_str).is_some_and(named) {
            self.read_words(words, here);
        }
        self.read_as_of_program(words, here);
        for key in ["file", "name", "path", "tool"] {
            if let Some(program) = input.get(key).and_then(Value::as_str)
                && named(program)
            {
                self.read_program(program, input, here);
            }
        }
    }

    /// A command with what it is given to read beside it.
    fn read_with_input(&mut self, line: &str, input: &Map<String, Value>, here: &Here<'_>) {
        for key in ["stdin", "input"] {
            if let Some(text) = input.get(key).and_then(Value::as_str)
                && !line.contains('\n')
            {
                self.read_line(&format!("{line} <<'{END}'\n{text}\n{END}\n"), here);
            }
        }
    }

    /// A program whose arguments stand beside it, as a list or as a text.
    fn read_program(&mut self, program: &str, input: &Map<String, Value>, here: &Here<'_>) {
        let mut given = false;
        for key in ARGUMENTS {
            match input.get(*key) {
                Some(Value::String(text)) => {
                    given = true;
                    self.read_line(&format!("{program} {text}"), here);
                }
                Some(Value::Array(arguments)) => {
                    given = true;
                    let words = program.split_whitespace().map(Value::from);
                    let words: Vec<Value> = words.chain(arguments.iter().cloned()).collect();
                    self.read_words(&words, here);
                }
                Some(Value::Object(parameters)) => {
                    given = true;
                    self.read_words(&with_parameters(program, parameters), here);
                }
                Some(_) | None => {}
            }
        }
        if given || program.contains(char::is_whitespace) || !is_program(base_name(program)) {
            return;
        }
        // Its flags and what it is about may each have a name of their own.
        let mut words = vec![Value::from(program)];
        for key in [
            "flags", "options", "target", "targets", "operands", "path", "paths", "file", "files",
        ] {
            match input.get(key) {
                Some(Value::String(text)) => words.extend(text.split(' ').map(Value::from)),
                Some(Value::Array(items)) => words.extend(items.iter().cloned()),
                Some(_) | None => {}
            }
        }
        if words.len() > 1 {
            self.read_words(&words, here);
        }
    }

    /// A command with the variables that are set for it beside it.
    fn read_with_environment(&mut self, line: &str, input: &Map<String, Value>, here: &Here<'_>) {
        if !SETTING.iter().any(|key| input.contains_key(*key)) {
            return;
        }
        let mut words = vec![Value::from("env")];
        for set in SETTING.iter().filter_map(|key| input.get(*key)) {
            match set {
                Value::Object(set) => {
                    let texts = set
                        .iter()
                        .filter_map(|(name, value)| Some((name, value.as_str()?)));
                    words.extend(texts.map(|(name, value)| Value::from(format!("{name}={value}"))));
                }
                Value::Array(set) => {
                    let set = set.iter().filter_map(Value::as_str);
                    words.extend(set.filter(|one| one.contains('=')).map(Value::from));
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        if words.len() == 1 {
            return;
        }
        words.extend(["sh", "-c", line].map(Value::from));
        self.read_words(&words, here);
    }

    /// Code of a language the tool knows; which one, its name or an argument beside it may tell. Where
    /// nothing does, it is read as each of those most tools know. A notebook's cell has lines for a
    /// shell in it.
    fn read_code(&mut self, key: &str, code: &str, input: &Map<String, Value>, here: &Here<'_>) {
        // A name is no code: what does something calls it, or hands a line to a shell.
        let does = code.contains(['(', '!', '%', '`', ';', '\n']);
        match self.language_of(key, input) {
            Some(language) if does || language == SHELL => self.read_in(language, code, here),
            None if does => {
                self.read_in(PYTHON, code, here);
                self.read_in(JAVASCRIPT, code, here);
            }
            Some(_) | None => {}
        }
    }

    /// Says of the command read last that it does more than was found out.
    fn mark_unread(&mut self) {
        if let Some(last) = self.commands.last_mut() {
            last.command.opaque.push(Opaque::run(Reason::InlineCode));
        }
    }

    /// The interpreter of the language code is in: an argument beside it says it, its own name or the
    /// tool's does.
    fn language_of(&self, key: &str, input: &Map<String, Value>) -> Option<&'static str> {
        let told = LANGUAGE
            .iter()
            .filter_map(|key| input.get(*key)?.as_str())
            .find_map(catalogue::language_named);
        let told = told.or_else(|| catalogue::language_named(key));
        told.or_else(|| catalogue::language_named(self.call.tool()))
    }

    /// Code as its interpreter reads it.
    fn read_in(&mut self, interpreter: &'static str, code: &str, here: &Here<'_>) {
        let program = interpreter.split(' ').next().unwrap_or(interpreter);
        if interpreter != SHELL
            && !shell::is_interpreter(program)
            && !catalogue::evaluates(self.call.tool())
        {
            // A tool that formats or looks through such code runs none of it; what it may run besides is supposed.
            return self.read_literals(code, here);
        }
        let rest = match interpreter {
            PYTHON => self.read_cell(code, here),
            SHELL => return self.read_line(code, here),
            _ => None,
        };
        let code = rest.as_deref().unwrap_or(code);
        let words = interpreter.split(' ').chain([code]).map(Value::from);
        self.read_words(&words.collect::<Vec<_>>(), here);
        if !shell::is_interpreter(program) {
            self.read_literals(code, here);
        }
    }

    /// What code in a language that nobody reads hands to other programs.
    fn read_literals(&mut self, code: &str, here: &Here<'_>) {
        for line in literals::read(code).lines {
            self.read_line(&line, here);
        }
    }

    /// The lines of a cell that a notebook hands to a shell: `!ls`, `%system ls`, all of a cell that
    /// begins with `%%bash`. Says what is left of the code, if anything was taken out of it.
    pub(super) fn read_cell(&mut self, code: &str, here: &Here<'_>) -> Option<String> {
        if !code.contains(['!', '%']) {
            return None;
        }
        let start = code.trim_start();
        if let Some(magic) = start.strip_prefix("%%") {
            let (head, body) = magic.split_once('\n').unwrap_or((magic, ""));
            let mut head = head.split_whitespace();
            let shell = match head.next() {
                Some("bash" | "sh" | "zsh" | "shell" | "system" | "sx" | "cmd") => true,
                Some("script") => head.any(|word| word.ends_with("sh")),
                Some(_) | None => false,
            };
            if shell {
                self.read_line(body, here);
                return Some(String::new());
            }
            let mut words = magic.lines().next().unwrap_or_default().split_whitespace();
            match words.next() {
                // `%%writefile -a FILE` has the options of `tee`.
                Some("writefile" | "file") => {
                    let words: Vec<Value> =
                        ["tee"].into_iter().chain(words).map(Value::from).collect();
                    self.read_words(&words, here);
                    return Some(String::new());
                }
                Some(language @ ("perl" | "ruby")) => {
                    self.read_words(&[language, "-e", body].map(Value::from), here);
                    return Some(String::new());
                }
                Some(_) | None => {}
            }
        }
        if start.starts_with("%%")
            && let Some(statement) = shell::sql_magic(start)
        {
            self.read_words(&["psql", "-c", statement].map(Value::from), here);
            return Some(String::new());
        }
        let mut left = String::new();
        let mut taken = false;
        for line in code.lines() {
            let text = line.trim_start();
            if let Some(statement) = shell::sql_magic(text) {
                taken = true;
                self.read_words(&["psql", "-c", statement].map(Value::from), here);
                continue;
            }
            // `x = !ls` and `x = %sx ls` as well.
            let behind = text
                .split_once("= ")
                .map_or(text, |(_, value)| value.trim_start());
            let shell = [text, behind].into_iter().find_map(|text| {
                let text = without_measuring(text);
                if let Some(program) = shell::file_magic(text) {
                    return Some(program);
                }
                // `%alias NAME LINE`
                if let Some(alias) = text.strip_prefix("%alias ") {
                    return alias.trim_start().split_once(' ').map(|(_, line)| line);
                }
                let rest = text
                    .strip_prefix('!')
                    .or_else(|| text.strip_prefix("%system "))
                    .or_else(|| text.strip_prefix("%sx "))
                    .or_else(|| text.strip_prefix("%bash "))
                    .or_else(|| text.strip_prefix("%sh "))?;
                let rest = rest.trim_start_matches('!').trim_start();
                (!rest.is_empty() && !rest.starts_with('=')).then_some(rest)
            });
            let script = without_measuring(text).strip_prefix("%run ");
            let script = script.and_then(|words| {
                let mut words = words.split_whitespace();
                words.find(|word| !word.starts_with('-'))
            });
            match shell {
                Some(shell) => {
                    taken = true;
                    self.read_line(shell, here);
                }
                None if script.is_some() => {
                    taken = true;
                    let words = ["python3"].into_iter().chain(script);
                    self.read_words(&words.map(Value::from).collect::<Vec<_>>(), here);
                }
                None => {
                    left.push_str(line);
                    left.push('\n');
                }
            }
        }
        taken.then_some(left)
    }

    /// What is typed into a shell that runs is a command line, or the rest of one.
    pub(super) fn read_typed(&mut self, input: &Map<String, Value>, here: &Here<'_>) {
        let mut typed = String::new();
        let mut glued = String::new();
        let mut keys = 0;
        for (key, value) in input {
            if catalogue::names_typed(key) {
                collect_texts(value, &mut |text| {
                    if !typed.is_empty() {
                        typed.push(' ');
                    }
                    typed.push_str(text);
                    keys += usize::from(text.chars().count() == 1);
                    glued.push_str(if text == "Enter" { "\n" } else { text });
                });
            }
        }
        if typed == "Enter" {
            return;
        }
        // A list of single keys is what they spell.
        if keys > 1 {
            typed = glued;
        }
        let sent = |key: &&str| input.get(*key).and_then(Value::as_bool).unwrap_or_default();
        if SENDING.iter().any(sent) {
            typed.push('\n');
        }
        for end in LINE_ENDS {
            typed = typed.replace(end, "\n");
        }
        let (typed, edited) = as_edited(&typed);
        let text = without_keys(&typed);
        // A key, or an answer to a question: nothing that says what to run.
        let word = text.trim();
        if word.is_empty() || (word.len() <= 3 && word.chars().all(char::is_alphanumeric)) {
            return;
        }
        let finished = text.ends_with('\n') || !word.contains(char::is_whitespace);
        let continues = word.starts_with(['-', '|', '&', ';', ')', '}', '>', '<'])
            || is_rest(&text)
            || is_earlier_line(word);
        self.line = Some(text.clone());
        self.read_line(&text, here);
        if matches!(self.trouble, Some(Unreadable::Syntax(_))) {
            // What a shell cannot read may be meant for another interpreter.
            self.trouble = None;
            self.read_in(PYTHON, &text, here);
            self.read_in(JAVASCRIPT, &text, here);
            self.trouble = None;
        }
        self.read_for_consoles(&text, here);
        for line in text.lines().map(str::trim_start) {
            if let Some(behind) = TO_SHELL.iter().find_map(|sign| line.strip_prefix(sign)) {
                self.read_line(behind, here);
            }
            let first = line.split(' ').next().unwrap_or_default();
            if STATEMENTS
                .iter()
                .any(|verb| first.eq_ignore_ascii_case(verb))
            {
                self.read_words(&["psql", "-c", line].map(Value::from), here);
            }
        }
        self.in_line = self.commands.len();
        let encoded = input.get("encoding").and_then(Value::as_str);
        let encoded = encoded.is_some_and(|name| matches!(name, "base64" | "hex"));
        if (continues || edited || encoded || !finished)
            && let Some(first) = self.commands.first_mut()
        {
            // What stands before or behind it nobody sees.
            first.command.opaque.push(Opaque::run(Reason::DynamicCode));
        }
    }
}

impl Action {
    /// What is typed may be meant for the console of another program: a store's, an application's.
    fn read_for_consoles(&mut self, text: &str, here: &Here<'_>) {
        let before = self.trouble.take();
        for line in text.lines().map(str::trim) {
            let first = line.split([' ', ';']).next().unwrap_or_default();
            if first.is_empty() || is_program(base_name(first)) {
                continue;
            }
            let plain = first.bytes().all(|byte| byte.is_ascii_alphabetic());
            if STORE_COMMANDS
                .iter()
                .any(|name| first.eq_ignore_ascii_case(name))
            {
                let words = ["redis-cli"].into_iter().chain(line.split_whitespace());
                self.read_words(&words.map(Value::from).collect::<Vec<_>>(), here);
            }
            if supposed::may_be_code(line) || first.ends_with("_all") {
                self.read_words(&["rails", "runner", line].map(Value::from), here);
            }
            let loses = catalogue::calls_destroyer(line) || catalogue::loses_nodes(line);
            if loses && (line.contains('(') || !plain) {
                self.mark_unread();
            }
        }
        self.trouble = before;
    }
}

/// Whether a text goes on with a word somebody typed before: it begins with a blank, and with no program.
fn is_rest(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    text.starts_with([' ', '\t']) && !is_program(base_name(first)) && !first.contains('=')
}

/// Whether a line brings back an earlier one: `!!`, `!-2`, `!12`, `!?make`.
fn is_earlier_line(line: &str) -> bool {
    let rest = line.strip_prefix('!');
    rest.is_some_and(|rest| {
        rest.starts_with(|sign: char| matches!(sign, '!' | '-' | '?') || sign.is_ascii_digit())
    })
}

/// The texts of arguments that no name says are prose: each by itself, and the words of a list together.
/// What a tool types, by its name, may be a command whatever it is called.
pub(super) fn possible_commands(tool: &str, input: &Map<String, Value>) -> Vec<String> {
    let mut found = Vec::new();
    // An editor may be told to type into its terminal, whatever the tool is called.
    let sends = |value: &Value| {
        value
            .as_str()
            .is_some_and(|text| text.contains(".sendSequence"))
    };
    if input.values().any(sends) {
        for value in input.values() {
            collect_texts(value, &mut |text| found.push(text.trim_end().to_owned()));
        }
    }
    let types = catalogue::types_somewhere(tool, input);
    let runs = (catalogue::executes(tool) || catalogue::evaluates(tool)) && !says_what_runs(input);
    for (key, value) in input {
        if (types && catalogue::names_typed(key)) || !catalogue::names_prose(key) {
            possible_in(value, 0, &mut found);
        } else if runs
            && let Some(text) = value.as_str()
            && (supposed::begins_like_line(text) || supposed::may_be_code(text))
        {
            found.push(text.to_owned());
        }
    }
    // A text of several lines may be settings, whose values are commands.
    let settings = found.iter().filter(|text| text.contains('\n'));
    let lines: Vec<String> = settings
        .flat_map(|text| settings::command_lines(text).lines)
        .collect();
    found.extend(lines);
    found
}

fn possible_in(value: &Value, depth: usize, found: &mut Vec<String>) {
    if depth > MAX_DEPTH {
        // The reader of commands has refused it.
        return;
    }
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => {
            let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            if words.len() > 1 {
                found.push(words.join(" "));
            }
            for item in items {
                possible_in(item, depth + 1, found);
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                if !catalogue::names_prose(key) {
                    possible_in(value, depth + 1, found);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether an argument says by its name that it is what a tool shall run: then texts beside it are texts.
fn says_what_runs(input: &Map<String, Value>) -> bool {
    input.keys().any(|key| {
        catalogue::names_command(key)
            || catalogue::names_code(key)
            || catalogue::names_program(key)
            || catalogue::names_words(key)
    })
}

/// A program with parameters that have names; one called as PowerShell calls its own is one of those.
fn with_parameters(program: &str, parameters: &Map<String, Value>) -> Vec<Value> {
    let is_cmdlet = program.split_once('-').is_some_and(|(verb, noun)| {
        verb.starts_with(char::is_uppercase) && noun.starts_with(char::is_uppercase)
    });
    let mut words = vec![program.to_owned()];
    for (name, value) in parameters {
        let flag = match is_cmdlet || name.len() == 1 {
            true => format!("-{name}"),
            false => format!("--{name}"),
        };
        match value {
            Value::Bool(true) => words.push(flag),
            Value::String(text) => words.extend([flag, text.clone()]),
            Value::Number(number) => words.extend([flag, number.to_string()]),
            Value::Null | Value::Bool(false) | Value::Array(_) | Value::Object(_) => {}
        }
    }
    match is_cmdlet {
        true => {
            let quoted = words
                .iter()
                .map(|word| match word.starts_with('-') || word == program {
                    true => word.clone(),
                    false => format!("'{}'", word.replace('\'', "''")),
                });
            let line: Vec<String> = quoted.collect();
            vec!["pwsh".into(), "-c".into(), line.join(" ").into()]
        }
        false => words.into_iter().map(Value::from).collect(),
    }
}

/// Whether an argument only says which of the system's shells runs a line.
fn names_shell(key: &str, value: &Value) -> bool {
    let program = value.as_str().map(str::trim);
    INTERPRETING.contains(&key)
        && program.is_some_and(|program| supposed::runs_lines(program) && is_installed(program))
}

/// Names under which a shell tool is told what to run its line with.
const INTERPRETING: [&str; 5] = [
    "shell",
    "interpreter",
    "executable",
    "shell_path",
    "shellPath",
];

/// Whether a program is called by its name alone, or lies in a directory that systems keep programs in.
fn is_installed(program: &str) -> bool {
    const INSTALLED: [&str; 7] = [
        "/bin/",
        "/sbin/",
        "/usr/",
        "/opt/",
        "/nix/store/",
        "/run/current-system/",
        "C:\\",
    ];
    let leads_out = program.contains("..");
    !program.contains(['/', '\\'])
        || (!leads_out && INSTALLED.iter().any(|place| program.starts_with(place)))
}

/// The line by which a program is told something: its words, or one text if a flag takes it.
fn told_to(program: &str, line: &str) -> String {
    match program.contains(' ') {
        true => format!("{program} '{}'", line.replace('\'', "'\\''")),
        false => format!("{program} {line}"),
    }
}

/// A line of a cell without the magics that measure or keep what the rest of it does.
fn without_measuring(line: &str) -> &str {
    let mut rest = line;
    // Every turn takes a word off.
    while let Some(behind) = MEASURING.iter().find_map(|magic| rest.strip_prefix(magic)) {
        rest = behind.trim_start();
    }
    rest
}

/// What stands in the line once its keys are pressed, and whether some key makes that unknown: one that
/// moves the cursor, brings back an earlier line or completes a word.
fn as_edited(typed: &str) -> (String, bool) {
    let mut text = String::with_capacity(typed.len());
    let mut edited = false;
    let mut signs = typed.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '\u{8}' | '\u{7f}' => {
                if text.ends_with(|last| last != '\n') {
                    text.pop();
                }
            }
            // The line is given up.
            '\u{3}' | '\u{15}' => {
                let kept = text.rfind('\n').map_or(0, |end| end + 1);
                text.truncate(kept);
            }
            // The end of input, a cleared screen, a stopped program, a sign taken as it is.
            '\u{4}' | '\u{c}' | '\u{16}' | '\u{1a}' => {}
            '\u{1b}' => {
                let mut sequence = String::new();
                if signs.next_if_eq(&'[').is_some() {
                    for part in signs.by_ref() {
                        sequence.push(part);
                        if matches!(part, '@'..='~') {
                            break;
                        }
                    }
                    // The marks around what is pasted; anything else moves.
                    edited |= !matches!(sequence.as_str(), "200~" | "201~");
                } else {
                    edited |= signs.peek().is_some();
                }
            }
            '\n' | '\t' => text.push(sign),
            _ if sign.is_control() => edited = true,
            _ => text.push(sign),
        }
    }
    (text, edited)
}

/// A text without the names of keys that type nothing: `{down}`, `{ctrl+c}`.
fn without_keys(text: &str) -> String {
    let mut left = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        left.push_str(before);
        let key = after.split_once('}').filter(|(name, _)| {
            let plain =
                |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '+' | '-' | '_');
            !name.is_empty() && name.len() <= 12 && name.chars().all(plain)
        });
        match key {
            Some((_, behind)) => rest = behind,
            None => {
                left.push('{');
                rest = after;
            }
        }
    }
    left.push_str(rest);
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::ToolCall;
    use serde_json::json;

    fn lines(tool: &str, input: Value) -> Vec<String> {
        let call = ToolCall::new(tool, input).unwrap();
        let action = Action::of(&call);
        action
            .commands
            .iter()
            .map(|view| view.line().to_owned())
            .collect()
    }

    #[test]
    fn commands_are_found_wherever_they_stand() {
        let found = |input: Value| lines("mcp__x__do", input);
        assert_eq!(
            found(json!({"program": "rm", "args": ["-r", "x"]})),
            ["rm -r x"]
        );
        assert_eq!(found(json!({"steps": [{"run": "rm x"}]})), ["rm x"]);
        assert_eq!(
            found(json!({"payload": "{\"command\":\"rm x\"}"})),
            ["rm x"]
        );
        assert_eq!(found(json!({"title": "rm x", "body": "rm y"})), [""; 0]);
        assert_eq!(
            found(json!({"cmd": {"program": "rm", "args": "x"}})),
            ["rm x"]
        );
    }

    #[test]
    fn what_is_typed_is_a_line() {
        let typed = |text: &str| lines("write_stdin", json!({"chars": text}));
        assert_eq!(typed("rm x\n"), ["rm x"]);
        assert_eq!(typed("rm x{enter}"), ["rm x"]);
        assert_eq!(typed("y\n"), [""; 0]);
        assert_eq!(typed("\u{3}"), [""; 0]);
        assert_eq!(typed("rmx\u{7f} x\n"), ["rm x"]);
        assert_eq!(typed("ls\u{15}rm x\n"), ["rm x"]);
        assert_eq!(typed("\u{1b}[200~rm x\u{1b}[201~\n"), ["rm x"]);
        assert_eq!(typed("\u{1b}[A\n"), [""; 0]);
        assert_eq!(typed("\u{1b}"), [""; 0]);
        assert_eq!(typed("{down}{enter}"), [""; 0]);
        assert_eq!(
            lines("mcp__t__send-keys", json!({"keys": ["rm x", "Enter"]})),
            ["rm x"]
        );
    }

    #[test]
    fn a_cell_has_lines_for_a_shell() {
        let cell = |code: &str| lines("mcp__jupyter__execute", json!({"code": code}));
        assert_eq!(cell("%%bash\nrm x")[..1], ["rm x".to_owned()]);
        assert_eq!(cell("!rm x\n")[..1], ["rm x".to_owned()]);
        assert_eq!(cell("%time !rm x")[..1], ["rm x".to_owned()]);
        assert_eq!(cell("%rm x")[..1], ["rm x".to_owned()]);
        assert_eq!(cell("%%writefile -a f\nx")[..1], ["tee -a f".to_owned()]);
        assert!(!cell("x != 2").iter().any(|line| line.starts_with('=')));
    }
}
