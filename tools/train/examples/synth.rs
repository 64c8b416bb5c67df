//! Shows made-up texts: `synth [SEED]`, one JSON-like line each.

use holdpoint_train::synth;

fn main() {
    let seed = std::env::args().nth(1).and_then(|seed| seed.parse().ok());
    for sample in synth::generate(seed.unwrap_or(1)) {
        println!(
            "{}\t{}\t{}\t{:?}",
            u8::from(sample.attack),
            sample.family,
            sample.lang,
            sample.text
        );
    }
}
