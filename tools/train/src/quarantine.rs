//! What quarantine leaves of a harmless text, and of an attack somebody planted in it.

use std::collections::BTreeMap;
use std::fmt;

use holdpoint_text::inspection::Terms;
use holdpoint_text::{Action, Origin, Severity};

use crate::chance::Chance;
use crate::data::Labelled;
use crate::harmless::Harmless;
use crate::ordinary::Part;

/// What is left of some texts.
#[derive(Default)]
pub struct Left {
    texts: usize,
    /// Of these something was taken out, or the whole.
    withheld: usize,
    blocked: usize,
    /// The words of harmless texts beside an attack that was taken out, and those that are left.
    honest: usize,
    kept: usize,
    /// Attacks of which half the words are left, and those of which five in a row are.
    half: usize,
    run: usize,
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = self.kept as f32 / self.honest.max(1) as f32;
        write!(
            f,
            "{} texts, {} withheld, {} blocked: honest words kept {share:.3}, half an attack left {}, five of its words left {}",
            self.texts, self.withheld, self.blocked, self.half, self.run
        )
    }
}

/// How an attack is planted.
const WAYS: [&str; 4] = ["paragraph", "sentence", "line", "list"];

/// Plants attacks that are withheld as they stand in harmless texts nobody learnt from, and cleans them.
pub fn measure(
    attacks: &[Labelled],
    harmless: &[Harmless],
    shown: usize,
) -> BTreeMap<String, Left> {
    let terms = Terms::default();
    let around: Vec<&Harmless> = harmless
        .iter()
        .filter(|it| it.part == Part::Test && it.it.lang == "en" && it.it.class != "record")
        .filter(|it| (600..3000).contains(&it.it.text.len()))
        .collect();
    let found = |text: &str| terms.inspect(text, Origin::Web).severity();
    let planted = attacks
        .iter()
        // Made-up ones have harmless text of their own around them, which is to stay.
        .filter(|it| {
            it.label == 1 && it.source != "own_synth" && (40..500).contains(&it.text.len())
        })
        .step_by(23)
        .filter(|it| found(&it.text) >= Some(Severity::High));
    let mut chance = Chance::new(1);
    let mut all: BTreeMap<String, Left> = BTreeMap::new();
    let mut told = 0;
    for (attack, way) in planted.zip(WAYS.iter().cycle()) {
        let honest = &around[chance.below(around.len())].it.text;
        if found(honest) >= Some(Severity::Medium) {
            continue;
        }
        let (before, after) = parted(honest, way, &mut chance);
        let (lead, gap) = match *way {
            "paragraph" => ("\n\n", "\n\n"),
            "sentence" => (" ", " "),
            "line" => ("\n", "\n"),
            _ => ("\n- ", "\n- "),
        };
        let text = format!("{before}{lead}{}{gap}{after}", attack.text.trim());
        let admitted = terms.admit(&text, Origin::Web);
        let left = all.entry((*way).to_owned()).or_default();
        left.texts += 1;
        if admitted.inspection.action == Action::Block {
            left.blocked += 1;
        }
        if admitted.inspection.action != Action::Quarantine {
            continue;
        }
        left.withheld += 1;
        let honest: Vec<&str> = [before, after]
            .into_iter()
            .flat_map(str::split_whitespace)
            .collect();
        let cleaned: Vec<&str> = admitted.text.split_whitespace().collect();
        let words: Vec<&str> = attack.text.split_whitespace().collect();
        left.honest += honest.len();
        let kept = common(&honest, &cleaned).min(honest.len());
        left.kept += kept;
        let run = words.windows(RUN.min(words.len()));
        let is_left = |run: &&[&str]| cleaned.windows(run.len()).any(|it| it == *run);
        let runs = run.filter(is_left).count();
        left.run += usize::from(runs > 0);
        left.half += usize::from(runs * 2 >= words.len().saturating_sub(RUN).max(1));
        if told < shown && (runs > 0 || kept * 10 < honest.len() * 7) {
            told += 1;
            eprintln!(
                "{way}: kept {kept} of {}, {runs} runs left\n  {text:?}\n  {:?}\n",
                honest.len(),
                admitted.text
            );
        }
    }
    all
}

/// So many words in a row say something.
const RUN: usize = 5;

/// A text in two, where somebody would put something in.
fn parted<'t>(text: &'t str, way: &str, chance: &mut Chance) -> (&'t str, &'t str) {
    let sign = if way == "sentence" { ". " } else { "\n" };
    let places: Vec<usize> = text.match_indices(sign).map(|(at, _)| at + 1).collect();
    let at = match places.get(chance.below(places.len().max(1))) {
        Some(at) => *at,
        None => text.len(),
    };
    (text[..at].trim_end(), text[at..].trim())
}

/// How many words of one text stand in another in their order, at the most.
fn common(words: &[&str], within: &[&str]) -> usize {
    let mut longest = vec![0; within.len() + 1];
    for word in words {
        let mut before = 0;
        for (at, other) in within.iter().enumerate() {
            let above = longest[at + 1];
            longest[at + 1] = if word == other {
                before + 1
            } else {
                above.max(longest[at])
            };
            before = above;
        }
    }
    longest.last().copied().unwrap_or(0)
}
