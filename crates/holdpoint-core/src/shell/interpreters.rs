//! Programs that run code in a language other than the shell's.
//!
//! Promises that code given on the command line, read from input or standing in a file that can
//! be read is looked at where its language is known, and that other code is marked; for `sed`
//! only when it could start a program.

use super::code::{self, Source};
use super::commands::Wrapping;
use super::consoles;
use super::input::Input;
use super::names::{Names, Shape, Shapes};
use super::refusal::Refusal;
use super::texts::Argument;
use super::unwrapping::{STANDARD_INPUT, Unwrapped, is_stream};
use super::walk::opaque_origin;
use super::windows;
use crate::code::Language;
use crate::opaque::Reason;

/// How an interpreter is told what to run.
struct Interpreter {
    /// Names; a version may follow.
    names: Names,
    /// Options followed by code.
    code: &'static str,
    /// Options followed by another value.
    values: &'static str,
    /// Options after which the rest belongs to a named module or script.
    ends: &'static str,
}

const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        names: Names::new(
            "python pypy ipython pythonw py graalpy graalpython jython bpython ptpython ptipython sage-python",
        ),
        code: "-c",
        values: "-W -X -Q --check-hash-based-pycs",
        ends: "-m",
    },
    Interpreter {
        names: Names::new("perl"),
        code: "-e -E",
        values: "-I -C -M -m",
        ends: "",
    },
    Interpreter {
        names: Names::new("ruby jruby irb truffleruby mruby pry"),
        code: "-e",
        values: "-I -r -C -E --encoding",
        ends: "",
    },
    Interpreter {
        names: Names::new(
            "node nodejs bun tsx ts-node zx esno esr jiti babel-node vite-node iojs electron qjs d8 rhino jsc graaljs tjs \
             llrt jjs ts-node-esm swc-node",
        ),
        code: "-e -p --eval --print -pe",
        values: "-r -C --require --import --loader --conditions",
        ends: "",
    },
    Interpreter {
        names: Names::new("php"),
        code: "-r -B -R -E --run --process-code",
        values: "-d -c -z --define",
        ends: "",
    },
    Interpreter {
        names: Names::new("lua luajit luau texlua"),
        code: "-e",
        values: "-l",
        ends: "",
    },
    Interpreter {
        names: Names::new("Rscript R littler r radian"),
        code: "-e",
        values: "",
        ends: "",
    },
    Interpreter {
        names: Names::new("osascript"),
        code: "-e",
        values: "-l -s",
        ends: "",
    },
    Interpreter {
        names: Names::new("julia"),
        code: "-e -E --eval --print",
        values: "-L -J -p -t",
        ends: "",
    },
    Interpreter {
        names: Names::new("elixir iex"),
        code: "-e --eval --rpc-eval",
        values: "-r -S",
        ends: "",
    },
    Interpreter {
        names: Names::new("erl"),
        code: "-eval",
        values: "-s -run -pa",
        ends: "",
    },
    Interpreter {
        names: Names::new(
            "ghc ghci scala groovy swift clojure clj guile racket sbcl expect tclsh coffee kotlin jshell",
        ),
        code: "-e -c -ex -o -eval --eval --batch-eval --execute",
        values: "-l -x",
        ends: "",
    },
    Interpreter {
        names: Names::new(
            "bb scala-cli gforth ocaml runghc runhaskell raku gp octave maxima janet gjs micropython csi fsi fsharpi \
             chez petite chibi-scheme gosh jimsh v rust-script octave-cli amm lsc perl6 rakudo hy coconut fennel crystal swipl \
             gprolog ecl clisp abcl gsi txr pike csharprepl nbb joker planck lumo wolframscript mathematica",
        ),
        code: "-e -E --eval -c --expr --batch-string -code -g",
        values: "-l -I -L",
        ends: "",
    },
    Interpreter {
        names: Names::new("matlab scilab scilab-cli sage"),
        code: "-batch -r -e -c",
        values: "-logfile -sd -f",
        ends: "",
    },
    Interpreter {
        names: Names::new("csh tcsh nu xonsh elvish rc ysh osh"),
        code: "-c -e --commands",
        values: "",
        ends: "",
    },
    Interpreter {
        names: Names::new("emacs emacsclient gdb lldb"),
        code: "-e -c -ex -o -eval --eval --batch-eval --execute",
        values: "-l -x",
        ends: "",
    },
    Interpreter {
        names: Names::new("vim nvim vi ex view gvim vimdiff"),
        code: "-c --cmd -S",
        values: "-u -i -w",
        ends: "",
    },
];

