//! What a person could do to get another verdict. What can be tried has been, and is left out where it changes nothing.

use super::trial::{Trial, typed};
use holdpoint_core::Action;
use holdpoint_engine::{Authority, Decision, Finding, Guard, Method, Part, Policy, Trust, Verdict};

/// What would change a decision, the shortest way first.
pub(super) fn for_decision(trial: &Trial<'_>, decision: &Decision) -> Vec<String> {
    let policy = trial.policy;
    let verdict = decision.verdict;
    let mut changes = Vec::new();
    match decision.verdict {
        Verdict::Deny => {
            let refusing = decision
                .findings
                .iter()
                .filter(|finding| finding.verdict == Verdict::Deny);
            let mut switched: Vec<&str> = Vec::new();
            for finding in refusing {
                let change = match removal(finding, policy) {
                    Some(how) => format!("{}: {how}", finding.rule),
                    None => {
                        switched.push(&finding.rule);
                        continue;
                    }
                };
                if !changes.contains(&change) {
                    changes.push(change);
                }
            }
            switched.dedup();
            let by_default = changes.is_empty() && switched.is_empty();
            if trial.switching_helps(&switched, "ask", verdict) {
                changes.extend(asking(&switched));
            }
            if by_default {
                changes.extend(allowing(trial));
                changes.push("state another `defaultPolicy` in the layer that owns it".into());
            } else {
                if let Some(instead) = &decision.instead {
                    changes.insert(0, format!("do it another way: {instead}"));
                }
                changes.push("no allow rule, session rule or suspension overrides a deny".into());
            }
        }
        Verdict::Review => {
            changes
                .push("a person must review it; no session rule or suspension answers that".into());
            match deciding_guard(decision, policy) {
                Some(guard) if trial.switching_helps(&[guard.id], "ask", verdict) => {
                    changes.push(format!("{}: {}", guard.id, switching(&guard, "ask")));
                }
                Some(guard) => {
                    changes.extend(stated(&guard).map(|how| format!("{}: {how}", guard.id)))
                }
                None => changes
                    .push("to let it run, allow it in the layer that asks for the review".into()),
            }
        }
        Verdict::Contain => {
            if let Some(patterns) = trial.session_patterns() {
                changes.push(format!("to let it run as it is: {}", typed(&patterns)));
            }
            changes.push(
                "to be asked instead, set `opaque` to `ask`, or the rule under `guards`".into(),
            );
        }
        Verdict::Ask => {
            for part in &trial.uncovered {
                changes.push(format!("nothing allows `{part}`"));
            }
            let hidden = decision
                .rule
                .as_deref()
                .is_some_and(|rule| rule.starts_with("shell."));
            if decision.method == Method::Guard && hidden {
                changes.push("write the command so that it says what it runs".into());
            } else if deciding_layer(decision) == Some(Authority::Managed) {
                changes.push("the managed layer asks; only its own rules answer that".into());
            } else {
                changes.extend(allowing(trial));
            }
            if let Some(guard) = deciding_guard(decision, policy)
                && (stated(&guard).is_some() || trial.switching_helps(&[guard.id], "off", verdict))
            {
                changes.push(format!("{}: {}", guard.id, switching(&guard, "off")));
            }
            changes.push("to refuse it, add it to `deny` in a policy file".into());
        }
        Verdict::Allow | Verdict::Notify => {
            let how = if decision.method == Method::NoObjection {
                "to be asked instead, add it to `ask`, or use a stricter profile"
            } else {
                "to be asked or refuse it, add it to `ask` or `deny`"
            };
            changes.push(how.into());
        }
    }
    let untrusted = policy
        .layers()
        .iter()
        .find(|layer| layer.trust == Trust::Untrusted);
    if let Some(layer) = untrusted.filter(|layer| trial.trusting_helps(layer, verdict)) {
        changes.push(format!(
            "to let {} allow things, run `holdpoint trust` after reading it",
            layer.name
        ));
    }
    changes
}

/// The layer of the rule that decided.
fn deciding_layer(decision: &Decision) -> Option<Authority> {
    let first = decision.findings.first()?;
    first
        .layer
        .filter(|_| Some(&first.rule) == decision.rule.as_ref())
}

