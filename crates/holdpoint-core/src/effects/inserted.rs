//! Files a script of `sed` puts into what it prints: `r file`, `R file`.

use super::reading::Reading;
use crate::shell::Text;

/// A file, and the word it stands in.
pub(super) struct Inserted<'c> {
    pub(super) path: &'c str,
    pub(super) word: &'c Text,
}

/// The files the scripts of a command name.
pub(super) fn files<'c>(program: Option<&str>, reading: &Reading<'c>) -> Vec<Inserted<'c>> {
    if !matches!(program, Some("sed" | "gsed" | "ssed")) {
        return Vec::new();
    }
    let given = reading.values_of(&["-e", "--expression"]);
    let mut scripts: Vec<(&str, &Text)> = given.collect();
    if scripts.is_empty() {
        let first = reading.operands().next();
        scripts.extend(first.map(|word| (word.text.as_str(), word)));
    }
    let lines = scripts
        .into_iter()
        .flat_map(|(script, word)| script.lines().map(move |line| (line, word)));
    lines
        .flat_map(|(line, word)| {
            let paths = named_in(line).into_iter();
            paths.map(move |path| Inserted { path, word })
        })
        .collect()
}

/// The names behind the commands of one line that put a file in; a name goes to the end of the line.
fn named_in(line: &str) -> Option<&str> {
    let mut rest = line;
    loop {
        rest = rest.trim_start_matches(|letter: char| {
            letter.is_whitespace() || letter.is_ascii_digit() || ";{}$,!~+".contains(letter)
        });
        let mut letters = rest.chars();
        let letter = letters.next()?;
        let behind = letters.as_str();
        rest = match letter {
            // An address: `/x/`, `\,x,`.
            '/' => behind_part(behind, '/').trim_start_matches(['I', 'M']),
            '\\' => {
                let mut letters = behind.chars();
                let sign = letters.next()?;
                behind_part(letters.as_str(), sign).trim_start_matches(['I', 'M'])
            }
            'r' | 'R' => return Some(behind.trim()).filter(|name| !name.is_empty()),
            's' | 'y' => {
                let mut letters = behind.chars();
                let sign = letters.next()?;
                let flags = behind_part(behind_part(letters.as_str(), sign), sign);
                flags.trim_start_matches(|flag: char| flag.is_ascii_alphanumeric())
            }
            // What follows is a text or the name of a file that is written.
            'a' | 'i' | 'c' | 'w' | 'W' => return None,
            // What follows is a label.
            'b' | 't' | 'T' | ':' => behind.split_once(';').map_or("", |(_, rest)| rest),
            _ => behind,
        };
    }
}

/// What stands behind the next `sign` that is not taken for a letter.
fn behind_part(text: &str, sign: char) -> &str {
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter == '\\' {
            letters.next();
        } else if letter == sign {
            break;
        }
    }
    letters.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_behind_its_command() {
        for line in [
            "r .env",
            "r.env",
            "$r .env",
            "1{;r .env",
            "/x/R .env",
            "$!r .env",
            "p;r .env",
        ] {
            assert_eq!(named_in(line), Some(".env"), "{line}");
        }
        for line in [
            "s/r .env/x/",
            "",
            "a r .env",
            "/r .env/d",
            "s,r .env,x,g;p",
            "\\,r .env,d",
        ] {
            assert_eq!(named_in(line), None, "{line}");
        }
        assert_eq!(named_in("s/a/b/g;r .env"), Some(".env"));
    }
}
