//! Words as the program would receive them, as far as that is known without running anything.
//!
//! Promises that a text not marked dynamic is exactly what bash passes on, but for globs,
//! which are marked, and a leading `~`, also of the value in `name=~`, which stays. Variables
//! the text itself gives a value are filled in and split as bash does; what depends on anything
//! else keeps its source.

use std::rc::Rc;
use std::sync::Arc;

use super::arithmetic;
use super::braces::{self, Piece};
use super::commands::Text;
use super::environment::{Choice, Environment, Origin, Partial, Value};
use super::foreseen;
use super::input::Input;
use super::parameters;
use super::tree::{Parameter, Part, Span, Substitution, Word};
use crate::budget::Budget;

/// Longest word whose braces are expanded, since each result is a copy of it. A longer one is
/// more than the budget is for.
const MAX_BRACED: usize = 16 << 10;
/// Words one word becomes by splitting, or items of an array; the same holds.
const MAX_FIELDS: usize = 2000;
/// Longest text one word becomes; the same holds.
const MAX_WORD: usize = 1 << 18;
/// Deepest nesting of substitutions whose output is foreseen: it is at every level again. The
/// same holds.
const MAX_NESTED: usize = 12;

/// Stands in a [`Text::pattern`] for what is not known.
pub const UNKNOWN: char = '\u{1}';

/// A word of a command, with what is needed should the word turn out to be code.
#[derive(Debug, Clone)]
pub(super) struct Argument {
    pub(super) text: Text,
    /// The word after quote removal with its expansions as written, if that differs.
    code: Option<String>,
    /// An expansion in it may become several words, or none.
    pub(super) splits: bool,
    /// Where the part of it that is not known comes from.
    pub(super) origin: Option<Origin>,
}

impl Argument {
    /// A word that is exactly this text.
    pub(super) fn literal(text: &str, span: Span) -> Self {
        Self {
            text: Text {
                text: text.to_owned(),
                dynamic: false,
                glob: false,
                pattern: None,
                span,
            },
            code: None,
            splits: false,
            origin: None,
        }
    }

    /// A word that comes from somewhere else when the command runs.
    pub(super) fn supplied(text: &str, span: Span) -> Self {
        let mut argument = Self::literal(text, span);
        argument.text.dynamic = true;
        argument
    }

    /// The text, if it is known.
    pub(super) fn known(&self) -> Option<&str> {
        (!self.text.dynamic).then_some(self.text.text.as_str())
    }

    /// The word without its quotes, expansions as written.
    pub(super) fn unquoted(&self) -> &str {
        self.code.as_deref().unwrap_or(&self.text.text)
    }

    /// The word as a program is given it, as far as that is known: of one that is not, the quotes are no
    /// part either. What stands in front (`@`, `-f`, `+`, `file://`) means the same with and without them.
    pub(super) fn listed(&self) -> Text {
        match &self.code {
            Some(code) if self.text.dynamic => Text {
                text: code.clone(),
                ..self.text.clone()
            },
            Some(_) | None => self.text.clone(),
        }
    }

    /// The same word from byte `at` of its unquoted text on.
    pub(super) fn tail(&self, at: usize) -> Self {
        let rest = self.unquoted().get(at..).unwrap_or_default().to_owned();
        let mut tail = self.clone();
        tail.code = self.code.is_some().then(|| rest.clone());
        tail.text.text = rest;
        tail.text.pattern = None;
        tail
    }

    /// The same word with code behind it.
    pub(super) fn with_suffix(mut self, suffix: &str) -> Self {
        if let Some(code) = &mut self.code {
            code.push_str(suffix);
        }
        self.text.text.push_str(suffix);
        self
    }

    /// Whether expanding the word may be an error, after which its command does not run.
    pub(super) fn may_fail(&self) -> bool {
        self.text.dynamic && self.unquoted().contains(['[', '!', '?', ':', '('])
    }

    /// The word as what a loop gives its variable: the word, or one of those it becomes.
    pub(super) fn one_value(&self) -> Value {
        let several = self.splits.then(|| self.element()).flatten();
        several.unwrap_or_else(|| self.value()).one_of()
    }