/// The rule of a pack that decided.
fn deciding_guard<'p>(decision: &Decision, policy: &'p Policy) -> Option<Guard<'p>> {
    let first = decision.findings.first()?;
    (first.layer.is_none() && Some(&first.rule) == decision.rule.as_ref())
        .then(|| policy.guard(&first.rule))
        .flatten()
}

/// What takes a refusal away; none for a rule of a pack any layer may switch.
fn removal(finding: &Finding, policy: &Policy) -> Option<String> {
    let file = finding.layer.and_then(|authority| {
        policy
            .layers()
            .iter()
            .find(|layer| layer.authority == authority)
            .map(|layer| layer.name.clone())
    });
    let how = match (finding.method, file) {
        (Method::SelfProtection, _) => {
            "it protects Holdpoint itself; only a person does this, by hand".into()
        }
        (Method::SessionBlacklist, _) => {
            "clear this session's rules (`holdpoint permissions clear`)".into()
        }
        (Method::Error, _) => "send a call that can be read".into(),
        (_, Some(profile)) if profile.starts_with("profile `") => {
            format!("{profile} has this rule; use another one, or a file of your own")
        }
        (_, Some(file)) => format!("remove or narrow this rule in {file}"),
        (_, None) => match policy.guard(&finding.rule) {
            Some(guard) => return stated(&guard),
            None => "change the call".into(),
        },
    };
    Some(how)
}

/// How rules of packs that refuse become rules that ask.
fn asking(rules: &[&str]) -> Option<String> {
    // Enough to show how it is written.
    // Enough to see the kind; the rest is an ellipsis.
    const MAX_NAMED: usize = 4;
    let switches: Vec<String> = rules
        .iter()
        .take(MAX_NAMED)
        .map(|rule| format!("\"{rule}\": \"ask\""))
        .collect();
    let more = if rules.len() > MAX_NAMED { ", …" } else { "" };
    (!rules.is_empty()).then(|| {
        format!(
            "to be asked instead, a policy file may say \"guards\": {{\"rules\": {{{}{more}}}}}",
            switches.join(", ")
        )
    })
}

/// The layer that has spoken of a rule of a pack, if one has.
fn stated(guard: &Guard<'_>) -> Option<String> {
    let switch = guard
        .switches
        .iter()
        .find(|switch| switch.trusted && switch.counts)?;
    Some(format!("{} sets it, under `{}`", switch.layer, switch.key))
}

/// How a rule of a pack is switched, and by whom.
fn switching(guard: &Guard<'_>, word: &str) -> String {
    stated(guard).unwrap_or_else(|| {
        format!(
            "a policy file may say \"guards\": {{\"rules\": {{\"{}\": \"{word}\"}}}}",
            guard.id
        )
    })
}

/// The commands no allow rule covers.
pub(super) fn uncovered(action: &Action, decision: &Decision) -> Vec<String> {
    let Ok(parts) = holdpoint_core::parts(action) else {
        return Vec::new();
    };
    let covered = |part: &Part| {
        decision.findings.iter().any(|finding| {
            finding.verdict.runs() && finding.span.is_none_or(|span| span == part.span)
        })
    };
    parts
        .iter()
        .filter(|part| !covered(part))
        .map(|part| part.text.clone())
        .take(8)
        .collect()
}

/// What lets the call run: in its session, or else in a policy file. Said is what was found to do so.
fn allowing(trial: &Trial<'_>) -> Vec<String> {
    if let Some(patterns) = trial.session_patterns() {
        return vec![format!("to allow it in this session: {}", typed(&patterns))];
    }
    match trial.file_patterns() {
        Some(patterns) => {
            let patterns: Vec<String> = patterns.iter().map(|one| format!("{one:?}")).collect();
            vec![format!(
                "to allow it, your policy may say \"allow\": {{\"patterns\": [{}]}}; no session rule does",
                patterns.join(", ")
            )]
        }
        None => vec!["no rule that allows this very call answers it".into()],
    }
}
