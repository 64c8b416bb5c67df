//! How long things took: counts on a logarithmic scale, and percentiles out of them.

use super::summary::{Durations, Span};

/// Parts of a doubling; a percentile is at most a thirty-second off.
const PARTS: u32 = 32;

/// Times in microseconds, counted.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    /// By doubling and part of it.
    fine: Vec<u64>,
    /// Where each bar begins, and its count.
    coarse: Vec<(u64, u64)>,
    count: u64,
    longest: u64,
}

/// The longest time that is told apart: some 36 years. A longer one counts as this.
const MAX_MICROS: u64 = 1 << 50;

impl Default for Histogram {
    fn default() -> Self {
        Self {
            fine: vec![0; place_of(MAX_MICROS) + 1],
            coarse: edges().map(|edge| (edge, 0)).collect(),
            count: 0,
            longest: 0,
        }
    }
}

/// Where the bars of a plot begin: at 0, and at 1, 2 and 5 of each power of ten.
fn edges() -> impl Iterator<Item = u64> {
    let powers = (0..15).map(|power| 10_u64.pow(power));
    [0].into_iter()
        .chain(powers.flat_map(|power| [power, 2 * power, 5 * power]))
}

impl Histogram {
    pub(super) fn add(&mut self, micros: u64) {
        let micros = micros.min(MAX_MICROS);
        if let Some(count) = self.fine.get_mut(place_of(micros)) {
            *count += 1;
        }
        let above = self.coarse.partition_point(|(edge, _)| *edge <= micros);
        if let Some((_, count)) = self.coarse.get_mut(above.saturating_sub(1)) {
            *count += 1;
        }
        self.count += 1;
        self.longest = self.longest.max(micros);
    }

    pub(super) fn summary(&self) -> Durations {
        let filled = |(_, count): &(u64, u64)| *count > 0;
        let first = self.coarse.iter().position(filled).unwrap_or_default();
        let last = self.coarse.iter().rposition(filled).unwrap_or_default();
        let ends = edges().skip(1).chain([MAX_MICROS.saturating_mul(2)]);
        let spans = self.coarse.iter().zip(ends);
        Durations {
            count: self.count,
            p50_us: self.percentile(50),
            p95_us: self.percentile(95),
            p99_us: self.percentile(99),
            longest_us: (self.count > 0).then_some(self.longest),
            spans: spans
                .map(|((from_us, count), to_us)| Span {
                    from_us: *from_us,
                    to_us,
                    count: *count,
                })
                .take(last + 1)
                .skip(first)
                .filter(|_| self.count > 0)
                .collect(),
        }
    }

    /// The time that this many of a hundred did not exceed.
    fn percentile(&self, percent: u64) -> Option<u64> {
        let wanted = self.count.saturating_mul(percent).div_ceil(100).max(1);
        let mut seen = 0;
        for (place, count) in self.fine.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return Some(upper_end(place).min(self.longest));
            }
        }
        None
    }
}

/// Up to 32 every number has a place of its own; from there on each doubling has 32 places.
fn place_of(micros: u64) -> usize {
    let parts = u64::from(PARTS);
    let place = match micros.checked_ilog2() {
        Some(doubling) if micros >= parts => {
            let shift = doubling - PARTS.ilog2();
            u64::from(shift + 1) * parts + (micros >> shift) - parts
        }
        _ => micros,
    };
    usize::try_from(place).unwrap_or(usize::MAX)
}

/// The largest number with this place.
fn upper_end(place: usize) -> u64 {
    let parts = u64::from(PARTS);
    let place = u64::try_from(place).unwrap_or(u64::MAX);
    match (place / parts).checked_sub(1) {
        Some(shift) => ((place % parts + parts + 1) << shift.min(50)) - 1,
        None => place,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn percentiles_of_known_times() {
        let mut times = Histogram::default();
        assert_eq!(times.summary(), Durations::default());
        for micros in 1..=1000 {
            times.add(micros);
        }
        let summary = times.summary();
        assert_eq!(summary.count, 1000);
        assert_eq!(summary.longest_us, Some(1000));
        let near = |found: Option<u64>, wanted: u64| {
            let found = found.unwrap();
            assert!(
                found >= wanted && found <= wanted + wanted / 32,
                "{found} {wanted}"
            );
        };
        near(summary.p50_us, 500);
        near(summary.p95_us, 950);
        near(summary.p99_us, 990);
        let spans: Vec<(u64, u64, u64)> = summary
            .spans
            .iter()
            .map(|span| (span.from_us, span.to_us, span.count))
            .collect();
        assert_eq!(spans.first(), Some(&(1, 2, 1)));
        assert_eq!(spans.get(6), Some(&(100, 200, 100)));
        assert_eq!(spans.last(), Some(&(1000, 2000, 1)));
    }

    #[test]
    fn nothing_took_no_time_or_all_of_it() {
        let mut times = Histogram::default();
        times.add(0);
        times.add(u64::MAX);
        let summary = times.summary();
        assert_eq!(summary.p50_us, Some(0));
        assert_eq!(summary.spans.iter().map(|span| span.count).sum::<u64>(), 2);
    }

    proptest! {
        #[test]
        fn a_place_holds_numbers_close_together(micros in 0u64..(1 << 50)) {
            let end = upper_end(place_of(micros));
            prop_assert!(end >= micros);
            prop_assert!(end - micros <= micros / 32);
            prop_assert_eq!(place_of(end), place_of(micros));
        }
    }
}
