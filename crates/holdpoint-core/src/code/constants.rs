//! Functions and methods whose value follows from their constant arguments.

use super::Operand;
use super::carried;
use super::place;
use super::values::{Value, joined, text_joined};
use crate::rules::gate_reach;
use crate::shell::UNKNOWN;

/// What a function of the table gives.
pub(super) type Pure = fn(&[Value]) -> Value;

/// Gives back its first argument: `str(x)`, `promisify(f)`, `expanduser(p)`.
pub(super) fn first(args: &[Value]) -> Value {
    args.first().cloned().unwrap_or(Value::Unknown)
}

/// Nothing is known and nothing happens.
pub(super) fn nothing(_: &[Value]) -> Value {
    Value::Unknown
}

/// The directory a path lies in, so many levels up as a second argument says.
pub(super) fn parent(args: &[Value]) -> Value {
    let levels = match args.get(1) {
        Some(Value::Number(levels)) => usize::try_from(*levels).unwrap_or(1).min(MAX_LEVELS),
        Some(_) | None => 1,
    };
    match args.first().and_then(Value::text) {
        Some(path) => {
            Value::known((0..levels).fold(path.to_owned(), |path, _| place::parent(&path)))
        }
        None => Value::Unknown,
    }
}

/// Levels a path is taken up at once.
const MAX_LEVELS: usize = 16;

/// A path as seen from a second one: `File.expand_path("../x", __dir__)`.
pub(super) fn seen_from(args: &[Value]) -> Value {
    match args {
        [path, base] if !path.text().is_some_and(|path| path.starts_with('~')) => {
            path_joined(&[base.clone(), path.clone()])
        }
        _ => first(args),
    }
}

/// An address, which may be a file's seen from another: `new URL("../x", import.meta.url)`.
pub(super) fn address(args: &[Value]) -> Value {
    match args {
        [path, base] if base.text().is_some_and(|base| !base.contains("://")) => {
            path_joined(&[parent(std::slice::from_ref(base)), path.clone()])
        }
        [_, _] => Value::Unknown,
        _ => first(args),
    }
}

/// Where everybody's temporary files lie.
pub(super) fn temporary(_: &[Value]) -> Value {
    Value::known("/tmp")
}

/// The home of whoever runs this, in the shell's word for it.
pub(super) fn home(_: &[Value]) -> Value {
    Value::known("~")
}

/// A variable of the environment, by its name.
pub(super) fn variable(args: &[Value]) -> Value {
    match args.first() {
        Some(name) => name.text().map_or(Value::Unknown, carried::variable),
        None => Value::Name("ENV".to_owned()),
    }
}

/// Files found by a pattern: each begins as it does in front of the first sign that may be several.
pub(super) fn found(args: &[Value]) -> Value {
    let Some(pattern) = args.first().and_then(Value::text) else {
        return Value::Unknown;
    };
    if let Some(gate) = reaching_gate(&format!("./{pattern}")) {
        return Value::List(vec![Value::Text(gate)]);
    }
    let fixed = pattern
        .find(['*', '?', '[', '{'])
        .and_then(|at| pattern.get(..at))
        .unwrap_or(pattern);
    let place = fixed.rfind('/').and_then(|slash| fixed.get(..=slash));
    let each = Value::Text(Operand::Starts(place.unwrap_or("./").to_owned()));
    Value::List(vec![each])
}

/// The names in a directory, each without a slash.
pub(super) fn names(_: &[Value]) -> Value {
    Value::List(vec![Value::Text(Operand::Starts("./".to_owned()))])
}

/// What stands below a path: `Path("src").rglob("*.py")`.
pub(super) fn below(args: &[Value]) -> Value {
    let start = args.first().map_or(Operand::Unknown, Value::operand);
    let start = match start {
        Operand::Known(text) if text.ends_with('/') => Operand::Starts(text),
        Operand::Known(text) if text.is_empty() => Operand::Starts("./".to_owned()),
        Operand::Known(text) => Operand::Starts(format!("{text}/")),
        other @ (Operand::Starts(_) | Operand::Unknown) => other,
    };
    // What is looked for by a name lies in hidden directories, too.
    let named = args.get(1).and_then(Value::text).and_then(|pattern| {
        let name = pattern.rsplit('/').next().unwrap_or(pattern);
        let stem = name.split('.').next().unwrap_or_default();
        let says = stem.contains(|sign: char| sign.is_alphanumeric());
        says.then(|| reaching_gate(&format!("./.{UNKNOWN}/{name}")))
            .flatten()
    });
    let each = Value::Made("Path", Box::new(Value::Text(named.unwrap_or(start))));
    Value::List(vec![each])
}

