//! Lines for bash and the reader: grammar in all its corners, and everything bash expands.
//!
//! Every simple command has a number of its own among its words (`cmd_a @3 …`), so that a command
//! bash ran can only be one of the readings of the place it stands at. Loops and functions end:
//! a function runs only those defined before it.

/// A small generator: the same lines on every run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

pub(crate) const PROGRAMS: [&str; 6] = ["cmd_a", "cmd_b", "cmd_c", "cmd_d", "cmd_e", "cmd_f"];
const SCALARS: [&str; 4] = ["x", "y", "z", "w"];
const ARRAYS: [&str; 2] = ["a", "b"];

/// Words that hold no expansion.
const PLAIN: [&str; 24] = [
    "a", "bc", "'b c'", "\"d  e\"", "f,g", "'h:i,j'", "''", "k.tar.gz", "/u/v/w.x", "3", "12",
    "-n", "$'t\\tu'", "\"it's\"", "k=l", "aXbXc", "é", "i#j", "\\;", "if", "}", "Ab", "$'m\\nn'",
    "' o '",
];

/// One line as it grows.
pub(crate) struct Line<'d> {
    dice: &'d mut Dice,
    numbers: usize,
    functions: usize,
    /// Functions that may be called here.
    callable: usize,
    in_function: bool,
    in_loop: bool,
}

/// A line of several commands.
pub(crate) fn line(dice: &mut Dice) -> String {
    let depth = 1 + dice.roll(3);
    let mut line = Line {
        dice,
        numbers: 0,
        functions: 0,
        callable: 0,
        in_function: false,
        in_loop: false,
    };
    match line.dice.roll(3) {
        0 => line.list(depth),
        1 => line.story(depth, 5),
        _ => line.story(depth - 1, 4),
    }
}

