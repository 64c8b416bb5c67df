//! Why a verdict is what it is, in sentences.

use holdpoint_engine::{Decision, DefaultPolicy, Finding, Method, Policy, SessionState, Verdict};

use super::matched::owner;

pub(super) fn sentences(
    decision: &Decision,
    policy: &Policy,
    session: &SessionState,
) -> Vec<String> {
    let mut sentences = vec![decisive(decision, policy, session)];
    let others = decision
        .findings
        .iter()
        .filter(|finding| Some(&finding.rule) != decision.rule.as_ref());
    let allows = decision
        .findings
        .iter()
        .any(|finding| finding.verdict == Verdict::Allow);
    match decision.verdict {
        Verdict::Deny if decides(decision).is_some() => {
            let also = distinct(others.filter(|finding| finding.verdict == Verdict::Deny));
            if also > 0 {
                sentences.push(format!("{} too.", refuse(also)));
            }
            sentences.push(if allows {
                "Another rule allows it, but a refusal stands whatever allows the call.".to_owned()
            } else {
                "A refusal stands: no allow rule and no session turns it into anything else.".into()
            });
        }
        Verdict::Ask | Verdict::Review if decides(decision).is_some() => {
            sentences.push(
                "No rule refuses it, and no allow rule that counts covers this part.".to_owned(),
            );
        }
        Verdict::Contain => sentences
            .push("Nobody is asked: whatever it does, it does inside the sandbox.".to_owned()),
        Verdict::Deny | Verdict::Review | Verdict::Ask | Verdict::Notify | Verdict::Allow => {}
    }
    if parts(decision) > 1 {
        sentences.push(
            "Every command is judged by itself, and the strictest answer is the call's.".to_owned(),
        );
    }
    sentences
}

/// The finding that decided.
fn decides(decision: &Decision) -> Option<&Finding> {
    decision.findings.iter().find(|finding| {
        Some(&finding.rule) == decision.rule.as_ref() && finding.verdict == decision.verdict
    })
}

fn decisive(decision: &Decision, policy: &Policy, session: &SessionState) -> String {
    if let Some(finding) = decides(decision) {
        let who = match finding.layer {
            None => match policy.guard(&finding.rule) {
                Some(guard) if guard.place.is_some() => {
                    format!("rule `{}` of your pack `{}`", guard.id, guard.pack)
                }
                Some(guard) => format!("rule `{}` of the shipped pack `{}`", guard.id, guard.pack),
                None => format!("`{}` ({})", finding.rule, owner(finding)),
            },
            Some(layer) => format!("`{}` in the {} layer", finding.rule, layer.as_str()),
        };
        let wants = match finding.verdict {
            Verdict::Deny => "refuses",
            Verdict::Review => "wants a person to review",
            Verdict::Ask => "wants a person asked about",
            Verdict::Contain => "wants the sandbox around",
            Verdict::Notify => "wants a person told about",
            Verdict::Allow => "allows",
        };
        let what = finding.part.as_deref().unwrap_or("the call");
        let changed = policy
            .guard(&finding.rule)
            .filter(|guard| finding.layer.is_none() && guard.verdict != finding.verdict)
            .map(|guard| format!(" The pack itself says {}.", guard.verdict.as_str()));
        return format!("The {who} {wants} `{what}`.{}", changed.unwrap_or_default())
            .replace("The `", "`");
    }
    match decision.method {
        Method::NoObjection => "No rule speaks about it, and the default is to stay out of the \
             way: the agent's own permission system decides."
            .into(),
        Method::Default => {
            let default = session.default.or(policy.standing().default);
            let word = default.map_or("allow", DefaultPolicy::as_str);
            let whose = if session.default.is_some() {
                "this session's"
            } else {
                "the"
            };
            let place = match &decision.stated_in {
                Some(place) => format!(" ({})", place.words()),
                None => String::new(),
            };
            format!(
                "No rule speaks about some part of it, so {whose} default counts: {word}{place}."
            )
        }
        Method::Autonomy => {
            let word = policy
                .standing()
                .autonomy
                .map_or("", |level| level.as_str());
            format!("No rule speaks about it, so the autonomy counts: {word}.")
        }
        Method::AllowAll | Method::TurnSuspension | Method::IdleSuspension => {
            "It would have been asked about, and questions are suspended in this session.".into()
        }
        Method::Error => "The call or the policy could not be read, and what is not understood \
             does not run."
            .into(),
        Method::Whitelist
        | Method::Blacklist
        | Method::SessionWhitelist
        | Method::SessionBlacklist
        | Method::Sanitization
        | Method::UserApproved
        | Method::UserDenied
        | Method::UserComment
        | Method::Timeout
        | Method::NoChannel
        | Method::PreValidation
        | Method::Guard
        | Method::FileGuard
        | Method::SelfProtection
        | Method::Injection
        | Method::Stopped
        | Method::ToolPolicy => decision.reason.clone(),
    }
}

fn refuse(rules: usize) -> String {
    match rules {
        1 => "1 other rule refuses it".to_owned(),
        more => format!("{more} other rules refuse it"),
    }
}

fn distinct<'f>(findings: impl Iterator<Item = &'f Finding>) -> usize {
    let mut rules: Vec<&str> = findings.map(|finding| finding.rule.as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    rules.len()
}

/// How many parts of the call rules speak about.
fn parts(decision: &Decision) -> usize {
    let mut parts: Vec<Option<[usize; 2]>> = decision
        .findings
        .iter()
        .map(|finding| finding.span)
        .collect();
    parts.sort_unstable();
    parts.dedup();
    parts.len()
}
