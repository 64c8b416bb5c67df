//! Globs as `fnmatch` reads them (J-13): anchored at both ends, `*` crosses everything.
//!
//! `*` any text, `?` one character, `[seq]` and `[!seq]` one character of a set; an unclosed `[`
//! is itself. There is no escape character. Matching takes time linear in the text for each run
//! of the pattern between two stars and never backtracks over an earlier star.

/// A compiled pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    /// What stands between the stars; `n` stars make `n + 1` runs.
    runs: Vec<Run>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Run {
    Literal(String),
    Mixed(Vec<Token>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Char(char),
    Any,
    Set {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Glob {
    /// Compiles `pattern`; every text is a valid pattern.
    pub fn new(pattern: &str) -> Self {
        let mut runs = Vec::new();
        let mut tokens = Vec::new();
        let mut rest = pattern.chars();
        while let Some(c) = rest.next() {
            match c {
                '*' => runs.push(Run::from_tokens(std::mem::take(&mut tokens))),
                '?' => tokens.push(Token::Any),
                '[' => match read_set(rest.as_str()) {
                    Some((token, after)) => {
                        tokens.push(token);
                        rest = after.chars();
                    }
                    None => tokens.push(Token::Char('[')),
                },
                c => tokens.push(Token::Char(c)),
            }
        }
        runs.push(Run::from_tokens(tokens));
        Self { runs }
    }

    /// Whether the whole of `text` matches.
    pub fn matches(&self, text: &str) -> bool {
        let [first, middle @ .., last] = self.runs.as_slice() else {
            return self
                .runs
                .first()
                .is_some_and(|only| only.prefix_of(text) == Some(text.len()));
        };
        let Some(mut at) = first.prefix_of(text) else {
            return false;
        };
        for run in middle {
            match text.get(at..).and_then(|rest| run.find_in(rest)) {
                Some(length) => at += length,
                None => return false,
            }
        }
        text.get(at..).is_some_and(|rest| last.suffix_of(rest))
    }

    /// Whether the pattern has no wildcard, so that only its own text matches.
    pub fn literal(&self) -> Option<&str> {
        match self.runs.as_slice() {
            [Run::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// The one text that matches, if there is only one: a pattern without wildcards, or one that
    /// [`Glob::escape`] made.
    pub fn only(&self) -> Option<String> {
        match self.runs.as_slice() {
            [Run::Literal(text)] => Some(text.clone()),
            [Run::Mixed(tokens)] => tokens.iter().map(Token::only).collect(),
            _ => None,
        }
    }

    /// A pattern that matches `text` and nothing else.
    pub fn escape(text: &str) -> String {
        let mut pattern = String::with_capacity(text.len());
        for sign in text.chars() {
            match sign {
                '*' => pattern.push_str("[*]"),
                '?' => pattern.push_str("[?]"),
                '[' => pattern.push_str("[[]"),
                other => pattern.push(other),
            }
        }
        pattern
    }

    /// The texts that must stand in anything that matches.
    pub(crate) fn literals(&self) -> Vec<String> {
        let mut found = Vec::new();
        for run in &self.runs {
            match run {
                Run::Literal(text) => found.push(text.clone()),
                Run::Mixed(tokens) => {
                    let mut text = String::new();
                    for token in tokens {
                        match token {
                            Token::Char(c) => text.push(*c),
                            Token::Any | Token::Set { .. } => {
                                found.push(std::mem::take(&mut text));
                            }
                        }
                    }
                    found.push(text);
                }
            }
        }
        found.retain(|text| !text.is_empty());
        found
    }

    /// A text that matches, with `star` in place of each star.
    pub fn example(&self, star: &str) -> String {
        let runs = self.runs.iter().map(|run| match run {
            Run::Literal(text) => text.clone(),
            Run::Mixed(tokens) => tokens.iter().map(Token::example).collect(),
        });
        runs.collect::<Vec<String>>().join(star)
    }

    /// How many characters the pattern fixes; the measure of how specific it is.
    pub fn specificity(&self) -> usize {
        self.runs
            .iter()
            .map(|run| match run {
                Run::Literal(text) => text.chars().count(),
                Run::Mixed(tokens) => tokens.len(),
            })
            .sum()
    }
}

impl Run {
    fn from_tokens(tokens: Vec<Token>) -> Self {
        let literal: Option<String> = tokens
            .iter()
            .map(|token| match token {
                Token::Char(c) => Some(*c),
                Token::Any | Token::Set { .. } => None,
            })
            .collect();
        match literal {
            Some(text) => Run::Literal(text),
            None => Run::Mixed(tokens),
        }
    }

    /// The length of the prefix of `text` this run matches.
    fn prefix_of(&self, text: &str) -> Option<usize> {
        match self {
            Run::Literal(literal) => text.starts_with(literal.as_str()).then_some(literal.len()),
            Run::Mixed(tokens) => {
                let mut chars = text.chars();
                for token in tokens {
                    if !token.matches(chars.next()?) {
                        return None;
                    }
                }
                Some(text.len() - chars.as_str().len())
            }
        }
    }

    fn suffix_of(&self, text: &str) -> bool {
        match self {
            Run::Literal(literal) => text.ends_with(literal.as_str()),
            Run::Mixed(tokens) => {
                let mut chars = text.chars();
                tokens
                    .iter()
                    .rev()
                    .all(|token| chars.next_back().is_some_and(|c| token.matches(c)))
            }
        }
    }

    /// The end of the first place in `text` where this run matches.
    fn find_in(&self, text: &str) -> Option<usize> {
        match self {
            Run::Literal(literal) => text.find(literal.as_str()).map(|at| at + literal.len()),
            Run::Mixed(_) => text.char_indices().find_map(|(at, _)| {
                let length = self.prefix_of(text.get(at..)?)?;
                Some(at + length)
            }),
        }
    }
}

impl Token {
    /// The one character it stands for.
    fn only(&self) -> Option<char> {
        match self {
            Token::Char(c) => Some(*c),
            Token::Any => None,
            Token::Set { negated, ranges } => match ranges.as_slice() {
                [(low, high)] if low == high && !negated => Some(*low),
                _ => None,
            },
        }
    }

    /// A character it stands for.
    fn example(&self) -> char {
        match self {
            Token::Char(c) => *c,
            Token::Any => 'x',
            Token::Set { ranges, .. } => {
                let firsts = ranges.iter().map(|(low, _)| *low);
                let mut likely = firsts.chain(['x', 'y', '0']);
                likely.find(|one| self.matches(*one)).unwrap_or('x')
            }
        }
    }

    fn matches(&self, c: char) -> bool {
        match self {
            Token::Char(wanted) => *wanted == c,
            Token::Any => true,
            Token::Set { negated, ranges } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated
            }
        }
    }
}

/// Reads the set after a `[`, giving the token and what follows its `]`.
fn read_set(text: &str) -> Option<(Token, &str)> {
    let (negated, body) = match text.strip_prefix('!') {
        Some(body) => (true, body),
        None => (false, text),
    };
    // A `]` in first place belongs to the set.
    let end = body
        .char_indices()
        .skip(1)
        .find(|(_, c)| *c == ']')
        .map(|(at, _)| at)?;
    let members: Vec<char> = body.get(..end)?.chars().collect();
    let mut ranges = Vec::new();
    let mut rest = members.as_slice();
    loop {
        rest = match rest {
            [low, '-', high, after @ ..] => {
                ranges.push((*low, *high));
                after
            }
            [one, after @ ..] => {
                ranges.push((*one, *one));
                after
            }
            [] => break,
        };
    }
    Some((Token::Set { negated, ranges }, body.get(end + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Glob::new(pattern).matches(text)
    }

    #[test]
    fn stars_cross_slashes_spaces_and_newlines() {
        assert!(matches("cat *", "cat /etc/passwd"));
        assert!(matches("git *", "git status\nrm -rf /"));
        assert!(matches("*", ""));
        assert!(matches("a*b*c", "a--b--b--c"));
        assert!(!matches("a*b*c", "a--c--b"));
    }

    #[test]
    fn both_ends_are_anchored_and_case_counts() {
        assert!(!matches("git *", "git"));
        assert!(!matches("rm -rf *", "RM -RF /x"));
        assert!(!matches("rm -rf *", "rm  -rf /x"));
        assert!(!matches("rm -rf *", " rm -rf /x"));
        assert!(!matches("ab", "abc"));
    }

    #[test]
    fn sets_follow_fnmatch() {
        assert!(!matches("ls [!-]*", "ls -la"));
        assert!(matches("ls [!-]*", "ls x"));
        assert!(matches("[a-c]?", "bz"));
        assert!(matches("[]]", "]"));
        assert!(matches("[!]]", "x"));
        assert!(matches("a[b", "a[b"));
        assert!(matches("[a-]", "-"));
        assert!(matches("[^a]", "^"));
        assert!(!matches("[z-a]", "m"));
    }

    #[test]
    fn overlapping_ends_do_not_share_characters() {
        assert!(!matches("ab*ba", "aba"));
        assert!(matches("ab*ba", "abba"));
    }

    #[test]
    fn question_marks_take_whole_characters() {
        assert!(matches("?", "é"));
        assert!(matches("*?é", "aé é".trim()));
    }

    #[test]
    fn many_stars_over_a_long_text_stay_fast() {
        let text = "a".repeat(200_000);
        assert!(!matches("*a*a*a*a*a*a*a*b", &text));
    }

    /// The definition, by recursion over both texts.
    fn reference(pattern: &[char], text: &[char]) -> bool {
        match pattern {
            [] => text.is_empty(),
            ['*', rest @ ..] => (0..=text.len()).any(|skip| reference(rest, &text[skip..])),
            ['?', rest @ ..] => !text.is_empty() && reference(rest, &text[1..]),
            [c, rest @ ..] => text.first() == Some(c) && reference(rest, &text[1..]),
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(pattern in "[ab*?]{0,8}", text in "[ab]{0,8}") {
            let p: Vec<char> = pattern.chars().collect();
            let t: Vec<char> = text.chars().collect();
            prop_assert_eq!(matches(&pattern, &text), reference(&p, &t));
        }

        #[test]
        fn an_escaped_text_matches_itself_alone(text in "[ab*?\\[\\]!-]{0,12}", other in "[ab*?\\[\\]!-]{0,12}") {
            let glob = Glob::new(&Glob::escape(&text));
            prop_assert_eq!(glob.only(), Some(text.clone()));
            prop_assert_eq!(glob.matches(&other), other == text);
        }

        #[test]
        fn any_pattern_meets_any_text(pattern in ".*", text in ".*") {
            let _ = matches(&pattern, &text);
        }
    }
}
