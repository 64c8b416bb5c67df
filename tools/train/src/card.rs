//! The model card: words written by hand in `card.md`, figures filled in.

use std::collections::BTreeMap;
use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::corpus::Corpus;
use crate::evaluate::{Tally, Worth};
use crate::validate::{Row, means};
use crate::weights::Weights;
use crate::wrappers::Found;

/// What was measured.
pub struct Figures<'f> {
    /// The weights.
    pub weights: &'f Weights,
    /// Recall on sources held out.
    pub rows: &'f [Row],
    /// What is found of their attacks inside wrappers.
    pub wrapped: &'f [Found],
    /// What the weights raise of ordinary text, by kind.
    pub ordinary: &'f [(String, Tally)],
    /// The file with the labelled texts.
    pub data: &'f [u8],
}

/// The card.
pub fn card(corpus: &Corpus, figures: &Figures<'_>) -> String {
    let mut held_out = String::new();
    for row in figures.rows {
        let what = if row.attacks { "attacks" } else { "harmless" };
        let _ = writeln!(
            held_out,
            "| {} | {what} | {} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} |",
            row.source,
            row.texts,
            row.found[0],
            row.found[1],
            row.told[0],
            row.told[1],
            row.inspected[0],
            row.inspected[1],
            row.inspected[2]
        );
    }
    let [one, two, three, four, low, medium, high] = means(figures.rows);
    let _ = write!(
        held_out,
        "| **macro over sources** | attacks | | **{one:.3}** | **{two:.3}** | **{three:.3}** | **{four:.3}** | **{low:.3}** | **{medium:.3}** | **{high:.3}** |"
    );
    let mut wrapped = String::new();
    for (name, [texts, medium, high, marked]) in figures.wrapped {
        let share = |count: &usize| *count as f32 / (*texts).max(1) as f32;
        let _ = writeln!(
            wrapped,
            "| {name} | {texts} | {:.3} | {:.3} | {:.3} |",
            share(medium),
            share(high),
            share(marked)
        );
    }
    let mut ordinary = String::new();
    for (name, tally) in figures.ordinary {
        let share = |count: usize| count as f32 * 100.0 / tally.texts.max(1) as f32;
        let _ = writeln!(
            ordinary,
            "| {name} | {} | {:.2} % | {:.2} % | {:.2} % |",
            tally.texts,
            share(tally.low),
            share(tally.medium),
            share(tally.high)
        );
    }
    let mut chunks = Sha256::new();
    for chunk in &corpus.chunks {
        chunks.update(chunk.text.as_bytes());
    }
    let bytes: usize = corpus.chunks.iter().map(|chunk| chunk.text.len()).sum();
    include_str!("../card.md")
        .replace(
            "{weights}",
            &hexadecimal(&Sha256::digest(&figures.weights.bytes)),
        )
        .replace("{size}", &figures.weights.bytes.len().to_string())
        .replace(
            "{spared}",
            &format!("{:.1}", figures.weights.spared * 100.0),
        )
        .replace("{held-out}", &held_out)
        .replace("{wrapped}", wrapped.trim_end())
        .replace("{ordinary}", ordinary.trim_end())
        .replace("{data}", &hexadecimal(&Sha256::digest(figures.data)))
        .replace("{talk}", &corpus.talk.to_string())
        .replace("{reported}", &corpus.reported.len().to_string())
        .replace("{texts}", &corpus.labelled.len().to_string())
        .replace("{chunks}", &corpus.chunks.len().to_string())
        .replace("{megabytes}", &(bytes / 1_000_000).to_string())
        .replace("{chunk-digest}", &hexadecimal(&chunks.finalize()))
}

/// How many texts were found, in a line.
pub fn shares(tally: &Tally) -> String {
    let share = |count: usize| count as f32 * 100.0 / tally.texts.max(1) as f32;
    format!(
        "{:6} low {:6.2} % medium {:6.2} % high {:6.2} %",
        tally.texts,
        share(tally.low),
        share(tally.medium),
        share(tally.high)
    )
}

/// What every rule adds and costs, as a table.
pub fn rules(rules: &BTreeMap<String, Worth>, attacks: usize, harmless: usize) -> String {
    let mut table = format!(
        "| rule | of {attacks} attacks: found | by it alone | withheld by it alone | of {harmless} harmless: annotated | by it alone \
         | withheld by it alone |\n|---|---|---|---|---|---|---|\n"
    );
    for (rule, it) in rules {
        let _ = writeln!(
            table,
            "| `{rule}` | {} | {} | {} | {} | {} | {} |",
            it.found, it.alone, it.withholds, it.wrong, it.wrong_alone, it.wrongly_withholds
        );
    }
    table
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