    /// The word as an element of a list; none if it is too long to be one of several words.
    pub(super) fn element(&self) -> Option<Value> {
        let value = match self.known() {
            Some(text) => Value::Known(Arc::from(text)),
            None => self.value(),
        };
        if let Value::Partly(partial) = &value {
            return Some(Value::Partly(Rc::new(Partial {
                splits: self.splits,
                ..Partial::clone(partial)
            })));
        }
        (!self.splits).then_some(value)
    }

    /// The word as the value of a variable.
    pub(super) fn value(&self) -> Value {
        match self.known() {
            Some(text) if self.text.glob => Value::Pattern(Arc::from(text)),
            Some(text) => Value::Known(Arc::from(text)),
            None => {
                let pattern = self.text.pattern.as_deref().filter(|_| !self.text.glob);
                let origin = self.origin.unwrap_or(Origin::Elsewhere);
                Value::partly(origin, self.unquoted(), pattern)
            }
        }
    }

    /// The same word, filled in when the command runs with paths that look like `pattern`.
    pub(super) fn filled_with(mut self, pattern: Option<String>) -> Self {
        self.text.dynamic = true;
        self.text.pattern = pattern;
        self
    }
}

/// Expands words under what is known when they are used.
#[derive(Clone, Copy)]
pub(super) struct Expander<'e> {
    pub(super) source: &'e str,
    pub(super) environment: &'e Environment,
    pub(super) choice: &'e Choice,
    pub(super) depth: usize,
}

