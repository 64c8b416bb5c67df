//! Whatever a text holds, it is read: in bounded size, and every part of every view leads back into it.
#![no_main]

use holdpoint_text::normal;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let reading = normal::read(text);
    let whole: usize = reading.views.iter().map(|view| view.text.len()).sum();
    assert!(
        whole <= text.len() * 4 + (64 << 10),
        "the views are too long"
    );
    assert!(reading.views.len() <= 64, "there are too many views");
    for view in &reading.views {
        let mut ends: Vec<usize> = view.text.char_indices().map(|(at, _)| at).collect();
        ends.push(view.text.len());
        let all = view.original(0..view.text.len());
        assert!(text.get(all.clone()).is_some(), "not in the text: {all:?}");
        for (start, end) in ends.iter().zip(ends.iter().skip(1)) {
            let span = view.original(*start..*end);
            assert!(
                text.get(span.clone()).is_some(),
                "not in the text: {span:?}"
            );
            let _ = view.disguises_of(*start..*end);
        }
    }
    for mark in &reading.marks {
        assert!(
            text.get(mark.span.clone()).is_some(),
            "not in the text: {mark:?}"
        );
        assert!(
            mark.count > 0 && !mark.span.is_empty(),
            "of nothing: {mark:?}"
        );
    }
    let mut end = 0;
    for mark in normal::unseen(text) {
        assert!(mark.span.start >= end, "they overlap: {mark:?}");
        assert!(
            text.get(mark.span.clone()).is_some(),
            "not in the text: {mark:?}"
        );
        end = mark.span.end;
    }
});
