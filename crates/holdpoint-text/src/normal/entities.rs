//! Character references of HTML.

/// The reference at the start of `rest`, which begins with `&`: its length and its character.
/// References to `&` are followed, however often they are nested.
pub(super) fn entity(rest: &str) -> Option<(usize, char)> {
    let mut length = 1;
    loop {
        let (more, c) = one(rest.get(length..)?)?;
        length += more;
        if c != '&' {
            return Some((length, c));
        }
        let tail = rest.get(length..)?;
        if one(tail).is_none() {
            return Some((length, '&'));
        }
    }
}

/// The reference whose `&` was read: its length and its character.
fn one(rest: &str) -> Option<(usize, char)> {
    match rest.as_bytes() {
        [b'#', b'x' | b'X', ..] => numeric(rest, 2, 16),
        [b'#', ..] => numeric(rest, 1, 10),
        [first, ..] if first.is_ascii_alphabetic() => named(rest),
        _ => None,
    }
}

fn numeric(rest: &str, head: usize, radix: u32) -> Option<(usize, char)> {
    let digits = rest.get(head..)?;
    let length = digits
        .bytes()
        .take(MAX_DIGITS)
        .take_while(|byte| char::from(*byte).is_digit(radix))
        .count();
    let code = u32::from_str_radix(digits.get(..length)?, radix).ok()?;
    let c = char::from_u32(code)?;
    let end = usize::from(digits.as_bytes().get(length) == Some(&b';'));
    Some((head + length + end, c))
}

fn named(rest: &str) -> Option<(usize, char)> {
    let length = rest
        .bytes()
        .take(MAX_NAME + 1)
        .take_while(u8::is_ascii_alphanumeric)
        .count();
    let name = rest.get(..length)?;
    let ended = rest.as_bytes().get(length) == Some(&b';');
    let found = NAMES.iter().find(|(known, _)| *known == name);
    let lower = || {
        let name = name.to_ascii_lowercase();
        NAMES.iter().find(|(known, _)| *known == name)
    };
    let (known, c) = found.or_else(lower)?;
    // Without a semicolon only the oldest are read, and only where no call or address goes on.
    let old = matches!(*known, "lt" | "gt" | "amp" | "quot" | "nbsp");
    let goes_on = matches!(rest.as_bytes().get(length), Some(b'=' | b'.' | b'[' | b'('));
    (ended || (old && !goes_on)).then_some((length + usize::from(ended), *c))
}

const MAX_DIGITS: usize = 10;
const MAX_NAME: usize = 12;

const NAMES: &[(&str, char)] = &[
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", ' '),
    ("ensp", ' '),
    ("emsp", ' '),
    ("thinsp", ' '),
    ("Tab", '\t'),
    ("NewLine", '\n'),
    ("shy", '\u{ad}'),
    ("zwj", '\u{200d}'),
    ("zwnj", '\u{200c}'),
    ("lrm", '\u{200e}'),
    ("rlm", '\u{200f}'),
    ("ZeroWidthSpace", '\u{200b}'),
    ("NoBreak", '\u{2060}'),
    ("colon", ':'),
    ("semi", ';'),
    ("comma", ','),
    ("period", '.'),
    ("excl", '!'),
    ("quest", '?'),
    ("num", '#'),
    ("dollar", '$'),
    ("percnt", '%'),
    ("lpar", '('),
    ("rpar", ')'),
    ("ast", '*'),
    ("plus", '+'),
    ("sol", '/'),
    ("bsol", '\\'),
    ("equals", '='),
    ("commat", '@'),
    ("lsqb", '['),
    ("lbrack", '['),
    ("rsqb", ']'),
    ("rbrack", ']'),
    ("lowbar", '_'),
    ("grave", '`'),
    ("lcub", '{'),
    ("lbrace", '{'),
    ("rcub", '}'),
    ("rbrace", '}'),
    ("verbar", '|'),
    ("vert", '|'),
    ("hyphen", '\u{2010}'),
    ("ndash", '\u{2013}'),
    ("mdash", '\u{2014}'),
    ("lsquo", '\u{2018}'),
    ("rsquo", '\u{2019}'),
    ("ldquo", '\u{201c}'),
    ("rdquo", '\u{201d}'),
    ("hellip", '\u{2026}'),
    ("copy", '\u{a9}'),
    ("reg", '\u{ae}'),
    ("agrave", 'à'),
    ("aacute", 'á'),
    ("acirc", 'â'),
    ("atilde", 'ã'),
    ("auml", 'ä'),
    ("aring", 'å'),
    ("aelig", 'æ'),
    ("ccedil", 'ç'),
    ("egrave", 'è'),
    ("eacute", 'é'),
    ("ecirc", 'ê'),
    ("euml", 'ë'),
    ("igrave", 'ì'),
    ("iacute", 'í'),
    ("icirc", 'î'),
    ("iuml", 'ï'),
    ("ntilde", 'ñ'),
    ("ograve", 'ò'),
    ("oacute", 'ó'),
    ("ocirc", 'ô'),
    ("otilde", 'õ'),
    ("ouml", 'ö'),
    ("oslash", 'ø'),
    ("ugrave", 'ù'),
    ("uacute", 'ú'),
    ("ucirc", 'û'),
    ("uuml", 'ü'),
    ("szlig", 'ß'),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_in_all_their_spellings() {
        for (text, length, c) in [
            ("&#105;gnore", 6, 'i'),
            ("&#105gnore", 5, 'i'),
            ("&#x69;", 6, 'i'),
            ("&#X0069;", 8, 'i'),
            ("&lt;b>", 4, '<'),
            ("&LT;", 4, '<'),
            ("&amp;amp;lt;", 12, '<'),
            ("&amp;#105;", 10, 'i'),
            ("&amp; x", 5, '&'),
            ("&lt b", 3, '<'),
        ] {
            assert_eq!(entity(text), Some((length, c)), "{text}");
        }
        for text in [
            "&", "&&", "&self", "&copy(x)", "&lt=3", "&#;", "&#xd800;", "& b",
        ] {
            assert_eq!(entity(text), None, "{text}");
        }
    }
}
