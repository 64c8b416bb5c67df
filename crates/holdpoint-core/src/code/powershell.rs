//! PowerShell: statements become the line of a shell that does the same.
//!
//! `Remove-Item -Rec -Fo x` is `rm -r x`, `iwr URL | iex` is `curl URL | sh`, and a program is
//! itself. The line is judged as any other, so there is one set of rules for both. Cmdlets are
//! known by name and alias, parameters by any beginning of theirs. A cmdlet nobody has described
//! and a method whose doing is not known make the reading opaque.

use super::{CodeEffect, CodeEffectKind, Language, Limits, Operand, Reading, Unfollowed};

/// Brackets inside of brackets.
const MAX_NESTING: usize = 64;

pub(super) fn read(code: &str, limits: &Limits) -> Reading {
    let mut reader = Reader {
        limits,
        rest: code,
        reading: Reading::default(),
        line: String::new(),
    };
    reader.statements(None, 0);
    let Reader {
        mut reading, line, ..
    } = reader;
    if !line.trim().is_empty() {
        let span = 0..code.len();
        reading.effects.push(CodeEffect::plain(
            CodeEffectKind::Shell(Operand::Known(line)),
            span,
        ));
    }
    reading
}

/// A word of a command.
#[derive(Clone, Debug, Default)]
struct Word {
    /// How a shell writes it.
    shell: String,
    /// What it says, if nothing in it depends on anything.
    known: Option<String>,
    /// It began with a quote: it is a text, not a command or a parameter.
    quoted: bool,
    /// It is a block in braces, which was read already.
    block: bool,
    /// It is a redirection, as a shell writes it.
    redirection: bool,
}

/// A command of a pipeline.
#[derive(Default)]
struct Command {
    words: Vec<Word>,
}

struct Reader<'c, 'l> {
    limits: &'l Limits,
    rest: &'c str,
    reading: Reading,
    /// The shell's line so far.
    line: String,
}

impl Reader<'_, '_> {
    /// Reads statements up to a closing bracket.
    fn statements(&mut self, closes: Option<char>, depth: usize) {
        if depth > MAX_NESTING {
            self.reading.note(Unfollowed::TooDeep);
            self.rest = "";
            return;
        }
        loop {
            let mut pipeline: Vec<Command> = Vec::new();
            let (ended, joint) = self.pipeline(&mut pipeline, closes, depth);
            self.translate(&pipeline, joint);
            if ended {
                return;
            }
        }
    }

    /// Reads one pipeline; says whether the closing bracket or the end came behind it, and what
    /// ties it to the next.
    fn pipeline(
        &mut self,
        pipeline: &mut Vec<Command>,
        closes: Option<char>,
        depth: usize,
    ) -> (bool, &'static str) {
        let mut command = Command::default();
        let mut joint = "\n";
        let ended = loop {
            if !self.limits.token() {
                self.reading.note(Unfollowed::TooLong);
                self.rest = "";
            }
            self.skip_blanks();
            let mut letters = self.rest.chars();
            let Some(letter) = letters.next() else {
                if closes.is_some() {
                    self.reading.note(Unfollowed::Unreadable);
                }
                break true;
            };
            let next = letters.next();
            match letter {
                '\n' | '\r' | ';' => {
                    self.advance(1);
                    break false;
                }
                '|' if next == Some('|') => {
                    self.advance(2);
                    joint = " || ";
                    break false;
                }
                '&' if next == Some('&') => {
                    self.advance(2);
                    joint = " && ";
                    break false;
                }
                '|' => {
                    self.advance(1);
                    pipeline.push(std::mem::take(&mut command));
                    self.skip_lines();
                }
                // The call operator, or a job in the background.
                '&' if command.words.is_empty() => {
                    self.advance(1);
                    command.words.push(Word {
                        shell: "&".to_owned(),
                        known: Some("&".to_owned()),
                        ..Word::default()
                    });
                }
                '&' => {
                    self.advance(1);
                    break false;
                }
                ')' | '}' | ']' if closes == Some(letter) => {
                    self.advance(1);
                    break true;
                }
                ')' | '}' => {
                    self.reading.note(Unfollowed::Unreadable);
                    self.advance(1);
                }
                _ => {
                    let word = self.word(depth);
                    command.words.push(word);
                }
            }
        };
        pipeline.push(command);
        (ended, joint)
    }

    fn advance(&mut self, letters: usize) {
        let mut rest = self.rest.chars();
        for _ in 0..letters {
            rest.next();
        }
        self.rest = rest.as_str();
    }

    fn skip_blanks(&mut self) {
        loop {
            let blanks = |letter: char| letter != '\n' && letter.is_whitespace();
            self.rest = self.rest.trim_start_matches(blanks);
            if let Some(rest) = self.rest.strip_prefix("`\r\n") {
                self.rest = rest;
            } else if let Some(rest) = self.rest.strip_prefix("`\n") {
                self.rest = rest;
            } else if let Some(rest) = self.rest.strip_prefix("<#") {
                match rest.split_once("#>") {
                    Some((_, after)) => self.rest = after,
                    None => self.rest = "",
                }
            } else if self.rest.starts_with('#') {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.rest = self.rest.get(end..).unwrap_or_default();
            } else {
                return;
            }
        }
    }

