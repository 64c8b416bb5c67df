//! A tool call as Holdpoint sees it, whoever the agent is.
//!
//! A `ToolCall` that exists is well formed: it names a tool and its input is a JSON object in
//! which no key stands twice. What the call *means* is worked out by `understand`; here are only
//! its identity (the digest a release is bound to) and its text form (the signature of J-11/J-12).

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::catalogue::{self, Shape};

/// The longest tool name accepted.
const MAX_TOOL_NAME: usize = 1024;

/// What an agent asks for: a tool, its arguments, and where it would run.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    tool: String,
    /// Shared: a call is handed on and kept by several, and what a tool writes can be large.
    input: Arc<Map<String, Value>>,
    cwd: Option<String>,
}

impl ToolCall {
    /// A call of `tool` with the arguments in `input`, which must be an object (or null for none).
    pub fn new(tool: impl Into<String>, input: Value) -> Result<Self, CallError> {
        let tool = tool.into();
        if tool.trim().is_empty() {
            return Err(CallError::NoTool);
        }
        if tool.len() > MAX_TOOL_NAME {
            return Err(CallError::ToolNameTooLong);
        }
        let input = match input {
            Value::Object(map) => map,
            Value::Null => Map::new(),
            Value::Bool(_) => return Err(CallError::InputNotObject("true or false")),
            Value::Number(_) => return Err(CallError::InputNotObject("a number")),
            Value::String(_) => return Err(CallError::InputNotObject("a string")),
            Value::Array(_) => return Err(CallError::InputNotObject("an array")),
        };
        Ok(Self {
            tool,
            input: Arc::new(input),
            cwd: None,
        })
    }

    /// A shell command, as an agent's `Bash` tool would run it.
    pub fn shell(command: impl Into<String>) -> Self {
        let mut input = Map::new();
        input.insert("command".into(), Value::String(command.into()));
        Self {
            tool: "Bash".into(),
            input: Arc::new(input),
            cwd: None,
        }
    }

    /// The same call, run in `cwd`.
    #[must_use]
    pub fn in_directory(mut self, cwd: impl Into<String>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// The tool's name, exactly as the agent spells it.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The tool's arguments.
    pub fn input(&self) -> &Map<String, Value> {
        &self.input
    }

    /// The directory the call would run in, if the agent said.
    pub fn cwd(&self) -> Option<&str> {
        self.cwd.as_deref()
    }

    /// `sha256:…` over the tool, its arguments with sorted keys, and the directory.
    pub fn digest(&self) -> String {
        let mut hasher = Sha256::new();
        // Each field is a JSON text on a line of its own, so no two calls share a form.
        let mut text = Vec::with_capacity(256);
        write_text(&mut text, &self.tool);
        text.push(b'\n');
        write_input(&mut text, &self.input);
        text.push(b'\n');
        write_json(&mut text, &self.cwd);
        text.push(b'\n');
        hasher.update(&text);
        hex_digest(hasher)
    }

    /// The text form patterns are matched against (J-11, J-12): the command line of a shell tool,
    /// `name(key=value, …)` of any other.
    pub fn signature(&self) -> String {
        self.command_line().unwrap_or_else(|| self.text_form())
    }

    /// The command line of a shell tool: its command and, where given, its `args` (J-11).
    pub fn command_line(&self) -> Option<String> {
        let Shape::Shell { command } = catalogue::shape(&self.tool) else {
            return None;
        };
        let mut line = self.input.get(command)?.as_str()?.to_owned();
        if let Some(Value::Array(args)) = self.input.get("args") {
            for arg in args {
                line.push(' ');
                push_python_str(&mut line, arg);
            }
        }
        Some(line)
    }

    /// `name(key=value, …)` with sorted keys and values as Python's `str()` shows them.
    pub(crate) fn text_form(&self) -> String {
        let arguments = self.input.iter();
        text_form(
            &self.tool,
            arguments.map(|(key, value)| (key.as_str(), value)),
        )
    }

    /// The same as if the tool were called `name` by an agent that has its own names for the
    /// arguments.
    pub(crate) fn text_form_as(&self, name: &'static catalogue::Name) -> String {
        let mut arguments: Vec<(Cow<'_, str>, &Value)> = self
            .input
            .iter()
            .flat_map(|(key, value)| {
                let names = catalogue::renames(name, key);
                names.into_iter().map(move |name| (name, value))
            })
            .collect();
        arguments.sort_by(|(one, _), (other, _)| one.cmp(other));
        let arguments = arguments.iter().map(|(key, value)| (key.as_ref(), *value));
        text_form(name.text(), arguments)
    }
}

/// `name(key=value, …)` of arguments in the order they are to stand in.
pub(crate) fn text_form<'a>(
    name: &str,
    arguments: impl Iterator<Item = (&'a str, &'a Value)>,
) -> String {
    let mut text = String::with_capacity(name.len() + 64);
    text.push_str(name);
    text.push('(');
    for (index, (key, value)) in arguments.enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        text.push_str(key);
        text.push('=');
        push_python_str(&mut text, value);
    }
    text.push(')');
    text
}

