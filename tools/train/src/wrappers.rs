//! How much of an attack is still seen inside a wrapper: talk about attacks, a fence, a test, a fixture, a list of words, names
//! of programs.

use holdpoint_text::classify::Model;
use holdpoint_text::{Origin, Severity};

use crate::data::Labelled;
use crate::evaluate::inspect;

/// A way of wrapping a text up.
type Wrapper = (&'static str, fn(&str) -> String);

/// The wrappers.
pub const WRAPPERS: [Wrapper; 16] = [
    ("bare", |text| text.to_owned()),
    ("fence", |text| format!("```\n{text}\n```\n")),
    ("talk and fence", |text| {
        format!(
            "Attackers may place text such as this in a page:\n\n```\n{text}\n```\n\nA model that reads it may follow it.\n"
        )
    }),
    ("talk and quote", |text| {
        format!(
            "## Prompt injection\n\nA typical example of an injection attack is the following:\n\n> {}\n\nFilters look for such phrases.\n",
            text.replace('\n', "\n> ")
        )
    }),
    ("unit test", |text| {
        format!(
            "import pytest\nfrom guard import detect\n\n\ndef test_detects_prompt_injection():\n    text = {}\n    result = detect(text)\n    assert result.is_attack\n",
            literal(text)
        )
    }),
    ("YAML fixture", |text| {
        format!(
            "cases:\n  - name: injection\n    input: {}\n    expected: blocked\n  - name: harmless\n    input: \"What time is it?\"\n    expected: allowed\n",
            literal(text)
        )
    }),
    ("YAML block", |text| {
        format!(
            "# fixtures for the filter\n- id: 7\n  label: attack\n  prompt: |\n    {}\n  expect: refuse\n",
            text.replace('\n', "\n    ")
        )
    }),
    ("JSON array of words", |text| {
        let words: Vec<String> = words(text).iter().map(|word| literal(word)).collect();
        format!("{{\"tokens\": [{}]}}", words.join(", "))
    }),
    ("one word a line", |text| words(text).join("\n")),
    ("table of words", |text| {
        let rows: Vec<String> = words(text)
            .chunks(4)
            .map(|row| format!("| {} |", row.join(" | ")))
            .collect();
        rows.join("\n")
    }),
    ("columns", |text| {
        let rows: Vec<String> = words(text)
            .chunks(4)
            .map(|row| {
                let cells: Vec<String> = row.iter().map(|word| format!("{word:<14}")).collect();
                cells.concat().trim_end().to_owned()
            })
            .collect();
        rows.join("\n")
    }),
    ("swapped letters", |text| {
        let words: Vec<String> = text.split(' ').map(swapped).collect();
        words.join(" ")
    }),
    ("snake_case", |text| names(text).join("_")),
    ("kebab-case", |text| names(text).join("-")),
    ("camelCase", |text| {
        let name = names(text);
        let name = name
            .iter()
            .enumerate()
            .map(|(at, word)| match word.chars().next() {
                Some(first) if at > 0 => first.to_uppercase().chain(word.chars().skip(1)).collect(),
                _ => word.clone(),
            });
        name.collect()
    }),
    ("snake_case function", |text| {
        format!("def {}():\n    pass\n", names(text).join("_"))
    }),
];

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

fn names(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let words = words.map(|word| word.replace('\'', "").to_lowercase());
    words.filter(|word| !word.is_empty()).collect()
}

/// A word with two of its inner letters in each other's place, a pair in four.
fn swapped(word: &str) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let inner = letters.len().saturating_sub(1);
    if letters.len() > 3 && letters.iter().take(inner).all(|c| c.is_alphabetic()) {
        for at in (1..inner.saturating_sub(1)).step_by(4) {
            letters.swap(at, at + 1);
        }
    }
    letters.into_iter().collect()
}

fn literal(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// What is found by a wrapper's name: texts, medium or worse, high, and those that mark the session.
pub type Found = (&'static str, [usize; 4]);

/// What is found by wrapper of the attacks among some texts that are found at high as they are: of every eleventh, and of at most so
/// many.
pub fn measure<'t>(
    model: &Model<'_>,
    texts: impl Iterator<Item = &'t Labelled>,
    most: usize,
    shown: usize,
) -> Vec<Found> {
    let is_bare = |it: &&Labelled| {
        (40..600).contains(&it.text.len())
            && inspect(model, &it.text, Origin::Tool).severity >= Some(Severity::High)
    };
    let bare: Vec<&Labelled> = texts
        .filter(|it| it.label == 1 && it.source != "own_synth")
        .step_by(11)
        .filter(is_bare)
        .take(most)
        .collect();
    let of = |(name, wrap): &Wrapper| {
        let mut counts = [bare.len(), 0, 0, 0];
        let mut missed = 0;
        for it in &bare {
            let wrapped = wrap(&it.text);
            let seen = inspect(model, &wrapped, Origin::Tool);
            let severity = seen.severity;
            counts[1] += usize::from(severity >= Some(Severity::Medium));
            counts[2] += usize::from(severity >= Some(Severity::High));
            counts[3] += usize::from(seen.marks);
            if severity < Some(Severity::Medium) && missed < shown {
                missed += 1;
                eprintln!(
                    "missed in {name}: {:?}",
                    wrapped.get(..400).unwrap_or(&wrapped)
                );
            }
        }
        (*name, counts)
    };
    WRAPPERS.iter().map(of).collect()
}
