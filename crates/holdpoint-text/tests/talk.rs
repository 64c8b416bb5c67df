//! How often texts that attack nobody are taken for attacks: talk about attacks, ordinary texts, and what
//! stands in this repository.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test reads its cases, shows what it measured and fails loudly"
)]

use std::fmt;
use std::path::{Path, PathBuf};

use holdpoint_text::inspection::{Family, Inspection, inspect};
use holdpoint_text::{Origin, Severity};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Passages {
    kind: Vec<Kind>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kind {
    name: String,
    origin: Origin,
    passages: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn passages(file: &str) -> Vec<Kind> {
    let path = root().join("corpus/inspection").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    toml::from_str::<Passages>(&text).unwrap().kind
}

/// How many texts were inspected, and which of them were taken for attacks.
#[derive(Default)]
struct Tally {
    all: usize,
    alarms: Vec<Alarm>,
}

struct Alarm {
    place: String,
    inspection: Inspection,
}

impl Tally {
    fn add(&mut self, place: &str, text: &str, origin: Origin) {
        self.all += 1;
        let inspection = inspect(text, origin);
        if inspection.severity() >= Some(Severity::Medium) {
            let shown: String = text.trim().chars().take(70).collect();
            self.alarms.push(Alarm {
                place: format!("{place}: {shown:?}"),
                inspection,
            });
        }
    }

    /// How many alarms are that severe or more.
    fn at(&self, severity: Severity) -> usize {
        let severe = |alarm: &&Alarm| alarm.inspection.severity() >= Some(severity);
        self.alarms.iter().filter(severe).count()
    }

    /// The same without what only the classifier says.
    fn by_rules(&self, severity: Severity) -> usize {
        let severe = |alarm: &&Alarm| {
            let mut findings = alarm.inspection.findings.iter();
            findings.any(|it| it.family != Family::Statistical && it.severity >= severity)
        };
        self.alarms.iter().filter(severe).count()
    }

    /// Fails if more than so many of a thousand are alarms, at medium and at high: by rules alone, and with the
    /// classifier; at critical, where a text is withheld, more than five. One text is always granted at high.
    fn holds(&self, by_rules: [usize; 2], in_all: [usize; 2]) {
        println!("{self}");
        assert!(self.at(Severity::Critical) * 1000 <= 5 * self.all, "{self}");
        let counts = [Severity::Medium, Severity::High];
        let most = |thousandth: usize, at: usize| {
            (thousandth * self.all).max(1000 * usize::from(at == 1 && thousandth > 0))
        };
        for (at, severity) in counts.into_iter().enumerate() {
            assert!(
                self.by_rules(severity) * 1000 <= most(by_rules[at], at),
                "{} at {severity} by rules:\n{self}",
                self.by_rules(severity)
            );
            assert!(
                self.at(severity) * 1000 <= most(in_all[at], at),
                "{} at {severity}:\n{self}",
                self.at(severity)
            );
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (medium, high) = (self.at(Severity::Medium), self.at(Severity::High));
        writeln!(
            f,
            "{} texts, {medium} at medium or above, {high} at high or above",
            self.all
        )?;
        for alarm in &self.alarms {
            let worst = alarm
                .inspection
                .findings
                .iter()
                .max_by_key(|it| it.severity);
            let (severity, rule) = worst.map_or(("none", ""), |it| (it.severity.name(), &it.rule));
            writeln!(f, "  {severity} {rule} {}", alarm.place)?;
        }
        Ok(())
    }
}

#[test]
fn talk_about_attacks_is_seldom_taken_for_one() {
    let mut tally = Tally::default();
    for kind in passages("talk.toml") {
        for text in &kind.passages {
            tally.add(&kind.name, text, kind.origin);
        }
    }
    assert!(tally.all >= 200, "{} passages", tally.all);
    tally.holds([47, 5], [50, 10]);
}

#[test]
fn ordinary_texts_are_never_taken_for_attacks() {
    let mut tally = Tally::default();
    for kind in passages("ordinary.toml") {
        for text in &kind.passages {
            tally.add(&kind.name, text, kind.origin);
        }
    }
    tally.holds([0, 0], [12, 0]);
}

/// What people and agents who work on this repository read. The cases of attacks themselves are left out:
/// they are attacks.
#[test]
fn this_repository_is_seldom_taken_for_an_attack() {
    const ATTACKS: [&str; 8] = [
        "corpus/cli/clean.toml",
        "corpus/cli/scan.toml",
        "corpus/hook/prompts.toml",
        "corpus/hook/results.toml",
        "corpus/inspection",
        "fuzz/dictionaries",
        "fuzz/seeds",
        "tools/train/synth",
    ];
    // What was built, installed or found by fuzzing here is not part of it.
    const MADE: [&str; 4] = ["target", "node_modules", "artifacts", "fuzz/corpus"];
    const CHUNK: usize = 2048;
    let root = root();
    let mut tally = Tally::default();
    let mut waiting = vec![root.clone()];
    while let Some(path) = waiting.pop() {
        let place = path
            .strip_prefix(&root)
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let hidden = name.starts_with('.') && path != root;
        let is_made = MADE.contains(&&*name) || MADE.contains(&place.as_str());
        if hidden || is_made || ATTACKS.contains(&place.as_str()) {
            continue;
        }
        if path.is_dir() {
            let mut entries: Vec<_> = std::fs::read_dir(&path)
                .unwrap()
                .map(|it| it.unwrap().path())
                .collect();
            entries.sort();
            waiting.extend(entries);
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            for (number, chunk) in chunks(&text, CHUNK).enumerate() {
                tally.add(&format!("{place} #{number}"), chunk, Origin::File);
            }
        }
    }
    assert!(tally.all > 500, "{} chunks", tally.all);
    tally.holds([20, 5], [32, 21]);
}

/// A text in pieces of whole lines, each at least so long where there is that much.
fn chunks(text: &str, size: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.floor_char_boundary(size.min(rest.len()));
        let end = rest
            .get(end..)
            .and_then(|tail| tail.find('\n'))
            .map_or(rest.len(), |line| end + line + 1);
        let (chunk, tail) = rest.split_at(end.min(rest.len()));
        rest = tail;
        Some(chunk)
    })
}
