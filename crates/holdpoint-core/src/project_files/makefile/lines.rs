//! A makefile as logical lines: recipes apart, continuations joined, comments gone.

/// A line and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Part of a recipe, if a rule stands before it; its leading tab is gone.
    Recipe(String),
    /// A rule, assignment or directive.
    Plain(String),
    /// `define NAME`, with what stands before its `endef`.
    Define { head: String, body: String },
}

/// The logical lines of a text.
pub(super) fn logical_lines(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut physical = text
        .split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line));
    let mut prefix = '\t';
    while let Some(first) = physical.next() {
        if let Some(recipe) = first.strip_prefix(prefix) {
            let mut whole = recipe.to_owned();
            while ends_in_backslash(&whole)
                && let Some(next) = physical.next()
            {
                whole.push('\n');
                whole.push_str(next.strip_prefix(prefix).unwrap_or(next));
            }
            lines.push(Line::Recipe(whole));
            continue;
        }
        let mut whole = first.to_owned();
        while ends_in_backslash(&whole)
            && let Some(next) = physical.next()
        {
            whole.pop();
            whole.truncate(whole.trim_end().len());
            whole.push(' ');
            whole.push_str(next.trim_start());
        }
        let plain = without_comment(&whole);
        if let Some(head) = define_head(plain) {
            let body = define_body(&mut physical);
            lines.push(Line::Define {
                head: head.to_owned(),
                body,
            });
            continue;
        }
        if let Some(value) = plain.trim_start().strip_prefix(".RECIPEPREFIX") {
            let value = value.trim_start_matches([' ', '\t', ':', '=', '?']);
            prefix = value.chars().next().unwrap_or('\t');
        }
        if !plain.trim().is_empty() {
            lines.push(Line::Plain(plain.to_owned()));
        }
    }
    lines
}

/// Whether an odd number of backslashes stands at the end.
pub(super) fn ends_in_backslash(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Without what follows a `#` that is neither escaped nor inside a reference.
fn without_comment(line: &str) -> &str {
    let mut depth = 0usize;
    let mut before = ' ';
    for (at, char) in line.char_indices() {
        match char {
            '(' | '{' if before == '$' || depth > 0 => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            '#' if depth == 0 && before != '\\' => return line.get(..at).unwrap_or(line),
            _ => {}
        }
        before = char;
    }
    line
}

/// What follows `define`.
fn define_head(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = line.strip_prefix("override ").map_or(line, str::trim_start);
    let head = line.strip_prefix("define")?;
    head.starts_with([' ', '\t']).then(|| head.trim())
}

/// The lines up to the `endef` of a `define` that has begun.
fn define_body<'t>(physical: &mut impl Iterator<Item = &'t str>) -> String {
    let mut depth = 1usize;
    let mut body: Vec<&str> = Vec::new();
    for line in physical {
        let word = line.split_ascii_whitespace().next().unwrap_or_default();
        if word == "define" && !line.starts_with('\t') {
            depth += 1;
        } else if word == "endef" && !line.starts_with('\t') {
            depth -= 1;
            if depth == 0 {
                break;
            }
        }
        body.push(line);
    }
    body.join("\n")
}
