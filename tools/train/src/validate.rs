//! How well sources are found that the model has not learnt from.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread;

use holdpoint_text::classify::Model;
use holdpoint_text::{Origin, Severity};

use crate::corpus::{Corpus, FOLDS};
use crate::evaluate::inspect;
use crate::learn::{Doc, Linear};
use crate::ordinary::{Chunk, Part};
use crate::plan::Plan;
use crate::weights::Weights;
use crate::wrappers::{self, Found};

/// The shares of ordinary chunks that may raise a false alarm.
pub const FALSE_ALARMS: [f32; 2] = [0.01, 0.001];

/// What was found of a held-out source.
#[derive(Clone, Debug)]
pub struct Row {
    /// The source.
    pub source: String,
    /// Whether these are its attacks; else its harmless texts.
    pub attacks: bool,
    /// How many texts.
    pub texts: usize,
    /// The share that was found, by share of false alarms.
    pub found: [f32; 2],
    /// The same by the score of the whole inspector, in which rules count and talk is taken off.
    pub told: [f32; 2],
    /// The share that the whole inspector finds, as it ships but for what was held out: at low, at medium, at high.
    pub inspected: [f32; 3],
}

/// The rows of all folds, each by a model that has seen none of the fold's sources; and what is found of their attacks inside
/// wrappers.
pub fn validate(corpus: &Corpus, plan: &Plan, shown: usize) -> (Vec<Row>, Vec<Found>) {
    let queue: Mutex<Vec<usize>> = Mutex::new((0..FOLDS.len()).rev().collect());
    let rows_of_folds = Mutex::new(BTreeMap::new());
    let work = || {
        while let Some(fold) = { queue.lock().expect("no fold panics").pop() } {
            let found = validate_fold(corpus, FOLDS[fold], plan, shown);
            let mut rows = rows_of_folds.lock().expect("no fold panics");
            rows.insert(fold, found);
        }
    };
    thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let mut rows = Vec::new();
    let mut wrapped: Vec<Found> = Vec::new();
    for (of_fold, found) in rows_of_folds
        .into_inner()
        .expect("no fold panics")
        .into_values()
    {
        rows.extend(of_fold);
        add_up(&mut wrapped, found);
    }
    (rows, wrapped)
}

/// Adds what one fold found inside wrappers to what the others did.
pub fn add_up(all: &mut Vec<Found>, of_fold: Vec<Found>) {
    for (at, (name, counts)) in of_fold.into_iter().enumerate() {
        match all.get_mut(at) {
            Some((_, sum)) => {
                for (sum, count) in sum.iter_mut().zip(counts) {
                    *sum += count;
                }
            }
            None => all.push((name, counts)),
        }
    }
}

/// The means over the sources' attacks: found by share of false alarms, by the classifier and by the whole inspector's score, and
/// what that finds at its severities.
pub fn means(rows: &[Row]) -> [f32; 7] {
    let attacks: Vec<&Row> = rows.iter().filter(|row| row.attacks).collect();
    let mean = |of: fn(&Row) -> f32| {
        attacks.iter().map(|row| of(row)).sum::<f32>() / attacks.len().max(1) as f32
    };
    [
        mean(|row| row.found[0]),
        mean(|row| row.found[1]),
        mean(|row| row.told[0]),
        mean(|row| row.told[1]),
        mean(|row| row.inspected[0]),
        mean(|row| row.inspected[1]),
        mean(|row| row.inspected[2]),
    ]
}

/// The scores that at most a share of pages exceeds, and at most that share of short texts.
pub fn marks<'c>(
    model: &Linear,
    texts: impl Iterator<Item = (&'c Chunk, &'c Doc)>,
    shares: &[f32],
) -> Vec<f32> {
    let mut groups = [(Vec::new(), 1.0), (Vec::new(), 1.0)];
    for (chunk, doc) in texts {
        groups[usize::from(chunk.short)].0.push(model.score(doc));
    }
    highest(&mut groups, shares)
}

/// The scores that at most a share of each group exceeds, times what the group allows.
pub fn highest(groups: &mut [(Vec<f32>, f32)], shares: &[f32]) -> Vec<f32> {
    for (scores, _) in groups.iter_mut() {
        scores.sort_by(|one, other| other.total_cmp(one));
    }
    shares
        .iter()
        .map(|share| {
            groups
                .iter()
                .filter_map(|(scores, times)| {
                    scores.get((scores.len() as f32 * share * times) as usize)
                })
                .copied()
                .fold(f32::MIN, f32::max)
        })
        .collect()
}

