//! Numbers, shares, sizes and durations as people read them.

use std::fmt::Display;

/// A whole number with its thousands set apart.
pub fn grouped(number: impl Display) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A whole number with its noun.
pub fn counted(number: impl Display, noun: &str) -> String {
    let number = grouped(number);
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// A share of a whole, with one digit; nothing is no share of anything.
pub fn percent(part: u64, whole: u64) -> String {
    let (part, whole) = (u128::from(part), u128::from(whole));
    let tenths = (part * 1000 + whole / 2).checked_div(whole);
    let tenths = tenths.unwrap_or_default();
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// A size.
pub fn bytes(size: u64) -> String {
    match size {
        0..1_000 => counted(size, "byte"),
        1_000..1_000_000 => format!("{}.{} kB", size / 1_000, size / 100 % 10),
        1_000_000..1_000_000_000 => format!("{}.{} MB", size / 1_000_000, size / 100_000 % 10),
        _ => format!("{}.{} GB", size / 1_000_000_000, size / 100_000_000 % 10),
    }
}

/// A duration in microseconds.
pub fn duration(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..1_000_000 => format!("{}.{} ms", micros / 1_000, micros / 100 % 10),
        1_000_000..120_000_000 => format!("{}.{} s", micros / 1_000_000, micros / 100_000 % 10),
        _ => format!("{} min", micros / 60_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(
            [0u64, 999, 1000, 1_234_567].map(grouped),
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(counted(1, "call"), "1 call");
        assert_eq!(counted(1000, "call"), "1,000 calls");
    }

    #[test]
    fn shares_are_rounded() {
        assert_eq!(percent(1, 3), "33.3 %");
        assert_eq!(percent(2, 3), "66.7 %");
        assert_eq!(percent(5, 5), "100.0 %");
        assert_eq!(percent(u64::MAX, u64::MAX), "100.0 %");
        assert_eq!(percent(0, 0), "0.0 %");
    }

    #[test]
    fn sizes_and_durations_have_a_unit() {
        assert_eq!(
            [1, 999, 12_345, 45_600_000, 7_000_000_000].map(bytes),
            ["1 byte", "999 bytes", "12.3 kB", "45.6 MB", "7.0 GB"]
        );
        assert_eq!(
            [7, 4_812, 41_000_000, 180_000_000].map(duration),
            ["7 µs", "4.8 ms", "41.0 s", "3 min"]
        );
    }
}
