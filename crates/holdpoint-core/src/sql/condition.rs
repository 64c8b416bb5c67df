//! Whether a `WHERE` restricts anything.
//!
//! A condition that names no column selects all rows or none, and so counts as selecting all unless
//! it is plainly false. One that names a column is taken for a restriction, except in the forms that
//! are used to write "everything": a thing compared with itself, opposite alternatives, a pattern of
//! wildcards, a key that exists or is above zero. `id * 0 = 0` is beyond it.

use super::operands::{Value, compare, has_column, is_key, same, value};
use super::view::View;

/// Parentheses and chained operators followed; deeper conditions count as selecting everything.
const MAX_DEPTH: usize = 32;
/// Alternatives of one `OR` compared with each other, each with each; more count as selecting
/// everything.
const MAX_ALTERNATIVES: usize = 128;

/// What a condition is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    Always,
    Never,
    /// The same for every row, and not known here.
    Fixed,
    /// Different from row to row.
    Depends,
}

impl Truth {
    fn not(self) -> Self {
        match self {
            Truth::Always => Truth::Never,
            Truth::Never => Truth::Always,
            Truth::Fixed | Truth::Depends => self,
        }
    }

    fn from_bool(known: bool) -> Self {
        if known { Truth::Always } else { Truth::Never }
    }
}

/// Whether the condition lets every row of `target` through, as far as can be seen.
pub(super) fn selects_everything(view: View<'_>, target: Option<&str>) -> bool {
    let place = Scope {
        target,
        left: MAX_DEPTH,
    };
    match any(view, &place) {
        Truth::Always | Truth::Fixed => true,
        Truth::Depends => !has_column(view),
        // Databases differ in what constants amount to (`'a' > 1`), so only the plainest is believed.
        Truth::Never => !is_plain(view) && !has_column(view),
    }
}

/// Whether a condition without columns is as short as `1 = -1` or `(1=2)` and about no null.
fn is_plain(view: View<'_>) -> bool {
    let about_null = (0..view.len()).any(|at| view.is(at, "null"));
    view.len() == 1 || (view.len() <= 5 && !about_null)
}

/// Where in the condition the reader is.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    /// The table whose rows are selected.
    pub(super) target: Option<&'a str>,
    left: usize,
}

impl Scope<'_> {
    /// One level further in; none if that is too deep.
    pub(super) fn deeper(&self) -> Option<Self> {
        Some(Self {
            left: self.left.checked_sub(1)?,
            ..*self
        })
    }
}

/// How two things are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Equal,
    NotEqual,
    Less,
    NotLess,
    Greater,
    NotGreater,
    Same,
    NotSame,
    Like,
    NotLike,
    Matches,
    NotMatches,
    Null,
    NotNull,
    True,
    NotTrue,
    False,
    NotFalse,
    In,
    NotIn,
    Between,
    NotBetween,
    /// Nothing is compared.
    Bare,
    NotBare,
}

const OPPOSITES: &[(Op, Op)] = &[
    (Op::Equal, Op::NotEqual),
    (Op::Less, Op::NotLess),
    (Op::Greater, Op::NotGreater),
    (Op::Same, Op::NotSame),
    (Op::Like, Op::NotLike),
    (Op::Matches, Op::NotMatches),
    (Op::Null, Op::NotNull),
    (Op::True, Op::NotTrue),
    (Op::False, Op::NotFalse),
    (Op::In, Op::NotIn),
    (Op::Between, Op::NotBetween),
    (Op::Bare, Op::NotBare),
];

/// Operators written with signs.
const SIGNS: &[(&str, Op)] = &[
    ("=", Op::Equal),
    ("==", Op::Equal),
    ("<>", Op::NotEqual),
    ("!=", Op::NotEqual),
    ("<", Op::Less),
    (">", Op::Greater),
    ("<=", Op::NotGreater),
    (">=", Op::NotLess),
    ("<=>", Op::Same),
    ("~", Op::Matches),
    ("~*", Op::Matches),
    ("!~", Op::NotMatches),
    ("!~*", Op::NotMatches),
    ("~~", Op::Like),
    ("~~*", Op::Like),
    ("!~~", Op::NotLike),
    ("!~~*", Op::NotLike),
];

/// Operators written as words.
const WORDS: &[(&str, Op)] = &[
    ("like", Op::Like),
    ("ilike", Op::Like),
    ("glob", Op::Like),
    ("similar", Op::Like),
    ("regexp", Op::Matches),
    ("rlike", Op::Matches),
    ("is", Op::Same),
    ("isnull", Op::Null),
    ("notnull", Op::NotNull),
    ("in", Op::In),
    ("between", Op::Between),
];

