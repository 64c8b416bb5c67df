//! Learning the weights: logistic regression on windows, attacks by the window that carries them,
//! ordinary text by the windows the model gets wrong.

use holdpoint_text::classify::model::{BITS, FLOOR, Header, bucket, norm, word_place};
use holdpoint_text::classify::{self, STRIDE, features};
use holdpoint_text::detect::concepts;
use holdpoint_text::words;

use crate::chance::Chance;
use crate::plan::Plan;

/// A window, as a range of words.
pub type Window = (usize, usize);

/// A text as the buckets of its features.
pub struct Doc {
    buckets: Vec<u32>,
    /// Where the features of each word end.
    ends: Vec<u32>,
    /// The places of its words in the first stage's table.
    places: Vec<u16>,
    /// The passages that stand by themselves.
    passages: Vec<(u32, u32)>,
}

impl Doc {
    /// The features of a text.
    pub fn of(text: &str) -> Self {
        let (mut list, mut hits) = (Vec::new(), Vec::new());
        words::split(text, &mut list);
        concepts::find(&list, text, &mut hits);
        let mut buckets = Vec::new();
        let mut ends = Vec::with_capacity(list.len());
        let mut reader = features::Reader::new(text, &list, &hits);
        while reader.next(&mut |hash| buckets.push(bucket(hash) as u32)) {
            ends.push(buckets.len() as u32);
        }
        buckets.shrink_to_fit();
        let places = list
            .iter()
            .map(|word| word_place(word.hash) as u16)
            .collect();
        let mut passages = Vec::new();
        classify::passages(text, &list, 0..list.len(), &mut |first, end| {
            passages.push((first as u32, end as u32));
        });
        Self {
            buckets,
            ends,
            places,
            passages,
        }
    }

    /// Its windows: one of two strides at each stride, and in longer texts those of one stride as well,
    /// so that an order is seen by itself wherever it stands; and passages.
    pub fn windows(&self) -> impl Iterator<Item = Window> + use<'_> {
        let length = self.ends.len();
        let halves = length > STRIDE;
        let passages = self.passages.iter();
        let passages = passages.map(|(first, end)| (*first as usize, *end as usize));
        let passages = passages.filter(move |it| *it != (0, length));
        (0..length)
            .step_by(STRIDE)
            .flat_map(move |start| {
                let whole = (start == 0 || start + STRIDE < length)
                    .then_some((start, length.min(start + 2 * STRIDE)));
                let half = halves.then_some((start, length.min(start + STRIDE)));
                whole.into_iter().chain(half)
            })
            .chain(passages)
    }

    /// The places of a window's words in the first stage's table.
    pub fn places(&self, (start, end): Window) -> &[u16] {
        &self.places[start..end]
    }

    /// What a window says.
    pub fn text_of<'t>(&self, text: &'t str, (start, end): Window) -> &'t str {
        let mut list = Vec::new();
        words::split(text, &mut list);
        match (list.get(start), list.get(end.saturating_sub(1))) {
            (Some(first), Some(last)) => &text[first.start as usize..last.end as usize],
            _ => "",
        }
    }

    fn part(&self, (start, end): Window) -> &[u32] {
        let before = |at: usize| {
            if at == 0 {
                0
            } else {
                self.ends[at - 1] as usize
            }
        };
        &self.buckets[before(start)..before(end)]
    }
}

/// A text to learn from.
#[derive(Clone, Copy)]
pub struct Example<'d> {
    /// The text.
    pub doc: &'d Doc,
    /// Whether it attacks.
    pub attack: bool,
    /// How much it counts.
    pub weight: f32,
}

/// A window to learn from.
#[derive(Clone, Copy)]
struct Instance<'d> {
    doc: &'d Doc,
    window: Window,
    attack: bool,
    weight: f32,
}

/// A linear model.
pub struct Linear {
    /// The weights by bucket.
    pub weights: Vec<f32>,
    /// What every score begins with.
    pub bias: f32,
    squares: Vec<f32>,
}

impl Linear {
    /// A model by the steps it was written in.
    pub fn from_steps(header: &Header, steps: &[i8]) -> Self {
        let weights = steps.iter().map(|step| f32::from(*step) * header.scale);
        Self {
            weights: weights.collect(),
            bias: header.bias,
            squares: Vec::new(),
        }
    }

    /// The score of a window.
    pub fn window(&self, doc: &Doc, window: Window) -> f32 {
        let mut sum = 0.0;
        for at in window.0..window.1 {
            let word: f32 = doc
                .part((at, at + 1))
                .iter()
                .map(|bucket| self.weights[*bucket as usize])
                .sum();
            sum += word.max(FLOOR);
        }
        self.bias + sum * norm(doc.part(window).len())
    }

    /// The highest score of a text, and where.
    pub fn best(&self, doc: &Doc) -> (f32, Window) {
        let mut best = (f32::MIN, (0, 0));
        for window in doc.windows() {
            let score = self.window(doc, window);
            if score > best.0 {
                best = (score, window);
            }
        }
        best
    }

    /// The score of a text.
    pub fn score(&self, doc: &Doc) -> f32 {
        self.best(doc).0
    }

