//! What a script loads by name: the modules it imports, the files it includes.
//!
//! Read word by word and generously, not as the language would: the names are looked for on the disk, and one that stands
//! for nothing costs a look. A name the code makes up while it runs is not found, nor what a setting of the interpreter adds.

use std::collections::HashSet;

use super::code::language;
use crate::code::Language;
use crate::rules::SHELLS;
use crate::understand::Action;

/// The most names taken from one text: more than any file people write imports. That further ones are left out is said.
const MAX_NAMES: usize = 1000;

/// The most letters of a name: what is longer is no path people write into code.
const MAX_NAME: usize = 200;

/// The most directories a text may say things are looked for in: code that has more makes them up.
const MAX_DIRECTORIES: usize = 64;

/// How files end that hold code, or are loaded as such.
const CODE_ENDS: [&str; 20] = [
    ".py", ".pyw", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx", ".rb", ".sh",
    ".bash", ".zsh", ".ksh", ".pl", ".pm", ".php", ".inc", ".lua",
];

const AS_IT_IS: &[&str] = &[""];
/// A compiled module counts where it lies beside others; what Python keeps in `__pycache__` comes and goes by itself.
const PYTHON: &[&str] = &[
    ".py",
    "/__init__.py",
    "/__main__.py",
    ".so",
    ".abi3.so",
    ".pyd",
    ".pyc",
];
const RUN_DIRECTORY: &[&str] = &["/__main__.py"];
const JAVASCRIPT: &[&str] = &[
    "",
    ".js",
    ".mjs",
    ".cjs",
    ".ts",
    ".mts",
    ".cts",
    ".jsx",
    ".tsx",
    ".json",
    ".node",
    "/package.json",
    "/index.js",
    "/index.mjs",
    "/index.cjs",
    "/index.ts",
    "/index.tsx",
];
const RUBY: &[&str] = &["", ".rb", ".so"];
const PERL: &[&str] = &[".pm"];
const LUA: &[&str] = &["", ".lua", "/init.lua"];

/// A name by which something is loaded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Import {
    /// A path, absolute, or relative to a directory such things are looked for in.
    pub path: String,
    /// Whether it is looked for only in the directory of the file that names it.
    pub beside: bool,
    /// What may follow the path.
    pub ends: &'static [&'static str],
}

/// What a text loads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imports {
    /// The names.
    pub names: Vec<Import>,
    /// Directories it says things are looked for in.
    pub directories: Vec<String>,
    /// Whether it names more than is taken from one text.
    pub is_cut: bool,
}

/// What a script loads, by its file's name and its text; nothing where its language is not known.
pub fn imports_of_file(path: &str, text: &str) -> Imports {
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some(reader) = Reader::of_file(name, text) else {
        return Imports::default();
    };
    let mut found = Found::default();
    found.read(reader, text);
    found.imports
}

/// What the code in a call loads: in its line, and in the words of interpreters it starts.
pub fn imports_of_call(action: &Action) -> Imports {
    let mut found = Found::default();
    let mut readers: Vec<Reader> = Vec::new();
    for view in &action.commands {
        let Some(reader) = view.program().and_then(Reader::of_program) else {
            continue;
        };
        let words = view.command.words.iter().skip(1);
        let words: Vec<&str> = words.map(|word| word.text.as_str()).collect();
        found.read(reader, &words.join("\n"));
        if reader == Reader::Code(Language::Python) {
            // `python3 tool` runs a directory, too.
            for word in words.iter().filter(|word| word.len() <= MAX_NAME) {
                found.add(word, false, RUN_DIRECTORY);
            }
        }
        for place in &view.command.directory.places {
            let place = if place.is_empty() { "." } else { place };
            found.directory(place);
        }
        for assignment in &view.command.assignments {
            let value = assignment.value.text.as_str();
            value.split(':').for_each(|part| found.directory(part));
        }
        if !readers.contains(&reader) {
            readers.push(reader);
        }
    }
    for reader in readers {
        found.read(reader, action.line.as_deref().unwrap_or_default());
    }
    found.imports
}

/// How a text is read for names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    Shell,
    Code(Language),
}

