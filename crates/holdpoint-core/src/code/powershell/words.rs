//! Words of PowerShell: quotes, here-strings, variables, brackets, redirections.

use super::constants::Held;
use super::paths::{quoted_but_wild, slashed};
use super::tables;
use super::{MAX_NESTING, Reader};
use crate::code::Unfollowed;

/// A word of a command.
#[derive(Clone, Debug, Default)]
pub(super) struct Word {
    /// How a shell writes it.
    pub(super) shell: String,
    /// What it says, if nothing in it depends on anything.
    pub(super) known: Option<String>,
    /// It began with a quote: it is a text, not a command or a parameter.
    pub(super) quoted: bool,
    /// It is a block in braces, which was read already.
    pub(super) block: bool,
    /// It is a redirection, as a shell writes it.
    pub(super) redirection: bool,
    /// It is a sign that gives the word before it a value.
    pub(super) assignment: bool,
    /// The variable it is, and nothing else.
    pub(super) variable: Option<String>,
    /// It stands for any number of words: `@parameters`.
    pub(super) splatted: bool,
    /// It is a list, whose items these are.
    pub(super) items: Vec<Option<String>>,
}

/// Where a word stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Where a command begins.
    First,
    /// Behind `function` and its like: the name of what is defined.
    Name,
    Other,
}

/// Signs that give a variable a value.
const ASSIGNMENTS: [&str; 8] = ["??=", "+=", "-=", "*=", "/=", "%=", "++", "="];

impl Word {
    pub(super) fn literal(text: &str) -> Self {
        let mut word = Self {
            known: Some(String::new()),
            ..Self::default()
        };
        word.push_str(text);
        word
    }

    fn push(&mut self, letter: char) {
        self.push_str(letter.encode_utf8(&mut [0; 4]));
    }

    pub(super) fn push_str(&mut self, text: &str) {
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
            _ => tables::UNKNOWN_VARIABLE,
        };
        self.shell.push_str(&format!("\"${{{name}}}\""));
    }

    /// The word as a path of a shell: backslashes part directories, and a drive is a root.
    pub(super) fn path(&self) -> String {
        if !self.items.is_empty() {
            let paths = self.items.iter().map(|item| match item {
                Some(item) => quoted_but_wild(&slashed(item)),
                None => format!("\"${{{}}}\"", tables::UNKNOWN_VARIABLE),
            });
            return paths.collect::<Vec<_>>().join(" ");
        }
        match &self.known {
            Some(known) => quoted_but_wild(&slashed(known)),
            // What a shell escapes by a backslash PowerShell parts directories with.
            None => self.shell.replace("\\\\", "/"),
        }
    }

    /// The text in lower case, if it is no text in quotes.
    pub(super) fn bare(&self) -> Option<String> {
        let known = self.known.as_ref().filter(|_| !self.quoted)?;
        Some(known.to_ascii_lowercase())
    }
}

impl Reader<'_, '_> {
    pub(super) fn advance(&mut self, letters: usize) {
        let mut rest = self.rest.chars();
        for _ in 0..letters {
            rest.next();
        }
        self.rest = rest.as_str();
    }

    pub(super) fn skip_blanks(&mut self) {
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

    pub(super) fn skip_lines(&mut self) {
        loop {
            self.skip_blanks();
            match self.rest.strip_prefix(['\n', '\r']) {
                Some(rest) => self.rest = rest,
                None => return,
            }
        }
    }

    /// The sign that gives what stands before it a value, if one stands here.
    pub(super) fn assignment(&self) -> Option<&'static str> {
        let signs = ASSIGNMENTS.iter().copied();
        let sign = signs.into_iter().find(|sign| self.rest.starts_with(sign))?;
        (sign != "++").then_some(sign)
    }

    /// Reads a word; there is one.
    pub(super) fn word(&mut self, place: Place, depth: usize) -> Word {
        if let Some(word) = self.redirection(depth) {
            return word;
        }
        self.plain(place, depth)
    }

