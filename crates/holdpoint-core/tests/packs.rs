//! The shipped rules against their own examples.

use holdpoint_core::{ExampleCall, Pack, Surroundings, matching_rules, understand_alone};

fn matched(example: &ExampleCall, packs: &[Pack]) -> Vec<String> {
    let around = Surroundings {
        workspace: Some("/work/app"),
        directory: None,
        home: Some("/home/dev"),
        lookup: &example.facts,
        can_contain: false,
    };
    let action = understand_alone(example.call.clone(), &around);
    matching_rules(&action, packs, &around)
}

#[test]
fn every_rule_matches_what_it_should_and_nothing_else() {
    let mut failures = 0;
    let mut rules = 0;
    for pack in Pack::shipped().unwrap() {
        for rule in pack.descriptions() {
            rules += 1;
            for example in rule.matches {
                let found = matched(example, &[]);
                if !found.iter().any(|id| id == rule.id) {
                    failures += 1;
                    eprintln!(
                        "{}: does not match `{}` (found {found:?})",
                        rule.id, example.text
                    );
                }
            }
            for example in rule.not_matches {
                if matched(example, &[]).iter().any(|id| id == rule.id) {
                    failures += 1;
                    eprintln!("{}: matches `{}`", rule.id, example.text);
                }
            }
        }
    }
    assert!(rules >= 250, "only {rules} rules");
    assert_eq!(failures, 0, "examples that fail");
}

#[test]
fn the_example_of_a_pack_of_ones_own_does_what_it_says() {
    let text = include_str!("../../../examples/rules/team.toml");
    let packs = [Pack::own("team.toml", text).unwrap()];
    for rule in packs[0].descriptions() {
        for example in rule.matches {
            let found = matched(example, &packs);
            assert!(
                found.iter().any(|id| id == rule.id),
                "{}: {}",
                rule.id,
                example.text
            );
        }
        for example in rule.not_matches {
            let found = matched(example, &packs);
            assert!(
                !found.iter().any(|id| id == rule.id),
                "{}: {}",
                rule.id,
                example.text
            );
        }
    }
}
