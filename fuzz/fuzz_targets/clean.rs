//! Whatever a text holds, it is cleaned: the same the second time, in bounded size, with nothing left
//! to find and nothing lost but what was taken out.
#![no_main]

use holdpoint_core::{Policy, Profile};
use holdpoint_text::clean::{Cleaner, Mode, clean, strip};
use holdpoint_text::inspection::{Detectors, Family, Terms};
use holdpoint_text::{Origin, Severity};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

fuzz_target!(|text: &str| {
    let policy = Policy::profile(Profile::Obra).expect("shipped profiles read");
    for (terms, whose) in [
        (Terms::default(), Detectors::All),
        (policy.inspection_terms(), Detectors::Obra),
    ] {
        for mode in [Mode::Remove, Mode::Redact, Mode::Escape] {
            let once = clean(text, Origin::Tool, mode, &terms);
            let twice = clean(&once.text, Origin::Tool, mode, &terms);
            assert_eq!(once.text, twice.text, "{mode:?} of {text:?}");
            assert!(once.text.len() <= text.len() * 40 + 64, "it grows");
            // Obra's own words in place of a task are what it looks for, and its quotes hide nothing.
            if whose == Detectors::All || mode == Mode::Remove {
                let left = terms.inspect(&once.text, Origin::Tool).severity();
                assert!(left < Some(Severity::Medium), "left: {:?}", once.text);
            }
            let found = &once.inspection.findings;
            // Characters nobody sees go wherever they stand.
            let is_taken = |severity, family| {
                severity >= Severity::Medium || matches!(family, Family::Template | Family::Hidden)
            };
            if !found.iter().any(|it| is_taken(it.severity, it.family)) {
                assert_eq!(once.text, text);
            }
            if mode == Mode::Remove {
                assert!(is_left_of(&once.text, text), "{:?} of {text:?}", once.text);
            }
        }
    }

    let stripped = strip(text);
    assert_eq!(strip(&stripped), stripped);
    assert!(is_left_of(&stripped, text));

    let terms = Terms::default();
    let fenced = clean(text, Origin::Web, Mode::Fence([7; 16]), &terms).text;
    let fence = fenced.lines().next_back().unwrap_or_default();
    assert!(fenced.contains(text) && fenced.matches(fence).count() == 1);

    let half = text.floor_char_boundary(text.len() / 2);
    let (one, other) = text.split_at(half);
    let value = json!([one, {text: other}]);
    let cleaner = Cleaner::new(&terms, Mode::Redact);
    let once = cleaner.json(&value, Origin::Tool);
    let left = terms.inspect_json(&once.value, Origin::Tool).severity();
    assert!(left < Some(Severity::Medium), "left: {}", once.value);
});

/// Whether one text is made of characters of another in the same order.
fn is_left_of(left: &str, whole: &str) -> bool {
    let mut rest = whole.chars();
    left.chars().all(|c| rest.any(|other| other == c))
}
