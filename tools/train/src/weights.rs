//! The weights as they ship: both stages, thresholds, everything in a byte each.

use std::collections::BTreeMap;

use holdpoint_text::Origin;
use holdpoint_text::classify::Model;
use holdpoint_text::classify::language::Language;
use holdpoint_text::classify::model::Header;
use holdpoint_text::words;

use crate::corpus::Corpus;
use crate::first_stage::FirstStage;
use crate::learn::{Doc, Linear, Window};
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
        let marks = Marks::set(&model, corpus, plan);
        let attacks: Vec<&Doc> = examples
            .iter()
            .filter(|it| it.attack)
            .map(|it| it.doc)
            .collect();
        let first = FirstStage::learn(&model, marks.looked_at, LOST, &attacks, &train, plan.seed);
        let header = marks.header(Header {
            bias: model.bias,
            scale,
            spare_below: first.spare_below,
            word_scale: first.scale(),
            disguise: DISGUISE,
            ..Header::default()
        });
        let words = steps(&first.weights, first.scale());
        let buckets = steps(&model.weights, scale);
        Self {
            bytes: Model::write(&header, &words, &buckets),
            spared: first.spared,
        }
    }
}

/// The same weights with their thresholds set anew.
pub fn with_marks(shipped: &Model<'_>, corpus: &Corpus, plan: &Plan) -> Vec<u8> {
    let [words, buckets] = shipped.tables();
    let model = Linear::from_steps(shipped.header(), &buckets);
    let header = Marks::set(&model, corpus, plan).header(*shipped.header());
    Model::write(&header, &words, &buckets)
}

/// The highest score of a text by weights as they ship, and where.
pub fn best(shipped: &Model<'_>, doc: &Doc) -> (f32, Window) {
    let [_, buckets] = shipped.tables();
    Linear::from_steps(shipped.header(), &buckets).best(doc)
}

/// The scores from which on a text is something, and how much more it takes in some languages.
struct Marks {
    looked_at: f32,
    faint: f32,
    loose: f32,
    strict: f32,
    margins: [f32; Language::COUNT],
}

impl Marks {
    /// The scores that at most a share of ordinary text exceeds, and at most some times that share of harmless text of every
    /// class: what is seldom read may raise an alarm more often. A language in which they are exceeded more often has a margin.
    fn set(model: &Linear, corpus: &Corpus, plan: &Plan) -> Self {
        let mut groups: BTreeMap<&str, (Vec<f32>, f32)> = BTreeMap::new();
        let mut languages: BTreeMap<Language, Vec<f32>> = BTreeMap::new();
        for (chunk, doc) in corpus.part(Part::Threshold) {
            let name = if chunk.short { "short" } else { "pages" };
            let group = groups.entry(name).or_insert((Vec::new(), 1.0));
            group.0.push(model.score(doc));
        }
        let english = Language::from_code("en");
        for (it, doc) in corpus.harmless(Part::Threshold) {
            let (score, window) = model.best(doc);
            let language = language_of(doc.text_of(&it.text, window));
            if Some(language) == english && it.lang != "en" {
                // A few words of English in a text of another language are no measure of English texts.
                continue;
            }
            if it.lang == "en" && it.class == "file" {
                // English is measured by the classes; files of it are reported on.
            } else if it.lang == "en" {
                let times = CLASSES.iter().find(|(class, _)| *class == it.class);
                let times = times.map_or(1.0, |(_, times)| *times);
                let group = groups.entry(&it.class).or_insert((Vec::new(), times));
                group.0.push(score);
            } else {
                languages.entry(language).or_default().push(score);
            }
        }
        let shares = [LOOKED_AT, plan.faint, plan.loose, plan.strict];
        let mut lists: Vec<(Vec<f32>, f32)> = groups.values().cloned().collect();
        let marks = highest(&mut lists, &shares);
        for (name, list) in groups {
            eprintln!(
                "{name:12} {} {:.2?}",
                list.0.len(),
                highest(&mut [list], &shares)
            );
        }
        let mut margins = [0.0; Language::COUNT];
        for (language, scores) in languages {
            let count = scores.len();
            let of = highest(&mut [(scores, OF_LANGUAGE)], &shares);
            // Where there are few texts the highest of them says little, and somewhat more is taken.
            let few = if count < FEW { FEW_MORE } else { 0.0 };
            let margin = f32::max(of[2] - marks[2], of[3] - marks[3]);
            let margin = if margin > -few { margin + few } else { 0.0 };
            margins[language.index()] = margin.max(0.0);
            eprintln!(
                "{:12} {count} {of:.2?} margin {:.2}",
                language.code(),
                margin
            );
        }
        Self {
            looked_at: marks[0],
            faint: marks[1],
            loose: marks[2],
            strict: marks[3],
            margins,
        }
    }

    /// A header with these.
    fn header(&self, header: Header) -> Header {
        let by_origin = |mark: f32| {
            Origin::ALL.map(|origin| match origin {
                Origin::User => mark + USER,
                _ => mark,
            })
        };
        Header {
            faint: by_origin(self.faint),
            loose: by_origin(self.loose),
            strict: by_origin(self.strict),
            margins: self.margins,
            ..header
        }
    }
}

fn language_of(text: &str) -> Language {
    let mut list = Vec::new();
    words::split(text, &mut list);
    Language::guess(text, &list)
}

/// How many times the share of ordinary text a class may have. They are passages of a thousand bytes or two, and a file has
/// several.
const CLASSES: [(&str, f32); 4] = [
    ("prose", 3.0),
    ("request", 1.5),
    ("record", 3.0),
    ("rules", 8.0),
];
/// The same for a language.
const OF_LANGUAGE: f32 = 5.7;
/// With fewer texts of a language the highest score among them is no measure of the others.
const FEW: usize = 200;
const FEW_MORE: f32 = 0.3;

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