impl Reader {
    fn of_file(name: &str, text: &str) -> Option<Self> {
        let by_name = name.rsplit_once('.').and_then(|(_, end)| match end {
            "py" | "pyw" => Some(Self::Code(Language::Python)),
            "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx" => {
                Some(Self::Code(Language::JavaScript))
            }
            "rb" => Some(Self::Code(Language::Ruby)),
            "pl" | "pm" => Some(Self::Code(Language::Perl)),
            "php" | "inc" => Some(Self::Code(Language::Php)),
            "lua" => Some(Self::Code(Language::Lua)),
            "sh" | "bash" | "zsh" | "ksh" => Some(Self::Shell),
            _ => None,
        });
        // What a package of JavaScript is loaded from.
        let package = || (name == "package.json").then_some(Self::Code(Language::JavaScript));
        let by_first_line = || {
            let line = text.strip_prefix("#!")?.lines().next()?;
            let programs = line.split_whitespace();
            let mut programs = programs.filter_map(|word| word.rsplit('/').next());
            programs.find_map(Self::of_program)
        };
        by_name.or_else(package).or_else(by_first_line)
    }

    fn of_program(name: &str) -> Option<Self> {
        if SHELLS.contains(name) || matches!(name, "." | "source") {
            return Some(Self::Shell);
        }
        match language(name)? {
            language @ (Language::Python
            | Language::JavaScript
            | Language::Ruby
            | Language::Perl
            | Language::Php
            | Language::Lua) => Some(Self::Code(language)),
            Language::Awk | Language::Vim | Language::PowerShell => None,
        }
    }
}

/// What has been found.
#[derive(Default)]
struct Found {
    imports: Imports,
    known: HashSet<Import>,
}

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'t> {
    /// A name or a path, and whether it begins with the name of a variable.
    Word(&'t str, bool),
    Sign(char),
}

impl<'t> Token<'t> {
    fn word(self) -> Option<&'t str> {
        match self {
            Token::Word(word, _) => Some(word),
            Token::Sign(_) => None,
        }
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-' | '@' | '+' | '~')
}

/// The words and signs of a text, without blanks.
fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = text;
    let mut variable = false;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([' ', '\t', '\r']);
        let first = rest.chars().next()?;
        let length = match is_of_word(first) {
            true => rest.find(|c| !is_of_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (token, after) = rest.split_at_checked(length)?;
        rest = after;
        let before = std::mem::replace(&mut variable, first == '$');
        Some(match is_of_word(first) {
            true => Token::Word(token, before),
            false => Token::Sign(first),
        })
    })
}