impl Expander<'_> {
    /// The words that words of a command become.
    pub(super) fn all_arguments<'t>(
        &self,
        words: impl IntoIterator<Item = &'t Word>,
        held: Option<&Span>,
    ) -> Vec<Argument> {
        let words = words.into_iter();
        let mut all = Vec::with_capacity(words.size_hint().0);
        for word in words {
            match word.plain() {
                // What most words are: themselves.
                Some(text) => {
                    let span = held.unwrap_or(&word.span).clone();
                    all.push(Argument::literal(text, span));
                }
                None => all.extend(self.arguments(word, held)),
            }
        }
        all
    }

    /// The words one word of a command becomes.
    pub(super) fn arguments(&self, word: &Word, held: Option<&Span>) -> Vec<Argument> {
        let span = held.unwrap_or(&word.span);
        if let Some(text) = word.plain() {
            return vec![Argument::literal(text, span.clone())];
        }
        let braced = word
            .parts
            .iter()
            .any(|part| matches!(part, Part::Brace('{')));
        if !braced && has_lone_dollar(&word.parts) {
            return vec![self.unknown_words(word, span)];
        }
        if !braced {
            let mut fields = Fields::default();
            for part in &word.parts {
                fields.part(self, part, Quoted::No);
            }
            if fields.loose && !is_alone(&word.parts) {
                return vec![self.unknown_words(word, span)];
            }
            return self.finished(fields.done(), word, span);
        }
        // `{$,x}HOME` is `$HOME`: bash expands braces before it looks for variables.
        let is_lone = |part: &Part| matches!(part, Part::Literal { text, quoted: false } if text.contains('$'));
        if word.parts.iter().any(is_lone) {
            return vec![self.unknown_words(word, span)];
        }
        let expanded = if word.span.len() <= MAX_BRACED {
            braces::expand(&word.parts)
        } else {
            Err(braces::Unexpanded::TooMany)
        };
        let words = match expanded {
            Ok(words) => words,
            Err(braces::Unexpanded::Odd) => return vec![self.unknown_words(word, span)],
            Err(braces::Unexpanded::TooMany) => {
                // Of numbers one is as good as another; an alternative is what it says.
                if word
                    .parts
                    .iter()
                    .any(|part| matches!(part, Part::Brace(',')))
                {
                    self.environment.budget.overrun();
                }
                return vec![self.unknown_words(word, span)];
            }
        };
        let mut arguments = Vec::new();
        for pieces in words {
            let mut fields = Fields::default();
            for (at, piece) in pieces.into_iter().enumerate() {
                match piece {
                    // `{~,x}`: a tilde that comes to stand first leads home.
                    Piece::Part(Part::Literal {
                        text,
                        quoted: false,
                    }) if at == 0 && text.starts_with('~') => fields.literal(text),
                    Piece::Part(part) => fields.part(self, part, Quoted::No),
                    Piece::Made(text) => fields.literal(&text),
                }
            }
            if fields.loose {
                return vec![self.unknown_words(word, span)];
            }
            let done = fields.done();
            arguments.extend(done.into_iter().map(|field| field.argument(None, span)));
        }
        if let [only] = arguments.as_mut_slice()
            && only.text.dynamic
        {
            only.code = Some(only.text.text.clone());
            self.raw(word).clone_into(&mut only.text.text);
        }
        arguments
    }

    /// The words an assignment among the words of `declare` and its like becomes: braces count,
    /// and nothing is split.
    pub(super) fn values(&self, word: &Word, held: Option<&Span>) -> Vec<Argument> {
        let braced = word
            .parts
            .iter()
            .any(|part| matches!(part, Part::Brace('{')));
        if braced {
            let mut words = self.arguments(word, held);
            for word in &mut words {
                word.text.dynamic = true;
            }
            return words;
        }
        vec![self.argument(word, held.unwrap_or(&word.span))]
    }

    /// A word that becomes nobody knows how many.
    fn unknown_words(&self, word: &Word, span: &Span) -> Argument {
        let mut whole = self.argument(word, span);
        whole.text.dynamic = true;
        whole.text.pattern = None;
        whole.splits = true;
        if whole.text.text != self.raw(word) {
            // Quotes would say that it is one.
            whole.text.text = whole.unquoted().to_owned();
        }
        whole
    }

    fn finished(&self, fields: Vec<Field>, word: &Word, span: &Span) -> Vec<Argument> {
        let single = fields.len() == 1;
        let raw = self.raw(word);
        fields
            .into_iter()
            .map(|field| field.argument(single.then_some(raw), span))
            .collect()
    }

    fn raw(&self, word: &Word) -> &str {
        self.source.get(word.span.clone()).unwrap_or_default()
    }

    /// A word that is subject to no splitting: an assignment's value, a redirect's target.
    pub(super) fn argument(&self, word: &Word, span: &Span) -> Argument {
        let mut fields = Fields::whole();
        for part in &word.parts {
            fields.part(self, part, Quoted::Value);
        }
        let field = fields.done().into_iter().next().unwrap_or_default();
        field.argument(Some(self.raw(word)), span)
    }

    /// The elements of an array, if all are known.
    pub(super) fn array(&self, words: &[Word]) -> Option<Rc<[Value]>> {
        let mut items: Vec<Value> = Vec::new();
        for word in words {
            // `[3]=x` puts elements out of order.
            if matches!(word.parts.first(), Some(Part::Glob('['))) {
                return None;
            }
            for argument in self.arguments(word, None) {
                // An element nobody knows does not hide the others.
                items.push(argument.element()?);
            }
            if items.len() > MAX_FIELDS {
                self.environment.budget.overrun();
                return None;
            }
        }
        Some(items.into())
    }

    /// The text of a here-document, and whether all of it is known.
    pub(super) fn document(&self, parts: &[Part]) -> (String, bool) {
        let mut fields = Fields::whole();
        for part in parts {
            fields.part(self, part, Quoted::Yes);
        }
        let field = fields.done().into_iter().next().unwrap_or_default();
        (field.text, !field.dynamic)
    }

    /// The text of parts of a word, if it is known.
    pub(super) fn known(&self, parts: &[Part]) -> Option<String> {
        let (text, known) = self.document(parts);
        known.then_some(text)
    }

    /// The value of a variable of this reading.
    pub(super) fn value(&self, name: &str) -> Option<Value> {
        if let Some(value) = self.environment.value(name, self.choice) {
            return Some(value);
        }
        if let Ok(number) = name.parse::<usize>() {
            let positional = self.environment.positional.as_ref()?;
            let at = number.checked_sub(1)?;
            if positional.iter().take(number).any(Value::splits) {
                return None;
            }
            return Some(positional.get(at).cloned().unwrap_or(Value::Unset));
        }
        let text = match name {
            "IFS" => " \t\n",
            "SHELL" | "BASH" => "/bin/bash",
            "TMPDIR" => "/tmp",
            "HOME" => "~",
            "PWD" => ".",
            "#" => {
                let positional = self.environment.positional.as_ref()?;
                if positional.iter().any(Value::splits) {
                    return None;
                }
                let count = positional.len();
                return Some(Value::Known(Arc::from(count.to_string())));
            }
            _ => return None,
        };
        Some(Value::Known(Arc::from(text)))
    }

    /// The value of a variable as a number.
    pub(super) fn number(&self, name: &str) -> Option<i64> {
        match self.value(name)? {
            Value::Known(text) if text.is_empty() => Some(0),
            Value::Known(text) => text.trim().parse().ok(),
            Value::Unset => Some(0),
            Value::Partly(_) | Value::Pattern(_) | Value::List(_) | Value::Unknown(_) => None,
        }
    }

    /// What a substitution puts into a word.
    pub(super) fn output(&self, code: &Substitution) -> Input {
        if self.depth >= MAX_NESTED {
            self.environment.budget.overrun();
            return Input::Unknown(Origin::Elsewhere);
        }
        let inner = Expander {
            depth: self.depth + 1,
            ..*self
        };
        foreseen::script(&code.script, &inner, &Input::Inherited)
    }

    /// What `"$*"` puts between its words: the first letter of `IFS`.
    fn joiner(&self) -> Option<String> {
        let separators = self.separators()?;
        Some(separators.chars().take(1).collect())
    }

    /// Whether a separator may have several bytes.
    fn splits_letters(&self) -> bool {
        !self.separators().is_some_and(|letters| letters.is_ascii())
    }

    /// The letters at which bash splits, if they are known.
    fn separators(&self) -> Option<Arc<str>> {
        match self.value("IFS") {
            Some(Value::Known(text)) => Some(text),
            Some(Value::Unset) | None => Some(Arc::from(" \t\n")),
            Some(Value::Partly(_) | Value::Pattern(_) | Value::List(_) | Value::Unknown(_)) => None,
        }
    }
}

