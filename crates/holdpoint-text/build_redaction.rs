//! Compiles `rules/redaction/` into tables without a single pointer in them, so that a process
//! that redacts reads a few pages and relocates nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::load;
use super::redaction_format::{
    CHECKS, FormatEntry, FormatsFile, MARKERS, NamesFile, ProgramEntry, ProgramsFile,
};
use super::redaction_shape::{Set, Shape};

/// As many buckets as `tables::bucket` knows.
const BUCKETS: usize = 4096;

/// Bytes that say whether a place is worth a look, four for each bucket.
const BEGINNINGS: usize = BUCKETS * 4;

/// Texts that are no data: the readers behind them are written in Rust. In the order of
/// `tables::Special`.
const SPECIAL: &[&str] = &[
    "://",
    "-----begin",
    "authorization",
    "bearer ",
    "cookie",
    "identified by",
    "private-lines:",
    "--from-literal",
    "kind: secret",
    "--password-stdin",
    "--with-token",
    "chpasswd",
    "sudo -s",
    "passwd --stdin",
    "secret set",
    "secret put",
    "pass insert",
    "secrets set",
    "create secret",
    "secret create",
    "versions add",
    "kv put",
];

struct Anchor {
    text: String,
    kind: &'static str,
    index: usize,
    least: usize,
    most: usize,
}

#[derive(Default)]
struct Texts {
    all: String,
    known: BTreeMap<String, usize>,
}

impl Texts {
    fn place(&mut self, text: &str) -> String {
        let at = match self.known.get(text) {
            Some(at) => *at,
            None => {
                let at = self.all.len();
                self.all.push_str(text);
                self.known.insert(text.to_owned(), at);
                at
            }
        };
        let at = u16::try_from(at).expect("more than 64 KiB of texts");
        let length = u16::try_from(text.len()).unwrap();
        format!("Text {{ at: {at}, length: {length} }}")
    }
}

#[derive(Default)]
struct Tables {
    texts: Texts,
    anchors: Vec<Anchor>,
    programs: Vec<u8>,
    sets: Vec<Set>,
    rows: String,
    ids: BTreeSet<String>,
}

pub(crate) fn write(root: &Path, target: &Path) {
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files: Vec<PathBuf> = fs::read_dir(root)
        .expect("the formats are missing")
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "toml"))
        .filter(|path| !path.ends_with("names.toml") && !path.ends_with("programs.toml"))
        .collect();
    files.sort();
    println!("cargo::rerun-if-changed={}", root.display());
    let mut tables = Tables::default();
    for path in &files {
        let file: FormatsFile = load(path);
        let place = path.file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(
            path.file_stem().unwrap().to_string_lossy(),
            file.domain,
            "{place}: the domain is named like its file"
        );
        for format in &file.format {
            assert!(
                format.id.starts_with(&format!("{}.", file.domain)),
                "{place}: `{}` does not begin with its domain",
                format.id
            );
            tables.add(format, &format!("{place}: `{}`", format.id));
        }
    }
    for (index, text) in SPECIAL.iter().enumerate() {
        tables.anchors.push(Anchor {
            text: (*text).to_owned(),
            kind: "Special",
            index,
            least: 0,
            most: 0,
        });
    }
    let names = tables.names(&load(&root.join("names.toml")));
    let programs = tables.programs(&load::<ProgramsFile>(&root.join("programs.toml")).program);
    fs::write(target, tables.source(&names, &programs)).unwrap();
}

