//! Brace expansion of words whose braces were marked by the reader.
//!
//! Promises the words bash makes of `{a,b}` and `{1..3}`, in order, or says that there
//! would be more than a bounded number of them. Bash expands braces before anything else, so
//! alternatives may hold expansions; they are passed on untouched.

use super::tree::Part;

/// Words made of one; each is a copy of all its parts.
const MAX_WORDS: usize = 256;
/// Words made of a sequence, of which one is as good as another.
const MAX_SEQUENCE: usize = 64;
/// Marks looked at: pairing them is quadratic.
const MAX_MARKS: usize = 600;

/// Why a word's braces are not expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unexpanded {
    /// It would become too many words.
    TooMany,
    /// bash has rules of its own for such braces.
    Odd,
}

/// A part of a word after brace expansion.
#[derive(Debug, Clone)]
pub(super) enum Piece<'t> {
    /// A part as read.
    Part(&'t Part),
    /// A text made by a sequence.
    Made(String),
}

/// The words a word stands for.
pub(super) fn expand(parts: &[Part]) -> Result<Vec<Vec<Piece<'_>>>, Unexpanded> {
    let marks = parts.iter().filter(|part| matches!(part, Part::Brace(_)));
    if marks.count() > MAX_MARKS {
        return Err(Unexpanded::TooMany);
    }
    // bash has rules of its own for `{}` among other braces.
    let empty = parts
        .windows(2)
        .position(|pair| matches!(pair, [Part::Brace('{'), Part::Brace('}')]));
    let after = empty.and_then(|at| parts.get(at + 2..)).unwrap_or_default();
    if after.iter().any(|part| matches!(part, Part::Brace(_))) {
        return Err(Unexpanded::Odd);
    }
    if is_odd(parts) {
        return Err(Unexpanded::Odd);
    }
    let Some((before, inside, after)) = first_expression(parts) else {
        return Ok(vec![parts.iter().map(Piece::Part).collect()]);
    };
    let mut middles = Vec::new();
    match inside {
        Expression::Alternatives(alternatives) => {
            for alternative in alternatives {
                middles.extend(expand(alternative)?);
            }
        }
        Expression::Sequence(texts) => {
            let texts = texts.ok_or(Unexpanded::TooMany)?;
            middles.extend(texts.into_iter().map(|text| vec![Piece::Made(text)]));
        }
    }
    let ends = expand(after)?;
    if middles.len().saturating_mul(ends.len()) > MAX_WORDS {
        return Err(Unexpanded::TooMany);
    }
    let mut words = Vec::new();
    for middle in &middles {
        for end in &ends {
            let mut word: Vec<Piece<'_>> = before.iter().map(Piece::Part).collect();
            word.extend(middle.iter().cloned());
            word.extend(end.iter().cloned());
            words.push(word);
        }
    }
    Ok(words)
}

/// Whether braces that are no expression hold others and have others behind them: bash then takes a
/// later brace for the one that closes them (`{{,}},}` is `}` twice).
fn is_odd(parts: &[Part]) -> bool {
    let marked = |parts: &[Part]| parts.iter().any(|part| mark(part).is_some());
    let open = parts.iter().position(|part| mark(part) == Some('{'));
    let inner = open.and_then(|open| parts.get(open + 1..));
    inner.and_then(matching).is_some_and(|(inside, after)| {
        alternatives(inside).len() == 1
            && ((marked(inside) && marked(after)) || (!is_sequence(inside) && goes_on(after)))
    })
}

/// Whether what stands behind braces that are no expression separates and closes as if they were still
/// open: `{a},b}` is `a}` and `b`.
fn goes_on(after: &[Part]) -> bool {
    let (mut open, mut separated) = (0usize, false);
    for part in after {
        match mark(part) {
            Some('{') => open += 1,
            Some('}') if open == 0 => return separated,
            Some('}') => open -= 1,
            Some(_) => separated |= open == 0,
            None => {}
        }
    }
    false
}

/// Whether the inside of braces is a sequence.
fn is_sequence(inside: &[Part]) -> bool {
    matches!(inside, [Part::Literal { text, quoted: false }] if sequence(text).is_some())
}

enum Expression<'t> {
    Alternatives(Vec<&'t [Part]>),
    /// `None` if the sequence is too long.
    Sequence(Option<Vec<String>>),
}

