//! Lines of `cmd` as lines of a shell that does the same.
//!
//! `if` and `for` are read in their simple forms: every branch is taken, a loop runs over what its set
//! says. A header that is not understood stays as it is, which no shell can read: a question.

use super::{deleting, is_switch, is_switch_of};
use crate::code::slashed;

/// Marks a sign that is a redirection, which no word begins with.
const REDIRECTION: char = '\u{1}';
/// Stands where quotes have just begun.
const QUOTE: char = '\u{4}';
/// Stands for quotes with nothing in them.
const EMPTY: char = '\u{5}';
/// Stand around the letter of a loop's variable, in place of `%i` and `%~fi`.
const VARIABLE: [char; 2] = ['\u{2}', '\u{3}'];

/// A line of `cmd` as the line of a shell.
pub(super) fn translated(line: &str) -> String {
    within(line, 0)
}

/// A line that stands in so many others.
fn within(line: &str, depth: usize) -> String {
    let mut batch = Batch {
        depth,
        letters: line.chars().peekable(),
        made: String::with_capacity(line.len()),
        words: Vec::new(),
        word: String::new(),
        loops: vec![Vec::new()],
    };
    batch.read();
    batch.made
}

struct Batch<'l> {
    depth: usize,
    letters: std::iter::Peekable<std::str::Chars<'l>>,
    made: String,
    words: Vec<String>,
    word: String,
    /// The variables of loops that are open, for each bracket.
    loops: Vec<Vec<char>>,
}

