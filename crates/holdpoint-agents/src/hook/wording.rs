//! A decision in words, short enough for a model and plain enough for a person: which rule, why,
//! which part, what instead.

use holdpoint_core::{Decision, Method, Verdict};

use holdpoint_core::text::escape_for_display;
use serde_json::{Map, Value};

/// The most characters of one answer: what a dialog shows and a model minds. More is cut; the ledger has the whole reason.
const MAX_ANSWER: usize = 1900;

/// Why a call was judged as it was.
pub(crate) fn explained(decision: &Decision) -> String {
    // What a person wants the model to read stands alone, as they wrote it (J-43).
    if decision.method == Method::UserComment {
        return escape_for_display(&decision.reason, MAX_ANSWER);
    }
    if let Some(opening) = by_a_person(decision) {
        let reason = sentence(&decision.reason, 1500);
        return escape_for_display(&format!("{opening}{reason}"), MAX_ANSWER);
    }
    let opening = match decision.verdict {
        Verdict::Allow => "Holdpoint allows this",
        Verdict::Notify => "Holdpoint noticed this",
        Verdict::Contain => "Holdpoint runs this inside the sandbox",
        Verdict::Ask => "Holdpoint asks about this",
        Verdict::Review => "Holdpoint wants this reviewed",
        Verdict::Deny => "Holdpoint denied this",
    };
    let mut text = opening.to_owned();
    let reason = sentence(&decision.reason, 600);
    if let Some(rule) = &decision.rule {
        let rule = escape_for_display(rule, 120);
        // Most reasons quote the rule.
        if !reason.contains(&rule) {
            text.push_str(&format!(" ({rule})"));
        }
    }
    text.push_str(": ");
    text.push_str(&reason);
    if let Some(place) = &decision.stated_in {
        text.push_str(&format!(" Default: {}", sentence(&place.words(), 500)));
    }
    let deciding = decision
        .findings
        .first()
        .filter(|finding| Some(&finding.rule) == decision.rule.as_ref());
    if let Some(part) = deciding.and_then(|finding| finding.part.as_deref()) {
        text.push_str(&format!(" Part: {}", sentence(part, 200)));
    }
    if let Some(instead) = &decision.instead {
        text.push_str(&format!(" Instead: {}", sentence(instead, 600)));
    }
    escape_for_display(&text, MAX_ANSWER)
}

/// The same for a hook that says no by its exit code, in the words of the safety hooks (H-06, H-08).
pub(crate) fn blocked(decision: &Decision, explained: &str) -> String {
    let deciding = decision
        .findings
        .first()
        .filter(|finding| Some(&finding.rule) == decision.rule.as_ref());
    let (Some(finding), Some(rule)) = (deciding, &decision.rule) else {
        return escape_for_display(&format!("\u{1f6d1} BLOCKED: {explained}"), MAX_ANSWER);
    };
    let rule = escape_for_display(rule, 120);
    let part = finding.part.as_deref().unwrap_or_default();
    // A part of a command line has a place in it; what is left is a path that a tool was given.
    let opening = match finding.span {
        None if decision.method == Method::FileGuard => {
            let path = escape_for_display(part, 200);
            format!("Modifications to '{path}' are never allowed. Matched pattern: '{rule}'")
        }
        _ => {
            let part = escape_for_display(part, MAX_BLOCKED_COMMAND);
            format!("Dangerous command: '{part}'. Matched pattern: '{rule}'")
        }
    };
    escape_for_display(
        &format!("\u{1f6d1} BLOCKED: {opening}. {explained} {BY_HAND}"),
        MAX_ANSWER,
    )
}

/// The most of a command that is shown in such a denial (H-08).
const MAX_BLOCKED_COMMAND: usize = 60;

/// What a person does who wants it all the same.
const BY_HAND: &str = "If your user really wants this, they can run it themselves in a terminal.";

/// How an answer starts that a person gave, or that nobody gave in time; none for what rules decided.
fn by_a_person(decision: &Decision) -> Option<&'static str> {
    match (decision.verdict, decision.method) {
        (Verdict::Deny, Method::UserDenied) => Some("Holdpoint denied this, as a person decided: "),
        (Verdict::Deny, Method::Timeout) => Some("Holdpoint denied this for now: "),
        (Verdict::Allow, Method::UserApproved) => Some("Holdpoint released this: "),
        (Verdict::Deny, Method::NoChannel) => {
            Some("Holdpoint denied this, because nobody can be asked: ")
        }
        _ => None,
    }
}

/// Why a call is refused that could not be judged.
pub(crate) fn refused(problem: &str) -> String {
    format!("{REFUSED}{}", sentence(problem, 800))
}

/// Why changed settings are not to be gone by.
pub(crate) fn not_gone_by(problem: &str) -> String {
    let problem = sentence(problem, 800);
    format!(
        "Holdpoint stopped a change of the settings, because nothing would be guarded: {problem}"
    )
}

