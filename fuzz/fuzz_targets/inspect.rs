//! Whatever a text holds, what is found in it lies in it, in order, and is the same a second time;
//! as one text, as fields of a JSON value, and under everybody's detectors.
#![no_main]

use holdpoint_core::{Policy, Profile};
use holdpoint_text::Origin;
use holdpoint_text::inspection::Terms;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

fuzz_target!(|text: &str| {
    let mut all = vec![Terms::default()];
    for profile in [Profile::Obra, Profile::Rrclaw] {
        let policy = Policy::profile(profile).expect("shipped profiles read");
        all.push(policy.inspection_terms());
    }
    for terms in &all {
        for origin in [Origin::Tool, Origin::User, Origin::Description] {
            let inspection = terms.inspect(text, origin);
            let mut before = 0;
            for finding in &inspection.findings {
                assert!(finding.span.start >= before, "out of order");
                assert!(text.get(finding.span.clone()).is_some(), "not in the text");
                before = finding.span.start;
            }
            let worst = inspection.severity();
            let action = worst.map(|worst| terms.action(origin, worst));
            assert_eq!(inspection.action, action.unwrap_or_default());
            assert!((0.0..=1.0).contains(&inspection.score));
            assert_eq!(inspection, terms.inspect(text, origin));
        }
    }

    let half = text.floor_char_boundary(text.len() / 2);
    let (one, other) = text.split_at(half);
    let value = json!({"one": one, "list": [{"other": other}, 1, null], text: {}});
    let found = all[0].inspect_json(&value, Origin::Tool);
    for (field, finding) in &found.findings {
        if !field.is_key {
            let leaf = value.pointer(&field.pointer).and_then(Value::as_str);
            let leaf = leaf.expect("a pointer to a text");
            assert!(leaf.get(finding.span.clone()).is_some(), "not in the field");
        }
    }
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        let _ = all[0].admit_json(&value, Origin::Web);
    }
});
