//! The home directory, in every spelling a path may have in text.

/// A home directory to look for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Home {
    /// Its names, from the root down; a drive is the first.
    parts: Vec<String>,
    /// Whether upper and lower case are the same.
    any_case: bool,
}

impl Home {
    /// Of a path; none if it is relative, or the root, or has `..` in it.
    pub(crate) fn new(path: &str) -> Option<Self> {
        let drive = path.as_bytes().get(1) == Some(&b':');
        let absolute = path.starts_with('/') || path.starts_with('\\') || drive;
        let parts: Vec<String> = path
            .split(['/', '\\'])
            .filter(|part| !part.is_empty() && *part != ".")
            .map(str::to_owned)
            .collect();
        let named = parts.len() > usize::from(drive) && !parts.iter().any(|part| part == "..");
        (absolute && named).then_some(Self {
            parts,
            any_case: drive,
        })
    }

    /// The text with `~` wherever it stands on the borders of names; none if it stands nowhere.
    pub(crate) fn shortened(&self, text: &str) -> Option<String> {
        let bytes = text.as_bytes();
        let first = *self.parts.last()?.as_bytes().first()?;
        let mut short = String::new();
        let (mut from, mut kept) = (0, 0);
        while let Some(rest) = bytes.get(from..)
            && let Some(index) = rest.iter().position(|byte| self.same(*byte, first))
        {
            let at = from + index;
            from = at + 1;
            if let Some((start, end)) = self.around(bytes, at)
                && let Some(between) = text.get(kept..start)
            {
                short.push_str(between);
                short.push('~');
                (kept, from) = (end, end.max(from));
            }
        }
        if kept == 0 {
            return None;
        }
        short.push_str(text.get(kept..)?);
        Some(short)
    }

    /// The directory whose last name stands at `at`.
    fn around(&self, bytes: &[u8], at: usize) -> Option<(usize, usize)> {
        let mut parts = self.parts.iter().rev();
        let end = self.name(bytes, at, parts.next()?.as_bytes())?;
        if !is_border(bytes, end) {
            return None;
        }
        let mut start = at;
        loop {
            start = separator_before(bytes, start)?;
            let Some(part) = parts.next() else { break };
            start = self.name_before(bytes, start, part.as_bytes())?;
            if self.any_case && parts.len() == 0 {
                // `C:` and `/c` and `/mnt/c` are the same drive.
                break;
            }
        }
        self.begins(bytes, start).then_some((start, end))
    }

    /// Whether a path may begin at `start`: no name goes on before it, nor what a marker stands for.
    fn begins(&self, bytes: &[u8], start: usize) -> bool {
        let back = |count: usize| {
            start
                .checked_sub(count)
                .and_then(|index| bytes.get(index).copied())
        };
        let Some(before) = back(1) else { return true };
        if super::borders::starts_word(bytes, start) && !b"_-.~]".contains(&before) && before < 128
        {
            return true;
        }
        // `-I/home/me/include`
        before.is_ascii_alphabetic()
            && back(2) == Some(b'-')
            && back(3).is_none_or(|byte| byte.is_ascii_whitespace() || b"\"'".contains(&byte))
    }

    /// The end of `name` if it stands at `at`, plain, with escaped blanks, or percent-encoded.
    fn name(&self, bytes: &[u8], at: usize, name: &[u8]) -> Option<usize> {
        let mut at = at;
        for wanted in name {
            let rest = bytes.get(at..)?;
            at += match rest {
                [byte, ..] if self.same(*byte, *wanted) => 1,
                [b'\\', byte, ..] if byte == wanted => 2,
                [b'%', high, low, ..] if hex(*high, *low) == Some(*wanted) => 3,
                _ => return None,
            };
        }
        Some(at)
    }

    /// The start of `name` if it ends at `end`.
    fn name_before(&self, bytes: &[u8], end: usize, name: &[u8]) -> Option<usize> {
        let mut end = end;
        for wanted in name.iter().rev() {
            let before = bytes.get(..end)?;
            end -= match before {
                [.., b'\\', byte] if byte == wanted && !wanted.is_ascii_alphanumeric() => 2,
                [.., b'%', high, low] if hex(*high, *low) == Some(*wanted) => 3,
                [.., byte] if self.same(*byte, *wanted) => 1,
                _ => return None,
            };
        }
        Some(end)
    }

    fn same(&self, byte: u8, wanted: u8) -> bool {
        byte == wanted || (self.any_case && byte.eq_ignore_ascii_case(&wanted))
    }
}

fn hex(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

/// Where the separators that end at `end` begin: `/`, `\`, `\/`, `\\`, `%2F`, `//`, `/./`.
fn separator_before(bytes: &[u8], end: usize) -> Option<usize> {
    let mut start = end;
    loop {
        let before = bytes.get(..start)?;
        start -= match before {
            [.., b'/' | b'\\', b'.'] if start < end => 1,
            [.., b'/' | b'\\'] => 1,
            [.., b'%', b'2', b'F' | b'f'] | [.., b'%', b'5', b'C' | b'c'] => 3,
            _ => break,
        };
        // More than this is no path anybody writes, and looking on would not be linear.
        if end - start > 16 {
            break;
        }
    }
    (start < end).then_some(start)
}

/// Whether a name ends at `at`.
fn is_border(bytes: &[u8], at: usize) -> bool {
    match bytes.get(at..).unwrap_or(&[]) {
        [] => true,
        [b'.', next, ..] => !(next.is_ascii_alphanumeric() || b"_-.".contains(next)),
        [byte, ..] => !(byte.is_ascii_alphanumeric() || b"_-~[".contains(byte) || *byte >= 128),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortened(home: &str, text: &str) -> String {
        let home = Home::new(home).unwrap();
        home.shortened(text).unwrap_or_else(|| text.to_owned())
    }

    #[test]
    fn the_home_directory_is_shortened_in_every_spelling() {
        for (text, wanted) in [
            ("/home/me/x", "~/x"),
            ("cd /home/me", "cd ~"),
            ("a=/home/me:/home/me/bin", "a=~:~/bin"),
            ("/home//me/./x", "~/./x"),
            ("file:///home/me/x", "file:~/x"),
            (r"\/home\/me\/x", r"~\/x"),
            ("%2Fhome%2Fme%2Fx", "~%2Fx"),
            ("-I/home/me/include", "-I~/include"),
            ("in /home/me.", "in ~."),
            ("\"/home/me\"", "\"~\""),
            ("/home/mel/x", "/home/mel/x"),
            ("/home/me.bak", "/home/me.bak"),
            ("/srv/home/me/x", "/srv/home/me/x"),
            ("home/me", "home/me"),
            ("/home/me-too", "/home/me-too"),
        ] {
            assert_eq!(shortened("/home/me", text), wanted, "{text}");
        }
    }

    #[test]
    fn windows_paths_too() {
        for (text, wanted) in [
            (r"C:\Users\Me\x", r"~\x"),
            (r"c:\\users\\me\\x", r"~\\x"),
            ("C:/Users/Me/x", "~/x"),
        ] {
            assert_eq!(shortened(r"C:\Users\Me", text), wanted, "{text}");
        }
    }

    #[test]
    fn a_home_that_is_no_directory_of_its_own_is_not_looked_for() {
        for path in ["/", "", "me", "C:\\", "/home/../me"] {
            assert!(Home::new(path).is_none(), "{path}");
        }
    }
}