impl Found {
    fn add(&mut self, path: &str, beside: bool, ends: &'static [&'static str]) {
        let path = path.trim_end_matches('/');
        if path.is_empty() || path.len() > MAX_NAME {
            return;
        }
        let import = Import {
            path: path.to_owned(),
            beside,
            ends,
        };
        if self.imports.names.len() >= MAX_NAMES {
            self.imports.is_cut |= !self.known.contains(&import);
        } else if self.known.insert(import.clone()) {
            self.imports.names.push(import);
        }
    }

    fn directory(&mut self, path: &str) {
        let directories = &mut self.imports.directories;
        let known = directories.iter().any(|known| known == path);
        if path.is_empty() || path.len() > MAX_NAME || known {
            return;
        }
        if directories.len() < MAX_DIRECTORIES {
            directories.push(path.to_owned());
        } else {
            self.imports.is_cut = true;
        }
    }

    fn read(&mut self, reader: Reader, text: &str) {
        let all: Vec<Token<'_>> = tokens(text).collect();
        let mut before = "";
        for (at, token) in all.iter().enumerate() {
            let Token::Word(word, of_variable) = *token else {
                continue;
            };
            // `$DIR/lib/x.sh`, `${DIR}/lib/x.sh`, `__DIR__ . '/x.php'`
            let plain = match of_variable {
                true => word.split_once('/').map_or("", |(_, rest)| rest),
                false => word,
            };
            self.path(plain);
            match reader {
                Reader::Shell if matches!(before, "." | "source") => {
                    self.add(plain, false, AS_IT_IS);
                    self.add(plain.trim_start_matches('/'), false, AS_IT_IS);
                }
                Reader::Code(language) => self.code(language, &all, at, before, plain),
                Reader::Shell => {}
            }
            before = word;
        }
        self.search_paths(text);
    }

    /// A path of a file that holds code, wherever it stands.
    fn path(&mut self, word: &str) {
        if !CODE_ENDS.iter().any(|end| word.ends_with(end)) {
            return;
        }
        self.add(word, false, AS_IT_IS);
        self.add(word.trim_start_matches('/'), false, AS_IT_IS);
    }

    fn code(&mut self, language: Language, all: &[Token<'_>], at: usize, before: &str, word: &str) {
        let loads = |names: &[&str]| names.iter().any(|name| before.ends_with(name));
        match language {
            Language::Python => match word {
                "import" if !before.starts_with('.') => self.python_names(all, at + 1, None),
                "from" => {
                    let module = all.get(at + 1).copied().and_then(Token::word);
                    let import = all.get(at + 2).copied().and_then(Token::word);
                    if let (Some(module), Some("import")) = (module, import) {
                        self.python_module(module);
                        self.python_names(all, at + 3, Some(module));
                    }
                }
                _ if loads(&["import_module", "__import__", "run_module"]) || before == "-m" => {
                    self.python_module(word);
                }
                _ => {}
            },
            Language::JavaScript => {
                let named = before.starts_with("require") || loads(&["import", "from", "-r"]);
                let relative = word.starts_with("./") || word.starts_with("../") || word == ".";
                match (relative, named) {
                    (true, true) => self.add(word, true, JAVASCRIPT),
                    // `new Worker("./w")`: data that is named so is none of it.
                    (true, false) => self.add(word, true, JAVASCRIPT.get(1..).unwrap_or_default()),
                    (false, true) if word.starts_with('/') => self.add(word, false, JAVASCRIPT),
                    (false, true) => {
                        self.add(&format!("node_modules/{word}"), false, JAVASCRIPT);
                        let parts =
                            word.splitn(3, '/')
                                .take(if word.starts_with('@') { 2 } else { 1 });
                        let package = parts.collect::<Vec<_>>().join("/");
                        self.add(&format!("node_modules/{package}"), false, JAVASCRIPT);
                    }
                    (false, false) => {}
                }
            }
            Language::Ruby if loads(&["require_relative"]) => self.add(word, true, RUBY),
            Language::Ruby if loads(&["require", "load", "-r"]) => {
                self.add(word, false, RUBY);
                self.add(&format!("lib/{word}"), false, RUBY);
            }
            Language::Perl if matches!(before, "use" | "require" | "parent" | "base") => {
                let mut path = word.to_owned();
                let mut rest = all.get(at + 1..).unwrap_or_default();
                // `Foo::Bar`
                while let [
                    Token::Sign(':'),
                    Token::Sign(':'),
                    Token::Word(part, _),
                    after @ ..,
                ] = rest
                {
                    path = format!("{path}/{part}");
                    rest = after;
                }
                self.add(&path, false, PERL);
                self.add(&format!("lib/{path}"), false, PERL);
            }
            Language::Php if loads(&["include", "include_once", "require", "require_once"]) => {
                self.add(word, false, AS_IT_IS);
            }
            Language::Lua if loads(&["require"]) => {
                self.add(&word.replace('.', "/"), false, LUA);
            }
            Language::Ruby
            | Language::Perl
            | Language::Php
            | Language::Lua
            | Language::Awk
            | Language::Vim
            | Language::PowerShell => {}
        }
    }

    /// `a.b as c, (d, e)`: modules, or what a module is asked for, which may be modules below it.
    fn python_names(&mut self, all: &[Token<'_>], from: usize, module: Option<&str>) {
        let mut open = false;
        let mut comment = false;
        let mut wanted = true;
        let mut rest = all.get(from..).unwrap_or_default();
        while let [token, after @ ..] = rest {
            rest = after;
            match *token {
                Token::Sign('\n') if open => comment = false,
                _ if comment => {}
                Token::Sign('#') if open => comment = true,
                Token::Sign('(') if !open => open = true,
                // The line goes on.
                Token::Sign('\\') => {
                    if let [Token::Sign('\n'), after @ ..] = rest {
                        rest = after;
                    }
                }
                Token::Sign(',') => wanted = true,
                Token::Word("as", _) if !wanted => {
                    if let [Token::Word(..), after @ ..] = rest {
                        rest = after;
                    }
                }
                Token::Word(name, _) if wanted => {
                    wanted = false;
                    match module {
                        None => self.python_module(name),
                        Some(module) if module.ends_with('.') => {
                            self.python_module(&format!("{module}{name}"));
                        }
                        Some(module) => self.python_module(&format!("{module}.{name}")),
                    }
                }
                Token::Word(..) | Token::Sign(_) => return,
            }
        }
    }

    /// `a.b`, `..a`: each package on the way to it is loaded, too.
    fn python_module(&mut self, module: &str) {
        let name = module.trim_start_matches('.');
        let up = module.len() - name.len();
        let front = match up {
            0 => String::new(),
            up => "../".repeat(up - 1),
        };
        if up > 0 {
            self.add(&format!("{front}__init__"), true, PYTHON);
        }
        let mut path = front;
        for part in name.split('.').filter(|part| !part.is_empty()) {
            path.push_str(part);
            self.add(&path, up > 0, PYTHON);
            path.push('/');
        }
    }

    /// The words of lines that say where things are looked for.
    fn search_paths(&mut self, text: &str) {
        let says = |line: &&str| SEARCH_PATHS.iter().any(|sign| line.contains(sign));
        for line in text.lines().filter(says) {
            for word in tokens(line).filter_map(Token::word) {
                let word = word.strip_prefix("-I").unwrap_or(word);
                self.directory(word);
                self.directory(word.trim_start_matches('/'));
            }
        }
    }
}

/// What stands in lines that say where things are looked for.
const SEARCH_PATHS: [&str; 11] = [
    "sys.path",
    "site.addsitedir",
    "PYTHONPATH",
    "NODE_PATH",
    "RUBYLIB",
    "PERL5LIB",
    "$LOAD_PATH",
    "$:",
    "use lib",
    "package.path",
    "-I",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str, text: &str) -> Vec<String> {
        let found = imports_of_file(path, text).names.into_iter();
        found.map(|one| one.path).collect()
    }

    #[test]
    fn modules_are_found_however_they_are_imported() {
        let text = "import a.b as c, d\nfrom .e import f, g as h\nfrom .. import (\n  i,  # one\n  j,\n)\n\
                    from k import l, \\\n  m\nx = importlib.import_module('n.o'); exec(open('p/q.py').read())\n";
        let found = names("run.py", text);
        for name in [
            "a", "a/b", "d", "e", "e/f", "e/g", "../i", "../j", "k", "k/l", "k/m", "n/o", "p/q.py",
        ] {
            assert!(found.iter().any(|one| one == name), "{name}: {found:?}");
        }
        for name in ["c", "h", "one", "exec", "x"] {
            assert!(!found.iter().any(|one| one == name), "{name}: {found:?}");
        }
    }

    #[test]
    fn each_language_has_its_words() {
        for (path, text, name) in [
            ("a.js", "const b = require('./b')", "./b"),
            ("a.mjs", "import {x} from \"../lib/c.mjs\"", "../lib/c.mjs"),
            ("a.js", "require('@me/x/y')", "node_modules/@me/x"),
            ("a.rb", "require_relative 'lib/b'", "lib/b"),
            ("a.pl", "use My::Thing;", "My/Thing"),
            ("a.php", "require_once __DIR__ . '/b.php';", "b.php"),
            ("a.lua", "local b = require(\"x.y\")", "x/y"),
            ("a.sh", "source \"$DIR/env\"", "env"),
            ("a.sh", ". \"$(dirname \"$0\")/lib/b.sh\"", "lib/b.sh"),
            ("tool", "#!/usr/bin/env python3\nimport b", "b"),
        ] {
            let found = names(path, text);
            assert!(found.iter().any(|one| one == name), "{text}: {found:?}");
        }
        assert!(names("notes.txt", "import b").is_empty());
    }

    #[test]
    fn a_line_that_says_where_to_look_names_directories() {
        let found = imports_of_file("a.py", "sys.path.insert(0, 'vendored/lib')\nimport b");
        assert!(
            found.directories.contains(&"vendored/lib".to_owned()),
            "{found:?}"
        );
    }

    #[test]
    fn any_text_is_read_to_its_end() {
        for text in [
            "from",
            "from . import (",
            "import \\",
            "import a as",
            "$",
            "é$é/é.py import ,,",
        ] {
            for name in ["a.py", "a.js", "a.rb", "a.pl", "a.sh"] {
                imports_of_file(name, text);
            }
        }
    }
}
