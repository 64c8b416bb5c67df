//! The cost of redacting, and how often ordinary text is taken for a secret.
//!
//! Two kilobytes of what an agent writes and reads, without secrets and with a few, beside one SHA-256
//! of the same bytes: what reading them once costs; and, without a goal, with nothing but secrets. Then texts that are meant to be too much. Usage:
//! `bench redaction [--long] [--check] [--ordinary DIRECTORY...]`; with directories, the files in them are
//! redacted, and every finding that is certain by its form is shown.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use holdpoint_bench::table::{self, Goals, Kind};
use holdpoint_bench::timing::quiet_ns;
use holdpoint_core::digest_of;
use holdpoint_text::redaction::{Certainty, Redactor};

const SIZE: usize = 2048;

/// The goal for 2 KB, in nanoseconds.
const GOAL: f64 = 50_000.0;

/// Code, a command line, settings and prose, as they pass a gate all day.
const ORDINARY: &str = r#"cd crates/core && cargo test --workspace 2>&1 | tail -n 40
fn next_token(&mut self) -> Option<Token> { self.tokens.get(self.at).copied() }
{"tool":"Edit","file_path":"src/lib.rs","old_string":"let key = map.get(&name);","new_string":"let key = map.remove(&name);"}
The password is read from the environment; see docs/setup.md for how to set it. Run `make check` first.
export PATH="$HOME/.cargo/bin:$PATH"; git log --oneline -n 5 7c3f1d2..HEAD | sed 's/^/  /'
max_tokens: 4096
version = "1.42.0"
https://example.com/docs/api/v2?page=3&sort=desc#section
"#;

/// Lines with secrets in most of them.
const SECRETS: &str = r#"mysql -uroot -phunter2hunter2 shop
fn next_token(&mut self) -> Option<Token> { self.tokens.get(self.at).copied() }
{"password": "hunter2hunter2", "file_path": "src/lib.rs", "user": "jane.doe@example.com"}
The password is read from the environment; see docs/setup.md for how to set it. Run `make check` first.
curl -H "Authorization: Bearer 0a1b2c3d4e5f60718293a4b5" https://me:hunter2@example.com/
max_tokens: 4096
API_TOKEN=0a1b2c3d4e5f60718293
"#;

pub(crate) fn run() -> Result<()> {
    let (mut batches, mut check) = (41, false);
    let mut directories: Option<Vec<PathBuf>> = None;
    for argument in std::env::args().skip(2) {
        match (argument.as_str(), &mut directories) {
            ("--long", _) => batches = 401,
            ("--check", _) => check = true,
            ("--ordinary", directories @ None) => *directories = Some(Vec::new()),
            (path, Some(directories)) => directories.push(path.into()),
            (other, None) => {
                anyhow::bail!("unknown argument `{other}`: use `--long`, `--check` or `--ordinary`")
            }
        }
    }
    if let Some(directories) = directories {
        return ordinary(&directories);
    }
    let mut goals = Goals::default();
    usual(batches, &mut goals);
    limits(&mut goals);
    goals.outcome(check)
}

fn usual(batches: usize, goals: &mut Goals) {
    let mut rows = Vec::new();
    let mut worst = 0f64;
    let mut worst_ratio = 0f64;
    let some = format!("{SECRETS}{ORDINARY}{ORDINARY}");
    let texts = [
        ("ordinary", ORDINARY, true),
        ("with 7 secrets", &some, true),
        ("nothing but secrets", SECRETS, false),
    ];
    for (name, text, counts) in texts {
        let text: String = text.chars().cycle().take(SIZE).collect();
        let floor = quiet_ns(batches, || digest_of(text.as_bytes()));
        // A hook makes a redactor for each text.
        let cost = quiet_ns(batches, || {
            Redactor::new()
                .shortening_home("/home/dev")
                .text_counted(&text)
        });
        if counts {
            worst = worst.max(cost);
            worst_ratio = worst_ratio.max(cost / floor);
        }
        rows.push(vec![
            name.to_owned(),
            format!("{:.1}", cost / 1e3),
            format!("{:.1}", floor / 1e3),
            format!("{:.1}", cost / floor),
            format!("{:.0}", SIZE as f64 / cost * 1e3),
        ]);
    }
    println!("µs to redact 2 KB, beside one SHA-256 of it");
    table::print(&["text", "redaction", "SHA-256", "ratio", "MB/s"], &rows);
    let text = format!("{:.1} µs for 2 KB (goal {:.0} µs)", worst / 1e3, GOAL / 1e3);
    goals.state(Kind::Absolute, worst < GOAL, false, &text);
    let text = format!("{worst_ratio:.1}x one SHA-256 of the same bytes (goal 30x)");
    goals.state(Kind::Ratio, worst_ratio < 30.0, worst_ratio > 60.0, &text);
}

/// A mebibyte of what is hard, and how long it takes.
fn limits(goals: &mut Goals) {
    let redactor = Redactor::new().shortening_home("/home/dev");
    let mut rows = Vec::new();
    let mut longest = 0f64;
    for piece in [
        "sk-",
        "AKIA",
        "-eyJ",
        "password=\"",
        "\\\"",
        "curl docker ",
        "datadog ",
        "a@a.a@",
        "4111 ",
    ] {
        let text = piece.repeat((1 << 20) / piece.len());
        let start = Instant::now();
        let redacted = redactor.text(&text);
        let cost = start.elapsed().as_secs_f64() * 1e3;
        longest = longest.max(cost);
        rows.push(vec![
            format!("1 MiB of `{piece}`"),
            format!("{cost:.0}"),
            redacted.as_str().len().to_string(),
        ]);
    }
    println!("\nms to redact what is too much");
    table::print(&["text", "ms", "bytes left"], &rows);
    let text = format!("{longest:.0} ms for the worst of them (goal 1000 ms)");
    goals.state(Kind::Absolute, longest < 1000.0, false, &text);
}

/// What is found in files that hold no secrets.
fn ordinary(directories: &[PathBuf]) -> Result<()> {
    let redactor = Redactor::new();
    let mut counts: BTreeMap<(Certainty, String), usize> = BTreeMap::new();
    let (mut bytes, mut files) = (0usize, 0usize);
    let mut waiting: Vec<PathBuf> = directories.to_vec();
    while let Some(path) = waiting.pop() {
        let about = std::fs::symlink_metadata(&path)?;
        if about.is_dir() {
            for entry in std::fs::read_dir(&path)? {
                waiting.push(entry?.path());
            }
        } else if let Some(text) = text_of(&path).filter(|_| about.is_file()) {
            bytes += text.len();
            files += 1;
            for finding in redactor.find(&text) {
                let secret = text.get(finding.span.clone()).unwrap_or("");
                if finding.certainty == Certainty::Certain && !finding.marker.is_personal() {
                    println!(
                        "{}: {}: {:?}",
                        path.display(),
                        finding.format,
                        shown(secret)
                    );
                }
                let key = (
                    finding.certainty,
                    format!("{} {}", finding.format, finding.marker),
                );
                *counts.entry(key).or_default() += 1;
            }
        }
    }
    println!("{files} files, {:.1} MB", bytes as f64 / 1e6);
    for ((certainty, what), count) in counts {
        println!("{count:7} {certainty:?} {what}");
    }
    Ok(())
}

fn text_of(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    (bytes.len() < 8 << 20 && !bytes.iter().take(4096).any(|byte| *byte == 0))
        .then(|| String::from_utf8(bytes).ok())
        .flatten()
}

fn shown(secret: &str) -> String {
    secret.chars().take(60).collect()
}
