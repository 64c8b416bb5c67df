//! The part of Starlark that Codex's `.rules` files are written in: calls with names and literals, and comments.
//!
//! What goes further (variables, functions, loops) is an error: nobody knows then what the rules are.

use std::iter::Peekable;
use std::str::Chars;

/// How deep lists may lie in each other. A rule's pattern is a list of words or of lists of words.
const MAX_DEPTH: usize = 8;

/// A rule against a command that begins with some words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixRule {
    /// Each word in every spelling it may have.
    pub pattern: Vec<Vec<String>>,
    /// `allow`, `prompt` or `forbidden`.
    pub decision: String,
}

/// The calls that say nothing about commands.
const OTHER_CALLS: [&str; 2] = ["host_executable", "network_rule"];

/// The rules in a text.
pub fn prefix_rules(text: &str) -> Result<Vec<PrefixRule>, String> {
    let mut reader = Reader {
        letters: text.chars().peekable(),
    };
    let mut found = Vec::new();
    while let Some(name) = reader.name()? {
        let arguments = reader.call(&name)?;
        if OTHER_CALLS.contains(&name.as_str()) {
            continue;
        }
        if name != "prefix_rule" {
            return Err(format!("`{name}` is not known"));
        }
        let mut rule = PrefixRule {
            pattern: Vec::new(),
            decision: "allow".into(),
        };
        for (index, (key, value)) in arguments.into_iter().enumerate() {
            match (key.as_deref(), index, value) {
                (Some("pattern"), _, Value::List(words)) | (None, 0, Value::List(words)) => {
                    rule.pattern = words
                        .into_iter()
                        .map(Value::spellings)
                        .collect::<Result<_, _>>()?;
                }
                (Some("decision"), _, Value::Text(word)) | (None, 1, Value::Text(word)) => {
                    rule.decision = word;
                }
                (Some("pattern" | "decision") | None, _, _) => {
                    return Err("a rule has something else than a literal".into());
                }
                // Why, and examples.
                (Some(_), _, _) => {}
            }
        }
        found.push(rule);
    }
    Ok(found)
}

enum Value {
    Text(String),
    List(Vec<Value>),
    /// A number, or a name such as `None`.
    Other,
}

impl Value {
    fn spellings(self) -> Result<Vec<String>, String> {
        match self {
            Value::Text(word) => Ok(vec![word]),
            Value::List(words) => words
                .into_iter()
                .map(|word| match word {
                    Value::Text(word) => Ok(word),
                    Value::List(_) | Value::Other => {
                        Err("a pattern has something else than words".into())
                    }
                })
                .collect(),
            Value::Other => Err("a pattern has something else than words".into()),
        }
    }
}

struct Reader<'a> {
    letters: Peekable<Chars<'a>>,
}

impl Reader<'_> {
    /// Goes on to what is neither white space nor a comment.
    fn skip(&mut self) -> Option<char> {
        loop {
            match self.letters.peek().copied() {
                Some('#') => while self.letters.next_if(|letter| *letter != '\n').is_some() {},
                Some(letter) if letter.is_whitespace() || letter == ';' => {
                    self.letters.next();
                }
                other => return other,
            }
        }
    }

    fn take(&mut self, wanted: char) -> bool {
        self.skip() == Some(wanted) && self.letters.next().is_some()
    }

    /// A name; none at the end.
    fn name(&mut self) -> Result<Option<String>, String> {
        if self.skip().is_none() {
            return Ok(None);
        }
        let mut name = String::new();
        while let Some(letter) = self
            .letters
            .next_if(|one| one.is_ascii_alphanumeric() || *one == '_')
        {
            name.push(letter);
        }
        match name.is_empty() {
            true => Err("something else than a call stands there".into()),
            false => Ok(Some(name)),
        }
    }

    /// The arguments of a call, with their names.
    fn call(&mut self, name: &str) -> Result<Vec<(Option<String>, Value)>, String> {
        if !self.take('(') {
            return Err(format!("`{name}` is not called"));
        }
        let mut found = Vec::new();
        while !self.take(')') {
            let starts_name = self
                .skip()
                .is_some_and(|letter| letter.is_ascii_alphabetic());
            if starts_name {
                let key = self.name()?;
                if !self.take('=') {
                    return Err("an argument is something else than a literal".into());
                }
                found.push((key, self.value(0)?));
            } else {
                found.push((None, self.value(0)?));
            }
            if !self.take(',') && self.skip() != Some(')') {
                return Err("a call has no end".into());
            }
        }
        Ok(found)
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth > MAX_DEPTH {
            return Err("lists lie too deep in each other".into());
        }
        match self.skip() {
            Some('"' | '\'') => self.text().map(Value::Text),
            Some('[') => {
                self.letters.next();
                let mut all = Vec::new();
                while !self.take(']') {
                    all.push(self.value(depth + 1)?);
                    if !self.take(',') && self.skip() != Some(']') {
                        return Err("a list has no end".into());
                    }
                }
                Ok(Value::List(all))
            }
            Some(letter) if letter.is_ascii_digit() => self.name().map(|_| Value::Other),
            Some(letter) if letter.is_ascii_alphabetic() => match self.name()?.as_deref() {
                Some("None" | "True" | "False") => Ok(Value::Other),
                Some(_) | None => Err("a variable stands for a literal".into()),
            },
            Some(_) | None => Err("a value is something else than a literal".into()),
        }
    }

    fn text(&mut self) -> Result<String, String> {
        let Some(quote) = self.letters.next() else {
            return Err(NO_END.into());
        };
        let mut text = String::new();
        while let Some(letter) = self.letters.next() {
            match letter {
                '\\' => match self.letters.next() {
                    Some(escaped @ ('\\' | '"' | '\'')) => text.push(escaped),
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some(_) | None => return Err("a text has an escape that is not known".into()),
                },
                '\n' => return Err(NO_END.into()),
                letter if letter == quote => {
                    // Three quotes begin a text of several lines.
                    return match text.is_empty() && self.letters.peek() == Some(&quote) {
                        true => Err("a text of several lines is not read".into()),
                        false => Ok(text),
                    };
                }
                letter => text.push(letter),
            }
        }
        Err(NO_END.into())
    }
}

const NO_END: &str = "a text has no end";
