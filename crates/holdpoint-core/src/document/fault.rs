//! A problem on its way out of the document: what serde or the syntax reader said, and
//! the place it belongs to.

use super::error::DocumentError;
use super::expected::{plain, plain_range};
use super::node::{Entry, Node, Span, Step, Value};
use super::quote::{cite, quote};
use super::report::Report;
use serde::de::{Expected, Unexpected};
use std::borrow::Cow;
use std::fmt;

/// Boxed, so that the way of a value that can be read stays cheap.
#[derive(Debug)]
pub(super) struct Fault(Box<Inner>);

#[derive(Debug)]
struct Inner {
    what: What,
    place: Option<Location>,
    /// The steps to the place, innermost first.
    path: Vec<Step<'static>>,
}

#[derive(Debug)]
pub(super) enum What {
    /// A complete sentence of the reader.
    Said {
        problem: String,
        hint: Option<String>,
        shows: Shows,
    },
    UnknownKey {
        key: String,
        accepted: &'static [&'static str],
    },
    UnknownWord {
        word: Option<String>,
        accepted: &'static [&'static str],
    },
    MissingKey(&'static str),
    RepeatedField(&'static str),
    WrongType {
        seen: Seen,
        expected: String,
    },
    WrongValue {
        seen: Seen,
        expected: String,
    },
    /// A message of a type's own.
    Own(String),
}

/// Whether a sentence of the reader is followed by the text it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shows {
    Nothing,
    Text,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Location {
    pub(super) span: Span,
    pub(super) part: Part,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Key,
    Value,
}

/// The value serde says it met, kept to find its place when the error comes without.
#[derive(Debug)]
pub(super) enum Seen {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(String),
    Array,
    Object,
    Unclear,
}

impl Fault {
    pub(super) fn from_sentence(problem: impl Into<String>) -> Fault {
        Fault::new(What::Said {
            problem: problem.into(),
            hint: None,
            shows: Shows::Nothing,
        })
    }

    /// A value that is none of the accepted words, and not even a word.
    pub(super) fn not_a_word(accepted: &'static [&'static str]) -> Fault {
        Fault::new(What::UnknownWord {
            word: None,
            accepted,
        })
    }

    /// A number that no number type of the expected size can hold.
    pub(super) fn out_of_range(expected: &dyn Expected) -> Fault {
        Fault::new(What::WrongValue {
            seen: Seen::Unclear,
            expected: expected.to_string(),
        })
    }

    pub(super) fn with_hint(mut self, text: impl Into<String>) -> Fault {
        if let What::Said { hint, .. } = &mut self.0.what {
            *hint = Some(text.into());
        }
        self
    }

    pub(super) fn showing(mut self) -> Fault {
        if let What::Said { shows, .. } = &mut self.0.what {
            *shows = Shows::Text;
        }
        self
    }

    pub(super) fn at(self, span: Span) -> Fault {
        self.placed(span, Part::Value)
    }

    pub(super) fn at_key(mut self, entry: &Entry<'_>) -> Fault {
        // A key read into an enum is still a key to the author.
        if let What::UnknownWord { word, accepted } = &mut self.0.what {
            self.0.what = What::UnknownKey {
                key: word.take().unwrap_or_else(|| entry.key.to_string()),
                accepted,
            };
        }
        self.placed(entry.key_span, Part::Key)
    }

    /// Places an error that came out of reading `node` without a place of its own.
    ///
    /// Types that read their value into a buffer first lose the place of what is
    /// inside. If the text complained about occurs once in the node, it is that.
    pub(super) fn settle(self, node: &Node<'_>) -> Fault {
        if self.0.place.is_some() {
            return self;
        }
        let mut search = Search::new();
        match &self.0.what {
            What::WrongType { seen, .. } | What::WrongValue { seen, .. } => {
                if !seen.is(node) {
                    search.values(node, &|inner| seen.is(inner));
                }
            }
            What::UnknownWord {
                word: Some(word), ..
            } => {
                let wanted =
                    |inner: &Node<'_>| matches!(&inner.value, Value::Text(text) if text == word);
                if !wanted(node) {
                    search.values(node, &wanted);
                }
            }
            What::UnknownKey { key, .. } => search.keys(node, key),
            What::UnknownWord { word: None, .. }
            | What::Said { .. }
            | What::MissingKey(_)
            | What::RepeatedField(_)
            | What::Own(_) => {}
        }
        match search.only() {
            Some((place, path)) => path
                .into_iter()
                .rev()
                .fold(self.placed(place.span, place.part), Fault::within),
            None => self.at(node.span),
        }
    }

    /// Places an error about an object at the key being read, if it is about that key.
    pub(super) fn settle_repeated(self, last: Option<&Entry<'_>>) -> Fault {
        match (&self.0.what, self.0.place, last) {
            (What::RepeatedField(_), None, Some(entry)) => {
                self.at_key(entry).within(Step::Key(entry.key.clone()))
            }
            _ => self,
        }
    }

    pub(super) fn within(mut self, step: Step<'_>) -> Fault {
        self.0.path.push(step.into_owned());
        self
    }

    pub(super) fn into_error(self, name: &str, text: &str) -> DocumentError {
        let Inner { what, place, path } = *self.0;
        let place = place.unwrap_or(Location {
            span: Span::empty(0),
            part: Part::Value,
        });
        let steps: Vec<Step<'static>> = path.into_iter().rev().collect();
        Report::new(text, place, &steps).error(name, what)
    }

    fn new(what: What) -> Fault {
        Fault(Box::new(Inner {
            what,
            place: None,
            path: Vec::new(),
        }))
    }

    fn placed(mut self, span: Span, part: Part) -> Fault {
        self.0.place.get_or_insert(Location { span, part });
        self
    }
}

