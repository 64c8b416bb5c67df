//! What stands around a place in a text, as far as rules ask for it. Every look is bounded.

/// Whether one sentence goes on from a word's end to another word's start, as people write it.
pub(super) fn is_joined(text: &str, from: usize, to: usize) -> bool {
    let Some(between) = text.get(from..to) else {
        return false;
    };
    // Scripts without spaces have none after their signs either.
    let is_latin = || before(text, from, 4).ends_with(|c: char| c.is_ascii());
    if between.len() > MAX_GAP || is_glue(between) && is_latin() {
        return false;
    }
    if PARTS.iter().any(|sign| between.contains(sign)) || is_part_of_name(between) {
        return false;
    }
    if is_option(between) || ends_quotation(between) || is_row(between) {
        return false;
    }
    let (mut commas, mut line_is_empty, mut before) = (0, false, 'x');
    let mut rest = between.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied().unwrap_or('x');
        match c {
            ';' | '{' | '}' | '=' | '|' | '。' | '！' | '？' | '；' => return false,
            '.' | '!' | '?' if !next.is_alphanumeric() => return false,
            '(' if before.is_alphanumeric() => return false,
            ',' | '，' | '、' => {
                commas += 1;
                if commas > 1 || matches!(before, '"' | '\'' | '`') {
                    return false;
                }
            }
            '\n' => {
                if line_is_empty {
                    return false;
                }
                line_is_empty = true;
            }
            _ if c.is_alphanumeric() => line_is_empty = false,
            _ => {}
        }
        before = c;
    }
    true
}

/// Whether signs without a blank make one name of two words, as in `ignore_previous`.
fn is_glue(between: &str) -> bool {
    !between.is_empty() && between.chars().all(|c| "-_.:/\\@$".contains(c))
}

/// Whether a span is part of one name, as in `system_prompt`.
pub(super) fn is_name(text: &str, span: (usize, usize)) -> bool {
    let inside = text.get(span.0..span.1).unwrap_or_default();
    let next = after(text, span.1, 1);
    let before = before(text, span.0, 1);
    let is_camel = || {
        let mut signs = inside.chars().zip(inside.chars().skip(1));
        signs.any(|(one, other)| one.is_lowercase() && other.is_uppercase())
    };
    !inside.contains(char::is_whitespace) && (inside.contains('_') || is_camel())
        || matches!(next, "_" | "(")
        || matches!(before, "_" | "$" | "@")
        || self::before(text, span.0, 3) == "`--"
}

/// Whether the first or the last of two words goes on with a sign, as in `ignore.svg`.
fn is_part_of_name(between: &str) -> bool {
    let mut signs = between.chars();
    let (first, second) = (signs.next(), signs.next());
    let mut signs = between.chars().rev();
    let (last, before) = (signs.next(), signs.next());
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    matches!(first, Some('.' | '_' | '-')) && is_letter(second)
        || matches!(last, Some('.' | '_' | '-' | '$' | '@')) && is_letter(before)
}

/// Whether the second of two words is an option of a command, as in `destroy -auto-approve`.
fn is_option(between: &str) -> bool {
    let rest = between.trim_end_matches('-');
    rest.len() < between.len() && rest.ends_with([' ', '"', '\'', '`', '='])
}

/// Whether one quotation ends, words follow, and another begins. Pieces of one string have only signs between them.
fn ends_quotation(between: &str) -> bool {
    let mut parts = between.split(['"', '`', '“', '”', '„', '«', '»']);
    let (_, middle) = (parts.next(), parts.next());
    parts.next().is_some() && middle.is_some_and(|it| it.contains(char::is_alphabetic))
}

/// Whether a line of a table of numbers ends between two words.
fn is_row(between: &str) -> bool {
    let Some((number, _)) = between.split_once('\n') else {
        return false;
    };
    let number = number.trim();
    number.contains('.') && number.contains(|c: char| c.is_ascii_digit())
}

/// Whether all that a rule asks of its place holds; `places` are bits of `format::PLACES`.
pub(super) fn hold(places: u16, text: &str, span: (usize, usize)) -> bool {
    let tests: [Test; 8] = [
        |text, span| begins_line(text, span.0),
        |text, span| begins_clause(text, span.0),
        |text, span| colon_follows(text, span.1),
        |text, span| is_in_comment(text, span.0),
        |text, span| window(text, span, 300).contains("://"),
        |text, span| text_follows(text, span.1),
        |text, span| ends_clause(text, span.1),
        |text, span| sentence_follows(text, span.1),
    ];
    let asked = |at: usize| places >> at & 1 != 0;
    tests
        .iter()
        .enumerate()
        .all(|(at, test)| !asked(at) || test(text, span))
}

/// Whether something holds around a span of a text.
type Test = fn(&str, (usize, usize)) -> bool;

