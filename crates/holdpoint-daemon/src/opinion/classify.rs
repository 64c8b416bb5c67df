//! Asking a classifier, as Text Embeddings Inference serves one: `POST …/predict`.
//!
//! A classifier reads no task and cannot be talked to, so its text needs no marks.

use holdpoint_broker::wire::Opinion;
use holdpoint_core::policy::SecondOpinion;
use serde::Deserialize;
use serde_json::{Value, json};

/// One label and how sure it is.
#[derive(Deserialize)]
struct Label {
    label: String,
    score: f32,
}

/// What servers answer: the labels of the text, or a list of them with one text in it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    One(Vec<Label>),
    List(Vec<Vec<Label>>),
}

/// The question about a text.
pub(super) fn question(text: &str) -> Value {
    // What is longer than the model reads is cut at its end: what was found stands before.
    json!({"inputs": text, "truncate": true, "raw_scores": false})
}

/// The opinion in an answer: what the labels of attacks score together. Without any of them nobody knows what the others mean.
pub(super) fn opinion(answer: &str, settings: &SecondOpinion) -> Result<Opinion, String> {
    let unreadable = || "the model server's answer is no list of labels and scores".to_owned();
    let answer: Answer = serde_json::from_str(answer).map_err(|_| unreadable())?;
    let labels = match answer {
        Answer::One(labels) => labels,
        Answer::List(lists) => {
            let mut lists = lists.into_iter();
            match (lists.next(), lists.next()) {
                (Some(labels), None) => labels,
                (None, _) | (_, Some(_)) => return Err(unreadable()),
            }
        }
    };
    if !labels.iter().all(|it| (0.0..=1.0).contains(&it.score)) {
        return Err("the model server's scores are not from 0 to 1".to_owned());
    }
    let mut attacks = labels
        .iter()
        .filter(|it| settings.means_attack(&it.label))
        .peekable();
    if attacks.peek().is_none() {
        return Err("none of the model server's labels is in `attackLabels`".to_owned());
    }
    let score: f32 = attacks.map(|it| it.score).sum();
    Ok(match score >= settings.min_score() {
        true => Opinion::Attack,
        false => Opinion::Harmless,
    })
}