/// A pattern for what agents are told by, as a path of which some parts are not known; none if it reaches no such file.
fn reaching_gate(pattern: &str) -> Option<Operand> {
    let reaches = gate_reach::of(pattern) & gate_reach::GATE_REACH != 0;
    let unknown = UNKNOWN.to_string();
    reaches.then(|| Operand::Starts(pattern.replace(['*', '?'], &unknown)))
}

/// Paths joined by `/`; an absolute one starts anew.
pub(super) fn path_joined(args: &[Value]) -> Value {
    parts_joined(args, true)
}

/// Paths joined by `/`, whatever they begin with.
pub(super) fn path_appended(args: &[Value]) -> Value {
    parts_joined(args, false)
}

fn parts_joined(args: &[Value], anew: bool) -> Value {
    let mut path = Operand::Known(String::new());
    for (at, part) in args.iter().enumerate() {
        let part = part.operand();
        let absolute = match &part {
            Operand::Known(text) | Operand::Starts(text) => text.starts_with('/'),
            Operand::Unknown => false,
        };
        if (absolute && anew) || at == 0 {
            path = part;
            continue;
        }
        let slash = match &path {
            Operand::Known(text) => !text.is_empty() && !text.ends_with('/'),
            Operand::Starts(_) | Operand::Unknown => false,
        };
        if slash {
            path = text_joined(path, Operand::Known("/".to_owned()));
        }
        // An unknown part could be absolute, and then nothing in front of it counts.
        path = match part {
            Operand::Unknown if anew => Operand::Unknown,
            part @ (Operand::Known(_) | Operand::Starts(_) | Operand::Unknown) => {
                text_joined(path, part)
            }
        };
    }
    Value::Text(path)
}

/// All arguments as one text.
pub(super) fn concatenated(args: &[Value]) -> Value {
    args.iter()
        .fold(Value::known(""), |left, right| joined(left, right.clone()))
}

/// Characters by their numbers, given singly or as a list.
pub(super) fn characters(args: &[Value]) -> Value {
    let numbers = match args {
        [Value::List(values)] => values.as_slice(),
        other => other,
    };
    let mut text = String::new();
    for number in numbers {
        match number {
            Value::Number(number) => match u32::try_from(*number).ok().and_then(char::from_u32) {
                Some(letter) => text.push(letter),
                None => return Value::Unknown,
            },
            Value::Text(_)
            | Value::Flag(_)
            | Value::List(_)
            | Value::Map(_)
            | Value::Name(_)
            | Value::Made(..)
            | Value::Held(..)
            | Value::Method(..)
            | Value::Any(_)
            | Value::Function
            | Value::Unknown => return Value::Unknown,
        }
    }
    Value::known(text)
}

/// Base64, URL-safe or not.
pub(super) fn base64(args: &[Value]) -> Value {
    let Some(text) = args.first().and_then(Value::text) else {
        return Value::Unknown;
    };
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0u32, 0u32);
    for letter in text.bytes() {
        let six = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => continue,
        };
        bits = (bits << 6 | u32::from(six)) & 0xff_ffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    text_of(bytes)
}

/// Pairs of hexadecimal digits.
pub(super) fn hex(args: &[Value]) -> Value {
    let Some(text) = args.first().and_then(Value::text) else {
        return Value::Unknown;
    };
    let digits: Option<Vec<u32>> = text
        .chars()
        .filter(|letter| !letter.is_whitespace())
        .map(|letter| letter.to_digit(16))
        .collect();
    let Some(digits) = digits else {
        return Value::Unknown;
    };
    let bytes = digits
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => (high << 4 | low) as u8,
            _ => 0,
        })
        .collect();
    text_of(bytes)
}

pub(super) fn rot13(args: &[Value]) -> Value {
    let Some(text) = args.first().and_then(Value::text) else {
        return Value::Unknown;
    };
    let turn = |letter: u8, first: u8| char::from((letter - first + 13) % 26 + first);
    Value::known(
        text.chars()
            .map(|letter| match letter {
                'a'..='z' => turn(letter as u8, b'a'),
                'A'..='Z' => turn(letter as u8, b'A'),
                other => other,
            })
            .collect::<String>(),
    )
}

pub(super) fn reversed(args: &[Value]) -> Value {
    args.first()
        .and_then(Value::text)
        .map_or(Value::Unknown, |text| {
            Value::known(text.chars().rev().collect::<String>())
        })
}

/// `codecs.decode(text, "hex")`, `Buffer.from(text, "base64")`: the coding is named second.
pub(super) fn decoded(args: &[Value]) -> Value {
    match args.get(1).and_then(Value::text) {
        Some("base64" | "base64url") => base64(args),
        Some("hex" | "hex_codec") => hex(args),
        Some("rot13" | "rot_13") => rot13(args),
        Some("utf8" | "utf-8" | "ascii" | "latin1" | "binary") => first(args),
        Some(_) => Value::Unknown,
        None if args.len() == 1 => first(args),
        None => Value::Unknown,
    }
}