    fn skip_lines(&mut self) {
        loop {
            self.skip_blanks();
            match self.rest.strip_prefix(['\n', '\r']) {
                Some(rest) => self.rest = rest,
                None => return,
            }
        }
    }

    /// Reads a word; there is one.
    fn word(&mut self, depth: usize) -> Word {
        if let Some(word) = self.redirection(depth) {
            return word;
        }
        self.plain(depth)
    }

    /// Reads a word that is no redirection.
    fn plain(&mut self, depth: usize) -> Word {
        let mut word = Word {
            known: Some(String::new()),
            quoted: self.rest.starts_with(['\'', '"']) || self.rest.starts_with("@'"),
            ..Word::default()
        };
        let before = self.rest.len();
        loop {
            let mut letters = self.rest.chars();
            let Some(letter) = letters.next() else { break };
            match letter {
                '\'' => self.single(&mut word),
                '"' => self.double(&mut word, depth),
                '@' if self.rest.starts_with("@'") || self.rest.starts_with("@\"") => {
                    self.here_string(&mut word);
                }
                '@' if self.rest.starts_with("@(") || self.rest.starts_with("@{") => {
                    self.advance(1);
                }
                '`' => {
                    self.advance(1);
                    if let Some(escaped) = self.rest.chars().next() {
                        word.push(escaped);
                        self.advance(1);
                    }
                }
                '$' => self.variable(&mut word, depth),
                '(' => {
                    let method = word.shell.rsplit('.').next().map(str::to_ascii_lowercase);
                    let called = !word.shell.is_empty();
                    self.bracket(&mut word, depth, method.filter(|_| called));
                }
                '{' => {
                    self.advance(1);
                    self.aside('}', depth);
                    word.block = true;
                    word.known = None;
                }
                '[' if word.shell.is_empty() => self.kind(&mut word, depth),
                ' ' | '\t' | '\n' | '\r' | ';' | '|' | '&' | ')' | '}' => break,
                '>' | '<' => break,
                ',' => {
                    self.advance(1);
                    // A list: each is a word of its own to a shell.
                    word.known = None;
                    word.shell.push(' ');
                    self.skip_lines();
                }
                letter if letter.is_whitespace() => break,
                letter => {
                    word.push(letter);
                    self.advance(letter.len_utf8().min(1));
                }
            }
        }
        if self.rest.len() == before {
            // Nothing here is a word; it is left out so that reading goes on.
            self.advance(1);
        }
        word
    }

