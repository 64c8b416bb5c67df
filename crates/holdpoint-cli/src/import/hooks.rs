//! Safety hooks of Claude Code, as their document describes them: a script or a file with the lists
//! `DENY_PATTERNS`, `ASK_PATTERNS`, `BLOCKED_FILES` and `CONFIRM_FILES`, in shell or Python.
//!
//! The profile `hooks` is the document; what is read here is what somebody has added.

use holdpoint_core::Glob;

use super::Imported;

const LISTS: &[(&str, &str)] = &[
    ("DENY_PATTERNS", "deny"),
    ("ASK_PATTERNS", "ask"),
    ("BLOCKED_FILES", "deny"),
    ("CONFIRM_FILES", "ask"),
];

pub(super) fn read(name: &str, text: &str, into: &mut Imported) -> Result<(), String> {
    let mut found = false;
    let mut from = 0;
    while let Some(line) = text
        .get(from..)
        .and_then(|rest| rest.split_inclusive('\n').next())
    {
        let problem = |why: &str| format!("line {}: {why}", number(text, from));
        match assigned(line).map_err(|why| problem(&why))? {
            None => from += line.len(),
            Some((key, word, open)) => {
                found = true;
                let (patterns, end) = list(text, from + open)?;
                for pattern in patterns {
                    match key.ends_with("_FILES") {
                        true => file(word, &pattern, into).map_err(|why| problem(&why))?,
                        false => command(word, &pattern, into),
                    }
                }
                from = end;
            }
        }
    }
    if into.at(&["deny", "patterns"]).is_some() || into.at(&["ask", "patterns"]).is_some() {
        into.left(
            name,
            "its expressions may not mind the case of letters; here case counts: write other spellings as well",
        );
    }
    match found {
        true => Ok(()),
        false => {
            let names: Vec<&str> = LISTS.iter().map(|(key, _)| *key).collect();
            Err(format!("{name} has none of the lists {}", names.join(", ")))
        }
    }
}

fn number(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or_default().matches('\n').count() + 1
}

/// The list a line begins, and where in the line its bracket is. Every other use of its name but reading it is an
/// error: nobody knows what it adds.
fn assigned(line: &str) -> Result<Option<(&'static str, &'static str, usize)>, String> {
    let line = without_comment(line);
    for (key, word) in LISTS {
        for (at, _) in line.match_indices(key) {
            let before = line.get(..at).unwrap_or_default();
            let after = line.get(at + key.len()..).unwrap_or_default();
            let in_name = |c: char| c.is_alphanumeric() || c == '_';
            if before.ends_with(in_name) || after.starts_with(in_name) || is_read(before, after) {
                continue;
            }
            let opened = bracket(before, after).ok_or_else(|| {
                format!("what is done with `{key}` is not understood: give it as a list in brackets, in a file of its own if need be")
            })?;
            return Ok(Some((key, word, at + key.len() + opened)));
        }
    }
    Ok(None)
}

/// Whether a name between these is only looked at, or stands in a text.
fn is_read(before: &str, after: &str) -> bool {
    let after = after.trim();
    before.trim_end_matches(['#', '!']).ends_with('$')
        || before.trim_end_matches(['#', '!']).ends_with("${")
        || before.ends_with(" in ") && (after.is_empty() || after.starts_with([':', ')', ']', ';']))
        || in_quotes(before) && !after.starts_with(['=', '+', '[', '.', ':'])
}

fn in_quotes(before: &str) -> bool {
    let mut open = None;
    let mut signs = before.chars();
    while let Some(sign) = signs.next() {
        match open {
            None | Some('"') if sign == '\\' => drop(signs.next()),
            None if matches!(sign, '"' | '\'') => open = Some(sign),
            Some(quote) if quote == sign => open = None,
            None | Some(_) => {}
        }
    }
    open.is_some()
}

/// Where behind the name the bracket of its list is: `=(`, `+=(`, `= [`, `: list[str] = [`.
fn bracket(before: &str, after: &str) -> Option<usize> {
    let mut words = before.split_whitespace();
    let declares = ["declare", "typeset", "local", "readonly", "export"];
    if !words.all(|word| declares.contains(&word) || word.starts_with('-')) {
        return None;
    }
    let equals = after.find('=')?;
    let between = after.get(..equals)?.trim();
    if !(between.is_empty() || between == "+" || between.starts_with(':')) {
        return None;
    }
    let behind = after.get(equals + 1..)?;
    let value = behind.trim_start();
    value
        .starts_with(['(', '['])
        .then(|| equals + 1 + behind.len() - value.len())
}

/// A line up to its comment.
fn without_comment(line: &str) -> &str {
    let comment = line.match_indices('#').find(|(at, _)| {
        let before = line.get(..*at).unwrap_or_default();
        (before.is_empty() || before.ends_with([' ', '\t', ')', ']', ';', ',']))
            && !in_quotes(before)
    });
    comment.and_then(|(at, _)| line.get(..at)).unwrap_or(line)
}

