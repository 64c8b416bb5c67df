//! What of a held call is another now than when it was shown, in words: for the person who says yes, and for the model.

use std::collections::BTreeMap;

use holdpoint_core::text::escape_for_display;

/// In front of a state that is said as it is: where a remote leads, which commit a ref is.
pub const SAID: &str = "is ";

/// The state of what is not there.
pub const ABSENT: &str = "absent";

/// The most changes that are named.
const MAX_NAMED: usize = 5;

/// The most lines of each side of a difference that are said, and the most characters of each: a sentence has room for no more, and
/// the file itself is there to be read.
const MAX_LINES: usize = 3;
const MAX_LINE: usize = 120;

/// What changed, as a part of a sentence; none where no part is known to be another. `difference` says what is another in a file, as
/// far as it is known.
pub fn changed(
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
    difference: &dyn Fn(&str) -> Option<String>,
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
                (None, _) => match difference(name) {
                    Some(difference) => format!("{name} changed ({difference})"),
                    None => format!("{name} changed"),
                },
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
    difference: &dyn Fn(&str) -> Option<String>,
) -> String {
    let what = changed(before, now, difference).unwrap_or_else(|| {
        "the policy, a file it names or a fact a rule asks about is another now".into()
    });
    format!(
        "It changed after it was {when}: {what}. Make the call again to have it looked at as it is"
    )
}

/// What is another between two texts without secrets, in a line: from the first line that differs to the last. None where nothing
/// that may be said does.
pub fn difference(before: &str, now: &str) -> Option<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), now.lines().collect());
    let same_start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()).saturating_sub(same_start);
    let ends = old.iter().rev().zip(new.iter().rev());
    let same_end = ends.take(rest).take_while(|(a, b)| a == b).count();
    let mut said: Vec<String> = Vec::new();
    for (sign, lines) in [('-', &old), ('+', &new)] {
        let end = lines.len().saturating_sub(same_end);
        let lines = lines.get(same_start..end).unwrap_or_default();
        let shown = lines.iter().take(MAX_LINES);
        said.extend(shown.map(|line| format!("{sign} `{}`", plain(line))));
        if let more @ 1.. = lines.len().saturating_sub(MAX_LINES) {
            said.push(format!("{sign} {more} more"));
        }
    }
    let line = same_start.saturating_add(1);
    (!said.is_empty()).then(|| format!("line {line}: {}", said.join(" ")))
}

/// A line of a file as it is said within a sentence: it cannot hide anything there, nor end the quotes it stands in.
fn plain(line: &str) -> String {
    escape_for_display(line.trim(), MAX_LINE).replace('`', "\\u{60}")
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
        let told = changed(&before, &now, &|_| None).unwrap();
        assert_eq!(
            told,
            "`a.sh` changed, `b.sh` is gone, `c.sh` is there now, `origin` is now https://example.org/b, `d.sh` is part of it now"
        );
        assert_eq!(changed(&before, &before, &|_| None), None);
        // What an earlier version stored has no parts to compare.
        let nothing = sentence("shown", &BTreeMap::new(), &now, &|_| None);
        assert!(nothing.contains("the policy, a file it names"));
        let told = sentence("shown", &before, &now, &|name| {
            (name == "`a.sh`").then(|| "line 1: - `x` + `y`".into())
        });
        assert!(
            told.contains("`a.sh` changed (line 1: - `x` + `y`), `b.sh` is gone"),
            "{told}"
        );
    }

    #[test]
    fn a_difference_says_the_lines_that_are_others_and_no_more() {
        for (before, now, said) in [
            ("a\nb\nc\n", "a\nx\nc\n", Some("line 2: - `b` + `x`")),
            ("a\n", "a\nb\n", Some("line 2: + `b`")),
            ("a\na\n", "a\n", Some("line 2: - `a`")),
            ("", "a", Some("line 1: + `a`")),
            ("a\n", "a", None),
            ("", "", None),
            (
                "1\n2\n3\n4\n5\n",
                "x\u{1b}[2J\n",
                Some("line 1: - `1` - `2` - `3` - 2 more + `x\\u{1b}[2J`"),
            ),
            // Somebody else's text neither hides in the sentence nor leaves its quotes.
            (
                "",
                "a\u{202e}b\u{200b}c` is fine, `d\n",
                Some("line 1: + `a\\u{202e}b\\u{200b}c\\u{60} is fine, \\u{60}d`"),
            ),
        ] {
            assert_eq!(
                difference(before, now).as_deref(),
                said,
                "{before:?} {now:?}"
            );
        }
        let long = difference("", &"é".repeat(5000)).unwrap();
        assert!(long.chars().count() < 200 && long.ends_with("…`"), "{long}");
    }
}
