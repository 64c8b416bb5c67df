//! What `xargs` makes of its input: items between blanks, with quotes and backslashes of its own.

/// The items of a text; none if a quote is left open, where xargs gives up.
pub(super) fn items(text: &str) -> Option<Vec<String>> {
    between(text, |letter| letter.is_ascii_whitespace())
}

/// The one item of a line, where blanks separate nothing.
pub(super) fn line_item(line: &str) -> Option<String> {
    Some(between(line.trim_start(), |_| false)?.concat())
}

fn between(text: &str, separates: impl Fn(char) -> bool) -> Option<Vec<String>> {
    let mut items = Vec::new();
    let mut current: Option<String> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            quote @ ('\'' | '"') => {
                let item = current.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '\n' => return None,
                        end if end == quote => break,
                        inside => item.push(inside),
                    }
                }
            }
            '\\' => current.get_or_insert_default().extend(letters.next()),
            blank if separates(blank) => items.extend(current.take()),
            letter => current.get_or_insert_default().push(letter),
        }
    }
    items.extend(current);
    Some(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_blanks_together() {
        let split = |text| items(text).map(|items| items.join("|"));
        assert_eq!(split("a  b\nc").as_deref(), Some("a|b|c"));
        assert_eq!(split("\"q r\" 's t'u").as_deref(), Some("q r|s tu"));
        assert_eq!(split(r"a\ b \'").as_deref(), Some("a b|'"));
        assert_eq!(split("a \"b"), None);
        assert_eq!(line_item("  a  b 'c'").as_deref(), Some("a  b c"));
    }
}
