//! Made-up texts: attacks by kind, and for each kind harmless texts of the same vocabulary.
//!
//! The texts grow from the grammars under `synth/`, which are our own words. In a template
//! `{one|two|}` is a choice, `{name}` a slot, `{{` and `}}` are braces. A family is a list of
//! templates, all attacks or all harmless; most of its texts stand in a carrier (a comment, a mail, a
//! result of a tool), and attacks and their mirrors use the same carriers, so that a carrier tells
//! nothing. The same seed gives the same texts.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::Deserialize;

/// One made-up text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The text.
    pub text: String,
    /// Whether it attacks.
    pub attack: bool,
    /// What kind of text it is.
    pub family: String,
    /// Its language.
    pub lang: String,
    /// The grammar it grew from: attacks and their mirrors share one.
    pub group: String,
    /// Where what counts stands in its carrier, in bytes.
    pub payload: Range<usize>,
}

/// Every text the grammars give from a seed, each once.
pub fn generate(seed: u64) -> Vec<Sample> {
    let shared = Shared::read();
    let mut samples = Vec::new();
    for (place, source) in GRAMMARS.iter().enumerate() {
        let grammar: Grammar = toml::from_str(source).expect("the grammars are read by a test");
        let mut random = Random::of(seed, place);
        for family in &grammar.family {
            family.grow(&grammar, &shared, &mut random, &mut samples);
        }
    }
    samples
}

/// What all grammars share.
struct Shared {
    slots: Slots,
    carriers: BTreeMap<String, Carrier>,
}

type Slots = BTreeMap<String, Vec<String>>;

impl Shared {
    fn read() -> Self {
        Self {
            slots: toml::from_str(WORDS).expect("the words are read by a test"),
            carriers: toml::from_str(CARRIERS).expect("the carriers are read by a test"),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Grammar {
    group: String,
    #[serde(default = "english")]
    lang: String,
    #[serde(default)]
    slots: Slots,
    family: Vec<Family>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    name: String,
    attack: bool,
    /// How many texts to grow, at most.
    count: usize,
    /// Where they stand; without any, each stands alone.
    #[serde(default)]
    carriers: Vec<String>,
    templates: Vec<String>,
}

/// What a payload stands in.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Carrier {
    #[serde(default)]
    fit: Fit,
    templates: Vec<String>,
}

/// How a payload is made to fit.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Fit {
    /// As it is.
    #[default]
    Plain,
    /// On one line.
    Line,
    /// On one line inside double quotes.
    Quoted,
}

impl Family {
    fn grow(
        &self,
        grammar: &Grammar,
        shared: &Shared,
        random: &mut Random,
        samples: &mut Vec<Sample>,
    ) {
        let words = Words {
            own: &grammar.slots,
            shared: &shared.slots,
        };
        let mut seen = BTreeSet::new();
        // Templates take turns, so that a short one speaks as often as one with many choices.
        for (turn, template) in self.templates.iter().cycle().enumerate() {
            if seen.len() >= self.count || turn >= 4 * self.count {
                break;
            }
            let payload = words.grown(template, random);
            let carrier = random
                .pick(&self.carriers)
                .and_then(|name| shared.carriers.get(name));
            let (text, payload) = match carrier {
                None => (payload.clone(), 0..payload.len()),
                Some(carrier) => carrier.around(&payload, &words, random),
            };
            if seen.insert(text.clone()) {
                samples.push(Sample {
                    text,
                    attack: self.attack,
                    family: self.name.clone(),
                    lang: grammar.lang.clone(),
                    group: grammar.group.clone(),
                    payload,
                });
            }
        }
    }
}

impl Carrier {
    fn around(
        &self,
        payload: &str,
        words: &Words<'_>,
        random: &mut Random,
    ) -> (String, Range<usize>) {
        let payload = match self.fit {
            Fit::Plain => payload.to_owned(),
            Fit::Line => payload.split_whitespace().collect::<Vec<_>>().join(" "),
            Fit::Quoted => quoted(payload),
        };
        let template = random.pick(&self.templates).map_or("", String::as_str);
        let (before, after) = template.split_once("{payload}").unwrap_or((template, ""));
        let mut text = words.grown(before, random);
        let start = text.len();
        text.push_str(&payload);
        let end = text.len();
        text.push_str(&words.grown(after, random));
        (text, start..end)
    }
}

/// A text as it stands inside double quotes.
fn quoted(text: &str) -> String {
    let mut inside = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => inside.push_str("\\\""),
            '\\' => inside.push_str("\\\\"),
            '\n' => inside.push_str("\\n"),
            c => inside.push(c),
        }
    }
    inside
}

