//! Ordinary text: what an agent reads all day, taken from the machine the training runs on.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Result;
use flate2::read::GzDecoder;

use crate::chance::{Chance, hash_of_bytes};

/// A piece of ordinary text.
pub struct Chunk {
    /// What it says.
    pub text: String,
    /// What kind of text it is.
    pub kind: Kind,
    /// Which part of the split its package belongs to.
    pub part: Part,
    /// The package it comes from.
    pub group: String,
    /// Whether it is a line or a few, as commands print them, and no page.
    pub short: bool,
}

/// Which part of the split a package belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The model learns from it.
    Train,
    /// Thresholds are set on it.
    Threshold,
    /// Figures are reported on it.
    Test,
}

/// What kind of text a chunk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Programs.
    Source,
    /// Prose about programs.
    Docs,
    /// Pages.
    Html,
    /// Manual pages, as read and as written.
    Man,
    /// JSON, YAML and the like.
    Data,
    /// What commands print, and logs.
    Output,
}

impl Kind {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Source => "source",
            Kind::Docs => "docs",
            Kind::Html => "html",
            Kind::Man => "man",
            Kind::Data => "data",
            Kind::Output => "output",
        }
    }

    fn of(path: &Path) -> Option<Self> {
        let text = path.to_string_lossy();
        let name = path.file_name()?.to_string_lossy();
        if text.contains("/output/") || text.contains("/log/") {
            return Some(Kind::Output);
        }
        if text.contains("/man/") {
            return Some(Kind::Man);
        }
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let extension = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        Some(match extension.to_ascii_lowercase().as_str() {
            "rs" | "py" | "pyi" | "js" | "ts" | "tsx" | "jsx" | "mjs" | "cjs" | "c" | "h"
            | "cc" | "cpp" | "hpp" | "go" | "java" | "rb" | "pl" | "pm" | "sh" | "bash" | "s"
            | "asm" | "el" | "lua" | "vim" | "css" | "scss" | "sql" | "tcl" | "m4" | "cmake"
            | "in" | "j2" | "proto" => Kind::Source,
            "md" | "rst" | "txt" | "mdx" | "adoc" | "org" | "tex" | "pod" | "info" => Kind::Docs,
            "html" | "htm" | "xml" | "xhtml" | "svg" => Kind::Html,
            "json" | "yaml" | "yml" | "toml" | "cfg" | "ini" | "conf" | "csv" | "po" | "lock" => {
                Kind::Data
            }
            "log" => Kind::Output,
            "" if name
                .chars()
                .all(|c| c.is_ascii_uppercase() || c == '-' || c == '_') =>
            {
                Kind::Docs
            }
            "" if name.starts_with("README")
                || name.starts_with("copyright")
                || name.starts_with("changelog") =>
            {
                Kind::Docs
            }
            _ if name.starts_with("changelog")
                || name.starts_with("NEWS")
                || name.starts_with("README") =>
            {
                Kind::Docs
            }
            _ => return None,
        })
    }
}

/// How much is taken.
#[derive(Clone, Copy)]
pub struct Share {
    /// Chunks of one package at most.
    pub of_package: usize,
    /// Chunks of one file at most.
    pub of_file: usize,
}

/// Every chunk of ordinary text beneath some directories, in the order of their paths. The first
/// name beneath a directory is the package, and a package is in one part of the split only.
pub fn collect(
    roots: &[PathBuf],
    share: Share,
    wanted: impl Fn(Kind) -> bool,
) -> Result<Vec<Chunk>> {
    let mut chunks = Vec::new();
    for root in roots {
        let mut packages: Vec<PathBuf> = fs::read_dir(root)?
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .map(|entry| entry.path())
            .collect();
        packages.sort();
        for package in packages {
            let group = package
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default();
            let part = part_of(&group);
            let mut files = Vec::new();
            files_beneath(&package, 0, &mut files);
            // A package's files in an order that has nothing to do with their names, so that its
            // share is a sample of it.
            files.sort_by_key(|path| {
                (
                    hash_of_bytes(path.to_string_lossy().as_bytes()),
                    path.clone(),
                )
            });
            let mut left = share.of_package;
            for file in files {
                let Some(kind) = Kind::of(&file).filter(|kind| wanted(*kind)) else {
                    continue;
                };
                let Some(text) = text_of(&file) else { continue };
                let mut chance = Chance::new(hash_of_bytes(text.as_bytes()));
                let chunk = |piece: &str, short| Chunk {
                    text: piece.to_owned(),
                    kind,
                    part,
                    group: group.clone(),
                    short,
                };
                let lines = lines(&text, &mut chance);
                chunks.extend(lines.into_iter().map(|piece| chunk(piece, true)));
                let mut pieces = pieces(&text, &mut chance);
                chance.shuffle(&mut pieces);
                pieces.truncate(share.of_file.min(left));
                left -= pieces.len();
                chunks.extend(pieces.into_iter().map(|piece| chunk(piece, false)));
                if left == 0 {
                    break;
                }
            }
        }
    }
    Ok(chunks)
}

