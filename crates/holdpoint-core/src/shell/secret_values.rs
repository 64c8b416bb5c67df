//! Files of settings that are loaded for the secrets in them: their values are nobody's to see.

use std::sync::Arc;

/// The text of such a file with every plain value taken out: `API_KEY=abc` is `API_KEY="$API_KEY"`, so
/// that what uses the variable later is judged by its name, and no answer shows what it holds. Whatever
/// is more than a plain assignment stays as it is, since it runs.
pub(super) fn without_values(text: &Arc<str>) -> Arc<str> {
    let mut shown = String::with_capacity(text.len());
    let mut inside: Option<char> = None;
    for line in text.lines() {
        if let Some(quote) = inside {
            match line.strip_suffix(quote) {
                Some(rest) if !rest.contains(quote) => inside = None,
                None if !line.contains(quote) => {}
                // Something follows the value that may run.
                Some(_) | None => return Arc::clone(text),
            }
            continue;
        }
        match assigned(line) {
            Some((name, value)) => {
                inside = value.opens;
                shown.push_str(&format!("{name}=\"${{{}}}\"\n", base(name)));
            }
            None => {
                shown.push_str(line);
                shown.push('\n');
            }
        }
    }
    match inside {
        Some(_) => Arc::clone(text),
        None => Arc::from(shown),
    }
}

/// A value as far as its own line shows it.
struct Plain {
    /// It goes on until this quote.
    opens: Option<char>,
}

/// The name with what stands in front of it, and the value, of a line that is a plain assignment.
fn assigned(line: &str) -> Option<(&str, Plain)> {
    let equals = line.find('=')?;
    let (front, value) = (line.get(..equals)?, line.get(equals + 1..)?.trim_end());
    let name = base(front);
    let letters = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
    let named = !name.is_empty() && name.bytes().all(letters);
    let before = front.strip_suffix(name)?.trim();
    if !named || !matches!(before, "" | "export") {
        return None;
    }
    let Some(quote @ ('"' | '\'')) = value.chars().next() else {
        let odd = |letter: char| " \t;&|<>()`'\"\\$".contains(letter);
        return (!value.contains(odd)).then_some((front, Plain { opens: None }));
    };
    let rest = value.get(1..)?;
    if quote == '"' && rest.contains(['$', '`', '\\']) {
        return None;
    }
    match rest.find(quote) {
        None => Some((front, Plain { opens: Some(quote) })),
        Some(at) if at + 1 == rest.len() => Some((front, Plain { opens: None })),
        Some(_) => None,
    }
}

/// The last word of what stands in front of the sign.
fn base(front: &str) -> &str {
    front.rsplit([' ', '\t']).next().unwrap_or(front)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        without_values(&Arc::from(text)).to_string()
    }

    #[test]
    fn plain_values_are_taken_out() {
        assert_eq!(
            shown("A=1\nexport B='x y'\nC=\"z\"\n# D\n"),
            "A=\"${A}\"\nexport B=\"${B}\"\nC=\"${C}\"\n# D\n"
        );
        assert_eq!(
            shown("K='-----\nabc\n-----'\nL=2"),
            "K=\"${K}\"\nL=\"${L}\"\n"
        );
    }

    #[test]
    fn what_runs_stays() {
        for text in [
            "A=1; rm -rf x\n",
            "A=$(rm x)\n",
            "A=1 rm x\n",
            "A=\"`rm x`\"\n",
        ] {
            assert_eq!(shown(text), text);
        }
        let more = "K='a\nb'; rm -rf x\n";
        assert_eq!(shown(more), more);
        assert_eq!(shown("K='a\n"), "K='a\n");
    }
}
