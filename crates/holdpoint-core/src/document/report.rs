//! Says a fault in words, with the place it belongs to.

use super::error::DocumentError;
use super::expected::{plain, plain_range};
use super::fault::{Location, Part, Shows, What};
use super::node::{Node, Step, Value, position};
use super::quote::{cite, looks_secret, printable, quote};
use super::{HINT_MARK, suggest, syntax};

/// Everything about the place of a fault that its sentence may mention.
pub(super) struct Report<'t> {
    position: (usize, usize),
    path: String,
    /// `` `rules[0]` ``, `` key `x` `` or `the document`.
    subject: String,
    /// `` in `rules` ``, or nothing at the root.
    parent: String,
    /// The same for the place itself.
    object: String,
    /// The key, when the fault is about a key.
    key: Option<String>,
    source: &'t str,
    hidden: bool,
}

impl<'t> Report<'t> {
    pub(super) fn new(text: &'t str, place: Location, steps: &[Step<'_>]) -> Report<'t> {
        let inside = |steps: &[Step<'_>]| match steps {
            [] => String::new(),
            steps => format!(" in {}", cite(&path_text(steps))),
        };
        let parents = steps.split_last().map_or(steps, |(_, parents)| parents);
        let key = match (place.part, steps.last()) {
            (Part::Key, Some(Step::Key(key))) => Some(key.to_string()),
            _ => None,
        };
        Report {
            position: position(text, place.span.start),
            path: path_text(steps),
            subject: subject(steps, place.part),
            parent: inside(parents),
            object: inside(steps),
            // A key may be named even if its value may not.
            hidden: is_hidden(match place.part {
                Part::Key => parents,
                Part::Value => steps,
            }),
            source: place.span.slice(text),
            key,
        }
    }

    pub(super) fn error(self, name: &str, what: What) -> DocumentError {
        let (problem, found, hint) = self.say(what);
        let (line, column) = self.position;
        DocumentError {
            name: printable(name),
            line,
            column,
            path: self.path,
            problem: printable(&problem),
            found: found.filter(|_| !self.hidden).map(String::into_boxed_str),
            hint: hint.map(|hint| printable(&hint).into_boxed_str()),
        }
    }

    fn say(&self, what: What) -> Sentence {
        let subject = &self.subject;
        match what {
            What::Said {
                problem,
                hint,
                shows,
            } => {
                let found =
                    (shows == Shows::Text && !self.source.is_empty()).then(|| quote(self.source));
                (
                    problem,
                    found.or_else(|| self.key.as_deref().map(quote)),
                    hint,
                )
            }
            What::UnknownKey { key, accepted } => {
                let shown = quote(&key);
                let place = if self.key.is_some() {
                    &self.parent
                } else {
                    &self.object
                };
                let problem = format!("unknown key {}{place}", cite(&shown));
                (problem, Some(shown), Some(suggest::hint(&key, accepted)))
            }
            What::UnknownWord { word, accepted } => {
                let hint = match word {
                    Some(ref word) => suggest::hint(word, accepted),
                    None if accepted.contains(&self.source) => {
                        format!("put it in quotes: `\"{}\"`", self.source)
                    }
                    None => suggest::hint("", accepted),
                };
                let hidden = self.hidden
                    || word
                        .as_deref()
                        .is_some_and(|word| self.holds_secret(&|secret| secret == word));
                if hidden {
                    return (
                        format!("{subject} cannot have this value"),
                        None,
                        Some(hint),
                    );
                }
                let shown = word.as_deref().map_or_else(|| self.outline(), quote);
                (
                    format!("{subject} cannot be {}", cite(&shown)),
                    Some(shown),
                    Some(hint),
                )
            }
            What::MissingKey(key) => {
                let problem = format!("key {} is missing{}", cite(&quote(key)), self.object);
                (problem, None, Some("add it".to_owned()))
            }
            What::RepeatedField(field) => {
                let field = cite(&quote(field));
                let problem = match &self.key {
                    Some(key) if cite(&quote(key)) != field => {
                        format!(
                            "key {} means {field}, which is already written",
                            cite(&quote(key))
                        )
                    }
                    Some(_) => format!("key {field} is already written under another name"),
                    None => format!("key {field} is written twice"),
                };
                let found = self.key.as_deref().map(quote);
                (problem, found, Some("keep one".to_owned()))
            }
            What::WrongType { expected, .. } => {
                // A type may say what to write instead.
                let (expected, advice) = match expected.split_once(super::HINT_MARK) {
                    Some((expected, advice)) => (plain(expected), Some(advice.to_owned())),
                    None => (plain(&expected), None),
                };
                let hint = advice.or_else(|| self.conversion(&expected));
                (
                    format!("{subject} must be {expected}"),
                    Some(self.outline()),
                    hint,
                )
            }
            What::WrongValue { expected, .. } => {
                let problem = format!("{subject} must be {}", plain_range(&expected));
                (problem, Some(self.outline()), None)
            }
            What::Own(message) => self.own(&message),
        }
    }

    fn own(&self, message: &str) -> Sentence {
        let repeats = self.repeats_secret(message);
        let shown: String = message.chars().take(OWN_LIMIT).collect();
        let (problem, hint) = match shown.split_once(HINT_MARK) {
            Some((problem, hint)) => (problem, Some(hint)),
            None => (shown.as_str(), None),
        };
        let subject = &self.subject;
        let problem = if problem.starts_with(UNTAGGED) {
            format!("{subject} has none of the accepted forms")
        } else if repeats {
            format!("{subject} is not accepted")
        } else if PREDICATES
            .iter()
            .any(|verb| starts_with_word(problem, verb))
        {
            format!("{subject} {problem}")
        } else {
            format!("{subject}: {problem}")
        };
        let found = (!self.source.starts_with(['{', '['])).then(|| self.outline());
        let hint = hint.filter(|_| !repeats).map(str::to_owned);
        (problem, found, hint)
    }

    /// Whether the message repeats a secret that stands at this place or inside it. A
    /// message too long to search is taken to.
    fn repeats_secret(&self, message: &str) -> bool {
        self.holds_secret(&|secret| message.len() > SEARCHED || message.contains(secret))
    }

    fn holds_secret(&self, wanted: &dyn Fn(&str) -> bool) -> bool {
        syntax::parse(self.source).is_ok_and(|value| holds(&value, self.hidden, wanted))
    }

    /// The value as written. What is inside brackets is left out: it may be long, and a
    /// secret may be among it.
    fn outline(&self) -> String {
        let inside = |close| {
            let mut inner = self.source.chars();
            inner.next();
            inner.as_str().trim_start().starts_with(close)
        };
        match self.source.chars().next() {
            Some('{') if inside('}') => "{}".to_owned(),
            Some('{') => "{ … }".to_owned(),
            Some('[') if inside(']') => "[]".to_owned(),
            Some('[') => "[ … ]".to_owned(),
            Some(_) | None => quote(self.source),
        }
    }

    /// How to turn what was found into what was expected, where that is clear.
    fn conversion(&self, expected: &str) -> Option<String> {
        if self.key.is_some() {
            return None;
        }
        let Some(bare) = self
            .source
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
        else {
            let plain = !self.source.starts_with(['{', '[']);
            return (expected == "a string" && plain && self.source != "null")
                .then(|| "put it in quotes".to_owned());
        };
        if expected == "an array" && !self.hidden {
            return Some(format!("write `[{}]`", quote(self.source)));
        }
        let quoted_number = !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_digit());
        match expected {
            "true or false" if matches!(bare, "true" | "false") => {}
            "a whole number" | "a number" if quoted_number => {}
            _ => return None,
        }
        Some("remove the quotes".to_owned())
    }
}