    /// `> x`, `2>&1`, `*> $null`.
    fn redirection(&mut self, depth: usize) -> Option<Word> {
        let front = self
            .rest
            .trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '*');
        let stream = self.rest.len() - front.len();
        if stream > 1 || !front.starts_with('>') {
            return None;
        }
        let stream = match self.rest.get(..stream) {
            Some("" | "*" | "1") | None => "",
            Some("2") => "2",
            Some(_) => "3",
        };
        let (sign, rest) = match front.strip_prefix(">>") {
            Some(rest) => (">>", rest),
            None => (">", front.strip_prefix('>').unwrap_or_default()),
        };
        self.rest = rest;
        let mut shell = format!("{stream}{sign}");
        if let Some(rest) = self.rest.strip_prefix('&') {
            self.rest = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
            shell = "2>&1".to_owned();
        } else {
            self.skip_blanks();
            if self.rest.to_ascii_lowercase().starts_with("$null") {
                self.advance("$null".len());
                shell.push_str("/dev/null");
            } else if self.rest.is_empty() {
                return None;
            } else {
                let target = self.plain(depth);
                shell.push_str(target.path().trim());
            }
        }
        Some(Word {
            shell,
            redirection: true,
            ..Word::default()
        })
    }

    fn single(&mut self, word: &mut Word) {
        self.advance(1);
        loop {
            let Some(end) = self.rest.find('\'') else {
                self.reading.note(Unfollowed::Unreadable);
                self.rest = "";
                return;
            };
            word.push_str(self.rest.get(..end).unwrap_or_default());
            self.rest = self.rest.get(end + 1..).unwrap_or_default();
            if !self.rest.starts_with('\'') {
                return;
            }
            word.push('\'');
            self.advance(1);
        }
    }

    fn double(&mut self, word: &mut Word, depth: usize) {
        self.advance(1);
        loop {
            let Some(letter) = self.rest.chars().next() else {
                self.reading.note(Unfollowed::Unreadable);
                return;
            };
            match letter {
                '"' => {
                    self.advance(1);
                    if !self.rest.starts_with('"') {
                        return;
                    }
                    word.push('"');
                    self.advance(1);
                }
                '`' => {
                    self.advance(1);
                    if let Some(escaped) = self.rest.chars().next() {
                        word.push(match escaped {
                            'n' => '\n',
                            't' => '\t',
                            other => other,
                        });
                        self.advance(1);
                    }
                }
                '$' => self.variable(word, depth),
                letter => {
                    word.push(letter);
                    self.advance(1);
                }
            }
        }
    }

    /// `@'` to `'@` at the beginning of a line. One in double quotes may depend on anything.
    fn here_string(&mut self, word: &mut Word) {
        let (end, fixed) = match self.rest.starts_with("@'") {
            true => ("\n'@", true),
            false => ("\n\"@", false),
        };
        self.advance(2);
        let Some((text, after)) = self.rest.split_once(end) else {
            self.reading.note(Unfollowed::Unreadable);
            self.rest = "";
            return;
        };
        word.push_str(text.trim_start_matches(['\r', '\n']));
        if !fixed && text.contains('$') {
            word.unknown("here");
        }
        self.rest = after;
    }

    fn variable(&mut self, word: &mut Word, depth: usize) {
        self.advance(1);
        if self.rest.starts_with('(') {
            self.bracket(word, depth, None);
            return;
        }
        let braced = self.rest.starts_with('{');
        if braced {
            self.advance(1);
        }
        let inside = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | ':' | '?');
        let end = match braced {
            true => self.rest.find('}').unwrap_or(self.rest.len()),
            false => {
                let end = |letter: char| !inside(letter);
                self.rest.find(end).unwrap_or(self.rest.len())
            }
        };
        let name = self.rest.get(..end).unwrap_or_default();
        // `$x::y` is a static member, and `"$a:"` ends a name.
        let name = name.trim_end_matches(':');
        self.rest = self.rest.get(name.len()..).unwrap_or_default();
        if braced {
            self.advance(1);
        }
        let lower = name.to_ascii_lowercase();
        match lower.as_str() {
            "" => word.push('$'),
            "home" | "env:home" | "env:userprofile" | "env:homepath" => {
                word.known = None;
                word.shell.push_str("\"$HOME\"");
            }
            "pwd" | "psscriptroot" => word.push('.'),
            "env:temp" | "env:tmp" | "env:tmpdir" => word.push_str("/tmp"),
            "env:systemroot" | "env:windir" => word.push_str("/Windows"),
            "env:systemdrive" => word.push_str("C:"),
            "env:programfiles" => word.push_str("/Program Files"),
            "null" => {}
            "true" | "false" => word.push_str(&lower),
            _ => {
                let plain = lower.strip_prefix("env:").and_then(|_| name.get(4..));
                let letters = plain.unwrap_or("PSVARIABLE");
                word.unknown(letters);
            }
        }
    }

    /// `(…)`: its output is a part of the word. What stands before it may be a method.
    fn bracket(&mut self, word: &mut Word, depth: usize, method: Option<String>) {
        self.advance(1);
        if let Some(method) = &method {
            if method.starts_with("download") || method.starts_with("upload") {
                // What a web client fetches.
                let inner = self.inside(')', depth);
                word.shell = format!("\"$(curl {})\"", inner.replace('\n', " ").trim());
                word.known = None;
                return;
            }
            if !is_harmless_method(method) {
                self.reading.note(Unfollowed::DynamicName);
            }
        }
        let inner = self.inside(')', depth);
        let inner = inner.trim();
        if inner.is_empty() {
            return;
        }
        word.known = None;
        word.shell.push_str(&format!("\"$({inner})\""));
    }

    /// Reads to a closing bracket; what runs there is the text.
    fn inside(&mut self, closes: char, depth: usize) -> String {
        let outer = std::mem::take(&mut self.line);
        self.statements(Some(closes), depth + 1);
        std::mem::replace(&mut self.line, outer)
    }

    /// A block runs as statements before the command it stands in.
    fn aside(&mut self, closes: char, depth: usize) {
        let inner = self.inside(closes, depth);
        if !inner.trim().is_empty() {
            self.line.push_str(inner.trim());
            self.line.push('\n');
        }
    }

    /// `[IO.File]::Delete(…)`, `[int]`, `[Parameter()]`.
    fn kind(&mut self, word: &mut Word, depth: usize) {
        let Some((kind, after)) = self.rest.split_once(']') else {
            self.reading.note(Unfollowed::Unreadable);
            self.rest = "";
            return;
        };
        self.rest = after;
        if !after.starts_with("::") {
            return;
        }
        let kind = kind.trim_start_matches('[').to_ascii_lowercase();
        let kind = kind.strip_prefix("system.").unwrap_or(&kind);
        word.known = None;
        let member: String = after
            .chars()
            .skip(2)
            .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
            .collect();
        self.advance(2 + member.chars().count());
        let member = member.to_ascii_lowercase();
        let program = match (kind, member.as_str()) {
            ("io.file", "delete") => Some("rm"),
            ("io.directory", "delete") => Some("rm -r"),
            ("io.file", "readalltext" | "readalllines" | "readallbytes" | "openread") => {
                Some("cat")
            }
            ("io.file", "move" | "copy") | ("io.directory", "move") => Some("mv"),
            _ => None,
        };
        if self.rest.starts_with('(') {
            match program {
                Some(program) => {
                    self.advance(1);
                    let inner = self.inside(')', depth);
                    let words = inner.replace('\n', " ");
                    word.shell = format!("\"$({program} {})\"", words.trim());
                }
                None => {
                    if !is_harmless_kind(kind) {
                        self.reading.note(Unfollowed::DynamicName);
                    }
                    self.advance(1);
                    self.aside(')', depth);
                    word.shell.push_str("''");
                }
            }
        } else {
            word.shell.push_str("''");
        }
    }

    /// Adds what a pipeline does to the shell's line.
    fn translate(&mut self, pipeline: &[Command], joint: &str) {
        let mut made: Vec<String> = Vec::new();
        for (at, command) in pipeline.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|before| pipeline.get(before));
            let line = self.command(command, before, at > 0);
            if !line.is_empty() {
                made.push(line);
            }
        }
        let line = made.join(" | ");
        if line.is_empty() {
            return;
        }
        if !self.limits.copies(line.len()) {
            self.reading.note(Unfollowed::TooLong);
            return;
        }
        self.line.push_str(&line);
        self.line.push_str(match joint {
            "\n" => "\n",
            joint => joint,
        });
    }

    /// The shell's counterpart of a command.
    fn command(&mut self, command: &Command, before: Option<&Command>, piped: bool) -> String {
        let mut words: &[Word] = &command.words;
        let mut called = false;
        // `$x = …`, `return …`, `& …`.
        loop {
            let known = |word: &Word| word.known.clone().map(|known| known.to_ascii_lowercase());
            match words {
                [_, sign, rest @ ..]
                    if sign.known.as_deref().is_some_and(is_assignment) && !sign.quoted =>
                {
                    words = rest;
                }
                [first, rest @ ..]
                    if !first.quoted && known(first).as_deref().is_some_and(is_prefix) =>
                {
                    called |= known(first).as_deref() == Some("&");
                    words = rest;
                }
                _ => break,
            }
        }
        let redirections: String = words
            .iter()
            .filter(|word| word.redirection)
            .map(|word| format!(" {}", word.shell))
            .collect();
        let words: Vec<&Word> = words.iter().filter(|word| !word.redirection).collect();
        let Some((program, arguments)) = words.split_first() else {
            return match redirections.is_empty() {
                true => String::new(),
                false => format!("true{redirections}"),
            };
        };
        if program.block {
            return String::new();
        }
        let Some(name) = program
            .known
            .as_deref()
            .filter(|_| !program.quoted || called)
        else {
            // A value: it goes to the next command, or is shown. What a bracket runs runs.
            return match called {
                true => format!("{} {}{redirections}", program.shell, shown(arguments)),
                false => {
                    let shell = program.shell.trim();
                    let texts = shown(arguments);
                    format!("echo {shell} {texts}{redirections}")
                }
            };
        };
        let lower = name.to_ascii_lowercase();
        let lower = lower.strip_suffix(".exe").unwrap_or(&lower);
        if called && name.contains(['/', '\\']) || is_script(lower) {
            let path = program.path();
            return match is_script(lower) {
                true => format!("pwsh -File {path} {}{redirections}", shown(arguments)),
                false => format!("{path} {}{redirections}", shown(arguments)),
            };
        }
        let given = Given::of(arguments);
        let line = self.cmdlet(lower, name, &given, before, piped, arguments);
        match line.is_empty() {
            true if redirections.is_empty() => line,
            true => format!("true{redirections}"),
            false => format!("{line}{redirections}"),
        }
    }

    fn cmdlet(
        &mut self,
        lower: &str,
        name: &str,
        given: &Given,
        before: Option<&Command>,
        piped: bool,
        arguments: &[&Word],
    ) -> String {
        if is_keyword(lower) || is_number(lower) {
            return String::new();
        }
        let registry = given.paths().any(|path| is_registry(&path));
        match canonical(lower) {
            _ if given.switch("whatif") && lower.contains('-') => String::new(),
            "remove-item" if registry => format!("reg delete {}", given.all()),
            "remove-itemproperty" | "clear-itemproperty" | "clear-item" => {
                format!("reg delete HKCU {}", given.all())
            }
            "set-itemproperty" | "new-itemproperty" | "rename-itemproperty" | "set-item" => {
                format!("reg add HKCU {}", given.all())
            }
            "new-item" if registry => format!("reg add {}", given.all()),
            "remove-item" => self.remove(given, before, piped),
            "clear-content" => format!("truncate -s 0 {}", given.all()),
            "clear-recyclebin" => "rm -r \"$HOME\"/.Trash".to_owned(),
            "set-content" | "out-file" | "tee-object" | "export-csv" | "export-clixml" => {
                let append = match given.switch("append") {
                    true => "-a ",
                    false => "",
                };
                let path = given.value(&["path", "literalpath", "filepath"]);
                let path = path.or_else(|| given.operand(0)).unwrap_or_default();
                let text = given.value(&["value", "inputobject"]);
                let text = text.or_else(|| given.operand(1));
                match text.filter(|_| !piped) {
                    Some(text) => format!("echo {text} | tee {append}{path}"),
                    None => format!("tee {append}{path}"),
                }
            }
            "add-content" => {
                let path = given.value(&["path", "literalpath"]);
                let path = path.or_else(|| given.operand(0)).unwrap_or_default();
                let text = given.value(&["value"]).or_else(|| given.operand(1));
                match text.filter(|_| !piped) {
                    Some(text) => format!("echo {text} | tee -a {path}"),
                    None => format!("tee -a {path}"),
                }
            }
            "get-content" => format!("cat {}", given.all()),
            "copy-item" => format!("cp -r {}", given.places_and(&["destination"])),
            "move-item" => format!("mv {}", given.places_and(&["destination"])),
            "rename-item" => format!("mv {}", given.places_and(&["newname"])),
            "new-item" => {
                let kind = given.value(&["itemtype", "type"]).unwrap_or_default();
                let kind = kind.to_ascii_lowercase();
                let target = given.value(&["value", "target"]);
                match target.filter(|_| kind.contains("link") || kind.contains("junction")) {
                    Some(target) => format!("ln -s {target} {}", given.places()),
                    None if kind.starts_with("dir") => format!("mkdir -p {}", given.places()),
                    None => format!("tee {}", given.places()),
                }
            }
            "mkdir" => format!("mkdir -p {}", given.all()),
            "set-location" => format!("cd {}", given.all()),
            "write-output" => format!("echo {}", shown(arguments)),
            "invoke-webrequest" => self.fetch(given),
            "invoke-expression" => self.evaluate(given, piped),
            "start-process" => start(given),
            "stop-process" => {
                let ids = given.value(&["id"]).or_else(|| given.operand(0));
                match given.value(&["name", "processname"]) {
                    Some(name) => format!("pkill {name}"),
                    None => format!(
                        "kill -9 {}",
                        ids.unwrap_or_else(|| "\"$PSVARIABLE\"".into())
                    ),
                }
            }
            "stop-service" | "suspend-service" | "remove-service" => {
                format!("net stop {}", given.all())
            }
            "restart-service" => format!("systemctl restart {}", given.all()),
            "stop-computer" => "shutdown -h now".to_owned(),
            "restart-computer" => "shutdown -r now".to_owned(),
            "install-module" | "install-package" | "install-script" => {
                format!("choco install {}", given.all())
            }
            "set-alias" | "import-module" | "add-type" | "new-psdrive" | "set-variable" => {
                self.reading.note(Unfollowed::Evaluates);
                String::new()
            }
            "send-mailmessage" => format!("mail {}", given.all()),
            canonical if is_harmless(canonical) => {
                // It may still hand on what a bracket ran.
                let ran = arguments.iter().any(|word| word.shell.contains("$("));
                match ran || piped {
                    true => format!("cat{}", prefixed(&shown_dynamic(arguments))),
                    false => match canonical.starts_with("get-childitem") {
                        true => format!("ls {}", given.all()),
                        false => String::new(),
                    },
                }
            }
            _ if is_cmdlet(lower) => {
                // The rules may know it by its name; what else it does nobody says.
                self.reading.note(Unfollowed::Evaluates);
                format!("{} {}", proper(name), shown(arguments))
            }
            _ => format!("{} {}", quoted(name), shown(arguments)),
        }
    }

    fn remove(&mut self, given: &Given, before: Option<&Command>, piped: bool) -> String {
        let program = match given.switch("recurse") {
            true => "rm -r",
            false => "rm",
        };
        let places = given.places();
        if !places.trim().is_empty() {
            return format!("{program} {places}");
        }
        if !piped {
            return String::new();
        }
        // What the listing in front of it finds.
        let listing = before.and_then(|before| {
            let words: Vec<&Word> = before.words.iter().collect();
            let (first, rest) = words.split_first()?;
            let name = first.known.as_deref()?.to_ascii_lowercase();
            (canonical(&name) == "get-childitem").then(|| Given::of(rest))
        });
        let Some(listing) = listing else {
            return format!("{program} \"$PSVARIABLE\"");
        };
        let places = match listing.places() {
            places if places.trim().is_empty() => ".".to_owned(),
            places => places,
        };
        let filter = listing.value(&["filter", "include"]);
        match (listing.switch("recurse"), filter) {
            (true, Some(filter)) => {
                let name = filter.replace('*', "\\*").replace('?', "\\?");
                format!("find {places} -name {name} -delete")
            }
            (true, None) => format!("rm -r {places}"),
            (false, Some(filter)) => format!("{program} {places}/{filter}"),
            (false, None) => format!("{program} {places}"),
        }
    }

    fn fetch(&mut self, given: &Given) -> String {
        let mut line = "curl".to_owned();
        if let Some(file) = given.value(&["outfile"]) {
            line.push_str(&format!(" -o {file}"));
        }
        if let Some(body) = given.value(&["body"]) {
            line.push_str(&format!(" --data {body}"));
        }
        if let Some(file) = given.value(&["infile"]) {
            line.push_str(&format!(" -T {file}"));
        }
        if let Some(method) = given.value(&["method", "custommethod"]) {
            line.push_str(&format!(" -X {method}"));
        }
        let address = given.value(&["uri"]).or_else(|| given.operand(0));
        format!("{line} {}", address.unwrap_or_default())
    }

    fn evaluate(&mut self, given: &Given, piped: bool) -> String {
        let code = given.argument(&["command"]);
        match code {
            Some(Word {
                known: Some(code), ..
            }) => {
                let inner = self.limits.read_inside(Language::PowerShell, &code);
                let mut line = String::new();
                for effect in &inner.effects {
                    if let CodeEffectKind::Shell(Operand::Known(made)) = &effect.kind {
                        line.push_str(made);
                    }
                }
                if let Some(why) = inner.opaque {
                    self.reading.note(why);
                }
                // Several statements, one command of this pipeline.
                match line.trim() {
                    "" => String::new(),
                    line => format!("{{ {line}\n}}"),
                }
            }
            Some(code) => {
                self.reading.note(Unfollowed::Evaluates);
                format!("eval {}", code.shell)
            }
            None if piped => {
                self.reading.note(Unfollowed::Evaluates);
                "bash".to_owned()
            }
            None => String::new(),
        }
    }
}

