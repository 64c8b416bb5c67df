//! The texts of a JSON value, inspected together: a payload may be split over fields.

use serde_json::Value;

use super::{Finding, Inspection, Terms};
use crate::{Action, Origin, Severity};

/// What stands between two texts that are inspected together.
const BETWEEN: &str = "\n";

/// One text of a JSON value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Field {
    /// Where it stands, as a JSON pointer; of a key, where its value stands.
    pub pointer: String,
    /// Whether it is the key and not the value.
    pub is_key: bool,
}

/// What was found in the texts of a JSON value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JsonInspection {
    /// What is to happen to the value.
    pub action: Action,
    /// How sure it is that the texts give orders, from 0 to 1.
    pub score: f32,
    /// Everything that was found, with spans in the field's text. What stands in several fields is
    /// told for each.
    pub findings: Vec<(Field, Finding)>,
}

impl JsonInspection {
    /// How bad the worst finding is.
    pub fn severity(&self) -> Option<Severity> {
        self.findings
            .iter()
            .map(|(_, finding)| finding.severity)
            .max()
    }
}

impl Terms {
    /// Inspects the texts of a JSON value: strings, and keys of objects that are more than names.
    /// Texts are read one after the other, so that what is split over several is found; keys are
    /// read by themselves.
    pub fn inspect_json(&self, value: &Value, origin: Origin) -> JsonInspection {
        let mut all = JsonInspection::default();
        if !self.inspects(origin) {
            return all;
        }
        for part in [Part::Values, Part::Keys] {
            let (fields, texts) = leaves(value, part);
            let (inspection, placed) = self.look_at_fields(&Fields::new(&texts), origin);
            all.action = all.action.max(inspection.action);
            all.score = all.score.max(inspection.score);
            all.findings.extend(
                placed
                    .into_iter()
                    .filter_map(|(index, finding)| Some((fields.get(index)?.clone(), finding))),
            );
        }
        all
    }

    /// Inspects texts together; each finding comes with the index of the text it is in.
    pub fn inspect_fields(&self, texts: &[&str], origin: Origin) -> Vec<(usize, Finding)> {
        if !self.inspects(origin) {
            return Vec::new();
        }
        self.look_at_fields(&Fields::new(texts), origin).1
    }

    fn look_at_fields(
        &self,
        fields: &Fields,
        origin: Origin,
    ) -> (Inspection, Vec<(usize, Finding)>) {
        let inspection = self.look(&fields.joined, origin);
        let placed = inspection
            .findings
            .iter()
            .flat_map(|finding| {
                fields.parts(&finding.span).map(|(index, span)| {
                    let mut part = finding.clone();
                    part.span = span;
                    (index, part)
                })
            })
            .collect();
        (inspection, placed)
    }
}

/// Which texts of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Its strings.
    Values,
    /// The keys of its objects.
    Keys,
}

/// Several texts as one.
pub(crate) struct Fields {
    pub(crate) joined: String,
    /// Where each of them ends.
    ends: Vec<usize>,
}

impl Fields {
    pub(crate) fn new<S: AsRef<str>>(texts: &[S]) -> Self {
        let mut joined = String::new();
        let mut ends = Vec::with_capacity(texts.len());
        for text in texts {
            if !ends.is_empty() {
                joined.push_str(BETWEEN);
            }
            joined.push_str(text.as_ref());
            ends.push(joined.len());
        }
        Self { joined, ends }
    }

    /// The texts a span of the whole lies in, with where in them.
    pub(crate) fn parts(
        &self,
        span: &std::ops::Range<usize>,
    ) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> {
        let span = span.clone();
        let first = self.ends.partition_point(|end| *end < span.start);
        let start_of = |index: usize| match index.checked_sub(1) {
            Some(before) => self.ends.get(before).map_or(0, |end| end + BETWEEN.len()),
            None => 0,
        };
        self.ends
            .iter()
            .enumerate()
            .skip(first)
            .map(move |(index, end)| (index, start_of(index)..*end))
            .take_while({
                let span = span.clone();
                move |(_, field)| field.start < span.end.max(span.start + 1)
            })
            .filter_map(move |(index, field)| {
                let start = span.start.max(field.start);
                let end = span.end.min(field.end);
                (start < end || (span.is_empty() && start == end))
                    .then(|| (index, start - field.start..end - field.start))
            })
    }
}

/// The texts of a value in its order, with where they stand. Without recursion: a value may be
/// nested as deep as memory allows.
pub(crate) fn leaves(value: &Value, part: Part) -> (Vec<Field>, Vec<&str>) {
    let mut fields = Vec::new();
    let mut texts = Vec::new();
    let mut open: Vec<(String, Option<&str>, &Value)> = vec![(String::new(), None, value)];
    while let Some((pointer, key, value)) = open.pop() {
        if let (Some(key), Part::Keys) = (key.filter(|key| !is_name(key)), part) {
            let is_key = true;
            fields.push(Field {
                pointer: pointer.clone(),
                is_key,
            });
            texts.push(key);
        }
        match value {
            Value::String(text) if part == Part::Values => {
                fields.push(Field {
                    pointer,
                    is_key: false,
                });
                texts.push(text.as_str());
            }
            Value::Array(items) => open.extend(
                items
                    .iter()
                    .enumerate()
                    .rev()
                    .map(|(index, item)| (format!("{pointer}/{index}"), None, item)),
            ),
            Value::Object(members) => open.extend(
                members
                    .iter()
                    .rev()
                    .map(|(key, member)| (below(&pointer, key), Some(key.as_str()), member)),
            ),
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    (fields, texts)
}

/// Whether a key is a name such as programs give to fields, and no text anybody reads.
fn is_name(key: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'$');
    key.len() <= 40 && key.bytes().all(plain)
}

/// The pointer of a member (RFC 6901).
fn below(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}