/// The problem, the text found and the hint.
type Sentence = (String, Option<String>, Option<String>);

/// Whether a wanted text is among the secrets of the value.
fn holds(node: &Node<'_>, hidden: bool, wanted: &dyn Fn(&str) -> bool) -> bool {
    match &node.value {
        Value::Null | Value::Bool(_) => false,
        Value::Number(text) => hidden && wanted(text),
        Value::Text(text) => hidden && !text.is_empty() && wanted(text),
        Value::Array(items) => items.iter().any(|item| holds(item, hidden, wanted)),
        Value::Object(entries) => entries
            .iter()
            .any(|entry| holds(&entry.value, hidden || looks_secret(&entry.key), wanted)),
    }
}

fn subject(steps: &[Step<'_>], part: Part) -> String {
    match (part, steps.last()) {
        (Part::Key, Some(Step::Key(key))) => format!("key {}", cite(&quote(key))),
        (_, Some(_)) => cite(&path_text(steps)),
        (_, None) => "the document".to_owned(),
    }
}

fn is_hidden(steps: &[Step<'_>]) -> bool {
    steps.iter().any(|step| match step {
        Step::Key(key) => looks_secret(key),
        Step::Index(_) => false,
    })
}

/// `rules[2].pattern`, with keys in quotes where the dots would mislead.
fn path_text(steps: &[Step<'_>]) -> String {
    let mut out = String::new();
    for step in steps {
        match step {
            Step::Index(index) => out.push_str(&format!("[{index}]")),
            Step::Key(key) => {
                let plain =
                    |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '/' | '*');
                if key.is_empty() || !key.chars().all(plain) {
                    out.push_str(&format!("[\"{}\"]", quote(key)));
                } else {
                    if !out.is_empty() {
                        out.push('.');
                    }
                    out.push_str(&quote(key));
                }
            }
        }
    }
    out
}

fn starts_with_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word)
        .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// The verbs that make a type's own message a predicate of the value.
const PREDICATES: [&str; 15] = [
    "is", "must", "cannot", "has", "needs", "lacks", "may", "does", "names", "ends", "starts",
    "contains", "holds", "repeats", "takes",
];

const UNTAGGED: &str = "data did not match any variant of untagged enum";

/// The length, in characters, to which a type's own message is cut.
const OWN_LIMIT: usize = 400;

/// The length, in bytes, up to which a message is searched for secrets.
const SEARCHED: usize = 4096;
