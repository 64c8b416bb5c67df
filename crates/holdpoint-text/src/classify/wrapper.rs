//! What a passage is wrapped in: for whoever wants to know what was made of it.

use std::ops::Range;

/// What a passage stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wrapper {
    /// A fence of Markdown.
    Fence,
    /// A quotation, line by line.
    Quotation,
    /// A row of a table.
    Table,
    /// A comment of a program or a page.
    Comment,
    /// Quotes: a string of a program, the value of a field.
    Quotes,
}

impl Wrapper {
    /// The word for it in output.
    pub fn name(self) -> &'static str {
        match self {
            Wrapper::Fence => "fence",
            Wrapper::Quotation => "quotation",
            Wrapper::Table => "table",
            Wrapper::Comment => "comment",
            Wrapper::Quotes => "quotes",
        }
    }

    /// What stands around a part of a text, if something does.
    pub fn around(text: &str, part: &Range<usize>) -> Option<Self> {
        let from = text.floor_char_boundary(part.start.saturating_sub(LOOK));
        let before = text.get(from..part.start).unwrap_or_default();
        let to = text.floor_char_boundary(text.len().min(part.end.saturating_add(LOOK)));
        let after = text.get(part.end..to).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let whole = line.trim_start();
        let inside = text.get(part.clone()).unwrap_or_default().trim_start();
        let begins =
            |sign: &str| whole.starts_with(sign) || whole.is_empty() && inside.starts_with(sign);
        if before.matches("```").count() % 2 == 1 && after.contains("```") {
            return Some(Wrapper::Fence);
        }
        if before
            .rfind("<!--")
            .is_some_and(|at| !before.get(at..).unwrap_or_default().contains("-->"))
        {
            return Some(Wrapper::Comment);
        }
        if ["//", "#", "/*", "* ", "--", "<!--"]
            .iter()
            .any(|sign| begins(sign))
        {
            return Some(Wrapper::Comment);
        }
        if begins(">") {
            return Some(Wrapper::Quotation);
        }
        if begins("|") {
            return Some(Wrapper::Table);
        }
        let rest = after.split('\n').next().unwrap_or_default();
        let opened = |quote: char| line.matches(quote).count() % 2 == 1 && rest.contains(quote);
        ['"', '\'', '`']
            .into_iter()
            .any(opened)
            .then_some(Wrapper::Quotes)
    }
}

/// How far a fence or a comment is looked for; one that begins further away holds more than this passage.
const LOOK: usize = 2000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_around_is_told() {
        for (text, name) in [
            ("Look:\n\n```\nORDER\n```\n", Some("fence")),
            ("He wrote:\n\n> ORDER\n", Some("quotation")),
            ("| a | ORDER | b |\n", Some("table")),
            ("let x = 1;\n// ORDER now\n", Some("comment")),
            ("<p>x</p><!-- read this: ORDER --><p>", Some("comment")),
            ("text = \"ORDER and more\"\n", Some("quotes")),
            ("Now ORDER and go.", None),
        ] {
            let at = text.find("ORDER").unwrap();
            let found = Wrapper::around(text, &(at..at + 5));
            assert_eq!(found.map(Wrapper::name), name, "{text}");
        }
    }
}
