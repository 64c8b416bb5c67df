//! Whether a value that stands where a secret could stand is one.

use super::marker::has_marker;

/// Whether it names a secret that is kept elsewhere: `$TOKEN`, `${TOKEN}`, `$(cat key)`,
/// `{{ token }}`, `%TOKEN%`, `process.env.TOKEN`.
pub(crate) fn is_reference(value: &[u8]) -> bool {
    let text = value.trim_ascii();
    let two = |open: &[u8]| contains(text, open);
    match text {
        [b'$', next, rest @ ..] => {
            let special = rest.is_empty() && b"0123456789@*#?!$-".contains(next);
            if special || matches!(next, b'{' | b'(') || text.get(1..).is_some_and(is_variable) {
                return true;
            }
        }
        [b'%', inner @ .., b'%'] if !inner.is_empty() && is_identifier(inner) => return true,
        [b'#' | b'@' | b'!', b'{', ..] | [b'`', .., b'`'] => return true,
        _ => {}
    }
    if two(b"$(") || two(b"${") || two(b"{{") || two(b"<%") {
        return true;
    }
    const PLACES: [&[u8]; 12] = [
        b"process.env",
        b"os.environ",
        b"os.getenv",
        b"env.",
        b"env[",
        b"secrets.",
        b"vault:",
        b"op://",
        b"vault://",
        b"ssm:",
        b"arn:",
        b"file://",
    ];
    // `ref+vault://…`: a password may begin with the same letters.
    let referred = || starts(text, b"ref+") && text.windows(3).any(|part| part == b"://");
    PLACES.iter().any(|place| starts(text, place)) || referred()
}

/// Whether a variable's name is all it is, or a name in capitals that something follows.
fn is_variable(text: &[u8]) -> bool {
    let length = text
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
        .count();
    let (name, rest) = text.split_at_checked(length).unwrap_or((text, &[]));
    let shouts = !name.iter().any(u8::is_ascii_lowercase);
    is_identifier(name)
        && (rest.is_empty() || shouts || rest.starts_with(b"->") || rest.starts_with(b"["))
}

/// How many bytes of what a program is told say only that a password follows (`pass:`); none if
/// they say where it is kept.
pub(crate) fn password_lead(value: &[u8]) -> Option<usize> {
    let elsewhere: [&[u8]; 5] = [b"env:", b"file:", b"fd:", b"stdin", b"pass:env:"];
    if elsewhere.iter().any(|place| value.starts_with(place)) {
        return None;
    }
    Some(if value.starts_with(b"pass:") { 5 } else { 0 })
}

/// Whether it only says that something belongs here: `<token>`, `xxxx`, `changeme`, `null`, or a
/// marker of ours.
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
    let text = value.trim_ascii();
    let (Some(first), Some(last)) = (text.first(), text.last()) else {
        return true;
    };
    if has_marker(text)
        || matches!((first, last), (b'<', b'>') | (b'{', b'}'))
        || matches!(text, [b'%', _] | [b'{', ..])
    {
        return true;
    }
    let filler = |byte: &u8| b"xX*.-_#?=\xe2\x80\xa2\xa6\\".contains(byte);
    if text.iter().all(filler) && (text.len() >= 3 || !text.iter().any(u8::is_ascii_alphabetic)) {
        return true;
    }
    // The longest word below has eleven letters.
    let mut plain = [0u8; 24];
    let mut length = 0;
    for byte in text.iter().filter(|byte| !b"_- .".contains(byte)) {
        let Some(place) = plain.get_mut(length) else {
            break;
        };
        *place = byte.to_ascii_lowercase();
        length += 1;
    }
    let plain = plain.get(..length).unwrap_or(&[]);
    const WORDS: [&[u8]; 40] = [
        b"changeme",
        b"changeit",
        b"placeholder",
        b"redacted",
        b"masked",
        b"hidden",
        b"sensitive",
        b"filtered",
        b"removed",
        b"none",
        b"null",
        b"nil",
        b"undefined",
        b"true",
        b"false",
        b"empty",
        b"optional",
        b"required",
        b"string",
        b"str",
        b"text",
        b"bytes",
        b"int",
        b"integer",
        b"number",
        b"bool",
        b"boolean",
        b"object",
        b"any",
        b"void",
        b"unknown",
        b"todo",
        b"tbd",
        b"auto",
        b"default",
        b"inherit",
        b"yes",
        b"no",
        b"on",
        b"off",
    ];
    WORDS.contains(&plain)
        || plain.starts_with(b"your")
        || plain.starts_with(b"replace")
        || plain.starts_with(b"insert")
        || (plain.starts_with(b"xxx") && plain.iter().all(|byte| byte.is_ascii_alphabetic()))
}

/// What a value is made of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Make {
    pub(crate) digits: usize,
    pub(crate) upper: usize,
    pub(crate) lower: usize,
    /// `_`, `-` and `.`, which names have too.
    pub(crate) joints: usize,
    pub(crate) blanks: usize,
    pub(crate) others: usize,
}

impl Make {
    pub(crate) fn from_bytes(value: &[u8]) -> Self {
        let mut make = Self::default();
        for byte in value {
            let count = match byte {
                b'0'..=b'9' => &mut make.digits,
                b'A'..=b'Z' => &mut make.upper,
                b'a'..=b'z' => &mut make.lower,
                b'_' | b'-' | b'.' => &mut make.joints,
                b' ' | b'\t' => &mut make.blanks,
                _ => &mut make.others,
            };
            *count += 1;
        }
        make
    }