    /// Reads a word that is no redirection.
    fn plain(&mut self, place: Place, depth: usize) -> Word {
        let mut word = Word {
            known: Some(String::new()),
            quoted: self.rest.starts_with(['\'', '"', '‘', '’', '“', '”'])
                || self.rest.starts_with("@'")
                || self.rest.starts_with("@\""),
            ..Word::default()
        };
        let before = self.rest.len();
        // What stands before `=` where a value can be given to it.
        let target = place == Place::First && (self.rest.starts_with(['$', '[']) || self.in_table);
        let mut start = 0;
        loop {
            let mut letters = self.rest.chars();
            let Some(letter) = letters.next() else { break };
            match letter {
                '\'' | '‘' | '’' | '‚' | '"' | '“' | '”' | '„' => {
                    match letter {
                        '\'' | '‘' | '’' | '‚' => self.single(&mut word),
                        _ => self.double(&mut word, depth),
                    }
                    if self.ends_text(&mut word) {
                        break;
                    }
                }
                '@' if self.rest.starts_with("@'") || self.rest.starts_with("@\"") => {
                    self.here_string(&mut word, depth);
                    if self.ends_text(&mut word) {
                        break;
                    }
                }
                '@' if self.rest.starts_with("@(") => self.advance(1),
                '@' if self.rest.starts_with("@{") => {
                    self.advance(2);
                    let outer = std::mem::replace(&mut self.in_table, true);
                    self.aside('}', depth);
                    self.in_table = outer;
                    word.known = None;
                    word.shell.push_str("''");
                }
                '@' if word.shell.is_empty()
                    && letters
                        .next()
                        .is_some_and(|next| next.is_alphabetic() || next == '_') =>
                {
                    // `@parameters`: any words at all.
                    self.advance(1);
                    let end = |letter: char| !letter.is_alphanumeric() && letter != '_';
                    let end = self.rest.find(end).unwrap_or(self.rest.len());
                    self.rest = self.rest.get(end..).unwrap_or_default();
                    word.unknown("");
                    word.splatted = true;
                }
                '`' => {
                    self.advance(1);
                    if let Some(escaped) = self.rest.chars().next() {
                        word.push(escaped);
                        self.advance(1);
                    }
                }
                '$' => {
                    let alone = word.shell.is_empty();
                    let name = self.variable(&mut word, depth);
                    word.variable = name.filter(|_| alone);
                    continue;
                }
                '(' => {
                    let front = word.shell.to_ascii_lowercase();
                    let method = front.rsplit('.').next().unwrap_or_default().to_owned();
                    let keyword = place == Place::First && tables::is_keyword(&front);
                    if keyword || (place == Place::Name && !front.is_empty()) {
                        break;
                    }
                    let called = !word.shell.is_empty();
                    self.bracket(&mut word, depth, Some(method).filter(|_| called));
                }
                '{' if !word.shell.is_empty() && word.known.is_some() => break,
                '{' => {
                    self.advance(1);
                    let outer = std::mem::replace(&mut self.in_table, false);
                    self.aside('}', depth);
                    self.in_table = outer;
                    word.block = true;
                    word.known = None;
                }
                '[' if word.shell.is_empty() => self.kind(&mut word, depth),
                '=' | '+' | '-' | '*' | '/' | '%' | '?'
                    if target && self.rest.len() < before && self.assignment().is_some() =>
                {
                    return word;
                }
                ' ' | '\t' | '\n' | '\r' | ';' | '|' | '&' | ')' | '}' | '>' | '<' => break,
                ',' => {
                    self.advance(1);
                    // A list: each is a word of its own to a shell.
                    let item = word.known.as_ref().and_then(|known| known.get(start..));
                    let item = item.map(str::to_owned);
                    word.items.push(item);
                    start = word.known.as_ref().map_or(0, String::len);
                    word.shell.push(' ');
                    self.skip_lines();
                }
                letter if letter.is_whitespace() => break,
                letter => {
                    word.push(letter);
                    self.advance(1);
                }
            }
            word.variable = None;
        }
        if self.rest.len() == before {
            // Nothing here is a word; it is left out so that reading goes on.
            self.advance(1);
        }
        if !word.items.is_empty() {
            let item = word.known.take();
            let item = item.and_then(|known| known.get(start..).map(str::to_owned));
            word.items.push(item);
            word.variable = None;
        }
        word
    }

