//! Whatever text an agent wants a shell to run, it is taken apart or refused, in bounded time.
//!
//! Every place a command names lies in the text, and a command stands after the one that runs
//! it. Data is not code: a text in single quotes is one argument and never a command.
#![no_main]

use std::ops::Range;

use holdpoint_core::shell::{self, Command, Reached};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match shell::commands(text) {
        Ok(commands) => {
            assert!(shell::read(text).is_ok());
            check_places(&commands, text);
        }
        Err(refusal) => assert!(!refusal.to_string().contains(char::is_control)),
    }

    let words: Vec<&str> = text.split_whitespace().collect();
    if let Ok(commands) = shell::commands_of_words(&words) {
        check_places(&commands, &words.join(" "));
    }

    // What Windows' shells are given becomes a line of a shell, which is read again.
    for front in [["pwsh", "-c"], ["cmd", "/c"]] {
        let words = [front[0], front[1], text];
        if let Ok(commands) = shell::commands_of_words(&words) {
            check_places(&commands, &words.join(" "));
        }
    }

    // No shell can be handed a NUL byte.
    if !text.contains('\0') {
        let quoted = format!("echo '{}'", text.replace('\'', r"'\''"));
        check_is_data(shell::commands(&quoted).ok(), text);
        check_is_data(shell::commands_of_words(&["echo", text]).ok(), text);
    }
});

fn check_places(commands: &[Command], text: &str) {
    let check = |span: &Range<usize>| {
        assert!(
            text.get(span.clone()).is_some(),
            "{span:?} is not in the text"
        );
    };
    for (index, command) in commands.iter().enumerate() {
        check(&command.span);
        command.words.iter().for_each(|word| check(&word.span));
        for assignment in &command.assignments {
            check(&assignment.value.span);
        }
        for redirect in &command.redirects {
            check(&redirect.target.span);
        }
        if let Reached::Within { wrapper, .. } = command.reached {
            assert!(
                wrapper < index,
                "command {index} is run by command {wrapper}"
            );
        }
    }
}

fn check_is_data(commands: Option<Vec<Command>>, text: &str) {
    let Some([command]) = commands.as_deref() else {
        panic!("not one command: {commands:?}");
    };
    let words: Vec<&str> = command
        .words
        .iter()
        .map(|word| word.text.as_str())
        .collect();
    assert_eq!(words, ["echo", text]);
    assert!(command.words.iter().all(|word| !word.dynamic && !word.glob));
    assert_eq!(command.opaque, []);
}