fn start(given: &Given) -> String {
    let program = given.value(&["filepath"]).or_else(|| given.operand(0));
    let arguments = given.argument(&["argumentlist", "args"]);
    let arguments = match arguments {
        // One text holds all of them.
        Some(Word {
            known: Some(text), ..
        }) => text
            .split_ascii_whitespace()
            .map(quoted)
            .collect::<Vec<_>>()
            .join(" "),
        Some(word) => word.shell,
        None => String::new(),
    };
    let verb = given.value(&["verb"]).unwrap_or_default();
    let rises = match verb.to_ascii_lowercase().contains("runas") {
        true => "sudo ",
        false => "",
    };
    format!("{rises}{} {arguments}", program.unwrap_or_default())
}

impl Word {
    fn push(&mut self, letter: char) {
        self.push_str(letter.encode_utf8(&mut [0; 4]));
    }

    fn push_str(&mut self, text: &str) {
        if let Some(known) = &mut self.known {
            known.push_str(text);
        }
        self.shell.push_str(&quoted_but_wild(text));
    }

    fn unknown(&mut self, name: &str) {
        self.known = None;
        let plain = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let name = match plain && !name.starts_with(|letter: char| letter.is_ascii_digit()) {
            true if !name.is_empty() => name,
            _ => "PSVARIABLE",
        };
        self.shell.push_str(&format!("\"${{{name}}}\""));
    }

