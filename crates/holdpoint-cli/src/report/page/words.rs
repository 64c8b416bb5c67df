//! Numbers, shares and moments as people read them.

use holdpoint_ledger::Timestamp;

/// `12,345`.
pub(super) fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 call`, `2 calls`.
pub(super) fn count(value: u64, noun: &str) -> String {
    let plural = match value {
        1 => "",
        _ => "s",
    };
    format!("{} {noun}{plural}", number(value))
}

/// `7.4%`; what is there is never shown as nothing, nor what is not all as all.
pub(super) fn share(rate: Option<f64>) -> String {
    match rate {
        None => "–".into(),
        Some(rate) if rate > 0.0 && rate < 0.001 => "<0.1%".into(),
        Some(rate) if rate < 1.0 && rate > 0.999 => ">99.9%".into(),
        Some(rate) if rate == 0.0 || rate >= 1.0 => format!("{:.0}%", rate * 100.0),
        Some(rate) => format!("{:.1}%", rate * 100.0),
    }
}

/// A part of a whole, as a share.
pub(super) fn part(part: u64, whole: u64) -> String {
    share((whole > 0).then(|| ratio(part, whole)))
}

/// A part of a whole; 0 of nothing.
pub(super) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// `41 µs`, `1.2 ms`, `3.4 s`, `12 min`, `2.5 h`.
pub(super) fn duration(micros: u64) -> String {
    let with = |value: u64, per: u64, unit: &str| {
        let (whole, tenths) = (value / per, value % per * 10 / per);
        if whole < 10 && tenths > 0 {
            format!("{whole}.{tenths} {unit}")
        } else {
            format!("{} {unit}", number(whole))
        }
    };
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..1_000_000 => with(micros, 1_000, "ms"),
        1_000_000..120_000_000 => with(micros, 1_000_000, "s"),
        120_000_000..7_200_000_000 => with(micros, 60_000_000, "min"),
        7_200_000_000..172_800_000_000 => with(micros, 3_600_000_000, "h"),
        _ => with(micros, 86_400_000_000, "days"),
    }
}

/// `1.2 MB`.
pub(super) fn bytes(size: u64) -> String {
    match size {
        0..1_000 => format!("{size} bytes"),
        1_000..1_000_000 => format!("{}.{} kB", size / 1_000, size / 100 % 10),
        _ => format!("{}.{} MB", number(size / 1_000_000), size / 100_000 % 10),
    }
}

/// `16 Nov`.
pub(super) fn day(time: Timestamp) -> String {
    let (_, month, day) = date(time);
    format!("{day} {month}")
}

/// `16 Nov 2026`.
pub(super) fn full_day(time: Timestamp) -> String {
    let (year, month, day) = date(time);
    format!("{day} {month} {year}")
}

/// `03:40`.
pub(super) fn clock(time: Timestamp) -> String {
    time.to_string().chars().skip(11).take(5).collect()
}

/// `16 Nov 03:40`.
pub(super) fn minute(time: Timestamp) -> String {
    format!("{} {}", day(time), clock(time))
}

fn date(time: Timestamp) -> (String, &'static str, String) {
    let text = time.to_string();
    let year: String = text.chars().take_while(char::is_ascii_digit).collect();
    let mut rest = text.split(['-', 'T']).skip(1);
    let month = match rest.next() {
        Some("01") => "Jan",
        Some("02") => "Feb",
        Some("03") => "Mar",
        Some("04") => "Apr",
        Some("05") => "May",
        Some("06") => "Jun",
        Some("07") => "Jul",
        Some("08") => "Aug",
        Some("09") => "Sep",
        Some("10") => "Oct",
        Some("11") => "Nov",
        _ => "Dec",
    };
    let day = rest.next().unwrap_or_default().trim_start_matches('0');
    (year, month, day.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_shares() {
        assert_eq!(number(0), "0");
        assert_eq!(number(999), "999");
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(count(1, "call"), "1 call");
        assert_eq!(count(2000, "call"), "2,000 calls");
        assert_eq!(part(0, 0), "–");
        assert_eq!(part(0, 9), "0%");
        assert_eq!(part(9, 9), "100%");
        assert_eq!(part(1, 100_000), "<0.1%");
        assert_eq!(part(99_999, 100_000), ">99.9%");
        assert_eq!(part(1, 3), "33.3%");
    }

    #[test]
    fn times_and_sizes() {
        for (micros, words) in [
            (0, "0 µs"),
            (999, "999 µs"),
            (1_000, "1 ms"),
            (1_250, "1.2 ms"),
            (45_900, "45 ms"),
            (3_400_000, "3.4 s"),
            (90_000_000, "90 s"),
            (720_000_000, "12 min"),
            (9_000_000_000, "2.5 h"),
            (u64::MAX, "213,503,982 days"),
        ] {
            assert_eq!(duration(micros), words);
        }
        assert_eq!(bytes(1_234), "1.2 kB");
        let time = Timestamp::parse("2026-11-06T03:40:12").unwrap();
        assert_eq!(minute(time), "6 Nov 03:40");
        assert_eq!(full_day(time), "6 Nov 2026");
    }
}
