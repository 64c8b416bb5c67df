//! Harmless texts of many languages and kinds: what a page, a mail, a record or a rule file says when nobody attacks.
//!
//! Without them a language by itself looks like an attack, because the attacks in it are all a model sees of it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::chance::{Chance, hash_of_bytes};
use crate::data::{self, Labelled};
use crate::ordinary::Part;

/// A harmless text and the part of the split it belongs to.
pub struct Harmless {
    /// The text. Its source is its class and its language: those are what is to count alike.
    pub it: Labelled,
    /// The part of the split.
    pub part: Part,
}

/// Reads a file of harmless texts. A source of one language is in one part of the split only, and so is a repository of rule
/// files or a book.
pub fn read(path: &Path) -> Result<Vec<Harmless>> {
    let texts = data::read(path)?;
    Ok(texts
        .into_iter()
        .map(|mut it| {
            let part = part_of(&it);
            it.source = format!("real.{}.{}", it.class, it.lang);
            Harmless { it, part }
        })
        .collect())
}

/// Whole files beneath directories, each in one named by its language: thresholds are set on half of them, and the others
/// reported on. Nobody learns from them.
pub fn files(roots: &[PathBuf]) -> Result<Vec<Harmless>> {
    let mut all = Vec::new();
    for root in roots {
        let mut paths: Vec<PathBuf> = Vec::new();
        for directory in fs::read_dir(root)? {
            for file in fs::read_dir(directory?.path())? {
                paths.push(file?.path());
            }
        }
        paths.sort();
        for path in paths {
            let name =
                |path: Option<&OsStr>| path.unwrap_or_default().to_string_lossy().into_owned();
            let lang = name(path.parent().and_then(Path::file_name));
            let is_odd = hash_of_bytes(name(path.file_name()).as_bytes()) % 2 == 1;
            let Ok(text) = fs::read_to_string(&path) else {
                continue;
            };
            all.push(Harmless {
                it: Labelled {
                    text,
                    source: "file".into(),
                    lang,
                    class: "file".into(),
                    ..Labelled::default()
                },
                part: if is_odd { Part::Threshold } else { Part::Test },
            });
        }
    }
    Ok(all)
}

fn part_of(it: &Labelled) -> Part {
    let origin = it.origin_path.as_deref().unwrap_or_default();
    let repository = origin.split([':', '@']).next().unwrap_or_default();
    let made = it.source.starts_with("own_");
    let group = match (it.lang.as_str(), it.class.as_str()) {
        // Made by scripts from few templates: text by text, and worth little as a report.
        _ if made => it.text.as_str(),
        ("en", "prose" | "rules") => repository,
        ("en", _) => it.source.as_str(),
        (lang, _) => &format!("{} {lang}", it.source),
    };
    match hash_of_bytes(group.as_bytes()) % 10 {
        0..=5 => Part::Train,
        6..=7 => Part::Threshold,
        _ => Part::Test,
    }
}

/// An attack inside a harmless text: at the end of a line or sentence of it, with what stands around it there.
pub fn planted(attack: &str, text: &str, chance: &mut Chance) -> String {
    let ends: Vec<usize> = text
        .char_indices()
        .filter(|(_, c)| matches!(c, '\n' | '.' | '!' | '?' | '。' | '।' | '！' | '？'))
        .map(|(at, c)| at + c.len_utf8())
        .collect();
    let at = match ends.get(chance.below(ends.len().max(1))) {
        Some(at) => *at,
        None => text.len(),
    };
    let from = text.ceil_char_boundary(at.saturating_sub(AROUND));
    let to = text.floor_char_boundary((at + AROUND).min(text.len()));
    let gap = if text[..at].ends_with('\n') {
        "\n"
    } else {
        " "
    };
    format!(
        "{}{gap}{attack}{gap}{}",
        text[from..at].trim_end(),
        text[at..to].trim_start()
    )
}

/// Windows are far shorter than this.
const AROUND: usize = 500;
