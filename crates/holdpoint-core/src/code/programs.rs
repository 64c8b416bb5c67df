//! Programs that code starts: their words, and what they are started under.
//!
//! A shell that reads its input runs what it reads, so that what is written to a program matters
//! as much as its words; a variable or a directory may decide what it does.

use std::ops::Range;

use super::calls::Args;
use super::carried::{self, Carried};
use super::tables::Parameter;
use super::values::{Value, text_joined};
use super::walker::Walker;
use super::{CodeEffectKind, Language, Operand, Setting};
/// What stands for a program that is running and can be written to.
const PROCESS: &str = "Process";

impl Walker<'_, '_> {
    /// Python's `subprocess`: a list is arguments, a text is a program or a line for the shell.
    pub(super) fn start(&mut self, args: &Args, span: &Range<usize>) -> Value {
        let shell = args.may_be_on("shell");
        let what = args.at(Parameter(0, "args")).or_else(|| args.option("cmd"));
        let executable = args.named_option("executable").map(Value::operand);
        let mut words: Vec<Operand> = match what {
            Some(Value::List(values)) => values.iter().flat_map(Value::operands).collect(),
            Some(value) => vec![value.operand()],
            None => vec![Operand::Unknown],
        };
        if shell {
            // `["line", "$0", …]`: only the first is run.
            words.truncate(1);
        }
        self.begin(words, shell, executable, args, span)
    }

    /// Node's `spawn(program, [arguments], {shell})`.
    pub(super) fn start_list(
        &mut self,
        args: &Args,
        program: Parameter,
        list: Parameter,
        span: &Range<usize>,
    ) -> Value {
        let mut words = match args.at(program) {
            Some(Value::List(values)) => values.iter().flat_map(Value::operands).collect(),
            // `Bun.spawn({cmd: […]})`
            Some(Value::Map(_)) => match args.option("cmd") {
                Some(Value::List(values)) => values.iter().flat_map(Value::operands).collect(),
                Some(_) | None => vec![Operand::Unknown],
            },
            Some(value) => vec![value.operand()],
            None => vec![Operand::Unknown],
        };
        let given = args.option("args").or(args.at(list));
        match given {
            Some(Value::List(values)) => words.extend(values.iter().flat_map(Value::operands)),
            Some(Value::Map(_) | Value::Function) | None => {}
            Some(_) => words.push(Operand::Unknown),
        }
        let shell = args.may_be_on("shell");
        if shell {
            words = vec![spaced(&words)];
        }
        self.begin(words, shell, None, args, span)
    }

    /// A line for the shell, with the options of whoever runs it.
    pub(super) fn start_line(&mut self, line: Operand, args: &Args, span: &Range<usize>) -> Value {
        self.begin(vec![line], true, None, args, span)
    }

    /// Starts a program, and gives what can be written to.
    fn begin(
        &mut self,
        mut words: Vec<Operand>,
        shell: bool,
        executable: Option<Operand>,
        args: &Args,
        span: &Range<usize>,
    ) -> Value {
        let mut setting = self.own_setting(args);
        // Node gives every program a pipe that can be written to later.
        if self.is(Language::JavaScript)
            && !shell
            && words.len() == 1
            && setting.input.is_none()
            && args.named_option("stdio").is_none()
        {
            setting.input = Some(Operand::Unknown);
        }
        // Ruby's `IO.popen([…], "w")` is written to in a block.
        let written = args
            .list
            .get(1)
            .and_then(Value::text)
            .is_some_and(|mode| matches!(mode, "w" | "r+" | "w+" | "wb" | "r+b"));
        if setting.input.is_none() && written {
            setting.input = Some(Operand::Unknown);
        }
        // A shell by name: `executable="zsh"`, `{shell: "/bin/zsh"}`.
        let executable = executable.or_else(|| match args.option("shell") {
            Some(Value::Text(text)) if shell => Some(text.clone()),
            Some(_) | None => None,
        });
        let line = match (shell, words.as_slice()) {
            (true, [line]) => Some(line.clone()),
            (_, _) => None,
        };
        if line.is_some() {
            let program = executable
                .clone()
                .unwrap_or(Operand::Known("sh".to_owned()));
            words.splice(0..0, [program, Operand::Known("-c".to_owned())]);
        } else if let (Some(program), Some(first)) = (&executable, words.first_mut()) {
            *first = program.clone();
        }
        let kind = match line {
            Some(line) if executable.is_none() && setting == Setting::default() => {
                CodeEffectKind::Shell(line)
            }
            Some(_) | None => CodeEffectKind::Run(words.clone()),
        };
        self.deed_under(kind, setting, span);
        self.sends_words(args, span);
        Value::Made(
            PROCESS,
            Box::new(Value::List(words.into_iter().map(Value::Text).collect())),
        )
    }

    /// A variable in the body or the address of a request that another program makes.
    fn sends_words(&mut self, args: &Args, span: &Range<usize>) {
        let Some(Value::List(words)) = args.at(Parameter(0, "args")) else {
            return;
        };
        let sends = words
            .first()
            .and_then(Value::text)
            .is_some_and(|program| matches!(program, "curl" | "wget" | "http" | "https" | "xh"));
        if !sends {
            return;
        }
        let body = |word: &Value| {
            word.text().is_some_and(|flag| {
                flag.starts_with("-d")
                    || flag.starts_with("--data")
                    || matches!(
                        flag,
                        "-F" | "--form" | "--json" | "--post-data" | "--body-data"
                    )
            })
        };
        for pair in words.windows(2) {
            let [flag, word] = pair else {
                continue;
            };
            let address =
                matches!(word.operand(), Operand::Starts(text) if text.starts_with("http"));
            if body(flag) || address {
                for what in carried::held(word) {
                    let to = if address {
                        word.operand()
                    } else {
                        Operand::Unknown
                    };
                    self.effect(CodeEffectKind::Send { to, what }, span);
                }
            }
        }
    }