/// The slots a template may name, a grammar's own before those of all.
struct Words<'g> {
    own: &'g Slots,
    shared: &'g Slots,
}

impl Words<'_> {
    fn grown(&self, template: &str, random: &mut Random) -> String {
        let mut text = String::new();
        self.grow(template, DEPTH, random, &mut text);
        text
    }

    fn grow(&self, template: &str, depth: usize, random: &mut Random, text: &mut String) {
        let mut rest = template;
        while let Some(at) = rest.find(['{', '}']) {
            text.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some(after) = rest.strip_prefix("{{") {
                text.push('{');
                rest = after;
            } else if let Some(after) = rest.strip_prefix("}}") {
                text.push('}');
                rest = after;
            } else if let Some((inside, after)) = braced(rest) {
                let options = choices(inside);
                if let [name] = options[..] {
                    let slot = self.own.get(name).or_else(|| self.shared.get(name));
                    match slot.and_then(|slot| random.pick(slot)) {
                        Some(value) if depth > 0 => self.grow(value, depth - 1, random, text),
                        _ => text.push_str(UNKNOWN),
                    }
                } else if let Some(option) = random.pick(&options).filter(|_| depth > 0) {
                    self.grow(option, depth - 1, random, text);
                }
                rest = after;
            } else {
                text.push_str(UNKNOWN);
                rest = &rest[1..];
            }
        }
        text.push_str(rest);
    }
}

/// What stands between the brace a text starts with and its partner, and what follows.
fn braced(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some((&text[1..at], &text[at + 1..]));
        }
    }
    None
}