/// Whether a part of a word stands in quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoted {
    No,
    Yes,
    /// Not in quotes, but where bash does not split.
    Value,
}

/// What an expansion becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Expanded {
    /// One text.
    Text(Arc<str>),
    /// A pattern for file names.
    Pattern(Arc<str>),
    /// Words of their own: `$@` and `$*`.
    Words {
        items: Vec<Value>,
        /// `"$*"` is one word, with the first letter of `IFS` in between.
        joined: bool,
    },
    /// One text of which not all is known.
    Partly(Rc<Partial>),
    /// Something else.
    Unknown(Origin),
}

/// A word being made.
#[derive(Debug, Default)]
struct Field {
    text: String,
    /// The same with what is unknown marked, once anything is.
    pattern: Option<String>,
    dynamic: bool,
    /// Something of it came out of a variable: the source does not show what.
    filled: bool,
    splits: bool,
    wild: bool,
    bracket: Option<usize>,
    origin: Option<Origin>,
    /// There is such a word even if its text is empty.
    present: bool,
}

impl Field {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        if let Some(pattern) = &mut self.pattern {
            pattern.push_str(text);
        }
        self.present = true;
    }

    fn argument(self, raw: Option<&str>, span: &Span) -> Argument {
        let glob = self.is_glob();
        let (text, code) = match raw {
            _ if self.filled && !self.splits => (format!("\"{}\"", self.text), Some(self.text)),
            _ if self.filled => (self.text, None),
            Some(raw) if self.dynamic => (raw.to_owned(), Some(self.text)),
            Some(_) | None => (self.text, None),
        };
        Argument {
            text: Text {
                text,
                dynamic: self.dynamic,
                glob,
                pattern: self.pattern,
                span: span.clone(),
            },
            code,
            splits: self.splits,
            origin: self.origin,
        }
    }

    /// A bracket is a pattern only if one closes it: `[` is a program.
    fn is_glob(&self) -> bool {
        let closed = |open: usize| {
            let rest = self.text.get(open + 1..);
            rest.is_some_and(|rest| rest.contains(']'))
        };
        self.wild || self.bracket.is_some_and(closed)
    }
}

/// The words one word becomes, as they are made.
#[derive(Default)]
struct Fields {
    finished: Vec<Field>,
    current: Field,
    /// It is one word whatever happens: a value, or a document.
    whole: bool,
    /// It holds words of which nobody knows how many there are.
    loose: bool,
}

impl Fields {
    fn whole() -> Self {
        Self {
            whole: true,
            ..Self::default()
        }
    }

    fn done(mut self) -> Vec<Field> {
        if self.current.present {
            self.finished.push(self.current);
        }
        self.finished
    }