/// Interpreters that also run code as a subcommand's operand.
const EVALUATING: &[(&str, &str)] = &[
    ("deno", "eval"),
    ("bun", "eval"),
    ("dotnet", "script"),
    ("cargo", "eval"),
];

/// What an interpreter is given to run.
pub(super) enum Given {
    Nothing,
    /// It cannot be known.
    Hidden(Reason),
    /// These words.
    Code(Vec<Argument>),
    /// What it reads.
    Input,
    /// The file named by this word.
    File(usize),
    /// A module, which is a program of its own, and its words.
    Module(Vec<Argument>),
}

/// Lists what an interpreter does, if a command is one.
pub(super) fn interpret(command: &mut Unwrapped<'_, '_>, name: &str) -> Result<(), Refusal> {
    let given = match name {
        "pwsh" | "powershell" | "pwsh.exe" | "powershell.exe" => {
            match windows::powershell(command, name)? {
                Some(given) => given,
                None => return Ok(()),
            }
        }
        _ => given(name, command.words, &command.start.input),
    };
    let language = code::language(name);
    match (given, language) {
        (Given::Nothing, _) => Ok(()),
        (Given::Hidden(opaque), _) => {
            command.mark(opaque);
            Ok(())
        }
        (Given::Code(codes), Some(language)) => {
            // Several pieces are one program, a line each.
            if codes.iter().any(|code| code.text.dynamic) {
                let origin = codes.iter().filter_map(|code| code.origin).max();
                command.mark(opaque_origin(origin, Reason::DynamicCode));
            }
            let texts: Vec<&str> = codes.iter().map(Argument::unquoted).collect();
            let span = codes.first().map_or(0..0, |code| code.text.span.clone());
            let mut text = texts.join("\n");
            let prints = |word: &Argument| matches!(word.unquoted(), "-p" | "-pe" | "--print");
            if language == Language::JavaScript
                && command.rest(1).iter().any(prints)
                && !text.contains([';', '\n'])
            {
                // What the expression comes to is shown.
                text = format!("console.log({text})");
            }
            if name.starts_with("ipython")
                && let Some(word) = codes.first()
            {
                text = consoles::notebook(command, &text, word)?;
            }
            code::run(command, language, &text, &span, Source::Inline, None)?;
            // Elsewhere `-i` edits in place.
            let reads_on = matches!(language, Language::Python | Language::JavaScript);
            match reads_on && goes_on(command.words) {
                true => console_input(command, language),
                false => Ok(()),
            }
        }
        (Given::Input, Some(language)) => match command.start.input.clone() {
            Input::Known(text) => {
                let span = command
                    .words
                    .first()
                    .map_or(0..0, |word| word.text.span.clone());
                code::run(command, language, &text, &span, Source::Inline, None)
            }
            Input::Inherited | Input::Empty | Input::Partly(_) | Input::Unknown(_) => Ok(()),
        },
        (Given::Code(_), None) if only_debugs(name, command.words) => Ok(()),
        (Given::Code(_) | Given::Input, None) => {
            command.mark(Reason::InlineCode);
            Ok(())
        }
        (Given::File(at), Some(language)) => command.follow_code(at, language),
        (Given::File(_), None) => Ok(()),
        (Given::Module(words), language) => {
            let module = words.first().map_or("", Argument::unquoted);
            if let Some(language) = language.filter(|_| CONSOLES.contains(&module)) {
                console_input(command, language)?;
            }
            // The module behind it is run as by `-m`.
            if module == "runpy" {
                let run = command.words.first().cloned();
                let span = run.as_ref().map_or(0..0, |word| word.text.span.clone());
                let mut inner: Vec<Argument> = run.into_iter().collect();
                inner.push(Argument::literal("-m", span));
                inner.extend(words.into_iter().skip(1));
                return command.starts(Wrapping::Transparent, Vec::new(), inner);
            }
            // What it loads runs what it says: a file that comes from elsewhere by the same line is asked about.
            if let ("pickle", Some(file)) = (module, words.get(1).and_then(Argument::known))
                && command.is_fetched(file)
            {
                command.mark(Reason::ChangedBefore);
            }
            command.starts(Wrapping::Transparent, Vec::new(), words)
        }
    }
}

