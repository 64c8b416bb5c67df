//! What of this machine's a value holds: the environment, one variable of it, the text of a file.
//!
//! Code that prints or sends such a value does what `printenv`, `cat` or `curl -d @file` do. It is
//! followed only through what leaves a text recognisable: joining, encoding, taking apart. What
//! another function makes of it is a new value.

use super::Operand;
use super::values::{Value, text_joined};

/// Most things one value is followed to hold: more than anybody puts together by hand, so that a secret behind harmless files
/// is not passed over; each is copied with the value.
const MAX_CARRIED: usize = 64;
/// The longest part of a secret that may be shown, as code does to tell whether one is set.
const MAX_SHOWN: i64 = 8;

/// Something of this machine's that a value holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Carried {
    /// The text of a file.
    File(Operand),
    /// All variables of the environment.
    Environment,
    /// One variable.
    Variable(String),
}

impl Carried {
    /// What copying this costs.
    pub(super) fn size(&self) -> usize {
        16 + match self {
            Carried::File(path) => path.size(),
            Carried::Variable(name) => name.len(),
            Carried::Environment => 0,
        }
    }
}

/// How the languages call the environment.
const ENVIRONMENTS: &[&str] = &[
    "os.environ",
    "os.environb",
    "process.env",
    "Bun.env",
    "import.meta.env",
    "ENV",
    "$_ENV",
    "$_SERVER",
];

/// What a name says of the environment.
pub(super) fn named(name: &str) -> Option<Carried> {
    // Every word of the code comes by here.
    if !name.starts_with(['o', 'p', 'B', 'i', 'E', '$']) {
        return None;
    }
    let environment = ENVIRONMENTS
        .iter()
        .find(|environment| name.starts_with(**environment))?;
    match name.get(environment.len()..)?.strip_prefix('.') {
        Some(variable) if variable.contains('.') => None,
        Some(variable) => Some(Carried::Variable(variable.to_owned())),
        None if name.len() == environment.len() => Some(Carried::Environment),
        None => None,
    }
}

/// What of a variable's value can be told from its name.
pub(super) fn foretold(name: &str) -> Option<Operand> {
    match named(name)? {
        Carried::Variable(variable) => Some(match variable.as_str() {
            // The same as the shell's word for it.
            "HOME" | "USERPROFILE" => Operand::Known("~".to_owned()),
            _ => Operand::Unknown,
        }),
        Carried::Environment | Carried::File(_) => Some(Operand::Unknown),
    }
}

/// A variable of the environment by its name.
pub(super) fn variable(name: &str) -> Value {
    Value::Name(format!("ENV.{name}"))
}

/// What a value holds, looked at as far as lists and maps go.
pub(super) fn held(value: &Value) -> Vec<Carried> {
    let mut found = Vec::new();
    collect(value, &mut found);
    found
}

fn collect(value: &Value, found: &mut Vec<Carried>) {
    if found.len() >= MAX_CARRIED {
        return;
    }
    let mut add = |one: Carried| {
        if !found.contains(&one) {
            found.push(one);
        }
    };
    match value {
        Value::Held(_, all) => all.iter().cloned().for_each(add),
        Value::Name(name) => match named(name) {
            // The home is no secret, and a part of most paths.
            Some(Carried::Variable(variable)) if variable == "HOME" => {}
            Some(one) => add(one),
            None => {}
        },
        Value::List(values) | Value::Any(values) => {
            for value in values {
                collect(value, found);
            }
        }
        Value::Map(pairs) => {
            for (_, value) in pairs {
                collect(value, found);
            }
        }
        Value::Made(_, inner) => collect(inner, found),
        Value::Text(_)
        | Value::Number(_)
        | Value::Flag(_)
        | Value::Method(..)
        | Value::Function
        | Value::Unknown => {}
    }
}

/// A value that holds these besides.
pub(super) fn carrying(value: Value, all: Vec<Carried>) -> Value {
    if all.is_empty() {
        return value;
    }
    Value::Held(value.operand(), all)
}

/// What a function makes that only writes its arguments down differently: `json.dumps`.
pub(super) fn kept(args: &[Value]) -> Value {
    match args {
        // `dict(os.environ)` is what it is given.
        [Value::Name(name)] if named(name).is_some() => Value::Name(name.clone()),
        _ => carrying(Value::Unknown, args.iter().flat_map(held).collect()),
    }
}

/// The text of a file that has been read.
pub(super) fn content(path: Operand) -> Value {
    Value::Held(Operand::Unknown, vec![Carried::File(path)])
}

/// What a method of such a value gives, if it is still that value.
pub(super) fn method(receiver: &Value, method: &str, args: &[Value]) -> Option<Value> {
    let last = method.rsplit('.').next().unwrap_or(method);
    if matches!(
        last,
        "keys" | "count" | "find" | "index" | "startswith" | "endswith" | "includes" | "isdigit"
    ) {
        return None;
    }
    let same = matches!(
        last,
        "read"
            | "readline"
            | "readlines"
            | "read_text"
            | "text"
            | "json"
            | "decode"
            | "encode"
            | "strip"
            | "rstrip"
            | "lstrip"
            | "trim"
            | "chomp"
            | "split"
            | "splitlines"
            | "lines"
            | "items"
            | "values"
            | "copy"
            | "toString"
            | "to_s"
            | "to_h"
            | "to_a"
            | "to_json"
            | "inspect"
            | "map"
            | "join"
            | "concat"
            | "replace"
            | "hex"
            | "toObject"
            | "slurp"
            | "unpack"
            | "pack"
            | "reverse"
    );
    let all = held(receiver);
    (same && !all.is_empty()).then(|| {
        let more = args.iter().flat_map(held);
        Value::Held(Operand::Unknown, all.into_iter().chain(more).collect())
    })
}

/// What is left of a value of which only a part up to here is taken.
pub(super) fn part(value: &Value, end: Option<i64>) -> Value {
    match end {
        Some(end) if (0..=MAX_SHOWN).contains(&end) => Value::Unknown,
        Some(_) | None => carrying(Value::Unknown, held(value)),
    }
}

/// Text followed by what may hold something.
pub(super) fn joined(left: Operand, mut all: Vec<Carried>, right: &Value) -> Value {
    for one in held(right) {
        if !all.contains(&one) && all.len() < MAX_CARRIED {
            all.push(one);
        }
    }
    carrying(Value::Text(text_joined(left, right.operand())), all)
}
