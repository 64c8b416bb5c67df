//! Small Python programs that start commands: constants made in many ways, calls made in many ways.
//!
//! Each command has a number of its own among its words (`cmd_a @3.1 …`), so that a command that
//! was run can be told from all others.

/// A small generator: the same programs on every run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

pub(crate) const PROGRAMS: [&str; 4] = ["cmd_a", "cmd_b", "cmd_c", "cmd_d"];
const WORDS: [&str; 8] = ["a", "bc", "-n", "x1", "/u/v", "k=l", "Ab", "z.y"];

/// One program as it grows.
pub(crate) struct Program<'d> {
    dice: &'d mut Dice,
    number: usize,
    commands: usize,
    names: usize,
    lines: Vec<String>,
    /// Variables that hold a text.
    texts: Vec<String>,
}

/// The program of this number.
pub(crate) fn program(dice: &mut Dice, number: usize) -> String {
    let mut program = Program {
        dice,
        number,
        commands: 0,
        names: 0,
        lines: vec![
            "import os, subprocess, shlex, base64, sys, functools, threading".to_owned(),
            "from subprocess import run as go, PIPE".to_owned(),
        ],
        texts: Vec::new(),
    };
    for _ in 0..1 + program.roll(4) {
        if program.roll(3) == 0 {
            program.assign();
        } else {
            let line = program.statement();
            program.lines.push(line);
        }
    }
    let last = program.statement();
    program.lines.push(last);
    program.lines.join("\n")
}

