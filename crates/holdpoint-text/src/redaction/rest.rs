//! The rest of a secret whose first part is known: shell words of several pieces, settings with
//! punctuation in them.

use super::borders::Quote;

/// The farthest that is looked for the end of a secret.
const MAX_REACH: usize = 512;

/// The most pieces of a word in a shell.
const MAX_PIECES: usize = 16;

/// The end of a value in the quotes that open at `open` and close at `close`, with the pieces that
/// a shell or SQL would join to it: `'a'\\''b'`, `'a'"b"`, `'a''b'`, `'a'b`.
pub(crate) fn behind_quotes(bytes: &[u8], open: usize, close: usize) -> usize {
    let Some(quote) = Quote::at(bytes, close) else {
        return close;
    };
    // A prefix such as that of `b"…"` may stand before the mark.
    let opened = Quote::at(bytes, open).or_else(|| Quote::at(bytes, open + 1));
    let behind = close + quote.length;
    let joined = bytes
        .get(behind)
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || b"\"'\\".contains(byte));
    if opened != Some(quote) || quote.length > 1 || !joined {
        return close;
    }
    let end = pieces(bytes, behind);
    // The last mark stays, as the first does.
    match bytes.get(..end) {
        Some([.., b'"' | b'\'']) if end > behind => end - 1,
        Some(_) if end > behind => end,
        Some(_) | None => close,
    }
}

/// The end of the word in a shell whose bare start ends at `end`.
pub(crate) fn of_shell_word(bytes: &[u8], end: usize) -> usize {
    // The backslash of an escaped blank has been read without it.
    let escape = end
        .checked_sub(1)
        .filter(|at| bytes.get(*at) == Some(&b'\\'));
    pieces(bytes, escape.unwrap_or(end)).max(end)
}

/// The end of a value whose quote opens at `open` and does not close on its line; `end` if it does
/// not close at all.
pub(crate) fn over_lines(bytes: &[u8], open: usize, end: usize) -> usize {
    let Some(mark @ (b'"' | b'\'')) = bytes.get(open) else {
        return end;
    };
    let rest = bytes.get(end..).unwrap_or(&[]);
    let Some(length) = rest.iter().take(MAX_REACH).position(|byte| byte == mark) else {
        return end;
    };
    let apart = rest
        .get(length + 1)
        .is_none_or(|byte| byte.is_ascii_whitespace() || b";|&)".contains(byte));
    if apart { end + length } else { end }
}

/// The end of a setting among others with semicolons between them.
pub(crate) fn of_setting(bytes: &[u8], end: usize) -> usize {
    let rest = bytes.get(end..).unwrap_or(&[]);
    let stop = rest
        .iter()
        .take(64)
        .position(|byte| matches!(byte, b';' | b'"' | b'\'' | b'\n' | b'|'));
    match stop.and_then(|length| Some((length, rest.get(length)?))) {
        Some((length, b';' | b'"' | b'\'')) => end + length,
        Some(_) | None => end,
    }
}

/// The end of a value that fills the rest of its line, if punctuation goes on without a blank.
pub(crate) fn of_line(bytes: &[u8], end: usize) -> usize {
    let rest = bytes.get(end..).unwrap_or(&[]);
    let [b'#' | b',' | b';' | b'&' | b'|' | b'<' | b'>', next, ..] = rest else {
        return end;
    };
    let length = rest
        .iter()
        .take(MAX_REACH)
        .take_while(|byte| **byte > b' ' && !b"\"'`\\".contains(byte))
        .count();
    let alone = matches!(rest.get(length), None | Some(b'\n' | b'\r'));
    let last = length.checked_sub(1).and_then(|last| rest.get(last));
    let listed = last.is_some_and(|byte| b",;".contains(byte));
    if alone && !listed && next.is_ascii_alphanumeric() {
        end + length
    } else {
        end
    }
}

/// The first line of the text that YAML's `|` or `>` at `at` opens.
pub(crate) fn block(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let [b'|' | b'>', rest @ ..] = bytes.get(at..)? else {
        return None;
    };
    let chomps = usize::from(rest.first().is_some_and(|byte| b"-+".contains(byte)));
    let [b'\n', line @ ..] = rest.get(chomps..)? else {
        return None;
    };
    let indent = line
        .iter()
        .take(64)
        .take_while(|byte| **byte == b' ')
        .count();
    let length = line
        .get(indent..)?
        .iter()
        .take(MAX_REACH)
        .take_while(|byte| **byte > b' ')
        .count();
    let start = at + 1 + chomps + 1 + indent;
    (indent > 0 && length > 0).then_some((start, start + length))
}

/// The text in three quotation marks each, on one line, that opens at `at`.
pub(crate) fn in_triple_quotes(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let rest = bytes.get(at..bytes.len().min(at + MAX_REACH))?;
    let (marks, inside) = rest.split_at_checked(3)?;
    if !matches!(marks, b"\"\"\"" | b"\'\'\'") {
        return None;
    }
    let length = inside.windows(3).position(|window| window == marks)?;
    let text = inside.get(..length)?;
    (!text.is_empty() && !text.contains(&b'\n')).then_some((at + 3, at + 3 + length))
}

fn pieces(bytes: &[u8], from: usize) -> usize {
    let mut end = from;
    for _ in 0..MAX_PIECES {
        match piece(bytes, end) {
            Some(next) if next > end && next - from <= MAX_REACH => end = next,
            Some(_) | None => break,
        }
    }
    end
}

/// The end of the piece of a word that begins at `at`.
fn piece(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    match rest {
        // An escaped mark joins only what goes on in marks: elsewhere it belongs to the text around.
        [b'\\', b'\'', b'\'', ..] => Some(at + 2),
        [b'\\', escaped, ..] if b" !$&;#()<>|*?".contains(escaped) => Some(at + 2),
        [b'#' | b',', next, ..] if is_plain(next) => Some(at + 1),
        [mark @ (b'"' | b'\''), inside @ ..] => {
            let length = inside
                .iter()
                .take(MAX_REACH)
                .position(|byte| byte == mark || *byte <= b' ')?;
            let closed = inside.get(length) == Some(mark);
            let word = inside.first().is_some_and(is_plain);
            (closed && word).then_some(at + length + 2)
        }
        [byte, ..] if is_plain(byte) => {
            let length = rest
                .iter()
                .take(MAX_REACH)
                .take_while(|byte| is_plain(byte))
                .count();
            Some(at + length)
        }
        _ => None,
    }
}

fn is_plain(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"_-.+/=@%^~!:$".contains(byte)
}