/// Why something is not a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallError {
    /// The tool has no name.
    NoTool,
    /// The tool's name is longer than any real one.
    ToolNameTooLong,
    /// The arguments are not an object.
    InputNotObject(&'static str),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::NoTool => {
                f.write_str("the call names no tool: give `tool` as a non-empty string")
            }
            CallError::ToolNameTooLong => {
                write!(
                    f,
                    "the tool's name is longer than {MAX_TOOL_NAME} bytes: give its real name"
                )
            }
            CallError::InputNotObject(found) => {
                write!(
                    f,
                    "`input` must be an object, found {found}: write the arguments as {{\"name\": value}}"
                )
            }
        }
    }
}

impl std::error::Error for CallError {}

/// A JSON value read with duplicate keys refused: an agent and its gate that disagree about which
/// of two equal keys counts would judge one call and run another.
#[derive(Clone, Debug, PartialEq)]
pub struct StrictValue(pub Value);

impl<'de> Deserialize<'de> for StrictValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(StrictValue)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(StrictValue(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(de::Error::custom(format_args!(
                    "key `{}` is written twice",
                    key.escape_debug()
                )));
            }
            let StrictValue(value) = entries.next_value()?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

/// `sha256:` and the hexadecimal digest.
pub(crate) fn hex_digest(hasher: Sha256) -> String {
    let bytes = hasher.finalize();
    let mut text = Vec::with_capacity(7 + 64);
    text.extend_from_slice(b"sha256:");
    for byte in bytes.iter() {
        text.extend_from_slice(&hex_digits(*byte));
    }
    // Digits are ASCII.
    String::from_utf8(text).unwrap_or_default()
}

/// `sha256:…` of some bytes.
pub fn digest_of(bytes: &[u8]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(bytes);
    hex_digest(hasher)
}

/// Writes arguments as JSON, as `serde_json` does. Nearly all there is in them is text, often a whole
/// file, and it goes through here letter by letter for every call.
fn write_input(text: &mut Vec<u8>, input: &Map<String, Value>) {
    text.push(b'{');
    for (index, (key, value)) in input.iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        write_text(text, key);
        text.push(b':');
        match value {
            Value::String(value) => write_text(text, value),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => write_json(text, value),
        }
    }
    text.push(b'}');
}

fn write_text(text: &mut Vec<u8>, value: &str) {
    let mut rest = value.as_bytes();
    text.reserve(rest.len() + 2);
    text.push(b'"');
    while let Some((at, byte)) = first_escaped(rest) {
        let (plain, behind) = rest.split_at_checked(at).unwrap_or((rest, &[]));
        text.extend_from_slice(plain);
        rest = behind.get(1..).unwrap_or_default();
        match byte {
            b'"' => text.extend_from_slice(b"\\\""),
            b'\\' => text.extend_from_slice(b"\\\\"),
            b'\n' => text.extend_from_slice(b"\\n"),
            b'\t' => text.extend_from_slice(b"\\t"),
            b'\r' => text.extend_from_slice(b"\\r"),
            0x08 => text.extend_from_slice(b"\\b"),
            0x0c => text.extend_from_slice(b"\\f"),
            _ => {
                let [high, low] = hex_digits(byte);
                text.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
            }
        }
    }
    text.extend_from_slice(rest);
    text.push(b'"');
}