/// A line split as a shell would, where it has no quotes.
pub(super) fn words(args: &[Value]) -> Value {
    match args.first().and_then(Value::text) {
        Some(text) if !text.contains(['"', '\'', '\\']) => {
            Value::List(text.split_ascii_whitespace().map(Value::known).collect())
        }
        Some(_) | None => Value::Unknown,
    }
}

/// `join(separator, list)` of Perl and PHP.
pub(super) fn join(args: &[Value]) -> Value {
    let (Some(separator), rest) = (args.first(), args.get(1..).unwrap_or(&[])) else {
        return Value::Unknown;
    };
    match rest {
        [Value::List(values)] => separated(separator, values),
        other => separated(separator, other),
    }
}

fn separated(separator: &Value, values: &[Value]) -> Value {
    let mut text = Operand::Known(String::new());
    let mut all = Vec::new();
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            text = text_joined(text, separator.operand());
        }
        text = text_joined(text, value.operand());
        all.extend(carried::held(value));
    }
    carried::carrying(Value::Text(text), all)
}

/// A format up to its first hole.
pub(super) fn formatted(format: &Value, sign: char) -> Value {
    match format.text() {
        Some(text) => match text.split_once(sign) {
            None => Value::known(text),
            Some(("", _)) => Value::Unknown,
            Some((start, _)) => Value::Text(Operand::Starts(start.to_owned())),
        },
        None => Value::Unknown,
    }
}

/// A format with the values of its holes, as far as they are told by nothing but their order or name.
pub(super) fn filled(
    format: &Value,
    sign: char,
    args: &[Value],
    named: &[(String, Value)],
) -> Value {
    let all: Vec<_> = args
        .iter()
        .chain(named.iter().map(|(_, value)| value))
        .flat_map(carried::held)
        .collect();
    let text = format
        .text()
        .and_then(|text| match sign {
            '%' => percents(text, args, named),
            _ => braces(text, args, named),
        })
        .map_or_else(|| formatted(format, sign), Value::Text);
    carried::carrying(text, all)
}

/// `"%s -rf %(p)s"`
fn percents(format: &str, args: &[Value], named: &[(String, Value)]) -> Option<Operand> {
    let mut out = Operand::Known(String::new());
    let mut next = args.iter();
    let mut rest = format;
    while let Some((before, after)) = rest.split_once('%') {
        out = text_joined(out, Operand::Known(before.to_owned()));
        if let Some(tail) = after.strip_prefix('%') {
            out = text_joined(out, Operand::Known("%".to_owned()));
            rest = tail;
            continue;
        }
        let (value, tail) = match after.strip_prefix('(') {
            Some(after) => {
                let (name, tail) = after.split_once(')')?;
                let (_, value) = named.iter().find(|(key, _)| key == name)?;
                (value, tail)
            }
            None => (next.next()?, after),
        };
        rest = tail.strip_prefix(['s', 'd'])?;
        out = text_joined(out, value.operand());
    }
    Some(text_joined(out, Operand::Known(rest.to_owned())))
}

/// `"{} -rf {0} {p}"`
fn braces(format: &str, args: &[Value], named: &[(String, Value)]) -> Option<Operand> {
    if format.contains("{{") || format.contains("}}") {
        return None;
    }
    let mut out = Operand::Known(String::new());
    let mut next = 0;
    let mut rest = format;
    while let Some((before, after)) = rest.split_once('{') {
        out = text_joined(out, Operand::Known(before.to_owned()));
        let (hole, tail) = after.split_once('}')?;
        let value = if hole.is_empty() {
            next += 1;
            args.get(next - 1)?
        } else if let Ok(at) = hole.parse::<usize>() {
            args.get(at)?
        } else {
            &named.iter().find(|(key, _)| key == hole)?.1
        };
        out = text_joined(out, value.operand());
        rest = tail;
    }
    Some(text_joined(out, Operand::Known(rest.to_owned())))
}

/// A format with `%` for holes, given first.
pub(super) fn printed(args: &[Value]) -> Value {
    let (Some(format), rest) = (args.first(), args.get(1..).unwrap_or(&[])) else {
        return Value::Unknown;
    };
    filled(format, '%', rest, &[])
}

