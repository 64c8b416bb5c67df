//! What could be changed in a policy, going by what was asked, denied and never used.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use holdpoint_core::Policy;
use holdpoint_core::policy::RuleList;

use super::candidates::{MIN_APPROVED, allow_rules};
use super::gather::Gathering;
use super::summary::{Advice, AskedTool, Denial, Fired, OwnRule, Ranked, Unused};
use super::trial::Trial;

/// How often something must have been denied to be worth a word: twice may be chance.
const MIN_DENIED: u64 = 3;

/// The most lines of each list of advice: more at once is followed by nobody. The heaviest come first.
const MAX_LISTED_DENIALS: usize = 10;
const MAX_LISTED_TOOLS: usize = 5;
const MAX_LISTED_OWN: usize = 30;

/// All advice there is.
pub(super) fn advice(gathered: &Gathering, trial: &Trial) -> Advice {
    let allow = allow_rules(&gathered.groups, trial, MIN_APPROVED);
    let patterns: Vec<&String> = allow.iter().flat_map(|one| &one.patterns).collect();
    let snippet = (!patterns.is_empty()).then(|| trial.snippet(&patterns));
    Advice {
        allow,
        snippet,
        unused: unused(gathered, trial),
        asked: asked(gathered),
        denials: denials(gathered, Some(trial.policy())),
        problem: None,
    }
}

/// What can be said without a policy to try rules on.
pub(super) fn without_policy(gathered: &Gathering, problem: String) -> Advice {
    Advice {
        asked: asked(gathered),
        denials: denials(gathered, None),
        problem: Some(problem),
        ..Advice::default()
    }
}

fn asked(gathered: &Gathering) -> Vec<AskedTool> {
    let mut tools: Vec<AskedTool> = gathered
        .tools
        .ranked()
        .into_iter()
        .filter(|(_, verdicts)| verdicts.held() > 0)
        .map(|(tool, verdicts)| AskedTool {
            tool: tool.to_owned(),
            asks: verdicts.held(),
            calls: verdicts.total(),
        })
        .collect();
    tools.sort_by_key(|one| Reverse(one.asks));
    tools.truncate(MAX_LISTED_TOOLS);
    tools
}

fn denials(gathered: &Gathering, policy: Option<&Policy>) -> Ranked<Denial> {
    let mut all: Vec<Denial> = gathered
        .rules
        .ranked()
        .into_iter()
        .filter(|(_, decided)| decided.verdicts.deny >= MIN_DENIED)
        .map(|(rule, decided)| Denial {
            rule: rule.to_owned(),
            count: decided.verdicts.deny,
            sessions: decided.sessions.count(),
            reason: decided.reason.clone(),
            instead: policy
                .and_then(|policy| policy.guard(rule))
                .map(|guard| guard.instead.to_owned())
                .or_else(|| decided.instead.clone())
                .filter(|instead| !instead.is_empty()),
        })
        .collect();
    all.sort_by_key(|one| Reverse(one.count));
    let total = u64::try_from(all.len()).unwrap_or(u64::MAX);
    all.truncate(MAX_LISTED_DENIALS);
    Ranked { total, listed: all }
}

fn unused(gathered: &Gathering, trial: &Trial) -> Unused {
    let policy = trial.policy();
    if gathered.matched.forgot() {
        // Some rules that fired are no longer known, so none can be called unused.
        return Unused::default();
    }
    let mut packs: Vec<Fired> = Vec::new();
    let mut own: Vec<OwnRule> = Vec::new();
    for guard in policy.guards().filter(|guard| guard.in_force.is_some()) {
        let fired = gathered.matched.has(guard.id);
        match guard.place {
            Some(_) if fired => {}
            Some(place) => own.push(OwnRule {
                rule: guard.id.to_owned(),
                list: format!("pack {}", guard.pack),
                file: trial.shortened(place),
            }),
            None => {
                if packs.last().is_none_or(|last| last.pack != guard.pack) {
                    packs.push(Fired {
                        pack: guard.pack.to_owned(),
                        title: guard.title.to_owned(),
                        rules: 0,
                        fired: 0,
                    });
                }
                if let Some(pack) = packs.last_mut() {
                    pack.rules += 1;
                    pack.fired += u64::from(fired);
                }
            }
        }
    }
    for layer in policy.layers() {
        let profile = layer
            .profile
            .and_then(|profile| Policy::profile(profile).ok());
        let of_profile = profile.as_ref().and_then(|policy| policy.layers().first());
        let lists = [
            (
                "deny",
                &layer.deny_list,
                of_profile.map(|one| &one.deny_list),
            ),
            ("ask", &layer.ask_list, of_profile.map(|one| &one.ask_list)),
            (
                "allow",
                &layer.allow_list,
                of_profile.map(|one| &one.allow_list),
            ),
        ];
        for (list, written, shipped) in lists {
            let shipped: BTreeSet<String> = shipped
                .into_iter()
                .flat_map(entries)
                .map(|(_, rule)| rule)
                .collect();
            own.extend(
                entries(written)
                    .filter(|(_, rule)| !shipped.contains(rule) && !gathered.matched.has(rule))
                    .map(|(key, rule)| OwnRule {
                        rule,
                        list: format!("{list}.{key}"),
                        file: trial.shortened(&layer.name),
                    }),
            );
        }
    }
    let total = u64::try_from(own.len()).unwrap_or(u64::MAX);
    own.truncate(MAX_LISTED_OWN);
    Unused {
        packs,
        own: Ranked { total, listed: own },
    }
}

/// The entries of a list, as findings call them.
fn entries(list: &RuleList) -> impl Iterator<Item = (&'static str, String)> {
    let tools = list.tools.iter().map(|tool| ("tools", tool.clone()));
    let patterns = list.patterns.iter().map(|glob| ("patterns", glob.clone()));
    let arguments = list
        .arguments
        .values()
        .flatten()
        .flat_map(|(name, values)| {
            let values = values.iter();
            values.map(move |value| ("arguments", format!("{name}={value}")))
        });
    tools.chain(patterns).chain(arguments)
}