    pub(crate) fn letters(&self) -> usize {
        self.upper + self.lower
    }

    /// Letters together with digits, or with characters names do not have.
    pub(crate) fn is_mixed(&self) -> bool {
        self.letters() > 0 && (self.digits > 0 || self.others > 0)
    }
}

/// Whether it could be the name of something in a program.
pub(crate) fn is_identifier(value: &[u8]) -> bool {
    value
        .first()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && value
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// Whether it is a name, a call, a path or a number of a program rather than a value somebody chose.
pub(crate) fn is_code(value: &[u8]) -> bool {
    let make = Make::from_bytes(value);
    let first = value.first().copied().unwrap_or(b' ');
    if make.letters() == 0 || b"(/[{&*!.~<@\\-+|:".contains(&first) {
        return true;
    }
    if b"([{".iter().any(|open| value.contains(open))
        || contains(value, b"::")
        || contains(value, b"->")
        || contains(value, b"=>")
        || contains(value, b"==")
        || contains(value, b"://")
    {
        return true;
    }
    if is_number(value) {
        return true;
    }
    // `self.token`, `req.body.password`, `token_2`, `sha256`.
    let names = value
        .split(|byte| *byte == b'.')
        .all(|part| is_identifier(part) && !is_random(part));
    names && (value.contains(&b'.') || value.contains(&b'_') || make.digits == 0)
}

/// Whether it is a number as programs write it: `0xC00002DF`, `4099u32`, `1.5e9`.
pub(crate) fn is_number(value: &[u8]) -> bool {
    if starts(value, b"0x") {
        return value.len() < 20;
    }
    let digits = value
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || b"._".contains(byte))
        .count();
    let suffix = value.get(digits..).unwrap_or(&[]);
    let known: [&[u8]; 17] = [
        b"", b"u8", b"u16", b"u32", b"u64", b"u128", b"usize", b"i8", b"i16", b"i32", b"i64",
        b"i128", b"isize", b"f32", b"f64", b"L", b"UL",
    ];
    digits > 0 && known.contains(&suffix)
}

/// Whether letters and digits change places as they do in random text, not in a name.
pub(crate) fn is_random(value: &[u8]) -> bool {
    let class = |byte: &u8| match byte {
        b'0'..=b'9' => 0,
        b'A'..=b'Z' => 1,
        b'a'..=b'z' => 2,
        _ => 3,
    };
    let changes = value
        .windows(2)
        .filter(|pair| match pair {
            [a, b] => class(a).min(class(b)) == 0 && matches!(class(a).max(class(b)), 1 | 2),
            _ => false,
        })
        .count();
    changes >= 3
}

/// The bits of surprise in each byte, times sixteen: how far from one repeated character.
pub(crate) fn entropy(value: &[u8]) -> u32 {
    let mut counts = [0u32; 128];
    let mut total = 0u32;
    // More than this says nothing more, and its logarithm would not fit.
    for byte in value.iter().take(255) {
        if let Some(count) = counts.get_mut(usize::from(*byte & 127)) {
            *count += 1;
            total += 1;
        }
    }
    if total == 0 {
        return 0;
    }
    // The sum of -p·log2(p), with log2 to a sixteenth of a bit.
    let log = |n: u32| -> u64 {
        let squared = u128::from(n).saturating_pow(16);
        u64::from(127 - squared.max(1).leading_zeros())
    };
    let sum: u64 = counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| u64::from(*count) * log(total).saturating_sub(log(*count)))
        .sum();
    u32::try_from(sum / u64::from(total)).unwrap_or(0)
}

pub(crate) fn starts(text: &[u8], prefix: &[u8]) -> bool {
    text.get(..prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

pub(crate) fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

pub(crate) fn contains(text: &[u8], part: &[u8]) -> bool {
    find(text, part).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_and_placeholders_are_not_secrets() {
        for value in [
            "$TOKEN",
            "${TOKEN}",
            "$(cat key)",
            "$1",
            "{{ x }}",
            "%TOKEN%",
            "process.env.X",
            "a${B}c",
            "`cat key`",
            "op://vault/item",
        ] {
            assert!(is_reference(value.as_bytes()), "{value}");
        }
        for value in ["$ecret1!x", "hunter2", "$", "a$b", "$2y$10$abc", "100%"] {
            assert!(!is_reference(value.as_bytes()), "{value}");
        }
        for value in [
            "<token>",
            "xxxx",
            "****",
            "changeme",
            "YOUR_API_KEY",
            "null",
            "[TOKEN]",
            "…",
            "",
        ] {
            assert!(is_placeholder(value.as_bytes()), "{value}");
        }
        for value in ["hunter2", "secret", "admin", "x1y2z3"] {
            assert!(!is_placeholder(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn code_is_told_from_values() {
        for value in [
            "self.token",
            "get()",
            "Token",
            "token_2",
            "&str",
            "0",
            "/etc/x",
            "a::b",
            "sha256_digest",
        ] {
            assert!(is_code(value.as_bytes()), "{value}");
        }
        for value in [
            "hunter2",
            "p4ssw0rd",
            "aB3dE5gH",
            "correct!horse",
            "a1.b2c3d4e5",
        ] {
            assert!(!is_code(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn entropy_grows_with_variety() {
        assert_eq!(entropy(b"aaaa"), 0);
        assert_eq!(entropy(b"abab"), 16);
        assert_eq!(entropy(b"0123456789abcdef"), 64);
        assert_eq!(entropy(b""), 0);
    }
}