/// Modules that run what they read as the interpreter itself does.
const CONSOLES: [&str; 6] = [
    "IPython", "asyncio", "bpython", "code", "idlelib", "ptpython",
];

/// Whether an interpreter that was given code goes on with what it reads: `python3 -ic CODE`, `node -i -e CODE`.
fn goes_on(words: &[Argument]) -> bool {
    let flags = words.iter().skip(1).map(Argument::unquoted);
    flags
        .take_while(|flag| flag.starts_with('-'))
        .any(|flag| match flag.strip_prefix('-') {
            Some(letters) if !letters.starts_with('-') => {
                letters.contains('i') && flag.len() <= MAX_BUNDLE
            }
            Some(_) | None => flag == "--interactive",
        })
}

/// A cluster of flags is no longer than this; what is longer has a value glued to it.
const MAX_BUNDLE: usize = 4;

/// Lists what a console reads.
fn console_input(command: &mut Unwrapped<'_, '_>, language: Language) -> Result<(), Refusal> {
    match command.start.input.clone() {
        Input::Known(text) => {
            let first = command.words.first();
            let span = first.map_or(0..0, |word| word.text.span.clone());
            code::run(command, language, &text, &span, Source::Inline, None)
        }
        input @ (Input::Partly(_) | Input::Unknown(_)) => {
            command.mark(opaque_origin(input.origin(), Reason::ScriptFromInput));
            Ok(())
        }
        Input::Inherited | Input::Empty => Ok(()),
    }
}

/// Whether a debugger is told nothing but to run its program and to look at it.
fn only_debugs(name: &str, words: &[Argument]) -> bool {
    if !matches!(name, "gdb" | "lldb" | "rust-gdb" | "rust-lldb") {
        return false;
    }
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        match word.unquoted() {
            "--args" | "-args" | "--" => break,
            "-ex" | "--ex" | "-iex" | "-eval-command" | "--eval-command" | "-o" | "-O" | "-k"
            | "--one-line" => {
                let line = words.next().and_then(Argument::known);
                if !line.is_some_and(only_looks_at_program) {
                    return false;
                }
            }
            text if text.contains("-command=") || text.contains("-line=") => return false,
            _ => {}
        }
    }
    true
}

/// Whether a line of a debugger runs the program or shows something of it. What calls a function, which may
/// be any, has a bracket.
fn only_looks_at_program(line: &str) -> bool {
    const LOOKING: [&str; 30] = [
        "b",
        "backtrace",
        "break",
        "bt",
        "c",
        "continue",
        "disassemble",
        "disas",
        "f",
        "finish",
        "frame",
        "info",
        "l",
        "list",
        "n",
        "next",
        "p",
        "print",
        "q",
        "quit",
        "r",
        "run",
        "s",
        "start",
        "step",
        "thread",
        "up",
        "down",
        "where",
        "x",
    ];
    let first = line.split([' ', '/']).next().unwrap_or_default();
    let sets = line.starts_with("set pagination ") || line.starts_with("set confirm ");
    let plain = !line.contains(['(', '|', '!', '>', '<', '`', ';', '\n']);
    plain && (sets || LOOKING.contains(&first))
}

