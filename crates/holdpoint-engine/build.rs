//! Compiles `trees.toml` into tables, so that a hook process parses nothing.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a build that cannot go on ends"
)]

use std::fmt::Write;
use std::path::{Component, Path};

use serde::Deserialize;

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Trees {
    cache: Vec<Entry>,
    tool: Vec<Entry>,
    protected: Vec<Entry>,
    repository: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    paths: Vec<String>,
    why: String,
    #[serde(default = "always")]
    missing: bool,
}

fn always() -> bool {
    true
}

fn main() {
    let root = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let file = Path::new(&root).join("src/containing/trees.toml");
    println!("cargo::rerun-if-changed={}", file.display());
    println!("cargo::rerun-if-changed=build.rs");
    let text = std::fs::read_to_string(&file).unwrap();
    let trees: Trees = toml::from_str(&text).unwrap_or_else(|error| panic!("trees.toml: {error}"));
    let mut out = String::new();
    for (name, entries) in [
        ("CACHES", trees.cache),
        ("TOOLS", trees.tool),
        ("PROTECTED", trees.protected),
        ("PROTECTED_IN_REPOSITORY", trees.repository),
    ] {
        writeln!(out, "pub(super) const {name}: &[Tree] = &[").unwrap();
        let mut known: Vec<&str> = Vec::new();
        for entry in &entries {
            assert!(
                entry.why.len() > 10,
                "trees.toml: {:?} without a reason",
                entry.paths
            );
            for path in &entry.paths {
                assert!(
                    is_below(path),
                    "trees.toml: `{path}` does not lie below a directory"
                );
                assert!(
                    !known.contains(&path.as_str()),
                    "trees.toml: `{path}` stands twice"
                );
                known.push(path);
                let (text, begins) = match path.strip_suffix('*') {
                    Some(beginning) => (beginning, true),
                    None => (path.as_str(), false),
                };
                let plain =
                    !text.contains('*') && !(begins && (entry.missing || text.contains('/')));
                assert!(
                    plain,
                    "trees.toml: `{path}`: one `*`, at the end of a name, for what is there"
                );
                let missing = entry.missing;
                writeln!(
                    out,
                    "    Tree {{ path: {text:?}, begins: {begins}, missing: {missing} }},"
                )
                .unwrap();
            }
        }
        writeln!(out, "];").unwrap();
    }
    let target = std::env::var("OUT_DIR").unwrap();
    std::fs::write(Path::new(&target).join("trees.rs"), out).unwrap();
}

/// Whether a path names something below a directory, and nothing else.
fn is_below(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    !path.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
}