impl Line<'_> {
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.dice.roll(sides)
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.dice.roll(from.len())]
    }

    fn number(&mut self) -> String {
        self.numbers += 1;
        format!("@{}", self.numbers)
    }

    pub(crate) fn scalar(&mut self) -> &'static str {
        self.pick(&SCALARS)
    }

    pub(crate) fn array(&mut self) -> &'static str {
        self.pick(&ARRAYS)
    }

    // --- what is expanded ---------------------------------------------------------------------

    /// Assignments and uses of them, one after the other.
    fn story(&mut self, depth: usize, most: usize) -> String {
        let mut text = String::new();
        for _ in 0..1 + self.roll(most) {
            let part = if self.roll(5) < 3 {
                self.change(depth)
            } else {
                self.statement(depth)
            };
            self.join(&mut text, &part);
        }
        let last = self.used(depth);
        self.join(&mut text, &last);
        text
    }

    fn join(&mut self, text: &mut String, part: &str) {
        if !text.is_empty() && !text.ends_with('\n') {
            let joint = match self.roll(16) {
                0 => " && ",
                1 => " || ",
                2..=5 => "\n",
                _ => "; ",
            };
            text.push_str(joint);
        }
        text.push_str(part);
    }

    /// Something that changes what later words mean.
    fn change(&mut self, depth: usize) -> String {
        let x = self.scalar();
        let a = self.array();
        match self.roll(44) {
            0..=7 => format!("{x}={}", self.word(depth)),
            8 => format!(
                "{x}={} {}={}",
                self.word(0),
                self.scalar(),
                self.word(depth)
            ),
            9 => format!("{x}+={}", self.word(depth)),
            10 => format!("{x}=\"{} {}\"", self.inner(depth), self.inner(0)),
            11 => format!("export {x}={}", self.word(depth)),
            12 => {
                let element = self.pick(&["", "", "[0]"]);
                format!("declare {x}{element}={}", self.word(depth))
            }
            13 => {
                let flag = self.pick(&["-i", "-u", "-l", "-x", "-r", "--"]);
                format!("declare {flag} {x}={}", self.word(depth))
            }
            14 if self.in_function => format!("local {x}={}", self.word(depth)),
            14 => format!("typeset {x}={}", self.word(depth)),
            15 => format!(
                "printf -v{}{x} {} {} {}",
                self.pick(&[" ", ""]),
                self.pick(&["%s", "'%s-%s'", "'%s '", "%d", "'%03d'", "'%b'", "'%5s|'"]),
                self.word(depth),
                self.word(0)
            ),
            16 => format!(
                "read {} <<< {}",
                self.pick(&[
                    "x", "x y", "-r x", "x y z", "-a a", "-ra b", "-aa", "-rpset x", "-p at y",
                    "'x[0]'"
                ]),
                self.word(depth)
            ),
            17 => format!(
                "IFS={} read -r x y <<< {}",
                self.pick(&[",", ":", "", "X"]),
                self.word(0)
            ),
            18 => format!("{x}=$(({}))", self.sum(2)),
            19 => format!("(({x} = {}))", self.sum(2)),
            20 => format!(
                "let {x}={}",
                self.pick(&["1+2", "'x = 3'", "y*2", "x++", "'1 << 4'"])
            ),
            21 => format!(
                "unset {}",
                self.pick(&["x", "y", "a", "b", "'a[0]'", "-v x"])
            ),
            22..=24 => format!("{a}=({} {})", self.word(depth), self.word(0)),
            25 => format!("{a}+=({})", self.word(depth)),
            26 => format!(
                "{a}[{}]={}",
                self.pick(&["0", "1", "2", "x", "$y", "1+1"]),
                self.word(0)
            ),
            27 => format!(
                "{a}=([{}]={} {})",
                self.pick(&["0", "1", "2"]),
                self.word(0),
                self.word(0)
            ),
            28 => format!("declare -a {a}=({} {})", self.word(0), self.word(0)),
            29 => format!("mapfile -t {a} <<< {}", self.word(depth)),
            30..=31 => format!("set -- {} {}", self.word(depth), self.word(0)),
            32 => self
                .pick(&["shift", "shift 2", "set --", "set -- \"$@\" q"])
                .to_owned(),
            33 => format!(
                "IFS={}",
                self.pick(&[",", ":", "X", "''", "$' \\t\\n'", "', '", "é"])
            ),
            34 => format!("declare -n n={x}"),
            35 => format!("({x}={})", self.word(0)),
            36 => format!("echo {} | read {x}", self.word(0)),
            37 => format!("{} && {x}={}", self.condition(), self.word(0)),
            38 => format!("{} || {x}={}", self.condition(), self.word(0)),
            39 => format!(
                "if {}; then {x}={}; else {x}={}; fi",
                self.condition(),
                self.word(0),
                self.word(0)
            ),
            40 => format!(
                "case {} in {}) {x}={};; *) {x}={};; esac",
                self.word(0),
                self.pick(&["a", "b*", "*.x", "a|k*", "[0-9]", "$y", "\"$y\""]),
                self.word(0),
                self.word(0)
            ),
            41 => format!("declare -A m=([k]={} [l]={})", self.word(0), self.word(0)),
            42 => format!(": \"${{{x}:={}}}\"", self.word(0).replace(['\'', '"'], "")),
            _ => format!("{x}={}", self.expansion(depth)),
        }
    }

    fn condition(&mut self) -> String {
        let x = self.scalar();
        match self.roll(10) {
            0 => "true".to_owned(),
            1 => "false".to_owned(),
            2 => format!("[ -n \"${x}\" ]"),
            3 => format!("[[ -z ${x} ]]"),
            4 => format!("[[ ${x} == {} ]]", self.pick(&["a*", "b", "?", "*.x"])),
            5 => format!("[ \"${x}\" = a ]"),
            6 => format!("(({} > 1))", self.sum(1)),
            7 => "! true".to_owned(),
            8 => ":".to_owned(),
            _ => self.simple(0),
        }
    }

    /// A command with words that are expanded.
    pub(crate) fn used(&mut self, depth: usize) -> String {
        let number = self.number();
        let program = match self.roll(24) {
            0 => "cmd_$x".to_owned(),
            1 => "\"cmd_$y\"".to_owned(),
            2 => "cmd_{a,b}".to_owned(),
            3 => "$(echo cmd_a)".to_owned(),
            4 => "cmd${IFS}x".to_owned(),
            5 => "c${x}md_a".to_owned(),
            6 => "`echo cmd_b`".to_owned(),
            7 => "cmd_$((1+1))".to_owned(),
            _ => self.pick(&PROGRAMS).to_owned(),
        };
        let mut text = format!("{program} {number}");
        for _ in 0..1 + self.roll(3) {
            text.push(' ');
            text += &self.word(depth);
        }
        text
    }

    fn sum(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self
                .pick(&[
                    "1", "2", "7", "x", "y", "$x", "0x1f", "010", "2#101", "-3", "${#x}", "i",
                ])
                .to_owned();
        }
        let one = self.sum(depth - 1);
        let other = self.sum(depth - 1);
        let sign = self.pick(&[
            "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "<", "==", "!=", "&&", "||", "**",
            ",", ">=",
        ]);
        match self.roll(8) {
            0 => format!("({one} {sign} {other})"),
            1 => format!("{one} ? {other} : 5"),
            2 => format!("x = {one}"),
            3 => "x++ + ++y".to_owned(),
            4 => format!("!{one}"),
            5 => format!("x += {one}"),
            _ => format!("{one} {sign} {other}"),
        }
    }

    /// What may stand inside double quotes.
    fn inner(&mut self, depth: usize) -> String {
        match self.roll(4) {
            0 => self
                .pick(&["a", "b c", "\\$x", "d'e", "\\\"", "*"])
                .to_owned(),
            _ => self.expansion(depth),
        }
    }

    fn word(&mut self, depth: usize) -> String {
        match self.roll(16) {
            0..=4 => self.pick(&PLAIN).to_owned(),
            5 => self.expansion(depth),
            6 => format!("a{}", self.expansion(depth)),
            7 => format!("{}b", self.expansion(depth)),
            8..=9 => format!("\"{}\"", self.expansion(depth)),
            10 => format!("\"{} {}\"", self.inner(depth), self.inner(0)),
            11 => format!(
                "{{{},{}}}",
                self.pick(&["p", "q$x", "''"]),
                self.expansion(0)
            ),
            12 => self
                .pick(&[
                    "{1..3}",
                    "{a..c}x",
                    "{c..a}",
                    "{1..7..3}",
                    "p{,q}",
                    "{r}",
                    "{03..05}",
                    "{x,\"$y\"}",
                    "{a,b}{c,d}",
                ])
                .to_owned(),
            13 => format!("{}{}", self.expansion(0), self.expansion(0)),
            14 => format!("x${{IFS}}{}", self.pick(&["y", "$y", "\"z\""])),
            _ => self.grammar_word(depth),
        }
    }

    fn expansion(&mut self, depth: usize) -> String {
        let x = self.scalar();
        let a = self.array();
        match self.roll(40) {
            0..=4 => format!("${x}"),
            5..=6 => format!("${{{x}}}"),
            7..=9 => {
                let sign = self.pick(&[":-", "-", ":+", "+", ":=", "="]);
                let other = match self.roll(3) {
                    0 => self.pick(&["d", "d e", "'f g'", "\"h i\"", ""]).to_owned(),
                    _ if depth > 0 => self.expansion(depth - 1),
                    _ => format!("${}", self.scalar()),
                };
                format!("${{{x}{sign}{other}}}")
            }
            10..=12 => {
                let sign = self.pick(&["#", "##", "%", "%%"]);
                let pattern = self.pick(&[
                    "*", "a*", "*/", "*.", ".*", "?", "*,", "[a-f]", "$y", "\"$y\"", "*[!a]", "/*",
                    "''", "\\*", "b c",
                ]);
                format!("${{{x}{sign}{pattern}}}")
            }
            13..=15 => {
                let sign = self.pick(&["/", "//", "/#", "/%"]);
                let pattern = self.pick(&[
                    "a", "?", "[a-c]", "$y", "\"$y\"", ",", "' '", "b*", "X", ".",
                ]);
                let other = self.pick(&["", "/", "/Z", "/$z", "/\"$z\"", "/'q r'", "/&&"]);
                format!("${{{x}{sign}{pattern}{other}}}")
            }
            16..=17 => {
                let part = self.pick(&[
                    ":1", ":0:2", ":1:1", ": -2", ":1:-1", ":2:9", ":x", ":0", ": -1:1", ":9",
                ]);
                format!("${{{x}{part}}}")
            }
            18 => format!(
                "${{{x}{}}}",
                self.pick(&[
                    "^^", ",,", "^", ",", "@U", "@L", "@u", "@Q", "^^[a-c]", "@E"
                ])
            ),
            19 => format!("${{#{x}}}"),
            20..=21 => format!("$(({}))", self.sum(1 + depth.min(1))),
            22..=24 => self.printed(depth),
            25..=29 => {
                let form = self.pick(&[
                    "[0]", "[1]", "[-1]", "[x]", "[@]", "[*]", "[@]:1", "[@]:0:1", "[*]#a",
                    "[@]/a/Z", "[@]^^", "", "[@]%?", "[@]:-d", "[$y]", "[i]", "[1]:-e",
                ]);
                format!("${{{a}{form}}}")
            }
            30 => format!(
                "${{{}{a}{}}}",
                self.pick(&["#", "!"]),
                self.pick(&["[@]", "[*]", "[1]"])
            ),
            31..=34 => self
                .pick(&[
                    "$1", "$2", "$@", "$*", "$#", "${1:-d}", "${@:2}", "${*:1:1}", "${10}",
                    "${@:1:2}", "${#1}", "${1%a}", "${@#a}", "${@/a/b}", "${!#}",
                ])
                .to_owned(),
            35 => "${!n}".to_owned(),
            36 => self
                .pick(&[
                    "$?", "$_", "${m[k]}", "${m[@]}", "${!m[@]}", "$n", "${IFS}", "$i", "${#}",
                    "$h",
                ])
                .to_owned(),
            37 => format!("$({})", self.used(0)),
            38 => format!("${{{x}:-$({})}}", self.used(0)),
            _ => format!("${x}"),
        }
    }

    /// A substitution whose output can be foreseen.
    fn printed(&mut self, depth: usize) -> String {
        let word = self.word(depth.saturating_sub(1));
        match self.roll(22) {
            0..=3 => format!("$(echo {word})"),
            4 => format!("$(printf %s {word})"),
            5 => format!("$(printf '%s,%s\\n' {word} b)"),
            6 => format!("$(printf '%s ' {word})"),
            7 => format!(
                "`echo {}`",
                self.pick(&["a b", "$x", "\"$x\"", "cmd_a", "\\$x", "'c  d'"])
            ),
            8 => format!("$(cat <<< {word})"),
            9 => format!(
                "$(echo {word} | tr {})",
                self.pick(&["a b", "a-z A-Z", ", ' '", "-d a", "abc xyz"])
            ),
            10 => format!("$(echo {word} | rev)"),
            11 => format!(
                "$(echo {} | base64 -d)",
                self.pick(&["YWJj", "YSBi", "ZgpnCg=="])
            ),
            12 => format!(
                "$(basename {})",
                self.pick(&["/a/b.c", "/a/b.c .c", "a/", "b", "/", "\"$x\""])
            ),
            13 => format!(
                "$(dirname {})",
                self.pick(&["/a/b.c", "a", "/a", "a/b/", "/", "\"$x\""])
            ),
            14 => format!(
                "$(seq {})",
                self.pick(&["3", "2 4", "1 2 7", "3 -1 1", "0"])
            ),
            15 => format!("$(echo -n {word}; echo b)"),
            16 => format!(
                "$(echo -e {})",
                self.pick(&[
                    "'a\\tb'", "'a\\nb'", "'\\x41'", "a\\\\b", "'a\\cb'", "'\\0101'"
                ])
            ),
            17 => format!("$({}; echo ${})", self.change(0), self.scalar()),
            18 => format!("$({} && echo {word})", self.condition()),
            19 => format!(
                "$(cat <<E\n{}\nE\n)",
                self.pick(&["a $x b", "c", "$((1+1)) \\$x", "\"q\" 'r'", "`echo s`"])
            ),
            20 => format!(
                "$(for v in a b; do echo $v{}; done)",
                self.pick(&["", "c", "$x"])
            ),
            _ => format!("$(< /dev/null){word}"),
        }
    }

    /// A statement, most of them with statements inside.
    fn statement(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.used(0);
        }
        let depth = depth - 1;
        match self.roll(50) {
            0..=4 => self.used(depth),
            5 => format!("{{ {} }}", self.block(depth)),
            6 => format!("( {} )", self.story(depth, 2)),
            7 => format!(
                "if {}; then {} else {} fi",
                self.condition(),
                self.block(depth),
                self.block(depth)
            ),
            8 => format!("if {}; then {} fi", self.condition(), self.block(depth)),
            9..=11 => {
                let x = self.scalar();
                let words = format!("{} {}", self.word(depth), self.word(0));
                format!("for {x} in {words}; do {} done", self.looped(depth))
            }
            12 => format!("for {} do {} done", self.scalar(), self.looped(depth)),
            13 => format!("for ((i=0;i<2;i++)); do {} done", self.looped(depth)),
            14 => format!(
                "while read {} do {} done <<< {}",
                self.pick(&["-r x;", "x y;", "z;"]),
                self.looped(depth),
                self.word(0)
            ),
            15 => format!(
                "while IFS={} read -r x y; do {} done <<E\n{}\nE\n",
                self.pick(&["", ",", ":"]),
                self.looped(depth),
                self.pick(&["a b\nc d", "p:q\n\nr,s", "$x\n$y t", "  u  ", "$(echo v w)"])
            ),
            16 => {
                // No `continue`, or it would not end.
                let before = std::mem::replace(&mut self.in_loop, false);
                let text = format!(
                    "while {}; do {} break; done",
                    self.condition(),
                    self.block(depth)
                );
                self.in_loop = before;
                text
            }
            17 => format!(
                "case {} in {}) {};; {}) {};; esac",
                self.word(depth),
                self.pick(&["a", "b*", "*.x", "a|k*", "[0-9]", "$y", "\"$y\"", "''"]),
                self.story(depth, 1).trim_end(),
                self.pick(&["*", "?*", "/*", "*[a-z]"]),
                self.story(depth, 1).trim_end()
            ),
            18..=22 => self.function(depth),
            23 if self.callable > 0 => {
                let which = self.roll(self.callable);
                format!("f{which} {} {}", self.word(depth), self.word(0))
            }
            23..=24 => format!("eval {}", quoted(&self.story(depth, 2))),
            25 => format!(
                "eval \"{} {}\"",
                self.pick(&["cmd_a", "cmd_b q", "$x", "x=1; cmd_c $x"]),
                self.expansion(0).replace('"', "")
            ),
            26 => format!(
                "eval {} {}",
                self.used(0),
                self.pick(&["'$x'", "\\$y", "'\"$z\"'", "';' cmd_e q"])
            ),
            27..=28 => format!(
                "bash -c {} {} {}",
                quoted(&self.story(depth, 2)),
                self.word(0),
                self.word(0)
            ),
            29 => format!(
                "{}={} bash -c {}",
                self.scalar(),
                self.word(0),
                quoted(&self.story(0, 2))
            ),
            30 => format!("{} | {}", self.used(depth), self.used(0)),
            31 => format!(
                "{} | {{ read x; {} }}",
                self.pick(&["echo a b", "printf '%s\\n' \"$y\" c", "cat <<< $z"]),
                self.block(depth)
            ),
            32 => format!(
                "{x}={} {}",
                self.word(0),
                self.used(depth),
                x = self.scalar()
            ),
            33 => format!("{} <<E\n{}\nE\n", self.used(0), self.expansion(0)),
            34 => format!("! {}", self.used(depth)),
            35 => format!("command {}", self.used(depth)),
            36 => format!("trap {} EXIT", quoted(&self.used(0))),
            37 => format!("{}=({}); \"${{{0}[@]}}\"", self.array(), self.used(0)),
            38 => format!("set -- {}; \"$@\"", self.used(0)),
            39 => format!("{x}={}; ${x}", quoted(&self.used(0)), x = self.scalar()),
            40 => format!(
                "{}{}",
                self.pick(&[
                    "env cmd_w ",
                    "env Q=1 cmd_w ",
                    "timeout 5 cmd_w ",
                    "nice cmd_w ",
                    "nice -n 1 env cmd_w "
                ]),
                self.operands()
            ),
            41 => format!(
                "{} | xargs cmd_w {}",
                self.pick(&["echo p q", "printf '%s\\n' r s", "echo $x"]),
                self.number()
            ),
            42 if self.in_loop => self
                .pick(&[
                    "break",
                    "continue",
                    "[ -n \"$x\" ] && break",
                    "false || continue",
                ])
                .to_owned(),
            42 if self.in_function => self
                .pick(&["return", "return 1", "[ -z \"$x\" ] && return"])
                .to_owned(),
            42 => self
                .pick(&["exit", "[ -n \"$x\" ] && exit", "true || exit 1", "(exit)"])
                .to_owned(),
            43 => format!(
                "shopt -s expand_aliases\nalias q='{}'\nq {}",
                self.used(0).replace('\'', ""),
                self.word(0)
            ),
            44 => format!("{} && {}", self.used(depth), self.change(depth)),
            45..=48 => self.indirect(),
            _ => format!("{} || {}", self.change(depth), self.used(depth)),
        }
    }

    fn operands(&mut self) -> String {
        format!("{} {} {}", self.number(), self.word(0), self.word(0))
    }

    fn block(&mut self, depth: usize) -> String {
        let text = self.story(depth, 2);
        if text.ends_with('\n') {
            text
        } else {
            text + ";"
        }
    }

    fn looped(&mut self, depth: usize) -> String {
        let before = std::mem::replace(&mut self.in_loop, true);
        let text = self.block(depth);
        self.in_loop = before;
        text
    }

    fn function(&mut self, depth: usize) -> String {
        let name = self.functions;
        self.functions += 1;
        let (inside, looping) = (self.in_function, self.in_loop);
        (self.in_function, self.in_loop) = (true, false);
        let body = match self.roll(5) {
            0 => format!("{} \"$1\" \"$@\" $#;", self.used(0)),
            1 => format!("local x=$1; shift; {} \"$x\" \"$*\" $1;", self.used(0)),
            2 => format!("for v in \"$@\"; do {} \"$v\"; done;", self.used(0)),
            _ => self.block(depth),
        };
        (self.in_function, self.in_loop) = (inside, looping);
        self.callable = name + 1;
        let head = self.pick(&["f{n}() { {b} }", "function f{n} { {b} }", "f{n} () ( {b} )"]);
        let defined = head.replace("{n}", &name.to_string()).replace("{b}", &body);
        format!("{defined}; f{name} {} {}", self.word(depth), self.word(0))
    }

    // --- grammar ------------------------------------------------------------------------------

    fn simple(&mut self, depth: usize) -> String {
        let mut text = String::new();
        if self.roll(8) == 0 {
            text += &format!("x={} ", self.grammar_word(depth));
        }
        let program = self.pick(&PROGRAMS);
        text += &match self.roll(8) {
            0 => format!("'{program}'"),
            1 => program.replace('_', "\\_"),
            2 => program.replace('_', "\\\n_"),
            3 => program.replace("cmd", "c\"m\"d"),
            4 => program.replace("cmd", "$'\\x63md'"),
            _ => program.to_owned(),
        };
        text.push(' ');
        text += &self.number();
        for _ in 0..self.roll(3) {
            text += " ";
            text += &self.grammar_word(depth);
        }
        if self.roll(8) == 0 {
            text += self.pick(&[
                " 2>&1",
                " </dev/null",
                " >/dev/null",
                " 2>/dev/null",
                " <<< x",
            ]);
        }
        text
    }

    fn grammar_word(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self
                .pick(&[
                    "a", "'b c'", "\"d e\"", "{f,g}", "$h", "i#j", "\\;", "''", "*", "~", "$'\\n'",
                    "if", "}", "k=l",
                ])
                .to_owned();
        }
        let depth = depth - 1;
        match self.roll(18) {
            0 => format!("$({})", self.list(depth)),
            1 => format!("\"$({})\"", self.list(depth)),
            2 => format!("${{x:-$({})}}", self.list(depth)),
            3 => format!("\"${{x:-$({})}}\"", self.list(depth)),
            4 => format!("`{}`", self.list(0)),
            5 => format!("\"`{}`\"", self.simple(0).replace('"', "")),
            6 => format!("$((1+$({})))", self.list(depth)),
            7 => format!("$( ({}) )", self.list(depth)),
            8 => format!("$(({}) )", self.simple(0)),
            9 => format!("a{}b", self.grammar_word(depth)),
            10 => format!(
                "{{{},{}}}",
                self.grammar_word(depth),
                self.grammar_word(depth)
            ),
            11 => format!("\"${{x:-'$({})'}}\"", self.list(depth)),
            12 => format!("$(case x in x) {};; esac)", self.list(depth)),
            13 => format!("`cmd_a {} \\`cmd_b {}\\``", self.number(), self.number()),
            14 => format!("<({})", self.list(depth)),
            _ => self.grammar_word(0),
        }
    }

    fn command(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.simple(0);
        }
        let depth = depth - 1;
        match self.roll(25) {
            0 => format!("({})", self.list(depth)),
            1 => format!("( ({}) )", self.list(depth)),
            2 => format!("(({}) )", self.list(depth)),
            3 => format!("{{ {}; }}", self.list(depth)),
            4 => format!(
                "if {}; then {}; else {}; fi",
                self.list(depth),
                self.list(depth),
                self.list(depth)
            ),
            5 => format!(
                "for x in {} b; do {}; done",
                self.grammar_word(depth),
                self.list(depth)
            ),
            6 => format!("for x in a; {{ {}; }}", self.list(depth)),
            7 => format!(
                "case {} in (a|b) {};; *) {};; esac",
                self.grammar_word(depth),
                self.list(depth),
                self.list(depth)
            ),
            8 => format!(
                "[[ -n {} && a == {} ]]",
                self.grammar_word(depth),
                self.grammar_word(depth)
            ),
            9 => format!("g() {{ {}; }}; g", self.list(depth)),
            10 => format!("! {}", self.simple(depth)),
            11 => format!("time {}", self.simple(depth)),
            12 => format!(
                "cmd_a {} <<E\n$({})\n`cmd_b`\nE\n",
                self.number(),
                self.list(0)
            ),
            13 => format!("cmd_a {} <<'E'\n$({})\nE\n", self.number(), self.list(0)),
            14 => format!(
                "cmd_a {} <<-E\n\t$({})\n\tE\n",
                self.number(),
                self.simple(0)
            ),
            15 => format!("x=({} $({}))", self.grammar_word(depth), self.list(depth)),
            16 => format!("eval {}", quoted(&self.list(0))),
            17 => format!(
                "while {}; do {}; break; done",
                self.list(depth),
                self.list(depth)
            ),
            18 => format!("(( x = $({}) ))", self.simple(depth)),
            19 => format!("x[$({})]=1", self.simple(depth)),
            20 => format!("for ((i=0;i<1;i++)); do {}; done", self.list(depth)),
            21 => format!("command {}", self.simple(depth)),
            22 => format!("trap {} EXIT", quoted(&self.simple(0))),
            23 => format!(
                "until {}; do {}; break; done",
                self.list(depth),
                self.list(depth)
            ),
            _ => self.simple(depth),
        }
    }

    fn list(&mut self, depth: usize) -> String {
        let mut text = self.command(depth);
        for _ in 0..self.roll(2) {
            let joint = self.pick(&[";", "&&", "||", "|", "\n", " # cmd_f\n", " && ", "|&"]);
            // A body must end its line before anything follows.
            if text.ends_with('\n') && joint != "\n" {
                continue;
            }
            text += joint;
            text += &self.command(depth);
        }
        text
    }
}

/// A text as one word.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
