//! What stands on either side of a comparison: a constant, something the same for every row, or
//! something that depends on a column.

use super::condition::{Op, Scope, Truth, any, parenthesised};
use super::tokens::{TokenKind, escapes, unquote};
use super::verbs::is_one_of;
use super::view::View;

/// The value of an operand, as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(f64),
    Text(String),
    Null,
    /// No column is in it.
    Fixed,
    /// A column is in it.
    Column,
}

/// The value of these tokens.
pub(super) fn value(view: View<'_>, place: &Scope<'_>) -> Value {
    let Some(place) = place.deeper() else {
        return Value::Fixed;
    };
    let cast = view
        .level(0)
        .find(|at| view.symbol(*at, b':') && view.symbol(at + 1, b':'));
    let view = view.part(0..cast.unwrap_or(view.len()));
    if view.len() == 1 {
        return constant(view);
    }
    if let Some(inside) = parenthesised(view) {
        return if inside.is_any(0, &["select", "with", "values"]) {
            unknown(inside)
        } else if is_condition(inside) {
            from_truth(any(inside, &place))
        } else {
            value(inside, &place)
        };
    }
    if is_condition(view) {
        return from_truth(any(view, &place));
    }
    if view.symbol(0, b'-') || view.symbol(0, b'+') {
        let sign = if view.symbol(0, b'-') { -1.0 } else { 1.0 };
        if let Value::Number(number) = value(view.part(1..view.len()), &place)
            && arithmetic(view.part(1..view.len())).is_none()
        {
            return Value::Number(sign * number);
        }
    }
    let Some((at, sign)) = arithmetic(view) else {
        return unknown(view);
    };
    let left = value(view.part(0..at), &place);
    let right = value(view.part(at + 1..view.len()), &place);
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => match sign {
            b'+' => Value::Number(left + right),
            b'-' => Value::Number(left - right),
            b'*' => Value::Number(left * right),
            b'/' if right != 0.0 => Value::Number(left / right),
            b'%' if right != 0.0 => Value::Number(left % right),
            _ => Value::Null,
        },
        (Value::Column, _) | (_, Value::Column) => Value::Column,
        _ => Value::Fixed,
    }
}

/// One token.
fn constant(view: View<'_>) -> Value {
    let source = view.source(0);
    match view.kind(0) {
        Some(TokenKind::Number) => number(source),
        Some(TokenKind::Text) => Value::Text(unquote(source, escapes(view.flavour))),
        // SQLite takes a quoted name that is no column for a literal.
        Some(TokenKind::Quoted) => {
            let name = unquote(source, false);
            if name.starts_with(|first: char| first.is_ascii_digit()) {
                Value::Text(name)
            } else {
                Value::Column
            }
        }
        Some(TokenKind::Word) if source.eq_ignore_ascii_case("true") => Value::Number(1.0),
        Some(TokenKind::Word) if source.eq_ignore_ascii_case("false") => Value::Number(0.0),
        Some(TokenKind::Word) if is_one_of(source, &["null", "unknown"]) => Value::Null,
        _ => unknown(view),
    }
}

fn number(source: &str) -> Value {
    let hexadecimal = source
        .strip_prefix("0x")
        .or_else(|| source.strip_prefix("0X"));
    let number = match hexadecimal {
        Some(digits) => u64::from_str_radix(digits, 16)
            .ok()
            .map(|number| number as f64),
        None => source.parse().ok(),
    };
    number.map_or(Value::Fixed, Value::Number)
}

fn from_truth(truth: Truth) -> Value {
    match truth {
        Truth::Always => Value::Number(1.0),
        Truth::Never => Value::Number(0.0),
        Truth::Fixed => Value::Fixed,
        Truth::Depends => Value::Column,
    }
}