    /// What the options of a call say of the program it starts.
    fn own_setting(&mut self, args: &Args) -> Setting {
        let mut setting = Setting {
            directory: args.named_option("cwd").map(Value::operand),
            input: args.named_option("input").map(Value::operand),
            variables: match args.named_option("env") {
                Some(Value::Map(pairs)) => pairs
                    .iter()
                    .map(|(name, value)| (name.clone(), value.operand()))
                    .collect(),
                Some(_) | None => Vec::new(),
            },
        };
        if setting.input.is_none() {
            setting.input = args.named_option("stdin_data").map(Value::operand);
        }
        // A pipe is written to later, where that may not be seen.
        let piped = match args.named_option("stdin") {
            Some(Value::Name(name)) => name.ends_with("PIPE"),
            Some(Value::Number(number)) => *number == -1,
            Some(Value::Text(Operand::Known(how))) => how == "pipe" || how == "piped",
            // A file that is open, or something made to be read.
            Some(Value::Held(..) | Value::Made(..)) => true,
            Some(_) | None => false,
        };
        if setting.input.is_none() && piped {
            setting.input = Some(Operand::Unknown);
        }
        setting
    }

    /// Something is written to a program that was started.
    pub(super) fn feed(&mut self, args: &Args, what: Parameter, span: &Range<usize>) {
        let Some(Value::Made(PROCESS, words)) = args.list.first() else {
            return;
        };
        let words = words.operands();
        if words.is_empty() {
            return;
        }
        let input = match args.at(what) {
            Some(Value::Function) | None => return,
            Some(Value::List(lines)) => {
                let lines: Vec<Operand> = lines.iter().flat_map(Value::operands).collect();
                spaced(&lines)
            }
            Some(text) => text.operand(),
        };
        let setting = Setting {
            input: Some(input),
            ..Setting::default()
        };
        self.deed_under(CodeEffectKind::Run(words), setting, span);
    }

    /// The directory of all that follows.
    pub(super) fn change_directory(&mut self, to: Operand) {
        self.setting.directory = Some(match (self.setting.directory.take(), to) {
            (Some(Operand::Known(before)), Operand::Known(to)) if !to.starts_with(['/', '~']) => {
                Operand::Known(format!("{before}/{to}"))
            }
            (_, to) => to,
        });
    }

    /// `os.environ["PATH"] = …`
    pub(super) fn sets_variable(&mut self, left: &Value, value: &Value) {
        if let Value::Name(name) = left
            && let Some(Carried::Variable(variable)) = carried::named(name)
        {
            self.set_variable(variable, value.operand());
        }
    }

    pub(super) fn set_variable(&mut self, name: String, value: Operand) {
        if self.limits.copies(name.len() + value.size()) {
            self.setting.variables.push((name, value));
        }
    }

    /// `kill(process, signal)` in either order.
    pub(super) fn kill(
        &mut self,
        args: &Args,
        process: Parameter,
        signal: Parameter,
        span: &Range<usize>,
    ) {
        // Perl's `kill KILL => -1` reads like a name and a value.
        if let ([], [(name, process)]) = (args.list.as_slice(), args.named.as_slice()) {
            let words = ["kill", &format!("-{}", name.trim_start_matches("SIG"))]
                .iter()
                .map(|word| Operand::Known((*word).to_owned()))
                .chain([process.operand()])
                .collect();
            self.effect(CodeEffectKind::Run(words), span);
            return;
        }
        let signal = match args.at(signal) {
            Some(Value::Name(name)) => Operand::Known(
                name.rsplit('.')
                    .next()
                    .unwrap_or(name)
                    .trim_start_matches("SIG")
                    .to_owned(),
            ),
            Some(Value::Text(Operand::Known(name))) => {
                Operand::Known(name.trim_start_matches("SIG").to_owned())
            }
            Some(value) => value.operand(),
            None => Operand::Known("TERM".to_owned()),
        };
        // Perl's and Ruby's negative signal goes to a group.
        let group = matches!(&signal, Operand::Known(text) if text.starts_with('-'));
        let flag = match &signal {
            Operand::Known(text) if group => Operand::Known(text.clone()),
            Operand::Known(_) | Operand::Starts(_) | Operand::Unknown => {
                text_joined(Operand::Known("-".to_owned()), signal)
            }
        };
        let mut words = vec![Operand::Known("kill".to_owned()), flag];
        words.push(args.at(process).map_or(Operand::Unknown, Value::operand));
        // A process nobody knows is one the code started or found, as a rule.
        if words.last() != Some(&Operand::Unknown) {
            self.effect(CodeEffectKind::Run(words), span);
        }
    }
}

/// Words as a shell would be given them.
pub(super) fn spaced(words: &[Operand]) -> Operand {
    let mut line = Operand::Known(String::new());
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            line = text_joined(line, Operand::Known(" ".to_owned()));
        }
        line = text_joined(line, word.clone());
    }
    line
}