/// The first byte that JSON does not write as it is, and where it stands. Eight are looked at together,
/// each in its own part of one number.
fn first_escaped(bytes: &[u8]) -> Option<(usize, u8)> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    // Has a highest bit where a byte is below `than`, perhaps some behind the first, too.
    let below =
        |word: u64, than: u8| word.wrapping_sub(ONES.wrapping_mul(u64::from(than))) & !word & HIGHS;
    let (words, rest) = bytes.as_chunks::<8>();
    let mut at = 0;
    for eight in words {
        let word = u64::from_le_bytes(*eight);
        let quote = word ^ ONES.wrapping_mul(u64::from(b'"'));
        let backslash = word ^ ONES.wrapping_mul(u64::from(b'\\'));
        let marks = below(word, 0x20) | below(quote, 1) | below(backslash, 1);
        if marks != 0 {
            // Below the first of the marks there is nothing to be taken over from, so that one is right.
            let within = marks.trailing_zeros() / 8;
            return Some((at + within as usize, (word >> (within * 8)) as u8));
        }
        at += 8;
    }
    let escaped = |byte: &u8| *byte < 0x20 || matches!(byte, b'"' | b'\\');
    let (within, byte) = rest.iter().enumerate().find(|(_, byte)| escaped(byte))?;
    Some((at + within, *byte))
}

fn hex_digits(byte: u8) -> [u8; 2] {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| HEX.get(usize::from(nibble)).copied().unwrap_or(b'0');
    [digit(byte >> 4), digit(byte & 15)]
}

fn write_json<T: serde::Serialize>(text: &mut Vec<u8>, value: &T) {
    // Writing strings, maps and options of JSON into memory has no way to fail.
    let _ = serde_json::to_writer(text, value);
}

/// The value as Python's `str()` shows it: strings bare, everything else as `repr()`.
pub(crate) fn push_python_str(text: &mut String, value: &Value) {
    match value {
        Value::String(string) => text.push_str(string),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            push_python_repr(text, value)
        }
    }
}

fn push_python_repr(text: &mut String, value: &Value) {
    match value {
        Value::Null => text.push_str("None"),
        Value::Bool(true) => text.push_str("True"),
        Value::Bool(false) => text.push_str("False"),
        Value::Number(number) => push_python_number(text, number),
        Value::String(string) => push_python_quoted(text, string),
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push_str(", ");
                }
                push_python_repr(text, item);
            }
            text.push(']');
        }
        Value::Object(entries) => {
            text.push('{');
            for (index, (key, item)) in entries.iter().enumerate() {
                if index > 0 {
                    text.push_str(", ");
                }
                push_python_quoted(text, key);
                text.push_str(": ");
                push_python_repr(text, item);
            }
            text.push('}');
        }
    }
}

fn push_python_number(text: &mut String, number: &serde_json::Number) {
    let Some(float) = number.as_f64().filter(|_| number.is_f64()) else {
        text.push_str(&number.to_string());
        return;
    };
    let magnitude = float.abs();
    if magnitude != 0.0 && !(1e-4..1e16).contains(&magnitude) {
        // Python writes the exponent with a sign and at least two digits.
        let scientific = format!("{float:e}");
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        let (sign, digits) = match exponent.strip_prefix('-') {
            Some(digits) => ('-', digits),
            None => ('+', exponent),
        };
        text.push_str(&format!("{mantissa}e{sign}{digits:0>2}"));
    } else {
        text.push_str(&format!("{float:?}"));
    }
}

