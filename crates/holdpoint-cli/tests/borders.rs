//! The borders between the crates, as `cargo tree` sees them: who knows whom, and what each brings
//! along. A dependency that crosses one fails here and not years later in somebody's build.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Which crates of ours a crate may name itself. Whoever is not here has no place yet.
const MAY_KNOW: &[(&str, &[&str])] = &[
    ("holdpoint-text", &[]),
    ("holdpoint-core", &["holdpoint-text"]),
    ("holdpoint-sandbox", &[]),
    ("holdpoint-proof", &[]),
    ("holdpoint-mcp", &["holdpoint-core"]),
    (
        "holdpoint-ledger",
        &["holdpoint-core", "holdpoint-proof", "holdpoint-text"],
    ),
    (
        "holdpoint-index",
        &["holdpoint-core", "holdpoint-ledger", "holdpoint-text"],
    ),
    (
        "holdpoint-broker",
        &[
            "holdpoint-core",
            "holdpoint-proof",
            "holdpoint-sandbox",
            "holdpoint-text",
        ],
    ),
    (
        "holdpoint-daemon",
        &[
            "holdpoint-broker",
            "holdpoint-core",
            "holdpoint-proof",
            "holdpoint-sandbox",
            "holdpoint-text",
        ],
    ),
    (
        "holdpoint-engine",
        &[
            "holdpoint-broker",
            "holdpoint-core",
            "holdpoint-ledger",
            "holdpoint-proof",
            "holdpoint-sandbox",
            "holdpoint-text",
        ],
    ),
    (
        "holdpoint-agents",
        &[
            "holdpoint-broker",
            "holdpoint-core",
            "holdpoint-engine",
            "holdpoint-ledger",
            "holdpoint-sandbox",
            "holdpoint-text",
        ],
    ),
    ("holdpoint", &["holdpoint-engine"]),
    (
        "holdpoint-cli",
        &[
            "holdpoint-agents",
            "holdpoint-broker",
            "holdpoint-core",
            "holdpoint-daemon",
            "holdpoint-engine",
            "holdpoint-index",
            "holdpoint-ledger",
            "holdpoint-mcp",
            "holdpoint-proof",
            "holdpoint-sandbox",
            "holdpoint-text",
        ],
    ),
];

/// What needs a runtime, a database, the network or a terminal of its own.
const HEAVY: &[&str] = &[
    "axum",
    "clap",
    "hyper",
    "libsqlite3-sys",
    "ratatui",
    "rusqlite",
    "rustls",
    "tokio",
    "tokio-rustls",
    "ureq",
];

/// All a pure crate may name: data, digests, and what is known of characters and patterns. None of
/// them opens a file or asks the time.
const PURE: &[&str] = &[
    "regex-lite",
    "serde",
    "serde_json",
    "sha2",
    "toml",
    "unicode-normalization",
];

/// The most crates `holdpoint` brings along for whoever wants a `Gate` alone. Each is code somebody
/// has to trust and to wait for.
const MAX_CRATES_OF_A_GATE: usize = 45;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The names of a crate's dependencies down to `depth`, those of its own features by default, itself
/// included.
fn tree(of: &str, depth: Option<u32>) -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["tree", "--offline", "--locked", "--edges", "normal"])
        .args(["--prefix", "none", "--format", "{p}", "--package", of])
        .current_dir(root());
    if let Some(depth) = depth {
        command.args(["--depth", &depth.to_string()]);
    }
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "cargo tree of {of}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let names: BTreeSet<String> = text
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect();
    assert!(names.contains(of), "cargo tree of {of} says nothing");
    names
}

fn is_ours(name: &str) -> bool {
    name == "holdpoint" || name.starts_with("holdpoint-")
}

#[test]
fn nobody_knows_those_above_them() {
    for (of, may) in MAY_KNOW {
        let known = tree(of, Some(1));
        let ours = known.iter().filter(|name| is_ours(name) && name != of);
        for name in ours {
            assert!(
                may.contains(&name.as_str()),
                "{of} must not know {name}: dependencies point inwards"
            );
        }
    }
}

#[test]
fn every_crate_has_its_place() {
    let there: BTreeSet<String> = std::fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().join("Cargo.toml").is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    let placed: BTreeSet<String> = MAY_KNOW.iter().map(|(name, _)| (*name).into()).collect();
    assert_eq!(there, placed, "a new crate needs a row in `MAY_KNOW`");
}

#[test]
fn core_and_text_are_pure() {
    for of in ["holdpoint-text", "holdpoint-core"] {
        let known = tree(of, Some(1));
        let others = known.iter().filter(|name| !is_ours(name));
        for name in others {
            assert!(
                PURE.contains(&name.as_str()),
                "{of} is pure and must not know {name}"
            );
        }
    }
}

#[test]
fn whoever_holds_a_call_starts_no_runtime() {
    for of in [
        "holdpoint-text",
        "holdpoint-core",
        "holdpoint-sandbox",
        "holdpoint-ledger",
        "holdpoint-mcp",
        "holdpoint-broker",
        "holdpoint-engine",
        "holdpoint-agents",
        "holdpoint",
    ] {
        let all = tree(of, None);
        let heavy: Vec<&str> = HEAVY
            .iter()
            .copied()
            .filter(|name| all.contains(*name))
            .collect();
        assert!(heavy.is_empty(), "{of} brings {heavy:?} along");
    }
}

#[test]
fn only_the_index_and_the_daemon_bring_a_database() {
    for (of, _) in MAY_KNOW {
        let brings = tree(of, None).contains("rusqlite");
        let may = ["holdpoint-index", "holdpoint-daemon", "holdpoint-cli"].contains(of);
        assert_eq!(brings, may, "{of}");
    }
}

#[test]
fn a_gate_alone_is_a_small_dependency() {
    let all = tree("holdpoint", None);
    assert!(
        all.len() <= MAX_CRATES_OF_A_GATE,
        "{} crates, more than {MAX_CRATES_OF_A_GATE}: {all:?}",
        all.len()
    );
    for name in ["holdpoint-ledger", "holdpoint-broker", "schemars"] {
        assert!(!all.contains(name), "{name} is not needed to judge");
    }
}