impl Tables {
    fn add(&mut self, format: &FormatEntry, place: &str) {
        assert!(self.ids.insert(format.id.clone()), "{place} stands twice");
        let shape =
            Shape::read(&format.shape).unwrap_or_else(|error| panic!("{place}: the shape {error}"));
        let marker = MARKERS
            .iter()
            .position(|word| *word == format.marker)
            .unwrap_or_else(|| panic!("{place}: unknown marker `{}`", format.marker));
        let checks = format.check.iter().fold(0u8, |bits, word| {
            let at = CHECKS.iter().position(|known| known == word);
            bits | 1 << at.unwrap_or_else(|| panic!("{place}: unknown check `{word}`"))
        });
        assert!(
            format.prefix.is_empty() != format.near.is_empty(),
            "{place}: it needs `prefix` or `near`, not both"
        );
        let index = self.ids.len() - 1;
        for prefix in &format.prefix {
            let (least, most) = shape
                .place_of(prefix)
                .unwrap_or_else(|| panic!("{place}: `{prefix}` does not stand in the shape"));
            assert!(most <= 80, "{place}: too much may stand before `{prefix}`");
            assert!(prefix.len() >= 3, "{place}: `{prefix}` is too short");
            self.anchors.push(Anchor {
                text: prefix.clone(),
                kind: if format.any_case {
                    "FormatInAnyCase"
                } else {
                    "Format"
                },
                index,
                least,
                most,
            });
        }
        for near in &format.near {
            assert!(near.len() >= 3, "{place}: `{near}` is too short");
            self.anchors.push(Anchor {
                text: near.to_ascii_lowercase(),
                kind: "Near",
                index,
                least: 0,
                most: 0,
            });
        }
        let start = self.programs.len();
        shape
            .write(&mut self.programs, &mut self.sets)
            .unwrap_or_else(|error| panic!("{place}: the shape {error}"));
        let length = self.programs.len() - start;
        let (id, what) = (self.texts.place(&format.id), self.texts.place(&format.what));
        writeln!(
            self.rows,
            "    Row {{ id: {id}, what: {what}, marker: {marker}, checks: {checks}, any_case: {}, inside: {}, \
             near: {}, program: ({start}, {length}) }},",
            format.any_case,
            format.inside,
            !format.near.is_empty(),
        )
        .unwrap();
    }

    fn names(&mut self, file: &NamesFile) -> String {
        for root in &file.roots {
            self.anchors.push(Anchor {
                text: root.clone(),
                kind: "Name",
                index: 0,
                least: 0,
                most: 0,
            });
        }
        let mut rows = String::new();
        for entry in &file.name {
            let marker = MARKERS
                .iter()
                .position(|word| *word == entry.marker)
                .unwrap_or_else(|| panic!("names.toml: unknown marker `{}`", entry.marker));
            for (list, reach) in [
                (&entry.whole, "Whole"),
                (&entry.words, "Words"),
                (&entry.ends, "Ends"),
            ] {
                for name in list {
                    let letters = |root: &String| {
                        name.contains(root.trim_matches(|end: char| !end.is_alphanumeric()))
                    };
                    assert!(
                        file.roots.iter().any(letters),
                        "names.toml: no root stands in `{name}`"
                    );
                    let text = self.texts.place(name);
                    writeln!(
                        rows,
                        "    Name {{ text: {text}, tail: *b{:?}, marker: {marker}, reach: Reach::{reach} }},",
                        name.split_at(name.len() - 2).1
                    )
                    .unwrap();
                }
            }
        }
        rows
    }

    /// A program's flags are one text, a line each: what a flag does, a blank, the flag.
    fn programs(&mut self, entries: &[ProgramEntry]) -> String {
        let mut rows = String::new();
        for (index, entry) in entries.iter().enumerate() {
            for name in &entry.names {
                // The shortest names are found with what ends them.
                let ends: &[&str] = if name.len() < 3 {
                    &[" ", "\"", "'"]
                } else {
                    &[""]
                };
                for end in ends {
                    self.anchors.push(Anchor {
                        text: format!("{name}{end}"),
                        kind: "Program",
                        index,
                        least: 0,
                        most: 0,
                    });
                }
            }
            let mut flags = String::new();
            for (letter, list) in [
                ("w", &entry.with),
                ("n", &entry.next),
                ("g", &entry.glued),
                ("p", &entry.pair),
                ("a", &entry.assigned),
            ] {
                for flag in list {
                    writeln!(flags, "{letter} {flag}").unwrap();
                }
            }
            let names = self.texts.place(&format!("\n{}\n", entry.names.join("\n")));
            let flags = self.texts.place(&flags);
            let between = entry.between.as_deref().unwrap_or(":").as_bytes()[0];
            writeln!(
                rows,
                "    Program {{ names: {names}, flags: {flags}, between: {between}, operand: {} }},",
                entry.operand
            )
            .unwrap();
        }
        rows
    }

