//! Which calls are judged.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::anyhow;
use holdpoint::replay::{Moment, Recorded};

use crate::cli::Replay;
use crate::terminal::shown;

/// The calls that are wanted.
#[derive(Debug, Default)]
pub(super) struct Filter {
    since: Option<Moment>,
    until: Option<Moment>,
    tools: Vec<String>,
    session: Option<String>,
}

impl Filter {
    pub(super) fn new(args: &Replay) -> anyhow::Result<Self> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        let now = Moment::from_millis(i64::try_from(now.as_millis())?);
        let time = |flag: &str, text: &Option<String>| {
            text.as_deref()
                .map(|text| {
                    moment(text, now).ok_or_else(|| {
                        anyhow!(
                            "{flag}: `{}` is no time: write 2026-11-16, 2026-11-16T03:47 or 7d",
                            shown(text, 60)
                        )
                    })
                })
                .transpose()
        };
        Ok(Self {
            since: time("--since", &args.since)?,
            until: time("--until", &args.until)?,
            tools: args.tool.clone(),
            session: args.session.clone(),
        })
    }

    /// Whether a call is wanted. One whose time nobody wrote down is not in any span of time.
    pub(super) fn wants(&self, call: &Recorded) -> bool {
        let in_time = match call.time {
            Some(time) => {
                self.since.is_none_or(|since| time >= since)
                    && self.until.is_none_or(|until| time < until)
            }
            None => self.since.is_none() && self.until.is_none(),
        };
        in_time
            && (self.tools.is_empty() || self.tools.contains(&call.tool))
            && self.session.as_deref().is_none_or(|wanted| {
                let session = call.session.as_deref();
                session.is_some_and(|session| session.starts_with(wanted))
            })
    }
}

/// A time, or how long ago.
fn moment(text: &str, now: Moment) -> Option<Moment> {
    const MINUTE: i64 = 60_000;
    let unit = match text.chars().last()? {
        'm' => MINUTE,
        'h' => 60 * MINUTE,
        'd' => 24 * 60 * MINUTE,
        'w' => 7 * 24 * 60 * MINUTE,
        _ => return Moment::parse(text),
    };
    let count: u32 = text.get(..text.len() - 1)?.parse().ok()?;
    Some(now.minus_millis(i64::from(count).checked_mul(unit)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_may_be_so_long_ago() {
        let now = Moment::parse("2026-11-16T12:00:00Z").unwrap();
        let shown = |text: &str| moment(text, now).map(|moment| moment.to_string());
        assert_eq!(shown("90m").unwrap(), "2026-11-16T10:30:00.000Z");
        assert_eq!(shown("7d").unwrap(), "2026-11-09T12:00:00.000Z");
        assert_eq!(shown("1w"), shown("7d"));
        assert_eq!(shown("2026-11-01").unwrap(), "2026-11-01T00:00:00.000Z");
        for wrong in [
            "",
            "d",
            "-1d",
            "7 d",
            "7y",
            "é",
            "99999999999d",
            "yesterday",
        ] {
            assert_eq!(moment(wrong, now), None, "{wrong}");
        }
    }
}