    /// The word as a path of a shell: backslashes part directories, and a drive is a root.
    fn path(&self) -> String {
        match &self.known {
            Some(known) => quoted_but_wild(&slashed(known)),
            None => self.shell.replace('\\', "/"),
        }
    }
}

/// The words behind a cmdlet: parameters and operands.
struct Given {
    parameters: Vec<(String, Option<Word>)>,
    operands: Vec<Word>,
}

/// Parameters that stand alone.
const SWITCHES: &str = "recurse force whatif verbose debug append noclobber nonewline passthru \
    raw usebasicparsing wait nonewwindow asplaintext confirm directory file hidden \
    name container skipcertificatecheck asjob removedata removeoem quiet";

impl Given {
    fn of(words: &[&Word]) -> Self {
        let mut given = Self {
            parameters: Vec::new(),
            operands: Vec::new(),
        };
        let mut rest = words.iter().peekable();
        while let Some(word) = rest.next() {
            let text = word.known.as_deref().unwrap_or_default();
            let parameter = text
                .strip_prefix(['-', '–', '—'])
                .filter(|name| !word.quoted && name.starts_with(char::is_alphabetic));
            let Some(parameter) = parameter else {
                if !word.block {
                    given.operands.push((*word).clone());
                }
                continue;
            };
            let parameter = parameter.to_ascii_lowercase();
            if let Some((name, value)) = parameter.split_once(':') {
                let mut word = Word {
                    known: Some(String::new()),
                    ..Word::default()
                };
                word.push_str(value);
                given.parameters.push((name.to_owned(), Some(word)));
                continue;
            }
            let alone = SWITCHES
                .split_ascii_whitespace()
                .any(|known| known.starts_with(&*parameter));
            let next = rest.peek().filter(|next| {
                let text = next.known.as_deref().unwrap_or_default();
                next.quoted || !text.starts_with('-')
            });
            let value = next.map(|next| (**next).clone());
            // A switch leaves the word behind it an operand; so does, to be safe, a parameter
            // that begins like one.
            if !alone && value.is_some() {
                rest.next();
            }
            given.parameters.push((parameter, value));
        }
        given
    }