/// The texts of the list whose bracket is at `open`, and where the line of its end ends.
fn list(text: &str, open: usize) -> Result<(Vec<String>, usize), String> {
    let problem = |at: usize, why: &str| format!("line {}: {why}", number(text, at));
    let mut signs = text
        .char_indices()
        .skip_while(|(at, _)| *at < open)
        .peekable();
    let python = signs.next().is_some_and(|(_, sign)| sign == '[');
    let close = if python { ']' } else { ')' };
    let mut found = Vec::new();
    // What stands directly before: a text wants a gap, and in Python a comma, before the next.
    let (mut gap, mut comma) = (true, true);
    while let Some((at, sign)) = signs.next() {
        match sign {
            _ if sign == close => {
                let end = text.get(at..).and_then(|rest| rest.find('\n'));
                let end = end.map_or(text.len(), |length| at + length + 1);
                let behind = without_comment(text.get(at + 1..end).unwrap_or_default());
                return match behind.trim() {
                    "" | ";" => Ok((found, end)),
                    _ => Err(problem(
                        at,
                        "something follows the list: give it a line of its own",
                    )),
                };
            }
            '#' if gap => while signs.next_if(|(_, sign)| *sign != '\n').is_some() {},
            '\\' if signs.peek().is_some_and(|(_, next)| *next == '\n') => gap = true,
            ',' => (gap, comma) = (true, true),
            _ if sign.is_whitespace() => gap = true,
            'r' | 'R'
                if gap
                    && signs
                        .peek()
                        .is_some_and(|(_, next)| matches!(next, '"' | '\'')) => {}
            '"' | '\'' if gap && (comma || !python) => {
                let mut inner = String::new();
                loop {
                    match signs.next() {
                        None | Some((_, '\n')) => {
                            return Err(problem(at, "the text does not end on its line"));
                        }
                        Some((_, sign_in)) if sign_in == sign => break,
                        Some((_, '\\')) => {
                            inner.push('\\');
                            // Whether it ends a text in single quotes is for shell and Python to disagree on.
                            match signs.next_if(|(_, next)| *next != '\n') {
                                Some((_, '\'')) if sign == '\'' => {
                                    return Err(problem(
                                        at,
                                        "a `\\` before the quote: write the text in double quotes",
                                    ));
                                }
                                Some((_, next)) => inner.push(next),
                                None => {}
                            }
                        }
                        Some((_, sign_in)) => inner.push(sign_in),
                    }
                }
                found.push(inner);
                (gap, comma) = (false, false);
            }
            _ => {
                let why = format!(
                    "`{}` in the list is not a text in quotes of its own",
                    sign.escape_debug()
                );
                return Err(problem(at, &why));
            }
        }
    }
    Err(problem(open, "the list does not end"))
}

/// A file's pattern is any part of a path (the document: `pattern IN file_path`), a name or several.
fn file(word: &str, pattern: &str, into: &mut Imported) -> Result<(), String> {
    if pattern.is_empty() || pattern.contains(['$', '`', '\\']) {
        return Err(
            "a file's name is empty or has signs in it that are read otherwise: write it out"
                .into(),
        );
    }
    let part = Glob::escape(pattern);
    let mut globs = Vec::new();
    match pattern {
        _ if !pattern.contains('/') => globs.push(format!("*{part}*")),
        _ if pattern.starts_with(['/', '~']) => globs.push(format!("{part}*")),
        _ => globs.push(format!("*{part}*")),
    }
    if pattern.contains('/') {
        // Anchored, it is compared with the whole path, the directories above the workspace among it.
        globs.push(format!("/*{part}*"));
    }
    for glob in globs {
        for kind in ["write", "delete"] {
            into.push(&["files", kind, word], glob.clone());
        }
    }
    Ok(())
}

/// A pattern for `grep -E`, as far as it is words with gaps between them.
fn command(word: &str, pattern: &str, into: &mut Imported) {
    match glob_of(pattern) {
        Some(glob) => into.push(&[word, "patterns"], glob),
        None => {
            into.push(&["ask", "patterns"], "*");
            into.tighter(pattern, "the expression cannot be said as a pattern: every command is asked about until you write it");
        }
    }
}

/// The glob that matches at least what the expression does: it may stand anywhere in a line, unless it is anchored.
fn glob_of(pattern: &str) -> Option<String> {
    let (at_start, rest) = match pattern.strip_prefix('^') {
        Some(rest) => (true, rest),
        None => (false, pattern),
    };
    let (at_end, mut rest) = match rest.strip_suffix('$') {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let mut glob = String::from(if at_start { "" } else { "*" });
    let mut says = false;
    while let Some(sign) = rest.chars().next() {
        let space = ["\\s", "[[:space:]]"]
            .iter()
            .find_map(|space| rest.strip_prefix(space));
        if let Some(behind) = space {
            (glob, rest) = repeated(glob, behind, " ");
            continue;
        }
        if let Some(behind) = rest.strip_prefix("\\b") {
            rest = behind;
            continue;
        }
        rest = rest.get(sign.len_utf8()..)?;
        let literal = match sign {
            '.' => {
                (glob, rest) = repeated(glob, rest, "?");
                continue;
            }
            '\\' => {
                let escaped = rest
                    .chars()
                    .next()
                    .filter(|c| ".*?+[]{}^-/~:=,@%!".contains(*c))?;
                rest = rest.get(escaped.len_utf8()..)?;
                escaped
            }
            // What an expression means by itself, and what is not in the text of one command.
            '[' | ']' | '(' | ')' | '|' | '?' | '+' | '*' | '{' | '}' | '^' | '$' | ';' | '&'
            | '`' | '"' | '\'' => return None,
            other => other,
        };
        says |= literal != ' ';
        glob.push_str(&Glob::escape(literal.encode_utf8(&mut [0; 4])));
    }
    if !at_end {
        glob.push('*');
    }
    while glob.contains("**") {
        glob = glob.replace("**", "*");
    }
    says.then_some(glob)
}

/// Adds one sign that may be repeated: as often as somebody likes is a star.
fn repeated<'r>(mut glob: String, rest: &'r str, one: &str) -> (String, &'r str) {
    match rest.strip_prefix(['*', '?']) {
        Some(behind) => {
            glob.push('*');
            (glob, behind)
        }
        None => {
            let many = rest.strip_prefix('+');
            // Gaps between words are one space in what is compared; of other signs there may be many.
            glob.push_str(if many.is_some() && one != " " {
                "*"
            } else {
                one
            });
            (glob, many.unwrap_or(rest))
        }
    }
}
