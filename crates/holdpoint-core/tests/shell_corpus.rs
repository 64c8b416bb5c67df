//! The shell corpus as it stands: every command of `corpus/shell` gets the verdict, and by the
//! rule, that its case wants. All that fail are reported together; `HOLDPOINT_CASE=text` runs the
//! commands whose file, rule or text contains the text.

#![allow(
    clippy::disallowed_methods,
    reason = "a test reads its cases; what it tests does not"
)]

mod shell;

use std::fmt::Write as _;

use holdpoint_core::{Decision, Finding, Method, Verdict};

use crate::shell::{Case, Outcome, corpus, default_policy};

/// Fewer commands than this mean that files were lost, not that everything is well.
const LEAST_COMMANDS: usize = 1500;

#[test]
fn every_command_is_judged_as_its_case_wants() -> Outcome<()> {
    let wanted = std::env::var("HOLDPOINT_CASE").unwrap_or_default();
    let policy = default_policy()?;
    let (mut commands, mut allowed, mut failed) = (0, 0, 0);
    let mut failures = String::new();
    for case in &corpus()? {
        for command in &case.commands {
            let rule = case.rule.as_deref().unwrap_or_default();
            if ![&case.topic, rule, command]
                .iter()
                .any(|text| text.contains(&wanted))
            {
                continue;
            }
            commands += 1;
            allowed += usize::from(case.verdict == Verdict::Allow);
            let decision = case.judged(command, &policy)?;
            if !holds(case, &decision) {
                failed += 1;
                report(&mut failures, case, command, &decision)?;
            }
        }
    }
    assert_eq!(
        failed, 0,
        "of {commands} commands these fail:\n\n{failures}"
    );
    if wanted.is_empty() {
        assert!(commands >= LEAST_COMMANDS, "only {commands} commands");
        assert!(
            allowed * 3 >= commands,
            "only {allowed} of {commands} must be allowed"
        );
    }
    Ok(())
}

/// Whether the verdict is the case's and its rule among those that want it. Several rules may, and
/// which of them is named first is no matter of right and wrong.
fn holds(case: &Case, decision: &Decision) -> bool {
    let found = |rule: &str| {
        let speaks = |one: &Finding| one.rule == rule && one.verdict == case.verdict;
        decision.findings.iter().any(speaks)
    };
    let rule_found = match &case.rule {
        Some(rules) => rules.split(" | ").any(found),
        None => true,
    };
    // What protects the gate says so, for no policy can switch it off.
    let own = case.verdict == Verdict::Deny
        && case
            .rule
            .as_ref()
            .is_some_and(|rule| rule.starts_with("agents."));
    decision.verdict == case.verdict
        && rule_found
        && (!own || decision.method == Method::SelfProtection)
}

fn report(text: &mut String, case: &Case, command: &str, got: &Decision) -> std::fmt::Result {
    let wanted = case.rule.as_deref().unwrap_or("no rule");
    let found: Vec<_> = got.findings.iter().map(|one| one.rule.as_str()).collect();
    writeln!(
        text,
        "{}: {}\n    wanted {} by {wanted}\n    got    {} by {} ({}; found: {})",
        case.topic,
        command.replace('\n', "\n        "),
        case.verdict.as_str(),
        got.verdict.as_str(),
        got.rule.as_deref().unwrap_or("no rule"),
        got.method.as_str(),
        found.join(", "),
    )
}