/// What a method of a constant gives.
pub(super) fn method(receiver: &Value, method: &str, args: &[Value]) -> Option<Value> {
    match receiver {
        Value::Text(operand) => text_method(receiver, operand, method, args),
        Value::List(values) => match (method, args) {
            ("join", [separator]) => Some(separated(separator, values)),
            ("join", []) => Some(separated(&Value::known(","), values)),
            ("pack", [coding]) => match coding.text() {
                Some("H*") => Some(hex(values)),
                Some("m" | "m0") => None,
                Some("c*" | "C*" | "U*") => Some(characters(values)),
                Some(_) | None => None,
            },
            ("concat", [Value::List(more)]) => {
                let mut all = values.clone();
                all.extend(more.iter().cloned());
                Some(Value::List(all))
            }
            _ => None,
        },
        Value::Made("Path", path) => match method {
            "joinpath" | "join" | "+" => {
                let mut parts = vec![path.as_ref().clone()];
                parts.extend(args.iter().cloned());
                Some(Value::Made("Path", Box::new(path_joined(&parts))))
            }
            "resolve" | "absolute" | "expanduser" | "expand_path" | "realpath" | "cleanpath" => {
                Some(receiver.clone())
            }
            // A method of Ruby's, a property of Python's.
            "parent" | "dirname" => Some(Value::Made(
                "Path",
                Box::new(parent(std::slice::from_ref(path))),
            )),
            "as_posix" | "to_s" | "to_path" | "__str__" => Some(path.as_ref().clone()),
            _ => None,
        },
        Value::Number(number) if method == "chr" => Some(characters(&[Value::Number(*number)])),
        Value::Held(..) | Value::Name(_) => carried::method(receiver, method, args),
        Value::Made(..)
        | Value::Number(_)
        | Value::Flag(_)
        | Value::Map(_)
        | Value::Method(..)
        | Value::Any(_)
        | Value::Function
        | Value::Unknown => None,
    }
}

fn text_method(receiver: &Value, operand: &Operand, method: &str, args: &[Value]) -> Option<Value> {
    let same = matches!(
        method,
        "encode"
            | "decode"
            | "toString"
            | "to_s"
            | "to_str"
            | "freeze"
            | "dup"
            | "valueOf"
            | "format"
            | "to_sym"
            | "force_encoding"
            | "b"
            | "to_path"
    );
    if same && method == "format" {
        return Some(filled(receiver, '{', args, &[]));
    }
    if same {
        return Some(receiver.clone());
    }
    // A text made of what holds something holds it, too.
    if matches!(method, "join" | "format" | "concat" | "replace" | "__add__") {
        let all: Vec<_> = args
            .iter()
            .filter(|value| !matches!(value, Value::List(_)))
            .flat_map(carried::held)
            .collect();
        if !all.is_empty() {
            return Some(carried::carrying(Value::Unknown, all));
        }
    }
    let text = match operand {
        Operand::Known(text) => text,
        // How it begins stays where it was.
        Operand::Starts(text) => {
            let start = match method {
                "lower" | "toLowerCase" | "downcase" => text.to_lowercase(),
                "upper" | "toUpperCase" | "upcase" => text.to_uppercase(),
                "rstrip" | "trimEnd" | "chomp" => text.clone(),
                _ => return None,
            };
            return args
                .is_empty()
                .then_some(Value::Text(Operand::Starts(start)));
        }
        Operand::Unknown => return None,
    };
    let plain = |changed: &str| Some(Value::known(changed));
    match (method, args) {
        // Ruby: the method of that name.
        ("to_proc", []) => Some(Value::Name(text.clone())),
        // Python: the separator joins the list. JavaScript's way round is the list's method.
        ("join", [Value::List(values)]) => Some(separated(receiver, values)),
        ("split", []) => Some(words(std::slice::from_ref(receiver))),
        ("split", [separator]) => match separator.text() {
            Some("") => Some(Value::List(
                text.chars()
                    .map(|letter| Value::known(letter.to_string()))
                    .collect(),
            )),
            Some(separator) => Some(Value::List(
                text.split(separator).map(Value::known).collect(),
            )),
            None => None,
        },
        ("strip" | "trim", []) => plain(text.trim()),
        ("rstrip" | "trimEnd" | "chomp", []) => plain(text.trim_end()),
        ("lstrip" | "trimStart", []) => plain(text.trim_start()),
        ("lower" | "toLowerCase" | "downcase", []) => plain(&text.to_lowercase()),
        ("upper" | "toUpperCase" | "upcase", []) => plain(&text.to_uppercase()),
        ("reverse", []) => plain(&text.chars().rev().collect::<String>()),
        ("concat", more) => {
            let mut all = vec![receiver.clone()];
            all.extend(more.iter().cloned());
            Some(concatenated(&all))
        }
        ("replace" | "replaceAll" | "gsub", [from, to])
            if method != "replace" || !text.is_empty() =>
        {
            match (from.text(), to.text()) {
                // JavaScript's `replace` changes the first only; with one there is no difference.
                (Some(from), Some(to))
                    if !from.is_empty()
                        && (method != "replace" || text.matches(from).count() < 2) =>
                {
                    plain(&text.replace(from, to))
                }
                (_, _) => None,
            }
        }
        _ => None,
    }
}

fn text_of(bytes: Vec<u8>) -> Value {
    String::from_utf8(bytes).map_or(Value::Unknown, Value::known)
}