fn given(name: &str, words: &[Argument], input: &Input) -> Given {
    match name {
        "awk" | "gawk" | "mawk" | "nawk" => return Given::Code(awk(words)),
        "sed" | "gsed" | "ssed" => return sed(words).map_or(Given::Nothing, Given::Hidden),
        _ => {}
    }
    let second = words.get(1).and_then(Argument::known);
    if let Some(given) = by_subcommand(name, words, input) {
        return given;
    }
    if EVALUATING
        .iter()
        .any(|(known, sub)| *known == name && second == Some(sub))
    {
        return match words.get(2) {
            Some(code) => Given::Code(vec![code.clone()]),
            None => Given::Nothing,
        };
    }
    find(name).map_or(Given::Nothing, |one| one.given(words, input))
}

/// What a subcommand of an interpreter is given: `repl` code and all it reads, `run -` all it reads.
fn by_subcommand(name: &str, words: &[Argument], input: &Input) -> Option<Given> {
    if !matches!(name, "bun" | "deno") {
        return None;
    }
    let subcommand = words.get(1).and_then(Argument::known)?;
    let reads = match subcommand {
        "repl" => true,
        "run" | "test" => words.iter().skip(2).any(|word| is_input(word.unquoted())),
        _ => return None,
    };
    let code = words.windows(2).find_map(|pair| match pair {
        [flag, code] if flag.unquoted() == "--eval" => Some(code.clone()),
        _ => None,
    });
    let glued = words
        .iter()
        .find(|word| word.unquoted().starts_with("--eval="));
    let code = code.or_else(|| glued.map(|word| word.tail("--eval=".len())));
    match code.filter(|_| subcommand == "repl") {
        Some(code) => Some(Given::Code(vec![code])),
        None if reads => Some(from_input(input)),
        None => None,
    }
}

/// Whether a word stands for what is read.
fn is_input(word: &str) -> bool {
    word == "-" || is_stream(word)
}

/// What is read, as far as it is known.
fn from_input(input: &Input) -> Given {
    match input {
        Input::Known(_) => Given::Input,
        Input::Partly(_) | Input::Unknown(_) => {
            Given::Hidden(opaque_origin(input.origin(), Reason::ScriptFromInput))
        }
        Input::Inherited | Input::Empty => Given::Nothing,
    }
}

/// The interpreter of a name, a version or the word for a build behind it or not.
fn find(name: &str) -> Option<&'static Interpreter> {
    let stem = code::stem(name);
    let (shape, of_stem) = (Shape::from_name(name), Shape::from_name(stem));
    if !ALL.have(shape) && !ALL.have(of_stem) {
        return None;
    }
    INTERPRETERS.iter().find(|known| {
        let names = &known.names;
        names.contains_shaped(name, shape) || names.contains_shaped(stem, of_stem)
    })
}

/// The shapes of all their names: most programs are none of them.
const ALL: Shapes = {
    let mut rest = INTERPRETERS;
    let mut shapes = Shapes::NONE;
    while let [first, tail @ ..] = rest {
        shapes = first.names.shapes_with(shapes);
        rest = tail;
    }
    shapes
};

/// Whether a program runs code it is given, in whatever language.
pub(super) fn is_interpreter(name: &str) -> bool {
    find(name).is_some() || code::language(name).is_some()
}

impl Interpreter {
    /// Whether its operands are what it shows or debugs.
    fn opens(&self) -> bool {
        self.names.contains("vim") || self.names.contains("emacs")
    }

