//! What of a held call is another now than when it was shown, in words: for the person who says yes, and for the model.

use std::collections::BTreeMap;

/// In front of a state that is said as it is: where a remote leads, which commit a ref is.
pub const SAID: &str = "is ";

/// The state of what is not there.
pub const ABSENT: &str = "absent";

/// The most changes that are named.
const MAX_NAMED: usize = 5;

/// What changed, as a part of a sentence; none where no part is known to be another.
pub fn changed(
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
) -> Option<String> {
    // An earlier version kept no parts.
    if before.is_empty() {
        return None;
    }
    let mut changes: Vec<String> = Vec::new();
    for (name, state) in before {
        match now.get(name) {
            Some(other) if other == state => {}
            Some(other) => changes.push(match (other.strip_prefix(SAID), other.as_str()) {
                (Some(value), _) => format!("{name} is now {value}"),
                (None, ABSENT) => format!("{name} is gone"),
                (None, _) if state == ABSENT => format!("{name} is there now"),
                (None, _) => format!("{name} changed"),
            }),
            None => changes.push(format!("{name} is no longer part of it")),
        }
    }
    let new = now.iter().filter(|(name, _)| !before.contains_key(*name));
    changes.extend(new.map(|(name, state)| match state.strip_prefix(SAID) {
        Some(value) => format!("{name} is now {value}"),
        None => format!("{name} is part of it now"),
    }));
    // That something is worded otherwise on the card is no news beside what made it so.
    if changes.len() > 1 {
        changes.retain(|change| !change.starts_with("what is shown of it"));
    }
    let more = changes.len().saturating_sub(MAX_NAMED);
    changes.truncate(MAX_NAMED);
    let last = (more > 0).then(|| format!("and {more} more"));
    let all: Vec<String> = changes.into_iter().chain(last).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// The sentence for a call that is another than the one that was `shown` or `released`.
pub fn sentence(
    when: &str,
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
) -> String {
    let what = changed(before, now).unwrap_or_else(|| {
        "the policy, a file it names or a fact a rule asks about is another now".into()
    });
    format!(
        "It changed after it was {when}: {what}. Make the call again to have it looked at as it is"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(all: &[(&str, &str)]) -> BTreeMap<String, String> {
        let all = all.iter();
        all.map(|(name, state)| ((*name).to_owned(), (*state).to_owned()))
            .collect()
    }

    #[test]
    fn each_change_is_named() {
        let before = parts(&[
            ("`a.sh`", "11"),
            ("`b.sh`", "22"),
            ("`c.sh`", "absent"),
            ("`origin`", "is https://example.com/a"),
            ("what is shown of it", "1"),
        ]);
        let now = parts(&[
            ("`a.sh`", "12"),
            ("`b.sh`", "absent"),
            ("`c.sh`", "33"),
            ("`d.sh`", "44"),
            ("`origin`", "is https://example.org/b"),
            ("what is shown of it", "2"),
        ]);
        let told = changed(&before, &now).unwrap();
        assert_eq!(
            told,
            "`a.sh` changed, `b.sh` is gone, `c.sh` is there now, `origin` is now https://example.org/b, `d.sh` is part of it now"
        );
        assert_eq!(changed(&before, &before), None);
        // What an earlier version stored has no parts to compare.
        assert!(sentence("shown", &BTreeMap::new(), &now).contains("the policy, a file it names"));
    }
}
