//! `find … -delete`: the same search, printing what it finds in place of removing it.

use std::path::Path;
use std::time::{Duration, Instant};

use holdpoint_core::{Explained, ExplainedCommand};

use super::deletions::Count;
use super::{Known, NO_SIMULATION, quiet};

/// What `find` does to more than its output, besides `-delete`.
const ACTS: &[&str] = &[
    "-exec",
    "-execdir",
    "-ok",
    "-okdir",
    "-fprint",
    "-fprint0",
    "-fprintf",
    "-fls",
    "-files0-from",
];

pub(super) fn simulate(
    command: &ExplainedCommand,
    all: &Explained,
    at: usize,
    directory: Option<&Path>,
) -> Option<Known> {
    let words: Vec<&str> = command.words.iter().skip(1).map(String::as_str).collect();
    let acts = words.iter().any(|word| ACTS.contains(word));
    let deletes = words.contains(&"-delete");
    if !acts && !deletes {
        return None;
    }
    let inner_removes = all.commands.iter().skip(at + 1).any(|inner| {
        inner.within.last().is_some_and(|outer| outer == "find")
            && inner.words.first().is_some_and(|program| program == "rm")
    });
    if acts {
        let what = if inner_removes {
            "find removes by another program"
        } else {
            "find runs another program"
        };
        return Some(Known::nothing(&format!("{NO_SIMULATION}: {what}")));
    }
    let unknown = words.iter().any(|word| word.contains('…'));
    let (Some(directory), false) = (directory, unknown) else {
        let why = "what it searches is only known when it runs";
        return Some(Known::nothing(why));
    };
    // `-delete` looks into a directory before it removes it, and so does this. Printed at its very
    // place, it means what it did in the expression.
    let mut arguments: Vec<&str> = words
        .iter()
        .map(|word| match *word {
            "-delete" => "-print0",
            other => other,
        })
        .collect();
    let start = arguments
        .iter()
        .position(|word| word.starts_with(['-', '(', '!']));
    arguments.insert(start.unwrap_or(arguments.len()), "-depth");
    let found = match quiet::run("find", &arguments, directory, &[], quiet::MAX_TIME) {
        Ok(found) => found,
        Err(why) => return Some(Known::nothing(&format!("it cannot be said: {why}"))),
    };
    let until = Instant::now() + Duration::from_secs(2);
    let mut count = Count::default();
    for path in found.records() {
        count.add(&directory.join(path), false, until);
    }
    if count.is_empty() {
        return Some(Known::all(vec!["removes nothing: nothing is found".into()]));
    }
    let complete = count.is_whole() && !found.cut;
    let mut lines = count.lines("removes");
    if found.cut {
        lines.push("there is more than was looked at".into());
    }
    Some(Known { lines, complete })
}
