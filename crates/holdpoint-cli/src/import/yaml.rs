//! YAML as far as settings are written in it: mappings, lists and scalars of one document.
//!
//! What makes YAML surprising is refused: anchors and aliases, tags, a key written twice, keys that are no
//! text, more than one document. Then every reader of the file sees the same.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};

/// How deep settings may lie in each other; rules of a policy have five levels.
const MAX_DEPTH: usize = 24;

/// Reads a document.
pub(super) fn read(text: &str) -> Result<Value, String> {
    let mut open: Vec<Open> = Vec::new();
    let mut whole: Option<Value> = None;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| error.to_string())?;
        let line = span.start.line();
        let at = |problem: &str| format!("line {line}: {problem}");
        let done = match event {
            Event::Alias(_) => return Err(at("aliases are not read: write the value out")),
            Event::Scalar(_, _, anchor, ref tag) if anchor != 0 || tag.is_some() => {
                return Err(at("anchors and tags are not read: write the value out"));
            }
            Event::SequenceStart(anchor, ref tag) | Event::MappingStart(anchor, ref tag)
                if anchor != 0 || tag.is_some() =>
            {
                return Err(at("anchors and tags are not read: write the value out"));
            }
            Event::DocumentStart(_) if whole.is_some() => {
                return Err(at("a second document begins: one a file is read"));
            }
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() >= MAX_DEPTH => {
                return Err(at("it is nested too deeply"));
            }
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                None
            }
            Event::MappingStart(..) => {
                open.push(Open::Mapping(Map::new(), None));
                None
            }
            Event::SequenceEnd | Event::MappingEnd => open.pop().map(Open::value),
            Event::Scalar(text, style, ..) => Some(match style {
                ScalarStyle::Plain => plain(&text),
                ScalarStyle::SingleQuoted
                | ScalarStyle::DoubleQuoted
                | ScalarStyle::Literal
                | ScalarStyle::Folded => Value::String(text.into_owned()),
            }),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => None,
        };
        if let Some(value) = done {
            match open.last_mut() {
                Some(above) => above.take(value).map_err(|problem| at(&problem))?,
                None => whole = Some(value),
            }
        }
    }
    whole.ok_or_else(|| "there is nothing in it".into())
}

/// What has begun and not ended.
enum Open {
    List(Vec<Value>),
    /// With the key whose value comes next.
    Mapping(Map<String, Value>, Option<String>),
}

impl Open {
    fn take(&mut self, value: Value) -> Result<(), String> {
        match self {
            Open::List(items) => items.push(value),
            Open::Mapping(fields, key) => match key.take() {
                Some(key) => {
                    if fields.insert(key.clone(), value).is_some() {
                        return Err(format!("`{}` is written twice", key.escape_debug()));
                    }
                }
                None => match value {
                    Value::String(text) => *key = Some(text),
                    Value::Null
                    | Value::Bool(_)
                    | Value::Number(_)
                    | Value::Array(_)
                    | Value::Object(_) => return Err("a key is no text: put it into quotes".into()),
                },
            },
        }
        Ok(())
    }

    fn value(self) -> Value {
        match self {
            Open::List(items) => Value::Array(items),
            Open::Mapping(fields, _) => Value::Object(fields),
        }
    }
}

/// A scalar without quotes, by the core schema of YAML 1.2. `yes` and `on` are words in it.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    if let Ok(number) = text.parse::<i64>() {
        return Value::Number(number.into());
    }
    let is_float = text.contains('.')
        && text
            .chars()
            .all(|c| c.is_ascii_digit() || "+-.eE".contains(c));
    let float = is_float.then(|| text.parse().ok()).flatten();
    match float.and_then(Number::from_f64) {
        Some(number) => Value::Number(number),
        None => Value::String(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn settings_are_read_as_they_are_written() {
        let text = "a: 1\nb: [x, 'y', \"z\\n\", 1.5, true, ~]\nc:\n  d: rm -rf *\n  e: |\n    two\n    lines\n  f: yes\n";
        assert_eq!(
            read(text).unwrap(),
            json!({"a": 1, "b": ["x", "y", "z\n", 1.5, true, null],
                "c": {"d": "rm -rf *", "e": "two\nlines\n", "f": "yes"}})
        );
    }

    #[test]
    fn what_readers_disagree_about_is_refused() {
        for text in [
            "a: &x 1\nb: *x\n",
            "a: !!str 1\n",
            "a: 1\na: 2\n",
            "1: a\n",
            "a: 1\n---\nb: 2\n",
            "",
            "a: [\n",
            "a: b: c\n",
        ] {
            assert!(read(text).is_err(), "{text:?}");
        }
        assert!(read(&"[".repeat(100)).is_err());
        assert!(read(&format!("{}1{}", "[".repeat(30), "]".repeat(30))).is_err());
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text in "[a-z:\\[\\]{}'\"&*!|>#%@`\\-? \n\t0-9]{0,80}") {
            let _ = read(&text);
        }
    }
}
