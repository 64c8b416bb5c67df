//! Programs that run code in a language other than the shell's.
//!
//! Promises a mark for code given on the command line or read from input, and for the text
//! languages (`awk`, `sed`) only when the code could start a program. A script named by a
//! path is no secret: the path is in the words.

use super::commands::Opaque;
use super::input::Input;
use super::names::Names;
use super::texts::Argument;

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

static INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        names: Names::new("python pypy ipython"),
        code: "-c",
        values: "-W -X -Q --check-hash-based-pycs",
        ends: "-m",
    },
    Interpreter {
        names: Names::new("perl"),
        code: "-e -E",
        values: "-I -C",
        ends: "",
    },
    Interpreter {
        names: Names::new("ruby jruby irb"),
        code: "-e",
        values: "-I -r -C -E --encoding",
        ends: "",
    },
    Interpreter {
        names: Names::new("node nodejs bun tsx ts-node"),
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
        names: Names::new("lua luajit"),
        code: "-e",
        values: "-l",
        ends: "",
    },
    Interpreter {
        names: Names::new("Rscript R littler"),
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
            "ghc scala groovy swift clojure clj guile racket sbcl emacs gdb lldb expect tclsh",
        ),
        code: "-e -c -ex -o -eval --eval --batch-eval --execute",
        values: "-l -x",
        ends: "",
    },
    Interpreter {
        names: Names::new("pwsh powershell"),
        code: "-c -Command -command -EncodedCommand -e -enc -ec",
        values: "-ExecutionPolicy -File",
        ends: "",
    },
    Interpreter {
        names: Names::new("csh tcsh nu xonsh elvish"),
        code: "-c -e --commands",
        values: "",
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
const EVALUATING: &[(&str, &str)] = &[("deno", "eval"), ("bun", "eval"), ("dotnet", "script")];

/// Why a program's code is not known, if it is an interpreter given code.
pub(super) fn opaque(name: &str, words: &[Argument], input: &Input) -> Option<Opaque> {
    match name {
        "awk" | "gawk" | "mawk" | "nawk" => return awk(words),
        "sed" | "gsed" => return sed(words),
        _ => {}
    }
    let second = words.get(1).and_then(Argument::known);
    if EVALUATING
        .iter()
        .any(|(known, sub)| *known == name && second == Some(sub))
    {
        return Some(Opaque::InlineCode);
    }
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let interpreter = INTERPRETERS
        .iter()
        .find(|known| known.names.contains(name) || known.names.contains(stem))?;
    interpreter.given_code(words, input)
}

impl Interpreter {
    fn given_code(&self, words: &[Argument], input: &Input) -> Option<Opaque> {
        let mut at = 1;
        while let Some(word) = words.get(at) {
            let text = word.unquoted();
            if text == "-" || text == "/dev/stdin" {
                break;
            }
            let name = text.split_once('=').map_or(text, |(name, _)| name);
            if listed(self.code, text) || (name.starts_with("--") && listed(self.code, name)) {
                return Some(Opaque::InlineCode);
            }
            if text.starts_with('+') && self.names.contains("vim") {
                let jumps = text.bytes().skip(1).all(|byte| byte.is_ascii_digit());
                if !jumps {
                    return Some(Opaque::InlineCode);
                }
            } else if !text.starts_with('-') {
                // A dynamic word may be the option that brings code.
                return word.text.dynamic.then_some(Opaque::DynamicCode);
            }
            if text.starts_with('-') && !text.starts_with("--") {
                match self.bundle(text) {
                    Bundle::Code => return Some(Opaque::InlineCode),
                    Bundle::Ends => return None,
                    Bundle::Value => at += 1,
                    Bundle::Flags => {}
                }
            } else if listed(self.values, text) {
                at += 1;
            }
            at += 1;
        }
        match input {
            Input::Known(_) => Some(Opaque::InlineCode),
            Input::Unknown => Some(Opaque::ScriptFromInput),
            Input::Inherited | Input::Empty => None,
        }
    }

    /// Reads bundled short options: `-lane` holds `-e`.
    fn bundle(&self, text: &str) -> Bundle {
        if listed(self.values, text) {
            return Bundle::Value;
        }
        for (at, letter) in text.char_indices().skip(1) {
            let option = format!("-{letter}");
            if listed(self.code, &option) {
                return Bundle::Code;
            }
            if listed(self.ends, &option) {
                return Bundle::Ends;
            }
            if listed(self.values, &option) {
                let last = at + letter.len_utf8() == text.len();
                return if last { Bundle::Value } else { Bundle::Flags };
            }
        }
        Bundle::Flags
    }
}

enum Bundle {
    Code,
    Ends,
    Value,
    Flags,
}

fn listed(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == name)
}

/// `awk` starts programs by `system`, by `getline` from a command and by printing into one.
fn awk(words: &[Argument]) -> Option<Opaque> {
    let programs = scripts(
        words,
        "-F -v --field-separator --assign -i --include -l --load",
        "-e --source",
        "-f --file -E --exec",
    );
    for program in programs {
        if program.text.dynamic {
            return Some(Opaque::DynamicCode);
        }
        let text = program.text.text.replace("||", "");
        let prints = text.find("print").and_then(|at| text.get(at..));
        if ["system", "getline", "@"]
            .iter()
            .any(|word| text.contains(word))
            || prints.is_some_and(|rest| rest.contains('|'))
        {
            return Some(Opaque::InlineCode);
        }
    }
    None
}

fn sed(words: &[Argument]) -> Option<Opaque> {
    let programs = scripts(words, "-l --line-length", "-e --expression", "-f --file");
    for program in programs {
        let text = program.unquoted();
        if sed_runs(text) {
            return Some(if program.text.dynamic {
                Opaque::DynamicCode
            } else {
                Opaque::InlineCode
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
        if listed(code, text) {
            at += 1;
            found.extend(words.get(at).cloned());
            named = true;
        } else if attached && listed(code, name) {
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
fn sed_runs(script: &str) -> bool {
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

fn skip_delimited(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, delimiter: char) -> bool {
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
