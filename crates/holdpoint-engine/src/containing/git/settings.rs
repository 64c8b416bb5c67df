//! A file of git's settings, read as git reads it.

/// One setting: its whole key, and its value if it has one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) key: String,
    pub(super) value: Option<String>,
}

/// The settings of a file. Git obeys nothing of one it cannot read to the end; what was read until then is given all the
/// same, since another git may.
pub(super) fn read(bytes: &[u8]) -> Vec<Setting> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let mut reader = Reader {
        rest: text.as_str(),
    };
    let mut section = String::new();
    let mut all = Vec::new();
    while let Some(next) = reader.next() {
        match next {
            '#' | ';' => reader.skip_line(),
            '[' => match reader.section() {
                Some(found) => section = found,
                None => break,
            },
            letter if letter.is_whitespace() => {}
            letter if letter.is_ascii_alphabetic() => match reader.setting(letter) {
                Some((name, value)) => all.push(Setting {
                    key: format!("{section}.{name}"),
                    value,
                }),
                None => break,
            },
            _ => break,
        }
    }
    all
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let next = letters.next()?;
        self.rest = letters.as_str();
        Some(next)
    }

    fn skip_line(&mut self) {
        while self.next().is_some_and(|letter| letter != '\n') {}
    }

    /// Behind its opening bracket.
    fn section(&mut self) -> Option<String> {
        let mut name = String::new();
        loop {
            match self.next()? {
                ']' => return Some(name),
                ' ' | '\t' => break,
                '\n' => return None,
                letter => name.push(letter.to_ascii_lowercase()),
            }
        }
        while !matches!(self.next()?, '"') {}
        name.push('.');
        loop {
            match self.next()? {
                '"' => break,
                '\n' => return None,
                '\\' => name.push(self.next()?),
                letter => name.push(letter),
            }
        }
        (self.next()? == ']').then_some(name)
    }

    fn setting(&mut self, first: char) -> Option<(String, Option<String>)> {
        let mut name = String::from(first.to_ascii_lowercase());
        loop {
            match self.next() {
                Some('=') => break,
                Some('\n') | None => return Some((name, None)),
                Some(' ' | '\t') => {}
                Some('#' | ';') => {
                    self.skip_line();
                    return Some((name, None));
                }
                Some(letter) if letter.is_ascii_alphanumeric() || letter == '-' => {
                    name.push(letter.to_ascii_lowercase());
                }
                Some(_) => return None,
            }
        }
        self.value().map(|value| (name, Some(value)))
    }

    fn value(&mut self) -> Option<String> {
        let mut value = String::new();
        // What is quoted ends here; blanks behind it are cut off.
        let mut kept = 0;
        let mut quoted = false;
        loop {
            match self.next() {
                None if quoted => return None,
                Some('\n') if quoted => return None,
                None | Some('\n') => break,
                Some('"') => {
                    quoted = !quoted;
                    kept = value.len();
                }
                Some('#' | ';') if !quoted => {
                    self.skip_line();
                    break;
                }
                Some('\\') => {
                    match self.next()? {
                        '\n' => continue,
                        'n' => value.push('\n'),
                        't' => value.push('\t'),
                        'b' => value.push('\u{8}'),
                        letter @ ('"' | '\\') => value.push(letter),
                        _ => return None,
                    }
                    kept = value.len();
                }
                Some(letter) if letter.is_whitespace() && !quoted => {
                    if !value.is_empty() {
                        value.push(letter);
                    }
                }
                Some(letter) => {
                    value.push(letter);
                    kept = value.len();
                }
            }
        }
        value.truncate(kept);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        let all = read(text.as_bytes()).into_iter();
        all.map(|one| match one.value {
            Some(value) => format!("{}={value}", one.key),
            None => one.key,
        })
        .collect()
    }

    #[test]
    fn it_is_read_as_git_does() {
        for (text, wanted) in [
            ("[core]\n\tbare = false\n", &["core.bare=false"][..]),
            (
                "[core] fsMonitor = ./x y ; why\n",
                &["core.fsmonitor=./x y"],
            ),
            ("[Core]\r\n  a=b\r\n", &["core.a=b"]),
            (
                "[filter \"A.b\\\"c\"]\nclean=x\n",
                &["filter.A.b\"c.clean=x"],
            ),
            ("[a]\nb = \"x # y\" # z\n", &["a.b=x # y"]),
            ("[a]\nb = one \\\n two\n", &["a.b=one  two"]),
            ("[a]\nb = \"x\\ty\\n\"\n", &["a.b=x\ty\n"]),
            ("# c\n; c\n[a]b\nc=\n", &["a.b", "a.c="]),
            ("[a.Sub]\nb=1", &["a.sub.b=1"]),
            ("\u{feff}[a]\nb=1\n", &["a.b=1"]),
            ("[a]\nb=1\n!\nc=2\n", &["a.b=1"]),
            ("[a\nb=1\n", &[]),
            ("[a]\nb=\"x\n", &[]),
            ("", &[]),
        ] {
            assert_eq!(lines(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn git_itself_reads_the_same() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("config");
        let text = "[core]\n\tbare = false ; x\n[filter \"a b\"] clean = \"x \\\"y\\\"\" z  \n\tsmudge = a\\\nb\n[alias]\n s = !git x\n";
        std::fs::write(&file, text).unwrap();
        let said = std::process::Command::new("git")
            .args(["config", "--list", "--file"])
            .arg(&file)
            .output()
            .unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        assert_eq!(lines(text), said.lines().collect::<Vec<_>>());
    }
}
