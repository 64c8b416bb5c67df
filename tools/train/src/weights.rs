//! The weights as they ship: both stages, thresholds, everything in a byte each.

use std::collections::BTreeMap;

use holdpoint_text::Origin;
use holdpoint_text::classify::Model;
use holdpoint_text::classify::model::Header;

use crate::corpus::Corpus;
use crate::first_stage::FirstStage;
use crate::learn::{Doc, Linear};
use crate::ordinary::Part;
use crate::plan::Plan;
use crate::validate::highest;

/// The share that may reach the second stage without being worth it.
const LOOKED_AT: f32 = 0.012;
/// Windows of attacks that the first stage may lose.
const LOST: f32 = 0.004;
/// How much more a user has to say: people do ask models for things.
const USER: f32 = 1.0;
/// How much earlier a disguised text is suspect.
const DISGUISE: f32 = 1.5;

/// Weights, and what is to be told of them.
pub struct Weights {
    /// The file.
    pub bytes: Vec<u8>,
    /// The share of ordinary windows the first stage dismisses.
    pub spared: f32,
}

impl Weights {
    /// Learns from everything but some sources, and sets the thresholds.
    pub fn learn(corpus: &Corpus, held_out: &[&str], plan: &Plan) -> Self {
        let examples = corpus.examples(held_out, plan);
        let train: Vec<&Doc> = corpus.part(Part::Train).map(|(_, doc)| doc).collect();
        Self::of(
            Linear::learn(&examples, &train, plan),
            corpus,
            held_out,
            plan,
        )
    }

    /// The weights of a model that has not learnt from some sources, with thresholds.
    pub fn of(mut model: Linear, corpus: &Corpus, held_out: &[&str], plan: &Plan) -> Self {
        let examples = corpus.examples(held_out, plan);
        let train: Vec<&Doc> = corpus.part(Part::Train).map(|(_, doc)| doc).collect();
        let scale = quantise(&mut model.weights);
        let marks = thresholds(
            &model,
            corpus,
            &[LOOKED_AT, plan.faint, plan.loose, plan.strict],
        );
        let attacks: Vec<&Doc> = examples
            .iter()
            .filter(|it| it.attack)
            .map(|it| it.doc)
            .collect();
        let first = FirstStage::learn(&model, marks[0], LOST, &attacks, &train, plan.seed);
        let by_origin = |mark: f32| {
            Origin::ALL.map(|origin| {
                if origin == Origin::User {
                    mark + USER
                } else {
                    mark
                }
            })
        };
        let header = Header {
            bias: model.bias,
            scale,
            spare_below: first.spare_below,
            word_scale: first.scale(),
            faint: by_origin(marks[1]),
            loose: by_origin(marks[2]),
            strict: by_origin(marks[3]),
            disguise: DISGUISE,
        };
        let words = steps(&first.weights, first.scale());
        let buckets = steps(&model.weights, scale);
        Self {
            bytes: Model::write(&header, &words, &buckets),
            spared: first.spared,
        }
    }
}

/// The scores that at most a share of ordinary text exceeds, and at most some times that share of harmless text of every
/// class: what is seldom read may raise an alarm more often.
fn thresholds(model: &Linear, corpus: &Corpus, shares: &[f32]) -> Vec<f32> {
    let mut groups: BTreeMap<&str, (Vec<f32>, f32)> = BTreeMap::new();
    for (chunk, doc) in corpus.part(Part::Threshold) {
        let name = if chunk.short { "short" } else { "pages" };
        let group = groups.entry(name).or_insert((Vec::new(), 1.0));
        group.0.push(model.score(doc));
    }
    for (it, doc) in corpus.harmless(Part::Threshold) {
        let times = CLASSES.iter().find(|(class, _)| *class == it.class);
        let times = times.map_or(1.0, |(_, times)| *times);
        let group = groups.entry(&it.class).or_insert((Vec::new(), times));
        group.0.push(model.score(doc));
    }
    let mut lists: Vec<(Vec<f32>, f32)> = groups.values().cloned().collect();
    let marks = highest(&mut lists, shares);
    for (name, list) in groups {
        eprintln!("{name:12} {:?}", highest(&mut [list], shares));
    }
    marks
}

/// How many times the share of ordinary text a class may have. They are passages of a thousand bytes or two, and a file has
/// several.
const CLASSES: [(&str, f32); 5] = [
    ("prose_i18n", 2.5),
    ("prose", 3.0),
    ("request", 4.0),
    ("record", 3.0),
    ("rules", 12.0),
];

/// Rounds weights to steps that fit a signed byte, and tells the step.
fn quantise(weights: &mut [f32]) -> f32 {
    let mut sizes: Vec<f32> = weights
        .iter()
        .map(|weight| weight.abs())
        .filter(|size| *size > 0.0)
        .collect();
    sizes.sort_by(f32::total_cmp);
    // A few weights are far larger than the rest; cutting them keeps the steps of the rest small.
    let widest = sizes
        .get(sizes.len() * 9998 / 10_000)
        .copied()
        .unwrap_or(1.0);
    let scale = widest / 127.0;
    for weight in weights {
        *weight = (*weight / scale).round().clamp(-127.0, 127.0) * scale;
    }
    scale
}

fn steps(weights: &[f32], scale: f32) -> Vec<i8> {
    weights
        .iter()
        .map(|weight| (weight / scale).round() as i8)
        .collect()
}
