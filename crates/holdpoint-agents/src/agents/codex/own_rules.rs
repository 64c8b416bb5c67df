//! Codex's own rules: `.rules` files and `requirements.toml` of every layer, and what it calls dangerous by itself.

use std::path::{Path, PathBuf};

use super::starlark;
use crate::own_rules::layers::{files_in, flag_values, has_flag, text, toml_file};
use crate::own_rules::pattern::Pattern;
use crate::own_rules::{Circumstances, Rules};

const PROGRAMS: [&str; 1] = ["codex"];

/// Commands it refuses or asks about without any rule.
const DANGEROUS: [&[&str]; 6] = [
    &["rm", "-f"],
    &["rm", "-r"],
    &["rm", "--"],
    &["sudo"],
    &["git", "reset"],
    &["git", "rm"],
];

/// The sandbox mode in which it bounds nothing.
const OPEN: &str = "danger-full-access";

pub(super) fn read(around: &Circumstances<'_>) -> Rules {
    let mut rules = Rules::default();
    for words in DANGEROUS {
        rules.add(Pattern::command("Codex's own list", &words.join(" "), true));
    }
    let mut homes = vec![around.around.managed("codex")];
    homes.extend(around.around.moved("CODEX_HOME", ".codex"));
    homes.extend(
        around
            .project_directories()
            .iter()
            .map(|one| one.join(".codex")),
    );
    let mut modes = Vec::new();
    for home in &homes {
        add_layer(home, &mut rules, &mut modes);
    }
    match around.arguments(&PROGRAMS) {
        Ok(all) => {
            if !is_open(&all, &modes) {
                rules.unread("Codex's own sandbox is on, and one cannot be made inside of it");
            }
            let settings = all
                .iter()
                .flat_map(|one| flag_values(one, &["-c", "--config"]));
            if settings
                .into_iter()
                .any(|one| one.trim_start().starts_with("rules"))
            {
                rules.unread("Codex was started with rules in its flags");
            }
        }
        Err(problem) => rules.unread(problem),
    }
    rules
}

/// The rules of one layer, and which sandbox it wants.
fn add_layer(home: &Path, rules: &mut Rules, modes: &mut Vec<String>) {
    match files_in(&home.join("rules"), ".rules") {
        Ok(files) => files.iter().for_each(|file| add_rules(file, rules)),
        Err(problem) => rules.unread(problem),
    }
    let mut tables: Vec<PathBuf> = vec![home.join("requirements.toml")];
    match files_in(home, "config.toml") {
        Ok(files) => tables.extend(files),
        Err(problem) => rules.unread(problem),
    }
    for path in tables {
        match toml_file(&path) {
            Ok(Some(table)) => {
                if let Some(found) = table.get("rules") {
                    rules.add_all(required(&path, found));
                }
                let mode = table.get("sandbox_mode").and_then(toml::Value::as_str);
                modes.extend(mode.map(str::to_owned));
            }
            Ok(None) => {}
            Err(problem) => rules.unread(problem),
        }
    }
    match files_in(home, ".json") {
        Ok(files) => {
            let from_afar = |path: &&PathBuf| path.to_string_lossy().contains("requirements");
            if let Some(path) = files.iter().find(from_afar) {
                rules.unread(format!("{}: nobody here can read it", path.display()));
            }
        }
        Err(problem) => rules.unread(problem),
    }
}

fn add_rules(path: &Path, rules: &mut Rules) {
    match text(path) {
        Ok(Some(text)) => {
            let file = path.display();
            let found = starlark::prefix_rules(&text);
            rules.add_all(
                found
                    .map_err(|problem| format!("{file}: {problem}"))
                    .map(|found| {
                        let stops = found.into_iter().filter(|rule| rule.decision != "allow");
                        let pattern = |rule: starlark::PrefixRule| {
                            let said =
                                format!("{file}: {} {}", rule.decision, shown(&rule.pattern));
                            Pattern::exact_words(&said, rule.pattern)
                        };
                        stops.map(pattern).collect()
                    }),
            );
        }
        Ok(None) => {}
        Err(problem) => rules.unread(problem),
    }
}

fn shown(words: &[Vec<String>]) -> String {
    let words: Vec<String> = words.iter().map(|spellings| spellings.join("|")).collect();
    words.join(" ")
}

/// The rules in `requirements.toml`: a list of patterns, each a list of `{token}` or `{any_of}`.
fn required(path: &Path, rules: &toml::Value) -> Result<Vec<Pattern>, String> {
    let file = path.display();
    let unread = || format!("{file}: its rules cannot be read");
    let all = rules.get("prefix_rules").ok_or_else(unread)?;
    let mut found = Vec::new();
    for rule in all.as_array().ok_or_else(unread)? {
        let decision = rule.get("decision").and_then(toml::Value::as_str);
        if decision == Some("allow") {
            continue;
        }
        let words = rule.get("pattern").and_then(toml::Value::as_array);
        let spellings = |word: &toml::Value| -> Option<Vec<String>> {
            let text = |one: &toml::Value| one.as_str().map(str::to_owned);
            match (text(word), word.get("token"), word.get("any_of")) {
                (Some(word), _, _) => Some(vec![word]),
                (None, Some(token), None) => Some(vec![text(token)?]),
                (None, None, Some(any)) => any.as_array()?.iter().map(text).collect(),
                (None, _, _) => None,
            }
        };
        let words = words.ok_or_else(unread)?.iter().map(spellings);
        let words: Vec<Vec<String>> = words.collect::<Option<_>>().ok_or_else(unread)?;
        let said = format!("{file}: {}", shown(&words));
        found.push(Pattern::exact_words(&said, words));
    }
    Ok(found)
}

/// Whether it bounds nothing itself, as far as its flags and settings say.
fn is_open(arguments: &[&[String]], modes: &[String]) -> bool {
    let lifted = ["--dangerously-bypass-approvals-and-sandbox", "--yolo"];
    if has_flag(arguments, &lifted) {
        return true;
    }
    let mut said: Vec<&str> = Vec::new();
    for arguments in arguments {
        said.extend(flag_values(arguments, &["-s", "--sandbox"]));
        let settings = flag_values(arguments, &["-c", "--config"]);
        let mode = |one: &'_ str| {
            let value = one.trim().strip_prefix("sandbox_mode")?;
            Some(value.contains(OPEN))
        };
        for open in settings.into_iter().filter_map(mode) {
            said.push(if open { OPEN } else { "" });
        }
    }
    if has_flag(arguments, &["--full-auto"]) {
        said.push("");
    }
    if said.is_empty() {
        said.extend(modes.iter().map(String::as_str));
    }
    !said.is_empty() && said.iter().all(|mode| *mode == OPEN)
}