impl Program<'_> {
    fn roll(&mut self, sides: usize) -> usize {
        self.dice.roll(sides)
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.dice.roll(from.len())]
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn assign(&mut self) {
        let name = self.name();
        let value = self.text(2);
        let line = match self.roll(5) {
            0 => format!("{name} = {}; {name} += {}", self.text(1), self.text(1)),
            1 => format!(
                "{name} = {value} if {} else {}",
                self.pick(&["True", "1 > 2", "os.sep"]),
                self.text(1)
            ),
            _ => format!("{name} = {value}"),
        };
        self.lines.push(line);
        self.texts.push(name);
    }

    /// A word as a literal.
    fn literal(&mut self, word: &str) -> String {
        match self.roll(9) {
            0 => format!("\"{word}\""),
            1 => format!("'''{word}'''"),
            2 => format!("r'{word}'"),
            3 => format!("b'{word}'.decode()"),
            4 => {
                let codes: Vec<String> =
                    word.bytes().map(|byte| format!("\\x{byte:02x}")).collect();
                format!("'{}'", codes.concat())
            }
            5 => {
                let codes: Vec<String> = word.bytes().map(|byte| format!("chr({byte})")).collect();
                codes.join("+")
            }
            6 => {
                let back: String = word.chars().rev().collect();
                format!("'{back}'[::-1]")
            }
            7 => {
                let codes: Vec<String> = word.bytes().map(|byte| byte.to_string()).collect();
                format!("bytes([{}]).decode()", codes.join(", "))
            }
            _ => format!("'{word}'"),
        }
    }

    /// An expression whose value is a text without blanks.
    fn text(&mut self, depth: usize) -> String {
        let word = self.pick(&WORDS);
        if depth == 0 {
            return self.literal(word);
        }
        let one = self.text(depth - 1);
        match self.roll(18) {
            0 | 1 => format!("({one} + {})", self.text(depth - 1)),
            2 => format!("('%s' % {one})"),
            3 => format!("'{{}}q'.format({one})"),
            4 => format!("'-'.join([{one}, {}])", self.text(depth - 1)),
            5 => format!("({one}).replace('a', 'o')"),
            6 => format!("str({one})"),
            7 => format!("({one}).lower()"),
            8 => format!("{{'k': {one}}}['k']"),
            9 => format!("[{one}, 'q'][0]"),
            10 => format!("os.path.join({one}, 'r')"),
            11 if !self.texts.is_empty() => {
                let at = self.dice.roll(self.texts.len());
                self.texts[at].clone()
            }
            12 => format!("f'{{{}}}p'", self.pick(&["os.sep", "1 + 1", "str(3)"])),
            13 => format!("({one})[0:2]"),
            14 => format!("''.join(reversed({one}))"),
            15 => "'s' * 3".to_owned(),
            _ => self.literal(word),
        }
    }

    fn label(&mut self) -> String {
        self.commands += 1;
        format!("@{}.{}", self.number, self.commands)
    }

    /// The words of a command, as expressions.
    fn words(&mut self) -> Vec<String> {
        let program = self.pick(&PROGRAMS);
        let label = self.label();
        let mut words = vec![self.literal(program), format!("'{label}'")];
        for _ in 0..self.roll(3) {
            words.push(self.text(2));
        }
        words
    }

    /// A line for a shell, as an expression.
    fn line(&mut self) -> String {
        let words = self.words();
        match self.roll(5) {
            0 => format!("' '.join([{}])", words.join(", ")),
            1 => words.join(" + ' ' + "),
            2 => {
                let holes = vec!["%s"; words.len()].join(" ");
                format!("'{holes}' % ({},)", words.join(", "))
            }
            3 => {
                let holes = vec!["{}"; words.len()].join(" ");
                format!("'{holes}'.format({})", words.join(", "))
            }
            _ => {
                let label = self.label();
                format!("'{} {label} plain'", self.pick(&PROGRAMS))
            }
        }
    }

    /// A list of words, as an expression.
    fn list(&mut self) -> String {
        let words = self.words();
        let (front, back) = words.split_at(2);
        match self.roll(5) {
            0 => format!("[{}] + [{}]", front.join(", "), back.join(", ")),
            1 => format!("[{}, *[{}]]", front.join(", "), back.join(", ")),
            2 => format!("({},)", words.join(", ")),
            _ => format!("[{}]", words.join(", ")),
        }
    }

    fn statement(&mut self) -> String {
        let name = self.name();
        match self.roll(44) {
            0 => format!("os.system({})", self.line()),
            1 => format!("os.popen({}).read()", self.line()),
            2 => format!("subprocess.run({})", self.list()),
            3 => format!("subprocess.call({})", self.list()),
            4 => format!("subprocess.check_output({}, text=True)", self.list()),
            5 => format!("subprocess.Popen({}).wait()", self.list()),
            6 => format!("subprocess.run({}, shell=True)", self.line()),
            7 => format!("subprocess.getoutput({})", self.line()),
            8 => format!("subprocess.run(({}).split())", self.line()),
            9 => format!("subprocess.run(shlex.split({}))", self.line()),
            10 => format!("go({}, check=False)", self.list()),
            11 => format!("subprocess.run(['bash'], input={}, text=True)", self.line()),
            12 => format!("subprocess.run(['sh', '-c', {}])", self.line()),
            13 => format!(
                "subprocess.Popen(['bash'], stdin=PIPE).communicate(({}).encode())",
                self.line()
            ),
            14 => format!(
                "{name} = subprocess.Popen(['sh'], stdin=subprocess.PIPE, text=True)\n{name}.stdin.write({})\n{name}.stdin.close()\n{name}.wait()",
                self.line()
            ),
            15 => format!(
                "subprocess.run({}, executable={})",
                self.list(),
                self.pick(&["'cmd_a'", "'cmd_' + 'b'"])
            ),
            16 => format!("subprocess.run({}, cwd='/')", self.list()),
            17 => format!("os.spawnvp(os.P_WAIT, 'cmd_a', {})", self.list()),
            18 => format!(
                "if os.fork() == 0: os.execvp('cmd_c', {})\nos.wait()",
                self.list()
            ),
            19 => format!(
                "os.waitpid(os.posix_spawnp('cmd_d', {}, os.environ), 0)",
                self.list()
            ),
            20 => format!("getattr(os, {})({})", self.literal("system"), self.line()),
            21 => format!("__import__({}).system({})", self.literal("os"), self.line()),
            22 => format!(
                "exec({})",
                python(&format!("import os\nos.system({})", self.line()))
            ),
            23 => format!("eval({})", python(&format!("os.system({})", self.line()))),
            24 => format!("{name} = os.system\n{name}({})", self.line()),
            25 => format!("{name} = {}\nos.system({name})", self.line()),
            26 => format!("{name} = {}\nsubprocess.run({name})", self.list()),
            27 => format!(
                "{name} = ['cmd_b']\n{name}.append('{}')\n{name} += [{}]\nsubprocess.run({name})",
                self.label(),
                self.text(1)
            ),
            28 => format!(
                "def {name}(c):\n    return os.system(c)\n{name}({})",
                self.line()
            ),
            29 => format!(
                "def {name}(*c, **o):\n    subprocess.run(c, **o)\n{name}({})",
                self.words().join(", ")
            ),
            30 => format!(
                "for {name} in [{}, {}]: os.system({name})",
                self.line(),
                self.line()
            ),
            31 => format!("[os.system({name}) for {name} in ({},)]", self.line()),
            32 => format!("list(map(os.system, [{}]))", self.line()),
            33 => format!(
                "with os.popen({}) as {name}:\n    {name}.read()",
                self.line()
            ),
            34 => format!(
                "{name} = threading.Thread(target=os.system, args=({},))\n{name}.start()\n{name}.join()",
                self.line()
            ),
            35 => format!("functools.partial(os.system, {})()", self.line()),
            36 => format!("{{'r': os.system}}['r']({})", self.line()),
            37 => format!("(lambda c: os.system(c))({})", self.line()),
            38 => format!(
                "try:\n    os.system({})\nexcept Exception:\n    pass",
                self.line()
            ),
            39 => format!(
                "class {name}:\n    def run(self): os.system({})\n{name}().run()",
                self.line()
            ),
            40 => format!(
                "{name} = dict(args={})\nsubprocess.run(**{name})",
                self.list()
            ),
            41 => format!(
                "exec(base64.b64decode(base64.b64encode({}.encode())))",
                python(&format!("os.system({})", self.line()))
            ),
            42 => format!("sys.modules['os'].system({})", self.line()),
            _ => format!("os.__dict__['system']({})", self.line()),
        }
    }
}

/// Code as a literal of Python.
fn python(code: &str) -> String {
    let code = code
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("\"{code}\"")
}
