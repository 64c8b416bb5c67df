//! Times as they stand in a narrow column.

use holdpoint_broker::UnixMillis;

/// How long it is until then: `4:58`, `1:02:03`, `3 d`.
pub(super) fn left(now: UnixMillis, expires: UnixMillis) -> String {
    // A second that has begun still counts.
    let seconds = now.until(expires).as_millis().div_ceil(1000);
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, minutes, seconds) => format!("{minutes}:{seconds:02}"),
        (hours @ 1..24, minutes, seconds) => format!("{hours}:{minutes:02}:{seconds:02}"),
        (hours, _, _) => format!("{} d", hours / 24),
    }
}

/// How long ago that was: `12 s`, `5 min`, `3 h`, `2 d`.
pub(super) fn ago(then: UnixMillis, now: UnixMillis) -> String {
    let seconds = then.until(now).as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        let now = UnixMillis(1_000_000);
        let in_millis = |millis| left(now, UnixMillis(now.0 + millis));
        assert_eq!(in_millis(298_000), "4:58");
        assert_eq!(in_millis(1), "0:01");
        assert_eq!(in_millis(0), "0:00");
        assert_eq!(in_millis(3_723_000), "1:02:03");
        assert_eq!(in_millis(86_400_000 * 3), "3 d");
        assert_eq!(left(now, UnixMillis(0)), "0:00");
        assert_eq!(ago(UnixMillis(0), now), "16 min");
        assert_eq!(ago(now, UnixMillis(0)), "0 s");
    }
}