impl Batch<'_> {
    fn read(&mut self) {
        let mut quoted = false;
        while let Some(letter) = self.letters.next() {
            match letter {
                '"' if quoted && self.word.ends_with(QUOTE) => {
                    // Nothing in quotes is still a word.
                    self.word.pop();
                    self.word.push(EMPTY);
                    quoted = false;
                }
                '"' => {
                    quoted = !quoted;
                    if quoted {
                        self.word.push(QUOTE);
                    }
                }
                '^' if !quoted => self.word.extend(self.letters.next()),
                '(' if !quoted => self.open(),
                ')' if !quoted => self.close(),
                '\n' if !quoted => {
                    self.finish();
                    self.made.push('\n');
                    self.end_loops();
                }
                '&' | '|' if !quoted => {
                    self.finish();
                    let double = self.letters.next_if_eq(&letter).is_some();
                    self.made.push_str(match (letter, double) {
                        ('&', true) => " && ",
                        ('|', true) => " || ",
                        ('|', false) => " | ",
                        _ => "\n",
                    });
                }
                '>' | '<' if !quoted => {
                    self.end_word();
                    let sign = match self.letters.next_if_eq(&letter) {
                        Some(_) => ">>".to_owned(),
                        None => letter.to_string(),
                    };
                    self.words.push(format!("{REDIRECTION}{sign}"));
                }
                letter if letter.is_whitespace() && !quoted => self.end_word(),
                letter => {
                    if self.word.ends_with(QUOTE) {
                        self.word.pop();
                    }
                    self.word.push(letter);
                }
            }
        }
        self.finish();
        // A line that ends in what ties it to nothing.
        let made = self.made.trim_end_matches(['&', '|', ' ', '\n']).len();
        self.made.truncate(made);
        while !self.loops.is_empty() {
            self.end_loops();
            self.loops.pop();
        }
        self.made = self.made.trim().to_owned();
    }

    fn end_word(&mut self) {
        if !self.word.is_empty() {
            self.words.push(std::mem::take(&mut self.word));
        }
    }

    /// Adds the command that was read.
    fn finish(&mut self) {
        self.end_word();
        let words: Vec<String> = std::mem::take(&mut self.words)
            .iter()
            .map(|word| self.with_variables(word))
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.made.push_str(&command(&words));
    }

    /// A bracket: the set of a loop, or commands.
    fn open(&mut self) {
        self.end_word();
        let loops: usize = self.loops.iter().map(Vec::len).sum();
        let header = Header::of(&self.words).filter(|_| loops < MAX_LOOPS);
        let Some(header) = header.filter(|_| self.depth < MAX_DEPTH) else {
            self.finish();
            self.made.push('\n');
            // Each bracket is a level of its own; nobody closes more than so many.
            if self.loops.len() < MAX_BRACKETS {
                self.loops.push(Vec::new());
            }
            return;
        };
        self.words.clear();
        let mut set = String::new();
        let mut quoted = false;
        for letter in self.letters.by_ref() {
            match letter {
                '"' => quoted = !quoted,
                ')' if !quoted => break,
                letter => set.push(letter),
            }
        }
        let set = self.with_variables(&set);
        if header.runs
            && let Some(code) = set.trim().strip_prefix(['\'', '`'])
        {
            let code = code.trim_end().trim_end_matches(['\'', '`']);
            self.made.push_str(&within(code, self.depth + 1));
            self.made.push('\n');
        }
        let name = header.variable;
        let items = header.items(&set);
        self.made
            .push_str(&format!("for W_{name} in {items}; do :\n"));
        if let Some(open) = self.loops.last_mut() {
            open.push(name);
        }
    }

    fn close(&mut self) {
        self.finish();
        self.made.push('\n');
        self.end_loops();
        if self.loops.len() > 1 {
            self.loops.pop();
        }
    }

    /// Ends the loops whose body ends here.
    fn end_loops(&mut self) {
        let Some(open) = self.loops.last_mut() else {
            return;
        };
        for _ in open.drain(..) {
            self.made.push_str("\ndone\n");
        }
    }

    /// A word with the variables of the loops around it marked.
    fn with_variables(&self, word: &str) -> String {
        let mut word = word.to_owned();
        if !word.contains('%') {
            return word;
        }
        for name in self.loops.iter().flatten() {
            let mut made = String::with_capacity(word.len());
            let mut rest = word.as_str();
            while let Some((front, after)) = rest.split_once('%') {
                made.push_str(front);
                let inner = after.strip_prefix('%').unwrap_or(after);
                let modified = inner.strip_prefix('~').map(|inner| {
                    let letters = |letter: char| letter.is_ascii_alphabetic();
                    let end = inner.find(|letter| !letters(letter)).unwrap_or(inner.len());
                    inner.split_at_checked(end).unwrap_or((inner, ""))
                });
                let behind = match modified {
                    Some((letters, behind)) if letters.ends_with(*name) => Some(behind),
                    Some(_) => None,
                    None => inner.strip_prefix(*name),
                };
                match behind {
                    Some(behind) => {
                        let [begin, end] = VARIABLE;
                        made.extend([begin, *name, end]);
                        rest = behind;
                    }
                    None => {
                        made.push('%');
                        rest = after;
                    }
                }
            }
            made.push_str(rest);
            word = made;
        }
        word
    }
}

/// Brackets inside of brackets that are told apart; loops in deeper ones end with those.
const MAX_BRACKETS: usize = 64;
/// Loops inside of loops: each is looked for in every word. A header of one more is not read, which
/// is a question.
const MAX_LOOPS: usize = 16;
/// Lines inside of lines (`for /f %i in ('…')`): each is read again at every level. The same holds.
const MAX_DEPTH: usize = 4;

/// `for [/r path] %i in`.
struct Header {
    variable: char,
    /// Where files are looked for below.
    below: Option<String>,
    /// The set is a command whose output is gone through, or a file.
    runs: bool,
    counts: bool,
}

