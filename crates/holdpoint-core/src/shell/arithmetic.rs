//! The value of an arithmetic expression made of numbers and known variables.
//!
//! Promises bash's value for the operators it knows, without assignments, and nothing for
//! anything else. Depth and length are bounded.

/// Longest expression evaluated.
const MAX_LENGTH: usize = 512;
/// Deepest nesting.
const MAX_DEPTH: usize = 24;

/// The value of `text`; `value` gives that of a variable.
pub(super) fn evaluate(text: &str, value: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
    if text.len() > MAX_LENGTH {
        return None;
    }
    let mut reader = Evaluator {
        rest: text,
        value,
        depth: 0,
    };
    let result = reader.binary(0)?;
    reader.blanks();
    reader.rest.is_empty().then_some(result)
}

/// Whether an expression may give a variable a value.
pub(super) fn assigns(text: &str) -> bool {
    if text.contains("++") || text.contains("--") {
        return true;
    }
    let bytes = text.as_bytes();
    bytes.iter().enumerate().any(|(at, byte)| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        let earlier = at.checked_sub(2).and_then(|at| bytes.get(at));
        let compares = match before {
            Some(b'=' | b'!') => true,
            // `<<=` assigns, `<=` compares.
            Some(sign @ (b'<' | b'>')) => earlier != Some(sign),
            Some(_) | None => bytes.get(at + 1) == Some(&b'='),
        };
        *byte == b'=' && !compares
    })
}

struct Evaluator<'t> {
    rest: &'t str,
    value: &'t dyn Fn(&str) -> Option<i64>,
    depth: usize,
}

/// Operators from the loosest to the tightest; longer ones first within a level.
const LEVELS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Evaluator<'_> {
    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn binary(&mut self, level: usize) -> Option<i64> {
        let Some(operators) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.binary(level + 1)?;
        loop {
            self.blanks();
            let Some(operator) = operators.iter().find(|one| self.has(one, level)) else {
                return Some(left);
            };
            self.rest = self.rest.get(operator.len()..)?;
            let right = self.binary(level + 1)?;
            left = apply(operator, left, right)?;
        }
    }

    /// Whether an operator stands here and is not the beginning of a longer one.
    fn has(&self, operator: &str, level: usize) -> bool {
        let Some(after) = self.rest.strip_prefix(operator) else {
            return false;
        };
        let longer = LEVELS
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != level)
            .flat_map(|(_, operators)| operators.iter())
            .any(|other| other.len() > operator.len() && self.rest.starts_with(other));
        // An assignment is not followed.
        let assigns = after.starts_with('=') && !matches!(operator, "<" | ">" | "==" | "!=");
        !longer && !assigns
    }

    fn unary(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        self.blanks();
        let first = self.rest.chars().next()?;
        let result = match first {
            '+' | '-' | '!' | '~' => {
                self.rest = self.rest.get(1..)?;
                if self.rest.starts_with(first) {
                    return None;
                }
                let operand = self.unary()?;
                match first {
                    '-' => operand.checked_neg()?,
                    '!' => i64::from(operand == 0),
                    '~' => !operand,
                    _ => operand,
                }
            }
            '(' => {
                self.rest = self.rest.get(1..)?;
                let inside = self.binary(0)?;
                self.blanks();
                self.rest = self.rest.strip_prefix(')')?;
                inside
            }
            _ => self.operand()?,
        };
        self.depth -= 1;
        Some(result)
    }

    fn operand(&mut self) -> Option<i64> {
        let name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
        let end = self.rest.find(|c| !name(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        let word = word.strip_prefix('$').unwrap_or(word);
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return number(word);
        }
        // `x++`, `x=1` and `x[0]` are not followed.
        let next = self.rest.trim_start();
        if next.starts_with("++") || next.starts_with("--") || next.starts_with('[') {
            return None;
        }
        (self.value)(word)
    }
}

fn number(word: &str) -> Option<i64> {
    if let Some(digits) = word.strip_prefix("0x").or(word.strip_prefix("0X")) {
        return i64::from_str_radix(digits, 16).ok();
    }
    match word.strip_prefix('0') {
        Some(digits) if !digits.is_empty() => i64::from_str_radix(digits, 8).ok(),
        _ => word.parse().ok(),
    }
}

fn apply(operator: &str, left: i64, right: i64) -> Option<i64> {
    Some(match operator {
        "||" => i64::from(left != 0 || right != 0),
        "&&" => i64::from(left != 0 && right != 0),
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "==" => i64::from(left == right),
        "!=" => i64::from(left != right),
        "<=" => i64::from(left <= right),
        ">=" => i64::from(left >= right),
        "<" => i64::from(left < right),
        ">" => i64::from(left > right),
        "<<" => left.checked_shl(u32::try_from(right).ok()?)?,
        ">>" => left.checked_shr(u32::try_from(right).ok()?)?,
        "+" => left.checked_add(right)?,
        "-" => left.checked_sub(right)?,
        "*" => left.checked_mul(right)?,
        "/" => left.checked_div(right)?,
        "%" => left.checked_rem(right)?,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<i64> {
        evaluate(text, &|name| (name == "x").then_some(4))
    }

    #[test]
    fn expressions_have_the_value_bash_gives_them() {
        for (text, wanted) in [
            ("1+2*3", 7),
            ("(1+2)*3", 9),
            ("x - 1", 3),
            ("$x<<2", 16),
            ("10/3%2", 1),
            ("0x10+010", 24),
            ("!0 && 3>2", 1),
            ("-x", -4),
        ] {
            assert_eq!(value(text), Some(wanted), "{text}");
        }
    }

    #[test]
    fn assignments_are_told_from_comparisons() {
        for text in ["x=1", "x += 1", "x<<=2", "x++", "--x", "1 ? x=2 : 3"] {
            assert!(assigns(text), "{text}");
        }
        for text in ["x==1", "x != 1", "x<=2", "x >= 3", "x << 2", "x - 1", ""] {
            assert!(!assigns(text), "{text}");
        }
    }

    #[test]
    fn what_is_not_followed_has_no_value() {
        for text in ["", "y", "x++", "x=3", "1/0", "a[0]", "1+", "2**3", "x+=1"] {
            assert_eq!(value(text), None, "{text}");
        }
        assert_eq!(value(&"(".repeat(100)), None);
    }
}