/// The options of a choice, without looking into choices inside it.
fn choices(inside: &str) -> Vec<&str> {
    let mut options = Vec::new();
    let (mut depth, mut start) = (0_i32, 0);
    for (at, c) in inside.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            '|' if depth == 0 => {
                options.push(&inside[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    options.push(&inside[start..]);
    options
}

/// A small generator of numbers: the same on every machine.
struct Random(u64);

impl Random {
    /// A stream of its own for each place: streams whose starts are steps apart would be the same.
    fn of(seed: u64, place: usize) -> Self {
        let mut random = Self(seed);
        let start = random.next() ^ (place as u64).wrapping_mul(0xd134_2543_de82_ef95);
        Self(Self(start).next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn pick<'v, T>(&mut self, values: &'v [T]) -> Option<&'v T> {
        let count = values.len() as u64;
        (count > 0)
            .then(|| (self.next() % count) as usize)
            .and_then(|place| values.get(place))
    }
}

/// How deep slots may name slots.
const DEPTH: usize = 16;

/// Stands where a template names a slot that is not there; a test looks for it.
const UNKNOWN: &str = "\u{fffd}";

const WORDS: &str = include_str!("../synth/words.toml");
const CARRIERS: &str = include_str!("../synth/carriers.toml");

/// The grammars, in the order of their numbers.
const GRAMMARS: &[&str] = &[
    include_str!("../synth/hijack.toml"),
    include_str!("../synth/leak.toml"),
    include_str!("../synth/persona.toml"),
    include_str!("../synth/agent.toml"),
    include_str!("../synth/page.toml"),
    include_str!("../synth/tools.toml"),
    include_str!("../synth/talk.toml"),
    include_str!("../synth/told.toml"),
    include_str!("../synth/plain.toml"),
    include_str!("../synth/contest.toml"),
    include_str!("../synth/prose.toml"),
    include_str!("../synth/own.toml"),
    include_str!("../synth/service.toml"),
    include_str!("../synth/lang/ar.toml"),
    include_str!("../synth/lang/cs.toml"),
    include_str!("../synth/lang/de.toml"),
    include_str!("../synth/lang/el.toml"),
    include_str!("../synth/lang/es.toml"),
    include_str!("../synth/lang/fa.toml"),
    include_str!("../synth/lang/fr.toml"),
    include_str!("../synth/lang/he.toml"),
    include_str!("../synth/lang/hi.toml"),
    include_str!("../synth/lang/id.toml"),
    include_str!("../synth/lang/it.toml"),
    include_str!("../synth/lang/ja.toml"),
    include_str!("../synth/lang/ko.toml"),
    include_str!("../synth/lang/nl.toml"),
    include_str!("../synth/lang/pl.toml"),
    include_str!("../synth/lang/pt.toml"),
    include_str!("../synth/lang/ro.toml"),
    include_str!("../synth/lang/ru.toml"),
    include_str!("../synth/lang/sv.toml"),
    include_str!("../synth/lang/th.toml"),
    include_str!("../synth/lang/tr.toml"),
    include_str!("../synth/lang/uk.toml"),
    include_str!("../synth/lang/vi.toml"),
    include_str!("../synth/lang/zh.toml"),
    include_str!("../synth/lang/bn.toml"),
    include_str!("../synth/lang/fi.toml"),
    include_str!("../synth/lang/hu.toml"),
    include_str!("../synth/lang/ms.toml"),
    include_str!("../synth/lang/sw.toml"),
    include_str!("../synth/lang/tl.toml"),
];

fn english() -> String {
    "en".to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;

    /// Growing them takes seconds without optimisation.
    static SAMPLES: LazyLock<Vec<Sample>> = LazyLock::new(|| generate(1));

    #[test]
    fn every_slot_and_carrier_is_known() {
        let shared = Shared::read();
        for source in GRAMMARS {
            let grammar: Grammar = toml::from_str(source).unwrap();
            for family in &grammar.family {
                for carrier in family.carriers.iter().filter(|name| *name != "bare") {
                    assert!(shared.carriers.contains_key(carrier), "{carrier}");
                }
            }
        }
        for sample in SAMPLES.iter() {
            assert!(
                !sample.text.contains(UNKNOWN),
                "{}: {}",
                sample.family,
                sample.text
            );
            assert!(sample.text.get(sample.payload.clone()).is_some());
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_texts_and_another_gives_others() {
        assert_eq!(generate(1), *SAMPLES);
        assert_ne!(generate(8), *SAMPLES);
    }

    #[test]
    fn there_are_enough_texts_of_both_kinds_in_many_languages() {
        let samples = &*SAMPLES;
        let attacks = samples.iter().filter(|sample| sample.attack).count();
        let languages: BTreeSet<_> = samples.iter().map(|sample| &sample.lang).collect();
        assert!(attacks > 5_000, "{attacks} attacks");
        assert!(
            samples.len() - attacks > 5_000,
            "{} harmless",
            samples.len() - attacks
        );
        assert!(languages.len() > 16, "{languages:?}");
    }

    #[test]
    fn braces_and_choices_grow_as_written() {
        let slots = Slots::from([("x".to_owned(), vec!["{y|y}".to_owned()])]);
        let words = Words {
            own: &slots,
            shared: &Slots::new(),
        };
        let mut random = Random(1);
        assert_eq!(
            words.grown("{{a}} {x} {b {c|c}|b c}", &mut random),
            "{a} y b c"
        );
        assert_eq!(words.grown("{nothing}", &mut random), UNKNOWN);
    }
}