fn validate_fold(
    corpus: &Corpus,
    held_out: &[&str],
    plan: &Plan,
    shown: usize,
) -> (Vec<Row>, Vec<Found>) {
    let examples = corpus.examples(held_out, plan);
    let train: Vec<&Doc> = corpus.part(Part::Train).map(|(_, doc)| doc).collect();
    let model = Linear::learn(&examples, &train, plan);
    // No model has seen either part, and a share of a thousandth needs many.
    let unseen = corpus.part(Part::Threshold).chain(corpus.part(Part::Test));
    let marks = marks(&model, unseen, &FALSE_ALARMS);
    if shown > 0 {
        show(corpus, held_out, &model, &marks, shown);
    }
    let mut counts: BTreeMap<(&str, u8), [usize; 8]> = BTreeMap::new();
    let mut scores = Vec::new();
    for (it, doc) in corpus.labelled.iter().zip(&corpus.docs) {
        if held_out.contains(&it.source.as_str()) {
            scores.push((it, model.score(doc)));
        }
    }
    let weights = Weights::of(model, corpus, held_out, plan);
    let shipped = Model::read(&weights.bytes).expect("these weights were just written");
    let told = {
        let unseen = corpus.part(Part::Threshold).chain(corpus.part(Part::Test));
        let mut groups = [(Vec::new(), 1.0), (Vec::new(), 1.0)];
        for (chunk, _) in unseen {
            let seen = inspect(&shipped, &chunk.text, Origin::Tool);
            groups[usize::from(chunk.short)].0.push(seen.score);
        }
        highest(&mut groups, &FALSE_ALARMS)
    };
    let texts = corpus.labelled.iter();
    let texts = texts.filter(|it| held_out.contains(&it.source.as_str()));
    let wrapped = wrappers::measure(&shipped, texts, OF_FOLD, shown);
    for (it, score) in scores {
        let seen = inspect(&shipped, &it.text, Origin::Tool);
        let severity = seen.severity;
        let counts = counts.entry((&it.source, it.label)).or_default();
        let found = [
            true,
            score > marks[0],
            score > marks[1],
            seen.score > told[0],
            seen.score > told[1],
            severity >= Some(Severity::Low),
            severity >= Some(Severity::Medium),
            severity >= Some(Severity::High),
        ];
        for (count, found) in counts.iter_mut().zip(found) {
            *count += usize::from(found);
        }
    }
    let rows = counts
        .into_iter()
        .map(|((source, label), [texts, found @ ..])| {
            let [one, two, three, four, inspected @ ..] =
                found.map(|count| count as f32 / texts as f32);
            Row {
                source: source.to_owned(),
                attacks: label == 1,
                texts,
                found: [one, two],
                told: [three, four],
                inspected,
            }
        });
    (rows.collect(), wrapped)
}

/// Attacks of one fold that are wrapped up.
pub const OF_FOLD: usize = 120;

/// Prints what the model gets wrong, for those who look for features.
fn show(corpus: &Corpus, held_out: &[&str], model: &Linear, marks: &[f32], shown: usize) {
    let mut wrong: Vec<(f32, String)> = corpus
        .part(Part::Test)
        .map(|(chunk, doc)| {
            let (score, window) = model.best(doc);
            (
                score,
                format!(
                    "{} {} {:?}",
                    chunk.kind.name(),
                    chunk.group,
                    doc.text_of(&chunk.text, window)
                ),
            )
        })
        .collect();
    wrong.sort_by(|one, other| other.0.total_cmp(&one.0));
    let missed: Vec<(f32, String)> = corpus
        .labelled
        .iter()
        .zip(&corpus.docs)
        .filter(|(it, _)| it.label == 1 && held_out.contains(&it.source.as_str()))
        .map(|(it, doc)| {
            (
                model.score(doc) - marks[0],
                format!("{} {:?}", it.source, it.text.get(..300).unwrap_or(&it.text)),
            )
        })
        .filter(|(score, _)| *score < 0.0)
        .collect();
    for (score, what) in wrong.iter().take(shown) {
        eprintln!("false alarm {score:.2} {what}");
    }
    for (score, what) in missed.iter().step_by((missed.len() / shown).max(1)) {
        eprintln!("missed {score:.2} {what}");
    }
}
