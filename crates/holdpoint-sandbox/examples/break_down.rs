//! Arms itself and then breaks down in the way its argument names: what the tests run.
//!
//! An example and not part of the program, so that nothing that ships can be told to break down.

use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::time::Duration;

use holdpoint_sandbox::last_words::{LastWords, arm};

const WORDS: LastWords = LastWords {
    stdout: "{\"said\":\"no\"}\n",
    stderr: "denied: ",
    code: 2,
    deadline: Duration::from_millis(700),
    memory: 256 << 20,
};

fn main() -> ExitCode {
    let way = std::env::args().nth(1).unwrap_or_default();
    let words = match way.as_str() {
        // Only those that run out of time have little of it: a busy machine is slow.
        "spin" | "wait" | "flood" => WORDS,
        _ => LastWords {
            deadline: Duration::from_secs(60),
            ..WORDS
        },
    };
    if let Err(error) = arm(words) {
        let _ = writeln!(io::stderr(), "not armed: {error}");
        return ExitCode::from(3);
    }
    match way.as_str() {
        "return" => {}
        #[expect(clippy::panic, reason = "this is what it is for")]
        "panic" => panic!("a secret that must not be said"),
        "overflow" => {
            // Used, so that the recursion is not optimised away.
            let _ = writeln!(io::sink(), "{}", descend(&[1; 512]));
        }
        "allocate" => {
            let mut kept: Vec<Vec<u8>> = Vec::new();
            while kept.len() < 1_000_000 {
                kept.push(vec![1; 1 << 20]);
            }
        }
        "abort" => std::process::abort(),
        "spin" => loop {
            std::hint::spin_loop();
        },
        "stand" => {
            let _ = io::stderr().write_all(b"ready\n");
            let _ = io::stdin().read_to_end(&mut Vec::new());
        }
        "wait" => {
            let _ = io::stdin().read_to_end(&mut Vec::new());
        }
        "flood" => loop {
            // Whoever reads this reads nothing, so that the pipe is full and the write waits.
            let _ = io::stdout().write_all(&[b'x'; 4096]);
        },
        _ => return ExitCode::from(3),
    }
    ExitCode::SUCCESS
}

#[expect(unconditional_recursion, reason = "this is what it is for")]
fn descend(above: &[u8; 512]) -> u8 {
    let mut here = *above;
    std::hint::black_box(&mut here);
    descend(&here).wrapping_add(std::hint::black_box(&here).first().copied().unwrap_or(0))
}
