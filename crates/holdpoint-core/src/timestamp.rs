//! Moments as they are written down: UTC, to the microsecond, as RFC 3339 has it.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAY: u64 = 86_400;

/// A moment, in microseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// From microseconds since 1970.
    pub fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// In microseconds since 1970.
    pub fn micros(self) -> u64 {
        self.0
    }

    /// The moment the clock shows. One that stands before 1970 shows 1970.
    pub fn from_clock(clock: SystemTime) -> Self {
        let since = clock.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
    }

    /// How much later it is than `other`; zero if it is not.
    pub fn since(self, other: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(other.0))
    }

    /// Reads `2026-11-16`, `2026-11-16T03:40`, `2026-11-16T03:40:12.5Z` or one with an offset
    /// (`+01:00`). Without an offset it is UTC.
    pub fn parse(text: &str) -> Option<Self> {
        let (date, clock) = match text.split_once(['T', 't', ' ']) {
            Some((date, clock)) => (date, Some(clock)),
            None => (text, None),
        };
        let mut parts = date.split('-');
        let year: u64 = number(parts.next()?, 4)?;
        let month: u64 = number(parts.next()?, 2)?;
        let day: u64 = number(parts.next()?, 2)?;
        let real = (1970..=9999).contains(&year)
            && (1..=12).contains(&month)
            && (1..=days_in(year, month)).contains(&day);
        if parts.next().is_some() || !real {
            return None;
        }
        let days = days_before(year, month) + day - 1;
        let (seconds, micros, offset) = match clock {
            Some(clock) => clock_of(clock)?,
            None => (0, 0, 0),
        };
        let seconds = i64::try_from(days * DAY + seconds).ok()? - offset;
        Some(Self(u64::try_from(seconds).ok()? * 1_000_000 + micros))
    }

    /// The day it is in, as days since 1970.
    pub fn day(self) -> u64 {
        self.0 / 1_000_000 / DAY
    }

    /// The start of the day it is in.
    #[must_use]
    pub fn midnight(self) -> Self {
        Self(self.0 - self.0 % (DAY * 1_000_000))
    }

    /// The moment so much earlier, but none before 1970.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        Self(self.0.saturating_sub(micros))
    }

    /// The day it is in: `2026-11-16`.
    pub fn date(self) -> String {
        let (year, month, day) = date_of(self.day());
        format!("{year:04}-{month:02}-{day:02}")
    }
}

/// Seconds of the day, microseconds, and the offset from UTC in seconds.
fn clock_of(text: &str) -> Option<(u64, u64, i64)> {
    let (clock, offset) = match text.find(['Z', 'z', '+', '-']) {
        Some(at) => {
            let (clock, zone) = text.split_at_checked(at)?;
            (clock, offset_of(zone)?)
        }
        None => (text, 0),
    };
    let (clock, fraction) = match clock.split_once('.') {
        Some((_, "")) => return None,
        Some((clock, fraction)) => (clock, fraction),
        None => (clock, ""),
    };
    let mut parts = clock.split(':');
    let hour: u64 = number(parts.next()?, 2)?;
    let minute: u64 = number(parts.next()?, 2)?;
    let second: u64 = parts.next().map_or(Some(0), |text| number(text, 2))?;
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let mut micros = 0;
    if !fraction.is_empty() {
        if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let six: String = fraction.chars().chain("000000".chars()).take(6).collect();
        micros = six.parse().ok()?;
    }
    Some((hour * 3600 + minute * 60 + second, micros, offset))
}

fn offset_of(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let digits: String = zone.chars().skip(1).filter(|sign| *sign != ':').collect();
    let (hours, minutes) = digits.split_at_checked(2)?;
    let hours: u64 = number(hours, 2)?;
    let minutes: u64 = number(minutes, 2)?;
    let seconds = i64::try_from(hours * 3600 + minutes * 60).ok()?;
    (hours < 24 && minutes < 60).then_some(sign * seconds)
}

fn number(text: &str, digits: usize) -> Option<u64> {
    let plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, micros) = (self.0 / 1_000_000, self.0 % 1_000_000);
        let (year, month, day) = date_of(seconds / DAY);
        let clock = seconds % DAY;
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{micros:06}Z",
            clock / 3600,
            clock / 60 % 60,
            clock % 60,
        )
    }
}

/// Year, month and day of a day since 1970. Years are counted from March, so that the odd day is
/// the last of the year; 400 years have 146,097 days.
fn date_of(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    (year + era * 400 + u64::from(month <= 2), month, day)
}

/// Days from 1970 to the first of a month.
fn days_before(year: u64, month: u64) -> u64 {
    let (year, from_march) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let of_year = (153 * from_march + 2) / 5;
    let of_era = year % 400 * 365 + year % 400 / 4 - year % 400 / 100 + of_year;
    (year / 400 * 146_097 + of_era).saturating_sub(719_468)
}

fn days_in(year: u64, month: u64) -> u64 {
    let leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_moments() {
        let written = |seconds: u64| Timestamp::from_micros(seconds * 1_000_000).to_string();
        assert_eq!(written(0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(written(951_782_400), "2000-02-29T00:00:00.000000Z");
        assert_eq!(written(1_794_800_412), "2026-11-16T03:40:12.000000Z");
        assert_eq!(written(253_402_300_799), "9999-12-31T23:59:59.000000Z");
    }

    #[test]
    fn moments_people_write() {
        let read = |text: &str| Timestamp::parse(text).map(|time| time.to_string());
        let wanted = |text: &str| Some(text.to_owned());
        assert_eq!(read("2026-11-16"), wanted("2026-11-16T00:00:00.000000Z"));
        assert_eq!(
            read("2026-11-16 03:40"),
            wanted("2026-11-16T03:40:00.000000Z")
        );
        assert_eq!(
            read("2026-11-16T03:40:12.25+02:00"),
            wanted("2026-11-16T01:40:12.250000Z")
        );
        assert_eq!(
            read("2024-02-29 23:59"),
            wanted("2024-02-29T23:59:00.000000Z")
        );
        assert_eq!(
            read("2026-01-01T00:30:00+02:00"),
            wanted("2025-12-31T22:30:00.000000Z")
        );
        assert_eq!(
            read("2026-01-01t00:30:00.1234567-01:30"),
            wanted("2026-01-01T02:00:00.123456Z")
        );
        for wrong in [
            "",
            "x",
            "2026",
            "2026-13-01",
            "2026-02-29",
            "2026-1-1",
            "2026-01-01-01",
            "+026-01-01",
            "1969-12-31",
            "2026-01-01T",
            "2026-01-01T10",
            "2026-11-16T1:00",
            "2026-01-01T24:00",
            "2026-01-01T10:00:00.",
            "2026-01-01T10:00:00.x",
            "2026-01-01T10:00:00+2",
            "2026-01-01T10:00é",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_day_has_a_start_and_a_name() {
        let time = Timestamp::parse("2026-03-01T03:40:12Z").unwrap();
        assert_eq!(Timestamp::parse("2026-03-01"), Some(time.midnight()));
        assert_eq!(time.date(), "2026-03-01");
        let before = time.midnight().minus(Duration::from_micros(1));
        assert_eq!(before.to_string(), "2026-02-28T23:59:59.999999Z");
        assert_eq!(time.minus(Duration::MAX), Timestamp::default());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(micros in 0u64..253_402_300_799_000_000) {
            let time = Timestamp::from_micros(micros);
            prop_assert_eq!(Timestamp::parse(&time.to_string()), Some(time));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,40}") {
            let _ = Timestamp::parse(&text);
        }
    }
}
