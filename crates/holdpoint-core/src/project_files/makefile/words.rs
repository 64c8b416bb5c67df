//! Words and patterns of make.

/// Splits a list at blanks.
pub(super) fn list(text: &str) -> Vec<String> {
    text.split_ascii_whitespace().map(str::to_owned).collect()
}

/// What `%` stands for if `name` matches the pattern; empty for a pattern without `%`.
pub(super) fn matches(pattern: &str, name: &str) -> Option<String> {
    match pattern.split_once('%') {
        None => (pattern == name).then(String::new),
        Some((before, after)) => {
            let stem = name.strip_prefix(before)?.strip_suffix(after)?;
            (!stem.is_empty()).then(|| stem.to_owned())
        }
    }
}

/// The words with those that match a pattern replaced: `%.c` by `%.o`, or `.c` by `.o`.
pub(super) fn replaced(text: &str, pattern: &str, replacement: &str) -> String {
    let whole = |suffix: &str| {
        if suffix.contains('%') {
            suffix.to_owned()
        } else {
            format!("%{suffix}")
        }
    };
    let (pattern, replacement) = if pattern.contains('%') {
        (pattern.to_owned(), replacement.to_owned())
    } else {
        (whole(pattern), whole(replacement))
    };
    let words: Vec<String> = text
        .split_ascii_whitespace()
        .map(|word| match matches(&pattern, word) {
            Some(stem) => replacement.replacen('%', &stem, 1),
            None => word.to_owned(),
        })
        .collect();
    words.join(" ")
}

/// Where `wanted` stands outside references, that is outside `$(…)` and `${…}`.
pub(super) fn find_outside(text: &str, wanted: impl Fn(&str) -> bool) -> Option<usize> {
    let mut depth = 0usize;
    let mut dollar = false;
    for (at, char) in text.char_indices() {
        match char {
            '(' | '{' if dollar || depth > 0 => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 && wanted(text.get(at..).unwrap_or_default()) => return Some(at),
            _ => {}
        }
        dollar = char == '$';
    }
    None
}
