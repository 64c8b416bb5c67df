//! Plots as inline SVG. Widths are shares of the room there is and heights are fixed, so text
//! keeps its size on any screen.

use holdpoint_core::Verdict;

use super::html::Html;
use super::words::{clock, count, day, duration, minute, number, part, ratio};
use crate::report::summary::{Bucket, Durations, Series, Verdicts};

/// The height of a plot without its labels.
const HEIGHT: f64 = 200.0;

/// The room above it, so that the topmost label is not cut.
const TOP: f64 = 10.0;

/// The room for labels below it, on one line and on two.
const BELOW: f64 = 26.0;
const BELOW_TWO: f64 = 40.0;

/// The most labels below a plot as wide as the page, and below one half as wide; a narrow screen
/// shows every other one.
const MAX_LABELS: usize = 10;
const MAX_LABELS_OF_HALF: usize = 6;

/// The class that gives a verdict its colour.
pub(super) fn class_of(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Notify => "notify",
        Verdict::Contain => "contain",
        Verdict::Ask => "ask",
        Verdict::Review => "review",
        Verdict::Deny => "deny",
    }
}

/// `12 allow, 3 ask`.
pub(super) fn in_words(verdicts: &Verdicts) -> String {
    let mut words: Vec<String> = Vec::new();
    for (verdict, count) in verdicts.each() {
        if count > 0 {
            words.push(format!("{} {}", number(count), verdict.as_str()));
        }
    }
    words.join(", ")
}

/// The colours and what they mean, for the verdicts that occur.
pub(super) fn legend(html: &mut Html, verdicts: &Verdicts) {
    html.raw("<ul class=\"legend\">");
    for (verdict, count) in verdicts.each() {
        if count > 0 {
            html.raw("<li><span")
                .attribute("class", format_args!("key {}", class_of(verdict)))
                .around("></span>", verdict.as_str(), "</li>");
        }
    }
    html.raw("</ul>");
}

/// One bar, split by verdict, as long as `of` allows.
pub(super) fn bar(html: &mut Html, verdicts: &Verdicts, of: u64, height: u32) {
    html.raw("<svg class=\"bar\" width=\"100%\" aria-hidden=\"true\"")
        .attribute("height", height)
        .raw("><title>")
        .text(&in_words(verdicts))
        .raw("</title>");
    let mut x = 0.0;
    for (verdict, count) in verdicts.each() {
        if count > 0 {
            let width = ratio(count, of) * 100.0;
            html.raw("<rect")
                .attribute("class", class_of(verdict))
                .length("x", x, "%")
                .length("width", width, "%")
                .raw(" height=\"100%\"/>");
            x += width;
        }
    }
    html.raw("</svg>");
}

/// What a plot is called, for those who do not see it.
pub(super) struct Title<'a> {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'a str,
}

impl Title<'_> {
    fn open(&self, html: &mut Html, height: f64) {
        html.raw("<svg class=\"field\" role=\"img\" width=\"100%\"")
            .length("height", height, "")
            .attribute("aria-labelledby", format_args!("{0}-t {0}-d", self.id))
            .raw("><title")
            .attribute("id", format_args!("{}-t", self.id))
            .around(">", self.title, "</title><desc")
            .attribute("id", format_args!("{}-d", self.id))
            .around(">", self.description, "</desc>");
    }
}

/// A scale from 0 to a round number, with its labels.
struct Scale {
    top: f64,
    ticks: Vec<(f64, String)>,
}

impl Scale {
    fn of_counts(most: u64) -> Self {
        let most = most.max(4);
        let mut step = 1;
        while most.div_ceil(step) > 5 {
            step = match step.to_string().as_bytes().first() {
                Some(b'1') => step * 2,
                Some(b'2') => step / 2 * 5,
                _ => step * 2,
            };
        }
        let steps = most.div_ceil(step);
        let top = steps * step;
        let ticks = (0..=steps).map(|tick| (ratio(tick * step, top), number(tick * step)));
        Self {
            top: ratio(top, 1),
            ticks: ticks.collect(),
        }
    }

    /// Up to the next of 5, 10, 20, 50 or 100 %.
    fn of_shares(most: f64) -> Self {
        let rounds = [5_u64, 10, 20, 40, 60, 80, 100].into_iter();
        let percent = rounds.clone().find(|top| ratio(*top, 100) >= most);
        let percent = percent.unwrap_or(100);
        let steps: u64 = if percent == 5 || percent == 100 { 5 } else { 4 };
        let ticks = (0..=steps).map(|tick| {
            let value = percent * tick;
            let label = match value.checked_rem(steps) {
                Some(0) => format!("{}%", value / steps),
                _ => format!("{:.1}%", ratio(value, steps)),
            };
            (ratio(tick, steps), label)
        });
        Self {
            top: ratio(percent, 100),
            ticks: ticks.collect(),
        }
    }

