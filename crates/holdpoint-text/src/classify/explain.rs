//! Which words made a text score.

use std::ops::Range;

use crate::Origin;
use crate::detect::concepts;
use crate::words;

use super::features::Reader;
use super::model::{Model, norm};
use super::windows;

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

/// Features of a window, roughly.
const USUAL: usize = 600;