impl Header {
    fn of(words: &[String]) -> Option<Self> {
        let first = words.first()?.trim_start_matches('@');
        let at = match first.to_ascii_lowercase().as_str() {
            "for" => 1,
            // In the body of another.
            "do" if words
                .get(1)
                .is_some_and(|word| word.eq_ignore_ascii_case("for")) =>
            {
                2
            }
            _ => return None,
        };
        let [middle @ .., variable, last] = words.get(at..)? else {
            return None;
        };
        let variable = variable.strip_prefix('%')?;
        let variable = variable.strip_prefix('%').unwrap_or(variable);
        let mut letters = variable.chars();
        let variable = letters
            .next()
            .filter(|letter| letter.is_ascii_alphabetic())?;
        if letters.next().is_some() || !last.eq_ignore_ascii_case("in") {
            return None;
        }
        let is = |letter: &str| middle.iter().any(|word| word.eq_ignore_ascii_case(letter));
        let path = middle.iter().find(|word| !word.starts_with('/'));
        let here = || ".".to_owned();
        let below = is("/r").then(|| path.map_or_else(here, |path| escaped(&slashed(path))));
        Some(Self {
            variable,
            below,
            runs: is("/f"),
            counts: is("/l"),
        })
    }

    /// What the variable holds, as words of a shell.
    fn items(&self, set: &str) -> String {
        if self.runs {
            return "\"$WUNKNOWN\"".to_owned();
        }
        if self.counts {
            return "1".to_owned();
        }
        let items = set.split([' ', '\t', ',', ';', '=']);
        let items = items.filter(|item| !item.is_empty());
        let items = items.map(|item| escaped(&slashed(item)));
        let items: Vec<String> = match &self.below {
            Some(below) => items
                .map(|item| {
                    let name = item.replace('*', "\\*").replace('?', "\\?");
                    format!("$(find {below} -name {name})")
                })
                .collect(),
            None => items.collect(),
        };
        items.join(" ")
    }
}

/// One command as a shell writes it.
fn command(words: &[&str]) -> String {
    let mut words = words;
    let (name, first, rest) = loop {
        let Some((first, rest)) = words.split_first() else {
            return String::new();
        };
        let name = first.trim_start_matches('@').to_ascii_lowercase();
        match name.as_str() {
            "" | "call" | "start" | "else" | "do" => words = rest,
            "if" => match behind_condition(rest) {
                Some(behind) => words = behind,
                None => return words.join(" "),
            },
            _ => break (name, first, rest),
        }
    };
    let given = |letter: char| rest.iter().any(|word| is_switch_of(word, letter));
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    let (program, own): (Vec<&str>, bool) = match name {
        "del" | "erase" | "rd" | "rmdir" => (deleting(name, given).to_vec(), true),
        "copy" | "xcopy" | "robocopy" => (vec!["cp", "-r"], true),
        "move" | "ren" | "rename" => (vec!["mv"], true),
        "type" | "more" => (vec!["cat"], true),
        "md" | "mkdir" => (vec!["mkdir"], true),
        "mklink" => (vec!["ln", "-s"], true),
        "cd" | "chdir" | "pushd" => (vec!["cd"], true),
        "dir" => (vec!["ls"], true),
        "set" | "setlocal" | "endlocal" | "rem" | "title" | "cls" | "ver" | "vol" => {
            (vec!["true"], true)
        }
        _ => (vec![], false),
    };
    let mut line: Vec<String> = program.iter().map(|word| (*word).to_owned()).collect();
    if !own {
        line.push(escaped(&slashed(first)));
    }
    let mut redirected = false;
    for word in rest.iter().copied() {
        if let Some(sign) = word.strip_prefix(REDIRECTION) {
            line.push(sign.to_owned());
            redirected = true;
        } else if own && is_switch(word) {
        } else if redirected && word.eq_ignore_ascii_case("nul") {
            line.push("/dev/null".to_owned());
        } else if own || redirected {
            line.push(escaped(&slashed(word)));
            redirected = false;
        } else {
            line.push(escaped(word));
        }
    }
    line.join(" ")
}