    fn y_of(&self, value: f64, height: f64) -> f64 {
        TOP + height * (1.0 - (value / self.top).clamp(0.0, 1.0))
    }

    /// The labels beside the plot.
    fn labels(&self, html: &mut Html, height: f64, below: f64) {
        html.raw("<svg class=\"scale\" aria-hidden=\"true\" width=\"48\"")
            .length("height", height + TOP + below, "")
            .raw(">");
        for (at, label) in &self.ticks {
            html.raw("<text x=\"40\" class=\"end\"")
                .length("y", TOP + height * (1.0 - at) + 4.0, "")
                .around(">", label, "</text>");
        }
        html.raw("</svg>");
    }

    /// The lines across the plot.
    fn lines(&self, html: &mut Html, height: f64) {
        for (at, _) in &self.ticks {
            let y = TOP + height * (1.0 - at);
            html.raw("<line class=\"grid\" x1=\"0\" x2=\"100%\"")
                .length("y1", y, "")
                .length("y2", y, "")
                .raw("/>");
        }
    }
}

/// When a bucket is, in words.
pub(super) fn bucket_words(series: &Series, bucket: &Bucket) -> String {
    if series.step.is_within_a_day() {
        minute(bucket.start)
    } else {
        day(bucket.start)
    }
}

/// The room its labels take.
fn below(series: &Series) -> f64 {
    if series.step.is_within_a_day() {
        BELOW_TWO
    } else {
        BELOW
    }
}

/// The middle of a bucket, in hundredths of the width.
fn middle(series: &Series, index: usize) -> f64 {
    (index as f64 + 0.5) * 100.0 / (series.buckets.len().max(1) as f64)
}

/// Labels below a plot over time; within days, each day is named where its first label is.
fn time_labels(html: &mut Html, series: &Series, height: f64, most: usize) {
    let every = series.buckets.len().div_ceil(most).max(1);
    let within = series.step.is_within_a_day();
    let (mut named, mut named_on_narrow) = (String::new(), String::new());
    let shown = series.buckets.iter().enumerate().step_by(every);
    for (place, (index, bucket)) in shown.enumerate() {
        let minor = place % 2 == 1;
        let mut label = |class: &str, y: f64, text: &str| {
            let minor = if minor { "minor" } else { "" };
            html.raw("<text")
                .attribute("class", format_args!("mid {minor} {class}"))
                .length("x", middle(series, index), "%")
                .length("y", TOP + height + y, "")
                .around(">", text, "</text>");
        };
        let today = day(bucket.start);
        if !within {
            label("", 20.0, &today);
            continue;
        }
        label("", 20.0, &clock(bucket.start));
        if named != today {
            label("day", 35.0, &today);
        } else if !minor && named_on_narrow != today {
            // Its name stands at a label that a narrow screen hides.
            label("day narrow", 35.0, &today);
        }
        if !minor {
            named_on_narrow.clone_from(&today);
        }
        named = today;
    }
}

/// Calls over time, each bar split by verdict.
pub(super) fn stacked(html: &mut Html, series: &Series, title: &Title<'_>) {
    let totals = series.buckets.iter().map(|bucket| bucket.verdicts.total());
    let scale = Scale::of_counts(totals.max().unwrap_or_default());
    let height = HEIGHT + 40.0;
    html.raw("<div class=\"plot\">");
    scale.labels(html, height, below(series));
    title.open(html, height + TOP + below(series));
    scale.lines(html, height);
    let slot = 100.0 / (series.buckets.len().max(1) as f64);
    for (index, bucket) in series.buckets.iter().enumerate() {
        let x = slot * index as f64;
        html.raw("<g class=\"column\"><title>")
            .text(&bucket_words(series, bucket))
            .raw(": ")
            .text(&count(bucket.verdicts.total(), "call"));
        if bucket.verdicts.total() > 0 {
            html.around(" (", &in_words(&bucket.verdicts), ")");
        }
        html.raw("</title><rect class=\"hit\"")
            .length("x", x, "%")
            .length("y", TOP, "")
            .length("width", slot, "%")
            .length("height", height, "")
            .raw("/>");
        // A single bar is not a wall.
        let (left, width) = if series.buckets.len() < 4 {
            (x + slot * 0.35, slot * 0.3)
        } else {
            (x + slot * 0.12, slot * 0.76)
        };
        let mut beneath = 0;
        for (verdict, count) in bucket.verdicts.each() {
            if count > 0 {
                let bottom = scale.y_of(ratio(beneath, 1), height);
                beneath += count;
                let top = scale.y_of(ratio(beneath, 1), height);
                html.raw("<rect")
                    .attribute("class", class_of(verdict))
                    .length("x", left, "%")
                    .length("y", top, "")
                    .length("width", width, "%")
                    .length("height", bottom - top, "")
                    .raw("/>");
            }
        }
        html.raw("</g>");
    }
    time_labels(html, series, height, MAX_LABELS);
    html.raw("</svg></div>");
}

