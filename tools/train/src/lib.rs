//! Material for the classifier: made-up attacks and what resembles them, and ways to disguise a sentence.

pub mod synth;