/// Why a result is kept back that could not be looked at.
pub(crate) fn kept_back(problem: &str) -> String {
    let problem = sentence(problem, 800);
    format!(
        "Holdpoint kept back what this tool returned, because it could not look at it: {problem}"
    )
}

/// Why a message goes on that could not be looked at.
pub(crate) fn unseen(problem: &str) -> String {
    let problem = sentence(problem, 800);
    format!("Holdpoint could not look at this message: {problem} Calls of tools are still judged.")
}

/// Why a call does not run of which nobody could be asked here.
pub(crate) fn cannot_ask(reason: &str) -> String {
    let reason = sentence(reason, 1500);
    format!("Holdpoint denied this, because nobody can be asked here. {reason} {TO_APPROVE}")
}

/// What a person does who wants such a call to run.
const TO_APPROVE: &str = "To approve such calls, have your user run `holdpoint serve`, then make \
                          the identical call again; `holdpoint explain` tells them which rule would allow it.";

/// Why a changed call does not run where it cannot be changed.
pub(crate) const CHANGED: &str = "Holdpoint denied this: a person changed its arguments, and they \
                                  cannot be handed over here.";

/// What is said of a result that is kept back without a word on why.
pub(crate) const WITHHELD: &str = "Holdpoint withheld what this tool returned.";

/// What is added where the result stays as it is.
pub(crate) const STILL_THERE: &str = "It could not be taken out and is still there.";

/// What the model is told of a call that ran as a person changed it (J-44).
pub(crate) const RAN_CHANGED: &str = "The user changed the arguments of this call before it ran. \
                                      What ran is not what you asked for: go by the result.";

/// What the model is told of a call that runs inside the sandbox.
pub(crate) const RAN_CONTAINED: &str = "Holdpoint runs this command inside a sandbox: it can change the project and reads \
                                        the system, but other files, the network and other processes are out of its \
                                        reach. If it fails for that, do not try to get around it: say so to the user.";

/// What the model is told of a call that runs in its safe form.
pub(crate) fn rewritten(input: Option<&Map<String, Value>>) -> String {
    let line = input.and_then(|input| input.get("command")?.as_str());
    let line = escape_for_display(line.unwrap_or_default(), 600);
    format!(
        "Holdpoint runs this command in its safe form: `{line}`. What ran is not what you asked for: go by the result, and write it \
         so yourself from now on."
    )
}

/// What rules tell the model of a call that runs; none if nothing.
pub(crate) fn told(decision: &Decision) -> Option<String> {
    let texts: Vec<String> = (decision.tell.iter())
        .map(|text| sentence(text, 600))
        .collect();
    (!texts.is_empty())
        .then(|| escape_for_display(&format!("Holdpoint: {}", texts.join(" ")), MAX_ANSWER))
}

/// How a refusal without a decision starts.
pub(crate) const REFUSED: &str = "Holdpoint denied this, because it could not judge it: ";

fn sentence(text: &str, most: usize) -> String {
    let mut text = escape_for_display(text.trim(), most);
    if !text.ends_with(['.', '!', '?', '…']) {
        text.push('.');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdpoint_core::{Finding, Method, Risk};

    fn denial(rule: &str, reason: &str, part: &str, instead: Option<&str>) -> Decision {
        Decision {
            verdict: Verdict::Deny,
            rule: Some(rule.into()),
            instead: instead.map(str::to_owned),
            findings: vec![Finding {
                rule: rule.into(),
                verdict: Verdict::Deny,
                risk: Risk::High,
                reason: reason.into(),
                part: Some(part.into()),
                span: None,
                method: Method::Guard,
                layer: None,
            }],
            ..Decision::error(reason)
        }
    }

    #[test]
    fn a_denial_says_which_rule_why_which_part_and_what_instead() {
        let decision = denial(
            "git.force-push-shared",
            "it rewrites a branch others work on",
            "git push -f origin main",
            Some("push a new branch and open a pull request"),
        );
        assert_eq!(
            explained(&decision),
            "Holdpoint denied this (git.force-push-shared): it rewrites a branch others work on. \
             Part: git push -f origin main. Instead: push a new branch and open a pull request."
        );
    }

    #[test]
    fn a_rule_the_reason_quotes_is_not_said_twice() {
        let decision = denial("rm *", "Command matches pattern: rm *", "rm x", None);
        assert_eq!(
            explained(&decision),
            "Holdpoint denied this: Command matches pattern: rm *. Part: rm x."
        );
    }

    #[test]
    fn text_from_outside_is_cut_and_drives_no_terminal() {
        let long = "\x1b[31m\u{202e}".repeat(5000);
        let text = explained(&denial(&long, &long, &long, Some(&long)));
        assert!(text.chars().count() < 2000, "{}", text.len());
        assert!(!text.contains(['\x1b', '\u{202e}']));
        assert!(refused(&long).chars().all(|c| !c.is_control()));
    }
}