    fn literal(&mut self, text: &str) {
        self.current.push(text);
    }

    fn part(&mut self, words: &Expander<'_>, part: &Part, quoted: Quoted) {
        match part {
            Part::Tilde(text) => match text.as_str() {
                "~+" => self.current.push("."),
                "~-" => self.unknown(words, Origin::Elsewhere, &(0..0), Quoted::Yes),
                _ => self.current.push(text),
            },
            Part::Literal { text, .. } | Part::SingleQuoted(text) | Part::AnsiQuoted(text) => {
                // A tilde in quotes is a name like any other.
                if text.starts_with('~') && self.current.text.is_empty() {
                    self.current.pattern = Some("./".to_owned());
                }
                self.current.push(text);
            }
            Part::DoubleQuoted(parts) | Part::Localized(parts) => {
                // `"$@"` without any parameters is no word, `""` is one.
                if !is_all_parameters(parts) {
                    self.current.present = true;
                }
                for part in parts {
                    self.part(words, part, Quoted::Yes);
                }
            }
            Part::Parameter(parameter) => {
                let expanded = parameters::expand(words, parameter, quoted == Quoted::Yes);
                // It may be several words even between quotes.
                let many = parameters::is_many(parameter);
                let unknown = matches!(expanded, Expanded::Unknown(_) | Expanded::Partly(_));
                let quoted = if many && unknown && quoted == Quoted::Yes {
                    Quoted::No
                } else {
                    quoted
                };
                self.parameter(words, parameter, expanded, quoted);
            }
            Part::Command(code) => {
                let expanded = match words.output(code) {
                    Input::Known(text) => Expanded::Text(Arc::from(text.trim_end_matches('\n'))),
                    Input::Empty => Expanded::Text(Arc::from("")),
                    Input::Partly(partial) => Expanded::Partly(partial.without_last_lines()),
                    Input::Unknown(origin) => Expanded::Unknown(origin),
                    Input::Inherited => Expanded::Unknown(Origin::Elsewhere),
                };
                self.expanded(words, expanded, &code.span, quoted);
            }
            Part::Process(code) => {
                let origin = match words.output(code) {
                    Input::Unknown(origin) => origin,
                    Input::Partly(partial) => partial.origin,
                    Input::Known(_) | Input::Empty | Input::Inherited => Origin::Elsewhere,
                };
                self.unknown(words, origin, &code.span, Quoted::Yes);
            }
            Part::Arithmetic(arithmetic) => {
                let value = words
                    .known(&arithmetic.parts)
                    .and_then(|text| arithmetic::evaluate(&text, &|name| words.number(name)));
                let expanded = match value {
                    Some(value) => Expanded::Text(Arc::from(value.to_string())),
                    None => Expanded::Unknown(Origin::Elsewhere),
                };
                self.expanded(words, expanded, &arithmetic.span, quoted);
            }
            Part::Glob(sign) => {
                if *sign == '[' {
                    self.current.bracket.get_or_insert(self.current.text.len());
                } else {
                    self.current.wild = true;
                }
                self.current.push(sign.encode_utf8(&mut [0; 4]));
            }
            Part::Brace(sign) => self.current.push(sign.encode_utf8(&mut [0; 4])),
            Part::Extended(parts) => {
                self.current.wild = true;
                for part in parts {
                    self.part(words, part, quoted);
                }
            }
            Part::Array(items) => {
                self.current.dynamic = true;
                self.current.push("(");
                for (at, word) in items.iter().enumerate() {
                    if at > 0 {
                        self.current.push(" ");
                    }
                    for part in &word.parts {
                        self.part(words, part, Quoted::Yes);
                    }
                }
                self.current.push(")");
            }
        }
    }

    fn parameter(
        &mut self,
        words: &Expander<'_>,
        parameter: &Parameter,
        expanded: Expanded,
        quoted: Quoted,
    ) {
        // `~` and `.` stand for the home and the directory only where a path begins.
        let stands_for_path = matches!(parameter.name.as_str(), "HOME" | "PWD")
            && words
                .environment
                .value(&parameter.name, words.choice)
                .is_none();
        let begins = !self.current.present || self.current.text.is_empty();
        let out_of_place = matches!(&expanded, Expanded::Text(text) if !begins || text.len() != 1);
        let expanded = if stands_for_path && out_of_place {
            Expanded::Unknown(Origin::Elsewhere)
        } else {
            expanded
        };
        self.expanded(words, expanded, &parameter.span, quoted);
    }

