//! The first stage: weights of single words, learnt from the second stage, which they are to spare.

use holdpoint_text::classify::model::{WORD_BITS, word_norm};

use crate::chance::Chance;
use crate::learn::{Doc, Linear, Window, sigmoid};

/// The first stage.
pub struct FirstStage {
    /// The weights by place.
    pub weights: Vec<f32>,
    /// The score below which a window is dismissed.
    pub spare_below: f32,
    /// The share of ordinary windows that is dismissed.
    pub spared: f32,
}

impl FirstStage {
    /// Learns to keep the windows of attacks that score at least `mark` in the second stage, but for a
    /// share of `lost`.
    pub fn learn(
        model: &Linear,
        mark: f32,
        lost: f32,
        attacks: &[&Doc],
        ordinary: &[&Doc],
        seed: u64,
    ) -> Self {
        let mut stage = Self {
            weights: vec![0.0; 1 << WORD_BITS],
            spare_below: 0.0,
            spared: 0.0,
        };
        let mut batch: Vec<(&Doc, Window, bool)> = Vec::new();
        let mut wanted = Vec::new();
        for doc in attacks {
            for window in doc.windows() {
                let keep = model.window(doc, window) >= mark;
                batch.push((doc, window, keep));
                if keep {
                    wanted.push((*doc, window));
                }
            }
        }
        for doc in ordinary {
            batch.extend(
                doc.windows()
                    .map(|window| (*doc, window, model.window(doc, window) >= mark)),
            );
        }
        let (mut squares, mut chance) = (vec![0.0; 1 << WORD_BITS], Chance::new(seed));
        let mut bias = 0.0;
        for _ in 0..PASSES {
            chance.shuffle(&mut batch);
            for (doc, window, keep) in &batch {
                let places = doc.places(*window);
                let norm = word_norm(places.len());
                let error = sigmoid(bias + stage.sum(places) * norm) - f32::from(*keep);
                let error = if *keep { error * KEPT } else { error };
                bias -= RATE * 0.01 * error;
                for place in places {
                    let square = &mut squares[usize::from(*place)];
                    *square += (error * norm) * (error * norm);
                    let weight = &mut stage.weights[usize::from(*place)];
                    let step = RATE * error * norm / (f32::sqrt(*square) + 1e-3);
                    *weight = f32::max(*weight - step, LEAST);
                }
            }
        }
        stage.quantise();
        let score = |doc: &Doc, window: Window| {
            stage.sum(doc.places(window)) * word_norm(window.1 - window.0)
        };
        let mut scores: Vec<f32> = wanted
            .iter()
            .map(|(doc, window)| score(doc, *window))
            .collect();
        scores.sort_by(f32::total_cmp);
        let spare_below = scores
            .get((scores.len() as f32 * lost) as usize)
            .copied()
            .unwrap_or(0.0);
        let (mut all, mut spared) = (0, 0);
        for doc in ordinary {
            for window in doc.windows() {
                all += 1;
                spared += usize::from(score(doc, window) < spare_below);
            }
        }
        stage.spare_below = spare_below;
        stage.spared = spared as f32 / all.max(1) as f32;
        stage
    }

    /// The weights in steps of a scale that lets them fit a signed byte.
    pub fn scale(&self) -> f32 {
        WIDEST / 127.0
    }

    fn quantise(&mut self) {
        let scale = self.scale();
        for weight in &mut self.weights {
            *weight = (*weight / scale).round().clamp(-127.0, 127.0) * scale;
        }
    }

    fn sum(&self, places: &[u16]) -> f32 {
        places
            .iter()
            .map(|place| self.weights[usize::from(*place)])
            .sum()
    }
}

const PASSES: usize = 3;
const RATE: f32 = 0.3;
/// What a window to keep weighs.
const KEPT: f32 = 4.0;
/// No word takes more than this from a window, so that an order among code is not overlooked.
const LEAST: f32 = -1.5;
/// Weights beyond this are cut.
const WIDEST: f32 = 6.0;
