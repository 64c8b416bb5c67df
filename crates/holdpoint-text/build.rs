//! Compiles `rules/redaction/` and `rules/injection/` into tables, so that a hook process parses nothing.
//!
//! A mistake in them is an error of the build: an unknown key or word, a rule without examples, an id
//! that stands twice.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::indexing_slicing,
    dead_code,
    reason = "a build script stops the build by failing loudly, and it reads files"
)]

use std::fs;
use std::path::{Path, PathBuf};

#[path = "src/bits.rs"]
mod bits;
#[path = "build_injection.rs"]
mod injection;
#[path = "src/detect/format.rs"]
mod injection_format;
#[path = "build_languages.rs"]
mod languages;
#[path = "build_redaction.rs"]
mod redaction;
#[path = "src/redaction/format.rs"]
mod redaction_format;
#[path = "src/redaction/shape.rs"]
mod redaction_shape;
#[path = "src/words.rs"]
#[allow(unreachable_pub, reason = "the crate exports it; here it is only used")]
mod words;

fn main() {
    let root = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../rules");
    let target = PathBuf::from(std::env::var("OUT_DIR").unwrap());
    redaction::write(&root.join("redaction"), &target.join("redaction.rs"));
    injection::write(&root.join("injection"), &target);
    languages::write(
        &root.join("injection/languages.toml"),
        &target.join("languages.rs"),
    );
}

fn load<T: serde::de::DeserializeOwned>(path: &Path) -> T {
    println!("cargo::rerun-if-changed={}", path.display());
    let text = fs::read_to_string(path).unwrap();
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