    fn given(&self, words: &[Argument], input: &Input) -> Given {
        let mut codes: Vec<Argument> = Vec::new();
        let mut at = 1;
        while let Some(word) = words.get(at) {
            let text = word.unquoted();
            // What an editor opens on its input is no code, and options may follow.
            if STANDARD_INPUT.contains(&text) && !self.opens() {
                break;
            }
            let name = text.split_once('=').map_or(text, |(name, _)| name);
            if names_code(self.code, text) {
                at += 1;
                codes.extend(words.get(at).cloned());
            } else if name.starts_with("--") && names_code(self.code, name) {
                codes.push(word.tail(name.len() + 1));
            } else if text.starts_with('+') && self.names.contains("vim") {
                let jumps = text.bytes().skip(1).all(|byte| byte.is_ascii_digit());
                if !jumps {
                    codes.push(word.tail(1));
                }
            } else if !text.starts_with('-') && self.opens() && !word.text.dynamic {
                // What it opens: nothing of it is run, and options may follow.
            } else if text.starts_with('(') && codes.is_empty() {
                // No file is called so: `bb '(delete-tree "x")'`.
                codes.push(word.clone());
            } else if !text.starts_with('-') {
                if !codes.is_empty() {
                    break;
                }
                // A dynamic word may be the option that brings code.
                return if word.text.dynamic {
                    Given::Hidden(opaque_origin(word.origin, Reason::DynamicCode))
                } else if is_stream(text) {
                    Given::Hidden(Reason::ScriptFromInput)
                } else {
                    Given::File(at)
                };
            } else if !text.starts_with("--") {
                match self.bundle(text) {
                    Bundle::Code(rest) if rest == text.len() => {
                        at += 1;
                        codes.extend(words.get(at).cloned());
                    }
                    Bundle::Code(rest) => codes.push(word.tail(rest)),
                    Bundle::Ends(rest) if codes.is_empty() => {
                        // `-m pip`, or `-mpip`.
                        let mut module: Vec<Argument> = Vec::new();
                        if rest < text.len() {
                            module.push(word.tail(rest));
                        }
                        module.extend(words.iter().skip(at + 1).cloned());
                        return Given::Module(module);
                    }
                    Bundle::Ends(_) => break,
                    Bundle::Value => at += 1,
                    Bundle::Flags => {}
                }
            } else if listed(self.values, text) {
                at += 1;
            }
            at += 1;
        }
        if !codes.is_empty() {
            return Given::Code(codes);
        }
        from_input(input)
    }

    /// Reads bundled short options: `-lane` holds `-e`.
    fn bundle(&self, text: &str) -> Bundle {
        if listed(self.values, text) {
            return Bundle::Value;
        }
        for (at, letter) in text.char_indices().skip(1) {
            let option = format!("-{letter}");
            let rest = at + letter.len_utf8();
            if listed(self.code, &option) {
                return Bundle::Code(rest);
            }
            if listed(self.ends, &option) {
                return Bundle::Ends(rest);
            }
            if listed(self.values, &option) {
                return if rest == text.len() {
                    Bundle::Value
                } else {
                    Bundle::Flags
                };
            }
        }
        Bundle::Flags
    }
}

/// What bundled options bring, and where it begins.
enum Bundle {
    Code(usize),
    Ends(usize),
    Value,
    Flags,
}

/// Whether a flag brings code, its name cut short or not.
fn names_code(list: &str, flag: &str) -> bool {
    let cut_short = || {
        let mut known = list.split_ascii_whitespace();
        // `--batch` is a flag of its own, and not `--batch-eval`.
        flag != "--batch" && flag.len() > MIN_CUT_SHORT && known.any(|one| one.starts_with(flag))
    };
    listed(list, flag) || (flag.starts_with("--") && cut_short())
}

/// A long flag cut shorter than this could be any.
const MIN_CUT_SHORT: usize = 3;

fn listed(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == name)
}

/// The programs `awk` is given.
fn awk(words: &[Argument]) -> Vec<Argument> {
    scripts(
        words,
        "-F -v --field-separator --assign -i --include -l --load",
        "-e --source",
        "-f --file -E --exec",
    )
}

/// The scripts `sed` is given.
pub(super) fn sed_scripts(words: &[Argument]) -> Vec<Argument> {
    scripts(words, "-l --line-length", "-e --expression", "-f --file")
}

fn sed(words: &[Argument]) -> Option<Reason> {
    for program in sed_scripts(words) {
        let text = program.unquoted();
        if sed_runs(text) {
            return Some(if program.text.dynamic {
                Reason::DynamicCode
            } else {
                Reason::InlineCode
            });
        }
    }
    None
}