/// A share over time: one number over another for each bucket that has any.
pub(super) fn rate(
    html: &mut Html,
    series: &Series,
    title: &Title<'_>,
    colour: &'static str,
    counts_of: impl Fn(&Bucket) -> (u64, u64),
) {
    let points: Vec<(usize, u64, u64)> = series
        .buckets
        .iter()
        .enumerate()
        .map(|(index, bucket)| {
            let (some, all) = counts_of(bucket);
            (index, some, all)
        })
        .filter(|(_, _, all)| *all > 0)
        .collect();
    let most = points.iter().map(|(_, some, all)| ratio(*some, *all));
    let scale = Scale::of_shares(most.fold(0.0, f64::max));
    let height = HEIGHT - 40.0;
    html.raw("<div class=\"plot\">");
    scale.labels(html, height, below(series));
    title.open(html, height + TOP + below(series));
    scale.lines(html, height);
    // Lines have no lengths in shares, so they are drawn in a box of their own that is stretched.
    html.raw("<svg x=\"0\" y=\"0\" width=\"100%\" preserveAspectRatio=\"none\"")
        .length("height", height + TOP, "")
        .attribute("viewBox", format_args!("0 0 100 {}", height + TOP))
        .raw(">");
    let mut line = |class: &str, points: &[(usize, u64, u64)]| {
        html.raw("<polyline")
            .attribute("class", format_args!("line {colour} {class}"))
            .raw(" points=\"");
        for (index, some, all) in points {
            let y = scale.y_of(ratio(*some, *all), height);
            html.text(&format!("{:.2},{y:.2} ", middle(series, *index)));
        }
        html.raw("\"/>");
    };
    line("bridge", &points);
    for run in runs(&points) {
        line("", run);
    }
    html.raw("</svg>");
    for (index, some, all) in &points {
        let when = series.buckets.get(*index);
        let when = when.map(|bucket| bucket_words(series, bucket));
        html.raw("<circle")
            .attribute("class", format_args!("dot {colour}"))
            .raw(" r=\"3\"")
            .length("cx", middle(series, *index), "%")
            .length("cy", scale.y_of(ratio(*some, *all), height), "")
            .raw("><title>")
            .text(&format!(
                "{}: {} ({} of {})",
                when.unwrap_or_default(),
                part(*some, *all),
                number(*some),
                number(*all)
            ))
            .raw("</title></circle>");
    }
    time_labels(html, series, height, MAX_LABELS_OF_HALF);
    html.raw("</svg></div>");
}

/// Points next to each other; across buckets without any there is only a faint line.
fn runs(points: &[(usize, u64, u64)]) -> impl Iterator<Item = &[(usize, u64, u64)]> {
    points.chunk_by(|(one, _, _), (other, _, _)| one + 1 == *other)
}

/// How long things took, on a logarithmic scale, with the times most did not exceed.
pub(super) fn spread(html: &mut Html, times: &Durations, title: &Title<'_>, noun: &str) {
    let (Some(first), Some(last)) = (times.spans.first(), times.spans.last()) else {
        return;
    };
    let most = times.spans.iter().map(|span| span.count).max();
    let scale = Scale::of_counts(most.unwrap_or_default());
    let height = HEIGHT - 40.0;
    // One span more on each side, so that a single bar is one.
    let start = log(first.from_us.max(1)) - 0.3;
    let end = log(last.to_us) + 0.3;
    let x_of =
        |micros: u64| ((log(micros.max(1)) - start) / (end - start) * 100.0).clamp(0.0, 100.0);
    let marks_room = 44.0;
    html.raw("<div class=\"plot\">");
    html.raw("<div class=\"beside\">");
    scale.labels(html, height, BELOW);
    html.raw("</div>");
    title.open(html, marks_room + height + TOP + BELOW);
    html.raw("<svg x=\"0\" width=\"100%\" class=\"inner\"")
        .length("y", marks_room, "")
        .length("height", height + TOP + BELOW, "")
        .raw(">");
    scale.lines(html, height);
    for span in &times.spans {
        let (left, right) = (x_of(span.from_us), x_of(span.to_us));
        let top = scale.y_of(ratio(span.count, 1), height);
        html.raw("<rect class=\"times\"")
            .length("x", left + 0.25, "%")
            .length("y", top, "")
            .length("width", (right - left - 0.5).max(0.5), "%")
            .length("height", TOP + height - top, "")
            .raw("><title>")
            .text(&format!(
                "{} to {}: {} ({})",
                duration(span.from_us),
                duration(span.to_us),
                count(span.count, noun),
                part(span.count, times.count)
            ))
            .raw("</title></rect>");
    }
    tick_labels(html, start, end, height);
    html.raw("</svg>");
    marks(html, times, x_of, marks_room + TOP + height);
    html.raw("</svg></div>");
}