/// The first brace expression, with what stands before and after it.
fn first_expression(parts: &[Part]) -> Option<(&[Part], Expression<'_>, &[Part])> {
    for (open, part) in parts.iter().enumerate() {
        if !matches!(part, Part::Brace('{')) {
            continue;
        }
        let Some((inside, after)) = matching(parts.get(open + 1..)?) else {
            continue;
        };
        let before = parts.get(..open)?;
        let alternatives = alternatives(inside);
        if alternatives.len() > 1 {
            return Some((before, Expression::Alternatives(alternatives), after));
        }
        if let [
            Part::Literal {
                text,
                quoted: false,
            },
        ] = inside
            && let Some(texts) = sequence(text)
        {
            return Some((before, Expression::Sequence(texts), after));
        }
    }
    None
}

/// The brace or comma a part is, if it is one.
fn mark(part: &Part) -> Option<char> {
    match part {
        Part::Brace(sign) => Some(*sign),
        Part::Literal { .. }
        | Part::SingleQuoted(_)
        | Part::AnsiQuoted(_)
        | Part::DoubleQuoted(_)
        | Part::Localized(_)
        | Part::Parameter(_)
        | Part::Command(_)
        | Part::Process(_)
        | Part::Arithmetic(_)
        | Part::Glob(_)
        | Part::Extended(_)
        | Part::Tilde(_)
        | Part::Array(_) => None,
    }
}

/// What stands before and after the brace that closes one opened just before.
fn matching(parts: &[Part]) -> Option<(&[Part], &[Part])> {
    let mut open = 1usize;
    for (at, part) in parts.iter().enumerate() {
        match mark(part) {
            Some('{') => open += 1,
            Some('}') => {
                open -= 1;
                if open == 0 {
                    return Some((parts.get(..at)?, parts.get(at + 1..)?));
                }
            }
            Some(_) | None => {}
        }
    }
    None
}

/// What stands between the commas that belong to no inner brace.
fn alternatives(parts: &[Part]) -> Vec<&[Part]> {
    let mut open = 0usize;
    let separates = |part: &Part| {
        match mark(part) {
            Some('{') => open += 1,
            Some('}') => open = open.saturating_sub(1),
            Some(_) => return open == 0,
            None => {}
        }
        false
    };
    parts.split(separates).collect()
}

/// The texts of `1..3`, `a..e` or `1..9..2`; the inner `None` if there are too many.
fn sequence(text: &str) -> Option<Option<Vec<String>>> {
    let mut fields = text.split("..");
    let (first, last, step) = (fields.next()?, fields.next()?, fields.next());
    if fields.next().is_some() {
        return None;
    }
    let step = match step {
        Some(step) => step.parse::<i64>().ok()?.checked_abs()?.max(1),
        None => 1,
    };
    if let (Ok(from), Ok(to)) = (first.parse::<i64>(), last.parse::<i64>()) {
        let padded = |text: &str| {
            let digits = text.trim_start_matches('-');
            digits.len() > 1 && digits.starts_with('0')
        };
        let width = if padded(first) || padded(last) {
            first.len().max(last.len())
        } else {
            0
        };
        return Some(steps(from, to, step).map(|values| {
            let made = values.into_iter();
            made.map(|value| format!("{value:0width$}")).collect()
        }));
    }
    let letter = |text: &str| match text.as_bytes() {
        [byte] if byte.is_ascii_alphabetic() => Some(i64::from(*byte)),
        _ => None,
    };
    let (from, to) = (letter(first)?, letter(last)?);
    Some(steps(from, to, step).map(|values| {
        let bytes = values
            .into_iter()
            .filter_map(|value| u8::try_from(value).ok());
        bytes.map(|byte| char::from(byte).to_string()).collect()
    }))
}

fn steps(from: i64, to: i64, step: i64) -> Option<Vec<i64>> {
    let mut values = Vec::new();
    let mut value = from;
    loop {
        if values.len() == MAX_SEQUENCE {
            return None;
        }
        values.push(value);
        value = if from <= to {
            value.checked_add(step)?
        } else {
            value.checked_sub(step)?
        };
        if (from <= to && value > to) || (from > to && value < to) {
            return Some(values);
        }
    }
}
