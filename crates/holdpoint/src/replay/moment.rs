//! A point in time, in milliseconds since 1970, and its two forms: text in UTC and a number.

use std::fmt;

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Moment(i64);

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

impl Moment {
    /// So many milliseconds after the start of 1970.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the start of 1970.
    pub fn millis(self) -> i64 {
        self.0
    }

    /// The moment so much earlier.
    #[must_use]
    pub fn minus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_sub(millis))
    }

    /// A number as agents write times: seconds or milliseconds since 1970.
    pub(super) fn from_number(number: i64) -> Option<Self> {
        match number {
            // Seconds up to the year 5000, milliseconds from 1973 on.
            0..=99_999_999_999 => Some(Self(number.checked_mul(SECOND)?)),
            100_000_000_000..=99_999_999_999_999 => Some(Self(number)),
            _ => None,
        }
    }

    /// `2026-11-16`, `2026-11-16 03:47`, or a time as RFC 3339 has it; without an offset, UTC.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (date, time) = match text.split_once(['T', 't', ' ']) {
            Some((date, time)) => (date, Some(time)),
            None => (text, None),
        };
        let mut parts = date.split('-');
        let (year, month, day) = (
            digits(parts.next()?, 4)?,
            digits(parts.next()?, 2)?,
            digits(parts.next()?, 2)?,
        );
        if parts.next().is_some() || !(1..=12).contains(&month) {
            return None;
        }
        if !(1..=days_of(year, month)).contains(&day) {
            return None;
        }
        let midnight = days_before(year, month, day) * DAY;
        Some(Self(midnight + time.map_or(Some(0), since_midnight)?))
    }
}

/// Milliseconds since midnight UTC of `03:47`, `03:47:17.539`, with `Z` or an offset behind it.
fn since_midnight(text: &str) -> Option<i64> {
    let (clock, offset) = match text.find(['Z', 'z', '+', '-']) {
        Some(at) => text.split_at_checked(at)?,
        None => (text, ""),
    };
    let offset = match offset {
        "" | "Z" | "z" => 0,
        written => {
            let sign = if written.starts_with('-') { -1 } else { 1 };
            let (hours, minutes) = written.get(1..)?.split_once(':')?;
            sign * (up_to(hours, 23)? * HOUR + up_to(minutes, 59)? * MINUTE)
        }
    };
    let mut parts = clock.trim_end().split(':');
    let (hours, minutes) = (up_to(parts.next()?, 23)?, up_to(parts.next()?, 59)?);
    let seconds = match parts.next() {
        None => 0,
        Some(seconds) => {
            let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
            if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            let millis: String = fraction.chars().chain("000".chars()).take(3).collect();
            // A leap second counts as the one after it.
            up_to(whole, 60)? * SECOND + millis.parse::<i64>().ok()?
        }
    };
    match parts.next() {
        Some(_) => None,
        None => Some(hours * HOUR + minutes * MINUTE + seconds - offset),
    }
}

fn digits(text: &str, count: usize) -> Option<i64> {
    if text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    }
}

fn up_to(text: &str, most: i64) -> Option<i64> {
    digits(text, 2).filter(|number| *number <= most)
}

fn is_leap(year: i64) -> bool {
    (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 31,
    }
}

/// The days from the start of 1970 to a date of the years 0 to 9999.
fn days_before(year: i64, month: i64, day: i64) -> i64 {
    // Counted in years that start in March, so that the leap day is the last of its year.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days_in_year = (153 * month + 2) / 5 + day - 1;
    365 * year + leap_days + days_in_year - 719_468
}

/// The year, month and day so many days after the start of 1970.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (year + era * 400 + carry, month, day)
}

impl fmt::Display for Moment {
    /// `2026-11-16T03:47:17.539Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date_of(self.0.div_euclid(DAY));
        let rest = self.0.rem_euclid(DAY);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
            rest / HOUR,
            rest % HOUR / MINUTE,
            rest % MINUTE / SECOND,
            rest % SECOND
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_as_people_and_agents_write_them() {
        let shown = |text: &str| Moment::parse(text).unwrap().to_string();
        assert_eq!(Moment::parse("1970-01-01"), Some(Moment(0)));
        assert_eq!(
            Moment::parse("2026-11-16T03:47:17.539Z"),
            Some(Moment(1_794_800_837_539))
        );
        assert_eq!(shown("2026-11-16"), "2026-11-16T00:00:00.000Z");
        assert_eq!(shown("2024-02-29 23:59"), "2024-02-29T23:59:00.000Z");
        assert_eq!(
            shown("2026-01-01T00:30:00+02:00"),
            "2025-12-31T22:30:00.000Z"
        );
        assert_eq!(
            shown("2026-01-01t00:30:00.1234567-01:30"),
            "2026-01-01T02:00:00.123Z"
        );
        for wrong in [
            "",
            "x",
            "2026",
            "2026-13-01",
            "2026-02-29",
            "2026-1-1",
            "2026-01-01T",
            "2026-01-01T24:00",
            "2026-01-01T10",
            "2026-01-01T10:00:00.",
            "2026-01-01T10:00:00.x",
            "2026-01-01T10:00:00+2",
            "2026-01-01T10:00é",
            "+026-01-01",
            "2026-01-01-01",
        ] {
            assert_eq!(Moment::parse(wrong), None, "{wrong}");
        }
        assert_eq!(
            Moment::from_number(1_794_800_837),
            Moment::parse("2026-11-16T03:47:17Z")
        );
        assert_eq!(Moment::from_number(-1), None);
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(millis in -62_135_596_800_000i64..253_402_300_799_999) {
            let moment = Moment(millis);
            prop_assert_eq!(Moment::parse(&moment.to_string()), Some(moment));
        }

        #[test]
        fn any_text_is_a_time_or_none(text in ".{0,40}") {
            let _ = Moment::parse(&text);
        }
    }
}