/// Round times below a logarithmic scale.
fn tick_labels(html: &mut Html, start: f64, end: f64, height: f64) {
    const ROUND: [(u64, &str); 14] = [
        (1, "1 µs"),
        (10, "10 µs"),
        (100, "100 µs"),
        (1_000, "1 ms"),
        (10_000, "10 ms"),
        (100_000, "100 ms"),
        (1_000_000, "1 s"),
        (10_000_000, "10 s"),
        (60_000_000, "1 min"),
        (600_000_000, "10 min"),
        (3_600_000_000, "1 h"),
        (36_000_000_000, "10 h"),
        (604_800_000_000, "7 days"),
        (6_048_000_000_000, "70 days"),
    ];
    let mut place = 0;
    for (micros, label) in ROUND {
        let x = (log(micros) - start) / (end - start) * 100.0;
        if (0.0..=100.0).contains(&x) {
            let minor = if place % 2 == 1 { "minor" } else { "" };
            place += 1;
            let side = match x {
                x if x < 4.0 => "start",
                x if x > 96.0 => "end",
                _ => "mid",
            };
            html.raw("<line class=\"tick\"")
                .length("x1", x, "%")
                .length("x2", x, "%")
                .length("y1", TOP + height, "")
                .length("y2", TOP + height + 5.0, "")
                .raw("/><text")
                .attribute("class", format_args!("{side} {minor}"))
                .length("x", x, "%")
                .length("y", TOP + height + 20.0, "")
                .around(">", label, "</text>");
        }
    }
}

/// Lines where half, 95 and 99 of a hundred lie, their names on steps so that none covers another.
fn marks(html: &mut Html, times: &Durations, x_of: impl Fn(u64) -> f64, bottom: f64) {
    let known = [
        ("p50", times.p50_us),
        ("p95", times.p95_us),
        ("p99", times.p99_us),
    ];
    let mut y = 12.0;
    for (name, micros) in known {
        let Some(micros) = micros else { continue };
        let x = x_of(micros);
        html.raw("<line class=\"mark\"")
            .length("x1", x, "%")
            .length("x2", x, "%")
            .length("y1", y - 9.0, "")
            .length("y2", bottom, "")
            .raw("/><text")
            .attribute("class", if x > 76.0 { "mark end" } else { "mark start" })
            .length("x", x, "%")
            .attribute("dx", if x > 76.0 { "-5" } else { "5" })
            .length("y", y, "")
            .around("><tspan class=\"name\">", name, "</tspan> ")
            .text(&duration(micros))
            .raw("</text>");
        y += 15.0;
    }
}

/// The decimal logarithm. That of the C library would have every start of the program load its
/// mathematics, and a hook is a start of the program.
fn log(micros: u64) -> f64 {
    use std::f64::consts::{LOG10_2, LOG10_E};
    let whole = micros.max(1).ilog2();
    // At least 1 and less than 2, so that a few terms are enough.
    let rest = ratio(micros.max(1), 1 << whole);
    let step = (rest - 1.0) / (rest + 1.0);
    let (mut power, mut sum) = (step, 0.0);
    for term in 0..12_u32 {
        sum += power / f64::from(2 * term + 1);
        power *= step * step;
    }
    f64::from(whole) * LOG10_2 + 2.0 * sum * LOG10_E
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_one() {
        for micros in [1, 2, 3, 7, 10, 999, 1_000, 65_535, 3_600_000_000, u64::MAX] {
            let difference = log(micros) - ratio(micros, 1).log10();
            assert!(difference.abs() < 1e-9, "{micros}: {difference}");
        }
        assert_eq!(log(0).to_bits(), 0.0_f64.to_bits());
    }
}
