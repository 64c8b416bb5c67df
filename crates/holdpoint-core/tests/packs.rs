//! The shipped rules against their own examples.

use holdpoint_core::paths::{Entry, Lookup};
use holdpoint_core::{Pack, Surroundings, ToolCall, matching_rules, understand_alone};

/// A disk with nothing on it.
struct Empty;

impl Lookup for Empty {
    fn entry(&self, _path: &str) -> Entry {
        Entry::Missing
    }
}

fn matched(call: &ToolCall) -> Vec<String> {
    let around = Surroundings {
        workspace: Some("/work/app"),
        directory: None,
        home: Some("/home/dev"),
        lookup: &Empty,
        can_contain: false,
    };
    matching_rules(&understand_alone(call.clone(), &around), &[])
}

#[test]
fn every_rule_matches_what_it_should_and_nothing_else() {
    let mut failures = 0;
    let mut rules = 0;
    for pack in Pack::shipped().unwrap() {
        for rule in pack.descriptions() {
            rules += 1;
            for (text, call) in &rule.matches {
                let found = matched(call);
                if !found.iter().any(|id| id == rule.id) {
                    failures += 1;
                    eprintln!("{}: does not match `{text}` (found {found:?})", rule.id);
                }
            }
            for (text, call) in &rule.not_matches {
                if matched(call).iter().any(|id| id == rule.id) {
                    failures += 1;
                    eprintln!("{}: matches `{text}`", rule.id);
                }
            }
        }
    }
    assert!(rules >= 250, "only {rules} rules");
    assert_eq!(failures, 0, "examples that fail");
}