fn push_python_quoted(text: &mut String, string: &str) {
    let quote = if string.contains('\'') && !string.contains('"') {
        '"'
    } else {
        '\''
    };
    text.push(quote);
    for c in string.chars() {
        match c {
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            c if c == quote => {
                text.push('\\');
                text.push(c);
            }
            c if u32::from(c) < 0x20 || u32::from(c) == 0x7f => {
                text.push_str(&format!("\\x{:02x}", u32::from(c)));
            }
            c => text.push(c),
        }
    }
    text.push(quote);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    proptest! {
        /// A release is bound to the digest: it must stay what it was.
        #[test]
        fn arguments_are_written_as_serde_json_writes_them(
            texts in prop::collection::btree_map(any::<String>(), any::<String>(), 0..4),
            lines in "[a-f\\\\\"\n\t\r\u{0}-\u{1f}\u{7f}-\u{ff}]{0,40}",
        ) {
            let mut input: Map<String, Value> = Map::new();
            for (key, text) in texts {
                input.insert(key, Value::from(text));
            }
            input.insert("lines".into(), Value::from(lines.as_str()));
            input.insert("deep".into(), json!({"b": [lines, 1.5, null], "a": {}}));
            let mut text = Vec::new();
            write_input(&mut text, &input);
            prop_assert_eq!(text, serde_json::to_vec(&input).unwrap());
        }
    }

    fn signature(tool: &str, input: Value) -> String {
        ToolCall::new(tool, input).unwrap().signature()
    }

    #[test]
    fn a_shell_tool_signs_with_its_command_line() {
        assert_eq!(
            signature("cli_based_tool", json!({"command": "git push origin main"})),
            "git push origin main"
        );
        assert_eq!(
            signature(
                "cli_based_tool",
                json!({"command": "git", "args": ["push", "origin"]})
            ),
            "git push origin"
        );
        assert_eq!(
            signature("cli_based_tool", json!({"command": "ls", "args": null})),
            "ls"
        );
        assert_eq!(
            signature("cli_based_tool", json!({"command": "ls", "args": []})),
            "ls"
        );
    }

    #[test]
    fn other_tools_sign_with_sorted_arguments_as_python_shows_them() {
        assert_eq!(
            signature("search_issues", json!({"query": "bug", "limit": 10})),
            "search_issues(limit=10, query=bug)"
        );
        assert_eq!(
            signature("t", json!({"b": 2, "a": "x, y=1"})),
            "t(a=x, y=1, b=2)"
        );
        assert_eq!(signature("t", json!({})), "t()");
        assert_eq!(
            signature(
                "t",
                json!({"n": null, "t": true, "f": 1.0, "g": 1e16, "h": 1e-5,
                       "l": ["a", 1, "it's"], "o": {"k": false}})
            ),
            "t(f=1.0, g=1e+16, h=1e-05, l=['a', 1, \"it's\"], n=None, o={'k': False}, t=True)"
        );
    }

    #[test]
    fn the_digest_does_not_depend_on_key_order_but_on_everything_else() {
        let one = ToolCall::new("t", json!({"a": 1, "b": 2})).unwrap();
        let StrictValue(swapped) = serde_json::from_str(r#"{"b":2,"a":1}"#).unwrap();
        let two = ToolCall::new("t", swapped).unwrap();
        assert_eq!(one.digest(), two.digest());
        assert_ne!(one.digest(), one.clone().in_directory("/x").digest());
        assert_ne!(
            one.digest(),
            ToolCall::new("u", json!({"a": 1, "b": 2}))
                .unwrap()
                .digest()
        );
        assert!(one.digest().starts_with("sha256:"));
    }

    #[test]
    fn a_call_without_a_tool_or_with_a_non_object_input_is_refused() {
        assert_eq!(ToolCall::new(" ", json!({})), Err(CallError::NoTool));
        assert_eq!(
            ToolCall::new("t", json!([1])),
            Err(CallError::InputNotObject("an array"))
        );
    }

    #[test]
    fn duplicate_keys_are_refused_at_any_depth() {
        let error = serde_json::from_str::<StrictValue>(r#"{"a":{"b":1,"b":2}}"#).unwrap_err();
        assert!(error.to_string().contains("key `b` is written twice"));
    }
}
