//! Which words made a text score.

use std::ops::Range;

use crate::detect::concepts;
use crate::normal::{Disguise, Disguises};
use crate::{Origin, normal, words};

use super::features::Reader;
use super::language::Language;
use super::model::{Model, norm};
use super::windows;
use super::wrapper::Wrapper;

/// A word and what it weighs.
#[derive(Clone, Debug, PartialEq)]
pub struct Weighed {
    /// Where it stands in the text.
    pub span: Range<usize>,
    /// What it adds to the score of its window, or takes from it; 1 is the whole way to a finding.
    pub weight: f32,
}

/// The words of the windows that read like orders, with what each of them weighs, in the order of the
/// text. Empty when no window does.
pub fn explain(text: &str, origin: Origin) -> Vec<Weighed> {
    let Some(model) = Model::shipped() else {
        return Vec::new();
    };
    let mut list = Vec::new();
    words::split(text, &mut list);
    let loose = model.marks(origin, false).loose;
    let mut flagged = vec![false; list.len()];
    windows::scored(&model, text, &list, &mut |window| {
        if window.score >= loose
            && let Some(part) = flagged.get_mut(window.first..window.end)
        {
            part.fill(true);
        }
    });
    let mut hits = Vec::new();
    concepts::find(&list, text, &mut hits);
    let mut reader = Reader::new(text, &list, &hits);
    let way = (loose - model.header().bias).max(0.01);
    let mut weighed = Vec::new();
    for (word, flagged) in list.iter().zip(flagged) {
        let mut sum = 0;
        reader.next(&mut |feature| sum += model.feature(feature));
        if flagged {
            weighed.push(Weighed {
                span: word.start as usize..word.end as usize,
                weight: model.at_least(sum) as f32 * model.header().scale * norm(USUAL) / way,
            });
        }
    }
    weighed
}

/// What a finding rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The language it seems to be in.
    pub language: Language,
    /// What it stands in, each once.
    pub wrappers: Vec<Wrapper>,
    /// The ideas of the lexicon in it, each once, in the order of the text.
    pub ideas: Vec<&'static str>,
    /// The highest score of the classifier in it, if there are enough words for one.
    pub score: Option<f32>,
    /// What talk about attacks around it takes from the score.
    pub talk: f32,
    /// How much more it takes in that language, or less because it was handed out in pieces.
    pub margin: f32,
    /// The scores that part texts of its origin, margin included.
    pub thresholds: Thresholds,
}

/// Scores that part texts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// From here on a text is mentioned.
    pub mention: f32,
    /// From here on it is annotated.
    pub annotate: f32,
    /// From here on it is withheld.
    pub withhold: f32,
}

/// What was made of a part of a text: of what stands there, without its disguises, and of what stands around it. `disguises` are
/// those that were taken off to see it.
pub fn explain_at(
    text: &str,
    part: Range<usize>,
    disguises: Disguises,
    origin: Origin,
) -> Option<Explanation> {
    let model = Model::shipped()?;
    let inside = text.get(part.clone())?;
    let views = normal::read(inside).views;
    let mut best: Option<(f32, Language)> = None;
    let mut ideas = Vec::new();
    let (mut list, mut hits) = (Vec::new(), Vec::new());
    let mut guessed = Language::OTHER;
    for view in &views {
        words::split(&view.text, &mut list);
        concepts::find(&list, &view.text, &mut hits);
        for hit in &hits {
            let name = concepts::name(hit.concept);
            if !ideas.contains(&name) {
                ideas.push(name);
            }
        }
        if guessed == Language::OTHER {
            guessed = Language::guess(&view.text, &list);
        }
        windows::scored(&model, &view.text, &list, &mut |window| {
            if best.is_none_or(|(score, _)| window.score > score) {
                let words = list.get(window.first..window.end).unwrap_or_default();
                best = Some((window.score, Language::guess(&view.text, words)));
            }
        });
    }
    let language = best.map_or(guessed, |(_, language)| language);
    let language = match language {
        Language::OTHER => language_around(text, &part),
        known => known,
    };
    let is_deliberate = disguises.are_deliberate();
    let margin = if disguises.is_empty() {
        model.margin(language)
    } else if disguises.has(Disguise::Split) && !is_deliberate {
        -super::SPLIT
    } else {
        0.0
    };
    let marks = model.marks(origin, is_deliberate);
    let talk = match is_deliberate {
        true => 0.0,
        false => super::talk_about(text, part.clone()),
    };
    let mut wrappers = Wrapper::around(text, &part);
    if talk > 0.0 {
        wrappers.push(Wrapper::Talk);
    }
    Some(Explanation {
        language,
        wrappers,
        ideas,
        score: best.map(|(score, _)| score),
        talk,
        margin,
        thresholds: Thresholds {
            mention: marks.faint + margin,
            annotate: marks.loose + margin,
            withhold: marks.strict + margin,
        },
    })
}

/// The language of what stands around a part of a text: a phrase is too short to tell it by.
fn language_around(text: &str, part: &Range<usize>) -> Language {
    let start = text.floor_char_boundary(part.start.saturating_sub(AROUND));
    let end = text.ceil_char_boundary(part.end.saturating_add(AROUND).min(text.len()));
    let around = text.get(start..end).unwrap_or_default();
    let mut list = Vec::new();
    words::split(around, &mut list);
    Language::guess(around, &list)
}

/// How far around a phrase its language is looked for: a few sentences.
const AROUND: usize = 300;

/// How far a part of a text leans to orders by its own words: nothing at 0 or below, the whole way to a finding at 1.
pub(crate) fn leaning(text: &str, part: Range<usize>) -> f32 {
    let Some(model) = Model::shipped() else {
        return 0.0;
    };
    let part = text.get(part).unwrap_or_default();
    let (mut list, mut hits) = (Vec::new(), Vec::new());
    words::split(part, &mut list);
    concepts::find(&list, part, &mut hits);
    let mut reader = Reader::new(part, &list, &hits);
    let (mut sum, mut features) = (0, 0);
    loop {
        let mut word = 0;
        let more = reader.next(&mut |feature| {
            word += model.feature(feature);
            features += 1;
        });
        sum += model.at_least(word);
        if !more {
            break;
        }
    }
    let bias = model.header().bias;
    let way = (model.marks(Origin::File, false).loose - bias).max(0.01);
    (model.score(sum, features) - bias) / way
}

/// Features of a window, roughly.
const USUAL: usize = 600;