    fn switch(&self, name: &str) -> bool {
        self.parameters.iter().any(|(given, value)| {
            let off = value
                .as_ref()
                .and_then(|value| value.known.as_deref())
                .is_some_and(|value| value.eq_ignore_ascii_case("$false") || value == "false");
            !given.is_empty() && name.starts_with(given.as_str()) && !off
        })
    }

    fn argument(&self, names: &[&str]) -> Option<Word> {
        let named = self.parameters.iter().find(|(given, _)| {
            !given.is_empty() && names.iter().any(|name| name.starts_with(given.as_str()))
        });
        named.and_then(|(_, value)| value.clone()).or_else(|| {
            self.operands
                .first()
                .cloned()
                .filter(|_| names == ["command"])
        })
    }

    fn value(&self, names: &[&str]) -> Option<String> {
        let (_, value) = self.parameters.iter().find(|(given, _)| {
            given.len() > 1 && names.iter().any(|name| name.starts_with(given.as_str()))
        })?;
        value.as_ref().map(Word::path)
    }

    fn operand(&self, at: usize) -> Option<String> {
        self.operands.get(at).map(Word::path)
    }

    /// Known texts of everything that may be a path.
    fn paths(&self) -> impl Iterator<Item = String> + '_ {
        let values = self
            .parameters
            .iter()
            .filter_map(|(_, value)| value.as_ref());
        let words = self.operands.iter().chain(values);
        words.map(|word| word.known.clone().unwrap_or_else(|| word.shell.clone()))
    }

    /// Operands, and values that are paths.
    fn places(&self) -> String {
        let named = self.parameters.iter().filter(|(given, _)| {
            let is = |name: &str| name.starts_with(given.as_str());
            !given.is_empty() && (is("path") || is("literalpath") || is("pspath") || is("lp"))
        });
        let values = named.filter_map(|(_, value)| value.as_ref());
        let words = self.operands.iter().chain(values).map(Word::path);
        words.collect::<Vec<_>>().join(" ")
    }

    /// Everything that is no switch.
    fn all(&self) -> String {
        let values = self
            .parameters
            .iter()
            .filter_map(|(_, value)| value.as_ref());
        let words = values.chain(&self.operands).map(Word::path);
        words.collect::<Vec<_>>().join(" ")
    }

    fn places_and(&self, names: &[&str]) -> String {
        match self.value(names) {
            Some(to) => format!("{} {to}", self.places()),
            None => self.places(),
        }
    }
}