    /// Whether a word that is a text ends with its quote. A member of it is another text.
    fn ends_text(&self, word: &mut Word) -> bool {
        if !word.quoted || self.rest.starts_with(',') {
            return false;
        }
        let member = self.rest.starts_with(['.', '[']) && !word.shell.is_empty();
        if member {
            word.known = None;
        }
        !member
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
            let null = self.rest.get(.."$null".len());
            if null.is_some_and(|front| front.eq_ignore_ascii_case("$null")) {
                self.advance("$null".len());
                shell.push_str("/dev/null");
            } else if self.rest.is_empty() {
                return None;
            } else {
                let target = self.plain(Place::Other, depth);
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
        let quotes = ['\'', '‘', '’', '‚'];
        self.advance(1);
        loop {
            let Some(end) = self.rest.find(quotes) else {
                self.reading.note(Unfollowed::Unreadable);
                self.rest = "";
                return;
            };
            word.push_str(self.rest.get(..end).unwrap_or_default());
            self.rest = self.rest.get(end..).unwrap_or_default();
            self.advance(1);
            if !self.rest.starts_with(quotes) {
                return;
            }
            word.push('\'');
            self.advance(1);
        }
    }

    fn double(&mut self, word: &mut Word, depth: usize) {
        let quotes = ['"', '“', '”', '„'];
        self.advance(1);
        loop {
            let Some(letter) = self.rest.chars().next() else {
                self.reading.note(Unfollowed::Unreadable);
                return;
            };
            if quotes.contains(&letter) {
                self.advance(1);
                if !self.rest.starts_with(quotes) {
                    return;
                }
                word.push('"');
                self.advance(1);
            } else {
                self.expanding(word, letter, depth);
            }
        }
    }

    /// One letter of a text in which variables count.
    fn expanding(&mut self, word: &mut Word, letter: char, depth: usize) {
        match letter {
            '`' => {
                self.advance(1);
                if let Some(escaped) = self.rest.chars().next() {
                    word.push(match escaped {
                        'n' => '\n',
                        'r' => '\r',
                        't' => '\t',
                        other => other,
                    });
                    self.advance(1);
                }
            }
            '$' => {
                self.variable(word, depth);
            }
            _ => {
                // All up to the next sign that means something.
                let stops = |letter: char| matches!(letter, '`' | '$' | '"' | '“' | '”' | '„');
                let mut after = self.rest.char_indices().skip(1);
                let end = after
                    .find(|(_, letter)| stops(*letter) || *letter == '\n')
                    .map_or(self.rest.len(), |(at, _)| at);
                word.push_str(self.rest.get(..end).unwrap_or_default());
                self.rest = self.rest.get(end..).unwrap_or_default();
            }
        }
    }

    /// `@'` to `'@` at the beginning of a line. In one in double quotes variables and brackets
    /// count.
    fn here_string(&mut self, word: &mut Word, depth: usize) {
        let fixed = self.rest.starts_with("@'");
        let end = match fixed {
            true => "\n'@",
            false => "\n\"@",
        };
        self.advance(2);
        let Some((text, after)) = self.rest.split_once(end) else {
            self.reading.note(Unfollowed::Unreadable);
            self.rest = "";
            return;
        };
        let text = text.trim_start_matches(['\r', ' ', '\t']);
        let text = text.strip_prefix('\n').unwrap_or(text);
        if fixed {
            word.push_str(text);
        } else {
            self.rest = text;
            while let Some(letter) = self.rest.chars().next() {
                match letter {
                    '"' | '“' | '”' | '„' => {
                        word.push(letter);
                        self.advance(1);
                    }
                    letter => self.expanding(word, letter, depth),
                }
            }
        }
        self.rest = after;
    }

    /// Reads `$x`, `${x}`, `$env:x`, `$(…)`; the name of a variable of the code's own.
    fn variable(&mut self, word: &mut Word, depth: usize) -> Option<String> {
        self.advance(1);
        if self.rest.starts_with('(') {
            self.bracket(word, depth, None);
            return None;
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
        // `$x::y` is a static member, `"$a:"` ends a name, and `?` belongs to `$?` alone.
        let name = name.split("::").next().unwrap_or(name);
        let name = name.trim_end_matches(':');
        let name = match name.find('?') {
            Some(at) if at > 0 => name.get(..at).unwrap_or(name),
            Some(_) => "?",
            None => name,
        };
        self.rest = self.rest.get(name.len()..).unwrap_or_default();
        if braced {
            let end = self.rest.find('}').unwrap_or(self.rest.len());
            self.rest = self.rest.get(end..).unwrap_or_default();
            self.advance(1);
        }
        let lower = name.to_ascii_lowercase();
        if let Some(place) = tables::variable(&lower) {
            match place {
                "~" => {
                    word.known = None;
                    word.shell.push_str("\"$HOME\"");
                }
                place => word.push_str(place),
            }
            return None;
        }
        match lower.as_str() {
            "" => word.push('$'),
            "null" => {}
            "true" | "false" => word.push_str(&lower),
            _ => {
                if let Some(Held::Text(text)) = self.constants.get(&lower) {
                    let text = text.clone();
                    if self.limits.copies(text.len()) {
                        word.push_str(&text);
                    } else {
                        self.reading.note(Unfollowed::TooLong);
                        word.unknown("");
                    }
                    return Some(lower);
                }
                let plain = lower.strip_prefix("env:").and_then(|_| name.get(4..));
                word.unknown(plain.unwrap_or_default());
                return Some(lower);
            }
        }
        None
    }

    /// `(…)`: its output is a part of the word. What stands before it may be a method.
    fn bracket(&mut self, word: &mut Word, depth: usize, method: Option<String>) {
        self.advance(1);
        if let Some(method) = &method {
            if method.starts_with("download") || method.starts_with("upload") {
                // What a web client fetches.
                let inner = self.inside(')', depth);
                word.shell = format!("\"$(curl {})\"", listed_words(&inner));
                word.known = None;
                return;
            }
            if !tables::is_harmless_method(method) {
                self.reading.note(Unfollowed::DynamicName);
            }
            word.known = None;
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
    pub(super) fn inside(&mut self, closes: char, depth: usize) -> String {
        if depth > MAX_NESTING {
            self.reading.note(Unfollowed::TooDeep);
            self.rest = "";
            return String::new();
        }
        let outer = std::mem::take(&mut self.line);
        self.statements(Some(closes), depth + 1);
        std::mem::replace(&mut self.line, outer)
    }

    /// A block runs as statements before the command it stands in.
    pub(super) fn aside(&mut self, closes: char, depth: usize) {
        let inner = self.inside(closes, depth);
        if !inner.trim().is_empty() {
            self.line.push_str(inner.trim());
            self.line.push('\n');
        }
    }
}

/// The words of a line that only shows them: arguments of a method are read as a value, which
/// `echo` shows.
pub(super) fn listed_words(line: &str) -> String {
    let line = line.trim();
    let line = line.strip_prefix("echo ").unwrap_or(line);
    line.replace('\n', " ")
}