/// What stands behind the condition of an `if`, whichever way that goes.
fn behind_condition<'w, 't>(words: &'w [&'t str]) -> Option<&'w [&'t str]> {
    let is = |word: Option<&&str>, known: &str| {
        word.is_some_and(|word| word.eq_ignore_ascii_case(known))
    };
    let mut rest = words;
    while is(rest.first(), "/i") || is(rest.first(), "not") {
        rest = rest.get(1..)?;
    }
    let (first, second) = (rest.first()?, rest.get(1));
    let compares = ["==", "equ", "neq", "lss", "leq", "gtr", "geq"];
    let one = ["exist", "errorlevel", "defined", "cmdextversion"];
    if one.iter().any(|known| is(Some(first), known)) {
        return rest.get(2..);
    }
    if compares.iter().any(|known| is(second, known)) {
        return rest.get(3..);
    }
    if second.is_some_and(|second| second.starts_with("==")) || first.ends_with("==") {
        return rest.get(2..);
    }
    rest.get(1..).filter(|_| first.contains("=="))
}

/// A word as a shell writes it: wild signs stay wild, and `%NAME%` is a variable.
fn escaped(word: &str) -> String {
    let mut made = String::with_capacity(word.len());
    let mut name = false;
    let count = word.matches('%').count();
    for (at, part) in word.split('%').enumerate() {
        let is_name = name && at < count && !part.is_empty();
        let plain = part
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if is_name && plain {
            let variable = match part.to_ascii_lowercase().as_str() {
                "userprofile" | "homepath" => "\"$HOME\"".to_owned(),
                "systemroot" | "windir" => "/Windows".to_owned(),
                "systemdrive" => "/".to_owned(),
                "temp" | "tmp" => "/tmp".to_owned(),
                _ => format!("\"$W{part}\""),
            };
            made.push_str(&variable);
            name = false;
        } else {
            for letter in part.chars() {
                if letter == QUOTE || letter == EMPTY {
                    continue;
                }
                let [begin, end] = VARIABLE;
                if letter == begin || letter == end {
                    made.push_str(match letter == begin {
                        true => "\"$W_",
                        false => "\"",
                    });
                    continue;
                }
                let plain = letter.is_alphanumeric() || "_-./:@+*?~=,".contains(letter);
                if !plain {
                    made.push('\\');
                }
                made.push(letter);
            }
            name = true;
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::translated;

    /// The lines of the translation without what only holds a loop together.
    fn lines(line: &str) -> Vec<String> {
        let made = translated(line);
        let lines = made.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    }

    #[test]
    fn every_branch_of_a_condition_is_taken() {
        assert_eq!(lines("if exist x del x"), ["rm x"]);
        assert_eq!(lines("if /i not \"%1\"==\"\" rd /s x"), ["rm -r x"]);
        assert_eq!(lines("if a == b del x"), ["rm x"]);
        assert_eq!(lines("if a== b del x"), ["rm x"]);
        assert_eq!(lines("if %n% gtr 3 del x"), ["rm x"]);
        assert_eq!(
            lines("if defined X (del x) else (del y & del z)"),
            ["rm x", "rm y", "rm z"]
        );
        assert_eq!(lines("if exist a if not errorlevel 1 del x"), ["rm x"]);
    }

    #[test]
    fn a_loop_runs_over_its_set() {
        assert_eq!(
            lines("for %i in (a b*.txt) do del %i"),
            ["for W_i in a b*.txt; do :", "rm \"$W_i\"", "done"]
        );
        assert_eq!(
            lines("for /r D:\\x %%f in (*.log) do (del \"%%~ff\" & echo done)"),
            [
                "for W_f in $(find /x -name \\*.log); do :",
                "rm \"$W_f\"",
                "echo done",
                "done"
            ]
        );
        let run = lines("for /f \"tokens=*\" %i in ('dir /b') do rd /s %i");
        assert_eq!(run[0], "ls");
        assert_eq!(run[2], "rm -r \"$W_i\"");
    }

    #[test]
    fn what_is_not_understood_is_left_to_be_refused() {
        assert!(translated("if maybe del x").starts_with("if "));
        assert!(translated("for %ii in (a) do del x").starts_with("for "));
        let deep = "for %a in (x) do ".repeat(40_000) + "del x";
        assert!(crate::shell::commands(&translated(&deep)).is_err());
        let nested = "for /f %a in ('".repeat(40_000);
        assert!(crate::shell::commands(&translated(&nested)).is_err());
        translated(&"call if exist x ".repeat(40_000));
    }
}