impl Op {
    /// The operator after its sides have changed places.
    fn mirrored(self) -> Self {
        let pairs = [(Op::Less, Op::Greater), (Op::NotLess, Op::NotGreater)];
        let found = pairs.iter().find_map(|(one, other)| match self {
            op if op == *one => Some(*other),
            op if op == *other => Some(*one),
            _ => None,
        });
        found.unwrap_or(self)
    }

    fn opposite(self) -> Self {
        OPPOSITES
            .iter()
            .find_map(|(one, other)| {
                if *one == self {
                    Some(*other)
                } else {
                    (*other == self).then_some(*one)
                }
            })
            .unwrap_or(self)
    }
}

/// A comparison.
#[derive(Clone, Copy)]
struct Predicate<'a> {
    left: View<'a>,
    op: Op,
    right: View<'a>,
}

/// What joins conditions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joint {
    Or,
    And,
}

/// Alternatives.
pub(super) fn any(view: View<'_>, place: &Scope<'_>) -> Truth {
    let mut worth = Truth::Never;
    let alternatives = split(view, Joint::Or);
    for part in &alternatives {
        worth = match (worth, all(*part, place)) {
            (Truth::Always, _) | (_, Truth::Always) => return Truth::Always,
            (Truth::Fixed, _) | (_, Truth::Fixed) => Truth::Fixed,
            (Truth::Depends, _) | (_, Truth::Depends) => Truth::Depends,
            (Truth::Never, Truth::Never) => Truth::Never,
        };
    }
    if alternatives.len() > 1 && opposed(&alternatives, place) {
        return Truth::Always;
    }
    worth
}

