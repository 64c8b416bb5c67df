//! Counts over time, in steps that grow with the period so that their number stays bounded.

use std::collections::BTreeMap;

use holdpoint_ledger::Timestamp;

use super::summary::{Bucket, Series, Step, Verdicts};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const WEEK: u64 = 7 * DAY;

/// 1970 began on a Thursday; weeks begin on Mondays.
const FIRST_MONDAY: u64 = 4 * DAY;

/// The steps there are; each grid contains the next. After them steps double.
const STEPS: [u64; 7] = [MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY, WEEK, 4 * WEEK];

/// The most steps kept while reading; beyond it steps are made longer, and those there are joined.
const MAX_KEPT: usize = 2048;

/// The most steps that are shown: two months of days. Over a longer time the steps are longer.
const MAX_SHOWN: u64 = 62;

/// What is counted in one step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    pub(super) verdicts: Verdicts,
    pub(super) approved: u64,
    pub(super) answered: u64,
}

impl Counted {
    fn add(&mut self, other: &Self) {
        self.verdicts.add(&other.verdicts);
        self.approved += other.approved;
        self.answered += other.answered;
    }
}

/// Counts by the second their step begins.
#[derive(Clone, Debug)]
pub(super) struct Timeline {
    step: u64,
    counted: BTreeMap<u64, Counted>,
}

impl Default for Timeline {
    fn default() -> Self {
        Self {
            step: MINUTE,
            counted: BTreeMap::new(),
        }
    }
}

impl Timeline {
    /// What is counted in the step a moment is in.
    pub(super) fn at(&mut self, time: Timestamp) -> &mut Counted {
        let second = time.micros() / 1_000_000;
        let mut start = start_of(second, self.step);
        while self.counted.len() >= MAX_KEPT && !self.counted.contains_key(&start) {
            self.step = next_step(self.step);
            self.counted = self.in_steps_of(self.step);
            start = start_of(second, self.step);
        }
        self.counted.entry(start).or_default()
    }

    /// The steps to show, without a gap from the first to the last.
    pub(super) fn series(&self) -> Series {
        let (Some((first, _)), Some((last, _))) = (
            self.counted.first_key_value(),
            self.counted.last_key_value(),
        ) else {
            return Series::default();
        };
        let mut step = self.step;
        // What lies before the first Monday there is has a shorter step of its own.
        while (start_of(*last, step) - start_of(*first, step)).div_ceil(step) >= MAX_SHOWN {
            step = next_step(step);
        }
        let counted = self.in_steps_of(step);
        let mut buckets = Vec::new();
        let mut start = start_of(*first, step);
        while start <= start_of(*last, step) {
            let here = counted.get(&start).copied().unwrap_or_default();
            buckets.push(Bucket {
                start: Timestamp::from_micros(start.saturating_mul(1_000_000)),
                verdicts: here.verdicts,
                approved: here.approved,
                answered: here.answered,
            });
            start = start_of(start + step, step).max(start + 1);
        }
        Series {
            step: Step(step),
            buckets,
        }
    }

    fn in_steps_of(&self, step: u64) -> BTreeMap<u64, Counted> {
        let mut coarser: BTreeMap<u64, Counted> = BTreeMap::new();
        for (start, counted) in &self.counted {
            coarser
                .entry(start_of(*start, step))
                .or_default()
                .add(counted);
        }
        coarser
    }
}

fn next_step(step: u64) -> u64 {
    let longer = STEPS.into_iter().find(|longer| *longer > step);
    longer.unwrap_or(step.saturating_mul(2))
}

fn start_of(second: u64, step: u64) -> u64 {
    let from = if step >= WEEK { FIRST_MONDAY } else { 0 };
    match second.checked_sub(from) {
        Some(since) => since / step * step + from,
        None => 0,
    }
}

impl Step {
    /// The step in words.
    pub fn words(self) -> String {
        match self.0 {
            MINUTE => "minute".into(),
            HOUR => "hour".into(),
            DAY => "day".into(),
            WEEK => "week".into(),
            seconds if seconds < HOUR => format!("{} minutes", seconds / MINUTE),
            seconds if seconds < DAY => format!("{} hours", seconds / HOUR),
            seconds => format!("{} weeks", seconds / WEEK),
        }
    }

    /// Whether several steps are in one day.
    pub fn is_within_a_day(self) -> bool {
        self.0 < DAY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdpoint_core::Verdict;
    use proptest::prelude::*;

    fn series(times: &[&str]) -> (String, Vec<(String, u64)>) {
        let mut timeline = Timeline::default();
        for time in times {
            let time = Timestamp::parse(time).unwrap();
            timeline.at(time).verdicts.count(Verdict::Allow);
        }
        let series = timeline.series();
        let buckets = series.buckets.iter();
        let shown = buckets.map(|one| (one.start.to_string(), one.verdicts.total()));
        (series.step.words(), shown.collect())
    }

    #[test]
    fn the_step_suits_the_period() {
        for (first, last, step) in [
            ("2026-11-16T03:40", "2026-11-16T04:20", "minute"),
            ("2026-11-16T03:40", "2026-11-16T11:20", "10 minutes"),
            ("2026-11-15T03:40", "2026-11-16T11:20", "hour"),
            ("2026-11-10", "2026-11-16", "6 hours"),
            ("2026-10-16", "2026-11-16", "day"),
            ("2026-01-16", "2026-11-16", "week"),
            ("2023-01-16", "2026-11-16", "4 weeks"),
            ("1990-01-16", "2026-11-16", "32 weeks"),
        ] {
            let (words, buckets) = series(&[first, last]);
            assert_eq!(words, step);
            assert!(buckets.len() <= 62, "{step}: {}", buckets.len());
            assert_eq!(buckets.iter().map(|(_, count)| count).sum::<u64>(), 2);
        }
    }

    #[test]
    fn steps_without_a_call_are_there() {
        let (_, buckets) = series(&["2026-11-10T05:00", "2026-11-10T05:01", "2026-11-10T05:03"]);
        let counts: Vec<u64> = buckets.iter().map(|(_, count)| *count).collect();
        assert_eq!(counts, [1, 1, 0, 1]);
    }

    #[test]
    fn weeks_begin_on_mondays() {
        let (_, buckets) = series(&["2026-01-16", "2026-11-16"]);
        assert_eq!(buckets.first().unwrap().0, "2026-01-12T00:00:00.000000Z");
    }

    #[test]
    fn the_days_before_the_first_monday_are_a_step_too() {
        let mut timeline = Timeline::default();
        for second in [3, 147_916_800] {
            timeline.at(Timestamp::from_micros(second * 1_000_000));
        }
        assert!(timeline.series().buckets.len() as u64 <= MAX_SHOWN);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_the_number_is_bounded(
            seconds in prop::collection::vec(0u64..253_402_300_799, 1..400),
            close in prop::collection::vec(0u64..4_000_000, 1..3000),
        ) {
            let mut timeline = Timeline::default();
            for second in seconds.iter().chain(&close) {
                let time = Timestamp::from_micros(second * 1_000_000);
                timeline.at(time).verdicts.count(Verdict::Deny);
                prop_assert!(timeline.counted.len() <= MAX_KEPT);
            }
            let buckets = timeline.series().buckets;
            let total: u64 = buckets.iter().map(|one| one.verdicts.deny).sum();
            prop_assert_eq!(total, (seconds.len() + close.len()) as u64);
            prop_assert!(buckets.len() as u64 <= MAX_SHOWN);
        }
    }
}
