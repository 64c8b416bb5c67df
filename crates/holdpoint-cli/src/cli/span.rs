//! A span of time on the command line, the same for every command that looks back.

use std::time::{Duration, SystemTime};

use clap::Args;
use holdpoint_ledger::Timestamp;

const DAY: u64 = 86_400;

/// From when to when.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Span {
    /// Not before: 2026-11-16, 2026-11-16T03:40Z, today, yesterday, or 90s, 30m, 2h, 3d, 1w ago
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) since: Option<Timestamp>,
    /// Before this time; a day stands for its start
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) until: Option<Timestamp>,
}

impl Span {
    /// Whether something of that time is in it. What is of no known time is in no span but the
    /// endless one.
    pub(crate) fn holds(self, time: Option<Timestamp>) -> bool {
        let unbounded = self.since.is_none() && self.until.is_none();
        time.map_or(unbounded, |time| {
            self.since.is_none_or(|since| time >= since)
                && self.until.is_none_or(|until| time < until)
        })
    }
}

fn moment(text: &str) -> Result<Timestamp, String> {
    moment_at(text, Timestamp::from_clock(SystemTime::now()))
}

/// The seconds in `90s`, `30m`, `2h`, `3d` or `1w`.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let unit = match text.chars().last() {
        Some('s') => Some(1),
        Some('m') => Some(60),
        Some('h') => Some(3600),
        Some('d') => Some(DAY),
        Some('w') => Some(7 * DAY),
        _ => None,
    };
    unit.zip(text.get(..text.len().saturating_sub(1)))
        .filter(|(_, digits)| digits.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|(unit, digits)| digits.parse::<u64>().ok()?.checked_mul(unit))
}

/// The moment a text means now.
fn moment_at(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    match text {
        "now" => return Ok(now),
        "today" => return Ok(now.midnight()),
        "yesterday" => return Ok(now.minus(Duration::from_secs(DAY)).midnight()),
        _ => {}
    }
    if let Some(seconds) = seconds(text) {
        return Ok(now.minus(Duration::from_secs(seconds)));
    }
    Timestamp::parse(text).ok_or_else(|| {
        "write 2026-11-16, 2026-11-16T03:40:00Z, today, yesterday, or how long ago: 30m, 2h, 3d"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn now() -> Timestamp {
        Timestamp::parse("2026-11-16T03:40:12Z").unwrap()
    }

    #[test]
    fn times_people_write() {
        for (text, meant) in [
            ("now", "2026-11-16T03:40:12"),
            ("today", "2026-11-16"),
            ("yesterday", "2026-11-15"),
            ("2h", "2026-11-16T01:40:12"),
            ("90s", "2026-11-16T03:38:42"),
            ("90m", "2026-11-16T02:10:12"),
            ("7d", "2026-11-09T03:40:12"),
            ("1w", "2026-11-09T03:40:12"),
            ("2026-11-01T12:00+02:00", "2026-11-01T10:00"),
        ] {
            assert_eq!(
                moment_at(text, now()).ok(),
                Timestamp::parse(meant),
                "{text}"
            );
        }
        for wrong in [
            "",
            "h",
            "2x",
            "7 d",
            "7y",
            "-2h",
            "2.5h",
            "99999999999999999999h",
            "ö",
            "16.11.",
        ] {
            assert!(moment_at(wrong, now()).is_err(), "{wrong}");
        }
        assert_eq!(moment_at("99999w", now()), Ok(Timestamp::default()));
    }

    #[test]
    fn a_span_holds_its_start_and_not_its_end() {
        let at = Timestamp::parse;
        let span = Span {
            since: at("2026-11-15"),
            until: at("2026-11-16"),
        };
        assert!(span.holds(at("2026-11-15")));
        assert!(!span.holds(at("2026-11-14T23:59:59.999999Z")));
        assert!(!span.holds(at("2026-11-16")));
        assert!(!span.holds(None));
        assert!(Span::default().holds(None) && Span::default().holds(at("2026-11-16")));
    }

    proptest! {
        #[test]
        fn any_text_is_a_time_or_refused(text in "\\PC{0,12}") {
            let _ = moment_at(&text, now());
        }
    }
}
