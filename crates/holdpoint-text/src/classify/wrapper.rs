//! What a passage is wrapped in: for whoever wants to know what was made of it.

use std::ops::Range;

/// What a passage stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wrapper {
    /// A fence of Markdown.
    Fence,
    /// A comment of a program or a page.
    Comment,
    /// A quotation, line by line.
    Quotation,
    /// A row of a table.
    Table,
    /// Quotes: a string of a program, the value of a field.
    Quotes,
    /// A field of a record, as fixtures and settings have it: JSON, YAML, TOML.
    Field,
    /// A test.
    Test,
    /// Talk about attacks.
    Talk,
}

impl Wrapper {
    /// The word for it in output.
    pub fn name(self) -> &'static str {
        match self {
            Wrapper::Fence => "fence",
            Wrapper::Comment => "comment",
            Wrapper::Quotation => "quotation",
            Wrapper::Table => "table",
            Wrapper::Quotes => "quotes",
            Wrapper::Field => "field",
            Wrapper::Test => "test",
            Wrapper::Talk => "talk",
        }
    }

    /// What stands around a part of a text. Talk is not looked for: it is a matter of weight.
    pub fn around(text: &str, part: &Range<usize>) -> Vec<Self> {
        let place = Place::new(text, part);
        // What was found by so many words in a row may begin before what encloses it.
        let end = text.floor_char_boundary(part.end.saturating_sub(1))..part.end;
        let last = Place::new(text, &end);
        let holds = |wrapper: &Wrapper| place.is_in(*wrapper) || last.is_in(*wrapper);
        let all = [
            Wrapper::Fence,
            Wrapper::Comment,
            Wrapper::Quotation,
            Wrapper::Table,
            Wrapper::Quotes,
            Wrapper::Field,
            Wrapper::Test,
        ];
        all.into_iter().filter(holds).collect()
    }
}

/// A place of a text.
struct Place<'t> {
    before: &'t str,
    after: &'t str,
    /// Its line up to it, and after it.
    line: &'t str,
    rest: &'t str,
    inside: &'t str,
}

impl<'t> Place<'t> {
    fn new(text: &'t str, part: &Range<usize>) -> Self {
        let from = text.floor_char_boundary(part.start.saturating_sub(LOOK));
        let before = text.get(from..part.start).unwrap_or_default();
        let to = text.floor_char_boundary(text.len().min(part.end.saturating_add(LOOK)));
        let after = text.get(part.end..to).unwrap_or_default();
        Self {
            before,
            after,
            line: before.rsplit('\n').next().unwrap_or_default(),
            rest: after.split('\n').next().unwrap_or_default(),
            inside: text.get(part.clone()).unwrap_or_default().trim_start(),
        }
    }

    fn is_in(&self, wrapper: Wrapper) -> bool {
        match wrapper {
            Wrapper::Fence => {
                self.before.matches("```").count() % 2 == 1 && self.after.contains("```")
            }
            Wrapper::Comment => self.is_in_comment(),
            Wrapper::Quotation => self.line_begins(">"),
            Wrapper::Table => self.line_begins("|"),
            Wrapper::Quotes => ['"', '\'', '`'].into_iter().any(|quote| {
                self.line.matches(quote).count() % 2 == 1 && self.rest.contains(quote)
            }),
            Wrapper::Field => self.is_in_field(),
            Wrapper::Test => self.before.lines().chain([self.line]).any(is_of_test),
            Wrapper::Talk => false,
        }
    }

    fn line_begins(&self, sign: &str) -> bool {
        let line = self.line.trim_start();
        line.starts_with(sign) || line.is_empty() && self.inside.starts_with(sign)
    }

    fn is_in_comment(&self) -> bool {
        let open = self.before.rfind("<!--");
        let is_open = |at: usize| !self.before.get(at..).unwrap_or_default().contains("-->");
        open.is_some_and(is_open)
            || ["//", "#", "/*", "* ", "--", "<!--"]
                .iter()
                .any(|sign| self.line_begins(sign))
    }

    /// Whether a name stands before it on its line, or above it with less indent.
    fn is_in_field(&self) -> bool {
        if names_field(self.line) {
            return true;
        }
        let indent = |line: &str| line.len() - line.trim_start().len();
        let own = indent(self.line);
        let above = self.before.lines().rev().skip(1);
        let mut above = above.filter(|line| !line.trim().is_empty());
        let opener = above.find(|line| indent(line) < own);
        opener.is_some_and(|line| line.trim_end().ends_with(['|', '>']) && names_field(line))
    }
}

/// Whether a line begins with a name that something is given to: `note:`, `"note": "`, `note = "`.
fn names_field(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t', '-', '{', '[', ',']);
    let Some((name, _)) = line.split_once([':', '=']) else {
        return false;
    };
    let name = name.trim_end().trim_matches(['"', '\'']);
    let is_of_name = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_of_name)
}

/// Whether a line is one only tests have.
fn is_of_test(line: &str) -> bool {
    let line = line.trim_start();
    [
        "def test",
        "fn test",
        "#[test]",
        "it(",
        "test(",
        "describe(",
        "@Test",
        "func Test",
    ]
    .iter()
    .any(|start| line.starts_with(start))
        || ["assert", "expect(", "EXPECT_"]
            .iter()
            .any(|sign| line.starts_with(sign))
}

/// How far a fence, a comment or a test is looked for; one that begins further away holds more than this passage.
const LOOK: usize = 2000;

/// The longest name of a field; what is longer is a sentence.
const MAX_NAME: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_around_is_told() {
        for (text, names) in [
            ("Look:\n\n```\nORDER\n```\n", "fence"),
            ("He wrote:\n\n> ORDER\n", "quotation"),
            ("| a | ORDER | b |\n", "table"),
            ("let x = 1;\n// ORDER now\n", "comment"),
            ("<p>x</p><!-- read this: ORDER --><p>", "comment"),
            ("text = \"ORDER and more\"\n", "quotes field"),
            ("print(\"ORDER\")\n", "quotes"),
            ("- id: 3\n  note: |\n    ORDER now\n", "field"),
            ("{\"note\": \"ORDER now\"}", "quotes field"),
            ("def test_it():\n    check(\"ORDER\")\n", "quotes test"),
            ("```yaml\nnote: ORDER\n```\n", "fence field"),
            ("Now ORDER and go.", ""),
            ("Please note the following: ORDER and go.", ""),
        ] {
            let at = text.find("ORDER").unwrap();
            let found = Wrapper::around(text, &(at..at + 5));
            let found: Vec<&str> = found.into_iter().map(Wrapper::name).collect();
            assert_eq!(found.join(" "), names, "{text}");
        }
    }
}
