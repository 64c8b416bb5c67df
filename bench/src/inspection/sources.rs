//! Clean source text: that of the packages cargo has fetched. This repository's own is full of attacks.

use std::path::PathBuf;

use anyhow::{Result, ensure};

/// Files of source text, in the order of their paths, until there is enough of them.
pub(crate) fn collect(bytes: usize) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    let mut left = bytes;
    gather(cargo_home().join("registry/src"), &mut left, &mut texts);
    ensure!(
        left < bytes / 2,
        "too little source text: {} bytes of {bytes}; run `cargo fetch`",
        bytes - left
    );
    Ok(texts)
}

fn cargo_home() -> PathBuf {
    std::env::var_os("CARGO_HOME").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cargo"),
        PathBuf::from,
    )
}

fn gather(place: PathBuf, left: &mut usize, texts: &mut Vec<String>) {
    const KINDS: [&str; 8] = ["rs", "md", "toml", "c", "h", "py", "js", "sh"];
    let mut waiting = vec![place];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            let mut inside: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            inside.sort();
            waiting.extend(inside.into_iter().rev());
        } else if path
            .extension()
            .is_some_and(|kind| KINDS.iter().any(|it| kind == *it))
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            let Some(rest) = left.checked_sub(text.len()) else {
                return;
            };
            *left = rest;
            texts.push(text);
        }
    }
}