    fn source(mut self, names: &str, programs: &str) -> String {
        for anchor in &self.anchors {
            assert!(
                anchor.text.len() >= 3 && anchor.text.is_ascii(),
                "`{}` is no fixed text to look for",
                anchor.text
            );
        }
        self.anchors
            .sort_by_key(|anchor| (bucket(&anchor.text), anchor.text.clone()));
        let mut heads = vec![0u16; BUCKETS + 1];
        for anchor in &self.anchors {
            heads[bucket(&anchor.text) + 1] += 1;
        }
        for at in 0..BUCKETS {
            heads[at + 1] += heads[at];
        }
        let mut beginnings = vec![0u8; BEGINNINGS];
        for anchor in &self.anchors {
            let lower = anchor.text.to_ascii_lowercase();
            // A text of three bytes may stand before any fourth.
            let bits = lower
                .as_bytes()
                .get(3)
                .map_or(u8::MAX, |byte| 1 << (byte & 7));
            beginnings[(hash(&lower) >> 18) as usize] |= bits;
        }
        let anchors = std::mem::take(&mut self.anchors);
        let mut rows = String::new();
        for anchor in &anchors {
            let text = self.texts.place(&anchor.text);
            writeln!(
                rows,
                "    Anchor {{ text: {text}, kind: Kind::{}, index: {}, least: {}, most: {} }},",
                anchor.kind, anchor.index, anchor.least, anchor.most
            )
            .unwrap();
        }
        let mut out = String::new();
        let mut table = |name: &str, kind: &str, count: usize, rows: &str| {
            writeln!(
                out,
                "pub(crate) static {name}: [{kind}; {count}] = [\n{rows}];"
            )
            .unwrap();
        };
        let lines = |rows: &str| rows.lines().count();
        table("FORMATS", "Row", self.ids.len(), &self.rows);
        table("NAMES", "Name", lines(names), names);
        table("PROGRAMS", "Program", lines(programs), programs);
        table("ANCHORS", "Anchor", anchors.len(), &rows);
        let list = |items: &mut dyn Iterator<Item = String>| items.collect::<Vec<_>>().join(", ");
        let heads = list(&mut heads.iter().map(u16::to_string));
        table("HEADS", "u16", BUCKETS + 1, &heads);
        let beginnings = list(&mut beginnings.iter().map(u8::to_string));
        table("BEGINNINGS", "u8", BEGINNINGS, &beginnings);
        let sets = list(&mut self.sets.iter().map(|set| format!("{set:?}")));
        table("SETS", "Set", self.sets.len(), &sets);
        let code = list(&mut self.programs.iter().map(u8::to_string));
        table("CODE", "u8", self.programs.len(), &code);
        writeln!(out, "pub(crate) static TEXTS: &str = {:?};", self.texts.all).unwrap();
        out
    }
}

/// The hash of a text's first three bytes in lower case; `tables::hash` computes the same.
fn hash(text: &str) -> u32 {
    let bytes = text.to_ascii_lowercase().into_bytes();
    let gram = u32::from(bytes[0]) << 16 | u32::from(bytes[1]) << 8 | u32::from(bytes[2]);
    gram.wrapping_mul(0x9e37_79b1)
}

fn bucket(text: &str) -> usize {
    (hash(text) >> 20) as usize
}