fn shown(words: &[&Word]) -> String {
    let words = words.iter().filter(|word| !word.block);
    words
        .map(|word| word.shell.clone())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The words of which something is run or only known later.
fn shown_dynamic(words: &[&Word]) -> String {
    let words = words.iter().filter(|word| word.shell.contains("$("));
    let words = words.map(|word| word.shell.clone());
    words.collect::<Vec<_>>().join(" ")
}

fn prefixed(text: &str) -> String {
    match text.is_empty() {
        true => String::new(),
        false => format!(" <<< {}", text.replace("\" \"", "")),
    }
}

/// A path of Windows as one of a shell: backslashes part directories, a drive is a root.
pub(crate) fn slashed(path: &str) -> String {
    let mut letters = path.chars();
    let drive = letters
        .next()
        .is_some_and(|letter| letter.is_ascii_alphabetic())
        && letters.next() == Some(':');
    let rest = match drive {
        true => letters.as_str(),
        false => path,
    };
    let rest = rest.replace('\\', "/");
    match drive && !rest.starts_with('/') {
        true => format!("/{rest}"),
        false => rest,
    }
}

/// A text as a shell writes it, its wild signs left wild.
fn quoted_but_wild(text: &str) -> String {
    let plain = |letter: char| {
        letter.is_alphanumeric()
            || matches!(
                letter,
                '_' | '-' | '.' | '/' | ':' | '@' | '%' | '+' | '*' | '?' | '~' | '='
            )
    };
    let mut made = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\'' => made.push_str("\\'"),
            '\n' => made.push_str("$'\\n'"),
            letter if plain(letter) => made.push(letter),
            letter => {
                made.push('\\');
                made.push(letter);
            }
        }
    }
    made
}

fn quoted(text: &str) -> String {
    quoted_but_wild(text)
}

fn is_assignment(text: &str) -> bool {
    matches!(text, "=" | "+=" | "-=" | "*=" | "/=" | "??=")
}

fn is_prefix(text: &str) -> bool {
    matches!(text, "&" | "." | "return" | "throw" | "exit" | "!" | "-not")
}

fn is_keyword(text: &str) -> bool {
    matches!(
        text,
        "if" | "else"
            | "elseif"
            | "foreach"
            | "for"
            | "while"
            | "do"
            | "until"
            | "switch"
            | "try"
            | "catch"
            | "finally"
            | "function"
            | "filter"
            | "param"
            | "begin"
            | "process"
            | "end"
            | "break"
            | "continue"
            | "trap"
            | "using"
            | "class"
            | "enum"
            | "data"
            | "in"
    )
}