/// The text around a span, up to so many bytes on either side.
pub(super) fn window(text: &str, span: (usize, usize), reach: usize) -> &str {
    let start = text.floor_char_boundary(span.0.saturating_sub(reach));
    let end = text.floor_char_boundary(span.1.saturating_add(reach).min(text.len()));
    text.get(start..end).unwrap_or_default()
}

/// What stands before a place, at most so many bytes.
pub(super) fn before(text: &str, at: usize, reach: usize) -> &str {
    let start = text.floor_char_boundary(at.saturating_sub(reach));
    text.get(start..at).unwrap_or_default()
}

/// What stands after a place, at most so many bytes.
pub(super) fn after(text: &str, at: usize, reach: usize) -> &str {
    let end = text.floor_char_boundary(at.saturating_add(reach).min(text.len()));
    text.get(at..end).unwrap_or_default()
}

/// What stands before a place on its line.
pub(super) fn line_before(text: &str, at: usize) -> &str {
    before(text, at, LOOK)
        .rsplit('\n')
        .next()
        .unwrap_or_default()
}

/// What stands after a place on its line.
pub(super) fn line_after(text: &str, at: usize) -> &str {
    after(text, at, LOOK).split('\n').next().unwrap_or_default()
}

pub(super) fn begins_line(text: &str, at: usize) -> bool {
    !line_before(text, at).contains(char::is_alphanumeric)
}

fn begins_clause(text: &str, at: usize) -> bool {
    let before = before(text, at, 64).trim_end_matches([' ', '\t', '"', '\'', '*', '_', '`']);
    let Some(last) = before.chars().next_back() else {
        return true;
    };
    if !last.is_alphanumeric() {
        return true;
    }
    let word = before.rsplit(|c: char| !c.is_alphanumeric()).next();
    word.is_some_and(|word| {
        LEVELS.contains(&word) || LEADS.iter().any(|lead| lead.eq_ignore_ascii_case(word))
    })
}

pub(super) fn colon_follows(text: &str, at: usize) -> bool {
    let rest = after(text, at, 8).trim_start_matches([' ', '\t', '*', '_', ')', ']', '#']);
    rest.starts_with([':', '：']) && !rest.starts_with("::")
}

fn ends_clause(text: &str, at: usize) -> bool {
    let rest = after(text, at, 24).trim_start_matches([' ', '\t', '*', '_']);
    let word = rest
        .split(|c: char| !c.is_alphanumeric() && c != '-')
        .next()
        .unwrap_or_default();
    word.is_empty() || GOES_ON.iter().any(|it| it.eq_ignore_ascii_case(word))
}

fn text_follows(text: &str, at: usize) -> bool {
    after(text, at, 16)
        .trim_start()
        .starts_with(char::is_alphanumeric)
}

/// Whether what follows reads as a sentence: a few words, or signs of a script without spaces, before anything that makes a
/// setting, a field or an element of it.
fn sentence_follows(text: &str, at: usize) -> bool {
    let rest = after(text, at, LOOK);
    let rest = rest.trim_start_matches([' ', '\t', '\n', '\r', ':', '*', '_', '-', '>', '"', '\'']);
    let line = rest.split('\n').next().unwrap_or_default();
    let end = line.find(['=', ':', '<', '{', '[']).unwrap_or(line.len());
    let said = line.get(..end).unwrap_or_default();
    let words = said.split_whitespace().count();
    words >= SENTENCE || !said.is_ascii() && said.chars().count() >= 2 * SENTENCE
}

fn is_in_comment(text: &str, at: usize) -> bool {
    let line = line_before(text, at);
    let start = line.trim_start();
    if [
        "//", "#", "*", "--", ";", "%", "'''", "\"\"\"", "<!--", "rem ",
    ]
    .iter()
    .any(|sign| start.starts_with(sign))
        || ["//", " #", "/*", "<!--", " --"]
            .iter()
            .any(|sign| line.contains(sign))
    {
        return true;
    }
    let before = before(text, at, LOOK);
    [("<!--", "-->"), ("/*", "*/")]
        .iter()
        .any(|(open, close)| before.rfind(open) > before.rfind(close))
}

/// Signs that part what stands before from what stands after.
const PARTS: [&str; 8] = ["-->", "](", "\n* ", "\n- ", "\n+ ", "[!", "*/", "</"];

/// How many words make a sentence.
const SENTENCE: usize = 3;

/// How far a look at a line goes.
const LOOK: usize = 400;

/// Between two parts of an order stand at most so many bytes.
const MAX_GAP: usize = 160;

/// Words with which another clause begins.
const GOES_ON: [&str; 16] = [
    "and", "then", "but", "instead", "now", "or", "und", "et", "because", "y", "e", "och", "og",
    "oraz", "ve", "и",
];

/// What lines of logs have before their text.
const LEVELS: [&str; 8] = [
    "TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "FATAL",
];

/// Words after which an order begins.
const LEADS: [&str; 20] = [
    "please", "and", "then", "now", "so", "but", "just", "also", "must", "should", "kindly",
    "first", "instead", "bitte", "favor", "veuillez", "always", "or", "your", "ur",
];
