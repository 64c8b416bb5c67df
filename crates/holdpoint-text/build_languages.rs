//! Compiles `rules/injection/languages.toml` into tables: words by their hashes, letters by ranges.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::load;
use super::words::hash_of;

/// As many as have a bit each in a word's mask, but for the last: that is the place of what is none of them.
const MAX_LANGUAGES: usize = 31;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LanguagesFile {
    language: Vec<LanguageEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LanguageEntry {
    code: String,
    #[serde(default)]
    words: String,
    #[serde(default)]
    letters: String,
    #[serde(default)]
    own: String,
}

pub(crate) fn write(path: &Path, target: &Path) {
    let file: LanguagesFile = load(path);
    assert!(file.language.len() <= MAX_LANGUAGES, "too many languages");
    let mut words: BTreeMap<u32, u32> = BTreeMap::new();
    let mut letters = Vec::new();
    for (at, entry) in file.language.iter().enumerate() {
        for word in parts(&entry.words) {
            *words.entry(hash_of(word)).or_default() |= 1 << at;
        }
        for (list, is_own) in [(&entry.letters, false), (&entry.own, true)] {
            for range in parts(list) {
                let mut ends = range.chars().filter(|c| *c != '-');
                let first = ends.next().expect("a range has a letter");
                let last = ends.next_back().unwrap_or(first);
                assert!(first <= last, "{}: `{range}` is no range", entry.code);
                letters.push(format!("({first:?}, {last:?}, {at}, {is_own})"));
            }
        }
    }
    let codes: Vec<&str> = file.language.iter().map(|it| it.code.as_str()).collect();
    let words: Vec<(u32, u32)> = words.into_iter().collect();
    let source = format!(
        "static CODES: [&str; {}] = {codes:?};\n\
         static WORDS: [(u32, u32); {}] = {words:?};\n\
         static LETTERS: [(char, char, u8, bool); {}] = [{}];\n",
        codes.len(),
        words.len(),
        letters.len(),
        letters.join(", "),
    );
    fs::write(target, source).unwrap();
}

fn parts(list: &str) -> impl Iterator<Item = &str> {
    list.split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
}