fn is_number(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn is_script(lower: &str) -> bool {
    lower.ends_with(".ps1") || lower.ends_with(".psm1")
}

fn is_registry(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    ["hklm:", "hkcu:", "hkcr:", "hku:", "registry::", "hkey_"]
        .iter()
        .any(|front| lower.starts_with(front))
}

/// `Verb-Noun`, both beginning with a letter.
fn is_cmdlet(lower: &str) -> bool {
    let verbs = "add backup block checkpoint clear close complete confirm connect convert copy debug deny \
         disable disconnect dismount edit enable enter exit expand export format get grant hide \
         import initialize install invoke limit lock merge mount move new open optimize out pop \
         protect publish push read receive redo register remove rename repair request reset \
         resize restart restore resume revoke save send set show split start step stop submit \
         suspend switch sync unblock undo uninstall unlock unprotect unpublish unregister update \
         use wait watch write";
    match lower.split_once('-') {
        Some((verb, noun)) => {
            listed(verbs, verb) && noun.starts_with(|letter: char| letter.is_ascii_alphabetic())
        }
        None => false,
    }
}

/// A cmdlet's name as it is written: `set-mppreference` is `Set-MpPreference` to the rules.
fn proper(name: &str) -> String {
    let known = "Format-Volume Clear-Disk Initialize-Disk Remove-Partition Reset-PhysicalDisk \
         Clear-Partition Set-Disk Remove-VirtualDisk Remove-StoragePool Disable-BitLocker \
         Disable-ComputerRestore Remove-WBBackupSet Set-Acl New-LocalUser Remove-LocalUser \
         Set-LocalUser Add-LocalGroupMember Disable-LocalUser Remove-LocalGroupMember New-ADUser \
         Remove-ADUser Set-ADAccountPassword Remove-ADObject Remove-ADGroup Remove-ADComputer \
         Add-ADGroupMember Set-MpPreference Add-MpPreference Remove-MpPreference \
         Uninstall-WindowsFeature Clear-EventLog Remove-EventLog Limit-EventLog \
         Set-NetFirewallProfile Remove-NetFirewallRule Disable-NetFirewallRule \
         Disable-WindowsOptionalFeature Stop-Transcript Set-ExecutionPolicy Invoke-WmiMethod \
         Invoke-CimMethod Start-BitsTransfer Register-ScheduledTask Set-ScheduledTask \
         Register-ScheduledJob New-Service Set-Service Register-WmiEvent \
         Register-CimIndicationEvent";
    let mut known = known.split_ascii_whitespace();
    let known = known.find(|known| known.eq_ignore_ascii_case(name));
    known.map_or_else(|| quoted(name), str::to_owned)
}

/// The cmdlet an alias stands for, as far as it is described here.
fn canonical(lower: &str) -> &str {
    match lower {
        "rm" | "ri" | "del" | "erase" | "rd" | "rmdir" => "remove-item",
        "rp" => "remove-itemproperty",
        "sp" => "set-itemproperty",
        "si" => "set-item",
        "cli" => "clear-item",
        "clc" => "clear-content",
        "sc" => "set-content",
        "ac" => "add-content",
        "gc" | "cat" | "type" | "import-csv" | "import-clixml" | "select-string" | "sls" => {
            "get-content"
        }
        "tee" => "tee-object",
        "epcsv" => "export-csv",
        "cp" | "copy" | "cpi" => "copy-item",
        "mv" | "move" | "mi" => "move-item",
        "ren" | "rni" => "rename-item",
        "ni" => "new-item",
        "md" => "mkdir",
        "cd" | "sl" | "chdir" | "push-location" | "pushd" => "set-location",
        "echo" | "write" | "write-host" => "write-output",
        "iwr" | "irm" | "curl" | "wget" | "invoke-restmethod" => "invoke-webrequest",
        "iex" => "invoke-expression",
        "saps" | "start" => "start-process",
        "spps" | "kill" => "stop-process",
        "spsv" => "stop-service",
        "ls" | "dir" | "gci" => "get-childitem",
        "ipmo" => "import-module",
        "sal" | "nal" | "new-alias" => "set-alias",
        "sv" | "new-variable" => "set-variable",
        "inmo" => "install-module",
        "%" | "foreach-object" => "for-each",
        "?" | "where" => "where-object",
        "select" => "select-object",
        "sort" => "sort-object",
        "measure" => "measure-object",
        "group" => "group-object",
        "compare" | "diff" => "compare-object",
        "ft" => "format-table",
        "fl" => "format-list",
        "fw" => "format-wide",
        "gm" => "get-member",
        "ps" | "gps" => "get-process",
        "gsv" => "get-service",
        "gi" => "get-item",
        "gp" => "get-itemproperty",
        "gl" | "pwd" => "get-location",
        "gv" => "get-variable",
        "gcm" => "get-command",
        "h" | "history" | "ghy" => "get-history",
        "cls" | "clear" | "clear-host" => "get-host",
        "oh" => "out-host",
        "popd" => "pop-location",
        "sleep" => "start-sleep",
        "icm" => "invoke-command",
        "sajb" => "start-job",
        "rvpa" => "resolve-path",
        other => other,
    }
}

/// Cmdlets that change nothing, or only run blocks, which are read where they stand.
fn is_harmless(canonical: &str) -> bool {
    let harmless = "for-each invoke-command start-job start-threadjob receive-job wait-job get-job \
         start-sleep pop-location out-null out-string out-host out-default format-table \
         format-list format-wide format-custom format-hex new-object new-timespan new-guid \
         convertto-json convertfrom-json convertto-csv convertfrom-csv convertto-html \
         convertto-xml convertfrom-stringdata set-strictmode join-path split-path join-string \
         set-psdebug update-typedata wait-process measure-command write-error write-warning \
         write-verbose write-debug write-information write-progress read-host show-command \
         update-help tee-variable clear-variable remove-variable set-psreadlineoption";
    let looks = "get- test- select- where- sort- measure- group- compare- resolve- find-";
    listed(harmless, canonical)
        || looks
            .split_ascii_whitespace()
            .any(|verb| canonical.starts_with(verb))
}

fn is_harmless_method(method: &str) -> bool {
    let harmless = "tostring trim trimstart trimend split replace substring toupper tolower startswith \
         endswith contains indexof lastindexof padleft padright equals gettype adddays addhours \
         addminutes addseconds add insert containskey where foreach toarray join format \
         getenumerator compareto tochararray";
    listed(harmless, method)
}

fn is_harmless_kind(kind: &str) -> bool {
    let harmless = "math datetime timespan string int int32 int64 double guid char bool version uri regex \
         text.regularexpressions.regex io.path convert text.encoding array console \
         globalization.cultureinfo stringcomparison";
    listed(harmless, kind)
}

fn listed(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == name)
}