    fn expanded(&mut self, words: &Expander<'_>, expanded: Expanded, span: &Span, quoted: Quoted) {
        let room = self.finished.len() < MAX_FIELDS && self.current.text.len() < MAX_WORD;
        if !room {
            words.environment.budget.overrun();
        }
        match expanded {
            _ if !room => self.unknown(words, Origin::Elsewhere, span, quoted),
            // A tilde that came as a value stands for a directory, and only where a word begins.
            Expanded::Text(text) if text.starts_with('~') && !self.current.text.is_empty() => {
                self.unknown(words, Origin::Elsewhere, span, quoted);
            }
            Expanded::Text(text) => match quoted {
                Quoted::Yes | Quoted::Value => self.current.push(&text),
                Quoted::No => match words.separators() {
                    Some(separators) => {
                        self.split(&text, &separators, &words.environment.budget);
                    }
                    None if text.is_empty() => {}
                    None => self.unknown(words, Origin::Elsewhere, span, quoted),
                },
            },
            // `x='* /home'; rm $x` is two words, of which one is a pattern. What a pattern stands for may hold
            // blanks, too, but what is not in its text is not known.
            Expanded::Pattern(text) => match words.separators() {
                Some(separators)
                    if quoted == Quoted::No && text.contains(|c| separators.contains(c)) =>
                {
                    self.split(&text, &separators, &words.environment.budget);
                }
                Some(_) | None => {
                    self.current.wild = true;
                    self.current.push(&text);
                }
            },
            Expanded::Words { items, joined } => self.many(words, &items, joined, span, quoted),
            Expanded::Partly(partial) => self.partly(words, &partial, quoted),
            Expanded::Unknown(origin) => self.unknown(words, origin, span, quoted),
        }
    }

    /// Adds the words of `$@` or `$*`.
    fn many(
        &mut self,
        words: &Expander<'_>,
        items: &[Value],
        joined: bool,
        span: &Span,
        quoted: Quoted,
    ) {
        let apart = match quoted {
            Quoted::Yes => !joined && !self.whole,
            Quoted::No => true,
            Quoted::Value => false,
        };
        let joiner = match joined {
            true => words.joiner(),
            false => Some(" ".to_owned()),
        };
        if !apart && joiner.is_none() {
            return self.unknown(words, Origin::Elsewhere, span, quoted);
        }
        if !apart && items.iter().any(Value::splits) {
            return self.partly(words, &one_of_unknown_length(items), Quoted::Yes);
        }
        let quoted = match quoted {
            Quoted::No => Quoted::No,
            Quoted::Yes | Quoted::Value => Quoted::Yes,
        };
        for (at, item) in items.iter().enumerate() {
            if at > 0 && apart {
                self.next();
            } else if at > 0 {
                self.current.push(joiner.as_deref().unwrap_or_default());
            }
            let expanded = match item {
                // Where a separator has several bytes, bash may take one of them out of a letter.
                Value::Known(text) if !text.is_ascii() && words.splits_letters() => {
                    Expanded::Unknown(Origin::Elsewhere)
                }
                Value::Known(text) => Expanded::Text(Arc::clone(text)),
                Value::Partly(partial) if partial.splits => {
                    self.loose = true;
                    self.partly(words, partial, Quoted::No);
                    continue;
                }
                Value::Partly(partial) => Expanded::Partly(Rc::clone(partial)),
                Value::Unknown(origin) => Expanded::Unknown(*origin),
                Value::Pattern(_) | Value::List(_) | Value::Unset => {
                    Expanded::Unknown(Origin::Elsewhere)
                }
            };
            self.expanded(words, expanded, span, quoted);
        }
    }

    /// Adds what is known of a text, and whose the rest is.
    fn partly(&mut self, words: &Expander<'_>, partial: &Partial, quoted: Quoted) {
        let field = &mut self.current;
        field.dynamic = true;
        field.filled = true;
        field.present = true;
        field.splits |= quoted == Quoted::No;
        field.origin = field.origin.max(Some(partial.origin));
        // Where bash splits what is known, the pieces are not followed.
        let separators = words.separators();
        let splits = |letter: char| {
            let separates = separators.as_deref().is_none_or(|all| all.contains(letter));
            separates || "*?[".contains(letter)
        };
        let known = quoted != Quoted::No || !partial.pattern.contains(splits);
        let pattern = field.pattern.get_or_insert_with(|| field.text.clone());
        if known {
            pattern.push_str(&partial.pattern);
        } else {
            pattern.push(UNKNOWN);
        }
        field.text.push_str(&partial.written);
    }