/// Whether the tokens join or compare, rather than calculate.
fn is_condition(view: View<'_>) -> bool {
    view.is(0, "not")
        || view.is(0, "exists")
        || view.level(0).any(|at| {
            view.is_any(
                at,
                &[
                    "and", "or", "xor", "is", "like", "in", "between", "regexp", "rlike", "glob",
                ],
            ) || matches!(
                view.sign(at, view.sign_length(at)),
                Some("=" | "<>" | "!=" | "<" | ">" | "<=" | ">=" | "==")
            )
        })
}

/// The calculation done last: the last sum, else the last product.
fn arithmetic(view: View<'_>) -> Option<(usize, u8)> {
    let mut product = None;
    let mut sum = None;
    let mut operand_before = false;
    for at in view.level(0) {
        let sign = match view.kind(at) {
            Some(TokenKind::Symbol(sign @ (b'+' | b'-' | b'*' | b'/' | b'%'))) => Some(sign),
            _ => None,
        };
        match sign {
            Some(sign @ (b'+' | b'-')) if operand_before => sum = Some((at, sign)),
            Some(sign) if operand_before => product = Some((at, sign)),
            Some(_) | None => {}
        }
        operand_before = sign.is_none();
    }
    sum.or(product)
}

/// Whether any column is in it.
pub(super) fn has_column(view: View<'_>) -> bool {
    (0..view.len()).any(|at| is_column(view, at))
}

fn unknown(view: View<'_>) -> Value {
    if has_column(view) {
        Value::Column
    } else {
        Value::Fixed
    }
}

fn is_column(view: View<'_>, at: usize) -> bool {
    match view.kind(at) {
        Some(TokenKind::Quoted) => true,
        Some(TokenKind::Word) => {
            let is_called = view.symbol(at + 1, b'(');
            // `DATE '2020-01-01'`, `x::int`, `x COLLATE nocase`.
            let is_type = view.kind(at + 1) == Some(TokenKind::Text)
                || (at > 0
                    && (view.symbol(at - 1, b':') || view.is_any(at - 1, &["collate", "as"])));
            !is_called && !is_type && !is_one_of(view.source(at), NOT_COLUMNS)
        }
        _ => false,
    }
}

/// Words in an expression that are no columns.
const NOT_COLUMNS: &[&str] = &[
    "true",
    "false",
    "null",
    "unknown",
    "and",
    "or",
    "not",
    "xor",
    "is",
    "in",
    "like",
    "ilike",
    "between",
    "case",
    "when",
    "then",
    "else",
    "end",
    "as",
    "from",
    "select",
    "where",
    "distinct",
    "exists",
    "any",
    "all",
    "some",
    "escape",
    "collate",
    "cast",
    "interval",
    "date",
    "time",
    "timestamp",
    "current_date",
    "current_time",
    "current_timestamp",
    "current_user",
    "session_user",
    "user",
    "localtime",
    "localtimestamp",
    "sysdate",
    "binary",
    "array",
    "row",
    "day",
    "month",
    "year",
    "hour",
    "minute",
    "second",
    "div",
    "mod",
];

/// Names of generated keys: never null, counted from one.
const KEYS: &[&str] = &[
    "id", "rowid", "_rowid_", "oid", "ctid", "_id", "pk", "uid", "uuid",
];

/// Whether this is the key of the table.
pub(super) fn is_key(view: View<'_>, place: &Scope<'_>) -> bool {
    own_name(bare(view), place).is_some_and(|name| is_one_of(&name, KEYS))
}

/// The column's name, if it is a column of the table in question.
fn own_name(view: View<'_>, place: &Scope<'_>) -> Option<String> {
    let is_name = matches!(view.kind(0), Some(TokenKind::Word | TokenKind::Quoted));
    let (name, end) = view.name(0)?;
    if !is_name || end != view.len() {
        return None;
    }
    match (name.rsplit_once('.'), place.target) {
        (None, _) => Some(name),
        (Some((table, column)), Some(target)) if table.eq_ignore_ascii_case(target) => {
            Some(column.to_owned())
        }
        (Some(_), _) => None,
    }
}