    /// Learns from labelled texts and ordinary ones.
    pub fn learn(examples: &[Example<'_>], ordinary: &[&Doc], plan: &Plan) -> Self {
        let mut model = Self {
            weights: vec![0.0; 1 << BITS],
            bias: 0.0,
            squares: vec![0.0; 1 << BITS],
        };
        let mut chance = Chance::new(plan.seed);
        let every: Vec<(u32, (u32, u32))> = ordinary
            .iter()
            .enumerate()
            .flat_map(|(at, doc)| {
                doc.windows()
                    .map(move |window| (at as u32, (window.0 as u32, window.1 as u32)))
            })
            .collect();
        let instance = |(at, (start, end)): (u32, (u32, u32))| Instance {
            doc: ordinary[at as usize],
            window: (start as usize, end as usize),
            attack: false,
            weight: plan.ordinary,
        };
        let mut hard: Vec<(u32, (u32, u32))> = Vec::new();
        // The mean over the last rounds: what one pass learns by chance the next unlearns.
        let (mut mean, mut bias, mut passes) = (vec![0.0_f32; 1 << BITS], 0.0, 0.0);
        for round in 0..plan.rounds {
            let mut batch: Vec<Instance<'_>> = Vec::new();
            for example in examples {
                model.choose(example, round == 0, &mut batch);
            }
            if round > 0 {
                let mut scored: Vec<(f32, (u32, (u32, u32)))> = every
                    .iter()
                    .map(|place| {
                        let it = instance(*place);
                        (model.window(it.doc, it.window), *place)
                    })
                    .collect();
                scored.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
                hard.extend(scored.iter().take(plan.hard).map(|(_, place)| *place));
                hard.sort_unstable();
                hard.dedup();
            }
            batch.extend(hard.iter().map(|place| instance(*place)));
            for _ in 0..plan.random {
                batch.push(instance(every[chance.below(every.len())]));
            }
            for _ in 0..plan.passes {
                chance.shuffle(&mut batch);
                for it in &batch {
                    model.step(it, plan, &mut chance);
                }
                if round + plan.averaged >= plan.rounds {
                    passes += 1.0;
                    bias += model.bias;
                    for (mean, weight) in mean.iter_mut().zip(&model.weights) {
                        *mean += weight;
                    }
                }
            }
        }
        if passes > 0.0 {
            model.bias = bias / passes;
            for (mean, weight) in mean.iter().zip(&mut model.weights) {
                *weight = mean / passes;
            }
        }
        model
    }

    /// The windows of a text to learn from: of an attack the one that carries it, of another text those
    /// that look most like one. At first nobody knows which.
    fn choose<'d>(&self, example: &Example<'d>, all: bool, batch: &mut Vec<Instance<'d>>) {
        const OF_HARMLESS: usize = 4;
        let mut windows: Vec<Window> = example.doc.windows().collect();
        if !all && windows.len() > 1 {
            let mut scored: Vec<(f32, Window)> = windows
                .iter()
                .map(|window| (self.window(example.doc, *window), *window))
                .collect();
            scored.sort_by(|one, other| other.0.total_cmp(&one.0));
            let kept = if example.attack { 1 } else { OF_HARMLESS };
            windows = scored
                .iter()
                .take(kept)
                .map(|(_, window)| *window)
                .collect();
        }
        let share = if example.attack { 1.0 } else { 1.5 };
        let weight =
            example.weight / windows.len() as f32 * if windows.len() > 1 { share } else { 1.0 };
        batch.extend(windows.into_iter().map(|window| Instance {
            doc: example.doc,
            window,
            attack: example.attack,
            weight,
        }));
    }

    /// A step of AdaGrad.
    fn step(&mut self, it: &Instance<'_>, plan: &Plan, chance: &mut Chance) {
        // Features are left out by a pattern of their buckets, so that a repeated one goes as a whole.
        let salt = chance.next() as u32;
        let limit = (f64::from(plan.dropout) * f64::from(u32::MAX)) as u32;
        let kept = |bucket: &u32| features::mixed(salt, *bucket) >= limit;
        let (mut sum, mut count) = (0.0, 0);
        let (start, end) = it.window;
        let mut moved = [false; 2 * STRIDE];
        for (at, moved) in (start..end).zip(&mut moved) {
            let mut word = 0.0;
            for bucket in it
                .doc
                .part((at, at + 1))
                .iter()
                .filter(|bucket| kept(bucket))
            {
                word += self.weights[*bucket as usize];
                count += 1;
            }
            *moved = word > FLOOR;
            sum += f32::max(word, FLOOR);
        }
        let scale = norm(count);
        let wanted = f32::from(it.attack);
        let error = (sigmoid(self.bias + sum * scale) - wanted) * it.weight;
        if error.abs() < 1e-4 {
            return;
        }
        self.bias -= plan.rate * 0.02 * error;
        for (at, _) in (start..end).zip(moved).filter(|(_, moved)| *moved) {
            for bucket in it
                .doc
                .part((at, at + 1))
                .iter()
                .filter(|bucket| kept(bucket))
            {
                let weight = &mut self.weights[*bucket as usize];
                let gradient = error * scale + plan.decay * *weight;
                let square = &mut self.squares[*bucket as usize];
                *square += gradient * gradient;
                *weight -= plan.rate * gradient / (square.sqrt() + 1e-3);
            }
        }
    }
}

/// From a score to a probability.
pub fn sigmoid(score: f32) -> f32 {
    1.0 / (1.0 + (-score).exp())
}