/// The programs among the words: the values of some options, or else the first operand.
fn scripts(words: &[Argument], values: &str, code: &str, files: &str) -> Vec<Argument> {
    let mut found = Vec::new();
    let mut named = false;
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let text = word.unquoted();
        let name = text.split_once('=').map_or(text, |(name, _)| name);
        let attached = name.len() < text.len() && name.starts_with("--");
        if names_code(code, text) {
            at += 1;
            found.extend(words.get(at).cloned());
            named = true;
        } else if attached && names_code(code, name) {
            found.push(word.tail(name.len() + 1));
            named = true;
        } else if listed(files, text) || listed(values, text) {
            named |= listed(files, text);
            at += 1;
        } else if attached && listed(files, name) {
            named = true;
        } else if text.len() > 1 && text.starts_with('-') && !text.starts_with("--") {
            // Bundled: `-ne` takes the next word, `-es/a/b/` the rest of this one.
            let position = text.char_indices().skip(1).find(|(_, letter)| {
                let option = format!("-{letter}");
                listed(code, &option) || listed(files, &option) || listed(values, &option)
            });
            if let Some((place, letter)) = position {
                let option = format!("-{letter}");
                let rest = place + letter.len_utf8();
                let last = rest == text.len();
                at += usize::from(last);
                if listed(code, &option) {
                    named = true;
                    let next = if last {
                        words.get(at).cloned()
                    } else {
                        Some(word.tail(rest))
                    };
                    found.extend(next);
                }
                named |= listed(files, &option);
            }
        } else if !text.starts_with("--") {
            if !named {
                found.push(word.clone());
            }
            break;
        }
        at += 1;
    }
    found
}

/// Whether a `sed` script may run a command: by `e`, or by the flag of `s` with that name.
/// What cannot be followed may.
pub(super) fn sed_runs(script: &str) -> bool {
    let mut rest = script.chars().peekable();
    while let Some(sign) = rest.next() {
        match sign {
            ' '
            | '\t'
            | '\n'
            | ';'
            | '{'
            | '}'
            | '!'
            | ','
            | '$'
            | '0'..='9'
            | '~'
            | '+'
            | 'I'
            | 'M' => {}
            '/' => {
                if !skip_delimited(&mut rest, '/') {
                    return true;
                }
            }
            '\\' => match rest.next() {
                Some(delimiter) if skip_delimited(&mut rest, delimiter) => {}
                Some(_) | None => return true,
            },
            '#' | 'a' | 'i' | 'c' | 'r' | 'R' | 'w' | 'W' | 'b' | 't' | 'T' | ':' => {
                let labels = matches!(sign, 'b' | 't' | 'T');
                for letter in rest.by_ref() {
                    if letter == '\n' || (labels && letter == ';') {
                        break;
                    }
                }
            }
            's' | 'y' => {
                let Some(delimiter) = rest.next() else {
                    return true;
                };
                if !(skip_delimited(&mut rest, delimiter) && skip_delimited(&mut rest, delimiter)) {
                    return true;
                }
                while let Some(flag) =
                    rest.next_if(|flag| flag.is_ascii_alphanumeric() && *flag != 'w')
                {
                    if flag == 'e' {
                        return true;
                    }
                }
                if rest.peek() == Some(&'w') {
                    rest.by_ref().find(|letter| *letter == '\n');
                }
            }
            'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'l' | 'n' | 'N' | 'p' | 'P' | 'q' | 'Q' | 'x'
            | 'z' | 'F' | '=' => {}
            _ => return true,
        }
    }
    false
}

pub(super) fn skip_delimited(
    rest: &mut std::iter::Peekable<std::str::Chars<'_>>,
    delimiter: char,
) -> bool {
    while let Some(letter) = rest.next() {
        match letter {
            '\\' => {
                rest.next();
            }
            _ if letter == delimiter => return true,
            _ => {}
        }
    }
    false
}