/// Whole files of the packages nobody learns from, with their kinds; of one package at most so many.
pub fn whole_files(roots: &[PathBuf], of_package: usize) -> Result<Vec<(Kind, PathBuf, String)>> {
    let mut all = Vec::new();
    for root in roots {
        let mut packages = fs::read_dir(root)?
            .map(|entry| entry.map(|it| it.path()))
            .collect::<Result<Vec<_>, _>>()?;
        packages.sort();
        for package in packages {
            let group = package.file_name().unwrap_or_default().to_string_lossy();
            if part_of(&group) != Part::Test {
                continue;
            }
            let mut files = Vec::new();
            files_beneath(&package, 0, &mut files);
            files.sort_by_key(|path| hash_of_bytes(path.to_string_lossy().as_bytes()));
            let texts = files
                .into_iter()
                .filter_map(|path| Some((Kind::of(&path)?, text_of(&path)?, path)));
            let texts = texts.map(|(kind, text, path)| (kind, path, text));
            all.extend(texts.take(of_package));
        }
    }
    Ok(all)
}

/// The part of the split by the package's name without its version.
fn part_of(group: &str) -> Part {
    let version = group
        .match_indices(['-', '_'])
        .find(|(at, _)| *at > 0 && group[at + 1..].starts_with(|c: char| c.is_ascii_digit()))
        .map_or(group.len(), |(at, _)| at);
    let name = group[..version].to_ascii_lowercase().replace('_', "-");
    match hash_of_bytes(name.as_bytes()) % 10 {
        0..=5 => Part::Train,
        6..=7 => Part::Threshold,
        _ => Part::Test,
    }
}

fn files_beneath(path: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    let Ok(meta) = fs::symlink_metadata(path) else {
        return;
    };
    if meta.is_file() {
        files.push(path.to_owned());
    } else if meta.is_dir() && depth < 12 {
        let Ok(entries) = fs::read_dir(path) else {
            return;
        };
        for entry in entries.flatten() {
            files_beneath(&entry.path(), depth + 1, files);
        }
    }
}

/// The text of a file, when it is one and not too long.
fn text_of(path: &Path) -> Option<String> {
    const MOST: u64 = 2 << 20;
    let file = fs::File::open(path).ok()?;
    let mut bytes = Vec::new();
    if path.extension().is_some_and(|it| it == "gz") {
        GzDecoder::new(file)
            .take(MOST)
            .read_to_end(&mut bytes)
            .ok()?;
    } else {
        file.take(MOST).read_to_end(&mut bytes).ok()?;
    }
    if bytes.len() < 200 || bytes.contains(&0) {
        return None;
    }
    match String::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if error.utf8_error().error_len().is_none() => {
            let end = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            bytes.truncate(end);
            String::from_utf8(bytes).ok()
        }
        Err(_) => None,
    }
}

/// A text in pieces of one to four thousand bytes, cut at line ends where there are some.
fn pieces<'t>(text: &'t str, chance: &mut Chance) -> Vec<&'t str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while rest.len() >= 200 {
        let wanted = 1000 + chance.below(3000);
        let end = rest.floor_char_boundary(wanted.min(rest.len()));
        let end = rest[..end].rfind('\n').map_or(end, |line| line + 1);
        let end = if end < 500 {
            rest.floor_char_boundary(wanted.min(rest.len()))
        } else {
            end
        };
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// A few short pieces of a text: a line, some lines, a sentence. A model that only knows pages takes
/// everything short for an order.
fn lines<'t>(text: &'t str, chance: &mut Chance) -> Vec<&'t str> {
    const OF_FILE: usize = 3;
    let starts: Vec<usize> = text
        .match_indices(['\n', '.'])
        .map(|(at, end)| at + end.len())
        .collect();
    let mut pieces = Vec::new();
    for _ in 0..OF_FILE {
        if starts.is_empty() {
            break;
        }
        let first = chance.below(starts.len());
        let last = (first + 1 + chance.below(3)).min(starts.len() - 1);
        let piece = text[starts[first]..starts[last]].trim();
        let piece = &piece[..piece.floor_char_boundary(400.min(piece.len()))];
        if piece.chars().filter(|c| c.is_alphabetic()).count() > 1 {
            pieces.push(piece);
        }
    }
    pieces
}