/// Whether two operands are written the same.
pub(super) fn same(left: View<'_>, right: View<'_>, place: &Scope<'_>) -> bool {
    let left = bare(left);
    let right = bare(right);
    if let (Some(one), Some(other)) = (own_name(left, place), own_name(right, place)) {
        return one.eq_ignore_ascii_case(&other);
    }
    left.len() == right.len()
        && (0..left.len()).all(|at| left.source(at).eq_ignore_ascii_case(right.source(at)))
}

/// Without one pair of parentheses.
fn bare(view: View<'_>) -> View<'_> {
    parenthesised(view).unwrap_or(view)
}

/// What comparing two values gives. Databases differ in how they compare a text with a number;
/// the reading that selects more counts.
pub(super) fn compare(left: &Value, op: Op, right: &Value) -> Truth {
    if let (Op::Like | Op::NotLike | Op::Matches | Op::NotMatches, Value::Text(pattern)) =
        (op, right)
    {
        return liked(left, op, pattern);
    }
    let order = match (left, right) {
        (Value::Column, _) | (_, Value::Column) => return Truth::Depends,
        (Value::Fixed, _) | (_, Value::Fixed) => return Truth::Fixed,
        (Value::Null, Value::Null) => {
            return if op == Op::Same {
                Truth::Always
            } else {
                Truth::Never
            };
        }
        (Value::Null, _) | (_, Value::Null) => {
            return if op == Op::NotSame {
                Truth::Always
            } else {
                Truth::Never
            };
        }
        (Value::Text(left), Value::Text(right)) => left
            .to_ascii_lowercase()
            .partial_cmp(&right.to_ascii_lowercase()),
        (Value::Number(left), Value::Number(right)) => left.partial_cmp(right),
        (Value::Number(number), Value::Text(text)) | (Value::Text(text), Value::Number(number)) => {
            let differ = matches!(op, Op::Equal | Op::Same) && *number != leading_number(text);
            return if differ { Truth::Never } else { Truth::Fixed };
        }
    };
    let Some(order) = order else {
        return Truth::Never;
    };
    let holds = [
        (Op::Equal, order.is_eq()),
        (Op::Same, order.is_eq()),
        (Op::NotEqual, order.is_ne() || left != right),
        (Op::NotSame, order.is_ne() || left != right),
        (Op::Less, order.is_lt()),
        (Op::NotLess, order.is_ge()),
        (Op::Greater, order.is_gt()),
        (Op::NotGreater, order.is_le()),
    ];
    match holds.iter().find(|(known, _)| *known == op) {
        Some((_, true)) => Truth::Always,
        Some((_, false)) => Truth::Never,
        None => Truth::Fixed,
    }
}

/// A pattern that takes every text; patterns against constants count as taking them.
fn liked(left: &Value, op: Op, pattern: &str) -> Truth {
    let liked = op == Op::Like
        && !pattern.is_empty()
        && pattern.chars().all(|char| matches!(char, '%' | '*'));
    let matched = op == Op::Matches && ANYTHING.contains(&pattern);
    let wildcards = liked || matched;
    match left {
        Value::Null => Truth::Never,
        _ if wildcards => Truth::Always,
        Value::Column => Truth::Depends,
        Value::Number(_) | Value::Text(_) | Value::Fixed => Truth::Fixed,
    }
}

/// Regular expressions that take every text.
const ANYTHING: &[&str] = &["", ".", ".*", ".+", "^", "$", "^.*", ".*$", "^.*$", "^.+$"];

/// Whether a text is true as a condition.
pub(super) fn is_true(text: &str) -> bool {
    is_one_of(text, &["t", "true", "y", "yes", "on"]) || leading_number(text) != 0.0
}

fn leading_number(text: &str) -> f64 {
    let text = text.trim_start();
    let end = text
        .char_indices()
        .find(|(at, char)| !(char.is_ascii_digit() || *char == '.' || (*at == 0 && *char == '-')))
        .map_or(text.len(), |(at, _)| at);
    text.get(..end)
        .and_then(|digits| digits.parse().ok())
        .unwrap_or(0.0)
}