    fn unknown(&mut self, words: &Expander<'_>, origin: Origin, span: &Span, quoted: Quoted) {
        let field = &mut self.current;
        field.dynamic = true;
        field.present = true;
        field.splits |= quoted == Quoted::No;
        field.origin = field.origin.max(Some(origin));
        field
            .pattern
            .get_or_insert_with(|| field.text.clone())
            .push(UNKNOWN);
        let raw = words.source.get(span.clone()).unwrap_or_default();
        field.text.push_str(raw);
    }

    fn next(&mut self) {
        if self.current.present {
            self.finished.push(std::mem::take(&mut self.current));
        }
    }

    /// Adds an unquoted text: bash splits it, and what looks like a pattern is one.
    fn split(&mut self, text: &str, separators: &str, budget: &Budget) {
        let mut run = String::new();
        for letter in text.chars() {
            if separators.contains(letter) {
                self.add_run(&mut run);
                if !letter.is_ascii_whitespace() {
                    self.current.present = true;
                }
                self.next();
                if self.finished.len() >= MAX_FIELDS {
                    budget.overrun();
                    self.current.dynamic = true;
                    self.current.present = true;
                    self.current.splits = true;
                    return;
                }
            } else {
                run.push(letter);
            }
        }
        self.add_run(&mut run);
    }

    fn add_run(&mut self, run: &mut String) {
        if run.is_empty() {
            return;
        }
        if run.contains(['*', '?']) {
            self.current.wild = true;
        }
        if let Some(bracket) = run.find('[') {
            let at = self.current.text.len() + bracket;
            self.current.bracket.get_or_insert(at);
        }
        self.current.push(run);
        run.clear();
    }
}

/// Whether a word is one expansion and nothing else.
fn is_alone(parts: &[Part]) -> bool {
    match parts {
        [Part::DoubleQuoted(inside)] => inside.len() == 1,
        [_] => true,
        _ => false,
    }
}

/// Words as one text, where nobody knows how many there are.
fn one_of_unknown_length(items: &[Value]) -> Partial {
    let mut origin = Origin::Elsewhere;
    let mut written: Vec<&str> = Vec::new();
    for item in items {
        match item {
            Value::Known(text) => written.push(text),
            Value::Partly(partial) => {
                origin = origin.max(partial.origin);
                written.push(&partial.written);
            }
            Value::Unknown(other) => origin = origin.max(*other),
            Value::Pattern(_) | Value::List(_) | Value::Unset => {}
        }
    }
    Partial {
        origin,
        written: written.join(" "),
        pattern: UNKNOWN.to_string(),
        splits: false,
    }
}

/// Whether a `$` that begins nothing stands beside expansions: bash may then split none of them.
fn has_lone_dollar(parts: &[Part]) -> bool {
    let lone =
        |part: &Part| matches!(part, Part::Literal { text, quoted: false } if text.contains('$'));
    let expands = |part: &Part| {
        matches!(
            part,
            Part::Parameter(_) | Part::Command(_) | Part::Arithmetic(_)
        )
    };
    parts.iter().any(lone) && parts.iter().any(expands)
}

/// Whether quotes hold nothing but parameters that may be no word at all.
fn is_all_parameters(parts: &[Part]) -> bool {
    let many = |part: &Part| match part {
        Part::Parameter(parameter) => {
            parameter.name == "@" || parameter.operator.starts_with("[@]")
        }
        Part::Literal { .. }
        | Part::SingleQuoted(_)
        | Part::AnsiQuoted(_)
        | Part::DoubleQuoted(_)
        | Part::Localized(_)
        | Part::Command(_)
        | Part::Process(_)
        | Part::Arithmetic(_)
        | Part::Glob(_)
        | Part::Brace(_)
        | Part::Extended(_)
        | Part::Tilde(_)
        | Part::Array(_) => false,
    };
    !parts.is_empty() && parts.iter().all(many)
}
