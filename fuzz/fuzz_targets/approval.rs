//! Whatever bytes reach the approval daemon, or stand where a person types: nothing panics, and what
//! is not surely a yes is none.
#![no_main]

use holdpoint_broker::answer::Typed;
use holdpoint_broker::wire::{Reply, Wish};
use holdpoint_broker::{Answer, Roster};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // A caller's line, the daemon's, and a list of people.
    if let Ok(wish) = serde_json::from_slice::<Wish>(bytes) {
        let again = serde_json::to_vec(&wish).expect("a wish can be written");
        serde_json::from_slice::<Wish>(&again).expect("and read again");
    }
    let _ = serde_json::from_slice::<Reply>(bytes);
    let _ = Roster::read("people.json", bytes);

    let Ok(line) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Some(Typed::Answer(answer)) = Answer::typed(line) {
        let first = line.trim().to_lowercase();
        let first = first.split_whitespace().next().unwrap_or_default();
        let yes = [
            "y", "yes", "once", "a", "always", "all", "t", "turn", "i", "idle",
        ];
        assert_eq!(answer.releases(), yes.contains(&first), "{line:?}");
    }
});
