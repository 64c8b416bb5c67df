//! Versions of packages, compared as their ecosystems do as far as advisories need it.
//!
//! One order does for all: numbers between dots, zeros at the end without weight, words such as `alpha`,
//! `rc` and `dev` before the release and `post` after it. What cannot be read is `None`, and whoever asks
//! counts it as affected.

use std::cmp::Ordering;

/// A version that can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Version {
    epoch: u64,
    numbers: Vec<u64>,
    /// What stands before the release, or after it; none is the release itself.
    suffix: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Number(u64),
    Word(String),
}

impl Version {
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches(['v', 'V', '=']);
        // What stands behind `+` was built from the same source, `+incompatible` included.
        let text = text.split('+').next()?;
        let (epoch, text) = match text.split_once('!') {
            Some((epoch, rest)) => (epoch.parse().ok()?, rest),
            None => (0, text),
        };
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let (release, rest) = text.split_at_checked(end)?;
        let mut numbers: Vec<u64> = Vec::new();
        for number in release.trim_end_matches('.').split('.') {
            numbers.push(number.parse().ok()?);
        }
        while numbers.len() > 1 && numbers.last() == Some(&0) {
            numbers.pop();
        }
        Some(Self {
            epoch,
            numbers,
            suffix: parts(rest),
        })
    }

    /// Before the release, the release itself, or after it.
    fn stage(&self) -> i8 {
        match self.suffix.first() {
            None => 0,
            Some(Part::Word(word))
                if matches!(word.as_str(), "post" | "rev" | "r" | "patch" | "pl") =>
            {
                1
            }
            Some(_) => -1,
        }
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.epoch
            .cmp(&other.epoch)
            .then_with(|| self.numbers.cmp(&other.numbers))
            .then_with(|| self.stage().cmp(&other.stage()))
            .then_with(|| self.suffix.cmp(&other.suffix))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// `-rc.1`, `rc1` and `.rc1` are the same two parts.
fn parts(rest: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut word = String::new();
    let is_digits = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let end = |word: &mut String, parts: &mut Vec<Part>| {
        let written = std::mem::take(word);
        match written.parse() {
            _ if written.is_empty() => {}
            Ok(number) => parts.push(Part::Number(number)),
            Err(_) => parts.push(Part::Word(ranked(&written))),
        }
    };
    for c in rest.chars() {
        let breaks = !c.is_ascii_alphanumeric();
        let turns = !word.is_empty() && c.is_ascii_digit() != is_digits(&word);
        if breaks || turns {
            end(&mut word, &mut parts);
        }
        if !breaks {
            word.extend(c.to_lowercase());
        }
    }
    end(&mut word, &mut parts);
    parts
}

/// The short words of Python for the long ones, so that both sort alike; `dev` comes before all.
fn ranked(word: &str) -> String {
    match word {
        "a" => "alpha",
        "b" => "beta",
        "c" | "pre" | "preview" => "rc",
        "dev" => "",
        word => word,
    }
    .to_owned()
}

/// Whether a version meets a requirement as Cargo writes them: `>= 1.2, < 2`, `^1.2`, `~1.2`, `= 1.0`, `1.*`.
/// None if either cannot be read.
pub(super) fn meets(version: &Version, requirement: &str) -> Option<bool> {
    for one in requirement.split(',') {
        if !meets_one(version, one.trim())? {
            return Some(false);
        }
    }
    Some(true)
}

fn meets_one(version: &Version, requirement: &str) -> Option<bool> {
    if requirement == "*" {
        return Some(true);
    }
    for (sign, holds) in [
        (">=", Ordering::is_ge as fn(Ordering) -> bool),
        ("<=", Ordering::is_le),
        (">", Ordering::is_gt),
        ("<", Ordering::is_lt),
        ("=", Ordering::is_eq),
    ] {
        if let Some(bound) = requirement.strip_prefix(sign) {
            return Some(holds(version.cmp(&Version::read(bound)?)));
        }
    }
    let (tilde, written) = match requirement.strip_prefix('~') {
        Some(written) => (true, written),
        None => (false, requirement.trim_start_matches('^')),
    };
    let written = written.trim().trim_end_matches(".*");
    let low = Version::read(written)?;
    let count = written.split(['-', '+']).next()?.split('.').count();
    let mut high: Vec<u64> = low.numbers.clone();
    high.resize(count.max(3), 0);
    // The part that must not change: for `^0.2` the second, for `~1.2` and `1.2.*` the last but one that is named.
    let fixed = match tilde || requirement.ends_with(".*") {
        true => count.min(2).saturating_sub(1),
        false => high
            .iter()
            .take(count)
            .position(|number| *number != 0)
            .unwrap_or(count - 1),
    };
    for (place, number) in high.iter_mut().enumerate() {
        match place.cmp(&fixed) {
            Ordering::Less => {}
            Ordering::Equal => *number = number.saturating_add(1),
            Ordering::Greater => *number = 0,
        }
    }
    while high.len() > 1 && high.last() == Some(&0) {
        high.pop();
    }
    let high = Version {
        epoch: 0,
        numbers: high,
        suffix: Vec::new(),
    };
    Some(*version >= low && *version < high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        Version::read(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn versions_are_ordered_as_people_mean_them() {
        for pair in [
            ["1.2.3", "1.2.10"],
            ["1.0.0-alpha.1", "1.0.0-alpha.2"],
            ["1.0.0-alpha", "1.0.0-beta"],
            ["1.0.0-rc.1", "1.0.0"],
            ["2.0rc1", "2.0"],
            ["2.0.dev1", "2.0a1"],
            ["2.0", "2.0.post1"],
            ["2.0.post1", "2.0.1"],
            [
                "v0.0.0-20200101000000-abcdef",
                "v0.0.0-20210101000000-abcdef",
            ],
            ["9.9", "1!1.0"],
        ] {
            assert!(version(pair[0]) < version(pair[1]), "{pair:?}");
        }
        for pair in [
            ["1.0", "1.0.0"],
            ["v1.2.3", "1.2.3+build"],
            ["2.0a1", "2.0-alpha.1"],
        ] {
            assert_eq!(
                version(pair[0]).cmp(&version(pair[1])),
                Ordering::Equal,
                "{pair:?}"
            );
        }
        for text in ["", "main", "git+https://x", "1..2", "99999999999999999999"] {
            assert!(Version::read(text).is_none(), "{text}");
        }
    }

    #[test]
    fn requirements_are_those_of_cargo() {
        for (requirement, yes, no) in [
            (">= 1.2.3, < 2", "1.9.9", "2.0.0"),
            ("^1.2.3", "1.3.0", "2.0.0"),
            ("^0.2.3", "0.2.9", "0.3.0"),
            ("^0.0.3", "0.0.3", "0.0.4"),
            ("~1.2.3", "1.2.9", "1.3.0"),
            ("1.2", "1.9.0", "1.1.0"),
            ("= 1.0.1", "1.0.1", "1.0.2"),
            ("> 1.0", "1.0.1", "1.0.0"),
        ] {
            assert_eq!(
                meets(&version(yes), requirement),
                Some(true),
                "{requirement} {yes}"
            );
            assert_eq!(
                meets(&version(no), requirement),
                Some(false),
                "{requirement} {no}"
            );
        }
        assert_eq!(meets(&version("1.0"), ">= x"), None);
    }
}