impl serde::de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Fault {
        Fault::new(What::Own(message.to_string()))
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Fault {
        Fault::new(What::WrongType {
            seen: Seen::from(unexpected),
            expected: expected.to_string(),
        })
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Fault {
        Fault::new(What::WrongValue {
            seen: Seen::from(unexpected),
            expected: expected.to_string(),
        })
    }

    fn invalid_length(_length: usize, expected: &dyn Expected) -> Fault {
        Fault::out_of_range(expected)
    }

    fn unknown_variant(variant: &str, accepted: &'static [&'static str]) -> Fault {
        Fault::new(What::UnknownWord {
            word: Some(variant.to_owned()),
            accepted,
        })
    }

    fn unknown_field(field: &str, accepted: &'static [&'static str]) -> Fault {
        Fault::new(What::UnknownKey {
            key: field.to_owned(),
            accepted,
        })
    }

    fn missing_field(field: &'static str) -> Fault {
        Fault::new(What::MissingKey(field))
    }

    fn duplicate_field(field: &'static str) -> Fault {
        Fault::new(What::RepeatedField(field))
    }
}

/// For types that wrap an error of the reader into a message of their own.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.what {
            What::Said { problem, .. } => f.write_str(problem),
            What::UnknownKey { key, .. } => write!(f, "unknown key {}", cite(&quote(key))),
            What::UnknownWord { word, .. } => match word {
                Some(word) => write!(f, "cannot be {}", cite(&quote(word))),
                None => f.write_str("cannot have this value"),
            },
            What::MissingKey(key) => write!(f, "key {} is missing", cite(&quote(key))),
            What::RepeatedField(key) => write!(f, "key {} is written twice", cite(&quote(key))),
            What::WrongType { expected, .. } => write!(f, "must be {}", plain(expected)),
            What::WrongValue { expected, .. } => write!(f, "must be {}", plain_range(expected)),
            What::Own(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Fault {}

/// Collects the places in a node that a fault may be about.
struct Search {
    path: Vec<Step<'static>>,
    hits: Vec<(Location, Vec<Step<'static>>)>,
}

impl Search {
    fn new() -> Search {
        Search {
            path: Vec::new(),
            hits: Vec::new(),
        }
    }

    fn values(&mut self, node: &Node<'_>, wanted: &dyn Fn(&Node<'_>) -> bool) {
        self.walk(node, &mut |search, inner, _| {
            if wanted(inner) {
                search.hit(inner.span, Part::Value);
            }
        });
    }

    fn keys(&mut self, node: &Node<'_>, key: &str) {
        self.walk(node, &mut |search, _, entry| {
            if let Some(entry) = entry.filter(|entry| entry.key == key) {
                search.hit(entry.key_span, Part::Key);
            }
        });
    }

    /// Visits every value inside the node, with its entry if it stands in an object.
    fn walk(
        &mut self,
        node: &Node<'_>,
        visit: &mut dyn FnMut(&mut Search, &Node<'_>, Option<&Entry<'_>>),
    ) {
        match &node.value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.path.push(Step::Index(index));
                    visit(self, item, None);
                    self.walk(item, visit);
                    self.path.pop();
                }
            }
            Value::Object(entries) => {
                for entry in entries {
                    self.path.push(Step::Key(Cow::Owned(entry.key.to_string())));
                    visit(self, &entry.value, Some(entry));
                    self.walk(&entry.value, visit);
                    self.path.pop();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {}
        }
    }

    fn hit(&mut self, span: Span, part: Part) {
        // Two are enough to know that the place is not certain.
        if self.hits.len() < 2 {
            self.hits.push((Location { span, part }, self.path.clone()));
        }
    }

    fn only(self) -> Option<(Location, Vec<Step<'static>>)> {
        let mut hits = self.hits.into_iter();
        match (hits.next(), hits.next()) {
            (Some(hit), None) => Some(hit),
            _ => None,
        }
    }
}

impl Seen {
    fn is(&self, node: &Node<'_>) -> bool {
        match (self, &node.value) {
            (Seen::Null, Value::Null)
            | (Seen::Array, Value::Array(_))
            | (Seen::Object, Value::Object(_))
            | (Seen::Unclear, _) => true,
            (Seen::Bool(seen), Value::Bool(value)) => seen == value,
            (Seen::Unsigned(seen), Value::Number(text)) => text.parse() == Ok(*seen),
            (Seen::Signed(seen), Value::Number(text)) => text.parse() == Ok(*seen),
            (Seen::Float(seen), Value::Number(text)) => text.parse() == Ok(*seen),
            (Seen::Text(seen), Value::Text(text)) => seen == text,
            _ => false,
        }
    }
}

impl From<Unexpected<'_>> for Seen {
    fn from(unexpected: Unexpected<'_>) -> Seen {
        match unexpected {
            Unexpected::Bool(value) => Seen::Bool(value),
            Unexpected::Unsigned(value) => Seen::Unsigned(value),
            Unexpected::Signed(value) => Seen::Signed(value),
            Unexpected::Float(value) => Seen::Float(value),
            Unexpected::Char(value) => Seen::Text(value.to_string()),
            Unexpected::Str(value) => Seen::Text(value.to_owned()),
            Unexpected::Unit => Seen::Null,
            Unexpected::Seq => Seen::Array,
            Unexpected::Map => Seen::Object,
            Unexpected::Bytes(_)
            | Unexpected::Option
            | Unexpected::NewtypeStruct
            | Unexpected::Enum
            | Unexpected::UnitVariant
            | Unexpected::NewtypeVariant
            | Unexpected::TupleVariant
            | Unexpected::StructVariant
            | Unexpected::Other(_) => Seen::Unclear,
        }
    }
}