/// Whether one alternative is the opposite of another: `x IS NULL OR x IS NOT NULL`.
fn opposed(alternatives: &[View<'_>], place: &Scope<'_>) -> bool {
    if alternatives.len() > MAX_ALTERNATIVES {
        return true;
    }
    let known: Vec<Predicate<'_>> = alternatives
        .iter()
        .filter(|part| split(**part, Joint::And).len() == 1)
        .map(|part| predicate(*part))
        .collect();
    known.iter().enumerate().any(|(index, one)| {
        known.iter().skip(index + 1).any(|other| {
            one.op == other.op.opposite()
                && same(one.left, other.left, place)
                && same(one.right, other.right, place)
        })
    })
}

fn all(view: View<'_>, place: &Scope<'_>) -> Truth {
    let mut worth = Truth::Always;
    for part in split(view, Joint::And) {
        worth = match (worth, single(part, place)) {
            (Truth::Never, _) | (_, Truth::Never) => return Truth::Never,
            (Truth::Depends, _) | (_, Truth::Depends) => Truth::Depends,
            (Truth::Fixed, _) | (_, Truth::Fixed) => Truth::Fixed,
            (Truth::Always, Truth::Always) => Truth::Always,
        };
    }
    worth
}

/// The conditions joined at the outermost level.
fn split(view: View<'_>, joint: Joint) -> Vec<View<'_>> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut cases = 0usize;
    let mut between = false;
    let mut skipped = 0;
    for at in view.level(0) {
        if at < skipped {
            continue;
        }
        if view.is(at, "case") {
            cases += 1;
        } else if view.is(at, "end") {
            cases = cases.saturating_sub(1);
        } else if view.is(at, "between") {
            between = true;
        }
        if cases > 0 {
            continue;
        }
        let is_and = view.is(at, "and");
        if is_and && between {
            between = false;
            continue;
        }
        let doubled = |sign| view.symbol(at, sign) && view.symbol(at + 1, sign);
        let length = match joint {
            Joint::And if is_and => 1,
            Joint::And if doubled(b'&') => 2,
            Joint::Or if view.is_any(at, &["or", "xor"]) => 1,
            Joint::Or if doubled(b'|') && view.flavour.pipes_mean_or() => 2,
            Joint::And | Joint::Or => continue,
        };
        parts.push(view.part(start..at));
        start = at + length;
        skipped = start;
    }
    parts.push(view.part(start..view.len()));
    parts
}

fn single(view: View<'_>, place: &Scope<'_>) -> Truth {
    let Some(place) = place.deeper() else {
        return Truth::Fixed;
    };
    let (negated, at) = negations(view);
    let inner = view.part(at..view.len());
    if let Some(inside) = parenthesised(inner)
        && !inside.is_any(0, &["select", "with", "values"])
    {
        let worth = any(inside, &place);
        return if negated { worth.not() } else { worth };
    }
    if inner.is(0, "exists") {
        let worth = exists(inner, &place);
        return if negated { worth.not() } else { worth };
    }
    worth(&predicate(view), &place)
}

/// Whether an odd number of `NOT` stands in front, and where they end.
fn negations(view: View<'_>) -> (bool, usize) {
    let mut at = 0;
    while view.is(at, "not") || (view.symbol(at, b'!') && !view.symbol(at + 1, b'=')) {
        at += 1;
    }
    (at % 2 == 1, at)
}

/// What stands between parentheses that enclose the whole.
pub(super) fn parenthesised(view: View<'_>) -> Option<View<'_>> {
    let last = view.len().checked_sub(1)?;
    (last > 0 && view.symbol(0, b'(') && view.closing(0) == last).then(|| view.part(1..last))
}

/// `EXISTS (…)`: the same for every row unless its own condition looks at the row.
fn exists(view: View<'_>, place: &Scope<'_>) -> Truth {
    let inside = view.part(2..view.closing(1));
    match inside.find(0, &["where"]) {
        None => Truth::Fixed,
        Some(at) => {
            let end = inside
                .find(at, &["group", "order", "limit"])
                .unwrap_or(inside.len());
            match any(inside.part(at + 1..end), place) {
                Truth::Always | Truth::Fixed => Truth::Fixed,
                worth @ (Truth::Never | Truth::Depends) => worth,
            }
        }
    }
}

/// The comparison a condition is, by its last operator: they associate to the left.
fn predicate(view: View<'_>) -> Predicate<'_> {
    let (negated, at) = negations(view);
    let view = view.part(at..view.len());
    let mut found = Predicate {
        left: view,
        op: Op::Bare,
        right: view.part(0..0),
    };
    let mut cases = 0usize;
    let mut after = 0;
    for at in view.level(0) {
        if view.is(at, "case") {
            cases += 1;
        } else if view.is(at, "end") {
            cases = cases.saturating_sub(1);
        }
        if at < after || cases > 0 {
            continue;
        }
        let Some((op, length)) = operator(view, at) else {
            continue;
        };
        after = at + length;
        let not = at > 0 && view.is(at - 1, "not");
        let left = view.part(0..if not { at - 1 } else { at });
        let mut right = view.part(after..view.len());
        let mut op = if not { op.opposite() } else { op };
        if view.is(at, "is") {
            (op, right) = is(right);
            after = view.len() - right.len();
        }
        let end = right.find(0, &["escape", "collate"]).unwrap_or(right.len());
        found = Predicate {
            left,
            op,
            right: right.part(0..end),
        };
    }
    if negated {
        found.op = found.op.opposite();
    }
    found
}

/// The operator at `at` and how many tokens it takes.
fn operator(view: View<'_>, at: usize) -> Option<(Op, usize)> {
    let word = view.word(at);
    if !word.is_empty() {
        let (_, op) = WORDS
            .iter()
            .find(|(known, _)| word.eq_ignore_ascii_case(known))?;
        let length = if view.is(at, "similar") || view.is(at + 1, "binary") {
            2
        } else {
            1
        };
        return Some((*op, length));
    }
    let length = view.sign_length(at);
    let sign = view.sign(at, length)?;
    let (_, op) = SIGNS.iter().find(|(known, _)| *known == sign)?;
    Some((*op, length))
}

/// What follows `IS`.
fn is(right: View<'_>) -> (Op, View<'_>) {
    let not = right.is(0, "not");
    let rest = right.part(usize::from(not)..right.len());
    let (op, taken) = match () {
        () if rest.is(0, "null") => (Op::Null, 1),
        () if rest.is(0, "true") => (Op::True, 1),
        () if rest.is(0, "false") => (Op::False, 1),
        () if rest.is(0, "unknown") => (Op::Null, 1),
        () if rest.is(0, "distinct") && rest.is(1, "from") => (Op::NotSame, 2),
        () => (Op::Same, 0),
    };
    (
        if not { op.opposite() } else { op },
        rest.part(taken..rest.len()),
    )
}

fn worth(predicate: &Predicate<'_>, place: &Scope<'_>) -> Truth {
    let Predicate { left, op, right } = *predicate;
    let subject = value(left, place);
    match op {
        Op::Bare => subject.truth(left, place),
        Op::NotBare => subject.truth(left, place).not(),
        Op::Null => null(&subject),
        Op::NotNull => {
            if is_key(left, place) {
                Truth::Always
            } else {
                null(&subject).not()
            }
        }
        Op::True | Op::NotFalse => subject.truth(left, place),
        Op::False | Op::NotTrue => subject.truth(left, place).not(),
        Op::In | Op::NotIn => {
            let worth = listed(left, &subject, right, place);
            if op == Op::In { worth } else { worth.not() }
        }
        Op::Between | Op::NotBetween => {
            let worth = between(left, &subject, right, place);
            if op == Op::Between {
                worth
            } else {
                worth.not()
            }
        }
        Op::Equal
        | Op::NotEqual
        | Op::Less
        | Op::NotLess
        | Op::Greater
        | Op::NotGreater
        | Op::Same
        | Op::NotSame
        | Op::Like
        | Op::NotLike
        | Op::Matches
        | Op::NotMatches => {
            if same(left, right, place) && subject == Value::Column {
                let differs = matches!(
                    op,
                    Op::NotEqual
                        | Op::Less
                        | Op::Greater
                        | Op::NotSame
                        | Op::NotLike
                        | Op::NotMatches
                );
                return Truth::from_bool(!differs);
            }
            let object = value(right, place);
            if (is_key(left, place) && above_zero(op, &object))
                || (is_key(right, place) && above_zero(op.mirrored(), &subject))
            {
                return Truth::Always;
            }
            compare(&subject, op, &object)
        }
    }
}

fn null(subject: &Value) -> Truth {
    match subject {
        Value::Null => Truth::Always,
        Value::Number(_) | Value::Text(_) => Truth::Never,
        Value::Fixed => Truth::Fixed,
        Value::Column => Truth::Depends,
    }
}

/// `id > 0`, `id >= 1`, `id <> -1`: true of every generated key.
fn above_zero(op: Op, object: &Value) -> bool {
    let Value::Number(number) = object else {
        return false;
    };
    let above = matches!(op, Op::Greater | Op::NotEqual | Op::NotSame) && *number < 1.0;
    above || (op == Op::NotLess && *number <= 1.0)
}

fn listed(left: View<'_>, subject: &Value, right: View<'_>, place: &Scope<'_>) -> Truth {
    let Some(inside) = parenthesised(right) else {
        // `IN ()`, or something that is no list.
        return if right.len() == 2 {
            Truth::Never
        } else {
            Truth::Depends
        };
    };
    if inside.is_any(0, &["select", "with", "values", "table"]) {
        return queried(left, subject, inside, place);
    }
    let mut worth = Truth::Never;
    let mut start = 0;
    for at in inside.level(0).chain([inside.len()]) {
        if at < inside.len() && !inside.symbol(at, b',') {
            continue;
        }
        let element = inside.part(start..at);
        start = at + 1;
        let equal = if same(left, element, place) {
            Truth::Always
        } else {
            compare(subject, Op::Equal, &value(element, place))
        };
        worth = match (worth, equal) {
            (Truth::Always, _) | (_, Truth::Always) => return Truth::Always,
            (Truth::Fixed, _) | (_, Truth::Fixed) => Truth::Fixed,
            (Truth::Depends, _) | (_, Truth::Depends) => Truth::Depends,
            (Truth::Never, Truth::Never) => Truth::Never,
        };
    }
    worth
}

/// `id IN (SELECT id FROM the_table_itself)`.
fn queried(left: View<'_>, subject: &Value, query: View<'_>, place: &Scope<'_>) -> Truth {
    let restricted = query.find(0, &["where", "having", "limit", "join", "group", "union"]);
    if restricted.is_some() {
        return Truth::Depends;
    }
    if *subject != Value::Column {
        return Truth::Fixed;
    }
    let from = query.find(0, &["from"]).unwrap_or(query.len());
    let table = query.name(from + 1).map(|(name, _)| name);
    let itself = match (&table, place.target) {
        (Some(table), Some(target)) => table.eq_ignore_ascii_case(target),
        _ => false,
    };
    if itself && same(left, query.part(1..from), place) {
        Truth::Always
    } else {
        Truth::Depends
    }
}

fn between(left: View<'_>, subject: &Value, right: View<'_>, place: &Scope<'_>) -> Truth {
    let and = right.find(0, &["and"]).unwrap_or(right.len());
    let low = right.part(0..and);
    let high = right.part(and + 1..right.len());
    if same(left, low, place) && same(left, high, place) {
        return Truth::Always;
    }
    let above = compare(subject, Op::NotLess, &value(low, place));
    let below = compare(subject, Op::NotGreater, &value(high, place));
    match (above, below) {
        (Truth::Never, _) | (_, Truth::Never) => Truth::Never,
        (Truth::Depends, _) | (_, Truth::Depends) => Truth::Depends,
        (Truth::Fixed, _) | (_, Truth::Fixed) => Truth::Fixed,
        (Truth::Always, Truth::Always) => Truth::Always,
    }
}

impl Value {
    /// What the value is worth as a condition.
    fn truth(&self, source: View<'_>, place: &Scope<'_>) -> Truth {
        match self {
            Value::Number(number) => Truth::from_bool(*number != 0.0),
            Value::Text(text) => Truth::from_bool(super::operands::is_true(text)),
            Value::Null => Truth::Never,
            Value::Fixed => Truth::Fixed,
            Value::Column if is_key(source, place) => Truth::Always,
            Value::Column => Truth::Depends,
        }
    }
}
